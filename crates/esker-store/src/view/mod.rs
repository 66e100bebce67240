//! How a run reads a version, and the whole graphs that it reads: of a window, with conditions, turned round,
//! without directions, in any encoding and residency. `docs/views.md` says what a combination means.

mod moved;
mod part;
mod left_out;
mod choice;
mod window;
mod times;
mod kept;
mod missing;
mod graphs;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod forged;
#[cfg(test)]
pub(crate) mod layered_tests;

pub use choice::View;
pub use moved::WindowMove;
pub(crate) use moved::{AgingEdges, MovedWindow};
pub use window::WindowLists;

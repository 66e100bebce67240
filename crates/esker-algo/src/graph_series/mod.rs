//! Answers on several graphs over the same vertices at once: windows of a stream that overlap.
//!
//! The graphs are kept as one: their arcs together, each with a slot that tells in which of them it is. What
//! the graphs have in common is read and computed once. The answers are those of the algorithms of the
//! catalogue on each graph alone.

mod series;
mod lanes;
mod components;
mod degrees;
mod cores;
mod search;
mod pagerank;
#[cfg(test)]
mod tests;

pub use components::components;
pub use cores::{changes_per_graph, cores};
pub use degrees::degrees;
pub use lanes::LANES;
pub use pagerank::{SeriesPageRank, pagerank, suits};
pub use search::{SeriesDepths, search};
pub use series::GraphSeries;

//! Communities: groups of vertices with more edges inside than chance would have.

mod tally;
mod adjacency;
mod contracted;
mod partition;
mod moving;
mod refining;
mod levels;
mod naming;
pub mod leiden;
pub mod quality;
pub mod agreement;

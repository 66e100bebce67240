//! Serial verifiers: one for each algorithm, over plain slices.
//!
//! Each checks the properties that make an answer right, so any right answer passes, whatever the order in which ties
//! were broken. They take time O(n + m) or a little more and are written to be obviously right, not to be fast.

mod betweenness;
mod bfs;
mod cdlp;
mod pagerank;
mod scc;
mod sssp;
mod wcc;
mod neighbourhood;
mod triangles;
mod lcc;

pub use betweenness::betweenness;
pub use bfs::bfs;
pub use cdlp::cdlp;
pub use lcc::lcc;
pub use pagerank::pagerank;
pub use scc::scc;
pub use sssp::sssp;
pub use triangles::triangles;
pub use wcc::wcc;

/// Why an answer is wrong: the first breach that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong(pub String);

impl std::fmt::Display for Wrong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Wrong {}

/// `Err` with the message unless `holds`.
fn ensure(holds: bool, message: impl FnOnce() -> String) -> Result<(), Wrong> {
    if holds { Ok(()) } else { Err(Wrong(message())) }
}

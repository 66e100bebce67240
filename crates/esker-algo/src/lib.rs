//! What is computed on a graph: algorithms, the primitives they are made of, and a serial verifier for each.
//!
//! ```
//! use esker_algo::algorithm::paths::bfs::{BfsOptions, bfs};
//! use esker_algo::check;
//! use esker_graph::{Csr, Direction, NONE, Run};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let csr = Csr::directed(4, &[(0, 1, ()), (1, 2, ()), (0, 2, ())])?;
//! let graph = csr.graph();
//! let run = Run::with_threads(2)?;
//!
//! let found = bfs(&graph, &run, &[0], &BfsOptions::default())?;
//! assert_eq!(found.reached, 3);
//! assert_eq!(found.depths, Some(vec![0, 1, 1, NONE])); // no edge leads to vertex 3
//!
//! let rows = graph.rows(Direction::Out).expect("out-lists are always kept");
//! check::bfs(rows, &[0], &found.parents, found.depths.as_deref())?;
//! # Ok(())
//! # }
//! ```
//!
//! * [`algorithm`] has one file for each algorithm. Its header states the method, the source, the work, the
//!   memory in bytes a vertex, the reads of a round, and what the answer depends on.
//! * [`primitive`] has the parts: frontiers, `edge_map`, buckets, filters, arrays that threads share.
//! * [`check`] has the verifiers. They test the properties of a right answer, so any right answer passes.
//! * [`graph_series`] answers on several graphs that have most of their edges in common.
//! * [`graph500`] validates the trees of that benchmark.
//! * [`drawing`] places the vertices of a part of a graph on the plane.
//! * [`live`] keeps answers up to date while a graph changes.
//! * [`Estimate`] says what a run will need, before it starts.
//!
//! This crate sees `esker-graph` only: never a file, never a page.

pub mod estimate;
pub mod primitive;
pub mod lengths;
pub mod widths;
pub mod check;
pub mod algorithm;
pub mod live;
pub mod graph_series;
pub mod graph500;
pub mod drawing;

pub use estimate::{Estimate, Shape};

/// The example of README.md, run with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

//! Esker: the facade, where the store and the algorithms meet.

#![forbid(unsafe_code)]

mod error;
pub mod answer;
pub mod top;
pub mod catalogue;
pub mod plan;
pub mod output;
pub mod change;
pub mod differences;
pub mod graph500;

pub use error::{Error, Result};
pub use esker_algo as algo;
pub use esker_graph as graph;
pub use esker_store as store;

/// The examples of README.md, compiled with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

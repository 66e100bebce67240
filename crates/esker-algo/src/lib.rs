//! What is computed on a graph. Sees `esker-graph` only: never a file, never a page.
//!
//! [`primitive`] holds what every algorithm is made of, [`algorithm`] one file for each algorithm, [`check`] a
//! serial verifier for each, which tests properties of an answer rather than comparing it with another.

pub mod estimate;
pub mod primitive;
pub mod lengths;
pub mod widths;
pub mod check;
pub mod algorithm;

pub use estimate::{Estimate, Shape};

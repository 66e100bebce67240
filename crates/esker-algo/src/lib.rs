//! Graph algorithms. This crate sees `esker-graph` only: never a file, never a page.
//!
//! [`primitive`] holds the shared building blocks, [`algorithm`] has one file per algorithm, and [`check`] has a serial
//! verifier per algorithm, which tests properties of a result instead of comparing it with another result.

pub mod estimate;
pub mod primitive;
pub mod lengths;
pub mod widths;
pub mod check;
pub mod algorithm;

pub use estimate::{Estimate, Shape};

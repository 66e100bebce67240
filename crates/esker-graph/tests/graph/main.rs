//! Tests of the public interface of the crate.

mod generate;
mod huge;
mod regression;
mod rows;

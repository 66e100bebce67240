//! What the public interface of the crate promises.

mod generate;
mod huge;
mod regression;

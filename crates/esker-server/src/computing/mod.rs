//! Runs of algorithms: what there is to run, the runs that are kept, and their answers.

pub(crate) mod algorithms;
pub(crate) mod recipe;
pub(crate) mod runs;
pub(crate) mod rows;
pub(crate) mod download;

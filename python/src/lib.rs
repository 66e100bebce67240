//! The native half of the Python package `esker`: `esker._esker`.
//!
//! It moves values between Python and the facade, and nothing else: whatever can be written in Python is, in `python/esker`.
//! Long work runs on a thread of its own while the calling thread, detached from the interpreter, looks after signals and progress
//! ([`watch`]). Arrays go both ways without a copy, by the buffer protocol and the Arrow C data interface.

#![allow(clippy::needless_pass_by_value, reason = "functions that Python calls are handed values")]

mod failure;
mod watch;
mod settings;
mod array;
mod capsule;
mod column;
mod source;
mod values;
mod answer;
mod stream;
mod edges;
mod report;
mod graph;
mod batch;
mod database;
mod listing;

use pyo3::prelude::*;

/// The native half of Esker: use `esker`, not this.
#[pymodule]
mod _esker {
    #[pymodule_export]
    use super::answer::Answer;
    #[pymodule_export]
    use super::array::Array;
    #[pymodule_export]
    use super::batch::Batch;
    #[pymodule_export]
    use super::column::Column;
    #[pymodule_export]
    use super::database::{Database, check_settings, import_columns, import_files, open};
    #[pymodule_export]
    use super::graph::Graph;
    #[pymodule_export]
    use super::listing::{catalogue, vertex_id_bytes};
    #[pymodule_export]
    use super::stream::Stream;
}

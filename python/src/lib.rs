//! The native half of the Python package `esker`: `esker._esker`.
//!
//! It only converts values between Python and the facade; everything that can be written in Python is in
//! `python/esker`. Long work runs on a separate thread, while the calling thread, detached from the
//! interpreter, handles signals and progress ([`watch`]). Arrays pass both ways without a copy, through the
//! buffer protocol and the Arrow C data interface.

#![allow(clippy::needless_pass_by_value, reason = "Python passes arguments by value")]

/// Lets a commit that exceeds the memory limit lie in a scratch file.
#[global_allocator]
static HEAP: esker::store::io::PagedHeap = esker::store::io::PagedHeap;

mod language;
mod failure;
mod interrupts;
mod watch;
mod settings;
mod input;
mod output;
mod graph;
mod matrix;
mod paths;
mod drawing;
mod tables;
mod windows;
mod parts;
mod batch;
mod differences;
mod handle;
mod database;
mod reading;
mod remembered;
mod follow;
mod streaming;
mod syncing;
mod opening;
mod copies;
mod listing;
mod order;

use pyo3::prelude::*;

/// The native half of Esker. Use `esker` instead.
#[pymodule]
mod _esker {
    /// Reads of files that another program overwrites are errors, and print nothing.
    #[pymodule_init]
    #[allow(clippy::unnecessary_wraps, reason = "the macro expects a result")]
    fn init(_module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        esker::silence_panics_of_changed_maps();
        Ok(())
    }

    #[pymodule_export]
    use super::batch::PyBatch;
    #[pymodule_export]
    use super::copies::{back_up, restore_backup};
    #[pymodule_export]
    use super::database::PyDatabase;
    #[pymodule_export]
    use super::differences::DifferenceStream;
    #[pymodule_export]
    use super::drawing::{draw, save_picture};
    #[pymodule_export]
    use super::failure::command_failure;
    #[pymodule_export]
    use super::follow::{PyFollow, follow};
    #[pymodule_export]
    use super::graph::PyGraph;
    #[pymodule_export]
    use super::input::adjacency::{read_adjacency, read_edges, write_adjacency};
    #[pymodule_export]
    use super::input::array::Array;
    #[pymodule_export]
    use super::input::column::InputColumn;
    #[pymodule_export]
    use super::input::rows::{columns_of_tuples, keys_of_dictionaries, read_tuples};
    #[pymodule_export]
    use super::input::vertex_table::vertex_table;
    #[pymodule_export]
    use super::listing::{catalogue, vertex_id_bytes};
    #[pymodule_export]
    use super::matrix::csr;
    #[pymodule_export]
    use super::opening::{check_settings, import_columns, import_files, open, recover};
    #[pymodule_export]
    use super::order::OrderedLists;
    #[pymodule_export]
    use super::output::answer::PyAnswer;
    #[pymodule_export]
    use super::output::groups::PyGroupNames;
    #[pymodule_export]
    use super::output::stream::PyAnswerStream;
    #[pymodule_export]
    use super::parts::{count_kinds, edges_that_meet, group_edges, part_view};
    #[pymodule_export]
    use super::paths::{ids_with_prefix, shortest_paths};
    #[pymodule_export]
    use super::reading::{check_database, export_version};
    #[pymodule_export]
    use super::remembered::{forget_reading, make_ids_texts, remembered};
    #[pymodule_export]
    use super::settings::VertexTable;
    #[pymodule_export]
    use super::streaming::{PyEdgeStream, declare_stream, declared_stream, expire, stream_edges};
    #[pymodule_export]
    use super::syncing::{sync_columns, sync_files};
    #[pymodule_export]
    use super::tables::TableStream;
    #[pymodule_export]
    use super::watch::CancelHandle;
    #[pymodule_export]
    use super::windows::{
        PyWindowAlerts, compare_answers, version_answers, window, window_alerts, window_answers,
    };
    #[pymodule_export]
    use super::windows::{window_ends, window_range, window_times};
}

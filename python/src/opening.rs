//! Opening, importing and recovering databases.

use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use esker::graph::{Cancel, Run, RunOptions};
use esker::import::install::import;
use esker::import::open::open as open_files;
use esker::import::options::ImportOptions;
use esker::import::read::format::ReadOptions;
use esker::import::read::source::Reader;
use esker::store::format::return_large_blocks;
use esker::store::io::{Disk, MemoryDisk, RealDisk, expect_outside_databases};
use esker::store::log::Sync;
use esker::store::manifest::StagingOptions;
use esker::store::{Database as Writer, DatabaseOptions, Store};
use pyo3::prelude::*;
use serde_json::json;

use crate::database::{IN_MEMORY, PyDatabase, READING_LOG};
use crate::failure::PyOutcome;
use crate::handle::Handle;
use crate::input::column::InputColumn;
use crate::input::source::{InputColumnReader, InputColumns};
use crate::input::vertex_table::beside;
use crate::output::report::import_facts;
use crate::settings::{
    BuildSettings, ReadSettings, Settings, VertexTable, declarations, finish_rejects, one_of,
};
use crate::watch::watched;

/// When commits are synced to disk.
const SYNCS: [(&str, Sync); 3] = [
    ("always", Sync::Always),
    ("never", Sync::Never),
    ("interval", Sync::Interval(std::time::Duration::from_millis(100))),
];

/// Opens the database at `path`, for writing if `writable`. `sync` is `always`, `never` or `interval`. A
/// writer reads the commits in the log under `settings`, and keeps later commits within their limit. With
/// `scratch`, a commit that does not fit lies in a scratch file; without, it is refused.
#[pyfunction]
pub(crate) fn open(
    py: Python<'_>,
    path: PathBuf,
    writable: bool,
    sync: &str,
    scratch: bool,
    settings: Settings,
) -> PyOutcome<PyDatabase> {
    let sync = one_of("sync", sync, &SYNCS)?;
    if !writable {
        let store = py.detach(|| -> PyOutcome<_> {
            let store = Store::open(&path)?;
            // A log that cannot be read is an error of what needs it: other calls say what is wrong with it.
            let _ = store.pin();
            Ok(store)
        })?;
        return Ok(PyDatabase::new(Handle::Reader(store), path));
    }
    let threads = settings.resources().threads;
    let (run, cancel, listener) = settings.run(READING_LOG)?;
    if run.budget().limit_bytes() < u64::MAX {
        return_large_blocks();
    }
    let budget = run.budget().clone();
    let options = DatabaseOptions { sync, threads, budget, scratch, ..DatabaseOptions::default() };
    let open = watched(py, &cancel, listener.as_ref(), || {
        Ok(Handle::Writer(Arc::new(ManuallyDrop::new(Writer::open_under(&path, options, &run)?))))
    })?;
    Ok(PyDatabase::new(open, path).served())
}

/// Says what a database has lost, and gives it up if `accept_loss`; returns a report as JSON.
#[pyfunction]
pub(crate) fn recover(py: Python<'_>, path: PathBuf, accept_loss: bool) -> PyOutcome<String> {
    let cancel = Cancel::default();
    let run = Run::new(RunOptions { cancel: cancel.clone(), ..RunOptions::default() })
        .map_err(esker::store::Error::from)?;
    let report = watched(py, &cancel, None, || {
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        Ok(match accept_loss {
            true => Writer::recover(&disk, &path, DatabaseOptions::default(), &run)?,
            false => Writer::survey(&disk, &path, &run)?,
        })
    })?;
    Ok(json!({
        "problem": report.problem,
        "newest": report.newest,
        "lost": (!report.lost.is_empty()).then_some([report.lost.start(), report.lost.end()]),
        "lost_records": report.lost_records,
    })
    .to_string())
}

/// Imports from a reader into a new database at `target`, or in memory; returns a database in memory, open
/// for writing.
fn build(
    reader: Box<dyn Reader>,
    target: Option<&Path>,
    options: &ImportOptions,
    replace: bool,
) -> PyOutcome<(esker::import::options::ImportReport, Option<PyDatabase>)> {
    let staging = StagingOptions { replace, ..StagingOptions::default() };
    if let Some(target) = target {
        expect_outside_databases(&RealDisk, target)?;
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        return Ok((import(&disk, reader, target, options, staging)?, None));
    }
    let (disk, path): (Arc<dyn Disk>, _) = (Arc::new(MemoryDisk::new()), Path::new(IN_MEMORY));
    let report = import(&disk, reader, path, options, staging)?;
    let settings = DatabaseOptions { threads: options.threads, ..DatabaseOptions::default() };
    let writer = Writer::open_on(disk, path, settings)?;
    let handle = Handle::Writer(Arc::new(ManuallyDrop::new(writer)));
    Ok((report, Some(PyDatabase::new(handle, PathBuf::from(":memory:")))))
}

/// Imports files into a new database at `target`, or in memory; returns a report as JSON and the database in
/// memory.
#[pyfunction]
pub(crate) fn import_files(
    py: Python<'_>,
    inputs: Vec<String>,
    target: Option<PathBuf>,
    read: ReadSettings,
    settings: BuildSettings,
    replace: bool,
) -> PyOutcome<(String, Option<PyDatabase>)> {
    let begin = Instant::now();
    let named: Vec<String> = inputs.iter().cloned().chain(read.vertices.clone()).collect();
    let rejects = settings.rejects(target.as_deref().unwrap_or(Path::new("")), &named, replace)?;
    let (options, listener) = settings.options()?;
    let options = ImportOptions { rejects: rejects.clone(), ..options };
    let (memory_bytes, directed) = (options.memory_bytes, options.directed);
    let read = ReadOptions { memory_bytes, directed, ..read.options()? };
    let read = if rejects.is_some() { read.keeping_rejected() } else { read };
    watched(py, &options.cancel, listener.as_ref(), || {
        let opened = open_files(&inputs, &read)?;
        let (mut report, database) = build(opened.reader, target.as_deref(), &options, replace)?;
        report.warnings.splice(0..0, opened.warnings);
        report.warnings.extend(finish_rejects(rejects.as_deref())?);
        let seconds = begin.elapsed().as_secs_f64();
        Ok((import_facts(&report, Some(opened.format.name()), &opened.notes, seconds), database))
    })
}

/// Imports columns into a new database at `path`, or in memory; returns a report as JSON and the database in
/// memory.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub(crate) fn import_columns(
    py: Python<'_>,
    source: &InputColumn,
    target: &InputColumn,
    properties: Vec<(String, Bound<'_, InputColumn>)>,
    vertices: Option<&InputColumn>,
    table: Option<&VertexTable>,
    weight: Option<&str>,
    num_vertices: Option<u64>,
    schema: Vec<(String, String)>,
    path: Option<PathBuf>,
    settings: BuildSettings,
    replace: bool,
) -> PyOutcome<(String, Option<PyDatabase>)> {
    let begin = Instant::now();
    let columns = InputColumns {
        source: source.clone(),
        target: target.clone(),
        properties: properties.into_iter().map(|(name, column)| (name, column.get().clone())).collect(),
        vertices: vertices.cloned(),
    };
    let reader = InputColumnReader::new(columns, weight, num_vertices, &declarations(schema)?)?;
    if let (Some(ids), Some(_)) = (vertices, table) {
        ids.check_ids(reader.has_text_ids())?;
    }
    let (reader, warnings) = beside(table, Box::new(reader), false)?;
    let (options, listener) = settings.options()?;
    watched(py, &options.cancel, listener.as_ref(), || {
        let (mut report, database) = build(reader, path.as_deref(), &options, replace)?;
        report.warnings.splice(0..0, warnings);
        Ok((import_facts(&report, None, &[], begin.elapsed().as_secs_f64()), database))
    })
}

/// Checks the settings for building and syncing a database.
#[pyfunction]
pub(crate) fn check_settings(settings: BuildSettings, sync: &str) -> PyOutcome<()> {
    one_of("sync", sync, &SYNCS)?;
    settings.options().map(drop)
}

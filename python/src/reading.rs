//! Reads a whole version: to a file of another format, or to verify it.

use std::path::PathBuf;
use std::sync::Arc;

use esker::export::{ExportOptions, Loss, StoredExport, WriteIds, export};
use esker::graph::{Cancel, Run, RunOptions};
use esker::import::read::format::Format;
use esker::output::vertex_properties;
use esker::store::Error;
use esker::store::check::check;
use pyo3::prelude::*;

use crate::database::PyDatabase;
use crate::failure::PyOutcome;
use crate::handle::Handle;
use crate::language::said;
use crate::settings::{Settings, one_of};
use crate::watch::{watched, watched_reading};

/// How to write a version.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct ExportSettings {
    format: Option<String>,
    ids: String,
    properties: bool,
    both_ends: bool,
    overwrite: bool,
    /// Files for the ids of all vertices, and for their properties.
    vertices: Option<PathBuf>,
    vertex_properties: Option<PathBuf>,
}

/// Writes a version to a file; returns the number of edges and what was lost.
#[pyfunction]
pub(crate) fn export_version(
    py: Python<'_>,
    database: &PyDatabase,
    file: PathBuf,
    at: Option<&str>,
    settings: ExportSettings,
) -> PyOutcome<(u64, Vec<String>)> {
    let open = database.open()?;
    let cancel = Cancel::default();
    let options = ExportOptions {
        format: settings.format.as_deref().map(str::parse::<Format>).transpose()?,
        ids: one_of(
            "ids",
            &settings.ids,
            &[("external", WriteIds::External), ("numbers", WriteIds::Numbers)],
        )?,
        properties: settings.properties,
        both_ends: settings.both_ends.then_some(true),
        overwrite: settings.overwrite,
        vertices: settings.vertices,
        cancel: cancel.clone(),
        ..ExportOptions::default()
    };
    let run = Arc::new(Run::new(RunOptions { threads: 1, cancel: cancel.clone(), ..RunOptions::default() })?);
    let open = open.under(&run);
    watched_reading(py, &cancel, None, database.directory(), || {
        let version = PyDatabase::version(&open, at)?;
        let values = settings.vertex_properties.as_deref();
        let table =
            values.map(|path| vertex_properties(&version.view(), path, &options, &run)).transpose()?;
        let view = version.view();
        let graph = StoredExport::new(&view, &run)?;
        let report = export(&graph, &file, &options)?;
        let is_lost = |loss: &&Loss| values.is_none() || !matches!(loss, Loss::VertexProperties(_));
        let lost_types = table.map(|table| table.lost_types).filter(|types| !types.is_empty());
        let (losses, types) = (report.losses.iter().filter(is_lost), lost_types.map(Loss::VertexTypes));
        Ok((report.edges, losses.chain(&types).map(|loss| said(&loss.sentence())).collect()))
    })
}

/// The problems that a check found, the checks passed, and the files that a writer that died has left, with
/// their bytes.
type Checked = (Vec<String>, Vec<String>, Vec<(String, u64)>);

/// Verifies every byte of the layers that a version needs, by default the newest, and of the log.
#[pyfunction]
pub(crate) fn check_database(
    py: Python<'_>,
    database: &PyDatabase,
    at: Option<&str>,
    settings: Settings,
) -> PyOutcome<Checked> {
    let open = database.open()?;
    let (run, cancel, listener) = settings.run("check")?;
    let wanted = at.map(|at| PyDatabase::number_of(&open, at)).transpose()?;
    let (report, left) = watched(py, &cancel, listener.as_ref(), || {
        let store = match &open {
            Handle::Reader(store) => store,
            // The writer's own log is in order, it left nothing, and a database in memory has no other
            // readers.
            Handle::Writer(_) => return Ok((check(&PyDatabase::version(&open, at)?, &run)?, Vec::new())),
        };
        let log = store.check_log(&run);
        let frozen = store.manifest().versions.last().map_or(0, |version| version.number);
        let version = match wanted.filter(|&wanted| wanted < frozen) {
            Some(wanted) => store.at(wanted)?,
            None => store.frozen()?,
        };
        let mut report = check(&version, &run)?;
        let left = match log {
            Ok(_) => store.strays()?.left,
            // No writer opens the database as it is.
            Err(problem @ (Error::Corrupt { .. } | Error::Lost { .. })) => {
                report.problems.push(problem);
                Vec::new()
            }
            Err(error) => return Err(error.into()),
        };
        Ok((report, left))
    })?;
    let left = left.into_iter().map(|(path, bytes)| (path.display().to_string(), bytes)).collect();
    Ok((report.problems.iter().map(ToString::to_string).collect(), report.sound, left))
}

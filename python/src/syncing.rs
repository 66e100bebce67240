//! Makes the newest version equal to files or columns.

use std::path::Path;
use std::sync::Arc;

use esker::change::{
    EdgeInput, FeedOptions, OnFeed, Purpose, SyncOptions, SyncReport, Target, check_message, open_edges, sync,
};
use esker::graph::{Message, Run, RunOptions};
use esker::import::options::ImportOptions;
use esker::import::read::format::{Declaration, ReadOptions};
use esker::import::rejects::RejectsFile;
use esker::store::Database as Writer;
use pyo3::prelude::*;

use crate::database::PyDatabase;
use crate::failure::{PyOutcome, invalid};
use crate::input::column::InputColumn;
use crate::input::source::{InputColumnReader, InputColumns};
use crate::input::vertex_table::beside;
use crate::output::report::sync_facts;
use crate::settings::{BuildSettings, ReadSettings, VertexTable, commit_options, finish_rejects};
use crate::watch::{Listener, watched};

/// Whether to keep vertices, to allow an empty input, and to count only.
type Flags = (bool, bool, bool);

/// How to sync, and the run of it.
struct Syncing {
    options: SyncOptions,
    run: Run,
    rejects: Option<Arc<RejectsFile>>,
    listener: Option<Listener>,
}

impl Syncing {
    /// `files`: the database and the inputs, none of which rejected rows may overwrite.
    fn new(
        build: BuildSettings,
        message: String,
        flags: Flags,
        files: (&Path, &[String]),
    ) -> PyOutcome<Self> {
        check_message(&message)?;
        let rejects = build.rejects(files.0, files.1, false)?;
        let (build, listener): (ImportOptions, Option<Listener>) = build.options()?;
        let slot = listener.as_ref().map(|listener| listener.slot.clone());
        let feed = FeedOptions {
            commit: commit_options(message, build.time_ms, &build.cancel),
            bad_lines: build.bad_lines,
            rejects: rejects.clone(),
            cancel: build.cancel.clone(),
            on_progress: slot.map(|slot| -> OnFeed {
                Arc::new(move |fraction, edges| {
                    slot.put(("read".to_owned(), fraction, None, edges, None, None));
                })
            }),
            ..FeedOptions::default()
        };
        let (keep_vertices, allow_empty, dry_run) = flags;
        let options = SyncOptions { feed, keep_vertices, allow_empty, dry_run };
        let run =
            Run::new(RunOptions { threads: build.threads, cancel: build.cancel, ..RunOptions::default() })?;
        Ok(Self { options, run, rejects, listener })
    }

    /// Opens the input and syncs; returns a report as JSON.
    fn carry_out(
        &self,
        py: Python<'_>,
        writer: &Writer,
        open: impl FnOnce(&Target) -> PyOutcome<EdgeInput> + Send,
    ) -> PyOutcome<String> {
        watched(py, &self.options.feed.cancel, self.listener.as_ref(), || {
            let target = Target::of(writer)?;
            let input = open(&target)?;
            let notes: Vec<Message> = input.notes.clone();
            let mut report: SyncReport = sync(writer, &target, input, &self.options, &self.run)?;
            report.input.warnings.extend(finish_rejects(self.rejects.as_deref())?);
            Ok(sync_facts(&report, &notes))
        })
    }
}

/// Makes the newest version equal to files.
#[pyfunction]
pub(crate) fn sync_files(
    py: Python<'_>,
    database: &PyDatabase,
    inputs: Vec<String>,
    read: ReadSettings,
    build: BuildSettings,
    message: String,
    flags: Flags,
) -> PyOutcome<String> {
    let writer = database.writer()?;
    let read: ReadOptions = read.options()?;
    let syncing = Syncing::new(build, message, flags, (writer.path(), &inputs))?;
    let read = if syncing.rejects.is_some() { read.keeping_rejected() } else { read };
    let open = |target: &Target| Ok(open_edges(target, &inputs, &read, Purpose::Add)?);
    syncing.carry_out(py, &writer, open)
}

/// Makes the newest version equal to columns.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub(crate) fn sync_columns(
    py: Python<'_>,
    database: &PyDatabase,
    source: &InputColumn,
    target: &InputColumn,
    properties: Vec<(String, Bound<'_, InputColumn>)>,
    vertices: Option<&InputColumn>,
    table: Option<&VertexTable>,
    build: BuildSettings,
    message: String,
    flags: Flags,
) -> PyOutcome<String> {
    let writer = database.writer()?;
    let given: Vec<(String, InputColumn)> =
        properties.into_iter().map(|(name, column)| (name, column.get().clone())).collect();
    let columns = InputColumns {
        source: source.clone(),
        target: target.clone(),
        properties: given,
        vertices: vertices.cloned(),
    };
    let syncing = Syncing::new(build, message, flags, (writer.path(), &[]))?;
    syncing.carry_out(py, &writer, |target| in_order(target, columns, table))
}

/// Columns as an input whose edge properties are those of the database, in its order.
fn in_order(target: &Target, mut columns: InputColumns, table: Option<&VertexTable>) -> PyOutcome<EdgeInput> {
    let (mut ordered, mut declared) = (Vec::new(), Vec::new());
    for property in target.given_properties() {
        let name = &property.name;
        let Some(place) = columns.properties.iter().position(|(own, _)| own == name) else {
            return invalid(format!(
                "the edges have no property {name:?}, but those of the database have one: give a column of that name"
            ));
        };
        let (name, column) = columns.properties.swap_remove(place);
        // Says which column does not fit, before anything is read.
        column.values_for(0..column.len().min(1), property)?;
        let is_plain = property.is_number() || property.is_text();
        if !is_plain && column.logical() != Some(&property.logical) {
            declared.push(Declaration { name: name.clone(), property_type: property.property_type() });
        }
        ordered.push((name, column));
    }
    columns.properties = ordered;
    let reader = InputColumnReader::new(columns, None, None, &declared)?;
    let (reader, warnings) = beside(table, Box::new(reader), true)?;
    let mut input = EdgeInput::of_reader(target, reader);
    input.warnings = warnings;
    Ok(input)
}

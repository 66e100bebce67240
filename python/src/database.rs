//! Databases: reading, changing, closing.

use parking_lot::Mutex;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use esker::change::{
    Definition, FeedOptions, FeedReport, Purpose, Target, check_message, expect_event_time, feed, open_edges,
};
use esker::differences::{Differences, Style, summary_json};
use esker::graph::Cancel;
use esker::import::options::ImportOptions;
use esker::import::read::format::ReadOptions;
use esker::store::database::{CompactOptions, CompactReport, Renumber, Tiling};
use esker::store::diff::diff;
use esker::store::format::{Retention, VersionRecord};
use esker::store::manifest::{check_tag, parse_time};
use esker::store::tiles::TileReport;
use esker::store::{CommitOptions, Database as Writer, HeadedOptions, Store};
use pyo3::prelude::*;
use serde_json::json;

use crate::batch::PyBatch;
use crate::differences::{DifferenceStream, JsonLists};
use crate::failure::{PyFailure, PyOutcome, invalid};
use crate::graph::PyGraph;
use crate::handle::{Handle, Serving};
use crate::output::report::{feed_facts, replaced, version_facts};
use crate::settings::{
    BuildSettings, ONLY_OF_TILES, ReadSettings, Settings, WriteSettings, commit_options, duplicates,
    event_time, finish_rejects, stored_encoding,
};
use crate::watch::{CancelHandle, Listener, reading, token, watched, watched_reading};

/// The path of a database in memory on its memory disk.
pub(crate) const IN_MEMORY: &str = "/memory";
/// The stage of reading the commits in the log, for progress.
pub(crate) const READING_LOG: &str = "reading the log";

/// What a compaction did, and why it left out kept heads.
type Compacted = (Vec<(&'static str, u64)>, Option<String>);

/// An open or closed database.
#[pyclass(frozen, name = "Database", module = "esker._esker")]
pub(crate) struct PyDatabase {
    handle: Mutex<Option<Handle>>,
    path: PathBuf,
    /// The process that opened it: a forked process does not have the writer's threads.
    process: u32,
    serving: Mutex<Option<Serving>>,
}

impl PyDatabase {
    /// Its directory.
    pub(crate) fn directory(&self) -> &Path {
        &self.path
    }

    pub(crate) fn new(handle: Handle, path: PathBuf) -> Self {
        let handle = Mutex::new(Some(handle));
        Self { handle, path, process: std::process::id(), serving: Mutex::default() }
    }

    /// The same, and other processes may hand over commits ([`Writer::serve_queue`]).
    pub(crate) fn served(self) -> Self {
        if let Some(Handle::Writer(writer)) = &*self.handle.lock() {
            *self.serving.lock() = Some(Serving::of(writer));
        }
        self
    }

    /// Its handle.
    pub(crate) fn open(&self) -> PyOutcome<Handle> {
        let handle = self.handle.lock().clone();
        let name = self.path.display();
        match handle {
            None => Err(PyFailure::Named("ClosedError", format!("{name} is closed; open it again"))),
            Some(Handle::Writer(_)) if self.process != std::process::id() => Err(PyFailure::Named(
                "ForkedError",
                format!(
                    "{name} was opened for writing before the process forked; {}",
                    match self.path.to_str() {
                        Some(IN_MEMORY | ":memory:") =>
                            "a database in memory stays in that process, but its graphs can be read here",
                        _ => "open it again in this process",
                    }
                ),
            )),
            Some(handle) => Ok(handle),
        }
    }

    pub(crate) fn writer(&self) -> PyOutcome<Arc<ManuallyDrop<Writer>>> {
        match self.open()? {
            Handle::Writer(writer) => Ok(writer),
            Handle::Reader(_) => Err(PyFailure::Named(
                "ReadOnlyError",
                format!("{} is open for reading only; open it with mode=\"rw\"", self.path.display()),
            )),
        }
    }

    fn versions_of(handle: &Handle) -> PyOutcome<Vec<VersionRecord>> {
        Ok(handle.versions().records()?)
    }

    /// The number of a version.
    pub(crate) fn number_of(handle: &Handle, at: &str) -> PyOutcome<u64> {
        Ok(handle.versions().number_of(&at.parse()?)?)
    }

    /// A version, the newest if `None`.
    pub(crate) fn version(handle: &Handle, at: Option<&str>) -> PyOutcome<esker::store::Version> {
        let selector = at.map(str::parse).transpose()?;
        Ok(handle.versions().selected(selector.as_ref())?)
    }

    fn shut(&self) -> PyOutcome<()> {
        let mut handle = self.handle.lock();
        let serving = self.serving.lock().take();
        let is_served = serving.map(drop).is_some();
        match handle.take() {
            Some(Handle::Writer(writer)) if self.process == std::process::id() => {
                match Arc::try_unwrap(writer) {
                    Ok(writer) => Ok(ManuallyDrop::into_inner(writer).close()?),
                    Err(writer) => {
                        *self.serving.lock() = is_served.then(|| Serving::of(&writer));
                        *handle = Some(Handle::Writer(writer));
                        invalid("another thread is using the database; close it after that thread is done")
                    }
                }
            }
            // In a forked process the writer is leaked: its threads and its log belong to the parent.
            _ => Ok(()),
        }
    }
}

impl Drop for PyDatabase {
    fn drop(&mut self) {
        // Only `close` reports errors.
        let _ = self.shut();
    }
}

#[pymethods]
impl PyDatabase {
    #[getter]
    fn path(&self) -> String {
        self.path.display().to_string()
    }

    #[getter]
    fn closed(&self) -> bool {
        self.handle.lock().is_none()
    }

    #[getter]
    fn writable(&self) -> bool {
        matches!(*self.handle.lock(), Some(Handle::Writer(_)))
    }

    fn close(&self, py: Python<'_>) -> PyOutcome<()> {
        py.detach(|| self.shut())
    }

    /// The graph of a version, given by number, tag, time or `latest`; the newest if `None`. If the commits
    /// in the log must be read first, the settings hold for that.
    fn graph(&self, py: Python<'_>, at: Option<&str>, settings: Settings) -> PyOutcome<PyGraph> {
        let open = self.open()?;
        let reads_log = match &open {
            Handle::Reader(store) => py.detach(|| store.has_unread_commits())?,
            Handle::Writer(_) => false,
        };
        if !reads_log {
            return Ok(PyGraph::new(reading(py, &self.path, || Self::version(&open, at))?.view()));
        }
        let (run, cancel, listener) = settings.run(READING_LOG)?;
        let open = open.under(&Arc::new(run));
        let version =
            watched_reading(py, &cancel, listener.as_ref(), &self.path, || Self::version(&open, at))?;
        Ok(PyGraph::new(version.view()))
    }

    /// All versions, as JSON.
    fn versions(&self, py: Python<'_>) -> PyOutcome<String> {
        let open = self.open()?;
        let versions = py.detach(|| Self::versions_of(&open))?;
        let in_layers = open.manifest()?.versions.last().map_or(0, |newest| newest.number);
        let facts = |version: &VersionRecord| version_facts(version, version.number <= in_layers);
        Ok(json!(versions.iter().map(facts).collect::<Vec<_>>()).to_string())
    }

    /// The tags and the version number of each.
    fn tags(&self) -> PyOutcome<Vec<(String, u64)>> {
        let tags = Arc::clone(&self.open()?.manifest()?.tags);
        Ok(tags.iter().map(|(name, number)| (name.clone(), *number)).collect())
    }

    /// The size of all files, in bytes.
    fn bytes(&self) -> PyOutcome<u64> {
        let store = match self.open()? {
            Handle::Reader(store) => store,
            Handle::Writer(writer) if writer.path() == Path::new(IN_MEMORY) => return Ok(0),
            Handle::Writer(writer) => Store::open(writer.path())?,
        };
        Ok(store.files()?.iter().map(|(_, bytes)| bytes).sum())
    }

    /// Whether edges are directed, the name of their weight, and the names of all their properties, in the
    /// newest version.
    fn schema(&self) -> PyOutcome<(bool, Option<String>, Vec<String>)> {
        let schema = self.writer()?.schema();
        let weight = schema.edge_properties.iter().find(|property| property.weight);
        let names = schema.edge_properties.iter().map(|property| property.name.clone());
        Ok((schema.directed, weight.map(|weight| weight.name.clone()), names.collect()))
    }

    /// The name of the rule for duplicate edges.
    fn rule(&self) -> PyOutcome<&'static str> {
        Ok(self.writer()?.manifest().duplicates().name())
    }

    /// How commits become layers: policy of copies, bytes of commits to freeze, whether layers are merged.
    fn write_options(&self) -> PyOutcome<(&'static str, u64, bool)> {
        let options = self.open()?.manifest()?.options();
        Ok((options.policy.name(), options.freeze_bytes, options.auto_merge))
    }

    /// Sets those that are given.
    fn set_write_options(&self, py: Python<'_>, given: WriteSettings) -> PyOutcome<()> {
        let writer = self.writer()?;
        let options = given.over(writer.write_options())?;
        py.detach(|| Ok(writer.set_write_options(options)?))
    }

    /// A batch that follows a rule for duplicate edges, by default that of the database.
    fn batch(&self, py: Python<'_>, rule: Option<&str>) -> PyOutcome<PyBatch> {
        let writer = self.writer()?;
        let rule = rule.map(duplicates).transpose()?;
        py.detach(|| {
            let mut batch = writer.batch();
            rule.map_or(Ok(()), |rule| batch.set_duplicates(rule))?;
            Ok(PyBatch::new(batch, writer.schema()))
        })
    }

    /// Refuses a commit without an event time where versions are given theirs.
    fn expect_event_time(&self, time: Option<&str>) -> PyOutcome<()> {
        let time_ms = time.map(event_time).transpose()?;
        expect_event_time_of(&*self.writer()?, &commit_options(String::new(), time_ms, &Cancel::default()))
    }

    /// Commits a batch; returns the number of the version, the number of duplicate edges that the rule left
    /// out, and that of the edges that it deleted.
    fn commit(
        &self,
        py: Python<'_>,
        batch: &PyBatch,
        message: String,
        time: Option<&str>,
        cancel: Option<Py<CancelHandle>>,
    ) -> PyOutcome<(u64, u64, u64)> {
        let writer = self.writer()?;
        let cancel = token(cancel.as_ref());
        let time_ms = time.map(event_time).transpose()?;
        check_message(&message)?;
        let options = commit_options(message, time_ms, &cancel);
        expect_event_time_of(&writer, &options)?;
        let batch = batch.take()?;
        // Once the commit goes to the log, it finishes first.
        let committed = watched(py, &cancel, None, || Ok(writer.commit_with(batch, &options)?))
            .map_err(|failure| failure.or("commit fewer changes at a time"))?;
        Ok((committed.version, committed.duplicates.unwrap_or(0), committed.removed.unwrap_or(0)))
    }

    fn tag(&self, name: &str, at: &str) -> PyOutcome<()> {
        let writer = self.writer()?;
        check_tag(name)?;
        let number = Self::number_of(&Handle::Writer(Arc::clone(&writer)), at)?;
        Ok(writer.tag(name, number)?)
    }

    fn untag(&self, name: &str) -> PyOutcome<()> {
        let writer = self.writer()?;
        if !writer.manifest().tags.contains_key(name) {
            return Err(PyFailure::Named("VersionNotFoundError", format!("no version has the tag {name:?}")));
        }
        Ok(writer.untag(name)?)
    }

    fn forget(&self, py: Python<'_>, at: &str) -> PyOutcome<()> {
        let writer = self.writer()?;
        let number = Self::number_of(&Handle::Writer(Arc::clone(&writer)), at)?;
        py.detach(|| Ok(writer.forget(number)?))
    }

    /// Sets the retention: the `last` versions, versions `since` a time, or all versions.
    fn retain(&self, py: Python<'_>, last: Option<u64>, since: Option<&str>) -> PyOutcome<()> {
        let writer = self.writer()?;
        let retention = match (last, since) {
            (Some(count), _) => Retention::Last(count),
            (None, Some(time)) => match parse_time(time) {
                Ok(range) => Retention::Since(*range.start()),
                Err(message) => return invalid(message),
            },
            (None, None) => Retention::All,
        };
        py.detach(|| Ok(writer.retain(retention)?))
    }

    /// Merges all layers, and stores heads of `heads` neighbours, or of as many as the memory holds if it is
    /// 0; returns counts by name, and why kept heads were left out.
    fn compact(
        &self,
        py: Python<'_>,
        encoding_name: Option<&str>,
        only: bool,
        heads: Option<usize>,
        renumber: &str,
        settings: Settings,
    ) -> PyOutcome<Compacted> {
        let (tiles, lists) = match encoding_name {
            None if only => return invalid(ONLY_OF_TILES.to_owned()),
            None => (Tiling::Keep, None),
            Some(name) => {
                let (has_tiles, lists) = stored_encoding(name, only)?;
                (if has_tiles { Tiling::Make } else { Tiling::Remove }, lists)
            }
        };
        let renumber = match renumber {
            "auto" => Renumber::Auto,
            "always" => Renumber::Always,
            "never" => Renumber::Never,
            other => return invalid(format!("renumber must be 'auto', 'always' or 'never', not {other:?}")),
        };
        let memory_bytes = settings.resources().memory.bytes();
        let heads = heads.map(|length| HeadedOptions {
            head_len: Some(length).filter(|&length| length > 0),
            memory_bytes,
        });
        let options = CompactOptions { lists, tiles, heads, renumber };
        let writer = self.writer()?;
        let (run, cancel, listener) = settings.run("compact")?;
        let report = watched(py, &cancel, listener.as_ref(), || {
            esker::change::expire_as_declared(&writer, &run)?;
            Ok(writer.compact_with(options, &run)?)
        })?;
        let CompactReport { layers_before, layers, bytes_before, bytes, written, forms, vertices_left_out } =
            report;
        let tiles: TileReport = forms.tiles.clone().unwrap_or_default();
        let left_out = forms.heads_left_out.map(|reason| reason.to_string());
        let counts = vec![
            ("layers_before", layers_before as u64),
            ("layers", layers as u64),
            ("bytes_before", bytes_before),
            ("bytes", bytes),
            ("bytes_written", written.all()),
            ("bytes_written_tiles", written.tiles),
            ("bytes_written_heads", written.heads),
            ("tile_groups_copied", tiles.groups_copied),
            ("tile_groups_shared", tiles.groups_shared),
            ("tile_groups_rebuilt", tiles.groups_rebuilt),
            ("tile_bytes_copied", tiles.copied_bytes),
            ("tile_bytes_shared", tiles.shared_bytes),
            ("tile_bytes_rebuilt", tiles.rebuilt_bytes()),
            ("vertices_left_out", vertices_left_out),
        ];
        Ok((counts, left_out))
    }

    /// Adds an edge property of the type called `kind`.
    fn define(
        &self,
        py: Python<'_>,
        name: &str,
        kind: &str,
        weight: bool,
        settings: Settings,
    ) -> PyOutcome<()> {
        let definition: Definition = format!("{name}:{kind}").parse().or_else(invalid)?;
        let writer = self.writer()?;
        let (run, cancel, listener) = settings.run("define")?;
        watched(py, &cancel, listener.as_ref(), || {
            let Definition { name, property_type } = definition;
            Ok(writer.add_edge_property(&name, property_type, weight, &run)?)
        })
    }

    /// The differences between two versions, as JSON.
    fn diff(
        &self,
        py: Python<'_>,
        a: &str,
        b: &str,
        summary_only: bool,
        settings: Settings,
    ) -> PyOutcome<(u64, u64, String, Vec<String>)> {
        let open = self.open()?;
        let (run, cancel, listener) = settings.run("diff")?;
        let run = Arc::new(run);
        let open = open.under(&run);
        watched_reading(py, &cancel, listener.as_ref(), &self.path, || {
            let (a, b) = (Self::version(&open, Some(a))?, Self::version(&open, Some(b))?);
            let mut lists = JsonLists::default();
            let mut differences = Differences::new(&a, &b, Style::Json, &mut lists);
            let summary = diff(&a, &b, &run, |difference| match summary_only {
                true => Ok(()),
                false => differences.write(&difference),
            })?;
            Ok((a.number(), b.number(), summary_json(&summary).to_string(), lists.finish()))
        })
    }

    /// The changes of edges, or of vertices, between two versions.
    fn diff_stream(&self, a: &str, b: &str, of_edges: bool) -> PyOutcome<DifferenceStream> {
        let open = self.open()?;
        let (a, b) = (Self::version(&open, Some(a))?, Self::version(&open, Some(b))?);
        Ok(DifferenceStream { a, b, of_edges })
    }

    /// Adds or removes the edges of files, as one or more versions; returns a report as JSON.
    #[allow(clippy::too_many_arguments)]
    fn feed(
        &self,
        py: Python<'_>,
        inputs: Vec<String>,
        read: ReadSettings,
        build: BuildSettings,
        message: String,
        batch_edges: Option<u64>,
        remove: bool,
    ) -> PyOutcome<String> {
        let (writer, begin) = (self.writer()?, Instant::now());
        check_message(&message)?;
        let named: Vec<String> = inputs.iter().cloned().chain(read.vertices.clone()).collect();
        let rejects = build.rejects(writer.path(), &named, false)?;
        let read: ReadOptions = read.options()?;
        let read = if rejects.is_some() { read.keeping_rejected() } else { read };
        let rule = build.duplicates()?;
        let (build, listener): (ImportOptions, Option<Listener>) = build.options()?;
        let slot = listener.as_ref().map(|listener| listener.slot.clone());
        let options = FeedOptions {
            commit: commit_options(message, build.time_ms, &build.cancel),
            duplicates: rule,
            batch_edges,
            bad_lines: build.bad_lines,
            rejects: rejects.clone(),
            allow_unknown: true,
            cancel: build.cancel.clone(),
            on_progress: slot.map(|slot| -> esker::change::OnFeed {
                Arc::new(move |fraction, edges| {
                    slot.put(("commit".to_owned(), fraction, None, edges, None, None));
                })
            }),
        };
        watched(py, &build.cancel, listener.as_ref(), || {
            let target = Target::of(&**writer)?;
            let purpose = if remove { Purpose::Remove } else { Purpose::Add };
            let input = open_edges(&target, &inputs, &read, purpose)?;
            let (notes, mut report) = (input.notes.clone(), FeedReport::default());
            let fed = feed(&**writer, &target, input, &options, &mut report).map_err(PyFailure::of_feed);
            // Versions that were committed before a failure have the rows beside the rejected ones.
            if fed.is_ok() || !report.versions.is_empty() {
                report.warnings.extend(finish_rejects(rejects.as_deref())?);
            }
            fed?;
            report.warnings.extend(replaced(&writer, &target, purpose, &report)?);
            Ok(feed_facts(&report, &notes, begin.elapsed().as_secs_f64()))
        })
    }
}

fn expect_event_time_of(writer: &Writer, options: &CommitOptions) -> PyOutcome<()> {
    let name = writer.path().display().to_string();
    Ok(expect_event_time(&name, writer.manifest().event_times(), options)?)
}

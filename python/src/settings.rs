//! Settings of runs and imports: threads, memory, seed, and choices given by name.

use parking_lot::Mutex;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use esker::MemoryLimit;
use esker::catalogue::Resources;
use esker::change::check_message;
use esker::graph::{Budget, Cancel, Message, Progress, Run, RunOptions, counted};
use esker::import::Input;
use esker::import::options::{
    BadLines, Duplicates, ImportOptions, ImportProgress, NumberingOrder, SelfLoops,
};
use esker::import::read::format::{
    Declaration, DefaultValue, Format, Pick, PickIds, PickProperties, ReadOptions,
};
use esker::import::rejects::RejectsFile;
use esker::plan::{RESIDENCIES, Request, encoding_name};
use esker::store::format::notation::{ColumnFormat, Notation};
use esker::store::format::value::zone::Zone;
use esker::store::format::{CopyPolicy, Encoding, WriteOptions};
use esker::store::manifest::parse_time;
use esker::store::{CommitOptions, Error, GraphEncoding, View};
use pyo3::prelude::*;

use crate::failure::{PyFailure, PyOutcome, invalid};
use crate::language::said;
use crate::watch::{CancelHandle, Listener, ProgressSlot, token};

/// A table of vertices, which an import reads beside edges.
#[pyclass(frozen, name = "VertexTable", module = "esker._esker")]
pub(crate) struct VertexTable {
    pub(crate) input: Input,
}

/// Declared properties, given as names and types.
pub(crate) fn declarations(schema: Vec<(String, String)>) -> PyOutcome<Vec<Declaration>> {
    let declaration = |(name, property_type): (String, String)| match property_type.parse() {
        Ok(property_type) => Ok(Declaration { name, property_type }),
        Err(reason) => invalid(format!("schema[{name:?}]: {reason}")),
    };
    schema.into_iter().map(declaration).collect()
}

/// The resources of a run.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Settings {
    threads: usize,
    memory: Option<u64>,
    seed: u64,
    deterministic: bool,
    progress: Option<Py<PyAny>>,
    cancel: Option<Py<CancelHandle>>,
}

impl Settings {
    /// The resources of the run, for estimates and plans.
    pub(crate) fn resources(&self) -> Resources {
        let memory = MemoryLimit::or_of_machine(self.memory);
        Resources::within(memory, self.threads, self.deterministic)
    }

    /// The run, its cancel token, and the listener for its progress.
    pub(crate) fn run(self, name: &str) -> PyOutcome<(Run, Cancel, Option<Listener>)> {
        let cancel = token(self.cancel.as_ref());
        let listener = self.progress.map(|callback| Listener { callback, slot: ProgressSlot::default() });
        let (slot, name) = (listener.as_ref().map(|listener| listener.slot.clone()), name.to_owned());
        let run = Run::new(RunOptions {
            threads: self.threads,
            seed: self.seed,
            budget: self.memory.map_or_else(Budget::default, |bytes| MemoryLimit::of(bytes).budget()),
            deterministic: self.deterministic,
            cancel: cancel.clone(),
            on_progress: slot.map(|slot| -> esker::graph::OnProgress {
                Arc::new(move |progress: Progress<'_>| {
                    let Progress { stage, round, active, done } = progress;
                    let stage = if stage.is_empty() { &name } else { stage };
                    let (done, total) = done.unzip();
                    let fraction = progress.fraction();
                    slot.put((stage.to_owned(), fraction, Some(round as u64), active as u64, done, total));
                })
            }),
            ..RunOptions::default()
        })?;
        Ok((run, cancel, listener))
    }
}

/// A run for what one thread does at once, kept: to start the thread of a new one takes longer than to look
/// up an id.
pub(crate) fn brief() -> PyOutcome<Arc<Run>> {
    static KEPT: Mutex<Option<(u32, Arc<Run>)>> = Mutex::new(None);
    let process = std::process::id();
    // Never wait for the lock: a thread of the parent process can have held it at the fork, and it does not
    // exist in the child.
    let Some(mut kept) = KEPT.try_lock() else { return Ok(Arc::new(Run::with_threads(1)?)) };
    if let Some((_, run)) = kept.as_ref().filter(|(of, _)| *of == process) {
        return Ok(Arc::clone(run));
    }
    let run = Arc::new(Run::with_threads(1)?);
    std::mem::forget(kept.replace((process, Arc::clone(&run))));
    Ok(run)
}

/// How a graph is read, as a tuple.
#[derive(FromPyObject)]
pub(crate) struct AccessSettings {
    /// The encoding, by name.
    #[pyo3(item(0))]
    encoding: Option<String>,
    /// The residency, by name.
    #[pyo3(item(1))]
    residency: Option<String>,
    /// The number of neighbours to keep in memory.
    #[pyo3(item(2))]
    head_len: Option<usize>,
}

impl AccessSettings {
    /// The request for the plan.
    pub(crate) fn request(&self) -> PyOutcome<Request> {
        let Self { encoding, residency, head_len } = self;
        let encoding = encoding.as_deref().map(|name| {
            let encodings = [GraphEncoding::Lists, GraphEncoding::Tiles];
            one_of("encoding", name, &encodings.map(|one| (encoding_name(one), one)))
        });
        let residency = residency.as_deref().map(|name| {
            one_of("residency", name, &RESIDENCIES.each_ref().map(|entry| (entry.name, entry.residency)))
        });
        if *head_len == Some(0) {
            return invalid("head must be at least 1");
        }
        Ok(Request {
            encoding: encoding.transpose()?,
            residency: residency.transpose()?,
            head_len: *head_len,
        })
    }
}

/// Which graph of a version is computed on, as a tuple.
#[derive(FromPyObject)]
pub(crate) struct ViewSettings {
    /// The edge property that is the weight.
    #[pyo3(item(0))]
    weight: Option<String>,
    /// Whether directions are dropped.
    #[pyo3(item(1))]
    undirected: bool,
}

impl ViewSettings {
    /// The version with these settings.
    pub(crate) fn of(&self, view: &View) -> esker::store::Result<View> {
        let view = match &self.weight {
            Some(name) => view.clone().weighted_by(name)?,
            None => view.clone(),
        };
        Ok(if self.undirected { view.as_undirected() } else { view })
    }
}

/// What may become of malformed lines.
pub(crate) const BAD_LINES: [(&str, BadLines); 2] = [("stop", BadLines::Stop), ("skip", BadLines::Skip)];

/// Completes a file of rejected rows; the warning of them, if there are any.
pub(crate) fn finish_rejects(rejects: Option<&RejectsFile>) -> PyOutcome<Option<Message>> {
    let Some(rejects) = rejects else { return Ok(None) };
    rejects.finish()?;
    let rows = counted(rejects.count(), "row", "rows");
    let told = || format!("{rows} could not be taken and went to {}", rejects.path().display()).into();
    Ok((rejects.count() > 0).then(told))
}

/// Settings for building a database.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct BuildSettings {
    directed: Option<bool>,
    in_edges: bool,
    order: String,
    encoding: String,
    only: bool,
    /// The rule for duplicate edges; `None` for the default.
    duplicates: Option<String>,
    /// The edge property that is the kind.
    kind: Option<String>,
    event_time: Option<String>,
    self_loops: String,
    bad_lines: String,
    /// The file of rejected rows.
    rejects: Option<PathBuf>,
    threads: usize,
    memory: Option<u64>,
    message: Option<String>,
    progress: Option<Py<PyAny>>,
    cancel: Option<Py<CancelHandle>>,
}

impl BuildSettings {
    /// The rule for duplicate edges, if one is given.
    pub(crate) fn duplicates(&self) -> PyOutcome<Option<Duplicates>> {
        self.duplicates.as_deref().map(duplicates).transpose()
    }

    /// Begins the file of rejected rows, if there is to be one: then bad lines do not stop the import.
    pub(crate) fn rejects(
        &self,
        database: &Path,
        inputs: &[String],
        overwrite: bool,
    ) -> PyOutcome<Option<Arc<RejectsFile>>> {
        let create = |path: &PathBuf| RejectsFile::create(path, said, database, inputs, overwrite);
        Ok(self.rejects.as_ref().map(create).transpose()?.map(Arc::new))
    }

    /// The options of the import, and the listener for its progress.
    pub(crate) fn options(self) -> PyOutcome<(ImportOptions, Option<Listener>)> {
        self.message.as_deref().map_or(Ok(()), check_message)?;
        let default = ImportOptions::default();
        let duplicates = self.duplicates()?.unwrap_or_default();
        let (tiles, lists) = stored_encoding(&self.encoding, self.only)?;
        let listener = self.progress.map(|callback| Listener { callback, slot: ProgressSlot::default() });
        let slot = listener.as_ref().map(|listener| listener.slot.clone());
        let options = ImportOptions {
            directed: self.directed,
            in_edges: self.in_edges,
            order: one_of(
                "order",
                &self.order,
                &[
                    ("auto", NumberingOrder::Auto),
                    ("keep", NumberingOrder::Keep),
                    ("degree", NumberingOrder::Degree),
                ],
            )?,
            encoding: lists.unwrap_or(default.encoding),
            tiles,
            duplicates,
            adds_entries: self.duplicates.is_none(),
            kind: self.kind,
            writes: default.writes,
            self_loops: one_of(
                "self_loops",
                &self.self_loops,
                &[("keep", SelfLoops::Keep), ("drop", SelfLoops::Drop)],
            )?,
            bad_lines: match (one_of("bad_lines", &self.bad_lines, &BAD_LINES)?, &self.rejects) {
                (_, Some(_)) => BadLines::Skip,
                (chosen, None) => chosen,
            },
            rejects: None,
            threads: self.threads,
            memory_bytes: self.memory.unwrap_or(default.memory_bytes),
            time_ms: self.event_time.as_deref().map(event_time).transpose()?,
            time_unit: default.time_unit,
            message: self.message,
            cancel: token(self.cancel.as_ref()),
            on_progress: slot.map(|slot| -> esker::import::options::OnImportProgress {
                Arc::new(move |ImportProgress { stage, fraction, edges }| {
                    slot.put((stage.to_owned(), fraction, None, edges, None, None));
                })
            }),
        };
        Ok((options, listener))
    }
}

/// How commits become layers, as a tuple. Settings that are not given stay.
#[derive(FromPyObject)]
pub(crate) struct WriteSettings {
    /// The policy of copies, by name.
    #[pyo3(item(0))]
    copy: Option<String>,
    /// The bytes of commits that are frozen together.
    #[pyo3(item(1))]
    freeze_bytes: Option<u64>,
    /// Whether layers are merged.
    #[pyo3(item(2))]
    merge: Option<bool>,
}

impl WriteSettings {
    /// The options with the settings that are given.
    pub(crate) fn over(self, options: WriteOptions) -> PyOutcome<WriteOptions> {
        let Self { copy, freeze_bytes, merge } = self;
        let policies = CopyPolicy::ALL.map(|policy| (policy.name(), policy));
        let policy = copy.map(|name| one_of("copy", &name, &policies)).transpose()?;
        Ok(WriteOptions {
            policy: policy.unwrap_or(options.policy),
            freeze_bytes: freeze_bytes.unwrap_or(options.freeze_bytes),
            auto_merge: merge.unwrap_or(options.auto_merge),
        })
    }
}

/// Settings for reading files.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct ReadSettings {
    format: Option<String>,
    source: Option<String>,
    target: Option<String>,
    /// The column of the weight; `None` for the default column, empty for no weight.
    weight: Option<String>,
    /// The column of the time, likewise.
    time: Option<String>,
    /// Other columns to store; `None` for no other columns.
    properties: Option<Vec<String>>,
    all_properties: bool,
    ids: String,
    delimiter: Option<String>,
    header: Option<bool>,
    quotes: Option<bool>,
    pub(crate) vertices: Option<String>,
    vertex_table: Option<Py<VertexTable>>,
    both_ends: bool,
    /// Declared properties: names and types.
    schema: Vec<(String, String)>,
    /// Values of edges that lack one: names and values.
    default: Vec<(String, String)>,
    /// Formats of dates, each with its column if it has one.
    date_format: Vec<(Option<String>, String)>,
    null: Vec<String>,
    decimal_comma: Option<bool>,
    timezone: Option<String>,
}

impl ReadSettings {
    /// The options.
    pub(crate) fn options(self) -> PyOutcome<ReadOptions> {
        let delimiter = match self.delimiter.as_deref().map(str::as_bytes) {
            None => None,
            Some(b"\\t" | b"tab") => Some(b'\t'),
            Some(b"space") => Some(b' '),
            Some([byte]) if byte.is_ascii() => Some(*byte),
            Some(_) => return invalid("delimiter must be one character, such as ';' or '\\t'"),
        };
        let of_column = |(column, format): (Option<String>, String)| {
            let format = format.parse().map_err(Error::usage)?;
            Ok(ColumnFormat { column, format })
        };
        let notation = Notation {
            formats: self.date_format.into_iter().map(of_column).collect::<Result<_, Error>>()?,
            decimal_comma: self.decimal_comma,
            zone: self.timezone.as_deref().map(Zone::from_str).transpose().map_err(Error::usage)?,
            ..Notation::default()
        };
        Ok(ReadOptions {
            notation,
            format: self.format.as_deref().map(Format::from_str).transpose()?,
            source: self.source,
            target: self.target,
            weight: pick(self.weight),
            time: pick(self.time),
            properties: match self.properties {
                _ if self.all_properties => PickProperties::All,
                None => PickProperties::None,
                Some(columns) => PickProperties::Columns(columns),
            },
            ids: one_of(
                "ids",
                &self.ids,
                &[("auto", PickIds::Auto), ("int", PickIds::Int), ("text", PickIds::Text)],
            )?,
            delimiter,
            header: self.header,
            quotes: self.quotes,
            vertices: self.vertices,
            vertex_table: self.vertex_table.map(|table| table.get().input.clone()),
            both_ends: self.both_ends,
            schema: declarations(self.schema)?,
            defaults: self.default.into_iter().map(|(name, value)| DefaultValue { name, value }).collect(),
            nulls: self.null,
            ..ReadOptions::default()
        })
    }
}

fn pick(column: Option<String>) -> Pick {
    match column {
        None => Pick::Auto,
        Some(name) if name.is_empty() => Pick::Skip,
        Some(name) => Pick::Column(name),
    }
}

/// The rule for duplicate edges with the given name.
pub(crate) fn duplicates(name: &str) -> PyOutcome<Duplicates> {
    one_of("duplicates", name, &Duplicates::ALL.map(|rule| (rule.name(), rule)))
}

/// What a commit is told, besides its changes.
pub(crate) fn commit_options(message: String, time_ms: Option<u64>, cancel: &Cancel) -> CommitOptions {
    CommitOptions { message, time_ms, cancel: cancel.clone(), ..CommitOptions::default() }
}

/// An event time in milliseconds since 1970; a day, minute or second means its start.
pub(crate) fn event_time(text: &str) -> PyOutcome<u64> {
    if text == "now" {
        return Ok(UNIX_EPOCH.elapsed().map_or(0, |age| age.as_millis() as u64));
    }
    parse_time(text).map(|range| *range.start()).or_else(invalid)
}

/// Whether a database gets tiles, and the encoding of its lists, of the given name; `None`: as before.
pub(crate) fn stored_encoding(name: &str, only: bool) -> PyOutcome<(bool, Option<Encoding>)> {
    let choices = [
        ("plain", (false, Some(Encoding::Plain))),
        ("compressed", (false, Some(Encoding::Compressed))),
        ("tiles", (true, None)),
    ];
    match one_of("encoding", name, &choices)? {
        (true, _) if only => Ok((true, Some(Encoding::Tiles))),
        (false, _) if only => invalid(ONLY_OF_TILES.to_owned()),
        chosen => Ok(chosen),
    }
}

/// Why an encoding cannot be stored alone.
pub(crate) const ONLY_OF_TILES: &str = "only=True keeps tiles instead of lists: it needs encoding='tiles'";

/// Finds the choice with the given name.
pub(crate) fn one_of<T: Copy>(what: &str, given: &str, choices: &[(&str, T)]) -> PyOutcome<T> {
    let found = choices.iter().find(|(name, _)| *name == given);
    found.map(|(_, choice)| *choice).ok_or_else(|| {
        let names: Vec<String> = choices.iter().map(|(name, _)| format!("'{name}'")).collect();
        PyFailure::Named("InvalidError", format!("{what} must be one of {}, not '{given}'", names.join(", ")))
    })
}

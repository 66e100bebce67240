//! Edges that are committed as they are handed over.

mod chunks;
mod file;

use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use arrow_array::{Array, ArrayRef};
use esker::change::{
    self, CommitEvery, EdgeInput, Expiry, InputValue, Late, Pace, StreamOptions, StreamReport, StreamState,
    Target, convert_or_widen, place_of_times, reading_of_rows, stream,
};
use esker::graph::Cancel;
use esker::import::ReadOptions;
use esker::import::read::operation::{RowOperation, expect_operation};
use esker::import::read::source::{EdgeBatch, texts};
use esker::store::Result;
use esker::store::format::PropertyRecord;
use esker::window::{Declared, EpochUnit, Span};
use pyo3::prelude::*;

use chunks::{ChunkReader, HandedEdges, schema_of};
use file::{FileSettings, OpenInput, open_file};

use crate::database::PyDatabase;
use crate::failure::{PyFailure, PyOutcome, invalid};
use crate::input::column::InputColumn;
use crate::input::source::{EDGE_BYTES, InputColumns};
use crate::language::said;
use crate::settings::{Settings, commit_options, duplicates, one_of};
use crate::watch::watched;
use crate::windows::{span, symbol};

/// Chunks of edges that wait to be read; then `push` waits.
const CHUNKS_AHEAD: usize = 4;

/// Time between two looks whether there is room for a chunk.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// What a stream came to: its report, once it is known, and why it ended.
type Ended = (Option<StreamReport>, Result<()>);

/// A stream of edges that a thread commits.
#[pyclass(frozen, name = "EdgeStream", module = "esker._esker")]
pub(crate) struct PyEdgeStream {
    /// `None` once the stream is closed.
    chunks: Mutex<Option<SyncSender<HandedEdges>>>,
    thread: Mutex<Option<JoinHandle<Ended>>>,
    /// As told last, about once a second.
    state: Arc<Mutex<Option<StreamState>>>,
    report: Mutex<Option<StreamReport>>,
    /// Ends it after a last commit of what was read.
    stop: Cancel,
    is_file: bool,
    /// The process that began it.
    process: u32,
    /// Whether it waits at the end of a file for what will be appended.
    is_followed: bool,
    /// The edge properties of the database.
    properties: Vec<PropertyRecord>,
    required_times: Option<usize>,
    /// Whether rows may replace edges, where they say what happens to them.
    may_replace: Option<bool>,
    has_texts: bool,
}

/// The version, edges taken, edges committed, late edges, watermark with its unit, seconds that the last
/// commit made an edge wait, edges expired, edges removed, and removals that found none.
type StateObjects = (Option<u64>, u64, u64, u64, Option<(i64, &'static str)>, f64, u64, u64, u64);

/// The numbers of the versions, of edges, duplicates, late edges, edges that earlier versions had, edges
/// expired, edges removed, and removals that found none.
type ReportObjects = (Vec<u64>, u64, u64, u64, u64, u64, u64, u64);

/// How a stream is read and committed.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct StreamSettings {
    /// A time or a number of edges.
    every: String,
    time: Option<String>,
    unit: Option<String>,
    delay: Option<String>,
    /// `next`, `refuse`, or `reject:` and a file.
    late: String,
    /// The column that says what happens to edges.
    op: Option<String>,
    duplicates: Option<String>,
    /// The age from which edges are removed.
    expire: Option<String>,
    /// Edges a second.
    rate: Option<f64>,
    /// How many times as fast as the edges happened.
    replay: Option<f64>,
    /// The resources to find old edges.
    run: Settings,
}

impl StreamSettings {
    fn options(self, stop: &Cancel, state: &Arc<Mutex<Option<StreamState>>>) -> PyOutcome<StreamOptions> {
        let length = |text: &str| text.parse::<Span>().or_else(invalid);
        let every = match (self.every.parse::<u64>(), length(&self.every)) {
            (Ok(0), _) => return invalid("commit_every must be at least 1 edge"),
            (Ok(edges), _) => CommitEvery::Edges(edges),
            (Err(_), length) => match length?.duration() {
                Some(time) => CommitEvery::Time(time),
                None => return invalid("commit_every must be a time such as '500ms', or a number of edges"),
            },
        };
        let expire = self.expire.as_deref().map(length).transpose()?;
        let run = expire.map(|_| self.run.run("expire")).transpose()?;
        let told = Arc::clone(state);
        Ok(StreamOptions {
            every,
            pace: self.rate.map(Pace::PerSecond).or(self.replay.map(Pace::Replay)),
            time: self.time,
            unit: self.unit.map(|unit| one_of("time_unit", &unit, &EpochUnit::ALL)).transpose()?,
            delay: self.delay.as_deref().map(length).transpose()?,
            late: match self.late.strip_prefix("reject:") {
                Some(file) => Late::Reject(file.into()),
                None if one_of("late", &self.late, &[("next", false), ("refuse", true)])? => Late::Refuse,
                None => Late::Next,
            },
            expire: expire.zip(run).map(|(length, (run, ..))| Expiry { length, run: Arc::new(run) }),
            op: self.op,
            duplicates: self.duplicates.as_deref().map(duplicates).transpose()?,
            stop: stop.clone(),
            on_state: Some(Arc::new(move |state: &StreamState| {
                *told.lock() = Some(state.clone());
            })),
            ..StreamOptions::default()
        })
    }
}

/// Begins to stream into a database that is open for writing: what is handed over, or a file.
#[pyfunction]
pub(crate) fn stream_edges(
    py: Python<'_>,
    database: &PyDatabase,
    settings: StreamSettings,
    file: Option<FileSettings>,
) -> PyOutcome<PyEdgeStream> {
    let writer = database.writer()?;
    let target = Target::of(&**writer)?;
    let (state, stop) = (Arc::new(Mutex::new(None)), Cancel::default());
    let mut options = settings.options(&stop, &state)?;
    let (is_file, is_followed) = (file.is_some(), file.as_ref().is_some_and(|file| file.follow));
    let (sender, open): (_, OpenInput) = match file {
        Some(file) => (None, open_file(py, file, &target, writer.path(), &mut options)?),
        None => {
            let (sender, chunks) = sync_channel(CHUNKS_AHEAD);
            let schema = schema_of(&target, options.op.is_some());
            let reader = ChunkReader::new(schema, chunks);
            let open = |target: &Target| Ok(EdgeInput::of_reader(target, Box::new(reader)));
            (Some(sender), Box::new(open))
        }
    };
    let properties: Vec<_> = target.given_properties().cloned().collect();
    let (has_texts, times) = (target.text_ids, place_of_times(&target, &options));
    let reading = reading_of_rows(&target, &options, ReadOptions::default());
    let may_replace = reading.operation.map(|operation| operation.may_replace);
    let committing = move || {
        let input = match open(&target) {
            Ok(input) => input,
            // A file that is followed may have no first line yet.
            Err(_) if options.stop.is_cancelled() => return (None, Ok(())),
            Err(error) => return (None, Err(error)),
        };
        let mut report = None;
        let done = stream(&writer, &target, input, &options, &mut report);
        let rejects = options.rejects.as_ref().map_or(Ok(()), |file| file.finish());
        (report, done.and(rejects))
    };
    let thread = std::thread::Builder::new().name("esker-stream".to_owned()).spawn(committing);
    let thread =
        thread.map_err(|error| PyFailure::Named("Error", format!("cannot start a thread: {error}")))?;
    Ok(PyEdgeStream {
        chunks: Mutex::new(sender),
        thread: Mutex::new(Some(thread)),
        state,
        report: Mutex::default(),
        stop,
        is_file,
        process: std::process::id(),
        is_followed,
        properties,
        required_times: times,
        may_replace,
        has_texts,
    })
}

impl PyEdgeStream {
    /// Ends the stream after a last commit. Returns the error that ended it before.
    fn end(&self) -> PyOutcome<()> {
        drop(self.chunks.lock().take());
        let Some(thread) = self.thread.lock().take() else {
            return Ok(());
        };
        let (report, done) = thread.join().map_err(|_| {
            let message = "internal error: a stream panicked; this is a bug in Esker, please report it";
            PyFailure::Named("Error", message.to_owned())
        })?;
        if let Some(report) = &report {
            *self.state.lock() = Some(report.state.clone());
        }
        *self.report.lock() = report;
        Ok(done?)
    }

    fn is_done(&self) -> bool {
        let thread = self.thread.lock();
        thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Converts edges to the types of the database. What does not fit is refused here, where it does not end
    /// the stream.
    fn chunk(&self, columns: &InputColumns, operations: Option<&InputColumn>) -> PyOutcome<HandedEdges> {
        let (mut chunk, mut first) = (HandedEdges::new(), 0);
        while first < columns.num_rows() {
            let rows = columns.block_rows(first);
            chunk.push_back(self.block(columns, operations, first, rows)?);
            first += rows;
        }
        Ok(chunk)
    }

    fn block(
        &self,
        columns: &InputColumns,
        operations: Option<&InputColumn>,
        first: usize,
        rows: usize,
    ) -> PyOutcome<EdgeBatch> {
        let range = |len: usize| first.min(len)..(first + rows).min(len);
        let edges = range(columns.len());
        let words = operations.map(|column| column.words(edges.clone())).transpose()?;
        let operations = match (operations, &words) {
            (Some(column), Some(words)) => self.operations(column, edges.start, words)?,
            _ => vec![RowOperation::Add; edges.len()],
        };
        let values = |(place, property): (usize, &PropertyRecord)| {
            let column = &columns.properties[place].1;
            let values = column.values_for(edges.clone(), property)?;
            let is_time = self.required_times == Some(place);
            for (at, operation) in operations.iter().enumerate() {
                let is_removal = *operation == RowOperation::Remove;
                if is_removal && !property.kind && !is_time {
                    continue;
                }
                let is_required = is_time && !is_removal || property.kind && is_removal;
                if is_required && values.is_null(at) {
                    return Err(column.lacks(edges.start + at));
                }
                convert_or_widen(property, InputValue::of(&values, at))?;
            }
            Ok(values)
        };
        let vertices = columns.vertices.as_ref();
        let properties = self.properties.iter().enumerate().map(values).chain(words.into_iter().map(Ok));
        Ok(EdgeBatch {
            input_bytes: edges.len() as u64 * EDGE_BYTES,
            source: columns.source.ids(edges.clone(), self.has_texts)?,
            target: columns.target.ids(edges.clone(), self.has_texts)?,
            properties: properties.collect::<PyOutcome<_>>()?,
            vertices: vertices.map(|column| column.ids(range(column.len()), self.has_texts)).transpose()?,
            vertex_values: Vec::new(),
            vertex_places: None,
            rejected: Vec::new(),
            wide: Vec::new(),
        })
    }

    /// What happens to edges, of which the first has the place `start`.
    fn operations(
        &self,
        column: &InputColumn,
        start: usize,
        words: &ArrayRef,
    ) -> PyOutcome<Vec<RowOperation>> {
        let words = texts(words).into_iter().flatten().enumerate();
        let may_replace = self.may_replace == Some(true);
        let read = |(at, word): (usize, &[u8])| {
            expect_operation(Some(word), "op", may_replace)
                .or_else(|reason| invalid(format!("{}[{}]: {}", column.what(), start + at, said(&reason))))
        };
        words.map(read).collect()
    }
}

/// A stream that is dropped ends after a last commit, so that the database can be closed and written again.
impl Drop for PyEdgeStream {
    fn drop(&mut self) {
        // A forked process has no such thread.
        if self.process != std::process::id() {
            return;
        }
        if self.is_file {
            self.stop.cancel();
        }
        // Only `close` reports errors.
        let _ = self.end();
    }
}

#[pymethods]
impl PyEdgeStream {
    /// Hands edges over. Waits while the stream is behind.
    fn push(
        &self,
        py: Python<'_>,
        source: &InputColumn,
        target: &InputColumn,
        properties: Vec<(String, Bound<'_, InputColumn>)>,
        vertices: Option<&InputColumn>,
        operations: Option<&InputColumn>,
    ) -> PyOutcome<()> {
        let of_name = |PropertyRecord { name, .. }: &PropertyRecord| {
            let found = properties.iter().find(|(own, _)| own == name);
            found.map(|(_, column)| (name.clone(), column.get().clone())).ok_or_else(|| {
                let message = format!("the edges have no property {name:?}: they need a column for it, which may have missing values");
                PyFailure::Named("InvalidError", message)
            })
        };
        let columns = InputColumns {
            source: source.clone(),
            target: target.clone(),
            properties: self.properties.iter().map(of_name).collect::<PyOutcome<_>>()?,
            vertices: vertices.cloned(),
        };
        columns.check()?;
        if let Some(operations) = operations.filter(|column| column.len() != source.len()) {
            let (own, edges) = (operations.len(), source.len());
            let what = operations.what();
            return invalid(format!("{what} has {own} elements, but there are {edges} edges"));
        }
        for column in [Some(source), Some(target), vertices].into_iter().flatten() {
            column.expect_ids(self.has_texts)?;
        }
        let sender = self.chunks.lock().clone();
        let Some(sender) = sender else {
            return Err(PyFailure::Named("ClosedError", "the stream is closed; begin a new one".to_owned()));
        };
        let mut waiting = py.detach(|| self.chunk(&columns, operations))?;
        loop {
            match sender.try_send(waiting) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Disconnected(_)) => return py.detach(|| self.end()),
                Err(TrySendError::Full(chunk)) => waiting = chunk,
            }
            // If a signal comes, these edges are not handed over.
            py.check_signals()?;
            py.detach(|| std::thread::sleep(LOOK_EVERY));
        }
    }

    /// Commits what was handed over, and ends the stream. A file that is not followed is read to its end
    /// first, unless a signal comes.
    fn close(&self, py: Python<'_>) -> PyOutcome<()> {
        if self.is_followed {
            self.stop.cancel();
        }
        while self.is_file && !self.is_done() {
            if let Err(signal) = py.check_signals() {
                self.stop.cancel();
                py.detach(|| self.end())?;
                return Err(signal.into());
            }
            py.detach(|| std::thread::sleep(LOOK_EVERY));
        }
        py.detach(|| self.end())
    }

    /// Stops reading a file.
    fn stop_reading(&self) {
        if self.is_file {
            self.stop.cancel();
        }
    }

    /// What the stream committed; `None` before the end.
    fn report(&self) -> Option<ReportObjects> {
        let report = self.report.lock();
        report.as_ref().map(|StreamReport { fed, state, passed_over }| {
            let StreamState { late, expired, removed, not_found, .. } = *state;
            let versions = fed.versions.clone();
            (versions, fed.edges, fed.duplicates, late, *passed_over, expired, removed, not_found)
        })
    }

    /// How far the stream is, as told last.
    fn state(&self) -> Option<StateObjects> {
        let state = self.state.lock();
        state.as_ref().map(|state| {
            let watermark = state.watermark.map(|(mark, unit)| (mark, symbol(unit)));
            let lag = state.lag.as_secs_f64();
            let StreamState { version, edges, committed, late, expired, removed, not_found, .. } = *state;
            (version, edges, committed, late, watermark, lag, expired, removed, not_found)
        })
    }
}

/// Removes the edges that are older than the latest by a length or more; returns the version, if there are
/// any, and their number.
#[pyfunction]
pub(crate) fn expire(
    py: Python<'_>,
    database: &PyDatabase,
    length: Option<&str>,
    times: (Option<String>, Option<String>),
    message: Option<String>,
    settings: Settings,
) -> PyOutcome<(Option<u64>, u64)> {
    let (writer, (time, unit)) = (database.writer()?, times);
    let length = match (length, Declared::of(&writer.manifest()).expire) {
        (Some(given), _) => span(given)?,
        (None, Some(kept)) => kept,
        (None, None) => {
            return invalid("the database keeps no age from which edges are removed: give one, such as 30d");
        }
    };
    let unit = unit.as_deref().map(|unit| one_of("time_unit", unit, &EpochUnit::ALL)).transpose()?;
    let (run, cancel, listener) = settings.run("expire")?;
    let options = commit_options(message.unwrap_or_default(), None, &cancel);
    let report = watched(py, &cancel, listener.as_ref(), || {
        Ok(change::expire(&writer, time.as_deref(), unit, length, &options, &run)?)
    })?;
    Ok((report.version, report.edges))
}

/// The property of the times, the symbol of their unit, the delay and the age.
type DeclaredStream = (String, Option<&'static str>, Option<String>, Option<String>);

/// The stream that the database was declared to be: property, unit, delay and age, if it was.
#[pyfunction]
pub(crate) fn declared_stream(database: &PyDatabase) -> PyOutcome<Option<DeclaredStream>> {
    let Declared { time, unit, delay, expire } = Declared::of(&*database.open()?.manifest()?);
    let text = |length: Option<Span>| length.map(|length| length.to_string());
    Ok(time.map(|time| (time, unit.map(symbol), text(delay), text(expire))))
}

/// Declares the database a stream. What is not given stays; an empty length stands for none.
#[pyfunction]
pub(crate) fn declare_stream(
    py: Python<'_>,
    database: &PyDatabase,
    time: Option<String>,
    unit: Option<&str>,
    delay: Option<&str>,
    age: Option<&str>,
) -> PyOutcome<()> {
    let writer = database.writer()?;
    let kept = Declared::of(&writer.manifest());
    let over = |given: Option<&str>, kept: Option<Span>| match given {
        None => Ok(kept),
        Some("") => Ok(None),
        Some(length) => span(length).map(Some),
    };
    let unit = unit.map(|unit| one_of("time_unit", unit, &EpochUnit::ALL)).transpose()?;
    let (delay, expire) = (over(delay, kept.delay)?, over(age, kept.expire)?);
    let declared = Declared { delay, expire, ..kept.with_times(time, unit) };
    py.detach(|| Ok(declared.keep(&writer)?))
}

//! The parts of an input that a process parses.
//!
//! Files are cut into the same blocks by all processes, and each parses every P-th one. A stream is read by
//! process 0 alone, as it comes: edges that versions have are passed over, and process 0 asks for a version
//! after a number of edges or a length of time. A thread reads [`BLOCKS_AHEAD`] blocks ahead, so a slow
//! cluster slows the writer of a pipe.

use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use esker_format::{Error, Result, TableRecord};
use esker_graph::{Cancel, Message, Operation, Setting, message};
use esker_import::open::open;
use esker_import::read::format::{Pick, PickIds, PickProperties, ReadOptions};
use esker_import::read::generated::GeneratorReader;
use esker_import::read::live::GrowingInput;
use esker_import::read::source::{EdgeBatch, Reader, told_of_panics};

use crate::change::fingerprint::fingerprint;
use crate::change::fitting::{expect_fit, of_input, stated};
use crate::change::reading::as_remembered;
use crate::disk::cluster::Cluster;
use crate::disk::job::{ChangeJob, StreamJob};
use crate::net::engine::Engine;
use crate::net::threads::no_thread;

/// Blocks that the reading thread is ahead.
const BLOCKS_AHEAD: usize = 2;
/// The longest wait for input between two looks at the clock and at whether the stream ends.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Edges of a stream that go to the shards in one round, at most.
const ROUND_EDGES: u64 = 1 << 17;
/// What a process has for a round.
pub(crate) struct InputPart {
    /// Rows of a batch.
    pub(crate) rows: Option<(Rc<EdgeBatch>, Range<usize>)>,
    /// Whether these are the last edges.
    pub(crate) is_done: bool,
    /// Whether a version is due after the round.
    pub(crate) commits: bool,
}

/// The parts of the input that this process parses.
pub(crate) struct Parts {
    /// The parsed blocks; `None`: another process reads the stream.
    batches: Option<Receiver<Result<EdgeBatch>>>,
    /// Vertices that the format counts, of which this process announces its own share.
    pub(crate) counted: Range<u64>,
    /// Whether each edge stands for its reverse too.
    pub(crate) is_reversed: bool,
    /// Which column holds the weights, if they are wanted.
    pub(crate) weight: Option<usize>,
    /// How the inputs are read; that of one process is enough.
    pub(crate) notes: Vec<Message>,
    /// Which columns this process reads.
    pub(crate) table: Option<TableRecord>,
    stream: Option<StreamCourse>,
    /// The names of the inputs.
    input: String,
    reading: Arc<Reading>,
}

/// The reader of a job, and how it reads.
fn open_reader(job: &ChangeJob, options: &ReadOptions) -> Result<(Box<dyn Reader>, Vec<Message>)> {
    if let Some(graph) = &job.generated {
        return Ok((Box::new(GeneratorReader::new(graph.generator()?)), Vec::new()));
    }
    let opened = open(&job.inputs, options)?;
    let warnings = opened.warnings.into_iter().map(|warning| Message::from("warning: ").and(warning));
    Ok((opened.reader, opened.notes.into_iter().chain(warnings).collect()))
}

/// How far a stream is.
struct StreamCourse {
    job: StreamJob,
    input: String,
    /// Edges after which a version is made; 0: only time counts.
    batch_edges: u64,
    /// Edges still to be passed over.
    to_pass: u64,
    /// The column of the weights.
    weight: Option<usize>,
    /// The fingerprint of the last edge handed out.
    mark: Option<u64>,
    reading: Arc<Reading>,
    /// Rows that are read but not handed out.
    rest: Option<(Rc<EdgeBatch>, Range<usize>)>,
    /// When the first edge came that no version has.
    since: Instant,
    /// Why no more of the input can be read: to be reported once what was read before is committed.
    broken: Option<Error>,
}

/// What the thread that reads does.
#[derive(Default)]
struct Reading {
    /// Ends it before the next block.
    stop: Cancel,
    /// Whether it waits for the next block: then it holds no edges.
    waits: AtomicBool,
    /// The checksum of all blocks, once they are read.
    checksum: AtomicU32,
}

impl Parts {
    /// Opens the input of a job.
    ///
    /// # Errors
    /// Those of the input; [`Error::Invalid`] if it does not fit the cluster.
    pub(crate) fn open(
        cluster: &Cluster,
        engine: &Engine<'_>,
        job: &ChangeJob,
        is_weighted: bool,
        expected: Option<TableRecord>,
    ) -> Result<Self> {
        let (me, peers) = (engine.index(), engine.peers());
        if job.weight.is_some() && !is_weighted && !job.removes {
            return Err(Error::usage(message![
                "the edges of this cluster have no weights: leave out their column, or make one with ",
                Operation::ClusterCreate.with(Setting::Weights.to("int")),
            ]));
        }
        let input = job.inputs.join(", ");
        let reading = Arc::new(Reading::default());
        let none = Self {
            batches: None,
            counted: 0..0,
            is_reversed: false,
            weight: None,
            notes: Vec::new(),
            table: None,
            stream: None,
            input,
            reading: Arc::clone(&reading),
        };
        if job.stream.is_some() && me != 0 {
            return Ok(none);
        }
        let manifest = cluster.manifest();
        let mut options = ReadOptions {
            directed: Some(manifest.directed),
            ..as_remembered(expected, job, read_options(job, manifest.text_ids, is_weighted))
        };
        if let Some(live) = &mut options.live {
            live.stop = reading.stop.clone();
        }
        let (reader, notes) = open_reader(job, &options)?;
        let (schema, table) = (reader.schema(), reader.table());
        let is_reversed = schema.stands_for_both(manifest.directed);
        let weight = expect_fit(schema, cluster, &none.input, is_weighted)?;
        // One process reads a stream, and announces all vertices.
        let (index, readers) = if job.stream.is_some() { (0, 1) } else { (me, peers) };
        let counted = if job.removes { 0..0 } else { stated(schema, &none.input, index, readers)? };
        let stream = job.stream.clone().map(|stream| StreamCourse {
            input: none.input.clone(),
            batch_edges: job.batch_edges,
            to_pass: stream.passed,
            weight,
            mark: stream.mark,
            reading: Arc::clone(&reading),
            rest: None,
            since: Instant::now(),
            broken: None,
            job: stream,
        });
        let (sender, batches) = sync_channel(BLOCKS_AHEAD);
        std::thread::Builder::new()
            .name("esker-read".to_owned())
            .spawn(move || read_part(reader, &reading, index, readers, |batch| sender.send(batch).is_ok()))
            .map_err(no_thread("read the input"))?;
        let notes = if me == 0 { notes } else { Vec::new() };
        Ok(Self { batches: Some(batches), counted, is_reversed, weight, notes, table, stream, ..none })
    }

    /// What was found in the input; an error about it gets its name.
    pub(crate) fn about_input<T>(&self, found: Result<T>) -> Result<T> {
        found.map_err(|error| match error {
            Error::Invalid(reason) => of_input(&self.input, reason),
            other => other,
        })
    }

    /// If `is_over`, checks that all processes have read the same files: then their parts make the whole. To
    /// be called by all.
    ///
    /// # Errors
    /// [`Error::Input`] if they have not.
    pub(crate) fn expect_same(&self, engine: &mut Engine<'_>, is_over: bool) -> Result<()> {
        if !is_over {
            return Ok(());
        }
        let own = self.reading.checksum.load(Ordering::SeqCst);
        let checksums = engine.gather(own.into())?;
        let Some(other) = checksums.iter().position(|&checksum| checksum != checksums[0]) else {
            return Ok(());
        };
        Err(of_input(
            &self.input,
            format!(
                "the worker of shard {other} read other bytes than that of shard 0: give all machines the same files, and change none meanwhile"
            ),
        ))
    }

    /// Why a stream ended before its input did. To be asked once what was read is committed.
    pub(crate) fn broken(&mut self) -> Option<Error> {
        self.stream.as_mut().and_then(|course| course.broken.take())
    }

    /// The fingerprint of the last edge of a stream that was handed out, by this run or for the last version
    /// before it.
    pub(crate) fn mark(&self) -> Option<u64> {
        self.stream.as_ref().and_then(|course| course.mark)
    }

    /// The next part, when `pending` edges and vertices of earlier ones are in no version. Waits for a stream
    /// until there are edges or a version is due, or `is_stopping` says that it ends.
    ///
    /// # Errors
    /// Those of the input.
    pub(crate) fn next(&mut self, pending: u64, is_stopping: impl FnMut() -> bool) -> Result<InputPart> {
        let Some(batches) = &self.batches else {
            return Ok(InputPart { rows: None, is_done: true, commits: false });
        };
        if let Some(course) = &mut self.stream {
            let part = course.next(batches, pending, is_stopping)?;
            if part.is_done && course.reading.stop.is_cancelled() {
                // The next run announces them from the first.
                self.counted = 0..0;
            }
            return Ok(part);
        }
        let Ok(batch) = batches.recv() else {
            return Ok(InputPart { rows: None, is_done: true, commits: false });
        };
        let batch = Rc::new(sound(batch?)?);
        let rows = 0..batch.len();
        Ok(InputPart { rows: Some((batch, rows)), is_done: false, commits: false })
    }
}

impl StreamCourse {
    fn next(
        &mut self,
        batches: &Receiver<Result<EdgeBatch>>,
        pending: u64,
        mut is_stopping: impl FnMut() -> bool,
    ) -> Result<InputPart> {
        loop {
            if let Some((batch, rows)) = self.rest.take() {
                return Ok(self.hand_out(batch, rows, pending));
            }
            if self.batch_edges > 0 && pending >= self.batch_edges {
                // Vertices alone may make a version due.
                return Ok(InputPart { rows: None, is_done: false, commits: true });
            }
            if is_stopping() {
                self.reading.stop.cancel();
            }
            let is_stopped = self.reading.stop.is_cancelled();
            match batches.recv_timeout(LOOK_EVERY) {
                Ok(Ok(batch)) => self.take(sound(batch)?)?,
                // What was read before is whole, and a file that was renamed cannot be read again under its
                // name.
                Ok(Err(error)) if self.to_pass == 0 => {
                    self.broken = Some(self.ended(error));
                    return Ok(InputPart { rows: None, is_done: true, commits: true });
                }
                Ok(Err(error)) => return Err(error),
                // All that was read of a pipe is taken: no version would ever have it otherwise.
                Err(RecvTimeoutError::Timeout) if is_stopped && self.reading.waits.load(Ordering::SeqCst) => {
                    return Ok(InputPart { rows: None, is_done: true, commits: true });
                }
                Err(RecvTimeoutError::Timeout) if pending > 0 && self.is_late() => {
                    return Ok(InputPart { rows: None, is_done: false, commits: true });
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) if self.to_pass > 0 && !is_stopped => {
                    let has = self.job.passed - self.to_pass;
                    return Err(self.replaced(&format!("it has {has} now")));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Ok(InputPart { rows: None, is_done: true, commits: true });
                }
            }
        }
    }

    /// The input is not the one of which versions have the first edges.
    fn replaced(&self, how: &str) -> Error {
        let passed = esker_graph::counted(self.job.passed, "edge", "edges");
        Error::invalid(message![
            format!("versions of the cluster have the first {passed} of {}, but {how}: ", self.input),
            "the file was replaced or cut short; restore it, or read it from its start with ",
            Setting::FromStart.to(true),
        ])
    }

    /// Why the input ended early, and how to go on.
    fn ended(&self, error: Error) -> Error {
        match (error, &self.job.name) {
            (Error::Input { path, line, text, reason }, Some(name)) if self.job.follows => {
                let reason = message![
                    reason,
                    "; what was read of it is committed: read the rest under its new name with ",
                    Setting::StreamName.to_name(name),
                    ", and a new file of this name with ",
                    Setting::FromStart.to(true),
                ];
                Error::Input { path, line, text, reason }
            }
            (other, _) => other,
        }
    }

    /// Takes a batch, without the edges that are passed over. The last of them is looked at.
    fn take(&mut self, batch: EdgeBatch) -> Result<()> {
        let passed = self.to_pass.min(batch.len() as u64);
        self.to_pass -= passed;
        if passed > 0
            && self.to_pass == 0
            && let Some(known) = self.job.mark
            && known != fingerprint(&batch, passed as usize - 1, self.weight)
        {
            return Err(self.replaced(&format!("edge {} of it is another one now", self.job.passed)));
        }
        let rows = passed as usize..batch.len();
        if !rows.is_empty() || batch.vertices.is_some() {
            self.rest = Some((Rc::new(batch), rows));
        }
        Ok(())
    }

    /// Hands out as many rows as a version may have, and a round.
    fn hand_out(&mut self, batch: Rc<EdgeBatch>, rows: Range<usize>, pending: u64) -> InputPart {
        if pending == 0 {
            self.since = Instant::now();
        }
        let room =
            if self.batch_edges == 0 { u64::MAX } else { self.batch_edges.saturating_sub(pending).max(1) };
        let len = (rows.len() as u64).min(room).min(ROUND_EDGES);
        let end = rows.start + len as usize;
        if end < rows.end {
            self.rest = Some((Rc::clone(&batch), end..rows.end));
        }
        if len > 0 {
            self.mark = Some(fingerprint(&batch, end - 1, self.weight));
        }
        let commits = len == room || self.is_late();
        InputPart { rows: Some((batch, rows.start..end)), is_done: false, commits }
    }

    /// Whether a version is due because of the time.
    fn is_late(&self) -> bool {
        self.job.every_ms > 0 && self.since.elapsed() >= Duration::from_millis(self.job.every_ms)
    }
}

fn read_options(job: &ChangeJob, text_ids: bool, is_weighted: bool) -> ReadOptions {
    ReadOptions {
        source: job.source.clone(),
        target: job.target.clone(),
        header: job.header,
        weight: match &job.weight {
            _ if !is_weighted => Pick::Skip,
            Some(column) => Pick::Column(column.clone()),
            None => Pick::Auto,
        },
        time: Pick::Skip,
        properties: PickProperties::None,
        types_are_fixed: true,
        removes: job.removes,
        ids: if text_ids { PickIds::Text } else { PickIds::Int },
        live: job
            .stream
            .as_ref()
            .map(|stream| GrowingInput { follow: stream.follows, ..GrowingInput::default() }),
        ..ReadOptions::default()
    }
}

/// A batch, if all of its lines were understood.
fn sound(batch: EdgeBatch) -> Result<EdgeBatch> {
    if let Some(column) = batch.vertex_values.iter().find(|own| !own.is_empty()) {
        return Err(Error::invalid(format!(
            "the vertices of the input have the property {:?}, and an import of a cluster takes edges only: write the \
             edges as a table",
            column.name
        )));
    }
    let Some(rejected) = batch.rejected.first() else { return Ok(batch) };
    Err(Error::Input {
        path: rejected.path.to_path_buf(),
        line: Some(rejected.line),
        text: rejected.text.to_string(),
        reason: rejected.reason.clone(),
    })
}

/// Parses every `peers`-th block of a reader, and hands it over until `give` wants no more or the reading is
/// stopped.
fn read_part(
    mut reader: Box<dyn Reader>,
    reading: &Reading,
    me: usize,
    peers: usize,
    give: impl Fn(Result<EdgeBatch>) -> bool,
) {
    let (parser, mut checksum) = (reader.parser(), 0);
    for number in 0.. {
        if reading.stop.is_cancelled() {
            return;
        }
        reading.waits.store(true, Ordering::SeqCst);
        let block = told_of_panics(|| reader.next_block());
        reading.waits.store(false, Ordering::SeqCst);
        if let Ok(Some(block)) = &block {
            let sums = [checksum, block.input_bytes as u32, crc32c::crc32c(&block.bytes)];
            checksum = sums.iter().fold(0, |sum, one| crc32c::crc32c_append(sum, &one.to_le_bytes()));
            reading.checksum.store(checksum, Ordering::SeqCst);
        }
        let batch = match block {
            Ok(None) => return,
            Ok(Some(_)) if number % peers != me => continue,
            Ok(Some(block)) => told_of_panics(|| parser.parse(block)),
            Err(error) => Err(error),
        };
        let is_failed = batch.is_err();
        if !give(batch) || is_failed {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course(job: StreamJob, batch_edges: u64) -> StreamCourse {
        StreamCourse {
            input: "edges.csv".to_owned(),
            batch_edges,
            to_pass: job.passed,
            weight: None,
            mark: job.mark,
            reading: Arc::default(),
            rest: None,
            since: Instant::now(),
            broken: None,
            job,
        }
    }

    /// What was read before the file was renamed was in no version.
    #[test]
    fn a_stream_whose_input_breaks_commits_what_was_read_before() {
        let mut course = course(StreamJob::default(), 0);
        let (sender, batches) = sync_channel(2);
        sender.send(Ok(EdgeBatch::of_integers(vec![1], vec![9], 0))).expect("send");
        sender.send(Err(Error::invalid("renamed".to_owned()))).expect("send");
        let part = course.next(&batches, 0, || false).expect("next");
        assert_eq!(part.rows.map(|(_, rows)| rows), Some(0..1));
        let part = course.next(&batches, 1, || false).expect("next");
        assert!(part.is_done && part.commits && part.rows.is_none());
        assert_eq!(course.broken.map(|error| error.to_string()), Some("renamed".to_owned()));
        drop(sender);
    }

    #[test]
    fn a_stream_that_is_stopped_hands_out_the_blocks_that_were_read() {
        let mut course = course(StreamJob::default(), 0);
        let (sender, batches) = sync_channel(2);
        for source in [1, 2] {
            sender.send(Ok(EdgeBatch::of_integers(vec![source], vec![9], 0))).expect("send");
        }
        // The thread that reads waits for more.
        course.reading.waits.store(true, Ordering::SeqCst);
        let mut edges = 0;
        loop {
            let part = course.next(&batches, edges, || true).expect("next");
            edges += part.rows.as_ref().map_or(0, |(_, rows)| rows.len() as u64);
            if part.is_done {
                assert!(part.commits);
                break;
            }
        }
        assert_eq!(edges, 2);
        drop(sender);
    }

    #[test]
    fn a_file_whose_last_known_edge_is_another_one_is_refused() {
        let of = |targets: Vec<u64>| EdgeBatch::of_integers(vec![1, 2, 3], targets, 0);
        let mark = Some(fingerprint(&of(vec![4, 5, 6]), 1, None));
        let job = StreamJob { passed: 2, mark, ..StreamJob::default() };
        let mut known = course(job.clone(), 0);
        known.take(of(vec![7, 5, 6])).expect("only the last edge is looked at");
        assert_eq!(known.rest.map(|(_, rows)| rows), Some(2..3));
        let message = course(job, 0).take(of(vec![4, 8, 6])).expect_err("replaced").to_string();
        let expected = "versions of the cluster have the first 2 edges of edges.csv, but edge 2 of it is another one now";
        assert!(message.contains(expected) && message.contains("from_start = true"), "{message}");
    }

    #[test]
    fn vertices_alone_make_a_version_of_a_stream_due() {
        let mut course = course(StreamJob::default(), 100);
        let (sender, batches) = sync_channel::<Result<EdgeBatch>>(1);
        let part = course.next(&batches, 100, || false).expect("next");
        assert!(part.commits && !part.is_done && part.rows.is_none());
        drop(sender);
    }
}

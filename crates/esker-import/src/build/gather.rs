//! The first step of an import: one thread cuts the input into blocks, the others parse them and set the
//! edges aside.

use parking_lot::{Condvar, Mutex};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded};
use esker_format::{Error, Result};
use esker_graph::{Setting, message};
use esker_layers::ids::IdHasher;

use crate::build::texts::PropertyTexts;
use crate::build::values::{Range, RawColumn, TextCache, set_aside};
use crate::build::vertex_rows::{NamedVertices, RowGatherer, VertexRows};
use crate::keys::Keys;
use crate::number::{Numberer, Parted};
use crate::options::{BadLines, ImportOptions, Tracker};
use crate::read::source::{BlockParser, EdgeBatch, InputBlock, Reader, Rejected, WideInteger, integer_ids};
use crate::rejects::RejectsFile;
use crate::sort::scratch::{Shelf, ShelvedChunk, Workspace};

/// How many rejected rows are kept as a sample.
pub(crate) const REJECTED_SAMPLE: usize = 20;

/// Memory that a worker needs for the block and the batch in its hands.
pub(crate) const WORKER_BYTES: u64 = 6 << 20;

/// How often a waiting thread looks for cancellation.
const PATIENCE: Duration = Duration::from_millis(20);

/// The two ends of the edges of a block, as the input has them.
#[derive(Debug)]
pub(crate) enum RawEnds {
    Narrow(ShelvedChunk<[u32; 2]>),
    Wide(ShelvedChunk<[u64; 2]>),
    /// They went to a [`Numberer`].
    Elsewhere,
}

/// The edges of one block of input.
#[derive(Debug)]
pub(crate) struct RawBlock {
    pub(crate) len: usize,
    pub(crate) ends: RawEnds,
    pub(crate) values: Vec<RawColumn>,
    pub(crate) vertices: Option<ShelvedChunk<u64>>,
    /// How many vertices are named without an edge, and the rows of their properties.
    pub(crate) named: NamedVertices,
}

/// The least and the greatest integer id of an input.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IdStats {
    pub(crate) min: u64,
    pub(crate) max: u64,
}

impl Default for IdStats {
    fn default() -> Self {
        Self { min: u64::MAX, max: 0 }
    }
}

impl IdStats {
    fn merge(&mut self, other: Self) {
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Whether there were no ids.
    pub(crate) fn is_empty(&self) -> bool {
        self.min > self.max
    }
}

/// Everything that was read.
pub(crate) struct GatheredInput {
    pub(crate) blocks: Vec<RawBlock>,
    pub(crate) shelf: Shelf,
    pub(crate) ids: IdStats,
    /// For each property.
    pub(crate) ranges: Vec<Range>,
    pub(crate) texts: Vec<PropertyTexts>,
    /// The properties of vertices.
    pub(crate) rows: VertexRows,
    pub(crate) rejected: u64,
    pub(crate) rejected_sample: Vec<Rejected>,
    /// By property: the first integer that no float equals, where its line is known.
    pub(crate) wide: BTreeMap<usize, WideInteger>,
}

impl GatheredInput {
    pub(crate) fn num_edges(&self) -> u64 {
        self.blocks.iter().map(|block| block.len as u64).sum()
    }

    /// Takes out the properties of vertices.
    pub(crate) fn split(mut self) -> (Self, VertexRows) {
        let rows = std::mem::take(&mut self.rows);
        (self, rows)
    }

    /// Moves the ends of edges from memory to the disk, until there is room enough.
    ///
    /// # Errors
    /// If a temporary file cannot be written.
    pub(crate) fn make_room(&mut self, is_enough: impl Fn() -> bool) -> Result<()> {
        for block in self.blocks.iter_mut().rev() {
            if is_enough() {
                return Ok(());
            }
            match &mut block.ends {
                RawEnds::Narrow(chunk) => self.shelf.set_aside(chunk)?,
                RawEnds::Wide(chunk) => self.shelf.set_aside(chunk)?,
                RawEnds::Elsewhere => {}
            }
        }
        Ok(())
    }

    /// Number of integer ids that were read, repetitions included.
    pub(crate) fn num_ids(&self) -> u64 {
        let named = |block: &RawBlock| block.vertices.as_ref().map_or(0, ShelvedChunk::len) as u64;
        self.blocks.iter().map(|block| 2 * block.len as u64 + named(block)).sum()
    }
}

/// What the workers share.
struct Shared<'a> {
    work: &'a Workspace,
    parser: Arc<dyn BlockParser>,
    shelf: Shelf,
    texts: Vec<PropertyTexts>,
    rows: RowGatherer,
    bad_lines: BadLines,
    rejects: Option<Arc<RejectsFile>>,
    tracker: &'a Tracker,
    stop: AtomicBool,
    found: Mutex<FoundEdges>,
    numberer: Option<InOrder>,
}

#[derive(Default)]
struct FoundEdges {
    blocks: BTreeMap<u64, RawBlock>,
    ids: IdStats,
    ranges: Vec<Range>,
    rejected: u64,
    rejected_sample: BTreeMap<u64, Vec<Rejected>>,
    /// By property: the earliest block that has an integer that no float equals, and the first of them.
    wide: BTreeMap<usize, (u64, WideInteger)>,
    /// The error of the earliest block that has one.
    error: Option<(u64, Error)>,
}

/// Reads everything. With a `numberer` the ids go there, in order; without, they are set aside as they are.
pub(crate) fn gather(
    work: &Workspace,
    mut reader: Box<dyn Reader>,
    options: &ImportOptions,
    numberer: Option<Numberer>,
    keep_free_bytes: u64,
    tracker: &Tracker,
) -> Result<(GatheredInput, Option<Numberer>)> {
    let schema = reader.schema().clone();
    let texts = schema
        .properties
        .iter()
        .map(|name| PropertyTexts::new(name, schema.properties.len(), work))
        .collect::<Result<Vec<_>>>()?;
    let threads = work.run.threads();
    let shared = Shared {
        work,
        parser: reader.parser(),
        shelf: Shelf::new(work, keep_free_bytes),
        texts,
        rows: RowGatherer::new(work, keep_free_bytes),
        bad_lines: options.bad_lines,
        rejects: options.rejects.clone(),
        tracker,
        stop: AtomicBool::new(false),
        found: Mutex::new(FoundEdges {
            ranges: vec![Range::default(); schema.properties.len()],
            ..FoundEdges::default()
        }),
        numberer: numberer.map(|numberer| InOrder::new(work, numberer)),
    };
    let (sender, receiver) = bounded(threads + 1);
    // Not scoped: a read from a terminal or a pipe may never return, and cancellation does not wait for it.
    std::thread::Builder::new()
        .name("esker-cut".to_owned())
        .spawn(move || cut(&mut *reader, &sender))
        .map_err(|e| Error::Stop(esker_graph::Stop::Threads(e.to_string())))?;
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|| shared.parse_blocks(&receiver));
        }
        shared.parse_blocks(&receiver);
    });
    drop(receiver);
    work.check()?;
    shared.into_gathered()
}

type Cut = Result<(u64, InputBlock)>;

/// Cuts blocks until the input ends, an error occurs, or no thread wants more.
fn cut(reader: &mut dyn Reader, sender: &Sender<Cut>) {
    let mut sequence = 0;
    loop {
        let block = match reader.next_block() {
            Ok(Some(block)) => Ok((sequence, block)),
            Ok(None) => return,
            Err(error) => Err(error),
        };
        let last = block.is_err();
        if sender.send(block).is_err() || last {
            return;
        }
        sequence += 1;
    }
}

impl Shared<'_> {
    fn parse_blocks(&self, receiver: &Receiver<Cut>) {
        let mut worker = Worker::default();
        worker.caches.resize_with(self.texts.len(), || TextCache::one_of(self.texts.len()));
        worker.ranges.resize_with(self.texts.len(), Range::default);
        loop {
            if self.work.run.check().is_err() {
                break;
            }
            match receiver.recv_timeout(PATIENCE) {
                Ok(Ok((sequence, block))) => {
                    // After an error only blocks before it matter, and those were cut before it was found.
                    if let Err(error) = self.parse(&mut worker, sequence, block) {
                        self.fail(sequence, error);
                    }
                }
                Ok(Err(error)) => self.fail(u64::MAX, error),
                Err(crossbeam_channel::RecvTimeoutError::Timeout) => {}
                Err(crossbeam_channel::RecvTimeoutError::Disconnected) => break,
            }
            if self.stop.load(Ordering::Relaxed) && receiver.is_empty() {
                break;
            }
        }
        let mut found = self.found.lock();
        found.ids.merge(worker.ids);
        for (range, own) in found.ranges.iter_mut().zip(&worker.ranges) {
            range.merge(*own);
        }
    }

    fn fail(&self, sequence: u64, error: Error) {
        let mut found = self.found.lock();
        if found.error.as_ref().is_none_or(|&(first, _)| sequence < first) {
            found.error = Some((sequence, error));
        }
        drop(found);
        self.stop.store(true, Ordering::Relaxed);
        if let Some(numberer) = &self.numberer {
            numberer.give_up();
        }
        if let Some(rejects) = &self.rejects {
            rejects.give_up();
        }
    }

    fn parse(&self, worker: &mut Worker, sequence: u64, block: InputBlock) -> Result<()> {
        let mut batch = self.parser.parse(block)?;
        self.take_rejected(sequence, &mut batch)?;
        self.take_wide(sequence, &mut batch);
        let len = batch.len();
        let mut values = Vec::with_capacity(batch.properties.len());
        for (i, column) in batch.properties.iter().enumerate() {
            let (raw, range) = set_aside(&self.shelf, column, &self.texts[i], &mut worker.caches[i])?;
            worker.ranges[i].merge(range);
            values.push(raw);
        }
        let named = self.rows.take(sequence, &batch)?;
        let keys = Keys { source: batch.source, target: batch.target, vertices: batch.vertices };
        let raw = match &self.numberer {
            Some(numberer) => {
                numberer.push(sequence, numberer.prepare(&keys)?)?;
                RawBlock { len, ends: RawEnds::Elsewhere, values, vertices: None, named }
            }
            None => RawBlock { named, ..self.set_ids_aside(worker, len, values, &keys)? },
        };
        self.found.lock().blocks.insert(sequence, raw);
        self.tracker.advance(batch.input_bytes, len as u64);
        Ok(())
    }

    fn take_wide(&self, sequence: u64, batch: &mut EdgeBatch) {
        if batch.wide.is_empty() {
            return;
        }
        let mut found = self.found.lock();
        for wide in batch.wide.drain(..) {
            let earliest = found.wide.entry(wide.property).or_insert((sequence, wide.clone()));
            if sequence < earliest.0 {
                *earliest = (sequence, wide);
            }
        }
    }

    fn take_rejected(&self, sequence: u64, batch: &mut EdgeBatch) -> Result<()> {
        let rejected = std::mem::take(&mut batch.rejected);
        if let Some(file) = self.rejects.as_ref().filter(|_| self.bad_lines == BadLines::Skip) {
            file.put(sequence, &rejected, || self.work.check())?;
        }
        let Some(first) = rejected.first() else { return Ok(()) };
        if self.bad_lines == BadLines::Stop {
            return Err(Error::Input {
                path: first.path.to_path_buf(),
                line: Some(first.line),
                text: first.text.to_string(),
                reason: message![
                    &first.reason,
                    "; use ",
                    Setting::BadLines.to("skip"),
                    " to skip such lines"
                ],
            });
        }
        let mut found = self.found.lock();
        found.rejected += rejected.len() as u64;
        found.rejected_sample.insert(sequence, rejected.into_iter().take(REJECTED_SAMPLE).collect());
        // Only the earliest blocks that fill the sample are needed.
        let mut before = 0;
        let surplus = found.rejected_sample.iter().find_map(|(&at, sample)| {
            before += sample.len();
            (before >= REJECTED_SAMPLE).then_some(at + 1)
        });
        if let Some(from) = surplus {
            found.rejected_sample.split_off(&from);
        }
        Ok(())
    }

    fn set_ids_aside(
        &self,
        worker: &mut Worker,
        len: usize,
        values: Vec<RawColumn>,
        keys: &Keys,
    ) -> Result<RawBlock> {
        let (Some(source), Some(target)) = (integer_ids(&keys.source), integer_ids(&keys.target)) else {
            return Err(Error::invalid("a reader gave texts where its schema promises integers".to_owned()));
        };
        let named = keys.vertices.as_ref().and_then(integer_ids);
        let vertices = named.map(|named| self.shelf.put_slice(named)).transpose()?;
        let named = named.unwrap_or_default();
        let (mut min, mut max) = (u64::MAX, 0);
        for &id in source.iter().chain(target).chain(named) {
            min = min.min(id);
            max = max.max(id);
        }
        worker.ids.merge(IdStats { min, max });
        let ends = if max <= u64::from(u32::MAX) {
            let pairs = source.iter().zip(target).map(|(&u, &v)| [u as u32, v as u32]).collect();
            RawEnds::Narrow(self.shelf.put(pairs)?)
        } else {
            RawEnds::Wide(self.shelf.put(source.iter().zip(target).map(|(&u, &v)| [u, v]).collect())?)
        };
        Ok(RawBlock { len, ends, values, vertices, named: NamedVertices::default() })
    }

    fn into_gathered(self) -> Result<(GatheredInput, Option<Numberer>)> {
        let found = self.found.into_inner();
        if let Some((_, error)) = found.error {
            return Err(error);
        }
        let mut blocks: Vec<RawBlock> = found.blocks.into_values().collect();
        let rows = self.rows.finish(blocks.iter_mut().map(|block| std::mem::take(&mut block.named)));
        let sample = found.rejected_sample.into_values().flatten().take(REJECTED_SAMPLE).collect();
        let gathered = GatheredInput {
            blocks,
            shelf: self.shelf,
            ids: found.ids,
            ranges: found.ranges,
            texts: self.texts,
            rows,
            rejected: found.rejected,
            rejected_sample: sample,
            wide: found.wide.into_iter().map(|(property, (_, wide))| (property, wide)).collect(),
        };
        Ok((gathered, self.numberer.map(InOrder::into_inner)))
    }
}

#[derive(Default)]
struct Worker {
    ids: IdStats,
    ranges: Vec<Range>,
    caches: Vec<TextCache>,
}

/// Hands batches to a numberer in the order of their blocks, whichever thread parsed them.
pub(crate) struct InOrder {
    work: Workspace,
    hasher: IdHasher,
    queue: Mutex<Queue>,
    moved: Condvar,
}

struct Queue {
    numberer: Numberer,
    next: u64,
    given_up: bool,
    waiting: BTreeMap<u64, Parted>,
}

impl InOrder {
    /// How far ahead of its turn a batch may wait.
    const AHEAD_MAX: u64 = 4;

    pub(crate) fn new(work: &Workspace, numberer: Numberer) -> Self {
        let hasher = numberer.hasher();
        let queue = Queue { numberer, next: 0, given_up: false, waiting: BTreeMap::new() };
        Self { work: work.clone(), hasher, queue: Mutex::new(queue), moved: Condvar::new() }
    }

    /// Does the work on a batch that needs no order.
    pub(crate) fn prepare(&self, keys: &Keys) -> Result<Parted> {
        Numberer::prepare(keys, &self.hasher)
    }

    pub(crate) fn push(&self, sequence: u64, batch: Parted) -> Result<()> {
        let mut queue = self.queue.lock();
        // The worker with the earliest batch never waits, so the others do not wait for ever; unless it was
        // cancelled.
        while sequence > queue.next + Self::AHEAD_MAX && !queue.given_up {
            self.work.check()?;
            self.moved.wait_for(&mut queue, PATIENCE);
        }
        queue.waiting.insert(sequence, batch);
        loop {
            let next = queue.next;
            let Some(batch) = queue.waiting.remove(&next) else { return Ok(()) };
            queue.numberer.push(&batch)?;
            queue.next += 1;
            self.moved.notify_all();
        }
    }

    pub(crate) fn give_up(&self) {
        self.queue.lock().given_up = true;
        self.moved.notify_all();
    }

    pub(crate) fn into_inner(self) -> Numberer {
        self.queue.into_inner().numberer
    }
}

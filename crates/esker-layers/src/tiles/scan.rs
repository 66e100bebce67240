//! Scans over tiles.
//!
//! Workers take chunks in the order of a schedule, decode them batch by batch, and hand over each batch as
//! one patch.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use esker_format::{BLOCK_BYTES, Column, Element, Error, Result};
use esker_graph::{AnyVisitor, Direction, End, Piece, Run, SINK_BATCH_MAX, Select, Sink, VertexId, Weight};

use super::batch::{DecodedBatch, Decoding};
use super::degrees::TileDegrees;
use super::files::{Directory, TileChunk, Tiles};
use super::matrix::{Matrix, WantedTiles};
use super::paged::TilePages;
use super::schedule::{EdgeEnds, Loads, Schedule, ScheduledChunk};
use crate::pool::{HeldExtent, Pool, PoolOptions, Supply};

/// The most bytes of mapped weights that stay in memory beside pooled chunks.
pub const MAPPED_WEIGHTS_MAX: u64 = 16 << 20;
/// Chunks supplied to the schedule at a time.
const SUPPLY_LEN: usize = 64;

/// Tiles with weights of type `W`, ready for scans.
#[derive(Debug)]
pub struct TileScan<'a, W> {
    tiles: &'a Tiles,
    directory: Directory<'a>,
    loads: Loads,
    out: TileDegrees<'a>,
    incoming: TileDegrees<'a>,
    /// One per edge; `None` if `W` is `()`.
    weights: Option<Box<dyn TileWeights<W>>>,
    /// `None`: the chunks are mapped.
    pool: Option<Pool<TilePages<'a>>>,
    /// Upper bound of the bytes of weights in memory: those of all pooled chunks since weights were released
    /// last.
    weights_touched: AtomicU64,
}

/// The bytes of a chunk.
enum ChunkBytes<'a> {
    Mapped(&'a [u8]),
    Pooled(HeldExtent),
}

impl std::ops::Deref for ChunkBytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Mapped(bytes) => bytes,
            Self::Pooled(held) => held,
        }
    }
}

/// Weights of edges, in the order of the file.
pub trait TileWeights<W>: std::fmt::Debug + Send + Sync {
    /// The weights of a range of edges.
    ///
    /// # Errors
    /// [`Error::Corrupt`].
    fn of_edges(&self, edges: Range<usize>) -> Result<&[W]>;

    /// Releases the memory of all weights. They are read again when needed.
    fn release(&self);
}

impl<T: Element> TileWeights<T> for Column<T> {
    fn of_edges(&self, edges: Range<usize>) -> Result<&[T]> {
        self.get(edges)
    }

    fn release(&self) {
        Column::release(self);
    }
}

/// One worker. If it is dropped while it holds a chunk, the scan has failed.
pub(super) struct TileWorker<'s, 'a, W> {
    schedule: &'s Schedule<'a>,
    sink: Box<dyn Sink<W> + 's>,
    pub(super) batch: DecodedBatch<W>,
    pub(super) scheduled: Option<ScheduledChunk>,
}

impl<'s, 'a, W: Weight> TileWorker<'s, 'a, W> {
    pub(super) fn new(schedule: &'s Schedule<'a>, sink: Box<dyn Sink<W> + 's>) -> Self {
        Self { schedule, sink, batch: DecodedBatch::new(), scheduled: None }
    }
}

impl<W> Drop for TileWorker<'_, '_, W> {
    fn drop(&mut self) {
        if self.scheduled.is_some() {
            self.schedule.fail();
        }
    }
}

impl<'a, W: Weight> TileScan<'a, W> {
    /// Verifies the directory and the degrees. `weights` are in the order of the file; `None` if `W` is `()`.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; cancellation.
    pub fn new(tiles: &'a Tiles, weights: Option<Box<dyn TileWeights<W>>>, run: &Run) -> Result<Self> {
        let directory = tiles.directory(run)?;
        let of_chunk = |chunk| (directory.tile(chunk), directory.num_edges(chunk));
        let loads = Loads::new(tiles.num_strips(), (0..directory.len()).map(of_chunk));
        let out = tiles.degrees(Direction::Out, run)?;
        let incoming = tiles.degrees(Direction::In, run)?;
        Ok(Self {
            tiles,
            directory,
            loads,
            out,
            incoming,
            weights,
            pool: None,
            weights_touched: AtomicU64::new(0),
        })
    }

    /// Adds a pool: chunks are then read into a fixed amount of memory.
    ///
    /// # Errors
    /// [`Error::Invalid`] if that is too little; [`Error::Io`].
    pub fn pooled(mut self, options: &PoolOptions, run: &Run) -> Result<Self> {
        let paged = TilePages { tiles: self.tiles, directory: self.directory };
        self.pool = Some(Pool::new(paged, options, run)?);
        Ok(self)
    }

    /// Bytes read into the pool so far.
    #[cfg(test)]
    pub(super) fn read_bytes(&self) -> u64 {
        self.pool.as_ref().map_or(0, Pool::read_bytes)
    }

    /// The tiles.
    pub(crate) fn tiles(&self) -> &'a Tiles {
        self.tiles
    }

    /// The degree of a vertex.
    #[inline(always)]
    pub fn degree(&self, direction: Direction, v: VertexId) -> usize {
        match direction {
            Direction::Out => self.out.get(v),
            Direction::In => self.incoming.get(v),
        }
    }

    /// See [`esker_graph::Graph::scan`].
    ///
    /// # Errors
    /// The first chunk that is damaged; cancellation.
    pub fn scan(
        &self,
        run: &Run,
        direction: Direction,
        select: Select<'_>,
        visitor: &dyn AnyVisitor<W>,
    ) -> Result<()> {
        let shape = self.tiles.shape();
        let matrix = Matrix { num_vertices: shape.num_vertices as usize, directed: shape.directed };
        let list = matrix.bits_of(select);
        let has_list = |v| self.degree(direction, v) > 0;
        let needed = |strip| matrix.is_needed(visitor, strip, has_list);
        let wanted = matrix.wanted(direction, select, list.as_ref(), visitor, has_list);
        let tile = |chunk: usize| self.directory.tile(chunk);
        let schedule = Schedule::new(&tile, &self.loads, wanted.sides, run.threads());
        let _scanning = match &self.pool {
            Some(pool) => Some(pool.begin(|chunk| wanted.has(self.directory.tile(chunk)))?),
            None => None,
        };
        let source = ChunkSource { scan: self, wanted: &wanted, needed: &needed, next: AtomicUsize::new(0) };
        run.share(
            run.threads(),
            || TileWorker::new(&schedule, visitor.sink()),
            |worker, _| {
                while let Some((chunk, bytes)) = source.next_chunk(run, worker)? {
                    let left_out = visitor.left_out(chunk.tile);
                    let mut decoding = self.decoding(&chunk, &bytes, &wanted, left_out)?;
                    while self.fill(worker, &mut decoding, &chunk)? {
                        hand_over(worker, &decoding, wanted.sides);
                    }
                    drop(bytes);
                    source.done(&chunk, worker);
                }
                Ok::<(), Error>(())
            },
        )?;
        Ok(())
    }

    fn decoding<'s>(
        &'s self,
        chunk: &TileChunk,
        bytes: &'s [u8],
        wanted: &WantedTiles<'s>,
        left_out: &'s [u32],
    ) -> Result<Decoding<'s, W>> {
        let shape = self.tiles.shape();
        let weights = match &self.weights {
            Some(column) => Some(column.of_edges(chunk.edges.start as usize..chunk.edges.end as usize)?),
            None => None,
        };
        let matrix = Matrix { num_vertices: shape.num_vertices as usize, directed: shape.directed };
        let decoding = Decoding::new(chunk, bytes, matrix, weights, left_out, wanted.bits, wanted.sides);
        decoding.ok_or_else(|| self.tiles.corrupt_chunk(chunk))
    }

    /// Weights are mapped, and their pages in memory count for the process: their number must not grow with
    /// the graph.
    fn release_weights(&self, chunk: &TileChunk) {
        let Some(weights) = &self.weights else { return };
        let bytes = (chunk.edges.end - chunk.edges.start) * size_of::<W>() as u64 + BLOCK_BYTES as u64;
        if self.weights_touched.fetch_add(bytes, Relaxed) + bytes > MAPPED_WEIGHTS_MAX {
            self.weights_touched.store(0, Relaxed);
            weights.release();
        }
    }

    fn fill(
        &self,
        worker: &mut TileWorker<'_, '_, W>,
        decoding: &mut Decoding<'_, W>,
        chunk: &TileChunk,
    ) -> Result<bool> {
        worker.batch.fill(decoding).ok_or_else(|| self.tiles.corrupt_chunk(chunk))
    }
}

/// The source of a scan's chunks.
struct ChunkSource<'s, 'a, W> {
    scan: &'s TileScan<'a, W>,
    wanted: &'s WantedTiles<'s>,
    /// Whether a strip will be needed again.
    needed: &'s (dyn Fn(u32) -> bool + Sync),
    /// The next chunk, if they are mapped.
    next: AtomicUsize,
}

impl<'s, W: Weight> ChunkSource<'s, '_, W> {
    fn next_chunk(
        &self,
        run: &Run,
        worker: &mut TileWorker<'_, '_, W>,
    ) -> Result<Option<(TileChunk, ChunkBytes<'s>)>> {
        let schedule = worker.schedule;
        let is_wanted = |chunk: usize| self.wanted.has(self.scan.directory.tile(chunk));
        let scheduled = match &self.scan.pool {
            Some(pool) => {
                let supply = |ready: &mut VecDeque<u32>| pool.supply(is_wanted, self.needed, ready);
                schedule.take(run, supply, || pool.wait())?
            }
            None => schedule.take(run, |ready| Ok(self.supply(is_wanted, ready)), || Ok(false))?,
        };
        let Some(scheduled) = scheduled else { return Ok(None) };
        worker.scheduled = Some(scheduled);
        let chunk = self.scan.directory.chunk(scheduled.chunk);
        let bytes = match &self.scan.pool {
            Some(pool) => {
                ChunkBytes::Pooled(pool.hold(pool.extent_of(chunk.bytes.start), chunk.bytes.clone())?)
            }
            None => {
                let range = chunk.bytes.start as usize..chunk.bytes.end as usize;
                ChunkBytes::Mapped(self.scan.tiles.data().get(range)?)
            }
        };
        Ok(Some((chunk, bytes)))
    }

    /// Supplies mapped chunks. Called under the lock of the schedule.
    fn supply(&self, is_wanted: impl Fn(usize) -> bool, ready: &mut VecDeque<u32>) -> Supply {
        let mut at = self.next.load(Relaxed);
        while at < self.scan.directory.len() && ready.len() < SUPPLY_LEN {
            if is_wanted(at) {
                ready.push_back(at as u32);
            }
            at += 1;
        }
        self.next.store(at, Relaxed);
        if ready.is_empty() { Supply::End } else { Supply::More }
    }

    fn done(&self, chunk: &TileChunk, worker: &mut TileWorker<'_, '_, W>) {
        if let Some(pool) = &self.scan.pool {
            pool.done(pool.extent_of(chunk.bytes.start));
            self.scan.release_weights(chunk);
        }
        worker.scheduled.take().into_iter().for_each(|scheduled| worker.schedule.done(scheduled));
    }
}

/// Hands over a batch.
pub(super) fn hand_over<W: Weight>(
    worker: &mut TileWorker<'_, '_, W>,
    decoding: &Decoding<'_, W>,
    sides: EdgeEnds,
) {
    let TileWorker { sink, batch, scheduled: Some(scheduled), .. } = worker else { return };
    if decoding.bits.is_none() && !batch.is_filtered {
        let end = |taken: bool, exclusive: bool| if taken { End::Taken { exclusive } } else { End::Skipped };
        let (to_rows, to_columns) =
            (end(sides.rows, scheduled.rows_exclusive), end(sides.columns, scheduled.columns_exclusive));
        sink.visit_patch(&batch.patch(decoding, to_rows, to_columns));
        return;
    }
    let weights = batch.weights(decoding);
    if sides.rows {
        let selected = batch.rows().filter(|(v, ..)| decoding.bits.is_none_or(|bits| bits.get(*v)));
        let pieces = selected.map(|(v, range, _)| {
            let (targets, weights) = (&batch.columns[range.clone()], &weights[range]);
            (v, Piece { targets, weights, exclusive: scheduled.rows_exclusive })
        });
        let pieces: Vec<_> = pieces.collect();
        pieces.chunks(SINK_BATCH_MAX).for_each(|pieces| {
            sink.visit(pieces);
        });
    }
    if sides.columns {
        let (back, weights) = batch.back(decoding);
        for (v, _, range) in batch.rows().filter(|(.., range)| !range.is_empty()) {
            let (targets, weights) = (&back[range.clone()], &weights[range]);
            sink.visit_back(v, Piece { targets, weights, exclusive: scheduled.columns_exclusive });
        }
    }
}

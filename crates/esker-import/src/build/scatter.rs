//! Dividing arcs into buckets, each a range of source vertices small enough to be sorted in cache or at least
//! in memory.
//!
//! An arc in a bucket is one key: source (less the first of the bucket) above target, so that a sort by key
//! is a sort of the lists. Threads write to buckets of their own, so nothing is shared; a bucket is the
//! threads' pieces in order.

use esker_format::{Error, Result};
use esker_graph::VertexId;
use esker_graph::random::mix;

use crate::build::count::CellDivision;
use crate::build::edges::{EdgeBuffer, Edges};
use crate::options::{SelfLoops, Tracker};
use crate::sort::scratch::{Shelf, ShelvedChunk, Workspace};

/// Which arcs an edge of the input gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EdgeArcs {
    /// From source to target.
    Forward,
    /// From target to source.
    Backward,
    /// Both; one for a self-loop.
    Both,
    /// As `Both`, from the edges with source <= target only: the input has each edge at both ends.
    BothOfHalf,
}

/// The ranges of source vertices that make the buckets.
pub(crate) struct Ranges {
    cells: CellDivision,
    /// The bucket of each cell.
    bucket_of: Vec<u16>,
    /// The first vertex of each bucket, and the number of vertices at the end.
    starts: Vec<u64>,
    /// Arcs expected in each bucket.
    pub(crate) counts: Vec<u64>,
    target_bits: u32,
}

impl Ranges {
    /// Joins neighbouring cells as long as a bucket has at most `bucket_len` arcs; more buckets than
    /// `buckets_max` are avoided by making them longer.
    pub(crate) fn new(
        cells: CellDivision,
        counts: &[u64],
        num_vertices: u64,
        bucket_len: u64,
        buckets_max: usize,
    ) -> Result<Self> {
        let target_bits = (u64::BITS - num_vertices.saturating_sub(1).leading_zeros()).max(1);
        let span_max = 1u64.checked_shl(u64::BITS - target_bits).unwrap_or(u64::MAX);
        let total: u64 = counts.iter().sum();
        let even = total.div_ceil((buckets_max as u64 / 2).max(1));
        let bucket_len = bucket_len.max(even);
        let (mut starts, mut sums, mut bucket_of) = (vec![0], vec![0u64], Vec::with_capacity(counts.len()));
        for (cell, &count) in counts.iter().enumerate() {
            let (begin, sum) = (starts[starts.len() - 1], sums[sums.len() - 1]);
            let too_long = sum > 0 && sum + count > bucket_len;
            if too_long || cells.start(cell + 1) - begin > span_max {
                starts.push(cells.start(cell));
                sums.push(0);
            }
            let last = sums.len() - 1;
            sums[last] += count;
            bucket_of.push(last as u16);
        }
        if sums.len() > usize::from(u16::MAX) {
            return Err(Error::invalid(format!(
                "{num_vertices} vertices are more than an import can divide"
            )));
        }
        starts.push(num_vertices);
        Ok(Self { cells, bucket_of, starts, counts: sums, target_bits })
    }

    pub(crate) fn len(&self) -> usize {
        self.counts.len()
    }

    /// The source and target behind a key of `bucket`.
    #[inline(always)]
    pub(crate) fn unpack(&self, bucket: usize, key: u64) -> (u64, VertexId) {
        let source = self.starts[bucket] + (key >> self.target_bits);
        (source, (key & ((1 << self.target_bits) - 1)) as VertexId)
    }

    /// The number of bits of a key that hold the target.
    pub(crate) fn target_bits(&self) -> u32 {
        self.target_bits
    }
}

/// Some arcs of a bucket, in the order of the input.
pub(crate) struct BucketPiece {
    pub(crate) keys: ShelvedChunk<u64>,
    pub(crate) words: Option<ShelvedChunk<u32>>,
}

impl BucketPiece {
    /// Gives back the room that it takes on the disk: it will not be read again.
    pub(crate) fn discard(&self, shelf: &Shelf) {
        shelf.discard(&self.keys);
        self.words.iter().for_each(|words| shelf.discard(words));
    }
}

/// All arcs, in buckets.
pub(crate) struct ArcBuckets {
    pub(crate) shelf: Shelf,
    /// The pieces of each bucket, in order.
    pub(crate) pieces: Vec<Vec<BucketPiece>>,
    /// Self-loops that were left out.
    pub(crate) loops_dropped: u64,
    /// Zero if the input has each edge at both ends as often as at the other (or if that is of no interest).
    pub(crate) asymmetry: u64,
}

/// What is divided, and how.
pub(crate) struct Scatter<'a> {
    pub(crate) work: &'a Workspace,
    pub(crate) edges: &'a Edges,
    pub(crate) ranges: &'a Ranges,
    pub(crate) arcs: EdgeArcs,
    pub(crate) self_loops: SelfLoops,
    pub(crate) renumbered: Option<&'a [VertexId]>,
    pub(crate) tracker: &'a Tracker,
    /// Records that a thread collects for a bucket before it sets them aside.
    pub(crate) chunk_len: usize,
    /// What must stay free of the budget.
    pub(crate) keep_free_bytes: u64,
    /// Whether the edges are not read again.
    pub(crate) is_last: bool,
}

impl Scatter<'_> {
    /// Divides all edges.
    pub(crate) fn run(&self) -> Result<ArcBuckets> {
        let shelf = Shelf::new(self.work, self.keep_free_bytes);
        // Without properties equal keys are alike, so their order is free and blocks go to any worker that is
        // ready. With them each thread takes one stretch of the input.
        let blocks = self.edges.num_blocks();
        let stretches = if self.edges.words == 0 { blocks } else { blocks.min(self.work.run.threads()) };
        let mut taken =
            self.work.run.share(stretches, Vec::<(usize, Filling<'_>)>::new, |taken, stretch| {
                if self.edges.words > 0 || taken.is_empty() {
                    taken.push((stretch, Filling::new(self, &shelf)));
                }
                let last = taken.len() - 1;
                let filling = &mut taken[last].1;
                for block in stretch * blocks / stretches..(stretch + 1) * blocks / stretches {
                    self.work.check()?;
                    filling.take_block(block)?;
                    if self.is_last {
                        self.edges.discard(block);
                    }
                    self.tracker.advance(self.edges.block_len(block) as u64, 0);
                }
                if self.edges.words > 0 { filling.finish() } else { Ok(()) }
            })?;
        let mut fillings: Vec<_> = taken.drain(..).flatten().collect();
        fillings.sort_by_key(|&(stretch, _)| stretch);
        let mut pieces: Vec<Vec<BucketPiece>> = (0..self.ranges.len()).map(|_| Vec::new()).collect();
        let (mut loops_dropped, mut asymmetry) = (0, 0u64);
        for (_, mut filling) in fillings {
            filling.finish()?;
            loops_dropped += filling.loops_dropped;
            asymmetry = asymmetry.wrapping_add(filling.asymmetry);
            for (all, own) in pieces.iter_mut().zip(filling.pieces) {
                all.extend(own);
            }
        }
        Ok(ArcBuckets { shelf, pieces, loops_dropped, asymmetry })
    }
}

/// Keys that are collected in one place for each bucket: a cache line. The chunks of all buckets lie in far
/// more pages than the processor has translations at hand for; with this, one key in eight goes there.
pub(crate) const LINE: usize = 8;

/// A cache line of keys.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct CacheLine([u64; LINE]);

/// The buckets of one thread.
struct Filling<'a> {
    scatter: &'a Scatter<'a>,
    shelf: &'a Shelf,
    lines: Vec<CacheLine>,
    /// The words beside each line.
    line_words: Vec<u32>,
    /// Keys in each line.
    line_lens: Vec<u8>,
    keys: Vec<Vec<u64>>,
    words: Vec<Vec<u32>>,
    pieces: Vec<Vec<BucketPiece>>,
    buffer: EdgeBuffer,
    loops_dropped: u64,
    asymmetry: u64,
}

impl<'a> Filling<'a> {
    fn new(scatter: &'a Scatter<'a>, shelf: &'a Shelf) -> Self {
        let buckets = scatter.ranges.len();
        let words = scatter.edges.words;
        Self {
            scatter,
            shelf,
            lines: vec![CacheLine([0; LINE]); buckets],
            line_words: vec![0; buckets * LINE * words],
            line_lens: vec![0; buckets],
            keys: (0..buckets).map(|_| Vec::with_capacity(scatter.chunk_len)).collect(),
            words: (0..buckets).map(|_| Vec::with_capacity(scatter.chunk_len * words)).collect(),
            pieces: (0..buckets).map(|_| Vec::new()).collect(),
            buffer: EdgeBuffer::default(),
            loops_dropped: 0,
            asymmetry: 0,
        }
    }

    fn take_block(&mut self, block: usize) -> Result<()> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let words = self.scatter.edges.words;
        if words > 0 {
            self.scatter.edges.read_words(block, &mut buffer)?;
        }
        let properties = std::mem::take(&mut buffer.words);
        let pairs = self.scatter.edges.pairs(block, &mut buffer, self.scatter.renumbered)?;
        let done = match self.scatter.arcs {
            EdgeArcs::Forward => self.take_pairs(pairs, &properties, Self::push),
            EdgeArcs::Backward => {
                self.take_pairs(pairs, &properties, |this, u, v, beside| this.push(v, u, beside))
            }
            EdgeArcs::Both => self.take_pairs(pairs, &properties, Self::push_both),
            EdgeArcs::BothOfHalf => self.take_pairs(pairs, &properties, Self::push_half),
        };
        done?;
        buffer.words = properties;
        self.buffer = buffer;
        Ok(())
    }

    #[inline(always)]
    fn take_pairs(
        &mut self,
        pairs: &[[VertexId; 2]],
        properties: &[u32],
        take: impl Fn(&mut Self, VertexId, VertexId, &[u32]) -> Result<()>,
    ) -> Result<()> {
        let words = self.scatter.edges.words;
        let drop_loops = self.scatter.self_loops == SelfLoops::Drop;
        for (at, &[u, v]) in pairs.iter().enumerate() {
            if u == v && drop_loops {
                self.loops_dropped += 1;
                continue;
            }
            take(self, u, v, &properties[at * words..(at + 1) * words])?;
        }
        Ok(())
    }

    #[inline(always)]
    fn push_both(&mut self, u: VertexId, v: VertexId, words: &[u32]) -> Result<()> {
        self.push(u, v, words)?;
        if u == v { Ok(()) } else { self.push(v, u, words) }
    }

    fn push_half(&mut self, u: VertexId, v: VertexId, words: &[u32]) -> Result<()> {
        if u == v {
            return self.push(u, v, words);
        }
        let beside = words.iter().fold(0, |hash, &word| mix(hash ^ u64::from(word)));
        let (low, high) = (u.min(v), u.max(v));
        let hash = mix(mix(mix(u64::from(low)) ^ u64::from(high)) ^ beside);
        if u > v {
            self.asymmetry = self.asymmetry.wrapping_sub(hash);
            return Ok(());
        }
        self.asymmetry = self.asymmetry.wrapping_add(hash);
        self.push_both(u, v, words)
    }

    #[inline(always)]
    fn push(&mut self, source: VertexId, target: VertexId, words: &[u32]) -> Result<()> {
        let ranges = self.scatter.ranges;
        let bucket = usize::from(ranges.bucket_of[ranges.cells.of(source)]);
        let key = (u64::from(source) - ranges.starts[bucket]) << ranges.target_bits | u64::from(target);
        let at = usize::from(self.line_lens[bucket]) % LINE;
        self.lines[bucket].0[at] = key;
        if !words.is_empty() {
            self.line_words[(bucket * LINE + at) * words.len()..][..words.len()].copy_from_slice(words);
        }
        self.line_lens[bucket] = at as u8 + 1;
        if at + 1 == LINE { self.empty_line(bucket) } else { Ok(()) }
    }

    /// Moves the line of a bucket to its chunk.
    fn empty_line(&mut self, bucket: usize) -> Result<()> {
        let len = usize::from(std::mem::take(&mut self.line_lens[bucket]));
        let words = self.scatter.edges.words;
        if self.keys[bucket].len() + len > self.scatter.chunk_len {
            self.set_aside(bucket)?;
        }
        self.keys[bucket].extend_from_slice(&self.lines[bucket].0[..len]);
        if words > 0 {
            self.words[bucket].extend_from_slice(&self.line_words[bucket * LINE * words..][..len * words]);
        }
        Ok(())
    }

    #[cold]
    fn set_aside(&mut self, bucket: usize) -> Result<()> {
        let chunk_len = self.scatter.chunk_len;
        let words_len = chunk_len * self.scatter.edges.words;
        let keys = set_aside(self.shelf, &mut self.keys[bucket], chunk_len)?;
        let words = match words_len {
            0 => None,
            _ => Some(set_aside(self.shelf, &mut self.words[bucket], words_len)?),
        };
        self.pieces[bucket].push(BucketPiece { keys, words });
        Ok(())
    }

    /// Sets everything aside and frees the buffers.
    fn finish(&mut self) -> Result<()> {
        for bucket in 0..self.keys.len() {
            self.empty_line(bucket)?;
            let (keys, words) =
                (std::mem::take(&mut self.keys[bucket]), std::mem::take(&mut self.words[bucket]));
            if keys.is_empty() {
                continue;
            }
            let words = if words.is_empty() { None } else { Some(self.shelf.put_slice(&words)?) };
            self.pieces[bucket].push(BucketPiece { keys: self.shelf.put_slice(&keys)?, words });
        }
        self.buffer = EdgeBuffer::default();
        Ok(())
    }
}

/// Sets the contents of a buffer aside and leaves an empty one of the same capacity.
fn set_aside<T: bytemuck::Pod>(
    shelf: &Shelf,
    buffer: &mut Vec<T>,
    capacity: usize,
) -> Result<ShelvedChunk<T>> {
    if let Some(room) = shelf.room_for((capacity * size_of::<T>()) as u64) {
        let full = std::mem::replace(buffer, Vec::with_capacity(capacity));
        return Ok(shelf.keep(full, room));
    }
    let chunk = shelf.put_slice_in_file(buffer)?;
    buffer.clear();
    Ok(chunk)
}

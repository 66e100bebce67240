//! From edges to the columns of one direction: arcs are divided into buckets, each is sorted, and the lists
//! are handed on in order.
//!
//! Work: one scatter, and per bucket a radix sort in cache when memory is ample. A bucket that does not fit
//! its share of memory is divided again by ranges of its keys, on disk, until the parts fit or all keys of a
//! part are equal.

use esker_format::{Error, Result};
use esker_graph::{Reservation, Stop, VertexId};

use crate::build::count::CellDivision;
use crate::build::edges::Edges;
use crate::build::lists::{BuiltLists, DuplicateScope, LastEnds, Policy};
use crate::build::output::{DirectionOutput, PartQueue};
use crate::build::scatter::{ArcBuckets, BucketPiece, EdgeArcs, LINE, Ranges, Scatter};
use crate::options::{SelfLoops, Tracker};
use crate::sort::radix::sort_alone;
use crate::sort::scratch::{Shelf, Workspace};

/// Arcs of a bucket when memory is ample: its sort stays in the cache of one core.
const BUCKET_LEN: u64 = 1 << 17;

/// Most buckets, so that the open end of each stays in cache and in the reach of the TLB.
const BUCKETS_MAX: u64 = 2048;

/// With memory for fewer arcs than this in each thread an import is refused.
const SORT_LEN_MIN: u64 = 1 << 9;

/// A thread sets the arcs of a bucket aside when it has this many bytes of them: enough for sequential
/// writes.
const CHUNK_BYTES_MAX: u64 = 1 << 16;

/// Parts into which a bucket that is too long is divided.
const PARTS: u64 = 64;

/// How the memory that is free is used by one direction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DirectionPlan {
    /// Most arcs of a bucket that is sorted in memory.
    sort_len_max: u64,
    buckets_max: u64,
    /// Bytes of keys that a thread collects for a bucket before it sets them aside, as a function of the
    /// buckets.
    scatter_bytes: u64,
    /// What chunks may take while they are collected.
    keep_bytes: u64,
    /// Left free of set-aside chunks, for sorting.
    sort_bytes: u64,
    workers: usize,
}

impl DirectionPlan {
    /// A plan for the memory that is free now.
    pub(crate) fn new(work: &Workspace, edges: &Edges, scope: DuplicateScope) -> Result<Self> {
        let workers = work.run.threads() as u64;
        let readers = workers * edges.buffer_bytes();
        let free = work.budget.free_bytes().saturating_sub(readers);
        let share = free / 2;
        let arc_bytes = arc_bytes(edges.words) + scope.arc_bytes();
        // Each worker holds one bucket, and as many again may wait for their turn.
        // Lengths of lists are counted in 32 bits.
        let sort_len_max = ((share / (2 * workers)) / arc_bytes).min(1 << 31);
        if sort_len_max < SORT_LEN_MIN {
            // Steps before this one leave at least an eighth of the limit.
            let needed_bytes = 8 * (readers + 4 * workers * arc_bytes * (SORT_LEN_MIN + 1));
            let what = "sorting the edges".to_owned();
            let budget_bytes = work.budget.limit_bytes();
            return Err(Error::Stop(Stop::OverBudget { what, needed_bytes, budget_bytes }));
        }
        Ok(Self {
            sort_len_max,
            buckets_max: (share / (workers * open_bytes(edges.words))).clamp(16, BUCKETS_MAX),
            scatter_bytes: share,
            keep_bytes: free - share - share / 2,
            sort_bytes: share,
            workers: workers as usize,
        })
    }

    /// Arcs that a bucket should have, of `arcs` in all. Where they go through the disk, few long buckets:
    /// each is then written and read in few long chunks.
    fn bucket_len(&self, arcs: u64, words: usize) -> u64 {
        if arcs * (8 + 4 * words as u64) > self.keep_bytes {
            return self.sort_len_max;
        }
        // Half of what fits, since the division is not exact.
        BUCKET_LEN.min(self.sort_len_max / 2).max(1)
    }

    /// An error if so many arcs between two vertices, among which duplicates are sought, are too many.
    fn expect_room(&self, work: &Workspace, arcs: usize) -> Result<()> {
        if arcs as u64 <= self.sort_len_max {
            return Ok(());
        }
        let budget_bytes = work.budget.limit_bytes();
        let what = "finding duplicates among the parallel edges of two vertices".to_owned();
        let needed_bytes = budget_bytes.saturating_mul(2);
        Err(Error::Stop(Stop::OverBudget { what, needed_bytes, budget_bytes }))
    }

    /// Arcs that a thread collects for each of `buckets`.
    fn chunk_len(&self, buckets: usize, words: usize) -> usize {
        let bytes = self.scatter_bytes / 2 / (self.workers * buckets) as u64;
        ((bytes.clamp(2048, CHUNK_BYTES_MAX) / (8 + 4 * words as u64)) as usize).next_multiple_of(8)
    }
}

/// Memory to sort one arc: keys and the other side of the sort, lists and their lengths, properties as read
/// and as handed on.
fn arc_bytes(words: usize) -> u64 {
    let sort = if words == 0 { 8 + 8 } else { 8 + 16 + 16 };
    (sort + size_of::<VertexId>() + size_of::<(VertexId, u32)>() + 2 * 4 * words) as u64
}

/// Memory of an open bucket in one thread, and as much again for what it was made of: a line and a chunk of
/// keys and words.
fn open_bytes(words: usize) -> u64 {
    let record_bytes = 8 + 4 * words;
    (2 * (2048.max(LINE * record_bytes) + LINE * record_bytes)).max(4096) as u64
}

/// What one direction is built from.
pub(crate) struct Build<'a> {
    pub(crate) work: &'a Workspace,
    pub(crate) edges: &'a Edges,
    pub(crate) arcs: EdgeArcs,
    /// Arcs by cell of their source, about.
    pub(crate) counts: &'a [u64],
    pub(crate) cells: CellDivision,
    pub(crate) self_loops: SelfLoops,
    pub(crate) renumbered: Option<&'a [VertexId]>,
    pub(crate) tracker: &'a Tracker,
    pub(crate) duplicates: crate::options::Duplicates,
    /// The property whose values are added up, or whose smallest value stays.
    pub(crate) weight: Option<usize>,
    /// The property that holds the kinds.
    pub(crate) kind: Option<usize>,
    /// Whether the edges are not read again.
    pub(crate) is_last: bool,
}

/// What became of self-loops and symmetry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scattered {
    pub(crate) loops_dropped: u64,
    pub(crate) asymmetry: u64,
}

impl Build<'_> {
    /// Which arcs are duplicates of each other.
    fn scope(&self) -> DuplicateScope {
        DuplicateScope::of(self.duplicates, self.kind.map(|kind| self.edges.layouts[kind].word))
    }

    /// Divides, sorts, and hands the lists to `output`.
    pub(crate) fn run<'b>(
        &self,
        stages: [&'static str; 2],
        output: DirectionOutput<'b>,
    ) -> Result<(DirectionOutput<'b>, Scattered)> {
        let plan = DirectionPlan::new(self.work, self.edges, self.scope())?;
        let ranges = Ranges::new(
            self.cells,
            self.counts,
            self.edges.num_vertices,
            plan.bucket_len(self.counts.iter().sum(), self.edges.words),
            plan.buckets_max as usize,
        )?;
        self.tracker.stage(stages[0], self.edges.num_edges());
        let chunk_len = plan.chunk_len(ranges.len(), self.edges.words);
        let records = plan.workers * ranges.len() * (chunk_len + LINE);
        let bytes = (records * (8 + 4 * self.edges.words)) as u64;
        let open = self.work.budget.reserve("dividing the edges", bytes)?;
        let scatter = Scatter {
            work: self.work,
            edges: self.edges,
            ranges: &ranges,
            arcs: self.arcs,
            self_loops: self.self_loops,
            renumbered: self.renumbered,
            tracker: self.tracker,
            chunk_len,
            keep_free_bytes: plan.sort_bytes,
            is_last: self.is_last,
        };
        let buckets = scatter.run()?;
        drop(open);
        let scattered = Scattered { loops_dropped: buckets.loops_dropped, asymmetry: buckets.asymmetry };
        self.tracker.stage(stages[1], ranges.counts.iter().sum());
        let sorting = self.work.budget.reserve("sorting the edges", plan.sort_bytes)?;
        let output = self.sort_buckets(plan, &ranges, buckets, output, &sorting)?;
        Ok((output, scattered))
    }

    fn sort_buckets<'b>(
        &self,
        plan: DirectionPlan,
        ranges: &Ranges,
        buckets: ArcBuckets,
        output: DirectionOutput<'b>,
        _memory: &Reservation,
    ) -> Result<DirectionOutput<'b>> {
        let policy = Policy {
            duplicates: self.duplicates,
            scope: self.scope(),
            ranges,
            words: self.edges.words,
            weight: self.weight.map(|property| &self.edges.layouts[property]),
        };
        let line = PartQueue::new(self.work, output, plan.workers);
        let pieces: Vec<_> = buckets.pieces.into_iter().map(|p| parking_lot::Mutex::new(Some(p))).collect();
        let worker =
            || Sorting { build: self, policy: &policy, shelf: &buckets.shelf, plan, room: Room::default() };
        self.work.run.share(pieces.len(), worker, |sorting, bucket| {
            let taken = pieces[bucket].lock().take();
            let done = sorting.bucket(&line, bucket, taken.unwrap_or_default());
            if done.is_err() {
                line.fail();
            }
            self.tracker.advance(ranges.counts[bucket], 0);
            done
        })?;
        line.into_output()
    }
}

/// One thread that sorts buckets.
struct Sorting<'a> {
    build: &'a Build<'a>,
    policy: &'a Policy<'a>,
    shelf: &'a Shelf,
    plan: DirectionPlan,
    room: Room,
}

/// Arrays that are used again for each bucket.
#[derive(Default)]
struct Room {
    keys: Vec<u64>,
    spare: Vec<u64>,
    records: Vec<[u64; 2]>,
    spare_records: Vec<[u64; 2]>,
    words: Vec<u32>,
    part: Vec<u64>,
    part_words: Vec<u32>,
}

fn num_arcs(pieces: &[BucketPiece]) -> u64 {
    pieces.iter().map(|piece| piece.keys.len() as u64).sum()
}

impl Sorting<'_> {
    fn bucket(&mut self, line: &PartQueue<'_, '_>, bucket: usize, pieces: Vec<BucketPiece>) -> Result<()> {
        if num_arcs(&pieces) <= self.plan.sort_len_max {
            let lists = self.sort(self.shelf, bucket, pieces)?;
            return line.deliver(bucket, lists);
        }
        line.write_in_turn(bucket, |output| self.divide(self.shelf, output, bucket, pieces))
    }

    /// Sorts the arcs of `pieces` in memory.
    fn sort(&mut self, shelf: &Shelf, bucket: usize, pieces: Vec<BucketPiece>) -> Result<BuiltLists> {
        self.build.work.check()?;
        let len = num_arcs(&pieces) as usize;
        let room = &mut self.room;
        room.keys.clear();
        room.words.clear();
        room.keys.reserve_exact(len);
        room.words.reserve_exact(len * self.policy.words);
        for piece in pieces {
            room.keys.extend_from_slice(shelf.get(&piece.keys, &mut room.part)?);
            if let Some(words) = &piece.words {
                room.words.extend_from_slice(shelf.get(words, &mut room.part_words)?);
            }
            piece.discard(shelf);
        }
        let mut lists = BuiltLists::default();
        lists.targets.reserve_exact(len);
        if self.policy.words == 0 {
            room.spare.resize(len, 0);
            sort_alone(&mut room.keys, &mut room.spare[..len], |&key| key);
            self.policy.append_keys(&mut lists, bucket, &room.keys, None);
        } else {
            lists.words.reserve_exact(len * self.policy.words);
            room.records.clear();
            room.records.extend(room.keys.iter().zip(0..).map(|(&key, at)| [key, at]));
            room.spare_records.resize(len, [0; 2]);
            sort_alone(&mut room.records, &mut room.spare_records[..len], |record| record[0]);
            self.policy.append_records(&mut lists, bucket, &room.records, &room.words)?;
        }
        Ok(lists)
    }

    /// Handles arcs that are too many for memory: divides them by ranges of keys, and those parts in order.
    fn divide(
        &mut self,
        shelf: &Shelf,
        output: &mut DirectionOutput<'_>,
        bucket: usize,
        pieces: Vec<BucketPiece>,
    ) -> Result<()> {
        if num_arcs(&pieces) <= self.plan.sort_len_max {
            let lists = self.sort(shelf, bucket, pieces)?;
            return output.append(&lists);
        }
        let (mut min, mut max) = (u64::MAX, 0);
        for piece in &pieces {
            self.build.work.check()?;
            for &key in shelf.get(&piece.keys, &mut self.room.part)? {
                min = min.min(key);
                max = max.max(key);
            }
        }
        if min == max {
            return self.equal(shelf, output, bucket, &pieces);
        }
        let span = (max - min) / PARTS + 1;
        let parts_shelf = Shelf::new(self.build.work, u64::MAX);
        let mut parts: Vec<Vec<BucketPiece>> = (0..PARTS).map(|_| Vec::new()).collect();
        let words = self.policy.words;
        let mut open: Vec<(Vec<u64>, Vec<u32>)> = (0..PARTS).map(|_| Default::default()).collect();
        for piece in pieces {
            self.build.work.check()?;
            let keys = shelf.get(&piece.keys, &mut self.room.part)?;
            let beside = match &piece.words {
                Some(words) => shelf.get(words, &mut self.room.part_words)?,
                None => &[],
            };
            for (i, &key) in keys.iter().enumerate() {
                let part = &mut open[((key - min) / span) as usize];
                part.0.push(key);
                part.1.extend_from_slice(&beside[i * words..(i + 1) * words]);
            }
            for (part, pieces) in open.iter_mut().zip(&mut parts) {
                set_part_aside(&parts_shelf, part, pieces, PART_CHUNK_LEN)?;
            }
            piece.discard(shelf);
        }
        for (part, pieces) in open.iter_mut().zip(&mut parts) {
            set_part_aside(&parts_shelf, part, pieces, 1)?;
        }
        drop(open);
        parts.into_iter().try_for_each(|pieces| self.divide(&parts_shelf, output, bucket, pieces))
    }

    /// Handles any number of arcs with the same two ends, in the order of the input.
    fn equal(
        &mut self,
        shelf: &Shelf,
        output: &mut DirectionOutput<'_>,
        bucket: usize,
        pieces: &[BucketPiece],
    ) -> Result<()> {
        let words = self.policy.words;
        let (mut kept, mut last) = (None, LastEnds::default());
        let mut lists = BuiltLists::default();
        for piece in pieces {
            self.build.work.check()?;
            let keys = shelf.get(&piece.keys, &mut self.room.part)?;
            let beside = match &piece.words {
                Some(words) => shelf.get(words, &mut self.room.part_words)?,
                None => &[],
            };
            if words == 0 {
                self.policy.append_keys(&mut lists, bucket, keys, kept);
                kept = keys.last().copied().or(kept);
            } else {
                for (i, &key) in keys.iter().enumerate() {
                    self.policy.append_one(
                        &mut lists,
                        bucket,
                        key,
                        &beside[i * words..(i + 1) * words],
                        &mut last,
                    )?;
                }
            }
            // Arcs stay behind when duplicates are united: the next piece may still add to them.
            match self.policy.scope {
                DuplicateScope::Nothing => {
                    output.append(&lists)?;
                    lists = BuiltLists::default();
                }
                DuplicateScope::Ends => {}
                DuplicateScope::Kind(_) | DuplicateScope::Row => {
                    self.plan.expect_room(self.build.work, lists.targets.len())?;
                }
            }
        }
        output.append(&lists)
    }
}

/// Arcs of a part of a bucket that are set aside at once.
const PART_CHUNK_LEN: usize = 1 << 12;

fn set_part_aside(
    shelf: &Shelf,
    part: &mut (Vec<u64>, Vec<u32>),
    pieces: &mut Vec<BucketPiece>,
    len_min: usize,
) -> Result<()> {
    if part.0.len() < len_min {
        return Ok(());
    }
    let words = if part.1.is_empty() { None } else { Some(shelf.put_slice_in_file(&part.1)?) };
    pieces.push(BucketPiece { keys: shelf.put_slice_in_file(&part.0)?, words });
    part.0.clear();
    part.1.clear();
    Ok(())
}

/// Refuses an edge set that promises both directions of each edge and has one only.
pub(crate) fn check_symmetric(scattered: Scattered, format: &str) -> Result<()> {
    if scattered.asymmetry == 0 {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "the input is in a format ({format}) that lists each undirected edge at both of its ends, but some edges stand at \
         one end only, or with different weights: import it as directed, or mend it"
    )))
}

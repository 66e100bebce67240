//! Batches of updates: divided over shards by source, with one writer a shard and prefetched probes.
//!
//! A batch is processed in waves. A wave is divided into blocks that fit a core's cache. The threads sort
//! each block by shard, stably; then each shard applies its part of all blocks in order, so updates of one
//! edge keep their order.

use esker_format::Result;
use esker_format::memory::no_memory;
use esker_graph::{Run, VertexId};
use rayon::prelude::*;

use super::chunk::EdgeRecord;
use super::graph::{DynamicEdges, DynamicGraph};
use super::layout::Payload;
use super::shard::Shard;
use super::sharded::{ShardedLists, with_shards};

/// Number of updates in a block: about half of a core's second-level cache.
const BLOCK: usize = 1 << 15;
/// Number of updates in a wave, which bounds memory.
const WAVE: usize = 1 << 22;
/// Batches up to this size are applied one by one on the calling thread.
const FEW: usize = 64;
/// How many updates ahead the chunk of an edge is prefetched; its vertex, twice as many.
const AHEAD: usize = 8;

/// A change of one edge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Update<P = ()> {
    /// As [`DynamicGraph::insert`].
    Insert {
        /// Source of the edge.
        source: VertexId,
        /// Target of the edge.
        target: VertexId,
        /// The payload of the edge.
        payload: P,
    },
    /// As [`DynamicGraph::remove`].
    Remove {
        /// Source of the edge.
        source: VertexId,
        /// Target of the edge.
        target: VertexId,
    },
}

impl<P: Copy> Update<P> {
    #[inline(always)]
    fn ends(&self) -> (VertexId, VertexId) {
        match *self {
            Self::Insert { source, target, .. } | Self::Remove { source, target } => (source, target),
        }
    }

    #[inline(always)]
    fn reversed(self) -> Self {
        match self {
            Self::Insert { source, target, payload } => {
                Self::Insert { source: target, target: source, payload }
            }
            Self::Remove { source, target } => Self::Remove { source: target, target: source },
        }
    }
}

/// The effects of a batch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Applied {
    /// Number of new edges.
    pub inserted: u64,
    /// Number of insertions that replaced the payload of an edge.
    pub replaced: u64,
    /// Number of removed edges, copies included.
    pub removed: u64,
    /// Number of removals that found no edge.
    pub missing: u64,
}

impl Applied {
    fn join(self, other: Self) -> Self {
        Self {
            inserted: self.inserted + other.inserted,
            replaced: self.replaced + other.replaced,
            removed: self.removed + other.removed,
            missing: self.missing + other.missing,
        }
    }
}

/// Which arcs an update changes in the lists of one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mirroring {
    AsGiven,
    Reversed,
    Both,
}

impl<P: Payload> DynamicGraph<P> {
    /// Applies updates on the threads of `run`; the result is as if they were applied one by one in order.
    /// Memory: a copy of at most four million updates at a time, twice that if undirected.
    ///
    /// # Errors
    /// If memory or the scratch file runs out: then only some updates are applied, perhaps in only one
    /// direction; clear the graph. [`esker_graph::Stop::Cancelled`] between waves: the earlier waves are
    /// applied.
    pub fn apply(&mut self, updates: &[Update<P>], run: &Run) -> Result<Applied> {
        self.changed();
        let entries =
            if self.options.edges == DynamicEdges::Undirected { Mirroring::Both } else { Mirroring::AsGiven };
        let mut applied = Applied::default();
        for wave in updates.chunks(WAVE) {
            run.check()?;
            applied = applied.join(self.out.apply(wave, entries, run)?);
            if let Some(incoming) = &mut self.incoming {
                incoming.apply(wave, Mirroring::Reversed, run)?;
            }
        }
        Ok(applied)
    }
}

impl<P: Payload> ShardedLists<P> {
    fn apply(&mut self, updates: &[Update<P>], entries: Mirroring, run: &Run) -> Result<Applied> {
        if updates.len() <= FEW {
            return self.apply_few(updates, entries);
        }
        let blocks = sort(updates, entries, self.bits, run)?;
        with_shards!(&mut self.shards, shards => apply_blocks(shards, &blocks, entries, run))
    }

    fn apply_few(&mut self, updates: &[Update<P>], entries: Mirroring) -> Result<Applied> {
        let bits = self.bits;
        let mut applied = Applied::default();
        let mut each = |update: Update<P>| {
            let at = ShardedLists::<P>::shard_of(update.ends().0, bits);
            with_shards!(&mut self.shards, shards => shards[at].take(&update, None, counts(&update, entries), &mut applied))
        };
        for &update in updates {
            if entries != Mirroring::Reversed {
                each(update)?;
            }
            if mirrors(&update, entries) {
                each(update.reversed())?;
            }
        }
        Ok(applied)
    }
}

/// Whether to apply the reverse of an update.
#[inline(always)]
fn mirrors<P: Copy>(update: &Update<P>, entries: Mirroring) -> bool {
    match entries {
        Mirroring::AsGiven => false,
        Mirroring::Reversed => true,
        Mirroring::Both => {
            let (source, target) = update.ends();
            source != target
        }
    }
}

/// Whether an arc counts as its edge in [`Applied`]: one of two arcs does.
#[inline(always)]
fn counts<P: Copy>(update: &Update<P>, entries: Mirroring) -> bool {
    let (source, target) = update.ends();
    entries != Mirroring::Both || source <= target
}

/// Updates sorted by shard: those of shard `s` are `entries[starts[s]..starts[s + 1]]`.
struct SortedBlock<P> {
    number: usize,
    entries: Vec<Update<P>>,
    starts: Vec<u32>,
}

fn sort<P: Payload>(
    updates: &[Update<P>],
    entries: Mirroring,
    bits: u32,
    run: &Run,
) -> Result<Vec<SortedBlock<P>>> {
    let blocks: Vec<Vec<SortedBlock<P>>> =
        run.share(updates.len().div_ceil(BLOCK), Vec::new, |done, number| -> Result<()> {
            let end = ((number + 1) * BLOCK).min(updates.len());
            done.try_reserve(1).map_err(no_memory)?;
            done.push(SortedBlock::sort(number, &updates[number * BLOCK..end], entries, bits)?);
            Ok(())
        })?;
    let mut blocks: Vec<SortedBlock<P>> = blocks.into_iter().flatten().collect();
    blocks.sort_unstable_by_key(|block| block.number);
    Ok(blocks)
}

impl<P: Payload> SortedBlock<P> {
    fn sort(number: usize, updates: &[Update<P>], kind: Mirroring, bits: u32) -> Result<Self> {
        let mut starts: Vec<u32> = Vec::new();
        starts.try_reserve_exact((1 << bits) + 1).map_err(no_memory)?;
        starts.resize((1 << bits) + 1, 0);
        let mut shards: Vec<u16> = Vec::new();
        shards.try_reserve_exact(updates.len() * 2).map_err(no_memory)?;
        each_entry(updates, kind, |update| {
            let shard = ShardedLists::<P>::shard_of(update.ends().0, bits);
            shards.push(shard as u16);
            starts[shard + 1] += 1;
        });
        for s in 0..1 << bits {
            starts[s + 1] += starts[s];
        }
        let mut entries = Vec::new();
        entries.try_reserve_exact(starts[1 << bits] as usize).map_err(no_memory)?;
        entries.resize(starts[1 << bits] as usize, updates[0]);
        let (mut ends, mut shards) = (starts.clone(), shards.into_iter());
        each_entry(updates, kind, |update| {
            let end = &mut ends[usize::from(shards.next().unwrap_or(0))];
            entries[*end as usize] = update;
            *end += 1;
        });
        Ok(Self { number, entries, starts })
    }

    fn part(&self, shard: usize) -> &[Update<P>] {
        &self.entries[self.starts[shard] as usize..self.starts[shard + 1] as usize]
    }
}

#[inline(always)]
fn each_entry<P: Copy>(updates: &[Update<P>], entries: Mirroring, mut f: impl FnMut(Update<P>)) {
    for &update in updates {
        if entries != Mirroring::Reversed {
            f(update);
        }
        if mirrors(&update, entries) {
            f(update.reversed());
        }
    }
}

fn apply_blocks<E: EdgeRecord, P: Payload>(
    shards: &mut [Shard<E, P>],
    blocks: &[SortedBlock<P>],
    entries: Mirroring,
    run: &Run,
) -> Result<Applied> {
    let each = |(number, shard): (usize, &mut Shard<E, P>)| {
        shard.will_change(blocks.iter().map(|block| block.part(number).len()).sum());
        blocks.iter().try_fold(Applied::default(), |sum, block| {
            Ok(sum.join(shard.apply(block.part(number), entries)?))
        })
    };
    if run.threads() == 1 {
        let mut parts = shards.iter_mut().enumerate().map(each);
        return parts.try_fold(Applied::default(), |sum, part| Ok(sum.join(part?)));
    }
    run.install(|| {
        let parts = shards.par_iter_mut().enumerate().with_max_len(1).map(each);
        parts.try_reduce(Applied::default, |a, b| Ok(a.join(b)))
    })
}

impl<E: EdgeRecord, P: Payload> Shard<E, P> {
    fn apply(&mut self, updates: &[Update<P>], entries: Mirroring) -> Result<Applied> {
        let mut applied = Applied::default();
        let mut hints = [None; AHEAD];
        for (at, update) in updates.iter().enumerate() {
            if let Some(later) = updates.get(at + 2 * AHEAD) {
                self.prefetch_vertex(later.ends().0);
            }
            let hint = hints[at % AHEAD].take();
            if let Some(later) = updates.get(at + AHEAD) {
                let (source, target) = later.ends();
                hints[at % AHEAD] = self.prefetch_edge(source, target);
            }
            self.take(update, hint, counts(update, entries), &mut applied)?;
        }
        Ok(applied)
    }

    #[inline(always)]
    fn take(
        &mut self,
        update: &Update<P>,
        hint: Option<usize>,
        count: bool,
        applied: &mut Applied,
    ) -> Result<()> {
        let count = u64::from(count);
        match *update {
            Update::Insert { source, target, payload } => {
                match self.insert_at(hint, source, target, payload)? {
                    None => applied.inserted += count,
                    Some(_) => applied.replaced += count,
                }
            }
            Update::Remove { source, target } => match self.remove(source, target) {
                0 => applied.missing += count,
                removed => applied.removed += count * removed as u64,
            },
        }
        Ok(())
    }
}

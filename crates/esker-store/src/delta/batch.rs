//! Batches: updates divided over shards by source, one writer a shard, probes read ahead.
//!
//! A batch goes in waves. A wave is cut into blocks that stay in a core's cache; the threads sort each block by shard, keeping the
//! order within a shard; then each shard takes its part of all blocks, in order, so updates of one edge keep their order.

use esker_graph::{Run, VertexId};
use rayon::prelude::*;

use crate::error::Result;
use crate::memory::no_memory;

use super::chunk::Edge;
use super::graph::{DynamicGraph, Edges};
use super::layout::Payload;
use super::shard::Shard;
use super::side::{Side, with_shards};

/// Updates that are sorted at a time: about half of a core's second-level cache.
const BLOCK: usize = 1 << 15;
/// Updates that are sorted before any is applied, which bounds memory.
const WAVE: usize = 1 << 22;
/// Batches up to this are applied one by one on the calling thread.
const FEW: usize = 64;
/// How many updates ahead the chunk of an edge is asked for; its vertex, twice as many.
const AHEAD: usize = 8;

/// A change of one edge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Update<P = ()> {
    /// As [`DynamicGraph::insert`].
    Insert {
        /// Where the edge leaves.
        source: VertexId,
        /// Where it arrives.
        target: VertexId,
        /// What stands beside it.
        payload: P,
    },
    /// As [`DynamicGraph::remove`].
    Remove {
        /// Where the edge leaves.
        source: VertexId,
        /// Where it arrives.
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

/// What a batch did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Applied {
    /// Edges that are new.
    pub inserted: u64,
    /// Insertions that replaced the payload of an edge.
    pub replaced: u64,
    /// Edges taken out, copies included.
    pub removed: u64,
    /// Removals that found no edge.
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

/// How updates become entries of one side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entries {
    AsGiven,
    Reversed,
    Both,
}

impl<P: Payload, V: Payload> DynamicGraph<P, V> {
    /// Applies updates in their order, on the threads of `run`: the result is as if they were applied one by one. Memory: a copy of
    /// at most four million updates at a time, twice that if undirected.
    ///
    /// # Errors
    /// If there is no memory, or no room in the scratch file: some updates are applied then and some are not, perhaps in one
    /// direction only; clear the graph. [`esker_graph::Stop::Cancelled`] between waves: a first part of the updates is applied.
    pub fn apply(&mut self, updates: &[Update<P>], run: &Run) -> Result<Applied> {
        self.changed();
        let entries = if self.options.edges == Edges::Undirected { Entries::Both } else { Entries::AsGiven };
        let mut applied = Applied::default();
        for wave in updates.chunks(WAVE) {
            run.check()?;
            applied = applied.join(self.out.apply(wave, entries, run)?);
            if let Some(incoming) = &mut self.incoming {
                incoming.apply(wave, Entries::Reversed, run)?;
            }
        }
        Ok(applied)
    }
}

impl<P: Payload> Side<P> {
    fn apply(&mut self, updates: &[Update<P>], entries: Entries, run: &Run) -> Result<Applied> {
        if updates.len() <= FEW {
            return self.apply_few(updates, entries);
        }
        let blocks = sort(updates, entries, self.bits, run)?;
        with_shards!(&mut self.shards, shards => apply_blocks(shards, &blocks, entries, run))
    }

    fn apply_few(&mut self, updates: &[Update<P>], entries: Entries) -> Result<Applied> {
        let bits = self.bits;
        let mut applied = Applied::default();
        let mut each = |update: Update<P>| {
            let at = Side::<P>::place(update.ends().0, bits);
            with_shards!(&mut self.shards, shards => shards[at].take(&update, None, counts(&update, entries), &mut applied))
        };
        for &update in updates {
            if entries != Entries::Reversed {
                each(update)?;
            }
            if mirrors(&update, entries) {
                each(update.reversed())?;
            }
        }
        Ok(applied)
    }
}

/// Whether the reverse of an update is entered.
#[inline(always)]
fn mirrors<P: Copy>(update: &Update<P>, entries: Entries) -> bool {
    match entries {
        Entries::AsGiven => false,
        Entries::Reversed => true,
        Entries::Both => {
            let (source, target) = update.ends();
            source != target
        }
    }
}

/// Whether an entry stands for its edge when edges are counted: one of two does.
#[inline(always)]
fn counts<P: Copy>(update: &Update<P>, entries: Entries) -> bool {
    let (source, target) = update.ends();
    entries != Entries::Both || source <= target
}

/// Entries sorted by shard: those of shard `s` are `entries[starts[s]..starts[s + 1]]`.
struct Block<P> {
    number: usize,
    entries: Vec<Update<P>>,
    starts: Vec<u32>,
}

fn sort<P: Payload>(updates: &[Update<P>], entries: Entries, bits: u32, run: &Run) -> Result<Vec<Block<P>>> {
    let blocks: Vec<Vec<Block<P>>> =
        run.share(updates.len().div_ceil(BLOCK), Vec::new, |done, number| -> Result<()> {
            let end = ((number + 1) * BLOCK).min(updates.len());
            done.try_reserve(1).map_err(no_memory)?;
            done.push(Block::sort(number, &updates[number * BLOCK..end], entries, bits)?);
            Ok(())
        })?;
    let mut blocks: Vec<Block<P>> = blocks.into_iter().flatten().collect();
    blocks.sort_unstable_by_key(|block| block.number);
    Ok(blocks)
}

impl<P: Payload> Block<P> {
    fn sort(number: usize, updates: &[Update<P>], kind: Entries, bits: u32) -> Result<Self> {
        let mut starts: Vec<u32> = Vec::new();
        starts.try_reserve_exact((1 << bits) + 1).map_err(no_memory)?;
        starts.resize((1 << bits) + 1, 0);
        let mut shards: Vec<u16> = Vec::new();
        shards.try_reserve_exact(updates.len() * 2).map_err(no_memory)?;
        each_entry(updates, kind, |update| {
            let shard = Side::<P>::place(update.ends().0, bits);
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
fn each_entry<P: Copy>(updates: &[Update<P>], entries: Entries, mut f: impl FnMut(Update<P>)) {
    for &update in updates {
        if entries != Entries::Reversed {
            f(update);
        }
        if mirrors(&update, entries) {
            f(update.reversed());
        }
    }
}

fn apply_blocks<E: Edge, P: Payload>(
    shards: &mut [Shard<E, P>],
    blocks: &[Block<P>],
    entries: Entries,
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

impl<E: Edge, P: Payload> Shard<E, P> {
    fn apply(&mut self, updates: &[Update<P>], entries: Entries) -> Result<Applied> {
        let mut applied = Applied::default();
        let mut hints = [None; AHEAD];
        for (at, update) in updates.iter().enumerate() {
            if let Some(later) = updates.get(at + 2 * AHEAD) {
                self.touch_head(later.ends().0);
            }
            let hint = hints[at % AHEAD].take();
            if let Some(later) = updates.get(at + AHEAD) {
                let (source, target) = later.ends();
                hints[at % AHEAD] = self.touch_edge(source, target);
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

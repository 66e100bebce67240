//! The lists of one direction of a dynamic graph, in shards.

use esker_format::Result;
use esker_format::io::Scratch;
use esker_graph::VertexId;

use super::chunk::NumberedTarget;
use super::hash::shard;
use super::layout::Payload;
use super::shard::Shard;

/// The lists of all vertices, in `1 << bits` shards.
#[derive(Debug)]
pub(super) struct ShardedLists<P> {
    pub(super) shards: Shards<P>,
    pub(super) bits: u32,
}

/// Shards that store each target once, or every copy of it.
#[derive(Debug)]
pub(super) enum Shards<P> {
    Unique(Vec<Shard<VertexId, P>>),
    Multi(Vec<Shard<NumberedTarget, P>>),
}

/// Evaluates an expression with the shards of either kind.
macro_rules! with_shards {
    ($side:expr, $shards:ident => $value:expr) => {
        match $side {
            $crate::delta::sharded::Shards::Unique($shards) => $value,
            $crate::delta::sharded::Shards::Multi($shards) => $value,
        }
    };
}
pub(super) use with_shards;

impl<P: Payload> ShardedLists<P> {
    pub(super) fn new(scratch: &Scratch, bits: u32, threshold: usize, multi: bool) -> Result<Self> {
        let count = 1 << bits;
        let shards = if multi {
            Shards::Multi((0..count).map(|_| Shard::new(scratch, threshold)).collect::<Result<_>>()?)
        } else {
            Shards::Unique((0..count).map(|_| Shard::new(scratch, threshold)).collect::<Result<_>>()?)
        };
        Ok(Self { shards, bits })
    }

    /// The shard of a vertex, of `1 << bits`.
    #[inline(always)]
    #[allow(clippy::useless_conversion)] // Ids may be 64 bits wide already.
    pub(super) fn shard_of(v: VertexId, bits: u32) -> usize {
        shard(u64::from(v), bits)
    }

    #[inline(always)]
    pub(super) fn insert(&mut self, source: VertexId, target: VertexId, payload: P) -> Result<Option<P>> {
        let at = Self::shard_of(source, self.bits);
        with_shards!(&mut self.shards, shards => shards[at].insert(source, target, payload))
    }

    #[inline(always)]
    pub(super) fn remove(&mut self, source: VertexId, target: VertexId) -> usize {
        let at = Self::shard_of(source, self.bits);
        with_shards!(&mut self.shards, shards => shards[at].remove(source, target))
    }

    pub(super) fn get(&self, source: VertexId, target: VertexId) -> Option<&P> {
        let at = Self::shard_of(source, self.bits);
        with_shards!(&self.shards, shards => shards[at].get(source, target))
    }

    pub(super) fn each_copy(&self, source: VertexId, target: VertexId, f: impl FnMut(&P)) {
        let at = Self::shard_of(source, self.bits);
        with_shards!(&self.shards, shards => shards[at].each_copy(source, target, f));
    }

    pub(super) fn each_copy_mut(
        &mut self,
        source: VertexId,
        target: VertexId,
        f: impl FnMut(&mut P),
    ) -> usize {
        let at = Self::shard_of(source, self.bits);
        with_shards!(&mut self.shards, shards => shards[at].each_copy_mut(source, target, f))
    }

    #[cold]
    pub(super) fn remove_last(&mut self, source: VertexId, target: VertexId) {
        let at = Self::shard_of(source, self.bits);
        with_shards!(&mut self.shards, shards => shards[at].remove_last(source, target));
    }

    #[inline(always)]
    pub(super) fn degree(&self, v: VertexId) -> usize {
        let at = Self::shard_of(v, self.bits);
        with_shards!(&self.shards, shards => shards[at].degree(v))
    }

    pub(super) fn each_edge(&self, source: VertexId, f: impl FnMut(VertexId, &P)) {
        let at = Self::shard_of(source, self.bits);
        with_shards!(&self.shards, shards => shards[at].each_edge(source, f));
    }

    pub(super) fn edges(&self) -> u64 {
        with_shards!(&self.shards, shards => shards.iter().map(Shard::edges).sum())
    }

    pub(super) fn vertices(&self) -> usize {
        with_shards!(&self.shards, shards => shards.iter().map(Shard::vertices).max().unwrap_or(0))
    }

    pub(super) fn bytes(&self) -> usize {
        with_shards!(&self.shards, shards => shards.iter().map(Shard::bytes).sum())
    }

    pub(super) fn clear(&mut self, scratch: &Scratch) {
        with_shards!(&mut self.shards, shards => shards.iter_mut().for_each(|shard| shard.clear(scratch)));
    }
}

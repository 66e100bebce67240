//! Which vertices of a shard are its own, and with which vertices of other shards the rest are one.
//!
//! A shard holds the vertices that it owns and *ghosts*: copies of vertices of other shards, at the other end
//! of its edges. The owner of a ghost has the same vertex as a *mirror*. For each pair of shards both sides
//! list these in the same order, so values travel without ids. The lists of own vertices count in a shard,
//! and those of delegates, of which each shard has a part (`placement`). Memory: two bytes a vertex, and an
//! id for each own vertex, each ghost and each mirror.

use esker_algo::primitive::{ArrayValue, VertexValues};
use esker_format::{Result, lower_bound};
use esker_graph::{Bitmap, VertexId, vertex};
use esker_store::Version;
use esker_store::ids::ExternalId;

use crate::exchange::blocks::{
    SPARSE, encode, encode_members, encode_start, put_pair, take_members, take_values, unshared,
};
use crate::exchange::id_lookup::{OwnIds, find_asked};
use crate::model::needs::ShardShape;
use crate::model::placement::Placement;
use crate::net::engine::Engine;
use crate::net::wire::{Taker, Travels, put_id, put_u64};

/// The vertices that a shard shares with others.
pub(crate) struct Routes {
    me: usize,
    owner: Vec<u16>,
    /// For each shard, the ghosts of its vertices here, ascending.
    ghosts: Vec<Vec<VertexId>>,
    /// For each shard, the own vertices that are ghosts there, in the order of its list.
    mirrors: Vec<Vec<VertexId>>,
    /// The own vertices, ascending.
    owned: Vec<VertexId>,
    delegates: DelegateRoutes,
}

/// The delegates of a shard.
struct DelegateRoutes {
    /// Number of delegates of the whole.
    count: usize,
    /// The ghosts here, ascending.
    ghosts: Vec<VertexId>,
    /// The own ones that are ghosts elsewhere, ascending.
    own: Vec<VertexId>,
    /// For each shard, those of its vertices here.
    ghosts_of: Vec<Vec<VertexId>>,
    /// For each shard, the own ones that are ghosts there, in the order of its list.
    mirrors_of: Vec<Vec<VertexId>>,
}

impl Routes {
    /// Finds the owners of all vertices of a shard, and asks them for the numbers of the ghosts.
    ///
    /// # Errors
    /// [`esker_format::Error::Invalid`] if an owner does not know its vertex; those of the version.
    pub(crate) fn new(version: &Version, placement: &Placement, engine: &mut Engine<'_>) -> Result<Self> {
        let owners = placement.owners();
        let (me, peers, n) = (engine.index(), engine.peers(), version.num_vertices());
        let mut owner = Vec::with_capacity(n);
        let mut own = OwnIds::new(version.ids(), owners);
        let mut ghosts = vec![Vec::new(); peers];
        let mut questions = vec![Vec::new(); peers];
        version.ids().each_external(0..n, |id| {
            let (v, hash) = (vertex(owner.len()), owners.hash(id));
            let shard = owners.of_hash(hash);
            owner.push(shard as u16);
            if shard == me {
                own.push(v, hash);
            } else {
                ghosts[shard].push(v);
                put_id(&mut questions[shard], id);
            }
            Ok(())
        })?;
        let asked = engine.exchange(questions);
        own.index();
        let mut mirrors = Vec::with_capacity(peers);
        for (shard, block) in asked.iter().enumerate() {
            let look_up = |ids: &[ExternalId<'_>], found: &mut [_]| own.vertices_of(ids, found);
            mirrors.push(find_asked(version, block, me, shard, look_up)?);
        }
        let owned = own.into_vertices();
        let delegates = DelegateRoutes::of(version, placement, &ghosts, &mirrors)?;
        Ok(Self { me, owner, ghosts, mirrors, owned, delegates })
    }

    /// Whether this shard owns a vertex.
    #[inline]
    pub(crate) fn is_owned(&self, v: VertexId) -> bool {
        usize::from(self.owner[v as usize]) == self.me
    }

    /// Whether the cluster has delegates; all processes say the same.
    pub(crate) fn has_delegates(&self) -> bool {
        self.delegates.count > 0
    }

    /// The ghosts here that are delegates, ascending. Their lists count in this shard.
    pub(crate) fn delegated_ghosts(&self) -> &[VertexId] {
        &self.delegates.ghosts
    }

    /// Whether a vertex is an own delegate with ghosts elsewhere.
    pub(crate) fn is_own_delegate(&self, v: VertexId) -> bool {
        self.delegates.own.binary_search(&v).is_ok()
    }

    /// Whether the list of a vertex counts in this shard: that of an own vertex, or of a delegate.
    #[inline]
    pub(crate) fn counts_list(&self, v: VertexId) -> bool {
        self.is_owned(v) || self.delegates.ghosts.binary_search(&v).is_ok()
    }

    /// The number of this shard.
    pub(crate) fn shard(&self) -> usize {
        self.me
    }

    /// Number of vertices that this shard owns.
    pub(crate) fn num_owned(&self) -> usize {
        self.owned.len()
    }

    /// The vertices that this shard owns, ascending.
    pub(crate) fn owned(&self) -> impl ExactSizeIterator<Item = VertexId> + '_ {
        self.owned.iter().copied()
    }

    /// Sends a value of each ghost that has one to its owner, and calls `take` with the own vertex and the
    /// value. `head` goes to every process; the sum of the heads of all comes back.
    pub(crate) fn to_owners(
        &self,
        engine: &mut Engine<'_>,
        head: u64,
        value: impl Fn(VertexId) -> Option<u64>,
        take: impl FnMut(VertexId, u64),
    ) -> Result<u64> {
        let blocks = self.ghosts.iter().map(|list| encode(head, list.iter().map(|&v| value(v)))).collect();
        self.hand_over(engine, blocks, &self.mirrors, take)
    }

    /// The reverse of [`Routes::to_owners`]: from own vertices to their ghosts.
    pub(crate) fn to_ghosts(
        &self,
        engine: &mut Engine<'_>,
        head: u64,
        value: impl Fn(VertexId) -> Option<u64>,
        take: impl FnMut(VertexId, u64),
    ) -> Result<u64> {
        let blocks = self.mirrors.iter().map(|list| encode(head, list.iter().map(|&v| value(v)))).collect();
        self.hand_over(engine, blocks, &self.ghosts, take)
    }

    /// Calls `take` with the ghosts of members, in all processes. `head` goes to every process; the sum of
    /// the heads of all comes back.
    pub(crate) fn mark_ghosts(
        &self,
        engine: &mut Engine<'_>,
        head: u64,
        members: &Bitmap,
        mut take: impl FnMut(VertexId),
    ) -> Result<u64> {
        let mut sum = 0_u64;
        let blocks = self.mirrors.iter().map(|list| encode_members(head, list, members)).collect();
        for (list, block) in self.ghosts.iter().zip(engine.exchange(blocks)) {
            let mut taker = Taker(&block);
            sum = sum.wrapping_add(taker.u64()?);
            take_members(&mut taker, list, &mut take)?;
        }
        Ok(sum)
    }

    /// Gives each ghost the value of its vertex. `heads` are numbers of this process, which travel along:
    /// returns their sums over all processes.
    pub(crate) fn tell_all_ghosts<T: Travels + ArrayValue, const N: usize>(
        &self,
        engine: &mut Engine<'_>,
        heads: [u64; N],
        values: &VertexValues<T>,
    ) -> Result<[u64; N]> {
        hand_over_all(engine, heads, values, &self.mirrors, &self.ghosts, |v, value| values.set(v, value))
    }

    /// Adds the value of each ghost to that of its vertex. `heads` as in [`Routes::tell_all_ghosts`].
    pub(crate) fn add_to_owners<T: Travels + ArrayValue, const N: usize>(
        &self,
        engine: &mut Engine<'_>,
        heads: [u64; N],
        values: &VertexValues<T>,
    ) -> Result<[u64; N]> {
        hand_over_all(engine, heads, values, &self.ghosts, &self.mirrors, |v, part| {
            values.add_exclusive(v, part);
        })
    }

    /// As [`Routes::to_ghosts`], from own vertices that are delegates. Without delegates nothing is
    /// exchanged, and the sum is 0.
    pub(crate) fn to_delegates(
        &self,
        engine: &mut Engine<'_>,
        head: u64,
        value: impl Fn(VertexId) -> Option<u64>,
        take: impl FnMut(VertexId, u64),
    ) -> Result<u64> {
        if !self.has_delegates() {
            return Ok(0);
        }
        let lists = &self.delegates.mirrors_of;
        let blocks = lists.iter().map(|list| encode(head, list.iter().map(|&v| value(v)))).collect();
        self.hand_over(engine, blocks, &self.delegates.ghosts_of, take)
    }

    /// Own vertices whose lists are to be read, with the ghosts here of the delegates among those of all
    /// shards: each ghost is told to `follow`. Exchanges only if there are delegates.
    pub(crate) fn with_delegates(
        &self,
        engine: &mut Engine<'_>,
        mut own: Vec<VertexId>,
        mut follow: impl FnMut(VertexId),
    ) -> Result<Vec<VertexId>> {
        if !self.has_delegates() {
            return Ok(own);
        }
        own.sort_unstable();
        let mut ghosts = Vec::new();
        let is_told = |v: VertexId| own.binary_search(&v).is_ok().then_some(0);
        self.to_delegates(engine, 0, is_told, |ghost, _| {
            follow(ghost);
            ghosts.push(ghost);
        })?;
        own.append(&mut ghosts);
        Ok(own)
    }

    /// As [`Routes::to_owners`], for a few ghosts with their values. Time: that of the few, less if they
    /// ascend.
    pub(crate) fn tell_owners(
        &self,
        engine: &mut Engine<'_>,
        head: u64,
        ghosts: impl Iterator<Item = (VertexId, u64)>,
        take: impl FnMut(VertexId, u64),
    ) -> Result<u64> {
        let mut blocks = vec![encode_start(head, SPARSE); self.ghosts.len()];
        let mut places = vec![0; self.ghosts.len()];
        for (v, value) in ghosts {
            let shard = usize::from(self.owner[v as usize]);
            let list = &self.ghosts[shard];
            places[shard] = lower_bound(list.len(), places[shard], |at| Ok(list[at] < v))?;
            put_pair(&mut blocks[shard], places[shard], value);
        }
        self.hand_over(engine, blocks, &self.mirrors, take)
    }

    fn hand_over(
        &self,
        engine: &mut Engine<'_>,
        blocks: Vec<Vec<u8>>,
        places: &[Vec<VertexId>],
        mut take: impl FnMut(VertexId, u64),
    ) -> Result<u64> {
        let mut sum = 0_u64;
        for (list, block) in places.iter().zip(engine.exchange(blocks)) {
            let mut taker = Taker(&block);
            sum = sum.wrapping_add(taker.u64()?);
            take_values(&mut taker, list, &mut take)?;
        }
        Ok(sum)
    }
}

/// Sends the values of all vertices of the first lists, one for each process, and takes those of the second.
fn hand_over_all<T: Travels + ArrayValue, const N: usize>(
    engine: &mut Engine<'_>,
    heads: [u64; N],
    values: &VertexValues<T>,
    given: &[Vec<VertexId>],
    taken: &[Vec<VertexId>],
    take: impl Fn(VertexId, T),
) -> Result<[u64; N]> {
    let block_of = |list: &Vec<VertexId>| {
        let mut block = Vec::with_capacity(size_of::<[u64; N]>() + size_of::<T>() * list.len());
        heads.iter().for_each(|head| put_u64(&mut block, *head));
        T::put_all(list.iter().map(|&v| values.get(v)), &mut block);
        block
    };
    let mut sums = [0_u64; N];
    let blocks = engine.exchange(given.iter().map(block_of).collect());
    for (list, block) in taken.iter().zip(&blocks) {
        let mut taker = Taker(block);
        for sum in &mut sums {
            *sum = sum.wrapping_add(taker.u64()?);
        }
        let told = T::take(&mut taker, list.len())?;
        if !taker.is_empty() {
            return Err(unshared());
        }
        list.iter().zip(told).for_each(|(&v, value)| take(v, value));
    }
    Ok(sums)
}

impl DelegateRoutes {
    fn of(
        version: &Version,
        placement: &Placement,
        ghosts: &[Vec<VertexId>],
        mirrors: &[Vec<VertexId>],
    ) -> Result<Self> {
        let count = placement.num_delegates();
        let select = |list: &Vec<VertexId>| -> Result<Vec<VertexId>> {
            let mut selected = Vec::new();
            for &v in list.iter().filter(|_| count > 0) {
                if placement.is_delegate(version.ids().external_of(v)?) {
                    selected.push(v);
                }
            }
            Ok(selected)
        };
        let ghosts_of = ghosts.iter().map(select).collect::<Result<Vec<_>>>()?;
        let mirrors_of = mirrors.iter().map(select).collect::<Result<Vec<_>>>()?;
        let mut ghosts = ghosts_of.concat();
        ghosts.sort_unstable();
        let mut own = mirrors_of.concat();
        own.sort_unstable();
        own.dedup();
        Ok(Self { count, ghosts, own, ghosts_of, mirrors_of })
    }
}

/// The bytes of an id as it travels.
pub(crate) fn id_bytes(id: ExternalId<'_>) -> u64 {
    match id {
        ExternalId::Int(_) => 8,
        ExternalId::Text(text) => 4 + text.len() as u64,
    }
}

/// The sizes of a shard that decide what a run needs, of the vertices from `first` on. Counts ids and tells
/// the other shards how many of theirs are here, before any id is copied or sent.
///
/// # Errors
/// Those of the version.
pub(crate) fn count_shared(
    version: &Version,
    first: usize,
    placement: &Placement,
    engine: &mut Engine<'_>,
) -> Result<ShardShape> {
    let (me, peers) = (engine.index(), engine.peers());
    let delegate_copies = (placement.num_delegates() * (peers - 1)) as u64;
    let mut shape = ShardShape { shards: peers as u64, delegate_copies, ..shape_of(version) };
    let mut here = vec![[0; 2]; peers];
    version.ids().each_external(first..version.num_vertices().max(first), |id| {
        let [vertices, bytes] = &mut here[placement.owners().of(id)];
        (*vertices, *bytes) = (*vertices + 1, *bytes + id_bytes(id));
        shape.id_bytes += id_bytes(id);
        shape.id_bytes_max = shape.id_bytes_max.max(id_bytes(id));
        Ok(())
    })?;
    [shape.owned, shape.all_id_bytes] = here[me];
    let block = |counts: &[u64; 2]| {
        let mut block = Vec::new();
        let words = [counts[0], counts[1], shape.id_bytes_max, here[me][1]];
        words.iter().for_each(|word| put_u64(&mut block, *word));
        block
    };
    let blocks = here.iter().map(block).collect();
    for (shard, block) in engine.exchange(blocks).iter().enumerate().filter(|(shard, _)| *shard != me) {
        let mut taker = Taker(block);
        shape.ghosts += here[shard][0];
        shape.ghost_id_bytes += here[shard][1];
        shape.mirrors += taker.u64()?;
        shape.mirror_id_bytes += taker.u64()?;
        shape.id_bytes_max = shape.id_bytes_max.max(taker.u64()?);
        shape.all_id_bytes += taker.u64()?;
    }
    Ok(shape)
}

/// The sizes of a shard that do not depend on its ids.
pub(crate) fn shape_of(version: &Version) -> ShardShape {
    let (directed, text_ids) = (version.is_directed(), version.ids().is_text());
    ShardShape { arcs: version.num_arcs(), directed, text_ids, ..ShardShape::default() }
}

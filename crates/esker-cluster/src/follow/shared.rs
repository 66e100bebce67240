//! The vertices that a shard shares with others, as [`crate::exchange::routes`] lists them, while vertices
//! come.
//!
//! New vertices have the greatest numbers, so ghosts are listed in the order in which they came, and both
//! sides append what is new.

use esker_format::Result;
use esker_graph::{VertexId, vertex};
use esker_store::Version;
use esker_store::ids::ExternalId;

use crate::exchange::id_lookup::find_asked;
use crate::model::owner::Owners;
use crate::net::engine::Engine;
use crate::net::wire::put_id;

/// The end of a chain of links.
const END: u32 = u32::MAX;

/// Where an own vertex is a ghost.
#[derive(Clone, Copy)]
struct GhostLink {
    shard: u16,
    place: u32,
    /// The link before it of the same vertex.
    next: u32,
}

pub(super) struct Shared {
    me: usize,
    owners: Owners,
    owner: Vec<u16>,
    /// Of a ghost, its place among those of its owner here; of an own vertex, its last link.
    place: Vec<u32>,
    links: Vec<GhostLink>,
    /// For each shard, the ghosts of its vertices here.
    ghosts: Vec<Vec<VertexId>>,
    /// For each shard, the own vertices that are ghosts there.
    mirrors: Vec<Vec<VertexId>>,
}

impl Shared {
    pub(super) fn new(owners: Owners, engine: &Engine<'_>) -> Self {
        let (ghosts, mirrors) = (vec![Vec::new(); engine.peers()], vec![Vec::new(); engine.peers()]);
        let (owner, place, links) = (Vec::new(), Vec::new(), Vec::new());
        Self { me: engine.index(), owners, owner, place, links, ghosts, mirrors }
    }

    /// Takes in the new vertices of a version. Returns the own vertices that have become ghosts elsewhere.
    ///
    /// # Errors
    /// As [`crate::exchange::routes::Routes::new`].
    pub(super) fn extend(&mut self, version: &Version, engine: &mut Engine<'_>) -> Result<Vec<VertexId>> {
        let mut questions = vec![Vec::new(); engine.peers()];
        let first_new = self.owner.len();
        version.ids().each_external(first_new..version.num_vertices(), |id| {
            let (v, shard) = (vertex(self.owner.len()), self.owners.of(id));
            self.owner.push(shard as u16);
            if shard == self.me {
                self.place.push(END);
                return Ok(());
            }
            self.place.push(self.ghosts[shard].len() as u32);
            self.ghosts[shard].push(v);
            put_id(&mut questions[shard], id);
            Ok(())
        })?;
        let mut newly_shared = Vec::new();
        for (shard, block) in engine.exchange(questions).iter().enumerate() {
            let look_up = |ids: &[ExternalId<'_>], found: &mut [_]| version.ids().vertices_of(ids, found);
            for v in find_asked(version, block, self.me, shard, look_up)? {
                let place = self.mirrors[shard].len() as u32;
                self.mirrors[shard].push(v);
                let link = GhostLink { shard: shard as u16, place, next: self.place[v as usize] };
                self.place[v as usize] = self.links.len() as u32;
                self.links.push(link);
                newly_shared.push(v);
            }
        }
        Ok(newly_shared)
    }

    pub(super) fn is_owned(&self, v: VertexId) -> bool {
        usize::from(self.owner[v as usize]) == self.me
    }

    /// The shard that owns a ghost, and the place of the ghost in the list that both have.
    pub(super) fn of_ghost(&self, v: VertexId) -> (usize, u32) {
        (usize::from(self.owner[v as usize]), self.place[v as usize])
    }

    /// The shards in which an own vertex is a ghost, and its places in the lists that both have.
    pub(super) fn of_own(&self, v: VertexId) -> impl Iterator<Item = (usize, u32)> + '_ {
        let mut next = self.place[v as usize];
        std::iter::from_fn(move || {
            let link = *self.links.get(next as usize)?;
            next = link.next;
            Some((usize::from(link.shard), link.place))
        })
    }

    /// The ghost at a place of the list of a shard.
    pub(super) fn ghost_at(&self, shard: usize, place: u32) -> Option<VertexId> {
        self.ghosts[shard].get(place as usize).copied()
    }

    /// The own vertex at a place of the list of a shard.
    pub(super) fn own_at(&self, shard: usize, place: u32) -> Option<VertexId> {
        self.mirrors[shard].get(place as usize).copied()
    }
}

//! The levels above the graph: a node stands for several vertices.
//!
//! [`Coarse`] keeps the lists of a level in memory. Where they do not fit the budget, [`Regrouped`] reads the
//! lists of the vertices of each node again, so a level needs no more than O(n) words.

use esker_graph::{Reservation, Run, Stop, VertexId, vertex};
use parking_lot::Mutex;

use super::adjacency::{Adjacency, PartBuffers, TakePart, Units, each_entry};
use super::tally::Tally;

/// Which nodes of a level each node of the level above stands for.
pub(super) struct NodeGroups {
    /// The nodes, by the node above that they belong to, ascending.
    order: Vec<VertexId>,
    /// Where those of each node above begin, and the end of the last.
    offsets: Vec<VertexId>,
}

impl NodeGroups {
    /// Sorts the nodes by the node above. Memory: two ids a node.
    pub(super) fn new(run: &Run, above: &[VertexId], num_above: usize) -> Result<Self, Stop> {
        let mut offsets = vec![0; num_above + 1];
        for part in above.chunks(1 << 20) {
            run.check()?;
            part.iter().for_each(|&a| offsets[a as usize + 1] += 1);
        }
        (0..num_above).for_each(|a| offsets[a + 1] += offsets[a]);
        let mut order = vec![0; above.len()];
        for (first, part) in (0..).step_by(1 << 20).zip(above.chunks(1 << 20)) {
            run.check()?;
            for (v, &a) in (first..).zip(part) {
                let place = &mut offsets[a as usize];
                order[*place as usize] = vertex(v);
                *place += 1;
            }
        }
        // Each offset has become the next one.
        offsets.rotate_right(1);
        offsets[0] = 0;
        Ok(Self { order, offsets })
    }

    /// Number of nodes above.
    pub(super) fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The nodes that belong to a node above.
    pub(super) fn of(&self, above: VertexId) -> &[VertexId] {
        &self.order[self.offsets[above as usize] as usize..self.offsets[above as usize + 1] as usize]
    }
}

/// Nodes of a chunk.
const CHUNK_LEN: usize = 256;

/// The lists of a level in memory, without self-loops. Memory: an id and 8 bytes an entry, 4 bytes a node.
pub(super) struct Coarse {
    chunks: Vec<Chunk>,
    num_nodes: usize,
    _memory: Reservation,
}

/// The lists of [`CHUNK_LEN`] successive nodes.
#[derive(Default)]
struct Chunk {
    ends: Vec<u32>,
    nodes: Vec<VertexId>,
    units: Vec<u64>,
}

impl Chunk {
    fn memory_bytes(&self) -> u64 {
        (self.ends.capacity() * 4 + self.nodes.capacity() * size_of::<VertexId>() + self.units.capacity() * 8)
            as u64
    }

    fn range(&self, at: usize) -> std::ops::Range<usize> {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        start as usize..self.ends[at] as usize
    }
}

/// A worker that makes chunks.
struct ChunkMaker {
    tally: Tally,
    buffers: PartBuffers,
    made: Vec<(usize, Chunk)>,
}

impl Coarse {
    /// Adds up the entries of `lists` by nodes above; `None` if they do not fit the budget.
    pub(super) fn new<E: From<Stop> + Send>(
        run: &Run,
        lists: &dyn Adjacency<Error = E>,
        above: &[VertexId],
        members: &NodeGroups,
    ) -> Result<Option<Self>, E> {
        let num_nodes = members.len();
        let Some(memory) = run.budget().try_reserve(0) else { return Ok(None) };
        let memory = Mutex::new(Some(memory));
        let new_state =
            || ChunkMaker { tally: Tally::new(num_nodes), buffers: PartBuffers::default(), made: Vec::new() };
        let makers = run.share_ranges(num_nodes, CHUNK_LEN, new_state, |maker, range| {
            if memory.lock().is_none() {
                return Ok(());
            }
            let number = range.start / CHUNK_LEN;
            let chunk = maker.chunk(lists, above, members, range)?;
            let mut held = memory.lock();
            if held.as_mut().is_some_and(|held| held.try_grow(chunk.memory_bytes())) {
                maker.made.push((number, chunk));
            } else {
                *held = None;
            }
            Ok::<(), E>(())
        })?;
        let Some(memory) = memory.into_inner() else { return Ok(None) };
        let mut chunks: Vec<Chunk> = Vec::new();
        chunks.resize_with(num_nodes.div_ceil(CHUNK_LEN), Chunk::default);
        for (number, chunk) in makers.into_iter().flat_map(|maker| maker.made) {
            chunks[number] = chunk;
        }
        Ok(Some(Self { chunks, num_nodes, _memory: memory }))
    }
}

impl ChunkMaker {
    fn chunk<E: From<Stop> + Send>(
        &mut self,
        lists: &dyn Adjacency<Error = E>,
        above: &[VertexId],
        members: &NodeGroups,
        range: std::ops::Range<usize>,
    ) -> Result<Chunk, E> {
        let mut chunk = Chunk::default();
        for node in range.map(vertex) {
            let Self { tally, buffers, .. } = self;
            tally.prepare(members.of(node).iter().map(|&v| lists.degree(v)).sum());
            for &v in members.of(node) {
                each_entry(lists, v, buffers, |u, units| {
                    let other = above[u as usize];
                    if other != node {
                        tally.add(other, units);
                    }
                })?;
            }
            tally.drain(|other, units| {
                if units > 0 {
                    chunk.nodes.push(other);
                    chunk.units.push(units);
                }
            });
            chunk.ends.push(chunk.nodes.len() as u32);
        }
        chunk.nodes.shrink_to_fit();
        chunk.units.shrink_to_fit();
        chunk.ends.shrink_to_fit();
        Ok(chunk)
    }
}

/// Reads the lists of a level that is kept in memory.
pub(super) struct CoarseLists<'a, E> {
    pub(super) coarse: &'a Coarse,
    pub(super) error: std::marker::PhantomData<fn() -> E>,
}

impl<E: From<Stop> + Send> Adjacency for CoarseLists<'_, E> {
    type Error = E;

    fn num_nodes(&self) -> usize {
        self.coarse.num_nodes
    }

    fn degree(&self, node: VertexId) -> usize {
        self.coarse.chunks[node as usize / CHUNK_LEN].range(node as usize % CHUNK_LEN).len()
    }

    fn each_part(&self, node: VertexId, _: &mut PartBuffers, take: TakePart<'_>) -> Result<(), E> {
        let chunk = &self.coarse.chunks[node as usize / CHUNK_LEN];
        let range = chunk.range(node as usize % CHUNK_LEN);
        take(&chunk.nodes[range.clone()], Units::Each(&chunk.units[range]));
        Ok(())
    }
}

/// Reads the lists of a level from those of the vertices, each time anew.
pub(super) struct Regrouped<'a, E> {
    /// The lists of the vertices.
    pub(super) lists: &'a dyn Adjacency<Error = E>,
    /// The node of each vertex.
    pub(super) above: &'a [VertexId],
    /// The vertices of each node.
    pub(super) members: &'a NodeGroups,
}

impl<E: From<Stop> + Send> Adjacency for Regrouped<'_, E> {
    type Error = E;

    fn num_nodes(&self) -> usize {
        self.members.len()
    }

    fn degree(&self, node: VertexId) -> usize {
        self.members.of(node).iter().map(|&v| self.lists.degree(v)).sum()
    }

    fn each_part(&self, node: VertexId, buffers: &mut PartBuffers, take: TakePart<'_>) -> Result<(), E> {
        let mut nodes = std::mem::take(&mut buffers.nodes);
        for &v in self.members.of(node) {
            self.lists.each_part(v, buffers, &mut |list, units| {
                nodes.clear();
                nodes.extend(list.iter().map(|&u| self.above[u as usize]));
                take(&nodes, units);
            })?;
        }
        buffers.nodes = nodes;
        Ok(())
    }
}

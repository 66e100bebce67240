//! The levels above the graph: a node stands for several vertices.
//!
//! [`Coarse`] keeps the lists of a level in memory. Where they do not fit the budget, [`Regrouped`] reads the
//! lists of the vertices of each node again, so a level needs no more than O(n) words.

use std::ops::Range;

use esker_graph::{Reservation, Run, Stop, VertexId, vertex};
use parking_lot::Mutex;

use super::adjacency::{Adjacency, PART_LEN, PartBuffers, TakePart, Units, each_entry};
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

/// Nodes of a block, and the most of a chunk.
const BLOCK_LEN: usize = 256;
/// Entries of a chunk, unless one node has more: of those that are added up for it.
const CHUNK_ENTRIES: usize = 1 << 16;
/// Members of a node between two checks for cancellation.
const MEMBERS_LEN: usize = 1 << 16;

/// The lists of a level in memory, without self-loops. Memory: an id and 8 bytes an entry, 4 bytes a node.
pub(super) struct Coarse {
    /// In order of their nodes.
    chunks: Vec<Chunk>,
    /// Where the chunks of each block begin, and the end of the last.
    blocks: Vec<u32>,
    num_nodes: usize,
    _memory: Reservation,
}

/// The lists of some successive nodes of a block.
#[derive(Default)]
struct Chunk {
    first: VertexId,
    ends: Vec<u32>,
    nodes: Vec<VertexId>,
    units: Vec<u64>,
}

impl Chunk {
    fn memory_bytes(&self) -> u64 {
        (self.ends.capacity() * 4 + self.nodes.capacity() * size_of::<VertexId>() + self.units.capacity() * 8)
            as u64
    }

    fn range(&self, node: VertexId) -> Range<usize> {
        let at = (node - self.first) as usize;
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        start as usize..self.ends[at] as usize
    }
}

/// The entries of the lists of some nodes.
fn num_entries<E: From<Stop> + Send>(
    run: &Run,
    lists: &dyn Adjacency<Error = E>,
    members: &[VertexId],
) -> Result<usize, Stop> {
    let mut entries = 0;
    for part in members.chunks(MEMBERS_LEN) {
        run.check()?;
        entries += part.iter().map(|&v| lists.degree(v)).sum::<usize>();
    }
    Ok(entries)
}

/// Cuts the nodes above into ranges of about as many entries, which lie in one block each.
fn chunk_ranges<E: From<Stop> + Send>(
    run: &Run,
    lists: &dyn Adjacency<Error = E>,
    members: &NodeGroups,
) -> Result<Vec<Range<usize>>, Stop> {
    let cut = run.share_ranges(members.len(), BLOCK_LEN, Vec::new, |ranges, block| {
        let (mut first, mut entries) = (block.start, 0);
        for node in block.clone() {
            let own = num_entries(run, lists, members.of(vertex(node)))?;
            if node > first && entries + own > CHUNK_ENTRIES {
                ranges.push(first..node);
                (first, entries) = (node, 0);
            }
            entries += own;
        }
        ranges.push(first..block.end);
        Ok::<(), Stop>(())
    })?;
    let mut ranges: Vec<Range<usize>> = cut.into_iter().flatten().collect();
    ranges.sort_unstable_by_key(|range| range.start);
    Ok(ranges)
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
        let ranges = chunk_ranges(run, lists, members)?;
        let new_state =
            || ChunkMaker { tally: Tally::new(num_nodes), buffers: PartBuffers::default(), made: Vec::new() };
        let makers = run.share(ranges.len(), new_state, |maker, number| {
            if memory.lock().is_none() {
                return Ok(());
            }
            let chunk = maker.chunk(run, lists, above, members, ranges[number].clone())?;
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
        chunks.resize_with(ranges.len(), Chunk::default);
        for (number, chunk) in makers.into_iter().flat_map(|maker| maker.made) {
            chunks[number] = chunk;
        }
        let begins = |range: &Range<usize>| range.start.is_multiple_of(BLOCK_LEN);
        let mut blocks: Vec<u32> =
            (0..).zip(&ranges).filter(|(_, range)| begins(range)).map(|(number, _)| number).collect();
        blocks.push(ranges.len() as u32);
        Ok(Some(Self { chunks, blocks, num_nodes, _memory: memory }))
    }

    /// The chunk that has the list of a node.
    fn chunk(&self, node: VertexId) -> &Chunk {
        let block = node as usize / BLOCK_LEN;
        let chunks = &self.chunks[self.blocks[block] as usize..self.blocks[block + 1] as usize];
        &chunks[chunks.partition_point(|chunk| chunk.first <= node) - 1]
    }
}

impl ChunkMaker {
    fn chunk<E: From<Stop> + Send>(
        &mut self,
        run: &Run,
        lists: &dyn Adjacency<Error = E>,
        above: &[VertexId],
        members: &NodeGroups,
        range: Range<usize>,
    ) -> Result<Chunk, E> {
        let mut chunk = Chunk { first: vertex(range.start), ..Chunk::default() };
        for node in range.map(vertex) {
            let Self { tally, buffers, .. } = self;
            tally.prepare(num_entries(run, lists, members.of(node))?);
            for &v in members.of(node) {
                each_entry(lists, v, buffers, |u, units| {
                    let other = above[u as usize];
                    if other != node {
                        tally.add(other, units);
                    }
                })?;
            }
            tally.drain(|other, units| {
                chunk.nodes.push(other);
                chunk.units.push(units);
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
    pub(super) run: &'a Run,
    pub(super) coarse: &'a Coarse,
    pub(super) error: std::marker::PhantomData<fn() -> E>,
}

impl<E: From<Stop> + Send> Adjacency for CoarseLists<'_, E> {
    type Error = E;

    fn num_nodes(&self) -> usize {
        self.coarse.num_nodes
    }

    fn degree(&self, node: VertexId) -> usize {
        self.coarse.chunk(node).range(node).len()
    }

    fn each_part(&self, node: VertexId, _: &mut PartBuffers, take: TakePart<'_>) -> Result<(), E> {
        let chunk = self.coarse.chunk(node);
        let range = chunk.range(node);
        let (nodes, units) = (&chunk.nodes[range.clone()], &chunk.units[range]);
        for (nodes, units) in nodes.chunks(PART_LEN).zip(units.chunks(PART_LEN)) {
            self.run.check()?;
            take(nodes, Units::Each(units));
        }
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use esker_graph::random::Random;
    use esker_graph::{Cancel, Csr, RunOptions};

    use super::super::adjacency::VertexLists;
    use super::*;
    use crate::primitive::Unit;

    /// All edges have an end among a thirtieth of the vertices.
    fn skewed() -> Csr {
        let mut random = Random::new(11);
        let edges: Vec<(VertexId, VertexId, ())> =
            (0..150_000).map(|_| (vertex(random.index(100)), vertex(random.index(3000)), ())).collect();
        Csr::undirected(3000, &edges).unwrap()
    }

    #[test]
    fn chunks_have_about_as_many_entries_and_all_sums() {
        let (csr, run) = (skewed(), Run::with_threads(2).unwrap());
        let graph = csr.graph();
        let lists = VertexLists { graph: &graph, run: &run, unit: Unit::ONE };
        for num_above in [1, 2, 40, 255, 256, 257, 1500, 3000] {
            let above: Vec<VertexId> = (0..3000).map(|v| vertex(v * num_above / 3000)).collect();
            let members = NodeGroups::new(&run, &above, num_above).unwrap();
            let ranges = chunk_ranges(&run, &lists, &members).unwrap();
            assert!(ranges.iter().flat_map(Clone::clone).eq(0..num_above));
            let entries_of = |node| num_entries(&run, &lists, members.of(vertex(node))).unwrap();
            let is_fit = |range: &Range<usize>| {
                range.len() == 1 || range.clone().map(entries_of).sum::<usize>() <= CHUNK_ENTRIES
            };
            assert!(ranges.iter().all(is_fit), "{num_above}: {ranges:?}");
            let mut expected = vec![BTreeMap::<VertexId, u64>::new(); num_above];
            for v in (0..3000).map(vertex) {
                let list = |list: &[VertexId], _: &[()]| {
                    for &u in list.iter().filter(|&&u| above[u as usize] != above[v as usize]) {
                        *expected[above[v as usize] as usize].entry(above[u as usize]).or_default() += 1;
                    }
                };
                esker_graph::Lists::with_list(&graph, esker_graph::Direction::Out, v, list).unwrap();
            }
            let coarse = Coarse::new(&run, &lists, &above, &members).unwrap().unwrap();
            let coarse: CoarseLists<'_, Stop> =
                CoarseLists { run: &run, coarse: &coarse, error: std::marker::PhantomData };
            for (node, expected) in (0..).map(vertex).zip(expected) {
                let (mut found, mut buffers) = (BTreeMap::new(), PartBuffers::default());
                each_entry(&coarse, node, &mut buffers, |other, units| _ = found.insert(other, units))
                    .unwrap();
                assert_eq!((coarse.degree(node), found), (expected.len(), expected), "{num_above} {node}");
            }
        }
    }

    #[test]
    fn lists_of_every_level_can_be_cancelled() {
        let (csr, run) = (skewed(), Run::with_threads(1).unwrap());
        let graph = csr.graph();
        let above: Vec<VertexId> = (0..3000).map(|v| vertex(v % 7)).collect();
        let members = NodeGroups::new(&run, &above, 7).unwrap();
        let lists = VertexLists { graph: &graph, run: &run, unit: Unit::ONE };
        let coarse = Coarse::new(&run, &lists, &above, &members).unwrap().unwrap();
        let cancel = Cancel::default();
        cancel.cancel();
        let cancelled = Run::new(RunOptions { threads: 1, cancel, ..RunOptions::default() }).unwrap();
        let lists = VertexLists { graph: &graph, run: &cancelled, unit: Unit::ONE };
        let coarse: CoarseLists<'_, Stop> =
            CoarseLists { run: &cancelled, coarse: &coarse, error: std::marker::PhantomData };
        let regrouped = Regrouped { lists: &lists, above: &above, members: &members };
        let all: [&dyn Adjacency<Error = Stop>; 3] = [&lists, &coarse, &regrouped];
        for lists in all {
            let read = each_entry(lists, 0, &mut PartBuffers::default(), |_, _| {});
            assert!(matches!(read, Err(Stop::Cancelled)), "{read:?}");
        }
        assert!(num_entries(&cancelled, &lists, members.of(0)).is_err());
    }
}

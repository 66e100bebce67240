//! The commits that are in no layer yet, indexed for reads and freezes.

use std::collections::HashMap;
use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use esker_format::memory::{collected, no_memory, push};
use esker_format::{PropertyRecord, Result};
use esker_graph::{Direction, Run, VertexId};
use esker_layers::ids::IdTail;

use crate::commit::{Commit, CommitEdge};
use crate::delta::{DynamicEdges, DynamicGraph, DynamicGraphOptions, Update};
use crate::freeze::REMOVAL;
use crate::version::Version;

/// A change of a commit; `commit` is the index among the commits that are in no layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub(super) struct OpRef {
    commit: u32,
    op: u32,
}

/// Durable commits that are in no layer yet, with a dynamic graph of their changes of edges.
///
/// For each changed edge the graph holds the last change (in a multigraph, all changes). These and the layers
/// determine the edge.
#[derive(Debug)]
pub(super) struct UnfrozenCommits {
    /// Consecutive versions, ascending.
    pub(super) commits: Vec<Arc<Commit>>,
    out: DynamicGraph<OpRef>,
    /// The in-lists of a directed graph that stores them.
    incoming: Option<DynamicGraph<OpRef>>,
    /// The last change of each vertex property, by property and vertex.
    vertices: HashMap<(u32, u64), OpRef>,
    /// The ids of the vertices that the commits add.
    pub(super) ids: IdTail,
    /// The vertex properties that the commits define.
    pub(super) new_properties: Vec<PropertyRecord>,
    /// Bytes of memory of the commits.
    bytes: usize,
    /// The number of edge changes in the commits.
    num_edges: usize,
    multigraph: bool,
}

impl UnfrozenCommits {
    /// No commits, above a version.
    pub(super) fn over(below: &Version) -> Result<Self> {
        let layer = below.layer();
        let graph = |edges| {
            let multigraph = layer.multigraph;
            DynamicGraph::new(DynamicGraphOptions { edges, multigraph, ..DynamicGraphOptions::default() })
        };
        let out = graph(if layer.directed { DynamicEdges::Out } else { DynamicEdges::Undirected })?;
        let incoming = layer.in_edges.then(|| graph(DynamicEdges::Out)).transpose()?;
        Ok(Self {
            commits: Vec::new(),
            out,
            incoming,
            vertices: HashMap::new(),
            ids: IdTail::new(below.num_vertices(), below.ids().is_text(), below.ids().hasher()),
            new_properties: Vec::new(),
            bytes: 0,
            num_edges: 0,
            multigraph: layer.multigraph,
        })
    }

    /// Bytes of memory of the commits and their index.
    pub(super) fn bytes(&self) -> usize {
        self.bytes + self.index_bytes()
    }

    /// The number of edge changes in the commits.
    pub(super) fn num_edges(&self) -> usize {
        self.num_edges
    }

    /// Bytes of memory of the index.
    pub(super) fn index_bytes(&self) -> usize {
        let incoming = self.incoming.as_ref().map_or(0, DynamicGraph::bytes);
        self.out.bytes() + incoming + self.ids.bytes() + self.vertices.len() * 32
    }

    /// Adds the next commit. After an error, the index may hold a part of it.
    pub(super) fn apply(&mut self, commit: &Arc<Commit>, run: &Run) -> Result<()> {
        let number = self.commits.len() as u32;
        let mut updates: Vec<Update<OpRef>> =
            collected(commit.edges.iter().enumerate().map(|(op, edge)| Update::Insert {
                source: edge.source,
                target: edge.target,
                payload: OpRef { commit: number, op: op as u32 },
            }))?;
        self.out.apply(&updates, run)?;
        if let Some(incoming) = &mut self.incoming {
            for update in &mut updates {
                if let Update::Insert { source, target, .. } = update {
                    std::mem::swap(source, target);
                }
            }
            incoming.apply(&updates, run)?;
        }
        drop(updates);
        self.vertices.try_reserve(commit.vertices.len()).map_err(no_memory)?;
        for (change, op) in commit.vertices.iter().zip(0..) {
            self.vertices.insert((change.property, change.vertex), OpRef { commit: number, op });
        }
        commit.new_ids.iter().try_for_each(|id| self.ids.add(id).map(drop))?;
        self.new_properties.extend(commit.new_properties.iter().cloned());
        self.bytes += commit.bytes();
        self.num_edges += commit.edges.len();
        push(&mut self.commits, Arc::clone(commit))
    }

    fn commit(&self, op: OpRef) -> &Commit {
        &self.commits[op.commit as usize]
    }

    fn edge(&self, op: OpRef) -> &CommitEdge {
        &self.commit(op).edges[op.op as usize]
    }

    /// The property bits that a change set.
    pub(super) fn bits(&self, op: OpRef) -> Vec<u64> {
        let row = self.edge(op).row as usize;
        self.commit(op).rows.iter().map(|column| column[row]).collect()
    }

    fn graph(&self, direction: Direction) -> &DynamicGraph<OpRef> {
        match (direction, &self.incoming) {
            (Direction::In, Some(incoming)) => incoming,
            _ => &self.out,
        }
    }

    /// The number of changes of a vertex's list.
    pub(super) fn num_changes(&self, direction: Direction, v: VertexId) -> usize {
        self.graph(direction).out_degree(v)
    }

    /// Applies the commits to a list: returns the neighbours, each with the change that set it, or `None` if
    /// it comes from the layers.
    pub(super) fn list(
        &self,
        direction: Direction,
        v: VertexId,
        below: &[VertexId],
    ) -> Vec<(VertexId, Option<OpRef>)> {
        let mut list: Vec<(VertexId, Option<OpRef>)> = below.iter().map(|&target| (target, None)).collect();
        let changes = self.changes(direction, v);
        if changes.is_empty() {
            return list;
        }
        // The copies of an edge in the layers are gone if any change removed or replaced the edge.
        let replaced = |target: &VertexId| {
            let first = changes.partition_point(|change| change.0 < *target);
            let same = changes[first..].iter().take_while(|change| change.0 == *target).count();
            self.effect(&changes[first..first + same]).0
        };
        list.retain(|(target, _)| !replaced(target));
        for same in changes.chunk_by(|a, b| a.0 == b.0) {
            list.extend(self.effect(same).1.iter().map(|&(target, op)| (target, Some(op))));
        }
        list.sort_by_key(|entry| entry.0);
        list
    }

    /// The changes of a vertex's list, by neighbour and in order.
    fn changes(&self, direction: Direction, v: VertexId) -> Vec<(VertexId, OpRef)> {
        let mut changes = self.graph(direction).neighbours(v);
        changes.sort_unstable();
        changes
    }

    /// The effect of the changes of one edge, in order: whether its copies in the layers are gone, and the
    /// changes whose copies remain.
    fn effect<'c>(&self, changes: &'c [(VertexId, OpRef)]) -> (bool, &'c [(VertexId, OpRef)]) {
        let removal = changes.iter().rposition(|&(_, op)| self.edge(op).row == REMOVAL);
        let is_replaced = removal.is_some() || (!self.multigraph && !changes.is_empty());
        (is_replaced, &changes[removal.map_or(0, |at| at + 1)..])
    }

    /// The effect of the commits on an edge: whether its copies in the layers are gone, and the changes whose
    /// copies remain.
    pub(super) fn copies(&self, source: VertexId, target: VertexId) -> (bool, Vec<OpRef>) {
        let mut changes = Vec::new();
        self.out.for_each_copy(source, target, |&op| changes.push((target, op)));
        changes.sort_unstable();
        let (is_replaced, alive) = self.effect(&changes);
        (is_replaced, alive.iter().map(|&(_, op)| op).collect())
    }

    /// The degree of a vertex that has `below` arcs in the layers; `copies_below` counts the arcs in the
    /// layers to one neighbour.
    pub(super) fn degree(
        &self,
        direction: Direction,
        v: VertexId,
        below: usize,
        mut copies_below: impl FnMut(VertexId) -> Result<usize>,
    ) -> Result<usize> {
        let mut degree = below;
        for same in self.changes(direction, v).chunk_by(|a, b| a.0 == b.0) {
            let (is_replaced, alive) = self.effect(same);
            let gone = if is_replaced { copies_below(same[0].0)? } else { 0 };
            degree = degree.saturating_sub(gone) + alive.len();
        }
        Ok(degree)
    }

    /// The last change of a vertex property: the commit, and the index in its list of vertex changes.
    pub(super) fn vertex_change(&self, property: u32, v: VertexId) -> Option<(&Commit, usize)> {
        let op = self.vertices.get(&(property, u64::from(v)))?;
        Some((self.commit(*op), op.op as usize))
    }
}

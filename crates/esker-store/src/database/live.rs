//! The commits that are in no layer yet, as they are read and frozen.

use std::collections::HashMap;
use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use esker_graph::{Direction, Run, VertexId};

use crate::commit::{Commit, EdgeOp};
use crate::delta::{DynamicGraph, DynamicGraphOptions, Edges, Update};
use crate::error::Result;
use crate::format::PropertyRecord;
use crate::freeze::REMOVAL;
use crate::ids::IdTail;
use crate::memory::{collected, no_memory, push};
use crate::snapshot::Snapshot;

/// Which change of which commit: the commit by its place among those that are in no layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub(super) struct OpRef {
    commit: u32,
    op: u32,
}

/// Durable commits that are in no layer yet, with a dynamic graph of what they do to edges.
///
/// The graph holds, for each edge that was touched, its last change (in a multigraph, all of them): what an edge is
/// follows from that and from the layers.
#[derive(Debug)]
pub(super) struct Live {
    /// Ascending by version, without gaps.
    pub(super) commits: Vec<Arc<Commit>>,
    out: DynamicGraph<OpRef>,
    /// In-lists of a directed graph.
    incoming: Option<DynamicGraph<OpRef>>,
    /// The last change of each vertex property: commit and place.
    vertices: HashMap<(u32, u64), OpRef>,
    /// Ids of the vertices that the commits add.
    pub(super) ids: IdTail,
    /// Vertex properties that they define.
    pub(super) new_properties: Vec<PropertyRecord>,
    /// Of the commits.
    bytes: usize,
    multigraph: bool,
}

impl Live {
    /// Nothing over a version.
    pub(super) fn over(below: &Snapshot) -> Result<Self> {
        let layer = below.layer();
        let graph = |edges| {
            let multigraph = layer.multigraph;
            DynamicGraph::new(DynamicGraphOptions { edges, multigraph, ..DynamicGraphOptions::default() })
        };
        let out = graph(if layer.directed { Edges::Out } else { Edges::Undirected })?;
        let incoming = layer.in_edges.then(|| graph(Edges::Out)).transpose()?;
        Ok(Self {
            commits: Vec::new(),
            out,
            incoming,
            vertices: HashMap::new(),
            ids: IdTail::new(below.num_vertices(), below.ids().is_text()),
            new_properties: Vec::new(),
            bytes: 0,
            multigraph: layer.multigraph,
        })
    }

    /// Bytes of memory of the commits, and of what finds them.
    pub(super) fn bytes(&self) -> usize {
        self.bytes + self.index_bytes()
    }

    /// Bytes of memory of what finds the commits.
    pub(super) fn index_bytes(&self) -> usize {
        let incoming = self.incoming.as_ref().map_or(0, DynamicGraph::bytes);
        self.out.bytes() + incoming + self.ids.bytes() + self.vertices.len() * 32
    }

    /// Takes the next commit in. If that fails, some of it is in and some is not.
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
        push(&mut self.commits, Arc::clone(commit))
    }

    fn commit(&self, op: OpRef) -> &Commit {
        &self.commits[op.commit as usize]
    }

    fn edge(&self, op: OpRef) -> &EdgeOp {
        &self.commit(op).edges[op.op as usize]
    }

    /// The bits of the properties of an edge that a change set.
    pub(super) fn bits(&self, op: OpRef) -> Vec<u64> {
        let row = self.edge(op).row as usize;
        self.commit(op).rows.iter().map(|column| column[row]).collect()
    }

    /// What the commits make of a list: neighbours, each with the change that set it, or `None` if it is from the layers.
    pub(super) fn list(
        &self,
        direction: Direction,
        v: VertexId,
        below: &[VertexId],
    ) -> Vec<(VertexId, Option<OpRef>)> {
        let graph = match (direction, &self.incoming) {
            (Direction::In, Some(incoming)) => incoming,
            _ => &self.out,
        };
        let mut list: Vec<(VertexId, Option<OpRef>)> = below.iter().map(|&target| (target, None)).collect();
        let mut changes = graph.neighbours(v);
        if changes.is_empty() {
            return list;
        }
        changes.sort_unstable();
        // All that was there of an edge goes with its first change that removes or sets it.
        let replaced = |target: &VertexId| {
            let first = changes.partition_point(|change| change.0 < *target);
            changes[first..]
                .iter()
                .take_while(|change| change.0 == *target)
                .any(|&(_, op)| !self.multigraph || self.edge(op).row == REMOVAL)
        };
        list.retain(|(target, _)| !replaced(target));
        for same in changes.chunk_by(|a, b| a.0 == b.0) {
            let after_removal = same.iter().rposition(|&(_, op)| self.edge(op).row == REMOVAL);
            let alive = &same[after_removal.map_or(0, |at| at + 1)..];
            list.extend(alive.iter().map(|&(target, op)| (target, Some(op))));
        }
        list.sort_by_key(|entry| entry.0);
        list
    }

    /// The last change of a property of a vertex: the commit, and its place there.
    pub(super) fn vertex_change(&self, property: u32, v: VertexId) -> Option<(&Commit, usize)> {
        let op = self.vertices.get(&(property, u64::from(v)))?;
        Some((self.commit(*op), op.op as usize))
    }
}

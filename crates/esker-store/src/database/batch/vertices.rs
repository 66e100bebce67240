//! Adds, restores and removes the vertices of a commit.

use std::collections::HashMap;

use esker_format::memory::push;
use esker_format::{Error, Result, Sought, VertexChange, VertexValue};
use esker_graph::VertexId;
use esker_layers::property::REMOVED_NUMBER;

use crate::commit::CommitEdge;
use crate::database::batch::resolve::{BatchId, CommitBuilder, Neighbours};
use crate::freeze::REMOVAL;

impl CommitBuilder<'_> {
    /// The vertex of an id, which is added or restored if necessary.
    pub(crate) fn vertex(&mut self, id: BatchId<'_>) -> Result<VertexId> {
        let Some(v) = self.find(id)? else {
            self.commit.new_ids.make_room(&[id.id])?;
            let v = self.writer.tail.add(id.id)?;
            self.commit.new_ids.push(id.id);
            return Ok(v);
        };
        if !self.writer.removed.is_empty() && self.writer.removed.remove(&v) {
            self.set_removed(v, false);
            self.clear(v)?;
        }
        Ok(v)
    }

    /// An error unless there is a vertex with an id after the changes so far.
    pub(crate) fn expect_vertex(&self, id: BatchId<'_>) -> Result<()> {
        if self.find(id)?.is_some_and(|v| !self.writer.removed.contains(&v)) {
            return Ok(());
        }
        let id = id.id.to_string();
        let reason =
            format!("no vertex has the id {id:?} any more: it was removed since the change was made");
        Err(Error::not_found(Sought::Vertex, reason))
    }

    fn set_removed(&mut self, v: VertexId, removed: bool) {
        self.toggled.push(v);
        let value = Some(VertexValue { bits: u64::from(removed), text: None });
        self.commit.vertices.push(VertexChange { property: REMOVED_NUMBER, vertex: u64::from(v), value });
    }

    /// Takes away the values of all properties of a vertex: it begins anew.
    fn clear(&mut self, v: VertexId) -> Result<()> {
        for property in &self.writer.vertex_properties {
            let change = VertexChange { property: property.number, vertex: u64::from(v), value: None };
            push(&mut self.commit.vertices, change)?;
        }
        Ok(())
    }

    pub(crate) fn remove_vertex(&mut self, v: VertexId, neighbours: Neighbours<'_>) -> Result<()> {
        if !self.writer.removed.insert(v) {
            return Ok(());
        }
        self.removed.insert(v);
        self.set_removed(v, true);
        let edges = &self.commit.edges;
        let touching = self.touching.get_or_insert_with(|| {
            let mut touching: HashMap<VertexId, Vec<usize>> = HashMap::new();
            for (index, edge) in edges.iter().enumerate() {
                touching.entry(edge.source).or_default().push(index);
                touching.entry(edge.target).or_default().push(index);
            }
            touching
        });
        let own = touching.get(&v).into_iter().flatten().map(|&index| &edges[index]);
        let mut pairs: Vec<(VertexId, VertexId)> = own.map(|edge| (edge.source, edge.target)).collect();
        // A vertex added by this commit has no earlier edges.
        if u64::from(v) < self.writer.num_vertices() - self.commit.new_ids.len() as u64 {
            pairs.extend(neighbours(v)?);
        }
        pairs.sort_unstable();
        pairs.dedup();
        for (source, target) in pairs {
            self.push_edge(CommitEdge { source, target, row: REMOVAL })?;
        }
        Ok(())
    }
}

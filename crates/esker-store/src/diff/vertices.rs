//! Which vertices came, went, or have other properties.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::ops::Range;
use std::sync::Arc;

use esker_graph::{Run, VertexId, vertex};

use super::kinds::Difference;
use crate::error::Result;
use crate::format::PropertyRecord;
use crate::property::{PropertyColumn, RemovedVertices, VertexProperty};
use crate::snapshot::Snapshot;

/// The vertices that may differ in themselves, ascending. Memory: 4 bytes (8 with 64-bit ids) for each vertex that was removed or
/// brought back in between.
pub(super) struct Vertices<'a> {
    a: Side<'a>,
    b: Side<'a>,
    properties: Vec<Property>,
    /// Changes of properties in layers that reach beyond the older version: the property, its column, and how many were taken.
    columns: Vec<(usize, Arc<PropertyColumn>, usize)>,
    /// The next vertex of each column.
    heap: BinaryHeap<Reverse<(VertexId, usize)>>,
    /// Vertices of both versions of which one has them removed, ascending; as many as `taken` are done.
    turned: Vec<VertexId>,
    taken: usize,
    /// Vertices that only the version with more has numbers for.
    appended: Range<usize>,
}

struct Side<'a> {
    num_vertices: usize,
    removed: &'a RemovedVertices,
}

impl Side<'_> {
    fn has(&self, v: VertexId) -> bool {
        (v as usize) < self.num_vertices && !self.removed.is_removed(v)
    }
}

/// A property in both versions.
struct Property {
    record: PropertyRecord,
    old: Option<VertexProperty>,
    new: Option<VertexProperty>,
}

impl<'a> Vertices<'a> {
    /// What `newer`, which is `a` or `b`, changed behind version `since`.
    pub(super) fn new(
        a: &'a Snapshot,
        b: &'a Snapshot,
        newer: &Snapshot,
        since: u64,
        run: &Run,
    ) -> Result<Self> {
        let side = |snapshot: &'a Snapshot| -> Result<Side<'a>> {
            Ok(Side { num_vertices: snapshot.num_vertices(), removed: snapshot.removed(run)? })
        };
        let (a_side, b_side) = (side(a)?, side(b)?);
        let in_both = a_side.num_vertices.min(b_side.num_vertices);
        let turned = turned(a_side.removed.list(), b_side.removed.list(), in_both);
        let appended = in_both..a_side.num_vertices.max(b_side.num_vertices);
        let records = newer.vertex_properties().cloned();
        let properties: Vec<Property> = records
            .map(|record| Property {
                old: a.vertex_property(&record.name).ok(),
                new: b.vertex_property(&record.name).ok(),
                record,
            })
            .collect();
        let layers = &newer.state().layers()[..newer.stack().layers().len()];
        let mut columns = Vec::new();
        for layer in layers.iter().filter(|layer| layer.record().last_version > since) {
            for (index, property) in properties.iter().enumerate() {
                if let Some(column) = layer.vertex_property(property.record.number) {
                    columns.push((index, Arc::clone(column), 0));
                }
            }
        }
        let heap = BinaryHeap::new();
        let mut vertices =
            Self { a: a_side, b: b_side, properties, columns, heap, turned, taken: 0, appended };
        for column in 0..vertices.columns.len() {
            vertices.advance(column)?;
        }
        Ok(vertices)
    }

    /// Puts the next change of a column on the heap.
    fn advance(&mut self, index: usize) -> Result<()> {
        let (_, column, next) = &mut self.columns[index];
        if *next < column.len() {
            self.heap.push(Reverse((column.change(*next)?.vertex, index)));
            *next += 1;
        }
        Ok(())
    }

    /// The next vertex.
    pub(super) fn peek(&self) -> Option<VertexId> {
        let changed = self.heap.peek().map(|&Reverse((v, _))| v);
        let turned = self.turned.get(self.taken).copied();
        let appended = (!self.appended.is_empty()).then(|| vertex(self.appended.start));
        [changed, turned, appended].into_iter().flatten().min()
    }

    /// Hands over the differences of `v`, which is the next vertex.
    pub(super) fn next<F>(&mut self, v: VertexId, visit: &mut F) -> Result<()>
    where
        F: FnMut(Difference<'_>) -> Result<()>,
    {
        let mut changed = Vec::new();
        while let Some(&Reverse((other, index))) = self.heap.peek()
            && other == v
        {
            self.heap.pop();
            changed.push(self.columns[index].0);
            self.advance(index)?;
        }
        if self.turned.get(self.taken) == Some(&v) {
            self.taken += 1;
        }
        if !self.appended.is_empty() && self.appended.start == v as usize {
            self.appended.start += 1;
        }
        match (self.a.has(v), self.b.has(v)) {
            (true, false) => return visit(Difference::VertexRemoved(v)),
            (false, false) => return Ok(()),
            (true, true) => {
                changed.sort_unstable();
                changed.dedup();
            }
            (false, true) => {
                visit(Difference::VertexAdded(v))?;
                changed = (0..self.properties.len()).collect();
            }
        }
        for index in changed {
            let property = &self.properties[index];
            let old = match &property.old {
                Some(values) if self.a.has(v) => values.get(v)?,
                _ => None,
            };
            let new = match &property.new {
                Some(values) => values.get(v)?,
                None => None,
            };
            if old != new {
                visit(Difference::ValueChanged(v, &property.record, old, new))?;
            }
        }
        Ok(())
    }
}

/// Which vertices below `end` are in one of two ascending lists.
fn turned(a: &[VertexId], b: &[VertexId], end: usize) -> Vec<VertexId> {
    let mut turned = Vec::new();
    let (mut i, mut j) = (0, 0);
    loop {
        let order = match (a.get(i), b.get(j)) {
            (None, None) => break,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(a), Some(b)) => a.cmp(b),
        };
        match order {
            Ordering::Less => turned.push(a[i]),
            Ordering::Greater => turned.push(b[j]),
            Ordering::Equal => {}
        }
        i += usize::from(order != Ordering::Greater);
        j += usize::from(order != Ordering::Less);
    }
    turned.retain(|&v| (v as usize) < end);
    turned
}

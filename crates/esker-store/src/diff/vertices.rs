//! Finds vertices that were added, removed, or given other property values.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::ops::Range;
use std::sync::Arc;

use esker_format::{PropertyRecord, Result, Widening};
use esker_graph::{Run, VertexId, vertex};
use esker_layers::property::{PropertyColumn, PropertyValue, RemovedVertices, VertexProperty};

use super::kinds::Difference;
use crate::version::Version;

/// The vertices that may differ themselves, ascending. Memory: 4 bytes (8 with 64-bit ids) for each vertex
/// that was removed or restored between the versions.
pub(super) struct ChangedVertices<'a> {
    a: VertexSet<'a>,
    b: VertexSet<'a>,
    properties: Vec<ComparedProperty>,
    /// The columns of property changes in layers that end after the older version: index of the property,
    /// column, number of changes already taken.
    columns: Vec<(usize, Arc<PropertyColumn>, usize)>,
    /// The next vertex of each column.
    heap: BinaryHeap<Reverse<(VertexId, usize)>>,
    /// Vertices below both versions' counts that exactly one version has removed, ascending.
    removal_changed: Vec<VertexId>,
    /// The number of vertices already taken from `removal_changed`.
    taken: usize,
    /// Vertex ids that only the version with more vertices has.
    appended: Range<usize>,
}

/// The vertices of one version.
struct VertexSet<'a> {
    num_vertices: usize,
    removed: &'a RemovedVertices,
}

impl VertexSet<'_> {
    fn has(&self, v: VertexId) -> bool {
        (v as usize) < self.num_vertices && !self.removed.is_removed(v)
    }
}

/// A vertex property in both versions.
struct ComparedProperty {
    record: PropertyRecord,
    old: Option<VertexProperty>,
    new: Option<VertexProperty>,
}

impl<'a> ChangedVertices<'a> {
    /// The vertices that `newer`, which is `a` or `b`, changed after version `since`.
    pub(super) fn new(
        a: &'a Version,
        b: &'a Version,
        newer: &Version,
        since: u64,
        run: &Run,
    ) -> Result<Self> {
        let vertices_of = |version: &'a Version| -> Result<VertexSet<'a>> {
            Ok(VertexSet { num_vertices: version.num_vertices(), removed: version.removed(run)? })
        };
        let (in_a, in_b) = (vertices_of(a)?, vertices_of(b)?);
        let in_both = in_a.num_vertices.min(in_b.num_vertices);
        let removal_changed = in_one_list(in_a.removed.list(), in_b.removed.list(), in_both);
        let appended = in_both..in_a.num_vertices.max(in_b.num_vertices);
        let records = newer.vertex_properties().cloned();
        let properties: Vec<ComparedProperty> = records
            .map(|record| ComparedProperty {
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
            Self { a: in_a, b: in_b, properties, columns, heap, removal_changed, taken: 0, appended };
        for column in 0..vertices.columns.len() {
            vertices.advance(column)?;
        }
        Ok(vertices)
    }

    /// Pushes the next change of a column onto the heap.
    fn advance(&mut self, index: usize) -> Result<()> {
        let (_, column, next) = &mut self.columns[index];
        if *next < column.len() {
            self.heap.push(Reverse((column.change(*next)?.vertex, index)));
            *next += 1;
        }
        Ok(())
    }

    /// The next vertex that may differ.
    pub(super) fn peek(&self) -> Option<VertexId> {
        let changed = self.heap.peek().map(|&Reverse((v, _))| v);
        let removal_changed = self.removal_changed.get(self.taken).copied();
        let appended = (!self.appended.is_empty()).then(|| vertex(self.appended.start));
        [changed, removal_changed, appended].into_iter().flatten().min()
    }

    /// Reports the differences of `v`, which must be the next vertex.
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
        if self.removal_changed.get(self.taken) == Some(&v) {
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
            if !is_same(old.as_ref(), new.as_ref()) {
                visit(Difference::ValueChanged(v, &property.record, old, new))?;
            }
        }
        Ok(())
    }
}

/// Whether two values are the same, also if the type of the property became a wider one between them.
fn is_same(old: Option<&PropertyValue<'_>>, new: Option<&PropertyValue<'_>>) -> bool {
    if old == new {
        return true;
    }
    let bits = |value: &PropertyValue<'_>| Some((value.element()?, value.bits()?));
    let (Some((from, old)), Some((to, new))) = (old.and_then(bits), new.and_then(bits)) else { return false };
    let becomes = |from, bits, to, wanted| {
        Widening::between(0, from, to, false).is_some_and(|widening| widening.bits(bits) == Some(wanted))
    };
    becomes(from, old, to, new) || becomes(to, new, from, old)
}

/// The vertices below `end` that are in exactly one of two ascending lists.
fn in_one_list(a: &[VertexId], b: &[VertexId], end: usize) -> Vec<VertexId> {
    let mut found = Vec::new();
    let (mut i, mut j) = (0, 0);
    loop {
        let order = match (a.get(i), b.get(j)) {
            (None, None) => break,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(a), Some(b)) => a.cmp(b),
        };
        match order {
            Ordering::Less => found.push(a[i]),
            Ordering::Greater => found.push(b[j]),
            Ordering::Equal => {}
        }
        i += usize::from(order != Ordering::Greater);
        j += usize::from(order != Ordering::Less);
    }
    found.retain(|&v| (v as usize) < end);
    found
}

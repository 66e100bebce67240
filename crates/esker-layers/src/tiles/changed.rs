//! Edges that a merge changes, sorted into groups of tiles.

use std::collections::BTreeMap;
use std::ops::Range;

use esker_format::Result;
use esker_format::memory::{push, reserve};
use esker_graph::{Tile, VertexId};

use super::strip::{place, tile_of};

/// The number of edges from one vertex to another before a merge and after it. An undirected edge leads from
/// the smaller end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangedEdge {
    /// Where the edges begin.
    pub source: VertexId,
    /// Where they end.
    pub target: VertexId,
    /// Their number before.
    pub before: u32,
    /// Their number after.
    pub after: u32,
}

/// Changed edges, and the values of those that are there after the merge.
#[derive(Debug, Clone, Default)]
pub struct TileChanges {
    /// The edges, each pair of vertices once.
    pub edges: Vec<ChangedEdge>,
    /// For each property of the tiles, the bits of the values, edge after edge.
    pub values: Vec<Vec<u64>>,
}

/// The changed edges of a row of groups, as far as they fit the memory: those of its first groups.
#[derive(Debug)]
pub struct ChangedRow {
    row: u32,
    group: u32,
    /// The columns of groups whose changes are kept.
    columns: Range<u32>,
    groups: BTreeMap<u32, ChangedGroup>,
    bytes: u64,
    bytes_max: u64,
}

/// The changed edges of a group.
#[derive(Debug, Default)]
pub(super) struct ChangedGroup {
    pub(super) edges: Vec<PlacedEdge>,
    pub(super) values: Vec<Vec<u64>>,
}

/// The edges at a position.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlacedEdge {
    pub(super) tile: Tile,
    pub(super) position: u32,
    /// Their number after the merge.
    pub(super) count: u32,
    /// The index of their first value.
    pub(super) value: usize,
}

impl PlacedEdge {
    pub(super) fn key(&self) -> (Tile, u32) {
        (self.tile, self.position)
    }
}

impl ChangedRow {
    /// No changes yet of a row of groups, in some columns of groups. They take at most `bytes_max`, or as
    /// much as those of one group.
    pub(super) fn new(row: u32, group: u32, columns: Range<u32>, bytes_max: u64) -> Self {
        Self { row, group, columns, groups: BTreeMap::new(), bytes: 0, bytes_max }
    }

    /// The row, the columns whose changes are known, and the changes.
    pub(super) fn into_parts(self) -> (u32, Range<u32>, BTreeMap<u32, ChangedGroup>) {
        (self.row, self.columns, self.groups)
    }

    /// Adds changes; those of other rows, or of groups that do not fit the memory, are left out.
    ///
    /// # Errors
    /// [`esker_format::Error::Invalid`] if memory runs out.
    pub fn add(&mut self, changes: &TileChanges) -> Result<()> {
        let mut value = 0;
        for &ChangedEdge { source, target, after, .. } in &changes.edges {
            let values = value..value + after as usize;
            value = values.end;
            let tile = tile_of(source, target);
            let column = tile.column / self.group;
            if tile.row / self.group != self.row || !self.columns.contains(&column) {
                continue;
            }
            let group = self.groups.entry(column).or_default();
            group.values.resize_with(changes.values.len(), Vec::new);
            let first = group.values.first().map_or(0, Vec::len);
            let position = place(source, target);
            push(&mut group.edges, PlacedEdge { tile, position, count: after, value: first })?;
            for (own, all) in group.values.iter_mut().zip(&changes.values) {
                reserve(own, values.len())?;
                own.extend_from_slice(&all[values.clone()]);
            }
            self.bytes += group.bytes_of(values.len());
            self.limit();
        }
        Ok(())
    }

    /// Gives up the last groups until the changes fit; one group stays.
    fn limit(&mut self) {
        while self.bytes > self.bytes_max && self.groups.len() > 1 {
            let Some((column, group)) = self.groups.pop_last() else { return };
            self.columns.end = column;
            let len = group.values.first().map_or(0, Vec::len);
            self.bytes -=
                group.edges.len() as u64 * group.bytes_of(0) + group.bytes_of(len) - group.bytes_of(0);
        }
    }
}

impl ChangedGroup {
    /// Bytes of an edge with this number of values; vectors may be twice as large as what is in them.
    fn bytes_of(&self, values: usize) -> u64 {
        2 * (size_of::<PlacedEdge>() + values * self.values.len() * size_of::<u64>()) as u64
    }
}

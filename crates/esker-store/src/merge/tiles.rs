//! Merges lists that are kept in tiles alone, one row of groups of tiles after another.
//!
//! Of the lists only their lengths, the codes of their versions and their properties are written. Where a
//! list may have changed, its old and its new form are compared, and what differs changes the tiles.

use parking_lot::Mutex;
use std::ops::Range;

use esker_format::{Error, Result};
use esker_graph::{Direction, Run, VertexId};
use esker_layers::layer::SectionWriter;
use esker_layers::tiles::{ChangedEdge, TileChanges, TileMerge};

use super::direction::{DirectionMerge, MergedRange};

/// Tiles that are merged with the lists.
pub(crate) struct TilesOfMerge<'t, 'a> {
    /// Where the groups go.
    pub(crate) tiles: &'t mut TileMerge<'a>,
    /// The numbers of the edge properties that tiles keep.
    pub(crate) properties: &'t [u32],
}

/// The vertices of a row of groups, cut into chunks of similar work.
struct RowChunks<'m, 'a> {
    merge: &'m DirectionMerge<'a>,
    vertices: Range<usize>,
    entries: Range<usize>,
    count: usize,
}

impl<'m, 'a> RowChunks<'m, 'a> {
    fn new(merge: &'m DirectionMerge<'a>, vertices: Range<usize>, chunk_entries: usize) -> Self {
        let entries = merge.entries_before(vertices.start)..merge.entries_before(vertices.end);
        let count = entries.len().div_ceil(chunk_entries).max(1);
        Self { merge, vertices, entries, count }
    }

    fn range(&self, chunk: usize) -> Range<usize> {
        let bound = |chunk: usize| {
            let share = (self.entries.len() as u128 * chunk as u128 / self.count as u128) as usize;
            let v = self.merge.vertex_at_entry(self.vertices.end, self.entries.start + share);
            v.clamp(self.vertices.start, self.vertices.end)
        };
        let end = if chunk + 1 == self.count { self.vertices.end } else { bound(chunk + 1) };
        (if chunk == 0 { self.vertices.start } else { bound(chunk) })..end
    }
}

/// Merges one direction. Its out-lists say how the tiles change.
pub(super) fn merge_with(
    merge: &DirectionMerge<'_>,
    chunk_entries: usize,
    run: &Run,
    section: &mut SectionWriter<'_>,
    with: &mut TilesOfMerge<'_, '_>,
) -> Result<()> {
    let TilesOfMerge { tiles, properties } = with;
    let (directed, direction) = (tiles.is_directed(), merge.direction);
    for (number, vertices) in tiles.rows().into_iter().enumerate() {
        let chunks = RowChunks::new(merge, vertices, chunk_entries);
        let changes = |merged: &MergedRange<'_>, range: Range<usize>| match direction {
            Direction::Out => changed_edges(merge, merged, range.start, properties, directed),
            Direction::In => TileChanges::default(),
        };
        let mut row = tiles.row(number);
        section.append_each(
            run,
            chunks.count,
            |chunk| {
                let range = chunks.range(chunk);
                let merged = merge.merge_range(range.clone(), |_| true)?;
                let changes = changes(&merged, range);
                Ok((merged.chunk, changes))
            },
            |chunk, changes| {
                tiles.add_degrees(direction, &chunk.main.ends)?;
                tiles.count(&changes)?;
                row.add(&changes)
            },
        )?;
        if direction == Direction::In {
            continue;
        }
        let mut rest = tiles.write(row)?;
        while let Some(row) = rest {
            // Not all changes of the row fitted the memory: its lists are merged again for the next ones.
            let row = Mutex::new(row);
            run.share(
                chunks.count,
                || (),
                |(), chunk| {
                    let range = chunks.range(chunk);
                    let changes = changes(&merge.merge_range(range.clone(), |_| true)?, range);
                    row.lock().add(&changes)?;
                    Ok::<(), Error>(())
                },
            )?;
            rest = tiles.write(row.into_inner())?;
        }
    }
    Ok(())
}

/// Compares the touched lists of a range of vertices, which begins at `first`, before and after the merge. An
/// undirected edge is told by the list of its smaller end.
fn changed_edges(
    merge: &DirectionMerge<'_>,
    merged: &MergedRange<'_>,
    first: usize,
    properties: &[u32],
    directed: bool,
) -> TileChanges {
    let mut changes = TileChanges { edges: Vec::new(), values: vec![Vec::new(); properties.len()] };
    let (base, main) = (&merge.inputs[0].main, &merged.chunk.main);
    for &v in &merged.touched {
        let slot = v as usize - first;
        let new =
            slot.checked_sub(1).map_or(0, |before| main.ends[before] as usize)..main.ends[slot] as usize;
        let is_known = (v as usize) < base.all.extents().len();
        let old = if is_known { base.range(v as usize) } else { 0..0 };
        let lists = ComparedLists {
            old: (old.start, merged.base.targets(old)),
            new: (new.start, &main.targets[new]),
        };
        lists.compare(v, merge, merged, properties, directed, &mut changes);
    }
    changes
}

/// A list before and after the merge: its first arc, and its targets.
struct ComparedLists<'a> {
    old: (usize, &'a [VertexId]),
    new: (usize, &'a [VertexId]),
}

impl ComparedLists<'_> {
    fn compare(
        &self,
        v: VertexId,
        merge: &DirectionMerge<'_>,
        merged: &MergedRange<'_>,
        properties: &[u32],
        directed: bool,
        changes: &mut TileChanges,
    ) {
        let ((old_start, old), (new_start, new)) = (self.old, self.new);
        let kept_from = |targets: &[VertexId]| {
            if directed { 0 } else { targets.partition_point(|&target| target < v) }
        };
        let (mut i, mut j) = (kept_from(old), kept_from(new));
        let old_bits = |property: u32, at: usize| {
            merge.properties[0].get(property as usize).map_or(0, |values| values.bits_at(old_start + at))
        };
        let new_bits = |property: u32| &merged.chunk.main.properties[property as usize];
        while let Some(&target) = old.get(i).into_iter().chain(new.get(j)).min() {
            let copies = |targets: &[VertexId]| targets.iter().take_while(|&&other| other == target).count();
            let (before, after) = (copies(&old[i..]), copies(&new[j..]));
            let is_same = before == after
                && properties.iter().all(|&property| {
                    let bits = new_bits(property);
                    (0..after).all(|copy| old_bits(property, i + copy) == bits[new_start + j + copy])
                });
            if !is_same {
                let edge = ChangedEdge { source: v, target, before: before as u32, after: after as u32 };
                changes.edges.push(edge);
                for (values, &property) in changes.values.iter_mut().zip(properties) {
                    values.extend_from_slice(&new_bits(property)[new_start + j..new_start + j + after]);
                }
            }
            (i, j) = (i + before, j + after);
        }
    }
}

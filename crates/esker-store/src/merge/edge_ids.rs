//! Gives ids to edges that a database had before it kept any.
//!
//! The copies of an edge in a list are numbered from 1, and after them the past ones. Both ends of an edge must give it the same id. Where all edges
//! are of the import, both lists have their copies in the order of the input. Else the copies are numbered in the order of their values and births:
//! copies that agree in these may change places unseen.

use std::ops::Range;

use esker_format::{EdgeId, Error, Result};
use esker_graph::VertexId;
use esker_layers::layer::{ArcChunk, SectionChunk};

/// Which ids the edges get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GivenIds {
    /// Those of the first version, in the order of the lists: all edges are of the import.
    Imported,
    /// Those of edges that are older than the ids.
    Older,
}

/// What decides on the place of an arc among those with the same ends.
type SortKey = (Vec<u64>, u32, u32);

impl GivenIds {
    /// Fills the last property of a chunk of a complete layer, which holds a list for each vertex of `range`.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there are too many edges between two vertices.
    pub(super) fn fill(self, chunk: &mut SectionChunk, range: Range<usize>) -> Result<()> {
        let SectionChunk { main, past, past_vertices, .. } = chunk;
        for list in 0..main.ends.len() {
            self.fill_list(main, list, |_| 0)?;
        }
        for (list, &v) in past_vertices.iter().enumerate() {
            let living = list_of(main, v as usize - range.start);
            let living = &main.targets[living];
            let count = |target| {
                let first = living.partition_point(|&other| other < target);
                living[first..].partition_point(|&other| other == target)
            };
            self.fill_list(past, list, count)?;
        }
        Ok(())
    }

    /// Numbers the copies of each edge of a list, from one more than `before` says of the target.
    fn fill_list(self, arcs: &mut ArcChunk, list: usize, before: impl Fn(VertexId) -> usize) -> Result<()> {
        let Range { mut start, end } = list_of(arcs, list);
        while start < end {
            let target = arcs.targets[start];
            let count = arcs.targets[start..end].partition_point(|&other| other == target);
            let mut order: Vec<usize> = (start..start + count).collect();
            if self == Self::Older && count > 1 {
                order.sort_by_cached_key(|&at| sort_key(arcs, at));
            }
            let first = before(target) + 1;
            for (place, at) in (first..).zip(order) {
                let id = EdgeId::new(u64::from(self == Self::Imported), place as u64).ok_or_else(too_many)?;
                if let Some(column) = arcs.properties.last_mut() {
                    column[at] = id.bits();
                }
            }
            start += count;
        }
        Ok(())
    }
}

/// Where a list of a chunk is.
fn list_of(arcs: &ArcChunk, list: usize) -> Range<usize> {
    list.checked_sub(1).map_or(0, |before| arcs.ends[before] as usize)..arcs.ends[list] as usize
}

fn sort_key(arcs: &ArcChunk, at: usize) -> SortKey {
    let code = |codes: &[u32]| codes.get(at).copied().unwrap_or(0);
    let (_, values) = arcs.properties.split_last().unwrap_or((&Vec::new(), &[]));
    (values.iter().map(|column| column[at]).collect(), code(&arcs.born), code(&arcs.died))
}

fn too_many() -> Error {
    Error::Invalid(format!(
        "more than {} edges lead from one vertex to another: so many cannot have ids",
        EdgeId::PLACE_MAX
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk() -> SectionChunk {
        let main = ArcChunk {
            ends: vec![3, 3, 5],
            targets: vec![1, 1, 4, 0, 0],
            born: vec![2, 1, 1, 1, 1],
            died: Vec::new(),
            properties: vec![vec![5, 6, 7, 9, 8], vec![0; 5]],
        };
        let past = ArcChunk {
            ends: vec![2],
            targets: vec![0, 6],
            born: vec![1, 1],
            died: vec![2, 2],
            properties: vec![vec![1, 2], vec![0; 2]],
        };
        SectionChunk { main, past, past_vertices: vec![12], ..SectionChunk::default() }
    }

    fn ids(column: &[u64]) -> Vec<String> {
        column.iter().map(|&bits| EdgeId::from_bits(bits).to_string()).collect()
    }

    #[test]
    fn copies_are_numbered_in_the_order_of_the_input_or_of_values_and_births() {
        let mut imported = chunk();
        GivenIds::Imported.fill(&mut imported, 10..13).unwrap();
        assert_eq!(ids(&imported.main.properties[1]), ["v1.1", "v1.2", "v1.1", "v1.1", "v1.2"]);
        let mut older = chunk();
        GivenIds::Older.fill(&mut older, 10..13).unwrap();
        assert_eq!(ids(&older.main.properties[1]), ["v0.1", "v0.2", "v0.1", "v0.2", "v0.1"]);
        assert_eq!(ids(&older.past.properties[1]), ["v0.3", "v0.1"]);
    }
}

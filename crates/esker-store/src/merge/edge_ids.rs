//! Gives ids to edges that a database had before it kept any.
//!
//! Both ends of an edge must give it the same id. Where all edges are of the import, both lists have their
//! copies in the order of the input, and are numbered so. Else the lists of both ends may tell different
//! histories of copies with equal values: where one of two was removed, it may be the older one in one list
//! and the younger one in the other. Versions cannot tell them apart, so both lists are given the same
//! history here, in which the oldest of equal copies is the first to go. Copies are then numbered by their
//! values, those that live before those that died.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use esker_format::{EdgeId, Error, Result};
use esker_graph::{VertexId, vertex};
use esker_layers::layer::{ArcChunk, SectionChunk};

/// Which ids the edges get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GivenIds {
    /// Those of the first version, in the order of the lists: all edges are of the import.
    Imported,
    /// Those of edges that are older than the ids.
    Older,
}

/// Copies of an edge with equal values.
#[derive(Debug, Default)]
struct EqualCopies {
    /// The indexes of those that live.
    alive: Vec<usize>,
    /// The version codes of the births and deaths of those that died.
    past: Vec<(u32, u32)>,
}

impl GivenIds {
    /// Fills the last property of a chunk of a complete layer, which holds a list for each vertex of `range`.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there are too many edges between two vertices.
    pub(super) fn fill(self, chunk: &mut SectionChunk, range: Range<usize>) -> Result<()> {
        match self {
            Self::Imported => number_in_order(&mut chunk.main),
            Self::Older => number_older(chunk, range),
        }
    }
}

/// Numbers the copies of each edge in the order of the lists.
fn number_in_order(main: &mut ArcChunk) -> Result<()> {
    for list in 0..main.ends.len() {
        let mut place = 0;
        for at in list_of(main, list) {
            let is_copy = at > list_of(main, list).start && main.targets[at - 1] == main.targets[at];
            place = if is_copy { place + 1 } else { 1 };
            set_id(main, at, 1, place)?;
        }
    }
    Ok(())
}

/// Numbers all copies of each edge by their values, and gives those with equal values the same history in the
/// lists of both ends.
fn number_older(chunk: &mut SectionChunk, range: Range<usize>) -> Result<()> {
    let SectionChunk { main, past, past_vertices, .. } = chunk;
    let mut new_past =
        ArcChunk { properties: vec![Vec::new(); past.properties.len()], ..ArcChunk::default() };
    let (mut new_past_vertices, mut next_past) = (Vec::new(), 0);
    for (list, v) in range.map(vertex).enumerate() {
        let has_past = past_vertices.get(next_past) == Some(&v);
        let mut gone = if has_past { list_of(past, next_past) } else { 0..0 };
        next_past += usize::from(has_past);
        let mut alive = list_of(main, list);
        while let Some(&target) =
            main.targets[alive.clone()].iter().take(1).chain(past.targets[gone.clone()].iter().take(1)).min()
        {
            let own = take_copies(&main.targets, &mut alive, target);
            let own_past = take_copies(&past.targets, &mut gone, target);
            number_copies(main, own, past, own_past, &mut new_past)?;
        }
        if new_past.list_start() < new_past.targets.len() {
            new_past_vertices.push(v);
            new_past.end_list();
        }
    }
    (chunk.past, chunk.past_vertices) = (new_past, new_past_vertices);
    Ok(())
}

/// Numbers the copies of one edge, the living ones of `main` and the dead ones of `past`, and appends those
/// that died to `new_past`.
fn number_copies(
    main: &mut ArcChunk,
    alive: Range<usize>,
    past: &ArcChunk,
    dead: Range<usize>,
    new_past: &mut ArcChunk,
) -> Result<()> {
    let mut copies: BTreeMap<Vec<u64>, EqualCopies> = BTreeMap::new();
    for at in alive {
        copies.entry(values_of(main, at)).or_default().alive.push(at);
    }
    let target = past.targets.get(dead.start).copied();
    for at in dead {
        copies.entry(values_of(past, at)).or_default().past.push((past.born[at], past.died[at]));
    }
    let mut place = 0;
    for (values, EqualCopies { alive, past }) in copies {
        let births = alive.iter().map(|&at| main.born.get(at).copied().unwrap_or(0));
        let (births, deaths) = first_to_go(births, &past);
        for (at, born) in alive.into_iter().zip(births) {
            if let Some(own) = main.born.get_mut(at) {
                *own = born;
            }
            place += 1;
            set_id(main, at, 0, place)?;
        }
        for ((born, died), target) in deaths.into_iter().zip(target.into_iter().cycle()) {
            new_past.targets.push(target);
            new_past.born.push(born);
            new_past.died.push(died);
            new_past
                .properties
                .iter_mut()
                .zip(values.iter().chain([&0]))
                .for_each(|(column, &bits)| column.push(bits));
            place += 1;
            set_id(new_past, new_past.targets.len() - 1, 0, place)?;
        }
    }
    Ok(())
}

/// The history of equal copies in which the oldest is the first to go: the births of those that live, and the
/// births and deaths of the others. A copy that comes when another goes is the other one.
fn first_to_go(births: impl Iterator<Item = u32>, past: &[(u32, u32)]) -> (VecDeque<u32>, Vec<(u32, u32)>) {
    let mut changes: BTreeMap<u32, i64> = BTreeMap::new();
    // What is older than the versions of the layer is there from their first one on.
    births
        .chain(past.iter().map(|copy| copy.0))
        .for_each(|born| *changes.entry(born.max(1)).or_default() += 1);
    past.iter().for_each(|copy| *changes.entry(copy.1).or_default() -= 1);
    let (mut alive, mut gone) = (VecDeque::new(), Vec::new());
    for (code, change) in changes {
        alive.extend((0..change).map(|_| code));
        let count = usize::try_from(-change).unwrap_or(0).min(alive.len());
        gone.extend(alive.drain(..count).map(|born| (born, code)));
    }
    (alive, gone)
}

/// Cuts off the arcs to a target at the start of a list.
fn take_copies(targets: &[VertexId], list: &mut Range<usize>, target: VertexId) -> Range<usize> {
    let count = targets[list.clone()].partition_point(|&other| other == target);
    let copies = list.start..list.start + count;
    list.start = copies.end;
    copies
}

/// Where a list of a chunk is.
fn list_of(arcs: &ArcChunk, list: usize) -> Range<usize> {
    list.checked_sub(1).map_or(0, |before| arcs.ends[before] as usize)..arcs.ends[list] as usize
}

/// The values of an arc other than its id.
fn values_of(arcs: &ArcChunk, at: usize) -> Vec<u64> {
    let (_, others) = arcs.properties.split_last().unwrap_or((&Vec::new(), &[]));
    others.iter().map(|column| column[at]).collect()
}

fn set_id(arcs: &mut ArcChunk, at: usize, version: u64, place: u64) -> Result<()> {
    let id = EdgeId::new(version, place).ok_or_else(|| {
        Error::invalid(format!(
            "more than {} edges lead from one vertex to another: so many cannot have ids",
            EdgeId::PLACE_MAX
        ))
    })?;
    arcs.properties.last_mut().into_iter().for_each(|column| column[at] = id.bits());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(column: &[u64]) -> Vec<String> {
        column.iter().map(|&bits| EdgeId::from_bits(bits).to_string()).collect()
    }

    fn main() -> ArcChunk {
        ArcChunk {
            ends: vec![3, 3, 5],
            targets: vec![1, 1, 4, 0, 0],
            born: vec![1, 1, 1, 1, 3],
            died: Vec::new(),
            properties: vec![vec![6, 5, 7, 8, 8], vec![0; 5]],
        }
    }

    #[test]
    fn the_copies_of_an_import_are_numbered_in_its_order() {
        let mut chunk = SectionChunk { main: main(), ..SectionChunk::default() };
        GivenIds::Imported.fill(&mut chunk, 10..13).unwrap();
        assert_eq!(ids(&chunk.main.properties[1]), ["v1.1", "v1.2", "v1.1", "v1.1", "v1.2"]);
    }

    #[test]
    fn older_copies_are_numbered_by_their_values_and_the_oldest_of_equal_ones_goes_first() {
        let past = ArcChunk {
            ends: vec![1, 4],
            targets: vec![9, 0, 0, 6],
            born: vec![1, 1, 2, 1],
            died: vec![2, 2, 4, 2],
            properties: vec![vec![3, 7, 8, 2], vec![0; 4]],
        };
        let mut chunk =
            SectionChunk { main: main(), past, past_vertices: vec![11, 12], ..SectionChunk::default() };
        GivenIds::Older.fill(&mut chunk, 10..13).unwrap();
        let SectionChunk { main, past, past_vertices, .. } = chunk;
        assert_eq!(ids(&main.properties[1]), ["v0.2", "v0.1", "v0.1", "v0.2", "v0.3"]);
        // Of those with the value 8, which came in 1, 2 and 3, the first went in 4, not the second.
        assert_eq!(main.born, [1, 1, 1, 2, 3]);
        assert_eq!((past_vertices, past.ends, past.targets), (vec![11, 12], vec![1, 4], vec![9, 0, 0, 6]));
        assert_eq!((past.born, past.died), (vec![1, 1, 1, 1], vec![2, 2, 4, 2]));
        assert_eq!(ids(&past.properties[1]), ["v0.1", "v0.1", "v0.4", "v0.1"]);
        assert_eq!(past.properties[0], [3, 7, 8, 2]);
    }

    #[test]
    fn a_copy_that_comes_when_an_equal_one_goes_is_the_same() {
        let (alive, gone) = first_to_go([3, 0].into_iter(), &[(1, 3), (2, 5)]);
        assert_eq!((alive.into_iter().collect::<Vec<_>>(), gone), (vec![1, 2], vec![(1, 5)]));
    }
}

//! Merges the fragments of vertices that only gain arcs, input by input.
//!
//! When layers above the complete one are merged, nearly all vertices have a few fragments of a few arcs, and
//! all of these arcs stay alive. Merging vertex by vertex would take a dozen reads in as many columns for
//! each fragment. So this module reads each column of each input from start to end and places the arcs at
//! their vertex's position in the merged columns, then sorts the lists that come from several fragments in
//! place. The remaining vertices are merged one by one (`vertices`) beforehand and copied in between.
//!
//! Time: linear in the entries and in the vertices of the range. Memory: 40 bytes a vertex of the range in
//! addition to the merged lists.

use std::ops::Range;

use esker_format::Result;
use esker_format::memory::filled;
use esker_graph::{VertexId, vertex};
use esker_layers::layer::{ArcChunk, SectionChunk};

use super::direction::DirectionMerge;
use super::input::MergeInput;

/// Lists of at most this length are sorted by insertion.
const INSERTED_LEN_MAX: usize = 24;

/// The list that the fragments of a vertex add up to.
#[derive(Clone, Copy, Default)]
struct MergedList {
    /// The number of arcs.
    len: usize,
    /// Where the next arcs go.
    next: usize,
    /// The link of the oldest fragment to the next older one.
    previous: u64,
    /// The degree according to the newest fragment.
    degree: VertexId,
    fragments: u32,
    /// Whether the vertex is merged on its own.
    is_separate: bool,
}

/// The arcs of a fragment, and where they go.
struct ArcRun {
    to: usize,
    arcs: Range<usize>,
}

/// The bulk merge of a range of vertices.
struct BulkMerge<'d, 'a> {
    merge: &'d DirectionMerge<'a>,
    range: Range<usize>,
    lists: Vec<MergedList>,
}

/// Merges a range of vertices of layers that are not complete, in a merge that undoes nothing.
///
/// # Errors
/// [`esker_format::Error::Corrupt`]; [`esker_format::Error::Invalid`] if memory runs out.
pub(super) fn merge_bulk(merge: &DirectionMerge<'_>, range: Range<usize>) -> Result<SectionChunk> {
    let lists = filled(MergedList::default(), range.len())?;
    let mut bulk = BulkMerge { merge, range, lists };
    bulk.choose();
    let merged = merge
        .merge_vertices(bulk.range.clone(), |v| bulk.lists[v as usize - bulk.range.start].is_separate)?;
    bulk.add_up();
    let (mut chunk, unsorted) = bulk.lay_out(merged)?;
    for position in 0..merge.inputs.len() {
        bulk.put(position, &mut chunk.main)?;
    }
    for list in unsorted {
        sort(&mut chunk.main, list)?;
    }
    Ok(chunk)
}

impl BulkMerge<'_, '_> {
    fn slots(&self, input: &MergeInput<'_>) -> Range<usize> {
        input.main.slot_from(self.range.start)..input.main.slot_from(self.range.end)
    }

    /// Finds the vertices to merge on their own: those with tombstones, past arcs or whole fragments.
    fn choose(&mut self) {
        let start = self.range.start;
        for input in &self.merge.inputs {
            let dead = input.dead.as_ref().map(|dead| &dead.lists);
            for lists in dead.into_iter().chain(input.past.as_ref().map(|past| &past.lists)) {
                let slots = lists.slot_from(start)..lists.slot_from(self.range.end);
                for &v in &lists.vertices[slots] {
                    self.lists[v as usize - start].is_separate = true;
                }
            }
            let slots = self.slots(input);
            let links = input.main.vertices[slots.clone()].iter().zip(&input.previous[slots]);
            for (&v, &previous) in links {
                self.lists[v as usize - start].is_separate |= previous == 0;
            }
        }
    }

    /// Adds up the fragments of each vertex, oldest first.
    fn add_up(&mut self) {
        let start = self.range.start;
        for input in &self.merge.inputs {
            for slot in self.slots(input) {
                let list = &mut self.lists[input.main.vertices[slot] as usize - start];
                if list.fragments == 0 {
                    list.previous = input.previous[slot];
                }
                list.fragments += 1;
                list.len += input.main.range(slot).len();
                list.degree = input.degrees[slot];
            }
        }
    }

    /// Allocates the merged columns and copies into them the vertices merged on their own. Returns the
    /// columns, and the lists to sort.
    fn lay_out(&mut self, merged: SectionChunk) -> Result<(SectionChunk, Vec<Range<usize>>)> {
        let mut chunk = SectionChunk::default();
        let (mut total, mut unsorted, mut moves) = (0, Vec::new(), Vec::new());
        let mut next_merged = 0;
        for (index, list) in self.lists.iter_mut().enumerate() {
            let v = vertex(self.range.start + index);
            if list.is_separate {
                // The merged vertex may have no entries left.
                if merged.vertices.get(next_merged) != Some(&v) {
                    continue;
                }
                let first = next_merged.checked_sub(1).map_or(0, |last| merged.main.ends[last] as usize);
                let arcs = first..merged.main.ends[next_merged] as usize;
                (list.degree, list.previous) = (merged.degrees[next_merged], merged.previous[next_merged]);
                list.len = arcs.len();
                moves.push(ArcRun { to: total, arcs });
                next_merged += 1;
            } else if list.len == 0 {
                continue;
            } else if list.fragments > 1 {
                unsorted.push(total..total + list.len);
            }
            list.next = total;
            total += list.len;
            chunk.vertices.push(v);
            chunk.degrees.push(list.degree);
            chunk.previous.push(list.previous);
            chunk.main.ends.push(total as u64);
        }
        let main = &mut chunk.main;
        main.targets = filled(0, total)?;
        main.born = filled(0, if self.merge.versions.len() > 1 { total } else { 0 })?;
        let properties = (0..self.merge.num_properties).map(|_| filled(0, total));
        main.properties = properties.collect::<Result<_>>()?;
        for ArcRun { to, arcs } in moves {
            let to = to..to + arcs.len();
            main.targets[to.clone()].copy_from_slice(&merged.main.targets[arcs.clone()]);
            if !main.born.is_empty() {
                main.born[to.clone()].copy_from_slice(&merged.main.born[arcs.clone()]);
            }
            for (bits, own) in main.properties.iter_mut().zip(&merged.main.properties) {
                bits[to.clone()].copy_from_slice(&own[arcs.clone()]);
            }
        }
        let SectionChunk { dead_vertices, dead, past_vertices, past, .. } = merged;
        Ok((SectionChunk { dead_vertices, dead, past_vertices, past, ..chunk }, unsorted))
    }

    /// Places the arcs of an input.
    fn put(&mut self, position: usize, main: &mut ArcChunk) -> Result<()> {
        let input = &self.merge.inputs[position];
        let slots = self.slots(input);
        let mut runs = Vec::with_capacity(slots.len());
        for slot in slots {
            let list = &mut self.lists[input.main.vertices[slot] as usize - self.range.start];
            if !list.is_separate {
                let arcs = input.main.range(slot);
                let to = list.next;
                list.next += arcs.len();
                for (target, &other) in
                    main.targets[to..list.next].iter_mut().zip(&input.main.targets[arcs.clone()])
                {
                    *target = other;
                }
                runs.push(ArcRun { to, arcs });
            }
        }
        if !main.born.is_empty() {
            for ArcRun { to, arcs } in &runs {
                for (born, at) in main.born[*to..to + arcs.len()].iter_mut().zip(arcs.clone()) {
                    *born = match input.born {
                        Some(codes) => input.code(codes.at(at))?,
                        None => input.first_code(),
                    };
                }
            }
        }
        // A property defined later has no values here.
        for (bits, values) in main.properties.iter_mut().zip(&self.merge.properties[2 * position]) {
            values.put_bits(runs.iter().map(|run| (run.to, run.arcs.clone())), bits);
        }
        Ok(())
    }
}

/// Sorts a list with its parallel columns. Copies of an edge keep the order in which they were added.
fn sort(main: &mut ArcChunk, list: Range<usize>) -> Result<()> {
    let targets = &mut main.targets[list.clone()];
    if targets.is_sorted() {
        return Ok(());
    }
    if targets.len() > INSERTED_LEN_MAX {
        return sort_long(main, list);
    }
    for sorted in list.start + 1..list.end {
        let mut at = sorted;
        while at > list.start && main.targets[at - 1] > main.targets[at] {
            main.targets.swap(at - 1, at);
            if !main.born.is_empty() {
                main.born.swap(at - 1, at);
            }
            main.properties.iter_mut().for_each(|bits| bits.swap(at - 1, at));
            at -= 1;
        }
    }
    Ok(())
}

fn sort_long(main: &mut ArcChunk, list: Range<usize>) -> Result<()> {
    let mut order = filled((0, 0), list.len())?;
    for (index, (entry, &target)) in order.iter_mut().zip(&main.targets[list.clone()]).enumerate() {
        *entry = (target, index);
    }
    // A merge sort suits sorted runs; equal targets keep their order by index.
    order.sort();
    let mut spare = filled(0, list.len())?;
    for (target, entry) in main.targets[list.clone()].iter_mut().zip(&order) {
        *target = entry.0;
    }
    if !main.born.is_empty() {
        let own = &mut main.born[list.clone()];
        let moved: Vec<u32> = order.iter().map(|&(_, index)| own[index]).collect();
        own.copy_from_slice(&moved);
    }
    for bits in &mut main.properties {
        let own = &mut bits[list.clone()];
        spare.iter_mut().zip(&order).for_each(|(bits, &(_, index))| *bits = own[index]);
        own.copy_from_slice(&spare);
    }
    Ok(())
}

//! Merging the fragments of vertices that only gain arcs, input by input.
//!
//! Where layers over the complete one are merged, nearly all vertices have a few fragments of a few arcs, and none of them has a history: all of
//! their arcs go on. Vertex by vertex, each fragment would mean a dozen reads in as many columns. So here each column of each input is
//! read from its start to its end, and the arcs are put where their vertex stands in the merged columns; the lists that come
//! from several fragments are then sorted in place. The other vertices are merged one by one (`weave`) before, and copied in between.
//!
//! Time: by the entries, and by the vertices of the range. Memory: 40 bytes a vertex of the range besides the merged lists.

use std::ops::Range;

use esker_graph::{VertexId, vertex};

use super::input::Input;
use super::weave::Direct;
use crate::error::Result;
use crate::layer::{ArcChunk, SectionChunk};
use crate::memory::filled;

/// Lists up to this length are sorted by insertion.
const INSERTED_LEN_MAX: usize = 24;

/// What the fragments of a vertex add up to.
#[derive(Clone, Copy, Default)]
struct Sum {
    /// Arcs.
    len: usize,
    /// Where the next of them goes.
    next: usize,
    /// Where the list goes on behind the oldest fragment.
    previous: u64,
    /// Length of the whole list after the newest.
    degree: VertexId,
    fragments: u32,
    /// Whether the vertex is merged by itself.
    is_woven: bool,
}

/// A fragment: where its arcs go, and where they are.
struct Run {
    to: usize,
    arcs: Range<usize>,
}

/// The vertices of a range.
struct Bulk<'d, 'a> {
    direct: &'d Direct<'a>,
    range: Range<usize>,
    sums: Vec<Sum>,
}

/// Merges the vertices of a range of layers that are not complete, and of which nothing is undone.
///
/// # Errors
/// [`crate::Error::Corrupt`]; [`crate::Error::Invalid`] if there is no memory.
pub(super) fn merge_bulk(direct: &Direct<'_>, range: Range<usize>) -> Result<SectionChunk> {
    let sums = filled(Sum::default(), range.len())?;
    let mut bulk = Bulk { direct, range, sums };
    bulk.choose();
    let woven = direct.weave(bulk.range.clone(), |v| bulk.sums[v as usize - bulk.range.start].is_woven)?;
    bulk.add_up();
    let (mut chunk, unsorted) = bulk.lay_out(woven)?;
    for position in 0..direct.inputs.len() {
        bulk.put(position, &mut chunk.main)?;
    }
    for list in unsorted {
        sort(&mut chunk.main, list)?;
    }
    Ok(chunk)
}

impl Bulk<'_, '_> {
    fn slots(&self, input: &Input<'_>) -> Range<usize> {
        input.main.slot_from(self.range.start)..input.main.slot_from(self.range.end)
    }

    /// Finds the vertices that are merged by themselves: with arcs that died, or fragments that stand for whole lists.
    fn choose(&mut self) {
        let start = self.range.start;
        for input in &self.direct.inputs {
            let dead = input.dead.as_ref().map(|dead| &dead.lists);
            for lists in dead.into_iter().chain(input.past.as_ref().map(|past| &past.lists)) {
                let slots = lists.slot_from(start)..lists.slot_from(self.range.end);
                for &v in &lists.vertices[slots] {
                    self.sums[v as usize - start].is_woven = true;
                }
            }
            let slots = self.slots(input);
            let links = input.main.vertices[slots.clone()].iter().zip(&input.previous[slots]);
            for (&v, &previous) in links {
                self.sums[v as usize - start].is_woven |= previous == 0;
            }
        }
    }

    /// Adds the fragments of the others up, oldest first.
    fn add_up(&mut self) {
        let start = self.range.start;
        for input in &self.direct.inputs {
            for slot in self.slots(input) {
                let sum = &mut self.sums[input.main.vertices[slot] as usize - start];
                if sum.fragments == 0 {
                    sum.previous = input.previous[slot];
                }
                sum.fragments += 1;
                sum.len += input.main.range(slot).len();
                sum.degree = input.degrees[slot];
            }
        }
    }

    /// The merged columns: those vertices are in that were merged by themselves, for the arcs of the others there is room. With the lists that
    /// are to be sorted.
    fn lay_out(&mut self, woven: SectionChunk) -> Result<(SectionChunk, Vec<Range<usize>>)> {
        let mut chunk = SectionChunk::default();
        let (mut total, mut unsorted, mut moves) = (0, Vec::new(), Vec::new());
        let mut next_woven = 0;
        for (index, sum) in self.sums.iter_mut().enumerate() {
            let v = vertex(self.range.start + index);
            if sum.is_woven {
                // Nothing may be left of it.
                if woven.vertices.get(next_woven) != Some(&v) {
                    continue;
                }
                let first = next_woven.checked_sub(1).map_or(0, |last| woven.main.ends[last] as usize);
                let arcs = first..woven.main.ends[next_woven] as usize;
                (sum.degree, sum.previous) = (woven.degrees[next_woven], woven.previous[next_woven]);
                sum.len = arcs.len();
                moves.push(Run { to: total, arcs });
                next_woven += 1;
            } else if sum.len == 0 {
                continue;
            } else if sum.fragments > 1 {
                unsorted.push(total..total + sum.len);
            }
            sum.next = total;
            total += sum.len;
            chunk.vertices.push(v);
            chunk.degrees.push(sum.degree);
            chunk.previous.push(sum.previous);
            chunk.main.ends.push(total as u64);
        }
        let main = &mut chunk.main;
        main.targets = filled(0, total)?;
        main.born = filled(0, if self.direct.told.len() > 1 { total } else { 0 })?;
        let properties = (0..self.direct.num_properties).map(|_| filled(0, total));
        main.properties = properties.collect::<Result<_>>()?;
        for Run { to, arcs } in moves {
            let to = to..to + arcs.len();
            main.targets[to.clone()].copy_from_slice(&woven.main.targets[arcs.clone()]);
            if !main.born.is_empty() {
                main.born[to.clone()].copy_from_slice(&woven.main.born[arcs.clone()]);
            }
            for (bits, own) in main.properties.iter_mut().zip(&woven.main.properties) {
                bits[to.clone()].copy_from_slice(&own[arcs.clone()]);
            }
        }
        let SectionChunk { dead_vertices, dead, past_vertices, past, .. } = woven;
        Ok((SectionChunk { dead_vertices, dead, past_vertices, past, ..chunk }, unsorted))
    }

    /// Puts the arcs of an input where they belong.
    fn put(&mut self, position: usize, main: &mut ArcChunk) -> Result<()> {
        let input = &self.direct.inputs[position];
        let slots = self.slots(input);
        let mut runs = Vec::with_capacity(slots.len());
        for slot in slots {
            let sum = &mut self.sums[input.main.vertices[slot] as usize - self.range.start];
            if !sum.is_woven {
                let arcs = input.main.range(slot);
                let to = sum.next;
                sum.next += arcs.len();
                for (target, &other) in
                    main.targets[to..sum.next].iter_mut().zip(&input.main.targets[arcs.clone()])
                {
                    *target = other;
                }
                runs.push(Run { to, arcs });
            }
        }
        if !main.born.is_empty() {
            for Run { to, arcs } in &runs {
                for (born, at) in main.born[*to..to + arcs.len()].iter_mut().zip(arcs.clone()) {
                    *born = match input.born {
                        Some(codes) => input.code(codes.at(at))?,
                        None => input.first_code(),
                    };
                }
            }
        }
        // A property that was defined later has no values here.
        for (bits, values) in main.properties.iter_mut().zip(&self.direct.properties[2 * position]) {
            values.put_bits(runs.iter().map(|run| (run.to, run.arcs.clone())), bits);
        }
        Ok(())
    }
}

/// Sorts a list, with what stands beside it. Copies of an edge stay in the order in which they were added.
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
    // Some sorted runs; equal targets by place.
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

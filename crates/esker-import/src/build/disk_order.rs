//! The vertex order when arrays over the vertices do not fit in memory: by sorting on disk.

use esker_format::Result;
use esker_graph::VertexId;

use crate::build::edges::{EdgeBuffer, Edges};
use crate::build::order::{DEGREE_CLASSES, choose, hot_degree, sample};
use crate::options::{NumberingOrder, OrderChoice, Tracker};
use crate::sort::external::Sorter;
use crate::sort::scratch::Workspace;
use crate::sort::spool::Spool;

/// One end of an edge: `at` is twice the index of the edge, plus one for its target.
#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct EdgeEnd {
    vertex: u64,
    at: u64,
}

/// Chooses the order and, if it is by degree, puts the new numbers in place of the old in `edges`; returns
/// the new number of each vertex, in order.
///
/// The ends of all edges are sorted by vertex, which gives the degrees; (degree, vertex) pairs are sorted
/// into the order; its inverse is joined with the sorted ends, and those are sorted back into the order of
/// the edges.
pub(crate) fn order_on_disk(
    work: &Workspace,
    edges: &mut Edges,
    wanted: NumberingOrder,
    tracker: &Tracker,
) -> Result<(OrderChoice, Option<Spool<VertexId>>)> {
    let share = work.budget.free_bytes() / 4;
    let mut ends = Sorter::new(work, "ordering the vertices", share, |end: &EdgeEnd| end.vertex)?;
    let mut buffer = EdgeBuffer::default();
    for block in 0..edges.num_blocks() {
        work.check()?;
        let mut at = 2 * edges.block_start(block);
        edges.for_each(block, &mut buffer, |u, v| {
            ends.push(EdgeEnd { vertex: u64::from(u), at })?;
            ends.push(EdgeEnd { vertex: u64::from(v), at: at + 1 })?;
            at += 2;
            Ok(())
        })?;
        tracker.advance(edges.block_len(block) as u64, 0);
    }
    let ends = ends.finish()?;
    let mut degrees = Spool::<u32>::new(work, u64::MAX);
    count(edges.num_vertices, |visit| ends.for_each(|end| visit(end.vertex)), |degree| degrees.push(degree))?;
    degrees.finish()?;
    let choice = match wanted {
        NumberingOrder::Auto => choose_on_disk(work, edges, &degrees)?,
        _ => OrderChoice { order: NumberingOrder::Degree, reason: "as asked for".to_owned() },
    };
    if choice.order != NumberingOrder::Degree {
        return Ok((choice, None));
    }
    let renumbered = by_degree_on_disk(work, &degrees, share)?;
    drop(degrees);

    let mut back = Sorter::new(work, "ordering the vertices", share, |end: &EdgeEnd| end.at)?;
    let mut numbers = renumbered.cursor();
    let (mut vertex, mut number) = (0, numbers.next_record()?);
    ends.for_each(|end| {
        while vertex < end.vertex {
            number = numbers.next_record()?;
            vertex += 1;
        }
        back.push(EdgeEnd { vertex: u64::from(number.unwrap_or_default()), at: end.at })
    })?;
    drop(ends);
    let back = back.finish()?;
    let mut pairs = Spool::new(work, u64::MAX);
    let mut source = 0;
    back.for_each(|end| {
        let number = end.vertex as VertexId;
        if end.at % 2 == 0 {
            source = number;
            return Ok(());
        }
        pairs.push([source, number])
    })?;
    pairs.finish()?;
    edges.renumber(pairs);
    Ok((choice, Some(renumbered)))
}

/// Counts how often each of `0..num_vertices` occurs in an ascending sequence.
fn count(
    num_vertices: u64,
    sequence: impl FnOnce(&mut dyn FnMut(u64) -> Result<()>) -> Result<()>,
    mut put: impl FnMut(u32) -> Result<()>,
) -> Result<()> {
    let (mut vertex, mut degree) = (0, 0u32);
    sequence(&mut |next| {
        while vertex < next {
            put(std::mem::take(&mut degree))?;
            vertex += 1;
        }
        degree = degree.saturating_add(1);
        Ok(())
    })?;
    while vertex < num_vertices {
        put(std::mem::take(&mut degree))?;
        vertex += 1;
    }
    Ok(())
}

fn choose_on_disk(work: &Workspace, edges: &Edges, degrees: &Spool<u32>) -> Result<OrderChoice> {
    let mut classes = vec![0u64; DEGREE_CLASSES];
    degrees.for_each(|degree| {
        classes[(degree as usize).min(DEGREE_CLASSES - 1)] += 1;
        Ok(())
    })?;
    let sample = sample(work, edges)?;
    let mut vertices: Vec<VertexId> = sample.as_flattened().to_vec();
    vertices.sort_unstable();
    vertices.dedup();
    let mut known = Vec::with_capacity(vertices.len());
    let mut vertex = 0;
    degrees.for_each(|degree| {
        if vertices.get(known.len()).is_some_and(|&v| u64::from(v) == vertex) {
            known.push(degree);
        }
        vertex += 1;
        Ok(())
    })?;
    let degree_of = |v| vertices.binary_search(&v).map_or(0, |at| known[at]);
    Ok(choose(&sample, edges.num_vertices, hot_degree(&classes, edges.num_vertices), degree_of))
}

/// The number of each vertex by descending degree, ties by the number that they had.
fn by_degree_on_disk(work: &Workspace, degrees: &Spool<u32>, memory_bytes: u64) -> Result<Spool<VertexId>> {
    let mut ranked = Sorter::new(work, "ordering the vertices", memory_bytes, |end: &EdgeEnd| end.at)?;
    let mut vertex = 0;
    degrees.for_each(|degree| {
        let descending = u64::from(u32::MAX - degree);
        vertex += 1;
        ranked.push(EdgeEnd { vertex: vertex - 1, at: descending })
    })?;
    let ranked = ranked.finish()?;
    let mut inverse = Sorter::new(work, "ordering the vertices", memory_bytes, |end: &EdgeEnd| end.vertex)?;
    let mut number = 0;
    ranked.for_each(|end| {
        number += 1;
        inverse.push(EdgeEnd { vertex: end.vertex, at: number - 1 })
    })?;
    drop(ranked);
    let mut renumbered = Spool::new(work, u64::MAX);
    inverse.finish()?.for_each(|end| renumbered.push(end.at as VertexId))?;
    renumbered.finish()?;
    Ok(renumbered)
}

//! The degrees of the vertices of several graphs over the same vertices.
//!
//! One pass over the lists: the slot of an arc adds a byte of 0 or 1 to the count of each graph, 64 of them
//! at once. Memory: 4 bytes a vertex and graph, and 8 bytes a vertex for the graph that is handed over.

use esker_graph::{Direction, Rows, Run, Stop, vertex};
use rayon::prelude::*;

use super::lanes::{LANES, lanes_of};
use super::series::GraphSeries;
use crate::algorithm::centrality::degrees::DegreeOf;
use crate::primitive::{VectorLoop, with_vectors};

/// Vertices whose counts fit in a cache, for all graphs.
const GRAIN: usize = 1 << 10;
/// Arcs after which a byte may be full.
const BLOCK: usize = u8::MAX as usize;

/// Calls `visit` with each graph, in order, and the degree of every vertex. Counts of a graph are below 2^32.
///
/// # Errors
/// [`Stop::Unsuitable`] for edges that come to vertices of a directed series without in-lists;
/// [`Stop::OverBudget`]; cancellation; what `visit` returns.
pub fn degrees<E: From<Stop>>(
    series: &GraphSeries<'_>,
    of: DegreeOf,
    run: &Run,
    mut visit: impl FnMut(usize, Vec<u64>) -> Result<(), E>,
) -> Result<(), E> {
    let (n, len) = (series.num_vertices(), series.len());
    let run = &run.begin("degrees of several graphs", n as u64 * (4 * len as u64 + 8))?;
    run.round(n)?;
    let mut lists = Vec::new();
    for &direction in of.directions(!series.is_undirected()) {
        let rows = if direction == Direction::Out { Some(series.out()) } else { series.received() };
        let missing = || Stop::unsuitable("in-degrees of several graphs need in-lists".to_owned());
        lists.push(rows.ok_or_else(missing)?);
    }
    let members: Vec<[i8; LANES]> = series.slots().iter().map(|&graphs| lanes_of(graphs)).collect();
    let units: Vec<Vec<u32>> = run.install(|| {
        let units = (0..n.div_ceil(GRAIN)).into_par_iter().map(|unit| {
            run.check()?;
            let first = unit * GRAIN;
            let count = GRAIN.min(n - first);
            Ok::<_, Stop>(with_vectors(CountArcs { lists: &lists, members: &members, first, count, len }))
        });
        units.collect::<Result<_, _>>()
    })?;
    for graph in 0..len {
        run.check()?;
        let mut of_graph = vec![0; n];
        run.install(|| {
            of_graph.par_chunks_mut(GRAIN).zip(&units).for_each(|(degrees, unit)| {
                let counts = &unit[graph * degrees.len()..][..degrees.len()];
                degrees.iter_mut().zip(counts).for_each(|(degree, &count)| *degree = u64::from(count));
            });
        });
        visit(graph, of_graph)?;
    }
    Ok(())
}

/// Counts the arcs of some successive vertices: for each graph, the degree of each.
struct CountArcs<'a> {
    lists: &'a [&'a Rows<'a, u16>],
    members: &'a [[i8; LANES]],
    first: usize,
    count: usize,
    len: usize,
}

impl VectorLoop for CountArcs<'_> {
    type Output = Vec<u32>;

    #[inline(always)]
    fn run(self) -> Vec<u32> {
        let mut degrees = vec![0; self.count * self.len];
        for at in 0..self.count {
            let mut counts = [0_u32; LANES];
            for lists in self.lists {
                for slots in lists.list(vertex(self.first + at)).1.chunks(BLOCK) {
                    let mut bytes = [0_u8; LANES];
                    for &slot in slots {
                        let graphs = &self.members[usize::from(slot)];
                        for i in 0..LANES {
                            // A graph that has the arc is -1.
                            bytes[i] = bytes[i].wrapping_sub(graphs[i] as u8);
                        }
                    }
                    for i in 0..LANES {
                        counts[i] += u32::from(bytes[i]);
                    }
                }
            }
            counts[..self.len]
                .iter()
                .enumerate()
                .for_each(|(graph, &count)| degrees[graph * self.count + at] = count);
        }
        degrees
    }
}

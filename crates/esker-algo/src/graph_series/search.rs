//! Breadth-first searches of several graphs over the same vertices, from the same sources.
//!
//! A bit of a word tells which of the graphs a search has reached a vertex in, as in searches from many
//! sources at once [1]: along an arc go the graphs that have it. A list that several searches need in one
//! round is read once. Depths are kept by their bits: one word a vertex for each binary digit of the greatest
//! depth.
//!
//! Work: O(n + m) in each round that pulls, else the lists of the frontier; a vertex is in the frontier once
//! for each depth that it has in some graph. Memory: 24 bytes a vertex, and 8 for each binary digit of the
//! greatest depth.
//!
//! [1] M. Then et al., "The More the Merrier: Efficient Multi-Source Graph Traversal", VLDB 2014.

use std::ops::Range;

use esker_graph::{NONE, Reservation, Run, Stop, VertexId, vertex};
use rayon::prelude::*;

use super::series::GraphSeries;
use crate::primitive::{VertexValues, concat};

/// Vertices in one unit of work of a pull.
const GRAIN: usize = 1 << 12;
/// Vertices of a frontier in one unit of work.
const FRONTIER_GRAIN: usize = 1 << 8;
/// A round with no more arcs and vertices than this runs on one thread.
const SMALL: usize = 1 << 12;
/// A round pulls if its frontier and the arcs that leave it are more than one in this many of all vertices
/// and arcs.
const PULL_PART: usize = 12;

/// The depths of the vertices of all graphs.
#[derive(Debug)]
pub struct SeriesDepths {
    /// For each vertex the graphs in which it was reached.
    reached: Vec<u64>,
    /// For each binary digit of a depth and each vertex, the graphs in which the depth has it.
    digits: Vec<Vec<u64>>,
    /// The number of rounds.
    pub rounds: usize,
    _memory: Reservation,
}

impl SeriesDepths {
    /// The depth of a vertex in a graph; [`NONE`] if it is not reached.
    #[inline]
    pub fn depth(&self, v: VertexId, graph: usize) -> VertexId {
        if self.reached[v as usize] >> graph & 1 == 0 {
            return NONE;
        }
        let digits = self.digits.iter().enumerate();
        vertex(digits.map(|(digit, words)| ((words[v as usize] >> graph & 1) as usize) << digit).sum())
    }

    /// The depths of the vertices that are in a graph, ascending.
    pub fn of_graph(&self, graph: usize, present: &[u64], run: &Run) -> Vec<VertexId> {
        let members = (0..present.len()).into_par_iter().filter(|&v| present[v] >> graph & 1 == 1);
        run.install(|| members.map(|v| self.depth(vertex(v), graph)).collect())
    }

    /// The number of vertices that are reached in a graph.
    pub fn count(&self, graph: usize) -> u64 {
        self.reached.iter().map(|graphs| graphs >> graph & 1).sum()
    }
}

/// Searches from `sources`, as far as `depth_max`. `present` says for each vertex in which graphs it is; a
/// source that is not in a graph is none there.
///
/// # Errors
/// [`Stop::Unsuitable`] for a source that is no vertex; [`Stop::OverBudget`]; cancellation.
pub fn search(
    series: &GraphSeries<'_>,
    present: &[u64],
    sources: &[VertexId],
    depth_max: VertexId,
    run: &Run,
) -> Result<SeriesDepths, Stop> {
    let n = series.num_vertices();
    // The graphs of this round and of the next one; the frontier, and what is found, which is joined from
    // parts.
    let vertex_bytes = 2 * size_of::<u64>() + 3 * size_of::<VertexId>();
    let run = &run.begin("searches of several graphs", (n * vertex_bytes) as u64)?;
    let memory = run.budget().reserve("depths in several graphs", (n * size_of::<u64>()) as u64)?;
    let words = || VertexValues::filled(run, n, 0_u64);
    let mut state = SearchState {
        series,
        present,
        reached: words(),
        now: words(),
        next: words(),
        digits: Vec::new(),
        memory,
    };
    let mut frontier = Vec::new();
    for &source in sources {
        let graphs = present.get(source as usize).copied();
        let graphs = graphs.ok_or_else(|| Stop::unsuitable(format!("source {source} is not a vertex")))?;
        if graphs & series.all() & !state.reached.get(source) != 0 {
            state.reached.set(source, graphs & series.all());
            state.now.set(source, graphs & series.all());
            frontier.push(source);
        }
    }
    let mut depth = 0;
    while !frontier.is_empty() && depth < depth_max {
        run.round(frontier.len())?;
        depth += 1;
        let arcs: usize = frontier.iter().map(|&v| series.out().degree(v)).sum();
        let found = match series.received() {
            Some(_) if arcs + frontier.len() > (n + series.out().targets().len()) / PULL_PART => {
                state.pull(run)?
            }
            _ => state.push(&frontier, arcs, run)?,
        };
        frontier.iter().for_each(|&v| state.now.set(v, 0));
        state.settle(&found, depth, run)?;
        frontier = found;
    }
    let SearchState { reached, digits, memory, .. } = state;
    let digits = digits.into_iter().map(VertexValues::into_vec).collect();
    Ok(SeriesDepths { reached: reached.into_vec(), digits, rounds: run.rounds(), _memory: memory })
}

struct SearchState<'s> {
    series: &'s GraphSeries<'s>,
    present: &'s [u64],
    /// The graphs in which a vertex was reached before this round.
    reached: VertexValues<u64>,
    /// Those of the last round; 0 outside of the frontier.
    now: VertexValues<u64>,
    /// Those of this round; 0 between rounds.
    next: VertexValues<u64>,
    digits: Vec<VertexValues<u64>>,
    memory: Reservation,
}

impl SearchState<'_> {
    /// The vertices that are reached along the out-lists of the frontier.
    fn push(&self, frontier: &[VertexId], arcs: usize, run: &Run) -> Result<Vec<VertexId>, Stop> {
        let visit = |found: &mut Vec<VertexId>, range: Range<usize>| {
            for &u in &frontier[range] {
                let (targets, slots) = self.series.out().list(u);
                let graphs = self.now.get(u);
                for (&v, &slot) in targets.iter().zip(slots) {
                    let new = graphs & self.series.members(slot) & !self.reached.get(v);
                    if new & !self.next.get(v) != 0 && self.next.unite(v, new) == 0 {
                        found.push(v);
                    }
                }
            }
            Ok::<_, Stop>(())
        };
        if arcs + frontier.len() <= SMALL {
            let mut found = Vec::new();
            visit(&mut found, 0..frontier.len())?;
            return Ok(found);
        }
        Ok(concat(run.share_ranges(frontier.len(), FRONTIER_GRAIN, Vec::new, visit)?))
    }

    /// The same along the lists of the vertices that are not reached in all of their graphs.
    fn pull(&self, run: &Run) -> Result<Vec<VertexId>, Stop> {
        let Some(lists) = self.series.received() else { return Ok(Vec::new()) };
        let visit = |found: &mut Vec<VertexId>, range: Range<usize>| {
            for v in range.map(vertex) {
                let missing = self.present[v as usize] & self.series.all() & !self.reached.get(v);
                if missing == 0 {
                    continue;
                }
                let (targets, slots) = lists.list(v);
                let mut new = 0;
                for (&u, &slot) in targets.iter().zip(slots) {
                    new |= self.now.get(u) & self.series.members(slot) & missing;
                    if new == missing {
                        break;
                    }
                }
                if new != 0 {
                    self.next.set(v, new);
                    found.push(v);
                }
            }
            Ok::<_, Stop>(())
        };
        Ok(concat(run.share_ranges(self.series.num_vertices(), GRAIN, Vec::new, visit)?))
    }

    /// Notes the depth of what was found, which becomes the frontier.
    fn settle(&mut self, found: &[VertexId], depth: VertexId, run: &Run) -> Result<(), Stop> {
        let n = self.series.num_vertices();
        while depth as u64 >> self.digits.len() != 0 {
            let bytes = (n * size_of::<u64>()) as u64;
            self.memory.absorb(run.budget().reserve("depths in several graphs", bytes)?);
            self.digits.push(VertexValues::filled(run, n, 0_u64));
        }
        let ones: Vec<_> = self
            .digits
            .iter()
            .enumerate()
            .filter(|(digit, _)| depth >> digit & 1 == 1)
            .map(|one| one.1)
            .collect();
        let settle = |&v: &VertexId| {
            let new = self.next.get(v);
            self.next.set(v, 0);
            self.now.set(v, new);
            self.reached.set(v, self.reached.get(v) | new);
            ones.iter().for_each(|words| words.set(v, words.get(v) | new));
        };
        if found.len() <= SMALL {
            found.iter().for_each(settle);
        } else {
            run.install(|| found.par_iter().with_min_len(SMALL).for_each(settle));
        }
        Ok(())
    }
}

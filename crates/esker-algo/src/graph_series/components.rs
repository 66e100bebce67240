//! The weakly connected components of several graphs over the same vertices.
//!
//! Offline dynamic connectivity by contraction. The arcs that all graphs have are united first, and each set
//! becomes one vertex. Arcs within a vertex are gone, and vertices without another arc are done with. The
//! rest is solved for the first half of the graphs and for the second, in the same way. An arc of successive
//! graphs stays in at most two problems on each level, those where its graphs begin and end.
//!
//! Work: all arcs once, and those that not all graphs have up to 2 log2(graphs) times, less what contraction
//! leaves out; then one step a vertex and graph to write the labels. Memory: 12 bytes a vertex, and 12 bytes
//! for each arc that not all graphs have, on each level.

use std::ops::Range;

use esker_graph::{NONE, Reservation, Run, Stop, VertexId, vertex};
use rayon::prelude::*;

use super::series::GraphSeries;
use crate::primitive::UnionFind;

/// An arc between two vertices of a problem, and its slot.
type SlottedArc = (VertexId, VertexId, u16);

/// Vertices or arcs in one unit of work.
const GRAIN: usize = 1 << 13;

/// Calls `visit` with each graph, in order, and the labels of its components: for every vertex the least
/// vertex of its component. A vertex without an edge is one of its own.
///
/// # Errors
/// [`Stop::OverBudget`]; cancellation; what `visit` returns.
pub fn components<E: From<Stop> + Send>(
    series: &GraphSeries<'_>,
    run: &Run,
    mut visit: impl FnMut(usize, Vec<VertexId>) -> Result<(), E>,
) -> Result<(), E> {
    if series.is_empty() {
        return Ok(());
    }
    let n = series.num_vertices();
    let vertex_bytes = 3 * size_of::<VertexId>() as u64;
    let run = &run.begin("the components of several graphs", n as u64 * vertex_bytes)?;
    let sets = UnionFind::new(run, n);
    let all = series.all();
    let lists = series.out();
    run.share_ranges::<_, Stop>(
        n,
        GRAIN,
        || (),
        |(), range| {
            for v in range.map(vertex) {
                let (targets, slots) = lists.list(v);
                let common = targets.iter().zip(slots).filter(|arc| series.members(*arc.1) & all == all);
                common.for_each(|(&target, _)| link(&sets, v, target));
            }
            Ok(())
        },
    )?;
    sets.flatten(run)?;
    let parts = run.share_ranges::<_, Stop>(n, GRAIN, Vec::new, |arcs: &mut Vec<SlottedArc>, range| {
        for v in range.map(vertex) {
            let ((targets, slots), root) = (lists.list(v), sets.above(v));
            for (&target, &slot) in targets.iter().zip(slots) {
                let other = sets.above(target);
                // An undirected edge comes from both of its ends.
                let is_first = target < v || !series.is_undirected();
                if is_first && other != root && series.members(slot) & all != all {
                    arcs.push((root, other, slot));
                }
            }
        }
        Ok(())
    })?;
    let memory = reserved(run, parts.iter().map(Vec::len).sum())?;
    let arcs = parts.concat();
    let labels = sets.into_vec();
    let problem = Problem::settle(labels.clone(), labels, arcs, memory, run)?;
    let mut path = Vec::new();
    descend(series, problem, 0..series.len(), &mut path, run, &mut visit)
}

fn link(sets: &UnionFind, u: VertexId, v: VertexId) {
    if sets.above(u) != sets.above(v) {
        sets.link(u, v);
        sets.shorten(u);
        sets.shorten(v);
    }
}

fn reserved(run: &Run, arcs: usize) -> Result<Reservation, Stop> {
    run.budget().reserve("the arcs of several graphs", (arcs * size_of::<SlottedArc>()) as u64)
}

/// What is left of some graphs once their common arcs are contracted.
struct Problem {
    /// The vertices of the problem before: the label of each, and its number here; [`NONE`] if no arc is left
    /// there.
    above: Level,
    /// The label of each vertex.
    labels: Vec<VertexId>,
    arcs: Vec<SlottedArc>,
    _memory: Reservation,
}

/// The vertices of a problem, after its contraction.
struct Level {
    labels: Vec<VertexId>,
    numbers: Vec<VertexId>,
}

impl Problem {
    /// Numbers the roots that arcs lead to. `roots`: of each vertex; `labels`: of each vertex, after
    /// contraction.
    fn settle(
        roots: Vec<VertexId>,
        labels: Vec<VertexId>,
        mut arcs: Vec<SlottedArc>,
        memory: Reservation,
        run: &Run,
    ) -> Result<Self, Stop> {
        run.check()?;
        let mut numbers = vec![NONE; roots.len()];
        for &(u, v, _) in &arcs {
            (numbers[u as usize], numbers[v as usize]) = (0, 0);
        }
        let mut inner = Vec::new();
        for (root, number) in numbers.iter_mut().enumerate().filter(|one| *one.1 == 0) {
            *number = vertex(inner.len());
            inner.push(labels[root]);
        }
        run.install(|| {
            arcs.par_iter_mut().for_each(|(u, v, _)| (*u, *v) = (numbers[*u as usize], numbers[*v as usize]));
        });
        let numbers = run.install(|| roots.into_par_iter().map(|root| numbers[root as usize]).collect());
        Ok(Self { above: Level { labels, numbers }, labels: inner, arcs, _memory: memory })
    }

    /// The problem of some of the graphs: those with these bits.
    fn part(&self, series: &GraphSeries<'_>, graphs: u64, run: &Run) -> Result<Self, Stop> {
        let common = |arc: &&SlottedArc| series.members(arc.2) & graphs == graphs;
        let sets = UnionFind::new(run, self.labels.len());
        run.install(|| {
            self.arcs.par_iter().filter(common).for_each(|&(u, v, _)| link(&sets, u, v));
        });
        sets.flatten(run)?;
        let left = |&(u, v, slot): &SlottedArc| {
            let members = series.members(slot) & graphs;
            let (u, v) = (sets.above(u), sets.above(v));
            (members != 0 && members != graphs && u != v).then_some((u, v, slot))
        };
        let (arcs, memory) = {
            let count = run.install(|| self.arcs.par_iter().filter_map(left).count());
            let memory = reserved(run, count)?;
            (run.install(|| self.arcs.par_iter().filter_map(left).collect()), memory)
        };
        let roots = sets.into_vec();
        let labels = roots.iter().map(|&root| self.labels[root as usize]).collect();
        Self::settle(roots, labels, arcs, memory, run)
    }
}

/// Solves a problem of the graphs of a range.
fn descend<E: From<Stop> + Send>(
    series: &GraphSeries<'_>,
    problem: Problem,
    graphs: Range<usize>,
    path: &mut Vec<Level>,
    run: &Run,
    visit: &mut impl FnMut(usize, Vec<VertexId>) -> Result<(), E>,
) -> Result<(), E> {
    let Range { start, end } = graphs;
    if end - start == 1 || problem.arcs.is_empty() {
        path.push(problem.above);
        let labels = run.install(|| composed(path));
        path.pop();
        for graph in start..end - 1 {
            run.check()?;
            visit(graph, labels.clone())?;
        }
        return visit(end - 1, labels);
    }
    let middle = start.midpoint(end);
    let Problem { above, labels, arcs, _memory } = problem;
    path.push(above);
    let problem = Problem { above: Level { labels: Vec::new(), numbers: Vec::new() }, labels, arcs, _memory };
    for half in [start..middle, middle..end] {
        let part = problem.part(series, bits(half.clone()), run)?;
        descend(series, part, half, path, run, visit)?;
    }
    path.pop();
    Ok(())
}

fn bits(graphs: Range<usize>) -> u64 {
    graphs.fold(0, |bits, graph| bits | 1 << graph)
}

/// The labels of all vertices, through the problems that lead to one graph.
fn composed(path: &[Level]) -> Vec<VertexId> {
    let mut inner: Vec<VertexId> = Vec::new();
    for level in path.iter().rev() {
        let label = |(&label, &number): (&VertexId, &VertexId)| {
            inner.get(if number == NONE { usize::MAX } else { number as usize }).copied().unwrap_or(label)
        };
        inner = level.labels.par_iter().zip(&level.numbers).map(label).collect();
    }
    inner
}

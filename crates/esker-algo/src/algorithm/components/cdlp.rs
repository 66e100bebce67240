//! Community detection by label propagation, as LDBC Graphalytics defines it [1].
//!
//! Every vertex starts with its own label. In each iteration all vertices simultaneously take the label that
//! is most frequent among their neighbours, the smallest one on ties; a vertex without neighbours keeps its
//! label. In a directed graph both in- and out-neighbours count, so a neighbour with edges both ways counts
//! twice; parallel edges and self-loops count too. Unlike other variants of label propagation [2], nothing is
//! random, so the result is unique.
//!
//! After an iteration with few changes, the next one visits only vertices with a changed neighbour. After an
//! iteration without changes, the rest are skipped, as they would change nothing.
//!
//! State: the labels before and after an iteration, as indices into the sorted list of distinct labels. Work:
//! O(n + m) per iteration. Memory: two ids and 8 bytes per vertex (with given labels, 8 bytes and one id
//! more), n/8 bytes, and up to three ids per vertex and thread if there are hubs. Reads per iteration: all
//! lists in order, or the lists of changed vertices and their neighbours.
//!
//! [1] A. Iosup et al., "The LDBC Graphalytics Benchmark", arXiv:2011.15028, section 2.3.4.
//! [2] U. Raghavan, R. Albert, S. Kumara, "Near linear time algorithm to detect community structures in
//!     large-scale networks", Phys. Rev. E 76, 2007.

use esker_graph::{Bitmap, Lists, Run, Stop, VertexId, vertex};
use rayon::prelude::*;

use crate::estimate::{Estimate, Shape};
use crate::primitive::{ModeCounter, VertexArray, full_degree, need_in_edges, neighbourhood_directions};

/// Options of [`cdlp`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CdlpOptions {
    /// The maximum number of iterations.
    pub iterations: usize,
}

impl Default for CdlpOptions {
    fn default() -> Self {
        Self { iterations: 10 }
    }
}

/// Communities found by label propagation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cdlp {
    /// The label of each vertex's community.
    pub labels: Vec<u64>,
    /// Number of distinct labels.
    pub communities: usize,
    /// Iterations performed.
    pub rounds: usize,
    /// Whether the last iteration changed nothing, so that further ones would not either.
    pub converged: bool,
}

/// Estimates memory and reads on `threads` threads; both are upper bounds. `labelled` says whether initial
/// labels are given.
pub fn estimate(shape: Shape, options: &CdlpOptions, labelled: bool, threads: usize) -> Estimate {
    let n = shape.num_vertices;
    let id = size_of::<VertexId>() as u64;
    let given = if labelled { 8 + id } else { 0 };
    let lists = if shape.directed { 2 } else { 1 };
    Estimate {
        memory_bytes: n * (2 * id + 8 + given)
            + 2 * (n / 8 + 8)
            + threads as u64 * ModeCounter::memory_bytes(n),
        read_bytes: shape.list_bytes() * lists * options.iterations as u64,
    }
}

/// The distinct labels, ascending. During the iterations a label is its index in this list, which keeps the
/// order.
fn distinct(run: &Run, labels: &[u64]) -> Vec<u64> {
    let mut names = labels.to_vec();
    run.install(|| names.par_sort_unstable());
    names.dedup();
    names
}

/// The vertices whose labels may change.
enum ActiveVertices {
    All,
    Some(Bitmap),
}

impl ActiveVertices {
    fn count(&self, n: usize) -> usize {
        match self {
            Self::All => n,
            Self::Some(bits) => bits.count(),
        }
    }

    #[inline(always)]
    fn has(&self, v: VertexId) -> bool {
        match self {
            Self::All => true,
            Self::Some(bits) => bits.get(v),
        }
    }
}

/// The changes of one iteration.
#[derive(Default)]
struct LabelChanges {
    vertices: usize,
    /// Sum of the degrees of these vertices.
    arcs: u64,
}

/// Vertices per unit of parallel work.
const GRAIN: usize = 256;
/// Entries of a list between two checks for cancellation.
const ENTRIES_UNCHECKED: usize = 1 << 18;
/// If more than one arc in this many is at a changed vertex, the next iteration visits all vertices.
const ACTIVE_SHARE: u64 = 8;

/// One iteration: computes all labels in `next` from those in `current`.
fn propagate<G: Lists>(
    graph: &G,
    run: &Run,
    active: &ActiveVertices,
    current: &VertexArray,
    next: &VertexArray,
) -> Result<LabelChanges, G::Error> {
    let n = graph.num_vertices();
    let workers = run.share_ranges(
        n,
        GRAIN,
        || (ModeCounter::new(n), LabelChanges::default()),
        |(counter, changed), range| {
            for v in range.map(vertex) {
                let before = current.get(v);
                let after =
                    if active.has(v) { neighbour_mode(graph, run, v, current, counter)? } else { None };
                next.set(v, after.unwrap_or(before));
                if after.is_some_and(|after| after != before) {
                    changed.vertices += 1;
                    changed.arcs += full_degree(graph, v) as u64;
                }
            }
            Ok::<(), G::Error>(())
        },
    )?;
    Ok(workers.iter().fold(LabelChanges::default(), |sum, (_, changed)| LabelChanges {
        vertices: sum.vertices + changed.vertices,
        arcs: sum.arcs + changed.arcs,
    }))
}

/// The most frequent label among the neighbours of `v`.
#[inline(always)]
fn neighbour_mode<G: Lists>(
    graph: &G,
    run: &Run,
    v: VertexId,
    current: &VertexArray,
    counter: &mut ModeCounter,
) -> Result<Option<VertexId>, G::Error> {
    counter.prepare(full_degree(graph, v));
    for &direction in neighbourhood_directions(graph) {
        if graph.degree(direction, v) > 0 {
            graph.with_list(direction, v, |list, _| {
                list.chunks(ENTRIES_UNCHECKED).try_for_each(|part| {
                    counter.extend(part.iter().map(|&u| current.get(u)));
                    run.check()
                })
            })??;
        }
    }
    Ok(counter.take_mode())
}

impl LabelChanges {
    /// The neighbours of the changed vertices, or all vertices if that is not much more.
    fn neighbours<G: Lists>(
        &self,
        graph: &G,
        run: &Run,
        now: &VertexArray,
        before: &VertexArray,
    ) -> Result<ActiveVertices, G::Error> {
        let n = graph.num_vertices();
        if self.arcs > graph.num_arcs() / ACTIVE_SHARE {
            return Ok(ActiveVertices::All);
        }
        let bits = Bitmap::new(n);
        run.share_ranges(
            n,
            1 << 12,
            || (),
            |(), range| {
                for v in range.map(vertex).filter(|&v| now.get(v) != before.get(v)) {
                    run.check()?;
                    for &direction in neighbourhood_directions(graph) {
                        graph.with_list(direction, v, |list, _| {
                            for &u in list {
                                bits.insert(u);
                            }
                        })?;
                    }
                }
                Ok::<(), G::Error>(())
            },
        )?;
        Ok(ActiveVertices::Some(bits))
    }
}

/// Number of distinct labels.
fn communities(run: &Run, labels: &VertexArray) -> Result<usize, Stop> {
    let seen = Bitmap::new(labels.len());
    crate::primitive::each_vertex(run, labels.len(), |v| _ = seen.insert(labels.get(v)))?;
    Ok(seen.count())
}

/// Propagates labels. `initial` gives one starting label per vertex, not necessarily distinct (Graphalytics:
/// the external ids); by default a vertex starts with its id.
///
/// # Errors
/// [`Stop::Unsuitable`] if the number of labels differs from the number of vertices, and for a directed graph
/// without in-edges; [`Stop::OverBudget`]; the first list that cannot be read; cancellation.
pub fn cdlp<G: Lists>(
    graph: &G,
    run: &Run,
    initial: Option<&[u64]>,
    options: &CdlpOptions,
) -> Result<Cdlp, G::Error> {
    let n = graph.num_vertices();
    need_in_edges(graph, "label propagation")?;
    if let Some(labels) = initial.filter(|labels| labels.len() != n) {
        let message = format!(
            "got {} for {}: give one per vertex",
            esker_graph::counted(labels.len(), "initial label", "initial labels"),
            esker_graph::counted(n, "vertex", "vertices")
        );
        return Err(Stop::unsuitable(message).into());
    }
    let estimate = estimate(Shape::of(graph), options, initial.is_some(), run.threads());
    let run = &run.begin("label propagation", estimate.memory_bytes)?;
    let names = initial.map(|labels| distinct(run, labels));
    let mut current = VertexArray::from_fn(run, n, |v| match (initial, &names) {
        (Some(labels), Some(names)) => vertex(names.partition_point(|&name| name < labels[v])),
        _ => vertex(v),
    });
    let mut next = VertexArray::filled(run, n, 0);
    let (mut active, mut converged) = (ActiveVertices::All, false);
    for done in 0..options.iterations {
        run.round(active.count(n))?;
        run.set_done(done as u64, options.iterations as u64);
        let changed = propagate(graph, run, &active, &current, &next)?;
        std::mem::swap(&mut current, &mut next);
        converged = changed.vertices == 0;
        if converged {
            break;
        }
        active = changed.neighbours(graph, run, &current, &next)?;
    }
    drop((next, active));
    let communities = communities(run, &current)?;
    let labels =
        current.into_vec().into_iter().map(|l| names.as_ref().map_or(l.into(), |n| n[l as usize])).collect();
    Ok(Cdlp { labels, communities, rounds: run.rounds(), converged })
}

//! Community detection by label propagation, as LDBC Graphalytics defines it [1].
//!
//! Every vertex begins with a label of its own. In each iteration, all at once, every vertex takes the label that is most
//! frequent among its neighbours, the smallest of several; a vertex without neighbours keeps its own. In a directed graph
//! both in- and out-neighbours count, so one to which edges lead both ways counts twice; parallel edges and self-loops
//! count like others. Unlike in other variants of label propagation [2], nothing is random: the answer is unique.
//!
//! When an iteration has changed little, the next one looks only at vertices with a neighbour that changed; when none
//! has, the rest are skipped, for they would change nothing.
//!
//! Work O(n + m) an iteration. Memory: two ids and 8 bytes a vertex (8 more, and an id, for given labels), n/8 bytes, and
//! up to three ids a vertex for each thread, if there are hubs. Reads: all lists once an iteration, in order; or those
//! of the vertices that changed and of their neighbours.
//!
//! [1] A. Iosup et al., "The LDBC Graphalytics Benchmark", arXiv:2011.15028, section 2.3.4.
//! [2] U. Raghavan, R. Albert, S. Kumara, "Near linear time algorithm to detect community structures in large-scale
//!     networks", Phys. Rev. E 76, 2007.

use esker_graph::{Bitmap, Direction, Lists, Run, Stop, VertexId, vertex};
use rayon::prelude::*;

use crate::estimate::{Estimate, Shape};
use crate::primitive::{Tally, VertexArray, full_degree};

/// How labels are propagated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CdlpOptions {
    /// The number of iterations.
    pub iterations: usize,
}

impl Default for CdlpOptions {
    fn default() -> Self {
        Self { iterations: 10 }
    }
}

/// Communities by label propagation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cdlp {
    /// For each vertex the label of its community.
    pub labels: Vec<u64>,
    /// Number of different labels.
    pub communities: usize,
    /// Iterations that were carried out.
    pub rounds: usize,
    /// Whether the last of them changed nothing, so that further ones would not either.
    pub converged: bool,
}

/// What label propagation will take on `threads` threads; `labelled`: with given initial labels. An upper bound.
pub fn estimate(shape: Shape, options: &CdlpOptions, labelled: bool, threads: usize) -> Estimate {
    let n = shape.num_vertices;
    let id = size_of::<VertexId>() as u64;
    let given = if labelled { 8 + id } else { 0 };
    let lists = if shape.directed { 2 } else { 1 };
    Estimate {
        memory_bytes: n * (2 * id + 8 + given) + 2 * (n / 8 + 8) + threads as u64 * Tally::memory_bytes(n),
        read_bytes: shape.list_bytes() * lists * options.iterations as u64,
    }
}

/// Propagates labels. They begin as `initial`, one for each vertex, perhaps the same for several (Graphalytics: the
/// external ids), or as the numbers of the vertices.
///
/// # Errors
/// [`Stop::Unsuitable`] if there are not as many labels as vertices, and for a directed graph without in-edges;
/// [`Stop::OverBudget`]; the first list that cannot be read; cancellation.
pub fn cdlp<G: Lists>(
    graph: &G,
    run: &Run,
    initial: Option<&[u64]>,
    options: &CdlpOptions,
) -> Result<Cdlp, G::Error> {
    let n = graph.num_vertices();
    if !graph.has(Direction::In) {
        let why =
            "label propagation on a directed graph needs its in-edges: import it with them, or as undirected";
        return Err(Stop::Unsuitable(why.to_owned()).into());
    }
    if let Some(labels) = initial.filter(|labels| labels.len() != n) {
        return Err(Stop::Unsuitable(format!("{} labels for {n} vertices", labels.len())).into());
    }
    let estimate = estimate(Shape::of(graph), options, initial.is_some(), run.threads());
    run.begin("label propagation", estimate.memory_bytes)?;
    let names = initial.map(|labels| distinct(run, labels));
    let mut current = VertexArray::from_fn(run, n, |v| match (initial, &names) {
        (Some(labels), Some(names)) => vertex(names.partition_point(|&name| name < labels[v])),
        _ => vertex(v),
    });
    let mut next = VertexArray::filled(run, n, 0);
    let (mut active, mut converged) = (Active::All, false);
    for _ in 0..options.iterations {
        run.round(active.count(n))?;
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

/// The different labels, ascending: in a list of them, a label is named by its place, and order is kept.
fn distinct(run: &Run, labels: &[u64]) -> Vec<u64> {
    let mut names = labels.to_vec();
    run.install(|| names.par_sort_unstable());
    names.dedup();
    names
}

/// Vertices whose labels may change.
enum Active {
    All,
    Some(Bitmap),
}

impl Active {
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

/// What an iteration changed.
#[derive(Default)]
struct Changed {
    vertices: usize,
    /// Sum of their degrees.
    arcs: u64,
}

/// Vertices that are handed to a worker at a time.
const GRAIN: usize = 256;
/// Entries of a list between two looks at the cancel token.
const ENTRIES_UNCHECKED: usize = 1 << 18;
/// If more than one arc in so many touches a changed vertex, all vertices are looked at again.
const ACTIVE_SHARE: u64 = 8;

/// One iteration: writes all labels that follow from `current` to `next`.
fn propagate<G: Lists>(
    graph: &G,
    run: &Run,
    active: &Active,
    current: &VertexArray,
    next: &VertexArray,
) -> Result<Changed, G::Error> {
    let n = graph.num_vertices();
    let workers = run.share_ranges(
        n,
        GRAIN,
        || (Tally::new(n), Changed::default()),
        |(tally, changed), range| {
            for v in range.map(vertex) {
                let before = current.get(v);
                let after = if active.has(v) { mode_around(graph, run, v, current, tally)? } else { None };
                next.set(v, after.unwrap_or(before));
                if after.is_some_and(|after| after != before) {
                    changed.vertices += 1;
                    changed.arcs += full_degree(graph, v) as u64;
                }
            }
            Ok::<(), G::Error>(())
        },
    )?;
    Ok(workers.iter().fold(Changed::default(), |sum, (_, changed)| Changed {
        vertices: sum.vertices + changed.vertices,
        arcs: sum.arcs + changed.arcs,
    }))
}

/// The most frequent label among the neighbours of `v`.
#[inline(always)]
fn mode_around<G: Lists>(
    graph: &G,
    run: &Run,
    v: VertexId,
    current: &VertexArray,
    tally: &mut Tally,
) -> Result<Option<VertexId>, G::Error> {
    tally.expect(full_degree(graph, v));
    for &direction in directions(graph) {
        if graph.degree(direction, v) > 0 {
            graph.with_list(direction, v, |list, _| {
                list.chunks(ENTRIES_UNCHECKED).try_for_each(|part| {
                    tally.extend(part.iter().map(|&u| current.get(u)));
                    run.check()
                })
            })??;
        }
    }
    Ok(tally.take_mode())
}

fn directions<G: Lists>(graph: &G) -> &'static [Direction] {
    if graph.is_directed() { &[Direction::Out, Direction::In] } else { &[Direction::Out] }
}

impl Changed {
    /// The neighbours of the vertices that changed, or all vertices if that is hardly more.
    fn neighbours<G: Lists>(
        &self,
        graph: &G,
        run: &Run,
        now: &VertexArray,
        before: &VertexArray,
    ) -> Result<Active, G::Error> {
        let n = graph.num_vertices();
        if self.arcs > graph.num_arcs() / ACTIVE_SHARE {
            return Ok(Active::All);
        }
        let bits = Bitmap::new(n);
        run.share_ranges(
            n,
            1 << 12,
            || (),
            |(), range| {
                for v in range.map(vertex).filter(|&v| now.get(v) != before.get(v)) {
                    run.check()?;
                    for &direction in directions(graph) {
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
        Ok(Active::Some(bits))
    }
}

/// Number of different labels.
fn communities(run: &Run, labels: &VertexArray) -> Result<usize, Stop> {
    let seen = Bitmap::new(labels.len());
    crate::primitive::each_vertex(run, labels.len(), |v| _ = seen.insert(labels.get(v)))?;
    Ok(seen.count())
}

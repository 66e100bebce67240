//! Communities by Leiden [1] or Louvain [2]: groups of vertices of the highest modularity that is found, or
//! of the highest quality by the constant Potts model.
//!
//! Vertices move to the neighbouring community where they gain most, until none gains by a move. Communities
//! then become the nodes of a smaller graph, where the same is done, and so on. Leiden first cuts each
//! community into well-connected parts, and makes nodes of the parts. Each iteration begins with the
//! communities of the one before. At the end vertices move once more, and Leiden makes each connected part of
//! a community a community of its own, until neither changes anything: so its communities are connected, and
//! no move of a single vertex gains more than rounding.
//!
//! The modularity of communities c is the sum over c of in(c) / W - r (vol(c) / W)^2 [3]. The strength of a
//! vertex is the sum of the weights of its edges, a self-loop twice; vol(c) is the sum of the strengths in c,
//! W that of all, in(c) twice the weight of the edges inside, r the resolution. Parallel edges add up. All
//! vertices in one community have a modularity of 1 - r. The constant Potts model takes the sum of e(c) -
//! r n(c) (n(c) - 1) / 2, of the weight of the edges inside and the number of vertices [4].
//!
//! Weights are whole multiples of a power of two, so that sums are exact and the answer depends neither on
//! threads nor on the order of additions; a weight below about 2^-60 of the sum of all counts as 0. Where to
//! move is decided in batches, from the state before the batch: `moving` has the rules. Parallel Leiden:
//! [5].
//!
//! Work: O(m) a sweep; some ten sweeps over the vertices for an iteration, most of them over few. Memory: 12
//! ids and 40 bytes a vertex; for each thread an id and 8 bytes a vertex and 0.5 MiB. Beyond that, the
//! smaller graphs take an id and 8 bytes an entry if the budget has room for them, else the lists of the
//! vertices are read again for each level. Reads: lists one by one, in the order of vertices; all of them in
//! the first sweeps, then those of active vertices.
//!
//! [1] V. Traag, L. Waltman, N. van Eck, "From Louvain to Leiden: guaranteeing well-connected communities",
//!     Scientific Reports 9, 2019.
//! [2] V. Blondel, J.-L. Guillaume, R. Lambiotte, E. Lefebvre, "Fast unfolding of communities in large
//!     networks", J. Stat. Mech., 2008.
//! [3] M. Newman, M. Girvan, Phys. Rev. E 69, 2004; the resolution: J. Reichardt, S. Bornholdt, Phys. Rev. E
//!     74, 2006.
//! [4] V. Traag, P. Van Dooren, Y. Nesterov, Phys. Rev. E 84, 2011.
//! [5] S. Sahu, "GVE-Leiden", arXiv:2312.13936.

use std::sync::Arc;

use esker_graph::{Lists, Run, Stop, VertexId, vertex};

use super::adjacency::{Adjacency, VertexLists};
use super::levels::Levels;
use super::moving::{Deciders, Mover, VisitOrder};
use super::naming::{inside, names, split, strengths};
use super::partition::{Cost, Partition};
use crate::estimate::{Estimate, Shape};
use crate::primitive::{Ranked, VertexArray, need_positive, need_undirected};
use crate::primitive::{Unit, unit_of};

/// How communities are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CommunityMethod {
    /// With refinement; communities are connected.
    #[default]
    Leiden,
    /// Without.
    Louvain,
}

/// What good communities have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Objective {
    /// More weight inside than edges drawn at random between the same strengths would have.
    #[default]
    Modularity,
    /// More weight inside than the resolution for each pair of vertices: the constant Potts model.
    Cpm,
}

/// Options of [`leiden`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LeidenOptions {
    /// How communities are found.
    pub method: CommunityMethod,
    /// What is maximised.
    pub objective: Objective,
    /// The higher, the smaller the communities.
    pub resolution: f64,
    /// The most iterations, each from the communities of the one before.
    pub iterations: usize,
}

impl Default for LeidenOptions {
    fn default() -> Self {
        let (method, objective) = (CommunityMethod::default(), Objective::default());
        Self { method, objective, resolution: 1.0, iterations: 2 }
    }
}

/// Communities.
#[derive(Debug, Clone, PartialEq)]
pub struct Communities {
    /// The name of each vertex's community: its member with the longest list, the first of several.
    pub labels: Vec<VertexId>,
    /// Number of communities.
    pub communities: usize,
    /// The modularity, or the quality by the constant Potts model. 0 for a graph without weight.
    pub quality: f64,
    /// Whether no move of a single vertex gains.
    pub converged: bool,
    /// Number of sweeps.
    pub rounds: usize,
}

/// The most sweeps over the vertices at the end, and the most times that communities are cut there.
const LAST_SWEEPS_MAX: usize = 1000;
const SPLITS_MAX: usize = 10;
/// Reads of all lists that an iteration is expected to make, and those before and after.
const ITERATION_READS: u64 = 6;
const OTHER_READS: u64 = 6;

/// Estimates memory, an upper bound without the smaller graphs, and expected reads on `threads` threads.
pub fn estimate(shape: Shape, options: &LeidenOptions, threads: usize) -> Estimate {
    let (n, id) = (shape.num_vertices, size_of::<VertexId>() as u64);
    let reads = ITERATION_READS * options.iterations as u64 + OTHER_READS;
    Estimate {
        memory_bytes: n * (12 * id + 40) + threads as u64 * Deciders::memory_bytes(n),
        read_bytes: shape.weighted_list_bytes().saturating_mul(reads),
    }
}

/// Finds communities of an undirected graph.
///
/// ```
/// use esker_algo::algorithm::communities::leiden::{LeidenOptions, leiden};
/// use esker_graph::{Csr, Run};
///
/// // Two triangles joined by an edge.
/// let edges = [(0, 1, ()), (1, 2, ()), (2, 0, ()), (2, 3, ()), (3, 4, ()), (4, 5, ()), (5, 3, ())];
/// let csr = Csr::undirected(6, &edges)?;
/// let found = leiden(&csr.graph(), &Run::with_threads(2)?, &LeidenOptions::default())?;
/// assert_eq!(found.labels, [2, 2, 2, 3, 3, 3]); // named by their members of greatest degree
/// assert!((found.quality - 5.0 / 14.0).abs() < 1e-12);
/// # Ok::<(), esker_graph::Stop>(())
/// ```
///
/// # Errors
/// [`Stop::Unsuitable`] for a directed graph, a resolution that is not positive, and a weight that is
/// negative or no finite number; [`Stop::OverBudget`]; the first list that cannot be read; cancellation.
pub fn leiden<G: Lists<Weight: Ranked>>(
    graph: &G,
    run: &Run,
    options: &LeidenOptions,
) -> Result<Communities, G::Error> {
    let needed = estimate(Shape::of(graph), options, run.threads()).memory_bytes;
    let run = &run.begin("communities", needed)?;
    need_undirected(graph, "finding communities")?;
    need_positive("the resolution", options.resolution)?;
    run.install(|| {
        let mut unit = unit_of(graph, run, "find communities")?;
        if size_of::<G::Weight>() > 0 {
            let sum: u64 = strengths(run, &VertexLists { graph, run, unit })?.iter().sum();
            if options.objective == Objective::Cpm {
                need_finite(unit.weight(sum as f64 / 2.0), unit.scale(options.resolution))?;
            }
            unit = unit.refined(sum, graph.num_arcs());
        }
        find(run, &VertexLists { graph, run, unit }, graph.num_arcs(), unit, options)
    })
}

/// Refuses weights of which the quality by the constant Potts model is no finite number: that adds them up,
/// where modularity takes the share of each.
fn need_finite(sum: f64, resolution_units: f64) -> Result<(), Stop> {
    let reason = match (sum.is_finite(), resolution_units.is_finite()) {
        (true, true) => return Ok(()),
        (false, _) => "their sum exceeds the range of floating-point numbers",
        (true, false) => "the resolution is too large beside them",
    };
    Err(Stop::unsuitable(format!(
        "cannot find communities by the constant Potts model with these weights: {reason}; scale them, or maximise modularity"
    )))
}

/// Finds communities in lists of any kind.
fn find<E: From<Stop> + Send>(
    run: &Run,
    lists: &dyn Adjacency<Error = E>,
    num_arcs: u64,
    unit: Unit,
    options: &LeidenOptions,
) -> Result<Communities, E> {
    let n = lists.num_nodes();
    let (mass, factor): (Arc<[u64]>, f64) = match options.objective {
        Objective::Modularity => {
            let strengths = strengths(run, lists)?;
            let sum: u64 = strengths.iter().sum();
            (strengths.into(), options.resolution / sum.max(1) as f64)
        }
        Objective::Cpm => (std::iter::repeat_n(1, n).collect(), unit.cost(options.resolution)),
    };
    let refines = options.method == CommunityMethod::Leiden;
    let entries_each = num_arcs / n.max(1) as u64;
    let levels = Levels { run, lists, mass: &mass, cost: Cost { factor }, entries_each, refines };
    let mut given = None;
    for done in 0..options.iterations.max(1) {
        let (of, moves) = levels.iterate(given)?;
        given = Some(of);
        if done > 0 && moves == 0 {
            break;
        }
    }
    let of = given.unwrap_or_else(|| VertexArray::from_fn(run, n, vertex));
    let (partition, converged) = finish(&levels, of)?;
    let quality = quality(&levels, &partition, unit, options)?;
    let communities = count(&partition);
    Ok(Communities {
        labels: names(run, lists, &partition.of)?,
        communities,
        quality,
        converged,
        rounds: run.rounds(),
    })
}

fn count(partition: &Partition) -> usize {
    partition.len.iter().filter(|&len| len > 0).count()
}

/// Moves single vertices and cuts communities into connected parts until neither changes anything. Returns
/// whether that came about.
fn finish<E: From<Stop> + Send>(levels: &Levels<'_, E>, of: VertexArray) -> Result<(Partition, bool), E> {
    let Levels { run, lists, cost, entries_each, .. } = *levels;
    let partition = Partition::new(run, Arc::clone(levels.mass), of)?;
    let n = partition.num_nodes();
    let (order, deciders) = (VisitOrder::new(n, run.seed()), Deciders::new(n));
    let mover = Mover { run, lists, partition: &partition, cost, entries_each, deciders: &deciders };
    for _ in 0..SPLITS_MAX {
        let moved = mover.run(&order, LAST_SWEEPS_MAX, true)?;
        if !levels.refines || !split(run, lists, &partition.of, count(&partition))? {
            return Ok((partition, moved.converged));
        }
        partition.count(run)?;
    }
    Ok((partition, false))
}

/// The quality of the communities.
fn quality<E: From<Stop> + Send>(
    levels: &Levels<'_, E>,
    partition: &Partition,
    unit: Unit,
    options: &LeidenOptions,
) -> Result<f64, E> {
    let inside = inside(levels.run, levels.lists, &partition.of)? as f64;
    let sum: u64 = partition.mass.iter().sum();
    Ok(match options.objective {
        Objective::Modularity if sum == 0 => 0.0,
        Objective::Modularity => {
            let square = |total: u64| (total as f64 / sum as f64).powi(2);
            let chance: f64 = partition.total.iter().map(square).sum();
            inside / sum as f64 - options.resolution * chance
        }
        Objective::Cpm => {
            let pairs = |len: u64| len as f64 * (len as f64 - 1.0) / 2.0;
            let expected: f64 = partition.total.iter().map(pairs).sum();
            unit.weight(inside / 2.0) - options.resolution * expected
        }
    })
}

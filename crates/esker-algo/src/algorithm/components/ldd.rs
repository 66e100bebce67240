//! Low-diameter decomposition: divides an undirected graph into clusters of small radius with few edges
//! between them.
//!
//! Exponential shifts [1]: each vertex rng a shift from the exponential distribution of rate `beta`. The
//! vertex with the largest shift starts a breadth-first search; each other vertex starts one after as many
//! rounds as its shift is less than the largest, unless a search has reached it by then. A vertex belongs to
//! the cluster of the search that reached it first. In expectation at most 2 `beta` m edges are cut,
//! whichever of the searches meeting at a vertex gets it [2], and the radius is O(log n / `beta`) with high
//! probability.
//!
//! Searches that meet at a vertex race for it. A `deterministic` run gives it the least possible parent, by
//! reading the lists once more. Which vertices start searches, and the round in which a vertex is reached,
//! never vary.
//!
//! State: the centre of each vertex, `NONE` until it is reached; with trees, also its parent and round. Work:
//! O(n + m). Memory per vertex: one id for clusters, at most two for frontiers and vertices about to start,
//! two more with trees or in a deterministic run. Reads per round, as in breadth-first search: the lists of
//! the frontier, or those of unreached vertices up to the first neighbour in it.
//!
//! [1] G. Miller, R. Peng, S. C. Xu, "Parallel Graph Decompositions Using Random Shifts", SPAA 2013.
//! [2] J. Shun, L. Dhulipala, G. Blelloch, "A Simple and Practical Linear-Work Parallel Algorithm for
//!     Connectivity", SPAA 2014.

use esker_graph::random::RandomKey;
use esker_graph::{
    Direction, Flow, Graph, NONE, Piece, Run, Select, Stop, VertexId, Visitor, Weight, vertex,
};

use crate::estimate::{Estimate, Shape};
use crate::primitive::{
    EdgeOp, Frontier, VertexArray, Way, each_vertex, edge_map_way, need_undirected, vertex_count,
};

/// Options of [`ldd`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LddOptions {
    /// Rate of the exponential distribution of the shifts: about the fraction of edges cut. From 0.001 to 20.
    pub beta: f64,
    /// Whether to return the search tree of each cluster.
    pub trees: bool,
}

impl Default for LddOptions {
    fn default() -> Self {
        Self { beta: 0.2, trees: false }
    }
}

/// A low-diameter decomposition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ldd {
    /// The centre of each vertex's cluster.
    pub clusters: Vec<VertexId>,
    /// The trees of the clusters, if requested.
    pub trees: Option<Trees>,
    /// Number of clusters.
    pub count: usize,
    /// An upper bound of the distance of a vertex from its centre within its cluster. Exact if trees were
    /// requested, else the number of rounds.
    pub radius: usize,
    /// Number of rounds of the searches.
    pub rounds: usize,
}

/// The position of each vertex in the tree of its cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trees {
    /// The parent of each vertex; a centre is its own parent.
    pub parents: Vec<VertexId>,
    /// The number of edges from the centre.
    pub depths: Vec<VertexId>,
}

/// Estimates memory and reads; both are upper bounds.
pub fn estimate(shape: Shape, options: &LddOptions, deterministic: bool) -> Estimate {
    let id_bytes = size_of::<VertexId>() as u64;
    let ids = if options.trees || deterministic { 5 } else { 3 };
    // For each possible shift: a limit, a list, and a list per worker.
    let levels = levels(shape.num_vertices as usize, options.beta.max(BETA_MIN)) as u64 * 64;
    Estimate {
        memory_bytes: shape.num_vertices * ids * id_bytes + shape.num_vertices.div_ceil(64) * 8 * 2 + levels,
        read_bytes: shape.list_bytes() * (1 + u64::from(deterministic)),
    }
}

/// An error unless `beta` is in the supported range.
pub(crate) fn need_rate(beta: f64) -> Result<(), Stop> {
    if (BETA_MIN..=20.0).contains(&beta) {
        return Ok(());
    }
    Err(Stop::unsuitable(format!("beta is {beta} but must be from 0.001 to 20")))
}

fn finish(
    run: &Run,
    options: &LddOptions,
    clusters: VertexArray,
    tree: Option<SearchTrees>,
    rounds: usize,
) -> Result<Ldd, Stop> {
    let count = vertex_count(run, clusters.len(), |v| clusters.get(v) == v)?;
    let trees = match tree.filter(|_| options.trees) {
        Some(tree) => Some(tree.into_trees(run, &clusters)?),
        None => None,
    };
    let radius = match &trees {
        Some(trees) => trees.depths.iter().copied().max().unwrap_or(0) as usize,
        None => rounds,
    };
    Ok(Ldd { clusters: clusters.into_vec(), trees, count, radius, rounds })
}

/// The least rate. A much smaller one would take more rounds than there are vertices to reach.
const BETA_MIN: f64 = 1e-3;

/// The largest shift, rounded up: one so large occurs among `n` with probability 1/n.
fn levels(n: usize, beta: f64) -> usize {
    (2.0 * (n as f64 + 1.0).ln() / beta).ceil() as usize + 1
}

/// The purpose of the random numbers.
const SHIFTS: u64 = 0x6c64_6400;

/// The largest shifts, one in this many vertices, are sorted first; the rest only after most of the graph is
/// reached.
const FIRST_SHARE: f64 = 16.0;

/// The vertices in the order in which they start: by level, which is the shift rounded down, from the largest
/// to 0.
struct StartSchedule {
    rng: RandomKey,
    /// A vertex has a shift of at least `i + 1` if its random number is below `limits[i]`.
    limits: Vec<u64>,
    /// The vertices of each level from `drawn` up.
    levels: Vec<Vec<VertexId>>,
    drawn: usize,
    /// One more than the next level.
    above: usize,
}

impl StartSchedule {
    fn new(run: &Run, clusters: &VertexArray, rng: RandomKey, beta: f64) -> Result<Self, Stop> {
        let top = levels(clusters.len(), beta);
        let limits = (1..=top).map(|k| ((-beta * k as f64).exp() * (u64::MAX as f64)) as u64).collect();
        let drawn = ((FIRST_SHARE.ln() / beta).ceil() as usize).min(top);
        let mut schedule = Self { rng, limits, levels: Vec::new(), drawn: top + 1, above: top + 1 };
        schedule.draw(run, clusters, drawn)?;
        Ok(schedule)
    }

    /// Sorts the vertices without a cluster into the levels from `from` up to those sorted before.
    fn draw(&mut self, run: &Run, clusters: &VertexArray, from: usize) -> Result<(), Stop> {
        let (rng, limits, count) = (self.rng, &self.limits[..self.drawn - 1], self.drawn - from);
        let mut found = run.share_ranges(
            clusters.len(),
            1 << 14,
            || vec![Vec::new(); count],
            |levels: &mut Vec<Vec<VertexId>>, range| {
                for v in range.map(vertex) {
                    let draw = rng.at(u64::from(v));
                    if (from == 0 || draw < limits[from - 1]) && clusters.get(v) == NONE {
                        levels[limits[from..].partition_point(|&limit| draw < limit)].push(v);
                    }
                }
                Ok::<(), Stop>(())
            },
        )?;
        self.levels = (0..count)
            .map(|level| {
                let mut parts = found.iter_mut().map(|levels| std::mem::take(&mut levels[level]));
                let mut all = parts.next().unwrap_or_default();
                parts.for_each(|part| all.extend(part));
                all
            })
            .collect();
        self.drawn = from;
        Ok(())
    }

    /// Number of rounds before the next one in which a vertex starts; all remaining rounds if there is none.
    fn rounds_until_next(&mut self, run: &Run, clusters: &VertexArray) -> Result<VertexId, Stop> {
        let mut rounds = 0;
        while self.above > 0 {
            if self.above == self.drawn {
                self.draw(run, clusters, 0)?;
            }
            let level = &self.levels[self.above - 1 - self.drawn];
            if level.iter().any(|&v| clusters.get(v) == NONE) {
                break;
            }
            self.above -= 1;
            rounds += 1;
        }
        Ok(rounds)
    }

    /// The vertices of the next level that are in no cluster yet.
    fn next(&mut self, run: &Run, clusters: &VertexArray) -> Result<Vec<VertexId>, Stop> {
        if self.above == 0 {
            return Ok(Vec::new());
        }
        if self.above == self.drawn {
            self.draw(run, clusters, 0)?;
        }
        self.above -= 1;
        let mut level = std::mem::take(&mut self.levels[self.above - self.drawn]);
        level.retain(|&v| clusters.get(v) == NONE);
        Ok(level)
    }
}

/// How each vertex was reached.
struct SearchTrees {
    parents: VertexArray,
    /// The round in which each vertex was reached or started.
    rounds: VertexArray,
}

impl SearchTrees {
    fn new(run: &Run, n: usize) -> Self {
        Self { parents: VertexArray::from_fn(run, n, vertex), rounds: VertexArray::filled(run, n, 0) }
    }

    /// Replaces each parent by the least possible one, and updates the clusters accordingly.
    fn take_least_parents<G: Graph>(
        &self,
        graph: &G,
        run: &Run,
        clusters: &VertexArray,
    ) -> Result<(), G::Error> {
        graph.scan(run, Direction::Out, Select::All, &LeastTreeParents { tree: self, clusters })?;
        each_vertex(run, clusters.len(), |v| clusters.set(v, self.parents.get(v)))?;
        each_vertex(run, clusters.len(), |v| {
            let mut centre = clusters.get(v);
            loop {
                let above = clusters.get(centre);
                if above == centre {
                    break;
                }
                centre = above;
            }
            clusters.set(v, centre);
        })?;
        Ok(())
    }

    fn into_trees(self, run: &Run, clusters: &VertexArray) -> Result<Trees, Stop> {
        let depths = VertexArray::from_fn(run, clusters.len(), |v| {
            self.rounds.get(vertex(v)) - self.rounds.get(clusters.get(vertex(v)))
        });
        Ok(Trees { parents: self.parents.into_vec(), depths: depths.into_vec() })
    }
}

/// Lowers each parent to the least neighbour that was reached one round earlier.
struct LeastTreeParents<'a> {
    tree: &'a SearchTrees,
    clusters: &'a VertexArray,
}

impl<W: Weight> Visitor<W> for LeastTreeParents<'_> {
    type State = ();

    const BOXED: bool = true;

    fn new_state(&self) {}

    #[inline(always)]
    fn wants(&self, v: VertexId) -> bool {
        self.clusters.get(v) != v
    }

    #[inline(always)]
    fn visit(&self, (): &mut (), v: VertexId, piece: Piece<'_, W>) -> Flow {
        let before = self.tree.rounds.get(v) - 1;
        for &u in piece.targets {
            if u < self.tree.parents.get(v) && self.tree.rounds.get(u) == before {
                self.tree.parents.lower(v, u);
            }
        }
        Flow::More
    }
}

/// Adds a vertex without a cluster to the cluster of a neighbour.
struct JoinCluster<'a> {
    clusters: &'a VertexArray,
    tree: Option<&'a SearchTrees>,
    round: VertexId,
}

impl JoinCluster<'_> {
    #[inline(always)]
    fn keep(&self, src: VertexId, dst: VertexId) {
        if let Some(tree) = self.tree {
            tree.parents.set(dst, src);
            tree.rounds.set(dst, self.round);
        }
    }
}

impl<W: Weight> EdgeOp<W> for JoinCluster<'_> {
    const BOXED: bool = true;

    #[inline(always)]
    fn wants(&self, dst: VertexId) -> bool {
        self.clusters.get(dst) == NONE
    }

    #[inline(always)]
    fn push(&self, src: VertexId, dst: VertexId, _: W) -> bool {
        let first = self.clusters.claim(dst, NONE, self.clusters.get(src));
        if first {
            self.keep(src, dst);
        }
        first
    }

    #[inline(always)]
    fn push_alone(&self, src: VertexId, dst: VertexId, weight: W) -> bool {
        self.pull(dst, src, weight)
    }

    #[inline(always)]
    fn pull(&self, dst: VertexId, src: VertexId, _: W) -> bool {
        self.clusters.set(dst, self.clusters.get(src));
        self.keep(src, dst);
        true
    }
}

/// Decomposes an undirected graph.
///
/// # Errors
/// [`Stop::Unsuitable`] for a directed graph or a rate out of range; [`Stop::OverBudget`]; the first list
/// that cannot be read; cancellation.
pub fn ldd<G: Graph>(graph: &G, run: &Run, options: &LddOptions) -> Result<Ldd, G::Error> {
    let needed = estimate(Shape::of(graph), options, run.deterministic()).memory_bytes;
    let run = &run.begin("low-diameter decomposition", needed)?;
    need_undirected(graph, "low-diameter decomposition")?;
    need_rate(options.beta)?;
    run.install(|| decompose(graph, run, options, run.seed(), run.deterministic()))
}

/// As [`ldd`], within a run that has started and with its own seed; `settled` as in a deterministic run.
pub(crate) fn decompose<G: Graph>(
    graph: &G,
    run: &Run,
    options: &LddOptions,
    seed: u64,
    settled: bool,
) -> Result<Ldd, G::Error> {
    let n = graph.num_vertices();
    // A vertex without neighbours is a cluster by itself.
    let clusters = VertexArray::from_fn(run, n, |v| {
        if graph.degree(Direction::Out, vertex(v)) == 0 { vertex(v) } else { NONE }
    });
    let tree = (options.trees || settled).then(|| SearchTrees::new(run, n));
    let mut starts = StartSchedule::new(run, &clusters, RandomKey::new(seed, SHIFTS), options.beta)?;
    let mut frontier = Frontier::empty(graph);
    let (mut round, mut rounds, mut arcs) = (0, 0, 0);
    loop {
        if frontier.is_empty() {
            round += starts.rounds_until_next(run, &clusters)?;
        }
        let started = starts.next(run, &clusters)?;
        for &v in &started {
            clusters.set(v, v);
            if let Some(tree) = &tree {
                tree.rounds.set(v, round);
            }
        }
        frontier.add(graph, &started);
        if frontier.is_empty() {
            break;
        }
        run.round(frontier.len())?;
        let way = Way::choose(graph, &frontier, graph.num_arcs().saturating_sub(arcs));
        arcs += frontier.arcs();
        round += 1;
        rounds += 1;
        let join = JoinCluster { clusters: &clusters, tree: tree.as_ref(), round };
        frontier = edge_map_way(graph, run, way, &frontier, &join)?;
    }
    if let (true, Some(tree)) = (settled, &tree) {
        tree.take_least_parents(graph, run, &clusters)?;
    }
    Ok(finish(run, options, clusters, tree, rounds)?)
}

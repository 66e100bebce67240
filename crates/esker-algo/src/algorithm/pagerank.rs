//! PageRank: the stationary distribution of a random surfer.
//!
//! Power iteration: score(v) = (1 - damping) t(v) + damping (sum of score(u) / outdegree(u) over in-edges u -> v, plus
//! t(v) times the scores of vertices without out-edges), from score = t = 1/n, or from the personal `teleport`
//! distribution t. Iterations are synchronous, as Graphalytics and NetworkX define them. Parallel edges count each.
//!
//! Pulls along in-edges, the sum of a vertex by one thread in list order, and totals in a fixed order: with in-edges the
//! scores are bit-equal for any number of threads wherever lists come in exclusive pieces. Without in-edges, shares are
//! pushed along out-edges by atomic additions, and last bits vary with the order of these.
//!
//! Work O(n + m) a round. Memory: 24 bytes a vertex (score, share, sum). Reads: all in-lists (else out-lists) once a
//! round.
//!
//! S. Brin, L. Page, "The Anatomy of a Large-Scale Hypertextual Web Search Engine", WWW 1998.

use esker_graph::{Direction, Flow, Graph, Piece, Run, Select, Stop, VertexId, Visitor, Weight};

use crate::estimate::{Estimate, Shape};
use crate::primitive::{VertexValues, vertex_sums};

/// What is iterated, and when it ends.
#[derive(Debug, Clone, PartialEq)]
pub struct PageRankOptions {
    /// The chance that the surfer follows an edge rather than jumps; in 0..=1.
    pub damping: f64,
    /// Iteration ends once the scores of all vertices together change by less than this (L1 norm) in a round; 0: never.
    pub tolerance: f64,
    /// The most rounds.
    pub rounds_max: usize,
    /// Where the surfer jumps to, a weight for each vertex; `None`: anywhere alike. Weights are not negative, and are
    /// scaled to add up to 1.
    pub teleport: Option<Vec<f64>>,
}

impl Default for PageRankOptions {
    fn default() -> Self {
        Self { damping: 0.85, tolerance: 1e-6, rounds_max: 100, teleport: None }
    }
}

/// The scores and how good they are.
#[derive(Debug, Clone, PartialEq)]
pub struct PageRank {
    /// A score for each vertex; together 1.
    pub scores: Vec<f64>,
    /// Rounds done.
    pub rounds: usize,
    /// The change of all scores together (L1 norm) in the last round; infinite if there was none.
    pub residual: f64,
    /// Whether the residual is below the tolerance.
    pub converged: bool,
}

/// What PageRank will take; the reading is exact for `rounds_max` rounds.
pub fn estimate(shape: Shape, options: &PageRankOptions) -> Estimate {
    let arrays = 3 + u64::from(options.teleport.is_some());
    Estimate {
        memory_bytes: shape.num_vertices * 8 * arrays,
        read_bytes: shape.list_bytes() * options.rounds_max as u64,
    }
}

/// Computes the scores.
///
/// # Errors
/// [`Stop::Unsuitable`] for options out of range; [`Stop::OverBudget`]; the first list that cannot be read; cancellation.
pub fn pagerank<G: Graph>(graph: &G, run: &Run, options: &PageRankOptions) -> Result<PageRank, G::Error> {
    let n = graph.num_vertices();
    run.begin("PageRank", estimate(Shape::of(graph), options).memory_bytes)?;
    let teleport = Teleport::new(n, options)?;
    let state = Surf {
        scores: VertexValues::from_fn(run, n, |v| teleport.at(v)),
        shares: VertexValues::filled(run, n, 0.0),
        sums: VertexValues::filled(run, n, 0.0),
    };
    let [mut dangling, _] = vertex_sums(run, n, |v| state.share(graph, v, state.scores.get(v), 0.0))?;
    let (mut rounds, mut residual) = (0, f64::INFINITY);
    while rounds < options.rounds_max && n > 0 && residual >= options.tolerance {
        run.round(n)?;
        state.add_up(graph, run)?;
        [dangling, residual] = vertex_sums(run, n, |v| {
            let old = state.scores.get(v);
            let received = state.sums.get(v) + dangling * teleport.at(v as usize);
            let score = (1.0 - options.damping) * teleport.at(v as usize) + options.damping * received;
            state.scores.set(v, score);
            state.sums.set(v, 0.0);
            state.share(graph, v, score, (score - old).abs())
        })?;
        rounds += 1;
    }
    let converged = n == 0 || residual < options.tolerance;
    Ok(PageRank { scores: state.scores.into_vec(), rounds, residual, converged })
}

/// Where the surfer jumps to.
enum Teleport {
    Anywhere(f64),
    To(Vec<f64>),
}

impl Teleport {
    fn new(n: usize, options: &PageRankOptions) -> Result<Self, Stop> {
        if !(0.0..=1.0).contains(&options.damping) {
            return Err(Stop::Unsuitable(format!("damping {} is not in 0..=1", options.damping)));
        }
        if options.tolerance.is_nan() {
            return Err(Stop::Unsuitable("the tolerance is not a number".to_owned()));
        }
        let Some(weights) = &options.teleport else { return Ok(Self::Anywhere(1.0 / n as f64)) };
        let total: f64 = weights.iter().sum();
        let fits = weights.len() == n && weights.iter().all(|&w| w >= 0.0);
        if !(fits && total > 0.0 && total.is_finite()) {
            return Err(Stop::Unsuitable(format!(
                "teleport takes {n} weights, none negative and not all zero; it was given {} that add up to {total}",
                weights.len()
            )));
        }
        Ok(Self::To(weights.iter().map(|w| w / total).collect()))
    }

    #[inline(always)]
    fn at(&self, v: usize) -> f64 {
        match self {
            Self::Anywhere(share) => *share,
            Self::To(shares) => shares[v],
        }
    }
}

struct Surf {
    scores: VertexValues<f64>,
    /// What a vertex gives along each of its out-edges.
    shares: VertexValues<f64>,
    /// What it received in this round.
    sums: VertexValues<f64>,
}

impl Surf {
    /// Sets the share of `v`. Returns its score if it has nobody to give it to, and `change`.
    #[inline(always)]
    fn share<G: Graph>(&self, graph: &G, v: VertexId, score: f64, change: f64) -> [f64; 2] {
        match graph.degree(Direction::Out, v) {
            0 => [score, change],
            degree => {
                self.shares.set(v, score / degree as f64);
                [0.0, change]
            }
        }
    }

    /// Adds the shares of all in-neighbours to the sum of each vertex.
    fn add_up<G: Graph>(&self, graph: &G, run: &Run) -> Result<(), G::Error> {
        if graph.has(Direction::In) {
            graph.scan(run, Direction::In, Select::All, &Gather(self))?;
        } else {
            graph.scan(run, Direction::Out, Select::All, &Scatter(self))?;
        }
        Ok(())
    }
}

struct Gather<'a>(&'a Surf);

impl<W: Weight> Visitor<W> for Gather<'_> {
    type State = ();

    fn new_state(&self) {}

    #[inline(always)]
    fn visit(&self, (): &mut (), v: VertexId, piece: Piece<'_, W>) -> Flow {
        let sum = piece.targets.iter().map(|&u| self.0.shares.get(u)).sum();
        if piece.exclusive {
            self.0.sums.add_alone(v, sum);
        } else {
            self.0.sums.add(v, sum);
        }
        Flow::More
    }
}

struct Scatter<'a>(&'a Surf);

impl<W: Weight> Visitor<W> for Scatter<'_> {
    type State = ();

    fn new_state(&self) {}

    #[inline(always)]
    fn visit(&self, (): &mut (), u: VertexId, piece: Piece<'_, W>) -> Flow {
        let share = self.0.shares.get(u);
        for &v in piece.targets {
            self.0.sums.add(v, share);
        }
        Flow::More
    }
}

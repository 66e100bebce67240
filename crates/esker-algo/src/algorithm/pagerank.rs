//! PageRank: the stationary distribution of a random surfer.
//!
//! Power iteration: score(v) = (1 - damping) t(v) + damping (sum of score(u) / outdegree(u) over in-edges u -> v, plus
//! t(v) times the scores of vertices without out-edges), from score = t = 1/n, or from the personal `teleport`
//! distribution t. Iterations are synchronous, as Graphalytics and NetworkX define them. Parallel edges count each.
//!
//! How sums over neighbours are computed: see `primitive/neighbour_sum.rs`. Scores are bit-equal for any number of threads.
//!
//! Shares (what a vertex gives along each of its edges) are kept in single precision if the tolerance is at least 10^-6: that changes the
//! scores by at most damping / (1 - damping) times 2^-24 in all, 3.4 * 10^-7 at 0.85. Sums and scores are always double. Over tiles shares
//! are fixed-point, in multiples of 2^-62, and scores follow from them.
//!
//! Work O(n + m) a round. Memory: 24 or 32 bytes a vertex (score, two shares, sum); 16 over tiles. Reads: all in-lists (else out-lists)
//! once a round.
//!
//! S. Brin, L. Page, "The Anatomy of a Large-Scale Hypertextual Web Search Engine", WWW 1998.

use esker_graph::{Direction, Graph, Run, Stop, VertexId};

use crate::estimate::{Estimate, Shape};
use crate::primitive::{NeighbourSum, Precision, VertexValues, each, from_fixed, to_fixed};

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

/// The least tolerance for which shares are kept in single precision.
const SINGLE_TOLERANCE_MIN: f64 = 1e-6;

impl PageRankOptions {
    fn precision(&self) -> Precision {
        if self.tolerance >= SINGLE_TOLERANCE_MIN { Precision::Single } else { Precision::Double }
    }

    /// Whether shares are kept in single precision.
    pub(crate) fn is_single(&self) -> bool {
        self.precision() == Precision::Single
    }

    /// The rounds that will be done by estimate: each leaves at most `damping` of the change of the round before.
    fn rounds_in_all(&self, rounds: usize, residual: f64) -> u64 {
        let left = ((self.tolerance / residual.min(2.0)).ln() / self.damping.ln()).ceil();
        // No number of rounds is enough for a damping of 1 or a tolerance of 0.
        let left = if left.is_finite() { left.max(1.0) as usize } else { usize::MAX };
        rounds.saturating_add(left).min(self.rounds_max) as u64
    }

    pub(crate) fn check(&self) -> Result<(), Stop> {
        if !(0.0..=1.0).contains(&self.damping) {
            return Err(Stop::Unsuitable(format!("damping {} is not in 0..=1", self.damping)));
        }
        if self.tolerance.is_nan() {
            return Err(Stop::Unsuitable("the tolerance is not a number".to_owned()));
        }
        Ok(())
    }
}

/// What PageRank will take; the reading is exact for `rounds_max` rounds.
pub fn estimate(shape: Shape, options: &PageRankOptions) -> Estimate {
    let score_bytes = if shape.scattered { 0 } else { 8 };
    let sum_bytes = NeighbourSum::<()>::vertex_bytes(shape.scattered, options.precision());
    let vertex_bytes = score_bytes + sum_bytes + 8 * u64::from(options.teleport.is_some());
    Estimate {
        memory_bytes: shape.num_vertices * vertex_bytes + shape.num_vertices.div_ceil(64) * 8,
        read_bytes: shape.list_bytes().saturating_mul(options.rounds_max as u64),
    }
}

/// Computes the scores.
///
/// # Errors
/// [`Stop::Unsuitable`] for options out of range; [`Stop::OverBudget`]; the first list that cannot be read; cancellation.
pub fn pagerank<G: Graph>(graph: &G, run: &Run, options: &PageRankOptions) -> Result<PageRank, G::Error> {
    pagerank_from(graph, run, options, None)
}

/// As [`pagerank`], from scores that are near the result, one a vertex, if there are any.
pub(crate) fn pagerank_from<G: Graph>(
    graph: &G,
    run: &Run,
    options: &PageRankOptions,
    start: Option<&[f64]>,
) -> Result<PageRank, G::Error> {
    let run = &run.begin("PageRank", estimate(Shape::of(graph), options).memory_bytes)?;
    options.check()?;
    let teleport = Teleport::new(graph.num_vertices(), options.teleport.as_deref())?;
    run.install(|| iterate(graph, run, options, &teleport, start))
}

/// The power iteration.
fn iterate<G: Graph>(
    graph: &G,
    run: &Run,
    options: &PageRankOptions,
    teleport: &Teleport,
    start: Option<&[f64]>,
) -> Result<PageRank, G::Error> {
    let n = graph.num_vertices();
    let start = |v: usize| start.map_or_else(|| teleport.at(v), |start| start[v]);
    let mut sums = NeighbourSum::new(graph, run, options.precision());
    let scores = (!sums.keeps_shares()).then(|| VertexValues::from_fn(run, n, &start));
    let shares = |degree: usize| degree.max(1) as f64;
    // A vertex without out-edges gives its score to all vertices: `dangling` is the sum of these scores.
    let set = |sums: &NeighbourSum<'_, G>, totals: &mut Totals, v: VertexId, score: f64| {
        let degree = graph.degree(Direction::Out, v);
        let old = scores.as_ref().map_or_else(|| sums.share(v) * shares(degree), |scores| scores.get(v));
        totals.change += to_fixed((score - old).abs());
        if let Some(scores) = &scores {
            scores.set(v, score);
        }
        if degree == 0 {
            totals.dangling += to_fixed(score);
        }
        sums.give(v, score / shares(degree));
    };
    let first = each(run, n, |totals, v| set(&sums, totals, v, start(v as usize)))?;
    let found = until_converged(n, run, options, first, |dangling| {
        let damping = options.damping;
        sums.round(run, |sums, totals, v, sum| {
            let jump = teleport.at(v as usize);
            set(sums, totals, v, (1.0 - damping) * jump + damping * (sum + dangling * jump));
        })
    })?;
    let scores = match scores {
        Some(scores) => scores.into_vec(),
        None => sums.into_values(|v, share| share * shares(graph.degree(Direction::Out, v))),
    };
    Ok(PageRank { scores, ..found })
}

/// Repeats `round`, which takes the sum of the scores of vertices without out-edges, until the options end it. `totals` are those of the
/// first scores. The answer has no scores yet.
pub(super) fn until_converged<E: From<Stop>>(
    n: usize,
    run: &Run,
    options: &PageRankOptions,
    mut totals: Vec<Totals>,
    mut round: impl FnMut(f64) -> Result<Vec<Totals>, E>,
) -> Result<PageRank, E> {
    let (mut rounds, mut residual) = (0, f64::INFINITY);
    while rounds < options.rounds_max && n > 0 && residual >= options.tolerance {
        run.round(n)?;
        run.set_done(rounds as u64, options.rounds_in_all(rounds, residual));
        totals = round(from_fixed(totals.iter().map(|worker| worker.dangling).sum()))?;
        residual = from_fixed(totals.iter().map(|worker| worker.change).sum());
        rounds += 1;
    }
    let converged = n == 0 || residual < options.tolerance;
    Ok(PageRank { scores: Vec::new(), rounds, residual, converged })
}

/// Where the surfer jumps to.
pub(super) enum Teleport {
    /// To any vertex with this chance.
    Anywhere(f64),
    /// To each vertex with its own chance.
    To(Vec<f64>),
}

impl Teleport {
    /// By the weights of all vertices, if they are not alike.
    pub(super) fn new(n: usize, weights: Option<&[f64]>) -> Result<Self, Stop> {
        let Some(weights) = weights else { return Ok(Self::Anywhere(1.0 / n as f64)) };
        let total: f64 = weights.iter().sum();
        let fits = weights.len() == n && weights.iter().all(|&w| w >= 0.0);
        if !(fits && total > 0.0 && total.is_finite()) {
            return Err(Stop::Unsuitable(format!(
                "teleport takes {}, none negative and not all zero; it was given {} with the sum {total}",
                esker_graph::counted(n, "weight", "weights"),
                weights.len()
            )));
        }
        Ok(Self::To(weights.iter().map(|w| w / total).collect()))
    }

    #[inline(always)]
    pub(super) fn at(&self, v: usize) -> f64 {
        match self {
            Self::Anywhere(share) => *share,
            Self::To(shares) => shares[v],
        }
    }
}

/// Sums over the vertices that one worker finished, fixed-point.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Totals {
    /// Scores of vertices without out-edges.
    pub(super) dangling: u64,
    /// Differences from the scores of the round before.
    pub(super) change: u64,
}

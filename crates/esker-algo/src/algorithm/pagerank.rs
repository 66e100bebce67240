//! PageRank: the stationary distribution of a random surfer.
//!
//! Power iteration: score(v) = (1 - damping) t(v) + damping (sum of score(u) / outdegree(u) over in-edges u -> v, plus
//! t(v) times the scores of vertices without out-edges), from score = t = 1/n, or from the personal `teleport`
//! distribution t. Iterations are synchronous, as Graphalytics and NetworkX define them. Parallel edges count each.
//!
//! Pulls along in-edges, the sum of a vertex by one thread in list order. Where a list comes in several pieces, or without
//! in-edges and shares are pushed along out-edges, sums are fixed-point, and so are totals over all vertices: the scores are
//! bit-equal for any number of threads.
//!
//! What a vertex gives along each of its edges is kept in single precision if that is good enough: it changes the scores
//! by less than 10^-7 in all, so it is if the tolerance is at least 10^-6. Sums and scores are always double.
//!
//! Work O(n + m) a round. Memory: 24 or 32 bytes a vertex (score, two shares, sum). Reads: all in-lists (else out-lists) once a
//! round.
//!
//! S. Brin, L. Page, "The Anatomy of a Large-Scale Hypertextual Web Search Engine", WWW 1998.

use std::ops::Range;

use esker_graph::{Bitmap, Direction, Flow, Graph, Piece, Run, Select, Stop, VertexId, Visitor, vertex};

use crate::estimate::{Estimate, Shape};
use crate::primitive::{Real, VertexValues};

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
    let share_bytes = if options.tolerance >= SINGLE_TOLERANCE_MIN { 4 } else { 8 };
    let vertex_bytes = 16 + 2 * share_bytes + 8 * u64::from(options.teleport.is_some());
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
    let n = graph.num_vertices();
    run.begin("PageRank", estimate(Shape::of(graph), options).memory_bytes)?;
    let teleport = Teleport::new(n, options)?;
    if options.tolerance >= SINGLE_TOLERANCE_MIN {
        run.install(|| iterate::<f32, G>(graph, run, options, &teleport))
    } else {
        run.install(|| iterate::<f64, G>(graph, run, options, &teleport))
    }
}

/// The least tolerance for which shares are kept in single precision.
const SINGLE_TOLERANCE_MIN: f64 = 1e-6;

/// The power iteration, with shares of type `S`.
fn iterate<S: Real, G: Graph>(
    graph: &G,
    run: &Run,
    options: &PageRankOptions,
    teleport: &Teleport,
) -> Result<PageRank, G::Error> {
    let n = graph.num_vertices();
    let mut surf = Surf {
        graph,
        teleport,
        damping: options.damping,
        dangling: 0.0,
        scores: VertexValues::from_fn(run, n, |v| teleport.at(v)),
        given: VertexValues::filled(run, n, S::nearest(0.0)),
        shares: VertexValues::filled(run, n, S::nearest(0.0)),
        sums: VertexValues::filled(run, n, 0),
        open: Bitmap::new(n),
    };
    let mut totals = surf.start(run)?;
    let (mut rounds, mut residual) = (0, f64::INFINITY);
    while rounds < options.rounds_max && n > 0 && residual >= options.tolerance {
        run.round(n)?;
        std::mem::swap(&mut surf.given, &mut surf.shares);
        surf.dangling = from_fixed(totals.dangling);
        totals = surf.round(run)?;
        residual = from_fixed(totals.change);
        rounds += 1;
    }
    let converged = n == 0 || residual < options.tolerance;
    Ok(PageRank { scores: surf.scores.into_vec(), rounds, residual, converged })
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

/// A number of 0..4 as a multiple of 2^-62. Sums of such do not depend on their order.
#[inline(always)]
fn to_fixed(number: f64) -> u64 {
    (number * FIXED_ONE) as u64
}

fn from_fixed(fixed: u64) -> f64 {
    fixed as f64 / FIXED_ONE
}

const FIXED_ONE: f64 = (1u64 << 62) as f64;

struct Surf<'a, S: Real, G> {
    graph: &'a G,
    teleport: &'a Teleport,
    damping: f64,
    /// The scores of vertices without out-edges together, after the round before.
    dangling: f64,
    scores: VertexValues<f64>,
    /// What a vertex gives along each of its out-edges in this round.
    given: VertexValues<S>,
    /// What it will give in the next.
    shares: VertexValues<S>,
    /// What the open vertices received in this round, fixed-point; zero between rounds.
    sums: VertexValues<u64>,
    /// Vertices that do not get their whole in-list in one exclusive piece: their scores are set after the scan.
    open: Bitmap,
}

/// Sums over the vertices that one worker saw, fixed-point.
#[derive(Debug, Clone, Copy, Default)]
struct Totals {
    /// Scores of vertices without out-edges.
    dangling: u64,
    /// Differences from the scores of the round before.
    change: u64,
}

impl Totals {
    fn join(self, other: Self) -> Self {
        Self { dangling: self.dangling + other.dangling, change: self.change + other.change }
    }
}

impl<S: Real, G: Graph> Surf<'_, S, G> {
    /// Shares out the first scores; opens the vertices that no list will come for.
    fn start(&self, run: &Run) -> Result<Totals, Stop> {
        let n = self.graph.num_vertices();
        let pulls = self.graph.has(Direction::In);
        let totals = run.share_ranges::<_, Stop>(n, GRAIN, Totals::default, |totals, range| {
            for v in range.map(vertex) {
                self.share(totals, v, self.scores.get(v));
                if !pulls || self.graph.degree(Direction::In, v) == 0 {
                    self.open.insert_alone(v);
                }
            }
            Ok(())
        })?;
        Ok(totals.into_iter().fold(Totals::default(), Totals::join))
    }

    /// Sets all scores from what is given.
    fn round(&self, run: &Run) -> Result<Totals, G::Error> {
        let n = self.graph.num_vertices();
        let closed: Vec<Totals> = if self.graph.has(Direction::In) {
            let gathered = self.graph.scan(run, Direction::In, Select::All, &Gather(self))?;
            let left: usize = gathered.iter().map(|gathered| gathered.left).sum();
            if left == n {
                return Ok(gathered
                    .into_iter()
                    .map(|gathered| gathered.totals)
                    .fold(Totals::default(), Totals::join));
            }
            gathered.into_iter().map(|gathered| gathered.totals).collect()
        } else {
            self.graph.scan(run, Direction::Out, Select::All, &Scatter(self))?
        };
        let open = run.share_ranges::<_, Stop>(n, GRAIN, Totals::default, |totals, range| {
            for v in self.open.iter_range(range) {
                self.set(totals, v, from_fixed(self.sums.get(v)));
                self.sums.set(v, 0);
            }
            Ok(())
        })?;
        Ok(closed.into_iter().chain(open).fold(Totals::default(), Totals::join))
    }

    /// Sets the score of `v`, which received `sum`.
    #[inline(always)]
    fn set(&self, totals: &mut Totals, v: VertexId, sum: f64) {
        let jump = self.teleport.at(v as usize);
        let score = (1.0 - self.damping) * jump + self.damping * (sum + self.dangling * jump);
        totals.change += to_fixed((score - self.scores.get(v)).abs());
        self.scores.set(v, score);
        self.share(totals, v, score);
    }

    /// Sets what `v` gives to each neighbour in the next round.
    #[inline(always)]
    fn share(&self, totals: &mut Totals, v: VertexId, score: f64) {
        match self.graph.degree(Direction::Out, v) {
            0 => totals.dangling += to_fixed(score),
            degree => self.shares.set(v, S::nearest(score / degree as f64)),
        }
    }
}

/// Vertices that one unit of work without lists holds.
const GRAIN: usize = 1 << 14;

struct Gather<'a, S: Real, G>(&'a Surf<'a, S, G>);

/// What a worker that gathers carries.
#[derive(Debug, Default)]
struct Gathered {
    totals: Totals,
    /// Vertices of the ranges that it has left.
    left: usize,
    /// The first vertex of the range that it has entered, and the sum of each vertex of it; empty in none.
    first: usize,
    sums: Vec<f64>,
}

impl<S: Real, G: Graph> Visitor<G::Weight> for Gather<'_, S, G> {
    type State = Gathered;

    const STOPS: bool = false;

    fn new_state(&self) -> Gathered {
        Gathered::default()
    }

    #[inline(always)]
    fn visit(&self, gathered: &mut Gathered, v: VertexId, piece: Piece<'_, G::Weight>) -> Flow {
        let surf = self.0;
        let sum = surf.given.sum_over(piece.targets);
        if let Some(entered) = gathered.sums.get_mut((v as usize).wrapping_sub(gathered.first)) {
            *entered += sum;
        } else if piece.exclusive
            && piece.targets.len() == surf.graph.degree(Direction::In, v)
            && !surf.open.get(v)
        {
            surf.set(&mut gathered.totals, v, sum);
        } else {
            surf.open.insert(v);
            surf.sums.add(v, to_fixed(sum));
        }
        Flow::More
    }

    fn enter(&self, gathered: &mut Gathered, vertices: Range<usize>) {
        gathered.first = vertices.start;
        gathered.sums.resize(vertices.len(), 0.0);
    }

    fn leave(&self, gathered: &mut Gathered) {
        gathered.left += gathered.sums.len();
        for (v, sum) in (gathered.first..).zip(gathered.sums.drain(..)) {
            self.0.set(&mut gathered.totals, vertex(v), sum);
        }
    }
}

struct Scatter<'a, S: Real, G>(&'a Surf<'a, S, G>);

impl<S: Real, G: Graph> Visitor<G::Weight> for Scatter<'_, S, G> {
    type State = Totals;

    fn new_state(&self) -> Totals {
        Totals::default()
    }

    #[inline(always)]
    fn visit(&self, _: &mut Totals, u: VertexId, piece: Piece<'_, G::Weight>) -> Flow {
        let share = to_fixed(self.0.given.get(u).into());
        for &v in piece.targets {
            self.0.sums.add(v, share);
        }
        Flow::More
    }
}

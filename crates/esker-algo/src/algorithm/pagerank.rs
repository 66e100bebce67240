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
//! by at most damping / (1 - damping) times 2^-24 in all, 3.4 * 10^-7 at 0.85, so it is if the tolerance is at least 10^-6. Sums and scores are always double. Over graphs whose lists come in
//! parts all over a scan, see `tides.rs`.
//!
//! Work O(n + m) a round. Memory: 24 or 32 bytes a vertex (score, two shares, sum); 16 where lists come in parts. Reads: all in-lists (else out-lists) once a
//! round.
//!
//! S. Brin, L. Page, "The Anatomy of a Large-Scale Hypertextual Web Search Engine", WWW 1998.

use std::ops::Range;

use esker_graph::{Bitmap, Direction, Flow, Graph, Piece, Run, Select, Stop, VertexId, Visitor, vertex};

use super::surfer::{GRAIN, Limits, Rule, Surfing, Teleport, Totals, iterate};
use super::tides::Tides;
use crate::estimate::{Estimate, Shape};
use crate::primitive::{Real, VertexValues, from_fixed, to_fixed};

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
    let own = if shape.scattered { 16 } else { 16 + 2 * share_bytes };
    let vertex_bytes = own + 8 * u64::from(options.teleport.is_some());
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
    let teleport = teleport(n, options)?;
    let rule = Rule { teleport: &teleport, damping: options.damping, dangling: 0.0 };
    let limits = Limits { tolerance: options.tolerance, rounds_max: options.rounds_max };
    let (scores, rounds, residual) = run.install(|| {
        if graph.is_scattered() {
            iterate(run, n, limits, Tides::new(graph, run, rule))
        } else if options.tolerance >= SINGLE_TOLERANCE_MIN {
            iterate(run, n, limits, surf::<f32, G>(graph, run, rule))
        } else {
            iterate(run, n, limits, surf::<f64, G>(graph, run, rule))
        }
    })?;
    let converged = n == 0 || residual < options.tolerance;
    Ok(PageRank { scores, rounds, residual, converged })
}

/// Where the surfer jumps to, by options in range.
fn teleport(n: usize, options: &PageRankOptions) -> Result<Teleport, Stop> {
    if !(0.0..=1.0).contains(&options.damping) {
        return Err(Stop::Unsuitable(format!("damping {} is not in 0..=1", options.damping)));
    }
    if options.tolerance.is_nan() {
        return Err(Stop::Unsuitable("the tolerance is not a number".to_owned()));
    }
    Teleport::new(n, options.teleport.as_deref())
}

/// The least tolerance for which shares are kept in single precision.
const SINGLE_TOLERANCE_MIN: f64 = 1e-6;

/// Shares of type `S`, and the scores that are known at the start.
fn surf<'a, S: Real, G: Graph>(graph: &'a G, run: &Run, rule: Rule<'a>) -> Surf<'a, S, G> {
    let n = graph.num_vertices();
    Surf {
        graph,
        rule,
        scores: rule.first_scores(run, n),
        given: VertexValues::filled(run, n, S::nearest(0.0)),
        shares: VertexValues::filled(run, n, S::nearest(0.0)),
        sums: VertexValues::filled(run, n, 0),
        open: Bitmap::new(n),
    }
}

struct Surf<'a, S: Real, G> {
    graph: &'a G,
    rule: Rule<'a>,
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

impl<S: Real, G: Graph> Surfing for Surf<'_, S, G> {
    type Error = G::Error;

    /// Opens the vertices that no list will come for.
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

    fn round(&mut self, run: &Run, dangling: f64) -> Result<Totals, G::Error> {
        std::mem::swap(&mut self.given, &mut self.shares);
        self.rule.dangling = dangling;
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

    fn into_scores(self) -> Vec<f64> {
        self.scores.into_vec()
    }
}

impl<S: Real, G: Graph> Surf<'_, S, G> {
    /// Sets the score of `v`, which received `sum`.
    #[inline(always)]
    fn set(&self, totals: &mut Totals, v: VertexId, sum: f64) {
        let score = self.rule.score(v, sum);
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
            if piece.exclusive {
                surf.sums.add_alone(v, to_fixed(sum));
            } else {
                surf.sums.add(v, to_fixed(sum));
            }
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

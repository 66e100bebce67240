//! PageRank: the stationary distribution of a random surfer.
//!
//! Power iteration: score(v) = (1 - damping) t(v) + damping (sum of score(u) / outdegree(u) over in-edges u
//! -> v, plus t(v) times the scores of vertices without out-edges), from score = t = 1/n, or from the
//! personal `teleport` distribution t. Iterations are synchronous, as Graphalytics and NetworkX define them.
//! Parallel edges count each.
//!
//! How sums over neighbours are computed: see `primitive/neighbour_sum.rs`. Scores are bit-equal for any
//! number of threads where lists come whole.
//!
//! The tolerance bounds the error: the sum of the differences of all scores from the exact ones.
//! `convergence.rs` says how it follows from the change of a round.
//!
//! Shares (what a vertex gives along each of its edges) are kept in single precision if the rounding of all
//! rounds together then takes at most a quarter of the tolerance. Then four shares at a time are added in it.
//! A round changes each score by at most damping times 3 * 2^-24 of itself, and all rounds by 1 / (1 -
//! damping) times that, 10^-6 at 0.85. With a smaller tolerance, shares stay in single precision only while a
//! round changes the scores by 10^-6 or more in all, and only for more than 32,768 vertices: fewer fit a
//! cache in double precision. In those rounds the scores are much farther than that from the limit. Later
//! rounds keep shares in double precision, and each leaves at most `damping` of what single precision
//! changed. Other sums and scores are always double. Over tiles shares are fixed-point, in multiples of
//! 2^-62, and scores follow from them.
//!
//! Work O(n + m) a round. Memory: 32 bytes a vertex (score, sum twice, share, degree), 36 for a tolerance
//! that single precision does not allow; 16 over tiles. Reads: all in-lists (else out-lists) once a round.
//!
//! S. Brin, L. Page, "The Anatomy of a Large-Scale Hypertextual Web Search Engine", WWW 1998.

use esker_graph::{Direction, Graph, Run, Stop, VertexId, vertex};

pub use crate::algorithm::centrality::convergence::{Criterion, error_bound};
use crate::algorithm::centrality::convergence::{SINGLE_ROUNDING, rounding};
use crate::estimate::{Estimate, Shape};
use crate::primitive::{
    CHUNK_LEN, NeighbourSum, Precision, VectorLoop, VertexArray, VertexChunk, VertexValues, Weighing,
    from_fixed, to_fixed, with_vectors,
};

/// What is iterated, and when it ends.
#[derive(Debug, Clone, PartialEq)]
pub struct PageRankOptions {
    /// The chance that the surfer follows an edge rather than jumps; in 0..=1.
    pub damping: f64,
    /// Iteration ends once what the criterion measures is below this; 0: never.
    pub tolerance: f64,
    /// What the tolerance bounds.
    pub criterion: Criterion,
    /// The most rounds.
    pub rounds_max: usize,
    /// Where the surfer jumps to, a weight for each vertex; `None`: anywhere alike. Weights are not negative,
    /// and are scaled to add up to 1.
    pub teleport: Option<Vec<f64>>,
}

impl Default for PageRankOptions {
    fn default() -> Self {
        Self {
            damping: 0.85,
            tolerance: TOLERANCE,
            criterion: Criterion::Error,
            rounds_max: 100,
            teleport: None,
        }
    }
}

/// The default tolerance. Runs take about as many rounds as until a round changes the scores by 10^-6, the
/// default of other programs, and the rounding of single precision takes a fifth of it.
const TOLERANCE: f64 = 5e-6;

/// The scores and how good they are.
#[derive(Debug, Clone, PartialEq)]
pub struct PageRank {
    /// A score for each vertex; together 1.
    pub scores: Vec<f64>,
    /// Rounds done.
    pub rounds: usize,
    /// The change of all scores together (L1 norm) in the last round; infinite if there was none.
    pub residual: f64,
    /// A bound for the sum of the differences of all scores from the exact ones; infinite if there was no
    /// round, or with a damping of 1.
    pub error: f64,
    /// Whether what the criterion measures, the error or the residual, is below the tolerance.
    pub converged: bool,
}

/// The least residual for which shares are kept in single precision, and the least tolerance of residuals.
const SINGLE_RESIDUAL_MIN: f64 = 1e-6;
/// The part of a tolerance of errors that the rounding of single precision may take.
const SINGLE_SHARE_MAX: f64 = 0.25;
/// The number of shares that fit a second-level cache in double precision too.
const DOUBLE_LEN_MAX: usize = 1 << 15;

impl PageRankOptions {
    /// The precision of the shares of `n` vertices after a round that left this residual: see the head of the
    /// file.
    pub(crate) fn precision(&self, n: usize, residual: f64) -> Precision {
        let early = n > DOUBLE_LEN_MAX && residual >= SINGLE_RESIDUAL_MIN;
        if self.is_single() || early { Precision::Single } else { Precision::Double }
    }

    /// Whether shares are kept in single precision in every round.
    pub(crate) fn is_single(&self) -> bool {
        match self.criterion {
            Criterion::Error => {
                error_bound(self.damping, 0.0, SINGLE_ROUNDING) <= self.tolerance * SINGLE_SHARE_MAX
            }
            Criterion::Change => self.tolerance >= SINGLE_RESIDUAL_MIN,
        }
    }

    /// What the criterion measures.
    pub(crate) fn measured(&self, residual: f64, error: f64) -> f64 {
        match self.criterion {
            Criterion::Error => error,
            Criterion::Change => residual,
        }
    }

    /// The rounds that will be done by estimate: each leaves at most `damping` of the change of the round
    /// before. `measured` is what the criterion measured after the last round.
    fn rounds_in_all(&self, rounds: usize, measured: f64) -> u64 {
        // No round changes the scores by more than 2.
        let most = self.measured(2.0, error_bound(self.damping, 2.0, 0.0));
        let left = ((self.tolerance / measured.min(most)).ln() / self.damping.ln()).ceil();
        // No number of rounds is enough for a damping of 1 or a tolerance of 0.
        let left = if left.is_finite() { left.max(1.0) as usize } else { usize::MAX };
        rounds.saturating_add(left).min(self.rounds_max) as u64
    }

    pub(crate) fn check(&self) -> Result<(), Stop> {
        if !(0.0..=1.0).contains(&self.damping) {
            return Err(Stop::unsuitable(format!("damping {} is not in 0..=1", self.damping)));
        }
        if self.tolerance.is_nan() {
            return Err(Stop::unsuitable("the tolerance is not a number".to_owned()));
        }
        Ok(())
    }
}

/// What PageRank will take; the reading is exact for `rounds_max` rounds.
pub fn estimate(shape: Shape, options: &PageRankOptions) -> Estimate {
    // A score and a degree.
    let score_bytes = if shape.scattered { 0 } else { 8 + size_of::<VertexId>() as u64 };
    let sum_bytes = NeighbourSum::<()>::vertex_bytes(shape.scattered, options.precision(0, 0.0));
    let vertex_bytes = score_bytes + sum_bytes + 8 * u64::from(options.teleport.is_some());
    Estimate {
        memory_bytes: shape.num_vertices * vertex_bytes + shape.num_vertices.div_ceil(64) * 8,
        read_bytes: shape.list_bytes().saturating_mul(options.rounds_max as u64),
    }
}

/// Computes the scores.
///
/// ```
/// use esker_algo::algorithm::centrality::pagerank::{PageRankOptions, pagerank};
/// use esker_graph::{Csr, Run};
///
/// let csr = Csr::directed(3, &[(0, 1, ()), (1, 0, ()), (2, 0, ())])?;
/// let options = PageRankOptions { damping: 0.5, ..PageRankOptions::default() };
/// let found = pagerank(&csr.graph(), &Run::with_threads(1)?, &options)?;
/// assert!(found.converged && found.scores[0] > found.scores[1]);
/// assert!((found.scores[2] - 0.5 / 3.0).abs() < 1e-6); // nothing links to vertex 2
/// # Ok::<(), esker_graph::Stop>(())
/// ```
///
/// # Errors
/// [`Stop::Unsuitable`] for options out of range; [`Stop::OverBudget`]; the first list that cannot be read;
/// cancellation.
pub fn pagerank<G: Graph>(graph: &G, run: &Run, options: &PageRankOptions) -> Result<PageRank, G::Error> {
    let run = &run.begin("PageRank", estimate(Shape::of(graph), options).memory_bytes)?;
    options.check()?;
    let teleport = Teleport::new(graph.num_vertices(), options.teleport.as_deref())?;
    run.install(|| {
        let (sums, degrees) = (NeighbourSum::new(graph, run), OutDegrees::new(graph, run));
        iterate(run, options, &teleport, sums, &degrees)
    })
}

/// The power iteration. `sums` has no shares yet.
pub(crate) fn iterate<G: Graph, K: Weighing<G::Weight>, P: Parting>(
    run: &Run,
    options: &PageRankOptions,
    teleport: &Teleport,
    mut sums: NeighbourSum<'_, G, K>,
    parting: &P,
) -> Result<PageRank, G::Error> {
    let n = sums.graph().num_vertices();
    // Over tiles, scores follow from shares.
    let keeps_shares = sums.keeps_shares();
    let mut scores = match keeps_shares {
        true => Vec::new(),
        false => VertexValues::from_fn(run, n, |v| teleport.at(v)).into_vec(),
    };
    let precision = |residual| match parting.fits_single() {
        true => options.precision(n, residual),
        false => Precision::Double,
    };
    let totals = sums.finish(
        run,
        precision(f64::INFINITY),
        &mut scores,
        |totals: &mut Totals, VertexChunk { first, values, flows }| {
            parting.with(first, flows.len(), |outs| {
                for (i, (flow, &out)) in flows.iter_mut().zip(outs).enumerate() {
                    let score = if keeps_shares { teleport.at(first + i) } else { values[i] };
                    let (share, kept) = P::part(out, score);
                    *flow = share;
                    totals.dangling += to_fixed(kept);
                }
            });
        },
    )?;
    let num_arcs = sums.graph().num_arcs();
    let measures =
        Measures { n, options, precision: &precision, rounding: |shares| rounding(shares, num_arcs) };
    let found = until_converged(run, measures, totals, |dangling, precision| {
        sums.round(run, precision, &mut scores, |totals: &mut Totals, chunk| {
            let VertexChunk { first, values: scores, flows } = chunk;
            let damping = options.damping;
            let (change, kept) = parting.with(first, flows.len(), |outs| {
                if keeps_shares {
                    scores.iter_mut().zip(outs).for_each(|(share, &out)| *share = P::whole(out, *share));
                }
                match teleport {
                    Teleport::Anywhere(jump) => {
                        let jumps = |_| *jump;
                        with_vectors(Damp::<P, _> { damping, dangling, jumps, outs, scores, flows })
                    }
                    Teleport::To(jumps) => {
                        let jumps = |i| jumps[first + i];
                        with_vectors(Damp::<P, _> { damping, dangling, jumps, outs, scores, flows })
                    }
                }
            });
            totals.change += to_fixed(change);
            totals.dangling += to_fixed(kept);
        })
    })?;
    if keeps_shares {
        scores = sums.into_values(|v, share| parting.with(v as usize, 1, |outs| P::whole(outs[0], share)));
    }
    Ok(PageRank { scores, ..found })
}

/// How the score of a vertex is divided among its out-edges.
pub(crate) trait Parting: Sync {
    /// What it depends on, of one vertex.
    type Out: Copy;

    /// Calls `f` with that of some vertices of a chunk, from `first` on.
    fn with<R>(&self, first: usize, len: usize, f: impl FnOnce(&[Self::Out]) -> R) -> R;

    /// The share of each edge, and what the vertex gives to all vertices because it has no out-edges.
    fn part(out: Self::Out, score: f64) -> (f64, f64);

    /// The score of a vertex that gives such shares.
    fn whole(out: Self::Out, share: f64) -> f64;

    /// Whether single precision can express all shares.
    fn fits_single(&self) -> bool;
}

/// Into how many shares a score is divided.
#[inline(always)]
fn parts(degree: VertexId) -> f64 {
    degree.max(1) as f64
}

/// Equal shares: the out-degrees of all vertices, kept, or asked for chunk by chunk where memory is scarce.
struct OutDegrees<'g, G> {
    graph: &'g G,
    kept: Vec<VertexId>,
}

impl<'g, G: Graph> OutDegrees<'g, G> {
    fn new(graph: &'g G, run: &Run) -> Self {
        let degree = |v| vertex(graph.degree(Direction::Out, vertex(v)));
        let n = if graph.is_scattered() { 0 } else { graph.num_vertices() };
        Self { graph, kept: VertexArray::from_fn(run, n, degree).into_vec() }
    }
}

impl<G: Graph> Parting for OutDegrees<'_, G> {
    type Out = VertexId;

    #[inline(always)]
    fn with<R>(&self, first: usize, len: usize, f: impl FnOnce(&[VertexId]) -> R) -> R {
        if let Some(kept) = self.kept.get(first..first + len) {
            return f(kept);
        }
        let mut asked = [0; CHUNK_LEN];
        for (degree, v) in asked[..len].iter_mut().zip(first..) {
            *degree = vertex(self.graph.degree(Direction::Out, vertex(v)));
        }
        f(&asked[..len])
    }

    #[inline(always)]
    fn part(degree: VertexId, score: f64) -> (f64, f64) {
        (score / parts(degree), if degree == 0 { score } else { 0.0 })
    }

    #[inline(always)]
    fn whole(degree: VertexId, share: f64) -> f64 {
        share * parts(degree)
    }

    fn fits_single(&self) -> bool {
        true
    }
}

/// Turns the sums of a chunk of vertices into scores, and the scores into shares.
struct Damp<'a, P: Parting, J> {
    damping: f64,
    /// The sum of the scores of vertices without out-edges.
    dangling: f64,
    /// The chance of a jump to each vertex.
    jumps: J,
    outs: &'a [P::Out],
    scores: &'a mut [f64],
    flows: &'a mut [f64],
}

impl<P: Parting, J: Fn(usize) -> f64> VectorLoop for Damp<'_, P, J> {
    /// The sum of the changes, and the sum of the scores of vertices without out-edges.
    type Output = (f64, f64);

    /// A loop for each step, so that the compiler turns each into vector instructions.
    #[inline(always)]
    fn run(self) -> (f64, f64) {
        let Self { damping, dangling, jumps, outs, scores, flows } = self;
        let (mut new, mut parts) = ([0.0; CHUNK_LEN], [0.0; CHUNK_LEN]);
        let (new, parts) = (&mut new[..scores.len()], &mut parts[..scores.len()]);
        for (i, (new, &flow)) in new.iter_mut().zip(&*flows).enumerate() {
            let jump = jumps(i);
            *new = (1.0 - damping) * jump + damping * (flow + dangling * jump);
        }
        for ((part, &new), &score) in parts.iter_mut().zip(&*new).zip(&*scores) {
            *part = (new - score).abs();
        }
        let change = sum_by_eights(parts);
        for ((part, &new), &out) in parts.iter_mut().zip(&*new).zip(outs) {
            *part = P::part(out, new).1;
        }
        for ((flow, &new), &out) in flows.iter_mut().zip(&*new).zip(outs) {
            *flow = P::part(out, new).0;
        }
        scores.copy_from_slice(new);
        (change, sum_by_eights(parts))
    }
}

/// Adds up eight sums at a time, in an order that does not depend on the instructions.
#[inline(always)]
fn sum_by_eights(numbers: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (eights, left) = numbers.as_chunks::<8>();
    for eight in eights {
        sums.iter_mut().zip(eight).for_each(|(sum, number)| *sum += number);
    }
    sums.iter_mut().zip(left).for_each(|(sum, number)| *sum += number);
    sums.iter().sum()
}

/// What decides when the iteration ends, and how precisely shares are kept until then.
struct Measures<'a, P, R> {
    n: usize,
    options: &'a PageRankOptions,
    /// The precision of shares after a round that left this residual.
    precision: P,
    /// By how much a round may change the scores in all by rounding, with shares of this precision.
    rounding: R,
}

/// Repeats `round`, which takes the sum of the scores of vertices without out-edges and the precision of the
/// shares that it leaves, until the options end it. `totals` are those of the first scores. The answer has no
/// scores yet.
fn until_converged<E: From<Stop>>(
    run: &Run,
    measures: Measures<'_, impl Fn(f64) -> Precision, impl Fn(Precision) -> f64>,
    mut totals: Vec<Totals>,
    mut round: impl FnMut(f64, Precision) -> Result<Vec<Totals>, E>,
) -> Result<PageRank, E> {
    let Measures { n, options, precision, rounding } = measures;
    let (mut rounds, mut residual) = (0, if n == 0 { 0.0 } else { f64::INFINITY });
    let (mut error, mut next_shares) = (residual, precision(f64::INFINITY));
    let is_reached = |residual, error| n == 0 || options.measured(residual, error) < options.tolerance;
    while rounds < options.rounds_max && !is_reached(residual, error) {
        run.round(n)?;
        run.set_done(rounds as u64, options.rounds_in_all(rounds, options.measured(residual, error)));
        let shares = std::mem::replace(&mut next_shares, precision(residual));
        totals = round(from_fixed(totals.iter().map(|worker| worker.dangling).sum()), next_shares)?;
        residual = from_fixed(totals.iter().map(|worker| worker.change).sum());
        error = error_bound(options.damping, residual, rounding(shares));
        rounds += 1;
    }
    Ok(PageRank { scores: Vec::new(), rounds, residual, error, converged: is_reached(residual, error) })
}

/// Where the surfer jumps to.
pub(crate) enum Teleport {
    /// To any vertex with this chance.
    Anywhere(f64),
    /// To each vertex with its own chance.
    To(Vec<f64>),
}

impl Teleport {
    /// By the weights of all vertices, if they are not alike.
    pub(crate) fn new(n: usize, weights: Option<&[f64]>) -> Result<Self, Stop> {
        let Some(weights) = weights else { return Ok(Self::Anywhere(1.0 / n as f64)) };
        let total: f64 = weights.iter().sum();
        let fits = weights.len() == n && weights.iter().all(|&w| w >= 0.0);
        if !(fits && total > 0.0 && total.is_finite()) {
            return Err(Stop::unsuitable(format!(
                "teleport takes {}, none negative and not all zero; it was given {} with the sum {total}",
                esker_graph::counted(n, "weight", "weights"),
                weights.len()
            )));
        }
        Ok(Self::To(weights.iter().map(|w| w / total).collect()))
    }

    #[inline(always)]
    pub(crate) fn at(&self, v: usize) -> f64 {
        match self {
            Self::Anywhere(share) => *share,
            Self::To(shares) => shares[v],
        }
    }
}

/// Sums over the vertices that one worker finished, fixed-point.
#[derive(Debug, Clone, Copy, Default)]
struct Totals {
    /// Scores of vertices without out-edges.
    dangling: u64,
    /// Differences from the scores of the round before.
    change: u64,
}

//! The random surfer of PageRank: where it jumps to, how scores follow, and the power iteration, whichever way what flows along edges is
//! summed up.

use esker_graph::{Run, Stop, VertexId};

use crate::primitive::{VertexValues, from_fixed};

/// Vertices that one unit of work without lists holds.
pub(super) const GRAIN: usize = 1 << 14;

/// Where the surfer jumps to.
pub(super) enum Teleport {
    /// To any vertex with this chance.
    Anywhere(f64),
    /// To each with its own.
    To(Vec<f64>),
}

impl Teleport {
    /// By the weights of all vertices, if they are not alike.
    ///
    /// # Errors
    /// [`Stop::Unsuitable`] for weights that are none.
    pub(super) fn new(n: usize, weights: Option<&[f64]>) -> Result<Self, Stop> {
        let Some(weights) = weights else { return Ok(Self::Anywhere(1.0 / n as f64)) };
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
    pub(super) fn at(&self, v: usize) -> f64 {
        match self {
            Self::Anywhere(share) => *share,
            Self::To(shares) => shares[v],
        }
    }
}

/// Sums over the vertices that one worker saw, fixed-point.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Totals {
    /// Scores of vertices without out-edges.
    pub(super) dangling: u64,
    /// Differences from the scores of the round before.
    pub(super) change: u64,
}

impl Totals {
    /// Both together.
    pub(super) fn join(self, other: Self) -> Self {
        Self { dangling: self.dangling + other.dangling, change: self.change + other.change }
    }
}

/// How a score follows from what a vertex received.
#[derive(Clone, Copy)]
pub(super) struct Rule<'a> {
    pub(super) teleport: &'a Teleport,
    pub(super) damping: f64,
    /// The scores of vertices without out-edges together, after the round before.
    pub(super) dangling: f64,
}

impl Rule<'_> {
    /// The score of `v`, which received `sum`.
    #[inline(always)]
    pub(super) fn score(&self, v: VertexId, sum: f64) -> f64 {
        let jump = self.teleport.at(v as usize);
        (1.0 - self.damping) * jump + self.damping * (sum + self.dangling * jump)
    }

    /// The scores before the first round.
    pub(super) fn first_scores(&self, run: &Run, n: usize) -> VertexValues<f64> {
        VertexValues::from_fn(run, n, |v| self.teleport.at(v))
    }
}

/// What is iterated.
pub(super) trait Surfing {
    type Error: From<Stop>;

    /// Shares out the first scores.
    fn start(&self, run: &Run) -> Result<Totals, Stop>;

    /// Sets all scores from what is given.
    fn round(&mut self, run: &Run, dangling: f64) -> Result<Totals, Self::Error>;

    fn into_scores(self) -> Vec<f64>;
}

/// When iteration ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) tolerance: f64,
    pub(super) rounds_max: usize,
}

/// The power iteration: scores, rounds, and the residual.
pub(super) fn iterate<I: Surfing>(
    run: &Run,
    n: usize,
    limits: Limits,
    mut surfing: I,
) -> Result<(Vec<f64>, usize, f64), I::Error> {
    let mut totals = surfing.start(run)?;
    let (mut rounds, mut residual) = (0, f64::INFINITY);
    while rounds < limits.rounds_max && n > 0 && residual >= limits.tolerance {
        run.round(n)?;
        totals = surfing.round(run, from_fixed(totals.dangling))?;
        residual = from_fixed(totals.change);
        rounds += 1;
    }
    Ok((surfing.into_scores(), rounds, residual))
}

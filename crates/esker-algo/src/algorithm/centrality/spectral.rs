//! Eigenvector centrality and Katz centrality: a vertex matters as much as those with an edge to it.
//!
//! Eigenvector: the scores are an eigenvector of the greatest eigenvalue of the matrix of edges, x(v) in
//! proportion to the sum of w(u, v) x(u) over the edges u -> v, with a length (the root of the sum of
//! squares) of 1. By the power method, shifted by the mean weight: so bipartite graphs converge too [1], and
//! the unit of the weights does not count. Katz: x(v) = beta + alpha times that sum [2]; it converges if
//! alpha is less than one by the greatest eigenvalue, and ends where scores are too large for doubles. A
//! round whose scores differ from those before by less than the tolerance times n in total is the last.
//!
//! Parallel edges count each. Sums of lists that come whole are made in the order of the list, so the answer
//! is bit-equal for any number of threads where lists arrive whole; elsewhere its last digits vary.
//!
//! Work O(n + m) a round. Memory: 24 bytes a vertex. Reads: all in-lists (else out-lists) once a round.
//!
//! [1] P. Bonacich, "Power and centrality", American Journal of Sociology 92, 1987.
//! [2] L. Katz, "A new status index derived from sociometric analysis", Psychometrika 18, 1953.

use esker_graph::{Direction, Graph, Run, Stop};

use super::power::{Iterations, length};
use crate::estimate::{Estimate, Shape};
use crate::primitive::{Ranked, VertexValues, gather, largest_weight, need_positive};

/// What the scores of neighbours add up to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Influence {
    /// Eigenvector centrality.
    Eigenvector,
    /// Katz centrality.
    Katz {
        /// How much of the scores of neighbours counts. `None`: 0.85 by the largest sum of weights that comes
        /// to a vertex, with which it converges in some hundred rounds.
        alpha: Option<f64>,
        /// What each vertex has by itself.
        beta: f64,
        /// Whether the scores are divided so that their length is 1.
        normalized: bool,
    },
}

/// Scores of a power iteration.
#[derive(Debug, Clone, PartialEq)]
pub struct SpectralScores {
    /// The score of each vertex.
    pub scores: Vec<f64>,
    /// How much of the scores of neighbours counted: of eigenvectors 1 by the mean weight.
    pub alpha: f64,
    /// The change of all scores in the last round.
    pub error: f64,
    /// Whether it is within the tolerance.
    pub converged: bool,
    /// Number of rounds.
    pub rounds: usize,
}

/// The part of a score that comes from others at most, if alpha is chosen.
const SHARE: f64 = 0.85;

/// Estimates memory, and reads for all rounds.
pub fn estimate(shape: Shape, iterations: Iterations) -> Estimate {
    Estimate {
        memory_bytes: shape.num_vertices * 24,
        read_bytes: shape.weighted_list_bytes().saturating_mul(iterations.rounds_max as u64),
    }
}

/// Computes the scores.
///
/// ```
/// use esker_algo::algorithm::centrality::power::Iterations;
/// use esker_algo::algorithm::centrality::spectral::{Influence, spectral};
/// use esker_graph::{Csr, Run};
///
/// let star = Csr::undirected(3, &[(0, 1, ()), (0, 2, ())])?;
/// let iterations = Iterations { tolerance: 1e-9, rounds_max: 100 };
/// let found = spectral(&star.graph(), &Run::with_threads(2)?, Influence::Eigenvector, iterations)?;
/// assert!((found.scores[0] - 0.5_f64.sqrt()).abs() < 1e-6 && (found.scores[1] - 0.5).abs() < 1e-6);
/// # Ok::<(), esker_graph::Stop>(())
/// ```
///
/// # Errors
/// [`esker_graph::Stop::Unsuitable`] for a tolerance that is not positive, and for a weight that is negative
/// or no finite number, and for weights too small to divide by; [`esker_graph::Stop::OverBudget`]; the first
/// list that cannot be read; cancellation.
pub fn spectral<G: Graph<Weight: Ranked>>(
    graph: &G,
    run: &Run,
    influence: Influence,
    iterations: Iterations,
) -> Result<SpectralScores, G::Error> {
    let run = &run.begin("spectral", estimate(Shape::of(graph), iterations).memory_bytes)?;
    need_positive("the tolerance", iterations.tolerance)?;
    let n = graph.num_vertices();
    run.install(|| {
        let largest = largest_weight(graph, run, "rank vertices")?;
        let start = if influence == Influence::Eigenvector { 1.0 / n.max(1) as f64 } else { 0.0 };
        let (mut scores, mut next) = (vec![start; n], vec![0.0; n]);
        let sums = VertexValues::filled(run, n, 0.0);
        let alpha = match influence {
            Influence::Eigenvector => share_of_mean(graph, run, largest, &mut next, &sums)?,
            Influence::Katz { alpha: Some(alpha), .. } => alpha,
            Influence::Katz { alpha: None, .. } => {
                next.fill(1.0);
                gather(graph, run, Direction::In, &next, &sums)?;
                let largest = sums.iter().fold(0.0, f64::max);
                if largest.is_infinite() {
                    let reason =
                        "the weights that come to a vertex add up to more than a number of 64 bits holds";
                    return Err(Stop::unsuitable(reason.to_owned()).into());
                }
                if largest > 0.0 { SHARE / largest } else { SHARE }
            }
        };
        let (mut error, mut converged) = (0.0, n == 0);
        while !converged && run.rounds() < iterations.rounds_max {
            run.round(n)?;
            match influence {
                // Scores are multiplied before they are added up, so that no sum is too large.
                Influence::Eigenvector => {
                    next.iter_mut().zip(&scores).for_each(|(next, score)| *next = alpha * score);
                    gather(graph, run, Direction::In, &next, &sums)?;
                    let each = next.iter_mut().zip(sums.iter()).zip(&scores);
                    each.for_each(|((next, sum), score)| *next = score + sum);
                }
                Influence::Katz { beta, .. } => {
                    gather(graph, run, Direction::In, &scores, &sums)?;
                    next.iter_mut().zip(sums.iter()).for_each(|(next, sum)| *next = alpha * sum + beta);
                }
            }
            if influence == Influence::Eigenvector {
                scale(&mut next);
            }
            error = scores.iter().zip(&next).map(|(score, next)| (score - next).abs()).sum();
            converged = error < n as f64 * iterations.tolerance;
            std::mem::swap(&mut scores, &mut next);
            if !error.is_finite() {
                break;
            }
        }
        if let Influence::Katz { normalized: true, .. } = influence {
            scale(&mut scores);
        }
        Ok(SpectralScores { scores, alpha, error, converged, rounds: run.rounds() })
    })
}

/// The reciprocal of the mean weight. Weights are divided by the largest one first, so that their sum is not
/// too large. Overwrites `ones` and `sums`.
fn share_of_mean<G: Graph<Weight: Ranked>>(
    graph: &G,
    run: &Run,
    largest: f64,
    ones: &mut [f64],
    sums: &VertexValues<f64>,
) -> Result<f64, G::Error> {
    if size_of::<G::Weight>() == 0 || largest == 0.0 {
        return Ok(1.0);
    }
    ones.fill(largest.recip());
    gather(graph, run, Direction::In, ones, sums)?;
    let mean = sums.iter().sum::<f64>() / graph.num_arcs() as f64;
    let share = largest.recip() / mean;
    if share.is_finite() {
        return Ok(share);
    }
    let reason = "cannot rank vertices by weights whose mean is below 1e-307: multiply them by a number";
    Err(Stop::unsuitable(reason.to_owned()).into())
}

/// Makes the length of scores 1, unless it is 0.
fn scale(scores: &mut [f64]) {
    let length = length(scores);
    if length != 0.0 {
        scores.iter_mut().for_each(|score| *score /= length);
    }
}

//! HITS: hubs point to good authorities, and good hubs point to authorities.
//!
//! The score of a hub is in proportion to the sum of w(v, u) a(u) over its edges v -> u, that of an authority
//! to the sum of w(u, v) h(u) over the edges u -> v [1]. By the power method from equal scores; both kinds of
//! scores add up to 1. A round whose hub scores differ from those before by less than the tolerance in total
//! is the last. In an undirected graph both are the same once it has converged.
//!
//! Parallel edges count each. The answer is bit-equal for any number of threads where lists arrive whole.
//!
//! Work O(n + m) a round. Memory: 32 bytes a vertex. Reads: all lists of both directions once a round; the
//! out-lists twice where in-lists are not kept.
//!
//! [1] J. Kleinberg, "Authoritative sources in a hyperlinked environment", JACM 46(5), 1999.

use esker_graph::{Direction, Graph, Run, Stop};

use super::power::Iterations;
use crate::estimate::{Estimate, Shape};
use crate::primitive::{Ranked, VertexValues, gather, need_positive, unit_of};

/// Scores of hubs and authorities.
#[derive(Debug, Clone, PartialEq)]
pub struct Hits {
    /// The score of each vertex as a hub.
    pub hubs: Vec<f64>,
    /// The score of each vertex as an authority.
    pub authorities: Vec<f64>,
    /// The change of all hub scores in the last round.
    pub error: f64,
    /// Whether it is within the tolerance.
    pub converged: bool,
    /// Number of rounds.
    pub rounds: usize,
}

/// Estimates memory, and reads for all rounds.
pub fn estimate(shape: Shape, iterations: Iterations) -> Estimate {
    Estimate {
        memory_bytes: shape.num_vertices * 32,
        read_bytes: (2 * shape.weighted_list_bytes()).saturating_mul(iterations.rounds_max as u64),
    }
}

/// Copies sums, divided so that they add up to 1. Sums that add up to 0 stay as they are.
///
/// # Errors
/// [`Stop::Unsuitable`] if their total is no finite number.
fn share(sums: &VertexValues<f64>, scores: &mut [f64]) -> Result<(), Stop> {
    let total: f64 = sums.iter().sum();
    if !total.is_finite() {
        let reason = "the weights, times scores, add up to more than a number of 64 bits holds";
        return Err(Stop::unsuitable(reason.to_owned()));
    }
    let total = if total == 0.0 { 1.0 } else { total };
    scores.iter_mut().zip(sums.iter()).for_each(|(score, sum)| *score = sum / total);
    Ok(())
}

/// Computes the scores.
///
/// ```
/// use esker_algo::algorithm::centrality::hits::hits;
/// use esker_algo::algorithm::centrality::power::Iterations;
/// use esker_graph::{Csr, Run};
///
/// let csr = Csr::directed(3, &[(0, 1, ()), (0, 2, ())])?;
/// let iterations = Iterations { tolerance: 1e-9, rounds_max: 100 };
/// let found = hits(&csr.graph(), &Run::with_threads(2)?, iterations)?;
/// assert_eq!((found.hubs, found.authorities), (vec![1.0, 0.0, 0.0], vec![0.0, 0.5, 0.5]));
/// # Ok::<(), esker_graph::Stop>(())
/// ```
///
/// # Errors
/// [`esker_graph::Stop::Unsuitable`] for a tolerance that is not positive, and for a weight that is negative
/// or no finite number; [`esker_graph::Stop::OverBudget`]; the first list that cannot be read; cancellation.
pub fn hits<G: Graph<Weight: Ranked>>(
    graph: &G,
    run: &Run,
    iterations: Iterations,
) -> Result<Hits, G::Error> {
    let run = &run.begin("hits", estimate(Shape::of(graph), iterations).memory_bytes)?;
    need_positive("the tolerance", iterations.tolerance)?;
    let n = graph.num_vertices();
    run.install(|| {
        unit_of(graph, run, "rank vertices")?;
        let (mut hubs, mut last) = (vec![1.0 / n.max(1) as f64; n], vec![0.0; n]);
        let mut authorities = vec![0.0; n];
        let sums = VertexValues::filled(run, n, 0.0);
        let (mut error, mut converged) = (0.0, n == 0);
        while !converged && run.rounds() < iterations.rounds_max {
            run.round(n)?;
            gather(graph, run, Direction::In, &hubs, &sums)?;
            share(&sums, &mut authorities)?;
            gather(graph, run, Direction::Out, &authorities, &sums)?;
            std::mem::swap(&mut hubs, &mut last);
            share(&sums, &mut hubs)?;
            error = hubs.iter().zip(&last).map(|(hub, last)| (hub - last).abs()).sum();
            converged = error < iterations.tolerance;
        }
        Ok(Hits { hubs, authorities, error, converged, rounds: run.rounds() })
    })
}

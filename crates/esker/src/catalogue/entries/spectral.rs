//! The entries of eigenvector and Katz centrality, and of HITS.

use esker_algo::algorithm::centrality::hits::{self, hits};
use esker_algo::algorithm::centrality::power::Iterations;
use esker_algo::algorithm::centrality::spectral::{self, Influence, spectral};
use esker_algo::check::{self, HitsClaim, SpectralClaim};
use esker_algo::primitive::Ranked;
use esker_graph::Graph;
use esker_store::StoredWeight;
use esker_store::format::ElementType;

use super::search::by_weight;
use crate::answer::{Answer, AnswerColumn, Fact, Ranking, Values};
use crate::catalogue::entry::{Entry, GraphReads, ListReads};
use crate::catalogue::job::{Job, timed};
use crate::catalogue::option::{Opt, OptRange};
use crate::catalogue::params::Params;
use crate::catalogue::question::Question;
use crate::catalogue::work::Workload;
use crate::error::Result;

const TOLERANCE: Opt =
    Opt::float("tolerance", "Change of all scores at which it ends, by the number of vertices")
        .within(OptRange::Above(0.0))
        .or("1e-6");
const ROUNDS: Opt = Opt::integer("rounds", "Most rounds").within(OptRange::From(1.0)).or("100");

const HITS_TOLERANCE: Opt = Opt::float("tolerance", "Change of all hub scores in total at which it ends")
    .within(OptRange::Above(0.0))
    .or("1e-6");

/// What a run is expected to take, if it converges.
const EXPECTED_ROUNDS: f64 = 30.0;

fn iterations(params: &Params) -> Result<Iterations> {
    Ok(Iterations { tolerance: params.get_or("tolerance", 1e-6)?, rounds_max: params.get_or("rounds", 100)? })
}

fn work(params: &Params, scans: f64) -> Result<Workload> {
    let rounds = (iterations(params)?.rounds_max as f64).min(EXPECTED_ROUNDS);
    Ok(Workload::new(scans, 2.5, 2.0).times(rounds))
}

pub(super) const EIGENVECTOR: Entry = Entry {
    name: "eigenvector",
    summary: "Eigenvector centrality: a vertex matters as much as those with an edge to it",
    question: Question::Centrality,
    options: &[TOLERANCE, ROUNDS],
    reads: GraphReads::scans(ListReads::In).weighted_if_chosen().counting_copies(),
    work: |params, _| work(params, 1.0),
    undirected: false,
    columns: &["score"],
    figures: &["error", "converged"],
    edges: false,
    verifies: "One more round changes the scores by no more than the last one",
    run: |job| {
        if job.view.asks_for_weights() { by_weight!(job, eigenvector_by) } else { eigenvector_by::<()>(job) }
    },
    estimate: |shape, params, _| Ok(spectral::estimate(shape, iterations(params)?)),
};

fn eigenvector_by<W: StoredWeight + Ranked>(job: &Job<'_>) -> Result<Answer> {
    run_spectral::<W>(job, Influence::Eigenvector)
}

pub(super) const KATZ: Entry = Entry {
    name: "katz",
    summary: "Katz centrality: the number of walks to a vertex, long ones less",
    question: Question::Centrality,
    options: &[
        Opt::float("alpha", "How much each more edge of a walk counts, or auto")
            .within(OptRange::Above(0.0))
            .or_auto("auto: so small that it converges"),
        Opt::float("beta", "What each vertex has by itself").or("1"),
        Opt::flag("raw", "Scores as they are, not divided by the root of the sum of their squares"),
        TOLERANCE,
        ROUNDS,
    ],
    figures: &["alpha", "error", "converged"],
    run: |job| if job.view.asks_for_weights() { by_weight!(job, katz_by) } else { katz_by::<()>(job) },
    ..EIGENVECTOR
};

fn katz_by<W: StoredWeight + Ranked>(job: &Job<'_>) -> Result<Answer> {
    let alpha = job.params.get_unless_auto("alpha")?;
    let beta = job.params.get_or("beta", 1.0)?;
    run_spectral::<W>(job, Influence::Katz { alpha, beta, normalized: !job.params.flag("raw") })
}

fn run_spectral<W: StoredWeight + Ranked>(job: &Job<'_>, influence: Influence) -> Result<Answer> {
    let (graph, iterations) = (job.graph::<W>()?, iterations(job.params)?);
    let (found, seconds) = timed(|| spectral(&graph, job.run, influence, iterations));
    let found = found?;
    let name = if influence == Influence::Eigenvector { EIGENVECTOR.name } else { KATZ.name };
    job.verify(name, &graph, |out, _| {
        let katz = match influence {
            Influence::Eigenvector => None,
            Influence::Katz { beta, .. } => Some((found.alpha, beta)),
        };
        let is_normal = !matches!(influence, Influence::Katz { normalized: false, .. });
        let error = found.converged.then_some(found.error);
        check::spectral(out, &SpectralClaim { scores: &found.scores, katz, is_normal, error })
    })?;
    let mut facts =
        vec![("error", Fact::Float(finite(found.error))), ("converged", Fact::Flag(found.converged))];
    if influence != Influence::Eigenvector {
        facts.insert(0, ("alpha", Fact::Float(found.alpha)));
    }
    Ok(Answer {
        columns: vec![column("score", found.scores)],
        facts,
        rounds: found.rounds,
        arcs: graph.num_arcs() * found.rounds as u64,
        seconds,
        ..Answer::default()
    })
}

/// A change that is too large for a double, as the largest one.
fn finite(error: f64) -> f64 {
    if error.is_finite() { error } else { f64::MAX }
}

fn column(name: &'static str, scores: Vec<f64>) -> AnswerColumn {
    AnswerColumn { name, values: Values::numbers(scores), ranking: Ranking::Largest }
}

pub(super) const HITS: Entry = Entry {
    name: "hits",
    summary: "HITS: hubs, which point to good authorities, and authorities, to which good hubs point",
    options: &[HITS_TOLERANCE, ROUNDS],
    reads: GraphReads::scans(ListReads::Both).weighted_if_chosen().counting_copies(),
    work: |params, _| work(params, 1.0),
    columns: &["authority", "hub"],
    verifies: "Hubs follow from authorities, and one more round changes them by no more than the last one",
    run: |job| if job.view.asks_for_weights() { by_weight!(job, hits_by) } else { hits_by::<()>(job) },
    estimate: |shape, params, _| Ok(hits::estimate(shape, iterations(params)?)),
    ..EIGENVECTOR
};

fn hits_by<W: StoredWeight + Ranked>(job: &Job<'_>) -> Result<Answer> {
    let (graph, iterations) = (job.graph::<W>()?, iterations(job.params)?);
    let (found, seconds) = timed(|| hits(&graph, job.run, iterations));
    let found = found?;
    job.verify("hits", &graph, |out, _| {
        let error = found.converged.then_some(found.error);
        check::hits(out, &HitsClaim { hubs: &found.hubs, authorities: &found.authorities, error })
    })?;
    Ok(Answer {
        columns: vec![column("authority", found.authorities), column("hub", found.hubs)],
        facts: vec![("error", Fact::Float(finite(found.error))), ("converged", Fact::Flag(found.converged))],
        rounds: found.rounds,
        arcs: 2 * graph.num_arcs() * found.rounds as u64,
        seconds,
        ..Answer::default()
    })
}

//! The entries of Leiden and Louvain.

use esker_algo::algorithm::communities::leiden::{self, CommunityMethod, LeidenOptions, Objective, leiden};
use esker_algo::check::{self, CommunityClaim};
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

const OPTIONS: &[Opt] = &[
    Opt::choice(
        "objective",
        &["modularity", "cpm"],
        "What is maximised: modularity, or cpm (constant Potts model)",
    ),
    Opt::float("resolution", "The higher, the smaller the communities").within(OptRange::Above(0.0)).or("1"),
    Opt::integer("iterations", "Most iterations, each from the communities of the one before")
        .within(OptRange::Between(1.0, 1000.0))
        .or("2"),
];

pub(super) const LOUVAIN: Entry = Entry {
    name: "louvain",
    summary: "Communities by Louvain, of high modularity",
    question: Question::Communities,
    options: OPTIONS,
    reads: GraphReads::points(ListReads::Out).weighted_if_chosen().counting_copies(),
    work: |params, _| work(params),
    undirected: true,
    columns: &["community"],
    figures: &["communities", "modularity", "cpm", "converged"],
    edges: false,
    verifies: "The quality is that of the edges and labels, and no move of a single vertex raises it",
    run: |job| run(job, CommunityMethod::Louvain),
    estimate: |shape, params, resources| {
        let options = options(params, CommunityMethod::Louvain)?;
        Ok(leiden::estimate(shape, &options, resources.threads))
    },
};

pub(super) const LEIDEN: Entry = Entry {
    name: "leiden",
    summary: "Communities by Leiden: connected groups of high modularity",
    verifies: "Communities are connected, the quality is theirs, and no move of a single vertex raises it",
    run: |job| run(job, CommunityMethod::Leiden),
    ..LOUVAIN
};

/// How often an iteration reads all lists, and what is read before and after.
const ITERATION_SCANS: f64 = 6.0;
const OTHER_SCANS: f64 = 4.0;

fn work(params: &Params) -> Result<Workload> {
    let iterations = options(params, CommunityMethod::Leiden)?.iterations as f64;
    Ok(Workload::new(1.0, 12.0, 13.0).points(11.0, 7.0).times(ITERATION_SCANS * iterations + OTHER_SCANS))
}

fn options(params: &Params, method: CommunityMethod) -> Result<LeidenOptions> {
    let default = LeidenOptions::default();
    let objective = match params.text("objective") {
        Some("cpm") => Objective::Cpm,
        _ => Objective::Modularity,
    };
    Ok(LeidenOptions {
        method,
        objective,
        resolution: params.get_or("resolution", default.resolution)?,
        iterations: params.get_or("iterations", default.iterations)?,
    })
}

fn run(job: &Job<'_>, method: CommunityMethod) -> Result<Answer> {
    match method {
        _ if !job.view.asks_for_weights() => run_by::<()>(job, method),
        CommunityMethod::Leiden => by_weight!(job, leiden_by),
        CommunityMethod::Louvain => by_weight!(job, louvain_by),
    }
}

fn leiden_by<W: StoredWeight + Ranked>(job: &Job<'_>) -> Result<Answer> {
    run_by::<W>(job, CommunityMethod::Leiden)
}

fn louvain_by<W: StoredWeight + Ranked>(job: &Job<'_>) -> Result<Answer> {
    run_by::<W>(job, CommunityMethod::Louvain)
}

fn run_by<W: StoredWeight + Ranked>(job: &Job<'_>, method: CommunityMethod) -> Result<Answer> {
    let (graph, options) = (job.graph::<W>()?, options(job.params, method)?);
    let (found, seconds) = timed(|| leiden(&graph, job.run, &options));
    let found = found?;
    let is_cpm = options.objective == Objective::Cpm;
    let claim = CommunityClaim {
        labels: &found.labels,
        is_cpm,
        resolution: options.resolution,
        quality: found.quality,
        is_connected: method == CommunityMethod::Leiden,
        is_settled: found.converged,
    };
    let name = if method == CommunityMethod::Leiden { "leiden" } else { "louvain" };
    job.verify(name, &graph, |out, _| check::communities(out, &claim))?;
    Ok(Answer {
        facts: vec![
            ("communities", Fact::Count(found.communities as u64)),
            (if is_cpm { "cpm" } else { "modularity" }, Fact::Float(found.quality)),
            ("converged", Fact::Flag(found.converged)),
        ],
        columns: vec![AnswerColumn {
            name: "community",
            values: Values::Vertex(found.labels),
            ranking: Ranking::Groups,
        }],
        rounds: found.rounds,
        arcs: graph.num_arcs() * found.rounds as u64,
        seconds,
        ..Answer::default()
    })
}

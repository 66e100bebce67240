//! The entries of PageRank and betweenness.

use esker_algo::algorithm::centrality::betweenness::{self, BetweennessOptions, Scale, Sources, betweenness};
use esker_algo::algorithm::centrality::pagerank::{self, Criterion, PageRank, PageRankOptions, pagerank};
use esker_algo::algorithm::centrality::pagerank_weighted::{self, pagerank_weighted};
use esker_algo::check;
use esker_algo::primitive::Ranked;
use esker_graph::{Graph, VertexId};
use esker_store::format::ElementType;
use esker_store::{StoredGraph, StoredWeight};

use super::search::by_weight;
use crate::answer::{Answer, AnswerColumn, Fact, Ranking, Values};
use crate::catalogue::entry::{Entry, GraphReads, ListReads};
use crate::catalogue::job::{Job, timed};
use crate::catalogue::option::{Opt, OptRange};
use crate::catalogue::params::Params;
use crate::catalogue::question::Question;
use crate::catalogue::work::{Workload, num_sources};
use crate::error::Result;

pub(super) const PAGERANK: Entry = Entry {
    name: "pagerank",
    summary: "PageRank: the share of time that a random surfer spends at the vertex",
    question: Question::Centrality,
    options: &[
        Opt::float("damping", "Probability of following an edge")
            .within(OptRange::Between(0.0, 1.0))
            .or("0.85"),
        Opt::float("tolerance", "Stop once the scores differ from the exact ones by less in total; 0: never")
            .within(OptRange::From(0.0))
            .or("5e-6"),
        Opt::integer("rounds", "Greatest number of rounds").or("100"),
        Opt::vertex("teleport-to", "Jump to this vertex (personal PageRank)")
            .repeatable()
            .otherwise("any vertex"),
    ],
    reads: GraphReads::scans(ListReads::In).weighted_if_chosen().ignoring_isolated().counting_copies(),
    work: |params, shape| {
        Ok(Workload::new(1.0, 0.48, 0.43)
            .over(1.0, 1.0, 0.88)
            .times(expected_rounds(params)? * if shape.directed { DIRECTED_TIMES } else { 1.0 }))
    },
    undirected: false,
    columns: &["rank"],
    figures: &["error", "converged"],
    edges: false,
    verifies: "One more round changes the scores by at most 1 - damping times their error",
    run: |job| {
        if job.view.asks_for_weights() {
            return by_weight!(job, pagerank_by);
        }
        let graph = job.graph::<()>()?;
        run_pagerank(job, &graph, |options| pagerank(&graph, job.run, options))
    },
    estimate: |shape, params, _| {
        let options = pagerank_options(params)?;
        Ok(match shape.weight_bytes {
            0 => pagerank::estimate(shape, &options),
            _ => pagerank_weighted::estimate(shape, &options),
        })
    },
};

fn pagerank_by<W: StoredWeight + Ranked>(job: &Job<'_>) -> Result<Answer> {
    let graph = job.graph::<W>()?;
    run_pagerank(job, &graph, |options| pagerank_weighted(&graph, job.run, options))
}

/// Rounds until the error is below the default tolerance, on most graphs.
const ROUNDS_EXPECTED: usize = 13;

/// By how much longer an arc takes where out-lists and in-lists differ.
const DIRECTED_TIMES: f64 = 1.8;

/// The rounds that a run is expected to take: they grow with the digits of the tolerance, and with the
/// damping.
fn expected_rounds(params: &Params) -> Result<f64> {
    let (options, default) = (pagerank_options(params)?, PageRankOptions::default());
    if options.tolerance <= 0.0 {
        return Ok(options.rounds_max as f64);
    }
    let digits = options.tolerance.log10() / default.tolerance.log10();
    let pace = default.damping.ln() / options.damping.clamp(0.01, 0.999).ln();
    Ok((ROUNDS_EXPECTED as f64 * digits.max(0.0) * pace).clamp(1.0, options.rounds_max.max(1) as f64))
}

/// What is iterated. Of a teleport, only that there is one.
pub(crate) fn pagerank_options(params: &Params) -> Result<PageRankOptions> {
    let default = PageRankOptions::default();
    Ok(PageRankOptions {
        damping: params.get_or("damping", default.damping)?,
        tolerance: params.get_or("tolerance", default.tolerance)?,
        criterion: Criterion::Error,
        rounds_max: params.get_or("rounds", default.rounds_max)?,
        // Only its presence counts for an estimate; a run fills it in.
        teleport: params.text("teleport-to").map(|_| Vec::new()),
    })
}

fn run_pagerank<W: StoredWeight + Ranked>(
    job: &Job<'_>,
    graph: &StoredGraph<'_, W>,
    work: impl FnOnce(&PageRankOptions) -> std::result::Result<PageRank, esker_store::Error>,
) -> Result<Answer> {
    let (mut options, targets) = (pagerank_options(job.params)?, job.vertices("teleport-to")?);
    if let Some(weights) = &mut options.teleport {
        weights.resize(graph.num_vertices(), 0.0);
        let share = 1.0 / targets.len() as f64;
        targets.iter().for_each(|&v| weights[v as usize] = share);
    }
    let removed = job.kept_removed()?;
    if options.teleport.is_none() && !removed.is_empty() {
        // The surfer never jumps to a removed vertex: its score is 0.
        let present = graph.num_vertices() - removed.len();
        let mut weights = vec![1.0 / present as f64; graph.num_vertices()];
        removed.iter().for_each(|&v| weights[v as usize] = 0.0);
        options.teleport = Some(weights);
    }
    let (found, seconds) = timed(|| work(&options));
    let found = found?;
    job.verify("pagerank", graph, |out, _| {
        check::pagerank_weighted(
            out,
            options.damping,
            options.teleport.as_deref(),
            &found.scores,
            found.error,
        )
    })?;
    let facts = convergence_facts(&found);
    Ok(Answer {
        columns: vec![AnswerColumn {
            name: "rank",
            values: Values::Float(found.scores),
            ranking: Ranking::Largest,
        }],
        facts,
        rounds: found.rounds,
        arcs: graph.num_arcs() * found.rounds as u64,
        seconds,
        ..Answer::default()
    })
}

/// How good the scores are.
pub(crate) fn convergence_facts(found: &PageRank) -> Vec<(&'static str, Fact)> {
    vec![("error", Fact::Float(found.error)), ("converged", Fact::Flag(found.converged))]
}

pub(super) const BETWEENNESS: Entry = Entry {
    name: "betweenness",
    summary: "Betweenness centrality: the share of shortest paths, by steps, through the vertex",
    question: Question::Centrality,
    options: &[
        Opt::vertex("source", "Only paths from this vertex").repeatable().otherwise("all vertices: exact"),
        Opt::integer("samples", "Only paths from this many vertices, drawn at random by the seed")
            .within(OptRange::From(1.0)),
        Opt::choice(
            "scale",
            &["sum", "pairs", "fraction"],
            "sum over the sources; pairs of vertices; fraction of all pairs, with all sources as NetworkX normalises",
        )
        .otherwise("sum with a source, else fraction"),
    ],
    reads: GraphReads::few(ListReads::Both).counting_copies(),
    work: |params, shape| {
        Ok(Workload::new(1.5, 2.5, 2.3)
            .over(2.0, 3.8, 1.3)
            .evenly(4.2, 4.0)
            .times(num_sources(params, shape)?))
    },
    undirected: false,
    columns: &["betweenness"],
    figures: &["sources"],
    edges: false,
    verifies: "Scores equal those of a serial search from each source",
    run: |job| {
        let sources = job.vertices("source")?;
        betweenness_options(job.params, sources.clone())?;
        run_betweenness(job, &job.graph::<()>()?, &sources)
    },
    estimate: |shape, params, _| {
        let named = params.all("source").len();
        Ok(betweenness::estimate(shape, &betweenness_options(params, vec![0; named])?))
    },
};

fn betweenness_options(params: &Params, named: Vec<VertexId>) -> Result<BetweennessOptions> {
    let samples: Option<usize> = params.get("samples")?;
    if samples.is_some() && !named.is_empty() {
        return Err(crate::catalogue::params::source_or_samples());
    }
    let scale = match params.text("scale") {
        Some("pairs") => Scale::Pairs,
        Some("fraction") => Scale::Fraction,
        None if named.is_empty() => Scale::Fraction,
        _ => Scale::Sum,
    };
    let sources = match (samples, named.is_empty()) {
        (Some(count), _) => Sources::Sample(count),
        (None, true) => Sources::All,
        (None, false) => Sources::These(named),
    };
    Ok(BetweennessOptions { sources, scale })
}

fn run_betweenness(job: &Job<'_>, graph: &StoredGraph<'_, ()>, sources: &[VertexId]) -> Result<Answer> {
    let options = betweenness_options(job.params, sources.to_vec())?;
    let (found, seconds) = timed(|| betweenness(graph, job.run, &options));
    let found = found?;
    job.verify("betweenness", graph, |out, _| {
        let factor = betweenness::factor(
            graph.num_vertices(),
            graph.is_directed(),
            found.sources.len(),
            options.scale,
        );
        check::betweenness(out, &found.sources, factor, &found.scores, 1e-6)
    })?;
    Ok(Answer {
        arcs: graph.num_arcs() * found.sources.len() as u64,
        columns: vec![AnswerColumn {
            name: "betweenness",
            values: Values::Float(found.scores),
            ranking: Ranking::Largest,
        }],
        facts: vec![("sources", Fact::Count(found.sources.len() as u64))],
        rounds: found.rounds,
        seconds,
        ..Answer::default()
    })
}

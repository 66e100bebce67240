//! The entries of closeness and harmonic centrality.

use esker_algo::algorithm::centrality::betweenness::Sources;
use esker_algo::algorithm::centrality::closeness::{
    self, Closeness, ClosenessMeasure, ClosenessOptions, closeness,
};
use esker_algo::algorithm::centrality::closeness_weighted::{self, closeness_weighted};
use esker_algo::lengths::Length;
use esker_algo::primitive::Ranked;
use esker_algo::{Estimate, Shape, check};
use esker_graph::{Graph, VertexId};
use esker_store::StoredWeight;
use esker_store::format::ElementType;

use super::search::{Shown, by_weight};
use crate::answer::{Answer, AnswerColumn, Fact, Ranking, Values};
use crate::catalogue::entry::{Entry, GraphReads, ListReads};
use crate::catalogue::job::{Job, timed};
use crate::catalogue::option::{Opt, OptRange};
use crate::catalogue::params::Params;
use crate::catalogue::question::Question;
use crate::catalogue::work::{Workload, num_sources, one_way};
use crate::error::Result;

pub(super) const CLOSENESS: Entry = Entry {
    name: "closeness",
    summary: "Closeness centrality: the inverse of the mean distance from the other vertices",
    question: Question::Centrality,
    options: &[
        Opt::vertex("source", "Only distances from this vertex")
            .repeatable()
            .otherwise("all vertices: exact"),
        Opt::integer("samples", "Only distances from this many vertices, drawn at random by the seed")
            .within(OptRange::From(1.0)),
    ],
    reads: GraphReads::few(ListReads::Both).weighted_if_chosen(),
    work: |params, shape| {
        let sources = num_sources(params, shape)?;
        Ok(match shape.weight_bytes {
            0 => Workload::new(0.2, 0.22, 0.25).over(0.31, 0.34, 0.15).evenly(0.2, 0.13).times(sources),
            // That of shortest paths.
            _ => Workload::new(9.9, 7.5, 5.2).over(4.2, 32.0, 15.0).times(sources * one_way(shape)),
        })
    },
    undirected: false,
    columns: &["closeness"],
    figures: &["sources"],
    edges: false,
    verifies: "Scores equal those of a serial search from each source",
    run: |job| run_measure(job, ClosenessMeasure::Classic),
    estimate: |shape, params, _| estimate(shape, params, ClosenessMeasure::Classic),
};

pub(super) const HARMONIC: Entry = Entry {
    name: "harmonic",
    summary: "Harmonic centrality: the sum of the inverse distances from the other vertices",
    columns: &["harmonic"],
    run: |job| run_measure(job, ClosenessMeasure::Harmonic),
    estimate: |shape, params, _| estimate(shape, params, ClosenessMeasure::Harmonic),
    ..CLOSENESS
};

fn options(params: &Params, named: Vec<VertexId>, measure: ClosenessMeasure) -> Result<ClosenessOptions> {
    let sources = match (params.get("samples")?, named.is_empty()) {
        (Some(_), false) => {
            return Err(crate::catalogue::params::source_or_samples());
        }
        (Some(count), true) => Sources::Sample(count),
        (None, true) => Sources::All,
        (None, false) => Sources::These(named),
    };
    Ok(ClosenessOptions { sources, measure })
}

fn estimate(shape: Shape, params: &Params, measure: ClosenessMeasure) -> Result<Estimate> {
    let options = options(params, vec![0; params.all("source").len()], measure)?;
    Ok(match shape.weight_bytes {
        0 => closeness::estimate(shape, &options),
        _ => closeness_weighted::estimate(shape, &options),
    })
}

fn run_measure(job: &Job<'_>, measure: ClosenessMeasure) -> Result<Answer> {
    match measure {
        _ if !job.view.asks_for_weights() => by_steps(job, measure),
        ClosenessMeasure::Classic => by_weight!(job, classic_by),
        ClosenessMeasure::Harmonic => by_weight!(job, harmonic_by),
    }
}

fn by_steps(job: &Job<'_>, measure: ClosenessMeasure) -> Result<Answer> {
    let options = options(job.params, job.vertices("source")?, measure)?;
    let graph = job.graph::<()>()?;
    let (found, seconds) = timed(|| closeness(&graph, job.run, &options));
    let found = found?;
    let factor = options.scale(graph.num_vertices(), found.sources.len());
    job.verify("closeness", &graph, |out, _| {
        check::closeness_by_steps(
            out,
            &found.sources,
            measure == ClosenessMeasure::Harmonic,
            factor,
            &found.scores,
        )
    })?;
    Ok(answer(found, measure, graph.num_arcs(), seconds))
}

fn classic_by<W: StoredWeight + Length<Distance: Shown> + Ranked>(job: &Job<'_>) -> Result<Answer> {
    run_by::<W>(job, ClosenessMeasure::Classic)
}

fn harmonic_by<W: StoredWeight + Length<Distance: Shown> + Ranked>(job: &Job<'_>) -> Result<Answer> {
    run_by::<W>(job, ClosenessMeasure::Harmonic)
}

fn run_by<W: StoredWeight + Length<Distance: Shown> + Ranked>(
    job: &Job<'_>,
    measure: ClosenessMeasure,
) -> Result<Answer> {
    let options = options(job.params, job.vertices("source")?, measure)?;
    let graph = job.graph::<W>()?;
    let (found, seconds) = timed(|| closeness_weighted(&graph, job.run, &options, Shown::number));
    let found = found?;
    let factor = options.scale(graph.num_vertices(), found.sources.len());
    job.verify("closeness", &graph, |out, _| {
        check::closeness_by_weight(
            out,
            &found.sources,
            measure == ClosenessMeasure::Harmonic,
            factor,
            &found.scores,
        )
    })?;
    Ok(answer(found, measure, graph.num_arcs(), seconds))
}

fn answer(found: Closeness, measure: ClosenessMeasure, num_arcs: u64, seconds: f64) -> Answer {
    let name = if measure == ClosenessMeasure::Classic { "closeness" } else { "harmonic" };
    let values = Values::Float(found.scores);
    Answer {
        columns: vec![AnswerColumn { name, values, ranking: Ranking::Largest }],
        facts: vec![("sources", Fact::Count(found.sources.len() as u64))],
        rounds: found.rounds,
        arcs: num_arcs * found.sources.len() as u64,
        seconds,
        ..Answer::default()
    }
}

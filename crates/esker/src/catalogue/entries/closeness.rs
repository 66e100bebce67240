//! The entry of closeness.

use esker_algo::algorithm::centrality::betweenness::Sources;
use esker_algo::algorithm::centrality::closeness::{self, ClosenessOptions, closeness};
use esker_algo::check;
use esker_graph::{Graph, VertexId};

use crate::answer::{Answer, AnswerColumn, Fact, Ranking, Values};
use crate::catalogue::entry::{Entry, GraphReads, ListReads};
use crate::catalogue::job::{Job, timed};
use crate::catalogue::option::{Opt, OptRange};
use crate::catalogue::params::Params;
use crate::catalogue::question::Question;
use crate::catalogue::work::{Workload, num_sources};
use crate::error::Result;

pub(super) const CLOSENESS: Entry = Entry {
    name: "closeness",
    summary: "Closeness centrality: the inverse of the mean number of steps from the other vertices",
    question: Question::Centrality,
    options: &[
        Opt::vertex("source", "Only distances from this vertex")
            .repeatable()
            .otherwise("all vertices: exact"),
        Opt::integer("samples", "Only distances from this many vertices, drawn at random by the seed")
            .within(OptRange::From(1.0)),
    ],
    reads: GraphReads::few(ListReads::Both),
    work: |params, shape| {
        Ok(Workload::new(0.2, 0.22, 0.25)
            .over(0.31, 0.34, 0.15)
            .evenly(0.2, 0.13)
            .times(num_sources(params, shape)?))
    },
    undirected: false,
    columns: &["closeness"],
    figures: &["sources"],
    edges: false,
    verifies: "Scores equal those of a serial search from each source",
    run: |job| run_closeness(job, &closeness_options(job.params, job.vertices("source")?)?),
    estimate: |shape, params, _| {
        let named = vec![0; params.all("source").len()];
        Ok(closeness::estimate(shape, &closeness_options(params, named)?))
    },
};

fn closeness_options(params: &Params, named: Vec<VertexId>) -> Result<ClosenessOptions> {
    let sources = match (params.get("samples")?, named.is_empty()) {
        (Some(_), false) => {
            return Err(crate::catalogue::params::source_or_samples());
        }
        (Some(count), true) => Sources::Sample(count),
        (None, true) => Sources::All,
        (None, false) => Sources::These(named),
    };
    Ok(ClosenessOptions { sources })
}

fn run_closeness(job: &Job<'_>, options: &ClosenessOptions) -> Result<Answer> {
    let graph = job.graph::<()>()?;
    let (found, seconds) = timed(|| closeness(&graph, job.run, options));
    let found = found?;
    job.verify("closeness", &graph, |out, _| check::closeness(out, &found.sources, &found.scores))?;
    Ok(Answer {
        columns: vec![AnswerColumn {
            name: "closeness",
            values: Values::Float(found.scores),
            ranking: Ranking::Largest,
        }],
        facts: vec![("sources", Fact::Count(found.sources.len() as u64))],
        rounds: found.rounds,
        arcs: graph.num_arcs() * found.sources.len() as u64,
        seconds,
        ..Answer::default()
    })
}

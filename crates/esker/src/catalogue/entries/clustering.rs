//! The entries of triangles and clustering coefficients.

use esker_algo::algorithm::cohesion::lcc::{self, LccOptions, lcc};
use esker_algo::algorithm::cohesion::triangles::{self, TrianglesOptions, triangles};
use esker_algo::algorithm::cohesion::triangles_filter::{self, triangles_filter};
use esker_algo::algorithm::cohesion::triangles_sampled::{self, SampledOptions, triangles_sampled};
use esker_algo::check;
use esker_graph::Graph;
use esker_store::StoredGraph;

use crate::answer::{Answer, AnswerColumn, Fact, Ranking, Values};
use crate::catalogue::entry::{Entry, GraphReads, ListReads};
use crate::catalogue::job::{Job, timed};
use crate::catalogue::option::{Opt, OptRange};
use crate::catalogue::params::Params;
use crate::catalogue::question::Question;
use crate::catalogue::work::Workload;
use crate::error::Result;

pub(super) const TRIANGLES: Entry = Entry {
    name: "triangles",
    summary: "Number of triangles; directions, self-loops and parallel edges are ignored",
    question: Question::Density,
    options: &[
        Opt::choice(
            "method",
            &["lists", "filter", "sample"],
            "lists, on a copy by degree if that pays; filter: a bit for each edge and no copy; sample: an estimate (the last two for \
             undirected graphs only)",
        )
        .undirected(&["filter", "sample"]),
        Opt::integer("samples", "Pairs of neighbours to draw, with sample")
            .within(OptRange::From(1.0))
            .only_with("method", "sample")
            .otherwise("100000"),
    ],
    reads: GraphReads::points(ListReads::BothNeeded).ignoring_isolated(),
    work: |params, _| {
        Ok(match method(params)? {
            ClusteringMethod::Sample(options) => {
                Workload::new(0.1, 0.1, 0.1).times(options.samples as f64 / 1e6)
            }
            ClusteringMethod::Lists | ClusteringMethod::Filter => {
                Workload::new(1.0, 12.0, 9.2).over(6.5, 1.0, 80.0).points(900.0, 150.0).growing(0.0, 0.45)
            }
        })
    },
    undirected: false,
    columns: &[],
    figures: &["triangles", "low", "high", "wedges", "closed", "samples"],
    edges: false,
    verifies: "The count equals a serial count; of a sample, the interval is plausible",
    run: |job| match method(job.params)? {
        ClusteringMethod::Lists => run_triangles(job, &job.graph::<()>()?, false),
        ClusteringMethod::Filter => run_triangles(job, &job.graph::<()>()?, true),
        ClusteringMethod::Sample(options) => run_sampled(job, &job.graph::<()>()?, &options),
    },
    estimate: |shape, params, resources| {
        Ok(match method(params)? {
            ClusteringMethod::Lists => {
                triangles::estimate(shape, &TrianglesOptions::default(), resources.threads)
            }
            ClusteringMethod::Filter => triangles_filter::estimate(shape, resources.threads),
            ClusteringMethod::Sample(options) => triangles_sampled::estimate(shape, &options),
        })
    },
};

/// How triangles are counted.
enum ClusteringMethod {
    Lists,
    Filter,
    Sample(SampledOptions),
}

fn method(params: &Params) -> Result<ClusteringMethod> {
    let samples = params.get("samples")?;
    match (params.text("method"), samples) {
        (Some("sample"), None) => Ok(ClusteringMethod::Sample(SampledOptions::default())),
        (Some("sample"), Some(samples)) => Ok(ClusteringMethod::Sample(SampledOptions { samples })),
        (Some("filter"), _) => Ok(ClusteringMethod::Filter),
        _ => Ok(ClusteringMethod::Lists),
    }
}

fn run_sampled(job: &Job<'_>, graph: &StoredGraph<'_, ()>, options: &SampledOptions) -> Result<Answer> {
    let (found, seconds) = timed(|| triangles_sampled(graph, job.run, options));
    let found = found?;
    job.verify("triangles", graph, |out, _| {
        check::triangles_sampled(out, found.triangles, found.wedges, found.samples)
    })?;
    Ok(Answer {
        facts: vec![
            ("triangles", Fact::Float(found.triangles)),
            ("low", Fact::Float(found.low)),
            ("high", Fact::Float(found.high)),
            ("wedges", Fact::Float(found.wedges)),
            ("closed", Fact::Float(found.closed)),
            ("samples", Fact::Count(found.samples as u64)),
        ],
        rounds: job.run.rounds(),
        seconds,
        ..Answer::default()
    })
}

fn run_triangles(job: &Job<'_>, graph: &StoredGraph<'_, ()>, filtered: bool) -> Result<Answer> {
    let (found, seconds) = timed(|| match filtered {
        true => triangles_filter(graph, job.run),
        false => triangles(graph, job.run, &TrianglesOptions::default()),
    });
    let found = found?;
    job.verify("triangles", graph, |out, _| check::triangles(out, found.triangles))?;
    Ok(Answer {
        columns: Vec::new(),
        facts: vec![("triangles", Fact::Count(found.triangles))],
        rounds: job.run.rounds(),
        arcs: graph.num_arcs(),
        seconds,
        ..Answer::default()
    })
}

pub(super) const LCC: Entry = Entry {
    name: "lcc",
    summary: "Local clustering coefficient: the share of pairs of neighbours that are joined by an edge",
    question: Question::Density,
    options: &[],
    reads: GraphReads::points(ListReads::BothNeeded),
    work: |_, _| {
        Ok(Workload::new(1.0, 41.0, 23.0).over(9.6, 1.0, 85.0).points(900.0, 135.0).growing(0.0, 0.45))
    },
    undirected: false,
    columns: &["coefficient"],
    figures: &["average", "triangles"],
    edges: false,
    verifies: "Coefficients equal those of a serial count",
    run: |job| run_lcc(job, &job.graph::<()>()?),
    estimate: |shape, _, resources| Ok(lcc::estimate(shape, &LccOptions::default(), resources.threads)),
};

fn run_lcc(job: &Job<'_>, graph: &StoredGraph<'_, ()>) -> Result<Answer> {
    let (found, seconds) = timed(|| lcc(graph, job.run, &LccOptions::default()));
    let found = found?;
    job.verify("lcc", graph, |out, _| check::lcc(out, &found.coefficients))?;
    Ok(Answer {
        columns: vec![AnswerColumn {
            name: "coefficient",
            values: Values::Float(found.coefficients),
            ranking: Ranking::Largest,
        }],
        facts: vec![("average", Fact::Float(found.average)), ("triangles", Fact::Count(found.triangles))],
        rounds: job.run.rounds(),
        arcs: graph.num_arcs(),
        seconds,
        ..Answer::default()
    })
}

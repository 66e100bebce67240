//! How densely neighbours are joined.

use esker_algo::algorithm::lcc::{self, LccOptions, lcc};
use esker_algo::algorithm::triangles::{self, TrianglesOptions, triangles};
use esker_algo::algorithm::triangles_filter::{self, triangles_filter};
use esker_algo::check;

use crate::answer::{Answer, Column, Fact, Ranking, Values};
use crate::catalogue::entry::Entry;
use crate::catalogue::job::{Job, JobGraph, on_graph, timed};
use crate::catalogue::params::{OptionSpec, Params};
use crate::error::{Error, Result};

pub(super) const TRIANGLES: Entry = Entry {
    name: "triangles",
    summary: "Number of triangles, whatever the direction; self-loops and parallel edges do not count",
    options: &[OptionSpec {
        name: "method",
        value: "NAME",
        help: "lists, on a copy by degree if that pays; or filter: a bit an edge and no copy, of undirected graphs [default: lists]",
    }],
    weighted: false,
    undirected: false,
    run: |job| {
        let filtered = by_filter(job.params)?;
        on_graph!(job, (), graph => run_triangles(job, graph, filtered))
    },
    estimate: |shape, params, resources| {
        Ok(match by_filter(params)? {
            true => triangles_filter::estimate(shape, resources.threads),
            false => triangles::estimate(shape, &TrianglesOptions::default(), resources.threads),
        })
    },
};

fn by_filter(params: &Params) -> Result<bool> {
    match params.text("method").unwrap_or("lists") {
        "lists" => Ok(false),
        "filter" => Ok(true),
        other => Err(Error::Usage(format!("--method is lists or filter, not {other:?}"))),
    }
}

fn run_triangles(job: &Job<'_>, graph: &impl JobGraph, filtered: bool) -> Result<Answer> {
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
    summary: "Local clustering coefficient: how many of the possible edges between a vertex's neighbours exist",
    options: &[],
    weighted: false,
    undirected: false,
    run: |job| on_graph!(job, (), graph => run_lcc(job, graph)),
    estimate: |shape, _, resources| Ok(lcc::estimate(shape, &LccOptions::default(), resources.threads)),
};

fn run_lcc(job: &Job<'_>, graph: &impl JobGraph) -> Result<Answer> {
    let (found, seconds) = timed(|| lcc(graph, job.run, &LccOptions::default()));
    let found = found?;
    job.verify("lcc", graph, |out, _| check::lcc(out, &found.coefficients))?;
    Ok(Answer {
        columns: vec![Column {
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

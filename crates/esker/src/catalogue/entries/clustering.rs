//! How densely neighbours are joined.

use esker_algo::algorithm::lcc::{self, LccOptions, lcc};
use esker_algo::algorithm::triangles::{self, TrianglesOptions, triangles};
use esker_algo::check;

use crate::answer::{Answer, Column, Fact, Ranking, Values};
use crate::catalogue::entry::Entry;
use crate::catalogue::job::{Job, JobGraph, on_graph, timed};
use crate::error::Result;

pub(super) const TRIANGLES: Entry = Entry {
    name: "triangles",
    summary: "Number of triangles, whatever the direction; self-loops and parallel edges do not count",
    options: &[],
    weighted: false,
    run: |job| on_graph!(job, (), graph => run_triangles(job, graph)),
    estimate: |shape, _, resources| {
        Ok(triangles::estimate(shape, &TrianglesOptions::default(), resources.threads))
    },
};

fn run_triangles(job: &Job<'_>, graph: &impl JobGraph) -> Result<Answer> {
    let (found, seconds) = timed(|| triangles(graph, job.run, &TrianglesOptions::default()));
    let found = found?;
    job.verify("triangles", graph, |out, _| check::triangles(out, found.triangles))?;
    Ok(Answer {
        vertices: None,
        columns: Vec::new(),
        facts: vec![("triangles", Fact::Count(found.triangles))],
        rounds: job.run.rounds(),
        arcs: graph.num_arcs(),
        seconds,
    })
}

pub(super) const LCC: Entry = Entry {
    name: "lcc",
    summary: "Local clustering coefficient: how many of the possible edges between a vertex's neighbours exist",
    options: &[],
    weighted: false,
    run: |job| on_graph!(job, (), graph => run_lcc(job, graph)),
    estimate: |shape, _, resources| Ok(lcc::estimate(shape, &LccOptions::default(), resources.threads)),
};

fn run_lcc(job: &Job<'_>, graph: &impl JobGraph) -> Result<Answer> {
    let (found, seconds) = timed(|| lcc(graph, job.run, &LccOptions::default()));
    let found = found?;
    job.verify("lcc", graph, |out, _| check::lcc(out, &found.coefficients))?;
    Ok(Answer {
        vertices: None,
        columns: vec![Column {
            name: "coefficient",
            values: Values::Float(found.coefficients),
            ranking: Ranking::Largest,
        }],
        facts: vec![("average", Fact::Float(found.average)), ("triangles", Fact::Count(found.triangles))],
        rounds: job.run.rounds(),
        arcs: graph.num_arcs(),
        seconds,
    })
}

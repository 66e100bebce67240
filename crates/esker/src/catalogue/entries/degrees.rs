//! The entry of degrees.

use esker_algo::algorithm::centrality::degrees::{self, DegreeOf, degrees};
use esker_algo::check;
use esker_graph::Graph;

use crate::answer::{Answer, AnswerColumn, Fact, Ranking, Values};
use crate::catalogue::entry::{Entry, GraphReads, ListReads};
use crate::catalogue::job::{Job, timed};
use crate::catalogue::option::Opt;
use crate::catalogue::params::Params;
use crate::catalogue::question::Question;
use crate::catalogue::work::Workload;
use crate::error::Result;

pub(super) const DIRECTION: Opt = Opt::choice(
    "direction",
    &["out", "in", "both"],
    "Edges that leave a vertex, that come to it, or both; an undirected graph has one kind",
)
.in_lists(&["in", "both"]);

pub(super) const DEGREES: Entry = Entry {
    name: "degrees",
    summary: "Degrees: the number of edges of each vertex",
    question: Question::Degrees,
    options: &[DIRECTION],
    reads: GraphReads::scans(ListReads::Both).ignoring_isolated().counting_copies(),
    // The lengths of lists are read, and no list.
    work: |_, _| Ok(Workload::new(0.001, 0.1, 0.1).growing(0.0, 0.0)),
    undirected: false,
    columns: &["degree"],
    figures: &["largest"],
    edges: false,
    verifies: "Each vertex has as many entries in the lists",
    run: run_degrees,
    estimate: |shape, _, _| Ok(degrees::estimate(shape)),
};

/// Which edges count.
pub(crate) fn degree_of(params: &Params) -> DegreeOf {
    match params.text("direction") {
        Some("in") => DegreeOf::In,
        Some("both") => DegreeOf::Both,
        _ => DegreeOf::Out,
    }
}

/// The column of degrees, and its figure.
pub(crate) fn degrees_answer(degrees: Vec<u64>, largest: u64) -> Answer {
    let values = Values::Count(degrees);
    Answer {
        columns: vec![AnswerColumn { name: "degree", values, ranking: Ranking::Largest }],
        facts: vec![("largest", Fact::Count(largest))],
        rounds: 1,
        ..Answer::default()
    }
}

fn run_degrees(job: &Job<'_>) -> Result<Answer> {
    let of = degree_of(job.params);
    // Lists are not read, so they are not verified either.
    let graph = job.view.present_graph::<()>(job.run)?;
    let (found, seconds) = timed(|| degrees(&graph, job.run, of));
    let (found, arcs) = (found?, graph.num_arcs());
    if job.verify {
        // A pool or heads are counted once.
        drop(graph);
        let graph = job.graph::<()>()?;
        job.verify("degrees", &graph, |out, _| {
            check::degrees(out, of.directions(graph.is_directed()), &found.degrees)
        })?;
    }
    Ok(Answer { arcs, seconds, ..degrees_answer(found.degrees, found.largest) })
}

//! The entry of eccentricities.

use esker_algo::algorithm::centrality::eccentricity::{self, eccentricity};
use esker_algo::check;
use esker_graph::Graph;

use crate::answer::{Answer, AnswerColumn, Fact, Ranking, Values};
use crate::catalogue::entry::{Entry, GraphReads, ListReads};
use crate::catalogue::job::{Job, timed};
use crate::catalogue::question::Question;
use crate::catalogue::work::Workload;
use crate::error::Result;

pub(super) const ECCENTRICITY: Entry = Entry {
    name: "eccentricity",
    summary: "Eccentricities: the steps to the farthest vertex of the component; the diameter and the radius",
    question: Question::Paths,
    options: &[],
    reads: GraphReads::few(ListReads::Both),
    work: |_, _| Ok(Workload::new(40.0, 45.0, 50.0)),
    undirected: true,
    columns: &["eccentricity"],
    figures: &["diameter", "radius", "components"],
    edges: false,
    verifies: "Eccentricities, diameter and radius equal those of a serial search from each vertex",
    run,
    estimate: |shape, _, _| Ok(eccentricity::estimate(shape)),
};

fn run(job: &Job<'_>) -> Result<Answer> {
    let graph = job.graph::<()>()?;
    let (found, seconds) = timed(|| eccentricity(&graph, job.run));
    let found = found?;
    job.verify("eccentricity", &graph, |out, _| {
        check::eccentricity(out, &found.eccentricities, found.diameter, found.radius)
    })?;
    let values = Values::Index(found.eccentricities);
    Ok(Answer {
        columns: vec![AnswerColumn { name: "eccentricity", values, ranking: Ranking::Largest }],
        facts: vec![
            ("diameter", Fact::Count(found.diameter)),
            ("radius", Fact::Count(found.radius)),
            ("components", Fact::Count(found.components as u64)),
        ],
        rounds: found.rounds,
        arcs: graph.num_arcs() * found.sources,
        seconds,
        ..Answer::default()
    })
}

//! The entry of maximum flow.

use esker_algo::algorithm::flow::max_flow::{self, max_flow};
use esker_algo::check;
use esker_algo::primitive::Ranked;
use esker_graph::Graph;
use esker_store::StoredWeight;
use esker_store::format::ElementType;

use super::search::by_weight;
use crate::answer::{Answer, AnswerColumn, Fact};
use crate::catalogue::entry::{Entry, GraphReads, ListReads};
use crate::catalogue::job::{Job, timed};
use crate::catalogue::option::Opt;
use crate::catalogue::question::Question;
use crate::catalogue::work::Workload;
use crate::error::Result;

pub(super) const FLOW: Entry = Entry {
    name: "flow",
    summary: "Maximum flow between two vertices, and the minimum cut; weights are capacities",
    question: Question::Flow,
    options: &[
        Opt::vertex("source", "Vertex from which it flows").required(),
        Opt::vertex("target", "Vertex to which it flows").required(),
    ],
    reads: GraphReads::scans(ListReads::Out).weighted().ignoring_isolated().counting_copies(),
    work: |_, _| Ok(Workload::new(1.5, 60.0, 40.0)),
    undirected: false,
    columns: &["source_side"],
    figures: &["flow", "cut_edges"],
    edges: false,
    verifies: "The cut lets as much through as flows, and a flow along shortest paths is as large",
    run: |job| by_weight!(job, flow_by),
    estimate: |shape, _, _| Ok(max_flow::estimate(shape)),
};

fn flow_by<W: StoredWeight + Ranked>(job: &Job<'_>) -> Result<Answer> {
    let (graph, source, target) = (job.graph::<W>()?, job.vertex("source")?, job.vertex("target")?);
    let (found, seconds) = timed(|| max_flow(&graph, job.run, source, target));
    let found = found?;
    job.verify("flow", &graph, |out, _| {
        check::max_flow(out, source, target, found.value, &found.source_side)
    })?;
    Ok(Answer {
        columns: vec![AnswerColumn::marks("source_side", &found.source_side)],
        facts: vec![("flow", Fact::Float(found.value)), ("cut_edges", Fact::Count(found.cut_arcs))],
        rounds: found.rounds,
        arcs: graph.num_arcs(),
        seconds,
        ..Answer::default()
    })
}

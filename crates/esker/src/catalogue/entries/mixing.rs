//! The entries of strength, reciprocity and assortativity.

use esker_algo::algorithm::centrality::assortativity::{self, AssortativityOptions, assortativity};
use esker_algo::algorithm::centrality::degrees::DegreeOf;
use esker_algo::algorithm::centrality::reciprocity::{self, reciprocity};
use esker_algo::algorithm::centrality::strength::{self, strength};
use esker_algo::check;
use esker_algo::primitive::Ranked;
use esker_graph::{Graph, Stop};
use esker_store::StoredWeight;
use esker_store::format::ElementType;

use super::degrees::{DIRECTION, degree_of};
use super::search::by_weight;
use crate::answer::{Answer, AnswerColumn, Fact, Ranking, Values};
use crate::catalogue::entry::{Entry, GraphReads, ListReads};
use crate::catalogue::job::{Job, timed};
use crate::catalogue::option::Opt;
use crate::catalogue::params::Params;
use crate::catalogue::question::Question;
use crate::catalogue::work::Workload;
use crate::error::Result;

pub(super) const STRENGTH: Entry = Entry {
    name: "strength",
    summary: "Strengths: the sum, mean, least and greatest weight of the edges of each vertex",
    question: Question::Degrees,
    options: &[DIRECTION],
    reads: GraphReads::scans(ListReads::Both).weighted().ignoring_isolated().counting_copies(),
    work: |_, _| Ok(Workload::new(1.5, 6.0, 5.0)),
    undirected: false,
    columns: &["strength", "mean", "least", "greatest"],
    figures: &["largest"],
    edges: false,
    verifies: "Figures equal those of the weights collected at each vertex",
    run: |job| by_weight!(job, strength_by),
    estimate: |shape, params, _| Ok(strength::estimate(shape, degree_of(params))),
};

fn strength_by<W: StoredWeight + Ranked>(job: &Job<'_>) -> Result<Answer> {
    let (graph, of) = (job.graph::<W>()?, degree_of(job.params));
    let (found, seconds) = timed(|| strength(&graph, job.run, of));
    let found = found?;
    job.verify("strength", &graph, |out, _| {
        let columns = [&found.sums[..], &found.means, &found.least, &found.greatest];
        check::strength(out, of.directions(graph.is_directed()), columns)
    })?;
    if found.sums.iter().any(|sum| sum.is_infinite()) {
        let reason = "the weights of a vertex add up to more than a number of 64 bits holds";
        return Err(Stop::unsuitable(reason.to_owned()).into());
    }
    let largest = found.sums.iter().copied().reduce(f64::max).unwrap_or(0.0);
    let column =
        |name, values| AnswerColumn { name, values: Values::numbers(values), ranking: Ranking::Largest };
    Ok(Answer {
        columns: vec![
            column("strength", found.sums),
            column("mean", found.means),
            column("least", found.least),
            column("greatest", found.greatest),
        ],
        facts: vec![("largest", Fact::Float(largest))],
        rounds: found.rounds,
        arcs: graph.num_arcs(),
        seconds,
        ..Answer::default()
    })
}

pub(super) const RECIPROCITY: Entry = Entry {
    name: "reciprocity",
    summary: "Reciprocity: the share of edges that have an edge back",
    question: Question::Degrees,
    options: &[],
    reads: GraphReads::points(ListReads::BothNeeded).ignoring_isolated(),
    work: |_, _| Ok(Workload::new(1.0, 6.0, 5.0).points(2.0, 2.0)),
    undirected: false,
    columns: &["reciprocity"],
    figures: &["overall"],
    edges: false,
    verifies: "Shares equal those by the set of all edges",
    run: |job| {
        let graph = job.graph::<()>()?;
        let (found, seconds) = timed(|| reciprocity(&graph, job.run));
        let found = found?;
        job.verify("reciprocity", &graph, |out, _| check::reciprocity(out, &found.shares, found.overall))?;
        Ok(Answer {
            columns: vec![AnswerColumn {
                name: "reciprocity",
                values: Values::numbers(found.shares),
                ranking: Ranking::Largest,
            }],
            facts: vec![("overall", Fact::Float(found.overall))],
            rounds: 1,
            arcs: graph.num_arcs(),
            seconds,
            ..Answer::default()
        })
    },
    estimate: |shape, _, resources| Ok(reciprocity::estimate(shape, resources.threads)),
};

const DEGREES: &[&str] = &["out", "in", "both"];
const IN_DEGREES: &[&str] = &["in", "both"];

pub(super) const ASSORTATIVITY: Entry = Entry {
    name: "assortativity",
    summary: "Degree assortativity: whether vertices of many edges are joined to vertices of many",
    question: Question::Degrees,
    options: &[
        Opt::choice("source-degree", DEGREES, "Which edges count at the vertex that an edge leaves")
            .in_lists(IN_DEGREES),
        Opt::choice("target-degree", DEGREES, "Which edges count at the vertex to which it leads")
            .in_lists(IN_DEGREES),
    ],
    reads: GraphReads::scans(ListReads::Both).ignoring_isolated().counting_copies(),
    work: |_, _| Ok(Workload::new(0.5, 4.0, 4.0)),
    undirected: false,
    columns: &[],
    figures: &["assortativity"],
    edges: false,
    verifies: "The correlation equals that by the deviations of all degrees from their means",
    run: run_assortativity,
    estimate: |shape, _, _| Ok(assortativity::estimate(shape)),
};

fn degrees_at(params: &Params, option: &str) -> DegreeOf {
    match params.text(option) {
        Some("in") => DegreeOf::In,
        Some("both") => DegreeOf::Both,
        _ => DegreeOf::Out,
    }
}

fn run_assortativity(job: &Job<'_>) -> Result<Answer> {
    let graph = job.graph::<()>()?;
    let [source, target] = ["source-degree", "target-degree"].map(|option| degrees_at(job.params, option));
    let (found, seconds) = timed(|| assortativity(&graph, job.run, AssortativityOptions { source, target }));
    let found = found?;
    job.verify("assortativity", &graph, |out, _| {
        let [source, target] = [source, target].map(|of| of.directions(graph.is_directed()));
        check::assortativity(out, source, target, found)
    })?;
    let facts = vec![("assortativity", Fact::Float(found))];
    Ok(Answer { facts, rounds: 1, arcs: graph.num_arcs(), seconds, ..Answer::default() })
}

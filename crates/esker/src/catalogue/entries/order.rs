//! The entries of topological order and of shortest cycles.

use esker_algo::algorithm::order::cycle::{self, cycle};
use esker_algo::algorithm::order::topological::{self, OrderOptions, order};
use esker_algo::check::{self, OrderClaim};
use esker_algo::primitive::Ranked;
use esker_graph::Graph;
use esker_store::StoredWeight;
use esker_store::format::ElementType;

use super::search::{PARENTS, by_weight, push_parents};
use crate::answer::{Answer, AnswerColumn, Fact, Ranking, Values};
use crate::catalogue::entry::{Entry, GraphReads, ListReads};
use crate::catalogue::job::{Job, timed};
use crate::catalogue::params::Params;
use crate::catalogue::question::Question;
use crate::catalogue::work::Workload;
use crate::error::Result;

pub(super) const ORDER: Entry = Entry {
    name: "order",
    summary: "Topological order: the generation of each vertex, and the longest path to it",
    question: Question::Order,
    options: &[PARENTS],
    reads: GraphReads::few(ListReads::Both).weighted().counting_copies(),
    work: |_, _| Ok(Workload::new(0.8, 8.0, 6.0)),
    undirected: false,
    columns: &["generation", "longest_path", "parent"],
    figures: &["acyclic", "generations", "unordered", "longest"],
    edges: false,
    verifies: "Each edge leads to a later generation, none later than needed, and lengths are the greatest along edges",
    run: |job| by_weight!(job, order_by),
    estimate: |shape, params, _| Ok(topological::estimate(shape, &order_options(params))),
};

fn order_options(params: &Params) -> OrderOptions {
    OrderOptions { parents: params.flag("parents") }
}

fn order_by<W: StoredWeight + Ranked>(job: &Job<'_>) -> Result<Answer> {
    let graph = job.graph::<W>()?;
    let (found, seconds) = timed(|| order(&graph, job.run, order_options(job.params)));
    let found = found?;
    job.verify("order", &graph, |out, _| {
        let claim = OrderClaim {
            generations: &found.generations,
            count: found.count,
            unordered: found.unordered,
            lengths: found.lengths.as_deref(),
            parents: found.parents.as_deref(),
        };
        check::order(out, &claim)
    })?;
    let mut columns = vec![AnswerColumn {
        name: "generation",
        values: Values::Index(found.generations),
        ranking: Ranking::Largest,
    }];
    columns.extend(found.lengths.map(|lengths| AnswerColumn {
        name: "longest_path",
        values: Values::numbers(lengths),
        ranking: Ranking::Largest,
    }));
    push_parents(&mut columns, found.parents);
    Ok(Answer {
        columns,
        facts: vec![
            ("acyclic", Fact::Flag(found.unordered == 0)),
            ("generations", Fact::Count(found.count as u64)),
            ("unordered", Fact::Count(found.unordered as u64)),
            ("longest", Fact::Float(found.longest)),
        ],
        rounds: found.rounds,
        arcs: graph.num_arcs(),
        seconds,
        ..Answer::default()
    })
}

pub(super) const CYCLE: Entry = Entry {
    name: "cycle",
    summary: "A shortest cycle, or that there is none",
    question: Question::Order,
    options: &[],
    reads: GraphReads::points(ListReads::BothNeeded).ignoring_isolated(),
    work: |_, _| Ok(Workload::new(1.5, 10.0, 6.0).points(4.0, 3.0)),
    undirected: false,
    columns: &[],
    figures: &["acyclic", "cycle_edges"],
    edges: true,
    verifies: "Its edges exist and end where they began, and no cycle is shorter",
    run: run_cycle,
    estimate: |shape, _, resources| Ok(cycle::estimate(shape, resources.threads)),
};

fn run_cycle(job: &Job<'_>) -> Result<Answer> {
    let graph = job.graph::<()>()?;
    let (found, seconds) = timed(|| cycle(&graph, job.run));
    let found = found?;
    job.verify("cycle", &graph, |out, _| check::cycle(out, &found))?;
    let mut facts = vec![("acyclic", Fact::Flag(found.is_empty()))];
    if !found.is_empty() {
        facts.push(("cycle_edges", Fact::Count(found.len() as u64)));
    }
    let next = found.iter().cycle().skip(1);
    let edges = found.iter().copied().zip(next.copied()).collect();
    Ok(Answer { edges: Some(edges), facts, rounds: 1, arcs: graph.num_arcs(), seconds, ..Answer::default() })
}

//! The entries of cores, densest subgraphs, cliques and trusses.

use esker_algo::algorithm::cohesion::cliques::{self, CliquesOptions, cliques};
use esker_algo::algorithm::cohesion::densest::{self, DensestOptions, densest};
use esker_algo::algorithm::cohesion::kcore::{self, kcore};
use esker_algo::algorithm::cohesion::truss::{self, truss};
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

pub(super) const KCORE: Entry = Entry {
    name: "kcore",
    summary: "Coreness: the largest k such that the vertex lies in a subgraph of minimum degree k",
    question: Question::Density,
    options: &[],
    reads: GraphReads::few(ListReads::BothNeeded).ignoring_isolated().counting_copies(),
    work: |_, _| Ok(Workload::new(2.2, 5.0, 5.4).over(5.9, 15.0, 8.2).evenly(15.0, 14.0)),
    undirected: false,
    columns: &["coreness"],
    figures: &["k_max"],
    edges: false,
    verifies: "Peeling in the order that the run found gives the same coreness",
    run: |job| run_kcore(job, &job.graph::<()>()?),
    estimate: |shape, _, _| Ok(kcore::estimate(shape)),
};

fn run_kcore(job: &Job<'_>, graph: &StoredGraph<'_, ()>) -> Result<Answer> {
    let (found, seconds) = timed(|| kcore(graph, job.run));
    let found = found?;
    job.verify("kcore", graph, |out, _| {
        check::kcore(out, graph.is_directed(), &found.coreness, &found.order)
    })?;
    let values = Values::Index(found.coreness);
    Ok(Answer {
        columns: vec![AnswerColumn { name: "coreness", values, ranking: Ranking::Largest }],
        facts: vec![("k_max", Fact::Count(found.k_max as u64))],
        rounds: found.rounds,
        arcs: graph.num_arcs(),
        seconds,
        ..Answer::default()
    })
}

pub(super) const DENSEST: Entry = Entry {
    name: "densest",
    summary: "Densest subgraph, approximately: the vertices with the most edges per vertex among them",
    question: Question::Density,
    options: &[Opt::float("epsilon", "The density is at least 1 / (2 + 2 epsilon) of the largest")
        .within(OptRange::Above(0.0))
        .or("0.001")],
    reads: GraphReads::scans(ListReads::BothNeeded).counting_copies(),
    work: |_, _| Ok(Workload::new(2.0, 1.9, 1.5).over(4.1, 4.5, 3.3).evenly(3.2, 3.0)),
    undirected: false,
    columns: &["member"],
    figures: &["vertices", "density", "density_bound"],
    edges: false,
    verifies: "The subgraph has that density, and the levels prove the bound",
    run: |job| {
        let options = densest_options(job.params)?;
        run_densest(job, &job.graph::<()>()?, &options)
    },
    estimate: |shape, _, _| Ok(densest::estimate(shape)),
};

fn densest_options(params: &Params) -> Result<DensestOptions> {
    Ok(DensestOptions { epsilon: params.get_or("epsilon", DensestOptions::default().epsilon)? })
}

fn run_densest(job: &Job<'_>, graph: &StoredGraph<'_, ()>, options: &DensestOptions) -> Result<Answer> {
    let (found, seconds) = timed(|| densest(graph, job.run, options));
    let found = found?;
    job.verify("densest", graph, |out, _| {
        let bound = found.density_bound;
        check::densest(out, graph.is_directed(), &found.members, found.density, &found.levels, bound)
    })?;
    Ok(Answer {
        columns: vec![AnswerColumn::marks("member", &found.members)],
        facts: vec![
            ("vertices", Fact::Count(found.size as u64)),
            ("density", Fact::Float(found.density)),
            ("density_bound", Fact::Float(found.density_bound)),
        ],
        rounds: found.rounds,
        arcs: graph.num_arcs(),
        seconds,
        ..Answer::default()
    })
}

pub(super) const CLIQUES: Entry = Entry {
    name: "cliques",
    summary: "Number of cliques of k vertices",
    question: Question::Density,
    options: &[Opt::integer("k", "Vertices of a clique").within(OptRange::From(1.0)).or("4")],
    reads: GraphReads::points(ListReads::BothNeeded),
    work: |_, _| Ok(Workload::new(1.0, 33.0, 65.0).over(6.3, 1.0, 13.0).points(75.0, 60.0).growing(0.0, 0.7)),
    undirected: false,
    columns: &[],
    figures: &["cliques"],
    edges: false,
    verifies: "The count equals a serial count",
    run: |job| {
        let options = cliques_options(job.params)?;
        run_cliques(job, &job.graph::<()>()?, &options)
    },
    estimate: |shape, _, resources| Ok(cliques::estimate(shape, resources.threads)),
};

fn cliques_options(params: &Params) -> Result<CliquesOptions> {
    Ok(CliquesOptions { k: params.get_or("k", CliquesOptions::default().k)? })
}

fn run_cliques(job: &Job<'_>, graph: &StoredGraph<'_, ()>, options: &CliquesOptions) -> Result<Answer> {
    let (found, seconds) = timed(|| cliques(graph, job.run, options));
    let found = found?;
    job.verify("cliques", graph, |out, _| check::cliques(out, options.k, found.cliques))?;
    Ok(Answer {
        facts: vec![("cliques", Fact::Count(found.cliques))],
        rounds: job.run.rounds(),
        arcs: graph.num_arcs(),
        seconds,
        ..Answer::default()
    })
}

pub(super) const TRUSS: Entry = Entry {
    name: "truss",
    summary: "Trussness of each edge: the largest k such that the edge lies in a subgraph whose edges are all in k - 2 triangles",
    question: Question::Density,
    options: &[],
    reads: GraphReads::points(ListReads::BothNeeded).ignoring_isolated().counting_copies(),
    work: |_, _| Ok(Workload::new(1.0, 140.0, 420.0).over(6.3, 1.0, 9.8).points(75.0, 5.0).growing(0.0, 0.5)),
    undirected: false,
    columns: &["trussness"],
    figures: &["largest", "triangles"],
    edges: true,
    verifies: "Serial peeling gives the same trussness",
    run: |job| run_truss(job, &job.graph::<()>()?),
    estimate: |shape, _, resources| Ok(truss::estimate(shape, resources.threads)),
};

fn run_truss(job: &Job<'_>, graph: &StoredGraph<'_, ()>) -> Result<Answer> {
    let (found, seconds) = timed(|| truss(graph, job.run));
    let found = found?;
    job.verify("truss", graph, |out, _| check::truss(out, &found.edges, &found.trussness))?;
    let values = Values::Index(found.trussness);
    Ok(Answer {
        edges: Some(found.edges),
        columns: vec![AnswerColumn { name: "trussness", values, ranking: Ranking::Largest }],
        facts: vec![
            ("largest", Fact::Count(found.largest as u64)),
            ("triangles", Fact::Count(found.triangles)),
        ],
        rounds: found.rounds,
        arcs: graph.num_arcs(),
        seconds,
        ..Answer::default()
    })
}

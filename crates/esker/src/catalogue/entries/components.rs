//! The entries of components and communities.

use esker_algo::algorithm::components::cdlp::{self, CdlpOptions, cdlp};
use esker_algo::algorithm::components::scc::{self, scc};
use esker_algo::algorithm::components::wcc::{self, WccMethod, WccOptions, wcc};
use esker_algo::check;
use esker_graph::{Graph, VertexId, vertex};
use esker_store::StoredGraph;

use crate::answer::{Answer, AnswerColumn, Fact, Ranking, Values};
use crate::catalogue::entry::{Entry, GraphReads, ListReads};
use crate::catalogue::job::{Job, timed};
use crate::catalogue::option::{Opt, RATES};
use crate::catalogue::params::Params;
use crate::catalogue::question::Question;
use crate::catalogue::work::Workload;
use crate::error::Result;

pub(super) const WCC: Entry = Entry {
    name: "wcc",
    summary: "Weakly connected components: vertices that are connected if directions are ignored",
    question: Question::Components,
    options: &[
        Opt::choice(
            "method",
            &["union-find", "contraction"],
            "union-find, or contraction of the clusters of a decomposition (undirected graphs only)",
        )
        .undirected(&["contraction"]),
        Opt::float("beta", "Rate of the decomposition, with contraction")
            .within(RATES)
            .only_with("method", "contraction")
            .or("0.2"),
    ],
    reads: GraphReads::few(ListReads::Both).ignoring_isolated(),
    work: |_, _| Ok(Workload::new(1.1, 0.85, 0.34).over(0.0, 0.85, 0.61).evenly(1.1, 0.0)),
    undirected: false,
    columns: &["component"],
    figures: &["components"],
    edges: false,
    verifies: "Two vertices have the same label exactly if a path joins them",
    run: |job| {
        let options = wcc_options(job.params)?;
        run_wcc(job, &job.graph::<()>()?, &options)
    },
    estimate: |shape, params, _| Ok(wcc::estimate_method(shape, wcc_options(params)?.method)),
};

fn wcc_options(params: &Params) -> Result<WccOptions> {
    Ok(WccOptions { method: component_method(params)?, ..WccOptions::default() })
}

/// How components are found.
pub(crate) fn component_method(params: &Params) -> Result<WccMethod> {
    Ok(match params.text("method") {
        Some("contraction") => WccMethod::Contraction { beta: params.get_or("beta", 0.2)? },
        _ => WccMethod::UnionFind,
    })
}

fn run_wcc(job: &Job<'_>, graph: &StoredGraph<'_, ()>, options: &WccOptions) -> Result<Answer> {
    let (found, seconds) = timed(|| wcc(graph, job.run, options));
    let found = found?;
    job.verify("wcc", graph, |out, _| check::wcc(out, &found.labels))?;
    // A removed vertex without edges is a component of its own.
    let components = found.components - job.kept_removed()?.len();
    Ok(Answer {
        columns: vec![AnswerColumn {
            name: "component",
            values: Values::Vertex(found.labels),
            ranking: Ranking::Groups,
        }],
        facts: vec![("components", Fact::Count(components as u64))],
        rounds: job.run.rounds(),
        arcs: graph.num_arcs(),
        seconds,
        ..Answer::default()
    })
}

pub(super) const CDLP: Entry = Entry {
    name: "cdlp",
    summary: "Communities by label propagation, as Graphalytics defines it",
    question: Question::Communities,
    options: &[Opt::integer("iterations", "Number of iterations").or("10")],
    reads: GraphReads::points(ListReads::BothNeeded).with_ids().counting_copies(),
    work: |params, _| {
        Ok(Workload::new(1.0, 2.1, 1.7)
            .over(1.4, 1.0, 5.1)
            .points(11.0, 7.0)
            .times(cdlp_options(params)?.iterations as f64))
    },
    undirected: false,
    columns: &["community"],
    figures: &["communities", "converged"],
    edges: false,
    verifies: "Labels equal those of a serial propagation",
    run: |job| {
        let options = cdlp_options(job.params)?;
        run_cdlp(job, &job.graph::<()>()?, &options)
    },
    estimate: |shape, params, resources| {
        Ok(cdlp::estimate(shape, &cdlp_options(params)?, true, resources.threads))
    },
};

fn cdlp_options(params: &Params) -> Result<CdlpOptions> {
    Ok(CdlpOptions { iterations: params.get_or("iterations", CdlpOptions::default().iterations)? })
}

/// The rank of each vertex by its id, and the vertex of each rank.
fn ranks_of(ids: &[u64]) -> (Vec<u64>, Option<Vec<VertexId>>) {
    let mut by_rank: Vec<VertexId> = (0..ids.len()).map(vertex).collect();
    by_rank.sort_unstable_by_key(|&v| ids[v as usize]);
    let mut ranks = vec![0; ids.len()];
    by_rank.iter().zip(0..).for_each(|(&v, rank)| ranks[v as usize] = rank);
    (ranks, Some(by_rank))
}

fn run_cdlp(job: &Job<'_>, graph: &StoredGraph<'_, ()>, options: &CdlpOptions) -> Result<Answer> {
    // Labels begin as the external ids; where these are texts, as their ranks.
    let (initial, by_rank) = match job.integer_ids()? {
        // That number stands for no value.
        Some(ids) if ids.contains(&u64::MAX) => ranks_of(&ids),
        Some(ids) => (ids, None),
        None => job.text_ranks(graph.num_vertices())?,
    };
    let (found, seconds) = timed(|| cdlp(graph, job.run, Some(&initial), options));
    let found = found?;
    job.verify("cdlp", graph, |out, incoming| {
        check::cdlp(
            out,
            incoming.filter(|_| graph.is_directed()),
            &initial,
            options.iterations,
            &found.labels,
        )
    })?;
    let values = match by_rank {
        None => Values::Count(found.labels),
        Some(by_rank) => {
            Values::Vertex(found.labels.into_iter().map(|rank| by_rank[rank as usize]).collect())
        }
    };
    Ok(Answer {
        columns: vec![AnswerColumn { name: "community", values, ranking: Ranking::Groups }],
        facts: vec![
            ("communities", Fact::Count(found.communities as u64)),
            ("converged", Fact::Flag(found.converged)),
        ],
        rounds: found.rounds,
        arcs: graph.num_arcs() * found.rounds as u64,
        seconds,
        ..Answer::default()
    })
}

pub(super) const SCC: Entry = Entry {
    name: "scc",
    summary: "Strongly connected components: vertices that reach each other",
    question: Question::Components,
    options: &[],
    reads: GraphReads::points(ListReads::Both),
    work: |_, _| Ok(Workload::new(0.96, 1.7, 1.3).over(0.0096, 0.96, 0.89).evenly(2.1, 1.1)),
    undirected: false,
    columns: &["component"],
    figures: &["components", "largest"],
    edges: false,
    verifies: "Two vertices have the same label exactly if each reaches the other",
    run: |job| run_scc(job, &job.graph::<()>()?),
    estimate: |shape, _, _| Ok(scc::estimate(shape)),
};

fn run_scc(job: &Job<'_>, graph: &StoredGraph<'_, ()>) -> Result<Answer> {
    let (found, seconds) = timed(|| scc(graph, job.run));
    let found = found?;
    job.verify("scc", graph, |out, _| check::scc(out, &found.components))?;
    Ok(Answer {
        columns: vec![AnswerColumn {
            name: "component",
            values: Values::Vertex(found.components),
            ranking: Ranking::Groups,
        }],
        facts: vec![
            ("components", Fact::Count(found.count as u64)),
            ("largest", Fact::Count(found.largest as u64)),
        ],
        rounds: job.run.rounds(),
        arcs: graph.num_arcs(),
        seconds,
        ..Answer::default()
    })
}

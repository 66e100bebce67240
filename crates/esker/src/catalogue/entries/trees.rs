//! The entries of spanning forests, spanners, decompositions and biconnected components.

use esker_algo::algorithm::components::biconnectivity::{self, biconnectivity};
use esker_algo::algorithm::components::forest::{self, ForestMethod, ForestOptions, forest};
use esker_algo::algorithm::components::ldd::{self, LddOptions, ldd};
use esker_algo::algorithm::components::msf::{self, msf};
use esker_algo::algorithm::components::spanner::{self, SpannerOptions, spanner};
use esker_algo::check;
use esker_algo::primitive::Ranked;
use esker_graph::{Graph, Stop, VertexId};
use esker_store::format::ElementType;
use esker_store::{StoredGraph, StoredWeight};

use super::search::by_weight;
use crate::answer::{Answer, AnswerColumn, Fact, Ranking, Values};
use crate::catalogue::entry::{Entry, GraphReads, ListReads};
use crate::catalogue::job::{Job, timed};
use crate::catalogue::option::{Opt, OptRange, RATES};
use crate::catalogue::params::Params;
use crate::catalogue::question::Question;
use crate::catalogue::work::Workload;
use crate::error::Result;

pub(super) const FOREST: Entry = Entry {
    name: "forest",
    summary: "Spanning forest: edges without a cycle that connect each component",
    question: Question::Components,
    options: &[Opt::choice(
        "method",
        &["union-find", "search"],
        "union-find, or search (a breadth-first search of each component)",
    )
    .otherwise("union-find; search if deterministic")],
    reads: GraphReads::scans(ListReads::Out),
    work: |_, _| Ok(Workload::new(1.1, 1.0, 0.6).over(0.0, 2.9, 1.0).evenly(1.1, 0.0)),
    undirected: true,
    columns: &[],
    figures: &["trees", "edges"],
    edges: true,
    verifies: "The edges exist, form no cycle, and join what is joined",
    run: |job| {
        let options = forest_options(job.params);
        run_forest(job, &job.graph::<()>()?, &options)
    },
    estimate: |shape, params, resources| {
        Ok(forest::estimate(shape, &forest_options(params), resources.deterministic))
    },
};

fn forest_options(params: &Params) -> ForestOptions {
    let default = ForestOptions::default();
    let method = match params.text("method") {
        Some("union-find") => ForestMethod::UnionFind,
        Some("search") => ForestMethod::Search,
        _ => default.method,
    };
    ForestOptions { method, ..default }
}

fn run_forest(job: &Job<'_>, graph: &StoredGraph<'_, ()>, options: &ForestOptions) -> Result<Answer> {
    let (found, seconds) = timed(|| forest(graph, job.run, options));
    let found = found?;
    job.verify("forest", graph, |out, _| check::forest(out, &found.edges, found.trees))?;
    Ok(Answer {
        facts: vec![
            ("trees", Fact::Count(found.trees as u64)),
            ("edges", Fact::Count(found.edges.len() as u64)),
        ],
        edges: Some(found.edges),
        rounds: job.run.rounds(),
        arcs: graph.num_arcs(),
        seconds,
        ..Answer::default()
    })
}

pub(super) const MSF: Entry = Entry {
    name: "msf",
    summary: "Minimum spanning forest: a spanning forest of the least total weight",
    question: Question::Components,
    options: &[],
    reads: GraphReads::scans(ListReads::Out).weighted().counting_copies(),
    work: |_, shape| {
        Ok(if shape.weight_bytes == 0 {
            Workload::new(3.0, 4.3, 2.4).over(3.0, 6.0, 3.0).evenly(5.3, 4.9)
        } else {
            Workload::new(5.3, 8.1, 4.4).over(5.4, 37.0, 2.2)
        })
    },
    undirected: true,
    columns: &["weight"],
    figures: &["trees", "edges", "weight"],
    edges: true,
    verifies: "The edges form a spanning forest, and no other edge could replace a heavier one",
    run: |job| by_weight!(job, msf_by),
    estimate: |shape, _, _| Ok(msf::estimate(shape)),
};

fn msf_by<W: StoredWeight + Ranked>(job: &Job<'_>) -> Result<Answer> {
    let graph = &job.graph::<W>()?;
    let (found, seconds) = timed(|| msf(graph, job.run));
    let found = found?;
    job.verify("msf", graph, |out, _| check::msf(out, &found.edges, found.trees))?;
    if found.weight.is_infinite() {
        let reason = "the weights of the forest add up to more than a number of 64 bits holds";
        return Err(Stop::unsuitable(reason.to_owned()).into());
    }
    let weights = found.edges.iter().map(|edge| edge.2.as_f64()).collect();
    let edges: Vec<(VertexId, VertexId)> = found.edges.into_iter().map(|(u, v, _)| (u, v)).collect();
    Ok(Answer {
        facts: vec![
            ("trees", Fact::Count(found.trees as u64)),
            ("edges", Fact::Count(edges.len() as u64)),
            ("weight", Fact::Float(found.weight)),
        ],
        edges: Some(edges),
        columns: vec![AnswerColumn {
            name: "weight",
            values: Values::Float(weights),
            ranking: Ranking::Largest,
        }],
        rounds: found.rounds,
        arcs: graph.num_arcs(),
        seconds,
        ..Answer::default()
    })
}

pub(super) const SPANNER: Entry = Entry {
    name: "spanner",
    summary: "Spanner: few edges that stretch no distance by more than a factor",
    question: Question::Paths,
    options: &[Opt::integer("k", "Stretch of distances is O(k), the number of edges about n^(1 + 1/k)")
        .within(OptRange::From(1.0))
        .otherwise("the logarithm of n")],
    reads: GraphReads::scans(ListReads::Out),
    work: |_, _| Ok(Workload::new(0.75, 1.1, 1.2).over(0.0063, 1.5, 0.89).evenly(2.3, 1.2)),
    undirected: true,
    columns: &[],
    figures: &["edges", "k", "stretch_bound", "radius"],
    edges: true,
    verifies: "The edges join each vertex to its cluster within the radius, and each pair of adjacent clusters",
    run: |job| {
        let options = spanner_options(job.params)?;
        run_spanner(job, &job.graph::<()>()?, &options)
    },
    estimate: |shape, params, resources| {
        Ok(spanner::estimate(shape, &spanner_options(params)?, resources.deterministic))
    },
};

fn spanner_options(params: &Params) -> Result<SpannerOptions> {
    Ok(SpannerOptions { k: params.get("k")? })
}

fn run_spanner(job: &Job<'_>, graph: &StoredGraph<'_, ()>, options: &SpannerOptions) -> Result<Answer> {
    let (found, seconds) = timed(|| spanner(graph, job.run, options));
    let found = found?;
    job.verify("spanner", graph, |out, _| check::spanner(out, &found.edges, &found.clusters, found.radius))?;
    Ok(Answer {
        facts: vec![
            ("edges", Fact::Count(found.edges.len() as u64)),
            ("k", Fact::Count(found.k as u64)),
            ("stretch_bound", Fact::Count(found.stretch as u64)),
            ("radius", Fact::Count(found.radius as u64)),
        ],
        edges: Some(found.edges),
        rounds: job.run.rounds(),
        arcs: graph.num_arcs(),
        seconds,
        ..Answer::default()
    })
}

pub(super) const LDD: Entry = Entry {
    name: "ldd",
    summary: "Low-diameter decomposition: clusters of small radius with few edges between them",
    question: Question::Communities,
    options: &[Opt::float(
        "beta",
        "About this part of the edges lies between clusters, whose radius is about log n / beta",
    )
    .within(RATES)
    .or("0.2")],
    reads: GraphReads::scans(ListReads::Out),
    work: |_, _| Ok(Workload::new(0.75, 1.1, 0.55).over(0.006, 0.57, 1.0).evenly(2.1, 1.2)),
    undirected: true,
    columns: &["cluster"],
    figures: &["clusters", "radius"],
    edges: false,
    verifies: "Each vertex reaches the centre of its cluster within the radius",
    run: |job| {
        let options = ldd_options(job.params)?;
        run_ldd(job, &job.graph::<()>()?, &options)
    },
    estimate: |shape, params, resources| {
        Ok(ldd::estimate(shape, &ldd_options(params)?, resources.deterministic))
    },
};

fn ldd_options(params: &Params) -> Result<LddOptions> {
    let default = LddOptions::default();
    Ok(LddOptions { beta: params.get_or("beta", default.beta)?, ..default })
}

fn run_ldd(job: &Job<'_>, graph: &StoredGraph<'_, ()>, options: &LddOptions) -> Result<Answer> {
    let (found, seconds) = timed(|| ldd(graph, job.run, options));
    let found = found?;
    job.verify("ldd", graph, |out, _| check::ldd(out, &found.clusters, found.radius).map(|_| ()))?;
    Ok(Answer {
        columns: vec![AnswerColumn {
            name: "cluster",
            values: Values::Vertex(found.clusters),
            ranking: Ranking::Groups,
        }],
        facts: vec![
            ("clusters", Fact::Count(found.count as u64)),
            ("radius", Fact::Count(found.radius as u64)),
        ],
        rounds: found.rounds,
        arcs: graph.num_arcs(),
        seconds,
        ..Answer::default()
    })
}

pub(super) const BICONNECTIVITY: Entry = Entry {
    name: "biconnectivity",
    summary: "Biconnected components, articulation points and bridges",
    question: Question::Components,
    options: &[Opt::flag("bridges", "Answer with the bridges instead of the vertices")],
    reads: GraphReads::scans(ListReads::Out),
    work: |_, _| Ok(Workload::new(4.2, 3.8, 2.9).over(1.7, 7.0, 2.2).evenly(5.3, 2.3)),
    undirected: true,
    columns: &["block", "articulation_point"],
    figures: &["blocks", "articulation_points", "bridges", "components"],
    edges: false,
    verifies: "Blocks, articulation points and bridges equal those of a serial search",
    run: |job| run_biconnectivity(job, &job.graph::<()>()?),
    estimate: |shape, _, _| Ok(biconnectivity::estimate(shape)),
};

fn run_biconnectivity(job: &Job<'_>, graph: &StoredGraph<'_, ()>) -> Result<Answer> {
    let (found, seconds) = timed(|| biconnectivity(graph, job.run));
    let found = found?;
    job.verify("biconnectivity", graph, |out, _| {
        let block = |u, v| found.block(u, v);
        check::biconnectivity(out, block, &found.articulation_points, &found.bridges, found.count)
    })?;
    let mut articulation = vec![false; graph.num_vertices()];
    found.articulation_points.iter().for_each(|&v| articulation[v as usize] = true);
    let facts = vec![
        ("blocks", Fact::Count(found.count as u64)),
        ("articulation_points", Fact::Count(found.articulation_points.len() as u64)),
        ("bridges", Fact::Count(found.bridges.len() as u64)),
        ("components", Fact::Count(found.components as u64)),
    ];
    let (edges, columns) = if job.params.flag("bridges") {
        (Some(found.bridges), Vec::new())
    } else {
        let blocks = Values::Vertex(found.blocks);
        let columns = vec![
            AnswerColumn { name: "block", values: blocks, ranking: Ranking::Blocks },
            AnswerColumn::marks("articulation_point", &articulation),
        ];
        (None, columns)
    };
    let (rounds, arcs) = (job.run.rounds(), graph.num_arcs());
    Ok(Answer { edges, columns, facts, rounds, arcs, seconds, ..Answer::default() })
}

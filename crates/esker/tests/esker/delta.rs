//! Every algorithm on a dynamic graph, from and to which edges came and went, checked by its verifier.
//!
//! The type of the graph is forgotten, so that each algorithm is compiled for one more type of graph and no
//! more.

use std::collections::BTreeMap;

use esker::algo::algorithm::centrality::betweenness::{BetweennessOptions, Scale, Sources, betweenness};
use esker::algo::algorithm::centrality::pagerank::{PageRankOptions, pagerank};
use esker::algo::algorithm::cohesion::cliques::{CliquesOptions, cliques};
use esker::algo::algorithm::cohesion::densest::{DensestOptions, densest};
use esker::algo::algorithm::cohesion::kcore::kcore;
use esker::algo::algorithm::cohesion::lcc::{LccOptions, lcc};
use esker::algo::algorithm::cohesion::triangles::{TrianglesOptions, triangles};
use esker::algo::algorithm::cohesion::triangles_filter::triangles_filter;
use esker::algo::algorithm::cohesion::truss::truss;
use esker::algo::algorithm::components::biconnectivity::biconnectivity;
use esker::algo::algorithm::components::cdlp::{CdlpOptions, cdlp};
use esker::algo::algorithm::components::forest::{ForestOptions, forest};
use esker::algo::algorithm::components::ldd::{LddOptions, ldd};
use esker::algo::algorithm::components::msf::msf;
use esker::algo::algorithm::components::scc::scc;
use esker::algo::algorithm::components::spanner::{SpannerOptions, spanner};
use esker::algo::algorithm::components::wcc::{WccMethod, WccOptions, wcc};
use esker::algo::algorithm::paths::bellman_ford::{BellmanFordOptions, bellman_ford};
use esker::algo::algorithm::paths::bfs::{BfsOptions, bfs};
use esker::algo::algorithm::paths::sssp::{SsspOptions, sssp};
use esker::algo::algorithm::paths::wbfs::{WbfsOptions, wbfs};
use esker::algo::algorithm::paths::widest::{WidestMethod, WidestOptions, widest};
use esker::algo::algorithm::sets::colouring::{ColouringOptions, colouring};
use esker::algo::algorithm::sets::matching::{MatchingMethod, MatchingOptions, matching};
use esker::algo::algorithm::sets::mis::{MisOptions, mis};
use esker::algo::algorithm::sets::set_cover::{SetCoverOptions, set_cover};
use esker::algo::check::{self, Rejection};
use esker::graph::{Boxed, Csr, Direction, Graph, Lists, Rows, Run, RunOptions, Stop, VertexId, vertex};
use esker::store::DynamicGraph;
use esker::store::delta::{DynamicEdges, DynamicGraphOptions, Update};
use esker_graph::random::hash;

use crate::common::{Sample, shapes};

/// What is tested: the graph, how it is run, the right lists, a vertex.
struct Case<'a> {
    graph: &'a Boxed<'a, i32, Stop>,
    run: &'a Run,
    out: Rows<'a, i32>,
    incoming: Option<Rows<'a, i32>>,
    source: VertexId,
}

type Outcome = Result<Result<(), Rejection>, Stop>;
type Check = (&'static str, fn(&Case<'_>) -> Outcome);

/// Of any graph.
const CHECKS: &[Check] = &[
    ("bfs", |c| {
        let found = bfs(c.graph, c.run, &[c.source], &BfsOptions::default())?;
        Ok(check::bfs(&c.out, &[c.source], &found.parents, found.depths.as_deref()))
    }),
    ("sssp", |c| {
        let found = sssp(c.graph, c.run, c.source, &SsspOptions { parents: true, ..SsspOptions::default() })?;
        Ok(check::sssp(&c.out, c.source, &found.distances, found.parents.as_deref()))
    }),
    ("wbfs", |c| {
        let found = wbfs(c.graph, c.run, c.source, &WbfsOptions { parents: true })?;
        Ok(check::sssp(&c.out, c.source, &found.distances, found.parents.as_deref()))
    }),
    ("bellman-ford", |c| {
        let found = bellman_ford(c.graph, c.run, c.source, &BellmanFordOptions { parents: true })?;
        Ok(check::bellman_ford(&c.out, c.source, &found.distances, found.parents.as_deref()))
    }),
    ("widest", |c| {
        for method in [WidestMethod::Buckets, WidestMethod::Rounds] {
            let found = widest(c.graph, c.run, c.source, &WidestOptions { method, parents: true })?;
            if let wrong @ Err(_) = check::widest(&c.out, c.source, &found.widths, found.parents.as_deref()) {
                return Ok(wrong);
            }
        }
        Ok(Ok(()))
    }),
    ("betweenness", |c| {
        let options = BetweennessOptions { sources: Sources::All, scale: Scale::Sum };
        let found = betweenness(c.graph, c.run, &options)?;
        Ok(check::betweenness(&c.out, &found.sources, 1.0, &found.scores, 1e-9))
    }),
    ("pagerank", |c| {
        let found = pagerank(c.graph, c.run, &PageRankOptions::default())?;
        Ok(check::pagerank(&c.out, 0.85, None, &found.scores, found.error))
    }),
    ("wcc", |c| Ok(check::wcc(&c.out, &wcc(c.graph, c.run, &WccOptions::default())?.labels))),
    ("scc", |c| Ok(check::scc(&c.out, &scc(c.graph, c.run)?.components))),
    ("cdlp", |c| {
        let initial: Vec<u64> = (0..c.graph.num_vertices() as u64).collect();
        let found = cdlp(c.graph, c.run, None, &CdlpOptions { iterations: 4 })?;
        Ok(check::cdlp(&c.out, c.incoming.as_ref(), &initial, 4, &found.labels))
    }),
    ("triangles", |c| {
        let found = triangles(c.graph, c.run, &TrianglesOptions::default())?;
        Ok(check::triangles(&c.out, found.triangles))
    }),
    ("lcc", |c| Ok(check::lcc(&c.out, &lcc(c.graph, c.run, &LccOptions::default())?.coefficients))),
    ("cliques", |c| {
        let options = CliquesOptions::default();
        Ok(check::cliques(&c.out, options.k, cliques(c.graph, c.run, &options)?.cliques))
    }),
    ("truss", |c| {
        let found = truss(c.graph, c.run)?;
        Ok(check::truss(&c.out, &found.edges, &found.trussness))
    }),
    ("kcore", |c| {
        let found = kcore(c.graph, c.run)?;
        Ok(check::kcore(&c.out, c.graph.is_directed(), &found.coreness, &found.order))
    }),
    ("densest", |c| {
        let found = densest(c.graph, c.run, &DensestOptions::default())?;
        let (directed, bound) = (c.graph.is_directed(), found.density_bound);
        Ok(check::densest(&c.out, directed, &found.members, found.density, &found.levels, bound))
    }),
    ("mis", |c| Ok(check::mis(&c.out, &mis(c.graph, c.run, &MisOptions::default())?.members))),
    ("colouring", |c| {
        let found = colouring(c.graph, c.run, &ColouringOptions::default())?;
        Ok(check::colouring(&c.out, c.graph.is_directed(), &found.colours))
    }),
    ("setcover", |c| {
        let options = SetCoverOptions::default();
        let found = set_cover(c.graph, c.run, &options)?;
        let factor = (1.0 + options.epsilon).powi(2);
        Ok(check::set_cover(&c.out, &found.sets, &found.gains, &found.owners, factor))
    }),
];

/// Of undirected graphs.
const UNDIRECTED: &[Check] = &[
    ("forest", |c| {
        let found = forest(c.graph, c.run, &ForestOptions::default())?;
        Ok(check::forest(&c.out, &found.edges, found.trees))
    }),
    ("msf", |c| {
        let found = msf(c.graph, c.run)?;
        Ok(check::msf(&c.out, &found.edges, found.trees))
    }),
    ("wcc by contraction", |c| {
        let options = WccOptions { method: WccMethod::Contraction { beta: 0.2 }, ..WccOptions::default() };
        Ok(check::wcc(&c.out, &wcc(c.graph, c.run, &options)?.labels))
    }),
    ("triangles by a filter", |c| Ok(check::triangles(&c.out, triangles_filter(c.graph, c.run)?.triangles))),
    ("matching", |c| {
        let found = matching(c.graph, c.run, &MatchingOptions::default())?;
        Ok(check::matching(&c.out, &found.mates, found.edges))
    }),
    ("matching by priorities", |c| {
        let found = matching(c.graph, c.run, &MatchingOptions { method: MatchingMethod::Priorities })?;
        Ok(check::matching(&c.out, &found.mates, found.edges))
    }),
    ("biconnectivity", |c| {
        let found = biconnectivity(c.graph, c.run)?;
        let block = |u, v| found.block(u, v);
        Ok(check::biconnectivity(&c.out, block, &found.articulation_points, &found.bridges, found.count))
    }),
    ("spanner", |c| {
        let found = spanner(c.graph, c.run, &SpannerOptions::default())?;
        Ok(check::spanner(&c.out, &found.edges, &found.clusters, found.radius))
    }),
    ("ldd", |c| {
        let found = ldd(c.graph, c.run, &LddOptions::default())?;
        Ok(check::ldd(&c.out, &found.clusters, found.radius).map(|_| ()))
    }),
];

/// A dynamic graph with the edges of a sample, some of which were there before with another weight, and
/// without others that were.
fn grown(sample: &Sample, held: &BTreeMap<(VertexId, VertexId), i32>, run: &Run) -> DynamicGraph<i32> {
    let edges = if sample.directed { DynamicEdges::OutAndIn } else { DynamicEdges::Undirected };
    let (shards, threshold) = ([1, 4, 64][sample.seed as usize % 3], 1 + sample.seed as usize % 5);
    let options = DynamicGraphOptions { edges, shards, threshold, ..DynamicGraphOptions::default() };
    let mut graph = DynamicGraph::new(options).expect("a graph");
    graph.extend_vertices(sample.num_vertices);
    let n = sample.num_vertices as u64;
    let other = |i: u64| {
        let noise = hash(i ^ sample.seed);
        (vertex(((noise >> 40) % n) as usize), vertex(((noise >> 20) % n) as usize))
    };
    let others: Vec<_> = (0..2 * n)
        .map(other)
        .map(|(u, v)| if sample.directed { (u, v) } else { (u.min(v), u.max(v)) })
        .filter(|ends| !held.contains_key(ends))
        .collect();
    let insert =
        |&(source, target): &(VertexId, VertexId), payload| Update::Insert { source, target, payload };
    let first: Vec<_> = others.iter().chain(held.keys().step_by(2)).map(|ends| insert(ends, 77)).collect();
    graph.apply(&first, run).expect("memory");
    let mut second: Vec<_> = held.iter().map(|(ends, &weight)| insert(ends, weight)).collect();
    second.extend(others.iter().map(|&(source, target)| Update::Remove { source, target }));
    graph.apply(&second, run).expect("memory");
    graph
}

fn right(sample: &Sample, run: &Run, weight: impl Fn(usize) -> i32) {
    let mut held = BTreeMap::new();
    for (i, &(u, v)) in sample.edges.iter().enumerate() {
        held.insert(if sample.directed { (u, v) } else { (u.min(v), u.max(v)) }, weight(i));
    }
    let edges: Vec<_> = held.iter().map(|(&(u, v), &weight)| (u, v, weight)).collect();
    let made = if sample.directed { Csr::directed } else { Csr::undirected };
    let csr = made(sample.num_vertices, &edges).expect("edges between vertices");
    let view = csr.graph();
    let graph = grown(sample, &held, run);
    assert_eq!(graph.num_arcs(), view.num_arcs());
    graph.with_list(Direction::Out, 0, |list, _| assert!(list.is_sorted())).expect("a list");
    let case = Case {
        graph: &Boxed::new(graph),
        run,
        out: *view.rows(Direction::Out).expect("out-lists"),
        incoming: view.rows(Direction::In).filter(|_| sample.directed).copied(),
        source: vertex(sample.num_vertices / 3),
    };
    let undirected = if sample.directed { &[] } else { UNDIRECTED };
    for (name, check) in CHECKS.iter().chain(undirected) {
        let wrong = check(&case).unwrap_or_else(|stop| panic!("{name}: {stop} on {sample:?}"));
        wrong.unwrap_or_else(|wrong| panic!("{name}: {wrong} on {sample:?}"));
    }
}

/// With weights that are small, all the same, and far apart.
fn all_right(samples: impl Iterator<Item = Sample>) {
    let runs = [(1, false), (2, false), (3, true)].map(|(threads, deterministic)| {
        let options = RunOptions { threads, seed: 7, deterministic, ..RunOptions::default() };
        Run::new(options).expect("threads")
    });
    for (i, sample) in samples.enumerate() {
        let run = &runs[i % 3];
        match i / 3 % 3 {
            0 => right(&sample, run, |i| (i * 7 % 11) as i32),
            1 => right(&sample, run, |_| 3),
            _ => right(&sample, run, |i| [1, 1 << 24][i % 2]),
        }
    }
}

#[test]
fn right_on_awkward_graphs() {
    let both = |sample: Sample| [true, false].map(|directed| Sample { directed, ..sample.clone() });
    all_right(shapes::shapes(&[1, 2, 30, 80], 3).into_iter().flat_map(both));
}

#[test]
fn right_on_random_graphs() {
    all_right((0..60).map(|seed| {
        let n = 3 + seed as usize * 11 % 83;
        let noise = |i: u64| hash(i + seed * 1000) >> 33;
        let end = |i: u64| vertex(noise(i) as usize % n);
        let hub = |i: u64| vertex(noise(i) as usize % n.div_ceil(6));
        let edges = (0..n as u64 * (seed % 8) / 2)
            .map(|i| (end(3 * i), if i % 3 == 0 { hub(i) } else { end(3 * i + 1) }));
        Sample { num_vertices: n, directed: seed % 2 == 0, edges: edges.collect(), seed }
    }));
}

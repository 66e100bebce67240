//! Graphs so large that every loop splits into units for several threads, with hubs and with sizes that are
//! no multiple of 64, on more threads than processors. One thread suffices to scan the graphs of the other
//! tests.

use esker_algo::algorithm::centrality::betweenness::{BetweennessOptions, Scale, Sources, betweenness};
use esker_algo::algorithm::centrality::pagerank::{PageRankOptions, pagerank};
use esker_algo::algorithm::cohesion::kcore::kcore;
use esker_algo::algorithm::components::cdlp::{CdlpOptions, cdlp};
use esker_algo::algorithm::components::forest::{ForestOptions, forest};
use esker_algo::algorithm::components::ldd::{LddOptions, ldd};
use esker_algo::algorithm::components::msf::msf;
use esker_algo::algorithm::components::scc::scc;
use esker_algo::algorithm::components::wcc::{WccOptions, wcc};
use esker_algo::algorithm::paths::bellman_ford::{BellmanFordOptions, bellman_ford};
use esker_algo::algorithm::paths::bfs::{BfsOptions, bfs};
use esker_algo::algorithm::paths::sssp::{SsspOptions, sssp};
use esker_algo::algorithm::sets::colouring::{ColouringOptions, colouring};
use esker_algo::algorithm::sets::matching::{MatchingMethod, MatchingOptions, matching};
use esker_algo::algorithm::sets::mis::{MisOptions, MisOrder, mis};
use esker_algo::algorithm::sets::set_cover::{SetCoverOptions, set_cover};
use esker_algo::check;
use esker_graph::{Csr, CsrGraph, Direction, Fragmented, Graph, Lists, Run, Stop, VertexId, vertex};

use crate::common;

/// Weighted graphs of three shapes, directed and not: hubs first, hubs anywhere, a long path with a dense
/// end.
fn graphs(seed: u64) -> Vec<Csr<f64>> {
    let mut graphs = Vec::new();
    for directed in [false, true] {
        for shape in 0..3 {
            let n = 1400 + 37 * shape + seed as usize % 64;
            let skewed = common::skewed(n, 12_000, true, seed);
            let view = skewed.graph();
            let out = view.rows(Direction::Out).expect("out-lists");
            let name = |v: VertexId| if shape == 1 { vertex((v as usize * 611 + 5) % n) } else { v };
            let arcs = (0..n).map(vertex).flat_map(|u| out.list(u).0.iter().map(move |&v| (u, v)));
            let mut edges: Vec<_> =
                arcs.enumerate().map(|(i, (u, v))| (name(u), name(v), (i % 255 + 1) as f64)).collect();
            let mut total = n;
            if shape == 2 {
                total += 2000;
                edges.extend((n..total).map(|v| (vertex(v - 1), vertex(v), 0.5)));
            }
            let made = if directed { Csr::directed } else { Csr::undirected };
            graphs.push(made(total, &edges).expect("the ends are below the number of vertices"));
        }
    }
    graphs
}

/// A star whose centre has a list that threads share. Some leaves have a self-loop, others an edge to a
/// nearby leaf.
fn huge_star() -> Csr<f64> {
    let n = 300_000;
    let rays = (1..n).map(|v| (0, vertex(v), (v % 9 + 1) as f64));
    let tips = (1..n).step_by(1000).map(|v| (vertex(v), vertex((v + v % 3).min(n - 1)), 1.0));
    Csr::undirected(n, &rays.chain(tips).collect::<Vec<_>>())
        .expect("the ends are below the number of vertices")
}

/// Runs algorithms on any form of a graph.
fn checked<G>(graph: &G, csr: &Csr<f64>, run: &Run, source: VertexId)
where
    G: Lists<Weight = f64, Error = Stop>,
{
    let plain = csr.graph();
    let out = plain.rows(Direction::Out).expect("out-lists");
    let incoming = plain.rows(Direction::In).filter(|_| plain.is_directed());
    let found = bfs(graph, run, &[source], &BfsOptions::default()).unwrap();
    check::bfs(out, &[source], &found.parents, found.depths.as_deref()).unwrap();
    let found = sssp(graph, run, source, &SsspOptions { parents: true, ..SsspOptions::default() }).unwrap();
    check::sssp(out, source, &found.distances, found.parents.as_deref()).unwrap();
    let options = PageRankOptions { tolerance: 1e-9, rounds_max: 1000, ..PageRankOptions::default() };
    let found = pagerank(graph, run, &options).unwrap();
    check::pagerank(out, 0.85, None, &found.scores, 1e-9).unwrap();
    check::wcc(out, &wcc(graph, run, &WccOptions::default()).unwrap().labels).unwrap();
    let sources = vec![source, 0, vertex(graph.num_vertices() - 1)];
    let options = BetweennessOptions { sources: Sources::These(sources.clone()), scale: Scale::Sum };
    let found = betweenness(graph, run, &options).unwrap();
    check::betweenness(out, &sources, 1.0, &found.scores, 1e-9).unwrap();
    check::scc(out, &scc(graph, run).unwrap().components).unwrap();
    let numbers: Vec<u64> = (0..graph.num_vertices() as u64).collect();
    let found = cdlp(graph, run, None, &CdlpOptions { iterations: 4 }).unwrap();
    check::cdlp(out, incoming, &numbers, 4, &found.labels).unwrap();
}

#[test]
fn right_on_any_number_of_threads() {
    for seed in [1, 40] {
        for (i, csr) in graphs(seed).iter().enumerate() {
            for threads in [3, 8] {
                let run = common::run(threads, (i + threads).is_multiple_of(2));
                let source = vertex(i * 13 + seed as usize);
                checked(&csr.graph(), csr, &run, source);
                let spaced = common::Spaced::new(&csr.graph(), seed);
                checked(&spaced.induced(&spaced.graph()), csr, &run, source);
            }
        }
    }
}

#[test]
fn right_where_a_list_is_shared() {
    let csr = huge_star();
    for (threads, deterministic) in [(3, false), (2, true)] {
        let run = common::run(threads, deterministic);
        checked(&csr.graph(), &csr, &run, 5);
        structures(&csr.graph(), &csr, &run);
    }
}

/// The algorithms for undirected graphs.
fn structures(graph: &CsrGraph<'_, f64>, csr: &Csr<f64>, run: &Run) {
    let plain = csr.graph();
    let out = plain.rows(Direction::Out).expect("out-lists");
    let found = bellman_ford(graph, run, 5, &BellmanFordOptions::default()).unwrap();
    check::sssp(out, 5, &found.distances, None).unwrap();
    let found = set_cover(graph, run, &SetCoverOptions::default()).unwrap();
    check::set_cover(out, &found.sets, &found.gains, &found.owners, 1.0202).unwrap();
    check::mis(out, &mis(graph, run, &MisOptions::default()).unwrap().members).unwrap();
    check::mis(out, &mis(graph, run, &MisOptions { order: MisOrder::Random }).unwrap().members).unwrap();
    let found = colouring(graph, run, &ColouringOptions::default()).unwrap();
    check::colouring(out, false, &found.colours).unwrap();
    let found = kcore(graph, run).unwrap();
    check::kcore(out, false, &found.coreness, &found.order).unwrap();
    let found = forest(graph, run, &ForestOptions::default()).unwrap();
    check::forest(out, &found.edges, found.trees).unwrap();
    let found = msf(graph, run).unwrap();
    check::msf(out, &found.edges, found.trees).unwrap();
    let found = ldd(graph, run, &LddOptions::default()).unwrap();
    check::ldd(out, &found.clusters, found.radius).unwrap();
    for method in [MatchingMethod::Claims, MatchingMethod::Priorities] {
        let found = matching(graph, run, &MatchingOptions { method }).unwrap();
        check::matching(out, &found.mates, found.edges).unwrap();
    }
}

/// Thousands of short steps that threads share: buckets of shortest paths and levels of searches on a grid,
/// in the order of its rows and in another, from all threads and in pieces.
#[test]
fn short_steps_on_a_grid() {
    let side = 150;
    for stride in [1, 7919] {
        let n = side * side;
        let name = |v: usize| vertex(v * stride % n);
        let length = |v: usize| (v * 31 % 255 + 1) as f64;
        let right = (0..n).filter(|v| v % side + 1 < side).map(|v| (name(v), name(v + 1), length(v)));
        let down = (0..n - side).map(|v| (name(v), name(v + side), length(v + 17)));
        let csr = Csr::undirected(n, &right.chain(down).collect::<Vec<_>>()).expect("the ends are vertices");
        let graph = csr.graph();
        let out = graph.rows(Direction::Out).expect("out-lists");
        let one = BetweennessOptions { sources: Sources::These(vec![5, 0]), scale: Scale::Sum };
        let alone = betweenness(&graph, &common::run(1, false), &one).expect("scores").scores;
        for threads in [2, 3] {
            let run = common::run(threads, false);
            let found = sssp(&graph, &run, 5, &SsspOptions::default()).expect("distances");
            check::sssp(out, 5, &found.distances, None).expect("right distances");
            let pieces = Fragmented::new(graph, threads as u64);
            let of_pieces = sssp(&pieces, &run, 5, &SsspOptions::default()).expect("distances");
            assert_eq!(of_pieces.distances, found.distances);
            for scores in [betweenness(&graph, &run, &one), betweenness(&pieces, &run, &one)] {
                let scores = scores.expect("scores").scores;
                let is_near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-9 * b.abs();
                assert!(scores.iter().zip(&alone).all(is_near));
            }
        }
    }
}

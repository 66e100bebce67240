//! Answers on several graphs against those on each alone.

use esker_graph::generate::{Generator, Model, RMat, Weighting};
use esker_graph::{Csr, Direction, Graph, NONE, Run, Stop, VertexId};
use proptest::prelude::*;

use super::{GraphSeries, LANES, components, cores, degrees, pagerank, search};
use crate::algorithm::centrality::degrees::DegreeOf;
use crate::algorithm::centrality::pagerank::PageRankOptions;
use crate::algorithm::components::wcc::{WccOptions, wcc};
use crate::algorithm::paths::bfs::{BfsOptions, bfs};

/// Edges, each in some successive graphs.
#[derive(Debug, Clone)]
struct Case {
    n: usize,
    directed: bool,
    len: usize,
    edges: Vec<(VertexId, VertexId, u64)>,
}

impl Case {
    fn all(&self) -> Csr<u16> {
        let edges: Vec<_> = self.edges.iter().zip(0..).map(|(&(u, v, _), slot)| (u, v, slot)).collect();
        let csr = if self.directed { Csr::directed(self.n, &edges) } else { Csr::undirected(self.n, &edges) };
        csr.expect("a graph")
    }

    /// One graph of the series, without the vertices that have no edge in it; and its vertices.
    fn one(&self, graph: usize) -> (Csr<()>, Vec<VertexId>) {
        let edges = || self.edges.iter().filter(|edge| edge.2 >> graph & 1 == 1);
        let mut vertices: Vec<_> = edges().flat_map(|&(u, v, _)| [u, v]).collect();
        vertices.sort_unstable();
        vertices.dedup();
        let place = |v| vertices.partition_point(|&other| other < v) as VertexId;
        let edges: Vec<_> = edges().map(|&(u, v, _)| (place(u), place(v), ())).collect();
        let n = vertices.len();
        let csr = if self.directed { Csr::directed(n, &edges) } else { Csr::undirected(n, &edges) };
        (csr.expect("a graph"), vertices)
    }

    fn with_series<R>(&self, work: impl FnOnce(&GraphSeries<'_>) -> R) -> R {
        let all = self.all();
        let graph = all.graph();
        let out = *graph.rows(Direction::Out).expect("out-lists");
        let incoming = graph.rows(Direction::In).copied().filter(|_| self.directed);
        let members = self.edges.iter().map(|edge| edge.2).collect();
        work(&GraphSeries::new(out, incoming, self.directed, members, self.len).expect("a series"))
    }
}

fn cases(len_max: usize) -> impl Strategy<Value = Case> {
    (1..40_usize, any::<bool>(), 1..=len_max, 0..120_usize).prop_flat_map(|(n, directed, len, edges)| {
        let all = if len == 64 { u64::MAX } else { (1 << len) - 1 };
        // Windows and versions have edges in successive graphs; nothing depends on it.
        let range =
            (0..len, 0..len).prop_map(|(a, b)| (a.min(b)..=a.max(b)).fold(0, |bits, i| bits | 1_u64 << i));
        let members =
            prop_oneof![4 => range, 1 => any::<u64>().prop_map(move |bits| bits & all), 2 => Just(all)];
        let edge = (0..n as VertexId, 0..n as VertexId, members);
        prop::collection::vec(edge, edges).prop_map(move |edges| Case { n, directed, len, edges })
    })
}

proptest! {
    #[test]
    fn components_of_a_series_are_those_of_each_graph(case in cases(64)) {
        let run = Run::with_threads(2).expect("threads");
        let mut found = Vec::new();
        case.with_series(|series| components(series, &run, |graph, labels| {
            assert_eq!(graph, found.len(), "graphs come in order");
            found.push(labels);
            Ok::<_, Stop>(())
        })).expect("components");
        prop_assert_eq!(found.len(), case.len);
        for (graph, labels) in found.iter().enumerate() {
            let (alone, vertices) = case.one(graph);
            let expected = wcc(&alone.graph(), &run, &WccOptions::default()).expect("components");
            let mut all: Vec<_> = (0..case.n as VertexId).collect();
            vertices.iter().zip(&expected.labels).for_each(|(&v, &label)| all[v as usize] = vertices[label as usize]);
            prop_assert_eq!(labels, &all, "graph {}", graph);
        }
    }

    #[test]
    fn degrees_of_a_series_are_those_of_each_graph(case in cases(64), of in 0..3_usize) {
        let run = Run::with_threads(2).expect("threads");
        let of = [DegreeOf::Out, DegreeOf::In, DegreeOf::Both][of];
        let mut found = Vec::new();
        case.with_series(|series| degrees(series, of, &run, |graph, degrees| {
            assert_eq!(graph, found.len(), "graphs come in order");
            found.push(degrees);
            Ok::<_, Stop>(())
        })).expect("degrees");
        prop_assert_eq!(found.len(), case.len);
        for (graph, degrees) in found.iter().enumerate() {
            let (alone, vertices) = case.one(graph);
            let expected = crate::algorithm::centrality::degrees::degrees(&alone.graph(), &run, of).expect("degrees").degrees;
            let mut all = vec![0; case.n];
            vertices.iter().zip(&expected).for_each(|(&v, &degree)| all[v as usize] = degree);
            prop_assert_eq!(degrees, &all, "graph {}", graph);
        }
    }

    #[test]
    fn coreness_in_a_series_is_that_in_each_graph(case in cases(64), few_reads in any::<bool>()) {
        let run = Run::with_threads(2).expect("threads");
        let mut found = Vec::new();
        let take = |graph, cores| {
            assert_eq!(graph, found.len(), "graphs come in order");
            found.push(cores);
            Ok::<_, Stop>(())
        };
        // With few reads, most updates are given up.
        case.with_series(|series| match few_reads {
            true => cores::cores_by_updates(series, &run, 8, take),
            false => cores::cores(series, &run, take),
        }).expect("coreness");
        prop_assert_eq!(found.len(), case.len);
        for (graph, cores) in found.iter().enumerate() {
            let (alone, vertices) = case.one(graph);
            let expected = crate::algorithm::cohesion::kcore::kcore(&alone.graph(), &run).expect("coreness").coreness;
            let mut all = vec![0; case.n];
            vertices.iter().zip(&expected).for_each(|(&v, &core)| all[v as usize] = core);
            prop_assert_eq!(cores, &all, "graph {}", graph);
        }
    }

    #[test]
    fn depths_in_a_series_are_those_in_each_graph(
        case in cases(64), sources in prop::collection::vec(0..40_usize, 1..4), depth_max in prop_oneof![3 => Just(NONE), 1 => 0..5 as VertexId],
        pushes in any::<bool>(),
    ) {
        let run = Run::with_threads(2).expect("threads");
        let sources: Vec<_> = sources.iter().map(|source| (source % case.n) as VertexId).collect();
        let (found, present) = case.with_series(|series| {
            let present = series.presence(&run).expect("presence").0;
            // Without in-lists no round pulls.
            let incoming = series.received().copied().filter(|_| !pushes);
            let series = GraphSeries::new(*series.out(), incoming, case.directed, series.slots().to_vec(), case.len).expect("a series");
            (search(&series, &present, &sources, depth_max, &run).expect("depths"), present)
        });
        for graph in 0..case.len {
            let (alone, vertices) = case.one(graph);
            let place = |v: &VertexId| vertices.binary_search(v).ok().map(|place| place as VertexId);
            let sources: Vec<_> = sources.iter().filter_map(place).collect();
            let is_present = |v: usize| present[v] >> graph & 1 == 1;
            let options = BfsOptions { depth_max: Some(depth_max), ..BfsOptions::default() };
            let expected = if sources.is_empty() { None } else { bfs(&alone.graph(), &run, &sources, &options).expect("depths").depths };
            let mut reached = 0;
            for v in 0..case.n as VertexId {
                let depth = found.depth(v, graph);
                let at = place(&v).filter(|_| is_present(v as usize));
                let wanted = at.and_then(|at| expected.as_ref().map(|depths| depths[at as usize]));
                prop_assert_eq!(depth, wanted.unwrap_or(NONE), "graph {}, vertex {}", graph, v);
                reached += u64::from(depth != NONE);
            }
            prop_assert_eq!(found.count(graph), reached);
            let of_graph: Vec<_> = vertices.iter().map(|&v| found.depth(v, graph)).collect();
            prop_assert_eq!(found.of_graph(graph, &present, &run), of_graph);
        }
    }

    #[test]
    fn presence_is_that_of_each_graph(case in cases(64)) {
        let run = Run::with_threads(2).expect("threads");
        let (present, edges) = case.with_series(|series| series.presence(&run)).expect("presence");
        for (graph, &edges) in edges.iter().enumerate() {
            let (alone, vertices) = case.one(graph);
            prop_assert_eq!(super::series::members_of(&present, graph).collect::<Vec<_>>(), vertices);
            let alone = alone.graph();
            let loops = case.edges.iter().filter(|edge| edge.2 >> graph & 1 == 1 && edge.0 == edge.1).count() as u64;
            let expected = if case.directed { alone.num_arcs() } else { (alone.num_arcs() + loops) / 2 };
            prop_assert_eq!(edges, expected, "graph {}", graph);
        }
    }

    #[test]
    fn pagerank_of_a_series_is_that_of_each_graph(case in cases(LANES), rounds_max in prop_oneof![Just(100), 0..4_usize]) {
        let run = Run::with_threads(2).expect("threads");
        let options = PageRankOptions { rounds_max, ..PageRankOptions::default() };
        let (mut found, present) = case.with_series(|series| {
            let present = series.presence(&run).expect("presence").0;
            (pagerank(series, &present, &run, &options).expect("ranks"), present)
        });
        let alone = |graph: usize| {
            let (alone, vertices) = case.one(graph);
            let expected = crate::algorithm::centrality::pagerank::pagerank(&alone.graph(), &run, &options).expect("ranks");
            (expected, vertices)
        };
        let alone: Vec<_> = (0..case.len).map(alone).collect();
        let slowest = alone.iter().map(|(expected, _)| expected.rounds).max().unwrap_or(0);
        for (graph, (expected, vertices)) in alone.iter().enumerate() {
            let found = found.take(graph, &present);
            prop_assert_eq!(found.scores.len(), vertices.len());
            if rounds_max == 0 {
                prop_assert!(found.residual.is_infinite() && found.converged == expected.converged);
                prop_assert_eq!(&found.scores, &expected.scores);
                continue;
            }
            // What bytes cannot hold of the first residuals, a part of 254, shrinks by the damping at least,
            // in 55 rounds to the tolerance.
            prop_assert!(found.rounds <= slowest + 60);
            prop_assert!(found.converged || slowest + 60 > rounds_max);
            // Both say how far they are from the exact scores.
            let allowed = found.error + expected.error;
            prop_assert_eq!(found.converged, vertices.is_empty() || found.error < options.tolerance);
            let difference: f64 = found.scores.iter().zip(&expected.scores).map(|(a, b)| (a - b).abs()).sum();
            prop_assert!(difference < allowed, "graph {}: {} of {}", graph, difference, allowed);
            if !vertices.is_empty() {
                let sum: f64 = found.scores.iter().sum();
                prop_assert!((sum - 1.0).abs() < 1e-12, "graph {}: {}", graph, sum);
            }
        }
    }
}

#[test]
fn pagerank_of_windows_of_a_larger_graph_is_as_near_as_it_says() {
    let model = Model::RMat(RMat::kronecker(9, 8));
    let generator = Generator::new(&model, Weighting::None, 1).expect("a generator");
    let edges: Vec<_> = generator.edges().iter().map(|&(u, v, ())| (u, v)).collect();
    let slots = 77;
    // Each edge is in the 64 windows of 14 slots that its own meets.
    let members = |i: usize| (0..64).filter(move |first| (*first..first + 14).contains(&(i * 7919 % slots)));
    let edges = edges.iter().enumerate();
    let edges: Vec<_> =
        edges.map(|(i, &(u, v))| (u, v, members(i).fold(0, |bits, graph| bits | 1_u64 << graph))).collect();
    let run = Run::with_threads(2).expect("threads");
    for directed in [false, true] {
        let case = Case { n: 1 << 9, directed, len: 64, edges: edges.clone() };
        for (damping, tolerance) in [(0.0, 5e-6), (0.5, 5e-6), (0.85, 5e-6), (0.99, 1e-4)] {
            let options =
                PageRankOptions { damping, tolerance, rounds_max: 3000, ..PageRankOptions::default() };
            let (mut found, present) = case.with_series(|series| {
                let present = series.presence(&run).expect("presence").0;
                (pagerank(series, &present, &run, &options).expect("ranks"), present)
            });
            for graph in [0, 31, 63] {
                let alone = case.one(graph).0;
                let exact = PageRankOptions { tolerance: 1e-10, ..options.clone() };
                let exact = crate::algorithm::centrality::pagerank::pagerank(&alone.graph(), &run, &exact)
                    .expect("ranks");
                let found = found.take(graph, &present);
                assert!(found.converged, "damping {damping}: {found:?}");
                let difference: f64 =
                    found.scores.iter().zip(&exact.scores).map(|(a, b)| (a - b).abs()).sum();
                let error = found.error;
                assert!(
                    error < tolerance && difference < error + 1e-10,
                    "damping {damping}: {difference}, not {error}"
                );
            }
        }
    }
}

/// A path has as many depths as vertices, and each of many windows another part of it.
#[test]
fn searches_along_paths_keep_great_depths() {
    let run = Run::with_threads(2).expect("threads");
    let n = 5000;
    for directed in [false, true] {
        let edges = (0..n - 1).map(|v| (v, v + 1, if v < 3000 { u64::MAX } else { 1_u64 << (v % 64) | 1 }));
        let case = Case { n: n as usize, directed, len: 64, edges: edges.collect() };
        // Slots are numbers of 16 bits, one for each edge.
        let found = case.with_series(|series| {
            let present = series.presence(&run).expect("presence").0;
            search(series, &present, &[0], NONE, &run).expect("depths")
        });
        assert_eq!((found.depth(4999, 0), found.depth(3000, 7)), (4999, 3000));
        assert_eq!((found.count(0), found.depth(4999, 7), found.rounds), (5000, NONE, 5000));
    }
    let case = Case { n: 3, directed: false, len: 2, edges: vec![(0, 1, 3), (1, 2, 1)] };
    let error =
        case.with_series(|series| search(series, &[3, 3, 1], &[3], NONE, &run).expect_err("no vertex"));
    assert_eq!(error.to_string(), "source 3 is not a vertex");
}

#[test]
fn pagerank_of_a_series_refuses_what_it_cannot_do() {
    let run = Run::with_threads(1).expect("a thread");
    let case = Case { n: 3, directed: false, len: 2, edges: vec![(0, 1, 3), (1, 2, 1)] };
    let refused = |options: PageRankOptions| {
        case.with_series(|series| {
            pagerank(series, &[3, 3, 1], &run, &options).err().map(|stop| stop.to_string())
        })
    };
    assert_eq!(refused(PageRankOptions::default()), None);
    for options in [
        PageRankOptions { tolerance: 1e-9, ..PageRankOptions::default() },
        PageRankOptions { teleport: Some(vec![1.0; 3]), ..PageRankOptions::default() },
        PageRankOptions { damping: 1.5, ..PageRankOptions::default() },
        PageRankOptions { damping: 1.0, ..PageRankOptions::default() },
    ] {
        assert!(refused(options.clone()).is_some(), "{options:?}");
    }
}

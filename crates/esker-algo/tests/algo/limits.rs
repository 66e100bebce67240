//! Budgets and cancellation, for every algorithm on [`Graph`].

use std::sync::Arc;
use std::time::{Duration, Instant};

use esker_algo::algorithm::bellman_ford::{self, BellmanFordOptions, bellman_ford};
use esker_algo::algorithm::betweenness::{self, BetweennessOptions, betweenness};
use esker_algo::algorithm::bfs::{self, BfsOptions, bfs};
use esker_algo::algorithm::biconnectivity::{self, biconnectivity};
use esker_algo::algorithm::cliques::{self, CliquesOptions, cliques};
use esker_algo::algorithm::colouring::{self, ColouringOptions, ColouringOrder, colouring};
use esker_algo::algorithm::densest::{self, DensestOptions, densest};
use esker_algo::algorithm::forest::{self, ForestOptions, forest};
use esker_algo::algorithm::kcore::{self, kcore};
use esker_algo::algorithm::ldd::{self, LddOptions, ldd};
use esker_algo::algorithm::matching::{self, MatchingMethod, MatchingOptions, matching};
use esker_algo::algorithm::mis::{self, MisOptions, mis};
use esker_algo::algorithm::msf::{self, msf};
use esker_algo::algorithm::pagerank::{self, PageRankOptions, pagerank};
use esker_algo::algorithm::set_cover::{self, SetCoverOptions, set_cover};
use esker_algo::algorithm::spanner::{self, SpannerOptions, spanner};
use esker_algo::algorithm::sssp::{self, SsspOptions, sssp};
use esker_algo::algorithm::triangles_filter::{self, triangles_filter};
use esker_algo::algorithm::truss::{self, truss};
use esker_algo::algorithm::wbfs::{self, WbfsOptions, wbfs};
use esker_algo::algorithm::wcc::{self, WccMethod, WccOptions, wcc};
use esker_algo::algorithm::widest::{self, WidestMethod, WidestOptions, widest};
use esker_algo::{Estimate, Shape};
use esker_graph::{Cancel, Csr, CsrGraph, Run, RunOptions, Stop, VertexId};

type Algorithm = (&'static str, fn(&CsrGraph<'_, i32>, &Run) -> Result<(), Stop>, fn(Shape) -> Estimate);

const ALGORITHMS: [Algorithm; 26] = [
    (
        "bfs",
        |g, r| bfs(g, r, &[0], &BfsOptions::default()).map(drop),
        |s| bfs::estimate(s, &BfsOptions::default(), false),
    ),
    (
        "sssp",
        |g, r| sssp(g, r, 0, &SsspOptions::default()).map(drop),
        |s| sssp::estimate(s, &SsspOptions::default()),
    ),
    ("pagerank", |g, r| pagerank(g, r, &endless()).map(drop), |s| pagerank::estimate(s, &endless())),
    ("wcc", |g, r| wcc(g, r, &WccOptions::default()).map(drop), wcc::estimate),
    (
        "betweenness",
        |g, r| betweenness(g, r, &BetweennessOptions::default()).map(drop),
        |s| betweenness::estimate(s, &BetweennessOptions::default()),
    ),
    (
        "wbfs",
        |g, r| wbfs(g, r, 0, &WbfsOptions::default()).map(drop),
        |s| wbfs::estimate(s, &WbfsOptions::default()),
    ),
    (
        "bellman-ford",
        |g, r| bellman_ford(g, r, 0, &BellmanFordOptions::default()).map(drop),
        |s| bellman_ford::estimate(s, &BellmanFordOptions::default()),
    ),
    (
        "widest",
        |g, r| widest(g, r, 0, &WidestOptions::default()).map(drop),
        |s| widest::estimate(s, &WidestOptions::default()),
    ),
    (
        "widest by rounds",
        |g, r| widest(g, r, 0, &by_rounds()).map(drop),
        |s| widest::estimate(s, &by_rounds()),
    ),
    ("kcore", |g, r| kcore(g, r).map(drop), kcore::estimate),
    ("mis", |g, r| mis(g, r, &MisOptions::default()).map(drop), mis::estimate),
    (
        "colouring",
        |g, r| colouring(g, r, &ColouringOptions::default()).map(drop),
        |s| colouring::estimate(s, &ColouringOptions::default()),
    ),
    (
        "colouring, smallest last",
        |g, r| colouring(g, r, &smallest_last()).map(drop),
        |s| colouring::estimate(s, &smallest_last()),
    ),
    ("densest", |g, r| densest(g, r, &DensestOptions::default()).map(drop), densest::estimate),
    ("set cover", |g, r| set_cover(g, r, &SetCoverOptions::default()).map(drop), set_cover::estimate),
    (
        "contraction",
        |g, r| wcc(g, r, &contraction()).map(drop),
        |s| wcc::estimate_method(s, contraction().method),
    ),
    (
        "decomposition",
        |g, r| ldd(g, r, &LddOptions::default()).map(drop),
        |s| ldd::estimate(s, &LddOptions::default(), false),
    ),
    (
        "forest",
        |g, r| forest(g, r, &ForestOptions::default()).map(drop),
        |s| forest::estimate(s, &ForestOptions::default(), false),
    ),
    ("biconnectivity", |g, r| biconnectivity(g, r).map(drop), biconnectivity::estimate),
    (
        "matching",
        |g, r| matching(g, r, &MatchingOptions::default()).map(drop),
        |s| matching::estimate(s, &MatchingOptions::default(), false),
    ),
    (
        "matching by priorities",
        |g, r| matching(g, r, &by_priorities()).map(drop),
        |s| matching::estimate(s, &by_priorities(), false),
    ),
    (
        "spanner",
        |g, r| spanner(g, r, &SpannerOptions::default()).map(drop),
        |s| spanner::estimate(s, &SpannerOptions::default(), false),
    ),
    ("minimum spanning forest", |g, r| msf(g, r).map(drop), msf::estimate),
    ("triangles, filter", |g, r| triangles_filter(g, r).map(drop), |s| triangles_filter::estimate(s, 2)),
    ("cliques", |g, r| cliques(g, r, &CliquesOptions::default()).map(drop), |s| cliques::estimate(s, 2)),
    ("truss", |g, r| truss(g, r).map(drop), |s| truss::estimate(s, 2)),
];

fn contraction() -> WccOptions {
    WccOptions { method: WccMethod::Contraction { beta: 0.2 }, ..WccOptions::default() }
}

fn by_priorities() -> MatchingOptions {
    MatchingOptions { method: MatchingMethod::Priorities }
}

fn endless() -> PageRankOptions {
    PageRankOptions { tolerance: 0.0, rounds_max: usize::MAX, ..PageRankOptions::default() }
}

fn by_rounds() -> WidestOptions {
    WidestOptions { method: WidestMethod::Rounds, parents: false }
}

fn smallest_last() -> ColouringOptions {
    ColouringOptions { order: ColouringOrder::SmallestLast, ..ColouringOptions::default() }
}

/// A path with chords, and a few vertices with more of them: many rounds and many arcs.
fn graph() -> Csr<i32> {
    let n = 20_000u32;
    let edges: Vec<_> = (1..n)
        .flat_map(|v| (1..=if v % 100 == 0 { 30 } else { 4 }).map(move |i| (v.saturating_sub(i), v)))
        .map(|(u, v)| (u as VertexId, v as VertexId, 1 + (u ^ v) as i32 % 7))
        .collect();
    Csr::undirected(n as usize, &edges).unwrap()
}

#[test]
fn what_does_not_fit_is_refused_with_the_number_that_would_do() {
    let csr = graph();
    let graph = csr.graph();
    for (name, algorithm, estimate) in ALGORITHMS {
        let needed = estimate(Shape::of(&graph)).memory_bytes;
        let cancel = Cancel::default();
        cancel.cancel();
        for (limit, fits) in [(needed - 1, false), (needed, true)] {
            let options = RunOptions {
                threads: 2,
                budget: esker_graph::Budget::new(limit),
                cancel: cancel.clone(),
                ..RunOptions::default()
            };
            let stop = algorithm(&graph, &Run::new(options).unwrap()).expect_err(name);
            match stop {
                Stop::OverBudget { needed_bytes, budget_bytes, .. } => {
                    assert_eq!((needed_bytes, budget_bytes, fits), (needed, limit, false), "{name}");
                }
                other => assert_eq!((other, fits), (Stop::Cancelled, true), "{name}"),
            }
        }
    }
}

#[test]
fn cancelling_in_any_round_stops_it_soon() {
    let csr = graph();
    let graph = csr.graph();
    for (name, algorithm, _) in ALGORITHMS {
        for threads in [1, 2] {
            for last in [1, 2] {
                let cancel = Cancel::default();
                let (token, start) = (cancel.clone(), Arc::new(std::sync::Mutex::new(None)));
                let cancelled_at = start.clone();
                let on_progress = Arc::new(move |progress: esker_graph::Progress| {
                    if progress.round == last {
                        token.cancel();
                        *cancelled_at.lock().unwrap() = Some(Instant::now());
                    }
                });
                let options =
                    RunOptions { threads, cancel, on_progress: Some(on_progress), ..RunOptions::default() };
                let stop = algorithm(&graph, &Run::new(options).unwrap()).expect_err(name);
                let took = start.lock().unwrap().expect("the round began").elapsed();
                assert_eq!(stop, Stop::Cancelled, "{name}");
                // The promise is a tenth of a second; a busy machine may take longer.
                assert!(took < Duration::from_millis(500), "{name} took {took:?}");
            }
        }
    }
}

#[test]
fn cancelling_from_another_thread_stops_an_endless_run() {
    let csr = graph();
    let cancel = Cancel::default();
    let options = RunOptions { threads: 2, cancel: cancel.clone(), ..RunOptions::default() };
    let run = Run::new(options).unwrap();
    std::thread::scope(|scope| {
        let running = scope.spawn(|| pagerank(&csr.graph(), &run, &endless()));
        std::thread::sleep(Duration::from_millis(30));
        cancel.cancel();
        assert_eq!(running.join().unwrap().unwrap_err(), Stop::Cancelled);
    });
}

//! Verifiers obey the token of a run.

use std::time::{Duration, Instant};

use esker_algo::algorithm::centrality::pagerank::{PageRankOptions, pagerank};
use esker_algo::algorithm::cohesion::cliques::{CliquesOptions, cliques};
use esker_algo::algorithm::cohesion::truss::truss;
use esker_algo::check::{
    self, CommunityClaim, HitsClaim, OrderClaim, QualityClaim, Rejection, SpectralClaim, WatchedRows,
};
use esker_graph::{Cancel, Csr, Direction, Stop};

use crate::common;

/// A verifier that takes seconds.
type LongCheck<'a> = dyn Fn(&Cancel) -> Result<(), Rejection> + Sync + 'a;

#[test]
fn every_verifier_says_that_it_was_stopped() {
    let csr = Csr::undirected(3, &[(0, 1, 5), (1, 2, 7), (2, 0, 9)]).unwrap();
    let view = csr.graph();
    let (rows, cancel) = (view.rows(Direction::Out).unwrap(), Cancel::default());
    cancel.cancel();
    let out = || WatchedRows::until(rows, &cancel);
    let same = |_, _| 0;
    let claim = CommunityClaim {
        labels: &[0; 3],
        is_cpm: false,
        resolution: 1.0,
        quality: 0.0,
        is_connected: true,
        is_settled: true,
    };
    let hubs = HitsClaim { hubs: &[0.0; 3], authorities: &[0.0; 3], error: None };
    let order = OrderClaim { generations: &[0; 3], count: 1, unordered: 0, lengths: None, parents: None };
    let scores = SpectralClaim { scores: &[0.0; 3], katz: None, is_normal: true, error: None };
    let quality = QualityClaim {
        groups: &[0; 3],
        resolution: 1.0,
        modularity: 0.0,
        coverage: 0.0,
        conductance: 0.0,
        worst_conductance: 0.0,
    };
    let pairs = check::BipartiteClaim {
        mates: &[1, 0, esker_graph::NONE],
        edges: 1,
        right: &[false; 3],
        cover: &[true; 3],
    };
    let answers: [(&str, Result<(), Rejection>); 46] = [
        ("assortativity", check::assortativity(out(), &[Direction::Out], &[Direction::Out], 0.0)),
        ("bellman_ford", check::bellman_ford(out(), 0, &[0_i64, 5, 9], None)),
        ("betweenness", check::betweenness(out(), &[0], 1.0, &[0.0; 3], 1e-9)),
        ("bfs", check::bfs(out(), &[0], &[0, 0, 0], None)),
        ("bfs_within", check::bfs_within(out(), &[0], &[0, 0, 0], None, 7)),
        ("biconnectivity", check::biconnectivity(out(), same, &[], &[], 1)),
        ("cdlp", check::cdlp(out(), None, &[0, 1, 2], 1, &[0; 3])),
        ("cliques", check::cliques(out(), 3, 1)),
        ("closeness", check::closeness(out(), &[0], &[0.0; 3])),
        ("closeness_by_steps", check::closeness_by_steps(out(), &[0], true, 1.0, &[0.0; 3])),
        ("closeness_by_weight", check::closeness_by_weight(out(), &[0], false, 1.0, &[0.0; 3])),
        ("colouring", check::colouring(out(), false, &[0, 1, 2])),
        ("communities", check::communities(out(), &claim)),
        ("cycle", check::cycle(out(), &[0, 1, 2])),
        ("degrees", check::degrees(out(), &[Direction::Out], &[2; 3])),
        ("densest", check::densest(out(), false, &[true; 3], 1.0, &[0; 3], 2.0)),
        ("forest", check::forest(out(), &[(0, 1), (1, 2)], 1)),
        ("hits", check::hits(out(), &hubs)),
        ("hopcroft_karp", check::hopcroft_karp(out(), &pairs)),
        ("kcore", check::kcore(out(), false, &[2; 3], &[0, 1, 2])),
        ("lcc", check::lcc(out(), &[1.0; 3])),
        ("ldd", check::ldd(out(), &[0; 3], 1).map(drop)),
        ("ldd_trees", check::ldd_trees(out(), &[0; 3], &[0; 3], &[0, 1, 1])),
        ("matching", check::matching(out(), &[1, 0, esker_graph::NONE], 1)),
        ("max_flow", check::max_flow(out(), 0, 1, 1.0, &[true, false, false])),
        ("mis", check::mis(out(), &[true, false, false])),
        ("msf", check::msf(out(), &[(0, 1, 5), (1, 2, 7)], 1)),
        ("negative_cycle", check::negative_cycle(out(), 0, &[0, 1], -1_i64)),
        ("order", check::order(out(), &order)),
        ("pagerank", check::pagerank(out(), 0.85, None, &[1.0 / 3.0; 3], 1e-9)),
        ("pagerank_weighted", check::pagerank_weighted(out(), 0.85, None, &[1.0 / 3.0; 3], 1e-9)),
        ("quality", check::quality(out(), false, &quality)),
        ("reciprocity", check::reciprocity(out(), &[1.0; 3], 1.0)),
        ("scc", check::scc(out(), &[0; 3])),
        ("set_cover", check::set_cover(out(), &[], &[], &[0; 3], 1.1)),
        ("similarity", check::similarity(out(), 0, "jaccard", &[0.0; 3])),
        ("spanner", check::spanner(out(), &[(0, 1), (0, 2)], &[0; 3], 1)),
        ("spectral", check::spectral(out(), &scores)),
        ("sssp", check::sssp(out(), 0, &[0_i64, 5, 9], None)),
        ("sssp_to", check::sssp_to(out(), 0, Some(1), &[0_i64, 5, 9], None)),
        ("strength", check::strength(out(), &[Direction::Out], [&[0.0; 3]; 4])),
        ("triangles", check::triangles(out(), 1)),
        ("triangles_sampled", check::triangles_sampled(out(), 1.0, 3.0, 9)),
        ("truss", check::truss(out(), &[(0, 1), (0, 2), (1, 2)], &[3; 3])),
        ("wcc", check::wcc(out(), &[0; 3])),
        ("widest", check::widest(out(), 0, &[i32::MAX, 7, 9], None)),
    ];
    for (name, answer) in answers {
        assert_eq!(answer, Err(Rejection::Stopped(Stop::Cancelled)), "{name}");
    }
}

/// The verifier of a truss took minutes for 48,352 edges: it looked for the next edge to remove from the
/// first vertex on.
#[test]
fn long_verifiers_take_seconds_and_stop_in_between() {
    let csr = common::skewed(4096, 48_000, false, 3);
    let (view, run) = (csr.graph(), common::run(2, false));
    let rows = view.rows(Direction::Out).unwrap();
    let begin = Instant::now();
    let found = truss(&view, &run).unwrap();
    check::truss(rows, &found.edges, &found.trussness).unwrap();
    assert!(begin.elapsed() < Duration::from_secs(60), "{:?}", begin.elapsed());
    let count = cliques(&view, &run, &CliquesOptions::default()).unwrap();
    let ranks = pagerank(&view, &run, &PageRankOptions::default()).unwrap();
    let sources: Vec<_> = (0..4096).collect();
    let long: [&LongCheck<'_>; 2] = [
        // Of more members than any clique has: all sets are looked at.
        &|cancel| {
            check::cliques(WatchedRows::until(rows, cancel), CliquesOptions::default().k + 3, count.cliques)
        },
        &|cancel| check::betweenness(WatchedRows::until(rows, cancel), &sources, 1.0, &ranks.scores, 1e-9),
    ];
    for verifier in long {
        let cancel = Cancel::default();
        std::thread::scope(|scope| {
            let verified = scope.spawn(|| verifier(&cancel));
            std::thread::sleep(Duration::from_millis(10));
            cancel.cancel();
            let begin = Instant::now();
            let stopped = verified.join().unwrap();
            assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
            assert_eq!(stopped, Err(Rejection::Stopped(Stop::Cancelled)));
        });
    }
}

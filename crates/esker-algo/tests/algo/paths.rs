//! Weighted breadth-first search, Bellman-Ford and widest paths on random and awkward graphs.

use esker_algo::algorithm::paths::bellman_ford::{BellmanFord, BellmanFordOptions, bellman_ford};
use esker_algo::algorithm::paths::sssp::{SsspOptions, sssp};
use esker_algo::algorithm::paths::wbfs::{WbfsOptions, wbfs};
use esker_algo::algorithm::paths::widest::{Widest, WidestMethod, WidestOptions, widest};
use esker_algo::check;
use esker_algo::lengths::Length;
use esker_algo::widths::Width;
use esker_graph::random::hash;
use esker_graph::{Csr, Direction, Graph, Run, Stop, VertexId};
use proptest::prelude::*;

use crate::common;
use crate::common::shapes::{awkward, each_form, large};

const METHODS: [WidestMethod; 2] = [WidestMethod::Buckets, WidestMethod::Rounds];

fn widest_checked<G: Graph<Error = Stop>>(
    graph: &G,
    csr: &Csr<G::Weight>,
    run: &Run,
    source: VertexId,
    method: WidestMethod,
) -> Widest<G::Weight>
where
    G::Weight: Width,
{
    let found = widest(graph, run, source, &WidestOptions { method, parents: true }).expect("widths");
    let view = csr.graph();
    let out = view.rows(Direction::Out).expect("out-lists");
    check::widest(out, source, &found.widths, found.parents.as_deref()).expect("a right answer");
    found
}

fn all_widest<W: Width>(csr: &Csr<W>, runs: &[Run], seed: u64, source: VertexId) {
    let mut widths = None;
    for run in runs {
        for method in METHODS {
            let found = widest_checked(&csr.graph(), csr, run, source, method);
            assert_eq!(widths.get_or_insert_with(|| found.widths.clone()), &found.widths);
            each_form!(csr, seed, |graph| widest_checked(graph, csr, run, source, method));
            widest_checked(&common::without_in_edges(&csr.graph()), csr, run, source, method);
        }
    }
}

fn bellman_ford_checked<G: Graph<Error = Stop>>(
    graph: &G,
    csr: &Csr<G::Weight>,
    run: &Run,
    source: VertexId,
) -> BellmanFord<G::Weight>
where
    G::Weight: Length,
{
    let found = bellman_ford(graph, run, source, &BellmanFordOptions { parents: true }).expect("distances");
    let view = csr.graph();
    let out = view.rows(Direction::Out).expect("out-lists");
    match &found.negative_cycle {
        None => check::bellman_ford(out, source, &found.distances, found.parents.as_deref()),
        Some(cycle) => check::negative_cycle(out, source, &cycle.vertices, cycle.length),
    }
    .expect("a right answer");
    found
}

/// Returns whether there was a negative cycle.
fn all_bellman_ford<W: Length>(csr: &Csr<W>, runs: &[Run], seed: u64, source: VertexId) -> bool {
    let mut first = None;
    for run in runs {
        let found = bellman_ford_checked(&csr.graph(), csr, run, source);
        let distances = first.get_or_insert_with(|| found.distances.clone());
        assert_eq!((&found.distances, distances.is_empty()), (&*distances, found.negative_cycle.is_some()));
        each_form!(csr, seed, |graph| {
            let found = bellman_ford_checked(graph, csr, run, source);
            assert_eq!(&found.distances, first.as_ref().expect("it was set"));
        });
        bellman_ford_checked(&common::without_in_edges(&csr.graph()), csr, run, source);
    }
    first.is_some_and(|distances| distances.is_empty())
}

fn all_wbfs<W: Length>(csr: &Csr<W>, runs: &[Run], seed: u64, source: VertexId) {
    for run in runs {
        let expected = sssp(&csr.graph(), run, source, &SsspOptions::default()).expect("distances");
        let same = |found: esker_algo::algorithm::paths::sssp::Sssp<W>| {
            let view = csr.graph();
            let out = view.rows(Direction::Out).expect("out-lists");
            check::sssp(out, source, &found.distances, found.parents.as_deref()).expect("a right answer");
            assert_eq!(found.distances, expected.distances);
        };
        each_form!(csr, seed, |graph| {
            same(wbfs(graph, run, source, &WbfsOptions { parents: true }).expect("distances"));
        });
    }
}

/// Lengths without a negative cycle in a directed graph: differences of heights, plus a number that is not
/// negative.
fn with_heights(sample: &common::Sample, more: impl Fn(u32) -> i64) -> Csr<i64> {
    let height = |v: VertexId| (hash(u64::from(v)) >> 54) as i64;
    let weighted = sample.csr(|w| w as i32);
    let view = weighted.graph();
    let out = view.rows(Direction::Out).expect("out-lists");
    let mut edges = Vec::new();
    for u in 0..sample.num_vertices {
        let (targets, weights) = out.list(u as VertexId);
        let step = |(&v, &w): (&VertexId, &i32)| {
            (u as VertexId, v, height(v) - height(u as VertexId) + more(w as u32))
        };
        edges.extend(targets.iter().zip(weights).map(step));
    }
    Csr::directed(sample.num_vertices, &edges).expect("the ends are below the number of vertices")
}

fn right(sample: &common::Sample, runs: &[Run], source: VertexId) {
    let seed = sample.seed;
    all_widest(&sample.csr(|w| w as i32), runs, seed, source);
    all_widest(&sample.csr(|w| (i64::from(w) - 50) << 40), runs, seed, source);
    all_widest(&sample.csr(|w| w as f32 / 7.0 - 3.0), runs, seed, source);
    all_widest(&sample.csr(|w| if w < 90 { f64::INFINITY } else { f64::from(w).sqrt() }), runs, seed, source);
    all_widest(&sample.csr(|_| ()), runs, seed, source);
    all_bellman_ford(&sample.csr(|w| w as i32), runs, seed, source);
    all_bellman_ford(&sample.csr(|w| w as f32 / 7.0), runs, seed, source);
    all_bellman_ford(&sample.csr(|_| ()), runs, seed, source);
    all_bellman_ford(&sample.csr(|w| w as i32 - 5), runs, seed, source);
    all_bellman_ford(&sample.csr(|w| f64::from(w) - 0.75), runs, seed, source);
    assert!(!all_bellman_ford(&with_heights(sample, |w| i64::from(w % 4)), runs, seed, source));
    all_bellman_ford(&with_heights(sample, |w| i64::from(w > 0) * 9 - 3), runs, seed, source);
    all_wbfs(&sample.csr(|w| w as i32), runs, seed, source);
    all_wbfs(&sample.csr(|w| i64::from(w % 3)), runs, seed, source);
}

proptest! {
    #![proptest_config(common::cases(40))]
    #[test]
    fn right_on_every_kind_of_graph(sample in common::samples(), pick in any::<u32>()) {
        right(&sample, &common::runs(false), (pick as usize % sample.num_vertices) as VertexId);
    }
}

#[test]
fn right_on_awkward_graphs() {
    let runs = common::runs(false);
    for (i, sample) in awkward().iter().filter(|sample| (1..=130).contains(&sample.num_vertices)).enumerate()
    {
        let source = if i % 4 < 2 { sample.num_vertices / 2 } else { 0 };
        right(sample, &runs[i % 3..=i % 3], source as VertexId);
    }
}

#[test]
fn right_on_large_graphs() {
    let runs = [common::run(2, false)];
    let csr = large(false, 1, |w| w as i32);
    all_widest(&csr, &runs, 1, 3);
    all_bellman_ford(&csr, &runs, 1, 3);
    all_wbfs(&csr, &runs, 1, 3);
    assert!(all_bellman_ford(&large(true, 2, |w| w as i32 - 20), &runs, 2, 3));
    all_widest(&large(true, 2, |w| f64::from(w).sqrt()), &runs, 2, 3);
}

#[test]
fn a_long_cycle_that_is_barely_negative_is_found() {
    let n = 3000;
    let edges: Vec<_> = (0..n).map(|v| (v, (v + 1) % n, if v == 7 { -(n as i64) } else { 1i64 })).collect();
    let csr = Csr::directed(n as usize, &edges).unwrap();
    for threads in [1, 2] {
        let found = bellman_ford_checked(&csr.graph(), &csr, &common::run(threads, false), 100);
        let cycle = found.negative_cycle.expect("it is there");
        assert_eq!((cycle.vertices.len(), cycle.length), (n as usize, -1));
    }
}

#[test]
fn a_negative_cycle_out_of_reach_does_no_harm() {
    let csr = Csr::directed(4, &[(0, 1, -5i32), (2, 3, -1), (3, 2, 0), (2, 1, 1)]).unwrap();
    let found = bellman_ford_checked(&csr.graph(), &csr, &common::run(2, false), 0);
    assert_eq!(found.distances, [0, -5, i64::MAX, i64::MAX]);
    assert_eq!(found.parents, Some(vec![0, 0, VertexId::MAX, VertexId::MAX]));
}

#[test]
fn what_cannot_be_told_is_an_error() {
    let run = common::run(2, false);
    let csr = Csr::directed(3, &[(0, 1, f64::NAN), (1, 2, 1.0)]).unwrap();
    let error = bellman_ford(&csr.graph(), &run, 0, &BellmanFordOptions::default()).unwrap_err();
    assert!(error.to_string().contains("not a number"), "{error}");
    let error = widest(&csr.graph(), &run, 0, &WidestOptions::default()).unwrap_err();
    assert!(error.to_string().contains("not a number"), "{error}");
    let error = wbfs(&csr.graph(), &run, 0, &WbfsOptions::default()).unwrap_err();
    assert!(error.to_string().contains("use sssp"), "{error}");
    let csr = Csr::directed(3, &[(0, 1, i64::MAX - 1), (1, 2, 1)]).unwrap();
    let error = bellman_ford(&csr.graph(), &run, 0, &BellmanFordOptions::default()).unwrap_err();
    assert!(error.to_string().contains("a distance overflows"), "{error}");
    let error = bellman_ford(&csr.graph(), &run, 3, &BellmanFordOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "source 3 is not a vertex: the graph has 3 vertices");
    let error = widest(&csr.graph(), &run, 3, &WidestOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "source 3 is not a vertex: the graph has 3 vertices");
}

#[test]
fn the_verifiers_find_faults() {
    let csr = Csr::directed(4, &[(0, 1, 2i32), (1, 2, -2), (0, 2, 5), (2, 1, 3)]).unwrap();
    let view = csr.graph();
    let out = view.rows(Direction::Out).unwrap();
    let (far, none) = (i64::MAX, VertexId::MAX);
    check::bellman_ford(out, 0, &[0, 2, 0, far], Some(&[0, 0, 1, none])).unwrap();
    for distances in [[0, 2, 5, far], [0, 2, -1, far], [0, 1, -1, far], [0, 2, 0, 9]] {
        check::bellman_ford(out, 0, &distances, None).unwrap_err();
    }
    check::bellman_ford(out, 0, &[0, 2, 0, far], Some(&[0, 2, 1, none])).unwrap_err();
    check::negative_cycle(out, 0, &[1, 2], 1).unwrap_err();
    check::negative_cycle(out, 0, &[0, 1], -1).unwrap_err();
    check::widest(out, 0, &[i32::MAX, 3, 5, i32::MIN], Some(&[0, 2, 0, none])).unwrap();
    check::widest(out, 0, &[i32::MAX, 2, 5, i32::MIN], None).unwrap_err();
    check::widest(out, 0, &[i32::MAX, 3, 5, 1], None).unwrap_err();
    check::widest(out, 0, &[i32::MAX, 4, 5, i32::MIN], None).unwrap_err();
    let csr = Csr::directed(3, &[(0, 1, 2i32), (1, 0, -3)]).unwrap();
    let view = csr.graph();
    let out = view.rows(Direction::Out).unwrap();
    check::negative_cycle(out, 0, &[1, 0], -1).unwrap();
    check::negative_cycle(out, 2, &[1, 0], -1).unwrap_err();
    check::negative_cycle(out, 0, &[1, 0, 1, 0], -2).unwrap_err();
    check::negative_cycle(out, 0, &[1, 0], -2).unwrap_err();
}

/// Distances are computed in 32 bits as long as they fit.
#[test]
fn sums_beyond_32_bits_are_exact_and_may_be_negative() {
    let run = common::run(2, false);
    for (edge, sign) in [(i32::MAX, 1), (i32::MIN, -1)] {
        let path: Vec<_> = (1..6).map(|v| (v - 1, v, edge)).collect();
        let csr = Csr::directed(6, &path).unwrap();
        let found = bellman_ford_checked(&csr.graph(), &csr, &run, 0);
        assert_eq!(found.distances[5], 5 * i64::from(edge));
        assert_eq!(found.distances[5].signum(), sign);
    }
    let circle = Csr::directed(3, &[(0, 1, i32::MIN), (1, 2, i32::MIN), (2, 0, i32::MAX)]).unwrap();
    let found = bellman_ford_checked(&circle.graph(), &circle, &run, 0);
    assert_eq!(found.negative_cycle.unwrap().length, 2 * i64::from(i32::MIN) + i64::from(i32::MAX));
}

#[test]
fn the_greatest_width_of_a_type_is_a_width() {
    fn both<W: Width<Width = W>>(most: W, less: W) {
        let csr = Csr::directed(5, &[(0, 1, most), (1, 2, most), (2, 3, less)]).unwrap();
        for (run, method) in common::runs(false).iter().flat_map(|run| METHODS.map(|method| (run, method))) {
            let found = widest_checked(&csr.graph(), &csr, run, 0, method);
            assert_eq!(found.widths, [W::SOURCE, most, most, less, W::UNREACHED]);
            assert_eq!(found.reached, 4);
        }
    }
    both(i32::MAX, 5);
    both(i64::MAX, 5);
}

#[test]
fn distances_that_overflow_are_refused() {
    fn refused<W: Length>(lengths: [W; 2]) {
        let csr = Csr::directed(3, &[(0, 1, lengths[0]), (1, 2, lengths[1])]).unwrap();
        for run in &common::runs(false) {
            let found = bellman_ford(&csr.graph(), run, 0, &BellmanFordOptions::default());
            assert!(
                matches!(&found, Err(Stop::Unsuitable(message)) if message.to_string().contains("overflows"))
            );
            if lengths[0].to_f64() >= 0.0 {
                let found = sssp(&csr.graph(), run, 0, &SsspOptions::default());
                assert!(
                    matches!(&found, Err(Stop::Unsuitable(message)) if message.to_string().contains("does not fit"))
                );
            }
        }
    }
    refused([i64::MIN, 0]);
    refused([i64::MIN + 1, -1]);
    refused([i64::MAX - 1, 1]);
    refused([1.7e308, 1.7e308]);
    refused([-1.7e308, -1.7e308]);
}

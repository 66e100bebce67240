//! Triangle counts of random graphs of many kinds.

use esker_algo::algorithm::cohesion::triangles::{
    CountingOrder, Triangles, TrianglesOptions, estimate, triangles,
};
use esker_algo::algorithm::cohesion::triangles_filter::triangles_filter;
use esker_algo::algorithm::cohesion::triangles_sampled::{
    SampledOptions, SampledTriangles, triangles_sampled,
};
use esker_algo::{Shape, check};
use esker_graph::{Csr, Direction, Lists, Run, RunOptions, Stop, VertexId, Weight};
use proptest::prelude::*;

use crate::common;
use crate::common::shapes::each_form;
use crate::common::undirected;

const ORDERS: [CountingOrder; 3] = [CountingOrder::Auto, CountingOrder::Given, CountingOrder::Degree];

fn checked<G: Lists<Error = Stop>>(graph: &G, csr: &Csr, run: &Run, order: CountingOrder) -> Triangles {
    let found = triangles(graph, run, &TrianglesOptions { order }).expect("a count");
    let view = csr.graph();
    check::triangles(view.rows(Direction::Out).expect("out-lists"), found.triangles).expect("a right answer");
    found
}

proptest! {
    #![proptest_config(common::cases(300))]
    #[test]
    fn right_on_every_kind_of_graph(sample in common::samples()) {
        let csr = sample.csr(|_| ());
        let graph = csr.graph();
        for run in [common::run(1, false), common::run(3, true)] {
            for order in ORDERS {
                checked(&graph, &csr, &run, order);
                each_form!(csr, sample.seed, |form| { checked(form, &csr, &run, order); });
            }
        }
    }
}

#[test]
fn right_with_rows_of_bits_and_beyond_them() {
    for seed in 0..6 {
        for directed in [false, true] {
            let csr = common::skewed(3000, 60_000, directed, seed);
            for threads in [1, 2] {
                let run = common::run(threads, false);
                let hubs = ORDERS.map(|order| checked(&csr.graph(), &csr, &run, order).hubs);
                assert!(hubs.iter().all(|&hubs| (512..3000).contains(&hubs)), "{hubs:?}");
            }
        }
    }
}

fn filtered<G: Lists<Error = Stop>, W: Weight>(graph: &G, csr: &Csr<W>, run: &Run) {
    let found = triangles_filter(graph, run).expect("a count");
    let view = csr.graph();
    check::triangles(view.rows(Direction::Out).expect("out-lists"), found.triangles).expect("a right answer");
}

proptest! {
    #![proptest_config(common::cases(200))]
    #[test]
    fn right_through_a_filter(sample in undirected()) {
        let csr = sample.csr(|_| ());
        for run in common::runs(false) {
            each_form!(csr, sample.seed, |graph| filtered(graph, &csr, &run));
        }
    }
}

#[test]
fn large_graphs_through_a_filter() {
    for seed in 0..4 {
        let csr = common::skewed(2000, 40_000, false, seed);
        filtered(&csr.graph(), &csr, &common::run(3, false));
    }
    let directed = Csr::<()>::directed(3, &[(0, 1, ())]).unwrap();
    triangles_filter(&directed.graph(), &common::run(1, false)).unwrap_err();
}

#[test]
fn well_known_graphs() {
    let count = |n: usize, edges: &[(VertexId, VertexId, ())]| {
        let csr = Csr::undirected(n, edges).unwrap();
        checked(&csr.graph(), &csr, &common::run(2, false), CountingOrder::Auto).triangles
    };
    assert_eq!(count(0, &[]), 0);
    assert_eq!(count(1, &[(0, 0, ())]), 0);
    let pairs = |n: VertexId| (0..n).flat_map(move |u| (0..u).map(move |v| (u, v, ())));
    assert_eq!(count(200, &pairs(200).collect::<Vec<_>>()), 200 * 199 * 198 / 6);
    let star: Vec<_> = (1..500).map(|v| (0, v, ())).collect();
    assert_eq!(count(500, &star), 0);
    let wheel: Vec<_> = star.iter().copied().chain((1..500).map(|v| (v, v % 499 + 1, ()))).collect();
    assert_eq!(count(500, &wheel), 499);
}

#[test]
fn hubs_at_the_end_are_renumbered() {
    let csr = common::skewed(3000, 60_000, false, 1);
    let run = common::run(2, false);
    assert!(!checked(&csr.graph(), &csr, &run, CountingOrder::Auto).renumbered);
    let view = csr.graph();
    let out = view.rows(Direction::Out).unwrap();
    let turned: Vec<_> =
        (0..3000).flat_map(|u| out.list(u).0.iter().map(move |&v| (2999 - u, 2999 - v, ()))).collect();
    let turned = Csr::undirected(3000, &turned).unwrap();
    assert!(checked(&turned.graph(), &turned, &run, CountingOrder::Auto).renumbered);

    // A limit without room for a copy falls back to the given order; a lower limit is refused.
    let shape = Shape::of(&turned.graph());
    let given = estimate(shape, &TrianglesOptions { order: CountingOrder::Given }, 1).memory_bytes;
    let copied = estimate(shape, &TrianglesOptions::default(), 1).memory_bytes;
    assert!(given < copied);
    let limited = |bytes| {
        let run = Run::new(RunOptions {
            threads: 1,
            budget: esker_graph::Budget::new(bytes),
            ..RunOptions::default()
        })
        .unwrap();
        triangles(&turned.graph(), &run, &TrianglesOptions::default())
    };
    assert!(limited(copied).unwrap().renumbered);
    assert!(!limited(copied - 1).unwrap().renumbered);
    assert!(
        matches!(limited(given - 1), Err(Stop::OverBudget { needed_bytes, .. }) if needed_bytes == given)
    );
}

#[test]
fn says_what_is_missing_and_stops_when_told() {
    let csr = Csr::<()>::directed(3, &[(0, 1, ()), (1, 2, ()), (2, 0, ())]).unwrap();
    let run = common::run(2, false);
    let error =
        triangles(&common::without_in_edges(&csr.graph()), &run, &TrianglesOptions::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "triangle count on a directed graph needs in-edges: import it with in-edges, or as undirected"
    );
    run.cancel().cancel();
    assert_eq!(triangles(&csr.graph(), &run, &TrianglesOptions::default()), Err(Stop::Cancelled));
}

#[test]
fn the_verifier_finds_faults() {
    let csr = Csr::<()>::directed(3, &[(0, 1, ()), (1, 2, ()), (2, 0, ()), (0, 2, ())]).unwrap();
    let view = csr.graph();
    let out = view.rows(Direction::Out).unwrap();
    check::triangles(out, 1).unwrap();
    check::triangles(out, 0).unwrap_err();
    check::triangles(out, 2).unwrap_err();
}

fn sampled<G: Lists<Error = Stop>, W: Weight>(
    graph: &G,
    csr: &Csr<W>,
    run: &Run,
    samples: usize,
) -> SampledTriangles {
    let found = triangles_sampled(graph, run, &SampledOptions { samples }).expect("an estimate");
    assert!(found.low <= found.triangles && found.triangles <= found.high);
    let view = csr.graph();
    let rows = view.rows(Direction::Out).expect("out-lists");
    check::triangles_sampled(rows, found.triangles, found.wedges, found.samples).expect("a near estimate");
    found
}

proptest! {
    #![proptest_config(common::cases(200))]
    #[test]
    fn samples_come_near(sample in undirected(), samples in 1usize..3000) {
        let csr = sample.csr(|_| ());
        let mut first = None;
        for run in common::runs(false) {
            each_form!(csr, sample.seed, |graph| {
                let found = sampled(graph, &csr, &run, samples);
                assert_eq!(*first.get_or_insert(found), found, "neither threads nor pieces make a difference");
            });
        }
    }
}

#[test]
fn samples_of_what_is_certain_are_exact() {
    // Every wedge of a clique is closed, and no wedge of a star.
    let clique: Vec<_> = (0..40).flat_map(|u| (0..u).map(move |v| (u, v, ()))).collect();
    let csr = Csr::undirected(40, &clique).unwrap();
    let found = sampled(&csr.graph(), &csr, &common::run(2, false), 100);
    assert_eq!((found.triangles, found.low, found.high), (9880.0, 9880.0, 9880.0));
    let star: Vec<_> = (1..40).map(|v| (0, v, ())).collect();
    let csr = Csr::undirected(40, &star).unwrap();
    assert_eq!(sampled(&csr.graph(), &csr, &common::run(2, false), 100).triangles, 0.0);
    let empty = Csr::<()>::undirected(3, &[]).unwrap();
    assert_eq!(sampled(&empty.graph(), &empty, &common::run(1, false), 10).samples, 0);
    let none = SampledOptions { samples: 0 };
    triangles_sampled(&csr.graph(), &common::run(1, false), &none).unwrap_err();
}

#[test]
fn intervals_hold_as_often_as_they_say() {
    let csr = common::skewed(2000, 40_000, false, 5);
    let exact = triangles(&csr.graph(), &common::run(2, false), &TrianglesOptions::default()).unwrap();
    let exact = exact.triangles as f64;
    let held = (0..200).filter(|&seed| {
        let run = Run::new(RunOptions { threads: 2, seed, ..RunOptions::default() }).unwrap();
        let found = triangles_sampled(&csr.graph(), &run, &SampledOptions { samples: 2000 }).unwrap();
        (found.low..=found.high).contains(&exact)
    });
    assert!(held.count() >= 180);
}

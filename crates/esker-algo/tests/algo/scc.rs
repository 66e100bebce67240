//! Strongly connected components of random graphs, and of graphs that are hard for parallel methods.

use esker_algo::algorithm::components::scc::{Scc, scc};
use esker_algo::check;
use esker_graph::{Csr, Direction, Lists, Run, Stop, VertexId};
use proptest::prelude::*;

use crate::common;
use crate::common::shapes::each_form;

fn checked<G: Lists<Error = Stop>>(graph: &G, csr: &Csr, run: &Run) -> Scc {
    let found = scc(graph, run).expect("components");
    let view = csr.graph();
    check::scc(view.rows(Direction::Out).expect("out-lists"), &found.components).expect("a right answer");
    let mut sizes = vec![0; found.components.len()];
    found.components.iter().for_each(|&label| sizes[label as usize] += 1);
    assert_eq!(found.count, sizes.iter().filter(|&&size| size > 0).count());
    assert_eq!(found.largest, sizes.into_iter().max().unwrap_or(0));
    found
}

proptest! {
    #![proptest_config(common::cases(400))]
    #[test]
    fn right_on_every_kind_of_graph(sample in common::samples()) {
        let csr = sample.csr(|_| ());
        let graph = csr.graph();
        for run in [common::run(1, false), common::run(3, true)] {
            let first = checked(&graph, &csr, &run);
            each_form!(csr, sample.seed, |form| { checked(form, &csr, &run); });
            let serial = checked(&common::without_in_edges(&graph), &csr, &run);
            prop_assert_eq!(first.components, serial.components);
        }
    }
}

#[test]
fn right_on_larger_random_graphs() {
    for seed in 0..4 {
        for num_edges in [8_000, 30_000] {
            let csr = common::skewed(20_000, num_edges, true, seed);
            let answers = [1, 2, 4].map(|threads| checked(&csr.graph(), &csr, &common::run(threads, true)));
            assert_eq!(answers[0], answers[1]);
            assert_eq!(answers[0], answers[2]);
        }
    }
    // A giant component, smaller ones, and single vertices: in one of these graphs all three steps have work.
    let does_all = |seed| {
        let giant = common::skewed(20_000, 40_000, true, seed);
        let found = checked(&giant.graph(), &giant, &common::run(2, false));
        found.pivots > 0 && found.trimmed > 0 && found.serial > 0 && found.largest > 4000
    };
    assert!((0..16).any(does_all));
}

/// Makes a graph of `n` vertices and checks it with two threads, with and without in-edges.
fn hard(n: usize, edges: impl Iterator<Item = (usize, usize)>) -> Scc {
    let edges: Vec<_> = edges.map(|(u, v)| (u as VertexId, v as VertexId, ())).collect();
    let csr = Csr::directed(n, &edges).unwrap();
    let run = common::run(2, false);
    let serial = checked(&common::without_in_edges(&csr.graph()), &csr, &run);
    let found = checked(&csr.graph(), &csr, &run);
    assert_eq!(serial.components, found.components);
    found
}

const LONG: usize = 200_000;

#[test]
fn a_long_path_is_trimmed() {
    let found = hard(LONG, (1..LONG).map(|v| (v - 1, v)));
    assert_eq!((found.count, found.trimmed, found.largest), (LONG, LONG, 1));
}

#[test]
fn a_long_cycle_is_one_component() {
    let found = hard(LONG, (0..LONG).map(|v| (v, (v + 1) % LONG)));
    assert_eq!((found.count, found.pivots, found.largest), (1, 1, LONG));
}

#[test]
fn a_long_path_of_short_cycles_is_left_to_the_serial_step() {
    let found = hard(
        LONG,
        (1..LONG).flat_map(|v| if v % 2 == 1 { vec![(v - 1, v), (v, v - 1)] } else { vec![(v - 1, v)] }),
    );
    assert_eq!((found.count, found.largest), (LONG / 2, 2));
    assert!(found.pivots <= 1);
    // In reverse, so that the last component comes first.
    let found = hard(
        LONG,
        (1..LONG).flat_map(|v| if v % 2 == 1 { vec![(v - 1, v), (v, v - 1)] } else { vec![(v, v - 1)] }),
    );
    assert_eq!((found.count, found.largest), (LONG / 2, 2));
}

#[test]
fn loops_alone_make_no_larger_components() {
    let found = hard(LONG, (1..LONG).flat_map(|v| [(v - 1, v), (v, v)]));
    assert_eq!(found.count, LONG);
}

#[test]
fn a_hub_with_a_thousand_petals() {
    let petals = (0..1000).flat_map(|p| {
        let first = 1 + p * 20;
        (0..20).map(move |i| (first + i, if i == 19 { 0 } else { first + i + 1 })).chain([(0, first)])
    });
    assert_eq!(hard(20_001, petals).count, 1);
}

#[test]
fn undirected_graphs_have_connected_components() {
    let csr = Csr::<()>::undirected(6, &[(5, 3, ()), (3, 1, ()), (4, 2, ()), (2, 2, ())]).unwrap();
    let found = checked(&csr.graph(), &csr, &common::run(2, false));
    assert_eq!(found.components, [0, 1, 2, 1, 2, 1]);
    let big = common::skewed(20_000, 15_000, false, 2);
    checked(&big.graph(), &big, &common::run(2, false));
}

#[test]
fn empty_graphs_limits_and_cancellation() {
    let none = Csr::<()>::directed(0, &[]).unwrap();
    let found = scc(&none.graph(), &common::run(2, false)).unwrap();
    assert_eq!((found.components, found.count, found.largest), (vec![], 0, 0));
    let csr = Csr::<()>::directed(2, &[(0, 1, ())]).unwrap();
    let options = esker_graph::RunOptions { budget: esker_graph::Budget::new(10), ..Default::default() };
    let error = scc(&csr.graph(), &Run::new(options).unwrap()).unwrap_err();
    assert!(error.to_string().starts_with("strongly connected components needs "), "{error}");
    let run = common::run(2, false);
    run.cancel().cancel();
    assert_eq!(scc(&csr.graph(), &run), Err(Stop::Cancelled));
}

#[test]
fn the_verifier_finds_faults() {
    let csr = Csr::<()>::directed(4, &[(0, 1, ()), (1, 0, ()), (1, 2, ()), (2, 3, ()), (3, 2, ())]).unwrap();
    let view = csr.graph();
    let out = view.rows(Direction::Out).unwrap();
    check::scc(out, &[0, 0, 2, 2]).unwrap();
    for wrong in [[0, 1, 2, 2], [0, 0, 0, 0], [1, 1, 2, 2], [0, 0, 3, 3], [0, 0, 2, 3]] {
        check::scc(out, &wrong).unwrap_err();
    }
    check::scc(out, &[0, 0, 2]).unwrap_err();
}

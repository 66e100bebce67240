//! k-core on random and awkward graphs.

use esker_algo::algorithm::cohesion::kcore::{KCore, estimate, kcore};
use esker_algo::{Shape, check};
use esker_graph::{Csr, Direction, Graph, Run, RunOptions, Stop};
use proptest::prelude::*;

use crate::common;
use crate::common::shapes::{awkward, each_form, large};

fn checked<G: Graph<Error = Stop>>(graph: &G, csr: &Csr, run: &Run) -> KCore {
    let found = kcore(graph, run).expect("cores");
    let view = csr.graph();
    let out = view.rows(Direction::Out).expect("out-lists");
    check::kcore(out, view.is_directed(), &found.coreness, &found.order).expect("a right answer");
    assert_eq!(found.k_max, found.coreness.iter().copied().max().unwrap_or(0));
    found
}

fn right(csr: &Csr, seed: u64) {
    let mut coreness = None;
    for deterministic in [false, true] {
        let mut order = None;
        for run in common::runs(deterministic) {
            each_form!(csr, seed, |graph| {
                let found = checked(graph, csr, &run);
                assert_eq!(coreness.get_or_insert_with(|| found.coreness.clone()), &found.coreness);
                if deterministic {
                    assert_eq!(order.get_or_insert_with(|| found.order.clone()), &found.order);
                }
            });
        }
    }
}

proptest! {
    #![proptest_config(common::cases(200))]
    #[test]
    fn right_on_every_kind_of_graph(sample in common::samples()) {
        right(&sample.csr(|_| ()), sample.seed);
    }
}

#[test]
fn right_on_awkward_graphs() {
    for sample in awkward() {
        right(&sample.csr(|_| ()), sample.seed);
    }
}

#[test]
fn right_on_large_graphs() {
    for (directed, seed) in [(false, 1), (true, 2), (false, 3)] {
        let csr = large(directed, seed, |_| ());
        let one = checked(&csr.graph(), &csr, &common::run(1, true));
        for threads in [2, 7] {
            assert_eq!(checked(&csr.graph(), &csr, &common::run(threads, true)), one);
            checked(&csr.graph(), &csr, &common::run(threads, false));
        }
    }
}

#[test]
fn known_cores() {
    let run = common::run(2, true);
    let edges = [(0, 1, ()), (1, 2, ()), (2, 0, ()), (2, 3, ()), (3, 3, ())];
    let found = kcore(&Csr::undirected(5, &edges).unwrap().graph(), &run).unwrap();
    assert_eq!((found.coreness, found.order, found.k_max), (vec![2, 2, 2, 1, 0], vec![4, 3, 0, 1, 2], 2));
    let found =
        kcore(&Csr::directed(3, &[(0, 1, ()), (1, 0, ()), (1, 2, ())]).unwrap().graph(), &run).unwrap();
    assert_eq!(found.coreness, [2, 2, 1]);
}

#[test]
fn what_cannot_be_is_refused() {
    let csr = Csr::directed(2, &[(0, 1, ())]).unwrap();
    let error = kcore(&common::without_in_edges(&csr.graph()), &common::run(2, false)).unwrap_err();
    assert!(error.to_string().contains("k-core on a directed graph needs in-edges"), "{error}");
    let budget = esker_graph::Budget::new(estimate(Shape::of(&csr.graph())).memory_bytes - 1);
    let run = Run::new(RunOptions { threads: 1, budget, ..RunOptions::default() }).unwrap();
    assert!(kcore(&csr.graph(), &run).unwrap_err().to_string().contains("bytes of memory"));
}

#[test]
fn the_verifier_finds_faults() {
    let csr = Csr::undirected(4, &[(0, 1, ()), (1, 2, ()), (2, 0, ()), (2, 3, ())]).unwrap();
    let view = csr.graph();
    let out = view.rows(Direction::Out).unwrap();
    check::kcore(out, false, &[2, 2, 2, 1], &[3, 0, 1, 2]).unwrap();
    for (coreness, order) in [
        ([2, 2, 2, 2], [3, 0, 1, 2]),
        ([1, 1, 1, 1], [3, 0, 1, 2]),
        ([2, 2, 2, 0], [3, 0, 1, 2]),
        ([2, 2, 2, 1], [0, 3, 1, 2]),
        ([2, 2, 2, 1], [3, 0, 0, 2]),
        ([2, 2, 3, 1], [3, 0, 1, 2]),
    ] {
        check::kcore(out, false, &coreness, &order).unwrap_err();
    }
}

//! Clique counts of random and awkward graphs.

use esker_algo::algorithm::cohesion::cliques::{Cliques, CliquesOptions, cliques};
use esker_algo::check;
use esker_graph::{Csr, Direction, Lists, Run, Stop, VertexId, Weight};
use proptest::prelude::*;

use crate::common;
use crate::common::shapes::each_form;

fn checked<G: Lists<Error = Stop>, W: Weight>(graph: &G, csr: &Csr<W>, run: &Run, k: usize) -> Cliques {
    let found = cliques(graph, run, &CliquesOptions { k }).expect("a count");
    let view = csr.graph();
    check::cliques(view.rows(Direction::Out).unwrap(), k, found.cliques).expect("a right answer");
    found
}

proptest! {
    #![proptest_config(common::cases(200))]
    #[test]
    fn right_on_every_kind_of_graph(sample in common::samples(), k in 1usize..8) {
        prop_assume!(sample.edges.len() < 400 || k < 5);
        let csr = sample.csr(|_| ());
        for run in common::runs(false) {
            each_form!(csr, sample.seed, |graph| { checked(graph, &csr, &run, k); });
        }
    }
}

#[test]
fn right_with_rows_of_bits_and_beyond_them() {
    for seed in 0..4 {
        for directed in [false, true] {
            let csr = common::skewed(3000, 50_000, directed, seed);
            for (threads, k) in [(1, 3), (2, 4), (3, 5)] {
                assert!(checked(&csr.graph(), &csr, &common::run(threads, false), k).longest > 24);
            }
        }
    }
}

#[test]
fn lists_of_more_than_a_line_of_bits() {
    let binomial = |n: u64, k: u64| (0..k).fold(1u64, |product, i| product * (n - i) / (i + 1));
    let pairs: Vec<_> = (0..530 as VertexId).flat_map(|u| (0..u).map(move |v| (u, v, ()))).collect();
    let csr = Csr::<()>::undirected(530, &pairs).unwrap();
    let count =
        |k| cliques(&csr.graph(), &common::run(2, false), &CliquesOptions { k }).map(|found| found.cliques);
    for k in 1..=4 {
        assert_eq!(count(k as usize), Ok(binomial(530, k)));
    }
}

#[test]
fn too_many_to_count() {
    let pairs: Vec<_> = (0..34 as VertexId).flat_map(|u| (0..u).map(move |v| (u, v, ()))).collect();
    let csr = Csr::<()>::undirected(34, &pairs).unwrap();
    let count = |k| cliques(&csr.graph(), &common::run(2, false), &CliquesOptions { k });
    assert_eq!(count(32).unwrap().cliques, 34 * 33 / 2);
    assert_eq!(count(34).unwrap().cliques, 1);
    assert_eq!(count(35).unwrap().cliques, 0);
    assert_eq!(count(0).unwrap_err().to_string(), "k is 0, but a clique has at least one vertex");
    let directed = Csr::<()>::directed(3, &[(0, 1, ())]).unwrap();
    let without = common::without_in_edges(&directed.graph());
    cliques(&without, &common::run(1, false), &CliquesOptions::default()).unwrap_err();
}

#[test]
fn the_verifier_finds_faults() {
    let edges =
        [(0, 1, ()), (1, 2, ()), (2, 0, ()), (0, 2, ()), (3, 0, ()), (3, 1, ()), (3, 2, ()), (3, 3, ())];
    let csr = Csr::<()>::undirected(4, &edges).unwrap();
    let view = csr.graph();
    let out = view.rows(Direction::Out).unwrap();
    for (k, count) in [(1, 4), (2, 6), (3, 4), (4, 1), (5, 0)] {
        check::cliques(out, k, count).unwrap();
        check::cliques(out, k, count + 1).unwrap_err();
    }
}

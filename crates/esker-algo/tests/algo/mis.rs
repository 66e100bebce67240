//! Maximal independent sets on random and awkward graphs.

use esker_algo::algorithm::sets::mis::{Mis, MisOptions, MisOrder, mis};
use esker_algo::check;
use esker_graph::{Csr, Direction, Graph, Run, RunOptions, Stop};
use proptest::prelude::*;

use crate::common;
use crate::common::shapes::{awkward, each_form, large};

fn checked<G: Graph<Error = Stop>>(graph: &G, csr: &Csr, run: &Run, order: MisOrder) -> Mis {
    let found = mis(graph, run, &MisOptions { order }).expect("a set");
    check::mis(csr.graph().rows(Direction::Out).expect("out-lists"), &found.members).expect("a right answer");
    assert_eq!(found.size, found.members.iter().filter(|is| **is).count());
    found
}

/// A seed determines the greedy set, for any number of threads and form of the graph.
fn right(csr: &Csr, seed: u64) {
    for order in [MisOrder::ByDegree, MisOrder::Random] {
        let mut members = None;
        for threads in [1, 2, 7] {
            let run = Run::new(RunOptions { threads, seed, ..RunOptions::default() }).expect("threads start");
            let found = checked(&csr.graph(), csr, &run, order);
            assert_eq!(members.get_or_insert_with(|| found.members.clone()), &found.members);
            let pieces = esker_graph::Fragmented::new(csr.graph(), seed);
            assert_eq!(checked(&pieces, csr, &run, order).members, found.members);
            each_form!(csr, seed, |graph| checked(graph, csr, &run, order));
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
fn right_on_awkward_graphs_with_many_seeds() {
    for sample in awkward() {
        (0..5).for_each(|seed| right(&sample.csr(|_| ()), seed));
    }
}

#[test]
fn right_on_large_graphs() {
    for (directed, seed) in [(false, 1), (true, 2), (false, 3)] {
        let csr = large(directed, seed, |_| ());
        for order in [MisOrder::ByDegree, MisOrder::Random] {
            let one = checked(&csr.graph(), &csr, &common::run(1, true), order);
            for threads in [2, 7] {
                assert_eq!(
                    checked(&csr.graph(), &csr, &common::run(threads, false), order).members,
                    one.members
                );
            }
        }
    }
}

/// A vertex once waited for an earlier neighbour although a later one in its list had already joined: chains
/// of such vertices took thousands of rounds on large graphs with lists in pieces.
#[test]
fn rounds_are_few_however_lists_come() {
    for seed in 0..2 {
        let csr = common::skewed(4000, 400_000, false, seed);
        let pieces = esker_graph::Fragmented::new(csr.graph(), seed);
        for order in [MisOrder::ByDegree, MisOrder::Random] {
            let rounds = checked(&pieces, &csr, &common::run(1, false), order).rounds;
            assert!(rounds <= 8, "{rounds} rounds, {order:?}");
        }
    }
}

#[test]
fn a_star_is_its_leaves() {
    let edges: Vec<_> = (1..100).map(|v| (0, v, ())).collect();
    let csr = Csr::undirected(100, &edges).unwrap();
    assert_eq!(checked(&csr.graph(), &csr, &common::run(2, false), MisOrder::ByDegree).size, 99);
}

#[test]
fn the_verifier_finds_faults() {
    let csr = Csr::directed(4, &[(0, 1, ()), (2, 1, ()), (3, 3, ())]).unwrap();
    let view = csr.graph();
    let out = view.rows(Direction::Out).unwrap();
    check::mis(out, &[true, false, true, true]).unwrap();
    check::mis(out, &[false, true, false, true]).unwrap();
    for members in [[true, false, false, true], [true, true, false, true], [true, false, true, false]] {
        check::mis(out, &members).unwrap_err();
    }
}

//! Colourings of random and awkward graphs.

use std::num::NonZeroU32;

use esker_algo::algorithm::cohesion::kcore::kcore;
use esker_algo::algorithm::sets::colouring::{Colouring, ColouringOptions, ColouringOrder, Ties, colouring};
use esker_algo::check;
use esker_graph::{Csr, Direction, Graph, NONE, Run, RunOptions, Stop, VertexId, vertex};
use proptest::prelude::*;

use crate::common;
use crate::common::shapes::{awkward, each_form, large};

const ORDERS: [ColouringOrder; 4] = [
    ColouringOrder::LargestLogFirst,
    ColouringOrder::LargestFirst,
    ColouringOrder::SmallestLast,
    ColouringOrder::Random,
];

fn checked<G: Graph<Error = Stop>>(graph: &G, csr: &Csr, run: &Run, order: ColouringOrder) -> Colouring {
    let found =
        colouring(graph, run, &ColouringOptions { order, ..ColouringOptions::default() }).expect("colours");
    let view = csr.graph();
    let out = view.rows(Direction::Out).expect("out-lists");
    check::colouring(out, view.is_directed(), &found.colours).expect("a right answer");
    assert_eq!(found.count, found.colours.iter().max().map_or(0, |&most| most as usize + 1));
    found
}

/// First-fit in a given order gives one colouring; the smallest-last order is the same only in deterministic
/// runs.
fn right(csr: &Csr, seed: u64) {
    for order in ORDERS {
        let mut colours = None;
        for threads in [1, 2, 7] {
            let options = RunOptions { threads, seed, deterministic: true, ..RunOptions::default() };
            let run = Run::new(options).expect("threads start");
            let found = checked(&csr.graph(), csr, &run, order);
            assert_eq!(colours.get_or_insert_with(|| found.colours.clone()), &found.colours);
            let pieces = esker_graph::Fragmented::new(csr.graph(), seed);
            assert_eq!(checked(&pieces, csr, &run, order).colours, found.colours);
            each_form!(csr, seed, |graph| checked(graph, csr, &run, order));
            if order == ColouringOrder::SmallestLast {
                let degeneracy = kcore(&csr.graph(), &run).expect("cores").k_max;
                assert!(found.count <= degeneracy as usize + 1);
            }
        }
    }
}

/// The colouring of the serial greedy method: largest degree first, then by id.
fn one_after_the_other(csr: &Csr) -> Vec<VertexId> {
    let view = csr.graph();
    let rows = |way| view.rows(way).expect("lists in memory");
    let ways: &[Direction] =
        if view.is_directed() { &[Direction::Out, Direction::In] } else { &[Direction::Out] };
    let neighbours = |v| ways.iter().flat_map(move |&way| rows(way).list(v).0).copied();
    let n = view.num_vertices();
    let mut order: Vec<VertexId> = (0..n).map(vertex).collect();
    order.sort_by_key(|&v| std::cmp::Reverse(neighbours(v).count()));
    let mut colours = vec![NONE; n];
    for v in order {
        let taken: Vec<_> = neighbours(v).filter(|&u| u != v).map(|u| colours[u as usize]).collect();
        colours[v as usize] = (0..).find(|colour| !taken.contains(colour)).expect("a free colour");
    }
    colours
}

proptest! {
    #![proptest_config(common::cases(100))]
    #[test]
    fn right_on_every_kind_of_graph(sample in common::samples()) {
        right(&sample.csr(|_| ()), sample.seed);
    }

    #[test]
    fn one_pass_with_ties_by_number_is_the_greedy_method(sample in common::samples()) {
        let csr = sample.csr(|_| ());
        let options =
            ColouringOptions { order: ColouringOrder::LargestFirst, ties: Ties::Number, passes: NonZeroU32::MIN };
        for threads in [1, 2, 7] {
            let found = colouring(&csr.graph(), &common::run(threads, false), &options).expect("colours");
            prop_assert_eq!(found.colours, one_after_the_other(&csr));
        }
    }
}

#[test]
fn right_on_awkward_graphs_with_two_seeds() {
    for sample in awkward() {
        (0..2).for_each(|seed| right(&sample.csr(|_| ()), seed));
    }
}

#[test]
fn right_on_large_graphs() {
    for (directed, seed) in [(false, 1), (true, 2), (false, 3)] {
        let csr = large(directed, seed, |_| ());
        for order in ORDERS {
            let one = checked(&csr.graph(), &csr, &common::run(1, true), order);
            for threads in [2, 7] {
                assert_eq!(checked(&csr.graph(), &csr, &common::run(threads, true), order), one);
            }
        }
    }
}

#[test]
fn a_clique_needs_all_colours_even_in_pieces() {
    let edges: Vec<_> = (0..200).flat_map(|u| (0..u).map(move |v| (v, u, ()))).collect();
    let csr = Csr::undirected(200, &edges).unwrap();
    let pieces = esker_graph::Fragmented::new(csr.graph(), 3);
    assert_eq!(checked(&pieces, &csr, &common::run(2, false), ColouringOrder::LargestFirst).count, 200);
}

#[test]
fn the_verifier_finds_faults() {
    let csr = Csr::directed(4, &[(0, 1, ()), (2, 1, ()), (3, 3, ())]).unwrap();
    let view = csr.graph();
    let out = view.rows(Direction::Out).unwrap();
    check::colouring(out, true, &[0, 1, 0, 0]).unwrap();
    for colours in [[0, 0, 1, 0], [0, 1, 0, 1], [0, 2, 0, 0], [0, 1, 2, 0]] {
        check::colouring(out, true, &colours).unwrap_err();
    }
}

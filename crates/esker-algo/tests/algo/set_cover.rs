//! Set covers of random and awkward graphs.

use esker_algo::algorithm::sets::set_cover::{SetCover, SetCoverOptions, set_cover};
use esker_algo::check;
use esker_graph::{Csr, Direction, Graph, NONE, Run, RunOptions, Stop};
use proptest::prelude::*;

use crate::common;
use crate::common::shapes::{awkward, each_form, large};

fn checked<G: Graph<Error = Stop>>(graph: &G, csr: &Csr, run: &Run, epsilon: f64) -> SetCover {
    let found = set_cover(graph, run, &SetCoverOptions { epsilon }).expect("a cover");
    let view = csr.graph();
    let out = view.rows(Direction::Out).expect("out-lists");
    let factor = (1.0 + epsilon).powi(2);
    check::set_cover(out, &found.sets, &found.gains, &found.owners, factor).expect("a right answer");
    assert_eq!(found.covered, found.owners.iter().filter(|&&owner| owner != NONE).count());
    found
}

fn right(csr: &Csr, seed: u64) {
    for epsilon in [0.01, 0.5] {
        let mut first = None;
        for threads in [1, 2, 7] {
            let run = Run::new(RunOptions { threads, seed, ..RunOptions::default() }).expect("threads start");
            let found = checked(&csr.graph(), csr, &run, epsilon);
            assert_eq!(first.get_or_insert_with(|| found.clone()), &found);
            each_form!(csr, seed, |graph| checked(graph, csr, &run, epsilon));
            checked(&common::without_in_edges(&csr.graph()), csr, &run, epsilon);
        }
    }
}

proptest! {
    #![proptest_config(common::cases(150))]
    #[test]
    fn right_on_every_kind_of_graph(sample in common::samples()) {
        right(&sample.csr(|_| ()), sample.seed);
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
    for (directed, seed) in [(false, 1), (true, 2)] {
        let csr = large(directed, seed, |_| ());
        let one = checked(&csr.graph(), &csr, &common::run(1, true), 0.01);
        for threads in [2, 7] {
            assert_eq!(checked(&csr.graph(), &csr, &common::run(threads, false), 0.01), one);
        }
    }
}

#[test]
fn a_few_large_sets_are_taken() {
    // Three sets of a hundred elements cover the same as three hundred sets of two.
    let large = (0..300).map(|i| (i % 3, 3 + i, ()));
    let small = (0..300).flat_map(|i| [(303 + i, 3 + i, ()), (303 + i, 3 + (i + 1) % 300, ())]);
    let csr = Csr::directed(603, &large.chain(small).collect::<Vec<_>>()).unwrap();
    let mut found = checked(&csr.graph(), &csr, &common::run(2, false), 0.01);
    found.sets.sort_unstable();
    assert_eq!((found.sets, found.gains, found.covered), (vec![0, 1, 2], vec![100; 3], 300));
}

#[test]
fn bad_options_are_errors() {
    let csr = Csr::undirected(2, &[(0, 1, ())]).unwrap();
    for epsilon in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error =
            set_cover(&csr.graph(), &common::run(1, false), &SetCoverOptions { epsilon }).unwrap_err();
        assert!(error.to_string().contains("must be positive"), "{error}");
    }
}

#[test]
fn the_verifier_finds_faults() {
    let csr = Csr::directed(4, &[(0, 1, ()), (0, 2, ()), (3, 1, ())]).unwrap();
    let view = csr.graph();
    let out = view.rows(Direction::Out).unwrap();
    check::set_cover(out, &[0], &[2], &[NONE, 0, 0, NONE], 1.0).unwrap();
    check::set_cover(out, &[3, 0], &[1, 1], &[NONE, 3, 0, NONE], 1.4).unwrap();
    check::set_cover(out, &[3, 0], &[1, 1], &[NONE, 3, 0, NONE], 1.3).unwrap_err();
    check::set_cover(out, &[0], &[1], &[NONE, 0, NONE, NONE], 2.0).unwrap_err();
    check::set_cover(out, &[0], &[3], &[NONE, 0, 0, NONE], 2.0).unwrap_err();
    check::set_cover(out, &[0, 3], &[2, 0], &[NONE, 0, 0, NONE], 2.0).unwrap_err();
    check::set_cover(out, &[3], &[2], &[NONE, 3, 3, NONE], 2.0).unwrap_err();
    check::set_cover(out, &[3], &[2], &[NONE, 0, 0, NONE], 2.0).unwrap_err();
}

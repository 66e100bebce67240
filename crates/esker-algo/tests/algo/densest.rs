//! Dense subgraphs of random and awkward graphs.

use esker_algo::algorithm::cohesion::densest::{Densest, DensestOptions, densest};
use esker_algo::check;
use esker_graph::{Csr, Direction, Graph, Run, Stop};
use proptest::prelude::*;

use crate::common;
use crate::common::shapes::{awkward, each_form, large};

fn checked<G: Graph<Error = Stop>>(graph: &G, csr: &Csr, run: &Run, epsilon: f64) -> Densest {
    let found = densest(graph, run, &DensestOptions { epsilon }).expect("a subgraph");
    let view = csr.graph();
    let out = view.rows(Direction::Out).expect("out-lists");
    let Densest { members, density, levels, .. } = &found;
    let bound = 2.0 * (1.0 + epsilon) * density;
    assert_eq!(found.density_bound, bound);
    check::densest(out, view.is_directed(), members, *density, levels, bound).expect("a right answer");
    assert_eq!(found.size, members.iter().filter(|is| **is).count());
    found
}

fn right(csr: &Csr, seed: u64) {
    for epsilon in [0.001, 0.5] {
        let mut first = None;
        for run in common::runs(false) {
            each_form!(csr, seed, |graph| {
                let found = checked(graph, csr, &run, epsilon);
                assert_eq!(first.get_or_insert_with(|| found.clone()), &found);
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
        let one = checked(&csr.graph(), &csr, &common::run(1, true), 0.001);
        for threads in [2, 7] {
            assert_eq!(checked(&csr.graph(), &csr, &common::run(threads, false), 0.001), one);
        }
    }
}

#[test]
fn a_clique_with_a_tail_is_the_clique() {
    let clique = (0..20).flat_map(|u| (0..u).map(move |v| (v, u, ())));
    let edges: Vec<_> = clique.chain((20..1000).map(|v| (v - 1, v, ()))).collect();
    let csr = Csr::undirected(1000, &edges).unwrap();
    let found = checked(&csr.graph(), &csr, &common::run(2, false), 0.001);
    assert_eq!((found.size, found.density), (20, 9.5));
}

#[test]
fn bad_options_are_errors() {
    let csr = Csr::undirected(2, &[(0, 1, ())]).unwrap();
    for epsilon in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = densest(&csr.graph(), &common::run(1, false), &DensestOptions { epsilon }).unwrap_err();
        assert!(error.to_string().contains("must be positive"), "{error}");
    }
}

#[test]
fn the_verifier_finds_faults() {
    let csr = Csr::undirected(4, &[(0, 1, ()), (1, 2, ()), (2, 0, ()), (2, 3, ())]).unwrap();
    let view = csr.graph();
    let out = view.rows(Direction::Out).unwrap();
    let check = |members, density, levels, bound| check::densest(out, false, members, density, levels, bound);
    check(&[true, true, true, false], 1.0, &[1, 1, 1, 0], 2.0).unwrap();
    check(&[true, true, true, true], 1.0, &[1, 1, 1, 0], 2.0).unwrap();
    check(&[true, true, true, false], 1.5, &[1, 1, 1, 0], 2.0).unwrap_err();
    check(&[true, true, true, false], 1.0, &[0, 0, 0, 0], 2.0).unwrap_err();
    check(&[true, true, true, false], 1.0, &[1, 1, 1, 0], 1.5).unwrap_err();
}

//! Truss decompositions of random and awkward graphs.

use esker_algo::algorithm::cohesion::triangles::{TrianglesOptions, triangles};
use esker_algo::algorithm::cohesion::truss::{Truss, truss};
use esker_algo::check;
use esker_graph::{Csr, Direction, Lists, Run, Stop, VertexId, Weight};
use proptest::prelude::*;

use crate::common;
use crate::common::shapes::{FORMS, each_form};

fn checked<G: Lists<Error = Stop>, W: Weight>(graph: &G, csr: &Csr<W>, run: &Run) -> Truss {
    let found = truss(graph, run).expect("a decomposition");
    let view = csr.graph();
    check::truss(view.rows(Direction::Out).unwrap(), &found.edges, &found.trussness).expect("a right answer");
    assert_eq!(found.largest, found.trussness.iter().copied().max().unwrap_or(0));
    found
}

proptest! {
    #![proptest_config(common::cases(150))]
    #[test]
    fn right_on_every_kind_of_graph(sample in common::samples()) {
        let csr = sample.csr(|_| ());
        let mut answers = Vec::new();
        for run in common::runs(false) {
            each_form!(csr, sample.seed, |graph| answers.push(checked(graph, &csr, &run)));
        }
        let count = triangles(&csr.graph(), &common::run(1, false), &TrianglesOptions::default()).unwrap();
        prop_assert!(answers.iter().all(|found| found.triangles == count.triangles));
        prop_assert!(answers.iter().all(|found| found.trussness.len() == answers[0].trussness.len()));
        prop_assert_eq!(&answers[0], &answers[FORMS]);
        prop_assert_eq!(&answers[0], &answers[2 * FORMS]);
    }
}

/// So large that threads share rounds, and lists of different length are intersected.
#[test]
fn the_same_on_several_threads() {
    for seed in 0..4 {
        let csr = common::skewed(1200, 30_000, seed % 2 == 0, seed);
        let found = truss(&csr.graph(), &common::run(1, false)).unwrap();
        assert!(found.largest > 6, "{}", found.largest);
        for threads in [2, 5] {
            assert_eq!(truss(&csr.graph(), &common::run(threads, false)).unwrap(), found);
        }
    }
    let small = common::skewed(150, 1500, false, 9);
    checked(&small.graph(), &small, &common::run(3, false));
}

#[test]
fn cliques_are_trusses() {
    let pairs: Vec<_> = (0..20 as VertexId).flat_map(|u| (0..u).map(move |v| (u, v, ()))).collect();
    let csr = Csr::<()>::undirected(22, &[pairs, vec![(0, 20, ()), (21, 21, ())]].concat()).unwrap();
    let found = checked(&csr.graph(), &csr, &common::run(2, false));
    assert_eq!(found.trussness.iter().filter(|&&k| k == 20).count(), 190);
    assert_eq!(found.trussness.iter().filter(|&&k| k == 2).count(), 1);
    let directed = Csr::<()>::directed(3, &[(0, 1, ())]).unwrap();
    truss(&common::without_in_edges(&directed.graph()), &common::run(1, false)).unwrap_err();
}

#[test]
fn the_verifier_finds_faults() {
    let csr = Csr::<()>::undirected(4, &[(0, 1, ()), (1, 2, ()), (2, 0, ()), (2, 3, ())]).unwrap();
    let view = csr.graph();
    let out = view.rows(Direction::Out).unwrap();
    let edges = [(0, 1), (1, 2), (0, 2), (3, 2)];
    check::truss(out, &edges, &[3, 3, 3, 2]).unwrap();
    check::truss(out, &edges, &[3, 3, 3, 3]).unwrap_err();
    check::truss(out, &edges, &[3, 2, 3, 2]).unwrap_err();
    check::truss(out, &edges[..3], &[3, 3, 3]).unwrap_err();
    check::truss(out, &[(0, 1), (1, 2), (0, 2), (3, 1)], &[3, 3, 3, 2]).unwrap_err();
    check::truss(out, &[(0, 1), (1, 2), (0, 2), (1, 0)], &[3, 3, 3, 3]).unwrap_err();
}

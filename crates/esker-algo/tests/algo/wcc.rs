//! Weakly connected components on random graphs of many kinds.

use esker_algo::algorithm::components::wcc::{WccMethod, WccOptions, wcc};
use esker_algo::check;
use esker_graph::{Csr, Direction, Graph, Run, Stop};
use proptest::prelude::*;

use crate::common;
use crate::common::shapes::{each_form, shapes};
use crate::common::undirected;

fn checked<G: Graph<Error = Stop>>(graph: &G, csr: &Csr<i32>, run: &Run) {
    for sampled_neighbours in [0, 1, 2] {
        let options = WccOptions { sampled_neighbours, sampled_vertices: 10, ..WccOptions::default() };
        let found = wcc(graph, run, &options).expect("components");
        check::wcc(csr.graph().rows(Direction::Out).unwrap(), &found.labels).expect("a right answer");
        let roots = found.labels.iter().enumerate().filter(|&(v, &label)| v == label as usize).count();
        assert_eq!(found.components, roots);
    }
}

proptest! {
    #![proptest_config(common::cases(200))]
    #[test]
    fn right_on_every_kind_of_graph(sample in common::samples()) {
        let csr = sample.csr(|w| w as i32);
        let graph = csr.graph();
        for run in common::runs(false) {
            checked(&graph, &csr, &run);
            each_form!(csr, sample.seed, |form| { checked(form, &csr, &run); });
            checked(&common::without_in_edges(&graph), &csr, &run);
        }
    }
}

fn contracted<G: Graph<Error = Stop>, W: esker_graph::Weight>(graph: &G, csr: &Csr<W>, run: &Run, beta: f64) {
    let options = WccOptions { method: WccMethod::Contraction { beta }, ..WccOptions::default() };
    let found = wcc(graph, run, &options).expect("components");
    check::wcc(csr.graph().rows(Direction::Out).unwrap(), &found.labels).expect("a right answer");
    assert_eq!(found.components, wcc(graph, run, &WccOptions::default()).unwrap().components);
}

proptest! {
    #![proptest_config(common::cases(200))]
    #[test]
    fn contraction_is_right_on_every_kind_of_graph(
        sample in undirected(), beta in prop_oneof![0.05..0.5f64, 0.5..20.0],
    ) {
        let csr = sample.csr(|_| ());
        for run in common::runs(sample.seed.is_multiple_of(2)) {
            each_form!(csr, sample.seed, |graph| contracted(graph, &csr, &run, beta));
        }
    }
}

#[test]
fn contraction_of_large_graphs() {
    for sample in shapes(&[5000], 1) {
        let csr = sample.csr(|_| ());
        for beta in [0.2, 20.0] {
            contracted(&csr.graph(), &csr, &common::run(3, false), beta);
        }
    }
    // So dense that the edges between clusters do not fit: the graph is decomposed again, and linked at the
    // end.
    let dense = common::skewed(500, 40_000, false, 3);
    contracted(&dense.graph(), &dense, &common::run(2, false), 20.0);
    let directed = Csr::<()>::directed(2, &[(0, 1, ())]).unwrap();
    let options = WccOptions { method: WccMethod::Contraction { beta: 0.2 }, ..WccOptions::default() };
    wcc(&directed.graph(), &common::run(1, false), &options).unwrap_err();
}

#[test]
fn no_vertex_and_no_edge() {
    let run = common::run(2, false);
    let none = Csr::<()>::undirected(0, &[]).unwrap();
    assert_eq!(wcc(&none.graph(), &run, &WccOptions::default()).unwrap().components, 0);
    let three = Csr::<()>::directed(3, &[]).unwrap();
    assert_eq!(wcc(&three.graph(), &run, &WccOptions::default()).unwrap().labels, [0, 1, 2]);
}

#[test]
fn the_verifier_finds_faults() {
    let two = Csr::<()>::directed(4, &[(1, 0, ()), (3, 2, ())]).unwrap();
    let view = two.graph();
    let out = view.rows(Direction::Out).unwrap();
    check::wcc(out, &[0, 0, 2, 2]).unwrap();
    check::wcc(out, &[0, 0, 0, 0]).unwrap_err();
    check::wcc(out, &[0, 1, 2, 2]).unwrap_err();
    check::wcc(out, &[1, 1, 2, 2]).unwrap_err();
    check::wcc(out, &[0, 0, 2]).unwrap_err();
}

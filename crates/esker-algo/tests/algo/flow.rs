//! Maximum flows on random and awkward graphs.

use esker_algo::algorithm::flow::max_flow::{MaxFlow, max_flow};
use esker_algo::check;
use esker_algo::primitive::Ranked;
use esker_graph::{Csr, Direction, Graph, Run, Stop, VertexId};
use proptest::prelude::*;

use crate::common;
use crate::common::shapes::{awkward, each_form};

fn checked<W: Ranked, G: Graph<Error = Stop, Weight = W>>(
    graph: &G,
    csr: &Csr<W>,
    run: &Run,
    source: VertexId,
    target: VertexId,
) -> MaxFlow {
    let found = max_flow(graph, run, source, target).expect("a flow");
    let view = csr.graph();
    let out = view.rows(Direction::Out).expect("out-lists");
    check::max_flow(out, source, target, found.value, &found.source_side).expect("a right answer");
    found
}

fn right<W: Ranked>(csr: &Csr<W>, seed: u64, source: VertexId, target: VertexId) {
    let expected = checked(&csr.graph(), csr, &common::run(1, true), source, target);
    for run in common::runs(false) {
        each_form!(csr, seed, |graph| {
            assert_eq!(checked(graph, csr, &run, source, target), expected);
        });
    }
}

proptest! {
    #![proptest_config(common::cases(100))]
    #[test]
    fn right_on_every_kind_of_graph(sample in common::samples(), ends in any::<(u32, u32)>()) {
        let end = |pick: u32| (pick as usize % sample.num_vertices) as VertexId;
        let (source, target) = (end(ends.0), end(ends.1));
        right(&sample.csr(|_| ()), sample.seed, source, target);
        right(&sample.csr(|weight| weight as i32), sample.seed, source, target);
        right(&sample.csr(|weight| f64::from(weight) / 7.0), sample.seed, source, target);
    }
}

#[test]
fn right_on_awkward_graphs() {
    for sample in awkward().iter().filter(|sample| sample.num_vertices > 0) {
        right(&sample.csr(|weight| weight as i32), sample.seed, 0, sample.num_vertices as VertexId - 1);
    }
}

#[test]
fn known_flows() {
    let run = common::run(2, false);
    // A path along which flow has to go back, and parallel edges.
    let edges = [(0, 1, 1), (0, 2, 1), (1, 2, 1), (1, 3, 1), (2, 3, 1), (0, 3, 2), (0, 3, 3), (3, 0, 9)];
    let csr = Csr::directed(5, &edges).unwrap();
    let found = max_flow(&csr.graph(), &run, 0, 3).unwrap();
    assert_eq!((found.value, found.cut_arcs), (7.0, 4));
    assert_eq!(max_flow(&csr.graph(), &run, 3, 0).unwrap().value, 9.0);
    let apart = max_flow(&csr.graph(), &run, 0, 4).unwrap();
    assert_eq!((apart.value, apart.cut_arcs, apart.source_side[3]), (0.0, 0, true));
    let same = max_flow(&csr.graph(), &run, 2, 2).unwrap();
    assert_eq!((same.value, same.cut_arcs), (0.0, 0));
    let error = max_flow(&csr.graph(), &run, 0, 5).unwrap_err().to_string();
    assert!(error.contains("target 5 is not a vertex"), "{error}");
    let huge = Csr::directed(2, &[(0, 1, 1e308), (0, 1, 1e308)]).unwrap();
    let error = max_flow(&huge.graph(), &run, 0, 1).unwrap_err().to_string();
    assert!(error.contains("more than a number of 64 bits holds"), "{error}");
    let negative = Csr::directed(2, &[(0, 1, -1)]).unwrap();
    let error = max_flow(&negative.graph(), &run, 0, 1).unwrap_err().to_string();
    assert!(error.contains("cannot send a flow by the weight -1"), "{error}");
}

#[test]
fn the_verifier_finds_faults() {
    let csr = Csr::directed(3, &[(0, 1, 2), (1, 2, 1)]).unwrap();
    let view = csr.graph();
    let out = view.rows(Direction::Out).unwrap();
    check::max_flow(out, 0, 2, 1.0, &[true, true, false]).unwrap();
    check::max_flow(out, 0, 2, 2.0, &[true, false, false]).unwrap_err();
    check::max_flow(out, 0, 2, 2.0, &[true, true, false]).unwrap_err();
    check::max_flow(out, 0, 2, 1.0, &[true, true, true]).unwrap_err();
    check::max_flow(out, 0, 2, 1.0, &[true, true]).unwrap_err();
}

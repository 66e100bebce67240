//! Degrees on random and awkward graphs.

use esker_algo::algorithm::centrality::degrees::{DegreeOf, VertexDegrees, degrees, estimate};
use esker_algo::{Shape, check};
use esker_graph::{Csr, Direction, Graph, Run, RunOptions, Stop};
use proptest::prelude::*;

use crate::common;
use crate::common::shapes::{awkward, each_form};

const ALL: [DegreeOf; 3] = [DegreeOf::Out, DegreeOf::In, DegreeOf::Both];

fn checked<G: Graph<Error = Stop>>(graph: &G, csr: &Csr, run: &Run, of: DegreeOf) -> VertexDegrees {
    let found = degrees(graph, run, of).expect("degrees");
    let view = csr.graph();
    let out = view.rows(Direction::Out).expect("out-lists");
    check::degrees(out, of.directions(view.is_directed()), &found.degrees).expect("a right answer");
    assert_eq!(found.largest, found.degrees.iter().copied().max().unwrap_or(0));
    found
}

fn right(csr: &Csr, seed: u64) {
    for of in ALL {
        let expected = checked(&csr.graph(), csr, &common::run(1, true), of);
        for run in common::runs(false) {
            each_form!(csr, seed, |graph| {
                assert_eq!(checked(graph, csr, &run, of), expected);
            });
        }
    }
}

proptest! {
    #![proptest_config(common::cases(100))]
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
fn known_degrees() {
    let run = common::run(2, true);
    let edges = [(0, 1, ()), (0, 1, ()), (1, 2, ()), (2, 2, ())];
    let of = |csr: &Csr, of| degrees(&csr.graph(), &run, of).unwrap().degrees;
    let undirected = Csr::undirected(4, &edges).unwrap();
    ALL.into_iter().for_each(|which| assert_eq!(of(&undirected, which), [2, 3, 2, 0], "{which:?}"));
    let directed = Csr::directed(4, &edges).unwrap();
    assert_eq!(ALL.map(|which| of(&directed, which)), [[2, 1, 1, 0], [0, 2, 2, 0], [2, 3, 3, 0]]);
    let none = Csr::<()>::undirected(0, &[]).unwrap();
    assert_eq!(
        degrees(&none.graph(), &run, DegreeOf::Out).unwrap(),
        VertexDegrees { degrees: vec![], largest: 0 }
    );
}

#[test]
fn what_cannot_be_is_refused() {
    let csr = Csr::directed(2, &[(0, 1, ())]).unwrap();
    let one_way = common::without_in_edges(&csr.graph());
    assert_eq!(degrees(&one_way, &common::run(2, false), DegreeOf::Out).unwrap().degrees, [1, 0]);
    for of in [DegreeOf::In, DegreeOf::Both] {
        let error = degrees(&one_way, &common::run(2, false), of).unwrap_err();
        assert!(error.to_string().contains("needs in-edges"), "{error}");
    }
    let bytes = estimate(Shape::of(&csr.graph())).memory_bytes;
    let budget = esker_graph::Budget::new(bytes - 1);
    let run = Run::new(RunOptions { threads: 1, budget, ..RunOptions::default() }).unwrap();
    let error = degrees(&csr.graph(), &run, DegreeOf::Out).unwrap_err();
    assert!(error.to_string().contains("bytes of memory"), "{error}");
}

#[test]
fn the_verifier_finds_faults() {
    let csr = Csr::<()>::directed(3, &[(0, 1, ()), (1, 2, ())]).unwrap();
    let view = csr.graph();
    let out = view.rows(Direction::Out).unwrap();
    check::degrees(out, DegreeOf::Both.directions(true), &[1, 2, 1]).unwrap();
    for (of, wrong) in
        [(DegreeOf::Both, &[1, 1, 1][..]), (DegreeOf::In, &[1, 1, 0]), (DegreeOf::Out, &[1, 1])]
    {
        check::degrees(out, of.directions(true), wrong).unwrap_err();
    }
}

//! Topological orders and shortest cycles on random and awkward graphs.

use esker_algo::algorithm::order::cycle::cycle;
use esker_algo::algorithm::order::topological::{OrderOptions, order};
use esker_algo::check::{self, OrderClaim};
use esker_algo::primitive::Ranked;
use esker_graph::{Csr, Direction, Graph, Lists, NONE, Run, Stop, VertexId};
use proptest::prelude::*;

use crate::common::shapes::{awkward, each_form};
use crate::common::{self, Sample};

/// The order with its lengths and parents, as text.
fn checked<W: Ranked, G: Graph<Error = Stop, Weight = W>>(graph: &G, csr: &Csr<W>, run: &Run) -> String {
    let found = order(graph, run, OrderOptions { parents: true }).expect("an order");
    let view = csr.graph();
    let claim = OrderClaim {
        generations: &found.generations,
        count: found.count,
        unordered: found.unordered,
        lengths: found.lengths.as_deref(),
        parents: found.parents.as_deref(),
    };
    check::order(view.rows(Direction::Out).expect("out-lists"), &claim).expect("a right answer");
    let without = order(graph, run, OrderOptions::default()).expect("an order");
    assert!(without.parents.is_none());
    assert_eq!(without.generations, found.generations);
    let rounds = 0; // Without in-lists there is one more, which counts edges.
    format!("{:?}", esker_algo::algorithm::order::topological::Order { rounds, ..found })
}

fn orders_are_right<W: Ranked>(csr: &Csr<W>, seed: u64) {
    let expected = checked(&csr.graph(), csr, &common::run(1, true));
    for run in common::runs(false) {
        each_form!(csr, seed, |graph| {
            assert_eq!(checked(graph, csr, &run), expected);
        });
        assert_eq!(checked(&common::without_in_edges(&csr.graph()), csr, &run), expected);
    }
}

fn shortest<G: Lists<Error = Stop>>(graph: &G, csr: &Csr, run: &Run) -> Vec<VertexId> {
    let found = cycle(graph, run).expect("a cycle or none");
    let view = csr.graph();
    check::cycle(view.rows(Direction::Out).expect("out-lists"), &found).expect("a right answer");
    found
}

fn cycles_are_right(csr: &Csr, seed: u64) {
    let expected = shortest(&csr.graph(), csr, &common::run(1, true));
    for run in common::runs(false) {
        each_form!(csr, seed, |graph| {
            assert_eq!(shortest(graph, csr, &run), expected);
        });
    }
}

/// The same edges, each from the lesser vertex to the greater, but for every `back`th.
fn mostly_forward(sample: &Sample, back: usize) -> Sample {
    let turned = |(i, &(u, v)): (usize, &(VertexId, VertexId))| {
        if i % back == back - 1 { (u.max(v), u.min(v)) } else { (u.min(v), u.max(v)) }
    };
    let edges = sample.edges.iter().enumerate().filter(|(_, (u, v))| u != v).map(turned).collect();
    Sample { directed: true, edges, ..*sample }
}

proptest! {
    #![proptest_config(common::cases(100))]
    #[test]
    fn right_on_every_kind_of_graph(sample in common::samples(), back in 2usize..200) {
        for sample in [mostly_forward(&sample, back), mostly_forward(&sample, usize::MAX), sample] {
            orders_are_right(&sample.csr(|_| ()), sample.seed);
            orders_are_right(&sample.csr(|weight| weight as i32 - 30), sample.seed);
            orders_are_right(&sample.csr(|weight| f64::from(weight) / 7.0), sample.seed);
            cycles_are_right(&sample.csr(|_| ()), sample.seed);
        }
    }

    /// Without edges that go back, all vertices are ordered, and no cycle is found.
    #[test]
    fn graphs_without_cycles_are_told(sample in common::samples()) {
        let csr = mostly_forward(&sample, usize::MAX).csr(|_| ());
        let run = common::run(2, false);
        prop_assert_eq!(order(&csr.graph(), &run, OrderOptions::default()).unwrap().unordered, 0);
        prop_assert!(cycle(&csr.graph(), &run).unwrap().is_empty());
    }
}

#[test]
fn right_on_awkward_graphs() {
    for sample in awkward() {
        orders_are_right(&sample.csr(|_| ()), sample.seed);
        cycles_are_right(&sample.csr(|_| ()), sample.seed);
    }
}

#[test]
fn a_ring_of_many_vertices_is_one_cycle_and_takes_no_time() {
    let n = 40_000;
    let edges: Vec<_> = (0..n).map(|v| (v, (v + 1) % n, ())).collect();
    let csr = Csr::directed(n as usize, &edges).unwrap();
    let run = common::run(2, false);
    assert_eq!(cycle(&csr.graph(), &run).unwrap(), (0..n).collect::<Vec<_>>());
    let found = order(&csr.graph(), &run, OrderOptions::default()).unwrap();
    assert!(found.generations.iter().all(|&of| of == NONE) && found.count == 0 && found.longest == 0.0);
}

#[test]
fn known_orders() {
    let run = common::run(2, false);
    // A path that can begin anew where all before it is negative, and a cycle with a tail.
    let edges = [(0, 1, -5), (1, 2, 3), (0, 2, -1), (3, 4, 1), (4, 3, 1), (4, 5, 1), (2, 5, 1)];
    let csr = Csr::directed(6, &edges).unwrap();
    let found = order(&csr.graph(), &run, OrderOptions { parents: true }).unwrap();
    assert_eq!(found.generations, [0, 1, 2, NONE, NONE, NONE]);
    assert_eq!((found.count, found.unordered, found.longest), (3, 3, 3.0));
    assert_eq!(found.lengths.unwrap()[..3], [0.0, 0.0, 3.0]);
    assert_eq!(found.parents.unwrap(), [0, 1, 1, NONE, NONE, NONE]);
    let unweighted = Csr::directed(6, &edges.map(|(u, v, _)| (u, v, ()))).unwrap();
    assert_eq!(cycle(&unweighted.graph(), &run).unwrap(), [3, 4]);
    let error = cycle(&common::without_in_edges(&unweighted.graph()), &run).unwrap_err().to_string();
    assert!(error.contains("needs in-edges"), "{error}");
}

#[test]
fn the_verifiers_find_faults() {
    let csr = Csr::<()>::directed(4, &[(0, 1, ()), (1, 2, ()), (2, 1, ()), (0, 3, ())]).unwrap();
    let view = csr.graph();
    let out = view.rows(Direction::Out).unwrap();
    let right = OrderClaim {
        generations: &[0, NONE, NONE, 1],
        count: 2,
        unordered: 2,
        lengths: Some(&[0.0, f64::NAN, f64::NAN, 1.0]),
        parents: Some(&[0, NONE, NONE, 0]),
    };
    check::order(out, &right).unwrap();
    for wrong in [
        OrderClaim { generations: &[0, NONE, NONE, 2], count: 3, ..right },
        OrderClaim { generations: &[0, NONE, NONE, NONE], count: 1, unordered: 3, ..right },
        OrderClaim { generations: &[0, 1, 2, 1], count: 3, unordered: 0, ..right },
        OrderClaim { unordered: 1, ..right },
        OrderClaim { lengths: Some(&[0.0, f64::NAN, f64::NAN, 2.0]), ..right },
        OrderClaim { parents: Some(&[0, NONE, NONE, 3]), ..right },
        OrderClaim { parents: Some(&[0, NONE, NONE, 2]), ..right },
    ] {
        check::order(out, &wrong).unwrap_err();
    }
    check::cycle(out, &[1, 2]).unwrap();
    for wrong in [&[][..], &[1], &[0, 1, 2], &[1, 2, 1, 2], &[3]] {
        check::cycle(out, wrong).unwrap_err();
    }
    let ring = Csr::<()>::directed(4, &[(0, 1, ()), (1, 2, ()), (2, 3, ()), (3, 0, ()), (2, 0, ())]).unwrap();
    check::cycle(ring.graph().rows(Direction::Out).unwrap(), &[0, 1, 2, 3]).unwrap_err();
}

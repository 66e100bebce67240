//! Minimum spanning forests of random and awkward graphs.

use esker_algo::algorithm::components::msf::{Msf, msf};
use esker_algo::check;
use esker_algo::primitive::Ranked;
use esker_graph::{Csr, Direction, Graph, Run, Stop};
use proptest::prelude::*;

use crate::common;
use crate::common::shapes::{each_form, shapes};
use crate::common::undirected;

fn checked<G: Graph<Weight = W, Error = Stop>, W: Ranked>(graph: &G, csr: &Csr<W>, run: &Run) -> Msf<W> {
    let found = msf(graph, run).expect("a forest");
    let view = csr.graph();
    check::msf(view.rows(Direction::Out).unwrap(), &found.edges, found.trees).expect("a right answer");
    assert!(found.edges.iter().all(|edge| edge.0 < edge.1));
    let sum: f64 = found.edges.iter().map(|edge| edge.2.as_f64()).sum();
    assert_eq!(sum, found.weight);
    found
}

fn on_all<W: Ranked>(csr: &Csr<W>, seed: u64) {
    for run in common::runs(false) {
        each_form!(csr, seed, |graph| {
            let found = msf(graph, &run).expect("a forest");
            assert_eq!(found.edges.len(), graph.num_vertices() - found.trees);
        });
        assert!(checked(&csr.graph(), csr, &run).edges.is_sorted_by_key(|edge| (edge.0, edge.1)));
        checked(&esker_graph::Fragmented::new(csr.graph(), seed), csr, &run);
    }
    let settled: Vec<_> = common::runs(true).iter().map(|run| checked(&csr.graph(), csr, run)).collect();
    assert!(settled.iter().all(|found| found == &settled[0]));
    let pieces = esker_graph::Fragmented::new(csr.graph(), seed);
    assert_eq!(checked(&pieces, csr, &common::run(7, true)), settled[0]);
}

#[test]
fn nothing_weighs_zero() {
    let run = common::run(2, false);
    for edges in [&[][..], &[(1, 1, 3.0)], &[(0, 1, -0.0)]] {
        let csr = Csr::<f64>::undirected(2, edges).unwrap();
        let weight = msf(&csr.graph(), &run).unwrap().weight;
        assert_eq!(weight.to_bits(), 0, "{weight} of {edges:?}");
    }
}

proptest! {
    #![proptest_config(common::cases(150))]
    #[test]
    fn right_on_every_kind_of_graph(sample in undirected(), kind in 0..7) {
        match kind {
            // Weights: few distinct, none, negative, extreme, fractional.
            0 => on_all(&sample.csr(|w| w as i32 % 3), sample.seed),
            1 => on_all(&sample.csr(|_| ()), sample.seed),
            2 => on_all(&sample.csr(|w| i64::from(w) - 50), sample.seed),
            3 => on_all(&sample.csr(|w| [i64::MIN, i64::MAX, 0, -1, i64::MAX - 1][w as usize % 5]), sample.seed),
            4 => on_all(&sample.csr(|w| [i32::MIN, i32::MAX, 7][w as usize % 3]), sample.seed),
            5 => on_all(&sample.csr(|w| w as f32 / 7.0 - 3.0), sample.seed),
            _ => on_all(
                &sample.csr(|w| [f64::MAX, -1e-300, 0.0, -0.0, f64::MIN, 1.0][w as usize % 6]),
                sample.seed,
            ),
        }
    }
}

#[test]
fn large_graphs_on_several_threads() {
    for sample in shapes(&[9000], 3) {
        let csr = sample.csr(|w| w as i32);
        for threads in [2, 8] {
            checked(&csr.graph(), &csr, &common::run(threads, false));
        }
    }
}

#[test]
fn nothing_and_what_cannot_be_done() {
    let run = common::run(2, false);
    let none = Csr::<i32>::undirected(0, &[]).unwrap();
    assert_eq!(msf(&none.graph(), &run).unwrap().trees, 0);
    let directed = Csr::<i32>::directed(2, &[(0, 1, 3)]).unwrap();
    let error = msf(&directed.graph(), &run).unwrap_err().to_string();
    assert_eq!(
        error,
        "minimum spanning forest needs an undirected graph: import the edges as undirected, or run it with `as_undirected = true`"
    );
    let odd = Csr::undirected(3, &[(0, 1, 3.0), (1, 2, f32::NAN)]).unwrap();
    assert_eq!(
        msf(&odd.graph(), &run).unwrap_err().to_string(),
        "cannot compute a minimum spanning forest: a weight is not a number"
    );
}

#[test]
fn the_verifier_finds_faults() {
    let csr = Csr::undirected(4, &[(0, 1, 5), (1, 2, 1), (2, 0, 2), (2, 3, 9), (2, 3, 8)]).unwrap();
    let view = csr.graph();
    let out = view.rows(Direction::Out).unwrap();
    check::msf(out, &[(1, 2, 1), (0, 2, 2), (2, 3, 8)], 1).unwrap();
    check::msf(out, &[(1, 2, 1), (0, 1, 5), (2, 3, 8)], 1).unwrap_err();
    check::msf(out, &[(1, 2, 1), (0, 2, 2), (2, 3, 9)], 1).unwrap_err();
    check::msf(out, &[(1, 2, 1), (0, 2, 2), (2, 3, 7)], 1).unwrap_err();
    check::msf(out, &[(1, 2, 1), (0, 2, 2)], 2).unwrap_err();
}

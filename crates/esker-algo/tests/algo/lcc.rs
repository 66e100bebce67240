//! Local clustering coefficients of random graphs of many kinds.

use esker_algo::algorithm::cohesion::lcc::{Lcc, LccOptions, lcc};
use esker_algo::algorithm::cohesion::triangles::CountingOrder;
use esker_algo::check;
use esker_graph::{Csr, Direction, Lists, Run, Stop};
use proptest::prelude::*;

use crate::common;
use crate::common::shapes::each_form;

const ORDERS: [CountingOrder; 3] = [CountingOrder::Auto, CountingOrder::Given, CountingOrder::Degree];

fn checked<G: Lists<Error = Stop>>(graph: &G, csr: &Csr, run: &Run, order: CountingOrder) -> Lcc {
    let found = lcc(graph, run, &LccOptions { order }).expect("coefficients");
    let view = csr.graph();
    let out = view.rows(Direction::Out).expect("out-lists");
    check::lcc(out, &found.coefficients).expect("a right answer");
    check::triangles(out, found.triangles).expect("a right count");
    found
}

proptest! {
    #![proptest_config(common::cases(300))]
    #[test]
    fn right_on_every_kind_of_graph(sample in common::samples()) {
        let csr = sample.csr(|_| ());
        let graph = csr.graph();
        for run in [common::run(1, false), common::run(3, true)] {
            let first = checked(&graph, &csr, &run, CountingOrder::Auto);
            for order in ORDERS {
                prop_assert_eq!(&checked(&graph, &csr, &run, order).coefficients, &first.coefficients);
                each_form!(csr, sample.seed, |form| { checked(form, &csr, &run, order); });
            }
        }
    }
}

#[test]
fn right_with_rows_of_bits_and_beyond_them() {
    for seed in 0..2 {
        for directed in [false, true] {
            let csr = common::skewed(3000, 60_000, directed, seed);
            for order in ORDERS {
                let answers = [1, 2].map(|t| checked(&csr.graph(), &csr, &common::run(t, true), order));
                assert_eq!(answers[0], answers[1]);
                assert!(answers[0].triangles > 10_000);
            }
        }
    }
}

/// Computed by hand from the definition in the LDBC Graphalytics specification.
#[test]
fn as_graphalytics_defines_it() {
    // 0 has the neighbours 1, 2, 3 with the edges 1 -> 2, 2 -> 1 and 2 -> 3: three of six ordered pairs.
    let edges = [(0, 1, ()), (2, 0, ()), (0, 3, ()), (1, 2, ()), (2, 1, ()), (2, 3, ()), (3, 4, ())];
    let run = common::run(2, false);
    let directed = Csr::directed(6, &edges).unwrap();
    let found = checked(&directed.graph(), &directed, &run, CountingOrder::Auto);
    let expected = [3.0 / 6.0, 1.0 / 2.0, 2.0 / 6.0, 1.0 / 6.0, 0.0, 0.0];
    assert_eq!(found.coefficients, expected);
    assert!((found.average - expected.iter().sum::<f64>() / 6.0).abs() < 1e-15);
    assert_eq!(found.triangles, 2);
    // Without directions, 1 - 2 and 2 - 3 are two of three pairs.
    let undirected = Csr::undirected(6, &edges).unwrap();
    let found = checked(&undirected.graph(), &undirected, &run, CountingOrder::Auto);
    assert_eq!(found.coefficients, [2.0 / 3.0, 1.0, 2.0 / 3.0, 1.0 / 3.0, 0.0, 0.0]);
}

#[test]
fn empty_graphs_and_what_is_missing() {
    let run = common::run(2, false);
    let none = Csr::<()>::undirected(0, &[]).unwrap();
    let found = lcc(&none.graph(), &run, &LccOptions::default()).unwrap();
    assert_eq!((found.coefficients, found.average), (vec![], 0.0));
    let csr = Csr::<()>::directed(2, &[(0, 1, ())]).unwrap();
    let error = lcc(&common::without_in_edges(&csr.graph()), &run, &LccOptions::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "local clustering coefficient on a directed graph needs in-edges: import it with in-edges, or as undirected"
    );
    run.cancel().cancel();
    assert_eq!(lcc(&csr.graph(), &run, &LccOptions::default()), Err(Stop::Cancelled));
}

#[test]
fn the_verifier_finds_faults() {
    let csr = Csr::<()>::directed(3, &[(0, 1, ()), (1, 2, ()), (2, 0, ()), (0, 2, ())]).unwrap();
    let view = csr.graph();
    let out = view.rows(Direction::Out).unwrap();
    check::lcc(out, &[0.5, 1.0, 0.5]).unwrap();
    check::lcc(out, &[0.5, 0.5, 0.5]).unwrap_err();
    check::lcc(out, &[0.5, 1.0]).unwrap_err();
}

//! Eccentricities on random and awkward graphs.

use esker_algo::algorithm::centrality::eccentricity::{Eccentricity, eccentricity};
use esker_algo::check;
use esker_graph::{Csr, Direction, Graph, Run, Stop, VertexId};
use proptest::prelude::*;

use crate::common;
use crate::common::shapes::{awkward, each_form};

fn checked<G: Graph<Error = Stop>>(graph: &G, csr: &Csr, run: &Run) -> Eccentricity {
    let found = eccentricity(graph, run).expect("eccentricities");
    let view = csr.graph();
    let out = view.rows(Direction::Out).expect("out-lists");
    check::eccentricity(out, &found.eccentricities, found.diameter, found.radius).expect("a right answer");
    found
}

fn right(csr: &Csr, seed: u64) {
    let expected = checked(&csr.graph(), csr, &common::run(1, true));
    for run in common::runs(false) {
        each_form!(csr, seed, |graph| {
            let found = checked(graph, csr, &run);
            assert_eq!((found.components, found.sources), (expected.components, expected.sources));
        });
    }
}

proptest! {
    #![proptest_config(common::cases(100))]
    #[test]
    fn right_on_every_kind_of_graph(sample in common::undirected()) {
        right(&sample.csr(|_| ()), sample.seed);
    }
}

#[test]
fn right_on_awkward_graphs() {
    for sample in awkward().into_iter().filter(|sample| !sample.directed) {
        right(&sample.csr(|_| ()), sample.seed);
    }
}

/// More components, and a larger one, than searches run together.
#[test]
fn many_components_are_searched_together() {
    const PAIRS: VertexId = 300;
    let pairs = (0..PAIRS).map(|i| (2 * i, 2 * i + 1, ()));
    let first = 2 * PAIRS;
    let path = (0..400).map(|i| (first + i, first + i + 1, ()));
    let edges: Vec<_> = pairs.chain(path).collect();
    let csr = Csr::undirected(first as usize + 402, &edges).unwrap();
    let found = checked(&csr.graph(), &csr, &common::run(2, false));
    assert_eq!((found.diameter, found.radius, found.components), (400, 0, PAIRS as usize + 2));
    assert_eq!(found.eccentricities[first as usize + 200], 200);
}

/// Bounds spare searches: in a graph with hubs, fewer than half of the vertices are sources.
#[test]
fn not_all_vertices_are_sources() {
    let csr = common::skewed(1000, 8000, false, 3);
    let found = checked(&csr.graph(), &csr, &common::run(2, false));
    assert!(found.sources < 500, "{} sources", found.sources);
}

#[test]
fn no_vertices_and_directed_graphs() {
    let run = common::run(2, false);
    let none = Csr::<()>::undirected(0, &[]).unwrap();
    let found = eccentricity(&none.graph(), &run).unwrap();
    assert_eq!((found.eccentricities.len(), found.diameter, found.radius), (0, 0, 0));
    let directed = Csr::directed(2, &[(0, 1, ())]).unwrap();
    let error = eccentricity(&directed.graph(), &run).unwrap_err().to_string();
    assert!(error.contains("undirected"), "{error}");
}

#[test]
fn the_verifier_finds_faults() {
    let path = Csr::<()>::undirected(3, &[(0, 1, ()), (1, 2, ())]).unwrap();
    let view = path.graph();
    let out = view.rows(Direction::Out).unwrap();
    check::eccentricity(out, &[2, 1, 2], 2, 1).unwrap();
    check::eccentricity(out, &[2, 2, 2], 2, 2).unwrap_err();
    check::eccentricity(out, &[2, 1, 2], 3, 1).unwrap_err();
    check::eccentricity(out, &[2, 1, 2], 2, 0).unwrap_err();
    check::eccentricity(out, &[2, 1], 2, 1).unwrap_err();
}

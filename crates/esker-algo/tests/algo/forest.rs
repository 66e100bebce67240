//! Spanning forests of random and awkward graphs.

use esker_algo::algorithm::components::forest::{Forest, ForestMethod, ForestOptions, forest};
use esker_algo::check;
use esker_graph::{Csr, Direction, Graph, Run, Stop, Weight};
use proptest::prelude::*;

use crate::common;
use crate::common::shapes::{each_form, shapes};
use crate::common::undirected;

fn checked<G: Graph<Error = Stop>, W: Weight>(
    graph: &G,
    csr: &Csr<W>,
    run: &Run,
    options: &ForestOptions,
) -> Forest {
    let found = forest(graph, run, options).expect("a forest");
    let view = csr.graph();
    check::forest(view.rows(Direction::Out).unwrap(), &found.edges, found.trees).expect("a right answer");
    found
}

const METHODS: [ForestMethod; 2] = [ForestMethod::UnionFind, ForestMethod::Search];

proptest! {
    #![proptest_config(common::cases(250))]
    #[test]
    fn right_on_every_kind_of_graph(sample in undirected(), sampled_neighbours in 0usize..4) {
        let csr = sample.csr(|_| ());
        for method in METHODS {
            let options = ForestOptions { method, sampled_neighbours, sampled_vertices: 10 };
            for run in common::runs(false) {
                each_form!(csr, sample.seed, |graph| { checked(graph, &csr, &run, &options); });
            }
        }
    }

    #[test]
    fn deterministic_runs_agree(sample in undirected()) {
        let csr = sample.csr(|_| ());
        let mut answers = Vec::new();
        for run in common::runs(true) {
            for method in METHODS {
                let options = ForestOptions { method, ..ForestOptions::default() };
                answers.push(checked(&csr.graph(), &csr, &run, &options));
                answers.push(checked(&common::fragmented(&csr.graph(), &sample), &csr, &run, &options));
            }
        }
        answers.dedup();
        prop_assert_eq!(answers.len(), 1);
    }
}

#[test]
fn large_graphs_on_several_threads() {
    for sample in shapes(&[9000], 3) {
        let csr = sample.csr(|_| ());
        for threads in [2, 8] {
            let run = common::run(threads, false);
            let options = ForestOptions { sampled_neighbours: threads % 3, ..ForestOptions::default() };
            checked(&csr.graph(), &csr, &run, &options);
        }
    }
    let skewed = common::skewed(3000, 20_000, false, 8);
    checked(&skewed.graph(), &skewed, &common::run(4, false), &ForestOptions::default());
}

#[test]
fn nothing_and_what_cannot_be_done() {
    let run = common::run(2, false);
    let none = Csr::<()>::undirected(0, &[]).unwrap();
    assert_eq!(forest(&none.graph(), &run, &ForestOptions::default()).unwrap().trees, 0);
    let directed = Csr::<()>::directed(2, &[(0, 1, ())]).unwrap();
    let error = forest(&directed.graph(), &run, &ForestOptions::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "spanning forest needs an undirected graph: import the edges as undirected, or run it with `as_undirected = true`"
    );
}

#[test]
fn the_verifier_finds_faults() {
    let edges = [(0, 1, ()), (1, 2, ()), (2, 0, ()), (3, 4, ())];
    let csr = Csr::<()>::undirected(6, &edges).unwrap();
    let view = csr.graph();
    let out = view.rows(Direction::Out).unwrap();
    check::forest(out, &[(0, 1), (2, 1), (4, 3)], 3).unwrap();
    check::forest(out, &[(0, 1), (2, 1), (4, 3)], 2).unwrap_err();
    check::forest(out, &[(0, 1), (2, 1)], 4).unwrap_err();
    check::forest(out, &[(0, 1), (2, 1), (0, 2), (4, 3)], 2).unwrap_err();
    check::forest(out, &[(0, 1), (2, 1), (5, 3)], 3).unwrap_err();
    check::forest(out, &[(0, 1), (2, 1), (6, 3)], 3).unwrap_err();
}

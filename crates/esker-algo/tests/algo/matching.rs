//! Maximal matchings of random and awkward graphs.

use esker_algo::algorithm::sets::matching::{Matching, MatchingMethod, MatchingOptions, matching};
use esker_algo::check;
use esker_graph::{Csr, Direction, Lists, NONE, Run, RunOptions, Stop, Weight};
use proptest::prelude::*;

use crate::common;
use crate::common::shapes::{each_form, shapes};
use crate::common::undirected;

const METHODS: [MatchingMethod; 2] = [MatchingMethod::Claims, MatchingMethod::Priorities];

fn checked<G: Lists<Error = Stop>, W: Weight>(
    graph: &G,
    csr: &Csr<W>,
    run: &Run,
    method: MatchingMethod,
) -> Matching {
    let found = matching(graph, run, &MatchingOptions { method }).expect("a matching");
    let view = csr.graph();
    check::matching(view.rows(Direction::Out).unwrap(), &found.mates, found.edges).expect("a right answer");
    found
}

fn seeded(threads: usize, seed: u64, deterministic: bool) -> Run {
    Run::new(RunOptions { threads, seed, deterministic, ..RunOptions::default() }).unwrap()
}

proptest! {
    #![proptest_config(common::cases(250))]
    #[test]
    fn right_on_every_kind_of_graph(sample in undirected()) {
        let csr = sample.csr(|_| ());
        for method in METHODS {
            for threads in [1, 2, 7] {
                let run = seeded(threads, sample.seed, false);
                each_form!(csr, sample.seed, |graph| { checked(graph, &csr, &run, method); });
            }
        }
    }

    #[test]
    fn deterministic_runs_agree(sample in undirected()) {
        let csr = sample.csr(|_| ());
        let mut answers = Vec::new();
        for threads in [1, 2, 7] {
            let run = seeded(threads, sample.seed, true);
            for method in METHODS {
                answers.push(checked(&csr.graph(), &csr, &run, method));
                answers.push(checked(&common::fragmented(&csr.graph(), &sample), &csr, &run, method));
            }
        }
        answers.dedup();
        prop_assert_eq!(answers.len(), 1);
    }
}

/// Many threads compete for few vertices.
#[test]
fn large_graphs_on_several_threads() {
    for sample in shapes(&[9000], 3) {
        let csr = sample.csr(|_| ());
        for method in METHODS {
            for threads in [2, 8] {
                checked(&csr.graph(), &csr, &seeded(threads, 1, false), method);
            }
        }
    }
    for n in [100, 400, 3000] {
        let skewed = common::skewed(n, 40_000, false, 8);
        for seed in 0..5 {
            for method in METHODS {
                checked(&skewed.graph(), &skewed, &seeded(8, seed, false), method);
            }
        }
    }
}

#[test]
fn leaves_choose_first() {
    // A path of four whose middle edge comes first in the lists: the matching has both outer edges
    // nevertheless.
    let csr = Csr::<()>::undirected(4, &[(2, 0, ()), (0, 1, ()), (1, 3, ())]).unwrap();
    assert_eq!(checked(&csr.graph(), &csr, &common::run(1, false), MatchingMethod::Claims).edges, 2);
}

#[test]
fn nothing_and_what_cannot_be_done() {
    let run = common::run(2, false);
    let none = Csr::<()>::undirected(1, &[(0, 0, ())]).unwrap();
    for method in METHODS {
        assert_eq!(checked(&none.graph(), &none, &run, method).mates, [NONE]);
    }
    let directed = Csr::<()>::directed(2, &[(0, 1, ())]).unwrap();
    let error = matching(&directed.graph(), &run, &MatchingOptions::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "maximal matching needs an undirected graph: import the edges as undirected, or run it with `as_undirected = true`"
    );
}

#[test]
fn the_verifier_finds_faults() {
    let csr = Csr::<()>::undirected(5, &[(0, 1, ()), (1, 2, ()), (2, 3, ()), (4, 4, ())]).unwrap();
    let view = csr.graph();
    let out = view.rows(Direction::Out).unwrap();
    check::matching(out, &[NONE, 2, 1, NONE, NONE], 1).unwrap();
    check::matching(out, &[1, 0, 3, 2, NONE], 2).unwrap();
    check::matching(out, &[1, 0, 3, 2, NONE], 1).unwrap_err();
    check::matching(out, &[1, 0, NONE, NONE, NONE], 1).unwrap_err();
    check::matching(out, &[3, 2, 1, 0, NONE], 2).unwrap_err();
    check::matching(out, &[1, 2, 1, NONE, NONE], 1).unwrap_err();
    check::matching(out, &[NONE, 2, 1, NONE, 4], 1).unwrap_err();
}

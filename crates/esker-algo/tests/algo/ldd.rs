//! Low-diameter decompositions of random and awkward graphs.

use esker_algo::algorithm::components::ldd::{Ldd, LddOptions, ldd};
use esker_algo::check;
use esker_graph::{Csr, Direction, Graph, Run, RunOptions, Stop, vertex};
use proptest::prelude::*;

use crate::common;
use crate::common::shapes::{each_form, shapes};
use crate::common::undirected;

fn checked<G: Graph<Error = Stop>, W: esker_graph::Weight>(
    graph: &G,
    csr: &Csr<W>,
    run: &Run,
    options: &LddOptions,
) -> (Ldd, u64) {
    let found = ldd(graph, run, options).expect("a decomposition");
    let view = csr.graph();
    let out = view.rows(Direction::Out).unwrap();
    let between = check::ldd(out, &found.clusters, found.radius).expect("a right answer");
    let centres = found.clusters.iter().enumerate().filter(|&(v, &c)| v == c as usize).count();
    assert_eq!(found.count, centres);
    assert_eq!(found.trees.is_some(), options.trees);
    if let Some(trees) = &found.trees {
        check::ldd_trees(out, &found.clusters, &trees.parents, &trees.depths).expect("right trees");
    }
    (found, between)
}

fn seeded(threads: usize, seed: u64, deterministic: bool) -> Run {
    Run::new(RunOptions { threads, seed, deterministic, ..RunOptions::default() }).unwrap()
}

proptest! {
    #![proptest_config(common::cases(250))]
    #[test]
    fn right_on_every_kind_of_graph(
        sample in undirected(), beta in prop_oneof![0.01..0.1f64, 0.1..1.0, 1.0..8.0], trees: bool,
    ) {
        let csr = sample.csr(|_| ());
        let options = LddOptions { beta, trees };
        for threads in [1, 2, 7] {
            let run = seeded(threads, sample.seed, threads == 2);
            each_form!(csr, sample.seed, |graph| { checked(graph, &csr, &run, &options); });
        }
    }

    #[test]
    fn deterministic_runs_agree(sample in undirected(), beta in 0.02..2.0f64) {
        let csr = sample.csr(|_| ());
        let options = LddOptions { beta, trees: true };
        let mut answers = Vec::new();
        for threads in [1, 2, 7] {
            let run = seeded(threads, sample.seed, true);
            answers.push(checked(&csr.graph(), &csr, &run, &options).0);
            answers.push(checked(&common::fragmented(&csr.graph(), &sample), &csr, &run, &options).0);
        }
        answers.dedup();
        prop_assert_eq!(answers.len(), 1);
    }
}

#[test]
fn large_graphs_on_several_threads() {
    for (i, sample) in shapes(&[9000], 3).iter().enumerate() {
        let csr = sample.csr(|_| ());
        let options = LddOptions { trees: i % 2 == 0, ..LddOptions::default() };
        checked(&csr.graph(), &csr, &seeded(3, 1, i % 3 == 0), &options);
    }
}

/// On average at most about 2 beta of the edges are cut, and the radius is at most a small multiple of log n
/// / beta.
#[test]
fn few_edges_are_cut_and_radii_are_small() {
    let side = 120usize;
    let edges: Vec<_> = (0..side * side)
        .flat_map(|v| {
            let across = (v % side + 1 < side).then_some((vertex(v), vertex(v + 1), ()));
            let down = (v + side < side * side).then_some((vertex(v), vertex(v + side), ()));
            across.into_iter().chain(down)
        })
        .collect();
    let csr = Csr::undirected(side * side, &edges).unwrap();
    for beta in [0.02, 0.05, 0.1, 0.2, 0.4] {
        let mut cut = 0.0;
        for seed in 0..10 {
            let options = LddOptions { beta, trees: true };
            let (found, between) = checked(&csr.graph(), &csr, &seeded(2, seed, seed % 2 == 0), &options);
            cut += between as f64 / (2.0 * edges.len() as f64) / 10.0;
            let limit = 2.0 * ((side * side) as f64).ln() / beta + 2.0;
            assert!((found.radius as f64) < limit, "{} of {limit}", found.radius);
        }
        assert!(cut < 2.2 * beta && cut > 0.2 * beta, "{cut} of the edges for {beta}");
    }
}

#[test]
fn says_what_it_cannot_do() {
    let run = common::run(2, false);
    let directed = Csr::<()>::directed(2, &[(0, 1, ())]).unwrap();
    let error = ldd(&directed.graph(), &run, &LddOptions::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "low-diameter decomposition needs an undirected graph: import the edges as undirected, or run it with `as_undirected = true`"
    );
    let none = Csr::<()>::undirected(0, &[]).unwrap();
    assert_eq!(ldd(&none.graph(), &run, &LddOptions::default()).unwrap().count, 0);
    let error =
        ldd(&none.graph(), &run, &LddOptions { beta: f64::NAN, trees: false }).unwrap_err().to_string();
    assert_eq!(error, "beta is NaN but must be from 0.001 to 20");
}

#[test]
fn the_verifier_finds_faults() {
    let path = Csr::<()>::undirected(4, &[(0, 1, ()), (1, 2, ()), (2, 3, ())]).unwrap();
    let view = path.graph();
    let out = view.rows(Direction::Out).unwrap();
    assert_eq!(check::ldd(out, &[1, 1, 1, 3], 1), Ok(2));
    check::ldd(out, &[1, 1, 1, 1], 1).unwrap_err();
    check::ldd(out, &[0, 1, 0, 3], 3).unwrap_err();
    check::ldd(out, &[1, 0, 1, 3], 3).unwrap_err();
    check::ldd(out, &[1, 1, 1], 1).unwrap_err();
    check::ldd_trees(out, &[1, 1, 1, 3], &[1, 1, 1, 3], &[1, 0, 1, 0]).unwrap();
    check::ldd_trees(out, &[1, 1, 1, 3], &[1, 1, 0, 3], &[1, 0, 1, 0]).unwrap_err();
    check::ldd_trees(out, &[1, 1, 1, 3], &[1, 1, 1, 3], &[1, 0, 2, 0]).unwrap_err();
    check::ldd_trees(out, &[1, 1, 1, 3], &[1, 1, 1, 2], &[1, 0, 1, 0]).unwrap_err();
    check::ldd_trees(out, &[1, 1, 1, 3], &[1, 1, 1, 3], &[1, 0, 1]).unwrap_err();
}

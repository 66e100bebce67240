//! Spanners of random and awkward graphs.

use esker_algo::algorithm::components::spanner::{Spanner, SpannerOptions, spanner};
use esker_algo::algorithm::paths::bfs::{BfsOptions, bfs};
use esker_algo::check;
use esker_graph::{Csr, Direction, Graph, NONE, Run, RunOptions, Stop, Weight, vertex};
use proptest::prelude::*;

use crate::common;
use crate::common::shapes::{each_form, shapes};
use crate::common::undirected;

fn checked<G: Graph<Error = Stop>, W: Weight>(
    graph: &G,
    csr: &Csr<W>,
    run: &Run,
    k: Option<usize>,
) -> Spanner {
    let found = spanner(graph, run, &SpannerOptions { k }).expect("a spanner");
    let view = csr.graph();
    let out = view.rows(Direction::Out).unwrap();
    check::spanner(out, &found.edges, &found.clusters, found.radius).expect("a right answer");
    assert_eq!(found.stretch, 4 * found.radius + 1);
    found
}

fn seeded(threads: usize, seed: u64, deterministic: bool) -> Run {
    Run::new(RunOptions { threads, seed, deterministic, ..RunOptions::default() }).unwrap()
}

/// Measures all distances: each grows at most by the stretch.
fn distances_stretch<W: Weight>(csr: &Csr<W>, found: &Spanner) {
    let graph = csr.graph();
    let n = graph.num_vertices();
    let edges: Vec<_> = found.edges.iter().map(|&(u, v)| (u, v, ())).collect();
    let spanner = Csr::undirected(n, &edges).unwrap();
    let run = common::run(1, false);
    for source in (0..n).map(vertex) {
        let before = bfs(&graph, &run, &[source], &BfsOptions::default()).unwrap().depths.unwrap();
        let after = bfs(&spanner.graph(), &run, &[source], &BfsOptions::default()).unwrap().depths.unwrap();
        for (before, after) in before.into_iter().zip(after) {
            assert_eq!(before == NONE, after == NONE);
            assert!(before == NONE || after as usize <= before as usize * found.stretch);
        }
    }
}

proptest! {
    #![proptest_config(common::cases(200))]
    #[test]
    fn right_on_every_kind_of_graph(sample in undirected(), k in prop::option::of(1usize..12)) {
        let csr = sample.csr(|_| ());
        for threads in [1, 2, 7] {
            let run = seeded(threads, sample.seed, false);
            each_form!(csr, sample.seed, |graph| { checked(graph, &csr, &run, k); });
        }
        distances_stretch(&csr, &checked(&csr.graph(), &csr, &seeded(2, sample.seed, false), k));
    }

    #[test]
    fn deterministic_runs_agree(sample in undirected(), k in prop::option::of(1usize..12)) {
        let csr = sample.csr(|_| ());
        let mut answers = Vec::new();
        for threads in [1, 2, 7] {
            let run = seeded(threads, sample.seed, true);
            answers.push(checked(&csr.graph(), &csr, &run, k));
            answers.push(checked(&common::fragmented(&csr.graph(), &sample), &csr, &run, k));
        }
        answers.dedup();
        prop_assert_eq!(answers.len(), 1);
    }
}

#[test]
fn few_edges_are_left_of_dense_graphs() {
    for sample in shapes(&[9000], 3) {
        let csr = sample.csr(|_| ());
        checked(&csr.graph(), &csr, &seeded(3, 1, false), None);
    }
    for seed in 0..5 {
        let skewed = common::skewed(3000, 60_000, false, seed);
        let found = checked(&skewed.graph(), &skewed, &seeded(2, seed, seed % 2 == 0), None);
        assert!(found.edges.len() < 6000, "{} edges", found.edges.len());
        assert!(found.radius <= 2 * found.k, "radius {} for k {}", found.radius, found.k);
        // So many clusters that pairs recur, far apart.
        checked(&skewed.graph(), &skewed, &seeded(2, seed, false), Some(2));
    }
}

#[test]
fn nothing_and_what_cannot_be_done() {
    let run = common::run(2, false);
    let none = Csr::<()>::undirected(0, &[]).unwrap();
    assert_eq!(spanner(&none.graph(), &run, &SpannerOptions::default()).unwrap().edges, []);
    let directed = Csr::<()>::directed(2, &[(0, 1, ())]).unwrap();
    let error = spanner(&directed.graph(), &run, &SpannerOptions::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a spanner needs an undirected graph: import the edges as undirected, or run it with `as_undirected = true`"
    );
}

#[test]
fn the_verifier_finds_faults() {
    let edges = [(0, 1, ()), (1, 2, ()), (2, 0, ()), (2, 3, ()), (3, 4, ())];
    let csr = Csr::<()>::undirected(5, &edges).unwrap();
    let view = csr.graph();
    let out = view.rows(Direction::Out).unwrap();
    let clusters = [1, 1, 1, 4, 4];
    check::spanner(out, &[(0, 1), (1, 2), (2, 3), (3, 4)], &clusters, 1).unwrap();
    check::spanner(out, &[(0, 1), (1, 2), (3, 4)], &clusters, 1).unwrap_err();
    check::spanner(out, &[(0, 1), (2, 3), (3, 4)], &clusters, 1).unwrap_err();
    check::spanner(out, &[(0, 1), (0, 2), (2, 3), (3, 4)], &clusters, 1).unwrap_err();
    check::spanner(out, &[(0, 1), (1, 2), (1, 3), (3, 4)], &clusters, 1).unwrap_err();
}

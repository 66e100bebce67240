//! Betweenness on random graphs of many kinds.

use esker_algo::algorithm::centrality::betweenness::{
    Betweenness, BetweennessOptions, Scale, Sources, betweenness,
};
use esker_algo::check;
use esker_graph::{Csr, Direction, Graph, Run, Stop, VertexId};
use proptest::prelude::*;

use crate::common;
use crate::common::shapes::each_form;

fn checked<G: Graph<Error = Stop>>(graph: &G, csr: &Csr, run: &Run, sources: &Sources) -> Betweenness {
    let options = BetweennessOptions { sources: sources.clone(), scale: Scale::Sum };
    let found = betweenness(graph, run, &options).expect("scores");
    let view = csr.graph();
    let out = view.rows(Direction::Out).unwrap();
    check::betweenness(out, &found.sources, 1.0, &found.scores, 1e-9).expect("a right answer");
    found
}

proptest! {
    #![proptest_config(common::cases(150))]
    #[test]
    fn right_on_every_kind_of_graph(sample in common::samples(), pick in any::<u32>(), count in 0usize..20) {
        let csr = sample.csr(|_| ());
        let graph = csr.graph();
        let one = (pick as usize % sample.num_vertices) as VertexId;
        for sources in [Sources::All, Sources::Sample(count), Sources::These(vec![one, one])] {
            for run in common::runs(false) {
                checked(&graph, &csr, &run, &sources);
                each_form!(csr, sample.seed, |form| { checked(form, &csr, &run, &sources); });
                checked(&common::without_in_edges(&graph), &csr, &run, &sources);
            }
            let answers: Vec<_> =
                common::runs(true).iter().map(|run| checked(&graph, &csr, run, &sources)).collect();
            prop_assert!(answers.iter().all(|answer| answer == &answers[0]));
        }
    }
}

fn path_scores(directed: bool, scale: Scale) -> Vec<f64> {
    let edges: [(VertexId, VertexId, ()); 3] = [(0, 1, ()), (1, 2, ()), (2, 3, ())];
    let made = if directed { Csr::directed } else { Csr::undirected };
    let options = BetweennessOptions { sources: Sources::All, scale };
    betweenness(&made(4, &edges).unwrap().graph(), &common::run(2, true), &options).unwrap().scores
}

#[test]
fn a_path_scores_as_in_networkx() {
    assert_eq!(path_scores(false, Scale::Pairs), [0.0, 2.0, 2.0, 0.0]);
    assert_eq!(path_scores(true, Scale::Pairs), [0.0, 2.0, 2.0, 0.0]);
    assert_eq!(path_scores(false, Scale::Fraction), [0.0, 2.0 / 3.0, 2.0 / 3.0, 0.0]);
    assert_eq!(path_scores(true, Scale::Fraction), [0.0, 1.0 / 3.0, 1.0 / 3.0, 0.0]);
}

#[test]
fn a_star_whose_leaves_are_sources_is_pulled_and_pushed() {
    // From a leaf of one of two joined stars, the rounds hold: the leaf, its hub, many leaves, the many
    // leaves of the other star.
    let leaves = 5000;
    let edges: Vec<_> = (2..leaves).map(|v| (v % 2, v, ())).chain([(0, 1, ())]).collect();
    let csr = Csr::undirected(leaves as usize, &edges).unwrap();
    for threads in [1, 2] {
        checked(&csr.graph(), &csr, &common::run(threads, false), &Sources::These(vec![2, 3, 0]));
    }
}

/// Twelve layers of 1,400 vertices, each joined to two of the next layer: levels that threads share, but for
/// which no array of all dependencies is made.
#[test]
fn levels_of_some_thousand_vertices() {
    let (layers, width) = (12, 1400);
    let at = |layer: VertexId, i: VertexId| 1 + layer * width + i % width;
    let within = |layer| {
        (0..width)
            .flat_map(move |i| [(at(layer, i), at(layer + 1, i)), (at(layer, i), at(layer + 1, 3 * i + 1))])
    };
    let edges = (0..width).map(|i| (0, at(0, i))).chain((0..layers - 1).flat_map(within));
    let edges: Vec<_> = edges.map(|(u, v)| (u, v, ())).collect();
    let n = at(layers, 0) as usize;
    for csr in [Csr::undirected(n, &edges), Csr::directed(n, &edges)].map(Result::unwrap) {
        let sources = Sources::These(vec![0, at(5, 7)]);
        for run in common::runs(false) {
            checked(&csr.graph(), &csr, &run, &sources);
        }
        let answers: Vec<_> =
            common::runs(true).iter().map(|run| checked(&csr.graph(), &csr, run, &sources)).collect();
        assert!(answers.iter().all(|answer| answer == &answers[0]));
    }
}

#[test]
fn more_paths_than_a_double_can_count() {
    // The second scaling meets numbers below 1, those of the single path after the first one, so logarithms
    // take over.
    for (diamonds, has_path) in [(1100, false), (1100, true), (2000, false), (2000, true)] {
        // Diamonds in a row: the number of paths doubles in each.
        let mut edges: Vec<(VertexId, VertexId, ())> = (0..diamonds)
            .flat_map(|d| [(0, 1), (0, 2), (1, 3), (2, 3)].map(|(u, v)| (3 * d + u, 3 * d + v, ())))
            .collect();
        let (end, path_len) = (3 * diamonds, if has_path { 2 * diamonds } else { 0 });
        // Beside them one path of the same length.
        edges.extend((0..path_len).map(|i| (if i == 0 { 0 } else { end + i }, end + i + 1, ())));
        let csr = Csr::directed((end + path_len + 1) as usize, &edges).unwrap();
        // The second source is near the end, and has few paths.
        let second = end - 9;
        let options = BetweennessOptions { sources: Sources::These(vec![0, second]), scale: Scale::Sum };
        for run in [common::run(1, false), common::run(2, false), common::run(2, true)] {
            for without in [false, true] {
                let found = if without {
                    betweenness(&common::without_in_edges(&csr.graph()), &run, &options).unwrap()
                } else {
                    betweenness(&csr.graph(), &run, &options).unwrap()
                };
                let view = csr.graph();
                let out = view.rows(Direction::Out).unwrap();
                check::betweenness(out, &found.sources, 1.0, &found.scores, 1e-9).unwrap();
                for (v, &score) in (0..).zip(&found.scores) {
                    // All paths to later vertices pass the first of a diamond, half of those past its end
                    // each of the next two.
                    let later = end.saturating_sub(v) + VertexId::from(v % 3 == 2);
                    let expected = if v > end {
                        (end + path_len - v) as f64
                    } else {
                        let share = if v % 3 == 0 { later as f64 } else { (later - 1) as f64 / 2.0 };
                        share * (f64::from(v > 0) + f64::from(v > second))
                    };
                    assert!((score - expected).abs() <= 1e-9 * expected, "{v}: {score}, not {expected}");
                }
            }
        }
    }
}

#[test]
fn the_verifier_counts_more_paths_than_a_double() {
    // Four parallel edges lead from each of 600 vertices to the next: 4^600 paths to the last.
    let edges: Vec<(VertexId, VertexId, ())> = (0..2400).map(|i| (i / 4, i / 4 + 1, ())).collect();
    let csr = Csr::directed(601, &edges).unwrap();
    for run in common::runs(false) {
        let found = checked(&csr.graph(), &csr, &run, &Sources::These(vec![0, 100]));
        assert!((found.scores[1] - 599.0).abs() < 1e-6 && (found.scores[101] - 998.0).abs() < 1e-6);
    }
}

#[test]
fn no_vertices_and_bad_sources() {
    let run = common::run(2, false);
    let none = Csr::<()>::undirected(0, &[]).unwrap();
    assert_eq!(betweenness(&none.graph(), &run, &BetweennessOptions::default()).unwrap().scores, []);
    let options = BetweennessOptions { sources: Sources::These(vec![0]), scale: Scale::Sum };
    let error = betweenness(&none.graph(), &run, &options).unwrap_err();
    assert_eq!(error.to_string(), "source 0 is not a vertex: the graph has 0 vertices");
}

#[test]
fn the_verifier_finds_faults() {
    let path = Csr::<()>::undirected(3, &[(0, 1, ()), (1, 2, ())]).unwrap();
    let view = path.graph();
    let out = view.rows(Direction::Out).unwrap();
    check::betweenness(out, &[0, 1, 2], 0.5, &[0.0, 1.0, 0.0], 1e-9).unwrap();
    check::betweenness(out, &[0, 1, 2], 0.5, &[0.0, 1.1, 0.0], 1e-9).unwrap_err();
    check::betweenness(out, &[0, 1, 2], 0.5, &[0.1, 1.0, 0.0], 1e-9).unwrap_err();
}

#[test]
fn counts_that_are_rounded_are_the_same_on_all_threads_of_a_deterministic_run() {
    // A square in which a king moves: 3 predecessors for most vertices, so that the order of additions
    // matters, levels that are shared among the threads, and up to 3^70 paths, beyond 2^53 and below 10^290.
    let side = 141;
    let at = |x: usize, y: usize| (x * side + y) as VertexId;
    let mut edges = Vec::new();
    for (x, y) in (0..side).flat_map(|x| (0..side).map(move |y| (x, y))) {
        for (right, up) in [(1, 0), (0, 1), (1, 1)] {
            if x + right < side && y + up < side {
                edges.push((at(x, y), at(x + right, y + up), ()));
            }
        }
        if x + 1 < side && y > 0 {
            edges.push((at(x, y), at(x + 1, y - 1), ()));
        }
    }
    let csr = Csr::undirected(side * side, &edges).unwrap();
    let sources = Sources::These(vec![at(70, 70), at(60, 71)]);
    let answers: Vec<_> =
        common::runs(true).iter().map(|run| checked(&csr.graph(), &csr, run, &sources)).collect();
    assert!(answers.len() > 1 && answers.iter().all(|answer| answer.scores == answers[0].scores));
}

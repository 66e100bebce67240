//! PageRank on random graphs of many kinds.

use esker_algo::algorithm::centrality::pagerank::{Criterion, PageRank, PageRankOptions, pagerank};
use esker_algo::algorithm::centrality::pagerank_weighted::pagerank_weighted;
use esker_algo::check;
use esker_graph::{Csr, Direction, Graph, Run, Stop, VertexId};
use proptest::prelude::*;

use crate::common;
use crate::common::shapes::each_form;

fn checked<G: Graph<Error = Stop>>(graph: &G, csr: &Csr, run: &Run, options: &PageRankOptions) -> PageRank {
    let found = pagerank(graph, run, options).expect("scores");
    assert!(found.converged && found.error < options.tolerance && found.rounds > 0);
    let teleport = options.teleport.as_ref().map(|weights| {
        let total: f64 = weights.iter().sum();
        weights.iter().map(|w| w / total).collect::<Vec<_>>()
    });
    let view = csr.graph();
    let out = view.rows(Direction::Out).unwrap();
    check::pagerank(out, options.damping, teleport.as_deref(), &found.scores, options.tolerance)
        .expect("a right answer");
    found
}

/// The scores after so many rounds, serially, that doubles change no more; of arcs, each with its chance to
/// be followed from its source.
fn exact(csr: &Csr<f64>, weigh: impl Fn(f64) -> f64, damping: f64, teleport: Option<&[f64]>) -> Vec<f64> {
    let view = csr.graph();
    let out = view.rows(Direction::Out).unwrap();
    let n = view.num_vertices();
    let total = teleport.map_or(1.0, |weights| weights.iter().sum());
    let jump = |v: usize| teleport.map_or(1.0 / n as f64, |weights| weights[v] / total);
    let mut scores: Vec<f64> = (0..n).map(jump).collect();
    for _ in 0..if damping < 0.9 { 400 } else { 3000 } {
        let (mut next, mut idle) = (vec![0.0; n], 0.0);
        for (u, score) in scores.iter().enumerate() {
            let (targets, weights) = out.list(u as VertexId);
            let strength: f64 = weights.iter().map(|&weight| weigh(weight)).sum();
            match strength > 0.0 {
                false => idle += score,
                true => targets.iter().zip(weights).for_each(|(&v, &weight)| {
                    next[v as usize] += score * (weigh(weight) / strength);
                }),
            }
        }
        scores = (0..n).map(|v| (1.0 - damping) * jump(v) + damping * (next[v] + idle * jump(v))).collect();
    }
    scores
}

/// Checks what an answer claims: the sum of the differences from the exact scores is at most the error, and
/// below the tolerance if it converged.
fn keeps_its_word(found: &PageRank, exact: &[f64], options: &PageRankOptions) -> Result<(), TestCaseError> {
    let off: f64 = found.scores.iter().zip(exact).map(|(score, exact)| (score - exact).abs()).sum();
    prop_assert!(off <= found.error + 1e-13, "{} off, but an error of {}: {:?}", off, found.error, options);
    prop_assert_eq!(found.converged, found.error < options.tolerance);
    prop_assert!(found.converged || found.rounds == options.rounds_max);
    Ok(())
}

proptest! {
    #![proptest_config(common::cases(150))]
    #[test]
    fn the_error_is_below_the_tolerance(
        sample in common::samples(),
        personal in any::<bool>(),
        damping in prop_oneof![Just(0.0), Just(0.5), Just(0.85), Just(0.97)],
        tolerance in prop_oneof![Just(0.3), Just(1e-2), Just(PageRankOptions::default().tolerance), Just(1e-9)],
        rounds_max in prop_oneof![3 => Just(3000), 1 => 0..5_usize],
    ) {
        let csr = sample.csr(|i| f64::from(i % 5));
        let teleport = (personal && sample.num_vertices > 1)
            .then(|| (0..sample.num_vertices).map(|v| (v % 3) as f64).collect::<Vec<_>>());
        let options = PageRankOptions { damping, tolerance, rounds_max, teleport, ..PageRankOptions::default() };
        let alike = exact(&csr, |_| 1.0, damping, options.teleport.as_deref());
        let weighted = exact(&csr, |weight| weight, damping, options.teleport.as_deref());
        let run = common::run(2, false);
        keeps_its_word(&pagerank(&csr.graph(), &run, &options).unwrap(), &alike, &options)?;
        keeps_its_word(&pagerank_weighted(&csr.graph(), &run, &options).unwrap(), &weighted, &options)?;
        each_form!(csr, sample.seed, |form| {
            keeps_its_word(&pagerank(form, &run, &options).unwrap(), &alike, &options)?;
            keeps_its_word(&pagerank_weighted(form, &run, &options).unwrap(), &weighted, &options)?;
        });
        let pushed = pagerank(&common::without_in_edges(&csr.graph()), &run, &options).unwrap();
        keeps_its_word(&pushed, &alike, &options)?;
    }

    #[test]
    fn right_on_every_kind_of_graph(sample in common::samples(), personal in any::<bool>()) {
        let csr = sample.csr(|_| ());
        let graph = csr.graph();
        let weights = (0..sample.num_vertices).map(|v| (v % 3) as f64).collect::<Vec<_>>();
        let options = PageRankOptions {
            tolerance: 1e-10,
            rounds_max: 1000,
            teleport: (personal && sample.num_vertices > 1).then_some(weights),
            ..PageRankOptions::default()
        };
        let mut scores = Vec::new();
        for run in common::runs(true) {
            scores.push(checked(&graph, &csr, &run, &options).scores);
            each_form!(csr, sample.seed, |form| { checked(form, &csr, &run, &options); });
            checked(&common::without_in_edges(&graph), &csr, &run, &options);
        }
        prop_assert_eq!(&scores[0], &scores[1]);
        prop_assert_eq!(&scores[0], &scores[2]);
    }
}

#[test]
fn many_vertices_give_the_same_bits_on_any_number_of_threads() {
    let n = 50_000;
    let edges: Vec<_> = (0..200_000u32)
        .map(|i| (i.wrapping_mul(0x9e37_79b9) >> 7, i.wrapping_mul(0x85eb_ca6b) >> 9))
        .map(|(u, v)| ((u % n) as VertexId, (v % n / 7) as VertexId, ()))
        .collect();
    let csr = Csr::directed(n as usize, &edges).unwrap();
    let scores = common::runs(true)
        .iter()
        .map(|run| checked(&csr.graph(), &csr, run, &PageRankOptions::default()).scores)
        .collect::<Vec<_>>();
    assert!(scores.iter().all(|s| s == &scores[0]));
}

/// A graph whose shares are kept in single precision at first; every ninth vertex has no out-edges.
fn many_vertices() -> Csr {
    let n = 40_000;
    let edges: Vec<_> = (0..160_000u32)
        .map(|i| (i.wrapping_mul(0x9e37_79b9) >> 7, i.wrapping_mul(0x85eb_ca6b) >> 9))
        .map(|(u, v)| (((u % n) / 9 * 9 + 1 + u % 8).min(n - 1), v % n / 5))
        .map(|(u, v)| (u as VertexId, v as VertexId, ()))
        .collect();
    Csr::directed(n as usize, &edges).unwrap()
}

#[test]
fn a_small_tolerance_ends_in_double_precision() {
    let csr = many_vertices();
    let options = PageRankOptions { tolerance: 1e-11, rounds_max: 1000, ..PageRankOptions::default() };
    for run in common::runs(true) {
        checked(&csr.graph(), &csr, &run, &options);
        checked(&common::without_in_edges(&csr.graph()), &csr, &run, &options);
    }
}

/// The change of a round says nothing of the error where each round leaves nearly all of it.
#[test]
fn a_small_change_is_no_small_error() {
    let csr = many_vertices();
    let change = PageRankOptions {
        damping: 0.99,
        tolerance: 1e-3,
        criterion: Criterion::Change,
        rounds_max: 10_000,
        ..PageRankOptions::default()
    };
    let run = common::run(2, false);
    let by_change = pagerank(&csr.graph(), &run, &change).unwrap();
    assert!(by_change.converged && by_change.residual < 1e-3);
    let by_error = PageRankOptions { criterion: Criterion::Error, ..change };
    let by_error = pagerank(&csr.graph(), &run, &by_error).unwrap();
    assert!(by_error.converged && by_error.error < 1e-3 && by_error.rounds > by_change.rounds);
}

#[test]
fn a_damping_of_one_never_converges() {
    let csr = Csr::<()>::undirected(3, &[(0, 1, ()), (1, 2, ()), (0, 2, ())]).unwrap();
    let options = PageRankOptions { damping: 1.0, tolerance: 0.5, ..PageRankOptions::default() };
    let found = pagerank(&csr.graph(), &common::run(1, false), &options).unwrap();
    assert_eq!((found.rounds, found.residual, found.converged), (100, 0.0, false));
    assert!(found.error.is_infinite());
}

#[test]
fn a_number_of_rounds_gives_the_scores_of_that_round() {
    let csr = many_vertices();
    let graph = csr.graph();
    let out = graph.rows(Direction::Out).unwrap();
    let n = graph.num_vertices();
    let mut expected = vec![1.0 / n as f64; n];
    for rounds in 0..30 {
        let options = PageRankOptions { tolerance: 0.0, rounds_max: rounds, ..PageRankOptions::default() };
        let found = pagerank(&graph, &common::run(2, false), &options).unwrap();
        assert_eq!((found.rounds, found.converged), (rounds, false));
        for (found, expected) in found.scores.iter().zip(&expected) {
            assert!((found - expected).abs() <= 3.4e-7 * expected, "{found}, not {expected}: round {rounds}");
        }
        let idle: f64 = (0..n).filter(|&u| out.list(u as VertexId).0.is_empty()).map(|u| expected[u]).sum();
        let mut next = vec![(0.15 + 0.85 * idle) / n as f64; n];
        for (u, score) in expected.iter().enumerate() {
            let list = out.list(u as VertexId).0;
            list.iter().for_each(|&v| next[v as usize] += 0.85 * score / list.len() as f64);
        }
        expected = next;
    }
}

#[test]
fn bad_options_and_no_vertices() {
    let run = common::run(1, false);
    let none = Csr::<()>::undirected(0, &[]).unwrap();
    let found = pagerank(&none.graph(), &run, &PageRankOptions::default()).unwrap();
    assert_eq!((found.scores.len(), found.converged), (0, true));
    let one = Csr::<()>::directed(1, &[]).unwrap();
    let damping = PageRankOptions { damping: 1.5, ..PageRankOptions::default() };
    let error = pagerank(&one.graph(), &run, &damping).unwrap_err();
    assert_eq!(error.to_string(), "damping 1.5 is not in 0..=1");
    let teleport = PageRankOptions { teleport: Some(vec![0.0]), ..PageRankOptions::default() };
    assert!(pagerank(&one.graph(), &run, &teleport).is_err());
    let short = PageRankOptions { rounds_max: 0, ..PageRankOptions::default() };
    let found = pagerank(&one.graph(), &run, &short).unwrap();
    assert_eq!((found.scores, found.converged), (vec![1.0], false));
}

#[test]
fn the_verifier_finds_faults() {
    let pair = Csr::<()>::undirected(2, &[(0, 1, ())]).unwrap();
    let view = pair.graph();
    let out = view.rows(Direction::Out).unwrap();
    check::pagerank(out, 0.85, None, &[0.5, 0.5], 1e-9).unwrap();
    check::pagerank(out, 0.85, None, &[0.6, 0.4], 1e-9).unwrap_err();
    check::pagerank(out, 0.85, None, &[0.6, 0.6], 1e-9).unwrap_err();
}

/// What a weight is worth in scores: 0 to 4, and on some vertices far more, or all of it next to nothing.
fn weight(i: u32) -> f64 {
    let small = f64::from(i * 7 % 5);
    match i % 11 {
        3 => small * 1e200,
        8 => small * 1e-290,
        _ => small,
    }
}

fn checked_by_weight<G: Graph<Weight = f64, Error = Stop>>(
    graph: &G,
    csr: &Csr<f64>,
    run: &Run,
    options: &PageRankOptions,
) -> PageRank {
    let found = pagerank_weighted(graph, run, options).expect("scores");
    assert!(found.converged);
    let view = csr.graph();
    let out = view.rows(Direction::Out).unwrap();
    check::pagerank_weighted(out, options.damping, None, &found.scores, options.tolerance)
        .expect("a right answer");
    found
}

proptest! {
    #![proptest_config(common::cases(100))]
    #[test]
    fn right_by_weights_on_every_kind_of_graph(sample in common::samples()) {
        let csr = sample.csr(weight);
        let options = PageRankOptions { tolerance: 1e-10, rounds_max: 1000, ..PageRankOptions::default() };
        let mut scores = Vec::new();
        for run in common::runs(true) {
            scores.push(checked_by_weight(&csr.graph(), &csr, &run, &options).scores);
            each_form!(csr, sample.seed, |form| { checked_by_weight(form, &csr, &run, &options); });
            checked_by_weight(&common::without_in_edges(&csr.graph()), &csr, &run, &options);
        }
        prop_assert_eq!(&scores[0], &scores[1]);
        prop_assert_eq!(&scores[0], &scores[2]);
    }
}

/// By hand: 0 gives three quarters to 1 and a quarter to 2, which give all back.
#[test]
fn weights_divide_the_score() {
    let csr = Csr::directed(3, &[(0, 1, 3), (0, 2, 1), (1, 0, 5), (2, 0, 9)]).unwrap();
    let run = common::run(1, false);
    let options = PageRankOptions { tolerance: 1e-12, rounds_max: 1000, ..PageRankOptions::default() };
    let scores = pagerank_weighted(&csr.graph(), &run, &options).unwrap().scores;
    let hub = (0.05 + 0.85 * 0.1) / (1.0 - 0.85 * 0.85);
    let expected = [hub, 0.05 + 0.85 * 0.75 * hub, 0.05 + 0.85 * 0.25 * hub];
    assert!(
        scores.iter().zip(expected).all(|(score, expected)| (score - expected).abs() < 1e-10),
        "{scores:?}"
    );
}

#[test]
fn weights_that_divide_nothing_are_refused() {
    let run = common::run(1, false);
    let options = PageRankOptions::default();
    for (weight, fragment) in
        [(-1.0, "the weight -1"), (f64::NAN, "NaN"), (f64::INFINITY, "inf"), (1e-308, "scale them")]
    {
        let csr = Csr::directed(2, &[(0, 1, weight)]).unwrap();
        let error = pagerank_weighted(&csr.graph(), &run, &options).unwrap_err().to_string();
        assert!(error.contains(fragment), "{error}");
    }
    let idle = Csr::directed(2, &[(0, 1, 0.0)]).unwrap();
    assert_eq!(pagerank_weighted(&idle.graph(), &run, &options).unwrap().scores, [0.5, 0.5]);
}

//! Eigenvector and Katz centrality and HITS on random and awkward graphs.

use esker_algo::algorithm::centrality::hits::{Hits, hits};
use esker_algo::algorithm::centrality::power::Iterations;
use esker_algo::algorithm::centrality::spectral::{Influence, SpectralScores, spectral};
use esker_algo::check::{self, HitsClaim, SpectralClaim};
use esker_algo::primitive::Ranked;
use esker_graph::{Csr, Direction, Graph, Run, Stop};
use proptest::prelude::*;

use crate::common;
use crate::common::shapes::{awkward, each_form};

const ITERATIONS: Iterations = Iterations { tolerance: 1e-8, rounds_max: 300 };
const INFLUENCES: [Influence; 4] = [
    Influence::Eigenvector,
    Influence::Katz { alpha: None, beta: 1.0, normalized: true },
    Influence::Katz { alpha: None, beta: 0.5, normalized: false },
    Influence::Katz { alpha: Some(0.001), beta: 2.0, normalized: false },
];

fn claim<'a>(influence: Influence, found: &'a SpectralScores) -> SpectralClaim<'a> {
    let (katz, is_normal) = match influence {
        Influence::Eigenvector => (None, true),
        Influence::Katz { beta, normalized, .. } => (Some((found.alpha, beta)), normalized),
    };
    SpectralClaim { scores: &found.scores, katz, is_normal, error: found.converged.then_some(found.error) }
}

fn scores<W: Ranked, G: Graph<Error = Stop, Weight = W>>(
    graph: &G,
    csr: &Csr<W>,
    run: &Run,
    influence: Influence,
) -> Vec<f64> {
    let found = spectral(graph, run, influence, ITERATIONS).expect("scores");
    let view = csr.graph();
    let out = view.rows(Direction::Out).expect("out-lists");
    check::spectral(out, &claim(influence, &found)).expect("a right answer");
    if matches!(influence, Influence::Katz { .. }) {
        assert!(found.converged, "{influence:?}: {found:?}");
    }
    found.scores
}

fn hubs<W: Ranked, G: Graph<Error = Stop, Weight = W>>(graph: &G, csr: &Csr<W>, run: &Run) -> Vec<f64> {
    let found = hits(graph, run, ITERATIONS).expect("scores");
    let view = csr.graph();
    let error = found.converged.then_some(found.error);
    let claim = HitsClaim { hubs: &found.hubs, authorities: &found.authorities, error };
    check::hits(view.rows(Direction::Out).expect("out-lists"), &claim).expect("a right answer");
    let Hits { mut hubs, authorities, .. } = found;
    hubs.extend(authorities);
    hubs
}

fn near(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-9 * a.abs().max(1e-3))
}

/// Scores are the same for any number of threads, and near for each form. A form is tried with one number of
/// threads, because a run has many rounds.
fn right<W: Ranked>(csr: &Csr<W>, seed: u64) {
    let (first, second) = (common::run(1, true), common::run(2, false));
    let one_way = common::without_in_edges(&csr.graph());
    for influence in INFLUENCES {
        let expected = scores(&csr.graph(), csr, &first, influence);
        for run in common::runs(false) {
            assert_eq!(scores(&csr.graph(), csr, &run, influence), expected);
        }
        each_form!(csr, seed, |graph| {
            assert!(near(&scores(graph, csr, &second, influence), &expected));
        });
        assert!(near(&scores(&one_way, csr, &second, influence), &expected));
    }
    let expected = hubs(&csr.graph(), csr, &first);
    for run in common::runs(false) {
        assert_eq!(hubs(&csr.graph(), csr, &run), expected);
    }
    each_form!(csr, seed, |graph| {
        assert!(near(&hubs(graph, csr, &second), &expected));
    });
    assert!(near(&hubs(&one_way, csr, &second), &expected));
}

proptest! {
    #![proptest_config(common::cases(50))]
    #[test]
    fn right_on_every_kind_of_graph(sample in common::samples()) {
        right(&sample.csr(|_| ()), sample.seed);
        right(&sample.csr(|weight| f64::from(weight) / 100.0), sample.seed);
    }
}

#[test]
fn right_on_awkward_graphs() {
    for sample in awkward() {
        right(&sample.csr(|_| ()), sample.seed);
    }
}

#[test]
fn known_scores() {
    let run = common::run(2, false);
    let path = Csr::undirected(3, &[(0, 1, ()), (1, 2, ())]).unwrap();
    // As NetworkX has them.
    let found = spectral(&path.graph(), &run, Influence::Eigenvector, ITERATIONS).unwrap();
    assert!((found.scores[0] - 0.5).abs() < 1e-6 && (found.scores[1] - 0.5_f64.sqrt()).abs() < 1e-6);
    let katz = Influence::Katz { alpha: Some(0.1), beta: 1.0, normalized: true };
    let found = spectral(&path.graph(), &run, katz, ITERATIONS).unwrap();
    let ratio = found.scores[1] / found.scores[0];
    assert!((ratio - 1.2 / 1.1).abs() < 1e-6, "{ratio}"); // x1 = 1 + 0.2 x0, x0 = 1 + 0.1 x1
    // An alpha beyond the greatest eigenvalue's inverse ends without an answer.
    let beyond = Influence::Katz { alpha: Some(10.0), beta: 1.0, normalized: false };
    let iterations = Iterations { rounds_max: 10_000, ..ITERATIONS };
    let found = spectral(&path.graph(), &run, beyond, iterations).unwrap();
    assert!(!found.converged && found.rounds < 1000);
    let none = Csr::<()>::undirected(0, &[]).unwrap();
    assert_eq!(spectral(&none.graph(), &run, Influence::Eigenvector, ITERATIONS).unwrap().scores, []);
    assert_eq!(hits(&none.graph(), &run, ITERATIONS).unwrap().hubs, []);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let run = common::run(1, false);
    let csr = Csr::directed(2, &[(0, 1, -1.5)]).unwrap();
    let error = hits(&csr.graph(), &run, ITERATIONS).unwrap_err().to_string();
    assert!(error.contains("weight -1.5: weights must not be negative"), "{error}");
    let iterations = Iterations { tolerance: 0.0, rounds_max: 3 };
    let error = spectral(&csr.graph(), &run, Influence::Eigenvector, iterations).unwrap_err().to_string();
    assert!(error.contains("the tolerance is 0"), "{error}");
}

#[test]
fn the_verifiers_find_faults() {
    let csr = Csr::undirected(3, &[(0, 1, ()), (1, 2, ())]).unwrap();
    let view = csr.graph();
    let out = view.rows(Direction::Out).unwrap();
    let wrong = SpectralClaim { scores: &[0.6, 0.64, 0.48], katz: None, is_normal: true, error: Some(1e-9) };
    check::spectral(out, &wrong).unwrap_err();
    check::spectral(out, &SpectralClaim { scores: &[1.0; 3], ..wrong }).unwrap_err();
    check::spectral(out, &SpectralClaim { scores: &[1.0; 2], ..wrong }).unwrap_err();
    let katz =
        SpectralClaim { scores: &[1.0; 3], katz: Some((0.1, 1.0)), is_normal: false, error: Some(0.0) };
    check::spectral(out, &katz).unwrap_err();
    let hubs = HitsClaim { hubs: &[0.3, 0.4, 0.3], authorities: &[0.5, 0.0, 0.5], error: Some(0.0) };
    check::hits(out, &hubs).unwrap_err();
    check::hits(out, &HitsClaim { hubs: &[0.5; 2], ..hubs }).unwrap_err();
}

/// If all edges weigh the same, the scores are those without weights, however large or small the weight.
#[test]
fn weights_of_any_size_rank_alike() {
    let run = common::run(2, false);
    let edges = [(0, 1), (1, 2), (2, 3), (3, 1)];
    let of = |weight: f64| {
        let edges: Vec<_> = edges.iter().map(|&(u, v)| (u, v, weight)).collect();
        let csr = Csr::undirected(4, &edges).unwrap();
        scores(&csr.graph(), &csr, &run, Influence::Eigenvector)
    };
    let plain = of(1.0);
    let tiny = Csr::undirected(2, &[(0, 1, 1e-320)]).unwrap();
    let error = spectral(&tiny.graph(), &run, Influence::Eigenvector, ITERATIONS).unwrap_err().to_string();
    assert!(error.contains("mean is below"), "{error}");
    for weight in [1e-300, 1e-7, 3.0, 1e154, 1e200, f64::MAX] {
        let scores = of(weight);
        let is_near = scores.iter().zip(&plain).all(|(a, b)| (a - b).abs() < 1e-4);
        assert!(is_near, "{weight}: {scores:?}, not {plain:?}");
    }
}

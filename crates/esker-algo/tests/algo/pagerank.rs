//! PageRank on random graphs of many kinds.

use esker_algo::algorithm::pagerank::{PageRank, PageRankOptions, pagerank};
use esker_algo::check;
use esker_graph::{Csr, Direction, Graph, Run, Stop, VertexId};
use proptest::prelude::*;

use crate::common;
use crate::common::shapes::each_form;

fn checked<G: Graph<Error = Stop>>(graph: &G, csr: &Csr, run: &Run, options: &PageRankOptions) -> PageRank {
    let found = pagerank(graph, run, options).expect("scores");
    assert!(found.converged && found.residual < options.tolerance && found.rounds > 0);
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

proptest! {
    #![proptest_config(common::cases(200))]
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

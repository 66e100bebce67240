//! Closeness on random graphs of many kinds.

use esker_algo::algorithm::centrality::betweenness::Sources;
use esker_algo::algorithm::centrality::closeness::{
    Closeness, ClosenessMeasure, ClosenessOptions, closeness,
};
use esker_algo::algorithm::centrality::closeness_weighted::closeness_weighted;
use esker_algo::check;
use esker_algo::lengths::Length;
use esker_algo::primitive::Ranked;
use esker_graph::{Csr, Direction, Graph, Run, Stop, VertexId};
use proptest::prelude::*;

use crate::common;
use crate::common::shapes::each_form;

fn checked<G: Graph<Error = Stop>>(graph: &G, csr: &Csr, run: &Run, sources: &Sources) -> Closeness {
    let options = ClosenessOptions { sources: sources.clone(), ..ClosenessOptions::default() };
    let mut found = closeness(graph, run, &options).expect("scores");
    let view = csr.graph();
    let out = view.rows(Direction::Out).unwrap();
    check::closeness(out, &found.sources, &found.scores).expect("right");
    let options = ClosenessOptions { measure: ClosenessMeasure::Harmonic, ..options };
    let harmonic = closeness(graph, run, &options).expect("scores");
    let factor = options.scale(graph.num_vertices(), found.sources.len());
    check::closeness_by_steps(out, &found.sources, true, factor, &harmonic.scores).expect("right");
    found.scores.extend(harmonic.scores);
    found
}

/// Both measures by weight.
fn by_weight<W: Length + Ranked, G: Graph<Error = Stop, Weight = W>>(
    graph: &G,
    csr: &Csr<W>,
    run: &Run,
    sources: &Sources,
    number: fn(W::Distance) -> f64,
) -> Vec<f64> {
    let view = csr.graph();
    let measures = [ClosenessMeasure::Classic, ClosenessMeasure::Harmonic].map(|measure| {
        let options = ClosenessOptions { sources: sources.clone(), measure };
        let found = closeness_weighted(graph, run, &options, number).expect("scores");
        let (out, factor) =
            (view.rows(Direction::Out).unwrap(), options.scale(graph.num_vertices(), found.sources.len()));
        let is_harmonic = measure == ClosenessMeasure::Harmonic;
        check::closeness_by_weight(out, &found.sources, is_harmonic, factor, &found.scores).expect("right");
        found.scores
    });
    measures.concat()
}

proptest! {
    #![proptest_config(common::cases(150))]
    #[test]
    fn right_on_every_kind_of_graph(sample in common::samples(), pick in any::<u32>(), count in 0usize..80) {
        let csr = sample.csr(|_| ());
        let graph = csr.graph();
        let one = (pick as usize % sample.num_vertices) as VertexId;
        for sources in [Sources::All, Sources::Sample(count), Sources::These(vec![one, 0, one])] {
            let expected = checked(&graph, &csr, &common::run(1, true), &sources).scores;
            for run in common::runs(false) {
                prop_assert_eq!(&checked(&graph, &csr, &run, &sources).scores, &expected);
                each_form!(csr, sample.seed, |form| { checked(form, &csr, &run, &sources); });
                checked(&common::without_in_edges(&graph), &csr, &run, &sources);
            }
        }
    }
}

proptest! {
    #![proptest_config(common::cases(60))]
    #[test]
    fn right_by_weight(sample in common::samples(), pick in any::<u32>(), count in 1usize..9) {
        let one = (pick as usize % sample.num_vertices) as VertexId;
        let (lengths, shares) = (sample.csr(|weight| weight as i32), sample.csr(|weight| f64::from(weight) / 7.0));
        for sources in [Sources::All, Sources::Sample(count), Sources::These(vec![one, 0])] {
            let first = common::run(1, true);
            let expected = by_weight(&lengths.graph(), &lengths, &first, &sources, |d| d as f64);
            let of_shares = by_weight(&shares.graph(), &shares, &first, &sources, |d| d);
            let run = common::run(2, false);
            each_form!(lengths, sample.seed, |form| {
                prop_assert_eq!(&by_weight(form, &lengths, &run, &sources, |d| d as f64), &expected);
            });
            prop_assert_eq!(&by_weight(&shares.graph(), &shares, &run, &sources, |d| d), &of_shares);
        }
    }
}

#[test]
fn scores_are_those_of_networkx() {
    let edges: [(VertexId, VertexId, ()); 3] = [(0, 1, ()), (1, 2, ()), (2, 3, ())];
    let scores = |csr: Csr| {
        closeness(&csr.graph(), &common::run(2, false), &ClosenessOptions::default()).unwrap().scores
    };
    assert_eq!(scores(Csr::undirected(4, &edges).unwrap()), [0.5, 0.75, 0.75, 0.5]);
    // Distances lead to a vertex, and a vertex that few others reach scores less.
    assert_eq!(scores(Csr::directed(4, &edges).unwrap()), [0.0, 1.0 / 3.0, 4.0 / 9.0, 0.5]);
    assert_eq!(scores(Csr::undirected(4, &edges[..2]).unwrap()), [4.0 / 9.0, 2.0 / 3.0, 4.0 / 9.0, 0.0]);
}

#[test]
fn no_vertices_and_bad_sources() {
    let run = common::run(2, false);
    let none = Csr::<()>::undirected(0, &[]).unwrap();
    assert_eq!(closeness(&none.graph(), &run, &ClosenessOptions::default()).unwrap().scores, []);
    let options = ClosenessOptions { sources: Sources::These(vec![0]), ..ClosenessOptions::default() };
    let error = closeness(&none.graph(), &run, &options).unwrap_err();
    assert_eq!(error.to_string(), "source 0 is not a vertex: the graph has 0 vertices");
}

#[test]
fn the_verifier_finds_faults() {
    let path = Csr::<()>::undirected(3, &[(0, 1, ()), (1, 2, ())]).unwrap();
    let view = path.graph();
    let out = view.rows(Direction::Out).unwrap();
    let right = [2.0 / 3.0, 1.0, 2.0 / 3.0];
    check::closeness(out, &[0, 1, 2], &right).unwrap();
    check::closeness(out, &[0, 1, 2], &[2.0 / 3.0, 0.9, 2.0 / 3.0]).unwrap_err();
    check::closeness(out, &[0, 1], &right).unwrap_err();
    check::closeness(out, &[0, 1, 2], &right[..2]).unwrap_err();
}

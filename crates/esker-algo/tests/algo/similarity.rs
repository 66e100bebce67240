//! Similarity on random and awkward graphs.

use esker_algo::algorithm::similarity::neighbours::{SimilarityMeasure, similarity};
use esker_algo::check;
use esker_graph::{Csr, Direction, Lists, Run, Stop, VertexId};
use proptest::prelude::*;

use crate::common;
use crate::common::shapes::{awkward, each_form};

const MEASURES: [(SimilarityMeasure, &str); 6] = [
    (SimilarityMeasure::Jaccard, "jaccard"),
    (SimilarityMeasure::Overlap, "overlap"),
    (SimilarityMeasure::Cosine, "cosine"),
    (SimilarityMeasure::AdamicAdar, "adamic-adar"),
    (SimilarityMeasure::ResourceAllocation, "resource-allocation"),
    (SimilarityMeasure::PreferentialAttachment, "preferential-attachment"),
];

fn checked<G: Lists<Error = Stop>>(graph: &G, csr: &Csr, run: &Run, source: VertexId) -> String {
    let view = csr.graph();
    let out = view.rows(Direction::Out).expect("out-lists");
    let each = MEASURES.map(|(measure, name)| {
        let found = similarity(graph, run, source, measure).expect("similarities");
        check::similarity(out, source, name, &found).expect("a right answer");
        found
    });
    format!("{each:?}") // NaN is the same as NaN
}

fn right(csr: &Csr, seed: u64, source: VertexId) {
    let expected = checked(&csr.graph(), csr, &common::run(1, true), source);
    let run = common::run(2, false);
    each_form!(csr, seed, |graph| {
        assert_eq!(checked(graph, csr, &run, source), expected);
    });
}

proptest! {
    #![proptest_config(common::cases(100))]
    #[test]
    fn right_on_every_kind_of_graph(sample in common::samples(), pick in any::<u32>()) {
        right(&sample.csr(|_| ()), sample.seed, (pick as usize % sample.num_vertices) as VertexId);
    }
}

#[test]
fn right_on_awkward_graphs() {
    for sample in awkward().iter().filter(|sample| sample.num_vertices > 0) {
        right(&sample.csr(|_| ()), sample.seed, 0);
    }
}

#[test]
fn known_similarities() {
    let run = common::run(1, false);
    let csr = Csr::undirected(5, &[(0, 1, ()), (0, 2, ()), (3, 1, ()), (3, 2, ()), (3, 4, ())]).unwrap();
    let of = |measure| similarity(&csr.graph(), &run, 0, measure).unwrap()[3];
    assert_eq!(of(SimilarityMeasure::Jaccard), 2.0 / 3.0);
    assert_eq!(of(SimilarityMeasure::Overlap), 1.0);
    assert_eq!(of(SimilarityMeasure::Cosine), 2.0 / 6.0_f64.sqrt());
    assert_eq!(of(SimilarityMeasure::AdamicAdar), 2.0 / 2.0_f64.ln());
    assert_eq!(of(SimilarityMeasure::ResourceAllocation), 1.0);
    assert_eq!(of(SimilarityMeasure::PreferentialAttachment), 6.0);
    let error = similarity(&csr.graph(), &run, 5, SimilarityMeasure::Jaccard).unwrap_err().to_string();
    assert!(error.contains("source 5 is not a vertex"), "{error}");
    let directed = Csr::directed(2, &[(0, 1, ())]).unwrap();
    let one_way = common::without_in_edges(&directed.graph());
    let error = similarity(&one_way, &run, 0, SimilarityMeasure::Jaccard).unwrap_err().to_string();
    assert!(error.contains("needs in-edges"), "{error}");
}

#[test]
fn the_verifier_finds_faults() {
    let csr = Csr::<()>::undirected(3, &[(0, 1, ()), (1, 2, ())]).unwrap();
    let view = csr.graph();
    let out = view.rows(Direction::Out).unwrap();
    check::similarity(out, 0, "jaccard", &[f64::NAN, f64::NAN, 1.0]).unwrap();
    check::similarity(out, 0, "jaccard", &[f64::NAN, f64::NAN, 0.5]).unwrap_err();
    check::similarity(out, 0, "jaccard", &[f64::NAN, 0.0, 1.0]).unwrap_err();
    check::similarity(out, 0, "jaccard", &[f64::NAN, f64::NAN]).unwrap_err();
}

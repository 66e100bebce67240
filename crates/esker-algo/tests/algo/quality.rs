//! The quality of groups on random graphs, and how much groupings agree.

use esker_algo::algorithm::communities::agreement::{Agreement, agreement};
use esker_algo::algorithm::communities::quality::{GivenGroups, Quality, quality};
use esker_algo::check::{self, QualityClaim};
use esker_algo::primitive::Ranked;
use esker_graph::{Csr, Direction, Graph, Run, Stop, VertexId};
use proptest::prelude::*;

use crate::common;
use crate::common::shapes::each_form;

fn checked<W: Ranked, G: Graph<Error = Stop, Weight = W>>(
    graph: &G,
    csr: &Csr<W>,
    run: &Run,
    of: &[VertexId],
    resolution: f64,
) -> Quality {
    let groups = GivenGroups { of, count: of.iter().max().map_or(0, |&last| last as usize + 1) };
    let found = quality(graph, run, groups, resolution).expect("figures");
    let view = csr.graph();
    let out = view.rows(Direction::Out).expect("out-lists");
    check::quality(out, graph.is_directed(), &claim(of, resolution, &found)).expect("a right answer");
    found
}

fn claim<'a>(groups: &'a [VertexId], resolution: f64, found: &Quality) -> QualityClaim<'a> {
    let Quality { modularity, coverage, conductance, worst_conductance, .. } = *found;
    QualityClaim { groups, resolution, modularity, coverage, conductance, worst_conductance }
}

fn right<W: Ranked>(csr: &Csr<W>, seed: u64, of: &[VertexId], resolution: f64) {
    let expected = checked(&csr.graph(), csr, &common::run(1, true), of, resolution);
    for run in common::runs(false) {
        each_form!(csr, seed, |graph| {
            assert_eq!(checked(graph, csr, &run, of, resolution), expected);
        });
    }
}

proptest! {
    #![proptest_config(common::cases(100))]
    #[test]
    fn right_on_every_kind_of_graph(sample in common::samples(), groups in 1u32..20, resolution in 0.1..3.0) {
        let of: Vec<VertexId> =
            (0..sample.num_vertices as u64).map(|v| (v * v % 31) as VertexId % groups as VertexId).collect();
        right(&sample.csr(|_| ()), sample.seed, &of, resolution);
        right(&sample.csr(|weight| weight as i32), sample.seed, &of, resolution);
        right(&sample.csr(|weight| f64::from(weight) * 1e-3), sample.seed, &of, resolution);
    }

    #[test]
    fn agreement_counts_pairs(
        labels in prop::collection::vec((0..6 as VertexId, 0..6 as VertexId), 2..60), shift in 1..5 as VertexId,
    ) {
        let (a, b): (Vec<VertexId>, Vec<VertexId>) = labels.iter().copied().unzip();
        let groups = |of| GivenGroups { of, count: 12 };
        let run = common::run(1, false);
        let found = agreement(&run, groups(&a), groups(&b)).unwrap();
        check::agreement(&a, &b, found.nmi, found.ari).unwrap();
        prop_assert!(found.ari <= 1.0 && (-1e-12..=1.0 + 1e-12).contains(&found.nmi));
        // Names do not matter, nor which comes first.
        let renamed: Vec<VertexId> = a.iter().map(|label| label + shift).collect();
        let same = agreement(&run, groups(&renamed), groups(&a)).unwrap();
        prop_assert!((same.ari - 1.0).abs() < 1e-12 && (same.nmi - 1.0).abs() < 1e-12);
        let turned = agreement(&run, groups(&b), groups(&renamed)).unwrap();
        prop_assert!((turned.ari - found.ari).abs() < 1e-12 && (turned.nmi - found.nmi).abs() < 1e-12);
    }
}

#[test]
fn known_figures() {
    let run = common::run(2, false);
    let of = |csr: &Csr, of: &[VertexId]| checked(&csr.graph(), csr, &run, of, 1.0);
    // NetworkX: modularity of [{0, 1, 2}, {3, 4}] of this directed graph is 0.24 with a loop at 4.
    let edges = [(0, 1, ()), (1, 2, ()), (2, 3, ()), (3, 4, ()), (4, 4, ())];
    let directed = of(&Csr::directed(5, &edges).unwrap(), &[0, 0, 0, 1, 1]);
    assert!((directed.modularity - (4.0 / 5.0 - (3.0 * 2.0 + 2.0 * 3.0) / 25.0)).abs() < 1e-12);
    // A loop counts twice in its degree: degrees 1, 2, 2, 2, 3.
    let undirected = of(&Csr::undirected(5, &edges).unwrap(), &[0, 0, 0, 1, 1]);
    assert!((undirected.modularity - (8.0 / 10.0 - (25.0 + 25.0) / 100.0)).abs() < 1e-12);
    assert!((undirected.conductance - 0.2).abs() < 1e-12);
    // One group of all has 1 - r, and no border.
    let one = of(&Csr::undirected(5, &edges).unwrap(), &[0; 5]);
    assert_eq!((one.modularity, one.coverage, one.conductance), (0.0, 1.0, 0.0));
    let nothing = Quality { rounds: 1, ..Quality::default() };
    assert_eq!(of(&Csr::undirected(3, &[]).unwrap(), &[0, 1, 2]), nothing);
    assert_eq!(of(&Csr::undirected(0, &[]).unwrap(), &[]), nothing);
}

#[test]
fn known_agreement() {
    let run = common::run(1, false);
    let found = |a: &[VertexId], b: &[VertexId]| {
        agreement(&run, GivenGroups { of: a, count: 6 }, GivenGroups { of: b, count: 6 }).unwrap()
    };
    // scikit-learn: adjusted_rand_score 0.5714285714285714, normalized_mutual_info_score 0.8.
    let Agreement { nmi, ari } = found(&[0, 0, 1, 2], &[0, 0, 1, 1]);
    assert!((ari - 4.0 / 7.0).abs() < 1e-12 && (nmi - 0.8).abs() < 1e-12);
    assert_eq!(found(&[0, 0, 0], &[5, 5, 5]), Agreement { nmi: 1.0, ari: 1.0 });
    assert_eq!(found(&[], &[]), Agreement { nmi: 1.0, ari: 1.0 });
    let error = agreement(&run, GivenGroups { of: &[0], count: 1 }, GivenGroups { of: &[], count: 0 });
    error.unwrap_err();
}

#[test]
fn what_makes_no_sense_is_refused() {
    let csr = Csr::undirected(2, &[(0, 1, -2.0)]).unwrap();
    let groups = GivenGroups { of: &[0, 0], count: 1 };
    let error = quality(&csr.graph(), &common::run(1, false), groups, 1.0).unwrap_err().to_string();
    assert!(error.contains("weight -2: weights must not be negative"), "{error}");
    let error = quality(&csr.graph(), &common::run(1, false), groups, 0.0).unwrap_err().to_string();
    assert!(error.contains("the resolution"), "{error}");
}

#[test]
fn the_verifiers_find_faults() {
    let csr = Csr::undirected(4, &[(0, 1, ()), (1, 2, ()), (2, 3, ())]).unwrap();
    let (view, of) = (csr.graph(), [0, 0, 1, 1]);
    let right = checked(&view, &csr, &common::run(1, false), &of, 1.0);
    let out = view.rows(Direction::Out).unwrap();
    for wrong in [
        Quality { modularity: right.modularity + 1e-6, ..right },
        Quality { coverage: 0.5, ..right },
        Quality { conductance: 0.5, ..right },
        Quality { worst_conductance: 0.5, ..right },
    ] {
        check::quality(out, false, &claim(&of, 1.0, &wrong)).unwrap_err();
    }
    check::quality(out, false, &claim(&of[1..], 1.0, &right)).unwrap_err();
    check::agreement(&[0, 1, 1], &[0, 0, 1], 0.9, -0.5).unwrap_err();
    check::agreement(&[0, 1, 1], &[0, 0, 1], 0.0, 0.0).unwrap_err();
}

//! Strength, reciprocity and assortativity on random and awkward graphs.

use esker_algo::algorithm::centrality::assortativity::{AssortativityOptions, assortativity};
use esker_algo::algorithm::centrality::degrees::DegreeOf;
use esker_algo::algorithm::centrality::reciprocity::{Reciprocity, reciprocity};
use esker_algo::algorithm::centrality::strength::{VertexStrengths, strength};
use esker_algo::check;
use esker_algo::primitive::Ranked;
use esker_graph::{Csr, Direction, Graph, Lists, Run, Stop};
use proptest::prelude::*;

use crate::common;
use crate::common::shapes::{awkward, each_form};

const ALL: [DegreeOf; 3] = [DegreeOf::Out, DegreeOf::In, DegreeOf::Both];

fn strengths<W: Ranked, G: Graph<Error = Stop, Weight = W>>(
    graph: &G,
    csr: &Csr<W>,
    run: &Run,
    of: DegreeOf,
) -> String {
    let found = strength(graph, run, of).expect("strengths");
    let view = csr.graph();
    let out = view.rows(Direction::Out).expect("out-lists");
    check::strength(out, of.directions(view.is_directed()), columns(&found)).expect("a right answer");
    format!("{found:?}") // NaN is the same as NaN
}

fn columns(found: &VertexStrengths) -> [&[f64]; 4] {
    [&found.sums, &found.means, &found.least, &found.greatest]
}

fn strengths_are_right<W: Ranked>(csr: &Csr<W>, seed: u64) {
    for of in ALL {
        let expected = strengths(&csr.graph(), csr, &common::run(1, true), of);
        for run in common::runs(false) {
            each_form!(csr, seed, |graph| {
                assert_eq!(strengths(graph, csr, &run, of), expected);
            });
        }
    }
}

fn mutual<G: Lists<Error = Stop>>(graph: &G, csr: &Csr, run: &Run) -> Reciprocity {
    let found = reciprocity(graph, run).expect("shares");
    let view = csr.graph();
    let out = view.rows(Direction::Out).expect("out-lists");
    check::reciprocity(out, &found.shares, found.overall).expect("a right answer");
    found
}

fn correlation<G: Graph<Error = Stop>>(
    graph: &G,
    csr: &Csr,
    run: &Run,
    options: AssortativityOptions,
) -> u64 {
    let found = assortativity(graph, run, options).expect("a number");
    let view = csr.graph();
    let out = view.rows(Direction::Out).expect("out-lists");
    let [source, target] = [options.source, options.target].map(|of| of.directions(view.is_directed()));
    check::assortativity(out, source, target, found).expect("a right answer");
    found.to_bits()
}

fn mixing_is_right(csr: &Csr, seed: u64) {
    let first = common::run(1, true);
    let expected = mutual(&csr.graph(), csr, &first).overall;
    for run in common::runs(false) {
        each_form!(csr, seed, |graph| {
            assert_eq!(mutual(graph, csr, &run).overall, expected);
        });
        for source in ALL {
            for target in ALL {
                let options = AssortativityOptions { source, target };
                let expected = correlation(&csr.graph(), csr, &first, options);
                each_form!(csr, seed, |graph| {
                    assert_eq!(correlation(graph, csr, &run, options), expected);
                });
            }
        }
    }
}

proptest! {
    #![proptest_config(common::cases(60))]
    #[test]
    fn right_on_every_kind_of_graph(sample in common::samples()) {
        strengths_are_right(&sample.csr(|weight| weight as i32 - 40), sample.seed);
        strengths_are_right(&sample.csr(|weight| f64::from(weight).powi(40) - 1e9), sample.seed);
        strengths_are_right(&sample.csr(|weight| f64::from(weight) * f64::MIN_POSITIVE / 8.0), sample.seed);
        mixing_is_right(&sample.csr(|_| ()), sample.seed);
    }
}

#[test]
fn right_on_awkward_graphs() {
    for sample in awkward() {
        strengths_are_right(&sample.csr(f64::from), sample.seed);
        mixing_is_right(&sample.csr(|_| ()), sample.seed);
    }
}

#[test]
fn sums_are_exact_and_cancel() {
    let run = common::run(2, false);
    let edges: [(u32, u32, f64); 5] =
        [(0, 1, 1e300), (0, 2, 3.0), (0, 1, -1e300), (1, 2, f64::MAX), (1, 0, f64::MAX)];
    let edges = edges.map(|(u, v, weight)| (u as _, v as _, weight));
    let VertexStrengths { sums, means, least, greatest, .. } =
        strength(&Csr::directed(3, &edges).unwrap().graph(), &run, DegreeOf::Out).unwrap();
    // What is below 2^-61 of the largest is cut off.
    assert_eq!((sums[0], least[0], greatest[0]), (0.0, -1e300, 1e300));
    assert_eq!((sums[1], means[1]), (f64::INFINITY, f64::MAX));
    assert!(sums[2] == 0.0 && means[2].is_nan() && least[2].is_nan());
    let odd = [(0, 1, i64::from(i32::MAX)), (0, 2, (1_i64 << 53) - 1), (0, 0, 2)];
    let found = strength(&Csr::directed(3, &odd).unwrap().graph(), &run, DegreeOf::Both).unwrap();
    assert_eq!(found.sums, [(i64::from(i32::MAX) + (1 << 53) + 3) as f64, 2147483647.0, 9007199254740991.0]);
    let bad = Csr::directed(2, &[(0, 1, f64::NAN)]).unwrap();
    let error = strength(&bad.graph(), &run, DegreeOf::Out).unwrap_err().to_string();
    assert!(error.contains("cannot add up the weight NaN"), "{error}");
}

#[test]
fn known_shares_and_correlations() {
    let run = common::run(2, false);
    let edges = [(0, 1, ()), (1, 0, ()), (1, 2, ()), (1, 2, ()), (2, 2, ())];
    let found = reciprocity(&Csr::directed(4, &edges).unwrap().graph(), &run).unwrap();
    assert_eq!((&found.shares[..3], found.overall), (&[1.0, 2.0 / 3.0, 0.0][..], 2.0 / 3.0));
    assert!(found.shares[3].is_nan());
    // NetworkX: degree_assortativity_coefficient of a path of four is -0.5.
    let path = Csr::undirected(4, &[(0, 1, ()), (1, 2, ()), (2, 3, ())]).unwrap();
    let of = |csr: &Csr| assortativity(&csr.graph(), &run, AssortativityOptions::default()).unwrap();
    assert!((of(&path) + 0.5).abs() < 1e-12);
    assert!(of(&Csr::undirected(3, &[]).unwrap()).is_nan());
    assert!(of(&Csr::undirected(2, &[(0, 1, ())]).unwrap()).is_nan());
}

#[test]
fn in_edges_are_needed() {
    let csr = Csr::directed(2, &[(0, 1, ())]).unwrap();
    let (one_way, run) = (common::without_in_edges(&csr.graph()), common::run(2, false));
    let errors = [
        reciprocity(&one_way, &run).unwrap_err(),
        strength(&one_way, &run, DegreeOf::In).unwrap_err(),
        assortativity(&one_way, &run, AssortativityOptions::default()).unwrap_err(),
    ];
    errors.iter().for_each(|error| assert!(error.to_string().contains("needs in-edges"), "{error}"));
}

#[test]
fn the_verifiers_find_faults() {
    let csr = Csr::directed(3, &[(0, 1, 2.0), (1, 2, 3.0), (1, 0, 4.0)]).unwrap();
    let view = csr.graph();
    let out = view.rows(Direction::Out).unwrap();
    let right = strength(&view, &common::run(1, false), DegreeOf::Out).unwrap();
    check::strength(out, &[Direction::Out], columns(&right)).unwrap();
    check::strength(out, &[Direction::In], columns(&right)).unwrap_err();
    let parts: [fn(&mut VertexStrengths) -> &mut Vec<f64>; 4] =
        [|s| &mut s.sums, |s| &mut s.means, |s| &mut s.least, |s| &mut s.greatest];
    for part in parts {
        let mut wrong = right.clone();
        part(&mut wrong)[1] += 0.25;
        check::strength(out, &[Direction::Out], columns(&wrong)).unwrap_err();
        part(&mut wrong).pop();
        check::strength(out, &[Direction::Out], columns(&wrong)).unwrap_err();
    }
    check::reciprocity(out, &[1.0, 2.0 / 3.0, 0.0], 2.0 / 3.0).unwrap();
    check::reciprocity(out, &[1.0, 0.5, 0.0], 2.0 / 3.0).unwrap_err();
    check::reciprocity(out, &[1.0, 2.0 / 3.0, 0.0], 0.5).unwrap_err();
    check::assortativity(out, &[Direction::Out], &[Direction::In], 0.5).unwrap_err();
}

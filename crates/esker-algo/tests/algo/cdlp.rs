//! Label propagation on random graphs of many kinds.

use esker_algo::algorithm::components::cdlp::{Cdlp, CdlpOptions, cdlp};
use esker_algo::check;
use esker_graph::{Csr, Direction, Graph, Lists, Run, Stop, VertexId};
use proptest::prelude::*;

use crate::common;
use crate::common::shapes::each_form;

fn checked<G: Lists<Error = Stop>>(
    graph: &G,
    csr: &Csr,
    run: &Run,
    initial: Option<&[u64]>,
    iterations: usize,
) -> Cdlp {
    let found = cdlp(graph, run, initial, &CdlpOptions { iterations }).expect("labels");
    let view = csr.graph();
    let out = view.rows(Direction::Out).expect("out-lists");
    let incoming = view.rows(Direction::In).filter(|_| view.is_directed());
    let numbers: Vec<u64> = (0..view.num_vertices() as u64).collect();
    let initial = initial.unwrap_or(&numbers);
    check::cdlp(out, incoming, initial, iterations, &found.labels).expect("a right answer");
    if found.converged {
        check::cdlp(out, incoming, initial, iterations + 1, &found.labels).expect("no further change");
    }
    let distinct: std::collections::BTreeSet<_> = found.labels.iter().collect();
    assert_eq!(found.communities, distinct.len());
    found
}

proptest! {
    #![proptest_config(common::cases(300))]
    #[test]
    fn right_on_every_kind_of_graph(
        sample in common::samples(),
        iterations in 0usize..12,
        labels in prop::collection::vec(prop_oneof![0..5u64, any::<u64>()], 100),
    ) {
        let csr = sample.csr(|_| ());
        let graph = csr.graph();
        let labels = &labels[..sample.num_vertices];
        for run in [common::run(1, false), common::run(3, true)] {
            checked(&graph, &csr, &run, None, iterations);
            checked(&graph, &csr, &run, Some(labels), iterations);
            each_form!(csr, sample.seed, |form| { checked(form, &csr, &run, Some(labels), iterations); });
        }
    }
}

#[test]
fn right_with_hubs_and_when_little_changes() {
    for directed in [false, true] {
        let csr = common::skewed(3000, 9000, directed, 3);
        let answers =
            [1, 2].map(|threads| checked(&csr.graph(), &csr, &common::run(threads, true), None, 30));
        assert_eq!(answers[0], answers[1]);
    }
    // Labels spread along a path from its ends, and fewer vertices change in each round.
    let edges: Vec<_> = (1..2000).map(|v| (v - 1, v, ())).collect();
    let path = Csr::undirected(2000, &edges).unwrap();
    checked(&path.graph(), &path, &common::run(2, false), None, 50);
}

/// Computed by hand from the definition in the LDBC Graphalytics specification.
#[test]
fn as_graphalytics_defines_it() {
    let run = common::run(2, false);
    // Two triangles joined by an edge; external ids as labels.
    let edges: Vec<(VertexId, VertexId, ())> =
        [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)].map(|(u, v)| (u, v, ())).to_vec();
    let ids = [40, 30, 70, 20, 60, 50];
    let csr = Csr::undirected(6, &edges).unwrap();
    let after = |iterations| checked(&csr.graph(), &csr, &run, Some(&ids), iterations).labels;
    assert_eq!(after(0), ids);
    assert_eq!(after(1), [30, 40, 20, 50, 20, 20]);
    assert_eq!(after(2), [20, 20, 30, 20, 20, 20]);
    // The neighbours of 2 have labels 20, 20 and 20.
    assert_eq!(after(3), [20; 6]);
    // Directed: with 1 -> 0, 0 -> 2 and 2 -> 0, the label of 2 counts twice for 0.
    let edges: Vec<(VertexId, VertexId, ())> = vec![(1, 0, ()), (0, 2, ()), (2, 0, ())];
    let csr = Csr::directed(4, &edges).unwrap();
    let found = checked(&csr.graph(), &csr, &run, Some(&[9, 1, 5, 7]), 1);
    assert_eq!((found.labels, found.communities, found.converged), (vec![5, 9, 9, 7], 3, false));
}

#[test]
fn empty_graphs_and_bad_requests() {
    let run = common::run(2, false);
    let none = Csr::<()>::undirected(0, &[]).unwrap();
    let found = cdlp(&none.graph(), &run, None, &CdlpOptions::default()).unwrap();
    assert_eq!((found.labels, found.communities, found.converged), (vec![], 0, true));
    let csr = Csr::<()>::directed(2, &[(0, 1, ())]).unwrap();
    let error = cdlp(&csr.graph(), &run, Some(&[1]), &CdlpOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "got 1 initial label for 2 vertices: give one per vertex");
    let error =
        cdlp(&common::without_in_edges(&csr.graph()), &run, None, &CdlpOptions::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "label propagation on a directed graph needs in-edges: import it with in-edges, or as undirected"
    );
    run.cancel().cancel();
    assert_eq!(cdlp(&csr.graph(), &run, None, &CdlpOptions::default()), Err(Stop::Cancelled));
}

#[test]
fn the_verifier_finds_faults() {
    let csr = Csr::<()>::undirected(3, &[(0, 1, ()), (1, 2, ())]).unwrap();
    let view = csr.graph();
    let out = view.rows(Direction::Out).unwrap();
    check::cdlp(out, None, &[0, 1, 2], 1, &[1, 0, 1]).unwrap();
    check::cdlp(out, None, &[0, 1, 2], 1, &[1, 2, 1]).unwrap_err();
    check::cdlp(out, None, &[0, 1, 2], 2, &[1, 0, 1]).unwrap_err();
    check::cdlp(out, None, &[0, 1, 2], 1, &[1, 0]).unwrap_err();
}

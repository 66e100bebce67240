//! Breadth-first search on random graphs of many kinds.

use esker_algo::algorithm::bfs::{Bfs, BfsOptions, bfs};
use esker_algo::check;
use esker_graph::{Csr, Direction, Graph, NONE, Run, Stop, VertexId};
use proptest::prelude::*;

use crate::common;
use crate::common::shapes::each_form;

fn checked<G: Graph<Error = Stop>>(graph: &G, csr: &Csr, run: &Run, sources: &[VertexId]) -> Bfs {
    let found = bfs(graph, run, sources, &BfsOptions::default()).expect("a search");
    let view = csr.graph();
    let out = view.rows(Direction::Out).expect("out-lists");
    check::bfs(out, sources, &found.parents, found.depths.as_deref()).expect("a right answer");
    let reached = found.parents.iter().filter(|&&p| p != NONE).count();
    assert_eq!(found.reached, reached);
    found
}

proptest! {
    #![proptest_config(common::cases(300))]
    #[test]
    fn right_on_every_kind_of_graph(sample in common::samples(), picks in prop::collection::vec(any::<u32>(), 1..3)) {
        let csr = sample.csr(|_| ());
        let graph = csr.graph();
        let sources: Vec<_> =
            picks.iter().map(|p| (*p as usize % sample.num_vertices) as VertexId).collect();
        for deterministic in [false, true] {
            let mut answers = Vec::new();
            for run in common::runs(deterministic) {
                answers.push(checked(&graph, &csr, &run, &sources));
                each_form!(csr, sample.seed, |form| answers.push(checked(form, &csr, &run, &sources)));
                answers.push(checked(&common::without_in_edges(&graph), &csr, &run, &sources));
            }
            for answer in &answers {
                prop_assert_eq!(&answer.depths, &answers[0].depths);
                prop_assert_eq!(answer.arcs, answers[0].arcs);
                if deterministic {
                    prop_assert_eq!(&answer.parents, &answers[0].parents);
                }
            }
        }
    }
}

#[test]
fn empty_graph_and_bad_sources() {
    let run = common::run(2, false);
    let none = Csr::<()>::undirected(0, &[]).unwrap();
    assert_eq!(bfs(&none.graph(), &run, &[], &BfsOptions::default()).unwrap().parents, []);
    let one = Csr::<()>::directed(1, &[(0, 0, ())]).unwrap();
    let found = bfs(&one.graph(), &run, &[0, 0], &BfsOptions { depths: false }).unwrap();
    assert_eq!((found.parents, found.depths, found.reached), (vec![0], None, 1));
    let error = bfs(&one.graph(), &run, &[1], &BfsOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "source 1 is not a vertex: the graph has 1 vertices");
}

#[test]
fn a_long_path_takes_a_round_a_vertex() {
    let n = 30_000;
    let edges: Vec<_> = (1..n).map(|v| (v - 1, v, ())).collect();
    let path = Csr::undirected(n as usize, &edges).unwrap();
    let found = checked(&path.graph(), &path, &common::run(2, false), &[0]);
    assert_eq!(found.rounds, n as usize);
}

#[test]
fn the_verifier_finds_faults() {
    let square = Csr::<()>::directed(4, &[(0, 1, ()), (0, 2, ()), (1, 3, ()), (2, 3, ())]).unwrap();
    let view = square.graph();
    let out = view.rows(Direction::Out).unwrap();
    check::bfs(out, &[0], &[0, 0, 0, 2], Some(&[0, 1, 1, 2])).unwrap();
    for (parents, depths) in [
        ([0, 0, 0, 0], [0, 1, 1, 1]),
        ([0, 0, 0, NONE], [0, 1, 1, NONE]),
        ([0, 0, 0, 2], [0, 1, 1, 3]),
        ([0, 0, 0, 3], [0, 1, 1, 2]),
        ([0, 2, 0, 2], [0, 2, 1, 2]),
        ([1, 0, 0, 2], [0, 1, 1, 2]),
    ] {
        check::bfs(out, &[0], &parents, Some(&depths)).unwrap_err();
    }
}

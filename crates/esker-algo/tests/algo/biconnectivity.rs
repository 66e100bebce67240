//! Blocks, articulation points and bridges of random and awkward graphs.

use esker_algo::algorithm::components::biconnectivity::{Biconnectivity, biconnectivity};
use esker_algo::algorithm::components::wcc::{WccOptions, wcc};
use esker_algo::check;
use esker_graph::{Csr, Direction, Graph, Run, Stop, VertexId, Weight, vertex};
use proptest::prelude::*;

use crate::common;
use crate::common::shapes::{each_form, shapes};
use crate::common::undirected;

fn checked<G: Graph<Error = Stop>, W: Weight>(graph: &G, csr: &Csr<W>, run: &Run) -> Biconnectivity {
    let found = biconnectivity(graph, run).expect("blocks");
    let view = csr.graph();
    let block = |u, v| found.block(u, v);
    let out = view.rows(Direction::Out).unwrap();
    check::biconnectivity(out, block, &found.articulation_points, &found.bridges, found.count)
        .expect("a right answer");
    found
}

/// The vertices whose removal adds a component, found by removing each.
fn points_by_removal(sample: &common::Sample) -> Vec<VertexId> {
    let n = sample.num_vertices;
    let run = common::run(1, false);
    let components = |edges: &[(VertexId, VertexId, ())]| {
        wcc(&Csr::undirected(n, edges).unwrap().graph(), &run, &WccOptions::default()).unwrap().components
    };
    let edges: Vec<_> = sample.edges.iter().filter(|(u, v)| u != v).map(|&(u, v)| (u, v, ())).collect();
    let whole = components(&edges);
    let without =
        |x: VertexId| -> Vec<_> { edges.iter().copied().filter(|&(u, v, ())| u != x && v != x).collect() };
    let is_point = |&x: &VertexId| {
        let rest = without(x);
        // Without its edges, the removed vertex counts as one more component.
        rest.len() < edges.len() && components(&rest) > whole + 1
    };
    (0..n).map(vertex).filter(is_point).collect()
}

/// The edges whose removal adds a component, found by removing each edge, and not those parallel to it.
/// Lesser ends first, ascending.
fn bridges_by_removal(sample: &common::Sample) -> Vec<(VertexId, VertexId)> {
    let run = common::run(1, false);
    let components = |edges: &[(VertexId, VertexId, ())]| {
        let csr = Csr::undirected(sample.num_vertices, edges).unwrap();
        wcc(&csr.graph(), &run, &WccOptions::default()).unwrap().components
    };
    let edges: Vec<_> = sample.edges.iter().map(|&(u, v)| (u, v, ())).collect();
    let whole = components(&edges);
    let is_bridge = |i: &usize| {
        let mut rest = edges.clone();
        rest.remove(*i);
        components(&rest) > whole
    };
    let mut bridges: Vec<_> = (0..edges.len()).filter(is_bridge).map(|i| in_order(sample.edges[i])).collect();
    bridges.sort_unstable();
    bridges
}

fn in_order((u, v): (VertexId, VertexId)) -> (VertexId, VertexId) {
    (u.min(v), u.max(v))
}

proptest! {
    #![proptest_config(common::cases(250))]
    #[test]
    fn bridges_of_multigraphs_are_the_edges_whose_removal_disconnects(sample in undirected(), copied in any::<u64>()) {
        // About half of the edges of sparse graphs get copies.
        let mut sample = sample;
        sample.edges.truncate(80);
        for i in (0..sample.edges.len()).filter(|i| copied >> (i % 64) & 1 == 1) {
            sample.edges.push(sample.edges[i]);
        }
        let csr = sample.csr(|_| ());
        let expected = bridges_by_removal(&sample);
        let run = common::run(2, false);
        each_form!(csr, sample.seed, |graph| {
            let mut bridges: Vec<_> = checked(graph, &csr, &run).bridges.into_iter().map(in_order).collect();
            bridges.sort_unstable();
            prop_assert_eq!(&bridges, &expected);
        });
    }

    #[test]
    fn right_on_every_kind_of_graph(sample in undirected()) {
        let csr = sample.csr(|_| ());
        let mut answers = Vec::new();
        for run in common::runs(sample.seed.is_multiple_of(2)) {
            each_form!(csr, sample.seed, |graph| answers.push(checked(graph, &csr, &run)));
        }
        prop_assert_eq!(&answers[0].articulation_points, &points_by_removal(&sample));
        let components = wcc(&csr.graph(), &common::run(1, false), &WccOptions::default()).unwrap().components;
        prop_assert_eq!(answers[0].components, components);
        answers.dedup();
        prop_assert_eq!(answers.len(), 1);
    }
}

#[test]
fn large_graphs_on_several_threads() {
    for sample in shapes(&[9000], 3) {
        let csr = sample.csr(|_| ());
        for threads in [2, 8] {
            checked(&csr.graph(), &csr, &common::run(threads, false));
        }
    }
    for edges in [2500, 4000, 20_000] {
        let skewed = common::skewed(3000, edges, false, 8);
        checked(&skewed.graph(), &skewed, &common::run(4, false));
    }
}

#[test]
fn a_path_of_triangles_is_named_by_its_least_vertices() {
    // Two triangles that share vertex 2, and a bridge to 5.
    let edges =
        [(0, 1, ()), (1, 2, ()), (2, 0, ()), (2, 3, ()), (3, 4, ()), (4, 2, ()), (4, 5, ()), (6, 6, ())];
    let csr = Csr::<()>::undirected(7, &edges).unwrap();
    let found = biconnectivity(&csr.graph(), &common::run(2, false)).unwrap();
    let none = esker_graph::NONE;
    assert_eq!(found.blocks, [none, 1, 1, 3, 3, 5, none]);
    assert_eq!(found.heads, [none, 0, none, 2, none, 4, none]);
    assert_eq!((found.count, found.components), (3, 2));
    assert_eq!(found.articulation_points, [2, 4]);
    assert_eq!(found.bridges, [(4, 5)]);
    assert_eq!([found.block(0, 1), found.block(2, 4), found.block(5, 4)], [1, 3, 5]);
}

#[test]
fn a_doubled_edge_is_no_bridge() {
    let edges = [(0, 1, ()), (1, 2, ()), (2, 1, ()), (2, 3, ())];
    let csr = Csr::<()>::undirected(4, &edges).unwrap();
    let found = biconnectivity(&csr.graph(), &common::run(2, false)).unwrap();
    assert_eq!((found.bridges, found.count), (vec![(0, 1), (2, 3)], 3));
    assert_eq!(found.articulation_points, [1, 2]);
}

#[test]
fn nothing_and_what_cannot_be_done() {
    let run = common::run(2, false);
    let none = Csr::<()>::undirected(0, &[]).unwrap();
    assert_eq!(biconnectivity(&none.graph(), &run).unwrap().count, 0);
    let directed = Csr::<()>::directed(2, &[(0, 1, ())]).unwrap();
    let error = biconnectivity(&directed.graph(), &run).unwrap_err();
    assert_eq!(
        error.to_string(),
        "biconnectivity needs an undirected graph: import the edges as undirected, or run it with `as_undirected = true`"
    );
}

#[test]
fn the_verifier_finds_faults() {
    let edges = [(0, 1, ()), (1, 2, ()), (2, 0, ()), (2, 3, ())];
    let csr = Csr::<()>::undirected(4, &edges).unwrap();
    let view = csr.graph();
    let out = view.rows(Direction::Out).unwrap();
    let right = |u: VertexId, v: VertexId| if u.max(v) == 3 { 3 } else { 1 };
    check::biconnectivity(out, right, &[2], &[(2, 3)], 2).unwrap();
    check::biconnectivity(out, right, &[2], &[(2, 3)], 1).unwrap_err();
    check::biconnectivity(out, right, &[2], &[], 2).unwrap_err();
    check::biconnectivity(out, right, &[], &[(2, 3)], 2).unwrap_err();
    check::biconnectivity(out, right, &[2, 3], &[(2, 3)], 2).unwrap_err();
    check::biconnectivity(out, |_, _| 1, &[2], &[(2, 3)], 2).unwrap_err();
    check::biconnectivity(out, Ord::max, &[2], &[(2, 3)], 2).unwrap_err();
}

//! Small cases of the six algorithms of LDBC Graphalytics, computed by hand from its specification
//! (arXiv:2011.15028, section 2.3). Those of the clustering coefficient and of label propagation are in
//! `lcc.rs` and `cdlp.rs`.

use esker_algo::algorithm::centrality::pagerank::{PageRankOptions, pagerank};
use esker_algo::algorithm::components::wcc::{WccOptions, wcc};
use esker_algo::algorithm::paths::bfs::{BfsOptions, bfs};
use esker_algo::algorithm::paths::sssp::{SsspOptions, sssp};
use esker_graph::{Csr, NONE, VertexId};

use crate::common;

/// Relative difference that Graphalytics allows for numbers.
const TOLERANCE: f64 = 1e-4;

fn close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (v, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!(a == b || (a - b).abs() <= TOLERANCE * b.abs(), "vertex {v}: {a} instead of {b}");
    }
}

/// 0 -> 1 -> 2 -> 0, 2 -> 3; 4 -> 3; 5 is isolated.
const EDGES: [(VertexId, VertexId, f64); 5] =
    [(0, 1, 0.5), (1, 2, 0.25), (2, 0, 1.0), (2, 3, 0.125), (4, 3, 2.0)];

#[test]
fn breadth_first_search_follows_edges_forward() {
    let run = common::run(2, false);
    let depths = |csr: &Csr<f64>| bfs(&csr.graph(), &run, &[0], &BfsOptions::default()).unwrap().depths;
    let directed = Csr::directed(6, &EDGES).unwrap();
    assert_eq!(depths(&directed), Some(vec![0, 1, 2, 3, NONE, NONE]));
    let undirected = Csr::undirected(6, &EDGES).unwrap();
    assert_eq!(depths(&undirected), Some(vec![0, 1, 1, 2, 3, NONE]));
}

#[test]
fn shortest_paths_in_double_precision() {
    let run = common::run(2, false);
    let distances = |csr: &Csr<f64>| sssp(&csr.graph(), &run, 0, &SsspOptions::default()).unwrap().distances;
    let far = f64::INFINITY;
    let directed = Csr::directed(6, &EDGES).unwrap();
    close(&distances(&directed), &[0.0, 0.5, 0.75, 0.875, far, far]);
    let undirected = Csr::undirected(6, &EDGES).unwrap();
    close(&distances(&undirected), &[0.0, 0.5, 0.75, 0.875, 2.875, far]);
}

#[test]
fn weakly_connected_components_ignore_direction() {
    let csr = Csr::directed(6, &EDGES).unwrap();
    let found = wcc(&csr.graph(), &common::run(2, false), &WccOptions::default()).unwrap();
    assert_eq!((found.labels, found.components), (vec![0, 0, 0, 0, 0, 5], 2));
}

/// Graphalytics iterates a fixed number of times from 1/n and spreads the rank of dangling vertices over all.
#[test]
fn pagerank_by_rounds() {
    let csr = Csr::directed(6, &EDGES).unwrap();
    let run = common::run(2, true);
    let after = |rounds_max| {
        let options = PageRankOptions { tolerance: 0.0, rounds_max, ..PageRankOptions::default() };
        pagerank(&csr.graph(), &run, &options).unwrap().scores
    };
    // Each vertex gets (1 - d)/n, and d/n of the sum of the dangling 3 and 5.
    let sixth = 1.0 / 6.0;
    close(&after(0), &[sixth; 6]);
    let base = 0.15 * sixth + 0.85 * sixth * (2.0 * sixth);
    let first = [
        base + 0.85 * sixth / 2.0,
        base + 0.85 * sixth,
        base + 0.85 * sixth,
        base + 0.85 * (sixth / 2.0 + sixth),
        base,
        base,
    ];
    close(&after(1), &first);
    let base = 0.15 * sixth + 0.85 * sixth * (first[3] + first[5]);
    let second = [
        base + 0.85 * first[2] / 2.0,
        base + 0.85 * first[0],
        base + 0.85 * first[1],
        base + 0.85 * (first[2] / 2.0 + first[4]),
        base,
        base,
    ];
    close(&after(2), &second);
    assert!((after(2).iter().sum::<f64>() - 1.0).abs() < 1e-12);
}

//! Random graphs of every kind, for the property tests of the algorithms.
#![allow(dead_code)] // Each test binary uses part of it.

use esker_graph::{Csr, CsrGraph, Direction, Fragmented, Run, RunOptions, VertexId, Weight};
use proptest::prelude::*;

/// A graph as its edges: loops, duplicates and isolated vertices occur.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    pub(crate) num_vertices: usize,
    pub(crate) directed: bool,
    pub(crate) edges: Vec<(VertexId, VertexId)>,
    pub(crate) seed: u64,
}

/// Graphs of 1 to 60 vertices, from empty to dense, with a bias to sparse and to hubs.
pub(crate) fn samples() -> impl Strategy<Value = Sample> {
    let edges = |n: usize| {
        let end = prop_oneof![3 => 0..n, 1 => 0..n.div_ceil(8)];
        let ends = (end.clone(), end).prop_map(|(u, v)| (u as VertexId, v as VertexId));
        prop_oneof![
            2 => prop::collection::vec(ends.clone(), 0..=n * 3 / 2),
            1 => prop::collection::vec(ends, 0..=n * 8),
        ]
    };
    (1usize..=60).prop_flat_map(move |n| {
        (Just(n), any::<bool>(), edges(n), any::<u64>())
            .prop_map(|(num_vertices, directed, edges, seed)| Sample { num_vertices, directed, edges, seed })
    })
}

impl Sample {
    /// The graph with weights from 1 to `max`, computed by `weight` from small integers that are the same for
    /// both arcs of an edge.
    pub(crate) fn csr<W: Weight>(&self, weight: impl Fn(u32) -> W) -> Csr<W> {
        let edges: Vec<_> = self
            .edges
            .iter()
            .enumerate()
            .map(|(i, &(u, v))| (u, v, weight((i as u64 ^ self.seed).wrapping_mul(0x9e37_79b9) as u32 % 100)))
            .collect();
        let made = if self.directed { Csr::directed } else { Csr::undirected };
        made(self.num_vertices, &edges).expect("the ends are below the number of vertices")
    }
}

/// The same directed graph without its in-lists, or the same undirected graph.
pub(crate) fn without_in_edges<'a, W: Weight>(graph: &CsrGraph<'a, W>) -> CsrGraph<'a, W> {
    let out = *graph.rows(Direction::Out).expect("out-lists are always kept");
    if is_directed(graph) { CsrGraph::directed(out, None) } else { CsrGraph::undirected(out) }
}

fn is_directed<W: Weight>(graph: &CsrGraph<'_, W>) -> bool {
    esker_graph::Graph::is_directed(graph)
}

/// The same graph in shuffled pieces.
pub(crate) fn fragmented<'a, W: Weight>(graph: &CsrGraph<'a, W>, sample: &Sample) -> Fragmented<'a, W> {
    Fragmented::new(*graph, sample.seed)
}

/// A run of `threads` threads with the seed of nothing in particular.
pub(crate) fn run(threads: usize, deterministic: bool) -> Run {
    Run::new(RunOptions { threads, seed: 5, deterministic, ..RunOptions::default() }).expect("threads start")
}

/// Runs of 1, 2 and 7 threads, made once.
pub(crate) fn runs(deterministic: bool) -> Vec<Run> {
    [1, 2, 7].into_iter().map(|threads| run(threads, deterministic)).collect()
}

/// A random graph whose first vertices have the most edges by far: an edge ends at `v` with a chance of about
/// 1/sqrt(v). Loops and duplicates occur.
pub(crate) fn skewed(n: usize, num_edges: usize, directed: bool, seed: u64) -> Csr {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut end = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let unit = (state >> 11) as f64 / (1u64 << 53) as f64;
        (unit * unit * n as f64) as VertexId
    };
    let edges: Vec<_> = (0..num_edges).map(|_| (end(), end(), ())).collect();
    let made = if directed { Csr::directed } else { Csr::undirected };
    made(n, &edges).expect("the ends are below the number of vertices")
}

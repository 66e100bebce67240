//! Graphs that are awkward in some way, and every form in which an algorithm may meet a graph.
#![allow(unused_macros, unused_imports)] // Each test binary uses part of it.

use esker_graph::{Csr, VertexId, Weight};

use super::Sample;

/// Stars, cliques, paths, grids, and others that have made algorithms fail, each directed and not.
pub(crate) fn shapes() -> Vec<Sample> {
    let mut shapes = Vec::new();
    let mut add = |num_vertices: usize, edges: Vec<(usize, usize)>| {
        let edges: Vec<_> = edges.into_iter().map(|(u, v)| (u as VertexId, v as VertexId)).collect();
        for directed in [false, true] {
            shapes.push(Sample { num_vertices, directed, edges: edges.clone(), seed: 7 });
        }
    };
    // Nothing.
    add(0, vec![]);
    // One vertex.
    add(1, vec![]);
    // One loop.
    add(1, vec![(0, 0)]);
    // No edges.
    add(130, vec![]);
    // Loops alone.
    add(70, (0..70).map(|v| (v, v)).collect());
    // Star.
    add(300, (1..300).map(|v| (0, v)).collect());
    // Star around the last.
    add(300, (0..299).map(|v| (v, 299)).collect());
    // Two stars.
    add(200, (2..200).flat_map(|v| [(0, v), (v, 1)]).collect());
    // Clique.
    add(40, clique(0, 40));
    // Clique with loops.
    add(20, (0..20).map(|v| (v, v)).chain(clique(0, 20)).collect());
    // Clique and tail.
    add(100, clique(0, 20).into_iter().chain((20..100).map(|v| (v - 1, v))).collect());
    // Cliques of growing size.
    add(120, (1..16).flat_map(|k| clique(k * (k - 1) / 2, k)).collect());
    // Path.
    add(2000, (1..2000).map(|v| (v - 1, v)).collect());
    // Shuffled path.
    add(1009, (1..1009).map(|i| ((i - 1) * 17 % 1009, i * 17 % 1009)).collect());
    // Cycle.
    add(65, (0..65).map(|v| (v, (v + 1) % 65)).collect());
    // Grid.
    add(400, grid(20));
    // Bipartite.
    add(60, (0..20).flat_map(|u| (20..60).map(move |v| (u, v))).collect());
    // Multiple edges.
    add(10, (0..90).map(|i| (i % 5, 5 + i % 3)).collect());
    // Tree.
    add(511, (1..511).map(|v| ((v - 1) / 2, v)).collect());
    // Caterpillar.
    add(
        300,
        (1..24).flat_map(|v| (0..v).map(move |i| (v, if i == 0 { v - 1 } else { v * 12 + i }))).collect(),
    );
    // Many pieces.
    add(99, (0..33).flat_map(|i| [(3 * i, 3 * i + 1), (3 * i + 1, 3 * i + 2)]).collect());
    shapes
}

fn clique(first: usize, len: usize) -> Vec<(usize, usize)> {
    (first..first + len).flat_map(|v| (first..v).map(move |u| (u, v))).collect()
}

fn grid(side: usize) -> Vec<(usize, usize)> {
    (0..side * side)
        .flat_map(|v| {
            [((v + 1) % side != 0, v + 1), (v + side < side * side, v + side)].map(|(is, u)| (is, v, u))
        })
        .filter_map(|(is, v, u)| is.then_some((v, u)))
        .collect()
}

/// A graph large enough that several threads share its work, with hubs.
pub(crate) fn large<W: Weight>(directed: bool, seed: u64, weight: impl Fn(u32) -> W) -> Csr<W> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let n = 30_011;
    let mut end = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let unit = (state >> 11) as f64 / (1u64 << 53) as f64;
        (unit * unit * unit * f64::from(n)) as VertexId
    };
    let edges = (0..150_000).map(|_| (end(), end())).collect();
    Sample { num_vertices: n as usize, directed, edges, seed }.csr(weight)
}

/// Evaluates `$body` with `$graph` being each form of a graph: as it is, in shuffled pieces that no thread holds alone, and
/// with removed vertices between its own.
macro_rules! each_form {
    ($csr:expr, $seed:expr, |$graph:ident| $body:expr) => {{
        let plain = $csr.graph();
        let spaced = crate::common::Spaced::new(&plain, $seed);
        let pieces = esker_graph::Erased::new(esker_graph::Fragmented::new(plain, $seed));
        {
            let $graph = &plain;
            $body;
        }
        {
            let $graph = &pieces;
            $body;
        }
        let spaced_graph = spaced.graph();
        let $graph = &spaced.induced(&spaced_graph);
        $body;
    }};
}
pub(crate) use each_form;

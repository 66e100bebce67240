//! Undirected graphs that are awkward in one way each.
#![allow(dead_code, unused_macros, unused_imports)] // Each test binary uses part of it.

use esker_graph::{VertexId, vertex};
use proptest::prelude::*;

use crate::common::{Sample, samples};

/// Number of shapes.
const SHAPES: usize = 14;

/// Undirected graphs of 1 to 60 vertices at random, and of every awkward shape with up to some hundred.
pub(crate) fn undirected() -> impl Strategy<Value = Sample> {
    let random = samples().prop_map(|sample| Sample { directed: false, ..sample });
    let shaped = (0..SHAPES, 1usize..=120, any::<u64>()).prop_map(|(kind, n, seed)| shape(kind, n, seed));
    prop_oneof![3 => random, 2 => shaped]
}

/// A graph of a shape on `n` vertices, whose numbers are shuffled if the seed is odd.
pub(crate) fn shape(kind: usize, n: usize, seed: u64) -> Sample {
    let side = n.isqrt().max(1);
    let edges: Vec<(usize, usize)> = match kind {
        0 => Vec::new(),
        1 => (1..n).map(|v| (0, v)).collect(),
        2 => pairs(0, n.min(24)),
        3 => (1..n).map(|v| (v - 1, v)).collect(),
        4 => (0..n).map(|v| (v, (v + 1) % n)).collect(),
        5 => grid(side),
        // Cliques of five side by side.
        6 => (0..n / 5).flat_map(|i| pairs(i * 5, i * 5 + 5)).collect(),
        // The same on a string.
        7 => (0..n / 5).flat_map(|i| pairs(i * 4, i * 4 + 5)).collect(),
        // A loop at every vertex of a binary tree, and parallel edges.
        8 => (1..n).flat_map(|v| [(v, v), (v / 2, v), (v, v / 2)]).collect(),
        // A barbell: two cliques and a path between them.
        9 => {
            let clique = (n / 3).min(12);
            let path = (clique.max(1)..n.max(1) - clique).map(|v| (v - 1, v));
            let last = n - clique;
            let tie = (clique > 0).then_some((last - 1, last));
            pairs(0, clique).into_iter().chain(path).chain(tie).chain(pairs(last, n)).collect()
        }
        // Every vertex of one side with every one of the other.
        10 => (0..side).flat_map(|u| (side..n).map(move |v| (u, v))).collect(),
        // Cycles of three to seven that share one vertex.
        11 => flower(n),
        // A wheel.
        12 => (1..n).flat_map(|v| [(0, v), (v, v % (n - 1) + 1)]).collect(),
        // A ladder with its rungs far apart.
        _ => {
            let half = n / 2;
            let rail = |from: usize| (1..half).map(move |v| (from + v - 1, from + v));
            rail(0).chain(rail(half)).chain((0..half).step_by(9).map(|v| (v, half + v))).collect()
        }
    };
    let step = if seed.is_multiple_of(2) { 1 } else { coprime(n, seed) };
    let name = |v: usize| vertex(v * step % n) as VertexId;
    let edges = edges.into_iter().map(|(u, v)| (name(u), name(v))).collect();
    Sample { num_vertices: n, directed: false, edges, seed }
}

/// One graph of each shape and each of some sizes.
pub(crate) fn shapes(sizes: &[usize], seed: u64) -> Vec<Sample> {
    let of = |&n: &usize| (0..SHAPES).map(move |kind| shape(kind, n, seed + kind as u64));
    sizes.iter().flat_map(of).collect()
}

fn pairs(first: usize, end: usize) -> Vec<(usize, usize)> {
    (first..end).flat_map(|u| (u + 1..end).map(move |v| (u, v))).collect()
}

fn grid(side: usize) -> Vec<(usize, usize)> {
    let across = (0..side * side).filter(|v| v % side + 1 < side).map(|v| (v, v + 1));
    across.chain((0..side * side - side).map(|v| (v, v + side))).collect()
}

fn flower(n: usize) -> Vec<(usize, usize)> {
    let (mut edges, mut first) = (Vec::new(), 1);
    while first + 2 + first % 5 <= n {
        let end = first + 2 + first % 5;
        edges.extend([(0, first), (end - 1, 0)]);
        edges.extend((first + 1..end).map(|v| (v - 1, v)));
        first = end;
    }
    edges
}

/// A number that has no divisor in common with `n`.
fn coprime(n: usize, seed: u64) -> usize {
    let divides = |mut a: usize, mut b: usize| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a == 1
    };
    (seed as usize % n.max(1) + n / 2..).find(|&step| step > 0 && divides(step, n)).expect("a prime beyond n")
}

/// Runs the same statements on a graph, on its lists in shuffled pieces, and on both of these among removed vertices.
macro_rules! on_every_form {
    ($csr:expr, $seed:expr, |$graph:ident| $body:expr) => {{
        let plain = $csr.graph();
        let spaced = common::Spaced::new(&plain, $seed);
        let inner = spaced.graph();
        {
            let $graph = &plain;
            $body
        }
        {
            let $graph = &esker_graph::Erased::new(esker_graph::Fragmented::new(plain, $seed));
            $body
        }
        {
            let $graph = &spaced.induced(&inner);
            $body
        }
        {
            let pieces = esker_graph::Erased::new(esker_graph::Fragmented::new(inner, $seed));
            let $graph = &spaced.induced(&pieces);
            $body
        }
    }};
}
pub(crate) use on_every_form;

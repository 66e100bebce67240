//! Awkward graphs, and every form of a graph that an algorithm may get.
#![allow(dead_code, unused_macros, unused_imports)] // The tests of crate `esker` use a part of it.

use esker_graph::random::Random;
use esker_graph::{Csr, VertexId, Weight, vertex};
use proptest::prelude::*;

use super::Sample;

/// Number of shapes.
const SHAPES: usize = 21;

/// A graph of any shape with up to a hundred vertices, directed or undirected.
pub(crate) fn shaped() -> impl Strategy<Value = Sample> {
    let any = (0..SHAPES, 1usize..=100, any::<bool>(), any::<u64>());
    any.prop_map(|(kind, n, directed, seed)| Sample { directed, ..shape(kind, n, seed) })
}

/// The edges of a shape on `n` vertices. Vertices that the shape does not need are isolated.
fn edges(kind: usize, n: usize) -> Vec<(usize, usize)> {
    let side = n.isqrt().max(1);
    match kind {
        0 => Vec::new(),
        // A star, a star around the last vertex, and two stars with common leaves.
        1 => (1..n).map(|v| (0, v)).collect(),
        2 => (0..n - 1).map(|v| (v, n - 1)).collect(),
        3 => (2..n).flat_map(|v| [(0, v), (v, 1)]).collect(),
        4 => clique(0, n.min(24)),
        // A path, a cycle, a grid.
        5 => (1..n).map(|v| (v - 1, v)).collect(),
        6 => (0..n).map(|v| (v, (v + 1) % n)).collect(),
        7 => grid(side),
        // Cliques of five, disjoint, and in a chain.
        8 => (0..n / 5).flat_map(|i| clique(i * 5, i * 5 + 5)).collect(),
        9 => (0..n / 5).flat_map(|i| clique(i * 4, i * 4 + 5)).collect(),
        // Cliques of increasing size.
        10 => (1..n)
            .take_while(|k| k * (k + 1) / 2 <= n)
            .flat_map(|k| clique(k * (k - 1) / 2, k * (k + 1) / 2))
            .collect(),
        // A clique with a tail.
        11 => clique(0, n.min(20)).into_iter().chain((20..n).map(|v| (v - 1, v))).collect(),
        // A binary tree with a self-loop at every vertex and parallel edges.
        12 => (1..n).flat_map(|v| [(v, v), (v / 2, v), (v, v / 2)]).collect(),
        // Self-loops only, and a clique with self-loops.
        13 => (0..n).map(|v| (v, v)).collect(),
        14 => (0..n.min(20)).map(|v| (v, v)).chain(clique(0, n.min(20))).collect(),
        // A barbell: two cliques and a path between them.
        15 => {
            let size = (n / 3).min(12);
            let path = (size.max(1)..n.max(1) - size).map(|v| (v - 1, v));
            let last = n - size;
            let tie = (size > 0).then_some((last - 1, last));
            clique(0, size).into_iter().chain(path).chain(tie).chain(clique(last, n)).collect()
        }
        // A complete bipartite graph.
        16 => (0..side).flat_map(|u| (side..n).map(move |v| (u, v))).collect(),
        // Cycles of length three to seven that share one vertex.
        17 => flower(n),
        // A wheel.
        18 => (1..n).flat_map(|v| [(0, v), (v, v % (n - 1) + 1)]).collect(),
        // A path whose vertices have increasingly many leaves.
        19 => {
            let leaves =
                |v: usize| (0..v).map(move |i| (v, if i == 0 { v - 1 } else { side + v * (v - 1) / 2 + i }));
            (1..side).flat_map(leaves).filter(|&(_, v)| v < n).collect()
        }
        // A ladder with distant rungs.
        _ => {
            let half = n / 2;
            let rail = |from: usize| (1..half).map(move |v| (from + v - 1, from + v));
            rail(0).chain(rail(half)).chain((0..half).step_by(9).map(|v| (v, half + v))).collect()
        }
    }
}

/// An undirected graph of a shape on `n >= 1` vertices. If the seed is odd, the ids are shuffled.
pub(crate) fn shape(kind: usize, n: usize, seed: u64) -> Sample {
    let step = if seed.is_multiple_of(2) { 1 } else { coprime(n, seed) };
    let name = |v: usize| vertex(v * step % n);
    let edges = edges(kind, n).into_iter().map(|(u, v)| (name(u), name(v))).collect();
    Sample { num_vertices: n, directed: false, edges, seed }
}

/// One undirected graph of each shape and size.
pub(crate) fn shapes(sizes: &[usize], seed: u64) -> Vec<Sample> {
    let of = |&n: &usize| (0..SHAPES).map(move |kind| shape(kind, n, seed + kind as u64));
    sizes.iter().flat_map(of).collect()
}

/// Graphs of every shape, directed and undirected, and the empty graph.
pub(crate) fn awkward() -> Vec<Sample> {
    let empty = Sample { num_vertices: 0, directed: false, edges: Vec::new(), seed: 7 };
    let undirected = [empty].into_iter().chain(shapes(&[1, 130], 7)).chain(shapes(&[300], 8));
    undirected.flat_map(|sample| [sample.clone(), Sample { directed: true, ..sample }]).collect()
}

fn clique(first: usize, end: usize) -> Vec<(usize, usize)> {
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

/// A number coprime to `n`.
fn coprime(n: usize, seed: u64) -> usize {
    let divides = |mut a: usize, mut b: usize| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a == 1
    };
    (seed as usize % n.max(1) + n / 2..).find(|&step| step > 0 && divides(step, n)).expect("a prime beyond n")
}

/// A graph with hubs, large enough that several threads share the work.
pub(crate) fn large<W: Weight>(directed: bool, seed: u64, weight: impl Fn(u32) -> W) -> Csr<W> {
    let mut random = Random::new(seed);
    let n = 14_011;
    let mut end = || {
        let unit = random.unit();
        (unit * unit * unit * f64::from(n)) as VertexId
    };
    let edges = (0..80_000).map(|_| (end(), end())).collect();
    Sample { num_vertices: n as usize, directed, edges, seed }.csr(weight)
}

/// Evaluates `$body` with `$graph` bound to each form of a graph. These are the graph as it is, and in
/// shuffled pieces that no thread holds alone; both of these with removed vertices between its own; and the
/// result of filtering a graph with more edges.
macro_rules! each_form {
    ($csr:expr, $seed:expr, |$graph:ident| $body:expr) => {{
        let plain = $csr.graph();
        let spaced = crate::common::Spaced::new(&plain, $seed);
        let spaced_graph = spaced.graph();
        let widened = crate::common::Widened::new(&plain, $seed);
        let wide_graph = widened.graph();
        {
            let $graph = &plain;
            $body;
        }
        let spaced_pieces = esker_graph::Boxed::new(esker_graph::Fragmented::new(spaced_graph, $seed));
        for $graph in [
            &esker_graph::Boxed::new(esker_graph::Fragmented::new(plain, $seed)),
            &spaced.induced(&spaced_graph),
            &spaced.induced(&spaced_pieces),
            &crate::common::narrowed(&wide_graph, &plain),
        ] {
            $body;
        }
    }};
}
pub(crate) use each_form;

/// Number of forms.
pub(crate) const FORMS: usize = 5;

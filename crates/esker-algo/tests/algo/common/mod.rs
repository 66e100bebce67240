//! Random graphs of every kind, for the property tests of the algorithms.
#![allow(dead_code)] // The tests of crate `esker` use a part of it.

pub(crate) mod shapes;

use std::sync::OnceLock;

use esker_algo::primitive::{Filter, FilteredDirections};
use esker_graph::random::Random;
use esker_graph::{
    Boxed, Csr, CsrGraph, Direction, Fragmented, Induced, Lists, Remaining, Run, RunOptions, Select, Stop,
    VertexId, Weight, vertex,
};
use proptest::prelude::*;

/// A graph as a list of edges, with self-loops, duplicates and isolated vertices.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    pub(crate) num_vertices: usize,
    pub(crate) directed: bool,
    pub(crate) edges: Vec<(VertexId, VertexId)>,
    pub(crate) seed: u64,
}

/// Graphs of 1 to 100 vertices, directed or undirected: random from empty to dense, biased towards sparse
/// ones and hubs, or of an awkward shape.
pub(crate) fn samples() -> impl Strategy<Value = Sample> {
    prop_oneof![3 => random_samples(), 2 => shapes::shaped()]
}

/// The same graphs, all undirected.
pub(crate) fn undirected() -> impl Strategy<Value = Sample> {
    samples().prop_map(|sample| Sample { directed: false, ..sample })
}

fn random_samples() -> impl Strategy<Value = Sample> {
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
    /// The graph with weights made by `weight` from small integers, which are the same for both arcs of an
    /// edge.
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

/// The same graph without in-lists if it is directed, else unchanged.
pub(crate) fn without_in_edges<'a, W: Weight>(graph: &CsrGraph<'a, W>) -> CsrGraph<'a, W> {
    let out = *graph.rows(Direction::Out).expect("out-lists are always kept");
    if is_directed(graph) { CsrGraph::directed(out, None) } else { CsrGraph::undirected(out) }
}

fn is_directed<W: Weight>(graph: &CsrGraph<'_, W>) -> bool {
    esker_graph::Graph::is_directed(graph)
}

/// The same graph in shuffled pieces. Like all awkward graphs it is erased, so that an algorithm is compiled
/// for two types of graph only.
pub(crate) fn fragmented<'a, W: Weight>(graph: &CsrGraph<'a, W>, sample: &Sample) -> Boxed<'a, W, Stop> {
    Boxed::new(Fragmented::new(*graph, sample.seed))
}

/// The edges of a graph; each edge of an undirected graph once.
fn edges_of<W: Weight>(graph: &CsrGraph<'_, W>) -> Vec<(VertexId, VertexId, W)> {
    let out = graph.rows(Direction::Out).expect("out-lists are always kept");
    let mut edges = Vec::new();
    for u in (0..out.num_vertices()).map(vertex) {
        let (targets, weights) = out.list(u);
        let arcs = targets.iter().zip(weights).filter(|(v, _)| is_directed(graph) || u <= **v);
        edges.extend(arcs.map(|(&v, &weight)| (u, v, weight)));
    }
    edges
}

/// A graph with additional edges.
pub(crate) struct Widened<W>(Csr<W>);

impl<W: Weight> Widened<W> {
    /// Adds edges between vertices that are not neighbours, about half as many as the graph has.
    pub(crate) fn new(graph: &CsrGraph<'_, W>, seed: u64) -> Self {
        let out = graph.rows(Direction::Out).expect("out-lists are always kept");
        let n = out.num_vertices();
        let mut edges = edges_of(graph);
        let mut random = Random::new(seed);
        let mut draw = || vertex(random.index(n));
        for _ in 0..if n == 0 { 0 } else { edges.len() / 2 + 4 } {
            let (u, v) = (draw(), draw());
            if out.list(u).0.binary_search(&v).is_err() {
                edges.push((u, v, W::default()));
            }
        }
        let made = if is_directed(graph) { Csr::directed } else { Csr::undirected };
        Self(made(n, &edges).expect("the ends are below the number of vertices"))
    }

    /// The graph with the additional edges.
    pub(crate) fn graph(&self) -> CsrGraph<'_, W> {
        self.0.graph()
    }
}

/// Filters `wide` so that `graph` is left.
pub(crate) fn narrowed<'g, W: Weight>(
    wide: &'g CsrGraph<'g, W>,
    graph: &CsrGraph<'_, W>,
) -> Boxed<'g, W, Stop> {
    static RUN: OnceLock<Run> = OnceLock::new();
    let run = RUN.get_or_init(|| run(2, false));
    let out = graph.rows(Direction::Out).expect("out-lists are always kept");
    let sides = if is_directed(graph) { FilteredDirections::Both } else { FilteredDirections::Symmetric };
    let keep = |u: VertexId, v: VertexId, _| out.list(u).0.binary_search(&v).is_ok();
    Boxed::new(Filter::new(wide, run, sides, Select::All, keep).expect("a filter"))
}

/// A graph with additional vertices without edges, which count as removed.
pub(crate) struct Spaced<W> {
    csr: Csr<W>,
    remaining: Remaining,
}

impl<W: Weight> Spaced<W> {
    /// The same graph with up to four removed vertices before each of its own, and after the last. The seed
    /// decides the numbers.
    pub(crate) fn new(graph: &CsrGraph<'_, W>, seed: u64) -> Self {
        let out = graph.rows(Direction::Out).expect("out-lists are always kept");
        let mut random = Random::new(seed);
        let mut gap = || [0, 0, 0, 0, 0, 1, 2, 4][random.index(8)];
        let (mut origins, mut removed, mut next) = (Vec::new(), Vec::new(), 0);
        for v in 0..=out.num_vertices() {
            let end = next + gap();
            removed.extend((next..end).map(vertex));
            next = end;
            if v < out.num_vertices() {
                origins.push(vertex(end));
                next += 1;
            }
        }
        let directed = is_directed(graph);
        let mut edges = edges_of(graph);
        edges.iter_mut().for_each(|(u, v, _)| (*u, *v) = (origins[*u as usize], origins[*v as usize]));
        let made = if directed { Csr::directed } else { Csr::undirected };
        let csr = made(next, &edges).expect("the ends are below the number of vertices");
        Self { csr, remaining: Remaining::new(next, &removed).expect("ascending vertices") }
    }

    /// The graph including the removed vertices.
    pub(crate) fn graph(&self) -> CsrGraph<'_, W> {
        self.csr.graph()
    }

    /// The graph without the removed vertices.
    pub(crate) fn induced<'g, G: Lists>(&'g self, graph: &'g G) -> Boxed<'g, G::Weight, G::Error> {
        Boxed::new(Induced::new(graph, &self.remaining))
    }
}

/// A run of `threads` threads with an arbitrary seed.
pub(crate) fn run(threads: usize, deterministic: bool) -> Run {
    Run::new(RunOptions { threads, seed: 5, deterministic, ..RunOptions::default() }).expect("threads start")
}

/// Runs with 1, 2 and 7 threads.
pub(crate) fn runs(deterministic: bool) -> Vec<Run> {
    [1, 2, 7].into_iter().map(|threads| run(threads, deterministic)).collect()
}

/// A random graph whose first vertices have by far the most edges: an edge ends at `v` with a probability of
/// about 1/sqrt(v). Loops and duplicates occur.
pub(crate) fn skewed(n: usize, num_edges: usize, directed: bool, seed: u64) -> Csr {
    let mut random = Random::new(seed);
    let mut end = || {
        let unit = random.unit();
        (unit * unit * n as f64) as VertexId
    };
    let edges: Vec<_> = (0..num_edges).map(|_| (end(), end(), ())).collect();
    let made = if directed { Csr::directed } else { Csr::undirected };
    made(n, &edges).expect("the ends are below the number of vertices")
}

/// Settings of a property test. `weight` says how many cases it gets relative to other tests: one of weight
/// 200 gets `ESKER_CASES`, or 32 if that is not set.
pub(crate) fn cases(weight: u32) -> ProptestConfig {
    let cases_of_200 = match std::env::var("ESKER_CASES") {
        Ok(cases) => cases.parse().expect("ESKER_CASES is a number"),
        Err(_) => 32,
    };
    let cases = u64::from(weight) * cases_of_200 / 200;
    ProptestConfig::with_cases((cases as u32).max(8))
}

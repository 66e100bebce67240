//! The benchmarks: every algorithm with the options that other systems use, and a summary of its result.

use std::num::NonZeroU32;

use esker_algo::algorithm::centrality::betweenness::{self, BetweennessOptions, Scale, Sources};
use esker_algo::algorithm::centrality::pagerank::{self, PageRankOptions};
use esker_algo::algorithm::cohesion::cliques::{self, CliquesOptions};
use esker_algo::algorithm::cohesion::densest::{self, DensestOptions};
use esker_algo::algorithm::cohesion::kcore;
use esker_algo::algorithm::cohesion::lcc::{self, LccOptions};
use esker_algo::algorithm::cohesion::triangles::{self, TrianglesOptions};
use esker_algo::algorithm::cohesion::triangles_filter;
use esker_algo::algorithm::cohesion::truss;
use esker_algo::algorithm::components::biconnectivity;
use esker_algo::algorithm::components::cdlp::{self, CdlpOptions};
use esker_algo::algorithm::components::forest::{self, ForestOptions};
use esker_algo::algorithm::components::ldd::{self, LddOptions};
use esker_algo::algorithm::components::msf;
use esker_algo::algorithm::components::spanner::{self, SpannerOptions};
use esker_algo::algorithm::components::wcc::{self, WccMethod, WccOptions};
use esker_algo::algorithm::paths::bellman_ford::{self, BellmanFordOptions};
use esker_algo::algorithm::paths::bfs::{self, BfsOptions};
use esker_algo::algorithm::paths::sssp::{self, SsspOptions};
use esker_algo::algorithm::paths::wbfs::{self, WbfsOptions};
use esker_algo::algorithm::paths::widest::{self, WidestMethod, WidestOptions};
use esker_algo::algorithm::sets::colouring::{self, ColouringOptions, ColouringOrder, Ties};
use esker_algo::algorithm::sets::matching::{self, MatchingMethod, MatchingOptions};
use esker_algo::algorithm::sets::mis::{self, MisOptions, MisOrder};
use esker_algo::algorithm::sets::set_cover::{self, SetCoverOptions};
use esker_algo::{Estimate, Shape};
use esker_graph::{CsrGraph, Run, VertexId};

/// What memory may grow with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Memory {
    /// The vertices only.
    Vertices,
    /// The vertices, and a bit or two per edge for a filter.
    Filter,
    /// The edges: outside the semi-asymmetric model.
    Edges,
}

/// A summary of a result, as names and numbers.
pub(crate) type Summary = Vec<(&'static str, f64)>;

type Plain<'a> = CsrGraph<'a, ()>;
type Weighted<'a> = CsrGraph<'a, i32>;

/// The function to time, called with graph, run and source.
#[derive(Clone, Copy)]
pub(crate) enum Work {
    Plain(fn(&Plain<'_>, &Run, VertexId) -> Summary),
    Weighted(fn(&Weighted<'_>, &Run, VertexId) -> Summary),
}

/// One benchmark.
pub(crate) struct Benchmark {
    pub(crate) name: &'static str,
    pub(crate) memory: Memory,
    pub(crate) work: Work,
    pub(crate) estimate: fn(Shape, &Run) -> Estimate,
}

const fn benchmark(
    name: &'static str,
    memory: Memory,
    work: Work,
    estimate: fn(Shape, &Run) -> Estimate,
) -> Benchmark {
    Benchmark { name, memory, work, estimate }
}

/// The result of an algorithm. Any error ends the benchmark.
fn succeed<R, E: std::fmt::Debug>(result: Result<R, E>) -> R {
    result.expect("the algorithm succeeds")
}

/// Number of PageRank iterations timed together.
pub(crate) const PAGERANK_ROUNDS: usize = 10;

fn pagerank_rounds() -> PageRankOptions {
    PageRankOptions { tolerance: 0.0, rounds_max: PAGERANK_ROUNDS, ..PageRankOptions::default() }
}

fn one_source(source: VertexId) -> BetweennessOptions {
    BetweennessOptions { sources: Sources::These(vec![source]), scale: Scale::Sum }
}

fn contraction() -> WccOptions {
    WccOptions { method: WccMethod::Contraction { beta: 0.2 }, ..WccOptions::default() }
}

const ROUNDS: WidestOptions = WidestOptions { method: WidestMethod::Rounds, parents: false };
const PARENTS_ONLY: BfsOptions =
    BfsOptions { depths: false, parents: true, depth_max: None, target: None, thresholds: None };
const PRIORITIES: MatchingOptions = MatchingOptions { method: MatchingMethod::Priorities };
const AT_RANDOM: MisOptions = MisOptions { order: MisOrder::Random };
const SMALLEST_LAST: ColouringOptions =
    ColouringOptions { order: ColouringOrder::SmallestLast, ties: Ties::Random, passes: NonZeroU32::MIN };

/// The eighteen problems of Sage, in its order.
pub(crate) const SAGE: [Benchmark; 18] = [
    benchmark(
        "bfs",
        Memory::Vertices,
        Work::Plain(|g, r, s| {
            let found = succeed(bfs::bfs(g, r, &[s], &PARENTS_ONLY));
            vec![("reached", found.reached as f64), ("rounds", found.rounds as f64)]
        }),
        |s, r| bfs::estimate(s, &PARENTS_ONLY, r.deterministic()),
    ),
    benchmark(
        "wbfs",
        Memory::Vertices,
        Work::Weighted(|g, r, s| {
            let found = succeed(wbfs::wbfs(g, r, s, &WbfsOptions::default()));
            vec![("reached", found.reached as f64), ("rounds", found.rounds as f64)]
        }),
        |s, _| wbfs::estimate(s, &WbfsOptions::default()),
    ),
    benchmark(
        "bellman-ford",
        Memory::Vertices,
        Work::Weighted(|g, r, s| {
            let found = succeed(bellman_ford::bellman_ford(g, r, s, &BellmanFordOptions::default()));
            vec![("reached", found.reached as f64), ("rounds", found.rounds as f64)]
        }),
        |s, _| bellman_ford::estimate(s, &BellmanFordOptions::default()),
    ),
    benchmark(
        "widest",
        Memory::Vertices,
        Work::Weighted(|g, r, s| {
            let found = succeed(widest::widest(g, r, s, &WidestOptions::default()));
            vec![("reached", found.reached as f64), ("rounds", found.rounds as f64)]
        }),
        |s, _| widest::estimate(s, &WidestOptions::default()),
    ),
    benchmark(
        "betweenness",
        Memory::Vertices,
        Work::Plain(|g, r, s| {
            let found = succeed(betweenness::betweenness(g, r, &one_source(s)));
            let largest = found.scores.iter().copied().fold(0.0, f64::max);
            vec![("rounds", found.rounds as f64), ("largest", largest)]
        }),
        |s, _| betweenness::estimate(s, &one_source(0)),
    ),
    benchmark(
        "spanner",
        Memory::Vertices,
        Work::Plain(|g, r, _| {
            let found = succeed(spanner::spanner(g, r, &SpannerOptions::default()));
            vec![("edges", found.edges.len() as f64), ("stretch", found.stretch as f64)]
        }),
        |s, r| spanner::estimate(s, &SpannerOptions::default(), r.deterministic()),
    ),
    benchmark(
        "ldd",
        Memory::Vertices,
        Work::Plain(|g, r, _| {
            let found = succeed(ldd::ldd(g, r, &LddOptions::default()));
            vec![("clusters", found.count as f64), ("rounds", found.rounds as f64)]
        }),
        |s, r| ldd::estimate(s, &LddOptions::default(), r.deterministic()),
    ),
    benchmark(
        "wcc",
        Memory::Vertices,
        Work::Plain(|g, r, _| {
            vec![("components", succeed(wcc::wcc(g, r, &WccOptions::default())).components as f64)]
        }),
        |s, _| wcc::estimate(s),
    ),
    benchmark(
        "forest",
        Memory::Vertices,
        Work::Plain(|g, r, _| {
            vec![("edges", succeed(forest::forest(g, r, &ForestOptions::default())).edges.len() as f64)]
        }),
        |s, r| forest::estimate(s, &ForestOptions::default(), r.deterministic()),
    ),
    benchmark(
        "biconnectivity",
        Memory::Vertices,
        Work::Plain(|g, r, _| {
            let found = succeed(biconnectivity::biconnectivity(g, r));
            vec![("blocks", found.count as f64), ("bridges", found.bridges.len() as f64)]
        }),
        |s, _| biconnectivity::estimate(s),
    ),
    benchmark(
        "mis",
        Memory::Vertices,
        Work::Plain(|g, r, _| {
            let found = succeed(mis::mis(g, r, &MisOptions::default()));
            vec![("size", found.size as f64), ("rounds", found.rounds as f64)]
        }),
        |s, _| mis::estimate(s),
    ),
    benchmark(
        "matching",
        Memory::Vertices,
        Work::Plain(|g, r, _| {
            let found = succeed(matching::matching(g, r, &MatchingOptions::default()));
            vec![("edges", found.edges as f64), ("rounds", found.rounds as f64)]
        }),
        |s, r| matching::estimate(s, &MatchingOptions::default(), r.deterministic()),
    ),
    benchmark(
        "colouring",
        Memory::Vertices,
        Work::Plain(|g, r, _| {
            let found = succeed(colouring::colouring(g, r, &ColouringOptions::default()));
            vec![("colours", found.count as f64), ("rounds", found.rounds as f64)]
        }),
        |s, _| colouring::estimate(s, &ColouringOptions::default()),
    ),
    benchmark(
        "setcover",
        Memory::Vertices,
        Work::Plain(|g, r, _| {
            let found = succeed(set_cover::set_cover(g, r, &SetCoverOptions::default()));
            vec![("sets", found.sets.len() as f64), ("rounds", found.rounds as f64)]
        }),
        |s, _| set_cover::estimate(s),
    ),
    benchmark(
        "kcore",
        Memory::Vertices,
        Work::Plain(|g, r, _| {
            let found = succeed(kcore::kcore(g, r));
            vec![("k_max", found.k_max as f64), ("rounds", found.rounds as f64)]
        }),
        |s, _| kcore::estimate(s),
    ),
    benchmark(
        "densest",
        Memory::Vertices,
        Work::Plain(|g, r, _| {
            let found = succeed(densest::densest(g, r, &DensestOptions::default()));
            vec![("density", found.density), ("rounds", found.rounds as f64)]
        }),
        |s, _| densest::estimate(s),
    ),
    benchmark(
        "triangles",
        Memory::Edges,
        Work::Plain(|g, r, _| {
            let found = succeed(triangles::triangles(g, r, &TrianglesOptions::default()));
            vec![("triangles", found.triangles as f64)]
        }),
        |s, r| triangles::estimate(s, &TrianglesOptions::default(), r.threads()),
    ),
    benchmark(
        "pagerank",
        Memory::Vertices,
        Work::Plain(|g, r, _| {
            let found = succeed(pagerank::pagerank(g, r, &pagerank_rounds()));
            vec![("rounds", found.rounds as f64), ("residual", found.residual)]
        }),
        |s, _| pagerank::estimate(s, &pagerank_rounds()),
    ),
];

/// Other methods for these problems, and other problems.
pub(crate) const OTHERS: [Benchmark; 13] = [
    benchmark(
        "cliques",
        Memory::Edges,
        Work::Plain(|g, r, _| {
            let found = succeed(cliques::cliques(g, r, &CliquesOptions::default()));
            vec![("cliques", found.cliques as f64)]
        }),
        |s, r| cliques::estimate(s, r.threads()),
    ),
    benchmark(
        "truss",
        Memory::Edges,
        Work::Plain(|g, r, _| {
            let found = succeed(truss::truss(g, r));
            vec![("largest", found.largest as f64), ("rounds", found.rounds as f64)]
        }),
        |s, r| truss::estimate(s, r.threads()),
    ),
    benchmark(
        "triangles-filter",
        Memory::Filter,
        Work::Plain(|g, r, _| {
            vec![("triangles", succeed(triangles_filter::triangles_filter(g, r)).triangles as f64)]
        }),
        |s, r| triangles_filter::estimate(s, r.threads()),
    ),
    benchmark(
        "lcc",
        Memory::Edges,
        Work::Plain(|g, r, _| vec![("average", succeed(lcc::lcc(g, r, &LccOptions::default())).average)]),
        |s, r| lcc::estimate(s, &LccOptions::default(), r.threads()),
    ),
    benchmark(
        "cdlp",
        Memory::Vertices,
        Work::Plain(|g, r, _| {
            vec![("communities", succeed(cdlp::cdlp(g, r, None, &CdlpOptions::default())).communities as f64)]
        }),
        |s, r| cdlp::estimate(s, &CdlpOptions::default(), false, r.threads()),
    ),
    benchmark(
        "sssp",
        Memory::Vertices,
        Work::Weighted(|g, r, s| {
            let found = succeed(sssp::sssp(g, r, s, &SsspOptions::default()));
            vec![("reached", found.reached as f64), ("rounds", found.rounds as f64)]
        }),
        |s, _| sssp::estimate(s, &SsspOptions::default()),
    ),
    benchmark(
        "msf",
        Memory::Vertices,
        Work::Weighted(|g, r, _| vec![("weight", succeed(msf::msf(g, r)).weight)]),
        |s, _| msf::estimate(s),
    ),
    benchmark(
        "widest-rounds",
        Memory::Vertices,
        Work::Weighted(|g, r, s| vec![("rounds", succeed(widest::widest(g, r, s, &ROUNDS)).rounds as f64)]),
        |s, _| widest::estimate(s, &ROUNDS),
    ),
    benchmark(
        "wcc-contraction",
        Memory::Vertices,
        Work::Plain(|g, r, _| {
            vec![("components", succeed(wcc::wcc(g, r, &contraction())).components as f64)]
        }),
        |s, _| wcc::estimate_method(s, contraction().method),
    ),
    benchmark(
        "mis-random",
        Memory::Vertices,
        Work::Plain(|g, r, _| vec![("size", succeed(mis::mis(g, r, &AT_RANDOM)).size as f64)]),
        |s, _| mis::estimate(s),
    ),
    benchmark(
        "matching-priorities",
        Memory::Filter,
        Work::Plain(|g, r, _| vec![("edges", succeed(matching::matching(g, r, &PRIORITIES)).edges as f64)]),
        |s, r| matching::estimate(s, &PRIORITIES, r.deterministic()),
    ),
    benchmark(
        "colouring-smallest-last",
        Memory::Vertices,
        Work::Plain(|g, r, _| {
            vec![("colours", succeed(colouring::colouring(g, r, &SMALLEST_LAST)).count as f64)]
        }),
        |s, _| colouring::estimate(s, &SMALLEST_LAST),
    ),
    benchmark(
        "triangles-in-place",
        Memory::Edges,
        Work::Plain(|g, r, _| {
            vec![("triangles", succeed(triangles::triangles(g, r, &in_place())).triangles as f64)]
        }),
        |s, r| triangles::estimate(s, &in_place(), r.threads()),
    ),
];

fn in_place() -> TrianglesOptions {
    TrianglesOptions { order: triangles::CountingOrder::Given }
}

//! The kernels of the benchmark: every problem of the catalogue with the options of its rivals, and measures of its answer.

use std::num::NonZeroU32;

use esker_algo::algorithm::bellman_ford::{self, BellmanFordOptions};
use esker_algo::algorithm::betweenness::{self, BetweennessOptions, Scale, Sources};
use esker_algo::algorithm::bfs::{self, BfsOptions};
use esker_algo::algorithm::biconnectivity;
use esker_algo::algorithm::cdlp::{self, CdlpOptions};
use esker_algo::algorithm::cliques::{self, CliquesOptions};
use esker_algo::algorithm::colouring::{self, ColouringOptions, ColouringOrder, Ties};
use esker_algo::algorithm::densest::{self, DensestOptions};
use esker_algo::algorithm::forest::{self, ForestOptions};
use esker_algo::algorithm::kcore;
use esker_algo::algorithm::lcc::{self, LccOptions};
use esker_algo::algorithm::ldd::{self, LddOptions};
use esker_algo::algorithm::matching::{self, MatchingMethod, MatchingOptions};
use esker_algo::algorithm::mis::{self, MisOptions, MisOrder};
use esker_algo::algorithm::msf;
use esker_algo::algorithm::pagerank::{self, PageRankOptions};
use esker_algo::algorithm::set_cover::{self, SetCoverOptions};
use esker_algo::algorithm::spanner::{self, SpannerOptions};
use esker_algo::algorithm::sssp::{self, SsspOptions};
use esker_algo::algorithm::triangles::{self, TrianglesOptions};
use esker_algo::algorithm::triangles_filter;
use esker_algo::algorithm::truss;
use esker_algo::algorithm::wbfs::{self, WbfsOptions};
use esker_algo::algorithm::wcc::{self, WccMethod, WccOptions};
use esker_algo::algorithm::widest::{self, WidestMethod, WidestOptions};
use esker_algo::{Estimate, Shape};
use esker_graph::{CsrGraph, Run, VertexId};

/// What memory may grow with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Memory {
    /// The vertices alone.
    Vertices,
    /// The vertices, and one or two bits per edge: a filter.
    Filter,
    /// The edges: outside the model.
    Edges,
}

/// The findings of a run, as names and numbers.
pub(crate) type Found = Vec<(&'static str, f64)>;

type Plain<'a> = CsrGraph<'a, ()>;
type Weighted<'a> = CsrGraph<'a, i32>;

/// The call of a kernel: graph, run, source.
#[derive(Clone, Copy)]
pub(crate) enum Work {
    Plain(fn(&Plain<'_>, &Run, VertexId) -> Found),
    Weighted(fn(&Weighted<'_>, &Run, VertexId) -> Found),
}

/// A kernel of the benchmark.
pub(crate) struct Kernel {
    pub(crate) name: &'static str,
    pub(crate) memory: Memory,
    pub(crate) work: Work,
    pub(crate) estimate: fn(Shape, &Run) -> Estimate,
}

const fn kernel(
    name: &'static str,
    memory: Memory,
    work: Work,
    estimate: fn(Shape, &Run) -> Estimate,
) -> Kernel {
    Kernel { name, memory, work, estimate }
}

/// A run that fails ends the bench.
fn sound<R, E: std::fmt::Debug>(result: Result<R, E>) -> R {
    result.expect("the kernel runs to its end")
}

/// Rounds of PageRank that are timed together.
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
const PARENTS_ONLY: BfsOptions = BfsOptions { depths: false };
const PRIORITIES: MatchingOptions = MatchingOptions { method: MatchingMethod::Priorities };
const AT_RANDOM: MisOptions = MisOptions { order: MisOrder::Random };
const SMALLEST_LAST: ColouringOptions =
    ColouringOptions { order: ColouringOrder::SmallestLast, ties: Ties::Random, passes: NonZeroU32::MIN };

/// The eighteen problems of Sage, in its order.
pub(crate) const SAGE: [Kernel; 18] = [
    kernel(
        "bfs",
        Memory::Vertices,
        Work::Plain(|g, r, s| {
            let found = sound(bfs::bfs(g, r, &[s], &PARENTS_ONLY));
            vec![("reached", found.reached as f64), ("rounds", found.rounds as f64)]
        }),
        |s, r| bfs::estimate(s, &PARENTS_ONLY, r.deterministic()),
    ),
    kernel(
        "wbfs",
        Memory::Vertices,
        Work::Weighted(|g, r, s| {
            let found = sound(wbfs::wbfs(g, r, s, &WbfsOptions::default()));
            vec![("reached", found.reached as f64), ("rounds", found.rounds as f64)]
        }),
        |s, _| wbfs::estimate(s, &WbfsOptions::default()),
    ),
    kernel(
        "bellman-ford",
        Memory::Vertices,
        Work::Weighted(|g, r, s| {
            let found = sound(bellman_ford::bellman_ford(g, r, s, &BellmanFordOptions::default()));
            vec![("reached", found.reached as f64), ("rounds", found.rounds as f64)]
        }),
        |s, _| bellman_ford::estimate(s, &BellmanFordOptions::default()),
    ),
    kernel(
        "widest",
        Memory::Vertices,
        Work::Weighted(|g, r, s| {
            let found = sound(widest::widest(g, r, s, &WidestOptions::default()));
            vec![("reached", found.reached as f64), ("rounds", found.rounds as f64)]
        }),
        |s, _| widest::estimate(s, &WidestOptions::default()),
    ),
    kernel(
        "betweenness",
        Memory::Vertices,
        Work::Plain(|g, r, s| {
            let found = sound(betweenness::betweenness(g, r, &one_source(s)));
            let largest = found.scores.iter().copied().fold(0.0, f64::max);
            vec![("rounds", found.rounds as f64), ("largest", largest)]
        }),
        |s, _| betweenness::estimate(s, &one_source(0)),
    ),
    kernel(
        "spanner",
        Memory::Vertices,
        Work::Plain(|g, r, _| {
            let found = sound(spanner::spanner(g, r, &SpannerOptions::default()));
            vec![("edges", found.edges.len() as f64), ("stretch", found.stretch as f64)]
        }),
        |s, r| spanner::estimate(s, &SpannerOptions::default(), r.deterministic()),
    ),
    kernel(
        "ldd",
        Memory::Vertices,
        Work::Plain(|g, r, _| {
            let found = sound(ldd::ldd(g, r, &LddOptions::default()));
            vec![("clusters", found.count as f64), ("rounds", found.rounds as f64)]
        }),
        |s, r| ldd::estimate(s, &LddOptions::default(), r.deterministic()),
    ),
    kernel(
        "wcc",
        Memory::Vertices,
        Work::Plain(|g, r, _| {
            vec![("components", sound(wcc::wcc(g, r, &WccOptions::default())).components as f64)]
        }),
        |s, _| wcc::estimate(s),
    ),
    kernel(
        "forest",
        Memory::Vertices,
        Work::Plain(|g, r, _| {
            vec![("edges", sound(forest::forest(g, r, &ForestOptions::default())).edges.len() as f64)]
        }),
        |s, r| forest::estimate(s, &ForestOptions::default(), r.deterministic()),
    ),
    kernel(
        "biconnectivity",
        Memory::Vertices,
        Work::Plain(|g, r, _| {
            let found = sound(biconnectivity::biconnectivity(g, r));
            vec![("blocks", found.count as f64), ("bridges", found.bridges.len() as f64)]
        }),
        |s, _| biconnectivity::estimate(s),
    ),
    kernel(
        "mis",
        Memory::Vertices,
        Work::Plain(|g, r, _| {
            let found = sound(mis::mis(g, r, &MisOptions::default()));
            vec![("size", found.size as f64), ("rounds", found.rounds as f64)]
        }),
        |s, _| mis::estimate(s),
    ),
    kernel(
        "matching",
        Memory::Vertices,
        Work::Plain(|g, r, _| {
            let found = sound(matching::matching(g, r, &MatchingOptions::default()));
            vec![("edges", found.edges as f64), ("rounds", found.rounds as f64)]
        }),
        |s, r| matching::estimate(s, &MatchingOptions::default(), r.deterministic()),
    ),
    kernel(
        "colouring",
        Memory::Vertices,
        Work::Plain(|g, r, _| {
            let found = sound(colouring::colouring(g, r, &ColouringOptions::default()));
            vec![("colours", found.count as f64), ("rounds", found.rounds as f64)]
        }),
        |s, _| colouring::estimate(s, &ColouringOptions::default()),
    ),
    kernel(
        "setcover",
        Memory::Vertices,
        Work::Plain(|g, r, _| {
            let found = sound(set_cover::set_cover(g, r, &SetCoverOptions::default()));
            vec![("sets", found.sets.len() as f64), ("rounds", found.rounds as f64)]
        }),
        |s, _| set_cover::estimate(s),
    ),
    kernel(
        "kcore",
        Memory::Vertices,
        Work::Plain(|g, r, _| {
            let found = sound(kcore::kcore(g, r));
            vec![("k_max", found.k_max as f64), ("rounds", found.rounds as f64)]
        }),
        |s, _| kcore::estimate(s),
    ),
    kernel(
        "densest",
        Memory::Vertices,
        Work::Plain(|g, r, _| {
            let found = sound(densest::densest(g, r, &DensestOptions::default()));
            vec![("density", found.density), ("rounds", found.rounds as f64)]
        }),
        |s, _| densest::estimate(s),
    ),
    kernel(
        "triangles",
        Memory::Edges,
        Work::Plain(|g, r, _| {
            let found = sound(triangles::triangles(g, r, &TrianglesOptions::default()));
            vec![("triangles", found.triangles as f64)]
        }),
        |s, r| triangles::estimate(s, &TrianglesOptions::default(), r.threads()),
    ),
    kernel(
        "pagerank",
        Memory::Vertices,
        Work::Plain(|g, r, _| {
            let found = sound(pagerank::pagerank(g, r, &pagerank_rounds()));
            vec![("rounds", found.rounds as f64), ("residual", found.residual)]
        }),
        |s, _| pagerank::estimate(s, &pagerank_rounds()),
    ),
];

/// Other methods, and other problems.
pub(crate) const MORE: [Kernel; 13] = [
    kernel(
        "cliques",
        Memory::Edges,
        Work::Plain(|g, r, _| {
            let found = sound(cliques::cliques(g, r, &CliquesOptions::default()));
            vec![("cliques", found.cliques as f64)]
        }),
        |s, r| cliques::estimate(s, r.threads()),
    ),
    kernel(
        "truss",
        Memory::Edges,
        Work::Plain(|g, r, _| {
            let found = sound(truss::truss(g, r));
            vec![("largest", found.largest as f64), ("rounds", found.rounds as f64)]
        }),
        |s, r| truss::estimate(s, r.threads()),
    ),
    kernel(
        "triangles-filter",
        Memory::Filter,
        Work::Plain(|g, r, _| {
            vec![("triangles", sound(triangles_filter::triangles_filter(g, r)).triangles as f64)]
        }),
        |s, r| triangles_filter::estimate(s, r.threads()),
    ),
    kernel(
        "lcc",
        Memory::Edges,
        Work::Plain(|g, r, _| vec![("average", sound(lcc::lcc(g, r, &LccOptions::default())).average)]),
        |s, r| lcc::estimate(s, &LccOptions::default(), r.threads()),
    ),
    kernel(
        "cdlp",
        Memory::Vertices,
        Work::Plain(|g, r, _| {
            vec![("communities", sound(cdlp::cdlp(g, r, None, &CdlpOptions::default())).communities as f64)]
        }),
        |s, r| cdlp::estimate(s, &CdlpOptions::default(), false, r.threads()),
    ),
    kernel(
        "sssp",
        Memory::Vertices,
        Work::Weighted(|g, r, s| {
            let found = sound(sssp::sssp(g, r, s, &SsspOptions::default()));
            vec![("reached", found.reached as f64), ("rounds", found.rounds as f64)]
        }),
        |s, _| sssp::estimate(s, &SsspOptions::default()),
    ),
    kernel(
        "msf",
        Memory::Vertices,
        Work::Weighted(|g, r, _| vec![("weight", sound(msf::msf(g, r)).weight)]),
        |s, _| msf::estimate(s),
    ),
    kernel(
        "widest-rounds",
        Memory::Vertices,
        Work::Weighted(|g, r, s| vec![("rounds", sound(widest::widest(g, r, s, &ROUNDS)).rounds as f64)]),
        |s, _| widest::estimate(s, &ROUNDS),
    ),
    kernel(
        "wcc-contraction",
        Memory::Vertices,
        Work::Plain(|g, r, _| vec![("components", sound(wcc::wcc(g, r, &contraction())).components as f64)]),
        |s, _| wcc::estimate_method(s, contraction().method),
    ),
    kernel(
        "mis-random",
        Memory::Vertices,
        Work::Plain(|g, r, _| vec![("size", sound(mis::mis(g, r, &AT_RANDOM)).size as f64)]),
        |s, _| mis::estimate(s),
    ),
    kernel(
        "matching-priorities",
        Memory::Filter,
        Work::Plain(|g, r, _| vec![("edges", sound(matching::matching(g, r, &PRIORITIES)).edges as f64)]),
        |s, r| matching::estimate(s, &PRIORITIES, r.deterministic()),
    ),
    kernel(
        "colouring-smallest-last",
        Memory::Vertices,
        Work::Plain(|g, r, _| {
            vec![("colours", sound(colouring::colouring(g, r, &SMALLEST_LAST)).count as f64)]
        }),
        |s, _| colouring::estimate(s, &SMALLEST_LAST),
    ),
    kernel(
        "triangles-in-place",
        Memory::Edges,
        Work::Plain(|g, r, _| {
            vec![("triangles", sound(triangles::triangles(g, r, &in_place())).triangles as f64)]
        }),
        |s, r| triangles::estimate(s, &in_place(), r.threads()),
    ),
];

fn in_place() -> TrianglesOptions {
    TrianglesOptions { order: triangles::VertexOrder::Given }
}

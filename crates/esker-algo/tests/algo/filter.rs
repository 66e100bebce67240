//! Compares filters with lists filtered by definition, and runs algorithms on filtered graphs.

use esker_algo::algorithm::cohesion::cliques::{CliquesOptions, cliques};
use esker_algo::algorithm::cohesion::triangles::{TrianglesOptions, triangles};
use esker_algo::algorithm::cohesion::triangles_filter::triangles_filter;
use esker_algo::algorithm::cohesion::truss::truss;
use esker_algo::algorithm::components::biconnectivity::biconnectivity;
use esker_algo::algorithm::components::forest::{ForestOptions, forest};
use esker_algo::algorithm::components::ldd::{LddOptions, ldd};
use esker_algo::algorithm::components::msf::msf;
use esker_algo::algorithm::components::scc::scc;
use esker_algo::algorithm::components::spanner::{SpannerOptions, spanner};
use esker_algo::algorithm::components::wcc::{WccOptions, wcc};
use esker_algo::algorithm::paths::bfs::{BfsOptions, bfs};
use esker_algo::algorithm::sets::matching::{MatchingMethod, MatchingOptions, matching};
use esker_algo::primitive::{Filter, FilteredDirections, filter};
use esker_algo::{Shape, check};
use esker_graph::random::hash;
use esker_graph::{
    Bitmap, Csr, Direction, Flow, Graph, Lists, Piece, Rows, Run, Select, Stop, VertexId, Visitor, vertex,
};
use proptest::prelude::*;

use crate::common;
use crate::common::shapes::shapes;
use crate::common::undirected;

type Kept = Vec<Vec<(VertexId, i32)>>;

/// Whether a predicate keeps an arc. If `symmetric`, it decides alike for both arcs of an edge.
fn keeps(seed: u64, symmetric: bool, u: VertexId, v: VertexId, weight: i32) -> bool {
    let (a, b) = if symmetric { (u.min(v), u.max(v)) } else { (u, v) };
    let mixed = hash(u64::from(a) << 32 ^ u64::from(b) ^ seed) >> 61;
    mixed > seed % 4 && weight as u64 % 7 != seed % 7
}

/// Collects the lists that a scan hands over, in the order of the pieces of each vertex.
struct Collect;

impl Visitor<i32> for Collect {
    type State = Vec<(VertexId, VertexId, i32)>;
    fn new_state(&self) -> Self::State {
        Vec::new()
    }
    fn visit(&self, state: &mut Self::State, v: VertexId, piece: Piece<'_, i32>) -> Flow {
        assert!(piece.exclusive && !piece.targets.is_empty());
        state.extend(piece.targets.iter().zip(piece.weights).map(|(&u, &w)| (v, u, w)));
        Flow::More
    }
}

fn scanned<G: Graph<Weight = i32, Error = Stop>>(
    graph: &G,
    run: &Run,
    direction: Direction,
    select: Select<'_>,
) -> Kept {
    let mut lists = vec![Vec::new(); graph.num_vertices()];
    for (v, u, w) in graph.scan(run, direction, select, &Collect).unwrap().concat() {
        lists[v as usize].push((u, w));
    }
    lists
}

fn same<G: Lists<Weight = i32, Error = Stop>>(
    filter: &Filter<'_, G>,
    run: &Run,
    direction: Direction,
    model: &Kept,
) {
    assert_eq!(&scanned(filter, run, direction, Select::All), model);
    let n = model.len();
    let some: Vec<VertexId> = (0..n).rev().step_by(3).map(vertex).collect();
    let bits = Bitmap::new(n);
    some.iter().for_each(|&v| bits.insert_alone(v));
    let listed = scanned(filter, run, direction, Select::List(&some));
    assert_eq!(listed, scanned(filter, run, direction, Select::Bits(&bits)));
    for v in (0..n).map(vertex) {
        let list = &model[v as usize];
        assert_eq!(filter.degree(direction, v), list.len());
        assert_eq!(&listed[v as usize], if bits.get(v) { &list[..] } else { &[] });
        // The calls are nested to catch a shared buffer.
        let outer = filter.with_list(direction, v, |targets, weights| {
            let first = targets.first().copied().unwrap_or(v);
            let inner = filter.with_list(direction, first, |inner, _| inner.len()).unwrap();
            assert_eq!(inner, filter.degree(direction, first));
            targets.iter().copied().zip(weights.iter().copied()).collect::<Vec<_>>()
        });
        assert_eq!(&outer.unwrap(), list);
        if direction == Direction::Out {
            for index in 0..=list.len() {
                assert_eq!(filter.pick(v, index).unwrap(), list.get(index).copied());
            }
        }
    }
}

fn arcs(model: &Kept) -> u64 {
    model.iter().map(|list| list.len() as u64).sum()
}

/// Applies random operations to a filter and to plain lists.
fn follows_the_model<G: Lists<Weight = i32, Error = Stop>>(
    graph: &G,
    run: &Run,
    sides: FilteredDirections,
    seed: u64,
) {
    let n = graph.num_vertices();
    let list = |direction, v| {
        let zip = |t: &[VertexId], w: &[i32]| t.iter().copied().zip(w.iter().copied()).collect();
        graph.with_list(direction, vertex(v), zip).unwrap()
    };
    let mut out: Kept = (0..n).map(|v| list(Direction::Out, v)).collect();
    let mut incoming: Kept = match sides {
        FilteredDirections::Both => (0..n).map(|v| list(Direction::In, v)).collect(),
        _ => Vec::new(),
    };
    let symmetric = sides == FilteredDirections::Symmetric;
    let subset: Vec<VertexId> = (0..n).map(vertex).filter(|v| (seed >> (v % 61)) & 3 != 0).collect();
    let member = |v: VertexId| subset.binary_search(&v).is_ok();
    let cut = |lists: &mut Kept, turned: bool, keep: &dyn Fn(VertexId, VertexId, i32) -> bool| {
        for (v, list) in lists.iter_mut().enumerate() {
            let v = vertex(v);
            list.retain(|&(u, w)| if turned { keep(u, v, w) } else { keep(v, u, w) });
        }
    };
    let select = if seed.is_multiple_of(3) { Select::All } else { Select::List(&subset) };
    let all = matches!(select, Select::All);
    let first =
        |u, v, w| (all || member(u) && (!symmetric || member(v))) && (w % 5 != 0 || seed.is_multiple_of(5));
    let mut filter = Filter::new(graph, run, sides, select, first).unwrap();
    cut(&mut out, false, &first);
    cut(&mut incoming, true, &first);
    same(&filter, run, Direction::Out, &out);
    for step in 0..4 {
        let seed = seed.rotate_left(step * 7) + u64::from(step);
        let keep = |u, v, w| keeps(seed, symmetric, u, v, w);
        if seed.is_multiple_of(2) {
            assert_eq!(filter.retain(run, keep).unwrap(), {
                cut(&mut out, false, &keep);
                arcs(&out)
            });
            cut(&mut incoming, true, &keep);
        } else {
            filter.pack(run, Select::List(&subset), keep).unwrap();
            cut(&mut out, false, &|u, v, w| !member(u) || keep(u, v, w));
            same(&filter, run, Direction::Out, &out);
            assert_eq!(filter.num_arcs(), arcs(&out));
            let left = filter.settle(run, keep).unwrap();
            if symmetric {
                cut(&mut out, false, &|u, v, w| !member(v) || keep(u, v, w));
            } else {
                cut(&mut incoming, true, &|u, v, w| !member(u) || keep(u, v, w));
            }
            assert_eq!(left, arcs(&out));
            assert!((0..n).all(|v| !filter.is_dirty(vertex(v))));
        }
        same(&filter, run, Direction::Out, &out);
        if symmetric {
            assert_eq!(scanned(&filter, run, Direction::In, Select::All), out);
        } else if sides == FilteredDirections::Both {
            same(&filter, run, Direction::In, &incoming);
        }
        assert_eq!(filter.num_arcs(), arcs(&out));
    }
}

proptest! {
    #![proptest_config(common::cases(150))]
    #[test]
    fn any_operations_on_any_graph(sample in common::samples()) {
        let csr = sample.csr(|w| w as i32);
        let graph = csr.graph();
        for run in common::runs(false) {
            for sides in [FilteredDirections::Symmetric, FilteredDirections::Out, FilteredDirections::Both] {
                if sides == FilteredDirections::Symmetric && sample.directed {
                    prop_assert!(Filter::all(&graph, &run, sides).is_err());
                    continue;
                }
                follows_the_model(&graph, &run, sides, sample.seed);
                let spaced = common::Spaced::new(&graph, sample.seed);
                follows_the_model(&spaced.induced(&spaced.graph()), &run, sides, sample.seed);
            }
        }
    }
}

#[test]
fn large_lists_of_many_blocks() {
    for sample in shapes(&[3000], 5) {
        let csr = sample.csr(|w| w as i32);
        for (seed, sides) in [
            (6, FilteredDirections::Symmetric),
            (41, FilteredDirections::Symmetric),
            (77, FilteredDirections::Out),
        ] {
            follows_the_model(&csr.graph(), &common::run(3, false), sides, seed);
        }
    }
}

/// Runs algorithms on a filtered graph; the last makes a filter of the filter.
fn structures<G: Lists<Weight = i32, Error = Stop>>(graph: &G, out: &Rows<'_, i32>, run: &Run) {
    let found = ldd(graph, run, &LddOptions::default()).unwrap();
    check::ldd(out, &found.clusters, found.radius).unwrap();
    let found = forest(graph, run, &ForestOptions::default()).unwrap();
    check::forest(out, &found.edges, found.trees).unwrap();
    let found = spanner(graph, run, &SpannerOptions::default()).unwrap();
    check::spanner(out, &found.edges, &found.clusters, found.radius).unwrap();
    let found = msf(graph, run).unwrap();
    check::msf(out, &found.edges, found.trees).unwrap();
    for method in [MatchingMethod::Claims, MatchingMethod::Priorities] {
        let found = matching(graph, run, &MatchingOptions { method }).unwrap();
        check::matching(out, &found.mates, found.edges).unwrap();
    }
    check::triangles(out, triangles_filter(graph, run).unwrap().triangles).unwrap();
    check::cliques(out, 4, cliques(graph, run, &CliquesOptions::default()).unwrap().cliques).unwrap();
    let found = truss(graph, run).unwrap();
    check::truss(out, &found.edges, &found.trussness).unwrap();
}

/// A copy of the graph that a symmetric filter leaves.
fn copy(sample: &common::Sample, csr: &Csr<i32>) -> Csr<i32> {
    let view = csr.graph();
    let out = view.rows(Direction::Out).unwrap();
    let mut edges = Vec::new();
    for u in (0..sample.num_vertices).map(vertex) {
        let (targets, weights) = out.list(u);
        let kept = targets.iter().zip(weights).filter(|&(&v, &w)| keeps(sample.seed, true, u, v, w));
        edges.extend(kept.filter(|(v, _)| u <= **v).map(|(&v, &w)| (u, v, w)));
    }
    Csr::undirected(sample.num_vertices, &edges).unwrap()
}

proptest! {
    #![proptest_config(common::cases(150))]
    #[test]
    fn algorithms_run_on_what_is_left(sample in undirected()) {
        let csr = sample.csr(|w| w as i32);
        let graph = csr.graph();
        let left = copy(&sample, &csr);
        let view = left.graph();
        let out = view.rows(Direction::Out).unwrap();
        for run in common::runs(false) {
            let keep = |u, v, w| keeps(sample.seed, true, u, v, w);
            let filter = Filter::new(&graph, &run, FilteredDirections::Symmetric, Select::All, keep).unwrap();
            let found = bfs(&filter, &run, &[0], &BfsOptions::default()).unwrap();
            check::bfs(out, &[0], &found.parents, found.depths.as_deref()).unwrap();
            check::wcc(out, &wcc(&filter, &run, &WccOptions::default()).unwrap().labels).unwrap();
            check::scc(out, &scc(&filter, &run).unwrap().components).unwrap();
            let count = triangles(&filter, &run, &TrianglesOptions::default()).unwrap().triangles;
            check::triangles(out, count).unwrap();
            let found = biconnectivity(&filter, &run).unwrap();
            let block = |u, v| found.block(u, v);
            check::biconnectivity(out, block, &found.articulation_points, &found.bridges, found.count).unwrap();
            structures(&filter, out, &run);
        }
    }

    /// A predicate that prefers one end turns an undirected graph into a directed one.
    #[test]
    fn oriented_graphs(sample in undirected()) {
        let csr = sample.csr(|w| w as i32);
        let graph = csr.graph();
        let run = common::run(2, false);
        let filter = Filter::new(&graph, &run, FilteredDirections::Both, Select::All, |u, v, _| u < v).unwrap();
        let mut edges: Vec<_> = sample.edges.iter().map(|&(u, v)| (u.min(v), u.max(v), 0)).collect();
        edges.retain(|&(u, v, _)| u < v);
        let oriented = Csr::directed(sample.num_vertices, &edges).unwrap();
        prop_assert!(filter.is_directed() && filter.has(Direction::In));
        let view = oriented.graph();
        for v in (0..sample.num_vertices).map(vertex) {
            for direction in [Direction::Out, Direction::In] {
                let wanted = view.rows(direction).unwrap().list(v).0;
                prop_assert!(filter.with_list(direction, v, |list, _| list == wanted).unwrap());
            }
        }
        check::scc(view.rows(Direction::Out).unwrap(), &scc(&filter, &run).unwrap().components).unwrap();
    }
}

#[test]
fn says_what_it_takes_and_what_it_cannot_do() {
    let run = common::run(2, false);
    let csr = Csr::<()>::directed(3, &[(0, 1, ()), (1, 2, ())]).unwrap();
    let graph = csr.graph();
    let error = Filter::all(&graph, &run, FilteredDirections::Symmetric).err().unwrap().to_string();
    assert_eq!(
        error,
        "a symmetric filter needs an undirected graph: import the edges as undirected, or run it with `as_undirected = true`"
    );
    let without = common::without_in_edges(&graph);
    let error = Filter::all(&without, &run, FilteredDirections::Both).err().unwrap().to_string();
    assert_eq!(error, "a filter of both directions needs in-edges: import the graph with in-edges");
    let filter = Filter::all(&without, &run, FilteredDirections::Out).unwrap();
    assert!(!filter.has(Direction::In));
    assert!(wcc(&filter, &run, &WccOptions::default()).is_ok());
    let error = filter.scan(&run, Direction::In, Select::All, &Nothing).unwrap_err().to_string();
    assert_eq!(error, "the filter covers out-edges only");
    // A million edges at a thousand vertices: a quarter of a byte per edge and some words per vertex.
    let shape = Shape {
        num_vertices: 1000,
        num_arcs: 1 << 20,
        directed: false,
        in_edges: true,
        weight_bytes: 4,
        scattered: false,
    };
    let bytes = filter::memory_bytes(shape, FilteredDirections::Symmetric);
    assert!(bytes <= (1 << 20) / 4 + 1000 * 6 * 8, "{bytes}");
}

struct Nothing;

impl Visitor<()> for Nothing {
    type State = ();
    fn new_state(&self) {}
    fn visit(&self, (): &mut (), _: VertexId, _: Piece<'_, ()>) -> Flow {
        Flow::More
    }
}

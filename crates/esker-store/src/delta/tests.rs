//! Tests of the dynamic graph: against a map, with colliding keys, and with memory that runs out.

use std::collections::BTreeMap;

use esker_format::io::{Disk, RealDisk, Scratch};
use esker_graph::{Csr, Direction, Flow, Graph as _, Lists, Piece, Run, Select, VertexId, Visitor, vertex};
use proptest::prelude::*;

use super::{Applied, DynamicEdges, DynamicGraph, DynamicGraphOptions, Update};

/// The expected edges: for each pair of vertices, the payloads in order of insertion.
#[derive(Debug, Default)]
struct Model {
    pairs: BTreeMap<(VertexId, VertexId), Vec<u64>>,
    multigraph: bool,
}

impl Model {
    fn insert(&mut self, u: VertexId, v: VertexId, payload: u64) -> Option<u64> {
        let copies = self.pairs.entry((u, v)).or_default();
        if self.multigraph || copies.is_empty() {
            copies.push(payload);
            return None;
        }
        Some(std::mem::replace(&mut copies[0], payload))
    }

    /// All arcs with their payloads, sorted.
    fn arcs(&self, undirected: bool) -> Vec<(VertexId, VertexId, u64)> {
        let mut arcs = Vec::new();
        for (&(u, v), copies) in &self.pairs {
            for &payload in copies {
                arcs.push((u, v, payload));
                if undirected && u != v {
                    arcs.push((v, u, payload));
                }
            }
        }
        arcs.sort_unstable();
        arcs
    }
}

#[derive(Debug, Clone)]
enum Operation {
    Insert(VertexId, VertexId, u64),
    Remove(VertexId, VertexId),
    RemoveAllOf(VertexId),
    Clear,
}

/// Operations with many edges of few sources, so that lists grow and shrink across every threshold.
fn operation(vertices: VertexId) -> impl Strategy<Value = Operation> {
    let vertex = move || prop_oneof![2 => 0..vertices, 1 => 0..3.min(vertices)];
    prop_oneof![
        300 => (vertex(), vertex(), any::<u64>()).prop_map(|(u, v, p)| Operation::Insert(u, v, p)),
        150 => (vertex(), vertex()).prop_map(|(u, v)| Operation::Remove(u, v)),
        10 => vertex().prop_map(Operation::RemoveAllOf),
        1 => Just(Operation::Clear),
    ]
}

fn options() -> impl Strategy<Value = (DynamicGraphOptions, bool)> {
    let edges =
        prop_oneof![Just(DynamicEdges::Out), Just(DynamicEdges::OutAndIn), Just(DynamicEdges::Undirected)];
    (edges, any::<bool>(), 1..5_usize, 1..9_usize, any::<bool>()).prop_map(
        |(edges, multigraph, shards, threshold, mapped)| {
            (DynamicGraphOptions { edges, multigraph, shards, threshold, scratch: Scratch::heap() }, mapped)
        },
    )
}

type Graph = DynamicGraph<u64>;

fn make((options, mapped): (DynamicGraphOptions, bool)) -> Graph {
    let scratch =
        if mapped { RealDisk.scratch(&std::env::temp_dir()).unwrap() } else { options.scratch.clone() };
    DynamicGraph::new(DynamicGraphOptions { scratch, ..options }).unwrap()
}

/// The key of an edge in the model: ordered if the graph is undirected.
fn model_key(graph: &Graph, u: VertexId, v: VertexId) -> (VertexId, VertexId) {
    if graph.options().edges == DynamicEdges::Undirected { (u.min(v), u.max(v)) } else { (u, v) }
}

fn perform(graph: &mut Graph, model: &mut Model, operation: &Operation) {
    match *operation {
        Operation::Insert(u, v, payload) => {
            let (a, b) = model_key(graph, u, v);
            assert_eq!(graph.insert(u, v, payload).unwrap(), model.insert(a, b, payload));
        }
        Operation::Remove(u, v) => {
            let removed = model.pairs.remove(&model_key(graph, u, v)).map_or(0, |copies| copies.len());
            assert_eq!(graph.remove(u, v), removed);
        }
        Operation::RemoveAllOf(u) => {
            for (v, _) in graph.neighbours(u) {
                graph.remove(u, v);
            }
            let undirected = graph.options().edges == DynamicEdges::Undirected;
            model.pairs.retain(|&(a, b), _| a != u && !(undirected && b == u));
        }
        Operation::Clear => {
            graph.clear();
            model.pairs.clear();
        }
    }
}

/// All arcs of a graph, sorted: from its out-lists, and from its in-lists, reversed.
fn held(graph: &Graph) -> [Vec<(VertexId, VertexId, u64)>; 2] {
    let mut held = [Vec::new(), Vec::new()];
    for u in 0..graph.num_vertices() as VertexId {
        graph.out.each_edge(u, |v, &payload| held[0].push((u, v, payload)));
        if let Some(incoming) = &graph.incoming {
            incoming.each_edge(u, |v, &payload| held[1].push((v, u, payload)));
        }
    }
    held.iter_mut().for_each(|arcs| arcs.sort_unstable());
    held
}

fn compare(graph: &Graph, model: &Model) {
    let undirected = graph.options().edges == DynamicEdges::Undirected;
    let arcs = model.arcs(undirected);
    let [out, incoming] = held(graph);
    assert_eq!(out, arcs);
    if graph.options().edges == DynamicEdges::OutAndIn {
        assert_eq!(incoming, arcs);
    }
    assert_eq!(graph.num_entries(), arcs.len() as u64);
    for u in 0..graph.num_vertices() as VertexId {
        assert_eq!(graph.out_degree(u), arcs.iter().filter(|arc| arc.0 == u).count());
    }
    for (&(u, v), copies) in &model.pairs {
        let payload = graph.get(u, v).expect("an edge of the model");
        assert!(copies.contains(payload) && (!undirected || graph.has_edge(v, u)));
    }
}

proptest! {
    #![proptest_config(esker_format::testing::cases(96))]

    #[test]
    fn operations_agree_with_a_map(
        options in options(),
        vertices in prop_oneof![Just(3 as VertexId), Just(20), Just(300)],
        operations in prop::collection::vec(operation(300), 1..1500),
    ) {
        let mut graph = make(options);
        let mut model = Model { multigraph: graph.options().multigraph, ..Model::default() };
        for (i, operation) in operations.iter().enumerate() {
            let operation = match *operation {
                Operation::Insert(u, v, p) => Operation::Insert(u % vertices, v % vertices, p),
                Operation::Remove(u, v) => Operation::Remove(u % vertices, v % vertices),
                Operation::RemoveAllOf(u) => Operation::RemoveAllOf(u % vertices),
                Operation::Clear => Operation::Clear,
            };
            perform(&mut graph, &mut model, &operation);
            if i % 250 == 0 {
                compare(&graph, &model);
            }
        }
        compare(&graph, &model);
    }

    #[test]
    fn batches_agree_with_single_updates(
        options in options(),
        vertices in prop_oneof![Just(20 as VertexId), Just(3000)],
        updates in prop::collection::vec((0..3000 as VertexId, 0..3000 as VertexId, 0..3_u64), 1..2000),
        batch in 1..700_usize,
        threads in 1..4_usize,
    ) {
        let mut graph = make(options);
        let mut model = Model { multigraph: graph.options().multigraph, ..Model::default() };
        let run = Run::with_threads(threads).unwrap();
        let updates: Vec<_> = updates
            .iter()
            .enumerate()
            .map(|(i, &(u, v, kind))| {
                let (source, target) = (u % vertices, v % vertices);
                match kind {
                    0 => Update::Remove { source, target },
                    _ => Update::Insert { source, target, payload: i as u64 },
                }
            })
            .collect();
        for batch in updates.chunks(batch) {
            let applied = graph.apply(batch, &run).unwrap();
            assert_eq!(applied, apply(&graph, &mut model, batch));
        }
        compare(&graph, &model);
        lists_agree(&graph, &model, &run);
    }
}

/// Applies updates to the model one by one.
fn apply(graph: &Graph, model: &mut Model, updates: &[Update<u64>]) -> Applied {
    let mut applied = Applied::default();
    for update in updates {
        match *update {
            Update::Insert { source, target, payload } => {
                let (a, b) = model_key(graph, source, target);
                match model.insert(a, b, payload) {
                    None => applied.inserted += 1,
                    Some(_) => applied.replaced += 1,
                }
            }
            Update::Remove { source, target } => {
                match model.pairs.remove(&model_key(graph, source, target)) {
                    Some(copies) => applied.removed += copies.len() as u64,
                    None => applied.missing += 1,
                }
            }
        }
    }
    applied
}

/// Collects the arcs of a scan.
struct Collect;

impl Visitor<()> for Collect {
    type State = Vec<(VertexId, VertexId)>;

    fn new_state(&self) -> Self::State {
        Vec::new()
    }

    fn wants(&self, v: VertexId) -> bool {
        v % 7 != 3
    }

    fn visit(&self, state: &mut Self::State, v: VertexId, piece: Piece<'_, ()>) -> Flow {
        assert!(piece.exclusive && !piece.targets.is_empty());
        state.extend(piece.targets.iter().map(|&target| (v, target)));
        Flow::More
    }
}

/// Lists, scans and degrees against the model.
fn lists_agree(graph: &Graph, model: &Model, run: &Run) {
    let arcs = model.arcs(graph.options().edges == DynamicEdges::Undirected);
    let mut listed = Vec::new();
    for u in (0..graph.num_vertices()).map(vertex) {
        let list = graph.neighbours(u);
        assert!(list.is_sorted_by_key(|entry| entry.0));
        listed.extend(list.into_iter().map(|(v, payload)| (u, v, payload)));
    }
    listed.sort_unstable();
    assert_eq!(listed, arcs);
    let waist = graph.unweighted();
    let selected: Vec<VertexId> = (0..graph.num_vertices()).rev().step_by(3).map(vertex).collect();
    let bits = esker_graph::Bitmap::new(graph.num_vertices());
    selected.iter().for_each(|&v| assert!(bits.insert(v)));
    for direction in [Direction::Out, Direction::In].into_iter().filter(|&direction| waist.has(direction)) {
        for select in [Select::All, Select::List(&selected), Select::Bits(&bits)] {
            let mut scanned = waist.scan(run, direction, select, &Collect).unwrap().concat();
            scanned.sort_unstable();
            let all = matches!(select, Select::All);
            let mut wanted: Vec<_> = arcs
                .iter()
                .map(|&(u, v, _)| if direction == Direction::Out { (u, v) } else { (v, u) })
                .filter(|&(u, _)| u % 7 != 3 && (all || bits.get(u)))
                .collect();
            wanted.sort_unstable();
            assert_eq!(scanned, wanted);
        }
    }
    for v in (0..graph.num_vertices()).map(vertex) {
        assert_eq!(waist.degree(Direction::Out, v), graph.out_degree(v));
    }
}

#[test]
fn a_visitor_can_stop_a_long_list_after_its_first_piece() {
    struct First;
    impl Visitor<f64> for First {
        type State = usize;
        fn new_state(&self) -> usize {
            0
        }
        fn visit(&self, state: &mut usize, _: VertexId, piece: Piece<'_, f64>) -> Flow {
            *state += piece.targets.len();
            Flow::Enough
        }
    }
    let mut graph: DynamicGraph<f64> = DynamicGraph::new(plain(DynamicEdges::Out, false)).unwrap();
    for v in 0..200_000_u32 {
        graph.insert(1, vertex(v as usize), f64::from(v)).unwrap();
    }
    let run = Run::with_threads(2).unwrap();
    let met: usize = graph.scan(&run, Direction::Out, Select::All, &First).unwrap().into_iter().sum();
    assert!(met > 100 && met < 10_000, "{met} of 200000");
    let (first, last) = graph
        .with_list(Direction::Out, 1, |targets, weights| {
            assert!(targets.is_sorted() && targets.len() == 200_000);
            (weights[0], weights[199_999])
        })
        .unwrap();
    assert_eq!((first, last), (0.0, 199_999.0));
    let error = graph.scan(&run, Direction::In, Select::All, &First).unwrap_err().to_string();
    assert!(error.contains("has no in-lists"), "{error}");
    let cancelled = Run::with_threads(2).unwrap();
    cancelled.cancel().cancel();
    assert!(graph.scan(&cancelled, Direction::Out, Select::All, &First).is_err());
}

#[test]
fn scans_after_a_change_see_the_change() {
    let mut graph: DynamicGraph = DynamicGraph::new(plain(DynamicEdges::Undirected, false)).unwrap();
    let run = Run::with_threads(2).unwrap();
    let mut edges = Vec::new();
    for round in 0..4 {
        for i in 0..50 {
            let edge = (i, (i * 7 + round * 13) % 61 + round);
            if graph.insert(edge.0, edge.1, ()).unwrap().is_none() {
                edges.push((edge.0, edge.1, ()));
            }
        }
        graph.prepare(&run).unwrap();
        let csr = Csr::undirected(graph.num_vertices(), &edges).unwrap();
        for v in (0..graph.num_vertices()).map(vertex) {
            let list = csr.graph().with_list(Direction::In, v, |targets, _| targets.to_vec()).unwrap();
            assert_eq!(graph.with_list(Direction::In, v, |targets, _| targets.to_vec()).unwrap(), list);
            assert_eq!(graph.degree(Direction::In, v), list.len());
        }
    }
}

fn plain(edges: DynamicEdges, multigraph: bool) -> DynamicGraphOptions {
    DynamicGraphOptions { edges, multigraph, shards: 2, ..DynamicGraphOptions::default() }
}

#[test]
fn a_hub_can_be_emptied_and_refilled_without_growing_memory() {
    let mut graph: DynamicGraph<u64> = DynamicGraph::new(plain(DynamicEdges::Out, false)).unwrap();
    let mut most = 0;
    for round in 0..3 {
        for v in 0..200_000_u32 {
            assert_eq!(graph.insert(7, vertex(v as usize), u64::from(v) ^ round).unwrap(), None);
        }
        assert_eq!((graph.out_degree(7), graph.num_entries()), (200_000, 200_000));
        assert_eq!(graph.get(7, 123_456), Some(&(123_456 ^ round)));
        if round == 0 {
            most = graph.bytes();
        }
        assert!(
            graph.bytes() < most * 3 / 2,
            "{} bytes in round {round}, {most} in the first",
            graph.bytes()
        );
        for v in 0..200_000_u32 {
            assert_eq!(graph.remove(7, vertex(v as usize)), 1);
        }
        assert_eq!((graph.out_degree(7), graph.num_entries()), (0, 0));
        assert_eq!(graph.remove(7, 3), 0);
    }
    graph.clear();
    assert_eq!((graph.bytes(), graph.num_vertices()), (0, 0));
}

#[test]
fn thousands_of_copies_of_an_edge_are_counted_and_removed() {
    let mut graph: DynamicGraph<u64> = DynamicGraph::new(plain(DynamicEdges::OutAndIn, true)).unwrap();
    for payload in 0..100_000 {
        assert_eq!(graph.insert(1, 2, payload).unwrap(), None);
        graph.insert(1, payload as VertexId, payload).unwrap();
    }
    let mut seen = vec![0; 100_000];
    graph.out.each_edge(1, |v, &payload| seen[payload as usize] += usize::from(v == 2));
    assert_eq!(seen.iter().filter(|&&count| count == 1).count(), 99_999);
    assert_eq!(seen[2], 2);
    assert_eq!(graph.remove(1, 2), 100_001);
    assert_eq!((graph.out_degree(1), graph.num_entries()), (99_999, 99_999));
    assert_eq!(graph.get(1, 2), None);
}

/// All targets have the same home slot in tables of 64 slots and their doublings.
#[test]
fn colliding_keys_change_the_hash_seed() {
    let collide = |key: VertexId| super::hash::hash(key as usize as u64, 0) >> 50 == 5;
    let keys: Vec<VertexId> = (0..).filter(|&key| collide(key)).take(2000).collect();
    let mut graph: DynamicGraph<u64> = DynamicGraph::new(plain(DynamicEdges::OutAndIn, false)).unwrap();
    for round in 0..2 {
        for &key in &keys {
            // Use the keys as targets of one source, and as sources.
            graph.insert(0, key, round).unwrap();
            graph.insert(key, 0, round).unwrap();
        }
    }
    assert_eq!(graph.num_entries(), 4000);
    assert!(keys.iter().all(|&key| graph.get(0, key) == Some(&1) && graph.get(key, 0) == Some(&1)));
    assert!(keys.iter().all(|&key| graph.remove(0, key) == 1));
    assert_eq!(graph.num_entries(), 2000);
}

#[test]
fn a_failed_insertion_changes_nothing() {
    for multigraph in [false, true] {
        let mut refused = 0;
        for limit in (0..150_000).step_by(997) {
            let scratch = Scratch::heap().limited(limit).unwrap();
            let options = DynamicGraphOptions { scratch, ..plain(DynamicEdges::OutAndIn, multigraph) };
            let mut graph: Graph = DynamicGraph::new(options).unwrap();
            let mut model = Model { multigraph, ..Model::default() };
            for i in 0..1500_u32 {
                let (u, v) = ((i * i % 37) as VertexId, (i * 7 % 211) as VertexId);
                match graph.insert(u, v, u64::from(i)) {
                    Ok(before) => assert_eq!(before, model.insert(u, v, u64::from(i))),
                    Err(error) => {
                        refused += 1;
                        assert!(error.to_string().contains("raise the limit"), "{error}");
                    }
                }
                if i % 5 == 0 {
                    let (u, v) = ((i % 37) as VertexId, (i % 211) as VertexId);
                    let removed = model.pairs.remove(&(u, v)).map_or(0, |copies| copies.len());
                    assert_eq!(graph.remove(u, v), removed);
                }
            }
            compare(&graph, &model);
        }
        assert!(refused > 1000, "{refused}");
    }
}

#[test]
fn a_graph_can_be_cleared_and_reused_after_a_batch_runs_out_of_memory() {
    let run = Run::with_threads(2).unwrap();
    let updates: Vec<Update<u64>> = (0..20_000)
        .map(|i| Update::Insert { source: vertex(i * i % 701), target: vertex(i % 997), payload: i as u64 })
        .collect();
    let mut failed = 0;
    for limit in (0..500_000).step_by(61_000) {
        let scratch = Scratch::heap().limited(limit).unwrap();
        let options =
            DynamicGraphOptions { scratch: scratch.clone(), ..plain(DynamicEdges::Undirected, false) };
        let mut graph: Graph = DynamicGraph::new(options).unwrap();
        failed += usize::from(graph.apply(&updates, &run).is_err());
        graph.clear();
        assert_eq!((graph.num_entries(), graph.bytes(), scratch.used_bytes()), (0, 0, 0));
        if limit > 10_000 {
            assert_eq!(graph.apply(&updates[..60], &run).unwrap().inserted, 60);
        }
    }
    assert!(failed > 3, "{failed}");
}

#[test]
fn options_out_of_range_are_errors() {
    for (shards, threshold) in [(0, 2), (1 << 20, 2), (1, 0), (1, 65)] {
        let options = DynamicGraphOptions { shards, threshold, ..DynamicGraphOptions::default() };
        let error = DynamicGraph::<()>::new(options).unwrap_err().to_string();
        assert!(error.contains("1 to 65536 shards and a threshold of 1 to 64"), "{error}");
    }
}

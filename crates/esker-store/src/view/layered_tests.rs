//! Versions over random layers against a model: every way of reading gives the edges of the version.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use esker_format::io::{Disk, FaultyDisk};
use esker_format::{ArchiveWriter, ElementType, Error, IdMapKind, Origin, VersionRecord};
use esker_graph::{Bitmap, Budget, Direction, Graph, Lists, Run, RunOptions, Select, Stop, VertexId, vertex};
use esker_layers::graph::{Access, GraphEncoding};
use esker_layers::layer::PlainWriter;
use esker_layers::pool::PoolOptions;
use esker_layers::stack::Stack;
use proptest::prelude::*;

use super::choice::View;
use super::tests::Collect;
use crate::check::check;
use crate::freeze::{Changes, EdgeChange, Growth, REMOVAL, freeze};
use crate::manifest::{Manifest, layer_directory};
use crate::sample::{Sample, kind_of};
use crate::version::{Layer, State, Version};
use esker_format::CopyPolicy;

const DB: &str = "web.esker";

/// The edges of a version, each with its weights; an undirected one from the lesser end.
pub(crate) type Edges = BTreeMap<(VertexId, VertexId), Vec<i32>>;

/// What a commit does to an edge: set to a weight, or removed.
pub(crate) type Op = (VertexId, VertexId, Option<i32>);

pub(crate) struct History {
    disk: FaultyDisk,
    sample: Sample,
    multigraph: bool,
    manifest: Manifest,
    layers: Vec<Arc<Layer>>,
    first: State,
    /// By version, from 1.
    pub(crate) versions: Vec<Edges>,
}

impl History {
    pub(crate) fn new(n: usize, edges: usize, directed: bool, multigraph: bool, seed: u32) -> Self {
        let mut sample = Sample::random(n, edges, directed, seed);
        sample.ids = IdMapKind::Identity;
        if !directed {
            sample.edges.iter_mut().for_each(|edge| *edge = (edge.0.min(edge.1), edge.0.max(edge.1), edge.2));
        }
        if !multigraph {
            sample.edges.sort_unstable();
            sample.edges.dedup_by_key(|edge| (edge.0, edge.1));
        }
        let disk = FaultyDisk::new(1);
        sample.write(&(Arc::new(disk.clone()) as Arc<dyn Disk>), Path::new(DB), false).unwrap();
        let state = State::read(Arc::new(disk.clone()), Path::new(DB)).unwrap();
        let mut manifest = Manifest::clone(state.manifest());
        manifest.layers[0].multigraph = multigraph;
        let mut first = Edges::new();
        for &(u, v, weight) in &sample.edges {
            first.entry((u, v)).or_default().push(weight);
        }
        let mut history = Self {
            disk,
            sample,
            multigraph,
            manifest,
            layers: Vec::new(),
            first: state,
            versions: vec![first],
        };
        history.open_layer(0);
        history
    }

    fn open_layer(&mut self, index: usize) {
        let record = &self.manifest.layers[index];
        let directory = layer_directory(Path::new(DB), record.number);
        let disk = Arc::new(self.disk.clone()) as Arc<dyn Disk>;
        let layer = Layer::open(&disk, &directory, &self.manifest, record).unwrap();
        self.layers.push(Arc::new(layer));
    }

    /// Applies a commit to the model.
    fn commit(&mut self, ops: &[Op]) {
        let mut edges = self.versions.last().unwrap().clone();
        for &(u, v, weight) in ops {
            match weight {
                Some(weight) if self.multigraph => edges.entry((u, v)).or_default().push(weight),
                Some(weight) => {
                    edges.insert((u, v), vec![weight]);
                }
                None => {
                    edges.remove(&(u, v));
                }
            }
        }
        self.versions.push(edges);
    }

    /// Commits and freezes several versions into a layer.
    pub(crate) fn freeze(&mut self, commits: &[Vec<Op>], policy: CopyPolicy, run: &Run) {
        let first = self.versions.len() as u64 + 1;
        let (mut edges, mut rows) = (Vec::new(), vec![Vec::new(), Vec::new()]);
        for (ops, code) in commits.iter().zip(1..) {
            let directed = self.sample.directed;
            let ops: Vec<Op> = ops
                .iter()
                .map(|&(u, v, weight)| if directed || u <= v { (u, v, weight) } else { (v, u, weight) })
                .collect();
            self.commit(&ops);
            for (source, target, weight) in ops {
                let row = weight.map_or(REMOVAL, |weight: i32| {
                    rows[0].push(u64::from(weight.cast_unsigned()));
                    rows[1].push(u64::from(kind_of(weight)));
                    rows[0].len() as u32 - 1
                });
                edges.push(EdgeChange { source, target, code, row });
            }
        }
        let number = self.layers.len() as u32 + 1;
        let directory = layer_directory(Path::new(DB), number);
        let newest = self.manifest.versions.last().unwrap().clone();
        let lists: Vec<_> = self.layers.iter().map(|layer| Arc::clone(layer.lists())).collect();
        let stack = Stack::new(&lists, newest.number, newest.num_vertices).unwrap();
        let changes = Changes {
            stack: &stack,
            edges: &edges,
            rows: &rows,
            elements: &[ElementType::I32, ElementType::U8],
            counted_from: 0,
            versions: (first, self.versions.len() as u64),
            num_vertices: newest.num_vertices,
            policy,
            known: None,
        };
        let archive = ArchiveWriter::new(&(Arc::new(self.disk.clone()) as Arc<dyn Disk>), &directory);
        let writer = PlainWriter::new(&archive, &directory, Origin::random(self.manifest.database));
        let frozen = freeze(&changes, number, &writer, run).unwrap();
        archive.finish().unwrap();
        for (version, &Growth { arcs, loops }) in (first..).zip(&frozen.growth) {
            let num_arcs = newest.num_arcs.saturating_add_signed(arcs);
            let num_loops = newest.num_loops.saturating_add_signed(loops);
            self.manifest.versions.insert(VersionRecord {
                number: version,
                time_ms: 0,
                committed_ms: 0,
                message: String::new(),
                commit: 0,
                num_vertices: newest.num_vertices,
                num_edges: crate::freeze::num_edges(self.sample.directed, num_arcs, num_loops),
                num_arcs,
                num_loops,
            });
        }
        self.manifest.layers.push(frozen.record);
        self.open_layer(self.layers.len());
        self.verify_added(first, commits);
    }

    /// The number of arcs that the last layer says that it added: not fewer than the version gained, nor more
    /// than its commits set.
    fn verify_added(&self, first: u64, commits: &[Vec<Op>]) {
        let set = commits.iter().flatten().filter(|op| op.2.is_some()).count() as u64;
        for direction in [Direction::Out, Direction::In] {
            let before = self.lists(first as usize - 1, direction);
            let after = self.lists(self.versions.len(), direction);
            let gained = |before: &[(VertexId, i32)], after: &[(VertexId, i32)]| {
                let mut old = before.to_vec();
                let mut is_new = |arc: &&(VertexId, i32)| match old.binary_search(arc) {
                    Ok(at) => {
                        old.remove(at);
                        false
                    }
                    Err(_) => true,
                };
                after.iter().filter(|arc| is_new(arc)).count() as u64
            };
            let gained = before.iter().zip(&after).map(|(before, after)| gained(before, after)).sum::<u64>();
            let stated = self.layers.last().unwrap().lists().added_arcs(direction);
            let most = if self.sample.directed { set } else { 2 * set };
            assert!(
                (gained..=most).contains(&stated),
                "{stated} arcs added, {gained} gained, {set} edges set"
            );
        }
    }

    /// The lists of a version by the model: neighbour and weight, sorted.
    fn lists(&self, version: usize, direction: Direction) -> Vec<Vec<(VertexId, i32)>> {
        let mut lists = vec![Vec::new(); self.sample.num_vertices];
        for (&(u, v), weights) in &self.versions[version - 1] {
            for &weight in weights {
                if direction == Direction::Out || !self.sample.directed {
                    lists[u as usize].push((v, weight));
                }
                if (self.sample.directed && direction == Direction::In) || (!self.sample.directed && u != v) {
                    lists[v as usize].push((u, weight));
                }
            }
        }
        lists.iter_mut().for_each(|list| list.sort_unstable());
        lists
    }

    pub(crate) fn version(&self, number: u64) -> Version {
        let state = Arc::new(self.first.with(self.manifest.clone(), self.layers.clone()));
        state.version(number).unwrap()
    }

    fn verify(&self, run: &Run) {
        for number in 1..=self.versions.len() {
            let version = self.version(number as u64);
            for direction in [Direction::Out, Direction::In] {
                self.verify_points(&version, number, direction);
                self.verify_scans(&version.view(), number, direction, run);
                // Now with a table.
                self.verify_points(&version, number, direction);
            }
            let edges: usize = self.versions[number - 1].values().map(Vec::len).sum();
            assert_eq!(version.num_edges(), edges as u64, "edges of version {number}");
            let report = check(&version, run).unwrap();
            assert!(report.is_sound(), "version {number}: {:?}", report.problems);
        }
    }

    fn verify_points(&self, version: &Version, number: usize, direction: Direction) {
        for (v, list) in self.lists(number, direction).iter().enumerate() {
            let edges = version.edges(direction, vertex(v)).unwrap();
            let weight = |index: usize| edges.bits(0, index).unwrap() as u32;
            let mut found: Vec<(VertexId, i32)> =
                edges.targets().iter().zip(0..).map(|(&w, i)| (w, weight(i).cast_signed())).collect();
            assert!(found.is_sorted_by_key(|arc| arc.0));
            found.sort_unstable();
            assert_eq!(&found, list, "list {v} of version {number}, {direction:?}");
            assert_eq!(version.degree(direction, vertex(v)).unwrap(), list.len());
        }
    }

    fn verify_scans(&self, view: &View, number: usize, direction: Direction, run: &Run) {
        let lists = self.lists(number, direction);
        let graph = view.graph::<i32>(run).unwrap();
        let n = lists.len();
        let odd = Bitmap::new(n);
        let chosen: Vec<VertexId> = (0..n).filter(|v| v % 2 == 1).map(vertex).rev().collect();
        chosen.iter().for_each(|&v| odd.insert_alone(v));
        for (name, select) in
            [("all", Select::All), ("bits", Select::Bits(&odd)), ("list", Select::List(&chosen))]
        {
            let mut arcs = graph.scan(run, direction, select, &Collect).unwrap().concat();
            arcs.sort_unstable();
            let wanted = |v: usize| matches!(select, Select::All) || v % 2 == 1;
            let expected = lists.iter().enumerate().filter(|(v, _)| wanted(*v));
            let expected: Vec<_> = expected
                .flat_map(|(v, list)| list.iter().map(move |&(w, weight)| (vertex(v), w, weight)))
                .collect();
            assert_eq!(arcs, expected, "{name} of version {number}, {direction:?}");
        }
        for (v, list) in lists.iter().enumerate() {
            assert_eq!(graph.degree(direction, vertex(v)), list.len());
            let mut found = graph
                .with_list(direction, vertex(v), |targets, weights| {
                    assert!(targets.is_sorted());
                    targets.iter().copied().zip(weights.iter().copied()).collect::<Vec<_>>()
                })
                .unwrap();
            found.sort_unstable();
            assert_eq!(&found, list);
        }
    }
}

pub(crate) fn ops(n: usize, largest: usize) -> impl Strategy<Value = Vec<Op>> {
    let end = move || (0..n).prop_map(move |v| vertex(v * v / n));
    let weight = prop_oneof![1 => Just(None), 2 => (0..4_i32).prop_map(Some)];
    prop::collection::vec((end(), end(), weight), 0..largest)
}

proptest! {
    #![proptest_config(esker_format::testing::cases(120))]
    #[test]
    fn every_version_is_what_its_commits_made(
        (n, layers) in (1_usize..40).prop_flat_map(|n| (
            Just(n), prop::collection::vec(prop::collection::vec(ops(n, 30), 1..4), 1..7),
        )),
        edges in 0_usize..200, directed: bool, multigraph: bool, seed: u32,
        policies in prop::collection::vec(
            prop::sample::select(vec![CopyPolicy::Chain, CopyPolicy::Copy, CopyPolicy::Mixed]), 7,
        ),
    ) {
        let run = Run::with_threads(2).unwrap();
        let mut history = History::new(n, edges, directed, multigraph, seed);
        for (commits, policy) in layers.iter().zip(policies) {
            history.freeze(commits, policy, &run);
        }
        history.verify(&run);
    }
}

/// Threads mark the fragments of the same layer, unit by unit, and lists are replaced after tombstones hid
/// them. Random small graphs fit in one unit.
#[test]
fn layers_with_changes_of_many_thousand_vertices_are_what_their_commits_made() {
    const N: u64 = 9000;
    let run = Run::with_threads(4).unwrap();
    let mut history = History::new(N as usize, 3 * N as usize, true, false, 5);
    let policies =
        [CopyPolicy::Chain, CopyPolicy::Chain, CopyPolicy::Copy, CopyPolicy::Chain, CopyPolicy::Mixed];
    for (layer, policy) in (1..).zip(policies) {
        // Removes a third of the edges, other ones in each layer. Half of the vertices get an edge or a new
        // weight.
        let edges = history.versions.last().unwrap().keys();
        let old = edges.filter(|&&(u, v)| (u64::from(u) + u64::from(v)) % 3 == layer % 3);
        let removed = old.map(|&(u, v)| (u, v, None)).collect();
        let end = |v: u64| vertex((v % N) as usize);
        let growing = (0..N).filter(|u| u / 7 % 2 == layer % 2);
        let added = growing.map(|u| (end(u), end(u * 31 + layer), Some(3))).collect();
        history.freeze(&[removed, added], policy, &run);
    }
    history.verify(&run);
    // Of so many threads each gathers few arcs of the later layers at a time.
    let (newest, many) = (history.versions.len(), Run::with_threads(128).unwrap());
    let pool =
        Access::Pooled(GraphEncoding::Lists, PoolOptions { bytes: 1 << 28, ..PoolOptions::of_lists() });
    let view = history.version(newest as u64).view().resident(pool).unwrap();
    history.verify_scans(&view, newest, Direction::Out, &many);
}

/// The layer of a vertex's newest fragment is kept in a byte.
#[test]
fn lists_in_more_layers_than_a_byte_counts_are_found() {
    let run = Run::with_threads(1).unwrap();
    let mut history = History::new(40, 200, true, false, 3);
    for layer in 0..280 {
        let edge = (vertex(layer % 40), vertex((7 * layer + 1) % 40), Some(layer as i32));
        history.freeze(&[vec![edge]], CopyPolicy::Chain, &run);
    }
    let newest = history.versions.len();
    let pool = Access::Pooled(GraphEncoding::Lists, PoolOptions::of_lists());
    let view = history.version(newest as u64).view().resident(pool).unwrap();
    assert!(view.version().stack().layers().len() > usize::from(u8::MAX));
    history.verify_scans(&view, newest, Direction::Out, &run);
    history.verify_scans(&view, newest, Direction::In, &run);
    assert!(view.version().stack().table_if_made(Direction::Out).is_none());
}

/// With little memory, later layers stay mapped and are swept in each scan, which takes a vertex table.
#[test]
fn later_layers_are_read_with_any_memory_that_suffices() {
    let run = Run::with_threads(1).unwrap();
    let mut history = History::new(10, 30, true, true, 3);
    let edge = |i: usize| (vertex(i % 10), vertex(i * 7 % 9), Some(i as i32));
    history.freeze(&[(0..500).map(edge).collect()], CopyPolicy::Chain, &run);
    history.freeze(&[vec![(vertex(1), vertex(7), None)]], CopyPolicy::Chain, &run);
    let newest = history.versions.len();
    let options = PoolOptions { bytes: 2 << 20, extent_blocks: 2, ..PoolOptions::default() };
    let (mut refused, mut with_table) = (0, Vec::new());
    for bytes in (0..32 << 10).step_by(256) {
        let budget = Budget::new(options.bytes + bytes);
        let limited = Run::new(RunOptions { threads: 1, budget, ..RunOptions::default() }).unwrap();
        let version = history.version(newest as u64);
        let view = version.view().resident(Access::Pooled(GraphEncoding::Lists, options)).unwrap();
        let prepared = view.graph::<i32>(&limited).and_then(|graph| {
            graph.prepare(&limited, Direction::Out)?;
            graph.prepare(&limited, Direction::In)
        });
        match prepared {
            Ok(()) => {
                history.verify_scans(&view, newest, Direction::Out, &limited);
                history.verify_scans(&view, newest, Direction::In, &limited);
                with_table.push(view.version().stack().table_if_made(Direction::In).is_some());
            }
            Err(Error::Stop(Stop::OverBudget { .. })) => refused += 1,
            Err(other) => panic!("{other}"),
        }
    }
    assert!(refused > 0, "{refused}");
    assert_eq!((with_table.first(), with_table.last()), (Some(&true), Some(&false)), "{with_table:?}");
}

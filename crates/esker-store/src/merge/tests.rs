use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use esker_format::io::Disk;
use esker_format::{
    Column, ColumnKind, ColumnSpec, ElementType, Encoding, LayerRecord, Result, SectionRecord, VersionRecord,
};
use esker_graph::random::Random;
use esker_graph::{Direction, Lists, Run, VertexId, vertex};
use esker_layers::FormFiles;
use esker_layers::StoredWeight;
use esker_layers::graph::ArcWeights;
use esker_layers::graph::CompleteLists;
use esker_layers::layer::{PlainLayer, PlainWriter};
use esker_layers::stack::Stack;
use esker_layers::tiles::{
    ConvertOptions, MergedShape, PropertyWalk, TileFiles, TileMerge, TileProperties, TileShape, Tiles,
    write_tiles,
};
use proptest::prelude::*;

use super::{MergeEnd, MergeOptions, TilesOfMerge, merge_layers, merge_with_tiles};
use crate::diff::TouchedVertices;
use crate::freeze::{Changes, EdgeChange, REMOVAL, freeze};
use crate::history::{
    GraphKind, History, HistoryChange, ORIGIN, TestLayers, check_version, layer_directory, properties,
    random_cuts, some, text_of,
};
use esker_format::CopyPolicy;

/// Merges a run of layers. The new layer then distinguishes only `retained` and its last version.
pub(crate) fn merge(
    layers: &mut TestLayers,
    which: Range<usize>,
    retained: &[u64],
    until: Option<&VersionRecord>,
    number: u32,
    run: &Run,
) {
    let directory = layer_directory(number);
    layers.disk.create_directory(&directory).unwrap();
    let writer = PlainWriter::new(&layers.disk, &directory, ORIGIN);
    let end = until.map(|until| MergeEnd { until, last_version: until.number, last_commit: 0 });
    let encoding = [None, Some(Encoding::Plain), Some(Encoding::Compressed)][number as usize % 3];
    let options = MergeOptions {
        number,
        retained,
        encoding,
        added: &[],
        given_ids: None,
        widened: None,
        remaining: None,
        end,
        rebuild: None,
    };
    let (record, versions) = merge_layers(&layers.layers, which.clone(), &options, &writer, run).unwrap();
    let merged = layers.open(&record);
    let range = record.first_version..=layers.layers[which.end - 1].record().last_version;
    let distinguished = merged.versions().unwrap().to_vec();
    assert_eq!(versions, distinguished);
    layers.distinguished.retain(|version| !range.contains(version) || distinguished.contains(version));
    layers.layers.splice(which, [merged]);
}

/// Writes the lists of the complete layer as tiles alone.
fn to_tiles(layers: &mut TestLayers, number: u32, run: &Run) {
    let old = Arc::clone(&layers.layers[0]);
    let which = 0..1;
    let directory = layer_directory(number);
    layers.disk.create_directory(&directory).unwrap();
    let writer = PlainWriter::new(&layers.disk, &directory, ORIGIN);
    let retained = old.versions().unwrap().to_vec();
    let options = MergeOptions {
        rebuild: None,
        number,
        retained: &retained,
        encoding: Some(Encoding::Plain),
        added: &[],
        given_ids: None,
        widened: None,
        remaining: None,
        end: None,
    };
    let (record, _) = merge_layers(&layers.layers, which, &options, &writer, run).unwrap();
    let plain = layers.open(&record);
    let stack = Stack::new(&[Arc::clone(&plain)], record.last_version, record.num_vertices).unwrap();
    let disk: Arc<dyn Disk> = Arc::new(layers.disk.clone());
    let files = FormFiles { disk: &disk, directory: &directory, origin: ORIGIN };
    write_tiles_of(&stack, record.num_arcs, files, run);
    let record = LayerRecord { encoding: Encoding::Tiles, ..record };
    layers.layers[0] = open_tiled(layers, &record);
}

/// Writes the tiles of a complete layer of plain lists, with the weights.
fn write_tiles_of(stack: &Stack, num_arcs: u64, files: FormFiles<'_>, run: &Run) {
    struct Weights<'a>(&'a Stack, u64, &'a Run);
    impl TileProperties for Weights<'_> {
        fn write(&self, walk: &PropertyWalk<'_>) -> Result<()> {
            walk.write(
                0,
                &i32::open(
                    self.0,
                    ArcWeights { property: 0, num_arcs: self.1 },
                    CompleteLists::Mapped,
                    None,
                    self.2,
                )?,
            )
        }
    }
    let graph =
        <()>::open(stack, ArcWeights { property: 0, num_arcs }, CompleteLists::Mapped, None, run).unwrap();
    let options = ConvertOptions { group: 1, memory_bytes: 1 << 20 };
    let weights = Weights(stack, num_arcs, run);
    write_tiles(&graph, &weights, run, &options, None, files).unwrap();
}

fn tiles_of(layers: &TestLayers, record: &LayerRecord) -> Arc<Tiles> {
    let disk: Arc<dyn Disk> = Arc::new(layers.disk.clone());
    let shape = TileShape {
        num_vertices: record.num_vertices,
        num_edges: record.num_edges,
        directed: record.directed,
    };
    Arc::new(Tiles::open(&disk, &layer_directory(record.number), ORIGIN, shape, &[]).unwrap())
}

fn open_tiled(layers: &TestLayers, record: &LayerRecord) -> Arc<PlainLayer> {
    let tiles = tiles_of(layers, record);
    let directory = layer_directory(record.number);
    Arc::new(
        PlainLayer::open_with(&layers.disk, &directory, ORIGIN, record, Some(&tiles), &properties()).unwrap(),
    )
}

/// Merges the oldest layers, whose lists are kept in tiles alone. Compares the weights in the tiles with the
/// lists.
fn merge_tiles(layers: &mut TestLayers, end: usize, retained: &[u64], number: u32, run: &Run) {
    let directory = layer_directory(number);
    layers.disk.create_directory(&directory).unwrap();
    let writer = PlainWriter::new(&layers.disk, &directory, ORIGIN);
    let disk: Arc<dyn Disk> = Arc::new(layers.disk.clone());
    let old = Arc::clone(&layers.layers[0]);
    let newest = layers.layers[end - 1].record();
    let shape = MergedShape {
        num_vertices: newest.num_vertices as usize,
        in_lists: newest.in_edges,
        properties: &[(0, ElementType::I32)],
        memory_bytes: 1 << 10,
    };
    let files = FormFiles { disk: &disk, directory: &directory, origin: ORIGIN };
    let mut tiles = TileMerge::new(old.out().main().tiles().unwrap(), shape, run, files).unwrap();
    let options = MergeOptions {
        rebuild: None,
        number,
        retained,
        encoding: None,
        added: &[],
        given_ids: None,
        widened: None,
        remaining: None,
        end: None,
    };
    let with = Some(TilesOfMerge { tiles: &mut tiles, properties: &[0] });
    let (record, versions) = merge_with_tiles(&layers.layers, 0..end, &options, &writer, with, run).unwrap();
    tiles.finish(record.num_edges).unwrap();
    let merged = open_tiled(layers, &record);
    layers.distinguished.retain(|&version| version > record.last_version || versions.contains(&version));
    layers.layers.splice(0..end, [merged]);
    compare_weights(layers, &record, run);
}

/// Compares the weights in the tiles of the newest version of the complete layer with those of its lists.
fn compare_weights(layers: &TestLayers, record: &LayerRecord, run: &Run) {
    let complete = std::slice::from_ref(&layers.layers[0]);
    let stack = Stack::new(complete, record.last_version, record.num_vertices).unwrap();
    let graph = i32::open(
        &stack,
        ArcWeights { property: 0, num_arcs: record.num_arcs },
        CompleteLists::Mapped,
        None,
        run,
    )
    .unwrap();
    let mut expected = Vec::new();
    for v in (0..record.num_vertices as usize).map(vertex) {
        let own = |targets: &[VertexId], weights: &[i32]| {
            let arcs = targets.iter().zip(weights).filter(|(u, _)| record.directed || **u >= v);
            expected.extend(arcs.map(|(&u, &weight)| (v, u, weight)));
        };
        graph.with_list(Direction::Out, v, own).unwrap();
    }
    // There is one tile, whose edges lie in the order of the lists.
    assert!(record.num_vertices < 1 << 16);
    let tiles = tiles_of(layers, record);
    let path = TileFiles::in_layer(&layer_directory(record.number)).directory.join("property.0");
    let spec = ColumnSpec { origin: ORIGIN, kind: ColumnKind::TileProperty };
    let found = Column::<i32>::open(tiles.archive(), &path, spec).unwrap();
    let expected: Vec<i32> = expected.iter().map(|arc| arc.2).collect();
    assert_eq!(found.all(run).unwrap(), expected);
}

fn version_record(history: &History, number: u64) -> VersionRecord {
    let (num_edges, num_arcs, num_loops) = history.counts(number);
    let num_vertices = history.num_vertices(number) as u64;
    let (time_ms, committed_ms, message) = (0, 0, String::new());
    let commit = 0;
    VersionRecord {
        number,
        time_ms,
        committed_ms,
        message,
        commit,
        num_vertices,
        num_edges,
        num_arcs,
        num_loops,
    }
}

pub(crate) fn random_layers(random: &mut Random) -> (History, TestLayers) {
    let kind = GraphKind::random(random);
    let versions = 1 + random.index(16);
    let history = History::random(kind, random, versions);
    let percent = [20, 50, 90][random.index(3)];
    let cuts = random_cuts(random, history.last(), percent);
    let percent = [20, 60, 100][random.index(3)];
    let distinguished = some(random, 1..=history.last(), percent);
    let layers = history.layers(random, &cuts, &distinguished);
    (history, layers)
}

/// As [`random_layers`], but all layers after the first are made by freezing.
pub(crate) fn frozen_layers(random: &mut Random, run: &Run) -> (History, TestLayers) {
    let kind = GraphKind::random(random);
    let versions = 1 + random.index(16);
    let history = History::random(kind, random, versions);
    let cuts = random_cuts(random, history.last(), 50);
    let mut layers = history.layers(random, &cuts[..1], &[1]);
    for (number, pair) in (2..).zip(cuts.windows(2)) {
        let (mut edges, mut rows) = (Vec::new(), vec![Vec::new(), Vec::new()]);
        for (version, code) in (pair[0] + 1..=pair[1]).zip(1..) {
            for &change in &history.changes[version as usize - 1] {
                let (HistoryChange::Add(from, to, _) | HistoryChange::Delete(from, to)) = change;
                let is_forward = kind.directed || from <= to;
                let (source, target) = if is_forward { (from, to) } else { (to, from) };
                let mut row = REMOVAL;
                if let HistoryChange::Add(_, _, weight) = change {
                    row = rows[0].len() as u32;
                    rows[0].push(u64::from(weight.cast_unsigned()));
                    rows[1].push(text_of(weight));
                }
                edges.push(EdgeChange { source, target, code, row });
            }
        }
        let below = layers.layers[layers.layers.len() - 1].record();
        let stack = Stack::new(&layers.layers, below.last_version, below.num_vertices).unwrap();
        let changes = Changes {
            stack: &stack,
            edges: &edges,
            rows: &rows,
            elements: &[ElementType::I32, ElementType::U16],
            counted_from: 0,
            versions: (pair[0] + 1, pair[1]),
            num_vertices: history.num_vertices(pair[1]) as u64,
            policy: [CopyPolicy::Chain, CopyPolicy::Copy, CopyPolicy::Mixed][random.index(3)],
            known: None,
        };
        let directory = layer_directory(number);
        layers.disk.create_directory(&directory).unwrap();
        let writer = PlainWriter::new(&layers.disk, &directory, ORIGIN);
        let frozen = freeze(&changes, number, &writer, run).unwrap();
        layers.distinguished.extend(pair[0] + 1..=pair[1]);
        layers.layers.push(layers.open(&frozen.record));
    }
    (history, layers)
}

/// Merges random runs of layers repeatedly, and everything at the end.
fn merge_and_check(history: &History, mut layers: TestLayers, random: &mut Random, run: &Run) {
    check_all(&layers, history, run);
    for number in 100..106 {
        let first = random.index(layers.layers.len());
        let end = first + 1 + random.index(layers.layers.len() - first);
        let retained = some(random, layers.distinguished.clone(), 80);
        merge(&mut layers, first..end, &retained, None, number, run);
        check_all(&layers, history, run);
    }
    let newest = layers.layers.len();
    merge(&mut layers, 0..newest, &[], None, 200, run);
    assert_eq!(layers.distinguished, [history.last()]);
    check_all(&layers, history, run);
    let SectionRecord { dead_arcs, past_arcs, .. } = layers.layers[0].record().out;
    assert_eq!((dead_arcs, past_arcs), (0, 0));
}

fn check_all(layers: &TestLayers, history: &History, run: &Run) {
    for &version in &layers.distinguished {
        check_version(&layers.layers, history, version, run);
    }
    let versions = &layers.distinguished;
    for pair in versions.windows(2).chain(versions.windows(3)) {
        check_touched(layers, history, (pair[0], pair[pair.len() - 1]), run);
    }
}

/// All vertices whose lists differ between two versions are found.
fn check_touched(layers: &TestLayers, history: &History, (since, version): (u64, u64), run: &Run) {
    let stack = Stack::new(&layers.layers, version, history.num_vertices(version) as u64).unwrap();
    let mut touched = TouchedVertices::new(&stack, since, None, run).unwrap();
    let touched: BTreeSet<VertexId> = std::iter::from_fn(|| touched.next().unwrap()).collect();
    let [old, new] = [since, version].map(|version| history.lists_at(Direction::Out, version));
    for (v, new) in new.iter().enumerate() {
        let [old, new] = [old.get(v), Some(new)].map(|list| {
            let mut list = list.cloned().unwrap_or_default();
            list.sort_unstable();
            list
        });
        assert!(old == new || touched.contains(&vertex(v)), "vertex {v}, from {since} to {version}");
    }
}

proptest! {
    #![proptest_config(esker_format::testing::cases(400))]
    /// Any runs of layers, merged again and again while versions are forgotten: those retained stay what they
    /// are.
    #[test]
    fn merges_keep_retained_versions_unchanged(seed: u64) {
        let mut random = Random::new(seed);
        let run = Run::with_threads(1).unwrap();
        let (history, layers) = random_layers(&mut random);
        merge_and_check(&history, layers, &mut random, &run);
    }

    #[test]
    fn merges_of_frozen_layers_keep_retained_versions_unchanged(seed: u64) {
        let mut random = Random::new(seed);
        let run = Run::with_threads(1).unwrap();
        let (history, layers) = frozen_layers(&mut random, &run);
        merge_and_check(&history, layers, &mut random, &run);
    }

    /// Lists in tiles alone, merged with any number of later layers while versions are forgotten.
    #[test]
    fn merges_of_tiles_alone_keep_retained_versions_unchanged(seed: u64) {
        let mut random = Random::new(seed);
        let run = Run::with_threads(1).unwrap();
        let (history, mut layers) = match random.index(100) < 50 {
            true => random_layers(&mut random),
            false => frozen_layers(&mut random, &run),
        };
        to_tiles(&mut layers, 90, &run);
        check_all(&layers, &history, &run);
        for number in 100..104 {
            let end = 1 + random.index(layers.layers.len());
            let retained = some(&mut random, layers.distinguished.clone(), 80);
            merge_tiles(&mut layers, end, &retained, number, &run);
            check_all(&layers, &history, &run);
        }
        let all = layers.layers.len();
        merge_tiles(&mut layers, all, &[], 200, &run);
        prop_assert_eq!(&layers.distinguished[..], &[history.last()]);
        check_all(&layers, &history, &run);
    }

    /// Undoes the newest versions; the others must not change.
    #[test]
    fn merges_can_undo_the_newest_versions(seed: u64) {
        let mut random = Random::new(seed);
        let run = Run::with_threads(1).unwrap();
        let (history, mut layers) = random_layers(&mut random);
        for number in 100..104 {
            let newest = layers.layers.last().unwrap().versions().unwrap().to_vec();
            let until = version_record(&history, newest[random.index(newest.len())]);
            let first = random.index(layers.layers.len());
            let (retained, all) = (some(&mut random, layers.distinguished.clone(), 80), layers.layers.len());
            merge(&mut layers, first..all, &retained, Some(&until), number, &run);
            prop_assert_eq!(layers.distinguished.last(), Some(&until.number));
            check_all(&layers, &history, &run);
        }
    }
}

/// A whole fragment replaces a list below the inputs. An earlier version of the range still sees that list,
/// and one of its arcs died unseen, so the merge must read the list below.
#[test]
fn a_whole_fragment_does_not_hide_arcs_from_an_older_version() {
    let run = Run::with_threads(1).unwrap();
    let mut history =
        History::new(GraphKind { directed: true, multigraph: false, in_edges: true, compressed: true });
    history.commit(4, vec![HistoryChange::Add(0, 1, 1), HistoryChange::Add(0, 2, 2)]);
    history.commit(4, vec![HistoryChange::Add(3, 0, 1)]);
    history.commit(4, vec![HistoryChange::Delete(0, 2), HistoryChange::Add(0, 3, 0)]);
    // The seed decides which fragments are whole.
    for seed in 0..40 {
        let mut layers = history.layers(&mut Random::new(seed), &[1, 2, 3], &[]);
        merge(&mut layers, 1..3, &[2], None, 100, &run);
        assert_eq!(layers.distinguished, [1, 2, 3]);
        check_all(&layers, &history, &run);
    }
}

/// Threads share many chunks of work; the result must be that of one thread.
#[test]
fn many_vertices_are_merged_in_chunks() {
    let mut random = Random::new(3);
    let mut history =
        History::new(GraphKind { directed: true, multigraph: false, in_edges: true, compressed: true });
    let n = 150_000;
    for _ in 0..6 {
        let change = |random: &mut Random| {
            let (from, to) = (random.index(n) as _, random.index(n) as _);
            HistoryChange::Add(from, to, random.index(5) as i32)
        };
        history.commit(n, (0..20_000).map(|_| change(&mut random)).collect());
    }
    let run = Run::with_threads(3).unwrap();
    let mut layers = history.layers(&mut random, &[1, 3, 4, 6], &[1, 2, 3, 4, 5, 6]);
    merge(&mut layers, 1..4, &[2, 4], None, 100, &run);
    merge(&mut layers, 0..2, &[1, 4], None, 101, &run);
    assert_eq!(layers.layers[0].versions().unwrap(), [1, 4, 6]);
    for version in [1, 4, 6] {
        check_version(&layers.layers, &history, version, &run);
    }
}

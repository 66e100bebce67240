//! Versions of several layers, or in the middle of one, with every residency of the complete layer.

use std::sync::Arc;

use esker_format::io::{Disk, MemoryDisk};
use esker_format::{Encoding, HeadOrder, HeadsRecord, Result};
use esker_graph::random::Random;
use esker_graph::{Direction, Graph, Lists, Run, VertexId, vertex};
use esker_layers::FormFiles;
use esker_layers::graph::ArcWeights;
use esker_layers::graph::bounded::headed::{HeadedNeeds, Heads, StoredHeads, heads_directory, write_heads};
use esker_layers::graph::{CompleteLists, HeadedOptions, StoredWeight};
use esker_layers::known_files::DirectoryKind;
use esker_layers::layer::PlainLayer;
use esker_layers::pool::PoolOptions;
use esker_layers::stack::Stack;
use esker_layers::tiles::{ConvertOptions, PropertyWalk, TileProperties, TileShape, Tiles, write_tiles};
use proptest::prelude::*;

use super::compare_scans;
use crate::StoredGraph;
use crate::history::{History, ORIGIN, TestLayers, layer_directory, some};
use crate::merge::tests::{frozen_layers, merge, random_layers};

type Graph32<'a> = StoredGraph<'a, i32>;

/// The weights of a complete layer.
struct Weights<'g, 'a>(&'g Graph32<'a>);

impl TileProperties for Weights<'_, '_> {
    fn write(&self, walk: &PropertyWalk<'_>) -> Result<()> {
        walk.write(0, self.0)
    }
}

/// The tiles of a complete layer, on a disk of their own.
fn tiles(layer: &Arc<PlainLayer>, run: &Run) -> Tiles {
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
    let record = layer.record();
    let stack = Stack::new(&[Arc::clone(layer)], record.last_version, record.num_vertices).unwrap();
    let graph = i32::open(
        &stack,
        ArcWeights { property: 0, num_arcs: record.num_arcs },
        CompleteLists::Mapped,
        None,
        run,
    )
    .unwrap();
    let directory = layer_directory(record.number);
    disk.create_directory(&directory).unwrap();
    let options = ConvertOptions::default();
    let files = FormFiles { disk: &disk, directory: &directory, origin: ORIGIN };
    let report = write_tiles(&graph, &Weights(&graph), run, &options, None, files).unwrap();
    let (num_vertices, directed) = (record.num_vertices, record.directed);
    let shape = TileShape { num_vertices, num_edges: report.num_edges, directed };
    Tiles::open(&disk, &directory, ORIGIN, shape, &[]).unwrap()
}

/// The heads of a complete plain layer, chosen by degree unless it is a multigraph.
fn heads(disk: &Arc<dyn Disk>, layer: &PlainLayer, run: &Run) -> StoredHeads {
    let options = HeadedOptions { head_len: Some(3), memory_bytes: 1 << 30 };
    let heads = HeadedNeeds::for_layer(layer, None, 1).unwrap().heads(layer, options, run).unwrap();
    let order = if layer.record().multigraph { HeadOrder::First } else { HeadOrder::Degree };
    let directory = layer_directory(layer.record().number);
    let files = FormFiles { disk, directory: &directory, origin: ORIGIN };
    write_heads(layer, &Heads { order, ..heads }, run, files).unwrap();
    let record = HeadsRecord {
        layer: layer.record().number,
        stamp: ORIGIN.stamp,
        head_len: heads.length as u64,
        order,
    };
    let stored = StoredHeads::open(disk, &directory, ORIGIN, &record, layer.incoming().is_some()).unwrap();
    // The files are mapped; the next comparison may write others.
    DirectoryKind::Heads.remove(disk.as_ref(), &heads_directory(&directory)).unwrap();
    stored
}

fn sorted_list(graph: &Graph32<'_>, direction: Direction, v: VertexId) -> Vec<(VertexId, i32)> {
    let list = graph.with_list(direction, v, |targets, weights| {
        assert!(targets.is_sorted());
        targets.iter().copied().zip(weights.iter().copied()).collect::<Vec<_>>()
    });
    let mut list = list.unwrap();
    list.sort_unstable();
    list
}

/// Compares a version in every residency with its mapped lists.
fn compare_version(
    layers: &TestLayers,
    tiles: &Tiles,
    heads: Option<&StoredHeads>,
    history: &History,
    version: u64,
    run: &Run,
) {
    let disk: Arc<dyn Disk> = Arc::new(layers.disk.clone());
    let new_stack = || Stack::new(&layers.layers, version, history.num_vertices(version) as u64).unwrap();
    let (whole, stack) = (new_stack(), new_stack());
    let weight = ArcWeights { property: 0, num_arcs: history.counts(version).1 };
    let opened = |lists| i32::open(&stack, weight, lists, None, run).unwrap();
    // Of a stack of its own: this makes a vertex table, and the graphs below are to be read without one.
    let mapped = i32::open(&whole, weight, CompleteLists::Mapped, None, run).unwrap();
    let pool = PoolOptions { bytes: 2 << 20, extent_blocks: 2, ..PoolOptions::default() };
    let mut graphs = vec![
        (opened(CompleteLists::Pooled(&disk, &pool)), true),
        (opened(CompleteLists::Tiled(tiles, None)), false),
        (opened(CompleteLists::Tiled(tiles, Some(&pool))), false),
    ];
    let options = |head_len| HeadedOptions { head_len, memory_bytes: 1 << 30 };
    if let Some(heads) = heads {
        for (stored, head_len) in [(None, Some(0)), (None, Some(2)), (Some(heads), None)] {
            graphs.push((opened(CompleteLists::Headed(&disk, stored, options(head_len))), true));
        }
    }
    if stack.layers().len() > 1 && stack.rank().is_none() {
        assert!(stack.table_if_made(Direction::Out).is_none(), "later layers are gathered without it");
    }
    graphs.push((
        i32::copied(i32::open(&whole, weight, CompleteLists::Mapped, None, run).unwrap(), None, run).unwrap(),
        true,
    ));
    if let Some(heads) = heads {
        let unweighted = |lists| <()>::open(&stack, weight, lists, None, run).unwrap();
        for (stored, head_len) in [(None, Some(1)), (None, Some(3)), (Some(heads), None)] {
            let graph = unweighted(CompleteLists::Headed(&disk, stored, options(head_len)));
            let mapped = <()>::open(&whole, weight, CompleteLists::Mapped, None, run).unwrap();
            compare_scans(&graph, &mapped, true, run);
        }
    }
    for (graph, alone) in &graphs {
        if stack.is_plain() && !history.kind.in_edges && history.kind.directed {
            continue; // Tiles have in-lists where lists have none.
        }
        compare_scans(graph, &mapped, *alone, run);
        for direction in [Direction::Out, Direction::In].into_iter().filter(|&way| mapped.has(way)) {
            for v in (0..mapped.num_vertices()).map(vertex) {
                assert_eq!(sorted_list(graph, direction, v), sorted_list(&mapped, direction, v));
            }
        }
    }
}

/// Compares the newest version and some others.
fn compare_some(layers: &TestLayers, history: &History, random: &mut Random, run: &Run) {
    let (complete, disk): (_, Arc<dyn Disk>) = (&layers.layers[0], Arc::new(layers.disk.clone()));
    let tiles = tiles(complete, run);
    let is_plain = complete.record().encoding == Encoding::Plain;
    let heads = is_plain.then(|| heads(&disk, complete, run));
    let versions = &layers.distinguished;
    let some = [versions.len() - 1, random.index(versions.len()), random.index(versions.len())];
    for at in some {
        compare_version(layers, &tiles, heads.as_ref(), history, versions[at], run);
    }
}

/// Compares random layers with each residency: as they are; then with some merged; then with all.
fn compare_history(seed: u64, frozen: bool, threads: usize) {
    let mut random = Random::new(seed);
    let run = Run::with_threads(threads).unwrap();
    let (history, mut layers) =
        if frozen { frozen_layers(&mut random, &run) } else { random_layers(&mut random) };
    compare_some(&layers, &history, &mut random, &run);
    let first = random.index(layers.layers.len());
    let end = first + 1 + random.index(layers.layers.len() - first);
    let retained = some(&mut random, layers.distinguished.clone(), 80);
    merge(&mut layers, first..end, &retained, None, 100, &run);
    compare_some(&layers, &history, &mut random, &run);
    let (all, retained) = (layers.layers.len(), layers.distinguished.clone());
    merge(&mut layers, 0..all, &retained, None, 101 + u32::from(frozen), &run);
    compare_some(&layers, &history, &mut random, &run);
}

/// In a merged layer, one end of an edge that was deleted and added again had a copy that was never dead, the
/// other end had not: tiles handed over the edge twice.
#[test]
fn an_edge_that_was_added_again_has_one_copy_at_both_ends() {
    compare_history(5_940_272_239_051_579_370, false, 1);
}

proptest! {
    #![proptest_config(esker_format::testing::cases(20))]
    /// Random layers, as they were frozen or made by hand; then with some merged; then all.
    #[test]
    fn every_version_is_the_same_in_every_residency(seed: u64, frozen: bool, threads in 1_usize..3) {
        compare_history(seed, frozen, threads);
    }
}

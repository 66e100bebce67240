//! The numbering against a hash map, whatever the budget and the threads.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use arrow_array::ArrayRef;
use esker_format::io::{Disk, FaultyDisk, RealDisk};
use esker_format::{DatabaseId, IdSecret, Origin};
use esker_graph::Run;
use esker_layers::ids::{ExternalId, IdFiles, IdHasher, IdMap, hash_int};
use proptest::prelude::*;

use super::*;
use crate::read::source::{id_column, text_column};

/// A batch: edges, and vertices without an edge.
type Model = (Vec<(Vec<u8>, Vec<u8>)>, Vec<Vec<u8>>);

fn hasher() -> IdHasher {
    IdHasher::new(IdSecret([7; 16]))
}

fn column(texts: impl Iterator<Item = Vec<u8>>, ints: bool) -> ArrayRef {
    if ints { id_column(texts.map(|text| hasher().text(&text)).collect()) } else { text_column(texts) }
}

fn keys((edges, vertices): &Model, ints: bool) -> Keys {
    let vertices = (!vertices.is_empty()).then(|| column(vertices.iter().cloned(), ints));
    let source = column(edges.iter().map(|(source, _)| source.clone()), ints);
    Keys { source, target: column(edges.iter().map(|(_, target)| target.clone()), ints), vertices }
}

/// What an import knows in the end: edges between vertices, and the ids of the vertices in order.
#[derive(Debug, PartialEq)]
struct Outcome {
    edges: Vec<[VertexId; 2]>,
    ids: Vec<Vec<u8>>,
}

/// Numbers with the code under test, writes the id map with vertices in another order if so wanted, and reads
/// it.
fn number(batches: &[Model], ints: bool, shuffle: bool, limit_bytes: u64, threads: usize) -> Outcome {
    let dir = tempfile::tempdir().unwrap();
    let work = Workspace::new(Arc::new(Run::with_threads(threads).unwrap()), limit_bytes, dir.path());
    let mut numberer = Numberer::new(&work, hasher());
    for batch in batches {
        numberer.push(&Numberer::prepare(&keys(batch, ints), &hasher()).unwrap()).unwrap();
    }
    let numbered = numberer.finish().unwrap();
    let count = numbered.num_vertices as usize;
    let vertices = order(count, shuffle);
    let mut renumbered = Spool::new(&work, 0);
    renumbered.extend(&vertices).unwrap();
    renumbered.finish().unwrap();
    let mut edges = Vec::new();
    numbered
        .edges
        .for_each(|edge| {
            edges.push(edge);
            Ok(())
        })
        .unwrap();
    drop(numbered.edges);

    let disk = FaultyDisk::new(0);
    let directory = Path::new("ids");
    disk.create_directory(directory).unwrap();
    let files =
        IdFiles { disk: &disk, directory, origin: Origin::of_import(DatabaseId([3; 16])), hasher: hasher() };
    let kind = numbered.map.kind();
    numbered.map.write(&files, shuffle.then_some(&renumbered)).unwrap();
    drop(renumbered);
    assert_eq!(work.budget.free_bytes(), limit_bytes, "everything is given back");
    assert_eq!(RealDisk.list(dir.path()).unwrap(), [], "no temporary file is left");

    let map = IdMap::open(&files, kind, 0, count).unwrap();
    let mut ids = vec![Vec::new(); count];
    for (number, &vertex) in vertices.iter().enumerate() {
        let id = map.external_of(vertex).unwrap();
        assert_eq!(map.vertex_of(id).unwrap(), Some(vertex));
        id.write_to(&mut ids[number]).unwrap();
    }
    assert_eq!(map.vertex_of(ExternalId::Int(77)).unwrap(), None);
    assert_eq!(map.vertex_of(ExternalId::from("no such id")).unwrap(), None);
    Outcome { edges, ids }
}

/// The vertex of each number.
fn order(count: usize, shuffle: bool) -> Vec<VertexId> {
    let mut vertices: Vec<VertexId> = (0..count).map(esker_graph::vertex).collect();
    if shuffle {
        vertices.sort_by_key(|&v| hash_int(v as usize as u64));
    }
    vertices
}

/// The same with a hash map: texts by first appearance, integers ascending.
fn model(batches: &[Model], ints: bool) -> Outcome {
    let mut numbers = HashMap::new();
    let mut ids = Vec::new();
    let mut number = |text: &Vec<u8>| {
        let id = if ints { hasher().text(text).to_string().into_bytes() } else { text.clone() };
        *numbers.entry(id.clone()).or_insert_with(|| {
            ids.push(id);
            esker_graph::vertex(ids.len() - 1)
        })
    };
    let mut edges = Vec::new();
    for (batch, vertices) in batches {
        edges.extend(batch.iter().map(|(source, target)| [number(source), number(target)]));
        vertices.iter().for_each(|vertex| {
            number(vertex);
        });
    }
    if ints {
        let value = |id: &Vec<u8>| std::str::from_utf8(id).unwrap().parse::<u64>().unwrap();
        let mut ascending = ids.clone();
        ascending.sort_by_key(value);
        let rank = |id: &Vec<u8>| ascending.binary_search_by_key(&value(id), value).unwrap();
        let ranks: Vec<_> = ids.iter().map(rank).collect();
        for end in edges.as_flattened_mut() {
            *end = esker_graph::vertex(ranks[*end as usize]);
        }
        ids = ascending;
    }
    Outcome { edges, ids }
}

fn texts() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => (0u32..40).prop_map(|i| format!("v{i}").into_bytes()),
        2 => prop::collection::vec(any::<u8>(), 0..12),
        1 => (0u8..4, 100usize..5000).prop_map(|(byte, len)| vec![byte; len]),
    ]
}

fn batches() -> impl Strategy<Value = Vec<Model>> {
    let edges = prop::collection::vec((texts(), texts()), 0..200);
    prop::collection::vec((edges, prop::collection::vec(texts(), 0..4)), 0..6)
}

proptest! {
    #![proptest_config(esker_format::testing::cases(60))]
    #[test]
    fn numbers_are_those_of_a_hash_map(batches in batches(), ints: bool, shuffle: bool, limit_bytes in prop_oneof![0u64..60_000, Just(1 << 30)], threads in 1usize..3) {
        prop_assert_eq!(number(&batches, ints, shuffle, limit_bytes, threads), model(&batches, ints));
    }
}

/// Edges of a graph with a few hubs and many leaves.
fn skewed(num_edges: u64) -> Vec<Model> {
    let id = |i: u64| format!("{}", hash_int(i)).into_bytes();
    let edge = |i: u64| {
        let hub = (hash_int(i) % 64).pow(2) / 64;
        (id(hub), id(hash_int(!i) % num_edges))
    };
    let edges: Vec<_> = (0..num_edges).map(edge).collect();
    edges.chunks(1000).map(|chunk| (chunk.to_vec(), vec![id(chunk.len() as u64)])).collect()
}

#[test]
fn neither_budget_nor_threads_change_the_numbers() {
    let batches = skewed(6_000);
    for ints in [false, true] {
        let expected = model(&batches, ints);
        for limit_bytes in [0, 100_000, 1 << 30] {
            for threads in [1, 2, 7] {
                let found = number(&batches, ints, threads != 2, limit_bytes, threads);
                assert!(found == expected, "{ints} {limit_bytes} {threads}");
            }
        }
    }
}

#[test]
fn one_id_again_and_again_takes_no_table() {
    let edge = (vec![b'x'; 100], vec![b'x'; 100]);
    let batches: Vec<Model> = (0..20).map(|_| (vec![edge.clone(); 1000], Vec::new())).collect();
    assert_eq!(number(&batches, false, true, 0, 2), model(&batches, false));
}

/// Made for one secret, all lie in one partition there.
#[test]
fn ids_made_to_collide_are_spread_over_the_partitions() {
    let known = IdHasher::new(IdSecret([0; 16]));
    let in_one =
        (0..).map(|number: u32| number.to_string().into_bytes()).filter(|id| known.text(id) >> 56 == 0);
    let ids: Vec<_> = in_one.take(2000).collect();
    let batch: Model = (ids.iter().cloned().zip(ids.iter().rev().cloned()).collect(), Vec::new());
    let largest = |hasher: IdHasher| {
        let parted = Numberer::prepare(&keys(&batch, false), &hasher).unwrap();
        let starts = [0].iter().chain(&parted.bounds);
        starts.zip(&parted.bounds).map(|(start, end)| end - start).max().unwrap()
    };
    let share = largest(known) / largest(hasher());
    assert!(share > 60, "of 2000 ids in 256 partitions, the largest holds one in {share}");
    assert_eq!(number(std::slice::from_ref(&batch), false, true, 1 << 20, 2), model(&[batch], false));
}

#[test]
fn texts_of_megabytes() {
    let long = |i: usize| vec![i as u8; (1 << 21) + i % 3];
    let batches: Vec<Model> =
        (0..6).map(|i| (vec![(long(i), long(i / 2)), (Vec::new(), long(i))], Vec::new())).collect();
    for limit_bytes in [0, 1 << 20] {
        assert_eq!(number(&batches, false, true, limit_bytes, 2), model(&batches, false));
    }
}

#[test]
fn no_ids_at_all() {
    for batches in [vec![], vec![(vec![], vec![])], vec![(vec![], vec![b"a".to_vec()])]] {
        for ints in [false, true] {
            assert_eq!(number(&batches, ints, true, 1 << 20, 2), model(&batches, ints));
        }
    }
}

#[test]
fn two_kinds_of_ids_are_an_error() {
    let work = Workspace::new(Arc::new(Run::with_threads(1).unwrap()), 1 << 20, std::env::temp_dir());
    let batch: Model = (vec![(b"a".to_vec(), b"b".to_vec())], Vec::new());
    let mut numberer = Numberer::new(&work, hasher());
    numberer.push(&Numberer::prepare(&keys(&batch, true), &hasher()).unwrap()).unwrap();
    let error = numberer.push(&Numberer::prepare(&keys(&batch, false), &hasher()).unwrap()).unwrap_err();
    assert!(error.to_string().contains("name their type"), "{error}");
    let mut mixed = keys(&batch, true);
    mixed.target = keys(&batch, false).target;
    assert!(Numberer::prepare(&mixed, &hasher()).is_err());
    let mut uneven = keys(&batch, true);
    uneven.target = id_column(Vec::new());
    assert!(
        Numberer::prepare(&uneven, &hasher()).unwrap_err().to_string().contains("1 sources but 0 targets")
    );
}

#[test]
fn cancellation_stops_it() {
    let run = Arc::new(Run::with_threads(1).unwrap());
    let work = Workspace::new(run.clone(), 1 << 20, std::env::temp_dir());
    let mut numberer = Numberer::new(&work, hasher());
    numberer.push(&Numberer::prepare(&keys(&skewed(1000)[0], true), &hasher()).unwrap()).unwrap();
    run.cancel().cancel();
    assert_eq!(numberer.finish().err().map(|error| error.to_string()).as_deref(), Some("cancelled"));
}

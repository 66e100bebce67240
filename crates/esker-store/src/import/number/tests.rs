//! The numbering against a hash map, whatever the budget and the threads.

use std::collections::HashMap;
use std::sync::Arc;

use esker_graph::Run;
use proptest::prelude::*;

use super::*;
use crate::import::source::{IdColumn, TextColumn};

/// A batch: edges, and vertices without an edge.
type Model = (Vec<(Vec<u8>, Vec<u8>)>, Vec<Vec<u8>>);

fn column(texts: impl Iterator<Item = Vec<u8>>, ints: bool) -> IdColumn {
    if ints {
        IdColumn::Int(texts.map(|text| crate::ids::hash_text(&text)).collect())
    } else {
        let mut column = TextColumn::default();
        texts.for_each(|text| column.push(&text));
        IdColumn::Text(column)
    }
}

fn keys((edges, vertices): &Model, ints: bool) -> Keys {
    let vertices = (!vertices.is_empty()).then(|| column(vertices.iter().cloned(), ints));
    let source = column(edges.iter().map(|(source, _)| source.clone()), ints);
    Keys { source, target: column(edges.iter().map(|(_, target)| target.clone()), ints), vertices }
}

fn number(batches: &[Model], ints: bool, limit_bytes: u64, threads: usize) -> (u64, Vec<[VertexId; 2]>) {
    let dir = tempfile::tempdir().unwrap();
    let work = Work::new(Arc::new(Run::with_threads(threads).unwrap()), limit_bytes, dir.path());
    let mut numberer = PartitionNumberer::new(&work);
    for batch in batches {
        numberer.push(PartitionNumberer::prepare(keys(batch, ints))).unwrap();
    }
    let numbered = numberer.finish().unwrap();
    let mut edges = Vec::new();
    numbered.edges.for_each(|edge| Ok(edges.push(edge))).unwrap();
    let count = numbered.num_vertices;
    drop(numbered);
    assert_eq!(work.budget.free_bytes(), limit_bytes, "everything is given back");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "no temporary file is left");
    (count, edges)
}

fn model(batches: &[Model]) -> (u64, Vec<[VertexId; 2]>) {
    let mut numbers = HashMap::new();
    let mut number = |text: &Vec<u8>| {
        let next = numbers.len() as VertexId;
        *numbers.entry(text.clone()).or_insert(next)
    };
    let mut edges = Vec::new();
    for (batch, vertices) in batches {
        edges.extend(batch.iter().map(|(source, target)| [number(source), number(target)]));
        vertices.iter().for_each(|vertex| {
            number(vertex);
        });
    }
    (numbers.len() as u64, edges)
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
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn numbers_are_those_of_a_hash_map(batches in batches(), ints: bool, limit_bytes in prop_oneof![0u64..60_000, Just(1 << 30)], threads in 1usize..3) {
        prop_assert_eq!(number(&batches, ints, limit_bytes, threads), model(&batches));
    }
}

/// Edges of a graph with a few hubs and many leaves.
fn skewed(num_edges: u64) -> Vec<Model> {
    let id = |i: u64| format!("{}", crate::ids::hash_int(i)).into_bytes();
    let edge = |i: u64| {
        let hub = (crate::ids::hash_int(i) % 64).pow(2) / 64;
        (id(hub), id(crate::ids::hash_int(!i) % num_edges))
    };
    let edges: Vec<_> = (0..num_edges).map(edge).collect();
    edges.chunks(1000).map(|chunk| (chunk.to_vec(), vec![id(chunk.len() as u64)])).collect()
}

#[test]
fn neither_budget_nor_threads_change_the_numbers() {
    let batches = skewed(30_000);
    let expected = model(&batches);
    for ints in [false, true] {
        for limit_bytes in [0, 100_000, 1 << 20, 1 << 30] {
            for threads in [1, 2, 7] {
                assert_eq!(
                    number(&batches, ints, limit_bytes, threads),
                    expected,
                    "{ints} {limit_bytes} {threads}"
                );
            }
        }
    }
}

#[test]
fn one_id_again_and_again_takes_no_table() {
    let edge = (vec![b'x'; 100], vec![b'x'; 100]);
    let batches: Vec<Model> = (0..20).map(|_| (vec![edge.clone(); 1000], Vec::new())).collect();
    assert_eq!(number(&batches, false, 0, 2), model(&batches));
}

#[test]
fn texts_of_megabytes() {
    let long = |i: usize| vec![i as u8; (1 << 21) + i % 3];
    let batches: Vec<Model> =
        (0..6).map(|i| (vec![(long(i), long(i / 2)), (Vec::new(), long(i))], Vec::new())).collect();
    for limit_bytes in [0, 1 << 20] {
        assert_eq!(number(&batches, false, limit_bytes, 2), model(&batches));
    }
}

#[test]
fn no_ids_at_all() {
    assert_eq!(number(&[], false, 1 << 20, 2), (0, Vec::new()));
    assert_eq!(number(&[(Vec::new(), Vec::new())], true, 1 << 20, 2), (0, Vec::new()));
    assert_eq!(number(&[(Vec::new(), vec![b"a".to_vec()])], true, 1 << 20, 2), (1, Vec::new()));
}

#[test]
fn two_kinds_of_ids_are_an_error() {
    let work = Work::new(Arc::new(Run::with_threads(1).unwrap()), 1 << 20, std::env::temp_dir());
    let batch: Model = (vec![(b"a".to_vec(), b"b".to_vec())], Vec::new());
    let mut numberer = PartitionNumberer::new(&work);
    numberer.push(PartitionNumberer::prepare(keys(&batch, true))).unwrap();
    let error = numberer.push(PartitionNumberer::prepare(keys(&batch, false))).unwrap_err();
    assert!(error.to_string().contains("name their type"), "{error}");
    let mut mixed = keys(&batch, true);
    mixed.target = keys(&batch, false).target;
    assert!(PartitionNumberer::prepare(mixed).is_err());
    let mut uneven = keys(&batch, true);
    uneven.target = IdColumn::Int(Vec::new());
    assert!(PartitionNumberer::prepare(uneven).unwrap_err().to_string().contains("1 sources but 0 targets"));
}

#[test]
fn cancellation_stops_it() {
    let run = Arc::new(Run::with_threads(1).unwrap());
    let work = Work::new(run.clone(), 1 << 20, std::env::temp_dir());
    let mut numberer = PartitionNumberer::new(&work);
    numberer.push(PartitionNumberer::prepare(keys(&skewed(1000)[0], true))).unwrap();
    run.cancel().cancel();
    assert_eq!(numberer.finish().err().map(|error| error.to_string()).as_deref(), Some("cancelled"));
}

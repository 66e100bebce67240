//! The whole pipeline against a model in memory: every policy, every path, every number of threads.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker_format::io::{Disk, MemoryDisk, RealDisk};
use esker_format::{DatabaseId, ElementType, Encoding, Error, IdMapKind, IdSecret, Origin, Result, Values};
use esker_graph::random::hash;
use esker_graph::{Direction, Run, Stop, VertexId};
use esker_layers::ids::{ExternalId, IdFiles, IdHasher, IdMap};
use esker_layers::layer::{Coder, PlainWriter, SectionColumn};
use proptest::prelude::*;

use super::build::built::{Built, BuiltIds};
use super::build::pipeline::{Destination, build_layer};
use super::options::{BadLines, Duplicates, ImportOptions, NumberingOrder, SelfLoops};
use super::read::source::*;

/// Batches that are there already.
struct MemoryReader {
    schema: Schema,
    batches: Arc<Vec<EdgeBatch>>,
    next: usize,
}

struct Copies(Arc<Vec<EdgeBatch>>);

impl Reader for MemoryReader {
    fn schema(&self) -> &Schema {
        &self.schema
    }
    fn parser(&self) -> Arc<dyn BlockParser> {
        Arc::new(Copies(self.batches.clone()))
    }
    fn next_block(&mut self) -> Result<Option<InputBlock>> {
        let file = self.next;
        self.next += 1;
        Ok((file < self.batches.len()).then(|| InputBlock {
            bytes: Vec::new(),
            first_line: 1,
            file,
            input_bytes: 1,
        }))
    }
}

impl BlockParser for Copies {
    fn parse(&self, block: InputBlock) -> Result<EdgeBatch> {
        Ok(self.0[block.file].clone())
    }
}

/// A layer in memory.
struct MemoryLayer(MemoryDisk);

/// The bits of the values of each column, by name.
type Columns = BTreeMap<PathBuf, Vec<u64>>;

fn name(column: SectionColumn, direction: Direction) -> PathBuf {
    column.path(Path::new("layer"), direction)
}

impl MemoryLayer {
    fn columns(&self) -> Columns {
        let names = self.0.list(Path::new("layer")).unwrap().into_iter();
        names
            .map(|entry| Path::new("layer").join(entry.name))
            .map(|path| (path.clone(), self.bits(&path)))
            .collect()
    }

    fn bits(&self, path: &Path) -> Vec<u64> {
        let column = Values::open_any(&self.0, path, Origin::of_import(DatabaseId([7; 16]))).unwrap();
        let values = column.all(&Run::with_threads(1).unwrap()).unwrap();
        let mut bits = Vec::new();
        values.append_bits(0..column.len(), &mut bits);
        bits
    }

    /// The lists of a direction, with an `i32` or `i64` weight if there is one.
    fn lists(&self, direction: Direction, weight: Option<ElementType>) -> Vec<Vec<(VertexId, i64)>> {
        let offsets = self.bits(&name(SectionColumn::Offsets, direction));
        let targets = self.bits(&name(SectionColumn::Targets, direction));
        let weights: Vec<i64> = match weight {
            None => vec![0; targets.len()],
            Some(element) => {
                let bits = self.bits(&name(SectionColumn::Property(0), direction)).into_iter();
                match element {
                    ElementType::I32 => bits.map(|bits| i64::from(bits as i32)).collect(),
                    ElementType::I64 => bits.map(|bits| bits as i64).collect(),
                    other => panic!("unexpected {other:?}"),
                }
            }
        };
        assert_eq!(offsets[offsets.len() - 1], targets.len() as u64);
        assert_eq!(weights.len(), targets.len());
        let list = |w: &[u64]| {
            (w[0] as usize..w[1] as usize).map(|i| (targets[i] as VertexId, weights[i])).collect()
        };
        offsets.windows(2).map(list).collect()
    }
}

fn schema(ids: IdKind, weighted: bool) -> Schema {
    Schema {
        operation: None,
        kind: None,
        format: "test",
        ids,
        properties: if weighted { vec!["weight".to_owned()] } else { Vec::new() },
        weight: weighted.then_some(0),
        types: Vec::new(),
        directed: None,
        time: None,
        both_ends: false,
        input_bytes: None,
    }
}

/// Integer edges in batches of `batch_len`.
fn batches(edges: &[(u64, u64, i64)], weighted: bool, batch_len: usize) -> Vec<EdgeBatch> {
    let batch = |edges: &[(u64, u64, i64)]| EdgeBatch {
        properties: if weighted {
            vec![Numbers::Int(edges.iter().map(|e| e.2).collect()).finish()]
        } else {
            Vec::new()
        },
        ..EdgeBatch::of_integers(edges.iter().map(|e| e.0).collect(), edges.iter().map(|e| e.1).collect(), 1)
    };
    edges.chunks(batch_len).map(batch).collect()
}

fn build(schema: Schema, batches: Vec<EdgeBatch>, options: &ImportOptions) -> Result<(Built, MemoryLayer)> {
    build_then(schema, batches, options, |built| built)
}

/// Builds a layer, and does `then` before the directory of temporary files goes.
fn build_then<R>(
    schema: Schema,
    batches: Vec<EdgeBatch>,
    options: &ImportOptions,
    then: impl FnOnce(Built) -> R,
) -> Result<(R, MemoryLayer)> {
    let dir = tempfile::tempdir().unwrap();
    let disk = MemoryDisk::default();
    disk.create_directory(Path::new("layer")).unwrap();
    let writer = PlainWriter::new(&disk, Path::new("layer"), Origin::of_import(DatabaseId([7; 16])));
    let reader = MemoryReader { schema, batches: Arc::new(batches), next: 0 };
    let place = Destination { disk: Arc::new(RealDisk), directory: dir.path() };
    let built = build_layer(Box::new(reader), options, place, &writer, IdHasher::new(IdSecret([0; 16])))?;
    Ok((then(built), MemoryLayer(disk)))
}

/// The integer id of each vertex.
fn integer_ids_of(built: Built) -> Vec<u64> {
    let num_vertices = built.report.vertices;
    match built.ids {
        BuiltIds::Identity { base } => (0..num_vertices).map(|v| base + v).collect(),
        BuiltIds::Permuted { base, renumbered } => {
            let (mut ids, mut index) = (vec![0; num_vertices as usize], 0);
            renumbered
                .for_each(|v| {
                    ids[v as usize] = base + index;
                    index += 1;
                    Ok(())
                })
                .unwrap();
            ids
        }
        BuiltIds::Mapped { map, renumbered } => {
            let (disk, directory) = (MemoryDisk::default(), Path::new("ids"));
            disk.create_directory(directory).unwrap();
            let (origin, hasher) = (Origin::of_import(DatabaseId([7; 16])), IdHasher::new(IdSecret([0; 16])));
            let files = IdFiles { disk: &disk, directory, origin, hasher };
            let kind = map.kind();
            map.write(&files, renumbered.as_ref()).unwrap();
            let map = IdMap::open(&files, kind, 0, num_vertices as usize).unwrap();
            let id = |v| match map.external_of(v).unwrap() {
                id @ ExternalId::Int(integer) => {
                    assert_eq!(map.vertex_of(id).unwrap(), Some(v));
                    integer
                }
                ExternalId::Text(_) => panic!("an id is a text"),
            };
            (0..num_vertices as usize).map(|v| id(esker_graph::vertex(v))).collect()
        }
    }
}

/// The lists and the ids that an import of integer edges gives.
fn lists_and_ids(
    edges: &[(u64, u64, i64)],
    options: &ImportOptions,
) -> (Vec<Vec<(VertexId, i64)>>, Vec<u64>) {
    let batches = batches(edges, false, 1000);
    let (ids, layer) = build_then(schema(IdKind::Int, false), batches, options, integer_ids_of).unwrap();
    (layer.lists(Direction::Out, None), ids)
}

/// The lists that the options ask for, naively. Edges are in final numbers.
fn model(
    n: usize,
    edges: &[(u64, u64, i64)],
    both: bool,
    options: &ImportOptions,
) -> Vec<Vec<(VertexId, i64)>> {
    let mut lists: Vec<Vec<(VertexId, i64)>> = vec![Vec::new(); n];
    let mut add = |u: u64, v: u64, w: i64| {
        let list = &mut lists[u as usize];
        let known = list.iter_mut().find(|entry| entry.0 == v as VertexId);
        match (options.duplicates, known) {
            (Duplicates::First, Some(_)) => {}
            (Duplicates::Last, Some(entry)) => entry.1 = w,
            (Duplicates::Max, Some(entry)) => entry.1 = entry.1.max(w),
            (Duplicates::Sum, Some(entry)) => entry.1 += w,
            (Duplicates::Min, Some(entry)) => entry.1 = entry.1.min(w),
            _ => list.push((v as VertexId, w)),
        }
    };
    for &(u, v, w) in edges.iter().filter(|e| e.0 != e.1 || options.self_loops == SelfLoops::Keep) {
        add(u, v, w);
        if both && u != v {
            add(v, u, w);
        }
    }
    lists.iter_mut().for_each(|list| list.sort_by_key(|entry| entry.0));
    lists
}

/// The vertices by descending degree as the naive definition has it.
fn model_order(n: usize, edges: &[(u64, u64, i64)]) -> Vec<u64> {
    let mut degrees = vec![0u64; n];
    for &(u, v, _) in edges {
        degrees[u as usize] += 1;
        degrees[v as usize] += 1;
    }
    let mut by_degree: Vec<usize> = (0..n).collect();
    by_degree.sort_by_key(|&v| (std::cmp::Reverse(degrees[v]), v));
    let mut numbers = vec![0; n];
    for (number, &v) in by_degree.iter().enumerate() {
        numbers[v] = number as u64;
    }
    numbers
}

fn policies() -> impl Strategy<Value = ImportOptions> {
    (
        any::<bool>(),
        any::<bool>(),
        prop_oneof![Just(NumberingOrder::Keep), Just(NumberingOrder::Degree)],
        prop_oneof![
            Just(Duplicates::First),
            Just(Duplicates::Last),
            Just(Duplicates::Max),
            Just(Duplicates::Keep),
            Just(Duplicates::Sum),
            Just(Duplicates::Min)
        ],
        prop_oneof![Just(SelfLoops::Keep), Just(SelfLoops::Drop)],
        prop_oneof![Just(1usize), Just(2), Just(7)],
        prop_oneof![Just(2u64 << 20), Just(64 << 20)],
    )
        .prop_map(|(directed, in_edges, order, duplicates, self_loops, threads, memory_bytes)| {
            ImportOptions {
                directed: Some(directed),
                in_edges,
                order,
                duplicates,
                self_loops,
                threads,
                memory_bytes,
                ..ImportOptions::default()
            }
        })
}

proptest! {
    #![proptest_config(esker_format::testing::cases(200))]

    #[test]
    fn every_policy_agrees_with_the_model(
        options in policies(),
        n in 1u64..40,
        raw in prop::collection::vec((0u64..40, 0u64..40, -5i64..1000), 0..300),
        weighted: bool,
        batch_len in 1usize..100,
    ) {
        let edges: Vec<(u64, u64, i64)> = raw.iter().map(|&(u, v, w)| (u % n, v % n, if weighted { w } else { 0 })).collect();
        let mut options = options;
        if !weighted && options.duplicates.needs_weight() {
            options.duplicates = Duplicates::First;
        }
        let ids = IdKind::Numbered { first: 0, num_vertices: n };
        let (built, layer) = build(schema(ids, weighted), batches(&edges, weighted, batch_len), &options).unwrap();
        let renumbered = match (options.order, &built.ids) {
            (NumberingOrder::Keep, BuiltIds::Identity { base: 0 }) => (0..n).collect(),
            (NumberingOrder::Degree, BuiltIds::Permuted { base: 0, renumbered }) => {
                let mut numbers = Vec::new();
                renumbered.for_each(|v| { numbers.push(u64::from(v)); Ok(()) }).unwrap();
                prop_assert_eq!(&numbers, &model_order(n as usize, &edges));
                numbers
            }
            _ => return Err(TestCaseError::fail("wrong kind of ids")),
        };
        let edges: Vec<_> = edges.iter().map(|&(u, v, w)| (renumbered[u as usize], renumbered[v as usize], w)).collect();
        let directed = options.directed.unwrap();
        let weight = weighted.then(|| built.properties[0].element);
        let expected = model(n as usize, &edges, !directed, &options);
        let arcs: usize = expected.iter().map(Vec::len).sum();
        prop_assert_eq!(layer.lists(Direction::Out, weight), expected);
        prop_assert_eq!(built.report.arcs, arcs as u64);
        prop_assert_eq!(built.report.rows, edges.len() as u64);
        let loops_dropped = if options.self_loops == SelfLoops::Drop { edges.iter().filter(|e| e.0 == e.1).count() } else { 0 };
        prop_assert_eq!(built.report.self_loops, loops_dropped as u64);
        prop_assert_eq!(built.report.edges + built.report.duplicates + built.report.self_loops, edges.len() as u64);
        prop_assert_eq!(built.in_edges, directed && options.in_edges);
        if built.in_edges {
            let reversed: Vec<_> = edges.iter().map(|&(u, v, w)| (v, u, w)).collect();
            prop_assert_eq!(layer.lists(Direction::In, weight), model(n as usize, &reversed, false, &options));
        } else {
            let offsets = name(SectionColumn::Offsets, Direction::In);
            prop_assert!(!layer.columns().contains_key(&offsets));
        }
    }
}

/// Deterministic edges, some vertices far more frequent than others.
fn skewed(count: u64, n: u64) -> Vec<(u64, u64, i64)> {
    let noise = hash;
    (0..count)
        .map(|i| {
            let (a, b) = (noise(3 * i), noise(3 * i + 1));
            let hub = |x: u64| if x.is_multiple_of(3) { n / 2 + x / 3 % 5 } else { x / 3 % n };
            (hub(a), hub(b), (noise(3 * i + 2) % 100) as i64)
        })
        .collect()
}

/// What the columns of a plain layer are in an encoding.
fn in_encoding(plain: &Columns, encoding: Encoding) -> Columns {
    let mut columns = plain.clone();
    if encoding == Encoding::Plain {
        return columns;
    }
    for direction in [Direction::Out, Direction::In] {
        let Some(offsets) = columns.remove(&name(SectionColumn::Offsets, direction)) else { continue };
        let targets = columns.remove(&name(SectionColumn::Targets, direction)).unwrap();
        let targets: Vec<VertexId> = targets.into_iter().map(|target| target as VertexId).collect();
        let mut coder = Coder::default();
        for bounds in offsets.windows(2) {
            coder.append(&targets[bounds[0] as usize..bounds[1] as usize]);
            coder.end_list();
        }
        coder.finish();
        let parts = coder.parts();
        let wide = |bytes: &[u8]| bytes.iter().map(|&byte| u64::from(byte)).collect();
        columns.insert(name(SectionColumn::Groups, direction), parts.groups.clone());
        columns.insert(name(SectionColumn::Sizes, direction), wide(&parts.sizes));
        columns.insert(name(SectionColumn::Lists, direction), wide(&parts.lists));
        columns.insert(name(SectionColumn::Blocks, direction), parts.blocks.clone());
    }
    columns
}

#[test]
fn layers_are_the_same_whatever_the_limit_and_the_threads() {
    let edges = skewed(200_000, 30_000);
    for duplicates in Duplicates::ALL.into_iter().filter(|&rule| rule != Duplicates::Refuse) {
        for (directed, weighted) in [(true, true), (false, true), (true, false), (false, false)] {
            if duplicates.needs_weight() && !weighted {
                continue;
            }
            // Of the first way, plain and compressed.
            let mut first = None;
            for (threads, memory_bytes) in
                [(1, 1 << 30), (2, 1 << 30), (1, 1_700_000), (2, 2_400_000), (7, 8 << 20)]
            {
                for (order, encoding) in [
                    (NumberingOrder::Auto, Encoding::Plain),
                    (NumberingOrder::Degree, Encoding::Plain),
                    (NumberingOrder::Auto, Encoding::Compressed),
                ] {
                    let options = ImportOptions {
                        directed: Some(directed),
                        order,
                        encoding,
                        duplicates,
                        threads,
                        memory_bytes,
                        ..ImportOptions::default()
                    };
                    let batches = batches(&edges, weighted, 1000);
                    let (built, layer) = build(schema(IdKind::Int, weighted), batches, &options).unwrap();
                    assert_eq!(built.report.order.order, NumberingOrder::Degree);
                    assert!(built.report.reserved_bytes <= memory_bytes);
                    let columns = layer.columns();
                    let first = first.get_or_insert_with(|| {
                        [Encoding::Plain, Encoding::Compressed]
                            .map(|encoding| in_encoding(&columns, encoding))
                    });
                    let expected = &first[usize::from(encoding == Encoding::Compressed)];
                    assert!(*expected == columns, "{threads} {memory_bytes} {encoding:?}");
                }
            }
        }
    }
}

#[test]
fn one_vertex_or_one_edge_may_exceed_the_memory() {
    // A star far above what one bucket holds, and one edge as often.
    let star: Vec<_> = (0..120_000).map(|i| (0, i * 7919 % 120_000, 1)).collect();
    let same: Vec<_> = (0..120_000).map(|i| (3, 4, i % 7)).collect();
    for edges in [star, same] {
        for weighted in [false, true] {
            for duplicates in Duplicates::ALL.into_iter().filter(|&rule| rule != Duplicates::Refuse) {
                if duplicates.needs_weight() && !weighted {
                    continue;
                }
                let mut first = None;
                for (memory_bytes, encoding) in [
                    (1 << 30, Encoding::Plain),
                    (1_700_000, Encoding::Plain),
                    (1_700_000, Encoding::Compressed),
                ] {
                    let options = ImportOptions {
                        encoding,
                        duplicates,
                        memory_bytes,
                        threads: 2,
                        order: NumberingOrder::Keep,
                        ..Default::default()
                    };
                    let ids = IdKind::Numbered { first: 0, num_vertices: 120_000 };
                    let (_, layer) =
                        build(schema(ids, weighted), batches(&edges, weighted, 1000), &options).unwrap();
                    let columns = layer.columns();
                    let plain = first.get_or_insert_with(|| columns.clone());
                    assert!(
                        in_encoding(plain, encoding) == columns,
                        "{weighted} {duplicates:?} {encoding:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn texts_are_numbered_by_first_appearance() {
    let options = ImportOptions { order: NumberingOrder::Keep, ..ImportOptions::default() };
    let mut texts = batches(&[(0, 0, 0); 3], false, 2);
    let column = |texts: &[&str]| text_column(texts);
    (texts[0].source, texts[0].target) = (column(&["b", "a"]), column(&["a", "c"]));
    (texts[1].source, texts[1].target) = (column(&["b"]), column(&["c"]));
    texts[0].vertices = Some(column(&["lonely", "a"]));
    let (built, layer) = build(schema(IdKind::Text, false), texts, &options).unwrap();
    assert_eq!(built.report.vertices, 4);
    assert_eq!(layer.lists(Direction::Out, None), [vec![(1, 0), (2, 0)], vec![(2, 0)], vec![], vec![]]);
}

#[test]
fn texts_that_are_not_there_yet_are_texts() {
    // An empty input that was declared to have text ids made a database of integer ids, which took no texts
    // later.
    let (built, _) = build(schema(IdKind::Text, false), Vec::new(), &ImportOptions::default()).unwrap();
    let BuiltIds::Mapped { map, .. } = built.ids else { panic!("{:?}", built.report) };
    assert_eq!((map.kind(), built.report.vertices), (IdMapKind::Texts, 0));
}

#[test]
fn only_integers_that_the_input_names_are_vertices() {
    let options = ImportOptions { order: NumberingOrder::Keep, ..ImportOptions::default() };
    let no_edges = Vec::new();
    for (edges, lists, ids) in [
        (vec![(1, 2, 0)], vec![vec![1], vec![]], vec![1, 2]),
        (vec![(1000, 1001, 0), (1001, 1000, 0)], vec![vec![1], vec![0]], vec![1000, 1001]),
        (vec![(5, 2, 0), (0, 5, 0), (1, 1, 0)], vec![vec![3], vec![1], vec![], vec![2]], vec![0, 1, 2, 5]),
        (vec![(u64::MAX, 5, 0), (5, 1 << 40, 0)], vec![vec![1], vec![], vec![0]], vec![5, 1 << 40, u64::MAX]),
        (vec![(u64::MAX, u64::MAX - 1, 0)], vec![vec![], vec![0]], vec![u64::MAX - 1, u64::MAX]),
        (vec![(0, u64::MAX, 0)], vec![vec![1], vec![]], vec![0, u64::MAX]),
        (no_edges, vec![], vec![]),
    ] {
        let lists: Vec<Vec<_>> =
            lists.into_iter().map(|list| list.into_iter().map(|v| (v, 0)).collect()).collect();
        assert_eq!(lists_and_ids(&edges, &options), (lists, ids), "{edges:?}");
    }
    let mut named = batches(&[(7, 9, 0)], false, 1);
    named[0].vertices = Some(id_column(vec![3, 9, 4]));
    for order in [NumberingOrder::Keep, NumberingOrder::Degree] {
        let options = ImportOptions { order, ..ImportOptions::default() };
        let ids = schema(IdKind::Int, false);
        let (ids, _) = build_then(ids, named.clone(), &options, integer_ids_of).unwrap();
        let expected = if order == NumberingOrder::Keep { [3, 4, 7, 9] } else { [7, 9, 3, 4] };
        assert_eq!(ids, expected);
    }
}

#[test]
fn the_spacing_of_ids_changes_no_answer() {
    // Ids with gaps, and their images under ascending maps: close, shifted, apart, far
    // apart.
    let edges: Vec<_> = skewed(60_000, 50_000).into_iter().filter(|e| e.0 % 7 != 3 && e.1 % 7 != 3).collect();
    let mut present: Vec<u64> = edges.iter().flat_map(|e| [e.0, e.1]).collect();
    present.sort_unstable();
    present.dedup();
    let rank = |id: u64| present.partition_point(|&other| other < id) as u64;
    let maps: [&dyn Fn(u64) -> u64; 6] =
        [&rank, &|id| id, &|id| rank(id) + 1_000_000, &|id| 20 * id + 3, &|id| (id << 40) + 12, &|id| {
            if id < 5000 { id } else { id + (1 << 33) }
        }];
    for order in [NumberingOrder::Keep, NumberingOrder::Degree] {
        let mut first = None;
        for (memory_bytes, threads) in [(1 << 30, 2), (1_500_000, 1)] {
            let options = ImportOptions { order, memory_bytes, threads, ..ImportOptions::default() };
            for (number, map) in maps.iter().enumerate() {
                let mapped: Vec<_> = edges.iter().map(|&(u, v, w)| (map(u), map(v), w)).collect();
                let (lists, ids) = lists_and_ids(&mapped, &options);
                let (expected, ranks) = first.get_or_insert_with(|| (lists.clone(), ids.clone()));
                assert!(lists == *expected, "map {number} in {memory_bytes} bytes gives other lists");
                let expected: Vec<u64> = ranks.iter().map(|&rank| map(present[rank as usize])).collect();
                assert!(ids == expected, "map {number} in {memory_bytes} bytes gives other ids");
            }
        }
    }
}

#[test]
fn integers_without_gaps_need_no_map() {
    let edges = [(1, 2, 0), (3, 1, 0)];
    let options = ImportOptions { order: NumberingOrder::Keep, ..ImportOptions::default() };
    let (built, layer) = build(schema(IdKind::Int, false), batches(&edges, false, 9), &options).unwrap();
    assert!(matches!(built.ids, BuiltIds::Identity { base: 1 }));
    assert_eq!(layer.lists(Direction::Out, None), [vec![(1, 0)], vec![], vec![(0, 0)]]);
    // However little memory there is, and whichever way the ids are numbered.
    let path: Vec<_> =
        (0..60_000).map(|i| (i * 7919 % 60_000 + 500, (i + 1) * 7919 % 60_000 + 500, 0)).collect();
    for (order, memory_bytes) in [(NumberingOrder::Keep, 1_500_000), (NumberingOrder::Degree, 1 << 30)] {
        let options = ImportOptions { order, memory_bytes, threads: 1, ..ImportOptions::default() };
        let (built, _) = build(schema(IdKind::Int, false), batches(&path, false, 99), &options).unwrap();
        assert!(matches!(built.ids, BuiltIds::Identity { base: 500 } | BuiltIds::Permuted { base: 500, .. }));
        assert_eq!(built.report.vertices, 60_000);
    }
    let (built, _) = build(schema(IdKind::Int, false), Vec::new(), &options).unwrap();
    assert_eq!((built.report.vertices, built.report.arcs), (0, 0));
}

#[test]
fn texts_become_codes_in_order_of_their_bytes() {
    let mut input = batches(&[(0, 1, 0), (1, 2, 0), (2, 0, 0)], false, 2);
    for (batch, texts) in input.iter_mut().zip([&["suggests", "depends"][..], &["recommends"]]) {
        batch.properties = vec![text_column(texts)];
    }
    let mut schema = schema(IdKind::Int, true);
    schema.weight = None;
    let options = ImportOptions { order: NumberingOrder::Keep, ..ImportOptions::default() };
    let (built, layer) = build(schema, input, &options).unwrap();
    let dictionary = &built.properties[0].dictionary;
    let texts: Vec<_> = (0..dictionary.len()).map(|rank| dictionary.text(rank).unwrap().unwrap()).collect();
    assert_eq!(texts, [&b"depends"[..], b"recommends", b"suggests"].map(Box::from));
    assert_eq!(built.properties[0].element, ElementType::U8);
    assert_eq!(layer.bits(&name(SectionColumn::Property(0), Direction::Out)), [2, 0, 1]);
}

#[test]
fn sums_get_the_type_that_they_need() {
    let big = i64::from(i32::MAX);
    let edges = [(0, 1, big), (1, 2, 1), (0, 1, big)];
    let options = ImportOptions {
        duplicates: Duplicates::Sum,
        directed: Some(false),
        order: NumberingOrder::Keep,
        ..ImportOptions::default()
    };
    let (built, layer) = build(schema(IdKind::Int, true), batches(&edges, true, 2), &options).unwrap();
    assert_eq!(built.properties[0].element, ElementType::I64);
    let lists = layer.lists(Direction::Out, Some(ElementType::I64));
    assert_eq!(lists, [vec![(1, 2 * big)], vec![(0, 2 * big), (2, 1)], vec![(1, 1)]]);
    let overflow = [(0, 1, i64::MAX), (0, 1, 1)];
    let error = build(schema(IdKind::Int, true), batches(&overflow, true, 2), &options).err().unwrap();
    assert!(error.to_string().contains("64 bits"), "{error}");
    let error = build(schema(IdKind::Int, false), batches(&edges, false, 2), &options).err().unwrap();
    assert!(error.to_string().contains("no weights"), "{error}");
}

#[test]
fn duplicates_are_refused_on_request() {
    let options = |directed| ImportOptions {
        duplicates: Duplicates::Refuse,
        directed: Some(directed),
        ..ImportOptions::default()
    };
    let edges = [(5, 6, 5), (7, 7, 1), (6, 5, 6), (7, 7, 1)];
    let of = |directed, edges: &[_]| {
        build(schema(IdKind::Int, true), batches(edges, true, 2), &options(directed))
            .map(|built| built.0.report.edges)
            .map_err(|error| error.to_string())
    };
    assert_eq!(of(true, &edges[..3]), Ok(3));
    let told = of(false, &edges[..3]).unwrap_err();
    assert!(
        told.starts_with("the edge from 6 to 5 is in the input more than once, first as edges 1 and 3:"),
        "{told}"
    );
    let told = of(true, &edges).unwrap_err();
    assert!(
        told.starts_with("the edge from 7 to 7 is in the input more than once, first as edges 2 and 4:"),
        "{told}"
    );
}

#[test]
fn edges_given_at_both_ends_are_checked() {
    let mut schema = schema(IdKind::Int, true);
    (schema.both_ends, schema.directed) = (true, Some(false));
    let options = ImportOptions { order: NumberingOrder::Keep, ..ImportOptions::default() };
    let good = [(0, 1, 5), (1, 2, 6), (2, 1, 6), (1, 0, 5), (2, 2, 1)];
    let (built, layer) = build(schema.clone(), batches(&good, true, 2), &options).unwrap();
    assert_eq!((built.report.edges, built.report.arcs), (3, 5));
    let lists = layer.lists(Direction::Out, Some(ElementType::I32));
    assert_eq!(lists, [vec![(1, 5)], vec![(0, 5), (2, 6)], vec![(1, 6), (2, 1)]]);
    for bad in [&good[..3], &[(0, 1, 5), (1, 0, 6)]] {
        let error = build(schema.clone(), batches(bad, true, 2), &options).err().unwrap();
        assert!(error.to_string().contains("both of its ends"), "{error}");
    }
}

#[test]
fn undirected_edges_become_arcs_both_ways_of_a_directed_graph() {
    let mut schema = schema(IdKind::Int, true);
    schema.directed = Some(false);
    let options =
        ImportOptions { order: NumberingOrder::Keep, directed: Some(true), ..ImportOptions::default() };
    let edges = batches(&[(0, 1, 5), (2, 1, 6), (2, 2, 1)], true, 2);
    let (built, layer) = build(schema.clone(), edges.clone(), &options).unwrap();
    assert_eq!((built.report.directed, built.report.edges, built.report.arcs), (true, 5, 5));
    for direction in [Direction::Out, Direction::In] {
        let lists = layer.lists(direction, Some(ElementType::I32));
        assert_eq!(lists, [vec![(1, 5)], vec![(0, 5), (2, 6)], vec![(1, 6), (2, 1)]]);
    }
    let options = ImportOptions { duplicates: Duplicates::Refuse, ..options };
    let twice = batches(&[(0, 1, 5), (2, 1, 6), (1, 2, 7)], true, 2);
    let told = build(schema.clone(), twice, &options).err().unwrap().to_string();
    assert!(told.contains("first as edges 2 and 3:"), "{told}");
    build(schema, edges, &options).unwrap();
}

fn with_rejected(count: u64, per_batch: u64) -> Vec<EdgeBatch> {
    (0..count)
        .map(|b| {
            let mut batch = batches(&[(b, b + 1, 0)], false, 1).remove(0);
            let path = Arc::new(PathBuf::from("in.el"));
            let line = |i| Rejected {
                path: path.clone(),
                line: b * 10 + i,
                text: b"x"[..].into(),
                reason: "bad".into(),
                edges_before: 0,
            };
            batch.rejected = (0..if b % 2 == 1 { per_batch } else { 0 }).map(line).collect();
            batch
        })
        .collect()
}

#[test]
fn bad_lines_stop_at_the_first_or_are_reported_in_order() {
    for threads in [1, 2, 7] {
        let options = ImportOptions { threads, ..ImportOptions::default() };
        let error = build(schema(IdKind::Int, false), with_rejected(50, 3), &options).err().unwrap();
        assert_eq!(error.to_string(), "in.el:10: bad; use `bad_lines = skip` to skip such lines: \"x\"");
        let options = ImportOptions { bad_lines: BadLines::Skip, ..options };
        let (built, _) = build(schema(IdKind::Int, false), with_rejected(50, 3), &options).unwrap();
        assert_eq!((built.report.rejected, built.report.rows), (75, 50));
        let lines: Vec<u64> = built.report.rejected_sample.iter().map(|r| r.line).collect();
        let expected: Vec<u64> =
            (0..50).filter(|b| b % 2 == 1).flat_map(|b| (0..3).map(move |i| b * 10 + i)).take(20).collect();
        assert_eq!(lines, expected);
    }
}

#[test]
fn too_little_memory_is_refused_with_the_number_that_suffices() {
    let edges = skewed(1000, 100);
    let refused = |memory_bytes| {
        let options = ImportOptions { memory_bytes, threads: 2, ..ImportOptions::default() };
        build(schema(IdKind::Int, true), batches(&edges, true, 100), &options).err()
    };
    let Some(Error::Stop(Stop::OverBudget { needed_bytes, .. })) = refused(1000) else {
        panic!("not refused");
    };
    assert!(needed_bytes > 1000);
    let again = refused(needed_bytes);
    assert!(again.is_none(), "{needed_bytes} should suffice: {again:?}");
}

#[test]
fn cancellation_ends_every_stage() {
    let edges = skewed(50_000, 1000);
    for stage in ["read", "order", "divide out-edges", "sort out-edges", "divide in-edges", "sort in-edges"] {
        let options = ImportOptions { threads: 2, ..ImportOptions::default() };
        let cancel = options.cancel.clone();
        let on_progress = move |progress: super::options::ImportProgress| {
            if progress.stage == stage {
                cancel.cancel();
            }
        };
        let options = ImportOptions { on_progress: Some(Arc::new(on_progress)), ..options };
        let error = build(schema(IdKind::Int, false), batches(&edges, false, 500), &options).err().unwrap();
        assert!(matches!(error, Error::Stop(Stop::Cancelled)), "{stage}: {error}");
    }
}

#[test]
fn auto_keeps_a_grid_and_reorders_a_skewed_graph() {
    let width = 200;
    let right = (0..width * width - 1).map(|v| (v, v + 1, 0));
    let down = (0..width * (width - 1)).map(|v| (v, v + width, 0));
    let grid: Vec<_> = right.chain(down).collect();
    let options = ImportOptions::default();
    let (built, _) = build(schema(IdKind::Int, false), batches(&grid, false, 1000), &options).unwrap();
    assert_eq!(built.report.order.order, NumberingOrder::Keep, "{}", built.report.order.reason);
    let spread = skewed(60_000, 30_000);
    let (built, _) = build(schema(IdKind::Int, false), batches(&spread, false, 1000), &options).unwrap();
    assert_eq!(built.report.order.order, NumberingOrder::Degree, "{}", built.report.order.reason);
}

//! Tests of scans over compressed lists.

use std::path::Path;

use esker_format::io::{Disk, MemoryDisk};
use esker_format::testing::cases;
use esker_format::{
    DatabaseId, ElementType, Encoding, GraphShape, LayerRecord, LogicalType, Origin, Owner, PropertyRecord,
};
use esker_graph::random::Random;
use esker_graph::{
    Bitmap, Csr, Direction, Flow, HUGE_LEN, Piece, Run, Select, VertexId, Visitor, collect, vertex,
};
use proptest::prelude::*;

use crate::graph::mapped::batches::{scan_compressed, scan_rows};
use crate::graph::mapped::compressed::Compressed;
use crate::graph::weight::ColumnWeight;
use crate::layer::{Body, PlainLayer, PlainWriter, SectionChunk, SectionShape, SectionWriter};

/// A compressed layer with the out-lists of a graph.
fn layer(csr: &Csr<i32>) -> PlainLayer {
    let (disk, directory, origin) =
        (MemoryDisk::default(), Path::new("layer"), Origin::of_import(DatabaseId([5; 16])));
    disk.create_directory(directory).unwrap();
    let rows = *csr.graph().rows(Direction::Out).unwrap();
    let mut record = LayerRecord::first(
        &GraphShape {
            directed: true,
            multigraph: true,
            in_edges: false,
            num_vertices: rows.num_vertices() as u64,
            num_edges: rows.targets().len() as u64,
            num_arcs: rows.targets().len() as u64,
            num_loops: 0,
        },
        origin.stamp,
    );
    record.encoding = Encoding::Compressed;
    let writer = PlainWriter::new(&disk, directory, origin);
    let properties = vec![ElementType::I32];
    let shape = SectionShape {
        without_targets: false,
        complete: true,
        encoding: record.encoding,
        codes: None,
        properties,
    };
    let mut section = SectionWriter::create(&writer, Direction::Out, shape).unwrap();
    let mut chunk = SectionChunk::default();
    chunk.main.ends.extend_from_slice(&rows.offsets()[1..]);
    chunk.main.targets.extend_from_slice(rows.targets());
    chunk.main.properties = vec![rows.weights().iter().map(|w| u64::from(w.cast_unsigned())).collect()];
    section.append(&chunk).unwrap();
    record.out = section.finish().unwrap();
    let weight = PropertyRecord {
        number: 0,
        owner: Owner::Edges,
        name: "weight".to_owned(),
        element: ElementType::I32,
        logical: LogicalType::Number,
        weight: true,
        kind: false,
        optional: false,
    };
    PlainLayer::open(&disk, directory, origin, &record, &[weight]).unwrap()
}

fn random_edges(num_vertices: usize, count: usize, seed: u32) -> Vec<(VertexId, VertexId, i32)> {
    let mut random = Random::new(u64::from(seed));
    let mut next = |bound: usize| random.index(bound);
    (0..count)
        .map(|_| (vertex(next(num_vertices)), vertex(next(num_vertices)), next(1000) as i32 - 500))
        .collect()
}

/// Collects arcs, and whether their pieces were exclusive; has enough of a list after so many.
struct Taking<const STOPS: bool>(usize);

impl<const STOPS: bool> Visitor<i32> for Taking<STOPS> {
    type State = Vec<(VertexId, VertexId, i32, bool)>;

    const STOPS: bool = STOPS;

    fn new_state(&self) -> Self::State {
        Vec::new()
    }

    fn wants(&self, v: VertexId) -> bool {
        v % 7 != 3
    }

    fn visit(&self, state: &mut Self::State, v: VertexId, piece: Piece<'_, i32>) -> Flow {
        assert!(!piece.targets.is_empty() && piece.targets.is_sorted());
        let arcs = piece.targets.iter().zip(piece.weights);
        state.extend(arcs.map(|(&target, &weight)| (v, target, weight, piece.exclusive)));
        if STOPS && state.iter().filter(|arc| arc.0 == v).count() >= self.0 {
            return Flow::Enough;
        }
        Flow::More
    }
}

fn scanned<const STOPS: bool>(
    graph: &Compressed<'_, i32>,
    run: &Run,
    select: Select<'_>,
    enough: usize,
) -> Vec<(VertexId, VertexId, i32, bool)> {
    let visitor = Taking::<STOPS>(enough);
    let mut arcs = graph.scan(run, select, &visitor).unwrap().concat();
    arcs.sort_unstable();
    let batches = collect(&visitor, |visitor| scan_compressed(graph, run, select, visitor));
    let mut same = batches.unwrap().concat();
    same.sort_unstable();
    assert_eq!(same, arcs);
    arcs
}

/// A star has a list that all threads share, and many short ones.
#[test]
fn batches_of_plain_lists_are_what_a_static_scan_hands_over() {
    let leaves = HUGE_LEN as VertexId + 5;
    let edges: Vec<_> = (1..=leaves).map(|v| (0, v, v as i32)).collect();
    let csr = Csr::undirected(leaves as usize + 1, &edges).unwrap();
    let rows = *csr.graph().rows(Direction::Out).unwrap();
    let bits = Bitmap::new(rows.num_vertices());
    let list: Vec<VertexId> = std::iter::once(0).chain((1..=leaves).rev().step_by(3)).collect();
    list.iter().for_each(|&v| assert!(bits.insert(v)));
    for (threads, select) in
        [(1, Select::All), (2, Select::All), (2, Select::List(&list)), (2, Select::Bits(&bits))]
    {
        let (run, visitor) = (Run::with_threads(threads).unwrap(), Taking::<false>(0));
        let mut expected = rows.scan(&run, select, &visitor).unwrap().concat();
        let found = collect(&visitor, |visitor| scan_rows(&rows, &run, select, visitor));
        let mut found = found.unwrap().concat();
        expected.sort_unstable();
        found.sort_unstable();
        assert!(found.len() > HUGE_LEN && found == expected);
    }
}

proptest! {
    #![proptest_config(cases(60))]
    /// Few vertices, so that there are lists of several blocks; and those that are shared.
    #[test]
    fn scans_give_the_lists(
        n in 1_usize..200, count in 0_usize..4000, directed: bool, seed: u32, threads in 1_usize..4, huge_len in 0_usize..700,
    ) {
        let edges = random_edges(n, count, seed);
        let csr = if directed { Csr::directed(n, &edges) } else { Csr::undirected(n, &edges) }.unwrap();
        let layer = layer(&csr);
        let run = Run::with_threads(threads).unwrap();
        let lists = layer.out().main();
        let Body::Coded(coded) = lists.body() else { panic!("it is compressed") };
        let weights = i32::all(lists, 0, &run).unwrap();
        let graph = Compressed::new(coded.all(&run).unwrap(), weights).with_huge_len(huge_len);
        let rows = *csr.graph().rows(Direction::Out).unwrap();
        let chosen: Vec<VertexId> = (0..n).filter(|v| v % 3 != 1).map(vertex).collect();
        let bits = Bitmap::new(n);
        chosen.iter().for_each(|&v| assert!(bits.insert(v)));
        let all: Vec<VertexId> = (0..n).map(vertex).collect();
        let expected = |chosen: &[VertexId]| {
            let wanted = chosen.iter().filter(|&&v| v % 7 != 3);
            let mut arcs: Vec<_> = wanted.flat_map(|&v| {
                let (targets, weights) = rows.list(v);
                let is_exclusive = threads == 1 || targets.len() <= huge_len;
                targets.iter().zip(weights).map(move |(&target, &weight)| (v, target, weight, is_exclusive))
            }).collect();
            arcs.sort_unstable();
            arcs
        };
        for (select, chosen) in [
            (Select::All, &all), (Select::Bits(&bits), &chosen), (Select::List(&chosen), &chosen),
        ] {
            let expected = expected(chosen);
            prop_assert_eq!(&scanned::<true>(&graph, &run, select, usize::MAX), &expected);
            prop_assert_eq!(&scanned::<false>(&graph, &run, select, 0), &expected);
            let first = scanned::<true>(&graph, &run, select, 1);
            let mut vertices: Vec<VertexId> = expected.iter().map(|arc| arc.0).collect();
            vertices.dedup();
            for v in vertices {
                // The first targets, and no list is begun as a whole after one that was enough.
                let own: Vec<VertexId> = first.iter().filter(|arc| arc.0 == v).map(|arc| arc.1).collect();
                let (targets, _) = rows.list(v);
                prop_assert_eq!(&own[..], &targets[..targets.len().min(2)]);
            }
        }
        for v in all {
            // Nested, as intersections are.
            graph.with_list(v, |targets, weights| {
                assert_eq!((targets, weights), rows.list(v));
                let other = vertex((v as usize + 1) % n);
                graph.with_list(other, |targets, weights| assert_eq!((targets, weights), rows.list(other)));
                assert_eq!((targets, weights), rows.list(v));
            });
        }
    }
}

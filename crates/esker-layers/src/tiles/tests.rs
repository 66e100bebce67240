//! Tests of scans over tiles, of their degrees, and of damaged files.

use std::path::Path;
use std::sync::Arc;

use esker_format::io::{Disk, Faults, FaultyDisk, MemoryDisk};
use esker_format::testing::sort_arcs;
use esker_format::{Error, Result};
use esker_graph::random::Random;
use esker_graph::{
    Bitmap, Csr, Direction, Flow, Graph, Lists, Piece, Run, RunOptions, Select, VertexId, Visitor, collect,
    vertex,
};
use proptest::prelude::*;

use super::testing::{LAYER, TileGraph, csr, make, random_edges};
use super::{ConvertOptions, Tiles};
use crate::pool::{CachePolicy, PoolOptions};

/// Takes down every arc that it is handed.
struct Record {
    unwanted: VertexId,
}

impl Visitor<i32> for Record {
    type State = Vec<(VertexId, VertexId, i32)>;

    fn new_state(&self) -> Self::State {
        Vec::new()
    }

    fn wants(&self, v: VertexId) -> bool {
        v != self.unwanted
    }

    fn visit(&self, arcs: &mut Self::State, v: VertexId, piece: Piece<'_, i32>) -> Flow {
        assert!(!piece.targets.is_empty() && piece.targets.len() == piece.weights.len());
        arcs.extend(piece.targets.iter().zip(piece.weights).map(|(&u, &weight)| (v, u, weight)));
        Flow::More
    }
}

fn recorded<G: Graph<Weight = i32>>(
    graph: &G,
    run: &Run,
    direction: Direction,
    select: Select<'_>,
) -> Vec<(VertexId, VertexId, i32)> {
    let mut arcs = graph.scan(run, direction, select, &Record { unwanted: 2 }).unwrap().concat();
    sort_arcs(&mut arcs);
    arcs
}

/// Compares all scans of the tiles of a graph with those of its lists.
fn compare(graph: &Csr<i32>, options: &ConvertOptions) {
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
    let lists = graph.graph();
    let tiles = make(&disk, Path::new(LAYER), &lists, options).unwrap();
    let n = lists.num_vertices();
    for threads in [1, 3] {
        let run = Run::with_threads(threads).unwrap();
        let graph = TileGraph::new(&tiles, lists, &run).unwrap();
        let some: Vec<VertexId> = (0..n).filter(|v| v % 7 == 3 || v % 65_536 == 0).map(vertex).collect();
        let bits = Bitmap::new(n);
        some.iter().for_each(|&v| bits.insert_alone(v));
        for direction in [Direction::Out, Direction::In] {
            assert!((0..n).map(vertex).all(|v| graph.degree(direction, v) == lists.degree(direction, v)));
            let few = &some[..some.len().min(2)];
            for select in
                [Select::All, Select::Bits(&bits), Select::List(&some), Select::List(few), Select::List(&[])]
            {
                let (found, expected) =
                    (recorded(&graph, &run, direction, select), recorded(&lists, &run, direction, select));
                assert!(found == expected, "{direction:?} {select:?} with {threads} threads");
            }
        }
    }
}

#[test]
fn scans_hand_over_what_the_lists_hold() {
    for directed in [false, true] {
        let small = ConvertOptions { group: 2, memory_bytes: 1 };
        for (n, edges) in
            [(0, 0), (1, 0), (1, 3), (5, 0), (300, 2000), (65_536, 5000), (65_537, 5000), (400_000, 30_000)]
        {
            let graph = csr(directed, n, &random_edges(n, edges, 7));
            compare(&graph, &ConvertOptions::default());
            compare(&graph, &small);
        }
        let complete: Vec<_> =
            (0..400).flat_map(|u| (u..400).map(move |v| (u + 65_400, v + 65_300, (u * v) as i32))).collect();
        compare(&csr(directed, 66_000, &complete), &small);
        let star: Vec<_> = (0..150_000).map(|v| (140_000, v, v as i32)).collect();
        compare(&csr(directed, 150_000, &star), &small);
    }
}

proptest! {
    #![proptest_config(esker_format::testing::cases(12))]
    #[test]
    fn any_graph_of_several_tiles(n in 1..300_000usize, edges in 0..20_000usize, seed: u64, directed: bool, group in 1..5u32) {
        compare(&csr(directed, n, &random_edges(n, edges, seed)), &ConvertOptions { group, memory_bytes: seed % 100_000 });
    }
}

/// Takes down the arcs to neighbours in one strip.
struct OfStrip(VertexId);

impl Visitor<i32> for OfStrip {
    type State = (Vec<(VertexId, VertexId, i32)>, usize);

    fn new_state(&self) -> Self::State {
        (Vec::new(), 0)
    }

    fn minds(&self, u: VertexId) -> bool {
        u >> 16 == self.0
    }

    fn visit(&self, (arcs, seen): &mut Self::State, v: VertexId, piece: Piece<'_, i32>) -> Flow {
        let entries = piece.targets.iter().zip(piece.weights);
        arcs.extend(entries.filter(|(u, _)| self.minds(**u)).map(|(&u, &weight)| (v, u, weight)));
        *seen += piece.targets.len();
        Flow::More
    }
}

#[test]
fn tiles_of_neighbours_that_do_not_matter_are_left_out() {
    for directed in [false, true] {
        let graph = csr(directed, 300_000, &random_edges(300_000, 20_000, 6));
        let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
        let lists = graph.graph();
        let tiles = make(&disk, Path::new(LAYER), &lists, &ConvertOptions::default()).unwrap();
        let run = Run::with_threads(2).unwrap();
        let graph = TileGraph::new(&tiles, lists, &run).unwrap();
        for (direction, strip) in
            [(Direction::Out, 2), (Direction::In, 2), (Direction::In, 0), (Direction::Out, 9)]
        {
            let visitor = OfStrip(strip);
            let found = graph.scan(&run, direction, Select::All, &visitor).unwrap();
            let seen: usize = found.iter().map(|(_, seen)| seen).sum();
            let mut found = found.into_iter().flat_map(|(arcs, _)| arcs).collect::<Vec<_>>();
            sort_arcs(&mut found);
            let expected = lists.scan(&run, direction, Select::All, &visitor).unwrap();
            let mut expected = expected.into_iter().flat_map(|(arcs, _)| arcs).collect::<Vec<_>>();
            sort_arcs(&mut expected);
            assert!(found == expected && (strip == 9 || !found.is_empty()), "{direction:?} {strip}");
            assert!((seen as u64) < lists.num_arcs() * 3 / 4, "{seen} of {}", lists.num_arcs());
        }
    }
}

#[test]
fn in_degrees_are_counted_where_in_lists_are_not_kept() {
    let edges = random_edges(100_000, 20_000, 3);
    let both = csr(true, 100_000, &edges);
    let rows = *both.graph().rows(Direction::Out).unwrap();
    let out_alone = esker_graph::CsrGraph::directed(rows, None);
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
    let tiles = make(&disk, Path::new(LAYER), &out_alone, &ConvertOptions::default()).unwrap();
    let run = Run::with_threads(2).unwrap();
    let graph = TileGraph::new(&tiles, out_alone, &run).unwrap();
    for v in (0..100_000).map(vertex) {
        assert_eq!(graph.degree(Direction::In, v), both.graph().degree(Direction::In, v));
    }
    let (found, expected) = (&graph, &both.graph());
    assert!(
        recorded(found, &run, Direction::In, Select::All)
            == recorded(expected, &run, Direction::In, Select::All)
    );
}

#[test]
fn large_degrees_are_kept_in_the_table() {
    let star: Vec<_> =
        (0..200_000).map(|v| (7, v, 1)).chain((0..65_535).map(|v| (9, 100_000 + v, 1))).collect();
    compare(&csr(true, 200_000, &star), &ConvertOptions::default());
}

/// Answers of algorithms on tiles and on lists.
fn compare_algorithms(directed: bool, n: usize, edges: usize) {
    use esker_algo::algorithm::{
        centrality::pagerank, cohesion::kcore, components::wcc, paths::bfs, paths::sssp,
    };
    let graph = csr(directed, n, &random_edges(n, edges, 5));
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
    let lists = graph.graph();
    let tiles =
        make(&disk, Path::new(LAYER), &lists, &ConvertOptions { group: 2, ..ConvertOptions::default() })
            .unwrap();
    for threads in [1, 3] {
        let run = Run::new(RunOptions { threads, ..RunOptions::default() }).unwrap();
        let tiles = TileGraph::new(&tiles, lists, &run).unwrap();
        let options = bfs::BfsOptions::default();
        let found = bfs::bfs(&tiles, &run, &[0, 5], &options).unwrap();
        let expected = bfs::bfs(&lists, &run, &[0, 5], &options).unwrap();
        assert_eq!((found.depths, found.reached), (expected.depths, expected.reached));
        let options = pagerank::PageRankOptions { tolerance: 1e-9, ..Default::default() };
        let found = pagerank::pagerank(&tiles, &run, &options).unwrap();
        let expected = pagerank::pagerank(&lists, &run, &options).unwrap();
        let differ = |(a, b): (&f64, &f64)| (a - b).abs() > 1e-12;
        assert!(!found.scores.iter().zip(&expected.scores).any(differ));
        let options = wcc::WccOptions::default();
        assert_eq!(wcc::wcc(&tiles, &run, &options).unwrap(), wcc::wcc(&lists, &run, &options).unwrap());
        if !directed {
            assert_eq!(
                kcore::kcore(&tiles, &run).unwrap().coreness,
                kcore::kcore(&lists, &run).unwrap().coreness
            );
        }
        let options = sssp::SsspOptions::default();
        let found = sssp::sssp(&tiles, &run, 0, &options).unwrap();
        let expected = sssp::sssp(&lists, &run, 0, &options).unwrap();
        assert_eq!(found.distances, expected.distances);
    }
}

#[test]
fn algorithms_give_the_same_answers_as_on_lists() {
    for directed in [false, true] {
        compare_algorithms(directed, 140_000, 50_000);
        compare_algorithms(directed, 1000, 30_000);
    }
}

/// The error of opening and scanning tiles, if there is one.
fn failure(disk: &Arc<dyn Disk>, like: &Tiles) -> Option<Error> {
    let run = Run::with_threads(2).unwrap();
    let scan = || -> Result<()> {
        let tiles = Tiles::open(disk, Path::new(LAYER), super::testing::ORIGIN, like.shape(), &[])?;
        let weights: Box<dyn super::TileWeights<i32>> = Box::new(tiles.property::<i32>(3)?);
        let scan = super::TileScan::new(&tiles, Some(weights), &run)?;
        let record = Record { unwanted: 2 };
        collect(&record, |visitor| scan.scan(&run, Direction::Out, Select::All, visitor)).map(drop)
    };
    scan().err()
}

#[test]
fn every_damaged_byte_is_an_error() {
    let disk = FaultyDisk::new(1);
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let graph = csr(false, 70_000, &random_edges(70_000, 3000, 2));
    let tiles = make(&shared, Path::new(LAYER), &graph.graph(), &ConvertOptions::default()).unwrap();
    assert!(failure(&shared, &tiles).is_none());
    let mut random = Random::new(4);
    for name in ["layer/tiles.data", "layer/tiles.columns"] {
        let bytes = disk.look(Path::new(name)).unwrap().unwrap().bytes as usize;
        for _ in 0..200 {
            let disk = disk.fork();
            let shared: Arc<dyn Disk> = Arc::new(disk.clone());
            let at = random.index(bytes);
            disk.flip(Path::new(name), at as u64, random.index(8) as u8).unwrap();
            // Between the files of an archive there may be zeros that nobody looks at but `check`.
            if let Some(error) = failure(&shared, &tiles) {
                assert!(matches!(error, Error::Corrupt { .. } | Error::Invalid(_)), "{error}");
            } else {
                assert!(name.ends_with("columns"), "byte {at}");
            }
        }
    }
    for k in 1..200 {
        disk.set_faults(Faults { fail_at: Some(k), ..Faults::default() });
        let found = failure(&shared, &tiles);
        assert!(matches!(found, Some(Error::Io { .. })) == (disk.operations() >= k), "{k}: {found:?}");
    }
}

#[test]
fn a_scan_can_be_cancelled() {
    let graph = csr(false, 70_000, &random_edges(70_000, 3000, 2));
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
    let lists = graph.graph();
    let tiles = make(&disk, Path::new(LAYER), &lists, &ConvertOptions::default()).unwrap();
    let run = Run::with_threads(2).unwrap();
    let graph = TileGraph::new(&tiles, lists, &run).unwrap();
    run.cancel().cancel();
    let stopped = graph.scan(&run, Direction::Out, Select::All, &Record { unwanted: 2 });
    assert!(matches!(stopped, Err(Error::Stop(esker_graph::Stop::Cancelled))));
    assert_eq!(
        graph.with_list(Direction::Out, 1, |list, _| list.len()).unwrap(),
        graph.degree(Direction::Out, 1)
    );
}

/// Compares pooled scans, in all the memory that a pool needs and in less and less, with those of the lists.
#[test]
fn pooled_scans_hand_over_the_same() {
    for directed in [false, true] {
        let graph = csr(directed, 300_000, &random_edges(300_000, 600_000, 11));
        let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
        let lists = graph.graph();
        let tiles =
            make(&disk, Path::new(LAYER), &lists, &ConvertOptions { group: 2, ..ConvertOptions::default() })
                .unwrap();
        assert!(tiles.data_bytes() > 12 * 65_536, "{} bytes", tiles.data_bytes());
        let bits = Bitmap::new(300_000);
        (0..300_000)
            .filter(|v| v / 65_536 == 2 && v % 100 == 0)
            .map(vertex)
            .for_each(|v| bits.insert_alone(v));
        let selections = [Select::All, Select::Bits(&bits), Select::List(&[5, 290_000])];
        let expected = [Direction::Out, Direction::In].map(|direction| {
            let run = Run::with_threads(2).unwrap();
            selections.map(|select| recorded(&lists, &run, direction, select))
        });
        for (threads, bytes, segment_bytes, policy) in [
            (1, 1 << 30, 1 << 17, CachePolicy::Rewind),
            (3, 10 << 16, 1 << 17, CachePolicy::Rewind),
            (2, 4 << 16, 1 << 30, CachePolicy::Rewind),
            (3, 10 << 16, 1 << 17, CachePolicy::Lru),
            (2, 4 << 16, 0, CachePolicy::Segments),
        ] {
            let options = PoolOptions { bytes, segment_bytes, extent_blocks: 1, policy, by_threads: false };
            let run = Run::with_threads(threads).unwrap();
            let graph = TileGraph::new(&tiles, lists, &run).unwrap();
            let graph = TileGraph { scan: graph.scan.pooled(&options, &run).unwrap(), lists };
            for direction in [Direction::Out, Direction::In, Direction::Out] {
                for selection in [0, 1, 0, 2] {
                    let found = recorded(&graph, &run, direction, selections[selection]);
                    let expected = &expected[direction as usize][selection];
                    assert!(found == *expected, "{direction:?} {bytes} {policy:?}");
                }
            }
            if bytes == 1 << 30 {
                assert_eq!(graph.scan.read_bytes(), tiles.data_bytes(), "everything is read once");
            }
        }
        let little = PoolOptions { bytes: 100_000, ..PoolOptions::default() };
        let run = Run::with_threads(1).unwrap();
        let scan = TileGraph::new(&tiles, lists, &run).unwrap().scan;
        assert!(
            scan.pooled(&little, &run)
                .unwrap_err()
                .to_string()
                .contains("bytes of memory are left for parts of the graph")
        );
    }
}

#[test]
fn a_pool_keeps_what_the_next_scan_needs() {
    let graph = csr(false, 300_000, &random_edges(300_000, 600_000, 11));
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
    let lists = graph.graph();
    let tiles = make(&disk, Path::new(LAYER), &lists, &ConvertOptions::default()).unwrap();
    let run = Run::with_threads(1).unwrap();
    let all = tiles.data_bytes();
    for policy in [CachePolicy::Rewind, CachePolicy::Lru, CachePolicy::Segments] {
        let options = PoolOptions {
            bytes: all / 2,
            segment_bytes: 1 << 16,
            extent_blocks: 1,
            by_threads: true,
            policy,
        };
        let scan = TileGraph::new(&tiles, lists, &run).unwrap().scan.pooled(&options, &run).unwrap();
        let graph = TileGraph { scan, lists };
        let mut before = 0;
        for round in 0..5 {
            recorded(&graph, &run, Direction::Out, Select::All);
            let read = graph.scan.read_bytes() - before;
            before = graph.scan.read_bytes();
            let frames = all / 2 / 65_536 * 65_536;
            // What was used last is what comes last again: nothing that stays is of use, unless the scan
            // begins with it.
            let least = if round == 0 || policy != CachePolicy::Rewind { all } else { all - frames };
            // The last extent is shorter.
            assert!((least..least + (1 << 16)).contains(&read), "{policy:?}, round {round}: {read} of {all}");
        }
    }
}

#[test]
fn whatever_fails_while_a_pool_is_filled_is_an_error() {
    let disk = FaultyDisk::new(1);
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let graph = csr(false, 200_000, &random_edges(200_000, 300_000, 2));
    let lists = graph.graph();
    let tiles = make(&shared, Path::new(LAYER), &lists, &ConvertOptions::default()).unwrap();
    let run = Run::with_threads(3).unwrap();
    let options =
        PoolOptions { bytes: 5 << 16, segment_bytes: 2 << 16, extent_blocks: 1, ..PoolOptions::default() };
    let scan = TileGraph::new(&tiles, lists, &run).unwrap().scan.pooled(&options, &run).unwrap();
    let graph = TileGraph { scan, lists };
    let expected = recorded(&lists, &run, Direction::Out, Select::All);
    disk.set_faults(Faults { short_reads: true, ..Faults::default() });
    assert!(recorded(&graph, &run, Direction::Out, Select::All) == expected);
    let (mut failures, mut damages) = (0, 0);
    for k in 1..20 {
        let faults = [
            Faults { fail_at: Some(k), ..Faults::default() },
            Faults { flip_read_at: Some(k), ..Faults::default() },
            Faults::default(),
        ];
        for (way, faults) in faults.into_iter().enumerate() {
            disk.set_faults(faults);
            match graph.scan(&run, Direction::Out, Select::All, &Record { unwanted: 2 }) {
                Err(Error::Io { .. }) if way == 0 => failures += 1,
                Err(Error::Corrupt { .. }) if way == 1 => damages += 1,
                // Reads that a failed scan has left behind may meet the fault, and what is read behind the
                // data does not matter.
                Ok(found) => {
                    let mut found = found.concat();
                    sort_arcs(&mut found);
                    assert!(found == expected, "{k} {way}");
                }
                Err(error) => panic!("{k} {way}: {error}"),
            }
        }
    }
    assert!(failures > 3 && damages > 3, "{failures} {damages}");
}

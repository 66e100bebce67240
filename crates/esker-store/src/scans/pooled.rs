use std::sync::Arc;
use std::time::{Duration, Instant};

use esker_format::Encoding;
use esker_format::io::{Disk, Faults, RealDisk};
use esker_format::{Error, Result};
use esker_graph::{Direction, Flow, Graph, Lists, Piece, Run, Select, Stop, VertexId, Visitor, vertex};
use esker_layers::graph::ArcWeights;
use esker_layers::graph::{CompleteLists, StoredGraph, StoredWeight};
use esker_layers::layer::{Body, CodedList};
use esker_layers::pool::PoolOptions;
use proptest::prelude::*;

use crate::sample::Sample;
use crate::scans::{Arc3, CollectArcs, DB, TakeWholeLists, compare, large, sorted, stored};
use crate::version::Version;
use esker_layers::graph::PooledNeeds;

const ENCODINGS: [Encoding; 2] = [Encoding::Plain, Encoding::Compressed];

/// As little memory as there can be: extents of two blocks, one of which is the next one's too.
fn little(sides: u64) -> PoolOptions {
    PoolOptions {
        bytes: sides * 4 * 2 * 65_536,
        segment_bytes: 1 << 17,
        extent_blocks: 2,
        ..PoolOptions::default()
    }
}

fn pooled<'s>(version: &'s Version, options: &PoolOptions, run: &Run) -> Result<StoredGraph<'s, i32>> {
    let lists = CompleteLists::Pooled(version.state().disk(), options);
    i32::open(version.stack(), ArcWeights { property: 0, num_arcs: version.num_arcs() }, lists, None, run)
}

fn whole(graph: &StoredGraph<'_, i32>, run: &Run) -> Result<Vec<Arc3>> {
    Ok(sorted(&graph.scan(run, Direction::Out, Select::All, &TakeWholeLists)?))
}

fn expected(sample: &Sample, direction: Direction) -> Vec<Arc3> {
    let run = Run::with_threads(1).unwrap();
    sorted(&sample.model().graph().scan(&run, direction, Select::All, &TakeWholeLists).unwrap())
}

proptest! {
    #![proptest_config(esker_format::testing::cases(40))]
    #[test]
    fn every_scan_is_that_of_the_model(
        n in 1_usize..300, count in 0_usize..6000, directed: bool, seed: u32, threads in 1_usize..4,
    ) {
        let sample = Sample::random(n, count, directed, seed);
        let (_, _, version) = stored(&sample);
        let run = Run::with_threads(threads).unwrap();
        compare(&pooled(&version, &little(2), &run).unwrap(), &sample, &run);
    }
}

/// Lists that begin in one extent and end in another, with and without the block that both have, among lists
/// of no arcs.
fn across(encoding: Encoding, directed: bool) -> Sample {
    let mut sample = Sample { encoding, ..Sample::random(90_000, 250_000, directed, 6) };
    // Vertices of no edges: every third, but for neighbours of hubs.
    sample.edges.retain(|(u, v, _)| u % 3 != 0 && v % 3 != 0);
    for (hub, step) in [(3_000, 2), (3_001, 7), (70_000, 1)] {
        sample.edges.extend((0..90_000).step_by(step).map(|v| (hub, v as VertexId, v % 100)));
    }
    sample.edges.extend((0..100_000).map(|k| (50_000, (k * 37 % 90_000) as VertexId, k)));
    sample
}

#[test]
fn lists_that_go_on_in_other_extents_are_whole() {
    for (encoding, directed) in
        [(Encoding::Plain, false), (Encoding::Compressed, false), (Encoding::Compressed, true)]
    {
        let sample = across(encoding, directed);
        let (_, _, version) = stored(&sample);
        let [out, incoming] = [Direction::Out, Direction::In].map(|direction| expected(&sample, direction));
        for threads in [1, 3] {
            let run = Run::with_threads(threads).unwrap();
            let graph = pooled(&version, &little(1 + u64::from(directed)), &run).unwrap();
            for (direction, expected) in
                [(Direction::Out, &out), (Direction::In, &incoming), (Direction::Out, &out)]
            {
                let found = sorted(&graph.scan(&run, direction, Select::All, &TakeWholeLists).unwrap());
                assert!(found == *expected, "{encoding:?} {direction:?}");
            }
            let few =
                sorted(&graph.scan(&run, Direction::Out, Select::All, &CollectArcs { most: 1 }).unwrap());
            let hubs = [3_000, 3_001, 50_000, 70_000];
            assert!(hubs.iter().all(|&hub| few.iter().any(|arc| arc.0 == hub)), "{encoding:?}");
        }
    }
}

#[test]
fn what_fits_is_read_once_and_what_does_not_is_kept_in_part() {
    for encoding in ENCODINGS {
        let sample = across(encoding, false);
        let (_, _, version) = stored(&sample);
        let run = Run::with_threads(2).unwrap();
        let needs = PooledNeeds::for_layer(version.complete_layer(), 2).unwrap();
        let graph = pooled(&version, &PoolOptions { bytes: 1 << 30, ..little(1) }, &run).unwrap();
        let mut read = 0;
        for round in 0..3 {
            whole(&graph, &run).unwrap();
            assert!(round == 0 || graph.read_bytes() == read, "{encoding:?}");
            read = graph.read_bytes();
        }
        // Each block lies in two extents, but for those of extents in which no list begins.
        assert!(
            (needs.list_bytes / 2..2 * needs.list_bytes).contains(&read),
            "{read} of {}",
            needs.list_bytes
        );
        let graph = pooled(&version, &little(1), &run).unwrap();
        whole(&graph, &run).unwrap();
        let first = graph.read_bytes();
        whole(&graph, &run).unwrap();
        assert!(graph.read_bytes() - first < first, "{encoding:?}");
    }
}

#[test]
fn only_what_is_wanted_is_read() {
    let sample = across(Encoding::Compressed, false);
    let (_, _, version) = stored(&sample);
    let run = Run::with_threads(1).unwrap();
    let graph = pooled(&version, &little(1), &run).unwrap();
    let list: Vec<VertexId> = (80_000..90_000).collect();
    let found = sorted(&graph.scan(&run, Direction::Out, Select::List(&list), &TakeWholeLists).unwrap());
    let wanted = |arc: &Arc3| arc.0 >= 80_000;
    assert!(found.into_iter().eq(expected(&sample, Direction::Out).into_iter().filter(wanted)));
    let needs = PooledNeeds::for_layer(version.complete_layer(), 1).unwrap();
    assert!(graph.read_bytes() > 0 && graph.read_bytes() < needs.list_bytes / 2);
    // Few lists are read by themselves.
    let before = graph.read_bytes();
    let found = graph.scan(&run, Direction::Out, Select::List(&[8, 80_000]), &TakeWholeLists).unwrap();
    let wanted = |arc: &Arc3| [8, 80_000].contains(&arc.0);
    assert!(sorted(&found).into_iter().eq(expected(&sample, Direction::Out).into_iter().filter(wanted)));
    assert_eq!(graph.read_bytes(), before);
    // 80 000 was in the pool.
    assert_eq!(graph.point_reads(), (1, 1));
}

/// Reads every 97th list in each direction by itself.
fn compare_single_lists(graph: &StoredGraph<'_, i32>, sample: &Sample) {
    let model = sample.model();
    for direction in [Direction::Out, Direction::In] {
        for v in (0..sample.num_vertices).step_by(97).map(vertex) {
            let list = |targets: &[VertexId], weights: &[i32]| (targets.to_vec(), weights.to_vec());
            let found = graph.with_list(direction, v, list).unwrap();
            assert_eq!(found, model.graph().with_list(direction, v, list).unwrap(), "{v}");
        }
    }
}

#[test]
fn single_lists_come_from_the_pool_where_they_are_in_it() {
    for encoding in ENCODINGS {
        let sample = across(encoding, true);
        let (_, _, version) = stored(&sample);
        let run = Run::with_threads(2).unwrap();
        let graph = pooled(&version, &PoolOptions { bytes: 1 << 30, ..little(2) }, &run).unwrap();
        for direction in [Direction::Out, Direction::In] {
            graph.scan(&run, direction, Select::All, &CollectArcs { most: usize::MAX }).unwrap();
        }
        let read = graph.read_bytes();
        compare_single_lists(&graph, &sample);
        let (from_pool, mapped) = graph.point_reads();
        // Those that lie in two extents are not there in one piece.
        assert!(mapped < from_pool / 9, "{from_pool} and {mapped}");
        assert_eq!(graph.read_bytes(), read, "{encoding:?}");
    }
}

#[test]
fn single_lists_fill_the_room_of_the_pool_and_drop_nothing_from_it() {
    for encoding in ENCODINGS {
        let sample = across(encoding, true);
        let (_, _, version) = stored(&sample);
        let run = Run::with_threads(2).unwrap();
        let list_bytes = PooledNeeds::for_layer(version.complete_layer(), 2).unwrap().list_bytes;
        // Room for all.
        let graph = pooled(&version, &PoolOptions { bytes: 1 << 30, ..little(2) }, &run).unwrap();
        compare_single_lists(&graph, &sample);
        let (from_pool, mapped) = graph.point_reads();
        assert!(0 < mapped && mapped < from_pool, "{encoding:?}: {from_pool} and {mapped}");
        assert!((list_bytes / 2..2 * list_bytes).contains(&graph.read_bytes()), "{encoding:?}");
        compare_single_lists(&graph, &sample);
        let (again, others) = graph.point_reads();
        assert!(again - from_pool > 9 * (others - mapped), "{encoding:?}: {again} and {others}");
        // Room for four extents a direction: they are read once.
        let graph = pooled(&version, &little(2), &run).unwrap();
        (0..3).for_each(|_| compare_single_lists(&graph, &sample));
        assert!(graph.point_reads().0 > 0, "{encoding:?}");
        // Reads begin at whole pages.
        let most = little(2).bytes + 8 * 4096;
        assert!((1..=most).contains(&graph.read_bytes()), "{encoding:?}: {} of {most}", graph.read_bytes());
        // Scans take the frames back.
        let found = sorted(&graph.scan(&run, Direction::In, Select::All, &TakeWholeLists).unwrap());
        assert!(found == expected(&sample, Direction::In), "{encoding:?}");
    }
}

#[test]
fn too_little_memory_is_refused() {
    let (_, _, version) = stored(&across(Encoding::Compressed, false));
    let run = Run::with_threads(1).unwrap();
    let error = pooled(&version, &PoolOptions { bytes: 300_000, ..little(1) }, &run).unwrap_err();
    assert!(error.to_string().contains("give more"), "{error}");
}

#[test]
fn faults_are_errors() {
    for encoding in ENCODINGS {
        let sample = large(encoding);
        let (faulty, _, version) = stored(&sample);
        let run = Run::with_threads(2).unwrap();
        let graph = pooled(&version, &little(1), &run).unwrap();
        let expected = whole(&graph, &run).unwrap();
        // A bit changes after it was read, and comes back.
        let layer = version.complete_layer();
        let (path, at) = match layer.out().main().body() {
            Body::Arrays(arrays) => {
                let targets = arrays.targets_column();
                (targets.path(), targets.first_byte() + 2 * targets.len() as u64)
            }
            Body::Coded(coded) => {
                let lists = &coded.columns().lists;
                (lists.path(), lists.first_byte() + lists.len() as u64 / 2)
            }
            Body::Tiled(_) => panic!("there are lists"),
        };
        let fresh = || pooled(&version, &little(1), &run).unwrap();
        faulty.flip(path, at, 3).unwrap();
        let error = whole(&fresh(), &run).unwrap_err();
        assert!(error.to_string().contains("checksum"), "{error}");
        faulty.flip(path, at, 3).unwrap();
        assert!(whole(&fresh(), &run).unwrap() == expected);
        let (mut failures, mut damages) = (0, 0);
        for k in 1..12 {
            let faults = [
                Faults { fail_at: Some(k), ..Faults::default() },
                Faults { flip_read_at: Some(k), ..Faults::default() },
                Faults { short_reads: true, ..Faults::default() },
                Faults::default(),
            ];
            for (way, faults) in faults.into_iter().enumerate() {
                faulty.set_faults(faults);
                match whole(&graph, &run) {
                    Err(Error::Io { .. }) if way == 0 => failures += 1,
                    Err(Error::Corrupt { .. }) if way == 1 => damages += 1,
                    // Reads that a failed scan has left behind may meet the fault.
                    Ok(found) => assert!(found == expected, "{k} {way}"),
                    Err(error) => panic!("{k} {way}: {error}"),
                }
            }
        }
        assert!(failures > 1 && damages > 1, "{encoding:?}: {failures} {damages}");
    }
}

#[test]
fn what_is_no_list_is_found_though_its_checksum_is_right() {
    for encoding in ENCODINGS {
        let (_, _, version) = stored(&Sample { encoding, ..Sample::random(60, 400, false, 2) });
        match version.complete_layer().out().main().body() {
            Body::Arrays(arrays) => {
                assert!(
                    arrays.check_targets(&[59], 0).is_ok() && arrays.check_targets(&[59, 60], 0).is_err()
                );
            }
            Body::Coded(coded) => {
                let index = coded.index(&Run::with_threads(1).unwrap()).unwrap();
                let slot = (0..60).find(|&slot| index.degree(slot) > 1).unwrap();
                let visited = coded.visit_list(
                    CodedList::new(slot, index.place(slot), 20),
                    Some(&[0xFF; 4096]),
                    &mut Vec::new(),
                    |_, _| Flow::More,
                );
                assert!(matches!(visited, Err(Error::Corrupt { .. })));
            }
            Body::Tiled(_) => panic!("there are lists"),
        }
    }
}

/// Stops the run at the first arc.
struct StopAtFirst<'r>(&'r Run);

impl Visitor<i32> for StopAtFirst<'_> {
    type State = ();

    fn new_state(&self) {}

    fn visit(&self, (): &mut (), _: VertexId, _: Piece<'_, i32>) -> Flow {
        self.0.cancel().cancel();
        Flow::More
    }
}

#[test]
fn a_real_disk_and_a_run_that_is_stopped() {
    let directory = tempfile::tempdir().unwrap();
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    for encoding in ENCODINGS {
        let path = directory.path().join(format!("{encoding:?}-{DB}"));
        let sample = across(encoding, false);
        sample.write(&disk, &path, false).unwrap();
        let version = Version::open(&disk, &path).unwrap();
        for by_threads in [false, true] {
            let run = Run::with_threads(2).unwrap();
            let options = PoolOptions { by_threads, ..little(1) };
            let graph = pooled(&version, &options, &run).unwrap();
            assert!(whole(&graph, &run).unwrap() == expected(&sample, Direction::Out));
            let begin = Instant::now();
            let stopped = graph.scan(&run, Direction::Out, Select::All, &StopAtFirst(&run));
            assert!(matches!(stopped, Err(Error::Stop(Stop::Cancelled))));
            drop(graph);
            assert!(begin.elapsed() < Duration::from_secs(1), "{:?}", begin.elapsed());
        }
    }
}

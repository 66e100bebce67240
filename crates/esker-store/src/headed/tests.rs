use std::path::Path;
use std::sync::Arc;

use esker_graph::{Bitmap, Direction, Flow, Graph, Lists, Piece, Run, Select, VertexId, Visitor, vertex};
use proptest::prelude::*;

use super::*;
use crate::error::{Error, Result};
use crate::format::Encoding;
use crate::io::{Disk, Faults, FaultyDisk, RealDisk};
use crate::layer::Body;
use crate::sample::Sample;
use crate::snapshot::{HeadedOptions, Snapshot};

const DB: &str = "web.esker";

fn stored(sample: &Sample) -> (FaultyDisk, Arc<dyn Disk>, Snapshot) {
    let disk = FaultyDisk::new(1);
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    sample.write(&shared, Path::new(DB), false).unwrap();
    let snapshot = Snapshot::open(&shared, Path::new(DB)).unwrap();
    (disk, shared, snapshot)
}

fn headed<'s>(
    disk: &Arc<dyn Disk>,
    snapshot: &'s Snapshot,
    head_len: Option<usize>,
    run: &Run,
) -> Result<HeadedGraph<'s, i32>> {
    let options = HeadedOptions { head_len, memory_bytes: 1 << 30 };
    assert!(Arc::ptr_eq(disk, snapshot.state().disk()));
    HeadedGraph::of(snapshot, options, run)
}

/// Collects arcs; of each vertex no more than `most`, after which it has enough.
struct Collect {
    most: usize,
}

type Arc3 = (VertexId, VertexId, i32);

impl Visitor<i32> for Collect {
    type State = Vec<Arc3>;

    fn new_state(&self) -> Self::State {
        Vec::new()
    }

    fn visit(&self, state: &mut Self::State, v: VertexId, piece: Piece<'_, i32>) -> Flow {
        state.extend(piece.targets.iter().zip(piece.weights).map(|(&target, &weight)| (v, target, weight)));
        let enough = self.most < usize::MAX && state.iter().filter(|arc| arc.0 == v).count() >= self.most;
        if enough { Flow::Enough } else { Flow::More }
    }
}

/// Takes whole lists.
struct Whole;

impl Visitor<i32> for Whole {
    type State = Vec<Arc3>;
    const STOPS: bool = false;

    fn new_state(&self) -> Self::State {
        Vec::new()
    }

    fn wants(&self, v: VertexId) -> bool {
        !v.is_multiple_of(7)
    }

    fn visit(&self, state: &mut Self::State, v: VertexId, piece: Piece<'_, i32>) -> Flow {
        assert!(piece.exclusive);
        Collect { most: usize::MAX }.visit(state, v, piece)
    }
}

fn sorted(found: &[Vec<Arc3>]) -> Vec<Arc3> {
    let mut arcs = found.concat();
    arcs.sort_unstable();
    arcs
}

/// Compares every scan with that of the model.
fn compare(graph: &HeadedGraph<'_, i32>, sample: &Sample, run: &Run) {
    let n = sample.num_vertices;
    let model = sample.model();
    let model = model.graph();
    let list: Vec<VertexId> = (0..n).rev().step_by(3).map(vertex).collect();
    let bits = Bitmap::new(n);
    (0..n).step_by(2).for_each(|v| bits.insert_alone(vertex(v)));
    for direction in [Direction::Out, Direction::In] {
        assert_eq!(graph.has(direction), model.has(direction));
        for select in [Select::All, Select::List(&list), Select::Bits(&bits)] {
            let all = Collect { most: usize::MAX };
            let expected = sorted(&model.scan(run, direction, select, &all).unwrap());
            assert_eq!(sorted(&graph.scan(run, direction, select, &all).unwrap()), expected);
            let expected = sorted(&model.scan(run, direction, select, &Whole).unwrap());
            assert_eq!(sorted(&graph.scan(run, direction, select, &Whole).unwrap()), expected);
            // Of those that stop early, as much as they ask for at least, and nothing twice or of others.
            let few = sorted(&graph.scan(run, direction, select, &Collect { most: 3 }).unwrap());
            let every = sorted(&model.scan(run, direction, select, &all).unwrap());
            let mut rest = every.iter();
            assert!(few.iter().all(|arc| rest.any(|other| other == arc)));
            for arcs in every.chunk_by(|a, b| a.0 == b.0) {
                let found = few.iter().filter(|arc| arc.0 == arcs[0].0).count();
                assert!(found >= arcs.len().min(3));
            }
        }
        for v in (0..n).map(vertex) {
            assert_eq!(graph.degree(direction, v), model.degree(direction, v));
            let expected = model.rows(direction).unwrap().list(v);
            graph
                .with_list(direction, v, |targets, weights| assert_eq!((targets, weights), expected))
                .unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn every_scan_is_that_of_the_model(
        n in 1_usize..300, count in 0_usize..6000, directed: bool, seed: u32, head_len in 0_usize..40, threads in 1_usize..4,
    ) {
        let sample = Sample { encoding: Encoding::Plain, ..Sample::random(n, count, directed, seed) };
        let (_, disk, snapshot) = stored(&sample);
        let run = Run::with_threads(threads).unwrap();
        compare(&headed(&disk, &snapshot, Some(head_len), &run).unwrap(), &sample, &run);
        compare(&headed(&disk, &snapshot, None, &run).unwrap(), &sample, &run);
    }
}

/// A graph whose lists take many pages and reads, one of them most.
fn large() -> Sample {
    let mut sample = Sample::random(3000, 120_000, false, 6);
    sample.edges.extend((0..60_000).map(|k| (7, (k % 3000) as VertexId, k)));
    sample
}

#[test]
fn long_tails_are_read_in_parts() {
    let sample = large();
    let (_, disk, snapshot) = stored(&sample);
    for threads in [1, 3] {
        let run = Run::with_threads(threads).unwrap();
        for head_len in [0, 5, 100] {
            let graph = headed(&disk, &snapshot, Some(head_len), &run).unwrap();
            assert_eq!(graph.heads().0, head_len);
            let expected =
                sorted(&sample.model().graph().scan(&run, Direction::Out, Select::All, &Whole).unwrap());
            assert_eq!(sorted(&graph.scan(&run, Direction::Out, Select::All, &Whole).unwrap()), expected);
        }
    }
}

#[test]
fn memory_is_kept_to() {
    let sample = large();
    let (_, disk, snapshot) = stored(&sample);
    let run = Run::with_threads(1).unwrap();
    let layer = &snapshot.stack().layers()[0];
    let with = |head_len, memory_bytes| {
        HeadedGraph::<i32>::new(&disk, layer, 0, HeadedOptions { head_len, memory_bytes }, &run)
    };
    let needs = HeadedNeeds::of(layer, 1).unwrap();
    let error = with(None, needs.fixed_bytes - 1).unwrap_err();
    assert!(matches!(error, Error::Stop(esker_graph::Stop::OverBudget { .. })), "{error}");
    // What is named suffices.
    let Error::Stop(esker_graph::Stop::OverBudget { needed_bytes, .. }) =
        with(Some(50), needs.fixed_bytes + 1000).unwrap_err()
    else {
        panic!("another error");
    };
    assert!(with(Some(50), needed_bytes - 1).is_err());
    assert_eq!(with(Some(50), needed_bytes).unwrap().heads().0, 50);
    let (head_len, share) = with(None, needed_bytes).unwrap().heads();
    assert!(head_len >= 50 && share < 1.0);
    let options = HeadedOptions { head_len: None, memory_bytes: needed_bytes };
    let heads = needs.heads(layer, options, &run).unwrap();
    assert_eq!((heads.length, heads.share), (head_len, share));
    assert!(heads.memory_bytes <= needed_bytes);
}

#[test]
fn faults_are_errors() {
    let sample = large();
    let (faulty, disk, snapshot) = stored(&sample);
    let run = Run::with_threads(2).unwrap();
    let graph = headed(&disk, &snapshot, Some(4), &run).unwrap();
    let whole = |graph: &HeadedGraph<'_, i32>| graph.scan(&run, Direction::Out, Select::All, &Whole);
    let expected = sorted(&whole(&graph).unwrap());
    // A bit of a tail changes after the file was opened, and comes back.
    let layer = &snapshot.stack().layers()[0];
    let Body::Arrays(arrays) = layer.out().main().body() else { panic!("lists are arrays") };
    let targets = arrays.targets_column();
    let at = targets.first_byte() + 4 * (targets.len() as u64 / 2);
    let path = targets.path().to_owned();
    faulty.flip(&path, at, 3).unwrap();
    let error = whole(&graph).unwrap_err();
    assert!(matches!(error, Error::Corrupt { .. }), "{error}");
    assert!(error.to_string().contains("page"), "{error}");
    assert!(headed(&disk, &snapshot, Some(4), &run).unwrap_err().to_string().contains("checksum"));
    faulty.flip(&path, at, 3).unwrap();
    assert_eq!(sorted(&whole(&graph).unwrap()), expected);
    // Reads fail.
    for fail_at in 1..6 {
        faulty.set_faults(Faults { fail_at: Some(fail_at), ..Faults::default() });
        assert!(matches!(whole(&graph).unwrap_err(), Error::Io { .. }));
    }
    faulty.set_faults(Faults { short_reads: true, ..Faults::default() });
    assert_eq!(sorted(&whole(&graph).unwrap()), expected);
    faulty.set_faults(Faults { flip_read_at: Some(2), ..Faults::default() });
    assert!(matches!(whole(&graph).unwrap_err(), Error::Corrupt { .. }));
    faulty.set_faults(Faults::default());
    assert_eq!(sorted(&whole(&graph).unwrap()), expected);
}

#[test]
fn more_tails_than_wait_at_a_time() {
    let sample = Sample { encoding: Encoding::Plain, ..Sample::random(60_000, 200_000, true, 3) };
    let (_, disk, snapshot) = stored(&sample);
    let run = Run::with_threads(1).unwrap();
    let graph = headed(&disk, &snapshot, Some(1), &run).unwrap();
    for direction in [Direction::Out, Direction::In] {
        let expected = sorted(&sample.model().graph().scan(&run, direction, Select::All, &Whole).unwrap());
        assert_eq!(sorted(&graph.scan(&run, direction, Select::All, &Whole).unwrap()), expected);
    }
}

#[test]
fn compressed_lists_are_refused_with_a_remedy() {
    let sample = Sample { encoding: Encoding::Compressed, ..Sample::random(10, 50, false, 1) };
    let (_, disk, snapshot) = stored(&sample);
    let error = headed(&disk, &snapshot, None, &Run::with_threads(1).unwrap()).unwrap_err();
    assert!(error.to_string().contains("compact --encoding plain"), "{error}");
}

#[test]
fn tails_are_read_from_a_real_disk() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(DB);
    let (sample, disk): (_, Arc<dyn Disk>) = (large(), Arc::new(RealDisk));
    sample.write(&disk, &path, false).unwrap();
    let snapshot = Snapshot::open(&disk, &path).unwrap();
    let run = Run::with_threads(2).unwrap();
    compare(&headed(&disk, &snapshot, Some(3), &run).unwrap(), &sample, &run);
}

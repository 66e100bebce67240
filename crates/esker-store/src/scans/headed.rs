use std::path::Path;
use std::sync::Arc;

use esker_format::io::{Disk, Faults, RealDisk};
use esker_format::{Encoding, Error, HeadOrder, HeadsRecord, Origin, Result, Values};
use esker_graph::{Direction, Flow, Graph, Lists, Piece, Run, Select, VertexId, Visitor, vertex};
use esker_layers::FormFiles;
use esker_layers::graph::ArcWeights;
use esker_layers::graph::{CompleteLists, HeadedOptions, StoredGraph, StoredWeight};
use esker_layers::layer::Body;
use proptest::prelude::*;

use crate::history::ORIGIN;
use crate::sample::Sample;
use crate::scans::{DB, TakeWholeLists, compare, compare_scans, large, sorted, stored};
use crate::version::Version;
use esker_layers::graph::bounded::headed::{HeadedNeeds, Heads, StoredHeads, write_heads};

const ENCODINGS: [Encoding; 2] = [Encoding::Plain, Encoding::Compressed];

fn headed<'s>(
    disk: &Arc<dyn Disk>,
    version: &'s Version,
    head_len: Option<usize>,
    run: &Run,
) -> Result<StoredGraph<'s, i32>> {
    let options = HeadedOptions { head_len, memory_bytes: 1 << 30 };
    assert!(Arc::ptr_eq(disk, version.state().disk()));
    i32::open(
        version.stack(),
        ArcWeights { property: 0, num_arcs: version.num_arcs() },
        CompleteLists::Headed(disk, None, options),
        None,
        run,
    )
}

fn record_of(heads: &Heads) -> HeadsRecord {
    HeadsRecord { layer: 1, stamp: ORIGIN.stamp, head_len: heads.length as u64, order: heads.order }
}

/// Compares every scan of unweighted lists with that of the mapped ones.
fn compare_unweighted(version: &Version, lists: CompleteLists<'_, '_>, run: &Run) {
    let open = |lists| {
        <()>::open(
            version.stack(),
            ArcWeights { property: 0, num_arcs: version.num_arcs() },
            lists,
            None,
            run,
        )
        .unwrap()
    };
    let (graph, model) = (open(lists), open(CompleteLists::Mapped));
    compare_scans(&graph, &model, true, run);
    for direction in [Direction::Out, Direction::In] {
        for v in (0..model.num_vertices()).map(vertex) {
            let list = |graph: &StoredGraph<'_, ()>| graph.with_list(direction, v, |list, _| list.to_vec());
            assert_eq!(list(&graph).unwrap(), list(&model).unwrap());
        }
    }
}

/// What binds heads of a database to their record.
fn origin(version: &Version) -> Origin {
    Origin { database: version.manifest().database, ..ORIGIN }
}

/// Stores the heads of a database, and opens them.
fn store(disk: &Arc<dyn Disk>, version: &Version, head_len: usize, run: &Run) -> StoredHeads {
    let layer = version.complete_layer();
    let options = HeadedOptions { head_len: Some(head_len), memory_bytes: 1 << 30 };
    let heads = HeadedNeeds::for_layer(layer, None, 1).unwrap().heads(layer, options, run).unwrap();
    let (directory, origin) = (layer.directory(), origin(version));
    if disk.look(directory).unwrap().is_none() {
        disk.create_directory(directory).unwrap();
    }
    write_heads(layer, &heads, run, FormFiles { disk, directory, origin }).unwrap();
    let in_edges = layer.incoming().is_some();
    StoredHeads::open(disk, directory, origin, &record_of(&heads), in_edges).unwrap()
}

proptest! {
    #![proptest_config(esker_format::testing::cases(40))]
    #[test]
    fn every_scan_is_that_of_the_model(
        n in 1_usize..300, count in 0_usize..6000, directed: bool, seed: u32, head_len in 0_usize..40, threads in 1_usize..4,
    ) {
        let sample = Sample::random(n, count, directed, seed);
        let (_, disk, version) = stored(&sample);
        let run = Run::with_threads(threads).unwrap();
        compare(&headed(&disk, &version, Some(head_len), &run).unwrap(), &sample, &run);
        compare(&headed(&disk, &version, None, &run).unwrap(), &sample, &run);
    }

    #[test]
    fn stored_heads_are_those_that_are_gathered(
        n in 1_usize..300, count in 0_usize..6000, directed: bool, seed: u32, stored_len in 0_usize..40, threads in 1_usize..4,
    ) {
        let sample = Sample::random(n, count, directed, seed);
        let (_, disk, version) = stored(&sample);
        let run = Run::with_threads(threads).unwrap();
        let heads = store(&disk, &version, stored_len, &run);
        let (layer, stack, weight) = (version.complete_layer(), version.stack(), ArcWeights { property: 0, num_arcs: version.num_arcs() });
        heads.verify(disk.as_ref(), layer, &run).unwrap();
        // As long as they are stored, shorter, longer, and what is chosen.
        for head_len in [Some(stored_len), Some(stored_len / 2), Some(stored_len + 1), None] {
            let options = HeadedOptions { head_len, memory_bytes: 1 << 30 };
            let graph = i32::open(stack, weight, CompleteLists::Headed(&disk, Some(&heads), options), None, &run).unwrap();
            compare(&graph, &sample, &run);
        }
        let needs = HeadedNeeds::for_layer(layer, Some(&heads), threads).unwrap();
        let options = HeadedOptions { head_len: None, memory_bytes: 1 << 30 };
        prop_assert_eq!(needs.heads(layer, options, &run).unwrap().length, heads.head_len());
    }
}

proptest! {
    #![proptest_config(esker_format::testing::cases(40))]
    #[test]
    fn chosen_heads_give_every_arc_once(
        n in 1_usize..300, count in 0_usize..6000, directed: bool, seed: u32, head_len in 0_usize..40, threads in 1_usize..4,
        compressed: bool,
    ) {
        let encoding = if compressed { Encoding::Compressed } else { Encoding::Plain };
        let sample = Sample { encoding, ..Sample::simple(n, count, directed, seed) };
        let (_, disk, version) = stored(&sample);
        let run = Run::with_threads(threads).unwrap();
        let heads = store(&disk, &version, head_len, &run);
        heads.verify(disk.as_ref(), version.complete_layer(), &run).unwrap();
        for (stored, head_len) in [(None, Some(head_len)), (None, None), (Some(&heads), None), (Some(&heads), Some(head_len / 2))] {
            let options = HeadedOptions { head_len, memory_bytes: 1 << 30 };
            let lists = CompleteLists::Headed(&disk, stored, options);
            compare_unweighted(&version, lists, &run);
            let weighted = i32::open(version.stack(), ArcWeights { property: 0, num_arcs: version.num_arcs() }, lists, None, &run).unwrap();
            compare(&weighted, &sample, &run);
        }
    }
}

/// Vertices without an order by degree: hubs are anywhere.
fn hubs(num_vertices: usize, encoding: Encoding) -> Sample {
    let mut sample = Sample { encoding, ..Sample::simple(num_vertices, num_vertices * 4, false, 4) };
    let hubs = [num_vertices - 1, num_vertices / 2, num_vertices / 3].map(vertex);
    let mut seen: std::collections::BTreeSet<_> =
        sample.edges.iter().map(|&(u, v, _)| (u.min(v), u.max(v))).collect();
    for (hub, v) in
        hubs.into_iter().flat_map(|hub| (0..num_vertices).step_by(2).map(move |v| (hub, vertex(v))))
    {
        if seen.insert((hub.min(v), hub.max(v))) {
            sample.edges.push((hub, v, 1));
        }
    }
    sample
}

/// Counts the vertices that find one of some in the first piece of their list, and those that do not.
struct FirstPiece([VertexId; 3]);

impl Visitor<()> for FirstPiece {
    type State = (usize, usize);

    fn new_state(&self) -> Self::State {
        (0, 0)
    }

    fn wants(&self, v: VertexId) -> bool {
        v.is_multiple_of(2)
    }

    fn visit(&self, counts: &mut Self::State, _: VertexId, piece: Piece<'_, ()>) -> Flow {
        let count = if self.0.contains(&piece.targets[0]) { &mut counts.0 } else { &mut counts.1 };
        *count += 1;
        Flow::Enough
    }
}

#[test]
fn heads_begin_with_the_hubs_wherever_their_numbers_are() {
    ENCODINGS.into_iter().for_each(heads_begin_with_the_hubs);
}

fn heads_begin_with_the_hubs(encoding: Encoding) {
    let sample = hubs(40_000, encoding);
    let (_, disk, version) = stored(&sample);
    let run = Run::with_threads(2).unwrap();
    let heads = store(&disk, &version, 2, &run);
    assert_eq!(heads.order(), HeadOrder::Degree);
    heads.verify(disk.as_ref(), version.complete_layer(), &run).unwrap();
    let read = || -> u64 {
        run.reads().all().iter().filter(|read| read.way == "tails").map(|read| read.read_bytes).sum()
    };
    for stored in [None, Some(&heads)] {
        let options = HeadedOptions { head_len: Some(2), memory_bytes: 1 << 30 };
        let lists = CompleteLists::Headed(&disk, stored, options);
        let before = read();
        let graph = <()>::open(
            version.stack(),
            ArcWeights { property: 0, num_arcs: version.num_arcs() },
            lists,
            None,
            &run,
        )
        .unwrap();
        let of = FirstPiece([39_999, 20_000, 13_333]);
        let states = graph.scan(&run, Direction::Out, Select::All, &of).unwrap();
        let (found, missed) = states.iter().fold((0, 0), |sum, state| (sum.0 + state.0, sum.1 + state.1));
        assert_eq!((found, missed), (20_000, 0));
        assert_eq!(read(), before);
    }
}

#[test]
fn chosen_heads_that_are_others_are_noticed() {
    let sample = hubs(3000, Encoding::Plain);
    let (_, disk, version) = stored(&sample);
    let run = Run::with_threads(2).unwrap();
    let layer = version.complete_layer();
    let options = HeadedOptions { head_len: Some(3), memory_bytes: 1 << 30 };
    let heads = HeadedNeeds::for_layer(layer, None, 1).unwrap().heads(layer, options, &run).unwrap();
    let (directory, origin) = (layer.directory(), origin(&version));
    disk.create_directory(directory).unwrap();
    let files = FormFiles { disk: &disk, directory, origin };
    write_heads(layer, &Heads { order: HeadOrder::First, ..heads }, &run, files).unwrap();
    let stored = StoredHeads::open(&disk, directory, origin, &record_of(&heads), false).unwrap();
    let error = stored.verify(disk.as_ref(), layer, &run).unwrap_err().to_string();
    assert!(error.contains("highest degree") && error.contains("heads.columns"), "{error}");
}

#[test]
fn long_tails_are_read() {
    for (encoding, threads) in ENCODINGS.into_iter().flat_map(|encoding| [(encoding, 1), (encoding, 3)]) {
        let sample = large(encoding);
        let (_, disk, version) = stored(&sample);
        let run = Run::with_threads(threads).unwrap();
        for head_len in [0, 5, 100] {
            let graph = headed(&disk, &version, Some(head_len), &run).unwrap();
            let expected = sorted(
                &sample.model().graph().scan(&run, Direction::Out, Select::All, &TakeWholeLists).unwrap(),
            );
            assert_eq!(
                sorted(&graph.scan(&run, Direction::Out, Select::All, &TakeWholeLists).unwrap()),
                expected
            );
        }
    }
}

#[test]
fn memory_is_kept_to() {
    ENCODINGS.into_iter().for_each(memory_is_kept);
}

fn memory_is_kept(encoding: Encoding) {
    let sample = large(encoding);
    let (_, disk, version) = stored(&sample);
    let run = Run::with_threads(1).unwrap();
    let layer = &version.stack().layers()[0];
    let (stack, weight) = (version.stack(), ArcWeights { property: 0, num_arcs: version.num_arcs() });
    let with = |head_len, memory_bytes| {
        let options = HeadedOptions { head_len, memory_bytes };
        i32::open(stack, weight, CompleteLists::Headed(&disk, None, options), None, &run)
    };
    let needs = HeadedNeeds::for_layer(layer, None, 1).unwrap();
    let error = with(None, needs.fixed_bytes - 1).unwrap_err();
    assert!(matches!(error, Error::Stop(esker_graph::Stop::OverBudget { .. })), "{error}");
    // What is named suffices.
    let Error::Stop(esker_graph::Stop::OverBudget { needed_bytes, .. }) =
        with(Some(50), needs.fixed_bytes + 1000).unwrap_err()
    else {
        panic!("another error");
    };
    assert!(with(Some(50), needed_bytes - 1).is_err());
    with(Some(50), needed_bytes).unwrap();
    with(None, needed_bytes).unwrap();
    let options = HeadedOptions { head_len: None, memory_bytes: needed_bytes };
    let heads = needs.heads(layer, options, &run).unwrap();
    assert!(heads.length >= 50 && heads.share < 1.0);
    assert!(heads.memory_bytes <= needed_bytes);
}

#[test]
fn weights_are_verified_block_by_block_as_they_are_read() {
    ENCODINGS.into_iter().for_each(weights_are_verified_block_by_block);
}

fn weights_are_verified_block_by_block(encoding: Encoding) {
    // All of them were read once and kept in memory when the graph was opened.
    let sample = large(encoding);
    let (faulty, disk, version) = stored(&sample);
    let Some(Values::I32(weights)) = version.complete_layer().out().main().property(0) else { panic!("i32") };
    let (path, last) = (weights.path().to_owned(), weights.first_byte() + 4 * (weights.len() as u64 - 1));
    drop(version);
    faulty.flip(&path, last, 3).unwrap();
    let version = Version::open(&disk, Path::new(DB)).unwrap();
    let run = Run::with_threads(2).unwrap();
    let graph = headed(&disk, &version, Some(4), &run).unwrap();
    let first = [1, 2, 3];
    let expected =
        sample.model().graph().scan(&run, Direction::Out, Select::List(&first), &TakeWholeLists).unwrap();
    let found = graph.scan(&run, Direction::Out, Select::List(&first), &TakeWholeLists).unwrap();
    assert_eq!(sorted(&found), sorted(&expected));
    let error = graph.scan(&run, Direction::Out, Select::All, &TakeWholeLists).unwrap_err().to_string();
    assert!(error.contains("checksum") && error.contains(&*path.to_string_lossy()), "{error}");
}

#[test]
fn faults_are_errors() {
    ENCODINGS.into_iter().for_each(faults_are_errors_in);
}

fn faults_are_errors_in(encoding: Encoding) {
    let sample = large(encoding);
    let (faulty, disk, version) = stored(&sample);
    let run = Run::with_threads(2).unwrap();
    let graph = headed(&disk, &version, Some(4), &run).unwrap();
    let whole = |graph: &StoredGraph<'_, i32>| graph.scan(&run, Direction::Out, Select::All, &TakeWholeLists);
    let expected = sorted(&whole(&graph).unwrap());
    // A bit of a tail changes after the file was opened, and comes back.
    let layer = &version.stack().layers()[0];
    let (path, at) = match layer.out().main().body() {
        Body::Arrays(arrays) => {
            let targets = arrays.targets_column();
            (targets.path().to_owned(), targets.first_byte() + 4 * (targets.len() as u64 / 2))
        }
        Body::Coded(coded) => {
            let lists = &coded.columns().lists;
            (lists.path().to_owned(), lists.first_byte() + lists.len() as u64 / 2)
        }
        Body::Tiled(_) => panic!("there are lists"),
    };
    faulty.flip(&path, at, 3).unwrap();
    let error = whole(&graph).unwrap_err();
    assert!(matches!(error, Error::Corrupt { .. }), "{error}");
    assert!(error.to_string().contains("page"), "{error}");
    assert!(headed(&disk, &version, Some(4), &run).unwrap_err().to_string().contains("checksum"));
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
fn stored_heads_are_read_instead_of_the_lists() {
    let sample = large(Encoding::Plain);
    let (faulty, disk, version) = stored(&sample);
    let run = Run::with_threads(2).unwrap();
    let heads = store(&disk, &version, 1 << 20, &run);
    let (layer, stack, weight) =
        (version.complete_layer(), version.stack(), ArcWeights { property: 0, num_arcs: version.num_arcs() });
    // All lists are in the heads, so damage of the lists goes unseen, and that of the heads does not.
    let Body::Arrays(arrays) = layer.out().main().body() else { panic!("lists are arrays") };
    let targets = arrays.targets_column();
    faulty.flip(targets.path(), targets.first_byte() + 8, 3).unwrap();
    let options = HeadedOptions { head_len: None, memory_bytes: 1 << 30 };
    let graph = || i32::open(stack, weight, CompleteLists::Headed(&disk, Some(&heads), options), None, &run);
    let expected =
        sorted(&sample.model().graph().scan(&run, Direction::Out, Select::All, &TakeWholeLists).unwrap());
    assert_eq!(
        sorted(&graph().unwrap().scan(&run, Direction::Out, Select::All, &TakeWholeLists).unwrap()),
        expected
    );
    assert!(heads.verify(disk.as_ref(), layer, &run).unwrap_err().to_string().contains("page"));
    faulty.flip(targets.path(), targets.first_byte() + 8, 3).unwrap();
    let path = layer.directory().join("heads/out.heads");
    faulty.flip(&path, 4096 + 8, 3).unwrap();
    let record =
        HeadsRecord { layer: 1, stamp: heads.origin().stamp, head_len: 1 << 20, order: heads.order() };
    let reopened = StoredHeads::open(&disk, layer.directory(), origin(&version), &record, false).unwrap();
    let error = i32::open(stack, weight, CompleteLists::Headed(&disk, Some(&reopened), options), None, &run)
        .unwrap_err();
    assert!(error.to_string().contains("out.heads"), "{error}");
}

#[test]
fn more_tails_than_wait_at_a_time() {
    let run = Run::with_threads(1).unwrap();
    for (encoding, direction) in
        ENCODINGS.into_iter().flat_map(|encoding| [(encoding, Direction::Out), (encoding, Direction::In)])
    {
        let sample = Sample { encoding, ..Sample::random(60_000, 200_000, true, 3) };
        let (_, disk, version) = stored(&sample);
        let graph = headed(&disk, &version, Some(1), &run).unwrap();
        let expected =
            sorted(&sample.model().graph().scan(&run, direction, Select::All, &TakeWholeLists).unwrap());
        assert_eq!(sorted(&graph.scan(&run, direction, Select::All, &TakeWholeLists).unwrap()), expected);
    }
}

#[test]
fn tails_are_read_from_a_real_disk() {
    ENCODINGS.into_iter().for_each(tails_are_read_from_disk);
}

fn tails_are_read_from_disk(encoding: Encoding) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(DB);
    let (sample, disk): (_, Arc<dyn Disk>) = (large(encoding), Arc::new(RealDisk));
    sample.write(&disk, &path, false).unwrap();
    let version = Version::open(&disk, &path).unwrap();
    let run = Run::with_threads(2).unwrap();
    compare(&headed(&disk, &version, Some(3), &run).unwrap(), &sample, &run);
}

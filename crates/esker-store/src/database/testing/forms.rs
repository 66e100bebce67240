//! Merging keeps tiles, copies what did not change, and installs them with the layer.

use std::path::Path;
use std::sync::Arc;

use esker_format::io::{Disk, FaultyDisk};
use esker_format::{ElementType, Encoding};
use esker_graph::random::Random;
use esker_graph::{
    Budget, Direction, Flow, Graph, Lists, Piece, Run, RunOptions, Select, VertexId, Visitor, vertex,
};
use esker_layers::graph::{Access, GraphEncoding, HeadedOptions};
use esker_layers::property::PropertyValue;
use esker_layers::tiles::{ConvertOptions, TileReport};

use crate::check::check;
use crate::database::testing::model::DB;
use crate::database::{
    CompactOptions, CompactReport, Database, DatabaseOptions, FormReport, HeadsLeftOut, Tiling, WrittenBytes,
};
use crate::sample::Sample;
use crate::version::Version;

/// Vertices of four strips.
const N: usize = 200_000;
const OPTIONS: ConvertOptions = ConvertOptions { group: 1, memory_bytes: 1 << 20 };
const TILES: Access = Access::Mapped(GraphEncoding::Tiles);

/// Sums up all arcs, in any order.
struct Digest;

impl Visitor<i32> for Digest {
    type State = (u64, u64);

    fn new_state(&self) -> Self::State {
        (0, 0)
    }

    fn visit(&self, digest: &mut Self::State, v: VertexId, piece: Piece<'_, i32>) -> Flow {
        digest.0 += piece.targets.len() as u64;
        for (&u, &weight) in piece.targets.iter().zip(piece.weights) {
            let arc = (u64::from(v) << 32 | u64::from(u)) ^ u64::from(weight.cast_unsigned()) << 20;
            digest.1 = digest.1.wrapping_add(arc.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23));
        }
        Flow::More
    }
}

fn digest(version: &Version, run: &Run, direction: Direction) -> (u64, u64) {
    let view = version.view();
    let graph = view.graph::<i32>(run).unwrap();
    let found = graph.scan(run, direction, Select::All, &Digest).unwrap();
    found.iter().fold((0, 0), |sum, part| (sum.0 + part.0, sum.1.wrapping_add(part.1)))
}

fn open(disk: &FaultyDisk) -> Database {
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let options = DatabaseOptions { threads: 2, ..DatabaseOptions::default() };
    Database::open_on(shared, Path::new(DB), options).unwrap()
}

/// A tiled database of four strips: ten groups if it is undirected, else sixteen.
fn tiled(directed: bool, seed: u32, run: &Run) -> (FaultyDisk, Database, Sample) {
    tiled_of(20_000, directed, seed, run)
}

fn tiled_of(num_edges: usize, directed: bool, seed: u32, run: &Run) -> (FaultyDisk, Database, Sample) {
    let disk = FaultyDisk::new(1);
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let sample = Sample::random(N, num_edges, directed, seed);
    sample.write(&shared, Path::new(DB), false).unwrap();
    let database = open(&disk);
    let made = database.make_tiles(&OPTIONS, run).unwrap();
    assert_eq!((made.groups_rebuilt, made.groups_copied), (if directed { 16 } else { 10 }, 0));
    (disk, database, sample)
}

/// Compares the tiles of a version with its lists.
fn compare(version: &Version, run: &Run) {
    let tiled = version.view().resident(TILES).unwrap();
    for direction in [Direction::Out, Direction::In] {
        assert_eq!(digest(tiled.version(), run, direction), digest(version, run, direction));
    }
}

/// As [`merged`]; the work on tiles.
fn compacted(database: &Database, run: &Run) -> TileReport {
    merged(database, run).forms.tiles.unwrap()
}

/// Merges all layers in one record of the manifest, and compares the tiles with the lists.
fn merged(database: &Database, run: &Run) -> CompactReport {
    database.freeze(run).unwrap();
    let before = database.latest().unwrap().manifest().records;
    let report = database.compact(run).unwrap();
    let version = database.latest().unwrap();
    assert_eq!((report.layers, version.manifest().records), (1, before + 1), "one record installs all");
    compare(&version, run);
    let checked = check(&version, run).unwrap();
    assert!(checked.is_sound(), "{:?}", checked.problems);
    report
}

fn head_len(forms: &FormReport) -> Option<usize> {
    forms.heads.map(|heads| heads.length)
}

/// The values of an edge of the sample.
fn values(weight: i32) -> [PropertyValue<'static>; 2] {
    [PropertyValue::I32(weight), PropertyValue::Text(b"depends")]
}

/// The first edges of the sample with both ends in the first strip.
fn in_first_strip(sample: &Sample) -> Vec<(u64, u64, i32)> {
    let found = sample.edges.iter().filter(|edge| edge.0.max(edge.1) < 1 << 16 && edge.0 != edge.1);
    found.map(|&(u, v, weight)| (u64::from(u), u64::from(v), weight)).collect()
}

#[test]
fn a_merge_rebuilds_the_changed_groups_and_copies_the_others() {
    let run = Run::with_threads(2).unwrap();
    for (directed, seed) in [(false, 2), (true, 3)] {
        let (disk, database, sample) = tiled(directed, seed, &run);
        let edges = in_first_strip(&sample);
        let mut batch = database.batch();
        batch.remove_edge(edges[0].0, edges[0].1).unwrap();
        database.commit(batch, "one less").unwrap();
        // A weight that changes moves no edge, but changes its group.
        let (u, v, weight) = edges[1];
        let mut batch = database.batch();
        batch.remove_edge(u, v).unwrap();
        database.commit(batch, "without").unwrap();
        let mut batch = database.batch();
        batch.add_edge(u, v, &values(weight + 1)).unwrap();
        batch.add_edge(70_000, N as u64, &values(7)).unwrap();
        database.commit(batch, "with another weight").unwrap();
        let report = compacted(&database, &run);
        let all = if directed { 16 } else { 10 };
        assert_eq!((report.groups_rebuilt, report.groups_copied), (2, all - 2));
        assert!(report.copied_bytes > report.data_bytes / 2);
        database.close().unwrap();
        let database = open(&disk);
        let mut batch = database.batch();
        batch.remove_edge(edges[2].0, edges[2].1).unwrap();
        database.commit(batch, "again").unwrap();
        assert_eq!(compacted(&database, &run).groups_rebuilt, 1);
    }
}

/// Commits changes of edges with both ends in one strip: some new ones, some gone, some with another weight,
/// a new vertex.
fn change_strip(database: &Database, sample: &Sample, random: &mut Random) {
    let strip = random.index(3) << 16;
    let inside = |v: VertexId| v as usize >> 16 == strip >> 16;
    let own: Vec<_> = sample.edges.iter().filter(|edge| inside(edge.0) && inside(edge.1)).collect();
    let mut batch = database.batch();
    for _ in 0..1 + random.index(5) {
        let &&(u, v, weight) = &own[random.index(own.len())];
        batch.remove_edge(u64::from(u), u64::from(v)).unwrap();
        if random.index(100) < 50 {
            batch.add_edge(u64::from(u), u64::from(v), &values(weight + 1)).unwrap();
        }
        let mut end = || (strip + random.index(1 << 16)) as u64;
        let (u, v) = (end(), end());
        batch.add_edge(u, v, &values(v as i32)).unwrap();
    }
    batch.add_vertex(N as u64 + random.index(100) as u64).unwrap();
    database.commit(batch, "one strip").unwrap();
}

#[test]
fn tiles_of_every_version_equal_its_lists_whatever_is_committed_frozen_forgotten_and_merged() {
    let run = Run::with_threads(2).unwrap();
    let (mut copied, mut rebuilt) = (0, 0);
    for seed in 2..4 {
        let (_, database, sample) = tiled(seed % 2 == 1, seed, &run);
        let mut random = Random::new(u64::from(seed));
        for step in 0..6 {
            for _ in 0..1 + random.index(3) {
                change_strip(&database, &sample, &mut random);
                if random.index(100) < 50 {
                    database.freeze(&run).unwrap();
                }
            }
            match step % 3 {
                0 => drop(database.merge(&run).unwrap()),
                1 => database.forget(database.versions()[0].number).unwrap(),
                _ => {}
            }
            let report = compacted(&database, &run);
            (copied, rebuilt) = (copied + report.groups_copied, rebuilt + report.groups_rebuilt);
            let versions = database.versions();
            let older = versions[random.index(versions.len())].number;
            compare(&database.at(older).unwrap(), &run);
        }
    }
    assert!(rebuilt >= 10 && copied > 4 * rebuilt, "{copied} groups copied, {rebuilt} rebuilt");
}

/// Sums up all arcs of lists that are read one by one.
fn digest_of_lists(version: &Version, run: &Run, direction: Direction) -> (u64, u64) {
    let view = version.view();
    let graph = view.graph::<i32>(run).unwrap();
    let mut sum = (0, 0);
    for v in (0..version.num_vertices()).map(vertex) {
        graph
            .with_list(direction, v, |targets, weights| {
                assert!(targets.is_sorted());
                Digest.visit(&mut sum, v, Piece { targets, weights, exclusive: true });
            })
            .unwrap();
    }
    sum
}

#[test]
fn every_version_is_read_from_tiles_alone_and_merging_keeps_them_so() {
    let run = Run::with_threads(2).unwrap();
    let only = CompactOptions { lists: Some(Encoding::Tiles), ..CompactOptions::default() };
    for (directed, seed) in [(false, 2), (true, 4)] {
        let (disk, database, sample) = tiled(directed, seed, &run);
        let (_, twin, _) = tiled(directed, seed, &run);
        let forms = database.compact_with(only, &run).unwrap().forms;
        assert!(forms.tiles.is_some_and(|tiles| tiles.groups_rebuilt == 0), "tiles are copied");
        let targets = |database: &Database, name: &str| {
            let layer = database.latest().unwrap().layer().number;
            disk.look(Path::new(&format!("{DB}/layers/{layer}/{name}.targets"))).unwrap().is_some()
        };
        assert!(!targets(&database, "out") && !targets(&database, "in"));
        assert!(database.make_tiles(&OPTIONS, &run).unwrap_err().to_string().contains("tiles only"));
        let removal = CompactOptions { tiles: Tiling::Remove, ..CompactOptions::default() };
        assert!(database.compact_with(removal, &run).unwrap_err().to_string().contains("compressed"));
        for step in 0..4 {
            for salt in 0..2 {
                for database in [&database, &twin] {
                    change_strip(database, &sample, &mut Random::new(10 * step + salt));
                }
            }
            database.freeze(&run).unwrap();
            if step == 2 {
                let rebuilt = compacted(&database, &run).groups_rebuilt;
                assert!(rebuilt > 0, "lists of changed groups come from the older tiles");
            }
            let layer = database.latest().unwrap().layer().clone();
            assert_eq!(
                database.latest().unwrap().manifest().layers[0].encoding,
                Encoding::Tiles,
                "{layer:?}"
            );
            for number in database.versions().iter().map(|version| version.number) {
                let (found, expected) = (database.at(number).unwrap(), twin.at(number).unwrap());
                for direction in [Direction::Out, Direction::In] {
                    let expected = digest(&expected, &run, direction);
                    assert_eq!(digest(&found, &run, direction), expected, "{directed} {number}");
                    assert_eq!(digest_of_lists(&found, &run, direction), expected, "{directed} {number}");
                }
            }
        }
        let copied = database.latest().unwrap().view().resident(Access::Memory).unwrap();
        assert_eq!(
            digest(copied.version(), &run, Direction::Out),
            digest(&twin.latest().unwrap(), &run, Direction::Out)
        );
        drop(copied);
        database.close().unwrap();
        let database = open(&disk);
        // Who asks for tiles has them: no lists come back unasked.
        let tiles = CompactOptions { tiles: Tiling::Make, ..CompactOptions::default() };
        database.compact_with(tiles, &run).unwrap();
        assert_eq!(database.latest().unwrap().manifest().layers[0].encoding, Encoding::Tiles);
        let beside = CompactOptions { lists: Some(Encoding::Plain), ..tiles };
        database.compact_with(beside, &run).unwrap();
        let version = database.latest().unwrap();
        assert_eq!(version.manifest().layers[0].encoding, Encoding::Plain);
        compare(&version, &run);
        assert_eq!(
            digest(&version, &run, Direction::In),
            digest(&twin.latest().unwrap(), &run, Direction::In)
        );
        assert!(check(&version, &run).unwrap().is_sound());
    }
}

/// The edges are many enough for files that are worth sharing.
#[test]
fn layers_share_what_did_not_change_and_older_versions_outlive_the_layers_that_wrote_it() {
    let run = Run::with_threads(2).unwrap();
    let only = CompactOptions { lists: Some(Encoding::Tiles), ..CompactOptions::default() };
    let (mut disk, mut database, sample) = tiled_of(1_000_000, false, 2, &run);
    let (_, twin, _) = tiled_of(1_000_000, false, 2, &run);
    for is_only in [false, true] {
        if is_only {
            database.compact_with(only, &run).unwrap();
        }
        for step in 0..3 {
            for database in [&database, &twin] {
                change_strip(database, &sample, &mut Random::new(7 * step + u64::from(is_only)));
                database.freeze(&run).unwrap();
            }
            let held = database.latest().unwrap();
            let before = digest(&held, &run, Direction::Out);
            let bytes = database.compact(&run).unwrap();
            let tiles = bytes.forms.tiles.unwrap();
            assert!(tiles.groups_shared > 0 && tiles.groups_rebuilt > 0, "{is_only} {step} {tiles:?}");
            assert!(tiles.shared_bytes > tiles.data_bytes / 2 && bytes.written.all() < bytes.bytes);
            let version = database.latest().unwrap();
            assert!(version.tiles().unwrap().data().shared_bytes() > 0);
            assert!(check(&version, &run).unwrap().is_sound());
            assert_eq!(digest(&held, &run, Direction::Out), before, "a reader of the old layer");
            drop((held, version));
            for number in database.versions().iter().map(|version| version.number) {
                let found = database.at(number).unwrap().view().resident(TILES).unwrap();
                let expected = twin.at(number).unwrap();
                let digests =
                    [&found, &expected.view()].map(|view| digest(view.version(), &run, Direction::Out));
                assert_eq!(digests[0], digests[1], "{is_only} {step} {number}");
            }
            database.close().unwrap();
            disk.crash();
            database = open(&disk);
        }
    }
    database.compact_with(CompactOptions { lists: Some(Encoding::Plain), ..only }, &run).unwrap();
    compare(&database.latest().unwrap(), &run);
    database.close().unwrap();
    // Layers that are gone leave no files.
    let layers = disk.list(Path::new(&format!("{DB}/layers"))).unwrap();
    assert!(layers.iter().filter(|entry| entry.is_directory).count() == 1, "{layers:?}");
    disk = disk.fork();
    let database = open(&disk);
    assert_eq!(
        digest(&database.latest().unwrap(), &run, Direction::In),
        digest(&twin.latest().unwrap(), &run, Direction::In)
    );
}

#[test]
fn the_bytes_that_a_merge_codes_follow_the_groups_that_changed() {
    let run = Run::with_threads(2).unwrap();
    let (_, database, sample) = tiled(true, 3, &run);
    let mut coded = Vec::new();
    for strips in 1..4 {
        // One edge in each of the first groups of the diagonal.
        for strip in 0..strips {
            let inside = |v: VertexId| v >> 16 == strip;
            let mut own = sample.edges.iter().filter(|edge| inside(edge.0) && inside(edge.1));
            let &(u, v, _) = own.nth(strips as usize).unwrap();
            let mut batch = database.batch();
            batch.remove_edge(u64::from(u), u64::from(v)).unwrap();
            database.commit(batch, "one less").unwrap();
        }
        let report = compacted(&database, &run);
        assert_eq!(report.groups_rebuilt, u64::from(strips));
        coded.push(report.rebuilt_bytes());
    }
    let per_group = coded[0];
    assert!(
        coded.iter().zip(1..).all(|(&bytes, groups)| bytes.abs_diff(groups * per_group) < bytes / 4),
        "{coded:?}"
    );
}

/// The files of the only layer, by what they hold: tiles, heads, others.
fn layer_files(disk: &FaultyDisk, database: &Database) -> WrittenBytes {
    let number = database.latest().unwrap().layer().number;
    let layers = format!("{DB}/layers");
    let mut found = WrittenBytes::default();
    let mut rest = vec![format!("{layers}/{number}")];
    let archive = disk.look(Path::new(&format!("{layers}/{number}.columns"))).unwrap().unwrap();
    found.others += archive.stored_bytes;
    while let Some(directory) = rest.pop() {
        for entry in disk.list(Path::new(&directory)).unwrap() {
            let path = format!("{directory}/{}", entry.name);
            let within = &path[layers.len()..];
            match () {
                () if entry.is_directory => rest.push(path),
                () if within.contains("/tiles.data.") => {}
                () if within.contains("/tiles") => found.tiles += entry.stored_bytes,
                () if within.contains("/heads") => found.heads += entry.stored_bytes,
                () => found.others += entry.stored_bytes,
            }
        }
    }
    found
}

/// `compact --encoding tiles` and `--heads` reported that nothing was written, because no layer was new.
#[test]
fn bytes_that_were_written_are_those_of_the_files_that_were_made() {
    let run = Run::with_threads(2).unwrap();
    let disk = FaultyDisk::new(1);
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let sample = Sample::random(N, 20_000, false, 2);
    sample.write(&shared, Path::new(DB), false).unwrap();
    let database = open(&disk);
    let keep = CompactOptions::default();
    let heads = Some(HeadedOptions { head_len: Some(2), memory_bytes: 1 << 30 });
    let written = |options| database.compact_with(options, &run).unwrap().written;
    assert_eq!(written(keep), WrittenBytes::default());
    let tiles = written(CompactOptions { tiles: Tiling::Make, ..keep });
    let files = layer_files(&disk, &database);
    assert!(tiles.tiles > 0 && tiles == WrittenBytes { tiles: files.tiles, ..WrittenBytes::default() });
    let made = written(CompactOptions { heads, ..keep });
    let files = layer_files(&disk, &database);
    assert!(made.heads > 0 && made == WrittenBytes { heads: files.heads, ..WrittenBytes::default() });
    let mut batch = database.batch();
    batch.add_edge(1, 2, &values(3)).unwrap();
    database.commit(batch, "one more").unwrap();
    let heads = heads.map(|heads| HeadedOptions { head_len: Some(3), ..heads });
    let report = database.compact_with(CompactOptions { heads, ..keep }, &run).unwrap();
    assert_eq!((report.layers_before, head_len(&report.forms)), (2, Some(3)));
    assert_eq!((report.written, report.bytes), (layer_files(&disk, &database), report.written.all()));
    assert_eq!(database.latest().unwrap().manifest().kept.unwrap().head_len, 3);
    assert!(check(&database.latest().unwrap(), &run).unwrap().is_sound());
}

/// What a layer shares with the one before is not written, and what is written follows the groups that
/// changed.
#[test]
fn bytes_of_tiles_that_were_written_follow_the_groups_that_changed() {
    let run = Run::with_threads(2).unwrap();
    // So many that their file is shared.
    let (disk, database, sample) = tiled_of(450_000, false, 2, &run);
    let only = CompactOptions { lists: Some(Encoding::Tiles), ..CompactOptions::default() };
    database.compact_with(only, &run).unwrap();
    for strips in [1, 3] {
        let mut batch = database.batch();
        for strip in 0..strips {
            let is_inside =
                |edge: &&(VertexId, VertexId, i32)| edge.0 >> 16 == strip && edge.1 >> 16 == strip;
            let &(u, v, _) = sample.edges.iter().filter(is_inside).nth(strips as usize).unwrap();
            batch.remove_edge(u64::from(u), u64::from(v)).unwrap();
        }
        database.commit(batch, "less").unwrap();
        let report = database.compact(&run).unwrap();
        let tiles = report.forms.tiles.clone().unwrap();
        assert_eq!((tiles.groups_rebuilt, tiles.groups_shared), (u64::from(strips), 10 - u64::from(strips)));
        assert_eq!(report.written.tiles, layer_files(&disk, &database).tiles);
        let (coded, strips) = (tiles.rebuilt_bytes(), u64::from(strips));
        assert!(coded > 0 && coded < tiles.data_bytes * (strips + 1) / 10, "{strips} {tiles:?}");
        // Beside the chunks: their index, degrees, and properties, which are written in each merge.
        assert!(report.written.tiles > coded && report.written.tiles - coded < 6 * 450_000, "{report:?}");
    }
}

#[test]
fn tiles_are_made_anew_where_old_ones_are_damaged_or_lack_a_property() {
    let run = Run::with_threads(2).unwrap();
    let (disk, database, sample) = tiled(false, 2, &run);
    let edges = in_first_strip(&sample);
    database.add_edge_property("length", Some(ElementType::F32), false, &run).unwrap();
    let version = database.latest().unwrap();
    assert!(version.tiles().unwrap().has_property(2, ElementType::F32), "the new layer has tiles with it");
    drop(version);
    let mut batch = database.batch();
    batch.remove_edge(edges[0].0, edges[0].1).unwrap();
    database.commit(batch, "one less").unwrap();
    assert_eq!(compacted(&database, &run).groups_rebuilt, 1);
    let layer = database.latest().unwrap().layer().number;
    database.close().unwrap();
    let data = format!("{DB}/layers/{layer}/tiles.data");
    disk.flip(Path::new(&data), 4096 + 1000, 3).unwrap();
    let database = open(&disk);
    let mut batch = database.batch();
    batch.remove_edge(edges[1].0, edges[1].1).unwrap();
    database.commit(batch, "one less").unwrap();
    assert_eq!(compacted(&database, &run).groups_copied, 0);
}

#[test]
fn tiles_and_heads_are_kept_when_the_encoding_of_lists_changes() {
    let run = Run::with_threads(2).unwrap();
    let (disk, database, _) = tiled(true, 2, &run);
    let heads = HeadedOptions { head_len: Some(2), memory_bytes: 1 << 30 };
    database.make_heads(heads, &run).unwrap();
    let coded = CompactOptions { lists: Some(Encoding::Compressed), ..CompactOptions::default() };
    let forms = database.compact_with(coded, &run).unwrap().forms;
    assert!(forms.tiles.as_ref().is_some_and(|tiles| tiles.groups_copied == 16));
    assert_eq!(head_len(&forms), Some(2), "compressed lists have heads too");
    let plain = CompactOptions { lists: Some(Encoding::Plain), ..CompactOptions::default() };
    let forms = database.compact_with(plain, &run).unwrap().forms;
    assert!(forms.tiles.is_some() && head_len(&forms) == Some(2) && forms.heads_left_out.is_none());
    database.close().unwrap();
    let database = open(&disk);
    let mut batch = database.batch();
    batch.add_edge(1, 2, &values(3)).unwrap();
    database.commit(batch, "one more").unwrap();
    let report = database.compact(&run).unwrap();
    assert_eq!(head_len(&report.forms), Some(2));
    assert!(database.latest().unwrap().stored_heads().unwrap().is_some());
}

#[test]
fn a_merge_without_memory_for_heads_says_so_and_the_next_one_makes_them() {
    let run = Run::with_threads(1).unwrap();
    let (_, database, _) = tiled(true, 2, &run);
    let heads = HeadedOptions { head_len: Some(2), memory_bytes: 1 << 30 };
    database.make_heads(heads, &run).unwrap();
    let change = |u: u64| {
        let mut batch = database.batch();
        batch.add_edge(u, 2, &values(3)).unwrap();
        database.commit(batch, "one more").unwrap();
    };
    change(1);
    let budget = Budget::new(256 << 10);
    let tight = Run::new(RunOptions { threads: 1, budget, ..RunOptions::default() }).unwrap();
    let forms = database.compact_with(CompactOptions::default(), &tight).unwrap().forms;
    assert_eq!(forms.heads, None);
    let missing = || database.latest().unwrap().manifest().missing_heads();
    assert_eq!(missing(), Some(2));
    let Some(HeadsLeftOut::Memory { needed_bytes, free_bytes }) = forms.heads_left_out else {
        panic!("{forms:?}")
    };
    assert!(needed_bytes > free_bytes && free_bytes <= 256 << 10, "{needed_bytes} of {free_bytes}");
    // There is one layer, and nothing to merge.
    let again = |run: &Run| database.compact_with(CompactOptions::default(), run).unwrap().forms;
    assert!(matches!(again(&tight).heads_left_out, Some(HeadsLeftOut::Memory { .. })));
    assert_eq!((head_len(&again(&run)), missing()), (Some(2), None));
    assert_eq!(again(&run), FormReport::default());
    change(3);
    assert_eq!(again(&tight).heads, None);
    change(4);
    let forms = database.compact_with(CompactOptions::default(), &run).unwrap().forms;
    assert_eq!((head_len(&forms), forms.heads_left_out), (Some(2), None));
    assert_eq!(missing(), None);
}

#[test]
fn a_failed_merge_leaves_the_old_tiles() {
    use esker_format::io::Faults;
    let run = Run::with_threads(1).unwrap();
    let (disk, database, sample) = tiled(false, 2, &run);
    let edges = in_first_strip(&sample);
    let mut batch = database.batch();
    batch.remove_edge(edges[0].0, edges[0].1).unwrap();
    database.commit(batch, "one less").unwrap();
    database.freeze(&run).unwrap();
    let before = digest(&database.latest().unwrap(), &run, Direction::Out);
    let mut failures = 0;
    for k in [3, 10, 14, 18, 22] {
        disk.set_faults(Faults { fail_at: Some(k), ..Faults::default() });
        failures += u32::from(database.compact(&run).is_err());
        disk.set_faults(Faults::default());
        let view = database.latest().unwrap().view().resident(TILES).unwrap();
        assert_eq!(digest(view.version(), &run, Direction::Out), before, "{k}");
    }
    assert!(failures > 0);
}

//! Databases of all kinds with flipped bytes, pages that cannot be read, and files that are gone.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker_format::io::{Disk, FaultyDisk, RealDisk};
use esker_format::testing::rewrite_archive;
use esker_format::{Edit, ElementType, Encoding, HeadOrder, HeadsRecord, IdMapKind, Result};
use esker_graph::{Direction, Flow, Graph, Piece, Run, Select, VertexId, Visitor, vertex};
use esker_layers::graph::views::window::{Copies, TimeWindow};
use esker_layers::graph::{Access, GraphEncoding, HeadedOptions};
use esker_layers::ids::ExternalId;
use esker_layers::pool::PoolOptions;
use esker_layers::property::PropertyValue;
use esker_layers::tiles::ConvertOptions;

use crate::commit::Batch;
use crate::database::{Database, DatabaseOptions};
use crate::manifest::{ManifestWriter, lock_writer};
use crate::sample::Sample;
use crate::store::Store;
use crate::version::Version;

use super::check;

const DB: &str = "web.esker";

/// Vertices of every sample.
const VERTICES: u32 = 40;

fn shared(disk: &FaultyDisk) -> Arc<dyn Disk> {
    Arc::new(disk.clone())
}

fn open(disk: &FaultyDisk) -> Database {
    let options = DatabaseOptions { threads: 1, auto_merge: Some(false), ..DatabaseOptions::default() };
    Database::open_on(shared(disk), Path::new(DB), options).unwrap()
}

fn sample(directed: bool, ids: IdMapKind, encoding: Encoding, disk: &FaultyDisk) -> Sample {
    let sample = Sample { ids, encoding, ..Sample::random(VERTICES as usize, 150, directed, 8) };
    sample.write(&shared(disk), Path::new(DB), false).unwrap();
    sample
}

/// Adds the external id of a vertex, which may be a new one, to a change.
fn with_id<R>(sample: &Sample, v: impl Into<u64>, change: impl FnOnce(ExternalId<'_>) -> R) -> R {
    let name = sample.name(vertex(v.into() as usize));
    match sample.ids {
        IdMapKind::Texts => change(name.as_str().into()),
        _ => change(name.parse::<u64>().unwrap().into()),
    }
}

/// Commits edges that come and go, new vertices, values of vertices and a removed vertex.
fn commit(db: &Database, sample: &Sample, salt: u32) {
    let mut batch = db.batch();
    batch.define_vertex_property("age", Some(ElementType::I64));
    batch.define_vertex_property("name", None);
    let edge = |batch: &mut Batch, from: u32, to: u32| {
        let values = [PropertyValue::from(7 * i64::from(from)), PropertyValue::Text(b"depends on")];
        with_id(sample, from, |a| with_id(sample, to, |b| batch.add_edge(a, b, &values))).unwrap();
    };
    let newest = VERTICES + salt;
    for k in 0..20 {
        edge(&mut batch, k * 3 % VERTICES, (k + salt) % newest);
    }
    edge(&mut batch, newest, 1);
    for &(from, to, _) in sample.edges.iter().skip(salt as usize).step_by(9).take(6) {
        with_id(sample, from, |a| with_id(sample, to, |b| batch.remove_edge(a, b))).unwrap();
    }
    for v in [3, 9, newest] {
        let age = PropertyValue::from(i64::from(v + salt));
        with_id(sample, v, |id| batch.set_vertex(id, "age", Some(age))).unwrap();
        with_id(sample, v, |id| batch.set_vertex(id, "name", Some(PropertyValue::Text(b"a name")))).unwrap();
    }
    with_id(sample, 20 + salt, |id| batch.remove_vertex(id)).unwrap();
    db.commit(batch, "a change").unwrap();
}

/// A plain import, with a tag.
fn plain() -> FaultyDisk {
    let disk = FaultyDisk::new(1);
    sample(false, IdMapKind::Identity, Encoding::Plain, &disk);
    let db = open(&disk);
    db.tag("first", 1).unwrap();
    db.close().unwrap();
    disk
}

/// Compressed lists of a directed graph with text ids; permuted ids.
fn imported(directed: bool, ids: IdMapKind) -> FaultyDisk {
    let disk = FaultyDisk::new(1);
    sample(directed, ids, Encoding::Compressed, &disk);
    disk
}

/// A base layer, two layers above it, one of which merges two commits, and a commit in the log.
fn layered(directed: bool, ids: IdMapKind) -> FaultyDisk {
    let disk = FaultyDisk::new(1);
    let sample = sample(directed, ids, Encoding::Plain, &disk);
    let (db, run) = (open(&disk), Run::with_threads(1).unwrap());
    for salt in [1, 2] {
        commit(&db, &sample, salt);
    }
    db.freeze(&run).unwrap();
    commit(&db, &sample, 3);
    db.freeze(&run).unwrap();
    commit(&db, &sample, 4);
    db.tag("third", 3).unwrap();
    db.close().unwrap();
    disk
}

/// Tiles with weights, of the only layer or below a later one.
fn tiled(directed: bool, is_layered: bool) -> FaultyDisk {
    let disk = FaultyDisk::new(1);
    let sample = sample(directed, IdMapKind::Integers, Encoding::Plain, &disk);
    let (db, run) = (open(&disk), Run::with_threads(1).unwrap());
    commit(&db, &sample, 1);
    db.compact_to(Some(Encoding::Compressed), &run).unwrap();
    db.make_tiles(&ConvertOptions::default(), &run).unwrap();
    if is_layered {
        commit(&db, &sample, 2);
        db.freeze(&run).unwrap();
    }
    db.close().unwrap();
    disk
}

/// Tiles with weights instead of the lists of the oldest layer, which holds two versions; alone or below a
/// later one.
fn only_tiles(directed: bool, is_layered: bool) -> FaultyDisk {
    let disk = tiled(directed, is_layered);
    let (db, run) = (open(&disk), Run::with_threads(1).unwrap());
    db.compact_to(Some(Encoding::Tiles), &run).unwrap();
    if is_layered {
        let sample = sample(directed, IdMapKind::Integers, Encoding::Plain, &FaultyDisk::new(2));
        commit(&db, &sample, 3);
        db.freeze(&run).unwrap();
    }
    db.close().unwrap();
    disk
}

/// Heads of the lists of the oldest layer, below a later one.
fn headed(directed: bool) -> FaultyDisk {
    let disk = FaultyDisk::new(1);
    let sample = sample(directed, IdMapKind::Integers, Encoding::Plain, &disk);
    let (db, run) = (open(&disk), Run::with_threads(1).unwrap());
    db.make_heads(HeadedOptions { head_len: Some(2), memory_bytes: 64 << 20 }, &run).unwrap();
    commit(&db, &sample, 1);
    db.freeze(&run).unwrap();
    db.close().unwrap();
    disk
}

/// All files, by path.
fn files(disk: &FaultyDisk) -> Vec<(PathBuf, Vec<u8>)> {
    let store = Store::open_on(shared(disk), Path::new(DB)).unwrap();
    let files = store.files().unwrap().into_iter();
    files.map(|(path, _)| (path.clone(), disk.read(&path).unwrap())).collect()
}

/// What `esker check` does; the first problem.
fn problem(disk: &FaultyDisk, run: &Run) -> Option<String> {
    let outcome = || -> Result<Option<String>> {
        let store = Store::open_on(shared(disk), Path::new(DB))?;
        store.versions()?;
        if let Some((path, bytes)) = store.check_log(run)?.unfinished.first() {
            return Ok(Some(format!("{} ends with {bytes} bytes that are no record", path.display())));
        }
        let report = check(&store.at(store.manifest().versions.last().unwrap().number)?, run)?;
        Ok(report.problems.first().map(ToString::to_string))
    };
    outcome().unwrap_or_else(|error| Some(error.to_string()))
}

/// Offsets to flip: of zeros among zeros, as in header pages, few, and of the others a third; all if
/// `ESKER_CASES` asks for many cases.
fn offsets(content: &[u8]) -> impl Iterator<Item = usize> {
    let cases = std::env::var("ESKER_CASES").map_or(0, |cases| cases.parse::<u32>().unwrap());
    (0..content.len()).filter(move |&at| {
        let around = &content[at.saturating_sub(1)..content.len().min(at + 2)];
        let step = if around.iter().any(|&byte| byte != 0) { 3 } else { 61 };
        at % step == 0 || cases >= 1000
    })
}

/// Databases of all kinds.
fn databases() -> [(&'static str, FaultyDisk); 10] {
    [
        ("plain", plain()),
        ("texts", imported(true, IdMapKind::Texts)),
        ("permuted", imported(false, IdMapKind::Permuted)),
        ("layered", layered(true, IdMapKind::Integers)),
        ("layered texts", layered(false, IdMapKind::Texts)),
        ("tiled", tiled(true, false)),
        ("tiled below a layer", tiled(false, true)),
        ("tiles only", only_tiles(true, false)),
        ("tiles only below a layer", only_tiles(false, true)),
        ("headed", headed(true)),
    ]
}

#[test]
fn every_flipped_byte_is_reported() {
    let run = Run::with_threads(1).unwrap();
    for (name, disk) in databases() {
        assert_eq!(problem(&disk, &run), None, "{name}");
        for (path, content) in files(&disk) {
            let is_missed = |&at: &usize| {
                let damaged = disk.fork();
                damaged.flip(&path, at as u64, (at % 8) as u8).unwrap();
                problem(&damaged, &run).is_none()
            };
            let missed: Vec<usize> = offsets(&content).filter(is_missed).collect();
            assert_eq!(missed, [0; 0], "{name}: flipped bytes of {} that nothing reports", path.display());
        }
    }
}

/// The least and the greatest time of a version, the arcs in a window, and all edges.
type WindowFound = (Option<(i64, i64)>, usize, u64);

/// Damage must move neither the ends of a window nor the least and the greatest time, nor make a layer look
/// as if it had none.
#[test]
fn a_flipped_byte_never_changes_the_edges_of_a_window() {
    let run = Run::with_threads(1).unwrap();
    let window = TimeWindow { after: 20, until: 120, copies: Copies::All };
    let read = |disk: &FaultyDisk| -> Result<WindowFound> {
        let version = Version::open(&shared(disk), Path::new(DB))?;
        let range = version.time_range("weight", &run)?;
        let view = version.view().window("weight", window, true, &run)?;
        let counts = view.graph::<i32>(&run)?.scan(&run, Direction::Out, Select::All, &Count)?;
        Ok((range, counts.into_iter().sum(), view.num_edges()))
    };
    let layered_integers = layered(true, IdMapKind::Integers);
    for (name, disk) in [
        ("layered", layered_integers),
        ("texts", layered(false, IdMapKind::Texts)),
        ("tiled", tiled(false, true)),
        ("tiles only", only_tiles(true, true)),
    ] {
        let sound = read(&disk).unwrap();
        assert!(sound.1 > 10, "{name}: {sound:?}");
        let mut refused = 0;
        for (path, content) in files(&disk) {
            for at in offsets(&content).step_by(7) {
                let damaged = disk.fork();
                damaged.flip(&path, at as u64, (at % 8) as u8).unwrap();
                match read(&damaged) {
                    Ok(found) => assert_eq!(found, sound, "{name}: byte {at} of {}", path.display()),
                    Err(_) => refused += 1,
                }
            }
        }
        assert!(refused > 10, "{name}: only {refused} damages were met");
    }
}

/// Counts arcs.
struct Count;

impl Visitor<i32> for Count {
    type State = usize;

    fn new_state(&self) -> usize {
        0
    }

    fn visit(&self, count: &mut usize, _: VertexId, piece: Piece<'_, i32>) -> Flow {
        *count += piece.targets.len();
        Flow::More
    }
}

/// The number of arcs, as analyses read them with an encoding and a residency.
fn arcs(disk: &FaultyDisk, access: Access, run: &Run) -> Result<usize> {
    arcs_of(&Version::open(&shared(disk), Path::new(DB))?, access, run)
}

fn arcs_of(version: &Version, access: Access, run: &Run) -> Result<usize> {
    let view = version.view().resident(access)?;
    let counts = view.graph::<i32>(run)?.scan(run, Direction::Out, Select::All, &Count)?;
    Ok(counts.into_iter().sum())
}

/// Every encoding and residency.
fn accesses() -> [Access; 5] {
    let pool = PoolOptions { bytes: 16 << 20, ..PoolOptions::of_lists() };
    [
        Access::Mapped(GraphEncoding::Lists),
        Access::Mapped(GraphEncoding::Tiles),
        Access::Pooled(GraphEncoding::Tiles, pool),
        Access::Pooled(GraphEncoding::Lists, pool),
        Access::Headed(HeadedOptions { head_len: Some(2), memory_bytes: 64 << 20 }),
    ]
}

#[test]
fn a_page_that_cannot_be_read_is_an_error_that_names_the_file() {
    let run = Run::with_threads(1).unwrap();
    for (name, disk) in databases() {
        let sound = accesses().map(|access| arcs(&disk, access, &run));
        for (path, content) in files(&disk) {
            for page in (0..content.len() as u64).step_by(4096) {
                let damaged = disk.fork();
                damaged.break_page(&path, page).unwrap();
                let expected = format!("cannot read {}: ", path.display());
                let problem = problem(&damaged, &run).unwrap_or_default();
                assert!(problem.starts_with(&expected), "{name}, {expected}{page}: {problem:?}");
                for (access, sound) in accesses().into_iter().zip(&sound) {
                    match (arcs(&damaged, access, &run), sound) {
                        (Ok(found), sound) => {
                            assert_eq!(found, *sound.as_ref().unwrap(), "{name}, {expected}{page}");
                        }
                        (Err(error), Ok(_)) => {
                            assert!(error.to_string().starts_with(&expected), "{name}: {error}");
                        }
                        (Err(_), Err(_)) => {}
                    }
                }
            }
        }
    }
}

/// A database whose large columns are files of their own, plain and with tiles.
fn large() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(DB);
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let sample = Sample { encoding: Encoding::Plain, ..Sample::random(3000, 400_000, true, 8) };
    sample.write(&disk, &path, false).unwrap();
    let db =
        Database::open_on(disk, &path, DatabaseOptions { threads: 2, ..DatabaseOptions::default() }).unwrap();
    db.make_tiles(&ConvertOptions::default(), &Run::with_threads(2).unwrap()).unwrap();
    db.close().unwrap();
    (directory, path)
}

#[test]
fn an_open_version_outlives_its_files() {
    let run = Run::with_threads(2).unwrap();
    let (_directory, path) = large();
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let open = || Version::open(&disk, &path).unwrap();
    let versions = accesses().map(|access| (access, open()));
    let (store, checked) = (Store::open(&path).unwrap(), open());
    let db = Database::open_on(Arc::clone(&disk), &path, DatabaseOptions::default()).unwrap();
    // New tiles take the names of the old ones; then a new layer replaces the old one.
    db.make_tiles(&ConvertOptions { group: 1, ..ConvertOptions::default() }, &run).unwrap();
    assert_eq!(
        arcs_of(&open(), Access::Pooled(GraphEncoding::Tiles, PoolOptions::default()), &run).unwrap(),
        400_000
    );
    db.compact_to(Some(Encoding::Compressed), &run).unwrap();
    db.close().unwrap();
    assert!(disk.look(&path.join("layers/1.columns")).unwrap().is_none());
    for (access, version) in versions {
        assert_eq!(arcs_of(&version, access, &run).unwrap(), 400_000, "{access:?}");
    }
    let report = check(&checked, &run).unwrap();
    assert!(report.is_sound(), "{:?}", report.problems);
    assert_eq!(store.latest().unwrap().num_arcs(), 400_000);
    assert!(store.files().unwrap().iter().any(|(path, _)| path.ends_with("MANIFEST")));
}

#[test]
fn a_file_cut_short_after_it_was_opened_is_an_error() {
    let run = Run::with_threads(2).unwrap();
    let (_directory, path) = large();
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let open = || Version::open(&disk, &path).unwrap();
    let versions = accesses().map(|access| (access, open()));
    let checked = open();
    for name in ["out.targets", "tiles.data", "tiles/property.0"] {
        let file = path.join("layers/1").join(name);
        let file = disk.open_for_writing(&file).unwrap();
        file.set_length(file.len().unwrap() / 2).unwrap();
    }
    for (access, version) in versions {
        let error = arcs_of(&version, access, &run).unwrap_err().to_string();
        assert!(error.contains("cut short") || error.contains("too early"), "{access:?}: {error}");
    }
    let report = check(&checked, &run).unwrap();
    let problems: Vec<String> = report.problems.iter().map(ToString::to_string).collect();
    assert!(
        problems.len() >= 3 && problems.iter().all(|problem| problem.contains("cut short")),
        "{problems:?}"
    );
}

#[test]
fn a_forged_chain_of_fragments_is_damage_and_takes_no_memory() {
    // The vertex table once grew to the fragment that a forged address names: 2^38 bits and more.
    let (disk, run) = (layered(true, IdMapKind::Integers), Run::with_threads(1).unwrap());
    rewrite_archive(&shared(&disk), &Path::new(DB).join("layers/2"), |name, content| {
        if name == "out.previous" {
            let end = content.len() - 4;
            content[4096..end].as_chunks_mut::<8>().0.fill((1_u64 << 40 | 1 << 38).to_le_bytes());
            let checksum = crc32c::crc32c(&content[4096..end]);
            content[end..].copy_from_slice(&checksum.to_le_bytes());
        }
    });
    let version = Version::open(&shared(&disk), Path::new(DB)).unwrap();
    let error = version.view().graph::<()>(&run).unwrap_err().to_string();
    assert!(error.contains("goes on in fragment 274877906944"), "{error}");
}

#[test]
fn changes_of_a_property_by_no_version_of_their_layer_are_reported() {
    let (disk, run) = (layered(true, IdMapKind::Integers), Run::with_threads(1).unwrap());
    rewrite_archive(&shared(&disk), &Path::new(DB).join("layers/2"), |name, content| {
        if name.starts_with("property.") && name.ends_with(".codes") {
            let end = content.len() - 4;
            // Codes 1 and 2 become 9 and 10.
            content[4096..end].as_chunks_mut::<4>().0.iter_mut().for_each(|code| code[0] += 8);
            let checksum = crc32c::crc32c(&content[4096..end]);
            content[end..].copy_from_slice(&checksum.to_le_bytes());
        }
    });
    let found = problem(&disk, &run).unwrap();
    assert!(found.contains("code 9 in a layer of 2 versions"), "{found}");
}

#[test]
fn heads_of_a_forged_length_are_checked_and_read_without_memory_for_it() {
    let (disk, run) = (FaultyDisk::new(1), Run::with_threads(1).unwrap());
    sample(true, IdMapKind::Integers, Encoding::Plain, &disk);
    let db = open(&disk);
    // They hold all lists, so they are right for any greater length too.
    db.make_heads(HeadedOptions { head_len: Some(1000), memory_bytes: 64 << 20 }, &run).unwrap();
    db.close().unwrap();
    let mut manifest = ManifestWriter::open(&lock_writer(&shared(&disk), Path::new(DB)).unwrap()).unwrap();
    let stamp = manifest.manifest().heads[0].stamp;
    let record = HeadsRecord { layer: 1, stamp, head_len: 1 << 61, order: HeadOrder::First };
    manifest.append(&[Edit::RemoveHeads { layer: 1 }, Edit::SetHeads(record)]).unwrap();
    // A check once took memory for twice the length.
    assert_eq!(problem(&disk, &run), None);
    let headed = Access::Headed(HeadedOptions { head_len: None, memory_bytes: 64 << 20 });
    let mapped = Access::Mapped(GraphEncoding::Lists);
    assert_eq!(arcs(&disk, headed, &run).unwrap(), arcs(&disk, mapped, &run).unwrap());
}

#[test]
fn tiles_with_other_values_than_the_lists_are_reported() {
    for directed in [false, true] {
        let (disk, run) = (FaultyDisk::new(1), Run::with_threads(1).unwrap());
        sample(directed, IdMapKind::Integers, Encoding::Plain, &disk);
        let db = open(&disk);
        db.make_tiles(&ConvertOptions::default(), &run).unwrap();
        db.close().unwrap();
        assert!(problem(&disk, &run).is_none());
        rewrite_archive(&shared(&disk), &Path::new(DB).join("layers/1/tiles"), |name, content| {
            if name == "property.0" {
                let end = content.len() - 4;
                content[4096] ^= 1;
                let checksum = crc32c::crc32c(&content[4096..end]);
                content[end..].copy_from_slice(&checksum.to_le_bytes());
            }
        });
        let found = problem(&disk, &run).unwrap();
        assert!(
            found.contains("the tiles do not contain the edges of the lists, with the same values of "),
            "{found}"
        );
    }
}

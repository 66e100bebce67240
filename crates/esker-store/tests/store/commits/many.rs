//! Very many versions, and very large ones: the cost of a step does not grow with the number of versions.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use esker_graph::{Cancel, Direction, Run, Stop};
use esker_store::io::{Disk, Faults, FaultyDisk, RealDisk};
use esker_store::property::PropertyValue;
use esker_store::{CommitOptions, Database, DatabaseOptions, Error, Store};

use super::model::{Edges, NUM_IDS};

const COMMITS: u64 = 10_000;

/// Number of disk operations of `f`, and its result.
fn operations<R>(disk: &FaultyDisk, f: impl FnOnce() -> R) -> (u64, R) {
    disk.set_faults(Faults::default());
    let result = f();
    (disk.operations(), result)
}

fn commit_edge(db: &Database, number: u64) -> u64 {
    let mut batch = db.batch();
    batch.add_edge(number % NUM_IDS, NUM_IDS + number / 20, &[PropertyValue::I32(number as i32)]).unwrap();
    db.commit(batch, "one edge").unwrap()
}

fn bytes(disk: &Arc<dyn Disk>, path: &Path, part: &str) -> u64 {
    let files = Store::open_on(Arc::clone(disk), path).unwrap().files().unwrap();
    files.iter().filter(|file| file.0.starts_with(path.join(part))).map(|file| file.1).sum()
}

/// A small database on a disk that counts, never merged by itself.
struct Place {
    disk: FaultyDisk,
    shared: Arc<dyn Disk>,
    run: Run,
}

const PATH: &str = "web.esker";

impl Place {
    fn new() -> Self {
        let disk = FaultyDisk::new(1);
        let shared: Arc<dyn Disk> = Arc::new(disk.clone());
        Edges::imported().import(&shared, Path::new(PATH));
        Self { disk, shared, run: Run::with_threads(1).unwrap() }
    }

    fn open(&self) -> Database {
        let options = DatabaseOptions { threads: 1, auto_merge: Some(false), ..DatabaseOptions::default() };
        Database::open_on(Arc::clone(&self.shared), Path::new(PATH), options).unwrap()
    }
}

/// Reads a whole version: it has as many arcs as edges were added.
fn verify_number(db: &Database, number: u64) {
    let version = db.at(number).unwrap();
    assert_eq!(version.num_edges(), NUM_IDS + number - 1);
    let vertices = (0..version.num_vertices()).map(esker_graph::vertex);
    let arcs: usize = vertices.map(|v| version.degree(Direction::Out, v).unwrap()).sum();
    assert_eq!(arcs as u64, version.num_edges());
}

#[test]
fn ten_thousand_commits_of_one_edge() {
    let place = Place::new();
    let Place { disk, shared, run } = &place;
    let path = Path::new(PATH);
    let db = place.open();
    // A commit is a write and a sync, from the first to the last.
    for number in 0..COMMITS {
        let (count, version) = operations(disk, || commit_edge(&db, number));
        assert_eq!(version, number + 2);
        assert!(count <= 2, "{count} operations for version {version}");
    }
    let log_bytes = bytes(shared, path, "log");
    assert!(log_bytes < 208 * COMMITS, "{} bytes a commit", log_bytes / COMMITS);
    db.close().unwrap();
    let (opening, db) = operations(disk, || place.open());
    // Two reads per record: one lists it, one reads it whole.
    assert!(opening < 2 * COMMITS + 200, "{opening} operations to open");
    let (freezing, outcome) = operations(disk, || db.freeze(run).unwrap());
    assert!(outcome.is_some() && freezing < 400, "{freezing} operations to freeze");
    assert!(bytes(shared, path, "MANIFEST") < 100 * COMMITS);
    assert_eq!(db.versions().len() as u64, COMMITS + 1);
    for version in [1, 2, 77, COMMITS / 2, COMMITS, COMMITS + 1] {
        verify_number(&db, version);
    }
    db.close().unwrap();
}

/// Freezes after every few commits: each layer costs the same, except for the manifest in memory.
#[test]
fn hundreds_of_layers() {
    let place = Place::new();
    let Place { disk, run, .. } = &place;
    let db = place.open();
    let mut counts = Vec::new();
    for number in 0..300 {
        commit_edge(&db, number);
        counts.push(operations(disk, || db.freeze(run).unwrap()).0);
    }
    let (early, late): (u64, u64) = (counts[20..60].iter().sum(), counts[260..].iter().sum());
    assert!(late * 10 <= early * 11, "{early} operations for 40 freezes, later {late}");
    assert_eq!(db.manifest().layers.len(), 301);
    for version in [1, 2, 150, 301] {
        assert_eq!(db.at(version).unwrap().num_edges(), NUM_IDS + version - 1);
    }
    let report = db.compact(run).unwrap();
    assert_eq!((report.layers_before, report.layers), (301, 1));
    for version in [1, 2, 150, 301] {
        verify_number(&db, version);
    }
}

/// Commits a number of edges at once, freezes and reads them.
fn one_commit(num_edges: u64) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("web.esker");
    Edges::imported().import(&(Arc::new(RealDisk) as _), &path);
    // No automatic freeze.
    let options = DatabaseOptions { freeze_bytes: Some(u64::MAX), ..DatabaseOptions::default() };
    let db = Database::open(&path, options).unwrap();
    let mut batch = db.batch();
    let num_ids = num_edges / 16;
    for number in 0..num_edges {
        // Distinct edges, not in order.
        let (u, v) = (number % num_ids, number / num_ids * 31 + number * 7919 % num_ids);
        batch.add_edge(u, v % num_ids, &[PropertyValue::I32(number as i32)]).unwrap();
    }
    let number = db.commit(batch, "very many").unwrap();
    let v = db.vertex_of(5.into()).unwrap().unwrap();
    let degree = db.degree(Direction::Out, v).unwrap();
    assert!((16..=17).contains(&degree), "{degree}");
    let run = Run::with_threads(2).unwrap();
    let outcome = db.freeze(&run).unwrap().unwrap();
    // The import added some.
    assert_eq!(outcome.added + outcome.updated + outcome.unchanged, num_edges, "{outcome:?}");
    db.close().unwrap();
    let version = Store::open(&path).unwrap().at(number).unwrap();
    assert_eq!(version.num_edges(), outcome.added + NUM_IDS);
    assert_eq!(version.degree(Direction::Out, v).unwrap(), degree);
}

#[test]
fn a_commit_cancelled_at_any_moment_changes_nothing() {
    let place = Place::new();
    let db = place.open();
    let batch = |seed: u64| {
        let mut batch = db.batch();
        for number in 0..100_000 {
            let (u, v) = (NUM_IDS + number * seed % 10_007, NUM_IDS + number);
            batch.add_edge(u, v, &[PropertyValue::I32(number as i32)]).unwrap();
        }
        batch
    };
    let (mut cancelled, mut newest) = (0, 1);
    for step in 0..20 {
        let cancel = Cancel::default();
        let options = CommitOptions { cancel: cancel.clone(), ..CommitOptions::default() };
        let batch = batch(step + 1);
        let outcome = std::thread::scope(|scope| {
            if step == 0 {
                cancel.cancel();
            }
            scope.spawn(|| {
                std::thread::sleep(Duration::from_micros(step * 500));
                cancel.cancel();
            });
            db.commit_with(batch, &options)
        });
        match outcome {
            Ok(committed) => newest = committed.version,
            Err(Error::Stop(Stop::Cancelled)) => cancelled += 1,
            Err(other) => panic!("{other}"),
        }
        assert_eq!(db.versions().len() as u64, newest);
    }
    assert!(cancelled > 0);
    let committed = db.commit_with(batch(1), &CommitOptions::default()).unwrap();
    assert_eq!(committed.version, newest + 1);
    db.close().unwrap();
    // The log holds what was committed, and no ids of cancelled commits.
    let db = place.open();
    let version = db.at(newest + 1).unwrap();
    assert_eq!(version.num_vertices() as u64, NUM_IDS + 100_000);
}

#[test]
fn a_commit_of_a_million_edges() {
    one_commit(1_000_000);
}

/// Takes about 20 GB of memory: `cargo test --release -p esker-store --test store hundred -- --ignored`.
#[test]
#[ignore = "takes minutes, and as much memory as a large machine has"]
fn a_commit_of_a_hundred_million_edges() {
    one_commit(std::env::var("ESKER_TEST_EDGES").map_or(100_000_000, |edges| edges.parse().unwrap()));
}

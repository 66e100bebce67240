//! Many threads at once: some commit, one freezes, merges, names and forgets, others pin versions and read
//! them. Every version that anybody sees is what the commits up to it made. `ESKER_TEST_SECONDS` makes it
//! last longer.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

use esker_graph::Run;
use esker_graph::random::Random;
use esker_store::format::Retention;
use esker_store::io::RealDisk;
use esker_store::{Database, DatabaseOptions, Error, Store};

use super::model::{Change, Edges, fill, random_change, sums_of};

/// Threads that commit, each to edges with its own sources.
const COMMITTERS: u64 = 3;
const READERS: u64 = 2;

/// A sum for each committer, by version. Every reading of a version gives the same sums.
#[derive(Debug, Default)]
struct Seen(Mutex<BTreeMap<u64, Vec<u64>>>);

impl Seen {
    fn note(&self, version: u64, sums: &[u64]) {
        let mut seen = self.0.lock().unwrap();
        let first = seen.entry(version).or_insert_with(|| sums.to_vec());
        assert_eq!(first, sums, "version {version} changed");
    }
}

/// Commits; returns the sums of its edges, each with its first version.
fn commit(db: &Database, part: u64, is_over: &AtomicBool) -> BTreeMap<u64, u64> {
    let mut noise = Random::new(part);
    let mut edges = Edges::imported();
    let mut sums = BTreeMap::from([(1, edges.sum(part, COMMITTERS))]);
    while !is_over.load(Ordering::Relaxed) {
        let count = 1 + noise.below(20);
        let changes: Vec<Change> = (0..count).map(|_| random_change(&mut noise, part, COMMITTERS)).collect();
        edges.change(&changes);
        let mut batch = db.batch();
        fill(&mut batch, &changes).unwrap();
        let version = db.commit(batch, "").unwrap();
        sums.insert(version, edges.sum(part, COMMITTERS));
        // No other thread changes these edges, so the newest version has them.
        let (u, v, _) = changes[0];
        let find = |id: u64| db.vertex_of(id.into()).unwrap();
        let found = match (find(u), find(v)) {
            (Some(u), Some(v)) => db.edge_bits(u, v).unwrap(),
            _ => Vec::new(),
        };
        let found: Vec<i32> = found.iter().map(|bits| (bits[0] as u32).cast_signed()).collect();
        assert_eq!(found, Vec::from_iter(edges.get(u, v)), "edge {u} {v} after version {version}");
    }
    sums
}

/// Whether an error only says that a version was forgotten meanwhile.
fn is_forgotten(error: &Error, version: u64) -> bool {
    let gone = format!("has no version {version}: ");
    matches!(error, Error::NotFound { reason, .. } if reason.to_string().contains(&gone))
}

/// Whether an error only says that a version was forgotten meanwhile, has a tag, or is the only one.
fn cannot_be_forgotten(error: &Error, version: u64) -> bool {
    let tagged = format!("version {version} has the tag \"here\": ");
    let only = format!("version {version} is the only version of the database");
    let others = |reason: &String| reason.starts_with(&tagged) || reason.starts_with(&only);
    is_forgotten(error, version) || matches!(error, Error::Invalid(reason) if others(&reason.to_string()))
}

fn read(db: &Database, reader: u64, seen: &Seen, is_over: &AtomicBool) -> u64 {
    let mut noise = Random::new(1000 + reader);
    let mut count = 0;
    while !is_over.load(Ordering::Relaxed) {
        let versions = db.versions();
        let picked = match noise.below(3) {
            0 => versions.len() - 1,
            _ => noise.below(versions.len() as u64) as usize,
        };
        let number = versions[picked].number;
        let pinned = match db.at(number) {
            Ok(pinned) => pinned,
            Err(error) if is_forgotten(&error, number) => continue,
            Err(error) => panic!("version {number}: {error}"),
        };
        let sums = sums_of(&pinned, COMMITTERS).unwrap();
        if noise.below(4) == 0 {
            // Pinned, it stays, even if it is forgotten and its layers are merged.
            std::thread::sleep(Duration::from_millis(noise.below(30)));
            assert_eq!(sums_of(&pinned, COMMITTERS).unwrap(), sums, "version {number}");
        }
        seen.note(number, &sums);
        count += 1;
    }
    count
}

/// Opens the database as another process would.
fn read_from_outside(path: &Path, seen: &Seen, is_over: &AtomicBool) {
    let mut noise = Random::new(7);
    while !is_over.load(Ordering::Relaxed) {
        let store = Store::open(path).unwrap();
        let versions = store.versions().unwrap();
        for _ in 0..3 {
            let number = versions[noise.below(versions.len() as u64) as usize].number;
            match store.at(number) {
                Ok(version) => seen.note(number, &sums_of(&version, COMMITTERS).unwrap()),
                // It was in the log when it was listed, and was frozen and forgotten since.
                Err(error) => assert!(is_forgotten(&error, number), "version {number}: {error}"),
            }
        }
    }
}

fn maintain(db: &Database, is_over: &AtomicBool) {
    let mut noise = Random::new(2000);
    let run = Run::with_threads(1).unwrap();
    while !is_over.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(noise.below(20)));
        let versions = db.versions();
        let number = versions[noise.below(versions.len() as u64) as usize].number;
        match noise.below(16) {
            0..5 => drop(db.freeze(&run).unwrap()),
            5 => drop(db.compact(&run).unwrap()),
            6..8 => drop(db.merge(&run).unwrap()),
            8..13 => {
                if let Err(error) = db.forget(number) {
                    assert!(cannot_be_forgotten(&error, number), "{error}");
                }
            }
            13 | 14 => {
                if let Err(error) = db.tag("here", number) {
                    assert!(is_forgotten(&error, number), "{error}");
                }
            }
            _ => {
                let retention = if noise.below(2) == 0 { Retention::All } else { Retention::Last(50) };
                db.retain(retention).unwrap();
            }
        }
    }
}

#[test]
fn every_version_that_is_seen_is_what_its_commits_made() {
    let seconds = std::env::var("ESKER_TEST_SECONDS").map_or(2, |seconds| seconds.parse().unwrap());
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("web.esker");
    Edges::imported().import(&(Arc::new(RealDisk) as _), &path);
    let options = DatabaseOptions {
        threads: 1,
        segment_bytes: 50_000,
        freeze_bytes: Some(200_000),
        ..DatabaseOptions::default()
    };
    let db = Database::open(&path, options).unwrap();
    let (seen, is_over) = (Seen::default(), AtomicBool::new(false));
    let start = Instant::now();
    let (sums, reads) = std::thread::scope(|scope| {
        let committers: Vec<_> = (0..COMMITTERS)
            .map(|part| {
                scope.spawn({
                    let (db, is_over) = (&db, &is_over);
                    move || commit(db, part, is_over)
                })
            })
            .collect();
        let readers: Vec<_> = (0..READERS)
            .map(|reader| {
                scope.spawn({
                    let (db, seen, is_over) = (&db, &seen, &is_over);
                    move || read(db, reader, seen, is_over)
                })
            })
            .collect();
        let others = [
            scope.spawn(|| maintain(&db, &is_over)),
            scope.spawn(|| read_from_outside(&path, &seen, &is_over)),
        ];
        let all_run = || {
            !committers.iter().any(ScopedJoinHandle::is_finished)
                && !readers.iter().any(ScopedJoinHandle::is_finished)
                && !others.iter().any(ScopedJoinHandle::is_finished)
        };
        while start.elapsed() < Duration::from_secs(seconds) && all_run() {
            std::thread::sleep(Duration::from_millis(10));
        }
        is_over.store(true, Ordering::Relaxed);
        let sums: Vec<_> = committers.into_iter().map(|thread| thread.join().unwrap()).collect();
        let reads: u64 = readers.into_iter().map(|thread| thread.join().unwrap()).sum();
        (sums, reads)
    });
    db.close().unwrap();
    let seen = seen.0.into_inner().unwrap();
    for (version, found) in &seen {
        let expected: Vec<u64> =
            sums.iter().map(|sums| *sums.range(..=version).next_back().unwrap().1).collect();
        assert_eq!(*found, expected, "version {version}");
    }
    assert!(reads > 0 && !seen.is_empty());
    if seconds > 2 {
        let commits: usize = sums.iter().map(BTreeMap::len).sum();
        let told = format!("{commits} commits, {reads} reads of {} versions\n", seen.len());
        std::io::Write::write_all(&mut std::io::stdout(), told.as_bytes()).unwrap();
    }
}

//! Event times of commits, which the author chooses.

use std::path::Path;
use std::sync::Arc;

use esker_graph::Run;
use esker_store::format::{Retention, VersionRecord};
use esker_store::io::{Disk, FaultyDisk};
use esker_store::manifest::{VersionSelector, parse_time};
use esker_store::property::PropertyValue;
use esker_store::{CommitOptions, Committed, Database, DatabaseOptions, Result, Store};

use super::model::{Edges, NUM_IDS};

const PATH: &str = "web.esker";

fn disk() -> Arc<dyn Disk> {
    let disk: Arc<dyn Disk> = Arc::new(FaultyDisk::new(1));
    Edges::imported().import(&disk, Path::new(PATH));
    disk
}

fn open(disk: &Arc<dyn Disk>) -> Database {
    let options = DatabaseOptions { threads: 1, auto_merge: Some(false), ..DatabaseOptions::default() };
    Database::open_on(Arc::clone(disk), Path::new(PATH), options).unwrap()
}

fn ms(text: &str) -> u64 {
    *parse_time(text).unwrap().start()
}

fn commit(db: &Database, number: u64, time: Option<&str>) -> Result<Committed> {
    let mut batch = db.batch();
    batch.add_edge(number, NUM_IDS + number, &[PropertyValue::I32(1)]).unwrap();
    db.commit_with(batch, &CommitOptions { time_ms: time.map(ms), ..CommitOptions::default() })
}

fn at(versions: &[VersionRecord], time: &str) -> Result<u64> {
    time.parse::<VersionSelector>().unwrap().resolve(versions, &Default::default())
}

#[test]
fn versions_keep_the_event_time_and_the_time_of_the_commit() {
    let (disk, run) = (disk(), Run::with_threads(1).unwrap());
    let now = Store::open_on(Arc::clone(&disk), Path::new(PATH)).unwrap().versions().unwrap()[0].time_ms;
    let db = open(&disk);
    // The import took place now, so a history begins later.
    commit(&db, 1, Some("2111-06-01")).unwrap();
    db.freeze(&run).unwrap();
    commit(&db, 2, Some("2111-06-01")).unwrap();
    commit(&db, 3, Some("2112-01-01T12:00:00Z")).unwrap();
    let check = |versions: Vec<VersionRecord>| {
        let times: Vec<u64> = versions.iter().map(|version| version.time_ms).collect();
        let day = ms("2111-06-01");
        assert_eq!(times[1..4], [day, day, ms("2112-01-01T12:00:00Z")]);
        for version in &versions[1..4] {
            assert!((now..now + 600_000).contains(&version.committed_ms), "{version:?}");
        }
        assert_eq!(at(&versions[..4], "2111-05-31").unwrap(), 1);
        assert_eq!(at(&versions[..4], "2111-06-01").unwrap(), 3);
        assert_eq!(at(&versions[..4], "2112-01-01").unwrap(), 4);
    };
    check(db.versions());
    check(Store::open_on(Arc::clone(&disk), Path::new(PATH)).unwrap().versions().unwrap());
    db.close().unwrap();
    let db = open(&disk);
    check(db.versions());
    // Without a time, a commit is not before the last one.
    assert_eq!(commit(&db, 4, None).unwrap().version, 5);
    assert_eq!(db.versions()[4].time_ms, ms("2112-01-01T12:00:00Z"));
    db.freeze(&run).unwrap();
    check(db.versions());
    db.compact(&run).unwrap();
    check(db.versions());
    db.close().unwrap();
    check(Store::open_on(Arc::clone(&disk), Path::new(PATH)).unwrap().versions().unwrap());
}

#[test]
fn event_times_never_go_back() {
    let disk = disk();
    let db = open(&disk);
    commit(&db, 1, Some("2111-06-01")).unwrap();
    let error = commit(&db, 2, Some("2111-05-31")).unwrap_err().to_string();
    for part in ["2111-05-31T00:00:00Z", "2111-06-01T00:00:00Z", "version 2"] {
        assert!(error.contains(part), "{error}");
    }
    assert_eq!(db.versions().len(), 2);
    let options = CommitOptions { time_ms: Some(u64::MAX), ..CommitOptions::default() };
    assert!(db.commit_with(db.batch(), &options).unwrap_err().to_string().contains("year 10000"));
    // A forgotten version does not bind the later ones.
    db.forget(2).unwrap();
    assert_eq!(commit(&db, 2, Some("2111-05-31")).unwrap().version, 3);
}

#[test]
fn a_retention_since_a_time_means_event_times() {
    let disk = disk();
    let db = open(&disk);
    for (number, time) in [(1, "2111-01-01"), (2, "2111-02-01"), (3, "2111-03-01")] {
        commit(&db, number, Some(time)).unwrap();
    }
    db.retain(Retention::Since(ms("2111-02-15"))).unwrap();
    let kept: Vec<u64> = db.versions().iter().map(|version| version.number).collect();
    assert_eq!(kept, [3, 4]);
}

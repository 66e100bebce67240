//! Tests of the log: syncing, several threads, and readers during writes.

use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use esker_format::io::{Disk, Faults, RealDisk};
use esker_graph::Cancel;

use super::tests::{Known, OPTIONS, append, check, fault, new_disk, open, payload, read_only, start};
use super::{Log, LogOptions, LogReader, Sync};
use crate::holding::lock_writer;

#[test]
fn one_sync_serves_all_waiting_threads() {
    let disk = new_disk(2);
    let (log, _) = open(&disk, 2, LogOptions::default()).unwrap();
    for version in 2..=50 {
        append(&log, version).unwrap();
    }
    disk.set_faults(Faults::default());
    for version in [30, 2, 50] {
        log.wait(version).unwrap();
    }
    assert_eq!((disk.operations(), log.durable_version()), (1, 50));
}

#[test]
fn threads_append_and_wait_together() {
    let disk = new_disk(3);
    let (log, _) = open(&disk, 2, OPTIONS).unwrap();
    let turn = Mutex::new(());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let version = {
                        let _turn = turn.lock();
                        let version = log.next_version();
                        append(&log, version).unwrap();
                        version
                    };
                    log.wait(version).unwrap();
                    assert!(log.durable_version() >= version);
                }
            });
        }
    });
    disk.set_faults(fault(1, true));
    drop(log);
    disk.crash();
    assert_eq!(read_only(&disk, 2).unwrap().len(), 200);
}

#[test]
fn a_reader_follows_a_writer() {
    let directory = tempfile::tempdir().unwrap();
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let options = LogOptions { sync: Sync::Never, segment_bytes: 20_000 };
    let last = 3000;
    let lock = lock_writer(&disk, directory.path()).unwrap();
    std::thread::scope(|scope| {
        let log = Log::open(&lock, start(2), options, &Cancel::default(), |_| Ok(())).unwrap();
        scope.spawn(move || (2..=last).try_for_each(|version| append(&log, version)).unwrap());
        let mut reader = LogReader::open(disk, directory.path(), start(2)).unwrap();
        let mut expected = 2;
        let begun = Instant::now();
        while expected <= last {
            assert!(begun.elapsed() < Duration::from_secs(60), "at {expected}");
            if let Some(record) = reader.read_next().unwrap() {
                assert_eq!((record.version, record.payload), (expected, &payload(expected)[..]));
                expected += 1;
            }
        }
        assert_eq!(reader.next_version(), last + 1);
    });
}

#[test]
fn interval_syncs_in_the_background_and_never_does_not_sync() {
    let disk = new_disk(4);
    let never = LogOptions { sync: Sync::Never, ..OPTIONS };
    let (log, _) = open(&disk, 2, never).unwrap();
    disk.set_faults(Faults::default());
    append(&log, 2).unwrap();
    log.wait(2).unwrap();
    assert_eq!((disk.operations(), log.durable_version()), (1, 1));
    log.close().unwrap();
    let often = LogOptions { sync: Sync::Interval(Duration::from_millis(2)), ..OPTIONS };
    let (log, versions) = open(&disk, 2, often).unwrap();
    assert_eq!(versions, [2]);
    append(&log, 3).unwrap();
    log.wait(3).unwrap();
    let begun = Instant::now();
    while log.durable_version() < 3 {
        assert!(begun.elapsed() < Duration::from_secs(30));
        std::thread::sleep(Duration::from_millis(1));
    }
    disk.set_faults(Faults { die_at: Some(1), ..Faults::default() });
    append(&log, 4).unwrap_err();
    while !matches!(log.wait(3), Ok(())) || log.sync().is_ok() {
        assert!(begun.elapsed() < Duration::from_secs(30));
    }
}

#[test]
fn unsynced_commits_may_be_lost_but_leave_no_gap() {
    let mut ends = BTreeSet::new();
    for seed in 0..60 {
        let disk = new_disk(seed);
        let (log, _) = open(&disk, 2, LogOptions { sync: Sync::Never, segment_bytes: 1 << 20 }).unwrap();
        for version in 2..=20 {
            append(&log, version).unwrap();
            log.wait(version).unwrap();
        }
        disk.set_faults(fault(1, true));
        drop(log);
        disk.crash();
        let found = read_only(&disk, 2).unwrap();
        let known = Known { tried: 20, acknowledged: 1, frozen: 1 };
        ends.insert(check(&found, known, "unsynced"));
        assert_eq!(open(&disk, 2, OPTIONS).unwrap().1, found);
    }
    assert!(ends.len() > 3, "{ends:?}");
}

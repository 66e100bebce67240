//! Tests of the log: crashes, failures, damage and full disks.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker_format::io::{Disk, Faults, FaultyDisk, Files};
use esker_format::{DatabaseId, Error, LogRecordHeader, ManifestHead, Result};
use esker_graph::Cancel;

use super::record::{LogRecord, RECORD_HEADER_BYTES, RecordAddress, commit_header};
use super::{Log, LogOptions, LogReader, LogStart, Sync};
use crate::holding::{WriterLock, lock_writer};

pub(super) const DB: &str = "web.esker";
/// Seeds of each fault; each seed gives another random outcome.
const SEEDS: std::ops::Range<u64> = 0..2;
pub(super) const OPTIONS: LogOptions = LogOptions { sync: Sync::Always, segment_bytes: 4096 + 1500 };

pub(super) fn start(first_version: u64) -> LogStart {
    let manifest = ManifestHead { records: 3, chain: 17 };
    LogStart { database: DatabaseId([7; 16]), first_version, previous: None, manifest, mark: None }
}

pub(super) fn shared(disk: &FaultyDisk) -> Arc<dyn Disk> {
    Arc::new(disk.clone())
}

pub(super) fn new_disk(seed: u64) -> FaultyDisk {
    let disk = FaultyDisk::new(seed);
    disk.create_directory(Path::new(DB)).unwrap();
    disk.sync_directory(Path::new(".")).unwrap();
    disk
}

fn segment(number: u64) -> PathBuf {
    Path::new(DB).join("log").join(number.to_string())
}

fn segments(disk: &FaultyDisk) -> Vec<u64> {
    let entries = disk.list(&Path::new(DB).join("log")).unwrap();
    let mut numbers: Vec<u64> = entries.iter().map(|entry| entry.name.parse().unwrap()).collect();
    numbers.sort_unstable();
    numbers
}

/// The payload of a version: 0 to 700 bytes.
pub(super) fn payload(version: u64) -> Vec<u8> {
    (0..version * version * 37 % 701).map(|k| (k ^ version) as u8).collect()
}

/// The summary of a version.
pub(super) fn summary(version: u64) -> Vec<u8> {
    vec![version as u8; version as usize % 13]
}

fn lock(disk: &FaultyDisk) -> Result<WriterLock> {
    lock_writer(&shared(disk), Path::new(DB))
}

pub(super) fn open(disk: &FaultyDisk, first_version: u64, options: LogOptions) -> Result<(Log, Vec<u64>)> {
    let mut versions = Vec::new();
    let replay = |record: LogRecord<'_>| {
        assert_eq!((record.summary, record.payload), (&summary(record.version)[..], &[][..]));
        assert_eq!(u64::from(record.flags), record.version % 5);
        assert_eq!(record.payload_bytes, payload(record.version).len() as u64);
        versions.push(record.version);
        Ok(())
    };
    let cancel = Cancel::default();
    let log = Log::open(&lock(disk)?, start(first_version), options, &cancel, replay)?;
    assert_eq!(log.next_version(), versions.last().map_or(first_version, |last| last + 1));
    Ok((log, versions))
}

pub(super) fn read_only(disk: &FaultyDisk, first_version: u64) -> Result<Vec<u64>> {
    let mut reader = LogReader::open(shared(disk), Path::new(DB), start(first_version))?;
    let mut versions = Vec::new();
    while let Some(record) = reader.read_next()? {
        assert_eq!(record.payload, payload(record.version));
        versions.push(record.version);
    }
    Ok(versions)
}

pub(super) fn append(log: &Log, version: u64) -> Result<()> {
    log.append(version, (version % 5) as u16, &summary(version), &payload(version)).map(drop)
}

/// The progress of a process when it dies.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Known {
    pub(super) tried: u64,
    pub(super) acknowledged: u64,
    /// The last version in a layer, by a synced manifest.
    pub(super) frozen: u64,
}

/// Appends groups of one to three commits, with a freeze in every sixth round; segments rotate as they fill.
fn work(log: &Log, known: &mut Known, rounds: u64) -> Result<()> {
    for round in 0..rounds {
        for _ in 0..=(known.tried + round) % 3 {
            known.tried += 1;
            append(log, known.tried)?;
        }
        log.wait(known.tried)?;
        known.acknowledged = known.tried;
        if round % 6 == 4 {
            known.frozen = known.acknowledged - round % 4;
            log.remove_through(known.frozen)?;
        }
    }
    Ok(())
}

fn run(disk: &FaultyDisk, known: &mut Known, rounds: u64) -> Result<()> {
    let (log, versions) = open(disk, known.frozen + 1, OPTIONS)?;
    let last = versions.last().copied().unwrap_or(known.frozen);
    *known = Known { tried: last, acknowledged: last, frozen: known.frozen };
    work(&log, known, rounds)?;
    log.close()
}

/// Checks that `versions` follow `frozen` without a gap, contain all acknowledged versions, and none that was
/// never appended.
pub(super) fn check(versions: &[u64], known: Known, context: &str) -> u64 {
    let last = versions.last().copied().unwrap_or(known.frozen);
    assert!(versions.iter().copied().eq(known.frozen + 1..=last), "{context}: {versions:?}");
    assert!((known.acknowledged..=known.tried).contains(&last), "{context}: {last} of {known:?}");
    last
}

/// Recovers with a fault at each operation in turn, each time from the same state.
fn recover_with_a_fault_at_each_operation(prepare: &dyn Fn() -> (FaultyDisk, Known), power_is_lost: bool) {
    for k in 1.. {
        let (disk, mut known) = prepare();
        disk.set_faults(fault(k, power_is_lost));
        let opened = open(&disk, known.frozen + 1, OPTIONS);
        if let Ok((_, versions)) = &opened {
            known.acknowledged = check(versions, known, "recovery");
        }
        let (is_done, reached) = (opened.is_ok(), disk.operations());
        drop(opened);
        disk.set_faults(Faults::default());
        if power_is_lost {
            disk.crash();
        }
        let (log, versions) = open(&disk, known.frozen + 1, OPTIONS).unwrap();
        known.acknowledged = check(&versions, known, "second recovery");
        drop(log);
        disk.crash();
        let found = read_only(&disk, known.frozen + 1).unwrap();
        assert_eq!(check(&found, known, "third"), known.acknowledged, "a later recovery lost commits");
        if is_done && reached < k {
            return;
        }
    }
}

pub(super) fn fault(at: u64, power_is_lost: bool) -> Faults {
    let at = Some(at);
    if power_is_lost {
        Faults { die_at: at, ..Faults::default() }
    } else {
        Faults { fail_at: at, ..Faults::default() }
    }
}

/// All pairs of operation and seed.
fn cases(operations: std::ops::RangeInclusive<u64>) -> impl Iterator<Item = (u64, u64)> {
    operations.flat_map(|k| SEEDS.map(move |seed| (k, seed)))
}

/// The disk of a process that died, or whose disk failed, at operation `k`.
fn die(k: u64, seed: u64, power_is_lost: bool) -> (FaultyDisk, Known) {
    let (disk, mut known) = (new_disk(seed << 32 | k), Known { tried: 1, acknowledged: 1, frozen: 1 });
    run(&disk, &mut known, 3).unwrap();
    disk.set_faults(fault(k, power_is_lost));
    let done = run(&disk, &mut known, 14);
    assert!(done.is_err() || disk.operations() < k || !power_is_lost);
    disk.set_faults(Faults::default());
    if power_is_lost {
        disk.crash();
    }
    (disk, known)
}

fn operations() -> u64 {
    let (disk, mut known) = (new_disk(0), Known { tried: 1, acknowledged: 1, frozen: 1 });
    run(&disk, &mut known, 3).unwrap();
    disk.set_faults(Faults::default());
    run(&disk, &mut known, 14).unwrap();
    assert!(segments(&disk)[0] > 2 && segments(&disk).len() > 1, "no segment was rotated or removed");
    disk.operations()
}

#[test]
fn acknowledged_commits_survive_a_crash_at_any_operation() {
    let (mut unacknowledged, last) = (0, operations());
    for (k, seed) in cases(1..=last + 1) {
        let (disk, mut known) = die(k, seed, true);
        disk.set_faults(Faults { read_only: true, ..Faults::default() });
        let found = read_only(&disk, known.frozen + 1).unwrap();
        let end = check(&found, known, &format!("crash at {k}"));
        unacknowledged += end - known.acknowledged;
        disk.set_faults(Faults { short_reads: true, ..Faults::default() });
        let (log, versions) = open(&disk, known.frozen + 1, OPTIONS).unwrap();
        assert_eq!(versions, found, "crash at {k}: readers and writers differ");
        (known.tried, known.acknowledged) = (end, end);
        work(&log, &mut known, 5).unwrap();
        // The process dies without closing the log.
        disk.set_faults(fault(1, true));
        drop(log);
        disk.crash();
        let found = read_only(&disk, known.frozen + 1).unwrap();
        assert_eq!(check(&found, known, "work after recovery"), known.acknowledged);
    }
    assert!(unacknowledged > 0, "no unacknowledged record survived");
}

#[test]
fn a_crash_during_recovery_changes_nothing() {
    for (k, seed) in cases(1..=operations()) {
        recover_with_a_fault_at_each_operation(&|| die(k, seed, true), true);
    }
}

#[test]
fn a_failure_at_any_operation_loses_no_acknowledged_commit() {
    let last = operations();
    for (k, seed) in cases(1..=last) {
        let (disk, known) = die(k, seed, false);
        let (log, versions) = open(&disk, known.frozen + 1, OPTIONS).unwrap();
        let end = check(&versions, known, &format!("failure at {k}"));
        // The first opening's sync may have failed, so the second may have read unsynced data.
        disk.set_faults(fault(1, true));
        drop(log);
        disk.crash();
        assert_eq!(read_only(&disk, known.frozen + 1).unwrap().last().copied().unwrap_or(known.frozen), end);
    }
    for (k, seed) in cases(1..=last) {
        recover_with_a_fault_at_each_operation(&|| die(k, seed, false), false);
    }
}

#[test]
fn after_a_failure_every_call_reports_the_first_one() {
    let disk = new_disk(1);
    let (log, _) = open(&disk, 2, OPTIONS).unwrap();
    append(&log, 2).unwrap();
    log.wait(2).unwrap();
    append(&log, 3).unwrap();
    disk.set_faults(Faults { fail_at: Some(1), ..Faults::default() });
    assert!(matches!(log.wait(3), Err(Error::Io { action: "sync", .. })));
    let expected = "the log web.esker/log is closed after a failure: cannot sync web.esker/log/1: \
                input/output error (injected); open the database again";
    for result in [log.wait(3), append(&log, 4), log.sync(), log.remove_through(2)] {
        assert_eq!(result.unwrap_err().to_string(), expected);
    }
    log.wait(2).unwrap();
    assert!(log.wait(4).unwrap_err().to_string().contains("version 4 was not appended"));
}

#[test]
fn a_full_disk_is_an_error_and_loses_nothing() {
    for space_bytes in (9_000..14_000).step_by(97) {
        let (disk, mut known) = (new_disk(space_bytes), Known { tried: 1, acknowledged: 1, frozen: 1 });
        disk.set_faults(Faults { space_bytes: Some(space_bytes), ..Faults::default() });
        let (log, _) = open(&disk, 2, OPTIONS).unwrap();
        let error = (2..100).find_map(|version| {
            known.tried = version;
            let done = append(&log, version).and_then(|()| log.wait(version));
            known.acknowledged = if done.is_ok() { version } else { known.acknowledged };
            done.err()
        });
        let Some(Error::Io { source, .. }) = error else { panic!("{error:?}") };
        assert_eq!(source.kind(), std::io::ErrorKind::StorageFull);
        assert!(append(&log, known.tried).unwrap_err().to_string().contains("is closed after a failure"));
        drop(log);
        check(&read_only(&disk, 2).unwrap(), known, "disk still full");
        disk.set_faults(Faults::default());
        check(&open(&disk, 2, OPTIONS).unwrap().1, known, "space freed");
    }
}

/// A closed log of three segments, and its last version.
fn closed() -> (FaultyDisk, u64) {
    let disk = new_disk(5);
    let (log, _) = open(&disk, 2, OPTIONS).unwrap();
    for version in 2..=12 {
        append(&log, version).unwrap();
    }
    log.close().unwrap();
    assert_eq!(segments(&disk), [1, 2, 3]);
    (disk, 12)
}

#[test]
fn reading_detects_every_flipped_bit_of_a_closed_log() {
    let (disk, last) = closed();
    let whole: Vec<u64> = (2..=last).collect();
    for number in segments(&disk) {
        let path = segment(number);
        for offset in (0..disk.open(&path).unwrap().len().unwrap()).step_by(3) {
            disk.flip(&path, offset, (offset % 8) as u8).unwrap();
            match read_only(&disk, 2) {
                Ok(versions) => {
                    // The records that close the log, and that say that a later segment exists.
                    let bytes = RECORD_HEADER_BYTES + if number == 3 { 16 } else { 0 };
                    let last = disk.open(&path).unwrap().len().unwrap() - bytes;
                    assert_eq!(versions, whole);
                    assert!(offset >= last, "{number}: {offset}");
                }
                Err(Error::Corrupt { path: found, offset: at, .. }) => assert!(found == path && at <= offset),
                Err(Error::Invalid(reason)) => {
                    assert!(reason.to_string().contains("format version"), "{reason}");
                }
                Err(error) => panic!("{error}"),
            }
            disk.flip(&path, offset, (offset % 8) as u8).unwrap();
        }
    }
    assert_eq!(read_only(&disk, 2).unwrap(), whole);
}

#[test]
fn a_bit_flipped_during_a_read_never_shortens_the_log() {
    let (disk, last) = closed();
    let mut errors = 0;
    disk.set_faults(Faults::default());
    let whole: Vec<u64> = (2..=last).collect();
    read_only(&disk, 2).unwrap();
    for k in 1..=disk.operations() {
        disk.set_faults(Faults { flip_read_at: Some(k), ..Faults::default() });
        // An error is allowed, because it loses nothing; a shorter log is not.
        match read_only(&disk, 2) {
            Ok(versions) => assert_eq!(versions, whole),
            Err(error) => errors += usize::from(error.to_string().contains("web.esker/log/")),
        }
    }
    assert!(errors > 0);
}

#[test]
fn damage_that_no_crash_explains_is_an_error() {
    let message = |disk: &FaultyDisk, first_version| read_only(disk, first_version).unwrap_err().to_string();
    let (disk, last) = closed();
    disk.truncate(&segment(2), 4096 + 300).unwrap();
    assert!(message(&disk, 2).starts_with("web.esker/log/2 is damaged at byte "));
    let (disk, _) = closed();
    disk.remove_file(&segment(2)).unwrap();
    assert!(
        message(&disk, 2)
            .contains("web.esker/log/2 is damaged at byte 0: this segment of the log is missing")
    );
    assert!(Log::open(&lock(&disk).unwrap(), start(2), OPTIONS, &Cancel::default(), |_| Ok(())).is_err());
    assert_eq!(segments(&disk), [1, 3], "the failed opening changed files");
    let (disk, _) = closed();
    disk.remove_file(&segment(1)).unwrap();
    let gone = message(&disk, 2);
    assert!(gone.starts_with("web.esker/log/1 is missing: log/2 begins with version "), "{gone}");
    assert!(gone.contains("but version 2 is in no layer"), "{gone}");
    let (disk, _) = closed();
    disk.rename(&segment(3), &segment(4)).unwrap();
    assert!(message(&disk, 2).contains("its header says that it is segment 3 of the log"));
    let (disk, _) = closed();
    let mut other = start(2);
    other.database = DatabaseId([8; 16]);
    let stray = LogReader::open(shared(&disk), Path::new(DB), other).unwrap_err().to_string();
    assert!(stray.contains("web.esker/log/3 is damaged at byte 0: it belongs to database 0707"), "{stray}");
    let mut lost = start(2);
    lost.manifest.records = 2;
    let lost = LogReader::open(shared(&disk), Path::new(DB), lost).unwrap_err().to_string();
    assert!(
        lost.starts_with("web.esker/MANIFEST has 2 records, but web.esker/log/1 was written when it had 3"),
        "{lost}"
    );
    let elsewhere = disk.read(&segment(2)).unwrap()[4096..].to_vec();
    let file = disk.open_for_writing(&segment(3)).unwrap();
    file.set_length(4096).unwrap();
    file.write_at(&elsewhere, 4096).unwrap();
    assert!(read_only(&disk, 2).unwrap().last() < Some(&last), "a record of another segment was read");
}

#[test]
fn a_wrong_payload_length_allocates_nothing() {
    let (disk, last) = closed();
    let address = RecordAddress { database: start(2).database, segment: 3, offset: 0 };
    let end = disk.open(&segment(3)).unwrap().len().unwrap();
    for payload_bytes in [1, 1 << 40, u64::MAX - 3, u64::MAX] {
        let header = LogRecordHeader { payload_bytes, ..commit_header(last + 1, 0, 4096, &[], &[]) };
        let file = disk.open_for_writing(&segment(3)).unwrap();
        file.write_at(&address.at(end).encode(header), end).unwrap();
        assert_eq!(read_only(&disk, 2).unwrap().last(), Some(&last));
    }
    let wrong_version = commit_header(last + 2, 0, 4096, &[], &[]);
    disk.open_for_writing(&segment(3))
        .unwrap()
        .write_at(&address.at(end).encode(wrong_version), end)
        .unwrap();
    let message = read_only(&disk, 2).unwrap_err().to_string();
    assert!(
        message.contains(&format!("damaged at byte {end}: version 13 is expected here, not 14")),
        "{message}"
    );
}

#[test]
fn a_log_whose_commits_are_all_in_layers_begins_a_new_segment() {
    let (disk, last) = closed();
    let (log, versions) = open(&disk, last + 1, OPTIONS).unwrap();
    assert_eq!((versions.len(), segments(&disk)), (0, vec![4]));
    append(&log, last + 1).unwrap();
    log.wait(last + 1).unwrap();
    log.remove_through(last + 1).unwrap();
    log.remove_through(last + 1).unwrap();
    assert_eq!((segments(&disk), log.num_segments()), (vec![5], 1));
    drop(log);
    // The log lost unsynced commits that are in a layer: this is no gap.
    let (log, _) = open(&disk, 40, OPTIONS).unwrap();
    assert_eq!((segments(&disk), log.next_version()), (vec![6], 40));
    assert!(
        log.append(41, 0, b"", b"")
            .unwrap_err()
            .to_string()
            .contains("next version of the log is 40, not 41")
    );
}

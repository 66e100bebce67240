//! Tests of the faulty disk: each fault of its model.

use std::path::Path;

use crate::error::Error;
use crate::io::{Disk, Faults, FaultyDisk, Files};

fn path(name: &str) -> &Path {
    Path::new(name)
}

#[test]
fn a_crash_keeps_synced_writes_and_may_lose_or_tear_others() {
    let mut lengths_seen = std::collections::BTreeSet::new();
    for seed in 0..50 {
        let disk = FaultyDisk::new(seed);
        let file = disk.create(path("a")).unwrap();
        file.write_at(&[1; 1000], 0).unwrap();
        file.sync().unwrap();
        disk.sync_directory(path(".")).unwrap();
        file.write_at(&[2; 2000], 1000).unwrap();
        disk.create(path("b")).unwrap();
        disk.crash();
        let content = disk.read(path("a")).unwrap();
        assert_eq!(content[..1000], [1; 1000]);
        assert!(content[1000..].iter().all(|&byte| byte == 2));
        lengths_seen.insert((content.len(), disk.look(path("b")).unwrap().is_some()));
    }
    assert!(lengths_seen.contains(&(1000, false)) && lengths_seen.contains(&(3000, true)));
    assert!(
        lengths_seen.iter().any(|&(bytes, _)| bytes > 1000 && bytes < 3000),
        "no write was torn in 50 crashes"
    );
}

#[test]
fn a_crash_may_lose_an_unsynced_truncation() {
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..100 {
        let disk = FaultyDisk::new(seed);
        disk.write(path("a"), &[1; 10]).unwrap();
        disk.sync_directory(path(".")).unwrap();
        let file = disk.open_for_writing(path("a")).unwrap();
        file.set_length(4).unwrap();
        file.write_at(&[2; 2], 4).unwrap();
        assert_eq!(disk.read(path("a")).unwrap(), [1, 1, 1, 1, 2, 2]);
        disk.crash();
        seen.insert(disk.read(path("a")).unwrap());
    }
    let old_tail = vec![1, 1, 1, 1, 2, 2, 1, 1, 1, 1];
    let expected = [vec![1; 4], vec![1; 10], vec![1, 1, 1, 1, 2, 2], old_tail];
    assert!(seen == expected.into(), "{seen:?}");
}

#[test]
fn a_later_sync_does_not_repair_a_failed_one() {
    let mut lost = 0;
    for seed in 0..20 {
        let disk = FaultyDisk::new(seed);
        let file = disk.create(path("a")).unwrap();
        disk.sync_directory(path(".")).unwrap();
        file.write_at(b"old", 0).unwrap();
        disk.set_faults(Faults { fail_at: Some(1), ..Faults::default() });
        assert!(file.sync().is_err());
        file.write_at(b"new", 3).unwrap();
        file.sync().unwrap();
        assert_eq!(disk.read(path("a")).unwrap(), b"oldnew");
        disk.crash();
        let content = disk.read(path("a")).unwrap();
        assert_eq!(&content[3..], b"new");
        lost += usize::from(&content[..3] != b"old");
    }
    assert!(lost > 0);
}

#[test]
fn an_unsynced_rename_leaves_exactly_one_of_the_two_names() {
    for seed in 0..20 {
        let disk = FaultyDisk::new(seed);
        disk.create_directory(path("d")).unwrap();
        disk.write(path("d/x"), b"x").unwrap();
        disk.sync_directory(path("d")).unwrap();
        disk.rename(path("d"), path("e")).unwrap();
        disk.crash();
        let (old, new) = (disk.look(path("d/x")).unwrap(), disk.look(path("e/x")).unwrap());
        assert!(old.is_some() != new.is_some(), "exactly one of the two names exists");
    }
}

#[test]
fn the_chosen_operation_fails_and_space_runs_out() {
    let disk = FaultyDisk::new(1);
    disk.set_faults(Faults { fail_at: Some(2), space_bytes: Some(10), ..Faults::default() });
    let file = disk.create(path("a")).unwrap();
    assert!(matches!(file.sync(), Err(Error::Io { action: "sync", .. })));
    file.write_at(&[7; 8], 0).unwrap();
    let full = file.write_at(&[8; 8], 8).unwrap_err();
    assert!(full.to_string().starts_with("cannot write to a:"), "{full}");
    assert_eq!(file.len().unwrap(), 10);
    assert_eq!(disk.operations(), 5);
}

#[test]
fn reads_may_be_short_or_have_a_flipped_bit() {
    let disk = FaultyDisk::new(3);
    disk.write(path("a"), &[0; 5000]).unwrap();
    disk.set_faults(Faults { short_reads: true, ..Faults::default() });
    assert_eq!(disk.read(path("a")).unwrap(), [0; 5000]);
    assert!(disk.operations() > 3, "one operation read the whole file");
    disk.set_faults(Faults { flip_read_at: Some(2), ..Faults::default() });
    let map = disk.open(path("a")).unwrap().map().unwrap();
    assert_eq!(map.iter().map(|byte| byte.count_ones()).sum::<u32>(), 1);
    disk.flip(path("a"), 4999, 7).unwrap();
    assert_eq!(disk.read(path("a")).unwrap()[4999], 128);
    assert!(disk.flip(path("a"), 5000, 0).is_err());
}

#[test]
fn a_broken_page_fails_reads_and_loads_and_gives_wrong_bytes_to_those_who_do_not_ask() {
    let disk = FaultyDisk::new(3);
    disk.write(path("a"), &[5; 10_000]).unwrap();
    let before = disk.open(path("a")).unwrap().map().unwrap();
    disk.break_page(path("a"), 5000).unwrap();
    let file = disk.open(path("a")).unwrap();
    let mut buffer = [0; 100];
    for (offset, fails) in [(0, false), (3996, false), (3997, true), (8191, true), (8192, false)] {
        assert_eq!(file.read_exact_at(&mut buffer, offset).is_err(), fails, "byte {offset}");
        for map in [&before, &file.map().unwrap()] {
            assert_eq!(map.load(offset as usize..offset as usize + 100).is_err(), fails, "byte {offset}");
        }
    }
    let map = file.map().unwrap();
    assert!(map[..4096] == [5; 4096] && map[4096..8192] == [!5; 4096] && map[8192..] == [5; 1808]);
    disk.truncate(path("a"), 8192).unwrap();
    assert!(before.load(8191..8192).is_err() && before.load(0..4096).is_ok());
    assert!(before.load(8191..8193).unwrap_err().to_string().contains("cut short"));
}

#[test]
fn a_disk_may_lack_the_exchange_of_names() {
    let disk = FaultyDisk::new(1);
    disk.write(path("a"), b"a").unwrap();
    disk.write(path("b"), b"b").unwrap();
    disk.set_faults(Faults { no_exchange: true, ..Faults::default() });
    let error = disk.exchange(path("a"), path("b")).unwrap_err();
    assert!(error.to_string().starts_with("cannot replace b: "), "{error}");
    assert_eq!(
        (disk.read(path("a")).unwrap(), disk.read(path("b")).unwrap()),
        (b"a".to_vec(), b"b".to_vec())
    );
}

#[test]
fn an_open_file_outlives_its_name() {
    let disk = FaultyDisk::new(1);
    disk.write(path("a"), b"old").unwrap();
    let (file, lock) = (disk.open(path("a")).unwrap(), disk.try_lock(path("a")).unwrap());
    let map = file.map().unwrap();
    disk.remove_file(path("a")).unwrap();
    assert!(disk.open(path("a")).is_err());
    disk.write(path("a"), b"newer").unwrap();
    let new = disk.open(path("a")).unwrap();
    assert!(file.id().unwrap() != new.id().unwrap());
    assert_eq!((file.len().unwrap(), new.len().unwrap(), map.load(0..3).unwrap()), (3, 5, &b"old"[..]));
    let mut buffer = [0; 3];
    file.read_exact_at(&mut buffer, 0).unwrap();
    assert_eq!(&buffer, b"old");
    let second = disk.try_lock(path("a")).unwrap();
    assert!(lock.is_some() && second.is_some(), "the lock belongs to the file that is gone");
    drop(lock);
    assert!(disk.try_lock(path("a")).unwrap().is_none());
}

#[test]
fn a_lock_has_one_holder_and_moves_with_its_file() {
    let disk = FaultyDisk::new(0);
    let lock = disk.try_lock(path("LOCK")).unwrap();
    assert!(lock.is_some());
    disk.rename(path("LOCK"), path("LOCK2")).unwrap();
    assert!(disk.try_lock(path("LOCK2")).unwrap().is_none());
    drop(lock);
    assert!(disk.try_lock(path("LOCK2")).unwrap().is_some());
}

#[test]
fn an_unsynced_replacement_leaves_the_old_file_or_the_new_one_under_the_name() {
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..20 {
        let disk = FaultyDisk::new(seed);
        disk.write(path("a"), b"old").unwrap();
        disk.write(path("b"), b"new").unwrap();
        disk.sync_directory(path(".")).unwrap();
        disk.replace(path("b"), path("a")).unwrap();
        assert_eq!(disk.read(path("a")).unwrap(), b"new");
        disk.crash();
        let (content, is_left) = (disk.read(path("a")).unwrap(), disk.look(path("b")).unwrap().is_some());
        assert_eq!(is_left, content == b"old");
        seen.insert(content);
    }
    assert_eq!(seen.len(), 2);
}

//! What a writer does when its files are taken from it.
#![allow(clippy::print_stdout)] // Processes of a test tell what they were told.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use esker_graph::Run;
use esker_store::database::CompactOptions;
use esker_store::io::{Disk, RealDisk};
use esker_store::log::Sync;
use esker_store::{Database, DatabaseOptions, Follower, Result, Store};

use super::processes::write_cycle;

const STOPPED: &str = "stopped writing to";

fn open_with(path: &Path, sync: Sync) -> Result<Database> {
    let options = DatabaseOptions { sync, threads: 1, auto_merge: Some(false), ..DatabaseOptions::default() };
    Database::open(path, options)
}

fn open(path: &Path) -> Result<Database> {
    open_with(path, Sync::Always)
}

fn commit(db: &Database, i: u64) -> Result<u64> {
    let mut batch = db.batch();
    batch.add_edge(i, i + 2, &[])?;
    db.commit(batch, "an edge")
}

/// A database of ten vertices.
fn new_database() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("web.esker");
    write_cycle(&path, 10, false).unwrap();
    (directory, path)
}

/// Copies a directory, with hard links or without.
fn copy(from: &Path, to: &Path, links: bool) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target, links),
            false if links => std::fs::hard_link(entry.path(), target).unwrap(),
            false => drop(std::fs::copy(entry.path(), target).unwrap()),
        }
    }
}

/// The names and bytes of all files of a database but LOCK.
fn content(path: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let files = Store::open(path).unwrap().files().unwrap().into_iter().map(|(file, _)| file);
    let files = files.filter(|file| !file.ends_with("LOCK"));
    files.map(|file| (file.strip_prefix(path).unwrap().to_owned(), std::fs::read(&file).unwrap())).collect()
}

/// Puts a copy of a file in its place.
fn replace(file: &Path) {
    let other = file.with_extension("other");
    std::fs::copy(file, &other).unwrap();
    std::fs::rename(other, file).unwrap();
}

/// What takes the files of a database from its writer.
type Taking = fn(&Path);

const TAKINGS: [(&str, Taking); 9] = [
    ("remove LOCK", |path| std::fs::remove_file(path.join("LOCK")).unwrap()),
    ("replace LOCK", |path| replace(&path.join("LOCK"))),
    ("remove MANIFEST", |path| std::fs::remove_file(path.join("MANIFEST")).unwrap()),
    ("replace MANIFEST", |path| replace(&path.join("MANIFEST"))),
    ("remove the log", |path| std::fs::remove_file(path.join("log/1")).unwrap()),
    ("replace the log", |path| replace(&path.join("log/1"))),
    ("rename the directory", |path| std::fs::rename(path, path.with_extension("away")).unwrap()),
    ("remove the directory", |path| std::fs::remove_dir_all(path).unwrap()),
    ("replace the directory", |path| {
        copy(path, &path.with_extension("copy"), false);
        std::fs::rename(path, path.with_extension("away")).unwrap();
        std::fs::rename(path.with_extension("copy"), path).unwrap();
    }),
];

/// 22 of 22 commits into files that were gone were acknowledged.
#[test]
fn a_writer_whose_files_were_taken_acknowledges_nothing() {
    let syncs = [Sync::Always, Sync::Never, Sync::Interval(Duration::from_secs(3600))];
    for (sync, (how, take)) in syncs.into_iter().flat_map(|sync| TAKINGS.map(|taking| (sync, taking))) {
        let (_directory, path) = new_database();
        let db = open_with(&path, sync).unwrap();
        commit(&db, 1).unwrap();
        take(&path);
        let told = commit(&db, 2).unwrap_err().to_string();
        assert!(told.contains(STOPPED), "{how}, {sync:?}: {told}");
        commit(&db, 3).unwrap_err();
        assert_eq!(db.versions().last().unwrap().number, 2, "{how}: only the first was acknowledged");
    }
}

#[test]
fn no_other_change_is_acknowledged_either() {
    type Change = fn(&Database) -> Result<()>;
    let changes: [(&str, Change); 7] = [
        ("tag", |db| db.tag("a", 1)),
        ("forget", |db| db.forget(1)),
        ("freeze", |db| db.freeze(&Run::with_threads(1)?).map(drop)),
        ("compact", |db| db.compact_with(CompactOptions::default(), &Run::with_threads(1)?).map(drop)),
        ("define a property", |db| {
            db.add_edge_property("w", esker_store::format::ElementType::I32, false, &Run::with_threads(1)?)
        }),
        ("commit", |db| commit(db, 7).map(drop)),
        ("close", |_| Ok(())),
    ];
    for ((what, change), (how, take)) in
        changes.into_iter().flat_map(|change| TAKINGS.map(|taking| (change, taking)))
    {
        let (_directory, path) = new_database();
        let db = open(&path).unwrap();
        commit(&db, 1).unwrap();
        take(&path);
        let before = path.join("MANIFEST").exists().then(|| content(&path));
        if what == "close" {
            // The commits were acknowledged; it has nothing to add.
            let _ = db.close();
        } else {
            change(&db).expect_err(&format!("{what} after: {how}"));
            let _ = db.close();
        }
        if let Some(before) = before
            && how.ends_with("directory")
        {
            assert_eq!(content(&path), before, "{what} after: {how}: it wrote to what took its place");
        }
    }
}

/// Two writers acknowledged version 3, and what they wrote was lost.
#[test]
fn a_database_without_its_lock_gets_no_second_writer() {
    let (_directory, path) = new_database();
    let db = open(&path).unwrap();
    commit(&db, 1).unwrap();
    std::fs::remove_file(path.join("LOCK")).unwrap();
    let told = open(&path).unwrap_err().to_string();
    assert!(told.contains("is being written to by another handle of this process"), "{told}");
    assert!(commit(&db, 2).unwrap_err().to_string().contains(STOPPED));
    drop(db);
    let db = open(&path).unwrap();
    commit(&db, 3).unwrap();
    db.close().unwrap();
    assert!(Store::open(&path).unwrap().check(&Run::with_threads(1).unwrap()).unwrap().is_sound());
}

/// A retired layer went with the last version that read it, whatever had its name by then.
#[test]
fn a_retired_layer_is_not_removed_from_a_database_that_took_the_place() {
    let (_directory, path) = new_database();
    let db = open(&path).unwrap();
    commit(&db, 1).unwrap();
    copy(&path, &path.with_extension("copy"), false);
    let pinned = db.latest().unwrap();
    db.compact_with(CompactOptions::default(), &Run::with_threads(1).unwrap()).unwrap();
    std::fs::rename(&path, path.with_extension("away")).unwrap();
    std::fs::rename(path.with_extension("copy"), &path).unwrap();
    drop((pinned, db));
    assert_eq!(Store::open(&path).unwrap().latest().unwrap().number(), 2);
}

#[test]
fn a_copy_of_hard_links_does_not_change_with_its_original() {
    let (_directory, path) = new_database();
    let db = open(&path).unwrap();
    commit(&db, 1).unwrap();
    db.close().unwrap();
    let linked = path.with_extension("linked");
    copy(&path, &linked, true);
    let before = content(&linked);
    let db = open(&path).unwrap();
    (2..5).for_each(|i| assert!(commit(&db, i).is_ok()));
    db.tag("a", 1).unwrap();
    db.compact_with(CompactOptions::default(), &Run::with_threads(1).unwrap()).unwrap();
    commit(&db, 5).unwrap();
    db.close().unwrap();
    assert_eq!(content(&linked), before);
    // The copy can be written to as well.
    let copied = open(&linked).unwrap();
    assert_eq!(commit(&copied, 9).unwrap(), 3);
    copied.close().unwrap();
    assert_eq!(Store::open(&path).unwrap().latest().unwrap().number(), 6);
}

/// A recovery cut the log in place, under both of its names.
#[test]
fn a_recovery_of_a_copy_of_hard_links_does_not_change_its_original() {
    let (_directory, path) = new_database();
    let db = open(&path).unwrap();
    (1..4).for_each(|i| assert!(commit(&db, i).is_ok()));
    db.close().unwrap();
    let linked = path.with_extension("linked");
    copy(&path, &linked, true);
    std::fs::remove_file(linked.join("MANIFEST")).unwrap();
    let before = content(&path);
    let (disk, run): (Arc<dyn Disk>, _) = (Arc::new(RealDisk), Run::with_threads(1).unwrap());
    let options = DatabaseOptions { threads: 1, ..DatabaseOptions::default() };
    let report = Database::recover(&disk, &linked, options, &run).unwrap();
    assert!(report.problem.is_some(), "{report:?}");
    assert!(content(&path) == before);
    assert_eq!(Store::open(&linked).unwrap().latest().unwrap().number(), 4);
}

#[test]
fn a_writer_stops_when_its_files_get_a_second_name() {
    let (_directory, path) = new_database();
    let db = open(&path).unwrap();
    commit(&db, 1).unwrap();
    copy(&path, &path.with_extension("linked"), true);
    let told = commit(&db, 2).unwrap_err().to_string();
    assert!(told.contains(STOPPED) && told.contains("has a second name"), "{told}");
    drop(db);
    let db = open(&path).unwrap();
    let last = commit(&db, 3).unwrap();
    db.close().unwrap();
    assert_eq!(Store::open(&path).unwrap().latest().unwrap().number(), last);
}

/// As `cp old/log/1 db/log/1` does: the file stays, with other content.
#[test]
fn a_writer_stops_when_an_older_file_is_copied_over_one_that_grows() {
    for (name, told) in [("log/1", "log/1 is shorter"), ("MANIFEST", "MANIFEST is shorter")] {
        let (_directory, path) = new_database();
        let db = open(&path).unwrap();
        commit(&db, 1).unwrap();
        db.tag("first", 1).unwrap();
        let older = std::fs::read(path.join(name)).unwrap();
        commit(&db, 2).unwrap();
        db.tag("second", 2).unwrap();
        std::fs::write(path.join(name), &older).unwrap();
        let error = match name {
            "MANIFEST" => db.tag("third", 2).unwrap_err(),
            _ => commit(&db, 3).unwrap_err(),
        };
        let error = error.to_string();
        assert!(error.contains(STOPPED) && error.contains(told), "{error}");
        assert!(commit(&db, 4).is_err(), "it stays stopped");
    }
}

/// It has not written yet.
#[test]
fn a_writer_stops_when_an_older_log_is_copied_before_its_first_commit() {
    let (_directory, path) = new_database();
    let db = open(&path).unwrap();
    commit(&db, 1).unwrap();
    let older = std::fs::read(path.join("log/1")).unwrap();
    commit(&db, 2).unwrap();
    db.close().unwrap();
    let db = open(&path).unwrap();
    std::fs::write(path.join("log/1"), &older).unwrap();
    let error = commit(&db, 3).unwrap_err().to_string();
    assert!(error.contains(STOPPED) && error.contains("log/1 is shorter"), "{error}");
}

/// It went on with the log of the database that was gone.
#[test]
fn a_follower_of_a_database_that_was_replaced_by_its_copy_follows_the_copy() {
    let (_directory, path) = new_database();
    let db = open(&path).unwrap();
    commit(&db, 1).unwrap();
    db.close().unwrap();
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let mut follower = Follower::open(disk, &path, Arc::new(Run::with_threads(1).unwrap())).unwrap();
    copy(&path, &path.with_extension("copy"), false);
    std::fs::rename(&path, path.with_extension("away")).unwrap();
    std::fs::rename(path.with_extension("copy"), &path).unwrap();
    assert!(!follower.refresh().unwrap());
    let db = open(&path).unwrap();
    let newest = commit(&db, 2).unwrap();
    assert!(follower.refresh().unwrap());
    assert_eq!(follower.newest(), newest);
    db.close().unwrap();
}

const WRITES: &str = "ESKER_TEST_WRITES_TO";
const READS: &str = "ESKER_TEST_READS_FROM";

/// Run by other programs in a process of its own: commits edges to the database at a path, in a sync mode,
/// until its input ends, and opens it anew after an error. Prints, of each commit that is acknowledged: when
/// it began, its version, its message.
#[test]
fn writer() {
    let Some(path) = std::env::var_os(WRITES) else { return };
    let ended = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let flag = Arc::clone(&ended);
    std::thread::spawn(move || {
        std::io::stdin().lines().for_each(drop);
        flag.store(true, std::sync::atomic::Ordering::Release);
    });
    let sync = match std::env::var("ESKER_TEST_SYNC").as_deref() {
        Ok("never") => Sync::Never,
        Ok("interval") => Sync::Interval(Duration::from_millis(20)),
        _ => Sync::Always,
    };
    let run = Run::with_threads(1).unwrap();
    let mut count = 0_u64;
    while !ended.load(std::sync::atomic::Ordering::Acquire) {
        let mut work = || -> Result<()> {
            let db = open_with(Path::new(&path), sync)?;
            while !ended.load(std::sync::atomic::Ordering::Acquire) {
                count += 1;
                let message = format!("{}-{count}", std::process::id());
                let mut batch = db.batch();
                batch.add_edge(0_u64, count + 1, &[])?;
                let begun = std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos();
                let version = db.commit(batch, &message)?;
                println!("ack {begun} {version} {message}");
                match count % 100 {
                    30 | 60 => drop(db.freeze(&run)?),
                    90 => drop(db.compact_with(CompactOptions::default(), &run)?),
                    _ => {}
                }
            }
            db.close()
        };
        if let Err(error) = work() {
            println!("error {error}");
            std::thread::sleep(Duration::from_millis(3));
        }
    }
}

/// Run by other programs: prints the versions of a database and their messages, and whether it is sound.
#[test]
fn reader() {
    let Some(path) = std::env::var_os(READS) else { return };
    let store = match Store::open(Path::new(&path)) {
        Ok(store) => store,
        Err(error) => return println!("\nerror {error}"),
    };
    let run = Run::with_threads(1).unwrap();
    match store.versions().and_then(|versions| Ok((versions, store.check(&run)?, store.check_log(&run)?))) {
        Ok((versions, report, _)) => {
            println!();
            versions.iter().for_each(|version| println!("version {} {}", version.number, version.message));
            report.problems.iter().for_each(|problem| println!("problem {problem}"));
        }
        Err(error) => println!("\nerror {error}"),
    }
}

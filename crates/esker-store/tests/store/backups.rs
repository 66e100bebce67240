//! Copies of databases.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use esker_graph::{Direction, Run};
use esker_store::backup::{BackupOptions, BackupReport, backup, restore};
use esker_store::database::CompactOptions;
use esker_store::io::{DirectoryEntry, Disk, File, Files, Lock, NamedFile, RealDisk};
use esker_store::log::Sync;
use esker_store::{Database, DatabaseOptions, Error, Result, Store};

use super::processes::write_cycle;

fn real() -> Arc<dyn Disk> {
    Arc::new(RealDisk)
}

fn run() -> Run {
    Run::with_threads(1).unwrap()
}

fn open(path: &Path) -> Database {
    let options = DatabaseOptions { sync: Sync::Never, threads: 1, ..DatabaseOptions::default() };
    Database::open(path, options).unwrap()
}

/// Version `v` gets an edge from vertex 0 to vertex `v`.
fn commit(db: &Database) -> u64 {
    let mut batch = db.batch();
    let next = db.versions().last().unwrap().number + 1;
    batch.add_edge(0_u64, next, &[]).unwrap();
    db.commit(batch, "an edge").unwrap()
}

fn back_up(path: &Path, to: &Path) -> Result<BackupReport> {
    backup(&real(), path, to, BackupOptions::default(), &run())
}

/// The newest version of a database, which is sound and whose vertex 0 has an edge for each version.
fn newest(path: &Path) -> u64 {
    let store = Store::open(path).unwrap();
    assert!(store.check(&run()).unwrap().is_sound());
    store.check_log(&run()).unwrap();
    let version = store.latest().unwrap();
    let newest = version.number();
    let list =
        version.neighbors(Direction::Out, 0).unwrap().iter().map(|&v| u64::from(v)).collect::<Vec<_>>();
    let expected: Vec<u64> = (1..=newest).collect();
    assert_eq!(list, expected);
    newest
}

/// A database of 3000 vertices.
fn new_database() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let (path, copy) = (directory.path().join("web.esker"), directory.path().join("copies.esker"));
    write_cycle(&path, 3000, false).unwrap();
    (directory, path, copy)
}

fn total(report: &BackupReport) -> u64 {
    report.kept.files + report.cloned.files + report.linked.files + report.copied.files
}

#[test]
fn a_backup_has_all_that_was_committed_and_the_next_takes_only_what_is_new() {
    let (_directory, path, copy) = new_database();
    let db = open(&path);
    let second = commit(&db);
    let first = back_up(&path, &copy).unwrap();
    assert_eq!((first.version, newest(&copy)), (second, second));
    assert_eq!(first.kept.files, 0);
    db.freeze(&run()).unwrap();
    db.tag("kept", second).unwrap();
    let third = commit(&db);
    let next = back_up(&path, &copy).unwrap();
    assert_eq!((next.version, newest(&copy)), (third, third));
    assert_eq!(next.kept.files, 1, "{next:?}");
    assert!(Store::open(&copy).unwrap().manifest().tags.contains_key("kept"));
    assert_eq!(newest(&path), third, "the original is untouched");
    db.compact_with(CompactOptions::default(), &run()).unwrap();
    assert_eq!(back_up(&path, &copy).unwrap().kept.files, 0);
    // What the original has become does not show in a copy that was not renewed.
    commit(&db);
    db.close().unwrap();
    assert_eq!(newest(&copy), third);
}

#[test]
fn a_backup_made_beside_a_busy_writer_is_a_state_that_it_acknowledged() {
    let (_directory, path, copy) = new_database();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let db = open(&path);
            let mut count = 0;
            while !stop.load(Ordering::Relaxed) {
                commit(&db);
                count += 1;
                match count % 40 {
                    10 | 30 => drop(db.freeze(&run()).unwrap()),
                    20 => drop(db.compact_with(CompactOptions::default(), &run()).unwrap()),
                    _ => {}
                }
                std::thread::yield_now();
            }
            db.close().unwrap();
        });
        let mut last = 0;
        for _ in 0..20 {
            let known = Store::open(&path).unwrap().versions().unwrap().last().unwrap().number;
            let made = back_up(&path, &copy).unwrap();
            assert!(made.version >= known.max(last), "{known} {last} {made:?}");
            last = newest(&copy);
            assert_eq!(made.version, last);
        }
        stop.store(true, Ordering::Relaxed);
    });
}

/// What a writer does while a backup is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meanwhile {
    /// It freezes, and the file that comes next cannot be placed, as if a merge had removed it.
    Freezes,
    /// It merges all layers, and removes the old ones.
    Merges,
}

/// A disk on which a writer changes the layers just after, or just before, the `at`-th file of layers is
/// placed in the copy.
#[derive(Debug)]
struct BusyDisk {
    writer: Database,
    at: usize,
    placed: AtomicUsize,
    meanwhile: Meanwhile,
}

impl BusyDisk {
    fn is_due(&self, path: &Path) -> bool {
        let is_layer = path.parent().is_some_and(|parent| parent.ends_with("layers"));
        is_layer && self.placed.fetch_add(1, Ordering::Relaxed) + 1 == self.at
    }

    fn write(&self) {
        commit(&self.writer);
        match self.meanwhile {
            Meanwhile::Freezes => drop(self.writer.freeze(&run()).unwrap()),
            Meanwhile::Merges => drop(self.writer.compact_with(CompactOptions::default(), &run()).unwrap()),
        }
    }

    fn fail(&self, path: &Path) -> Result<()> {
        let missing = std::io::Error::from(std::io::ErrorKind::NotFound);
        match self.meanwhile {
            Meanwhile::Freezes => Err(Error::io("place", path)(missing)),
            Meanwhile::Merges => Ok(()),
        }
    }
}

impl Files for BusyDisk {
    fn create(&self, path: &Path) -> Result<Arc<dyn File>> {
        let created = RealDisk.create(path)?;
        if self.is_due(path) {
            // The file that was begun stays.
            self.write();
            self.fail(path)?;
        }
        Ok(created)
    }

    fn open(&self, path: &Path) -> Result<Arc<dyn File>> {
        RealDisk.open(path)
    }
}

impl Disk for BusyDisk {
    fn open_for_writing(&self, path: &Path) -> Result<Arc<dyn File>> {
        RealDisk.open_for_writing(path)
    }

    fn create_directory(&self, path: &Path) -> Result<()> {
        RealDisk.create_directory(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        RealDisk.rename(from, to)
    }

    fn replace(&self, from: &Path, to: &Path) -> Result<()> {
        RealDisk.replace(from, to)
    }

    fn exchange(&self, a: &Path, b: &Path) -> Result<()> {
        RealDisk.exchange(a, b)
    }

    fn link(&self, from: &Path, to: &Path) -> Result<bool> {
        if self.is_due(to) {
            self.write();
            self.fail(from)?;
        }
        RealDisk.link(from, to)
    }

    fn remove_file(&self, path: &Path) -> Result<()> {
        RealDisk.remove_file(path)
    }

    fn remove_directory(&self, path: &Path) -> Result<()> {
        RealDisk.remove_directory(path)
    }

    fn list(&self, path: &Path) -> Result<Vec<DirectoryEntry>> {
        RealDisk.list(path)
    }

    fn look(&self, path: &Path) -> Result<Option<DirectoryEntry>> {
        RealDisk.look(path)
    }

    fn identify(&self, path: &Path) -> Result<Option<NamedFile>> {
        RealDisk.identify(path)
    }

    fn sync_directory(&self, path: &Path) -> Result<()> {
        RealDisk.sync_directory(path)
    }

    fn try_lock(&self, path: &Path) -> Result<Option<Box<dyn Lock>>> {
        RealDisk.try_lock(path)
    }

    fn free_bytes(&self, path: &Path) -> Result<u64> {
        RealDisk.free_bytes(path)
    }
}

/// An attempt that failed once left files that the next one tried to create again, or that no manifest named.
#[test]
fn an_attempt_that_fails_leaves_nothing_in_the_way_of_the_next() {
    for meanwhile in [Meanwhile::Freezes, Meanwhile::Merges] {
        for (at, apart) in (1..=3).flat_map(|at| [(at, false), (at, true)]) {
            let (_directory, path, copy) = new_database();
            let writer = open(&path);
            for _ in 0..2 {
                commit(&writer);
                writer.freeze(&run()).unwrap();
            }
            let placed = AtomicUsize::new(0);
            let busy = Arc::new(BusyDisk { writer, at, placed, meanwhile });
            let disk: Arc<dyn Disk> = busy.clone();
            let made = backup(&disk, &path, &copy, BackupOptions { apart }, &run());
            let case = format!("{meanwhile:?} at {at}, apart: {apart}");
            assert!(busy.placed.load(Ordering::Relaxed) >= at, "{case}");
            assert_eq!(made.unwrap_or_else(|error| panic!("{case}: {error}")).version, 4, "{case}");
            assert_eq!(newest(&copy), 4, "{case}");
            let mut named: Vec<PathBuf> =
                Store::open(&copy).unwrap().files().unwrap().into_iter().map(|(file, _)| file).collect();
            named.retain(|file| file.starts_with(copy.join("layers")));
            named.sort();
            let mut there: Vec<PathBuf> =
                std::fs::read_dir(copy.join("layers")).unwrap().map(|entry| entry.unwrap().path()).collect();
            there.sort();
            assert_eq!(there, named, "{case}");
        }
    }
}

#[test]
fn a_backup_apart_shares_no_file_with_the_database_also_after_one_that_did() {
    use std::os::unix::fs::MetadataExt;
    let (_directory, path, copy) = new_database();
    let shared = path.join("layers/1.columns");
    back_up(&path, &copy).unwrap();
    let taken = copy.join("layers/1.columns");
    let inode = |file: &Path| std::fs::metadata(file).unwrap().ino();
    if inode(&shared) != inode(&taken) {
        // A file system with clones: have the copy share the file.
        std::fs::remove_file(&taken).unwrap();
        std::fs::hard_link(&shared, &taken).unwrap();
    }
    let made = backup(&real(), &path, &copy, BackupOptions { apart: true }, &run()).unwrap();
    assert_eq!((made.kept.files, made.linked.files, made.cloned.files), (0, 0, 0), "{made:?}");
    assert_ne!(inode(&shared), inode(&taken));
    // A copy that shares nothing is kept.
    let again = backup(&real(), &path, &copy, BackupOptions { apart: true }, &run()).unwrap();
    assert!(again.kept.files > 0, "{again:?}");
    newest(&copy);
}

#[test]
fn a_name_inside_the_database_and_a_link_that_leads_nowhere_are_refused() {
    let (directory, path, _) = new_database();
    let told = |to: &Path| back_up(&path, to).unwrap_err().to_string();
    assert!(told(&path.join("inner")).contains("choose a name outside"));
    assert!(told(&path.join("layers/inner")).contains("choose a name outside"));
    let link = directory.path().join("link");
    std::os::unix::fs::symlink(directory.path().join("nowhere"), &link).unwrap();
    assert!(told(&link).contains("leads nowhere: remove it, or choose another name"));
}

/// The backup has a version more than the database shows.
#[test]
fn a_backup_goes_on_after_its_newest_version_was_forgotten() {
    let (_directory, path, copy) = new_database();
    let db = open(&path);
    let last = commit(&db);
    back_up(&path, &copy).unwrap();
    db.forget(last).unwrap();
    assert_eq!(db.versions().last().unwrap().number, 1);
    back_up(&path, &copy).unwrap();
    db.close().unwrap();
}

/// Files are compared by what is in them, not by their names. The earlier backup need not be sound to be
/// replaced: not in its data, nor in the headers of the file (4096 bytes) or of its first column.
#[test]
fn a_file_of_the_same_name_and_length_with_other_content_is_not_kept() {
    let (_directory, path, copy) = new_database();
    back_up(&path, &copy).unwrap();
    let file = copy.join("layers/1.columns");
    let sound = std::fs::read(&file).unwrap();
    for damaged in [100, 4096 + 100, sound.len() / 2] {
        let mut bytes = sound.clone();
        bytes[damaged] ^= 1;
        std::fs::remove_file(&file).unwrap();
        std::fs::write(&file, bytes).unwrap();
        let again = back_up(&path, &copy).unwrap();
        assert_eq!(again.kept.files, 0, "byte {damaged}");
        newest(&copy);
    }
}

#[test]
fn a_damaged_database_is_not_backed_up_and_the_copy_before_it_stays() {
    let (_directory, path, copy) = new_database();
    back_up(&path, &copy).unwrap();
    let db = open(&path);
    commit(&db);
    db.compact_with(CompactOptions::default(), &run()).unwrap();
    db.close().unwrap();
    let file = std::fs::read_dir(path.join("layers")).unwrap().next().unwrap().unwrap().path();
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let told = back_up(&path, &copy).unwrap_err().to_string();
    assert!(told.contains("is damaged"), "{told}");
    assert_eq!(newest(&copy), 1);
}

#[test]
fn nothing_but_a_backup_of_the_same_history_is_replaced() {
    let (directory, path, copy) = new_database();
    let refused = |to: &Path, why: &str| {
        let told = back_up(&path, to).unwrap_err().to_string();
        assert!(told.contains(why), "{told}");
    };
    let db = open(&path);
    commit(&db);
    std::fs::create_dir(&copy).unwrap();
    refused(&copy, "is no backup");
    std::fs::remove_dir(&copy).unwrap();
    refused(&path, "is the database itself");
    back_up(&path, &copy).unwrap();
    let other = directory.path().join("other.esker");
    write_cycle(&other, 10, false).unwrap();
    assert!(back_up(&other, &copy).unwrap_err().to_string().contains("is a backup of another database"));
    // A database that was put back to an earlier state.
    let older = directory.path().join("older.esker");
    restore(&real(), &copy, &older, false, BackupOptions::default(), &run()).unwrap();
    commit(&db);
    back_up(&path, &copy).unwrap();
    assert!(back_up(&older, &copy).unwrap_err().to_string().contains("has a version 3"));
    // A database that went on differently.
    std::thread::sleep(std::time::Duration::from_millis(5));
    let older_db = open(&older);
    commit(&older_db);
    commit(&older_db);
    older_db.close().unwrap();
    assert!(back_up(&older, &copy).unwrap_err().to_string().contains("has a version 3"));
    // A copy with changes of its own.
    let changed = open(&copy);
    changed.tag("mine", 1).unwrap();
    changed.close().unwrap();
    refused(&copy, "was written to since");
    db.close().unwrap();
}

#[test]
fn a_restored_database_goes_on_and_its_backup_does_not_change() {
    let (directory, path, copy) = new_database();
    let db = open(&path);
    let second = commit(&db);
    back_up(&path, &copy).unwrap();
    commit(&db);
    db.close().unwrap();
    let force = |replace| restore(&real(), &copy, &path, replace, BackupOptions::default(), &run());
    assert!(force(false).unwrap_err().to_string().contains("exists"));
    assert_eq!(force(true).unwrap().version, second);
    assert_eq!(newest(&path), second);
    let db = open(&path);
    for _ in 0..5 {
        commit(&db);
    }
    db.compact_with(CompactOptions::default(), &run()).unwrap();
    db.close().unwrap();
    assert_eq!((newest(&path), newest(&copy)), (second + 5, second));
    let apart = directory.path().join("apart.esker");
    let made = restore(&real(), &copy, &apart, false, BackupOptions { apart: true }, &run()).unwrap();
    assert_eq!(made.copied.files, total(&made));
    let told =
        restore(&real(), &copy, &copy, true, BackupOptions::default(), &run()).unwrap_err().to_string();
    assert!(told.contains("is the backup itself"), "{told}");
    let left: Vec<_> =
        std::fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 3, "{left:?}");
}

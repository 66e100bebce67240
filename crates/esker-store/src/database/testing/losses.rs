//! Losses that no crash explains: log, segments or manifest removed, cut, zeroed, or replaced by copies of
//! another time. Each must be an error that names the file, or have lost nothing; after a kill, the end of
//! the log may be missing, as if the kill had come earlier. And each can be recovered from.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker_format::io::{Disk, Faults, FaultyDisk, MemoryDisk, RealDisk};
use esker_format::{Encoding, Error, IdMapKind, LiveContent, Result, Retention};
use esker_graph::{Direction, Run, random::Random};
use esker_layers::graph::HeadedOptions;
use esker_layers::layer::Body;
use esker_layers::tiles::ConvertOptions;

use crate::database::testing::model::{DB, ModelChange, ModelVersion, commit, normal, read};
use crate::database::{Database, DatabaseOptions};
use crate::sample::Sample;
use crate::store::Store;

/// The files of a database.
type DatabaseFiles = BTreeMap<PathBuf, Vec<u8>>;

/// A database at some time.
struct Moment {
    name: &'static str,
    files: DatabaseFiles,
    versions: BTreeMap<u64, ModelVersion>,
    /// The versions of this moment and of all earlier ones.
    history: BTreeMap<u64, ModelVersion>,
    tags: BTreeMap<String, u64>,
    /// Whether the process that wrote it ended without closing it.
    is_killed: bool,
}

fn options() -> DatabaseOptions {
    DatabaseOptions {
        threads: 1,
        segment_bytes: 4096 + 500,
        auto_merge: Some(false),
        ..DatabaseOptions::default()
    }
}

fn run() -> Run {
    Run::with_threads(1).unwrap()
}

fn open(disk: &Arc<dyn Disk>) -> Result<Database> {
    Database::open_with(disk, Path::new(DB), options(), run().single_threaded())
}

fn gather(disk: &dyn Disk, directory: &Path, files: &mut DatabaseFiles) {
    for entry in disk.list(directory).unwrap() {
        let path = directory.join(&entry.name);
        match entry.is_directory {
            true => gather(disk, &path, files),
            false => drop(files.insert(path.clone(), disk.read(&path).unwrap())),
        }
    }
}

/// A disk with these files.
fn disk_of(files: &DatabaseFiles) -> Arc<dyn Disk> {
    let disk = MemoryDisk::new();
    fill(&disk, files);
    Arc::new(disk)
}

fn fill(disk: &dyn Disk, files: &DatabaseFiles) {
    for directory in ["", "log", "layers", "ids"] {
        let directory = Path::new(DB).join(directory);
        if directory == Path::new(DB) || files.keys().any(|path| path.starts_with(&directory)) {
            disk.create_directory(&directory).unwrap();
        }
    }
    for (path, content) in files {
        let directory = path.parent().unwrap();
        if disk.look(directory).unwrap().is_none() {
            disk.create_directory(directory).unwrap();
        }
        disk.write(path, content).unwrap();
        disk.sync_directory(directory).unwrap();
    }
    disk.sync_directory(Path::new(DB)).unwrap();
    disk.sync_directory(Path::new(".")).unwrap();
}

fn contents(disk: &Arc<dyn Disk>) -> Result<BTreeMap<u64, ModelVersion>> {
    let store = Store::open_on(Arc::clone(disk), Path::new(DB))?.under(run());
    let numbers: Vec<u64> = store.versions()?.iter().map(|version| version.number).collect();
    numbers.into_iter().map(|number| Ok((number, normal(&read(&store.at(number)?, &run())?)))).collect()
}

fn tags(disk: &Arc<dyn Disk>) -> BTreeMap<String, u64> {
    (*Store::open_on(Arc::clone(disk), Path::new(DB)).unwrap().manifest().tags).clone()
}

/// The life of a database, from its import on.
fn moments() -> Vec<Moment> {
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
    let mut sample = Sample::random(8, 12, true, 1);
    sample.ids = IdMapKind::Identity;
    sample.write(&disk, Path::new(DB), false).unwrap();
    let mut moments = Vec::new();
    let mut keep = |name, is_killed| {
        let mut files = DatabaseFiles::new();
        gather(disk.as_ref(), Path::new(DB), &mut files);
        files.retain(|path, _| !path.ends_with("LOCK"));
        let (versions, tags) = (contents(&disk).unwrap(), tags(&disk));
        let earlier = moments.last().map(|moment: &Moment| moment.history.clone());
        let mut history = earlier.unwrap_or_default();
        history.extend(versions.clone());
        moments.push(Moment { name, files, versions, history, tags, is_killed });
    };
    let add = |db: &Database, v: u64| {
        let changes = [ModelChange::Add(v % 8, v % 5, v as i32, v as u8), ModelChange::AddVertex(8 + v % 3)];
        commit(db, &changes).unwrap();
    };
    keep("imported", false);
    open(&disk).unwrap().close().unwrap();
    keep("opened", false);
    let db = open(&disk).unwrap();
    (1..4).for_each(|v| add(&db, v));
    keep("killed after three commits", true);
    db.close().unwrap();
    keep("three commits", false);
    let db = open(&disk).unwrap();
    db.tag("first", 1).unwrap();
    db.close().unwrap();
    keep("tagged", false);
    let db = open(&disk).unwrap();
    (4..8).for_each(|v| add(&db, v));
    db.close().unwrap();
    keep("seven commits", false);
    let db = open(&disk).unwrap();
    db.freeze(&run()).unwrap();
    (8..10).for_each(|v| add(&db, v));
    keep("killed after a freeze", true);
    drop(db);
    keep("frozen", false);
    let db = open(&disk).unwrap();
    db.retain(Retention::Last(2)).unwrap();
    db.forget(10).unwrap();
    keep("killed after forgetting", true);
    add(&db, 11);
    db.close().unwrap();
    keep("forgotten", false);
    moments
}

/// Opens a damaged database every way. `allowed` are the moments that it may show; it may miss the last
/// versions of one that was killed.
fn judge(what: &str, files: &DatabaseFiles, allowed: &[&Moment]) {
    let disk = disk_of(files);
    let read = contents(&disk);
    let found = match (read, open(&disk).map(drop)) {
        (Ok(found), Ok(())) => found,
        (Err(by_reader), Err(by_writer)) => {
            // An older MANIFEST may name a layer that was merged since. The error names that file, and what
            // comes before it is kept.
            if let Error::Lost { path, .. } = &by_reader
                && path.starts_with("web.esker/layers")
            {
                assert!(!files.contains_key(path), "{what}: {by_reader}");
                assert_eq!(by_reader.to_string(), by_writer.to_string(), "{what}");
                return recover(what, files, allowed);
            }
            for error in [by_reader, by_writer] {
                let message = error.to_string();
                assert!(matches!(error, Error::Lost { .. } | Error::Corrupt { .. }), "{what}: {message}");
                assert!(message.starts_with("web.esker/log/") || message.starts_with("web.esker/MANIFEST"));
            }
            return recover(what, files, allowed);
        }
        (read, opened) => panic!("{what}: reader {read:?}, writer {opened:?}"),
    };
    let shown = (found, tags(&disk));
    let fits = |moment: &&&Moment| {
        let is_whole = shown.0 == moment.versions;
        // Without its last commits, the log may let the retention keep older versions.
        let is_earlier = shown.0.iter().all(|(number, version)| moment.history.get(number) == Some(version));
        (is_whole || (moment.is_killed && is_earlier)) && shown.1 == moment.tags
    };
    assert!(allowed.iter().any(|moment| fits(&moment)), "{what}: lost in silence: {:?}", shown.0.keys());
}

/// Gives up what is missing: what is left is as it was, and no number is used again.
fn recover(what: &str, files: &DatabaseFiles, allowed: &[&Moment]) {
    let disk = disk_of(files);
    let surveyed = Database::survey(&disk, Path::new(DB), &run());
    let Ok(surveyed) = surveyed else { return assert!(what.contains("MANIFEST"), "{what}: {surveyed:?}") };
    let report = Database::recover(&disk, Path::new(DB), options(), &run()).unwrap();
    assert_eq!(report, surveyed, "{what}");
    assert!(report.problem.is_some(), "{what}");
    let left =
        contents(&disk).unwrap_or_else(|error| panic!("{what}: after recovery of {report:?}: {error}"));
    assert_eq!(left.keys().last(), Some(&report.newest), "{what}");
    let last = allowed[0];
    for (number, version) in &left {
        // An older manifest may have versions that were forgotten since.
        let known = allowed.iter().find_map(|moment| moment.history.get(number));
        assert!(known.is_none_or(|known| known == version), "{what}: version {number} changed");
    }
    let db = open(&disk).unwrap();
    let next = commit(&db, &[ModelChange::AddVertex(3)]).unwrap();
    let last_known = last.versions.keys().last().unwrap();
    assert!(
        next > *report.lost.end() && (last.is_killed || next > *last_known),
        "{what}: {report:?}, {next}"
    );
    db.close().unwrap();
    assert_eq!(contents(&disk).unwrap().keys().last(), Some(&next), "{what}");
    assert_eq!(Database::survey(&disk, Path::new(DB), &run()).unwrap().problem, None, "{what}");
}

fn is_log(path: &Path) -> bool {
    path.starts_with(Path::new(DB).join("log"))
}

fn is_manifest(path: &Path) -> bool {
    path.ends_with("MANIFEST")
}

#[test]
fn a_removed_log_or_segment_is_an_error() {
    for moment in moments() {
        let mut files = moment.files.clone();
        files.retain(|path, _| !is_log(path));
        judge(&format!("{}: rm -r log", moment.name), &files, &[&moment]);
        for gone in moment.files.keys().filter(|path| is_log(path)) {
            let mut files = moment.files.clone();
            files.remove(gone);
            judge(&format!("{}: rm {}", moment.name, gone.display()), &files, &[&moment]);
        }
    }
}

#[test]
fn a_cut_or_zeroed_log_or_manifest_is_an_error() {
    for moment in moments() {
        // Records of the log begin at multiples of eight bytes.
        let step = if ["killed after a freeze", "forgotten"].contains(&moment.name) { 8 } else { 88 };
        for path in moment.files.keys().filter(|path| is_log(path) || is_manifest(path)) {
            let whole = &moment.files[path];
            for end in (0..whole.len()).filter(|end| end % step == 0 && (*end == 0 || *end >= 4096)) {
                let name = format!("{}: {} at byte {end}", moment.name, path.display());
                let mut files = moment.files.clone();
                files.get_mut(path).unwrap().truncate(end);
                judge(&format!("cut {name}"), &files, &[&moment]);
                files.get_mut(path).unwrap().resize(whole.len(), 0);
                judge(&format!("zeroed {name}"), &files, &[&moment]);
            }
        }
    }
}

#[test]
fn an_older_log_or_manifest_is_an_error_or_as_good() {
    let moments = moments();
    for (now, moment) in moments.iter().enumerate() {
        for older in &moments[..now] {
            let name = format!("{} in {}", older.name, moment.name);
            let mixed = |is_older: &dyn Fn(&Path) -> bool| {
                let mut files = moment.files.clone();
                files.retain(|path, _| !is_older(path));
                let old = older.files.iter().filter(|(path, _)| is_older(path));
                files.extend(old.map(|(path, content)| (path.clone(), content.clone())));
                files
            };
            judge(&format!("older log of {name}"), &mixed(&is_log), &[moment]);
            judge(&format!("older MANIFEST of {name}"), &mixed(&is_manifest), &[moment]);
            // Both of the same time: the database as it was, unless its layers are gone.
            let both = mixed(&|path: &Path| is_log(path) || is_manifest(path));
            let kept = older.files.keys().all(|path| is_log(path) || both.contains_key(path));
            if kept {
                judge(&format!("older log and MANIFEST of {name}"), &both, &[older]);
            }
        }
        for (log, older) in moments[..now].iter().enumerate() {
            for manifest in moments[..now].iter().filter(|manifest| manifest.name != older.name) {
                let mut files = moment.files.clone();
                files.retain(|path, _| !is_log(path) && !is_manifest(path));
                let logs = older.files.iter().filter(|(path, _)| is_log(path));
                let manifests = manifest.files.iter().filter(|(path, _)| is_manifest(path));
                files.extend(logs.chain(manifests).map(|(path, content)| (path.clone(), content.clone())));
                let name = format!("log {log} of {}, MANIFEST of {}", older.name, manifest.name);
                judge(&format!("{name} in {}", moment.name), &files, &[manifest, older]);
            }
        }
    }
}

#[test]
fn a_manifest_from_before_a_merge_loses_no_version() {
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
    let mut sample = Sample::random(8, 400, true, 1);
    sample.ids = IdMapKind::Identity;
    sample.write(&disk, Path::new(DB), false).unwrap();
    let db = open(&disk).unwrap();
    for v in 0..4 {
        commit(&db, &[ModelChange::AddVertex(8 + v)]).unwrap();
        db.freeze(&run()).unwrap();
    }
    db.tag("first", 1).unwrap();
    db.tag("third", 3).unwrap();
    db.close().unwrap();
    let before = contents(&disk).unwrap();
    let stale = disk.read(&Path::new(DB).join("MANIFEST")).unwrap();
    let db = open(&disk).unwrap();
    assert_eq!(db.merge(&run()).unwrap(), 1);
    db.close().unwrap();
    let mut files = DatabaseFiles::new();
    gather(disk.as_ref(), Path::new(DB), &mut files);
    files.retain(|path, _| !path.ends_with("LOCK"));
    files.insert(Path::new(DB).join("MANIFEST"), stale);
    let disk = disk_of(&files);
    let refused = open(&disk).unwrap_err().to_string();
    assert!(refused.starts_with("web.esker/layers/"), "{refused}");
    let report = Database::survey(&disk, Path::new(DB), &run()).unwrap();
    assert_eq!((report.newest, report.lost.is_empty()), (5, true), "the merged layer says what it is");
    assert!(
        report
            .problem
            .as_ref()
            .is_some_and(|problem| problem.starts_with("web.esker/MANIFEST has 8 records")),
        "{report:?}"
    );
    assert_eq!(Database::recover(&disk, Path::new(DB), options(), &run()).unwrap(), report);
    assert_eq!(contents(&disk).unwrap(), before);
    assert_eq!(tags(&disk), BTreeMap::from([("first".to_owned(), 1), ("third".to_owned(), 3)]));
    let db = open(&disk).unwrap();
    assert_eq!(commit(&db, &[ModelChange::AddVertex(3)]).unwrap(), 6, "no number is used twice");
    db.close().unwrap();
    assert_eq!(Database::survey(&disk, Path::new(DB), &run()).unwrap().problem, None);
    // Without the complete layer there is nothing to keep.
    files.retain(|path, _| !path.starts_with(Path::new(DB).join("layers")));
    let refused = Database::survey(&disk_of(&files), Path::new(DB), &run()).unwrap_err().to_string();
    assert!(refused.starts_with("web.esker/MANIFEST has 8 records"), "{refused}");
}

/// Loses power at each operation of a recovery in turn, and recovers again; `judge` gets the disk then, and
/// the operation.
fn recover_after_each_loss_of_power(files: &DatabaseFiles, judge: impl Fn(&Arc<dyn Disk>, u64)) {
    for at in 1.. {
        let disk = FaultyDisk::new(at);
        fill(&disk, files);
        disk.set_faults(Faults { die_at: Some(at), ..Faults::default() });
        let shared: Arc<dyn Disk> = Arc::new(disk.clone());
        let recovered = Database::recover(&shared, Path::new(DB), options(), &run());
        let is_over = disk.operations() < at;
        assert!(!is_over || recovered.is_ok(), "{recovered:?}");
        disk.set_faults(Faults::default());
        disk.crash();
        Database::recover(&shared, Path::new(DB), options(), &run()).unwrap();
        judge(&shared, at);
        if is_over {
            break;
        }
    }
}

#[test]
fn a_recovery_that_loses_power_can_be_repeated() {
    let moment = moments().pop().unwrap();
    let mut files = moment.files.clone();
    files.retain(|path, _| !is_log(path));
    let newest = *moment.versions.last_key_value().unwrap().0;
    recover_after_each_loss_of_power(&files, |disk, at| {
        let db = open(disk).unwrap();
        assert_eq!(commit(&db, &[ModelChange::AddVertex(3)]).unwrap(), newest + 1, "operation {at}");
        for (number, version) in moment.versions.iter().filter(|(number, _)| **number < newest) {
            assert_eq!(&normal(&read(&db.at(*number).unwrap(), &run()).unwrap()), version, "operation {at}");
        }
    });
}

/// Lists are made in steps, of which the first leaves a layer whose out-lists are the in-lists, or that has
/// no in-lists. Without MANIFEST, the second recovery took that layer for the graph.
#[test]
fn a_recovery_that_makes_lists_and_loses_power_can_be_repeated() {
    let [files, _] = two_courses();
    let before = contents(&disk_of(&files)).unwrap();
    for direction in [Direction::Out, Direction::In] {
        let mut damaged = files.clone();
        damage_lists(&mut damaged, direction, 0);
        damaged.retain(|path, _| !is_manifest(path));
        recover_after_each_loss_of_power(&damaged, |disk, at| {
            assert!(contents(disk).unwrap() == before, "{direction:?}-lists, operation {at}");
            let store = Store::open_on(Arc::clone(disk), Path::new(DB)).unwrap();
            let has_in_lists = store.manifest().layers.iter().all(|layer| layer.in_edges);
            assert!(has_in_lists, "{direction:?}-lists, operation {at}");
        });
    }
}

/// The layer that stands for lost versions said of itself that it had the first of them alone, so the layers
/// after it seemed to follow no other.
#[test]
fn a_manifest_that_is_lost_after_versions_were_lost_is_made_of_all_layers() {
    let moments = moments();
    let moment = moments.iter().find(|moment| moment.name == "seven commits").unwrap();
    let mut files = moment.files.clone();
    files.retain(|path, _| !is_log(path));
    let disk = disk_of(&files);
    let report = Database::recover(&disk, Path::new(DB), options(), &run()).unwrap();
    assert!(report.lost.clone().count() > 2, "{report:?}");
    let db = open(&disk).unwrap();
    let next = commit(&db, &[ModelChange::AddVertex(3)]).unwrap();
    db.freeze(&run()).unwrap();
    db.close().unwrap();
    let before = contents(&disk).unwrap();
    assert_eq!(before.keys().last(), Some(&next));
    disk.remove_file(&Path::new(DB).join("MANIFEST")).unwrap();
    let report = Database::recover(&disk, Path::new(DB), options(), &run()).unwrap();
    assert!(report.problem.is_some() && report.lost.is_empty(), "{report:?}");
    assert_eq!(contents(&disk).unwrap(), before);
}

/// A layer that a process may not read, or for which it has no memory, was given up.
#[test]
// A symbolic link that leads to itself stands for any file that the system refuses to open.
#[allow(clippy::disallowed_methods)]
fn a_layer_that_the_system_refuses_to_read_is_not_lost() {
    let directory = tempfile::tempdir().unwrap();
    let (disk, path): (Arc<dyn Disk>, _) = (Arc::new(RealDisk), directory.path().join(DB));
    let mut sample = Sample::random(8, 40, true, 1);
    sample.ids = IdMapKind::Identity;
    sample.write(&disk, &path, false).unwrap();
    let db = Database::open_with(&disk, &path, options(), run().single_threaded()).unwrap();
    commit(&db, &[ModelChange::AddVertex(3)]).unwrap();
    db.freeze(&run()).unwrap();
    db.close().unwrap();
    let store = Store::open_on(Arc::clone(&disk), &path).unwrap();
    let last = store.manifest().layers.last().unwrap().number;
    drop(store);
    let columns = esker_format::archive_path(&crate::manifest::layer_directory(&path, last));
    std::fs::remove_file(&columns).unwrap();
    assert!(!Database::survey(&disk, &path, &run()).unwrap().lost.is_empty(), "it is missing");
    std::os::unix::fs::symlink(&columns, &columns).unwrap();
    for manifest in ["whole", "lost"] {
        let refused = Database::recover(&disk, &path, options(), &run());
        assert!(
            matches!(&refused, Err(Error::Io { path, .. }) if *path == columns),
            "MANIFEST is {manifest}: {refused:?}"
        );
        let _ = std::fs::remove_file(path.join("MANIFEST"));
    }
}

/// Whether everything that looks for damage finds none.
fn is_said_to_be_sound(disk: &Arc<dyn Disk>) -> Result<bool> {
    let store = Store::open_on(Arc::clone(disk), Path::new(DB))?.under(run());
    let checked = store.check_log(&run())?;
    let reports = [crate::check::check(&store.frozen()?, &run())?, store.check(&run())?];
    let live = store.check_live(&run())?;
    Ok(checked.unfinished.is_empty() && live.is_empty() && reports.iter().all(crate::check::Report::is_sound))
}

/// Two copies of a database that take different courses, with the same numbers of versions and layers.
fn two_courses() -> [DatabaseFiles; 2] {
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
    let mut sample = Sample::random(8, 40, true, 1);
    (sample.ids, sample.encoding) = (IdMapKind::Texts, Encoding::Plain);
    sample.write(&disk, Path::new(DB), false).unwrap();
    let mut before = DatabaseFiles::new();
    gather(disk.as_ref(), Path::new(DB), &mut before);
    before.retain(|path, _| !path.ends_with("LOCK"));
    [1, 2].map(|course: u64| {
        let disk = disk_of(&before);
        let db = open(&disk).unwrap();
        let heads = HeadedOptions { head_len: Some(2), memory_bytes: 64 << 20 };
        let add = |v: u64| {
            let age = ModelChange::Age(v % 8, Some((course * 10 + v) as i64));
            let edge = ModelChange::Add(v % 8, (v + course) % 8, course as i32, course as u8);
            commit(&db, &[edge, age, ModelChange::AddVertex(8 + v)]).unwrap();
        };
        (1..3).for_each(add);
        db.freeze(&run()).unwrap();
        db.make_tiles(&ConvertOptions::default(), &run()).unwrap();
        db.make_heads(heads, &run()).unwrap();
        (3..5).for_each(add);
        db.freeze(&run()).unwrap();
        // Several segments of the log.
        (5..9).for_each(add);
        db.tag("newest", 9).unwrap();
        db.close().unwrap();
        let mut files = DatabaseFiles::new();
        gather(disk.as_ref(), Path::new(DB), &mut files);
        files.retain(|path, _| !path.ends_with("LOCK"));
        files
    })
}

/// `cp -rn` of a copy over another one once gave a database of which `check` said that it was sound, and
/// whose answers were of neither.
#[test]
fn files_of_two_courses_of_a_database_are_not_mixed() {
    let courses = two_courses();
    let whole = courses.each_ref().map(|files| contents(&disk_of(files)).unwrap());
    assert!(courses.iter().all(|files| is_said_to_be_sound(&disk_of(files)).unwrap()));
    assert_ne!(whole[0], whole[1]);
    let names: std::collections::BTreeSet<&PathBuf> = courses.iter().flat_map(BTreeMap::keys).collect();
    assert!(names.len() > 8, "{names:?}");
    let differing: Vec<&PathBuf> =
        names.into_iter().filter(|name| courses[0].get(*name) != courses[1].get(*name)).collect();
    let mut mixed = Vec::new();
    for (index, &one) in differing.iter().enumerate() {
        mixed.push(vec![one]);
        mixed.extend(differing[..index].iter().map(|&other| vec![one, other]));
    }
    for taken in mixed {
        let mut files = courses[0].clone();
        for &name in &taken {
            match courses[1].get(name) {
                Some(content) => drop(files.insert(name.clone(), content.clone())),
                None => drop(files.remove(name)),
            }
        }
        let disk = disk_of(&files);
        if matches!(is_said_to_be_sound(&disk), Ok(true)) {
            let found = contents(&disk).unwrap();
            let is_one = whole.contains(&found);
            assert!(is_one, "{taken:?} are of the other course, and nothing noticed");
        }
        let Ok(report) = Database::survey(&disk, Path::new(DB), &run()) else { continue };
        if report.problem.is_some() {
            Database::recover(&disk, Path::new(DB), options(), &run()).unwrap();
            for (number, version) in contents(&disk).unwrap() {
                let is_known = whole.iter().any(|whole| whole.get(&number) == Some(&version));
                assert!(is_known, "{taken:?}: version {number} was invented");
            }
        }
    }
}

#[test]
fn no_flipped_byte_of_manifest_loses_a_version_whose_files_are_whole() {
    for moment in moments().iter().filter(|moment| ["forgotten", "frozen", "tagged"].contains(&moment.name)) {
        let manifest = Path::new(DB).join("MANIFEST");
        let len = moment.files[&manifest].len();
        for at in (0..80).chain((4090..len).step_by(5)) {
            let mut files = moment.files.clone();
            files.get_mut(&manifest).unwrap()[at] ^= 4;
            let (disk, what) = (disk_of(&files), format!("{} with byte {at} flipped", moment.name));
            let (found, opened) = (contents(&disk), open(&disk).map(drop));
            if (8..12).contains(&at) {
                continue; // The version of the format: the checksum is compared first.
            }
            if found.is_err() || opened.is_err() {
                Database::recover(&disk, Path::new(DB), options(), &run())
                    .unwrap_or_else(|error| panic!("{what}: {error}"));
            }
            let found = contents(&disk).unwrap_or_else(|error| panic!("{what}: {error}"));
            for (number, version) in &moment.versions {
                assert_eq!(found.get(number), Some(version), "{what}: version {number}");
            }
            let is_known = |(number, version)| moment.history.get(number) == Some(version);
            assert!(found.iter().all(is_known), "{what}");
        }
    }
}

#[test]
fn a_lost_manifest_is_made_of_the_layers() {
    for moment in moments() {
        let mut files = moment.files.clone();
        files.remove(&Path::new(DB).join("MANIFEST"));
        let disk = disk_of(&files);
        let report = Database::recover(&disk, Path::new(DB), options(), &run())
            .unwrap_or_else(|error| panic!("{}: {error}", moment.name));
        assert!(report.problem.is_some_and(|problem| problem.contains("MANIFEST is missing")));
        let found = contents(&disk).unwrap();
        for (number, version) in &moment.versions {
            assert_eq!(found.get(number), Some(version), "{}: version {number}", moment.name);
        }
        assert!(is_said_to_be_sound(&disk).unwrap(), "{}", moment.name);
    }
}

/// Flips a byte of a column of the lists of a direction.
fn damage_lists(files: &mut DatabaseFiles, direction: Direction, layer: usize) {
    let disk = disk_of(files);
    let store = Store::open_on(Arc::clone(&disk), Path::new(DB)).unwrap();
    let version = store.frozen().unwrap();
    let section = version.stack().section(layer, direction).unwrap();
    let Body::Arrays(arrays) = section.main().body() else { panic!("plain lists") };
    let column = arrays.targets_column();
    let (path, at) = (column.path().to_owned(), column.first_byte() as usize);
    drop(version);
    files.get_mut(&path).unwrap()[at] ^= 1;
}

#[test]
fn lost_lists_are_made_of_those_of_the_other_direction() {
    let [files, _] = two_courses();
    let before = contents(&disk_of(&files)).unwrap();
    for direction in [Direction::Out, Direction::In] {
        for layer in [0, 1] {
            let mut damaged = files.clone();
            damage_lists(&mut damaged, direction, layer);
            let disk = disk_of(&damaged);
            assert!(!matches!(is_said_to_be_sound(&disk), Ok(true)));
            let report = Database::recover(&disk, Path::new(DB), options(), &run())
                .unwrap_or_else(|error| panic!("{direction:?}-lists of layer {layer}: {error}"));
            assert!(report.problem.is_some() && report.lost.is_empty(), "{report:?}");
            assert_eq!(contents(&disk).unwrap(), before, "{direction:?}-lists of layer {layer}");
            assert!(is_said_to_be_sound(&disk).unwrap(), "{direction:?}-lists of layer {layer}");
            let all = before.keys().copied().collect::<Vec<_>>();
            let store = Store::open_on(Arc::clone(&disk), Path::new(DB)).unwrap();
            for number in all {
                assert!(
                    crate::check::check(&store.at(number).unwrap(), &run()).unwrap().is_sound(),
                    "{number}"
                );
            }
        }
    }
}

#[test]
fn a_damaged_state_of_a_live_answer_is_found() {
    let [mut files, _] = two_courses();
    let disk = disk_of(&files);
    let (path, arrays) = (Path::new(DB).join("live/wcc-0123abcd"), Vec::new());
    let content = LiveContent {
        declaration: "wcc".to_owned(),
        numbering: String::new(),
        version: 1,
        committed_ms: 1,
        commit: 0,
        after: None,
        until: None,
        arrays,
    };
    let id = Store::open_on(Arc::clone(&disk), Path::new(DB)).unwrap().manifest().database;
    content.write(disk.as_ref(), &path, id).unwrap();
    assert!(is_said_to_be_sound(&disk).unwrap());
    let mut bytes = disk.read(&path).unwrap();
    bytes[4100] ^= 1;
    files.insert(path, bytes);
    assert!(!is_said_to_be_sound(&disk_of(&files)).unwrap());
}

/// A random database with several layers, tiles, heads, tags and commits in the log, and in which version
/// each layer begins.
fn random_course(random: &mut Random, from: Option<&DatabaseFiles>) -> DatabaseFiles {
    let disk: Arc<dyn Disk> = match from {
        Some(files) => disk_of(files),
        None => {
            let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
            let mut sample = Sample::random(8, 10 + random.index(60), true, random.index(4) as u32);
            sample.ids = [IdMapKind::Identity, IdMapKind::Texts, IdMapKind::Integers][random.index(3)];
            sample.write(&disk, Path::new(DB), false).unwrap();
            disk
        }
    };
    let db = open(&disk).unwrap();
    for _ in 0..4 + random.index(12) {
        let (u, v, w) = (random.index(8) as u64, random.index(8) as u64, random.index(100) as i32);
        match random.index(12) {
            0 => drop(db.freeze(&run()).unwrap()),
            1 => drop(db.merge(&run()).unwrap()),
            2 => drop(db.compact(&run()).unwrap()),
            3 => drop(db.make_tiles(&ConvertOptions::default(), &run())),
            4 => {
                let heads = HeadedOptions { head_len: Some(2), memory_bytes: 64 << 20 };
                db.make_heads(heads, &run()).unwrap();
            }
            5 => {
                let newest = db.versions().last().unwrap().number;
                db.tag(&format!("t{w}"), newest).unwrap();
            }
            6 => drop(commit(&db, &[ModelChange::Age(u, Some(i64::from(w)))]).unwrap()),
            7 => drop(commit(&db, &[ModelChange::RemoveVertex(u)]).unwrap()),
            8 => drop(commit(&db, &[ModelChange::Remove(u, v), ModelChange::Add(v, u, w, 5)]).unwrap()),
            _ => drop(commit(&db, &[ModelChange::Add(u, v, w, (w % 3) as u8)]).unwrap()),
        }
    }
    if random.index(3) > 0 {
        db.close().unwrap();
    }
    let mut files = DatabaseFiles::new();
    gather(disk.as_ref(), Path::new(DB), &mut files);
    files.retain(|path, _| !path.ends_with("LOCK"));
    files
}

/// Damages one or two files; returns what it did.
fn damage(random: &mut Random, files: &mut DatabaseFiles, other: &DatabaseFiles) -> (Vec<PathBuf>, String) {
    let (mut damaged, mut said) = (Vec::new(), String::new());
    for _ in 0..1 + random.index(2) {
        let names: Vec<PathBuf> = files.keys().cloned().collect();
        let path = names[random.index(names.len())].clone();
        let content = files.get_mut(&path).unwrap();
        let at = random.index(content.len().max(1));
        match random.index(5) {
            0 | 1 if !content.is_empty() => {
                content[at] ^= 1 << random.index(8);
                said += &format!("flip {} at {at}; ", path.display());
            }
            2 => {
                content.truncate(at);
                said += &format!("cut {} at {at}; ", path.display());
            }
            3 => {
                files.remove(&path);
                said += &format!("remove {}; ", path.display());
            }
            _ => {
                let names: Vec<&PathBuf> = other.keys().collect();
                let name = names[random.index(names.len())];
                files.insert(name.clone(), other[name].clone());
                said += &format!("take {} of the other; ", name.display());
                damaged.push(name.clone());
                continue;
            }
        }
        damaged.push(path);
    }
    (damaged, said)
}

/// The versions that no damaged file concerns: those in the layers below the damaged ones, and in the log if
/// the layers are whole.
fn unharmed(files: &DatabaseFiles, damaged: &[PathBuf], versions: &BTreeMap<u64, ModelVersion>) -> Vec<u64> {
    let store = Store::open_on(disk_of(files), Path::new(DB)).unwrap();
    let manifest = store.manifest();
    let is_of = |path: &PathBuf, number: u32| {
        let directory = crate::manifest::layer_directory(Path::new(DB), number);
        *path == esker_format::archive_path(&directory) || path.starts_with(&directory)
    };
    let is_form = |path: &PathBuf| {
        path.to_string_lossy().contains("/tiles") || path.to_string_lossy().contains("/heads")
    };
    let mut last = None;
    for layer in &manifest.layers {
        let is_hit = |path: &&PathBuf| is_of(path, layer.number) && !is_form(path);
        if damaged.iter().any(|path| is_hit(&path))
            || damaged.iter().any(|path| path.to_string_lossy().contains("/ids"))
        {
            break;
        }
        last = Some(layer.last_version);
    }
    let whole = last == manifest.layers.last().map(|layer| layer.last_version);
    let log = damaged.iter().any(|path| is_log(path));
    let last = last.map_or(0, |last| if whole && !log { u64::MAX } else { last });
    // Where a layer ends with a forgotten version, those before it cannot be kept without the next one.
    let last = if last == u64::MAX || versions.contains_key(&last) { last } else { 0 };
    versions.keys().copied().filter(|&number| number <= last).collect()
}

#[test]
fn random_damage_is_noticed_and_no_whole_version_is_lost_or_invented() {
    let rounds = std::env::var("ESKER_TEST_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(12);
    for seed in 0..rounds {
        let random = &mut Random::new(seed);
        let base = random_course(random, None);
        let courses = [random_course(random, Some(&base)), random_course(random, Some(&base))];
        let whole = courses.each_ref().map(|files| contents(&disk_of(files)).unwrap());
        for trial in 0..20 {
            let mut files = courses[0].clone();
            let (damaged, said) = damage(random, &mut files, &courses[1]);
            let what = format!("seed {seed}, trial {trial}: {said}");
            let disk = disk_of(&files);
            if matches!(is_said_to_be_sound(&disk), Ok(true)) {
                let found = contents(&disk).unwrap_or_else(|error| panic!("{what}: {error}"));
                let is_known =
                    |(number, version)| whole.iter().any(|whole| whole.get(number) == Some(version));
                assert!(
                    whole.contains(&found) || (said.contains("log/") && found.iter().all(is_known)),
                    "{what}"
                );
            }
            let is_manifest_of_other = said.contains("take web.esker/MANIFEST");
            let Ok(report) = Database::recover(&disk, Path::new(DB), options(), &run()) else {
                let left = unharmed(&courses[0], &damaged, &whole[0]);
                assert!(left.is_empty() || is_manifest_of_other, "{what}: {left:?} were not kept");
                continue;
            };
            let found = contents(&disk).unwrap_or_else(|error| panic!("{what}: {report:?}: {error}"));
            for (number, version) in &found {
                let is_known = whole.iter().any(|whole| whole.get(number) == Some(version));
                // Versions that were forgotten may come back.
                let was_forgotten = !whole[0].contains_key(number);
                assert!(is_known || was_forgotten, "{what}: version {number} was invented");
            }
            if !is_manifest_of_other {
                for number in unharmed(&courses[0], &damaged, &whole[0]) {
                    assert_eq!(
                        found.get(&number),
                        whole[0].get(&number),
                        "{what}: version {number}: {report:?}"
                    );
                }
            }
        }
    }
}

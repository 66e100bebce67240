//! Losses that no crash explains: log, segments or manifest removed, cut, zeroed, or replaced by copies of another time. Each must be
//! an error that names the file, or have lost nothing; after a kill, the end of the log may be missing, as if the kill had come
//! earlier. And each can be recovered from.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker_format::io::{Disk, Faults, FaultyDisk, MemoryDisk, RealDisk};
use esker_format::{Error, IdMapKind, Result, Retention, VersionRecord};
use esker_graph::{Direction, Run, VertexId};

use super::model::{DB, ModelChange, ModelVersion, commit, normal, read};
use super::{Database, DatabaseOptions};
use crate::sample::Sample;
use crate::store::Store;

/// The files of a database.
type Files = BTreeMap<PathBuf, Vec<u8>>;

/// A database at some time.
struct Moment {
    name: &'static str,
    files: Files,
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
    Database::open_with(Arc::clone(disk), Path::new(DB), options(), run().alone())
}

fn gather(disk: &dyn Disk, directory: &Path, files: &mut Files) {
    for entry in disk.list(directory).unwrap() {
        let path = directory.join(&entry.name);
        match entry.is_directory {
            true => gather(disk, &path, files),
            false => drop(files.insert(path.clone(), disk.read(&path).unwrap())),
        }
    }
}

/// A disk with these files.
fn disk_of(files: &Files) -> Arc<dyn Disk> {
    let disk = MemoryDisk::new();
    fill(&disk, files);
    Arc::new(disk)
}

fn fill(disk: &dyn Disk, files: &Files) {
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
        let mut files = Files::new();
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

/// Opens a damaged database every way. `allowed` are the moments that it may show; it may miss the last versions of one that was killed.
fn judge(what: &str, files: &Files, allowed: &[&Moment]) {
    let disk = disk_of(files);
    let read = contents(&disk);
    let found = match (read, open(&disk).map(drop)) {
        (Ok(found), Ok(())) => found,
        (Err(by_reader), Err(by_writer)) => {
            // An older MANIFEST may name a layer that was merged since. The error names that file, and what comes before it is kept.
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
fn recover(what: &str, files: &Files, allowed: &[&Moment]) {
    let disk = disk_of(files);
    let surveyed = Database::survey(&disk, Path::new(DB));
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
    assert_eq!(Database::survey(&disk, Path::new(DB)).unwrap().problem, None, "{what}");
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
fn a_manifest_from_before_a_merge_keeps_the_layers_before_the_merged_ones() {
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
    let mut files = Files::new();
    gather(disk.as_ref(), Path::new(DB), &mut files);
    files.retain(|path, _| !path.ends_with("LOCK"));
    files.insert(Path::new(DB).join("MANIFEST"), stale);
    let disk = disk_of(&files);
    let refused = open(&disk).unwrap_err().to_string();
    assert!(refused.starts_with("web.esker/layers/"), "{refused}");
    let report = Database::survey(&disk, Path::new(DB)).unwrap();
    assert_eq!((report.newest, report.lost.clone()), (1, 2..=5));
    assert!(
        report.problem.as_ref().is_some_and(|problem| problem.starts_with("web.esker/layers/")),
        "{report:?}"
    );
    assert_eq!(Database::recover(&disk, Path::new(DB), options(), &run()).unwrap(), report);
    assert_eq!(contents(&disk).unwrap(), before.into_iter().take(1).collect());
    assert_eq!(tags(&disk), BTreeMap::from([("first".to_owned(), 1)]));
    let db = open(&disk).unwrap();
    assert_eq!(commit(&db, &[ModelChange::AddVertex(3)]).unwrap(), 6, "no number is used twice");
    db.close().unwrap();
    assert_eq!(Database::survey(&disk, Path::new(DB)).unwrap().problem, None);
    // Without the complete layer there is nothing to keep.
    files.retain(|path, _| !path.starts_with(Path::new(DB).join("layers")));
    let refused = Database::survey(&disk_of(&files), Path::new(DB)).unwrap_err().to_string();
    assert!(refused.starts_with("web.esker/layers/1"), "{refused}");
}

#[test]
fn a_recovery_that_loses_power_can_be_repeated() {
    let moment = moments().pop().unwrap();
    let mut files = moment.files.clone();
    files.retain(|path, _| !is_log(path));
    let newest = *moment.versions.last_key_value().unwrap().0;
    for at in 1.. {
        let disk = FaultyDisk::new(at);
        fill(&disk, &files);
        disk.set_faults(Faults { die_at: Some(at), ..Faults::default() });
        let shared: Arc<dyn Disk> = Arc::new(disk.clone());
        let recovered = Database::recover(&shared, Path::new(DB), options(), &run());
        let is_over = disk.operations() < at;
        assert!(!is_over || recovered.is_ok(), "{recovered:?}");
        disk.set_faults(Faults::default());
        disk.crash();
        Database::recover(&shared, Path::new(DB), options(), &run()).unwrap();
        let db = open(&shared).unwrap();
        assert_eq!(commit(&db, &[ModelChange::AddVertex(3)]).unwrap(), newest + 1, "operation {at}");
        for (number, version) in moment.versions.iter().filter(|(number, _)| **number < newest) {
            assert_eq!(&normal(&read(&db.at(*number).unwrap(), &run()).unwrap()), version, "operation {at}");
        }
        if is_over {
            break;
        }
    }
}

#[test]
fn a_database_of_format_4_opens_and_gets_marks_when_it_is_written() {
    if size_of::<VertexId>() == 8 {
        return;
    }
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/older/format-4");
    let mut old = Files::new();
    gather(&RealDisk, &fixture, &mut old);
    let files: Files = old
        .into_iter()
        .map(|(path, content)| (Path::new(DB).join(path.strip_prefix(&fixture).unwrap()), content))
        .collect();
    let disk = disk_of(&files);
    let before = contents_as_edges(&disk);
    assert_eq!(before.iter().map(Vec::len).collect::<Vec<_>>(), [4, 6, 8]);
    let read = |disk: &Arc<dyn Disk>| disk.read(&Path::new(DB).join("MANIFEST")).unwrap();
    assert_eq!(read(&disk)[8], 4, "reading changes nothing");
    let db = open(&disk).unwrap();
    let mut batch = db.batch();
    batch.add_edge(3_u64, 1_u64, &[]).unwrap();
    batch.add_edge(1_u64, 3_u64, &[]).unwrap();
    assert_eq!(db.commit(batch, "new").unwrap(), 4);
    db.close().unwrap();
    assert_eq!(u32::from(read(&disk)[8]), esker_format::FORMAT_VERSION);
    assert_eq!((contents_as_edges(&disk)[..3].to_vec(), tags(&disk)["two"]), (before, 2));
    disk.remove_directory(&Path::new(DB).join("log")).unwrap();
    let lost = open(&disk).map(drop).unwrap_err().to_string();
    assert!(lost.contains("versions 3 to 4 may be lost"), "{lost}");
}

/// The edges of each version.
fn contents_as_edges(disk: &Arc<dyn Disk>) -> Vec<Vec<(VertexId, VertexId)>> {
    let store = Store::open_on(Arc::clone(disk), Path::new(DB)).unwrap();
    let of = |version: VersionRecord| {
        let snapshot = store.at(version.number).unwrap();
        let list = |v| (v, snapshot.neighbors(Direction::Out, v).unwrap().into_owned());
        let lists = (0..snapshot.num_vertices()).map(esker_graph::vertex).map(list);
        lists.flat_map(|(v, list)| list.into_iter().map(move |u| (v, u))).collect()
    };
    store.versions().unwrap().into_iter().map(of).collect()
}

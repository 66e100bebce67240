//! Tests of staging: atomic creation and replacement of databases.

use std::path::Path;
use std::sync::Arc;

use esker_format::io::{Disk, Faults, FaultyDisk};
use esker_format::{DatabaseId, Edit, Error, FieldValue, IdMapKind, IdMapRecord, Result, Stamp, VertexOrder};

use crate::manifest::{MANIFEST_NAME, Manifest, Staging, StagingOptions, lock_writer};
use crate::sample::Sample;

const DB: &str = "web.esker";

fn shared(disk: &FaultyDisk) -> Arc<dyn Disk> {
    Arc::new(disk.clone())
}

fn manifest(disk: &FaultyDisk) -> Result<Manifest> {
    Manifest::read(disk, &Path::new(DB).join(MANIFEST_NAME))
}

/// Checks that the files of the database equal those of one of the candidates. Returns its number of edges;
/// `None` without a database.
fn edges_of_whole_database(disk: &FaultyDisk, candidates: &[(u64, FaultyDisk)]) -> Option<u64> {
    disk.look(Path::new(DB)).unwrap()?;
    let found = manifest(disk).unwrap().layers[0].num_edges;
    let (_, reference) = candidates.iter().find(|(num_edges, _)| *num_edges == found).unwrap();
    for directory in ["", "/layers", "/layers/1", "/ids"].map(|inside| format!("{DB}{inside}")) {
        if reference.look(Path::new(&directory)).unwrap().is_none() {
            assert_eq!(disk.look(Path::new(&directory)).unwrap(), None);
            continue;
        }
        let entries = reference.list(Path::new(&directory)).unwrap();
        assert_eq!(disk.list(Path::new(&directory)).unwrap(), entries);
        for entry in entries.iter().filter(|entry| !entry.is_directory) {
            let path = Path::new(&directory).join(&entry.name);
            assert!(disk.read(&path).unwrap() == reference.read(&path).unwrap(), "{}", path.display());
        }
    }
    Some(found)
}

/// A graph's number of edges, and a disk with its database.
fn written(sample: &Sample) -> (u64, FaultyDisk) {
    let disk = FaultyDisk::new(0);
    sample.write(&shared(&disk), Path::new(DB), false).unwrap();
    (sample.edges.len() as u64, disk)
}

fn leftovers(disk: &FaultyDisk) -> usize {
    let entries = disk.list(Path::new(".")).unwrap();
    entries.iter().filter(|entry| entry.name.starts_with(".web.esker.staging-")).count()
}

/// Writes `new`, replacing `old` if there is one, with a fault at each operation in turn, and with or without
/// a power failure. The target must then hold the old database (or none) or the new one, and writing again
/// must succeed and clean up.
fn survives(old: Option<&Sample>, new: &Sample, power_is_lost: bool) {
    let start = |seed| {
        let disk = FaultyDisk::new(seed);
        if let Some(old) = old {
            old.write(&shared(&disk), Path::new(DB), false).unwrap();
        }
        disk.set_faults(Faults::default());
        disk
    };
    let disk = start(0);
    new.write(&shared(&disk), Path::new(DB), true).unwrap();
    let (operations, mut outcomes) = (disk.operations(), std::collections::BTreeSet::new());
    assert!(operations > 12);
    let old_edges = old.map(|old| old.edges.len() as u64);
    let new_edges = Some(new.edges.len() as u64);
    let candidates: Vec<_> = old.into_iter().chain([new]).map(written).collect();
    for k in 1..=operations + 1 {
        let disk = start(k);
        let at = Some(k);
        disk.set_faults(if power_is_lost {
            Faults { die_at: at, ..Faults::default() }
        } else {
            Faults { fail_at: at, ..Faults::default() }
        });
        let written = new.write(&shared(&disk), Path::new(DB), true);
        disk.set_faults(Faults::default());
        if power_is_lost {
            disk.crash();
        }
        let found = edges_of_whole_database(&disk, &candidates);
        assert!(found == old_edges || found == new_edges, "fault at {k}: {found:?}");
        assert!(written.is_err() || found == new_edges, "fault at {k}: an acknowledged database is missing");
        outcomes.insert(found == new_edges);
        new.write(&shared(&disk), Path::new(DB), true).unwrap();
        assert_eq!(edges_of_whole_database(&disk, &candidates), new_edges);
        assert_eq!(leftovers(&disk), 0, "fault at {k}");
    }
    assert_eq!(outcomes.len(), 2, "only one outcome occurred");
}

#[test]
fn a_database_is_installed_wholly_or_not_at_all() {
    let (small, other) = (Sample::random(5, 8, true, 1), Sample::random(6, 11, false, 2));
    survives(None, &small, false);
    survives(None, &small, true);
    survives(Some(&small), &other, false);
    survives(Some(&small), &other, true);
    let texts = Sample { ids: IdMapKind::Texts, ..Sample::random(7, 9, true, 3) };
    survives(Some(&texts), &small, true);
    survives(Some(&small), &texts, true);
}

#[test]
fn a_database_with_large_columns_is_installed_wholly_or_not_at_all() {
    let large = Sample::random(100, 270_000, true, 3);
    survives(None, &large, true);
}

#[test]
fn a_full_disk_is_an_error_and_leaves_no_files() {
    let disk = FaultyDisk::new(0);
    disk.set_faults(Faults { space_bytes: Some(30_000), ..Faults::default() });
    let error = Sample::random(5, 8, true, 1).write(&shared(&disk), Path::new(DB), false).unwrap_err();
    assert!(
        matches!(&error, Error::Io { source, .. } if source.kind() == std::io::ErrorKind::StorageFull),
        "{error}"
    );
    assert_eq!(disk.list(Path::new(".")).unwrap(), []);
}

#[test]
fn only_databases_are_replaced() {
    let disk = FaultyDisk::new(0);
    let begin = |name: &str, replace| {
        let options = StagingOptions { replace, ..StagingOptions::default() };
        Staging::begin(shared(&disk), Path::new(name), options).map(|_| ()).map_err(|error| error.to_string())
    };
    disk.create_directory(Path::new("photos")).unwrap();
    disk.write(Path::new("letter"), b"dear").unwrap();
    for name in ["photos", "letter"] {
        let message = begin(name, true).unwrap_err();
        assert_eq!(message, format!("{name} exists and is not a database: choose another name"));
    }
    Sample::random(5, 8, true, 1).write(&shared(&disk), Path::new(DB), false).unwrap();
    assert!(begin(DB, false).unwrap_err().starts_with("web.esker exists:"));
    let lock = lock_writer(&shared(&disk), Path::new(DB)).unwrap();
    assert!(begin(DB, true).unwrap_err().contains("being written to by another process"));
    drop(lock);
    begin(DB, true).unwrap();
    // Replacing the database would remove a file that is not part of it.
    for name in ["web.esker/notes", "web.esker/layers/notes"] {
        disk.write(Path::new(name), b"years of work").unwrap();
        let message = begin(DB, true).unwrap_err();
        assert!(message.starts_with(&format!("{name} is not part of the database web.esker")), "{message}");
        disk.remove_file(Path::new(name)).unwrap();
    }
    assert!(begin("..", true).unwrap_err().contains("is not a valid name for a database"));
    assert_eq!(edges_of_whole_database(&disk, &[written(&Sample::random(5, 8, true, 1))]), Some(8));
    assert_eq!(leftovers(&disk), 0);
}

#[test]
fn a_disk_that_cannot_exchange_names_refuses_to_replace_a_database_before_the_work() {
    let disk = FaultyDisk::new(0);
    let (old, new) = (Sample::random(5, 8, true, 1), Sample::random(6, 11, false, 2));
    old.write(&shared(&disk), Path::new(DB), false).unwrap();
    disk.set_faults(Faults { no_exchange: true, ..Faults::default() });
    let options = StagingOptions { replace: true, ..StagingOptions::default() };
    let refused = Staging::begin(shared(&disk), Path::new(DB), options).map(drop).unwrap_err().to_string();
    assert!(refused.starts_with("cannot replace web.esker in one step"), "{refused}");
    assert_eq!((edges_of_whole_database(&disk, &[written(&old)]), leftovers(&disk)), (Some(8), 0));
    disk.remove_directory(Path::new(DB)).unwrap();
    new.write(&shared(&disk), Path::new(DB), true).unwrap();
}

#[test]
fn a_directory_of_somebody_else_beside_the_target_is_left_alone() {
    let disk = FaultyDisk::new(0);
    let names = [".web.esker.staging-mine", ".web.esker.staging-", ".web.esker.staging-0123456789ABCDEF"];
    for name in names.iter().chain(&[".web.esker.staging-0123456789abcdef"]) {
        disk.create_directory(&Path::new(".").join(name)).unwrap();
    }
    Sample::random(5, 8, true, 1).write(&shared(&disk), Path::new(DB), false).unwrap();
    let left: Vec<String> = disk.list(Path::new(".")).unwrap().into_iter().map(|entry| entry.name).collect();
    assert!(names.iter().all(|name| left.iter().any(|other| other == name)), "{left:?}");
    assert_eq!(left.len(), names.len() + 1, "{left:?}");
}

#[test]
fn a_second_staging_does_not_remove_a_live_one() {
    let disk = FaultyDisk::new(0);
    let begin = || Staging::begin(shared(&disk), Path::new(DB), StagingOptions::default()).unwrap();
    let first = begin();
    let second = begin();
    assert_eq!(leftovers(&disk), 2);
    drop(first);
    assert_eq!(leftovers(&disk), 1);
    drop(second);
    assert_eq!(leftovers(&disk), 0);
}

#[test]
fn another_width_of_vertex_ids_is_an_error_that_names_the_remedy() {
    let disk = FaultyDisk::new(0);
    Sample::random(5, 8, true, 1).write(&shared(&disk), Path::new(DB), false).unwrap();
    let path = Path::new(DB).join(MANIFEST_NAME);
    let mut content = disk.read(&path).unwrap();
    let width = 8 + 4 + 16;
    assert_eq!(usize::from(content[width]), size_of::<esker_graph::VertexId>());
    content[width] = 12 - content[width];
    let sum = crc32c::crc32c(&content[..4092]);
    content[4092..4096].copy_from_slice(&sum.to_le_bytes());
    disk.remove_file(&path).unwrap();
    disk.write(&path, &content).unwrap();
    let message = manifest(&disk).unwrap_err().to_string();
    let found = format!("{} bytes", content[width]);
    assert!(message.contains("the feature `id64`") && message.contains(&found), "{message}");
}

#[test]
fn an_incomplete_manifest_is_damaged() {
    let disk = FaultyDisk::new(0);
    let ids =
        IdMapRecord { kind: IdMapKind::Identity, base: 0, order: VertexOrder::Keep, stamp: Stamp([1; 16]) };
    for edits in [vec![], vec![Edit::SetIdMap(ids)]] {
        let path = Path::new("m");
        disk.write(path, &Manifest::encode(DatabaseId([1; 16]), 0, &edits).unwrap()).unwrap();
        let message = Manifest::read(&disk, path).unwrap_err().to_string();
        assert!(message.contains("it does not describe a complete database"), "{message}");
        disk.remove_file(path).unwrap();
    }
    let mut bytes = Vec::new();
    99_u16.put(&mut bytes);
    let message =
        Edit::take(&mut esker_format::FieldInput::new(Path::new("m"), &bytes, 50)).unwrap_err().to_string();
    assert!(message.contains("m is damaged at byte 50: the code of EditKind is unknown"), "{message}");
}

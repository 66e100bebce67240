//! Tests of the manifest: faults at every operation, damage, rewriting, and readers during writes.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use esker_format::io::{Disk, Faults, FaultyDisk, MemoryDisk, RealDisk};
use esker_format::{
    DatabaseId, Edit, Error, GraphShape, HeadOrder, HeadsRecord, IdMapKind, IdMapRecord, IdSecret,
    LayerRecord, PAGE_BYTES, Result, Retention, Stamp, TagRecord, VersionRecord, VertexOrder,
};

use crate::manifest::{MANIFEST_NAME, Manifest, ManifestWriter, lock_writer};

const DB: &str = "web.esker";

fn shared(disk: &FaultyDisk) -> Arc<dyn Disk> {
    Arc::new(disk.clone())
}

fn layer(number: u32, versions: std::ops::RangeInclusive<u64>) -> LayerRecord {
    let complete = *versions.start() == 1;
    let (first_version, last_version) = versions.into_inner();
    LayerRecord {
        number,
        first_version,
        last_version,
        complete,
        ..LayerRecord::first(&GraphShape::default(), Stamp([1; 16]))
    }
}

fn version(number: u64) -> Edit {
    Edit::AddVersion(VersionRecord::at_end_of(
        &layer(1, number..=number),
        number * 10,
        number * 20,
        format!("v{number}"),
    ))
}

fn tag(name: &str, version: u64) -> Edit {
    Edit::SetTag(TagRecord { name: name.to_owned(), version })
}

fn first_edits() -> Vec<Edit> {
    let ids =
        IdMapRecord { kind: IdMapKind::Identity, base: 0, order: VertexOrder::Keep, stamp: Stamp([1; 16]) };
    let secret = Edit::SetIdSecret(IdSecret([1; 16]));
    vec![Edit::AddLayer(layer(1, 1..=1)), Edit::SetIdMap(ids), secret, version(1)]
}

fn database(seed: u64) -> FaultyDisk {
    let disk = FaultyDisk::new(seed);
    disk.create_directory(Path::new(DB)).unwrap();
    let content = Manifest::encode(DatabaseId([1; 16]), 5, &first_edits()).unwrap();
    disk.write(&path(), &content).unwrap();
    disk.sync_directory(Path::new(DB)).unwrap();
    disk
}

fn path() -> std::path::PathBuf {
    Path::new(DB).join(MANIFEST_NAME)
}

fn read(disk: &FaultyDisk) -> Result<Manifest> {
    Manifest::read(disk, &path())
}

fn open(disk: &FaultyDisk) -> Result<ManifestWriter> {
    ManifestWriter::open(&lock_writer(&shared(disk), Path::new(DB))?)
}

/// The edits of step `k`: a freeze, a merge of all layers except the first, a moved tag, or forgotten
/// versions.
fn step(manifest: &Manifest, k: u64) -> Vec<Edit> {
    let next = manifest.log_start().first_version;
    let number = manifest.layers.iter().map(|layer| layer.number).max().unwrap_or(0) + 1;
    match k % 4 {
        1 if manifest.layers.len() > 3 => {
            let inputs = &manifest.layers[1..];
            let merged = layer(number, inputs[0].first_version..=next - 1);
            let removed = inputs.iter().map(|layer| Edit::RemoveLayer { number: layer.number });
            std::iter::once(Edit::AddLayer(merged)).chain(removed).collect()
        }
        2 => vec![tag("last", next - 1), Edit::SetRetention(Retention::Last(k))],
        3 if manifest.versions.len() > 4 => {
            let tagged: BTreeSet<u64> = manifest.tags.values().copied().collect();
            let forgotten = manifest.versions.iter().map(|version| version.number);
            forgotten
                .filter(|number| !tagged.contains(number))
                .take(2)
                .map(|number| Edit::RemoveVersion { number })
                .collect()
        }
        _ => vec![Edit::AddLayer(layer(number, next..=next + 1)), version(next), version(next + 1)],
    }
}

/// Runs steps; sets `known` to the last acknowledged and the last attempted state.
fn work(disk: &FaultyDisk, known: &mut [Manifest; 2], steps: std::ops::Range<u64>) -> Result<()> {
    let mut writer = open(disk)?;
    for k in steps {
        let edits = step(writer.manifest(), k);
        known[1] = writer.manifest().with(&edits).unwrap();
        known[0] = writer.append(&edits)?.as_ref().clone();
        assert_eq!(known[0], known[1]);
    }
    Ok(())
}

fn fault(at: u64, power_is_lost: bool) -> Faults {
    let at = Some(at);
    if power_is_lost {
        Faults { die_at: at, ..Faults::default() }
    } else {
        Faults { fail_at: at, ..Faults::default() }
    }
}

/// Runs `steps` with a fault at each operation, and each recovery with a fault at each of its operations.
fn survives(
    prepare: impl Fn(u64) -> (FaultyDisk, Manifest),
    steps: std::ops::Range<u64>,
    power_is_lost: bool,
) {
    let mut outcomes = BTreeSet::new();
    'faults: for k in 1.. {
        for j in 1.. {
            let (disk, manifest) = prepare(k * 1000 + j);
            let mut known = [manifest.clone(), manifest];
            disk.set_faults(fault(k, power_is_lost));
            let done = work(&disk, &mut known, steps.clone());
            if done.is_ok() && disk.operations() < k {
                break 'faults;
            }
            let lose_power = || {
                disk.set_faults(Faults::default());
                if power_is_lost {
                    disk.crash();
                }
            };
            lose_power();
            let seen = read(&disk).unwrap();
            assert!(known.contains(&seen), "fault at {k}");
            outcomes.insert((seen == known[0], seen == known[1]));
            disk.set_faults(fault(j, power_is_lost));
            let recovered = open(&disk).map(|writer| assert_eq!(writer.manifest().as_ref(), &seen));
            let is_last = recovered.is_ok() && disk.operations() < j;
            lose_power();
            // The recovered state may be older than the one read before only if that one was never made
            // durable.
            let seen = read(&disk).unwrap();
            assert!(known.contains(&seen), "faults at {k} and {j}");
            let writer = open(&disk).unwrap();
            assert_eq!(writer.manifest().as_ref(), &seen);
            let names = disk.list(Path::new(DB)).unwrap().into_iter().map(|entry| entry.name);
            assert_eq!(names.collect::<Vec<_>>(), ["LOCK", MANIFEST_NAME], "the writer left files");
            disk.crash();
            assert_eq!(
                read(&disk).unwrap(),
                seen,
                "faults at {k} and {j}: a crash changed the state of an opened writer"
            );
            work(&disk, &mut [seen.clone(), seen], 0..3).unwrap();
            if is_last {
                break;
            }
        }
    }
    assert_eq!(outcomes.len(), 3, "{outcomes:?}");
}

#[test]
fn a_record_takes_effect_wholly_or_not_at_all_after_a_fault_at_any_operation() {
    let prepare = |seed| {
        let disk = database(seed);
        let manifest = read(&disk).unwrap();
        (disk, manifest)
    };
    survives(prepare, 0..6, true);
    survives(prepare, 0..6, false);
}

/// A database whose manifest the next record rewrites, and its state.
fn full_of_dead_edits(seed: u64) -> (FaultyDisk, Manifest) {
    let disk = database(seed);
    let mut writer = open(&disk).unwrap();
    let dead: Vec<Edit> = (0..257).map(|_| tag("here", 1)).collect();
    let manifest = writer.append(&dead).unwrap().as_ref().clone();
    (disk, manifest)
}

#[test]
fn a_rewrite_may_be_interrupted_at_any_operation() {
    let (disk, manifest) = full_of_dead_edits(0);
    let bytes = || disk.look(&path()).unwrap().unwrap().bytes;
    let old_bytes = bytes();
    work(&disk, &mut [manifest.clone(), manifest], 2..3).unwrap();
    assert!(bytes() < old_bytes, "the manifest was not rewritten");
    assert_eq!(read(&disk).unwrap().records, 3, "the rewrite changed the record number");
    survives(full_of_dead_edits, 2..4, true);
    survives(full_of_dead_edits, 2..4, false);
}

/// A thread that compared between the renaming and the exchange of the locks stopped the writer for ever.
#[test]
fn other_threads_find_the_manifest_in_its_place_while_it_is_rewritten() {
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
    disk.create_directory(Path::new(DB)).unwrap();
    disk.write(&path(), &Manifest::encode(DatabaseId([1; 16]), 5, &first_edits()).unwrap()).unwrap();
    let lock = lock_writer(&disk, Path::new(DB)).unwrap();
    let mut writer = ManifestWriter::open(&lock).unwrap();
    let dead: Vec<Edit> = (0..257).map(|_| tag("here", 1)).collect();
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let compare = || {
            while !ended.load(Ordering::Relaxed) {
                lock.expect()?;
            }
            Ok::<_, Error>(())
        };
        let others = [scope.spawn(compare), scope.spawn(compare)];
        let written = (0..1000).try_for_each(|_| writer.append(&dead).map(drop));
        ended.store(true, Ordering::Relaxed);
        written.unwrap();
        others.into_iter().for_each(|other| other.join().unwrap().unwrap());
    });
    assert!(disk.look(&path()).unwrap().unwrap().bytes < 20_000, "the manifest was not rewritten");
}

#[test]
fn a_disk_that_cannot_exchange_names_keeps_the_manifest_small_too() {
    let (disk, _) = full_of_dead_edits(0);
    disk.set_faults(Faults { no_exchange: true, ..Faults::default() });
    let bytes = || disk.look(&path()).unwrap().unwrap().bytes;
    let old_bytes = bytes();
    let mut writer = open(&disk).unwrap();
    for k in 0..3 {
        writer.append(&[tag("here", 1), tag(&format!("{k}"), 1)]).unwrap();
    }
    assert!(bytes() < old_bytes, "the manifest was not rewritten");
    assert_eq!(read(&disk).unwrap(), **writer.manifest());
}

#[test]
fn the_file_stays_proportional_to_the_live_edits() {
    let disk = database(1);
    let mut writer = open(&disk).unwrap();
    let mut bytes_max = 0;
    for k in 0..4000 {
        let edits = step(writer.manifest(), k);
        writer.append(&edits).unwrap();
        bytes_max = bytes_max.max(disk.look(&path()).unwrap().unwrap().bytes);
    }
    let manifest = writer.manifest();
    assert_eq!(*manifest.as_ref(), read(&disk).unwrap());
    let (live, records) = (manifest.versions.len() + manifest.layers.len(), manifest.records);
    assert!(records > 3000 && live < 1500, "{live} of {records}");
    assert!(bytes_max < 500_000, "{bytes_max}");
}

#[test]
fn reading_detects_every_flipped_bit() {
    let disk = database(2);
    let manifest = read(&disk).unwrap();
    let mut known = [manifest.clone(), manifest];
    work(&disk, &mut known, 0..7).unwrap();
    let bytes = disk.look(&path()).unwrap().unwrap().bytes;
    for offset in 0..bytes {
        disk.flip(&path(), offset, (offset % 8) as u8).unwrap();
        match read(&disk) {
            Ok(manifest) => {
                assert_eq!(manifest, known[0]);
                assert!(offset >= bytes - 20, "damage outside of the seal went undetected");
            }
            Err(Error::Corrupt { path: found, offset: at, .. }) => assert!(found == path() && at <= offset),
            Err(Error::Invalid(reason)) => {
                let reason = reason.to_string();
                assert!(reason.contains("version") || reason.contains("id64"), "{reason}");
            }
            Err(error) => panic!("{error}"),
        }
        disk.flip(&path(), offset, (offset % 8) as u8).unwrap();
    }
    for k in 1..6 {
        disk.set_faults(Faults { flip_read_at: Some(k), ..Faults::default() });
        match read(&disk) {
            Ok(manifest) => assert_eq!(manifest, known[0]),
            Err(error) => assert!(error.to_string().contains("web.esker/MANIFEST"), "{error}"),
        }
    }
}

#[test]
fn readers_ignore_a_torn_tail_and_the_writer_truncates_it() {
    let disk = database(3);
    let before = read(&disk).unwrap();
    let sealed = disk.look(&path()).unwrap().unwrap().bytes;
    open(&disk).unwrap().append(&[tag("monday", 1)]).unwrap();
    let after = read(&disk).unwrap();
    let whole = disk.read(&path()).unwrap();
    for bytes in (sealed..whole.len() as u64).rev() {
        disk.truncate(&path(), bytes).unwrap();
        let expected = if bytes < whole.len() as u64 - 20 { &before } else { &after };
        disk.set_faults(Faults { read_only: true, short_reads: true, ..Faults::default() });
        assert_eq!(&read(&disk).unwrap(), expected, "{bytes} bytes");
        disk.set_faults(Faults::default());
    }
    disk.open_for_writing(&path()).unwrap().write_at(&whole[..sealed as usize + 30], 0).unwrap();
    open(&disk).unwrap();
    assert_eq!(disk.look(&path()).unwrap().unwrap().bytes, sealed + 20);
    disk.truncate(&path(), PAGE_BYTES as u64 + 30).unwrap();
    let message = read(&disk).unwrap_err().to_string();
    let expected = "MANIFEST is damaged at byte 4096: the file ends within the record that begins here";
    assert!(message.contains(expected), "{message}");
}

#[test]
fn a_failed_writer_refuses_all_further_edits() {
    let disk = database(4);
    let mut writer = open(&disk).unwrap();
    disk.set_faults(Faults { fail_at: Some(2), ..Faults::default() });
    assert!(matches!(writer.append(&[tag("a", 1)]), Err(Error::Io { action: "sync", .. })));
    let message = writer.append(&[tag("b", 1)]).unwrap_err().to_string();
    assert_eq!(
        message,
        "web.esker/MANIFEST is closed after a failure: cannot sync web.esker/MANIFEST: input/output error \
         (injected); open the database again"
    );
    drop(writer);
    disk.set_faults(Faults { space_bytes: Some(PAGE_BYTES as u64 + 300), ..Faults::default() });
    let mut writer = open(&disk).unwrap();
    let full = (0..20).find_map(|k| writer.append(&step(writer.manifest(), k)).map(|_| ()).err());
    assert!(
        matches!(full, Some(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::StorageFull)
    );
    drop(writer);
    disk.set_faults(Faults::default());
    open(&disk).unwrap().append(&[tag("c", 1)]).unwrap();
    assert_eq!(read(&disk).unwrap().tags["c"], 1);
}

#[test]
fn a_rewrite_that_finds_the_disk_full_is_skipped() {
    let (disk, manifest) = full_of_dead_edits(5);
    let bytes = disk.look(&path()).unwrap().unwrap().bytes;
    disk.set_faults(Faults { space_bytes: Some(bytes + 1000), ..Faults::default() });
    work(&disk, &mut [manifest.clone(), manifest], 2..5).unwrap();
    assert!(disk.look(&path()).unwrap().unwrap().bytes > bytes);
}

#[test]
fn readers_see_complete_states_in_order_during_writes() {
    let directory = tempfile::tempdir().unwrap();
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let path = directory.path().join(MANIFEST_NAME);
    disk.write(&path, &Manifest::encode(DatabaseId([1; 16]), 5, &first_edits()).unwrap()).unwrap();
    let lock = lock_writer(&disk, directory.path()).unwrap();
    let mut writer = ManifestWriter::open(&lock).unwrap();
    let last = 61;
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let (mut records, mut states) = (0, 0);
            while records < last {
                let manifest = Manifest::read(disk.as_ref(), &path).unwrap();
                assert!(manifest.records >= records);
                assert_eq!(manifest.log_start().manifest.records, manifest.records);
                states += usize::from(manifest.records > records);
                records = manifest.records;
            }
            states
        });
        for k in 0..last - 1 {
            let mut edits = step(writer.manifest(), k);
            // Enough dead edits for several rewrites.
            edits.extend((0..40).map(|_| tag("here", 1)));
            writer.append(&edits).unwrap();
        }
        assert!(reader.join().unwrap() > 1);
    });
}

#[test]
fn contradictory_edits_are_refused_when_written_and_damage_when_read() {
    let add = |number, versions| Edit::AddLayer(layer(number, versions));
    let complete = |mut layer: LayerRecord, complete| {
        layer.complete = complete;
        Edit::AddLayer(layer)
    };
    let chosen = |layer, head_len| {
        Edit::SetHeads(HeadsRecord { layer, stamp: Stamp([1; 16]), head_len, order: HeadOrder::Degree })
    };
    let multigraph = Edit::AddLayer(LayerRecord { multigraph: true, ..layer(2, 1..=1) });
    let cases = [
        // Checks and runs would take memory for any such length.
        (
            vec![chosen(1, 4097)],
            "the heads of layer 1 are 4097 neighbours chosen by degree, and at most 4096 are possible",
        ),
        (
            vec![Edit::RemoveLayer { number: 1 }, multigraph, chosen(2, 3)],
            "the heads of layer 2, a multigraph, are chosen by degree",
        ),
        (vec![Edit::RemoveLayer { number: 2 }], "layer 2 is removed but does not exist"),
        (vec![add(1, 2..=2)], "layer 1 is added twice"),
        (vec![add(2, 1..=3)], "a version is in two layers"),
        (vec![add(2, 3..=3)], "there is a gap between the versions of two layers"),
        (vec![Edit::RemoveLayer { number: 1 }], "a database needs a layer and a version"),
        (
            vec![Edit::RemoveLayer { number: 1 }, complete(layer(2, 1..=1), false)],
            "the oldest layer is not complete",
        ),
        (vec![version(1)], "version 1 is added twice"),
        (vec![version(2)], "a version is not in any layer"),
        (vec![Edit::RemoveVersion { number: 2 }], "version 2 is removed but does not exist"),
        (vec![Edit::RemoveVersion { number: 1 }], "a database needs a layer and a version"),
        (vec![tag("x", 2)], "a tag names a version that does not exist"),
        (vec![Edit::RemoveTag { name: "x".to_owned() }], "tag \"x\" is removed but does not exist"),
        (
            vec![add(2, 2..=2), version(2), tag("x", 1), Edit::RemoveVersion { number: 1 }],
            "a tag names a version that does not exist",
        ),
        (vec![add(2, 2..=u64::MAX)], "the numbers of a layer contradict each other"),
    ];
    let disk = database(6);
    let mut writer = open(&disk).unwrap();
    let before = disk.read(&path()).unwrap();
    for (edits, reason) in cases {
        let message = writer.append(&edits).unwrap_err().to_string();
        assert_eq!(message, format!("cannot change web.esker/MANIFEST: {reason}"));
        let all: Vec<Edit> = first_edits().into_iter().chain(edits).collect();
        disk.write(Path::new("m"), &Manifest::encode(DatabaseId([1; 16]), 0, &all).unwrap()).unwrap();
        let message = Manifest::read(&disk, Path::new("m")).unwrap_err().to_string();
        assert!(message.starts_with("m is damaged at byte "), "{message}");
        assert!(
            message.contains(reason) || message.contains("not describe a complete database"),
            "{message}"
        );
        disk.remove_file(Path::new("m")).unwrap();
    }
    assert_eq!(disk.read(&path()).unwrap(), before, "a refused edit changed the file");
}

#[test]
fn a_reader_retries_only_if_the_manifest_changed() {
    let disk = database(7);
    let mut writer = open(&disk).unwrap();
    let gone = || Error::corrupt("layers/1", 0, "gone");
    let mut loads = 0;
    let (manifest, loaded) = Manifest::read_with(&disk, Path::new(DB), |manifest| {
        loads += 1;
        if loads < 3 {
            writer.append(&[tag("x", 1)]).unwrap();
            return Err(gone());
        }
        Ok(manifest.records)
    })
    .unwrap();
    assert_eq!((loads, loaded, manifest.tags.len()), (3, 3, 1));
    let error = Manifest::read_with(&disk, Path::new(DB), |_| -> Result<()> { Err(gone()) }).unwrap_err();
    assert!(error.to_string().contains("gone"));
    assert_eq!(manifest.version(1).unwrap().message, "v1");
    assert_eq!(manifest.log_start().first_version, 2);
}

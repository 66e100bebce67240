//! Forged commits in the log, with valid checksums. The database must refuse each of them or read it as it
//! is, without panics and without allocating more than the log holds.

use std::path::Path;
use std::sync::Arc;

use esker_format::IdMapKind;
use esker_format::io::{Disk, FaultyDisk};
use esker_format::{Error, Result};
use esker_graph::random::Random;
use esker_graph::{Cancel, Direction, Run};
use proptest::prelude::*;

use crate::commit::Commit;
use crate::database::testing::model::{DB, ModelChange, commit};
use crate::database::{Database, DatabaseOptions};
use crate::log::{Log, LogOptions, LogReader};
use crate::manifest::{MANIFEST_NAME, Manifest, lock_writer};
use crate::sample::Sample;
use crate::store::Store;
use crate::version::Version;

fn options() -> DatabaseOptions {
    DatabaseOptions { threads: 1, ..DatabaseOptions::default() }
}

/// A disk with a database, and the summary and payload of a commit that the database does not contain.
fn prepare(seed: u64) -> (FaultyDisk, Vec<u8>, Vec<u8>) {
    let disk = FaultyDisk::new(seed);
    let mut sample = Sample::random(8, 20, seed.is_multiple_of(2), seed as u32);
    sample.ids = IdMapKind::Identity;
    sample.write(&(Arc::new(disk.clone()) as _), Path::new(DB), false).unwrap();
    let with_commit = disk.fork();
    let db = Database::open_on(Arc::new(with_commit.clone()), Path::new(DB), options()).unwrap();
    let mut random = Random::new(seed);
    let changes: Vec<ModelChange> =
        (0..1 + random.index(12)).map(|_| ModelChange::random(8, &mut random)).collect();
    commit(&db, &changes).unwrap();
    db.close().unwrap();
    let start = Manifest::read(&with_commit, &Path::new(DB).join(MANIFEST_NAME)).unwrap().log_start();
    let mut log = LogReader::open(Arc::new(with_commit), Path::new(DB), start).unwrap();
    let record = log.read_next().unwrap().unwrap();
    (disk, record.summary.to_vec(), record.payload.to_vec())
}

/// Appends a commit to the log with valid checksums.
fn forge(disk: &FaultyDisk, summary: &[u8], payload: &[u8]) {
    let start = Manifest::read(disk, &Path::new(DB).join(MANIFEST_NAME)).unwrap().log_start();
    let (shared, cancel): (Arc<dyn Disk>, _) = (Arc::new(disk.clone()), Cancel::default());
    let lock = lock_writer(&shared, Path::new(DB)).unwrap();
    let log = Log::open(&lock, start, LogOptions::default(), &cancel, |_| Ok(())).unwrap();
    log.append(2, 0, summary, payload).unwrap();
    log.wait(2).unwrap();
    log.close().unwrap();
}

fn read(version: &Version) -> Result<()> {
    for v in (0..version.num_vertices()).map(esker_graph::vertex) {
        version.ids().external_of(v)?;
        let edges = version.edges(Direction::Out, v)?;
        for index in 0..edges.len() {
            edges.bits(0, index)?;
            edges.bits(1, index)?;
        }
    }
    Ok(())
}

/// Uses all parts of the database. Errors are acceptable, panics are not.
fn use_all(disk: &FaultyDisk) -> Result<()> {
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let by_reader = Store::open_on(Arc::clone(&shared), Path::new(DB)).and_then(|store| read(&store.at(2)?));
    let db = Database::open_on(shared, Path::new(DB), options())?;
    read(&db.at(1).unwrap()).unwrap();
    let run = Run::with_threads(1)?;
    for v in 0..8 {
        db.neighbors(Direction::Out, v)?;
        for &target in &db.neighbors(Direction::Out, v)? {
            db.edge_bits(v, target)?;
        }
        // The forged commit may not define this property.
        drop(db.vertex_value(v, "age"));
    }
    read(&db.at(2)?)?;
    db.freeze(&run)?;
    read(&db.at(2)?)?;
    db.compact(&run)?;
    read(&db.at(2)?)?;
    db.close()?;
    by_reader
}

proptest! {
    #![proptest_config(esker_format::testing::cases(400))]
    #[test]
    fn a_forged_commit_is_refused_or_read(
        seed in 0_u64..8,
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        kept in prop_oneof![4 => Just(None), 1 => any::<prop::sample::Index>().prop_map(Some)],
    ) {
        let (disk, mut summary, mut payload) = prepare(seed);
        for (index, byte) in &edits {
            let at = index.index(payload.len() + summary.len() / 8);
            *payload.iter_mut().chain(&mut summary).nth(at).unwrap() = *byte;
        }
        if let Some(kept) = kept {
            payload.truncate(kept.index(payload.len()));
        }
        forge(&disk, &summary, &payload);
        let outcome = use_all(&disk);
        prop_assert!(!matches!(outcome, Err(Error::Io { .. })), "{outcome:?}");
        prop_assert!(!edits.is_empty() || kept.is_some() || outcome.is_ok(), "{outcome:?}");
    }
}

#[test]
fn encoding_a_decoded_commit_restores_the_payload() {
    for seed in 0..50 {
        let (_, summary, payload) = prepare(seed);
        let commit = Commit::decode(2, &payload, Path::new("log"), &Cancel::default()).unwrap();
        assert_eq!(commit.encode(&Cancel::default()).unwrap(), payload);
        let mut encoded = Vec::new();
        encoded.extend(commit.encode_summary());
        assert_eq!(encoded, summary);
        let cancelled = Cancel::default();
        cancelled.cancel();
        assert!(commit.edges.is_empty() || commit.encode(&cancelled).is_err());
    }
}

#[test]
fn a_commit_that_claims_billions_of_edge_properties_is_refused() {
    // Decoding once allocated a list for each edge property that the commit claimed: 96 GB.
    let empty = Commit {
        rows: Vec::new(),
        ..Commit::decode(2, &prepare(1).2, Path::new("log"), &Cancel::default()).unwrap()
    };
    let mut payload = Commit { edges: Vec::new(), new_ids: crate::commit::NewIds::new(false), ..empty }
        .encode(&Cancel::default())
        .unwrap();
    // The number of edge properties is the last field of the header, and nothing follows it here.
    let end = payload.len();
    payload[end - 4..].copy_from_slice(&u32::MAX.to_le_bytes());
    let refused = Commit::decode(2, &payload, Path::new("log"), &Cancel::default()).unwrap_err();
    assert!(refused.to_string().contains("more edge properties"), "{refused}");
}

//! Logs that a crash left long: listing their versions reads no changes, and the next writer freezes them
//! within its limit.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use esker_format::io::{Disk, Faults, FaultyDisk};
use esker_format::{ElementType, Error, IdMapKind};
use esker_graph::{Budget, Cancel, Run, RunOptions, Stop};
use esker_layers::ids::ExternalId;

use crate::database::testing::model::{DB, DatabaseModel, ModelChange, commit, verify, verify_version};
use crate::database::{Database, DatabaseOptions};
use crate::sample::Sample;
use crate::store::Store;

const NUM_COMMITS: u64 = 12;
const EDGES_PER_COMMIT: u64 = 200;

/// A database whose writer was killed after commits that are in the log alone.
fn killed() -> (FaultyDisk, DatabaseModel) {
    let disk = FaultyDisk::new(1);
    let mut sample = Sample::random(40, 60, true, 1);
    sample.ids = IdMapKind::Identity;
    sample.write(&shared(&disk), Path::new(DB), false).unwrap();
    let mut model = DatabaseModel::of(&sample);
    let db = Database::open_on(shared(&disk), Path::new(DB), options(u64::MAX, 64 << 20)).unwrap();
    for round in 0..NUM_COMMITS {
        let edge =
            |k: u64| ModelChange::Add((k * 7 + round) % 40, (k * k + round) % 41, k as i32, (k % 5) as u8);
        let mut changes: Vec<ModelChange> = (0..EDGES_PER_COMMIT).map(edge).collect();
        changes.extend([ModelChange::RemoveVertex(round), ModelChange::Age(20 + round, Some(1))]);
        commit(&db, &changes).unwrap();
        model.commit(&changes);
    }
    let killed = disk.fork();
    killed.crash();
    (killed, model)
}

fn shared(disk: &FaultyDisk) -> Arc<dyn Disk> {
    Arc::new(disk.clone())
}

fn options(limit_bytes: u64, freeze_bytes: u64) -> DatabaseOptions {
    let budget = Budget::new(limit_bytes);
    DatabaseOptions {
        threads: 1,
        freeze_bytes: Some(freeze_bytes),
        budget,
        auto_merge: Some(false),
        ..DatabaseOptions::default()
    }
}

fn store(disk: &FaultyDisk) -> Store {
    Store::open_on(shared(disk), Path::new(DB)).unwrap()
}

#[test]
fn listing_versions_and_tags_reads_no_changes_of_the_log() {
    let (disk, model) = killed();
    // Damages the changes of the third commit. Only who needs them may notice.
    let log = Path::new(DB).join("log/1");
    disk.flip(&log, disk.read(&log).unwrap().len() as u64 / 4, 1).unwrap();
    let run = Run::with_threads(1).unwrap();
    let store = store(&disk);
    let versions: Vec<u64> = store.versions().unwrap().iter().map(|version| version.number).collect();
    assert!(versions.iter().eq(model.versions.keys()));
    for commit in store.commits_in_log().unwrap() {
        assert!(commit.num_edges >= EDGES_PER_COMMIT, "{commit:?}");
    }
    let removed = store.removed_by_version(&run).unwrap();
    for (version, count) in removed {
        let known = &model.versions[&version];
        let vertices = store.versions().unwrap()[version as usize - 1].num_vertices;
        assert_eq!(vertices - count, known.vertices.len() as u64, "version {version}");
    }
    for outcome in [store.check_log(&run).map(drop), store.latest().map(drop)] {
        assert!(matches!(outcome, Err(Error::Corrupt { .. })), "{outcome:?}");
    }
}

#[test]
fn the_next_writer_freezes_a_long_log_within_its_limit() {
    for freeze_bytes in [1, 10_000, 64 << 20] {
        let (disk, model) = killed();
        let options = options(400_000, freeze_bytes);
        let budget = options.budget.clone();
        let db = Database::open_on(shared(&disk), Path::new(DB), options).unwrap();
        let layers = db.manifest().layers.len() as u64;
        assert!(freeze_bytes > 1 || layers == NUM_COMMITS + 1, "{layers} layers");
        assert!(layers > 1, "the commits take more than a quarter of the limit");
        assert!(budget.peak_bytes() <= 400_000);
        let run = Run::with_threads(1).unwrap();
        verify(&db, &model, &run);
        db.close().unwrap();
        let store = store(&disk);
        assert!(store.commits_in_log().unwrap().len() < NUM_COMMITS as usize);
        verify_version(&store.latest().unwrap(), model.newest().1, &run);
    }
}

#[test]
fn a_commit_in_the_log_that_does_not_fit_is_refused_with_the_limit_that_would_do() {
    let (disk, model) = killed();
    let refused = Database::open_on(shared(&disk), Path::new(DB), options(10_000, 1)).unwrap_err();
    let Error::Stop(Stop::OverBudget { needed_bytes, .. }) = refused else { panic!("{refused}") };
    let db = Database::open_on(shared(&disk), Path::new(DB), options(4 * needed_bytes, 1)).unwrap();
    assert_eq!(db.versions().len(), model.versions.len());
    let run = Run::new(RunOptions { budget: Budget::new(10_000), ..RunOptions::default() }).unwrap();
    let refused = store(&killed().0).under(run).latest().unwrap_err();
    assert!(refused.to_string().contains("commits in the log of web.esker"), "{refused}");
}

#[test]
fn reading_a_long_log_shows_progress_and_can_be_interrupted() {
    let (disk, model) = killed();
    let run = |rounds_max: usize| {
        let (cancel, rounds) = (Cancel::default(), Arc::new(AtomicUsize::new(0)));
        let (token, counted) = (cancel.clone(), Arc::clone(&rounds));
        let on_progress = move |_: esker_graph::Progress<'_>| {
            if counted.fetch_add(1, Ordering::Relaxed) + 1 >= rounds_max {
                token.cancel();
            }
        };
        let on_progress: Option<esker_graph::OnProgress> = Some(Arc::new(on_progress));
        (Run::new(RunOptions { cancel, on_progress, threads: 1, ..RunOptions::default() }).unwrap(), rounds)
    };
    for rounds_max in 1..=NUM_COMMITS as usize {
        // Each attempt freezes the commits that it has read.
        if store(&disk).commits_in_log().unwrap().len() < rounds_max {
            break;
        }
        let (interrupted, rounds) = run(rounds_max);
        let options = options(u64::MAX, 3000);
        let opened = Database::open_with(&shared(&disk), Path::new(DB), options, &interrupted);
        let error = opened.map(drop).unwrap_err();
        assert!(matches!(error, Error::Stop(Stop::Cancelled)), "{error}");
        assert!(rounds.load(Ordering::Relaxed) <= rounds_max);
        let (interrupted, _) = run(1);
        let error = store(&disk).under(interrupted).latest().unwrap_err();
        assert!(matches!(error, Error::Stop(Stop::Cancelled)), "{error}");
        assert_eq!(store(&disk).versions().unwrap().len(), model.versions.len());
    }
    let db = Database::open_on(shared(&disk), Path::new(DB), options(u64::MAX, 3000)).unwrap();
    verify(&db, &model, &Run::with_threads(1).unwrap());
}

#[test]
fn power_loss_while_a_long_log_is_frozen_loses_nothing() {
    let (killed, model) = killed();
    let run = Run::with_threads(1).unwrap();
    for at in (1..).step_by(5) {
        let disk = killed.fork();
        disk.set_faults(Faults { die_at: Some(at), ..Faults::default() });
        let opened = Database::open_on(shared(&disk), Path::new(DB), options(u64::MAX, 20_000)).map(drop);
        let is_over = disk.operations() < at;
        assert!(!is_over || opened.is_ok(), "{opened:?}");
        disk.set_faults(Faults::default());
        disk.crash();
        let db = Database::open_on(shared(&disk), Path::new(DB), options(u64::MAX, 64 << 20)).unwrap();
        for (&number, expected) in &model.versions {
            verify_version(&db.at(number).unwrap(), expected, &run);
        }
        if is_over {
            break;
        }
    }
}

/// A reader whose list of the log was out of date read it anew, and then showed versions from after its
/// opening.
#[test]
fn a_pinned_store_shows_no_later_version_whatever_the_writer_does() {
    let (disk, _) = killed();
    let db = Database::open_on(shared(&disk), Path::new(DB), options(1 << 30, 1 << 30)).unwrap();
    let stores: Vec<Store> = (0..3).map(|_| store(&disk)).collect();
    stores.iter().for_each(|store| store.pin().unwrap());
    let newest = db.versions().last().unwrap().number;
    let add = || {
        let mut batch = db.batch();
        batch.remove_edge(ExternalId::Int(0), ExternalId::Int(1)).unwrap();
        db.commit(batch, "").unwrap();
    };
    let run = Run::with_threads(1).unwrap();
    let steps: [&dyn Fn(); 3] = [
        &add,
        &|| {
            db.freeze(&run).unwrap();
        },
        &|| {
            db.compact(&run).unwrap();
        },
    ];
    for (step, store) in steps.iter().zip(&stores) {
        add();
        step();
        assert_eq!(store.latest().unwrap().number(), newest);
        assert_eq!(store.versions().unwrap().last().unwrap().number, newest);
        let late = store.at(newest + 1).unwrap_err().to_string();
        assert!(late.contains("had no version") || late.contains("has no version"), "{late}");
        assert!(store.removed_by_version(&run).unwrap().iter().all(|&(version, _)| version <= newest));
    }
}

/// A batch asked for a whole version to know the properties, which took time for each commit in the log.
#[test]
fn the_schema_is_that_of_the_newest_version() {
    let (disk, _) = killed();
    let db = Database::open_on(shared(&disk), Path::new(DB), options(1 << 30, 1 << 30)).unwrap();
    let mut batch = db.batch();
    batch.define_vertex_property("mark", ElementType::I64);
    db.commit(batch, "").unwrap();
    let (schema, newest) = (db.schema(), db.latest().unwrap());
    assert!(schema.vertex_properties.iter().any(|property| property.name == "mark"));
    assert!(schema.vertex_properties.iter().eq(newest.vertex_properties()));
    assert!(schema.edge_properties.iter().eq(newest.edge_properties()));
    assert_eq!((schema.directed, schema.text_ids), (newest.is_directed(), newest.ids().is_text()));
}

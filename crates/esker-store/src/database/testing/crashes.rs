//! Compares the database with its possible contents after faults: power loss, failing and refused operations,
//! at each single operation of a random workload and of the recovery after it.
//!
//! The environment variable `ESKER_TEST_ROUNDS` sets the number of workloads in each test.

use std::path::Path;
use std::sync::Arc;

use esker_format::io::{Disk, Faults, FaultyDisk};
use esker_format::{CopyPolicy, Encoding, Error, IdMapKind, Result, Retention, WriteOptions};
use esker_graph::Run;
use esker_graph::random::Random;
use esker_layers::graph::HeadedOptions;
use esker_layers::tiles::ConvertOptions;

use crate::check::check;
use crate::database::testing::crash_model::{
    DatabaseContent, NEWEST, NUM_VERTICES, PossibleContents, UserRequest, changes, many_changes,
};
use crate::database::testing::model::{DB, ModelChange, verify_version};
use crate::database::{CompactOptions, Database, DatabaseOptions, Renumber, Tiling};
use crate::sample::Sample;
use crate::store::Store;
use crate::version::Version;

/// The number of workloads to try.
fn rounds() -> u64 {
    std::env::var("ESKER_TEST_ROUNDS").map_or(1, |rounds| rounds.parse().unwrap())
}

/// A sample database, and requests to it.
struct CrashWorkload {
    sample: Sample,
    requests: Vec<UserRequest>,
    /// Whether the sample has tiles and heads, which the database must keep.
    has_forms: bool,
    /// Whether each commit is so large that it becomes a layer at once.
    freezes_at_once: bool,
    /// Whether that layer is merged at once where a merge is due.
    merges_at_once: bool,
    run: Run,
}

impl CrashWorkload {
    fn random(seed: u64, requests: usize) -> Self {
        let mut random = Random::new(seed);
        let mut sample = Sample::random(NUM_VERTICES as usize, 12, random.index(100) < 50, seed as u32);
        sample.ids = if seed.is_multiple_of(2) { IdMapKind::Texts } else { IdMapKind::Identity };
        let mut requests: Vec<UserRequest> =
            (0..requests).map(|_| UserRequest::random(&mut random)).collect();
        // Leave a commit that is in no layer at the end.
        requests.push(UserRequest::Commit(changes(&mut random)));
        Self {
            sample,
            requests,
            has_forms: false,
            freezes_at_once: false,
            merges_at_once: false,
            run: Run::with_threads(1).unwrap(),
        }
    }

    /// A disk with the sample.
    fn prepare(&self, seed: u64) -> FaultyDisk {
        let disk = FaultyDisk::new(seed);
        let shared: Arc<dyn Disk> = Arc::new(disk.clone());
        self.sample.write(&shared, Path::new(DB), false).unwrap();
        if self.has_forms {
            let db = open(&disk).unwrap();
            db.make_tiles(&ConvertOptions::default(), &self.run).unwrap();
            db.make_heads(HeadedOptions { head_len: Some(2), memory_bytes: 1 << 30 }, &self.run).unwrap();
            db.close().unwrap();
        }
        disk
    }

    /// Checks that a reader finds the tiles and heads.
    fn expect_forms(&self, version: &Version) {
        if self.has_forms {
            assert!(version.tiles().is_ok(), "{:?}", version.manifest());
            assert!(version.stored_heads().unwrap().is_some(), "{:?}", version.manifest());
        }
    }

    fn open(&self, disk: &FaultyDisk) -> Result<Database> {
        let options = match self.freezes_at_once {
            true => {
                let auto_merge = Some(self.merges_at_once);
                DatabaseOptions { freeze_bytes: Some(1), auto_merge, ..options() }
            }
            false => options(),
        };
        Database::open_on(Arc::new(disk.clone()), Path::new(DB), options)
    }

    fn possible(&self) -> PossibleContents {
        let freezes_at_once = self.freezes_at_once;
        PossibleContents(vec![DatabaseContent { freezes_at_once, ..DatabaseContent::of(&self.sample) }])
    }

    /// Performs all requests, up to the first that fails.
    fn work(&self, disk: &FaultyDisk, possible: &mut PossibleContents) -> Result<()> {
        let mut db = self.open(disk)?;
        for request in &self.requests {
            if matches!(request, UserRequest::Reopen) {
                db.close()?;
                db = self.open(disk)?;
            }
            self.advance(&db, possible, request)?;
        }
        db.close()
    }

    /// Performs a request, and waits for merges in the background, so that the operations have one order.
    fn advance(&self, db: &Database, possible: &mut PossibleContents, request: &UserRequest) -> Result<()> {
        possible.advance(db, request, &self.run)?;
        if self.merges_at_once { db.join_maintainer() } else { Ok(()) }
    }

    /// Recovers, checks the content, and continues from there.
    fn recover(&self, disk: &FaultyDisk, possible: &mut PossibleContents, is_thorough: bool) {
        let shared: Arc<dyn Disk> = Arc::new(disk.clone());
        let store = Store::open_on(Arc::clone(&shared), Path::new(DB)).unwrap();
        let seen: Vec<u64> = store.versions().unwrap().iter().map(|version| version.number).collect();
        self.expect_forms(&store.at(seen[seen.len() - 1]).unwrap());
        // What a crash leaves is never taken for a loss.
        assert_eq!(Database::survey(&shared, Path::new(DB), &self.run).unwrap().problem, None);
        assert_eq!(store.check_log(&self.run).unwrap().commits, store.commits_in_log().unwrap().len());
        let db = open(disk).unwrap();
        possible.verify(&db, &self.run);
        assert!(
            possible.0[0].versions().keys().eq(&seen),
            "a reader must see the same versions, but saw {seen:?}"
        );
        for request in [UserRequest::Commit(vec![ModelChange::Add(1, 2, 3, 4)]), UserRequest::Freeze] {
            possible.advance(&db, &request, &self.run).unwrap();
        }
        possible.verify(&db, &self.run);
        self.expect_forms(&db.latest().unwrap());
        if is_thorough {
            let report = check(&db.latest().unwrap(), &self.run).unwrap();
            assert!(report.is_sound(), "{:?}", report.problems);
        }
    }
}

fn options() -> DatabaseOptions {
    DatabaseOptions { threads: 1, segment_bytes: 4096 + 1000, ..DatabaseOptions::default() }
}

fn open(disk: &FaultyDisk) -> Result<Database> {
    Database::open_on(Arc::new(disk.clone()), Path::new(DB), options())
}

fn die_at(operation: u64) -> Faults {
    Faults { die_at: Some(operation), ..Faults::default() }
}

fn fail_at(operation: u64) -> Faults {
    Faults { fail_at: Some(operation), ..Faults::default() }
}

/// Calls `test` with a fresh disk and each position of a fault in a workload, until the workload has fewer
/// operations. `test` returns the number of operations.
fn at_each_operation(requests: usize, mut test: impl FnMut(&CrashWorkload, FaultyDisk, u64) -> u64) {
    for seed in 1..=rounds() {
        let workload = CrashWorkload::random(seed, requests);
        let fresh = workload.prepare(seed);
        (1..).find(|&at| test(&workload, fresh.fork(), at) < at);
    }
}

#[test]
fn acknowledged_commits_survive_power_loss_at_each_operation_and_again_in_recovery() {
    let mut random = Random::new(1);
    at_each_operation(40, |workload, disk, at| {
        let mut possible = workload.possible();
        disk.set_faults(die_at(at));
        let outcome = workload.work(&disk, &mut possible);
        let operations = disk.operations();
        assert!(operations >= at || outcome.is_ok(), "{outcome:?}");
        disk.crash();
        let after_crash = disk.fork();
        workload.recover(&disk, &mut possible.clone(), at % 8 == 0);
        crash_again(workload, &after_crash, possible, &mut random);
        operations
    });
}

#[test]
fn options_are_as_before_or_as_set_after_power_loss_at_each_operation() {
    let set = |policy, auto_merge| {
        UserRequest::SetOptions(WriteOptions { policy, auto_merge, ..WriteOptions::default() })
    };
    let add = |v| UserRequest::Commit(vec![ModelChange::Add(v, v + 1, 1, 1)]);
    let requests = vec![
        add(1),
        set(CopyPolicy::Chain, false),
        add(2),
        UserRequest::Reopen,
        set(CopyPolicy::Copy, true),
        UserRequest::Freeze,
        UserRequest::Compact,
    ];
    let workload = CrashWorkload { requests, ..CrashWorkload::random(1, 0) };
    let fresh = workload.prepare(1);
    for at in 1.. {
        let (disk, mut possible) = (fresh.fork(), workload.possible());
        disk.set_faults(die_at(at));
        let outcome = workload.work(&disk, &mut possible);
        let operations = disk.operations();
        disk.crash();
        workload.recover(&disk, &mut possible, false);
        if operations < at {
            outcome.unwrap();
            break;
        }
    }
}

/// Loses power at a random operation of the recovery; if the recovery completed, the content that it reported
/// must stay.
fn crash_again(
    workload: &CrashWorkload,
    disk: &FaultyDisk,
    mut possible: PossibleContents,
    random: &mut Random,
) {
    let rehearsal = disk.fork();
    rehearsal.set_faults(Faults::default());
    drop(open(&rehearsal).unwrap());
    disk.set_faults(die_at(1 + random.index(rehearsal.operations() as usize) as u64));
    if let Ok(db) = open(disk) {
        possible = PossibleContents(vec![possible.find(&db, &workload.run).clone()]);
    }
    disk.crash();
    workload.recover(disk, &mut possible, false);
}

#[test]
fn power_loss_at_each_operation_of_recovery_loses_nothing() {
    for seed in 1..=rounds() {
        let workload = CrashWorkload::random(seed, 20);
        let (disk, mut possible) = (workload.prepare(seed), workload.possible());
        let rehearsal = disk.fork();
        rehearsal.set_faults(Faults::default());
        workload.work(&rehearsal, &mut possible.clone()).unwrap();
        // Lose power in the last third of the workload.
        let operations = rehearsal.operations();
        disk.set_faults(die_at(operations - Random::new(seed).index(operations as usize / 3) as u64));
        workload.work(&disk, &mut possible).unwrap_err();
        disk.crash();
        for at in 1.. {
            let (disk, mut possible) = (disk.fork(), possible.clone());
            disk.set_faults(die_at(at));
            let db = open(&disk);
            let is_over = disk.operations() < at;
            if let Ok(db) = db {
                possible = PossibleContents(vec![possible.find(&db, &workload.run).clone()]);
            }
            disk.crash();
            workload.recover(&disk, &mut possible, false);
            if is_over {
                break;
            }
        }
    }
}

/// Continues after a failure. Further requests may fail or not, but the database must have a possible
/// content.
fn go_on(workload: &CrashWorkload, db: &Database, possible: &mut PossibleContents) {
    let shown = possible.find(db, &workload.run);
    shown.verify(db, &workload.run);
    let requests = [
        UserRequest::Commit(vec![ModelChange::Add(5, 6, 7, 1)]),
        UserRequest::Tag(5, 0),
        UserRequest::Freeze,
    ];
    for request in requests {
        // A second failure must leave a possible content too.
        drop(possible.advance(db, &request, &workload.run));
    }
    possible.find(db, &workload.run).verify(db, &workload.run);
}

/// Works until a request fails. Then the open database must have a possible content, and so must the database
/// reopened after the disk is repaired. Returns the number of operations until then.
fn fail(workload: &CrashWorkload, disk: &FaultyDisk, power_is_lost: bool) -> u64 {
    let mut possible = workload.possible();
    let mut db = workload.open(disk).ok();
    for request in &workload.requests {
        if matches!(request, UserRequest::Reopen) {
            // An error of closing only means that the log lacks its closing record.
            drop(db.take().map(Database::close));
            db = workload.open(disk).ok();
        }
        let Some(db) = &db else { break };
        if workload.advance(db, &mut possible, request).is_err() {
            go_on(workload, db, &mut possible);
            break;
        }
    }
    drop(db);
    let operations = disk.operations();
    disk.set_faults(Faults::default());
    if power_is_lost {
        disk.crash();
    }
    workload.recover(disk, &mut possible, false);
    operations
}

#[test]
fn a_failure_of_any_operation_leaves_a_possible_content() {
    at_each_operation(30, |workload, disk, at| {
        disk.set_faults(fail_at(at));
        fail(workload, &disk, at % 2 == 0)
    });
}

#[test]
fn tiles_and_heads_outlive_a_failure_of_any_operation_of_merges() {
    let mut workload = CrashWorkload::random(2, 0);
    let add = |v| UserRequest::Commit(vec![ModelChange::Add(v, v + 1, 1, 1), ModelChange::Remove(v, v + 2)]);
    workload.has_forms = true;
    workload.requests =
        vec![add(1), UserRequest::Freeze, add(2), UserRequest::Compact, UserRequest::Define, add(3)];
    workload.requests.extend([
        UserRequest::Forget(NEWEST),
        UserRequest::Forget(0),
        UserRequest::Compact,
        add(4),
    ]);
    die_or_fail_at_each_operation(&workload, 2);
}

/// The other workloads have so few vertices and edges that each column fits into a page.
#[test]
fn hundreds_of_vertices_outlive_failures_of_compactions_to_every_encoding() {
    const POSITIONS: u64 = 45;
    for seed in 1..=rounds() {
        let mut random = Random::new(seed);
        let mut workload = CrashWorkload::random(2 * seed, 0);
        workload.sample = Sample { ids: IdMapKind::Texts, ..Sample::random(300, 1500, seed % 2 == 1, 2) };
        let mut many = || UserRequest::Commit(many_changes(300, &mut random));
        let renumber = Renumber::Always;
        let to = |lists, tiles| {
            UserRequest::CompactTo(CompactOptions { lists: Some(lists), tiles, heads: None, renumber })
        };
        workload.requests =
            vec![many(), UserRequest::Tag(0, NEWEST), many(), to(Encoding::Compressed, Tiling::Make), many()];
        workload.requests.extend([to(Encoding::Plain, Tiling::Keep), UserRequest::Forget(NEWEST), many()]);
        let back = if seed % 2 == 1 { Encoding::Plain } else { Encoding::Compressed };
        workload.requests.extend([
            to(Encoding::Tiles, Tiling::Make),
            many(),
            UserRequest::Compact,
            to(back, Tiling::Remove),
        ]);
        let fresh = workload.prepare(seed);
        let whole = fresh.fork();
        whole.set_faults(Faults::default());
        workload.work(&whole, &mut workload.possible()).unwrap();
        let stride = whole.operations() as usize / POSITIONS as usize;
        for position in 0..POSITIONS {
            let at = 1 + position * stride as u64 + random.index(stride) as u64;
            assert!(!die_or_fail(&workload, &fresh.fork(), at), "operation {at} of {}", whole.operations());
        }
    }
}

#[test]
fn a_commit_that_becomes_a_layer_at_once_outlives_a_failure_of_any_operation() {
    for seed in 1..=2 * rounds() {
        let workload = CrashWorkload { freezes_at_once: true, ..CrashWorkload::random(seed, 12) };
        let disk = workload.prepare(seed);
        let db = workload.open(&disk).unwrap();
        let (layers, mut possible) = (db.manifest().layers.len(), workload.possible());
        possible
            .advance(&db, &UserRequest::Commit(vec![ModelChange::Add(1, 2, 3, 1)]), &workload.run)
            .unwrap();
        assert_eq!(db.manifest().layers.len(), layers + 1, "the commit is a layer");
        assert!(
            Store::open_on(Arc::new(disk.clone()), Path::new(DB))
                .unwrap()
                .commits_in_log()
                .unwrap()
                .is_empty()
        );
        die_or_fail_at_each_operation(&workload, seed);
    }
}

#[test]
fn a_commit_whose_layer_is_merged_at_once_outlives_a_failure_of_any_operation() {
    for seed in 1..=2 * rounds() {
        let mut random = Random::new(seed);
        let mut workload =
            CrashWorkload { freezes_at_once: true, merges_at_once: true, ..CrashWorkload::random(seed, 5) };
        workload.has_forms = workload.sample.encoding == Encoding::Plain;
        for position in [1, 3, 5] {
            let changes = many_changes(NUM_VERTICES, &mut random);
            workload.requests.insert(position, UserRequest::Commit(changes));
        }
        let disk = workload.prepare(seed);
        let db = workload.open(&disk).unwrap();
        let layers = || db.manifest().layers.iter().map(|layer| layer.number).collect::<Vec<_>>();
        let (before, mut possible) = (layers(), workload.possible());
        let add = (0..NUM_VERTICES).map(|v| ModelChange::Add(v, (v + 3) % NUM_VERTICES, 3, 1));
        workload.advance(&db, &mut possible, &UserRequest::Commit(add.collect())).unwrap();
        let last = before.last().unwrap();
        assert_eq!(
            (before.len(), layers()),
            (1, vec![last + 1]),
            "the commit alone was never a layer on the disk"
        );
        possible.verify(&db, &workload.run);
        die_or_fail_at_each_operation(&workload, seed);
    }
}

/// Loses power at each odd operation of a workload, and fails at each even one.
fn die_or_fail_at_each_operation(workload: &CrashWorkload, seed: u64) {
    let fresh = workload.prepare(seed);
    (1..).find(|&at| die_or_fail(workload, &fresh.fork(), at));
}

/// Loses power at an odd operation of a workload, or fails at an even one. Whether the workload has fewer
/// operations.
fn die_or_fail(workload: &CrashWorkload, disk: &FaultyDisk, at: u64) -> bool {
    disk.set_faults(if at.is_multiple_of(2) { fail_at(at) } else { die_at(at) });
    if at.is_multiple_of(2) {
        return fail(workload, disk, at.is_multiple_of(4)) < at;
    }
    let mut possible = workload.possible();
    drop(workload.work(disk, &mut possible));
    let is_over = disk.operations() < at;
    disk.crash();
    workload.recover(disk, &mut possible, true);
    is_over
}

#[test]
fn a_full_disk_leaves_a_possible_content() {
    for seed in 1..=rounds() {
        let workload = CrashWorkload::random(seed, 20);
        let fresh = workload.prepare(seed);
        let used_bytes = |disk: &FaultyDisk| {
            let store = Store::open_on(Arc::new(disk.clone()), Path::new(DB)).unwrap();
            store.files().unwrap().iter().map(|file| file.1).sum::<u64>()
        };
        let whole = fresh.fork();
        workload.work(&whole, &mut workload.possible()).unwrap();
        let (first, last) = (used_bytes(&fresh), used_bytes(&whole));
        for fraction in 0..200 {
            let disk = fresh.fork();
            let space_bytes = Some(first + (last - first) * fraction / 190);
            disk.set_faults(Faults { space_bytes, ..Faults::default() });
            fail(&workload, &disk, fraction % 2 == 0);
        }
    }
}

#[test]
fn replacing_a_database_of_many_versions_leaves_the_old_one_or_the_new_one() {
    for seed in 1..=2 * rounds() {
        // One of the two has text ids.
        let (workload, new) = (CrashWorkload::random(seed, 12), CrashWorkload::random(seed + 1, 0).sample);
        let (worked, mut possible) = (workload.prepare(seed), workload.possible());
        workload.work(&worked, &mut possible).unwrap();
        let new_content = DatabaseContent::of(&new);
        for at in 1.. {
            let disk = worked.fork();
            let shared: Arc<dyn Disk> = Arc::new(disk.clone());
            disk.set_faults(if at % 2 == 0 { die_at(at) } else { fail_at(at) });
            let written = new.write(&shared, Path::new(DB), true);
            let is_over = disk.operations() < at;
            disk.crash();
            let mut after = match written {
                Ok(()) => PossibleContents(vec![new_content.clone()]),
                Err(_) => PossibleContents(possible.0.iter().cloned().chain([new_content.clone()]).collect()),
            };
            workload.recover(&disk, &mut after, at % 8 == 0);
            if is_over {
                break;
            }
        }
    }
}

#[test]
fn a_database_stays_readable_when_its_disk_becomes_read_only() {
    let workload = CrashWorkload::random(3, 20);
    let disk = workload.prepare(3);
    let mut possible = workload.possible();
    workload.work(&disk, &mut possible).unwrap();
    let read_only = || disk.set_faults(Faults { read_only: true, ..Faults::default() });
    let db = open(&disk).unwrap();
    read_only();
    let shown = possible.0[0].clone();
    for request in
        [UserRequest::Commit(vec![ModelChange::AddVertex(3)]), UserRequest::Freeze, UserRequest::Tag(7, 0)]
    {
        let refused = possible.advance(&db, &request, &workload.run).unwrap_err().to_string();
        assert!(refused.contains("ead-only") || refused.contains("open the database again"), "{refused}");
        shown.verify(&db, &workload.run);
    }
    drop(db);
    assert!(matches!(open(&disk), Err(Error::Io { .. })));
    let store = Store::open_on(Arc::new(disk.clone()), Path::new(DB)).unwrap();
    for (&number, expected) in &shown.versions() {
        verify_version(&store.at(number).unwrap(), expected, &workload.run);
    }
}

#[test]
fn the_newest_version_in_a_layer_can_be_forgotten_while_the_log_continues_from_it() {
    // The layers once appeared to end with the version before, and the commit in the log was then applied to
    // that version.
    let workload = CrashWorkload::random(1, 0);
    let disk = workload.prepare(1);
    let mut possible = workload.possible();
    let db = open(&disk).unwrap();
    let add = |v| UserRequest::Commit(vec![ModelChange::Add(v, v + 1, 1, 1)]);
    for request in [add(1), UserRequest::Freeze, add(2), UserRequest::Forget(1), add(3)] {
        possible.advance(&db, &request, &workload.run).unwrap();
    }
    possible.verify(&db, &workload.run);
    assert!(possible.0[0].versions().keys().eq(&[1, 3, 4]));
}

#[test]
fn the_newest_version_can_be_forgotten_in_the_log_and_in_layers() {
    let workload = CrashWorkload::random(1, 0);
    let disk = workload.prepare(1);
    let mut possible = workload.possible();
    let mut db = open(&disk).unwrap();
    let add = |v| {
        UserRequest::Commit(vec![
            ModelChange::Add(v, v + 20, 1, v as u8),
            ModelChange::Age(v, Some(v as i64)),
        ])
    };
    let forget = || UserRequest::Forget(NEWEST);
    let requests = [
        // Alone in the log, after another one in the log, alone in a layer.
        vec![add(1), forget(), add(2), add(3), forget(), add(4), UserRequest::Freeze, forget()],
        // In a layer with others, twice; as the end of the only layer.
        vec![add(5), add(6), add(7), UserRequest::Freeze, forget(), forget(), UserRequest::Compact, forget()],
        vec![
            add(8),
            UserRequest::Tag(0, NEWEST),
            add(9),
            UserRequest::Freeze,
            UserRequest::Forget(0),
            forget(),
            add(10),
        ],
    ];
    for requests in requests {
        for request in requests {
            possible.advance(&db, &request, &workload.run).unwrap();
            possible.verify(&db, &workload.run);
        }
        db.close().unwrap();
        db = open(&disk).unwrap();
        possible.verify(&db, &workload.run);
        let report = check(&db.latest().unwrap(), &workload.run).unwrap();
        assert!(report.is_sound(), "{:?}", report.problems);
    }
    let left: Vec<u64> = possible.0[0].versions().keys().copied().collect();
    assert_eq!(left, [3, 9, 11]);
    let refused = db.forget(9).unwrap_err().to_string();
    assert!(refused.contains("tag"), "{refused}");
}

#[test]
fn a_retention_forgets_versions_in_the_log_at_once_and_as_they_come() {
    // It once did nothing to versions in the log, and took them by surprise at the next tag.
    let workload = CrashWorkload::random(1, 0);
    let disk = workload.prepare(1);
    let mut possible = workload.possible();
    let db = open(&disk).unwrap();
    let versions = |db: &Database| Vec::from_iter(db.versions().iter().map(|version| version.number));
    let mut perform = |requests: Vec<UserRequest>| {
        for request in requests {
            possible.advance(&db, &request, &workload.run).unwrap();
            possible.verify(&db, &workload.run);
        }
        versions(&db)
    };
    let add = |v| UserRequest::Commit(vec![ModelChange::Add(v, v + 1, 1, 1)]);
    assert_eq!(perform(vec![add(1), add(2), add(3), UserRequest::Retain(Retention::Last(2))]), [3, 4]);
    assert_eq!(perform(vec![add(4), add(5)]), [5, 6]);
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let store = Store::open_on(shared, Path::new(DB)).unwrap();
    let seen: Vec<u64> = store.versions().unwrap().iter().map(|version| version.number).collect();
    assert_eq!(seen, [5, 6], "a reader of the log sees the same versions");
    assert!(store.at(4).is_err() && store.at(3).is_err() && store.at(5).is_ok());
    assert!(db.tag("gone", 4).unwrap_err().to_string().contains("has no version 4"));
    // The tag surprises nobody, and what was hidden does not come back.
    assert_eq!(perform(vec![UserRequest::Tag(0, 0), add(6)]), [5, 6, 7]);
    assert_eq!(perform(vec![add(7), UserRequest::Forget(NEWEST)]), [5, 7]);
    assert_eq!(perform(vec![add(8), add(9), UserRequest::Retain(Retention::All), add(10)]), [5, 9, 10, 11]);
    assert_eq!(perform(vec![UserRequest::Untag(0), UserRequest::Retain(Retention::Last(1))]), [11]);
}

#[test]
fn versions_are_forgotten_together_or_not_at_all() {
    let workload = CrashWorkload::random(1, 0);
    let disk = workload.prepare(1);
    let mut possible = workload.possible();
    let db = open(&disk).unwrap();
    let add = |v| UserRequest::Commit(vec![ModelChange::Add(v, v + 1, 1, 1)]);
    for request in
        [add(1), add(2), UserRequest::Freeze, add(3), add(4), UserRequest::Tag(0, 1), add(5), add(6)]
    {
        possible.advance(&db, &request, &workload.run).unwrap();
    }
    // The second has a tag, is missing, or none would be left.
    for gone in [&[3, 2][..], &[3, 99], &[1, 2, 3, 4, 5, 6, 7]] {
        let refused = db.forget_all(gone).unwrap_err();
        assert!(matches!(refused, Error::Invalid(_) | Error::NotFound { .. }), "{refused}");
        possible.verify(&db, &workload.run);
    }
    // The newest three, and one in the middle.
    let gone = [6, 5, 4, 2].map(|index| index as usize).to_vec();
    possible.advance(&db, &UserRequest::ForgetAll(gone), &workload.run).unwrap();
    possible.verify(&db, &workload.run);
    assert!(possible.0[0].versions().keys().eq(&[1, 2, 4]));
    possible.advance(&db, &add(9), &workload.run).unwrap();
    possible.verify(&db, &workload.run);
    assert!(possible.0[0].versions().keys().eq(&[1, 2, 4, 8]));
    // The newest, and all others but the oldest and the tagged one: the middle of a layer becomes the newest.
    possible.advance(&db, &UserRequest::Compact, &workload.run).unwrap();
    possible.advance(&db, &add(10), &workload.run).unwrap();
    possible.advance(&db, &UserRequest::ForgetAll(vec![2, 3, 4]), &workload.run).unwrap();
    possible.verify(&db, &workload.run);
    assert!(possible.0[0].versions().keys().eq(&[1, 2]));
}

#[test]
fn tagging_a_version_in_the_log_keeps_it_from_being_forgotten() {
    let workload = CrashWorkload::random(1, 0);
    let disk = workload.prepare(1);
    let mut possible = workload.possible();
    let db = open(&disk).unwrap();
    let add = |v| UserRequest::Commit(vec![ModelChange::Add(v, v + 1, 1, 1)]);
    // All of these versions are only in the log.
    let (three, one) = (UserRequest::Retain(Retention::Last(3)), UserRequest::Retain(Retention::Last(1)));
    for request in [three, add(1), add(2), add(3), UserRequest::Tag(0, 0), one] {
        possible.advance(&db, &request, &workload.run).unwrap();
    }
    possible.verify(&db, &workload.run);
    assert!(possible.0[0].versions().keys().eq(&[2, 4]), "the tagged version and the newest must remain");
    let refused = db.tag("nothing", 3).unwrap_err();
    assert!(matches!(refused, Error::NotFound { .. }), "{refused}");
}

#[test]
fn merged_layers_are_removed_when_their_last_reader_is_gone() {
    // A state once kept itself alive through its cached version, and with it all layers, until the process
    // ended.
    let workload = CrashWorkload::random(1, 0);
    let disk = workload.prepare(1);
    let mut possible = workload.possible();
    let db = open(&disk).unwrap();
    let mut perform = |requests: &[UserRequest]| {
        requests.iter().for_each(|request| possible.advance(&db, request, &workload.run).unwrap());
    };
    let num_layers = || disk.list(&Path::new(DB).join("layers")).unwrap().len();
    let add = |v| UserRequest::Commit(vec![ModelChange::Add(v, v + 1, 1, 1)]);
    perform(&[add(1), UserRequest::Freeze, add(2), UserRequest::Freeze]);
    let pinned = db.at(2).unwrap();
    perform(&[add(3), UserRequest::Compact]);
    assert_eq!(num_layers(), 4, "two pinned layers, the base layer, and the merged layer");
    verify_version(&pinned, &possible.0[0].versions()[&2], &workload.run);
    drop(pinned);
    assert_eq!(num_layers(), 1);
}

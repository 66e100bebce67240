//! What a database holds after anything that may happen to it: power lost, failing and refused operations, at each single
//! operation of a random workload, and of the recovery after it.
//!
//! `ESKER_TEST_ROUNDS` tries so many workloads in each test.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use esker_graph::Run;

use super::model::{Change, DB, Version, commit, normal, read, verify_version};
use super::{Database, DatabaseOptions};
use crate::check::check;
use crate::error::{Error, Result};
use crate::format::{ElementType, IdMapKind, Retention};
use crate::history::Random;
use crate::io::{Disk, Faults, FaultyDisk};
use crate::sample::Sample;
use crate::store::Store;

const NUM_VERTICES: u64 = 8;
/// Chooses the newest version.
const NEWEST: usize = usize::MAX;

/// How many workloads are tried.
fn rounds() -> u64 {
    std::env::var("ESKER_TEST_ROUNDS").map_or(1, |rounds| rounds.parse().unwrap())
}

/// What a user asks for. Numbers choose among what there is then.
#[derive(Debug, Clone)]
enum Step {
    Commit(Vec<Change>),
    Freeze,
    Merge,
    Compact,
    Define,
    Tag(usize, usize),
    Untag(usize),
    Forget(usize),
    Retain(Retention),
    Reopen,
}

/// A step, once it is known what there is.
#[derive(Debug)]
enum Task<'s> {
    Commit(&'s [Change]),
    Freeze,
    Merge,
    Compact,
    /// One more edge property.
    Define,
    Tag(String, u64),
    Untag(String),
    Forget(u64),
    Retain(Retention),
}

/// What a database holds.
#[derive(Debug, Clone, PartialEq)]
struct Content {
    directed: bool,
    /// The newest version in a layer.
    frozen: u64,
    versions: BTreeMap<u64, Arc<Version>>,
    tags: BTreeMap<String, u64>,
    retention: Retention,
    /// The number of the next version.
    next: u64,
}

impl Content {
    fn of(sample: &Sample) -> Self {
        Self {
            directed: sample.directed,
            frozen: 1,
            versions: [(1, Arc::new(Version::of(sample)))].into(),
            tags: BTreeMap::new(),
            retention: Retention::All,
            next: 2,
        }
    }

    fn newest(&self) -> u64 {
        *self.versions.last_key_value().unwrap().0
    }

    /// A version that may be named.
    fn pick(&self, place: usize) -> u64 {
        match place {
            NEWEST => self.newest(),
            _ => *self.versions.keys().nth(place % self.versions.len()).unwrap(),
        }
    }

    /// What a step comes down to, unless there is nothing that it could be done to.
    fn task<'s>(&self, step: &'s Step) -> Option<Task<'s>> {
        match step {
            Step::Commit(changes) => Some(Task::Commit(changes)),
            Step::Freeze => Some(Task::Freeze),
            Step::Merge => Some(Task::Merge),
            Step::Compact => Some(Task::Compact),
            Step::Define => Some(Task::Define),
            Step::Tag(name, place) => Some(Task::Tag(format!("tag {name}"), self.pick(*place))),
            Step::Untag(place) => {
                let name = self.tags.keys().nth(place % self.tags.len().max(1))?;
                Some(Task::Untag(name.clone()))
            }
            Step::Forget(place) => {
                let version = self.pick(*place);
                let is_free = self.versions.len() > 1 && !self.tags.values().any(|tagged| *tagged == version);
                is_free.then_some(Task::Forget(version))
            }
            Step::Retain(retention) => Some(Task::Retain(*retention)),
            Step::Reopen => None,
        }
    }

    /// All that is passed through while a task is done, from what is there before to what is there after.
    fn through(&self, task: &Task<'_>) -> Vec<Self> {
        let mut stages = vec![self.clone()];
        let in_layers = self.versions.range(..=self.frozen).next_back().map(|(newest, _)| *newest);
        let needs_freeze = match task {
            Task::Freeze | Task::Compact | Task::Define => true,
            // What is named in the manifest must be in a layer.
            Task::Tag(_, version) => *version > self.frozen,
            Task::Forget(version) => *version < self.newest() && Some(*version) >= in_layers,
            _ => false,
        };
        let mut next = self.clone();
        if needs_freeze && self.frozen < self.newest() {
            next.frozen = self.newest();
        }
        match task {
            Task::Commit(changes) => {
                let version = next.versions.last_key_value().unwrap().1.with(changes, self.directed);
                next.versions.insert(self.next, Arc::new(version));
                next.next += 1;
            }
            Task::Freeze | Task::Merge | Task::Compact | Task::Define => {}
            Task::Tag(name, version) => drop(next.tags.insert(name.clone(), *version)),
            Task::Untag(name) => drop(next.tags.remove(name)),
            Task::Forget(version) if *version == self.newest() => {
                // All that is in the log comes into a layer, but for this.
                next.versions.remove(version);
                next.frozen = self.next - 1;
            }
            Task::Forget(version) => drop(next.versions.remove(version)),
            Task::Retain(retention) => next.retention = *retention,
        }
        // A freeze forgets what is not kept, and so does a new rule; both by the record that says so.
        if next.frozen != self.frozen || next.retention != self.retention {
            next = next.without_forgotten();
        }
        stages.push(next);
        stages
    }

    /// Without the versions that the retention does not keep.
    fn without_forgotten(mut self) -> Self {
        let Retention::Last(count) = self.retention else { return self };
        let in_layers: Vec<u64> = self.versions.range(..=self.frozen).map(|version| *version.0).collect();
        for version in &in_layers[..in_layers.len().saturating_sub(count as usize)] {
            if !self.tags.values().any(|tagged| tagged == version) {
                self.versions.remove(version);
            }
        }
        self
    }

    /// Whether an open database says the same about its versions.
    fn is_told_by(&self, db: &Database) -> bool {
        let manifest = db.manifest();
        let in_layers = manifest.log_start().first_version - 1;
        (in_layers, &*manifest.tags, manifest.retention) == (self.frozen, &self.tags, self.retention)
            && db.versions().iter().map(|version| version.number).eq(self.versions.keys().copied())
    }

    /// Whether every version is what it should be.
    fn verify(&self, db: &Database, run: &Run) {
        for (&number, expected) in &self.versions {
            verify_version(&db.at(number).unwrap(), expected, run);
        }
        for number in (1..=self.next).filter(|number| !self.versions.contains_key(number)) {
            let refused = db.at(number).map(drop).unwrap_err();
            assert!(matches!(refused, Error::Invalid(_)), "version {number}: {refused}");
        }
    }
}

/// What may be there: several contents, if it is not known how far something came.
#[derive(Debug, Clone)]
struct Possible(Vec<Content>);

impl Possible {
    /// Does a step, and remembers what may be there then. The step may fail.
    fn advance(&mut self, db: &Database, step: &Step, run: &Run) -> Result<()> {
        let shown = self.told(db, run).clone();
        let Some(task) = shown.task(step) else { return Ok(()) };
        let stages: Vec<Vec<Content>> = self.0.iter().map(|content| content.through(&task)).collect();
        let outcome = match &task {
            Task::Commit(changes) => commit(db, changes).map(drop),
            Task::Freeze => db.freeze(run).map(drop),
            Task::Merge => db.merge(run).map(drop),
            Task::Compact => db.compact(run).map(drop),
            Task::Define => define(db, run),
            Task::Tag(name, version) => db.tag(name, *version),
            Task::Untag(name) => db.untag(name),
            Task::Forget(version) => db.forget(*version),
            Task::Retain(retention) => db.retain(*retention),
        };
        // A commit that failed may be on the disk, but is not frozen.
        let is_frozen = |stages: &[Content]| !matches!(task, Task::Freeze) || stages[0] == shown;
        self.0 = match outcome {
            Ok(()) => stages
                .into_iter()
                .map(|mut stages| stages.swap_remove(if is_frozen(&stages) { stages.len() - 1 } else { 0 }))
                .collect(),
            Err(_) => stages.into_iter().flatten().collect(),
        };
        outcome
    }

    /// Which of them an open database tells of.
    fn told(&self, db: &Database, run: &Run) -> &Content {
        let mut told = self.0.iter().filter(|content| content.is_told_by(db)).peekable();
        let first = told.next();
        // Commits that failed one after another may have had the same number.
        let found = if told.peek().is_none() {
            first
        } else {
            let newest = read(&db.snapshot().unwrap(), run).unwrap();
            let is_newest =
                |content: &&Content| normal(&content.versions[&content.newest()]) == normal(&newest);
            first.into_iter().chain(told).find(is_newest)
        };
        found.unwrap_or_else(|| {
            let numbers: Vec<u64> = db.versions().iter().map(|version| version.number).collect();
            panic!("versions {numbers:?} and {:?} are none of {:#?}", db.manifest(), self.0)
        })
    }

    /// Whether an open database holds one of them; which is certain then.
    fn settle(&mut self, db: &Database, run: &Run) {
        let found = self.told(db, run).clone();
        found.verify(db, run);
        self.0 = vec![found];
    }
}

/// A workload on a sample of a database.
struct Workload {
    sample: Sample,
    steps: Vec<Step>,
    run: Run,
}

impl Workload {
    fn random(seed: u64, steps: usize) -> Self {
        let mut random = Random(seed);
        let mut sample = Sample::random(NUM_VERTICES as usize, 12, random.chance(50), seed as u32);
        sample.ids = IdMapKind::Identity;
        let mut steps: Vec<Step> = (0..steps).map(|_| Step::random(&mut random)).collect();
        // Commits that are in no layer at the end, too.
        steps.push(Step::Commit(changes(&mut random)));
        Self { sample, steps, run: Run::with_threads(1).unwrap() }
    }

    /// A disk with the sample.
    fn prepare(&self, seed: u64) -> FaultyDisk {
        let disk = FaultyDisk::new(seed);
        let shared: Arc<dyn Disk> = Arc::new(disk.clone());
        self.sample.write(&shared, Path::new(DB), false).unwrap();
        disk
    }

    fn possible(&self) -> Possible {
        Possible(vec![Content::of(&self.sample)])
    }

    /// All steps, up to the first that fails.
    fn work(&self, disk: &FaultyDisk, possible: &mut Possible) -> Result<()> {
        let mut db = open(disk)?;
        for step in &self.steps {
            if matches!(step, Step::Reopen) {
                db.close()?;
                db = open(disk)?;
            }
            possible.advance(&db, step, &self.run)?;
        }
        db.close()
    }

    /// Recovers, and goes on from there.
    fn recover(&self, disk: &FaultyDisk, possible: &mut Possible, is_thorough: bool) {
        let shared: Arc<dyn Disk> = Arc::new(disk.clone());
        let store = Store::open_on(Arc::clone(&shared), Path::new(DB)).unwrap();
        let seen: Vec<u64> = store.versions().unwrap().iter().map(|version| version.number).collect();
        let db = open(disk).unwrap();
        possible.settle(&db, &self.run);
        assert!(possible.0[0].versions.keys().eq(&seen), "a reader saw {seen:?}");
        for step in [Step::Commit(vec![Change::Add(1, 2, 3, 4)]), Step::Freeze] {
            possible.advance(&db, &step, &self.run).unwrap();
        }
        possible.settle(&db, &self.run);
        if is_thorough {
            let report = check(&shared, &db.snapshot().unwrap(), &self.run).unwrap();
            assert!(report.is_sound(), "{:?}", report.problems);
        }
    }
}

impl Step {
    fn random(random: &mut Random) -> Self {
        match random.below(21) {
            0..7 => Self::Commit(changes(random)),
            7..10 => Self::Freeze,
            10 => Self::Merge,
            11 => Self::Compact,
            12 => Self::Tag(random.below(2), random.below(100)),
            13 => Self::Forget(NEWEST),
            14 => Self::Untag(random.below(100)),
            15..17 => Self::Forget(random.below(100)),
            17 => Self::Retain([Retention::All, Retention::Last(1), Retention::Last(3)][random.below(3)]),
            18 => Self::Define,
            _ => Self::Reopen,
        }
    }
}

fn changes(random: &mut Random) -> Vec<Change> {
    (0..random.below(8)).map(|_| Change::random(NUM_VERTICES, random)).collect()
}

/// Gives edges one more property, of texts and of numbers in turn.
fn define(db: &Database, run: &Run) -> Result<()> {
    let count = db.batch().edge_properties().len();
    let element = count.is_multiple_of(2).then_some(ElementType::U16);
    db.add_edge_property(&format!("property {count}"), element, false, run)
}

fn open(disk: &FaultyDisk) -> Result<Database> {
    let options = DatabaseOptions { threads: 1, segment_bytes: 4096 + 1000, ..DatabaseOptions::default() };
    Database::open_on(Arc::new(disk.clone()), Path::new(DB), options)
}

fn die_at(operation: u64) -> Faults {
    Faults { die_at: Some(operation), ..Faults::default() }
}

fn fail_at(operation: u64) -> Faults {
    Faults { fail_at: Some(operation), ..Faults::default() }
}

/// Calls `test` with a fresh disk for a fault at each operation of a workload, until there is none left. It returns
/// how many operations there were.
fn at_each_operation(steps: usize, mut test: impl FnMut(&Workload, FaultyDisk, u64) -> u64) {
    for seed in 1..=rounds() {
        let workload = Workload::random(seed, steps);
        let fresh = workload.prepare(seed);
        (1..).find(|&at| test(&workload, fresh.fork(), at) < at);
    }
}

#[test]
fn what_was_acknowledged_survives_a_loss_of_power_at_each_operation_and_another_one() {
    let mut random = Random(1);
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

/// Dies at a random operation of recovery; what a recovery that came to its end said, stays.
fn crash_again(workload: &Workload, disk: &FaultyDisk, mut possible: Possible, random: &mut Random) {
    let rehearsal = disk.fork();
    rehearsal.set_faults(Faults::default());
    drop(open(&rehearsal).unwrap());
    disk.set_faults(die_at(1 + random.below(rehearsal.operations() as usize) as u64));
    if let Ok(db) = open(disk) {
        possible = Possible(vec![possible.told(&db, &workload.run).clone()]);
    }
    disk.crash();
    workload.recover(disk, &mut possible, false);
}

#[test]
fn a_second_loss_of_power_at_each_operation_of_recovery_loses_nothing() {
    for seed in 1..=rounds() {
        let workload = Workload::random(seed, 20);
        let (disk, mut possible) = (workload.prepare(seed), workload.possible());
        let rehearsal = disk.fork();
        rehearsal.set_faults(Faults::default());
        workload.work(&rehearsal, &mut possible.clone()).unwrap();
        // Somewhere in the last third.
        let operations = rehearsal.operations();
        disk.set_faults(die_at(operations - Random(seed).below(operations as usize / 3) as u64));
        workload.work(&disk, &mut possible).unwrap_err();
        disk.crash();
        for at in 1.. {
            let (disk, mut possible) = (disk.fork(), possible.clone());
            disk.set_faults(die_at(at));
            let db = open(&disk);
            let is_over = disk.operations() < at;
            if let Ok(db) = db {
                possible = Possible(vec![possible.told(&db, &workload.run).clone()]);
            }
            disk.crash();
            workload.recover(&disk, &mut possible, false);
            if is_over {
                break;
            }
        }
    }
}

/// Goes on after a failure: whatever else fails or not, what is shown is what may be there.
fn go_on(workload: &Workload, db: &Database, possible: &mut Possible) {
    let shown = possible.told(db, &workload.run);
    shown.verify(db, &workload.run);
    let steps = [Step::Commit(vec![Change::Add(5, 6, 7, 1)]), Step::Tag(5, 0), Step::Freeze];
    for step in steps {
        // A second failure must be a clean one as well.
        drop(possible.advance(db, &step, &workload.run));
    }
    possible.told(db, &workload.run).verify(db, &workload.run);
}

/// Works until something fails; then the open database must still show what it did, and so must one that is opened
/// after the disk was mended. Returns the number of operations up to then.
fn fail(workload: &Workload, disk: &FaultyDisk, power_is_lost: bool) -> u64 {
    let mut possible = workload.possible();
    let mut db = open(disk).ok();
    for step in &workload.steps {
        if matches!(step, Step::Reopen) {
            // What fails on closing is no more than the mark of a log that was closed.
            drop(db.take().map(Database::close));
            db = open(disk).ok();
        }
        let Some(db) = &db else { break };
        if possible.advance(db, step, &workload.run).is_err() {
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
fn any_operation_may_fail_once() {
    at_each_operation(30, |workload, disk, at| {
        disk.set_faults(fail_at(at));
        fail(workload, &disk, at % 2 == 0)
    });
}

#[test]
fn a_full_disk_is_told_and_takes_nothing_away() {
    for seed in 1..=rounds() {
        let workload = Workload::random(seed, 20);
        let fresh = workload.prepare(seed);
        let used_bytes = |disk: &FaultyDisk| {
            let store = Store::open_on(Arc::new(disk.clone()), Path::new(DB)).unwrap();
            store.files().unwrap().iter().map(|file| file.1).sum::<u64>()
        };
        let whole = fresh.fork();
        workload.work(&whole, &mut workload.possible()).unwrap();
        let (first, last) = (used_bytes(&fresh), used_bytes(&whole));
        for step in 0..200 {
            let disk = fresh.fork();
            let space_bytes = Some(first + (last - first) * step / 190);
            disk.set_faults(Faults { space_bytes, ..Faults::default() });
            fail(&workload, &disk, step % 2 == 0);
        }
    }
}

#[test]
fn a_database_on_a_disk_that_becomes_read_only_stays_readable() {
    let workload = Workload::random(3, 20);
    let disk = workload.prepare(3);
    let mut possible = workload.possible();
    workload.work(&disk, &mut possible).unwrap();
    let read_only = || disk.set_faults(Faults { read_only: true, ..Faults::default() });
    let db = open(&disk).unwrap();
    read_only();
    let shown = possible.0[0].clone();
    for step in [Step::Commit(vec![Change::AddVertex(3)]), Step::Freeze, Step::Tag(7, 0)] {
        let refused = possible.advance(&db, &step, &workload.run).unwrap_err().to_string();
        assert!(refused.contains("ead-only") || refused.contains("open the database again"), "{refused}");
        shown.verify(&db, &workload.run);
    }
    drop(db);
    assert!(matches!(open(&disk), Err(Error::Io { .. })));
    let store = Store::open_on(Arc::new(disk.clone()), Path::new(DB)).unwrap();
    for (&number, expected) in &shown.versions {
        verify_version(&store.at(number).unwrap(), expected, &workload.run);
    }
}

#[test]
fn the_newest_version_in_a_layer_may_be_forgotten_while_the_log_builds_on_it() {
    // Once the layers seemed to end with the version before, on which the commit in the log was then put.
    let workload = Workload::random(1, 0);
    let disk = workload.prepare(1);
    let mut possible = workload.possible();
    let db = open(&disk).unwrap();
    let add = |v| Step::Commit(vec![Change::Add(v, v + 1, 1, 1)]);
    for step in [add(1), Step::Freeze, add(2), Step::Forget(1), add(3)] {
        possible.advance(&db, &step, &workload.run).unwrap();
    }
    possible.settle(&db, &workload.run);
    assert!(possible.0[0].versions.keys().eq(&[1, 3, 4]));
}

#[test]
fn the_newest_version_may_be_forgotten_wherever_it_is() {
    let workload = Workload::random(1, 0);
    let disk = workload.prepare(1);
    let mut possible = workload.possible();
    let mut db = open(&disk).unwrap();
    let add = |v| Step::Commit(vec![Change::Add(v, v + 20, 1, v as u8), Change::Age(v, Some(v as i64))]);
    let forget = || Step::Forget(NEWEST);
    let steps = [
        // Alone in the log, after another one in the log, and alone in a layer.
        vec![add(1), forget(), add(2), add(3), forget(), add(4), Step::Freeze, forget()],
        // In a layer with others, twice; and the one that all of them end with.
        vec![add(5), add(6), add(7), Step::Freeze, forget(), forget(), Step::Compact, forget()],
        vec![add(8), Step::Tag(0, NEWEST), add(9), Step::Freeze, Step::Forget(0), forget(), add(10)],
    ];
    for steps in steps {
        for step in steps {
            possible.advance(&db, &step, &workload.run).unwrap();
            possible.settle(&db, &workload.run);
        }
        db.close().unwrap();
        db = open(&disk).unwrap();
        possible.settle(&db, &workload.run);
        let report =
            check(&(Arc::new(disk.clone()) as Arc<dyn Disk>), &db.snapshot().unwrap(), &workload.run)
                .unwrap();
        assert!(report.is_sound(), "{:?}", report.problems);
    }
    let left: Vec<u64> = possible.0[0].versions.keys().copied().collect();
    assert_eq!(left, [3, 9, 11]);
    let refused = db.forget(9).unwrap_err().to_string();
    assert!(refused.contains("tag"), "{refused}");
}

#[test]
fn a_version_that_the_rule_does_not_keep_gets_its_name_before_it_is_forgotten() {
    let workload = Workload::random(1, 0);
    let disk = workload.prepare(1);
    let mut possible = workload.possible();
    let db = open(&disk).unwrap();
    let add = |v| Step::Commit(vec![Change::Add(v, v + 1, 1, 1)]);
    // All of these are in the log alone.
    for step in [Step::Retain(Retention::Last(1)), add(1), add(2), add(3), Step::Tag(0, 1)] {
        possible.advance(&db, &step, &workload.run).unwrap();
    }
    possible.settle(&db, &workload.run);
    assert!(possible.0[0].versions.keys().eq(&[2, 4]), "the second, which has a name, and the newest");
    let refused = db.tag("nothing", 3).unwrap_err();
    assert!(matches!(refused, Error::Invalid(_)), "{refused}");
}

#[test]
fn merged_layers_are_removed_once_nobody_reads_them() {
    // Once a state held itself through the snapshot that it remembered, and with it all layers, until the process ended.
    let workload = Workload::random(1, 0);
    let disk = workload.prepare(1);
    let mut possible = workload.possible();
    let db = open(&disk).unwrap();
    let mut do_steps = |steps: &[Step]| {
        steps.iter().for_each(|step| possible.advance(&db, step, &workload.run).unwrap());
    };
    let num_layers = || disk.list(&Path::new(DB).join("layers")).unwrap().len();
    let add = |v| Step::Commit(vec![Change::Add(v, v + 1, 1, 1)]);
    do_steps(&[add(1), Step::Freeze, add(2), Step::Freeze]);
    let pinned = db.at(2).unwrap();
    do_steps(&[add(3), Step::Compact]);
    assert_eq!(num_layers(), 4, "two that are pinned, the first one, and the merged one");
    verify_version(&pinned, &possible.0[0].versions[&2], &workload.run);
    drop(pinned);
    assert_eq!(num_layers(), 1);
}

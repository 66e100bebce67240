//! Runs out of memory at every point: refuses each large allocation of commits, freezes and merges in turn.
//! The operation fails with an error, all earlier versions stay unchanged, and the database goes on. Also
//! checks that a database keeps its memory limit.
//!
//! A program of its own, because the allocator is that of the whole process.
#![allow(unsafe_code)] // An allocator is unsafe code.

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use esker_graph::{Direction, Run, Stop};
use esker_import::install::import;
use esker_import::open::open_inputs;
use esker_import::options::ImportOptions;
use esker_import::read::format::{PickProperties, ReadOptions};
use esker_import::read::input::Input;
use esker_store::io::{Disk, RealDisk};
use esker_store::manifest::StagingOptions;
use esker_store::property::PropertyValue;
use esker_store::{Database, DatabaseOptions, Error, Result};

/// Refuses one large allocation: the one that brings `LEFT` down to 0.
struct Refusing;

/// Allocations of at least this size count as large.
static LARGE_BYTES: AtomicUsize = AtomicUsize::new(usize::MAX);
static LEFT: AtomicI64 = AtomicI64::new(0);
static REFUSED_BYTES: AtomicUsize = AtomicUsize::new(0);
/// Bytes in use, and their peak.
static HELD_BYTES: AtomicUsize = AtomicUsize::new(0);
static PEAK_BYTES: AtomicUsize = AtomicUsize::new(0);
/// The counters are those of the whole process: tests run one at a time.
static ALONE: Mutex<()> = Mutex::new(());

fn hold(bytes: usize) {
    let held = HELD_BYTES.fetch_add(bytes, Ordering::SeqCst) + bytes;
    PEAK_BYTES.fetch_max(held, Ordering::SeqCst);
}

fn is_refused(bytes: usize) -> bool {
    let is_due = bytes >= LARGE_BYTES.load(Ordering::SeqCst) && LEFT.fetch_sub(1, Ordering::SeqCst) == 1;
    if is_due {
        REFUSED_BYTES.store(bytes, Ordering::SeqCst);
    }
    is_due
}

// SAFETY: forwards to the system's allocator with the same layout, or refuses by returning null, as the trait
// allows.
unsafe impl GlobalAlloc for Refusing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_refused(layout.size()) {
            return std::ptr::null_mut();
        }
        hold(layout.size());
        // SAFETY: as asked of the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD_BYTES.fetch_sub(layout.size(), Ordering::SeqCst);
        // SAFETY: as asked of the caller.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if is_refused(layout.size()) {
            return std::ptr::null_mut();
        }
        hold(layout.size());
        // SAFETY: as asked of the caller.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        if is_refused(bytes) {
            return std::ptr::null_mut();
        }
        // Both exist during the copy.
        hold(bytes);
        HELD_BYTES.fetch_sub(layout.size(), Ordering::SeqCst);
        // SAFETY: as asked of the caller.
        unsafe { System.realloc(pointer, layout, bytes) }
    }
}

#[global_allocator]
static ALLOCATOR: Refusing = Refusing;

fn create(path: &Path) {
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let text = b"0 1\n1 2\n2 0\n";
    let reader = open_inputs(&[Input::memory("web.el", &text[..])], &ReadOptions::default()).unwrap().reader;
    import(&disk, reader, path, &ImportOptions::default(), StagingOptions::default()).unwrap();
}

fn open(path: &Path) -> Result<Database> {
    let options = DatabaseOptions {
        threads: 1,
        freeze_bytes: Some(u64::MAX),
        auto_merge: Some(false),
        sync: esker_store::log::Sync::Never,
        ..DatabaseOptions::default()
    };
    Database::open(path, options)
}

/// Adds edges, with nearly as many new vertices.
fn commit(db: &Database, edges: u64) -> Result<u64> {
    let mut batch = db.batch();
    for i in 0..edges {
        batch.add_edge(i * 7 % 2_000, i * 31 % edges, &[])?;
    }
    db.commit(batch, "many")
}

/// Copies a directory with its contents.
fn copy(from: &Path, to: &Path) {
    RealDisk.create_directory(to).unwrap();
    for entry in RealDisk.list(from).unwrap() {
        let (from, to) = (from.join(&entry.name), to.join(&entry.name));
        if entry.is_directory {
            copy(&from, &to);
        } else {
            RealDisk.write(&to, &RealDisk.read(&from).unwrap()).unwrap();
        }
    }
}

/// How many edges each version has, and how many arcs some of its lists.
type Versions = BTreeMap<u64, (u64, usize)>;

/// Reads all versions.
fn read(db: &Database) -> Versions {
    let arcs = |number| {
        let version = db.at(number).unwrap();
        let vertices = (0..version.num_vertices()).step_by(23).map(esker_graph::vertex);
        let arcs = vertices.map(|v| version.degree(Direction::Out, v).unwrap()).sum();
        (version.num_edges(), arcs)
    };
    let v = db.vertex_of(1.into()).unwrap().unwrap();
    let newest = db.latest().unwrap();
    assert_eq!(db.degree(Direction::Out, v).unwrap(), newest.degree(Direction::Out, v).unwrap());
    db.versions().iter().map(|version| (version.number, arcs(version.number))).collect()
}

/// Runs an operation on copies of a database, and refuses another of its allocations each time, until none is
/// left. The operation does all or nothing: a copy, also when opened again, is as before or as after the
/// operation. Returns the number of allocations.
fn at_each_allocation(before: &Path, step: impl Fn(&Database) -> Result<()>) -> usize {
    let directory = tempfile::tempdir().unwrap();
    let attempt = |k: u64| {
        let path = directory.path().join(k.to_string());
        copy(before, &path);
        let db = open(&path).unwrap();
        REFUSED_BYTES.store(0, Ordering::SeqCst);
        LEFT.store(k as i64, Ordering::SeqCst);
        let outcome = step(&db);
        LEFT.store(0, Ordering::SeqCst);
        let is_refused = REFUSED_BYTES.load(Ordering::SeqCst) > 0;
        let seen = read(&db);
        drop(db);
        let again = read(&open(&path).unwrap());
        RealDisk.remove_directory(&path).unwrap();
        (outcome, is_refused, seen, again)
    };
    // Number 0 is never refused.
    let (outcome, _, after, _) = attempt(0);
    outcome.unwrap();
    let before = read(&open(before).unwrap());
    for k in 1.. {
        let (outcome, is_refused, seen, again) = attempt(k);
        assert!(again == before || again == after, "{again:?} is neither {before:?} nor {after:?}");
        match outcome {
            Ok(()) => assert_eq!((&seen, &again), (&after, &after)),
            Err(error) => {
                assert!(error.to_string().contains("memory"), "{error}");
                assert_eq!(seen, before);
            }
        }
        if !is_refused {
            return k as usize - 1;
        }
    }
    unreachable!("a step ends")
}

#[test]
fn memory_that_runs_out_takes_nothing_away() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    create(&path("imported"));
    LARGE_BYTES.store(64 << 10, Ordering::SeqCst);
    let commits = at_each_allocation(&path("imported"), |db| commit(db, 10_000).map(drop));
    assert!(commits > 10, "{commits}");
    // Buffers of files, and chunks of lists, have fixed sizes below this.
    LARGE_BYTES.store(1 << 20, Ordering::SeqCst);
    copy(&path("imported"), &path("logged"));
    let db = open(&path("logged")).unwrap();
    commit(&db, 140_000).unwrap();
    db.close().unwrap();
    let run = Run::with_threads(1).unwrap();
    let freezes = at_each_allocation(&path("logged"), |db| db.freeze(&run).map(drop));
    assert!(freezes > 10, "{freezes}");
    // So have the chunks of lists of a merge, which are larger.
    LARGE_BYTES.store(3 << 20, Ordering::SeqCst);
    copy(&path("imported"), &path("layers"));
    let db = open(&path("layers")).unwrap();
    for edges in [400_000, 440_000] {
        commit(&db, edges).unwrap();
        db.freeze(&run).unwrap();
    }
    db.close().unwrap();
    let merges = at_each_allocation(&path("layers"), |db| db.compact(&run).map(drop));
    assert!(merges > 1, "{merges}");
    LARGE_BYTES.store(usize::MAX, Ordering::SeqCst);
}

#[test]
fn commits_stay_within_the_memory_that_they_may_take() {
    const LIMIT_BYTES: u64 = 24 << 20;
    // The tables of an empty database, the batch itself, and 1 MiB for each column that a freeze or a merge
    // is writing. Without a limit, it takes more than 100 MiB.
    const SLACK_BYTES: usize = 28 << 20;
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("web");
    create(&path);
    let open = |memory_bytes| {
        let sync = esker_store::log::Sync::Never;
        let budget = esker_graph::Budget::new(memory_bytes);
        Database::open(&path, DatabaseOptions { sync, budget, threads: 2, ..DatabaseOptions::default() })
    };
    let db = open(LIMIT_BYTES).unwrap();
    let add = |db: &Database, first: u64, count: u64| {
        let mut batch = db.batch();
        for i in first..first + count {
            batch.add_edge(i * 7919 % 5_000, i * 104_729 % 99_991, &[])?;
        }
        db.commit(batch, "many")
    };
    let held = HELD_BYTES.load(Ordering::SeqCst);
    PEAK_BYTES.store(held, Ordering::SeqCst);
    for part in 0..40 {
        add(&db, part * 20_000, 20_000).unwrap();
    }
    let peak = PEAK_BYTES.load(Ordering::SeqCst) - held;
    assert!(peak < LIMIT_BYTES as usize + SLACK_BYTES, "{peak} bytes");
    assert!(db.manifest().versions.len() > 20, "commits are frozen when there is no more room");
    // The error names the size that would do.
    let newest = db.versions().len();
    let needed = match add(&db, 0, 300_000) {
        Err(Error::Stop(Stop::OverBudget { needed_bytes, budget_bytes: LIMIT_BYTES, .. })) => needed_bytes,
        other => panic!("{other:?}"),
    };
    assert_eq!(db.versions().len(), newest);
    db.close().unwrap();
    let db = open(needed + (1 << 20)).unwrap();
    add(&db, 0, 300_000).unwrap();
    db.close().unwrap();
}

/// A database whose edges have a text.
fn create_with_texts(path: &Path) {
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let text = b"source,target,kind\n0,1,a\n1,2,b\n";
    let options = ReadOptions { properties: PickProperties::All, ..ReadOptions::default() };
    let reader = open_inputs(&[Input::memory("web.csv", &text[..])], &options).unwrap().reader;
    import(&disk, reader, path, &ImportOptions::default(), StagingOptions::default()).unwrap();
}

#[test]
fn texts_of_edges_count_against_the_limit_in_batches_and_until_they_are_frozen() {
    const LIMIT_BYTES: u64 = 16 << 20;
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("web");
    create_with_texts(&path);
    let open = |memory_bytes| {
        let sync = esker_store::log::Sync::Never;
        let budget = esker_graph::Budget::new(memory_bytes);
        Database::open(&path, DatabaseOptions { sync, budget, threads: 1, ..DatabaseOptions::default() })
    };
    let db = open(LIMIT_BYTES).unwrap();
    let fill = |first: u64, count: u64| {
        let mut batch = db.batch();
        for i in first..first + count {
            let text = format!("{i:01000}");
            batch.add_edge(i % 100, i % 99, &[PropertyValue::Text(text.as_bytes())])?;
            db.make_room(&mut batch)?;
        }
        db.commit(batch, "texts")
    };
    // One batch of 20 MB of texts is refused while it grows.
    let held = HELD_BYTES.load(Ordering::SeqCst);
    PEAK_BYTES.store(held, Ordering::SeqCst);
    let refused = fill(0, 20_000).unwrap_err().to_string();
    assert!(refused.contains("changes and more needs "), "{refused}");
    let peak = PEAK_BYTES.load(Ordering::SeqCst) - held;
    assert!(peak < LIMIT_BYTES as usize, "{peak} bytes");
    // Those of commits are kept for their codes until they are frozen, which makes room for others.
    for part in 0..40 {
        fill(part * 500, 500).unwrap();
    }
    let peak = PEAK_BYTES.load(Ordering::SeqCst) - held;
    assert!(peak < (LIMIT_BYTES + (16 << 20)) as usize, "{peak} bytes");
    db.freeze(&Run::with_threads(1).unwrap()).unwrap();
    db.close().unwrap();
    // Those of layers are looked up where they lie.
    open(2 << 20).unwrap().close().unwrap();
}

#[test]
fn a_batch_reserves_its_memory_while_it_grows() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("web");
    create(&path);
    let budget = esker_graph::Budget::new(64 << 20);
    let sync = esker_store::log::Sync::Never;
    let options = DatabaseOptions { sync, budget: budget.clone(), threads: 1, ..DatabaseOptions::default() };
    let db = Database::open(&path, options).unwrap();
    let free = budget.free_bytes();
    let mut batch = db.batch();
    for i in 0..100_000_u64 {
        batch.add_edge(i % 1000, i % 999, &[]).unwrap();
        db.make_room(&mut batch).unwrap();
    }
    let reserved = free - budget.free_bytes();
    assert!(reserved >= 100_000 * 20, "{reserved}");
    let copy = batch.clone();
    drop(batch);
    assert!(free - budget.free_bytes() < 4096, "a batch that is dropped gives its memory back");
    db.commit(copy, "a copy").unwrap();
    db.freeze(&Run::with_threads(1).unwrap()).unwrap();
    assert!(budget.free_bytes() + (1 << 20) >= free, "{} of {free}", budget.free_bytes());
    db.close().unwrap();
}

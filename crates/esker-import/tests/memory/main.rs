//! Imports of shapes that need much memory for each row or column keep the limit and the 64 MiB that are
//! promised beside it, or are refused with the number that would do.
//!
//! A program of its own, because the allocator is that of the whole process.
#![allow(unsafe_code)] // An allocator is unsafe code.

use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use esker_format::io::{Disk, RealDisk};
use esker_graph::Stop;
use esker_import::install::import;
use esker_import::open::open_inputs;
use esker_import::options::{ImportOptions, ImportReport};
use esker_import::read::format::{PickProperties, ReadOptions};
use esker_import::read::input::Input;
use esker_store::manifest::StagingOptions;
use esker_store::{Error, Result};

/// Counts the bytes in use, and their peak.
struct Counting;

static HELD_BYTES: AtomicUsize = AtomicUsize::new(0);
static PEAK_BYTES: AtomicUsize = AtomicUsize::new(0);

fn hold(bytes: usize) {
    let held = HELD_BYTES.fetch_add(bytes, Ordering::SeqCst) + bytes;
    PEAK_BYTES.fetch_max(held, Ordering::SeqCst);
}

// SAFETY: forwards to the system's allocator with the same layout.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        hold(layout.size());
        // SAFETY: as asked of the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD_BYTES.fetch_sub(layout.size(), Ordering::SeqCst);
        // SAFETY: as asked of the caller.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Imports a CSV with all columns; returns the most bytes in use beside those of the input.
fn peak_of(text: String, memory_bytes: u64) -> (Result<ImportReport>, u64) {
    let directory = tempfile::tempdir().unwrap();
    let input = Input::memory("in.csv", text.into_bytes());
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let before = HELD_BYTES.load(Ordering::SeqCst);
    PEAK_BYTES.store(before, Ordering::SeqCst);
    let read = ReadOptions { properties: PickProperties::All, ..ReadOptions::default() };
    let reader = open_inputs(&[input], &read).unwrap().reader;
    let options = ImportOptions { memory_bytes, threads: 2, ..ImportOptions::default() };
    let path = directory.path().join("out.esker");
    let done = import(&disk, reader, Path::new(&path), &options, StagingOptions::default());
    (done, (PEAK_BYTES.load(Ordering::SeqCst) - before) as u64)
}

fn columns(count: usize, rows: usize) -> String {
    let mut text = "source,target".to_owned();
    (0..count).for_each(|column| write!(text, ",p{column}").unwrap());
    for row in 0..rows {
        write!(text, "\n{},{}", row * 7919 % 50_000, row * 104_729 % 50_000).unwrap();
        (0..count).for_each(|column| write!(text, ",{}.5", (row * 31 + column) % 1000).unwrap());
    }
    text
}

/// One test, since the counters are those of the whole process.
#[test]
fn wide_rows_keep_the_limit_or_are_refused_before_work_begins() {
    const MIB: u64 = 1 << 20;
    let long = |rows: usize| {
        let id = |number: usize| format!("{number:08}").repeat(125);
        (0..rows).fold("source,target".to_owned(), |text, row| {
            text + "\n" + &id(row) + "," + &id(row * 7919 % rows)
        })
    };
    let shapes = [
        ("50 properties", columns(50, 40_000), 32 * MIB),
        ("200 properties", columns(200, 40_000), 64 * MIB),
        ("ids of 1000 bytes", long(10_000), 16 * MIB),
    ];
    for (name, text, limit_bytes) in shapes {
        let (done, peak_bytes) = peak_of(text, limit_bytes);
        done.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(peak_bytes <= limit_bytes + 64 * MIB, "{name}: {peak_bytes}");
    }
    let (refused, peak_bytes) = peak_of(columns(200, 10_000), 16 * MIB);
    match refused {
        Err(Error::Stop(Stop::OverBudget { needed_bytes, budget_bytes, .. })) => {
            assert_eq!(budget_bytes, 16 * MIB);
            assert!(needed_bytes <= 64 * MIB, "{needed_bytes}");
        }
        other => panic!("{other:?}"),
    }
    assert!(peak_bytes <= 8 * MIB, "{peak_bytes}");
}

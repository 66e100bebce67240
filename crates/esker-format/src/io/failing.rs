//! Names the file when the system cannot read a mapped page.
//!
//! Most such pages are errors, because a range is loaded before it is compared with its checksum: see the
//! head of `map`. A page that was compared, that the system evicted since, and that fails when it is read
//! again, is the signal SIGBUS, and the access cannot succeed. A program may choose, by
//! [`end_on_failing_pages`], that it then ends with a message that names the file; or, by
//! [`outlive_failing_pages`], that zeros stand in for what cannot be read. Then it goes on, and asks
//! [`changed_map`](super::changed_map) after all work whether a file failed: what was computed of it is
//! void.
#![allow(unsafe_code)] // A signal handler is unsafe code.
#![cfg(target_os = "linux")]

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};

use super::table_of_maps::{FoundMap, map_at};

static EXIT_CODE: AtomicI32 = AtomicI32::new(1);
/// Whether zeros stand in for pages that fail; else they end the process.
static OUTLIVES: AtomicBool = AtomicBool::new(false);
/// Bytes of a page.
static PAGE_BYTES: AtomicUsize = AtomicUsize::new(0);

/// The handler that was there before, once ours is there.
struct Previous(std::sync::OnceLock<libc::sigaction>);
// SAFETY: plain data that the system filled in.
unsafe impl Send for Previous {}
// SAFETY: likewise; it is only copied.
unsafe impl Sync for Previous {}
static PREVIOUS: Previous = Previous(std::sync::OnceLock::new());

/// Puts zeros in the place of a map from the page at `address` on, and says so. The rest of the map with it:
/// of a file that was cut short, all of it fails. Returns whether the system did that.
fn replace(address: usize, found: &FoundMap) -> bool {
    // SAFETY: the flag lives as long as the map, which exists because this access to it failed.
    unsafe { (*found.failed).store(true, Ordering::Release) };
    let start = address - address % PAGE_BYTES.load(Ordering::Relaxed);
    let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
    // SAFETY: the range begins at a page of the map and ends with the map, and is read-only as before. Its
    // bytes may change under its readers, as by any program that writes to the file: see `Map::of_file`.
    let zeros = unsafe { libc::mmap(start as *mut c_void, found.end - start, libc::PROT_READ, kind, -1, 0) };
    zeros != libc::MAP_FAILED
}

/// Replaces the page of a mapped file that failed, or ends the process. Calls only what a signal handler may
/// call.
extern "C" fn on_bus_error(_: c_int, info: *mut libc::siginfo_t, _: *mut c_void) {
    // SAFETY: the system passes a valid `info`, as asked for by SA_SIGINFO.
    let address = unsafe { (*info).si_addr() } as usize;
    if let Some(found) = map_at(address) {
        if OUTLIVES.load(Ordering::Relaxed) && replace(address, &found) {
            return;
        }
        let say = |text: *const u8, bytes: usize| {
            // SAFETY: `text` has `bytes` bytes: literals, and the path of a map that exists, because this
            // access to it failed.
            let _ = unsafe { libc::write(2, text.cast(), bytes) };
        };
        let before = b"esker: cannot read ";
        let after = b": the disk failed there, or the file was cut short after it was opened; restore the database from a copy\n";
        say(before.as_ptr(), before.len());
        say(found.path, found.path_bytes);
        say(after.as_ptr(), after.len());
        // SAFETY: ends the process at once, without running anything else.
        unsafe { libc::_exit(EXIT_CODE.load(Ordering::Relaxed)) }
    }
    // Not ours: the access is repeated under the previous handler.
    match PREVIOUS.0.get() {
        // SAFETY: what the system gave as the previous action.
        Some(previous) => unsafe {
            libc::sigaction(libc::SIGBUS, previous, null_mut());
        },
        // SAFETY: the default action exists for each signal.
        None => unsafe {
            libc::signal(libc::SIGBUS, libc::SIG_DFL);
        },
    }
}

fn install() {
    // SAFETY: asks the system for a number.
    let page_bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    PAGE_BYTES.store(usize::try_from(page_bytes).unwrap_or(4096), Ordering::Relaxed);
    PREVIOUS.0.get_or_init(|| {
        let mut previous = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: a zeroed `sigaction` is valid, its mask empty; the handler has the type that SA_SIGINFO
        // wants, and the alternate stack, which the standard library sets up, is used where there is one.
        unsafe {
            libc::sigaction(libc::SIGBUS, null(), previous.as_mut_ptr());
            let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
            action.sa_sigaction = on_bus_error as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigaction(libc::SIGBUS, &raw const action, null_mut());
            previous.assume_init()
        }
    });
}

/// From now on, when a page of a mapped file cannot be read, the process says on standard error which file it
/// is, and ends with this exit code, instead of dying by SIGBUS without a word. A second call changes the
/// exit code. For whole programs; libraries do not call it.
pub fn end_on_failing_pages(code: i32) {
    EXIT_CODE.store(code, Ordering::Relaxed);
    OUTLIVES.store(false, Ordering::Relaxed);
    install();
}

/// From now on, when a page of a mapped file cannot be read, zeros stand in for it and for what follows in
/// the file, as long as it is mapped, and [`changed_map`](super::changed_map) names the file. For programs
/// that ask for it after all work, and must not end: servers. Libraries do not call it.
pub fn outlive_failing_pages() {
    OUTLIVES.store(true, Ordering::Relaxed);
    install();
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)] // The test runs itself.

    use std::path::Path;
    use std::process::Command;

    use super::*;
    use crate::io::changed_map;
    use crate::io::disk::{Disk, Files};
    use crate::io::real::RealDisk;

    const NAME: &str =
        "io::failing::tests::a_page_that_fails_after_it_was_read_ends_the_program_with_the_name_of_the_file";
    const OUTLIVING: &str =
        "io::failing::tests::a_program_outlives_pages_that_fail_and_is_told_of_which_file";
    const FILE: &str = "ESKER_TEST_FAILING_FILE";

    /// Runs a test of this module in a process of its own, with a file.
    fn in_a_child(test: &str, path: &Path) -> std::process::Output {
        std::fs::write(path, [5; 12_288]).unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", test, "--nocapture"]).env(FILE, path).output().unwrap()
    }

    #[test]
    fn a_program_outlives_pages_that_fail_and_is_told_of_which_file() {
        if let Some(path) = std::env::var_os(FILE) {
            outlive_failing_pages();
            let (path, other) = (Path::new(&path), Path::new("/elsewhere"));
            let map = RealDisk.open(path).unwrap().map().unwrap();
            let second = RealDisk.open(path).unwrap().map().unwrap();
            assert_eq!(map.load(0..map.len()).unwrap()[9000], 5);
            RealDisk.open_for_writing(path).unwrap().set_length(4096).unwrap();
            assert!(changed_map(path).is_some_and(|changed| !changed.is_unreadable));
            let read = |at: usize| std::hint::black_box(&map)[at];
            assert_eq!([read(100), read(9000), read(12_287), read(5000)], [5, 0, 0, 0]);
            assert_eq!(std::hint::black_box(&second)[5000], 0);
            assert!(changed_map(path).is_some_and(|changed| changed.is_unreadable));
            assert_eq!(changed_map(other), None);
            drop((map, second));
            assert_eq!(changed_map(path), None, "it is not mapped any more");
            std::process::exit(3);
        }
        let directory = tempfile::tempdir().unwrap();
        let output = in_a_child(OUTLIVING, &directory.path().join("a layer"));
        assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    }

    #[test]
    fn a_page_that_fails_after_it_was_read_ends_the_program_with_the_name_of_the_file() {
        if let Some(path) = std::env::var_os(FILE) {
            end_on_failing_pages(9);
            end_on_failing_pages(7);
            let map = RealDisk.open(Path::new(&path)).unwrap().map().unwrap();
            assert_eq!(map.load(0..map.len()).unwrap()[9000], 5);
            RealDisk.open_for_writing(Path::new(&path)).unwrap().set_length(4096).unwrap();
            assert_eq!(std::hint::black_box(map[100]), 5);
            std::hint::black_box(map[9000]);
            unreachable!("the page is gone");
        }
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a layer");
        let output = in_a_child(NAME, &path);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(7), "{said}");
        assert!(
            said.contains(&format!("esker: cannot read {}: the disk failed there", path.display())),
            "{said}"
        );
    }
}

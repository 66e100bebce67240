//! Names the file when the system cannot read a mapped page.
//!
//! Most such pages are errors, because a range is loaded before it is compared with its checksum: see the
//! head of `map`. A page that was compared, that the system evicted since, and that fails when it is read
//! again, is the signal SIGBUS, and nothing can continue. A program may choose, by [`end_on_failing_pages`],
//! that it then ends with a message that names the file.
#![allow(unsafe_code)] // A signal handler is unsafe code.
#![cfg(target_os = "linux")]

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicI32, Ordering};

use super::table_of_maps::path_at;

static EXIT_CODE: AtomicI32 = AtomicI32::new(1);

/// The handler that was there before, once ours is there.
struct Previous(std::sync::OnceLock<libc::sigaction>);
// SAFETY: plain data that the system filled in.
unsafe impl Send for Previous {}
// SAFETY: likewise; it is only copied.
unsafe impl Sync for Previous {}
static PREVIOUS: Previous = Previous(std::sync::OnceLock::new());

/// Ends the process if the page of a mapped file failed. Calls only what a signal handler may call.
extern "C" fn on_bus_error(_: c_int, info: *mut libc::siginfo_t, _: *mut c_void) {
    // SAFETY: the system passes a valid `info`, as asked for by SA_SIGINFO.
    let address = unsafe { (*info).si_addr() } as usize;
    if let Some((path, bytes)) = path_at(address) {
        let say = |text: *const u8, bytes: usize| {
            // SAFETY: `text` has `bytes` bytes: literals, and the path of a map that exists, because this
            // access to it failed.
            let _ = unsafe { libc::write(2, text.cast(), bytes) };
        };
        let before = b"esker: cannot read ";
        let after = b": the disk failed there, or the file was cut short after it was opened; restore the database from a copy\n";
        say(before.as_ptr(), before.len());
        say(path, bytes);
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

fn install(code: i32) {
    EXIT_CODE.store(code, Ordering::Relaxed);
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
    install(code);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)] // The test runs itself.

    use std::path::Path;
    use std::process::Command;

    use super::*;
    use crate::io::disk::{Disk, Files};
    use crate::io::real::RealDisk;

    const NAME: &str =
        "io::failing::tests::a_page_that_fails_after_it_was_read_ends_the_program_with_the_name_of_the_file";
    const FILE: &str = "ESKER_TEST_FAILING_FILE";

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
        std::fs::write(&path, [5; 12_288]).unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap());
        let output = child.args(["--exact", NAME, "--nocapture"]).env(FILE, &path).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(7), "{said}");
        assert!(
            said.contains(&format!("esker: cannot read {}: the disk failed there", path.display())),
            "{said}"
        );
    }
}

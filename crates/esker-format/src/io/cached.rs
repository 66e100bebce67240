//! Which part of a file the page cache holds.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)] // Part of the disk access module.

use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::IoSliceMut;
use std::path::Path;

use rustix::fs::{Advice, fadvise};
use rustix::io::{Errno, ReadWriteFlags, preadv2};

/// Places that are looked at.
const SAMPLES: u64 = 64;

/// The share of a file that the page cache holds, from 64 places of it; 0 to 1. `None` if the file cannot be
/// opened, or the system does not say.
///
/// Does not wait for the disk. Since Linux 5.9, looking at a page that is not there starts to read it. So the
/// places are other ones in each call, and reading ahead is off, so that a call neither finds nor brings in
/// what the one before looked at.
pub fn cached_share(path: &Path) -> Option<f64> {
    let file = File::open(path).ok()?;
    let bytes = file.metadata().ok()?.len();
    let count = SAMPLES.min(bytes);
    let (mut there, places) = (0, RandomState::new());
    // A hint: without it a call brings in more than the pages that it looks at.
    let _ = fadvise(&file, 0, None, Advice::Random);
    for i in 0..count {
        let mut byte = [0];
        let stride = bytes / count;
        let offset = stride * i + places.hash_one(i) % stride;
        match preadv2(&file, &mut [IoSliceMut::new(&mut byte)], offset, ReadWriteFlags::NOWAIT) {
            Ok(_) => there += 1,
            Err(Errno::AGAIN) => {}
            Err(_) => return None,
        }
    }
    Some(if count == 0 { 1.0 } else { there as f64 / count as f64 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_just_written_is_cached() {
        let place = tempfile::tempdir().expect("directory");
        let path = place.path().join("file");
        std::fs::write(&path, vec![1; 1 << 20]).expect("write");
        // A file system in memory may not say.
        assert!(cached_share(&path).is_none_or(|share| share == 1.0));
        std::fs::write(&path, "").expect("write");
        assert_eq!(cached_share(&path), Some(1.0));
        assert_eq!(cached_share(&place.path().join("none")), None);
    }

    #[test]
    fn looking_at_a_file_does_not_bring_it_into_the_cache() {
        // On the disk of the build: temporary directories may lie in memory.
        let place = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("directory");
        let path = place.path().join("file");
        std::fs::write(&path, vec![1; 16 << 20]).expect("write");
        let file = File::open(&path).expect("open");
        file.sync_all().expect("sync");
        fadvise(&file, 0, None, Advice::DontNeed).expect("evict");
        let Some(first) = cached_share(&path) else { return };
        if first < 0.1 {
            // Reads that the first call started may still be under way.
            std::thread::sleep(std::time::Duration::from_millis(100));
            assert!(cached_share(&path).is_some_and(|second| second < 0.5), "after a share of {first}");
        }
    }
}

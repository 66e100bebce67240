//! Directories for what need not outlive the process.
//!
//! A directory holds a locked file as long as its process lives, so the next one knows what a killed process
//! left, and removes it.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)] // Part of the disk access module.

use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::disk::{Disk, Lock};
use super::real::RealDisk;
use crate::error::{Error, Result};

const LOCK_NAME: &str = "LOCK";
const PREFIX: &str = "esker-";
/// Random hexadecimal digits at the end of the name.
const NONCE_DIGITS: usize = 16;
/// Attempts to make a directory: another process may take a new one, whose lock is not held yet, for one left
/// by a killed process.
const ATTEMPTS: usize = 5;

/// A directory that is removed with all its content on drop, or after a kill by the next process that makes
/// one.
#[derive(Debug)]
pub struct TemporaryDirectory {
    path: PathBuf,
    lock: Option<Box<dyn Lock>>,
}

impl TemporaryDirectory {
    /// A new directory among the temporary files of the system (`TMPDIR`), for this user alone, after the
    /// removal of those that killed processes left there.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn new() -> Result<Self> {
        Self::within(&std::env::temp_dir())
    }

    /// As [`TemporaryDirectory::new`], in another directory.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn within(parent: &Path) -> Result<Self> {
        remove_leftovers(parent);
        let mut attempts = 0;
        loop {
            let mut nonce = RandomState::new().build_hasher();
            nonce.write_u32(std::process::id());
            let path = parent.join(format!("{PREFIX}{:0NONCE_DIGITS$x}", nonce.finish()));
            fs::DirBuilder::new().mode(0o700).create(&path).map_err(Error::io("create", &path))?;
            attempts += 1;
            match RealDisk.try_lock(&path.join(LOCK_NAME)) {
                Ok(Some(lock)) => return Ok(Self { path, lock: Some(lock) }),
                Err(error) if attempts == ATTEMPTS => return Err(error),
                _ => {}
            }
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TemporaryDirectory {
    fn drop(&mut self) {
        // Best effort. What is left is removed by the next process, once the lock is released.
        let _ = fs::remove_dir_all(&self.path);
        self.lock = None;
    }
}

/// Removes directories of this user whose process died. What cannot be read or removed stays.
fn remove_leftovers(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let is_own =
            entry.file_name().to_str().and_then(|name| name.strip_prefix(PREFIX)).is_some_and(is_nonce);
        if is_own && is_private(&entry.path()) {
            let leftover = entry.path();
            if let Ok(Some(_lock)) = RealDisk.try_lock(&leftover.join(LOCK_NAME)) {
                let _ = fs::remove_dir_all(&leftover);
            }
        }
    }
}

fn is_nonce(rest: &str) -> bool {
    rest.len() == NONCE_DIGITS && rest.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// Whether a path is a directory, not a link, that only this user can change, with the file of a lock in it.
fn is_private(path: &Path) -> bool {
    let is_directory = |found: &fs::Metadata| {
        found.is_dir() && found.uid() == rustix::process::geteuid().as_raw() && found.mode() & 0o077 == 0
    };
    fs::symlink_metadata(path).is_ok_and(|found| is_directory(&found))
        && fs::symlink_metadata(path.join(LOCK_NAME)).is_ok_and(|found| found.is_file())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    /// A directory as a killed process leaves it.
    fn left(parent: &Path, name: &str) -> PathBuf {
        let path = parent.join(name);
        fs::DirBuilder::new().mode(0o700).create(&path).unwrap();
        fs::write(path.join(LOCK_NAME), "").unwrap();
        fs::create_dir(path.join("graph.esker")).unwrap();
        fs::write(path.join("graph.esker/MANIFEST"), "much").unwrap();
        path
    }

    #[test]
    fn what_a_killed_process_left_is_removed_and_nothing_else() {
        let parent = tempfile::tempdir().unwrap();
        let parent = parent.path();
        let dead = left(parent, "esker-0123456789abcdef");
        let live = TemporaryDirectory::within(parent).unwrap();
        assert!(!dead.exists() && live.path().exists());
        let open = left(parent, "esker-0123456789abcde0");
        fs::set_permissions(&open, fs::Permissions::from_mode(0o755)).unwrap();
        let unlocked = left(parent, "esker-0123456789abcde1");
        fs::remove_file(unlocked.join(LOCK_NAME)).unwrap();
        let linked = left(parent, "esker-0123456789abcde2");
        fs::remove_file(linked.join(LOCK_NAME)).unwrap();
        symlink(parent.join("made"), linked.join(LOCK_NAME)).unwrap();
        let elsewhere = left(parent, "mine");
        symlink(&elsewhere, parent.join("esker-0123456789abcde3")).unwrap();
        let named = left(parent, "esker-notes");
        let second = TemporaryDirectory::within(parent).unwrap();
        for path in [live.path(), &open, &unlocked, &linked, &elsewhere, &named, second.path()] {
            assert!(path.join("graph.esker/MANIFEST").exists() || path.join(LOCK_NAME).exists(), "{path:?}");
        }
        assert!(!parent.join("made").exists(), "no link is followed");
        let path = live.path().to_owned();
        drop(live);
        assert!(!path.exists() && second.path().exists());
    }

    #[test]
    fn content_behind_links_survives_the_removal() {
        let parent = tempfile::tempdir().unwrap();
        let kept = parent.path().join("kept");
        fs::write(&kept, "mine").unwrap();
        let dead = left(parent.path(), "esker-0123456789abcdef");
        symlink(&kept, dead.join("link")).unwrap();
        let made = TemporaryDirectory::within(parent.path()).unwrap();
        assert!(!dead.exists() && made.path().join(LOCK_NAME).exists());
        assert_eq!(fs::read_to_string(kept).unwrap(), "mine");
    }
}

//! The directories in which clusters are made before they have their names.

use std::path::{Path, PathBuf};

use esker_format::io::{Disk, Lock};
use esker_format::{DatabaseId, Error, Result};

/// The file that the command which makes or changes a cluster locks.
pub(crate) const LOCK_NAME: &str = "LOCK";
/// How often a directory is made anew that another command took for a leftover.
const ATTEMPTS: usize = 16;

/// Makes a directory in which a cluster is made, and takes its lock. Until it is locked, another command may
/// take it for a leftover and remove it; then another one is made.
pub(crate) fn lock_new_directory(
    disk: &dyn Disk,
    directory: &Path,
    prefix: &str,
) -> Result<(PathBuf, Box<dyn Lock>)> {
    for _ in 0..ATTEMPTS {
        let staging = directory.join(format!("{prefix}{}", DatabaseId::random()));
        disk.create_directory(&staging)?;
        match disk.try_lock(&staging.join(LOCK_NAME)) {
            Ok(Some(lock)) => return Ok((staging, lock)),
            Ok(None) => {}
            Err(error) if error.is_not_found() => {}
            Err(error) => {
                let _ = disk.remove_directory(&staging);
                return Err(error);
            }
        }
    }
    Err(Error::invalid(format!(
        "other commands removed each directory {prefix}... that was made in {}: wait until they have ended, and try again",
        directory.display()
    )))
}

/// Removes the directories in which commands that have died were making a cluster: nobody holds their locks.
/// What cannot be removed is an error.
pub(crate) fn remove_leftovers(disk: &dyn Disk, directory: &Path, prefix: &str) -> Result<()> {
    let is_random = |rest: &str| rest.len() == 32 && rest.bytes().all(|byte| byte.is_ascii_hexdigit());
    for entry in disk.list(directory)? {
        if !entry.is_directory || !entry.name.strip_prefix(prefix).is_some_and(is_random) {
            continue;
        }
        let leftover = directory.join(&entry.name);
        // A directory without a lock may be one that was just made. It is left alone if it is empty: its
        // command takes the lock first of all.
        if disk.list(&leftover).is_ok_and(|inside| inside.is_empty()) {
            continue;
        }
        if let Ok(Some(_lock)) = disk.try_lock(&leftover.join(LOCK_NAME)) {
            disk.remove_directory(&leftover)?;
        }
    }
    Ok(())
}

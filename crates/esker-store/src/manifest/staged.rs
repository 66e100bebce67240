//! A directory beside the place of a database, in which the database is made, and which takes that place in
//! one step.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker_format::io::{DirectoryEntry, Disk, parent};
use esker_format::{DatabaseId, Error, Result};
use esker_graph::{Setting, message};

use super::names::MANIFEST_NAME;
use super::strays::foreign_in;
use crate::holding::{GrowingFile, LOCK_NAME, WriterLock, lock_writer};

/// Random hexadecimal digits at the end of the name of a staging directory.
const NONCE_DIGITS: usize = 16;

/// A directory in which a database is made. Dropping it without installing removes it.
#[derive(Debug)]
pub(crate) struct StagedDirectory {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    target: PathBuf,
    /// The lock of the directory, which becomes the lock of the database.
    lock: WriterLock,
    /// The lock of the replaced database.
    replaced: Option<WriterLock>,
}

impl StagedDirectory {
    /// Creates the directory, after removing those of earlier attempts that died. If `target` is a symbolic
    /// link, what it leads to is replaced, and the link stays.
    ///
    /// # Errors
    /// [`Error::Invalid`] if `target` exists and may not be replaced, or another process is writing to it;
    /// [`Error::Io`].
    pub(crate) fn begin(disk: &Arc<dyn Disk>, target: &Path, replace: bool) -> Result<Self> {
        let target = &disk.follow(target)?;
        let replaced = check_target(disk, target, replace)?;
        let prefix = staging_prefix(target)?;
        remove_leftovers(disk.as_ref(), target, &prefix)?;
        let nonce = DatabaseId::random().to_string();
        let path = parent(target).join(format!("{prefix}{}", &nonce[..NONCE_DIGITS]));
        match &replaced {
            Some(_) => disk.create_directory_like(&path, target)?,
            None => disk.create_directory(&path)?,
        }
        let lock = lock_writer(disk, &path)?;
        let staged = Self { disk: Arc::clone(disk), path, target: target.to_owned(), lock, replaced };
        if staged.replaced.is_some() {
            staged.expect_exchange()?;
        }
        Ok(staged)
    }

    /// Fails if the file system cannot exchange names: better before the work than after it.
    fn expect_exchange(&self) -> Result<()> {
        let probes = ["exchange", "exchanged"].map(|name| self.path.join(name));
        probes.iter().try_for_each(|probe| self.disk.create_directory(probe))?;
        let exchanged = self.disk.exchange(&probes[0], &probes[1]);
        probes.iter().try_for_each(|probe| self.disk.remove_directory(probe))?;
        exchanged.map_err(|error| match error {
            Error::Io { source, .. }
                if matches!(
                    source.kind(),
                    std::io::ErrorKind::InvalidInput | std::io::ErrorKind::Unsupported
                ) =>
            {
                let name = self.target.display();
                Error::invalid(format!(
                    "cannot replace {name} in one step: its file system cannot exchange two names ({source}); choose \
                     another name, or remove {name} first"
                ))
            }
            error => error,
        })
    }

    /// The directory.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the directory the name of the database, and returns the total size of its files, which are
    /// synced. Syncs the directories.
    ///
    /// # Errors
    /// [`Error::Io`], also if the target was created meanwhile; [`Error::Invalid`] if somebody removed or
    /// replaced the directory, or the database to be replaced. Nothing is then installed, unless only the
    /// last step failed, the sync of the parent directory: then the database is installed, but a power
    /// failure may lose it.
    pub(crate) fn install(self) -> Result<u64> {
        let disk = self.disk.as_ref();
        let bytes = sync_tree(disk, &self.path)?;
        self.lock.expect()?;
        if let Some(replaced) = &self.replaced {
            replaced.expect()?;
            // This gives the old database the name of the staging directory, which dropping `self` removes.
            disk.exchange(&self.path, &self.target)?;
            replaced.expect_at(&self.path).or_else(|error| {
                // Another one than the database that was to be replaced.
                disk.exchange(&self.path, &self.target).and(Err(error))
            })?;
        } else {
            disk.rename(&self.path, &self.target)?;
        }
        self.lock.expect_at(&self.target)?;
        disk.sync_directory(&parent(&self.target))?;
        Ok(bytes)
    }
}

impl Drop for StagedDirectory {
    fn drop(&mut self) {
        // After installation this name does not exist, or names the replaced database. If the removal fails,
        // the next staging removes it.
        if let Ok(Some(_)) = self.disk.look(&self.path) {
            let _ = self.disk.remove_directory(&self.path);
        }
    }
}

/// Checks that a database may be installed at `target`; returns the lock of the database that it replaces.
fn check_target(shared: &Arc<dyn Disk>, target: &Path, replace: bool) -> Result<Option<WriterLock>> {
    let disk = shared.as_ref();
    if disk.look(target)?.is_none() {
        return Ok(None);
    }
    let name = target.display();
    if disk.look(&target.join(MANIFEST_NAME))?.is_none() {
        return Err(Error::Exists(
            format!("{name} exists and is not a database: choose another name").into(),
        ));
    }
    if !replace {
        return Err(Error::Exists(message![
            format!("{name} exists: choose another name, or replace it with "),
            Setting::Replace.to(true),
        ]));
    }
    let lock = lock_writer(shared, target)?;
    lock.open(GrowingFile::Manifest, &target.join(MANIFEST_NAME))?;
    if let Some(foreign) = foreign_in(disk, target)?.first() {
        return Err(Error::invalid(format!(
            "{} is not part of the database {name}, and would be removed with it: move it elsewhere, or choose another name for the \
             database",
            foreign.display()
        )));
    }
    Ok(Some(lock))
}

fn staging_prefix(target: &Path) -> Result<String> {
    match target.file_name().and_then(|name| name.to_str()) {
        Some(name) => Ok(format!(".{name}.staging-")),
        None => Err(Error::invalid(format!("{} is not a valid name for a database", target.display()))),
    }
}

/// Removes what killed imports to the database at `path` left beside it. What cannot be read or removed
/// stays.
pub(crate) fn remove_dead_stagings(disk: &dyn Disk, path: &Path) {
    if let Ok(target) = disk.follow(path)
        && let Ok(prefix) = staging_prefix(&target)
    {
        let _ = remove_leftovers(disk, &target, &prefix);
    }
}

/// Removes staging directories of `target` whose lock no process holds.
fn remove_leftovers(disk: &dyn Disk, target: &Path, prefix: &str) -> Result<()> {
    let directory = parent(target);
    let is_nonce = |rest: &str| {
        rest.len() == NONCE_DIGITS && rest.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    };
    for entry in disk.list(&directory)? {
        if entry.is_directory && entry.name.strip_prefix(prefix).is_some_and(is_nonce) {
            let leftover = directory.join(entry.name);
            let is_linked = |entry: &DirectoryEntry| entry.name == LOCK_NAME && entry.is_link;
            if disk.list(&leftover).is_ok_and(|entries| entries.iter().any(is_linked)) {
                continue;
            }
            if let Ok(Some(_lock)) = disk.try_lock(&leftover.join(LOCK_NAME)) {
                let removed = disk.remove_directory(&leftover);
                // Another process may have removed it meanwhile: the one that replaced it.
                if removed.is_err() && disk.look(&leftover)?.is_some() {
                    return removed;
                }
            }
        }
    }
    Ok(())
}

/// Syncs a directory and its subdirectories; returns the total size of the files.
fn sync_tree(disk: &dyn Disk, directory: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in disk.list(directory)? {
        bytes += if entry.is_directory { sync_tree(disk, &directory.join(entry.name))? } else { entry.bytes };
    }
    disk.sync_directory(directory)?;
    Ok(bytes)
}

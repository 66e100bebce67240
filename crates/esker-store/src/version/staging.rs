//! Making a database so that a crash at any moment leaves nothing of it, or the whole one.
//!
//! ```ignore
//! let staging = Staging::begin(disk, Path::new("web.esker"), StagingOptions::default())?;
//! let layer = staging.plain_layer();               // a PlainWriter for layers/1
//! let mut targets = layer.targets(Direction::Out)?; // ... append, finish; offsets and properties alike
//! staging.install(&[Edit::AddLayer(..), Edit::SetIdMap(..), Edit::AddProperty(..), Edit::AddVersion(..)])?;
//! ```
//!
//! Files are written in `.web.esker.staging-<random>` beside the target. Installing syncs all directories, and then
//! renames. What a crash leaves is recognised by its name, and known to be dead by its lock being free; the next
//! staging of the same target removes it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use super::manifest::Manifest;
use super::names::{MANIFEST_NAME, ids_directory, layer_directory};
use crate::error::{Error, Result};
use crate::format::{ArchiveWriter, DatabaseId, Edit};
use crate::io::{Disk, Lock, parent};
use crate::layer::PlainWriter;

const LOCK_NAME: &str = "LOCK";

/// Makes this process the one that writes to the database at `path`, until the lock is dropped.
///
/// # Errors
/// [`Error::Invalid`] if another process is; [`Error::Io`] where nothing can be written.
pub fn lock_writer(disk: &dyn Disk, path: &Path) -> Result<Box<dyn Lock>> {
    disk.try_lock(&path.join(LOCK_NAME))?.ok_or_else(|| {
        Error::Invalid(format!(
            "{} is being written to by another process: wait until it is done",
            path.display()
        ))
    })
}

/// How a database is staged.
#[derive(Debug, Clone, Copy, Default)]
pub struct StagingOptions {
    /// The id of the database; `None`: a random one. Files of two databases with equal content and id are equal.
    pub database: Option<DatabaseId>,
    /// When it was made, in milliseconds since 1970, UTC; `None`: now.
    pub created_ms: Option<u64>,
    /// Whether a database that stands at the target is replaced. Nothing else ever is.
    pub replace: bool,
}

/// A database in the making. Dropping it without installing removes what was written.
#[derive(Debug)]
pub struct Staging {
    disk: Arc<dyn Disk>,
    directory: PathBuf,
    target: PathBuf,
    database: DatabaseId,
    options: StagingOptions,
    layer: ArchiveWriter,
    ids: ArchiveWriter,
    /// Of the staging directory; it becomes the lock of the database.
    _lock: Box<dyn Lock>,
    /// Of the database that is replaced.
    replaced: Option<Box<dyn Lock>>,
}

impl Staging {
    /// Makes the staging directory, after removing those of earlier attempts that died.
    ///
    /// # Errors
    /// [`Error::Invalid`] if something stands at `target` that may not be replaced, or is being written to;
    /// [`Error::Io`].
    pub fn begin(disk: Arc<dyn Disk>, target: &Path, options: StagingOptions) -> Result<Self> {
        let replaced = may_stand_at(disk.as_ref(), target, options.replace)?;
        let prefix = staging_prefix(target)?;
        remove_leftovers(disk.as_ref(), target, &prefix)?;
        let nonce = DatabaseId::random().to_string();
        let directory = parent(target).join(format!("{prefix}{}", &nonce[..16]));
        disk.create_directory(&directory)?;
        let lock = lock_writer(disk.as_ref(), &directory)?;
        let database = options.database.unwrap_or_else(DatabaseId::random);
        let target = target.to_owned();
        let layer = ArchiveWriter::new(&disk, &layer_directory(&directory, 1));
        let ids = ArchiveWriter::new(&disk, &ids_directory(&directory));
        let staging = Self { disk, directory, target, database, options, layer, ids, _lock: lock, replaced };
        staging.subdirectory("layers")?;
        Ok(staging)
    }

    /// The disk that it is made on.
    pub fn disk(&self) -> &Arc<dyn Disk> {
        &self.disk
    }

    /// Where the files are written; what lies in it when it is installed is the database.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The id that all files bear.
    pub fn database(&self) -> DatabaseId {
        self.database
    }

    /// Makes a directory in the staging directory, for what is removed again before the database is installed.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn subdirectory(&self, name: &str) -> Result<PathBuf> {
        let path = self.directory.join(name);
        self.disk.create_directory(&path)?;
        Ok(path)
    }

    /// A writer for layer 1.
    pub fn plain_layer(&self) -> PlainWriter<'_> {
        PlainWriter::new(&self.layer, self.layer.directory(), self.database)
    }

    /// For the columns of the id map, in its [directory](ArchiveWriter::directory).
    pub fn ids(&self) -> &ArchiveWriter {
        &self.ids
    }

    /// Puts the database in its place. All its columns are complete (as [`crate::format::ColumnWriter::finish`] leaves them), and
    /// nothing else is in the staging directory. Returns the size of all files together.
    ///
    /// # Errors
    /// [`Error::Io`], or [`Error::Invalid`] if something came to stand at the target meanwhile. Then nothing was
    /// installed, except if the very last step fails, the sync of the parent directory: then the database is
    /// there, but might not be after a loss of power.
    pub fn install(self, edits: &[Edit]) -> Result<u64> {
        let disk = self.disk.as_ref();
        self.layer.finish()?;
        self.ids.finish()?;
        let now_ms = || UNIX_EPOCH.elapsed().map_or(0, |age| age.as_millis() as u64);
        let created_ms = self.options.created_ms.unwrap_or_else(now_ms);
        let manifest = Manifest::encode(self.database, created_ms, edits)?;
        disk.write(&self.directory.join(MANIFEST_NAME), &manifest)?;
        let bytes = sync_tree(disk, &self.directory)?;
        if self.replaced.is_some() {
            // The old database gets the name of the staging directory, where dropping `self` removes it.
            disk.exchange(&self.directory, &self.target)?;
        } else {
            disk.rename(&self.directory, &self.target)?;
        }
        disk.sync_directory(&parent(&self.target))?;
        Ok(bytes)
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // After installation nothing has this name, or the replaced database. Failing leaves a leftover for later.
        if let Ok(Some(_)) = self.disk.look(&self.directory) {
            let _ = self.disk.remove_directory(&self.directory);
        }
    }
}

/// Whether a new database may stand at `target`; the lock of the one that it replaces.
fn may_stand_at(disk: &dyn Disk, target: &Path, replace: bool) -> Result<Option<Box<dyn Lock>>> {
    if disk.look(target)?.is_none() {
        return Ok(None);
    }
    let name = target.display();
    if disk.look(&target.join(MANIFEST_NAME))?.is_none() {
        return Err(Error::Invalid(format!("{name} exists and is not a database: choose another name")));
    }
    if !replace {
        return Err(Error::Invalid(format!(
            "{name} exists: choose another name, or replace it with --force"
        )));
    }
    lock_writer(disk, target).map(Some)
}

fn staging_prefix(target: &Path) -> Result<String> {
    match target.file_name().and_then(|name| name.to_str()) {
        Some(name) => Ok(format!(".{name}.staging-")),
        None => Err(Error::Invalid(format!("{} is no name for a database", target.display()))),
    }
}

/// Removes the staging directories of `target` that no process holds.
fn remove_leftovers(disk: &dyn Disk, target: &Path, prefix: &str) -> Result<()> {
    let place = parent(target);
    for entry in disk.list(&place)? {
        if entry.is_directory && entry.name.starts_with(prefix) {
            let leftover = place.join(entry.name);
            if let Ok(Some(_lock)) = disk.try_lock(&leftover.join(LOCK_NAME)) {
                disk.remove_directory(&leftover)?;
            }
        }
    }
    Ok(())
}

/// Syncs a directory and all in it; the size of all files.
fn sync_tree(disk: &dyn Disk, directory: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in disk.list(directory)? {
        bytes += if entry.is_directory { sync_tree(disk, &directory.join(entry.name))? } else { entry.bytes };
    }
    disk.sync_directory(directory)?;
    Ok(bytes)
}

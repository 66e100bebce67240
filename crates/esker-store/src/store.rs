//! The handle on a database.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker_graph::Run;

use crate::check::{Report, check};
use crate::error::{Error, Result};
use crate::io::{Disk, RealDisk};
use crate::snapshot::Snapshot;
use crate::version::{MANIFEST_NAME, Manifest};

/// A database, open for reading. Any number of threads and processes may read at the same time, from read-only media
/// too, also while another process writes.
#[derive(Debug, Clone)]
pub struct Store {
    disk: Arc<dyn Disk>,
    latest: Snapshot,
}

impl Store {
    /// Opens the database at `path`. Takes the same short time for any size: it reads the manifest and a page of each file.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no database, or of a kind that this build does not read; [`Error::Io`];
    /// [`Error::Corrupt`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_on(Arc::new(RealDisk), path.as_ref())
    }

    /// As [`Store::open`], on any disk.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open_on(disk: Arc<dyn Disk>, path: &Path) -> Result<Self> {
        let name = path.display();
        match disk.look(path)? {
            None => {
                return Err(Error::Invalid(format!(
                    "{name} does not exist: check the name, or import to it"
                )));
            }
            Some(entry) if !entry.is_directory => {
                return Err(Error::Invalid(format!("{name} is a file, not a database: import it first")));
            }
            Some(_) => {}
        }
        if disk.look(&path.join(MANIFEST_NAME))?.is_none() {
            return Err(Error::Invalid(format!("{name} is not a database: it has no file {MANIFEST_NAME}")));
        }
        let latest = Snapshot::open(&disk, path)?;
        Ok(Self { disk, latest })
    }

    /// Whether a database seems to stand at `path`: a directory with a manifest.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn is_at(path: impl AsRef<Path>) -> Result<bool> {
        Ok(RealDisk.look(&path.as_ref().join(MANIFEST_NAME))?.is_some())
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        self.latest.path()
    }

    /// The disk that it is on.
    pub fn disk(&self) -> &Arc<dyn Disk> {
        &self.disk
    }

    /// What the manifest says.
    pub fn manifest(&self) -> &Manifest {
        self.latest.manifest()
    }

    /// The newest version.
    pub fn snapshot(&self) -> Snapshot {
        self.latest.clone()
    }

    /// Checks everything in the newest version: see [`crate::check`].
    ///
    /// # Errors
    /// As [`check`]; what is wrong with the database is in the report.
    pub fn check(&self, run: &Run) -> Result<Report> {
        check(self.disk.as_ref(), &self.latest, run)
    }

    /// All files of the database with their sizes in bytes, by path.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn files(&self) -> Result<Vec<(PathBuf, u64)>> {
        let mut files = Vec::new();
        list_files(self.disk.as_ref(), self.path(), &mut files)?;
        Ok(files)
    }
}

fn list_files(disk: &dyn Disk, directory: &Path, files: &mut Vec<(PathBuf, u64)>) -> Result<()> {
    for entry in disk.list(directory)? {
        let path = directory.join(&entry.name);
        if entry.is_directory {
            list_files(disk, &path, files)?;
        } else {
            files.push((path, entry.bytes));
        }
    }
    Ok(())
}

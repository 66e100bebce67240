//! VersionSource of an open database, however it is open.

use std::sync::Arc;

use esker_store::format::VersionRecord;
use esker_store::manifest::{Manifest, VersionSelector};
use esker_store::{Database, Result, Store, Version};

use crate::window::select_version;

/// A database that is open for reading ([`Store`]) or for writing ([`Database`]), as far as its versions go.
///
/// ```
/// # let (directory, csv) = (tempfile::tempdir()?, *b"source,target\nalice,bob\nbob,carol\n");
/// # let path = directory.path().join("web.esker");
/// # let edges = [esker::import::Input::memory("web.csv", csv)];
/// # esker::import::import_inputs(&edges, &path, &Default::default(), &Default::default())?;
/// use esker::session::VersionSource;
/// use esker::store::Store;
///
/// let store = Store::open(&path)?;
/// assert_eq!(store.number_of(&"latest".parse()?)?, 1);
/// assert_eq!(store.selected(None)?.num_edges(), 2);
/// assert!(store.selected(Some(&"monday".parse()?)).is_err(), "there is no such tag");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait VersionSource {
    /// The newest version.
    ///
    /// # Errors
    /// As [`Store::latest`].
    fn newest(&self) -> Result<Version>;

    /// The version with a number.
    ///
    /// # Errors
    /// As [`Store::at`].
    fn numbered(&self, number: u64) -> Result<Version>;

    /// All versions, oldest first.
    ///
    /// # Errors
    /// As [`Store::versions`].
    fn records(&self) -> Result<Vec<VersionRecord>>;

    /// The manifest, which has the tags.
    fn manifest(&self) -> Arc<Manifest>;

    /// The number of the version that is selected by number, tag or time.
    ///
    /// # Errors
    /// [`esker_store::Error::Invalid`] if there is none.
    fn number_of(&self, selector: &VersionSelector) -> Result<u64> {
        select_version(selector, &self.records()?, &self.manifest())
    }

    /// The selected version; the newest if none is.
    ///
    /// # Errors
    /// As [`VersionSource::number_of`] and [`VersionSource::numbered`].
    fn selected(&self, selector: Option<&VersionSelector>) -> Result<Version> {
        match selector {
            None => self.newest(),
            Some(selector) => self.numbered(self.number_of(selector)?),
        }
    }
}

impl VersionSource for Store {
    fn newest(&self) -> Result<Version> {
        self.latest()
    }

    fn numbered(&self, number: u64) -> Result<Version> {
        self.at(number)
    }

    fn records(&self) -> Result<Vec<VersionRecord>> {
        self.versions()
    }

    fn manifest(&self) -> Arc<Manifest> {
        Arc::clone(Self::manifest(self))
    }
}

impl VersionSource for Database {
    fn newest(&self) -> Result<Version> {
        self.latest()
    }

    fn numbered(&self, number: u64) -> Result<Version> {
        self.at(number)
    }

    fn records(&self) -> Result<Vec<VersionRecord>> {
        Ok(self.versions())
    }

    fn manifest(&self) -> Arc<Manifest> {
        Self::manifest(self)
    }
}

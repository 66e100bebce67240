//! Where changes go: into a database that this process has open to write, or to the process that has.

use std::path::PathBuf;
use std::sync::Arc;

use esker_graph::Budget;
use esker_store::format::ReadingRecord;
use esker_store::manifest::Manifest;
use esker_store::{
    Batch, CommitOptions, CommitSizing, Committed, Database, Error, QueuedDatabase, Result, Version,
};

/// Where changes go.
#[derive(Debug, Clone, Copy)]
pub enum Destination<'a> {
    /// A database that this process has open to write.
    Own(&'a Database),
    /// One that another process has open to write, which takes what is handed over.
    Queued(&'a QueuedDatabase),
}

impl<'a> From<&'a Database> for Destination<'a> {
    fn from(database: &'a Database) -> Self {
        Self::Own(database)
    }
}

impl<'a> From<&'a QueuedDatabase> for Destination<'a> {
    fn from(database: &'a QueuedDatabase) -> Self {
        Self::Queued(database)
    }
}

impl Destination<'_> {
    /// The directory of the database.
    pub fn path(self) -> PathBuf {
        match self {
            Self::Own(database) => database.path().to_owned(),
            Self::Queued(database) => database.store().path().to_owned(),
        }
    }

    /// The memory limit of this process.
    pub fn budget(&self) -> &Budget {
        match self {
            Self::Own(database) => database.budget(),
            Self::Queued(database) => database.budget(),
        }
    }

    /// The newest version.
    ///
    /// # Errors
    /// Those of [`Database::latest`].
    pub fn latest(self) -> Result<Version> {
        match self {
            Self::Own(database) => database.latest(),
            Self::Queued(database) => database.latest(),
        }
    }

    /// The manifest, which does not include commits that are in no layer.
    ///
    /// # Errors
    /// Those of [`QueuedDatabase::manifest`].
    pub fn manifest(self) -> Result<Arc<Manifest>> {
        match self {
            Self::Own(database) => Ok(database.manifest()),
            Self::Queued(database) => database.manifest(),
        }
    }

    /// An empty batch of changes.
    ///
    /// # Errors
    /// Those of [`QueuedDatabase::batch`].
    pub fn batch(self) -> Result<Batch> {
        match self {
            Self::Own(database) => Ok(database.batch()),
            Self::Queued(database) => database.batch(),
        }
    }

    /// Reserves the memory of a batch that still grows.
    ///
    /// # Errors
    /// Those of [`Database::make_room`] and [`QueuedDatabase::make_room`].
    pub fn make_room(self, batch: &mut Batch) -> Result<()> {
        match self {
            Self::Own(database) => database.make_room(batch),
            Self::Queued(database) => database.make_room(batch),
        }
    }

    /// Commits a batch.
    ///
    /// # Errors
    /// Those of [`Database::commit_with`] and [`QueuedDatabase::commit_with`].
    pub fn commit_with(self, batch: Batch, options: &CommitOptions) -> Result<Committed> {
        match self {
            Self::Own(database) => database.commit_with(batch, options),
            Self::Queued(database) => database.commit_with(batch, options),
        }
    }

    /// Whether a batch and its commit fit into the memory limit; the process that takes it has its own.
    pub(super) fn fits(self, batch: &Batch) -> Result<bool> {
        match self {
            Self::Own(database) => database.fits(batch),
            Self::Queued(_) => Ok(true),
        }
    }

    /// Whether a batch is better committed before it grows.
    pub(super) fn fills_half(self, batch: &Batch) -> bool {
        matches!(self, Self::Own(database) if database.fills_half(batch))
    }

    /// Counts the changes of a batch that does not fit, and leaves the batch without them. Only commits of
    /// this process are refused in a way that asks for it ([`CommitSizing::is_refusal`]).
    pub(super) fn size(self, sizing: &mut CommitSizing, batch: &mut Batch) -> Result<()> {
        match self {
            Self::Own(database) => sizing.add(database, batch),
            Self::Queued(_) => Ok(()),
        }
    }

    /// The refusal of what was counted, with the limit that would do.
    pub(super) fn refusal(self, sizing: CommitSizing, beside_bytes: u64) -> Error {
        match self {
            Self::Own(database) => sizing.refusal(database, beside_bytes),
            Self::Queued(_) => {
                Error::invalid("the changes do not fit into the memory limit: raise it".to_owned())
            }
        }
    }

    /// The refusal of a commit of about `edges` edges that begins with `batch`; `None` where the process that
    /// takes it refuses it.
    pub(super) fn projected(self, batch: &mut Batch, edges: u64) -> Result<Option<Error>> {
        match self {
            Self::Own(database) => CommitSizing::projected(database, batch, edges).map(Some),
            Self::Queued(_) => Ok(None),
        }
    }

    /// Remembers how an input was read. Only the process that writes can: of changes that are handed over,
    /// nothing is remembered.
    pub(super) fn remember(self, reading: ReadingRecord) -> Result<()> {
        match self {
            Self::Own(database) => database.set_reading(Some(reading)),
            Self::Queued(_) => Ok(()),
        }
    }
}

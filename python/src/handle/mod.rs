//! Handles of open databases.

mod serving;

use std::mem::ManuallyDrop;
use std::sync::Arc;

use esker::graph::Run;
use esker::session::VersionSource;
use esker::store::manifest::Manifest;
use esker::store::{Database as Writer, Store};

use crate::failure::PyOutcome;

pub(crate) use serving::Serving;

#[derive(Clone)]
pub(crate) enum Handle {
    Reader(Store),
    Writer(Arc<ManuallyDrop<Writer>>),
}

impl Handle {
    /// Its versions.
    pub(crate) fn versions(&self) -> &dyn VersionSource {
        match self {
            Self::Reader(store) => store,
            Self::Writer(writer) => &***writer,
        }
    }

    /// What the database says of itself.
    pub(crate) fn manifest(&self) -> PyOutcome<Arc<Manifest>> {
        Ok(match self {
            Self::Reader(store) => Arc::clone(store.whole_manifest()?),
            Self::Writer(writer) => writer.manifest(),
        })
    }

    /// The same; a reader reads the commits in the log under `run`.
    pub(crate) fn under(self, run: &Arc<Run>) -> Self {
        match self {
            Self::Reader(store) => Self::Reader(store.under(Arc::clone(run))),
            writer => writer,
        }
    }
}

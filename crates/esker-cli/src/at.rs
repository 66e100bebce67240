//! Which version of a database a command means.

use clap::Args;
use esker::store::version::VersionSelector;
use esker::store::{Snapshot, Store};

use crate::failure::Failure;

/// `--at`.
#[derive(Debug, Clone, Args)]
pub(crate) struct AtArgs {
    /// The version to look at: a number, a tag, a time (2026-11-21, 2026-11-21T10:00:00Z), or latest [default: latest]
    #[arg(long, value_name = "VERSION", value_parser = parse_version)]
    pub(crate) at: Option<VersionSelector>,
}

/// A version as a user names it.
pub(crate) fn parse_version(text: &str) -> Result<VersionSelector, String> {
    text.parse().map_err(|error: esker::store::Error| error.to_string())
}

/// The number of a version of a store.
pub(crate) fn number_of(store: &Store, selector: &VersionSelector) -> Result<u64, Failure> {
    Ok(selector.resolve(&store.versions()?, &store.manifest().tags)?)
}

impl AtArgs {
    /// The version that is meant.
    pub(crate) fn snapshot(&self, store: &Store) -> Result<Snapshot, Failure> {
        match &self.at {
            None => Ok(store.snapshot()?),
            Some(selector) => Ok(store.at(number_of(store, selector)?)?),
        }
    }
}

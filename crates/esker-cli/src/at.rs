//! `--at`: selects a version of a database.

use clap::Args;
use esker::store::version::VersionSelector;
use esker::store::{Snapshot, Store};

use crate::failure::Failure;

/// `--at`.
#[derive(Debug, Clone, Args)]
pub(crate) struct AtArgs {
    /// Version to read: a number, a tag, a time (2026-11-21 or 2026-11-21T10:00:00Z), or latest [default: latest]
    #[arg(long, value_name = "VERSION", value_parser = parse_version)]
    pub(crate) at: Option<VersionSelector>,
}

/// Parses a version selector.
pub(crate) fn parse_version(text: &str) -> Result<VersionSelector, String> {
    text.parse().map_err(|error: esker::store::Error| error.to_string())
}

/// Resolves a selector to the number of a version.
pub(crate) fn number_of(store: &Store, selector: &VersionSelector) -> Result<u64, Failure> {
    Ok(selector.resolve(&store.versions()?, &store.manifest().tags)?)
}

impl AtArgs {
    /// Opens the selected version.
    pub(crate) fn snapshot(&self, store: &Store) -> Result<Snapshot, Failure> {
        match &self.at {
            None => Ok(store.snapshot()?),
            Some(selector) => Ok(store.at(number_of(store, selector)?)?),
        }
    }
}

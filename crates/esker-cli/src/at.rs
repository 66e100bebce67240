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

/// A range of versions by number, both ends included: `3..9` or `3-9`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct VersionRange {
    first: u64,
    last: u64,
}

/// Parses a range of versions.
pub(crate) fn parse_range(text: &str) -> Result<VersionRange, String> {
    let ends = text.split_once("..").or_else(|| text.split_once('-'));
    let number =
        |end: &str| end.parse::<u64>().ok().filter(|_| end.bytes().all(|byte| byte.is_ascii_digit()));
    match ends.and_then(|(first, last)| Some((number(first)?, number(last)?))) {
        Some((first, last)) if first <= last => Ok(VersionRange { first, last }),
        Some(_) => Err(format!("{text} {BACKWARDS}")),
        None => Err(format!("{text:?} is not a range of versions; give one such as 3..9")),
    }
}

impl VersionRange {
    /// All versions.
    pub(crate) const ALL: Self = Self { first: 0, last: u64::MAX };

    /// The versions of the range that there are, oldest first.
    ///
    /// # Errors
    /// If there are none.
    pub(crate) fn numbers(self, store: &Store) -> Result<Vec<u64>, Failure> {
        let is_inside = |number: &u64| (self.first..=self.last).contains(number);
        let numbers: Vec<u64> =
            store.versions()?.iter().map(|version| version.number).filter(is_inside).collect();
        if numbers.is_empty() {
            let Self { first, last } = self;
            return Err(Failure::Failed(format!(
                "there is no version from {first} to {last}; `esker log` lists the versions"
            )));
        }
        Ok(numbers)
    }
}

/// The complaint about a range whose last version is before its first.
const BACKWARDS: &str = "ends before it begins";

/// One version, or a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Versions {
    One(VersionSelector),
    Range(VersionRange),
}

/// Parses a version or a range.
pub(crate) fn parse_versions(text: &str) -> Result<Versions, String> {
    match parse_range(text) {
        Ok(range) => Ok(Versions::Range(range)),
        // A date has more than one minus.
        Err(reason) if text.contains("..") || reason.ends_with(BACKWARDS) => Err(reason),
        Err(_) => parse_version(text).map(Versions::One),
    }
}

/// A database whose commits in the log change at most this much is read whole, to tell the number of edges after each: half a second.
const COUNTED_CHANGES_MAX: u64 = 1 << 22;

/// The commits in a log: their number, and how much they change.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InLog {
    pub(crate) commits: usize,
    pub(crate) changes: u64,
}

impl InLog {
    pub(crate) fn of(store: &Store) -> Result<Self, Failure> {
        let commits = store.commits_in_log()?;
        let changes = commits.iter().map(|commit| commit.num_edges.saturating_add(commit.num_others));
        Ok(Self { commits: commits.len(), changes: changes.fold(0, u64::saturating_add) })
    }

    /// Whether the changes are few enough to read them for a count of edges.
    pub(crate) fn are_few(self) -> bool {
        self.changes <= COUNTED_CHANGES_MAX
    }
}

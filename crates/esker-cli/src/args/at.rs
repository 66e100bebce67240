//! `--at`: selects a version of a database.

use clap::Args;
use esker::session::VersionSource;
use esker::store::manifest::VersionSelector;
use esker::store::{Store, Version};

use crate::failure::Failure;

/// `--at`.
#[derive(Debug, Clone, Args)]
pub(crate) struct AtArgs {
    /// Version to read: a number, a tag, a time (2026-11-21, 2026-11-21T10:00:00Z, or an integer as the edges
    /// of a stream have it), or latest [default: latest]
    #[arg(long, value_name = "VERSION", value_parser = parse_version)]
    pub(crate) at: Option<VersionSelector>,
}

/// Parses a version selector.
pub(crate) fn parse_version(text: &str) -> Result<VersionSelector, String> {
    text.parse().map_err(|error: esker::store::Error| crate::language::said(&error.message()))
}

/// Resolves a selector to the number of a version.
pub(crate) fn number_of(store: &Store, selector: &VersionSelector) -> Result<u64, Failure> {
    Ok(store.number_of(selector)?)
}

impl AtArgs {
    /// Opens the selected version.
    pub(crate) fn version(&self, store: &Store) -> Result<Version, Failure> {
        Ok(store.selected(self.at.as_ref())?)
    }
}

/// A range of versions, both ends included: `3..9`, `before..after`, or `3-9`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VersionRange {
    first: VersionSelector,
    last: VersionSelector,
}

/// Parses a range of versions.
pub(crate) fn parse_range(text: &str) -> Result<VersionRange, String> {
    let is_number = |end: &str| !end.is_empty() && end.bytes().all(|byte| byte.is_ascii_digit());
    // Tags and dates may have a minus.
    let by_numbers = || text.split_once('-').filter(|(first, last)| is_number(first) && is_number(last));
    let ends = text.split_once("..").or_else(by_numbers);
    let (first, last) = ends
        .filter(|(first, last)| !first.is_empty() && !last.is_empty())
        .ok_or_else(|| format!("{text:?} is not a range of versions; give one such as 3..9"))?;
    match (parse_version(first)?, parse_version(last)?) {
        (VersionSelector::Number(first), VersionSelector::Number(last)) if first > last => {
            Err(format!("{text} {BACKWARDS}"))
        }
        (first, last) => Ok(VersionRange { first, last }),
    }
}

/// The numbers of all versions, oldest first.
pub(crate) fn all_numbers(store: &Store) -> Result<Vec<u64>, Failure> {
    Ok(store.versions()?.iter().map(|version| version.number).collect())
}

impl VersionRange {
    /// The versions of the range that there are, oldest first. Forgotten ones may be in it.
    ///
    /// # Errors
    /// If an end is beyond the newest version, or no version, or nothing is between them.
    pub(crate) fn numbers(&self, store: &Store) -> Result<Vec<u64>, Failure> {
        let all = all_numbers(store)?;
        let newest = all.last().copied().unwrap_or(0);
        let end = |selector: &VersionSelector| match *selector {
            VersionSelector::Number(number) if number <= newest => Ok(number),
            _ => number_of(store, selector),
        };
        let (first, last) = (end(&self.first)?, end(&self.last)?);
        if first > last {
            return Err(Failure::Usage(format!("{}..{} {BACKWARDS}", self.first, self.last)));
        }
        let numbers: Vec<u64> = all.into_iter().filter(|number| (first..=last).contains(number)).collect();
        if numbers.is_empty() {
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
pub(crate) enum VersionChoice {
    One(VersionSelector),
    Range(VersionRange),
}

/// Parses a version or a range.
pub(crate) fn parse_versions(text: &str) -> Result<VersionChoice, String> {
    match parse_range(text) {
        Ok(range) => Ok(VersionChoice::Range(range)),
        // A date has more than one minus.
        Err(reason) if text.contains("..") || reason.ends_with(BACKWARDS) => Err(reason),
        Err(_) => parse_version(text).map(VersionChoice::One),
    }
}

/// A database whose commits in the log change at most this much is read whole, to tell the number of edges
/// after each: half a second.
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

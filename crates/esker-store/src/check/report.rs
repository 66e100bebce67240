//! The report of a check.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use esker_format::{Column, Element, Error, Result, Values};
use esker_graph::Call;

/// The result of a check.
#[derive(Debug, Default)]
pub struct Report {
    /// The number of columns whose checksums were verified.
    pub columns: usize,
    /// The bytes of these columns.
    pub bytes: u64,
    /// The statements that were found to hold.
    pub sound: Vec<String>,
    /// The problems found; the database is sound if there are none.
    pub problems: Vec<Error>,
    /// Commands that mend what is wrong, where the files that are sound hold all that is needed.
    pub remedies: Vec<Call>,
    /// How many of the problems these commands mend.
    mended: usize,
    /// The columns that were verified.
    verified: HashSet<ColumnPlace>,
}

/// Where a column lies: its file, and its first byte there.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct ColumnPlace {
    path: PathBuf,
    first_byte: u64,
    bytes: u64,
}

impl ColumnPlace {
    fn new(path: &Path, first_byte: u64, bytes: u64) -> Self {
        Self { path: path.to_owned(), first_byte, bytes }
    }
}

impl<T: Element> From<&Column<T>> for ColumnPlace {
    fn from(column: &Column<T>) -> Self {
        Self::new(column.path(), column.first_byte(), column.file_bytes())
    }
}

impl From<&Values> for ColumnPlace {
    fn from(values: &Values) -> Self {
        Self::new(values.path(), values.first_byte(), values.file_bytes())
    }
}

impl Report {
    /// Whether there are no problems.
    pub fn is_sound(&self) -> bool {
        self.problems.is_empty()
    }

    /// Records the outcome of a check; returns whether it passed.
    pub(super) fn note(&mut self, outcome: Result<()>) -> Result<bool> {
        match outcome {
            Ok(()) => Ok(true),
            Err(Error::Stop(stop)) => Err(stop.into()),
            Err(problem) => {
                let text = problem.to_string();
                // Two checks may meet the same damage.
                if !self.problems.iter().any(|known| known.to_string() == text) {
                    self.problems.push(problem);
                }
                Ok(false)
            }
        }
    }

    /// Records an operation that mends all problems but the `known` first ones, which another check found
    /// before.
    pub(super) fn remedy(&mut self, operation: Call, known: usize) {
        self.mended += self.problems.len() - known;
        if self.problems.len() > known && !self.remedies.contains(&operation) {
            self.remedies.push(operation);
        }
    }

    /// Forgets the remedies unless they mend all problems: what they read must be sound.
    pub(super) fn conclude(mut self) -> Self {
        if self.mended < self.problems.len() {
            self.remedies.clear();
        }
        self
    }

    /// Records the outcome of verifying a column; returns whether it passed.
    pub(super) fn column(&mut self, column: impl Into<ColumnPlace>, outcome: Result<()>) -> Result<bool> {
        let place = column.into();
        let bytes = place.bytes;
        if self.verified.insert(place) {
            self.columns += 1;
            self.bytes += bytes;
        }
        self.note(outcome)
    }

    /// Whether a column was verified, with whatever outcome.
    pub(super) fn has_verified(&self, column: impl Into<ColumnPlace>) -> bool {
        self.verified.contains(&column.into())
    }

    /// Records whether a statement holds.
    pub(super) fn holds(&mut self, what: &str, outcome: Result<()>) -> Result<()> {
        if self.note(outcome)? {
            self.sound.push(what.to_owned());
        }
        Ok(())
    }

    pub(super) fn expect(&mut self, holds: bool, what: &str, otherwise: impl FnOnce() -> Error) {
        if holds {
            self.sound.push(what.to_owned());
        } else {
            self.problems.push(otherwise());
        }
    }
}

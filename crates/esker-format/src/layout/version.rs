//! Tables of versions: their times, their names, which of them to keep, and the rule for edges that they add
//! again.

use crate::error::Result;
use crate::file::field::{FieldInput, FieldValue, codes, layout};

layout! {
    /// A version.
    pub struct VersionRecord {
        /// Its number, from 1.
        number: u64,
        /// Event time: milliseconds since 1970, UTC. The author may choose it; it selects versions by time.
        time_ms: u64,
        /// Time of the commit: milliseconds since 1970, UTC.
        committed_ms: u64,
        /// The author's message.
        message: String,
        /// The checksum in the header of the log record of its commit, which depends on all commits before
        /// it. 0: an import.
        commit: u32,
        /// Number of vertices, removed ones included.
        num_vertices: u64,
        /// Number of edges; an undirected one counts once.
        num_edges: u64,
        /// Number of arcs: entries of all out-lists.
        num_arcs: u64,
        /// Number of self-loops.
        num_loops: u64,
    }
}

layout! {
    /// The message of a version that was forgotten.
    pub struct KeptMessage {
        /// The number of the version.
        version: u64,
        /// The message.
        message: String,
    }
}

codes! {
    /// The rule for duplicate edges: edges between two vertices that already have one.
    pub enum Duplicates: u8 {
        /// All stay, as parallel edges.
        Keep = 1,
        /// The first stays.
        First = 2,
        /// The last replaces those before it.
        Last = 3,
        /// One stays, with the sum of the weights; its other properties are those of the first.
        Sum = 4,
        /// The first of those with the smallest weight stays.
        Min = 5,
        /// The first of those with the largest weight stays.
        Max = 6,
        /// A duplicate is an error.
        Refuse = 7,
        /// Parallel edges stay, but of edges with the same values of all properties one.
        Rows = 8,
    }
}

impl Default for Duplicates {
    /// A later edge sets the properties of an earlier one, within an import as from commit to commit.
    fn default() -> Self {
        Self::Last
    }
}

impl Duplicates {
    /// All rules.
    pub const ALL: [Self; 8] =
        [Self::Keep, Self::First, Self::Last, Self::Sum, Self::Min, Self::Max, Self::Refuse, Self::Rows];

    /// The name of the rule for users.
    pub fn name(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::First => "first",
            Self::Last => "last",
            Self::Sum => "sum",
            Self::Min => "min",
            Self::Max => "max",
            Self::Refuse => "error",
            Self::Rows => "rows",
        }
    }

    /// Whether edges between two vertices may stay beside each other, whatever their kinds.
    pub fn keeps_parallel(self) -> bool {
        matches!(self, Self::Keep | Self::Rows)
    }

    /// Whether the rule compares or adds up weights.
    pub fn needs_weight(self) -> bool {
        matches!(self, Self::Sum | Self::Min | Self::Max)
    }
}

layout! {
    /// A name for a version.
    pub struct TagRecord {
        /// The name.
        name: String,
        /// The version.
        version: u64,
    }
}

codes! {
    /// A rule that selects the versions to keep. All rules keep tagged versions.
    pub(crate) enum RetentionKind: u8 {
        /// All.
        All = 1,
        /// The given number of newest versions.
        Last = 2,
        /// Versions that were the newest at the given time or later: milliseconds since 1970, UTC.
        Since = 3,
    }
}

layout! {
    /// Which versions to keep.
    pub(crate) struct RetentionRecord {
        /// The rule.
        kind: RetentionKind,
        /// The rule's number; 0 if it has none.
        amount: u64,
    }
}

/// Which versions to keep. Every rule keeps tagged versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Retention {
    /// All.
    #[default]
    All,
    /// The given number of newest versions.
    Last(u64),
    /// Versions that were the newest at the given event time or later: milliseconds since 1970, UTC.
    Since(u64),
}

impl FieldValue for Retention {
    #[cfg(test)]
    fn type_name() -> String {
        RetentionRecord::type_name()
    }

    fn put(&self, out: &mut Vec<u8>) {
        let (kind, amount) = match *self {
            Self::All => (RetentionKind::All, 0),
            Self::Last(count) => (RetentionKind::Last, count),
            Self::Since(time_ms) => (RetentionKind::Since, time_ms),
        };
        RetentionRecord { kind, amount }.put(out);
    }

    fn take(input: &mut FieldInput<'_>) -> Result<Self> {
        let record = RetentionRecord::take(input)?;
        Ok(match record.kind {
            RetentionKind::All => Self::All,
            RetentionKind::Last => Self::Last(record.amount),
            RetentionKind::Since => Self::Since(record.amount),
        })
    }
}

//! The options of a stream.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use esker_graph::{Cancel, Run};
use esker_import::options::BadLines;
use esker_import::rejects::RejectsFile;
use esker_store::format::Duplicates;
use esker_store::format::io::InputId;

use crate::window::{EpochUnit, Span};

/// When a stream commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitEvery {
    /// After this number of edges.
    Edges(u64),
    /// When the first edge that is not committed came so long ago.
    Time(Duration),
}

/// How fast a stream is read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pace {
    /// So many edges a second.
    PerSecond(f64),
    /// So many times as fast as the edges happened.
    Replay(f64),
}

/// What becomes of late edges. All are counted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Late {
    /// The next version gets them.
    #[default]
    Next,
    /// They are appended to a CSV file instead.
    Reject(PathBuf),
    /// They end the stream.
    Refuse,
}

/// The state of a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamState {
    /// Number of edges taken, also of those to be removed.
    pub edges: u64,
    /// Number of edges committed, also of those to be removed.
    pub committed: u64,
    /// Number of edges that rows removed.
    pub removed: u64,
    /// Number of rows that were to remove an edge which was not there.
    pub not_found: u64,
    /// Number of edges removed because they were too old.
    pub expired: u64,
    /// Number of late edges, those of earlier runs of this stream included.
    pub late: u64,
    /// The newest version that the stream made.
    pub version: Option<u64>,
    /// The watermark of the newest version of a stream, and the unit of the times; `None` without times or
    /// versions.
    pub watermark: Option<(i64, EpochUnit)>,
    /// How long the oldest edge of the last commit waited until it was durable.
    pub lag: Duration,
}

/// Called with the state once a second.
pub type OnStream = Arc<dyn Fn(&StreamState) + Send + Sync>;

/// Removes edges whose age, counted from the latest edge, reaches a length: whenever the stream has advanced
/// by a sixteenth of the length, and at its end.
#[derive(Clone)]
pub struct Expiry {
    /// The length.
    pub length: Span,
    /// Finds the edges.
    pub run: Arc<Run>,
}

impl fmt::Debug for Expiry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Expiry").field("length", &self.length).finish_non_exhaustive()
    }
}

/// Options of [`super::stream()`].
#[derive(Clone)]
pub struct StreamOptions {
    /// When to commit.
    pub every: CommitEvery,
    /// How fast to read; `None`: as fast as possible.
    pub pace: Option<Pace>,
    /// The edge property that holds the times; `None`: the one that was [`Declared`], or the only one that
    /// can, but for the weight. Without one, the event time is that of the commit.
    ///
    /// [`Declared`]: crate::window::Declared
    pub time: Option<String>,
    /// The unit of the times; `None`: as declared, or guessed from the first.
    pub unit: Option<EpochUnit>,
    /// By how much edges may be out of order; `None`: as declared, or not at all.
    pub delay: Option<Span>,
    /// What becomes of late edges.
    pub late: Late,
    /// Removes edges that grow old; `None`: at the age that was declared, if one was.
    pub expire: Option<Expiry>,
    /// The name under which versions say how far the input was read; `None` for one that cannot be read
    /// again.
    pub source: Option<String>,
    /// Device and number of the file that is read, by which it is known again after it was renamed.
    pub file: Option<InputId>,
    /// Whether the file came after another one of this name, so that no version has edges of it.
    pub is_successor: bool,
    /// Whether to read the input from its start, also if versions say that it was read before.
    pub from_start: bool,
    /// The column that says what happens to the edge of each row, by its name or its number from 1: rows add,
    /// remove or replace edges ([`RowOperation`]). `None`: all add.
    ///
    /// A removal needs the ends alone, and the kind where edges have kinds; it removes what
    /// [`Purpose::Remove`](super::Purpose::Remove) does: all edges between the two vertices, or those of
    /// the kind.
    ///
    /// [`RowOperation`]: esker_import::read::operation::RowOperation
    pub op: Option<String>,
    /// What becomes of edges that exist or are given several times; `None`: the rule of the database.
    pub duplicates: Option<Duplicates>,
    /// What to do with malformed lines.
    pub bad_lines: BadLines,
    /// Where skipped lines go, which the reader must keep; `None`: nowhere.
    pub rejects: Option<Arc<RejectsFile>>,
    /// Ends the stream after a last commit of what was read.
    pub stop: Cancel,
    /// Told of the state.
    pub on_state: Option<OnStream>,
}

impl Default for StreamOptions {
    fn default() -> Self {
        Self {
            every: CommitEvery::Time(Duration::from_secs(1)),
            pace: None,
            time: None,
            unit: None,
            delay: None,
            late: Late::Next,
            expire: None,
            source: None,
            file: None,
            is_successor: false,
            from_start: false,
            op: None,
            duplicates: None,
            bad_lines: BadLines::Stop,
            rejects: None,
            stop: Cancel::default(),
            on_state: None,
        }
    }
}

impl fmt::Debug for StreamOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            every,
            pace,
            time,
            unit,
            delay,
            late,
            expire,
            source,
            from_start,
            op,
            duplicates,
            bad_lines,
            ..
        } = self;
        f.debug_struct("StreamOptions")
            .field("every", every)
            .field("pace", pace)
            .field("time", time)
            .field("unit", unit)
            .field("delay", delay)
            .field("late", late)
            .field("expire", expire)
            .field("source", source)
            .field("from_start", from_start)
            .field("op", op)
            .field("duplicates", duplicates)
            .field("bad_lines", bad_lines)
            .finish_non_exhaustive()
    }
}

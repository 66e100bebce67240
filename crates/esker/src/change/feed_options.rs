//! Options and report of feeding.

use std::collections::BTreeSet;
use std::sync::Arc;

use esker_graph::{Cancel, Message, Setting, counted, message};
use esker_import::options::BadLines;
use esker_import::read::source::{Rejected, VertexColumn};
use esker_import::rejects::RejectsFile;
use esker_store::format::Duplicates;
use esker_store::{CommitOptions, Committed};

/// Called with the fraction of the input read so far (0 to 1, if known) and the number of edges.
pub type OnFeed = Arc<dyn Fn(Option<f64>, u64) + Send + Sync>;

/// Options of [`feed`](fn@super::feed).
#[derive(Clone, Default)]
pub struct FeedOptions {
    /// The message and the event time of the versions.
    pub commit: CommitOptions,
    /// What becomes of edges that exist or are given several times; `None`: the rule of the database.
    pub duplicates: Option<Duplicates>,
    /// Number of edges per commit; `None` for a single commit.
    pub batch_edges: Option<u64>,
    /// What to do with malformed lines.
    pub bad_lines: BadLines,
    /// Where skipped lines go, which the reader must keep; `None`: nowhere.
    pub rejects: Option<Arc<RejectsFile>>,
    /// Whether there is nothing to remove of vertices that do not exist; else they are an error.
    pub allow_unknown: bool,
    /// Cancels the work; committed versions stay.
    pub cancel: Cancel,
    /// Called with progress.
    pub on_progress: Option<OnFeed>,
}

impl std::fmt::Debug for FeedOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { commit, duplicates, batch_edges, bad_lines, .. } = self;
        let mut out = f.debug_struct("FeedOptions");
        out.field("commit", commit)
            .field("duplicates", duplicates)
            .field("batch_edges", batch_edges)
            .field("bad_lines", bad_lines);
        out.finish_non_exhaustive()
    }
}

/// Report of [`feed`](fn@super::feed).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FeedReport {
    /// The committed versions, in order.
    pub versions: Vec<u64>,
    /// Number of edges of the input that were committed: those added, or those given for removal.
    pub edges: u64,
    /// Number of vertices listed without an edge.
    pub vertices: u64,
    /// Names of the properties of vertices that the input has columns or attributes of.
    pub vertex_columns: BTreeSet<String>,
    /// Number of edges left out or united with another, as the rule for duplicates says.
    pub duplicates: u64,
    /// Number of self-loops left out, as the import left them out.
    pub self_loops: u64,
    /// That rule; `None` before anything was read.
    pub rule: Option<Duplicates>,
    /// Number of skipped lines.
    pub rejected: u64,
    /// The first skipped lines.
    pub rejected_sample: Vec<Rejected>,
    /// What a person should know of the lines that were read, although none of them was refused for it.
    pub warnings: Vec<Message>,
}

impl FeedReport {
    /// Notes that the input has columns of properties of vertices.
    pub(super) fn note_columns(&mut self, columns: &[VertexColumn]) {
        for column in columns {
            if !self.vertex_columns.contains(&*column.name) {
                self.vertex_columns.insert(column.name.to_string());
            }
        }
    }

    /// Counts the duplicates of a commit.
    pub(super) fn count_duplicates(&mut self, committed: &Committed) {
        match committed.duplicates {
            Some(duplicates) => self.duplicates += duplicates,
            None => self.warnings.push(message![format!(
                "how many edges of version {} were duplicates is not known: the process that committed them ended",
                committed.version
            )]),
        }
    }

    /// The warning that so many edges took the place of earlier ones, and of their times, which the property
    /// `time` holds; `None` if that is none, or another rule than that of the last edge decided.
    pub fn replaced(&self, edges: u64, time: &str) -> Option<Message> {
        (edges > 0 && self.rule == Some(Duplicates::Last)).then(|| {
            message![
                format!(
                    "{} of the same two vertices replaced an earlier one, and its {time}; to keep both, import all edges \
                     anew with ",
                    counted(edges, "edge", "edges")
                ),
                Setting::Duplicates.to("keep"),
            ]
        })
    }
}

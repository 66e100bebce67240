//! Options, report and progress of an import.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

pub use esker_format::Duplicates;
use esker_format::{Encoding, StreamUnit, WriteOptions};
use esker_graph::{Cancel, Message};
use esker_layers::tiles::TileReport;

use super::read::source::Rejected;
use super::rejects::RejectsFile;

/// How the vertices are numbered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NumberingOrder {
    /// As they come: integers in ascending order, texts by first appearance.
    Keep,
    /// By descending degree.
    Degree,
    /// Whichever of the two gives neighbour accesses the better locality, as measured on a sample.
    #[default]
    Auto,
}

/// Whether edges from a vertex to itself are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SelfLoops {
    /// They are stored.
    #[default]
    Keep,
    /// They are left out.
    Drop,
}

/// What happens at a line that cannot be understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BadLines {
    /// The import ends with an error that shows the line.
    #[default]
    Stop,
    /// The line is left out and counted in the report.
    Skip,
}

/// Progress of an import.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ImportProgress {
    /// What is being done.
    pub stage: &'static str,
    /// How much of the stage is done, 0 to 1, if that can be known.
    pub fraction: Option<f64>,
    /// Edges read so far.
    pub edges: u64,
}

/// A callback for progress. Threads of the import call it, at most ten times a second.
pub type OnImportProgress = Arc<dyn Fn(ImportProgress) + Send + Sync>;

/// The smallest memory limit of an import.
pub const MEMORY_BYTES_MIN: u64 = 16 << 20;

/// The settings of an import.
#[derive(Clone)]
pub struct ImportOptions {
    /// Whether edges are directed. `None` (default): as the format says, else directed.
    pub directed: Option<bool>,
    /// Whether a directed graph also gets lists of incoming edges. Default: yes.
    pub in_edges: bool,
    /// How vertices are numbered. Default: [`NumberingOrder::Auto`].
    pub order: NumberingOrder,
    /// The encoding of the lists. Default: plain. With [`Encoding::Tiles`] tiles are all that is kept of
    /// them.
    pub encoding: Encoding,
    /// Whether there are tiles beside the lists, too. Default: no.
    pub tiles: bool,
    /// Which edge is stored if the input has it several times. The database applies this rule to later
    /// commits too. Default: [`Duplicates::Last`].
    pub duplicates: Duplicates,
    /// The edge property of texts that is the kind of an edge. The rule then applies to edges of one kind:
    /// edges of different kinds stay beside each other. `None` (default): edges have no kinds.
    pub kind: Option<String>,
    /// Whether the entries of a matrix for one pair add up, as they do in other programs, instead of
    /// following that rule: for imports where none was chosen. It does not become the rule of the database.
    /// Default: no.
    pub adds_entries: bool,
    /// How the database turns later commits into layers. `None` (default): as [`WriteOptions::default`].
    pub writes: Option<WriteOptions>,
    /// Whether self-loops are stored. Default: [`SelfLoops::Keep`].
    pub self_loops: SelfLoops,
    /// What happens at a malformed line. Default: [`BadLines::Stop`].
    pub bad_lines: BadLines,
    /// Where rejected rows go, if they do not stop the import; the reader must keep them:
    /// [`crate::ReadOptions::keeping_rejected`]. `None` (default): nowhere.
    pub rejects: Option<Arc<RejectsFile>>,
    /// Worker threads; 0 (default) takes as many as the machine has processors.
    pub threads: usize,
    /// The memory limit of the import, at least [`MEMORY_BYTES_MIN`]. Its process stays below this plus 64
    /// MiB. Default: 4 GiB.
    pub memory_bytes: u64,
    /// The message of the version. `None` (default): the format of the input.
    pub message: Option<String>,
    /// The event time of the version, in milliseconds since 1970, UTC. `None` (default): the time of the
    /// import.
    pub time_ms: Option<u64>,
    /// The unit of times that are numbers, if the input names a time.
    pub time_unit: StreamUnit,
    /// The token that stops the import within 100 ms.
    pub cancel: Cancel,
    /// Called with the progress.
    pub on_progress: Option<OnImportProgress>,
}

impl std::fmt::Debug for ImportOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ImportOptions")
            .field("directed", &self.directed)
            .field("in_edges", &self.in_edges)
            .field("order", &self.order)
            .field("encoding", &self.encoding)
            .field("tiles", &self.tiles)
            .field("duplicates", &self.duplicates)
            .field("kind", &self.kind)
            .field("adds_entries", &self.adds_entries)
            .field("writes", &self.writes)
            .field("self_loops", &self.self_loops)
            .field("bad_lines", &self.bad_lines)
            .field("rejects", &self.rejects)
            .field("threads", &self.threads)
            .field("memory_bytes", &self.memory_bytes)
            .field("message", &self.message)
            .field("time_ms", &self.time_ms)
            .field("time_unit", &self.time_unit)
            .finish_non_exhaustive()
    }
}

impl Default for ImportOptions {
    fn default() -> Self {
        Self {
            directed: None,
            in_edges: true,
            order: NumberingOrder::default(),
            encoding: Encoding::Plain,
            tiles: false,
            duplicates: Duplicates::default(),
            kind: None,
            adds_entries: false,
            writes: None,
            self_loops: SelfLoops::default(),
            bad_lines: BadLines::default(),
            rejects: None,
            threads: 0,
            memory_bytes: 4 << 30,
            message: None,
            time_ms: None,
            time_unit: StreamUnit::Guessed,
            cancel: Cancel::default(),
            on_progress: None,
        }
    }
}

/// Which order an import chose, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct OrderChoice {
    /// [`NumberingOrder::Keep`] or [`NumberingOrder::Degree`].
    pub order: NumberingOrder,
    /// Why, as text for the user.
    pub reason: String,
}

/// What an import did.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportReport {
    /// Edges read, before any policy.
    pub rows: u64,
    /// Number of vertices.
    pub vertices: u64,
    /// Edges stored. An undirected edge counts once.
    pub edges: u64,
    /// Entries of all out-lists: an undirected edge counts twice, a self-loop once.
    pub arcs: u64,
    /// Whether the graph is directed.
    pub directed: bool,
    /// Edges that repeat an earlier edge of the input, and were left out or merged into it by the rule for
    /// duplicates.
    pub duplicates: u64,
    /// That rule: the one that was given, or the one by which the entries of a matrix add up.
    pub rule: Duplicates,
    /// The edge property that probably holds times, judging by its name.
    pub time: Option<String>,
    /// The edge property that was named as the time, and its type, if no window can use that.
    pub no_time: Option<(String, String)>,
    /// Whether ids are integers; else they are texts.
    pub integer_ids: bool,
    /// What a person should know of the input, although all of it was taken.
    pub warnings: Vec<Message>,
    /// Self-loops left out.
    pub self_loops: u64,
    /// Lines or rows left out because they could not be understood.
    pub rejected: u64,
    /// The first of them.
    pub rejected_sample: Vec<Rejected>,
    /// How vertices are numbered.
    pub order: OrderChoice,
    /// The tiles; `None`: none.
    pub tiles: Option<TileReport>,
    /// Seconds that each stage took.
    pub stages: Vec<(&'static str, f64)>,
    /// The most memory that was reserved at one time.
    pub reserved_bytes: u64,
}

/// Reports progress and measures the time of each stage.
pub(super) struct Tracker {
    on_progress: Option<OnImportProgress>,
    start: Instant,
    stage: parking_lot::Mutex<Stage>,
    done: AtomicU64,
    total: AtomicU64,
    edges: AtomicU64,
    /// Milliseconds since `start` at which the callback was last called.
    told_ms: AtomicU64,
}

struct Stage {
    name: &'static str,
    since: Instant,
    finished: Vec<(&'static str, f64)>,
}

/// The callback is called no more often than this.
const TELL_EVERY_MS: u64 = 100;

impl Tracker {
    pub(super) fn new(on_progress: Option<OnImportProgress>) -> Self {
        let now = Instant::now();
        Self {
            on_progress,
            start: now,
            stage: parking_lot::Mutex::new(Stage { name: "", since: now, finished: Vec::new() }),
            done: AtomicU64::new(0),
            total: AtomicU64::new(0),
            edges: AtomicU64::new(0),
            told_ms: AtomicU64::new(0),
        }
    }

    /// Begins a stage of `total` units, 0 if unknown.
    pub(super) fn stage(&self, name: &'static str, total: u64) {
        let mut stage = self.stage.lock();
        let now = Instant::now();
        if !stage.name.is_empty() {
            let last = (stage.name, (now - stage.since).as_secs_f64());
            stage.finished.push(last);
        }
        (stage.name, stage.since) = (name, now);
        drop(stage);
        self.done.store(0, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
        self.tell(name);
    }

    /// Counts units of the stage, and edges read.
    pub(super) fn advance(&self, units: u64, edges: u64) {
        self.done.fetch_add(units, Ordering::Relaxed);
        self.edges.fetch_add(edges, Ordering::Relaxed);
        if self.on_progress.is_none() {
            return;
        }
        let now_ms = self.start.elapsed().as_millis() as u64;
        let told_ms = self.told_ms.load(Ordering::Relaxed);
        let due = now_ms >= told_ms + TELL_EVERY_MS;
        if due && self.told_ms.compare_exchange(told_ms, now_ms, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        {
            let name = self.stage.lock().name;
            self.tell(name);
        }
    }

    fn tell(&self, stage: &'static str) {
        let Some(on_progress) = &self.on_progress else { return };
        let (done, total) = (self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed));
        let fraction = (total > 0).then(|| (done as f64 / total as f64).min(1.0));
        on_progress(ImportProgress { stage, fraction, edges: self.edges.load(Ordering::Relaxed) });
    }

    /// Ends the last stage; seconds of each.
    pub(super) fn finish(self) -> Vec<(&'static str, f64)> {
        self.stage("", 0);
        self.stage.into_inner().finished
    }
}

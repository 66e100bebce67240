//! The files of a stream, one after another, and the report of all: those that names and patterns match, and
//! those that follow under the same names when files are rotated.

use std::collections::VecDeque;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use esker_graph::Cancel;
use esker_import::read::input::{Input, expand};
use esker_import::read::live::{GrowingInput, HasNext};
use esker_import::read::rotated::{is_rotated, renamed_from};
use esker_store::format::io::{InputId, input_bytes, input_id};
use esker_store::{Database, Error, Result};
use parking_lot::Mutex;

use super::feed_options::FeedReport;
use super::stream_options::StreamState;

/// Time between two looks for new files.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// A file to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamFile {
    /// Where it lies now.
    pub path: PathBuf,
    /// The name under which versions say how far it was read: the path that it had, or has.
    pub source: String,
    /// Which file it is.
    pub file: Option<InputId>,
    /// Whether it came after another file of this name.
    pub is_successor: bool,
    /// Where that other file lies now, if it was found.
    pub predecessor: Option<PathBuf>,
    /// Whether it still has its name, so that it may grow.
    pub may_grow: bool,
}

/// A file that was handed out.
#[derive(Debug)]
struct TakenFile {
    /// The name under which it is read.
    source: PathBuf,
    file: InputId,
    /// Its first bytes, as it was handed out.
    head: Vec<u8>,
}

/// So many first bytes tell a copy of a file.
const HEAD_BYTES: u64 = 4096;

/// The first bytes of a file; fewer if it is shorter, none if it cannot be read.
fn head_of(path: &Path) -> Vec<u8> {
    let mut head = Vec::new();
    if let Ok(mut stream) = Input::File(Arc::new(path.to_path_buf())).open() {
        // What cannot be read is said when it is read.
        let _ = (&mut stream).take(HEAD_BYTES).read_to_end(&mut head);
    }
    head
}

impl TakenFile {
    /// Whether a file is a copy of this one, under a name of those to which files are rotated.
    fn is_copied_to(&self, path: &Path, head: &[u8]) -> bool {
        let now = if input_id(&self.source) == Some(self.file) { head_of(&self.source) } else { Vec::new() };
        let known = if now.len() > self.head.len() { &now } else { &self.head };
        let has_lines = known.iter().filter(|&&byte| byte == b'\n').count() > 1;
        is_rotated(&self.source, path) && has_lines && head.starts_with(known)
    }
}

/// Files in order. Those of a pattern come by name, each once; with `follow`, new ones as they appear.
pub struct StreamFiles {
    names: Arc<Vec<String>>,
    follow: bool,
    stop: Cancel,
    taken: Arc<Mutex<Vec<TakenFile>>>,
    waiting: VecDeque<StreamFile>,
}

impl StreamFiles {
    /// The files that names and patterns match, none of them standard input.
    pub fn new(names: &[String], follow: bool, stop: &Cancel) -> Self {
        let (names, stop) = (Arc::new(names.to_vec()), stop.clone());
        Self { names, follow, stop, taken: Arc::default(), waiting: VecDeque::new() }
    }

    /// The next file; waits for one if files are followed. `None` at the end, or when the stream is stopped.
    ///
    /// # Errors
    /// As [`expand`], if no file matches and none was read before; [`Error::Input`] if a file is a copy
    /// of one that is read, as a rotation by copying makes it.
    pub fn next(&mut self, database: &Database) -> Result<Option<StreamFile>> {
        loop {
            if let Some(file) = self.waiting.pop_front() {
                return Ok(Some(file));
            }
            let is_first = self.taken.lock().is_empty();
            let new = first_new(&self.names, &self.taken.lock(), is_first)?;
            match new {
                Some((path, file)) => self.add(database, &path, file)?,
                None if !self.follow || self.stop.is_cancelled() => return Ok(None),
                None => std::thread::sleep(LOOK_EVERY),
            }
        }
    }

    /// Puts a file behind those that were renamed to make room for it and are not read wholly.
    ///
    /// # Errors
    /// [`Error::Input`] if it is a copy of a file that is read.
    fn add(&mut self, database: &Database, path: &Path, file: InputId) -> Result<()> {
        let (source, head) = (path.display().to_string(), head_of(path));
        let mut taken = self.taken.lock();
        if let Some(original) = taken.iter().find(|one| one.is_copied_to(path, &head)) {
            let reason = format!(
                "the file is a copy of {}, whose lines were read: rotate files by renaming them, not by copying",
                original.source.display()
            );
            return Err(Error::input(path, reason));
        }
        let last = taken.iter().rev().find(|taken| taken.source == path).map(|taken| taken.file);
        let read = last.or_else(|| {
            let known = database.stream_positions().into_iter().find(|(name, _)| *name == source);
            known.and_then(|(_, position)| position.file)
        });
        let mut is_successor = last.is_some();
        let read = read.filter(|&read| read != file);
        let mut predecessor = None;
        for renamed in read.map(|read| renamed_from(path, read)).into_iter().flatten() {
            // The last one was read to its end, before it was renamed or behind that.
            if taken.iter().any(|taken| taken.file == renamed.file) {
                predecessor = Some(renamed.path);
                continue;
            }
            let before = predecessor.replace(renamed.path.clone());
            let head = Vec::new();
            taken.push(TakenFile { source: path.to_path_buf(), file: renamed.file, head });
            self.waiting.push_back(StreamFile {
                path: renamed.path,
                source: source.clone(),
                file: Some(renamed.file),
                is_successor,
                predecessor: before,
                may_grow: false,
            });
            is_successor = true;
        }
        taken.push(TakenFile { source: path.to_path_buf(), file, head });
        drop(taken);
        let path = path.to_path_buf();
        let file = Some(file);
        self.waiting.push_back(StreamFile { path, source, file, is_successor, predecessor, may_grow: true });
        Ok(())
    }

    /// How to read a file while it grows.
    pub fn growing(&self, file: &StreamFile) -> GrowingInput {
        let (names, taken) = (Arc::clone(&self.names), Arc::clone(&self.taken));
        let looked = Mutex::new(Instant::now());
        let has_next = move || {
            let mut looked = looked.lock();
            if looked.elapsed() < LOOK_EVERY {
                return false;
            }
            *looked = Instant::now();
            let new = first_new(&names, &taken.lock(), false);
            // Its writer has moved on once it has written to the next.
            new.is_ok_and(|new| {
                new.is_some_and(|(path, _)| input_bytes(&path).is_some_and(|bytes| bytes > 0))
            })
        };
        GrowingInput {
            follow: self.follow && file.may_grow,
            stop: self.stop.clone(),
            rotates: true,
            has_next: HasNext(Some(Arc::new(has_next))),
        }
    }
}

/// Report of [`super::stream()`].
#[derive(Debug, Clone, PartialEq)]
pub struct StreamReport {
    /// What was committed.
    pub fed: FeedReport,
    /// Number of edges of the input that earlier versions had.
    pub passed_over: u64,
    /// The state at the end.
    pub state: StreamState,
}

impl StreamReport {
    /// The report of two inputs, of which `later` came next.
    #[must_use]
    pub fn with(mut self, later: Self) -> Self {
        let (fed, before, state) = (later.fed, self.state, later.state);
        self.fed.versions.extend(fed.versions);
        self.fed.edges += fed.edges;
        self.fed.vertices += fed.vertices;
        self.fed.duplicates += fed.duplicates;
        self.fed.self_loops += fed.self_loops;
        self.fed.rejected += fed.rejected;
        self.fed.rejected_sample.extend(fed.rejected_sample);
        self.fed.warnings.extend(fed.warnings);
        self.fed.rule = fed.rule.or(self.fed.rule);
        let state = StreamState {
            edges: before.edges + state.edges,
            committed: before.committed + state.committed,
            removed: before.removed + state.removed,
            not_found: before.not_found + state.not_found,
            expired: before.expired + state.expired,
            late: before.late + state.late,
            version: state.version.or(before.version),
            watermark: state.watermark.or(before.watermark),
            ..state
        };
        Self { fed: self.fed, passed_over: self.passed_over + later.passed_over, state }
    }
}

/// The first file that was not taken: under its name, or before it got this name.
fn first_new(names: &[String], taken: &[TakenFile], must_match: bool) -> Result<Option<(PathBuf, InputId)>> {
    for name in names {
        let inputs = match expand(&[name], &Cancel::default()) {
            Ok(inputs) => inputs,
            Err(error) if must_match => return Err(error),
            // New files may match later.
            Err(_) => continue,
        };
        for input in &inputs {
            let Input::File(path) = input else {
                return Err(Error::usage(format!("{name} is no file: it is read alone")));
            };
            let whole = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
            match input_id(&whole) {
                Some(file) if !taken.iter().any(|taken| taken.file == file) => {
                    return Ok(Some((whole, file)));
                }
                None if must_match => {
                    // Opening it says what is wrong.
                    input.open()?;
                }
                _ => {}
            }
        }
    }
    Ok(None)
}

//! The file of the rows that an import or a change did not take.
//!
//! A reader decides which row that is: what it gives as [`Rejected`] is the fault of one row, and an error is
//! one of the file.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use esker_format::io::{Cursor, Disk, File, Files, RealDisk, expect_outside_databases, parent};
use esker_format::{Error, Result};
use esker_graph::Message;
use parking_lot::{Condvar, Mutex};

use crate::read::source::{Rejected, push_field};
use crate::write::{ExportOptions, OutputFile};

/// Renders a reason in the words of an interface.
pub type SayReason = fn(&Message) -> String;

/// How far ahead of their turn the rows of a block may wait.
const AHEAD_MAX: u64 = 4;

/// How often a waiting thread looks for the end of the work.
const PATIENCE: Duration = Duration::from_millis(20);

/// A CSV file of rejected rows: the file and the line of each, why it was not taken, and its text.
pub struct RejectsFile {
    path: PathBuf,
    say: SayReason,
    state: Mutex<RejectsState>,
    moved: Condvar,
}

struct RejectsState {
    out: Option<RejectsOut>,
    count: u64,
    /// The block whose rows come next, and what is to be written of later blocks.
    next: u64,
    waiting: BTreeMap<u64, (u64, Vec<u8>)>,
    given_up: bool,
}

enum RejectsOut {
    /// It gets its name when it is complete.
    New(Box<OutputFile>),
    /// It goes on at its end.
    Appended(BufWriter<Cursor>, Arc<dyn File>),
}

impl std::fmt::Debug for RejectsFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RejectsFile").field("path", &self.path).finish_non_exhaustive()
    }
}

impl RejectsFile {
    /// Begins a file, which gets its name by [`RejectsFile::finish`].
    ///
    /// # Errors
    /// If it exists and is not to be replaced, is one of the inputs, lies in the database, or cannot be made.
    pub fn create(
        path: &Path,
        say: SayReason,
        database: &Path,
        inputs: &[String],
        overwrite: bool,
    ) -> Result<Self> {
        check_place(path, database, inputs)?;
        if !overwrite && path.exists() {
            let reason = format!("{} exists already: remove it, or name another file", path.display());
            return Err(Error::Exists(reason.into()));
        }
        let out = OutputFile::open(path, &ExportOptions { overwrite, ..ExportOptions::default() })?;
        let file = Self::of(path, say, RejectsOut::New(Box::new(out)));
        file.write_header()?;
        Ok(file)
    }

    /// Opens a file to append to it, or makes it.
    ///
    /// # Errors
    /// If it is one of the inputs, lies in the database, or cannot be opened.
    pub fn append(path: &Path, say: SayReason, database: &Path, inputs: &[String]) -> Result<Self> {
        check_place(path, database, inputs)?;
        let file = match RealDisk.look(path)? {
            Some(_) => RealDisk.open_for_writing(path)?,
            None => RealDisk.create(path)?,
        };
        let len = file.len()?;
        let end = BufWriter::new(Cursor::new(Arc::clone(&file), len));
        let file = Self::of(path, say, RejectsOut::Appended(end, file));
        if len == 0 {
            file.write_header()?;
        }
        Ok(file)
    }

    fn of(path: &Path, say: SayReason, out: RejectsOut) -> Self {
        let state =
            RejectsState { out: Some(out), count: 0, next: 0, waiting: BTreeMap::new(), given_up: false };
        Self { path: path.to_owned(), say, state: Mutex::new(state), moved: Condvar::new() }
    }

    fn write_header(&self) -> Result<()> {
        self.write_bytes(&mut self.state.lock(), b"file,line,reason,row\n")
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many rows were written to it.
    pub fn count(&self) -> u64 {
        self.state.lock().count
    }

    /// Adds rows behind the others.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn write<'r>(&self, rows: impl IntoIterator<Item = &'r Rejected>) -> Result<()> {
        let (count, bytes) = self.rendered(rows);
        let mut state = self.state.lock();
        state.count += count;
        self.write_bytes(&mut state, &bytes)
    }

    /// Adds the rejected rows of one block of an input. Every block must come here, even one without such
    /// rows, because blocks are written in the order of their numbers, from 0, whichever thread is first.
    ///
    /// # Errors
    /// [`Error::Io`]; those of `check`, which tells whether the work was cancelled.
    pub(crate) fn put(&self, sequence: u64, rows: &[Rejected], check: impl Fn() -> Result<()>) -> Result<()> {
        let rendered = self.rendered(rows);
        let mut state = self.state.lock();
        // The thread with the earliest block never waits. If it fails, `give_up` wakes the others; if the
        // work is cancelled, `check` ends them.
        while sequence > state.next + AHEAD_MAX && !state.given_up {
            check()?;
            self.moved.wait_for(&mut state, PATIENCE);
        }
        state.waiting.insert(sequence, rendered);
        loop {
            let next = state.next;
            let Some((count, bytes)) = state.waiting.remove(&next) else { return Ok(()) };
            state.next += 1;
            state.count += count;
            self.moved.notify_all();
            self.write_bytes(&mut state, &bytes)?;
        }
    }

    /// No block waits for its turn any more, because there was an error.
    pub(crate) fn give_up(&self) {
        self.state.lock().given_up = true;
        self.moved.notify_all();
    }

    /// Makes durable what was written, if the file is appended to.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn flush(&self) -> Result<()> {
        match &mut self.state.lock().out {
            Some(RejectsOut::Appended(end, file)) => {
                end.flush().map_err(|error| self.failed(error))?;
                file.sync()
            }
            Some(RejectsOut::New(_)) | None => Ok(()),
        }
    }

    /// Completes the file.
    ///
    /// # Errors
    /// [`Error::Io`], or if its name has been taken meanwhile.
    pub fn finish(&self) -> Result<()> {
        self.flush()?;
        match self.state.lock().out.take() {
            Some(RejectsOut::New(file)) => file.finish().map(drop),
            Some(RejectsOut::Appended(..)) | None => Ok(()),
        }
    }

    fn rendered<'r>(&self, rows: impl IntoIterator<Item = &'r Rejected>) -> (u64, Vec<u8>) {
        let (mut count, mut out) = (0, Vec::new());
        for row in rows {
            count += 1;
            push_field(&mut out, row.path.display().to_string().as_bytes());
            out.extend(format!(",{},", row.line).bytes());
            push_field(&mut out, (self.say)(&row.reason).as_bytes());
            out.push(b',');
            push_field(&mut out, row.text.as_bytes());
            out.push(b'\n');
        }
        (count, out)
    }

    fn write_bytes(&self, state: &mut RejectsState, bytes: &[u8]) -> Result<()> {
        let done = match &mut state.out {
            Some(RejectsOut::New(file)) => file.write_all(bytes),
            Some(RejectsOut::Appended(end, _)) => end.write_all(bytes),
            None => Ok(()),
        };
        done.map_err(|error| self.failed(error))
    }

    fn failed(&self, source: std::io::Error) -> Error {
        Error::Io { action: "write", path: self.path.clone(), source }
    }
}

/// Refuses a file that is read, or lies in the database.
fn check_place(path: &Path, database: &Path, inputs: &[String]) -> Result<()> {
    if path.as_os_str() == "-" {
        let reason = "rejected rows go to a file, and - is standard output: name a file";
        return Err(Error::usage(reason));
    }
    let own = path.canonicalize().ok();
    if inputs.iter().any(|input| own.is_some() && Path::new(input).canonicalize().ok() == own) {
        let reason = format!("{} is read, so rejected rows cannot go there", path.display());
        return Err(Error::usage(reason));
    }
    // One that is to be made is not there yet.
    let named = |path: &Path| Some((parent(path).canonicalize().ok()?, path.file_name()?.to_owned()));
    if named(path).is_some() && named(path) == named(database) {
        let reason = format!("{} is the database itself: name a file", path.display());
        return Err(Error::usage(reason));
    }
    let place = own.or_else(|| parent(path).canonicalize().ok());
    // A database in memory has no path, and one that is to be made is not there yet.
    if let (Some(place), Ok(database)) = (place, database.canonicalize())
        && place.starts_with(database)
    {
        let reason = format!("{} lies in the database itself: name a file elsewhere", path.display());
        return Err(Error::usage(reason));
    }
    expect_outside_databases(&RealDisk, path)
}

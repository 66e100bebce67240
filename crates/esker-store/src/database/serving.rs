//! Takes the commits of other processes from the queue of the database.

use std::thread::sleep;
use std::time::Duration;

use esker_format::{Error, Result};
use esker_graph::Cancel;

use super::handle::Database;
use crate::commit::Announce;
use crate::queue::{Answer, QueueFiles, TakenRequest, take_request};

/// How often the queue is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// The same, when nothing has come for a while.
const LOOK_AT_LEAST_EVERY: Duration = Duration::from_millis(50);
/// How often it is tried to serve the queue, while others look whether somebody does.
const LOOKS: usize = 50;
/// Memory for each byte of a request while it is read: the byte, and what a batch of it takes while it grows.
const MEMORY_PER_BYTE: u64 = 4;

/// Renames a request to the version that it becomes.
struct Noted<'a> {
    queue: &'a QueueFiles,
    request: &'a mut TakenRequest,
}

impl Announce for Noted<'_> {
    fn begin(&mut self, version: u64) -> Result<()> {
        self.queue.note(self.request, Some(version))
    }

    fn end(&mut self) -> Result<()> {
        self.queue.note(self.request, None)
    }
}

impl Database {
    /// Commits what other processes hand over ([`crate::QueuedDatabase`]), until `stop` is cancelled: in
    /// turn with the commits of other threads. Returns the number of these commits, `None` if another thread
    /// serves this queue. For a thread of its own, which mostly sleeps.
    ///
    /// ```
    /// # use esker_store::{Database, DatabaseOptions, QueuedDatabase};
    /// # let (directory, csv) = (tempfile::tempdir()?, *b"source,target\nalice,bob\nbob,carol\n");
    /// # let path = directory.path().join("web.esker");
    /// # let edges = [esker_import::Input::memory("web.csv", csv)];
    /// # esker_import::import_inputs(&edges, &path, &Default::default(), &Default::default())?;
    /// use esker_graph::Cancel;
    ///
    /// let db = Database::open(&path, DatabaseOptions::default())?;
    /// let stop = Cancel::default();
    /// std::thread::scope(|scope| {
    ///     let serving = scope.spawn(|| db.serve_queue(&stop));
    ///     // In another process:
    ///     let other = loop {
    ///         match QueuedDatabase::open(&path, DatabaseOptions::default(), stop.clone())? {
    ///             Some(other) => break other,
    ///             None => std::thread::yield_now(), // not yet served
    ///         }
    ///     };
    ///     let mut batch = other.batch()?;
    ///     batch.remove_edge("alice", "bob")?;
    ///     let committed = other.commit_with(batch, &Default::default())?;
    ///     assert_eq!(committed.version, 2);
    ///     stop.cancel();
    ///     assert_eq!(serving.join().expect("no panic")?, Some(1));
    ///     Ok::<(), esker_store::Error>(())
    /// })?;
    /// assert_eq!(db.latest()?.num_edges(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Io`] if the directory of the queue cannot be made or is gone; [`Error::Invalid`] if it is a
    /// symbolic link, or the database is not this writer's any more. Then nobody serves the queue, and those
    /// who wait take their changes back. What is wrong with a request is answered to its sender.
    pub fn serve_queue(&self, stop: &Cancel) -> Result<Option<u64>> {
        let queue = QueueFiles::of(self.core.disk.clone(), self.path());
        let mut served = queue.serve()?;
        for _ in 0..LOOKS {
            if served.is_none() && !stop.is_cancelled() {
                sleep(LOOK_EVERY);
                served = queue.serve()?;
            }
        }
        let Some(_served) = served else { return Ok(None) };
        let newest = self.newest_given();
        let mut is_settled = queue.settle(newest);
        let (mut commits, mut idle, mut unanswered) = (0, LOOK_EVERY, Vec::new());
        while !stop.is_cancelled() {
            // A disk that is full for a moment keeps nobody from the answer.
            unanswered.retain(|(request, answer)| queue.answer(request, answer).is_err());
            if !is_settled {
                let is_own =
                    |id: &_| unanswered.iter().any(|(request, _): &(TakenRequest, _)| request.id == *id);
                is_settled = queue.settle_but(newest, is_own);
            }
            let taken = match queue.take() {
                Err(error @ Error::Io { .. }) if !queue.exists().unwrap_or(false) => return Err(error),
                Err(Error::Io { .. }) => Vec::new(),
                taken => taken?,
            };
            idle = if taken.is_empty() { (idle + idle / 8).min(LOOK_AT_LEAST_EVERY) } else { LOOK_EVERY };
            if taken.is_empty() {
                sleep(idle);
            }
            for mut request in taken {
                let answer = self.carry_out(&queue, &mut request);
                commits += u64::from(matches!(answer, Answer::Committed(_)));
                if queue.answer(&request, &answer).is_err() {
                    unanswered.push((request, answer));
                }
            }
        }
        Ok(Some(commits))
    }

    /// The newest version that was ever committed.
    pub(crate) fn newest_given(&self) -> u64 {
        self.core.writer.lock().next_version - 1
    }

    /// Whether no failure of an earlier commit keeps this handle from committing.
    pub(crate) fn can_commit(&self) -> bool {
        self.core.writer.lock().expect_sound().is_ok()
    }

    fn carry_out(&self, queue: &QueueFiles, request: &mut TakenRequest) -> Answer {
        let mut noted = Noted { queue, request };
        match self.commit_request(&mut noted) {
            Ok(committed) => Answer::Committed(committed),
            // The record may be in the log.
            Err(error) if noted.request.version.is_some() => Answer::Unknown(error),
            Err(error) => Answer::Refused(error),
        }
    }

    fn commit_request(&self, noted: &mut Noted<'_>) -> Result<crate::commit::Committed> {
        let memory = MEMORY_PER_BYTE.saturating_mul(noted.queue.bytes(noted.request)?);
        let held = self.reserve("changes of another process", memory)?;
        let (path, bytes) = noted.queue.read(noted.request)?;
        let mut batch = self.batch();
        let options = take_request(&path, &bytes, &mut batch)?;
        drop((bytes, held));
        // From here on as a batch of this process.
        self.make_room(&mut batch)?;
        if batch.is_empty() {
            return Err(Error::invalid("there is nothing to commit".to_owned()));
        }
        self.commit_announced(batch, &options, noted)
    }
}

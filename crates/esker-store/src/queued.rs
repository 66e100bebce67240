//! The database as a process sees it that may not write to it, because another one does: it hands over what
//! it would commit.

use parking_lot::Mutex;
use std::path::Path;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use esker_format::io::{Disk, RealDisk};
use esker_format::{Error, ErrorKind, LockHolder, Owner, Result};
use esker_graph::{Budget, Cancel, Run, Stop};

use crate::commit::{Batch, CommitOptions, Committed};
use crate::database::{Database, DatabaseOptions};
use crate::manifest::{Manifest, lock_writer};
use crate::queue::{Answer, QueueFiles, RequestFate, SentRequest, put_request, take_request};
use crate::store::Store;
use crate::version::Version;

/// How often the answer is looked for, and whether the holder is gone.
const ANSWER_EVERY: Duration = Duration::from_millis(2);
const HOLDER_EVERY: Duration = Duration::from_millis(50);
/// How long a process may have the database open that takes over no commits any more: it may be closing it.
const PATIENCE: Duration = Duration::from_secs(5);

/// Why what was handed over was not committed, or not to anyone's knowledge.
struct HandingFailure {
    error: Error,
    is_unknown: bool,
}

/// What became of a request, as far as it is known.
type Handed = std::result::Result<Committed, HandingFailure>;

/// A database that another process, or another handle of this one, has open to write, and whose queue it
/// serves ([`Database::serve_queue`]). Commits go through that process, and are as durable as its own. If it
/// ends meanwhile, this handle opens the database for as long as the commit takes.
#[derive(Debug)]
pub struct QueuedDatabase {
    disk: Arc<dyn Disk>,
    options: DatabaseOptions,
    withdrawal: Cancel,
    /// The database as it was after the last commit of this handle.
    store: Mutex<Arc<Store>>,
}

impl QueuedDatabase {
    /// Opens the database in the directory `path`; `None` if nobody serves its queue. `options` hold if the
    /// process that does ends; the budget also for batches, and the watch for all commits. Cancelling
    /// `withdrawal` takes back what is being handed over, unless that process has begun with it.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open(
        path: impl AsRef<Path>,
        options: DatabaseOptions,
        withdrawal: Cancel,
    ) -> Result<Option<Self>> {
        Self::open_on(Arc::new(RealDisk), path.as_ref(), options, withdrawal)
    }

    pub(crate) fn open_on(
        disk: Arc<dyn Disk>,
        path: &Path,
        options: DatabaseOptions,
        withdrawal: Cancel,
    ) -> Result<Option<Self>> {
        let store = Store::open_on(Arc::clone(&disk), path)?;
        if !QueueFiles::of(Arc::clone(&disk), path).is_served()? {
            return Ok(None);
        }
        Ok(Some(Self { disk, options, withdrawal, store: Mutex::new(Arc::new(store)) }))
    }

    /// Whether a process has served the queue of a database, and none does now. Who has the database open to
    /// write may then be about to serve it, or to close it after that process died.
    ///
    /// # Errors
    /// [`Error::Io`] if the queue cannot be looked at.
    pub fn is_deserted(path: impl AsRef<Path>) -> Result<bool> {
        QueueFiles::of(Arc::new(RealDisk), path.as_ref()).is_deserted()
    }

    /// The database as it was after the last commit of this handle, or when it was opened.
    pub fn store(&self) -> Arc<Store> {
        Arc::clone(&self.store.lock())
    }

    /// [`DatabaseOptions::budget`].
    pub fn budget(&self) -> &Budget {
        &self.options.budget
    }

    /// The newest version that this handle knows.
    ///
    /// # Errors
    /// As [`Store::latest`].
    pub fn latest(&self) -> Result<Version> {
        self.store().latest()
    }

    /// The manifest that this handle knows.
    ///
    /// # Errors
    /// As [`Store::whole_manifest`].
    pub fn manifest(&self) -> Result<Arc<Manifest>> {
        Ok(Arc::clone(self.store().whole_manifest()?))
    }

    /// An empty batch of changes.
    ///
    /// # Errors
    /// As [`Store::latest`].
    pub fn batch(&self) -> Result<Batch> {
        let (newest, manifest) = (self.latest()?, self.manifest()?);
        let edges = manifest.properties.iter().filter(|property| property.owner == Owner::Edges);
        Ok(Batch::new(edges.cloned().collect(), newest.ids().is_text(), manifest.duplicates()))
    }

    /// Reserves the memory of a batch that still grows from [`DatabaseOptions::budget`].
    ///
    /// # Errors
    /// [`Stop::OverBudget`].
    pub fn make_room(&self, batch: &mut Batch) -> Result<()> {
        let needed = batch.bytes() as u64;
        let held = batch.memory.reserved.as_ref().map_or(0, esker_graph::Reservation::bytes);
        if needed > held {
            let more = self.budget().reserve("changes for another process", needed - held)?;
            match &mut batch.memory.reserved {
                Some(own) => own.absorb(more),
                own => *own = Some(more),
            }
        }
        Ok(())
    }

    /// Has the process that writes to the database commit a batch, and waits for its answer.
    ///
    /// # Errors
    /// As [`Database::commit_with`]; [`Error::Io`] if the queue cannot be written to.
    pub fn commit_with(&self, batch: Batch, options: &CommitOptions) -> Result<Committed> {
        // The bytes of the request are about those of the batch, twice while they grow.
        let held = self.budget().reserve("changes for another process", 2 * batch.bytes() as u64)?;
        let request = put_request(&batch, options);
        drop((batch, held));
        let _held = self.budget().reserve("changes for another process", request.len() as u64)?;
        let queue = QueueFiles::of(Arc::clone(&self.disk), self.store().path());
        let watch = self.options.watch.as_deref();
        // Before the request is sent: from then on a signal may find it committed.
        watch.inspect(|watch| watch.begin());
        let committed = match queue.send(&request) {
            Ok(sent) => self.answer_to(&sent, &request),
            Err(error) => Err(HandingFailure { error, is_unknown: false }),
        };
        match (&committed, watch) {
            (Ok(committed), Some(watch)) => watch.end(Some(committed.version)),
            (Err(HandingFailure { is_unknown: true, .. }), Some(watch)) => watch.end(None),
            (Err(_), Some(watch)) => watch.withdraw(),
            (_, None) => {}
        }
        let committed = committed.map_err(|failure| failure.error)?;
        // What is committed is so, whether or not it can be read now.
        if let Ok(store) = Store::open_on(Arc::clone(&self.disk), queue.database()) {
            *self.store.lock() = Arc::new(store);
        }
        Ok(committed)
    }

    /// Waits for the answer. An error of this process leaves open what the other one does, unless the request
    /// can be taken back.
    fn answer_to(&self, sent: &SentRequest, request: &[u8]) -> Handed {
        let answered = self.wait_for_answer(sent, request);
        answered.unwrap_or_else(|error| Err(HandingFailure { error, is_unknown: !sent.give_up() }))
    }

    /// The outer error is of this process.
    fn wait_for_answer(&self, sent: &SentRequest, request: &[u8]) -> Result<Handed> {
        let known = |error| Ok(Err(HandingFailure { error, is_unknown: false }));
        let (mut looked, mut served) = (Instant::now(), Instant::now());
        loop {
            match sent.answer()? {
                Some(Answer::Committed(committed)) => return Ok(Ok(committed)),
                Some(Answer::Refused(error)) if error.kind() == ErrorKind::OverBudget => {
                    return known(
                        error.and(" (that is the limit of the process that writes to the database)"),
                    );
                }
                Some(Answer::Refused(error)) => return known(error),
                Some(Answer::Unknown(error)) => {
                    let error = error.and(
                        " (the process that writes to the database could not finish the commit: the next \
                         opening finds the version or does not)",
                    );
                    return Ok(Err(HandingFailure { error, is_unknown: true }));
                }
                None => {}
            }
            if self.withdrawal.is_cancelled() && sent.withdraw() {
                return known(Error::Stop(Stop::Cancelled));
            }
            if looked.elapsed() >= HOLDER_EVERY {
                if let Some(committed) = self.commit_alone(sent, request)? {
                    return Ok(committed);
                }
                looked = Instant::now();
                if sent.is_served()? {
                    served = looked;
                } else if served.elapsed() >= PATIENCE {
                    return Ok(Err(self.given_up(sent)));
                }
            }
            sleep(ANSWER_EVERY);
        }
    }

    /// What to say of a request that nobody takes any more, though somebody has the database open.
    fn given_up(&self, sent: &SentRequest) -> HandingFailure {
        let path = self.store().path().to_owned();
        match sent.give_up() {
            true => {
                let error = Error::Locked { path, holder: LockHolder::OtherProcess };
                HandingFailure { error, is_unknown: false }
            }
            false => {
                let name = path.display();
                let reason = format!(
                    "the process that has {name} open to write began with the commit, and has stopped taking \
                     over commits: end it, and see whether the changes are there"
                );
                HandingFailure { error: Error::invalid(reason), is_unknown: true }
            }
        }
    }

    /// Commits a request if nobody has the database open to write any more. `None` if somebody has, or has
    /// left an answer.
    fn commit_alone(&self, sent: &SentRequest, request: &[u8]) -> Result<Option<Handed>> {
        let store = self.store();
        // Most often it is locked, and threads for the opening would be made for nothing.
        match lock_writer(&self.disk, store.path()) {
            Err(Error::Locked { .. }) => return Ok(None),
            locked => drop(locked?),
        }
        let run = Run::with_threads(self.options.threads)?;
        let options = DatabaseOptions { watch: None, ..self.options.clone() };
        let database = match Database::open_with(&self.disk, store.path(), options, &run) {
            Err(Error::Locked { .. }) => return Ok(None),
            opened => opened?,
        };
        // Opening it has settled what the process before had begun.
        match sent.fate(database.newest_given())? {
            RequestFate::Answered => return Ok(None),
            RequestFate::Committed(version) => {
                return Ok(Some(Ok(Committed { version, duplicates: None, removed: None, not_found: None })));
            }
            RequestFate::Untouched => {}
            RequestFate::Lost => {
                let reason = "somebody has removed files from the queue of the database: it is not known whether \
                              the process that had it open has committed the changes";
                let error = Error::invalid(reason.to_owned());
                return Ok(Some(Err(HandingFailure { error, is_unknown: true })));
            }
        }
        let mut batch = database.batch();
        let committed = take_request(store.path(), request, &mut batch)
            .map_err(|error| HandingFailure { error, is_unknown: false })
            .and_then(|options| {
                let newest = database.versions().last().map(|newest| newest.number);
                database.commit_with(batch, &options).map_err(|error| {
                    // Only a commit that was refused leaves the database able to commit.
                    let is_unknown = !database.can_commit()
                        || database.versions().last().map(|newest| newest.number) != newest;
                    HandingFailure { error, is_unknown }
                })
            });
        // What is committed is so, whether or not the database closes well.
        let _ = database.close();
        Ok(Some(committed))
    }
}

//! The files of a queue.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, UNIX_EPOCH};

use esker_format::io::{Disk, Lock};
use esker_format::{Error, Result};

use super::request::Answer;
use crate::commit::Committed;
use crate::manifest::QUEUE_NAME;

const SERVED: &str = "served";
/// How often, and at which interval, it is tried whether the lock of [`SERVED`] is free.
const LOOKS: usize = 3;
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// Says which request a file belongs to. Ids ascend in time, so requests are taken in turn.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RequestId(String);

/// A request that a client can no longer withdraw.
#[derive(Debug)]
pub(crate) struct TakenRequest {
    pub(crate) id: RequestId,
    /// The version that it becomes, if any, once that is known.
    pub(crate) version: Option<u64>,
}

/// The kinds of files of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RequestFile {
    Client,
    Request,
    Taken(Option<u64>),
    Answer,
    /// One that is being written.
    New,
}

impl RequestFile {
    fn is_taken(self) -> bool {
        matches!(self, Self::Taken(_))
    }
}

impl RequestId {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let now = UNIX_EPOCH.elapsed().map_or(0, |age| age.as_nanos() as u64);
        let (process, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        Self(format!("{now:016x}{process:08x}{count:08x}"))
    }

    fn name(&self, file: RequestFile) -> String {
        let id = &self.0;
        match file {
            RequestFile::Client => format!("{id}.client"),
            RequestFile::Request => format!("{id}.request"),
            RequestFile::Taken(None) => format!("{id}.taken"),
            RequestFile::Taken(Some(version)) => format!("{id}.{version}.taken"),
            RequestFile::Answer => format!("{id}.answer"),
            RequestFile::New => format!("{id}.new"),
        }
    }
}

/// What a name in the directory says; `None`: it is not Esker's.
fn parse(name: &str) -> Option<(RequestId, RequestFile)> {
    let parts: Vec<&str> = name.split('.').collect();
    let id = parts[0];
    if id.len() != 32 || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let file = match parts[1..] {
        ["client"] => RequestFile::Client,
        ["request"] => RequestFile::Request,
        ["taken"] => RequestFile::Taken(None),
        [version, "taken"] => RequestFile::Taken(Some(version.parse().ok()?)),
        ["answer"] => RequestFile::Answer,
        ["new"] => RequestFile::New,
        _ => return None,
    };
    Some((RequestId(id.to_owned()), file))
}

/// The queue of a database, whether there is one or not.
#[derive(Debug, Clone)]
pub(crate) struct QueueFiles {
    disk: Arc<dyn Disk>,
    database: PathBuf,
    directory: PathBuf,
}

impl QueueFiles {
    pub(crate) fn of(disk: Arc<dyn Disk>, database: &Path) -> Self {
        Self { disk, database: database.to_owned(), directory: database.join(QUEUE_NAME) }
    }

    /// The directory of the database.
    pub(crate) fn database(&self) -> &Path {
        &self.database
    }

    fn path(&self, id: &RequestId, file: RequestFile) -> PathBuf {
        self.directory.join(id.name(file))
    }

    pub(crate) fn exists(&self) -> Result<bool> {
        Ok(self.disk.look(&self.directory)?.is_some_and(|entry| entry.is_directory))
    }

    /// The files of each request.
    fn requests(&self) -> Result<BTreeMap<RequestId, Vec<RequestFile>>> {
        let mut requests = BTreeMap::<_, Vec<_>>::new();
        for (id, file) in self.disk.list(&self.directory)?.iter().filter_map(|entry| parse(&entry.name)) {
            requests.entry(id).or_default().push(file);
        }
        Ok(requests)
    }

    /// Announces that requests are taken, until the lock is dropped. `None` if another thread takes them, or
    /// somebody is looking whether one does.
    pub(crate) fn serve(&self) -> Result<Option<Box<dyn Lock>>> {
        if !self.exists()? {
            self.disk.create_directory_like(&self.directory, &self.database)?;
        }
        if self.disk.follow(&self.directory)? != self.directory {
            return Err(Error::invalid(format!(
                "{} is a symbolic link: remove it, so that the requests of other processes lie in the database",
                self.directory.display()
            )));
        }
        if self.is_shared()? {
            // The lock would be seen in the other database too.
            self.disk.remove_file(&self.directory.join(SERVED))?;
        }
        self.disk.try_lock(&self.directory.join(SERVED))
    }

    /// Whether the file that the holder locks has names in other databases, as in a copy made of hard links:
    /// then its lock says nothing.
    fn is_shared(&self) -> Result<bool> {
        let served = self.disk.identify(&self.directory.join(SERVED))?;
        Ok(served.is_some_and(|file| file.links > 1))
    }

    /// Whether some process took requests once, and none does now.
    pub(crate) fn is_deserted(&self) -> Result<bool> {
        Ok(self.exists()? && !self.is_served()?)
    }

    /// Whether some process takes requests.
    pub(crate) fn is_served(&self) -> Result<bool> {
        let served = self.directory.join(SERVED);
        if !self.exists()? || self.disk.look(&served)?.is_none() || self.is_shared()? {
            return Ok(false);
        }
        // Others who look at the same moment hold the lock too, for a few microseconds.
        for _ in 0..LOOKS {
            if self.disk.try_lock(&served)?.is_some() {
                return Ok(false);
            }
            sleep(LOOK_AGAIN);
        }
        Ok(true)
    }

    /// Whether somebody waits for the answer to a request.
    fn is_awaited(&self, id: &RequestId) -> Result<bool> {
        let client = self.path(id, RequestFile::Client);
        Ok(self.disk.look(&client)?.is_some() && self.disk.try_lock(&client)?.is_none())
    }

    /// Takes the requests that wait, oldest first. Removes those that nobody waits for.
    pub(crate) fn take(&self) -> Result<Vec<TakenRequest>> {
        let mut taken = Vec::new();
        for (id, files) in self.requests()? {
            if !files.contains(&RequestFile::Request) {
                // What clients that are gone have left.
                if !self.is_awaited(&id).unwrap_or(true) && !files.iter().any(|file| file.is_taken()) {
                    self.remove(&id, &files);
                }
                continue;
            }
            if !self.is_awaited(&id).unwrap_or(false) {
                self.remove(&id, &files);
                continue;
            }
            let (request, own) =
                (self.path(&id, RequestFile::Request), self.path(&id, RequestFile::Taken(None)));
            match self.disk.rename(&request, &own) {
                Ok(()) => taken.push(TakenRequest { id, version: None }),
                // It was withdrawn at this moment.
                Err(_) if self.disk.look(&request)?.is_none() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(taken)
    }

    /// The bytes of a request that was taken, and the path to them.
    pub(crate) fn read(&self, request: &TakenRequest) -> Result<(PathBuf, Vec<u8>)> {
        let path = self.path(&request.id, RequestFile::Taken(request.version));
        let bytes = self.disk.read(&path)?;
        Ok((path, bytes))
    }

    /// The bytes that the request takes on the disk.
    pub(crate) fn bytes(&self, request: &TakenRequest) -> Result<u64> {
        let entry = self.disk.look(&self.path(&request.id, RequestFile::Taken(request.version)))?;
        Ok(entry.map_or(0, |entry| entry.bytes))
    }

    /// Notes which version a request is about to become, or that it becomes none.
    pub(crate) fn note(&self, request: &mut TakenRequest, version: Option<u64>) -> Result<()> {
        let [from, to] =
            [request.version, version].map(|one| self.path(&request.id, RequestFile::Taken(one)));
        self.disk.rename(&from, &to)?;
        request.version = version;
        Ok(())
    }

    /// Answers a request.
    pub(crate) fn answer(&self, request: &TakenRequest, answer: &Answer) -> Result<()> {
        let new = self.path(&request.id, RequestFile::New);
        if self.disk.look(&new)?.is_some() {
            // Of an attempt that failed, or whose process died.
            self.disk.remove_file(&new)?;
        }
        let file = self.disk.create(&new)?;
        file.write_at(&answer.put(), 0)?;
        self.disk.replace(&new, &self.path(&request.id, RequestFile::Answer))?;
        self.disk.remove_file(&self.path(&request.id, RequestFile::Taken(request.version)))
    }

    /// Brings the queue in order when a process has just opened the database to write, before it does
    /// anything else: says of requests that a holder took who then died what became of them, and removes
    /// those that nobody waits for. `newest` is the newest version. What cannot be read or changed there
    /// stays as it is: it keeps nobody from opening the database. Returns whether nothing stays.
    pub(crate) fn settle(&self, newest: u64) -> bool {
        self.settle_but(newest, |_| false)
    }

    /// The same, but for requests that this process has taken.
    pub(crate) fn settle_but(&self, newest: u64, is_own: impl Fn(&RequestId) -> bool) -> bool {
        let requests = if self.exists().unwrap_or(false) { self.requests() } else { return true };
        let mut is_settled = true;
        for (id, files) in requests.unwrap_or_default() {
            if is_own(&id) {
                continue;
            }
            match self.is_awaited(&id) {
                Ok(true) => is_settled &= self.settle_one(id, &files, newest).is_ok(),
                Ok(false) => self.remove(&id, &files),
                Err(_) => is_settled = false,
            }
        }
        is_settled
    }

    fn settle_one(&self, id: RequestId, files: &[RequestFile], newest: u64) -> Result<()> {
        let taken = files.iter().find_map(|file| match file {
            RequestFile::Taken(version) => Some(*version),
            _ => None,
        });
        let Some(version) = taken else { return Ok(()) };
        let request = TakenRequest { id, version };
        if files.contains(&RequestFile::Answer) {
            // The holder died between the answer and the removal of the request.
            self.disk.remove_file(&self.path(&request.id, RequestFile::Taken(version)))?;
        } else if let Some(version) = version.filter(|&version| version <= newest) {
            // What the holder counted is not known any more.
            let committed = Committed { version, duplicates: None, removed: None, not_found: None };
            self.answer(&request, &Answer::Committed(committed))?;
        } else {
            let own = self.path(&request.id, RequestFile::Taken(version));
            self.disk.rename(&own, &self.path(&request.id, RequestFile::Request))?;
        }
        Ok(())
    }

    /// Removes the files of a request. Another process may remove them too.
    fn remove(&self, id: &RequestId, files: &[RequestFile]) {
        for file in files {
            let _ = self.disk.remove_file(&self.path(id, *file));
        }
    }

    /// Hands a request over.
    pub(crate) fn send(&self, bytes: &[u8]) -> Result<SentRequest> {
        let (id, client) = loop {
            let id = RequestId::new();
            if let Some(lock) = self.disk.try_lock(&self.path(&id, RequestFile::Client))? {
                break (id, lock);
            }
        };
        let sent = SentRequest { queue: self.clone(), id, _client: client };
        let new = self.path(&sent.id, RequestFile::New);
        let file = self.disk.create(&new)?;
        file.write_at(bytes, 0)?;
        self.disk.rename(&new, &self.path(&sent.id, RequestFile::Request))?;
        Ok(sent)
    }
}

/// What became of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestFate {
    /// It has an answer.
    Answered,
    /// It became a version.
    Committed(u64),
    /// It became none, and now nobody else can take it.
    Untouched,
    /// Somebody has removed its file.
    Lost,
}

/// A request whose answer somebody waits for. Dropping it withdraws it, if it has not been taken.
#[derive(Debug)]
pub(crate) struct SentRequest {
    queue: QueueFiles,
    id: RequestId,
    _client: Box<dyn Lock>,
}

impl SentRequest {
    /// The answer, once it is there.
    pub(crate) fn answer(&self) -> Result<Option<Answer>> {
        let path = self.queue.path(&self.id, RequestFile::Answer);
        if self.queue.disk.look(&path)?.is_none() {
            return Ok(None);
        }
        Answer::take(&path, &self.queue.disk.read(&path)?).map(Some)
    }

    /// Whether some process takes requests.
    pub(crate) fn is_served(&self) -> Result<bool> {
        self.queue.is_served()
    }

    /// Takes the request back from a process that has stopped taking requests; `false` if it may have been
    /// committed.
    pub(crate) fn give_up(&self) -> bool {
        let files = [RequestFile::Request, RequestFile::Taken(None)];
        files.iter().any(|&file| self.queue.disk.remove_file(&self.queue.path(&self.id, file)).is_ok())
    }

    /// What became of the request, seen by a process that has the database open to write and has settled the
    /// queue: `newest` was the newest version then.
    pub(crate) fn fate(&self, newest: u64) -> Result<RequestFate> {
        if self.answer()?.is_some() {
            return Ok(RequestFate::Answered);
        }
        // An answer could not be written, as on a full disk.
        let files = self.queue.requests()?.remove(&self.id).unwrap_or_default();
        let taken = files.iter().find_map(|file| match file {
            RequestFile::Taken(version) => Some(*version),
            _ => None,
        });
        match taken {
            Some(Some(version)) if version <= newest => Ok(RequestFate::Committed(version)),
            Some(version) => {
                self.queue.disk.remove_file(&self.queue.path(&self.id, RequestFile::Taken(version)))?;
                Ok(RequestFate::Untouched)
            }
            None if self.withdraw() => Ok(RequestFate::Untouched),
            None => Ok(RequestFate::Lost),
        }
    }

    /// Takes the request back; `false` if a holder has taken it.
    pub(crate) fn withdraw(&self) -> bool {
        self.queue.disk.remove_file(&self.queue.path(&self.id, RequestFile::Request)).is_ok()
    }
}

impl Drop for SentRequest {
    fn drop(&mut self) {
        // A request that a holder has taken stays until it is answered, and is removed after that.
        let own = [RequestFile::Request, RequestFile::New, RequestFile::Answer, RequestFile::Client];
        self.queue.remove(&self.id, &own);
    }
}

//! Workers on other machines, as the command sees them.
//!
//! Where a shard lies, `esker cluster worker` waits ([`mod@crate::process::host`]). The command has it start
//! a worker process, connects to that, and keeps the first connection too: on it, it hears how the worker
//! ended, and the worker is killed when it ends.

use parking_lot::Mutex;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::Builder;
use std::time::{Duration, Instant};

use esker_format::{Error, ErrorKind, Reported, Result};
use esker_graph::{Cancel, Message, Operation, message};

use crate::disk::cluster::Cluster;
use crate::disk::job::{ClusterJob, ShardTask};
use crate::model::excerpt::Excerpt;
use crate::net::connection::{Connection, UNREACHABLE};
use crate::net::handshake::{COMMAND, KEEPER, Secret, connect};
use crate::net::hosts::Host;
use crate::process::control::{StartOrder, WorkerOrder, WorkerReport};
use crate::process::shard_requests::Give;

/// How long a machine may take to start a worker that connects.
pub(crate) const OPEN_TIMEOUT: Duration = Duration::from_secs(4);
/// The same for a shard that is taken back after a failure, which may have been that of the machine.
const ROLL_BACK_TIMEOUT: Duration = Duration::from_millis(1200);
/// How long workers that are ended may take.
const KILL_TIMEOUT: Duration = Duration::from_millis(300);
/// How long workers that are done may take to end.
pub(crate) const END_TIMEOUT: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// What workers are given to do.
pub(crate) struct Brief {
    pub(crate) secret: Secret,
    epoch: u64,
    manifest: Option<Excerpt>,
    job: ClusterJob,
}

impl Brief {
    /// A job of a cluster, with the part of the manifest that it needs.
    pub(crate) fn of(cluster: &Cluster, job: ClusterJob) -> Result<Self> {
        let newest = cluster.manifest().newest().number;
        let manifest = Some(Excerpt::of(cluster.manifest(), job.first_version(newest)));
        Ok(Self { secret: cluster.secret()?, epoch: cluster.epoch(), manifest, job })
    }

    /// A task before there is a manifest, or when there will be none.
    pub(crate) fn without_cluster(secret: Secret, job: ClusterJob) -> Self {
        Self { secret, epoch: 0, manifest: None, job }
    }

    pub(crate) fn start(&self, addresses: Vec<SocketAddr>) -> WorkerOrder {
        let (manifest, job) = (self.manifest.clone(), self.job.clone());
        WorkerOrder::Start(Box::new(StartOrder { addresses, epoch: self.epoch, manifest, job }))
    }
}

/// What is known of a worker from the process that started it.
enum Fate {
    Alive,
    Ended { is_signal: bool, how: String },
    Unknown,
}

/// A worker process on another machine. Dropping it ends it.
pub(crate) struct RemoteWorker {
    name: String,
    keeper: Connection,
    pub(crate) line: Connection,
    fate: Arc<Mutex<Fate>>,
}

impl RemoteWorker {
    /// Has the machine start a worker, and connects to it.
    ///
    /// # Errors
    /// The message names the machine.
    pub(crate) fn open(host: &Host, shard: usize, secret: &Secret, until: Instant) -> Result<Self> {
        let failed = |reason: Message| Error::invalid(message![format!("shard {shard} on {host}: "), reason]);
        let (mut keeper, mut refusal) = (None, Error::invalid(format!("{host} has no address")));
        for address in host.addresses()? {
            match connect(address, secret, KEEPER, until) {
                Ok(stream) => {
                    keeper = Some(stream);
                    break;
                }
                Err(error) => refusal = error,
            }
        }
        let keeper = keeper.ok_or_else(|| {
            failed(message![
                refusal.message(),
                "; is ",
                Operation::ClusterWorker,
                " running there, with the secret of the cluster?",
            ])
        })?;
        let of_system = |error: std::io::Error| failed(error.to_string().into());
        let left = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        let told = keeper.stream();
        told.set_read_timeout(Some(left)).map_err(of_system)?;
        WorkerOrder::Hold { shard, directory: host.directory.clone() }.send(told).map_err(of_system)?;
        let port = match WorkerReport::receive(told).map_err(|error| failed(error.message()))? {
            WorkerReport::Listening(port) => port,
            WorkerReport::Failed(Reported { message, .. }) => return Err(failed(message)),
            _ => return Err(failed("it answers in another way: all must run the same Esker".into())),
        };
        told.set_read_timeout(None).and_then(|()| keeper.watch_peer(true)).map_err(of_system)?;
        let line = connect(SocketAddr::new(keeper.peer().ip(), port), secret, COMMAND, until)
            .map_err(|error| failed(error.message()))?;
        let fate = Arc::new(Mutex::new(Fate::Alive));
        let (hearing, told) = (told.try_clone().map_err(of_system)?, Arc::clone(&fate));
        let hear = move || {
            let found = match WorkerReport::receive(&hearing) {
                Ok(WorkerReport::Ended { is_signal, how }) => Fate::Ended { is_signal, how },
                _ => Fate::Unknown,
            };
            *told.lock() = found;
        };
        Builder::new().spawn(hear).map_err(of_system)?;
        Ok(Self { name: format!("the worker of shard {shard} on {host}"), keeper, line, fate })
    }

    /// Names the worker and its machine.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    fn is_alive(&self) -> bool {
        matches!(*self.fate.lock(), Fate::Alive)
    }

    /// How the worker ended, if a signal did that.
    pub(crate) fn killed(&self) -> Option<String> {
        match &*self.fate.lock() {
            Fate::Ended { is_signal: true, how } => Some(format!("{} {how}", self.name)),
            _ => None,
        }
    }

    /// Why the worker says nothing more, after `reason`.
    fn cause(&self, reason: &Error) -> Error {
        let until = Instant::now() + KILL_TIMEOUT;
        while self.is_alive() && Instant::now() < until {
            std::thread::sleep(LOOK_EVERY);
        }
        let how = match &*self.fate.lock() {
            Fate::Ended { how, .. } => how.clone(),
            _ => format!("is lost: {reason}"),
        };
        Error::invalid(format!("{} {how}", self.name))
    }
}

impl Drop for RemoteWorker {
    fn drop(&mut self) {
        // What started it kills it then.
        let _ = self.keeper.stream().shutdown(std::net::Shutdown::Write);
        let _ = self.line.stream().shutdown(std::net::Shutdown::Both);
    }
}

/// Waits until workers have ended by themselves.
pub(crate) fn wait_until_ended(workers: &[RemoteWorker]) {
    let until = Instant::now() + END_TIMEOUT;
    while workers.iter().any(RemoteWorker::is_alive) && Instant::now() < until {
        std::thread::sleep(LOOK_EVERY);
    }
}

/// Ends workers. Those on machines that can be reached have ended on return.
pub(crate) fn kill(workers: &[RemoteWorker]) {
    for worker in workers {
        let _ = worker.keeper.stream().shutdown(std::net::Shutdown::Write);
    }
    let until = Instant::now() + KILL_TIMEOUT;
    while workers.iter().any(RemoteWorker::is_alive) && Instant::now() < until {
        std::thread::sleep(LOOK_EVERY);
    }
}

/// Why a machine has not done a task.
pub(crate) enum Unanswered {
    /// It was not reached, or it said so.
    Refused(Error),
    /// It was told the task, and what it did is unknown.
    Lost(Error),
}

impl From<Unanswered> for Error {
    fn from(unanswered: Unanswered) -> Self {
        let (Unanswered::Refused(error) | Unanswered::Lost(error)) = unanswered;
        error
    }
}

/// Has a worker on another machine do a task alone, and takes the blocks of the answer.
///
/// # Errors
/// The message names the machine; that of `take`; cancellation.
pub(crate) fn ask_host(
    host: &Host,
    shard: usize,
    brief: &Brief,
    cancel: &Cancel,
    take: &mut Give<'_>,
) -> std::result::Result<(), Unanswered> {
    let timeout = match &brief.job {
        ClusterJob::Shard(ShardTask::RollBack) => ROLL_BACK_TIMEOUT,
        _ => OPEN_TIMEOUT,
    };
    let opened = RemoteWorker::open(host, shard, &brief.secret, Instant::now() + timeout);
    let worker = opened.map_err(Unanswered::Refused)?;
    let told = brief.start(Vec::new()).send(worker.line.stream());
    let heard = told.and_then(|()| worker.line.stream().set_read_timeout(Some(UNREACHABLE)));
    let lost = |error: &Error| Unanswered::Lost(worker.cause(error));
    heard.map_err(|error| lost(&Error::invalid(error.to_string())))?;
    loop {
        let report = WorkerReport::receive(worker.line.stream());
        cancel.check().map_err(|stop| Unanswered::Lost(stop.into()))?;
        match report.map_err(|error| lost(&error))? {
            WorkerReport::Rows(block) => take(block).map_err(Unanswered::Lost)?,
            WorkerReport::Done(_) => {
                wait_until_ended(std::slice::from_ref(&worker));
                return Ok(());
            }
            WorkerReport::Failed(Reported { kind, message }) => {
                let message = match kind {
                    ErrorKind::Usage => message,
                    _ => message![format!("{}: ", worker.name), message],
                };
                return Err(Unanswered::Refused(Error::reported(kind, message)));
            }
            _ => {}
        }
    }
}

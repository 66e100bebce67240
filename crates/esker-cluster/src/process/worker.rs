//! A worker process: holds one shard during one operation.
//!
//! It connects to the command, or on another machine is called by it. The command tells it what to do, and it
//! connects to the other workers. A thread tells the command every quarter of a second that it is alive;
//! another waits for orders, and ends the process at once when the command is gone. If the engine loses a
//! peer it panics: the panic hook reports that and ends the process before the engine can abort it.

use parking_lot::Mutex;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

use esker_format::{Error, Result, return_large_blocks};
use esker_graph::{Cancel, Message};

use crate::algorithm::{AnswerSink, graph500};
use crate::catalogue::{follow, run};
use crate::change::apply::{Prepared, Publisher, change};
use crate::disk::cluster::{Cluster, read_secret};
use crate::disk::job::ClusterJob;
use crate::exchange::counters::{ChangeTimes, WorkerCounters};
use crate::follow::FollowSink;
use crate::model::answer::Outline;
use crate::model::manifest::ClusterManifest;
use crate::net::connection::Connection;
use crate::net::engine::{Engine, run_process};
use crate::net::handshake::{COMMAND, INPUT, Secret, accept, connect};
use crate::process::all_shards::check_together;
use crate::process::control::{StartOrder, WorkerOrder, WorkerReport};
use crate::process::shard_requests;

/// Exit code of a worker that failed; it has said why.
pub const EXIT_FAILED: i32 = 1;
/// Exit code of a worker whose command is gone.
const EXIT_ORPHAN: i32 = 3;
/// How often a worker says that it is alive.
pub(crate) const BEAT: Duration = Duration::from_millis(250);
/// How long a worker may take to connect to the command.
pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(4);
/// How long workers may take to find each other; one that is stopped meanwhile is noticed before.
const MEET_TIMEOUT: Duration = Duration::from_secs(20);

/// Which worker a process is.
#[derive(Debug, Clone)]
pub struct WorkerPlace {
    /// The file with the secret of the cluster.
    pub secret: PathBuf,
    /// The directory of the shard.
    pub directory: PathBuf,
    /// The shard, which is also the number of the process.
    pub shard: usize,
    /// How it meets the command.
    pub meeting: Meeting,
    /// Whether connections are encrypted.
    pub is_encrypting: bool,
}

/// How a worker and the command meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meeting {
    /// The worker connects to the command, which listens here, on the same machine.
    Calls(SocketAddr),
    /// The command connects to the worker, whose standard input is the socket that listens.
    IsCalled,
}

/// Makes the command that becomes a worker process, which has to call [`work`].
pub type WorkerCommand<'a> = dyn Fn(&WorkerPlace) -> Command + 'a;

/// The connection to the command, which several threads write to.
#[derive(Clone)]
struct CommandChannel(Arc<Mutex<Connection>>);

impl CommandChannel {
    fn send(&self, report: &WorkerReport) -> Result<()> {
        let line = self.0.lock();
        report.send(line.stream()).map_err(|error| Error::invalid(format!("the command is gone: {error}")))
    }

    /// Sends the last report, and ends the process.
    fn exit(&self, code: i32, last: &WorkerReport) -> ! {
        // Held, so that no sign of life comes too late, which would end the process in another way.
        let line = self.0.lock();
        // The command may be gone.
        let _ = last.send(line.stream());
        line.finish();
        std::process::exit(code)
    }
}

/// Does the work of a worker process, and ends the process. It sets the panic hook.
pub fn work(place: &WorkerPlace) -> ! {
    let Ok((line, orders, listener, secret)) = begin(place) else {
        // Nobody to tell: the command sees the exit.
        std::process::exit(EXIT_FAILED)
    };
    report_panics(&line);
    match carry_out(place, &line, orders, &listener, &secret) {
        Ok(counters) => line.exit(0, &WorkerReport::Done(counters)),
        Err(error) => line.exit(EXIT_FAILED, &WorkerReport::failed(&error)),
    }
}

fn begin(place: &WorkerPlace) -> Result<(CommandChannel, Receiver<WorkerOrder>, TcpListener, Secret)> {
    let secret = read_secret(&place.secret)?.encrypting(place.is_encrypting);
    let failed = |error: std::io::Error| Error::invalid(format!("cannot begin: {error}"));
    // A worker that is stopped does not notice that its command, or what started it on another machine, is
    // gone. Should it go on later, it would undo what others have published meanwhile. The handshake comes
    // after this, so what started it is alive still.
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))
        .map_err(|error| failed(error.into()))?;
    let until = Instant::now() + CONNECT_TIMEOUT;
    let (listener, connection) = match place.meeting {
        Meeting::Calls(command) => {
            let connection = connect(command, &secret, place.shard, until)?;
            (TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?, connection)
        }
        Meeting::IsCalled => {
            let inherited: BorrowedFd<'_> = rustix::stdio::stdin();
            let listener = TcpListener::from(inherited.try_clone_to_owned().map_err(failed)?);
            let called = accept(&listener, &secret, &[COMMAND], until, || Ok(()))?.pop();
            (listener, called.ok_or_else(|| Error::invalid("the command has not connected".to_owned()))?)
        }
    };
    let orders_stream = connection.stream().try_clone().map_err(failed)?;
    let line = CommandChannel(Arc::new(Mutex::new(connection)));
    let port = listener.local_addr().map_err(failed)?.port();
    line.send(&WorkerReport::Listening(port))?;
    let (sender, orders) = channel();
    Builder::new().spawn(move || hear(&orders_stream, &sender)).map_err(failed)?;
    let beating = line.clone();
    let beat = move || {
        while beating.send(&WorkerReport::Beat).is_ok() {
            std::thread::sleep(BEAT);
        }
        std::process::exit(EXIT_ORPHAN)
    };
    Builder::new().spawn(beat).map_err(failed)?;
    Ok((line, orders, listener, secret))
}

/// Passes orders on, and ends the process when the command is gone.
fn hear(stream: &TcpStream, orders: &Sender<WorkerOrder>) {
    while let Ok(order) = WorkerOrder::receive(stream) {
        if orders.send(order).is_err() {
            break;
        }
    }
    std::process::exit(EXIT_ORPHAN)
}

/// Reports a panic and ends the process, before destructors of the engine panic again, which would abort it.
fn report_panics(line: &CommandChannel) {
    let line = line.clone();
    std::panic::set_hook(Box::new(move |info| {
        let payload = info.payload();
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or(payload.downcast_ref::<String>().map(String::as_str));
        let message = text.unwrap_or("a panic without a message").to_owned();
        // The engine's own words: see `tcp_panic` in its sources.
        let report = match message.split_once("timely communication error: ") {
            Some((_, reason)) => WorkerReport::PeerLost(format!("{} ({reason})", lost_peer())),
            None => {
                let place =
                    info.location().map(|location| format!(" ({}:{})", location.file(), location.line()));
                let text = format!("it panicked: {message}{}", place.unwrap_or_default());
                WorkerReport::failed(&Error::invalid(text))
            }
        };
        line.exit(EXIT_FAILED, &report)
    }));
}

/// Names the peer with which a thread of the engine exchanges: the engine calls these threads `timely:send-1`
/// and `timely:recv-1`.
fn lost_peer() -> String {
    let thread = std::thread::current();
    let number = thread.name().and_then(|name| name.rsplit('-').next()?.parse::<usize>().ok());
    number.map_or_else(|| "another one".to_owned(), |number| format!("that of shard {number}"))
}

/// The signal of an abort, by which the engine ends a process that has lost another one.
pub(crate) const SIGABRT: i32 = 6;

/// The name of a signal that ends processes.
pub(crate) fn name_of_signal(signal: i32) -> String {
    let name = match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        7 => "SIGBUS",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        15 => "SIGTERM",
        25 => "SIGXFSZ",
        _ => return format!("signal {signal}"),
    };
    format!("{name} (signal {signal})")
}

/// Waits for the order to start, and tells whether the order to stop came before, as for a stream.
fn wait_for_start(orders: &Receiver<WorkerOrder>, timeout: Duration) -> Result<(StartOrder, bool)> {
    let (until, mut is_stopping) = (Instant::now() + timeout, false);
    loop {
        match orders.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(WorkerOrder::Start(start)) => return Ok((*start, is_stopping)),
            Ok(WorkerOrder::Stop) => is_stopping = true,
            _ => return Err(Error::invalid("the command gave no job in time".to_owned())),
        }
    }
}

fn carry_out(
    place: &WorkerPlace,
    line: &CommandChannel,
    orders: Receiver<WorkerOrder>,
    listener: &TcpListener,
    secret: &Secret,
) -> Result<WorkerCounters> {
    let (start, is_stopping) = wait_for_start(&orders, MEET_TIMEOUT)?;
    let StartOrder { addresses, epoch, manifest, job } = start;
    let memory_bytes = match &job {
        ClusterJob::Change(change) => change.memory_bytes,
        ClusterJob::Run(run) => run.memory_bytes,
        ClusterJob::Follow(follow) => follow.memory_bytes,
        ClusterJob::Graph500(job) => Some(job.memory_bytes),
        ClusterJob::Check | ClusterJob::Shard(_) => None,
    };
    if memory_bytes.is_some() {
        return_large_blocks();
    }
    let mut link = Link { line: line.clone(), orders, is_stopping };
    let manifest = match (manifest, &job) {
        (Some(manifest), _) => manifest.into_manifest()?,
        (None, ClusterJob::Shard(task)) => {
            shard_requests::make(&place.directory, task, &mut |block| link.rows(block))?;
            return Ok(WorkerCounters::default());
        }
        (None, _) => return Err(Error::invalid("the command told nothing of the cluster".to_owned())),
    };
    let cluster = Cluster::of_worker(manifest, place.shard, &place.directory, epoch);
    if let ClusterJob::Shard(task) = &job {
        shard_requests::carry_out(&cluster, place.shard, task, &Cancel::default(), &mut |block| {
            link.rows(block)
        })?;
        return Ok(WorkerCounters::default());
    }
    let peers = meet(place, &addresses, &job, listener, secret, line)?;
    let sockets = peers.iter().map(|peer| peer.as_ref().map(Connection::for_engine).transpose());
    let sockets = sockets.collect::<std::io::Result<Vec<_>>>();
    let sockets = sockets.map_err(|error| Error::invalid(format!("cannot begin: {error}")))?;
    let work = move |engine: &mut Engine<'_>| {
        let worked = match &job {
            ClusterJob::Change(job) => change(&cluster, engine, job, &mut link),
            job => answer(&cluster, engine, job, &mut link).map(|()| ChangeTimes::default()),
        };
        match worked {
            Ok(times) => Ok(WorkerCounters::of(engine, times)),
            Err(error) => {
                // Before the engine ends: the others would go on without this one, and fail for other
                // reasons.
                link.line.exit(EXIT_FAILED, &WorkerReport::failed(&error))
            }
        }
    };
    let worked = run_process(sockets, place.shard, work);
    peers.iter().flatten().for_each(Connection::finish);
    worked
}

/// Does a job that changes nothing.
fn answer(cluster: &Cluster, engine: &mut Engine<'_>, job: &ClusterJob, link: &mut Link) -> Result<()> {
    match job {
        ClusterJob::Run(job) => run(cluster, engine, job, link),
        ClusterJob::Follow(job) => follow(cluster, engine, job, link),
        ClusterJob::Graph500(job) => graph500(cluster, engine, job, link),
        _ => {
            let problems = check_together(cluster, engine, &Cancel::default())?;
            problems.into_iter().try_for_each(|problem| link.line.send(&WorkerReport::Problem(problem)))
        }
    }
}

/// Connects this worker with all others: it calls those with lower numbers, and is called by those with
/// higher ones. On other machines, the first is also called by the command if its standard input is read.
fn meet(
    place: &WorkerPlace,
    addresses: &[SocketAddr],
    job: &ClusterJob,
    listener: &TcpListener,
    secret: &Secret,
    line: &CommandChannel,
) -> Result<Vec<Option<Connection>>> {
    let (until, shard) = (Instant::now() + MEET_TIMEOUT, place.shard);
    let is_remote = place.meeting == Meeting::IsCalled;
    let mut peers = Vec::with_capacity(addresses.len());
    for &address in &addresses[..shard.min(addresses.len())] {
        peers.push(Some(connect(address, secret, shard, until)?));
    }
    peers.push(None);
    let mut expected: Vec<usize> = (shard + 1..addresses.len()).collect();
    let has_input = is_remote && shard == 0 && job.reads_stdin();
    expected.extend(has_input.then_some(INPUT));
    let mut called = accept(listener, secret, &expected, until, || Ok(()))?;
    let failed = |error: std::io::Error| Error::invalid(format!("cannot watch a connection: {error}"));
    if let Some(input) = called.pop_if(|_| has_input) {
        // Read as fast as the shards take it, so no limit for what waits there.
        input.watch_peer(false).map_err(failed)?;
        ends_when_cut(&input, line, "the standard input of the command".to_owned());
        rustix::stdio::dup2_stdin(input.stream().as_fd()).map_err(|error| failed(error.into()))?;
    }
    peers.extend(called.into_iter().map(Some));
    if is_remote {
        for (other, peer) in peers.iter().enumerate() {
            let Some(peer) = peer else { continue };
            peer.watch_peer(true).map_err(failed)?;
            ends_when_cut(peer, line, format!("that of shard {other}"));
        }
    }
    Ok(peers)
}

/// Has the process end if an encrypted connection is cut.
fn ends_when_cut(connection: &Connection, line: &CommandChannel, name: String) {
    let line = line.clone();
    connection
        .on_cut(move |error| line.exit(EXIT_FAILED, &WorkerReport::PeerLost(format!("{name} ({error})"))));
}

/// What the work of a worker tells the command, and waits for.
struct Link {
    line: CommandChannel,
    orders: Receiver<WorkerOrder>,
    is_stopping: bool,
}

impl Publisher for Link {
    fn publish(&mut self, prepared: Prepared) -> Result<()> {
        self.line.send(&WorkerReport::Prepared(prepared))?;
        loop {
            match self.orders.recv() {
                Ok(WorkerOrder::Published) => return Ok(()),
                Ok(WorkerOrder::Stop) => self.is_stopping = true,
                _ => return Err(Error::invalid("the command is gone".to_owned())),
            }
        }
    }

    fn progress(&mut self, edges: u64) {
        // A lost command is noticed elsewhere.
        let _ = self.line.send(&WorkerReport::Progress(edges));
    }

    fn note(&mut self, note: &Message) {
        let _ = self.line.send(&WorkerReport::Note(note.clone()));
    }

    fn committing(&mut self) {
        let _ = self.line.send(&WorkerReport::Committing);
    }

    fn is_stopping(&mut self) -> bool {
        self.is_stopping |= matches!(self.orders.try_recv(), Ok(WorkerOrder::Stop));
        self.is_stopping
    }
}

impl AnswerSink for Link {
    fn outline(&mut self, outline: &Outline) -> Result<()> {
        self.line.send(&WorkerReport::Outline(outline.clone()))
    }

    fn rows(&mut self, block: Vec<u8>) -> Result<()> {
        self.line.send(&WorkerReport::Rows(block))
    }
}

impl FollowSink for Link {
    fn next(&mut self, manifest: &mut ClusterManifest) -> Result<Option<u64>> {
        match self.orders.recv() {
            Ok(WorkerOrder::Advance(whole, news)) => {
                news.publish(manifest)?;
                Ok(Some(whole))
            }
            Ok(WorkerOrder::Stop) => Ok(None),
            _ => Err(Error::invalid("the command is gone".to_owned())),
        }
    }

    fn followed(&mut self, version: u64) -> Result<()> {
        self.line.send(&WorkerReport::Followed(version))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::job::ChangeJob;

    #[test]
    fn a_stream_that_is_stopped_before_it_starts_has_its_job_and_ends_soon() {
        let (sender, orders) = channel();
        let job = ClusterJob::Change(ChangeJob { batch_edges: 3, ..ChangeJob::default() });
        sender.send(WorkerOrder::Stop).expect("send");
        let addresses = vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 7))];
        let start = StartOrder { addresses, epoch: 9, manifest: None, job };
        sender.send(WorkerOrder::Start(Box::new(start.clone()))).expect("send");
        let started = wait_for_start(&orders, Duration::from_secs(5)).expect("a job");
        assert_eq!(started, (start, true));
        let Err(error) = wait_for_start(&orders, Duration::ZERO) else { panic!("there is no second job") };
        assert!(error.to_string().contains("gave no job in time"));
    }
}

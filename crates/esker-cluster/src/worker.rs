//! A worker process: holds one shard during one operation.
//!
//! It connects to the command, which tells it what to do, and to the other workers. A thread tells the command every quarter of a second that it is
//! alive; another waits for orders, and ends the process at once when the command is gone. If the engine loses a peer it panics: the panic hook
//! reports that and ends the process before the engine can abort it.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use esker_format::{Error, Result, return_large_blocks};

use crate::algorithm::{AnswerSink, graph500, run};
use crate::answer::Outline;
use crate::change::{Prepared, Publisher, change};
use crate::cluster::Cluster;
use crate::control::{Order, Remedy, Report};
use crate::counters::{ChangeTimes, WorkerCounters};
use crate::engine::{Engine, run_process};
use crate::follow::{FollowSink, NextVersion, follow};
use crate::handshake::{Secret, accept, connect};
use crate::job::ClusterJob;

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
    /// The directory of the cluster.
    pub cluster: PathBuf,
    /// The shard, which is also the number of the process.
    pub shard: usize,
    /// Where the command listens.
    pub command: SocketAddr,
}

/// The connection to the command, which several threads write to.
#[derive(Clone)]
struct Line(Arc<Mutex<TcpStream>>);

impl Line {
    fn send(&self, report: &Report) -> Result<()> {
        let stream = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        report.send(&stream).map_err(|error| Error::Invalid(format!("the command is gone: {error}")))
    }
}

/// Does the work of a worker process. Call it in a process of its own, and exit with the code that it returns: it sets the panic hook,
/// and may end the process.
pub fn work(place: &WorkerPlace) -> i32 {
    // Nobody to tell: the command sees the exit.
    let Ok((line, orders, listener, secret)) = begin(place) else { return EXIT_FAILED };
    report_panics(&line);
    let worked = carry_out(place, &line, orders, &listener, &secret);
    match worked.and_then(|counters| line.send(&Report::Done(counters))) {
        Ok(()) => 0,
        Err(error) => {
            let _ = line.send(&Report::Failed(Remedy::of(&error), error.to_string()));
            EXIT_FAILED
        }
    }
}

fn begin(place: &WorkerPlace) -> Result<(Line, Receiver<Order>, TcpListener, Secret)> {
    let secret = Cluster::open(&place.cluster)?.secret()?;
    let stream = connect(place.command, &secret, place.shard, Instant::now() + CONNECT_TIMEOUT)?;
    let failed = |error: std::io::Error| Error::Invalid(format!("cannot begin: {error}"));
    let orders_stream = stream.try_clone().map_err(failed)?;
    let line = Line(Arc::new(Mutex::new(stream)));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
    let port = listener.local_addr().map_err(failed)?.port();
    line.send(&Report::Listening(port))?;
    let (sender, orders) = channel();
    std::thread::spawn(move || hear(&orders_stream, &sender));
    let beating = line.clone();
    std::thread::spawn(move || {
        while beating.send(&Report::Beat).is_ok() {
            std::thread::sleep(BEAT);
        }
        std::process::exit(EXIT_ORPHAN)
    });
    Ok((line, orders, listener, secret))
}

/// Passes orders on, and ends the process when the command is gone.
fn hear(stream: &TcpStream, orders: &Sender<Order>) {
    while let Ok(order) = Order::receive(stream) {
        if orders.send(order).is_err() {
            break;
        }
    }
    std::process::exit(EXIT_ORPHAN)
}

/// Reports a panic and ends the process, before destructors of the engine panic again, which would abort it.
fn report_panics(line: &Line) {
    let line = line.clone();
    std::panic::set_hook(Box::new(move |info| {
        let payload = info.payload();
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or(payload.downcast_ref::<String>().map(String::as_str));
        let message = text.unwrap_or("a panic without a message").to_owned();
        // The engine's own words: see `tcp_panic` in its sources.
        let report = match message.contains("timely communication error") {
            true => Report::PeerLost(message),
            false => {
                let place =
                    info.location().map(|location| format!(" ({}:{})", location.file(), location.line()));
                let text = format!("it panicked: {message}{}", place.unwrap_or_default());
                Report::Failed(Remedy::Other, text)
            }
        };
        let _ = line.send(&report);
        std::process::exit(EXIT_FAILED)
    }));
}

/// The order to start.
struct Started {
    ports: Vec<u16>,
    job: ClusterJob,
    /// Whether the order to stop came before.
    is_stopping: bool,
}

/// Waits for the order to start. A stream may be told to stop before.
fn wait_for_start(orders: &Receiver<Order>, timeout: Duration) -> Result<Started> {
    let (until, mut is_stopping) = (Instant::now() + timeout, false);
    loop {
        match orders.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(Order::Start(ports, job)) => {
                return Ok(Started { ports, job: ClusterJob::decode(&job)?, is_stopping });
            }
            Ok(Order::Stop) => is_stopping = true,
            _ => return Err(Error::Invalid("the command gave no job in time".to_owned())),
        }
    }
}

fn carry_out(
    place: &WorkerPlace,
    line: &Line,
    orders: Receiver<Order>,
    listener: &TcpListener,
    secret: &Secret,
) -> Result<WorkerCounters> {
    let Started { ports, job, is_stopping } = wait_for_start(&orders, MEET_TIMEOUT)?;
    let memory_bytes = match &job {
        ClusterJob::Change(change) => change.memory_bytes,
        ClusterJob::Run(run) => run.memory_bytes,
        ClusterJob::Follow(follow) => follow.memory_bytes,
        ClusterJob::Graph500(job) => Some(job.memory_bytes),
    };
    if memory_bytes.is_some() {
        return_large_blocks();
    }
    // Opened after the command took its lock: the manifest is the one that the command has.
    let cluster = Cluster::open(&place.cluster)?;
    let sockets = meet(place.shard, &ports, listener, secret)?;
    let mut link = Link { line: line.clone(), orders, is_stopping };
    let work = move |engine: &mut Engine<'_>| {
        let worked = match &job {
            ClusterJob::Change(job) => change(&cluster, engine, job, &mut link),
            ClusterJob::Run(job) => run(&cluster, engine, job, &mut link).map(|()| ChangeTimes::default()),
            ClusterJob::Follow(job) => {
                follow(&cluster, engine, job, &mut link).map(|()| ChangeTimes::default())
            }
            ClusterJob::Graph500(job) => {
                graph500(&cluster, engine, job, &mut link).map(|()| ChangeTimes::default())
            }
        };
        match worked {
            Ok(times) => Ok(WorkerCounters::of(engine, times)),
            Err(error) => {
                // Before the engine ends: the others would go on without this one, and fail for other reasons.
                let _ = link.line.send(&Report::Failed(Remedy::of(&error), error.to_string()));
                std::process::exit(EXIT_FAILED)
            }
        }
    };
    run_process(sockets, place.shard, work)
}

/// Connects this worker with all others: it calls those with lower numbers, and is called by those with higher ones.
fn meet(
    shard: usize,
    ports: &[u16],
    listener: &TcpListener,
    secret: &Secret,
) -> Result<Vec<Option<TcpStream>>> {
    let until = Instant::now() + MEET_TIMEOUT;
    let mut sockets = Vec::with_capacity(ports.len());
    for &port in &ports[..shard] {
        let address = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
        sockets.push(Some(connect(address, secret, shard, until)?));
    }
    sockets.push(None);
    sockets.extend(accept(listener, secret, shard + 1..ports.len(), until, || Ok(()))?.into_iter().map(Some));
    Ok(sockets)
}

/// What the work of a worker tells the command, and waits for.
struct Link {
    line: Line,
    orders: Receiver<Order>,
    is_stopping: bool,
}

impl Publisher for Link {
    fn publish(&mut self, prepared: Prepared) -> Result<()> {
        self.line.send(&Report::Prepared(prepared))?;
        loop {
            match self.orders.recv() {
                Ok(Order::Published) => return Ok(()),
                Ok(Order::Stop) => self.is_stopping = true,
                _ => return Err(Error::Invalid("the command is gone".to_owned())),
            }
        }
    }

    fn progress(&mut self, edges: u64) {
        // A lost command is noticed elsewhere.
        let _ = self.line.send(&Report::Progress(edges));
    }

    fn committing(&mut self) {
        let _ = self.line.send(&Report::Committing);
    }

    fn is_stopping(&mut self) -> bool {
        self.is_stopping |= matches!(self.orders.try_recv(), Ok(Order::Stop));
        self.is_stopping
    }
}

impl AnswerSink for Link {
    fn outline(&mut self, outline: &Outline) -> Result<()> {
        self.line.send(&Report::Outline(outline.encode()))
    }

    fn rows(&mut self, block: Vec<u8>) -> Result<()> {
        self.line.send(&Report::Rows(block))
    }
}

impl FollowSink for Link {
    fn next(&mut self) -> Result<Option<NextVersion>> {
        match self.orders.recv() {
            Ok(Order::Advance(whole, shard)) => Ok(Some(NextVersion { whole, shard })),
            Ok(Order::Stop) => Ok(None),
            _ => Err(Error::Invalid("the command is gone".to_owned())),
        }
    }

    fn followed(&mut self, version: u64) -> Result<()> {
        self.line.send(&Report::Followed(version))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::ChangeJob;

    #[test]
    fn a_stream_that_is_stopped_before_it_starts_has_its_job_and_ends_soon() {
        let (sender, orders) = channel();
        let job = ClusterJob::Change(ChangeJob { batch_edges: 3, ..ChangeJob::default() });
        sender.send(Order::Stop).expect("send");
        sender.send(Order::Start(vec![7, 8], job.encode())).expect("send");
        let started = wait_for_start(&orders, Duration::from_secs(5)).expect("a job");
        assert_eq!((started.ports, started.job, started.is_stopping), (vec![7, 8], job, true));
        let Err(error) = wait_for_start(&orders, Duration::ZERO) else { panic!("there is no second job") };
        assert!(error.to_string().contains("gave no job in time"));
    }
}

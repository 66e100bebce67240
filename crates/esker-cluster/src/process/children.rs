//! The worker processes as the command sees them: started together, ended together, and who of them failed
//! first.

use parking_lot::Mutex;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

use esker_format::{Error, Result};
use esker_graph::Cancel;

use crate::disk::cluster::{Cluster, secret_in};
use crate::net::connection::Connection;
use crate::net::handshake::{Secret, accept};
use crate::net::hosts::Host;
use crate::net::threads::no_thread;
use crate::process::remote::{END_TIMEOUT, OPEN_TIMEOUT, RemoteWorker, kill, wait_until_ended};
use crate::process::worker::{CONNECT_TIMEOUT, Meeting, SIGABRT, WorkerCommand, WorkerPlace, name_of_signal};

const LOOK_EVERY: Duration = Duration::from_millis(1);
/// How often a command that waits for a process to start looks at whether it is cancelled, and how late it
/// is.
const TICK: Duration = Duration::from_millis(20);

/// The worker processes of one operation. Dropping them ends them.
pub(crate) enum Workers {
    /// On this machine.
    Here(LocalWorkers),
    /// On other machines.
    There(RemoteWorkers),
}

impl Workers {
    /// Starts a worker for each shard, and waits until all are connected. If `reads_stdin`, the first has the
    /// standard input of the command, if it is here.
    pub(crate) fn start(
        cluster: &Cluster,
        secret: &Secret,
        command: &WorkerCommand<'_>,
        reads_stdin: bool,
        cancel: &Cancel,
    ) -> Result<Self> {
        Ok(match cluster.hosts() {
            Some(hosts) => Self::There(RemoteWorkers::start(hosts, secret, cancel)?),
            None => Self::Here(LocalWorkers::start(cluster, secret, command, reads_stdin, cancel)?),
        })
    }

    /// The connections to them.
    pub(crate) fn lines(&self) -> Vec<&TcpStream> {
        match self {
            Self::Here(workers) => workers.lines.iter().map(Connection::stream).collect(),
            Self::There(workers) => workers.0.iter().map(|worker| worker.line.stream()).collect(),
        }
    }

    /// Where a worker listens for the others, at a port.
    pub(crate) fn address(&self, shard: usize, port: u16) -> SocketAddr {
        let line = match self {
            Self::Here(workers) => &workers.lines[shard],
            Self::There(workers) => &workers.0[shard].line,
        };
        SocketAddr::new(line.peer().ip(), port)
    }

    /// Names a worker.
    pub(crate) fn name(&self, shard: usize) -> String {
        match self {
            Self::Here(workers) => workers.name(shard),
            Self::There(workers) => workers.0[shard].name().to_owned(),
        }
    }

    /// A worker that a signal has ended, other than the engine's own.
    pub(crate) fn killed(&mut self) -> Option<String> {
        match self {
            Self::Here(workers) => workers.killed(),
            Self::There(workers) => workers.0.iter().find_map(RemoteWorker::killed),
        }
    }

    /// Waits until all have ended by themselves, and kills those that do not.
    pub(crate) fn finish(mut self) {
        match &mut self {
            Self::Here(workers) => workers.wait_until_ended(),
            Self::There(workers) => wait_until_ended(&workers.0),
        }
    }
}

/// Worker processes on other machines. Dropping them ends them.
pub(crate) struct RemoteWorkers(Vec<RemoteWorker>);

impl RemoteWorkers {
    fn start(hosts: &[Host], secret: &Secret, cancel: &Cancel) -> Result<Self> {
        let until = Instant::now() + OPEN_TIMEOUT;
        let opened = std::thread::scope(|scope| {
            let open = |(shard, host)| {
                Builder::new().spawn_scoped(scope, move || RemoteWorker::open(host, shard, secret, until))
            };
            let opening: Vec<_> = hosts.iter().enumerate().map(open).collect();
            let panicked = |_| Err(Error::invalid("a thread panicked".to_owned()));
            let opened = opening
                .into_iter()
                .map(|one| one.map_err(no_thread("start a worker"))?.join().unwrap_or_else(panicked));
            opened.collect::<Result<_>>()
        });
        cancel.check()?;
        Ok(Self(opened?))
    }
}

impl Drop for RemoteWorkers {
    fn drop(&mut self) {
        kill(&self.0);
    }
}

type Start = Box<dyn FnOnce() -> std::io::Result<Child> + Send>;

/// A thread that starts processes: one that is stopped before it executes its program keeps its parent
/// waiting. It lives as long as the processes, which the system kills when the thread that started them ends.
struct Starter {
    orders: Sender<Start>,
    started: Receiver<std::io::Result<Child>>,
    /// Whether a process that is started now is of no use: its thread kills it.
    is_given_up: Arc<Mutex<bool>>,
}

impl Starter {
    fn new() -> std::io::Result<Self> {
        let (orders, taken) = channel::<Start>();
        let (sender, started) = channel();
        let is_given_up = Arc::new(Mutex::new(false));
        let is_late = Arc::clone(&is_given_up);
        Builder::new().name("esker-start".to_owned()).spawn(move || {
            for start in taken {
                let child = start();
                let is_late = is_late.lock();
                match child {
                    Ok(mut late) if *is_late => {
                        let _ = late.kill();
                        let _ = late.wait();
                    }
                    // The receiver lives until the processes have ended, and there are no other orders then.
                    child => drop(sender.send(child)),
                }
            }
        })?;
        Ok(Self { orders, started, is_given_up })
    }

    /// Starts a process. After an error this starts no others; a process that is late is killed as soon as it
    /// goes on.
    ///
    /// # Errors
    /// [`Error::Invalid`]; cancellation.
    fn start(&self, start: Start, until: Instant, cancel: &Cancel) -> Result<Child> {
        let failed = |error: std::io::Error| Error::invalid(error.to_string());
        let _ = self.orders.send(start);
        let mut ended = Ok(());
        while ended.is_ok() && Instant::now() < until {
            match self.started.recv_timeout(TICK) {
                Ok(child) => return child.map_err(failed),
                Err(_) => ended = cancel.check().map_err(Error::from),
            }
        }
        let mut is_given_up = self.is_given_up.lock();
        *is_given_up = true;
        let late = "it did not execute its program in time: it was stopped, or the machine is overloaded; should it go on later, it ends";
        match (self.started.try_recv(), ended) {
            (Ok(child), Ok(())) => child.map_err(failed),
            (Ok(Ok(mut child)), Err(cancelled)) => {
                let _ = child.kill();
                let _ = child.wait();
                Err(cancelled)
            }
            (_, ended) => Err(ended.err().unwrap_or_else(|| Error::invalid(late.to_owned()))),
        }
    }
}

/// Worker processes on this machine. Dropping them ends them.
pub(crate) struct LocalWorkers {
    children: Vec<Child>,
    /// The connections to them.
    lines: Vec<Connection>,
    /// How each ended, if it did so by itself.
    ended: Vec<Option<ExitStatus>>,
    starter: Starter,
}

impl LocalWorkers {
    /// As [`Workers::start`].
    fn start(
        cluster: &Cluster,
        secret: &Secret,
        command: &WorkerCommand<'_>,
        reads_stdin: bool,
        cancel: &Cancel,
    ) -> Result<Self> {
        let failed =
            |error: std::io::Error| Error::invalid(format!("cannot start a worker process: {error}"));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let starter = Starter::new().map_err(no_thread("start workers"))?;
        let mut started = Self { children: Vec::new(), lines: Vec::new(), ended: Vec::new(), starter };
        let until = Instant::now() + CONNECT_TIMEOUT;
        for shard in 0..cluster.num_shards() {
            let directory = cluster.shard_path(shard);
            let (secret, meeting) = (secret_in(cluster.path()), Meeting::Calls(address));
            let place = WorkerPlace { secret, directory, shard, meeting, is_encrypting: false };
            let mut command = command(&place);
            // The engine prints on both when it loses a connection.
            command.stdout(Stdio::null()).stderr(Stdio::null());
            command.stdin(if reads_stdin && shard == 0 { Stdio::inherit() } else { Stdio::null() });
            let child = started.starter.start(Box::new(move || command.spawn()), until, cancel);
            let child = child.map_err(|error| match error {
                Error::Invalid(why) => {
                    Error::invalid(format!("cannot start the worker of shard {shard}: {why}"))
                }
                other => other,
            })?;
            started.children.push(child);
            started.ended.push(None);
        }
        let expected: Vec<_> = (0..started.children.len()).collect();
        let lines = accept(&listener, secret, &expected, until, || {
            cancel.check()?;
            match started.first_ended() {
                Some(reason) => Err(Error::invalid(reason)),
                None => Ok(()),
            }
        })?;
        started.lines = lines;
        Ok(started)
    }

    /// Names a worker.
    fn name(&self, shard: usize) -> String {
        format!("the worker of shard {shard} (process {})", self.children[shard].id())
    }

    /// Notes which workers have ended by themselves.
    fn look(&mut self) {
        for (child, ended) in self.children.iter_mut().zip(&mut self.ended) {
            if ended.is_none() {
                *ended = child.try_wait().ok().flatten();
            }
        }
    }

    /// A worker that a signal has ended, other than the engine's own.
    fn killed(&mut self) -> Option<String> {
        self.look();
        let signal = |ended: &Option<ExitStatus>| ended.and_then(|status| status.signal());
        let shard =
            self.ended.iter().position(|ended| signal(ended).is_some_and(|signal| signal != SIGABRT))?;
        let signal = signal(&self.ended[shard]).unwrap_or(0);
        Some(format!("{} was killed by {}", self.name(shard), name_of_signal(signal)))
    }

    /// A worker that has ended.
    fn first_ended(&mut self) -> Option<String> {
        if let Some(killed) = self.killed() {
            return Some(killed);
        }
        let shard = self.ended.iter().position(|ended| ended.is_some_and(|status| !status.success()))?;
        let status = self.ended[shard].map(|status| status.to_string()).unwrap_or_default();
        Some(format!("{} ended early ({status})", self.name(shard)))
    }

    /// Waits until all have ended by themselves.
    fn wait_until_ended(&mut self) {
        let until = Instant::now() + END_TIMEOUT;
        while self.ended.iter().any(Option::is_none) && Instant::now() < until {
            self.look();
            std::thread::sleep(LOOK_EVERY);
        }
    }
}

impl Drop for LocalWorkers {
    fn drop(&mut self) {
        self.look();
        for (child, ended) in self.children.iter_mut().zip(&self.ended) {
            if ended.is_none() {
                // A stopped process ends by this signal too.
                let _ = child.kill();
            }
        }
        for child in &mut self.children {
            let _ = child.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_process_that_is_not_started_in_time_is_an_error_and_ends() {
        let sleep = || Command::new("sleep").arg("100").spawn();
        let (starter, none) = (Starter::new().expect("a thread"), Cancel::default());
        let soon = Instant::now() + CONNECT_TIMEOUT;
        let mut child = starter.start(Box::new(sleep), soon, &none).expect("start");
        child.kill().expect("kill");
        assert_eq!(child.wait().expect("wait").signal(), Some(9));
        let missing = starter.start(Box::new(|| Command::new("/no/such/program").spawn()), soon, &none);
        assert!(missing.expect_err("missing").to_string().contains("No such file"));
        for is_cancelled in [false, true] {
            let (go, waiting) = channel();
            let (tell, id) = channel();
            let stopped = move || {
                waiting.recv().expect("go on");
                let child = sleep()?;
                tell.send(child.id()).expect("tell");
                Ok(child)
            };
            let (starter, cancel) = (Starter::new().expect("a thread"), Cancel::default());
            let until = if is_cancelled { soon } else { Instant::now() };
            if is_cancelled {
                cancel.cancel();
            }
            let late = starter.start(Box::new(stopped), until, &cancel).expect_err("late").to_string();
            assert_eq!(late.contains("did not execute its program in time"), !is_cancelled, "{late}");
            go.send(()).expect("go on");
            let process = rustix::process::Pid::from_raw(id.recv().expect("an id") as i32).expect("an id");
            let until = Instant::now() + CONNECT_TIMEOUT;
            while rustix::process::test_kill_process(process).is_ok() {
                assert!(Instant::now() < until, "a late process lives on");
                std::thread::sleep(LOOK_EVERY);
            }
        }
    }
}

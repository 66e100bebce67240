//! The worker processes as the command sees them: started together, ended together, and who of them failed first.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use esker_format::{Error, Result};
use esker_graph::Cancel;

use crate::cluster::Cluster;
use crate::handshake::accept;
use crate::worker::{CONNECT_TIMEOUT, WorkerPlace};

/// How long workers that are done may take to end.
const END_TIMEOUT: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// The signal of an abort, by which the engine ends a process that has lost another one.
const SIGABRT: i32 = 6;

/// Makes the command that becomes a worker process, which has to call [`work`](crate::worker::work).
pub type WorkerCommand<'a> = dyn Fn(&WorkerPlace) -> Command + 'a;

/// The worker processes of one operation. Dropping them ends them.
pub(crate) struct Children {
    children: Vec<Child>,
    /// The connections to them.
    pub(crate) lines: Vec<TcpStream>,
    /// How each ended, if it did so by itself.
    ended: Vec<Option<ExitStatus>>,
}

impl Children {
    /// Starts a worker for each shard, and waits until all have connected. If `reads_stdin`, the first has the standard input of the command.
    pub(crate) fn start(
        cluster: &Cluster,
        command: &WorkerCommand<'_>,
        reads_stdin: bool,
        cancel: &Cancel,
    ) -> Result<Self> {
        let secret = cluster.secret()?;
        let failed =
            |error: std::io::Error| Error::Invalid(format!("cannot start a worker process: {error}"));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let mut started = Self { children: Vec::new(), lines: Vec::new(), ended: Vec::new() };
        for shard in 0..cluster.num_shards() {
            let place = WorkerPlace { cluster: cluster.path().to_owned(), shard, command: address };
            let mut command = command(&place);
            // The engine prints on both when it loses a connection.
            command.stdout(Stdio::null()).stderr(Stdio::null());
            command.stdin(if reads_stdin && shard == 0 { Stdio::inherit() } else { Stdio::null() });
            started.children.push(command.spawn().map_err(failed)?);
            started.ended.push(None);
        }
        let until = Instant::now() + CONNECT_TIMEOUT;
        let expected = 0..started.children.len();
        let lines = accept(&listener, &secret, expected, until, || {
            cancel.check()?;
            match started.first_ended() {
                Some(reason) => Err(Error::Invalid(reason)),
                None => Ok(()),
            }
        })?;
        started.lines = lines;
        Ok(started)
    }

    /// Names a worker.
    pub(crate) fn name(&self, shard: usize) -> String {
        format!("the worker of shard {shard} (process {})", self.children[shard].id())
    }

    /// Notes which workers have ended by themselves.
    pub(crate) fn look(&mut self) {
        for (child, ended) in self.children.iter_mut().zip(&mut self.ended) {
            if ended.is_none() {
                *ended = child.try_wait().ok().flatten();
            }
        }
    }

    /// A worker that a signal has ended, other than the engine's own.
    pub(crate) fn killed(&mut self) -> Option<String> {
        self.look();
        let signal = |ended: &Option<ExitStatus>| ended.and_then(|status| status.signal());
        let shard =
            self.ended.iter().position(|ended| signal(ended).is_some_and(|signal| signal != SIGABRT))?;
        let signal = signal(&self.ended[shard]).unwrap_or(0);
        Some(format!("{} was killed by {}", self.name(shard), name_of(signal)))
    }

    /// A worker that has ended.
    pub(crate) fn first_ended(&mut self) -> Option<String> {
        if let Some(killed) = self.killed() {
            return Some(killed);
        }
        let shard = self.ended.iter().position(|ended| ended.is_some_and(|status| !status.success()))?;
        let status = self.ended[shard].map(|status| status.to_string()).unwrap_or_default();
        Some(format!("{} ended early ({status})", self.name(shard)))
    }

    /// Waits until all have ended by themselves, and kills those that do not.
    pub(crate) fn finish(mut self) {
        let until = Instant::now() + END_TIMEOUT;
        while self.ended.iter().any(Option::is_none) && Instant::now() < until {
            self.look();
            std::thread::sleep(LOOK_EVERY);
        }
    }
}

impl Drop for Children {
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

/// The name of a signal that ends processes.
fn name_of(signal: i32) -> String {
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

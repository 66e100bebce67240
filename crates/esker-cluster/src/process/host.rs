//! A machine with shards: waits for commands, and starts a worker process for each operation of one.
//!
//! A command that knows the secret names a shard and its directory. A process of its own holds it, so that it
//! may be lost, and listens on a port of its own; this one tells the command which, and how that process
//! ended. If the command ends or can no longer be reached, the worker is killed.

use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::{Component, Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Builder;
use std::time::Duration;

use esker_format::io::{Disk, RealDisk};
use esker_format::{Error, Result};
use esker_graph::Cancel;

use crate::disk::cluster::read_secret;
use crate::net::handshake::{KEEPER, PATIENCE, Secret, introduced};
use crate::net::threads::no_thread;
use crate::process::control::{WorkerOrder, WorkerReport};
use crate::process::worker::{Meeting, SIGABRT, WorkerPlace, name_of_signal};

const LOOK_EVERY: Duration = Duration::from_millis(10);
/// The most connections at a time that have not introduced themselves. Others wait in the system: all
/// commands of a large cluster may come together.
const STRANGERS_MAX: usize = 64;

/// What a machine offers.
pub struct HostOptions<'a> {
    /// Where shards lie; workers open no database outside of it.
    pub directory: PathBuf,
    /// The file with the secret of the clusters.
    pub secret: PathBuf,
    /// Whether connections are encrypted.
    pub is_encrypting: bool,
    /// Makes worker processes.
    pub command: &'a (dyn Fn(&WorkerPlace) -> Command + Sync),
    /// Told what happens, a line each.
    pub on_event: &'a (dyn Fn(&str) + Sync),
    /// Ends it, and its workers.
    pub cancel: Cancel,
}

impl std::fmt::Debug for HostOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HostOptions").field("directory", &self.directory).finish_non_exhaustive()
    }
}

/// Serves commands until it is cancelled.
///
/// # Errors
/// [`Error::Invalid`] if nothing can listen there, or a file lies in the place of the directory; as
/// [`read_secret`].
pub fn serve(address: SocketAddr, options: &HostOptions<'_>) -> Result<()> {
    let secret = read_secret(&options.secret)?.encrypting(options.is_encrypting);
    if RealDisk.look(&options.directory)?.is_some_and(|entry| !entry.is_directory) {
        return Err(Error::invalid(format!(
            "{} is a file: name the directory of the shards of this machine",
            options.directory.display()
        )));
    }
    let failed = |error: std::io::Error| Error::invalid(format!("cannot listen on {address}: {error}"));
    let listener = TcpListener::bind(address).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    let bound = listener.local_addr().map_err(failed)?;
    (options.on_event)(&format!("listening on {bound}, shards in {}", options.directory.display()));
    let strangers = Arc::new(());
    std::thread::scope(|scope| {
        while !options.cancel.is_cancelled() {
            if Arc::strong_count(&strangers) > STRANGERS_MAX {
                std::thread::sleep(LOOK_EVERY);
                continue;
            }
            match listener.accept() {
                Ok((stream, from)) => {
                    let stranger = Arc::clone(&strangers);
                    let serving = move || {
                        if let Err(error) = keep(stream, stranger, &secret, options) {
                            (options.on_event)(&format!("{from}: {error}"));
                        }
                    };
                    if let Err(error) = Builder::new().spawn_scoped(scope, serving) {
                        (options.on_event)(&format!("{from}: {}", no_thread("serve it")(error)));
                    }
                }
                // Also a peer that is gone again, or no more descriptors: the next may come in.
                Err(_) => std::thread::sleep(LOOK_EVERY),
            }
        }
    });
    Ok(())
}

/// Serves a connection: starts the worker that it asks for, and watches both. Drops `stranger` once it has
/// introduced itself.
fn keep(stream: TcpStream, stranger: Arc<()>, secret: &Secret, options: &HostOptions<'_>) -> Result<()> {
    let lost = |error: std::io::Error| Error::invalid(error.to_string());
    let here = stream.local_addr().map_err(lost)?.ip();
    let (index, connection) = introduced(stream, secret).map_err(lost)?;
    let stream = connection.stream();
    drop(stranger);
    if index != KEEPER {
        return Err(Error::invalid(
            "a worker connected where commands do: the list of hosts is wrong".to_owned(),
        ));
    }
    stream.set_read_timeout(Some(PATIENCE)).map_err(lost)?;
    let WorkerOrder::Hold { shard, directory } = WorkerOrder::receive(stream)? else {
        return Err(Error::invalid("it gave another order than to hold a shard".to_owned()));
    };
    let worker = start(here, shard, &directory, options);
    let (port, child) = match worker {
        Ok(started) => started,
        Err(error) => {
            WorkerReport::failed(&error).send(stream).map_err(lost)?;
            return Err(error);
        }
    };
    let mut held = HeldChild(child);
    stream.set_read_timeout(None).and_then(|()| connection.watch_peer(true)).map_err(lost)?;
    WorkerReport::Listening(port).send(stream).map_err(lost)?;
    let is_left = Arc::new(AtomicBool::new(false));
    let (hearing, leaving) = (stream.try_clone().map_err(lost)?, Arc::clone(&is_left));
    let hear = move || {
        // Commands say nothing more: what comes is their end.
        let _ = WorkerOrder::receive(&hearing);
        leaving.store(true, Ordering::SeqCst);
    };
    Builder::new().spawn(hear).map_err(lost)?;
    let status = loop {
        if let Some(status) = held.0.try_wait().map_err(lost)? {
            break status;
        }
        if is_left.load(Ordering::SeqCst) || options.cancel.is_cancelled() {
            held.0.kill().map_err(lost)?;
        }
        std::thread::sleep(LOOK_EVERY);
    };
    let report = how_ended(status);
    if let WorkerReport::Ended { is_signal: true, how } = &report
        && !is_left.load(Ordering::SeqCst)
    {
        (options.on_event)(&format!("the worker of {directory} {how}"));
    }
    // The command may be gone.
    let _ = report.send(stream);
    let _ = stream.shutdown(std::net::Shutdown::Both);
    Ok(())
}

fn how_ended(status: ExitStatus) -> WorkerReport {
    match status.signal() {
        Some(signal) if signal != SIGABRT => {
            WorkerReport::Ended { is_signal: true, how: format!("was killed by {}", name_of_signal(signal)) }
        }
        _ => WorkerReport::Ended { is_signal: false, how: format!("ended early ({status})") },
    }
}

/// Kills the process when it is dropped.
struct HeldChild(Child);

impl Drop for HeldChild {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a worker that listens at the address to which the command has connected. Returns its port.
fn start(here: IpAddr, shard: usize, directory: &str, options: &HostOptions<'_>) -> Result<(u16, Child)> {
    let path = Path::new(directory);
    if !path.components().all(|part| matches!(part, Component::Normal(_))) || directory.is_empty() {
        return Err(Error::invalid(format!(
            "{directory:?} is not below {}: a list of hosts gives directories below that of the worker",
            options.directory.display()
        )));
    }
    let failed = |error: std::io::Error| Error::invalid(format!("cannot start a worker process: {error}"));
    let listener = TcpListener::bind((here, 0)).map_err(failed)?;
    let port = listener.local_addr().map_err(failed)?.port();
    let place = WorkerPlace {
        secret: options.secret.clone(),
        directory: options.directory.join(path),
        shard,
        meeting: Meeting::IsCalled,
        is_encrypting: options.is_encrypting,
    };
    let mut command = (options.command)(&place);
    command.stdin(Stdio::from(OwnedFd::from(listener))).stdout(Stdio::null()).stderr(Stdio::null());
    Ok((port, command.spawn().map_err(failed)?))
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)] // The test makes a file of its own.
mod tests {
    use std::io::Read;
    use std::time::Instant;

    use super::*;

    /// Each had a thread, whatever their number.
    #[test]
    fn a_connection_beyond_many_strangers_waits_until_one_of_them_is_refused() {
        let place = tempfile::tempdir().expect("directory");
        let secret = place.path().join("secret");
        esker_format::io::write_private(&secret, &[7; 32]).expect("write");
        let free = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a free port");
        let command = |_: &WorkerPlace| Command::new("false");
        let cancel = Cancel::default();
        let options = HostOptions {
            directory: place.path().to_owned(),
            secret,
            is_encrypting: false,
            command: &command,
            on_event: &|_| {},
            cancel: cancel.clone(),
        };
        std::thread::scope(|scope| {
            let serving = scope.spawn(|| serve(free, &options));
            let begin = Instant::now();
            let connect = || {
                while begin.elapsed() < Duration::from_secs(5) {
                    if let Ok(stream) = TcpStream::connect(free) {
                        return stream;
                    }
                }
                panic!("nothing listens");
            };
            let strangers: Vec<_> = (0..STRANGERS_MAX).map(|_| connect()).collect();
            let mut next = connect();
            std::io::Write::write_all(&mut next, &[0; 64]).expect("write");
            // What it has sent is refused at once, but for those before it.
            let _ = next.read(&mut [0]);
            let taken = begin.elapsed();
            drop(strangers);
            cancel.cancel();
            serving.join().expect("thread").expect("serve");
            assert!(taken >= PATIENCE, "{taken:?}");
        });
    }
}

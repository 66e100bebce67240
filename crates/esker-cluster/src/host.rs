//! A machine with shards: waits for commands, and starts a worker process for each operation of one.
//!
//! A command that knows the secret names a shard and its directory. A process of its own holds it, so that it may be lost, and listens on a port of its
//! own; this one tells the command which, and how that process ended. If the command ends or can no longer be reached, the worker is killed.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::{Component, Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use esker_format::{Error, Result};
use esker_graph::Cancel;

use crate::cluster::read_secret;
use crate::control::{Order, Remedy, Report};
use crate::handshake::{KEEPER, PATIENCE, Secret, introduced, watch_peer};
use crate::worker::{Meeting, WorkerPlace, name_of_signal};

const LOOK_EVERY: Duration = Duration::from_millis(10);

/// What a machine offers.
pub struct HostOptions<'a> {
    /// Where shards lie; nothing outside of it is touched.
    pub directory: PathBuf,
    /// The file with the secret of the clusters.
    pub secret: PathBuf,
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
/// [`Error::Invalid`] if nothing can listen there; as [`read_secret`].
pub fn serve(address: SocketAddr, options: &HostOptions<'_>) -> Result<()> {
    let secret = read_secret(&options.secret)?;
    let failed = |error: std::io::Error| Error::Invalid(format!("cannot listen on {address}: {error}"));
    let listener = TcpListener::bind(address).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    let bound = listener.local_addr().map_err(failed)?;
    (options.on_event)(&format!("listening on {bound}, shards in {}", options.directory.display()));
    std::thread::scope(|scope| {
        while !options.cancel.is_cancelled() {
            match listener.accept() {
                Ok((stream, from)) => {
                    scope.spawn(move || {
                        if let Err(error) = keep(stream, &secret, options) {
                            (options.on_event)(&format!("{from}: {error}"));
                        }
                    });
                }
                // Also a peer that is gone again, or no more descriptors: the next may come in.
                Err(_) => std::thread::sleep(LOOK_EVERY),
            }
        }
    });
    Ok(())
}

/// Serves a connection: starts the worker that it asks for, and watches both.
fn keep(stream: TcpStream, secret: &Secret, options: &HostOptions<'_>) -> Result<()> {
    let lost = |error: std::io::Error| Error::Invalid(error.to_string());
    let (index, stream) = introduced(stream, secret).map_err(lost)?;
    if index != KEEPER {
        return Err(Error::Invalid(
            "a worker connected where commands do: the list of hosts is wrong".to_owned(),
        ));
    }
    stream.set_read_timeout(Some(PATIENCE)).map_err(lost)?;
    let Order::Hold(shard, directory) = Order::receive(&stream)? else {
        return Err(Error::Invalid("it gave another order than to hold a shard".to_owned()));
    };
    let worker = start(&stream, shard, &directory, options);
    let (port, child) = match worker {
        Ok(started) => started,
        Err(error) => {
            Report::Failed(Remedy::Other, error.to_string()).send(&stream).map_err(lost)?;
            return Err(error);
        }
    };
    let mut held = HeldChild(child);
    stream.set_read_timeout(None).and_then(|()| watch_peer(&stream, true)).map_err(lost)?;
    Report::Listening(port).send(&stream).map_err(lost)?;
    let is_left = Arc::new(AtomicBool::new(false));
    let (hearing, leaving) = (stream.try_clone().map_err(lost)?, Arc::clone(&is_left));
    std::thread::spawn(move || {
        // Commands say nothing more: what comes is their end.
        let _ = Order::receive(&hearing);
        leaving.store(true, Ordering::SeqCst);
    });
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
    if let Report::Ended(true, how) = &report
        && !is_left.load(Ordering::SeqCst)
    {
        (options.on_event)(&format!("the worker of {directory} {how}"));
    }
    // The command may be gone.
    let _ = report.send(&stream);
    let _ = stream.shutdown(std::net::Shutdown::Both);
    Ok(())
}

fn how_ended(status: ExitStatus) -> Report {
    match status.signal() {
        // The engine's own, by which it ends a process that has lost another one.
        Some(signal) if signal != 6 => {
            Report::Ended(true, format!("was killed by {}", name_of_signal(signal)))
        }
        _ => Report::Ended(false, format!("ended early ({status})")),
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

/// Starts a worker that listens where the command has connected. Returns its port.
fn start(
    stream: &TcpStream,
    shard: usize,
    directory: &str,
    options: &HostOptions<'_>,
) -> Result<(u16, Child)> {
    let path = Path::new(directory);
    if !path.components().all(|part| matches!(part, Component::Normal(_))) || directory.is_empty() {
        return Err(Error::Invalid(format!(
            "{directory:?} is not below {}: a list of hosts gives directories below that of the worker",
            options.directory.display()
        )));
    }
    let failed = |error: std::io::Error| Error::Invalid(format!("cannot start a worker process: {error}"));
    let here = stream.local_addr().map_err(failed)?.ip();
    let listener = TcpListener::bind((here, 0)).map_err(failed)?;
    let port = listener.local_addr().map_err(failed)?.port();
    let place = WorkerPlace {
        secret: options.secret.clone(),
        directory: options.directory.join(path),
        shard,
        meeting: Meeting::IsCalled,
    };
    let mut command = (options.command)(&place);
    command.stdin(Stdio::from(OwnedFd::from(listener))).stdout(Stdio::null()).stderr(Stdio::null());
    Ok((port, command.spawn().map_err(failed)?))
}

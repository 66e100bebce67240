//! `esker cluster worker`: serves the shards of one machine; and the processes that hold a shard.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use esker_cluster::net::hosts::HOST_PORT;
use esker_cluster::process::host::{HostOptions, serve};
use esker_cluster::process::worker::{Meeting, WorkerPlace, work};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::workers::worker_command;
use crate::failure::Outcome;
use crate::interrupt::{stop_on_signals, work_begins};
use crate::show::text;

/// Serve the shards of this machine
///
/// Waits for `esker cluster` commands of machines that know the secret, and starts a process for each of
/// their operations, which listens on a port that the system chooses, at the same address. Ctrl-C or SIGTERM
/// ends it. Shards lie below the directory; nothing else is changed, but commands may have any file read that
/// this user can read.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  head -c 32 /dev/urandom > secret && chmod 600 secret   # once; copy it to every machine
  esker cluster worker --listen 10.0.0.1:7411 --directory /data --secret secret")]
pub(super) struct ClusterWorkerCommand {
    /// The address of this machine for the others; its port is 7411 unless it is given
    #[arg(long, value_name = "ADDRESS", value_parser = parse_address)]
    listen: SocketAddr,
    /// The directory of the shards of this machine
    #[arg(long, value_name = "DIRECTORY")]
    directory: PathBuf,
    /// The secret of the clusters: 32 random bytes, with mode 0600
    #[arg(long, value_name = "FILE")]
    secret: PathBuf,
    /// Encrypt all connections, and refuse others; the list of hosts needs the line `tls`
    #[arg(long)]
    tls: bool,
}

fn parse_address(text: &str) -> Result<SocketAddr, String> {
    let with_port = text.parse::<IpAddr>().map(|address| SocketAddr::new(address, HOST_PORT));
    let wrong = format!("{text:?} is no address, such as 10.0.0.1 or 10.0.0.1:{HOST_PORT}");
    with_port.or_else(|_| text.parse()).map_err(|_| wrong)
}

impl ClusterWorkerCommand {
    pub(super) fn carry_out(&self) -> Outcome {
        let cancel = stop_on_signals()?;
        let on_event = |event: &str| {
            // Nobody may read it.
            let _ = text::line(event);
        };
        let (secret, directory) = (self.secret.clone(), self.directory.clone());
        serve(
            self.listen,
            &HostOptions {
                directory,
                secret,
                is_encrypting: self.tls,
                command: &worker_command(),
                on_event: &on_event,
                cancel,
            },
        )?;
        Ok(())
    }
}

/// Hold a shard during one operation: what the other commands start
#[derive(Debug, Args)]
pub(super) struct ClusterHoldCommand {
    secret: PathBuf,
    directory: PathBuf,
    shard: usize,
    /// Where the command listens; else standard input is the socket on which this process listens
    command: Option<SocketAddr>,
    #[arg(long)]
    tls: bool,
}

impl ClusterHoldCommand {
    pub(super) fn carry_out(&self) -> Outcome {
        // A terminal sends Ctrl-C to the workers too, and `timeout` and a closed terminal signal the whole
        // group. But it is the command that ends the workers: of a stream, they first commit what was read.
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register(signal, Arc::default())?;
        }
        work_begins();
        let (secret, directory, shard) = (self.secret.clone(), self.directory.clone(), self.shard);
        let meeting = self.command.map_or(Meeting::IsCalled, Meeting::Calls);
        work(&WorkerPlace { secret, directory, shard, meeting, is_encrypting: self.tls })
    }
}

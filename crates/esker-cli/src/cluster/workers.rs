//! What the verbs of `esker cluster` share: worker processes of this program, and output files.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use esker::graph::Cancel;
use esker::import::read::input::{Input, expand};
use esker::store::format::DatabaseId;
use esker::store::io::{Cursor, Disk, Files, RealDisk, expect_outside_databases, parent};
use esker::store::manifest::VersionSelector;
use esker::store::{Error, ErrorKind};
use esker_cluster::disk::job::MEMORY_BYTES_MIN;
use esker_cluster::process::worker::{Meeting, WorkerPlace};
use esker_cluster::{ChangeReport, ChangeTimes, Cluster, News, SILENCE, Supervisor, WorkerCounters};
use serde_json::{Value, json};

use crate::args::at::parse_version;
use crate::args::size::{bytes, counted, parse_bytes, seconds};
use crate::failure::Failure;
use crate::interrupt;
use crate::session::committing::describe_versions;
use crate::show::text;

/// Runs an operation with worker processes of this program.
pub(super) fn supervised<T>(
    cancel: Cancel,
    show: &dyn Fn(News<'_>),
    operation: impl FnOnce(&Supervisor<'_>) -> T,
) -> T {
    operation(&Supervisor { command: &worker_command(), silence: SILENCE, cancel, on_news: show })
}

/// Makes worker processes of this program: see `ClusterHoldCommand`.
pub(super) fn worker_command() -> impl Fn(&WorkerPlace) -> Command + Sync {
    let program = std::env::current_exe();
    move |place| {
        // Without its path, the program is looked for by name.
        let mut command = Command::new(program.as_deref().unwrap_or(Path::new("esker")));
        command.args(["cluster", "hold"]).arg(&place.secret).arg(&place.directory);
        command.arg(place.shard.to_string());
        if let Meeting::Calls(address) = place.meeting {
            command.arg(address.to_string());
        }
        if place.is_encrypting {
            command.arg("--tls");
        }
        command
    }
}

/// Where the shards are.
#[derive(Debug, Args)]
pub(super) struct HostsArg {
    /// The machines with the shards, one a line, instead of those that the cluster names
    #[arg(long, value_name = "FILE")]
    hosts: Option<PathBuf>,
}

impl HostsArg {
    /// Opens a cluster.
    pub(super) fn open(&self, path: &Path) -> Result<Cluster, Failure> {
        let mut cluster = Cluster::open(path)?;
        if let Some(file) = &self.hosts {
            cluster.set_hosts(&file.display().to_string(), &read_text(file)?)?;
        }
        Ok(cluster)
    }
}

/// `--at`, of a cluster.
#[derive(Debug, Args)]
pub(super) struct WholeAtArg {
    /// Version of the cluster: a number, a time (2026-11-21 or 2026-11-21T10:00:00Z), or latest [default:
    /// latest]
    #[arg(long, value_name = "VERSION", value_parser = parse_version)]
    at: Option<VersionSelector>,
}

impl WholeAtArg {
    /// The number of the version.
    pub(super) fn number(&self, cluster: &Cluster) -> Result<u64, Failure> {
        self.at.as_ref().map_or(Ok(cluster.manifest().newest().number), |at| number_of(cluster, at))
    }
}

/// The number of a version of a cluster.
pub(super) fn number_of(cluster: &Cluster, at: &VersionSelector) -> Result<u64, Failure> {
    Ok(cluster.manifest().select(at)?)
}

/// Reads a small text file.
pub(super) fn read_text(file: &Path) -> Result<String, Failure> {
    Ok(String::from_utf8_lossy(&RealDisk.read(file)?).into_owned())
}

/// The files that workers read: on other machines those of the same paths.
pub(super) fn input_names(cluster: &Cluster, inputs: &[String]) -> Result<Vec<String>, Failure> {
    if cluster.hosts().is_none() {
        // Workers have the working directory of the command, so relative names will do.
        return Ok(expand(inputs, interrupt::token())?.iter().map(Input::name).collect());
    }
    let absolute = |input: &String| match input.as_str() {
        "-" => Ok(input.clone()),
        name => Ok(std::path::absolute(name)?.display().to_string()),
    };
    inputs.iter().map(absolute).collect()
}

/// The memory limit of a worker, as a user types it.
pub(super) fn parse_memory(text: &str) -> Result<u64, String> {
    match parse_bytes(text)? {
        limit if limit < MEMORY_BYTES_MIN => {
            Err(format!("a worker needs at least {} for the edges of one round", bytes(MEMORY_BYTES_MIN)))
        }
        limit => Ok(limit),
    }
}

/// A seed of the hash of the owners.
pub(super) fn random_seed() -> u64 {
    let DatabaseId(bytes) = DatabaseId::random();
    bytes.iter().fold(0_u64, |seed, &byte| seed << 8 ^ u64::from(byte) ^ seed >> 56)
}

/// The counters of the workers as JSON.
pub(super) fn workers_json(workers: &[WorkerCounters]) -> Value {
    let worker = |worker: &WorkerCounters| {
        let times = &worker.times;
        json!({
            "messages": worker.messages,
            "bytes_sent": worker.sent_bytes,
            "exchanges": worker.exchanges,
            "peak_memory_bytes": worker.peak_memory_bytes,
            "input_seconds": times.input.as_secs_f64(),
            "serialise_seconds": times.serialise.as_secs_f64(),
            "exchange_seconds": times.exchange.as_secs_f64(),
            "insert_seconds": times.insert.as_secs_f64(),
            "commit_seconds": times.commit.as_secs_f64(),
            "publish_seconds": times.publish.as_secs_f64(),
        })
    };
    workers.iter().map(worker).collect()
}

/// Says on standard error what each worker counted; of `edges` how many messages and bytes there were for
/// each.
pub(super) fn explain(workers: &[WorkerCounters], edges: u64) {
    for (shard, worker) in workers.iter().enumerate() {
        let ChangeTimes { input, serialise, exchange, insert, commit, publish } = worker.times;
        let mut line = format!(
            "shard {shard}: {}, {} sent, {}, peak memory {}",
            counted(worker.messages, "message", "messages"),
            bytes(worker.sent_bytes),
            counted(worker.exchanges, "exchange", "exchanges"),
            bytes(worker.peak_memory_bytes)
        );
        if !commit.is_zero() {
            let [input, serialise, exchange, insert, commit, publish] =
                [input, serialise, exchange, insert, commit, publish].map(|time| seconds(time.as_secs_f64()));
            line += &format!(
                "; input {input}, serialise {serialise}, exchange {exchange}, insert {insert}, commit {commit}, publish {publish}"
            );
        }
        text::remark(&line);
    }
    let sum = |of: fn(&WorkerCounters) -> u64| workers.iter().map(of).sum::<u64>() as f64;
    let (messages, sent) = (sum(|worker| worker.messages), sum(|worker| worker.sent_bytes));
    if edges > 0 {
        let edges = edges as f64;
        text::remark(&format!("an edge: {:.6} messages, {:.2} bytes sent", messages / edges, sent / edges));
    }
}

/// Says which versions a change that failed has made.
pub(super) fn published_before_failure(cluster: &Path, report: &ChangeReport) {
    if !report.versions.is_empty() {
        text::remark(&format!(
            "{}: {} with {} had been published before the failure and stay",
            cluster.display(),
            describe_versions(&report.versions),
            counted(report.edges, "edge", "edges")
        ));
    }
}

/// Writes a new file, or standard output for `-`. The file has its name once it is whole: a failure leaves
/// none.
pub(super) fn with_output<T>(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<T, Failure>,
) -> Result<T, Failure> {
    if path == Path::new("-") {
        return write(&mut BufWriter::new(std::io::stdout().lock()));
    }
    expect_outside_databases(&RealDisk, path)?;
    let exists = || Error::Exists(format!("{} exists: give another name", path.display()).into());
    if RealDisk.look(path)?.is_some() {
        return Err(exists().into());
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let unfinished = parent(path).join(format!(".{name}.writing-{}", DatabaseId::random()));
    let mut out = BufWriter::with_capacity(1 << 20, Cursor::new(RealDisk.create(&unfinished)?, 0));
    let written = write(&mut out).and_then(|written| {
        out.flush()?;
        RealDisk.rename(&unfinished, path).map_err(|error| match error {
            error if error.kind() == ErrorKind::Exists => exists(),
            other => other,
        })?;
        Ok(written)
    });
    if written.is_err() {
        // The failure of the writing is the one to report.
        let _ = RealDisk.remove_file(&unfinished);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::disallowed_methods)] // The test looks at files of its own.
    fn an_output_that_fails_leaves_no_file_and_a_whole_one_has_its_name() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("out.csv");
        let entries = || std::fs::read_dir(place.path()).unwrap().count();
        let failed = with_output(&path, |out| {
            out.write_all(b"half")?;
            Err::<(), _>(Failure::Failed("no".to_owned()))
        });
        assert!(failed.is_err() && entries() == 0, "a failure leaves nothing");
        with_output(&path, |out| Ok(out.write_all(b"whole")?)).unwrap();
        assert_eq!((std::fs::read(&path).unwrap(), entries()), (b"whole".to_vec(), 1));
        let again = with_output(&path, |_| Ok(()));
        let again = again.expect_err("it exists");
        assert_eq!(again.reported().kind, ErrorKind::Exists);
        assert!(again.words().is_some_and(|words| words.contains("out.csv exists")));
    }
}

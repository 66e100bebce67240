//! `esker cluster`: one graph over several databases, each held by a process of its own.

mod workers;
mod hosting;
mod tables;
mod columns;
mod changing;
mod streaming;
mod splitting;
mod params;
mod running;
mod estimating;
mod following;
pub(crate) mod graph500;

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use esker::graph::Run;
use esker::store::manifest::format_time;
use esker_cluster::net::handshake::Secret;
use esker_cluster::net::hosts::{Host, Hosts, parse_hosts};
use esker_cluster::{
    Cluster, CreateOptions, HUB_DEGREE, WeightKind, counts, create_on, export, read_secret, weights,
};
use serde_json::json;

use self::workers::{HostsArg, WholeAtArg, random_seed, read_text, supervised, with_output};
use crate::args::size::{count, counted};
use crate::failure::{Failure, Outcome};
use crate::interrupt::cancel_on_signals;
use crate::show::text;

/// Keep one graph in several databases, each held by a process of its own
///
/// A cluster is a directory with a database for each shard; shards may also lie on several machines
/// (--hosts). Vertices belong to shards by a hash of their ids. Commands that compute or change start a
/// worker process for each shard, and end all of them within 5 seconds if one fails; then all shards are at
/// the last version of the whole.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  esker cluster create web.cluster --shards 4 --ids text
  esker cluster add web.cluster edges.csv
  esker cluster delete web.cluster wrong.csv
  tail -f log.csv | esker cluster stream web.cluster - --commit-every 1s
  esker cluster run pagerank web.cluster --top 10
  esker cluster follow wcc web.cluster
  esker cluster export web.cluster all.csv

On several machines:
  esker cluster worker --listen 10.0.0.1:7411 --directory /data --secret secret   # on each
  esker cluster create web.cluster --hosts hosts.txt --secret secret")]
pub(crate) struct ClusterCommand {
    #[command(subcommand)]
    verb: ClusterVerb,
}

#[derive(Debug, Subcommand)]
enum ClusterVerb {
    Create(ClusterCreateCommand),
    Add(changing::ClusterAddCommand),
    Delete(changing::ClusterDeleteCommand),
    Stream(streaming::ClusterStreamCommand),
    Split(splitting::ClusterSplitCommand),
    Merge(splitting::ClusterMergeCommand),
    Rebalance(splitting::ClusterRebalanceCommand),
    Run(running::ClusterRunCommand),
    Follow(following::ClusterFollowCommand),
    Estimate(estimating::ClusterEstimateCommand),
    Info(ClusterInfoCommand),
    Log(ClusterLogCommand),
    Check(ClusterCheckCommand),
    Export(ClusterExportCommand),
    Worker(hosting::ClusterWorkerCommand),
    #[command(hide = true)]
    Hold(hosting::ClusterHoldCommand),
}

impl ClusterCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        match &self.verb {
            ClusterVerb::Create(command) => command.carry_out(),
            ClusterVerb::Add(command) => command.carry_out(),
            ClusterVerb::Delete(command) => command.carry_out(),
            ClusterVerb::Stream(command) => command.carry_out(),
            ClusterVerb::Split(command) => command.carry_out(),
            ClusterVerb::Merge(command) => command.carry_out(),
            ClusterVerb::Rebalance(command) => command.carry_out(),
            ClusterVerb::Run(command) => command.carry_out(),
            ClusterVerb::Follow(command) => command.carry_out(),
            ClusterVerb::Estimate(command) => command.carry_out(),
            ClusterVerb::Info(command) => command.carry_out(),
            ClusterVerb::Log(command) => command.carry_out(),
            ClusterVerb::Check(command) => command.carry_out(),
            ClusterVerb::Export(command) => command.carry_out(),
            ClusterVerb::Worker(command) => command.carry_out(),
            ClusterVerb::Hold(command) => command.carry_out(),
        }
    }
}

/// The type of vertex ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum ClusterIds {
    /// Integers.
    #[default]
    Int,
    /// Texts.
    Text,
}

/// The type of the weights of edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ClusterWeights {
    /// Integers.
    Int,
    /// Numbers with fractions.
    Float,
}

/// Make an empty cluster
#[derive(Debug, Args)]
struct ClusterCreateCommand {
    /// The directory to make
    cluster: PathBuf,
    /// Number of shards, and of worker processes [default: one on each host]
    #[arg(long, alias = "processes", value_name = "N", required_unless_present = "hosts")]
    shards: Option<usize>,
    /// The machines with the shards, one a line: address, port, and directory of the shard below that of
    /// `esker cluster worker`; the line `tls` has connections encrypted
    #[arg(long, value_name = "FILE", requires = "secret")]
    hosts: Option<PathBuf>,
    /// The secret that the workers on these machines know: 32 random bytes, with mode 0600
    #[arg(long, value_name = "FILE", requires = "hosts")]
    secret: Option<PathBuf>,
    /// Edges are undirected [default: directed]
    #[arg(long, conflicts_with = "directed")]
    undirected: bool,
    /// Edges are directed: the default
    #[arg(long)]
    directed: bool,
    /// Type of the vertex ids
    #[arg(long, value_enum, default_value_t)]
    ids: ClusterIds,
    /// Edges have weights of this type [default: none]
    #[arg(long, value_enum, value_name = "TYPE")]
    weights: Option<ClusterWeights>,
    /// Seed of the hash that gives vertices to shards [default: random]
    #[arg(long)]
    seed: Option<u64>,
    /// Edges of a vertex from which on they are spread over the shards; 0: never
    #[arg(long, value_name = "N", default_value_t = HUB_DEGREE)]
    hub_degree: u64,
}

impl ClusterCreateCommand {
    /// The machines that are named, and what their workers know.
    fn hosts(&self) -> Result<Option<(Vec<Host>, Secret)>, Failure> {
        let (Some(file), Some(secret)) = (&self.hosts, &self.secret) else { return Ok(None) };
        let name = self.cluster.file_name().unwrap_or_default().to_string_lossy();
        let Hosts { list, is_encrypting } =
            parse_hosts(&file.display().to_string(), &read_text(file)?, &name)?;
        Ok(Some((list, read_secret(secret)?.encrypting(is_encrypting))))
    }

    fn carry_out(&self) -> Outcome {
        let hosts = self.hosts()?;
        let listed = hosts.as_ref().map(|(hosts, _)| hosts.len());
        let options = CreateOptions {
            shards: self.shards.or(listed).unwrap_or(0),
            directed: !self.undirected,
            text_ids: self.ids == ClusterIds::Text,
            weights: self.weights.map(|weights| match weights {
                ClusterWeights::Int => WeightKind::Int,
                ClusterWeights::Float => WeightKind::Float,
            }),
            seed: self.seed.unwrap_or_else(random_seed),
            hub_degree: self.hub_degree,
        };
        let cluster = match hosts {
            Some((hosts, secret)) => create_on(&self.cluster, &options, &hosts, secret)?,
            None => Cluster::create(&self.cluster, &options)?,
        };
        let shards = counted(cluster.num_shards() as u64, "shard", "shards");
        text::line(&format!("{}: {shards}, version 1, empty", self.cluster.display()))
    }
}

/// Show the sizes of a cluster and of its shards
#[derive(Debug, Args)]
struct ClusterInfoCommand {
    /// The cluster
    cluster: PathBuf,
    #[command(flatten)]
    hosts: HostsArg,
    #[command(flatten)]
    at: WholeAtArg,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

impl ClusterInfoCommand {
    fn carry_out(&self) -> Outcome {
        let cluster = self.hosts.open(&self.cluster)?;
        let manifest = cluster.manifest();
        let version = manifest.version(self.at.number(&cluster)?)?;
        let (shards, whole) = counts(&cluster, version.number)?;
        let delegates = manifest.delegates.iter().filter(|one| one.since <= version.number).count();
        let kind = if manifest.directed { "directed" } else { "undirected" };
        let weights = match weights(&cluster)? {
            None => "none",
            Some(WeightKind::Int) => "int",
            Some(WeightKind::Float) => "float",
        };
        if self.json {
            let shard = |(number, one): (usize, &esker_cluster::GraphCounts)| {
                json!({
                    "path": cluster.shard_path(number).display().to_string(),
                    "version": version.shards[number],
                    "vertices": one.vertices,
                    "edges": one.edges,
                    "ghosts": one.ghosts,
                })
            };
            return text::json(&json!({
                "cluster": self.cluster.display().to_string(),
                "version": version.number,
                "directed": manifest.directed,
                "ids": if manifest.text_ids { "text" } else { "int" },
                "weights": weights,
                "seed": manifest.seed,
                "hub_degree": manifest.hub_degree,
                "delegates": delegates,
                "vertices": whole.vertices,
                "edges": whole.edges,
                "shards": shards.iter().enumerate().map(shard).collect::<Vec<_>>(),
            }));
        }
        let mut facts = vec![
            ("vertices".to_owned(), count(whole.vertices)),
            ("edges".to_owned(), format!("{} {kind}", count(whole.edges))),
            ("version".to_owned(), describe(version)),
            ("ids".to_owned(), if manifest.text_ids { "texts" } else { "integers" }.to_owned()),
            ("weights".to_owned(), weights.to_owned()),
        ];
        if delegates > 0 {
            facts.push(("delegates".to_owned(), count(delegates as u64)));
        }
        for (number, one) in shards.iter().enumerate() {
            let sizes = format!(
                "{}, {}, {}",
                counted(one.vertices, "vertex", "vertices"),
                counted(one.edges, "edge", "edges"),
                counted(one.ghosts, "ghost", "ghosts")
            );
            let host = cluster.hosts().map_or_else(String::new, |hosts| format!(", on {}", hosts[number]));
            facts.push((
                format!("shard-{number}"),
                format!("{sizes}, version {}{host}", version.shards[number]),
            ));
        }
        text::facts(&facts)
    }
}

fn describe(version: &esker_cluster::model::manifest::WholeVersion) -> String {
    format!("{}, {}: {}", version.number, format_time(version.time_ms), version.message)
}

/// List the versions of a cluster
///
/// Prints one version per line, newest first: number, time, edges given, the version of each shard, message.
#[derive(Debug, Args)]
struct ClusterLogCommand {
    /// The cluster
    cluster: PathBuf,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

impl ClusterLogCommand {
    fn carry_out(&self) -> Outcome {
        let cluster = Cluster::open(&self.cluster)?;
        let versions = cluster.manifest().versions.iter().rev();
        if self.json {
            let versions: Vec<_> = versions
                .map(|version| {
                    json!({
                        "version": version.number,
                        "time": format_time(version.time_ms),
                        "time_ms": version.time_ms,
                        "edges_given": version.edges_given,
                        "shards": version.shards,
                        "message": version.message,
                    })
                })
                .collect();
            return text::json(
                &json!({ "cluster": self.cluster.display().to_string(), "versions": versions }),
            );
        }
        for version in versions {
            let shards: Vec<String> = version.shards.iter().map(u64::to_string).collect();
            text::line(&format!(
                "{}  {}  {} given  shards {}  {}",
                version.number,
                format_time(version.time_ms),
                counted(version.edges_given, "edge", "edges"),
                shards.join(" "),
                version.message.lines().next().unwrap_or_default()
            ))?;
        }
        Ok(())
    }
}

/// Verify every shard, and that they fit together
///
/// Compares every checksum, as `esker check` does. Then checks that each edge lies with the owner of its
/// source, or, if that is a delegate, of its target, and that shards agree on the vertices and undirected
/// edges between them. Notes tell what a change that died has left behind, which the next change removes. The
/// exit code is 1 if there is a problem.
#[derive(Debug, Args)]
struct ClusterCheckCommand {
    /// The cluster
    cluster: PathBuf,
    #[command(flatten)]
    hosts: HostsArg,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

impl ClusterCheckCommand {
    fn carry_out(&self) -> Outcome {
        let cancel = cancel_on_signals()?;
        let run = Run::new(esker::graph::RunOptions { cancel, ..esker::graph::RunOptions::default() })?;
        let (cluster, cancel) = (self.hosts.open(&self.cluster)?, run.cancel().clone());
        let report = supervised(cancel, &|_| {}, |supervisor| supervisor.check(&cluster, &run))?;
        if self.json {
            text::json(&json!({
                "cluster": self.cluster.display().to_string(),
                "sound": report.problems.is_empty(),
                "checks": report.sound,
                "notes": report.notes,
                "problems": report.problems,
            }))?;
        } else {
            report.sound.iter().try_for_each(|sound| text::line(&format!("ok: {sound}")))?;
            report.notes.iter().try_for_each(|note| text::line(&format!("note: {note}")))?;
            report.problems.iter().try_for_each(|problem| text::line(&format!("PROBLEM: {problem}")))?;
            if report.problems.is_empty() {
                text::line("ok: the shards fit together")?;
            }
        }
        if report.problems.is_empty() {
            return Ok(());
        }
        let found = counted(report.problems.len() as u64, "problem", "problems");
        Err(Failure::Failed(format!("{} has {found}", self.cluster.display())))
    }
}

/// Write all edges as one CSV file
///
/// Each edge once, with the columns source, target and, if edges have weights, weight; shard by shard.
#[derive(Debug, Args)]
struct ClusterExportCommand {
    /// The cluster
    cluster: PathBuf,
    #[command(flatten)]
    hosts: HostsArg,
    /// The file to write, which must not exist; `-` is standard output
    output: PathBuf,
    #[command(flatten)]
    at: WholeAtArg,
}

impl ClusterExportCommand {
    fn carry_out(&self) -> Outcome {
        let cancel = cancel_on_signals()?;
        let run =
            Run::new(esker::graph::RunOptions { threads: 1, cancel, ..esker::graph::RunOptions::default() })?;
        let cluster = self.hosts.open(&self.cluster)?;
        let version = self.at.number(&cluster)?;
        let edges = with_output(&self.output, |out| Ok(export(&cluster, version, &self.output, out, &run)?))?;
        let edges = counted(edges, "edge", "edges");
        text::remark(&format!("Wrote {edges} as CSV to {}", self.output.display()));
        Ok(())
    }
}

//! `esker cluster split`, `merge` and `rebalance`: a cluster of a database, back, and with another number of
//! shards.

use std::path::PathBuf;

use clap::Args;
use esker::graph::{Run, RunOptions};
use esker::store::io::{Disk, RealDisk};
use esker::store::{Error, Store};
use esker_cluster::{Cluster, HUB_DEGREE, NewShards, merge, rebalance, split};

use super::workers::{HostsArg, WholeAtArg, random_seed};
use crate::args::at::{AtArgs, number_of};
use crate::args::size::counted;
use crate::failure::{Failure, Outcome};
use crate::interrupt::cancel_on_signals;
use crate::show::text;

/// Make a cluster of a database
///
/// The cluster begins with all vertices and edges of a version, and the weights of the edges; other
/// properties are left out. The database stays.
#[derive(Debug, Args)]
pub(super) struct ClusterSplitCommand {
    /// The database
    database: PathBuf,
    /// The directory of the cluster to make
    cluster: PathBuf,
    /// Number of shards, and of worker processes
    #[arg(long, alias = "processes", value_name = "N")]
    shards: usize,
    #[command(flatten)]
    at: AtArgs,
    /// Seed of the hash that gives vertices to shards [default: random]
    #[arg(long)]
    seed: Option<u64>,
    /// Edges of a vertex from which on they are spread over the shards; 0: never
    #[arg(long, value_name = "N", default_value_t = HUB_DEGREE)]
    hub_degree: u64,
}

impl ClusterSplitCommand {
    pub(super) fn carry_out(&self) -> Outcome {
        let run = run()?;
        let store = Store::open(&self.database)?;
        let version = match &self.at.at {
            Some(version) => number_of(&store, version)?,
            None => store.latest()?.number(),
        };
        let (shards, hub_degree) = (self.shards, self.hub_degree);
        let cut = NewShards { shards, seed: self.seed.unwrap_or_else(random_seed), hub_degree };
        let (cluster, left_out) = split(&store, version, &self.cluster, cut, &run)?;
        if !left_out.is_empty() {
            text::remark(&format!("Left out the properties {}", left_out.join(", ")));
        }
        print_new(&cluster)
    }
}

/// Says what a new cluster is.
fn print_new(cluster: &Cluster) -> Outcome {
    let shards = counted(cluster.num_shards() as u64, "shard", "shards");
    let versions = &cluster.manifest().versions;
    let edges = counted(versions.iter().map(|version| version.edges_given).sum(), "edge", "edges");
    let newest = cluster.manifest().newest().number;
    text::line(&format!("{}: {shards}, version {newest}, {edges}", cluster.path().display()))
}

/// Make a cluster with another number of shards
///
/// The shards of the new cluster lie on this machine; --hosts says where those of the old one are. The new
/// cluster has all vertices and edges of a version of the old one, and the weights of the edges. Streams go
/// on in it where that version was. The old cluster stays, with all its versions; delete its directory once
/// you do not need them.
#[derive(Debug, Args)]
pub(super) struct ClusterRebalanceCommand {
    /// The cluster
    cluster: PathBuf,
    #[command(flatten)]
    hosts: HostsArg,
    /// The directory of the cluster to make
    new: PathBuf,
    /// Number of shards, and of worker processes, of the new cluster
    #[arg(long, alias = "processes", value_name = "N")]
    shards: usize,
    #[command(flatten)]
    at: WholeAtArg,
    /// Seed of the hash that gives vertices to shards [default: random]
    #[arg(long)]
    seed: Option<u64>,
}

impl ClusterRebalanceCommand {
    pub(super) fn carry_out(&self) -> Outcome {
        let (run, cluster) = (run()?, self.hosts.open(&self.cluster)?);
        let version = self.at.number(&cluster)?;
        let seed = self.seed.unwrap_or_else(random_seed);
        print_new(&rebalance(&cluster, version, &self.new, self.shards, seed, &run)?)
    }
}

/// Make a database of a cluster
///
/// The database has all vertices and edges of a version of the cluster, and the weights of the edges. The
/// cluster stays.
#[derive(Debug, Args)]
pub(super) struct ClusterMergeCommand {
    /// The cluster
    cluster: PathBuf,
    #[command(flatten)]
    hosts: HostsArg,
    /// The database to make
    database: PathBuf,
    #[command(flatten)]
    at: WholeAtArg,
}

impl ClusterMergeCommand {
    pub(super) fn carry_out(&self) -> Outcome {
        let (run, cluster) = (run()?, self.hosts.open(&self.cluster)?);
        let version = self.at.number(&cluster)?;
        if RealDisk.look(&self.database)?.is_some() {
            return Err(Error::Exists(
                format!("{} exists: give another name", self.database.display()).into(),
            )
            .into());
        }
        merge(&cluster, version, &self.database, &run)?;
        let newest = Store::open(&self.database)?.latest()?;
        let vertices = counted(newest.num_vertices() as u64, "vertex", "vertices");
        let edges = counted(newest.num_edges(), "edge", "edges");
        text::line(&format!("{}: {vertices}, {edges}", self.database.display()))
    }
}

fn run() -> Result<Run, Failure> {
    let cancel = cancel_on_signals()?;
    Ok(Run::new(RunOptions { cancel, ..RunOptions::default() })?)
}

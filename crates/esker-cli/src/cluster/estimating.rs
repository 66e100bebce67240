//! `esker cluster estimate`: what a run will need.

use std::path::PathBuf;

use clap::Args;
use esker_cluster::estimate;
use esker_cluster::model::needs::{RunNeeds, Sends};
use serde_json::{Value, json};

use super::params::not_a_cluster;
use super::workers::{HostsArg, WholeAtArg};
use crate::args::size::bytes;
use crate::failure::Outcome;
use crate::interrupt::cancel_on_signals;
use crate::show::rows::{RowFormat, RowTable};
use crate::show::text;

/// Estimate the memory of each worker of a run, and what it sends
///
/// Memory counts the process, the arrays of the algorithm, the vertices that shards share, and what is read
/// of the graph to memory; mapped layers are the system's to keep. It is what `esker cluster run --memory`
/// needs.
#[derive(Debug, Args)]
pub(super) struct ClusterEstimateCommand {
    /// The algorithm, as for `esker cluster run`
    #[arg(value_parser = not_a_cluster)]
    algorithm: String,
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

impl ClusterEstimateCommand {
    pub(super) fn carry_out(&self) -> Outcome {
        let (cancel, cluster) = (cancel_on_signals()?, self.hosts.open(&self.cluster)?);
        let version = self.at.number(&cluster)?;
        let needs = estimate(&cluster, version, &self.algorithm, true, &cancel)?;
        if self.json {
            let shards: Vec<Value> = needs.iter().map(as_json).collect();
            return text::json(&json!({ "algorithm": self.algorithm, "version": version, "shards": shards }));
        }
        let mut rows = RowTable::of(["shard", "memory", "sends at most"]);
        for (shard, needs) in needs.iter().enumerate() {
            let sends = match needs.sends {
                Sends::InAll(sent) => format!("{} in all", bytes(sent)),
                Sends::ARound(sent) => format!("{} a round", bytes(sent)),
            };
            // A limit of what is shown suffices.
            let memory = needs.memory_bytes.checked_next_multiple_of(1 << 20).unwrap_or(u64::MAX);
            rows.push(vec![json!(shard), json!(bytes(memory)), json!(sends)]);
        }
        rows.print(RowFormat::Table)
    }
}

fn as_json(needs: &RunNeeds) -> Value {
    let (name, sent) = match needs.sends {
        Sends::InAll(sent) => ("bytes_sent", sent),
        Sends::ARound(sent) => ("bytes_sent_a_round", sent),
    };
    json!({ "memory_bytes": needs.memory_bytes, name: sent })
}

//! `esker cluster add` and `esker cluster delete`: edges of files.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use esker_cluster::disk::job::ChangeJob;
use esker_cluster::{ChangeReport, News};
use serde_json::json;

use super::columns::ColumnArgs;
use super::workers::{
    HostsArg, explain, input_names, parse_memory, published_before_failure, supervised, workers_json,
};
use crate::args::importing::file_names;
use crate::args::size::{counted, rate, seconds};
use crate::failure::{Failure, Outcome};
use crate::interrupt::stop_on_signals;
use crate::language::said;
use crate::session::committing::describe_versions;
use crate::show::progress::Bar;
use crate::show::text;

/// Add the edges of files
///
/// Every worker process parses a part of each file, and sends edges to the shards that hold them. Of a
/// cluster on several machines, each worker reads the files of these paths on its own machine. An edge that
/// exists gets the new weight. All edges become one version of the cluster, unless --batch or --memory is
/// given. After a failure all shards are at the last version that was published.
#[derive(Debug, Args)]
pub(super) struct ClusterAddCommand {
    #[command(flatten)]
    change: ChangeArgs,
    /// Column of the weights [default: the usual one], if edges of the cluster have weights
    #[arg(long, value_name = "COLUMN")]
    weight: Option<String>,
}

impl ClusterAddCommand {
    pub(super) fn carry_out(&self) -> Outcome {
        self.change.carry_out("add", ChangeJob { weight: self.weight.clone(), ..ChangeJob::default() })
    }
}

/// Delete the edges of files
///
/// Only the ends of edges are read. Edges that do not exist are passed over; vertices stay.
#[derive(Debug, Args)]
pub(super) struct ClusterDeleteCommand {
    #[command(flatten)]
    change: ChangeArgs,
}

impl ClusterDeleteCommand {
    pub(super) fn carry_out(&self) -> Outcome {
        self.change.carry_out("delete", ChangeJob { removes: true, ..ChangeJob::default() })
    }
}

#[derive(Debug, Args)]
struct ChangeArgs {
    /// The cluster
    cluster: PathBuf,
    #[command(flatten)]
    hosts: HostsArg,
    /// Files of edges, in any format that `esker import` reads; properties other than weights are left out
    #[arg(required = true, value_name = "FILE")]
    inputs: Vec<String>,
    #[command(flatten)]
    columns: ColumnArgs,
    /// Publish a version after every N edges or somewhat more, since each worker reads blocks of a mebibyte
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    batch: Option<u64>,
    /// Memory limit of each worker, such as 256MiB: a version is published whenever the edges of one worker
    /// fill half of it [default: none]
    #[arg(long, value_name = "SIZE", value_parser = parse_memory)]
    memory: Option<u64>,
    /// The message of the version [default: the verb and the files]
    #[arg(long, short)]
    message: Option<String>,
    /// Say what each worker sent, how much memory it took, and where its time went
    #[arg(long)]
    explain: bool,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

impl ChangeArgs {
    fn carry_out(&self, verb: &str, job: ChangeJob) -> Outcome {
        let cancel = stop_on_signals()?;
        let mut cluster = self.hosts.open(&self.cluster)?;
        let inputs = input_names(&cluster, &self.inputs)?;
        let message = self.message.clone().unwrap_or_else(|| format!("{verb} {}", file_names(&self.inputs)));
        let job = ChangeJob {
            inputs,
            message,
            batch_edges: self.batch.unwrap_or(0),
            memory_bytes: self.memory,
            ..self.columns.of(job)
        };
        let (begin, bar, mut report) = (Instant::now(), Bar::spinner(false), ChangeReport::default());
        let show = |news: News<'_>| match news {
            News::Edges(edges) => {
                let now = rate(edges as f64, begin.elapsed().as_secs_f64(), "edges");
                bar.set(&format!("{verb}: {}, {now}", counted(edges, "edge", "edges")), 0.0, String::new());
            }
            News::Note(note) if !self.json => text::remark_over_bar(&said(note)),
            News::Note(_) => {}
        };
        let changed =
            supervised(cancel, &show, |supervisor| supervisor.change(&mut cluster, &job, &mut report));
        bar.finish();
        remark_on_undone(&self.cluster, report.undone);
        if let Err(error) = changed {
            published_before_failure(&self.cluster, &report);
            // Without these options all edges are in one version.
            let is_done = self.batch.is_none() && self.memory.is_none() && !report.versions.is_empty();
            let (failure, done) = (Failure::from(error), describe_versions(&report.versions));
            return Err(if is_done { failure.after(&format!("{done} is published")) } else { failure });
        }
        self.report(&report, begin.elapsed().as_secs_f64())
    }

    fn report(&self, report: &ChangeReport, taken: f64) -> Outcome {
        if self.json {
            return text::json(&json!({
                "cluster": self.cluster.display().to_string(),
                "versions": report.versions,
                "edges": report.edges,
                "seconds": taken,
                "workers": workers_json(&report.workers),
            }));
        }
        if self.explain {
            explain(&report.workers, report.edges);
        }
        let path = self.cluster.display();
        let given = counted(report.edges, "edge", "edges");
        match &report.versions[..] {
            [] => text::line(&format!("{path}: the files hold no edges; no version was made"))?,
            versions => text::line(&format!("{path}: {}: {given} given", describe_versions(versions)))?,
        }
        text::remark(&format!("In {} ({})", seconds(taken), rate(report.edges as f64, taken, "edges")));
        Ok(())
    }
}

/// Says what a change undid before it began.
pub(super) fn remark_on_undone(cluster: &Path, undone: usize) {
    if undone > 0 {
        text::remark(&format!(
            "{}: undid {} that an earlier operation had left in shards and no version of the cluster had",
            cluster.display(),
            counted(undone as u64, "version", "versions")
        ));
    }
}

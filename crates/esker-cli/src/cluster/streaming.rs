//! `esker cluster stream`: edges as they come.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use esker::change::CommitEvery;
use esker::store::{Error, Sought};
use esker_cluster::disk::job::{ChangeJob, StreamJob};
use esker_cluster::{ChangeReport, Cluster, News};
use serde_json::json;

use super::changing::remark_on_undone;
use super::columns::ColumnArgs;
use super::workers::{
    HostsArg, explain, input_names, parse_memory, published_before_failure, supervised, workers_json,
};
use crate::args::commit_every::EveryArg;
use crate::args::size::{counted, rate, seconds};
use crate::failure::{Failure, Outcome};
use crate::interrupt::stop_on_signals;
use crate::language::said;
use crate::session::committing::describe_versions;
use crate::show::progress::Bar;
use crate::show::text;

/// A version is due after this number of edges at the latest, because they lie in the memory of the workers.
const BATCH_EDGES_MAX: u64 = 1 << 22;

/// Add a stream of edges as it comes
///
/// The edges of a file, a growing file (--follow), a pipe or standard input become a version every second, or
/// as --commit-every says. Every version says how far the stream was read. So after a failure, a kill or the
/// end of the machine the same command goes on with the first edge that no version has: no edge is lost or
/// taken twice. A file that was replaced meanwhile is refused. Of a cluster on several machines, a file is
/// read on the machine of the first shard, and standard input where the command runs. Ctrl-C and SIGTERM
/// commit what was read and end the stream.
#[derive(Debug, Args)]
pub(super) struct ClusterStreamCommand {
    /// The cluster
    cluster: PathBuf,
    #[command(flatten)]
    hosts: HostsArg,
    /// A file of edges, in any format that `esker import` reads; `-` is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    input: String,
    /// Make a version after a time, such as 500ms, or after a number of edges
    #[arg(long, value_name = "TIME|N", default_value = "1s")]
    commit_every: EveryArg,
    /// At the end of the file, wait for what will be appended to it
    #[arg(long)]
    follow: bool,
    /// The name of the stream in versions [default: the path of the file; of standard input none, so it is
    /// always read from its start]
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
    /// Read the stream from its start, also if versions have edges of it
    #[arg(long)]
    from_start: bool,
    /// Memory limit of each worker, such as 256MiB: a version is also made whenever the edges of one worker
    /// fill half of it [default: none]
    #[arg(long, value_name = "SIZE", value_parser = parse_memory)]
    memory: Option<u64>,
    /// Column of the weights [default: the usual one], if edges of the cluster have weights
    #[arg(long, value_name = "COLUMN")]
    weight: Option<String>,
    #[command(flatten)]
    columns: ColumnArgs,
    /// Say what each worker sent, how much memory it took, and where its time went
    #[arg(long)]
    explain: bool,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

impl ClusterStreamCommand {
    pub(super) fn carry_out(&self) -> Outcome {
        if self.follow && self.input == "-" {
            return Err(Failure::Usage(
                "--follow has no effect on standard input, which is read until it is closed".to_owned(),
            ));
        }
        let cancel = stop_on_signals()?;
        let mut cluster = self.hosts.open(&self.cluster)?;
        let job = self.job(&cluster)?;
        let (begin, bar, mut report) = (Instant::now(), Bar::spinner(false), ChangeReport::default());
        let show = |news: News<'_>| match news {
            News::Edges(edges) => {
                let now = rate(edges as f64, begin.elapsed().as_secs_f64(), "edges");
                bar.set(&format!("stream: {}, {now}", counted(edges, "edge", "edges")), 0.0, String::new());
            }
            News::Note(note) if !self.json => text::remark_over_bar(&said(note)),
            News::Note(_) => {}
        };
        let streamed =
            supervised(cancel, &show, |supervisor| supervisor.change(&mut cluster, &job, &mut report));
        bar.finish();
        remark_on_undone(&self.cluster, report.undone);
        if let Err(error) = streamed {
            published_before_failure(&self.cluster, &report);
            return Err(error.into());
        }
        self.print(&report, begin.elapsed())
    }

    fn job(&self, cluster: &Cluster) -> Result<ChangeJob, Failure> {
        let is_here = cluster.hosts().is_none();
        let inputs = if is_here {
            vec![self.input.clone()]
        } else {
            input_names(cluster, std::slice::from_ref(&self.input))?
        };
        let file = || Ok::<_, Failure>(Path::new(&self.input).canonicalize()?.display().to_string());
        let name = match &self.source {
            Some(name) => Some(name.clone()),
            None if self.input == "-" => None,
            None if !is_here => inputs.first().cloned(),
            None => Some(
                file().map_err(|_| Error::not_found(Sought::File, format!("cannot find {}", self.input)))?,
            ),
        };
        let (batch_edges, every_ms) = match self.commit_every.0 {
            CommitEvery::Edges(edges) => (edges.min(BATCH_EDGES_MAX), 0),
            CommitEvery::Time(time) => (BATCH_EDGES_MAX, time.as_millis() as u64),
        };
        let (from_start, follows) = (self.from_start, self.follow);
        let stream = Some(StreamJob { name, from_start, every_ms, follows, ..StreamJob::default() });
        let weight = self.weight.clone();
        Ok(ChangeJob {
            inputs,
            batch_edges,
            stream,
            weight,
            memory_bytes: self.memory,
            ..self.columns.of(ChangeJob::default())
        })
    }

    fn print(&self, report: &ChangeReport, taken: Duration) -> Outcome {
        if self.json {
            return text::json(&json!({
                "cluster": self.cluster.display().to_string(),
                "versions": report.versions,
                "edges": report.edges,
                "passed_over": report.passed,
                "seconds": taken.as_secs_f64(),
                "workers": workers_json(&report.workers),
            }));
        }
        if self.explain {
            explain(&report.workers, report.edges);
        }
        if report.passed > 0 {
            let passed = counted(report.passed, "edge", "edges");
            text::remark(&format!("Passed over {passed} that were read before"));
        }
        let (path, given) = (self.cluster.display(), counted(report.edges, "edge", "edges"));
        match &report.versions[..] {
            [] => text::line(&format!("{path}: the stream has no new edges; no version was made"))?,
            versions => text::line(&format!("{path}: {}: {given} given", describe_versions(versions)))?,
        }
        let taken = taken.as_secs_f64();
        text::remark(&format!("In {} ({})", seconds(taken), rate(report.edges as f64, taken, "edges")));
        Ok(())
    }
}

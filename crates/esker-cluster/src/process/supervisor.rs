//! What the command does while the worker processes work: passes orders on, publishes versions, and ends
//! everything when one worker fails.
//!
//! A worker fails if it says so, ends, loses a peer, or says nothing for [`Supervisor::silence`]. Then all
//! are killed, and the error names the one that failed first: one that a signal killed before one that gave a
//! reason, and that before those that only lost a peer. For that, the command listens a moment longer.

use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use esker_format::io::input_bytes;
use esker_format::{Error, ErrorKind, Result};
use esker_graph::{Cancel, Message, Operation, Run, Stop, message};

use crate::catalogue::CatalogueEntry;
use crate::change::publishing::{Publishing, position_of};
use crate::disk::cluster::Cluster;
use crate::disk::job::{ChangeJob, ClusterJob, Graph500Job, RunJob, stream_of};
use crate::exchange::counters::WorkerCounters;
use crate::model::answer::{Outline, VertexRow, take_rows};
use crate::model::manifest::WholeVersion;
use crate::process::all_shards::{CheckReport, check, check_with, estimate};
use crate::process::children::Workers;
use crate::process::control::{WorkerOrder, WorkerReport};
use crate::process::forward::Forwarding;
use crate::process::remote::Brief;
use crate::process::requests::{roll_back, unpublished};
use crate::process::stopping::Stopping;
use crate::process::watch::{TICK, Watch};
use crate::process::worker::WorkerCommand;

/// A worker that says nothing for so long is given up.
pub const SILENCE: Duration = Duration::from_secs(3);

/// What the command does with what workers report.
pub(crate) trait ReportHandler {
    /// Takes a report of a worker.
    fn take(&mut self, children: &Workers, shard: usize, report: WorkerReport) -> Result<()>;

    /// Called again and again.
    fn look(&mut self, _: &Workers) -> Result<()> {
        Ok(())
    }

    /// Time between two looks, at most.
    fn look_every(&self) -> Duration {
        TICK
    }
}

impl<F: FnMut(&Workers, usize, WorkerReport) -> Result<()>> ReportHandler for F {
    fn take(&mut self, children: &Workers, shard: usize, report: WorkerReport) -> Result<()> {
        self(children, shard, report)
    }
}

/// What a change tells while it goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum News<'a> {
    /// So many edges have been read.
    Edges(u64),
    /// How an input is read.
    Note(&'a Message),
}

/// How operations are supervised.
pub struct Supervisor<'a> {
    /// Makes worker processes.
    pub command: &'a WorkerCommand<'a>,
    /// A worker that says nothing for so long is given up.
    pub silence: Duration,
    /// Ends the operation.
    pub cancel: Cancel,
    /// Told how far a change is.
    pub on_news: &'a dyn Fn(News<'_>),
}

impl std::fmt::Debug for Supervisor<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Supervisor").field("silence", &self.silence).finish_non_exhaustive()
    }
}

/// What a change has done.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChangeReport {
    /// The versions of the whole that it has published.
    pub versions: Vec<u64>,
    /// Edges that were given for them.
    pub edges: u64,
    /// Edges of a stream that were passed over, because earlier versions have them.
    pub passed: u64,
    /// Versions of shards that an earlier operation left behind, and that were undone first.
    pub undone: usize,
    /// What each worker counted; empty after a failure.
    pub workers: Vec<WorkerCounters>,
}

/// An answer, by external id.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ClusterAnswer {
    /// Columns and facts.
    pub outline: Outline,
    /// A row for each vertex, in no order; as [`RunJob::top`] says.
    pub rows: Vec<VertexRow>,
    /// What each worker counted.
    pub workers: Vec<WorkerCounters>,
}

impl Supervisor<'_> {
    /// Adds the edges of files or removes them. The versions that `report` names after an error are published
    /// and stay; every shard is taken back to the last of them.
    ///
    /// # Errors
    /// The first failure; the message names the worker, and the version that the cluster is left at.
    pub fn change(&self, cluster: &mut Cluster, job: &ChangeJob, report: &mut ChangeReport) -> Result<()> {
        let _lock = cluster.lock()?;
        if job.reads_stdin() && job.stream.is_none() {
            return Err(Error::usage(message![
                "every worker reads the files itself, so standard input cannot be one: use ",
                Operation::ClusterStream,
                ", or write it to a file",
            ]));
        }
        if job.stream.is_none() && stream_of(&job.message).is_some() {
            return Err(Error::usage(format!(
                "the message {:?} would say how far a stream was read, which only a stream may say: choose other words",
                job.message
            )));
        }
        let is_read_once = |input: &&String| {
            let path = Path::new(input.as_str());
            path.exists() && !path.is_dir() && input_bytes(path).is_none()
        };
        let is_here = cluster.hosts().is_none();
        if let Some(input) = job.inputs.iter().find(is_read_once).filter(|_| is_here && job.stream.is_none())
        {
            return Err(Error::usage(message![
                format!("every worker reads {input} itself, and a pipe or a device can be read once: use "),
                Operation::ClusterStream,
                ", or write it to a file",
            ]));
        }
        let mut job = job.clone();
        if let Some(stream) = &mut job.stream {
            (stream.passed, stream.mark) = position_of(cluster.manifest(), stream);
            report.passed = stream.passed;
        }
        let left_behind = unpublished(cluster)?.len();
        let begin = cluster.manifest().newest().number + 1;
        let mut publishing = Publishing::new(&job, cluster.num_shards());
        let conducting = self.conduct(
            &cluster.clone(),
            &ClusterJob::Change(job),
            |children: &Workers, shard: usize, given: WorkerReport| {
                match given {
                    WorkerReport::Progress(edges) if shard == 0 => (self.on_news)(News::Edges(edges)),
                    WorkerReport::Note(note) => (self.on_news)(News::Note(&note)),
                    WorkerReport::Prepared(part) => {
                        // If a worker is gone, that is noticed elsewhere.
                        let tell = || {
                            children.lines().iter().for_each(|line| drop(WorkerOrder::Published.send(line)));
                        };
                        if let Some((number, edges)) = publishing.take(cluster, shard, part, tell)? {
                            report.versions.push(number);
                            report.edges += edges;
                        }
                    }
                    _ => {}
                }
                Ok(())
            },
        );
        match conducting {
            Ok(workers) => {
                (report.workers, report.undone) = (workers, left_behind);
                Ok(())
            }
            Err(error) => Err(take_back(cluster, report, begin, left_behind, error)),
        }
    }

    /// Runs an algorithm on a version of the whole.
    ///
    /// # Errors
    /// The first failure; the message names the worker.
    pub fn run(&self, cluster: &Cluster, job: &RunJob) -> Result<ClusterAnswer> {
        CatalogueEntry::of(&job.algorithm)?.expect_options(&job.params)?;
        cluster.manifest().version(job.version)?;
        self.answer(cluster, &ClusterJob::Run(job.clone()))
    }

    /// Runs the searches of the Graph500 benchmark: a row for each root, in order, with the columns
    /// `seconds`, `validate_seconds` and `edges`.
    ///
    /// # Errors
    /// The first failure; the message names the worker.
    pub fn graph500(&self, cluster: &Cluster, job: &Graph500Job) -> Result<ClusterAnswer> {
        cluster.manifest().version(job.version)?;
        self.answer(cluster, &ClusterJob::Graph500(*job))
    }

    /// Checks a cluster wherever its shards are, as [`check`].
    ///
    /// # Errors
    /// As [`check`].
    pub fn check(&self, cluster: &Cluster, run: &Run) -> Result<CheckReport> {
        if cluster.hosts().is_none() {
            return check(cluster, run);
        }
        check_with(cluster, &self.cancel, || {
            let mut problems = Vec::new();
            let checked =
                self.conduct(cluster, &ClusterJob::Check, |_: &Workers, _: usize, report: WorkerReport| {
                    if let WorkerReport::Problem(problem) = report {
                        problems.push(problem);
                    }
                    Ok(())
                });
            checked.map(|_| problems)
        })
    }

    /// Has the workers do a job with an answer.
    fn answer(&self, cluster: &Cluster, job: &ClusterJob) -> Result<ClusterAnswer> {
        let mut answer = ClusterAnswer::default();
        let is_text = cluster.manifest().text_ids;
        let conducted = self.conduct(cluster, job, |_: &Workers, _: usize, report: WorkerReport| {
            match report {
                WorkerReport::Outline(outline) => answer.outline = outline,
                WorkerReport::Rows(block) => {
                    let kinds: Vec<_> = answer.outline.columns.iter().map(|(_, kind)| *kind).collect();
                    answer.rows.extend(take_rows(&block, &kinds, is_text)?);
                }
                _ => {}
            }
            Ok(())
        });
        match (conducted, job) {
            (Ok(workers), _) => answer.workers = workers,
            (Err(error), ClusterJob::Run(run)) if error.kind() == ErrorKind::OverBudget => {
                return Err(self.sufficient_limit(cluster, run, error)?);
            }
            (Err(error), _) => return Err(error),
        }
        Ok(answer)
    }

    /// The refusal of a worker, with a limit that suffices for all workers and the whole run: a worker knows
    /// only what it came to.
    fn sufficient_limit(&self, cluster: &Cluster, job: &RunJob, refusal: Error) -> Result<Error> {
        let needs = estimate(cluster, job.version, &job.algorithm, job.top.is_some(), &self.cancel)?;
        let most = needs.iter().map(|needs| needs.memory_bytes).enumerate().max_by_key(|(_, bytes)| *bytes);
        Ok(match (most, job.memory_bytes) {
            (Some((shard, needed_bytes)), Some(budget_bytes)) if needed_bytes > budget_bytes => {
                let what = format!("{} in the worker of shard {shard}", job.algorithm);
                Stop::OverBudget { what, needed_bytes, budget_bytes }.into()
            }
            _ => refusal,
        })
    }

    /// Starts the workers, gives them a job, and hands over what they report until all are done.
    pub(crate) fn conduct(
        &self,
        cluster: &Cluster,
        job: &ClusterJob,
        mut course: impl ReportHandler,
    ) -> Result<Vec<WorkerCounters>> {
        let stream = matches!(job, ClusterJob::Change(change) if change.stream.is_some());
        let brief = Brief::of(cluster, job.clone())?;
        let started = Workers::start(cluster, &brief.secret, self.command, job.reads_stdin(), &self.cancel)?;
        let mut watch = Watch::new(started)?;
        let mut stopping = Stopping::new(watch.done.len());
        let mut addresses: Vec<Option<SocketAddr>> = vec![None; watch.done.len()];
        let mut input = None;
        while !watch.done.iter().all(Option::is_some) {
            if self.cancel.is_cancelled() && stream && stopping.begin(Instant::now()) {
                match &input {
                    Some(input) => Forwarding::stop(input),
                    None => watch.children.lines().iter().for_each(|line| drop(WorkerOrder::Stop.send(line))),
                }
            }
            if !stream || stopping.is_over(Instant::now()) {
                self.cancel.check()?;
            }
            input.as_ref().map_or(Ok(()), Forwarding::check)?;
            course.look(&watch.children)?;
            let heard = watch.next(self.silence, course.look_every());
            if let Ok(Some((shard, report))) = &heard {
                stopping.hear(*shard, report, Instant::now());
            }
            match heard {
                Ok(None | Some((_, WorkerReport::Beat | WorkerReport::Done(_)))) => {}
                Ok(Some((shard, WorkerReport::Listening(port)))) => {
                    addresses[shard] = Some(watch.children.address(shard, port));
                    if let Some(addresses) = addresses.iter().copied().collect::<Option<Vec<_>>>() {
                        let start = brief.start(addresses.clone());
                        watch.children.lines().iter().for_each(|line| drop(start.send(line)));
                        let is_forwarded = cluster.hosts().is_some() && job.reads_stdin();
                        let forward = || Forwarding::start(addresses[0], brief.secret);
                        input = is_forwarded.then(forward).transpose()?;
                    }
                }
                Ok(Some((shard, report))) => course.take(&watch.children, shard, report)?,
                Err(reason) => {
                    let reason = watch.first_cause(reason);
                    // What fails while a stream ends is a failure: edges that were read are in no version.
                    if !stream {
                        self.cancel.check()?;
                    }
                    return Err(reason.into());
                }
            }
        }
        let Watch { children, done, .. } = watch;
        children.finish();
        Ok(done.into_iter().flatten().collect())
    }
}

/// Takes all shards back after a change failed, and completes the report. Returns the error with what it left
/// and what to do.
fn take_back(
    cluster: &mut Cluster,
    report: &mut ChangeReport,
    begin: u64,
    left_behind: usize,
    error: Error,
) -> Error {
    // If publishing failed, the manifest may have the version: then it counts.
    let taken_back = cluster.settle().and_then(|()| roll_back(cluster));
    let left = cluster.manifest().newest().number;
    let first_new = report.versions.last().map_or(begin, |last| last + 1);
    let new = |version: &&WholeVersion| version.number >= first_new;
    report.versions.extend(cluster.manifest().versions.iter().filter(new).map(|version| version.number));
    let is_reported = |version: &&WholeVersion| report.versions.contains(&version.number);
    report.edges =
        cluster.manifest().versions.iter().filter(is_reported).map(|version| version.edges_given).sum();
    let advice = match error.kind() {
        ErrorKind::ProcessLost => "; try again",
        ErrorKind::InputLine => "; correct the input, and try again",
        _ => "",
    };
    let outcome: Message = match taken_back {
        Ok(_) => {
            report.undone = left_behind;
            format!("; all shards are at version {left} of the cluster{advice}").into()
        }
        Err(failed) if error.to_string().contains(&failed.to_string()) => {
            format!("; the cluster stays at version {left}").into()
        }
        Err(failed) => message![
            format!(
                "; the cluster stays at version {left}; its next change takes the shards back, for now that fails: "
            ),
            failed.message(),
        ],
    };
    match error.kind() {
        ErrorKind::Cancelled | ErrorKind::Usage => error,
        kind => Error::reported(kind, message![error.message(), outcome]),
    }
}

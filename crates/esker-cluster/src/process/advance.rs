//! What the command does while workers follow the versions of a cluster: tells them of each one, and joins
//! what they report.

use std::time::{Duration, Instant};

use esker_format::{Error, Result};

use crate::catalogue::CatalogueEntry;
use crate::disk::cluster::Cluster;
use crate::disk::job::{ClusterJob, FollowJob};
use crate::exchange::counters::WorkerCounters;
use crate::model::answer::{ColumnKind, Outline, VertexRow, take_changes};
use crate::model::excerpt::ManifestNews;
use crate::process::children::Workers;
use crate::process::control::{WorkerOrder, WorkerReport};
use crate::process::supervisor::{ReportHandler, Supervisor};

/// Time between two looks for a new version.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What a version changed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FollowedVersion {
    /// The version of the whole.
    pub version: u64,
    /// Facts about the answer, and the rounds that it took.
    pub outline: Outline,
    /// The vertices whose values changed, in order of id, each with the old value and the new one. Of the
    /// first version all, if they are wanted.
    pub rows: Vec<VertexRow>,
}

impl Supervisor<'_> {
    /// Keeps an answer up to date: calls `take` for the first version and for each later one, in order, until
    /// it is cancelled; if `once`, until the newest version. Returns what each worker counted.
    ///
    /// # Errors
    /// The first failure; the message names the worker. What `take` returns.
    pub fn follow(
        &self,
        cluster: &Cluster,
        job: &FollowJob,
        once: bool,
        take: &mut dyn FnMut(FollowedVersion) -> Result<()>,
    ) -> Result<Vec<WorkerCounters>> {
        CatalogueEntry::expect_live(job, cluster.manifest().directed)?;
        cluster.manifest().version(job.version)?;
        let course = Following {
            cluster: cluster.clone(),
            once,
            waits_for: cluster.num_shards(),
            found: FollowedVersion { version: job.version, ..FollowedVersion::default() },
            looked: Instant::now(),
            is_over: false,
            told: cluster.manifest().newest().number,
            take,
        };
        self.conduct(cluster, &ClusterJob::Follow(job.clone()), course)
    }
}

/// How far the workers are.
struct Following<'a> {
    cluster: Cluster,
    once: bool,
    /// The number of workers that have not reported the version yet.
    waits_for: usize,
    /// What was reported of the version.
    found: FollowedVersion,
    /// When there was no later version.
    looked: Instant,
    /// Whether the workers were told to end.
    is_over: bool,
    /// The last version that they know.
    told: u64,
    take: &'a mut dyn FnMut(FollowedVersion) -> Result<()>,
}

impl ReportHandler for Following<'_> {
    fn take(&mut self, children: &Workers, _: usize, report: WorkerReport) -> Result<()> {
        match report {
            WorkerReport::Outline(outline) => self.found.outline = outline,
            WorkerReport::Rows(block) => {
                let kind = self.found.outline.columns.first().map_or(ColumnKind::Count, |(_, kind)| *kind);
                self.found.rows.extend(take_changes(&block, kind, self.cluster.manifest().text_ids)?);
            }
            WorkerReport::Followed(version) if version == self.found.version && self.waits_for > 0 => {
                self.waits_for -= 1;
                if self.waits_for == 0 {
                    let mut found =
                        std::mem::replace(&mut self.found, FollowedVersion { version, ..Default::default() });
                    found.rows.sort_by(|a, b| a.0.cmp(&b.0));
                    (self.take)(found)?;
                    return self.look(children);
                }
            }
            WorkerReport::Followed(version) => {
                return Err(Error::invalid(format!(
                    "a worker is at version {version}, but all were told to be at version {}",
                    self.found.version
                )));
            }
            _ => {}
        }
        Ok(())
    }

    /// Tells the workers of the next version, if there is one.
    fn look(&mut self, children: &Workers) -> Result<()> {
        if self.waits_for > 0 || self.is_over {
            return Ok(());
        }
        if self.cluster.manifest().newest().number == self.found.version {
            // The newest version as of the end of the last one.
            let is_due = self.once || self.looked.elapsed() >= LOOK_EVERY;
            if !is_due || !self.cluster.refresh()? {
                if is_due {
                    self.looked = Instant::now();
                    self.is_over = self.once;
                }
                if self.is_over {
                    children.lines().iter().for_each(|line| drop(WorkerOrder::Stop.send(line)));
                }
                return Ok(());
            }
        }
        let next = self.cluster.manifest().version(self.found.version + 1)?;
        self.waits_for = children.lines().len();
        self.found = FollowedVersion { version: next.number, ..FollowedVersion::default() };
        let news = ManifestNews::after(self.cluster.manifest(), self.told);
        self.told = self.cluster.manifest().newest().number;
        let advance = WorkerOrder::Advance(self.found.version, news);
        // If a worker is gone, that is noticed elsewhere.
        children.lines().iter().for_each(|line| drop(advance.send(line)));
        Ok(())
    }

    fn look_every(&self) -> Duration {
        LOOK_EVERY
    }
}

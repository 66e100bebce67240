//! How long the workers of a stream may take to end after it was cancelled: as long as they make progress.

use std::time::{Duration, Instant};

use crate::process::control::WorkerReport;

/// How long the workers of a stream that is cancelled may go on without a sign of progress. The time of a
/// commit does not count: the worker says that it is alive, and ends it some time.
pub(crate) const STOP_TIMEOUT: Duration = Duration::from_secs(4);

/// Which signs of progress the workers have given.
pub(crate) struct Stopping {
    /// When the last sign came after the workers were told to stop.
    last_sign: Option<Instant>,
    /// The workers that are committing.
    commits: Vec<bool>,
}

impl Stopping {
    pub(crate) fn new(workers: usize) -> Self {
        Self { last_sign: None, commits: vec![false; workers] }
    }

    /// The workers are told to stop; false: they were told before.
    pub(crate) fn begin(&mut self, now: Instant) -> bool {
        let is_first = self.last_sign.is_none();
        self.last_sign.get_or_insert(now);
        is_first
    }

    /// Takes note of a report.
    pub(crate) fn hear(&mut self, shard: usize, report: &WorkerReport, now: Instant) {
        match report {
            WorkerReport::Beat => return,
            WorkerReport::Committing => self.commits[shard] = true,
            WorkerReport::Prepared(_) | WorkerReport::Done(_) => self.commits[shard] = false,
            _ => {}
        }
        if let Some(last) = &mut self.last_sign {
            *last = now;
        }
    }

    /// Whether the workers were told to stop, and none has made progress for too long.
    pub(crate) fn is_over(&self, now: Instant) -> bool {
        let is_committing = self.commits.contains(&true);
        self.last_sign.is_some_and(|last| !is_committing && now - last >= STOP_TIMEOUT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::apply::Prepared;

    #[test]
    fn workers_that_commit_or_make_progress_are_waited_for_and_those_that_only_live_are_not() {
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        let mut stopping = Stopping::new(2);
        assert!(!stopping.is_over(at(100)), "nobody was told to stop");
        stopping.hear(1, &WorkerReport::Committing, at(100));
        assert!(stopping.begin(at(101)) && !stopping.begin(at(102)));
        assert!(!stopping.is_over(at(200)), "a commit takes its time");
        let prepared = Prepared { shard_version: 2, edges_given: 1, mark: None, delegates: Vec::new() };
        stopping.hear(1, &WorkerReport::Prepared(prepared), at(200));
        assert!(!stopping.is_over(at(203)));
        stopping.hear(0, &WorkerReport::Progress(7), at(203));
        stopping.hear(0, &WorkerReport::Beat, at(206));
        assert!(!stopping.is_over(at(206)) && stopping.is_over(at(207)));
    }
}

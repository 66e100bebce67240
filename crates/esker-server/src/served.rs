//! The database that is served, kept up to date while others write it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use esker::SessionOptions;
use esker::catalogue::Resources;
use esker::graph::{Budget, Cancel, Run, RunOptions};
use esker::store::format::VersionRecord;
use esker::store::io::RealDisk;
use esker::store::manifest::VersionSelector;
use esker::store::{ErrorKind, Follower, Store, Version};
use esker::window::select_version;
use parking_lot::Mutex;

use crate::failure::{Failure, Outcome, name_of_database};
use crate::limits::WAIT_TIME_MAX;

/// How old the newest version may be that questions are answered from.
const REFRESH_EVERY: Duration = Duration::from_millis(50);

/// An open database, with the resources of all that is computed on it.
pub(crate) struct Served {
    path: PathBuf,
    follower: Mutex<Followed>,
    options: SessionOptions,
    /// Shared by all computations.
    budget: Budget,
    resources: Resources,
    /// The run of questions; each has its own token.
    questions: Arc<Run>,
}

struct Followed {
    follower: Follower,
    refreshed: Instant,
}

impl Served {
    /// Opens a database. `options.cancel` ends everything.
    pub(crate) fn open(database: &Path, options: &SessionOptions) -> esker::Result<Self> {
        // What is no database is named as it was given.
        Store::open(database)?;
        // Messages name the whole path, so that it can be found in them.
        #[allow(clippy::disallowed_methods)]
        let path = std::fs::canonicalize(database).unwrap_or_else(|_| database.to_owned());
        let budget = options.memory.budget();
        let run = RunOptions { budget: budget.clone(), on_progress: None, ..options.run_options() };
        let run = Arc::new(Run::new(run)?);
        let follower = Follower::open(Arc::new(RealDisk), &path, Arc::clone(&run))?;
        let follower = Mutex::new(Followed { follower, refreshed: Instant::now() });
        let (options, resources) = (options.clone(), options.resources());
        Ok(Self { path, follower, options, budget, resources, questions: run })
    }

    /// The directory of the database, which no client learns.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The name of the database.
    pub(crate) fn name(&self) -> String {
        name_of_database(&self.path)
    }

    /// Threads, memory limit and rates of computations.
    pub(crate) fn resources(&self) -> &Resources {
        &self.resources
    }

    /// The memory of all computations together.
    pub(crate) fn budget(&self) -> &Budget {
        &self.budget
    }

    /// The token that ends the server.
    pub(crate) fn ending(&self) -> &Cancel {
        &self.options.cancel
    }

    /// The run of a question, stopped by a token.
    pub(crate) fn question(&self, cancel: &Cancel) -> Run {
        self.questions.stopped_by(cancel)
    }

    /// Options for the run of an algorithm: its own threads and token, the memory of all.
    pub(crate) fn run_options(&self) -> RunOptions {
        RunOptions { budget: self.budget.clone(), ..self.options.run_options() }
    }

    /// Calls `read` with the versions as they are now, or were a moment ago; if it fails then, once more with
    /// those of now: a version that was asked for may just have been committed.
    fn up_to_date<T>(&self, read: impl Fn(&Follower) -> Outcome<T>) -> Outcome<T> {
        let Some(mut followed) = self.follower.try_lock_for(WAIT_TIME_MAX) else {
            return Err(Failure::refused(StatusCode::SERVICE_UNAVAILABLE, "busy", "the log is being read"));
        };
        if followed.refreshed.elapsed() < REFRESH_EVERY {
            let found = read(&followed.follower);
            if found.is_ok() {
                return found;
            }
        }
        followed.follower.refresh().map_err(|error| match error.kind() {
            // Another database took its place.
            ErrorKind::Invalid => {
                let message = "the database was replaced: end the server and start it again";
                Failure::refused(StatusCode::CONFLICT, "replaced", message)
            }
            _ => error.into(),
        })?;
        followed.refreshed = Instant::now();
        read(&followed.follower)
    }

    /// The number of the newest version.
    pub(crate) fn newest(&self) -> Outcome<u64> {
        self.up_to_date(|follower| Ok(follower.newest()))
    }

    /// The version that is selected by number, tag or time; the newest without a selector.
    pub(crate) fn version(&self, selector: Option<&VersionSelector>) -> Outcome<Version> {
        self.up_to_date(|follower| {
            let newest = follower.at(follower.newest())?;
            let Some(selector) = selector else { return Ok(newest) };
            let records: Vec<VersionRecord> = follower.versions().cloned().collect();
            Ok(follower.at(select_version(selector, &records, newest.manifest())?)?)
        })
    }

    /// The records of all versions, oldest first, and the newest version.
    pub(crate) fn versions(&self) -> Outcome<(Vec<VersionRecord>, Version)> {
        self.up_to_date(|follower| {
            Ok((follower.versions().cloned().collect(), follower.at(follower.newest())?))
        })
    }
}

//! Commits of a command: says "committed as version N" as soon as one is durable, and ends the process on a
//! signal, but never while the record of a commit is being written.

use parking_lot::{Condvar, Mutex, MutexGuard};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use esker::graph::Cancel;
use esker::store::database::CommitWatch;
use esker::store::io::end_on_failing_pages;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::failure::{EXIT_DONE, Failure};
use crate::interrupt::work_begins;
use crate::show::text;

/// How often a signal is looked for: its handler can only set a flag.
const SIGNAL_EVERY: Duration = Duration::from_millis(10);

/// The commits of a command so far.
#[derive(Debug)]
pub(crate) struct Commits {
    database: PathBuf,
    state: Mutex<CommitsState>,
    changed: Condvar,
    /// Takes back what is handed to another process.
    withdrawal: Cancel,
}

#[derive(Debug, Default)]
struct CommitsState {
    /// The durable versions, ascending.
    versions: Vec<u64>,
    /// Whether they are all that the command was to commit.
    is_complete: bool,
    /// Whether the writing of a record has failed.
    is_unknown: bool,
    /// Commits whose records are being written.
    writing: usize,
    is_ending: bool,
}

impl Commits {
    /// Of a command that makes one commit if `single`; otherwise [`Commits::complete`] tells that all are
    /// made. From now on SIGINT, SIGTERM and SIGHUP end the process at once, or as soon as the commit in
    /// progress is durable. This is safe: a database survives the end of its writer at any moment.
    ///
    /// # Errors
    /// If the system refuses the signal handlers.
    pub(crate) fn end_on_signals(database: &Path, single: bool) -> std::io::Result<Arc<Self>> {
        let state = CommitsState { is_complete: single, ..CommitsState::default() };
        let database = database.to_owned();
        let commits = Arc::new(Self {
            database,
            state: Mutex::new(state),
            changed: Condvar::new(),
            withdrawal: Cancel::default(),
        });
        let asked = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register(signal, Arc::clone(&asked))?;
        }
        work_begins();
        let shared = Arc::clone(&commits);
        std::thread::spawn(move || {
            while !asked.load(Ordering::Relaxed) {
                std::thread::sleep(SIGNAL_EVERY);
            }
            shared.end();
        });
        Ok(commits)
    }

    /// Notes that everything is committed.
    pub(crate) fn complete(&self) {
        let mut state = self.state();
        state.is_complete = true;
        state.choose_exit_code();
    }

    /// A signal cancels this: what another process has been given to commit, and has not begun with, is taken
    /// back.
    pub(crate) fn withdrawal(&self) -> Cancel {
        self.withdrawal.clone()
    }

    /// A failure of the command, which says so if everything is committed.
    pub(crate) fn failed(&self, failure: Failure) -> Failure {
        self.state().failure(failure)
    }

    fn state(&self) -> MutexGuard<'_, CommitsState> {
        self.state.lock()
    }

    /// Ends the process once no commit is being written.
    fn end(&self) -> ! {
        self.withdrawal.cancel();
        let mut state = self.state();
        if state.writing > 0 {
            text::remark_over_bar("interrupted: ending as soon as the commit in progress is durable");
        }
        while state.writing > 0 {
            self.changed.wait(&mut state);
        }
        state.is_ending = true;
        text::end_process(&state.failure(Failure::Interrupted))
    }
}

impl CommitsState {
    /// The exit code if a page of a file fails, which ends the process at once: it tells whether everything
    /// is committed.
    fn choose_exit_code(&self) {
        if self.is_complete && !self.versions.is_empty() {
            end_on_failing_pages(EXIT_DONE);
        }
    }

    fn failure(&self, failure: Failure) -> Failure {
        if self.is_unknown && matches!(failure, Failure::Interrupted) {
            let reason = "interrupted; `esker log` shows whether the last changes were committed or not";
            return Failure::Failed(reason.to_owned());
        }
        if self.is_unknown && matches!(failure, Failure::Failed(_) | Failure::Library(_)) {
            return failure.between("", "; `esker log` shows whether the last changes were committed or not");
        }
        if self.versions.is_empty() || !self.is_complete {
            return failure;
        }
        failure.after(&format!("committed as {}", describe_versions(&self.versions)))
    }
}

impl CommitWatch for Commits {
    fn begin(&self) {
        let mut state = self.state();
        while state.is_ending {
            self.changed.wait(&mut state);
        }
        state.writing += 1;
    }

    fn withdraw(&self) {
        self.state().writing -= 1;
        self.changed.notify_all();
    }

    fn end(&self, durable: Option<u64>) {
        let mut state = self.state();
        state.writing -= 1;
        match durable {
            Some(version) => {
                state.versions.push(version);
                let name = self.database.display();
                text::remark_over_bar(&format!("{name}: committed as version {version}"));
                state.choose_exit_code();
            }
            None => state.is_unknown = true,
        }
        self.changed.notify_all();
    }
}

/// `version 5`, or `versions 5 to 9`, or `3 versions from 5 to 9` if others are between them.
pub(crate) fn describe_versions(versions: &[u64]) -> String {
    match versions {
        [] => "no version".to_owned(),
        [one] => format!("version {one}"),
        [first, .., last] if last - first < versions.len() as u64 => format!("versions {first} to {last}"),
        [first, .., last] => format!("{} versions from {first} to {last}", versions.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_what_is_committed_once_that_is_everything() {
        let failure = |state: &CommitsState| {
            let failure = state.failure(Failure::Failed("the disk is full".to_owned()));
            (failure.exit_code(), failure.words().unwrap_or_default())
        };
        let mut state = CommitsState::default();
        assert_eq!(failure(&state).0, 1);
        state.versions = vec![4, 5];
        assert_eq!(failure(&state).0, 1, "there is more to commit");
        state.is_complete = true;
        let (code, text) = failure(&state);
        assert!(text.contains("committed as versions 4 to 5, but then: the disk is full"), "{text}");
        assert_eq!((code, state.failure(Failure::Interrupted).exit_code()), (3, 3));
        assert_eq!(state.failure(Failure::PipeClosed).exit_code(), 0, "as with `head`");
        state.is_unknown = true;
        let (code, text) = failure(&state);
        assert!(code == 1 && text.contains("`esker log` shows whether"), "{text}");
        let interrupted = state.failure(Failure::Interrupted);
        assert_eq!(interrupted.exit_code(), 1, "it may have been committed");
    }
}

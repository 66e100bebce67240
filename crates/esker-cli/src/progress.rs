//! Progress bars, on a terminal only.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use esker::graph::{OnProgress, Progress};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::text;

/// A bar or a spinner on standard error; hidden if standard error is not a terminal, or `quiet` or `--quiet` is set.
#[derive(Debug, Clone)]
pub(crate) struct Bar {
    bar: ProgressBar,
}

impl Bar {
    /// A bar with a message, a percentage and the time left.
    pub(crate) fn percent(quiet: bool) -> Self {
        Self::styled(quiet, Some(1000), "{msg:<12} [{bar:30}] {percent:>3} %  {prefix}  {eta} left")
    }

    /// A spinner with a message, for work of unknown length.
    pub(crate) fn spinner(quiet: bool) -> Self {
        Self::styled(quiet, None, "{spinner} {msg}  {elapsed}")
    }

    fn styled(quiet: bool, length: Option<u64>, template: &str) -> Self {
        let shown = !quiet && !text::is_quiet() && std::io::stderr().is_terminal();
        let target =
            if shown { ProgressDrawTarget::stderr_with_hz(10) } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(length, target);
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        Self { bar }
    }

    /// Sets the stage, the fraction done (0 to 1), and a remark such as a rate.
    pub(crate) fn set(&self, stage: &str, fraction: f64, remark: String) {
        if self.bar.message() != stage {
            self.bar.set_message(stage.to_owned());
            self.bar.reset_eta();
        }
        self.bar.set_position((fraction.clamp(0.0, 1.0) * 1000.0) as u64);
        self.bar.set_prefix(remark);
    }

    /// Removes the bar.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// A callback for a run that shows the current round.
    pub(crate) fn on_round(&self, algorithm: &'static str) -> OnProgress {
        let bar = self.bar.clone();
        let last = Arc::new(AtomicU64::new(0));
        Arc::new(move |Progress { round, active }| {
            // Graphs with long paths have thousands of rounds per second; a message for each would cost more than the rounds.
            let now = bar.elapsed().as_millis() as u64 / 100;
            if last.swap(now, Ordering::Relaxed) != now {
                bar.set_message(format!("{algorithm}: round {round}, {active} active"));
            }
        })
    }
}

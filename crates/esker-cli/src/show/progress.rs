//! Progress bars, on a terminal only.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use esker::graph::{OnProgress, Progress};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::show::text;

/// A bar or a spinner on standard error; hidden if standard error is not a terminal, or `quiet` or `--quiet`
/// is set.
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

    /// Takes the bar away while something else is printed.
    pub(crate) fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }

    /// Removes the bar.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// A callback for a run that shows how far it is. `name` stands for a stage without a name.
    pub(crate) fn on_round(&self, name: &'static str) -> OnProgress {
        let bar = self.bar.clone();
        let last = Arc::new(AtomicU64::new(0));
        Arc::new(move |progress: Progress<'_>| {
            // Graphs with long paths have thousands of rounds per second; a message for each would cost more
            // than the rounds.
            let now = bar.elapsed().as_millis() as u64 / 100;
            if last.swap(now, Ordering::Relaxed) != now {
                bar.set_message(describe(name, &progress));
            }
        })
    }
}

/// `betweenness: 12 of 40 (30 %), round 91, 2048 active`.
fn describe(name: &str, progress: &Progress<'_>) -> String {
    let Progress { stage, round, active, done } = *progress;
    let stage = if stage.is_empty() { name } else { stage };
    match (done, progress.fraction()) {
        (Some((done, total)), Some(fraction)) => {
            let percent = (100.0 * fraction) as u64;
            format!("{stage}: {done} of {total} ({percent} %), round {round}, {active} active")
        }
        _ => format!("{stage}: round {round}, {active} active"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Progress, describe};

    #[test]
    fn a_bar_shows_parts_where_they_are_known() {
        let progress = Progress { stage: "betweenness", round: 91, active: 2048, done: Some((12, 40)) };
        let text = describe("run", &progress);
        assert_eq!(text, "betweenness: 12 of 40 (30 %), round 91, 2048 active");
        let unknown = Progress { stage: "", done: None, ..progress };
        assert_eq!(describe("reading the log", &unknown), "reading the log: round 91, 2048 active");
    }
}

//! Alerts of windows that follow each other, and what else goes from one window to the next.

use esker::alert::SeriesAlerts;
use esker::answer::Answer;
use esker::catalogue::Entry;
use esker::store::View;
use esker::window::Span;
use serde_json::json;

use super::args::WindowCommand;
use crate::failure::{Failure, Outcome};
use crate::interrupt;
use crate::show::alerts::AlertSink;
use crate::show::group_events::GroupHistory;

/// What goes from one window to the next.
pub(super) struct Carried {
    /// The alerts that were raised, if they are asked for.
    pub(super) alerts: Option<WindowAlerts>,
    /// The names of groups, of the windows of each length by itself.
    pub(super) groups: GroupHistory,
}

/// Raises alerts, of the windows of each length by itself.
pub(super) struct WindowAlerts {
    of_lengths: Vec<(Span, SeriesAlerts)>,
    sink: AlertSink,
}

impl WindowAlerts {
    /// Those that were asked for; `None` if none were.
    pub(super) fn of(
        command: &WindowCommand,
        entry: &'static Entry,
        view: &View,
    ) -> Result<Option<Self>, Failure> {
        let Some(rule) = command.alerts.rule() else { return Ok(None) };
        let mut of_lengths: Vec<(Span, SeriesAlerts)> = Vec::new();
        for &length in &command.length {
            of_lengths.push((length, SeriesAlerts::new(&rule, entry, view)?));
        }
        Ok(Some(Self { of_lengths, sink: command.alerts.sink() }))
    }

    /// Raises the alerts of the next window of a length.
    pub(super) fn step(&mut self, length: Span, until: &str, view: &View, answer: &Answer) -> Outcome {
        let Some((_, alerts)) = self.of_lengths.iter_mut().find(|(own, _)| *own == length) else {
            return Ok(());
        };
        for alert in alerts.step(view, answer, interrupt::token())? {
            let mut object = alert.to_json();
            object.insert("until".to_owned(), json!(until));
            object.insert("length".to_owned(), json!(length.to_string()));
            self.sink.give(object)?;
        }
        Ok(())
    }

    /// Says how many there were.
    pub(super) fn finish(&self) -> Outcome {
        self.sink.finish()
    }
}

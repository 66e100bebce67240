//! Alerts of commands that follow a database.

use clap::Args;
use esker::alert::AlertRule;
use esker::selection::Condition;

use crate::failure::{Failure, Outcome};
use crate::show::alerts::AlertSink;
use crate::show::rows::RowFormat;

/// Alerts.
#[derive(Debug, Args)]
#[command(next_help_heading = "Alerts")]
pub(crate) struct AlertArgs {
    /// Raise an alert for each row that begins to meet a condition on its columns, in the words of --where,
    /// such as "rank > 0.1 and id like 'x%'"; once, and not again until the row has ceased to meet it. The
    /// id is called vertex or id; of groups, size is their number of vertices: "size > 1000". Rows of the
    /// first answer that meet it raise alerts, too. An alert is a line of JSON on standard output, in place
    /// of the rows
    #[arg(long, value_name = "CONDITION")]
    alert: Option<Condition>,
    /// Raise an alert for each row that was not in the answer before, or had no value; those of the first
    /// answer are not new. With --alert, "alert" says what raised it: "condition", "new" or "both"
    #[arg(long)]
    alert_new: bool,
    /// A value that moved by less than this since it was told last has not changed
    #[arg(long, value_name = "X", value_parser = parse_change)]
    pub(crate) min_change: Option<f64>,
    /// Run this command in a shell for each alert, with the alert as a line of JSON on its standard input,
    /// and print rows as without alerts. If it fails, that is told, the next alerts are raised all the same,
    /// and the exit code is 1
    #[arg(long, value_name = "COMMAND")]
    exec: Option<String>,
}

fn parse_change(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(least) if least.is_finite() && least >= 0.0 => Ok(least),
        _ => Err("it is no number of at least 0".to_owned()),
    }
}

impl AlertArgs {
    /// What raises an alert; `None` if nothing does.
    pub(crate) fn rule(&self) -> Option<AlertRule> {
        let Self { alert, alert_new, min_change, .. } = self;
        (alert.is_some() || *alert_new).then(|| AlertRule {
            condition: alert.clone(),
            new_rows: *alert_new,
            min_change: *min_change,
        })
    }

    /// As [`AlertRule::reader`]; empty without alerts.
    pub(crate) fn reader(&self) -> String {
        self.rule().map(|rule| rule.reader(self.exec.as_deref())).unwrap_or_default()
    }

    /// Whether new rows raise alerts.
    pub(crate) fn tells_new(&self) -> bool {
        self.alert_new
    }

    /// Whether alerts are printed, and rows are not.
    pub(crate) fn replaces_rows(&self) -> bool {
        self.rule().is_some() && self.exec.is_none()
    }

    /// Where alerts go.
    pub(crate) fn sink(&self) -> AlertSink {
        AlertSink::new(self.exec.clone())
    }

    /// Refuses options without effect. `chosen` are options that choose rows, and whether they are given.
    pub(crate) fn check(&self, format: Option<RowFormat>, chosen: &[(&str, bool)]) -> Outcome {
        let refuse = |message: String| Err(Failure::Usage(message));
        if self.exec.is_some() && self.rule().is_none() {
            return refuse(
                "--exec has no effect without alerts: --alert or --alert-new raises them".to_owned(),
            );
        }
        if !self.replaces_rows() {
            return Ok(());
        }
        if format.is_some_and(|format| format != RowFormat::Jsonl) {
            return refuse("alerts are printed as jsonl, and --format has no effect: leave it out, or hand the alerts to a command with --exec".to_owned());
        }
        match chosen.iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => refuse(format!(
                "{option} has no effect: alerts are printed in place of rows; --exec hands them to a command, and rows are printed"
            )),
            None => Ok(()),
        }
    }
}

//! Text on standard output and standard error. A closed pipe ends a command without a message.

use std::io::Write;

use esker::import::source::Rejected;
use serde_json::{Value, json};

use crate::failure::{Failure, Outcome};

/// Prints a line.
pub(crate) fn line(text: &str) -> Outcome {
    writeln!(std::io::stdout().lock(), "{text}").map_err(|error| match Failure::from(error) {
        Failure::Failed(reason) => Failure::Failed(format!("cannot write to standard output: {reason}")),
        other => other,
    })
}

/// Prints a JSON value, indented.
pub(crate) fn json(value: &serde_json::Value) -> Outcome {
    let text = serde_json::to_string_pretty(value).map_err(|error| Failure::Failed(error.to_string()))?;
    line(&text)
}

/// Prints rows of a name and a value, with the values aligned.
pub(crate) fn facts(rows: &[(String, String)]) -> Outcome {
    aligned(rows).try_for_each(|row| line(&row))
}

/// Like [`facts`], on standard error.
pub(crate) fn remark_facts(rows: &[(String, String)]) {
    aligned(rows).for_each(|row| remark(&row));
}

fn aligned(rows: &[(String, String)]) -> impl Iterator<Item = String> {
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    rows.iter().map(move |(name, value)| format!("{name:<width$}  {value}"))
}

/// Prints a line on standard error. If that is closed or full, the line is lost: the work goes on.
pub(crate) fn remark(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Prints the message of a failure and ends the process.
pub(crate) fn end_process(failure: &Failure) -> ! {
    match failure {
        Failure::Usage(message) | Failure::Failed(message) | Failure::Done(message) => {
            remark(&format!("esker: {message}"));
        }
        Failure::Interrupted => remark("esker: interrupted"),
        Failure::PipeClosed => {}
    }
    std::process::exit(failure.exit_code())
}

/// Prints a sample of the skipped lines on standard error.
pub(crate) fn remark_rejected(sample: &[Rejected]) {
    for bad in sample {
        remark(&format!("{}:{}: {}: {:?}", bad.path.display(), bad.line, bad.reason, bad.text));
    }
}

/// A sample of the skipped lines as JSON.
pub(crate) fn rejected_json(sample: &[Rejected]) -> Vec<Value> {
    let one = |bad: &Rejected| json!({ "path": bad.path.display().to_string(), "line": bad.line, "text": bad.text, "reason": bad.reason });
    sample.iter().map(one).collect()
}

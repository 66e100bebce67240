//! Text on standard output and standard error. A closed pipe ends a command without a message.
//!
//! Ids, messages and names come from inputs, and may hold control characters that move the cursor, colour the
//! terminal or give it a title. In lines for people, and in all that a terminal shows, they are escaped.

use std::borrow::Cow;
use std::io::{IsTerminal, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use esker::graph::Message;
use esker::import::export::escaped;
use esker::import::read::source::Rejected;
use esker::store::Reported;
use serde_json::{Value, json};

use crate::failure::{Failure, Outcome};
use crate::language::said;

/// Whether `--quiet` was given.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Leaves out remarks and progress from now on.
pub(crate) fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Whether remarks and progress are left out.
pub(crate) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// A value fit for a cell of a table.
pub(crate) fn cell(text: &str) -> Cow<'_, str> {
    escaped(text, &[])
}

/// A message fit for a terminal; it may have several lines.
pub(crate) fn message(text: &str) -> Cow<'_, str> {
    escaped(text, &['\n', '\t'])
}

/// Prints a line. Tabs separate its columns.
pub(crate) fn line(text: &str) -> Outcome {
    print(&escaped(text, &['\t']))
}

/// Prints a text as it is, but for control characters on a terminal.
pub(crate) fn print(text: &str) -> Outcome {
    static IS_TERMINAL: OnceLock<bool> = OnceLock::new();
    let mut out = std::io::stdout().lock();
    let text = match IS_TERMINAL.get_or_init(|| out.is_terminal()) {
        true => message(text),
        false => Cow::Borrowed(text),
    };
    writeln!(out, "{text}")
        .map_err(|error| Failure::from(error).between("cannot write to standard output: ", ""))
}

/// Prints a JSON value, indented.
pub(crate) fn json(value: &serde_json::Value) -> Outcome {
    let text = serde_json::to_string_pretty(value).map_err(|error| Failure::Failed(error.to_string()))?;
    print(&text)
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
    let width = rows.iter().map(|(name, _)| cell(name).chars().count()).max().unwrap_or(0);
    rows.iter().map(move |(name, value)| format!("{:<width$}  {}", cell(name), cell(value)))
}

/// Prints a line on standard error, unless `--quiet` was given.
pub(crate) fn remark(text: &str) {
    if !is_quiet() {
        warn(text);
    }
}

/// Prints a line on standard error also with `--quiet`. If that is closed or full, the line is lost: the work
/// goes on.
pub(crate) fn warn(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", message(text));
}

/// As [`remark`], in place of a progress bar that a terminal may show.
pub(crate) fn remark_over_bar(text: &str) {
    if !is_quiet() {
        warn_over_bar(text);
    }
}

fn warn_over_bar(text: &str) {
    if std::io::stderr().is_terminal() {
        let _ = write!(std::io::stderr().lock(), "\r\x1b[2K");
    }
    warn(text);
}

/// Prints the message of a failure and ends the process.
pub(crate) fn end_process(failure: &Failure) -> ! {
    if as_json() {
        let done = match failure {
            Failure::Done(failure) => Some(failure.done.as_str()),
            _ => None,
        };
        warn_as_json(&failure.reported(), done);
    } else if let Some(words) = failure.words() {
        warn_over_bar(&format!("esker: {words}"));
    }
    std::process::exit(failure.exit_code())
}

/// Whether a failure is printed as JSON, for the Python package: `ESKER_ERRORS=json`.
pub(crate) fn as_json() -> bool {
    std::env::var_os("ESKER_ERRORS").is_some_and(|form| form == "json")
}

/// Prints a failure as a line of JSON: what it is, what it says, and what was done before it.
pub(crate) fn warn_as_json(reported: &Reported, done: Option<&str>) {
    let said = json!({ "error": reported, "done": done });
    let _ = writeln!(std::io::stderr().lock(), "{said}");
}

/// Prints a sample of the skipped lines on standard error.
pub(crate) fn remark_rejected(sample: &[Rejected]) {
    for bad in sample {
        remark(&format!(
            "{}:{}: {}: {:?}",
            bad.path.display(),
            bad.line,
            said(&bad.reason),
            bad.text.to_string()
        ));
    }
}

/// Prints the warnings of an input.
pub(crate) fn warn_of(warnings: &[Message]) {
    warnings.iter().for_each(|warning| warn(&format!("warning: {}", said(warning))));
}

/// A sample of the skipped lines as JSON.
pub(crate) fn rejected_json(sample: &[Rejected]) -> Vec<Value> {
    let one = |bad: &Rejected| json!({ "path": bad.path.display().to_string(), "line": bad.line, "text": bad.text.to_string(), "reason": said(&bad.reason) });
    sample.iter().map(one).collect()
}

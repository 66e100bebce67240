//! Compares the time and memory of a run with those predicted by its plan.

use std::time::Instant;

use esker::answer::Answer;
use esker::catalogue::Resources;
use esker::graph::{Run, SourceReads};
use esker::plan::{PROCESS_BYTES, Plan, Price};
use esker::store::View;
use serde_json::{Value, json};

use crate::args::resources::{bytes_read, mapped_files, peak_memory_bytes};
use crate::args::size::{bytes, seconds};

/// Rows of mapped files that are shown one by one.
const MAPPED_ROWS: usize = 6;

/// What a run took.
#[derive(Debug)]
pub(crate) struct Actual {
    /// Until the version was open; `None` if it was imported for the run.
    opening: Option<f64>,
    /// Until the answer, with verifying and gathering.
    running: f64,
    /// The algorithm alone.
    computing: f64,
    /// Bytes that the system read from the disk for it.
    disk_bytes: Option<u64>,
}

impl Actual {
    /// Counts a run; a serial verifier that was asked for is a part of it.
    pub(crate) fn of<E>(run: impl FnOnce() -> Result<Answer, E>) -> Result<(Answer, Self), E> {
        let (begin, before) = (Instant::now(), bytes_read());
        let answer = run()?;
        let running = begin.elapsed().as_secs_f64();
        let disk_bytes = before.zip(bytes_read()).map(|(before, after)| after - before);
        let actual = Self { opening: None, running, computing: answer.seconds, disk_bytes };
        Ok((answer, actual))
    }

    /// The same, after an opening that took so long; `None`: a graph that was imported for the run.
    pub(crate) fn after(self, opening: Option<f64>) -> Self {
        Self { opening, ..self }
    }

    /// All of it.
    fn seconds(&self) -> f64 {
        self.opening.unwrap_or(0.0) + self.running
    }

    /// The parts: opening, what came before the algorithm, the algorithm.
    fn parts(&self) -> Vec<(&'static str, f64)> {
        let preparing = (self.running - self.computing).max(0.0);
        let opening = self.opening.map(|opening| ("opening", opening));
        opening.into_iter().chain([("preparing", preparing), ("computing", self.computing)]).collect()
    }
}

/// The parts of a predicted time as those of an actual time are known.
fn predicted_parts(price: &Price, is_opened: bool) -> Vec<(&'static str, f64)> {
    let preparing = price.verifying + price.gathering;
    let parts = [
        ("opening", price.opening),
        ("preparing", preparing),
        ("reading", price.reading),
        ("computing", price.computing),
    ];
    parts.into_iter().filter(|(name, _)| is_opened || *name != "opening").collect()
}

/// The seconds that were predicted of what was timed.
fn predicted_seconds(price: &Price, actual: &Actual) -> f64 {
    predicted_parts(price, actual.opening.is_some()).iter().map(|part| part.1).sum()
}

/// `opening 1.2 ms, preparing 8.0 ms, computing 60 ms`.
fn sentence(parts: &[(&'static str, f64)]) -> String {
    let shown = parts.iter().map(|(name, taken)| format!("{name} {}", seconds(*taken)));
    shown.collect::<Vec<_>>().join(", ")
}

/// A predicted price in rows of a name and a value.
pub(crate) fn price_rows(price: &Price) -> Vec<(String, String)> {
    let parts: Vec<_> = price.parts().into_iter().filter(|part| part.1 > 0.0).collect();
    vec![
        ("time".to_owned(), format!("{} predicted: {}", seconds(price.seconds()), sentence(&parts))),
        (
            "disk".to_owned(),
            format!("{} predicted, without what the page cache holds", bytes(price.disk_bytes)),
        ),
    ]
}

/// What a run read and took, beside what was predicted, in rows of a name and a value.
pub(crate) fn actual_rows(
    plan: &Plan,
    view: &View,
    resources: &Resources,
    run: &Run,
    actual: &Actual,
) -> Vec<(String, String)> {
    let unknown = || "unknown".to_owned();
    let price = &plan.chosen().price;
    let mut rows: Vec<_> = run.reads().all().iter().map(|reads| source_row(reads, view)).collect();
    rows.extend(mapped_rows(&mapped_files(view.version().path())));
    if let Some(mapped) = mapped_bytes(run, actual) {
        let value = format!("{} read by the system, the rest was in the page cache", bytes(mapped));
        rows.push(("mapped files".to_owned(), value));
    }
    rows.push(("took".to_owned(), format!("{}: {}", seconds(actual.seconds()), sentence(&actual.parts()))));
    let parts = predicted_parts(price, actual.opening.is_some());
    let predicted = predicted_seconds(price, actual);
    let ratio = if predicted > 0.0 { actual.seconds() / predicted } else { 1.0 };
    rows.push((
        "predicted".to_owned(),
        format!("{}: {}; actual / predicted {ratio:.2}", seconds(predicted), sentence(&parts)),
    ));
    let from_disk = actual.disk_bytes.map_or_else(unknown, bytes);
    let most = bytes(plan.chosen().read_bytes);
    let read = format!(
        "{from_disk} from the disk; predicted: {}, and {most} of lists at most, from memory where they fit",
        bytes(price.disk_bytes)
    );
    rows.push(("read".to_owned(), read));
    let peak = peak_memory_bytes().map_or_else(unknown, bytes);
    let beside = if plan.chosen().is_mapped() { ", and pages of mapped files" } else { "" };
    let predicted = bytes(predicted_bytes(plan, resources));
    rows.push(("memory".to_owned(), format!("{peak} at the peak; predicted: {predicted} at most{beside}")));
    rows
}

/// Bytes that the system read from the disk for mapped files: of lists, of weights beside a pool or heads, of
/// later layers that are gathered. They are what it read in all without what was read past the page cache.
fn mapped_bytes(run: &Run, actual: &Actual) -> Option<u64> {
    let past_the_cache: u64 = run.reads().all().iter().map(|reads| reads.read_bytes).sum();
    Some(actual.disk_bytes?.saturating_sub(past_the_cache))
}

/// Rows of the mapped files that were looked at most; a version of many layers has hundreds, so the others
/// are one row.
fn mapped_rows(files: &[(String, u64)]) -> Vec<(String, String)> {
    let (shown, others) = files.split_at(files.len().min(MAPPED_ROWS));
    let value = |looked_at| format!("{} looked at", bytes(looked_at));
    let mut rows: Vec<_> =
        shown.iter().map(|(file, looked_at)| (format!("{file}, mapped"), value(*looked_at))).collect();
    if !others.is_empty() {
        let sum = others.iter().map(|file| file.1).sum();
        rows.push((format!("{} other files, mapped", others.len()), value(sum)));
    }
    rows
}

/// `layers/1/tiles.data, pool` and `12 MiB read, 30 MiB found in memory`.
fn source_row(reads: &SourceReads, view: &View) -> (String, String) {
    let mut value = format!("{} read", bytes(reads.read_bytes));
    if reads.kept_bytes > 0 {
        let share = reads.kept_bytes as f64 / (reads.kept_bytes + reads.read_bytes) as f64 * 100.0;
        value += &format!(", {} found in memory ({share:.0} %)", bytes(reads.kept_bytes));
    }
    (format!("{}, {}", relative(reads, view), reads.way), value)
}

/// The path of a file in the database.
fn relative<'r>(reads: &'r SourceReads, view: &View) -> &'r str {
    let of_database = view.version().path().display().to_string();
    let inside = reads.source.strip_prefix(&of_database).map(|rest| rest.trim_start_matches('/'));
    inside.unwrap_or(&reads.source)
}

/// The memory that was predicted, without pages of mapped files that the system may take back.
fn predicted_bytes(plan: &Plan, resources: &Resources) -> u64 {
    let chosen = plan.chosen();
    if chosen.is_mapped() {
        return plan.estimate.memory_bytes + PROCESS_BYTES;
    }
    chosen.whole_bytes.min(resources.memory.bytes())
}

/// What a run read and took as JSON.
pub(crate) fn actual_json(
    plan: &Plan,
    view: &View,
    resources: &Resources,
    run: &Run,
    actual: &Actual,
) -> Value {
    let of_source = |reads: &SourceReads| {
        json!({
            "file": relative(reads, view),
            "way": reads.way,
            "read_bytes": reads.read_bytes,
            "kept_bytes": reads.kept_bytes,
        })
    };
    let of_mapped = |(file, looked_at): &(String, u64)| json!({ "file": file, "bytes_looked_at": looked_at });
    let price = &plan.chosen().price;
    json!({
        "reads": run.reads().all().iter().map(of_source).collect::<Vec<_>>(),
        "mapped_bytes": mapped_bytes(run, actual),
        "mapped_files": mapped_files(view.version().path()).iter().map(of_mapped).collect::<Vec<_>>(),
        "seconds": actual.seconds(),
        "parts": actual.parts().into_iter().collect::<std::collections::BTreeMap<_, _>>(),
        "predicted_seconds": predicted_seconds(price, actual),
        "disk_bytes": actual.disk_bytes,
        "predicted_disk_bytes": price.disk_bytes,
        "bytes_read": bytes_read(),
        "peak_memory_bytes": peak_memory_bytes(),
        "predicted_read_bytes": plan.chosen().read_bytes,
        "predicted_memory_bytes": predicted_bytes(plan, resources),
    })
}

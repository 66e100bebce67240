//! Code shared by `esker add` and `esker delete`: reads files and commits their edges.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use esker::change::{Definition, FeedOptions, FeedReport, Purpose, feed};
use esker::graph::Cancel;
use esker::import::options::Duplicates;
use esker::import::rejects::RejectsFile;
use esker::store::{CommitSizing, Error};
use esker::window::Declared;
use serde_json::json;

use crate::args::importing::{BadLinesArg, KindFilesArg, RejectsArg, file_names, finish_rejects};
use crate::args::reading::ReadArgs;
use crate::args::size::{counted, rate, seconds};
use crate::failure::{Failure, Outcome};
use crate::language::said;
use crate::session::committing::{Commits, describe_versions};
use crate::session::writing::{SUMMARY_CHANGES_MAX, WriteArgs, WriteSummary, Writing};
use crate::show::progress::Bar;
use crate::show::text;

/// What becomes of the edges that are read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Feeding<'a> {
    purpose: Purpose,
    /// Edge properties that are added first.
    defined: &'a [Definition],
    duplicates: Option<Duplicates>,
    allow_unknown: bool,
    takes_new_kinds: bool,
}

impl<'a> Feeding<'a> {
    /// They are added.
    pub(crate) fn add(
        defined: &'a [Definition],
        duplicates: Option<Duplicates>,
        takes_new_kinds: bool,
    ) -> Self {
        Self { purpose: Purpose::Add, defined, duplicates, allow_unknown: true, takes_new_kinds }
    }

    /// They are deleted.
    pub(crate) fn remove(allow_unknown: bool) -> Self {
        Self {
            purpose: Purpose::Remove,
            defined: &[],
            duplicates: None,
            allow_unknown,
            takes_new_kinds: false,
        }
    }
}

/// The files to read and how to commit them.
#[derive(Debug, Clone, Args)]
pub(crate) struct FeedArgs {
    /// Files of edges, in any format that `esker import` reads; `-` is standard input
    #[arg(value_name = "FILE", required_unless_present_any = ["vertices", "kind"])]
    inputs: Vec<String>,
    #[command(flatten)]
    kinds: KindFilesArg,
    /// Commit each file as a version of its own
    #[arg(long)]
    each_file: bool,
    /// Commit a version after every N edges, so that large files need little memory
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    batch: Option<u64>,
    /// What to do with malformed lines
    #[arg(long, value_enum, default_value_t)]
    bad_lines: BadLinesArg,
    #[command(flatten)]
    rejects: RejectsArg,
    /// Report as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    read: ReadArgs,
    #[command(flatten)]
    write: WriteArgs,
}

impl FeedArgs {
    pub(crate) fn carry_out(&self, path: &Path, feeding: Feeding<'_>) -> Outcome {
        let is_single = !self.each_file && self.batch.is_none();
        let commits = Commits::end_on_signals(path, is_single)?;
        self.change(path, feeding, &commits).map_err(|failure| commits.failed(failure))
    }

    fn change(&self, path: &Path, feeding: Feeding<'_>, commits: &Arc<Commits>) -> Outcome {
        let void = match feeding.purpose {
            Purpose::Remove => Some("only the ends of edges are read"),
            Purpose::Add if feeding.defined.is_empty() => {
                Some("the weight of the database is read where the files have it")
            }
            Purpose::Add => None,
        };
        if let Some(why) = void.filter(|_| self.read.no_weight) {
            return Err(Failure::Usage(format!("--no-weight has no effect: {why}")));
        }
        let begin = Instant::now();
        let mut writing = self.write.open(path, commits)?;
        writing.target = writing.target.with(feeding.defined, self.weight_of(feeding.defined))?;
        let mut report = FeedReport::default();
        let bar = Bar::percent(false);
        let rejects = self.rejects.create(path, &self.kinds.or(&self.inputs).names(), false)?;
        let fed = self.feed_all(&mut writing, feeding, &bar, rejects.as_ref(), &mut report);
        bar.finish();
        if let Err(failure) = fed {
            if !report.versions.is_empty() {
                // Versions have the rows beside these.
                finish_rejects(rejects.as_deref())?;
            }
            remark_defined(path, &writing);
            if !report.versions.is_empty() {
                // Also with --quiet: to repeat the command would commit these edges again.
                let verb = if report.versions.len() == 1 { "is" } else { "are" };
                text::warn(&format!(
                    "{}: {} with {} had been committed before the failure and {verb} kept",
                    path.display(),
                    describe_versions(&report.versions),
                    counted(report.edges, "edge", "edges")
                ));
            }
            return Err(failure);
        }
        commits.complete();
        finish_rejects(rejects.as_deref())?;
        let changes = report.edges + report.vertices;
        if feeding.purpose == Purpose::Remove && changes > SUMMARY_CHANGES_MAX {
            // So that the number of deleted edges is known.
            writing.freeze()?;
        }
        let time = Declared::of(&*writing.destination().manifest()?).time;
        let time = time.filter(|_| feeding.purpose == Purpose::Add);
        let written = self.write.finish(writing, changes, &report.versions)?;
        let replaced = written.edges_changed().unwrap_or(0) + report.duplicates;
        report.warnings.extend(time.and_then(|time| report.replaced(replaced, &time)));
        let taken = begin.elapsed().as_secs_f64();
        if self.json {
            return print_json(path, &report, &written, taken);
        }
        print(path, feeding.purpose, &report, &written, taken)
    }

    /// The weight among the defined properties, as for imports: the one named by `--weight`, else the one
    /// called weight.
    fn weight_of<'a>(&'a self, defined: &'a [Definition]) -> Option<&'a str> {
        let called = || defined.iter().map(|property| property.name.as_str()).find(|name| *name == "weight");
        match &self.read.weight {
            Some(name) => Some(name),
            None if self.read.no_weight => None,
            None => called(),
        }
    }

    fn feed_all(
        &self,
        writing: &mut Writing,
        feeding: Feeding<'_>,
        bar: &Bar,
        rejects: Option<&Arc<RejectsFile>>,
        report: &mut FeedReport,
    ) -> Outcome {
        let all = self.kinds.or(&self.inputs);
        let groups = if self.each_file { all.each()? } else { vec![all] };
        let Feeding { purpose, duplicates, allow_unknown, .. } = feeding;
        let mut read = self.rejects.reading(self.read.options()?);
        read.only_known = rejects.is_some() && purpose == Purpose::Remove && !allow_unknown;
        for group in &groups {
            let input = group.open(&writing.target, &read, purpose, feeding.takes_new_kinds)?;
            writing.define()?;
            if !self.json {
                input.notes.iter().for_each(|note| text::remark(&said(note)));
            }
            let (verb, stage) = match purpose {
                Purpose::Add => ("add", "adding"),
                Purpose::Remove => ("delete", "deleting"),
            };
            let mut names = group.names();
            if names.is_empty() {
                names.extend(self.read.vertices.clone());
            }
            let (shown, begin) = (bar.clone(), Instant::now());
            let options = FeedOptions {
                commit: self.write.commit(|| format!("{verb} {}", file_names(&names))),
                duplicates,
                batch_edges: self.batch,
                bad_lines: self.rejects.bad_lines(self.bad_lines),
                rejects: rejects.cloned(),
                allow_unknown,
                cancel: Cancel::default(),
                on_progress: Some(Arc::new(move |fraction, edges| {
                    let remark = rate(edges as f64, begin.elapsed().as_secs_f64(), "edges");
                    shown.set(stage, fraction.unwrap_or(0.0), remark);
                })),
            };
            let fed = feed(writing.destination(), &writing.target, input, &options, report);
            fed.map_err(|error| failure_of(error, self.batch))?;
        }
        Ok(())
    }
}

/// The failure of feeding. A commit that does not fit may also be divided.
fn failure_of(error: Error, batch: Option<u64>) -> Failure {
    if !CommitSizing::is_refusal(&error) {
        return error.into();
    }
    let divided = batch.map_or("with --batch N", |_| "with a lower --batch");
    Failure::Failed(format!("{error}, or commit fewer changes at a time {divided}"))
}

/// Names the properties that were added before a failure.
fn remark_defined(path: &Path, writing: &Writing) {
    let Ok(names) = writing.defined() else { return };
    let (noun, verb) = if names.len() == 1 { ("property", "was") } else { ("properties", "were") };
    if !names.is_empty() {
        text::remark(&format!(
            "{}: the edge {noun} {} {verb} added before the failure and {} kept",
            path.display(),
            names.join(", "),
            if names.len() == 1 { "is" } else { "are" }
        ));
    }
}

fn print(path: &Path, purpose: Purpose, report: &FeedReport, written: &WriteSummary, taken: f64) -> Outcome {
    let name = path.display();
    if let Some(removed) = written.edges_removed().filter(|_| purpose == Purpose::Remove && report.edges > 0)
    {
        let rows = counted(report.edges, "row", "rows");
        text::line(&format!("Deleted {} for {rows}", counted(removed, "edge", "edges")))?;
    }
    if report.versions.is_empty() {
        text::line(&format!("{name}: nothing to commit"))?;
    } else {
        text::line(&format!("{name}: {}: {}", describe_versions(&report.versions), written.describe()))?;
    }
    if report.duplicates > 0 {
        let fate = match report.rule {
            Some(Duplicates::Sum) => "Added up",
            Some(Duplicates::Min | Duplicates::Max) => "Compared",
            _ => "Skipped",
        };
        text::line(&format!("{fate} {}", counted(report.duplicates, "duplicate edge", "duplicate edges")))?;
    }
    if report.self_loops > 0 {
        let loops = counted(report.self_loops, "self-loop", "self-loops");
        text::line(&format!("Left out {loops}, as the import did"))?;
    }
    if report.rejected > 0 {
        text::line(&format!("Skipped {}", counted(report.rejected, "malformed line", "malformed lines")))?;
    }
    text::remark_rejected(&report.rejected_sample);
    text::warn_of(&report.warnings);
    if report.versions.is_empty() {
        return Ok(());
    }
    let edges = counted(report.edges, "edge", "edges");
    text::remark(&format!(
        "Read {edges} in {} ({})",
        seconds(taken),
        rate(report.edges as f64, taken, "edges")
    ));
    Ok(())
}

fn print_json(path: &Path, report: &FeedReport, written: &WriteSummary, taken: f64) -> Result<(), Failure> {
    text::json(&json!({
        "database": path.display().to_string(),
        "versions": report.versions,
        "rows": report.edges,
        "vertices": report.vertices,
        "edges_deleted": written.edges_removed(),
        "duplicates": report.duplicates,
        "self_loops": report.self_loops,
        "rejected": report.rejected,
        "rejected_sample": text::rejected_json(&report.rejected_sample),
        "warnings": report.warnings.iter().map(said).collect::<Vec<_>>(),
        "changes": written.json(),
        "seconds": taken,
    }))
}

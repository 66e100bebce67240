//! `esker sync`: makes the newest version equal to files.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use esker::change::{FeedOptions, Purpose, SyncOptions, SyncReport, sync};
use serde_json::json;

use crate::args::importing::{
    BadLinesArg, KindFilesArg, NewKindsArg, RejectsArg, file_names, finish_rejects,
};
use crate::args::reading::ReadArgs;
use crate::args::size::{counted, rate, seconds};
use crate::failure::{Failure, Outcome};
use crate::language::said;
use crate::session::committing::Commits;
use crate::session::writing::{WriteArgs, WriteSummary};
use crate::show::progress::Bar;
use crate::show::text;

/// Make the newest version equal to files of edges
///
/// Files that list all edges, such as a snapshot of each day, become one version that holds what has changed:
/// edges that no row names are removed, edges with other values get them, the rest is added. Afterwards the
/// newest version has the edges and the vertices that an import of the files would have. So vertices that no
/// row names are removed, with their properties, unless --keep-vertices is given; --vertices names vertices
/// without edges. A property of vertices that has a column in the files becomes what they say, also nothing;
/// others stay. Files are read as `esker add` reads them, with the columns that the database
/// remembers, and the database's rule for duplicates; entries of a matrix add up. Where edges are parallel,
/// those with the same values are the same ones. If nothing has changed, there is no new version. Files
/// without edges are refused, unless --allow-empty is given.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  esker sync web.esker today.csv
  esker sync web.esker today.csv --dry-run
  esker sync web.esker 'part-*.parquet' --vertices people.csv -m monday
  cat today.csv | esker sync web.esker - --keep-vertices")]
pub(crate) struct SyncCommand {
    /// The database
    database: PathBuf,
    /// Files of all edges, in any format that `esker import` reads; `-` is standard input
    #[arg(value_name = "FILE", required_unless_present = "kind")]
    inputs: Vec<String>,
    #[command(flatten)]
    kinds: KindFilesArg,
    #[command(flatten)]
    new: NewKindsArg,
    /// Count the changes, and commit nothing
    #[arg(long, conflicts_with = "freeze")]
    dry_run: bool,
    /// Keep vertices that no row names, without edges
    #[arg(long)]
    keep_vertices: bool,
    /// Let files without edges remove all edges
    #[arg(long)]
    allow_empty: bool,
    /// What to do with malformed lines. The edges of skipped lines are removed
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

impl SyncCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        if self.read.no_weight {
            return Err(Failure::Usage(
                "--no-weight has no effect: the weight of the database is read where the files have it"
                    .to_owned(),
            ));
        }
        let commits = Commits::end_on_signals(&self.database, true)?;
        self.change(&commits).map_err(|failure| commits.failed(failure))
    }

    fn change(&self, commits: &Arc<Commits>) -> Outcome {
        let begin = Instant::now();
        let writing = self.write.open_alone(&self.database, commits)?;
        let read = self.rejects.reading(self.read.options()?);
        let files = self.kinds.or(&self.inputs);
        let rejects = self.rejects.create(&self.database, &files.names(), false)?;
        let input = files.open(&writing.target, &read, Purpose::Add, self.new.new_kinds)?;
        if !self.json {
            input.notes.iter().for_each(|note| text::remark(&said(note)));
        }
        let bar = Bar::percent(false);
        let (shown, since) = (bar.clone(), Instant::now());
        let feed = FeedOptions {
            commit: self.write.commit(|| format!("sync {}", file_names(&files.names()))),
            bad_lines: self.rejects.bad_lines(self.bad_lines),
            rejects: rejects.clone(),
            on_progress: Some(Arc::new(move |fraction, edges| {
                let remark = rate(edges as f64, since.elapsed().as_secs_f64(), "edges");
                shown.set("reading", fraction.unwrap_or(0.0), remark);
            })),
            ..FeedOptions::default()
        };
        let Self { keep_vertices, allow_empty, dry_run, .. } = *self;
        let options = SyncOptions { feed, keep_vertices, allow_empty, dry_run };
        let done = sync(writing.own()?, &writing.target, input, &options, &writing.run);
        bar.finish();
        let report = done?;
        finish_rejects(rejects.as_deref())?;
        let written = self.write.finish_counted(writing, report.changes)?;
        let taken = begin.elapsed().as_secs_f64();
        match self.json {
            true => print_json(&self.database, &report, &written, dry_run, taken),
            false => print(&self.database, &report, &written, dry_run, taken),
        }
    }
}

fn print(path: &Path, report: &SyncReport, written: &WriteSummary, dry_run: bool, taken: f64) -> Outcome {
    let (name, changes) = (path.display(), written.describe());
    match report.version {
        Some(version) => text::line(&format!("{name}: version {version}: {changes}"))?,
        None if dry_run => text::line(&format!("{name}: nothing committed, would be: {changes}"))?,
        None => text::line(&format!("{name}: nothing to commit: the newest version equals the input"))?,
    }
    let input = &report.input;
    if input.rejected > 0 {
        text::line(&format!("Skipped {}", counted(input.rejected, "malformed line", "malformed lines")))?;
    }
    text::remark_rejected(&input.rejected_sample);
    text::warn_of(&input.warnings);
    let edges = counted(input.edges, "edge", "edges");
    text::remark(&format!(
        "Read {edges} in {} ({})",
        seconds(taken),
        rate(input.edges as f64, taken, "edges")
    ));
    Ok(())
}

fn print_json(
    path: &Path,
    report: &SyncReport,
    written: &WriteSummary,
    dry_run: bool,
    taken: f64,
) -> Result<(), Failure> {
    let input = &report.input;
    text::json(&json!({
        "database": path.display().to_string(),
        "version": report.version,
        "dry_run": dry_run,
        "changes": written.json(),
        "rows": input.edges,
        "vertices": input.vertices,
        "duplicates": input.duplicates,
        "self_loops": input.self_loops,
        "rejected": input.rejected,
        "rejected_sample": text::rejected_json(&input.rejected_sample),
        "warnings": input.warnings.iter().map(said).collect::<Vec<_>>(),
        "seconds": taken,
    }))
}

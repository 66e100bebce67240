//! Code shared by the verbs that change a database: options, opening, and the summary of changes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant, UNIX_EPOCH};

use clap::Args;
use esker::change::{Destination, Target, check_message};
use esker::differences::summary_json;
use esker::graph::{Cancel, Run};
use esker::store::database::CommitWatch;
use esker::store::diff::{DiffSummary, diff, diff_vertices};
use esker::store::freeze::ChangeCounts;
use esker::store::manifest::{format_time, parse_time};
use esker::store::{CommitOptions, Database, DatabaseOptions, Error, QueuedDatabase};
use serde_json::{Value, json};

use crate::args::heads::missing as missing_heads;
use crate::args::resources::ResourceArgs;
use crate::args::size::{count, counted};
use crate::failure::Failure;
use crate::session::committing::Commits;
use crate::show::progress::Bar;
use crate::show::text;

/// With more changes than this, the counts of edges are taken from freezing instead of a diff, which would
/// take too long.
pub(crate) const SUMMARY_CHANGES_MAX: u64 = 1 << 20;

/// How long a database that nobody seems to serve any more is waited for: the process that did may have died,
/// and another one may be finishing its commits.
const PATIENCE: Duration = Duration::from_secs(1);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Options for commits.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Committing")]
pub(crate) struct WriteArgs {
    /// Message of the version, shown by `esker log` [default: a short form of the command]
    #[arg(long, short, value_name = "TEXT", value_parser = parse_message)]
    pub(crate) message: Option<String>,
    /// When what the changes record happened: 2026-11-21, 2026-11-21T10:00:00Z, @ and milliseconds since
    /// 1970, or now; not before that of an earlier version. --at selects versions by it [default: now; it
    /// must be given if the import was given one, see `esker options --event-times`]
    #[arg(long, value_name = "TIME", value_parser = parse_event_time)]
    pub(crate) event_time: Option<u64>,
    /// Write all commits in the log to a layer, which is faster to read
    #[arg(long)]
    pub(crate) freeze: bool,
    #[command(flatten)]
    pub(crate) scratch: ScratchArgs,
    #[command(flatten)]
    pub(crate) resources: ResourceArgs,
}

/// Where a commit may lie.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ScratchArgs {
    /// Refuse a commit that exceeds the memory limit. Otherwise it lies in a scratch file in the database
    /// until it is written, which is slower
    #[arg(long)]
    no_scratch: bool,
}

impl ScratchArgs {
    /// Options to write a database with these resources.
    pub(crate) fn options(self, resources: &ResourceArgs, run: &Run) -> DatabaseOptions {
        DatabaseOptions { scratch: !self.no_scratch, ..resources.of_database(run) }
    }
}

/// Parses the time of an event; a day, minute or second means its start.
pub(crate) fn parse_event_time(text: &str) -> Result<u64, String> {
    if text == "now" {
        return Ok(UNIX_EPOCH.elapsed().map_or(0, |age| age.as_millis() as u64));
    }
    parse_time(text).map(|range| *range.start())
}

/// Warns of an event time that is still to come: later versions cannot be of an earlier one.
pub(crate) fn remark_future(event_time: Option<u64>) {
    let now = UNIX_EPOCH.elapsed().map_or(0, |age| age.as_millis());
    if let Some(time) = event_time.filter(|&time| u128::from(time) > now) {
        text::warn(&format!(
            "warning: the event time {} is still to come: no later version can be of an earlier time, and --at finds this one only then",
            format_time(time)
        ));
    }
}

/// Who commits the changes.
pub(crate) enum Committer {
    This(Database),
    /// The process that has the database open to write.
    Other(QueuedDatabase),
}

/// A database open for writing.
pub(crate) struct Writing {
    path: PathBuf,
    committer: Committer,
    /// Its schema and its newest version before the change.
    pub(crate) target: Target,
    /// The number of its edge properties before the change.
    num_properties: usize,
    pub(crate) run: Run,
}

impl Writing {
    /// Where changes go.
    pub(crate) fn destination(&self) -> Destination<'_> {
        match &self.committer {
            Committer::This(database) => database.into(),
            Committer::Other(database) => database.into(),
        }
    }

    /// The database, if this process commits.
    pub(crate) fn own(&self) -> Result<&Database, Failure> {
        match &self.committer {
            Committer::This(database) => Ok(database),
            Committer::Other(_) => Err(Failure::Failed(format!(
                "another process has {} open to write, and takes over commits, but no new properties of edges: end that process first",
                self.path.display()
            ))),
        }
    }

    /// Freezes what was committed, unless another process commits, which freezes as it is set.
    pub(crate) fn freeze(&self) -> Result<(), Failure> {
        match &self.committer {
            Committer::This(database) => Ok(database.freeze(&self.run).map(drop)?),
            Committer::Other(_) => Ok(()),
        }
    }

    /// Adds the edge properties of the target that the database does not have.
    pub(crate) fn define(&mut self) -> Result<(), Failure> {
        if self.target.edge_properties.len() == self.num_properties {
            return Ok(());
        }
        let mut target = self.target.clone();
        target.define(self.own()?, &self.run)?;
        self.target = target;
        Ok(())
    }

    /// The edge properties that were added since the database was opened.
    pub(crate) fn defined(&self) -> Result<Vec<String>, Failure> {
        let version = self.destination().latest()?;
        let added = version.edge_properties().skip(self.num_properties);
        Ok(added.map(|property| property.name.clone()).collect())
    }
}

/// Says so if a merge in the background left out the heads that the database had.
pub(crate) fn remark_on_heads(database: &Database, before: &Target, path: &Path) -> Result<(), Failure> {
    // Heads that cannot be opened concern no writer.
    if !matches!(before.newest.stored_heads(), Ok(Some(_))) {
        return Ok(());
    }
    database.wait_for_background()?;
    if let Some(length) = database.latest()?.manifest().missing_heads() {
        text::remark(&format!("note: {}: {}", path.display(), missing_heads(length, path)));
    }
    Ok(())
}

/// The effect of a change.
pub(crate) struct WriteSummary {
    /// Counts of changed vertices and edges; `None` if there were too many changes to compare.
    pub(crate) summary: Option<DiffSummary>,
    /// What the freezes found, if everything is in layers.
    frozen: Option<ChangeCounts>,
    /// The counts of changed vertices.
    vertices: DiffSummary,
}

/// A message that does not pass for one of a stream.
fn parse_message(text: &str) -> Result<String, String> {
    check_message(text).map_err(|error| error.to_string())?;
    Ok(text.to_owned())
}

impl WriteArgs {
    /// Those of a verb that changes a database beside what it is for.
    pub(crate) fn of_time(event_time: Option<u64>, resources: &ResourceArgs) -> Self {
        let scratch = ScratchArgs { no_scratch: false };
        Self { message: None, event_time, freeze: false, scratch, resources: resources.clone() }
    }

    /// Opens a database for writing. If another process has it open that takes over commits, they go there.
    pub(crate) fn open(&self, path: &Path, commits: &Arc<Commits>) -> Result<Writing, Failure> {
        self.open_or(path, commits, |options| self.hand_over(path, options, commits))
    }

    /// Opens a database for a verb that reads it and commits what follows from that: no other process may
    /// commit meanwhile.
    pub(crate) fn open_alone(&self, path: &Path, commits: &Arc<Commits>) -> Result<Writing, Failure> {
        self.open_or(path, commits, |_| Ok(None))
    }

    fn open_or(
        &self,
        path: &Path,
        commits: &Arc<Commits>,
        otherwise: impl Fn(DatabaseOptions) -> Result<Option<Committer>, Failure>,
    ) -> Result<Writing, Failure> {
        remark_future(self.event_time);
        let cancel = Cancel::default(); // A signal ends the process.
        let run = self.resources.run(&cancel, 0, false, None)?;
        let watch: Arc<dyn CommitWatch> = Arc::<Commits>::clone(commits);
        let options = DatabaseOptions { watch: Some(watch), ..self.scratch.options(&self.resources, &run) };
        let begin = Instant::now();
        let committer = loop {
            let bar = Bar::spinner(false);
            let progress = Some(bar.on_round("reading the log"));
            let opening = self.resources.run(&cancel, 0, false, progress)?;
            let database = Database::open_under(path, options.clone(), &opening);
            bar.finish();
            let locked = match database {
                Err(locked @ Error::Locked { .. }) => locked,
                database => break Committer::This(database?),
            };
            if let Some(other) = otherwise(options.clone())? {
                break other;
            }
            if begin.elapsed() >= PATIENCE || !QueuedDatabase::is_deserted(path)? {
                return Err(locked.into());
            }
            sleep(LOOK_EVERY);
        };
        let target = match &committer {
            Committer::This(database) => Target::of(database),
            Committer::Other(database) => Target::of(database),
        }?;
        let num_properties = target.edge_properties.len();
        Ok(Writing { path: path.to_owned(), committer, target, num_properties, run })
    }

    /// The process that has the database open, if it takes over commits.
    fn hand_over(
        &self,
        path: &Path,
        options: DatabaseOptions,
        commits: &Commits,
    ) -> Result<Option<Committer>, Failure> {
        let Some(other) = QueuedDatabase::open(path, options, commits.withdrawal())? else {
            return Ok(None);
        };
        if self.freeze {
            return Err(Failure::Usage(format!(
                "--freeze has no effect: another process has {} open to write, takes over the commit, and freezes as it is set",
                path.display()
            )));
        }
        text::remark(&format!(
            "note: another process has {} open to write, and takes over the commit",
            path.display()
        ));
        Ok(Some(Committer::Other(other)))
    }

    /// The message and the event time of a version; `otherwise` is the message if none is given.
    pub(crate) fn commit(&self, otherwise: impl FnOnce() -> String) -> CommitOptions {
        let message = self.message.clone().unwrap_or_else(otherwise);
        CommitOptions { message, time_ms: self.event_time, ..CommitOptions::default() }
    }

    /// Freezes if requested, and closes the database, for a verb that has counted its `changes`.
    pub(crate) fn finish_counted(
        &self,
        writing: Writing,
        changes: DiffSummary,
    ) -> Result<WriteSummary, Failure> {
        if self.freeze {
            writing.freeze()?;
        }
        let Writing { path, committer, target, .. } = writing;
        if let Committer::This(database) = committer {
            remark_on_heads(&database, &target, &path)?;
            database.close()?;
        }
        Ok(WriteSummary { summary: Some(changes), frozen: None, vertices: DiffSummary::default() })
    }

    /// Freezes if requested, closes the database, and summarises the effect of `changes` changes, which
    /// became these versions.
    pub(crate) fn finish(
        &self,
        writing: Writing,
        changes: u64,
        versions: &[u64],
    ) -> Result<WriteSummary, Failure> {
        if self.freeze {
            writing.freeze()?;
        }
        let Writing { path, committer, target, run, .. } = writing;
        let database = match committer {
            Committer::This(database) => database,
            Committer::Other(other) => return summary_between_others(&other, changes, versions, &run),
        };
        let newest = database.latest()?;
        let (summary, vertices) = match changes <= SUMMARY_CHANGES_MAX {
            true => (Some(diff(&target.newest, &newest, &run, |_| Ok(()))?), DiffSummary::default()),
            false => (None, diff_vertices(&target.newest, &newest, &run)?),
        };
        let frozen = database.frozen_changes();
        remark_on_heads(&database, &target, &path)?;
        database.close()?;
        Ok(WriteSummary { summary, frozen, vertices })
    }
}

/// The effect of versions among which are those of another process; unknown if there are too many changes, or
/// the version before one of them is forgotten.
fn summary_between_others(
    database: &QueuedDatabase,
    changes: u64,
    versions: &[u64],
    run: &Run,
) -> Result<WriteSummary, Failure> {
    let mut total = DiffSummary::default();
    let mut is_known = changes <= SUMMARY_CHANGES_MAX;
    let store = database.store();
    for &version in versions {
        let (Ok(before), Ok(after)) = (store.at(version - 1), store.at(version)) else {
            is_known = false;
            continue;
        };
        if is_known {
            total += diff(&before, &after, run, |_| Ok(()))?;
        }
    }
    Ok(WriteSummary { summary: is_known.then_some(total), frozen: None, vertices: DiffSummary::default() })
}

impl WriteSummary {
    /// The number of edges removed, if it is known.
    pub(crate) fn edges_removed(&self) -> Option<u64> {
        let summary = self.summary.map(|summary| summary.edges_removed);
        summary.or(self.frozen.map(|frozen| frozen.removed))
    }

    /// The number of edges with another value, if it is known.
    pub(crate) fn edges_changed(&self) -> Option<u64> {
        let summary = self.summary.map(|summary| summary.edges_changed);
        summary.or(self.frozen.map(|frozen| frozen.updated))
    }

    /// `2 edges added, 1 removed`.
    pub(crate) fn describe(&self) -> String {
        let Some(summary) = self.summary else {
            return match &self.frozen {
                Some(frozen) => describe_frozen(frozen, &self.vertices),
                None => "committed".to_owned(),
            };
        };
        let edges = [
            (summary.edges_added, "edge added", "edges added"),
            (summary.edges_removed, "edge removed", "edges removed"),
            (summary.edges_changed, "edge changed", "edges changed"),
        ];
        let mut parts = counted_parts(&edges);
        parts.extend(describe_vertices(&summary));
        if parts.is_empty() { "no changes".to_owned() } else { parts.join(", ") }
    }

    /// The effect as JSON.
    pub(crate) fn json(&self) -> Value {
        match (&self.summary, &self.frozen) {
            (Some(summary), _) => summary_json(summary),
            (None, Some(frozen)) => json!({
                "edges_added": frozen.added,
                "edges_changed": frozen.updated,
                "edges_removed": frozen.removed,
                "edges_unchanged": frozen.unchanged,
                "edges_missing": frozen.missing,
                "vertices_added": self.vertices.vertices_added,
                "vertices_removed": self.vertices.vertices_removed,
                "values_changed": self.vertices.values_changed,
            }),
            (None, None) => Value::Null,
        }
    }
}

/// The counts that are not 0, each with its words.
fn counted_parts(parts: &[(u64, &str, &str)]) -> Vec<String> {
    parts.iter().filter(|part| part.0 > 0).map(|&(number, one, many)| counted(number, one, many)).collect()
}

/// `2 vertices added`, `1 vertex value changed`.
fn describe_vertices(summary: &DiffSummary) -> Vec<String> {
    counted_parts(&[
        (summary.vertices_added, "vertex added", "vertices added"),
        (summary.vertices_removed, "vertex removed", "vertices removed"),
        (summary.values_changed, "vertex value changed", "vertex values changed"),
    ])
}

/// `2 000 000 edges added, 1 unchanged, 5 vertices added`.
fn describe_frozen(frozen: &ChangeCounts, vertices: &DiffSummary) -> String {
    let ChangeCounts { added, updated, unchanged, removed, missing } = *frozen;
    let edges = [
        (added, "added"),
        (updated, "changed"),
        (unchanged, "unchanged"),
        (removed, "removed"),
        (missing, "to delete not found"),
    ];
    let mut parts = Vec::new();
    for (number, what) in edges.into_iter().filter(|&(number, _)| number > 0) {
        let number = if parts.is_empty() { counted(number, "edge", "edges") } else { count(number) };
        parts.push(format!("{number} {what}"));
    }
    parts.extend(describe_vertices(vertices));
    if parts.is_empty() { "no changes".to_owned() } else { parts.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::{ChangeCounts, DiffSummary, describe_frozen};

    #[test]
    fn the_counts_of_a_freeze_are_named_without_those_that_are_none() {
        let counts = |added, unchanged| ChangeCounts { added, unchanged, ..ChangeCounts::default() };
        let vertices = |vertices_added, vertices_removed| DiffSummary {
            vertices_added,
            vertices_removed,
            ..DiffSummary::default()
        };
        assert_eq!(
            describe_frozen(&counts(2_000_000, 3), &vertices(1, 0)),
            "2 000 000 edges added, 3 unchanged, 1 vertex added"
        );
        let both = describe_frozen(&counts(1, 0), &vertices(3, 2));
        assert_eq!(both, "1 edge added, 3 vertices added, 2 vertices removed");
        assert_eq!(describe_frozen(&counts(0, 0), &vertices(5, 0)), "5 vertices added");
        assert_eq!(describe_frozen(&counts(0, 0), &vertices(0, 0)), "no changes");
    }
}

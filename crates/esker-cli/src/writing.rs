//! Code shared by the verbs that change a database: options, opening, and the summary of changes.

use std::path::Path;
use std::sync::Arc;

use clap::Args;
use esker::change::Target;
use esker::graph::{Cancel, Run};
use esker::store::database::CommitWatch;
use esker::store::diff::{DiffSummary, diff};
use esker::store::freeze::ChangeCounts;
use esker::store::version::parse_time;
use esker::store::{CommitOptions, Database, DatabaseOptions};
use serde_json::{Value, json};

use crate::committing::Commits;
use crate::failure::Failure;
use crate::progress::Bar;
use crate::resources::ResourceArgs;
use crate::size::{count, counted};

/// With more changes than this, the summary is taken from freezing instead of a diff, which would take too long.
const SUMMARY_CHANGES_MAX: u64 = 1 << 20;

/// Options for commits.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Committing")]
pub(crate) struct WriteArgs {
    /// Message of the version, shown by `esker log` [default: a short form of the command]
    #[arg(long, short, value_name = "TEXT")]
    pub(crate) message: Option<String>,
    /// When what the changes record happened: 2026-11-21, 2026-11-21T10:00:00Z, or @ and milliseconds since 1970; not before that of an earlier
    /// version. --at selects versions by it [default: now]
    #[arg(long, value_name = "TIME", value_parser = parse_event_time)]
    pub(crate) event_time: Option<u64>,
    /// Write all commits in the log to a layer, which is faster to read
    #[arg(long)]
    pub(crate) freeze: bool,
    #[command(flatten)]
    pub(crate) resources: ResourceArgs,
}

/// Parses the time of an event; a day, minute or second means its start.
pub(crate) fn parse_event_time(text: &str) -> Result<u64, String> {
    parse_time(text).map(|range| *range.start())
}

/// A database open for writing.
pub(crate) struct Writing {
    pub(crate) database: Database,
    /// Its schema and its newest version before the change.
    pub(crate) target: Target,
    /// The number of its edge properties before the change.
    num_properties: usize,
    run: Run,
}

impl Writing {
    /// Adds the edge properties of the target that the database does not have.
    pub(crate) fn define(&mut self) -> Result<(), Failure> {
        Ok(self.target.define(&self.database, &self.run)?)
    }

    /// The edge properties that were added since the database was opened.
    pub(crate) fn defined(&self) -> Result<Vec<String>, Failure> {
        let snapshot = self.database.snapshot()?;
        let added = snapshot.edge_properties().skip(self.num_properties);
        Ok(added.map(|property| property.name.clone()).collect())
    }
}

/// The effect of a change.
pub(crate) struct Written {
    /// Counts of changed vertices and edges; `None` if there were too many changes to compare.
    pub(crate) summary: Option<DiffSummary>,
    /// What freezing found, if it was asked for.
    frozen: Option<ChangeCounts>,
}

impl WriteArgs {
    /// Opens a database for writing.
    pub(crate) fn open(&self, path: &Path, commits: &Arc<Commits>) -> Result<Writing, Failure> {
        let cancel = Cancel::default(); // A signal ends the process.
        let run = self.resources.run(&cancel, 0, false, None)?;
        let watch: Arc<dyn CommitWatch> = Arc::<Commits>::clone(commits);
        let options = DatabaseOptions { watch: Some(watch), ..self.resources.of_database(&run) };
        let bar = Bar::spinner(false);
        let progress = Some(bar.on_round("reading the log"));
        let opening = self.resources.run(&cancel, 0, false, progress)?;
        let database = Database::open_under(path, options, &opening);
        bar.finish();
        let database = database?;
        let target = Target::of(&database)?;
        let num_properties = target.edge_properties.len();
        Ok(Writing { database, target, num_properties, run })
    }

    /// The message and the event time of a version; `otherwise` is the message if none is given.
    pub(crate) fn commit(&self, otherwise: impl FnOnce() -> String) -> CommitOptions {
        let message = self.message.clone().unwrap_or_else(otherwise);
        CommitOptions { message, time_ms: self.event_time, ..CommitOptions::default() }
    }

    /// Freezes if requested, closes the database, and summarises the effect of `changes` changes.
    pub(crate) fn finish(&self, writing: Writing, changes: u64) -> Result<Written, Failure> {
        let Writing { database, target, run, .. } = writing;
        let frozen = if self.freeze { database.freeze(&run)? } else { None };
        let mut summary = None;
        if changes <= SUMMARY_CHANGES_MAX {
            summary = Some(diff(&target.newest, &database.snapshot()?, &run, |_| Ok(()))?);
        }
        database.close()?;
        Ok(Written { summary, frozen })
    }
}

impl Written {
    /// `2 edges added, 1 removed`.
    pub(crate) fn describe(&self) -> String {
        let Some(summary) = self.summary else {
            return match &self.frozen {
                Some(frozen) => describe_frozen(frozen),
                None => "committed".to_owned(),
            };
        };
        let parts = [
            (summary.edges_added, "edge added", "edges added"),
            (summary.edges_removed, "edge removed", "edges removed"),
            (summary.edges_changed, "edge changed", "edges changed"),
            (summary.vertices_added, "vertex added", "vertices added"),
            (summary.vertices_removed, "vertex removed", "vertices removed"),
            (summary.values_changed, "vertex value changed", "vertex values changed"),
        ];
        let parts: Vec<String> = parts
            .iter()
            .filter(|part| part.0 > 0)
            .map(|&(number, one, many)| counted(number, one, many))
            .collect();
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
            }),
            (None, None) => Value::Null,
        }
    }
}

/// The counts of a difference as JSON.
pub(crate) fn summary_json(summary: &DiffSummary) -> Value {
    json!({
        "edges_added": summary.edges_added,
        "edges_removed": summary.edges_removed,
        "edges_changed": summary.edges_changed,
        "vertices_added": summary.vertices_added,
        "vertices_removed": summary.vertices_removed,
        "values_changed": summary.values_changed,
    })
}

fn describe_frozen(frozen: &ChangeCounts) -> String {
    format!(
        "{} added, {} changed, {} unchanged, {} removed, {} to delete not found",
        counted(frozen.added, "edge", "edges"),
        count(frozen.updated),
        count(frozen.unchanged),
        count(frozen.removed),
        count(frozen.missing)
    )
}

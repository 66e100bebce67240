//! What the verbs that change a database share.

use std::path::Path;

use clap::Args;
use esker::change::Target;
use esker::graph::{Cancel, Run};
use esker::store::diff::{DiffSummary, diff};
use esker::store::freeze::ChangeCounts;
use esker::store::{Database, DatabaseOptions};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::resources::ResourceArgs;
use crate::size::{count, counted};

/// With more changes than this, what became of them is told by freezing alone.
const SUMMARY_CHANGES_MAX: u64 = 1 << 20;

/// How a change is committed.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Committing")]
pub(crate) struct WriteArgs {
    /// What the log says of the version [default: the command in short]
    #[arg(long, short, value_name = "TEXT")]
    pub(crate) message: Option<String>,
    /// Make all commits so far a layer, which is faster to read than the log that they stand in
    #[arg(long)]
    pub(crate) freeze: bool,
    #[command(flatten)]
    pub(crate) resources: ResourceArgs,
}

/// A database that is being changed.
pub(crate) struct Writing {
    pub(crate) database: Database,
    /// What it was before.
    pub(crate) target: Target,
    run: Run,
}

impl Writing {
    /// Gives edges those properties of the target that they lack.
    pub(crate) fn define(&mut self) -> Result<(), Failure> {
        Ok(self.target.define(&self.database, &self.run)?)
    }
}

/// What became of a change.
pub(crate) struct Written {
    /// Vertices and edges that are different now; `None`: not counted.
    pub(crate) summary: Option<DiffSummary>,
    /// What freezing found, if it was asked for.
    frozen: Option<ChangeCounts>,
}

impl WriteArgs {
    /// Opens a database for writing.
    pub(crate) fn open(&self, path: &Path, cancel: &Cancel) -> Result<Writing, Failure> {
        let run = self.resources.run(cancel, 0, false, None)?;
        let options = DatabaseOptions { threads: self.resources.threads(), ..DatabaseOptions::default() };
        let database = Database::open(path, options)?;
        let target = Target::of(&database)?;
        Ok(Writing { database, target, run })
    }

    /// The message of a version.
    pub(crate) fn message(&self, otherwise: impl FnOnce() -> String) -> String {
        self.message.clone().unwrap_or_else(otherwise)
    }

    /// Freezes if that was asked for, closes the database, and says what `changes` changes came to.
    pub(crate) fn finish(&self, writing: Writing, changes: u64) -> Result<Written, Failure> {
        let Writing { database, target, run } = writing;
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
            (summary.values_changed, "value of a vertex changed", "values of vertices changed"),
        ];
        let parts: Vec<String> = parts
            .iter()
            .filter(|part| part.0 > 0)
            .map(|&(number, one, many)| counted(number, one, many))
            .collect();
        if parts.is_empty() { "nothing is different".to_owned() } else { parts.join(", ") }
    }

    /// The same as JSON.
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
        "{} edges added, {} changed, {} as they were, {} removed, {} not there",
        count(frozen.added),
        count(frozen.updated),
        count(frozen.unchanged),
        count(frozen.removed),
        count(frozen.missing)
    )
}

/// `version 5`, or `versions 5 to 9`.
pub(crate) fn describe_versions(versions: &[u64]) -> String {
    match versions {
        [] => "no version".to_owned(),
        [one] => format!("version {one}"),
        [first, .., last] => format!("versions {first} to {last}"),
    }
}

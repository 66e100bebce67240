//! `esker tag`: creates, lists and deletes tags.

use std::path::PathBuf;

use clap::Args;
use esker::store::Store;
use esker::store::manifest::{VersionSelector, check_tag};
use serde_json::json;

use crate::args::at::{number_of, parse_version};
use crate::failure::{Failure, Outcome};
use crate::session::opening::open_for_change;
use crate::show::text;

/// Create, list or delete tags
///
/// A tag is a name for a version. Tagged versions are retained under any retention rule. An existing tag is
/// moved.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  esker tag web.esker                         list all tags
  esker tag web.esker 7 monday
  esker tag web.esker latest release-2
  esker tag web.esker --delete monday")]
pub(crate) struct TagCommand {
    /// The database
    database: PathBuf,
    /// Version to tag: a number, another tag, a time, or latest
    #[arg(value_parser = parse_version, requires = "name")]
    version: Option<VersionSelector>,
    /// Name of the tag
    name: Option<String>,
    /// Delete a tag
    #[arg(long, value_name = "NAME", conflicts_with = "version")]
    delete: Option<String>,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

impl TagCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        match (&self.version, &self.name, &self.delete) {
            (Some(version), Some(name), _) => self.set(version, name),
            (_, _, Some(name)) => {
                let database = open_for_change(&self.database)?;
                if !database.manifest().tags.contains_key(name) {
                    let path = self.database.display();
                    return Err(Failure::Failed(format!("{path} has no tag {name:?}")));
                }
                database.untag(name)?;
                let closed = database.close().map_err(Failure::from);
                let reported = closed.and_then(|()| self.report_deleted(name));
                reported.map_err(|failure| failure.after(&format!("deleted the tag {name:?}")))
            }
            _ => self.list(),
        }
    }

    fn set(&self, version: &VersionSelector, name: &str) -> Outcome {
        check_tag(name).map_err(|error| Failure::Usage(error.to_string()))?;
        let store = Store::open(&self.database)?;
        let number = number_of(&store, version)?;
        let before = store.manifest().tags.get(name).copied();
        drop(store);
        let database = open_for_change(&self.database)?;
        database.tag(name, number)?;
        let closed = database.close().map_err(Failure::from);
        let reported = closed.and_then(|()| self.report(name, number, before));
        reported.map_err(|failure| failure.after(&format!("tagged version {number}")))
    }

    fn report_deleted(&self, name: &str) -> Outcome {
        match self.json {
            true => text::json(&json!({ "tag": name, "deleted": true })),
            false => text::line(&format!("{name}: deleted")),
        }
    }

    fn report(&self, name: &str, number: u64, before: Option<u64>) -> Outcome {
        if self.json {
            return text::json(&json!({ "tag": name, "version": number, "before": before }));
        }
        let moved = match before {
            Some(before) if before != number => format!(" (was version {before})"),
            _ => String::new(),
        };
        text::line(&format!("{name}: version {number}{moved}"))
    }

    fn list(&self) -> Outcome {
        let store = Store::open(&self.database)?;
        let tags = &store.whole_manifest()?.tags;
        if self.json {
            return text::json(&json!({ "tags": &**tags }));
        }
        if tags.is_empty() {
            text::remark(&format!("{} has no tags", self.database.display()));
        }
        let rows = tags.iter().map(|(name, version)| (name.clone(), version.to_string()));
        text::facts(&rows.collect::<Vec<_>>())
    }
}

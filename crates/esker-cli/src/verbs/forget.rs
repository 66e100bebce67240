//! `esker forget`: removes versions.

use std::path::PathBuf;

use clap::Args;
use esker::store::{Database, Store};
use serde_json::json;

use crate::args::at::{VersionChoice, number_of, parse_versions};
use crate::failure::Outcome;
use crate::session::committing::describe_versions;
use crate::session::opening::open_for_change;
use crate::show::text;

/// Forget versions
///
/// Forgets all of the given versions or, after an error, none. Other versions do not change. `esker compact`
/// frees the space that only forgotten versions used. Forgetting the newest version undoes its changes: the
/// version before it becomes the newest. Tagged versions and the only version cannot be forgotten.
/// `esker retain` forgets versions by a rule.
#[derive(Debug, Args)]
#[command(after_help = "Example: esker forget web.esker 3 5-7 2026-11-01")]
pub(crate) struct ForgetCommand {
    /// The database
    database: PathBuf,
    /// Versions to forget: numbers, ranges such as 5-7 (both included), or times
    #[arg(required = true, value_parser = parse_versions, value_name = "VERSION")]
    versions: Vec<VersionChoice>,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

impl ForgetCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        let store = Store::open(&self.database)?;
        let mut numbers = Vec::new();
        for versions in &self.versions {
            match versions {
                VersionChoice::One(version) => numbers.push(number_of(&store, version)?),
                VersionChoice::Range(range) => numbers.extend(range.numbers(&store)?),
            }
        }
        drop(store);
        numbers.sort_unstable();
        numbers.dedup();
        let database = open_for_change(&self.database)?;
        database.forget_all(&numbers)?;
        let what = match numbers.is_sorted_by(|a, b| a + 1 == *b) {
            true => describe_versions(&numbers),
            false => format!("{} versions", numbers.len()),
        };
        self.report(database, &numbers, &what).map_err(|failure| failure.after(&format!("forgot {what}")))
    }

    fn report(&self, database: Database, numbers: &[u64], what: &str) -> Outcome {
        let versions = database.versions();
        let (left, newest) = (versions.len(), versions.last().map_or(0, |version| version.number));
        database.close()?;
        if self.json {
            return text::json(&json!({ "forgotten": numbers, "versions": left, "newest": newest }));
        }
        let undone = match numbers.last() {
            Some(&last) if last > newest => format!("; version {newest} is now the newest"),
            _ => String::new(),
        };
        text::line(&format!("{}: forgot {what}, {left} left{undone}", self.database.display()))
    }
}

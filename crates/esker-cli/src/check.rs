//! `esker check`: verifies every byte of a database.

use std::path::PathBuf;

use clap::Args;
use esker::store::Store;
use esker::store::check::check;
use serde_json::json;

use crate::at::{AtArgs, number_of};
use crate::failure::{Failure, Outcome};
use crate::interrupt::cancel_on_signals;
use crate::progress::Bar;
use crate::resources::ResourceArgs;
use crate::size::bytes;
use crate::text;

/// Compares every checksum, and what the files say with each other. Exit code 1 if anything is wrong.
#[derive(Debug, Args)]
pub(crate) struct CheckCommand {
    /// The database
    database: PathBuf,
    #[command(flatten)]
    at: AtArgs,
    #[command(flatten)]
    resources: ResourceArgs,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

impl CheckCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        let cancel = cancel_on_signals()?;
        let bar = Bar::spinner(false);
        let run = self.resources.run(&cancel, 0, false, Some(bar.on_round("check")))?;
        let store = Store::open(&self.database)?;
        let frozen = store.manifest().versions.last().map_or(0, |version| version.number);
        let wanted = self.at.at.as_ref().map_or(Ok(frozen), |selector| number_of(&store, selector))?;
        // Commits in the log were checked when it was read.
        let unfrozen = store.versions()?.iter().filter(|version| version.number > frozen).count();
        let report = check(store.disk(), &store.at(wanted.min(frozen))?, &run);
        bar.finish();
        let report = report?;
        let problems: Vec<String> = report.problems.iter().map(ToString::to_string).collect();
        if self.json {
            text::json(&json!({
                "database": self.database.display().to_string(),
                "version": wanted.min(frozen),
                "commits_in_log": unfrozen,
                "sound": report.is_sound(),
                "columns": report.columns,
                "bytes": report.bytes,
                "checks": report.sound,
                "problems": problems,
            }))?;
        } else {
            text::line(&format!("{} columns, {} verified", report.columns, bytes(report.bytes)))?;
            if unfrozen > 0 {
                text::line(&format!("holds: {unfrozen} commits in the log are whole"))?;
            }
            for sound in &report.sound {
                text::line(&format!("holds: {sound}"))?;
            }
            for problem in &problems {
                text::line(&format!("WRONG: {problem}"))?;
            }
        }
        if problems.is_empty() {
            return Ok(());
        }
        Err(Failure::Failed(format!("{} has {} problems", self.database.display(), problems.len())))
    }
}

//! `esker check`: verifies every byte of a database.

use std::path::PathBuf;

use clap::Args;
use esker::store::Store;
use esker::store::check::check;
use serde_json::json;

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
        let report = check(store.disk().as_ref(), &store.snapshot()?, &run);
        bar.finish();
        let report = report?;
        let problems: Vec<String> = report.problems.iter().map(ToString::to_string).collect();
        if self.json {
            text::json(&json!({
                "database": self.database.display().to_string(),
                "sound": report.is_sound(),
                "files": report.files,
                "bytes": report.bytes,
                "checks": report.sound,
                "problems": problems,
            }))?;
        } else {
            text::line(&format!("{} files, {} verified", report.files, bytes(report.bytes)))?;
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

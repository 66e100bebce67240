//! `esker recover`: makes a database usable that has lost a part of its log or manifest.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use esker::store::Database;
use esker::store::database::RecoveryReport;
use esker::store::io::{Disk, RealDisk};
use serde_json::json;

use crate::args::resources::ResourceArgs;
use crate::args::size::counted;
use crate::failure::{Failure, Outcome};
use crate::interrupt::cancel_on_signals;
use crate::show::progress::Bar;
use crate::show::text;

/// Report what a database has lost, or accept the loss
///
/// For a database that is refused because files are missing, cut, damaged, or older than the rest. Restore
/// the files from a copy if there is one. Else this reads all files, says which versions are lost, and with
/// --accept-loss keeps each version whose files are whole. A lost MANIFEST is made of the layers, and lost
/// in-lists of the out-lists, or the reverse. The numbers of lost versions are not used again.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  esker recover web.esker                     what is missing, and what can be kept
  esker recover --accept-loss web.esker       keep the rest")]
pub(crate) struct RecoverCommand {
    /// The database
    database: PathBuf,
    /// Keep the rest without what is missing
    #[arg(long)]
    accept_loss: bool,
    /// Report as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    resources: ResourceArgs,
}

impl RecoverCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        let cancel = cancel_on_signals()?;
        let bar = Bar::spinner(false);
        let run = self.resources.run(&cancel, 0, false, Some(bar.on_round("recover")))?;
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        let report = match self.accept_loss {
            true => Database::recover(&disk, &self.database, self.resources.of_database(&run), &run),
            false => Database::survey(&disk, &self.database, &run),
        };
        bar.finish();
        let report = report?;
        if self.json {
            text::json(&json!({
                "database": self.database.display().to_string(),
                "problem": report.problem,
                "newest": report.newest,
                "lost_first": (!report.lost.is_empty()).then_some(report.lost.start()),
                "lost_last": (!report.lost.is_empty()).then_some(report.lost.end()),
                "lost_records": report.lost_records,
                "recovered": self.accept_loss && report.problem.is_some(),
            }))?;
        } else {
            self.print(&report)?;
        }
        match report.problem.is_some() && !self.accept_loss {
            true => Err(Failure::Failed(format!("{} is incomplete", self.database.display()))),
            false => Ok(()),
        }
    }

    fn print(&self, report: &RecoveryReport) -> Outcome {
        let path = self.database.display();
        let Some(problem) = &report.problem else {
            return text::line(&format!(
                "{path}: no version is missing; `esker check` compares all files, those of tiles and heads too"
            ));
        };
        text::line(problem)?;
        let (is, would_be) = if self.accept_loss { ("is", "are") } else { ("would be", "would be") };
        text::line(&format!("version {} {is} the newest", report.newest))?;
        match (report.lost.start(), report.lost.end()) {
            (first, last) if first < last => {
                text::line(&format!("versions {first} to {last} {would_be} lost"))?;
            }
            (first, last) if first == last => text::line(&format!("version {first} {is} lost"))?,
            _ => text::line("no version is known to be lost")?,
        }
        if report.lost_records > 0 {
            let records = counted(report.lost_records, "record", "records");
            text::line(&format!(
                "MANIFEST has lost {records}: the tags, forgotten versions, properties and retention that they set {would_be} lost"
            ))?;
        }
        match self.accept_loss {
            true => text::line(&format!("{path}: recovered")),
            false => text::line(&format!("To keep the rest: esker recover --accept-loss {path}")),
        }
    }
}

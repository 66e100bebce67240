//! `esker compact`: fewer layers.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use esker::store::{Database, DatabaseOptions};
use serde_json::json;

use crate::failure::Outcome;
use crate::interrupt::cancel_on_signals;
use crate::progress::Bar;
use crate::resources::ResourceArgs;
use crate::size::{bytes, counted, seconds};
use crate::text;

/// Makes all commits and layers one layer. Every version stays readable, the newest one at full speed; the space of forgotten
/// versions comes back. The database can be read meanwhile.
#[derive(Debug, Args)]
pub(crate) struct CompactCommand {
    /// The database
    database: PathBuf,
    /// Report as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    resources: ResourceArgs,
}

impl CompactCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        let begin = Instant::now();
        let cancel = cancel_on_signals()?;
        let bar = Bar::spinner(false);
        let run = self.resources.run(&cancel, 0, false, Some(bar.on_round("compact")))?;
        let options = DatabaseOptions { threads: self.resources.threads(), ..DatabaseOptions::default() };
        let database = Database::open(&self.database, options)?;
        let report = database.compact(&run);
        bar.finish();
        let report = report?;
        database.close()?;
        let taken = begin.elapsed().as_secs_f64();
        if self.json {
            return text::json(&json!({
                "database": self.database.display().to_string(),
                "layers_before": report.layers_before,
                "layers": report.layers,
                "bytes_before": report.bytes_before,
                "bytes": report.bytes,
                "seconds": taken,
            }));
        }
        text::line(&format!(
            "{}: {} of {} became {} of {}",
            self.database.display(),
            counted(report.layers_before as u64, "layer", "layers"),
            bytes(report.bytes_before),
            report.layers,
            bytes(report.bytes)
        ))?;
        text::remark(&format!("in {}", seconds(taken)));
        Ok(())
    }
}

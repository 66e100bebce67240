//! `esker options`: shows or sets how commits become layers.

use std::path::PathBuf;

use clap::Args;
use esker::store::Store;
use esker::store::format::WriteOptions;
use serde_json::json;

use crate::failure::{Failure, Outcome};
use crate::opening::open_for_change;
use crate::text;
use crate::write_options::{WriteOptionArgs, describe, to_json};

/// Show or set the options of a database: freezing, merging, copying
///
/// The database keeps these options, and every process that writes to it obeys them. Layers that exist stay as they are. Without an
/// option, prints the current ones.
#[derive(Debug, Args)]
#[command(after_help = "Example: esker options web.esker --freeze-size 16MiB --merge never")]
pub(crate) struct OptionsCommand {
    /// The database
    database: PathBuf,
    #[command(flatten)]
    writes: WriteOptionArgs,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

impl OptionsCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        if self.writes.over(WriteOptions::default()).is_none() {
            return self.report(&Store::open(&self.database)?.whole_manifest()?.options());
        }
        let database = open_for_change(&self.database)?;
        let options = self.writes.over(database.write_options()).unwrap_or_default();
        database.set_write_options(options)?;
        let closed = database.close().map_err(Failure::from);
        let reported = closed.and_then(|()| self.report(&options));
        reported.map_err(|failure| failure.after("the options are set"))
    }

    fn report(&self, options: &WriteOptions) -> Outcome {
        let name = self.database.display();
        if self.json {
            return text::json(&json!({ "database": name.to_string(), "options": to_json(options) }));
        }
        text::line(&format!("{name}: {}", describe(options)))
    }
}

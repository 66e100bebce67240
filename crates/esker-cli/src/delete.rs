//! `esker delete`: deletes the edges or vertices listed in files.

use std::path::PathBuf;

use clap::Args;
use esker::change::Purpose;

use crate::failure::Outcome;
use crate::feeding::FeedArgs;

/// Delete edges or vertices from a database
///
/// Edges are matched by source and target, so all parallel edges are deleted; with --property, --weight or --time, only those that also
/// have the values in these columns. Missing edges are ignored; the number of deleted edges is printed. --vertices FILE deletes the
/// vertices listed in FILE, one id per line, with their edges. Older versions do not change.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  esker delete web.esker gone.csv
  esker delete web.esker gone.csv --property kind
  esker delete web.esker --vertices closed-accounts.txt")]
pub(crate) struct DeleteCommand {
    /// The database
    database: PathBuf,
    #[command(flatten)]
    feed: FeedArgs,
}

impl DeleteCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        self.feed.carry_out(&self.database, Purpose::Remove, &[], None)
    }
}

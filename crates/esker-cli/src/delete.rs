//! `esker delete`: edges of files, removed from a database.

use std::path::PathBuf;

use clap::Args;
use esker::change::Purpose;

use crate::failure::Outcome;
use crate::feeding::FeedArgs;

/// The ends of an edge say which is meant; of parallel edges, all go. Edges that are not there are no error. --vertices FILE deletes
/// the vertices whose ids it lists, one a line, with their edges. Older versions keep what they have.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  esker delete web.esker gone.csv
  esker delete web.esker --vertices closed-accounts.txt")]
pub(crate) struct DeleteCommand {
    /// The database
    database: PathBuf,
    #[command(flatten)]
    feed: FeedArgs,
}

impl DeleteCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        self.feed.carry_out(&self.database, Purpose::Remove, &[])
    }
}

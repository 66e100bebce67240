//! `esker add`: edges of files, added to a database.

use std::path::PathBuf;

use clap::Args;
use esker::change::Purpose;

use crate::failure::Outcome;
use crate::feeding::FeedArgs;

/// All edges become one version, unless --each-file or --batch says otherwise; when it is interrupted, whole versions only are
/// there. An edge that exists gets the properties of the new one; in a database imported with --duplicates keep, it is added
/// beside the old. If edges have properties, the files need columns of the same names. --vertices adds vertices without edges.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  esker add web.esker more.csv
  esker add web.esker 'day-*.parquet' --each-file --freeze
  echo 'alice bob' | esker add web.esker -")]
pub(crate) struct AddCommand {
    /// The database
    database: PathBuf,
    #[command(flatten)]
    feed: FeedArgs,
}

impl AddCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        self.feed.carry_out(&self.database, Purpose::Add)
    }
}

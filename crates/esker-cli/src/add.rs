//! `esker add`: edges of files, added to a database.

use std::path::PathBuf;

use clap::Args;
use esker::change::{Definition, Purpose};

use crate::failure::Outcome;
use crate::feeding::FeedArgs;

/// All edges become one version, unless --each-file or --batch says otherwise; when it is interrupted, whole versions only are
/// there. An edge that exists gets the properties of the new one; in a database imported with --duplicates keep, it is added
/// beside the old. If edges have properties, the files need columns of the same names. --vertices adds vertices without edges.
/// --define gives edges one more property first: those that are there get 0, or the empty text.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  esker add web.esker more.csv
  esker add web.esker 'day-*.parquet' --each-file --freeze
  esker add web.esker timed.csv --define since:i64
  echo 'alice bob' | esker add web.esker -")]
pub(crate) struct AddCommand {
    /// The database
    database: PathBuf,
    /// A property that edges get if they lack it, with its type as `esker info` names types, or `text` [default type: f64]. What --weight names,
    /// or is called weight, becomes the weight. All layers are written anew as one for it
    #[arg(long, value_name = "NAME:TYPE")]
    define: Vec<Definition>,
    #[command(flatten)]
    feed: FeedArgs,
}

impl AddCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        self.feed.carry_out(&self.database, Purpose::Add, &self.define)
    }
}

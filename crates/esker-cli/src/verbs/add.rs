//! `esker add`: adds the edges of files to a database.

use std::path::PathBuf;

use clap::Args;
use esker::change::Definition;

use crate::args::importing::{DuplicatesArg, NewKindsArg};
use crate::failure::Outcome;
use crate::session::feeding::{FeedArgs, Feeding};

/// Add edges from files to a database
///
/// All edges become one version unless --each-file or --batch is given; an interrupted command leaves
/// complete versions only. An edge that exists gets the properties of the new one, unless the database was
/// imported with another rule for --duplicates. Properties are read from columns of the same names; an edge
/// of a file that lacks one has no value, or the --default of the import. A number that does not fit the type
/// of its property gives it a wider one. --vertices adds vertices, those of a file or 0 to N - 1. --define
/// first adds a property to all edges: existing edges get 0 or the empty text.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  esker add web.esker more.csv
  esker add web.esker 'day-*.parquet' --each-file --freeze
  esker add web.esker timed.csv --define since:i64
  echo 'alice bob' | esker add web.esker -")]
pub(crate) struct AddCommand {
    /// The database
    database: PathBuf,
    /// Add an edge property if it is missing; TYPE as for --schema [default type: f64]. The property named by
    /// --weight, or called weight, becomes the weight. This merges all layers
    #[arg(long, value_name = "NAME:TYPE")]
    define: Vec<Definition>,
    /// What to do with edges that exist or are given more than once [default: the rule of the database]
    #[arg(long, value_enum)]
    duplicates: Option<DuplicatesArg>,
    #[command(flatten)]
    new: NewKindsArg,
    #[command(flatten)]
    feed: FeedArgs,
}

impl AddCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        let duplicates = self.duplicates.map(Into::into);
        self.feed.carry_out(&self.database, Feeding::add(&self.define, duplicates, self.new.new_kinds))
    }
}

//! `esker delete`: deletes the edges or vertices listed in files.

use std::path::PathBuf;

use clap::Args;

use crate::failure::Outcome;
use crate::session::feeding::{FeedArgs, Feeding};

const REJECTS_HELP: &str = "Write rows that cannot be read, name unknown kinds, or without --new vertices that \
                            do not exist, to this CSV file, with file, line and reason, and delete what the others \
                            name";

/// Delete edges or vertices from a database
///
/// Edges are matched by source and target, so all parallel edges are deleted, and by their kind where they
/// have kinds and the files have a column of them. With --property, --weight or --time, only those are
/// deleted that also have the values in these columns. --property edge_id deletes edges by their ids, where
/// the database gives them some. Missing edges are ignored; ids of edges that do not exist, unknown ids of
/// vertices and unknown kinds are refused; the number of deleted edges is printed. --vertices FILE deletes
/// the vertices listed in FILE, one id per line, with their edges; --ids-from is another name for it.
/// Older versions do not change.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  esker delete web.esker gone.csv
  esker delete web.esker gone.csv --property kind
  esker delete web.esker --vertices closed-accounts.txt")]
#[command(mut_arg("vertices", |vertices| vertices.visible_alias("ids-from")))]
#[command(mut_arg("rejects", |rejects| rejects.help(REJECTS_HELP)))]
pub(crate) struct DeleteCommand {
    /// The database
    database: PathBuf,
    /// Pass over vertices that do not exist, and edges of them
    #[arg(long)]
    new: bool,
    #[command(flatten)]
    feed: FeedArgs,
}

impl DeleteCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        self.feed.carry_out(&self.database, Feeding::remove(self.new))
    }
}

//! Which columns of files hold the edges of a cluster.

use clap::Args;
use esker_cluster::disk::job::ChangeJob;

/// Options of columns.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Reading")]
pub(super) struct ColumnArgs {
    /// Column of the source: a name, or a number from 1
    #[arg(long, visible_alias = "source-column", value_name = "COLUMN")]
    src: Option<String>,
    /// Column of the target
    #[arg(long, visible_alias = "target-column", value_name = "COLUMN")]
    dst: Option<String>,
    /// The first line of a CSV contains the column names
    #[arg(long, overrides_with = "no_header")]
    header: bool,
    /// The first line of a CSV is an edge
    #[arg(long, overrides_with = "header")]
    no_header: bool,
}

impl ColumnArgs {
    /// A job that reads these columns.
    pub(super) fn of(&self, job: ChangeJob) -> ChangeJob {
        let header = match (self.header, self.no_header) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        };
        ChangeJob { source: self.src.clone(), target: self.dst.clone(), header, ..job }
    }
}

//! `esker expire`: removes edges that are older than a length of time.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use esker::change::expire;
use esker::graph::Cancel;
use esker::store::CommitOptions;
use esker::window::{Declared, EpochUnit, Span};
use serde_json::json;

use crate::args::size::counted;
use crate::args::window_args::UnitArg;
use crate::failure::{Failure, Outcome};
use crate::session::committing::Commits;
use crate::session::writing::WriteArgs;
use crate::show::text;

/// Remove the edges that are older than a length of time
///
/// Removes each edge that is older than the latest edge by AGE or more, as a new version: what stays is the
/// window of that length that ends with the latest edge. Older versions keep their edges as long as they are
/// retained; `esker retain` says how long, and the next merge frees the space. `esker stream --expire` does
/// so while edges come, and `esker options --expire` makes the database keep the age.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  esker expire timed.esker 30d
  esker expire timed.esker 1h -m 'the last hour'")]
pub(crate) struct ExpireCommand {
    /// The database
    database: PathBuf,
    /// Age from which edges are removed, such as 90s, 15m, 1h, 30d, or a number in the unit of the times
    /// [default: that which `esker options --expire` set]
    age: Option<Span>,
    /// Edge property that holds the times, whole numbers since 1970 [default: as `esker options --time` set,
    /// or the only one that can, but for the weight]
    #[arg(long, value_name = "NAME")]
    time: Option<String>,
    /// Unit of the times [default: guessed from the latest]
    #[arg(long, value_enum, value_name = "UNIT")]
    time_unit: Option<UnitArg>,
    /// Report as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    write: WriteArgs,
}

impl ExpireCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        let commits = Commits::end_on_signals(&self.database, true)?;
        self.expire(&commits).map_err(|failure| commits.failed(failure))
    }

    fn expire(&self, commits: &Arc<Commits>) -> Outcome {
        let writing = self.write.open_alone(&self.database, commits)?;
        let run = self.write.resources.run(&Cancel::default(), 0, false, None)?;
        let options = CommitOptions {
            message: self.write.message.clone().unwrap_or_default(),
            time_ms: self.write.event_time,
            ..CommitOptions::default()
        };
        let unit = self.time_unit.map(EpochUnit::from);
        let database = writing.own()?;
        let age = self.age.or(Declared::of(&database.manifest()).expire);
        let age = age.ok_or_else(|| {
            Failure::Usage(format!(
                "{} keeps no age from which edges are removed: give one, such as 30d",
                self.database.display()
            ))
        })?;
        let report = expire(database, self.time.as_deref(), unit, age, &options, &run)?;
        let written = self.write.finish(writing, report.edges, report.version.as_slice())?;
        let until = report.until.map(|(until, unit)| unit.format(until));
        if self.json {
            return text::json(&json!({
                "database": self.database.display().to_string(),
                "version": report.version,
                "edges": report.edges,
                "until": until,
                "changes": written.json(),
            }));
        }
        let name = self.database.display();
        text::line(&match (report.version, until) {
            (Some(version), Some(until)) => {
                let edges = counted(report.edges, "edge", "edges");
                format!("{name}: version {version}: {edges} removed, until {until}")
            }
            (_, Some(until)) => format!("{name}: no edge is from {until} or before"),
            (_, None) => format!("{name}: there are no edges"),
        })
    }
}

//! Which rows a command on several versions prints, and in which form.

use clap::Args;
use esker::catalogue::Entry;
use esker::groups::GroupNames;

use crate::failure::{Failure, Outcome};
use crate::show::rounding::RoundArg;
use crate::show::rows::RowFormat;

/// The rows of a command that follows versions.
#[derive(Debug, Args)]
pub(crate) struct FollowedRowsArgs {
    /// Print the N vertices with the largest values, or the N largest groups, of the first version and of
    /// each that changes them
    #[arg(long, value_name = "N")]
    pub(crate) top: Option<usize>,
    /// Form of the rows on standard output [default: jsonl; with --once table]
    #[arg(long, value_enum, value_name = "FORM")]
    format: Option<RowFormat>,
    /// Print the rows as JSON: an object a line, or with --once an array of objects
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Print the values of the first version too, as changes from nothing
    #[arg(long, conflicts_with = "top")]
    pub(crate) initial: bool,
    /// End with the newest version that there is, without waiting for others
    #[arg(long)]
    pub(crate) once: bool,
    #[command(flatten)]
    pub(crate) round: RoundArg,
}

impl FollowedRowsArgs {
    /// The form that was asked for by name.
    pub(crate) fn given(&self) -> Option<RowFormat> {
        self.format
    }

    /// The form of the rows.
    ///
    /// # Errors
    /// If rows are printed as they come, but the form takes all of them.
    pub(crate) fn format(&self) -> Result<RowFormat, Failure> {
        let format = match self.format {
            Some(format) => format,
            None if !self.once => RowFormat::Jsonl,
            None if self.json => RowFormat::Json,
            None => RowFormat::Table,
        };
        if !self.once && matches!(format, RowFormat::Table | RowFormat::Json) {
            let message = "rows are printed as they come, as jsonl or csv; --once prints all of them as a table or json";
            return Err(Failure::Usage(message.to_owned()));
        }
        Ok(format)
    }
}

/// How groups are named on several graphs, and what is told of them.
#[derive(Debug, Args)]
pub(crate) struct GroupNameArgs {
    /// Name a group as the one before with which it shares most members, instead of by one of its members: a
    /// name then means the same group from one graph to the next
    #[arg(long)]
    keep_names: bool,
    /// Show what became of each group instead of figures: it appears, persists with other members, splits
    /// from another, merges into another, or vanishes. Implies --keep-names; leaves out groups of one vertex
    #[arg(long, conflicts_with = "top")]
    pub(crate) events: bool,
}

impl GroupNameArgs {
    /// Whether groups keep their names.
    pub(crate) fn keeps_names(&self) -> bool {
        self.keep_names || self.events
    }

    /// Refuses both where they would have no effect. `shows_names`: whether rows, a file or alerts do.
    pub(crate) fn check(
        &self,
        entry: &Entry,
        is_several: bool,
        to_stdout: bool,
        shows_names: bool,
    ) -> Outcome {
        if !self.keeps_names() {
            return Ok(());
        }
        let option = if self.events { "--events" } else { "--keep-names" };
        GroupNames::check(entry)
            .map_err(|error| Failure::Usage(format!("{option} has no effect: {error}")))?;
        if !is_several {
            let message = format!(
                "{option} needs several graphs: --each-version, --versions FIRST..LAST, or the windows of `esker window`"
            );
            return Err(Failure::Usage(message));
        }
        if self.events && to_stdout {
            let message = "--events and --output - both go to standard output: --output FILE writes the values to a file";
            return Err(Failure::Usage(message.to_owned()));
        }
        if !self.events && !shows_names {
            let message = "--keep-names has no effect on figures: --top N or --output FILE show groups, --events what became of them";
            return Err(Failure::Usage(message.to_owned()));
        }
        Ok(())
    }
}

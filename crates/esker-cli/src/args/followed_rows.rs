//! Which rows a command that follows versions prints, and in which form.

use clap::Args;

use crate::failure::Failure;
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

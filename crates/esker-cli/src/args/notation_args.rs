//! The options of how an input writes its values.

use clap::Args;
use esker::store::format::notation::{ColumnFormat, Notation};
use esker::store::format::value::zone::Zone;

/// How values are written; the default is the common way.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Reading")]
pub(crate) struct NotationArgs {
    /// Format of dates and times, in the words of strptime, as in '%d.%m.%Y %H:%M'; may be repeated. FORMAT
    /// holds in the columns most of whose first values fit it, NAME=FORMAT in one column. Values that do not
    /// fit are refused [default: 2026-11-21, 2026-11-21T10:00:00, with a fraction, Z or an offset]
    #[arg(long, value_name = "[NAME=]FORMAT")]
    date_format: Vec<ColumnFormat>,
    /// Numbers have a decimal comma, and perhaps points between thousands: 1.234,56 or 1234,56.
    /// --decimal-comma=false where a database remembers it and a file has points
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    decimal_comma: Option<bool>,
    /// Time zone of times without an offset, such as Europe/Berlin. They are stored in UTC and shown in the
    /// zone. Of a time that the clocks show twice, the first is taken; one that they skip is taken as long
    /// after the change; both are counted
    #[arg(long, value_name = "ZONE")]
    timezone: Option<Zone>,
}

impl NotationArgs {
    pub(crate) fn notation(&self) -> Notation {
        Notation {
            formats: self.date_format.clone(),
            decimal_comma: self.decimal_comma,
            zone: self.timezone.clone(),
            ..Notation::default()
        }
    }
}

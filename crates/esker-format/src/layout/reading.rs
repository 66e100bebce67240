//! How the input of an import was read, so that later inputs are read the same way.

use crate::file::field::{codes, layout};

codes! {
    /// What the event times of versions are, where a commit is given none.
    pub enum EventTimes: u8 {
        /// Those of the commits.
        Committed = 1,
        /// None: each commit is given its event time.
        Given = 2,
    }
}

#[allow(clippy::derivable_impls, reason = "`codes` derives what all of its enums have")]
impl Default for EventTimes {
    fn default() -> Self {
        Self::Committed
    }
}

impl EventTimes {
    /// All rules.
    pub const ALL: [Self; 2] = [Self::Committed, Self::Given];

    /// The name of the rule for users.
    pub fn name(self) -> &'static str {
        match self {
            Self::Committed => "now",
            Self::Given => "given",
        }
    }
}

layout! {
    /// A column of a table.
    pub struct ColumnRecord {
        /// Its name. Empty: it has none.
        name: String,
        /// Number of columns of that name before it.
        before: u32,
        /// Its place, from 0.
        place: u32,
    }
}

impl ColumnRecord {
    /// The place of a column of which only the name is known.
    pub const UNKNOWN_PLACE: u32 = u32::MAX;
}

layout! {
    /// The column of an edge property.
    pub struct PropertyColumnRecord {
        /// The name of the property.
        property: String,
        /// Its column.
        column: ColumnRecord,
    }
}

layout! {
    /// How the dates of a table are written.
    pub struct DateFormatRecord {
        /// The property. Empty: all whose values fit.
        property: String,
        /// The format, in the words of `strptime`.
        format: String,
    }
}

layout! {
    /// How the values of a table are written, where that is not the common way.
    #[derive(Default)]
    pub struct NotationRecord {
        /// The formats of dates.
        date_formats: Vec<DateFormatRecord>,
        /// Whether numbers have a decimal comma.
        decimal_comma: bool,
    }
}

layout! {
    /// The value of edges that have none.
    pub struct DefaultRecord {
        /// The property.
        property: String,
        /// The value, as in a text.
        value: String,
    }
}

layout! {
    /// How a table of edges was read.
    pub struct TableRecord {
        /// The column of sources.
        source: ColumnRecord,
        /// The column of targets.
        target: ColumnRecord,
        /// The columns of edge properties.
        properties: Vec<PropertyColumnRecord>,
        /// Number of columns.
        columns: u32,
        /// Whether columns have names.
        named: bool,
        /// The byte between columns of a text. A space stands for any run of spaces and tabs.
        delimiter: Option<u8>,
        /// Whether `"` quotes fields, if the user said so.
        quotes: Option<bool>,
        /// Whether each undirected edge stands in it at both of its ends, if the format does not say so.
        both_ends: bool,
        /// Words that stand for no value in a text.
        nulls: Vec<String>,
        /// How its values are written.
        notation: NotationRecord,
        /// The values of edges that have none.
        defaults: Vec<DefaultRecord>,
    }
}

layout! {
    /// How the input of an import was read. Later inputs are read the same way.
    pub struct ReadingRecord {
        /// The name of the format.
        format: String,
        /// How it was read, if it was a table.
        table: Option<TableRecord>,
        /// Whether self-loops were left out.
        drops_self_loops: bool,
    }
}

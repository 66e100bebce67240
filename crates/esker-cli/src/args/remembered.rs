//! What a database remembers of its import: how files are read, and what the event times of versions are.

use std::str::FromStr;

use clap::{Args, ValueEnum};
use esker::store::format::value::name::split_name;
use esker::store::format::{
    ColumnRecord, EventTimes, NotationRecord, PropertyColumnRecord, ReadingRecord, TableRecord,
};

use crate::failure::Failure;

/// `--event-times`: the event times of versions that are given none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EventTimesArg {
    /// The times of the commits.
    Now,
    /// Each commit needs --event-time.
    Given,
}

impl From<EventTimesArg> for EventTimes {
    fn from(arg: EventTimesArg) -> Self {
        match arg {
            EventTimesArg::Now => Self::Committed,
            EventTimesArg::Given => Self::Given,
        }
    }
}

/// `--column`: the column of a property.
#[derive(Debug, Clone)]
struct ColumnArg {
    property: String,
    column: String,
}

impl FromStr for ColumnArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match split_name(text, '=') {
            Some((property, column)) if !column.is_empty() => {
                Ok(Self { property, column: column.to_owned() })
            }
            _ => {
                Err(format!("{text:?} has no property and column; write PROPERTY=COLUMN, as in amount=value"))
            }
        }
    }
}

/// Options of what is remembered.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Later files")]
pub(crate) struct RememberArgs {
    /// Column of the source in later files: a name, or a number from 1 where columns have no names
    #[arg(long, visible_alias = "source-column", value_name = "COLUMN")]
    src: Option<String>,
    /// Column of the target in later files
    #[arg(long, visible_alias = "target-column", value_name = "COLUMN")]
    dst: Option<String>,
    /// Column of an edge property in later files; may be repeated
    #[arg(long, value_name = "PROPERTY=COLUMN")]
    column: Vec<ColumnArg>,
    /// Forget how files are read: the columns of the next file that is added are found as in an import, and
    /// remembered
    #[arg(long, conflicts_with_all = ["src", "dst", "column"])]
    forget_reading: bool,
    /// The event times of versions that are given none
    #[arg(long, value_enum, value_name = "WHICH")]
    event_times: Option<EventTimesArg>,
}

impl RememberArgs {
    /// Whether any is given.
    pub(crate) fn is_given(&self) -> bool {
        self.forget_reading || self.event_times.is_some() || self.names_columns()
    }

    fn names_columns(&self) -> bool {
        self.src.is_some() || self.dst.is_some() || !self.column.is_empty()
    }

    /// The event times that are set.
    pub(crate) fn event_times(&self) -> Option<EventTimes> {
        self.event_times.map(EventTimes::from)
    }

    /// What is remembered of reading in place of `kept`, for edges with these properties; `None`: the same.
    ///
    /// # Errors
    /// No table is remembered, or edges have no property of a name.
    pub(crate) fn over(
        &self,
        kept: Option<&ReadingRecord>,
        properties: &[String],
    ) -> Result<Option<Option<ReadingRecord>>, Failure> {
        if self.forget_reading {
            return Ok(Some(None));
        }
        if !self.names_columns() {
            return Ok(None);
        }
        let table = kept.and_then(|kept| kept.table.clone().map(|table| (kept.format.clone(), table)));
        let Some((format, mut table)) = table else {
            return Err(Failure::Usage(
                "the database remembers no table whose columns could change: name those of the next file to `esker add`".to_owned(),
            ));
        };
        let drops_self_loops = kept.is_some_and(|kept| kept.drops_self_loops);
        let (named, columns) = (table.named, table.columns);
        let known: Vec<ColumnRecord> = [&table.source, &table.target]
            .into_iter()
            .chain(table.properties.iter().map(|one| &one.column))
            .cloned()
            .collect();
        let column = |given: &String| column(given, named, columns, &known);
        self.src.iter().try_for_each(|given| column(given).map(|column| table.source = column))?;
        self.dst.iter().try_for_each(|given| column(given).map(|column| table.target = column))?;
        for (at, ColumnArg { property, column: given }) in self.column.iter().enumerate() {
            if self.column[..at].iter().any(|earlier| earlier.property == *property) {
                return Err(Failure::Usage(format!("--column names {property:?} twice: leave one out")));
            }
            if !properties.contains(property) {
                return Err(Failure::Usage(format!("edges have no property {property:?}")));
            }
            let column = column(given)?;
            match table.properties.iter_mut().find(|one| one.property == *property) {
                Some(known) => known.column = column,
                None => {
                    table.properties.push(PropertyColumnRecord { property: property.clone(), column });
                }
            }
        }
        Ok(Some(Some(ReadingRecord { format, table: Some(table), drops_self_loops })))
    }
}

/// The column that an option names, or numbers where columns have no names; `known` are those that are
/// remembered, of which alone the places are known.
fn column(given: &str, named: bool, columns: u32, known: &[ColumnRecord]) -> Result<ColumnRecord, Failure> {
    if named {
        let same = known.iter().find(|known| known.name == given && known.before == 0).cloned();
        let other = || ColumnRecord { name: given.to_owned(), before: 0, place: ColumnRecord::UNKNOWN_PLACE };
        return Ok(same.unwrap_or_else(other));
    }
    match given.parse::<u32>() {
        Ok(number) if (1..=columns).contains(&number) => {
            Ok(ColumnRecord { name: String::new(), before: 0, place: number - 1 })
        }
        _ => Err(Failure::Usage(format!(
            "the columns that the database remembers have no names: give a number from 1 to {columns}, not {given:?}"
        ))),
    }
}

/// `CSV with header, separated by ','; source from, target to, amount`; `None` if no table is remembered.
pub(crate) fn describe_reading(reading: Option<&ReadingRecord>) -> Option<String> {
    let ReadingRecord { format, table, drops_self_loops } = reading?;
    let TableRecord {
        source,
        target,
        properties,
        named,
        delimiter,
        quotes,
        both_ends,
        nulls,
        notation,
        defaults,
        ..
    } = table.as_ref()?;
    let shown = |column: &ColumnRecord| match column.name.as_str() {
        "" => format!("column {}", column.place + 1),
        name => name.to_owned(),
    };
    let of_property = |one: &PropertyColumnRecord| match shown(&one.column) {
        column if column == one.property => column,
        column => format!("{} in {column}", one.property),
    };
    let mut words = vec![format!("source {}", shown(source)), format!("target {}", shown(target))];
    words.extend(properties.iter().map(of_property));
    let header = match (delimiter, named) {
        (Some(_), true) => " with header",
        (Some(_), false) => " without header",
        (None, _) => "",
    };
    let separated = delimiter.map(|byte| format!(", separated by {}", separator(byte))).unwrap_or_default();
    let quotes = if *quotes == Some(false) { ", without quotes" } else { "" };
    let nulls: String = nulls.iter().map(|word| format!(", {word:?} for no value")).collect();
    let defaults: String = defaults
        .iter()
        .map(|one| format!(", {} {:?} where none is given", one.property, one.value))
        .collect();
    let loops = if *drops_self_loops { ", without self-loops" } else { "" };
    let both = if *both_ends { ", each edge at both ends" } else { "" };
    let notation = describe_notation(notation);
    Some(format!(
        "{format}{header}{separated}{quotes}{nulls}{both}{notation}{defaults}{loops}; {}",
        words.join(", ")
    ))
}

/// `, a decimal comma, dates of at as %d.%m.%Y`.
fn describe_notation(notation: &NotationRecord) -> String {
    let comma = if notation.decimal_comma { ", with a decimal comma" } else { "" };
    let formats = notation.date_formats.iter().map(|one| match one.property.as_str() {
        "" => format!(", dates as {}", one.format),
        property => format!(", {property} as {}", one.format),
    });
    formats.fold(comma.to_owned(), |words, format| words + &format)
}

fn separator(byte: u8) -> String {
    match byte {
        b'\t' => "tabs".to_owned(),
        b' ' => "blanks".to_owned(),
        other => format!("'{}'", char::from(other)),
    }
}

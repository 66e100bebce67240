//! What a database remembers of its import, applied to later inputs: which columns are read, and what the
//! event times of versions are.

use esker_graph::{Message, Setting, message};
use esker_import::missing::MissingWords;
use esker_import::read::format::{DefaultValue, Pick, ReadOptions};
use esker_import::read::source::Reader;
use esker_store::format::notation::Notation;
use esker_store::format::{
    ColumnRecord, DateFormatRecord, EventTimes, NotationRecord, PropertyRecord, ReadingRecord, TableRecord,
};
use esker_store::{CommitOptions, Error, Result};
use serde_json::{Value, json};

use super::destination::Destination;
use super::target::Target;

impl Target {
    /// The table that inputs are expected to be like, without what options choose anew.
    pub(super) fn expected(&self, given: &ReadOptions) -> Option<TableRecord> {
        let mut table = self.reading.as_ref()?.table.clone()?;
        if matches!(given.weight, Pick::Column(_)) {
            let weight = self.edge_properties.iter().find(|property| property.weight);
            table.properties.retain(|one| weight.is_none_or(|weight| weight.name != one.property));
        }
        Some(table)
    }

    /// The names of the edge properties of which some edges have no value.
    pub(super) fn incomplete(&self) -> Vec<String> {
        let lacks = |property: &&PropertyRecord| property.optional;
        self.edge_properties.iter().filter(lacks).map(|property| property.name.clone()).collect()
    }

    /// Says which options choose something else than what the database remembers.
    pub(super) fn chosen_anew(&self, given: &ReadOptions) -> Option<Message> {
        let table = self.reading.as_ref()?.table.as_ref()?;
        let weight = self.edge_properties.iter().find(|property| property.weight);
        let weight = table.properties.iter().find(|one| weight.is_some_and(|own| own.name == one.property));
        let mut chosen = Vec::new();
        let mut add = |setting: Setting, given: Option<&String>, known: Option<&ColumnRecord>| {
            let (Some(given), Some(known)) = (given, known) else { return };
            if *given != known.name && *given != (known.place + 1).to_string() {
                let known =
                    if known.name.is_empty() { (known.place + 1).to_string() } else { known.name.clone() };
                chosen.push(message![setting.to_name(given), format!(" in place of {known}")]);
            }
        };
        add(Setting::SourceColumn, given.source.as_ref(), Some(&table.source));
        add(Setting::TargetColumn, given.target.as_ref(), Some(&table.target));
        if let Pick::Column(column) = &given.weight {
            add(Setting::Weight, Some(column), weight.map(|one| &one.column));
        }
        if let (Some(given), Some(known)) = (given.delimiter, table.delimiter)
            && given != known
        {
            let given = Setting::Delimiter.to(shown(given));
            chosen.push(message![given, format!(" in place of {}", shown(known))]);
        }
        if let Some(header) = given.header.filter(|&header| header != table.named) {
            let with = if table.named { " though the import had one" } else { " though the import had none" };
            chosen.push(message![Setting::Header.to(header), with]);
        }
        if let (Some(given), Some(known)) = (given.quotes, table.quotes)
            && given != known
        {
            let with = if known { " though the import had some" } else { " though the import had none" };
            chosen.push(message![Setting::Quotes.to(given), with]);
        }
        chosen.extend(other_notation(&given.notation, &table.notation));
        (!chosen.is_empty())
            .then(|| message!["taken for these files alone, not remembered: ", Message::join(chosen, ", ")])
    }

    /// As [`expect_event_time`].
    pub(super) fn expect_event_time(&self, options: &CommitOptions) -> Result<()> {
        expect_event_time(&self.name, self.event_times, options)
    }

    /// What the database is to remember of an input of edges to add, if it remembers no table.
    pub(super) fn to_remember(&self, reader: &dyn Reader) -> Option<ReadingRecord> {
        let knows = self.reading.as_ref().is_some_and(|reading| reading.table.is_some());
        let table = reader.table().filter(|_| !knows)?;
        let drops_self_loops = self.drops_self_loops();
        Some(ReadingRecord {
            format: reader.schema().format.to_owned(),
            table: Some(table),
            drops_self_loops,
        })
    }

    /// Whether self-loops of files are left out, as the import did.
    pub(super) fn drops_self_loops(&self) -> bool {
        self.reading.as_ref().is_some_and(|reading| reading.drops_self_loops)
    }

    /// The words that stand for no value: those that are given, and those that are remembered.
    pub(super) fn words(&self, given: &ReadOptions) -> MissingWords {
        let expected = self.reading.as_ref().and_then(|reading| reading.table.clone());
        MissingWords::of(&ReadOptions { expected, ..given.clone() })
    }

    /// The defaults of properties: those that are given, else those that are remembered.
    pub(super) fn defaults(&self, given: &ReadOptions) -> Vec<DefaultValue> {
        let remembered =
            self.reading.iter().flat_map(|reading| &reading.table).flat_map(|table| &table.defaults);
        let remembered =
            remembered.map(|one| DefaultValue { name: one.property.clone(), value: one.value.clone() });
        let is_new = |one: &DefaultValue| given.defaults.iter().all(|given| given.name != one.name);
        given.defaults.iter().cloned().chain(remembered.filter(is_new)).collect()
    }
}

/// Refuses a commit to the database `name` that is not given its event time, if `times` says that versions
/// are given theirs.
///
/// # Errors
/// [`Error::Usage`] if the event time is missing.
pub fn expect_event_time(name: &str, times: EventTimes, options: &CommitOptions) -> Result<()> {
    if times == EventTimes::Committed || options.time_ms.is_some() {
        return Ok(());
    }
    Err(Error::usage(message![
        format!(
            "the versions of {name} have event times that were given, so this one needs its own: give it with "
        ),
        Setting::EventTime.to_some("TIME"),
        ", or ",
        Setting::EventTime.to("now"),
        " for the time of the commit",
    ]))
}

/// Which choices of how values are written differ from what is remembered.
fn other_notation(given: &Notation, known: &NotationRecord) -> Vec<Message> {
    let shown = |one: &DateFormatRecord| match one.property.as_str() {
        "" => one.format.clone(),
        property => format!("{property}={}", one.format),
    };
    let known_formats: Vec<String> = known.date_formats.iter().map(shown).collect();
    let instead = match known_formats.as_slice() {
        [] => String::new(),
        known => format!(" in place of {}", known.join(", ")),
    };
    let formats = given.formats.iter().map(ToString::to_string).filter(|one| !known_formats.contains(one));
    let formats = formats.map(|one| message![Setting::DateFormat.to(one), instead.as_str()]);
    let comma = given.decimal_comma.filter(|&comma| comma != known.decimal_comma);
    let comma = comma.map(|comma| {
        let import = if comma { " though the import had none" } else { " though the import had some" };
        message![Setting::DecimalComma.to(comma), import]
    });
    formats.chain(comma).collect()
}

/// Remembers how an input was read that was committed.
pub(super) fn remember(
    database: Destination<'_>,
    reading: Option<ReadingRecord>,
    versions: &[u64],
) -> Result<()> {
    match reading.filter(|_| !versions.is_empty()) {
        Some(reading) => database.remember(reading),
        None => Ok(()),
    }
}

/// A byte between columns, as options take it.
fn shown(delimiter: u8) -> String {
    match delimiter {
        b'\t' => "tab".to_owned(),
        b' ' => "space".to_owned(),
        other => char::from(other).to_string(),
    }
}

/// What is remembered of reading, as JSON; `null` if no table is.
pub fn reading_json(reading: Option<&ReadingRecord>) -> Value {
    let Some((reading, table)) = reading.and_then(|reading| Some((reading, reading.table.as_ref()?))) else {
        return Value::Null;
    };
    let column = |column: &ColumnRecord| match column.name.as_str() {
        "" => json!(column.place + 1),
        name => json!(name),
    };
    let properties: serde_json::Map<_, _> =
        table.properties.iter().map(|one| (one.property.clone(), column(&one.column))).collect();
    let formats = table.notation.date_formats.iter();
    let formats: serde_json::Map<_, _> =
        formats.map(|one| (one.property.clone(), json!(one.format))).collect();
    let defaults: serde_json::Map<_, _> =
        table.defaults.iter().map(|one| (one.property.clone(), json!(one.value))).collect();
    json!({
        "format": reading.format,
        "source": column(&table.source),
        "target": column(&table.target),
        "properties": properties,
        "header": table.named,
        "delimiter": table.delimiter.map(|byte| char::from(byte).to_string()),
        "quotes": table.quotes,
        "both_ends": table.both_ends,
        "nulls": table.nulls,
        "date_format": formats,
        "decimal_comma": table.notation.decimal_comma,
        "default": defaults,
        "self_loops": if reading.drops_self_loops { "drop" } else { "keep" },
    })
}

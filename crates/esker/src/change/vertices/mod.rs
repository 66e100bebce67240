//! Sets properties of vertices, from a table or for one vertex.

mod headed_table;
mod setter;
mod typed_table;
mod answer_column;

use std::borrow::Cow;

use esker_graph::{Message, Setting, message};
use esker_import::binary::TypedVertices;
use esker_import::missing::{TextField, says_missing};
use esker_import::open::{expect_names_once, open_vertices};
use esker_import::read::format::ReadOptions;
use esker_import::read::input::{Input, expand};
use esker_import::read::typed::sniff_type;
use esker_store::format::notation::{ColumnNotation, Notation};
use esker_store::format::{LogicalType, PropertyType, value::decimal};
use esker_store::{CommitOptions, Error, Result};

pub use answer_column::{StoredColumn, store_answer};
use headed_table::{HeadedTable, input_error};
use setter::{BYTES_PER_LOOK, ROWS_PER_LOOK, SetColumn, Setter, expect_new_columns};
pub use setter::{SetOptions, SetReport};

use super::room::Room;
use super::target::Target;
use crate::change::destination::Destination;

/// Sets properties of vertices from a table, as one version. The column of the ids is the one with a usual
/// name for them, else the first; the other columns are properties, named by the header. An empty field, or a
/// word for no value, leaves the value as it is or removes it, as [`SetOptions::clears_empty`] says. The type
/// of a new property is the first that fits all its values: 64-bit integer, number, truth value, date, time,
/// text. Memory: the table. A table of Parquet or Arrow has types, and its nulls are missing values. Memory:
/// the ids.
///
/// # Errors
/// [`Error::Input`] with the number of the invalid line, or if the first line looks like values and `options`
/// do not say that it is a header. [`Error::Invalid`] if a vertex does not exist and
/// [`SetOptions::add_missing`] is not set. [`Error::Usage`] if `options.schema` declares a column that
/// the table lacks, or a property that has another type. Nothing is committed then.
pub fn set_from_table<'a>(
    database: impl Into<Destination<'a>>,
    target: &Target,
    file: &str,
    options: &ReadOptions,
    set: &SetOptions,
    commit: &CommitOptions,
) -> Result<SetReport> {
    let database = database.into();
    target.expect_event_time(commit)?;
    expect_names_once(options)?;
    let input = single(file, options)?;
    if let Some(table) = open_typed(&input, target, options, set)? {
        return typed_table::set(database, target, &input, table, options, set, commit);
    }
    set_from_text(database, target, &input, options, set, commit)
}

/// The same for a table of text.
fn set_from_text(
    database: Destination<'_>,
    target: &Target,
    input: &Input,
    options: &ReadOptions,
    set: &SetOptions,
    commit: &CommitOptions,
) -> Result<SetReport> {
    let rejects = set.rejects.as_deref();
    let mut table = HeadedTable::read(input, options, database, rejects.is_some())?;
    if options.header != Some(true) {
        names_columns(target, &table.header).map_err(|reason| input_error(input, Some(1), reason))?;
    }
    let mut setter = Setter::new(database, target, set.add_missing)?;
    setter.clears_empty = set.clears_empty;
    setter.report.warnings.extend(table.odd_line.take().map(Message::from));
    let words = target.words(options);
    expect_new_columns(target, &table.header, &options.schema)?;
    check_formats(&table.header, &options.notation)?;
    let properties: Vec<SetColumn> = (1..table.header.len())
        .map(|column| {
            let name = &table.header[column];
            let declared = options.schema.iter().find(|declared| declared.name == *name);
            // A text with doubled quotes is no number, as it stands.
            let values = table.rows().map(|row| row[column].raw(&table.content));
            let values = values.filter(|value| !words.is_named(value));
            let notation = options.notation.of_column(|own| own == name, values.clone());
            let property_type =
                declared.map_or_else(|| type_of(&notation, values), |known| known.property_type.clone());
            SetColumn { property: setter.define(name, property_type), notation }
        })
        .collect();
    let (mut room, mut unreserved) = (Room::default(), 0);
    let (mut taken, mut no_rows) = (Vec::new(), std::mem::take(&mut table.rejected).into_iter().peekable());
    for (index, (line, row)) in table.lines.iter().zip(table.rows()).enumerate() {
        while let Some(no_row) = no_rows.next_if(|no_row| no_row.line < *line) {
            setter.reject(no_row, rejects)?;
        }
        let id = row[0].text(&table.content);
        let values = row[1..].iter().zip(&properties).map(|(field, column)| {
            let text = field.text(&table.content);
            let is_quoted = field.is_quoted(&table.content);
            let is_missing = match column.property.is_text() {
                true => !is_quoted && words.text(&text) == TextField::Missing,
                false => says_missing(&text) || words.is_named(&text),
            };
            (!is_missing).then_some(text)
        });
        match (setter.set_row(&id, values, &properties), rejects) {
            (Ok(()), _) => taken.push(index),
            (Err(error), None) => return Err(input_error(input, Some(*line), error.message())),
            (Err(error), _) => {
                setter.reject(table.rejected_row(input, index, error.message()), rejects)?;
            }
        }
        unreserved += row.iter().map(|field| field.raw(&table.content).len()).sum::<usize>();
        if index % ROWS_PER_LOOK == 0 || unreserved > BYTES_PER_LOOK {
            unreserved = 0;
            room.make(database, &mut setter.batch)?;
        }
    }
    room.finish(database, &mut setter.batch, table.bytes())?;
    setter.count_repeated(&table, &taken);
    no_rows.try_for_each(|no_row| setter.reject(no_row, rejects))?;
    setter.expect_taken()?;
    drop(table);
    setter.report.odd_times = options.notation.odd_times.warning();
    setter.commit(commit)
}

/// The table, if its columns have types.
fn open_typed(
    input: &Input,
    target: &Target,
    options: &ReadOptions,
    set: &SetOptions,
) -> Result<Option<TypedVertices>> {
    let options = ReadOptions { ids_can_become_texts: true, ..options.clone() };
    let options = if set.rejects.is_some() { options.keeping_rejected() } else { options };
    open_vertices(input, target.text_ids, &options)
}

/// The input of this name.
fn single(file: &str, options: &ReadOptions) -> Result<Input> {
    match &expand(&[file], &options.cancel)?[..] {
        [input] => Ok(input.clone()),
        several => Err(Error::invalid(format!("{file} matches {} files; give one at a time", several.len()))),
    }
}

/// Sets properties of one vertex; an empty value removes the property's value.
///
/// # Errors
/// [`Error::Invalid`] if the vertex does not exist and `add_missing` is not set, or a value does not have the
/// type of its property. [`Error::Usage`] if a property has two values.
pub fn set_vertex<'a>(
    database: impl Into<Destination<'a>>,
    target: &Target,
    id: &str,
    values: &[(String, String)],
    notation: &Notation,
    add_missing: bool,
    commit: &CommitOptions,
) -> Result<SetReport> {
    let database = database.into();
    target.expect_event_time(commit)?;
    let names: Vec<String> = values.iter().map(|value| value.0.clone()).collect();
    expect_one_value_each(&names)?;
    check_formats(&names, notation)?;
    let mut setter = Setter::new(database, target, add_missing)?;
    let mut properties = Vec::with_capacity(values.len());
    for (name, value) in values {
        if value.is_empty() {
            setter.definitions.expect(name)?;
        }
        let given = std::iter::once(value.as_bytes());
        let notation = notation.of_column(|own| own == name, given.clone());
        let property = setter.define(name, type_of(&notation, given));
        properties.push(SetColumn { property, notation });
    }
    let values =
        values.iter().map(|(_, value)| (!value.is_empty()).then_some(Cow::Borrowed(value.as_bytes())));
    setter.clears_empty = true;
    setter.set_row(id.as_bytes(), values, &properties)?;
    setter.report.odd_times = notation.odd_times.warning();
    setter.commit(commit)
}

/// The type of a new property with these values.
fn type_of<'v>(notation: &ColumnNotation, values: impl Iterator<Item = &'v [u8]>) -> PropertyType {
    let read = notation.sample(values);
    // Words for no value show what a column holds only where nothing else does.
    let given = || read.iter().map(AsRef::as_ref).filter(|value| !says_missing(value));
    let found = match given().next() {
        Some(_) => sniff_type(given()),
        None => sniff_type(read.iter().map(AsRef::as_ref)),
    };
    match found.logical {
        LogicalType::Timestamp { .. } => notation.zoned(found.logical).into(),
        LogicalType::Number
        | LogicalType::Text
        | LogicalType::Boolean
        | LogicalType::Date
        | LogicalType::EdgeId
        | LogicalType::Vector { .. } => found,
    }
}

/// Refuses a property with two values, of which one would be dropped.
fn expect_one_value_each(names: &[String]) -> Result<()> {
    match names.iter().enumerate().find(|&(at, name)| names[..at].contains(name)) {
        None => Ok(()),
        Some((_, name)) => {
            Err(Error::usage(format!("the property {name:?} is given two values: leave one out")))
        }
    }
}

/// Refuses date formats of columns that are not set.
fn check_formats(names: &[String], notation: &Notation) -> Result<()> {
    let named = notation.formats.iter().filter_map(|format| format.column.as_ref());
    match named.into_iter().find(|&name| !names.contains(name)) {
        None => Ok(()),
        Some(name) => Err(Error::usage(message![
            Setting::DateFormat,
            format!(" has no effect on {name:?}, of which no value is set"),
        ])),
    }
}

/// Checks that a header does not look like a row of values.
///
/// # Errors
/// It does, in words.
fn names_columns(target: &Target, header: &[String]) -> std::result::Result<(), Message> {
    let first = &header[0];
    let is_value =
        |name: &&String| decimal::is_numeral(name.as_bytes()) && target.vertex_property(name).is_none();
    let why = if target.expect_vertex(first.as_bytes()).is_ok() {
        format!("{first:?} is a vertex")
    } else if !target.text_ids && target.id(first.as_bytes()).is_ok() {
        format!("{first:?} is an id")
    } else if let Some(value) = header[1..].iter().find(is_value) {
        format!("{value:?} is a number")
    } else {
        return Ok(());
    };
    Err(message![
        format!(
            "the first line must name the columns, but {why}: put a line like \"id,age\" before it, or pass "
        ),
        Setting::Header.to(true),
        " if it does name them",
    ])
}

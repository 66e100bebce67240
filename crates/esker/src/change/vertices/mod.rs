//! Sets properties of vertices, from a table or for one vertex.

mod headed_table;
mod typed_table;

use std::borrow::Cow;
use std::sync::Arc;

use esker_graph::{Message, Setting, message};
use esker_import::binary::TypedVertices;
use esker_import::missing::{TextField, says_missing};
use esker_import::open::open_vertices;
use esker_import::read::format::{Declaration, ReadOptions};
use esker_import::read::input::{Input, expand};
use esker_import::read::source::Rejected;
use esker_import::read::typed::sniff_type;
use esker_import::rejects::RejectsFile;
use esker_store::format::notation::{ColumnNotation, Notation};
use esker_store::format::{LogicalType, PropertyRecord, PropertyType, value::decimal};
use esker_store::ids::ExternalId;
use esker_store::property::PropertyValue;
use esker_store::{Batch, CommitOptions, Database, Error, Result};

use headed_table::{HeadedTable, input_error};

use super::definitions::Definitions;
use super::room::Room;
use super::target::Target;
use super::value::{InputValue, convert_or_widen, describe};

/// Report of [`set_from_table`] and [`set_vertex`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SetReport {
    /// The committed version; `None` if there was nothing to set.
    pub version: Option<u64>,
    /// Number of vertices.
    pub vertices: u64,
    /// Number of rows of vertices that an earlier row names too: the last values count.
    pub repeated: u64,
    /// Number of values set.
    pub set: u64,
    /// Number of values removed.
    pub unset: u64,
    /// Names of new properties, each with a description of its type.
    pub defined: Vec<(String, String)>,
    /// Number of rows that were not taken.
    pub rejected: u64,
    /// What to warn of, if local times were at changes of the clocks.
    pub odd_times: Option<String>,
    /// What of the table is not read.
    pub warnings: Vec<Message>,
}

/// How [`set_from_table`] changes vertices.
#[derive(Debug, Clone, Default)]
pub struct SetOptions {
    /// Whether vertices are added that do not exist.
    pub add_missing: bool,
    /// Whether a field without a value removes the one that a vertex has. Else it stays.
    pub clears_empty: bool,
    /// Where rows go that cannot be taken, so that the others are. Else one of them is an error.
    pub rejects: Option<Arc<RejectsFile>>,
}

/// Sets properties of vertices from a table, as one version. The column of the ids is the one with a usual
/// name for them, else the first; the other columns are properties, named by the header. An empty field, or a
/// word for no value, leaves the value as it is or removes it, as [`SetOptions::clears_empty`] says. The type
/// of a new property is the first that fits all its values: 64-bit integer, number, truth value, date, time,
/// text. Memory: the table. The table may be of Parquet or Arrow, whose columns have types and whose nulls are
/// missing. Memory: the ids.
///
/// # Errors
/// [`Error::Input`] with the number of the invalid line, or if the first line looks like values and `options`
/// do not say that it is a header. [`Error::Invalid`] if a vertex does not exist and
/// [`SetOptions::add_missing`] is not set. [`Error::Usage`] if `options.schema` declares a column that
/// the table lacks, or a property that has another type. Nothing is committed then.
pub fn set_from_table(
    database: &Database,
    target: &Target,
    file: &str,
    options: &ReadOptions,
    set: &SetOptions,
    commit: &CommitOptions,
) -> Result<SetReport> {
    target.expect_event_time(commit)?;
    let input = single(file, options)?;
    if let Some(table) = open_typed(&input, target, options, set)? {
        return typed_table::set(database, target, (&input, table), options, set, commit);
    }
    let rejects = set.rejects.as_deref();
    let mut table = HeadedTable::read(&input, options, database, rejects.is_some())?;
    if options.header != Some(true) {
        names_columns(target, &table.header).map_err(|reason| input_error(&input, Some(1), reason))?;
    }
    let mut setter = Setter::new(database, target, set.add_missing);
    setter.clears_empty = set.clears_empty;
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
            (Err(error), None) => return Err(input_error(&input, Some(*line), error.message())),
            (Err(error), _) => {
                setter.reject(table.rejected_row(&input, index, error.message()), rejects)?;
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
    let options = options.clone();
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
/// type of its property.
pub fn set_vertex(
    database: &Database,
    target: &Target,
    id: &str,
    values: &[(String, String)],
    notation: &Notation,
    add_missing: bool,
    commit: &CommitOptions,
) -> Result<SetReport> {
    target.expect_event_time(commit)?;
    let names: Vec<String> = values.iter().map(|value| value.0.clone()).collect();
    check_formats(&names, notation)?;
    let mut setter = Setter::new(database, target, add_missing);
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

/// A property that values are set of, and how they are written.
struct SetColumn {
    property: PropertyRecord,
    notation: ColumnNotation,
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

struct Setter<'a> {
    database: &'a Database,
    target: &'a Target,
    add_missing: bool,
    clears_empty: bool,
    batch: Batch,
    definitions: Definitions<'a>,
    report: SetReport,
    first_rejected: Option<Rejected>,
}

impl<'a> Setter<'a> {
    fn new(database: &'a Database, target: &'a Target, add_missing: bool) -> Self {
        let (definitions, report) = (Definitions::new(target), SetReport::default());
        let batch = database.batch();
        Self {
            database,
            target,
            add_missing,
            clears_empty: false,
            batch,
            definitions,
            report,
            first_rejected: None,
        }
    }

    fn define(&mut self, name: &str, property_type: PropertyType) -> PropertyRecord {
        let is_new = self.definitions.find(name).is_none();
        let record = self.definitions.define(&mut self.batch, name, property_type);
        if is_new {
            self.report.defined.push((name.to_owned(), describe(&record.property_type())));
        }
        record
    }

    fn set_row<'v>(
        &mut self,
        id: &[u8],
        values: impl Iterator<Item = Option<Cow<'v, [u8]>>>,
        properties: &[SetColumn],
    ) -> Result<()> {
        let vertex = self.vertex(id)?;
        // Of a row that is not taken no value is set, so all are read first.
        let mut read = Vec::with_capacity(properties.len());
        for (SetColumn { property, notation }, value) in properties.iter().zip(values) {
            let Some(value) = value else {
                read.push(None);
                continue;
            };
            let own = notation
                .read(&value, &property.logical)
                .map_err(|reason| not_written(property, &value, &reason))?
                .into_owned();
            convert_or_widen(property, InputValue::Text(&own))?;
            read.push(Some(own));
        }
        for (SetColumn { property, .. }, value) in properties.iter().zip(&read) {
            let value = value.as_ref().map(|value| convert_or_widen(property, InputValue::Text(value)));
            self.set_value(vertex, &property.name, value.transpose()?)?;
        }
        self.report.vertices += 1;
        Ok(())
    }

    /// The vertex with an id, which exists unless missing ones are added.
    fn vertex<'t>(&self, id: &'t [u8]) -> Result<ExternalId<'t>> {
        if !self.add_missing {
            self.target.expect_vertex(id).map_err(|error| {
                error.and(message!["; use ", Setting::AddMissing.to(true), " to add missing vertices"])
            })?;
        }
        self.target.id(id)
    }

    /// Sets or removes the value of a vertex.
    fn set_value(
        &mut self,
        vertex: ExternalId<'_>,
        name: &str,
        value: Option<PropertyValue<'_>>,
    ) -> Result<()> {
        if value.is_none() && !self.clears_empty {
            return Ok(());
        }
        *(if value.is_some() { &mut self.report.set } else { &mut self.report.unset }) += 1;
        self.batch.set_vertex(vertex, name, value)
    }

    /// Writes a row that is not taken.
    fn reject(&mut self, row: Rejected, file: Option<&RejectsFile>) -> Result<()> {
        self.report.rejected += 1;
        file.map_or(Ok(()), |file| file.write([&row]))?;
        self.first_rejected.get_or_insert(row);
        Ok(())
    }

    /// An error if no row was taken, and some were there.
    fn expect_taken(&self) -> Result<()> {
        match &self.first_rejected {
            Some(first) if self.report.vertices == 0 => Err(first.of_all(self.report.rejected)),
            _ => Ok(()),
        }
    }

    /// Counts the rows whose vertex an earlier row names.
    fn count_repeated(&mut self, table: &HeadedTable, taken: &[usize]) {
        // They were taken, so they are ids: `1` and `1.0` are one.
        let texts: Vec<Cow<'_, [u8]>> =
            taken.iter().map(|&row| table.row(row)[0].text(&table.content)).collect();
        let id = |row: &usize| self.target.id(&texts[*row]).ok();
        let mut rows: Vec<usize> = (0..texts.len()).collect();
        rows.sort_unstable_by_key(&id);
        let repeated = rows.windows(2).filter(|pair| id(&pair[0]) == id(&pair[1])).count() as u64;
        self.report.repeated = repeated;
        self.report.vertices -= repeated;
    }

    fn commit(mut self, options: &CommitOptions) -> Result<SetReport> {
        if self.report.vertices > 0 {
            self.report.version = Some(self.database.commit_with(self.batch, options)?.version);
        }
        Ok(self.report)
    }
}

/// The error for a value that is not written as the options say.
fn not_written(property: &PropertyRecord, value: &[u8], reason: &str) -> Error {
    Error::invalid(format!("property {:?}: {:?} {reason}", property.name, decimal::shown(value)))
}

/// Checks that what is declared are columns of properties, which have no other type yet.
fn expect_new_columns(target: &Target, header: &[String], schema: &[Declaration]) -> Result<()> {
    for (index, Declaration { name, property_type }) in schema.iter().enumerate() {
        if schema[..index].iter().any(|before| before.name == *name) {
            return Err(Error::usage(format!("the type of {name:?} is declared twice")));
        }
        if !header[1..].contains(name) {
            let columns = header[1..].join(", ");
            return Err(Error::usage(format!(
                "there is no column {name:?} to declare; the columns are {columns}"
            )));
        }
        let known = target.vertex_property(name).map(PropertyRecord::property_type);
        if let Some(known) = known.filter(|known| known != property_type) {
            return Err(Error::usage(format!(
                "the vertex property {name:?} has the type {known}, not {property_type}"
            )));
        }
    }
    Ok(())
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

/// Rows, and bytes of their fields, after which the memory of a batch is looked at.
const ROWS_PER_LOOK: usize = 1024;
const BYTES_PER_LOOK: usize = 1 << 18;

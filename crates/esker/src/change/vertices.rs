//! Sets properties of vertices, from a table or for one vertex.

use std::collections::HashMap;
use std::io::Read;

use esker_graph::{Budget, Reservation, Stop};
use esker_import::format::ReadOptions;
use esker_import::input::{Input, expand};
use esker_store::format::{PropertyRecord, PropertyType};
use esker_store::{Batch, CommitOptions, CommitSizing, Database, Error, Result};

use super::room::Room;
use super::target::Target;
use super::value::{Given, convert_or_widen, describe, number, sniff};

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
}

/// The vertex properties of a database and those that a batch adds.
pub(super) struct Definitions<'a> {
    target: &'a Target,
    new: HashMap<String, PropertyRecord>,
}

impl<'a> Definitions<'a> {
    pub(super) fn new(target: &'a Target) -> Self {
        Self { target, new: HashMap::new() }
    }

    fn find(&self, name: &str) -> Option<&PropertyRecord> {
        self.target.vertex_property(name).or_else(|| self.new.get(name))
    }

    /// Returns an error if the property does not exist.
    pub(super) fn expect(&self, name: &str) -> Result<()> {
        if self.find(name).is_some() {
            return Ok(());
        }
        let names: Vec<&str> =
            self.target.vertex_properties.iter().map(|property| property.name.as_str()).collect();
        Err(Error::Invalid(format!(
            "cannot remove a value of {name:?}, which is not a vertex property: the vertices of {} have {}",
            self.target.name,
            if names.is_empty() { "no properties".to_owned() } else { names.join(", ") }
        )))
    }

    /// The property called `name`; if it does not exist, adds it with a type.
    pub(super) fn define(
        &mut self,
        batch: &mut Batch,
        name: &str,
        property_type: PropertyType,
    ) -> PropertyRecord {
        if let Some(known) = self.find(name) {
            return known.clone();
        }
        batch.define_vertex_property(name, property_type.clone());
        let record = PropertyRecord::of_vertices(name, property_type);
        self.new.insert(name.to_owned(), record.clone());
        record
    }
}

/// Sets properties of vertices from a table, as one version. The first column is the id; the other columns are properties, named by the
/// header. An empty field removes the value. The type of a new property is the first that fits all its values: 64-bit integer, number, truth value, date, time, text.
/// Memory: the table.
///
/// # Errors
/// [`Error::Input`] with the number of the invalid line, or if the first line looks like values and `options` do not say that it is a
/// header; [`Error::Invalid`] if a vertex does not exist and `add_missing` is not set. Nothing is committed then.
pub fn set_from_table(
    database: &Database,
    target: &Target,
    file: &str,
    options: &ReadOptions,
    add_missing: bool,
    commit: &CommitOptions,
) -> Result<SetReport> {
    let input = match &expand(&[file], &options.cancel)?[..] {
        [input] => input.clone(),
        several => {
            return Err(Error::Invalid(format!(
                "{file} matches {} files; give one at a time",
                several.len()
            )));
        }
    };
    let table = Table::read(&input, options, database)?;
    if options.header != Some(true) {
        names_columns(target, &table.header).map_err(|reason| input_error(&input, Some(1), reason))?;
    }
    let mut setter = Setter::new(database, target, add_missing);
    let properties: Vec<PropertyRecord> = (1..table.header.len())
        .map(|column| {
            let values = table.rows.iter().filter_map(|row| row.1.get(column));
            setter.define(&table.header[column], sniff(values))
        })
        .collect();
    let mut room = Room::default();
    for (index, (line, row)) in table.rows.iter().enumerate() {
        setter
            .set_row(row, &properties)
            .map_err(|reason| input_error(&input, Some(*line), reason.to_string()))?;
        if index % ROWS_PER_LOOK == 0 {
            room.make(database, &mut setter.batch)?;
        }
    }
    room.finish(database, &mut setter.batch, table.memory.held.bytes())?;
    setter.count_repeated(&table);
    drop(table);
    setter.commit(commit)
}

/// Sets properties of one vertex; an empty value removes the property's value.
///
/// # Errors
/// [`Error::Invalid`] if the vertex does not exist and `add_missing` is not set, or a value does not have the type of its property.
pub fn set_vertex(
    database: &Database,
    target: &Target,
    id: &str,
    values: &[(String, String)],
    add_missing: bool,
    commit: &CommitOptions,
) -> Result<SetReport> {
    let mut setter = Setter::new(database, target, add_missing);
    let mut properties = Vec::with_capacity(values.len());
    for (name, value) in values {
        if value.is_empty() {
            setter.definitions.expect(name)?;
        }
        properties.push(setter.define(name, sniff([value.as_bytes()].into_iter())));
    }
    let mut row = csv::ByteRecord::new();
    row.push_field(id.as_bytes());
    values.iter().for_each(|(_, value)| row.push_field(value.as_bytes()));
    setter.set_row(&row, &properties)?;
    setter.commit(commit)
}

struct Setter<'a> {
    database: &'a Database,
    target: &'a Target,
    add_missing: bool,
    batch: Batch,
    definitions: Definitions<'a>,
    report: SetReport,
}

impl<'a> Setter<'a> {
    fn new(database: &'a Database, target: &'a Target, add_missing: bool) -> Self {
        let (definitions, report) = (Definitions::new(target), SetReport::default());
        Self { database, target, add_missing, batch: database.batch(), definitions, report }
    }

    fn define(&mut self, name: &str, property_type: PropertyType) -> PropertyRecord {
        let is_new = self.definitions.find(name).is_none();
        let record = self.definitions.define(&mut self.batch, name, property_type);
        if is_new {
            self.report.defined.push((name.to_owned(), describe(&record.property_type())));
        }
        record
    }

    fn set_row(&mut self, row: &csv::ByteRecord, properties: &[PropertyRecord]) -> Result<()> {
        let text = row.get(0).unwrap_or_default();
        let text = std::str::from_utf8(text).map_err(|_| {
            Error::Invalid("the vertex id is not UTF-8; convert the file to UTF-8".to_owned())
        })?;
        let text = self.target.trimmed(text);
        let id = self.target.id(text)?;
        if !self.add_missing {
            self.target
                .expect_vertex(text)
                .map_err(|error| Error::Invalid(format!("{error}; use --new to add missing vertices")))?;
        }
        for (property, value) in properties.iter().zip(row.iter().skip(1)) {
            let value = if property.is_text() { value } else { value.trim_ascii() };
            if value.is_empty() {
                self.batch.set_vertex(id, &property.name, None)?;
                self.report.unset += 1;
                continue;
            }
            let value = convert_or_widen(property, Given::Text(value))?;
            self.batch.set_vertex(id, &property.name, Some(value))?;
            self.report.set += 1;
        }
        self.report.vertices += 1;
        Ok(())
    }

    /// Counts the rows whose vertex an earlier row names.
    fn count_repeated(&mut self, table: &Table) {
        let id = |row: &usize| {
            let text = table.rows[*row].1.get(0).and_then(|text| std::str::from_utf8(text).ok());
            text.and_then(|text| self.target.id(self.target.trimmed(text)).ok())
        };
        let mut rows: Vec<usize> = (0..table.rows.len()).collect();
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

/// Checks that a header does not look like a row of values.
///
/// # Errors
/// It does, in words.
fn names_columns(target: &Target, header: &[String]) -> std::result::Result<(), String> {
    let first = target.trimmed(&header[0]);
    let is_value =
        |name: &&String| number(name.as_bytes()).is_some() && target.vertex_property(name).is_none();
    let why = if target.expect_vertex(first).is_ok() {
        format!("{first:?} is a vertex")
    } else if !target.text_ids && target.id(first).is_ok() {
        format!("{first:?} is an id")
    } else if let Some(value) = header[1..].iter().find(is_value) {
        format!("{value:?} is a number")
    } else {
        return Ok(());
    };
    Err(format!(
        "the first line must name the columns, but {why}: put a line like \"id,age\" before it, or pass --header if it does name them"
    ))
}

/// Rows after which the memory of a batch is looked at.
const ROWS_PER_LOOK: usize = 1024;
/// Bytes that are read, or counted, at a time.
const TABLE_STEP_BYTES: u64 = 1 << 20;
/// Memory of a row beside its text, and of each of its fields: positions, lengths, and what the allocator adds.
const ROW_BYTES: u64 = 256;
const FIELD_BYTES: u64 = 16;

/// A table with a header.
struct Table {
    header: Vec<String>,
    /// Line numbers and rows.
    rows: Vec<(u64, csv::ByteRecord)>,
    memory: TableMemory,
}

/// The memory of a table that is read.
struct TableMemory {
    what: String,
    held: Reservation,
    /// Not reserved yet.
    more: u64,
}

impl TableMemory {
    fn new(input: &Input, budget: &Budget) -> Result<Self> {
        let what = format!("the table {}", input.path().display());
        let held = budget.reserve(&what, 0)?;
        Ok(Self { what, held, more: 0 })
    }

    /// Counts memory that is about to be taken.
    fn count(&mut self, bytes: u64, budget: &Budget) -> Result<()> {
        self.more += bytes;
        if self.more >= TABLE_STEP_BYTES {
            self.held.absorb(budget.reserve(&self.what, self.more)?);
            self.more = 0;
        }
        Ok(())
    }
}

/// What there is in a table that does not fit.
#[derive(Debug, Clone, Copy, Default)]
struct TableCounts {
    bytes: u64,
    lines: u64,
    /// Characters that may end a field.
    ends: u64,
}

impl TableCounts {
    fn add(&mut self, content: &[u8]) {
        let count = |wanted: &[u8]| content.iter().filter(|byte| wanted.contains(byte)).count() as u64;
        self.bytes += content.len() as u64;
        self.lines += count(b"\n");
        self.ends += count(b",\t;|\n");
    }

    /// The refusal of the table, with a limit that is enough for it, and for the commit of all its fields.
    fn refusal(self, memory: TableMemory, database: &Database) -> Error {
        let TableMemory { what, held, .. } = memory;
        drop(held);
        let rows = self.bytes + (self.lines + 1) * ROW_BYTES + (self.ends + 1) * FIELD_BYTES;
        let table_bytes = 2 * self.bytes.next_multiple_of(TABLE_STEP_BYTES) + rows + 2 * TABLE_STEP_BYTES;
        let mut sizing = CommitSizing::default();
        sizing.add_counted(database, self.ends + 1, self.bytes);
        match sizing.refusal(database, 0) {
            Error::Stop(Stop::OverBudget { needed_bytes, budget_bytes, .. }) => {
                Error::Stop(Stop::OverBudget { what, needed_bytes: needed_bytes + table_bytes, budget_bytes })
            }
            other => other,
        }
    }
}

/// Reads an input whole. If it does not fit the limit, counts its rows and bytes instead.
fn read_bytes(
    input: &Input,
    memory: &mut TableMemory,
    budget: &Budget,
) -> Result<std::result::Result<Vec<u8>, TableCounts>> {
    let (mut bytes, mut source) = (Vec::new(), input.open()?);
    let mut step = |bytes: &mut Vec<u8>| {
        let read = (&mut source).take(TABLE_STEP_BYTES).read_to_end(bytes);
        read.map_err(Error::io("read", input.path().to_path_buf()))
    };
    // The vector doubles as it grows.
    while step(&mut bytes)? > 0 {
        if memory.count(2 * TABLE_STEP_BYTES, budget).is_err() {
            let mut counts = TableCounts::default();
            while !bytes.is_empty() {
                counts.add(&bytes);
                bytes.clear();
                step(&mut bytes)?;
            }
            return Ok(Err(counts));
        }
    }
    Ok(Ok(bytes))
}

impl Table {
    fn read(input: &Input, options: &ReadOptions, database: &Database) -> Result<Self> {
        let budget = database.budget();
        let mut memory = TableMemory::new(input, budget)?;
        let bytes = match read_bytes(input, &mut memory, budget)? {
            Ok(bytes) => bytes,
            Err(counts) => return Err(counts.refusal(memory, database)),
        };
        let content = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
        if content.contains(&0) {
            return Err(input_error(
                input,
                None,
                "the file is binary; a table of vertices must be CSV or TSV".to_owned(),
            ));
        }
        let first = content.split(|&byte| byte == b'\n').next().unwrap_or_default();
        let delimiter = options.delimiter.unwrap_or_else(|| usual_delimiter(first));
        let mut reader = csv::ReaderBuilder::new();
        reader.delimiter(delimiter).quoting(options.quotes != Some(false)).has_headers(true);
        let mut reader = reader.from_reader(content);
        let told = |error: csv::Error| {
            let line = error.position().map(csv::Position::line);
            let reason = match error.kind() {
                csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
                    format!(
                        "the line has {}, but the header has {expected_len}",
                        esker_graph::counted(*len, "field", "fields")
                    )
                }
                _ => error.to_string(),
            };
            input_error(input, line, reason)
        };
        let header: Vec<String> =
            reader.headers().map_err(told)?.iter().map(|name| name.trim().to_owned()).collect();
        if header.len() < 2 {
            let reason = "the header must have at least two columns, the id and one property; use --delimiter if the \
                          columns are separated by another character";
            return Err(input_error(input, Some(1), reason.to_owned()));
        }
        for (index, name) in header.iter().enumerate().skip(1) {
            if name.is_empty() || header[1..index].contains(name) {
                let reason =
                    format!("column {} of the header is {name:?}, which is empty or a duplicate", index + 1);
                return Err(input_error(input, Some(1), reason));
            }
        }
        let rows = reader.byte_records().map(|row| {
            let row = row.map_err(told)?;
            memory.count(ROW_BYTES + row.as_slice().len() as u64 + FIELD_BYTES * row.len() as u64, budget)?;
            Ok((row.position().map_or(0, csv::Position::line), row))
        });
        match rows.collect::<Result<_>>() {
            Err(Error::Stop(Stop::OverBudget { .. })) => {
                let mut counts = TableCounts::default();
                counts.add(content);
                Err(counts.refusal(memory, database))
            }
            rows => Ok(Self { header, rows: rows?, memory }),
        }
    }
}

/// The usual delimiter that occurs most often in the header.
fn usual_delimiter(header: &[u8]) -> u8 {
    let count = |delimiter: u8| header.iter().filter(|&&byte| byte == delimiter).count();
    *b",\t;|".iter().rev().max_by_key(|&&delimiter| count(delimiter)).unwrap_or(&b',')
}

fn input_error(input: &Input, line: Option<u64>, reason: String) -> Error {
    Error::Input { path: input.path().to_path_buf(), line, text: String::new(), reason }
}

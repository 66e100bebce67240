//! Sets properties of vertices, from a table or for one vertex.

use std::borrow::Cow;
use std::io::Read;

use esker_graph::{Budget, Message, Reservation, Setting, Stop, message};
use esker_import::read::format::{Declaration, ReadOptions};
use esker_import::read::input::{Input, expand};
use esker_import::read::typed::sniff_type;
use esker_import::rows::{BadRow, FieldPlace, TextRows, check_encoding};
use esker_store::format::notation::{ColumnNotation, Notation};
use esker_store::format::{LogicalType, PropertyRecord, PropertyType, value::decimal};
use esker_store::{Batch, CommitOptions, CommitSizing, Database, Error, Result};

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
    /// What to warn of, if local times were at changes of the clocks.
    pub odd_times: Option<String>,
}

/// Sets properties of vertices from a table, as one version. The first column is the id; the other columns
/// are properties, named by the header. An empty field removes the value. The type of a new property is the
/// first that fits all its values: 64-bit integer, number, truth value, date, time, text. Memory: the table.
///
/// # Errors
/// [`Error::Input`] with the number of the invalid line, or if the first line looks like values and `options`
/// do not say that it is a header. [`Error::Invalid`] if a vertex does not exist and `add_missing` is not
/// set. [`Error::Usage`] if `options.schema` declares a column that the table lacks, or a property that has
/// another type. Nothing is committed then.
pub fn set_from_table(
    database: &Database,
    target: &Target,
    file: &str,
    options: &ReadOptions,
    add_missing: bool,
    commit: &CommitOptions,
) -> Result<SetReport> {
    target.expect_event_time(commit)?;
    let input = match &expand(&[file], &options.cancel)?[..] {
        [input] => input.clone(),
        several => {
            return Err(Error::invalid(format!(
                "{file} matches {} files; give one at a time",
                several.len()
            )));
        }
    };
    let table = HeadedTable::read(&input, options, database)?;
    if options.header != Some(true) {
        names_columns(target, &table.header).map_err(|reason| input_error(&input, Some(1), reason))?;
    }
    let mut setter = Setter::new(database, target, add_missing);
    expect_new_columns(target, &table.header, &options.schema)?;
    check_formats(&table.header, &options.notation)?;
    let properties: Vec<SetColumn> = (1..table.header.len())
        .map(|column| {
            let name = &table.header[column];
            let declared = options.schema.iter().find(|declared| declared.name == *name);
            // A text with doubled quotes is no number, as it stands.
            let values = table.rows().map(|row| row[column].raw(&table.content));
            let notation = options.notation.of_column(|own| own == name, values.clone());
            let property_type =
                declared.map_or_else(|| type_of(&notation, values), |known| known.property_type.clone());
            SetColumn { property: setter.define(name, property_type), notation }
        })
        .collect();
    let (mut room, mut unreserved) = (Room::default(), 0);
    for (index, (line, row)) in table.lines.iter().zip(table.rows()).enumerate() {
        let mut values = row.iter().map(|field| field.text(&table.content));
        let id = values.next().unwrap_or_default();
        setter
            .set_row(&id, values, &properties)
            .map_err(|reason| input_error(&input, Some(*line), reason.message()))?;
        unreserved += row.iter().map(|field| field.raw(&table.content).len()).sum::<usize>();
        if index % ROWS_PER_LOOK == 0 || unreserved > BYTES_PER_LOOK {
            unreserved = 0;
            room.make(database, &mut setter.batch)?;
        }
    }
    room.finish(database, &mut setter.batch, table.memory.held.bytes())?;
    setter.count_repeated(&table);
    drop(table);
    setter.report.odd_times = options.notation.odd_times.warning();
    setter.commit(commit)
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
    let values = values.iter().map(|(_, value)| Cow::Borrowed(value.as_bytes()));
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
    let found = sniff_type(read.iter().map(AsRef::as_ref));
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

    fn set_row<'v>(
        &mut self,
        id: &[u8],
        values: impl Iterator<Item = Cow<'v, [u8]>>,
        properties: &[SetColumn],
    ) -> Result<()> {
        let vertex = self.target.id(id)?;
        if !self.add_missing {
            self.target.expect_vertex(id).map_err(|error| {
                error.and(message!["; use ", Setting::AddMissing.to(true), " to add missing vertices"])
            })?;
        }
        for (SetColumn { property, notation }, value) in properties.iter().zip(values) {
            if value.is_empty() {
                self.batch.set_vertex(vertex, &property.name, None)?;
                self.report.unset += 1;
                continue;
            }
            let value = notation
                .read(&value, &property.logical)
                .map_err(|reason| not_written(property, &value, &reason))?;
            let value = convert_or_widen(property, InputValue::Text(&value))?;
            self.batch.set_vertex(vertex, &property.name, Some(value))?;
            self.report.set += 1;
        }
        self.report.vertices += 1;
        Ok(())
    }

    /// Counts the rows whose vertex an earlier row names.
    fn count_repeated(&mut self, table: &HeadedTable) {
        // All were taken, so they are ids: `1` and `1.0` are one.
        let texts: Vec<Cow<'_, [u8]>> = table.rows().map(|row| row[0].text(&table.content)).collect();
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
/// Bytes that are read, or counted, at a time.
const TABLE_STEP_BYTES: u64 = 1 << 20;
/// Memory of a row beside its text, and of each of its fields: their places, in vectors that double as they
/// grow.
const ROW_BYTES: u64 = 3 * size_of::<u64>() as u64;
const FIELD_BYTES: u64 = 3 * size_of::<FieldPlace>() as u64;

/// A table with a header.
struct HeadedTable {
    header: Vec<String>,
    content: Vec<u8>,
    /// The fields of all rows, as many in each as the header has.
    fields: Vec<FieldPlace>,
    /// The line of each row.
    lines: Vec<u64>,
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
        let rows = (self.lines + 1) * ROW_BYTES + (self.ends + 1) * FIELD_BYTES;
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

impl HeadedTable {
    fn read(input: &Input, options: &ReadOptions, database: &Database) -> Result<Self> {
        let budget = database.budget();
        let mut memory = TableMemory::new(input, budget)?;
        let bytes = match read_bytes(input, &mut memory, budget)? {
            Ok(bytes) => bytes,
            Err(counts) => return Err(counts.refusal(memory, database)),
        };
        let content = match bytes.strip_prefix(b"\xef\xbb\xbf") {
            Some(content) => content.to_vec(),
            None => bytes,
        };
        check_encoding(&content).map_err(|reason| input_error(input, None, reason))?;
        let first = content.split(|&byte| byte == b'\n').next().unwrap_or_default();
        let delimiter = options.delimiter.unwrap_or_else(|| usual_delimiter(first));
        let mut rows = TextRows::new(&content, delimiter, options.quotes != Some(false));
        let told = |bad: BadRow| input_error(input, Some(bad.line), bad.reason.to_owned());
        let mut fields = Vec::new();
        rows.next_row(&mut fields).map_err(told)?;
        let name = |field: FieldPlace| String::from_utf8_lossy(&field.text(&content)).into_owned();
        let header: Vec<String> = fields.drain(..).map(name).collect();
        check_header(&header).map_err(|reason| input_error(input, Some(1), reason))?;
        let mut lines = Vec::new();
        while let Some(line) = rows.next_row(&mut fields).map_err(told)? {
            lines.push(line);
            let found = fields.len() - (lines.len() - 1) * header.len();
            if found != header.len() {
                let found = esker_graph::counted(found, "field", "fields");
                let reason = format!("the line has {found}, but the header has {}", header.len());
                return Err(input_error(input, Some(line), reason));
            }
            if memory.count(ROW_BYTES + FIELD_BYTES * found as u64, budget).is_err() {
                let mut counts = TableCounts::default();
                counts.add(&content);
                return Err(counts.refusal(memory, database));
            }
        }
        Ok(Self { header, content, fields, lines, memory })
    }

    /// The fields of each row.
    fn rows(&self) -> impl Iterator<Item = &[FieldPlace]> + Clone {
        self.fields.chunks_exact(self.header.len())
    }
}

/// Checks that a header names at least one property, and none twice.
fn check_header(header: &[String]) -> std::result::Result<(), Message> {
    if header.len() < 2 {
        return Err(message![
            "the header must have at least two columns, the id and one property; use ",
            Setting::Delimiter,
            " if the columns are separated by another character",
        ]);
    }
    let is_wrong = |&index: &usize| header[index].is_empty() || header[1..index].contains(&header[index]);
    match (1..header.len()).find(is_wrong) {
        None => Ok(()),
        Some(index) => {
            let name = &header[index];
            Err(format!("column {} of the header is {name:?}, which is empty or a duplicate", index + 1)
                .into())
        }
    }
}

/// The usual delimiter that occurs most often in the header.
fn usual_delimiter(header: &[u8]) -> u8 {
    let count = |delimiter: u8| header.iter().filter(|&&byte| byte == delimiter).count();
    *b",\t;|".iter().rev().max_by_key(|&&delimiter| count(delimiter)).unwrap_or(&b',')
}

fn input_error(input: &Input, line: Option<u64>, reason: impl Into<Message>) -> Error {
    Error::Input { path: input.path().to_path_buf(), line, text: String::new(), reason: reason.into() }
}

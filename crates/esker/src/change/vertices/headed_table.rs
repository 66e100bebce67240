//! Tables of vertices, read whole.

use crate::change::destination::Destination;
use std::io::Read;

use esker_graph::{Budget, Message, Reservation, Setting, Stop, message};
use esker_import::named_as_ids;
use esker_import::read::format::ReadOptions;
use esker_import::read::input::Input;
use esker_import::read::source::Rejected;
use esker_import::rows::{BadRow, FieldPlace, TextRows, check_encoding, check_name, odd_line_warning};
use esker_store::{CommitSizing, Error, Result};

/// Bytes that are read, or counted, at a time.
const TABLE_STEP_BYTES: u64 = 1 << 20;
/// Memory of a row beside its text, and of each of its fields: their places, in vectors that double as they
/// grow.
const ROW_BYTES: u64 = 3 * size_of::<u64>() as u64;
const FIELD_BYTES: u64 = 3 * size_of::<FieldPlace>() as u64;

/// A table with a header.
pub(super) struct HeadedTable {
    /// The name of the column of ids, then those of the properties.
    pub(super) header: Vec<String>,
    pub(super) content: Vec<u8>,
    /// The fields of all rows, as many in each and in the same order as the header has.
    fields: Vec<FieldPlace>,
    /// The line of each row.
    pub(super) lines: Vec<u64>,
    /// Lines that cannot be read as rows. Empty unless the options keep them.
    pub(super) rejected: Vec<Rejected>,
    /// The first line that is not UTF-8.
    pub(super) odd_line: Option<String>,
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
    fn refusal(self, memory: TableMemory, database: Destination<'_>) -> Error {
        let TableMemory { what, held, .. } = memory;
        drop(held);
        let rows = (self.lines + 1) * ROW_BYTES + (self.ends + 1) * FIELD_BYTES;
        let table_bytes = 2 * self.bytes.next_multiple_of(TABLE_STEP_BYTES) + rows + 2 * TABLE_STEP_BYTES;
        let mut sizing = CommitSizing::default();
        if let Destination::Own(database) = database {
            sizing.add_counted(database, self.ends + 1, self.bytes);
        }
        match database.refusal(sizing, 0) {
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
    /// Reads all of an input. Lines that are no rows are an error unless they are kept.
    pub(super) fn read(
        input: &Input,
        options: &ReadOptions,
        database: Destination<'_>,
        keeps_rejected: bool,
    ) -> Result<Self> {
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
        let (odd_line, content) = odd_line_warning(input.path().to_path_buf(), content);
        let first = content.split(|&byte| byte == b'\n').next().unwrap_or_default();
        let delimiter = options.delimiter.unwrap_or_else(|| usual_delimiter(first));
        let mut rows = TextRows::new(&content, delimiter, options.quotes != Some(false));
        let told = |bad: BadRow| input_error(input, Some(bad.line), bad.reason.to_owned());
        let mut fields = Vec::new();
        rows.next_row(&mut fields).map_err(told)?;
        let name = |field: FieldPlace| String::from_utf8_lossy(&field.text(&content)).into_owned();
        let mut header: Vec<String> = fields.drain(..).map(name).collect();
        let names = header.iter().find_map(|name| check_name(name).err());
        names.map_or(Ok(()), |reason| Err(input_error(input, Some(1), reason)))?;
        check_header(&header).map_err(|reason| input_error(input, Some(1), reason))?;
        let id = named_as_ids(&header).unwrap_or(0);
        header[..=id].rotate_right(1);
        let (mut lines, mut not_rows) = (Vec::new(), Vec::new());
        loop {
            let (line, reason) = match rows.next_row(&mut fields) {
                Ok(None) => break,
                Ok(Some(line)) => (line, wrong_length(fields.len() - lines.len() * header.len(), &header)),
                Err(bad) => (bad.line, Some(bad.reason.to_owned())),
            };
            let found = header.len();
            if let Some(reason) = reason {
                if !keeps_rejected {
                    return Err(input_error(input, Some(line), reason));
                }
                fields.truncate(lines.len() * header.len());
                memory.count(ROW_BYTES + rows.last_row().len() as u64, budget)?;
                not_rows.push(rejected(input, line, rows.last_row(), reason.into()));
                continue;
            }
            fields[lines.len() * header.len()..][..=id].rotate_right(1);
            lines.push(line);
            if memory.count(ROW_BYTES + FIELD_BYTES * found as u64, budget).is_err() {
                let mut counts = TableCounts::default();
                counts.add(&content);
                return Err(counts.refusal(memory, database));
            }
        }
        Ok(Self { header, content, fields, lines, rejected: not_rows, odd_line, memory })
    }

    /// The memory that it takes.
    pub(super) fn bytes(&self) -> u64 {
        self.memory.held.bytes()
    }

    /// The fields of a row.
    pub(super) fn row(&self, row: usize) -> &[FieldPlace] {
        &self.fields[row * self.header.len()..(row + 1) * self.header.len()]
    }

    /// The description of a row that is not taken.
    pub(super) fn rejected_row(&self, input: &Input, row: usize, reason: Message) -> Rejected {
        let fields = self.row(row);
        let place = |field: &&FieldPlace| field.raw(&self.content).as_ptr();
        let (Some(first), Some(last)) = (fields.iter().min_by_key(place), fields.iter().max_by_key(place))
        else {
            return rejected(input, self.lines[row], b"", reason);
        };
        // With the blanks around it.
        let row_text = first.through(*last, &self.content);
        let start = row_text.as_ptr().addr() - self.content.as_ptr().addr();
        let (before, rest) = self.content.split_at(start);
        let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
        let end = rest[row_text.len()..]
            .iter()
            .position(|&byte| byte == b'\n')
            .unwrap_or(rest.len() - row_text.len());
        let line = &self.content[start..before.len() + row_text.len() + end];
        rejected(input, self.lines[row], line.strip_suffix(b"\r").unwrap_or(line), reason)
    }

    /// The fields of each row.
    pub(super) fn rows(&self) -> impl Iterator<Item = &[FieldPlace]> + Clone {
        self.fields.chunks_exact(self.header.len())
    }
}

/// What is wrong with a row that has so many fields.
fn wrong_length(found: usize, header: &[String]) -> Option<String> {
    let fields = || esker_graph::counted(found, "field", "fields");
    (found != header.len()).then(|| format!("the line has {}, but the header has {}", fields(), header.len()))
}

/// A line that is not taken.
pub(super) fn rejected(input: &Input, line: u64, text: &[u8], reason: Message) -> Rejected {
    Rejected { path: input.path(), line, text: text.into(), reason, edges_before: 0 }
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

pub(super) fn input_error(input: &Input, line: Option<u64>, reason: impl Into<Message>) -> Error {
    Error::Input { path: input.path().to_path_buf(), line, text: String::new(), reason: reason.into() }
}

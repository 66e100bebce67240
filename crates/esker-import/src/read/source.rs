//! What every reader of an input format gives the import: blocks that are cut in order by one thread, and
//! parsed into batches by many.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::builder::BinaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, ArrayRef, BinaryArray, Float64Array, Int64Array, UInt64Array, make_array};
use arrow_buffer::NullBuffer;
use esker_format::value::decimal::{NotId, TEXT_BYTES_MAX, text_id};
use esker_format::{Error, PropertyType, Result, TableRecord};
use esker_graph::{Message, Stop, message};
use esker_layers::ids::ExternalId;

/// The integers of a column of ids; `None` if its ids are texts.
pub fn integer_ids(column: &ArrayRef) -> Option<&[u64]> {
    Some(column.as_primitive_opt::<UInt64Type>()?.values())
}

/// The id at `index` of a column of ids.
///
/// # Panics
/// If there is none, or the column holds no ids.
pub fn id_at(column: &ArrayRef, index: usize) -> ExternalId<'_> {
    match integer_ids(column) {
        Some(ids) => ExternalId::Int(ids[index]),
        None => ExternalId::Text(column.as_binary::<i32>().value(index)),
    }
}

/// The texts of a column of ids or values; `None` if it holds numbers.
pub fn texts(column: &ArrayRef) -> Option<impl Iterator<Item = &[u8]> + Clone> {
    let column = column.as_binary_opt::<i32>()?;
    let (bytes, ends) = (column.value_data(), column.value_offsets());
    Some(ends.windows(2).map(|ends| &bytes[ends[0] as usize..ends[1] as usize]))
}

/// The places of a column of texts where none is an id, and why.
pub fn bad_text_ids(texts: &BinaryArray) -> impl Iterator<Item = (usize, NotId)> {
    // One look at all bytes finds that nothing is wrong, as is usual.
    let ends = texts.value_offsets();
    let lengths = 1..=TEXT_BYTES_MAX as i32;
    let is_good = ends.windows(2).all(|ends| lengths.contains(&(ends[1] - ends[0])));
    let is_good = is_good && !texts.value_data().contains(&0);
    let places = if is_good { 0..0 } else { 0..texts.len() };
    places.filter_map(|place| text_id(texts.value(place)).err().map(|why| (place, why)))
}

/// A column without the values at some places, which ascend.
pub fn without(column: ArrayRef, missing: &[usize]) -> ArrayRef {
    if missing.is_empty() {
        return column;
    }
    let mut missing = missing.iter().peekable();
    let is_valid = (0..column.len()).map(|row| missing.next_if(|&&place| place == row).is_none());
    with_nulls(&column, Some(NullBuffer::from_iter(is_valid)))
}

/// A column with other nulls than it has. Where their number differs from its length, it stays as it is.
pub(crate) fn with_nulls(column: &ArrayRef, nulls: Option<NullBuffer>) -> ArrayRef {
    let changed = column.to_data().into_builder().nulls(nulls).build();
    changed.map_or_else(|_| Arc::clone(column), make_array)
}

/// A column of integer ids.
pub fn id_column(ids: Vec<u64>) -> ArrayRef {
    Arc::new(UInt64Array::from(ids))
}

/// A column of texts.
pub fn text_column<T: AsRef<[u8]>>(texts: impl IntoIterator<Item = T>) -> ArrayRef {
    // A builder, because the length need not be known.
    let mut column = BinaryBuilder::new();
    texts.into_iter().for_each(|text| column.append_value(text));
    Arc::new(column.finish())
}

/// A column of numbers that begins as integers and becomes floats at the first number that is none.
#[derive(Debug)]
pub enum Numbers {
    /// Integers only so far.
    Int(Vec<i64>),
    /// Some of them are no integers.
    Float(Vec<f64>),
    /// Integers of a property that is declared as `u64`.
    Unsigned(Vec<u64>),
}

impl Numbers {
    /// The column.
    pub fn finish(self) -> ArrayRef {
        match self {
            Self::Int(values) => Arc::new(Int64Array::from(values)),
            Self::Float(values) => Arc::new(Float64Array::from(values)),
            Self::Unsigned(values) => Arc::new(UInt64Array::from(values)),
        }
    }
}

/// How much is kept of the rows that are rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RejectedText {
    /// The beginnings of some, for messages.
    #[default]
    Excerpts,
    /// All rows of tables, and of other inputs the places that offend.
    Rows,
}

impl RejectedText {
    /// Rejected rows of one block that are described; of the others only the line is told, to bound memory.
    const DESCRIBED_MAX: usize = 256;

    /// Whether one more row of a block is described, of which so many were rejected before.
    pub(crate) fn describes(self, before: usize) -> bool {
        self == Self::Rows || before < Self::DESCRIBED_MAX
    }
}

/// Appends a field of a line of a CSV file, in quotes where it needs them.
pub(crate) fn push_field(out: &mut Vec<u8>, text: &[u8]) {
    let is_special = |byte: &u8| matches!(byte, b',' | b'"' | b'\n' | b'\r');
    if text.trim_ascii() == text && !text.is_empty() && !text.iter().any(is_special) {
        out.extend_from_slice(text);
        return;
    }
    out.push(b'"');
    for &byte in text {
        out.extend(std::iter::repeat_n(byte, if byte == b'"' { 2 } else { 1 }));
    }
    out.push(b'"');
}

/// The text of a row that could not be taken: its bytes as they came, which need not be UTF-8.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RowText(Vec<u8>);

impl RowText {
    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl From<&[u8]> for RowText {
    fn from(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }
}

impl From<Vec<u8>> for RowText {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl From<String> for RowText {
    fn from(text: String) -> Self {
        Self(text.into_bytes())
    }
}

impl std::fmt::Display for RowText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.0))
    }
}

/// A line (or row) that could not be understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    /// The input file; `-` is standard input.
    pub path: Arc<PathBuf>,
    /// Line number from 1, or row number from 1 where the format has no lines.
    pub line: u64,
    /// The offending text, as [`RejectedText`] says. It and the reason may be empty behind the first 256 of a
    /// block unless rows are kept.
    pub text: RowText,
    /// What is wrong with it and what to do.
    pub reason: Message,
    /// How many edges of its batch come before it in the input.
    pub edges_before: usize,
}

impl Rejected {
    /// The error that of `count` rows, of which this is the first, none could be taken.
    pub fn of_all(&self, count: u64) -> Error {
        Error::Input {
            path: self.path.to_path_buf(),
            line: Some(self.line),
            text: self.text.to_string(),
            reason: message![format!("no row could be taken, of {count}; here, "), &self.reason],
        }
    }
}

/// An integer that no float equals, and its place in the input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WideInteger {
    /// The index of its property.
    pub property: usize,
    /// The index of its edge in the batch.
    pub row: usize,
    /// The integer.
    pub value: i64,
    /// The input file; `-` is standard input.
    pub path: Arc<PathBuf>,
    /// Line number from 1.
    pub line: u64,
}

/// The most properties that vertices may have.
pub(crate) const VERTEX_PROPERTIES_MAX: usize = 4096;

/// Values of a property of the vertices that a batch names.
#[derive(Debug, Clone)]
pub struct VertexColumn {
    /// The name of the property.
    pub name: Arc<str>,
    /// Its type, if the input says it and all values here are of it.
    pub property_type: Option<PropertyType>,
    /// The places in [`EdgeBatch::vertices`] of the vertices that have a value, ascending.
    pub rows: Vec<u32>,
    /// The value of each of them: `Int64`, `UInt64`, `Float64` (never NaN), `Boolean` or `Binary` (texts),
    /// without nulls. A property exists also if no vertex has a value.
    pub values: ArrayRef,
}

impl VertexColumn {
    /// Whether no vertex has a value.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

/// Where the vertices of a batch stand.
#[derive(Debug, Clone)]
pub struct VertexPlaces {
    /// The input file; `-` is standard input.
    pub path: Arc<PathBuf>,
    /// The line of each from 1, or its row where the format has no lines.
    pub lines: Vec<u64>,
}

/// Edges in the order of the input: Arrow arrays of equal length. Only values may be null: missing.
///
/// Ids are `UInt64` or `Binary` (texts, UTF-8 is not required), and all batches of one import are of one
/// kind. Values are `Int64`, `Float64` (never NaN), `UInt64` (of a property that is declared so) or `Binary`
/// (texts, few of them distinct: stored as codes with a dictionary). Batches may differ in the type of a
/// numeric property: the import unites them and stores the narrowest of i32 and i64, or of f32 and f64 if any
/// batch has floats, that holds every value exactly.
#[derive(Debug, Clone)]
pub struct EdgeBatch {
    /// Where each edge leaves.
    pub source: ArrayRef,
    /// Where it arrives.
    pub target: ArrayRef,
    /// Property values, one column for each property of the [`Schema`].
    pub properties: Vec<ArrayRef>,
    /// Vertices named without an edge (vertex files, isolated vertices of adjacency formats that have sparse
    /// ids).
    pub vertices: Option<ArrayRef>,
    /// Properties of `vertices`, each name once. Batches may differ in the names, and in the types of a
    /// property: the import unites them.
    pub vertex_values: Vec<VertexColumn>,
    /// Where each of `vertices` stands, if they have properties: for messages.
    pub vertex_places: Option<VertexPlaces>,
    /// What was left out.
    pub rejected: Vec<Rejected>,
    /// For each property that has integers that no float equals, the first: for messages. Formats without
    /// lines give none.
    pub wide: Vec<WideInteger>,
    /// Bytes of input, as stored on disk (compressed), that this batch came from: for progress.
    pub input_bytes: u64,
}

impl EdgeBatch {
    /// Edges between integer ids.
    pub fn of_integers(source: Vec<u64>, target: Vec<u64>, input_bytes: u64) -> Self {
        Self {
            source: id_column(source),
            target: id_column(target),
            properties: Vec::new(),
            vertices: None,
            vertex_values: Vec::new(),
            vertex_places: None,
            rejected: Vec::new(),
            wide: Vec::new(),
            input_bytes,
        }
    }

    /// Number of edges.
    pub fn len(&self) -> usize {
        self.source.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.source.is_empty()
    }
}

/// What the ids of an input are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdKind {
    /// Integers. Those that occur are vertices; there may be gaps between them.
    Int,
    /// The format numbers its `num_vertices` vertices `first..first + num_vertices`; others are errors of the
    /// reader.
    Numbered {
        /// The first id: 0 or 1.
        first: u64,
        /// How many vertices there are.
        num_vertices: u64,
    },
    /// Texts.
    Text,
}

/// What is known of an input before it is read.
#[derive(Debug, Clone, PartialEq)]
pub struct Schema {
    /// Name of the format, as in `--format`.
    pub format: &'static str,
    /// What the ids are.
    pub ids: IdKind,
    /// Names of the edge properties, in the order of [`EdgeBatch::properties`].
    pub properties: Vec<String>,
    /// For each property, its type if it is declared or the input says it; `None` (or nothing) if its values
    /// decide.
    pub types: Vec<Option<PropertyType>>,
    /// Index in `properties` of the weight, if there is one.
    pub weight: Option<usize>,
    /// Index in `properties` of the time, if the user named it: the database remembers it.
    pub time: Option<usize>,
    /// Index in `properties` of the kinds of edges, if the input itself says that it holds them.
    pub kind: Option<usize>,
    /// Index in `properties` of the column that says what happens to each edge, if one was asked for: it is
    /// no property.
    pub operation: Option<usize>,
    /// Whether the format itself says that edges are directed (`Some(true)`), or undirected with each edge
    /// given once or at both ends (`Some(false)`). `None`: it does not say.
    pub directed: Option<bool>,
    /// The format lists each undirected edge at both of its ends already, so the import need not reverse any.
    pub both_ends: bool,
    /// Total bytes of the input as stored, if known: for progress.
    pub input_bytes: Option<u64>,
}

impl Schema {
    /// Whether each edge of the input stands for the edge back too: the input is undirected and gives each
    /// edge once, but the graph is directed.
    pub fn stands_for_both(&self, graph_is_directed: bool) -> bool {
        graph_is_directed && self.directed == Some(false) && !self.both_ends
    }

    /// The type of a property, if it is declared or the input says it.
    pub(crate) fn declared(&self, property: usize) -> Option<&PropertyType> {
        self.types.get(property)?.as_ref()
    }
}

/// A stretch of input that a worker can parse without its neighbours.
#[derive(Debug)]
pub struct InputBlock {
    /// The bytes; what they mean is the reader's business.
    pub bytes: Vec<u8>,
    /// Number of the first line (from 1), row or edge.
    pub first_line: u64,
    /// Which of several input files it is from, an index into the reader's own list.
    pub file: usize,
    /// Bytes of input, as stored on disk, that it took.
    pub input_bytes: u64,
}

/// Calls `read`; its panic becomes an error. For threads that hand on what they read: one that ends because
/// of a panic would look as if the input had ended.
///
/// # Errors
/// What `read` returns, or that it panicked.
pub fn told_of_panics<T>(read: impl FnOnce() -> Result<T>) -> Result<T> {
    // What `read` leaves half-done is not read any more.
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(read));
    done.unwrap_or_else(|_| Err(Error::invalid("the thread that reads the input panicked".to_owned())))
}

/// An input in some format. One thread calls [`Reader::next_block`]; any number call [`BlockParser::parse`]
/// on the blocks at the same time; batches are used in the order of their blocks.
pub trait Reader: Send {
    /// What is known before reading.
    fn schema(&self) -> &Schema;

    /// Divides memory among the threads that parse: at most `bytes` beside a few mebibytes for each.
    /// Returns what parsing will take. Called before the first block, if at all.
    ///
    /// # Errors
    /// If that is too little for what the input says of itself; the error's `needed_bytes` would do.
    fn limit_memory(&mut self, _bytes: u64, _threads: usize) -> Result<u64> {
        Ok(0)
    }

    /// The parser of this reader's blocks.
    fn parser(&self) -> Arc<dyn BlockParser>;

    /// Whether the values of edges that come twice are parts of one: the input is a matrix with values.
    ///
    /// # Errors
    /// Of some of its inputs they are, of others not.
    fn entries_add_up(&self) -> Result<bool> {
        Ok(false)
    }

    /// Which columns are read, if the input is a table: by this a later one is read the same way.
    fn table(&self) -> Option<TableRecord> {
        None
    }

    /// What a person should know of how the input is read.
    fn notes(&self) -> Vec<Message> {
        Vec::new()
    }

    /// What a person should be warned of before the input is read, such as columns that are not read.
    fn warnings(&self) -> Vec<Message> {
        Vec::new()
    }

    /// The next block, of about a mebibyte, or `None` at the end.
    ///
    /// # Errors
    /// If the input cannot be read, or ends too early.
    fn next_block(&mut self) -> Result<Option<InputBlock>>;
}

/// Turns blocks into batches.
pub trait BlockParser: Send + Sync {
    /// Parses a block. Bad lines become [`EdgeBatch::rejected`]; the import decides whether they stop it.
    ///
    /// # Errors
    /// Damage that is not confined to one line.
    fn parse(&self, block: InputBlock) -> Result<EdgeBatch>;

    /// What a person should know of the blocks that were parsed, although all of their edges were taken.
    fn warnings(&self) -> Vec<Message> {
        Vec::new()
    }
}

/// The share of a memory limit that decoding an input may take.
pub(crate) const DECODING_SHARE: u64 = 4;

/// Gives the decoding of an input on these threads its share of a memory limit; returns the memory that it
/// takes.
///
/// # Errors
/// [`Stop::OverBudget`], in terms of the whole limit, if the share is too little.
pub fn limit_decoding(reader: &mut dyn Reader, limit_bytes: u64, threads: usize) -> Result<u64> {
    reader.limit_memory(limit_bytes / DECODING_SHARE, threads).map_err(|error| match error {
        Error::Stop(Stop::OverBudget { what, needed_bytes, budget_bytes }) => {
            let [needed_bytes, budget_bytes] =
                [needed_bytes, budget_bytes].map(|bytes| bytes.saturating_mul(DECODING_SHARE));
            Error::Stop(Stop::OverBudget { what, needed_bytes, budget_bytes })
        }
        other => other,
    })
}

//! What every reader of an input format gives the import: blocks that are cut in order by one thread, and parsed
//! into batches by many.

use std::path::PathBuf;
use std::sync::Arc;

use esker_format::Result;

/// Texts of varying length, one after another.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextColumn {
    /// All texts, concatenated.
    pub bytes: Vec<u8>,
    /// Where each text ends in `bytes`.
    pub ends: Vec<usize>,
}

impl TextColumn {
    /// Appends a text.
    pub fn push(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len());
    }

    /// Number of texts.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The text at `index`.
    pub fn get(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.bytes[start..self.ends[index]]
    }

    /// All texts in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> + '_ {
        (0..self.len()).map(|i| self.get(i))
    }
}

/// The ids at one end of a batch of edges. All batches of one import are of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdColumn {
    /// Integers.
    Int(Vec<u64>),
    /// Texts (UTF-8 is not required).
    Text(TextColumn),
}

/// The values of one property over a batch. Batches may differ in the type of a numeric property: the import
/// unites `Int` and `Float` and stores the narrowest of i32, i64, f32, f64 that holds every value exactly.
#[derive(Debug, Clone, PartialEq)]
pub enum ValueColumn {
    /// Integers.
    Int(Vec<i64>),
    /// Numbers, some of them perhaps not integral. Never NaN.
    Float(Vec<f64>),
    /// Texts, few of them distinct: stored as codes with a dictionary.
    Text(TextColumn),
}

/// A line (or row) that could not be understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    /// The input file; `-` is standard input.
    pub path: Arc<PathBuf>,
    /// Line number from 1, or row number from 1 where the format has no lines.
    pub line: u64,
    /// The offending text, at most some 80 bytes of it. It and the reason may be empty behind the first 256 of a block.
    pub text: String,
    /// What is wrong with it and what to do.
    pub reason: String,
}

/// Edges in the order of the input: columns of equal length.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    /// Where each edge leaves.
    pub source: IdColumn,
    /// Where it arrives.
    pub target: IdColumn,
    /// Property values, one column for each property of the [`Schema`].
    pub properties: Vec<ValueColumn>,
    /// Vertices named without an edge (vertex files, isolated vertices of adjacency formats that have sparse ids).
    pub vertices: Option<IdColumn>,
    /// What was left out.
    pub rejected: Vec<Rejected>,
    /// Bytes of input, as stored on disk (compressed), that this batch came from: for progress.
    pub input_bytes: u64,
}

impl Batch {
    /// Number of edges.
    pub fn len(&self) -> usize {
        match &self.source {
            IdColumn::Int(ids) => ids.len(),
            IdColumn::Text(ids) => ids.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What the ids of an input are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdKind {
    /// Integers that may be sparse: the import measures how dense they are.
    Int,
    /// The format numbers its `num_vertices` vertices `first..first + num_vertices`; others are errors of the reader.
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
    /// Names of the edge properties, in the order of [`Batch::properties`].
    pub properties: Vec<String>,
    /// Index in `properties` of the weight, if there is one.
    pub weight: Option<usize>,
    /// Whether the format itself says that edges are directed (`Some(true)`), or undirected with each edge given once
    /// or at both ends (`Some(false)`). `None`: it does not say.
    pub directed: Option<bool>,
    /// The format lists each undirected edge at both of its ends already, so the import need not reverse any.
    pub both_ends: bool,
    /// Total bytes of the input as stored, if known: for progress.
    pub input_bytes: Option<u64>,
}

/// A stretch of input that a worker can parse without its neighbours.
#[derive(Debug)]
pub struct Block {
    /// The bytes; what they mean is the reader's business.
    pub bytes: Vec<u8>,
    /// Number of the first line (from 1), row or edge.
    pub first_line: u64,
    /// Which of several input files it is from, an index into the reader's own list.
    pub file: usize,
    /// Bytes of input, as stored on disk, that it took.
    pub input_bytes: u64,
}

/// An input in some format. One thread calls [`Reader::next_block`]; any number call [`BlockParser::parse`] on the
/// blocks at the same time; batches are used in the order of their blocks.
pub trait Reader: Send {
    /// What is known before reading.
    fn schema(&self) -> &Schema;

    /// The parser of this reader's blocks.
    fn parser(&self) -> Arc<dyn BlockParser>;

    /// The next block, of about a mebibyte, or `None` at the end.
    ///
    /// # Errors
    /// If the input cannot be read, or ends too early.
    fn next_block(&mut self) -> Result<Option<Block>>;
}

/// Turns blocks into batches.
pub trait BlockParser: Send + Sync {
    /// Parses a block. Bad lines become [`Batch::rejected`]; the import decides whether they stop it.
    ///
    /// # Errors
    /// Damage that is not confined to one line.
    fn parse(&self, block: Block) -> Result<Batch>;
}

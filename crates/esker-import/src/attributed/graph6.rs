//! graph6, sparse6 and digraph6: a graph a line, six bits a character. The first character tells which.
//!
//! B. McKay, "Description of graph6, sparse6 and digraph6 encodings",
//! <https://users.cecs.anu.edu.au/~bdm/data/formats.txt>.

use esker_format::Result;

use super::document::{self, DocumentFormat, Edge, NamedValues, Numbering, Sink, Syntax};
use super::value::Attribute;
use crate::read::format::ReadOptions;
use crate::read::head::InputHead;
use crate::read::input::Input;
use crate::read::input_format::{Choices, InputFormat, OpenedInput};

/// Undirected graphs, a bit for each pair of vertices.
pub(crate) static GRAPH6: InputFormat = InputFormat {
    aliases: &["g6"],
    endings: &["g6"],
    begins: |head| head.starts_with(b">>graph6<<"),
    ..InputFormat::new("graph6", "graph6 line", Choices::Nothing, |inputs, head, options| {
        open(inputs, head, options, &GRAPH6_DOCUMENT)
    })
};

/// Undirected graphs, some bits for each edge.
pub(crate) static SPARSE6: InputFormat = InputFormat {
    aliases: &["s6"],
    endings: &["s6"],
    begins: |head| head.starts_with(b">>sparse6<<:"),
    ..InputFormat::new("sparse6", "sparse6 line", Choices::Nothing, |inputs, head, options| {
        open(inputs, head, options, &SPARSE6_DOCUMENT)
    })
};

/// Directed graphs, a bit for each pair of vertices.
pub(crate) static DIGRAPH6: InputFormat = InputFormat {
    aliases: &["d6"],
    endings: &["d6"],
    begins: |head| head.starts_with(b">>digraph6<<&"),
    ..InputFormat::new("digraph6", "digraph6 line", Choices::Nothing, |inputs, head, options| {
        open(inputs, head, options, &DIGRAPH6_DOCUMENT)
    })
};

static GRAPH6_DOCUMENT: DocumentFormat = document(&GRAPH6);
static SPARSE6_DOCUMENT: DocumentFormat = document(&SPARSE6);
static DIGRAPH6_DOCUMENT: DocumentFormat = document(&DIGRAPH6);

const fn document(input: &'static InputFormat) -> DocumentFormat {
    DocumentFormat {
        input,
        syntax: || Box::new(BitsSyntax::default()),
        names: &[],
        are_values_untyped: false,
        directed: None,
        default_weight: false,
    }
}

fn open(
    inputs: &[Input],
    head: InputHead,
    options: &ReadOptions,
    format: &DocumentFormat,
) -> Result<OpenedInput> {
    document::open(inputs, head, options, format)
}

/// The headers that may stand before a graph.
const HEADERS: [&str; 3] = [">>graph6<<", ">>sparse6<<", ">>digraph6<<"];
/// The most characters of a header, a kind and a number of vertices.
const BEGINNING: usize = 12 + 1 + 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coding {
    /// The upper triangle, column by column.
    Triangle,
    /// The matrix, row by row.
    Matrix,
    /// Edges one after another.
    Sparse,
}

/// A line that has begun.
struct BitGraph {
    coding: Coding,
    vertices: u64,
    /// The row and the column of the next bit, or the current vertex of edges.
    row: u64,
    column: u64,
    /// Bits of an edge, and those of them that were not used.
    width: u32,
    bits: u64,
    num_bits: u32,
    /// Whether the rest is padding.
    is_padding: bool,
}

#[derive(Default)]
struct BitsSyntax {
    graph: Option<BitGraph>,
    is_done: bool,
}

impl Syntax for BitsSyntax {
    fn take(&mut self, text: &str, is_last: bool, sink: &mut dyn Sink) -> Result<usize> {
        let mut used = 0;
        if self.graph.is_none() && !self.is_done {
            let blank = text.len() - text.trim_ascii_start().len();
            let rest = &text[blank..];
            if rest.len() < BEGINNING && !rest.contains('\n') && !is_last {
                return Ok(0);
            }
            match begin(rest.as_bytes()) {
                Ok((graph, length)) => {
                    let told = sink.told();
                    told.directed = Some(graph.coding == Coding::Matrix);
                    told.numbering = Some(Numbering { first: 0, count: graph.vertices });
                    self.graph = Some(graph);
                    used = blank + length;
                }
                Err(reason) => return Err(sink.broken(blank, reason.into())),
            }
        }
        for (at, byte) in text.bytes().enumerate().skip(used) {
            match (&mut self.graph, byte) {
                (Some(graph), b'\n' | b'\r') => {
                    if !graph.is_whole() {
                        let reason = "the line is cut short: the bits of some pairs of vertices are missing";
                        return Err(sink.broken(at, reason.into()));
                    }
                    (self.graph, self.is_done) = (None, true);
                }
                (Some(graph), 63..=126) => graph.take(byte - 63, at, sink)?,
                (Some(_), _) => {
                    return Err(sink.broken(at, "a character that this format does not have".into()));
                }
                (None, byte) if byte.is_ascii_whitespace() => {}
                (None, _) => {
                    let reason = "the file has another graph; import one line at a time";
                    return Err(sink.broken(at, reason.into()));
                }
            }
        }
        if is_last && self.graph.as_ref().is_some_and(|graph| !graph.is_whole()) {
            let reason = "the line is cut short: the bits of some pairs of vertices are missing";
            return Err(sink.broken(text.len(), reason.into()));
        }
        Ok(text.len())
    }
}

/// A graph whose line begins so, and how many bytes its beginning has.
fn begin(line: &[u8]) -> std::result::Result<(BitGraph, usize), &'static str> {
    let header = HEADERS.iter().find(|header| line.starts_with(header.as_bytes()));
    let mut at = header.map_or(0, |header| header.len());
    let coding = match line.get(at) {
        Some(b':') => Coding::Sparse,
        Some(b'&') => Coding::Matrix,
        Some(b';') => return Err("a line of incremental sparse6 needs the one before; write sparse6"),
        Some(_) => Coding::Triangle,
        None => return Err("the file is empty"),
    };
    at += usize::from(coding != Coding::Triangle);
    let six = |at: usize| match line.get(at) {
        Some(byte @ 63..=126) => Ok(u64::from(byte - 63)),
        _ => Err("the number of vertices belongs here"),
    };
    let (skip, digits) = match (six(at)?, line.get(at + 1)) {
        (63, Some(126)) => (2, 6),
        (63, _) => (1, 3),
        _ => (0, 1),
    };
    let mut vertices = 0;
    for place in at + skip..at + skip + digits {
        vertices = vertices << 6 | six(place)?;
    }
    let width = u64::BITS - vertices.saturating_sub(1).leading_zeros();
    let column = u64::from(coding == Coding::Triangle);
    let graph = BitGraph { coding, vertices, row: 0, column, width, bits: 0, num_bits: 0, is_padding: false };
    Ok((graph, at + skip + digits))
}

impl BitGraph {
    /// Whether no bit is missing.
    fn is_whole(&self) -> bool {
        match self.coding {
            Coding::Triangle => self.column >= self.vertices,
            Coding::Matrix => self.row >= self.vertices,
            Coding::Sparse => true,
        }
    }

    fn take(&mut self, six: u8, at: usize, sink: &mut dyn Sink) -> Result<()> {
        if self.coding == Coding::Sparse {
            return self.take_sparse(six, at, sink);
        }
        if self.is_whole() {
            return Err(sink.broken(at, "the line has more bits than pairs of vertices".into()));
        }
        for bit in (0..6).rev() {
            if self.is_whole() {
                break;
            }
            if six >> bit & 1 == 1 {
                edge(self.row, self.column, at, sink)?;
            }
            match self.coding {
                Coding::Matrix => {
                    self.column += 1;
                    if self.column == self.vertices {
                        (self.row, self.column) = (self.row + 1, 0);
                    }
                }
                Coding::Triangle | Coding::Sparse => {
                    self.row += 1;
                    if self.row == self.column {
                        (self.row, self.column) = (0, self.column + 1);
                    }
                }
            }
        }
        Ok(())
    }

    /// A bit and a number: the bit says that the current vertex is the next, a number above it that it is
    /// that, another that there is an edge.
    fn take_sparse(&mut self, six: u8, at: usize, sink: &mut dyn Sink) -> Result<()> {
        self.bits = self.bits << 6 | u64::from(six);
        self.num_bits += 6;
        while self.num_bits > self.width {
            let pair = self.bits >> (self.num_bits - self.width - 1);
            self.num_bits -= self.width + 1;
            self.bits &= (1 << self.num_bits) - 1;
            let number = pair & ((1 << self.width) - 1);
            self.row += pair >> self.width & 1;
            self.is_padding |= number >= self.vertices || self.row >= self.vertices;
            if self.is_padding {
                continue;
            }
            if number > self.row {
                self.row = number;
            } else {
                edge(number, self.row, at, sink)?;
            }
        }
        Ok(())
    }
}

fn edge(source: u64, target: u64, at: usize, sink: &mut dyn Sink) -> Result<()> {
    let [source, target] = [source, target].map(|id| Attribute::Int(id.cast_signed()));
    sink.edge(at, &Edge { source, target, directed: None, fields: NamedValues::new() })
}

//! Reads METIS graphs, as DIMACS-10 uses them: `n m [fmt [ncon]]`, then a line for each vertex with its
//! neighbours, 1-based, every edge at both of its ends.
//!
//! G. Karypis, "METIS: A Software Package for Partitioning Unstructured Graphs", manual 5.1, section 4.1.1.
//! `fmt` has three digits: vertex sizes, vertex weights (`ncon` of them), edge weights. Sizes and weights of
//! vertices are skipped. A line may be of any length: blocks are cut at blanks where it does not fit, and say
//! what came before.

use std::path::PathBuf;
use std::sync::Arc;

use esker_format::{Error, Result, value::decimal};
use esker_graph::Message;

use super::blocks::{count_lines, excerpt, input_error};
use super::column::NumberColumn;
use super::digits::uint_at;
use super::headed::{content_line, count};
use super::reasons::{not_id, not_in_range};
use super::tally::BlockTally;
use crate::read::format::{Pick, ReadOptions};
use crate::read::head::InputHead;
use crate::read::input::{Input, InputStream};
use crate::read::input_format::{Choices, InputFormat, OpenedInput, one};
use crate::read::source::{
    BlockParser, EdgeBatch, IdKind, InputBlock, Reader, Rejected, Schema, WideInteger,
};

/// Bytes before the text of a block: the vertex of its first line, and how many words of that line came
/// before.
const PREFIX_BYTES: usize = 16;

/// METIS and DIMACS-10: `n m [fmt [ncon]]`, then the 1-based neighbours of each vertex on its line.
pub(crate) static METIS: InputFormat = InputFormat {
    aliases: &["graph", "dimacs10", "dimacs-10"],
    endings: &["graph", "metis"],
    mistaken: |head| {
        let is_binary = memchr::memchr(0, head).is_some();
        is_binary.then_some("a binary .graph, perhaps WebGraph's, is not read; export it as an edge list")
    },
    ..InputFormat::new("metis", "METIS graph", Choices::Nothing, open)
};

fn open(inputs: &[Input], head: InputHead, options: &ReadOptions) -> Result<OpenedInput> {
    let reader = MetisReader::open(one(inputs, METIS.title)?, head, options)?;
    Ok(OpenedInput::titled(Box::new(reader), inputs, &METIS))
}

/// The header of a METIS graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct MetisHeader {
    num_vertices: u64,
    num_edges: u64,
    /// Words before the first neighbour of each line.
    skip: u64,
    weighted: bool,
    end: usize,
}

/// The reader.
struct MetisReader {
    schema: Schema,
    stream: InputStream,
    /// Bytes that were read and not handed out.
    rest: Vec<u8>,
    /// Line of the file, vertex, and words of its line that came before, where `rest` begins.
    place: Position,
    at_end: bool,
    handed_out: u64,
    block_bytes: usize,
    line_bytes_max: usize,
    parser: Arc<MetisParser>,
}

#[derive(Debug, Clone, Copy)]
struct Position {
    line: u64,
    vertex: u64,
    words: u64,
}

struct MetisParser {
    path: Arc<PathBuf>,
    header: MetisHeader,
    keep_weights: bool,
    tally: Arc<BlockTally>,
}

impl MetisReader {
    /// Opens one file that begins with `head`.
    ///
    /// # Errors
    /// If the header is missing or wrong.
    fn open(input: &Input, mut head: InputHead, options: &ReadOptions) -> Result<Self> {
        let path = input.path();
        if !head.whole {
            head.extend(1 << 20)?;
        }
        let header =
            parse_header(&head.bytes, head.whole).map_err(|reason| input_error(&path, None, b"", reason))?;
        let keep_weights = header.weighted && options.weight != Pick::Skip;
        let schema = Schema {
            operation: None,
            kind: None,
            format: METIS.name,
            ids: IdKind::Numbered { first: 1, num_vertices: header.num_vertices },
            properties: if keep_weights { vec!["weight".into()] } else { Vec::new() },
            weight: keep_weights.then_some(0),
            types: Vec::new(),
            directed: Some(false),
            time: None,
            both_ends: true,
            input_bytes: input.stored_bytes(),
        };
        let tally = BlockTally::new(
            Arc::clone(&path),
            "neighbours, two for each edge",
            header.num_edges.saturating_mul(2),
        );
        let parser = Arc::new(MetisParser { path, header, keep_weights, tally });
        let place = Position { line: count_lines(&head.bytes[..header.end]) + 1, vertex: 1, words: 0 };
        let mut rest = head.bytes;
        rest.drain(..header.end);
        Ok(Self {
            schema,
            stream: head.stream,
            rest,
            place,
            at_end: false,
            handed_out: 0,
            block_bytes: options.block_bytes.max(1),
            line_bytes_max: options.line_bytes_max.max(1),
            parser,
        })
    }

    /// Text up to a line end, or to a blank if the line is longer than it may be.
    fn cut(&mut self) -> Result<Vec<u8>> {
        let mut bytes = std::mem::take(&mut self.rest);
        let mut size = self.block_bytes;
        loop {
            let filled = bytes.len();
            bytes.resize(size.max(filled), 0);
            let filled = self.stream.fill(&mut bytes, filled)?;
            self.at_end = filled < bytes.len();
            bytes.truncate(filled);
            if self.at_end {
                return Ok(bytes);
            }
            let mut end = memchr::memrchr(b'\n', &bytes).map(|end| end + 1);
            if end.is_none() && filled > self.line_bytes_max {
                end = self.cut_line(&bytes)?;
            }
            if let Some(end) = end {
                self.rest = bytes.split_off(end);
                return Ok(bytes);
            }
            size = filled * 2;
        }
    }

    /// Where to cut within a line: behind a blank, and not between a neighbour and its weight.
    fn cut_line(&self, bytes: &[u8]) -> Result<Option<usize>> {
        let is_comment = self.place.words == 0 && bytes[0] == b'%';
        let blanks = memchr::memrchr2_iter(b' ', b'\t', bytes).map(|blank| blank + 1).take(2);
        let mut ends = blanks.filter(|_| !is_comment).peekable();
        if ends.peek().is_none() {
            let reason = format!(
                "a word or comment is longer than {} bytes: this is no METIS graph",
                self.line_bytes_max
            );
            return Err(input_error(&self.parser.path, Some(self.place.line), bytes, reason));
        }
        let MetisHeader { skip, weighted, .. } = self.parser.header;
        let keeps_pairs = |end: &usize| {
            let words = self.advance(&bytes[..*end]).words;
            !weighted || words <= skip || (words - skip).is_multiple_of(2)
        };
        Ok(ends.find(keeps_pairs))
    }

    /// Where the text behind `bytes` begins.
    fn advance(&self, bytes: &[u8]) -> Position {
        let Position { line, vertex, words } = self.place;
        let lines = count_lines(bytes);
        let last = memchr::memrchr(b'\n', bytes).map_or(0, |end| end + 1);
        let tail = &bytes[last..];
        let before = if lines == 0 { words } else { 0 };
        let words =
            before + tail.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count() as u64;
        let before_it =
            |at: usize| bytes[..at].iter().rfind(|byte| **byte == b'\n' || !byte.is_ascii_whitespace());
        let is_start = |at: usize| before_it(at).map_or(self.place.words == 0, |byte| *byte == b'\n');
        let comments =
            memchr::memchr_iter(b'%', bytes).filter(|&at| at < last && is_start(at)).count() as u64;
        Position { line: line + lines, vertex: vertex + lines - comments, words }
    }
}

impl Reader for MetisReader {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn notes(&self) -> Vec<Message> {
        let skipped = "The sizes and weights of the vertices are not read";
        if self.parser.header.skip > 0 { vec![skipped.into()] } else { Vec::new() }
    }

    fn parser(&self) -> Arc<dyn BlockParser> {
        Arc::clone(&self.parser) as _
    }

    fn next_block(&mut self) -> Result<Option<InputBlock>> {
        if self.at_end {
            self.parser.tally.finish(self.handed_out)?;
            return Ok(None);
        }
        let text = self.cut()?;
        let next = self.advance(&text);
        let mut bytes = Vec::with_capacity(PREFIX_BYTES + text.len());
        bytes.extend_from_slice(&self.place.vertex.to_le_bytes());
        bytes.extend_from_slice(&self.place.words.to_le_bytes());
        bytes.extend_from_slice(&text);
        let block = InputBlock {
            bytes,
            first_line: self.place.line,
            file: 0,
            input_bytes: self.stream.take_stored_bytes(),
        };
        self.place = next;
        self.handed_out += 1;
        Ok(Some(block))
    }
}

fn parse_header(head: &[u8], whole: bool) -> std::result::Result<MetisHeader, String> {
    let Some((words, end)) = content_line(head, whole, 0, b'%') else {
        return Err("the header is missing: the file is empty or cut short".into());
    };
    if !(2..=4).contains(&words.len()) {
        return Err(format!(
            "the first line is {:?}, but a METIS graph begins with: vertices edges [fmt [ncon]]",
            words.join(" ")
        ));
    }
    let format = words.get(2).map_or("0", String::as_str);
    if format.len() > 3 || !format.bytes().all(|byte| byte == b'0' || byte == b'1') {
        return Err(format!("the header has {format:?} where the format belongs: three digits, each 0 or 1"));
    }
    let digit = |place: usize| format.bytes().rev().nth(place) == Some(b'1');
    let constraints = if words.len() == 4 { count(&words, 3, "vertex weights")? } else { 1 };
    let weights = if digit(1) { constraints } else { 0 };
    Ok(MetisHeader {
        num_vertices: count(&words, 0, "vertices")?,
        num_edges: count(&words, 1, "edges")?,
        skip: weights.saturating_add(u64::from(digit(2))),
        weighted: digit(0),
        end,
    })
}

/// A block on its way to a batch.
struct ListBlock<'a> {
    parser: &'a MetisParser,
    text: &'a [u8],
    place: Position,
    sources: Vec<u64>,
    targets: Vec<u64>,
    weights: NumberColumn,
    /// The neighbour whose weight comes next.
    pending: Option<u64>,
    /// A weight that has no type beside those before it.
    mixed: Option<Error>,
    /// The first weight that no float equals.
    wide: Option<WideInteger>,
    rejected: Vec<Rejected>,
}

impl BlockParser for MetisParser {
    fn parse(&self, block: InputBlock) -> Result<EdgeBatch> {
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| block.bytes[at + i]));
        let place = Position { line: block.first_line, vertex: word(0), words: word(8) };
        let text = &block.bytes[PREFIX_BYTES..];
        let mut sink = ListBlock {
            parser: self,
            text,
            place,
            sources: Vec::with_capacity(text.len() / 6),
            targets: Vec::with_capacity(text.len() / 6),
            weights: NumberColumn::with_capacity(0),
            mixed: None,
            wide: None,
            pending: None,
            rejected: Vec::new(),
        };
        sink.parse();
        sink.mixed.map_or(Ok(()), Err)?;
        self.tally.parsed((sink.sources.len() + sink.rejected.len()) as u64)?;
        Ok(EdgeBatch {
            properties: if self.keep_weights { vec![sink.weights.numbers.finish()] } else { Vec::new() },
            rejected: sink.rejected,
            wide: sink.wide.into_iter().collect(),
            ..EdgeBatch::of_integers(sink.sources, sink.targets, block.input_bytes)
        })
    }
}

impl ListBlock<'_> {
    fn parse(&mut self) {
        let mut at = 0;
        while at < self.text.len() {
            at = match self.text[at] {
                b'\n' => {
                    self.end_line();
                    at + 1
                }
                byte if byte.is_ascii_whitespace() => at + 1,
                b'%' if self.place.words == 0 => self.skip_comment(at),
                _ => self.word(at),
            };
        }
        self.end_line();
    }

    fn end_line(&mut self) {
        if self.pending.take().is_some() {
            self.reject(b"", "the last neighbour of the line has no weight");
        }
        self.place = Position { line: self.place.line + 1, vertex: self.place.vertex + 1, words: 0 };
    }

    /// A comment is no vertex.
    fn skip_comment(&mut self, at: usize) -> usize {
        self.place.line += 1;
        memchr::memchr(b'\n', &self.text[at..]).map_or(self.text.len(), |more| at + more + 1)
    }

    /// Takes the word at `at`; returns where it ends.
    fn word(&mut self, at: usize) -> usize {
        let is_plain = |end: usize| {
            self.text.get(end).is_none_or(u8::is_ascii_whitespace) && !decimal::is_padded(&self.text[at..end])
        };
        let fast = uint_at(self.text, at).filter(|&(_, end)| is_plain(end));
        let end = match fast {
            Some((_, end)) => end,
            None => {
                at + self.text[at..].iter().position(u8::is_ascii_whitespace).unwrap_or(self.text.len() - at)
            }
        };
        let MetisHeader { num_vertices, skip, weighted, .. } = self.parser.header;
        self.place.words += 1;
        if self.place.vertex > num_vertices {
            self.reject(
                &self.text[at..end],
                format!(
                    "the header promises {}, but more lines follow",
                    esker_graph::counted(num_vertices, "vertex", "vertices")
                ),
            );
        } else if self.place.words <= skip {
            // Sizes and weights of vertices are not kept.
        } else if weighted && (self.place.words - skip).is_multiple_of(2) {
            self.weight(at, end);
        } else {
            let id = fast.map_or_else(|| decimal::id(&self.text[at..end]), |(id, _)| Ok(id));
            let ids = 1..=num_vertices;
            match id {
                Ok(id) if !ids.contains(&id) => {
                    self.reject(&self.text[at..end], not_in_range("neighbour", id, &ids));
                }
                Ok(id) if weighted => self.pending = Some(id),
                Ok(id) => self.push(id),
                Err(why) => self.reject(&self.text[at..end], not_id("neighbour", why, false)),
            }
        }
        end
    }

    fn weight(&mut self, at: usize, end: usize) {
        // Without a neighbour before it, the neighbour was rejected, and the weight goes with it.
        let Some(neighbour) = self.pending.take() else { return };
        match decimal::number(&self.text[at..end]) {
            Ok(weight) => {
                self.push(neighbour);
                if !self.parser.keep_weights {
                    return;
                }
                let (path, line) = (&self.parser.path, self.place.line);
                if let Err(mixed) = self.weights.push(weight) {
                    let error = || input_error(path, Some(line), &self.text[at..end], mixed.reason("weight"));
                    self.mixed.get_or_insert_with(error);
                }
                if let (None, Some(value)) = (&self.wide, self.weights.wide()) {
                    let (path, row) = (Arc::clone(path), self.sources.len() - 1);
                    self.wide = Some(WideInteger { property: 0, row, value, path, line });
                }
            }
            Err(why) => self.reject(&self.text[at..end], format!("the weight {}", why.reason())),
        }
    }

    #[inline]
    fn push(&mut self, neighbour: u64) {
        self.sources.push(self.place.vertex);
        self.targets.push(neighbour);
    }

    fn reject(&mut self, word: &[u8], reason: impl Into<Message>) {
        let (path, line) = (Arc::clone(&self.parser.path), self.place.line);
        let edges_before = self.sources.len();
        self.rejected.push(Rejected {
            path,
            line,
            text: excerpt(word).into(),
            reason: reason.into(),
            edges_before,
        });
    }
}

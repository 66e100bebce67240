//! Reads line formats whose header says how many vertices and edges follow: Matrix Market and DIMACS-9. Their
//! lines are those of a table; this adds the header, the range of ids and the count.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{ArrayRef, Float64Array, Int64Array};
use esker_format::{Result, value::decimal};
use esker_graph::Message;

use super::blocks::{LineBlocks, PartialInput, input_error};
use super::line::{Comments, Dialect, Separator, line_end, of_colouring};
use super::table_parser::{ColumnLayout, TableParser};
use super::tally::BlockTally;
use crate::read::format::{Pick, ReadOptions};
use crate::read::head::InputHead;
use crate::read::input::Input;
use crate::read::source::{BlockParser, EdgeBatch, IdKind, InputBlock, Reader, Schema, integer_ids};

/// Bytes that comments before a header may take.
const HEADER_BYTES_MAX: usize = 1 << 20;

/// What a header says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HeadedInput {
    /// The format.
    pub(crate) format: &'static str,
    /// Ids are `1..=num_vertices`.
    pub(crate) num_vertices: u64,
    /// Lines that follow.
    pub(crate) lines: u64,
    /// What a line is, in the plural.
    pub(crate) what: &'static str,
    /// Whether a weight stands behind the ids.
    pub(crate) weighted: bool,
    pub(crate) directed: Option<bool>,
    /// Each line stands for a second edge back, with the weight negated.
    pub(crate) skew: bool,
    /// Whether entries for the same two vertices are parts of one.
    pub(crate) entries_add_up: bool,
    /// The letter before the ids.
    pub(crate) mark: Option<u8>,
    pub(crate) comments: Comments,
    /// Where the lines begin.
    pub(crate) end: usize,
}

/// Finds the header in the beginning of a file: `Ok(None)` if more bytes are needed.
pub(crate) type ParseHeader = fn(&[u8], bool) -> std::result::Result<Option<HeadedInput>, String>;

/// The reader of both formats.
pub(crate) struct HeadedReader {
    schema: Schema,
    blocks: LineBlocks,
    parser: Arc<HeadedParser>,
    handed_out: u64,
}

struct HeadedParser {
    path: Arc<PathBuf>,
    table: TableParser,
    tally: Arc<BlockTally>,
    skew: bool,
    entries_add_up: bool,
    /// Lines that describe vertices and are not read, where there may be some.
    of_vertices: Option<AtomicU64>,
}

impl HeadedReader {
    /// Opens one file that begins with `head`.
    ///
    /// # Errors
    /// If the header is missing or says something that is not read.
    pub(crate) fn open(
        input: &Input,
        mut head: InputHead,
        parse: ParseHeader,
        options: &ReadOptions,
    ) -> Result<Self> {
        let path = input.path();
        let header = loop {
            match parse(&head.bytes, head.whole).map_err(|reason| input_error(&path, None, b"", reason))? {
                Some(header) => break header,
                None if head.whole || head.bytes.len() >= HEADER_BYTES_MAX => {
                    return Err(input_error(
                        &path,
                        None,
                        b"",
                        "the header is missing: the file is empty or cut short",
                    ));
                }
                None => head.extend(HEADER_BYTES_MAX)?,
            }
        };
        let weighted = header.weighted && options.weight != Pick::Skip;
        let tally = BlockTally::new(Arc::clone(&path), header.what, header.lines);
        let names: Vec<String> = if weighted { vec!["weight".into()] } else { Vec::new() };
        let types = vec![None; names.len()];
        let table =
            TableParser::new(vec![path], vec![layout(&header, weighted)], false, names.clone(), types)
                .with_lines_of(options.line_bytes_max)
                .with_rejected(options.rejected)
                .with_ids(1..=header.num_vertices);
        let part = PartialInput {
            input: input.clone(),
            skip_bytes: header.end,
            skip_lines: super::blocks::count_lines(&head.bytes[..header.end]),
            quoted: None,
            opened: Some((head.stream, head.bytes)),
        };
        let schema = Schema {
            operation: None,
            kind: None,
            format: header.format,
            ids: IdKind::Numbered { first: 1, num_vertices: header.num_vertices },
            properties: names,
            weight: weighted.then_some(0),
            types: Vec::new(),
            directed: header.directed,
            time: None,
            both_ends: false,
            input_bytes: input.stored_bytes(),
        };
        let HeadedInput { skew, entries_add_up, comments, .. } = header;
        let of_vertices = (comments == Comments::Colouring).then(AtomicU64::default);
        let path = input.path();
        let parser = Arc::new(HeadedParser { path, table, tally, skew, entries_add_up, of_vertices });
        Ok(Self { schema, blocks: LineBlocks::new(vec![part], options), parser, handed_out: 0 })
    }
}

fn layout(header: &HeadedInput, weighted: bool) -> ColumnLayout {
    let first = usize::from(header.mark.is_some());
    ColumnLayout {
        dialect: Dialect { separator: Separator::Blank, quotes: false, comments: header.comments },
        columns: first + 2 + usize::from(header.weighted),
        has_header: true,
        may_be_header: None,
        source: first,
        target: first + 1,
        properties: if weighted { vec![first + 2] } else { Vec::new() },
        notations: Vec::new(),
        float_end: None,
        direction: None,
        missing: None,
        mark: header.mark,
    }
}

impl Reader for HeadedReader {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn entries_add_up(&self) -> Result<bool> {
        Ok(self.parser.entries_add_up && self.schema.weight.is_some())
    }

    fn parser(&self) -> Arc<dyn BlockParser> {
        Arc::clone(&self.parser) as _
    }

    fn next_block(&mut self) -> Result<Option<InputBlock>> {
        let block = self.blocks.next_block()?;
        match block {
            Some(_) => self.handed_out += 1,
            None => self.parser.tally.finish(self.handed_out)?,
        }
        Ok(block)
    }
}

impl BlockParser for HeadedParser {
    fn parse(&self, block: InputBlock) -> Result<EdgeBatch> {
        if let Some(count) = &self.of_vertices {
            let lines = block.bytes.split(|byte| *byte == b'\n').filter(|line| of_colouring(line));
            count.fetch_add(lines.count() as u64, Ordering::Relaxed);
        }
        let batch = self.table.parse(block)?;
        self.tally.parsed((batch.len() + batch.rejected.len()) as u64)?;
        if !self.skew {
            return Ok(batch);
        }
        match diagonal(&batch) {
            None => Ok(both_ways(&batch)),
            Some(id) => {
                let reason = format!(
                    "the matrix is skew-symmetric, so that its diagonal is 0, but it has an entry ({id}, {id}); remove it"
                );
                Err(input_error(&self.path, None, b"", reason))
            }
        }
    }

    fn warnings(&self) -> Vec<Message> {
        let count = self.of_vertices.as_ref().map_or(0, |count| count.load(Ordering::Relaxed));
        let lines = esker_graph::counted(count, "line", "lines");
        let told = || format!("{}: {lines} about vertices (n, d, v, x) not read", self.path.display());
        (count > 0).then(|| told().into()).into_iter().collect()
    }
}

/// An entry on the diagonal that is not 0.
fn diagonal(batch: &EdgeBatch) -> Option<u64> {
    let ids = [&batch.source, &batch.target].map(|ids| integer_ids(ids).unwrap_or_default());
    let is_zero = |row: usize| {
        batch.properties.first().is_some_and(|values| match values.as_primitive_opt::<Int64Type>() {
            Some(values) => values.value(row) == 0,
            None => values.as_primitive::<Float64Type>().value(row) == 0.0,
        })
    };
    let row = (0..ids[0].len()).find(|&row| ids[0][row] == ids[1][row] && !is_zero(row))?;
    Some(ids[0][row])
}

/// Behind each edge, the edge back with the weight negated. The diagonal of such a matrix is zero: no edge.
fn both_ways(batch: &EdgeBatch) -> EdgeBatch {
    let ids = [&batch.source, &batch.target].map(|ids| integer_ids(ids).unwrap_or_default());
    let pairs = || (0..ids[0].len()).map(|i| (i, ids[0][i], ids[1][i])).filter(|(_, s, t)| s != t);
    let values = |column: &ArrayRef| -> ArrayRef {
        match column.as_primitive_opt::<Int64Type>().map(Int64Array::values) {
            Some(values) => {
                let both = pairs().flat_map(|(i, ..)| [values[i], values[i].saturating_neg()]);
                Arc::new(Int64Array::from_iter_values(both))
            }
            None => {
                let values = column.as_primitive::<Float64Type>().values();
                let both = pairs().flat_map(|(i, ..)| [values[i], 0.0 - values[i]]);
                Arc::new(Float64Array::from_iter_values(both))
            }
        }
    };
    EdgeBatch {
        properties: batch.properties.iter().map(values).collect(),
        rejected: batch.rejected.clone(),
        ..EdgeBatch::of_integers(
            pairs().flat_map(|(_, s, t)| [s, t]).collect(),
            pairs().flat_map(|(_, s, t)| [t, s]).collect(),
            batch.input_bytes,
        )
    }
}

/// The first line from `at` on that is neither blank nor a comment: its words, and where the next begins.
/// `None` if no such line ends within `head`; the end of a `whole` one ends a line too.
pub(crate) fn content_line(
    head: &[u8],
    whole: bool,
    mut at: usize,
    comment: u8,
) -> Option<(Vec<String>, usize)> {
    loop {
        let rest = head.get(at..).filter(|rest| !rest.is_empty())?;
        if memchr::memchr(b'\n', rest).is_none() && !whole {
            return None;
        }
        let (end, next) = line_end(head, at);
        let line = String::from_utf8_lossy(&head[at..end]);
        if !line.trim().is_empty() && head[at] != comment {
            return Some((line.split_ascii_whitespace().map(str::to_owned).collect(), next));
        }
        at = next;
    }
}

/// Whether the first line that is neither blank nor a `c` comment is `p` and a kind of DIMACS files.
pub(crate) fn begins_with(text: &[u8], kind: &str) -> bool {
    let mut lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let is_comment = |line: &&[u8]| {
        line.is_empty() || *line == b"c" || line.starts_with(b"c ") || line.starts_with(b"c\t")
    };
    let Some(header) = lines.find(|line| !is_comment(line)) else { return false };
    let mut words = header.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    words.next() == Some(b"p") && words.next() == Some(kind.as_bytes())
}

/// A count of a header.
pub(crate) fn count(words: &[String], place: usize, what: &str) -> std::result::Result<u64, String> {
    let word = words.get(place).map_or("", String::as_str);
    decimal::id(word.as_bytes())
        .map_err(|_| format!("the header has {word:?} where the number of {what} belongs"))
}

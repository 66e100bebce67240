//! Vertices without edges: a file with one id a line, read before the edges of any format; or a number of
//! vertices.

use std::borrow::Cow;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::builder::BinaryBuilder;
use arrow_array::{Array, ArrayRef};
use esker_format::value::decimal::{self, NotId};
use esker_format::{Error, Result, TableRecord};
use esker_graph::{Message, Setting, message};

use super::blocks::{LineBlocks, PartialInput, check_encoding, count_lines, rejected_line, too_long};
use super::digits::uint_at;
use super::line::{Comments, Dialect, Field, Separator, line_end, split};
use super::odd::OddLine;
use super::reasons::{check_text, not_id, not_id_of_database, not_in_range};
use super::shape::text;
use super::tally::BlockTally;
use crate::columns::names::names_ids;
use crate::read::format::ReadOptions;
use crate::read::head::InputHead;
use crate::read::input::Input;
use crate::read::known_vertices::KnownVertices;
use crate::read::source::{
    BlockParser, EdgeBatch, IdKind, InputBlock, Numbers, Reader, Rejected, RejectedText, Schema, id_column,
    integer_ids,
};

/// The number of the vertex file among the files of a reader, which count from 0.
pub(super) const VERTEX_FILE: usize = usize::MAX;

/// First the vertices, then the edges.
pub(crate) struct WithVertices {
    schema: Schema,
    vertices: Option<LineBlocks>,
    header_note: Option<Message>,
    handed_out: u64,
    edges: Box<dyn Reader>,
    parser: Arc<Parser>,
}

struct Parser {
    path: Arc<PathBuf>,
    ids: IdKind,
    num_properties: usize,
    tally: Option<Arc<BlockTally>>,
    edges: Arc<dyn BlockParser>,
    dialect: Dialect,
    line_bytes_max: usize,
    /// The first line that is not UTF-8.
    odd: OddLine,
    /// The vertices that lines may name, if they are limited.
    nameable: Option<KnownVertices>,
    rejected: RejectedText,
    /// Whether they go to a database whose integer ids can become texts.
    ids_can_become_texts: bool,
}

impl WithVertices {
    /// Puts the vertices of `input`, which begins with `head`, before `edges`; `promised` is how many there
    /// must be, if that is known.
    ///
    /// # Errors
    /// If the file cannot be read or is no text.
    pub(crate) fn open(
        input: &Input,
        head: InputHead,
        edges: Box<dyn Reader>,
        promised: Option<u64>,
        options: &ReadOptions,
    ) -> Result<Self> {
        let path = input.path();
        check_encoding(&head.bytes).map_err(|reason| super::blocks::input_error(&path, None, b"", reason))?;
        let dialect = one_id_a_line(options);
        let mark_bytes = if head.bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        // A file that must have so many ids has nothing else.
        let header = match promised {
            None => header_line(&head.bytes[mark_bytes..], &dialect, options),
            Some(_) => None,
        };
        let is_name = header.as_ref().is_some_and(|(_, name)| {
            options.header == Some(true) || !options.known_vertices.contains(name.as_bytes())
        });
        let skip_bytes = mark_bytes + header.as_ref().filter(|_| is_name).map_or(0, |(end, _)| *end);
        let header_note = header.map(|(_, name)| match is_name {
            true => message![
                format!("Reading {} as vertices: the line {name:?} names the column; ", path.display()),
                Setting::Header.to(false),
                " if it is an id",
            ],
            false => format!("Reading {} as vertices: the first line, {name:?}, is a vertex", path.display())
                .into(),
        });
        let part = PartialInput {
            input: input.clone(),
            skip_bytes,
            skip_lines: count_lines(&head.bytes[..skip_bytes]),
            quoted: dialect.quotes.then_some(dialect),
            opened: Some((head.stream, head.bytes)),
        };
        let mut schema = edges.schema().clone();
        schema.input_bytes =
            schema.input_bytes.zip(input.stored_bytes()).map(|(edges, vertices)| edges + vertices);
        let parser = Parser {
            tally: promised.map(|promised| BlockTally::new(Arc::clone(&path), "vertices", promised)),
            path,
            ids: schema.ids,
            num_properties: schema.properties.len(),
            edges: edges.parser(),
            dialect,
            line_bytes_max: options.line_bytes_max,
            odd: OddLine::default(),
            nameable: options.nameable(),
            rejected: options.rejected,
            ids_can_become_texts: options.ids_can_become_texts,
        };
        let vertices = Some(LineBlocks::new(vec![part], options));
        Ok(Self { schema, vertices, header_note, handed_out: 0, edges, parser: Arc::new(parser) })
    }

    /// Says that the file has a header, if it has one.
    pub(crate) fn header_note(&self) -> Option<Message> {
        self.header_note.clone()
    }
}

impl Reader for WithVertices {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn limit_memory(&mut self, bytes: u64, threads: usize) -> Result<u64> {
        self.edges.limit_memory(bytes, threads)
    }

    fn table(&self) -> Option<TableRecord> {
        self.edges.table()
    }

    fn notes(&self) -> Vec<Message> {
        self.edges.notes().into_iter().chain(self.header_note()).collect()
    }

    fn entries_add_up(&self) -> Result<bool> {
        self.edges.entries_add_up()
    }

    fn parser(&self) -> Arc<dyn BlockParser> {
        Arc::clone(&self.parser) as _
    }

    fn next_block(&mut self) -> Result<Option<InputBlock>> {
        if let Some(vertices) = &mut self.vertices {
            if let Some(block) = vertices.next_block()? {
                self.handed_out += 1;
                return Ok(Some(InputBlock { file: VERTEX_FILE, ..block }));
            }
            self.vertices = None;
            if let Some(tally) = &self.parser.tally {
                tally.finish(self.handed_out)?;
            }
        }
        self.edges.next_block()
    }
}

/// Edges between the vertices `0..num_vertices`, whose number the user states.
pub(crate) struct WithCount {
    schema: Schema,
    edges: Box<dyn Reader>,
}

struct CountedParser {
    num_vertices: u64,
    edges: Arc<dyn BlockParser>,
}

impl WithCount {
    /// States the number of vertices of `edges`.
    ///
    /// # Errors
    /// If ids are texts, or the format itself states a number.
    pub(crate) fn new(edges: Box<dyn Reader>, num_vertices: u64) -> Result<Self> {
        let mut schema = edges.schema().clone();
        let reason = match schema.ids {
            IdKind::Int => {
                schema.ids = IdKind::Numbered { first: 0, num_vertices };
                return Ok(Self { schema, edges });
            }
            IdKind::Text => "the ids of the input are texts: name a file of ids".to_owned(),
            IdKind::Numbered { .. } => {
                format!("the format {} states how many vertices there are: leave it out", schema.format)
            }
        };
        let stated = format!(" states that the ids are integers below {num_vertices}, but {reason}");
        Err(Error::invalid(message![Setting::Vertices.to(num_vertices), stated]))
    }
}

impl Reader for WithCount {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn table(&self) -> Option<TableRecord> {
        self.edges.table()
    }

    fn parser(&self) -> Arc<dyn BlockParser> {
        let IdKind::Numbered { num_vertices, .. } = self.schema.ids else { return self.edges.parser() };
        Arc::new(CountedParser { num_vertices, edges: self.edges.parser() })
    }

    fn next_block(&mut self) -> Result<Option<InputBlock>> {
        self.edges.next_block()
    }
}

/// How the lines of a file of vertices are read: each is one field, which may be quoted. A `#` before
/// anything but a blank belongs to an id.
pub(super) fn one_id_a_line(options: &ReadOptions) -> Dialect {
    Dialect {
        separator: Separator::Byte(b'\n'),
        quotes: options.quotes != Some(false),
        comments: Comments::Spaced,
    }
}

/// The header of a file of vertices, if its first line has a usual name for the column: where the next line
/// begins, and the name.
pub(super) fn header_line(
    content: &[u8],
    dialect: &Dialect,
    options: &ReadOptions,
) -> Option<(usize, String)> {
    let (mut at, mut fields) = (0, Vec::new());
    while at < content.len() && options.header != Some(false) {
        if let Some(line) = take_id_line(content, &mut at, dialect, &mut fields) {
            let name = line.id.ok().filter(|name| names_ids(name))?;
            return Some((at, String::from_utf8_lossy(&name).into_owned()));
        }
    }
    None
}

/// A line of a file of vertices that is neither empty nor a comment.
pub(super) struct IdLine<'a> {
    /// Where it begins.
    pub(super) start: usize,
    /// What stands there, for messages.
    pub(super) text: &'a [u8],
    /// The id, or why there is none.
    pub(super) id: std::result::Result<Cow<'a, [u8]>, &'static str>,
}

/// Takes the line at `at`, and moves `at` to the next.
pub(super) fn take_id_line<'a>(
    bytes: &'a [u8],
    at: &mut usize,
    dialect: &Dialect,
    fields: &mut Vec<Field>,
) -> Option<IdLine<'a>> {
    let start = *at;
    let (end, next) = line_end(bytes, start);
    if bytes[start..end].trim_ascii().is_empty() || dialect.is_comment(bytes[start..end].trim_ascii()) {
        *at = next;
        return None;
    }
    let (id, line) = match split(bytes, start, dialect, 1, fields) {
        Ok(line) => {
            let field = fields[0];
            let id = match field.doubled {
                true => Cow::Owned(text(bytes, field)),
                false => Cow::Borrowed(&bytes[field.start..field.end]),
            };
            (Ok(id), line)
        }
        Err((fault, line)) => (Err(fault.reason()), line),
    };
    *at = line.next;
    Some(IdLine { start, text: &bytes[start..line.end], id })
}

impl BlockParser for CountedParser {
    fn parse(&self, block: InputBlock) -> Result<EdgeBatch> {
        let batch = self.edges.parse(block)?;
        let columns = [&batch.source, &batch.target].into_iter().chain(&batch.vertices);
        let wrong = columns.filter_map(integer_ids).flatten().copied().find(|&id| id >= self.num_vertices);
        match wrong {
            None => Ok(batch),
            Some(id) => Err(Error::invalid(message![
                format!("the input names vertex {id}, but "),
                Setting::Vertices.to(self.num_vertices),
                format!(" promises ids from 0 to {}", self.num_vertices.saturating_sub(1)),
            ])),
        }
    }

    fn warnings(&self) -> Vec<Message> {
        self.edges.warnings()
    }
}

impl BlockParser for Parser {
    fn warnings(&self) -> Vec<Message> {
        let odd = self.odd.warning(std::slice::from_ref(&self.path)).map(Message::from);
        odd.into_iter().chain(self.edges.warnings()).collect()
    }

    fn parse(&self, block: InputBlock) -> Result<EdgeBatch> {
        if block.file != VERTEX_FILE {
            return self.edges.parse(block);
        }
        if self.ids == IdKind::Text {
            self.odd.look(0, &block);
        }
        let (vertices, rejected) = self.vertices(&block);
        if let Some(tally) = &self.tally {
            tally.parsed((vertices.len() + rejected.len()) as u64)?;
        }
        Ok(EdgeBatch {
            source: vertices.slice(0, 0),
            target: vertices.slice(0, 0),
            properties: vec![Numbers::Int(Vec::new()).finish(); self.num_properties],
            vertices: Some(vertices),
            vertex_values: Vec::new(),
            vertex_places: None,
            rejected,
            wide: Vec::new(),
            input_bytes: block.input_bytes,
        })
    }
}

impl Parser {
    /// Why an id is none, in words.
    fn not_id(&self, why: NotId) -> Message {
        match self.ids_can_become_texts {
            true => not_id_of_database("vertex", why),
            false => not_id("vertex", why, self.ids == IdKind::Int),
        }
    }

    fn vertices(&self, block: &InputBlock) -> (ArrayRef, Vec<Rejected>) {
        let bytes = &block.bytes[..];
        let ids = match self.ids {
            IdKind::Numbered { first, num_vertices } if num_vertices > 0 => {
                first..=first.saturating_add(num_vertices - 1)
            }
            IdKind::Numbered { .. } => RangeInclusive::new(1, 0),
            IdKind::Int | IdKind::Text => 0..=u64::MAX,
        };
        let (mut ints, mut texts, mut rejected) = (Vec::new(), BinaryBuilder::new(), Vec::new());
        let (mut at, mut fields) = (0, Vec::new());
        while at < bytes.len() {
            if self.ids != IdKind::Text
                && self.nameable.is_none()
                && let Some((id, end)) = uint_at(bytes, at)
                && bytes.get(end) == Some(&b'\n')
                && ids.contains(&id)
                && !decimal::is_padded(&bytes[at..end])
            {
                ints.push(id);
                at = end + 1;
                continue;
            }
            let start = at;
            let Some(line) = take_id_line(bytes, &mut at, &self.dialect, &mut fields) else { continue };
            let id = match too_long(bytes, start, self.line_bytes_max) {
                Some(reason) => Err(Message::from(reason)),
                None => line.id.map_err(Message::from),
            };
            let expect = |id: &Cow<'_, [u8]>| self.nameable.as_ref().map_or(Ok(()), |known| known.expect(id));
            let id = id.and_then(|id| expect(&id).map(|()| id));
            let reason = match (id, self.ids) {
                (Err(reason), _) => reason,
                (Ok(id), IdKind::Text) => match check_text(&id, "vertex") {
                    Ok(()) => {
                        texts.append_value(id);
                        continue;
                    }
                    Err(reason) => reason,
                },
                (Ok(id), _) => match decimal::id(&id) {
                    Ok(id) if ids.contains(&id) => {
                        ints.push(id);
                        continue;
                    }
                    Ok(id) => not_in_range("vertex", id, &ids),
                    Err(why) => self.not_id(why),
                },
            };
            rejected.push(Rejected {
                path: Arc::clone(&self.path),
                line: block.first_line + count_lines(&bytes[..line.start]),
                text: rejected_line(line.text, self.rejected),
                reason,
                edges_before: 0,
            });
        }
        let ids = match self.ids {
            IdKind::Text => Arc::new(texts.finish()),
            IdKind::Int | IdKind::Numbered { .. } => id_column(ints),
        };
        (ids, rejected)
    }
}

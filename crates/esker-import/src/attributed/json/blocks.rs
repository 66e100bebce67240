//! Cuts JSON documents of nodes and edges into blocks of whole elements. One thread runs this: it looks for
//! the ends of strings and counts brackets, and leaves everything else to the parsers.

use std::path::PathBuf;
use std::sync::Arc;

use esker_format::{Error, Result};
use memchr::memchr2;

use super::element::truth_of;
use super::scan::value_end;
use crate::attributed::types::ESKER;
use crate::read::input::InputStream;
use crate::read::source::InputBlock;
use crate::text::blocks::{count_lines, input_error};

/// Bytes that are read at a time.
const READ_BYTES: usize = 1 << 18;
/// Bytes that a name or a short value may have.
const SHORT_BYTES_MAX: usize = 1 << 12;

/// What the elements of an array are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    Vertices,
    Edges,
    /// Those that have a source and a target are edges.
    Mixed,
}

impl Section {
    /// From [`InputBlock::file`].
    pub(super) fn of(file: usize) -> Self {
        match file {
            0 => Self::Vertices,
            1 => Self::Edges,
            _ => Self::Mixed,
        }
    }

    fn file(self) -> usize {
        match self {
            Self::Vertices => 0,
            Self::Edges => 1,
            Self::Mixed => 2,
        }
    }
}

/// Where the cutter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DocumentPlace {
    Start,
    /// Within so many nested objects, before a name or a brace; whether a pair came before.
    Object {
        depth: usize,
        follows: bool,
    },
    /// Within an array of elements, in so many objects; whether an element came before.
    Array {
        section: Section,
        depth: usize,
        follows: bool,
    },
    End,
}

/// What a document says of itself outside of its elements.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) directed: Option<bool>,
    pub(super) has_vertices: bool,
    pub(super) has_edges: bool,
}

/// What graphology says of a graph.
#[derive(Default, serde::Deserialize)]
struct GraphologyOptions {
    #[serde(rename = "type")]
    of_edges: Option<String>,
}

impl GraphologyOptions {
    fn directed(&self) -> Option<bool> {
        match self.of_edges.as_deref() {
            Some("undirected") => Some(false),
            // In a mixed one the undirected edges say so.
            Some("directed" | "mixed") => Some(true),
            _ => None,
        }
    }
}

/// Blocks of elements. Memory: two blocks, or one element if that is longer.
pub(super) struct JsonBlocks {
    path: Arc<PathBuf>,
    stream: InputStream,
    buffer: Vec<u8>,
    /// What of the buffer was handled.
    at: usize,
    /// The line on which the buffer begins.
    line: u64,
    is_whole: bool,
    place: DocumentPlace,
    block_bytes: usize,
    element_bytes_max: usize,
    told: Told,
    types: Vec<u8>,
    /// How many vertices were handed out.
    vertices: u64,
}

impl JsonBlocks {
    /// Cuts a stream of which `read` was read.
    pub(super) fn new(
        path: Arc<PathBuf>,
        stream: InputStream,
        read: Vec<u8>,
        block_bytes: usize,
        element_bytes_max: usize,
    ) -> Self {
        let at = if read.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        Self {
            path,
            stream,
            buffer: read,
            at,
            line: 1,
            is_whole: false,
            place: DocumentPlace::Start,
            block_bytes: block_bytes.max(1),
            element_bytes_max: element_bytes_max.max(1),
            told: Told::default(),
            types: Vec::new(),
            vertices: 0,
        }
    }

    /// What the document said so far.
    pub(super) fn told(&self) -> Told {
        self.told
    }

    /// The types of properties that the document states, as they stand.
    pub(super) fn types(&self) -> &[u8] {
        &self.types
    }

    /// The next block.
    ///
    /// # Errors
    /// If the input cannot be read, or is no such document.
    pub(super) fn next_block(&mut self) -> Result<Option<InputBlock>> {
        loop {
            match self.place {
                DocumentPlace::Start => self.start()?,
                DocumentPlace::Object { depth, follows } => self.pair(depth, follows)?,
                DocumentPlace::Array { section, depth, follows } => {
                    if let Some(block) = self.cut(section, depth, follows)? {
                        return Ok(Some(block));
                    }
                }
                DocumentPlace::End => {
                    if self.peek()?.is_some() {
                        return Err(self.broken("something stands behind the document"));
                    }
                    return Ok(None);
                }
            }
        }
    }

    fn start(&mut self) -> Result<()> {
        self.place = match self.peek()? {
            Some(b'{') => DocumentPlace::Object { depth: 1, follows: false },
            Some(b'[') => DocumentPlace::Array { section: Section::Mixed, depth: 0, follows: false },
            _ => return Err(self.broken("a JSON object begins with {")),
        };
        self.at += 1;
        Ok(())
    }

    /// Goes to the next name of an object. `false`: there is none.
    fn next_pair(&mut self, depth: usize, follows: bool) -> Result<bool> {
        match self.peek()? {
            Some(b'}') => {
                self.at += 1;
                self.place = if depth == 1 {
                    DocumentPlace::End
                } else {
                    DocumentPlace::Object { depth: depth - 1, follows: true }
                };
                return Ok(false);
            }
            Some(b',') if follows => {
                self.at += 1;
                self.peek()?;
            }
            Some(_) if !follows => {}
            Some(_) => return Err(self.broken("a comma or } is missing")),
            None => return Err(self.cut_short()),
        }
        Ok(true)
    }

    /// Reads a name, and its value unless that holds elements.
    fn pair(&mut self, depth: usize, follows: bool) -> Result<()> {
        if self.at > READ_BYTES {
            self.drop_handled();
        }
        if !self.next_pair(depth, follows)? {
            return Ok(());
        }
        let name = self.short_value()?;
        let name: String =
            serde_json::from_slice(&name).map_err(|_| self.broken("a name in quotes belongs here"))?;
        if self.peek()? != Some(b':') {
            return Err(self.broken("a colon is missing"));
        }
        self.at += 1;
        let value = self.peek()?;
        let section = match name.as_str() {
            "nodes" | "vertices" => Some(Section::Vertices),
            "edges" | "links" => Some(Section::Edges),
            "elements" => Some(Section::Mixed),
            _ => None,
        };
        self.place = DocumentPlace::Object { depth, follows: true };
        match (section, value) {
            (Some(section), Some(b'[')) => {
                self.at += 1;
                self.told.has_vertices |= section != Section::Edges;
                self.told.has_edges |= section != Section::Vertices;
                self.place = DocumentPlace::Array { section, depth, follows: false };
            }
            (_, Some(b'{')) if depth == 1 && matches!(name.as_str(), "elements" | "graph") => {
                self.at += 1;
                self.place = DocumentPlace::Object { depth: depth + 1, follows: false };
            }
            (Some(Section::Vertices), Some(b'{')) => {
                return Err(
                    self.broken("the nodes are an object by id, which is not read; write them as an array")
                );
            }
            (_, Some(b'[')) if name == "adjacency" => {
                return Err(
                    self.broken("the document has adjacency data; write it with node_link_data of NetworkX")
                );
            }
            (_, Some(_)) if name == "directed" => {
                let value = self.short_value()?;
                let told = truth_of("\"directed\"", &String::from_utf8_lossy(&value))
                    .map_err(|reason| self.broken(&reason))?;
                self.told.directed = told.or(self.told.directed);
            }
            (_, Some(b'{')) if depth == 2 && name == ESKER => {
                let (begin, end) = (self.at, self.value_end()?);
                self.types = self.buffer[begin..end].to_vec();
                self.at = end;
            }
            (_, Some(b'{')) if depth == 1 && name == "options" => {
                let (begin, end) = (self.at, self.value_end()?);
                let options: GraphologyOptions =
                    serde_json::from_slice(&self.buffer[begin..end]).unwrap_or_default();
                self.told.directed = options.directed().or(self.told.directed);
                self.at = end;
            }
            (_, Some(_)) => self.skip_value()?,
            (_, None) => return Err(self.cut_short()),
        }
        Ok(())
    }

    /// Elements, as many as make a block. `None` at the end of the array.
    fn cut(&mut self, section: Section, depth: usize, mut follows: bool) -> Result<Option<InputBlock>> {
        let mut spans: Vec<[u32; 2]> = Vec::new();
        let mut is_end = false;
        self.drop_handled();
        let (mut start, mut end) = (None, self.at);
        loop {
            let separator = self.peek()?;
            match separator {
                Some(b']') => {
                    self.at += 1;
                    is_end = true;
                    break;
                }
                Some(b',') if follows => {
                    self.at += 1;
                    self.peek()?;
                }
                Some(_) if !follows => {}
                Some(_) => return Err(self.broken("a comma or ] is missing")),
                None => return Err(self.cut_short()),
            }
            let begin = self.at;
            let first = *start.get_or_insert(begin);
            self.at = self.value_end()?;
            end = self.at;
            follows = true;
            let place =
                |at: usize| u32::try_from(at - first).map_err(|_| self.broken("an element is too long"));
            spans.push([place(begin)?, place(end)?]);
            if end - first >= self.block_bytes {
                break;
            }
        }
        self.place = match (is_end, depth) {
            (false, _) => DocumentPlace::Array { section, depth, follows: true },
            (true, 0) => DocumentPlace::End,
            (true, depth) => DocumentPlace::Object { depth, follows: true },
        };
        let Some(start) = start else { return Ok(None) };
        let first_line = self.line + count_lines(&self.buffer[..start]);
        let bytes = pack(self.vertices, &spans, &self.buffer[start..end]);
        if section == Section::Vertices {
            self.vertices += spans.len() as u64;
        }
        let input_bytes = self.stream.take_stored_bytes();
        Ok(Some(InputBlock { bytes, first_line, file: section.file(), input_bytes }))
    }

    /// The first byte that is not blank, at `at`; `None` at the end.
    fn peek(&mut self) -> Result<Option<u8>> {
        let begin = self.at;
        loop {
            while let Some(byte) = self.buffer.get(self.at) {
                if !byte.is_ascii_whitespace() {
                    return Ok(Some(*byte));
                }
                self.at += 1;
            }
            if self.at - begin > self.element_bytes_max {
                let reason =
                    format!("more than {} blanks follow each other; remove them", self.element_bytes_max);
                return Err(self.broken(&reason));
            }
            if !self.read_more()? {
                return Ok(None);
            }
        }
    }

    fn read_more(&mut self) -> Result<bool> {
        if self.is_whole {
            return Ok(false);
        }
        let filled = self.buffer.len();
        self.buffer.resize(filled + READ_BYTES, 0);
        let end = self.stream.fill(&mut self.buffer, filled)?;
        self.is_whole = end < self.buffer.len();
        self.buffer.truncate(end);
        Ok(end > filled)
    }

    /// Drops what was handled from the buffer.
    fn drop_handled(&mut self) {
        self.line += count_lines(&self.buffer[..self.at]);
        self.buffer.drain(..self.at);
        self.at = 0;
    }

    /// Where the value at `at` ends.
    fn value_end(&mut self) -> Result<usize> {
        let begin = self.at;
        loop {
            if let Some(end) = value_end(&self.buffer, begin, self.is_whole) {
                if end == begin {
                    return Err(self.broken("a value belongs here"));
                }
                return Ok(end);
            }
            if self.buffer.len() - begin > self.element_bytes_max {
                let reason = format!("an element is longer than {} bytes", self.element_bytes_max);
                return Err(self.broken(&reason));
            }
            if !self.read_more()? {
                return Err(self.cut_short());
            }
        }
    }

    /// A name or a scalar.
    fn short_value(&mut self) -> Result<Vec<u8>> {
        let begin = self.at;
        let end = self.value_end()?;
        if end - begin > SHORT_BYTES_MAX {
            return Err(self.broken("the name is too long"));
        }
        self.at = end;
        Ok(self.buffer[begin..end].to_vec())
    }

    /// Passes over a value, however long.
    fn skip_value(&mut self) -> Result<()> {
        let mut depth = 0_usize;
        loop {
            let Some(byte) = self.peek()? else { return Err(self.cut_short()) };
            match byte {
                b'"' => self.skip_string()?,
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' => {
                    if depth == 0 {
                        return Err(self.broken("a value belongs here"));
                    }
                    depth -= 1;
                    self.at += 1;
                }
                b',' | b':' if depth > 0 => self.at += 1,
                b',' | b':' => return Err(self.broken("a value belongs here")),
                _ => self.at = self.value_end()?,
            }
            if depth == 0 {
                return Ok(());
            }
            if self.at > READ_BYTES {
                self.drop_handled();
            }
        }
    }

    fn skip_string(&mut self) -> Result<()> {
        self.at += 1;
        loop {
            match memchr2(b'"', b'\\', &self.buffer[self.at.min(self.buffer.len())..]) {
                Some(found) if self.buffer[self.at + found] == b'"' => {
                    self.at += found + 1;
                    return Ok(());
                }
                Some(found) => self.at += found + 2,
                None => {
                    let behind = self.at.saturating_sub(self.buffer.len());
                    self.at = self.buffer.len();
                    self.drop_handled();
                    if !self.read_more()? {
                        return Err(self.cut_short());
                    }
                    self.at = behind;
                }
            }
        }
    }

    fn broken(&self, reason: &str) -> Error {
        let at = self.at.min(self.buffer.len());
        let line = self.line + count_lines(&self.buffer[..at]);
        input_error(
            &self.path,
            Some(line),
            &self.buffer[at..],
            format!("this is no JSON of nodes and edges: {reason}"),
        )
    }

    fn cut_short(&self) -> Error {
        let line = self.line + count_lines(&self.buffer);
        input_error(&self.path, Some(line), b"", "the file is cut short: a bracket is not closed")
    }
}

/// A block: the number of its first vertex, the places of its elements, and their text.
fn pack(first: u64, spans: &[[u32; 2]], text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(16 + 8 * spans.len() + text.len());
    bytes.extend_from_slice(&first.to_le_bytes());
    bytes.extend_from_slice(&(spans.len() as u64).to_le_bytes());
    spans.as_flattened().iter().for_each(|place| bytes.extend_from_slice(&place.to_le_bytes()));
    bytes.extend_from_slice(text);
    bytes
}

/// What [`pack`] put together.
pub(super) struct Unpacked<'a> {
    pub(super) first: u64,
    pub(super) spans: Vec<[u32; 2]>,
    pub(super) text: &'a [u8],
}

pub(super) fn unpack(bytes: &[u8]) -> Unpacked<'_> {
    let word =
        |at: usize| bytes.get(at..at + 8).and_then(|word| word.try_into().ok()).map_or(0, u64::from_le_bytes);
    let text = 16 + 8 * word(8) as usize;
    let places = bytes[16..text].chunks_exact(8).map(|pair| {
        let place = |at: usize| pair[at..].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        [place(0), place(4)]
    });
    Unpacked { first: word(0), spans: places.collect(), text: &bytes[text..] }
}

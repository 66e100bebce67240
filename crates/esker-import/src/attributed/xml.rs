//! Blocks of XML documents whose vertices and edges are elements, and what their parsers share.
//!
//! One thread cuts before `<node` or `<edge`; many threads parse. Nothing outside of a document is ever
//! read: a document type with declarations of its own is refused, and of entities only those that XML itself
//! defines are known.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use esker_format::Result;
use memchr::memmem;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::{Reader as XmlReader, XmlVersion};

use crate::read::format::ReadOptions;
use crate::read::head::InputHead;
use crate::read::input::{Input, InputStream};
use crate::read::input_format::without_mark;
use crate::read::source::InputBlock;
use crate::text::blocks::{count_lines, input_error};

/// What is said of edges with ids.
pub(super) const EDGE_IDS_UNREAD: &str =
    "The ids and keys of edges are not read: a database names its edges itself";

/// Bytes that what stands before the first vertex or edge may take.
const HEADER_BYTES_MAX: usize = 1 << 20;

/// Blocks that each begin with a vertex or an edge. Memory: two blocks, or one element if that is longer.
pub(super) struct XmlBlocks {
    path: Arc<PathBuf>,
    stream: InputStream,
    /// Bytes that were read and not handed out.
    rest: Vec<u8>,
    line: u64,
    block_bytes: usize,
    element_bytes_max: usize,
    /// Whether blocks with edges have begun.
    in_edges: bool,
    /// The name of the root element.
    root: &'static str,
    /// What the graphs say in which the next block begins.
    directions: GraphDirections,
    is_done: bool,
}

/// Whether edges that state no direction are directed. Graphs may lie within graphs, and each says it for its
/// own edges: the lowest bit is that of the innermost, and the highest bit that is set only marks the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GraphDirections(pub(super) usize);

impl GraphDirections {
    /// Outside of graphs, where edges have a direction.
    pub(super) const OUTSIDE: Self = Self(1);

    /// Whether edges have a direction here.
    pub(super) fn is_directed(self) -> bool {
        self.0 & 1 == 1
    }

    /// Within a graph that says this; `None` of it: as around it. `None`: too many graphs are open.
    pub(super) fn within(self, directed: Option<bool>) -> Option<Self> {
        let directed = directed.unwrap_or(self.is_directed());
        (self.0.leading_zeros() > 0).then(|| Self(self.0 << 1 | usize::from(directed)))
    }

    /// Behind the graph that is open.
    pub(super) fn behind(self) -> Self {
        Self((self.0 >> 1).max(1))
    }

    /// Behind a block.
    fn over(mut self, bytes: &[u8]) -> Self {
        if ["<graph", "</graph", ":graph"].iter().all(|name| memmem::find(bytes, name.as_bytes()).is_none()) {
            return self;
        }
        // What is wrong is said when the block is parsed.
        let Ok(text) = utf8(bytes) else { return self };
        let mut reader = elements(text);
        while let Ok(event) = reader.read_event() {
            match event {
                Event::Eof => break,
                Event::Start(element) if element.local_name().as_ref() == "graph" => {
                    let own = edge_default(&element).ok().flatten();
                    self = self.within(own).unwrap_or(self);
                }
                Event::End(element) if element.local_name().as_ref() == "graph" => self = self.behind(),
                _ => {}
            }
        }
        self
    }
}

/// What a graph of a GraphML document says of edges that say nothing.
///
/// # Errors
/// If it says what is not understood.
pub(super) fn edge_default(element: &BytesStart<'_>) -> std::result::Result<Option<bool>, String> {
    let Ok(Some(attribute)) = element.try_get_attribute("edgedefault") else { return Ok(None) };
    let value = attribute_value(&attribute)?;
    match value.trim_ascii() {
        "" => Ok(None),
        "directed" => Ok(Some(true)),
        "undirected" => Ok(Some(false)),
        other => Err(format!("edgedefault is {other:?}; write directed or undirected")),
    }
}

/// What stands before the first vertex or edge.
pub(super) struct XmlHeader {
    /// The header.
    pub(super) bytes: Vec<u8>,
    /// The beginning of what follows, up to the size of a head.
    pub(super) sample: Vec<u8>,
}

impl XmlBlocks {
    /// Splits the header from the elements of a document with this root.
    ///
    /// # Errors
    /// If the header is too long, or the encoding is not UTF-8.
    pub(super) fn open(
        path: Arc<PathBuf>,
        mut head: InputHead,
        root: &'static str,
        options: &ReadOptions,
    ) -> Result<(XmlHeader, Self)> {
        refuse_prefix(&path, &head.bytes)?;
        let start = loop {
            if let Some(start) = first_border(&head.bytes) {
                break start;
            }
            if head.whole {
                break head.bytes.len();
            }
            if head.bytes.len() >= HEADER_BYTES_MAX {
                let reason = format!("no node or edge begins within the first {HEADER_BYTES_MAX} bytes");
                return Err(input_error(&path, None, b"", reason));
            }
            head.extend(HEADER_BYTES_MAX)?;
        };
        if head.bytes.starts_with(b"\xff\xfe") || head.bytes.starts_with(b"\xfe\xff") {
            return Err(input_error(
                &path,
                Some(1),
                b"",
                "the file is UTF-16; convert it with: iconv -f UTF-16 -t UTF-8",
            ));
        }
        let rest = head.bytes.split_off(start);
        let is_all = rest.is_empty() && head.whole;
        let sampled = if head.whole { rest.len() } else { whole_sample(&rest) };
        let header = XmlHeader { sample: rest[..sampled].to_vec(), bytes: head.bytes };
        let mut blocks = Self {
            path,
            stream: head.stream,
            rest,
            line: 1 + count_lines(&header.bytes),
            block_bytes: options.block_bytes.max(1),
            element_bytes_max: options.line_bytes_max.max(1),
            in_edges: false,
            root,
            directions: GraphDirections::OUTSIDE,
            is_done: is_all,
        };
        if is_all {
            blocks.line = 1;
            blocks.expect_end(&header.bytes)?;
        }
        Ok((header, blocks))
    }

    /// Says in which graphs the first block begins. Each block then has them as its [`InputBlock::file`].
    pub(super) fn begin_in(&mut self, directions: GraphDirections) {
        self.directions = directions;
    }

    /// The next block.
    ///
    /// # Errors
    /// If the input cannot be read, an element is too long, or the document is cut short.
    pub(super) fn next_block(&mut self) -> Result<Option<InputBlock>> {
        if self.is_done {
            return Ok(None);
        }
        let mut bytes = std::mem::take(&mut self.rest);
        let mut size = self.block_bytes;
        loop {
            let filled = bytes.len();
            bytes.resize(size.max(filled), 0);
            let filled = self.stream.fill(&mut bytes, filled)?;
            let at_end = filled < bytes.len();
            bytes.truncate(filled);
            let end = self.cut_at(&bytes, at_end);
            if let Some(end) = end {
                self.rest = bytes.split_off(end);
                break;
            }
            if at_end {
                self.is_done = true;
                self.expect_end(&bytes)?;
                break;
            }
            if bytes.len() > self.element_bytes_max + self.block_bytes {
                let reason = format!("an element is longer than {} bytes", self.element_bytes_max);
                return Err(input_error(&self.path, Some(self.line), &bytes, reason));
            }
            size = size
                .max(bytes.len() * 2)
                .min(self.element_bytes_max + self.block_bytes + 1)
                .max(bytes.len() + 1);
        }
        let first_line = self.line;
        self.line += count_lines(&bytes);
        let input_bytes = self.stream.take_stored_bytes();
        let file = self.directions.0;
        self.directions = self.directions.over(&bytes);
        Ok(Some(InputBlock { bytes, first_line, file, input_bytes }))
    }

    /// Where a block that begins with `bytes` may end.
    fn cut_at(&mut self, bytes: &[u8], at_end: bool) -> Option<usize> {
        if !self.in_edges {
            // Vertices and edges are in blocks of their own, so that vertices are numbered first.
            if bytes.first() == Some(&b'<') && is_border(bytes, 0, b"edge") {
                self.in_edges = true;
            } else if let Some(edge) = borders(bytes).find(|&at| is_border(bytes, at, b"edge")) {
                self.in_edges = true;
                return Some(edge).filter(|&at| at > 0);
            }
        }
        if at_end && bytes.len() <= self.block_bytes {
            return None;
        }
        last_border(bytes).filter(|&at| at > 0)
    }

    /// An error if a document that ends so does not end.
    fn expect_end(&self, all: &[u8]) -> Result<()> {
        // Behind the last vertex or edge, wherever the block begins.
        let bytes = &all[last_border(all).unwrap_or(0)..];
        let is_end = |at: usize| {
            let name =
                bytes[at + 2..].split(|byte| matches!(byte, b'>' | b' ' | b'\n' | b'\t' | b'\r')).next();
            let name = name.unwrap_or_default();
            name.rsplit(|byte| *byte == b':').next() == Some(self.root.as_bytes())
                && bytes[at..].contains(&b'>')
        };
        let found = memmem::rfind_iter(bytes, b"</").take(4).any(is_end);
        if found {
            return Ok(());
        }
        let line = self.line + count_lines(all);
        let reason = format!("the file is cut short: </{}> is missing at its end", self.root);
        Err(input_error(&self.path, Some(line), b"", reason))
    }
}

/// The name of the first element of a document, with its prefix.
pub(super) fn root_name(text: &[u8]) -> Option<&[u8]> {
    let mut at = 0;
    loop {
        let start = at + memchr::memchr(b'<', text.get(at..)?)?;
        let rest = &text[start + 1..];
        let end: &[u8] = match rest {
            [b'?', ..] => b"?>",
            [b'!', b'-', b'-', ..] => b"-->",
            [b'!', ..] => b">",
            _ => return rest.split(|byte| matches!(byte, b'>' | b'/' | b' ' | b'\t' | b'\n' | b'\r')).next(),
        };
        at = start + memmem::find(&text[start..], end)? + end.len();
    }
}

/// An error if the names of elements have a prefix: blocks are cut where `<node` and `<edge` stand.
fn refuse_prefix(path: &Arc<PathBuf>, head: &[u8]) -> Result<()> {
    let root = String::from_utf8_lossy(root_name(without_mark(head)).unwrap_or_default());
    let Some((prefix, name)) = root.split_once(':') else { return Ok(()) };
    let reason = format!(
        "the elements have the prefix {prefix:?}, which is not read; remove it from their names: write <{name} xmlns=...>, \
         <node> and <edge>"
    );
    Err(input_error(path, None, b"", reason))
}

/// Why an element that stands before the first vertex or edge is not passed over.
pub(super) fn not_passed_over(name: &str) -> String {
    match name {
        "hyperedge" => "a hyperedge joins any number of vertices, but an edge joins two".to_owned(),
        _ => format!("the element <{name}> is not understood here; nodes are called <node>, edges <edge>"),
    }
}

/// Looks for the first edges, which may stand behind all vertices, for a function that says when it saw them.
///
/// # Errors
/// If the input cannot be opened; cancellation.
pub(super) fn find_edges(
    input: &Input,
    root: &'static str,
    options: &ReadOptions,
    mut take: impl FnMut(&[u8]) -> bool,
) -> Result<()> {
    let head = InputHead::read(input)?;
    let (_, mut blocks) = XmlBlocks::open(input.path(), head, root, options)?;
    // What is wrong is said when it is read.
    while let Ok(Some(block)) = blocks.next_block() {
        options.cancel.check()?;
        if memmem::find(&block.bytes, b"<edge").is_some() && take(&block.bytes) {
            break;
        }
    }
    Ok(())
}

/// Whether a vertex or an edge begins at a `<`.
fn is_border(bytes: &[u8], at: usize, name: &[u8]) -> bool {
    let behind = bytes[at + 1..].strip_prefix(name).and_then(<[u8]>::first);
    behind.is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'>' | b'/'))
}

fn is_any_border(bytes: &[u8], at: usize) -> bool {
    is_border(bytes, at, b"node") || is_border(bytes, at, b"edge")
}

/// The places where vertices and edges begin, comments and the like left out. Those behind what does not end
/// within `bytes` are not found.
fn borders(bytes: &[u8]) -> impl Iterator<Item = usize> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + memchr::memchr(b'<', bytes.get(at..)?)?;
            let rest = &bytes[start..];
            let end: &[u8] = match rest {
                [b'<', b'!', b'-', b'-', ..] => b"-->",
                [b'<', b'!', b'[', ..] => b"]]>",
                [b'<', b'?', ..] => b"?>",
                _ => {
                    at = start + 1;
                    if is_any_border(bytes, start) {
                        return Some(start);
                    }
                    continue;
                }
            };
            at = start + memmem::find(rest, end)? + end.len();
        }
    })
}

fn first_border(bytes: &[u8]) -> Option<usize> {
    borders(bytes).next()
}

/// The last place where a block may be cut.
fn last_border(bytes: &[u8]) -> Option<usize> {
    if memmem::find(bytes, b"<!").is_some() || memmem::find(bytes, b"<?").is_some() {
        return borders(bytes).last();
    }
    memchr::memrchr_iter(b'<', bytes).find(|&at| is_any_border(bytes, at))
}

/// How much of the beginning of elements ends with a whole one.
fn whole_sample(bytes: &[u8]) -> usize {
    last_border(bytes).filter(|&at| at > 0).unwrap_or(bytes.len())
}

/// The element that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OpenElement {
    None,
    Vertex,
    Edge,
}

/// What an attribute says that says yes or no; `None`: nothing.
///
/// # Errors
/// If it is neither.
pub(super) fn truth(name: &str, text: &str) -> std::result::Result<Option<bool>, String> {
    match text.trim_ascii().to_ascii_lowercase().as_str() {
        "" => Ok(None),
        "true" | "1" => Ok(Some(true)),
        "false" | "0" => Ok(Some(false)),
        _ => Err(format!("{name} is {text:?}; write true or false")),
    }
}

/// Whether an attribute says yes.
pub(super) fn is_true(text: &str) -> bool {
    matches!(text.trim_ascii(), "true" | "1")
}

/// A reader of the elements of a block.
pub(super) fn elements(text: &str) -> XmlReader<&[u8]> {
    let mut reader = XmlReader::from_str(text);
    let config = reader.config_mut();
    // A block begins and ends within elements.
    (config.check_end_names, config.allow_unmatched_ends) = (false, true);
    reader
}

/// The text of a block, or where it is none.
pub(super) fn utf8(bytes: &[u8]) -> std::result::Result<&str, (usize, &'static str)> {
    if let Some(at) = memchr::memchr(0, bytes) {
        return Err((at, "the file has a zero byte, so it is no XML"));
    }
    std::str::from_utf8(bytes)
        .map_err(|error| (error.valid_up_to(), "the text is not UTF-8; convert it, for example with iconv"))
}

/// The value of an attribute.
///
/// # Errors
/// An entity that is not known.
pub(super) fn attribute_value<'a>(
    attribute: &quick_xml::events::attributes::Attribute<'a>,
) -> std::result::Result<Cow<'a, str>, String> {
    attribute.normalized_value(XmlVersion::Implicit1_0).map_err(|error| entity(&error.to_string()))
}

/// What stands for `&name;`.
///
/// # Errors
/// If XML itself does not define it.
pub(super) fn reference(found: &BytesRef<'_>) -> std::result::Result<char, String> {
    match found.resolve_char_ref() {
        Ok(Some(character)) => return Ok(character),
        Ok(None) => {}
        Err(error) => return Err(entity(&error.to_string())),
    }
    let name: &str = found;
    quick_xml::escape::resolve_predefined_entity(name)
        .and_then(|text| text.chars().next())
        .ok_or_else(|| entity(&format!("&{name};")))
}

fn entity(found: &str) -> String {
    format!(
        "entity not understood: {found}; only &lt; &gt; &amp; &quot; &apos; and numbers of characters are read"
    )
}

/// Looks at the declaration of a document and at its type.
///
/// # Errors
/// If it is in another encoding, or declares elements or entities.
pub(super) fn check_prolog(event: &Event<'_>) -> std::result::Result<(), String> {
    let refused = match event {
        Event::Decl(declaration) => {
            let encoding = declaration.encoding().and_then(std::result::Result::ok);
            encoding.and_then(|name| refuse_encoding(&name))
        }
        Event::DocType(text) => refuse_doctype(text).map(str::to_owned),
        _ => None,
    };
    refused.map_or(Ok(()), Err)
}

/// Why a document type is refused; `None` if it only names one.
fn refuse_doctype(text: &str) -> Option<&'static str> {
    text.contains('[').then_some(
        "the document type declares elements or entities, which are not read; remove the declarations between [ and ]",
    )
}

/// Why an encoding is refused; `None` if it is UTF-8.
fn refuse_encoding(name: &str) -> Option<String> {
    let is_utf8 = ["utf-8", "utf8", "us-ascii", "ascii"].iter().any(|known| name.eq_ignore_ascii_case(known));
    (!is_utf8).then(|| {
        format!("the file is in {name}; convert it with: iconv -f {name} -t UTF-8, and change the first line")
    })
}

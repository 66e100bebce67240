//! Lists as NetworkX writes them: edges with dictionaries, and adjacency lists on one line or on several.

mod literal;

use std::collections::HashMap;
use std::sync::Arc;

use esker_format::{LogicalType, Result};
use esker_graph::Message;

use self::literal::{Pairs, dictionary};
use super::choose::{EdgeAttribute, Shown, choose, schema_of, unknown_attribute, unread_note};
use super::dot::DOT;
use super::pajek::PAJEK;
use super::rows::{Elements, Notices, ReadEdge, Rows};
use super::value::Attribute;
use crate::read::format::ReadOptions;
use crate::read::head::InputHead;
use crate::read::input::Input;
use crate::read::input_format::{Choices, InputFormat, OpenedInput, one, without_mark};
use crate::read::source::{BlockParser, EdgeBatch, IdKind, InputBlock, Reader, Schema};
use crate::read::typed;
use crate::text::blocks::{LineBlocks, PartialInput, input_error};

/// Lists of NetworkX.
pub(crate) static NETWORKX: InputFormat = InputFormat {
    endings: &["adjlist"],
    // Comments and braces of other formats may look like dictionaries.
    begins: |head| {
        list_of(without_mark(head)).is_some() && ![&PAJEK, &DOT].iter().any(|other| (other.begins)(head))
    },
    takes_defaults: true,
    ..InputFormat::new("networkx", "NetworkX list", Choices::Columns, open)
};

/// Lines that are looked at.
const SAMPLE_LINES: usize = 1000;

/// What a line holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ListKind {
    /// Two vertices and a dictionary.
    Edges,
    /// A vertex and its neighbours.
    Neighbours,
    /// A vertex and the number of its neighbours, of which each has a line with a dictionary.
    Groups,
}

/// Lines that are no comments, with the place where each begins.
fn lines(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut at = 0;
    let all = text.split(|byte| *byte == b'\n').map(move |line| {
        let start = at;
        at += line.len() + 1;
        (start, line.trim_ascii())
    });
    all.filter(|(_, line)| !line.is_empty() && line[0] != b'#')
}

/// The first two words of a line, and what stands behind each.
fn words(line: &[u8]) -> [&[u8]; 4] {
    let split = |text: &[u8]| -> (usize, usize) {
        let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
        let next = text[end..].iter().position(|byte| !byte.is_ascii_whitespace());
        (end, next.map_or(text.len(), |next| end + next))
    };
    let (end, next) = split(line);
    let rest = &line[next..];
    let (second_end, second_next) = split(rest);
    [&line[..end], rest, &rest[..second_end], &rest[second_next..]]
}

fn is_dictionary(text: &[u8]) -> bool {
    text.first() == Some(&b'{') && text.last() == Some(&b'}')
}

/// Refuses ids that hold blanks, and lists in which something else separates the ids.
///
/// # Errors
/// What they hold, in words.
fn check_ids(head: &[u8], kind: ListKind) -> std::result::Result<(), String> {
    let content = || lines(head).map(|(_, line)| line).take(SAMPLE_LINES);
    let is_open = |word: &[u8]| word.starts_with(b"(") && !word.ends_with(b")");
    if content().any(|line| line.split(u8::is_ascii_whitespace).take(2).any(is_open)) {
        return Err(
            "the ids hold blanks, as tuples do; write the graph as GraphML, or call its vertices otherwise"
                .to_owned(),
        );
    }
    let with = |sign: u8| content().filter(|line| line.contains(&sign)).count() * 2;
    let other = [b';', b',', b'|'].into_iter().find(|sign| with(*sign) > content().count());
    match (kind, other) {
        (ListKind::Neighbours, Some(sign)) => Err(format!(
            "'{}' stands in most lines where blanks separate the ids; write the list without a delimiter of its own",
            char::from(sign)
        )),
        _ => Ok(()),
    }
}

/// Which list begins so; `None` if nothing says that it is one of NetworkX.
fn list_of(head: &[u8]) -> Option<ListKind> {
    let is_cut = !head.ends_with(b"\n");
    let mut content: Vec<&[u8]> = lines(head).map(|(_, line)| line).take(SAMPLE_LINES + 1).collect();
    if is_cut && content.len() > 1 {
        content.pop();
    }
    let [_, _, _, behind] = words(content.first()?);
    if is_dictionary(behind) {
        return Some(ListKind::Edges);
    }
    // Three comments, of which the second is the time.
    let mut comments = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let starts = |line: Option<&[u8]>, with: &[u8]| line.is_some_and(|line| line.starts_with(with));
    let is_signed =
        starts(comments.next(), b"#") && starts(comments.next(), b"# GMT ") && starts(comments.next(), b"#");
    if !is_signed {
        return None;
    }
    let has_dictionaries = content.iter().any(|line| is_dictionary(words(line)[1]));
    let are_empty = content.iter().all(|line| words(line)[1] == b"0");
    Some(if has_dictionaries || are_empty { ListKind::Groups } else { ListKind::Neighbours })
}

struct ListReader {
    schema: Schema,
    blocks: LineBlocks,
    parser: Arc<ListParser>,
    /// Of groups: the vertex whose neighbours are not all read, and how many are left.
    source: Vec<u8>,
    left: u64,
}

struct ListParser {
    elements: Elements,
    kind: ListKind,
    /// Names of attributes that are not kept.
    left_out: Vec<String>,
}

fn open(inputs: &[Input], head: InputHead, options: &ReadOptions) -> Result<OpenedInput> {
    let input = one(inputs, NETWORKX.title)?;
    let path = input.path();
    let kind = list_of(without_mark(&head.bytes)).unwrap_or(ListKind::Neighbours);
    check_ids(without_mark(&head.bytes), kind).map_err(|reason| input_error(&path, None, b"", reason))?;
    let (ids, attributes) = sample(without_mark(&head.bytes), kind);
    let mut chosen = choose(NETWORKX.title, attributes, true, options)?;
    let text_ids = chosen.has_text_ids(false, &ids, options);
    let ids = if text_ids { IdKind::Text } else { IdKind::Int };
    let schema = schema_of(NETWORKX.name, ids, &chosen, None, input);
    let skip_bytes = head.bytes.len() - without_mark(&head.bytes).len();
    let part = PartialInput {
        input: input.clone(),
        skip_bytes,
        skip_lines: 0,
        quoted: None,
        opened: Some((head.stream, head.bytes)),
    };
    let blocks = LineBlocks::new(vec![part], options);
    let elements = Elements {
        path,
        text_ids,
        directed: true,
        is_undirected_anyway: options.directed == Some(false),
        properties: chosen.properties,
        rejected: chosen.rejected,
        ids_can_become_texts: chosen.ids_can_become_texts,
        odd_id: chosen.odd_id,
        notices: Notices::default(),
    };
    let note = unread_note(&chosen.unread);
    let parser = Arc::new(ListParser { elements, kind, left_out: chosen.left_out });
    let reader = ListReader { schema, blocks, parser, source: Vec::new(), left: 0 };
    let mut opened = OpenedInput::titled(Box::new(reader), inputs, &NETWORKX);
    opened.notes.extend(note);
    Ok(opened)
}

/// The ids of the first lines, and the attributes of their edges.
fn sample(head: &[u8], kind: ListKind) -> (Vec<String>, Vec<EdgeAttribute>) {
    let end = memchr::memrchr(b'\n', head).map_or(head.len(), |end| end + 1);
    let (mut ids, mut attributes) = (Vec::new(), Vec::<EdgeAttribute>::new());
    let mut texts: HashMap<String, Vec<Vec<u8>>> = HashMap::new();
    for (_, line) in lines(&head[..end]).take(SAMPLE_LINES) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let [first, behind, second, rest] = words(line);
        ids.push(text(first));
        let pairs = match kind {
            ListKind::Neighbours => {
                ids.extend(behind.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).map(text));
                continue;
            }
            ListKind::Edges => {
                ids.push(text(second));
                rest
            }
            ListKind::Groups => behind,
        };
        let Ok(Ok(pairs)) = std::str::from_utf8(pairs).map(dictionary) else { continue };
        for (name, value) in pairs {
            let shown = match value {
                None => continue,
                Some(Attribute::Boolean(_)) => Shown::Typed(LogicalType::Boolean.into()),
                Some(Attribute::Text(text)) => {
                    texts.entry(name.clone().into_owned()).or_default().push(text.as_bytes().to_vec());
                    Shown::Texts
                }
                Some(_) => Shown::Numbers,
            };
            match attributes.iter_mut().find(|known| known.name == name) {
                None => attributes.push(EdgeAttribute {
                    name: name.into_owned(),
                    shown,
                    default: None,
                    is_weight: false,
                }),
                Some(known) if known.shown != shown => known.shown = Shown::Texts,
                Some(_) => {}
            }
        }
    }
    for attribute in attributes.iter_mut().filter(|attribute| attribute.shown == Shown::Texts) {
        // Times are texts in quotes, as in a table.
        let values = texts.get(&attribute.name).into_iter().flatten().map(Vec::as_slice);
        if let Some(own) = typed::sniff(values) {
            attribute.shown = Shown::Typed(own.into());
        }
    }
    (ids, attributes)
}

impl Reader for ListReader {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn parser(&self) -> Arc<dyn BlockParser> {
        Arc::clone(&self.parser) as _
    }

    fn next_block(&mut self) -> Result<Option<InputBlock>> {
        if self.parser.kind != ListKind::Groups {
            return self.blocks.next_block();
        }
        let Some(mut block) = self.blocks.next_block()? else {
            if self.left == 0 {
                return Ok(None);
            }
            let source = String::from_utf8_lossy(&self.source);
            let reason =
                format!("the file is cut short: {} more neighbours of {source:?} belong here", self.left);
            return Err(input_error(&self.parser.elements.path, None, b"", reason));
        };
        self.go_on(&mut block);
        Ok(Some(block))
    }
}

impl ListReader {
    /// Puts the vertex whose neighbours go on before them, and notes whose neighbours go on behind the block.
    fn go_on(&mut self, block: &mut InputBlock) {
        let begin = match self.left {
            0 => Vec::new(),
            left => [&self.source[..], format!(" {left}\n").as_bytes()].concat(),
        };
        for (_, line) in lines(&block.bytes) {
            match self.left.checked_sub(1) {
                Some(left) => self.left = left,
                None => {
                    self.left = count_of(line).unwrap_or(0);
                    self.source.clear();
                    self.source.extend_from_slice(words(line)[0]);
                }
            }
        }
        if !begin.is_empty() {
            block.first_line = block.first_line.saturating_sub(1);
            block.bytes.splice(0..0, begin);
        }
    }
}

/// How many neighbours follow a vertex.
fn count_of(line: &[u8]) -> Option<u64> {
    std::str::from_utf8(words(line)[1]).ok()?.parse().ok()
}

impl BlockParser for ListParser {
    fn parse(&self, block: InputBlock) -> Result<EdgeBatch> {
        let mut rows = Rows::new(&self.elements, &block.bytes, block.first_line);
        let text = match std::str::from_utf8(&block.bytes) {
            Ok(text) => text,
            Err(error) => {
                let reason = "the text is not UTF-8; convert it, for example with iconv";
                return Err(rows.broken(error.valid_up_to(), reason));
            }
        };
        match self.kind {
            ListKind::Edges => {
                for (at, line) in lines(text.as_bytes()) {
                    let [source, _, target, pairs] = words(line).map(as_text);
                    self.edge(&mut rows, at, source, target, pairs)?;
                }
            }
            ListKind::Neighbours => {
                for (at, line) in lines(text.as_bytes()) {
                    let [source, behind, ..] = words(line).map(as_text);
                    let mut neighbours = behind.split_ascii_whitespace().peekable();
                    if neighbours.peek().is_none() {
                        rows.vertex(at, Some(&Attribute::Text(source.into())), &[]);
                    }
                    for target in neighbours {
                        self.edge(&mut rows, at, source, target, "{}")?;
                    }
                }
            }
            ListKind::Groups => self.groups(&mut rows, text)?,
        }
        rows.finish(block.input_bytes)
    }

    fn warnings(&self) -> Vec<Message> {
        self.elements.told()
    }
}

/// A part of a text that was cut at blanks.
fn as_text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

impl ListParser {
    fn groups(&self, rows: &mut Rows<'_>, text: &str) -> Result<()> {
        let (mut source, mut left) = ("", 0_u64);
        for (at, line) in lines(text.as_bytes()) {
            let [first, behind, ..] = words(line).map(as_text);
            if left > 0 {
                self.edge(rows, at, source, first, behind)?;
                left -= 1;
                continue;
            }
            let Some(count) = count_of(line) else {
                return Err(rows.broken(at, "the number of neighbours belongs behind the vertex"));
            };
            (source, left) = (first, count);
            if count == 0 {
                rows.vertex(at, Some(&Attribute::Text(source.into())), &[]);
            }
        }
        Ok(())
    }

    fn edge(&self, rows: &mut Rows<'_>, at: usize, source: &str, target: &str, pairs: &str) -> Result<()> {
        let pairs: Pairs<'_> = match dictionary(if pairs.is_empty() { "{}" } else { pairs }) {
            Ok(pairs) => pairs,
            Err(reason) => {
                rows.reject(at, reason);
                return Ok(());
            }
        };
        let properties = &self.elements.properties;
        let mut values: Vec<Option<Attribute<'_>>> = vec![None; properties.len()];
        for (name, value) in pairs {
            match properties.iter().position(|property| property.name == name) {
                Some(place) => values[place] = value,
                None if value.is_none() || self.left_out.iter().any(|other| *other == name) => {}
                None => {
                    rows.reject(at, unknown_attribute(&name));
                    return Ok(());
                }
            }
        }
        let end = |text: &str| (!text.is_empty()).then(|| Attribute::Text(text.to_owned().into()));
        let (source, target) = (end(source), end(target));
        let (source, target) = (source.as_ref(), target.as_ref());
        rows.edge(at, &ReadEdge { source, target, directed: None, is_mutual: false, values: &values })
    }
}

//! GML: keys and values, `graph [ node [ id 1 ] edge [ source 1 target 2 ] ]`.
//!
//! M. Himsolt, "GML: A portable Graph File Format", University of Passau, 1997.

use esker_format::Result;

use super::choose::number_of;
use super::document::{self, DocumentFormat, Edge, NamedValues, Sink, Syntax};
use super::entities::decoded;
use super::rows::Notices;
use super::types::Types;
use super::value::Attribute;
use crate::read::format::ReadOptions;
use crate::read::head::InputHead;
use crate::read::input::Input;
use crate::read::input_format::{Choices, InputFormat, OpenedInput, without_mark};

/// GML documents.
pub(crate) static GML: InputFormat = InputFormat {
    endings: &["gml"],
    begins: |head| begins(without_mark(head)),
    always_begins_so: true,
    takes_defaults: true,
    ..InputFormat::new("gml", "GML document", Choices::Columns, open)
};

pub(super) static DOCUMENT: DocumentFormat = DocumentFormat {
    input: &GML,
    syntax: || Box::new(GmlSyntax::default()),
    names: &["label", "name"],
    are_values_untyped: false,
    directed: Some(false),
    default_weight: false,
};

/// Lines before the graph that are looked at.
const LINES_BEFORE: usize = 8;

/// Whether a text begins with a graph, perhaps behind who made it.
fn begins(text: &[u8]) -> bool {
    let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let mut lines = lines.filter(|line| !line.is_empty() && line[0] != b'#').take(LINES_BEFORE).peekable();
    while let Some(line) = lines.next() {
        let end = line.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(line.len());
        let (word, rest) = (line[..end].to_ascii_lowercase(), line[end..].trim_ascii());
        match word.as_slice() {
            b"graph" if rest.is_empty() => return lines.peek().is_some_and(|next| next.starts_with(b"[")),
            b"graph" => return rest.starts_with(b"["),
            b"creator" | b"version" | b"comment" => {}
            _ => return false,
        }
    }
    false
}

fn open(inputs: &[Input], head: InputHead, options: &ReadOptions) -> Result<OpenedInput> {
    document::open(inputs, head, options, &DOCUMENT)
}

/// Why a text cannot be read on.
enum GmlStop {
    /// More of it is needed.
    More,
    Broken(usize, &'static str),
}

enum GmlToken<'a> {
    Word(&'a str),
    Text(&'a str),
    Open,
    Close,
    End,
}

struct GmlTokens<'a> {
    text: &'a str,
    at: usize,
    is_last: bool,
    types: Option<Types>,
}

impl<'a> GmlTokens<'a> {
    /// Goes behind blanks and comments.
    fn skip(&mut self) -> std::result::Result<(), GmlStop> {
        loop {
            let rest = &self.text[self.at..];
            self.at += rest.len() - rest.trim_ascii_start().len();
            if !self.text[self.at..].starts_with('#') {
                return Ok(());
            }
            let rest = &self.text[self.at..];
            let end = match rest.find('\n') {
                Some(end) => end,
                None if self.is_last => rest.len(),
                None => return Err(GmlStop::More),
            };
            self.types = self.types.take().or_else(|| Types::of_comment(&rest[1..end]));
            self.at += end;
        }
    }

    fn next(&mut self) -> std::result::Result<GmlToken<'a>, GmlStop> {
        self.skip()?;
        let (start, rest) = (self.at, &self.text[self.at..]);
        let Some(first) = rest.bytes().next() else {
            return if self.is_last { Ok(GmlToken::End) } else { Err(GmlStop::More) };
        };
        let (token, length) = match first {
            b'[' => (GmlToken::Open, 1),
            b']' => (GmlToken::Close, 1),
            b'"' => match rest[1..].find('"') {
                Some(end) => (GmlToken::Text(&rest[1..=end]), end + 2),
                None if self.is_last => {
                    return Err(GmlStop::Broken(start, "the quotes of a text do not end"));
                }
                None => return Err(GmlStop::More),
            },
            _ => {
                let is_end = |sign: char| sign.is_ascii_whitespace() || matches!(sign, '[' | ']' | '"' | '#');
                match rest.find(is_end) {
                    Some(end) => (GmlToken::Word(&rest[..end]), end),
                    None if self.is_last => (GmlToken::Word(rest), rest.len()),
                    None => return Err(GmlStop::More),
                }
            }
        };
        self.at = start + length;
        Ok(token)
    }

    /// Goes behind the list that was opened.
    fn skip_list(&mut self) -> std::result::Result<(), GmlStop> {
        let (start, mut depth) = (self.at, 1_usize);
        while depth > 0 {
            match self.next()? {
                GmlToken::Open => depth += 1,
                GmlToken::Close => depth -= 1,
                GmlToken::End => {
                    return Err(GmlStop::Broken(start, "the file is cut short: a list is not closed"));
                }
                GmlToken::Word(_) | GmlToken::Text(_) => {}
            }
        }
        Ok(())
    }

    /// The keys and values of the list that was opened; how many lists are in it.
    fn fields(&mut self) -> std::result::Result<(NamedValues<'a>, usize), GmlStop> {
        let (start, mut fields, mut lists) = (self.at, NamedValues::new(), 0);
        loop {
            let at = self.at;
            let key = match self.next()? {
                GmlToken::Word(key) => key,
                GmlToken::Close => return Ok((fields, lists)),
                GmlToken::End => {
                    return Err(GmlStop::Broken(start, "the file is cut short: a list is not closed"));
                }
                GmlToken::Open | GmlToken::Text(_) => {
                    return Err(GmlStop::Broken(at, "a key belongs before the value"));
                }
            };
            match self.next()? {
                GmlToken::Word(word) => fields.push((key.into(), number_of(word, false))),
                GmlToken::Text(text) => fields.push((key.into(), Some(Attribute::Text(decoded(text))))),
                GmlToken::Open => {
                    lists += 1;
                    self.skip_list()?;
                }
                GmlToken::Close | GmlToken::End => return Err(GmlStop::Broken(at, "the key has no value")),
            }
        }
    }
}

#[derive(Default)]
struct GmlSyntax {
    is_in_graph: bool,
    /// Whether a graph has begun.
    has_graph: bool,
    /// Whether edges have keys that tell parallel ones apart, as NetworkX writes them.
    has_keys: bool,
}

/// What a text has at a place.
enum GmlStatement<'a> {
    Vertex(NamedValues<'a>),
    Edge(NamedValues<'a>),
    Directed(bool),
    Multigraph,
    BeginGraph,
    EndGraph,
    Other,
    End,
}

impl GmlSyntax {
    fn take_edge(&self, at: usize, mut fields: NamedValues<'_>, sink: &mut dyn Sink) -> Result<()> {
        if self.has_keys && remove(&mut fields, "key").is_some() {
            Notices::add(&sink.notices().edge_ids);
        }
        let ends = [remove(&mut fields, "source"), remove(&mut fields, "target")];
        if let [Some(source), Some(target)] = ends {
            return sink.edge(at, &Edge { source, target, directed: None, fields });
        }
        sink.reject(at, "the edge has no source and target".into());
        Ok(())
    }

    fn statement<'a>(
        &self,
        tokens: &mut GmlTokens<'a>,
        notices: &Notices,
    ) -> std::result::Result<GmlStatement<'a>, GmlStop> {
        let at = tokens.at;
        let key = match tokens.next()? {
            GmlToken::Word(key) => key,
            GmlToken::Close if self.is_in_graph => return Ok(GmlStatement::EndGraph),
            GmlToken::End if self.is_in_graph => {
                return Err(GmlStop::Broken(at, "the file is cut short: the graph is not closed"));
            }
            GmlToken::End => return Ok(GmlStatement::End),
            _ => return Err(GmlStop::Broken(at, "a key belongs here")),
        };
        let is = |name: &str| key.eq_ignore_ascii_case(name);
        match tokens.next()? {
            GmlToken::Open if is("graph") && !self.is_in_graph => Ok(GmlStatement::BeginGraph),
            GmlToken::Open if self.is_in_graph && (is("node") || is("edge")) => {
                let (fields, lists) = tokens.fields()?;
                if lists > 0 {
                    Notices::add(&notices.graphics);
                }
                Ok(if is("node") { GmlStatement::Vertex(fields) } else { GmlStatement::Edge(fields) })
            }
            GmlToken::Open => {
                tokens.skip_list()?;
                if self.is_in_graph {
                    Notices::add(&notices.of_graph);
                }
                Ok(GmlStatement::Other)
            }
            GmlToken::Word(word) if self.is_in_graph && is("directed") => match word {
                "0" => Ok(GmlStatement::Directed(false)),
                "1" => Ok(GmlStatement::Directed(true)),
                _ => Err(GmlStop::Broken(at, "directed is 0 or 1")),
            },
            GmlToken::Word("1") if self.is_in_graph && is("multigraph") => Ok(GmlStatement::Multigraph),
            GmlToken::Word(_) | GmlToken::Text(_) => {
                if self.is_in_graph && !is("multigraph") {
                    Notices::add(&notices.of_graph);
                }
                Ok(GmlStatement::Other)
            }
            GmlToken::Close | GmlToken::End => Err(GmlStop::Broken(at, "the key has no value")),
        }
    }
}

impl Syntax for GmlSyntax {
    fn take(&mut self, text: &str, is_last: bool, sink: &mut dyn Sink) -> Result<usize> {
        let mut tokens = GmlTokens { text, at: 0, is_last, types: None };
        let mut used = 0;
        loop {
            let read = tokens.skip().and_then(|()| {
                let at = tokens.at;
                self.statement(&mut tokens, sink.notices()).map(|statement| (at, statement))
            });
            let (at, statement) = match read {
                Ok(read) => read,
                Err(GmlStop::More) => return Ok(used),
                Err(GmlStop::Broken(at, reason)) => return Err(sink.broken(at, reason.into())),
            };
            if let Some(types) = tokens.types.take() {
                sink.told().types = Some(types);
            }
            match statement {
                GmlStatement::Vertex(fields) => take_vertex(at, fields, sink)?,
                GmlStatement::Edge(fields) => self.take_edge(at, fields, sink)?,
                GmlStatement::Directed(directed) => {
                    let told = sink.told();
                    if told.directed.is_some_and(|before| before != directed) {
                        let reason =
                            "another graph of the file has the other direction; import one at a time";
                        return Err(sink.broken(at, reason.into()));
                    }
                    told.directed = Some(directed);
                }
                GmlStatement::BeginGraph => {
                    self.is_in_graph = true;
                    if std::mem::replace(&mut self.has_graph, true) {
                        Notices::add(&sink.notices().nested);
                    }
                }
                GmlStatement::EndGraph => self.is_in_graph = false,
                GmlStatement::Multigraph => self.has_keys = true,
                GmlStatement::Other => {}
                GmlStatement::End => return Ok(text.len()),
            }
            used = tokens.at;
        }
    }
}

/// Takes a value out of fields; case does not tell keys apart.
fn remove<'a>(fields: &mut NamedValues<'a>, name: &str) -> Option<Attribute<'a>> {
    let exact = fields.iter().position(|(own, _)| own == name);
    let place = exact.or_else(|| fields.iter().position(|(own, _)| own.eq_ignore_ascii_case(name)))?;
    fields.remove(place).1
}

fn take_vertex(at: usize, mut fields: NamedValues<'_>, sink: &mut dyn Sink) -> Result<()> {
    match remove(&mut fields, "id") {
        Some(id) => sink.vertex(at, &id, &fields),
        None => {
            sink.reject(at, "the node has no id".into());
            Ok(())
        }
    }
}

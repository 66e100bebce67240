//! Graphviz DOT: `graph { a -- b [weight=2] }`, `digraph { a -> b -> c }`, `strict` or not.
//!
//! E. Gansner, S. North, "An open graph visualization system and its applications to software engineering",
//! Software: Practice and Experience, 2000.

mod tokens;

use std::borrow::Cow;

use esker_format::Result;

use self::tokens::{Stop, Token, Tokens};
use super::document::{self, DocumentFormat, Edge, NamedValues, Sink, Syntax};
use super::rows::Notices;
use super::value::Attribute;
use crate::read::format::ReadOptions;
use crate::read::head::InputHead;
use crate::read::input::Input;
use crate::read::input_format::{Choices, InputFormat, OpenedInput, without_mark};

/// Graphviz DOT.
pub(crate) static DOT: InputFormat = InputFormat {
    aliases: &["graphviz"],
    endings: &["dot", "gv"],
    begins: |head| begins(without_mark(head)),
    always_begins_so: true,
    takes_defaults: true,
    ..InputFormat::new("dot", "Graphviz DOT graph", Choices::Columns, open)
};

static DOCUMENT: DocumentFormat = DocumentFormat {
    input: &DOT,
    syntax: || Box::new(DotSyntax::default()),
    names: &[],
    are_values_untyped: true,
    directed: None,
    default_weight: false,
};

/// The most edges of one statement between groups of vertices.
const PRODUCT_MAX: usize = 1 << 16;
/// The most subgraphs within each other.
const DEPTH_MAX: usize = 256;

/// Whether a text begins with `graph` or `digraph`, a name or none, and a brace.
fn begins(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    let mut tokens = Tokens::new(&text, true);
    let mut next = || tokens.next().ok();
    let mut token = next();
    if matches!(&token, Some(Token::Id(id)) if id.is_keyword("strict")) {
        token = next();
    }
    let is_graph =
        matches!(&token, Some(Token::Id(id)) if id.is_keyword("graph") || id.is_keyword("digraph"));
    is_graph
        && match next() {
            Some(Token::Id(_)) => matches!(next(), Some(Token::Sign('{'))),
            token => matches!(token, Some(Token::Sign('{'))),
        }
}

fn open(inputs: &[Input], head: InputHead, options: &ReadOptions) -> Result<OpenedInput> {
    document::open(inputs, head, options, &DOCUMENT)
}

#[derive(Default)]
struct DotSyntax {
    directed: bool,
    /// For each subgraph that is open, and the graph: the values that edges have unless they say otherwise.
    defaults: Vec<NamedValues<'static>>,
    is_done: bool,
}

/// What a text has at a place.
enum Statement<'a> {
    Begin {
        directed: bool,
    },
    BeginSubgraph,
    EndGraph,
    Vertex(Cow<'a, str>, NamedValues<'a>),
    /// Edges from each vertex of a group to each of the next.
    Edges(Vec<Vec<Cow<'a, str>>>, NamedValues<'a>),
    EdgeDefaults(NamedValues<'a>),
    VertexDefaults,
    GraphValue,
    Nothing,
    End,
}

type Read<T> = std::result::Result<T, Stop>;

impl Syntax for DotSyntax {
    fn take(&mut self, text: &str, is_last: bool, sink: &mut dyn Sink) -> Result<usize> {
        let mut tokens = Tokens::new(text, is_last);
        let mut used = 0;
        loop {
            let read = tokens.skip().and_then(|()| {
                let at = tokens.at;
                self.statement(&mut tokens).map(|statement| (at, statement))
            });
            let (at, statement) = match read {
                Ok(read) => read,
                Err(Stop::More) => return Ok(used),
                Err(Stop::Broken(at, reason)) => return Err(sink.broken(at, reason.into())),
            };
            if let Some(types) = tokens.types.take() {
                sink.told().types = Some(types);
            }
            for (count, counter) in [
                (std::mem::take(&mut tokens.ports), &sink.notices().ports),
                (std::mem::take(&mut tokens.html), &sink.notices().graphics),
            ] {
                (0..count).for_each(|_| Notices::add(counter));
            }
            if matches!(statement, Statement::End) {
                return Ok(text.len());
            }
            self.take_statement(at, statement, sink)?;
            used = tokens.at;
        }
    }
}

impl DotSyntax {
    fn take_statement(&mut self, at: usize, statement: Statement<'_>, sink: &mut dyn Sink) -> Result<()> {
        match statement {
            Statement::Begin { directed } => {
                self.directed = directed;
                self.defaults.push(NamedValues::new());
                sink.told().directed = Some(directed);
            }
            Statement::BeginSubgraph => {
                if self.defaults.len() > DEPTH_MAX {
                    let reason = format!("more than {DEPTH_MAX} subgraphs stand within each other");
                    return Err(sink.broken(at, reason.into()));
                }
                self.defaults.extend(self.defaults.last().cloned());
            }
            Statement::EndGraph => {
                self.defaults.pop();
                self.is_done = self.defaults.is_empty();
            }
            Statement::Vertex(id, fields) => return sink.vertex(at, &Attribute::Text(id), &fields),
            Statement::Edges(groups, fields) => return self.edges(at, &groups, fields, sink),
            Statement::EdgeDefaults(fields) => {
                for (name, value) in fields {
                    let name = Cow::Owned(name.into_owned());
                    let value = value.map(|value| {
                        let text = String::from_utf8_lossy(&value.text()).into_owned();
                        Attribute::Text(text.into())
                    });
                    if let Some(defaults) = self.defaults.last_mut() {
                        set(defaults, name, value);
                    }
                }
            }
            Statement::VertexDefaults => Notices::add(&sink.notices().defaults),
            Statement::GraphValue => Notices::add(&sink.notices().of_graph),
            Statement::Nothing | Statement::End => {}
        }
        Ok(())
    }

    fn edges(
        &self,
        at: usize,
        groups: &[Vec<Cow<'_, str>>],
        own: NamedValues<'_>,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        let mut fields: NamedValues<'_> = self.defaults.last().cloned().unwrap_or_default();
        own.into_iter().for_each(|(name, value)| set(&mut fields, name, value));
        for pair in groups.windows(2) {
            if pair[0].len().saturating_mul(pair[1].len()) > PRODUCT_MAX.max(pair[0].len() + pair[1].len()) {
                let reason =
                    format!("the groups of vertices have more than {PRODUCT_MAX} edges between them");
                return Err(sink.broken(at, reason.into()));
            }
            for source in &pair[0] {
                for target in &pair[1] {
                    let [source, target] = [source, target].map(|id| Attribute::Text(id.clone()));
                    let fields = fields.clone();
                    sink.edge(at, &Edge { source, target, directed: Some(self.directed), fields })?;
                }
            }
        }
        Ok(())
    }

    fn statement<'a>(&self, tokens: &mut Tokens<'a>) -> Read<Statement<'a>> {
        let at = tokens.at;
        let token = tokens.next()?;
        if self.defaults.is_empty() {
            return match token {
                Token::End if self.is_done => Ok(Statement::End),
                _ if self.is_done => {
                    Err(Stop::Broken(at, "the file has another graph; write it to a file of its own"))
                }
                token => begin(token, at, tokens),
            };
        }
        match token {
            Token::End => Err(Stop::Broken(at, "the file is cut short: a brace is not closed")),
            Token::Sign('}') => {
                if self.defaults.len() > 1 && matches!(tokens.peek()?, Token::Edge(_)) {
                    let reason =
                        "an edge that leaves a subgraph is not read; write the edges of its vertices";
                    return Err(Stop::Broken(at, reason));
                }
                Ok(Statement::EndGraph)
            }
            Token::Sign(';' | ',') => Ok(Statement::Nothing),
            Token::Sign('{') => Ok(Statement::BeginSubgraph),
            Token::Id(id) if id.is_keyword("subgraph") => {
                begin_subgraph(at, tokens)?;
                Ok(Statement::BeginSubgraph)
            }
            Token::Id(id) if ["graph", "node", "edge"].iter().any(|word| id.is_keyword(word)) => {
                let fields = attributes(tokens)?;
                Ok(match () {
                    () if fields.is_empty() => Statement::Nothing,
                    () if id.is_keyword("edge") => Statement::EdgeDefaults(fields),
                    () if id.is_keyword("node") => Statement::VertexDefaults,
                    () => Statement::GraphValue,
                })
            }
            Token::Id(id) => {
                if matches!(tokens.peek()?, Token::Sign('=')) {
                    tokens.next()?;
                    tokens.value()?;
                    return Ok(Statement::GraphValue);
                }
                port(tokens)?;
                self.vertex_or_edges(at, id.text, tokens)
            }
            _ => Err(Stop::Broken(at, "a vertex belongs here")),
        }
    }

    fn vertex_or_edges<'a>(
        &self,
        at: usize,
        first: Cow<'a, str>,
        tokens: &mut Tokens<'a>,
    ) -> Read<Statement<'a>> {
        let mut groups = vec![vec![first]];
        while let Token::Edge(directed) = tokens.peek()? {
            tokens.next()?;
            if directed != self.directed {
                return Err(Stop::Broken(at, "edges are -> in a digraph, and -- in a graph"));
            }
            let at = tokens.at;
            groups.push(match tokens.next()? {
                Token::Id(id) if id.is_keyword("subgraph") => {
                    begin_subgraph(at, tokens)?;
                    group(tokens)?
                }
                Token::Sign('{') => group(tokens)?,
                Token::Id(id) => {
                    port(tokens)?;
                    vec![id.text]
                }
                _ => return Err(Stop::Broken(at, "a vertex belongs behind the edge")),
            });
        }
        let fields = attributes(tokens)?;
        if groups.len() > 1 {
            return Ok(Statement::Edges(groups, fields));
        }
        let id = groups.pop().and_then(|mut group| group.pop()).unwrap_or_default();
        Ok(Statement::Vertex(id, fields))
    }
}

/// Sets a value, in place of another.
fn set<'a>(fields: &mut NamedValues<'a>, name: Cow<'a, str>, value: Option<Attribute<'a>>) {
    match fields.iter_mut().find(|(own, _)| *own == name) {
        Some((_, own)) => *own = value,
        None => fields.push((name, value)),
    }
}

/// Reads the head of the graph.
fn begin<'a>(mut token: Token<'a>, at: usize, tokens: &mut Tokens<'a>) -> Read<Statement<'a>> {
    let broken = Err(Stop::Broken(at, "a DOT graph begins with graph { or digraph {"));
    if matches!(&token, Token::Id(id) if id.is_keyword("strict")) {
        token = tokens.next()?;
    }
    let directed = match &token {
        Token::Id(id) if id.is_keyword("digraph") => true,
        Token::Id(id) if id.is_keyword("graph") => false,
        _ => return broken,
    };
    let mut token = tokens.next()?;
    if matches!(token, Token::Id(_)) {
        token = tokens.next()?;
    }
    match token {
        Token::Sign('{') => Ok(Statement::Begin { directed }),
        _ => broken,
    }
}

/// Goes behind the name of a subgraph and its brace.
fn begin_subgraph(at: usize, tokens: &mut Tokens<'_>) -> Read<()> {
    let mut token = tokens.next()?;
    if matches!(token, Token::Id(_)) {
        token = tokens.next()?;
    }
    match token {
        Token::Sign('{') => Ok(()),
        _ => Err(Stop::Broken(at, "a brace belongs behind subgraph")),
    }
}

/// The vertices of a group that was opened.
fn group<'a>(tokens: &mut Tokens<'a>) -> Read<Vec<Cow<'a, str>>> {
    let mut found = Vec::new();
    loop {
        let at = tokens.at;
        match tokens.next()? {
            Token::Sign('}') => return Ok(found),
            Token::Sign(';' | ',') => {}
            Token::Id(id)
                if !["graph", "node", "edge", "subgraph"].iter().any(|word| id.is_keyword(word)) =>
            {
                port(tokens)?;
                found.push(id.text);
            }
            _ => {
                let reason = "of a subgraph at an end of an edge, only names of vertices are read";
                return Err(Stop::Broken(at, reason));
            }
        }
    }
}

/// Goes behind a point of a vertex where an edge ends.
fn port(tokens: &mut Tokens<'_>) -> Read<()> {
    while matches!(tokens.peek()?, Token::Sign(':')) {
        tokens.next()?;
        tokens.ports += 1;
        let at = tokens.at;
        if !matches!(tokens.next()?, Token::Id(_)) {
            return Err(Stop::Broken(at, "the name of a port belongs behind the colon"));
        }
    }
    Ok(())
}

/// The values in brackets.
fn attributes<'a>(tokens: &mut Tokens<'a>) -> Read<NamedValues<'a>> {
    let mut fields = NamedValues::new();
    while matches!(tokens.peek()?, Token::Sign('[')) {
        tokens.next()?;
        loop {
            let at = tokens.at;
            match tokens.next()? {
                Token::Sign(']') => break,
                Token::Sign(',' | ';') => {}
                Token::Id(name) => {
                    let value = match tokens.peek()? {
                        Token::Sign('=') => {
                            tokens.next()?;
                            tokens.value()?
                        }
                        _ => Some("true".into()),
                    };
                    set(&mut fields, name.text, value.map(Attribute::Text));
                }
                Token::End => return Err(Stop::Broken(at, "the file is cut short: a bracket is not closed")),
                _ => return Err(Stop::Broken(at, "the name of a value belongs here")),
            }
        }
    }
    Ok(fields)
}

//! What the parsers of all formats with attributes make of the elements of a block.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::ArrayRef;
use arrow_array::builder::BinaryBuilder;
use esker_format::Result;
use esker_format::value::decimal;
use esker_graph::{Message, counted};

use super::edges::{AttributeColumn, Converted, EdgeProperty};
use super::element::element;
use super::value::Attribute;
use super::vertices::VertexColumns;
use crate::read::source::{EdgeBatch, Rejected, RejectedText, RowText, VertexPlaces, id_column};
use crate::text::blocks::{count_lines, excerpt, input_error};
use crate::text::reasons::{check_text, not_id, not_id_of_database, texts_for_some};

/// So many values of a vertex are compared with each other.
const SCANNED_MAX: usize = 16;

/// What is known of all elements of an input.
pub(super) struct Elements {
    pub(super) path: Arc<PathBuf>,
    /// Whether ids are texts; else they are integers.
    pub(super) text_ids: bool,
    /// Whether edges have a direction unless they say otherwise.
    pub(super) directed: bool,
    /// Whether the caller takes the graph as undirected, whatever it says.
    pub(super) is_undirected_anyway: bool,
    pub(super) properties: Vec<EdgeProperty>,
    /// How much is kept of elements that are rejected.
    pub(super) rejected: RejectedText,
    /// Whether they go to a database whose integer ids can become texts.
    pub(super) ids_can_become_texts: bool,
    /// The first id for which all are texts, though most are integers.
    pub(super) odd_id: Option<String>,
    pub(super) notices: Notices,
}

impl Elements {
    /// What was met and not kept, and why ids are texts.
    pub(super) fn told(&self) -> Vec<Message> {
        let odd = self.odd_id.as_ref().map(|id| texts_for_some(&self.path, id.as_bytes()));
        let sentences = self.notices.sentences().into_iter().map(Message::from);
        odd.into_iter().chain(sentences).collect()
    }
}

/// What was met and not kept, to be told at the end.
#[derive(Default)]
pub(super) struct Notices {
    /// Undirected edges of a directed graph.
    pub(super) both_ways: AtomicU64,
    /// Graphs within vertices.
    pub(super) nested: AtomicU64,
    /// Attributes that are no values: graphics of a program.
    pub(super) graphics: AtomicU64,
    /// Names of points of a vertex where edges end.
    pub(super) ports: AtomicU64,
    /// Parts of a document that are neither vertices nor edges.
    pub(super) sections: AtomicU64,
    /// Ids of edges.
    pub(super) edge_ids: AtomicU64,
    /// Values that vertices have unless they say otherwise.
    pub(super) defaults: AtomicU64,
    /// Values of the graph itself.
    pub(super) of_graph: AtomicU64,
    /// Values that hold for a part of the time only.
    pub(super) dynamic: AtomicU64,
}

impl Notices {
    pub(super) fn add(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn sentences(&self) -> Vec<String> {
        let of = |counter: &AtomicU64, one: &str, many: &str, rest: &str| {
            let count = counter.load(Ordering::Relaxed);
            (count > 0).then(|| format!("{}{rest}", counted(count, one, many)))
        };
        let all = [
            of(
                &self.both_ways,
                "undirected edge",
                "undirected edges",
                " of a directed graph read as edges in both directions",
            ),
            of(
                &self.nested,
                "graph",
                "graphs",
                " within a vertex, or behind the first, read as parts of one graph",
            ),
            of(&self.graphics, "value", "values", " not read that are graphics or nested elements"),
            of(&self.of_graph, "value", "values", " of graphs, rather than of vertices or edges, not read"),
            of(
                &self.sections,
                "section",
                "sections",
                " not read that are neither vertices nor edges, such as partitions and roles of vertices",
            ),
            of(&self.defaults, "list", "lists", " of values that hold for all vertices behind them not read"),
            of(&self.edge_ids, "id", "ids", " of edges not read"),
            of(&self.ports, "port", "ports", " of vertices not read"),
            of(&self.dynamic, "value", "values", " not read that hold for a part of the time only"),
        ];
        all.into_iter().flatten().collect()
    }
}

/// The ends of an edge.
pub(super) enum ElementIds {
    Int(Vec<u64>),
    Text(BinaryBuilder),
}

/// An id that was checked.
enum GoodId<'a> {
    Int(u64),
    Text(std::borrow::Cow<'a, [u8]>),
}

impl ElementIds {
    fn new(text_ids: bool) -> Self {
        if text_ids { Self::Text(BinaryBuilder::new()) } else { Self::Int(Vec::new()) }
    }

    fn push(&mut self, id: &GoodId<'_>) {
        match (self, id) {
            (Self::Int(ids), GoodId::Int(id)) => ids.push(*id),
            (Self::Text(ids), GoodId::Text(id)) => ids.append_value(id),
            _ => {}
        }
    }

    fn finish(self) -> ArrayRef {
        match self {
            Self::Int(ids) => id_column(ids),
            Self::Text(mut ids) => Arc::new(ids.finish()),
        }
    }
}

/// An edge and its values.
pub(super) struct ReadEdge<'v, 'a> {
    pub(super) source: Option<&'v Attribute<'a>>,
    pub(super) target: Option<&'v Attribute<'a>>,
    /// Whether it has a direction; `None`: as the graph has it.
    pub(super) directed: Option<bool>,
    /// Whether it stands for the edge back too.
    pub(super) is_mutual: bool,
    /// A value or none for each property.
    pub(super) values: &'v [Option<Attribute<'a>>],
}

/// Why an element with several values of a property is left out.
pub(super) fn several(name: &str) -> String {
    format!("there are several values of {name:?}; leave one")
}

/// The place of a property that has several values which differ.
fn twice(values: &[(usize, Attribute<'_>)]) -> Option<usize> {
    let differs = |(index, own): (usize, &(usize, Attribute<'_>))| {
        values[..index].iter().any(|other| other.0 == own.0 && other.1 != own.1).then_some(own.0)
    };
    if values.len() <= SCANNED_MAX {
        return values.iter().enumerate().find_map(differs);
    }
    let mut first = HashMap::with_capacity(values.len());
    values.iter().find_map(|(place, value)| {
        let known = *first.entry(*place).or_insert(value);
        (known != value).then_some(*place)
    })
}

/// The elements of a block on their way to a batch.
pub(super) struct Rows<'e> {
    elements: &'e Elements,
    bytes: &'e [u8],
    first_line: u64,
    sources: ElementIds,
    targets: ElementIds,
    num_edges: usize,
    columns: Vec<AttributeColumn>,
    ids: ElementIds,
    num_vertices: usize,
    /// The line of each vertex.
    vertex_lines: Vec<u64>,
    pub(super) vertices: VertexColumns,
    rejected: Vec<Rejected>,
    /// A place that was looked at, and its line.
    counted: (usize, u64),
}

impl<'e> Rows<'e> {
    pub(super) fn new(elements: &'e Elements, bytes: &'e [u8], first_line: u64) -> Self {
        let ids = || ElementIds::new(elements.text_ids);
        Self {
            elements,
            bytes,
            first_line,
            sources: ids(),
            targets: ids(),
            num_edges: 0,
            columns: elements.properties.iter().map(EdgeProperty::column).collect(),
            ids: ids(),
            num_vertices: 0,
            vertex_lines: Vec::new(),
            vertices: VertexColumns::default(),
            rejected: Vec::new(),
            counted: (0, first_line),
        }
    }

    /// The line of a place of the block.
    pub(super) fn line(&mut self, at: usize) -> u64 {
        let at = at.min(self.bytes.len());
        let (from, line) = if at < self.counted.0 { (0, self.first_line) } else { self.counted };
        self.counted = (at, line + count_lines(&self.bytes[from..at]));
        self.counted.1
    }

    /// Leaves out the element at a place.
    pub(super) fn reject(&mut self, at: usize, reason: impl Into<Message>) {
        let is_described = self.elements.rejected.describes(self.rejected.len());
        let line = if is_described { self.line(at) } else { self.counted.1 };
        let rest = self.bytes[at.min(self.bytes.len())..].trim_ascii_start();
        let text: RowText = match self.elements.rejected {
            RejectedText::Rows => element(rest).into(),
            RejectedText::Excerpts if is_described => excerpt(rest).into(),
            RejectedText::Excerpts => RowText::default(),
        };
        self.rejected.push(Rejected {
            path: Arc::clone(&self.elements.path),
            line,
            text,
            reason: if is_described { reason.into() } else { Message::default() },
            edges_before: self.num_edges,
        });
    }

    /// An error at a place: nothing behind it can be understood.
    pub(super) fn broken(&mut self, at: usize, reason: impl Into<Message>) -> esker_format::Error {
        let line = self.line(at);
        input_error(
            &self.elements.path,
            Some(line),
            self.bytes[at.min(self.bytes.len())..].trim_ascii_start(),
            reason,
        )
    }

    fn good<'v>(
        &self,
        id: Option<&'v Attribute<'_>>,
        what: &str,
    ) -> std::result::Result<GoodId<'v>, Message> {
        let Some(id) = id else { return Err(format!("the {what} is missing").into()) };
        if let (false, Attribute::Int(id)) = (self.elements.text_ids, id)
            && *id >= 0
        {
            return Ok(GoodId::Int(id.cast_unsigned()));
        }
        let text = id.text();
        match self.elements.text_ids {
            true => check_text(&text, what).map(|()| GoodId::Text(text)),
            false => {
                decimal::id(&text).map(GoodId::Int).map_err(|why| match self.elements.ids_can_become_texts {
                    true => not_id_of_database(what, why),
                    false => not_id(what, why, true),
                })
            }
        }
    }

    /// Takes a vertex that begins at a place, with values of [`Rows::vertices`].
    pub(super) fn vertex(
        &mut self,
        at: usize,
        id: Option<&Attribute<'_>>,
        values: &[(usize, Attribute<'_>)],
    ) {
        let id = match self.good(id, "id of the vertex") {
            Ok(id) => id,
            Err(reason) => return self.reject(at, reason),
        };
        let row = self.num_vertices;
        for (place, value) in values {
            let name = self.vertices.name(*place);
            if let Attribute::Text(text) = value
                && decimal::is_too_long(text.as_bytes())
            {
                let reason = format!("{name} {}", decimal::TOO_LONG);
                return self.reject(at, reason);
            }
            if matches!(value, Attribute::Float(value) if !value.is_finite()) {
                let reason = format!("{name} is infinite; write a number, or leave it out");
                return self.reject(at, reason);
            }
        }
        if let Some(place) = twice(values) {
            let reason = several(self.vertices.name(place));
            return self.reject(at, reason);
        }
        for (place, value) in values {
            if !self.vertices.has(row, *place) {
                self.vertices.push(row, *place, value);
            }
        }
        self.ids.push(&id);
        self.num_vertices += 1;
        let line = self.line(at);
        self.vertex_lines.push(line);
    }

    /// Takes an edge that begins at a place.
    ///
    /// # Errors
    /// If a property has numbers that no type holds.
    pub(super) fn edge(&mut self, at: usize, edge: &ReadEdge<'_, '_>) -> Result<()> {
        let ends = self.good(edge.source, "source").and_then(|source| {
            let target = self.good(edge.target, "target")?;
            Ok((source, target))
        });
        let (source, target) = match ends {
            Ok(ends) => ends,
            Err(reason) => {
                self.reject(at, reason);
                return Ok(());
            }
        };
        let is_free = self.elements.is_undirected_anyway;
        let directed = self.elements.directed && !is_free;
        if !directed && !is_free && edge.directed == Some(true) {
            self.reject(
                at,
                "the edge is directed, but the graph is undirected by what it says and by its first edges; declare the \
                 graph directed, or the edge undirected",
            );
            return Ok(());
        }
        let is_loop = match (&source, &target) {
            (GoodId::Int(one), GoodId::Int(other)) => one == other,
            (GoodId::Text(one), GoodId::Text(other)) => one == other,
            _ => false,
        };
        let is_undirected = directed && edge.directed == Some(false);
        let both_ways = (is_undirected || (directed && edge.is_mutual)) && !is_loop;
        if is_undirected {
            Notices::add(&self.elements.notices.both_ways);
        }
        for _ in 0..=usize::from(both_ways) {
            if !self.values(at, edge.values)? {
                return Ok(());
            }
            self.num_edges += 1;
        }
        self.sources.push(&source);
        self.targets.push(&target);
        if both_ways {
            self.sources.push(&target);
            self.targets.push(&source);
        }
        Ok(())
    }

    /// Appends a value of each property. `false`: the edge is rejected.
    fn values(&mut self, at: usize, values: &[Option<Attribute<'_>>]) -> Result<bool> {
        let properties = &self.elements.properties;
        let mut converted = Vec::with_capacity(properties.len());
        for (property, value) in properties.iter().zip(values) {
            let value = match (value, &property.default) {
                (Some(value), _) => property.convert(value),
                (None, Some(default)) => property.convert(default),
                (None, None) => property.refusal.clone().map_or(Ok(Converted::Missing), Err),
            };
            match value {
                Ok(value) => converted.push(value),
                Err(reason) => {
                    self.reject(at, reason);
                    return Ok(false);
                }
            }
        }
        for (index, value) in converted.iter().enumerate() {
            if let Err(mixed) = self.columns[index].push(value) {
                let reason = mixed.reason(&properties[index].name);
                return Err(self.broken(at, reason));
            }
        }
        Ok(true)
    }

    /// The batch.
    ///
    /// # Errors
    /// If its vertices have too many properties.
    pub(super) fn finish(mut self, input_bytes: u64) -> Result<EdgeBatch> {
        if let Some(reason) = self.vertices.too_many() {
            return Err(self.broken(0, reason));
        }
        Ok(EdgeBatch {
            source: self.sources.finish(),
            target: self.targets.finish(),
            properties: self.columns.into_iter().map(AttributeColumn::finish).collect(),
            vertices: Some(self.ids.finish()),
            vertex_values: self.vertices.finish(),
            vertex_places: Some(VertexPlaces {
                path: Arc::clone(&self.elements.path),
                lines: self.vertex_lines,
            }),
            rejected: self.rejected,
            wide: Vec::new(),
            input_bytes,
        })
    }
}

//! The rows of an answer in output order.

use std::borrow::Cow;
use std::ops::Range;

use esker_graph::{VertexId, vertex};
use esker_import::export::OutputFile;
use esker_store::format::TimeUnit;
use esker_store::ids::{ExternalId, IdMap};

use crate::answer::{Answer, AnswerColumn};
use crate::error::{Error, Result};

/// Number of rows written at a time.
pub(super) const CHUNK_ROWS: usize = 1 << 16;

/// What the rows of one answer have in common, in a file with the answers of several steps: a column before
/// those of the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepColumn {
    /// The name of the column.
    pub name: &'static str,
    /// Its value in all rows of the answer.
    pub value: StepValue,
}

/// The value of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepValue {
    /// A text, such as a length of time.
    Text(String),
    /// A number, such as that of a version.
    Number(u64),
    /// A time since 1970 in UTC, in a unit, and as text.
    Time(i64, TimeUnit, String),
}

impl StepColumn {
    /// The value as text.
    pub(super) fn text(&self) -> Cow<'_, str> {
        match &self.value {
            StepValue::Text(text) | StepValue::Time(_, _, text) => Cow::Borrowed(text),
            StepValue::Number(number) => Cow::Owned(number.to_string()),
        }
    }
}

/// A file to which the rows of answers with the same columns are written, one answer after another.
pub(super) trait RowFile: Send {
    /// Writes the rows of an answer.
    fn add(&mut self, rows: &AnswerRows<'_>) -> Result<()>;

    /// Ends the rows.
    fn finish(self: Box<Self>) -> Result<OutputFile>;
}

/// The columns of an answer and the ids of its rows.
pub(super) struct AnswerRows<'a> {
    /// Columns before the others, with the same value in each row.
    pub(super) steps: &'a [StepColumn],
    pub(super) ids: &'a IdMap,
    pub(super) columns: &'a [AnswerColumn],
    /// The vertex of each row, if some vertices are removed.
    vertices: Option<&'a [VertexId]>,
    /// The edge of each row, if rows are edges.
    edges: Option<&'a [(VertexId, VertexId)]>,
}

/// The key of a row, and the row's index in the columns.
pub(super) enum Row {
    Vertex(VertexId, usize),
    Edge([VertexId; 2], usize),
}

impl Row {
    /// The vertex, or the two ends of the edge.
    pub(super) fn keys(&self) -> &[VertexId] {
        match self {
            Self::Vertex(v, _) => std::slice::from_ref(v),
            Self::Edge(ends, _) => ends,
        }
    }

    pub(super) fn index(&self) -> usize {
        match *self {
            Self::Vertex(_, index) | Self::Edge(_, index) => index,
        }
    }
}

impl<'a> AnswerRows<'a> {
    pub(super) fn new(ids: &'a IdMap, answer: &'a Answer, steps: &'a [StepColumn]) -> Self {
        Self {
            steps,
            ids,
            columns: &answer.columns,
            vertices: answer.vertices.as_deref(),
            edges: answer.edges.as_deref(),
        }
    }

    pub(super) fn len(&self) -> usize {
        match (self.edges, self.vertices) {
            (Some(edges), _) => edges.len(),
            (None, Some(vertices)) => vertices.len(),
            (None, None) => self.ids.num_vertices(),
        }
    }

    /// The names of the key columns.
    pub(super) fn key_names(&self) -> &'static [&'static str] {
        if self.edges.is_some() { &["source", "target"] } else { &["vertex"] }
    }

    /// The names of all columns.
    pub(super) fn header(&self) -> Vec<&'static str> {
        let steps = self.steps.iter().map(|step| step.name);
        steps.chain(self.key_names().iter().copied()).chain(self.names()).collect()
    }

    /// The base, if the ids of the rows are exactly the integers `base..base + len`.
    pub(super) fn dense_base(&self) -> Option<u64> {
        self.ids.dense_base().filter(|_| self.vertices.is_none() && self.edges.is_none())
    }

    /// The names of the value columns.
    pub(super) fn names(&self) -> Vec<&'static str> {
        match self.columns {
            [_] if self.edges.is_none() => vec!["value"],
            columns => columns.iter().map(|column| column.name).collect(),
        }
    }

    /// Splits the rows into ranges of at most [`CHUNK_ROWS`].
    pub(super) fn chunks(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let rows = self.len();
        (0..rows.div_ceil(CHUNK_ROWS)).map(move |i| i * CHUNK_ROWS..rows.min((i + 1) * CHUNK_ROWS))
    }

    /// The rows of a range.
    pub(super) fn range(&self, rows: Range<usize>) -> Result<Vec<Row>> {
        if let Some(edges) = self.edges {
            return Ok(rows.map(|row| Row::Edge(edges[row].into(), row)).collect());
        }
        if let Some(vertices) = self.vertices {
            return Ok(rows.map(|row| Row::Vertex(vertices[row], row)).collect());
        }
        let Some(base) = self.dense_base() else {
            return Ok(rows.map(|row| Row::Vertex(vertex(row), row)).collect());
        };
        let vertex_of = |row: usize| -> Result<Row> {
            let id = base.wrapping_add(row as u64);
            let found = self.ids.vertex_of(ExternalId::Int(id))?;
            let v = found
                .ok_or_else(|| Error::usage(format!("no vertex has the id {id}, though ids are dense")))?;
            Ok(Row::Vertex(v, v as usize))
        };
        rows.map(vertex_of).collect()
    }

    /// The id of a vertex of a graph with integer ids.
    pub(super) fn int_id(&self, v: VertexId) -> Result<u64> {
        match self.ids.external_of(v)? {
            ExternalId::Int(id) => Ok(id),
            ExternalId::Text(_) => Err(Error::usage(format!("vertex {v} has a text id, not an integer id"))),
        }
    }
}

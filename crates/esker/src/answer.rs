//! What an algorithm answers, in one form for files, the command line and other languages.

use std::sync::Arc;

use esker_graph::{NONE, Remaining, VertexId, vertex};

/// One value for each row of an answer: each vertex (see [`Answer::vertices`]), in vertex order, or each edge. Each kind has a mark for "no value", such as unreached.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Vertices, shown by their external ids; [`NONE`] is no value.
    Vertex(Vec<VertexId>),
    /// Small counts such as depths; [`NONE`] is no value.
    Index(Vec<VertexId>),
    /// Integers; [`Values::NO_INTEGER`] is no value.
    Integer(Vec<i64>),
    /// Labels and counts; `u64::MAX` is no value.
    Count(Vec<u64>),
    /// Numbers; NaN and infinity are no value.
    Float(Vec<f64>),
}

/// One value of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// No value: unreached.
    Missing,
    /// A vertex, to be shown by its external id.
    Vertex(VertexId),
    /// An edge, to be shown by the external ids of its ends.
    Edge(VertexId, VertexId),
    /// An integer.
    Integer(i64),
    /// A label or count.
    Count(u64),
    /// A finite number.
    Float(f64),
}

impl Values {
    /// The mark for "no value" among [`Values::Integer`].
    pub const NO_INTEGER: i64 = i64::MAX;

    /// Number of values: that of the vertices that are there.
    pub fn len(&self) -> usize {
        match self {
            Self::Vertex(values) | Self::Index(values) => values.len(),
            Self::Integer(values) => values.len(),
            Self::Count(values) => values.len(),
            Self::Float(values) => values.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value at a place: of the vertex numbered `index`, where none is removed.
    pub fn get(&self, index: usize) -> Value {
        match self {
            Self::Vertex(values) if values[index] != NONE => Value::Vertex(values[index]),
            Self::Index(values) if values[index] != NONE => Value::Count(values[index] as u64),
            Self::Integer(values) if values[index] != Self::NO_INTEGER => Value::Integer(values[index]),
            Self::Count(values) if values[index] != u64::MAX => Value::Count(values[index]),
            Self::Float(values) if values[index].is_finite() => Value::Float(values[index]),
            _ => Value::Missing,
        }
    }
}

/// A named column of values, one for each row.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// What the values are: `rank`, `depth`, `component` ...
    pub name: &'static str,
    /// The values.
    pub values: Values,
    /// What the head of it is.
    pub ranking: Ranking,
}

impl Column {
    /// A column of 1 for the members of a set and 0 for others.
    pub(crate) fn marks(name: &'static str, members: &[bool]) -> Self {
        let values = Values::Count(members.iter().map(|&member| u64::from(member)).collect());
        Self { name, values, ranking: Ranking::Largest }
    }
}

/// What people look at first in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ranking {
    /// The largest values.
    Largest,
    /// The values are labels: the largest groups of vertices that share one.
    Groups,
}

/// A fact about the whole graph, or about how it was found.
#[derive(Debug, Clone, PartialEq)]
pub enum Fact {
    /// A count.
    Count(u64),
    /// A number.
    Float(f64),
    /// Yes or no.
    Flag(bool),
}

/// The answer of one algorithm.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answer {
    /// The vertex at each place of the columns, ascending, where some are removed. `None`: no vertex is removed, and the place of
    /// each is its number.
    pub vertices: Option<Arc<[VertexId]>>,
    /// The edges that the answer consists of (a spanning forest, say): rows are then edges, not vertices, and values stand by edge.
    pub edges: Option<Vec<(VertexId, VertexId)>>,
    /// Values by vertex or by edge, the principal column first. Empty where the answer is only facts (a triangle count), or only edges.
    pub columns: Vec<Column>,
    /// Facts in the order in which to show them: rounds are not among them.
    pub facts: Vec<(&'static str, Fact)>,
    /// Rounds that the algorithm took.
    pub rounds: usize,
    /// Arcs that it had to consider, for a rate: those of the reached vertices for a search, all arcs times iterations
    /// for PageRank.
    pub arcs: u64,
    /// Seconds of the algorithm alone, without opening and checking the graph.
    pub seconds: f64,
}

impl Answer {
    /// The vertex or the edge at a place of the columns.
    pub fn key(&self, place: usize) -> Value {
        match (&self.edges, &self.vertices) {
            (Some(edges), _) => Value::Edge(edges[place].0, edges[place].1),
            (None, Some(vertices)) => Value::Vertex(vertices[place]),
            (None, None) => Value::Vertex(vertex(place)),
        }
    }

    /// An answer about the places of the vertices that are left, as one about these vertices.
    pub(crate) fn put_back(mut self, remaining: &Remaining) -> Self {
        for column in &mut self.columns {
            if let Values::Vertex(values) = &mut column.values {
                values.iter_mut().filter(|v| **v != NONE).for_each(|v| *v = remaining.origin(*v));
            }
        }
        for (u, v) in self.edges.iter_mut().flatten() {
            (*u, *v) = (remaining.origin(*u), remaining.origin(*v));
        }
        self.vertices = Some(Arc::clone(remaining.origins()));
        self
    }
}

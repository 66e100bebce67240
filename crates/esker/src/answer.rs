//! Answers of algorithms, in one form for files, the command line and other languages.

use std::sync::Arc;

use esker_graph::{NONE, Remaining, VertexId, vertex};
use esker_store::ids::IdMap;

/// The values of a column: one for each row of an answer. Rows are vertices in ascending order (see
/// [`Answer::vertices`]) or edges. Each variant has a marker for "no value", such as unreached.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Vertices, shown by their external ids; [`NONE`] means no value.
    Vertex(Vec<VertexId>),
    /// Small counts such as depths; [`NONE`] means no value.
    Index(Vec<VertexId>),
    /// Integers; [`Values::NO_INTEGER`] means no value.
    Integer(Vec<i64>),
    /// Labels and counts; `u64::MAX` means no value.
    Count(Vec<u64>),
    /// Numbers; NaN and infinity mean no value.
    Float(Vec<f64>),
}

/// One value of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// No value, such as unreached.
    Missing,
    /// A vertex, shown by its external id.
    Vertex(VertexId),
    /// An edge, shown by the external ids of its ends.
    Edge(VertexId, VertexId),
    /// An integer.
    Integer(i64),
    /// A label or count.
    Count(u64),
    /// A finite number.
    Float(f64),
}

impl Value {
    /// Whether both are the same value. Numbers are compared as numbers: the integer 2 and the number 2.0 are
    /// the same.
    pub fn is_same(self, other: Self) -> bool {
        match (self, other) {
            (Self::Float(a), Self::Integer(b)) | (Self::Integer(b), Self::Float(a)) => {
                a == b as f64 && a as i64 == b
            }
            (Self::Float(a), Self::Count(b)) | (Self::Count(b), Self::Float(a)) => {
                a == b as f64 && a as u64 == b
            }
            (Self::Integer(a), Self::Count(b)) | (Self::Count(b), Self::Integer(a)) => {
                u64::try_from(a) == Ok(b)
            }
            // Zeros of both signs differ in rank.
            (Self::Float(a), Self::Float(b)) => a.to_bits() == b.to_bits(),
            (a, b) => a == b,
        }
    }
}

impl Value {
    /// The value as text, with external ids: empty if it is missing, and `u v` for an edge.
    ///
    /// ```
    /// use esker::answer::Value;
    /// use esker::store::{format::IdSecret, ids::{IdHasher, IdMap}};
    ///
    /// let ids = IdMap::identity(100, 5, IdHasher::new(IdSecret([0; 16]))); // vertex 0 is called 100
    /// assert_eq!(Value::Edge(0, 4).to_text(&ids)?, "100 104");
    /// assert_eq!(Value::Float(0.5).to_text(&ids)?, "0.5");
    /// # Ok::<(), esker::store::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`IdMap::external_of`].
    pub fn to_text(self, ids: &IdMap) -> esker_store::Result<String> {
        Ok(match self {
            Self::Missing => String::new(),
            Self::Vertex(v) => ids.external_of(v)?.to_string(),
            Self::Edge(u, v) => format!("{} {}", ids.external_of(u)?, ids.external_of(v)?),
            Self::Integer(value) => value.to_string(),
            Self::Count(value) => value.to_string(),
            Self::Float(value) => value.to_string(),
        })
    }

    /// The value as a number; `None` if it is none.
    ///
    /// ```
    /// use esker::answer::Value;
    ///
    /// assert_eq!(Value::Count(3).number(), Some(3.0));
    /// assert_eq!(Value::Vertex(3).number(), None);
    /// ```
    pub fn number(self) -> Option<f64> {
        match self {
            Self::Missing | Self::Vertex(_) | Self::Edge(..) => None,
            Self::Integer(value) => Some(value as f64),
            Self::Count(value) => Some(value as f64),
            Self::Float(value) => Some(value),
        }
    }
}

impl Values {
    /// The marker for "no value" in [`Values::Integer`]: neither a distance nor the width of an edge.
    pub const NO_INTEGER: i64 = i64::MIN;

    /// Numbers, of which those that are none are no value.
    pub(crate) fn numbers(mut numbers: Vec<f64>) -> Self {
        // Unlike other numbers, NaN is not equal to itself, so equal answers would not be.
        numbers.iter_mut().filter(|number| number.is_nan()).for_each(|number| *number = f64::INFINITY);
        Self::Float(numbers)
    }

    /// The number of values, which is the number of rows of the answer.
    pub fn len(&self) -> usize {
        match self {
            Self::Vertex(values) | Self::Index(values) => values.len(),
            Self::Integer(values) => values.len(),
            Self::Count(values) => values.len(),
            Self::Float(values) => values.len(),
        }
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Leaves the values of some rows, which ascend.
    fn keep(&mut self, rows: &[VertexId]) {
        match self {
            Self::Vertex(values) | Self::Index(values) => keep(values, rows),
            Self::Integer(values) => keep(values, rows),
            Self::Count(values) => keep(values, rows),
            Self::Float(values) => keep(values, rows),
        }
    }

    /// The value of row `index`: the value of vertex `index` if no vertex is removed.
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

fn keep<T: Copy>(values: &mut Vec<T>, rows: &[VertexId]) {
    for (place, &row) in rows.iter().enumerate() {
        values[place] = values[row as usize];
    }
    values.truncate(rows.len());
}

/// A named column, with one value for each row.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerColumn {
    /// The name: `rank`, `depth`, `component` and so on.
    pub name: &'static str,
    /// The values.
    pub values: Values,
    /// How [`top`](crate::top::top) ranks the rows.
    pub ranking: Ranking,
}

impl AnswerColumn {
    /// A column with 1 for members of a set and 0 for other vertices.
    pub(crate) fn marks(name: &'static str, members: &[bool]) -> Self {
        let values = Values::Count(members.iter().map(|&member| u64::from(member)).collect());
        Self { name, values, ranking: Ranking::Largest }
    }
}

/// How rows of a column are ranked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ranking {
    /// By value, largest first.
    Largest,
    /// The values are labels: vertices with the same label form a group, and the largest groups come first.
    Groups,
    /// As groups, each of which has one more vertex, that another group lists: a block of biconnectivity and
    /// its head.
    Blocks,
}

impl Ranking {
    /// The vertices of each group that its label is not listed for; `None` if values are no labels.
    pub fn unlisted(self) -> Option<u64> {
        match self {
            Self::Largest => None,
            Self::Groups => Some(0),
            Self::Blocks => Some(1),
        }
    }

    /// Whether values are labels of groups.
    pub fn is_of_groups(self) -> bool {
        self.unlisted().is_some()
    }
}

/// A fact about the whole graph or about the run.
#[derive(Debug, Clone)]
pub enum Fact {
    /// A count.
    Count(u64),
    /// A number; NaN where it has none on this graph.
    Float(f64),
    /// Yes or no.
    Flag(bool),
}

impl PartialEq for Fact {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Count(a), Self::Count(b)) => a == b,
            // Answers without a number are the same.
            (Self::Float(a), Self::Float(b)) => a == b || (a.is_nan() && b.is_nan()),
            (Self::Flag(a), Self::Flag(b)) => a == b,
            _ => false,
        }
    }
}

/// The answer of one algorithm.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answer {
    /// The vertex of each row, if some vertices are removed: ascending, but in comparisons. `None`: no vertex
    /// is removed, and row `v` is vertex `v`.
    pub vertices: Option<Arc<[VertexId]>>,
    /// The edge of each row, if the answer consists of edges (a spanning forest, for example).
    pub edges: Option<Vec<(VertexId, VertexId)>>,
    /// The columns, the principal one first. Empty if the answer has only facts (a triangle count) or only
    /// edges.
    pub columns: Vec<AnswerColumn>,
    /// Facts in display order, without the number of rounds.
    pub facts: Vec<(&'static str, Fact)>,
    /// Rounds of the algorithm.
    pub rounds: usize,
    /// Arcs that the algorithm has to process, to compute a rate: the arcs of reached vertices for a search,
    /// all arcs times iterations for PageRank.
    pub arcs: u64,
    /// Seconds of the algorithm alone, without opening and verifying the graph.
    pub seconds: f64,
}

impl Answer {
    /// The fact of a name.
    ///
    /// ```
    /// use esker::answer::{Answer, Fact};
    ///
    /// let answer = Answer { facts: vec![("components", Fact::Count(2))], ..Answer::default() };
    /// assert_eq!(answer.fact("components"), Some(&Fact::Count(2)));
    /// assert_eq!(answer.fact("diameter"), None);
    /// ```
    pub fn fact(&self, name: &str) -> Option<&Fact> {
        self.facts.iter().find(|(known, _)| *known == name).map(|(_, fact)| fact)
    }

    /// The vertex or the edge of a row.
    pub fn key(&self, row: usize) -> Value {
        match (&self.edges, &self.vertices) {
            (Some(edges), _) => Value::Edge(edges[row].0, edges[row].1),
            (None, Some(vertices)) => Value::Vertex(vertices[row]),
            (None, None) => Value::Vertex(vertex(row)),
        }
    }

    /// Whether there is a row for each vertex.
    pub(crate) fn has_vertex_rows(&self) -> bool {
        self.edges.is_none() && !self.columns.is_empty()
    }

    /// Without rows and figures, of the same columns.
    pub(crate) fn emptied(mut self) -> Self {
        self.columns.iter_mut().for_each(|column| column.values.keep(&[]));
        self.edges = self.edges.map(|_| Vec::new());
        self.vertices = Some(Arc::from([]));
        self.facts.clear();
        self
    }

    /// Leaves out removed vertices, of an answer for a graph that has them; an answer without rows for
    /// vertices has none to leave out.
    pub(crate) fn without_removed(mut self, remaining: Option<&Remaining>) -> Self {
        let Some(remaining) = remaining else { return self };
        if self.has_vertex_rows() {
            self.columns.iter_mut().for_each(|column| column.values.keep(remaining.origins()));
        }
        self.vertices = Some(Arc::clone(remaining.origins()));
        self
    }

    /// Translates renumbered vertices back to the original vertices of a graph with removed vertices.
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

//! Conditions on edges and their ends: a filter of a version's graphs, and of what is exported.

mod text;
mod value;

mod codes;
mod test;
mod row_test;

mod kinds;
mod one_kind;

use std::sync::Arc;

use esker_graph::{Run, VertexId};

use esker_store::Version;
use esker_store::diff::{DiffEdge, Difference};
use esker_store::windows::{ArcFilter, ListedArc};

use crate::error::{Error, Result};
use codes::text_is_known;
use kinds::kinds_test;
pub use kinds::{KindCount, check_kinds, count_kinds, kinds_of};
use one_kind::leave_one_kind;
pub(crate) use row_test::{CellType, RowColumn, RowTest};
use test::{EdgeEnds, EdgeTest, property_of};
use text::{Comparison, Expression, Operand, Whose};
use value::TextTest;

/// What a person should know of conditions on a version: the texts that no edge of it has.
///
/// # Errors
/// [`esker_store::Error::Invalid`] for an unknown property; [`esker_store::Error::Corrupt`].
pub fn notes(conditions: &[Condition], version: &Version) -> Result<Vec<String>> {
    let mut notes = Vec::new();
    for condition in conditions {
        add_notes(&condition.expression, version, &mut notes)?;
    }
    Ok(notes)
}

/// So many texts that no edge has are named.
const NAMED_TEXTS: usize = 3;

fn add_notes(expression: &Expression, version: &Version, notes: &mut Vec<String>) -> Result<()> {
    match expression {
        Expression::All(parts) | Expression::Any(parts) => {
            parts.iter().try_for_each(|part| add_notes(part, version, notes))
        }
        Expression::Not(part) => add_notes(part, version, notes),
        Expression::Test(Comparison { operand, asked }) if operand.whose == Whose::Edge => {
            let property = property_of(operand, version)?;
            let test = TextTest::new(asked);
            let (mut unknown, mut more) = (Vec::new(), 0);
            for wanted in test.wanted().unwrap_or_default().iter().filter(|_| property.is_text()) {
                match text_is_known(wanted, property, version)? {
                    true => {}
                    false if unknown.len() == NAMED_TEXTS => more += 1,
                    false => unknown.push(format!("{wanted:?}")),
                }
            }
            if !unknown.is_empty() {
                let (unknown, more) =
                    (unknown.join(" or "), if more > 0 { format!(" or {more} more") } else { String::new() });
                let number = version.number();
                notes.push(format!(
                    "no edge of version {number} has the text {unknown}{more} as its {operand}"
                ));
            }
            Ok(())
        }
        Expression::Test(_) => Ok(()),
    }
}

/// A condition on edges, such as `kind=depends`, `amount > 100 and currency in ('EUR', 'CHF')` or
/// `source.country = 'DE' and since is not null`, in the words of SQL's `where`.
///
/// Names are those of edge properties; `source`, `target` and `vertex` are ids, `source.NAME` and so on
/// properties of vertices. `vertex` stands for each end of an edge: the condition is to be met with both.
/// What a condition says of a missing value is neither true nor false, and such an edge is left out:
/// `not x = 1` leaves it out too.
///
/// ```
/// # let (directory, csv) = (tempfile::tempdir()?, *b"source,target,since\n1,2,2019\n2,3,2022\n");
/// # let path = directory.path().join("web.esker");
/// # let read = esker::import::ReadOptions {
/// #     properties: esker::import::PickProperties::All,
/// #     ..Default::default()
/// # };
/// # let edges = [esker::import::Input::memory("web.csv", csv)];
/// # esker::import::import_inputs(&edges, &path, &read, &Default::default())?;
/// # let version = esker::store::Store::open(&path)?.latest()?;
/// use esker::selection::{Condition, Conditions};
///
/// let condition: Condition = "since >= 2020 or source = 7".parse()?;
/// let run = esker::graph::Run::with_threads(1)?;
/// let Some(conditions) = Conditions::of(&[condition], &version, &run)? else { panic!("there is one") };
/// let newer = version.view().filtered(conditions, None, false, &run)?;
/// assert_eq!(newer.num_edges(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// As it was written.
    text: String,
    expression: Expression,
}

impl Condition {
    /// The condition as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The same about rows whose columns have these names and types; `aliases` are further names of columns.
    ///
    /// # Errors
    /// As [`RowTest::new`].
    pub(crate) fn of_rows(&self, columns: &[RowColumn], aliases: &[(&str, usize)]) -> Result<RowTest> {
        RowTest::new(&self.expression, columns, aliases)
    }

    /// Whether it asks about a property, or a column, of this name.
    pub(crate) fn names(&self, name: &str) -> bool {
        names(&self.expression, name)
    }

    /// The same about a vertex, whose properties are named without `vertex`.
    ///
    /// # Errors
    /// [`Error::Usage`] for a source or a target.
    pub(crate) fn of_vertices(&self) -> Result<Self> {
        Ok(Self { text: self.text.clone(), expression: of_vertices(&self.expression)? })
    }
}

fn names(expression: &Expression, name: &str) -> bool {
    match expression {
        Expression::All(parts) | Expression::Any(parts) => parts.iter().any(|part| names(part, name)),
        Expression::Not(part) => names(part, name),
        Expression::Test(Comparison { operand, .. }) => {
            operand.whose == Whose::Edge && operand.name.as_deref() == Some(name)
        }
    }
}

fn of_vertices(expression: &Expression) -> Result<Expression> {
    let all = |parts: &[Expression]| parts.iter().map(of_vertices).collect::<Result<Vec<_>>>();
    Ok(match expression {
        Expression::All(parts) => Expression::All(all(parts)?),
        Expression::Any(parts) => Expression::Any(all(parts)?),
        Expression::Not(part) => Expression::Not(Box::new(of_vertices(part)?)),
        Expression::Test(Comparison { operand, asked }) => match operand.whose {
            Whose::Source | Whose::Target => {
                return Err(end_of_vertex(&operand.to_string(), operand.name.as_deref()));
            }
            Whose::Edge | Whose::Vertex => {
                let operand = Operand { whose: Whose::Vertex, ..operand.clone() };
                Expression::Test(Comparison { operand, asked: asked.clone() })
            }
        },
    })
}

/// The error for an end of an edge, or its property, where a vertex is asked about.
pub(crate) fn end_of_vertex(end: &str, property: Option<&str>) -> Error {
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    Error::usage(match property {
        Some(name) => format!("a vertex has no {end}: name its property alone, as {}", quoted(name)),
        None => format!(
            "a vertex has no {end}: its id is called vertex, and a property called {end} is put in double quotes, as {}",
            quoted(end)
        ),
    })
}

impl std::str::FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        Ok(Self { text: text.to_owned(), expression: text::parse(text)? })
    }
}

#[derive(Debug)]
struct ConditionTest {
    test: EdgeTest,
    /// Whether it is asked with each end as `vertex`.
    is_of_both_ends: bool,
}

/// Conditions on edges of a version; an edge meets all of them.
#[derive(Debug)]
pub struct Conditions {
    tests: Vec<ConditionTest>,
    /// Whether at most one of the edges between two vertices meets them, by the rule of the database.
    are_of_one_kind: bool,
}

impl Conditions {
    /// Conditions on the edges of a version; `None` if there are none.
    ///
    /// Those on vertices are answered for all vertices at once, on the threads of `run`. Memory: two bits a
    /// vertex for each question about vertices, and two bytes for each text of a property that is compared.
    ///
    /// # Errors
    /// [`Error::Usage`] for conditions that the properties do not fit, and for an
    /// unknown property; the memory limit of `run`; cancellation.
    pub fn of(conditions: &[Condition], version: &Version, run: &Run) -> Result<Option<Arc<Self>>> {
        Self::with_kinds(conditions, &[], version, run)
    }

    /// Conditions on the edges of a version that are of one of some kinds; of any if none is given.
    ///
    /// # Errors
    /// As [`Conditions::of`]; for a kind that the version does not know.
    pub fn with_kinds(
        conditions: &[Condition],
        kinds: &[String],
        version: &Version,
        run: &Run,
    ) -> Result<Option<Arc<Self>>> {
        check_kinds(kinds, &[version])?;
        Self::with_checked_kinds(conditions, kinds, version, run)
    }

    /// As [`Conditions::with_kinds`], for kinds that [`check_kinds`] found in some version: no edge of this
    /// one is of those that it does not know.
    ///
    /// # Errors
    /// As [`Conditions::of`].
    pub fn with_checked_kinds(
        conditions: &[Condition],
        kinds: &[String],
        version: &Version,
        run: &Run,
    ) -> Result<Option<Arc<Self>>> {
        let tests = conditions.iter().map(|condition| EdgeTest::new(&condition.expression, version, run));
        let mut tests = tests.collect::<Result<Vec<_>>>()?;
        if !kinds.is_empty() {
            tests.push(EdgeTest::Value(kinds_test(kinds, version, run)?));
        }
        let joins = !version.manifest().duplicates().keeps_parallel();
        let are_of_one_kind = joins && version.kind_property().is_some() && leave_one_kind(&tests);
        let with_ends = |test: EdgeTest| ConditionTest { is_of_both_ends: test.is_of_both_ends(), test };
        let tests: Vec<_> = tests.into_iter().map(with_ends).collect();
        Ok((!tests.is_empty()).then(|| Arc::new(Self { tests, are_of_one_kind })))
    }

    /// Whether an edge meets all, the bits of whose properties `bits` reads.
    fn are_met(
        &self,
        [source, target]: [VertexId; 2],
        bits: impl Fn(u32) -> esker_store::Result<u64>,
    ) -> esker_store::Result<bool> {
        for ConditionTest { test, is_of_both_ends } in &self.tests {
            let ends: &[_] = if *is_of_both_ends { &[source, target] } else { &[source] };
            for &vertex in ends {
                if test.of(EdgeEnds { source, target, vertex }, &bits)? != Some(true) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Whether a vertex meets conditions that ask about vertices alone.
    ///
    /// # Errors
    /// None, if they ask about no property of edges.
    pub(crate) fn keeps_vertex(&self, v: VertexId) -> Result<bool> {
        Ok(self.are_met([v, v], |_| Ok(0))?)
    }

    /// A difference between the edges that meet all: one that comes to meet them is added, one that no
    /// longer does is removed. `former` are the same conditions on the earlier version.
    /// Differences of vertices
    /// stay. `None` if it is none.
    ///
    /// # Errors
    /// [`esker_store::Error::Corrupt`].
    pub fn of_difference<'d>(
        &self,
        former: &Self,
        difference: Difference<'d>,
    ) -> esker_store::Result<Option<Difference<'d>>> {
        let keeps = |conditions: &Self, edge: &DiffEdge<'_>| {
            conditions.are_met([edge.source, edge.target], |number| edge.bits(number))
        };
        Ok(match difference {
            Difference::VertexAdded(_) | Difference::VertexRemoved(_) | Difference::ValueChanged(..) => {
                Some(difference)
            }
            Difference::EdgeAdded(edge) => keeps(self, &edge)?.then_some(Difference::EdgeAdded(edge)),
            Difference::EdgeRemoved(edge) => keeps(former, &edge)?.then_some(Difference::EdgeRemoved(edge)),
            Difference::EdgeChanged(old, new) => match (keeps(former, &old)?, keeps(self, &new)?) {
                (true, true) => Some(Difference::EdgeChanged(old, new)),
                (true, false) => Some(Difference::EdgeRemoved(old)),
                (false, true) => Some(Difference::EdgeAdded(new)),
                (false, false) => None,
            },
        })
    }
}

impl ArcFilter for Conditions {
    fn keeps_one_a_pair(&self) -> bool {
        self.are_of_one_kind
    }

    fn keeps(&self, arc: &ListedArc<'_>) -> esker_store::Result<bool> {
        self.are_met([arc.source, arc.target], |number| {
            let column = arc.lists.property(number as usize);
            let column = column.ok_or_else(|| {
                esker_store::Error::invalid(format!("there is no edge property number {number}"))
            })?;
            column.bits_at(arc.index)
        })
    }
}

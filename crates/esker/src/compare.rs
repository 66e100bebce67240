//! What differs between the answers of an algorithm on two graphs of one database, vertex by vertex.
//!
//! Graphs are versions, windows, or other parts. Values that are numbers are subtracted. Labels of groups are
//! compared by the groups that they name, not as labels: the change of a vertex is the Jaccard distance of
//! its group in one graph and its group in the other, 0 for the same members and nearly 1 for all others.

use std::collections::HashMap;
use std::sync::Arc;

use esker_graph::{NONE, Run, VertexId, vertex};
use esker_store::{Version, View};

use crate::answer::{Answer, AnswerColumn, Fact, Ranking, Value, Values};
use crate::error::{Error, Result};
use crate::top::label_bits;

/// Bytes for each row of both answers: their places, their order, and the columns.
const ROW_BYTES: u64 = 96;
/// Bytes for each row of labels: entries of three hash tables that are half full.
const LABEL_BYTES: u64 = 144;
/// Rows between two looks for a cancellation.
const CHECK_LEN: usize = 1 << 14;

/// Two answers side by side.
#[derive(Debug, Clone)]
pub struct ComparedAnswers {
    /// A row for each vertex of either graph, the greatest change first. The columns: `a` and `b`, the
    /// principal values; `change`, from `a` to `b`; `in_a` and `in_b`, 1 where the graph has the vertex.
    /// Where one value is missing, the change is no number, and the row comes after those that have one. The
    /// facts count the vertices that changed, and those that a graph lacks.
    pub answer: Answer,
    /// The version that knows the ids of all rows.
    pub version: Version,
}

/// A vertex, and its row in each answer that has one.
#[derive(Debug, Clone, Copy)]
struct Joined {
    vertex: VertexId,
    rows: [Option<usize>; 2],
}

/// Computes on both views one after another, and compares the answers. The views are of one database, whose
/// versions number vertices alike.
///
/// # Errors
/// [`Error::Usage`] for graphs of two databases, and answers without a value for each vertex; what `compute`
/// returns; the memory limit of `run`; cancellation.
pub fn compare<E: From<Error>>(
    views: [&View; 2],
    run: &Run,
    mut compute: impl FnMut(usize) -> std::result::Result<Answer, E>,
) -> std::result::Result<ComparedAnswers, E> {
    expect_one_numbering(views)?;
    let first = compute(0)?;
    expect_values(&first)?;
    let kept = first.columns.iter().map(|column| column.values.len() as u64 * 8).sum();
    let held = run.budget().reserve("the first answer", kept).map_err(|stop| E::from(stop.into()))?;
    let second = compute(1)?;
    expect_values(&second)?;
    let answer = side_by_side([&first, &second], run)?;
    drop(held);
    // Later versions know all ids of earlier ones.
    let later = usize::from(views[1].version().num_vertices() > views[0].version().num_vertices());
    Ok(ComparedAnswers { answer, version: views[later].version().clone() })
}

/// Refuses graphs whose vertices with the same number may be different ones.
fn expect_one_numbering(views: [&View; 2]) -> Result<()> {
    let [a, b] = views.map(|view| view.version().manifest());
    if a.database == b.database && a.ids == b.ids {
        return Ok(());
    }
    let [path_a, path_b] = views.map(|view| view.version().path().display().to_string());
    let reason = match a.database == b.database {
        true => {
            format!("the vertices of {path_a} were numbered anew between the two: open both graphs again")
        }
        false => format!("{path_a} and {path_b} are two databases: only graphs of one are compared"),
    };
    Err(Error::usage(reason))
}

fn expect_values(answer: &Answer) -> Result<()> {
    if answer.has_vertex_rows() {
        return Ok(());
    }
    Err(Error::usage("only answers with a value for each vertex are compared vertex by vertex".to_owned()))
}

fn side_by_side(answers: [&Answer; 2], run: &Run) -> Result<Answer> {
    let [a, b] = answers;
    let [of_a, of_b] = [&a.columns[0], &b.columns[0]];
    let is_of_groups = of_a.ranking.is_of_groups();
    let rows = (of_a.values.len() + of_b.values.len()) as u64;
    let bytes = rows * if is_of_groups { ROW_BYTES + LABEL_BYTES } else { ROW_BYTES };
    let _memory = run.budget().reserve("the comparison", bytes)?;
    let joined = join(a, b);
    let values = |one: &Joined| {
        let [row_a, row_b] = one.rows;
        [
            row_a.map_or(Value::Missing, |row| of_a.values.get(row)),
            row_b.map_or(Value::Missing, |row| of_b.values.get(row)),
        ]
    };
    let groups = if is_of_groups { Some(Overlaps::of(joined.iter().map(values), run)?) } else { None };
    let change = |one: &Joined| match (&groups, values(one)) {
        (_, [Value::Missing, _] | [_, Value::Missing]) => None,
        (Some(groups), [a, b]) => Some(groups.distance(a, b)),
        (None, [a, b]) => Some(match (a.number(), b.number()) {
            (Some(from), Some(to)) => to - from,
            _ => f64::from(u8::from(!a.is_same(b))),
        }),
    };
    let ranked = |joined: Joined| {
        let (values, change) = (values(&joined), change(&joined));
        let class = class(change, values, joined.rows);
        let largest = values.iter().filter_map(|value| value.number()).map(f64::abs).fold(0.0, f64::max);
        Ranked { joined, change, class, size: change.map_or(largest, f64::abs) }
    };
    let mut ordered: Vec<Ranked> = joined.into_iter().map(ranked).collect();
    run.check()?;
    ordered.sort_by(|a, b| {
        let by_size = || b.size.total_cmp(&a.size);
        a.class.cmp(&b.class).then_with(by_size).then_with(|| a.joined.vertex.cmp(&b.joined.vertex))
    });
    run.check()?;
    let side = |side: usize| ordered.iter().map(move |one| one.joined.rows[side]);
    let lacking = |at| Fact::Count(side(at).filter(Option::is_none).count() as u64);
    let changed = ordered.iter().filter(|one| one.class != Class::Same).count() as u64;
    let column = |name, values| AnswerColumn { name, values, ranking: Ranking::Largest };
    let is_in = |at| Values::Count(side(at).map(|row| u64::from(row.is_some())).collect());
    let changes = ordered.iter().map(|one| one.change.unwrap_or(f64::INFINITY)).collect();
    Ok(Answer {
        vertices: Some(ordered.iter().map(|one| one.joined.vertex).collect::<Arc<[VertexId]>>()),
        columns: vec![
            column("a", picked(&of_a.values, side(0))),
            column("b", picked(&of_b.values, side(1))),
            column("change", Values::Float(changes)),
            column("in_a", is_in(0)),
            column("in_b", is_in(1)),
        ],
        facts: vec![
            ("changed", Fact::Count(changed)),
            ("missing_in_a", lacking(0)),
            ("missing_in_b", lacking(1)),
        ],
        rounds: a.rounds.max(b.rounds),
        arcs: a.arcs + b.arcs,
        seconds: a.seconds + b.seconds,
        ..Answer::default()
    })
}

/// A row in the order of rows.
struct Ranked {
    joined: Joined,
    change: Option<f64>,
    class: Class,
    /// How large the change is; without one, how large the value is that came or went.
    size: f64,
}

/// Which rows come before which.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    /// A number says how much they changed.
    Moved,
    /// They came to a value, or lost it, or one graph lacks the vertex.
    Came,
    Same,
}

fn class(change: Option<f64>, values: [Value; 2], rows: [Option<usize>; 2]) -> Class {
    let [a, b] = values;
    match change {
        Some(0.0) => Class::Same,
        Some(_) => Class::Moved,
        None if a.is_same(b) && rows[0].is_some() == rows[1].is_some() => Class::Same,
        None => Class::Came,
    }
}

/// The rows of both answers by vertex, in the order of vertices.
fn join(a: &Answer, b: &Answer) -> Vec<Joined> {
    let mut sides = [a, b].map(|answer| {
        (0..answer.columns[0].values.len()).map(|row| (vertex_of(answer, row), row)).peekable()
    });
    let mut joined = Vec::new();
    loop {
        let [next_a, next_b] = sides.each_mut().map(|side| side.peek().map(|&(vertex, _)| vertex));
        let Some(vertex) = next_a.into_iter().chain(next_b).min() else { return joined };
        let rows = sides.each_mut().map(|side| side.next_if(|(next, _)| *next == vertex).map(|(_, row)| row));
        joined.push(Joined { vertex, rows });
    }
}

fn vertex_of(answer: &Answer, row: usize) -> VertexId {
    answer.vertices.as_ref().map_or_else(|| vertex(row), |vertices| vertices[row])
}

/// The values of some rows, without a value where there is no row.
fn picked(values: &Values, rows: impl Iterator<Item = Option<usize>>) -> Values {
    match values {
        Values::Vertex(of) => Values::Vertex(rows.map(|row| row.map_or(NONE, |row| of[row])).collect()),
        Values::Index(of) => Values::Index(rows.map(|row| row.map_or(NONE, |row| of[row])).collect()),
        Values::Integer(of) => {
            Values::Integer(rows.map(|row| row.map_or(Values::NO_INTEGER, |row| of[row])).collect())
        }
        Values::Count(of) => Values::Count(rows.map(|row| row.map_or(u64::MAX, |row| of[row])).collect()),
        Values::Float(of) => {
            Values::Float(rows.map(|row| row.map_or(f64::INFINITY, |row| of[row])).collect())
        }
    }
}

/// How many vertices groups have, and share.
struct Overlaps {
    sizes: [HashMap<u64, u64>; 2],
    shared: HashMap<[u64; 2], u64>,
}

impl Overlaps {
    /// Of the labels of each vertex in both answers.
    fn of(labels: impl Iterator<Item = [Value; 2]>, run: &Run) -> Result<Self> {
        let mut overlaps = Self { sizes: [HashMap::new(), HashMap::new()], shared: HashMap::new() };
        for (row, labels) in labels.enumerate() {
            if row % CHECK_LEN == 0 {
                run.check()?;
            }
            let keys = labels.map(label_bits);
            for (sizes, key) in overlaps.sizes.iter_mut().zip(keys) {
                key.into_iter().for_each(|key| *sizes.entry(key).or_insert(0) += 1);
            }
            if let [Some(a), Some(b)] = keys {
                *overlaps.shared.entry([a, b]).or_insert(0) += 1;
            }
        }
        Ok(overlaps)
    }

    /// 1 less the share of the members of two groups that both have.
    fn distance(&self, a: Value, b: Value) -> f64 {
        let (Some(a), Some(b)) = (label_bits(a), label_bits(b)) else { return 1.0 };
        let size = |side: usize, key: u64| self.sizes[side].get(&key).copied().unwrap_or(0);
        let shared = self.shared.get(&[a, b]).copied().unwrap_or(0);
        let either = size(0, a) + size(1, b) - shared;
        (either - shared) as f64 / either.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(vertices: Option<&[VertexId]>, values: Values, ranking: Ranking) -> Answer {
        Answer {
            vertices: vertices.map(Arc::from),
            columns: vec![AnswerColumn { name: "value", values, ranking }],
            ..Answer::default()
        }
    }

    fn rows(found: &Answer) -> Vec<(Value, [Value; 3])> {
        let value = |row, column: usize| found.columns[column].values.get(row);
        (0..found.columns[0].values.len())
            .map(|row| (found.key(row), [0, 1, 2].map(|column| value(row, column))))
            .collect()
    }

    #[test]
    fn numbers_are_subtracted_and_vertices_of_one_graph_come_after_those_that_moved() {
        let run = Run::with_threads(1).unwrap();
        let a = answer(None, Values::Float(vec![0.5, 0.25, f64::INFINITY, 1.0]), Ranking::Largest);
        let b = answer(Some(&[0, 1, 2, 5]), Values::Float(vec![0.5, 1.25, 2.0, 7.0]), Ranking::Largest);
        let found = side_by_side([&a, &b], &run).unwrap();
        let [float, missing] = [Value::Float, |_| Value::Missing];
        assert_eq!(
            rows(&found),
            [
                (Value::Vertex(1), [float(0.25), float(1.25), float(1.0)]),
                (Value::Vertex(5), [missing(0.0), float(7.0), missing(0.0)]),
                (Value::Vertex(2), [missing(0.0), float(2.0), missing(0.0)]),
                (Value::Vertex(3), [float(1.0), missing(0.0), missing(0.0)]),
                (Value::Vertex(0), [float(0.5), float(0.5), float(0.0)]),
            ]
        );
        assert_eq!(found.columns[3].values, Values::Count(vec![1, 0, 1, 1, 1]));
        assert_eq!(found.columns[4].values, Values::Count(vec![1, 1, 1, 0, 1]));
        let counts = ["changed", "missing_in_a", "missing_in_b"].map(|name| found.fact(name).cloned());
        assert_eq!(counts, [4, 1, 1].map(|count| Some(Fact::Count(count))));
    }

    #[test]
    fn groups_are_compared_by_their_members() {
        let run = Run::with_threads(1).unwrap();
        // The labels are others, the first group is the same, and the third vertex has left the second.
        let a = answer(None, Values::Vertex(vec![0, 0, 2, 2, 2]), Ranking::Groups);
        let b = answer(None, Values::Vertex(vec![1, 1, 2, 3, 3]), Ranking::Groups);
        let found = side_by_side([&a, &b], &run).unwrap();
        let changes: Vec<_> = rows(&found).into_iter().map(|(key, [_, _, change])| (key, change)).collect();
        let third = |v, change| (Value::Vertex(v), Value::Float(change));
        assert_eq!(
            changes,
            [third(2, 2.0 / 3.0), third(3, 1.0 / 3.0), third(4, 1.0 / 3.0), third(0, 0.0), third(1, 0.0)]
        );
    }
}

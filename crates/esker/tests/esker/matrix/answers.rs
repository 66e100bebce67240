//! Compares answers on different numberings of the same vertices.

use std::collections::BTreeMap;

use esker::answer::{Answer, Fact, Ranking, Value, Values};
use esker::store::View;

use super::world::World;
use crate::encodings::is_near;

/// The values of each row.
type Rows<K> = BTreeMap<K, Vec<Value>>;

/// An answer by the vertices of the world, without what varies from run to run.
#[derive(Debug)]
pub(super) struct Found {
    vertices: Rows<usize>,
    edges: Rows<(usize, usize)>,
    facts: Vec<(&'static str, Fact)>,
}

/// Figures that say how the algorithm went, and not what it found.
const FIGURES_OF_THE_RUN: &[&str] = &["delta", "error"];

impl Found {
    /// `vertex` says which vertex of the world a vertex of the version is.
    pub(super) fn of(answer: &Answer, vertex: impl Fn(esker::graph::VertexId) -> usize) -> Self {
        let columns: Vec<Vec<Value>> = answer.columns.iter().map(|column| values(&column.values)).collect();
        let rows = columns.first().map_or_else(|| answer.edges.as_ref().map_or(0, Vec::len), Vec::len);
        let (mut vertices, mut edges) = (Rows::new(), Rows::new());
        // A label says no more than which vertices share it: it becomes the least of them.
        let mut labels = vec![BTreeMap::new(); columns.len()];
        let is_label = |column: usize| answer.columns[column].ranking == Ranking::Groups;
        for (column, values) in columns.iter().enumerate() {
            for (row, &value) in values.iter().enumerate() {
                let (Value::Vertex(v), Some(label)) = (answer.key(row), label(value, is_label(column)))
                else {
                    continue;
                };
                let least = labels[column].entry(label).or_insert(vertex(v));
                *least = vertex(v).min(*least);
            }
        }
        for row in 0..rows {
            let value = |column: usize| {
                let value = columns[column][row];
                let shared = label(value, is_label(column)).and_then(|label| labels[column].get(&label));
                shared.map_or(value, |&least| Value::Count(least as u64))
            };
            let values: Vec<Value> = (0..columns.len()).map(value).collect();
            match answer.key(row) {
                // A cycle may pass an edge twice.
                Value::Edge(u, v) => {
                    let (u, v) = (vertex(u), vertex(v));
                    edges.insert((u.min(v), u.max(v)), values);
                }
                Value::Vertex(v) => {
                    let before = vertices.insert(vertex(v), values);
                    assert!(before.is_none(), "two rows of one vertex");
                }
                other => panic!("{other:?} is the key of no row"),
            }
        }
        let facts = answer.facts.iter().filter(|(name, _)| !FIGURES_OF_THE_RUN.contains(name));
        Self { vertices, edges, facts: facts.cloned().collect() }
    }

    pub(super) fn is_like(&self, other: &Self) -> bool {
        let fact = |pair: (&(&str, Fact), &(&str, Fact))| match pair {
            ((a, Fact::Float(x)), (b, Fact::Float(y))) => a == b && is_near(*x, *y),
            (a, b) => a == b,
        };
        are_alike(&self.vertices, &other.vertices)
            && are_alike(&self.edges, &other.edges)
            && self.facts.len() == other.facts.len()
            && self.facts.iter().zip(&other.facts).all(fact)
    }
}

/// What identifies a label: vertices always are one, numbers where the column holds labels.
fn label(value: Value, is_label: bool) -> Option<u64> {
    match value {
        Value::Vertex(v) => Some(v as u64),
        Value::Count(label) if is_label => Some(label),
        _ => None,
    }
}

fn values(values: &Values) -> Vec<Value> {
    (0..values.len()).map(|row| values.get(row)).collect()
}

fn are_alike<K: Ord>(left: &Rows<K>, right: &Rows<K>) -> bool {
    let same = |pair: (&Value, &Value)| match pair {
        (Value::Float(a), Value::Float(b)) => is_near(*a, *b),
        (a, b) => a == b,
    };
    let row = |(left, right): (&Vec<Value>, &Vec<Value>)| {
        left.len() == right.len() && left.iter().zip(right).all(same)
    };
    left.keys().eq(right.keys()) && left.values().zip(right.values()).all(row)
}

/// The vertices of the world, by those of a version. A vertex that was removed has none.
pub(super) fn places(world: &World, view: &View) -> impl Fn(esker::graph::VertexId) -> usize {
    let ids = view.version().ids();
    move |v| world.vertex(ids.external_of(v).expect("an id"))
}

//! The vertices with the most extreme values.

use std::cmp::Ordering;

use esker_graph::{VertexId, vertex};

use crate::answer::{Value, Values};

/// Which end of the values is wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Order {
    /// The largest first.
    #[default]
    Largest,
    /// The smallest first.
    Smallest,
}

/// The `count` vertices with the largest (or smallest) values, in that order; ties by the smaller vertex. Vertices
/// without a value are left out. Time O(n + k log k). Memory: 4 bytes a vertex (8 with `id64`).
pub fn top(values: &Values, count: usize, order: Order) -> Vec<VertexId> {
    let compare = |a: &VertexId, b: &VertexId| {
        let by_value = by_value(values.get(*a as usize), values.get(*b as usize));
        let by_value = if order == Order::Largest { by_value.reverse() } else { by_value };
        by_value.then(a.cmp(b))
    };
    let mut vertices: Vec<VertexId> =
        (0..values.len()).filter(|&v| values.get(v) != Value::Missing).map(vertex).collect();
    if count < vertices.len() {
        if count > 0 {
            vertices.select_nth_unstable_by(count - 1, compare);
        }
        vertices.truncate(count);
    }
    vertices.sort_unstable_by(compare);
    vertices
}

/// Values of one column are of one kind; none is missing here.
fn by_value(a: Value, b: Value) -> Ordering {
    match (a, b) {
        (Value::Float(a), Value::Float(b)) => a.total_cmp(&b),
        (Value::Integer(a), Value::Integer(b)) => a.cmp(&b),
        (Value::Count(a), Value::Count(b)) => a.cmp(&b),
        (Value::Vertex(a), Value::Vertex(b)) => a.cmp(&b),
        _ => Ordering::Equal,
    }
}

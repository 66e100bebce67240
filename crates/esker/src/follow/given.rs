//! Columns of values that change one by one.

use esker_graph::{NONE, VertexId};

use crate::answer::{Value, Values};

/// Sets the value of a vertex, which may be new.
pub(super) fn set(values: &mut Values, v: VertexId, value: Value) {
    match values {
        Values::Vertex(values) => {
            put(values, v, NONE, if let Value::Vertex(label) = value { label } else { NONE });
        }
        Values::Index(values) => {
            let index = if let Value::Count(count) = value { count as VertexId } else { NONE };
            put(values, v, NONE, index);
        }
        Values::Integer(values) => {
            let none = Values::NO_INTEGER;
            put(values, v, none, if let Value::Integer(integer) = value { integer } else { none });
        }
        Values::Count(values) => {
            put(values, v, u64::MAX, if let Value::Count(count) = value { count } else { u64::MAX });
        }
        Values::Float(values) => {
            put(values, v, f64::NAN, if let Value::Float(number) = value { number } else { f64::NAN });
        }
    }
}

fn put<T: Copy>(values: &mut Vec<T>, v: VertexId, none: T, value: T) {
    if values.len() <= v as usize {
        values.resize(v as usize + 1, none);
    }
    values[v as usize] = value;
}

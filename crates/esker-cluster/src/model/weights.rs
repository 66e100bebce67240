//! Weights of edges: what they are in the shards, and how they come from the columns of an input.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{ArrayRef, PrimitiveArray};
use esker_format::{ElementType, PropertyRecord};
use esker_graph::{Message, Operation, Setting, message};
use serde::{Deserialize, Serialize};

/// What the weights of edges are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum WeightKind {
    /// Integers of 64 bits.
    Int,
    /// Numbers of 64 bits with fractions.
    Float,
}

/// The weights of a shard, if its edges have any.
pub(crate) fn weight_kind(edge_properties: &[PropertyRecord]) -> Option<WeightKind> {
    let weight = edge_properties.iter().find(|property| property.weight)?;
    Some(if weight.element == ElementType::I64 { WeightKind::Int } else { WeightKind::Float })
}

/// Floats below this stand for one integer each.
const EXACT: f64 = (1_u64 << 53) as f64;

/// A weight that is not of the kind of the cluster.
pub(crate) struct BadWeight {
    /// Its place in the column.
    pub(crate) row: usize,
    /// The weight, and why it is refused.
    pub(crate) reason: Message,
}

impl WeightKind {
    /// The type of the weights in the shards.
    pub(crate) fn element(self) -> ElementType {
        match self {
            Self::Int => ElementType::I64,
            Self::Float => ElementType::F64,
        }
    }

    /// The bits of the weights of a column of integers or floats.
    pub(crate) fn bits_of(self, column: &ArrayRef) -> std::result::Result<Vec<u64>, BadWeight> {
        let integers = column.as_primitive_opt::<Int64Type>().map(PrimitiveArray::values);
        let floats = column.as_primitive_opt::<Float64Type>().map(PrimitiveArray::values);
        let len = column.len();
        let bits = (0..len).map(|row| match (self, integers, floats) {
            _ if column.is_null(row) => Err(BadWeight {
                row,
                reason: message![
                    "a missing value, and each edge of a cluster has a weight: give such edges one, or leave the weights \
                     out with ",
                    Setting::Weight.to(false),
                ],
            }),
            (Self::Int, Some(integers), _) => Ok(integers[row] as u64),
            (Self::Float, _, Some(floats)) => Ok(floats[row].to_bits()),
            (Self::Float, Some(integers), _) if integers[row] as f64 as i128 == i128::from(integers[row]) => {
                Ok((integers[row] as f64).to_bits())
            }
            (Self::Float, Some(integers), _) => Err(BadWeight {
                row,
                reason: format!(
                    "{}, which no float equals; the weights of this cluster are floats",
                    integers[row]
                )
                .into(),
            }),
            (Self::Int, _, Some(floats))
                if floats[row] as i64 as f64 == floats[row] && floats[row].abs() < EXACT =>
            {
                Ok(floats[row] as i64 as u64)
            }
            (Self::Int, _, Some(floats)) => Err(BadWeight {
                row,
                reason: message![
                    format!("{}, but the weights of this cluster are integers: make one with ", floats[row]),
                    Operation::ClusterCreate.with(Setting::Weights.to("float")),
                ],
            }),
            _ => Err(BadWeight {
                row,
                reason: message!["that is no number: name the column with ", Setting::Weight],
            }),
        });
        bits.collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{Float64Array, Int64Array};

    use super::*;

    #[test]
    fn weights_keep_their_value_or_are_refused() {
        let integers: ArrayRef = Arc::new(Int64Array::from(vec![-3, 1 << 53]));
        let wide: ArrayRef = Arc::new(Int64Array::from(vec![0, (1 << 53) + 1]));
        let floats: ArrayRef = Arc::new(Float64Array::from(vec![2.0, 0.5]));
        assert_eq!(WeightKind::Int.bits_of(&integers).ok(), Some(vec![-3_i64 as u64, 1 << 53]));
        assert_eq!(WeightKind::Int.bits_of(&wide).ok(), Some(vec![0, (1 << 53) + 1]));
        let bits = [-3.0, 9_007_199_254_740_992.0].map(f64::to_bits).to_vec();
        assert_eq!(WeightKind::Float.bits_of(&integers).ok(), Some(bits));
        let refused = |kind: WeightKind, column| {
            kind.bits_of(column).err().map(|bad| (bad.row, bad.reason.to_string()))
        };
        let (row, reason) = refused(WeightKind::Float, &wide).expect("no float equals it");
        assert!(row == 1 && reason.starts_with("9007199254740993, which no float equals"), "{reason}");
        let (row, reason) = refused(WeightKind::Int, &floats).expect("no integer");
        assert!(row == 1 && reason.contains("weights = float"), "{reason}");
    }
}

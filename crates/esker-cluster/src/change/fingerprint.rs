//! A fingerprint of the last edge of a stream that a version has, by which a replaced file is known.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use esker_import::read::source::{EdgeBatch, id_at};
use esker_store::ids::ExternalId;

/// A number that is the same for the same edge: FNV-1a over its ids and its weight, if it has one. An integer
/// weight counts as the float nearest to it, because another block of the same file may have fractions.
pub(crate) fn fingerprint(batch: &EdgeBatch, row: usize, weight: Option<usize>) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |bytes: &[u8]| {
        for &byte in bytes.iter().chain(&[0xff]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for id in [id_at(&batch.source, row), id_at(&batch.target, row)] {
        match id {
            ExternalId::Int(id) => add(&id.to_le_bytes()),
            ExternalId::Text(text) => add(text),
        }
    }
    if let Some(column) = weight.map(|weight| &batch.properties[weight]) {
        let integer = column.as_primitive_opt::<Int64Type>().map(|column| column.value(row) as f64);
        let float = || column.as_primitive_opt::<Float64Type>().map(|column| column.value(row));
        add(&integer.or_else(float).unwrap_or(0.0).to_le_bytes());
    }
    hash
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Float64Array, Int64Array};

    use super::*;

    #[test]
    fn an_edge_has_its_own_fingerprint_which_does_not_depend_on_the_type_of_its_weight() {
        let with = |source: u64, weights: ArrayRef| EdgeBatch {
            properties: vec![weights],
            ..EdgeBatch::of_integers(vec![source], vec![2], 0)
        };
        let integer = |weight: i64| -> ArrayRef { Arc::new(Int64Array::from(vec![weight])) };
        let of = |source, weights| fingerprint(&with(source, weights), 0, Some(0));
        let known = of(1, integer(-5));
        assert_eq!(of(1, Arc::new(Float64Array::from(vec![-5.0]))), known);
        assert_ne!(of(1, integer(-4)), known);
        assert_ne!(of(3, integer(-5)), known);
        assert_ne!(fingerprint(&with(1, integer(-5)), 0, None), known);
    }
}

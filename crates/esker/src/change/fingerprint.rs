//! By which a stream finds again the last edge that it read.

use esker_import::read::operation::RowOperation;
use esker_store::ids::ExternalId;
use esker_store::property::PropertyValue;

use super::feed_policy::FedEdge;

/// A number that is the same for the same edge, also after its properties were widened: FNV-1a over its ids
/// and values. Numbers of all types count as floats of 64 bits.
pub(super) fn fingerprint(edge: &FedEdge<'_>) -> u64 {
    fingerprint_of(edge, |value| match value {
        PropertyValue::U8(number) => Some(f64::from(*number)),
        PropertyValue::U16(number) => Some(f64::from(*number)),
        PropertyValue::U32(number) => Some(f64::from(*number)),
        PropertyValue::U64(number) => Some(*number as f64),
        other => signed(other),
    })
}

/// Whether the fingerprint of an edge is, or was in an older version, `known`.
pub(super) fn has_fingerprint(edge: &FedEdge<'_>, known: u64) -> bool {
    // Ids may have become texts since.
    let (source, target) = (as_number(edge.source), as_number(edge.target));
    let numbered = FedEdge { source, target, ..*edge };
    [edge, &numbered].iter().any(|edge| fingerprint(edge) == known || older_fingerprint(edge) == known)
}

/// An id that is digits, as the integer that it was before ids became texts.
fn as_number(id: ExternalId<'_>) -> ExternalId<'_> {
    let number = match id {
        ExternalId::Int(number) => Some(number),
        ExternalId::Text(text) => std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()),
    };
    number.map_or(id, ExternalId::Int)
}

/// The fingerprint in messages of older versions: of unsigned numbers the bits counted, so it changed when
/// they were widened.
fn older_fingerprint(edge: &FedEdge<'_>) -> u64 {
    fingerprint_of(edge, signed)
}

fn signed(value: &PropertyValue<'_>) -> Option<f64> {
    match value {
        PropertyValue::I32(number) => Some(f64::from(*number)),
        PropertyValue::I64(number) => Some(*number as f64),
        PropertyValue::F32(number) => Some(f64::from(*number)),
        _ => None,
    }
}

fn fingerprint_of(edge: &FedEdge<'_>, number: impl Fn(&PropertyValue<'_>) -> Option<f64>) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |bytes: &[u8]| {
        for &byte in bytes.iter().chain(&[0xff]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for id in [edge.source, edge.target] {
        match id {
            ExternalId::Int(id) => add(&id.to_le_bytes()),
            ExternalId::Text(text) => add(text),
        }
    }
    for value in edge.values {
        match (value, number(value)) {
            (PropertyValue::Text(text), _) => add(text),
            (PropertyValue::Missing, _) => add(&[0xfe; 9]),
            (_, Some(number)) => add(&number.to_le_bytes()),
            (other, None) => add(&other.bits().unwrap_or(0).to_le_bytes()),
        }
    }
    match edge.operation {
        RowOperation::Add => {}
        other => add(other.word().as_bytes()),
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edge_keeps_its_fingerprint_when_a_property_is_widened() {
        let of = |source, values: &[PropertyValue<'_>]| {
            fingerprint(&FedEdge {
                source: ExternalId::Int(source),
                target: ExternalId::Int(2),
                values,
                operation: RowOperation::Add,
            })
        };
        let narrow = of(1, &[PropertyValue::I32(-5)]);
        for wide in [PropertyValue::I64(-5), PropertyValue::F64(-5.0), PropertyValue::F32(-5.0)] {
            assert_eq!(of(1, &[wide]), narrow);
        }
        let narrow = of(1, &[PropertyValue::U8(5)]);
        for wide in
            [PropertyValue::U16(5), PropertyValue::U64(5), PropertyValue::I64(5), PropertyValue::F64(5.0)]
        {
            assert_eq!(of(1, &[wide]), narrow);
        }
        let narrow = of(1, &[PropertyValue::I32(-5)]);
        assert_ne!(of(1, &[PropertyValue::I32(-4)]), narrow);
        assert_ne!(of(2, &[PropertyValue::I32(-5)]), narrow);
    }

    #[test]
    fn an_edge_is_known_after_its_ids_became_texts() {
        let known = fingerprint(&FedEdge {
            source: ExternalId::Int(70),
            target: ExternalId::Int(2),
            values: &[PropertyValue::I32(-5)],
            operation: RowOperation::Add,
        });
        for (source, is_known) in [("70", true), ("7", false), ("ann", false)] {
            let edge = FedEdge {
                source: ExternalId::Text(source.as_bytes()),
                target: ExternalId::Text(b"2"),
                values: &[PropertyValue::I32(-5)],
                operation: RowOperation::Add,
            };
            assert_eq!(has_fingerprint(&edge, known), is_known, "{source}");
        }
    }

    #[test]
    fn the_removal_of_an_edge_has_another_fingerprint_than_its_addition() {
        let of = |operation| {
            let (source, target) = (ExternalId::Int(1), ExternalId::Int(2));
            fingerprint(&FedEdge { source, target, values: &[], operation })
        };
        assert_ne!(of(RowOperation::Add), of(RowOperation::Remove));
        assert_ne!(of(RowOperation::Replace), of(RowOperation::Remove));
    }
}

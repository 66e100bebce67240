//! The fields of an Arrow schema: what they hold, and which nodes and buffers of a record batch are theirs.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_ipc::{
    DateUnit, Endianness, Int, MetadataVersion, Precision, Type, UnionMode, root_as_footer, root_as_message,
};
use esker_format::Result;

use super::super::table::{Holds, damaged};
use super::message::SchemaBytes;

/// Levels of nesting that a column may have.
const DEPTH_MAX: usize = 64;

/// How the values of a column are understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Signed integers (times too) of so many bytes.
    Signed(usize),
    Unsigned(usize),
    Half,
    Single,
    Double,
    Boolean,
    /// Integers of so many bytes, to be divided by this power of ten.
    Decimal(usize, i32),
    /// Offsets of 4 bytes.
    Text,
    /// Offsets of 8 bytes.
    LargeText,
    TextView,
    Other,
}

/// The next free node, buffer and count of variable buffers of a record batch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) node: usize,
    pub(super) buffer: usize,
    /// Columns of views before this one: their data buffers come on top.
    pub(super) views: usize,
}

/// A column at the top of a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) name: String,
    /// Of the values, or of the indices into a dictionary.
    pub(super) kind: Kind,
    pub(super) place: Place,
    /// The dictionary that holds the values, and what they are.
    pub(super) dictionary: Option<i64>,
    values: Kind,
}

impl Field {
    pub(super) fn holds(&self) -> Holds {
        match self.values {
            Kind::Text | Kind::LargeText | Kind::TextView => Holds::Texts,
            Kind::Other => Holds::Other,
            _ => Holds::Numbers,
        }
    }

    /// The only column of this field's dictionary.
    pub(super) fn dictionary_values(&self) -> Self {
        Self { kind: self.values, place: Place::default(), dictionary: None, ..self.clone() }
    }
}

/// The columns of a schema.
///
/// # Errors
/// If the bytes are damaged, the file is big-endian or has a type that is not known.
pub(super) fn fields(path: &Arc<PathBuf>, bytes: &SchemaBytes) -> Result<Vec<Field>> {
    let (schema, version) = match bytes {
        SchemaBytes::Message(bytes) => {
            let message = root_as_message(bytes).map_err(|e| damaged(path, e))?;
            (message.header_as_schema(), message.version())
        }
        SchemaBytes::Footer(bytes) => {
            let footer = root_as_footer(bytes).map_err(|e| damaged(path, e))?;
            (footer.schema(), footer.version())
        }
    };
    let schema = schema.ok_or_else(|| damaged(path, "the schema is missing"))?;
    if schema.endianness() != Endianness::Little {
        return Err(damaged(path, "its numbers are big-endian"));
    }
    let mut place = Place::default();
    let mut fields = Vec::new();
    for field in schema.fields().iter().flatten() {
        let values = kind(&field);
        let dictionary = field.dictionary();
        let indices = dictionary.as_ref().map(|d| d.indexType().as_ref().map_or(Kind::Signed(4), integers));
        fields.push(Field {
            name: field.name().unwrap_or_default().to_owned(),
            kind: indices.unwrap_or(values),
            place,
            dictionary: dictionary.map(|d| d.id()),
            values,
        });
        if !step_over(&field, &mut place, version, 0) {
            return Err(damaged(path, format!("the type {:?} is not known", field.type_type())));
        }
    }
    Ok(fields)
}

fn integers(int: &Int<'_>) -> Kind {
    match (int.bitWidth(), int.is_signed()) {
        (bits @ (8 | 16 | 32 | 64), true) => Kind::Signed(bits as usize / 8),
        (bits @ (8 | 16 | 32 | 64), false) => Kind::Unsigned(bits as usize / 8),
        _ => Kind::Other,
    }
}

fn kind(field: &arrow_ipc::Field<'_>) -> Kind {
    match field.type_type() {
        Type::Int => field.type_as_int().as_ref().map_or(Kind::Other, integers),
        Type::FloatingPoint => match field.type_as_floating_point().map(|f| f.precision()) {
            Some(Precision::HALF) => Kind::Half,
            Some(Precision::SINGLE) => Kind::Single,
            Some(Precision::DOUBLE) => Kind::Double,
            _ => Kind::Other,
        },
        Type::Bool => Kind::Boolean,
        Type::Decimal => match field.type_as_decimal().map(|d| (d.bitWidth(), d.scale())) {
            Some((bits @ (32 | 64 | 128), scale @ -38..=38)) => Kind::Decimal(bits as usize / 8, scale),
            _ => Kind::Other,
        },
        Type::Date => match field.type_as_date().map(|d| d.unit()) {
            Some(DateUnit::DAY) => Kind::Signed(4),
            _ => Kind::Signed(8),
        },
        Type::Time => match field.type_as_time().map(|t| t.bitWidth()) {
            Some(32) => Kind::Signed(4),
            Some(64) => Kind::Signed(8),
            _ => Kind::Other,
        },
        Type::Timestamp | Type::Duration => Kind::Signed(8),
        Type::Utf8 | Type::Binary => Kind::Text,
        Type::LargeUtf8 | Type::LargeBinary => Kind::LargeText,
        Type::Utf8View | Type::BinaryView => Kind::TextView,
        _ => Kind::Other,
    }
}

/// Advances `place` past a field and its children; whether its type is known.
fn step_over(
    field: &arrow_ipc::Field<'_>,
    place: &mut Place,
    version: MetadataVersion,
    depth: usize,
) -> bool {
    place.node += 1;
    if field.dictionary().is_some() {
        place.buffer += 2;
        return true;
    }
    // Buffers of the field itself (validity included), and whether children follow.
    let (buffers, has_children) = match field.type_type() {
        Type::Null => (0, false),
        Type::Int
        | Type::FloatingPoint
        | Type::Bool
        | Type::Decimal
        | Type::Date
        | Type::Time
        | Type::Timestamp
        | Type::Interval
        | Type::Duration
        | Type::FixedSizeBinary => (2, false),
        Type::Utf8 | Type::Binary | Type::LargeUtf8 | Type::LargeBinary => (3, false),
        Type::Utf8View | Type::BinaryView => {
            place.views += 1;
            (2, false)
        }
        Type::Struct_ | Type::FixedSizeList => (1, true),
        Type::List | Type::LargeList | Type::Map => (2, true),
        Type::ListView | Type::LargeListView => (3, true),
        Type::RunEndEncoded => (0, true),
        Type::Union => {
            let dense = field.type_as_union().is_some_and(|u| u.mode() == UnionMode::Dense);
            // Until version 4 of the metadata, unions had validity bits.
            (1 + usize::from(dense) + usize::from(version < MetadataVersion::V5), true)
        }
        _ => return false,
    };
    place.buffer += buffers;
    !has_children
        || (depth < DEPTH_MAX
            && field.children().iter().flatten().all(|child| step_over(&child, place, version, depth + 1)))
}

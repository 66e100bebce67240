//! The properties of the vertices of a block: columns that are found as they come.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::{
    ArrayBuilder, BinaryBuilder, BooleanBuilder, Float64Builder, Int64Builder, UInt64Builder,
};
use esker_format::{LogicalType, PropertyType};

use super::value::Attribute;
use crate::read::source::{VERTEX_PROPERTIES_MAX, VertexColumn};

/// A builder for the values of a kind.
enum Builder {
    Int(Int64Builder),
    Unsigned(UInt64Builder),
    Float(Float64Builder),
    Boolean(BooleanBuilder),
    Text(BinaryBuilder),
}

impl Builder {
    fn of(value: &Attribute<'_>) -> Self {
        match value {
            Attribute::Int(_) => Self::Int(Int64Builder::new()),
            Attribute::Unsigned(_) => Self::Unsigned(UInt64Builder::new()),
            Attribute::Float(_) => Self::Float(Float64Builder::new()),
            Attribute::Boolean(_) => Self::Boolean(BooleanBuilder::new()),
            Attribute::Text(_) => Self::Text(BinaryBuilder::new()),
        }
    }

    /// Appends a value; `false`: it is of another kind.
    fn push(&mut self, value: &Attribute<'_>) -> bool {
        match (self, value) {
            (Self::Int(builder), Attribute::Int(value)) => builder.append_value(*value),
            (Self::Unsigned(builder), Attribute::Unsigned(value)) => builder.append_value(*value),
            (Self::Float(builder), Attribute::Float(value)) => builder.append_value(*value),
            (Self::Boolean(builder), Attribute::Boolean(value)) => builder.append_value(*value),
            (Self::Text(builder), Attribute::Text(text)) => builder.append_value(text.as_bytes()),
            _ => return false,
        }
        true
    }

    /// Whether its values may be of a type.
    fn may_be(&self, own: &PropertyType) -> bool {
        match self {
            Self::Text(builder) => own.logical.is_text() || own.logical.is_vector() || builder.is_empty(),
            Self::Boolean(_) => own.logical == LogicalType::Boolean,
            Self::Int(_) | Self::Unsigned(_) | Self::Float(_) => {
                !own.logical.is_text() && !own.logical.is_vector() && own.logical != LogicalType::Boolean
            }
        }
    }

    /// Appends a text; `false`: it holds other values.
    fn push_text(&mut self, text: &[u8]) -> bool {
        match self {
            Self::Text(builder) => builder.append_value(text),
            Self::Int(_) | Self::Unsigned(_) | Self::Float(_) | Self::Boolean(_) => return false,
        }
        true
    }

    fn finish(self) -> ArrayRef {
        match self {
            Self::Int(mut builder) => Arc::new(builder.finish()),
            Self::Unsigned(mut builder) => Arc::new(builder.finish()),
            Self::Float(mut builder) => Arc::new(builder.finish()),
            Self::Boolean(mut builder) => Arc::new(builder.finish()),
            Self::Text(mut builder) => Arc::new(builder.finish()),
        }
    }
}

/// The values of a kind, and the vertices that have them.
struct KindValues {
    rows: Vec<u32>,
    builder: Builder,
}

/// A property, with a column for each kind of its values.
struct Column {
    name: Arc<str>,
    property_type: Option<PropertyType>,
    kinds: Vec<KindValues>,
    /// The vertex that has a value last, counted from 1.
    last: usize,
}

/// The properties of the vertices of a block.
#[derive(Default)]
pub(super) struct VertexColumns {
    columns: Vec<Column>,
    places: HashMap<Arc<str>, usize>,
    /// A property that was one too many.
    excess: Option<String>,
}

impl VertexColumns {
    /// The place of a property, new if it is.
    pub(super) fn place(&mut self, name: &str) -> usize {
        self.place_of_type(name, None)
    }

    /// The place of a property, which has this type if it is new.
    pub(super) fn place_of_type(&mut self, name: &str, property_type: Option<PropertyType>) -> usize {
        match self.places.get(name) {
            Some(&place) => place,
            None => self.add(name, property_type),
        }
    }

    /// Adds a property that has this type, if its values are of it.
    pub(super) fn add(&mut self, name: &str, property_type: Option<PropertyType>) -> usize {
        if self.columns.len() == VERTEX_PROPERTIES_MAX {
            // The last column takes what is thrown away.
            self.excess.get_or_insert_with(|| name.to_owned());
            return VERTEX_PROPERTIES_MAX - 1;
        }
        let (name, place) = (Arc::<str>::from(name), self.columns.len());
        self.places.insert(Arc::clone(&name), place);
        self.columns.push(Column { name, property_type, kinds: Vec::new(), last: 0 });
        place
    }

    /// Why the properties are too many, if they are.
    pub(super) fn too_many(&self) -> Option<String> {
        let name = self.excess.as_ref()?;
        Some(format!(
            "the vertices have more than {VERTEX_PROPERTIES_MAX} properties: {name:?} is one too many"
        ))
    }

    pub(super) fn name(&self, place: usize) -> &str {
        &self.columns[place].name
    }

    /// Whether vertex `row` has a value of a property already.
    pub(super) fn has(&self, row: usize, place: usize) -> bool {
        self.columns[place].last == row + 1
    }

    /// Gives vertex `row` a value.
    pub(super) fn push(&mut self, row: usize, place: usize, value: &Attribute<'_>) {
        self.push_with(row, place, || Builder::of(value), |builder| builder.push(value));
    }

    /// Gives vertex `row` a text, which need not be UTF-8.
    pub(super) fn push_text(&mut self, row: usize, place: usize, text: &[u8]) {
        let new = || Builder::Text(BinaryBuilder::new());
        self.push_with(row, place, new, |builder| builder.push_text(text));
    }

    /// Gives vertex `row` a value, which `push` appends to the first column that takes it, else to a new one.
    fn push_with(
        &mut self,
        row: usize,
        place: usize,
        new: impl Fn() -> Builder,
        push: impl Fn(&mut Builder) -> bool,
    ) {
        if self.excess.is_some() {
            return;
        }
        let column = &mut self.columns[place];
        column.last = row + 1;
        // A block has fewer bytes than 2^32.
        let row = row as u32;
        if let Some(kind) = column.kinds.iter_mut().find_map(|kind| push(&mut kind.builder).then_some(kind)) {
            kind.rows.push(row);
            return;
        }
        let mut builder = new();
        push(&mut builder);
        column.kinds.push(KindValues { rows: vec![row], builder });
    }

    /// The columns. A property with values of several kinds has several.
    pub(super) fn finish(self) -> Vec<VertexColumn> {
        let columns = self.columns.into_iter().flat_map(|column| {
            let Column { name, property_type, mut kinds, .. } = column;
            if kinds.is_empty() {
                // The property exists.
                kinds.push(KindValues { rows: Vec::new(), builder: Builder::Text(BinaryBuilder::new()) });
            }
            kinds.into_iter().map(move |KindValues { rows, builder }| VertexColumn {
                name: Arc::clone(&name),
                property_type: property_type.clone().filter(|own| builder.may_be(own)),
                rows,
                values: builder.finish(),
            })
        });
        columns.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Memory goes with the values, not with vertices times names.
    #[test]
    fn values_take_memory_and_their_absence_none() {
        let mut columns = VertexColumns::default();
        for name in 0..VERTEX_PROPERTIES_MAX {
            let place = columns.place(&name.to_string());
            columns.push(name, place, &Attribute::Int(name as i64));
        }
        columns.push(100_000, 7, &Attribute::Float(0.5));
        assert!(columns.too_many().is_none());
        let finished = columns.finish();
        assert_eq!(finished.len(), VERTEX_PROPERTIES_MAX + 1);
        assert!(finished.iter().all(|own| own.values.len() == 1 && own.rows.len() == 1));
        let mut columns = VertexColumns::default();
        (0..=VERTEX_PROPERTIES_MAX).for_each(|name| _ = columns.place(&name.to_string()));
        assert!(columns.too_many().is_some_and(|why| why.contains("4096")));
    }
}

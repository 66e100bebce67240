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

/// A builder for the values of a kind, with nulls where a vertex has none.
enum Builder {
    Int(Int64Builder),
    Unsigned(UInt64Builder),
    Float(Float64Builder),
    Boolean(BooleanBuilder),
    Text(BinaryBuilder),
}

macro_rules! each_builder {
    ($self:expr, $builder:ident => $do:expr) => {
        match $self {
            Builder::Int($builder) => $do,
            Builder::Unsigned($builder) => $do,
            Builder::Float($builder) => $do,
            Builder::Boolean($builder) => $do,
            Builder::Text($builder) => $do,
        }
    };
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

    /// Appends a value for vertex `row`; `false`: it is of another kind.
    fn push(&mut self, row: usize, value: &Attribute<'_>) -> bool {
        macro_rules! append {
            ($builder:expr, $value:expr) => {{
                pad($builder, row);
                $builder.append_value($value);
            }};
        }
        match (self, value) {
            (Self::Int(builder), Attribute::Int(value)) => append!(builder, *value),
            (Self::Unsigned(builder), Attribute::Unsigned(value)) => append!(builder, *value),
            (Self::Float(builder), Attribute::Float(value)) => append!(builder, *value),
            (Self::Boolean(builder), Attribute::Boolean(value)) => append!(builder, *value),
            (Self::Text(builder), Attribute::Text(text)) => append!(builder, text.as_bytes()),
            _ => return false,
        }
        true
    }

    /// Whether its values may be of a type.
    fn may_be(&self, own: &PropertyType) -> bool {
        match self {
            Self::Text(builder) => own.logical.is_text() || builder.is_empty(),
            Self::Boolean(_) => own.logical == LogicalType::Boolean,
            Self::Int(_) | Self::Unsigned(_) | Self::Float(_) => {
                !own.logical.is_text() && own.logical != LogicalType::Boolean
            }
        }
    }

    fn finish(mut self, rows: usize) -> ArrayRef {
        each_builder!(&mut self, builder => {
            pad(builder, rows);
            Arc::new(builder.finish())
        })
    }
}

/// A builder that takes nulls.
trait Nulls {
    fn rows(&self) -> usize;
    fn null(&mut self);
}

macro_rules! nulls {
    ($($builder:ty),*) => {
        $(impl Nulls for $builder {
            fn rows(&self) -> usize {
                arrow_array::builder::ArrayBuilder::len(self)
            }

            fn null(&mut self) {
                self.append_null();
            }
        })*
    };
}

nulls!(Int64Builder, UInt64Builder, Float64Builder, BooleanBuilder, BinaryBuilder);

fn pad(builder: &mut impl Nulls, rows: usize) {
    while builder.rows() < rows {
        builder.null();
    }
}

/// A property, with a column for each kind of its values.
struct Column {
    name: Arc<str>,
    property_type: Option<PropertyType>,
    builders: Vec<Builder>,
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
        self.columns.push(Column { name, property_type, builders: Vec::new(), last: 0 });
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
        if self.excess.is_some() {
            return;
        }
        let column = &mut self.columns[place];
        column.last = row + 1;
        if !column.builders.iter_mut().any(|builder| builder.push(row, value)) {
            let mut builder = Builder::of(value);
            builder.push(row, value);
            column.builders.push(builder);
        }
    }

    /// The columns of `rows` vertices. A property with values of several kinds has several.
    pub(super) fn finish(self, rows: usize) -> Vec<VertexColumn> {
        let columns = self.columns.into_iter().flat_map(|column| {
            let Column { name, property_type, mut builders, .. } = column;
            if builders.is_empty() {
                // The property exists.
                builders.push(Builder::Text(BinaryBuilder::new()));
            }
            builders.into_iter().map(move |builder| VertexColumn {
                name: Arc::clone(&name),
                property_type: property_type.clone().filter(|own| builder.may_be(own)),
                values: builder.finish(rows),
            })
        });
        columns.collect()
    }
}

//! A vertex property as a version sees it.

use std::sync::Arc;

use esker_format::{Element, Error, PropertyRecord, Result};
use esker_graph::{Run, VertexId};

use super::array::{PropertyArray, TextArray};
use super::column::PropertyLayer;
use super::value::PropertyValue;
use crate::lama::Paged;

/// A vertex property at one version. Cheap to clone.
#[derive(Debug, Clone)]
pub struct VertexProperty {
    record: Arc<PropertyRecord>,
    num_vertices: usize,
    /// Oldest first.
    layers: Arc<[PropertyLayer]>,
}

impl VertexProperty {
    /// The property through these layers, oldest first: those that have changes of it.
    pub fn new(
        record: PropertyRecord,
        num_vertices: usize,
        layers: impl IntoIterator<Item = PropertyLayer>,
    ) -> Self {
        Self { record: Arc::new(record), num_vertices, layers: layers.into_iter().collect() }
    }

    /// What the property is.
    pub fn record(&self) -> &PropertyRecord {
        &self.record
    }

    /// The layers, oldest first.
    pub fn layers(&self) -> &[PropertyLayer] {
        &self.layers
    }

    /// The value of a vertex.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; [`Error::Invalid`] if there is no such vertex.
    pub fn get(&self, v: VertexId) -> Result<Option<PropertyValue<'_>>> {
        if v as usize >= self.num_vertices {
            return Err(Error::invalid(format!("there is no vertex {v}: there are {}", self.num_vertices)));
        }
        for layer in self.layers.iter().rev() {
            if let Some(change) = layer.column.change_of(v, layer.rank)? {
                return Ok(change.value.map(|value| self.shown(value)));
            }
        }
        Ok(None)
    }

    /// A stored value as one of the property.
    fn shown<'v>(&self, value: PropertyValue<'v>) -> PropertyValue<'v> {
        let element = (!self.record.holds_bytes()).then_some(self.record.element);
        value.stored_as(element).as_logical(&self.record.logical)
    }

    /// The values of all vertices, on the threads of `run`.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; [`Error::Invalid`] if the property is of another type; cancellation.
    pub fn array<T: Element + Paged>(&self, run: &Run) -> Result<PropertyArray<T>> {
        let mut array = PropertyArray::new(self.num_vertices);
        for layer in self.layers.iter() {
            array.apply(layer, self.num_vertices, run)?;
        }
        Ok(array)
    }

    /// The texts of all vertices, or the bytes of their vectors, on the threads of `run`.
    ///
    /// # Errors
    /// As [`VertexProperty::array`].
    pub fn texts(&self, run: &Run) -> Result<TextArray> {
        let mut array = TextArray::new(self.num_vertices);
        for layer in self.layers.iter() {
            array.apply(layer, self.num_vertices, run)?;
        }
        Ok(array)
    }
}

//! The values of a property for all vertices at one version.

use std::ops::Range;
use std::sync::Arc;

use esker_format::{Element, Error, Result};
use esker_graph::{Run, VertexId};

use super::column::{PropertyColumn, PropertyLayer, UNSET};
use super::value::PropertyValue;
use crate::lama::{Lama, Paged};

/// The value of each vertex, or none. Clones share pages; a clone to which newer layers are applied copies
/// those pages that they change.
///
/// Memory: 1 byte and the width of a value for each vertex of the pages that hold any.
#[derive(Debug, Clone, Default)]
pub struct PropertyArray<T: Paged> {
    values: Lama<T>,
    /// 1: the vertex has a value.
    present: Lama<u8>,
}

impl<T: Element + Paged> PropertyArray<T> {
    /// No values, for `num_vertices` vertices.
    pub(crate) fn new(num_vertices: usize) -> Self {
        Self { values: Lama::with_len(num_vertices), present: Lama::with_len(num_vertices) }
    }

    /// The values in the order of the vertices.
    pub fn iter(&self) -> impl Iterator<Item = Option<T>> {
        self.present.iter().zip(self.values.iter()).map(|(present, value)| (present != 0).then_some(value))
    }

    /// The values; 0 where there is none.
    pub fn values(&self) -> &Lama<T> {
        &self.values
    }

    /// 1 where there is a value, else 0.
    pub fn present(&self) -> &Lama<u8> {
        &self.present
    }

    /// Takes in what a newer layer changed, for a graph of `num_vertices` vertices. Parallel over pages of
    /// vertices.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; [`Error::Invalid`] if the property is of another type; cancellation. The array is
    /// then of no use.
    pub(crate) fn apply(&mut self, layer: &PropertyLayer, num_vertices: usize, run: &Run) -> Result<()> {
        let values = layer.column.values::<T>(run)?;
        self.values.grow(num_vertices);
        self.present.grow(num_vertices);
        apply(&mut self.values, layer, run, |at, set| if set { values[at] } else { T::default() })?;
        apply(&mut self.present, layer, run, |_, set| u8::from(set))
    }
}

/// The text of each vertex, or none: where it lies in which layer.
///
/// Memory: 8 bytes for each vertex of the pages that hold any.
#[derive(Debug, Clone, Default)]
pub struct TextArray {
    columns: Vec<Arc<PropertyColumn>>,
    /// 0: none; else one more than the position of the layer in 24 bits, the position of the change in 40
    /// bits.
    places: Lama<u64>,
}

/// Bits of a place that are a position in a column.
const POSITION_BITS: u32 = 40;

impl TextArray {
    /// No texts, for `num_vertices` vertices.
    pub(crate) fn new(num_vertices: usize) -> Self {
        Self { columns: Vec::new(), places: Lama::with_len(num_vertices) }
    }

    /// Number of vertices.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are no vertices.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The text of a vertex, which there is, or the bytes of its vector.
    ///
    /// # Errors
    /// [`Error::Corrupt`].
    pub fn get(&self, v: VertexId) -> Result<Option<&[u8]>> {
        let place = self.places.get(v as usize);
        let Some(layer) = (place >> POSITION_BITS).checked_sub(1) else { return Ok(None) };
        let at = (place & ((1 << POSITION_BITS) - 1)) as usize;
        match self.columns[layer as usize].value(at)? {
            PropertyValue::Text(text) => Ok(Some(text)),
            PropertyValue::Vector(vector) => Ok(Some(vector.bytes())),
            other => Err(Error::invalid(format!("the property holds {}, not texts", other.kind()))),
        }
    }

    /// As [`PropertyArray::apply`].
    ///
    /// # Errors
    /// As [`PropertyArray::apply`].
    pub(crate) fn apply(&mut self, layer: &PropertyLayer, num_vertices: usize, run: &Run) -> Result<()> {
        self.columns.push(Arc::clone(&layer.column));
        let number = self.columns.len() as u64;
        if number >> (64 - POSITION_BITS) != 0 || (layer.column.len() as u64) >> POSITION_BITS != 0 {
            return Err(Error::invalid(
                "too many layers, or changes of a property in one of them".to_owned(),
            ));
        }
        self.places.grow(num_vertices);
        apply(
            &mut self.places,
            layer,
            run,
            |at, set| if set { number << POSITION_BITS | at as u64 } else { 0 },
        )
    }
}

/// Writes `value(position, whether set)` for the last change of each vertex that the layer's rank shows.
fn apply<T: Paged>(
    array: &mut Lama<T>,
    layer: &PropertyLayer,
    run: &Run,
    value: impl Fn(usize, bool) -> T + Sync,
) -> Result<()> {
    let (vertices, codes) = layer.column.places(run)?;
    let place = |index: usize| vertices.partition_point(|&v| (v as usize) < index);
    let changes = |range: Range<usize>| place(range.start)..place(range.end);
    array.edit(
        run,
        |range| !changes(range).is_empty(),
        |first, page| {
            for at in changes(first..first + page.len()) {
                let code = codes[at];
                if code & !UNSET <= layer.rank {
                    match page.get_mut((vertices[at] as usize).wrapping_sub(first)) {
                        Some(slot) => *slot = value(at, code & UNSET == 0),
                        None => return Err(layer.column.out_of_order(at)),
                    }
                }
            }
            Ok(())
        },
    )
}

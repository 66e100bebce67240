//! Ids and property values as Python objects and arrays.

use esker::graph::{Run, VertexId};
use esker::store::Snapshot;
use esker::store::format::ElementType;
use esker::store::ids::ExternalId;
use esker::store::property::{PropertyValue, VertexProperty};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::array::Array;
use crate::failure::Outcome;

/// The id of a vertex as a Python object.
pub(crate) fn id_object<'py>(
    py: Python<'py>,
    snapshot: &Snapshot,
    v: VertexId,
) -> Outcome<Bound<'py, PyAny>> {
    Ok(match snapshot.ids().external_of(v)? {
        ExternalId::Int(id) => id.into_pyobject(py).map_err(PyErr::from)?.into_any(),
        ExternalId::Text(text) => PyString::new(py, &String::from_utf8_lossy(text)).into_any(),
    })
}

/// A property value as a Python object.
pub(crate) fn value_object<'py>(py: Python<'py>, value: PropertyValue<'_>) -> PyResult<Bound<'py, PyAny>> {
    macro_rules! shown {
        ($value:expr) => {
            $value.into_pyobject(py).map_err(PyErr::from)?.into_any()
        };
    }
    Ok(match value {
        PropertyValue::U8(x) => shown!(x),
        PropertyValue::U16(x) => shown!(x),
        PropertyValue::U32(x) => shown!(x),
        PropertyValue::U64(x) => shown!(x),
        PropertyValue::I32(x) => shown!(x),
        PropertyValue::I64(x) => shown!(x),
        PropertyValue::F32(x) => shown!(x),
        PropertyValue::F64(x) => shown!(x),
        PropertyValue::Text(text) => shown!(String::from_utf8_lossy(text)),
    })
}

/// The values of a vertex property.
pub(crate) enum VertexValues {
    /// The values, and 1 for each vertex that has a value, else 0.
    Numbers(Array, Array),
    /// The text of each vertex.
    Texts(Vec<Option<String>>),
}

impl VertexValues {
    /// Reads the values of all vertices, in vertex order.
    pub(crate) fn read(snapshot: &Snapshot, name: &str, run: &Run) -> Outcome<Self> {
        let property = snapshot.vertex_property(name)?;
        if property.record().texts {
            let texts = property.texts(run)?;
            let text = |v| -> Outcome<Option<String>> {
                let text = texts.get(esker::graph::vertex(v))?;
                Ok(text.map(|text| String::from_utf8_lossy(text).into_owned()))
            };
            return (0..texts.len()).map(text).collect::<Outcome<_>>().map(Self::Texts);
        }
        match property.record().element {
            ElementType::F64 => numbers(&property, run, |x: f64| x),
            ElementType::F32 => numbers(&property, run, |x: f32| x),
            ElementType::I64 => numbers(&property, run, |x: i64| x),
            ElementType::I32 => numbers(&property, run, |x: i32| x),
            ElementType::U64 => numbers(&property, run, |x: u64| x),
            ElementType::U32 => numbers(&property, run, |x: u32| x),
            ElementType::U16 => numbers(&property, run, |x: u16| u32::from(x)),
            ElementType::U8 => numbers(&property, run, |x: u8| x),
        }
    }
}

fn numbers<T, U>(property: &VertexProperty, run: &Run, show: impl Fn(T) -> U) -> Outcome<VertexValues>
where
    T: esker::store::format::Element + esker::store::lama::Paged,
    U: crate::array::Item,
{
    let array = property.array::<T>(run)?;
    let values: Vec<U> = array.values().iter().map(show).collect();
    let present: Vec<u8> = array.present().iter().collect();
    Ok(VertexValues::Numbers(Array::of(values), Array::of(present)))
}

//! Ids and property values as Python objects and arrays.

use esker::graph::{Run, VertexId, vertex};
use esker::store::Version;
use esker::store::format::{ElementType, LogicalType, TimeUnit, Timestamp};
use esker::store::ids::ExternalId;
use esker::store::property::{PropertyValue, VertexProperty};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyList, PyString};

use crate::failure::PyOutcome;
use crate::input::array::Array;
use crate::output::row_order::{RowOrder, VersionRows};

/// The id of a vertex as a Python object.
pub(crate) fn id_object<'py>(
    py: Python<'py>,
    version: &Version,
    v: VertexId,
) -> PyOutcome<Bound<'py, PyAny>> {
    Ok(match version.ids().external_of(v)? {
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
        PropertyValue::Boolean(value) => PyBool::new(py, value).to_owned().into_any(),
        PropertyValue::Date(days) => date_object(py, days)?,
        PropertyValue::Timestamp(time) => time_object(py, time)?,
        PropertyValue::EdgeId(id) => shown!(id.to_string()),
        PropertyValue::Vector(vector) => PyList::new(py, vector.numbers())?.into_any(),
        PropertyValue::Missing => py.None().into_bound(py),
    })
}

/// A date; one beyond the years 1 to 9999, which Python does not have, as a `numpy.datetime64`.
fn date_object(py: Python<'_>, days: i32) -> PyResult<Bound<'_, PyAny>> {
    const ORDINAL_1970: i32 = 719_163;
    const ORDINAL_MAX: i32 = 3_652_059;
    match days.checked_add(ORDINAL_1970).filter(|ordinal| (1..=ORDINAL_MAX).contains(ordinal)) {
        Some(ordinal) => py.import("datetime")?.getattr("date")?.call_method1("fromordinal", (ordinal,)),
        None => py.import("numpy")?.call_method1("datetime64", (days, "D")),
    }
}

/// A time, in UTC if the property has a zone; one that Python's type does not hold exactly, as a
/// `numpy.datetime64`.
fn time_object(py: Python<'_>, time: Timestamp) -> PyResult<Bound<'_, PyAny>> {
    let microseconds = match time.unit {
        TimeUnit::Nano => (time.count % 1000 == 0).then_some(time.count / 1000),
        unit => time.count.checked_mul(1_000_000 / unit.per_second()),
    };
    let datetime = py.import("datetime")?;
    let zone =
        if time.is_utc() { datetime.getattr("timezone")?.getattr("utc")? } else { py.None().into_bound(py) };
    let as_python = |microseconds: i64| {
        let keywords = PyDict::new(py);
        keywords.set_item("tzinfo", zone)?;
        let epoch = datetime.getattr("datetime")?.call((1970, 1, 1), Some(&keywords))?;
        epoch.add(datetime.getattr("timedelta")?.call1((0, 0, microseconds))?)
    };
    match microseconds.map(as_python) {
        Some(Ok(found)) => Ok(found),
        _ => py.import("numpy")?.call_method1("datetime64", (time.count, time.unit.symbol())),
    }
}

/// The values of a vertex property.
pub(crate) enum PropertyRows {
    /// The values, and 1 for each vertex that has a value, else 0.
    Numbers(Array, Array),
    /// The text of each vertex.
    Texts(Vec<Option<String>>),
    /// The numbers of all vectors one after another, 0 where a vertex has none; 1 for each vertex that has a
    /// vector, else 0; and the length of a vector.
    Vectors(Array, Array, usize),
}

impl PropertyRows {
    /// Reads the values of all rows.
    pub(crate) fn read(rows: &VersionRows, name: &str, run: &Run) -> PyOutcome<Self> {
        let (property, order) = (rows.view().version().vertex_property(name)?, rows.order()?);
        if property.record().is_text() {
            let texts = property.texts(run)?;
            let text = |v| -> PyOutcome<Option<String>> {
                let text = texts.get(v)?;
                Ok(text.map(|text| String::from_utf8_lossy(text).into_owned()))
            };
            let texts: PyOutcome<_> = match order {
                None => (0..texts.len()).map(|v| text(vertex(v))).collect(),
                Some(order) => order.vertices().iter().map(|&v| text(v)).collect(),
            };
            return texts.map(Self::Texts);
        }
        if let LogicalType::Vector { len } = property.record().logical {
            let len = len as usize;
            return match property.record().element {
                ElementType::F64 => vectors(&property, order, run, len, f64::from_le_bytes),
                _ => vectors(&property, order, run, len, f32::from_le_bytes),
            };
        }
        match property.record().element {
            ElementType::F64 => numbers(&property, order, run, |x: f64| x),
            ElementType::F32 => numbers(&property, order, run, |x: f32| x),
            ElementType::I64 => numbers(&property, order, run, |x: i64| x),
            ElementType::I32 => numbers(&property, order, run, |x: i32| x),
            ElementType::U64 => numbers(&property, order, run, |x: u64| x),
            ElementType::U32 => numbers(&property, order, run, |x: u32| x),
            ElementType::U16 => numbers(&property, order, run, |x: u16| u32::from(x)),
            ElementType::U8 => numbers(&property, order, run, |x: u8| x),
        }
    }
}

/// Reads vectors of numbers of `N` bytes.
fn vectors<T: crate::input::array::ArrayItem + Default, const N: usize>(
    property: &VertexProperty,
    order: Option<&RowOrder>,
    run: &Run,
    len: usize,
    number: impl Fn([u8; N]) -> T,
) -> PyOutcome<PropertyRows> {
    let all = property.texts(run)?;
    let (mut values, mut present) = (Vec::with_capacity(all.len() * len), Vec::with_capacity(all.len()));
    let mut take = |v: VertexId| -> PyOutcome<()> {
        let found = all.get(v)?;
        present.push(u8::from(found.is_some()));
        match found {
            Some(bytes) => values.extend(bytes.as_chunks::<N>().0.iter().map(|&bytes| number(bytes))),
            None => values.extend(std::iter::repeat_n(T::default(), len)),
        }
        Ok(())
    };
    match order {
        None => (0..all.len()).try_for_each(|v| take(vertex(v)))?,
        Some(order) => order.vertices().iter().try_for_each(|&v| take(v))?,
    }
    Ok(PropertyRows::Vectors(Array::of(values), Array::of(present), len))
}

fn numbers<T, U>(
    property: &VertexProperty,
    order: Option<&RowOrder>,
    run: &Run,
    show: impl Fn(T) -> U,
) -> PyOutcome<PropertyRows>
where
    T: esker::store::format::Element + esker::store::lama::Paged,
    U: crate::input::array::ArrayItem,
{
    let array = property.array::<T>(run)?;
    let values: Vec<U> = array.values().iter().map(show).collect();
    let present: Vec<u8> = array.present().iter().collect();
    Ok(match order {
        None => PropertyRows::Numbers(Array::of(values), Array::of(present)),
        Some(order) => {
            PropertyRows::Numbers(Array::of(order.gather(&values)), Array::of(order.gather(&present)))
        }
    })
}

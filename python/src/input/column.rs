//! Columns of ids or values from Python: arrays, Arrow data or sequences. Stored as Arrow arrays, without a
//! copy if possible.
#![allow(unsafe_code)] // reads the memory of Python buffers in place

use std::ops::Range;
use std::panic::AssertUnwindSafe;
use std::ptr::NonNull;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Float64Type, Int64Type, UInt64Type};
use arrow_array::types::{Float32Type, Int8Type, Int16Type, Int32Type, UInt8Type, UInt16Type, UInt32Type};
use arrow_array::{Array as _, ArrayRef, PrimitiveArray};
use arrow_buffer::{Buffer, ScalarBuffer};
use arrow_schema::DataType;
use arrow_select::concat::concat;
use arrow_select::take::{TakeOptions, take};
use esker::import::binary::{simplified, text_bytes};
use esker::import::read::source::{bad_text_ids, id_column, integer_ids, text_column, texts};
use esker::import::read::typed::{cast, logical_of};
use esker::store::format::value::decimal::{NotId, float_id};
use esker::store::format::{LogicalType, PropertyRecord, PropertyType};
use pyo3::buffer::{Element, PyBuffer, PyUntypedBuffer};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::failure::{PyFailure, PyOutcome, invalid, mistyped};
use crate::input::capsule;
pub(crate) use crate::input::chunks::ColumnType;
use crate::input::chunks::{BLOCK_BYTES, column_type, expect_short, is_wide, without_decimals};
use crate::input::objects;

/// A column. The object it was made from must not change while the column is in use.
#[pyclass(frozen, name = "Column", module = "esker._esker")]
#[derive(Debug, Clone)]
pub(crate) struct InputColumn {
    /// Its name in messages.
    pub(super) what: String,
    pub(super) column_type: ColumnType,
    /// What the integers stand for, if they are truth values, dates or times.
    logical: Option<LogicalType>,
    pub(super) chunks: Vec<ArrayRef>,
    /// The index after the last element of each chunk.
    ends: Vec<usize>,
}

#[pymethods]
impl InputColumn {
    /// Makes a column from Arrow data, a contiguous one-dimensional buffer of numbers, or an iterable of
    /// integers, floats, strings, truth values, dates or times. `logical` names the type that integers stand
    /// for.
    #[new]
    #[pyo3(signature = (object, what, logical=None))]
    fn new(object: &Bound<'_, PyAny>, what: String, logical: Option<&str>) -> PyOutcome<Self> {
        let mut column = Self::read(object, what)?;
        if let Some(logical) = logical {
            let found: PropertyType = logical.parse().or_else(invalid)?;
            column.logical = found.logical.element().is_some().then_some(found.logical);
        }
        Ok(column)
    }
    fn __len__(&self) -> usize {
        self.len()
    }

    /// The elements at positions, as a column with the same name.
    fn take(&self, py: Python<'_>, positions: &Self) -> PyOutcome<Self> {
        let positions = positions.ids(0..positions.len(), false)?;
        py.detach(|| {
            let chunks: Vec<&dyn arrow_array::Array> = self.chunks.iter().map(AsRef::as_ref).collect();
            let checked = Some(TakeOptions { check_bounds: true });
            let taken = match chunks.as_slice() {
                [] => Vec::new(),
                [one] => vec![take(*one, &positions, checked)?],
                several => vec![take(&concat(several)?, &positions, checked)?],
            };
            let taken = Self::of(self.what.clone(), taken)?;
            Ok(Self { logical: self.logical.clone(), ..taken })
        })
    }

    /// The name of the type that its integers stand for: `bool`, `date` or one of timestamps; `None` for
    /// numbers and texts.
    #[getter]
    fn kind(&self) -> Option<String> {
        self.logical.clone().map(|logical| PropertyType::from(logical).to_string())
    }

    /// `integers`, `floats` or `texts`.
    #[getter]
    fn holds(&self) -> &'static str {
        match self.column_type {
            ColumnType::Integers => "integers",
            ColumnType::Floats => "floats",
            ColumnType::Texts => "texts",
        }
    }
}

impl InputColumn {
    fn read(object: &Bound<'_, PyAny>, what: String) -> PyOutcome<Self> {
        if let Some((_, chunks)) = capsule::chunks(object)? {
            return Self::of(what, chunks);
        }
        if let Some(chunk) = from_buffer(object, &what)? {
            return Self::of(what, vec![chunk]);
        }
        let chunk = objects::from_iterable(object, &what)?;
        Self::of(what, vec![chunk])
    }

    pub(crate) fn of(what: String, chunks: Vec<ArrayRef>) -> PyOutcome<Self> {
        let chunks =
            chunks.into_iter().map(|chunk| without_decimals(chunk, &what)).collect::<PyOutcome<Vec<_>>>()?;
        let column_type = match chunks.first().map(|chunk| chunk.data_type().clone()) {
            None => ColumnType::Integers,
            Some(data_type) => match column_type(&data_type) {
                Some(column_type) => column_type,
                None => {
                    return mistyped(format!(
                        "{what}: expected integers, floats, strings, truth values, dates or times, got Arrow type {data_type}; convert \
                         the column, or leave it out"
                    ));
                }
            },
        };
        let mut ends = Vec::with_capacity(chunks.len());
        let mut end = 0;
        for chunk in &chunks {
            end += chunk.len();
            ends.push(end);
        }
        let logical = chunks.first().and_then(|chunk| logical_of(chunk.data_type()));
        Ok(Self { what, column_type, logical, chunks, ends })
    }

    /// A column of one id.
    pub(crate) fn one(id: &Bound<'_, PyAny>) -> PyOutcome<Self> {
        let chunk = objects::from_iterable(PyList::new(id.py(), [id])?.as_any(), "id")?;
        Self::of("id".to_owned(), vec![chunk])
    }

    /// Number of elements.
    pub(crate) fn len(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// The type of the elements.
    pub(crate) fn column_type(&self) -> ColumnType {
        self.column_type
    }

    /// What its integers stand for, if they are truth values, dates or times.
    pub(crate) fn logical(&self) -> Option<&LogicalType> {
        self.logical.as_ref()
    }

    /// The elements of a range as values of a property of a type, all of which must fit it.
    pub(crate) fn values_as(&self, range: Range<usize>, wanted: &PropertyType) -> PyOutcome<ArrayRef> {
        let start = range.start;
        let values = self.values_or_unsigned(range)?;
        let mut first = None;
        let cast = cast(&values, self.logical.as_ref(), wanted, |row, reason, text| {
            first
                .get_or_insert_with(|| format!("{}[{}] is {text:?}, which {reason}", self.what, start + row));
        });
        first.map_or(Ok(cast), invalid)
    }

    /// The elements of a range as values of an existing property. Numbers may need a wider type.
    pub(crate) fn values_for(&self, range: Range<usize>, property: &PropertyRecord) -> PyOutcome<ArrayRef> {
        match &self.logical {
            _ if property.is_vector() => mistyped(format!(
                "{}: the property {:?} holds vectors of type {}: give a two-dimensional array of numbers",
                self.what,
                property.name,
                property.type_name()
            )),
            Some(_) if property.is_text() => mistyped(format!(
                "{}: the property {:?} holds texts, not values of type {}",
                self.what,
                property.name,
                self.kind().unwrap_or_default()
            )),
            // Only where nothing says what values are, in files of text and scripts, is a text read as a
            // number.
            None if property.is_number() && self.column_type == ColumnType::Texts && !range.is_empty() => {
                let name = &property.name;
                mistyped(format!(
                    "{}: the property {name:?} holds numbers, not strings; convert them",
                    self.what
                ))
            }
            None if property.is_number() || property.is_text() => self.values_or_unsigned(range),
            Some(logical) if *logical == property.logical => self.values_or_unsigned(range),
            _ => self.values_as(range, &property.property_type()),
        }
    }

    /// The name of the column in messages.
    pub(crate) fn what(&self) -> &str {
        &self.what
    }

    /// Checks that the column can hold ids, which are text if `texts`, else integers. An empty column can
    /// hold either.
    pub(crate) fn expect_ids(&self, texts: bool) -> PyOutcome<()> {
        // Floats are ids if they are whole, as those of pandas where a column had a missing value.
        if (self.column_type == ColumnType::Texts) == texts || self.len() == 0 {
            return Ok(());
        }
        let expected = if texts { "strings" } else { "integers" };
        let found = if self.column_type == ColumnType::Texts { "strings" } else { self.holds() };
        mistyped(format!("{}: the ids of this graph are {expected}, got {found}", self.what))
    }

    /// The parts of the chunks in a range of elements, each with the index of its first element.
    pub(super) fn pieces(&self, range: Range<usize>) -> impl Iterator<Item = (usize, ArrayRef)> + '_ {
        let first = self.ends.partition_point(|&end| end <= range.start);
        let starts = (first..self.chunks.len()).map(|i| if i == 0 { 0 } else { self.ends[i - 1] });
        let chunks = self.chunks[first.min(self.chunks.len())..].iter();
        starts.zip(chunks).take_while(move |(start, _)| *start < range.end).filter_map(
            move |(start, chunk)| {
                let (from, to) = (range.start.max(start), range.end.min(start + chunk.len()));
                (from < to).then(|| (from, chunk.slice(from - start, to - from)))
            },
        )
    }

    /// Checks that no element of a piece is null.
    pub(crate) fn expect_all(&self, start: usize, piece: &ArrayRef) -> PyOutcome<()> {
        let Some(nulls) = piece.logical_nulls().filter(|nulls| nulls.null_count() > 0) else { return Ok(()) };
        let at = nulls.iter().position(|valid| !valid).unwrap_or(0);
        Err(self.lacks(start + at))
    }

    /// The failure that an element is null.
    pub(crate) fn lacks(&self, at: usize) -> PyFailure {
        PyFailure::Named("InvalidError", format!("{}[{at}] is null, but a value is required", self.what))
    }

    /// The elements of a range as words, none of them null.
    pub(crate) fn words(&self, range: Range<usize>) -> PyOutcome<ArrayRef> {
        match self.column_type {
            ColumnType::Texts => self.texts(range),
            _ if range.is_empty() => self.texts(range),
            _ => mistyped(format!("{}: what happens to edges is said in strings", self.what)),
        }
    }

    /// The elements of a range as ids, of new vertices perhaps.
    pub(crate) fn ids(&self, range: Range<usize>, texts: bool) -> PyOutcome<ArrayRef> {
        self.ids_of(range, texts, false)
    }

    /// Checks that all elements are ids of vertices.
    pub(crate) fn check_ids(&self, texts: bool) -> PyOutcome<()> {
        let mut start = 0;
        while start < self.len() {
            let end = self.block_end(start, 1 << 16);
            self.ids(start..end, texts)?;
            start = end;
        }
        Ok(())
    }

    /// The elements of a range as ids to look up. Databases of older versions may have longer ones than a new
    /// vertex may have.
    pub(crate) fn known_ids(&self, range: Range<usize>, texts: bool) -> PyOutcome<ArrayRef> {
        self.ids_of(range, texts, true)
    }

    fn ids_of(&self, range: Range<usize>, texts: bool, may_be_long: bool) -> PyOutcome<ArrayRef> {
        if let Some(kind) = self.kind() {
            let hint =
                if kind == "bool" { "; a mask is no list of ids: take the ids that it marks" } else { "" };
            return mistyped(format!(
                "{}: ids must be strings or integers, not values of type {kind}{hint}",
                self.what
            ));
        }
        if texts {
            let ids = match may_be_long {
                true => self.texts_of_any_length(range.clone())?,
                false => self.texts(range.clone())?,
            };
            let is_bad = |(_, why): &(usize, NotId)| !may_be_long || *why != NotId::Long;
            if let Some((at, why)) = bad_text_ids(ids.as_binary::<i32>()).find(is_bad) {
                return invalid(format!("{}[{}] {}", self.what, range.start + at, why.reason()));
            }
            return Ok(ids);
        }
        let mut ids: Vec<u64> = Vec::with_capacity(range.len());
        for (start, piece) in self.plain(range)? {
            if let Some(part) = integer_ids(&piece) {
                ids.extend_from_slice(part);
                continue;
            }
            if let Some(floats) = piece.as_primitive_opt::<Float64Type>() {
                for (at, &float) in floats.values().iter().enumerate() {
                    ids.push(float_id(float).or_else(|why| {
                        let (what, at) = (&self.what, start + at);
                        if why == NotId::Negative {
                            return self.negative(at, &float);
                        }
                        invalid(format!("{what}[{at}] is {float:?}, which is no id, as it {}", why.reason()))
                    })?);
                }
                continue;
            }
            let Some(values) = piece.as_primitive_opt::<Int64Type>().map(PrimitiveArray::values) else {
                return mistyped(format!("{}: ids must be strings or integers", self.what));
            };
            if let Some(at) = values.iter().position(|&id| id < 0) {
                return self.negative(start + at, &values[at]);
            }
            ids.extend(values.iter().map(|&id| id as u64));
        }
        Ok(id_column(ids))
    }

    /// The error that an id is negative.
    fn negative<T>(&self, at: usize, id: &dyn std::fmt::Debug) -> PyOutcome<T> {
        let what = &self.what;
        invalid(format!(
            "{what}[{at}] is {id:?}, but ids must be strings or integers from 0 to 2^64 - 1; convert all ids to strings, as in \
             ids.astype(str)"
        ))
    }

    /// The pieces of a range as arrays of the types that [`simplified`] makes, none of their elements null.
    fn plain(&self, range: Range<usize>) -> PyOutcome<Vec<(usize, ArrayRef)>> {
        let plain = |(start, piece): (usize, ArrayRef)| {
            self.expect_all(start, &piece)?;
            Ok((start, simplified(&piece)?))
        };
        self.pieces(range).map(plain).collect()
    }

    /// The end of a block of elements from `start` on, `rows_max` at most, which is shorter where their texts
    /// are long.
    pub(crate) fn block_end(&self, start: usize, rows_max: usize) -> usize {
        let mut end = self.len().min(start + rows_max);
        let bytes = |end| self.pieces(start..end).map(|(_, piece)| text_bytes(&piece)).sum::<usize>();
        while end > start + 1 && bytes(end) > BLOCK_BYTES {
            end = start + (end - start) / 2;
        }
        end
    }

    /// The elements of a range as texts. Those that are too long are an error before they are copied.
    fn texts(&self, range: Range<usize>) -> PyOutcome<ArrayRef> {
        self.pieces(range.clone()).try_for_each(|(start, piece)| expect_short(&self.what, start, &piece))?;
        self.texts_of_any_length(range)
    }

    fn texts_of_any_length(&self, range: Range<usize>) -> PyOutcome<ArrayRef> {
        let pieces = self.plain(range)?;
        Ok(text_column(pieces.iter().filter_map(|(_, piece)| texts(piece)).flatten()))
    }

    /// Whether an element exceeds 2^63 - 1.
    pub(crate) fn is_wide(&self) -> bool {
        self.chunks.iter().any(is_wide)
    }

    /// Whether each value of a range is present, that is, neither null nor NaN.
    pub(crate) fn present(&self, range: Range<usize>) -> Vec<bool> {
        let mut present = Vec::with_capacity(range.len());
        for (_, piece) in self.pieces(range) {
            let nulls = piece.logical_nulls();
            let is_float =
                matches!(piece.data_type(), DataType::Float16 | DataType::Float32 | DataType::Float64);
            let nan = if is_float { simplified(&piece).ok() } else { None };
            let nan = nan.as_ref().map(|floats| floats.as_primitive::<Float64Type>().values());
            present.extend((0..piece.len()).map(|i| {
                nulls.as_ref().is_none_or(|nulls| nulls.is_valid(i)) && nan.is_none_or(|nan| !nan[i].is_nan())
            }));
        }
        present
    }

    /// A column of the elements with a true flag in `keep`.
    pub(crate) fn only(&self, keep: &[bool]) -> PyOutcome<Self> {
        let mut start = 0;
        let mut chunks = Vec::new();
        for chunk in &self.chunks {
            let mut from = start;
            // Runs of kept elements become slices, without a copy.
            let end = start + chunk.len();
            while from < end {
                let run = keep[from..end].iter().take_while(|keep| **keep).count();
                if run > 0 {
                    chunks.push(chunk.slice(from - start, run));
                }
                from += run + keep[from + run..end].iter().take_while(|keep| !**keep).count();
            }
            start = end;
        }
        if chunks.is_empty() {
            chunks.extend(self.chunks.first().map(|chunk| chunk.slice(0, 0)));
        }
        let only = Self::of(self.what.clone(), chunks)?;
        Ok(Self { logical: self.logical.clone(), ..only })
    }
}

/// A Python buffer, as the owner of an Arrow buffer.
struct BufferOwner<T: Element>(
    #[allow(dead_code, reason = "kept for its drop")] AssertUnwindSafe<PyBuffer<T>>,
);

fn from_buffer(object: &Bound<'_, PyAny>, what: &str) -> PyOutcome<Option<ArrayRef>> {
    if object.is_instance_of::<pyo3::types::PyBytes>() || object.is_instance_of::<PyString>() {
        return mistyped(format!(
            "{what}: expected a sequence of integers, floats or strings, got a single string"
        ));
    }
    let Ok(buffer) = PyUntypedBuffer::get(object) else { return Ok(None) };
    macro_rules! try_types {
        ($($arrow:ty),*) => { $(
            if buffer.as_typed::<<$arrow as ArrowPrimitiveType>::Native>().is_ok() {
                return view::<$arrow>(buffer.into_typed()?, what).map(Some);
            }
        )* };
    }
    try_types!(Int64Type, UInt64Type, Float64Type, Int32Type, UInt32Type, Float32Type);
    try_types!(Int16Type, UInt16Type, Int8Type, UInt8Type);
    Ok(None)
}

fn view<P: ArrowPrimitiveType<Native: Element>>(
    buffer: PyBuffer<P::Native>,
    what: &str,
) -> PyOutcome<ArrayRef> {
    if buffer.dimensions() != 1 {
        return mistyped(format!(
            "{what}: expected a one-dimensional array, got {} dimensions",
            buffer.dimensions()
        ));
    }
    if !buffer.is_c_contiguous() {
        return mistyped(format!("{what}: the array is not contiguous in memory; pass a copy"));
    }
    let (len, start) = (buffer.item_count(), buffer.buf_ptr() as usize);
    if start % align_of::<P::Native>() != 0 {
        return mistyped(format!("{what}: the array is not aligned in memory; pass a copy"));
    }
    let start = NonNull::new(start as *mut u8).unwrap_or(NonNull::dangling());
    let owner = Arc::new(BufferOwner(AssertUnwindSafe(buffer)));
    // SAFETY: the exporter keeps the memory in place while the buffer is held, and the Arrow buffer holds it.
    // Users must not change it meanwhile. Every bit pattern is a valid integer or float.
    let bytes = unsafe { Buffer::from_custom_allocation(start, len * size_of::<P::Native>(), owner) };
    Ok(Arc::new(PrimitiveArray::<P>::new(ScalarBuffer::new(bytes, 0, len), None)))
}

/// Fails unless two columns are of one length.
pub(crate) fn same_length(a: &InputColumn, b: &InputColumn) -> PyOutcome<()> {
    if a.len() == b.len() {
        return Ok(());
    }
    invalid(format!(
        "columns must have the same length: {} has {} elements, {} has {}",
        a.what(),
        a.len(),
        b.what(),
        b.len()
    ))
}

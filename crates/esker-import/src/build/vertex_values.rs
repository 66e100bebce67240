//! Writes the properties of vertices that an input has, as those of version 1.

use esker_format::value::decimal::shown;
use esker_format::{ElementType, Error, LogicalType, Owner, PropertyRecord, PropertyType, Result};
use esker_graph::{counted, vertex};
use esker_layers::property::{PropertyValue, PropertyWriter, VectorValue};
use esker_store::manifest::Staging;

use crate::build::vertex_rows::{FoundProperty, RowValue, SortedRows};
use crate::sort::scratch::Workspace;
use crate::write::push_f64;

/// What the writer of a property takes: the buffers of its columns.
const WRITER_BYTES: u64 = 5 << 20;
/// The most properties that are written in one pass over the rows.
const WRITERS_MAX: u64 = 16;
/// The code of version 1 in the layer that an import makes.
const FIRST_VERSION: u32 = 1;

/// What was written.
#[derive(Default)]
pub(crate) struct WrittenProperties {
    pub(crate) records: Vec<PropertyRecord>,
    pub(crate) warnings: Vec<String>,
}

/// Writes all properties.
///
/// # Errors
/// If files cannot be written or read; cancellation.
pub(crate) fn write(rows: &SortedRows, work: &Workspace, staging: &Staging) -> Result<WrittenProperties> {
    let mut written = WrittenProperties::default();
    let mut columns = Vec::new();
    for (property, number) in rows.properties().iter().zip(0..) {
        let (property_type, warning) = choose(property);
        written.warnings.extend(warning);
        let PropertyType { element, logical } = property_type;
        let name = property.name.to_string();
        let record = PropertyRecord {
            number,
            owner: Owner::Vertices,
            name,
            element,
            logical,
            weight: false,
            kind: false,
            optional: false,
        };
        columns.push(record);
    }
    let numbers: Vec<u16> = rows.properties().iter().map(|property| property.number).collect();
    let together = (work.budget.free_bytes() / 4 / WRITER_BYTES).clamp(1, WRITERS_MAX) as usize;
    for (records, numbers) in columns.chunks(together).zip(numbers.chunks(together)) {
        let _buffers = work.budget.try_reserve(WRITER_BYTES * records.len() as u64);
        let mut group = PropertyGroup::begin(records, numbers, staging)?;
        rows.for_each(work, |vertex, values| {
            if group.vertex != Some(vertex) {
                group.flush()?;
                group.vertex = Some(vertex);
            }
            for (number, value) in values {
                group.take(number, value)?;
            }
            Ok(())
        })?;
        written.warnings.extend(group.finish()?);
    }
    written.records = columns;
    Ok(written)
}

/// The type of a property, and what a person should know of it.
fn choose(property: &FoundProperty) -> (PropertyType, Option<String>) {
    let FoundProperty { name, said, range, has_booleans, .. } = property;
    let plain = |element| PropertyType { element, logical: LogicalType::Number };
    let text = || PropertyType { element: ElementType::U8, logical: LogicalType::Text };
    let kinds = [(range.numbers, "numbers"), (*has_booleans, "truth values"), (range.texts, "texts")];
    let kinds: Vec<&str> = kinds.iter().filter(|(is_there, _)| *is_there).map(|(_, kind)| *kind).collect();
    if kinds.len() > 1 {
        let warning = format!("vertex property {name:?} has {}: all are kept as texts", kinds.join(" and "));
        return (text(), Some(warning));
    }
    let said = said.as_ref().filter(|said| match (&said.logical, said.element) {
        (LogicalType::Text | LogicalType::Vector { .. }, _) => !range.numbers && !has_booleans,
        (LogicalType::Boolean, _) => !range.numbers && !range.texts,
        _ if range.texts || *has_booleans => false,
        (_, ElementType::F32) => range.f32,
        (_, ElementType::F64) => range.f64,
        (_, ElementType::U64) => range.u64,
        (_, ElementType::I64) => range.i64,
        _ => range.i32,
    });
    let found = match said {
        Some(said) => said.clone(),
        None if *has_booleans => PropertyType { element: ElementType::U8, logical: LogicalType::Boolean },
        None if !range.numbers => text(),
        None if range.floats && range.f64 => plain(ElementType::F64),
        None if range.i64 => plain(ElementType::I64),
        None if range.u64 => plain(ElementType::U64),
        None if range.f64 => plain(ElementType::F64),
        None => {
            let warning = format!(
                "vertex property {name:?} has fractions and integers beyond 2^53, which no number type holds: all are \
                 kept as texts"
            );
            return (text(), Some(warning));
        }
    };
    (found, None)
}

/// Properties that are written in one pass.
struct PropertyGroup<'a> {
    records: &'a [PropertyRecord],
    writers: Vec<PropertyWriter>,
    /// For each property of the rows, its place among `writers`.
    places: Vec<Option<usize>>,
    /// The vertex whose rows are being read.
    vertex: Option<u64>,
    values: Vec<Option<HeldValue>>,
    /// The texts of `values`.
    texts: Vec<u8>,
    /// For each property, the vertices that got several values.
    conflicts: Vec<u64>,
}

/// A value of the vertex at hand.
#[derive(Clone, Copy, PartialEq)]
enum HeldValue {
    Bits(u64),
    Text { start: usize, end: usize },
}

impl<'a> PropertyGroup<'a> {
    fn begin(records: &'a [PropertyRecord], numbers: &[u16], staging: &Staging) -> Result<Self> {
        let mut places = vec![None; numbers.iter().max().map_or(0, |most| usize::from(*most) + 1)];
        numbers.iter().enumerate().for_each(|(place, &number)| places[usize::from(number)] = Some(place));
        let writers = records.iter().map(|record| PropertyWriter::create(&staging.property_files(record)));
        Ok(Self {
            records,
            writers: writers.collect::<Result<_>>()?,
            places,
            vertex: None,
            values: vec![None; records.len()],
            texts: Vec::new(),
            conflicts: vec![0; records.len()],
        })
    }

    fn take(&mut self, number: u16, value: RowValue<'_>) -> Result<()> {
        let Some(Some(place)) = self.places.get(usize::from(number)).copied() else { return Ok(()) };
        let start = self.texts.len();
        let record = &self.records[place];
        let held = if record.holds_bytes() {
            match value {
                RowValue::Text(text) if record.is_vector() => {
                    self.texts.extend(vector_bytes(record, text)?);
                }
                value => push_text(&mut self.texts, value),
            }
            HeldValue::Text { start, end: self.texts.len() }
        } else {
            HeldValue::Bits(bits(self.records[place].element, value))
        };
        if let Some(old) = self.values[place].replace(held) {
            self.conflicts[place] += u64::from(!self.is_same(old, held));
        }
        Ok(())
    }

    fn is_same(&self, one: HeldValue, other: HeldValue) -> bool {
        match (one, other) {
            (HeldValue::Text { start, end }, HeldValue::Text { start: from, end: to }) => {
                self.texts[start..end] == self.texts[from..to]
            }
            _ => one == other,
        }
    }

    /// Writes the values of the vertex at hand.
    fn flush(&mut self) -> Result<()> {
        if let Some(v) = self.vertex {
            for ((value, writer), record) in self.values.iter_mut().zip(&mut self.writers).zip(self.records) {
                let value = match value.take() {
                    None => continue,
                    Some(HeldValue::Text { start, end }) => {
                        let bytes = &self.texts[start..end];
                        let vector = VectorValue::of(record, bytes).map(PropertyValue::Vector);
                        vector.unwrap_or(PropertyValue::Text(bytes))
                    }
                    Some(HeldValue::Bits(bits)) => PropertyValue::from_stored(record, bits),
                };
                writer.push(vertex(v as usize), FIRST_VERSION, Some(value))?;
            }
        }
        self.texts.clear();
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<String>> {
        self.flush()?;
        for writer in self.writers {
            writer.finish()?;
        }
        let told = self.records.iter().zip(&self.conflicts).filter(|(_, conflicts)| **conflicts > 0);
        Ok(told
            .map(|(record, &conflicts)| {
                format!(
                    "{} of vertex property {:?} replaced by a later one of the same vertex",
                    counted(conflicts, "value", "values"),
                    record.name
                )
            })
            .collect())
    }
}

/// A vector, whose type the input states, from its text.
fn vector_bytes(record: &PropertyRecord, text: &[u8]) -> Result<Vec<u8>> {
    VectorValue::parse(record, text).map_err(|reason| {
        let (name, stated, text) = (&record.name, record.type_name(), shown(text));
        Error::invalid(format!("vertex property {name:?} is of type {stated}, but {text:?} {reason}"))
    })
}

fn push_text(out: &mut Vec<u8>, value: RowValue<'_>) {
    match value {
        RowValue::Text(text) => out.extend_from_slice(text),
        RowValue::Int(value) => out.extend_from_slice(value.to_string().as_bytes()),
        RowValue::Unsigned(value) => out.extend_from_slice(value.to_string().as_bytes()),
        RowValue::Float(value) => push_f64(out, value),
        RowValue::Boolean(value) => out.extend_from_slice(if value { b"true" } else { b"false" }),
    }
}

/// The bits of a value that the type holds.
fn bits(element: ElementType, value: RowValue<'_>) -> u64 {
    match (element, value) {
        (ElementType::F32, RowValue::Int(value)) => u64::from((value as f32).to_bits()),
        (ElementType::F32, RowValue::Unsigned(value)) => u64::from((value as f32).to_bits()),
        (ElementType::F32, RowValue::Float(value)) => u64::from((value as f32).to_bits()),
        (ElementType::F64, RowValue::Int(value)) => (value as f64).to_bits(),
        (ElementType::F64, RowValue::Unsigned(value)) => (value as f64).to_bits(),
        (ElementType::F64, RowValue::Float(value)) => value.to_bits(),
        (_, RowValue::Int(value)) => value.cast_unsigned(),
        (_, RowValue::Unsigned(value)) => value,
        (_, RowValue::Float(value)) => (value as i64).cast_unsigned(),
        (_, RowValue::Boolean(value)) => u64::from(value),
        (_, RowValue::Text(_)) => 0,
    }
}

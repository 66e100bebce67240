//! A version of a stored graph, for export.

use std::ops::Range;

use arrow_array::LargeBinaryArray;
use arrow_array::builder::{
    ArrayBuilder, Float64Builder, Int64Builder, LargeBinaryBuilder, PrimitiveBuilder, UInt32Builder,
    UInt64Builder,
};
use arrow_array::types::ArrowPrimitiveType;
use esker_format::{Column, Element, ElementType, Error, IdMapKind, PropertyRecord, Result, Values};
use esker_graph::{Direction, Remaining, Run, VertexId};
use esker_layers::ids::ExternalId;
use esker_layers::property::{Dictionary, PropertyValue, VertexProperty};
use esker_store::{ReservedBits, Version, View};

use super::graph::{BlockBuilder, ExportGraph, PropertyInfo, PropertyKind};

/// A view without its removed vertices, and without the edges that its window or its filter leaves out.
/// Lists are read as they are needed; blocks are verified as they are touched.
pub struct StoredExport<'a> {
    view: &'a View,
    run: &'a Run,
    /// If some are removed, the vertices that are left: what the export numbers.
    remaining: Option<&'a Remaining>,
    properties: Vec<PropertyInfo>,
    /// Numbers of the properties in the store.
    numbers: Vec<u32>,
    /// What stands for a missing value of each property.
    reserved: Vec<ReservedBits>,
    weight: Option<usize>,
    /// How many texts the dictionary of each property has; 0 for those that are not of texts.
    num_texts: Vec<usize>,
    of_vertices: Vec<VertexProperty>,
}

impl<'a> StoredExport<'a> {
    /// The graph of `view`.
    ///
    /// # Errors
    /// If its removed vertices cannot be read, see [`View::remaining`]; an edge may be without a value.
    pub fn new(view: &'a View, run: &'a Run) -> Result<Self> {
        let records: Vec<_> = view.version().edge_properties().collect();
        let info = |record: &&esker_format::PropertyRecord| PropertyInfo {
            name: record.name.clone(),
            logical: record.logical.clone(),
            optional: record.optional,
            kind: match record.element {
                _ if record.is_text() => PropertyKind::Text,
                ElementType::F32 => PropertyKind::F32,
                ElementType::F64 => PropertyKind::F64,
                ElementType::U64 => PropertyKind::U64,
                ElementType::U32 | ElementType::I64 => PropertyKind::I64,
                _ => PropertyKind::I32,
            },
        };
        Ok(Self {
            view,
            remaining: view.remaining(run)?,
            properties: records.iter().map(info).collect(),
            numbers: records.iter().map(|record| record.number).collect(),
            reserved: records
                .iter()
                .map(|record| view.version().reserved_bits(record))
                .collect::<Result<_>>()?,
            run,
            weight: records.iter().position(|record| record.weight),
            num_texts: records
                .iter()
                .map(|record| view.version().dictionary(record.number).map_or(0, Dictionary::len))
                .collect(),
            of_vertices: view
                .version()
                .vertex_properties()
                .map(|record| view.version().vertex_property(&record.name))
                .collect::<Result<_>>()?,
        })
    }

    /// The vertex of the view that the export calls `v`.
    fn origin(&self, v: VertexId) -> Result<VertexId> {
        let Some(remaining) = self.remaining else { return Ok(v) };
        let origin = remaining.origins().get(v as usize).copied();
        origin.ok_or_else(|| Error::invalid(format!("there is no vertex {v}: {} are left", remaining.len())))
    }
}

impl ExportGraph for StoredExport<'_> {
    fn num_vertices(&self) -> u64 {
        self.remaining.map_or(self.view.version().num_vertices(), Remaining::len) as u64
    }

    fn num_arcs(&self) -> u64 {
        self.view.num_arcs()
    }

    fn is_directed(&self) -> bool {
        self.view.version().is_directed()
    }

    fn is_multigraph(&self) -> bool {
        self.view.may_have_parallel()
    }

    fn kind(&self) -> Option<&str> {
        self.view.version().kind_property().map(|kind| kind.name.as_str())
    }

    fn nulls(&self) -> &[String] {
        nulls(self.view.version())
    }

    fn vertex_records(&self) -> Vec<PropertyRecord> {
        self.of_vertices.iter().map(|property| property.record().clone()).collect()
    }

    fn vertex_values<'b>(&'b self, v: VertexId, values: &mut [Option<PropertyValue<'b>>]) -> Result<()> {
        let origin = self.origin(v)?;
        for (value, property) in values.iter_mut().zip(&self.of_vertices) {
            *value = property.get(origin)?;
        }
        Ok(())
    }

    fn has(&self, direction: Direction) -> bool {
        self.view.version().has(direction)
    }

    fn properties(&self) -> &[PropertyInfo] {
        &self.properties
    }

    fn expect_values(&self, property: usize) -> Result<()> {
        let mut records = self.view.version().edge_properties();
        let record = records.find(|record| record.number == self.numbers[property]);
        record.map_or(Ok(()), |record| self.view.expect_values(record, self.run))
    }

    fn weight(&self) -> Option<usize> {
        self.weight
    }

    fn dictionary(&self, property: usize) -> Result<LargeBinaryArray> {
        let mut texts = LargeBinaryBuilder::new();
        if let Some(dictionary) = self.view.version().dictionary(self.numbers[property]) {
            for code in 0..dictionary.len() {
                // No edge has the text that stands for a missing one, which is not UTF-8.
                let is_missing = self.reserved[property].has(code as u64);
                texts.append_value(if is_missing { b"" } else { dictionary.text(code)? });
            }
        }
        Ok(texts.finish())
    }

    fn degree(&self, direction: Direction, v: VertexId) -> Result<u64> {
        Ok(self.view.kept_degree(direction, self.origin(v)?)? as u64)
    }

    fn list(
        &self,
        direction: Direction,
        v: VertexId,
        range: Range<u64>,
        least: u64,
        out: &mut BlockBuilder,
    ) -> Result<()> {
        let (from, end) = (range.start as usize, range.end as usize);
        let edges = self.view.kept_edges(direction, self.origin(v)?)?;
        let part = edges
            .targets()
            .get(from..end)
            .ok_or_else(|| Error::invalid(format!("vertex {v} has {} neighbours, not {end}", edges.len())))?;
        let n = self.view.version().num_vertices();
        if let Some(target) = part.iter().find(|&&target| target as usize >= n) {
            let reason = format!(
                "vertex {v} has the neighbour {target}, but the graph has {}",
                esker_graph::counted(n, "vertex", "vertices")
            );
            return Err(Error::corrupt(self.view.version().path(), 0, reason));
        }
        let number = |target: VertexId| match self.remaining {
            None => target as usize as u64,
            Some(remaining) => remaining.rank(target) as usize as u64,
        };
        let from = from + part.partition_point(|&target| number(target) < least);
        out.targets.extend(edges.targets()[from..end].iter().map(|&target| number(target)));
        for (place, values) in out.properties.iter_mut().enumerate() {
            let (num_texts, reserved) = (self.num_texts[place], self.reserved[place]);
            for (stored, range) in edges.values(self.numbers[place], from..end)? {
                append(values, stored, range, num_texts, reserved)?;
            }
        }
        Ok(())
    }

    fn has_text_ids(&self) -> bool {
        self.view.version().ids().is_text()
    }

    fn dense_base(&self) -> Option<u64> {
        let permuted = self.view.version().manifest().ids.kind == IdMapKind::Permuted;
        self.least_id().filter(|_| permuted)
    }

    fn least_id(&self) -> Option<u64> {
        // Where vertices are removed, ids have gaps.
        self.view.version().ids().dense_base().filter(|_| self.remaining.is_none())
    }

    fn int_id(&self, v: VertexId) -> Result<u64> {
        match self.view.version().ids().external_of(self.origin(v)?)? {
            ExternalId::Int(id) => Ok(id),
            ExternalId::Text(_) => Err(Error::invalid(format!("the id of vertex {v} is a text"))),
        }
    }

    fn write_id(&self, v: VertexId, out: &mut Vec<u8>) -> Result<()> {
        self.view
            .version()
            .ids()
            .external_of(self.origin(v)?)?
            .write_to(out)
            .map_err(Error::io("write", self.view.version().path()))
    }

    fn vertex_of_number(&self, number: u64) -> Result<VertexId> {
        let id = self.view.version().manifest().ids.base.wrapping_add(number);
        let vertex = self.view.version().ids().vertex_of(ExternalId::Int(id))?;
        vertex.ok_or_else(|| Error::invalid(format!("there is no vertex with the id {id}")))
    }
}

/// The words that stand for no value in the tables that a database reads later.
pub fn nulls(version: &Version) -> &[String] {
    let table = version.manifest().reading.as_ref().and_then(|reading| reading.table.as_ref());
    table.map_or(&[], |table| &table.nulls)
}

/// Appends a range of a stored column. Codes must be below `num_texts`. Values that are `reserved` are null.
fn append(
    out: &mut Box<dyn ArrayBuilder>,
    stored: &Values,
    range: Range<usize>,
    num_texts: usize,
    reserved: ReservedBits,
) -> Result<()> {
    let out = out.as_any_mut();
    // The bits as a property's record has them.
    let is_code = |code: &u32| reserved.has(u64::from(*code));
    let is_int = |value: &i64| {
        let bits =
            if matches!(stored, Values::I32(_)) { *value as u32 as u64 } else { value.cast_unsigned() };
        reserved.has(bits)
    };
    let is_float = |value: &f64| reserved != ReservedBits::None && value.is_nan();
    if let Some(out) = out.downcast_mut::<UInt32Builder>() {
        let (before, first) = (out.len(), range.start);
        match stored {
            Values::U8(column) => extend(out, column, range, u32::from, is_code)?,
            Values::U16(column) => extend(out, column, range, u32::from, is_code)?,
            Values::U32(column) => extend(out, column, range, u32::from, is_code)?,
            stored => return Err(not_of_type(stored)),
        }
        let codes = &out.values_slice()[before..];
        let wrong = codes.iter().position(|&code| code as usize >= num_texts);
        return wrong.map_or(Ok(()), |wrong| {
            let (element, code) = (first + wrong, codes[wrong]);
            let reason = format!(
                "element {element} is the code {code}, but the dictionary has {}",
                esker_graph::counted(num_texts, "text", "texts")
            );
            Err(Error::corrupt(stored.path(), 0, reason))
        });
    }
    if let Some(out) = out.downcast_mut::<Float64Builder>() {
        return match stored {
            Values::F32(column) => extend(out, column, range, f64::from, is_float),
            Values::F64(column) => extend(out, column, range, f64::from, is_float),
            stored => Err(not_of_type(stored)),
        };
    }
    if let Some(out) = out.downcast_mut::<UInt64Builder>() {
        let is_missing = |value: &u64| reserved.has(*value);
        return match stored {
            Values::U64(column) => extend(out, column, range, u64::from, is_missing),
            stored => Err(not_of_type(stored)),
        };
    }
    let out = out.downcast_mut::<Int64Builder>().ok_or_else(|| not_of_type(stored))?;
    match stored {
        Values::U8(column) => extend(out, column, range, i64::from, is_int),
        Values::U16(column) => extend(out, column, range, i64::from, is_int),
        Values::U32(column) => extend(out, column, range, i64::from, is_int),
        Values::I32(column) => extend(out, column, range, i64::from, is_int),
        Values::I64(column) => extend(out, column, range, i64::from, is_int),
        stored => Err(not_of_type(stored)),
    }
}

fn not_of_type(stored: &Values) -> Error {
    Error::corrupt(stored.path(), 0, "its type is not that of the property")
}

fn extend<T: Element, P: ArrowPrimitiveType>(
    out: &mut PrimitiveBuilder<P>,
    column: &Column<T>,
    range: Range<usize>,
    value: impl Fn(T) -> P::Native,
    is_missing: impl Fn(&P::Native) -> bool,
) -> Result<()> {
    for &stored in column.get(range)? {
        let value = value(stored);
        out.append_option((!is_missing(&value)).then_some(value));
    }
    Ok(())
}

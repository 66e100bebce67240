//! Properties of vertices on their way through an import: a row for each vertex that has some, set aside in
//! the order of the input, then brought into the order of the vertices.
//!
//! A row is the vertex (8 bytes; first its id, if that is an integer), its place among the vertices of its
//! block (4), the length of what follows (4), and the values: the number of the property (2), what it is (1),
//! and 8 bytes or a text behind its length (4).

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, BinaryArray, BooleanArray, Float64Array, Int64Array, UInt64Array};
use esker_format::{Error, PropertyType, Result};
use parking_lot::Mutex;

use crate::build::cells::by_row;
use crate::build::renumbered::Renumbered;
use crate::build::values::Range;
use crate::read::source::{EdgeBatch, VERTEX_PROPERTIES_MAX, VertexColumn, integer_ids};
use crate::sort::external::{Sorted, Sorter};
use crate::sort::scratch::{Shelf, ShelvedChunk, Workspace};
use crate::sort::spool::Spool;

/// Rows take memory while all but this share of the limit is free; the others lie on the disk.
const SHARE: u64 = 4;
const HEADER_BYTES: usize = 16;

/// A value of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum RowValue<'a> {
    Int(i64),
    Unsigned(u64),
    Float(f64),
    Boolean(bool),
    Text(&'a [u8]),
}

/// What is known of a property of vertices.
#[derive(Debug, Clone)]
pub(crate) struct FoundProperty {
    pub(crate) name: Arc<str>,
    /// The block, and the place among its properties, where it comes first.
    first: (u64, usize),
    /// Its number in the rows.
    pub(crate) number: u16,
    /// The type that the input says, if it says the same everywhere.
    pub(crate) said: Option<PropertyType>,
    /// Its numbers and texts.
    pub(crate) range: Range,
    pub(crate) has_booleans: bool,
}

/// The vertices that a block names without an edge.
#[derive(Debug, Default)]
pub(crate) struct NamedVertices {
    count: u64,
    rows: Option<ShelvedChunk<u8>>,
}

/// Takes rows from the threads that parse.
pub(crate) struct RowGatherer {
    shelf: Shelf,
    found: Mutex<FoundProperties>,
}

#[derive(Default)]
struct FoundProperties {
    all: Vec<FoundProperty>,
    numbers: HashMap<Arc<str>, u16>,
}

impl RowGatherer {
    pub(crate) fn new(work: &Workspace, keep_free_bytes: u64) -> Self {
        let keep_free_bytes = keep_free_bytes + work.budget.limit_bytes() / SHARE;
        Self { shelf: Shelf::new(work, keep_free_bytes), found: Mutex::default() }
    }

    /// Sets aside the rows of a batch.
    ///
    /// # Errors
    /// If a temporary file cannot be written; if there are too many properties.
    pub(crate) fn take(&self, sequence: u64, batch: &EdgeBatch) -> Result<NamedVertices> {
        let count = batch.vertices.as_ref().map_or(0, Array::len);
        let mut named = NamedVertices { count: count as u64, rows: None };
        if batch.vertex_values.is_empty() {
            return Ok(named);
        }
        let mut columns = Vec::with_capacity(batch.vertex_values.len());
        for (place, column) in batch.vertex_values.iter().enumerate() {
            let values = ColumnValues::of(column)?;
            columns.push((self.number((sequence, place), column, &values)?, values));
        }
        let ids = batch.vertices.as_ref().and_then(integer_ids);
        let mut rows = Vec::new();
        let (starts, cells) = by_row(&batch.vertex_values, count);
        for index in 0..count {
            let start = rows.len();
            rows.extend_from_slice(&[0; HEADER_BYTES]);
            for cell in &cells[starts[index] as usize..starts[index + 1] as usize] {
                let (number, values) = &columns[cell.column as usize];
                push_value(&mut rows, *number, values.at(cell.place as usize));
            }
            let len = rows.len() - start - HEADER_BYTES;
            if len == 0 {
                rows.truncate(start);
                continue;
            }
            let (Ok(len), Ok(ordinal)) = (u32::try_from(len), u32::try_from(index)) else {
                return Err(Error::invalid("the properties of a vertex are longer than 4 GiB".to_owned()));
            };
            set_vertex(&mut rows[start..], ids.map_or(0, |ids| ids[index]));
            rows[start + 8..start + 12].copy_from_slice(&ordinal.to_le_bytes());
            rows[start + 12..start + 16].copy_from_slice(&len.to_le_bytes());
        }
        if !rows.is_empty() {
            named.rows = Some(self.shelf.put(rows)?);
        }
        Ok(named)
    }

    /// The number of a property, whose values are added to what is known of it.
    fn number(&self, first: (u64, usize), column: &VertexColumn, values: &ColumnValues<'_>) -> Result<u16> {
        let mut found = self.found.lock();
        let number = match found.numbers.get(&column.name) {
            Some(&number) => number,
            None => {
                if found.all.len() == VERTEX_PROPERTIES_MAX {
                    return Err(Error::invalid(format!(
                        "the vertices have more than {VERTEX_PROPERTIES_MAX} properties: {:?} is one too many",
                        column.name
                    )));
                }
                let number = found.all.len() as u16;
                found.numbers.insert(Arc::clone(&column.name), number);
                found.all.push(FoundProperty {
                    name: Arc::clone(&column.name),
                    first,
                    number,
                    said: column.property_type.clone(),
                    range: Range::default(),
                    has_booleans: false,
                });
                number
            }
        };
        let own = &mut found.all[usize::from(number)];
        own.first = own.first.min(first);
        if own.said != column.property_type {
            own.said = None;
        }
        own.range.merge(values.range());
        own.has_booleans |= matches!(values, ColumnValues::Boolean(all) if !all.is_empty());
        Ok(number)
    }

    /// The rows of all blocks, in the order of the input.
    pub(crate) fn finish(self, blocks: impl Iterator<Item = NamedVertices>) -> VertexRows {
        let mut properties = self.found.into_inner().all;
        // The order of the input, whichever thread came first.
        properties.sort_by_key(|property| property.first);
        let (mut first, mut own) = (0, Vec::new());
        for NamedVertices { count, rows } in blocks {
            own.extend(rows.map(|rows| RowBlock { first, count, rows }));
            first += count;
        }
        VertexRows { shelf: Some(self.shelf), blocks: own, properties }
    }
}

/// The rows of a block.
struct RowBlock {
    /// How many vertices earlier blocks name without an edge.
    first: u64,
    count: u64,
    rows: ShelvedChunk<u8>,
}

/// Rows in the order of the input.
#[derive(Default)]
pub(crate) struct VertexRows {
    shelf: Option<Shelf>,
    blocks: Vec<RowBlock>,
    /// In the order of the input.
    properties: Vec<FoundProperty>,
}

impl VertexRows {
    /// Whether no vertex has properties.
    pub(crate) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Puts something in place of the integer that each row begins with.
    ///
    /// # Errors
    /// If a temporary file cannot be read or written.
    pub(crate) fn replace_ids(&mut self, new: impl Fn(u64) -> u64) -> Result<()> {
        let Some(shelf) = &self.shelf else { return Ok(()) };
        self.blocks.iter_mut().try_for_each(|block| {
            shelf.update(&mut block.rows, |rows| {
                for_each_row(rows, |row| {
                    let id = vertex_of(row);
                    set_vertex(row, new(id));
                });
            })
        })
    }

    /// Puts in front of each row the number of its vertex: `numbers` has those of all vertices that are named
    /// without an edge.
    ///
    /// # Errors
    /// If a temporary file cannot be read or written.
    pub(crate) fn number(&mut self, numbers: &Spool<esker_graph::VertexId>) -> Result<()> {
        let (Some(shelf), mut own) = (&self.shelf, Vec::new()) else { return Ok(()) };
        for block in &mut self.blocks {
            numbers.read_range(block.first, block.count as usize, &mut own)?;
            shelf.update(&mut block.rows, |rows| {
                for_each_row(rows, |row| {
                    let ordinal = u32_at(row, 8) as usize;
                    set_vertex(row, own[ordinal] as usize as u64);
                });
            })?;
        }
        Ok(())
    }

    /// The rows in the order of the vertices.
    ///
    /// # Errors
    /// If a temporary file cannot be read or written; cancellation.
    pub(crate) fn in_order(mut self, work: &Workspace, renumbered: &Renumbered) -> Result<SortedRows> {
        let mut order = None;
        if let Renumbered::Memory(vertices, _) = renumbered {
            self.replace_ids(|number| vertices[number as usize] as usize as u64)?;
        }
        if let Renumbered::Disk(vertices) = renumbered {
            order = Some(self.renumbered_on_disk(work, vertices)?);
        } else if !self.is_ascending()? {
            let mut sorter = row_sorter(work)?;
            self.for_each_place(|record| sorter.push(record))?;
            order = Some(sorter.finish()?);
        }
        let Self { shelf, blocks, properties } = self;
        let chunks = blocks.into_iter().map(|block| block.rows).collect();
        Ok(SortedRows { shelf, chunks, order, properties })
    }

    /// The places of rows in the order of vertices whose numbers are too many for memory.
    fn renumbered_on_disk(
        &self,
        work: &Workspace,
        vertices: &Spool<esker_graph::VertexId>,
    ) -> Result<Sorted<RowPlace, u64, RowKey>> {
        let mut by_number = row_sorter(work)?;
        self.for_each_place(|record| by_number.push(record))?;
        let by_number = by_number.finish()?;
        let (mut cursor, mut next, mut vertex) = (vertices.cursor(), 0, None);
        let mut sorter = row_sorter(work)?;
        by_number.for_each(|[number, place, len]| {
            while next <= number {
                vertex = cursor.next_record()?;
                next += 1;
            }
            let vertex =
                vertex.ok_or_else(|| Error::invalid("a vertex has no number: a bug of Esker".to_owned()))?;
            sorter.push([vertex as usize as u64, place, len])
        })?;
        drop(by_number);
        sorter.finish()
    }

    fn is_ascending(&self) -> Result<bool> {
        let mut last = 0;
        let mut is_ascending = true;
        self.for_each_place(|[vertex, ..]| {
            is_ascending &= last <= vertex;
            last = vertex;
            Ok(())
        })?;
        Ok(is_ascending)
    }

    fn for_each_place(&self, mut visit: impl FnMut(RowPlace) -> Result<()>) -> Result<()> {
        let (Some(shelf), mut buffer) = (&self.shelf, Vec::new()) else { return Ok(()) };
        for (block, index) in self.blocks.iter().zip(0u64..) {
            let mut rows = shelf.get(&block.rows, &mut buffer)?;
            let mut offset = 0u64;
            while let Some((row, rest)) = split_row(rows) {
                let len = row.len() - HEADER_BYTES;
                visit([vertex_of(row), index << 32 | (offset + HEADER_BYTES as u64), len as u64])?;
                offset += row.len() as u64;
                rows = rest;
            }
        }
        Ok(())
    }
}

/// A vertex; the block of a row and the place of its values there; their length.
type RowPlace = [u64; 3];
type RowKey = fn(&RowPlace) -> u64;

fn row_sorter(work: &Workspace) -> Result<Sorter<RowPlace, u64, RowKey>> {
    Sorter::new(work, "the properties of vertices", work.budget.free_bytes() / SHARE, |place| place[0])
}

/// Rows in the order of the vertices; those of one vertex in the order of the input.
pub(crate) struct SortedRows {
    shelf: Option<Shelf>,
    chunks: Vec<ShelvedChunk<u8>>,
    /// `None`: as they lie.
    order: Option<Sorted<RowPlace, u64, RowKey>>,
    properties: Vec<FoundProperty>,
}

impl SortedRows {
    /// The properties, in the order of the input.
    pub(crate) fn properties(&self) -> &[FoundProperty] {
        &self.properties
    }

    /// Calls `visit` with each vertex and the values of its row.
    ///
    /// # Errors
    /// If a temporary file cannot be read; cancellation; those of `visit`.
    pub(crate) fn for_each(
        &self,
        work: &Workspace,
        mut visit: impl FnMut(u64, RowValues<'_>) -> Result<()>,
    ) -> Result<()> {
        let (Some(shelf), mut buffer) = (&self.shelf, Vec::new()) else { return Ok(()) };
        match &self.order {
            Some(order) => order.for_each(|[vertex, place, len]| {
                let (block, offset) = ((place >> 32) as usize, place as u32 as usize);
                shelf.get_range(&self.chunks[block], offset, len as usize, &mut buffer)?;
                visit(vertex, RowValues(&buffer))
            }),
            None => self.chunks.iter().try_for_each(|chunk| {
                work.check()?;
                let mut rows = shelf.get(chunk, &mut buffer)?;
                while let Some((row, rest)) = split_row(rows) {
                    visit(vertex_of(row), RowValues(&row[HEADER_BYTES..]))?;
                    rows = rest;
                }
                Ok(())
            }),
        }
    }
}

/// The values of a row, with the numbers of their properties.
pub(crate) struct RowValues<'a>(&'a [u8]);

impl<'a> Iterator for RowValues<'a> {
    type Item = (u16, RowValue<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let (&[low, high, kind], rest) = self.0.split_first_chunk()?;
        let (value, rest) = match kind {
            TEXT => {
                let (len, rest) = rest.split_first_chunk()?;
                let (text, rest) = rest.split_at_checked(u32::from_le_bytes(*len) as usize)?;
                (RowValue::Text(text), rest)
            }
            kind => {
                let (bits, rest) = rest.split_first_chunk()?;
                let bits = u64::from_le_bytes(*bits);
                let value = match kind {
                    INT => RowValue::Int(bits.cast_signed()),
                    UNSIGNED => RowValue::Unsigned(bits),
                    FLOAT => RowValue::Float(f64::from_bits(bits)),
                    _ => RowValue::Boolean(bits != 0),
                };
                (value, rest)
            }
        };
        self.0 = rest;
        Some((u16::from_le_bytes([low, high]), value))
    }
}

const INT: u8 = 0;
const UNSIGNED: u8 = 1;
const FLOAT: u8 = 2;
const BOOLEAN: u8 = 3;
const TEXT: u8 = 4;

fn push_value(rows: &mut Vec<u8>, number: u16, value: RowValue<'_>) {
    rows.extend_from_slice(&number.to_le_bytes());
    let (kind, bits) = match value {
        RowValue::Int(value) => (INT, value.cast_unsigned()),
        RowValue::Unsigned(value) => (UNSIGNED, value),
        RowValue::Float(value) => (FLOAT, value.to_bits()),
        RowValue::Boolean(value) => (BOOLEAN, u64::from(value)),
        RowValue::Text(text) => {
            rows.push(TEXT);
            // Texts of a batch lie in one column of at most 2 GiB.
            rows.extend_from_slice(&(text.len() as u32).to_le_bytes());
            rows.extend_from_slice(text);
            return;
        }
    };
    rows.push(kind);
    rows.extend_from_slice(&bits.to_le_bytes());
}

fn vertex_of(row: &[u8]) -> u64 {
    row.first_chunk().map_or(0, |vertex| u64::from_le_bytes(*vertex))
}

fn set_vertex(row: &mut [u8], vertex: u64) {
    row[..8].copy_from_slice(&vertex.to_le_bytes());
}

fn u32_at(row: &[u8], at: usize) -> u32 {
    row[at..].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

fn split_row(rows: &[u8]) -> Option<(&[u8], &[u8])> {
    (rows.len() >= HEADER_BYTES).then(|| rows.split_at(HEADER_BYTES + u32_at(rows, 12) as usize))
}

fn for_each_row(mut rows: &mut [u8], mut visit: impl FnMut(&mut [u8])) {
    while rows.len() >= HEADER_BYTES {
        let len = HEADER_BYTES + u32_at(rows, 12) as usize;
        let (row, rest) = rows.split_at_mut(len);
        visit(row);
        rows = rest;
    }
}

/// The values of a column.
enum ColumnValues<'a> {
    Int(&'a Int64Array),
    Unsigned(&'a UInt64Array),
    Float(&'a Float64Array),
    Boolean(&'a BooleanArray),
    Text(&'a BinaryArray),
}

impl<'a> ColumnValues<'a> {
    fn of(column: &'a VertexColumn) -> Result<Self> {
        let values = &column.values;
        let found = values
            .as_primitive_opt::<Int64Type>()
            .map(Self::Int)
            .or_else(|| values.as_primitive_opt::<UInt64Type>().map(Self::Unsigned))
            .or_else(|| values.as_primitive_opt::<Float64Type>().map(Self::Float))
            .or_else(|| values.as_boolean_opt().map(Self::Boolean))
            .or_else(|| values.as_binary_opt::<i32>().map(Self::Text));
        found.filter(|_| values.len() == column.rows.len()).ok_or_else(|| {
            Error::invalid(format!(
                "a reader gave {} values of vertices of type {}",
                values.len(),
                values.data_type()
            ))
        })
    }

    fn at(&self, index: usize) -> RowValue<'a> {
        match self {
            Self::Int(all) => RowValue::Int(all.value(index)),
            Self::Unsigned(all) => RowValue::Unsigned(all.value(index)),
            Self::Float(all) => RowValue::Float(all.value(index)),
            Self::Boolean(all) => RowValue::Boolean(all.value(index)),
            Self::Text(all) => RowValue::Text(all.value(index)),
        }
    }

    fn range(&self) -> Range {
        match self {
            Self::Int(all) => Range::of_integers(all.values()),
            Self::Unsigned(all) => Range::of_unsigned(all.values()),
            Self::Float(all) => Range::of_floats(all.values()),
            Self::Boolean(_) => Range::default(),
            Self::Text(all) => Range { texts: !all.is_empty(), ..Range::default() },
        }
    }
}

//! Imports columns directly, without a file.

use std::sync::Arc;

use arrow_array::ArrayRef;
use esker::import::read::format::Declaration;
use esker::import::read::source::{BlockParser, EdgeBatch, IdKind, InputBlock, Reader, Schema, integer_ids};
use esker::import::read::typed::weight_fits;
use esker::store::format::{ElementType, PropertyType};
use esker::store::{Error, Result};

use crate::failure::{PyFailure, PyOutcome, invalid, mistyped};
use crate::input::column::{ColumnType, InputColumn};
use crate::language::said;

/// Number of edges per block.
const BLOCK_EDGES: usize = 1 << 16;
/// Bytes per edge in reports of progress: two ids.
pub(crate) const EDGE_BYTES: u64 = 16;

/// How many rows of some columns from `first` on, `rows_max` at most, are taken together: fewer where texts
/// are long.
pub(crate) fn block_rows<'c>(
    columns: impl Iterator<Item = &'c InputColumn>,
    first: usize,
    rows_max: usize,
) -> usize {
    let longer = columns.filter(|column| column.len() > first);
    longer.map(|column| column.block_end(first, rows_max) - first).min().unwrap_or(rows_max)
}

/// The columns to import.
pub(crate) struct InputColumns {
    pub(crate) source: InputColumn,
    pub(crate) target: InputColumn,
    /// Names and columns of edge properties.
    pub(crate) properties: Vec<(String, InputColumn)>,
    /// Ids of vertices, which need not have edges.
    pub(crate) vertices: Option<InputColumn>,
}

impl InputColumns {
    pub(crate) fn len(&self) -> usize {
        self.source.len()
    }

    /// The larger of the numbers of edges and of vertices.
    pub(crate) fn num_rows(&self) -> usize {
        self.len().max(self.vertices.as_ref().map_or(0, InputColumn::len))
    }

    /// How many rows from `first` on are taken together.
    pub(crate) fn block_rows(&self, first: usize) -> usize {
        let columns = [Some(&self.source), Some(&self.target), self.vertices.as_ref()].into_iter().flatten();
        let columns = columns.chain(self.properties.iter().map(|(_, column)| column));
        block_rows(columns, first, BLOCK_EDGES)
    }

    /// Checks the lengths and types of the columns.
    pub(crate) fn check(&self) -> PyOutcome<()> {
        let columns = self.properties.iter().map(|(_, column)| column).chain([&self.target]);
        for column in columns {
            if column.len() != self.len() {
                return invalid(format!(
                    "columns must have the same length: {} has {} elements, {} has {}",
                    self.source.what(),
                    self.len(),
                    column.what(),
                    column.len()
                ));
            }
        }
        for column in [Some(&self.source), Some(&self.target), self.vertices.as_ref()].into_iter().flatten() {
            column.expect_ids(self.has_texts())?;
        }
        Ok(())
    }

    /// The type of each property, if it is declared or more than a number or a text.
    fn types(&self, weight: Option<&str>, declared: &[Declaration]) -> PyOutcome<Vec<Option<PropertyType>>> {
        let has = |name: &String| self.properties.iter().any(|(own, _)| own == name);
        if let Some(missing) = declared.iter().find(|declared| self.len() > 0 && !has(&declared.name)) {
            return invalid(format!(
                "the schema declares {:?}, but the edges have no such property",
                missing.name
            ));
        }
        let type_of = |(name, column): &(String, InputColumn)| {
            let found = declared.iter().find(|declared| declared.name == *name);
            let is_weight = weight == Some(name);
            if let Some(Declaration { property_type, .. }) = found {
                if is_weight {
                    weight_fits(property_type).or_else(|reason| invalid(said(&reason)))?;
                }
                return Ok(Some(property_type.clone()));
            }
            if !is_weight && column.is_wide() {
                return Ok(Some(ElementType::U64.into()));
            }
            if column.len() == 0 && column.column_type() == ColumnType::Texts {
                return Ok(Some(PropertyType::text()));
            }
            // A truth value as a weight is 0 or 1.
            Ok(column.logical().filter(|_| !is_weight).cloned().map(PropertyType::from))
        };
        self.properties.iter().map(type_of).collect()
    }

    fn has_texts(&self) -> bool {
        // A column without ids can have a type, too.
        let vertices = self.vertices.as_ref().filter(|vertices| vertices.len() > 0 && self.len() == 0);
        vertices.unwrap_or(&self.source).column_type() == ColumnType::Texts
    }
}

/// Reads columns. A block carries only the index of its first row; the parser reads the rows from the
/// columns.
pub(crate) struct InputColumnReader {
    schema: Schema,
    columns: Arc<InputColumns>,
    next: usize,
}

impl InputColumnReader {
    /// A reader at the first row. `weight` names the property that is the weight; `num_vertices` declares
    /// that ids are `0..num_vertices`. `declared` are the types of properties; the others have those of their
    /// columns.
    pub(crate) fn new(
        columns: InputColumns,
        weight: Option<&str>,
        num_vertices: Option<u64>,
        declared: &[Declaration],
    ) -> PyOutcome<Self> {
        columns.check()?;
        let types = columns.types(weight, declared)?;
        let texts = columns.has_texts();
        let ids = match num_vertices {
            Some(_) if texts => {
                return mistyped("num_vertices requires integer ids from 0, but these ids are strings");
            }
            Some(num_vertices) => IdKind::Numbered { first: 0, num_vertices },
            None if texts => IdKind::Text,
            None => IdKind::Int,
        };
        let properties: Vec<String> = columns.properties.iter().map(|(name, _)| name.clone()).collect();
        let schema = Schema {
            operation: None,
            kind: None,
            format: "columns",
            ids,
            weight: weight.and_then(|weight| properties.iter().position(|name| name == weight)),
            properties,
            types,
            directed: None,
            time: None,
            both_ends: false,
            input_bytes: Some(columns.len() as u64 * EDGE_BYTES),
        };
        Ok(Self { schema, columns: Arc::new(columns), next: 0 })
    }
}

impl InputColumnReader {
    /// Whether ids are texts.
    pub(crate) fn has_text_ids(&self) -> bool {
        self.schema.ids == IdKind::Text
    }
}

impl Reader for InputColumnReader {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn parser(&self) -> Arc<dyn BlockParser> {
        Arc::new(ColumnParser::new(Arc::clone(&self.columns), &self.schema))
    }

    fn next_block(&mut self) -> Result<Option<InputBlock>> {
        if self.next >= self.columns.num_rows() {
            return Ok(None);
        }
        let (first_line, rows) = (self.next as u64, self.columns.block_rows(self.next));
        self.next += rows;
        // The parser needs to know how many rows they are.
        let bytes = (rows as u64).to_le_bytes().to_vec();
        Ok(Some(InputBlock { bytes, first_line, file: 0, input_bytes: 0 }))
    }
}

/// Makes batches of the rows of columns.
struct ColumnParser {
    columns: Arc<InputColumns>,
    ids: IdKind,
    types: Vec<Option<PropertyType>>,
}

impl BlockParser for ColumnParser {
    fn parse(&self, block: InputBlock) -> Result<EdgeBatch> {
        let first = block.first_line as usize;
        let rows = block.bytes.first_chunk().map_or(0, |rows| u64::from_le_bytes(*rows)) as usize;
        let range = |len: usize| first.min(len)..(first + rows).min(len);
        let edges = range(self.columns.len());
        let texts = self.ids == IdKind::Text;
        let ids = |column: &InputColumn, range| -> Result<ArrayRef> {
            let ids = column.ids(range, texts).map_err(store_error)?;
            self.expect_numbers(column, first, &ids)?;
            Ok(ids)
        };
        let columns = self.columns.properties.iter().zip(&self.types);
        let properties = columns.map(|((_, column), declared)| match declared {
            Some(declared) if column.logical() != Some(&declared.logical) => {
                column.values_as(edges.clone(), declared)
            }
            _ => column.values(edges.clone()),
        });
        let vertices = self.columns.vertices.as_ref();
        Ok(EdgeBatch {
            input_bytes: edges.len() as u64 * EDGE_BYTES,
            source: ids(&self.columns.source, edges.clone())?,
            target: ids(&self.columns.target, edges.clone())?,
            properties: properties.collect::<PyOutcome<_>>().map_err(store_error)?,
            vertices: vertices.map(|column| ids(column, range(column.len()))).transpose()?,
            vertex_values: Vec::new(),
            vertex_places: None,
            rejected: Vec::new(),
            wide: Vec::new(),
        })
    }
}

impl ColumnParser {
    fn new(columns: Arc<InputColumns>, schema: &Schema) -> Self {
        Self { columns, ids: schema.ids, types: schema.types.clone() }
    }

    /// Checks that ids are less than the given number of vertices.
    fn expect_numbers(&self, column: &InputColumn, first: usize, ids: &ArrayRef) -> Result<()> {
        let (IdKind::Numbered { num_vertices, .. }, Some(ids)) = (self.ids, integer_ids(ids)) else {
            return Ok(());
        };
        match ids.iter().position(|&id| id >= num_vertices) {
            None => Ok(()),
            Some(at) => Err(Error::invalid(format!(
                "{}[{}] is {}, but ids must be less than num_vertices, which is {num_vertices}",
                column.what(),
                first + at,
                ids[at]
            ))),
        }
    }
}

/// Converts an error about a column to an error of the store.
fn store_error(failure: PyFailure) -> Error {
    match failure {
        PyFailure::Esker(esker::Error::Store(error)) => error,
        PyFailure::Named(_, message) => Error::invalid(message),
        other => Error::invalid(format!("{other:?}")),
    }
}

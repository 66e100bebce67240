//! GraphFrames, as Spark saves them: a folder of vertices with the column `id`, and a folder of edges with
//! the columns `src` and `dst`. Each has one Parquet file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::{
    BinaryBuilder, FixedSizeListBuilder, Float32Builder, Float64Builder, Int64Builder, UInt64Builder,
};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Int32Type, Int64Type};
use arrow_schema::{DataType, Field, Schema};
use esker_format::io::expect_outside_databases;
use esker_format::{ElementType, Error, LogicalType, PropertyRecord, Result};
use esker_layers::property::PropertyValue;

use super::elements::check_names;
use super::format::{EndsWritten, ExportFormat, KeptProperties, ReadAs, WriteGraph};
use super::graph::EdgeStream;
use super::options::ExportOptions;
use super::sink::OutputFile;
use super::tables::{ParquetEdges, ParquetTable, ids, strings};
use super::writer::{ExportShape, VertexNames, as_vertex, pump};
use crate::read::typed::{arrow_column, arrow_type};

/// GraphFrames.
pub(crate) static GRAPH_FRAMES: ExportFormat = ExportFormat {
    is_read_anywhere: true,
    states_vertices: true,
    keeps_vertex_properties: true,
    ..ExportFormat::new(WriteGraph::Files(write), KeptProperties::All, ReadAs::Told, EndsWritten::IfAsked)
};

/// The name of the file in each folder.
const PART: &str = "part-00000.parquet";
/// What a person calls such a folder, in messages.
const TITLE: &str = "GraphFrames folder";
/// Vertices written at a time.
const BLOCK_VERTICES: u64 = 1 << 16;

/// Writes both folders; the files and how many edges were written.
///
/// # Errors
/// If a property has the name of a column of ids, an id or text does not fit Parquet, a folder has other
/// files, or reading or writing fails. Folders that were made are then removed.
fn write(
    stream: &mut dyn EdgeStream,
    shape: &ExportShape,
    path: &Path,
    options: &ExportOptions,
) -> Result<(Vec<PathBuf>, u64)> {
    if path.as_os_str() == "-" {
        return Err(Error::invalid(format!(
            "a {TITLE} is two files and cannot go to standard output: name a folder"
        )));
    }
    let records = match stream.graph() {
        Some(graph) if options.properties => graph.vertex_records(),
        _ => Vec::new(),
    };
    check_names(records.iter().map(|record| record.name.as_str()), |name| name != "id", TITLE)?;
    let of_edges = shape.properties.iter().map(|property| property.name.as_str());
    check_names(of_edges, |name| !matches!(name, "src" | "dst"), TITLE)?;
    let folders = Folders::make(path, options)?;
    let mut vertices = OutputFile::open(&path.join("vertices").join(PART), options)?;
    let mut edges = OutputFile::open(&path.join("edges").join(PART), options)?;
    write_vertices(&*stream, shape, &records, options, &mut vertices)?;
    let count = {
        let mut writer = ParquetEdges::begin(shape, ["src", "dst"], &mut edges)?;
        pump(stream, &mut writer, options, None)?
    };
    // A folder without a file of edges is none that is read.
    let files = vec![vertices.finish()?, edges.finish()?];
    folders.keep()?;
    Ok((files, count))
}

/// The folders of an export; those that it made are removed unless it ends well.
struct Folders<'o> {
    options: &'o ExportOptions,
    made: Vec<PathBuf>,
}

impl<'o> Folders<'o> {
    /// Makes what is missing.
    ///
    /// # Errors
    /// If the path is a file, a folder exists and is not to be replaced, or has files that an export does not
    /// replace.
    fn make(path: &Path, options: &'o ExportOptions) -> Result<Self> {
        expect_outside_databases(options.disk.as_ref(), path)?;
        let mut folders = Self { options, made: Vec::new() };
        for folder in [path.to_owned(), path.join("vertices"), path.join("edges")] {
            let shown = folder.display();
            match options.disk.look(&folder)? {
                None => {
                    options.disk.create_directory(&folder)?;
                    folders.made.push(folder);
                }
                Some(entry) if !entry.is_directory => {
                    return Err(Error::invalid(format!(
                        "{shown} is a file, but a {TITLE} is a folder: name another"
                    )));
                }
                Some(_) => folders.expect_own(&folder, path)?,
            }
        }
        Ok(folders)
    }

    /// Checks that a folder has nothing but what an export writes: a reader takes all files together.
    fn expect_own(&self, folder: &Path, path: &Path) -> Result<()> {
        let is_own = |name: &str| match folder == path {
            true => matches!(name, "vertices" | "edges"),
            false => name == PART,
        };
        let entries = self.options.disk.list(folder)?;
        match entries.iter().find(|entry| !entry.name.starts_with('.') && !is_own(&entry.name)) {
            None => Ok(()),
            Some(other) => Err(Error::invalid(format!(
                "the folder {} has something else already, {}: name another folder, or remove it",
                folder.display(),
                other.name
            ))),
        }
    }

    /// Ends the export.
    fn keep(mut self) -> Result<()> {
        let made = std::mem::take(&mut self.made);
        made.iter().try_for_each(|folder| self.options.disk.sync_directory(&esker_format::io::parent(folder)))
    }
}

impl Drop for Folders<'_> {
    fn drop(&mut self) {
        for folder in self.made.iter().rev() {
            // Best effort: whatever made the export fail is being reported already.
            let _ = self.options.disk.remove_directory(folder);
        }
    }
}

/// Writes the ids of all vertices and their values.
fn write_vertices(
    stream: &dyn EdgeStream,
    shape: &ExportShape,
    records: &[PropertyRecord],
    options: &ExportOptions,
    output: &mut OutputFile,
) -> Result<()> {
    let id = Field::new("id", if shape.text_ids { DataType::Utf8 } else { DataType::Int64 }, false);
    let fields = records.iter().map(|record| Field::new(&record.name, type_of(record), true));
    let mut table =
        ParquetTable::begin(&Schema::new(std::iter::once(id).chain(fields).collect::<Vec<_>>()), output)?;
    let names = VertexNames::new(stream.graph(), shape.ids);
    let mut values = vec![None; records.len()];
    for start in (0..shape.vertices).step_by(BLOCK_VERTICES as usize) {
        options.cancel.check()?;
        let block: Vec<u64> = (start..shape.vertices.min(start + BLOCK_VERTICES)).collect();
        let mut columns: Vec<ColumnBuilder> = records.iter().map(ColumnBuilder::of).collect();
        if let Some(graph) = stream.graph().filter(|_| !records.is_empty()) {
            for &v in &block {
                graph.vertex_values(as_vertex(v), &mut values)?;
                columns.iter_mut().zip(&values).for_each(|(column, value)| column.push(value.as_ref()));
            }
        }
        let mut all = vec![ids(shape.text_ids, names, &block)?];
        for (column, record) in columns.into_iter().zip(records) {
            all.push(column.finish(record)?);
        }
        table.write(&all)?;
    }
    table.finish()
}

/// The type of a column in Arrow.
fn type_of(record: &PropertyRecord) -> DataType {
    if let LogicalType::Vector { len } = record.logical {
        let wide = record.element == ElementType::F64;
        let item = if wide { DataType::Float64 } else { DataType::Float32 };
        return DataType::FixedSizeList(Arc::new(Field::new_list_field(item, true)), len.cast_signed());
    }
    if record.is_text() {
        return DataType::Utf8;
    }
    arrow_type(&record.logical).unwrap_or(match record.element {
        ElementType::F32 => DataType::Float32,
        ElementType::F64 => DataType::Float64,
        ElementType::U64 => DataType::UInt64,
        ElementType::U32 | ElementType::I64 => DataType::Int64,
        ElementType::U8 | ElementType::U16 | ElementType::I32 => DataType::Int32,
    })
}

/// The values of a property of some vertices.
enum ColumnBuilder {
    Int(Int64Builder),
    Unsigned(UInt64Builder),
    Float(Float64Builder),
    Text(BinaryBuilder),
    Vectors(FixedSizeListBuilder<Float32Builder>),
    WideVectors(FixedSizeListBuilder<Float64Builder>),
}

impl ColumnBuilder {
    fn of(record: &PropertyRecord) -> Self {
        match (&record.logical, record.element) {
            (LogicalType::Vector { len }, ElementType::F64) => {
                Self::WideVectors(FixedSizeListBuilder::new(Float64Builder::new(), len.cast_signed()))
            }
            (LogicalType::Vector { len }, _) => {
                Self::Vectors(FixedSizeListBuilder::new(Float32Builder::new(), len.cast_signed()))
            }
            (LogicalType::Text, _) => Self::Text(BinaryBuilder::new()),
            (LogicalType::Number, ElementType::U64) => Self::Unsigned(UInt64Builder::new()),
            (LogicalType::Number, ElementType::F32 | ElementType::F64) => Self::Float(Float64Builder::new()),
            _ => Self::Int(Int64Builder::new()),
        }
    }

    fn push(&mut self, value: Option<&PropertyValue<'_>>) {
        match self {
            Self::Int(builder) => builder.append_option(value.and_then(integer)),
            Self::Unsigned(builder) => builder.append_option(value.and_then(PropertyValue::bits)),
            Self::Float(builder) => builder.append_option(value.and_then(|value| match value {
                PropertyValue::F32(value) => Some(f64::from(*value)),
                PropertyValue::F64(value) => Some(*value),
                _ => None,
            })),
            Self::Text(builder) => builder.append_option(value.and_then(|value| match value {
                PropertyValue::Text(text) => Some(*text),
                _ => None,
            })),
            Self::Vectors(builder) => {
                let len = builder.value_length() as usize;
                match value {
                    Some(PropertyValue::Vector(vector)) => {
                        vector.numbers().for_each(|number| builder.values().append_value(number as f32));
                        builder.append(true);
                    }
                    _ => {
                        builder.values().append_nulls(len);
                        builder.append(false);
                    }
                }
            }
            Self::WideVectors(builder) => {
                let len = builder.value_length() as usize;
                match value {
                    Some(PropertyValue::Vector(vector)) => {
                        vector.numbers().for_each(|number| builder.values().append_value(number));
                        builder.append(true);
                    }
                    _ => {
                        builder.values().append_nulls(len);
                        builder.append(false);
                    }
                }
            }
        }
    }

    fn finish(self, record: &PropertyRecord) -> Result<ArrayRef> {
        Ok(match self {
            Self::Int(mut builder) => {
                let values: ArrayRef = Arc::new(builder.finish());
                match type_of(record) {
                    DataType::Int32 => {
                        Arc::new(values.as_primitive::<Int64Type>().unary::<_, Int32Type>(|v| v as i32))
                    }
                    DataType::Int64 => values,
                    _ => arrow_column(&record.logical, &values),
                }
            }
            Self::Unsigned(mut builder) => Arc::new(builder.finish()),
            Self::Float(mut builder) => {
                let values = builder.finish();
                match record.element {
                    ElementType::F32 => Arc::new(values.unary::<_, Float32Type>(|v| v as f32)),
                    _ => Arc::new(values),
                }
            }
            Self::Text(mut builder) => Arc::new(strings(builder.finish())?),
            Self::Vectors(mut builder) => Arc::new(builder.finish()),
            Self::WideVectors(mut builder) => Arc::new(builder.finish()),
        })
    }
}

/// An integer, or the integer that a truth value, date or time is stored as.
fn integer(value: &PropertyValue<'_>) -> Option<i64> {
    match value {
        PropertyValue::I32(value) => Some(i64::from(*value)),
        PropertyValue::Date(days) => Some(i64::from(*days)),
        other => other.bits().map(u64::cast_signed),
    }
}

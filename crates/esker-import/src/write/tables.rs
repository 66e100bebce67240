//! Parquet and Arrow IPC: columns `source`, `target` and the properties. The metadata of the schema says that
//! a graph is undirected, and what its weight is called.

use std::sync::Arc;

use arrow_array::builder::BinaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int32Type, Int64Type, TimestampMillisecondType, TimestampSecondType, UInt32Type,
};
use arrow_array::{Array, ArrayRef, BinaryArray, DictionaryArray, Int64Array};
use arrow_array::{LargeBinaryArray, LargeStringArray, RecordBatch, StringArray};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use esker_format::{Error, Result};
use esker_graph::{Setting, message};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::format::{EndsWritten, ExportFormat, KeptProperties, ReadAs, WriteGraph};
use super::graph::{ExportBlock, PropertyInfo, PropertyKind};
use super::sink::OutputFile;
use super::writer::{EdgeWriter, ExportShape, VertexNames};
use crate::read::typed::{UNDIRECTED, WEIGHT, arrow_column, arrow_type};

/// Rows of a Parquet row group: few enough to be buffered, many enough to compress well.
const ROW_GROUP_ROWS: usize = 1 << 20;

/// Parquet.
pub(crate) static PARQUET: ExportFormat = ExportFormat {
    is_read_anywhere: true,
    ..ExportFormat::new(WriteGraph::Edges(parquet), KeptProperties::All, ReadAs::Told, EndsWritten::IfAsked)
};

/// Arrow IPC.
pub(crate) static ARROW: ExportFormat =
    ExportFormat::new(WriteGraph::Edges(arrow), KeptProperties::All, ReadAs::Told, EndsWritten::IfAsked);

/// A writer of Parquet, compressed with Zstandard.
///
/// # Errors
/// If a dictionary cannot be expressed, or writing fails.
fn parquet<'a>(shape: &ExportShape, output: &'a mut OutputFile) -> Result<Box<dyn EdgeWriter + 'a>> {
    Ok(Box::new(ParquetEdges::begin(shape, ENDS, output)?))
}

/// What the columns of the ends are called.
const ENDS: [&str; 2] = ["source", "target"];

/// A table of Parquet that is being written.
pub(super) struct ParquetTable<'a> {
    writer: ArrowWriter<&'a mut OutputFile>,
    schema: SchemaRef,
}

impl<'a> ParquetTable<'a> {
    /// Begins a table with the columns of a schema.
    ///
    /// # Errors
    /// If a type has no place in Parquet, or writing fails.
    pub(super) fn begin(schema: &Schema, output: &'a mut OutputFile) -> Result<Self> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(1).unwrap_or_default()))
            .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
            .build();
        let schema = Arc::new(without_seconds(schema));
        let writer = ArrowWriter::try_new(output, Arc::clone(&schema), Some(properties));
        Ok(Self { writer: writer.map_err(|e| failed(&e))?, schema })
    }

    /// Writes rows.
    ///
    /// # Errors
    /// If a time is beyond those of Parquet, or writing fails.
    pub(super) fn write(&mut self, columns: &[ArrayRef]) -> Result<()> {
        let columns = columns.iter().zip(self.schema.fields());
        let columns =
            columns.map(|(column, field)| in_milliseconds(field.name(), column)).collect::<Result<_>>()?;
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns).map_err(|e| failed(&e))?;
        self.writer.write(&batch).map_err(|e| failed(&e))
    }

    /// Ends the table.
    ///
    /// # Errors
    /// If writing fails.
    pub(super) fn finish(&mut self) -> Result<()> {
        self.writer.finish().map_err(|e| failed(&e))?;
        Ok(())
    }
}

/// A schema for Parquet, which has no times in seconds: they would become integers, so they are written in
/// milliseconds.
fn without_seconds(schema: &Schema) -> Schema {
    let of_parquet = |field: &Arc<Field>| match field.data_type() {
        DataType::Timestamp(TimeUnit::Second, zone) => {
            let time = DataType::Timestamp(TimeUnit::Millisecond, zone.clone());
            Arc::new(field.as_ref().clone().with_data_type(time))
        }
        _ => Arc::clone(field),
    };
    Schema::new_with_metadata(
        schema.fields().iter().map(of_parquet).collect::<Vec<_>>(),
        schema.metadata.clone(),
    )
}

/// A column in the type that [`without_seconds`] gives it.
fn in_milliseconds(name: &str, column: &ArrayRef) -> Result<ArrayRef> {
    let Some(seconds) = column.as_primitive_opt::<TimestampSecondType>() else {
        return Ok(Arc::clone(column));
    };
    let times = seconds.try_unary::<_, TimestampMillisecondType, _>(|time| {
        time.checked_mul(1000).ok_or_else(|| {
            Error::invalid(format!("a time of {name:?} is beyond those of Parquet: write arrow or csv"))
        })
    })?;
    Ok(Arc::new(times.with_timezone_opt(seconds.timezone())))
}

/// A writer of an Arrow IPC file.
///
/// # Errors
/// As [`parquet`].
fn arrow<'a>(shape: &ExportShape, output: &'a mut OutputFile) -> Result<Box<dyn EdgeWriter + 'a>> {
    let table = EdgeTable::new(shape, ENDS)?;
    let writer = FileWriter::try_new(output, &table.schema).map_err(|e| failed(&e))?;
    Ok(Box::new(ArrowEdges { writer, table }))
}

/// A table of edges in Parquet.
pub(super) struct ParquetEdges<'a> {
    output: ParquetTable<'a>,
    table: EdgeTable,
}

impl<'a> ParquetEdges<'a> {
    /// Begins a table whose columns of ends have these names.
    ///
    /// # Errors
    /// As [`parquet`].
    pub(super) fn begin(shape: &ExportShape, ends: [&str; 2], output: &'a mut OutputFile) -> Result<Self> {
        let table = EdgeTable::new(shape, ends)?;
        Ok(Self { output: ParquetTable::begin(table.schema.as_ref(), output)?, table })
    }
}

impl EdgeWriter for ParquetEdges<'_> {
    fn write(&mut self, names: VertexNames<'_>, block: &ExportBlock) -> Result<()> {
        self.output.write(self.table.batch(names, block)?.columns())
    }

    fn finish(&mut self) -> Result<()> {
        self.output.finish()
    }
}

struct ArrowEdges<'a> {
    writer: FileWriter<&'a mut OutputFile>,
    table: EdgeTable,
}

impl EdgeWriter for ArrowEdges<'_> {
    fn write(&mut self, names: VertexNames<'_>, block: &ExportBlock) -> Result<()> {
        self.writer.write(&self.table.batch(names, block)?).map_err(|e| failed(&e))
    }

    fn finish(&mut self) -> Result<()> {
        self.writer.finish().map_err(|e| failed(&e))
    }
}

/// A failure to write; one of the output itself stays what it is.
pub(super) fn failed(error: &(dyn std::error::Error + 'static)) -> Error {
    let causes = std::iter::successors(Some(error), |error| error.source());
    match causes.filter_map(|error| error.downcast_ref::<std::io::Error>()).next() {
        Some(found) => Error::Io { action: "write", path: "the table".into(), source: found.kind().into() },
        None => Error::invalid(format!("cannot write the table: {error}")),
    }
}

/// The columns of a table of edges.
struct EdgeTable {
    schema: Arc<Schema>,
    properties: Vec<PropertyInfo>,
    /// Of each text property.
    dictionaries: Vec<Option<ArrayRef>>,
    text_ids: bool,
}

impl EdgeTable {
    fn new(shape: &ExportShape, ends: [&str; 2]) -> Result<Self> {
        let id = if shape.text_ids { DataType::Utf8 } else { DataType::Int64 };
        let mut fields = ends.map(|end| Field::new(end, id.clone(), false)).to_vec();
        let mut dictionaries = Vec::new();
        for (index, property) in shape.properties.iter().enumerate() {
            if let Some(kind) = arrow_type(&property.logical) {
                fields.push(Field::new(&property.name, kind, property.optional));
                dictionaries.push(None);
                continue;
            }
            let (kind, dictionary) = match property.kind {
                PropertyKind::I32 => (DataType::Int32, None),
                PropertyKind::I64 => (DataType::Int64, None),
                PropertyKind::U64 => (DataType::UInt64, None),
                PropertyKind::F32 => (DataType::Float32, None),
                PropertyKind::F64 => (DataType::Float64, None),
                PropertyKind::Text => {
                    let texts = dictionary(&shape.dictionaries[index], &property.name)?;
                    let of_texts = Box::new(texts.data_type().clone());
                    (DataType::Dictionary(Box::new(DataType::Int32), of_texts), Some(texts))
                }
            };
            fields.push(Field::new(&property.name, kind, property.optional));
            dictionaries.push(dictionary);
        }
        let mut schema = Schema::new(fields);
        if !shape.directed {
            let [key, value] = UNDIRECTED;
            schema.metadata.insert(key.to_owned(), value.to_owned());
        }
        let weight = shape.weight.map(|weight| &shape.properties[weight].name);
        if let Some(name) = weight.filter(|name| *name != "weight") {
            schema.metadata.insert(WEIGHT.to_owned(), name.clone());
        }
        Ok(Self {
            schema: Arc::new(schema),
            properties: shape.properties.clone(),
            dictionaries,
            text_ids: shape.text_ids,
        })
    }

    fn batch(&self, names: VertexNames<'_>, block: &ExportBlock) -> Result<RecordBatch> {
        let mut columns =
            vec![ids(self.text_ids, names, &block.sources)?, ids(self.text_ids, names, &block.targets)?];
        for (index, property) in self.properties.iter().enumerate() {
            let values = &block.properties[index];
            columns.push(match property.kind {
                _ if !property.logical.is_number() && !property.logical.is_text() => {
                    arrow_column(&property.logical, values)
                }
                PropertyKind::I32 => {
                    Arc::new(values.as_primitive::<Int64Type>().unary::<_, Int32Type>(|v| v as i32))
                }
                PropertyKind::F32 => {
                    Arc::new(values.as_primitive::<Float64Type>().unary::<_, Float32Type>(|v| v as f32))
                }
                PropertyKind::I64 | PropertyKind::U64 | PropertyKind::F64 => Arc::clone(values),
                PropertyKind::Text => {
                    let codes = values.as_primitive::<UInt32Type>();
                    let codes = codes.unary::<_, Int32Type>(u32::cast_signed);
                    let texts = self.dictionaries[index].as_ref().map(Arc::clone);
                    let texts = texts.ok_or_else(|| Error::invalid("a dictionary is missing".to_owned()))?;
                    Arc::new(DictionaryArray::try_new(codes, texts).map_err(|e| failed(&e))?) as ArrayRef
                }
            });
        }
        RecordBatch::try_new(Arc::clone(&self.schema), columns).map_err(|e| failed(&e))
    }
}

/// A column of the ids of vertices, texts or integers.
///
/// # Errors
/// If an id cannot be read, or is none that Parquet and Arrow have.
pub(super) fn ids(are_texts: bool, names: VertexNames<'_>, vertices: &[u64]) -> Result<ArrayRef> {
    if are_texts {
        let (mut texts, mut text) = (BinaryBuilder::with_capacity(vertices.len(), 0), Vec::new());
        for &v in vertices {
            text.clear();
            names.write(v, &mut text)?;
            texts.append_value(&text);
        }
        return Ok(Arc::new(strings(texts.finish())?));
    }
    let mut ids = Vec::with_capacity(vertices.len());
    for &v in vertices {
        let id = names.int(v)?;
        ids.push(i64::try_from(id).map_err(|_| {
            let wide = format!("the id {id} exceeds {}: write csv, or numbers with ", i64::MAX);
            Error::invalid(message![wide, Setting::VertexNumbers])
        })?);
    }
    Ok(Arc::new(Int64Array::from(ids)))
}

/// The texts of a property, which must be UTF-8; of Arrow's large type if there are more than 2 GiB.
fn dictionary(texts: &LargeBinaryArray, name: &str) -> Result<ArrayRef> {
    if i32::try_from(texts.len()).is_err() {
        let reason = "has more different texts than Parquet and Arrow have codes for: write csv";
        return Err(Error::invalid(format!("the property {name:?} {reason}")));
    }
    if i32::try_from(texts.values().len()).is_ok() {
        let mut all = BinaryBuilder::with_capacity(texts.len(), texts.values().len());
        texts.iter().for_each(|text| all.append_option(text));
        return Ok(Arc::new(strings(all.finish())?));
    }
    expect_utf8(texts.iter().flatten())?;
    let (offsets, bytes, _) = texts.clone().into_parts();
    Ok(Arc::new(LargeStringArray::try_new(offsets, bytes, None).map_err(|e| failed(&e))?))
}

fn expect_utf8<'t>(mut texts: impl Iterator<Item = &'t [u8]>) -> Result<()> {
    match texts.find(|text| std::str::from_utf8(text).is_err()) {
        None => Ok(()),
        Some(other) => Err(Error::invalid(format!(
            "{:?} is not UTF-8, as Parquet and Arrow demand of texts: write csv",
            String::from_utf8_lossy(other)
        ))),
    }
}

/// Texts, which must be UTF-8.
pub(super) fn strings(texts: BinaryArray) -> Result<StringArray> {
    expect_utf8(texts.iter().flatten())?;
    let (offsets, bytes, nulls) = texts.into_parts();
    StringArray::try_new(offsets, bytes, nulls).map_err(|e| failed(&e))
}

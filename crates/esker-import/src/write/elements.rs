//! Formats of vertices and edges with attributes: first all vertices, then all edges.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, LargeBinaryArray};
use esker_format::value::digits::{push_i64, push_u64};
use esker_format::{Error, PropertyRecord, Result};
use esker_graph::{Setting, message};
use esker_layers::property::PropertyValue;

use super::digits::push_f64;
use super::graph::{EdgeStream, ExportBlock, ExportGraph, PropertyInfo};
use super::options::ExportOptions;
use super::sink::OutputFile;
use super::writer::{EdgeWriter, ExportShape, VertexNames, as_vertex, pump};
use crate::read::typed::logical_value;

/// Vertices gathered before they are written.
const CHUNK_VERTICES: u64 = 1 << 12;

/// The id of a vertex, as text.
#[derive(Clone, Copy)]
pub(crate) struct ElementId<'a> {
    pub(crate) text: &'a [u8],
    /// The number of the vertex, from 0.
    pub(crate) number: u64,
    /// Whether ids are texts; else they are integers.
    pub(crate) is_text: bool,
}

/// What is about to be written.
pub(crate) struct ElementShape<'a> {
    pub(crate) vertices: u64,
    pub(crate) edges: u64,
    pub(crate) directed: bool,
    pub(crate) is_multigraph: bool,
    pub(crate) text_ids: bool,
    pub(crate) vertex_properties: &'a [PropertyRecord],
    pub(crate) edge_properties: &'a [PropertyInfo],
    pub(crate) weight: Option<usize>,
}

/// How a format writes what it holds.
pub(crate) trait ElementStyle {
    /// What comes before all vertices.
    fn head(&mut self, shape: &ElementShape<'_>, out: &mut Vec<u8>) -> Result<()>;

    /// A vertex, with a value or none for each property.
    fn vertex(
        &mut self,
        id: ElementId<'_>,
        values: &[Option<PropertyValue<'_>>],
        out: &mut Vec<u8>,
    ) -> Result<()>;

    /// What comes between vertices and edges.
    fn between(&mut self, out: &mut Vec<u8>);

    /// An edge, with a value of each property or [`PropertyValue::Missing`].
    fn edge(
        &mut self,
        ends: [ElementId<'_>; 2],
        values: &[PropertyValue<'_>],
        out: &mut Vec<u8>,
    ) -> Result<()>;

    /// What comes last.
    fn tail(&mut self, out: &mut Vec<u8>);
}

/// Makes the style of a format.
pub(crate) type MakeStyle = fn() -> Box<dyn ElementStyle>;

/// Writes a graph, or a stream of edges, in a style. Returns how many edges were written.
///
/// # Errors
/// If the format cannot hold an id or a value, or writing fails; cancellation.
pub(crate) fn write(
    stream: &mut dyn EdgeStream,
    shape: &ExportShape,
    options: &ExportOptions,
    style: &mut dyn ElementStyle,
    output: &mut OutputFile,
) -> Result<u64> {
    let records = match stream.graph() {
        Some(graph) if options.properties => graph.vertex_records(),
        _ => Vec::new(),
    };
    let own = ElementShape {
        vertices: shape.vertices,
        edges: shape.edges,
        directed: shape.directed,
        text_ids: shape.text_ids,
        is_multigraph: stream.graph().is_some_and(ExportGraph::is_multigraph),
        vertex_properties: &records,
        edge_properties: &shape.properties,
        weight: shape.weight,
    };
    let mut buffer = Vec::new();
    style.head(&own, &mut buffer)?;
    let names = VertexNames::new(stream.graph(), options.ids);
    let (mut id, mut values) = (Vec::new(), vec![None; records.len()]);
    for v in 0..shape.vertices {
        id.clear();
        names.write(v, &mut id)?;
        if let Some(graph) = stream.graph().filter(|_| !records.is_empty()) {
            graph.vertex_values(as_vertex(v), &mut values)?;
        }
        style.vertex(ElementId { text: &id, number: v, is_text: shape.text_ids }, &values, &mut buffer)?;
        if v % CHUNK_VERTICES == CHUNK_VERTICES - 1 {
            options.cancel.check()?;
            flush(&mut buffer, output)?;
        }
    }
    drop(values);
    style.between(&mut buffer);
    flush(&mut buffer, output)?;
    let mut writer = ElementWriter { shape, style, buffer, output };
    pump(stream, &mut writer, options, None)
}

fn flush(buffer: &mut Vec<u8>, output: &mut OutputFile) -> Result<()> {
    use std::io::Write;
    let error = output.error();
    output.write_all(buffer).map_err(error)?;
    buffer.clear();
    Ok(())
}

struct ElementWriter<'a> {
    shape: &'a ExportShape,
    style: &'a mut dyn ElementStyle,
    buffer: Vec<u8>,
    output: &'a mut OutputFile,
}

impl EdgeWriter for ElementWriter<'_> {
    fn write(&mut self, names: VertexNames<'_>, block: &ExportBlock) -> Result<()> {
        let ExportShape { properties, dictionaries, text_ids, .. } = self.shape;
        let (mut source, mut target, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for row in 0..block.len() {
            source.clear();
            target.clear();
            names.write(block.sources[row], &mut source)?;
            names.write(block.targets[row], &mut target)?;
            let value = |index: usize| value_at(&properties[index], block, index, row, &dictionaries[index]);
            values.clear();
            values.extend((0..properties.len()).map(value));
            let id = |text, number| ElementId { text, number, is_text: *text_ids };
            let ends = [id(&source, block.sources[row]), id(&target, block.targets[row])];
            self.style.edge(ends, &values, &mut self.buffer)?;
        }
        flush(&mut self.buffer, self.output)
    }

    fn finish(&mut self) -> Result<()> {
        self.style.tail(&mut self.buffer);
        flush(&mut self.buffer, self.output)
    }
}

/// The value of an edge; [`PropertyValue::Missing`] if it has none.
pub(crate) fn value_at<'a>(
    info: &PropertyInfo,
    block: &ExportBlock,
    property: usize,
    row: usize,
    dictionary: &'a LargeBinaryArray,
) -> PropertyValue<'a> {
    let column = &block.properties[property];
    if column.is_null(row) {
        return PropertyValue::Missing;
    }
    if let Some(codes) = column.as_primitive_opt::<UInt32Type>() {
        return PropertyValue::Text(dictionary.value(codes.value(row) as usize));
    }
    if let Some(numbers) = column.as_primitive_opt::<Int64Type>() {
        let number = numbers.value(row);
        return match info.logical.is_number() {
            true => PropertyValue::I64(number),
            false => logical_value(&info.logical, number),
        };
    }
    match column.as_primitive_opt::<UInt64Type>() {
        Some(numbers) => PropertyValue::U64(numbers.value(row)),
        None => PropertyValue::F64(column.as_primitive::<Float64Type>().value(row)),
    }
}

/// Appends a value as text.
pub(crate) fn push_value(out: &mut Vec<u8>, value: &PropertyValue<'_>) {
    match value {
        PropertyValue::Text(text) => out.extend_from_slice(text),
        PropertyValue::I64(value) => push_i64(out, *value),
        PropertyValue::I32(value) => push_i64(out, i64::from(*value)),
        PropertyValue::U64(value) => push_u64(out, *value),
        PropertyValue::F64(value) => push_f64(out, *value),
        PropertyValue::F32(value) => push_f64(out, f64::from(*value)),
        other => out.extend_from_slice(other.to_string().as_bytes()),
    }
}

/// Appends a number that a reader takes for a float, also if it is whole.
pub(crate) fn push_float(out: &mut Vec<u8>, value: f64) {
    let start = out.len();
    push_f64(out, value);
    if out[start..].iter().all(|byte| byte.is_ascii_digit() || *byte == b'-') {
        out.extend_from_slice(b".0");
    }
}

/// A text as UTF-8, which a format asks for.
///
/// # Errors
/// If it is other bytes: in words, with the remedy.
pub(crate) fn utf8<'a>(text: &'a [u8], title: &str) -> Result<&'a str> {
    std::str::from_utf8(text).map_err(|_| unfit(text, "is not UTF-8", title))
}

/// The formats that hold any text as this one: those of tables, of which Parquet has UTF-8 alone.
pub(crate) fn formats_for(text: &[u8]) -> &'static str {
    if std::str::from_utf8(text).is_ok() { "csv or parquet" } else { "csv" }
}

/// The error for a text that a format cannot hold.
pub(crate) fn unfit(text: &[u8], why: &str, title: &str) -> Error {
    let shown = String::from_utf8_lossy(&text[..text.len().min(80)]).into_owned();
    let formats = formats_for(text);
    Error::invalid(message![
        format!(
            "the text {shown:?} {why}, so a {title} cannot hold it: write {formats}, the numbers of vertices with "
        ),
        Setting::VertexNumbers,
        ", or no properties with ",
        Setting::Properties.to(false),
    ])
}

/// The error for a property whose name a format cannot hold.
pub(crate) fn unfit_name(name: &str, title: &str) -> Error {
    Error::invalid(message![
        format!(
            "a property called {name:?} has no place in a {title}: write csv or parquet, or no properties with "
        ),
        Setting::Properties.to(false),
    ])
}

/// Names of properties of a list, that does not stand for another thing in a format.
///
/// # Errors
/// If one of them does.
pub(crate) fn check_names<'a>(
    names: impl Iterator<Item = &'a str>,
    is_free: impl Fn(&str) -> bool,
    title: &str,
) -> Result<()> {
    let mut taken = names.filter(|name| !is_free(name));
    taken.next().map_or(Ok(()), |name| Err(unfit_name(name, title)))
}

/// The error for a directed graph in a format of undirected ones.
pub(crate) fn directed(title: &str, other: &str) -> Error {
    Error::invalid(message![
        format!("a {title} is undirected, but the graph is directed: write {other}, or import it with "),
        Setting::Directed.to(false),
    ])
}

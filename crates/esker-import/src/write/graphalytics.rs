//! LDBC Graphalytics: `.v` with an id a line, `.e` with an edge a line, and `.properties` that name both.

use std::io::Write;
use std::path::{Path, PathBuf};

use esker_format::{Error, Result};

use super::format::{EndsWritten, ExportFormat, KeptProperties, ReadAs, WriteGraph};
use super::graph::EdgeStream;
use super::lines;
use super::options::ExportOptions;
use super::sink::OutputFile;
use super::vertices;
use super::writer::{ExportShape, VertexNames, pump};

/// Graphalytics.
pub(crate) static GRAPHALYTICS: ExportFormat = ExportFormat {
    endings: &["v", "e"],
    states_vertices: true,
    has_integer_ids: true,
    ..ExportFormat::new(WriteGraph::Files(write), KeptProperties::Weight, ReadAs::Told, EndsWritten::IfAsked)
};

/// Writes the three files, whose names differ in their endings; the files and how many edges were written.
///
/// # Errors
/// If the graph cannot be read or a file not be written.
fn write(
    stream: &mut dyn EdgeStream,
    shape: &ExportShape,
    path: &Path,
    options: &ExportOptions,
) -> Result<(Vec<PathBuf>, u64)> {
    if path.as_os_str() == "-" {
        return Err(Error::invalid(
            "a Graphalytics graph is three files and cannot go to standard output: name a file",
        ));
    }
    let base = match path.extension().and_then(|end| end.to_str()) {
        Some("v" | "e" | "properties") => path.with_extension(""),
        _ => path.to_owned(),
    };
    let with_ending = |ending: &str| {
        let mut name = base.clone().into_os_string();
        name.push(ending);
        PathBuf::from(name)
    };
    let (vertices, edges, properties) = (with_ending(".v"), with_ending(".e"), with_ending(".properties"));
    let mut of_vertices = OutputFile::open(&vertices, options)?;
    let mut of_edges = OutputFile::open(&edges, options)?;
    let mut of_properties = OutputFile::open(&properties, options)?;
    vertices::write(VertexNames::new(stream.graph(), shape.ids), shape.vertices, options, &mut of_vertices)?;
    let count = {
        let mut writer = lines::graphalytics(shape, &mut of_edges)?;
        pump(stream, writer.as_mut(), options, None)?
    };
    let name = base.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let text = describe(&name, shape);
    of_properties.write_all(text.as_bytes()).map_err(of_properties.error())?;
    Ok((vec![of_vertices.finish()?, of_edges.finish()?, of_properties.finish()?], count))
}

fn describe(name: &str, shape: &ExportShape) -> String {
    let mut text = format!(
        "graphs = {name}\ngraph.{name}.vertex-file = {name}.v\ngraph.{name}.edge-file = {name}.e\n\
         graph.{name}.meta.vertices = {}\ngraph.{name}.meta.edges = {}\ngraph.{name}.directed = {}\n",
        shape.vertices, shape.edges, shape.directed
    );
    if shape.weight.is_some() {
        text += &format!(
            "graph.{name}.edge-properties.names = weight\ngraph.{name}.edge-properties.types = real\n"
        );
    }
    text
}

//! From a graph to a file that other tools read: every format that the import reads.
//!
//! Edge formats are written from blocks of edges ([`ExportBlock`]), which come from a graph ([`ExportGraph`])
//! or from anything that makes edges, a generator say, so a generated graph needs no database on its way to a
//! file. Formats that list neighbours (METIS, Ligra, GAP) need a graph, and write numbers instead of ids
//! where the format knows only numbers. Memory: a few blocks of 65 536 edges; the longest list for the latter
//! formats; for formats that list edges only, a bit a vertex, to tell which vertices no edge names.

mod graph;
mod stored;
mod generated;
mod digits;
mod options;
mod terminal;
mod sink;
mod writer;
mod vertices;
mod lines;
mod tables;
mod adjacency;
mod graphalytics;
mod losses;

use std::path::{Path, PathBuf};

use esker_format::{Error, Result};
use esker_graph::generate::Generator;
use esker_graph::{Bitmap, Setting, message};
use writer::{EdgeWriter, ExportShape, VertexNames};

use crate::read::format::Format;

pub use digits::push_f64;
pub(crate) use generated::GeneratorExport;
pub use graph::{BlockBuilder, ExportBlock, ExportGraph, PropertyInfo, PropertyKind};
pub(crate) use graph::{EdgeStream, ListExport};
pub use losses::Loss;
pub use options::{ExportOptions, OutputCompression, WriteIds};
pub use sink::OutputFile;
pub use stored::StoredExport;
pub use terminal::{Escaped, escaped};
pub use writer::push_quoted;

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportReport {
    /// The format.
    pub format: Format,
    /// The files, in the order of writing; `-` is standard output.
    pub files: Vec<PathBuf>,
    /// Vertices of the graph.
    pub vertices: u64,
    /// Vertices without edges that no file names: the format lists edges only.
    pub unnamed: u64,
    /// Edges written; an undirected one counts twice where it was written at both ends.
    pub edges: u64,
    /// What the format cannot keep of the graph.
    pub losses: Vec<Loss>,
}

/// Writes a graph to `path`; `-` is standard output. The file gets its name when it is complete.
///
/// # Errors
/// If the format cannot hold the graph (the message says why and what can), a file exists, or writing fails.
pub fn export(graph: &dyn ExportGraph, path: &Path, options: &ExportOptions) -> Result<ExportReport> {
    let format = format_of(path, options)?;
    if options.both_ends == Some(true) && graph.is_directed() {
        return Err(Error::usage(message![
            "to write edges in both directions (",
            Setting::BothEnds.to(true),
            ") has no effect on a directed graph: each edge has one",
        ]));
    }
    let vertices = match &options.vertices {
        Some(path) => {
            let mut output = OutputFile::open(path, options)?;
            vertices::write(
                VertexNames::new(Some(graph), options.ids),
                graph.num_vertices(),
                options,
                &mut output,
            )?;
            Some(output)
        }
        None => None,
    };
    let mut report = export_edges(graph, format, path, options)?;
    report.losses = losses::of(graph, format, options)?;
    if report.unnamed > 0 {
        report.losses.push(Loss::Vertices(format, report.unnamed));
    }
    if let Some(vertices) = vertices {
        report.files.push(vertices.finish()?);
    }
    Ok(report)
}

fn export_edges(
    graph: &dyn ExportGraph,
    format: Format,
    path: &Path,
    options: &ExportOptions,
) -> Result<ExportReport> {
    match format {
        Format::Metis | Format::Adjacency | Format::Sg | Format::Wsg => {
            let mut output = OutputFile::open(path, options)?;
            let edges = adjacency::write(graph, format, options, &mut output)?;
            let files = vec![output.finish()?];
            Ok(ExportReport {
                format,
                files,
                vertices: graph.num_vertices(),
                unnamed: 0,
                edges,
                losses: Vec::new(),
            })
        }
        _ => {
            let mut stream = ListExport::new(graph, options.has_both_ends(format), &options.cancel)?;
            export_stream(&mut stream, path, options)
        }
    }
}

/// Writes a stream of edges to `path`; `-` is standard output.
///
/// # Errors
/// As [`export`]; also if the format lists neighbours, which a stream cannot give.
pub(crate) fn export_stream(
    stream: &mut dyn EdgeStream,
    path: &Path,
    options: &ExportOptions,
) -> Result<ExportReport> {
    let format = format_of(path, options)?;
    let shape = ExportShape::of(stream, options);
    let vertices = shape.vertices;
    writer::check_ids(format, &shape)?;
    if format == Format::Graphalytics {
        let (files, edges) = graphalytics::write(stream, &shape, path, options)?;
        return Ok(ExportReport { format, files, vertices, unnamed: 0, edges, losses: Vec::new() });
    }
    let mut output = OutputFile::open(path, options)?;
    let states_count = matches!(format, Format::MatrixMarket | Format::Dimacs) || options.vertices.is_some();
    let seen = stream.graph().filter(|_| !states_count).map(|_| Bitmap::new(vertices as usize));
    let edges = {
        let mut writer: Box<dyn EdgeWriter + '_> = match format {
            Format::EdgeList
            | Format::WeightedEdgeList
            | Format::Snap
            | Format::Csv
            | Format::Tsv
            | Format::MatrixMarket
            | Format::Dimacs
            | Format::Graph500
            | Format::Graph500Wide => lines::writer(format, &shape, &mut output)?,
            Format::Parquet => tables::parquet(&shape, &mut output)?,
            Format::Arrow => tables::arrow(&shape, &mut output)?,
            _ => {
                return Err(Error::invalid(format!(
                    "{} lists the neighbours of each vertex, which a stream of edges cannot give: make a database of \
                     it first and export that",
                    format.title()
                )));
            }
        };
        writer::pump(stream, writer.as_mut(), options, seen.as_ref())?
    };
    let unnamed = seen.map_or(0, |seen| vertices - seen.count() as u64);
    Ok(ExportReport { format, files: vec![output.finish()?], vertices, unnamed, edges, losses: Vec::new() })
}

/// Writes the edges of a generator to `path`; formats of arcs get both of an undirected edge.
///
/// # Errors
/// As [`export()`].
pub fn export_generated(generator: &Generator, path: &Path, options: &ExportOptions) -> Result<ExportReport> {
    let both_ends = !generator.is_directed() && options.has_both_ends(format_of(path, options)?);
    export_stream(&mut GeneratorExport::new(generator, both_ends), path, options)
}

/// The format that is written.
///
/// # Errors
/// Nothing names it, or no reader could read it compressed as a whole.
fn format_of(path: &Path, options: &ExportOptions) -> Result<Format> {
    let name = path.to_string_lossy();
    let format = options.format.or_else(|| named(&name)).ok_or_else(|| {
        let names: Vec<_> = Format::ALL.iter().map(|format| format.name()).collect();
        Error::invalid(message![
            format!("the ending of {name} names no format to write; name one with "),
            Setting::Format,
            format!(": {}", names.join(", ")),
        ])
    })?;
    let is_compressed =
        options.compression.unwrap_or_else(|| OutputCompression::from_name(&name)) != OutputCompression::None;
    if is_compressed && matches!(format, Format::Parquet | Format::Sg | Format::Wsg) {
        let title = format.title();
        return Err(Error::usage(format!(
            "{name} would be compressed as a whole, but {title} is read from many places at once: leave out the \
             ending .gz, .zst or .bz2"
        )));
    }
    Ok(format)
}

/// The format that a name promises. `.txt` is taken as SNAP's, and `.v` and `.e` as Graphalytics'.
fn named(name: &str) -> Option<Format> {
    let plain = [".gz", ".zst", ".bz2"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
    Format::from_name(name).or_else(|| match plain.rsplit_once('.')?.1 {
        "txt" => Some(Format::Snap),
        "v" | "e" => Some(Format::Graphalytics),
        _ => None,
    })
}

#[cfg(test)]
mod tests;

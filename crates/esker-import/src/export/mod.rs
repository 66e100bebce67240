//! From a graph to a file that other tools read: every format that the import reads.
//!
//! Edge formats are written from blocks of edges ([`ExportBlock`]), which come from a graph ([`ExportGraph`])
//! or from anything that makes edges, a generator say, so a generated graph needs no database on its way to a
//! file. Formats that list neighbours (METIS, Ligra, GAP) need a graph, and write numbers instead of ids
//! where the format knows only numbers. Memory: a few blocks of 65 536 edges; the longest list for the latter
//! formats; for formats that list edges only, a bit a vertex, to tell which vertices no edge names.

mod losses;

use std::path::{Path, PathBuf};

use esker_format::{Error, Result};
use esker_graph::generate::Generator;
use esker_graph::{Bitmap, Setting, message};

use crate::formats::{ending, names};
use crate::read::format::Format;
use crate::write::{
    EdgeStream, ExportShape, GeneratorExport, ListExport, VertexNames, WriteGraph, pump, write_elements,
    write_vertices,
};

pub use crate::write::{
    BlockBuilder, Escaped, ExportBlock, ExportGraph, ExportOptions, OutputCompression, OutputFile,
    PropertyInfo, PropertyKind, StoredExport, WriteIds, escaped, nulls, push_f64, push_quoted, push_text,
};
pub use losses::Loss;

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
/// If the format cannot hold the graph (the message says why and what can), an edge is without a value that
/// the format cannot leave out, a file exists, or writing fails.
pub fn export(graph: &dyn ExportGraph, path: &Path, options: &ExportOptions) -> Result<ExportReport> {
    let format = format_of(path, options)?;
    if options.both_ends == Some(true) && graph.is_directed() {
        return Err(Error::usage(message![
            "to write edges in both directions (",
            Setting::BothEnds.to(true),
            ") has no effect on a directed graph: each edge has one",
        ]));
    }
    let written = format.export();
    for (index, property) in graph.properties().iter().enumerate().filter(|_| options.properties) {
        let is_kept = written.keeps.has(index, property, graph.weight());
        if is_kept && !written.may_lack(graph.weight() == Some(index)) {
            graph.expect_values(index)?;
        }
    }
    let vertices = match &options.vertices {
        Some(path) => {
            let mut output = OutputFile::open(path, options)?;
            write_vertices(
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
    let written = format.export();
    match written.write {
        WriteGraph::Edges(_) | WriteGraph::Files(_) | WriteGraph::Elements(_) => {
            let both_ends = written.lists_both_ends(options);
            let mut stream = ListExport::new(graph, both_ends, &options.cancel)?;
            export_stream(&mut stream, path, options)
        }
        WriteGraph::Nothing => Err(unwritten(format)),
        WriteGraph::Lists(write) => {
            let mut output = OutputFile::open(path, options)?;
            let edges = write(graph, options, &mut output)?;
            let (files, vertices) = (vec![output.finish()?], graph.num_vertices());
            Ok(ExportReport { format, files, vertices, unnamed: 0, edges, losses: Vec::new() })
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
    let (written, title) = (format.export(), format.title());
    let shape = ExportShape::of(stream, options);
    let vertices = shape.vertices;
    if written.has_integer_ids && shape.text_ids {
        // Else the ids would be lost silently.
        return Err(Error::invalid(message![
            format!("the ids of the graph are texts, but {title} has integers: "),
            "write the vertices' numbers with ",
            Setting::VertexNumbers,
        ]));
    }
    let names_all = written.states_vertices || options.vertices.is_some();
    let seen = stream.graph().filter(|_| !names_all).map(|_| Bitmap::new(vertices as usize));
    let (files, edges) = match written.write {
        WriteGraph::Edges(begin) => {
            let mut output = OutputFile::open(path, options)?;
            let edges = pump(stream, begin(&shape, &mut output)?.as_mut(), options, seen.as_ref())?;
            (vec![output.finish()?], edges)
        }
        WriteGraph::Files(write) => write(stream, &shape, path, options)?,
        WriteGraph::Elements(make) => {
            let mut output = OutputFile::open(path, options)?;
            let edges = write_elements(stream, &shape, options, make().as_mut(), &mut output)?;
            (vec![output.finish()?], edges)
        }
        WriteGraph::Nothing => return Err(unwritten(format)),
        WriteGraph::Lists(_) => {
            return Err(Error::invalid(format!(
                "{title} lists the neighbours of each vertex, which a stream of edges cannot give: make a database of \
                 it first and export that"
            )));
        }
    };
    let unnamed = seen.map_or(0, |seen| vertices - seen.count() as u64);
    Ok(ExportReport { format, files, vertices, unnamed, edges, losses: Vec::new() })
}

/// Writes the edges of a generator to `path`; formats of arcs get both of an undirected edge.
///
/// # Errors
/// As [`export()`].
pub fn export_generated(generator: &Generator, path: &Path, options: &ExportOptions) -> Result<ExportReport> {
    let both_ends = !generator.is_directed() && format_of(path, options)?.export().lists_both_ends(options);
    export_stream(&mut GeneratorExport::new(generator, both_ends), path, options)
}

/// The format that is written.
///
/// # Errors
/// Nothing names it, or no reader could read it compressed as a whole.
fn format_of(path: &Path, options: &ExportOptions) -> Result<Format> {
    let name = path.to_string_lossy();
    let format = options.format.or_else(|| named(&name)).ok_or_else(|| {
        Error::invalid(message![
            format!("the ending of {name} names no format to write; name one with "),
            Setting::Format,
            format!(": {}", names()),
        ])
    })?;
    if matches!(format.export().write, WriteGraph::Nothing) {
        return Err(unwritten(format));
    }
    let is_compressed =
        options.compression.unwrap_or_else(|| OutputCompression::from_name(&name)) != OutputCompression::None;
    if is_compressed && format.export().is_read_anywhere {
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
    let asks = |format: &Format| ending(name).is_some_and(|ending| format.export().endings.contains(&ending));
    Format::from_name(name).or_else(|| Format::all().find(asks))
}

/// The error for a format that is read only.
fn unwritten(format: Format) -> Error {
    Error::usage(format!(
        "{} ({format}) is read and not written; write adj, which GBBS reads, or graph500, el or parquet",
        format.title()
    ))
}

#[cfg(test)]
mod tests;

//! `esker export`: writes the graph of a database in another format.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use esker::export::{ExportOptions, Loss, StoredExport, WriteIds, export};
use esker::output::{VertexTable, vertex_properties};
use serde_json::json;

use crate::args::at::AtArgs;
use crate::args::mistake::expect_distinct;
use crate::args::reading::parse_format;
use crate::args::resources::ResourceArgs;
use crate::args::selecting::WhereArgs;
use crate::args::size::counted;
use crate::failure::Outcome;
use crate::interrupt::cancel_on_signals;
use crate::language::said;
use crate::session::opening::open_store_with;
use crate::show::progress::Bar;
use crate::show::text;

/// How vertices are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum OutputIds {
    /// The ids that were imported.
    #[default]
    External,
    /// Vertex numbers, from 0.
    Numbers,
}

/// Export the graph of a database to another format
///
/// The file extension selects the format: .el .wel .csv .tsv .txt (SNAP) .mtx .graph (METIS) .gr .adj .sg
/// .wsg .graph500 .parquet .arrow .graphml .gexf .json (node-link) .cyjs .edgelist (NetworkX) .gml .net
/// (Pajek) .dot .leda .ncol .lgl .sif .g6 .s6 .d6 .col .max .npz (SciPy). Text formats can be followed by
/// .gz, .zst or .bz2. `--format graphframes` writes a folder, with a Parquet file of vertices and one of
/// edges.
#[derive(Debug, Args)]
pub(crate) struct ExportCommand {
    /// The database
    database: PathBuf,
    /// The file to write, for graphframes a folder; `-` is standard output
    output: PathBuf,
    #[command(flatten)]
    at: AtArgs,
    /// Format of the output [default: by the file extension]
    #[arg(long, value_name = "NAME")]
    format: Option<String>,
    /// How vertices are written
    #[arg(long, value_enum, default_value_t)]
    ids: OutputIds,
    #[command(flatten)]
    part: WhereArgs,
    /// Keep the vertices without an edge that meets the conditions
    #[arg(long)]
    all_vertices: bool,
    /// Omit weights and other properties
    #[arg(long)]
    no_properties: bool,
    /// Write each undirected edge in both directions
    #[arg(long)]
    both_ends: bool,
    /// Also write the ids of all vertices to a file, one per line, for `esker import --vertices`
    #[arg(long, value_name = "FILE")]
    vertices: Option<PathBuf>,
    /// Also write the properties of vertices to a file: a CSV with ids in the first column, for `esker set`
    #[arg(long, value_name = "FILE", conflicts_with = "no_properties")]
    vertex_properties: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
    /// Report as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    resources: ResourceArgs,
}

impl ExportCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        expect_distinct(&[
            ("OUTPUT", Some(&self.output)),
            ("--vertices", self.vertices.as_deref()),
            ("--vertex-properties", self.vertex_properties.as_deref()),
        ])?;
        let cancel = cancel_on_signals()?;
        let version = self.at.version(&open_store_with(&self.database, &cancel)?)?;
        let options = ExportOptions {
            format: self.format.as_deref().map(parse_format).transpose()?,
            ids: match self.ids {
                OutputIds::External => WriteIds::External,
                OutputIds::Numbers => WriteIds::Numbers,
            },
            properties: !self.no_properties,
            both_ends: self.both_ends.then_some(true),
            overwrite: self.force,
            vertices: self.vertices.clone(),
            cancel: cancel.clone(),
            ..ExportOptions::default()
        };
        let bar = Bar::spinner(false);
        let run = self.resources.run(&cancel, 0, false, None)?;
        let view = self.part.select(version.view(), self.all_vertices, &run)?;
        let values = match &self.vertex_properties {
            Some(path) => Some(vertex_properties(&view, path, &options, &run)?),
            None => None,
        };
        let graph = StoredExport::new(&view, &run)?;
        let report = export(&graph, &self.output, &options);
        bar.finish();
        let mut report = report?;
        if values.is_some() {
            report.losses.retain(|loss| !matches!(loss, Loss::VertexProperties(_)));
        }
        if let Some(VertexTable { file, lost_types }) = values {
            report.files.push(file);
            report.losses.extend((!lost_types.is_empty()).then_some(Loss::VertexTypes(lost_types)));
        }
        let files: Vec<String> = report.files.iter().map(|file| file.display().to_string()).collect();
        if self.json {
            return text::json(&json!({
                "format": report.format.name(),
                "files": files,
                "vertices": report.vertices,
                "vertices_unnamed": report.unnamed,
                "edges": report.edges,
                "losses": report.losses.iter().map(sentence).collect::<Vec<_>>(),
            }));
        }
        text::remark(&format!(
            "Wrote {} as {} to {}",
            counted(report.edges, "edge", "edges"),
            report.format.title(),
            files.join(", ")
        ));
        report.losses.iter().for_each(|loss| text::remark(&sentence(loss)));
        Ok(())
    }
}

/// What was lost and how to keep it, as a sentence.
fn sentence(loss: &Loss) -> String {
    let said = said(&loss.sentence());
    let first = said.chars().next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(said.chars().skip(1)).collect()
}

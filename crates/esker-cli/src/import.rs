//! `esker import`: reads files of edges into a new database.

use std::path::{Path, PathBuf};

use clap::Args;
use esker::import::format::Format;
use serde_json::json;

use crate::encoding::StoredEncoding;
use crate::failure::{Failure, Outcome};
use crate::importing::{Imported, PolicyArgs, import_files};
use crate::interrupt::cancel_on_signals;
use crate::reading::ReadArgs;
use crate::resources::{ResourceArgs, peak_memory_bytes};
use crate::size::{bytes, count, counted, rate, seconds};
use crate::text;
use crate::tiling::describe;

/// Import edges from files into a new database
///
/// Formats and compression (.gz, .zst, .bz2) are detected from the content. `-` is standard input; patterns such as
/// 'part-*.csv' are expanded.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  esker import edges.csv web.esker --src from --dst to --weight w
  esker import 'part-*.parquet' web.esker --undirected
  zcat edges.txt.gz | esker import - web.esker")]
pub(crate) struct ImportCommand {
    /// Files of edges, then the database to create
    #[arg(required = true, num_args = 1.., value_name = "INPUT... DATABASE")]
    paths: Vec<String>,
    #[command(flatten)]
    read: ReadArgs,
    /// How to store the graph
    #[arg(long, value_enum, default_value_t)]
    encoding: StoredEncoding,
    #[command(flatten)]
    policy: PolicyArgs,
    #[command(flatten)]
    resources: ResourceArgs,
    /// Replace an existing database
    #[arg(long)]
    force: bool,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

impl ImportCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        let Some((target, inputs)) = self.paths.split_last().filter(|(_, inputs)| !inputs.is_empty()) else {
            return Err(Failure::Usage(
                "give the input files and the database to create, as in: esker import edges.csv web.esker"
                    .to_owned(),
            ));
        };
        let target = PathBuf::from(target);
        let cancel = cancel_on_signals()?;
        let imported = import_files(
            inputs,
            &target,
            &self.read,
            &self.policy.with_encoding(self.encoding),
            &self.resources,
            &cancel,
            self.force,
        )?;
        if imported.report.vertices == 0 {
            let name = target.display();
            text::remark(&format!("warning: {name} is empty: the input has no edges and no vertices"));
        }
        let printed = if self.json { print_json(&target, &imported) } else { print(&target, &imported) };
        printed.map_err(|failure| failure.after(&format!("imported to {}", target.display())))
    }
}

fn print(target: &Path, imported: &Imported) -> Outcome {
    let report = &imported.report;
    for note in &imported.notes {
        text::remark(note);
    }
    let kind = if report.directed { "directed" } else { "undirected" };
    text::line(&format!(
        "{}: {}, {} {kind} {}",
        target.display(),
        counted(report.vertices, "vertex", "vertices"),
        count(report.edges),
        if report.edges == 1 { "edge" } else { "edges" }
    ))?;
    let skipped: Vec<String> = [
        (report.duplicates, "duplicate edge", "duplicate edges"),
        (report.self_loops, "self-loop", "self-loops"),
        (report.rejected, "malformed line", "malformed lines"),
    ]
    .into_iter()
    .filter(|(number, _, _)| *number > 0)
    .map(|(number, one, many)| counted(number, one, many))
    .collect();
    if !skipped.is_empty() {
        text::line(&format!("Skipped {}", skipped.join(", ")))?;
    }
    if let Some(tiles) = &imported.tiles {
        text::line(&describe(tiles))?;
    }
    text::remark_rejected(&report.rejected_sample);
    text::remark(&format!(
        "Read {} in {} ({}), peak memory {}",
        counted(report.rows, "row", "rows"),
        seconds(imported.seconds),
        rate(report.rows as f64, imported.seconds),
        peak_memory_bytes().map_or_else(|| "unknown".to_owned(), bytes)
    ));
    text::remark(&format!("Vertex order: {}", report.order.reason));
    Ok(())
}

fn print_json(target: &Path, imported: &Imported) -> Outcome {
    let report = &imported.report;
    let stages: serde_json::Map<_, _> =
        report.stages.iter().map(|(name, seconds)| ((*name).to_owned(), json!(seconds))).collect();
    text::json(&json!({
        "database": target.display().to_string(),
        "format": imported.format.map(Format::name),
        "notes": imported.notes,
        "rows": report.rows,
        "vertices": report.vertices,
        "edges": report.edges,
        "arcs": report.arcs,
        "directed": report.directed,
        "duplicates": report.duplicates,
        "self_loops_dropped": report.self_loops,
        "rejected": report.rejected,
        "rejected_sample": text::rejected_json(&report.rejected_sample),
        "order": format!("{:?}", report.order.order).to_lowercase(),
        "order_reason": report.order.reason,
        "tile_bytes": imported.tiles.map(|tiles| tiles.data_bytes),
        "seconds": imported.seconds,
        "edges_per_second": report.rows as f64 / imported.seconds,
        "stages": stages,
        "peak_memory_bytes": peak_memory_bytes(),
    }))
}

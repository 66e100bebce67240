//! `esker plot`: charts of a graph.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use esker::catalogue::{Params, Resources, find};
use esker::computation::Computation;
use esker::drawing::{Chart, ChartLine};
use esker::export::{ExportOptions, OutputFile};
use esker::graph::Run;
use esker::histogram::Histogram;
use esker::session::{Selection, VersionSource};
use esker::store::{Store, Version};
use esker::top::top;
use serde_json::{Value, json};

use crate::args::at::AtArgs;
use crate::args::selecting::WhereArgs;
use crate::failure::{Failure, Outcome};
use crate::session::asking::{Asked, DirectionArg, FormArgs};
use crate::show::rows::{RowTable, bars};
use crate::show::text;
use crate::verbs::degree::all_degrees;

/// Show how degrees or components are distributed, or how the graph grew
///
/// Prints a table; with -o, draws a chart as SVG. Distributions are drawn by orders of magnitude, one point
/// for each value that occurs.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  esker plot degrees web.esker
  esker plot degrees web.esker --direction in -o degrees.svg
  esker plot components web.esker -o components.svg
  esker plot versions web.esker -o growth.svg")]
pub(crate) struct PlotCommand {
    /// What is shown
    #[arg(value_enum)]
    what: Plotted,
    /// The database
    database: PathBuf,
    /// Draw the chart to this file, .svg or .svg.gz
    #[arg(long, short, value_name = "FILE", conflicts_with_all = ["format", "json"])]
    output: Option<PathBuf>,
    /// Replace a file that stands there
    #[arg(long, requires = "output")]
    force: bool,
    /// Which edges degrees count, of a directed graph [default: out]
    #[arg(long, value_enum, value_name = "DIRECTION")]
    direction: Option<DirectionArg>,
    #[command(flatten)]
    at: AtArgs,
    #[command(flatten)]
    part: WhereArgs,
    #[command(flatten)]
    form: FormArgs,
}

/// What is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Plotted {
    /// How many vertices have how many edges
    Degrees,
    /// How many weakly connected components have how many vertices
    Components,
    /// How many vertices and edges each version has
    Versions,
}

impl PlotCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        self.form.round.apply();
        self.check()?;
        let output = self.output.as_deref().map(|path| self.open(path)).transpose()?;
        let (rows, chart) = match self.what {
            Plotted::Degrees => {
                let asked = Asked::open(&self.database, &self.selection())?;
                let degrees = all_degrees(&asked, self.direction)?;
                self.distribution(degrees, "degree", ["edges of a vertex", "vertices"])
            }
            Plotted::Components => {
                self.distribution(self.component_sizes()?, "size", ["vertices of a component", "components"])
            }
            Plotted::Versions => self.growth()?,
        };
        let Some(mut file) = output else { return self.form.print(&rows) };
        let failed = file.error();
        if chart.lines.iter().all(|line| line.points.is_empty()) {
            text::warn(&format!("warning: the chart is empty: {}", chart.title));
        }
        file.write_all(chart.svg().as_bytes()).map_err(failed)?;
        file.finish()?;
        Ok(())
    }

    /// Refuses choices without effect.
    fn check(&self) -> Outcome {
        let refuse =
            |option: &str, what: &str| Err(Failure::Usage(format!("{option} has no effect on {what}")));
        let is_filtered = !self.part.conditions.is_empty() || !self.part.kinds.kinds().is_empty();
        match self.what {
            Plotted::Components if self.direction.is_some() => refuse("--direction", "components"),
            Plotted::Versions if self.direction.is_some() => refuse("--direction", "versions"),
            Plotted::Versions if self.at.at.is_some() => refuse("--at", "versions: all are shown"),
            Plotted::Versions if is_filtered => Err(Failure::Usage(
                "--where and --kind have no effect on versions: all edges count".to_owned(),
            )),
            Plotted::Degrees | Plotted::Components | Plotted::Versions => Ok(()),
        }
    }

    fn selection(&self) -> Selection {
        Selection {
            version: self.at.at.clone(),
            conditions: self.part.conditions.clone(),
            kinds: self.part.kinds.kinds(),
            ..Selection::default()
        }
    }

    fn name(&self) -> String {
        self.database.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }

    fn open(&self, path: &Path) -> Result<OutputFile, Failure> {
        let name = path.to_string_lossy().to_lowercase();
        if ![".svg", ".svg.gz", ".svg.zst"].iter().any(|end| name.ends_with(end)) {
            let message = format!("{} does not end in .svg, the only form of charts", path.display());
            return Err(Failure::Usage(message));
        }
        Ok(OutputFile::open(path, &ExportOptions { overwrite: self.force, ..ExportOptions::default() })?)
    }

    fn distribution(&self, values: Vec<u64>, column: &str, axes: [&str; 2]) -> (RowTable, Chart) {
        let rows = bars(column, &Histogram::of_counts(values.iter().copied()));
        (rows, Chart::of_counts(&self.name(), axes, values.into_iter()))
    }

    fn component_sizes(&self) -> Result<Vec<u64>, Failure> {
        let asked = Asked::open(&self.database, &self.selection())?;
        let view = self.selection().of(&asked.version, &asked.run)?.view;
        let (params, run): (Params, &Run) = (Params::default(), &asked.run);
        let answer = Computation::of(find("wcc")?, &params).plan(&view, &Resources::of(run))?.run(run)?;
        let groups = top(&answer, usize::MAX, run.cancel())?;
        Ok(groups.iter().filter_map(|group| group.value.number()).map(|size| size as u64).collect())
    }

    /// The vertices and edges of each version.
    fn growth(&self) -> Result<(RowTable, Chart), Failure> {
        let store = Store::open(&self.database)?;
        let newest: Version = store.selected(None)?;
        let removed = store.removed_by_version(&Run::with_threads(1)?)?;
        let mut rows = RowTable::of(["version", "vertices", "edges"].map(str::to_owned));
        let mut lines =
            ["vertices", "edges"].map(|name| ChartLine { name: name.to_owned(), points: Vec::new() });
        for record in store.versions()? {
            // Of a version in the log, only the changes themselves tell.
            let edges =
                newest.manifest().version(record.number).map_or(record.num_edges, |known| known.num_edges);
            let place = removed.partition_point(|&(since, _)| since <= record.number);
            let removed = place.checked_sub(1).map_or(0, |last| removed[last].1);
            let vertices = record.num_vertices.saturating_sub(removed);
            rows.push(vec![json!(record.number), json!(vertices), json!(edges)] as Vec<Value>);
            for (line, figure) in lines.iter_mut().zip([vertices, edges]) {
                line.points.push([record.number as f64, figure as f64]);
            }
        }
        let axes = ["version", "vertices and edges"].map(str::to_owned);
        Ok((rows, Chart { title: self.name(), axes, lines: lines.into(), is_logarithmic: false }))
    }
}

//! `esker generate`: graphs made from a seed.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use esker::graph::generate::{
    BarabasiAlbert, Generator, Grid, Model, RMat, Road, Uniform, WattsStrogatz, Weighting,
};
use esker::store::export::{ExportOptions, GeneratorExport, export_stream};
use esker::store::import::format::Format;
use esker::store::import::generated::GeneratorReader;

use crate::encoding::StoredEncoding;
use crate::failure::{Failure, Outcome};
use crate::importing::{PolicyArgs, import_reader};
use crate::interrupt::cancel_on_signals;
use crate::progress::Bar;
use crate::resources::ResourceArgs;
use crate::size::count;
use crate::text;

/// The families of graphs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Family {
    /// Graph500's Kronecker graph: --scale, --degree
    Kron,
    /// R-MAT with any probabilities: --scale, --degree, --a, --b, --c, --noise
    Rmat,
    /// Uniform random: --vertices, --edges (or --degree)
    Uniform,
    /// Preferential attachment, Barabási and Albert: --vertices, --degree
    Ba,
    /// Small world, Watts and Strogatz: --vertices, --degree (even), --rewire
    Ws,
    /// Grid: --rows, --columns
    Grid,
    /// Grid whose ends are joined: --rows, --columns
    Torus,
    /// Like roads, a grid with gaps, diagonals and lengths: --rows, --columns
    Road,
    /// --vertices in a row
    Path,
    /// One in the middle of --vertices
    Star,
    /// All edges between --vertices
    Complete,
}

/// The same seed gives the same graph for any number of threads. The output is a database if its name ends in .esker (or
/// has no known ending), else a file in the format of its ending.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  esker generate kron --scale 20 --degree 16 --seed 1 k20.esker
  esker generate road --rows 1000 --columns 1000 roads.gr")]
pub(crate) struct GenerateCommand {
    /// The family
    family: Family,
    /// The database or file to write
    output: PathBuf,
    /// Logarithm of the number of vertices
    #[arg(long, default_value_t = 16)]
    scale: u32,
    /// Edges that each vertex brings [default: 16; ws: 8]
    #[arg(long)]
    degree: Option<u64>,
    /// Number of vertices
    #[arg(long, default_value_t = 1000)]
    vertices: u64,
    /// Number of edges of a uniform graph [default: vertices times degree]
    #[arg(long)]
    edges: Option<u64>,
    /// Rows of a grid
    #[arg(long, default_value_t = 100)]
    rows: u64,
    /// Columns of a grid
    #[arg(long, default_value_t = 100)]
    columns: u64,
    /// R-MAT: probability of low sources and low targets
    #[arg(long, default_value_t = 0.57)]
    a: f64,
    /// R-MAT: of low sources and high targets
    #[arg(long, default_value_t = 0.19)]
    b: f64,
    /// R-MAT: of high sources and low targets
    #[arg(long, default_value_t = 0.19)]
    c: f64,
    /// R-MAT: change of the probabilities from level to level
    #[arg(long, default_value_t = 0.0)]
    noise: f64,
    /// R-MAT and Kronecker: leave vertices numbered as drawn, low numbers having high degrees
    #[arg(long)]
    no_permute: bool,
    /// Small world: chance that an edge is rewired
    #[arg(long, default_value_t = 0.1)]
    rewire: f64,
    /// Random integer weights from 1 to this; `unit` for numbers in [0, 1); `length` for those that roads have
    #[arg(long, value_name = "MAX")]
    weights: Option<String>,
    /// Seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Replace a database or file that stands there
    #[arg(long)]
    force: bool,
    /// How the graph is kept
    #[arg(long, value_enum, default_value_t)]
    encoding: StoredEncoding,
    #[command(flatten)]
    policy: PolicyArgs,
    #[command(flatten)]
    resources: ResourceArgs,
}

impl GenerateCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        let cancel = cancel_on_signals()?;
        let generator = Generator::new(&self.model(), self.weighting()?, self.seed)
            .map_err(|stop| Failure::Usage(stop.to_string()))?;
        let name = self.output.to_string_lossy();
        if Format::from_name(&name).is_none() && !name.ends_with(".txt") {
            let reader = Box::new(GeneratorReader::new(generator));
            let (report, _) = import_reader(
                reader,
                &self.output,
                &self.policy.kept_as(self.encoding),
                &self.resources,
                &cancel,
                self.force,
            )?;
            return text::line(&format!(
                "{name}: {} vertices, {} edges",
                count(report.vertices),
                count(report.edges)
            ));
        }
        let options = ExportOptions { overwrite: self.force, cancel, ..ExportOptions::default() };
        let bar = Bar::spinner(false);
        let report = export_stream(&mut GeneratorExport::new(&generator), &self.output, &options);
        bar.finish();
        let report = report?;
        text::line(&format!("{name}: {} vertices, {} edges", count(report.vertices), count(report.edges)))
    }

    fn model(&self) -> Model {
        let degree = self.degree.unwrap_or(if self.family == Family::Ws { 8 } else { 16 });
        let rmat = RMat {
            a: self.a,
            b: self.b,
            c: self.c,
            noise: self.noise,
            permute: !self.no_permute,
            directed: !self.policy.undirected,
            ..RMat::kronecker(self.scale, degree)
        };
        let (num_vertices, rows, columns) = (self.vertices, self.rows, self.columns);
        match self.family {
            Family::Kron => {
                let directed = self.policy.directed;
                Model::RMat(RMat {
                    permute: !self.no_permute,
                    directed,
                    ..RMat::kronecker(self.scale, degree)
                })
            }
            Family::Rmat => Model::RMat(rmat),
            Family::Uniform => Model::Uniform(Uniform {
                num_vertices,
                num_edges: self.edges.unwrap_or(num_vertices.saturating_mul(degree)),
                directed: self.policy.directed,
            }),
            Family::Ba => Model::BarabasiAlbert(BarabasiAlbert { num_vertices, degree }),
            Family::Ws => Model::WattsStrogatz(WattsStrogatz { num_vertices, degree, rewire: self.rewire }),
            Family::Grid => Model::Grid(Grid { rows, columns, torus: false }),
            Family::Torus => Model::Grid(Grid { rows, columns, torus: true }),
            Family::Road => Model::Road(Road::new(rows, columns)),
            Family::Path => Model::Path(num_vertices),
            Family::Star => Model::Star(num_vertices),
            Family::Complete => Model::Complete(num_vertices),
        }
    }

    fn weighting(&self) -> Result<Weighting, Failure> {
        match self.weights.as_deref() {
            None if self.family == Family::Road => Ok(Weighting::Length),
            None => Ok(Weighting::None),
            Some("unit") => Ok(Weighting::Unit),
            Some("length") => Ok(Weighting::Length),
            Some(max) => match max.parse() {
                Ok(max) => Ok(Weighting::Int { max }),
                Err(_) => Err(Failure::Usage(format!(
                    "--weights takes the largest weight, or unit, or length; not {max:?}"
                ))),
            },
        }
    }
}

//! `esker generate`: generates graphs from a seed.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use esker::export::{ExportOptions, export_generated};
use esker::graph::generate::{
    BarabasiAlbert, Generator, Grid, Model, RMat, Road, Uniform, WattsStrogatz, Weighting,
};
use esker::import::read::format::Format;
use esker::import::read::generated::GeneratorReader;
use esker::store::format::WriteOptions;

use crate::args::encoding::{OnlyArgs, StoredEncoding};
use crate::args::importing::{
    BadLinesArg, OrderArg, PolicyArgs, SelfLoopsArg, import_reader, refuse_standard_output,
};
use crate::args::resources::ResourceArgs;
use crate::args::size::counted;
use crate::args::write_options::WriteOptionArgs;
use crate::failure::{Failure, Outcome};
use crate::interrupt::cancel_on_signals;
use crate::show::progress::Bar;
use crate::show::text;

/// Families of graphs.
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
    /// Grid with opposite borders joined: --rows, --columns
    Torus,
    /// Road-like grid with gaps, diagonals and lengths: --rows, --columns
    Road,
    /// Path: --vertices
    Path,
    /// Star, one vertex joined to all others: --vertices
    Star,
    /// Complete graph: --vertices
    Complete,
}

/// Generate a graph from a seed, as a database or a file
///
/// The same seed gives the same graph for any number of threads. The output is a file if its extension names
/// a format (as for `esker export`), else a database.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  esker generate kron --scale 20 --degree 16 --seed 1 k20.esker
  esker generate road --rows 1000 --columns 1000 roads.gr")]
pub(crate) struct GenerateCommand {
    /// Family of graphs
    family: Family,
    /// The database or file to write
    output: PathBuf,
    /// Number of vertices, as a power of 2 [default: 16]
    #[arg(long)]
    scale: Option<u32>,
    /// Edges per vertex [default: 16; ws: 8]
    #[arg(long)]
    degree: Option<u64>,
    /// Number of vertices [default: 1000]
    #[arg(long)]
    vertices: Option<u64>,
    /// Number of edges of a uniform graph [default: vertices times degree]
    #[arg(long)]
    edges: Option<u64>,
    /// Rows of a grid [default: 100]
    #[arg(long)]
    rows: Option<u64>,
    /// Columns of a grid [default: 100]
    #[arg(long)]
    columns: Option<u64>,
    /// R-MAT: probability of the quadrant with low sources and low targets [default: 0.57]
    #[arg(long)]
    a: Option<f64>,
    /// R-MAT: probability of the quadrant with low sources and high targets [default: 0.19]
    #[arg(long)]
    b: Option<f64>,
    /// R-MAT: probability of the quadrant with high sources and low targets [default: 0.19]
    #[arg(long)]
    c: Option<f64>,
    /// R-MAT: random variation of the probabilities per level [default: 0]
    #[arg(long)]
    noise: Option<f64>,
    /// R-MAT and Kronecker: do not shuffle vertex numbers, so that low numbers have high degrees
    #[arg(long)]
    no_permute: bool,
    /// Small world: probability of rewiring an edge [default: 0.1]
    #[arg(long)]
    rewire: Option<f64>,
    /// Add weights: random integers from 1 to MAX, `unit` for numbers in [0, 1), or `length` for road lengths
    #[arg(long, value_name = "MAX")]
    weights: Option<String>,
    /// Seed of the random numbers
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Replace an existing database or file
    #[arg(long)]
    force: bool,
    /// How to store the graph
    #[arg(long, value_enum, default_value_t)]
    encoding: StoredEncoding,
    #[command(flatten)]
    only: OnlyArgs,
    #[command(flatten)]
    policy: PolicyArgs,
    #[command(flatten)]
    writes: WriteOptionArgs,
    #[command(flatten)]
    resources: ResourceArgs,
}

impl GenerateCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        self.refuse_ineffective()?;
        self.only.check(Some(self.encoding), false)?;
        let cancel = cancel_on_signals()?;
        let generator = Generator::new(&self.model(), self.weighting()?, self.seed)
            .map_err(|stop| Failure::Usage(stop.to_string()))?;
        let name = self.output.to_string_lossy();
        if Format::from_name(&name).is_none() && !name.ends_with(".txt") {
            refuse_standard_output(&name)?;
            let reader = Box::new(GeneratorReader::new(generator));
            let report = import_reader(
                reader,
                &self.output,
                &self.policy.with_encoding(self.encoding, self.only).written(&self.writes),
                None,
                &self.resources,
                &cancel,
                self.force,
            )?;
            return report_size(&name, report.vertices, report.edges);
        }
        self.refuse_options_of_databases(&name)?;
        let options = ExportOptions { overwrite: self.force, cancel, ..ExportOptions::default() };
        let bar = Bar::spinner(false);
        let report = export_generated(&generator, &self.output, &options);
        bar.finish();
        let report = report?;
        report_size(&name, report.vertices, report.edges)
    }

    /// Refuses options that a file cannot obey.
    fn refuse_options_of_databases(&self, file: &str) -> Outcome {
        let policy = &self.policy;
        let options = [
            ("--copy, --freeze-size or --merge has", self.writes.over(WriteOptions::default()).is_some()),
            ("--encoding has", self.encoding != StoredEncoding::default()),
            ("--duplicates has", policy.duplicates.is_some()),
            ("--self-loops has", policy.self_loops != SelfLoopsArg::default()),
            ("--order has", policy.order != OrderArg::default()),
            ("--no-in-edges has", policy.no_in_edges),
        ];
        match options.into_iter().find(|(_, given)| *given) {
            Some((option, _)) => Err(Failure::Usage(format!(
                "{option} no effect on {file}: it is an option of a database, and this is a file"
            ))),
            None => Ok(()),
        }
    }

    /// Refuses options that the family does not have.
    fn refuse_ineffective(&self) -> Outcome {
        if self.policy.bad_lines != BadLinesArg::default() {
            return Err(Failure::Usage("--bad-lines has no effect: nothing is read".to_owned()));
        }
        use Family::{Ba, Complete, Grid, Kron, Path, Rmat, Road, Star, Torus, Uniform, Ws};
        let options: [(&str, bool, &[Family]); 12] = [
            ("--scale", self.scale.is_some(), &[Kron, Rmat]),
            ("--degree", self.degree.is_some(), &[Kron, Rmat, Uniform, Ba, Ws]),
            ("--vertices", self.vertices.is_some(), &[Uniform, Ba, Ws, Path, Star, Complete]),
            ("--edges", self.edges.is_some(), &[Uniform]),
            ("--rows", self.rows.is_some(), &[Grid, Torus, Road]),
            ("--columns", self.columns.is_some(), &[Grid, Torus, Road]),
            ("--a", self.a.is_some(), &[Rmat]),
            ("--b", self.b.is_some(), &[Rmat]),
            ("--c", self.c.is_some(), &[Rmat]),
            ("--noise", self.noise.is_some(), &[Rmat]),
            ("--no-permute", self.no_permute, &[Kron, Rmat]),
            ("--rewire", self.rewire.is_some(), &[Ws]),
        ];
        let name = |family: &Family| {
            family.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
        };
        let is_lost =
            |(_, given, families): &&(&str, bool, &[Family])| *given && !families.contains(&self.family);
        if let Some((option, _, families)) = options.iter().find(is_lost) {
            let (own, others) =
                (name(&self.family), families.iter().map(name).collect::<Vec<_>>().join(", "));
            return Err(Failure::Usage(format!(
                "{option} has no effect on {own}: leave it out; it is an option of {others}"
            )));
        }
        if self.edges.is_some() && self.degree.is_some() {
            return Err(Failure::Usage(
                "--edges and --degree both give the number of edges: leave out one".to_owned(),
            ));
        }
        Ok(())
    }

    fn model(&self) -> Model {
        let degree = self.degree.unwrap_or(if self.family == Family::Ws { 8 } else { 16 });
        let kronecker = RMat::kronecker(self.scale.unwrap_or(16), degree);
        let rmat = RMat {
            a: self.a.unwrap_or(0.57),
            b: self.b.unwrap_or(0.19),
            c: self.c.unwrap_or(0.19),
            noise: self.noise.unwrap_or(0.0),
            permute: !self.no_permute,
            directed: !self.policy.undirected,
            ..kronecker
        };
        let num_vertices = self.vertices.unwrap_or(1000);
        let (rows, columns) = (self.rows.unwrap_or(100), self.columns.unwrap_or(100));
        match self.family {
            Family::Kron => {
                let directed = self.policy.directed;
                Model::RMat(RMat { permute: !self.no_permute, directed, ..kronecker })
            }
            Family::Rmat => Model::RMat(rmat),
            Family::Uniform => Model::Uniform(Uniform {
                num_vertices,
                num_edges: self.edges.unwrap_or(num_vertices.saturating_mul(degree)),
                directed: self.policy.directed,
            }),
            Family::Ba => Model::BarabasiAlbert(BarabasiAlbert { num_vertices, degree }),
            Family::Ws => Model::WattsStrogatz(WattsStrogatz {
                num_vertices,
                degree,
                rewire: self.rewire.unwrap_or(0.1),
            }),
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
                    "--weights takes the largest weight, unit or length, not {max:?}"
                ))),
            },
        }
    }
}

fn report_size(name: &str, vertices: u64, edges: u64) -> Outcome {
    let vertices = counted(vertices, "vertex", "vertices");
    text::line(&format!("{name}: {vertices}, {}", counted(edges, "edge", "edges")))
}

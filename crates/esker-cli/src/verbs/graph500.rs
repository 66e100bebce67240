//! `esker graph500`: runs the Graph500 benchmark by its official rules.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use esker::graph500::{Benchmark, Graph500Options, Harmonic, Search, Statistics, validation_bytes};
use esker::import::options::ImportOptions;
use esker::plan::{Plan, Request};
use esker::store::format::Encoding;
use esker::store::io::TemporaryDirectory;
use esker::store::{GraphEncoding, Residency};
use serde_json::{Map, Value, json};

use crate::args::encoding::StoredEncoding;
use crate::args::residency::{ResidencyArgs, default_name, summary};
use crate::args::resources::{ResourceArgs, bytes_read, peak_memory_bytes};
use crate::failure::{Failure, Outcome};
use crate::interrupt::cancel_on_signals;
use crate::show::energy::Energy;
use crate::show::progress::Bar;
use crate::show::text;

/// The kernels to measure after construction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kernels {
    /// Breadth-first search only
    Bfs,
    /// Shortest paths only
    Sssp,
    /// Both
    Both,
}

/// Run the Graph500 benchmark
///
/// Generates the Kronecker graph, constructs it (kernel 1), searches from random roots (kernel 2) and finds
/// shortest paths from the same roots (kernel 3), validates every tree against the generated edges, and
/// prints the official statistics. The command fails if a tree is invalid. With a residency other than
/// mapped, half of the memory limit is reserved for validation, and half for the graph and the searches.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  esker graph500 --scale 22
  esker graph500 --scale 26 --memory 8GiB --database big.esker --kernels bfs
  esker graph500 --scale 24 --memory 4GiB --residency headed --kernels bfs")]
pub(crate) struct Graph500Command {
    /// Number of vertices, as a power of 2
    #[arg(long, default_value_t = 20)]
    scale: u32,
    /// Edges per vertex
    #[arg(long, default_value_t = 16)]
    edgefactor: u64,
    /// Number of roots to search from
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..))]
    roots: u16,
    /// Searches to measure [default: both; with --processes, bfs]
    #[arg(long, value_enum)]
    kernels: Option<Kernels>,
    /// Seed of the graph and the roots
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How to store the graph
    #[arg(long, value_enum, default_value_t)]
    encoding: StoredEncoding,
    #[command(flatten)]
    residency: ResidencyArgs,
    /// Keep the database, or the cluster, under this name [default: a temporary one]
    #[arg(long, value_name = "PATH")]
    database: Option<PathBuf>,
    /// Number of processes, each with a shard of a cluster; breadth-first search only
    ///
    /// The processors are divided among the processes. --memory is of all processes together. It counts the
    /// trees that are validated, in half of it, and during construction the edges that are in no layer yet,
    /// at least 160 MiB a process. It does not count the graph, the arrays of a search, and the process
    /// itself.
    #[cfg(feature = "cluster")]
    #[arg(long, value_name = "N", conflicts_with_all = ["encoding", "residency", "head", "threads"])]
    processes: Option<std::num::NonZeroUsize>,
    /// Report as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    resources: ResourceArgs,
}

/// The searches of one kernel.
struct KernelResult {
    name: &'static str,
    searches: Vec<Search>,
    /// Joules used by the processors for the kernel and its validation, if the machine counts them.
    joules: Option<f64>,
    bytes_read: Option<u64>,
}

/// The measurements of kernel 1, and of all together.
struct Construction {
    generation_seconds: f64,
    seconds: f64,
    processes: usize,
    /// Of the process that took most.
    peak_memory_bytes: Option<u64>,
}

impl Graph500Command {
    pub(crate) fn carry_out(&self) -> Outcome {
        let cancel = cancel_on_signals()?;
        let run = self.resources.run(&cancel, self.seed, false, None)?;
        let temporary;
        let path: &Path = match &self.database {
            Some(path) => path,
            None => {
                temporary = TemporaryDirectory::new()?;
                &temporary.path().join("graph500.esker")
            }
        };
        let options = self.options();
        #[cfg(feature = "cluster")]
        if let Some(processes) = self.processes {
            return self.measure_cluster(&options, path, processes.get(), &cancel);
        }
        let kernels = self.kernels.unwrap_or(Kernels::Both);
        let request = self.request()?;
        let import = ImportOptions {
            threads: self.resources.threads(),
            memory_bytes: self.resources.limit().bytes(),
            encoding: self.encoding.of_lists().unwrap_or(Encoding::Plain),
            cancel,
            ..ImportOptions::default()
        };
        let bar = Bar::percent(false);
        bar.set("constructing", 0.0, String::new());
        let tell = |stage: &'static str, done: usize, all: usize| {
            bar.set(stage, done as f64 / all.max(1) as f64, format!("{done} of {all} roots"));
        };
        let measure = || -> Result<(Benchmark, Option<Plan>, Vec<KernelResult>), Failure> {
            let mut benchmark = Benchmark::construct(options, path, import, &run)?;
            let limit = self.resources.limit().bytes();
            let (plan, memory) = match &request {
                Some(request) => {
                    let resources = self.resources.of_run(false);
                    let plan = benchmark.plan(request, &resources, kernels != Kernels::Bfs)?;
                    (Some(plan), validation_bytes(limit))
                }
                None => (None, limit),
            };
            let roots = benchmark.roots(&run)?;
            if roots.is_empty() {
                return Err(Failure::Failed("the graph has only self-loops; raise --scale".to_owned()));
            }
            let mut measured = Vec::new();
            if kernels != Kernels::Sssp {
                let search = || benchmark.searches(&run, &roots, memory, &tell);
                measured.push(KernelResult::measure("bfs", search)?);
            }
            if kernels != Kernels::Bfs {
                let search = || benchmark.shortest_paths(&run, &roots, memory, &tell);
                measured.push(KernelResult::measure("sssp", search)?);
            }
            Ok((benchmark, plan, measured))
        };
        let found = measure();
        bar.finish();
        let (benchmark, plan, measured) = found?;
        let reads = plan.map_or_else(|| Ok(default_name()), |plan| summary(&plan, benchmark.view()))?;
        let construction = Construction {
            generation_seconds: benchmark.generation_seconds,
            seconds: benchmark.construction_seconds,
            processes: 1,
            peak_memory_bytes: peak_memory_bytes(),
        };
        self.report(&construction, &reads, &measured)
    }

    fn options(&self) -> Graph500Options {
        Graph500Options {
            scale: self.scale,
            edge_factor: self.edgefactor,
            roots: usize::from(self.roots),
            seed: self.seed,
            tiles: self.encoding == StoredEncoding::Tiles,
        }
    }

    /// The requested encoding and residency; `None`: mapped lists.
    fn request(&self) -> Result<Option<Request>, Failure> {
        let tiles = self.encoding == StoredEncoding::Tiles;
        let encoding = if tiles { GraphEncoding::Tiles } else { GraphEncoding::Lists };
        let request = self.residency.request(Some(encoding));
        let is_mapped = request.head_len.is_none()
            && request.residency.is_none_or(|residency| residency == Residency::Mapped && !tiles);
        if is_mapped {
            let mapped = Request { residency: Some(Residency::Mapped), ..request };
            return Ok(tiles.then_some(mapped));
        }
        request.check()?;
        Ok(Some(request))
    }

    /// Runs the benchmark on a cluster.
    #[cfg(feature = "cluster")]
    fn measure_cluster(
        &self,
        options: &Graph500Options,
        path: &Path,
        processes: usize,
        cancel: &esker::graph::Cancel,
    ) -> Outcome {
        if self.kernels.is_some_and(|kernels| kernels != Kernels::Bfs) {
            return Err(Failure::Usage(
                "--processes measures breadth-first search only: give --kernels bfs, or leave out --processes"
                    .to_owned(),
            ));
        }
        let bar = Bar::percent(false);
        let edges = (self.edgefactor << self.scale.min(58)).max(1);
        let tell = |stage: &'static str, done: u64| bar.set(stage, done as f64 / edges as f64, String::new());
        let limits = crate::cluster::graph500::ClusterLimits {
            construction_bytes: self.resources.memory,
            search_bytes: self.resources.limit().bytes(),
        };
        let found = crate::cluster::graph500::measure(options, path, processes, &limits, cancel, &tell);
        bar.finish();
        let found = found?;
        if found.searches.is_empty() {
            return Err(Failure::Failed("the graph has only self-loops; raise --scale".to_owned()));
        }
        let construction = Construction {
            generation_seconds: found.generation_seconds,
            seconds: found.construction_seconds,
            processes,
            peak_memory_bytes: Some(found.peak_memory_bytes),
        };
        let bfs = KernelResult { name: "bfs", searches: found.searches, joules: None, bytes_read: None };
        self.report(&construction, "mapped", &[bfs])
    }

    fn report(&self, construction: &Construction, reads: &str, measured: &[KernelResult]) -> Outcome {
        let mut rows: Vec<(String, Value)> = vec![
            ("SCALE".to_owned(), json!(self.scale)),
            ("edgefactor".to_owned(), json!(self.edgefactor)),
            ("NBFS".to_owned(), json!(measured.first().map_or(0, |kernel| kernel.searches.len()))),
            ("graph_generation".to_owned(), json!(construction.generation_seconds)),
            ("num_mpi_processes".to_owned(), json!(construction.processes)),
            ("encoding".to_owned(), json!(self.encoding.name())),
            ("residency".to_owned(), json!(reads)),
            ("construction_time".to_owned(), json!(construction.seconds)),
        ];
        for kernel in measured {
            kernel.rows(&mut rows);
        }
        rows.push(("peak_memory_bytes".to_owned(), json!(construction.peak_memory_bytes)));
        rows.retain(|(_, value)| !value.is_null());
        if self.json {
            let mut report: Map<String, Value> =
                rows.into_iter().map(|(name, value)| (name.replace(' ', "_"), value)).collect();
            let searches = measured.iter().map(|kernel| (kernel.name.to_owned(), kernel.searches_json()));
            report.insert("searches".to_owned(), Value::Object(searches.collect()));
            return text::json(&Value::Object(report));
        }
        let shown: Vec<(String, String)> = rows
            .into_iter()
            .map(|(name, value)| {
                let value = match &value {
                    Value::String(text) => text.clone(),
                    Value::Number(figure) if figure.is_f64() => number(figure.as_f64().unwrap_or_default()),
                    other => other.to_string(),
                };
                (format!("{name}:"), value)
            })
            .collect();
        text::facts(&shown)
    }
}

impl KernelResult {
    /// Runs the searches of a kernel and measures the energy and the bytes read.
    fn measure(
        name: &'static str,
        search: impl FnOnce() -> Result<Vec<Search>, esker::Error>,
    ) -> Result<Self, Failure> {
        let (energy, read) = (Energy::now(), bytes_read());
        let searches = search()?;
        let joules = energy.and_then(|energy| energy.joules_since());
        let bytes_read = bytes_read().zip(read).map(|(after, before)| after - before);
        Ok(Self { name, searches, joules, bytes_read })
    }

    /// Appends the official statistics of this kernel.
    fn rows(&self, rows: &mut Vec<(String, Value)>) {
        let seconds: Vec<f64> = self.searches.iter().map(|search| search.seconds).collect();
        let edges: Vec<f64> = self.searches.iter().map(|search| search.edges as f64).collect();
        let rates: Vec<f64> =
            self.searches.iter().map(|search| search.edges as f64 / search.seconds).collect();
        let validate: Vec<f64> = self.searches.iter().map(|search| search.validate_seconds).collect();
        let samples = [("time", &seconds), ("nedge", &edges), ("TEPS", &rates), ("validate", &validate)];
        for (what, sample) in samples {
            let found = Statistics::of(sample);
            let mut push = |figure: &str, value: f64| {
                rows.push((format!("{}  {figure}_{what}", self.name), json!(value)));
            };
            push("min", found.min);
            push("firstquartile", found.first_quartile);
            push("median", found.median);
            push("thirdquartile", found.third_quartile);
            push("max", found.max);
            if what == "TEPS" {
                let harmonic = Harmonic::of(sample);
                push("harmonic_mean", harmonic.mean);
                push("harmonic_stddev", harmonic.deviation);
            } else {
                push("mean", found.mean);
                push("stddev", found.deviation);
            }
        }
        if let Some(joules) = self.joules {
            let total: f64 = seconds.iter().chain(&validate).sum();
            let watts = joules / total;
            rows.push((format!("{}  watts", self.name), json!(watts)));
            rows.push((format!("{}  TEPS_per_watt", self.name), json!(Harmonic::of(&rates).mean / watts)));
        }
        rows.push((format!("{}  bytes_read", self.name), json!(self.bytes_read)));
    }

    fn searches_json(&self) -> Value {
        let one = |search: &Search| {
            json!({
                "root": search.root,
                "seconds": search.seconds,
                "edges": search.edges,
                "validate_seconds": search.validate_seconds,
            })
        };
        self.searches.iter().map(one).collect()
    }
}

/// Formats a number as the reference code does, with few digits.
fn number(value: f64) -> String {
    if value == 0.0 || (0.001..1e6).contains(&value.abs()) {
        format!("{value:.6}")
    } else {
        format!("{value:.5e}")
    }
}

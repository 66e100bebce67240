//! Times every algorithm on a graph in memory, and checks memory estimates with a counting allocator.
//!
//! `cargo bench -p esker-algo --bench catalogue -- [--graph FILE | --scale S [--degree D]] [--order
//! keep|degree] [--only NAME,...] [--source V] [--threads N] [--trials N] [--seed N] [--deterministic yes]`
//! prints for each benchmark the median seconds (for PageRank, per iteration), the peak heap, the estimate,
//! and a summary of the result. `--memory yes` instead runs every benchmark on graphs of average degree 8, 32
//! and 128 with the same number of vertices. It fails if any takes more than its estimate, or has an estimate
//! that grows with the degree but should not. Without arguments, each benchmark runs once on a small graph.
#![allow(clippy::print_stdout)]

mod heap;
mod graphs;
mod benchmarks;

use std::time::Instant;

use esker_algo::Shape;
use esker_graph::{Graph, Run, RunOptions, VertexId, vertex};

use benchmarks::{Benchmark, Memory, OTHERS, PAGERANK_ROUNDS, SAGE, Summary, Work};
use graphs::{Arrays, Family};

/// The command-line options.
struct Options {
    graph: Option<String>,
    scale: u32,
    degree: u64,
    by_degree: bool,
    only: Option<Vec<String>>,
    source: Option<VertexId>,
    trials: usize,
    memory: bool,
    run: RunOptions,
}

impl Options {
    fn parse(args: &[String]) -> Self {
        let mut options = Self {
            graph: None,
            scale: 10,
            degree: 32,
            by_degree: false,
            only: None,
            source: None,
            trials: if args.is_empty() { 1 } else { 5 },
            memory: false,
            run: RunOptions { threads: 2, seed: 1, ..RunOptions::default() },
        };
        for pair in args.chunks(2) {
            let value = pair.get(1).map_or("", String::as_str);
            let number = || value.parse::<usize>().unwrap_or_else(|_| panic!("{} takes a number", pair[0]));
            match pair[0].as_str() {
                "--graph" => options.graph = Some(value.to_owned()),
                "--scale" => options.scale = number() as u32,
                "--degree" => options.degree = number() as u64,
                "--order" => options.by_degree = value == "degree",
                "--only" => options.only = Some(value.split(',').map(str::to_owned).collect()),
                "--source" => options.source = Some(vertex(number())),
                "--threads" => options.run.threads = number(),
                "--trials" => options.trials = number(),
                "--seed" => options.run.seed = number() as u64,
                "--deterministic" => options.run.deterministic = value == "yes",
                "--memory" => options.memory = value == "yes",
                other => panic!("unknown option {other}"),
            }
        }
        options
    }

    fn benchmarks(&self) -> impl Iterator<Item = &'static Benchmark> {
        let wanted = |name: &str| self.only.as_ref().is_none_or(|only| only.iter().any(|one| one == name));
        SAGE.iter().chain(&OTHERS).filter(move |benchmark| wanted(benchmark.name))
    }

    fn arrays(&self) -> Arrays {
        let read = match &self.graph {
            Some(path) => Arrays::read(path),
            None => Arrays::generate(self.scale, self.degree, Family::Kronecker),
        };
        if self.by_degree { read.by_degree() } else { read }
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--bench")).collect();
    let options = Options::parse(&args);
    let run = Run::new(options.run.clone()).expect("threads start");
    if options.memory {
        std::process::exit(i32::from(!check_memory_model(&options, &run)));
    }
    let mut arrays = options.arrays();
    if options.benchmarks().any(|benchmark| matches!(benchmark.work, Work::Weighted(_))) {
        arrays.need_weights();
    }
    let source = options.source.unwrap_or_else(|| arrays.hub());
    println!("{} vertices, {} arcs", arrays.plain().num_vertices(), arrays.plain().num_arcs());
    for benchmark in options.benchmarks() {
        time(benchmark, &arrays, &run, source, options.trials);
    }
}

fn call(benchmark: &Benchmark, arrays: &Arrays, run: &Run, source: VertexId) -> Summary {
    match benchmark.work {
        Work::Plain(work) => work(&arrays.plain(), run, source),
        Work::Weighted(work) => work(&arrays.weighted(), run, source),
    }
}

/// The memory estimate, in bytes.
fn estimate(benchmark: &Benchmark, arrays: &Arrays, run: &Run) -> u64 {
    let shape = match benchmark.work {
        Work::Plain(_) => Shape::of(&arrays.plain()),
        Work::Weighted(_) => Shape::of(&arrays.weighted()),
    };
    (benchmark.estimate)(shape, run).memory_bytes
}

fn time(benchmark: &Benchmark, arrays: &Arrays, run: &Run, source: VertexId, trials: usize) {
    let (mut seconds, mut most, mut found) = (Vec::new(), 0, Summary::new());
    for _ in 0..trials.max(1) {
        let start = Instant::now();
        let (answer, peak) = heap::peak_of(|| call(benchmark, arrays, run, source));
        let rounds = if benchmark.name == "pagerank" { PAGERANK_ROUNDS } else { 1 };
        seconds.push(start.elapsed().as_secs_f64() / rounds as f64);
        (most, found) = (most.max(peak), answer);
    }
    seconds.sort_by(f64::total_cmp);
    let per_vertex = |bytes: f64| bytes / arrays.plain().num_vertices() as f64;
    let answer: Vec<String> = found.iter().map(|(name, value)| format!("{name}={value}")).collect();
    println!(
        "{:<24} median_s={:.5} least_s={:.5} most_s={:.5} heap_bytes_per_vertex={:.1} estimated={:.1} {}",
        benchmark.name,
        seconds[seconds.len() / 2],
        seconds[0],
        seconds[seconds.len() - 1],
        per_vertex(most as f64),
        per_vertex(estimate(benchmark, arrays, run) as f64),
        answer.join(" ")
    );
}

/// Average degrees over which the estimates must not grow.
const DEGREES: [u64; 3] = [8, 32, 128];
/// Growth in words per vertex that is allowed: the longest list of a worker has sqrt(2m) entries.
const SLACK_WORDS: f64 = 0.25;
/// Bytes that are not counted: queues of the threads, and the initial state of a worker.
const CONSTANT_BYTES: usize = 64 << 10;

/// Prints heap words per vertex for each benchmark and degree. Returns whether all respect the model and
/// their estimates.
///
/// A benchmark respects the model if no run takes more than its estimate, and the estimate is the same for
/// all degrees, apart from one word per 32 arcs with a filter.
fn check_memory_model(options: &Options, run: &Run) -> bool {
    println!(
        "peak words of 8 bytes per vertex (and estimates) for degrees {DEGREES:?}, n = 2^{}",
        options.scale
    );
    let mut sound = true;
    for family in [Family::Kronecker, Family::Uniform, Family::Ring] {
        println!("{family:?}");
        let graphs = DEGREES.map(|degree| {
            let mut arrays = Arrays::generate(options.scale, degree, family);
            arrays.need_weights();
            arrays
        });
        for benchmark in options.benchmarks() {
            let rows = graphs.each_ref().map(|arrays| Row::measure(benchmark, arrays, run));
            let cells: Vec<String> =
                rows.iter().map(|row| format!("{:7.2} ({:7.2})", row.peak, row.estimated)).collect();
            let fits = rows.iter().all(Row::fits);
            let constant = rows
                .iter()
                .all(|row| row.estimated - rows[0].estimated <= row.filter - rows[0].filter + SLACK_WORDS);
            let verdict = match (benchmark.memory, fits, constant) {
                (_, false, _) => "MORE THAN ITS ESTIMATE",
                (Memory::Edges, ..) => "by edges, outside the model",
                (_, _, false) => "GROWS WITH THE DEGREE",
                (Memory::Vertices, ..) => "constant",
                (Memory::Filter, ..) => "constant and a filter",
            };
            println!("  {:<24} {}  {verdict}", benchmark.name, cells.join("  "));
            sound &= fits && (constant || benchmark.memory == Memory::Edges);
        }
    }
    sound
}

/// Words per vertex of one benchmark on one graph.
struct Row {
    peak: f64,
    estimated: f64,
    /// One word per 32 arcs if the benchmark uses a filter, else 0.
    filter: f64,
    constant: f64,
}

impl Row {
    fn measure(benchmark: &Benchmark, arrays: &Arrays, run: &Run) -> Self {
        let (_, peak) = heap::peak_of(|| call(benchmark, arrays, run, arrays.hub()));
        let n = arrays.plain().num_vertices() as f64;
        let filter = if benchmark.memory == Memory::Filter {
            arrays.plain().num_arcs() as f64 / 32.0 / n
        } else {
            0.0
        };
        Self {
            peak: peak as f64 / 8.0 / n,
            estimated: estimate(benchmark, arrays, run) as f64 / 8.0 / n,
            filter,
            constant: CONSTANT_BYTES as f64 / 8.0 / n,
        }
    }

    fn fits(&self) -> bool {
        self.peak <= self.estimated + self.constant
    }
}

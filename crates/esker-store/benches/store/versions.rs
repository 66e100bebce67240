//! The cost of versions: a graph in layers against the same graph in one layer, commits, freezing and
//! merging.
//!
//! `cargo bench -p esker-store --bench store -- versions [--scale S] [--layers K,K,...] [--directed]
//! [--trials T] [--threads N] [--dir D]`
//!
//! For each K: a random 80 % of the edges are imported, the others spread evenly over K commits, each frozen
//! to a layer of its own (LLAMA, thesis, 4.9.1). BFS and PageRank of the newest version are timed in turn
//! with those of the graph in one layer, before and after merging all layers; then those of the first and of
//! a middle version. Without arguments: once, small.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use esker_algo::algorithm::{centrality::pagerank, paths::bfs};
use esker_graph::generate::{Generator, Model, RMat, Weighting};
use esker_graph::random::Random;
use esker_graph::{Direction, Graph, Run, VertexId, vertex};
use esker_import::install::import;
use esker_import::open::open_inputs;
use esker_import::options::{ImportOptions, NumberingOrder};
use esker_import::read::format::ReadOptions;
use esker_import::read::input::Input;
use esker_store::io::{Disk, RealDisk};
use esker_store::manifest::StagingOptions;
use esker_store::{Database, DatabaseOptions, Store, Version};

const ITERATIONS: usize = 5;

struct Options {
    scale: u32,
    layers: Vec<usize>,
    directed: bool,
    trials: usize,
    threads: usize,
    directory: Option<String>,
}

impl Options {
    fn parse() -> Self {
        let mut options =
            Self { scale: 10, layers: vec![3], directed: false, trials: 1, threads: 2, directory: None };
        let mut args = crate::arguments();
        while let Some(arg) = args.next() {
            let mut value = || args.next().unwrap_or_default();
            match arg.as_str() {
                "--scale" => options.scale = value().parse().expect("a number"),
                "--layers" => {
                    options.layers = value().split(',').map(|k| k.parse().expect("a number")).collect();
                }
                "--directed" => options.directed = true,
                "--trials" => options.trials = value().parse().expect("a number"),
                "--threads" => options.threads = value().parse().expect("a number"),
                "--dir" => options.directory = Some(value()),
                other => panic!("unknown option {other}"),
            }
        }
        options
    }
}

type Edge = (VertexId, VertexId, ());

pub(crate) fn main() {
    let options = Options::parse();
    let model = RMat { directed: options.directed, ..RMat::kronecker(options.scale, 16) };
    let mut edges = Generator::new(&Model::RMat(model), Weighting::None, 1).expect("a model").edges();
    if !options.directed {
        edges.iter_mut().for_each(|edge| *edge = (edge.0.min(edge.1), edge.0.max(edge.1), ()));
    }
    edges.retain(|edge| edge.0 != edge.1);
    edges.sort_unstable();
    edges.dedup();
    Random::new(1).shuffle(&mut edges);
    let temporary = tempfile::tempdir().expect("a directory");
    let root = options.directory.as_ref().map_or(temporary.path(), |path| Path::new(path));
    let run = Run::with_threads(options.threads).expect("threads");
    let whole_path = root.join("whole.esker");
    let seconds = load(&edges, options.directed, &whole_path);
    let whole = Store::open(&whole_path).expect("a database").latest().expect("a version");
    println!(
        "scale {}, {} edges{}: whole graph {seconds:.2} s, {} bytes",
        options.scale,
        edges.len(),
        if options.directed { ", directed" } else { "" },
        bytes_of(&whole_path.join("layers"))
    );
    for &count in &options.layers {
        measure(&options, &edges, count, root, &whole, &run);
    }
}

fn measure(options: &Options, edges: &[Edge], count: usize, root: &Path, whole: &Version, run: &Run) {
    let path = root.join(format!("layers-{count}.esker"));
    let base = edges.len() * 4 / 5;
    let base_seconds = load(&edges[..base], options.directed, &path);
    let settings = DatabaseOptions {
        auto_merge: Some(false),
        freeze_bytes: Some(u64::MAX),
        threads: options.threads,
        ..Default::default()
    };
    let db = Database::open(&path, settings).expect("a database");
    let (mut commit_seconds, mut freeze_seconds) = (0.0, 0.0);
    for part in edges[base..].chunks((edges.len() - base).div_ceil(count.max(1)).max(1)).take(count) {
        let begin = Instant::now();
        let mut batch = db.batch();
        for &(u, v, ()) in part {
            batch.add_edge(u64::from(u), u64::from(v), &[]).expect("an edge");
        }
        db.commit(batch, "more edges").expect("a commit");
        commit_seconds += begin.elapsed().as_secs_f64();
        let begin = Instant::now();
        db.freeze(run).expect("a layer");
        freeze_seconds += begin.elapsed().as_secs_f64();
    }
    let whole_bytes = bytes_of(&whole.path().join("layers"));
    let newest = db.latest().expect("a version");
    println!(
        "{} layers: import {base_seconds:.2} s, commits {commit_seconds:.2} s, freezing {freeze_seconds:.2} s, size {:.3}",
        db.manifest().layers.len(),
        bytes_of(&path.join("layers")) as f64 / whole_bytes as f64
    );
    let begin = Instant::now();
    let _ = newest.view().graph::<()>(run).expect("a graph");
    println!("  vertex table {:.3} s", begin.elapsed().as_secs_f64());
    compare("  newest", &newest, whole, options, run);
    let middle = db.at(1 + count as u64 / 2).expect("a version");
    compare("  middle", &middle, whole, options, run);
    drop((newest, middle));
    let begin = Instant::now();
    let report = db.compact(run).expect("one layer");
    let seconds = begin.elapsed().as_secs_f64();
    println!(
        "  merged in {seconds:.2} s ({:.1} M arcs/s), size {:.3}",
        whole.num_arcs() as f64 * if whole.is_directed() { 2e-6 } else { 1e-6 } / seconds,
        report.bytes as f64 / whole_bytes as f64
    );
    compare("  newest merged", &db.latest().expect("a version"), whole, options, run);
    compare("  first merged", &db.at(1).expect("a version"), whole, options, run);
    compare("  middle merged", &db.at(1 + count as u64 / 2).expect("a version"), whole, options, run);
    db.close().expect("closing succeeds");
    std::fs::remove_dir_all(&path).expect("removing succeeds");
}

/// Times both algorithms on a version and on the whole graph, alternating; prints the ratios of the medians,
/// in total and per arc.
fn compare(name: &str, version: &Version, whole: &Version, options: &Options, run: &Run) {
    let views = [version.view(), whole.view()];
    let graphs = [0, 1].map(|which| views[which].graph::<()>(run).expect("a graph"));
    let source = |version: &Version| {
        let n = version.num_vertices();
        let degree = |v: &VertexId| version.degree(Direction::Out, *v).expect("a degree");
        (0..n).map(vertex).max_by_key(degree).expect("a vertex")
    };
    let sources = [source(version), source(whole)];
    let mut times: [[Vec<f64>; 2]; 2] = Default::default();
    for _ in 0..options.trials {
        for which in 0..2 {
            let begin = Instant::now();
            bfs::bfs(&graphs[which], run, &sources[which..=which], &Default::default()).expect("a tree");
            times[0][which].push(begin.elapsed().as_secs_f64());
            let ranking = pagerank::PageRankOptions {
                tolerance: 0.0,
                rounds_max: ITERATIONS,
                ..pagerank::PageRankOptions::default()
            };
            let begin = Instant::now();
            pagerank::pagerank(&graphs[which], run, &ranking).expect("ranks");
            times[1][which].push(begin.elapsed().as_secs_f64() / ITERATIONS as f64);
        }
    }
    let [bfs, ranks] = times.map(|times| times.map(|mut times| median(&mut times)));
    let arcs = graphs[0].num_arcs() as f64 / graphs[1].num_arcs() as f64;
    println!(
        "{name}: BFS {:.4} s, {:.2} of whole ({:.2} an arc); PageRank {:.4} s an iteration, {:.2} ({:.2} an arc)",
        bfs[0],
        bfs[0] / bfs[1],
        bfs[0] / bfs[1] / arcs,
        ranks[0],
        ranks[0] / ranks[1],
        ranks[0] / ranks[1] / arcs
    );
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Imports edges to a new database; returns the seconds.
fn load(edges: &[Edge], directed: bool, path: &Path) -> f64 {
    let mut text = Vec::with_capacity(edges.len() * 16);
    for (u, v, ()) in edges {
        writeln!(text, "{u} {v}").expect("memory");
    }
    let begin = Instant::now();
    let read = ReadOptions::default();
    let reader = open_inputs(&[Input::memory("edges.el", text)], &read).expect("edges").reader;
    let options =
        ImportOptions { directed: Some(directed), order: NumberingOrder::Keep, ..ImportOptions::default() };
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    import(&disk, reader, path, &options, StagingOptions::default()).expect("a database");
    begin.elapsed().as_secs_f64()
}

fn bytes_of(directory: &Path) -> u64 {
    std::fs::read_dir(directory)
        .expect("a directory")
        .map(|entry| entry.expect("an entry"))
        .map(|entry| match entry.metadata().expect("a file") {
            data if data.is_dir() => bytes_of(&entry.path()),
            data => data.len(),
        })
        .sum()
}

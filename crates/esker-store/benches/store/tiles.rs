//! Algorithms over tiles against the same algorithms over plain lists in memory, and the speed of conversion
//! to tiles.
//!
//! `cargo bench -p esker-store --bench store -- tiles [--scale S] [--degree D] [--directed] [--threads
//!  N,N,...] [--trials T] [--group Q] [--pool-mib M [--policy rewind|lru|segments] [--segment-mib S]] [--only
//!  plain|tiles] [--algorithms pagerank,wcc,bfs] [--dir D]`
//!
//! A Kronecker graph numbered by descending degree, without loops, repeated edges and isolated vertices. Both
//! sides are timed in turn; the ratio is that of the shortest times. `--only` runs one side alone, for `perf
//! stat`. Without arguments: once, small.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use esker_algo::algorithm::{centrality::pagerank, components::wcc, paths::bfs};
use esker_graph::generate::{EdgeBlock, Generator, Model, RMat, Weighting};
use esker_graph::{CsrGraph, Direction, Graph, Rows, Run, Select, VertexId, Visitor, collect, vertex};
use esker_store::FormFiles;
use esker_store::format::{DatabaseId, Origin};
use esker_store::io::{Disk, RealDisk};
use esker_store::pool::{CachePolicy, PoolOptions};
use esker_store::tiles::{ConvertOptions, TileScan, TileShape, Tiles, write_tiles};
use esker_store::{Error, Result};

const ORIGIN: Origin = Origin::of_import(DatabaseId([7; 16]));
/// Number of PageRank iterations.
const ROUNDS: usize = 10;
/// Number of searches, from different vertices.
const SEARCHES: usize = 8;

struct Options {
    scale: u32,
    degree: u64,
    directed: bool,
    threads: Vec<usize>,
    trials: usize,
    group: u32,
    pool_mib: Option<u64>,
    policy: CachePolicy,
    segment_mib: u64,
    only: Option<String>,
    algorithms: Vec<String>,
    directory: Option<String>,
}

impl Options {
    fn parse() -> Self {
        let algorithms = ["pagerank", "wcc", "bfs"].map(str::to_owned).to_vec();
        let mut options = Self {
            scale: 12,
            degree: 16,
            directed: false,
            threads: vec![1, 2],
            trials: 1,
            group: ConvertOptions::default().group,
            pool_mib: None,
            policy: CachePolicy::default(),
            segment_mib: PoolOptions::default().segment_bytes >> 20,
            only: None,
            algorithms,
            directory: None,
        };
        let mut args = crate::arguments();
        while let Some(arg) = args.next() {
            let mut value = || args.next().unwrap_or_default();
            let number = |text: String| text.parse::<u64>().expect("a number");
            match arg.as_str() {
                "--scale" => options.scale = number(value()) as u32,
                "--degree" => options.degree = number(value()),
                "--directed" => options.directed = true,
                "--threads" => {
                    options.threads = value().split(',').map(|k| number(k.to_owned()) as usize).collect();
                }
                "--trials" => options.trials = number(value()) as usize,
                "--group" => options.group = number(value()) as u32,
                "--pool-mib" => options.pool_mib = Some(number(value())),
                "--segment-mib" => options.segment_mib = number(value()),
                "--policy" => {
                    options.policy = match value().as_str() {
                        "rewind" => CachePolicy::Rewind,
                        "lru" => CachePolicy::Lru,
                        "segments" => CachePolicy::Segments,
                        other => panic!("unknown policy {other}"),
                    }
                }
                "--only" => options.only = Some(value()),
                "--algorithms" => options.algorithms = value().split(',').map(str::to_owned).collect(),
                "--dir" => options.directory = Some(value()),
                other => panic!("unknown option {other}"),
            }
        }
        options
    }

    fn has(&self, side: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only == side)
    }
}

/// Lists of one direction: offsets and targets.
type Arrays = (Vec<u64>, Vec<VertexId>);

pub(crate) fn main() {
    let options = Options::parse();
    let (out, incoming) = generate(&options);
    let rows = |arrays| {
        let (offsets, targets): &Arrays = arrays;
        let units = vec![(); targets.len()].leak();
        Rows::new(offsets, targets, units).expect("arrays that fit")
    };
    let lists = match &incoming {
        Some(incoming) => CsrGraph::directed(rows(&out), Some(rows(incoming))),
        None => CsrGraph::undirected(rows(&out)),
    };
    println!("{} vertices, {} arcs", lists.num_vertices(), lists.num_arcs());
    let temporary = tempfile::tempdir().expect("a directory");
    let directory = options.directory.as_ref().map_or(temporary.path(), |path| Path::new(path));
    let tiles = convert(&options, &lists, directory).expect("tiles");
    for &threads in &options.threads {
        let run = Run::with_threads(threads).expect("threads");
        let mut scan = TileScan::new(&tiles, None, &run).expect("tiles");
        if let Some(mib) = options.pool_mib {
            let pool = PoolOptions {
                bytes: mib << 20,
                segment_bytes: options.segment_mib << 20,
                policy: options.policy,
                ..PoolOptions::default()
            };
            scan = scan.pooled(&pool, &run).expect("a pool");
        }
        let graph = Tiled { scan, lists };
        for algorithm in &options.algorithms {
            compare(&options, &lists, &graph, &run, algorithm);
        }
    }
}

fn convert(options: &Options, lists: &CsrGraph<'_, ()>, directory: &Path) -> Result<Tiles> {
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let layer = directory.join("layer");
    let (mut report, mut best) = (None, f64::INFINITY);
    let run = Run::with_threads(*options.threads.last().unwrap_or(&1))?;
    for _ in 0..options.trials.min(3) {
        let _ = std::fs::remove_dir_all(&layer);
        disk.create_directory(&layer)?;
        let convert = ConvertOptions { group: options.group, ..ConvertOptions::default() };
        let start = Instant::now();
        let files = FormFiles { disk: &disk, directory: &layer, origin: ORIGIN };
        report = Some(write_tiles(lists, &(), &run, &convert, None, files)?);
        best = best.min(start.elapsed().as_secs_f64());
    }
    let report = report.expect("at least one trial");
    let shape = TileShape {
        num_vertices: lists.num_vertices() as u64,
        num_edges: report.num_edges,
        directed: lists.is_directed(),
    };
    let tiles = Tiles::open(&disk, &layer, ORIGIN, shape, &[])?;
    println!(
        "made in {best:.2} s on {} threads: {:.1} M edges/s; {} chunks; {:.3} bytes per arc, {:.3} with index and degrees",
        run.threads(),
        report.num_edges as f64 / best / 1e6,
        report.num_chunks,
        report.data_bytes as f64 / lists.num_arcs() as f64,
        tiles.file_bytes() as f64 / lists.num_arcs() as f64,
    );
    Ok(tiles)
}

fn compare(options: &Options, lists: &CsrGraph<'_, ()>, tiles: &Tiled<'_>, run: &Run, algorithm: &str) {
    let (mut plain, mut tiled) = (Timed::NEVER, Timed::NEVER);
    for _ in 0..options.trials {
        if options.has("plain") {
            plain.time(|| answer(lists, run, algorithm).expect("lists in memory"));
        }
        if options.has("tiles") {
            tiled.time(|| answer(tiles, run, algorithm).expect("undamaged tiles"));
        }
    }
    assert!(options.only.is_some() || plain.answer == tiled.answer, "{algorithm}: the answers differ");
    println!(
        "{algorithm:8} {} threads: plain {:.4} s, tiles {:.4} s, ratio {:.2}; processor time {:.2} s, {:.2} s, ratio {:.2}",
        run.threads(),
        plain.seconds,
        tiled.seconds,
        tiled.seconds / plain.seconds,
        plain.cpu_seconds,
        tiled.cpu_seconds,
        tiled.cpu_seconds / plain.cpu_seconds,
    );
}

/// The shortest elapsed and processor times so far, and the answer.
#[derive(Clone, Copy)]
struct Timed {
    seconds: f64,
    cpu_seconds: f64,
    answer: u64,
}

impl Timed {
    const NEVER: Self = Self { seconds: f64::INFINITY, cpu_seconds: f64::INFINITY, answer: 0 };

    fn time(&mut self, work: impl FnOnce() -> u64) {
        let (start, cpu_start) = (Instant::now(), cpu_seconds());
        self.answer = work();
        self.seconds = self.seconds.min(start.elapsed().as_secs_f64());
        self.cpu_seconds = self.cpu_seconds.min(cpu_seconds() - cpu_start);
    }
}

/// Processor time of this process, in hundredths of a second; on a busy machine it tells more than the clock.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    after_name.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>()
        / 100.0
}

/// Runs an algorithm; returns a number that distinguishes answers.
fn answer<G: Graph>(graph: &G, run: &Run, algorithm: &str) -> std::result::Result<u64, G::Error> {
    let n = graph.num_vertices();
    Ok(match algorithm {
        "pagerank" => {
            let options =
                pagerank::PageRankOptions { rounds_max: ROUNDS, tolerance: 1e-6, ..Default::default() };
            let found = pagerank::pagerank(graph, run, &options)?;
            (found.scores.iter().take(1000).sum::<f64>() * 1e6).round() as u64
        }
        "wcc" => wcc::wcc(graph, run, &wcc::WccOptions::default())?.labels.iter().map(|&v| v as u64).sum(),
        "bfs" => {
            let sources = (0..SEARCHES).map(|k| vertex(k * 7919 % n));
            let mut reached = 0;
            for source in sources {
                let found = bfs::bfs(graph, run, &[source], &bfs::BfsOptions::default())?;
                reached += found.reached as u64 * 100 + found.rounds as u64;
            }
            reached
        }
        other => panic!("unknown algorithm {other}"),
    })
}

/// A graph over tiles.
struct Tiled<'a> {
    scan: TileScan<'a, ()>,
    lists: CsrGraph<'a, ()>,
}

impl Graph for Tiled<'_> {
    type Weight = ();
    type Error = Error;

    fn num_vertices(&self) -> usize {
        self.lists.num_vertices()
    }

    fn is_scattered(&self) -> bool {
        true
    }

    fn num_arcs(&self) -> u64 {
        self.lists.num_arcs()
    }

    fn is_directed(&self) -> bool {
        self.lists.is_directed()
    }

    fn has(&self, _: Direction) -> bool {
        true
    }

    fn degree(&self, direction: Direction, v: VertexId) -> usize {
        self.scan.degree(direction, v)
    }

    fn scan<V: Visitor<()>>(
        &self,
        run: &Run,
        direction: Direction,
        select: Select<'_>,
        visitor: &V,
    ) -> Result<Vec<V::State>> {
        // As in a database with tiles, which keeps the lists too.
        match select {
            Select::List(list) if self.is_few(direction, list) => {
                Ok(self.lists.scan(run, direction, select, visitor)?)
            }
            _ => collect(visitor, |visitor| self.scan.scan(run, direction, select, visitor)),
        }
    }
}

impl Tiled<'_> {
    fn is_few(&self, direction: Direction, list: &[VertexId]) -> bool {
        let arcs = list.iter().map(|&v| self.degree(direction, v) as u64 + 1).sum::<u64>();
        arcs <= (self.num_arcs() / 128).min(1 << 16)
    }
}

/// Generates the out-lists and, if directed, the in-lists.
fn generate(options: &Options) -> (Arrays, Option<Arrays>) {
    let model = RMat { directed: options.directed, ..RMat::kronecker(options.scale, options.degree) };
    let generator = Generator::new(&Model::RMat(model), Weighting::None, 1).expect("a model");
    let n = generator.num_vertices() as usize;
    let each = |take: &mut dyn FnMut(usize, usize)| {
        let mut block = EdgeBlock::default();
        for index in 0..generator.num_blocks() {
            generator.block(index, &mut block);
            let ends = block.sources.iter().zip(&block.targets).filter(|(u, v)| u != v);
            ends.for_each(|(&u, &v)| take(u as usize, v as usize));
        }
    };
    let mut degrees = vec![0u64; n];
    each(&mut |u, v| {
        degrees[u] += 1;
        degrees[v] += 1;
    });
    let mut order: Vec<usize> = (0..n).filter(|&v| degrees[v] > 0).collect();
    order.sort_by_key(|&v| std::cmp::Reverse(degrees[v]));
    let mut numbers = vec![0; n];
    order.iter().enumerate().for_each(|(number, &v)| numbers[v] = number);
    let arrays = |forth: bool, back: bool| {
        let arc = |u: usize, v: usize, take: &mut dyn FnMut(usize, usize)| {
            let (u, v) = (numbers[u], numbers[v]);
            if forth {
                take(u, v);
            }
            if back {
                take(v, u);
            }
        };
        let mut ends = vec![0u64; order.len() + 1];
        each(&mut |u, v| arc(u, v, &mut |u, _| ends[u + 1] += 1));
        for k in 0..order.len() {
            ends[k + 1] += ends[k];
        }
        let mut targets = vec![0; ends[order.len()] as usize];
        let mut next = ends.clone();
        each(&mut |u, v| {
            arc(u, v, &mut |u, v| {
                targets[next[u] as usize] = vertex(v);
                next[u] += 1;
            });
        });
        without_duplicates(&ends, targets)
    };
    if options.directed {
        (arrays(true, false), Some(arrays(false, true)))
    } else {
        (arrays(true, true), None)
    }
}

fn without_duplicates(ends: &[u64], mut targets: Vec<VertexId>) -> Arrays {
    let (mut offsets, mut len) = (vec![0], 0);
    for range in ends.windows(2) {
        let (start, end) = (range[0] as usize, range[1] as usize);
        targets[start..end].sort_unstable();
        let first = len;
        for k in start..end {
            let target = targets[k];
            if len == first || targets[len - 1] != target {
                targets[len] = target;
                len += 1;
            }
        }
        offsets.push(len as u64);
    }
    targets.truncate(len);
    (offsets, targets)
}

//! Speed of updating a dynamic graph, and of algorithms on it.
//!
//! `cargo bench -p esker-store --bench store -- updates [--scale 22] [--degree 16] [--batch 1048576]
//! [--threshold 2] [--shards 64] [--only updates,payloads,map,scan,bfs,pagerank,mapped] [--directory DIR]
//! [--threads 1,2] [--trials N]`
//!
//! The graph is R-MAT with the probabilities of Graph500, permuted. Every twenty insertions come with one
//! removal of an earlier edge, drawn at random. Batches of updates are made outside the clock, as in the
//! thesis. Without arguments: once, small.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use esker_algo::algorithm::{centrality::pagerank, paths::bfs};
use esker_graph::generate::{EdgeBlock, Generator, Model, RMat, Weighting};
use esker_graph::random::Random;
use esker_graph::{CsrGraph, Direction, Graph, Rows, Run, VertexId, vertex};
use esker_store::delta::{Applied, DynamicEdges, DynamicGraph, DynamicGraphOptions, Payload, Update};
use esker_store::io::{Disk, RealDisk, Scratch};

struct Settings {
    scale: u32,
    degree: u64,
    batch: usize,
    threshold: usize,
    shards: usize,
    threads: Vec<usize>,
    only: Vec<String>,
    directory: Option<String>,
    trials: usize,
}

impl Settings {
    fn parse() -> Self {
        let mut settings = Self {
            scale: 10,
            degree: 16,
            batch: 1 << 20,
            threshold: 2,
            shards: 64,
            threads: vec![1, 2],
            only: ["updates", "map", "scan", "mapped"].map(str::to_owned).to_vec(),
            directory: None,
            trials: 3,
        };
        let mut arguments = crate::arguments();
        while let Some(name) = arguments.next() {
            let value = arguments.next().unwrap_or_else(|| panic!("{name} takes a value"));
            let number = || value.parse::<usize>().unwrap_or_else(|_| panic!("{name} takes a number"));
            match name.as_str() {
                "--scale" => settings.scale = number() as u32,
                "--degree" => settings.degree = number() as u64,
                "--batch" => settings.batch = number(),
                "--threshold" => settings.threshold = number(),
                "--shards" => settings.shards = number(),
                "--trials" => settings.trials = number(),
                "--threads" => {
                    settings.threads = value.split(',').map(|n| n.parse().expect("a number")).collect();
                }
                "--only" => settings.only = value.split(',').map(str::to_owned).collect(),
                "--directory" => settings.directory = Some(value),
                _ => panic!("unknown option {name}"),
            }
        }
        settings
    }

    fn wants(&self, what: &str) -> bool {
        self.only.iter().any(|only| only == what)
    }

    fn options(&self, edges: DynamicEdges) -> DynamicGraphOptions {
        DynamicGraphOptions {
            edges,
            shards: self.shards,
            threshold: self.threshold,
            ..DynamicGraphOptions::default()
        }
    }
}

/// A stream of updates, in batches.
struct Stream {
    generator: Generator,
    next_block: u64,
    block: EdgeBlock,
    at: usize,
    /// A random sample of the edges inserted so far.
    sample: Vec<(VertexId, VertexId)>,
    random: Random,
    made: u64,
    removals: bool,
}

const SAMPLE: usize = 1 << 20;

impl Stream {
    fn new(settings: &Settings, removals: bool) -> Self {
        let model = Model::RMat(RMat::kronecker(settings.scale, settings.degree));
        let generator = Generator::new(&model, Weighting::None, 1).expect("a graph");
        let (block, sample) = (EdgeBlock::default(), Vec::new());
        Self { generator, next_block: 0, block, at: 0, sample, random: Random::new(7), made: 0, removals }
    }

    fn edge(&mut self) -> Option<(VertexId, VertexId)> {
        while self.at == self.block.sources.len() {
            if self.next_block == self.generator.num_blocks() {
                return None;
            }
            self.generator.block(self.next_block, &mut self.block);
            (self.next_block, self.at) = (self.next_block + 1, 0);
        }
        self.at += 1;
        let (u, v) = (self.block.sources[self.at - 1], self.block.targets[self.at - 1]);
        Some((vertex(u as usize), vertex(v as usize)))
    }

    fn below(&mut self, bound: usize) -> usize {
        self.random.index(bound)
    }

    fn batch<P: Payload + Default>(&mut self, updates: &mut Vec<Update<P>>, len: usize) {
        updates.clear();
        while updates.len() < len {
            let Some((source, target)) = self.edge() else { break };
            updates.push(Update::Insert { source, target, payload: P::default() });
            self.made += 1;
            if self.sample.len() < SAMPLE {
                self.sample.push((source, target));
            } else {
                let kept = self.below(self.made as usize);
                if let Some(place) = self.sample.get_mut(kept) {
                    *place = (source, target);
                }
            }
            if self.removals && self.made.is_multiple_of(20) {
                let drawn = self.below(self.sample.len());
                let (source, target) = self.sample[drawn];
                updates.push(Update::Remove { source, target });
            }
        }
    }
}

/// Processor time of all threads so far, in seconds; on a busy machine it is more reliable than elapsed time.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

struct UpdateTimes {
    updates: u64,
    time: Duration,
    cpu: f64,
}

impl UpdateTimes {
    fn rate(&self) -> f64 {
        self.updates as f64 / self.time.as_secs_f64() / 1e6
    }
}

fn fill<P: Payload + Default>(
    settings: &Settings,
    graph: &mut DynamicGraph<P>,
    threads: usize,
    removals: bool,
) -> UpdateTimes {
    let run = Run::with_threads(threads).expect("threads");
    let mut stream = Stream::new(settings, removals);
    let (mut updates, mut sum) = (Vec::new(), Applied::default());
    let mut times = UpdateTimes { updates: 0, time: Duration::ZERO, cpu: 0.0 };
    loop {
        stream.batch::<P>(&mut updates, settings.batch);
        if updates.is_empty() {
            break;
        }
        let (start, cpu) = (Instant::now(), cpu_seconds());
        let applied = graph.apply(&updates, &run).expect("memory");
        times.time += start.elapsed();
        times.cpu += cpu_seconds() - cpu;
        times.updates += updates.len() as u64;
        sum.inserted += applied.inserted;
        sum.removed += applied.removed;
    }
    if removals && graph.options().edges == DynamicEdges::Out {
        assert_eq!(sum.inserted - sum.removed, graph.num_entries());
    }
    times
}

fn measure<P: Payload + Default>(settings: &Settings, what: &str, scratch: &Scratch, threads: usize) -> f64 {
    let options = DynamicGraphOptions { scratch: scratch.clone(), ..settings.options(DynamicEdges::Out) };
    let mut graph: DynamicGraph<P> = DynamicGraph::new(options).expect("a graph");
    let times = fill(settings, &mut graph, threads, true);
    let bytes = graph.bytes() as f64 / graph.num_entries() as f64;
    println!(
        "{what}, payload of {} bytes, {threads} threads: {:.2} M updates/s ({:.2} s, cpu {:.2} s, {} edges, {} MiB, {bytes:.1} bytes per edge)",
        size_of::<P>(),
        times.rate(),
        times.time.as_secs_f64(),
        times.cpu,
        graph.num_entries(),
        graph.bytes() >> 20,
    );
    times.rate()
}

/// Applies the same updates to a hash map of vectors, on one thread.
fn map(settings: &Settings) -> f64 {
    let mut lists: HashMap<VertexId, Vec<VertexId>> = HashMap::new();
    let mut stream = Stream::new(settings, true);
    let mut updates = Vec::new();
    let mut times = UpdateTimes { updates: 0, time: Duration::ZERO, cpu: 0.0 };
    loop {
        stream.batch::<()>(&mut updates, settings.batch);
        if updates.is_empty() {
            break;
        }
        let (start, cpu) = (Instant::now(), cpu_seconds());
        for update in &updates {
            match *update {
                Update::Insert { source, target, .. } => {
                    let list = lists.entry(source).or_default();
                    if !list.contains(&target) {
                        list.push(target);
                    }
                }
                Update::Remove { source, target } => {
                    if let Some(list) = lists.get_mut(&source)
                        && let Some(at) = list.iter().position(|&v| v == target)
                    {
                        list.swap_remove(at);
                    }
                }
            }
        }
        times.time += start.elapsed();
        times.cpu += cpu_seconds() - cpu;
        times.updates += updates.len() as u64;
    }
    println!(
        "hash map of vectors, 1 thread: {:.2} M updates/s ({:.2} s, cpu {:.2} s, {} lists)",
        times.rate(),
        times.time.as_secs_f64(),
        times.cpu,
        lists.len()
    );
    times.rate()
}

fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}

fn timed<R>(seconds: &mut Vec<f64>, work: impl FnOnce() -> R) -> R {
    let start = Instant::now();
    let result = work();
    seconds.push(start.elapsed().as_secs_f64());
    result
}

/// Times BFS and PageRank on a dynamic graph and on the same lists as CSR.
fn scan(settings: &Settings) {
    let mut graph: DynamicGraph =
        DynamicGraph::new(settings.options(DynamicEdges::Undirected)).expect("a graph");
    let run = Run::with_threads(2).expect("threads");
    fill(settings, &mut graph, 2, false);
    let n = graph.num_vertices();
    let (mut offsets, mut targets) = (vec![0], Vec::new());
    for v in 0..n {
        targets.extend(graph.neighbours(vertex(v)).into_iter().map(|(target, ())| target));
        offsets.push(targets.len() as u64);
    }
    let weights = vec![(); targets.len()];
    let csr = CsrGraph::undirected(Rows::new(&offsets, &targets, &weights).expect("rows"));
    let sources: Vec<VertexId> = (0..n).map(vertex).filter(|&v| graph.out_degree(v) > 0).collect();
    let mut prepared = Vec::new();
    timed(&mut prepared, || graph.prepare(&run).expect("an index"));
    println!(
        "scan: {n} vertices, {} entries, {} MiB; index built in {:.4} s",
        graph.num_entries(),
        graph.bytes() >> 20,
        prepared[0]
    );

    if settings.wants("scan") || settings.wants("bfs") {
        search(settings, &run, &graph, &csr, &sources);
    }
    if settings.wants("scan") || settings.wants("pagerank") {
        rank(settings, &run, &graph, &csr);
    }
}

/// Searches from the largest hub and from other vertices.
fn search(
    settings: &Settings,
    run: &Run,
    graph: &DynamicGraph,
    csr: &CsrGraph<'_, ()>,
    sources: &[VertexId],
) {
    let n = graph.num_vertices();
    let hub = (0..n).map(vertex).max_by_key(|&v| csr.degree(Direction::Out, v)).expect("a vertex");
    let (mut on_csr, mut on_graph) = (Vec::new(), Vec::new());
    for trial in 0..settings.trials * 3 {
        let source = sources[(trial * 7919) % sources.len()];
        let source = if trial % 3 == 0 { hub } else { source };
        let options = bfs::BfsOptions::default();
        let a = timed(&mut on_csr, || bfs::bfs(csr, run, &[source], &options).expect("a search"));
        let b = timed(&mut on_graph, || bfs::bfs(graph, run, &[source], &options).expect("a search"));
        assert_eq!(a.reached, b.reached);
    }
    let ratio = median(on_graph.iter().zip(&on_csr).map(|(a, b)| a / b).collect());
    println!("BFS: CSR {:.4} s, dynamic {:.4} s, ratio {ratio:.2}", median(on_csr), median(on_graph));
}

fn rank(settings: &Settings, run: &Run, graph: &DynamicGraph, csr: &CsrGraph<'_, ()>) {
    let (mut on_csr, mut on_graph) = (Vec::new(), Vec::new());
    for _ in 0..settings.trials {
        let options = pagerank::PageRankOptions { rounds_max: 5, ..pagerank::PageRankOptions::default() };
        let a = timed(&mut on_csr, || pagerank::pagerank(csr, run, &options).expect("scores"));
        let b = timed(&mut on_graph, || pagerank::pagerank(graph, run, &options).expect("scores"));
        assert!((a.residual - b.residual).abs() < 1e-6);
    }
    let ratio = median(on_graph.iter().zip(&on_csr).map(|(a, b)| a / b).collect());
    println!(
        "PageRank, 5 rounds: CSR {:.4} s, dynamic {:.4} s, ratio {ratio:.2}",
        median(on_csr),
        median(on_graph)
    );
}

pub(crate) fn main() {
    let settings = Settings::parse();
    let mut single = None;
    if settings.wants("updates") {
        for &threads in &settings.threads {
            let rate = measure::<()>(&settings, "heap", &Scratch::heap(), threads);
            if threads == 1 {
                single = Some(rate);
            }
        }
    }
    if settings.wants("payloads") {
        for &threads in &settings.threads {
            measure::<[u32; 2]>(&settings, "heap", &Scratch::heap(), threads);
        }
    }
    if settings.wants("map") {
        let rate = map(&settings);
        if let Some(single) = single {
            println!("on one thread, {:.1} times as fast as the hash map of vectors", single / rate);
        }
    }
    if ["scan", "bfs", "pagerank"].iter().any(|what| settings.wants(what)) {
        scan(&settings);
    }
    if settings.wants("mapped") {
        let directory = settings.directory.clone().map_or_else(std::env::temp_dir, Into::into);
        for &threads in &settings.threads {
            let scratch = RealDisk.scratch(&directory).expect("a scratch file");
            measure::<()>(&settings, "mapped file", &scratch, threads);
        }
    }
}

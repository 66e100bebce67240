//! Times the algorithms on a graph in the serialised form of the GAP benchmark suite (`.sg`, `.wsg`).
//!
//! `cargo bench -p esker-algo --bench gap -- ALGORITHM FILE [--order keep|degree] [--threads N] [--trials N]
//! [--source V]... [--delta D] [--tolerance T]`. Sources are numbered as in the file; with `--order degree` vertices are first renumbered by
//! descending degree, as import does. Without arguments (`cargo test` and CI do that) each algorithm runs once on a
//! small grid.
#![allow(clippy::print_stdout)]

use std::time::Instant;

use esker_algo::algorithm::{betweenness, bfs, pagerank, sssp, wcc};
use esker_graph::{CsrGraph, Graph, Rows, Run, RunOptions, VertexId, Weight, vertex};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--bench")).collect();
    match args.as_slice() {
        [algorithm, path, options @ ..] => {
            let options = Options::parse(options);
            let bytes = std::fs::read(path).expect("the graph can be read");
            if path.ends_with(".wsg") {
                time_weighted(&Arrays::<i32>::parse(&bytes, options.by_degree), &options);
            } else {
                time(algorithm, &Arrays::<()>::parse(&bytes, options.by_degree), &options);
            }
        }
        _ => {
            let options = Options { trials: 1, ..Options::parse(&[]) };
            for algorithm in ["bfs", "pagerank", "wcc", "betweenness"] {
                time(algorithm, &Arrays::grid(20), &options);
            }
        }
    }
}

struct Options {
    by_degree: bool,
    threads: usize,
    trials: usize,
    sources: Vec<VertexId>,
    delta: Option<f64>,
    tolerance: f64,
}

impl Options {
    fn parse(args: &[String]) -> Self {
        let mut options = Self {
            by_degree: false,
            threads: 2,
            trials: 5,
            sources: Vec::new(),
            delta: None,
            tolerance: 1e-6,
        };
        for pair in args.chunks(2) {
            let value = pair.get(1).map_or("", String::as_str);
            let number = || value.parse().unwrap_or_else(|_| panic!("{} takes a number", pair[0]));
            match pair[0].as_str() {
                "--order" => options.by_degree = value == "degree",
                "--threads" => options.threads = number(),
                "--trials" => options.trials = number(),
                "--source" => options.sources.push(vertex(number())),
                "--delta" => options.delta = Some(value.parse().expect("a width")),
                "--tolerance" => options.tolerance = value.parse().expect("a tolerance"),
                other => panic!("unknown option {other}"),
            }
        }
        options
    }
}

/// The rows of an undirected graph, and the number of each vertex of the file in it.
struct Arrays<W> {
    offsets: Vec<u64>,
    targets: Vec<VertexId>,
    weights: Vec<W>,
    numbers: Vec<VertexId>,
}

/// A weight as it stands in the file after each neighbour.
trait FileWeight: Weight {
    const BYTES: usize;
    fn read(bytes: &[u8]) -> Self;
}

impl FileWeight for () {
    const BYTES: usize = 0;
    fn read(_: &[u8]) {}
}

impl FileWeight for i32 {
    const BYTES: usize = 4;
    fn read(bytes: &[u8]) -> Self {
        Self::from_le_bytes(bytes.try_into().expect("4 bytes"))
    }
}

impl<W: FileWeight> Arrays<W> {
    /// The layout: a byte that says whether directed, 64 bits each for arcs and vertices, 64-bit offsets, 32-bit
    /// neighbours (each followed by its weight).
    fn parse(bytes: &[u8], by_degree: bool) -> Self {
        let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
        assert_eq!(bytes[0], 0, "only undirected graphs are timed");
        let (arcs, n) = (word(1) as usize, word(9) as usize);
        let offsets: Vec<u64> = (0..=n).map(|v| word(17 + v * 8)).collect();
        let lists = &bytes[17 + (n + 1) * 8..];
        let arc = |i: usize| {
            let at = &lists[i * (4 + W::BYTES)..(i + 1) * (4 + W::BYTES)];
            let target = u32::from_le_bytes(at[..4].try_into().expect("4 bytes"));
            (target as VertexId, W::read(&at[4..]))
        };
        let mut order: Vec<usize> = (0..n).collect();
        if by_degree {
            order.sort_by_key(|&v| std::cmp::Reverse(offsets[v + 1] - offsets[v]));
        }
        let mut numbers = vec![0; n];
        order.iter().enumerate().for_each(|(number, &v)| numbers[v] = vertex(number));
        let mut new = Self { offsets: vec![0], targets: Vec::new(), weights: Vec::new(), numbers };
        new.targets.reserve_exact(arcs);
        new.weights.reserve_exact(arcs);
        let mut list = Vec::new();
        for v in order {
            list.extend((offsets[v] as usize..offsets[v + 1] as usize).map(arc));
            list.iter_mut().for_each(|(target, _)| *target = new.numbers[*target as usize]);
            list.sort_by_key(|&(target, _)| target);
            new.targets.extend(list.iter().map(|&(target, _)| target));
            new.weights.extend(list.drain(..).map(|(_, weight)| weight));
            new.offsets.push(new.targets.len() as u64);
        }
        new
    }

    fn graph(&self) -> CsrGraph<'_, W> {
        CsrGraph::undirected(Rows::new(&self.offsets, &self.targets, &self.weights).expect("sound rows"))
    }

    /// The sources asked for, or else the vertex of the highest degree.
    fn sources(&self, options: &Options) -> Vec<VertexId> {
        let graph = self.graph();
        let degree = |v: &VertexId| graph.degree(esker_graph::Direction::Out, *v);
        match options.sources.as_slice() {
            [] => (0..graph.num_vertices()).map(vertex).max_by_key(degree).into_iter().collect(),
            given => given.iter().map(|&v| self.numbers[v as usize]).collect(),
        }
    }
}

impl Arrays<()> {
    /// A square grid.
    fn grid(side: usize) -> Self {
        let (mut offsets, mut targets) = (vec![0], Vec::new());
        for v in 0..side * side {
            let (row, column) = (v / side, v % side);
            targets.extend((row > 0).then(|| vertex(v - side)));
            targets.extend((column > 0).then(|| vertex(v - 1)));
            targets.extend((column + 1 < side).then(|| vertex(v + 1)));
            targets.extend((row + 1 < side).then(|| vertex(v + side)));
            offsets.push(targets.len() as u64);
        }
        let weights = vec![(); targets.len()];
        Self { offsets, targets, weights, numbers: (0..side * side).map(vertex).collect() }
    }
}

fn run(options: &Options) -> Run {
    Run::new(RunOptions { threads: options.threads, seed: 1, ..RunOptions::default() })
        .expect("threads start")
}

fn time(algorithm: &str, arrays: &Arrays<()>, options: &Options) {
    let (graph, run) = (arrays.graph(), run(options));
    match algorithm {
        "bfs" => trials(options, &arrays.sources(options), |source| {
            let found =
                bfs::bfs(&graph, &run, &[source], &bfs::BfsOptions { depths: false }).expect("a search");
            format!("{} reached, {} rounds", found.reached, found.rounds)
        }),
        "depths" => trials(options, &arrays.sources(options), |source| {
            let found = bfs::bfs(&graph, &run, &[source], &bfs::BfsOptions::default()).expect("a search");
            format!("{} reached, {} rounds", found.reached, found.rounds)
        }),
        "pagerank" => trials(options, &[0], |_| {
            let wanted = pagerank::PageRankOptions {
                tolerance: options.tolerance,
                rounds_max: 10,
                ..Default::default()
            };
            let found = pagerank::pagerank(&graph, &run, &wanted).expect("scores");
            format!("{} rounds, residual {:e}", found.rounds, found.residual)
        }),
        "wcc" => trials(options, &[0], |_| {
            let found = wcc::wcc(&graph, &run, &wcc::WccOptions::default()).expect("components");
            format!("{} components", found.components)
        }),
        "betweenness" => trials(options, &arrays.sources(options), |source| {
            let sources = betweenness::Sources::These(vec![source]);
            let wanted = betweenness::BetweennessOptions { sources, scale: betweenness::Scale::Sum };
            let found = betweenness::betweenness(&graph, &run, &wanted).expect("scores");
            format!("{} rounds, largest {:e}", found.rounds, found.scores.iter().copied().fold(0.0, f64::max))
        }),
        other => panic!("unknown algorithm {other}"),
    }
}

fn time_weighted(arrays: &Arrays<i32>, options: &Options) {
    let (graph, run) = (arrays.graph(), run(options));
    let wanted = sssp::SsspOptions { delta: options.delta, parents: false };
    trials(options, &arrays.sources(options), |source| {
        let found = sssp::sssp(&graph, &run, source, &wanted).expect("distances");
        let farthest = found.distances.iter().filter(|&&d| d != i64::MAX).max();
        format!(
            "{} reached, {} rounds, delta {}, farthest {farthest:?}",
            found.reached, found.rounds, found.delta
        )
    });
}

fn trials(options: &Options, sources: &[VertexId], mut work: impl FnMut(VertexId) -> String) {
    let mut all = Vec::new();
    for &source in sources {
        for _ in 0..options.trials {
            let start = Instant::now();
            let evidence = work(source);
            let seconds = start.elapsed().as_secs_f64();
            println!("{seconds:.5} s from {source}: {evidence}");
            all.push(seconds);
        }
    }
    all.sort_by(f64::total_cmp);
    println!("median {:.5} s", all[all.len() / 2]);
}

//! Answers on several graphs at once against one at a time.
//!
//! `cargo bench -p esker-algo --bench many -- [--scale 18] [--degree 16] [--graphs 64] [--window 0.9]
//! [--threads 2] [--trials 3]`
//!
//! The edges of a Kronecker graph, in a random order, are a stream. Graph `i` is a window of the part
//! `window` of it; the windows are spread evenly over the stream. Seconds are medians: of the answer on the
//! middle one of the graphs alone, and of those on all of them together, lists in memory in both cases.
//! Without arguments: once, small.
#![allow(clippy::print_stdout)] // A benchmark prints what it measures.

use std::time::Instant;

use esker_algo::algorithm::centrality::degrees::{DegreeOf, degrees};
use esker_algo::algorithm::centrality::pagerank::{PageRankOptions, pagerank};
use esker_algo::algorithm::cohesion::kcore::kcore;
use esker_algo::algorithm::components::wcc::{WccOptions, wcc};
use esker_algo::algorithm::paths::bfs::{BfsOptions, bfs};
use esker_algo::graph_series::{self, GraphSeries, LANES};
use esker_graph::generate::{Generator, Model, RMat, Weighting};
use esker_graph::random::Random;
use esker_graph::{Csr, Direction, NONE, Run, Stop, VertexId};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

struct Settings {
    scale: u32,
    degree: u64,
    graphs: usize,
    window: f64,
    threads: usize,
    trials: usize,
}

impl Settings {
    fn parse() -> Result<Self> {
        let mut settings = Self { scale: 9, degree: 8, graphs: 64, window: 0.9, threads: 2, trials: 1 };
        let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
        while let Some(name) = arguments.next() {
            let value = arguments.next().ok_or_else(|| format!("{name} takes a value"))?;
            match name.as_str() {
                "--scale" => settings.scale = value.parse()?,
                "--degree" => settings.degree = value.parse()?,
                "--graphs" => settings.graphs = value.parse()?,
                "--window" => settings.window = value.parse()?,
                "--threads" => settings.threads = value.parse()?,
                "--trials" => settings.trials = value.parse()?,
                _ => return Err(format!("unknown option {name}").into()),
            }
        }
        Ok(settings)
    }

    /// The median of the seconds that some work takes.
    fn seconds(&self, mut work: impl FnMut() -> Result<()>) -> Result<f64> {
        let mut times = Vec::new();
        for _ in 0..self.trials {
            let begin = Instant::now();
            work()?;
            times.push(begin.elapsed().as_secs_f64());
        }
        times.sort_by(f64::total_cmp);
        Ok(times[times.len() / 2])
    }
}

/// The graphs of each edge, by its place in the stream; the slot of an arc is the number of window ends
/// before it.
struct Stream {
    n: usize,
    edges: Vec<(VertexId, VertexId)>,
    graphs: usize,
    length: f64,
}

impl Stream {
    fn new(settings: &Settings) -> Result<Self> {
        let model = Model::RMat(RMat::kronecker(settings.scale, settings.degree));
        let generator = Generator::new(&model, Weighting::None, 1)?;
        let mut edges: Vec<_> = generator.edges().iter().map(|&(u, v, ())| (u, v)).collect();
        Random::new(7).shuffle(&mut edges);
        let length = settings.window * edges.len() as f64;
        Ok(Self { n: 1 << settings.scale, edges, graphs: settings.graphs, length })
    }

    /// The places of the edges of a graph.
    fn range(&self, graph: usize) -> std::ops::Range<usize> {
        let spread = (self.edges.len() as f64 - self.length) / (self.graphs - 1).max(1) as f64;
        let start = (graph as f64 * spread) as usize;
        start..(start + self.length as usize).min(self.edges.len())
    }

    fn one(&self, graph: usize) -> Result<Csr<()>> {
        let edges: Vec<_> = self.edges[self.range(graph)].iter().map(|&(u, v)| (u, v, ())).collect();
        Ok(Csr::undirected(self.n, &edges)?)
    }

    /// The arcs of some graphs, and the graphs of each slot.
    fn some(&self, graphs: std::ops::Range<usize>) -> Result<(Csr<u16>, Vec<u64>)> {
        let mut ends: Vec<usize> =
            graphs.clone().flat_map(|i| [self.range(i).start, self.range(i).end]).collect();
        ends.sort_unstable();
        ends.dedup();
        let slot = |place: usize| ends.partition_point(|&end| end <= place);
        let members = |slot: usize| {
            let place = if slot == 0 { usize::MAX } else { ends[slot - 1] };
            let has = |i: &usize| self.range(graphs.start + i).contains(&place);
            (0..graphs.len()).filter(has).fold(0, |bits, i| bits | 1_u64 << i)
        };
        let members: Vec<u64> = (0..=ends.len()).map(members).collect();
        let slotted = self.edges.iter().enumerate().map(|(place, &(u, v))| (u, v, slot(place) as u16));
        let slotted: Vec<_> = slotted.filter(|edge| members[usize::from(edge.2)] != 0).collect();
        Ok((Csr::undirected(self.n, &slotted)?, members))
    }
}

/// What is timed.
type Work<'a> = &'a dyn Fn() -> Result<()>;

/// Degrees, coreness, and searches from an end of an edge, on 64 graphs at most.
fn others(settings: &Settings, stream: &Stream, alone: &Csr<()>, run: &Run) -> Result<()> {
    let (arcs, members) = stream.some(0..settings.graphs.min(64))?;
    let (graph, alone) = (arcs.graph(), alone.graph());
    let rows = *graph.rows(Direction::Out).ok_or("no lists")?;
    let series = GraphSeries::new(rows, None, false, members, settings.graphs.min(64))?;
    let (present, _) = series.presence(run)?;
    let source = stream.edges[stream.edges.len() / 2].0;
    let ones: [(&str, Work<'_>, Work<'_>); 3] = [
        (
            "degrees",
            &|| {
                degrees(&alone, run, DegreeOf::Out)?;
                Ok(())
            },
            &|| Ok(graph_series::degrees(&series, DegreeOf::Out, run, |_, _| Ok::<_, Stop>(()))?),
        ),
        (
            "kcore",
            &|| {
                kcore(&alone, run)?;
                Ok(())
            },
            &|| Ok(graph_series::cores(&series, run, |_, _| Ok::<_, Stop>(()))?),
        ),
        (
            "bfs",
            &|| {
                bfs(&alone, run, &[source], &BfsOptions::default())?;
                Ok(())
            },
            &|| {
                graph_series::search(&series, &present, &[source], NONE, run)?;
                Ok(())
            },
        ),
    ];
    for (name, one, together) in ones {
        let (one, together) = (settings.seconds(one)?, settings.seconds(together)?);
        println!("| {name} | {one:.4} | {together:.4} | {:.2} | |", together / one);
    }
    Ok(())
}

fn main() -> Result<()> {
    let settings = Settings::parse()?;
    let run = Run::with_threads(settings.threads)?;
    let stream = Stream::new(&settings)?;
    let alone = stream.one(settings.graphs / 2)?;
    println!("| algorithm | one graph, s | {} graphs at once, s | ratio | presence, s |", settings.graphs);
    println!("|---|---:|---:|---:|---:|");
    let one = settings.seconds(|| {
        wcc(&alone.graph(), &run, &WccOptions::default())?;
        Ok(())
    })?;
    let (mut together, mut presence) = (0.0, 0.0);
    for first in (0..settings.graphs).step_by(64) {
        let range = first..settings.graphs.min(first + 64);
        let len = range.len();
        let (arcs, members) = stream.some(range)?;
        let graph = arcs.graph();
        let rows = *graph.rows(Direction::Out).ok_or("no lists")?;
        let series = GraphSeries::new(rows, None, false, members, len)?;
        presence += settings.seconds(|| {
            series.presence(&run)?;
            Ok(())
        })?;
        together +=
            settings.seconds(|| Ok(graph_series::components(&series, &run, |_, _| Ok::<_, Stop>(()))?))?;
    }
    println!("| wcc | {one:.4} | {together:.4} | {:.2} | {presence:.4} |", together / one);
    others(&settings, &stream, &alone, &run)?;
    let options = PageRankOptions::default();
    let one = settings.seconds(|| {
        pagerank(&alone.graph(), &run, &options)?;
        Ok(())
    })?;
    drop(alone);
    let (mut together, mut presence) = (0.0, 0.0);
    for first in (0..settings.graphs).step_by(LANES) {
        let range = first..settings.graphs.min(first + LANES);
        let len = range.len();
        let (arcs, members) = stream.some(range)?;
        let graph = arcs.graph();
        let rows = *graph.rows(Direction::Out).ok_or("no lists")?;
        let series = GraphSeries::new(rows, None, false, members, len)?;
        let (present, _) = series.presence(&run)?;
        presence += settings.seconds(|| {
            series.presence(&run)?;
            Ok(())
        })?;
        together += settings.seconds(|| {
            graph_series::pagerank(&series, &present, &run, &options)?;
            Ok(())
        })?;
    }
    println!("| pagerank | {one:.4} | {together:.4} | {:.2} | {presence:.4} |", together / one);
    Ok(())
}

//! Runs algorithms on many small graphs, for `tests/compare`, which compares the results with other
//! libraries.
//!
//! Standard input has graphs, each a line `graph KIND VERTICES EDGES SOURCE THREADS ROUNDS` (KIND: `directed`
//! or `undirected`; ROUNDS: iterations of label propagation) and one line `from to weight` per edge. For each
//! graph, standard output has lines of a name and the values in vertex order, with `-` for unreached, then
//! `end`.

#![allow(clippy::print_stdout)] // This is a program.

use std::io::{BufRead, Write};

use esker_algo::algorithm::centrality::betweenness::{BetweennessOptions, Scale, Sources, betweenness};
use esker_algo::algorithm::centrality::pagerank::{PageRankOptions, pagerank};
use esker_algo::algorithm::cohesion::lcc::{LccOptions, lcc};
use esker_algo::algorithm::cohesion::triangles::{TrianglesOptions, triangles};
use esker_algo::algorithm::components::cdlp::{CdlpOptions, cdlp};
use esker_algo::algorithm::components::scc::scc;
use esker_algo::algorithm::components::wcc::{WccOptions, wcc};
use esker_algo::algorithm::paths::bfs::{BfsOptions, bfs};
use esker_algo::algorithm::paths::sssp::{SsspOptions, sssp};
use esker_graph::{Csr, NONE, Run, VertexId};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// A graph and the parameters of its runs.
struct Request {
    directed: bool,
    num_vertices: usize,
    source: VertexId,
    threads: usize,
    rounds: usize,
    edges: Vec<(VertexId, VertexId, f64)>,
}

fn main() -> Outcome<()> {
    let mut lines = std::io::stdin().lock().lines();
    let mut output = std::io::BufWriter::new(std::io::stdout().lock());
    while let Some(header) = lines.next().transpose()? {
        let request = read(&header, &mut lines)?;
        for (name, values) in answers(&request)? {
            writeln!(output, "{name} {}", values.join(" "))?;
        }
        writeln!(output, "end")?;
    }
    Ok(output.flush()?)
}

fn read(header: &str, lines: &mut impl Iterator<Item = std::io::Result<String>>) -> Outcome<Request> {
    let fields: Vec<&str> = header.split(' ').collect();
    let ["graph", kind, num_vertices, num_edges, source, threads, rounds] = fields[..] else {
        return Err(format!("not the header of a graph: {header:?}").into());
    };
    let mut edges = Vec::new();
    for _ in 0..num_edges.parse::<usize>()? {
        let line = lines.next().ok_or("the edges end early")??;
        let fields: Vec<&str> = line.split(' ').collect();
        let [from, to, weight] = fields[..] else { return Err(format!("not an edge: {line:?}").into()) };
        edges.push((from.parse()?, to.parse()?, weight.parse()?));
    }
    Ok(Request {
        directed: kind == "directed",
        num_vertices: num_vertices.parse()?,
        source: source.parse()?,
        threads: threads.parse()?,
        rounds: rounds.parse()?,
        edges,
    })
}

fn answers(request: &Request) -> Outcome<Vec<(&'static str, Vec<String>)>> {
    let make = if request.directed { Csr::directed } else { Csr::undirected };
    let csr = make(request.num_vertices, &request.edges)?;
    let graph = csr.graph();
    let run = Run::with_threads(request.threads)?;
    let mut answers = Vec::new();
    if request.num_vertices > 0 {
        let found = bfs(&graph, &run, &[request.source], &BfsOptions::default())?;
        answers.push(("bfs", vertices(&found.depths.unwrap_or_default())));
        answers.push(("parents", vertices(&found.parents)));
        let found = sssp(&graph, &run, request.source, &SsspOptions::default())?;
        answers.push(("sssp", numbers(&found.distances)));
    }
    let options = PageRankOptions { tolerance: 1e-13, rounds_max: 1000, ..PageRankOptions::default() };
    answers.push(("pagerank", numbers(&pagerank(&graph, &run, &options)?.scores)));
    answers.push(("wcc", vertices(&wcc(&graph, &run, &WccOptions::default())?.labels)));
    let options = BetweennessOptions { sources: Sources::All, scale: Scale::Pairs };
    answers.push(("betweenness", numbers(&betweenness(&graph, &run, &options)?.scores)));
    let found = triangles(&graph, &run, &TrianglesOptions::default())?;
    answers.push(("triangles", vec![found.triangles.to_string()]));
    answers.push(("lcc", numbers(&lcc(&graph, &run, &LccOptions::default())?.coefficients)));
    let found = cdlp(&graph, &run, None, &CdlpOptions { iterations: request.rounds })?;
    answers.push(("cdlp", found.labels.iter().map(u64::to_string).collect()));
    answers.push(("scc", vertices(&scc(&graph, &run)?.components)));
    Ok(answers)
}

fn vertices(values: &[VertexId]) -> Vec<String> {
    values.iter().map(|&v| if v == NONE { "-".to_owned() } else { v.to_string() }).collect()
}

/// The shortest form that reads back as the same number.
fn numbers(values: &[f64]) -> Vec<String> {
    values.iter().map(|&x| if x.is_finite() { format!("{x:?}") } else { "-".to_owned() }).collect()
}

//! Searches from a source.

use esker_algo::algorithm::bfs::{self, BfsOptions, bfs};
use esker_algo::algorithm::sssp::{self, SsspOptions, sssp};
use esker_algo::check;
use esker_algo::lengths::Length;
use esker_graph::{Direction, VertexId, vertex};
use esker_store::StoredWeight;
use esker_store::format::ElementType;

use crate::answer::{Answer, Column, Fact, Ranking, Values};
use crate::catalogue::entry::Entry;
use crate::catalogue::job::{Job, JobGraph, on_graph, timed};
use crate::catalogue::params::{OptionSpec, Params};
use crate::error::{Error, Result};

const PARENTS: OptionSpec =
    OptionSpec { name: "parents", value: "", help: "Also give the vertex before each on its path" };

pub(super) const BFS: Entry = Entry {
    name: "bfs",
    summary: "Breadth-first search: number of steps from the sources",
    options: &[
        OptionSpec { name: "source", value: "ID", help: "Vertex to begin from; may be given several times" },
        PARENTS,
    ],
    weighted: false,
    run: |job| {
        let sources = job.some_vertices("bfs", "source")?;
        on_graph!(job, (), graph => run_bfs(job, graph, &sources))
    },
    estimate: |shape, _, resources| Ok(bfs::estimate(shape, &BfsOptions::default(), resources.deterministic)),
};

fn run_bfs(job: &Job<'_>, graph: &impl JobGraph, sources: &[VertexId]) -> Result<Answer> {
    let (found, seconds) = timed(|| bfs(graph, job.run, sources, &BfsOptions::default()));
    let found = found?;
    job.verify("bfs", graph, |out, _| check::bfs(out, sources, &found.parents, found.depths.as_deref()))?;
    let depths = found.depths.unwrap_or_default();
    let mut columns =
        vec![Column { name: "depth", values: Values::Index(depths), ranking: Ranking::Largest }];
    if job.params.flag("parents") {
        columns.push(Column {
            name: "parent",
            values: Values::Vertex(found.parents),
            ranking: Ranking::Groups,
        });
    }
    Ok(Answer {
        vertices: None,
        columns,
        facts: vec![("reached", Fact::Count(found.reached as u64))],
        rounds: found.rounds,
        arcs: found.arcs,
        seconds,
    })
}

pub(super) const SSSP: Entry = Entry {
    name: "sssp",
    summary: "Shortest paths from one source by weight, none negative",
    options: &[
        OptionSpec { name: "source", value: "ID", help: "Vertex to begin from" },
        OptionSpec {
            name: "delta",
            value: "NUMBER",
            help: "Width of a bucket [default: chosen from the weights]",
        },
        PARENTS,
    ],
    weighted: true,
    run: run_sssp,
    estimate: |shape, params, _| Ok(sssp::estimate(shape, &sssp_options(params)?)),
};

fn sssp_options(params: &Params) -> Result<SsspOptions> {
    Ok(SsspOptions { delta: params.get("delta")?, parents: params.flag("parents") })
}

fn run_sssp(job: &Job<'_>) -> Result<Answer> {
    match job.snapshot.weight_type() {
        None => sssp_by::<()>(job, integers),
        Some(ElementType::I32) => sssp_by::<i32>(job, integers),
        Some(ElementType::I64) => sssp_by::<i64>(job, integers),
        Some(ElementType::F32) => sssp_by::<f32>(job, Values::Float),
        Some(ElementType::F64) => sssp_by::<f64>(job, Values::Float),
        Some(other) => Err(Error::Usage(format!("weights of type {other:?} are no lengths"))),
    }
}

/// Integer distances; both sides mark unreached by the largest integer.
fn integers(distances: Vec<i64>) -> Values {
    Values::Integer(distances)
}

fn sssp_by<W: StoredWeight + Length>(
    job: &Job<'_>,
    values: fn(Vec<W::Distance>) -> Values,
) -> Result<Answer> {
    let [source] = job.some_vertices("sssp", "source")?[..] else {
        return Err(Error::Usage("sssp takes one --source".to_owned()));
    };
    let options = sssp_options(job.params)?;
    on_graph!(job, W, graph => sssp_on(job, graph, source, &options, values))
}

fn sssp_on<W: Length>(
    job: &Job<'_>,
    graph: &impl JobGraph<Weight = W>,
    source: VertexId,
    options: &SsspOptions,
    values: fn(Vec<W::Distance>) -> Values,
) -> Result<Answer> {
    let (found, seconds) = timed(|| sssp(graph, job.run, source, options));
    let found = found?;
    job.verify("sssp", graph, |out, _| check::sssp(out, source, &found.distances, found.parents.as_deref()))?;
    let reached = (0..graph.num_vertices()).filter(|&v| found.distances[v] != W::UNREACHED);
    let arcs = reached.map(|v| graph.degree(Direction::Out, vertex(v)) as u64).sum();
    let mut columns =
        vec![Column { name: "distance", values: values(found.distances), ranking: Ranking::Largest }];
    if let Some(parents) = found.parents {
        columns.push(Column { name: "parent", values: Values::Vertex(parents), ranking: Ranking::Groups });
    }
    Ok(Answer {
        vertices: None,
        columns,
        facts: vec![("reached", Fact::Count(found.reached as u64)), ("delta", Fact::Float(found.delta))],
        rounds: found.rounds,
        arcs,
        seconds,
    })
}

//! Searches from a source.

use esker_algo::algorithm::bfs::{self, BfsOptions, bfs};
use esker_algo::algorithm::sssp::{self, SsspOptions, sssp};
use esker_algo::check;
use esker_algo::lengths::Length;
use esker_graph::{Direction, Graph, NONE, VertexId, vertex};
use esker_store::format::ElementType;
use esker_store::{StoredGraph, StoredWeight};

use crate::answer::{Answer, AnswerColumn, Fact, Ranking, Values};
use crate::catalogue::entry::{Entry, GraphReads, ListReads};
use crate::catalogue::job::{Job, timed};
use crate::catalogue::option::{Opt, OptRange};
use crate::catalogue::params::Params;
use crate::error::Result;

pub(super) const PARENTS: Opt = Opt::flag("parents", "Also give the vertex before each on its path");

pub(super) const BFS: Entry = Entry {
    name: "bfs",
    summary: "Breadth-first search: number of steps from the sources",
    options: &[
        Opt::vertex("source", "Vertex to start from").required().repeatable(),
        Opt::integer("max-depth", "Most steps from a source; vertices farther away count as unreached")
            .otherwise("no limit"),
        Opt::vertex("target", "Stop at the depth of this vertex; vertices farther away count as unreached")
            .otherwise("none"),
        PARENTS,
    ],
    reads: GraphReads::few(ListReads::Both),
    undirected: false,
    columns: &["depth", "parent"],
    figures: &["reached"],
    edges: false,
    verifies: "Depths differ by at most one along an edge, and each parent is one step nearer to a source",
    run: |job| {
        let sources = job.vertices("source")?;
        run_bfs(job, &job.graph::<()>()?, &sources, &bfs_options(job)?)
    },
    estimate: |shape, _, resources| Ok(bfs::estimate(shape, &BfsOptions::default(), resources.deterministic)),
};

fn bfs_options(job: &Job<'_>) -> Result<BfsOptions> {
    // No vertex is deeper than the largest id.
    let depth_max = job.params.get::<u64>("max-depth")?.map(|most| VertexId::try_from(most).unwrap_or(NONE));
    let target = job.vertices("target")?.first().copied();
    Ok(BfsOptions { depth_max, target, ..BfsOptions::default() })
}

fn run_bfs(
    job: &Job<'_>,
    graph: &StoredGraph<'_, ()>,
    sources: &[VertexId],
    options: &BfsOptions,
) -> Result<Answer> {
    let (found, seconds) = timed(|| bfs(graph, job.run, sources, options));
    let found = found?;
    let depths = found.depths.unwrap_or_default();
    job.verify("bfs", graph, |out, _| {
        let target = options.target.map_or(NONE, |target| depths[target as usize]);
        let deepest = options.depth_max.unwrap_or(NONE).min(target);
        check::bfs_within(out, sources, &found.parents, Some(&depths), deepest)
    })?;
    let mut columns =
        vec![AnswerColumn { name: "depth", values: Values::Index(depths), ranking: Ranking::Largest }];
    push_parents(&mut columns, job.params.flag("parents").then_some(found.parents));
    Ok(Answer {
        columns,
        facts: vec![("reached", Fact::Count(found.reached as u64))],
        rounds: found.rounds,
        arcs: found.arcs,
        seconds,
        ..Answer::default()
    })
}

pub(super) const SSSP: Entry = Entry {
    name: "sssp",
    summary: "Shortest paths from one source by weight, none negative",
    options: &[
        Opt::vertex("source", "Vertex to start from").required(),
        Opt::float("delta", "Width of a bucket")
            .within(OptRange::Above(0.0))
            .otherwise("chosen from the weights"),
        Opt::vertex(
            "target",
            "Stop at the distance of this vertex; vertices farther away count as unreached",
        )
        .otherwise("none"),
        PARENTS,
    ],
    reads: GraphReads::few(ListReads::Both).weighted(),
    undirected: false,
    columns: &["distance", "parent"],
    figures: &["reached", "delta"],
    edges: false,
    verifies: "No edge shortens a distance, and a path of that length leads to each reached vertex",
    run: |job| by_weight!(job, sssp_by),
    estimate: |shape, params, _| Ok(sssp::estimate(shape, &sssp_options(params, None)?)),
};

fn sssp_options(params: &Params, target: Option<VertexId>) -> Result<SsspOptions> {
    Ok(SsspOptions { delta: params.get("delta")?, parents: params.flag("parents"), target })
}

/// Calls a function with the type of the weights.
macro_rules! by_weight {
    ($job:expr, $work:ident) => {
        match $job.snapshot.weight_type() {
            None => $work::<()>($job),
            Some(ElementType::I32) => $work::<i32>($job),
            Some(ElementType::I64) => $work::<i64>($job),
            Some(ElementType::F32) => $work::<f32>($job),
            Some(ElementType::F64) => $work::<f64>($job),
            Some(other) => {
                let message = format!("weights of type {other:?} are no lengths");
                Err(crate::error::Error::Usage(message))
            }
        }
    };
}
pub(super) use by_weight;

/// A number in which lengths or widths of paths are given.
pub(crate) trait Shown: Sized {
    /// As values: the extremes of the type, which stand for unreached and for the path of no edges, are no value.
    fn values(numbers: Vec<Self>) -> Values;
}

impl Shown for i32 {
    fn values(numbers: Vec<Self>) -> Values {
        let show = |number| match number {
            Self::MIN | Self::MAX => Values::NO_INTEGER,
            number => i64::from(number),
        };
        Values::Integer(numbers.into_iter().map(show).collect())
    }
}

impl Shown for i64 {
    fn values(mut numbers: Vec<Self>) -> Values {
        numbers
            .iter_mut()
            .filter(|number| **number == Self::MIN)
            .for_each(|number| *number = Values::NO_INTEGER);
        Values::Integer(numbers)
    }
}

impl Shown for f32 {
    fn values(numbers: Vec<Self>) -> Values {
        Values::Float(numbers.into_iter().map(f64::from).collect())
    }
}

impl Shown for f64 {
    fn values(numbers: Vec<Self>) -> Values {
        Values::Float(numbers)
    }
}

/// Arcs that leave the vertices that a search reached.
pub(super) fn arcs_of(graph: &impl Graph, reached: impl Fn(usize) -> bool) -> u64 {
    let vertices = (0..graph.num_vertices()).filter(|&v| reached(v));
    vertices.map(|v| graph.degree(Direction::Out, vertex(v)) as u64).sum()
}

/// Adds the column of parents, if there are any.
pub(super) fn push_parents(columns: &mut Vec<AnswerColumn>, parents: Option<Vec<VertexId>>) {
    columns.extend(parents.map(|parents| AnswerColumn {
        name: "parent",
        values: Values::Vertex(parents),
        ranking: Ranking::Groups,
    }));
}

fn sssp_by<W: StoredWeight + Length<Distance: Shown>>(job: &Job<'_>) -> Result<Answer> {
    let source = job.vertex("source")?;
    let target = job.vertices("target")?.first().copied();
    let options = sssp_options(job.params, target)?;
    sssp_on(job, &job.graph::<W>()?, source, &options)
}

fn sssp_on<W: StoredWeight + Length<Distance: Shown>>(
    job: &Job<'_>,
    graph: &StoredGraph<'_, W>,
    source: VertexId,
    options: &SsspOptions,
) -> Result<Answer> {
    let (found, seconds) = timed(|| sssp(graph, job.run, source, options));
    let found = found?;
    job.verify("sssp", graph, |out, _| {
        check::sssp_to(out, source, options.target, &found.distances, found.parents.as_deref())
    })?;
    let arcs = arcs_of(graph, |v| found.distances[v] != W::UNREACHED);
    let mut columns = vec![AnswerColumn {
        name: "distance",
        values: Shown::values(found.distances),
        ranking: Ranking::Largest,
    }];
    push_parents(&mut columns, found.parents);
    Ok(Answer {
        columns,
        facts: vec![("reached", Fact::Count(found.reached as u64)), ("delta", Fact::Float(found.delta))],
        rounds: found.rounds,
        arcs,
        seconds,
        ..Answer::default()
    })
}

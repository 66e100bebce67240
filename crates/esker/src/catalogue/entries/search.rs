//! The entries of breadth-first search and shortest paths.

use esker_algo::algorithm::paths::bfs::{self, BfsOptions, bfs};
use esker_algo::algorithm::paths::sssp::{self, SsspOptions, sssp};
use esker_algo::check;
use esker_algo::lengths::Length;
use esker_algo::primitive::SwitchThresholds;
use esker_graph::{Direction, Graph, NONE, VertexId, vertex};
use esker_store::format::ElementType;
use esker_store::{StoredGraph, StoredWeight};

use crate::answer::{Answer, AnswerColumn, Fact, Ranking, Values};
use crate::catalogue::entry::{Entry, GraphReads, ListReads};
use crate::catalogue::job::{Job, timed};
use crate::catalogue::option::{Opt, OptRange};
use crate::catalogue::params::Params;
use crate::catalogue::question::Question;
use crate::catalogue::work::{Workload, one_way};
use crate::error::Result;

pub(super) const PARENTS: Opt = Opt::flag("parents", "Also give the previous vertex on each path");

/// The work of a search by steps.
pub(super) const SEARCH: Workload = Workload::new(0.75, 0.65, 0.33).over(0.0098, 1.4, 1.2).evenly(2.1, 1.2);

pub(super) const BFS: Entry = Entry {
    name: "bfs",
    summary: "Breadth-first search: the number of steps from the nearest source",
    question: Question::Paths,
    options: &[
        Opt::vertex("source", "Vertex to start from").required().repeatable(),
        Opt::integer(
            "max-depth",
            "Greatest number of steps from a source; vertices farther away count as unreached",
        )
        .otherwise("no limit"),
        Opt::vertex("target", "Stop at the depth of this vertex; vertices farther away count as unreached")
            .otherwise("none"),
        PARENTS,
        Opt::float(
            "alpha",
            "Pull once the load of a growing frontier exceeds that of a pull divided by this",
        )
        .within(OptRange::Above(0.0))
        .otherwise("chosen each round; 20 if beta is given"),
        Opt::float(
            "beta",
            "Push again once the load of a shrinking frontier is below that of a pull divided by this",
        )
        .within(OptRange::Above(0.0))
        .otherwise("chosen each round; 20 if alpha is given"),
    ],
    reads: GraphReads::few(ListReads::Both).ignoring_isolated(),
    work: |_, _| Ok(SEARCH),
    undirected: false,
    columns: &["depth", "parent"],
    figures: &["reached"],
    edges: false,
    verifies: "Depths differ by at most one along an edge, and each parent is one step nearer to a source",
    run: |job| {
        let sources = job.vertices("source")?;
        run_bfs(job, &job.graph::<()>()?, &sources, &bfs_options(job)?)
    },
    // With parents, which verification needs too.
    // With parents, which verification needs.
    estimate: |shape, _, resources| Ok(bfs::estimate(shape, &BfsOptions::default(), resources.deterministic)),
};

fn bfs_options(job: &Job<'_>) -> Result<BfsOptions> {
    // No vertex is deeper than the largest id.
    let depth_max = job.params.get::<u64>("max-depth")?.map(|most| VertexId::try_from(most).unwrap_or(NONE));
    let target = job.vertices("target")?.first().copied();
    let parents = job.params.flag("parents") || job.verify;
    Ok(BfsOptions {
        depth_max,
        target,
        parents,
        thresholds: thresholds(job.params)?,
        ..BfsOptions::default()
    })
}

/// The thresholds between push and pull, if one of them is given.
fn thresholds(params: &Params) -> Result<Option<SwitchThresholds>> {
    let (alpha, beta) = (params.get("alpha")?, params.get("beta")?);
    let given = alpha.is_some() || beta.is_some();
    Ok(given.then(|| SwitchThresholds {
        alpha: alpha.unwrap_or(SwitchThresholds::DEFAULT.alpha),
        beta: beta.unwrap_or(SwitchThresholds::DEFAULT.beta),
    }))
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
    let mut answer = depths_answer(depths, found.reached as u64, found.rounds);
    push_parents(&mut answer.columns, job.params.flag("parents").then_some(found.parents));
    Ok(Answer { arcs: found.arcs, seconds, ..answer })
}

/// The column of depths, and its figure.
pub(crate) fn depths_answer(depths: Vec<VertexId>, reached: u64, rounds: usize) -> Answer {
    Answer {
        columns: vec![AnswerColumn {
            name: "depth",
            values: Values::Index(depths),
            ranking: Ranking::Largest,
        }],
        facts: vec![("reached", Fact::Count(reached))],
        rounds,
        ..Answer::default()
    }
}

pub(super) const SSSP: Entry = Entry {
    name: "sssp",
    summary: "Shortest paths from one source; weights must not be negative",
    question: Question::Paths,
    options: &[
        Opt::vertex("source", "Vertex to start from").required(),
        Opt::float("delta", "Width of a bucket, or auto")
            .within(OptRange::Above(0.0))
            .or_auto("auto: chosen from weights, degrees and threads"),
        Opt::vertex(
            "target",
            "Stop at the distance of this vertex; vertices farther away count as unreached",
        )
        .otherwise("none"),
        PARENTS,
    ],
    reads: GraphReads::few(ListReads::Both).weighted().ignoring_isolated().counting_copies(),
    work: |_, shape| {
        Ok(if shape.weight_bytes == 0 {
            SEARCH
        } else {
            Workload::new(9.9, 7.5, 5.2).over(4.2, 32.0, 15.0).times(one_way(shape))
        })
    },
    undirected: false,
    columns: &["distance", "parent"],
    figures: &["reached", "delta"],
    edges: false,
    verifies: "No edge shortens a distance, and a path of that length leads to each reached vertex",
    run: |job| by_weight!(job, sssp_by),
    estimate: |shape, params, _| Ok(sssp::estimate(shape, &sssp_options(params, None)?)),
};

fn sssp_options(params: &Params, target: Option<VertexId>) -> Result<SsspOptions> {
    Ok(SsspOptions { delta: params.get_unless_auto("delta")?, parents: params.flag("parents"), target })
}

/// Calls a function with the type of the weights.
macro_rules! by_weight {
    ($job:expr, $work:ident) => {
        match $job.view.weight_type() {
            None => $work::<()>($job),
            Some(ElementType::I32) => $work::<i32>($job),
            Some(ElementType::I64) => $work::<i64>($job),
            Some(ElementType::F32) => $work::<f32>($job),
            Some(ElementType::F64) => $work::<f64>($job),
            Some(other) => {
                let message = format!("weights of type {other:?} are no lengths");
                Err(crate::error::Error::usage(message))
            }
        }
    };
}
pub(super) use by_weight;

/// A number in which lengths or widths of paths are given.
pub(crate) trait Shown: Copy + PartialEq {
    /// As values, where `unreached` is no value.
    fn values(numbers: Vec<Self>, unreached: Self) -> Values;
    /// As a double.
    fn number(self) -> f64;
}

impl Shown for i32 {
    fn values(numbers: Vec<Self>, unreached: Self) -> Values {
        let show = |number| if number == unreached { Values::NO_INTEGER } else { i64::from(number) };
        Values::Integer(numbers.into_iter().map(show).collect())
    }

    fn number(self) -> f64 {
        self.into()
    }
}

impl Shown for i64 {
    fn values(mut numbers: Vec<Self>, unreached: Self) -> Values {
        let missing = numbers.iter_mut().filter(|number| **number == unreached);
        missing.for_each(|number| *number = Values::NO_INTEGER);
        Values::Integer(numbers)
    }

    fn number(self) -> f64 {
        self as f64
    }
}

impl Shown for f32 {
    fn values(numbers: Vec<Self>, _: Self) -> Values {
        Values::Float(numbers.into_iter().map(f64::from).collect())
    }

    fn number(self) -> f64 {
        self.into()
    }
}

impl Shown for f64 {
    fn values(numbers: Vec<Self>, _: Self) -> Values {
        Values::Float(numbers)
    }

    fn number(self) -> f64 {
        self
    }
}

/// Arcs that leave the vertices that a search reached.
pub(super) fn arcs_of(graph: &impl Graph, reached: impl Fn(usize) -> bool) -> u64 {
    let vertices = (0..graph.num_vertices()).filter(|&v| reached(v));
    vertices.map(|v| graph.degree(Direction::Out, vertex(v)) as u64).sum()
}

/// The columns of a search by weights: the length or width of the path to each vertex, and its parent, if
/// there are parents.
pub(super) fn path_columns<N: Shown>(
    name: &'static str,
    numbers: Vec<N>,
    unreached: N,
    parents: Option<Vec<VertexId>>,
) -> Vec<AnswerColumn> {
    let values = N::values(numbers, unreached);
    let mut columns = vec![AnswerColumn { name, values, ranking: Ranking::Largest }];
    push_parents(&mut columns, parents);
    columns
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
    let (options, graph) = (sssp_options(job.params, target)?, &job.graph::<W>()?);
    let (found, seconds) = timed(|| sssp(graph, job.run, source, &options));
    let found = found?;
    job.verify("sssp", graph, |out, _| {
        check::sssp_to(out, source, options.target, &found.distances, found.parents.as_deref())
    })?;
    let arcs = arcs_of(graph, |v| found.distances[v] != W::UNREACHED);
    let columns = path_columns("distance", found.distances, W::UNREACHED, found.parents);
    Ok(Answer {
        columns,
        facts: vec![("reached", Fact::Count(found.reached as u64)), ("delta", Fact::Float(found.delta))],
        rounds: found.rounds,
        arcs,
        seconds,
        ..Answer::default()
    })
}

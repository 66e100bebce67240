//! The entries of paths by weight: integer lengths in buckets, negative lengths, and widths. The entry of
//! shortest paths with other lengths is in `search`.

use esker_algo::algorithm::paths::bellman_ford::{self, BellmanFordOptions, bellman_ford};
use esker_algo::algorithm::paths::wbfs::{self, WbfsOptions, wbfs};
use esker_algo::algorithm::paths::widest::{self, WidestMethod, WidestOptions, widest};
use esker_algo::check;
use esker_algo::lengths::Length;
use esker_algo::widths::Width;
use esker_store::StoredWeight;
use esker_store::format::ElementType;

use super::search::{PARENTS, SEARCH, Shown, arcs_of, by_weight, path_columns};
use crate::answer::{Answer, Fact};
use crate::catalogue::entry::{Entry, GraphReads, ListReads};
use crate::catalogue::job::{Job, timed};
use crate::catalogue::option::Opt;
use crate::catalogue::params::Params;
use crate::catalogue::question::Question;
use crate::catalogue::work::{Workload, one_way};
use crate::error::Result;

const SOURCE: Opt = Opt::vertex("source", "Vertex to start from").required();

pub(super) const WBFS: Entry = Entry {
    name: "wbfs",
    summary: "Shortest paths by integer weights: weighted breadth-first search, a bucket for each distance",
    question: Question::Paths,
    options: &[SOURCE, PARENTS],
    reads: GraphReads::few(ListReads::Both).weighted().ignoring_isolated().counting_copies(),
    work: |_, shape| {
        Ok(if shape.weight_bytes == 0 {
            SEARCH
        } else {
            Workload::new(17.0, 11.0, 6.1).over(4.9, 24.0, 18.0).times(one_way(shape))
        })
    },
    undirected: false,
    columns: &["distance", "parent"],
    figures: &["reached"],
    edges: false,
    verifies: "No edge shortens a distance, and a path of that length leads to each reached vertex",
    run: |job| by_weight!(job, wbfs_by),
    estimate: |shape, params, _| Ok(wbfs::estimate(shape, &wbfs_options(params))),
};

fn wbfs_options(params: &Params) -> WbfsOptions {
    WbfsOptions { parents: params.flag("parents") }
}

fn wbfs_by<W: StoredWeight + Length<Distance: Shown>>(job: &Job<'_>) -> Result<Answer> {
    let (source, graph) = (job.vertex("source")?, &job.graph::<W>()?);
    let (found, seconds) = timed(|| wbfs(graph, job.run, source, &wbfs_options(job.params)));
    let found = found?;
    job.verify("wbfs", graph, |out, _| check::sssp(out, source, &found.distances, found.parents.as_deref()))?;
    let arcs = arcs_of(graph, |v| found.distances[v] != W::UNREACHED);
    let columns = path_columns("distance", found.distances, W::UNREACHED, found.parents);
    let facts = vec![("reached", Fact::Count(found.reached as u64))];
    Ok(Answer { columns, facts, rounds: found.rounds, arcs, seconds, ..Answer::default() })
}

pub(super) const BELLMAN_FORD: Entry = Entry {
    name: "bellman-ford",
    summary: "Shortest paths from one source; weights may be negative, and a negative cycle is reported",
    question: Question::Paths,
    options: &[SOURCE, PARENTS],
    reads: GraphReads::scans(ListReads::Both).weighted().ignoring_isolated().counting_copies(),
    work: |_, shape| {
        Ok(if shape.weight_bytes == 0 {
            Workload::new(3.0, 3.7, 1.8)
        } else {
            Workload::new(10.0, 28.0, 11.0).over(8.5, 10.0, 41.0).times(one_way(shape))
        })
    },
    undirected: false,
    columns: &["distance", "parent"],
    figures: &["reached", "negative_cycle", "cycle_edges"],
    edges: false,
    verifies: "No edge shortens a distance and a path of that length exists, or the cycle exists and is negative",
    run: |job| by_weight!(job, bellman_ford_by),
    estimate: |shape, params, _| Ok(bellman_ford::estimate(shape, &bellman_ford_options(params))),
};

fn bellman_ford_options(params: &Params) -> BellmanFordOptions {
    BellmanFordOptions { parents: params.flag("parents") }
}

fn bellman_ford_by<W: StoredWeight + Length<Distance: Shown>>(job: &Job<'_>) -> Result<Answer> {
    let (source, graph) = (job.vertex("source")?, &job.graph::<W>()?);
    let options = bellman_ford_options(job.params);
    let (found, seconds) = timed(|| bellman_ford(graph, job.run, source, &options));
    let found = found?;
    job.verify("bellman-ford", graph, |out, _| match &found.negative_cycle {
        Some(cycle) => check::negative_cycle(out, source, &cycle.vertices, cycle.length),
        None => check::bellman_ford(out, source, &found.distances, found.parents.as_deref()),
    })?;
    let rounds = found.rounds;
    if let Some(cycle) = found.negative_cycle {
        // The answer is the edges of the cycle, in order: with a negative cycle, no distance is least.
        let next = cycle.vertices.iter().cycle().skip(1);
        let edges = cycle.vertices.iter().copied().zip(next.copied()).collect();
        let facts = vec![
            ("negative_cycle", Fact::Flag(true)),
            ("cycle_edges", Fact::Count(cycle.vertices.len() as u64)),
        ];
        return Ok(Answer { edges: Some(edges), facts, rounds, seconds, ..Answer::default() });
    }
    let arcs = arcs_of(graph, |v| found.distances[v] != W::UNREACHED);
    let columns = path_columns("distance", found.distances, W::UNREACHED, found.parents);
    let facts = vec![("reached", Fact::Count(found.reached as u64)), ("negative_cycle", Fact::Flag(false))];
    Ok(Answer { columns, facts, rounds, arcs, seconds, ..Answer::default() })
}

pub(super) const WIDEST: Entry = Entry {
    name: "widest",
    summary: "Widest paths from one source: paths whose smallest weight is as large as possible",
    question: Question::Paths,
    options: &[
        SOURCE,
        Opt::choice("method", &["buckets", "rounds"], "buckets: the widest first; rounds: as Bellman-Ford"),
        PARENTS,
    ],
    reads: GraphReads::few(ListReads::Both).weighted().ignoring_isolated().counting_copies(),
    work: |_, shape| {
        Ok(if shape.weight_bytes == 0 {
            Workload::new(3.0, 3.2, 1.6)
        } else {
            Workload::new(4.4, 9.8, 5.3).over(3.2, 10.0, 19.0).times(one_way(shape))
        })
    },
    undirected: false,
    columns: &["width", "parent"],
    figures: &["reached"],
    edges: false,
    verifies: "No edge widens a path, and a path of that width leads to each reached vertex",
    run: |job| by_weight!(job, widest_by),
    estimate: |shape, params, _| Ok(widest::estimate(shape, &widest_options(params))),
};

fn widest_options(params: &Params) -> WidestOptions {
    let method = match params.text("method") {
        Some("rounds") => WidestMethod::Rounds,
        _ => WidestMethod::Buckets,
    };
    WidestOptions { method, parents: params.flag("parents") }
}

fn widest_by<W: StoredWeight + Width<Width: Shown>>(job: &Job<'_>) -> Result<Answer> {
    let (source, graph) = (job.vertex("source")?, &job.graph::<W>()?);
    let (found, seconds) = timed(|| widest(graph, job.run, source, &widest_options(job.params)));
    let mut found = found?;
    job.verify("widest", graph, |out, _| {
        check::widest(out, source, &found.widths, found.parents.as_deref())
    })?;
    let arcs = arcs_of(graph, |v| found.widths[v] != W::UNREACHED);
    // The path from the source to itself has no edge and no width. The algorithm marks it with the largest
    // width, which an edge may have as well, so the answer leaves it empty.
    found.widths[source as usize] = W::UNREACHED;
    let columns = path_columns("width", found.widths, W::UNREACHED, found.parents);
    let facts = vec![("reached", Fact::Count(found.reached as u64))];
    Ok(Answer { columns, facts, rounds: found.rounds, arcs, seconds, ..Answer::default() })
}

//! `esker graph500 --processes`: the benchmark on a cluster.

use std::path::Path;
use std::time::Instant;

use esker::graph::Cancel;
use esker::graph500::{Graph500Options, Search};
use esker_cluster::disk::job::{ChangeJob, Graph500Job, KroneckerGraph, MEMORY_BYTES_MIN};
use esker_cluster::model::answer::{Cell, OwnedId};
use esker_cluster::{ChangeReport, Cluster, CreateOptions, HUB_DEGREE, News};

use super::workers::supervised;
use crate::failure::Failure;

/// What the benchmark measured.
pub(crate) struct ClusterBenchmark {
    /// Seconds to generate the edges once, in all processes together.
    pub(crate) generation_seconds: f64,
    /// Seconds of kernel 1: making the shards, starting processes, generating, exchanging and committing the
    /// edges.
    pub(crate) construction_seconds: f64,
    pub(crate) searches: Vec<Search>,
    /// Peak memory of the worker that took most.
    pub(crate) peak_memory_bytes: u64,
}

/// Memory limits of all processes together.
pub(crate) struct ClusterLimits {
    /// Of edges that are in no layer yet during construction; `None`: no limit.
    pub(crate) construction_bytes: Option<u64>,
    /// Of the searches. Half of it is for the validation of trees.
    pub(crate) search_bytes: u64,
}

/// Constructs the graph in a cluster at `path`, and searches from the roots.
pub(crate) fn measure(
    options: &Graph500Options,
    path: &Path,
    processes: usize,
    limits: &ClusterLimits,
    cancel: &Cancel,
    tell: &dyn Fn(&'static str, u64),
) -> Result<ClusterBenchmark, Failure> {
    let Graph500Options { scale, edge_factor, seed, .. } = *options;
    let graph = KroneckerGraph { scale, edge_factor, seed };
    let (roots, memory_bytes) = (options.roots, limits.search_bytes);
    let mut searching = Graph500Job { graph, version: 0, roots, memory_bytes };
    // Refused now, not after the construction.
    searching.trees_together(processes)?;
    let begin = Instant::now();
    let create = CreateOptions {
        shards: processes,
        directed: false,
        text_ids: false,
        weights: None,
        seed,
        hub_degree: HUB_DEGREE,
    };
    let mut cluster = Cluster::create(path, &create)?;
    let message = format!("graph500 --scale {scale}");
    let share = |all: u64| (all / processes.max(1) as u64).max(MEMORY_BYTES_MIN);
    let memory_bytes = limits.construction_bytes.map(share);
    let job = ChangeJob { message, generated: Some(graph), memory_bytes, ..ChangeJob::default() };
    let mut report = ChangeReport::default();
    let construct = |news: News<'_>| match news {
        News::Edges(edges) => tell("constructing", edges),
        News::Note(_) => {}
    };
    supervised(cancel.clone(), &construct, |supervisor| supervisor.change(&mut cluster, &job, &mut report))?;
    let construction_seconds = begin.elapsed().as_secs_f64();
    tell("searching", 0);
    searching.version = cluster.manifest().newest().number;
    let answer = supervised(cancel.clone(), &|_| {}, |supervisor| supervisor.graph500(&cluster, &searching))?;
    let searches = answer.rows.iter().map(|(root, cells)| match (root, &cells[..]) {
        (OwnedId::Int(root), [Cell::Float(seconds), Cell::Float(validate), Cell::Count(edges)]) => {
            Ok(Search { root: *root, seconds: *seconds, validate_seconds: *validate, edges: *edges })
        }
        _ => Err(Failure::Failed(
            "a worker answered with other columns: all must run the same Esker".to_owned(),
        )),
    });
    let generation = answer.outline.facts.iter().find(|(name, _)| name == "generation seconds");
    let peaks = report.workers.iter().chain(&answer.workers).map(|worker| worker.peak_memory_bytes);
    Ok(ClusterBenchmark {
        generation_seconds: generation.map_or(0.0, |(_, seconds)| *seconds),
        construction_seconds,
        searches: searches.collect::<Result<_, _>>()?,
        peak_memory_bytes: peaks.max().unwrap_or(0),
    })
}

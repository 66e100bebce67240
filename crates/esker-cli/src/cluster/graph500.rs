//! `esker graph500 --processes`: the benchmark on a cluster.

use std::path::Path;
use std::time::Instant;

use esker::graph::Cancel;
use esker::graph500::{Graph500Options, Search};
use esker_cluster::answer::{Cell, OwnedId};
use esker_cluster::job::{ChangeJob, Graph500Job, KroneckerGraph};
use esker_cluster::{ChangeReport, Cluster, CreateOptions, HUB_DEGREE};

use super::workers::supervised;
use crate::failure::Failure;

/// What the benchmark measured.
pub(crate) struct ClusterBenchmark {
    /// Seconds to generate the edges once, in all processes together.
    pub(crate) generation_seconds: f64,
    /// Seconds of kernel 1: making the shards, starting processes, generating, exchanging and committing the edges.
    pub(crate) construction_seconds: f64,
    pub(crate) searches: Vec<Search>,
    /// Peak memory of the worker that took most.
    pub(crate) peak_memory_bytes: u64,
}

/// Constructs the graph in a cluster at `path`, and searches from the roots. `validation_bytes` is the memory to validate trees of all processes together.
pub(crate) fn measure(
    options: &Graph500Options,
    path: &Path,
    processes: usize,
    validation_bytes: u64,
    cancel: &Cancel,
    tell: &dyn Fn(&'static str, u64),
) -> Result<ClusterBenchmark, Failure> {
    let Graph500Options { scale, edge_factor, seed, .. } = *options;
    let graph = KroneckerGraph { scale, edge_factor, seed };
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
    let job = ChangeJob { message, generated: Some(graph), ..ChangeJob::default() };
    let mut report = ChangeReport::default();
    let construct = |edges| tell("constructing", edges);
    supervised(cancel.clone(), &construct, |supervisor| supervisor.change(&mut cluster, &job, &mut report))?;
    let construction_seconds = begin.elapsed().as_secs_f64();
    tell("searching", 0);
    let validation_bytes = validation_bytes / processes.max(1) as u64;
    let version = cluster.manifest().newest().number;
    let job = Graph500Job { graph, version, roots: options.roots, validation_bytes };
    let answer = supervised(cancel.clone(), &|_| {}, |supervisor| supervisor.graph500(&cluster, &job))?;
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

//! What is computed on all shards together.
//!
//! Inside a shard the same scans and the same `edge_map` run as on one machine; between shards values of
//! shared vertices travel in blocks (`routes.rs`). Answers do not depend on the number of processes.

mod local;
mod handing_over;
mod degrees;
mod bfs;
mod wcc;
mod pagerank;
mod kcore;
mod colouring;
mod sssp;
mod full_lists;
mod triangles;
mod labels;
mod cdlp;
mod graph500;

use std::sync::Arc;

use esker_format::{Error, Result, trimmed_budget};
use esker_graph::{Budget, Run, RunOptions};

use crate::disk::cluster::Cluster;
use crate::disk::job::RunJob;
use crate::disk::shard::threads_each;
use crate::exchange::routes::{Routes, count_shared};
pub use crate::model::answer::AnswerSink;
use crate::model::needs::PROCESS_BYTES;
use crate::net::engine::Engine;
pub(crate) use colouring::{FreeColours, NO_COLOUR, colour_order};
pub use graph500::graph500;
use handing_over::hand_over;
use local::{FoundValues, Local, Options};
pub(crate) use local::{expect_undirected, unsuitable};

/// An algorithm of the cluster.
pub struct ClusterAlgorithm {
    /// Its name.
    pub name: &'static str,
    /// What it computes, in a line.
    pub about: &'static str,
    /// Names and meanings of its options.
    pub options: &'static [(&'static str, &'static str)],
    run: fn(&Local<'_, '_>, &mut Engine<'_>, &Options<'_>) -> Result<FoundValues>,
}

impl std::fmt::Debug for ClusterAlgorithm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClusterAlgorithm").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The algorithms of a cluster.
pub const ALGORITHMS: &[ClusterAlgorithm] = &[
    ClusterAlgorithm {
        name: "degrees",
        about: "number of edges of each vertex",
        options: &[],
        run: degrees::degrees,
    },
    ClusterAlgorithm {
        name: "bfs",
        about: "number of edges from the nearest of some vertices to each vertex that they reach",
        options: &[
            ("source", "a vertex to begin with (required)"),
            (
                "max-depth",
                "the greatest number of edges; vertices beyond count as unreached [default: no limit]",
            ),
        ],
        run: bfs::bfs,
    },
    ClusterAlgorithm {
        name: "wcc",
        about: "weakly connected components, each named by its least id",
        options: &[],
        run: wcc::wcc,
    },
    ClusterAlgorithm {
        name: "pagerank",
        about: "stationary distribution of a random surfer",
        options: &[
            ("damping", "chance to follow an edge, from 0 to 1 [default: 0.85]"),
            ("tolerance", "ends once all scores together change by less [default: 0.000001]"),
            ("rounds", "the greatest number of rounds [default: 100]"),
        ],
        run: pagerank::pagerank,
    },
    ClusterAlgorithm {
        name: "kcore",
        about: "core number of each vertex of an undirected graph",
        options: &[],
        run: kcore::kcore,
    },
    ClusterAlgorithm {
        name: "colouring",
        about: "colours that differ at the ends of every edge of an undirected graph",
        options: &[],
        run: colouring::colouring,
    },
    ClusterAlgorithm {
        name: "sssp",
        about: "length of the shortest path from a vertex to each vertex that it reaches",
        options: &[
            ("source", "the vertex to begin with (required)"),
            (
                "delta",
                "width of the windows of distances that are settled together, or auto [default: auto: the mean length]",
            ),
        ],
        run: sssp::sssp,
    },
    ClusterAlgorithm {
        name: "triangles",
        about: "number of triangles, and of those that each vertex is in",
        options: &[],
        run: triangles::triangles,
    },
    ClusterAlgorithm {
        name: "cdlp",
        about: "communities by label propagation, as Graphalytics defines it",
        options: &[("iterations", "number of iterations [default: 10]")],
        run: cdlp::cdlp,
    },
];

/// The algorithm of a name, if it has all these options.
///
/// # Errors
/// [`Error::Usage`] if there is none, or it lacks an option; the message lists those that there are.
pub fn find<'a>(name: &str, options: impl IntoIterator<Item = &'a str>) -> Result<&'static ClusterAlgorithm> {
    let names =
        |entries: &[ClusterAlgorithm]| entries.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", ");
    let entry = ALGORITHMS.iter().find(|entry| entry.name == name).ok_or_else(|| {
        Error::usage(format!("no algorithm of a cluster is called {name:?}: there are {}", names(ALGORITHMS)))
    })?;
    for option in options {
        if !entry.options.iter().any(|(known, _)| *known == option) {
            let known: Vec<_> = entry.options.iter().map(|(name, _)| *name).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(Error::usage(format!("{name} has no option {option:?}: it has {known}")));
        }
    }
    Ok(entry)
}

/// Runs an algorithm on the shard of this process, together with all other processes, and hands over the rows
/// of the vertices that this shard owns.
///
/// # Errors
/// The first error of the shard, of an option or of the sink.
pub fn run(
    cluster: &Cluster,
    engine: &mut Engine<'_>,
    job: &RunJob,
    sink: &mut dyn AnswerSink,
) -> Result<()> {
    let entry = find(&job.algorithm, job.params.iter().map(|(name, _)| name.as_str()))?;
    let shard = engine.index();
    let budget = job.memory_bytes.map_or_else(Budget::default, trimmed_budget);
    let _process = budget.reserve("the process of a worker", PROCESS_BYTES)?;
    let options = RunOptions { threads: threads_each(engine.peers()), budget, ..RunOptions::default() };
    let run = Arc::new(Run::new(options)?);
    let store = cluster.open_shard(shard)?.under(Arc::clone(&run));
    let version = store.at(cluster.manifest().version(job.version)?.shards[shard])?;
    let view = version.view();
    let graph = view.graph::<()>(&run)?;
    // Without a limit nothing has to be counted.
    let placement = cluster.placement(job.version);
    let needed_bytes = match job.memory_bytes {
        Some(_) => {
            let shape = count_shared(&version, 0, &placement, engine)?;
            shape.needs(entry.name, job.top.is_some()).memory_bytes
        }
        None => 0,
    };
    let run = run.begin(&format!("{} on shard {shard}", entry.name), needed_bytes)?;
    let routes = Routes::new(&version, &placement, engine)?;
    let local =
        Local { version: &version, graph: &graph, run: &run, routes: &routes, owners: cluster.owners() };
    let (outline, cells) = (entry.run)(&local, engine, &Options(&job.params))?;
    let [vertices, sent] = engine.sum([routes.num_owned() as u64, engine.sent_bytes()])?;
    let outline = outline
        .with_fact("vertices", vertices as f64)
        .with_fact("bytes sent", sent as f64)
        .with_fact("exchanges", engine.rounds() as f64);
    hand_over(&local, outline, &cells, job.top, sink)
}

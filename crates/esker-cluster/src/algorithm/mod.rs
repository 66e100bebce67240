//! What is computed on all shards together.
//!
//! Inside a shard the same scans and the same `edge_map` run as on one machine; between shards values of
//! shared vertices travel in blocks (`routes.rs`). Answers do not depend on the number of processes.

mod local;
pub(crate) mod entry;
mod handing_over;
pub(crate) mod degrees;
pub(crate) mod bfs;
pub(crate) mod wcc;
pub(crate) mod pagerank;
pub(crate) mod kcore;
pub(crate) mod colouring;
pub(crate) mod sssp;
mod full_lists;
pub(crate) mod triangles;
mod labels;
pub(crate) mod cdlp;
mod graph500;

use std::sync::Arc;

use esker_format::{Result, trimmed_budget};
use esker_graph::{Budget, Run, RunOptions};

use crate::disk::cluster::Cluster;
use crate::disk::job::RunJob;
use crate::disk::shard::threads_each;
use crate::exchange::routes::{Routes, count_shared};
pub use crate::model::answer::AnswerSink;
use crate::model::needs::PROCESS_BYTES;
use crate::net::engine::Engine;
pub(crate) use colouring::{FreeColours, NO_COLOUR, colour_order};
pub use entry::{ClusterAlgorithm, RunOption};
pub use graph500::graph500;
use handing_over::hand_over;
use local::{Local, Options};
pub(crate) use local::{expect_undirected, no_vertex};

/// Runs an algorithm on the shard of this process, together with all other processes, and hands over the rows
/// of the vertices that this shard owns.
///
/// # Errors
/// The first error of the shard, of an option or of the sink.
pub(crate) fn run(
    entry: &ClusterAlgorithm,
    cluster: &Cluster,
    engine: &mut Engine<'_>,
    job: &RunJob,
    sink: &mut dyn AnswerSink,
) -> Result<()> {
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
            shape.needs((entry.needs)(&shape), job.top.is_some()).memory_bytes
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

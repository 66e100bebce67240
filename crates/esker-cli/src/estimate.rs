//! `esker estimate`: what a computation will need.

use clap::Args;
use esker::algo::Shape;
use esker::catalogue::{Resources, find};
use esker::graph::{Direction, Remaining, Run, VertexId};
use esker::store::{Snapshot, Store};
use serde_json::json;

use crate::algorithm::{AlgorithmArgs, list};
use crate::at::AtArgs;
use crate::failure::Outcome;
use crate::resources::ResourceArgs;
use crate::size::bytes;
use crate::text;

/// Memory of the algorithm's own arrays and bytes of lists that it reads, without running it.
#[derive(Debug, Args)]
#[command(after_help = list())]
pub(crate) struct EstimateCommand {
    /// The algorithm
    algorithm: String,
    /// The database
    database: String,
    #[command(flatten)]
    at: AtArgs,
    #[command(flatten)]
    options: AlgorithmArgs,
    /// For a deterministic run
    #[arg(long)]
    deterministic: bool,
    #[command(flatten)]
    resources: ResourceArgs,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

/// What estimates depend on.
pub(crate) fn shape_of(snapshot: &Snapshot, weighted: bool) -> Shape {
    Shape {
        num_vertices: snapshot.num_vertices() as u64,
        num_arcs: snapshot.num_arcs(),
        directed: snapshot.is_directed(),
        in_edges: snapshot.has(Direction::In),
        weight_bytes: match snapshot.weight_type() {
            Some(element) if weighted => element.bytes() as u64,
            _ => 0,
        },
    }
}

impl EstimateCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        let entry = find(&self.algorithm)?;
        let snapshot = self.at.snapshot(&Store::open(&self.database)?)?;
        let threads = match self.resources.threads() {
            0 => std::thread::available_parallelism().map_or(1, Into::into),
            threads => threads,
        };
        let resources = Resources { threads, deterministic: self.deterministic };
        let present = snapshot.num_present(&Run::with_threads(1)?)? as u64;
        let shape = Shape { num_vertices: present, ..shape_of(&snapshot, entry.weighted) };
        let mut estimate = entry.estimate(shape, &self.options.0, resources)?;
        let numbers = snapshot.num_vertices() as u64;
        if present < numbers {
            estimate.memory_bytes += Remaining::bytes(numbers, numbers - present);
        }
        let lists = shape.weighted_list_bytes() * if shape.directed && shape.in_edges { 2 } else { 1 };
        let limit = self.resources.memory_bytes();
        if self.json {
            return text::json(&json!({
                "algorithm": entry.name,
                "memory_bytes": estimate.memory_bytes,
                "read_bytes": estimate.read_bytes,
                "graph_bytes": lists,
                "fits": estimate.memory_bytes <= limit,
                "memory_limit_bytes": limit,
                "vertex_id_bytes": size_of::<VertexId>(),
            }));
        }
        let verdict = if estimate.memory_bytes <= limit { "fits" } else { "does NOT fit" };
        text::facts(&[
            (
                "memory".to_owned(),
                format!("{} ({verdict} the limit of {})", bytes(estimate.memory_bytes), bytes(limit)),
            ),
            (
                "reads".to_owned(),
                format!(
                    "{} of lists at most, from the page cache where they fit",
                    bytes(estimate.read_bytes)
                ),
            ),
            ("graph".to_owned(), format!("{} of lists on disk, mapped", bytes(lists))),
        ])
    }
}

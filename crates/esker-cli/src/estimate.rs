//! `esker estimate`: what a computation will need.

use clap::Args;
use esker::catalogue::{Entry, Params};
use esker::graph::VertexId;
use esker::plan::{estimate_on, shape_of};
use esker::store::Store;
use serde_json::json;

use crate::algorithm::{PerAlgorithm, SharedArgs};
use crate::at::AtArgs;
use crate::failure::{Failure, Outcome};
use crate::residency::{AccessArgs, explain, plan_json, summary};
use crate::resources::ResourceArgs;
use crate::size::bytes;
use crate::text;

/// Estimate the memory and disk reads of an algorithm
///
/// Shows the memory of the algorithm's own arrays, the bytes of lists that it reads, and the encoding and residency that a run would
/// choose, without running it. `esker estimate ALGORITHM --help` shows the options of an algorithm.
#[derive(Debug, Args)]
pub(crate) struct EstimateCommand {
    #[command(flatten)]
    estimate: PerAlgorithm<EstimateArgs>,
}

/// The options that all algorithms share.
#[derive(Debug, Args)]
#[command(next_help_heading = "Common options")]
struct EstimateArgs {
    /// The database
    database: String,
    #[command(flatten)]
    at: AtArgs,
    #[command(flatten)]
    access: AccessArgs,
    /// For a deterministic run
    #[arg(long)]
    deterministic: bool,
    #[command(flatten)]
    resources: ResourceArgs,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

impl SharedArgs for EstimateArgs {
    const NEEDS_REQUIRED: bool = false;
}

impl EstimateCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        let PerAlgorithm { entry, params, shared } = &self.estimate;
        shared.carry_out(entry, params)
    }
}

impl EstimateArgs {
    fn carry_out(&self, entry: &Entry, params: &Params) -> Outcome {
        let snapshot = self.at.snapshot(&Store::open(&self.database)?)?;
        let resources = self.resources.of_run(self.deterministic);
        let estimate = estimate_on(&snapshot, entry, params, &resources)?;
        let shape = shape_of(&snapshot, entry.reads.weights)?;
        let lists = shape.weighted_list_bytes() * if shape.directed && shape.in_edges { 2 } else { 1 };
        let limit = resources.memory_bytes;
        let plan = match self.access.plan(&snapshot, entry, params, &resources) {
            Ok(plan) => Ok(plan),
            Err(Failure::Failed(refusal)) => Err(refusal),
            Err(failure) => return Err(failure),
        };
        if self.json {
            return text::json(&json!({
                "algorithm": entry.name,
                "memory_bytes": estimate.memory_bytes,
                "read_bytes": estimate.read_bytes,
                "graph_bytes": lists,
                "fits": plan.is_ok(),
                "memory_limit_bytes": limit,
                "vertex_id_bytes": size_of::<VertexId>(),
                "plan": plan.as_ref().ok().map(|plan| plan_json(plan, &snapshot, &resources)).transpose()?,
                "refusal": plan.as_ref().err(),
            }));
        }
        let verdict = if estimate.memory_bytes <= limit { "fits" } else { "does NOT fit" };
        let memory = format!("{} ({verdict} the limit of {})", bytes(estimate.memory_bytes), bytes(limit));
        let reads = format!("{} of lists at most, from memory where they fit", bytes(estimate.read_bytes));
        let mut rows = vec![
            ("memory".to_owned(), memory),
            ("reads".to_owned(), reads),
            ("graph".to_owned(), format!("{} of lists, uncompressed", bytes(lists))),
        ];
        match &plan {
            Ok(plan) if self.access.explain => {
                rows.extend(explain(plan, &snapshot, entry, &resources)?);
            }
            Ok(plan) => rows.push(("a run reads".to_owned(), summary(plan, &snapshot)?)),
            Err(refusal) => rows.push(("a run".to_owned(), format!("is refused: {refusal}"))),
        }
        text::facts(&rows)
    }
}

//! `esker estimate`: what a computation will need.

use clap::Args;
use esker::catalogue::{Entry, Params};
use esker::graph::VertexId;
use esker::plan::estimate_on;
use serde_json::json;

use crate::args::actual::price_rows;
use crate::args::algorithm::{PerAlgorithm, SharedArgs};
use crate::args::at::AtArgs;
use crate::args::choice::{ChoiceArgs, needs_window};
use crate::args::residency::{AccessArgs, estimate_rows, explain, list_bytes, summary};
use crate::args::resources::ResourceArgs;
use crate::args::window_args::TIME_HELP;
use crate::failure::{Failure, Outcome};
use crate::interrupt::cancel_on_signals;
use crate::language::CommandLine;
use crate::session::opening::open_store;
use crate::show::text;

/// Estimate the time, the memory and the disk reads of an algorithm
///
/// Shows the memory of the algorithm's own arrays, the bytes of lists that it reads, the encoding and
/// residency that a run would choose, and the time that it is predicted to take, without running it. Times
/// follow from the rates that `esker doctor` measured; without them, from those of another machine. `esker
/// estimate ALGORITHM --help` shows the options of an algorithm.
#[derive(Debug, Args)]
pub(crate) struct EstimateCommand {
    #[command(flatten)]
    estimate: PerAlgorithm<EstimateArgs>,
}

/// The options that all algorithms share.
#[derive(Debug, Args)]
#[command(next_help_heading = "Common options")]
#[command(mut_args(needs_window))]
struct EstimateArgs {
    /// The database
    database: String,
    #[command(flatten)]
    at: AtArgs,
    #[command(flatten)]
    choice: ChoiceArgs,
    /// Edge property that is the weight [default: the weight of the import]
    #[arg(long, value_name = "NAME")]
    weight: Option<String>,
    #[arg(long, value_name = "NAME", help = TIME_HELP, help_heading = "Windows")]
    time: Option<String>,
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
        self.estimate.carry_out(|requested| requested.shared.carry_out(requested.entry, &requested.params))
    }
}

impl EstimateArgs {
    fn carry_out(&self, entry: &Entry, params: &Params) -> Outcome {
        let cancel = cancel_on_signals()?;
        let (store, bar) = open_store(self.database.as_ref(), &self.resources, &cancel)?;
        let (at, until) = self.choice.version(&self.at);
        let version = at.version(&store);
        bar.finish();
        let run = self.resources.run(&cancel, 0, self.deterministic, None)?;
        let (weight, time) = (self.weight.as_deref(), self.time.as_deref());
        let version = version?;
        self.choice.expect_end(&at, &version.view())?;
        let view = self.choice.of(version.view(), weight, time, until.as_ref(), &run)?.view;
        drop(run);
        let resources = self.resources.of_run(self.deterministic);
        let plan = match self.access.plan(&view, entry, params, &resources) {
            Ok(plan) => Ok(plan),
            Err(Failure::Failed(refusal)) => Err(refusal),
            Err(failure) => return Err(failure),
        };
        let estimate = match &plan {
            Ok(plan) => plan.estimate,
            Err(_) => estimate_on(&view, entry, params, &resources)?,
        };
        let lists = list_bytes(&view, entry)?;
        if self.json {
            return text::json(&json!({
                "algorithm": entry.name,
                "memory_bytes": estimate.memory_bytes,
                "read_bytes": estimate.read_bytes,
                "graph_bytes": lists,
                "fits": plan.is_ok(),
                "memory_limit_bytes": resources.memory.bytes(),
                "vertex_id_bytes": size_of::<VertexId>(),
                "plan": plan.as_ref().ok().map(|plan| plan.to_json(&view, &resources, &CommandLine)).transpose()?,
                "refusal": plan.as_ref().err(),
            }));
        }
        let mut rows = estimate_rows(estimate, lists, &resources);
        match &plan {
            Ok(plan) if self.access.explain => {
                rows = explain(plan, &view, entry, &resources)?;
            }
            Ok(plan) => {
                rows.push(("a run reads".to_owned(), summary(plan, &view)?));
                rows.extend(price_rows(&plan.chosen().price));
            }
            Err(refusal) => rows.push(("a run".to_owned(), format!("is refused: {refusal}"))),
        }
        text::facts(&rows)
    }
}

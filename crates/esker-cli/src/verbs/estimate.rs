//! `esker estimate`: what a computation will need.

use clap::Args;
use esker::computation::Computation;
use esker::graph::VertexId;
use esker::session::VersionSource;
use esker::store::ErrorKind;
use serde_json::json;

use crate::args::actual::price_rows;
use crate::args::algorithm::{PerAlgorithm, Requested, SharedArgs};
use crate::args::at::AtArgs;
use crate::args::choice::{ChoiceArgs, needs_window, select};
use crate::args::residency::{AccessArgs, estimate_rows, explain, list_bytes, summary};
use crate::args::resources::ResourceArgs;
use crate::args::window_args::TIME_HELP;
use crate::failure::{Failure, Outcome};
use crate::interrupt::cancel_on_signals;
use crate::language::{CommandLine, said};
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

impl SharedArgs for EstimateArgs {}

impl EstimateCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        self.estimate.carry_out(|requested| requested.shared.carry_out(requested))
    }
}

impl EstimateArgs {
    fn carry_out(&self, requested: &Requested<Self>) -> Outcome {
        let entry = requested.entry;
        let cancel = cancel_on_signals()?;
        let (store, bar) = open_store(self.database.as_ref(), &self.resources, &cancel)?;
        let selection = self.choice.selection(&self.at, self.weight.as_deref(), self.time.as_deref())?;
        let version = store.selected(selection.selector());
        bar.finish();
        let run = self.resources.run(&cancel, 0, self.deterministic, None)?;
        let view = select(&selection, &version?, &run)?.view;
        let params = &requested.params_on(view.version(), &run)?;
        let computation = Computation::of(entry, params).reading(self.access.request());
        computation.check(&view, &run)?;
        drop(run);
        let resources = self.resources.of_run(self.deterministic);
        let planned = match computation.plan(&view, &resources).map_err(Failure::from) {
            Ok(planned) => Ok(planned),
            Err(Failure::Library(refusal)) if refusal.kind == ErrorKind::OverBudget => {
                Err(said(&refusal.message))
            }
            Err(failure) => return Err(failure),
        };
        let estimate = match &planned {
            Ok(planned) => planned.plan.estimate,
            Err(_) => computation.estimate(&view, &resources)?,
        };
        let lists = list_bytes(&view, entry)?;
        if self.json {
            return text::json(&json!({
                "algorithm": entry.name,
                "memory_bytes": estimate.memory_bytes,
                "read_bytes": estimate.read_bytes,
                "graph_bytes": lists,
                "fits": planned.is_ok(),
                "memory_limit_bytes": resources.memory.bytes(),
                "vertex_id_bytes": size_of::<VertexId>(),
                "plan": planned.as_ref().ok().map(|planned| planned.to_json(&CommandLine)).transpose()?,
                "refusal": planned.as_ref().err(),
            }));
        }
        let mut rows = estimate_rows(estimate, lists, &resources);
        match planned.as_ref().map(|planned| &planned.plan) {
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

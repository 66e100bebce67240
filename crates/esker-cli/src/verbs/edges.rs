//! `esker edges`: edges as rows, and what they add up to.

use std::path::PathBuf;

use clap::{Arg, Args};
use esker::graph::Run;
use esker::grouping::{GroupQuery, edge_columns, group_edges, list_edges};
use esker::session::VersionSource;
use esker::store::View;
use esker::window::{Span, Times};

use crate::args::at::AtArgs;
use crate::args::choice::{ChoiceArgs, select};
use crate::args::grouping::{GroupArgs, SortArgs};
use crate::args::resources::ResourceArgs;
use crate::args::window_args::TIME_HELP;
use crate::failure::{Failure, Outcome};
use crate::interrupt::cancel_on_signals;
use crate::session::opening::open_store;
use crate::show::rows::RowTable;
use crate::verbs::vertices::list_rows;

/// List edges, or group them and add up their properties
///
/// Without groups and measures, each edge is a row with all its properties. An undirected edge is one row; by
/// `vertex` it counts for both of its ends.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  esker edges pay.esker --group-by source --sum amount --count --top 10
  esker edges pay.esker --group-by target.country,kind --mean amount --where 'amount > 100'
  esker edges pay.esker --every 7d --time at --sum amount
  esker edges pay.esker --sort amount --top 5")]
#[command(mut_args(of_edges))]
pub(crate) struct EdgesCommand {
    /// The database
    database: PathBuf,
    #[command(flatten)]
    at: AtArgs,
    #[command(flatten)]
    groups: GroupArgs,
    /// Group by steps of this length of time, too: the column `until` is the end of the step
    #[arg(long, value_name = "LENGTH", help_heading = "Groups")]
    every: Option<Span>,
    #[command(flatten)]
    sort: SortArgs,
    #[arg(long, value_name = "NAME", help = TIME_HELP, help_heading = "Windows")]
    time: Option<String>,
    #[command(flatten)]
    choice: ChoiceArgs,
    #[command(flatten)]
    resources: ResourceArgs,
}

/// Hides the choices that are refused: edges are listed as they are stored. `--closed` needs `--window`.
fn of_edges(argument: Arg) -> Arg {
    match argument.get_id().as_str() {
        "reverse" | "as_undirected" | "copies" | "combine" | "all_vertices" => argument.hide(true),
        "closed" => argument.requires("window"),
        _ => argument,
    }
}

impl EdgesCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        self.sort.round.apply();
        if self.every.is_none()
            && !self.choice.has_window()
            && (self.time.is_some() || self.choice.unit().is_some())
        {
            return Err(Failure::Usage("--time and --time-unit need --window or --every".to_owned()));
        }
        let cancel = cancel_on_signals()?;
        let run = self.resources.run(&cancel, 0, false, None)?;
        let selection = self.choice.selection(&self.at, None, self.time.as_deref())?;
        let (store, bar) = open_store(&self.database, &self.resources, &cancel)?;
        let version = store.selected(selection.selector());
        bar.finish();
        let selected = select(&selection, &version?, &run)?;
        if !self.groups.asks() && self.every.is_none() {
            return self.list(&selected.view, &run);
        }
        // Steps lie in the whole range of the times; those of a window are the last of them.
        let times =
            self.every.map(|_| Times::of(&selected.view, self.time.as_deref(), self.choice.unit(), &run));
        let times = times.transpose()?.map(|times| match &selected.times {
            Some(of_window) => times.under(&of_window.rules),
            None => times,
        });
        let query = GroupQuery {
            by: self.groups.keys()?,
            every: self.every,
            measures: self.groups.measures(),
            order: self.sort.order_of_groups(self.groups.has_keys() || self.every.is_some())?,
        };
        let table = group_edges(&selected.view, times.as_ref(), &query, &run)?;
        let mut rows = RowTable::of(&table.columns);
        for row in table.rows()? {
            rows.push(row);
        }
        rows.print(self.sort.format())
    }

    fn list(&self, view: &View, run: &Run) -> Outcome {
        list_rows(&edge_columns(view), &self.sort, |order, take| list_edges(view, order, run, take))
    }
}

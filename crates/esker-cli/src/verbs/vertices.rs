//! `esker vertices`: vertices as rows, and what they add up to.

use std::path::PathBuf;

use clap::Args;
use esker::grouping::{
    GroupOrder, GroupQuery, VertexConditions, group_vertices, list_vertices, vertex_columns,
};
use esker::selection::Condition;

use crate::args::at::AtArgs;
use crate::args::grouping::{GroupArgs, LISTED_ROWS, SortArgs};
use crate::args::resources::ResourceArgs;
use crate::failure::Outcome;
use crate::interrupt::cancel_on_signals;
use crate::session::opening::open_store;
use crate::show::rows::{PrintedRows, RowTable};
use crate::show::text;

/// List vertices, or group them and add up their properties
///
/// Without groups and measures, each vertex is a row with all its properties.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  esker vertices pay.esker --where 'balance > 1000 and country is not null' --sort balance --top 10
  esker vertices pay.esker --group-by country --count --sum balance")]
pub(crate) struct VerticesCommand {
    /// The database
    database: PathBuf,
    #[command(flatten)]
    at: AtArgs,
    #[command(flatten)]
    groups: GroupArgs,
    #[command(flatten)]
    sort: SortArgs,
    /// Only vertices that meet a condition on their properties, in the words of SQL; all of several. The id
    /// is called vertex
    #[arg(long = "where", value_name = "CONDITION")]
    conditions: Vec<Condition>,
    #[command(flatten)]
    resources: ResourceArgs,
}

impl VerticesCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        self.sort.round.apply();
        let cancel = cancel_on_signals()?;
        let run = self.resources.run(&cancel, 0, false, None)?;
        let (store, bar) = open_store(&self.database, &self.resources, &cancel)?;
        let version = self.at.version(&store);
        bar.finish();
        let version = version?;
        let conditions = VertexConditions::of(&self.conditions, &version, &run)?;
        if !self.groups.asks() {
            return list_rows(&vertex_columns(&version), &self.sort, |order, take| {
                list_vertices(&version, &conditions, order, &run, take)
            });
        }
        let query = GroupQuery {
            by: self.groups.keys()?,
            every: None,
            measures: self.groups.measures(),
            order: self.sort.order_of_groups(self.groups.has_keys())?,
        };
        let table = group_vertices(&version, &conditions, &query, &run)?;
        let mut rows = RowTable::of(&table.columns);
        for row in table.rows()? {
            rows.push(row);
        }
        rows.print(self.sort.format())
    }
}

/// Takes the rows of a list.
pub(super) type TakeRow<'a> = &'a mut dyn FnMut(Vec<serde_json::Value>) -> esker::Result<()>;

/// Prints rows as they come from a list. A table has the first ones, and says so.
pub(super) fn list_rows(
    columns: &[String],
    sort: &SortArgs,
    list: impl FnOnce(&GroupOrder, TakeRow<'_>) -> esker::Result<()>,
) -> Outcome {
    let (order, is_cut) = sort.order_of_list()?;
    let mut printed = PrintedRows::new(sort.format());
    printed.add(RowTable::of(columns))?;
    let (mut count, mut failed) = (0, Ok(()));
    let listed = list(&order, &mut |row| {
        count += 1;
        if is_cut && count > LISTED_ROWS {
            return Ok(());
        }
        let mut rows = RowTable::of(columns);
        rows.push(row);
        failed = printed.add(rows);
        if failed.is_ok() { Ok(()) } else { Err(esker::graph::Stop::Cancelled.into()) }
    });
    failed?;
    listed?;
    printed.finish()?;
    if is_cut && count > LISTED_ROWS {
        text::remark(&format!("the first {LISTED_ROWS} rows; --top N shows more, --format csv all"));
    }
    Ok(())
}

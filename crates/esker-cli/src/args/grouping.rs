//! What `esker edges` and `esker vertices` compute of groups, and how they sort rows.

use clap::Args;
use esker::grouping::{GroupKey, GroupOrder, Measure, keys_of};

use crate::failure::Failure;
use crate::show::rounding::RoundArg;
use crate::show::rows::RowFormat;

/// Rows of a list that a table shows by itself.
pub(crate) const LISTED_ROWS: usize = 20;

/// Groups and their measures.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Groups")]
pub(crate) struct GroupArgs {
    /// Group by these, separated by commas: properties, and of edges also source, target, vertex (both ends),
    /// source.NAME, target.NAME and vertex.NAME. Without it, measures are of all rows
    #[arg(long, value_name = "KEY,...")]
    group_by: Vec<String>,
    #[command(flatten)]
    measures: MeasureArgs,
}

/// What is computed of rows.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Groups")]
pub(crate) struct MeasureArgs {
    /// Count the rows of a group
    #[arg(long)]
    count: bool,
    /// Add up a property; missing values are left out, as by the others
    #[arg(long, value_name = "NAME")]
    sum: Vec<String>,
    /// The mean of a property
    #[arg(long, value_name = "NAME")]
    mean: Vec<String>,
    /// The least value of a property
    #[arg(long, value_name = "NAME")]
    min: Vec<String>,
    /// The greatest value of a property
    #[arg(long, value_name = "NAME")]
    max: Vec<String>,
}

/// The order and the form of rows.
#[derive(Debug, Clone, Args)]
pub(crate) struct SortArgs {
    /// Sort by this column: of measures and of lists the greatest first, of keys the least [default: steps of
    /// time, else the first of sums, means, minima, maxima and the count]
    #[arg(long, value_name = "COLUMN")]
    sort: Option<String>,
    /// The least first
    #[arg(long, conflicts_with = "descending")]
    ascending: bool,
    /// The greatest first
    #[arg(long)]
    descending: bool,
    /// Show only the first N rows
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Form of the rows
    #[arg(long, value_enum, value_name = "FORM", default_value_t)]
    format: RowFormat,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    #[command(flatten)]
    pub(crate) round: RoundArg,
}

impl GroupArgs {
    /// Whether rows have keys by which they are told apart.
    pub(crate) fn has_keys(&self) -> bool {
        !self.group_by.is_empty()
    }

    /// Whether groups are asked for, not a list.
    pub(crate) fn asks(&self) -> bool {
        !self.group_by.is_empty() || !self.measures.measures().is_empty()
    }

    pub(crate) fn keys(&self) -> Result<Vec<GroupKey>, Failure> {
        let keys = self.group_by.iter().map(|keys| keys_of(keys));
        Ok(keys.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }

    /// As [`MeasureArgs::measures`].
    pub(crate) fn measures(&self) -> Vec<Measure> {
        self.measures.measures()
    }
}

impl MeasureArgs {
    /// Sums, means, minima, maxima, then the count: the first one sorts the rows.
    pub(crate) fn measures(&self) -> Vec<Measure> {
        let of = |names: &[String], measure: fn(String) -> Measure| {
            names.iter().cloned().map(measure).collect::<Vec<_>>()
        };
        let mut all = of(&self.sum, Measure::Sum);
        all.extend(of(&self.mean, Measure::Mean));
        all.extend(of(&self.min, Measure::Min));
        all.extend(of(&self.max, Measure::Max));
        all.extend(self.count.then_some(Measure::Count));
        all
    }
}

impl SortArgs {
    pub(crate) fn order(&self) -> GroupOrder {
        let ascending = self.ascending.then_some(true).or(self.descending.then_some(false));
        GroupOrder { column: self.sort.clone(), ascending, top: self.top }
    }

    /// That of groups; without groups, measures are one row, which has no order.
    pub(crate) fn order_of_groups(&self, has_groups: bool) -> Result<GroupOrder, Failure> {
        let order = self.order();
        let has_order = order.column.is_some() || order.ascending.is_some() || order.top.is_some();
        if has_order && !has_groups {
            let message = "--sort, --ascending, --descending and --top have no effect on measures of all rows, which are one row: --group-by makes groups";
            return Err(Failure::Usage(message.to_owned()));
        }
        Ok(order)
    }

    /// That of a list, of which a table for people shows the first rows; and whether it is such a table.
    pub(crate) fn order_of_list(&self) -> Result<(GroupOrder, bool), Failure> {
        self.expect_column()?;
        let is_cut = self.top.is_none() && self.format() == RowFormat::Table;
        let order = self.order();
        Ok((GroupOrder { top: if is_cut { Some(LISTED_ROWS + 1) } else { order.top }, ..order }, is_cut))
    }

    /// Refuses a direction of sorting without a column.
    pub(crate) fn expect_column(&self) -> Result<(), Failure> {
        if self.sort.is_none() && (self.ascending || self.descending) {
            let message = "--ascending and --descending of a list need --sort, which names the column";
            return Err(Failure::Usage(message.to_owned()));
        }
        Ok(())
    }

    pub(crate) fn format(&self) -> RowFormat {
        if self.json { RowFormat::Json } else { self.format }
    }
}

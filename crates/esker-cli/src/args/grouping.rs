//! What `esker edges` and `esker vertices` compute of groups, and how they sort rows.

use clap::Args;
use esker::grouping::{GroupKey, GroupOrder, Measure};

use crate::show::rows::RowFormat;

/// Groups and their measures.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Groups")]
pub(crate) struct GroupArgs {
    /// Group by these, separated by commas: properties, and of edges also source, target, vertex (both ends),
    /// source.NAME, target.NAME and vertex.NAME. Without it, measures are of all rows
    #[arg(long, value_name = "KEY,...", value_delimiter = ',')]
    group_by: Vec<String>,
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
    /// Sort by this column, the greatest first [default: steps of time, else the first measure]
    #[arg(long, value_name = "COLUMN")]
    sort: Option<String>,
    /// The least first
    #[arg(long)]
    ascending: bool,
    /// Show only the first N rows
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Form of the rows
    #[arg(long, value_enum, value_name = "FORM", default_value_t)]
    format: RowFormat,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

impl GroupArgs {
    /// Whether groups are asked for, not a list.
    pub(crate) fn asks(&self) -> bool {
        !self.group_by.is_empty() || !self.measures().is_empty()
    }

    pub(crate) fn keys(&self) -> Vec<GroupKey> {
        self.group_by.iter().map(|key| key.as_str().into()).collect()
    }

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
        GroupOrder { column: self.sort.clone(), ascending: self.ascending.then_some(true), top: self.top }
    }

    pub(crate) fn format(&self) -> RowFormat {
        if self.json { RowFormat::Json } else { self.format }
    }
}

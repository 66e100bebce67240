//! `--heads` of verbs that store a graph.

use std::path::Path;

use clap::Args;
use esker::graph::{Cancel, Run};
use esker::store::format::HeadOrder;
use esker::store::headed::Heads;
use esker::store::{Database, HeadedOptions};

use crate::args::resources::ResourceArgs;
use crate::args::size::{bytes, counted};
use crate::failure::Failure;
use crate::show::progress::Bar;

/// Which heads to store.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct HeadsArgs {
    /// Also store heads, the K neighbours of highest degree of each vertex; without K, as many as --memory
    /// holds. Runs with --residency headed then read them instead of all lists
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    heads: Option<Option<u32>>,
}

impl HeadsArgs {
    /// Whether heads are asked for.
    pub(crate) fn are_wanted(&self) -> bool {
        self.heads.is_some()
    }

    /// Stores the heads of a newly created database, if they are asked for. A failure leaves the database
    /// without heads.
    pub(crate) fn make_at(
        &self,
        path: &Path,
        resources: &ResourceArgs,
        cancel: &Cancel,
    ) -> Result<Option<Heads>, Failure> {
        if self.heads.is_none() {
            return Ok(None);
        }
        let bar = Bar::spinner(false);
        let run = resources.run(cancel, 0, false, Some(bar.on_round("heads")))?;
        let make = || {
            let database = Database::open(path, resources.of_database(&run))?;
            let heads = self.make(&database, resources, &run)?;
            database.close()?;
            Ok(heads)
        };
        let made = make();
        bar.finish();
        made.map_err(|failure: Failure| failure.after(&format!("imported to {}", path.display())))
    }

    /// The heads to store, within the memory limit.
    pub(crate) fn options(&self, resources: &ResourceArgs) -> Option<HeadedOptions> {
        let head_len = self.heads?.map(|length| length as usize);
        Some(HeadedOptions { head_len, memory_bytes: resources.limit().bytes() })
    }

    /// Stores the heads, if they are asked for.
    fn make(
        &self,
        database: &Database,
        resources: &ResourceArgs,
        run: &Run,
    ) -> Result<Option<Heads>, Failure> {
        let Some(options) = self.options(resources) else { return Ok(None) };
        Ok(Some(database.make_heads(options, run)?))
    }
}

/// `the first 16 neighbours of each vertex, 40 % of all, 12.3 MiB in memory`.
pub(crate) fn describe(heads: &Heads) -> String {
    let Heads { length, order, share, memory_bytes } = *heads;
    let neighbours = if length == 1 { "neighbour".to_owned() } else { format!("{length} neighbours") };
    let neighbours = match order {
        HeadOrder::First => format!("first {neighbours}"),
        HeadOrder::Degree => format!("{neighbours} of highest degree"),
    };
    format!(
        "the {neighbours} of each vertex, {:.0} % of all, {} in memory",
        share * 100.0,
        bytes(memory_bytes)
    )
}

/// The name of an order in reports.
pub(crate) const fn order_name(order: HeadOrder) -> &'static str {
    match order {
        HeadOrder::First => "first",
        HeadOrder::Degree => "degree",
    }
}

/// Why the newest version has no heads of `length` neighbours, and what to do.
pub(crate) fn missing(length: u64, database: &Path) -> String {
    format!(
        "a merge had no memory for its heads of {}: `esker compact {} --memory SIZE` with a higher limit makes them",
        counted(length, "neighbour", "neighbours"),
        database.display()
    )
}

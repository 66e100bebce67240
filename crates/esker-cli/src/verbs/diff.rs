//! `esker diff`: lists the differences between two versions.

use std::io::{BufWriter, IsTerminal, Write};
use std::path::PathBuf;

use clap::Args;
use esker::differences::{Differences, Style, summary_json};
use esker::import::export::Escaped;
use esker::store::diff::{DiffSummary, diff};
use esker::store::manifest::VersionSelector;

use crate::args::at::{number_of, parse_version};
use crate::args::resources::ResourceArgs;
use crate::args::selecting::WhereArgs;
use crate::args::size::count;
use crate::failure::Outcome;
use crate::interrupt::cancel_on_signals;
use crate::session::opening::open_store;
use crate::show::text;

/// List the differences between two versions
///
/// Prints the changes from version A to version B, one per line: `+ u v weight=3` is an added edge, `- u v
/// weight=3` a removed one, `~ u v weight=3 -> 5` one with changed properties; `+ u`, `- u` and `~ u name=old
/// -> new` are changes of vertices. An undirected edge is listed once. Where edges may be parallel, a number
/// says how many equal ones were added or removed, as in `-2 u v weight=3`. `esker commit` reads this format.
/// With --where or --kind, an edge that comes to meet the conditions is an added one, and one that no longer
/// meets them a removed one.
/// The time depends on the number of changes, not on the size of the graph.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  esker diff web.esker 3                      from version 3 to the latest
  esker diff web.esker monday 2026-11-21 --summary")]
pub(crate) struct DiffCommand {
    /// The database
    database: PathBuf,
    /// The version to start from: a number, a tag, a time, or latest
    #[arg(value_name = "A", value_parser = parse_version)]
    from: VersionSelector,
    /// The version to end at; it may be older than A
    #[arg(value_name = "B", default_value = "latest", value_parser = parse_version)]
    to: VersionSelector,
    /// Print only the numbers of changes
    #[arg(long)]
    summary: bool,
    #[command(flatten)]
    part: WhereArgs,
    /// Name the edges that are removed by their ids, where edges have some: committed to a copy of this
    /// database, the output then removes the same ones of parallel edges
    #[arg(long)]
    edge_ids: bool,
    /// Report as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    resources: ResourceArgs,
}

impl DiffCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        let cancel = cancel_on_signals()?;
        let run = self.resources.run(&cancel, 0, false, None)?;
        let (store, bar) = open_store(&self.database, &self.resources, &cancel)?;
        let (from, to) = (number_of(&store, &self.from)?, number_of(&store, &self.to)?);
        let opened = store.at(from).and_then(|a| Ok((a, store.at(to)?)));
        bar.finish();
        let (a, b) = opened?;
        let stdout = std::io::stdout().lock();
        let is_terminal = stdout.is_terminal() && !self.json;
        let out = BufWriter::with_capacity(1 << 16, stdout);
        // `esker commit` reads what is not for a person.
        let mut out: Box<dyn Write> = if is_terminal { Box::new(Escaped::new(out)) } else { Box::new(out) };
        if self.json {
            write!(out, "{{\"from\":{from},\"to\":{to},\"differences\":[")?;
        }
        let style = if self.json { Style::Json } else { Style::Script };
        let mut differences = Differences::new(&a, &b, style, &mut out);
        if self.edge_ids {
            differences = differences.naming_removed();
        }
        self.part.check(&[&a, &b])?;
        let conditions = self.part.quietly_on(&b, &run)?.zip(self.part.quietly_on(&a, &run)?);
        let mut selected = DiffSummary::default();
        let written = diff(&a, &b, &run, |difference| {
            let difference = match &conditions {
                Some((later, former)) => later.of_difference(former, difference)?,
                None => Some(difference),
            };
            let Some(difference) = difference else { return Ok(()) };
            selected.count(&difference);
            if self.summary { Ok(()) } else { differences.write(&difference) }
        });
        let written = written.and_then(|summary| differences.finish().map(|()| summary));
        let summary = written.or_else(|error| differences.break_off().and(Err(error)))?;
        drop(differences);
        let summary = if conditions.is_some() { selected } else { summary };
        if self.json {
            writeln!(out, "],\"summary\":{}}}", summary_json(&summary))?;
        }
        out.flush()?;
        drop(out);
        if self.json || !self.summary {
            return Ok(());
        }
        let rows = [
            ("edges added", summary.edges_added),
            ("edges removed", summary.edges_removed),
            ("edges changed", summary.edges_changed),
            ("vertices added", summary.vertices_added),
            ("vertices removed", summary.vertices_removed),
            ("vertex values changed", summary.values_changed),
        ];
        let rows: Vec<_> = rows.iter().map(|(name, number)| ((*name).to_owned(), count(*number))).collect();
        text::facts(&rows)
    }
}

//! `esker cluster follow`: an answer that follows the versions of a cluster.

use std::collections::HashMap;
use std::path::PathBuf;

use clap::Args;
use esker::store::Error;
use esker::store::manifest::VersionSelector;
use esker_cluster::FollowedVersion;
use esker_cluster::disk::job::FollowJob;
use esker_cluster::model::answer::{Cell, ColumnKind, OwnedId};
use serde_json::json;

use super::params::{algorithms, not_a_cluster};
use super::running::{cell_json, id_json, top_groups, top_values};
use super::tables::{ArrowStream, ArrowTable};
use super::workers::{HostsArg, number_of, supervised};
use crate::args::at::parse_version;
use crate::args::followed_rows::FollowedRowsArgs;
use crate::args::size::{count, counted, parse_bytes};
use crate::failure::{Failure, Outcome};
use crate::interrupt::cancel_on_signals;
use crate::show::progress::Bar;
use crate::show::rows::{PrintedRows, RowTable};
use crate::show::text;

const EXAMPLES: &str = "Examples:
  esker cluster follow wcc web.cluster   # until Ctrl-C
  esker cluster follow wcc web.cluster --top 3 --format csv
  esker cluster follow bfs web.cluster --source alice --memory 2GiB
  esker cluster follow colouring web.cluster --from 1 --once   # what each version so far changed";

/// Keep an answer up to date as versions are published, and print the changes
///
/// Computes the answer for the newest version, then waits for versions that other commands publish, and
/// prints the vertices whose values each version changed: the version, the vertex, its old value and its new
/// one. A worker process for each shard takes in what a version changed in it, at a cost in proportion to the
/// change; removals of edges cost more, see docs/concepts/cluster.md. Values are those of `esker cluster run`
/// on that version.
#[derive(Debug, Args)]
#[command(after_help = format!("{}\n\n{EXAMPLES}", algorithms(|entry| entry.live.is_some())))]
pub(super) struct ClusterFollowCommand {
    /// The algorithm: one of those below
    #[arg(value_parser = not_a_cluster)]
    algorithm: String,
    /// The cluster
    cluster: PathBuf,
    #[command(flatten)]
    hosts: HostsArg,
    /// bfs: the vertex to begin with
    #[arg(long, value_name = "ID")]
    source: Option<String>,
    /// Begin with this version instead of the newest: a number, a time (2026-11-21 or 2026-11-21T10:00:00Z),
    /// or latest
    #[arg(long, value_name = "VERSION", value_parser = parse_version)]
    from: Option<VersionSelector>,
    #[command(flatten)]
    rows: FollowedRowsArgs,
    /// Memory limit of each worker, such as 2GiB; refused with one that suffices for the versions there are
    /// if that is too little [default: none]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    memory: Option<u64>,
    /// Write an Arrow stream with a batch for each version, from the first one on: the vertices that it
    /// changed, their old values and new ones
    #[arg(long, conflicts_with_all = ["format", "json", "top", "round"])]
    arrow: bool,
}

/// What was printed.
struct PrintedChanges {
    rows: PrintedRows,
    versions: u64,
    ranked: RankedRows,
    stream: Option<ArrowStream>,
}

/// What the first rows are taken from: the command has the values of all vertices.
#[derive(Default)]
struct RankedRows {
    values: HashMap<OwnedId, [Cell; 1]>,
    /// Members of each component.
    groups: HashMap<OwnedId, u64>,
    /// The rows that were printed last.
    last: Option<RowTable>,
}

impl RankedRows {
    /// Takes what a version changed, and returns the first rows if they are others than before.
    fn take(&mut self, followed: &FollowedVersion, len: usize) -> Option<RowTable> {
        let columns = &followed.outline.columns;
        let is_grouped = matches!(columns.first(), Some((_, ColumnKind::Id)));
        for (id, cells) in &followed.rows {
            let [old, new] = [&cells[0], &cells[1]];
            if !is_grouped {
                self.values.insert(id.clone(), [new.clone()]);
                continue;
            }
            if let Cell::Id(group) = old
                && let Some(members) = self.groups.get_mut(group)
            {
                *members -= 1;
                if *members == 0 {
                    self.groups.remove(group);
                }
            }
            if let Cell::Id(group) = new {
                *self.groups.entry(group.clone()).or_default() += 1;
            }
        }
        let found = match columns.first() {
            Some((name, ColumnKind::Id)) => {
                top_groups(name, self.groups.iter().map(|(id, members)| (id, *members)), len)
            }
            _ => top_values(columns, self.values.iter().map(|(id, cells)| (id, &cells[..])).collect(), len),
        };
        if self.last.as_ref() == Some(&found) {
            return None;
        }
        self.last = Some(found.clone());
        Some(found)
    }
}

impl ClusterFollowCommand {
    pub(super) fn carry_out(&self) -> Outcome {
        if self.rows.round.is_given() {
            let message = "--round has no effect: the values that clusters follow are whole numbers and ids";
            return Err(Failure::Usage(message.to_owned()));
        }
        let format = self.rows.format()?;
        let cancel = cancel_on_signals()?;
        let cluster = self.hosts.open(&self.cluster)?;
        let newest = cluster.manifest().newest().number;
        let params = self.source.iter().map(|source| ("source".to_owned(), source.clone()));
        let job = FollowJob {
            algorithm: self.algorithm.clone(),
            params: params.collect(),
            version: self.from.as_ref().map_or(Ok(newest), |from| number_of(&cluster, from))?,
            initial: self.rows.initial || self.rows.top.is_some(),
            memory_bytes: self.memory,
        };
        let bar = Bar::spinner(false);
        bar.set(&self.algorithm, 0.0, String::new());
        let (rows, ranked) = (PrintedRows::new(format), RankedRows::default());
        let mut printed = PrintedChanges { rows, versions: 0, ranked, stream: None };
        let (mut failed, text_ids) = (None, cluster.manifest().text_ids);
        let mut take = |followed: FollowedVersion| {
            bar.finish();
            self.print(&followed, text_ids, &mut printed).map_err(|failure| {
                failed = Some(failure);
                // Ends the workers; the failure itself is reported.
                Error::invalid("cannot print".to_owned())
            })
        };
        let ended = supervised(cancel, &|_| {}, |supervisor| {
            supervisor.follow(&cluster, &job, self.rows.once, &mut take)
        });
        bar.finish();
        if let Some(failure) = failed {
            return Err(failure);
        }
        match &mut printed.stream {
            Some(stream) => stream.finish()?,
            None => printed.rows.finish()?,
        }
        // The first one is what the others are compared with.
        if printed.versions > 0 {
            text::remark(&format!("followed {}", counted(printed.versions - 1, "version", "versions")));
        }
        ended?;
        Ok(())
    }

    fn print(&self, followed: &FollowedVersion, text_ids: bool, printed: &mut PrintedChanges) -> Outcome {
        let is_first = printed.versions == 0;
        printed.versions += 1;
        if is_first {
            let facts: Vec<String> = followed
                .outline
                .facts
                .iter()
                .map(|(name, value)| format!("{name} {}", count(*value as u64)))
                .collect();
            text::remark(&format!(
                "following {} from version {}: {}",
                self.algorithm,
                followed.version,
                facts.join(", ")
            ));
        }
        if self.arrow {
            return print_arrow(followed, text_ids, &mut printed.stream);
        }
        let rows = match self.rows.top {
            Some(len) => {
                let Some(found) = printed.ranked.take(followed, len) else { return Ok(()) };
                let mut of_version = RowTable::default();
                of_version.append("version", &json!(followed.version), found.or_missing());
                of_version
            }
            None => changes(followed),
        };
        printed.rows.add(rows)
    }
}

/// Writes a batch, after the head of the stream if it is the first.
fn print_arrow(followed: &FollowedVersion, text_ids: bool, stream: &mut Option<ArrowStream>) -> Outcome {
    if stream.is_none() {
        let kind = followed.outline.columns.first().map_or(ColumnKind::Count, |(_, kind)| *kind);
        let columns = ["old", "new"].map(|name| (name.to_owned(), kind));
        let about = json!({ "version": followed.version }).to_string();
        *stream = Some(ArrowStream::begin(ArrowTable::new(&columns, text_ids, &about))?);
    }
    stream.as_mut().map_or(Ok(()), |stream| stream.write(&followed.rows))
}

/// A row for each vertex whose value a version changed.
fn changes(followed: &FollowedVersion) -> RowTable {
    let mut rows = RowTable::of(["version", "vertex", "old", "new"]);
    for (id, cells) in &followed.rows {
        let [old, new] = [&cells[0], &cells[1]].map(cell_json);
        rows.push(vec![json!(followed.version), id_json(id), old, new]);
    }
    rows
}

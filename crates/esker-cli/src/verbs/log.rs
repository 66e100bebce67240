//! `esker log`: lists the versions of a database.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use esker::graph::Run;
use esker::store::format::VersionRecord;
use esker::store::manifest::format_time;
use esker::store::{CommitInLog, Store};
use serde_json::json;

use crate::args::at::{AtArgs, InLog, number_of};
use crate::args::size::counted;
use crate::failure::Outcome;
use crate::show::text;

/// List the versions of a database
///
/// Prints one version per line, newest first: number, event time, edges, vertices, tags, the time of the
/// commit if it is another, message. If the log holds many changes that are in no layer, its versions show
/// the number of changes instead of edges.
#[derive(Debug, Args)]
pub(crate) struct LogCommand {
    /// The database
    database: PathBuf,
    /// Show at most N versions
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
    #[command(flatten)]
    at: AtArgs,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

impl LogCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        let store = Store::open(&self.database)?;
        let last = self.at.at.as_ref().map(|selector| number_of(&store, selector)).transpose()?;
        // Only the changes themselves tell the number of edges after a commit in the log.
        let newest = InLog::of(&store)?.are_few().then(|| store.latest()).transpose()?;
        let in_log: BTreeMap<u64, CommitInLog> =
            store.commits_in_log()?.into_iter().map(|commit| (commit.version, commit)).collect();
        let edges_of = |version: &VersionRecord| match &newest {
            Some(newest) => newest.manifest().version(version.number).map(|known| known.num_edges),
            None => (!in_log.contains_key(&version.number)).then_some(version.num_edges),
        };
        let changes_of = |version: &VersionRecord| in_log.get(&version.number).map(|commit| commit.num_edges);
        let versions = store.versions()?;
        let mut tags: BTreeMap<u64, Vec<&str>> = BTreeMap::new();
        for (name, &version) in store.manifest().tags.iter() {
            tags.entry(version).or_default().push(name);
        }
        let shown = versions.iter().rev().filter(|version| last.is_none_or(|last| version.number <= last));
        let shown: Vec<&VersionRecord> = shown.take(self.limit.unwrap_or(usize::MAX)).collect();
        let removed = store.removed_by_version(&Run::with_threads(1)?)?;
        let vertices_of = |version: &VersionRecord| {
            let place = removed.partition_point(|&(since, _)| since <= version.number);
            version.num_vertices - place.checked_sub(1).map_or(0, |last| removed[last].1)
        };
        let tags_of = |version: &VersionRecord| tags.get(&version.number).cloned().unwrap_or_default();
        if self.json {
            let versions: Vec<_> = shown
                .iter()
                .map(|version| {
                    json!({
                        "version": version.number,
                        "time": format_time(version.time_ms),
                        "time_ms": version.time_ms,
                        "committed": format_time(version.committed_ms),
                        "committed_ms": version.committed_ms,
                        "message": version.message,
                        "tags": tags_of(version),
                        "vertices": vertices_of(version),
                        "edges": edges_of(version),
                        "changes_in_log": changes_of(version),
                    })
                })
                .collect();
            return text::json(
                &json!({ "database": self.database.display().to_string(), "versions": versions }),
            );
        }
        let row = |version: &&VersionRecord| LogRow {
            columns: [
                version.number.to_string(),
                format_time(version.time_ms),
                match edges_of(version) {
                    Some(edges) => counted(edges, "edge", "edges"),
                    None => counted(changes_of(version).unwrap_or(0), "change", "changes"),
                },
                counted(vertices_of(version), "vertex", "vertices"),
            ],
            names: tags_of(version).iter().map(|name| format!("[{name}] ")).collect(),
            message: first_line(&version.message),
            committed: (version.committed_ms != version.time_ms).then(|| format_time(version.committed_ms)),
        };
        print(&shown.iter().map(row).collect::<Vec<_>>())
    }
}

/// The first line of a message, with a mark if there are others.
fn first_line(message: &str) -> String {
    let mut lines = message.lines();
    let first = lines.next().unwrap_or_default();
    if lines.next().is_some() { format!("{first} ...") } else { first.to_owned() }
}

/// A line of the list.
struct LogRow {
    /// Number, time, edges, vertices.
    columns: [String; 4],
    /// The tags.
    names: String,
    message: String,
    /// The time of the commit, if it is not the event time.
    committed: Option<String>,
}

/// Prints the list, with columns of equal width.
fn print(rows: &[LogRow]) -> Outcome {
    let width = |column: usize| rows.iter().map(|row| row.columns[column].len()).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2), width(3)];
    for LogRow { columns: [number, time, edges, vertices], names, message, committed } in rows {
        let committed = committed.as_ref().map_or(String::new(), |time| format!("(committed {time}) "));
        let line = format!(
            "{number:>a$}  {time:<b$}  {edges:>c$}  {vertices:>d$}  {names}{committed}{message}",
            a = widths[0],
            b = widths[1],
            c = widths[2],
            d = widths[3]
        );
        text::line(line.trim_end())?;
    }
    Ok(())
}

//! `esker retain`: shows or sets which versions are retained.

use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use clap::Args;
use esker::store::Store;
use esker::store::format::Retention;
use esker::store::manifest::{format_time, parse_time};
use serde_json::json;

use crate::args::size::counted;
use crate::failure::{Failure, Outcome};
use crate::session::opening::open_for_change;
use crate::show::text;

/// Show or set which versions are retained
///
/// The rule applies to existing versions at once and to later versions as they come. Tagged versions and the
/// newest are always retained. Without a rule, prints the current one.
#[derive(Debug, Args)]
#[command(after_help = "Rules:
  all                    every version
  last N                 the newest N versions
  since TIME             versions since TIME (2026-11-01 or 2026-11-01T08:00:00Z), and the one that was newest at TIME

Example: esker retain web.esker last 30")]
pub(crate) struct RetainCommand {
    /// The database
    database: PathBuf,
    /// Rule: all, last N, or since TIME
    #[arg(num_args = 0..=2, value_name = "RULE")]
    rule: Vec<String>,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

impl RetainCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        let rule: Vec<&str> = self.rule.iter().map(String::as_str).collect();
        // Of a cluster on another machine, a file next to the shard says so.
        let name = self.database.file_name().unwrap_or_default().to_string_lossy();
        let marks = ["CLUSTER".to_owned(), format!("{name}.cluster")];
        let cluster = marks.iter().map(|mark| self.database.with_file_name(mark)).find(|mark| mark.exists());
        if let Some(cluster) = cluster.filter(|_| !rule.is_empty()) {
            return Err(Failure::Failed(format!(
                "{} is a shard of a cluster, as {} says, and the cluster names its versions: all of them stay",
                self.database.display(),
                cluster.display()
            )));
        }
        let retention = match rule[..] {
            [] => {
                let store = Store::open(&self.database)?;
                return self.report(store.whole_manifest()?.retention, store.versions()?.len(), 0);
            }
            ["all"] => Retention::All,
            ["last", number] => match number.parse() {
                Ok(number) if number > 0 => Retention::Last(number),
                _ => {
                    return Err(Failure::Usage(format!(
                        "{number:?} is not a number of versions; give 1 or more"
                    )));
                }
            },
            ["since", time] => {
                let since = *parse_time(time).map_err(Failure::Usage)?.start();
                let now = UNIX_EPOCH.elapsed().map_or(0, |age| age.as_millis());
                if u128::from(since) > now {
                    return Err(Failure::Usage(format!(
                        "{time} is still to come: every version but the newest would be forgotten, now and later; `last 1` says so"
                    )));
                }
                Retention::Since(since)
            }
            _ => {
                return Err(Failure::Usage(
                    "unknown retention rule; give all, last N or since TIME".to_owned(),
                ));
            }
        };
        let database = open_for_change(&self.database)?;
        let before = database.versions().len();
        database.retain(retention)?;
        let left = database.versions().len();
        let closed = database.close().map_err(Failure::from);
        let reported = closed.and_then(|()| self.report(retention, left, before - left));
        reported.map_err(|failure| failure.after("the rule is set"))
    }

    fn report(&self, retention: Retention, left: usize, forgotten: usize) -> Outcome {
        let rule = match retention {
            Retention::All => "all".to_owned(),
            Retention::Last(number) => format!("last {number}"),
            Retention::Since(ms) => format!("since {}", format_time(ms)),
        };
        if self.json {
            return text::json(&json!({ "rule": rule, "versions": left, "forgotten": forgotten }));
        }
        let left = counted(left as u64, "version", "versions");
        let gone = if forgotten > 0 { format!(", {forgotten} forgotten") } else { String::new() };
        text::line(&format!("{}: retain {rule}: {left}{gone}", self.database.display()))
    }
}

//! `esker follow`: an answer that follows the versions of a database.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use esker::answer::Value;
use esker::catalogue::{Entry, Params, find};
use esker::follow::{Follow, FollowStep, Method};
use esker::graph::Run;
use esker::store::io::RealDisk;
use esker::store::version::VersionSelector;
use esker::store::{Follower, Snapshot, Store};
use serde_json::json;

use crate::answer_rows::{answer_rows, value_json};
use crate::at::{number_of, parse_version};
use crate::failure::{Failure, Outcome};
use crate::interrupt::cancel_on_signals;
use crate::progress::Bar;
use crate::resources::ResourceArgs;
use crate::rows::{RowFormat, Rows};
use crate::size::counted;
use crate::text;
use crate::window::parse_option;

/// Time between two looks for a new version.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Keep an answer up to date as versions come, and print what changes
///
/// Computes the answer for the newest version, then waits for commits of other processes, and prints the vertices whose values each version
/// changed: the version, the vertex, its old value and its new one. What a version changed is found and taken in at a cost in proportion to
/// the change; where computing anew is cheaper, that is done instead. Values are those of `esker run` on that version, ranks within the tolerance; colours
/// differ where vertices were removed.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  esker follow web.esker wcc   # until Ctrl-C
  esker follow web.esker wcc --top 3 --format csv
  esker follow web.esker pagerank --top 10
  esker follow web.esker bfs -p source=alice --from 1 --once
  esker follow web.esker wcc --from 1 --once --format table   # what each version so far changed")]
pub(crate) struct FollowCommand {
    /// The database
    database: PathBuf,
    /// The algorithm
    #[arg(value_parser = clap::builder::PossibleValuesParser::new(esker::follow::names()))]
    algorithm: String,
    /// Option of the algorithm, such as source=alice
    #[arg(long = "option", short = 'p', value_name = "NAME=VALUE", value_parser = parse_option)]
    options: Vec<(String, String)>,
    /// Edge property that is the weight [default: the weight of the import]
    #[arg(long, value_name = "NAME")]
    weight: Option<String>,
    /// Print the N vertices with the largest values, or the N largest groups, of the first version and of each that changes them
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Form of the rows on standard output [default: jsonl; with --once table]
    #[arg(long, value_enum, value_name = "FORM")]
    format: Option<RowFormat>,
    /// Begin with this version instead of the newest: a number, a tag or a time
    #[arg(long, value_name = "VERSION", value_parser = parse_version)]
    from: Option<VersionSelector>,
    /// End with the newest version that there is, without waiting for others
    #[arg(long)]
    once: bool,
    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    resources: ResourceArgs,
}

/// What was printed.
struct Printed<'c> {
    command: &'c FollowCommand,
    format: RowFormat,
    has_header: bool,
    /// The first rows, as they were printed last.
    top: Option<Rows>,
    /// Rows of a table, which is printed at the end.
    table: Rows,
    versions: u64,
    recomputed: u64,
}

impl FollowCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        let entry = find(&self.algorithm)?;
        let mut params = Params::default();
        self.options.iter().for_each(|(name, value)| params.add(name, value));
        entry.check_params(&params)?;
        entry.check_weight(self.weight.is_some())?;
        let format = self.format.unwrap_or(if self.once { RowFormat::Table } else { RowFormat::Jsonl });
        if !self.once && matches!(format, RowFormat::Table | RowFormat::Json) {
            let message = "rows are printed as they come, as jsonl or csv; --once prints all of them as a table or json";
            return Err(Failure::Usage(message.to_owned()));
        }
        let cancel = cancel_on_signals()?;
        let bar = Bar::spinner(false);
        let on_round = Some(bar.on_round(entry.name));
        let run = Arc::new(self.resources.run(&cancel, self.seed, false, on_round)?);
        let started = self.start(entry, &params, &run);
        bar.finish();
        let (mut follower, mut follow) = started?;
        let mut printed = Printed {
            command: self,
            format,
            has_header: false,
            top: None,
            table: Rows::default(),
            versions: 0,
            recomputed: 0,
        };
        printed.first(&follow)?;
        let ended = self.follow(&mut follower, &mut follow, &run, &mut printed);
        printed.finish()?;
        ended
    }

    fn start(
        &self,
        entry: &'static Entry,
        params: &Params,
        run: &Arc<Run>,
    ) -> Result<(Follower, Follow), Failure> {
        let follower = Follower::open(Arc::new(RealDisk), &self.database, Arc::clone(run))?;
        let first = match &self.from {
            None => follower.newest(),
            Some(selector) => number_of(&Store::open(&self.database)?, selector)?,
        };
        let snapshot = self.weighted(follower.at(first)?)?;
        let follow = Follow::start(snapshot, entry, params, Arc::clone(run))?;
        Ok((follower, follow))
    }

    /// A version with the weight that was asked for.
    fn weighted(&self, snapshot: Snapshot) -> Result<Snapshot, Failure> {
        Ok(match &self.weight {
            Some(name) => snapshot.weighted_by(name)?,
            None => snapshot,
        })
    }

    /// Prints what each version changes, until a signal, or with `--once` until the newest.
    fn follow(
        &self,
        follower: &mut Follower,
        follow: &mut Follow,
        run: &Run,
        printed: &mut Printed<'_>,
    ) -> Outcome {
        loop {
            for number in follow.ahead(follower.versions().map(|version| version.number)) {
                let update = follow.advance(self.weighted(follower.at(number)?)?)?;
                printed.update(follow, &update)?;
                run.check()?;
            }
            if self.once {
                return Ok(());
            }
            while !follower.refresh()? {
                run.check()?;
                std::thread::sleep(LOOK_EVERY);
            }
        }
    }
}

impl Printed<'_> {
    /// Says where it begins, and prints the first rows that were asked for.
    fn first(&mut self, follow: &Follow) -> Outcome {
        let figures: Vec<String> = follow
            .facts()
            .iter()
            .map(|(name, fact)| format!("{name} {}", crate::answer_rows::fact_json(fact)))
            .collect();
        let (name, version) = (follow.entry().name, follow.version());
        text::remark(&format!("following {name} from version {version}: {}", figures.join(", ")));
        self.print_top(follow)
    }

    fn update(&mut self, follow: &Follow, update: &FollowStep) -> Outcome {
        self.versions += 1;
        self.recomputed += u64::from(update.method == Method::Recompute);
        if self.command.top.is_some() || follow.answer().columns.is_empty() {
            return self.print_top(follow);
        }
        let mut rows = Rows::of(["version", "vertex", "old", "new"]);
        let value = |value| value_json(follow.snapshot(), value);
        for changed in &update.changed {
            let [vertex, old, new] = [Value::Vertex(changed.vertex), changed.old, changed.new].map(value);
            rows.push(vec![json!(update.version), vertex?, old?, new?]);
        }
        self.print(rows)
    }

    /// Prints the first rows, or the figures of an answer without rows, if they are not those that were printed last.
    fn print_top(&mut self, follow: &Follow) -> Outcome {
        if self.command.top.is_none() && !follow.answer().columns.is_empty() {
            return Ok(());
        }
        let found = answer_rows(follow.snapshot(), follow.answer(), self.command.top, self.format)?;
        if self.top.as_ref() == Some(&found) {
            return Ok(());
        }
        self.top = Some(found.clone());
        let mut rows = Rows::default();
        rows.append("version", &json!(follow.version()), found);
        self.print(rows)
    }

    fn print(&mut self, rows: Rows) -> Outcome {
        if matches!(self.format, RowFormat::Table | RowFormat::Json) {
            self.table.extend(rows);
            return Ok(());
        }
        match std::mem::replace(&mut self.has_header, true) {
            true => rows.print_more(self.format),
            false => rows.print(self.format),
        }
    }

    fn finish(&self) -> Outcome {
        if matches!(self.format, RowFormat::Table | RowFormat::Json) {
            self.table.print(self.format)?;
        }
        let versions = counted(self.versions, "version", "versions");
        text::remark(&format!("followed {versions}, {} of them by computing anew", self.recomputed));
        Ok(())
    }
}

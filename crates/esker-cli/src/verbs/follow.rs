//! `esker follow`: an answer that follows the versions of a database.

use std::fmt;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use esker::Error;
use esker::answer::{Value, Values};
use esker::catalogue::{Entry, Params};
use esker::follow::beginning::first_window;
use esker::follow::{Changed, Follow, FollowStep, KeptValues, Method, Resumed};
use esker::graph::{Budget, Run, RunOptions, Stop, vertex};
use esker::plan::Request;
use esker::selection::Conditions;
use esker::session::check_all_vertices;
use esker::store::io::RealDisk;
use esker::store::manifest::VersionSelector;
use esker::store::{self, Follower, Store, Version, View};
use esker::window::{MovingWindow, Span, Step, Times};
use serde_json::json;

use crate::args::algorithm_args::AlgorithmArgs;
use crate::args::at::{number_of, parse_version};
use crate::args::choice::needs_window;
use crate::args::followed_rows::FollowedRowsArgs;
use crate::args::resources::ResourceArgs;
use crate::args::selecting::WhereArgs;
use crate::args::size::counted;
use crate::args::window_args::{TIME_HELP, WindowArgs, ZoneArgs};
use crate::failure::{Failure, Outcome};
use crate::interrupt::{self, cancel_on_signals};
use crate::session::opening::{later_bytes_on, with_later};
use crate::show::answer_rows::{answer_rows, ranked_rows, value_json};
use crate::show::progress::Bar;
use crate::show::rows::{PrintedRows, RowFormat, RowTable};
use crate::show::text;

/// Rows that are made before they are printed, in forms that allow it.
const PRINTED_ROWS: usize = 1 << 12;
/// Time between two looks for a new version.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// The least time between two writes of the state.
const KEEP_EVERY: Duration = Duration::from_secs(1);
/// Writes of the state take at most one part of the time in this many.
const KEEP_PARTS: u32 = 50;

/// Keep an answer up to date as versions are committed, and print the changes
///
/// Computes the answer for the newest version, then waits for commits of other processes, and prints the
/// vertices whose values each version changed: the version, the vertex, its old value and its new one. What a
/// version changed is found and taken in at a cost in proportion to the change. Where computing anew is
/// cheaper, that is done instead, and always for algorithms and options without an update, on windows that
/// join edges, and with --kind and --where. Values are those of `esker run` on that version, ranks within the
/// tolerance; colours, independent sets and matchings differ where vertices were removed.
///
/// With --window, the answer is that of the edges of one length of time until the latest edge, and moves with
/// each version. With --every, it moves when the latest edge passes the end of a step; a version that passes
/// several moves it to the last. Edges that leave the window are taken out of the answer.
#[derive(Debug, Args)]
#[command(mut_args(needs_window))]
#[command(after_help = "Examples:
  esker follow wcc web.esker   # until Ctrl-C
  esker follow wcc web.esker --top 3 --format csv
  esker follow pagerank web.esker --top 10
  esker follow bfs web.esker -p source=alice --from 1 --once
  esker follow pagerank timed.esker --window 24h --top 10
  esker follow wcc timed.esker --window 1h --every 15m --from 1 --once
  esker follow wcc web.esker --from 1 --once --format table   # what each version so far changed")]
pub(crate) struct FollowCommand {
    /// The algorithm; `esker run --list` lists them
    algorithm: String,
    /// The database
    database: PathBuf,
    #[command(flatten)]
    options: AlgorithmArgs,
    #[command(flatten)]
    part: WhereArgs,
    #[command(flatten)]
    rows: FollowedRowsArgs,
    /// Begin with this version instead of the newest: a number, a tag or a time
    #[arg(long, value_name = "VERSION", value_parser = parse_version)]
    from: Option<VersionSelector>,
    /// Keep the state in the directory of the database, about once a second and at the end, and go on from
    /// the state that an earlier run of the same command kept, printing what changed since
    #[arg(long, conflicts_with_all = ["from", "kinds", "conditions"])]
    keep: bool,
    /// Follow the edges of this length of time, such as 90s, 15m, 1h, 7d, or a number in the unit of the
    /// times
    #[arg(long, value_name = "LENGTH", help_heading = "Windows")]
    window: Option<Span>,
    /// Move the window at the ends of steps of this length, which follow the calendar [default: with
    /// each version]
    #[arg(long, value_name = "LENGTH", requires = "window", help_heading = "Windows")]
    every: Option<Span>,
    /// Move the window with every N-th edge, in the order of their times
    #[arg(long, value_name = "N", requires = "window", conflicts_with = "every", help_heading = "Windows")]
    every_edges: Option<NonZeroU64>,
    #[arg(long, value_name = "NAME", help = TIME_HELP, help_heading = "Windows")]
    time: Option<String>,
    #[command(flatten)]
    of_window: WindowArgs,
    #[command(flatten)]
    zone: ZoneArgs,
    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    resources: ResourceArgs,
}

/// What a command begins with.
struct Started {
    follower: Follower,
    follow: Follow,
    /// The times, of a window.
    times: Option<Times>,
    lost: Lost,
}

/// What is not known of the changes since a state was kept.
enum Lost {
    Nothing,
    /// The versions between that of the state and the first one.
    Between(KeptValues),
    /// The values of the state, too.
    All,
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("no change is lost"),
            Self::Between(kept) => write!(f, "printing what has changed since version {}", kept.version()),
            Self::All => f.write_str("printing all values, as changes from nothing"),
        }
    }
}

/// What was printed.
struct Printed<'c> {
    command: &'c FollowCommand,
    /// The times, of a window.
    times: Option<Times>,
    format: RowFormat,
    rows: PrintedRows,
    /// The first rows, as they were printed last.
    top: Option<RowTable>,
    versions: u64,
    recomputed: u64,
    /// Whether states are kept.
    keeps: bool,
    /// Whether a step was begun and not ended: the state may be of no version.
    is_in_step: bool,
}

impl FollowCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        let (entry, params) = self.options.of(&self.algorithm)?;
        let format = self.rows.format()?;
        let cancel = cancel_on_signals()?;
        let bar = Bar::spinner(false);
        let on_round = Some(bar.on_round(entry.name));
        let run = Arc::new(self.resources.run(&cancel, self.seed, false, on_round)?);
        let started = self.start(entry, &params, &run);
        bar.finish();
        let Started { mut follower, mut follow, times, lost } = started?;
        let mut printed = Printed {
            command: self,
            times,
            format,
            rows: PrintedRows::new(format),
            top: None,
            versions: 0,
            recomputed: 0,
            keeps: self.keep,
            is_in_step: false,
        };
        // What is printed twice after a kill does no harm.
        printed.first(&mut follow, lost)?;
        printed.keep(&follow)?;
        let ended = self.follow(&mut follower, &mut follow, &run, &mut printed);
        let kept = if printed.is_in_step { Ok(()) } else { printed.keep(&follow) };
        printed.finish()?;
        ended.and(kept)
    }

    fn start(&self, entry: &'static Entry, params: &Params, run: &Arc<Run>) -> Result<Started, Failure> {
        // Its errors name what is no database.
        let store = Store::open(&self.database)?;
        let later_bytes =
            || later_bytes_on(&store.frozen()?, entry, params, &Request::default(), &self.resources);
        let follower = Follower::open(Arc::new(RealDisk), &self.database, Arc::clone(run));
        // Of the commits in the log, it names the first that does not fit.
        let with_log = || Ok(later_bytes()? + self.log_bytes()?);
        let follower = follower.map_err(|error| with_later(error, with_log))?;
        let first = match &self.from {
            None => follower.newest(),
            Some(selector) => number_of(&store, selector)?,
        };
        let first = follower.at(first)?;
        self.part.check(&[&first, &follower.at(follower.newest())?])?;
        let view = self.view(&first, run)?;
        let open = |number| self.view(&follower.at(number)?, run);
        let moved = self.moving()?.map(|window| first_window(&window, &view, open, run));
        let moved = moved.transpose()?.flatten();
        let (view, times) = match moved {
            Some((windowed, times)) => (windowed, Some(times)),
            None => (view, None),
        };
        let mut lost = Lost::Nothing;
        if self.keep {
            let Resumed { follow, refused, forgotten } = Follow::resume(&view, open, entry, params, run)?;
            if let Some(reason) = refused {
                lost = forgotten.filter(|_| !self.rows.initial).map_or(Lost::All, Lost::Between);
                text::remark(&format!(
                    "the state that was kept is of no use: {reason}; computing it anew, and {lost}"
                ));
            }
            if let Some(follow) = follow {
                return Ok(Started { follower, follow, times, lost });
            }
        }
        let follow = Follow::start(view, entry, params, Arc::clone(run));
        let follow = follow.map_err(|error| with_later(error, later_bytes))?;
        Ok(Started { follower, follow, times, lost })
    }

    /// The edges of a version that are followed.
    fn view(&self, version: &Version, run: &Run) -> Result<View, Error> {
        let WhereArgs { conditions, kinds } = &self.part;
        let leaves_out = self.window.is_some() || !conditions.is_empty() || !kinds.lists.is_empty();
        check_all_vertices(self.of_window.all_vertices, leaves_out)?;
        let conditions = Conditions::with_checked_kinds(conditions, &kinds.kinds(), version, run)?;
        let view = self.options.of_version(version.view())?;
        match conditions {
            Some(conditions) => Ok(view.filtered(conditions, None, self.of_window.all_vertices, run)?),
            None => Ok(view),
        }
    }

    /// The memory for all commits in the log.
    fn log_bytes(&self) -> Result<u64, Failure> {
        let nothing = Run::new(RunOptions { budget: Budget::new(0), ..RunOptions::default() })?;
        match Store::open(&self.database)?.under(nothing).latest() {
            Err(store::Error::Stop(Stop::OverBudget { needed_bytes, .. })) => Ok(needed_bytes),
            found => Ok(found.map(|_| 0)?),
        }
    }

    /// The window that was asked for.
    fn moving(&self) -> Result<Option<MovingWindow>, Failure> {
        let Some(length) = self.window else { return Ok(None) };
        Ok(Some(self.of_window.moving(length, self.step(), self.time.clone(), &self.zone)?))
    }

    /// How far the end of the window moves; `None`: with each version.
    fn step(&self) -> Option<Step> {
        self.every.map(Step::Length).or(self.every_edges.map(Step::Edges))
    }

    /// Takes the answer to a version, and says the times of its window; `None` if its window has
    /// not moved.
    fn advance(
        &self,
        follow: &mut Follow,
        to: &Version,
        run: &Run,
    ) -> Result<Option<(FollowStep, Option<Times>)>, Failure> {
        let to = self.view(to, run)?;
        let Some(window) = self.moving()? else { return Ok(Some((follow.advance(to)?, None))) };
        let Some((windowed, times)) = window.of(&to, Some(follow.view()), run)? else { return Ok(None) };
        Ok(Some((follow.advance(windowed)?, Some(times))))
    }

    /// Prints what each version changes, until a signal, or with `--once` until the newest.
    fn follow(
        &self,
        follower: &mut Follower,
        follow: &mut Follow,
        run: &Run,
        printed: &mut Printed<'_>,
    ) -> Outcome {
        let mut passed = follow.version();
        let mut pause = KeepPause { since: Instant::now(), wait: KEEP_EVERY, version: follow.version() };
        loop {
            // Versions that were looked at may have been undone since.
            passed = passed.min(follower.newest());
            for number in follow.ahead(follower.versions().map(|version| version.number)) {
                // A window that did not move is still of an earlier version.
                if self.step().is_some() && (follow.version() + 1..=passed).contains(&number) {
                    continue;
                }
                passed = number;
                printed.is_in_step = true;
                let to = follower.at(number).map_err(Failure::from);
                let step = to.and_then(|to| self.advance(follow, &to, run));
                if let Some((step, times)) = step.map_err(|failure| of_version(failure, number))? {
                    printed.times = times;
                    printed.update(follow, &step)?;
                }
                printed.is_in_step = false;
                pause.keep_if_due(printed, follow)?;
                run.check()?;
            }
            if self.rows.once {
                return Ok(());
            }
            while !follower.refresh()? {
                run.check()?;
                // A state that has to be computed to be kept is not computed after a signal.
                pause.keep_if_due(printed, follow)?;
                std::thread::sleep(LOOK_EVERY);
            }
        }
    }
}

/// When the state was kept last, and for how long it need not be.
struct KeepPause {
    since: Instant,
    wait: Duration,
    version: u64,
}

impl KeepPause {
    /// Keeps the state if it has changed, and that was long enough ago.
    fn keep_if_due(&mut self, printed: &mut Printed<'_>, follow: &Follow) -> Outcome {
        if printed.keeps && follow.version() != self.version && self.since.elapsed() >= self.wait {
            let begin = Instant::now();
            printed.keep(follow)?;
            let wait = KEEP_EVERY.max(begin.elapsed() * KEEP_PARTS);
            *self = Self { since: Instant::now(), wait, version: follow.version() };
        }
        Ok(())
    }
}

/// A failure, with the version that it is about.
fn of_version(failure: Failure, number: u64) -> Failure {
    failure.between(&format!("version {number}: "), "")
}

impl Printed<'_> {
    /// Says where it begins, and prints the first rows that were asked for.
    fn first(&mut self, follow: &mut Follow, lost: Lost) -> Outcome {
        let figures: Vec<String> = follow
            .facts()
            .iter()
            .map(|(name, fact)| format!("{name} {}", crate::show::answer_rows::fact_json(fact)))
            .collect();
        let (name, version) = (follow.entry().name, follow.version());
        let method = if follow.updates() { "" } else { ", computed anew at each step" };
        text::remark(&format!("following {name} from version {version}{method}: {}", figures.join(", ")));
        if self.command.rows.top.is_some() {
            return self.print_top(follow);
        }
        match (follow.answer().columns.first(), lost) {
            (Some(_), Lost::Between(kept)) => {
                self.print_changed(follow, follow.changed_since(&kept).into_iter())
            }
            (Some(column), lost) if self.command.rows.initial || matches!(lost, Lost::All) => {
                self.print_initial(follow, &column.values)
            }
            _ => self.print_top(follow),
        }
    }

    /// Prints the values of the first version, as changes from nothing.
    fn print_initial(&mut self, follow: &Follow, values: &Values) -> Outcome {
        let all = (0..values.len()).map(|v| (vertex(v), values.get(v)));
        let present = all.filter(|(_, new)| !new.is_same(Value::Missing));
        let changed = present.map(|(vertex, new)| Changed { vertex, old: Value::Missing, new });
        self.print_changed(follow, changed)
    }

    fn print_changed(&mut self, follow: &Follow, changed: impl Iterator<Item = Changed>) -> Outcome {
        let value = |value| value_json(follow.view().version(), value);
        let mut changed = changed.peekable();
        loop {
            let mut rows = RowTable::of(["vertex", "old", "new"]);
            for changed in changed.by_ref().take(PRINTED_ROWS) {
                let [vertex, old, new] = [Value::Vertex(changed.vertex), changed.old, changed.new].map(value);
                rows.push(vec![vertex?, old?, new?]);
            }
            self.print_of(follow, rows)?;
            if changed.peek().is_none() {
                return Ok(());
            }
        }
    }

    fn update(&mut self, follow: &mut Follow, update: &FollowStep) -> Outcome {
        self.versions += 1;
        self.recomputed += u64::from(update.method == Method::Recompute);
        if self.command.rows.top.is_some() || follow.answer().columns.is_empty() {
            return self.print_top(follow);
        }
        self.print_changed(follow, update.changed.iter().copied())
    }

    /// Prints rows under the version, and the end of its window.
    fn print_of(&mut self, follow: &Follow, rows: RowTable) -> Outcome {
        let end = follow.view().window_index().map(|index| index.window().until);
        let mut found = rows;
        if let (Some(end), Some(times)) = (end, &self.times) {
            let mut of_window = RowTable::default();
            of_window.append("until", &json!(times.format(end)), found);
            found = of_window;
        }
        let mut of_version = RowTable::default();
        of_version.append("version", &json!(follow.version()), found);
        self.rows.add(of_version)
    }

    /// Prints the first rows, or the figures of an answer without rows, if they are not those that were
    /// printed last.
    fn print_top(&mut self, follow: &mut Follow) -> Outcome {
        if self.command.rows.top.is_none() && !follow.answer().columns.is_empty() {
            return Ok(());
        }
        let found = match self.command.rows.top.filter(|_| !follow.answer().columns.is_empty()) {
            Some(count) => {
                let ranked = follow.top(count, interrupt::token())?;
                ranked_rows(follow.view().version(), follow.answer(), &ranked, self.format)?
            }
            None => {
                answer_rows(follow.view().version(), follow.answer(), self.command.rows.top, self.format)?
            }
        };
        if self.top.as_ref() == Some(&found) {
            return Ok(());
        }
        self.top = Some(found.clone());
        self.print_of(follow, found.or_missing())
    }

    /// Keeps the state, if it is to be kept. If it cannot be, says so once.
    fn keep(&mut self, follow: &Follow) -> Outcome {
        if self.keeps && !follow.keep()? {
            self.keeps = false;
            let name = follow.entry().name;
            text::remark(&format!("--keep has no effect: the state of {name} is not kept"));
        }
        Ok(())
    }

    fn finish(&self) -> Outcome {
        self.rows.finish()?;
        let versions = counted(self.versions, "version", "versions");
        text::remark(&format!("followed {versions}, {} of them by computing anew", self.recomputed));
        Ok(())
    }
}

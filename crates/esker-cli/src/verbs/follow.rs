//! `esker follow`: an answer that follows the versions of a database.

use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use esker::Error;
use esker::alert::{FollowAlerts, SmallChanges};
use esker::catalogue::{Entry, Params};
use esker::follow::beginning::first_window;
use esker::follow::{Follow, FollowStep, Resumed};
use esker::graph::{Budget, Run, RunOptions, Stop};
use esker::plan::Request;
use esker::selection::Conditions;
use esker::session::check_all_vertices;
use esker::store::io::RealDisk;
use esker::store::manifest::VersionSelector;
use esker::store::{self, Follower, Store, Version, View};
use esker::window::{MovingWindow, Span, Step, Times};

use crate::args::alerting::AlertArgs;
use crate::args::algorithm_args::AlgorithmArgs;
use crate::args::at::{number_of, parse_version};
use crate::args::choice::needs_window;
use crate::args::followed_rows::FollowedRowsArgs;
use crate::args::resources::ResourceArgs;
use crate::args::selecting::WhereArgs;
use crate::args::window_args::{TIME_HELP, WindowArgs, ZoneArgs};
use crate::failure::{Failure, Outcome};
use crate::interrupt::cancel_on_signals;
use crate::session::opening::{later_bytes_on, with_later};
use crate::session::telling::{ChosenRows, FollowPrinter, Lost};
use crate::show::progress::Bar;
use crate::show::rows::RowFormat;
use crate::show::text;

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
  esker follow pagerank web.esker --alert 'rank > 0.1' --exec 'cat >> alerts'
  esker follow wcc web.esker --from 1 --once --alert 'size > 3'
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
    #[command(flatten)]
    alerts: AlertArgs,
    /// Begin with this version instead of the newest: a number, a tag or a time
    #[arg(long, value_name = "VERSION", value_parser = parse_version)]
    from: Option<VersionSelector>,
    /// Keep the state in the directory of the database, about once a second and at the end, and go on from
    /// the state that an earlier run of the same command kept, with the same alerts, telling what changed
    /// since
    #[arg(long, conflicts_with_all = ["from", "kinds", "conditions", "min_change"])]
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
    /// Whether the answer is that of a state, whose changes and alerts were told.
    is_told: bool,
    alerts: Option<FollowAlerts>,
}

impl FollowCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        let (entry, params) = self.options.of(&self.algorithm)?;
        self.check(entry)?;
        self.rows.round.apply();
        let format = self.format()?;
        let cancel = cancel_on_signals()?;
        let bar = Bar::spinner(false);
        let on_round = Some(bar.on_round(entry.name));
        let run = Arc::new(self.resources.run(&cancel, self.seed, false, on_round)?);
        let started = self.start(entry, &params, &run);
        bar.finish();
        let Started { mut follower, mut follow, times, lost, is_told, alerts } = started?;
        let chosen = ChosenRows {
            top: self.rows.top,
            initial: self.rows.initial,
            are_replaced: self.alerts.replaces_rows(),
            format,
        };
        let small = self.alerts.min_change.map(|least| SmallChanges::new(least, entry, &run)).transpose()?;
        let mut printed = FollowPrinter::new(chosen, times, alerts, self.alerts.sink(), small);
        printed.keeps_for = self.keep.then(|| self.alerts.reader());
        // What is printed twice after a kill does no harm.
        printed.first(&mut follow, lost, is_told, &run)?;
        printed.keep(&follow)?;
        let ended = self.follow(&mut follower, &mut follow, &run, &mut printed);
        let kept = if printed.is_in_step { Ok(()) } else { printed.keep(&follow) };
        let finished = printed.finish();
        ended.and(kept).and(finished)
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
        let alerts = self.alerts.rule().map(|rule| FollowAlerts::new(&rule, entry, &view)).transpose()?;
        let mut lost = Lost::Nothing;
        if self.keep {
            let reader = self.alerts.reader();
            let Resumed { follow, refused, forgotten } =
                Follow::resume(&view, open, entry, params, &reader, run)?;
            if let Some(reason) = refused {
                lost = forgotten.filter(|_| !self.rows.initial).map_or(Lost::All, Lost::Between);
                text::remark(&format!(
                    "the state that was kept is of no use: {reason}; computing it anew, and {lost}"
                ));
            }
            if let Some(follow) = follow {
                return Ok(Started { follower, follow, times, lost, is_told: true, alerts });
            }
        }
        let follow = Follow::start(view, entry, params, Arc::clone(run));
        let follow = follow.map_err(|error| with_later(error, later_bytes))?;
        Ok(Started { follower, follow, times, lost, is_told: false, alerts })
    }

    /// Refuses options that make no sense together.
    fn check(&self, entry: &Entry) -> Outcome {
        let rows = &self.rows;
        let replaced =
            [("--top", rows.top.is_some()), ("--initial", rows.initial && !self.alerts.tells_new())];
        self.alerts.check(rows.given(), &replaced)?;
        if self.alerts.min_change.is_some() && rows.top.is_some() && self.alerts.rule().is_none() {
            let message =
                "--min-change has no effect: --top prints the first rows of each version as they are";
            return Err(Failure::Usage(message.to_owned()));
        }
        let is_of_figures = !entry.has_rows();
        if rows.top.is_some() && is_of_figures {
            let (name, figures) = (entry.name, entry.figures.join(", "));
            let message = format!("--top has no effect: {name} answers with figures only ({figures})");
            return Err(Failure::Usage(message));
        }
        if self.alerts.min_change.is_some() && is_of_figures {
            let (name, figures) = (entry.name, entry.figures.join(", "));
            let message = format!("--min-change has no effect: {name} answers with figures only ({figures})");
            return Err(Failure::Usage(message));
        }
        Ok(())
    }

    /// The form of the rows, or of alerts in their place.
    fn format(&self) -> Result<RowFormat, Failure> {
        if self.alerts.replaces_rows() { Ok(RowFormat::Jsonl) } else { self.rows.format() }
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
        printed: &mut FollowPrinter,
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
                    printed.update(follow, &step, run)?;
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
    fn keep_if_due(&mut self, printed: &mut FollowPrinter, follow: &Follow) -> Outcome {
        if printed.keeps_for.is_some()
            && follow.version() != self.version
            && self.since.elapsed() >= self.wait
        {
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

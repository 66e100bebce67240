//! `esker window`: an algorithm on windows that follow each other.

use std::num::NonZeroU64;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use esker::catalogue::{Entry, Params};
use esker::change::{Expiries, WindowVersion, newest_watermark};
use esker::graph::Run;
use esker::store::windows::SHARED_WINDOWS_MAX;
use esker::store::{Snapshot, Store};
use esker::window::{Span, Step, TimePoint, Times, WindowJob, WindowSeries};
use serde_json::json;

use crate::algorithm_args::AlgorithmArgs;
use crate::answer_rows::answer_rows;
use crate::at::AtArgs;
use crate::failure::{Failure, Outcome};
use crate::figures::sized_figures;
use crate::interrupt::cancel_on_signals;
use crate::opening::open_store;
use crate::progress::Bar;
use crate::residency::AccessArgs;
use crate::resources::ResourceArgs;
use crate::rows::{RowFormat, Rows};
use crate::size::{counted, seconds};
use crate::text;
use crate::window_args::{TIME_HELP, WindowArgs};

/// Run an algorithm on a series of time windows
///
/// A window of length L that ends at T has the edges later than T - L, until T and with it. Windows end every --every, aligned to the
/// calendar in UTC, from the step of the first edge to that of the last; or, with --every-edges, with every N-th edge, and the last window
/// with the last edge. Shows the figures of each window in one table; with --top, its first rows.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  esker window timed.esker --length 1h --every 15m --to 2024-01-01T02:00 --run wcc
  esker window timed.esker --length 1d --length 7d --every 1d --run pagerank --top 3 --format csv
  esker window timed.esker --length 1d --every 1d --kind weighted --run pagerank --top 1
  esker window timed.esker --length 1d --every-edges 2 --run wcc --top 1
  esker window timed.esker --length 1h --run wcc --follow   # until Ctrl-C")]
pub(crate) struct WindowCommand {
    /// The database
    database: String,
    /// Span of the windows, such as 90s, 15m, 1h, 7d, or a number in the unit of the times; may be given several times
    #[arg(long, required = true, value_name = "LENGTH")]
    length: Vec<Span>,
    /// Time from the end of a window to that of the next [default: the shortest length]
    #[arg(long, value_name = "LENGTH")]
    every: Option<Span>,
    /// Edges from the end of a window to that of the next, in the order of their times; those of one time come together
    #[arg(long, value_name = "N", conflicts_with = "every")]
    every_edges: Option<NonZeroU64>,
    /// First time: it lies in the last step of the first window, and counts of edges begin there [default: that of the first edge]
    #[arg(long, value_name = "TIME")]
    from: Option<TimePoint>,
    /// Last time: it lies in the last step of the last window, and counts of edges end there [default: that of the last edge]
    #[arg(long, value_name = "TIME")]
    to: Option<TimePoint>,
    /// Show each window once the watermark of a version has passed its end, or its event time if no stream made it, and wait for the next,
    /// until the command is stopped; the first is the newest that has ended, or that of --from, or that of the first edge if there is none yet
    #[arg(long, conflicts_with_all = ["to", "at"])]
    follow: bool,
    /// With --follow, if several windows have ended: show all of them (wait), or the newest only (skip)
    #[arg(long, value_enum, value_name = "WHAT", requires = "follow")]
    overrun: Option<OverrunArg>,
    #[arg(long, value_name = "NAME", help = TIME_HELP, help_heading = "Windows")]
    time: Option<String>,
    #[command(flatten)]
    of_window: WindowArgs,
    /// The algorithm; `esker run --list` lists them
    #[arg(long = "run", value_name = "ALGORITHM")]
    algorithm: String,
    #[command(flatten)]
    options: AlgorithmArgs,
    /// Show the N vertices with the largest values, or the N largest groups, of each window
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Form of the rows on standard output [default: table; with --follow jsonl, or csv]
    #[arg(long, value_enum, value_name = "FORM")]
    format: Option<RowFormat>,
    /// Print the rows as JSON: an array of objects, or with --follow an object a line
    #[arg(long, conflicts_with = "format")]
    json: bool,
    #[command(flatten)]
    at: AtArgs,
    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The same answer for any number of threads
    #[arg(long)]
    deterministic: bool,
    #[command(flatten)]
    access: AccessArgs,
    #[command(flatten)]
    resources: ResourceArgs,
}

/// `--overrun`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OverrunArg {
    /// All windows are shown, later than they end.
    Wait,
    /// Windows are left out, and counted.
    Skip,
}

/// Time between two looks for a new version.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// What the windows of a command share.
struct Series<'c> {
    command: &'c WindowCommand,
    entry: &'static Entry,
    params: Params,
    format: RowFormat,
    snapshot: Snapshot,
    times: Times,
    run: Run,
}

impl WindowCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        let (entry, params) = self.options.of(&self.algorithm)?;
        if self.top.is_some() && !entry.has_rows() {
            let (name, figures) = (entry.name, entry.figures.join(", "));
            return Err(Failure::Usage(format!(
                "--top has no effect: {name} answers with figures only ({figures})"
            )));
        }
        self.of_window.copies()?;
        let format = match self.format {
            Some(format) => format,
            None if self.follow => RowFormat::Jsonl,
            None if self.json => RowFormat::Json,
            None => RowFormat::Table,
        };
        if self.follow && matches!(format, RowFormat::Table | RowFormat::Json) {
            return Err(Failure::Usage(
                "with --follow rows are printed as they come: as jsonl or csv".to_owned(),
            ));
        }
        let (cancel, begin) = (cancel_on_signals()?, Instant::now());
        let (store, bar) = open_store(self.database.as_ref(), &self.resources, &cancel)?;
        let snapshot = self.at.snapshot(&store);
        bar.finish();
        let snapshot = self.options.weighted(snapshot?)?;
        let bar = Bar::spinner(false);
        let on_round = Some(bar.on_round(entry.name));
        let run = self.resources.run(&cancel, self.seed, self.deterministic, on_round)?;
        let times = self.of_window.times(&snapshot, self.time.as_deref(), &run)?;
        let mut series = Series { command: self, entry, params, format, snapshot, times, run };
        if self.follow {
            bar.finish();
            return series.follow();
        }
        let found = series.rows();
        bar.finish();
        let (rows, count) = found?;
        rows.print(format)?;
        text::remark_facts(&[
            ("windows".to_owned(), count.to_string()),
            ("times".to_owned(), format!("{:?}, in {}", series.times.property, series.times.unit.name())),
            ("time".to_owned(), seconds(begin.elapsed().as_secs_f64())),
        ]);
        Ok(())
    }

    /// How far the end of a window is from the next.
    fn step(&self, times: &Times) -> Result<Step, Failure> {
        let given = self.every.map(Step::Length).or(self.every_edges.map(Step::Edges));
        if let Some(given) = given {
            return Ok(given);
        }
        let mut shortest = None;
        for &length in &self.length {
            let units = times.unit.length(length)?;
            if shortest.is_none_or(|(least, _)| units < least) {
                shortest = Some((units, length));
            }
        }
        let shortest = shortest.map(|(_, length)| Step::Length(length));
        shortest.ok_or_else(|| Failure::Usage("--length is missing".to_owned()))
    }
}

impl Series<'_> {
    /// The rows of all windows, and the number of windows.
    fn rows(&self) -> Result<(Rows, usize), Failure> {
        let Self { command, times, .. } = self;
        let (mut rows, mut count) = (Rows::default(), 0);
        let range = (command.from.as_ref(), command.to.as_ref());
        if let (Some(from), Some(to)) = range
            && from.before(times.unit)? >= to.last(times.unit)?
        {
            return Err(Failure::Usage("--from is after --to".to_owned()));
        }
        let mut ends = times.ends(&self.snapshot, command.step(times)?, range, &self.run)?;
        let at_once = (SHARED_WINDOWS_MAX / command.length.len()).max(1);
        loop {
            let some: Vec<i64> = ends.by_ref().take(at_once).collect();
            if some.is_empty() {
                return Ok((rows, count));
            }
            count += self.add_rows(&mut rows, &self.snapshot, &some, &command.length)?;
        }
    }

    /// Adds the rows of the windows of some lengths that end at some times; returns their number.
    fn add_rows(
        &self,
        rows: &mut Rows,
        snapshot: &Snapshot,
        ends: &[i64],
        of_lengths: &[Span],
    ) -> Result<usize, Failure> {
        let Self { command, entry, times, .. } = self;
        let copies = command.of_window.copies()?;
        let (mut windows, mut lengths) = (Vec::new(), Vec::new());
        for &end in ends {
            for &length in of_lengths {
                windows.push(times.window_until(length, end, copies)?);
                lengths.push(length);
            }
        }
        let (mut done, ends) = (0, windows.iter().map(|window| window.until).collect::<Vec<_>>());
        let job = WindowJob {
            entry,
            params: &self.params,
            request: &command.access.request(),
            resources: &command.resources.of_run(command.deterministic),
            all_vertices: command.of_window.all_vertices,
        };
        let windows = (&*times.property, windows);
        let found = WindowSeries::answers(snapshot, windows, &job, &self.run, |found| {
            if let Some(vertex) = &found.lacks {
                let (length, until) = (lengths[done], times.unit.format(found.window.until));
                text::remark(&format!(
                    "the window of {length} until {until} has no answer: it has no edge of {vertex:?}"
                ));
            }
            let of_window = match command.top {
                Some(top) => answer_rows(snapshot, &found.answer, Some(top), self.format)?,
                None => {
                    let sizes = (found.num_vertices, found.num_edges);
                    sized_figures(entry, sizes, &found.answer)
                }
            };
            let mut of_length = Rows::default();
            of_length.append("length", &json!(lengths[done].to_string()), of_window);
            rows.append("until", &json!(times.unit.format(found.window.until)), of_length);
            done += 1;
            Ok::<_, Failure>(())
        });
        found.map_err(|failure| match failure {
            Failure::Failed(reason) => {
                let end = ends.get(done).copied().unwrap_or(0);
                Failure::Failed(format!("the window until {}: {reason}", times.unit.format(end)))
            }
            other => other,
        })?;
        Ok(done)
    }

    /// Shows the rows of windows as versions pass their ends, until a signal.
    fn follow(&mut self) -> Outcome {
        let is_awaited = self.times.range.is_none();
        if is_awaited {
            self.await_edges()?;
        }
        let step = self.command.step(&self.times)?;
        let from = self.command.from.as_ref();
        let mut last = from.map(|from| from.before(self.times.unit)).transpose()?;
        if is_awaited && last.is_none() {
            last = self.times.range.map(|(first, _)| first.saturating_sub(1));
        }
        let (mut seen, mut has_header) = (None, false);
        loop {
            let store = Store::open(&self.command.database)?;
            let versions = store.versions()?;
            let newest = versions.last().map(|version| (version.number, version.time_ms));
            if let Some((_, time_ms)) = newest.filter(|_| newest != seen) {
                let messages = versions.iter().rev().map(|version| version.message.as_str());
                let passed = newest_watermark(messages).unwrap_or_else(|| self.times.unit.of_ms(time_ms));
                self.snapshot = self.command.options.weighted(store.snapshot()?)?;
                let expiries = Expiries::of(&versions, self.times.unit);
                let (mut ends, has_all) = self.ends_passed(&store, &expiries, step, (last, passed))?;
                if self.command.overrun == Some(OverrunArg::Skip) && ends.len() > 1 {
                    let left_out = counted(ends.len() as u64 - 1, "window", "windows");
                    text::remark(&format!("left out {left_out} that had ended before the newest"));
                    ends.drain(..ends.len() - 1);
                }
                for end in ends {
                    let rows = self.rows_until(&store, &expiries, end)?;
                    match has_header {
                        true => rows.print_more(self.format)?,
                        false => rows.print(self.format)?,
                    }
                    has_header = true;
                    last = Some(end);
                }
                if has_all {
                    seen = newest;
                }
            }
            self.run.check()?;
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Waits for the first edge. Before it no window has one, and the unit of the times may have to be guessed from it.
    fn await_edges(&mut self) -> Outcome {
        let WindowCommand { database, options, of_window, time, .. } = self.command;
        text::remark("there is no edge yet: waiting for the first");
        while self.times.range.is_none() {
            self.run.check()?;
            std::thread::sleep(LOOK_EVERY);
            self.snapshot = options.weighted(Store::open(database)?.snapshot()?)?;
            self.times = of_window.times(&self.snapshot, time.as_deref(), &self.run)?;
        }
        Ok(())
    }

    /// The ends that the watermark has passed, and whether they are all. Edges that have expired since the last end are counted on the version
    /// that has them still.
    fn ends_passed(
        &self,
        store: &Store,
        expiries: &Expiries,
        step: Step,
        (last, passed): (Option<i64>, i64),
    ) -> Result<(Vec<i64>, bool), Failure> {
        if let (Step::Edges(every), Some(mut after)) = (step, last) {
            let mut counted = 0;
            // Each part of the edges is counted on the last version that has it.
            while let Some((version, until)) = expiries.last_with(after)
                && let until = until.min(passed)
                && until > after
            {
                let before = store.at(version)?;
                let (ends, rest) =
                    self.times.ends_counted(&before, (every, counted), (after, until), &self.run)?;
                if !ends.is_empty() {
                    return Ok((ends, false));
                }
                (after, counted) = (until, rest);
            }
            let rest = (after, passed);
            let (ends, _) = self.times.ends_counted(&self.snapshot, (every, counted), rest, &self.run)?;
            return Ok((ends, true));
        }
        Ok((self.times.ends_passed(&self.snapshot, step, (last, passed), &self.run)?, true))
    }

    /// The rows of the windows of all lengths that end at a time, each on the newest version that has its edges.
    fn rows_until(&self, store: &Store, expiries: &Expiries, end: i64) -> Result<Rows, Failure> {
        let (mut rows, unit) = (Rows::default(), self.times.unit);
        for length in &self.command.length {
            let after = end.saturating_sub(unit.length(*length)?);
            let lengths = std::slice::from_ref(length);
            match expiries.version_of(after, end) {
                WindowVersion::Before(version) => {
                    let before = self.command.options.weighted(store.at(version)?)?;
                    self.add_rows(&mut rows, &before, &[end], lengths)?;
                    continue;
                }
                WindowVersion::Expired(version, until) => text::warn(&format!(
                    "the window of {length} until {} lacks its edges until {}: version {version} removed those that had expired, and no \
                     version before it that is kept has all edges of the window",
                    unit.format(end),
                    unit.format(until)
                )),
                WindowVersion::Newest => {}
            }
            self.add_rows(&mut rows, &self.snapshot, &[end], lengths)?;
        }
        Ok(rows)
    }
}

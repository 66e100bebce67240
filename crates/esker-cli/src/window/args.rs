//! The arguments of `esker window`.

use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use esker::catalogue::Entry;
use esker::graph::{Cancel, Run};
use esker::output::StepsFile;
use esker::selection::Conditions;
use esker::store::{Version, View};
use esker::window::{Alignment, Span, Step, TimePoint, Times};

use crate::args::alerting::AlertArgs;
use crate::args::algorithm_args::AlgorithmArgs;
use crate::args::at::AtArgs;
use crate::args::followed_rows::GroupNameArgs;
use crate::args::residency::AccessArgs;
use crate::args::resources::ResourceArgs;
use crate::args::selecting::WhereArgs;
use crate::args::window_args::{TIME_HELP, WindowArgs, ZoneArgs};
use crate::failure::{Failure, Outcome};
use crate::show::rounding::RoundArg;
use crate::show::rows::RowFormat;
use crate::show::shown::{STANDARD_OUTPUT, ShownRows};

/// Run an algorithm on a series of time windows
///
/// A window of length L that ends at T has the edges with times after T - L, up to and including T. Windows
/// end every --every, aligned to the calendar (--timezone) or as --align says, from the step of the first
/// edge to that of the last. With --every-edges, they end with every N-th edge, and the last window with the
/// last edge. Shows the figures of each window in one table; with --top, its first rows. --output writes the
/// values of all vertices.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  esker window wcc timed.esker --length 1h --every 15m --to 2024-01-01T02:00
  esker window pagerank timed.esker --length 1d --length 7d --every 1d --top 3 --format csv
  esker window pagerank timed.esker --length 1d --every 1d --copies weighted --top 1
  esker window wcc timed.esker --length 1d --every-edges 2 --top 1
  esker window pagerank timed.esker --length 1d --output ranks.parquet
  esker window wcc timed.esker --length 1h --follow   # until Ctrl-C
  esker window wcc timed.esker --length 1h --follow --alert 'size > 1000'")]
pub(crate) struct WindowCommand {
    /// The algorithm; `esker run --list` lists them
    pub(super) algorithm: String,
    /// The database
    pub(super) database: String,
    /// Span of the windows, such as 90s, 15m, 1h, 7d, or a number in the unit of the times; may be given
    /// several times
    #[arg(long, required = true, value_name = "LENGTH")]
    pub(super) length: Vec<Span>,
    /// Time from the end of a window to that of the next [default: the shortest length]
    #[arg(long, value_name = "LENGTH")]
    pub(super) every: Option<Span>,
    /// Where steps begin: with the calendar, with the first edge (first), or with a time
    #[arg(long, value_name = "WHERE", default_value = "calendar", conflicts_with = "every_edges")]
    pub(super) align: Alignment,
    /// Edges from the end of a window to that of the next, in the order of their times; those of one time
    /// come together
    #[arg(long, value_name = "N", conflicts_with = "every")]
    pub(super) every_edges: Option<NonZeroU64>,
    /// First time: it lies in the last step of the first window, and counts of edges begin there [default:
    /// that of the first edge]
    #[arg(long, value_name = "TIME")]
    pub(super) from: Option<TimePoint>,
    /// Last time: it lies in the last step of the last window, and counts of edges end there [default: that
    /// of the last edge]
    #[arg(long, value_name = "TIME")]
    pub(super) to: Option<TimePoint>,
    /// Show each window once the watermark of a version has passed its end, or its event time if no stream
    /// made it, and wait for the next, until the command is stopped. The first window is the newest that has
    /// ended, or that of --from, or that of the first edge if there is none yet
    #[arg(long, conflicts_with_all = ["to", "at"])]
    pub(super) follow: bool,
    /// With --follow, if several windows have ended: show all of them (wait), or the newest only (skip)
    #[arg(long, value_enum, value_name = "WHAT", requires = "follow")]
    pub(super) overrun: Option<OverrunArg>,
    #[command(flatten)]
    pub(super) alerts: AlertArgs,
    #[arg(long, value_name = "NAME", help = TIME_HELP, help_heading = "Windows")]
    pub(super) time: Option<String>,
    #[command(flatten)]
    part: WhereArgs,
    #[command(flatten)]
    pub(super) of_window: WindowArgs,
    #[command(flatten)]
    pub(super) zone: ZoneArgs,
    #[command(flatten)]
    pub(super) options: AlgorithmArgs,
    /// Show the N vertices with the largest values, or the N largest groups, of each window
    #[arg(long, value_name = "N")]
    pub(super) top: Option<usize>,
    /// Write all values of all windows, with the end and the length of the window: .csv, .parquet or .arrow;
    /// `-` prints them instead of figures, as CSV
    #[arg(long, short, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Replace a file that stands there
    #[arg(long, requires = "output")]
    pub(super) force: bool,
    /// Form of the rows on standard output [default: table; with --follow jsonl, or csv; with `--output -`
    /// csv]
    #[arg(long, value_enum, value_name = "FORM")]
    pub(super) format: Option<RowFormat>,
    /// Print the rows as JSON: an array of objects, or with --follow an object a line
    #[arg(long, conflicts_with = "format")]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) round: RoundArg,
    #[command(flatten)]
    pub(super) groups: GroupNameArgs,
    #[command(flatten)]
    pub(super) at: AtArgs,
    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    pub(super) seed: u64,
    /// The same answer for any number of threads
    #[arg(long)]
    pub(super) deterministic: bool,
    #[command(flatten)]
    pub(super) access: AccessArgs,
    #[command(flatten)]
    pub(super) resources: ResourceArgs,
}

/// `--overrun`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum OverrunArg {
    /// All windows are shown, later than they end.
    Wait,
    /// Windows are left out, and counted.
    Skip,
}

impl WindowCommand {
    /// The edges of the version that the windows are of.
    pub(super) fn view(&self, version: &Version, run: &Run) -> Result<View, Failure> {
        self.view_of(version, self.part.on(version, run)?, run)
    }

    /// The same of an earlier or later version, which may lack kinds.
    pub(super) fn view_at(&self, version: &Version, run: &Run) -> Result<View, Failure> {
        self.view_of(version, self.part.quietly_on(version, run)?, run)
    }

    fn view_of(
        &self,
        version: &Version,
        conditions: Option<Arc<Conditions>>,
        run: &Run,
    ) -> Result<View, Failure> {
        // Each window leaves out the vertices without edges in it.
        let view = self.options.of_version(version.view())?;
        match conditions {
            Some(conditions) => Ok(view.filtered(conditions, None, true, run)?),
            None => Ok(view),
        }
    }

    /// Refuses options that make no sense together.
    pub(super) fn check(&self, entry: &Entry) -> Outcome {
        let given = [("--top", self.top.is_some()), ("--output", self.output.is_some())];
        if let Some((option, _)) = given.into_iter().find(|(_, is_given)| *is_given && !entry.has_rows()) {
            let (name, figures) = (entry.name, entry.figures.join(", "));
            return Err(Failure::Usage(format!(
                "{option} has no effect: {name} answers with figures only ({figures})"
            )));
        }
        if self.follow && matches!(self.row_format(), RowFormat::Table | RowFormat::Json) {
            return Err(Failure::Usage(
                "with --follow rows are printed as they come: as jsonl or csv".to_owned(),
            ));
        }
        if self.follow && self.output.is_some() && !self.is_to_stdout() {
            let message =
                "with --follow a file would never be complete: --output - prints all values as they come";
            return Err(Failure::Usage(message.to_owned()));
        }
        let replaced = [
            ("--top", self.top.is_some()),
            ("--output", self.output.is_some()),
            ("--events", self.groups.events),
        ];
        self.alerts.check(self.format, &replaced)?;
        if self.alerts.min_change.is_some() && self.alerts.rule().is_none() {
            let message = "--min-change has no effect without alerts: --alert or --alert-new raises them";
            return Err(Failure::Usage(message.to_owned()));
        }
        if self.alerts.rule().is_some() && !self.follow {
            let message = "alerts are raised as windows end: --alert and --alert-new belong to --follow";
            return Err(Failure::Usage(message.to_owned()));
        }
        if self.access.explain {
            let message = "--explain says what was chosen for one graph, and windows are many: ask `esker run --window`, or `esker estimate`";
            return Err(Failure::Usage(message.to_owned()));
        }
        let shows_names = self.top.is_some() || self.output.is_some() || self.alerts.rule().is_some();
        self.groups.check(entry, true, self.is_to_stdout(), shows_names)?;
        self.of_window.copies()?;
        Ok(())
    }

    /// The form of rows on standard output.
    pub(super) fn row_format(&self) -> RowFormat {
        match self.format {
            Some(format) => format,
            None if self.follow => RowFormat::Jsonl,
            None if self.json => RowFormat::Json,
            None if self.is_to_stdout() => RowFormat::Csv,
            None => RowFormat::Table,
        }
    }

    /// Whether `--output -` was given.
    pub(super) fn is_to_stdout(&self) -> bool {
        self.output.as_deref() == Some(Path::new(STANDARD_OUTPUT))
    }

    pub(super) fn shown(&self) -> ShownRows {
        if self.groups.events {
            return ShownRows::Events;
        }
        let like_files = !self.follow && self.row_format() == RowFormat::Csv && !self.round.is_given();
        ShownRows::of(self.top, self.output.as_deref(), like_files)
    }

    /// The file to which all values are written.
    pub(super) fn file(&self, cancel: &Cancel) -> Result<Option<StepsFile>, Failure> {
        self.shown().file(self.output.as_deref(), self.force, cancel)
    }

    /// How far the end of a window is from the next.
    pub(super) fn step(&self, times: &Times) -> Result<Step, Failure> {
        if let Some(edges) = self.every_edges {
            return Ok(Step::Edges(edges));
        }
        if let Some(every) = self.every {
            return Ok(times.step(every, &self.align)?);
        }
        let mut shortest = None;
        for &length in &self.length {
            let units = times.unit.length(length)?;
            if shortest.is_none_or(|(least, _)| units < least) {
                shortest = Some((units, length));
            }
        }
        match shortest {
            Some((_, length)) => Ok(times.step(length, &self.align)?),
            None => Err(Failure::Usage("--length is missing".to_owned())),
        }
    }
}

//! The options of windows: which edge property holds the times, and what becomes of several edges between two
//! vertices.

use clap::{Args, ValueEnum};
use esker::graph::Run;
use esker::store::View;
use esker::store::format::value::zone::Zone;
use esker::store::windows::{Combine, Copies};
use esker::window::{ClosedEnd, EpochUnit, MovingWindow, Span, Step, Times, WindowRules};
use serde_json::{Value, json};

use crate::failure::Failure;

/// `--time-unit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum UnitArg {
    /// Seconds.
    S,
    /// Milliseconds.
    Ms,
    /// Microseconds.
    Us,
    /// Nanoseconds.
    Ns,
}

impl From<UnitArg> for EpochUnit {
    fn from(unit: UnitArg) -> Self {
        match unit {
            UnitArg::S => Self::Seconds,
            UnitArg::Ms => Self::Milliseconds,
            UnitArg::Us => Self::Microseconds,
            UnitArg::Ns => Self::Nanoseconds,
        }
    }
}

/// `--copies`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CopiesArg {
    /// Each edge counts.
    All,
    /// Of several edges from one vertex to another, the last.
    Distinct,
    /// Several edges from one vertex to another are one, with a weight: see --combine.
    Weighted,
}

/// `--combine`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CombineArg {
    /// The number of edges.
    Count,
    /// The sum of their weights.
    Sum,
    /// The least weight.
    Min,
    /// The greatest weight.
    Max,
    /// The weight of the last edge.
    Last,
}

/// `--closed`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ClosedArg {
    /// The beginning belongs to a window, and its end does not.
    Left,
    /// The end belongs to a window, and its beginning does not.
    Right,
}

/// `--timezone`, of commands whose windows may follow another zone than that of the times.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Windows")]
pub(crate) struct ZoneArgs {
    /// Time zone, such as Europe/Berlin: steps and lengths in days and weeks follow its clocks, times without
    /// an offset are of it, and times are shown in it [default: that of the property, else UTC]
    #[arg(long, value_name = "ZONE")]
    pub(crate) timezone: Option<Zone>,
}

/// What the edges of a window are.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Windows")]
pub(crate) struct WindowArgs {
    /// Unit of the times [default: guessed from the latest]
    #[arg(long, value_enum, value_name = "UNIT")]
    time_unit: Option<UnitArg>,
    /// What becomes of several edges from one vertex to another [default: all]
    #[arg(long, value_enum, value_name = "COPIES")]
    copies: Option<CopiesArg>,
    /// Weight of edges that become one, with --copies weighted [default: count]
    #[arg(long, value_enum, value_name = "RULE")]
    combine: Option<CombineArg>,
    /// Which end belongs to a window [default: the end, but steps of the calendar end with their last moment]
    #[arg(long, value_enum, value_name = "END")]
    closed: Option<ClosedArg>,
    /// Keep the vertices that are left without an edge
    #[arg(long)]
    pub(crate) all_vertices: bool,
}

/// The help of `--time`, of a command that reads databases.
pub(crate) const TIME_HELP: &str = "Edge property that holds the times, whole numbers since 1970 [default: as `esker options --time` set, or the \
     only one that can]";

impl WindowArgs {
    /// The options that mean nothing without a window, for `mut_arg`.
    pub(crate) const NAMES: [&str; 4] = ["time_unit", "copies", "combine", "closed"];

    /// What becomes of several edges.
    ///
    /// # Errors
    /// `--combine` where it has no effect.
    pub(crate) fn copies(&self) -> Result<Copies, Failure> {
        if self.combine.is_some() && self.copies != Some(CopiesArg::Weighted) {
            return Err(Failure::Usage("--combine has no effect without --copies weighted".to_owned()));
        }
        Ok(match (self.copies, self.combine) {
            (None | Some(CopiesArg::All), _) => Copies::All,
            (Some(CopiesArg::Distinct), _) => Copies::Distinct,
            (_, None | Some(CombineArg::Count)) => Copies::Weighted(Combine::Count),
            (_, Some(CombineArg::Sum)) => Copies::Weighted(Combine::Sum),
            (_, Some(CombineArg::Min)) => Copies::Weighted(Combine::Min),
            (_, Some(CombineArg::Max)) => Copies::Weighted(Combine::Max),
            (_, Some(CombineArg::Last)) => Copies::Weighted(Combine::Last),
        })
    }

    /// How windows lie in time, in a zone if one is given.
    pub(crate) fn rules(&self, zone: Option<&Zone>) -> WindowRules {
        let closed = self.closed.map(|closed| match closed {
            ClosedArg::Left => ClosedEnd::Left,
            ClosedArg::Right => ClosedEnd::Right,
        });
        WindowRules { zone: zone.cloned(), closed }
    }

    /// A window that moves with the versions.
    ///
    /// # Errors
    /// As [`WindowArgs::copies`].
    pub(crate) fn moving(
        &self,
        length: Span,
        every: Option<Step>,
        time: Option<String>,
        zone: &ZoneArgs,
    ) -> Result<MovingWindow, Failure> {
        Ok(MovingWindow {
            length,
            every,
            time,
            unit: self.unit(),
            copies: self.copies()?,
            all_vertices: self.all_vertices,
            rules: self.rules(zone.timezone.as_ref()),
        })
    }

    /// The times of a version, in the property of that name if one is given.
    pub(crate) fn times(
        &self,
        view: &View,
        name: Option<&str>,
        zone: &ZoneArgs,
        run: &Run,
    ) -> Result<Times, Failure> {
        let rules = self.rules(zone.timezone.as_ref());
        Ok(Times::of(view, name, self.unit(), run)?.under(&rules))
    }

    /// The unit of the times, if it is given.
    pub(crate) fn unit(&self) -> Option<EpochUnit> {
        self.time_unit.map(EpochUnit::from)
    }
}

/// A window as a line of facts: `after 2026-11-21T09:00:00Z until 2026-11-21T10:00:00Z, by "time" in
/// seconds`.
pub(crate) fn describe(view: &View, times: &Times) -> Option<String> {
    let window = view.window_index()?.window();
    let (after, until) = (times.format(window.after), times.format(window.until));
    Some(format!("after {after} until {until}, by {:?} in {}", times.property, times.unit.name()))
}

/// The same for reports; `null` without a window.
pub(crate) fn window_json(view: &View, times: Option<&Times>) -> Value {
    let Some((index, times)) = view.window_index().zip(times) else { return Value::Null };
    let window = index.window();
    json!({
        "property": times.property,
        "unit": times.unit.name(),
        "after": window.after,
        "until": window.until,
        "copies": match window.copies {
            Copies::All => "all",
            Copies::Distinct => "distinct",
            Copies::Weighted(Combine::Count) => "count",
            Copies::Weighted(Combine::Sum) => "sum",
            Copies::Weighted(Combine::Min) => "min",
            Copies::Weighted(Combine::Max) => "max",
            Copies::Weighted(Combine::Last) => "last",
        },
    })
}

//! The options of windows: which edge property holds the times, and what becomes of several edges between two
//! vertices.

use clap::{Args, ValueEnum};
use esker::graph::Run;
use esker::store::View;
use esker::store::windows::{Combine, Copies};
use esker::window::{EpochUnit, MovingWindow, Span, Step, Times};
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
    /// Keep the vertices that are left without an edge
    #[arg(long)]
    pub(crate) all_vertices: bool,
}

/// The help of `--time`, of a command that reads databases.
pub(crate) const TIME_HELP: &str = "Edge property that holds the times, whole numbers since 1970 [default: as `esker options --time` set, or the \
     only one that can]";

impl WindowArgs {
    /// The options that mean nothing without a window, for `mut_arg`.
    pub(crate) const NAMES: [&str; 3] = ["time_unit", "copies", "combine"];

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

    /// A window that moves with the versions.
    ///
    /// # Errors
    /// As [`WindowArgs::copies`].
    pub(crate) fn moving(
        &self,
        length: Span,
        every: Option<Step>,
        time: Option<String>,
    ) -> Result<MovingWindow, Failure> {
        Ok(MovingWindow {
            length,
            every,
            time,
            unit: self.unit(),
            copies: self.copies()?,
            all_vertices: self.all_vertices,
        })
    }

    /// The times of a version, in the property of that name if one is given.
    pub(crate) fn times(&self, view: &View, name: Option<&str>, run: &Run) -> Result<Times, Failure> {
        Ok(Times::of(view, name, self.unit(), run)?)
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
    let (after, until) = (times.unit.format(window.after), times.unit.format(window.until));
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

//! Which graph of a version a run computes on.

use clap::{Arg, Args};
use esker::graph::Run;
use esker::store::Snapshot;
use esker::store::version::VersionSelector;
use esker::window::{Span, TimePoint, Times};

use crate::at::AtArgs;
use crate::failure::Failure;
use crate::window_args::WindowArgs;

/// Choices beside the version.
#[derive(Debug, Clone, Args)]
pub(crate) struct ChoiceArgs {
    /// Read a directed graph as undirected: `a -> b` and `b -> a` become one edge with the smaller weight; if parallel edges are kept,
    /// each stays an edge
    #[arg(long)]
    as_undirected: bool,
    /// Only the edges of this length of time, such as 90s, 15m, 1h, 7d, or a number in the unit of the times. The window ends with the
    /// latest edge, or with --at if that is a time
    #[arg(long, value_name = "LENGTH", help_heading = "Windows")]
    window: Option<Span>,
    #[command(flatten)]
    of_window: WindowArgs,
}

/// The options of a window need `--window`.
pub(crate) fn needs_window(argument: Arg) -> Arg {
    let name = argument.get_id().as_str();
    let of_window = WindowArgs::NAMES.contains(&name) || name == "time";
    if of_window { argument.requires("window") } else { argument }
}

/// A version with choices.
pub(crate) struct Chosen {
    pub(crate) snapshot: Snapshot,
    /// The times, if there is a window.
    pub(crate) times: Option<Times>,
}

impl ChoiceArgs {
    /// Whether there is a window.
    pub(crate) fn has_window(&self) -> bool {
        self.window.is_some()
    }

    /// The version to read: a time in `--at` is the end of the window, if there is one.
    pub(crate) fn version(&self, at: &AtArgs) -> (AtArgs, Option<TimePoint>) {
        match at.at {
            Some(VersionSelector::Time(time)) if self.has_window() => {
                (AtArgs { at: None }, Some(TimePoint::of_nanoseconds(time)))
            }
            _ => (at.clone(), None),
        }
    }

    /// The version with these choices, this weight, and its times in this property. The window ends at `until`, or with the latest edge.
    ///
    /// # Errors
    /// No such property, or no numbers in it.
    pub(crate) fn of(
        &self,
        snapshot: Snapshot,
        (weight, time): (Option<&str>, Option<&str>),
        until: Option<&TimePoint>,
        run: &Run,
    ) -> Result<Chosen, Failure> {
        let snapshot = match weight {
            Some(name) => snapshot.weighted_by(name)?,
            None => snapshot,
        };
        let snapshot = if self.as_undirected { snapshot.as_undirected() } else { snapshot };
        let Some(length) = self.window else { return Ok(Chosen { snapshot, times: None }) };
        let times = self.of_window.times_ending(&snapshot, time, run)?;
        let window = times.window(length, until, self.of_window.copies()?)?;
        let snapshot = snapshot.window(&times.property, window, self.of_window.all_vertices, run)?;
        Ok(Chosen { snapshot, times: Some(times) })
    }
}

//! Which graph of a version a run computes on.
//!
//! The order of the choices is that of docs/views.md: window, conditions, direction, joining of copies.

use clap::{Arg, Args};
use esker::graph::Run;
use esker::store::View;
use esker::store::manifest::VersionSelector;
use esker::window::{Span, TimePoint, Times};

use crate::args::at::AtArgs;
use crate::args::selecting::WhereArgs;
use crate::args::window_args::WindowArgs;
use crate::failure::Failure;
use crate::show::text;

/// Choices beside the version.
#[derive(Debug, Clone, Args)]
pub(crate) struct ChoiceArgs {
    #[command(flatten)]
    selected: WhereArgs,
    /// Turn all edges of a directed graph round
    #[arg(long)]
    reverse: bool,
    /// Read a directed graph as undirected: `a -> b` and `b -> a` become one edge with the smaller weight; if
    /// parallel edges are kept, each stays an edge
    #[arg(long)]
    as_undirected: bool,
    /// Only the edges of this length of time, such as 90s, 15m, 1h, 7d, or a number in the unit of the times.
    /// The window ends with the latest edge, or with --at if that is a date
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
pub(crate) struct ChosenVersion {
    pub(crate) view: View,
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

    /// Refuses an integer in `--at` that stood for a time: it chose the version, and the window would end
    /// with the latest edge of that.
    pub(crate) fn expect_end(&self, at: &AtArgs, view: &View) -> Result<(), Failure> {
        match at.at {
            Some(VersionSelector::Number(number))
                if self.has_window() && number != view.version().number() =>
            {
                Err(Failure::Usage(format!(
                    "--at {number} is a time, and does not say where the window ends: give it as a date, such as 2026-11-21T10:00:00Z"
                )))
            }
            _ => Ok(()),
        }
    }

    /// The version with these choices, this weight, and its times in this property. The window ends at
    /// `until`, or with the latest edge.
    ///
    /// # Errors
    /// No such property, or no numbers in it.
    pub(crate) fn of(
        &self,
        view: View,
        weight: Option<&str>,
        time: Option<&str>,
        until: Option<&TimePoint>,
        run: &Run,
    ) -> Result<ChosenVersion, Failure> {
        let view = match weight {
            Some(name) => view.weighted_by(name)?,
            None => view,
        };
        let all_vertices = self.of_window.all_vertices;
        self.selected.check_all_vertices(all_vertices, self.has_window())?;
        if self.reverse && !view.version().is_directed() {
            return Err(Failure::Usage("--reverse has no effect: the graph is undirected".to_owned()));
        }
        let conditions = self.selected.on(&view)?;
        let view = if self.reverse { view.reversed() } else { view };
        let view = if self.as_undirected { view.as_undirected() } else { view };
        let times = match self.window {
            Some(_) => Some(self.of_window.times_ending(&view, time, run)?),
            None => None,
        };
        let window = match (&times, self.window) {
            (Some(times), Some(length)) => {
                let window = times.window(length, until, self.of_window.copies()?)?;
                Some((times.property.as_str(), window))
            }
            _ => None,
        };
        let view = match (conditions, window) {
            (Some(conditions), window) => view.filtered(conditions, window, all_vertices, run)?,
            (None, Some((time, window))) => view.window(time, window, all_vertices, run)?,
            (None, None) => view,
        };
        if let Some(note) = empty_note(&view, times.as_ref(), run)? {
            text::remark(&note);
        }
        Ok(ChosenVersion { view, times })
    }
}

/// Why a view has no edges, if it has none.
fn empty_note(view: &View, times: Option<&Times>, run: &Run) -> Result<Option<String>, Failure> {
    let Some(index) = view.window_index().filter(|index| index.num_edges() == 0) else {
        return Ok(None);
    };
    let Some(times) = times else { return Ok(Some("No edge meets the conditions".to_owned())) };
    let format = |time| times.unit.format(time);
    let (after, until) = (format(index.window().after), format(index.window().until));
    let conditions = if view.is_filtered() { " and meets the conditions" } else { "" };
    let range = match view.version().time_range(&times.property, run)? {
        Some((first, last)) => {
            format!("the times in {:?} are {} to {}", times.property, format(first), format(last))
        }
        None => "the graph has no edges".to_owned(),
    };
    Ok(Some(format!("No edge is later than {after}, not later than {until}{conditions}: {range}")))
}

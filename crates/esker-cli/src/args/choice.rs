//! Which graph of a version a run computes on.
//!
//! The order of the choices is that of docs/views.md: window, conditions, direction, joining of copies.

use clap::{Arg, Args};
use esker::graph::Run;
use esker::session::{Selected, Selection, WindowSelection};
use esker::store::Version;
use esker::window::{EpochUnit, Span};

use crate::args::at::AtArgs;
use crate::args::selecting::{QuotedList, WhereArgs};
use crate::args::window_args::WindowArgs;
use crate::failure::Failure;
use crate::show::text;

/// Choices beside the version.
#[derive(Debug, Clone, Args)]
pub(crate) struct ChoiceArgs {
    #[command(flatten)]
    selected: WhereArgs,
    /// Leave out these vertices and their edges, as if they were not there; commas separate their ids, and
    /// quotes hold a comma of an id. The answer has no rows for them, and other vertices stay
    #[arg(long = "what-if-without", value_name = "ID,...")]
    without: Vec<QuotedList>,
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
    let of_window = WindowArgs::NAMES.contains(&name) || ["time", "timezone"].contains(&name);
    if of_window { argument.requires("window") } else { argument }
}

impl ChoiceArgs {
    /// Whether only the edges of a window are read.
    pub(crate) fn has_window(&self) -> bool {
        self.window.is_some()
    }

    /// The unit of the times, if it is given.
    pub(crate) fn unit(&self) -> Option<EpochUnit> {
        self.of_window.unit()
    }

    /// What is selected, with a weight and times in these properties.
    ///
    /// # Errors
    /// `--combine` where it has no effect.
    pub(crate) fn selection(
        &self,
        at: &AtArgs,
        weight: Option<&str>,
        time: Option<&str>,
    ) -> Result<Selection, Failure> {
        let window = match self.window {
            Some(length) => Some(WindowSelection {
                time: time.map(str::to_owned),
                unit: self.of_window.unit(),
                copies: self.of_window.copies()?,
                rules: self.of_window.rules(None),
                ..WindowSelection::of(length)
            }),
            None => None,
        };
        Ok(Selection {
            version: at.at.clone(),
            weight: weight.map(str::to_owned),
            conditions: self.selected.conditions.clone(),
            kinds: self.selected.kinds.kinds(),
            kinds_are_checked: false,
            without: self.without.iter().flat_map(|list| list.0.iter().cloned()).collect(),
            window,
            all_vertices: self.of_window.all_vertices,
            reversed: self.reverse,
            undirected: self.as_undirected,
        })
    }
}

/// The selected view of a version. Says what a person should know of it.
pub(crate) fn select(selection: &Selection, version: &Version, run: &Run) -> Result<Selected, Failure> {
    let selected = selection.of(version, run)?;
    selected.warnings.iter().for_each(|warning| text::warn(&format!("warning: {warning}")));
    selected.note.iter().for_each(|note| text::remark(note));
    Ok(selected)
}

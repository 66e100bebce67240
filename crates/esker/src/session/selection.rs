//! Which graph of a database is computed on.

use std::sync::Arc;

use esker_graph::{Run, Setting, VertexId, message};
use esker_store::format::PropertyRecord;
use esker_store::manifest::VersionSelector;
use esker_store::windows::{ArcFilter, Copies, TimeWindow};
use esker_store::{Version, View};

use crate::error::{Error, Result};
use crate::local::{LocalGraph, PathDirection};
use crate::selection::{Condition, Conditions, check_kinds, notes};
use crate::window::{EpochUnit, Span, TimePoint, Times, WindowRules};

/// A version, and which of its edges a run reads in which direction.
///
/// Choices combine whatever the order of the calls: window, conditions, direction, joining of copies, as
/// `docs/views.md` says.
///
/// ```
/// use esker::Selection;
///
/// let friends = Selection::at("monday")?.filtered("kind=friend")?.filtered("since>=2020")?.undirected();
/// let last_hour = Selection::latest().window("1h")?.weighted_by("bytes");
/// # let _ = (friends, last_hour);
/// # Ok::<(), esker::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Selection {
    /// The version; `None`: the newest. In a window, a time is the end of the window, in the newest version.
    pub version: Option<VersionSelector>,
    /// The edge property that is the weight; `None`: that of the import.
    pub weight: Option<String>,
    /// Only edges that meet all of these.
    pub conditions: Vec<Condition>,
    /// Only edges of these kinds; of any if empty.
    pub kinds: Vec<String>,
    /// Whether the version may lack these kinds, because [`check_kinds`](crate::selection::check_kinds) found
    /// them in another one.
    pub kinds_are_checked: bool,
    /// Without these vertices and their edges, as if they were not there.
    pub without: Vec<String>,
    /// Only edges of a range of times.
    pub window: Option<WindowSelection>,
    /// Whether vertices stay that the conditions or the window leave without an edge.
    pub all_vertices: bool,
    /// Whether each edge is turned round.
    pub reversed: bool,
    /// Whether directions are dropped.
    pub undirected: bool,
}

/// A window by its length, which ends with the latest edge or at a given time.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowSelection {
    /// The length.
    pub length: Span,
    /// The end; `None`: the latest time of an edge.
    pub until: Option<TimePoint>,
    /// The edge property that holds the times; `None`: as declared, or the only one that can.
    pub time: Option<String>,
    /// The unit of the times; `None`: as declared, or guessed.
    pub unit: Option<EpochUnit>,
    /// What becomes of several edges from one vertex to another.
    pub copies: Copies,
    /// How it lies in time.
    pub rules: WindowRules,
}

impl WindowSelection {
    /// Of a length, ending with the latest edge.
    pub fn of(length: Span) -> Self {
        Self {
            length,
            until: None,
            time: None,
            unit: None,
            copies: Copies::All,
            rules: WindowRules::default(),
        }
    }
}

/// The view that a selection gives.
#[derive(Debug, Clone)]
pub struct Selected {
    /// The view.
    pub view: View,
    /// The times of its edges, if there is a window.
    pub times: Option<Times>,
    /// Conditions that no edge can meet.
    pub warnings: Vec<String>,
    /// Why the view has no edges, if it has none.
    pub note: Option<String>,
}

/// The edges that a selection gives to small questions.
#[derive(Debug, Clone)]
pub struct LocalSelection {
    conditions: Option<Arc<Conditions>>,
    /// The property that holds the times, and their range.
    window: Option<(PropertyRecord, TimeWindow)>,
    /// Which way paths lead over the edges.
    pub direction: PathDirection,
    /// Conditions that no edge can meet.
    pub warnings: Vec<String>,
}

impl LocalSelection {
    /// The edges of the version that they were selected of.
    pub fn graph<'a>(&'a self, version: &'a Version) -> LocalGraph<'a> {
        let graph = LocalGraph::new(version, self.conditions.as_deref());
        match &self.window {
            Some((times, window)) => graph.within(times, *window),
            None => graph,
        }
    }
}

impl Selection {
    /// The newest version, as it is stored.
    pub fn latest() -> Self {
        Self::default()
    }

    /// A version by number, tag or time, such as `3`, `monday` or `2026-11-21`.
    ///
    /// # Errors
    /// If the text is none of these.
    pub fn at(version: &str) -> Result<Self> {
        Ok(Self { version: Some(version.parse()?), ..Self::default() })
    }

    /// The version with a number.
    pub fn version(number: u64) -> Self {
        Self { version: Some(VersionSelector::Number(number)), ..Self::default() }
    }

    /// With the weights of edges in a property.
    #[must_use]
    pub fn weighted_by(self, property: impl Into<String>) -> Self {
        Self { weight: Some(property.into()), ..self }
    }

    /// Only edges that meet a condition, such as `kind=friend`, beside those before.
    ///
    /// # Errors
    /// [`Error::Usage`] if the text is no condition.
    pub fn filtered(mut self, condition: &str) -> Result<Self> {
        self.conditions.push(condition.parse().map_err(|reason: String| Error::usage(reason))?);
        Ok(self)
    }

    /// Only edges of one of some kinds.
    #[must_use]
    pub fn of_kinds<S: Into<String>>(self, kinds: impl IntoIterator<Item = S>) -> Self {
        Self { kinds: kinds.into_iter().map(Into::into).collect(), ..self }
    }

    /// Only edges of a length of time, such as `1h`, up to the latest or to the time of [`Selection::at`].
    ///
    /// # Errors
    /// [`Error::Usage`] if the text is no length.
    pub fn window(self, length: &str) -> Result<Self> {
        let length = length.parse().map_err(|reason: String| Error::usage(reason))?;
        Ok(Self { window: Some(WindowSelection::of(length)), ..self })
    }

    /// Without some vertices and their edges, as if they were not there. Other vertices stay, but for what
    /// conditions and a window leave out.
    #[must_use]
    pub fn without<S: Into<String>>(self, ids: impl IntoIterator<Item = S>) -> Self {
        Self { without: ids.into_iter().map(Into::into).collect(), ..self }
    }

    /// With the vertices that are left without an edge.
    #[must_use]
    pub fn with_all_vertices(self) -> Self {
        Self { all_vertices: true, ..self }
    }

    /// With each edge turned round.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self { reversed: true, ..self }
    }

    /// Without directions.
    #[must_use]
    pub fn undirected(self) -> Self {
        Self { undirected: true, ..self }
    }

    /// What selects the version: not a time that is the end of the window.
    pub fn selector(&self) -> Option<&VersionSelector> {
        self.version.as_ref().filter(|_| self.end().is_none())
    }

    /// The end of the window that [`Selection::version`] gives.
    fn end(&self) -> Option<TimePoint> {
        match (&self.window, &self.version) {
            (Some(_), Some(VersionSelector::Time(time))) => Some(TimePoint::of_nanoseconds(*time)),
            _ => None,
        }
    }

    /// The selected view of a version. A window reads times, and counts edges; so do conditions.
    ///
    /// # Errors
    /// [`Error::Usage`] for choices without effect, conditions that the properties do not fit, and a window
    /// whose end a number cannot say; no such property; the first block that cannot be read; the memory
    /// limit of `run`.
    pub fn of(&self, version: &Version, run: &Run) -> Result<Selected> {
        self.check(version)?;
        let view = match &self.weight {
            Some(property) => version.view().weighted_by(property)?,
            None => version.view(),
        };
        if self.reversed && !version.is_directed() {
            return Err(Error::usage(message![Setting::Reverse, " has no effect: the graph is undirected"]));
        }
        let warnings = notes(&self.conditions, version)?;
        if !self.kinds_are_checked {
            check_kinds(&self.kinds, &[version])?;
        }
        let conditions = Conditions::with_checked_kinds(&self.conditions, &self.kinds, version, run)?;
        let view = if self.reversed { view.reversed() } else { view };
        let view = if self.undirected { view.as_undirected() } else { view };
        let (times, range) = self.range(&view, run)?.unzip();
        let window = times.as_ref().map(|times| times.property.as_str()).zip(range);
        let left_out = self.without.iter().map(|id| version.find_vertex(id, run));
        let left_out = left_out.collect::<esker_store::Result<Vec<VertexId>>>()?;
        let has_conditions = conditions.is_some();
        let view = match (conditions, window) {
            (conditions, window) if !left_out.is_empty() => {
                let filter = conditions.map(|conditions| conditions as Arc<dyn ArcFilter>);
                view.without(&left_out, filter, window, self.all_vertices, run)?
            }
            (Some(conditions), window) => view.filtered(conditions, window, self.all_vertices, run)?,
            (None, Some((time, window))) => view.window(time, window, self.all_vertices, run)?,
            (None, None) => view,
        };
        let choice = format!(
            "{}{}",
            if has_conditions { " meets the conditions" } else { "" },
            if left_out.is_empty() { "" } else { " beside those of the vertices that are left out" }
        );
        let note = empty_note(&view, times.as_ref(), &choice, run)?;
        Ok(Selected { view, times, warnings, note })
    }

    /// The times of the edges, and the range that the window is, if there is one.
    fn range(&self, view: &View, run: &Run) -> Result<Option<(Times, TimeWindow)>> {
        let Some(window) = &self.window else { return Ok(None) };
        let times = Times::ending(view, window.time.as_deref(), window.unit, run)?.under(&window.rules);
        let end = self.end();
        let range = times.window(window.length, window.until.as_ref().or(end.as_ref()), window.copies)?;
        Ok(Some((times, range)))
    }

    /// What small questions about the selected edges read: no more than the lists that they need.
    ///
    /// # Errors
    /// As [`Selection::of`], and [`Error::Usage`] for a window that joins edges, and to keep all vertices.
    pub fn local(&self, version: &Version, run: &Run) -> Result<LocalSelection> {
        self.check(version)?;
        if self.all_vertices {
            return Err(Error::usage(message![Setting::AllVertices, " has no effect on single edges"]));
        }
        if !self.without.is_empty() {
            let message =
                "vertices are left out of whole graphs: small questions about edges have no such choice";
            return Err(Error::usage(message.to_owned()));
        }
        if self.window.as_ref().is_some_and(|window| window.copies != Copies::All) {
            return Err(Error::usage("a window that joins edges has no single ones".to_owned()));
        }
        let direction = match (self.reversed, self.undirected) {
            (true, _) if !version.is_directed() => {
                return Err(Error::usage(message![
                    Setting::Reverse,
                    " has no effect: the graph is undirected"
                ]));
            }
            (_, true) => PathDirection::Either,
            (true, false) => PathDirection::Against,
            (false, false) => PathDirection::Along,
        };
        let warnings = notes(&self.conditions, version)?;
        check_kinds(&self.kinds, &[version])?;
        let conditions = Conditions::with_checked_kinds(&self.conditions, &self.kinds, version, run)?;
        let window = match self.range(&version.view(), run)? {
            Some((times, range)) => Some((version.edge_property(&times.property)?.clone(), range)),
            None => None,
        };
        Ok(LocalSelection { conditions, window, direction, warnings })
    }

    /// Refuses choices that have no effect, and an integer that stood for a time: it chose the version, and
    /// the window would end with the latest edge of that.
    fn check(&self, version: &Version) -> Result<()> {
        let leaves_out = self.window.is_some() || !self.conditions.is_empty() || !self.kinds.is_empty();
        check_all_vertices(self.all_vertices, leaves_out)?;
        match self.version {
            Some(VersionSelector::Number(number)) if self.window.is_some() && number != version.number() => {
                Err(Error::usage(message![
                    Setting::At.to(number),
                    " is a time, and does not say where the window ends: give it as a date, such as \
                     2026-11-21T10:00:00Z"
                ]))
            }
            _ => Ok(()),
        }
    }
}

/// Refuses to keep all vertices where nothing leaves out edges.
///
/// # Errors
/// [`Error::Usage`].
pub fn check_all_vertices(all_vertices: bool, leaves_out: bool) -> Result<()> {
    if all_vertices && !leaves_out {
        let all = Setting::AllVertices;
        let message = message![
            all,
            " has no effect: only ",
            Setting::Window,
            ", ",
            Setting::Kind,
            " and ",
            Setting::Where,
            " leave out edges, and with them vertices"
        ];
        return Err(Error::usage(message));
    }
    Ok(())
}

/// Why a view has no edges, if it has none; `choice` says which edges are chosen beside a window.
fn empty_note(view: &View, times: Option<&Times>, choice: &str, run: &Run) -> Result<Option<String>> {
    let Some(index) = view.window_index().filter(|index| index.num_edges() == 0) else {
        return Ok(None);
    };
    let Some(times) = times else {
        let is = if choice.starts_with(" meets") { "" } else { " is left" };
        return Ok(Some(format!("No edge{is}{choice}")));
    };
    let choice = choice.replacen(" meets", " and meets", 1);
    let format = |time| times.format(time);
    let (after, until) = (format(index.window().after), format(index.window().until));
    let range = match view.version().time_range(&times.property, run)? {
        Some((first, last)) => {
            format!("the times in {:?} are {} to {}", times.property, format(first), format(last))
        }
        None => "the graph has no edges".to_owned(),
    };
    Ok(Some(format!("No edge is later than {after}, not later than {until}{choice}: {range}")))
}

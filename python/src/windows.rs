//! Windows over the times of edges.

use std::num::NonZeroU64;

use esker::alert::{Alert, AlertRule, SeriesAlerts};
use esker::answer::Answer;
use esker::catalogue::find;
use esker::compare::compare;
use esker::computation::Computation;
use esker::graph::Cancel;
use esker::store::View;
use esker::store::windows::{Combine, Copies, TimeWindow};
use esker::versions::answers_on_versions;
use esker::window::{
    Alignment, ClosedEnd, EpochUnit, MovingWindow, Span, Step, TimePoint, Times, WindowJob, WindowRules,
    WindowSeries,
};
use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::failure::{PyFailure, PyOutcome, invalid};
use crate::graph::{PyGraph, params};
use crate::output::answer::{PyAnswer, facts_by_name};
use crate::output::stream::PyAnswerStream;
use crate::settings::{Settings, ViewSettings, one_of};
use crate::watch::watched_reading;

/// The largest number of windows in a series.
const STEPS_MAX: usize = 1 << 24;

/// The times of a version, as a tuple.
#[derive(FromPyObject)]
pub(crate) struct WindowTimes {
    #[pyo3(item(0))]
    property: String,
    /// The symbol of the unit.
    #[pyo3(item(1))]
    unit: String,
    /// The least and the greatest time.
    #[pyo3(item(2))]
    range: Option<(i64, i64)>,
    /// The zone whose days windows follow.
    #[pyo3(item(3))]
    zone: Option<String>,
    /// Which end belongs to a window.
    #[pyo3(item(4))]
    closed: Option<String>,
}

impl WindowTimes {
    fn times(self) -> PyOutcome<Times> {
        let unit = one_of("time_unit", &self.unit, &EpochUnit::ALL)?;
        let rules = rules(self.zone.as_deref(), self.closed.as_deref())?;
        Ok(Times { property: self.property, unit, range: self.range, rules })
    }
}

/// The rules of windows in a zone, with `left` or `right` as the end that belongs to them.
fn rules(zone: Option<&str>, closed: Option<&str>) -> PyOutcome<WindowRules> {
    let ends = [("left", ClosedEnd::Left), ("right", ClosedEnd::Right)];
    Ok(WindowRules {
        zone: zone.map(|zone| zone.parse().or_else(invalid)).transpose()?,
        closed: closed.map(|closed| one_of("closed", closed, &ends)).transpose()?,
    })
}

pub(crate) fn span(text: &str) -> PyOutcome<Span> {
    text.parse().or_else(invalid)
}

fn point(text: Option<&str>) -> PyOutcome<Option<TimePoint>> {
    text.map(|text| text.parse().or_else(invalid)).transpose()
}

/// The property with the times of edges, the symbol of their unit, the least and greatest of them, the zone
/// whose days windows follow, and the end that belongs to a window.
type VersionTimes = (String, String, Option<(i64, i64)>, Option<String>, Option<String>);

/// Finds the times of a version: the property, the symbol of the unit, the least and the greatest time.
/// Reads them all.
#[pyfunction]
pub(crate) fn window_times(
    py: Python<'_>,
    graph: &PyGraph,
    time: Option<&str>,
    unit: Option<&str>,
    rules: (Option<&str>, Option<&str>),
    settings: Settings,
) -> PyOutcome<VersionTimes> {
    let (unit, closed) = (self::unit(unit)?, rules.1.map(str::to_owned));
    let rules = self::rules(rules.0, rules.1)?;
    let (run, cancel, listener) = settings.run("times")?;
    let times = watched_reading(py, &cancel, listener.as_ref(), graph.view.version().path(), || {
        Ok(Times::of(&graph.view, time, unit, &run)?.under(&rules))
    })?;
    let zone = times.rules.zone.map(|zone| zone.name().to_owned());
    Ok((times.property, symbol(times.unit).to_owned(), times.range, zone, closed))
}

/// How far the end of a window is from the next, as a tuple: a length of time, or a number of edges.
#[derive(FromPyObject)]
pub(crate) struct StepText {
    #[pyo3(item(0))]
    every: Option<String>,
    #[pyo3(item(1))]
    every_edges: Option<u64>,
}

impl StepText {
    fn step(self) -> PyOutcome<Option<Step>> {
        let edges = match self.every_edges.map(NonZeroU64::new) {
            Some(None) => return invalid("every_edges must be at least 1"),
            edges => edges.flatten().map(Step::Edges),
        };
        Ok(self.every.as_deref().map(span).transpose()?.map(Step::Length).or(edges))
    }
}

/// The ends of windows that follow each other, in the unit of the times. Steps of a length begin with the
/// `calendar`, the `first` edge or a time.
#[pyfunction]
pub(crate) fn window_ends(
    py: Python<'_>,
    graph: &PyGraph,
    times: WindowTimes,
    every: StepText,
    align: &str,
    range: (Option<&str>, Option<&str>),
    settings: Settings,
) -> PyOutcome<Vec<i64>> {
    let (times, (first, last)) = (times.times()?, (point(range.0)?, point(range.1)?));
    let alignment = align.parse::<Alignment>().or_else(invalid)?;
    let step = match every.step()? {
        Some(Step::Length(every)) => times.step(every, &alignment)?,
        Some(step) => step,
        None => return invalid("every is missing"),
    };
    let (run, cancel, listener) = settings.run("times")?;
    watched_reading(py, &cancel, listener.as_ref(), graph.view.version().path(), || {
        let mut steps = times.ends(&graph.view, step, first.as_ref(), last.as_ref(), &run)?;
        let ends: Vec<i64> = steps.by_ref().take(STEPS_MAX).collect();
        if steps.next().is_some() {
            return invalid(format!("there are more than {STEPS_MAX} windows: choose a longer step"));
        }
        Ok(ends)
    })
}

/// The last time before a window, which it excludes, and the last time in it. The window has a length or
/// begins with the first time; it ends at a time or with the latest.
#[pyfunction]
pub(crate) fn window_range(
    times: WindowTimes,
    length: Option<&str>,
    until: Option<&str>,
    end: Option<i64>,
) -> PyOutcome<(i64, i64)> {
    let times = times.times()?;
    let until = match (end, point(until)?) {
        (Some(end), _) => end,
        (None, until) => times.end(until.as_ref())?,
    };
    let after = match length {
        Some(length) => times.window_until(span(length)?, until, Copies::All)?.after,
        None => times.range.map_or(until, |range| range.0).saturating_sub(1),
    };
    Ok((after, until))
}

/// What becomes of several edges: `all`, `distinct`, `count`, `sum`, `min`, `max` or `last`.
fn parse_copies(name: &str) -> PyOutcome<Copies> {
    let choices = [
        ("all", Copies::All),
        ("distinct", Copies::Distinct),
        ("count", Copies::Weighted(Combine::Count)),
        ("sum", Copies::Weighted(Combine::Sum)),
        ("min", Copies::Weighted(Combine::Min)),
        ("max", Copies::Weighted(Combine::Max)),
        ("last", Copies::Weighted(Combine::Last)),
    ];
    one_of("copies", name, &choices)
}

fn unit(symbol: Option<&str>) -> PyOutcome<Option<EpochUnit>> {
    symbol.map(|symbol| one_of("time_unit", symbol, &EpochUnit::ALL)).transpose()
}

/// The symbol of a unit.
pub(crate) fn symbol(unit: EpochUnit) -> &'static str {
    EpochUnit::ALL.iter().find(|known| known.1 == unit).map_or("s", |known| known.0)
}

/// A window that moves with the versions, as a tuple.
#[derive(FromPyObject)]
pub(crate) struct MovingText {
    #[pyo3(item(0))]
    length: String,
    #[pyo3(item(1))]
    every: StepText,
    /// The property of the times.
    #[pyo3(item(2))]
    time: Option<String>,
    /// The symbol of their unit.
    #[pyo3(item(3))]
    unit: Option<String>,
    #[pyo3(item(4))]
    copies: String,
    #[pyo3(item(5))]
    all_vertices: bool,
}

impl MovingText {
    /// The window.
    pub(crate) fn window(self) -> PyOutcome<MovingWindow> {
        Ok(MovingWindow {
            length: span(&self.length)?,
            every: self.every.step()?,
            time: self.time,
            unit: unit(self.unit.as_deref())?,
            copies: parse_copies(&self.copies)?,
            all_vertices: self.all_vertices,
            rules: WindowRules::default(),
        })
    }
}

/// What raises alerts, as a tuple.
#[derive(FromPyObject)]
pub(crate) struct AlertText {
    #[pyo3(item(0))]
    condition: Option<String>,
    #[pyo3(item(1))]
    new_rows: bool,
    #[pyo3(item(2))]
    pub(crate) min_change: Option<f64>,
}

impl AlertText {
    /// The rule; `None` if nothing raises alerts.
    pub(crate) fn rule(&self) -> PyOutcome<Option<AlertRule>> {
        let condition = self.condition.as_deref().map(|text| text.parse().or_else(invalid)).transpose()?;
        let Self { new_rows, min_change, .. } = *self;
        let rule = AlertRule { condition, new_rows, min_change };
        Ok((rule.condition.is_some() || new_rows).then_some(rule))
    }
}

/// Alerts as JSON.
pub(crate) fn alert_texts(alerts: Vec<Alert>) -> Vec<String> {
    alerts.into_iter().map(|alert| serde_json::Value::Object(alert.to_json()).to_string()).collect()
}

/// Raises alerts of windows that follow each other, those of each length by itself.
#[pyclass(frozen, name = "WindowAlerts", module = "esker._esker")]
pub(crate) struct PyWindowAlerts {
    of_lengths: Mutex<Vec<SeriesAlerts>>,
}

#[pymethods]
impl PyWindowAlerts {
    /// Those of an algorithm on windows of a number of lengths.
    #[new]
    fn new(graph: &PyGraph, name: &str, alerts: AlertText, lengths: usize) -> PyOutcome<Self> {
        let entry = find(name)?;
        let Some(rule) = alerts.rule()? else {
            return invalid("nothing raises an alert: give alert, a condition, or alert_new=True");
        };
        let of_lengths = (0..lengths).map(|_| SeriesAlerts::new(&rule, entry, &graph.view));
        Ok(Self { of_lengths: Mutex::new(of_lengths.collect::<Result<_, _>>()?) })
    }
}

/// The alerts of an algorithm on each of some windows, which come after those before, as JSON. The lengths of
/// windows take turns, and `first` is that of the first window.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub(crate) fn window_alerts(
    py: Python<'_>,
    graph: &PyGraph,
    windows: WindowRanges,
    choice: ViewSettings,
    name: &str,
    options: Vec<(String, String)>,
    settings: Settings,
    alerts: &PyWindowAlerts,
    first: usize,
) -> PyOutcome<Vec<Vec<String>>> {
    let mut raised = Vec::new();
    let mut of_lengths = std::mem::take(&mut *alerts.of_lengths.lock());
    let lengths = of_lengths.len();
    let done = windows.answers(py, graph, choice, name, options, settings, |view, answer, cancel| {
        let of_length = &mut of_lengths[(first + raised.len()) % lengths];
        raised.push(alert_texts(of_length.step(view, &answer, cancel)?));
        Ok(())
    });
    *alerts.of_lengths.lock() = of_lengths;
    done.map(|()| raised)
}

/// The graph of a window. `copies` is `all`, `distinct`, `count`, `sum`, `min` or `max`.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub(crate) fn window(
    py: Python<'_>,
    graph: &PyGraph,
    property: &str,
    range: (i64, i64),
    copies: &str,
    all_vertices: bool,
    choice: ViewSettings,
    settings: Settings,
) -> PyOutcome<PyGraph> {
    let copies = parse_copies(copies)?;
    let window = TimeWindow { after: range.0, until: range.1, copies };
    let (run, cancel, listener) = settings.run("window")?;
    let view = choice.of(&graph.view)?;
    let view = watched_reading(py, &cancel, listener.as_ref(), graph.view.version().path(), || {
        Ok(view.window(property, window, all_vertices, &run)?)
    })?;
    Ok(PyGraph { view, rows: graph.rows.clone() })
}

/// Windows over the times in a property, as a tuple.
#[derive(FromPyObject)]
pub(crate) struct WindowRanges {
    #[pyo3(item(0))]
    property: String,
    #[pyo3(item(1))]
    ranges: Vec<(i64, i64)>,
    #[pyo3(item(2))]
    copies: String,
    #[pyo3(item(3))]
    all_vertices: bool,
}

impl WindowRanges {
    /// Hands over the answers of an algorithm, in order: windows that overlap share one reading of their
    /// edges.
    #[allow(clippy::too_many_arguments)]
    fn answers(
        self,
        py: Python<'_>,
        graph: &PyGraph,
        choice: ViewSettings,
        name: &str,
        options: Vec<(String, String)>,
        settings: Settings,
        mut take: impl FnMut(&View, Answer, &Cancel) -> PyOutcome<()> + Send,
    ) -> PyOutcome<()> {
        let Self { property, ranges, copies, all_vertices } = self;
        let copies = parse_copies(&copies)?;
        let (entry, params) = (find(name)?, params(options));
        let windows = ranges.into_iter().map(|(after, until)| TimeWindow { after, until, copies }).collect();
        let resources = settings.resources();
        let (run, cancel, listener) = settings.run(name)?;
        let view = choice.of(&graph.view)?;
        let computation = Computation::of(entry, &params);
        let job = WindowJob { computation, resources: &resources, all_vertices };
        watched_reading(py, &cancel, listener.as_ref(), graph.view.version().path(), || {
            WindowSeries::answers(&view, &property, windows, &job, &run, |found| {
                take(&view, found.answer, run.cancel())
            })?;
            Ok(())
        })
    }
}

/// The answers of an algorithm on some windows, in order.
#[pyfunction]
pub(crate) fn window_answers(
    py: Python<'_>,
    graph: &PyGraph,
    windows: WindowRanges,
    choice: ViewSettings,
    name: &str,
    options: Vec<(String, String)>,
    settings: Settings,
) -> PyOutcome<Vec<PyAnswer>> {
    let mut answers = Vec::new();
    windows.answers(py, graph, choice, name, options, settings, |_, answer, _| {
        answers.push(PyAnswer::new(answer, &graph.rows));
        Ok(())
    })?;
    Ok(answers)
}

/// The answers of an algorithm on the first of several successive versions: on as many as are computed
/// together.
#[pyfunction]
pub(crate) fn version_answers(
    py: Python<'_>,
    graphs: Vec<Py<PyGraph>>,
    choice: ViewSettings,
    name: &str,
    options: Vec<(String, String)>,
    settings: Settings,
) -> PyOutcome<Vec<PyAnswer>> {
    let (entry, params) = (find(name)?, params(options));
    let (run, cancel, listener) = settings.run(name)?;
    let mut read = Vec::new();
    for graph in &graphs {
        read.push(choice.of(&graph.get().view)?);
    }
    if read.first().is_none_or(|first| entry.reads_weights(first) || first.drops_directions()) {
        return Ok(Vec::new());
    }
    let path = read[0].version().path().to_owned();
    watched_reading(py, &cancel, listener.as_ref(), &path, || {
        let mut answers = Vec::new();
        let open = |i: usize| Ok::<_, PyFailure>(read[i].version().clone());
        answers_on_versions(read.len(), open, entry, &params, &run, |found| {
            answers.push(PyAnswer::new(found.answer, &graphs[found.index].get().rows));
            Ok(())
        })?;
        Ok(answers)
    })
}

/// What differs between the answers of an algorithm on two graphs: a table, and counts by name.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub(crate) fn compare_answers<'py>(
    py: Python<'py>,
    a: &PyGraph,
    a_choice: ViewSettings,
    b: &PyGraph,
    b_choice: ViewSettings,
    name: &str,
    options: Vec<(String, String)>,
    settings: Settings,
) -> PyOutcome<(PyAnswerStream, Bound<'py, PyDict>)> {
    let (entry, params) = (find(name)?, params(options));
    let resources = settings.resources();
    let (run, cancel, listener) = settings.run(name)?;
    let views = [a_choice.of(&a.view)?, b_choice.of(&b.view)?];
    let path = views[0].version().path().to_owned();
    let found = watched_reading(py, &cancel, listener.as_ref(), &path, || {
        compare([&views[0], &views[1]], &run, |side| {
            let planned = Computation::of(entry, &params).plan_beside(&views[side], &resources, &run)?;
            Ok::<_, PyFailure>(planned.run(&run)?)
        })
    })?;
    let counts = facts_by_name(py, &found.answer.facts)?;
    Ok((PyAnswerStream::of_vertices(found.answer, &found.version), counts))
}

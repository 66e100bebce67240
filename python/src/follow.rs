//! Answers that follow the versions of a database.

use parking_lot::Mutex;
use std::sync::Arc;

use esker::alert::{FollowAlerts, FollowBegin, SmallChanges};
use esker::answer::Value;
use esker::catalogue::{Entry, find};
use esker::follow::beginning::first_window;
use esker::follow::{FollowStep, KeptValues, Method, Resumed};
use esker::graph::{Cancel, Run};
use esker::store::{Follower, Version, View};
use esker::window::{EpochUnit, MovingWindow};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::database::PyDatabase;
use crate::failure::{PyFailure, PyOutcome, invalid};
use crate::graph::params;
use crate::handle::Handle;
use crate::output::answer::{append_ranked, facts_by_name, shown};
use crate::settings::{Settings, ViewSettings};
use crate::watch::{watched, watched_reading};
use crate::windows::{AlertText, MovingText, alert_texts, symbol};

/// Who takes the alerts of this package: states that a command kept have told theirs to others.
const ALERTS_TAKER: &str = "python";

/// An answer for the newest version that was looked at.
#[pyclass(frozen, name = "Follow", module = "esker._esker")]
pub(crate) struct PyFollow {
    database: Py<PyDatabase>,
    state: Mutex<FollowState>,
    run: Arc<Run>,
    cancel: Cancel,
}

struct FollowState {
    follow: esker::follow::Follow,
    /// Of a database that is open for reading. One that is open for writing knows its newest version.
    follower: Option<Follower>,
    choice: ViewSettings,
    window: Option<MovingWindow>,
    /// The unit of the times, of a window.
    unit: Option<EpochUnit>,
    /// The newest version that was looked at. The answer is of an earlier one if its window has not moved
    /// since.
    passed: u64,
    /// Why a state that was kept is of no use.
    refused: Option<String>,
    /// What changed between the version of that state, which was forgotten, and the one with which the answer
    /// begins: the first step.
    missed: Option<FollowStep>,
    raising: Raising,
    /// For which reader states are kept.
    reader: String,
}

/// What raises alerts, and leaves out small changes.
struct Raising {
    alerts: Option<FollowAlerts>,
    /// The alerts of the first answer as JSON, which belong to the first step if that has what was missed.
    first: Vec<String>,
    small: Option<SmallChanges>,
}

impl Raising {
    fn new(text: &AlertText, entry: &'static Entry, view: &View, run: &Run) -> PyOutcome<Self> {
        let alerts = text.rule()?.map(|rule| FollowAlerts::new(&rule, entry, view)).transpose()?;
        let small = text.min_change.map(|least| SmallChanges::new(least, entry, run)).transpose()?;
        Ok(Self { alerts, first: Vec::new(), small })
    }

    /// Raises the alerts of the first answer.
    fn begin(&mut self, follow: &esker::follow::Follow, begin: FollowBegin<'_>, run: &Run) -> PyOutcome<()> {
        if let Some(alerts) = &mut self.alerts {
            self.first = alert_texts(alerts.begin(follow, begin, run)?);
        }
        Ok(())
    }

    /// The step without small changes, and its alerts.
    fn step(
        &mut self,
        follow: &esker::follow::Follow,
        mut step: FollowStep,
        run: &Run,
    ) -> PyOutcome<AlertedStep> {
        if let Some(small) = &mut self.small {
            step.changed = small.filter(step.changed, run)?;
        }
        let alerts = match &mut self.alerts {
            Some(alerts) => alert_texts(alerts.step(follow, &step.changed, run)?),
            None => Vec::new(),
        };
        Ok(AlertedStep { step, alerts })
    }
}

/// A step, and its alerts as JSON.
struct AlertedStep {
    step: FollowStep,
    alerts: Vec<String>,
}

/// The version of a step, the vertices with other values, whether it was computed anew, the end of the
/// window with its unit, and its alerts as JSON.
type StepObjects<'py> = (u64, Vec<ChangedObjects<'py>>, bool, Option<(i64, &'static str)>, Vec<String>);

/// A vertex whose value changed, the old value and the new one.
type ChangedObjects<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);

/// Computes the answer for a version, the newest if `None`.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub(crate) fn follow(
    py: Python<'_>,
    database: Py<PyDatabase>,
    name: &str,
    options: Vec<(String, String)>,
    choice: ViewSettings,
    at: Option<&str>,
    window: Option<MovingText>,
    resumes: bool,
    alerts: AlertText,
    settings: Settings,
) -> PyOutcome<PyFollow> {
    let (entry, params) = (find(name)?, params(options));
    let reader = alerts.rule()?.map(|rule| rule.reader(Some(ALERTS_TAKER))).unwrap_or_default();
    let window = window.map(MovingText::window).transpose()?;
    let (run, cancel, listener) = settings.run(name)?;
    let run = Arc::new(run);
    let handle = database.get().open()?;
    let state = watched(py, &cancel, listener.as_ref(), || {
        let follower = match &handle {
            Handle::Reader(store) => {
                Some(Follower::open(Arc::clone(store.disk()), store.path(), Arc::clone(&run))?)
            }
            Handle::Writer(_) => None,
        };
        let version = match (&follower, at) {
            (Some(follower), None) => follower.at(follower.newest())?,
            (Some(follower), Some(at)) => follower.at(PyDatabase::number_of(&handle, at)?)?,
            (None, at) => PyDatabase::version(&handle, at)?,
        };
        let view = choice.of(&version.view())?;
        let passed = view.version().number();
        let open = |number| Ok(choice.of(&version_at(follower.as_ref(), &handle, number)?.view())?);
        let moved = window.as_ref().map(|window| first_window(window, &view, open, &run));
        let moved = moved.transpose()?.flatten();
        let (view, unit) = moved.map_or((view, None), |(windowed, times)| (windowed, Some(times.unit)));
        let resumed = match resumes {
            true => esker::follow::Follow::resume(&view, open, entry, &params, &reader, &run)?,
            false => Resumed::default(),
        };
        let mut raising = Raising::new(&alerts, entry, &view, &run)?;
        let is_told = resumed.follow.is_some();
        let (passed, follow) = match resumed.follow {
            Some(follow) => (follow.version(), follow),
            None => {
                let run = Arc::<Run>::clone(&run);
                (passed, esker::follow::Follow::start(view, entry, &params, run)?)
            }
        };
        let begin = match &resumed.forgotten {
            Some(kept) => FollowBegin::Since(kept),
            None if is_told => FollowBegin::Told,
            None => FollowBegin::First { tells_new: resumed.refused.is_some() },
        };
        raising.begin(&follow, begin, &run)?;
        let missed = resumed.forgotten.map(|kept| missed_step(&follow, &kept));
        let refused = resumed.refused;
        Ok(FollowState { follow, follower, choice, window, unit, passed, refused, missed, raising, reader })
    })?;
    Ok(PyFollow { database, state: Mutex::new(state), run, cancel })
}

fn version_at(follower: Option<&Follower>, handle: &Handle, number: u64) -> esker::Result<Version> {
    Ok(match (follower, handle) {
        (Some(follower), _) => follower.at(number)?,
        (None, Handle::Writer(writer)) => writer.at(number)?,
        (None, Handle::Reader(store)) => store.at(number)?,
    })
}

/// What changed since the values that were told with a forgotten version.
fn missed_step(follow: &esker::follow::Follow, kept: &KeptValues) -> FollowStep {
    FollowStep {
        version: follow.version(),
        changed: follow.changed_since(kept),
        method: Method::Recompute,
        num_edges: 0,
        diff_seconds: 0.0,
        seconds: 0.0,
    }
}

impl FollowState {
    /// Goes on to the next version that moves the window, if there is one; `None` if there is none yet.
    fn next(&mut self, handle: &Handle, run: &Run) -> PyOutcome<Option<FollowStep>> {
        while let Some(version) = self.ahead(handle)? {
            let number = version.number();
            let view = self.choice.of(&version.view())?;
            let Some(window) = &self.window else {
                let step = self.follow.advance(view)?;
                self.passed = number;
                return Ok(Some(step));
            };
            let moved = window.of(&view, Some(self.follow.view()), run)?;
            let step = moved.map(|(windowed, times)| {
                self.unit = Some(times.unit);
                self.follow.advance(windowed)
            });
            let step = step.transpose()?;
            self.passed = number;
            if step.is_some() {
                return Ok(step);
            }
        }
        Ok(None)
    }

    /// The same, without small changes, and with its alerts.
    fn next_alerted(&mut self, handle: &Handle, run: &Run) -> PyOutcome<Option<AlertedStep>> {
        let step = self.next(handle, run)?;
        step.map(|step| self.raising.step(&self.follow, step, run)).transpose()
    }

    /// The next version that was not looked at.
    fn ahead(&mut self, handle: &Handle) -> PyOutcome<Option<Version>> {
        let known = self.follow.version();
        let newest = match (&mut self.follower, handle) {
            (Some(follower), _) => {
                if follower.newest() <= self.passed {
                    follower.refresh()?;
                }
                follower.newest()
            }
            (None, Handle::Writer(writer)) => writer.latest()?.number(),
            (None, Handle::Reader(_)) => return Ok(None),
        };
        // Versions that were looked at may have been undone since.
        self.passed = self.passed.min(newest);
        if newest == self.passed && newest >= known {
            return Ok(None);
        }
        let passed = self.passed;
        let next = |ahead: Vec<u64>| ahead.into_iter().find(|number| !(known + 1..=passed).contains(number));
        Ok(match (&mut self.follower, handle) {
            (Some(follower), _) => {
                let ahead = self.follow.ahead(follower.versions().map(|version| version.number));
                next(ahead).map(|number| follower.at(number)).transpose()?
            }
            (None, Handle::Writer(writer)) => {
                let versions = writer.versions();
                let ahead = self.follow.ahead(versions.iter().map(|version| version.number));
                next(ahead).map(|number| writer.at(number)).transpose()?
            }
            (None, Handle::Reader(_)) => None,
        })
    }
}

#[pymethods]
impl PyFollow {
    /// Goes on to the next version, if there is one.
    fn next<'py>(&self, py: Python<'py>) -> PyOutcome<Option<StepObjects<'py>>> {
        let handle = self.database.get().open()?;
        let database = self.database.get();
        let updated = watched_reading(py, &self.cancel, None, database.directory(), || {
            let mut state = self.state.lock();
            let update = match state.missed.take() {
                Some(step) => Some(AlertedStep { step, alerts: std::mem::take(&mut state.raising.first) }),
                None => state.next_alerted(&handle, &self.run)?,
            };
            Ok(update.map(|update| (update, state.follow.view().clone(), state.unit)))
        })?;
        drop(handle);
        let Some((AlertedStep { step: update, alerts }, view, unit)) = updated else { return Ok(None) };
        let mut rows = Vec::with_capacity(update.changed.len());
        for changed in &update.changed {
            let [vertex, old, new] = [Value::Vertex(changed.vertex), changed.old, changed.new];
            rows.push((shown(py, &view, vertex)?, shown(py, &view, old)?, shown(py, &view, new)?));
        }
        let end = view.window_index().map(|index| index.window().until);
        let end = end.zip(unit).map(|(end, unit)| (end, symbol(unit)));
        Ok(Some((update.version, rows, update.method == Method::Recompute, end, alerts)))
    }

    /// The number of the version that the answer is of.
    #[getter]
    fn version(&self) -> u64 {
        self.state.lock().follow.version()
    }

    /// Why a state that was kept is of no use.
    #[getter]
    fn refused(&self) -> Option<String> {
        self.state.lock().refused.clone()
    }

    /// Keeps the state in the database; returns whether it can be kept.
    fn keep(&self, py: Python<'_>) -> PyOutcome<bool> {
        py.detach(|| {
            let state = self.state.lock();
            if state.raising.small.is_some() {
                return invalid("a state is not kept with min_change: it does not hold what was told last");
            }
            Ok(state.follow.keep(&state.reader)?)
        })
    }

    /// The alerts of the first answer, as JSON, and the end of its window with its unit. Of an answer whose
    /// first step is what changed since a forgotten version, they are those of this step.
    fn first_alerts(&self) -> (Vec<String>, Option<(i64, &'static str)>) {
        let mut state = self.state.lock();
        if state.missed.is_some() {
            return (Vec::new(), None);
        }
        let end = state.follow.view().window_index().map(|index| index.window().until);
        (std::mem::take(&mut state.raising.first), end.zip(state.unit.map(symbol)))
    }

    /// The figures by name.
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let state = self.state.lock();
        facts_by_name(py, state.follow.facts())
    }

    /// Appends the vertices with the largest values, or the largest groups, to `rows`.
    fn top(&self, py: Python<'_>, count: usize, rows: &Bound<'_, PyList>) -> PyOutcome<()> {
        let (ranked, view) = py.detach(|| {
            let mut state = self.state.lock();
            let ranked = state.follow.top(count, &Cancel::default())?;
            Ok::<_, PyFailure>((ranked, state.follow.view().clone()))
        })?;
        append_ranked(rows, &view, ranked)
    }
}

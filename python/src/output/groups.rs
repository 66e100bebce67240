//! Names of groups that stay from one graph to the next, for Python.

use parking_lot::Mutex;

use esker::catalogue::find;
use esker::groups::{GroupEvent, GroupNames};
use esker::store::Version;
use pyo3::prelude::*;

use crate::failure::PyOutcome;
use crate::output::answer::PyAnswer;
use crate::output::values::id_object;
use crate::settings::Settings;
use crate::watch::watched_reading;

/// What became of a group, the id of the group, its vertices now and before, the id of the other group, and
/// the vertices that they share.
type Event<'py> = (&'static str, Bound<'py, PyAny>, u64, u64, Option<Bound<'py, PyAny>>, u64);

/// The names of the groups of the newest graph.
#[pyclass(frozen, name = "GroupNames", module = "esker._esker")]
pub(crate) struct PyGroupNames {
    names: Mutex<GroupNames>,
}

#[pymethods]
impl PyGroupNames {
    /// No names yet, for the answers of an algorithm.
    #[new]
    fn new(algorithm: &str) -> PyOutcome<Self> {
        GroupNames::check(find(algorithm)?)?;
        Ok(Self { names: Mutex::default() })
    }

    /// Names the groups of the next answer, whose values were not read yet, and returns what became of those
    /// in which something changed.
    fn pass_on<'py>(
        &self,
        py: Python<'py>,
        answer: &PyAnswer,
        settings: Settings,
    ) -> PyOutcome<Vec<Event<'py>>> {
        let (run, cancel, listener) = settings.run("groups")?;
        let version = answer.rows.view().version();
        let events = watched_reading(py, &cancel, listener.as_ref(), version.path(), || {
            answer.change(|answer| Ok(self.names.lock().pass_on(answer, version.ids(), &run)?))
        })?;
        events.iter().filter(|event| !event.is_unchanged()).map(|event| told(py, version, event)).collect()
    }
}

fn told<'py>(py: Python<'py>, version: &Version, event: &GroupEvent) -> PyOutcome<Event<'py>> {
    let group = id_object(py, version, event.group)?;
    let other = event.other.map(|other| id_object(py, version, other)).transpose()?;
    Ok((event.fate.word(), group, event.after, event.before, other, event.shared))
}

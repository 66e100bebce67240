//! Answers that follow the versions of a database.

use std::sync::{Arc, Mutex, PoisonError};

use esker::answer::Value;
use esker::catalogue::find;
use esker::follow::{FollowStep, Method};
use esker::graph::{Cancel, Run};
use esker::store::{Follower, Snapshot};
use esker::top::top;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::answer::{facts_by_name, shown};
use crate::database::{Database, Handle};
use crate::failure::{Failure, Outcome};
use crate::graph::params;
use crate::settings::Settings;
use crate::watch::watched;

/// An answer for the newest version that was looked at.
#[pyclass(frozen, module = "esker._esker")]
pub(crate) struct Follow {
    database: Py<Database>,
    state: Mutex<FollowState>,
    cancel: Cancel,
}

struct FollowState {
    follow: esker::follow::Follow,
    /// Of a database that is open for reading. One that is open for writing knows its newest version.
    follower: Option<Follower>,
    weight: Option<String>,
}

/// A vertex whose value changed, the old value and the new one.
type ChangedObjects<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);

/// Computes the answer for a version, the newest if `None`.
#[pyfunction]
pub(crate) fn follow(
    py: Python<'_>,
    database: Py<Database>,
    name: &str,
    options: Vec<(String, String)>,
    weight: Option<String>,
    at: Option<&str>,
    settings: Settings,
) -> Outcome<Follow> {
    let (entry, params) = (find(name)?, params(options));
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
        let snapshot = match (&follower, at) {
            (Some(follower), None) => follower.at(follower.newest())?,
            (Some(follower), Some(at)) => follower.at(Database::number_of(&handle, at)?)?,
            (None, at) => Database::snapshot(&handle, at)?,
        };
        let snapshot = weighted(snapshot, weight.as_deref())?;
        let follow = esker::follow::Follow::start(snapshot, entry, &params, Arc::<Run>::clone(&run))?;
        Ok(FollowState { follow, follower, weight })
    })?;
    Ok(Follow { database, state: Mutex::new(state), cancel })
}

fn weighted(snapshot: Snapshot, weight: Option<&str>) -> Outcome<Snapshot> {
    Ok(match weight {
        Some(name) => snapshot.weighted_by(name)?,
        None => snapshot,
    })
}

impl FollowState {
    /// Goes on to the next version; `None` if there is none yet.
    fn next(&mut self, handle: &Handle) -> Outcome<Option<FollowStep>> {
        let known = self.follow.version();
        let snapshot = match (&mut self.follower, handle) {
            (Some(follower), _) => {
                if follower.newest() == known {
                    follower.refresh()?;
                }
                let ahead = self.follow.ahead(follower.versions().map(|version| version.number));
                ahead.first().map(|&number| follower.at(number)).transpose()?
            }
            (None, Handle::Writer(writer)) if writer.snapshot()?.version().number != known => {
                let versions = writer.versions();
                let ahead = self.follow.ahead(versions.iter().map(|version| version.number));
                ahead.first().map(|&number| writer.at(number)).transpose()?
            }
            _ => None,
        };
        let Some(snapshot) = snapshot else { return Ok(None) };
        let snapshot = weighted(snapshot, self.weight.as_deref())?;
        Ok(Some(self.follow.advance(snapshot)?))
    }
}

#[pymethods]
impl Follow {
    /// Goes on to the next version, if there is one: its number, the vertices with other values, and whether it was computed anew.
    fn next<'py>(&self, py: Python<'py>) -> Outcome<Option<(u64, Vec<ChangedObjects<'py>>, bool)>> {
        let handle = self.database.get().open()?;
        let updated = watched(py, &self.cancel, None, || {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            let update = state.next(&handle)?;
            Ok(update.map(|update| (update, state.follow.snapshot().clone())))
        })?;
        drop(handle);
        let Some((update, snapshot)) = updated else { return Ok(None) };
        let mut rows = Vec::with_capacity(update.changed.len());
        for changed in &update.changed {
            let [vertex, old, new] = [Value::Vertex(changed.vertex), changed.old, changed.new];
            rows.push((
                shown(py, &snapshot, vertex)?,
                shown(py, &snapshot, old)?,
                shown(py, &snapshot, new)?,
            ));
        }
        Ok(Some((update.version, rows, update.method == Method::Recompute)))
    }

    /// The number of the version that the answer is of.
    #[getter]
    fn version(&self) -> u64 {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).follow.version()
    }

    /// The figures by name.
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        facts_by_name(py, state.follow.facts())
    }

    /// The vertices with the largest values, or the largest groups.
    fn top<'py>(
        &self,
        py: Python<'py>,
        count: usize,
    ) -> Outcome<Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>> {
        let (ranked, snapshot) = py.detach(|| {
            let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            let ranked = top(state.follow.answer(), count, &Cancel::default())?;
            Ok::<_, Failure>((ranked, state.follow.snapshot().clone()))
        })?;
        ranked
            .iter()
            .map(|one| Ok((shown(py, &snapshot, one.key)?, shown(py, &snapshot, one.value)?)))
            .collect()
    }
}

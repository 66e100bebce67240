//! What a database remembers of its import, and the kind of its ids.

use esker::change::reading_json;
use pyo3::prelude::*;

use crate::database::PyDatabase;
use crate::failure::PyOutcome;
use crate::settings::Settings;
use crate::watch::watched;

/// How files are read, as JSON, and the event times of versions.
#[pyfunction]
pub(crate) fn remembered(database: &PyDatabase) -> PyOutcome<(String, &'static str)> {
    let manifest = database.open()?.manifest()?;
    Ok((reading_json(manifest.reading.as_ref()).to_string(), manifest.event_times().name()))
}

/// Forgets how files are read.
#[pyfunction]
pub(crate) fn forget_reading(py: Python<'_>, database: &PyDatabase) -> PyOutcome<()> {
    let writer = database.writer()?;
    py.detach(|| Ok(writer.set_reading(None)?))
}

/// Makes integer ids texts; returns whether they were integers.
#[pyfunction]
pub(crate) fn make_ids_texts(py: Python<'_>, database: &PyDatabase, settings: Settings) -> PyOutcome<bool> {
    let writer = database.writer()?;
    let (run, cancel, listener) = settings.run("make_ids_texts")?;
    watched(py, &cancel, listener.as_ref(), || Ok(writer.make_ids_texts(&run)?))
}

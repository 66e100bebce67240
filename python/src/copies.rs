//! Backups of databases.

use std::path::PathBuf;
use std::sync::Arc;

use esker::store::backup::{BackupOptions, BackupReport, backup, restore};
use esker::store::io::{Disk, RealDisk};
use pyo3::prelude::*;
use serde_json::json;

use crate::failure::PyOutcome;
use crate::settings::Settings;
use crate::watch::watched;

/// Makes a backup of `source` at `target`, or brings it up to date; returns a report as JSON.
#[pyfunction]
pub(crate) fn back_up(
    py: Python<'_>,
    source: PathBuf,
    target: PathBuf,
    apart: bool,
    settings: Settings,
) -> PyOutcome<String> {
    let (run, cancel, listener) = settings.run("backup")?;
    let report = watched(py, &cancel, listener.as_ref(), || {
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        Ok(backup(&disk, &source, &target, BackupOptions { apart }, &run)?)
    })?;
    Ok(described(&report))
}

/// Makes a database at `target` of the backup `source`; returns a report as JSON.
#[pyfunction]
pub(crate) fn restore_backup(
    py: Python<'_>,
    source: PathBuf,
    target: PathBuf,
    replace: bool,
    apart: bool,
    settings: Settings,
) -> PyOutcome<String> {
    let (run, cancel, listener) = settings.run("restore")?;
    let report = watched(py, &cancel, listener.as_ref(), || {
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        Ok(restore(&disk, &source, &target, replace, BackupOptions { apart }, &run)?)
    })?;
    Ok(described(&report))
}

fn described(report: &BackupReport) -> String {
    let BackupReport { version, kept, cloned, linked, copied, verified_bytes } = report;
    json!({
        "version": version,
        "kept_files": kept.files,
        "shared_files": cloned.files + linked.files,
        "copied_files": copied.files,
        "copied_bytes": copied.bytes,
        "verified_bytes": verified_bytes,
    })
    .to_string()
}

//! Recovery of a database that has lost a part of its log or of its manifest, by giving up what is missing.
//!
//! If a layer is missing, because MANIFEST is a copy from before a merge or somebody removed files, the layers before it can be kept.
//!
//! 1. The manifest leaves out missing layers and those after them, and records the last version that is known to have existed: the database stays refused until the end.
//! 2. What cannot be kept is cut from the log.
//! 3. The commits that are left become a layer.
//! 4. One record of the manifest extends the range of the layers to that last version, and says how far the log reaches now. No
//!    number of a lost version is given again.
//!
//! If the recovery is interrupted, it can be repeated.

use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

use esker_format::io::Disk;
use esker_format::{Edit, LogMark, PAGE_BYTES, Result};
use esker_graph::Run;

use super::handle::{Database, DatabaseOptions, locked};
use crate::log::LogSurvey;
use crate::snapshot::{LostLayers, State};
use crate::version::{ManifestWriter, lock_writer};

/// What is missing from a database, and what can be kept or was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecoveryReport {
    /// What is wrong; `None` if nothing is missing.
    pub problem: Option<String>,
    /// The newest version that is left.
    pub newest: u64,
    /// The versions that are lost. After a crash, later ones may have existed that nothing knows of.
    pub lost: RangeInclusive<u64>,
    /// The number of records that MANIFEST lost. Tags, forgotten versions, properties and retention that they set are lost.
    pub lost_records: u64,
}

impl RecoveryReport {
    fn new(survey: &LogSurvey, state: &State, lost: Option<&LostLayers>) -> Self {
        let in_layers = state.newest();
        let frozen = state.manifest().log_start().first_version - 1;
        let newest = if survey.kept_version > frozen { survey.kept_version } else { in_layers };
        Self {
            problem: lost.map(|lost| &lost.problem).or(survey.problem.as_ref()).map(ToString::to_string),
            newest,
            lost: survey.kept_version.max(frozen) + 1..=survey.last_version,
            lost_records: survey.manifest_records - state.manifest().records,
        }
    }
}

/// What is left of a database: its layers up to the first missing one, and its log as far as it continues them.
fn left(disk: &Arc<dyn Disk>, path: &Path) -> Result<(State, LogSurvey, Option<LostLayers>)> {
    let (state, lost) = State::read_left(disk, path)?;
    let mut survey = LogSurvey::of(disk, path, state.manifest().log_start(), |_| Ok(()))?;
    if let Some(lost) = &lost {
        survey.last_version = survey.last_version.max(lost.last_version);
    }
    Ok((state, survey, lost))
}

impl Database {
    /// Says what is missing from the database at `path`, and what [`Database::recover`] would keep. Changes nothing.
    ///
    /// # Errors
    /// As [`Database::open`], except for what a recovery would accept.
    pub fn survey(disk: &Arc<dyn Disk>, path: &Path) -> Result<RecoveryReport> {
        let (state, survey, lost) = left(disk, path)?;
        Ok(RecoveryReport::new(&survey, &state, lost.as_ref()))
    }

    /// Makes a database usable that has lost a part of its log or of its manifest, and gives up what is missing. Version numbers
    /// that are known to have been lost are not used again. Does nothing if nothing is missing.
    ///
    /// # Errors
    /// As [`Database::open_under`]. If it fails or is interrupted, call it again.
    pub fn recover(
        disk: &Arc<dyn Disk>,
        path: &Path,
        options: DatabaseOptions,
        run: &Run,
    ) -> Result<RecoveryReport> {
        let lock = lock_writer(disk, path)?;
        let mut manifest = ManifestWriter::open(&lock)?;
        let (state, survey, lost) = left(disk, path)?;
        let report = RecoveryReport::new(&survey, &state, lost.as_ref());
        drop(state);
        if report.problem.is_none() {
            return Ok(report);
        }
        let (segment, version) = (survey.last_segment, survey.last_version);
        let mark = LogMark { segment, bytes: PAGE_BYTES as u64, version, checksum: 0 };
        let mut edits = lost.map_or(Vec::new(), |lost| lost.edits);
        edits.push(Edit::SetLog(mark));
        manifest.append_from(&edits, survey.manifest_records + 1)?;
        survey.cut(disk.as_ref(), path)?;
        let start = crate::log::LogStart { mark: None, ..manifest.manifest().log_start() };
        let db = Self::open_locked(options, run, lock, manifest, start)?;
        let mut maintenance = locked(&db.core.maintenance);
        db.core.freeze(&mut maintenance, run)?;
        if !report.lost.is_empty() {
            db.core.skip_to(&mut maintenance, survey.last_version)?;
        } else {
            db.core.mark_anew(&mut maintenance)?;
        }
        drop(maintenance);
        db.close()?;
        Ok(report)
    }
}

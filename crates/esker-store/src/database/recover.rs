//! Recovery of a database that has lost files or parts of them, by giving up what is missing.
//!
//! 1. What is left is found: the longest sequence of whole layers (`version/recoverable.rs`), and the log as
//!    far as it continues them.
//! 2. If the lists of one direction are lost, all layers are merged into one with the lists of the other
//!    direction, and those that are lost are made of these.
//! 3. MANIFEST is written anew. It records the last version that is known to have existed: the database stays
//!    refused until the end.
//! 4. What cannot be kept is cut from the log.
//! 5. The commits that are left become a layer.
//! 6. One record of the manifest extends the range of the layers to that last version, and says how far the
//!    log reaches now. No number of a lost version is given again.
//!
//! If the recovery is interrupted, it can be repeated. The first two steps change no file that was there, and
//! of the layers that the second one writes, only the last describes itself (`manifest/account.rs`): a
//! repetition does not take the others for layers of the database.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

use esker_format::io::Disk;
use esker_format::{
    CommitHeader, Encoding, Error, FieldInput, FieldValue, LogMark, Owner, PAGE_BYTES, Result, archived_name,
};
use esker_graph::{Direction, Run};

use super::handle::{Database, DatabaseOptions};
use super::upkeep::merging::{MergeRequest, merge_all};
use crate::log::{LogReader, LogStart, LogSurvey};
use crate::manifest::{Manifest, ManifestWriter, layer_directory, lock_writer};
use crate::merge::Rebuild;
use crate::version::{ManifestLeft, RecoverableState, State, open_only};

/// What is missing from a database, and what can be kept or was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecoveryReport {
    /// What is wrong; `None` if nothing is missing.
    pub problem: Option<String>,
    /// The newest version that is left.
    pub newest: u64,
    /// The versions that are lost. After a crash, later ones may have existed that nothing knows of.
    pub lost: RangeInclusive<u64>,
    /// The number of records that MANIFEST lost. Tags, forgotten versions, properties and retention that they
    /// set are lost.
    pub lost_records: u64,
}

/// What is left of a database.
struct Remains {
    left: RecoverableState,
    /// The log as it continues the layers that are left.
    survey: LogSurvey,
    report: RecoveryReport,
}

impl Remains {
    /// Reads what is left. A writer may be at work: where MANIFEST has changed meanwhile, starts over.
    fn of(disk: &Arc<dyn Disk>, path: &Path, run: &Run) -> Result<Self> {
        let records =
            || Ok::<_, Error>(ManifestLeft::read(disk.as_ref(), path)?.manifest.map(|one| one.records));
        let mut before = records()?;
        loop {
            let found = Self::read(disk, path, run);
            let now = records()?;
            if now == before || matches!(found, Err(Error::Stop(_))) {
                return found;
            }
            before = now;
        }
    }

    fn read(disk: &Arc<dyn Disk>, path: &Path, run: &Run) -> Result<Self> {
        let mut manifest = ManifestLeft::read(disk.as_ref(), path)?;
        let start = manifest.manifest.as_ref().map(Manifest::log_start);
        let mut before = start.map(|start| LogSurvey::of(disk, path, start, |_| Ok(()))).transpose()?;
        let mut known_records = before.as_ref().map_or(0, |survey| survey.manifest_records);
        if start.is_some_and(|start| start.manifest.records < known_records) {
            // The end of MANIFEST is missing.
            manifest.problem = manifest.problem.or(before.as_mut().and_then(|survey| survey.problem.take()));
        }
        let mut left = RecoverableState::of(disk, path, manifest, known_records, run)?;
        let again =
            |left: &RecoverableState| LogSurvey::of(disk, path, left.manifest.log_start(), |_| Ok(()));
        let mut survey = match before {
            Some(before) if left.problem.is_none() => before,
            _ => again(&left)?,
        };
        if survey.manifest_records >= left.manifest.records {
            // Without MANIFEST, the log alone says how many records it had.
            known_records = survey.manifest_records;
            left.manifest.records = known_records + 1;
            survey = again(&left)?;
        }
        survey.last_version = survey.last_version.max(left.last_version);
        let frozen = left.manifest.log_start().first_version - 1;
        let newest_in_layers = left.manifest.versions.last().map_or(0, |version| version.number);
        let newest = if survey.kept_version > frozen { survey.kept_version } else { newest_in_layers };
        let problem = left.problem.as_ref().or(survey.problem.as_ref()).map(ToString::to_string);
        let lost_records = match problem {
            Some(_) => known_records.saturating_sub(left.records),
            None => 0,
        };
        let lost = survey.kept_version.max(frozen) + 1..=survey.last_version;
        let report = RecoveryReport { problem, newest, lost, lost_records };
        Ok(Self { left, survey, report })
    }
}

impl Database {
    /// Says what is missing from the database at `path`, and what [`Database::recover`] would keep. Reads all
    /// files of layers. Changes nothing.
    ///
    /// # Errors
    /// [`Error::Io`](esker_format::Error::Io); the problem, if no version can be kept; cancellation.
    pub fn survey(disk: &Arc<dyn Disk>, path: &Path, run: &Run) -> Result<RecoveryReport> {
        Ok(Remains::of(disk, path, run)?.report)
    }

    /// Makes a database usable that has lost files or parts of them, and gives up what is missing. Version
    /// numbers that are known to have been lost are not used again. Does nothing if nothing is missing.
    ///
    /// # Errors
    /// As [`Database::survey`] and [`Database::open_under`]. If it fails or is interrupted, call it again.
    pub fn recover(
        disk: &Arc<dyn Disk>,
        path: &Path,
        options: DatabaseOptions,
        run: &Run,
    ) -> Result<RecoveryReport> {
        let lock = lock_writer(disk, path)?;
        let Remains { left, survey, report } = Remains::of(disk, path, run)?;
        if report.problem.is_none() {
            return Ok(report);
        }
        let mut manifest = left.manifest;
        if let Some(lacks) = left.lacks {
            manifest = rebuilt(disk, path, &manifest, lacks, run)?;
        }
        let optional = optional_in_log(disk, path, manifest.log_start(), survey.kept_version)?;
        let edges = manifest.properties.iter_mut().filter(|property| property.owner == Owner::Edges);
        edges.for_each(|property| property.optional |= optional.contains(&property.number));
        let (segment, version) = (survey.last_segment, survey.last_version);
        manifest.log = Some(LogMark { segment, bytes: PAGE_BYTES as u64, version, checksum: 0 });
        ManifestWriter::write_anew(&lock, &manifest)?;
        survey.cut(&lock)?;
        let manifest = ManifestWriter::open(&lock)?;
        let start = LogStart { mark: None, ..manifest.manifest().log_start() };
        let db = Self::open_locked(options, run, lock, manifest, start)?;
        let mut maintenance = db.core.maintenance.lock();
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

/// The edge properties that edges may be without, as the commits of the log say: the record of MANIFEST may
/// be lost, and what stands for a missing value is not to become one.
fn optional_in_log(disk: &Arc<dyn Disk>, path: &Path, start: LogStart, last: u64) -> Result<BTreeSet<u32>> {
    let mut found = BTreeSet::new();
    let mut reader = match LogReader::open(Arc::clone(disk), path, start) {
        // What the survey cannot keep ends the log.
        Err(Error::Corrupt { .. } | Error::Lost { .. }) => return Ok(found),
        opened => opened?,
    };
    while let Ok(Some(record)) = reader.read_next() {
        if record.version > last {
            break;
        }
        let header = CommitHeader::take(&mut FieldInput::new(path, record.payload, 0))?;
        found.extend(header.optional.unwrap_or_default());
    }
    Ok(found)
}

/// Merges the layers of a database that lacks the lists of a direction in some of them into one, with these
/// lists made of those of the other direction. Returns the manifest with it.
fn rebuilt(
    disk: &Arc<dyn Disk>,
    path: &Path,
    manifest: &Manifest,
    lacks: Direction,
    run: &Run,
) -> Result<Manifest> {
    let encoding = manifest.layers[0].encoding;
    let mut state = open_only(disk, path, manifest, lacks.reverse())?;
    let steps: &[(Encoding, Option<Rebuild>)] = match lacks {
        Direction::In => &[(Encoding::Plain, None), (encoding, Some(Rebuild::InLists))],
        Direction::Out => &[
            (Encoding::Plain, None),
            (Encoding::Plain, Some(Rebuild::OutLists)),
            (encoding, Some(Rebuild::InLists)),
        ],
    };
    let layers = path.join("layers");
    let numbers =
        disk.list(&layers)?.into_iter().filter_map(|entry| archived_name(&entry.name).parse::<u32>().ok());
    let mut number = numbers.max().unwrap_or(0);
    let mut next = manifest.clone();
    for (index, &(encoding, rebuild)) in steps.iter().enumerate() {
        number += 1;
        let is_step = index + 1 < steps.len();
        let request = MergeRequest { encoding: Some(encoding), rebuild, is_step, ..MergeRequest::default() };
        let record = merge_all(&state, number, &layer_directory(path, number), request, run)?;
        disk.sync_directory(&layers)?;
        let (tiles, heads, kept) = (Vec::new(), Vec::new(), None);
        next = Manifest { layers: vec![record], tiles, heads, kept, ..next };
        state = State::open(disk, path, &next)?;
    }
    Ok(next)
}

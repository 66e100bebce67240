//! Forgets the newest versions by undoing their changes.
//!
//! The layers always end with the graph of the newest retained version. The range of the last layer may
//! extend to the last version number that was ever given, so that no number is used twice.

use std::collections::BTreeSet;
use std::sync::Arc;

use esker_format::{Edit, Error, Result, VersionRecord};

use crate::commit::{Commit, LayerLocation, assemble};
use crate::conversion::FormReport;
use crate::database::batch::resolve::Writer;
use crate::database::handle::Core;
use crate::database::layers::{Maintenance, edits_of};
use crate::database::upkeep::maintain::WrittenLayer;
use crate::database::upkeep::merging::MergeRequest;
use crate::merge::MergeEnd;
use crate::version::State;

/// The last version that is undone, whose number is not given again.
#[derive(Clone, Copy)]
struct UndoneEnd {
    newest: u64,
    /// The checksum of its commit.
    last_commit: u32,
}

/// The checksum of the last commit of a state and the commits that follow it.
fn last_commit(state: &State, commits: &[Arc<Commit>]) -> u32 {
    let frozen = || state.manifest().log_start().previous.unwrap_or(0);
    commits.last().map_or_else(frozen, |commit| commit.checksum)
}

/// The edits that forget versions of the layers and the log above them, the newest among them. What those
/// after the last that stays say of streams is undone with them.
fn edits_of_forgetting(state: &State, commits: &[Arc<Commit>], gone: &BTreeSet<u64>) -> Result<Vec<Edit>> {
    let manifest = state.manifest();
    let in_log = commits.iter().map(|commit| commit.record());
    let versions: Vec<VersionRecord> = manifest.versions.iter().cloned().chain(in_log).collect();
    let stay = versions.iter().filter(|version| !gone.contains(&version.number));
    let last = stay.map(|version| version.number).max().unwrap_or(0);
    let mut edits: Vec<Edit> = manifest.dropping_messages_after(last).collect();
    let rest = manifest.with(&edits).map_err(Error::invalid)?;
    let (earlier, undone) = versions.split_at(versions.partition_point(|version| version.number <= last));
    edits.extend(rest.forgetting(earlier, |number| gone.contains(&number)));
    edits.extend(undone.iter().map(|version| Edit::RemoveVersion { number: version.number }));
    // Versions of the log are not in the manifest.
    edits.retain(
        |edit| !matches!(edit, Edit::RemoveVersion { number } if manifest.version(*number).is_none()),
    );
    Ok(edits)
}

impl Core {
    /// Forgets `gone` if the newest version is one of them; returns whether it is. One record of the manifest
    /// does it. At least one other version exists.
    pub(crate) fn forget_newest(&self, maintenance: &mut Maintenance, gone: &BTreeSet<u64>) -> Result<bool> {
        // Holding the writer keeps commits out.
        let mut writer = self.writer.lock();
        writer.expect_sound()?;
        self.make_visible(writer.next_version - 1).map_err(|error| writer.fail(error))?;
        let (state, commits) = self.unfrozen();
        let newest = commits.last().map_or(state.newest(), |last| last.version);
        if !gone.contains(&newest) {
            return Ok(false);
        }
        // The commits after the newest one that stays are undone.
        let kept =
            commits.iter().rposition(|commit| !gone.contains(&commit.version)).map_or(0, |last| last + 1);
        let (kept, undone) = commits.split_at(kept);
        let mut written = if undone.is_empty() || (kept.is_empty() && gone.contains(&state.newest())) {
            let end = UndoneEnd { newest, last_commit: last_commit(&state, &commits) };
            self.write_ending_before(maintenance, &state, gone, end)?
        } else {
            self.write_without(maintenance, &state, kept, undone)?
        };
        let is_gone = |edit: &Edit| matches!(edit, Edit::AddVersion(record) if gone.contains(&record.number));
        written.edits.retain(|edit| !is_gone(edit));
        written.edits.extend(edits_of_forgetting(&state, &commits, gone)?);
        let next = self.prepare(maintenance, &state, written)?;
        let newest = next.state.version(next.state.newest())?;
        let last_committed_ms = writer.last_committed_ms;
        let fresh = Writer { last_committed_ms, ..Writer::over(&newest, &self.run)? };
        let end = fresh.next_version - 1;
        // If recording fails, it is unknown which version the next commit follows, so nothing more may be
        // committed.
        self.record(maintenance, &next).map_err(|error| writer.fail(error))?;
        self.show(&next, &mut writer, Some(end))?;
        *writer = fresh;
        drop(writer);
        self.log.remove_through(end)?;
        Ok(true)
    }

    /// Writes the layer of the commits in the log, with empty commits in place of those to undo.
    fn write_without(
        &self,
        maintenance: &Maintenance,
        state: &Arc<State>,
        kept: &[Arc<Commit>],
        undone: &[Arc<Commit>],
    ) -> Result<WrittenLayer> {
        let num_vertices = undone[0].num_vertices - undone[0].new_ids.len() as u64;
        let blank = |commit: &Arc<Commit>| Commit {
            checksum: commit.checksum,
            ..Commit::blank(commit.version, num_vertices, commit.rows.len())
        };
        let mut commits = kept.to_vec();
        commits.extend(undone.iter().map(|commit| Arc::new(blank(commit))));
        self.write_commits(maintenance, state, &commits, &self.run).map(|written| written.0)
    }

    /// Replaces the newest layers by one that ends with the newest version in layers that stays, and covers
    /// all versions up to `newest`.
    fn write_ending_before(
        &self,
        maintenance: &Maintenance,
        state: &Arc<State>,
        gone: &BTreeSet<u64>,
        UndoneEnd { newest, last_commit }: UndoneEnd,
    ) -> Result<WrittenLayer> {
        let manifest = state.manifest();
        let until = manifest.versions.iter().rev().find(|version| !gone.contains(&version.number));
        let until = until.ok_or_else(|| Error::invalid("a database needs a version".to_owned()))?;
        let last_version = newest.max(manifest.log_start().first_version - 1);
        let layers = state.layers();
        let position = layers.partition_point(|layer| layer.record().last_version < until.number);
        let mut written = if layers[position].record().last_version == until.number {
            self.write_empty(maintenance, state, MergeEnd { until, last_version, last_commit })?
        } else {
            // The merge drops all layers above.
            let end = MergeEnd { until, last_version, last_commit };
            let request = MergeRequest { end: Some(end), ..MergeRequest::default() };
            let mut written =
                self.write_merged(maintenance, state, position..position + 1, request, &self.run)?;
            written.above.clear();
            written
        };
        let named = |number: u32| {
            let is_named =
                |edit: &Edit| matches!(edit, Edit::RemoveLayer { number: other } if *other == number);
            written.edits.iter().any(is_named)
        };
        let removed = layers[written.below.len()..].iter().map(|layer| layer.record().number);
        let removed: Vec<u32> = removed.filter(|&number| !named(number)).collect();
        written.edits.extend(removed.into_iter().map(|number| Edit::RemoveLayer { number }));
        Ok(written)
    }

    /// Extends the range of the layers to `last_version`, so that the numbers of lost versions are not given
    /// again. All commits are in layers; no commit may follow before the database is opened again.
    pub(crate) fn skip_to(&self, maintenance: &mut Maintenance, last_version: u64) -> Result<()> {
        let mut writer = self.writer.lock();
        let state = self.state();
        let newest = state.version(state.newest())?;
        let first = state.manifest().log_start().first_version;
        let blank = |version| {
            let (num_vertices, properties) = (newest.num_vertices() as u64, newest.edge_properties().count());
            let blank = Commit::blank(version, num_vertices, properties);
            Arc::new(Commit { checksum: last_commit(&state, &[]), ..blank })
        };
        // A commit at each end of the range: the layer's account of itself then has the range too.
        let mut commits = vec![blank(first)];
        if first < last_version {
            commits.push(blank(last_version));
        }
        let (mut written, _) = self.write_commits(maintenance, &state, &commits, &self.run)?;
        written.edits = vec![Edit::AddLayer(written.layer.clone()), Edit::SetLog(self.log.mark())];
        let next = self.prepare(maintenance, &state, written)?;
        self.record(maintenance, &next)?;
        self.show(&next, &mut writer, Some(last_version))
    }

    /// Writes a layer without changes above the layer that ends with `until`.
    fn write_empty(
        &self,
        maintenance: &Maintenance,
        state: &Arc<State>,
        MergeEnd { until, last_version, last_commit }: MergeEnd<'_>,
    ) -> Result<WrittenLayer> {
        let (below, above): (Vec<_>, Vec<_>) =
            state.layers().iter().cloned().partition(|layer| layer.record().last_version <= until.number);
        let versions = state.manifest().versions.iter().filter(|known| known.number > until.number);
        let mut edits: Vec<Edit> =
            above.iter().map(|layer| Edit::RemoveLayer { number: layer.record().number }).collect();
        edits.extend(versions.map(|known| Edit::RemoveVersion { number: known.number }));
        let below_state = state.manifest().with(&edits).map_err(Error::invalid)?;
        let below_state = Arc::new(state.with(below_state, below.clone()));
        let properties = below_state.version(until.number)?.edge_properties().count();
        let blank = |version| {
            let blank = Commit::blank(version, until.num_vertices, properties);
            Arc::new(Commit { checksum: last_commit, ..blank })
        };
        let mut commits = vec![blank(until.number + 1)];
        if until.number + 1 < last_version {
            commits.push(blank(last_version));
        }
        self.write_layer(maintenance, |number, directory| {
            let location =
                LayerLocation { disk: &self.disk, directory, number, counted_from: 0, known: None };
            let policy = self.write_options().policy;
            let assembled = assemble(&below_state, &commits, location, policy, &self.run)?;
            let mut edits = edits_of(&assembled);
            edits.retain(|edit| !matches!(edit, Edit::AddVersion(_)));
            let forms = FormReport::default();
            Ok(WrittenLayer { layer: assembled.record, below, above: Vec::new(), edits, forms })
        })
    }
}

//! Forgets the newest version by undoing its changes.
//!
//! The layers always end with the graph of the newest retained version. The range of the last layer may extend to
//! the last version number that was ever given, so that no number is used twice.

use std::sync::Arc;

use esker_format::{Edit, Error, Result, VersionRecord};

use super::handle::{Core, locked};
use super::layers::{Maintenance, edits_of};
use super::maintain::WrittenLayer;
use super::merging::MergeRequest;
use super::write::Writer;
use crate::commit::{Commit, LayerLocation, assemble};
use crate::merge::MergeEnd;
use crate::snapshot::State;

impl Core {
    /// Forgets `version` if it is the newest; returns whether it was. One record of the manifest does it.
    pub(super) fn forget_newest(&self, maintenance: &mut Maintenance, version: u64) -> Result<bool> {
        // Holding the writer keeps commits out.
        let mut writer = locked(&self.writer);
        writer.expect_sound()?;
        self.make_visible(writer.next_version - 1).map_err(|error| writer.fail(error))?;
        let (state, commits) = self.unfrozen();
        let newest = commits.last().map_or(state.newest(), |last| last.version);
        if newest != version {
            return Ok(false);
        }
        let written = match commits.split_last() {
            Some((last, kept)) => self.write_without(maintenance, &state, kept, last)?,
            None => self.write_ending_before(maintenance, &state, version)?,
        };
        let next = self.prepare(maintenance, &state, written)?;
        let newest = next.state.snapshot(next.state.newest())?;
        let last_time_ms = writer.last_time_ms;
        let fresh = Writer { last_time_ms, ..Writer::over(&newest, &self.run)? };
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

    /// Writes the layer of the commits in the log, with an empty commit in place of the last one.
    fn write_without(
        &self,
        maintenance: &Maintenance,
        state: &Arc<State>,
        kept: &[Arc<Commit>],
        last: &Commit,
    ) -> Result<WrittenLayer> {
        let num_vertices = last.num_vertices - last.new_ids.len() as u64;
        let mut commits = kept.to_vec();
        commits.push(Arc::new(Commit::blank(last.version, num_vertices, last.rows.len())));
        let (mut written, _) = self.write_commits(maintenance, state, &commits, &self.run)?;
        written
            .edits
            .retain(|edit| !matches!(edit, Edit::AddVersion(record) if record.number == last.version));
        Ok(written)
    }

    /// Replaces the newest layers by one that ends with the version before the newest.
    fn write_ending_before(
        &self,
        maintenance: &Maintenance,
        state: &Arc<State>,
        version: u64,
    ) -> Result<WrittenLayer> {
        let manifest = state.manifest();
        let until = manifest.versions.iter().rev().nth(1).ok_or_else(|| {
            Error::Invalid(format!(
                "version {version} is the only version of the database and cannot be forgotten"
            ))
        })?;
        let last_version = manifest.log_start().first_version - 1;
        let layers = state.layers();
        let position = layers.partition_point(|layer| layer.record().last_version < until.number);
        let mut written = if layers[position].record().last_version == until.number {
            self.write_empty(maintenance, state, until, last_version)?
        } else {
            // The merge drops all layers above.
            let end = MergeEnd { until, last_version };
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
        let gone = layers[written.below.len()..].iter().map(|layer| layer.record().number);
        let gone: Vec<u32> = gone.filter(|&number| !named(number)).collect();
        written.edits.extend(gone.into_iter().map(|number| Edit::RemoveLayer { number }));
        written.edits.push(Edit::RemoveVersion { number: version });
        Ok(written)
    }

    /// Writes a layer without changes above the layer that ends with `until`.
    fn write_empty(
        &self,
        maintenance: &Maintenance,
        state: &Arc<State>,
        until: &VersionRecord,
        last_version: u64,
    ) -> Result<WrittenLayer> {
        let (below, above): (Vec<_>, Vec<_>) =
            state.layers().iter().cloned().partition(|layer| layer.record().last_version <= until.number);
        let versions = state.manifest().versions.iter().filter(|known| known.number > until.number);
        let mut edits: Vec<Edit> =
            above.iter().map(|layer| Edit::RemoveLayer { number: layer.record().number }).collect();
        edits.extend(versions.map(|known| Edit::RemoveVersion { number: known.number }));
        let below_state = state.manifest().with(&edits).map_err(Error::Invalid)?;
        let below_state = Arc::new(state.with(below_state, below.clone()));
        let properties = below_state.snapshot(until.number)?.edge_properties().count();
        let blank = |version| Arc::new(Commit::blank(version, until.num_vertices, properties));
        let mut commits = vec![blank(until.number + 1)];
        if until.number + 1 < last_version {
            commits.push(blank(last_version));
        }
        self.write_layer(maintenance, |number, directory| {
            let location = LayerLocation { disk: &self.disk, directory, number, known: None };
            let assembled = assemble(&below_state, &commits, location, self.options.policy, &self.run)?;
            let mut edits = edits_of(&assembled);
            edits.retain(|edit| !matches!(edit, Edit::AddVersion(_)));
            Ok(WrittenLayer { layer: assembled.record, below, above: Vec::new(), edits })
        })
    }
}

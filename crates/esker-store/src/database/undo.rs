//! Forgetting the newest version: what it did is undone.
//!
//! The layers always end with the graph of the newest version that is kept; the range of the last one may go on, up to the last number
//! that was given to a version, so that no number is given twice.

use std::sync::Arc;

use super::handle::{Core, locked};
use super::layers::{Maintenance, edits_of};
use super::maintain::Written;
use super::merging::Aim;
use super::write::Writer;
use crate::commit::{Commit, Target, assemble};
use crate::error::{Error, Result};
use crate::format::{Edit, VersionRecord};
use crate::merge::Cut;
use crate::snapshot::State;

impl Core {
    /// Forgets a version if it is the newest one; false if it is not. One record of the manifest says so.
    pub(super) fn forget_newest(&self, maintenance: &mut Maintenance, version: u64) -> Result<bool> {
        // Nobody commits meanwhile.
        let mut writer = locked(&self.writer);
        writer.expect_sound()?;
        self.settle(writer.next_version - 1).map_err(|error| writer.fail(error))?;
        let (state, commits) = self.unfrozen();
        let newest = commits.last().map_or(state.newest(), |last| last.version);
        if newest != version {
            return Ok(false);
        }
        let written = match commits.split_last() {
            Some((last, kept)) => self.write_without(maintenance, &state, kept, last)?,
            None => self.write_cut(maintenance, &state, version)?,
        };
        let next = self.prepare(maintenance, &state, written)?;
        let newest = next.state.snapshot(next.state.newest())?;
        let last_time_ms = writer.last_time_ms;
        let fresh = Writer { last_time_ms, ..Writer::over(&newest, &self.run)? };
        let end = fresh.next_version - 1;
        // If it is not known what the manifest says, it is not known either what the next commit builds on.
        self.record(maintenance, &next).map_err(|error| writer.fail(error))?;
        self.show(&next, &mut writer, Some(end))?;
        *writer = fresh;
        drop(writer);
        self.log.remove_through(end)?;
        Ok(true)
    }

    /// Writes the layer of the commits of the log but the last, in whose place stands one that does nothing.
    fn write_without(
        &self,
        maintenance: &Maintenance,
        state: &Arc<State>,
        kept: &[Arc<Commit>],
        last: &Commit,
    ) -> Result<Written> {
        let num_vertices = last.num_vertices - last.new_ids.len() as u64;
        let mut commits = kept.to_vec();
        commits.push(Arc::new(Commit::blank(last.version, num_vertices, last.rows.len())));
        let (mut written, _) = self.write_commits(maintenance, state, &commits, &self.run)?;
        written
            .edits
            .retain(|edit| !matches!(edit, Edit::AddVersion(record) if record.number == last.version));
        Ok(written)
    }

    /// Writes a layer that takes the place of the newest ones, and ends with what is before the newest version.
    fn write_cut(&self, maintenance: &Maintenance, state: &Arc<State>, version: u64) -> Result<Written> {
        let manifest = state.manifest();
        let until = manifest.versions.iter().rev().nth(1).ok_or_else(|| {
            Error::Invalid(format!("version {version} is the only one, and a database has at least one"))
        })?;
        let last_version = manifest.log_start().first_version - 1;
        let layers = state.layers();
        let place = layers.partition_point(|layer| layer.record().last_version < until.number);
        let mut written = if layers[place].record().last_version == until.number {
            self.write_blank(maintenance, state, until, last_version)?
        } else {
            // Of the layers after it nothing is left.
            let cut = Cut { until, last_version };
            let aim = Aim { cut: Some(cut), ..Aim::default() };
            let mut written = self.write_merged(maintenance, state, place..place + 1, aim, &self.run)?;
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

    /// Writes a layer in which nothing happens, over the one that ends with `until`.
    fn write_blank(
        &self,
        maintenance: &Maintenance,
        state: &Arc<State>,
        until: &VersionRecord,
        last_version: u64,
    ) -> Result<Written> {
        let (below, above): (Vec<_>, Vec<_>) =
            state.layers().iter().cloned().partition(|layer| layer.record().last_version <= until.number);
        let versions = state.manifest().versions.iter().filter(|known| known.number > until.number);
        let mut edits: Vec<Edit> =
            above.iter().map(|layer| Edit::RemoveLayer { number: layer.record().number }).collect();
        edits.extend(versions.map(|known| Edit::RemoveVersion { number: known.number }));
        let ended = state.manifest().with(&edits).map_err(Error::Invalid)?;
        let ended = Arc::new(state.with(ended, below.clone()));
        let properties = ended.snapshot(until.number)?.edge_properties().count();
        let blank = |version| Arc::new(Commit::blank(version, until.num_vertices, properties));
        let mut commits = vec![blank(until.number + 1)];
        if until.number + 1 < last_version {
            commits.push(blank(last_version));
        }
        self.write_layer(maintenance, |number, directory| {
            let target = Target { disk: &self.disk, directory, number, known: None };
            let assembled = assemble(&ended, &commits, target, self.options.policy, &self.run)?;
            let mut edits = edits_of(&assembled);
            edits.retain(|edit| !matches!(edit, Edit::AddVersion(_)));
            Ok(Written { layer: assembled.record, below, above: Vec::new(), edits })
        })
    }
}

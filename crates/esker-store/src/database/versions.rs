//! Names and numbers of versions, and which are kept.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::handle::{Core, Database, locked};
use super::layers::Maintenance;
use crate::error::{Error, Result};
use crate::format::{Edit, Retention, TagRecord, VersionRecord};
use crate::version::Manifest;

impl Database {
    /// What the manifest says; commits that are in no layer are not in it.
    pub fn manifest(&self) -> Arc<Manifest> {
        Arc::clone(self.core.view().state.manifest())
    }

    /// All versions, oldest first. Of commits that are in no layer yet, the numbers of edges are not known, and 0.
    pub fn versions(&self) -> Vec<VersionRecord> {
        let view = self.core.view();
        let frozen = view.state.manifest().versions.iter().cloned();
        let others = view.live.commits.iter().map(|commit| commit.record());
        frozen.chain(others).collect()
    }

    /// Gives a version a name, under which it is kept whatever the retention. A name that is in use moves.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no such version; [`Error::Io`].
    pub fn tag(&self, name: &str, version: u64) -> Result<()> {
        let core = &self.core;
        let mut maintenance = locked(&core.maintenance);
        let tag = Edit::SetTag(TagRecord { name: name.to_owned(), version });
        if core.is_in_log(version) {
            // A name in the manifest must not outlive a version that is in the log alone; and the version must not be forgotten
            // before it has its name.
            return core.freeze_and(&mut maintenance, vec![tag], &core.run).map(drop);
        }
        core.edit(&mut maintenance, |_| vec![tag])
    }

    /// Takes a name away.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is none; [`Error::Io`].
    pub fn untag(&self, name: &str) -> Result<()> {
        self.edit(|_| vec![Edit::RemoveTag { name: name.to_owned() }])
    }

    /// Forgets a version. Others stay as they are; the space of what only this one needed comes back when its layer is merged.
    ///
    /// With the newest version, what it did is undone: the version before it is the newest then, and the next commit builds on that.
    /// No other version ever gets its number. That may take as long as merging the newest layer, and nobody commits meanwhile.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no such version, no other one, or it has a tag; [`Error::Io`].
    pub fn forget(&self, version: u64) -> Result<()> {
        let core = &self.core;
        let mut maintenance = locked(&core.maintenance);
        let manifest = Arc::clone(maintenance.manifest.manifest());
        if let Some((name, _)) = manifest.tags.iter().find(|(_, tagged)| **tagged == version) {
            return Err(Error::Invalid(format!(
                "version {version} has the tag {name:?}: take that away first"
            )));
        }
        let newest_in_layers = manifest.versions.last().map_or(0, |newest| newest.number);
        if version >= newest_in_layers && core.forget_newest(&mut maintenance, version)? {
            return Ok(());
        }
        let (in_log, remove) = (core.is_in_log(version), Edit::RemoveVersion { number: version });
        if !in_log && manifest.version(version).is_none() {
            return Err(Error::Invalid(format!("there is no version {version}")));
        }
        if in_log || version == newest_in_layers {
            // The newest version in the layers is what the commits of the log build on.
            return core.freeze_and(&mut maintenance, vec![remove], &core.run).map(drop);
        }
        core.edit(&mut maintenance, |_| vec![remove])
    }

    /// Says which versions are kept from now on; others are forgotten now, and after each freezing. Versions with a tag and the
    /// newest one always stay.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn retain(&self, retention: Retention) -> Result<()> {
        self.edit(|manifest| {
            let mut edits = vec![Edit::SetRetention(retention)];
            edits.extend(forgotten(&Manifest { retention, ..manifest.clone() }));
            edits
        })
    }

    fn edit(&self, edits: impl FnOnce(&Manifest) -> Vec<Edit>) -> Result<()> {
        self.core.edit(&mut locked(&self.core.maintenance), edits)
    }
}

impl Core {
    /// Whether a version is in no layer yet.
    fn is_in_log(&self, version: u64) -> bool {
        let view = self.view();
        view.live.commits.binary_search_by_key(&version, |commit| commit.version).is_ok()
    }

    /// Appends the edits that follow from the manifest as one record, and shows what it says then.
    fn edit(&self, maintenance: &mut Maintenance, edits: impl FnOnce(&Manifest) -> Vec<Edit>) -> Result<()> {
        let edits = edits(maintenance.manifest.manifest());
        let manifest = Manifest::clone(maintenance.manifest.append(&edits)?);
        self.log.set_manifest_records(manifest.records);
        let state = self.state();
        let layers = state.layers().to_vec();
        self.publish(&Arc::new(state.with(manifest, layers)), &mut locked(&self.writer), None)
    }
}

/// The versions that the retention of a manifest does not keep.
pub(super) fn forgotten(manifest: &Manifest) -> Vec<Edit> {
    let versions = &manifest.versions;
    let first_kept = match manifest.retention {
        Retention::All => return Vec::new(),
        Retention::Last(count) => versions.len().saturating_sub(count.max(1) as usize),
        // The newest version at that time is the last one that is not after it.
        Retention::Since(time_ms) => {
            versions.iter().take_while(|version| version.time_ms <= time_ms).count().saturating_sub(1)
        }
    };
    let first_kept = first_kept.min(versions.len().saturating_sub(1));
    let tagged: BTreeSet<u64> = manifest.tags.values().copied().collect();
    let gone = versions.iter().take(first_kept).filter(|version| !tagged.contains(&version.number));
    gone.map(|version| Edit::RemoveVersion { number: version.number }).collect()
}

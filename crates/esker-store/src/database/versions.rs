//! Versions: numbers, tags, and retention.

use std::collections::BTreeSet;
use std::sync::Arc;

use esker_format::{Edit, Error, Result, Retention, TagRecord, VersionRecord};

use super::handle::{Core, Database, locked};
use super::layers::Maintenance;
use crate::version::Manifest;

impl Database {
    /// The manifest, which does not include commits that are in no layer.
    pub fn manifest(&self) -> Arc<Manifest> {
        Arc::clone(self.core.view().state.manifest())
    }

    /// All versions, oldest first. Commits that are in no layer yet have 0 as the numbers of edges, which are
    /// not known.
    pub fn versions(&self) -> Vec<VersionRecord> {
        let view = self.core.view();
        let frozen = view.state.manifest().versions.iter().cloned();
        let others = view.unfrozen.commits.iter().map(|commit| commit.record());
        frozen.chain(others).collect()
    }

    /// Tags a version, which keeps it whatever the retention. A tag that exists moves.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the version does not exist; [`Error::Io`].
    pub fn tag(&self, name: &str, version: u64) -> Result<()> {
        let core = &self.core;
        let mut maintenance = locked(&core.maintenance);
        let tag = Edit::SetTag(TagRecord { name: name.to_owned(), version });
        if core.is_in_log(version) {
            // Freeze first: a tag in the manifest must not outlive a version that only the log holds.
            // One record adds the tag and the layer, so the retention cannot forget the version in
            // between.
            return core.freeze_and(&mut maintenance, vec![tag], &core.run).map(drop);
        }
        core.edit(&mut maintenance, |_| vec![tag])
    }

    /// Removes a tag.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the tag does not exist; [`Error::Io`].
    pub fn untag(&self, name: &str) -> Result<()> {
        self.edit(|_| vec![Edit::RemoveTag { name: name.to_owned() }])
    }

    /// Forgets a version. Other versions stay unchanged; merging its layer frees the space that only this
    /// version needed.
    ///
    /// Forgetting the newest version undoes its changes: the version before becomes the newest, and the next
    /// commit continues from it. Version numbers are never reused. The call may take as long as a merge of
    /// the newest layer, and commits wait meanwhile.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the version does not exist, is the only one, or has a tag; [`Error::Io`].
    pub fn forget(&self, version: u64) -> Result<()> {
        let core = &self.core;
        let mut maintenance = locked(&core.maintenance);
        let manifest = Arc::clone(maintenance.manifest.manifest());
        if let Some((name, _)) = manifest.tags.iter().find(|(_, tagged)| **tagged == version) {
            return Err(Error::Invalid(format!(
                "version {version} has the tag {name:?}: remove the tag first"
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
            // The commits of the log continue from the newest version in the layers, so they must be
            // frozen first.
            return core.freeze_and(&mut maintenance, vec![remove], &core.run).map(drop);
        }
        core.edit(&mut maintenance, |_| vec![remove])
    }

    /// Sets the retention: versions that it does not keep are forgotten now and after each freeze. Tagged
    /// versions and the newest are always kept.
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
        view.unfrozen.commits.binary_search_by_key(&version, |commit| commit.version).is_ok()
    }

    /// Appends edits, computed from the manifest, as one record, and publishes the new state.
    fn edit(&self, maintenance: &mut Maintenance, edits: impl FnOnce(&Manifest) -> Vec<Edit>) -> Result<()> {
        let edits = edits(maintenance.manifest.manifest());
        let manifest = Manifest::clone(maintenance.manifest.append(&edits)?);
        self.log.set_manifest_records(manifest.records);
        let state = self.state();
        let layers = state.layers().to_vec();
        self.publish(&Arc::new(state.with(manifest, layers)), &mut locked(&self.writer), None)
    }
}

/// The edits that forget the versions which a manifest's retention does not keep.
pub(super) fn forgotten(manifest: &Manifest) -> Vec<Edit> {
    let versions = &manifest.versions;
    let first_kept = match manifest.retention {
        Retention::All => return Vec::new(),
        Retention::Last(count) => versions.len().saturating_sub(count.max(1) as usize),
        // The newest version at that time is the last one whose time is not later.
        Retention::Since(time_ms) => {
            versions.iter().take_while(|version| version.time_ms <= time_ms).count().saturating_sub(1)
        }
    };
    let first_kept = first_kept.min(versions.len().saturating_sub(1));
    let tagged: BTreeSet<u64> = manifest.tags.values().copied().collect();
    let gone = versions.iter().take(first_kept).filter(|version| !tagged.contains(&version.number));
    gone.map(|version| Edit::RemoveVersion { number: version.number }).collect()
}

//! Which versions a retention keeps.

use std::collections::BTreeSet;

use esker_format::Retention;

use super::content::Manifest;

/// The versions of a manifest, and of the log above it (`later`: pairs of number and time), that the
/// retention does not keep, oldest first. Removing some of them leaves the answer for the others as it was.
pub(crate) fn not_retained(manifest: &Manifest, later: impl IntoIterator<Item = (u64, u64)>) -> Vec<u64> {
    if manifest.retention == Retention::All {
        return Vec::new();
    }
    let frozen = manifest.versions.iter().map(|version| (version.number, version.time_ms));
    let versions: Vec<(u64, u64)> = frozen.chain(later).collect();
    let first_kept = match manifest.retention {
        Retention::All => 0,
        Retention::Last(count) => versions.len().saturating_sub(count.max(1) as usize),
        // The newest version at that time is the last one whose time is not later.
        Retention::Since(time_ms) => {
            versions.iter().take_while(|version| version.1 <= time_ms).count().saturating_sub(1)
        }
    };
    let tagged: BTreeSet<u64> = manifest.tags.values().copied().collect();
    let older = versions.iter().take(first_kept.min(versions.len().saturating_sub(1)));
    older.map(|version| version.0).filter(|number| !tagged.contains(number)).collect()
}

//! What a worker is told of the manifest: the versions that its job needs, and later ones as they are
//! published. Messages and times stay with the command.

use esker_format::{DatabaseId, Result};

use crate::model::manifest::{ClusterManifest, Delegate, WholeVersion};
use crate::net::wire::{Taker, put_id, put_u64};

/// Appends a manifest whose first version is number `from`.
pub(crate) fn put_manifest(out: &mut Vec<u8>, manifest: &ClusterManifest, from: u64) {
    out.extend_from_slice(&manifest.id.0);
    let before = manifest.versions.iter().filter(|version| version.number < from);
    let edges_before = manifest.edges_before + before.map(|version| version.edges_given).sum::<u64>();
    let flags = [manifest.directed, manifest.text_ids].map(u64::from);
    let words = [manifest.seed, flags[0], flags[1], manifest.hub_degree, edges_before];
    words.iter().for_each(|word| put_u64(out, *word));
    put_u64(out, manifest.shards.len() as u64);
    manifest.shards.iter().for_each(|shard| out.extend_from_slice(&shard.0));
    put_versions(out, manifest, from.saturating_sub(1));
    put_delegates(out, manifest, 0);
}

/// Takes what [`put_manifest`] appended.
pub(crate) fn take_manifest(taker: &mut Taker<'_>) -> Result<ClusterManifest> {
    let id = take_database(taker)?;
    let (seed, directed, text_ids) = (taker.u64()?, taker.u64()? != 0, taker.u64()? != 0);
    let (hub_degree, edges_before, shards) = (taker.u64()?, taker.u64()?, taker.u64()?);
    let shards = (0..shards).map(|_| take_database(taker)).collect::<Result<Vec<_>>>()?;
    let (versions, delegates) = (Vec::new(), Vec::new());
    let mut manifest = ClusterManifest {
        id,
        seed,
        directed,
        text_ids,
        shards,
        versions,
        edges_before,
        hub_degree,
        delegates,
    };
    take_news(taker, &mut manifest)?;
    Ok(manifest)
}

/// Appends what was published after version `after`.
pub(crate) fn put_news(out: &mut Vec<u8>, manifest: &ClusterManifest, after: u64) {
    put_versions(out, manifest, after);
    put_delegates(out, manifest, after);
}

/// Takes what [`put_news`] appended.
pub(crate) fn take_news(taker: &mut Taker<'_>, manifest: &mut ClusterManifest) -> Result<()> {
    for _ in 0..taker.u64()? {
        let (number, edges_given) = (taker.u64()?, taker.u64()?);
        let shards = manifest.shards.iter().map(|_| taker.u64()).collect::<Result<_>>()?;
        let message = String::new();
        manifest.versions.push(WholeVersion { number, time_ms: 0, edges_given, message, shards });
    }
    for _ in 0..taker.u64()? {
        let since = taker.u64()?;
        manifest.delegates.push(Delegate { id: taker.id(manifest.text_ids)?.into(), since });
    }
    Ok(())
}

fn put_versions(out: &mut Vec<u8>, manifest: &ClusterManifest, after: u64) {
    let versions = || manifest.versions.iter().filter(|version| version.number > after);
    put_u64(out, versions().count() as u64);
    for version in versions() {
        put_u64(out, version.number);
        put_u64(out, version.edges_given);
        version.shards.iter().for_each(|shard| put_u64(out, *shard));
    }
}

fn put_delegates(out: &mut Vec<u8>, manifest: &ClusterManifest, after: u64) {
    let delegates = || manifest.delegates.iter().filter(|delegate| delegate.since > after);
    put_u64(out, delegates().count() as u64);
    for delegate in delegates() {
        put_u64(out, delegate.since);
        put_id(out, delegate.id.as_id());
    }
}

pub(crate) fn take_database(taker: &mut Taker<'_>) -> Result<DatabaseId> {
    let mut id = [0; 16];
    id.copy_from_slice(taker.bytes(16)?);
    Ok(DatabaseId(id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::owner::OwnedId;

    fn manifest(text_ids: bool) -> ClusterManifest {
        let version = |number| WholeVersion {
            number,
            time_ms: 0,
            edges_given: 10 * number,
            message: String::new(),
            shards: vec![number, 2 * number],
        };
        let id = |number: u64| match text_ids {
            true => OwnedId::Text(number.to_string().into_bytes()),
            false => OwnedId::Int(number),
        };
        ClusterManifest {
            id: DatabaseId([1; 16]),
            seed: u64::MAX,
            directed: !text_ids,
            text_ids,
            shards: vec![DatabaseId([2; 16]), DatabaseId([3; 16])],
            versions: (1..=5).map(version).collect(),
            edges_before: 0,
            hub_degree: 7,
            delegates: (2..=5).map(|since| Delegate { id: id(since), since }).collect(),
        }
    }

    #[test]
    fn a_worker_knows_its_versions_and_all_delegates_and_hears_of_later_ones() {
        for text_ids in [false, true] {
            let whole = manifest(text_ids);
            let mut early = whole.clone();
            early.versions.truncate(4);
            early.delegates.truncate(3);
            let mut out = Vec::new();
            put_manifest(&mut out, &early, 3);
            let mut told = take_manifest(&mut Taker(&out)).expect("told");
            assert_eq!((told.edges_given(), told.versions[0].number), (10 + 20 + 30 + 40, 3));
            assert_eq!(told.delegates, early.delegates);
            let mut news = Vec::new();
            put_news(&mut news, &whole, 4);
            take_news(&mut Taker(&news), &mut told).expect("news");
            let expected =
                ClusterManifest { versions: whole.versions[2..].to_vec(), edges_before: 30, ..whole.clone() };
            assert_eq!(told, expected);
            assert!(take_manifest(&mut Taker(&out[..out.len() - 1])).is_err(), "cut short");
        }
    }
}

//! What a worker is told of the manifest: the versions that its job needs, and later ones as they are
//! published. Messages and times stay with the command.

use esker_format::{DatabaseId, Error, Result};
use serde::{Deserialize, Serialize};

use crate::model::manifest::{ClusterManifest, Delegate, WholeVersion};
use crate::model::owner::OwnedId;

/// A part of a manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Excerpt {
    id: DatabaseId,
    seed: u64,
    directed: bool,
    text_ids: bool,
    hub_degree: u64,
    edges_before: u64,
    shards: Vec<DatabaseId>,
    news: ManifestNews,
}

/// What was published after a version.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct ManifestNews {
    versions: Vec<ToldVersion>,
    delegates: Vec<Delegate>,
}

/// What a worker is told of a version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct ToldVersion {
    number: u64,
    edges_given: u64,
    shards: Vec<u64>,
}

impl Excerpt {
    /// A manifest whose first version is number `from`. Delegates are those of all versions.
    pub(crate) fn of(manifest: &ClusterManifest, from: u64) -> Self {
        let before = manifest.versions.iter().filter(|version| version.number < from);
        let edges_before = manifest.edges_before + before.map(|version| version.edges_given).sum::<u64>();
        let news = ManifestNews {
            delegates: manifest.delegates.clone(),
            ..ManifestNews::after(manifest, from.saturating_sub(1))
        };
        let ClusterManifest { id, seed, directed, text_ids, hub_degree, .. } = *manifest;
        Self { id, seed, directed, text_ids, hub_degree, edges_before, shards: manifest.shards.clone(), news }
    }

    /// The manifest, as far as it was told.
    ///
    /// # Errors
    /// As [`ManifestNews::publish`].
    pub(crate) fn into_manifest(self) -> Result<ClusterManifest> {
        let Self { id, seed, directed, text_ids, hub_degree, edges_before, shards, news } = self;
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
        news.publish(&mut manifest)?;
        Ok(manifest)
    }
}

impl ManifestNews {
    /// What was published after version `after`.
    pub(crate) fn after(manifest: &ClusterManifest, after: u64) -> Self {
        let told = |version: &WholeVersion| ToldVersion {
            number: version.number,
            edges_given: version.edges_given,
            shards: version.shards.clone(),
        };
        let versions = manifest.versions.iter().filter(|version| version.number > after).map(told);
        let delegates = manifest.delegates.iter().filter(|delegate| delegate.since > after).cloned();
        Self { versions: versions.collect(), delegates: delegates.collect() }
    }

    /// Appends them to a manifest.
    ///
    /// # Errors
    /// [`Error::Invalid`] if a version has other shards than the manifest, or an id is of another kind.
    pub(crate) fn publish(self, manifest: &mut ClusterManifest) -> Result<()> {
        let is_text = |one: &Delegate| matches!(one.id, OwnedId::Text(_));
        if self.versions.iter().any(|version| version.shards.len() != manifest.shards.len())
            || self.delegates.iter().any(|one| is_text(one) != manifest.text_ids)
        {
            return Err(Error::invalid("the command told of versions of another cluster".to_owned()));
        }
        manifest.versions.extend(self.versions.into_iter().map(
            |ToldVersion { number, edges_given, shards }| WholeVersion {
                number,
                time_ms: 0,
                edges_given,
                message: String::new(),
                shards,
            },
        ));
        manifest.delegates.extend(self.delegates);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::messages::{decode, encode};

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
            let sent = encode(&Excerpt::of(&early, 3)).expect("encode");
            let told: Excerpt = decode(&sent).expect("told");
            let mut told = told.into_manifest().expect("a manifest");
            assert_eq!((told.edges_given(), told.versions[0].number), (10 + 20 + 30 + 40, 3));
            assert_eq!(told.delegates, early.delegates);
            ManifestNews::after(&whole, 4).publish(&mut told).expect("news");
            let expected =
                ClusterManifest { versions: whole.versions[2..].to_vec(), edges_before: 30, ..whole.clone() };
            assert_eq!(told, expected);
        }
    }

    /// They would be read past their end, or taken for other vertices.
    #[test]
    fn versions_of_other_shards_and_delegates_of_another_kind_are_refused() {
        for text_ids in [false, true] {
            let mut whole = manifest(text_ids);
            let mut news = ManifestNews::after(&whole, 4);
            news.versions[0].shards.pop();
            let message = news.publish(&mut whole).expect_err("a shard is missing").to_string();
            assert!(message.contains("versions of another cluster"), "{message}");
            ManifestNews::after(&manifest(!text_ids), 4)
                .publish(&mut whole)
                .expect_err("ids of another kind");
            assert_eq!(whole, manifest(text_ids));
        }
    }
}

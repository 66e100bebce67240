//! The manifest of a cluster: its shards, and which version of each shard makes each version of the whole.
//!
//! `CLUSTER` is a header page (the fields of `Head`, zeros, a checksum) and a body with a checksum of its
//! own. It is never changed in place: a new file is written, synced, and renamed over the old one, so at
//! every moment the name stands for a whole manifest, and any checksum that does not match is damage.
//! `CLUSTER.seal`, replaced in the same way afterwards, says how many versions there were: a manifest with
//! fewer is an older copy. Size: 4096 bytes, 16 a shard, and for each version 32, its message, and 8 a shard;
//! 16, and for each delegate 8 and its id.

use std::collections::BTreeMap;
use std::path::Path;

use esker_format::io::Disk;
use esker_format::{
    DatabaseId, Error, FORMAT_VERSION, FieldInput, FieldValue, PAGE_BYTES, Result, Sought, VersionRecord,
};
use esker_format::{header_page, read_header_page};
use esker_store::ids::ExternalId;
use esker_store::manifest::VersionSelector;
use serde::{Deserialize, Serialize};

use crate::model::owner::OwnedId;
use crate::net::wire::put_id;

/// Name of the manifest in the directory of a cluster.
pub const MANIFEST_NAME: &str = "CLUSTER";
/// Name of the file that says how many versions the manifest had.
pub const SEAL_NAME: &str = "CLUSTER.seal";
const MANIFEST_MAGIC: [u8; 8] = *b"Eskerclu";
const SEAL_MAGIC: [u8; 8] = *b"Eskercls";
/// The most shards of a cluster.
pub const SHARDS_MAX: usize = 1024;

/// A version of the whole: one version of each shard, all of them synced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WholeVersion {
    /// Its number, from 1.
    pub number: u64,
    /// When it was published, in milliseconds since 1970, UTC.
    pub time_ms: u64,
    /// Number of edges that were given for it, duplicates included.
    pub edges_given: u64,
    /// Its message.
    pub message: String,
    /// The version of each shard.
    pub shards: Vec<u64>,
}

impl WholeVersion {
    /// The version as one of a database, without sizes.
    fn record(&self) -> VersionRecord {
        VersionRecord {
            number: self.number,
            time_ms: self.time_ms,
            committed_ms: self.time_ms,
            message: self.message.clone(),
            commit: 0,
            num_vertices: 0,
            num_edges: 0,
            num_arcs: 0,
            num_loops: 0,
        }
    }
}

/// A vertex whose edges lie with the owners of their other ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delegate {
    /// The vertex.
    pub id: OwnedId,
    /// The first version of the whole in which it is one.
    pub since: u64,
}

/// What the manifest says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterManifest {
    /// The cluster.
    pub id: DatabaseId,
    /// Seed of the hash that finds the owner of a vertex.
    pub seed: u64,
    /// Whether edges are directed.
    pub directed: bool,
    /// Whether external ids are texts; else they are integers.
    pub text_ids: bool,
    /// The database of each shard.
    pub shards: Vec<DatabaseId>,
    /// The versions of the whole, oldest first; never empty. What a worker is sent begins later than with the
    /// first.
    pub versions: Vec<WholeVersion>,
    /// Edges that were given for versions before these.
    pub edges_before: u64,
    /// Edges of a vertex in its list from which on it becomes a delegate; 0: no vertex does.
    pub hub_degree: u64,
    /// The delegates, in the order in which they became so.
    pub delegates: Vec<Delegate>,
}

/// The fields of the header page, in order.
struct HeaderFields {
    id: DatabaseId,
    seed: u64,
    directed: bool,
    text_ids: bool,
    shards: u32,
    versions: u64,
    body_bytes: u64,
    body_checksum: u32,
}

impl FieldValue for HeaderFields {
    fn put(&self, out: &mut Vec<u8>) {
        MANIFEST_MAGIC.put(out);
        FORMAT_VERSION.put(out);
        self.id.put(out);
        self.seed.put(out);
        self.directed.put(out);
        self.text_ids.put(out);
        self.shards.put(out);
        self.versions.put(out);
        self.body_bytes.put(out);
        self.body_checksum.put(out);
    }

    fn take(input: &mut FieldInput<'_>) -> Result<Self> {
        <[u8; 8]>::take(input)?;
        u32::take(input)?;
        Ok(Self {
            id: DatabaseId::take(input)?,
            seed: u64::take(input)?,
            directed: bool::take(input)?,
            text_ids: bool::take(input)?,
            shards: u32::take(input)?,
            versions: u64::take(input)?,
            body_bytes: u64::take(input)?,
            body_checksum: u32::take(input)?,
        })
    }
}

/// The fields of the seal, in order.
struct Seal {
    id: DatabaseId,
    newest: u64,
}

impl FieldValue for Seal {
    fn put(&self, out: &mut Vec<u8>) {
        SEAL_MAGIC.put(out);
        FORMAT_VERSION.put(out);
        self.id.put(out);
        self.newest.put(out);
    }

    fn take(input: &mut FieldInput<'_>) -> Result<Self> {
        <[u8; 8]>::take(input)?;
        u32::take(input)?;
        Ok(Self { id: DatabaseId::take(input)?, newest: u64::take(input)? })
    }
}

impl ClusterManifest {
    /// The newest version of the whole.
    pub fn newest(&self) -> &WholeVersion {
        self.versions.last().unwrap_or_else(|| unreachable!("a manifest has a version"))
    }

    /// Number of edges in all inputs of all versions together, duplicates included.
    pub fn edges_given(&self) -> u64 {
        self.edges_before + self.versions.iter().map(|version| version.edges_given).sum::<u64>()
    }

    /// The version of a number.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is none.
    pub fn version(&self, number: u64) -> Result<&WholeVersion> {
        self.versions.iter().find(|version| version.number == number).ok_or_else(|| {
            let newest = self.newest().number;
            let reason = format!("the cluster has no version {number}: it has versions 1 to {newest}");
            Error::not_found(Sought::Version, reason)
        })
    }

    /// The number of the version that is selected. Clusters have no tags.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is none.
    pub fn select(&self, selector: &VersionSelector) -> Result<u64> {
        match selector {
            VersionSelector::Number(number) => Ok(self.version(*number)?.number),
            VersionSelector::Tag(name) => Err(Error::not_found(
                Sought::Version,
                format!(
                    "{name:?} is no version: clusters have no tags, so give a number, a time such as 2026-11-21, or latest"
                ),
            )),
            VersionSelector::Latest => Ok(self.newest().number),
            VersionSelector::Time(_) => {
                let records: Vec<_> = self.versions.iter().map(WholeVersion::record).collect();
                selector.resolve(&records, &BTreeMap::new())
            }
        }
    }

    /// Reads the manifest of the cluster at `directory`, and compares it with its seal. A command that
    /// publishes versions meanwhile does not disturb.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Corrupt`]; [`Error::Invalid`] if it is an older copy, or of a newer Esker.
    pub fn read(disk: &dyn Disk, directory: &Path) -> Result<Self> {
        Self::read_by(directory, |path| disk.read(path))
    }

    fn read_by(directory: &Path, mut read: impl FnMut(&Path) -> Result<Vec<u8>>) -> Result<Self> {
        let (path, seal_path) = (directory.join(MANIFEST_NAME), directory.join(SEAL_NAME));
        // A writer replaces the seal last. Read first, it is no newer than the manifest.
        let seal = read(&seal_path)
            .map_err(|error| of_missing(error, "the proof that no older copy replaced CLUSTER"))?;
        let seal: Seal = read_header_page(&seal_path, &seal, SEAL_MAGIC)?;
        let manifest = read(&path).map_err(|error| of_missing(error, "the versions of the cluster"))?;
        let manifest = Self::decode(&path, &manifest)?;
        let (found, sealed) = (manifest.newest().number, seal.newest);
        if seal.id != manifest.id {
            return Err(Error::invalid(format!(
                "{} and {} are of different clusters: put back the file that belongs here",
                path.display(),
                seal_path.display()
            )));
        }
        if found < sealed {
            return Err(Error::invalid(format!(
                "{} is an older copy: it ends with version {found}, but {} says that there were {sealed}; put back the newer file",
                path.display(),
                seal_path.display()
            )));
        }
        Ok(manifest)
    }

    /// The number of the newest version, as the seal says it: a short file, also if there are many versions.
    ///
    /// # Errors
    /// As [`ClusterManifest::read`].
    pub fn sealed(disk: &dyn Disk, directory: &Path) -> Result<u64> {
        let path = directory.join(SEAL_NAME);
        let seal: Seal = read_header_page(&path, &disk.read(&path)?, SEAL_MAGIC)?;
        Ok(seal.newest)
    }

    /// Writes the manifest and then its seal, each in the place of the old file. On return both are durable.
    ///
    /// # Errors
    /// [`Error::Io`]: until the new manifest has its name, the old one stays.
    pub fn write(&self, disk: &dyn Disk, directory: &Path) -> Result<()> {
        put_in_place(disk, directory, MANIFEST_NAME, &self.encode())?;
        self.seal(disk, directory)
    }

    /// Writes the seal of the manifest, which is durable, in the place of the old one.
    ///
    /// # Errors
    /// [`Error::Io`]: until the new seal has its name, the old one stays.
    pub(crate) fn seal(&self, disk: &dyn Disk, directory: &Path) -> Result<()> {
        let seal = Seal { id: self.id, newest: self.newest().number };
        put_in_place(disk, directory, SEAL_NAME, &header_page(&seal))
    }

    fn encode(&self) -> Vec<u8> {
        let mut body = Vec::new();
        self.shards.iter().for_each(|shard| shard.put(&mut body));
        for version in &self.versions {
            version.number.put(&mut body);
            version.time_ms.put(&mut body);
            version.edges_given.put(&mut body);
            version.message.put(&mut body);
            version.shards.iter().for_each(|shard| shard.put(&mut body));
        }
        self.hub_degree.put(&mut body);
        (self.delegates.len() as u64).put(&mut body);
        for delegate in &self.delegates {
            delegate.since.put(&mut body);
            put_id(&mut body, delegate.id.as_id());
        }
        let mut file = header_page(&HeaderFields {
            id: self.id,
            seed: self.seed,
            directed: self.directed,
            text_ids: self.text_ids,
            shards: self.shards.len() as u32,
            versions: self.versions.len() as u64,
            body_bytes: body.len() as u64,
            body_checksum: crc32c::crc32c(&body),
        });
        file.append(&mut body);
        file
    }

    fn decode(path: &Path, file: &[u8]) -> Result<Self> {
        let head: HeaderFields = read_header_page(path, file, MANIFEST_MAGIC)?;
        let start = PAGE_BYTES as u64;
        let body = &file[PAGE_BYTES..];
        if body.len() as u64 != head.body_bytes || crc32c::crc32c(body) != head.body_checksum {
            return Err(Error::corrupt(path, start, "the checksum of its versions does not match"));
        }
        let mut input = FieldInput::new(path, body, start);
        let num_shards = head.shards as usize;
        if num_shards == 0 || num_shards > SHARDS_MAX || head.versions == 0 {
            return Err(input.corrupt(format!("{num_shards} shards and {} versions", head.versions)));
        }
        let shards = (0..num_shards).map(|_| DatabaseId::take(&mut input)).collect::<Result<_>>()?;
        let mut versions: Vec<WholeVersion> = Vec::new();
        for _ in 0..head.versions {
            let number = u64::take(&mut input)?;
            if number != versions.last().map_or(1, |last| last.number + 1) {
                return Err(input.corrupt(format!("version {number} is out of order")));
            }
            versions.push(WholeVersion {
                number,
                time_ms: u64::take(&mut input)?,
                edges_given: u64::take(&mut input)?,
                message: String::take(&mut input)?,
                shards: (0..num_shards).map(|_| u64::take(&mut input)).collect::<Result<_>>()?,
            });
        }
        let (hub_degree, delegates) = take_delegates(&mut input, head.text_ids)?;
        input.finish()?;
        let HeaderFields { id, seed, directed, text_ids, .. } = head;
        Ok(Self { id, seed, directed, text_ids, shards, versions, edges_before: 0, hub_degree, delegates })
    }
}

/// Takes the degree of hubs and the delegates.
fn take_delegates(input: &mut FieldInput<'_>, text_ids: bool) -> Result<(u64, Vec<Delegate>)> {
    let (hub_degree, count) = (u64::take(input)?, u64::take(input)?);
    let mut delegates = Vec::new();
    for _ in 0..count {
        let since = u64::take(input)?;
        let id = match text_ids {
            true => {
                let len = u32::take(input)? as usize;
                ExternalId::Text(input.bytes(len)?)
            }
            false => ExternalId::Int(u64::take(input)?),
        };
        delegates.push(Delegate { id: id.into(), since });
    }
    Ok((hub_degree, delegates))
}

/// Says of a file that a cluster has and that is not there what is lost with it, and what to do.
pub(crate) fn of_missing(error: Error, lost: &str) -> Error {
    match error {
        Error::Io { path, .. } if error.is_not_found() => Error::invalid(format!(
            "{} is missing, and with it {lost}: put it back, from a copy of the cluster if need be; each shard can be read as a database",
            path.display()
        )),
        other => other,
    }
}

/// Replaces a small file in one step.
pub(crate) fn put_in_place(disk: &dyn Disk, directory: &Path, name: &str, content: &[u8]) -> Result<()> {
    let new = directory.join(format!("{name}.new"));
    if disk.look(&new)?.is_some() {
        disk.remove_file(&new)?;
    }
    disk.write(&new, content)?;
    disk.replace(&new, &directory.join(name))?;
    disk.sync_directory(directory)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use esker_format::io::{Files, MemoryDisk};

    use super::*;

    fn sample(versions: u64) -> ClusterManifest {
        let version = |number| WholeVersion {
            number,
            time_ms: 1000 + number,
            edges_given: 10 * number,
            message: format!("add {number}"),
            shards: vec![number, 2 * number],
        };
        ClusterManifest {
            id: DatabaseId([1; 16]),
            seed: 77,
            directed: true,
            text_ids: false,
            shards: vec![DatabaseId([2; 16]), DatabaseId([3; 16])],
            versions: (1..=versions).map(version).collect(),
            edges_before: 0,
            hub_degree: 1000,
            delegates: (1..versions).map(|since| Delegate { id: OwnedId::Int(7 * since), since }).collect(),
        }
    }

    fn disk() -> (MemoryDisk, PathBuf) {
        let (disk, path) = (MemoryDisk::new(), PathBuf::from("/c"));
        disk.create_directory(&path).expect("create");
        (disk, path)
    }

    #[test]
    fn what_is_written_is_read() {
        let (disk, path) = disk();
        for versions in 1..4 {
            sample(versions).write(&disk, &path).expect("write");
            assert_eq!(ClusterManifest::read(&disk, &path).expect("read"), sample(versions));
        }
    }

    #[test]
    fn text_delegates_are_read_and_a_manifest_without_a_degree_of_hubs_has_none() {
        let (disk, path) = disk();
        let mut manifest = ClusterManifest { text_ids: true, delegates: Vec::new(), ..sample(3) };
        for (since, text) in [(1, ""), (3, "a hub")] {
            manifest.delegates.push(Delegate { id: OwnedId::Text(text.into()), since });
        }
        manifest.write(&disk, &path).expect("write");
        assert_eq!(ClusterManifest::read(&disk, &path).expect("read"), manifest);
    }

    #[test]
    fn a_manifest_is_of_the_format_of_databases() {
        let (path, plain) = (PathBuf::from("/c/CLUSTER"), ClusterManifest { hub_degree: 0, ..sample(1) });
        for manifest in [plain, sample(1), sample(2)] {
            let file = manifest.encode();
            assert_eq!(file[8..12], FORMAT_VERSION.to_le_bytes());
            assert_eq!(ClusterManifest::decode(&path, &file).expect("read"), manifest);
        }
    }

    #[test]
    fn every_flipped_byte_of_the_body_is_noticed() {
        let (disk, path) = disk();
        sample(3).write(&disk, &path).expect("write");
        let file = path.join(MANIFEST_NAME);
        let sound = disk.read(&file).expect("read");
        for place in (0..sound.len()).filter(|place| *place < 100 || *place >= 4000) {
            let mut damaged = sound.clone();
            damaged[place] ^= 4;
            disk.open_for_writing(&file).and_then(|open| open.write_at(&damaged, 0)).expect("damage");
            let message = ClusterManifest::read(&disk, &path).expect_err("damage").to_string();
            assert!(message.starts_with("/c/CLUSTER "), "{place}: {message}");
            assert!(message.contains("damaged at byte") && message.contains("restore"), "{place}: {message}");
        }
        disk.open_for_writing(&file).and_then(|open| open.set_length(5000 - 800)).expect("cut");
        assert!(ClusterManifest::read(&disk, &path).is_err());
        assert!(disk.open(&file).is_ok());
    }

    #[test]
    fn a_version_published_between_the_two_reads_does_not_make_the_manifest_an_older_copy() {
        let (disk, path) = disk();
        sample(2).write(&disk, &path).expect("write");
        let mut reads = 0;
        let read = ClusterManifest::read_by(&path, |file| {
            let content = disk.read(file);
            reads += 1;
            sample(2 + reads).write(&disk, &path).expect("write");
            content
        });
        assert_eq!(read.expect("a sound cluster"), sample(3));
    }

    #[test]
    fn versions_are_selected_by_number_and_time() {
        let manifest = sample(3);
        let select = |text: &str| manifest.select(&text.parse().expect("a selector"));
        for (text, number) in [("2", 2), ("latest", 3), ("2026-11-21", 3), ("1970-01-01T00:00:01.002Z", 2)] {
            assert_eq!(select(text).expect(text), number, "{text}");
        }
        for (text, reason) in [
            ("4", "the cluster has no version 4"),
            ("1970-01-01T00:00:00Z", "there was no version yet"),
            ("monday", "clusters have no tags"),
        ] {
            let message = select(text).expect_err(text).to_string();
            assert!(message.contains(reason), "{message}");
        }
    }

    #[test]
    fn a_missing_file_is_named_with_what_is_lost() {
        let (disk, path) = disk();
        sample(2).write(&disk, &path).expect("write");
        for (name, lost) in
            [(SEAL_NAME, "the proof that no older copy"), (MANIFEST_NAME, "the versions of the cluster")]
        {
            disk.rename(&path.join(name), &path.join("away")).expect("move");
            let message = ClusterManifest::read(&disk, &path).expect_err("missing").to_string();
            assert!(message.starts_with(&format!("/c/{name} is missing, and with it {lost}")), "{message}");
            assert!(message.contains("put it back"), "{message}");
            disk.rename(&path.join("away"), &path.join(name)).expect("move back");
        }
    }

    #[test]
    fn an_older_copy_is_refused() {
        let (disk, path) = disk();
        sample(2).write(&disk, &path).expect("write");
        let older = disk.read(&path.join(MANIFEST_NAME)).expect("read");
        sample(3).write(&disk, &path).expect("write");
        put_in_place(&disk, &path, MANIFEST_NAME, &older).expect("put back");
        let message = ClusterManifest::read(&disk, &path).expect_err("older").to_string();
        assert!(message.contains("/c/CLUSTER is an older copy: it ends with version 2"), "{message}");
        assert!(message.contains("put back the newer file"), "{message}");
    }
}

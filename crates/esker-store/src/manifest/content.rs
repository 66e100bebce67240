//! The state of a database, as its manifest describes it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use esker_format::io::Disk;
use esker_format::{
    DatabaseId, Duplicates, Edit, Error, EventTimes, FORMAT_VERSION, HeadsRecord, IdMapRecord, IdSecret,
    KeptForms, KeptMessage, LayerRecord, LogMark, MANIFEST_MAGIC, ManifestHead, ManifestHeader, Origin,
    PAGE_BYTES, PropertyRecord, ReadingRecord, Result, Retention, StreamRecord, TagRecord, TilesRecord,
    VersionRecord, WriteOptions,
};

use super::forms::FormRecords;
use super::names::MANIFEST_NAME;
use super::records::{ManifestContents, header_bytes, put_record, read};
use super::versions::Versions;
use crate::log::LogStart;

/// How often a reader retries while a writer changes the manifest.
const ATTEMPTS_MAX: u32 = 100;

/// The state of a database: the result of all edits in its manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// The database.
    pub database: DatabaseId,
    /// Time of its creation: milliseconds since 1970, UTC.
    pub created_ms: u64,
    /// Its layers, oldest first, covering versions without gaps; at least one.
    pub layers: Vec<LayerRecord>,
    /// Its map of external ids.
    pub ids: IdMapRecord,
    /// The secret that keys the hash of external ids.
    pub id_secret: IdSecret,
    /// Its properties: of edges, then of vertices, each by number.
    pub properties: Vec<PropertyRecord>,
    /// The retained versions in its layers, oldest first; at least one.
    pub versions: Versions,
    /// The version of each tag.
    pub tags: Arc<BTreeMap<String, u64>>,
    /// Which versions to keep.
    pub retention: Retention,
    /// The rule for duplicate edges, if an edit sets one. See [`Manifest::duplicates`].
    pub(crate) duplicates: Option<Duplicates>,
    /// How commits become layers; `None` if it was never set. See [`Manifest::options`].
    pub(crate) options: Option<WriteOptions>,
    /// The stream that the database was declared to be.
    pub stream: Option<StreamRecord>,
    /// How an input was read, if it is remembered: later inputs are read the same way.
    pub reading: Option<ReadingRecord>,
    /// Messages of forgotten versions that say how far streams were read, in order of version.
    pub messages: Vec<KeptMessage>,
    /// What the event times of versions are; `None` if it was never set.
    pub(crate) event_times: Option<EventTimes>,
    /// The tiles of layers, in order of layer number.
    pub tiles: Vec<TilesRecord>,
    /// The stored heads of layers, in order of layer number.
    pub heads: Vec<HeadsRecord>,
    /// The second forms that merging gives the complete layer; `None`: those that it has.
    pub(crate) kept: Option<KeptForms>,
    /// How far the log reaches at least; `None` if no process ever wrote to the database.
    pub log: Option<LogMark>,
    /// Number of the last record, and so of all records ever written.
    pub records: u64,
    /// The chain value of the last record, which depends on all records ever written.
    pub chain: u32,
}

impl Manifest {
    /// Reads the manifest at `path`. Ignores an incomplete last record: its writer died or is still writing
    /// it. Any other damage is an error.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Corrupt`], also if edits contradict each other; [`Error::Invalid`] for an
    /// unsupported format version, or vertex ids of another width than this build's.
    pub(crate) fn read(disk: &dyn Disk, path: &Path) -> Result<Self> {
        Self::assemble(path, read(disk, path)?)
    }

    /// The number of bytes at the end of the manifest at `path` that are no complete record.
    ///
    /// # Errors
    /// As [`Manifest::read`].
    pub(crate) fn unfinished_bytes(disk: &dyn Disk, path: &Path) -> Result<u64> {
        Ok(read(disk, path)?.torn_bytes)
    }

    /// Applies the edits read from `path`.
    pub(crate) fn assemble(path: &Path, contents: ManifestContents) -> Result<Self> {
        let mut builder = ManifestBuilder::new(&contents.header);
        for edit in contents.edits {
            builder.apply(edit).map_err(|reason| Error::corrupt(path, PAGE_BYTES as u64, reason))?;
        }
        let head = ManifestHead { records: contents.last_record, chain: contents.chain };
        let manifest = builder.finish(head).ok_or_else(|| {
            let reason = "it does not describe a complete database";
            Error::corrupt(path, contents.end, contents.torn.unwrap_or(reason))
        })?;
        match manifest.contradiction().or_else(|| manifest.wrong_tag()) {
            Some(reason) => Err(Error::corrupt(path, PAGE_BYTES as u64, reason)),
            None => Ok(manifest),
        }
    }

    /// The state that edits produce; without a version too. `None` if they contradict one another.
    pub(super) fn of_edits(header: &ManifestHeader, head: ManifestHead, edits: Vec<Edit>) -> Option<Self> {
        let mut builder = ManifestBuilder::new(header);
        for edit in edits {
            builder.apply(edit).ok()?;
        }
        let versions = builder.versions.clone();
        if let Some(layer) = builder.layers.values().next().filter(|_| versions.is_empty()) {
            let version = VersionRecord::at_end_of(layer, 0, 0, String::new());
            builder.versions.insert(version);
        }
        builder.finish(head).map(|manifest| Self { versions, ..manifest })
    }

    /// Reads the manifest of the database at `database` and passes it to `load`, which opens files that it
    /// names. Another process may be writing: if `load` fails and the manifest has changed meanwhile, the
    /// writer may have removed files, so this starts over with the new manifest.
    ///
    /// # Errors
    /// As [`Manifest::read`] and `load`.
    pub(crate) fn read_with<T>(
        disk: &dyn Disk,
        database: &Path,
        mut load: impl FnMut(&Self) -> Result<T>,
    ) -> Result<(Self, T)> {
        let path = database.join(MANIFEST_NAME);
        let mut manifest = Self::read(disk, &path)?;
        for _ in 1..ATTEMPTS_MAX {
            let failed = match load(&manifest) {
                Ok(loaded) => return Ok((manifest, loaded)),
                Err(error) => error,
            };
            let now = Self::read(disk, &path)?;
            if (now.database, now.head()) == (manifest.database, manifest.head()) {
                return Err(failed);
            }
            manifest = now;
        }
        let loaded = load(&manifest)?;
        Ok((manifest, loaded))
    }

    /// Encodes a manifest with one record, numbered 1.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the edits exceed 4 GiB.
    pub(crate) fn encode(database: DatabaseId, created_ms: u64, edits: &[Edit]) -> Result<Vec<u8>> {
        let mut record = Vec::new();
        put_record(&mut record, 1, edits)?;
        let head = ManifestHead { records: 1, chain: crc32c::crc32c(&record) };
        Self::encode_as(database, created_ms, head, edits)
    }

    /// Encodes a manifest with one record, of this number and chain value.
    pub(super) fn encode_as(
        database: DatabaseId,
        created_ms: u64,
        head: ManifestHead,
        edits: &[Edit],
    ) -> Result<Vec<u8>> {
        let mut file = header_bytes(&ManifestHeader {
            magic: MANIFEST_MAGIC,
            format_version: FORMAT_VERSION,
            database,
            vertex_bytes: 0,
            created_ms,
            first_record: head.records,
            first_chain: head.chain,
        });
        put_record(&mut file, head.records, edits)?;
        Ok(file)
    }

    /// What binds the files of the map of external ids to its record.
    pub(crate) fn ids_origin(&self) -> Origin {
        Origin { database: self.database, stamp: self.ids.stamp }
    }

    /// The state on which the log depends.
    pub(crate) fn log_start(&self) -> LogStart {
        let first_version = self.layers.last().map_or(1, |layer| layer.last_version + 1);
        let previous = self.layers.last().map(|layer| layer.last_commit);
        LogStart { database: self.database, first_version, previous, manifest: self.head(), mark: self.log }
    }

    /// Number and chain value of the last record.
    pub(crate) fn head(&self) -> ManifestHead {
        ManifestHead { records: self.records, chain: self.chain }
    }

    /// The rule for duplicate edges. If no edit sets it, a multigraph keeps them all; else the last counts.
    pub fn duplicates(&self) -> Duplicates {
        let is_multigraph = self.layers.last().is_some_and(|layer| layer.multigraph);
        self.duplicates.unwrap_or(if is_multigraph { Duplicates::Keep } else { Duplicates::Last })
    }

    /// How commits become layers.
    pub fn options(&self) -> WriteOptions {
        self.options.unwrap_or_default()
    }

    /// What the event times of versions are, where a commit is given none.
    pub fn event_times(&self) -> EventTimes {
        self.event_times.unwrap_or_default()
    }

    /// Neighbours in each head that merges are to store, if the complete layer has none: the last merge had
    /// no memory for heads.
    pub fn missing_heads(&self) -> Option<u64> {
        let (kept, complete) = (self.kept?, self.layers.first()?);
        let has_heads = self.heads.iter().any(|record| record.layer == complete.number);
        (kept.head_len > 0 && !has_heads).then_some(kept.head_len)
    }

    /// A version; `None` if it is forgotten or not in a layer yet. Time: O(log versions).
    pub fn version(&self, number: u64) -> Option<&VersionRecord> {
        self.versions.get(number)
    }

    /// The state after applying `edits`. It shares unchanged versions and tags with this one. Time:
    /// O(layers + edits * log versions), plus O(tags) if an edit sets a tag or removes a version.
    ///
    /// # Errors
    /// The contradiction, if the result would be inconsistent.
    pub(crate) fn with(&self, edits: &[Edit]) -> std::result::Result<Self, String> {
        let mut record = Vec::new();
        put_record(&mut record, self.records + 1, edits).map_err(|error| error.to_string())?;
        self.after(edits, &record)
    }

    /// As [`Manifest::with`], for edits that are already encoded as the next record.
    pub(super) fn after(&self, edits: &[Edit], record: &[u8]) -> std::result::Result<Self, String> {
        let mut builder = ManifestBuilder::of(self);
        for edit in edits {
            builder.apply(edit.clone())?;
        }
        let chain = crc32c::crc32c_append(self.chain, record);
        let head = ManifestHead { records: self.records + 1, chain };
        let next = builder.finish(head).ok_or("a database needs a layer and a version")?;
        let concerns_tags = |edit: &Edit| matches!(edit, Edit::SetTag(_) | Edit::RemoveVersion { .. });
        let wrong = next.contradiction();
        let wrong = wrong.or_else(|| if edits.iter().any(concerns_tags) { next.wrong_tag() } else { None });
        wrong.map_or(Ok(next), |reason| Err(reason.to_owned()))
    }

    /// Number of the edits of [`Manifest::to_edits`].
    pub(super) fn num_edits(&self) -> usize {
        3 + self.properties.len()
            + self.layers.len()
            + self.tiles.len()
            + self.heads.len()
            + usize::from(self.kept.is_some())
            + self.versions.len()
            + self.tags.len()
            + usize::from(self.log.is_some())
            + usize::from(self.duplicates.is_some())
            + usize::from(self.options.is_some())
            + usize::from(self.stream.is_some())
            + usize::from(self.reading.is_some())
            + usize::from(self.event_times.is_some())
            + self.messages.len()
    }

    /// The fewest edits that produce this state.
    pub(super) fn to_edits(&self) -> Vec<Edit> {
        let mut edits = self.settings(&self.ids, &self.properties);
        edits.extend(self.layers.iter().cloned().map(Edit::AddLayer));
        edits.extend(self.tiles.iter().cloned().map(Edit::SetTiles));
        edits.extend(self.heads.iter().copied().map(Edit::SetHeads));
        edits.extend(self.versions.iter().cloned().map(Edit::AddVersion));
        edits.extend(self.log.map(Edit::SetLog));
        edits
    }

    /// The edits that produce what concerns the database as a whole, with these ids and properties, and the
    /// tags.
    pub(super) fn settings(&self, ids: &IdMapRecord, properties: &[PropertyRecord]) -> Vec<Edit> {
        let mut edits = vec![Edit::SetIdMap(ids.clone()), Edit::SetIdSecret(self.id_secret)];
        edits.extend(properties.iter().cloned().map(Edit::AddProperty));
        edits.extend(self.kept.map(Edit::KeepForms));
        edits.extend(
            self.tags.iter().map(|(name, &version)| Edit::SetTag(TagRecord { name: name.clone(), version })),
        );
        edits.push(Edit::SetRetention(self.retention));
        edits.extend(self.duplicates.map(Edit::SetDuplicates));
        edits.extend(self.options.map(Edit::SetOptions));
        edits.extend(self.stream.clone().map(Edit::SetStream));
        edits.extend(self.reading.clone().map(Edit::SetReading));
        edits.extend(self.event_times.map(Edit::SetEventTimes));
        edits.extend(self.messages.iter().cloned().map(Edit::KeepMessage));
        edits
    }
}

/// A manifest under construction. Applies each edit in O(log n).
struct ManifestBuilder {
    database: DatabaseId,
    created_ms: u64,
    layers: BTreeMap<u32, LayerRecord>,
    ids: Option<IdMapRecord>,
    id_secret: Option<IdSecret>,
    properties: Vec<PropertyRecord>,
    versions: Versions,
    tags: Arc<BTreeMap<String, u64>>,
    retention: Retention,
    duplicates: Option<Duplicates>,
    options: Option<WriteOptions>,
    stream: Option<StreamRecord>,
    reading: Option<ReadingRecord>,
    event_times: Option<EventTimes>,
    messages: BTreeMap<u64, String>,
    forms: FormRecords,
    log: Option<LogMark>,
}

impl ManifestBuilder {
    fn new(header: &ManifestHeader) -> Self {
        Self {
            database: header.database,
            created_ms: header.created_ms,
            layers: BTreeMap::new(),
            ids: None,
            id_secret: None,
            properties: Vec::new(),
            versions: Versions::default(),
            tags: Arc::default(),
            retention: Retention::All,
            duplicates: None,
            options: None,
            stream: None,
            reading: None,
            event_times: None,
            messages: BTreeMap::new(),
            forms: FormRecords::default(),
            log: None,
        }
    }

    fn of(manifest: &Manifest) -> Self {
        Self {
            database: manifest.database,
            created_ms: manifest.created_ms,
            layers: manifest.layers.iter().map(|layer| (layer.number, layer.clone())).collect(),
            ids: Some(manifest.ids.clone()),
            id_secret: Some(manifest.id_secret),
            properties: manifest.properties.clone(),
            versions: manifest.versions.clone(),
            tags: Arc::clone(&manifest.tags),
            retention: manifest.retention,
            duplicates: manifest.duplicates,
            options: manifest.options,
            stream: manifest.stream.clone(),
            reading: manifest.reading.clone(),
            event_times: manifest.event_times,
            messages: manifest
                .messages
                .iter()
                .map(|KeptMessage { version, message }| (*version, message.clone()))
                .collect(),
            forms: FormRecords::of(&manifest.tiles, &manifest.heads, manifest.kept),
            log: manifest.log,
        }
    }

    fn apply(&mut self, edit: Edit) -> std::result::Result<(), String> {
        let check = |holds: bool, reason: String| if holds { Ok(()) } else { Err(reason) };
        match edit {
            Edit::AddLayer(layer) => {
                let number = layer.number;
                let is_new = self.layers.insert(number, layer).is_none();
                check(is_new, format!("layer {number} is added twice"))
            }
            Edit::SetIdSecret(secret) => {
                let is_new = self.id_secret.replace(secret).is_none();
                check(is_new, "the secret of ids is set twice".to_owned())
            }
            Edit::AddProperty(property) => {
                self.properties.push(property);
                Ok(())
            }
            Edit::SetProperty(property) => {
                let mut known = self.properties.iter_mut();
                let same =
                    known.find(|known| (known.owner, known.number) == (property.owner, property.number));
                let reason = format!("the property {:?} is replaced but does not exist", property.name);
                same.map(|same| *same = property).ok_or(reason)
            }
            Edit::AddVersion(version) => {
                let number = version.number;
                let is_new = self.versions.insert(version);
                check(is_new, format!("version {number} is added twice"))
            }
            Edit::RemoveLayer { number } => {
                let was_there = self.layers.remove(&number).is_some();
                self.forms.remove_layer(number);
                check(was_there, format!("layer {number} is removed but does not exist"))
            }
            Edit::SetTag(TagRecord { name, version }) => {
                Arc::make_mut(&mut self.tags).insert(name, version);
                Ok(())
            }
            Edit::RemoveTag { name } => {
                let was_there = Arc::make_mut(&mut self.tags).remove(&name).is_some();
                check(was_there, format!("tag {name:?} is removed but does not exist"))
            }
            Edit::RemoveVersion { number } => {
                let was_there = self.versions.remove(number);
                check(was_there, format!("version {number} is removed but does not exist"))
            }
            Edit::SetTiles(_)
            | Edit::RemoveTiles { .. }
            | Edit::SetHeads(_)
            | Edit::RemoveHeads { .. }
            | Edit::KeepForms(_) => self.forms.apply(&edit, &self.layers),
            Edit::KeepMessage(KeptMessage { version, message }) => {
                let is_new = self.messages.insert(version, message).is_none();
                check(is_new, format!("the message of version {version} is kept twice"))
            }
            Edit::DropMessage { version } => {
                let was_there = self.messages.remove(&version).is_some();
                check(was_there, format!("the message of version {version} is dropped but was not kept"))
            }
            setting => {
                self.set(setting);
                Ok(())
            }
        }
    }

    /// Applies an edit that sets one value in place of the one before.
    fn set(&mut self, edit: Edit) {
        match edit {
            Edit::SetIdMap(map) => self.ids = Some(map),
            Edit::SetRetention(retention) => self.retention = retention,
            Edit::SetLog(mark) => self.log = Some(mark),
            Edit::SetDuplicates(rule) => self.duplicates = Some(rule),
            Edit::SetOptions(options) => self.options = Some(options),
            Edit::SetStream(stream) => self.stream = Some(stream),
            Edit::SetReading(reading) => self.reading = Some(reading),
            Edit::RemoveReading => self.reading = None,
            Edit::SetEventTimes(times) => self.event_times = Some(times),
            _ => {}
        }
    }

    /// The manifest; `None` unless it has an id map, the secret of ids, a layer and a version.
    fn finish(self, head: ManifestHead) -> Option<Manifest> {
        let Self { database, created_ms, id_secret, versions, tags, retention, .. } = self;
        let Self { duplicates, options, stream, reading, event_times, log, messages, .. } = self;
        let messages =
            messages.into_iter().map(|(version, message)| KeptMessage { version, message }).collect();
        let mut properties = self.properties;
        let ManifestHead { records, chain } = head;
        let mut layers: Vec<LayerRecord> = self.layers.into_values().collect();
        layers.sort_by_key(|layer| layer.first_version);
        properties.sort_by_key(|property| (property.owner as u8, property.number));
        let ids = self.ids.filter(|_| !layers.is_empty() && !versions.is_empty())?;
        let id_secret = id_secret?;
        let FormRecords { tiles, heads, kept } = self.forms;
        let (tiles, heads) = (tiles.into_values().collect(), heads.into_values().collect());
        Some(Manifest {
            database,
            created_ms,
            layers,
            ids,
            id_secret,
            properties,
            versions,
            tags,
            retention,
            duplicates,
            options,
            stream,
            reading,
            event_times,
            messages,
            tiles,
            heads,
            kept,
            log,
            records,
            chain,
        })
    }
}

//! What the manifest says of versions (numbers, tags, retention) and of how they are written.
//!
//! A version that the retention does not keep is hidden at once, also if it or a newer one is only in the
//! log. A freeze removes the hidden versions from the manifest; so does every request that would show them
//! again.

use std::collections::BTreeSet;
use std::sync::Arc;

use esker_format::{
    Edit, Error, EventTimes, ReadingRecord, Result, Retention, Sought, StreamRecord, TagRecord,
    VersionRecord, WriteOptions,
};
use esker_graph::{Operation, message};

use super::handle::{Core, Database};
use super::layers::Maintenance;
use crate::manifest::Manifest;
use crate::position::StreamPosition;

impl Database {
    /// The manifest, which does not include commits that are in no layer.
    pub fn manifest(&self) -> Arc<Manifest> {
        Arc::clone(self.core.shown().state.manifest())
    }

    /// All versions, oldest first. Commits that are in no layer yet have 0 as the numbers of edges, which are
    /// not known.
    ///
    /// ```
    /// # let (directory, csv) = (tempfile::tempdir()?, *b"source,target\nalice,bob\nbob,carol\n");
    /// # let path = directory.path().join("web.esker");
    /// # let edges = [esker_import::Input::memory("web.csv", csv)];
    /// # esker_import::import_inputs(&edges, &path, &Default::default(), &Default::default())?;
    /// # let db = esker_store::Database::open(&path, Default::default())?;
    /// let mut batch = db.batch();
    /// batch.add_vertex("dan")?;
    /// db.commit(batch, "dan joins")?;
    /// let messages: Vec<_> = db.versions().into_iter().map(|version| version.message).collect();
    /// assert_eq!(messages[1], "dan joins"); // the first says what was imported
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn versions(&self) -> Vec<VersionRecord> {
        let shown = self.core.shown();
        let hidden: BTreeSet<u64> = shown.hidden().into_iter().collect();
        shown.versions().filter(|version| !hidden.contains(&version.number)).collect()
    }

    /// How far streams were read, with the names of their inputs, as the messages of versions say, newest
    /// first; also those of forgotten versions, the last [`crate::manifest::KEPT_MESSAGES_MAX`] inputs.
    pub fn stream_positions(&self) -> Vec<(String, StreamPosition)> {
        let shown = self.core.shown();
        let kept = shown.state.manifest().messages.iter().map(|kept| (kept.version, kept.message.clone()));
        let stated = shown.versions().map(|version| (version.number, version.message));
        let mut messages: Vec<(u64, String)> = kept.chain(stated).collect();
        messages.sort_by_key(|one| std::cmp::Reverse(one.0));
        let parse = |(_, message): (u64, String)| {
            StreamPosition::parse(&message).map(|(source, position)| (source.to_owned(), position))
        };
        messages.into_iter().filter_map(parse).collect()
    }

    /// Tags a version, which keeps it whatever the retention. A tag that exists moves.
    ///
    /// ```
    /// # let (directory, csv) = (tempfile::tempdir()?, *b"source,target\nalice,bob\nbob,carol\n");
    /// # let path = directory.path().join("web.esker");
    /// # let edges = [esker_import::Input::memory("web.csv", csv)];
    /// # esker_import::import_inputs(&edges, &path, &Default::default(), &Default::default())?;
    /// # let db = esker_store::Database::open(&path, Default::default())?;
    /// db.tag("start", 1)?;
    /// assert_eq!(db.manifest().tags.get("start"), Some(&1));
    /// assert!(db.tag("start", 7).is_err()); // there is no version 7
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Invalid`] if the version does not exist; [`Error::Io`].
    pub fn tag(&self, name: &str, version: u64) -> Result<()> {
        let core = &self.core;
        let mut maintenance = core.maintenance.lock();
        core.expect_version(version)?;
        let tag = Edit::SetTag(TagRecord { name: name.to_owned(), version });
        if core.is_in_log(version) {
            // Freeze first: a tag in the manifest must not outlive a version that only the log holds.
            // One record adds the tag and the layer, so the retention cannot forget the version in
            // between.
            return core.freeze_and(&mut maintenance, vec![tag], &core.run).map(drop);
        }
        core.edit(&mut maintenance, &[tag])
    }

    /// Removes a tag.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the tag does not exist; [`Error::Io`].
    pub fn untag(&self, name: &str) -> Result<()> {
        let mut maintenance = self.core.maintenance.lock();
        self.core.edit(&mut maintenance, &[Edit::RemoveTag { name: name.to_owned() }])
    }

    /// Forgets a version: see [`Database::forget_all`].
    ///
    /// ```
    /// # let (directory, csv) = (tempfile::tempdir()?, *b"source,target\nalice,bob\nbob,carol\n");
    /// # let path = directory.path().join("web.esker");
    /// # let edges = [esker_import::Input::memory("web.csv", csv)];
    /// # esker_import::import_inputs(&edges, &path, &Default::default(), &Default::default())?;
    /// # let db = esker_store::Database::open(&path, Default::default())?;
    /// let mut batch = db.batch();
    /// batch.add_edge("carol", "alice", &[])?;
    /// db.commit(batch, "a ring")?;
    /// db.forget(2)?; // undoes the newest version
    /// assert_eq!(db.latest()?.num_edges(), 2);
    /// assert!(db.at(2).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Database::forget_all`].
    pub fn forget(&self, version: u64) -> Result<()> {
        self.forget_all(&[version])
    }

    /// Forgets versions, all of them or, after an error, none. Other versions stay unchanged; merging the
    /// layers frees the space that only these versions needed.
    ///
    /// Forgetting the newest version undoes its changes: the newest of those left becomes the newest, and the
    /// next commit continues from it. Version numbers are never reused. The call may take as long as a merge
    /// of the newest layer, and commits wait meanwhile.
    ///
    /// # Errors
    /// [`Error::Invalid`] if a version does not exist or has a tag, or none would be left; [`Error::Io`].
    pub fn forget_all(&self, versions: &[u64]) -> Result<()> {
        let core = &self.core;
        let mut maintenance = core.maintenance.lock();
        let mut gone: BTreeSet<u64> = versions.iter().copied().collect();
        let Some(&last) = gone.last() else { return Ok(()) };
        self.expect_forgettable(&gone)?;
        // Without the versions that are to go, the retention would show older ones again.
        gone.extend(core.shown().hidden());
        if last >= core.state().newest() && core.forget_newest(&mut maintenance, &gone)? {
            return Ok(());
        }
        core.forget_and(&mut maintenance, &gone, Vec::new())
    }

    fn expect_forgettable(&self, gone: &BTreeSet<u64>) -> Result<()> {
        for &version in gone {
            self.core.expect_version(version)?;
        }
        let manifest = self.manifest();
        if let Some((name, version)) = manifest.tags.iter().find(|(_, tagged)| gone.contains(tagged)) {
            return Err(Error::invalid(format!(
                "version {version} has the tag {name:?}: remove the tag first"
            )));
        }
        if self.versions().len() == gone.len() {
            return Err(Error::invalid(match gone.first().filter(|_| gone.len() == 1) {
                Some(version) => {
                    format!("version {version} is the only version of the database and cannot be forgotten")
                }
                None => "these are all versions of the database: leave one of them".to_owned(),
            }));
        }
        Ok(())
    }

    /// Sets the retention: versions that it does not keep are forgotten at once, now and later. Tagged
    /// versions and the newest are always kept.
    ///
    /// ```
    /// # let (directory, csv) = (tempfile::tempdir()?, *b"source,target\nalice,bob\nbob,carol\n");
    /// # let path = directory.path().join("web.esker");
    /// # let edges = [esker_import::Input::memory("web.csv", csv)];
    /// # esker_import::import_inputs(&edges, &path, &Default::default(), &Default::default())?;
    /// # let db = esker_store::Database::open(&path, Default::default())?;
    /// use esker_store::format::Retention;
    ///
    /// for name in ["dan", "erin"] {
    ///     let mut batch = db.batch();
    ///     batch.add_vertex(name)?;
    ///     db.commit(batch, name)?;
    /// }
    /// db.tag("start", 1)?;
    /// db.retain(Retention::Last(1))?;
    /// let kept: Vec<_> = db.versions().iter().map(|version| version.number).collect();
    /// assert_eq!(kept, [1, 3]); // the tagged and the newest
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn retain(&self, retention: Retention) -> Result<()> {
        let core = &self.core;
        let mut maintenance = core.maintenance.lock();
        let gone = {
            let shown = core.shown();
            // What the retention so far does not keep stays forgotten.
            let mut gone: BTreeSet<u64> = shown.hidden().into_iter().collect();
            gone.extend(shown.not_kept_by(retention));
            gone
        };
        core.forget_and(&mut maintenance, &gone, vec![Edit::SetRetention(retention)])
    }
}

impl Database {
    /// How commits become layers, as the database keeps it.
    pub fn write_options(&self) -> WriteOptions {
        self.core.shown().state.manifest().options()
    }

    /// Sets how commits become layers, for this process and all later ones. Layers that exist stay as they
    /// are. The next commit finds whether the commits before it are due for a freeze.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn set_write_options(&self, options: WriteOptions) -> Result<()> {
        let mut maintenance = self.core.maintenance.lock();
        self.core.edit(&mut maintenance, &[Edit::SetOptions(options)])
    }

    /// Declares the database a stream, for this process and all later ones.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no edge property of the name; [`Error::Io`].
    pub fn declare_stream(&self, stream: StreamRecord) -> Result<()> {
        let mut maintenance = self.core.maintenance.lock();
        self.core.edit(&mut maintenance, &[Edit::SetStream(stream)])
    }

    /// Remembers how inputs are read, for this process and all later ones; `None` forgets it.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn set_reading(&self, reading: Option<ReadingRecord>) -> Result<()> {
        let mut maintenance = self.core.maintenance.lock();
        self.core.edit(&mut maintenance, &[reading.map_or(Edit::RemoveReading, Edit::SetReading)])
    }

    /// Sets what the event times of versions are, for this process and all later ones.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn set_event_times(&self, times: EventTimes) -> Result<()> {
        let mut maintenance = self.core.maintenance.lock();
        self.core.edit(&mut maintenance, &[Edit::SetEventTimes(times)])
    }
}

impl Core {
    /// Whether a version is in no layer yet.
    fn is_in_log(&self, version: u64) -> bool {
        let shown = self.shown();
        shown.unfrozen.commits.binary_search_by_key(&version, |commit| commit.version).is_ok()
    }

    /// An error unless there is such a version.
    pub(super) fn expect_version(&self, version: u64) -> Result<()> {
        let shown = self.shown();
        let is_there = shown.state.manifest().version(version).is_some() || self.is_in_log(version);
        if is_there && !shown.hidden().contains(&version) {
            return Ok(());
        }
        let name = self.path.display();
        let reason = message![format!("{name} has no version {version}: "), Operation::Log, " lists them"];
        Err(Error::not_found(Sought::Version, reason))
    }

    /// Removes the versions that the retention does not keep from the manifest.
    pub(super) fn forget_hidden(&self, maintenance: &mut Maintenance) -> Result<()> {
        let hidden: BTreeSet<u64> = self.shown().hidden().into_iter().collect();
        if hidden.is_empty() { Ok(()) } else { self.forget_and(maintenance, &hidden, Vec::new()) }
    }

    /// Applies edits and forgets versions, not the newest, by one record.
    fn forget_and(
        &self,
        maintenance: &mut Maintenance,
        gone: &BTreeSet<u64>,
        mut edits: Vec<Edit>,
    ) -> Result<()> {
        let (in_layers, in_log) = {
            let shown = self.shown();
            let versions: Vec<VersionRecord> = shown.versions().collect();
            edits.extend(shown.state.manifest().forgetting(&versions, |number| gone.contains(&number)));
            (shown.state.newest(), !shown.unfrozen.commits.is_empty())
        };
        // The commits of the log continue from the newest version in the layers, so they must be frozen
        // before that version is forgotten.
        if in_log && gone.last().is_some_and(|&last| last >= in_layers) {
            return self.freeze_and(maintenance, edits, &self.run).map(drop);
        }
        self.edit(maintenance, &edits)
    }

    /// Appends edits as one record, and publishes the new state.
    fn edit(&self, maintenance: &mut Maintenance, edits: &[Edit]) -> Result<()> {
        let mut edits = edits.to_vec();
        edits.extend(self.mark_of_log(maintenance.manifest.manifest()));
        let manifest = Manifest::clone(maintenance.manifest.append(&edits)?);
        self.log.set_manifest(manifest.head());
        let state = self.state();
        let layers = state.layers().to_vec();
        self.publish(&Arc::new(state.with(manifest, layers)), &mut self.writer.lock(), None)
    }
}

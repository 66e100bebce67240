//! Commits: from a batch to a durable, visible version.
//!
//! `commit_with` reserves memory, and `commit_reserved` takes the steps: the batch becomes a commit, and a
//! record at the end of the log, under the writer's lock; the record is synced, which makes the version
//! durable; the commit is entered into the dynamic graph, or into a layer if it is large, which makes it
//! visible. `docs/internals/commit-to-disk.md` follows an example through them.

use std::cell::Cell;
use std::sync::Arc;

use esker_format::{Error, Owner, PropertyRecord, Result, Widening};
use esker_graph::{Direction, VertexId};

use super::batch::resolve::{Earlier, Resolved, Writer};
use super::handle::{CommitWatch, Core, Database, DatabaseOptions};
use crate::commit::{Announce, Batch, CommitOptions, Committed, WiderSum};

/// Tells a watch that a commit is being written, until it is dropped.
struct Watched<'a> {
    watch: Option<&'a dyn CommitWatch>,
    durable: Option<u64>,
}

impl<'a> Watched<'a> {
    fn begin(options: &'a DatabaseOptions) -> Self {
        let watch = options.watch.as_deref();
        if let Some(watch) = watch {
            watch.begin();
        }
        Self { watch, durable: None }
    }
}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        if let Some(watch) = self.watch {
            watch.end(self.durable);
        }
    }
}

impl Database {
    /// Commits the changes of a batch as [`Database::commit_with`] does; returns the number of the version.
    ///
    /// # Errors
    /// As [`Database::commit_with`].
    pub fn commit(&self, batch: Batch, message: &str) -> Result<u64> {
        let options = CommitOptions { message: message.to_owned(), ..CommitOptions::default() };
        Ok(self.commit_with(batch, &options)?.version)
    }

    /// Commits the changes of a batch as a new version, durably (see [`DatabaseOptions::sync`]). Several
    /// threads may commit at the same time; their commits share syncs.
    ///
    /// ```
    /// # let (directory, csv) = (tempfile::tempdir()?, *b"source,target\nalice,bob\nbob,carol\n");
    /// # let path = directory.path().join("web.esker");
    /// # let edges = [esker_import::Input::memory("web.csv", csv)];
    /// # esker_import::import_inputs(&edges, &path, &Default::default(), &Default::default())?;
    /// # let db = esker_store::Database::open(&path, Default::default())?;
    /// use esker_store::CommitOptions;
    ///
    /// let mut batch = db.batch();
    /// batch.add_edge("dan", "alice", &[])?;
    /// batch.remove_edge("alice", "carol")?; // there is none
    /// batch.count_removed();
    /// let options = CommitOptions {
    ///     message: "dan joins".to_owned(),
    ///     time_ms: Some(4_000_000_000_000), // when it happened: selects versions by time
    ///     ..CommitOptions::default()
    /// };
    /// let committed = db.commit_with(batch, &options)?;
    /// assert_eq!((committed.version, committed.removed), (2, Some(0)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Invalid`] if a change is not possible, or the event time is before that of an earlier
    /// version; then nothing happened. [`Error::Io`] if the log cannot be written: the commit is not visible,
    /// but the next opening may find it, wholly or not at all; until then the database refuses commits. For
    /// want of memory, a durable commit may fail to become visible; the next opening shows it, and
    /// [`DatabaseOptions::watch`] was told. [`esker_graph::Stop::OverBudget`] if the commit does not fit into
    /// [`DatabaseOptions::budget`].
    pub fn commit_with(&self, batch: Batch, options: &CommitOptions) -> Result<Committed> {
        self.commit_announced(batch, options, &mut ())
    }

    /// As [`Database::commit_with`], and tells the number of the version before it is in the log.
    pub(super) fn commit_announced(
        &self,
        mut batch: Batch,
        options: &CommitOptions,
        announce: &mut dyn Announce,
    ) -> Result<Committed> {
        loop {
            self.agree_on_types(&mut batch)?;
            self.agree_on_vertex_types(&mut batch)?;
            let reservation = self.core.reserve_for(&mut batch)?;
            let wider = Cell::new(None);
            let committed = self.commit_reserved(&mut batch, options, &wider, announce);
            drop(reservation);
            self.core.settle();
            if let Some(WiderSum { property, element }) = wider.get() {
                // A sum of weights needs a wider type, and nothing was committed. Widen the batch: the next
                // turn of the loop gives the database the same type.
                batch.widen(property, element)?;
                continue;
            }
            // Otherwise another commit has given a property a wider type meanwhile.
            if let Some((committed, is_frozen)) = committed? {
                self.maintain_if_due(is_frozen);
                return Ok(committed);
            }
        }
    }

    /// Gives the edge properties of the database and of a batch the wider of their types.
    fn agree_on_types(&self, batch: &mut Batch) -> Result<()> {
        for number in 0..batch.edge_properties().len() {
            let own = batch.edge_properties()[number].clone();
            let state = self.core.state();
            let mut known = state.manifest().properties.iter();
            let is_same = |known: &&PropertyRecord| known.owner == Owner::Edges && known.number == own.number;
            match known.find(is_same).map(|known| known.element) {
                Some(known) if !own.is_text() && Widening::is_possible(known, own.element) => {
                    self.widen_edge_property(&own.name, own.element, &self.core.run)?;
                }
                Some(known) if !own.is_text() && known != own.element => batch.widen(number, known)?,
                _ => {}
            }
            let state = self.core.state();
            match state.manifest().properties.iter().find(is_same).map(|known| known.optional) {
                Some(false) if own.optional => self.allow_missing(&own.name, &self.core.run)?,
                Some(true) => batch.allow_missing(number)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Gives the vertex properties that a batch sets types that hold its values.
    fn agree_on_vertex_types(&self, batch: &mut Batch) -> Result<()> {
        if batch.names.is_empty() {
            return Ok(());
        }
        let known = self.core.writer.lock().vertex_properties.clone();
        for (name, element) in batch.wider_vertex_types(&known) {
            match batch.defined.iter_mut().find(|(defined, _)| *defined == name) {
                Some((_, defined)) if !known.iter().any(|known| known.name == name) => {
                    defined.element = element;
                }
                _ => self.widen_vertex_property(&name, element, &self.core.run)?,
            }
        }
        Ok(())
    }

    /// An error unless a version is the newest. No commit may be under way.
    fn expect_newest(&self, version: u64) -> Result<()> {
        match self.versions().last() {
            Some(newest) if newest.number == version => Ok(()),
            newest => Err(Error::invalid(format!(
                "the changes were made for version {version}, but version {} has come meanwhile: make them again",
                newest.map_or(0, |newest| newest.number)
            ))),
        }
    }

    /// Commits a batch whose memory is reserved, and takes the changes out of it. Also returns whether the
    /// commit is in a layer. `None` if the types of the batch are not those of the database any more. `wider`
    /// is set with an error if the commit is possible once a property has a wider type.
    fn commit_reserved(
        &self,
        batch: &mut Batch,
        options: &CommitOptions,
        wider: &Cell<Option<WiderSum>>,
        announce: &mut dyn Announce,
    ) -> Result<Option<(Committed, bool)>> {
        let core = &self.core;
        let (committed, is_large, mut watched) = {
            let mut writer = core.writer.lock();
            writer.expect_sound()?;
            if !core.agrees_on_types(batch) {
                return Ok(None);
            }
            let needs_edges = batch.removes_vertices() || batch.selects_edges() || batch.rule_reads_edges();
            if needs_edges || options.follows.is_some() {
                // Earlier commits must be visible.
                let before = writer.next_version - 1;
                core.make_visible(before).map_err(|error| writer.fail(error))?;
            }
            if let Some(expected) = options.follows {
                self.expect_newest(expected)?;
            }
            let earlier = Earlier {
                run: &core.run,
                directed: core.shown().below.is_directed(),
                neighbours: &|v| core.all_edges(v),
                edges: &|source, target| core.shown().edge_bits(source, target),
                wider,
            };
            // Ids become vertices, texts become codes; an error up to here changes nothing.
            announce.begin(writer.next_version)?;
            let resolved = writer.resolve(batch, options, &earlier);
            let Resolved { mut commit, payload, duplicates, removed, not_found } = match resolved {
                Ok(resolved) => resolved,
                // No other commit may become a version that stays announced.
                Err(error) => {
                    return Err(announce.end().err().map_or(error, |failure| writer.fail(failure)));
                }
            };
            commit.paging = batch.memory.paging.take();
            batch.forget_changes();
            core.count_kept(&writer);
            let version = commit.version;
            let watched = Watched::begin(&core.options);
            let logged = core.log.append(version, 0, &commit.encode_summary(), &payload);
            commit.checksum = logged.map_err(|error| writer.fail(error))?;
            let is_large = core.is_large(&commit);
            core.pending.lock().push_back(Arc::new(commit));
            (Committed { version, duplicates: Some(duplicates), removed, not_found }, is_large, watched)
        };
        let version = committed.version;
        // The lock is released, so commits of other threads share the sync.
        core.log.wait(version).map_err(|error| core.writer.lock().fail(error))?;
        watched.durable = Some(version);
        drop(watched);
        if is_large && self.freeze_attended(version, &options.cancel)? {
            return Ok(Some((committed, true)));
        }
        let visible = core.make_visible(version);
        visible.map_err(|error| core.writer.lock().fail(error))?;
        Ok(Some((committed, false)))
    }
}

impl Core {
    /// Whether the edge properties of a batch have the types that they have in the database.
    fn agrees_on_types(&self, batch: &Batch) -> bool {
        let state = self.state();
        let known = state.manifest().properties.iter().filter(|property| property.owner == Owner::Edges);
        known.zip(batch.edge_properties()).all(|(known, own)| {
            (own.is_text() || known.element == own.element) && known.optional == own.optional
        })
    }

    /// All edges of a vertex in the visible commits.
    pub(super) fn all_edges(&self, v: VertexId) -> Result<Vec<(VertexId, VertexId)>> {
        let shown = self.shown();
        let mut edges = Vec::new();
        for (target, _) in shown.list(Direction::Out, v)? {
            edges.push((v, target));
        }
        if shown.below.is_directed() {
            for (source, _) in shown.list(Direction::In, v)? {
                edges.push((source, v));
            }
        }
        Ok(edges)
    }
}

impl Writer {
    /// Fails if an earlier failure ended writing.
    pub(super) fn expect_sound(&self) -> Result<()> {
        match &self.failure {
            Some(first) => Err(Error::invalid(format!(
                "commits are refused since an earlier failure ({first}): open the database again"
            ))),
            None => Ok(()),
        }
    }

    /// Records the first failure; from then on all commits are refused.
    pub(super) fn fail(&mut self, error: Error) -> Error {
        self.failure.get_or_insert_with(|| error.to_string());
        error
    }
}

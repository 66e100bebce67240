//! Freezing and merging: commits become layers, layers become fewer.

use std::path::Path;
use std::sync::Arc;

use esker_graph::Run;

use super::handle::{Core, Database, locked};
use super::layers::{Maintenance, edits_of};
use super::versions::forgotten;
use super::write::Writer;
use crate::commit::{Commit, Target, assemble};
use crate::error::{Error, Result};
use crate::format::{Edit, LayerRecord, remove_archive};
use crate::freeze::Outcome;
use crate::snapshot::{Layer, State};
use crate::version::layer_directory;

/// With a limit of memory, commits become a layer by themselves once they take one part in so many of it.
const DELTA_SHARE: u64 = 4;

/// A layer whose files are written, and where it belongs.
pub(super) struct Written {
    pub(super) layer: LayerRecord,
    /// The layers before and after it.
    pub(super) below: Vec<Arc<Layer>>,
    pub(super) above: Vec<Arc<Layer>>,
    /// What the manifest must be told.
    pub(super) edits: Vec<Edit>,
}

/// A state that the manifest does not know of yet.
pub(super) struct Next {
    pub(super) state: Arc<State>,
    /// Layers that are not in it any more.
    obsolete: Vec<Arc<Layer>>,
    edits: Vec<Edit>,
}

impl Next {
    /// A state with the layers that there were.
    pub(super) fn with_same_layers(state: Arc<State>, edits: Vec<Edit>) -> Self {
        Self { state, obsolete: Vec::new(), edits }
    }
}

impl Database {
    /// Makes all commits so far a layer; what became of their edges, or `None` if there are none.
    ///
    /// # Errors
    /// [`Error::Io`] where the layer cannot be written: everything is as before then, unless the manifest could not be
    /// synced, after which nothing more can be changed; [`Error::Corrupt`]; cancellation.
    pub fn freeze(&self, run: &Run) -> Result<Option<Outcome>> {
        let mut maintenance = locked(&self.core.maintenance);
        self.core.freeze(&mut maintenance, run)
    }

    /// Freezes and merges in the background if there is reason to.
    pub(super) fn perhaps_maintain(&self) {
        let core = &self.core;
        let limit = core.options.memory_bytes.map_or(u64::MAX, |bytes| bytes / DELTA_SHARE);
        if (core.live_bytes() as u64) < core.options.delta_bytes.min(limit) {
            return;
        }
        let mut worker = locked(&core.worker);
        if worker.as_ref().is_some_and(|worker| !worker.is_finished()) {
            return;
        }
        let finished = worker.take().map(std::thread::JoinHandle::join);
        if let Some(Ok(Err(error))) = finished {
            locked(&core.writer).fail(error);
            return;
        }
        let shared = Arc::clone(core);
        let thread = std::thread::Builder::new().name("esker-maintain".to_owned());
        // Without a thread there will be another occasion.
        *worker = thread.spawn(move || shared.maintain()).ok();
    }

    /// Waits for what is done in the background.
    pub(super) fn join_worker(&self) -> Result<()> {
        match locked(&self.core.worker).take().map(std::thread::JoinHandle::join) {
            Some(Ok(outcome)) => outcome,
            Some(Err(_)) => Err(Error::Invalid("the thread that freezes and merges died".to_owned())),
            None => Ok(()),
        }
    }
}

impl Core {
    fn maintain(&self) -> Result<()> {
        let mut maintenance = locked(&self.maintenance);
        self.freeze(&mut maintenance, &self.run)?;
        if self.options.auto_merge {
            self.merge(&mut maintenance, &self.run)?;
        }
        Ok(())
    }

    pub(super) fn freeze(&self, maintenance: &mut Maintenance, run: &Run) -> Result<Option<Outcome>> {
        self.freeze_and(maintenance, Vec::new(), run)
    }

    /// Freezes, and does more to the manifest with the same record. If there is nothing to freeze, nothing happens.
    pub(super) fn freeze_and(
        &self,
        maintenance: &mut Maintenance,
        edits: Vec<Edit>,
        run: &Run,
    ) -> Result<Option<Outcome>> {
        let Some((next, last, outcome)) = self.record_commits(maintenance, edits, run)? else {
            return Ok(None);
        };
        self.show(&next, &mut locked(&self.writer), Some(last))?;
        self.log.remove_through(last)?;
        Ok(Some(outcome))
    }

    /// Freezes, if there is anything to freeze, while nobody commits.
    pub(super) fn freeze_holding(
        &self,
        maintenance: &mut Maintenance,
        writer: &mut Writer,
        run: &Run,
    ) -> Result<()> {
        let Some((next, last, _)) = self.record_commits(maintenance, Vec::new(), run)? else { return Ok(()) };
        self.show(&next, writer, Some(last))?;
        self.log.remove_through(last)
    }

    /// Writes the layer of all commits, and says so in the manifest: what is to be shown, the last version of it, and what became of the edges.
    fn record_commits(
        &self,
        maintenance: &mut Maintenance,
        edits: Vec<Edit>,
        run: &Run,
    ) -> Result<Option<(Next, u64, Outcome)>> {
        let (state, commits) = self.unfrozen();
        let Some(last) = commits.last() else { return Ok(None) };
        let (mut written, outcome) = self.write_commits(maintenance, &state, &commits, run)?;
        written.edits.extend(edits);
        let next = self.prepare(maintenance, &state, written)?;
        self.record(maintenance, &next)?;
        Ok(Some((next, last.version, outcome)))
    }

    /// Writes the layer of commits that follow the newest version of a state.
    pub(super) fn write_commits(
        &self,
        maintenance: &Maintenance,
        state: &Arc<State>,
        commits: &[Arc<Commit>],
        run: &Run,
    ) -> Result<(Written, Outcome)> {
        // No layer holds what the log does not.
        self.log.sync()?;
        self.write_layer(maintenance, |number, directory| {
            let known = Some(&maintenance.known);
            let target = Target { disk: &self.disk, directory, number, known };
            let assembled = assemble(state, commits, target, self.options.policy, run)?;
            let written = Written {
                layer: assembled.record.clone(),
                below: state.layers().to_vec(),
                above: Vec::new(),
                edits: edits_of(&assembled),
            };
            Ok((written, assembled.outcome))
        })
    }

    /// Makes the directory of a new layer and, durable, what `write` puts there; if that fails, there is nothing.
    pub(super) fn write_layer<T>(
        &self,
        maintenance: &Maintenance,
        write: impl FnOnce(u32, &Path) -> Result<T>,
    ) -> Result<T> {
        let number = maintenance.next_layer()?;
        let directory = layer_directory(&self.path, number);
        let written = write(number, &directory).and_then(|written| {
            self.disk.sync_directory(&self.path.join("layers"))?;
            Ok(written)
        });
        written.inspect_err(|_| {
            // What stays is removed when the database is opened the next time.
            let _ = remove_archive(self.disk.as_ref(), &directory);
        })
    }

    /// What the database is with a layer that was written. Versions that are not to be kept any longer are forgotten.
    pub(super) fn prepare(&self, maintenance: &Maintenance, state: &State, written: Written) -> Result<Next> {
        let Written { layer: record, below, above, mut edits } = written;
        let manifest = maintenance.manifest.manifest();
        let next = |edits: &[Edit]| manifest.with(edits).map_err(Error::Invalid);
        edits.extend(forgotten(&next(&edits)?));
        let next = next(&edits)?;
        let directory = layer_directory(&self.path, record.number);
        let texts = state.has_text_ids();
        let layer = Layer::open(&self.disk, &directory, next.database, &record, &next.properties, texts)?;
        let mut layers = below;
        layers.push(Arc::new(layer));
        layers.extend(above);
        let kept = |layer: &&Arc<Layer>| layers.iter().any(|other| Arc::ptr_eq(other, layer));
        let obsolete = state.layers().iter().filter(|layer| !kept(layer)).cloned().collect();
        Ok(Next { state: Arc::new(state.with(next, layers)), obsolete, edits })
    }

    /// Says in the manifest, by one record, what was prepared.
    pub(super) fn record(&self, maintenance: &mut Maintenance, next: &Next) -> Result<()> {
        let records = maintenance.manifest.append(&next.edits)?.records;
        self.log.set_manifest_records(records);
        Ok(())
    }

    /// Shows what was recorded. Commits up to `frozen` are in its layers. If that fails, nothing more is committed.
    pub(super) fn show(&self, next: &Next, writer: &mut Writer, frozen: Option<u64>) -> Result<()> {
        self.publish(&next.state, writer, frozen).map_err(|error| writer.fail(error))?;
        next.obsolete.iter().for_each(|layer| layer.retire());
        Ok(())
    }

    /// Makes a state the one that readers get. Commits up to `frozen` are in its layers.
    pub(super) fn publish(&self, state: &Arc<State>, writer: &mut Writer, frozen: Option<u64>) -> Result<()> {
        let below = state.snapshot(state.newest())?;
        self.show_state(Arc::clone(state), below.clone(), frozen)?;
        if frozen.is_some() {
            let added = below.num_vertices().saturating_sub(writer.tail.first());
            writer.tail.release(added);
        }
        writer.ids = below.ids().clone();
        Ok(())
    }
}

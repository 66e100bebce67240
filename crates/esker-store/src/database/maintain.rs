//! Freezing and merging: commits become layers, layers become fewer.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use esker_graph::Run;

use super::versions::forgotten;
use super::{Core, Database, locked};
use crate::commit::{Assembled, Commit, Target, assemble};
use crate::error::{Error, Result};
use crate::format::Edit;
use crate::freeze::{CopyPolicy, Outcome};
use crate::io::Disk;
use crate::snapshot::{Layer, State};
use crate::version::{Manifest, ManifestWriter, layer_directory};

/// What only one thread at a time may do.
#[derive(Debug)]
pub(super) struct Maintenance {
    pub(super) manifest: ManifestWriter,
}

impl Maintenance {
    pub(super) fn new(manifest: ManifestWriter) -> Self {
        Self { manifest }
    }

    /// The number of the next layer.
    pub(super) fn next_layer(&self) -> Result<u32> {
        let last = self.manifest.manifest().layers.iter().map(|layer| layer.number).max().unwrap_or(0);
        let next = last + 1;
        if next < 1 << 24 {
            Ok(next)
        } else {
            Err(Error::Invalid("all 2^24 numbers of layers are used".to_owned()))
        }
    }
}

/// Removes the directories of layers that the manifest does not name.
pub(super) fn remove_strays(disk: &dyn Disk, path: &Path, manifest: &Manifest) -> Result<()> {
    let named: HashSet<String> = manifest.layers.iter().map(|layer| layer.number.to_string()).collect();
    let layers = path.join("layers");
    for entry in disk.list(&layers)? {
        if entry.is_directory && !named.contains(&entry.name) {
            disk.remove_directory(&layers.join(&entry.name))?;
        }
    }
    Ok(())
}

/// A state with one more layer, in memory, that holds `commits`.
pub(crate) fn with_commits_in_memory(
    state: &Arc<State>,
    commits: &[Arc<Commit>],
    disk: &Arc<dyn Disk>,
    policy: CopyPolicy,
    run: &Run,
) -> Result<Arc<State>> {
    let number = state.manifest().layers.iter().map(|layer| layer.number).max().unwrap_or(0) + 1;
    let directory = Path::new("/layer");
    disk.create_directory(directory)?;
    let assembled = assemble(state, commits, Target { disk, directory, number }, policy, run)?;
    let edits = edits_of(&assembled);
    let manifest = state.manifest().with(&edits).map_err(Error::Invalid)?;
    with_layer(state, manifest, disk, directory, &assembled)
}

/// What the manifest must be told of a new layer.
fn edits_of(assembled: &Assembled) -> Vec<Edit> {
    let mut edits: Vec<Edit> = assembled.properties.iter().cloned().map(Edit::AddProperty).collect();
    edits.push(Edit::AddLayer(assembled.record.clone()));
    edits.extend(assembled.versions.iter().cloned().map(Edit::AddVersion));
    edits
}

fn with_layer(
    state: &Arc<State>,
    manifest: Manifest,
    disk: &Arc<dyn Disk>,
    directory: &Path,
    assembled: &Assembled,
) -> Result<Arc<State>> {
    let record = &assembled.record;
    let texts = state.has_text_ids();
    let layer = Layer::open(disk, directory, manifest.database, record, &manifest.properties, texts)?;
    let mut layers = state.layers().to_vec();
    layers.push(Arc::new(layer));
    Ok(Arc::new(state.with(manifest, layers)))
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
        if (core.read().live.bytes() as u64) < core.options.delta_bytes {
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
        let (state, commits) = {
            let view = self.read();
            (Arc::clone(&view.state), view.live.commits.clone())
        };
        let Some(last) = commits.last() else { return Ok(None) };
        // No layer holds what the log does not.
        self.log.sync()?;
        let number = maintenance.next_layer()?;
        let directory = layer_directory(&self.path, number);
        self.disk.create_directory(&directory)?;
        let target = Target { disk: &self.disk, directory: &directory, number };
        let written = assemble(&state, &commits, target, self.options.policy, run).and_then(|assembled| {
            self.disk.sync_directory(&directory)?;
            self.disk.sync_directory(&self.path.join("layers"))?;
            Ok(assembled)
        });
        let assembled = written.inspect_err(|_| {
            // What stays is removed when the database is opened the next time.
            let _ = self.disk.remove_directory(&directory);
        })?;
        let mut edits = edits_of(&assembled);
        let next = |edits: &[Edit]| maintenance.manifest.manifest().with(edits).map_err(Error::Invalid);
        edits.extend(forgotten(&next(&edits)?));
        let state = with_layer(&state, next(&edits)?, &self.disk, &directory, &assembled)?;
        let records = maintenance.manifest.append(&edits)?.records;
        self.publish(&state, Some(last.version))?;
        self.log.set_manifest_records(records);
        self.log.remove_through(last.version)?;
        Ok(Some(assembled.outcome))
    }

    /// Makes a state the one that readers get. Commits up to `frozen` are in its layers.
    pub(super) fn publish(&self, state: &Arc<State>, frozen: Option<u64>) -> Result<()> {
        let snapshot = state.snapshot(state.newest())?;
        let mut writer = locked(&self.writer);
        let mut view = self.change();
        view.state = Arc::clone(state);
        view.newest = None;
        if let Some(version) = frozen {
            view.live.release(version, &self.run)?;
            drop(view);
            let added = snapshot.ids().num_vertices().saturating_sub(writer.tail.first());
            writer.tail.release(added);
        }
        writer.ids = snapshot.ids().clone();
        Ok(())
    }
}

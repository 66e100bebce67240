//! Freezing and merging: commits become layers, layers become fewer.

use std::sync::Arc;

use esker_graph::Run;

use super::handle::{Core, Database, locked};
use super::layers::{Maintenance, edits_of, with_layer};
use super::versions::forgotten;
use crate::commit::{Target, assemble};
use crate::error::{Error, Result};
use crate::format::Edit;
use crate::freeze::Outcome;
use crate::snapshot::State;
use crate::version::layer_directory;

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

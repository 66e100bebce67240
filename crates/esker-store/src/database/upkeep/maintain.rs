//! Freezing and merging: turns commits into layers, and many layers into few.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker_format::{Edit, Error, LayerRecord, LogMark, Result, archive_path};
use esker_graph::Run;
use esker_layers::known_files::DirectoryKind;

use crate::commit::{Commit, LayerLocation, assemble};
use crate::conversion::FormReport;
use crate::database::batch::resolve::Writer;
use crate::database::handle::{Core, Database};
use crate::database::layers::{LAYERS_MAX, Maintenance, all_layers_used, edits_of};
use crate::freeze::ChangeCounts;
use crate::manifest::{Manifest, layer_directory, not_retained};
use crate::version::{Layer, State};

/// Under a memory limit, the database freezes commits in the background once they take one part in this many
/// of it.
const DELTA_SHARE: u64 = 4;

/// A layer whose files are written, with its position among the layers.
pub(crate) struct WrittenLayer {
    /// The record of the new layer.
    pub(crate) layer: LayerRecord,
    /// The layers before the new one.
    pub(crate) below: Vec<Arc<Layer>>,
    /// The layers after it.
    pub(crate) above: Vec<Arc<Layer>>,
    /// The edits of the manifest that install the layer.
    pub(crate) edits: Vec<Edit>,
    /// What lies beside its lists.
    pub(crate) forms: FormReport,
}

/// A state that is not yet in the manifest.
pub(crate) struct NextState {
    pub(crate) state: Arc<State>,
    /// The layers that the state no longer has.
    obsolete: Vec<Arc<Layer>>,
    edits: Vec<Edit>,
}

impl NextState {
    /// A state with the same layers as before.
    pub(crate) fn with_same_layers(state: Arc<State>, edits: Vec<Edit>) -> Self {
        Self { state, obsolete: Vec::new(), edits }
    }
}

impl Database {
    /// Writes all commits so far as a layer. Returns what they changed, without those before the opening of
    /// the database; `None` if there was nothing to freeze.
    ///
    /// # Errors
    /// [`Error::Io`] if the layer cannot be written: then nothing changed, but after a failed sync of the
    /// manifest the database refuses further changes. [`Error::Corrupt`]; cancellation.
    pub fn freeze(&self, run: &Run) -> Result<Option<ChangeCounts>> {
        let mut maintenance = self.core.maintenance.lock();
        self.core.freeze(&mut maintenance, run)
    }

    /// What the commits since the opening of the database changed; `None` while there are commits in no
    /// layer.
    pub fn frozen_changes(&self) -> Option<ChangeCounts> {
        let core = &self.core;
        let _maintenance = core.maintenance.lock();
        core.unfrozen().1.is_empty().then(|| *core.frozen.lock())
    }

    /// Starts freezing and merging in the background if the commits take enough memory, or a commit became a
    /// layer of its own.
    pub(crate) fn maintain_if_due(&self, is_frozen: bool) {
        let core = &self.core;
        let may_merge = is_frozen && core.write_options().auto_merge;
        if !may_merge && (core.unfrozen_bytes() as u64) < core.unfrozen_bytes_max() {
            return;
        }
        let mut maintainer = core.maintainer.lock();
        if maintainer.as_ref().is_some_and(|maintainer| !maintainer.is_finished()) {
            return;
        }
        let finished = maintainer.take().map(std::thread::JoinHandle::join);
        if let Some(Ok(Err(error))) = finished {
            core.writer.lock().fail(error);
            return;
        }
        let shared = Arc::clone(core);
        let thread = std::thread::Builder::new().name("esker-maintain".to_owned());
        // If the thread cannot start, the next commit tries again.
        *maintainer = thread.spawn(move || shared.maintain()).ok();
    }

    /// Waits for the work in the background.
    pub(crate) fn join_maintainer(&self) -> Result<()> {
        match self.core.maintainer.lock().take().map(std::thread::JoinHandle::join) {
            Some(Ok(outcome)) => outcome,
            Some(Err(_)) => {
                Err(Error::invalid("the background thread that freezes and merges panicked".to_owned()))
            }
            None => Ok(()),
        }
    }
}

impl Core {
    /// Commits that take this much memory are due for a freeze.
    pub(crate) fn unfrozen_bytes_max(&self) -> u64 {
        self.write_options().freeze_bytes.min(self.options.budget.limit_bytes() / DELTA_SHARE)
    }

    fn maintain(&self) -> Result<()> {
        let mut maintenance = self.maintenance.lock();
        self.freeze(&mut maintenance, &self.run)?;
        if self.write_options().auto_merge {
            self.merge(&mut maintenance, &self.run)?;
        }
        Ok(())
    }

    pub(crate) fn freeze(&self, maintenance: &mut Maintenance, run: &Run) -> Result<Option<ChangeCounts>> {
        self.freeze_and(maintenance, Vec::new(), run)
    }

    /// Freezes, and adds `edits` to the manifest in the same record. Does nothing if there are no commits to
    /// freeze.
    pub(crate) fn freeze_and(
        &self,
        maintenance: &mut Maintenance,
        edits: Vec<Edit>,
        run: &Run,
    ) -> Result<Option<ChangeCounts>> {
        let Some((next, last, counts)) = self.record_commits(maintenance, edits, run)? else {
            return Ok(None);
        };
        self.show(&next, &mut self.writer.lock(), Some(last))?;
        self.settle();
        self.log.remove_through(last)?;
        Ok(Some(counts))
    }

    /// Freezes while the caller holds the writer, so that no commits come in.
    pub(crate) fn freeze_holding(
        &self,
        maintenance: &mut Maintenance,
        writer: &mut Writer,
        run: &Run,
    ) -> Result<()> {
        let Some((next, last, _)) = self.record_commits(maintenance, Vec::new(), run)? else { return Ok(()) };
        self.show(&next, writer, Some(last))?;
        self.log.remove_through(last)
    }

    /// Writes the layer of all commits and records it in the manifest. Returns the next state, its last
    /// version, and what the commits changed.
    fn record_commits(
        &self,
        maintenance: &mut Maintenance,
        edits: Vec<Edit>,
        run: &Run,
    ) -> Result<Option<(NextState, u64, ChangeCounts)>> {
        let (state, commits) = self.unfrozen();
        let Some(last) = commits.last() else { return Ok(None) };
        let (next, counts) = self.record_these(maintenance, &state, &commits, edits, run)?;
        self.frozen.lock().add(&counts);
        Ok(Some((next, last.version, counts)))
    }

    /// Writes the layer of commits that follow the newest version of a state, and records it in the manifest
    /// with `edits`.
    pub(crate) fn record_these(
        &self,
        maintenance: &mut Maintenance,
        state: &Arc<State>,
        commits: &[Arc<Commit>],
        edits: Vec<Edit>,
        run: &Run,
    ) -> Result<(NextState, ChangeCounts)> {
        let (mut written, counts) = self.write_commits(maintenance, state, commits, run)?;
        written.edits.extend(edits);
        let next = self.prepare(maintenance, state, written)?;
        self.record(maintenance, &next)?;
        Ok((next, counts))
    }

    /// Writes the layer of commits that follow the newest version of a state.
    pub(crate) fn write_commits(
        &self,
        maintenance: &Maintenance,
        state: &Arc<State>,
        commits: &[Arc<Commit>],
        run: &Run,
    ) -> Result<(WrittenLayer, ChangeCounts)> {
        // A layer must not hold commits that the log could lose.
        self.log.sync()?;
        self.write_layer(maintenance, |number, directory| {
            let known = Some(&maintenance.known);
            let (disk, counted_from) = (&self.disk, self.first_own);
            let location = LayerLocation { disk, directory, number, counted_from, known };
            let assembled = assemble(state, commits, location, self.write_options().policy, run)?;
            let written = WrittenLayer {
                layer: assembled.record.clone(),
                below: state.layers().to_vec(),
                above: Vec::new(),
                edits: edits_of(&assembled),
                forms: FormReport::default(),
            };
            Ok((written, assembled.counts))
        })
    }

    /// Lets `write` create the directory of a new layer, and makes it durable; removes it after an error.
    pub(crate) fn write_layer<T>(
        &self,
        maintenance: &Maintenance,
        write: impl FnOnce(u32, &Path) -> Result<T>,
    ) -> Result<T> {
        let (number, directory) = self.free_layer(maintenance.next_layer()?)?;
        let written = write(number, &directory).and_then(|written| {
            self.disk.sync_directory(&self.path.join("layers"))?;
            Ok(written)
        });
        written.inspect_err(|_| {
            // If the removal fails too, the next opening removes the files.
            let _ = DirectoryKind::Layer.remove(self.disk.as_ref(), &directory);
        })
    }

    /// The first number from `number` on in whose place nothing stands: what is not Esker's must not be
    /// removed.
    fn free_layer(&self, number: u32) -> Result<(u32, PathBuf)> {
        for number in number..LAYERS_MAX {
            let directory = layer_directory(&self.path, number);
            if self.disk.look(&directory)?.is_none() && self.disk.look(&archive_path(&directory))?.is_none() {
                return Ok((number, directory));
            }
        }
        Err(all_layers_used())
    }

    /// Computes the next state from a written layer; it forgets versions that the retention no longer keeps.
    pub(crate) fn prepare(
        &self,
        maintenance: &Maintenance,
        state: &State,
        written: WrittenLayer,
    ) -> Result<NextState> {
        let WrittenLayer { layer: record, below, above, mut edits, .. } = written;
        let manifest = maintenance.manifest.manifest();
        let next = |edits: &[Edit]| manifest.with(edits).map_err(Error::invalid);
        let after = next(&edits)?;
        let forgotten = not_retained(&after, []);
        if !forgotten.is_empty() {
            edits.extend(
                after.forgetting(after.versions.iter(), |number| forgotten.binary_search(&number).is_ok()),
            );
        }
        edits.extend(self.mark_of_log(manifest));
        let next = next(&edits)?;
        let directory = layer_directory(&self.path, record.number);
        let layer = Layer::open(&self.disk, &directory, &next, &record)?;
        let mut layers = below;
        layers.push(Arc::new(layer));
        layers.extend(above);
        let kept = |layer: &&Arc<Layer>| layers.iter().any(|other| Arc::ptr_eq(other, layer));
        let obsolete = state.layers().iter().filter(|layer| !kept(layer)).cloned().collect();
        Ok(NextState { state: Arc::new(state.with(next, layers)), obsolete, edits })
    }

    /// Installs the next state in the manifest by one record.
    pub(crate) fn record(&self, maintenance: &mut Maintenance, next: &NextState) -> Result<()> {
        let head = maintenance.manifest.append(&next.edits)?.head();
        self.log.set_manifest(head);
        Ok(())
    }

    /// The edit that records how far the log is durable, if the manifest does not say so, or more, yet.
    pub(crate) fn mark_of_log(&self, manifest: &Manifest) -> Option<Edit> {
        let mark = self.log.mark();
        let is_news = |known: LogMark| known != mark && known.version <= mark.version;
        manifest.log.is_none_or(is_news).then_some(Edit::SetLog(mark))
    }

    /// Records how far the log reaches, even if the manifest says more.
    pub(crate) fn mark_anew(&self, maintenance: &mut Maintenance) -> Result<()> {
        let head = maintenance.manifest.append(&[Edit::SetLog(self.log.mark())])?.head();
        self.log.set_manifest(head);
        Ok(())
    }

    /// Makes the log durable, and records how far it reaches.
    pub(crate) fn finish(&self) -> Result<()> {
        self.log.sync()?;
        let mut maintenance = self.maintenance.lock();
        if let Some(edit) = self.mark_of_log(maintenance.manifest.manifest()) {
            self.log.note_manifest(maintenance.manifest.append(&[edit])?.head());
        }
        Ok(())
    }

    /// Makes a recorded state visible. Its layers hold the commits up to `frozen`. After an error, commits
    /// are refused.
    pub(crate) fn show(&self, next: &NextState, writer: &mut Writer, frozen: Option<u64>) -> Result<()> {
        self.publish(&next.state, writer, frozen).map_err(|error| writer.fail(error))?;
        next.obsolete.iter().for_each(|layer| layer.retire());
        Ok(())
    }

    /// Publishes a state to readers. Its layers hold the commits up to `frozen`.
    pub(crate) fn publish(&self, state: &Arc<State>, writer: &mut Writer, frozen: Option<u64>) -> Result<()> {
        let below = state.version(state.newest())?;
        self.show_state(Arc::clone(state), below.clone(), frozen)?;
        if frozen.is_some() {
            let added = below.num_vertices().saturating_sub(writer.tail.first());
            writer.tail.release(added);
        }
        for (known, property) in writer.texts.iter_mut().zip(0..) {
            if let (Some(known), Some(layers)) = (known, below.dictionary(property)) {
                known.release(layers);
            }
        }
        writer.ids = below.ids().clone();
        Ok(())
    }
}

//! Turns commits into layers, on a disk or in memory.

use parking_lot::Mutex;
use std::path::Path;
use std::sync::Arc;

use esker_format::io::Disk;
use esker_format::{CopyPolicy, Edit, Error, Result};
use esker_graph::Run;

use crate::commit::{Assembled, Commit, LayerLocation, assemble};
use crate::freeze::{ChangeCounts, KnownEdges};
use crate::manifest::{Manifest, ManifestWriter, not_retained};
use crate::version::{Layer, State};

/// Layers have lower numbers.
pub(super) const LAYERS_MAX: u32 = 1 << 24;

/// State for which one thread at a time has exclusive access.
#[derive(Debug)]
pub(crate) struct Maintenance {
    pub(super) manifest: ManifestWriter,
    /// The filter of edges in the layers above the complete one, for the next freeze.
    pub(super) known: Mutex<KnownEdges>,
}

impl Maintenance {
    /// The number of the next layer.
    ///
    /// Fails after a failed write of the manifest, which may name a layer of that number; its files must not
    /// be touched.
    pub(super) fn next_layer(&self) -> Result<u32> {
        self.manifest.expect_sound()?;
        let last = self.manifest.manifest().layers.iter().map(|layer| layer.number).max().unwrap_or(0);
        let next = last + 1;
        if next < LAYERS_MAX { Ok(next) } else { Err(all_layers_used()) }
    }
}

pub(super) fn all_layers_used() -> Error {
    Error::invalid("all 2^24 layer numbers are used: import the graph into a new database".to_owned())
}

/// A state with one more layer, in memory, that holds `commits`.
pub(crate) fn with_commits_in_memory(
    state: &Arc<State>,
    commits: &[Arc<Commit>],
    disk: &Arc<dyn Disk>,
    policy: CopyPolicy,
    run: &Run,
) -> Result<Arc<State>> {
    Ok(layer_of_commits(state, commits, disk, 0, None, policy, run)?.state)
}

/// A layer in memory.
pub(super) struct CommitLayer {
    /// The state with it, without versions that the retention does not keep.
    pub(super) state: Arc<State>,
    /// Its number.
    pub(super) number: u32,
    /// The edits that a manifest would need for it; they forget no version.
    pub(super) edits: Vec<Edit>,
    /// What the counted commits changed.
    pub(super) counts: ChangeCounts,
}

/// Makes a layer in memory that holds `commits`. Changes are counted from version `counted_from` on;
/// `known` is the filter of edges in the layers below.
pub(super) fn layer_of_commits(
    state: &Arc<State>,
    commits: &[Arc<Commit>],
    disk: &Arc<dyn Disk>,
    counted_from: u64,
    known: Option<&Mutex<KnownEdges>>,
    policy: CopyPolicy,
    run: &Run,
) -> Result<CommitLayer> {
    let number = state.manifest().layers.iter().map(|layer| layer.number).max().unwrap_or(0) + 1;
    let directory = Path::new("/layer");
    let location = LayerLocation { disk, directory, number, counted_from, known };
    let assembled = assemble(state, commits, location, policy, run)?;
    let edits = edits_of(&assembled);
    let mut manifest = state.manifest().with(&edits).map_err(Error::invalid)?;
    let hidden = not_retained(&manifest, []).into_iter().map(|number| Edit::RemoveVersion { number });
    manifest = manifest.with(&hidden.collect::<Vec<_>>()).map_err(Error::invalid)?;
    let state = with_layer(state, manifest, disk, directory, &assembled)?;
    Ok(CommitLayer { state, number, edits, counts: assembled.counts })
}

/// The manifest edits that add a new layer.
pub(super) fn edits_of(assembled: &Assembled) -> Vec<Edit> {
    let mut edits: Vec<Edit> = assembled.properties.iter().cloned().map(Edit::AddProperty).collect();
    edits.push(Edit::AddLayer(assembled.record.clone()));
    edits.extend(assembled.versions.iter().cloned().map(Edit::AddVersion));
    edits
}

/// A state with one more layer.
pub(super) fn with_layer(
    state: &Arc<State>,
    manifest: Manifest,
    disk: &Arc<dyn Disk>,
    directory: &Path,
    assembled: &Assembled,
) -> Result<Arc<State>> {
    let record = &assembled.record;
    let layer = Layer::open(disk, directory, &manifest, record)?;
    let mut layers = state.layers().to_vec();
    layers.push(Arc::new(layer));
    Ok(Arc::new(state.with(manifest, layers)))
}

//! What a recovery can keep of a database that has lost layers.

use std::path::Path;
use std::sync::Arc;

use esker_format::io::Disk;
use esker_format::{Edit, Error, Result};

use super::files::{OpenFiles, lost_file};
use super::layer::Layer;
use super::state::State;
use crate::version::{MANIFEST_NAME, Manifest, layer_directory};

/// Layers that a manifest names and that are missing, and those after them.
#[derive(Debug)]
pub(crate) struct LostLayers {
    /// The first missing file.
    pub(crate) problem: Error,
    /// The edits of the manifest that leave them out.
    pub(crate) edits: Vec<Edit>,
    /// Their last version.
    pub(crate) last_version: u64,
}

/// The edits that leave out the layers from index `kept` on, with their versions and tags.
fn without_layers(manifest: &Manifest, kept: usize) -> Vec<Edit> {
    let newest = manifest.layers[..kept].last().map_or(0, |layer| layer.last_version);
    let layers = manifest.layers[kept..].iter().map(|layer| Edit::RemoveLayer { number: layer.number });
    let tags = manifest.tags.iter().filter(|(_, version)| **version > newest);
    let tags = tags.map(|(name, _)| Edit::RemoveTag { name: name.clone() });
    let versions = manifest.versions.iter().filter(|version| version.number > newest);
    let versions = versions.map(|version| Edit::RemoveVersion { number: version.number });
    layers.chain(tags).chain(versions).collect()
}

impl State {
    /// As [`State::read`], without the layers from the first missing one on. For a recovery, which holds the lock of the writer.
    ///
    /// # Errors
    /// As [`State::read`]; [`Error::Lost`] if the complete layer is missing, without which no version can be read, or if no layer before
    /// the missing one ends with a version that is kept.
    pub(crate) fn read_left(disk: &Arc<dyn Disk>, path: &Path) -> Result<(Self, Option<LostLayers>)> {
        let manifest = Manifest::read(disk.as_ref(), &path.join(MANIFEST_NAME))?;
        let opened = manifest.layers.iter().map(|record| {
            Layer::open(disk, &layer_directory(path, record.number), &manifest, record)
                .map_err(|error| lost_file(path, error))
        });
        let (missing, problem) =
            match opened.enumerate().find_map(|(index, layer)| Some((index, layer.err()?))) {
                None => return Ok((Self::read(Arc::clone(disk), path)?, None)),
                Some((missing, problem @ Error::Lost { .. })) => (missing, problem),
                Some((_, error)) => return Err(error),
            };
        // The layers must end with the newest version: where a later one was forgotten, they hold its changes too.
        let ends = |kept: &usize| manifest.version(manifest.layers[kept - 1].last_version).is_some();
        let Some(kept) = (1..=missing).rev().find(ends) else { return Err(problem) };
        let edits = without_layers(&manifest, kept);
        let last_version = manifest.log_start().first_version - 1;
        let mut left = manifest.with(&edits).map_err(Error::Invalid)?;
        // What the log says is compared with what the file says.
        (left.records, left.chain) = (manifest.records, manifest.chain);
        let files = OpenFiles::open(disk, path, &left, &[])?;
        let state = Self::of(Arc::clone(disk), path, left, files);
        Ok((state, Some(LostLayers { problem, edits, last_version })))
    }
}

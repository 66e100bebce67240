//! What is stored beside the lists of a layer: its tiles, its heads.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use esker_format::io::Disk;
use esker_format::{Error, HeadsRecord, LayerRecord, Result, TilesRecord};
use esker_layers::graph::headed::StoredHeads;
use esker_layers::tiles::{TileShape, Tiles};

use crate::version::{Manifest, layer_directory};

/// What is stored beside the lists of a layer.
pub(super) trait BesideLists: Sized {
    /// What the manifest says of it.
    type Record: Copy + PartialEq;

    /// All records of a manifest.
    fn records(manifest: &Manifest) -> &[Self::Record];

    /// The number of the layer.
    fn layer(record: &Self::Record) -> u32;

    /// Opens its files in the directory of the layer.
    fn open(
        disk: &Arc<dyn Disk>,
        directory: &Path,
        manifest: &Manifest,
        layer: &LayerRecord,
        record: &Self::Record,
    ) -> Result<Self>;
}

impl BesideLists for Tiles {
    type Record = TilesRecord;

    fn records(manifest: &Manifest) -> &[TilesRecord] {
        &manifest.tiles
    }

    fn layer(record: &TilesRecord) -> u32 {
        record.layer
    }

    fn open(
        disk: &Arc<dyn Disk>,
        directory: &Path,
        manifest: &Manifest,
        layer: &LayerRecord,
        record: &TilesRecord,
    ) -> Result<Self> {
        let (num_vertices, directed) = (layer.num_vertices, layer.directed);
        let shape = TileShape { num_vertices, num_edges: record.num_edges, directed };
        Self::open(disk, directory, manifest.database, shape)
    }
}

impl BesideLists for StoredHeads {
    type Record = HeadsRecord;

    fn records(manifest: &Manifest) -> &[HeadsRecord] {
        &manifest.heads
    }

    fn layer(record: &HeadsRecord) -> u32 {
        record.layer
    }

    fn open(
        disk: &Arc<dyn Disk>,
        directory: &Path,
        manifest: &Manifest,
        layer: &LayerRecord,
        record: &HeadsRecord,
    ) -> Result<Self> {
        Self::open(disk, directory, manifest.database, record, layer.in_edges)
    }
}

/// One form of all layers that have it, opened with the state: its files may be removed while a snapshot reads them. What cannot be opened
/// does no harm to a snapshot that does not read it; opening it again gives the error.
pub(super) struct Beside<F: BesideLists>(Vec<(F::Record, Arc<OnceLock<F>>)>);

impl<F: BesideLists> Default for Beside<F> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<F: BesideLists> Clone for Beside<F> {
    fn clone(&self) -> Self {
        Self(self.0.iter().map(|(record, slot)| (*record, Arc::clone(slot))).collect())
    }
}

impl<F: BesideLists> std::fmt::Debug for Beside<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(record, _)| F::layer(record))).finish()
    }
}

impl<F: BesideLists> Beside<F> {
    /// Opens what the manifest names, unless `older` has it.
    pub(super) fn open(disk: &Arc<dyn Disk>, path: &Path, manifest: &Manifest, older: &Self) -> Self {
        let slots = F::records(manifest).iter().map(|record| {
            let known = older.0.iter().find(|(other, slot)| other == record && slot.get().is_some());
            let slot = known.map(|(_, slot)| Arc::clone(slot)).unwrap_or_default();
            (*record, slot)
        });
        let opened = Self(slots.collect());
        for record in F::records(manifest) {
            // The error comes back when somebody asks for this one.
            let _ = opened.of(disk, path, manifest, F::layer(record));
        }
        opened
    }

    /// That of a layer; `None` if it has none.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Corrupt`].
    pub(super) fn of(
        &self,
        disk: &Arc<dyn Disk>,
        path: &Path,
        manifest: &Manifest,
        layer: u32,
    ) -> Result<Option<&F>> {
        let Some((record, slot)) = self.0.iter().find(|(record, _)| F::layer(record) == layer) else {
            return Ok(None);
        };
        if slot.get().is_none() {
            let found = manifest.layers.iter().find(|found| found.number == layer);
            let found = found
                .ok_or_else(|| Error::corrupt(path, 0, "there are tiles or heads of an unknown layer"))?;
            let directory = layer_directory(path, layer);
            let _ = slot.set(F::open(disk, &directory, manifest, found, record)?);
        }
        Ok(slot.get())
    }
}

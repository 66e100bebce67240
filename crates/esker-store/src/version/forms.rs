//! Opens the second forms of a layer's lists: its tiles and its heads.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use esker_format::io::Disk;
use esker_format::{DatabaseId, Encoding, Error, HeadsRecord, LayerRecord, Origin, Result, TilesRecord};
use esker_graph::{Operation, Setting, message};
use esker_layers::graph::bounded::headed::StoredHeads;
use esker_layers::tiles::{TileShape, Tiles};

use crate::manifest::{Manifest, layer_directory};

/// What is stored beside the lists of a layer.
pub(super) trait BesideLists: Sized {
    /// What the manifest says of it.
    type Record: Clone + PartialEq;

    /// All records of a manifest.
    const RECORDS: fn(&Manifest) -> &[Self::Record];

    /// The number of the layer of a record.
    const LAYER: fn(&Self::Record) -> u32;

    /// Opens its files in the directory of the layer.
    fn open(files: &BesideFiles<'_>, record: &Self::Record) -> Result<Self>;
}

/// The files of a layer.
pub(super) struct BesideFiles<'a> {
    disk: &'a Arc<dyn Disk>,
    directory: &'a Path,
    database: DatabaseId,
    layer: &'a LayerRecord,
}

impl BesideLists for Tiles {
    type Record = TilesRecord;

    const RECORDS: fn(&Manifest) -> &[TilesRecord] = |manifest| &manifest.tiles;
    const LAYER: fn(&TilesRecord) -> u32 = |record| record.layer;

    fn open(files: &BesideFiles<'_>, record: &TilesRecord) -> Result<Self> {
        let &BesideFiles { disk, directory, database, layer } = files;
        let origin = Origin { database, stamp: record.stamp };
        Self::open(disk, directory, origin, tile_shape(layer, record), &record.shared)
    }
}

/// What the manifest says of the tiles of a layer.
pub(super) fn tile_shape(layer: &LayerRecord, tiles: &TilesRecord) -> TileShape {
    let (num_vertices, directed) = (layer.num_vertices, layer.directed);
    TileShape { num_vertices, num_edges: tiles.num_edges, directed }
}

impl BesideLists for StoredHeads {
    type Record = HeadsRecord;

    const RECORDS: fn(&Manifest) -> &[HeadsRecord] = |manifest| &manifest.heads;
    const LAYER: fn(&HeadsRecord) -> u32 = |record| record.layer;

    fn open(files: &BesideFiles<'_>, record: &HeadsRecord) -> Result<Self> {
        let &BesideFiles { disk, directory, database, layer } = files;
        let origin = Origin { database, stamp: record.stamp };
        Self::open(disk, directory, origin, record, layer.in_edges).map_err(|error| {
            match error.is_not_found() {
                true => {
                    let compact = Operation::Compact.with(Setting::Heads.to_some("LENGTH"));
                    Error::invalid(message![error.message(), ": ", compact, " makes the heads anew"])
                }
                false => error,
            }
        })
    }
}

/// One form of all layers that have it, opened with the state: its files may be removed while a version
/// is read. What cannot be opened does no harm to a version that does not read it; opening it again gives
/// the error.
pub(super) struct Beside<F: BesideLists>(Vec<(F::Record, Arc<OnceLock<F>>)>);

impl<F: BesideLists> Default for Beside<F> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<F: BesideLists> Clone for Beside<F> {
    fn clone(&self) -> Self {
        Self(self.0.iter().map(|(record, slot)| (record.clone(), Arc::clone(slot))).collect())
    }
}

impl<F: BesideLists> std::fmt::Debug for Beside<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(record, _)| (F::LAYER)(record))).finish()
    }
}

impl<F: BesideLists> Beside<F> {
    /// Opens what the manifest names, unless `older` has it.
    pub(super) fn open(disk: &Arc<dyn Disk>, path: &Path, manifest: &Manifest, older: &Self) -> Self {
        let slots = (F::RECORDS)(manifest).iter().map(|record| {
            let known = older.0.iter().find(|(other, slot)| other == record && slot.get().is_some());
            let slot = known.map(|(_, slot)| Arc::clone(slot)).unwrap_or_default();
            (record.clone(), slot)
        });
        let opened = Self(slots.collect());
        for layer in (F::RECORDS)(manifest).iter().map(F::LAYER) {
            // A layer that is kept in tiles alone opens them itself.
            let is_apart = |other: &LayerRecord| other.number == layer && other.encoding == Encoding::Tiles;
            if !manifest.layers.iter().any(is_apart) {
                // The error comes back when somebody asks for this one.
                let _ = opened.of(disk, path, manifest, layer);
            }
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
        let Some((record, slot)) = self.0.iter().find(|(record, _)| (F::LAYER)(record) == layer) else {
            return Ok(None);
        };
        if slot.get().is_none() {
            let found = manifest.layers.iter().find(|found| found.number == layer);
            let found = found
                .ok_or_else(|| Error::corrupt(path, 0, "there are tiles or heads of an unknown layer"))?;
            let directory = layer_directory(path, layer);
            let files =
                BesideFiles { disk, directory: &directory, database: manifest.database, layer: found };
            let _ = slot.set(F::open(&files, record)?);
        }
        Ok(slot.get())
    }
}

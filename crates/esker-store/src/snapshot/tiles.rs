//! The tiles of the layers of a state.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use esker_format::io::Disk;
use esker_format::{Error, LayerRecord, Result, TilesRecord};
use esker_layers::tiles::{TileShape, Tiles};

use crate::version::{Manifest, layer_directory};

/// The tiles of layers, opened with the state: their files may be removed while a snapshot reads them. Tiles that cannot be opened do
/// no harm to a snapshot that does not read them; opening them again gives the error.
#[derive(Debug, Clone, Default)]
pub(super) struct LayerTiles(Vec<(TilesRecord, Arc<OnceLock<Tiles>>)>);

impl LayerTiles {
    /// Opens the tiles that the manifest names, unless `older` has them.
    pub(super) fn open(disk: &Arc<dyn Disk>, path: &Path, manifest: &Manifest, older: &Self) -> Self {
        let slots = manifest.tiles.iter().map(|record| {
            let known = older.0.iter().find(|(other, slot)| other == record && slot.get().is_some());
            let slot = known.map(|(_, slot)| Arc::clone(slot)).unwrap_or_default();
            (*record, slot)
        });
        let tiles = Self(slots.collect());
        for record in &manifest.tiles {
            // The error comes back when somebody asks for these tiles.
            let _ = tiles.of(disk, path, manifest, record.layer);
        }
        tiles
    }

    /// The tiles of a layer; `None` if it has none.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Corrupt`].
    pub(super) fn of(
        &self,
        disk: &Arc<dyn Disk>,
        path: &Path,
        manifest: &Manifest,
        layer: u32,
    ) -> Result<Option<&Tiles>> {
        let Some((record, slot)) = self.0.iter().find(|(record, _)| record.layer == layer) else {
            return Ok(None);
        };
        if slot.get().is_none() {
            let layer = manifest.layers.iter().find(|layer| layer.number == record.layer);
            let layer =
                layer.ok_or_else(|| Error::corrupt(path, 0, "there are tiles of an unknown layer"))?;
            let tiles = Tiles::open(
                disk,
                &layer_directory(path, layer.number),
                manifest.database,
                shape(layer, record),
            )?;
            let _ = slot.set(tiles);
        }
        Ok(slot.get())
    }
}

fn shape(layer: &LayerRecord, record: &TilesRecord) -> TileShape {
    TileShape { num_vertices: layer.num_vertices, num_edges: record.num_edges, directed: layer.directed }
}

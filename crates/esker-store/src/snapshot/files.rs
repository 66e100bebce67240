//! Opening the files that a manifest names.

use std::path::Path;
use std::sync::Arc;

use esker_format::io::Disk;
use esker_format::{Archive, Error, IdMapKind, Result};
use esker_layers::graph::headed::StoredHeads;
use esker_layers::ids::{IdFiles, IdHasher, IdMap};
use esker_layers::tiles::Tiles;

use super::beside::Beside;
use super::layer::Layer;
use crate::version::{Manifest, ids_directory, layer_directory};

/// What opening a manifest's files gives.
pub(super) struct OpenFiles {
    pub(super) layers: Vec<Arc<Layer>>,
    pub(super) base_ids: IdMap,
    pub(super) ids: Option<Arc<Archive>>,
    pub(super) tiles: Beside<Tiles>,
    pub(super) heads: Beside<StoredHeads>,
}

impl OpenFiles {
    /// Opens the files, but the layers that are open already: numbers of layers are never reused.
    pub(super) fn open(
        disk: &Arc<dyn Disk>,
        path: &Path,
        manifest: &Manifest,
        known: &[Arc<Layer>],
    ) -> Result<Self> {
        let layers = manifest.layers.iter().map(|record| {
            if let Some(layer) = known.iter().find(|layer| layer.record() == record) {
                return Ok(Arc::clone(layer));
            }
            let directory = layer_directory(path, record.number);
            Layer::open(disk, &directory, manifest, record).map(Arc::new)
        });
        let layers = layers.collect::<Result<Vec<_>>>()?;
        let directory = ids_directory(path);
        let imported = layers
            .first()
            .map_or(0, |layer| layer.record().num_vertices.saturating_sub(layer.record().num_new_ids));
        let hasher = IdHasher::new(manifest.id_secret);
        let (base_ids, ids) = match manifest.ids.kind {
            IdMapKind::Identity => (IdMap::identity(manifest.ids.base, imported as usize, hasher), None),
            kind => {
                let archive = Arc::new(Archive::open(disk, &directory)?);
                let (disk, database) = (archive.as_ref(), manifest.database);
                let files = IdFiles { disk, directory: &directory, database, hasher };
                (IdMap::open(&files, kind, manifest.ids.base, imported as usize)?, Some(archive))
            }
        };
        let tiles = Beside::open(disk, path, manifest, &Beside::default());
        let heads = Beside::open(disk, path, manifest, &Beside::default());
        Ok(Self { layers, base_ids, ids, tiles, heads })
    }
}

/// The error of opening a layer that is missing, although the manifest that names it has not changed meanwhile.
pub(super) fn lost_file(database: &Path, error: Error) -> Error {
    match error {
        Error::Io { path, source, .. }
            if source.kind() == std::io::ErrorKind::NotFound && path.starts_with(database.join("layers")) =>
        {
            let reason = "is missing, although MANIFEST names it: it was removed, or MANIFEST is cut or a copy of an earlier time";
            Error::Lost { database: database.to_owned(), path, reason: reason.to_owned() }
        }
        other => other,
    }
}

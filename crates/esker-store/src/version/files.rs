//! Opening the files that a manifest names.

use std::path::Path;
use std::sync::Arc;

use esker_format::io::Disk;
use esker_format::{Archive, Error, IdMapKind, Result};
use esker_layers::graph::bounded::headed::StoredHeads;
use esker_layers::ids::{IdFiles, IdHasher, IdMap};
use esker_layers::known_files::DirectoryKind;
use esker_layers::tiles::Tiles;

use super::forms::Beside;
use super::layer::{Layer, OwnFiles};
use crate::manifest::{Manifest, Resource, ids_directory, layer_directory};

/// What opening a manifest's files gives.
pub(super) struct OpenFiles {
    pub(super) layers: Vec<Arc<Layer>>,
    pub(super) ids: BaseIds,
    pub(super) tiles: Beside<Tiles>,
    pub(super) heads: Beside<StoredHeads>,
}

/// The map of the ids that were imported.
#[derive(Debug, Clone)]
pub(super) struct BaseIds {
    pub(super) map: IdMap,
    /// `None` if it has no files.
    files: Option<Arc<BaseIdFiles>>,
}

/// The files of the map. Once they are retired, they are removed when no state needs them any more.
#[derive(Debug)]
struct BaseIdFiles {
    archive: Archive,
    own: Resource<OwnFiles>,
}

impl BaseIds {
    pub(super) fn open(
        disk: &Arc<dyn Disk>,
        path: &Path,
        manifest: &Manifest,
        imported: u64,
    ) -> Result<Self> {
        let (hasher, ids) = (IdHasher::new(manifest.id_secret), &manifest.ids);
        match ids.kind {
            IdMapKind::Identity => {
                Ok(Self { map: IdMap::identity(ids.base, imported as usize, hasher), files: None })
            }
            kind if kind.is_in_layers() && imported == 0 => {
                Ok(Self { map: IdMap::in_layers(kind.is_text(), hasher), files: None })
            }
            kind => {
                let directory = ids_directory(path);
                let archive = Archive::open(disk, &directory)?;
                let origin = manifest.ids_origin();
                let files = IdFiles { disk: &archive, directory: &directory, origin, hasher };
                let map = IdMap::open(&files, kind, ids.base, imported as usize)?;
                let own = OwnFiles { kind: DirectoryKind::Ids, disk: Arc::clone(disk), directory };
                Ok(Self { map, files: Some(Arc::new(BaseIdFiles { archive, own: Resource::new(own) })) })
            }
        }
    }

    /// Those of another manifest: after vertices were renumbered, or ids became texts, layers hold all ids.
    pub(super) fn after(&self, known: &Manifest, next: &Manifest) -> Self {
        if known.ids == next.ids {
            return self.clone();
        }
        Self { map: IdMap::in_layers(next.ids.kind.is_text(), self.map.hasher()), files: None }
    }

    pub(super) fn archive(&self) -> Option<&Archive> {
        self.files.as_deref().map(|files| &files.archive)
    }

    /// Has the files removed once no state needs them any more. The manifest does not need them, and a state
    /// without them is shown.
    pub(super) fn retire(&self) {
        if let Some(files) = &self.files {
            files.own.clone().retire();
        }
    }
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
        Self::of_layers(disk, path, manifest, layers)
    }

    /// Opens the other files, beside layers that are open.
    pub(super) fn of_layers(
        disk: &Arc<dyn Disk>,
        path: &Path,
        manifest: &Manifest,
        layers: Vec<Arc<Layer>>,
    ) -> Result<Self> {
        let imported = layers
            .first()
            .map_or(0, |layer| layer.record().num_vertices.saturating_sub(layer.record().num_new_ids));
        let ids = BaseIds::open(disk, path, manifest, imported)?;
        let tiles = Beside::open(disk, path, manifest, &Beside::default());
        let heads = Beside::open(disk, path, manifest, &Beside::default());
        Ok(Self { layers, ids, tiles, heads })
    }
}

/// The error of opening a layer that is missing, although the manifest that names it has not changed
/// meanwhile.
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

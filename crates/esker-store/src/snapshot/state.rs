//! What a database holds at a moment: its manifest and its layers, from which the snapshot of any version is made.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::{Layer, Snapshot};
use crate::error::Result;
use crate::format::IdMapKind;
use crate::ids::{IdFiles, IdMap};
use crate::io::Disk;
use crate::version::{Manifest, ids_directory, layer_directory};

/// The manifest and the open layers of a database. Immutable; snapshots share it.
#[derive(Debug)]
pub struct State {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) path: PathBuf,
    pub(super) manifest: Arc<Manifest>,
    /// Oldest first.
    pub(super) layers: Vec<Arc<Layer>>,
    /// The ids of the vertices that were imported.
    pub(super) base_ids: IdMap,
    /// The snapshot asked for last, so that what was verified and made for it is not done again.
    last: Mutex<Option<Snapshot>>,
}

/// What opening a manifest's layers gives.
struct Layers {
    layers: Vec<Arc<Layer>>,
    base_ids: IdMap,
}

impl Layers {
    fn open(disk: &Arc<dyn Disk>, path: &Path, manifest: &Manifest) -> Result<Self> {
        let texts = manifest.ids.kind == IdMapKind::Texts;
        let layers = manifest.layers.iter().map(|record| {
            let directory = layer_directory(path, record.number);
            Layer::open(disk, &directory, manifest.database, record, &manifest.properties, texts)
                .map(Arc::new)
        });
        let layers = layers.collect::<Result<Vec<_>>>()?;
        let directory = ids_directory(path);
        let files = IdFiles { disk: disk.as_ref(), directory: &directory, database: manifest.database };
        let imported = layers
            .first()
            .map_or(0, |layer| layer.record().num_vertices.saturating_sub(layer.record().num_new_ids));
        let base_ids = IdMap::open(&files, manifest.ids.kind, manifest.ids.base, imported as usize)?;
        Ok(Self { layers, base_ids })
    }
}

impl State {
    /// Reads the manifest and the headers of all files.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Corrupt`]; [`Error::Invalid`] if a newer Esker, or one with another width of vertex
    /// ids, wrote it.
    pub fn read(disk: Arc<dyn Disk>, path: &Path) -> Result<Self> {
        let opened = Manifest::read_with(disk.as_ref(), path, |manifest| Layers::open(&disk, path, manifest));
        let (manifest, Layers { layers, base_ids }) = opened?;
        let (path, manifest) = (path.to_owned(), Arc::new(manifest));
        Ok(Self { disk, path, manifest, layers, base_ids, last: Mutex::new(None) })
    }

    /// The same database after a change of its manifest, with the layers that the new one names, oldest first.
    pub fn with(&self, manifest: Manifest, layers: Vec<Arc<Layer>>) -> Self {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Self {
            disk: Arc::clone(&self.disk),
            path: self.path.clone(),
            manifest: Arc::new(manifest),
            layers,
            base_ids: self.base_ids.clone(),
            last: Mutex::new(last),
        }
    }

    /// The disk.
    pub fn disk(&self) -> &Arc<dyn Disk> {
        &self.disk
    }

    /// The directory of the database.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the manifest says.
    pub fn manifest(&self) -> &Arc<Manifest> {
        &self.manifest
    }

    /// The layers, oldest first.
    pub fn layers(&self) -> &[Arc<Layer>] {
        &self.layers
    }

    /// Whether external ids are texts; else they are integers.
    pub fn has_text_ids(&self) -> bool {
        self.base_ids.is_text()
    }

    /// The number of the newest version.
    pub fn newest(&self) -> u64 {
        self.manifest.versions.last().map_or(0, |version| version.number)
    }

    /// The version of a number.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is none; [`Error::Corrupt`].
    pub fn snapshot(self: &Arc<Self>, number: u64) -> Result<Snapshot> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(snapshot) =
            last.as_ref().filter(|last| last.is_of(self) && last.version().number == number)
        {
            return Ok(snapshot.clone());
        }
        let snapshot = Snapshot::at(self, number, last.as_ref())?;
        *last = Some(snapshot.clone());
        Ok(snapshot)
    }
}

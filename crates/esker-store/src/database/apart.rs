//! Targets that a layer has only until its tiles are made.
//!
//! A layer that keeps its lists in tiles alone is written as one of plain lists, and its tiles are made of these. The targets are files of
//! their own meanwhile, which the archive of the layer does not name, and are removed before the manifest names the layer.

use std::path::Path;
use std::sync::Arc;

use esker_format::Result;
use esker_format::io::{Disk, File, Files};
use esker_graph::Direction;
use esker_layers::layer::SectionColumn;

/// The files of a layer; its targets are beside them.
#[derive(Debug)]
pub(super) struct TargetsApart<'a> {
    /// All other files.
    pub(super) files: &'a dyn Files,
    pub(super) disk: &'a Arc<dyn Disk>,
    /// The directory of the layer.
    pub(super) directory: &'a Path,
}

impl TargetsApart<'_> {
    /// Removes the targets. Returns their bytes.
    ///
    /// # Errors
    /// [`esker_format::Error::Io`].
    pub(super) fn remove(&self) -> Result<u64> {
        let mut bytes = 0;
        for direction in [Direction::Out, Direction::In] {
            let path = SectionColumn::Targets.path(self.directory, direction);
            if let Some(entry) = self.disk.look(&path)? {
                bytes += entry.bytes;
                self.disk.remove_file(&path)?;
            }
        }
        Ok(bytes)
    }

    fn is_apart(&self, path: &Path) -> bool {
        let is_of = |direction| SectionColumn::Targets.path(self.directory, direction) == path;
        is_of(Direction::Out) || is_of(Direction::In)
    }
}

impl Files for TargetsApart<'_> {
    fn create(&self, path: &Path) -> Result<Arc<dyn File>> {
        if !self.is_apart(path) {
            return self.files.create(path);
        }
        if self.disk.look(self.directory)?.is_none() {
            self.disk.create_directory(self.directory)?;
        }
        self.disk.create(path)
    }

    fn open(&self, path: &Path) -> Result<Arc<dyn File>> {
        if self.is_apart(path) { self.disk.open(path) } else { self.files.open(path) }
    }
}

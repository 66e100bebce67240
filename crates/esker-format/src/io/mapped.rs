//! A mapped file, or a part of one, as a file for reading.

use std::path::Path;
use std::sync::Arc;

use super::disk::{Disk, File};
use super::file_id::FileId;
use super::map::Map;
use crate::error::{Error, Result};

/// The bytes of a map. Its path and id are those of the mapped file, which may be removed meanwhile.
#[derive(Debug)]
pub(crate) struct MappedFile(pub(crate) Map);

impl Map {
    /// Opens the file anew for direct reads: see [`Disk::open_direct`]. If the file was removed or replaced
    /// since it was mapped, the reads come from the map.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(crate) fn open_direct(&self, disk: &dyn Disk) -> Result<Arc<dyn File>> {
        match disk.open_direct(self.path()) {
            Ok(file) if file.id()? == self.file() => Ok(file),
            Err(error) if !error.is_not_found() => Err(error),
            Ok(_) | Err(_) => Ok(Arc::new(MappedFile(self.whole()))),
        }
    }
}

impl MappedFile {
    fn refused(&self, action: &'static str) -> Error {
        Error::io(action, self.path())(std::io::ErrorKind::Unsupported.into())
    }
}

impl File for MappedFile {
    fn path(&self) -> &Path {
        self.0.path()
    }

    fn id(&self) -> Result<FileId> {
        Ok(self.0.file())
    }

    fn len(&self) -> Result<u64> {
        Ok(self.0.len() as u64)
    }

    /// Leaves no more of the map in the memory of the process than before.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(self.0.len());
        let range = start..self.0.len().min(start.saturating_add(buffer.len()));
        let bytes = range.len();
        buffer[..bytes].copy_from_slice(self.0.load(range.clone())?);
        if let Some(part) = self.0.part(range) {
            part.release();
        }
        Ok(bytes)
    }

    fn write_at(&self, _bytes: &[u8], _offset: u64) -> Result<()> {
        Err(self.refused("write to"))
    }

    fn set_length(&self, _bytes: u64) -> Result<()> {
        Err(self.refused("set the length of"))
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }

    fn map(&self) -> Result<Map> {
        Ok(self.0.clone())
    }
}

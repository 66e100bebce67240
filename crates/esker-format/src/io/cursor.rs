//! Adapts a [`File`] to the traits of `std::io`.

use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

use super::disk::File;
use crate::error::Error;

/// A [`File`] with a position, which implements the traits of `std::io`.
#[derive(Debug, Clone)]
pub struct Cursor {
    file: Arc<dyn File>,
    position: u64,
}

impl Cursor {
    /// A cursor at `position`.
    pub fn new(file: Arc<dyn File>, position: u64) -> Self {
        Self { file, position }
    }
}

impl Read for Cursor {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let bytes = self.file.read_at(buffer, self.position).map_err(into_std)?;
        self.position += bytes as u64;
        Ok(bytes)
    }
}

impl std::io::Write for Cursor {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.file.write_at(bytes, self.position).map_err(into_std)?;
        self.position += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Seek for Cursor {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        let target = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::End(offset) => self.file.len().map_err(into_std)?.checked_add_signed(offset),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
        };
        self.position = target.ok_or_else(|| std::io::Error::from(std::io::ErrorKind::InvalidInput))?;
        Ok(self.position)
    }
}

fn into_std(error: Error) -> std::io::Error {
    match error {
        Error::Io { source, .. } => source,
        other => std::io::Error::other(other),
    }
}

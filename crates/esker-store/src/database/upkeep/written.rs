//! Counts the bytes that compacting writes, and the bytes of layers.

use std::path::Path;

use esker_format::io::DirectoryEntry;
use esker_format::{Result, archive_path};
use esker_layers::graph::bounded::headed::heads_directory;
use esker_layers::tiles::TileFiles;

use crate::conversion::FormReport;
use crate::database::handle::Core;
use crate::manifest::layer_directory;
use crate::version::State;

/// Bytes that were written, by what they hold. Not counted are files that a layer shares with older ones, and
/// blocks of zeros that take no room on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WrittenBytes {
    /// Tiles, with their index, degrees and properties.
    pub tiles: u64,
    /// Heads.
    pub heads: u64,
    /// Everything else of new layers: lists, their offsets and properties, versions, ids. Also targets of
    /// which tiles were made, and that were removed.
    pub others: u64,
}

impl WrittenBytes {
    /// All of them.
    pub fn all(&self) -> u64 {
        self.tiles + self.heads + self.others
    }
}

impl Core {
    /// Bytes of the files of all layers.
    pub(crate) fn layer_bytes(&self, state: &State) -> Result<u64> {
        let mut bytes = 0;
        for layer in state.layers() {
            let directory = layer_directory(&self.path, layer.record().number);
            bytes += self.bytes_of_all(&directory, &|entry| entry.bytes)?;
        }
        Ok(bytes)
    }

    /// Bytes that led from a state to a later one: those of the layers that it lacks, and of forms that were
    /// made for its oldest layer.
    pub(crate) fn written_bytes(
        &self,
        before: &State,
        after: &State,
        forms: &FormReport,
    ) -> Result<WrittenBytes> {
        let mut written = WrittenBytes { others: forms.targets_bytes, ..WrittenBytes::default() };
        let is_linked = |name: &str| TileFiles::is_data(name) && name.contains("data.");
        let stored = |entry: &DirectoryEntry| if is_linked(&entry.name) { 0 } else { entry.stored_bytes };
        for (position, layer) in after.layers().iter().enumerate() {
            let number = layer.record().number;
            let directory = layer_directory(&self.path, number);
            let is_new = before.layers().iter().all(|layer| layer.record().number != number);
            let files = TileFiles::in_layer(&directory);
            let mut tiles = self.bytes_of_all(&files.directory, &stored)?;
            tiles += self.disk.look(&files.data)?.map_or(0, |entry| entry.stored_bytes);
            let heads = self.bytes_of_all(&heads_directory(&directory), &stored)?;
            let is_made = |made: bool| is_new || (position == 0 && made);
            written.tiles += if is_made(forms.tiles.is_some()) { tiles } else { 0 };
            written.heads += if is_made(forms.heads.is_some()) { heads } else { 0 };
            if is_new {
                written.others += self.bytes_of_all(&directory, &stored)?.saturating_sub(tiles + heads);
            }
        }
        Ok(written)
    }

    /// Sums up the files of a directory, and its archive.
    fn bytes_of_all(&self, directory: &Path, of_file: &dyn Fn(&DirectoryEntry) -> u64) -> Result<u64> {
        let archive = self.disk.look(&archive_path(directory))?;
        Ok(archive.as_ref().map_or(0, of_file) + self.bytes_within(directory, of_file)?)
    }

    /// Sums up the files in a directory and those below; none if there is no directory.
    fn bytes_within(&self, directory: &Path, of_file: &dyn Fn(&DirectoryEntry) -> u64) -> Result<u64> {
        if self.disk.look(directory)?.is_none() {
            return Ok(0);
        }
        let mut bytes = 0;
        for entry in self.disk.list(directory)? {
            bytes += match entry.is_directory {
                true => self.bytes_within(&directory.join(&entry.name), of_file)?,
                false => of_file(&entry),
            };
        }
        Ok(bytes)
    }
}

//! The temporary file of targets from which the tiles of a tiled layer are made.
//!
//! A layer whose lists are kept as tiles only is first written as plain lists, and its tiles are made of
//! these. Meanwhile the targets of its out-lists lie in a file that the archive of the layer does not name.
//! The file is removed before the manifest names the layer. It is never synced: if there is enough memory,
//! the system writes none of it to the disk. Targets of in-lists are not written, because tiles hold both
//! ends.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use esker_format::io::{Disk, File, FileId, Files, Map};
use esker_format::{Encoding, Error, LayerRecord, Result};
use esker_graph::Direction;
use esker_layers::layer::SectionColumn;

/// The files of a layer; its targets are beside them.
#[derive(Debug)]
pub struct TemporaryTargets<'a> {
    /// All other files.
    pub(crate) files: &'a dyn Files,
    pub(crate) disk: &'a Arc<dyn Disk>,
    /// The directory of the layer.
    pub(crate) directory: &'a Path,
}

impl TemporaryTargets<'_> {
    /// The layer as it is meanwhile, for readers: plain out-lists.
    pub(crate) fn record_of(layer: &LayerRecord) -> LayerRecord {
        LayerRecord { encoding: Encoding::Plain, in_edges: false, ..layer.clone() }
    }

    /// Removes the targets. Returns their bytes.
    ///
    /// # Errors
    /// [`esker_format::Error::Io`].
    pub(crate) fn remove(&self) -> Result<u64> {
        let path = self.path_of(Direction::Out);
        let Some(entry) = self.disk.look(&path)? else { return Ok(0) };
        self.disk.remove_file(&path)?;
        Ok(entry.bytes)
    }

    fn path_of(&self, direction: Direction) -> PathBuf {
        SectionColumn::Targets.path(self.directory, direction)
    }
}

impl Files for TemporaryTargets<'_> {
    fn create(&self, path: &Path) -> Result<Arc<dyn File>> {
        if path == self.path_of(Direction::In) {
            return Ok(Arc::new(Nowhere { path: path.to_owned(), bytes: AtomicU64::new(0) }));
        }
        if path != self.path_of(Direction::Out) {
            return self.files.create(path);
        }
        if self.disk.look(self.directory)?.is_none() {
            self.disk.create_directory(self.directory)?;
        }
        Ok(Arc::new(Unsynced(self.disk.create(path)?)))
    }

    fn open(&self, path: &Path) -> Result<Arc<dyn File>> {
        if path == self.path_of(Direction::Out) { self.disk.open(path) } else { self.files.open(path) }
    }
}

/// A file that need not outlive the process.
#[derive(Debug)]
struct Unsynced(Arc<dyn File>);

impl File for Unsynced {
    fn path(&self) -> &Path {
        self.0.path()
    }

    fn id(&self) -> Result<FileId> {
        self.0.id()
    }

    fn len(&self) -> Result<u64> {
        self.0.len()
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize> {
        self.0.read_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> Result<()> {
        self.0.write_at(bytes, offset)
    }

    fn set_length(&self, bytes: u64) -> Result<()> {
        self.0.set_length(bytes)
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }

    fn discard(&self, range: Range<u64>) {
        self.0.discard(range);
    }

    fn map(&self) -> Result<Map> {
        self.0.map()
    }
}

/// A file that keeps nothing but its length.
#[derive(Debug)]
struct Nowhere {
    path: PathBuf,
    bytes: AtomicU64,
}

impl Nowhere {
    fn refused(&self, action: &'static str) -> Error {
        Error::io(action, &self.path)(std::io::ErrorKind::Unsupported.into())
    }
}

impl File for Nowhere {
    fn path(&self) -> &Path {
        &self.path
    }

    fn id(&self) -> Result<FileId> {
        Err(self.refused("identify"))
    }

    fn len(&self) -> Result<u64> {
        Ok(self.bytes.load(Ordering::Relaxed))
    }

    fn read_at(&self, _: &mut [u8], _: u64) -> Result<usize> {
        Err(self.refused("read"))
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> Result<()> {
        self.bytes.fetch_max(offset + bytes.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    fn set_length(&self, bytes: u64) -> Result<()> {
        self.bytes.store(bytes, Ordering::Relaxed);
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }

    fn map(&self) -> Result<Map> {
        Err(self.refused("map"))
    }
}

#[cfg(test)]
mod tests {
    use esker_format::ArchiveWriter;
    use esker_format::io::FaultyDisk;

    use super::*;

    /// They were written and synced like lists that stay, in both directions.
    #[test]
    fn targets_apart_need_not_reach_the_disk() {
        // What a crash leaves of data that was not synced is random.
        assert!((1..20).any(|seed| kept_bytes(seed) == 0));
    }

    /// Writes targets as a layer does; returns what a crash leaves of them.
    fn kept_bytes(seed: u64) -> u64 {
        let faulty = FaultyDisk::new(seed);
        let disk: Arc<dyn Disk> = Arc::new(faulty.clone());
        let directory = Path::new("layer");
        let archive = ArchiveWriter::new(&disk, directory);
        let apart = TemporaryTargets { files: &archive, disk: &disk, directory };
        let [out, others] = [Direction::Out, Direction::In].map(|direction| {
            let file = apart.create(&apart.path_of(direction)).unwrap();
            file.write_at(b"targets", 4).unwrap();
            file.sync().unwrap();
            assert_eq!(file.len().unwrap(), 11);
            file
        });
        assert!(others.read_at(&mut [0; 4], 0).is_err() && others.map().is_err());
        assert_eq!(disk.look(&apart.path_of(Direction::In)).unwrap(), None);
        let mut read = [0; 7];
        apart.open(out.path()).unwrap().read_exact_at(&mut read, 4).unwrap();
        assert_eq!(&read, b"targets");
        disk.sync_directory(directory).unwrap();
        disk.sync_directory(Path::new(".")).unwrap();
        let after = faulty.fork();
        after.crash();
        assert_eq!((apart.remove().unwrap(), apart.remove().unwrap()), (11, 0));
        after.look(out.path()).unwrap().map_or(0, |entry| entry.bytes)
    }
}

//! The names of the files that the directories of a layer may hold. No other file there is removed.

use std::path::{Path, PathBuf};

use esker_format::io::{DirectoryEntry, Disk};
use esker_format::{Result, archive_path};

/// The names of the files in a directory; `#` stands for a number.
struct FileNames {
    files: &'static [&'static str],
    /// Directories in it.
    directories: &'static [(&'static str, FileNames)],
}

const LAYER: FileNames = FileNames {
    files: &[
        "in.blocks",
        "in.born",
        "in.dead.codes",
        "in.dead.offsets",
        "in.dead.targets",
        "in.dead.vertices",
        "in.degrees",
        "in.groups",
        "in.lists",
        "in.offsets",
        "in.past.born",
        "in.past.died",
        "in.past.offsets",
        "in.past.property.#",
        "in.past.targets",
        "in.past.vertices",
        "in.previous",
        "in.property.#",
        "in.sizes",
        "in.targets",
        "in.vertices",
        "out.blocks",
        "out.born",
        "out.dead.codes",
        "out.dead.offsets",
        "out.dead.targets",
        "out.dead.vertices",
        "out.degrees",
        "out.groups",
        "out.lists",
        "out.offsets",
        "out.past.born",
        "out.past.died",
        "out.past.offsets",
        "out.past.property.#",
        "out.past.targets",
        "out.past.vertices",
        "out.previous",
        "out.property.#",
        "out.sizes",
        "out.targets",
        "out.vertices",
        "dictionary.#.ends",
        "dictionary.#.order",
        "dictionary.#.texts",
        "heads.columns",
        "ids.index",
        "ids.integers",
        "ids.texts",
        "ids.texts.ends",
        "property.#.codes",
        "property.#.ends",
        "property.#.texts",
        "property.#.values",
        "property.#.vertices",
        "record",
        "removed.codes",
        "removed.ends",
        "removed.texts",
        "removed.values",
        "removed.vertices",
        "tiles.columns",
        "tiles.data",
        "tiles.data.#",
        "versions",
    ],
    directories: &[("heads", HEADS), ("tiles", TILES)],
};

const HEADS: FileNames =
    FileNames { files: &["in.heads", "in.sums", "out.heads", "out.sums"], directories: &[] };

const TILES: FileNames = FileNames {
    files: &[
        "edges",
        "extents",
        "groups",
        "in.degrees",
        "in.hubs",
        "keys",
        "out.degrees",
        "out.hubs",
        "property.#",
        "starts",
    ],
    directories: &[],
};

const IDS: FileNames = FileNames {
    files: &["index.buckets", "index.tags", "index.vertices", "integers", "texts", "texts.ends"],
    directories: &[],
};

/// A kind of directory: of a layer or of the map of ids. Its archive lies beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DirectoryKind {
    /// The directory of a layer.
    Layer,
    /// The directory of the layer's tiles.
    Tiles,
    /// The directory of the layer's heads.
    Heads,
    /// The directory of the map of the ids that were imported.
    Ids,
}

impl DirectoryKind {
    fn names(self) -> &'static FileNames {
        match self {
            Self::Layer => &LAYER,
            Self::Tiles => &TILES,
            Self::Heads => &HEADS,
            Self::Ids => &IDS,
        }
    }

    /// Removes the archive of a directory, and the files in it whose names Esker gives. Removes
    /// the directory too, unless it holds something else.
    ///
    /// # Errors
    /// [`esker_format::Error::Io`].
    pub fn remove(self, disk: &dyn Disk, directory: &Path) -> Result<()> {
        let archive = archive_path(directory);
        if disk.look(&archive)?.is_some_and(|entry| !entry.is_directory) {
            disk.remove_file(&archive)?;
        }
        match disk.look(directory)? {
            Some(entry) if entry.is_directory && !entry.is_link => self.remove_directory(disk, directory),
            _ => Ok(()),
        }
    }

    /// As [`DirectoryKind::remove`], without the archive.
    ///
    /// # Errors
    /// [`esker_format::Error::Io`].
    pub fn remove_directory(self, disk: &dyn Disk, directory: &Path) -> Result<()> {
        self.names().remove(disk, directory)
    }

    /// The files of the archive of a directory and of the directory that Esker named, and their bytes.
    ///
    /// # Errors
    /// [`esker_format::Error::Io`].
    pub fn files(self, disk: &dyn Disk, directory: &Path) -> Result<Vec<(PathBuf, u64)>> {
        let archive = archive_path(directory);
        let entry = disk.look(&archive)?.filter(|entry| !entry.is_directory && !entry.is_link);
        let mut files: Vec<_> = entry.map(|entry| (archive, entry.bytes)).into_iter().collect();
        if disk.look(directory)?.is_some_and(|entry| entry.is_directory && !entry.is_link) {
            self.names().list(disk, directory, &mut files)?;
        }
        Ok(files)
    }

    /// The entries of a directory of this kind that Esker did not name; and the bytes of the files that are,
    /// `None` if there are none.
    ///
    /// # Errors
    /// [`esker_format::Error::Io`].
    pub fn inspect(self, disk: &dyn Disk, directory: &Path) -> Result<(Vec<PathBuf>, Option<u64>)> {
        let (mut foreign, mut own_bytes) = (Vec::new(), None);
        self.names().inspect(disk, directory, &mut foreign, &mut own_bytes)?;
        Ok((foreign, own_bytes))
    }
}

impl FileNames {
    fn is_own_file(&self, entry: &DirectoryEntry) -> bool {
        !entry.is_directory
            && !entry.is_link
            && self.files.iter().any(|pattern| is_like(&entry.name, pattern))
    }

    /// The names in a directory in this one that is Esker's.
    fn of_directory(&self, entry: &DirectoryEntry) -> Option<&FileNames> {
        let found = self.directories.iter().find(|(name, _)| *name == entry.name);
        found.filter(|_| entry.is_directory && !entry.is_link).map(|(_, names)| names)
    }

    fn list(&self, disk: &dyn Disk, directory: &Path, files: &mut Vec<(PathBuf, u64)>) -> Result<()> {
        for entry in disk.list(directory)? {
            let path = directory.join(&entry.name);
            if let Some(inner) = self.of_directory(&entry) {
                inner.list(disk, &path, files)?;
            } else if self.is_own_file(&entry) {
                files.push((path, entry.bytes));
            }
        }
        Ok(())
    }

    fn inspect(
        &self,
        disk: &dyn Disk,
        directory: &Path,
        foreign: &mut Vec<PathBuf>,
        own_bytes: &mut Option<u64>,
    ) -> Result<()> {
        for entry in disk.list(directory)? {
            let path = directory.join(&entry.name);
            if let Some(inner) = self.of_directory(&entry) {
                inner.inspect(disk, &path, foreign, own_bytes)?;
            } else if self.is_own_file(&entry) {
                *own_bytes = Some(own_bytes.unwrap_or(0) + entry.bytes);
            } else {
                foreign.push(path);
            }
        }
        Ok(())
    }

    fn remove(&self, disk: &dyn Disk, directory: &Path) -> Result<()> {
        let (mut foreign, mut own_bytes) = (Vec::new(), None);
        self.inspect(disk, directory, &mut foreign, &mut own_bytes)?;
        if foreign.is_empty() {
            return disk.remove_directory(directory);
        }
        for entry in disk.list(directory)? {
            let path = directory.join(&entry.name);
            if let Some(inner) = self.of_directory(&entry) {
                inner.remove(disk, &path)?;
            } else if self.is_own_file(&entry) {
                disk.remove_file(&path)?;
            }
        }
        Ok(())
    }
}

/// Whether a name is that of a pattern, in which `#` stands for a number.
fn is_like(name: &str, pattern: &str) -> bool {
    let Some((before, after)) = pattern.split_once('#') else { return name == pattern };
    let number = name.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
    number.is_some_and(|number| number.parse::<u32>().is_ok_and(|parsed| parsed.to_string() == number))
}

#[cfg(test)]
mod tests {
    use esker_format::io::FaultyDisk;
    use esker_graph::Direction;

    use super::*;
    use crate::graph::bounded::headed::heads_directory;
    use crate::layer::{DictionaryFiles, SectionColumn};
    use crate::tiles::TileFiles;

    fn list(disk: &FaultyDisk, directory: &str) -> Vec<String> {
        disk.list(Path::new(directory)).unwrap().into_iter().map(|entry| entry.name).collect()
    }

    #[test]
    fn the_names_of_columns_are_known() {
        use SectionColumn::*;
        let layer = Path::new("7");
        let lists = [Offsets, Targets, Groups, Sizes, Lists, Blocks, Property(12), Born];
        let fragments = [Vertices, Degrees, Previous];
        let dead = [DeadVertices, DeadOffsets, DeadTargets, DeadCodes];
        let past = [PastVertices, PastOffsets, PastTargets, PastBorn, PastDied, PastProperty(0)];
        let columns = lists.into_iter().chain(fragments).chain(dead).chain(past);
        let mut paths: Vec<PathBuf> = columns
            .flat_map(|column| [Direction::Out, Direction::In].map(|side| column.path(layer, side)))
            .collect();
        let DictionaryFiles { texts, ends, order } = DictionaryFiles::in_layer(layer, 3);
        let TileFiles { data, directory } = TileFiles::in_layer(layer);
        let heads = heads_directory(layer);
        paths.extend([texts, ends, order, data, archive_path(&directory), archive_path(&heads)]);
        let is_own = |name: &str| LAYER.files.iter().any(|pattern| is_like(name, pattern));
        for path in paths {
            assert!(is_own(path.file_name().unwrap().to_str().unwrap()), "{}", path.display());
        }
        let directories = [directory, heads].map(|path| path.file_name().unwrap().to_owned());
        let known = |name: &std::ffi::OsString| LAYER.directories.iter().any(|(known, _)| name == known);
        assert!(directories.iter().all(known));
    }

    #[test]
    fn files_of_a_layer_go_and_others_stay() {
        let disk = FaultyDisk::new(1);
        for directory in ["layers", "layers/7", "layers/7/tiles", "layers/7/heads", "layers/7/versions"] {
            disk.create_directory(Path::new(directory)).unwrap();
        }
        for (name, length) in [
            ("7.columns", 1),
            ("7/out.property.12", 10),
            ("7/tiles.columns", 100),
            ("7/tiles/property.0", 1000),
            ("7/heads/out.sums", 10_000),
            ("7/tiles/notes.txt", 1),
            ("7/out.property.012", 1),
            ("7/out.targets.bak", 1),
        ] {
            disk.write(&Path::new("layers").join(name), &vec![1; length]).unwrap();
        }
        let directory = Path::new("layers/7");
        let (foreign, own_bytes) = DirectoryKind::Layer.inspect(&disk, directory).unwrap();
        let names = ["out.property.012", "out.targets.bak", "tiles/notes.txt", "versions"];
        assert_eq!(foreign, names.map(|name| directory.join(name)));
        assert_eq!(own_bytes, Some(11_110));
        DirectoryKind::Layer.remove(&disk, directory).unwrap();
        assert_eq!(list(&disk, "layers"), ["7"]);
        assert_eq!(list(&disk, "layers/7"), ["out.property.012", "out.targets.bak", "tiles", "versions"]);
        assert_eq!(list(&disk, "layers/7/tiles"), ["notes.txt"]);
        assert_eq!(DirectoryKind::Layer.inspect(&disk, directory).unwrap().1, None);
        for name in ["out.property.012", "out.targets.bak", "tiles/notes.txt"] {
            disk.remove_file(&directory.join(name)).unwrap();
        }
        disk.remove_directory(&directory.join("versions")).unwrap();
        DirectoryKind::Layer.remove(&disk, directory).unwrap();
        assert_eq!(list(&disk, "layers"), [""; 0]);
    }
}

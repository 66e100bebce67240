//! Archives: the files of one directory, with the small ones stored together in one file. Layout and reading.
//!
//! A layer has about ten columns, and most layers are small: with one file per column, freezing would spend
//! its time in syncs. So an [`ArchiveWriter`](crate::ArchiveWriter) writes the files of a directory, once. It
//! gathers files of at most [`SMALL_BYTES`] in memory and stores them, one after another, in the file
//! `<directory>.columns`, with one write and one sync. It writes larger files into the directory, which
//! exists only if there are any. The size of a file alone decides where it is stored. An [`Archive`] opens
//! all files by the same paths, and maps them when it is opened: they stay readable if somebody removes them.
//! Errors name the file on the disk and the offset in it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::file::field::{FieldInput, FieldValue, layout};
use crate::file::header::read_header_page;
use crate::file::size::PAGE_BYTES;
use crate::io::{Disk, File, Files, Map, MappedFile};

pub(crate) const ARCHIVE_MAGIC: [u8; 8] = *b"Eskerarc";
/// Files of at most this size are stored together. Memory of an [`ArchiveWriter`](crate::ArchiveWriter): at
/// most as much for each file.
pub(crate) const SMALL_BYTES: u64 = 1 << 20;
/// Alignment of the files in an archive.
pub(crate) const ALIGNMENT: usize = 64;

layout! {
    /// The start of `<directory>.columns`. Zeros follow up to byte 4092, which begins the CRC-32C of all
    /// bytes before it.
    pub(crate) struct ArchiveHeader {
        /// `Eskerarc`.
        magic: [u8; 8],
        /// Version of the format.
        format_version: u32,
        /// Offset of the list of files, which extends to the end of the file: one `ArchiveEntry` each,
        /// ascending by name.
        list_offset: u64,
        /// Bytes of the list.
        list_bytes: u64,
        /// CRC-32C of the list.
        list_checksum: u32,
        /// CRC-32C of the name of the directory, which detects an archive that was put in the place of
        /// another.
        name_checksum: u32,
    }
}

layout! {
    /// A file of a directory.
    pub(crate) struct ArchiveEntry {
        /// Its name.
        name: String,
        /// Its offset in `<directory>.columns`: the first multiple of 64 after the previous file, with zeros
        /// between. 0: the file is in the directory.
        offset: u64,
        /// Its size.
        bytes: u64,
    }
}

/// The checksum of the name of a directory.
pub(crate) fn name_checksum(directory: &Path) -> u32 {
    crc32c::crc32c(directory.file_name().unwrap_or_default().as_encoded_bytes())
}

/// The path of the file that holds the small files of a directory.
pub fn archive_path(directory: &Path) -> PathBuf {
    let mut name = directory.as_os_str().to_owned();
    name.push(".columns");
    PathBuf::from(name)
}

/// The name of the directory, given that name or the name of its archive.
pub fn archived_name(name: &str) -> &str {
    name.strip_suffix(".columns").unwrap_or(name)
}

/// The error for an operation that an archive does not support.
pub(crate) fn refused(path: &Path, what: &'static str) -> Error {
    Error::io(what, path)(std::io::ErrorKind::Unsupported.into())
}

/// The name of a file, if it is directly in `directory`.
pub(crate) fn name_in<'p>(directory: &Path, path: &'p Path) -> Option<&'p str> {
    if path.parent() == Some(directory) { path.file_name()?.to_str() } else { None }
}

/// The files of a directory, mapped.
#[derive(Debug)]
pub struct Archive {
    directory: PathBuf,
    path: PathBuf,
    /// By name.
    files: BTreeMap<String, Map>,
}

impl Archive {
    /// Reads the list of files of `directory`, and maps all of them.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Corrupt`]; [`Error::Invalid`] for an unsupported format version.
    pub fn open(disk: &Arc<dyn Disk>, directory: &Path) -> Result<Self> {
        let (archive, missing) = Self::open_left(disk, directory)?;
        missing.into_iter().next().map_or(Ok(archive), |(_, problem)| Err(problem))
    }

    /// As [`Archive::open`], without the files in the directory that are missing or have another length.
    /// Returns their paths too, and what is wrong. For a recovery.
    ///
    /// # Errors
    /// As [`Archive::open`].
    pub fn open_left(disk: &Arc<dyn Disk>, directory: &Path) -> Result<(Self, Vec<(PathBuf, Error)>)> {
        let path = archive_path(directory);
        let archive = disk.open(&path)?.map()?;
        let (mut files, mut missing) = (BTreeMap::new(), Vec::new());
        for (name, (offset, bytes)) in read_list(&archive, directory)? {
            let map = if offset == 0 {
                let large = directory.join(&name);
                match large_file(disk.as_ref(), &large, bytes) {
                    Ok(map) => map,
                    Err(problem) => {
                        missing.push((large, problem));
                        continue;
                    }
                }
            } else {
                let part = archive.part(offset as usize..(offset + bytes) as usize);
                part.ok_or_else(|| Error::corrupt(&path, offset, "the archive ends within this file"))?
            };
            files.insert(name, map);
        }
        Ok((Self { directory: directory.to_owned(), path, files }, missing))
    }

    /// The directory of the files.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The paths of all files, as [`Files::open`] takes them.
    pub fn paths(&self) -> impl Iterator<Item = PathBuf> {
        self.files.keys().map(|name| self.directory.join(name))
    }
}

/// Maps a file that is not in the archive.
fn large_file(disk: &dyn Disk, path: &Path, bytes: u64) -> Result<Map> {
    let map = disk.open(path)?.map()?;
    let found = map.len() as u64;
    if found == bytes {
        return Ok(map);
    }
    Err(Error::corrupt(
        path,
        found.min(bytes),
        format!("the file has {}, not {bytes}", esker_graph::counted(found, "byte", "bytes")),
    ))
}

/// The list of an archive's files. Also checks the bytes between the files, so that every byte is checked.
fn read_list(map: &Map, directory: &Path) -> Result<BTreeMap<String, (u64, u64)>> {
    let path = map.path();
    let header: ArchiveHeader =
        read_header_page(path, map.load(0..map.len().min(PAGE_BYTES))?, ARCHIVE_MAGIC)?;
    if header.name_checksum != name_checksum(directory) {
        return Err(Error::corrupt(path, 0, "it was written under another name"));
    }
    let list_offset = header.list_offset;
    let ends = header.list_offset.checked_add(header.list_bytes) == Some(map.len() as u64);
    let list = usize::try_from(list_offset).ok().filter(|&start| ends && start >= PAGE_BYTES);
    let Some(start) = list.filter(|&start| start <= map.len()) else {
        return Err(Error::corrupt(
            path,
            map.len() as u64,
            "the file does not end at the end of its list of files",
        ));
    };
    let list = map.load(start..map.len())?;
    if crc32c::crc32c(list) != header.list_checksum {
        return Err(Error::corrupt(path, list_offset, "the checksum of its list of files does not match"));
    }
    let mut entries = BTreeMap::new();
    let mut input = FieldInput::new(path, list, list_offset);
    let mut end = PAGE_BYTES as u64;
    while input.remaining() > 0 {
        let ArchiveEntry { name, offset, bytes } = ArchiveEntry::take(&mut input)?;
        if offset > 0 {
            let after = offset.checked_add(bytes).filter(|&after| after <= list_offset);
            let follows = offset == end.next_multiple_of(ALIGNMENT as u64);
            let Some(after) = after.filter(|_| follows) else {
                return Err(input.corrupt(format!("the offset or size of the file {name:?} is wrong")));
            };
            if map.load(end as usize..offset as usize)?.iter().any(|&byte| byte != 0) {
                return Err(Error::corrupt(path, end, "the bytes between two files are not zero"));
            }
            end = after;
        }
        if entries.insert(name, (offset, bytes)).is_some() {
            return Err(input.corrupt("a file is listed twice"));
        }
    }
    if end != list_offset {
        return Err(Error::corrupt(path, end, "there are bytes after the last file"));
    }
    Ok(entries)
}

impl Files for Archive {
    fn create(&self, path: &Path) -> Result<Arc<dyn File>> {
        Err(refused(path, "create"))
    }

    fn open(&self, path: &Path) -> Result<Arc<dyn File>> {
        let map = name_in(&self.directory, path).and_then(|name| self.files.get(name));
        match map {
            Some(map) => Ok(Arc::new(MappedFile(map.clone()))),
            None => Err(Error::corrupt(&self.path, 0, format!("its list of files lacks {}", path.display()))),
        }
    }
}

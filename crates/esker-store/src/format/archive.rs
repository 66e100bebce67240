//! Archives: the files of one directory, with the small ones stored together in one file.
//!
//! A layer has about ten columns, and most layers are small: with one file per column, freezing would spend its time in syncs.
//! So an [`ArchiveWriter`] writes the files of a directory, once. It gathers files of at most [`SMALL_BYTES`] in memory and stores
//! them, one after another, in the file `<directory>.columns`, with one write and one sync. It writes larger files into the
//! directory, which exists only if there are any. The size of a file alone decides where it is stored. An [`Archive`] opens
//! all files by the same paths. Errors name the file on the disk and the offset in it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::field::{Input, Value, layout};
use super::header::{header_page, read_header_page};
use super::size::{FORMAT_VERSION, PAGE_BYTES};
use crate::error::{Error, Result};
use crate::io::{Disk, File, Files, Map};
use crate::memory::reserve;

const ARCHIVE_MAGIC: [u8; 8] = *b"ESKERarc";
/// Files of at most this size are stored together. Memory of an [`ArchiveWriter`]: at most as much for each file.
pub const SMALL_BYTES: u64 = 1 << 20;
/// Alignment of the files in an archive.
const ALIGNMENT: usize = 64;

layout! {
    /// The start of `<directory>.columns`. Zeros follow up to byte 4092, which begins the CRC-32C of all bytes before it.
    pub struct ArchiveHeader {
        /// `ESKERarc`.
        magic: [u8; 8],
        /// Version of the format.
        format_version: u32,
        /// Offset of the list of files, which extends to the end of the file: one `ArchiveEntry` each, ascending by name.
        list_offset: u64,
        /// Bytes of the list.
        list_bytes: u64,
        /// CRC-32C of the list.
        list_checksum: u32,
    }
}

layout! {
    /// A file of a directory.
    pub struct ArchiveEntry {
        /// Its name.
        name: String,
        /// Its offset in `<directory>.columns`: the first multiple of 64 after the previous file, with zeros between. 0: the file is in the directory.
        offset: u64,
        /// Its size.
        bytes: u64,
    }
}

/// The path of the file that holds the small files of a directory.
fn archive_path(directory: &Path) -> PathBuf {
    let mut name = directory.as_os_str().to_owned();
    name.push(".columns");
    PathBuf::from(name)
}

/// The name of the directory, given that name or the name of its archive.
pub fn archived_name(name: &str) -> &str {
    name.strip_suffix(".columns").unwrap_or(name)
}

/// Removes the archive and the directory, if they exist.
///
/// # Errors
/// [`Error::Io`].
pub fn remove_archive(disk: &dyn Disk, directory: &Path) -> Result<()> {
    let path = archive_path(directory);
    if disk.look(&path)?.is_some() {
        disk.remove_file(&path)?;
    }
    match disk.look(directory)? {
        Some(_) => disk.remove_directory(directory),
        None => Ok(()),
    }
}

/// Writes the files of a directory that does not exist yet, in a parent that does. [`Archive`] can open them after
/// [`ArchiveWriter::finish`].
#[derive(Debug)]
pub struct ArchiveWriter {
    disk: Arc<dyn Disk>,
    directory: PathBuf,
    /// By name.
    members: Mutex<BTreeMap<String, Arc<Member>>>,
    /// Whether the directory exists.
    is_made: Arc<Mutex<bool>>,
}

/// A file being written.
#[derive(Debug)]
struct Member {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    is_made: Arc<Mutex<bool>>,
    content: Mutex<MemberContent>,
}

#[derive(Debug)]
enum MemberContent {
    Memory(Vec<u8>),
    File(Arc<dyn File>),
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn refused(path: &Path, what: &'static str) -> Error {
    Error::io(what, path)(std::io::ErrorKind::Unsupported.into())
}

impl ArchiveWriter {
    /// Writes files in `directory`.
    pub fn new(disk: &Arc<dyn Disk>, directory: &Path) -> Self {
        let (disk, directory) = (Arc::clone(disk), directory.to_owned());
        Self { disk, directory, members: Mutex::default(), is_made: Arc::default() }
    }

    /// The directory of the files.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Writes and syncs the small files, and syncs the directory; the writer of each large file has synced it. All files are durable once the
    /// caller has synced the parent of the directory. Writes nothing if there are no files.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn finish(&self) -> Result<()> {
        let members = std::mem::take(&mut *locked(&self.members));
        if members.is_empty() {
            return Ok(());
        }
        let (mut content, mut list) = (vec![0; PAGE_BYTES], Vec::new());
        for (name, member) in members {
            let (offset, bytes) = match &mut *locked(&member.content) {
                MemberContent::File(file) => (0, file.len()?),
                MemberContent::Memory(bytes) => {
                    reserve(&mut content, bytes.len() + ALIGNMENT)?;
                    content.resize(content.len().next_multiple_of(ALIGNMENT), 0);
                    let offset = content.len() as u64;
                    content.append(bytes);
                    (offset, content.len() as u64 - offset)
                }
            };
            ArchiveEntry { name, offset, bytes }.put(&mut list);
        }
        let header = ArchiveHeader {
            magic: ARCHIVE_MAGIC,
            format_version: FORMAT_VERSION,
            list_offset: content.len() as u64,
            list_bytes: list.len() as u64,
            list_checksum: crc32c::crc32c(&list),
        };
        content[..PAGE_BYTES].copy_from_slice(&header_page(&header));
        reserve(&mut content, list.len())?;
        content.append(&mut list);
        if *locked(&self.is_made) {
            self.disk.sync_directory(&self.directory)?;
        }
        self.disk.write(&archive_path(&self.directory), &content)
    }
}

impl Files for ArchiveWriter {
    fn create(&self, path: &Path) -> Result<Arc<dyn File>> {
        let name = name_in(&self.directory, path).ok_or_else(|| refused(path, "create"))?;
        let member = Arc::new(Member {
            disk: Arc::clone(&self.disk),
            path: path.to_owned(),
            is_made: Arc::clone(&self.is_made),
            content: Mutex::new(MemberContent::Memory(Vec::new())),
        });
        match locked(&self.members).insert(name.to_owned(), Arc::clone(&member)) {
            None => Ok(Arc::new(MemberFile(member))),
            Some(_) => Err(Error::io("create", path)(std::io::ErrorKind::AlreadyExists.into())),
        }
    }

    fn open(&self, path: &Path) -> Result<Arc<dyn File>> {
        Err(refused(path, "open"))
    }
}

/// The name of a file, if it is directly in `directory`.
fn name_in<'p>(directory: &Path, path: &'p Path) -> Option<&'p str> {
    if path.parent() == Some(directory) { path.file_name()?.to_str() } else { None }
}

/// A file open for writing; it cannot be read.
#[derive(Debug)]
struct MemberFile(Arc<Member>);

impl Member {
    /// The file on the disk. Creates it and writes the content from memory to it if necessary.
    fn move_to_disk(&self, content: &mut MemberContent) -> Result<Arc<dyn File>> {
        let bytes = match content {
            MemberContent::File(file) => return Ok(Arc::clone(file)),
            MemberContent::Memory(bytes) => std::mem::take(bytes),
        };
        {
            let mut is_made = locked(&self.is_made);
            if !*is_made {
                self.disk.create_directory(self.path.parent().unwrap_or(Path::new(".")))?;
                *is_made = true;
            }
        }
        let file = self.disk.create(&self.path)?;
        file.write_at(&bytes, 0)?;
        *content = MemberContent::File(Arc::clone(&file));
        Ok(file)
    }
}

impl File for MemberFile {
    fn path(&self) -> &Path {
        &self.0.path
    }

    fn len(&self) -> Result<u64> {
        match &*locked(&self.0.content) {
            MemberContent::Memory(bytes) => Ok(bytes.len() as u64),
            MemberContent::File(file) => file.len(),
        }
    }

    fn read_at(&self, _buffer: &mut [u8], _offset: u64) -> Result<usize> {
        Err(refused(&self.0.path, "read"))
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> Result<()> {
        let mut content = locked(&self.0.content);
        let end = offset.saturating_add(bytes.len() as u64);
        if let MemberContent::Memory(memory) = &mut *content
            && end <= SMALL_BYTES
        {
            let range = offset as usize..end as usize;
            if memory.len() < range.end {
                let more = range.end - memory.len();
                reserve(memory, more)?;
                memory.resize(range.end, 0);
            }
            memory[range].copy_from_slice(bytes);
            return Ok(());
        }
        let file = self.0.move_to_disk(&mut content)?;
        // Release the lock: several threads may write to a large file at once.
        drop(content);
        file.write_at(bytes, offset)
    }

    fn set_length(&self, _bytes: u64) -> Result<()> {
        Err(refused(&self.0.path, "set the length of"))
    }

    fn sync(&self) -> Result<()> {
        match &*locked(&self.0.content) {
            MemberContent::Memory(_) => Ok(()),
            MemberContent::File(file) => file.sync(),
        }
    }

    fn map(&self) -> Result<Map> {
        Err(refused(&self.0.path, "map"))
    }
}

/// The files of a directory, open for reading.
#[derive(Debug)]
pub struct Archive {
    disk: Arc<dyn Disk>,
    directory: PathBuf,
    path: PathBuf,
    map: Map,
    /// Offset and size by name.
    entries: BTreeMap<String, (u64, u64)>,
}

impl Archive {
    /// Reads the list of files of `directory`.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Corrupt`]; [`Error::Invalid`] for an unsupported format version.
    pub fn open(disk: &Arc<dyn Disk>, directory: &Path) -> Result<Self> {
        let path = archive_path(directory);
        let map = disk.open(&path)?.map()?;
        let entries = read_list(&path, &map)?;
        Ok(Self { disk: Arc::clone(disk), directory: directory.to_owned(), path, map, entries })
    }

    /// The paths of all files, as [`Files::open`] takes them.
    pub fn paths(&self) -> impl Iterator<Item = PathBuf> {
        self.entries.keys().map(|name| self.directory.join(name))
    }
}

/// The list of an archive's files. Also checks the bytes between the files, so that every byte is checked.
fn read_list(path: &Path, map: &Map) -> Result<BTreeMap<String, (u64, u64)>> {
    let header: ArchiveHeader = read_header_page(path, map, ARCHIVE_MAGIC)?;
    let list_offset = header.list_offset;
    let ends = header.list_offset.checked_add(header.list_bytes) == Some(map.len() as u64);
    let list = usize::try_from(list_offset).ok().filter(|&start| ends && start >= PAGE_BYTES);
    let Some(list) = list.and_then(|start| map.get(start..)) else {
        return Err(Error::corrupt(
            path,
            map.len() as u64,
            "the file does not end at the end of its list of files",
        ));
    };
    if crc32c::crc32c(list) != header.list_checksum {
        return Err(Error::corrupt(path, list_offset, "the checksum of its list of files does not match"));
    }
    let mut entries = BTreeMap::new();
    let mut input = Input::new(path, list, list_offset);
    let mut end = PAGE_BYTES as u64;
    while input.remaining() > 0 {
        let ArchiveEntry { name, offset, bytes } = ArchiveEntry::take(&mut input)?;
        if offset > 0 {
            let after = offset.checked_add(bytes).filter(|&after| after <= list_offset);
            let follows = offset == end.next_multiple_of(ALIGNMENT as u64);
            let Some(after) = after.filter(|_| follows) else {
                return Err(input.corrupt(format!("the offset or size of the file {name:?} is wrong")));
            };
            if map[end as usize..offset as usize].iter().any(|&byte| byte != 0) {
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
        let entry = name_in(&self.directory, path).and_then(|name| self.entries.get(name));
        match entry {
            None => Err(Error::corrupt(&self.path, 0, format!("its list of files lacks {}", path.display()))),
            Some((0, bytes)) => {
                let file = self.disk.open(path)?;
                match file.len()? {
                    found if found == *bytes => Ok(file),
                    found => Err(Error::corrupt(
                        path,
                        found.min(*bytes),
                        format!("the file has {found} bytes, not {bytes}"),
                    )),
                }
            }
            Some(&(offset, bytes)) => {
                let part = self.map.part(offset as usize..(offset + bytes) as usize);
                let lost = || Error::corrupt(&self.path, offset, "the archive ends within this file");
                Ok(Arc::new(ArchivedFile { path: self.path.clone(), map: part.ok_or_else(lost)? }))
            }
        }
    }
}

/// A small file in an archive. Its path is the archive's.
#[derive(Debug)]
struct ArchivedFile {
    path: PathBuf,
    map: Map,
}

impl File for ArchivedFile {
    fn path(&self) -> &Path {
        &self.path
    }

    fn len(&self) -> Result<u64> {
        Ok(self.map.len() as u64)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize> {
        let rest = usize::try_from(offset).ok().and_then(|offset| self.map.get(offset..)).unwrap_or_default();
        let bytes = buffer.len().min(rest.len());
        buffer[..bytes].copy_from_slice(&rest[..bytes]);
        Ok(bytes)
    }

    fn write_at(&self, _bytes: &[u8], _offset: u64) -> Result<()> {
        Err(refused(&self.path, "write to"))
    }

    fn set_length(&self, _bytes: u64) -> Result<()> {
        Err(refused(&self.path, "set the length of"))
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }

    fn map(&self) -> Result<Map> {
        Ok(self.map.clone())
    }
}

/// The whole content of a file.
#[cfg(test)]
pub(crate) fn read_all_of(file: &dyn File) -> Vec<u8> {
    let mut content = vec![0; file.len().unwrap() as usize];
    file.read_exact_at(&mut content, 0).unwrap();
    content
}

/// Rewrites the files of a directory after `change` has edited them.
#[cfg(test)]
pub(crate) fn rewrite_archive(disk: &Arc<dyn Disk>, directory: &Path, change: impl Fn(&str, &mut Vec<u8>)) {
    let archive = Archive::open(disk, directory).unwrap();
    let mut files: Vec<(PathBuf, Vec<u8>)> = archive
        .paths()
        .map(|path| (path.clone(), read_all_of(archive.open(&path).unwrap().as_ref())))
        .collect();
    drop(archive);
    remove_archive(disk.as_ref(), directory).unwrap();
    let writer = ArchiveWriter::new(disk, directory);
    for (path, content) in &mut files {
        change(name_in(directory, path).unwrap(), content);
        writer.create(path).unwrap().write_at(content, 0).unwrap();
    }
    writer.finish().unwrap();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::{Faults, FaultyDisk};

    const DIRECTORY: &str = "layers/7";

    fn disk() -> (FaultyDisk, Arc<dyn Disk>) {
        let disk = FaultyDisk::new(3);
        disk.create_directory(Path::new("layers")).unwrap();
        (disk.clone(), Arc::new(disk))
    }

    fn path(name: &str) -> PathBuf {
        Path::new(DIRECTORY).join(name)
    }

    fn content(bytes: u64, salt: u8) -> Vec<u8> {
        (0..bytes).map(|at| (at % 251) as u8 ^ salt).collect()
    }

    /// Writes files in pieces, the last piece first.
    fn write(disk: &Arc<dyn Disk>, files: &[(&str, u64)]) {
        let archive = ArchiveWriter::new(disk, Path::new(DIRECTORY));
        for (&(name, bytes), salt) in files.iter().zip(0..) {
            let file = archive.create(&path(name)).unwrap();
            let content = content(bytes, salt);
            let pieces: Vec<&[u8]> = content.chunks(300_000).collect();
            for (index, piece) in pieces.iter().enumerate().rev() {
                file.write_at(piece, index as u64 * 300_000).unwrap();
            }
            file.sync().unwrap();
            assert_eq!(file.len().unwrap(), bytes);
        }
        archive.finish().unwrap();
    }

    #[test]
    fn small_files_are_stored_together_and_large_ones_in_the_directory() {
        let files =
            [("a", 5), ("empty", 0), ("full", SMALL_BYTES), ("larger", SMALL_BYTES + 1), ("z", 3_000_000)];
        let (faulty, disk) = disk();
        write(&disk, &files);
        let names = |directory: &str| -> Vec<String> {
            disk.list(Path::new(directory)).unwrap().into_iter().map(|entry| entry.name).collect()
        };
        assert_eq!(names("layers"), ["7", "7.columns"]);
        assert_eq!(names(DIRECTORY), ["larger", "z"]);
        let archive = Archive::open(&disk, Path::new(DIRECTORY)).unwrap();
        assert!(archive.paths().eq(files.iter().map(|file| path(file.0))));
        for (&(name, bytes), salt) in files.iter().zip(0..) {
            let file = archive.open(&path(name)).unwrap();
            assert!(read_all_of(file.as_ref()) == content(bytes, salt), "{name}");
            assert!(*file.map().unwrap() == content(bytes, salt), "{name}");
            assert!(file.map().unwrap().start().is_multiple_of(ALIGNMENT));
        }
        for missing in [path("b"), PathBuf::from("layers/8/a"), PathBuf::from("a")] {
            let message = archive.open(&missing).unwrap_err().to_string();
            let expected = "layers/7.columns is damaged at byte 0: its list of files lacks ";
            assert!(message.starts_with(expected), "{message}");
        }
        faulty.truncate(&path("z"), 2_999_999).unwrap();
        let message = archive.open(&path("z")).unwrap_err().to_string();
        let expected = "layers/7/z is damaged at byte 2999999: the file has 2999999 bytes, not 3000000";
        assert!(message.starts_with(expected), "{message}");
        remove_archive(disk.as_ref(), Path::new(DIRECTORY)).unwrap();
        assert_eq!(names("layers"), [""; 0]);
        remove_archive(disk.as_ref(), Path::new(DIRECTORY)).unwrap();
    }

    #[test]
    fn small_files_alone_take_one_write_and_one_sync() {
        let (faulty, disk) = disk();
        faulty.set_faults(Faults::default());
        write(&disk, &[("a", 70_000), ("b", 1), ("c", 300_001)]);
        assert_eq!(faulty.operations(), 3, "expected: create, write, sync");
        let empty = ArchiveWriter::new(&disk, Path::new("layers/8"));
        empty.finish().unwrap();
        assert_eq!(disk.list(Path::new("layers")).unwrap().len(), 1);
    }

    #[test]
    fn names_must_be_unique_and_in_the_directory() {
        let (_, disk) = disk();
        let archive = ArchiveWriter::new(&disk, Path::new(DIRECTORY));
        archive.create(&path("a")).unwrap();
        assert!(archive.create(&path("a")).is_err());
        assert!(archive.create(Path::new("layers/a")).is_err());
        assert!(archive.open(&path("a")).is_err());
    }

    #[test]
    fn opening_checks_the_length_and_every_byte_outside_of_files() {
        let (faulty, disk) = disk();
        write(&disk, &[("a", 5), ("b", 0), ("c", 100), ("d", SMALL_BYTES + 1)]);
        let archive = archive_path(Path::new(DIRECTORY));
        let bytes = disk.look(&archive).unwrap().unwrap().bytes;
        let (a, c) = (PAGE_BYTES as u64, PAGE_BYTES as u64 + ALIGNMENT as u64);
        let open_error = || Archive::open(&disk, Path::new(DIRECTORY)).map(drop).unwrap_err();
        let expect = |error: Error, what: &str| match error {
            Error::Corrupt { path, offset, .. } => assert!(path == archive && offset <= bytes, "{what}"),
            other => panic!("{what}: {other}"),
        };
        for offset in (0..bytes).filter(|at| !(a..a + 5).contains(at) && !(c..c + 100).contains(at)) {
            faulty.flip(&archive, offset, (offset % 8) as u8).unwrap();
            expect(open_error(), &format!("byte {offset}"));
            faulty.flip(&archive, offset, (offset % 8) as u8).unwrap();
        }
        Archive::open(&disk, Path::new(DIRECTORY)).unwrap();
        for length in (0..bytes).rev() {
            faulty.truncate(&archive, length).unwrap();
            expect(open_error(), &format!("length {length}"));
        }
    }
}

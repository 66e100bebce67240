//! Writing an archive.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result};
use crate::file::archive::{
    ALIGNMENT, ARCHIVE_MAGIC, ArchiveEntry, ArchiveHeader, SMALL_BYTES, archive_path, name_checksum, name_in,
    refused,
};
use crate::file::field::FieldValue;
use crate::file::header::header_page;
use crate::file::size::{FORMAT_VERSION, PAGE_BYTES};
use crate::io::{Disk, File, FileId, Files, Map};
use crate::memory::reserve;

/// What all small files of an archive may take in memory if there are many.
const GATHERED_BYTES: u64 = 16 << 20;
/// Size of the writes of small files.
const JOINED_BYTES: usize = 4 << 20;

/// Writes the files of a directory that does not exist yet, in a parent that does.
/// [`Archive`](crate::Archive) can open them after [`ArchiveWriter::finish`].
#[derive(Debug)]
pub struct ArchiveWriter {
    disk: Arc<dyn Disk>,
    directory: PathBuf,
    /// Files that are no larger are gathered in memory.
    small_bytes: u64,
    gathered: Arc<GatheredFiles>,
    /// By name.
    members: Mutex<BTreeMap<String, Arc<Member>>>,
    /// Whether the directory exists.
    is_made: Arc<Mutex<bool>>,
}

/// What the small files of an archive take in memory together, and may take.
#[derive(Debug)]
struct GatheredFiles {
    bytes: AtomicU64,
    bytes_max: u64,
}

impl GatheredFiles {
    fn new(bytes_max: u64) -> Arc<Self> {
        Arc::new(Self { bytes: AtomicU64::new(0), bytes_max })
    }

    /// Counts more bytes if they fit.
    fn takes(&self, more: u64) -> bool {
        let fits = |bytes: u64| bytes.checked_add(more).filter(|&sum| sum <= self.bytes_max);
        self.bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_ok()
    }

    fn release(&self, bytes: u64) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// A file being written.
#[derive(Debug)]
struct Member {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    small_bytes: u64,
    gathered: Arc<GatheredFiles>,
    is_made: Arc<Mutex<bool>>,
    content: Mutex<MemberContent>,
}

#[derive(Debug)]
enum MemberContent {
    Memory(Vec<u8>),
    File(Arc<dyn File>),
}

impl ArchiveWriter {
    /// Writes files in `directory`.
    pub fn new(disk: &Arc<dyn Disk>, directory: &Path) -> Self {
        let (disk, directory) = (Arc::clone(disk), directory.to_owned());
        let (small_bytes, gathered) = (SMALL_BYTES, GatheredFiles::new(u64::MAX));
        Self { disk, directory, small_bytes, gathered, members: Mutex::default(), is_made: Arc::default() }
    }

    /// Prepares for `count` files: if there are many, fewer of them are gathered in memory, and the others
    /// are files of their own. To be called before the first file is made.
    pub fn expect_files(&mut self, count: usize) {
        self.small_bytes = (GATHERED_BYTES / count.max(1) as u64).clamp(PAGE_BYTES as u64, SMALL_BYTES);
    }

    /// Gathers at most `bytes` of small files in memory; those that would exceed it are files of their own.
    /// To be called before the first file is made. Where several threads write, their order then decides
    /// which files these are.
    pub fn limit_gathered(&mut self, bytes: u64) {
        self.gathered = GatheredFiles::new(bytes);
    }

    /// The directory of the files.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Writes and syncs the small files, and syncs the directory; the writer of each large file has synced
    /// it. All files are durable once the caller has synced the parent of the directory. Writes nothing if
    /// there are no files.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn finish(&self) -> Result<()> {
        let members = std::mem::take(&mut *self.members.lock());
        if members.is_empty() {
            return Ok(());
        }
        if *self.is_made.lock() {
            self.disk.sync_directory(&self.directory)?;
        }
        let (mut joined, mut list) = (JoinedFiles::create(self)?, Vec::new());
        for (name, member) in members {
            let (offset, bytes) = match &mut *member.content.lock() {
                MemberContent::File(file) => (0, file.len()?),
                MemberContent::Memory(bytes) => joined.append(&std::mem::take(bytes))?,
            };
            ArchiveEntry { name, offset, bytes }.put(&mut list);
        }
        joined.finish(&list, name_checksum(&self.directory))
    }
}

/// The file of the small files, while it is written: in one write if they are few.
struct JoinedFiles {
    file: Arc<dyn File>,
    /// Bytes in the file.
    written: u64,
    /// What follows them.
    content: Vec<u8>,
}

impl JoinedFiles {
    fn create(archive: &ArchiveWriter) -> Result<Self> {
        let file = archive.disk.create(&archive_path(&archive.directory))?;
        Ok(Self { file, written: 0, content: vec![0; PAGE_BYTES] })
    }

    /// Appends a file; returns its offset and its size.
    fn append(&mut self, bytes: &[u8]) -> Result<(u64, u64)> {
        reserve(&mut self.content, bytes.len() + ALIGNMENT)?;
        self.content.resize(self.content.len().next_multiple_of(ALIGNMENT), 0);
        let offset = self.written + self.content.len() as u64;
        self.content.extend_from_slice(bytes);
        if self.content.len() >= JOINED_BYTES {
            // Whole units of the alignment, so that offsets in `content` are aligned in the file.
            let whole = self.content.len() / ALIGNMENT * ALIGNMENT;
            self.file.write_at(&self.content[..whole], self.written)?;
            self.written += whole as u64;
            self.content.drain(..whole);
        }
        Ok((offset, bytes.len() as u64))
    }

    /// Appends the list of files, writes the header, and syncs the file.
    fn finish(mut self, list: &[u8], name_checksum: u32) -> Result<()> {
        let header = ArchiveHeader {
            magic: ARCHIVE_MAGIC,
            format_version: FORMAT_VERSION,
            list_offset: self.written + self.content.len() as u64,
            list_bytes: list.len() as u64,
            list_checksum: crc32c::crc32c(list),
            name_checksum,
        };
        let header = header_page(&header);
        reserve(&mut self.content, list.len())?;
        self.content.extend_from_slice(list);
        match self.written {
            0 => self.content[..PAGE_BYTES].copy_from_slice(&header),
            _ => self.file.write_at(&header, 0)?,
        }
        self.file.write_at(&self.content, self.written)?;
        self.file.sync()
    }
}

impl Files for ArchiveWriter {
    fn create(&self, path: &Path) -> Result<Arc<dyn File>> {
        let name = name_in(&self.directory, path).ok_or_else(|| refused(path, "create"))?;
        let member = Arc::new(Member {
            disk: Arc::clone(&self.disk),
            path: path.to_owned(),
            small_bytes: self.small_bytes,
            gathered: Arc::clone(&self.gathered),
            is_made: Arc::clone(&self.is_made),
            content: Mutex::new(MemberContent::Memory(Vec::new())),
        });
        match self.members.lock().insert(name.to_owned(), Arc::clone(&member)) {
            None => Ok(Arc::new(MemberFile(member))),
            Some(_) => Err(Error::io("create", path)(std::io::ErrorKind::AlreadyExists.into())),
        }
    }

    fn open(&self, path: &Path) -> Result<Arc<dyn File>> {
        Err(refused(path, "open"))
    }
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
        self.gathered.release(bytes.len() as u64);
        {
            let mut is_made = self.is_made.lock();
            if !*is_made {
                let directory = self.path.parent().unwrap_or(Path::new("."));
                // It may exist, with what is not Esker's.
                if self.disk.look(directory)?.is_none() {
                    self.disk.create_directory(directory)?;
                }
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

    fn id(&self) -> Result<FileId> {
        Err(refused(&self.0.path, "identify"))
    }

    fn len(&self) -> Result<u64> {
        match &*self.0.content.lock() {
            MemberContent::Memory(bytes) => Ok(bytes.len() as u64),
            MemberContent::File(file) => file.len(),
        }
    }

    fn read_at(&self, _buffer: &mut [u8], _offset: u64) -> Result<usize> {
        Err(refused(&self.0.path, "read"))
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> Result<()> {
        let mut content = self.0.content.lock();
        let end = offset.saturating_add(bytes.len() as u64);
        if let MemberContent::Memory(memory) = &mut *content
            && end <= self.0.small_bytes
            && self.0.gathered.takes(end.saturating_sub(memory.len() as u64))
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
        match &*self.0.content.lock() {
            MemberContent::Memory(_) => Ok(()),
            MemberContent::File(file) => file.sync(),
        }
    }

    fn map(&self) -> Result<Map> {
        Err(refused(&self.0.path, "map"))
    }
}

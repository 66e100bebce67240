//! A disk in memory, for files that never outlive the process.
//!
//! A file takes its own size in memory, up to twice that for a moment while it grows. A [`Map`] shares the
//! bytes and copies nothing. Nothing survives the process, so syncs do nothing. To test durability, use
//! [`crate::io::FaultyDisk`].

use parking_lot::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::error::{Error, Result};
use crate::io::disk::{DirectoryEntry, Disk, File, Files, Lock, NamedFile, parent};
use crate::io::file_id::FileId;
use crate::io::map::{Map, Words};
use crate::io::simulated::names::{
    Names, check_exchange, check_rename, check_replace, is_root, last, list, named, refused, rename_all,
};

/// The device of all disks in memory.
const MEMORY_DEVICE: u64 = u64::MAX;

/// A disk in memory. Clones share it; its contents are freed with the last clone, open file and map.
#[derive(Debug, Clone, Default)]
pub struct MemoryDisk(Arc<RwLock<Names<MemoryInode>>>);

#[derive(Debug, Clone)]
enum MemoryInode {
    Directory,
    File(Arc<Content>),
}

/// The contents of a file, and its lock.
#[derive(Debug)]
struct Content {
    number: u64,
    words: RwLock<Arc<Words>>,
    is_locked: AtomicBool,
}

impl Default for Content {
    fn default() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        Self { number, words: RwLock::default(), is_locked: AtomicBool::new(false) }
    }
}

impl MemoryDisk {
    /// An empty disk.
    pub fn new() -> Self {
        Self::default()
    }

    /// Total bytes of all files.
    #[cfg(test)]
    pub(crate) fn used_bytes(&self) -> u64 {
        let files = |node: &MemoryInode| match node {
            MemoryInode::Directory => 0,
            MemoryInode::File(content) => content.read().len() as u64,
        };
        self.names().values().map(files).sum()
    }

    fn names(&self) -> RwLockReadGuard<'_, Names<MemoryInode>> {
        self.0.read()
    }

    fn names_to_change(&self) -> RwLockWriteGuard<'_, Names<MemoryInode>> {
        self.0.write()
    }

    fn find(&self, path: &Path, action: &'static str) -> Result<Arc<dyn File>> {
        match self.names().get(path) {
            Some(MemoryInode::File(content)) => Ok(handle(path, content)),
            Some(MemoryInode::Directory) => Err(refused(action, path, ErrorKind::IsADirectory)),
            None => Err(refused(action, path, ErrorKind::NotFound)),
        }
    }
}

fn handle(path: &Path, content: &Arc<Content>) -> Arc<dyn File> {
    Arc::new(MemoryFile { path: path.to_owned(), content: Arc::clone(content) })
}

fn is_directory(names: &Names<MemoryInode>, path: &Path) -> bool {
    is_root(path) || matches!(names.get(path), Some(MemoryInode::Directory))
}

fn add(names: &mut Names<MemoryInode>, path: &Path, node: MemoryInode) -> Result<()> {
    if names.contains_key(path) {
        return Err(refused("create", path, ErrorKind::AlreadyExists));
    }
    if !is_directory(names, &parent(path)) {
        return Err(refused("create", path, ErrorKind::NotFound));
    }
    names.insert(path.to_owned(), node);
    Ok(())
}

fn describe(path: &Path, node: &MemoryInode) -> DirectoryEntry {
    let (is_directory, bytes) = match node {
        MemoryInode::Directory => (true, 0),
        MemoryInode::File(content) => (false, content.read().len() as u64),
    };
    DirectoryEntry { name: last(path), is_directory, is_link: false, bytes, stored_bytes: bytes }
}

impl Files for MemoryDisk {
    fn create(&self, path: &Path) -> Result<Arc<dyn File>> {
        let content = Arc::new(Content::default());
        let file = handle(path, &content);
        add(&mut self.names_to_change(), path, MemoryInode::File(content))?;
        Ok(file)
    }

    fn open(&self, path: &Path) -> Result<Arc<dyn File>> {
        self.find(path, "open")
    }
}

impl Disk for MemoryDisk {
    fn open_for_writing(&self, path: &Path) -> Result<Arc<dyn File>> {
        self.find(path, "open for writing")
    }

    fn create_directory(&self, path: &Path) -> Result<()> {
        add(&mut self.names_to_change(), path, MemoryInode::Directory)
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        let mut names = self.names_to_change();
        check_rename(&names, from, to)?;
        rename_all(&mut names, &[(from, to)]);
        Ok(())
    }

    fn replace(&self, from: &Path, to: &Path) -> Result<()> {
        let mut names = self.names_to_change();
        check_replace(&names, from)?;
        names.remove(to);
        rename_all(&mut names, &[(from, to)]);
        Ok(())
    }

    fn exchange(&self, a: &Path, b: &Path) -> Result<()> {
        let mut names = self.names_to_change();
        check_exchange(&names, a, b)?;
        rename_all(&mut names, &[(a, b), (b, a)]);
        Ok(())
    }

    fn link(&self, from: &Path, to: &Path) -> Result<bool> {
        let mut names = self.names_to_change();
        let node = names.get(from).cloned().ok_or_else(|| refused("link", from, ErrorKind::NotFound))?;
        add(&mut names, to, node)?;
        Ok(true)
    }

    fn remove_file(&self, path: &Path) -> Result<()> {
        self.find(path, "remove")?;
        self.names_to_change().remove(path);
        Ok(())
    }

    fn remove_directory(&self, path: &Path) -> Result<()> {
        let mut names = self.names_to_change();
        if !is_directory(&names, path) {
            return Err(refused("remove", path, ErrorKind::NotFound));
        }
        names.retain(|name, _| !name.starts_with(path));
        Ok(())
    }

    fn list(&self, path: &Path) -> Result<Vec<DirectoryEntry>> {
        let names = self.names();
        if !is_directory(&names, path) {
            return Err(refused("list", path, ErrorKind::NotFound));
        }
        Ok(list(&names, path, describe))
    }

    fn look(&self, path: &Path) -> Result<Option<DirectoryEntry>> {
        Ok(self.names().get(path).map(|node| describe(path, node)))
    }

    fn identify(&self, path: &Path) -> Result<Option<NamedFile>> {
        Ok(named(&self.names(), path, |node| match node {
            MemoryInode::File(content) => Some(content.id()),
            MemoryInode::Directory => None,
        }))
    }

    fn sync_directory(&self, _path: &Path) -> Result<()> {
        Ok(())
    }

    fn try_lock(&self, path: &Path) -> Result<Option<Box<dyn Lock>>> {
        let mut names = self.names_to_change();
        if !names.contains_key(path) {
            add(&mut names, path, MemoryInode::File(Arc::default()))?;
        }
        match names.get(path) {
            Some(MemoryInode::File(content)) => Ok(lock(content)),
            _ => Err(refused("lock", path, ErrorKind::IsADirectory)),
        }
    }

    fn free_bytes(&self, _path: &Path) -> Result<u64> {
        Ok(u64::MAX)
    }
}

/// The exclusive lock on a file; `None` if it is taken.
fn lock(content: &Arc<Content>) -> Option<Box<dyn Lock>> {
    let is_taken = content.is_locked.swap(true, Ordering::AcqRel);
    (!is_taken).then(|| Box::new(MemoryLock(Arc::clone(content))) as Box<dyn Lock>)
}

impl Content {
    fn id(&self) -> FileId {
        FileId { device: MEMORY_DEVICE, inode: self.number }
    }

    fn read(&self) -> RwLockReadGuard<'_, Arc<Words>> {
        self.words.read()
    }

    /// Changes the bytes; existing maps keep the old ones.
    fn change(&self, change: impl FnOnce(&mut Words)) {
        change(Arc::make_mut(&mut self.words.write()));
    }
}

#[derive(Debug)]
struct MemoryFile {
    path: PathBuf,
    content: Arc<Content>,
}

impl MemoryFile {
    /// The end of `bytes` bytes from `offset` on; an error if it exceeds the address space.
    fn end(&self, offset: u64, bytes: usize) -> Result<usize> {
        let end = offset.checked_add(bytes as u64).and_then(|end| usize::try_from(end).ok());
        end.filter(|&end| end <= isize::MAX as usize)
            .ok_or_else(|| Error::io("write to", &self.path)(ErrorKind::FileTooLarge.into()))
    }
}

impl File for MemoryFile {
    fn path(&self) -> &Path {
        &self.path
    }

    fn id(&self) -> Result<FileId> {
        Ok(self.content.id())
    }

    fn len(&self) -> Result<u64> {
        Ok(self.content.read().len() as u64)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize> {
        let content = self.content.read();
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(content.len());
        let bytes = buffer.len().min(content.len() - start);
        buffer[..bytes].copy_from_slice(&content[start..start + bytes]);
        Ok(bytes)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> Result<()> {
        self.end(offset, bytes.len())?;
        self.content.change(|words| words.put(bytes, offset as usize));
        Ok(())
    }

    fn set_length(&self, bytes: u64) -> Result<()> {
        let bytes = self.end(bytes, 0)?;
        self.content.change(|words| words.set_len(bytes));
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }

    fn try_lock(&self) -> Result<Option<Box<dyn Lock>>> {
        Ok(lock(&self.content))
    }

    /// Writes zeros, so that a read of the discarded range shows up in tests. Frees no memory.
    fn discard(&self, range: Range<u64>) {
        let zeros = vec![0; (range.end - range.start) as usize];
        self.content.change(|words| words.put(&zeros, range.start as usize));
    }

    fn map(&self) -> Result<Map> {
        let mut content = self.content.words.write();
        if let Some(words) = Arc::get_mut(&mut content) {
            words.shrink();
        }
        Ok(Map::of_words(Arc::clone(&content), &self.path, self.id()?))
    }
}

#[derive(Debug)]
struct MemoryLock(Arc<Content>);

impl Lock for MemoryLock {
    fn id(&self) -> FileId {
        self.0.id()
    }
}

impl Drop for MemoryLock {
    fn drop(&mut self) {
        self.0.is_locked.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    fn path(name: &str) -> &Path {
        Path::new(name)
    }

    #[test]
    fn maps_share_the_bytes_and_outlive_changes() {
        let disk = MemoryDisk::new();
        let file = disk.create(path("a")).unwrap();
        file.write_at(b"tail", 4093).unwrap();
        file.write_at(b"head", 0).unwrap();
        let (one, two) = (file.map().unwrap(), disk.open(path("a")).unwrap().map().unwrap());
        assert_eq!(one.as_ptr(), two.as_ptr(), "maps share the bytes");
        assert_eq!((one.len(), &one[..5], &one[4093..]), (4097, &b"head\0"[..], &b"tail"[..]));
        file.write_at(b"H", 0).unwrap();
        disk.remove_file(path("a")).unwrap();
        assert_eq!(&one[..4], b"head");
        assert_eq!(&file.map().unwrap()[..4], b"Head");
        assert_eq!(disk.used_bytes(), 0);
        disk.write(path("a"), b"another").unwrap();
        assert_eq!(&testing::read_all_of(one.open_direct(&disk).unwrap().as_ref())[..4], b"head");
    }

    #[test]
    fn writes_at_any_offset_in_any_order_read_back() {
        let (disk, mut expected) = (MemoryDisk::new(), vec![0_u8; 1000]);
        let file = disk.create(path("a")).unwrap();
        for k in 0..200_usize {
            let (start, bytes) = (k * 37 % 900, k % 23);
            let piece = vec![k as u8; bytes];
            expected[start..start + bytes].copy_from_slice(&piece);
            file.write_at(&piece, start as u64).unwrap();
        }
        file.set_length(1000).unwrap();
        assert_eq!(disk.read(path("a")).unwrap(), expected);
        file.set_length(501).unwrap();
        file.set_length(1000).unwrap();
        expected[501..].fill(0);
        assert_eq!(disk.read(path("a")).unwrap(), expected, "truncated bytes do not come back");
        assert!(file.write_at(b"x", u64::MAX).is_err());
    }

    #[test]
    fn names_follow_the_contract_of_disk() {
        let disk = MemoryDisk::new();
        assert!(disk.create(path("d/x")).is_err(), "the directory does not exist");
        disk.create_directory(path("d")).unwrap();
        disk.write(path("d/x"), b"x").unwrap();
        disk.write(path("y"), b"yy").unwrap();
        assert!(disk.create(path("y")).is_err() && disk.rename(path("d"), path("y")).is_err());
        disk.rename(path("d"), path("e")).unwrap();
        disk.exchange(path("e/x"), path("y")).unwrap();
        assert_eq!(disk.read(path("e/x")).unwrap(), b"yy");
        disk.write(path("z"), b"z").unwrap();
        disk.replace(path("z"), path("y")).unwrap();
        assert_eq!(disk.read(path("y")).unwrap(), b"z");
        assert!(disk.replace(path("z"), path("y")).is_err(), "it has another name now");
        let names = |at: &str| disk.list(path(at)).unwrap().into_iter().map(|e| (e.name, e.bytes));
        assert!(names(".").eq([("e".to_owned(), 0), ("y".to_owned(), 1)]));
        assert!(names("e").eq([("x".to_owned(), 2)]));
        let lock = disk.try_lock(path("LOCK")).unwrap();
        assert!(lock.is_some() && disk.try_lock(path("LOCK")).unwrap().is_none());
        drop(lock);
        assert!(disk.try_lock(path("LOCK")).unwrap().is_some());
        disk.remove_directory(path("e")).unwrap();
        assert!(disk.look(path("e/x")).unwrap().is_none() && disk.open(path("e/x")).is_err());
    }
}

//! A file or directory of a faulty disk.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use crate::io::disk::DirectoryEntry;
use crate::io::file_id::FileId;
use crate::io::simulated::names::last;
use crate::io::simulated::pending::ContentChange;

/// Bytes that a disk writes wholly or not at all.
const SECTOR_BYTES: usize = 512;
/// Bytes of a page, the unit in which files are mapped.
const MAPPED_PAGE_BYTES: usize = 4096;

/// The device of all faulty disks.
const FAULTY_DEVICE: u64 = u64::MAX - 1;

/// The id of a file by the number of its inode.
pub(crate) fn id_of(node: usize) -> FileId {
    FileId { device: FAULTY_DEVICE, inode: node as u64 }
}

/// What a name stands for.
#[derive(Debug, Clone, Default)]
pub(crate) struct FaultyInode {
    pub(crate) is_directory: bool,
    pub(crate) locked: bool,
    /// Shared with forks until one of them changes it.
    pub(crate) content: Arc<Vec<u8>>,
    pub(crate) durable: Arc<Vec<u8>>,
    pub(crate) pending: Vec<ContentChange>,
    /// Numbers of the pages that cannot be read.
    pub(crate) broken: BTreeSet<usize>,
}

impl FaultyInode {
    /// An empty file or directory.
    pub(crate) fn new(is_directory: bool) -> Self {
        Self { is_directory, ..Self::default() }
    }

    /// As a directory lists it.
    pub(crate) fn describe(&self, path: &Path) -> DirectoryEntry {
        let bytes = self.content.len() as u64;
        let (name, is_directory) = (last(path), self.is_directory);
        DirectoryEntry { name, is_directory, is_link: false, bytes, stored_bytes: bytes }
    }

    /// Decides which writes since the last sync reach the disk, by random numbers below given bounds.
    pub(crate) fn settle(&mut self, mut below: impl FnMut(u64) -> u64) {
        for mut edit in std::mem::take(&mut self.pending) {
            match (below(3), &mut edit) {
                (0, _) => continue,
                (1, ContentChange::Write(_, bytes)) => {
                    let sectors = below(bytes.len().div_ceil(SECTOR_BYTES) as u64 + 1) as usize;
                    bytes.truncate(sectors * SECTOR_BYTES);
                }
                _ => {}
            }
            edit.apply(Arc::make_mut(&mut self.durable));
        }
    }

    /// The error of reading a range, if it holds a broken page.
    pub(crate) fn read_error(&self, range: Range<usize>) -> Option<std::io::Error> {
        let pages = range.start / MAPPED_PAGE_BYTES..range.end.div_ceil(MAPPED_PAGE_BYTES);
        let is_broken = !range.is_empty() && self.broken.range(pages).next().is_some();
        is_broken.then(|| std::io::Error::other("input/output error (injected)"))
    }

    /// Makes the page unreadable that holds a byte.
    pub(crate) fn break_page(&mut self, byte: usize) {
        self.broken.insert(byte / MAPPED_PAGE_BYTES);
    }

    /// Whether a page cannot be read.
    pub(crate) fn is_broken(&self) -> bool {
        !self.broken.is_empty()
    }

    /// Inverts the bytes of broken pages.
    pub(crate) fn spoil(&self, content: &mut [u8]) {
        for &page in &self.broken {
            let end = content.len().min((page + 1) * MAPPED_PAGE_BYTES);
            let bytes = content.get_mut(page * MAPPED_PAGE_BYTES..end);
            bytes.into_iter().flatten().for_each(|byte| *byte = !*byte);
        }
    }

    /// Whether the file ends before the last page of a range.
    pub(crate) fn is_cut_off(&self, range: &Range<usize>) -> bool {
        range.end.div_ceil(MAPPED_PAGE_BYTES) > self.content.len().div_ceil(MAPPED_PAGE_BYTES)
    }
}

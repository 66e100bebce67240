//! A file or directory of a faulty disk.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use super::pending::ContentChange;

/// Bytes of a page, the unit in which files are mapped.
const MAPPED_PAGE_BYTES: usize = 4096;

/// What a name stands for.
#[derive(Debug, Clone, Default)]
pub(super) struct FaultyInode {
    pub(super) is_directory: bool,
    pub(super) locked: bool,
    /// Shared with forks until one of them changes it.
    pub(super) content: Arc<Vec<u8>>,
    pub(super) durable: Arc<Vec<u8>>,
    pub(super) pending: Vec<ContentChange>,
    /// Numbers of the pages that cannot be read.
    pub(super) broken: BTreeSet<usize>,
}

impl FaultyInode {
    /// An empty file or directory.
    pub(super) fn new(is_directory: bool) -> Self {
        Self { is_directory, ..Self::default() }
    }

    /// The error of reading a range, if it holds a broken page.
    pub(super) fn read_error(&self, range: Range<usize>) -> Option<std::io::Error> {
        let pages = range.start / MAPPED_PAGE_BYTES..range.end.div_ceil(MAPPED_PAGE_BYTES);
        let is_broken = !range.is_empty() && self.broken.range(pages).next().is_some();
        is_broken.then(|| std::io::Error::other("input/output error (injected)"))
    }

    /// Makes the page unreadable that holds a byte.
    pub(super) fn break_page(&mut self, byte: usize) {
        self.broken.insert(byte / MAPPED_PAGE_BYTES);
    }

    /// Whether a page cannot be read.
    pub(super) fn is_broken(&self) -> bool {
        !self.broken.is_empty()
    }

    /// Inverts the bytes of broken pages.
    pub(super) fn spoil(&self, content: &mut [u8]) {
        for &page in &self.broken {
            let end = content.len().min((page + 1) * MAPPED_PAGE_BYTES);
            let bytes = content.get_mut(page * MAPPED_PAGE_BYTES..end);
            bytes.into_iter().flatten().for_each(|byte| *byte = !*byte);
        }
    }

    /// Whether the file ends before the last page of a range.
    pub(super) fn is_cut_off(&self, range: &Range<usize>) -> bool {
        range.end.div_ceil(MAPPED_PAGE_BYTES) > self.content.len().div_ceil(MAPPED_PAGE_BYTES)
    }
}

//! Unsynced changes of a faulty disk, to names and to contents. A crash may lose them.

use std::path::{Path, PathBuf};

use crate::io::disk::parent;
use crate::io::simulated::names::{Names, rename_all};

/// A change of a disk's names.
#[derive(Debug, Clone)]
pub(crate) enum NameChange {
    Add(PathBuf, usize),
    Remove(PathBuf),
    Rename(PathBuf, PathBuf),
    Replace(PathBuf, PathBuf),
    Exchange(PathBuf, PathBuf),
}

impl NameChange {
    /// Whether a sync of `directory` makes the change durable.
    pub(crate) fn touches(&self, directory: &Path) -> bool {
        match self {
            Self::Add(path, _) | Self::Remove(path) => parent(path) == directory,
            Self::Rename(a, b) | Self::Replace(a, b) | Self::Exchange(a, b) => {
                parent(a) == directory || parent(b) == directory
            }
        }
    }

    /// Applies the change.
    pub(crate) fn apply(&self, names: &mut Names<usize>) {
        match self {
            Self::Add(path, node) => {
                names.insert(path.clone(), *node);
            }
            Self::Remove(path) => names.retain(|name, _| !name.starts_with(path)),
            Self::Rename(from, to) => rename_all(names, &[(from, to)]),
            Self::Replace(from, to) => {
                names.remove(to);
                rename_all(names, &[(from, to)]);
            }
            Self::Exchange(a, b) => rename_all(names, &[(a, b), (b, a)]),
        }
    }
}

/// A change of a file's content since its last sync.
#[derive(Debug, Clone)]
pub(crate) enum ContentChange {
    Write(u64, Vec<u8>),
    Length(u64),
}

impl ContentChange {
    /// Applies the change.
    pub(crate) fn apply(&self, content: &mut Vec<u8>) {
        match self {
            Self::Write(_, bytes) if bytes.is_empty() => {}
            Self::Write(offset, bytes) => {
                let range = *offset as usize..*offset as usize + bytes.len();
                if content.len() < range.end {
                    content.resize(range.end, 0);
                }
                content[range].copy_from_slice(bytes);
            }
            Self::Length(bytes) => content.resize(*bytes as usize, 0),
        }
    }
}

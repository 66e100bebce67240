//! What a disk was asked to do and may have forgotten: changes of names and of contents.

use std::path::{Path, PathBuf};

use super::disk::parent;
use super::names::{Names, rename_all};

/// A change of names.
#[derive(Debug, Clone)]
pub(super) enum Change {
    Add(PathBuf, usize),
    Remove(PathBuf),
    Rename(PathBuf, PathBuf),
    Exchange(PathBuf, PathBuf),
}

impl Change {
    /// Whether a sync of the directory makes it durable.
    pub(super) fn touches(&self, directory: &Path) -> bool {
        match self {
            Self::Add(path, _) | Self::Remove(path) => parent(path) == directory,
            Self::Rename(a, b) | Self::Exchange(a, b) => parent(a) == directory || parent(b) == directory,
        }
    }

    /// Carries it out.
    pub(super) fn apply(&self, names: &mut Names<usize>) {
        match self {
            Self::Add(path, node) => {
                names.insert(path.clone(), *node);
            }
            Self::Remove(path) => names.retain(|name, _| !name.starts_with(path)),
            Self::Rename(from, to) => rename_all(names, &[(from, to)]),
            Self::Exchange(a, b) => rename_all(names, &[(a, b), (b, a)]),
        }
    }
}

/// What a file was asked to since its last sync.
#[derive(Debug, Clone)]
pub(super) enum Pending {
    Write(u64, Vec<u8>),
    Length(u64),
}

impl Pending {
    /// Carries it out.
    pub(super) fn apply(&self, content: &mut Vec<u8>) {
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

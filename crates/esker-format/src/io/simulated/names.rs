//! The name table of the disks in memory.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::io::disk::{DirectoryEntry, NamedFile, parent};
use crate::io::file_id::FileId;

/// The inode of each path.
pub(crate) type Names<N> = BTreeMap<PathBuf, N>;

/// The error that an operating system would return.
pub(crate) fn refused(action: &'static str, path: &Path, kind: ErrorKind) -> Error {
    Error::io(action, path)(kind.into())
}

/// Whether the path is a root, of absolute or of relative paths: both roots always exist.
pub(crate) fn is_root(path: &Path) -> bool {
    matches!(path.to_str(), Some("/" | "." | ""))
}

/// The file that a path names; `id` is that of a file, and `None` of a directory.
pub(crate) fn named<N>(
    names: &Names<N>,
    path: &Path,
    id: impl Fn(&N) -> Option<FileId>,
) -> Option<NamedFile> {
    let named = id(names.get(path)?)?;
    let links = names.values().filter(|node| id(node) == Some(named)).count() as u64;
    Some(NamedFile { id: named, links, modified_ns: 0, bytes: None })
}

/// Replaces the prefix `from` by `to` in all names, for each pair `(from, to)`.
pub(crate) fn rename_all<N>(names: &mut Names<N>, renames: &[(&Path, &Path)]) {
    *names = std::mem::take(names)
        .into_iter()
        .map(|(name, node)| {
            let renamed = renames.iter().find_map(|(from, to)| {
                let rest = name.strip_prefix(from).ok()?;
                Some(if rest.as_os_str().is_empty() { to.to_path_buf() } else { to.join(rest) })
            });
            (renamed.unwrap_or(name), node)
        })
        .collect();
}

/// An error unless `from` exists and `to` does not.
pub(crate) fn check_rename<N>(names: &Names<N>, from: &Path, to: &Path) -> Result<()> {
    check_replace(names, from)?;
    if names.contains_key(to) {
        return Err(refused("rename to", to, ErrorKind::AlreadyExists));
    }
    Ok(())
}

/// An error if `path` exists.
pub(crate) fn check_new<N>(names: &Names<N>, action: &'static str, path: &Path) -> Result<()> {
    if names.contains_key(path) { Err(refused(action, path, ErrorKind::AlreadyExists)) } else { Ok(()) }
}

/// An error unless `from` exists.
pub(crate) fn check_replace<N>(names: &Names<N>, from: &Path) -> Result<()> {
    if names.contains_key(from) { Ok(()) } else { Err(refused("rename", from, ErrorKind::NotFound)) }
}

/// An error unless both names exist.
pub(crate) fn check_exchange<N>(names: &Names<N>, a: &Path, b: &Path) -> Result<()> {
    match [a, b].into_iter().find(|path| !names.contains_key(*path)) {
        Some(missing) => Err(refused("replace", missing, ErrorKind::NotFound)),
        None => Ok(()),
    }
}

/// The entries of a directory, sorted by name.
pub(crate) fn list<N>(
    names: &Names<N>,
    directory: &Path,
    describe: impl Fn(&Path, &N) -> DirectoryEntry,
) -> Vec<DirectoryEntry> {
    let inside = names.iter().filter(|(name, _)| parent(name) == directory && name.as_path() != directory);
    inside.map(|(name, node)| describe(name, node)).collect()
}

/// The last component of a path.
pub(crate) fn last(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

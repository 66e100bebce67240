//! Files that are written beside databases, never into one.

use std::path::Path;

use super::disk::{Disk, parent};
use crate::error::{Error, Result};

/// The files by which a directory is known as a database or a cluster, and how they begin.
const NAMES: [&str; 2] = ["MANIFEST", "CLUSTER"];
const BEGINNING: &[u8] = b"Esker";

/// Refuses to write a file at a path within the directory of a database or a cluster: all files there are
/// its own.
///
/// # Errors
/// [`Error::Invalid`] if the path lies in one.
pub fn expect_outside_databases(disk: &dyn Disk, path: &Path) -> Result<()> {
    // What has no place yet is an error of the writing.
    let Ok(folder) = parent(path).canonicalize() else { return Ok(()) };
    let is_database = |folder: &&Path| NAMES.iter().any(|name| begins_as_ours(disk, &folder.join(name)));
    match folder.ancestors().find(is_database) {
        None => Ok(()),
        Some(database) => Err(Error::invalid(format!(
            "{} lies in the database {}, where no other files may be: name a file elsewhere",
            path.display(),
            database.display()
        ))),
    }
}

/// Whether two paths lead to one file, which need not be there yet.
pub fn are_same_file(a: &Path, b: &Path) -> bool {
    let place = |path: &Path| {
        let in_folder = || Some(parent(path).canonicalize().ok()?.join(path.file_name()?));
        path.canonicalize().ok().or_else(in_folder)
    };
    a == b || place(a).is_some_and(|a| place(b) == Some(a))
}

fn begins_as_ours(disk: &dyn Disk, path: &Path) -> bool {
    if !matches!(disk.look(path), Ok(Some(entry)) if !entry.is_directory) {
        return false;
    }
    let mut beginning = [0; BEGINNING.len()];
    let read = disk.open(path).and_then(|file| file.read_at(&mut beginning, 0));
    read.is_ok_and(|bytes| bytes == BEGINNING.len()) && beginning == *BEGINNING
}

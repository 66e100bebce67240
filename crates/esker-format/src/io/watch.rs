//! Which mapped files were changed since: files of a database never change, so one that did makes an answer
//! doubtful.
//!
//! The bytes of a map are compared with their checksums once. Another program that overwrites the file
//! afterwards changes what is read, without a signal. The size and the time of the last change of the file
//! tell. A file with a page that the system could not read is told likewise: see
//! [`super::outlive_failing_pages`].
#![allow(clippy::disallowed_types, clippy::disallowed_methods)] // Part of the disk access module.

use parking_lot::{Mutex, MutexGuard};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::file_id::FileId;

/// A file at the moment when it was mapped.
#[derive(Debug)]
struct MappedAt {
    stamp: FileState,
    /// Maps of it that exist.
    maps: usize,
    /// Whether a page of it could not be read.
    failed: Arc<AtomicBool>,
}

/// What changes when a file is written to. Another name or other rights of the file change neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileState {
    bytes: u64,
    seconds: i64,
    nanoseconds: i64,
}

impl FileState {
    fn of(metadata: &fs::Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self { bytes: metadata.len(), seconds: metadata.mtime(), nanoseconds: metadata.mtime_nsec() }
    }
}

/// A file by a name: a backup can share a file with its database, and both may be mapped.
type FileByName = (FileId, PathBuf);

static FILES: Mutex<BTreeMap<FileByName, MappedAt>> = Mutex::new(BTreeMap::new());

fn files() -> MutexGuard<'static, BTreeMap<FileByName, MappedAt>> {
    FILES.lock()
}

/// The file of a map, watched until it is dropped.
#[derive(Debug)]
pub(super) struct Watched {
    file: FileByName,
    failed: Arc<AtomicBool>,
}

/// A mapped file whose bytes are not to be trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedMap {
    /// The file.
    pub path: PathBuf,
    /// Whether a page of it could not be read; else another program wrote to it.
    pub is_unreadable: bool,
}

impl Watched {
    /// Watches an open file. Other maps of the same file by this name keep its first stamp.
    pub(super) fn new(metadata: &fs::Metadata, path: &Path) -> Self {
        let file = (FileId::of(metadata), path.to_owned());
        let stamp = FileState::of(metadata);
        let mut files = files();
        let first = || MappedAt { stamp, maps: 0, failed: Arc::default() };
        let mapped = files.entry(file.clone()).or_insert_with(first);
        mapped.maps += 1;
        Self { file, failed: Arc::clone(&mapped.failed) }
    }

    /// What is set when a page of the file cannot be read.
    pub(super) fn failed(&self) -> &AtomicBool {
        &self.failed
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let mut files = files();
        if let Some(mapped) = files.get_mut(&self.file) {
            mapped.maps -= 1;
            if mapped.maps == 0 {
                files.remove(&self.file);
            }
        }
    }
}

/// A file at or below a directory that is mapped now and was written to since, or of which a page could not
/// be read. A file that was removed, or replaced by another one, is not among the former: its map keeps the
/// bytes. One look at the file system for each mapped file.
pub fn changed_map(below: &Path) -> Option<ChangedMap> {
    let changed = |((file, path), mapped): (&FileByName, &MappedAt)| {
        if !path.starts_with(below) {
            return None;
        }
        let is_unreadable = mapped.failed.load(Ordering::Acquire);
        let is_written = || {
            fs::metadata(path)
                .is_ok_and(|now| FileId::of(&now) == *file && FileState::of(&now) != mapped.stamp)
        };
        (is_unreadable || is_written()).then(|| ChangedMap { path: path.clone(), is_unreadable })
    };
    files().iter().find_map(changed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::{Disk, Files, RealDisk};

    #[test]
    fn a_mapped_file_that_is_written_to_is_told_and_one_that_is_replaced_is_not() {
        let directory = tempfile::tempdir().unwrap();
        let changed = || changed_map(directory.path()).map(|changed| changed.path);
        let [one, two] = ["one", "two"].map(|name| directory.path().join(name));
        std::fs::write(&one, [1; 100]).unwrap();
        std::fs::write(&two, [2; 100]).unwrap();
        let maps = [&one, &one, &two].map(|path| RealDisk.open(path).unwrap().map().unwrap());
        assert_eq!(changed(), None);
        std::fs::hard_link(&one, directory.path().join("another name")).unwrap();
        assert_eq!(changed(), None);
        std::fs::remove_file(&two).unwrap();
        std::fs::write(&two, [3; 100]).unwrap();
        assert_eq!((changed(), maps[2][0]), (None, 2), "the map is of the file that was there before");
        RealDisk.open_for_writing(&one).unwrap().write_at(&[4], 50).unwrap();
        assert_eq!(changed(), Some(one.clone()));
        assert_eq!(changed_map(Path::new("/another/place")), None);
        let [first, second, _] = maps;
        drop(first);
        assert_eq!(changed(), Some(one));
        drop(second);
        assert_eq!(changed(), None, "it is not mapped any more");
    }

    /// A backup shares files with its database: only the name that was mapped first was looked at.
    #[test]
    fn a_file_that_is_mapped_by_two_names_is_told_by_each() {
        let directory = tempfile::tempdir().unwrap();
        let [copy, database] = ["copy", "database"].map(|name| directory.path().join(name));
        let [shared, own] = [&copy, &database].map(|directory| directory.join("one"));
        [&copy, &database].iter().for_each(|directory| std::fs::create_dir(directory).unwrap());
        std::fs::write(&shared, [1; 100]).unwrap();
        std::fs::hard_link(&shared, &own).unwrap();
        let [first, second] = [&shared, &own].map(|path| RealDisk.open(path).unwrap().map().unwrap());
        RealDisk.open_for_writing(&own).unwrap().write_at(&[4; 200], 50).unwrap();
        let changed = |below: &Path| changed_map(below).map(|changed| changed.path);
        assert_eq!(changed(&copy), Some(shared));
        assert_eq!(changed(&database), Some(own.clone()));
        drop(first);
        assert_eq!((changed(&copy), changed(&database)), (None, Some(own)));
        drop(second);
        assert_eq!(changed(&database), None);
    }
}

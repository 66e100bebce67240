//! The identity of a file.

/// Identifies a file, whatever its names. No other file has the same id as long as the file is open or
/// mapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileId {
    /// The file system.
    pub(super) device: u64,
    /// The file in it.
    pub(super) inode: u64,
}

#[cfg(unix)]
impl FileId {
    /// That of the file with this metadata.
    pub(super) fn of(metadata: &std::fs::Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self { device: metadata.dev(), inode: metadata.ino() }
    }
}

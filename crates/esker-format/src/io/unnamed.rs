//! Files without a name, whose space is taken and given back part by part.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)] // Part of the disk access module.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::FallocateFlags;

use crate::error::{Error, Result};

/// Alignment of the parts of such a file: a page.
pub(super) const PART_BYTES: u64 = 4096;

/// A new file in `directory` whose name is removed at once, and that name.
pub(super) fn unnamed_file(directory: &Path) -> Result<(std::fs::File, PathBuf)> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let path = directory.join(format!("scratch-{}-{number}", std::process::id()));
    let mut options = std::fs::OpenOptions::new();
    options.read(true).write(true);
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::OpenOptionsExt;
        // Such a file never has a name, so a crash leaves nothing.
        if let Ok(file) = options.clone().custom_flags(libc::O_TMPFILE).open(directory) {
            return Ok((file, path));
        }
    }
    let file = options.create_new(true).open(&path).map_err(Error::io("create", &path))?;
    std::fs::remove_file(&path).map_err(Error::io("remove", &path))?;
    Ok((file, path))
}

/// Allocates disk space for a range of a file, which then reads as zeros.
pub(super) fn allocate_space(file: &std::fs::File, offset: u64, length: u64) -> std::io::Result<()> {
    use rustix::io::Errno;
    match rustix::fs::fallocate(file, FallocateFlags::empty(), offset, length) {
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => {
            use std::os::unix::fs::FileExt;
            let zeros = [0; PART_BYTES as usize];
            (0..length / PART_BYTES)
                .try_for_each(|part| file.write_all_at(&zeros, offset + part * PART_BYTES))
        }
        done => done.map_err(Into::into),
    }
}

/// Makes a range of a file zeros, and keeps its disk space.
pub(super) fn zero_space(file: &std::fs::File, offset: u64, length: u64) -> std::io::Result<()> {
    let flags = FallocateFlags::ZERO_RANGE | FallocateFlags::KEEP_SIZE;
    rustix::fs::fallocate(file, flags, offset, length).map_err(Into::into)
}

/// Frees the disk space of a range of a file.
pub(super) fn free_space(file: &std::fs::File, offset: u64, length: u64) -> std::io::Result<()> {
    let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    rustix::fs::fallocate(file, flags, offset, length).map_err(Into::into)
}

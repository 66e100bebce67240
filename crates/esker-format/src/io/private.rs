//! Small files that only their owner may read.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)] // Part of the disk access module.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use crate::error::{Error, Result};

/// The bits of a mode that let others read, write or execute.
const OTHERS: u32 = 0o077;

/// Writes a new file with mode 0600 and syncs it.
///
/// # Errors
/// [`Error::Io`], also if it exists.
pub fn write_private(path: &Path, content: &[u8]) -> Result<()> {
    let mut options = fs::OpenOptions::new();
    let mut file =
        options.write(true).create_new(true).mode(0o600).open(path).map_err(Error::io("create", path))?;
    file.write_all(content).and_then(|()| file.sync_all()).map_err(Error::io("write", path))
}

/// Reads a small file, at most 4096 bytes of it.
///
/// # Errors
/// [`Error::Io`]; [`Error::Invalid`] if it is no file, or others than its owner may read or write it.
pub fn read_private(path: &Path) -> Result<Vec<u8>> {
    // Else opening a pipe waits until somebody writes to it. What was opened is looked at: another file may
    // take its name meanwhile.
    let flags = rustix::fs::OFlags::NONBLOCK.bits() as i32;
    let mut options = fs::OpenOptions::new();
    let file = options.read(true).custom_flags(flags).open(path).map_err(Error::io("open", path))?;
    let found = file.metadata().map_err(Error::io("look at", path))?;
    if !found.is_file() {
        return Err(Error::invalid(format!("{} is no file, so it cannot hold a secret", path.display())));
    }
    let mode = found.mode();
    if mode & OTHERS != 0 {
        return Err(Error::invalid(format!(
            "{} holds a secret, but others can read it (mode {:04o}): run `chmod 600 {}`, or write a new secret if others may have read it",
            path.display(),
            mode & 0o7777,
            path.display()
        )));
    }
    let mut content = Vec::new();
    file.take(4096).read_to_end(&mut content).map_err(Error::io("read", path))?;
    Ok(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_private_file_is_for_its_owner_alone() {
        let place = tempfile::tempdir().expect("directory");
        let path = place.path().join("secret");
        write_private(&path, b"hush").expect("write");
        assert_eq!(fs::metadata(&path).expect("metadata").mode() & 0o777, 0o600);
        assert_eq!(read_private(&path).expect("read"), b"hush");
        assert!(write_private(&path, b"again").is_err());
        let readable = std::os::unix::fs::PermissionsExt::from_mode(0o640);
        fs::set_permissions(&path, readable).expect("chmod");
        assert!(read_private(&path).expect_err("refused").to_string().contains("(mode 0640)"));
        let pipe = place.path().join("pipe");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).expect("mkfifo");
        assert!(read_private(&pipe).expect_err("refused").to_string().contains("pipe is no file"));
    }
}

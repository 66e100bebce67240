//! Answers of files that were overwritten while they were read are errors.
//!
//! Mapped bytes are compared with their checksums once. If another program writes into a layer afterwards,
//! or cuts it short and the process outlives that, decoding may panic, or an answer may be wrong. Both become
//! an error that names the file.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;

use esker_store::Error as StoreError;
use esker_store::io::{ChangedMap, changed_map};

use crate::error::{Error, Result};

/// An error if a mapped file at or below a directory was written to since it was mapped, or could not be
/// read; the empty path means all files. One look at the file system for each mapped file.
///
/// # Errors
/// [`StoreError::Corrupt`], with the file.
pub fn check_maps(below: &Path) -> Result<()> {
    match changed_map(below) {
        Some(ChangedMap { path, is_unreadable }) => {
            let reason = match is_unreadable {
                true => {
                    "the system cannot read it: the disk failed there, or the file was cut short after it was opened; \
                     restore the database from a copy"
                }
                false => {
                    "another program wrote to it while it was read, so what was read is not to be trusted"
                }
            };
            Err(StoreError::corrupt(path, 0, reason).into())
        }
        None => Ok(()),
    }
}

/// Does work that reads a database. Its result, its error or its panic is an error of a file of the database,
/// if one was written to or could not be read.
///
/// # Errors
/// Those of the work; as [`check_maps`].
pub fn guarded<T, E: From<Error>>(
    database: &Path,
    work: impl FnOnce() -> std::result::Result<T, E>,
) -> std::result::Result<T, E> {
    // What the work leaves half-done is dropped with the panic.
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(done) => {
            check_maps(database)?;
            done
        }
        Err(panic) => {
            check_maps(database)?;
            resume_unwind(panic)
        }
    }
}

/// Has panics print nothing while a mapped file has changed, because they become errors. For programs; calls
/// add up, so once is enough.
pub fn silence_panics_of_changed_maps() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if changed_map(Path::new("")).is_none() {
            before(info);
        }
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use esker_store::io::{Disk, Files, RealDisk};

    #[test]
    fn a_panic_over_a_file_that_was_overwritten_is_an_error_and_another_goes_on() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("layer");
        std::fs::write(&path, [1; 64]).unwrap();
        let map = RealDisk.open(&path).unwrap().map().unwrap();
        let byte = || -> Result<u8> { Ok(map[3]) };
        let panics = || guarded(directory.path(), || -> Result<u8> { panic!("an index out of range") });
        assert!(catch_unwind(panics).is_err());
        assert_eq!(guarded(directory.path(), byte).unwrap(), 1);
        RealDisk.open_for_writing(&path).unwrap().write_at(&[9], 3).unwrap();
        for outcome in [guarded(directory.path(), byte), panics()] {
            let message = outcome.unwrap_err().to_string();
            assert!(message.contains("layer is damaged at byte 0: another program wrote to it"), "{message}");
        }
        assert!(guarded(Path::new("/elsewhere"), byte).is_ok(), "it is of another database");
    }
}

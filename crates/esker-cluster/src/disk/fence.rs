//! Which operation of a cluster is the later one: a number that each takes with it, and that stays beside
//! every shard that it opens for writing.
//!
//! A worker that was stopped before it opened its shard may go on long after its command died and others have
//! published versions, which it would take for leftovers. It finds the number of a later operation beside the
//! shard then, and leaves the shard alone. One that has opened its shard holds the lock of the database, so
//! no other operation publishes anything until it has ended.

use std::path::{Path, PathBuf};

use esker_format::io::{Disk, parent};
use esker_format::{Error, Result};

use crate::model::manifest::put_in_place;

/// The file in the directory of a cluster with the number of the last operation that began.
pub(crate) const EPOCH_NAME: &str = "CLUSTER.epoch";

/// Draws the number of an operation that changes the cluster: it is greater than all before it, and durable
/// on return. The caller holds the lock of the cluster. `now_ms`, in milliseconds since 1970, takes the place
/// of a file that was lost.
///
/// # Errors
/// [`Error::Io`]; [`Error::Invalid`] if the file does not hold a number.
pub(crate) fn draw(disk: &dyn Disk, directory: &Path, now_ms: u64) -> Result<u64> {
    let epoch = now_ms.max(last(disk, &directory.join(EPOCH_NAME))? + 1);
    put_in_place(disk, directory, EPOCH_NAME, format!("{epoch}\n").as_bytes())?;
    Ok(epoch)
}

/// Notes beside a shard that an operation opens it for writing: durable on return. The caller holds the lock
/// of the database, and has changed nothing.
///
/// # Errors
/// [`Error::Invalid`] if a later operation has opened it; as [`draw`].
pub(crate) fn enter(disk: &dyn Disk, shard: &Path, epoch: u64) -> Result<()> {
    let path = epoch_path(shard);
    let last = last(disk, &path)?;
    if last > epoch {
        return Err(Error::invalid(format!(
            "{} was opened by operation {last} of its cluster, as {} says, and this is operation {epoch}, an earlier one: try again; if \
             that fails too, the clock of its machine was put back and {EPOCH_NAME} lost: remove {} once no worker of an earlier command is left",
            shard.display(),
            path.display(),
            path.display()
        )));
    }
    if last < epoch {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        put_in_place(disk, &parent(&path), &name, format!("{epoch}\n").as_bytes())?;
    }
    Ok(())
}

/// The file beside a shard with the number of the last operation that opened it for writing.
fn epoch_path(shard: &Path) -> PathBuf {
    let name = shard.file_name().unwrap_or_default().to_string_lossy();
    shard.with_file_name(format!("{name}.epoch"))
}

/// The number in a file; 0 if there is none.
fn last(disk: &dyn Disk, path: &Path) -> Result<u64> {
    if disk.look(path)?.is_none() {
        return Ok(0);
    }
    let text = disk.read(path)?;
    let number = std::str::from_utf8(&text).ok().and_then(|text| text.strip_suffix('\n')?.parse().ok());
    number.filter(|&number| number < u64::MAX).ok_or_else(|| {
        Error::invalid(format!(
            "{} does not hold the number of an operation: remove it once no worker of an earlier command is left",
            path.display()
        ))
    })
}

#[cfg(test)]
mod tests {
    use esker_format::io::MemoryDisk;

    use super::*;

    fn disk() -> (MemoryDisk, PathBuf) {
        let (disk, path) = (MemoryDisk::new(), PathBuf::from("/c"));
        disk.create_directory(&path).expect("create");
        (disk, path)
    }

    #[test]
    fn numbers_grow_whatever_the_clock_does_and_a_lost_file_does_no_harm() {
        let (disk, path) = disk();
        let draw = |now_ms| draw(&disk, &path, now_ms).expect("a number");
        assert_eq!([1000, 1000, 900, 2000].map(draw), [1000, 1001, 1002, 2000]);
        disk.remove_file(&path.join(EPOCH_NAME)).expect("lose");
        assert_eq!(draw(2001), 2001);
    }

    #[test]
    fn an_older_operation_is_refused_and_a_newer_one_taken() {
        let (disk, path) = disk();
        let shard = path.join("shard-3");
        for epoch in [0, 5, 5, 9] {
            enter(&disk, &shard, epoch).expect("not earlier");
        }
        let message = enter(&disk, &shard, 8).expect_err("earlier").to_string();
        assert!(message.starts_with("/c/shard-3 was opened by operation 9 of its cluster"), "{message}");
        assert!(message.contains("try again"), "{message}");
        assert!(message.contains("remove /c/shard-3.epoch once"), "{message}");
        enter(&disk, &path.join("shard-4"), 8).expect("another shard");
        disk.remove_file(&path.join("shard-3.epoch")).expect("lose");
        enter(&disk, &shard, 10).expect("a file that was lost");
        enter(&disk, &shard, 9).expect_err("it is there again");
    }

    #[test]
    fn a_damaged_file_is_named() {
        let (disk, path) = disk();
        for damaged in [&b""[..], b"7", b"x\n", b"-1\n", b"\xff\n", format!("{}\n", u64::MAX).as_bytes()] {
            put_in_place(&disk, &path, EPOCH_NAME, damaged).expect("write");
            let message = draw(&disk, &path, 1).expect_err("damaged").to_string();
            assert!(message.starts_with("/c/CLUSTER.epoch does not hold the number"), "{message}");
            put_in_place(&disk, &path, "shard-0.epoch", damaged).expect("write");
            let message = enter(&disk, &path.join("shard-0"), 1).expect_err("damaged").to_string();
            assert!(message.starts_with("/c/shard-0.epoch does not hold the number"), "{message}");
        }
    }
}

//! Names of files and directories in a database.

use std::path::{Path, PathBuf};

use esker_format::io::Disk;
use esker_format::{Error, Result, Sought};
use esker_graph::{Message, Operation, message};

/// The file of a database that says what belongs to it.
pub const MANIFEST_NAME: &str = "MANIFEST";
/// The empty file that only a backup has to which nothing was written since it was made.
pub(crate) const BACKUP_NAME: &str = "BACKUP";
/// The directory of what other processes hand to the one that writes.
pub(crate) const QUEUE_NAME: &str = "queue";
/// The file that a cluster has (`esker-cluster`).
const CLUSTER_NAME: &str = "CLUSTER";

/// Checks that there is a database at a path, whatever its state.
///
/// # Errors
/// [`Error::Invalid`] with what is there instead; [`Error::Io`].
pub(crate) fn expect_database(disk: &dyn Disk, path: &Path) -> Result<()> {
    let name = path.display();
    let has = |file: &str| Ok::<_, Error>(disk.look(&path.join(file))?.is_some());
    let instead: Message = match disk.look(path)? {
        None => {
            let reason = format!("{name} does not exist: check the path, or import a graph to it");
            return Err(Error::not_found(Sought::File, reason));
        }
        Some(entry) if !entry.is_directory => "is a file, not a database: import the file first".into(),
        Some(_) if has(MANIFEST_NAME)? => return Ok(()),
        Some(_) if has(CLUSTER_NAME)? => {
            message![
                "is a cluster, not a database: use ",
                Operation::Cluster,
                ", or open one of the shards in it, which are databases",
            ]
        }
        Some(_) if has("layers")? => {
            message![
                format!("has the layers of a database, but no file {MANIFEST_NAME}: "),
                Operation::Recover.on(&name),
                " says what can be kept",
            ]
        }
        Some(_) => format!("is not a database: it has no file {MANIFEST_NAME}").into(),
    };
    Err(Error::invalid(message![format!("{name} "), instead]))
}

/// The directory of the id map of the database at `path`.
pub(crate) fn ids_directory(path: &Path) -> PathBuf {
    path.join("ids")
}

/// The directory of a layer.
pub(crate) fn layer_directory(database: &Path, number: u32) -> PathBuf {
    database.join("layers").join(number.to_string())
}

//! Names of files and directories in a database.

use std::path::{Path, PathBuf};

/// The file of a database that says what belongs to it.
pub const MANIFEST_NAME: &str = "MANIFEST";

/// The directory of the id map of the database at `path`.
pub(crate) fn ids_directory(path: &Path) -> PathBuf {
    path.join("ids")
}

/// The directory of a layer.
pub(crate) fn layer_directory(database: &Path, number: u32) -> PathBuf {
    database.join("layers").join(number.to_string())
}

//! Files in a database that its manifest does not name: what a crash left, and what is not Esker's.

use std::path::{Path, PathBuf};

use esker_format::io::{DirectoryEntry, Disk};
use esker_format::{Result, archived_name};

use super::manifest::Manifest;

/// Removes the files of layers that the manifest does not name: a writer died before it recorded them. Leaves
/// everything that is not a layer by its name and kind, and whatever lies behind a link.
pub(crate) fn remove_strays(disk: &dyn Disk, path: &Path, manifest: &Manifest) -> Result<()> {
    if !disk.list(path)?.iter().any(|entry| entry.name == "layers" && entry.is_directory) {
        return Ok(());
    }
    let layers = path.join("layers");
    for entry in disk.list(&layers)? {
        let is_named = |number| manifest.layers.iter().any(|layer| layer.number == number);
        if layer_of(&entry).is_none_or(is_named) {
            continue;
        }
        let path = layers.join(&entry.name);
        if entry.is_directory { disk.remove_directory(&path)? } else { disk.remove_file(&path)? }
    }
    Ok(())
}

/// What lies among the layers of a database but is not a layer, and so is never removed.
///
/// # Errors
/// [`esker_format::Error::Io`].
pub fn foreign_entries(disk: &dyn Disk, path: &Path) -> Result<Vec<PathBuf>> {
    let layers = path.join("layers");
    let foreign = disk.list(&layers)?.into_iter().filter(|entry| layer_of(entry).is_none());
    Ok(foreign.map(|entry| layers.join(entry.name)).collect())
}

/// The number of the layer that an entry of the directory `layers` belongs to; `None` if no layer has such an entry.
fn layer_of(entry: &DirectoryEntry) -> Option<u32> {
    let directory = archived_name(&entry.name);
    let number: u32 = directory.parse().ok()?;
    let is_own = (1..1 << 24).contains(&number)
        && number.to_string() == directory
        && entry.is_directory == (directory == entry.name)
        && !entry.is_link;
    is_own.then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layer_is_known_by_the_name_and_the_kind_of_its_files() {
        let layer = |name: &str, is_directory, is_link| {
            layer_of(&DirectoryEntry { name: name.to_owned(), is_directory, is_link, bytes: 0 })
        };
        assert_eq!(layer("7", true, false), Some(7));
        assert_eq!(layer("7.columns", false, false), Some(7));
        for (name, is_directory, is_link) in [
            ("7", false, false),
            ("7", false, true),
            ("7.columns", true, false),
            ("7.columns", false, true),
            ("07", true, false),
            ("+7", true, false),
            ("0", true, false),
            ("16777216", true, false),
            ("7.bak", true, false),
            ("notes", true, false),
            (".columns", false, false),
        ] {
            assert_eq!(layer(name, is_directory, is_link), None, "{name}");
        }
    }
}

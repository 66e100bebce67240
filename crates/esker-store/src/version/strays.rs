//! Files in a database that its manifest does not name: what a crash left, and what is not Esker's.

use std::path::{Path, PathBuf};

use esker_format::io::{DirectoryEntry, Disk};
use esker_format::{Result, archived_name};
use esker_layers::graph::headed::heads_directory;
use esker_layers::tiles::TileFiles;

use super::manifest::Manifest;
use super::names::MANIFEST_NAME;

/// What lies among the layers of a database and is not named by its manifest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Strays {
    /// Files and directories of layers, tiles and heads that the manifest does not name, and their bytes: a writer died before it recorded or
    /// removed them, or is writing them. The next writer removes them.
    pub left: Vec<(PathBuf, u64)>,
    /// What is no part of a layer by its name and kind: it is never removed.
    pub foreign: Vec<PathBuf>,
}

/// Removes what a writer that died has left. Leaves everything that is not a layer by its name and kind, and whatever lies behind a link.
pub(crate) fn remove_strays(disk: &dyn Disk, path: &Path, manifest: &Manifest) -> Result<()> {
    if !disk.list(path)?.iter().any(|entry| entry.name == "layers" && entry.is_directory) {
        return Ok(());
    }
    let layers = path.join("layers");
    for entry in disk.list(&layers)? {
        match layer_of(&entry) {
            Some(number) if !is_named(manifest, number) => remove(disk, &layers, &entry)?,
            Some(number) if entry.is_directory && may_have_forms(manifest, number) => {
                let directory = layers.join(&entry.name);
                for form in disk.list(&directory)? {
                    if is_left_form(&form, manifest, number) {
                        remove(disk, &directory, &form)?;
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Lists what lies among the layers and is not named by the manifest.
///
/// # Errors
/// [`esker_format::Error::Io`]; [`esker_format::Error::Corrupt`] if the manifest cannot be read.
pub(crate) fn strays(disk: &dyn Disk, path: &Path) -> Result<Strays> {
    let layers = path.join("layers");
    let entries = disk.list(&layers)?;
    let mut forms = Vec::new();
    for entry in entries.iter().filter(|entry| entry.is_directory) {
        if let Some(number) = layer_of(entry) {
            let directory = layers.join(&entry.name);
            // The directory of a layer that was merged meanwhile may be gone.
            for form in disk.list(&directory).unwrap_or_default() {
                forms.push((number, directory.clone(), form));
            }
        }
    }
    // Read after the files were listed, it names those that a writer has just finished.
    let manifest = Manifest::read(disk, &path.join(MANIFEST_NAME))?;
    let mut found = Strays::default();
    for entry in &entries {
        match layer_of(entry) {
            None => found.foreign.push(layers.join(&entry.name)),
            Some(number) if !is_named(&manifest, number) => found.note(disk, &layers, entry),
            Some(_) => {}
        }
    }
    for (number, directory, form) in &forms {
        if may_have_forms(&manifest, *number) && is_left_form(form, &manifest, *number) {
            found.note(disk, directory, form);
        }
    }
    Ok(found)
}

impl Strays {
    fn note(&mut self, disk: &dyn Disk, directory: &Path, entry: &DirectoryEntry) {
        let path = directory.join(&entry.name);
        let bytes = bytes_in(disk, &path, entry);
        self.left.push((path, bytes));
    }
}

/// The bytes of a file, or of all files in a directory; those that a writer removes meanwhile do not count.
fn bytes_in(disk: &dyn Disk, path: &Path, entry: &DirectoryEntry) -> u64 {
    if !entry.is_directory {
        return entry.bytes;
    }
    let inner = disk.list(path).unwrap_or_default();
    inner.iter().map(|entry| bytes_in(disk, &path.join(&entry.name), entry)).sum()
}

fn remove(disk: &dyn Disk, directory: &Path, entry: &DirectoryEntry) -> Result<()> {
    let path = directory.join(&entry.name);
    if entry.is_directory { disk.remove_directory(&path) } else { disk.remove_file(&path) }
}

fn is_named(manifest: &Manifest, number: u32) -> bool {
    manifest.layers.iter().any(|layer| layer.number == number)
}

fn may_have_forms(manifest: &Manifest, number: u32) -> bool {
    manifest.layers.iter().any(|layer| layer.number == number && layer.complete)
}

/// Whether an entry of the directory of a layer belongs to tiles or heads that the manifest does not name.
fn is_left_form(entry: &DirectoryEntry, manifest: &Manifest, number: u32) -> bool {
    let layer = Path::new("");
    let tiles = TileFiles::of(layer);
    let name = Path::new(archived_name(&entry.name));
    let is_named = if Path::new(&entry.name) == tiles.data || name == tiles.directory {
        manifest.tiles.iter().any(|record| record.layer == number)
    } else if name == heads_directory(layer) {
        manifest.heads.iter().any(|record| record.layer == number)
    } else {
        return false;
    };
    let is_directory = name == Path::new(&entry.name) && name != tiles.data;
    !is_named && !entry.is_link && entry.is_directory == is_directory
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

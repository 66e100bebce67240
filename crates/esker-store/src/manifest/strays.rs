//! Files in a database that its manifest does not name: what a crash left, and what is not Esker's.

use std::path::{Path, PathBuf};

use esker_format::io::{DirectoryEntry, Disk};
use esker_format::{LIVE_DIRECTORY, Result, archive_path, archived_name, left_live_files};
use esker_layers::graph::bounded::headed::heads_directory;
use esker_layers::known_files::DirectoryKind;
use esker_layers::tiles::TileFiles;

use super::content::Manifest;
use super::names::{BACKUP_NAME, MANIFEST_NAME, QUEUE_NAME, ids_directory, layer_directory};
use crate::holding::{LOCK_NAME, NEW_NAME};
use crate::log::foreign_in_log;

/// What lies among the layers of a database and is not named by its manifest, and what was left among the
/// states of live answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Strays {
    /// Files and directories of layers, tiles and heads that the manifest does not name, and their bytes: a
    /// writer died before it recorded or removed them, or is writing them. Files of states that replaced no
    /// other. The next writer removes them.
    pub left: Vec<(PathBuf, u64)>,
    /// What is no part of a layer or of the log by its name and kind, also in the directories of layers: it
    /// is never removed.
    pub foreign: Vec<PathBuf>,
}

/// Names in the directory of a database.
const OWN_NAMES: [&str; 10] = [
    BACKUP_NAME,
    LOCK_NAME,
    MANIFEST_NAME,
    NEW_NAME,
    "ids",
    "ids.columns",
    "layers",
    LIVE_DIRECTORY,
    "log",
    QUEUE_NAME,
];

/// What lies in a database and is not Esker's: replacing the database would remove it. Unknown among the
/// layers of a damaged database.
///
/// # Errors
/// [`esker_format::Error::Io`].
pub(super) fn foreign_in(disk: &dyn Disk, path: &Path) -> Result<Vec<PathBuf>> {
    strays(disk, path).map(|strays| strays.foreign).or_else(|_| foreign_beside(disk, path))
}

/// What lies in the directory of a database and has the name of nothing that a database has.
fn foreign_beside(disk: &dyn Disk, path: &Path) -> Result<Vec<PathBuf>> {
    let entries = disk.list(path)?.into_iter();
    let foreign = entries.filter(|entry| !OWN_NAMES.contains(&&entry.name[..]));
    Ok(foreign.map(|entry| path.join(entry.name)).collect())
}

/// Removes what a writer that died has left. Leaves everything that is not a layer by its name and kind, and
/// whatever lies behind a link.
pub(crate) fn remove_strays(disk: &dyn Disk, path: &Path, manifest: &Manifest) -> Result<()> {
    if !disk.list(path)?.iter().any(|entry| entry.name == "layers" && entry.is_directory) {
        return Ok(());
    }
    if manifest.ids.kind.is_in_layers() {
        DirectoryKind::Ids.remove(disk, &ids_directory(path))?;
    }
    for (left, _) in left_live_files(disk, &path.join(LIVE_DIRECTORY))? {
        // A follower that is writing it writes it again, or has just put it in its place.
        if_there(disk.remove_file(&left))?;
    }
    let layers = path.join("layers");
    for entry in disk.list(&layers)? {
        match layer_of(&entry) {
            Some(number) if !is_named(manifest, number) => {
                remove(disk, DirectoryKind::Layer, &layers, &entry)?;
            }
            Some(number) if entry.is_directory && may_have_forms(manifest, number) => {
                let directory = layers.join(&entry.name);
                for form in disk.list(&directory)? {
                    if is_left_form(&form, manifest, number) {
                        remove(disk, form_of(&form), &directory, &form)?;
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Lists what lies among the layers and is not named by the manifest, what lies in the log and is no segment
/// of it, and what else lies in the directory.
///
/// # Errors
/// [`esker_format::Error::Io`]; [`esker_format::Error::Corrupt`] if the manifest cannot be read.
pub(crate) fn strays(disk: &dyn Disk, path: &Path) -> Result<Strays> {
    let layers = path.join("layers");
    let entries = disk.list(&layers)?;
    let (mut found, mut directories) = (Strays::default(), Vec::new());
    for entry in &entries {
        let Some(number) = layer_of(entry) else {
            found.foreign.push(layers.join(&entry.name));
            continue;
        };
        if entry.is_directory {
            let directory = layers.join(&entry.name);
            // The directory of a layer that was merged meanwhile may be gone.
            let Some((foreign, own_bytes)) = if_there(DirectoryKind::Layer.inspect(disk, &directory))? else {
                continue;
            };
            let Some(forms) = if_there(disk.list(&directory))? else { continue };
            let own_bytes = own_bytes.or(foreign.is_empty().then_some(0));
            found.foreign.extend(foreign);
            directories.push((number, directory, forms, own_bytes));
        }
    }
    // Read after the files were listed, it names those that a writer has just finished.
    let manifest = Manifest::read(disk, &path.join(MANIFEST_NAME))?;
    for entry in entries.iter().filter(|entry| !entry.is_directory) {
        if layer_of(entry).is_some_and(|number| !is_named(&manifest, number)) {
            found.left.push((layers.join(&entry.name), entry.bytes));
        }
    }
    for (number, directory, forms, own_bytes) in directories {
        if !is_named(&manifest, number) {
            found.left.extend(own_bytes.map(|bytes| (directory, bytes)));
        } else if may_have_forms(&manifest, number) {
            for form in forms.iter().filter(|form| is_left_form(form, &manifest, number)) {
                let bytes = bytes_of(disk, &directory, form)?;
                found.left.extend(bytes.map(|bytes| (directory.join(&form.name), bytes)));
            }
        }
    }
    if manifest.ids.kind.is_in_layers() {
        found.left.extend(left_ids(disk, path)?);
    }
    found.left.extend(left_live_files(disk, &path.join(LIVE_DIRECTORY))?);
    let rewritten = path.join(NEW_NAME);
    found.left.extend(disk.look(&rewritten)?.map(|entry| (rewritten, entry.bytes)));
    found.left.sort();
    found.foreign.extend(foreign_beside(disk, path)?);
    found.foreign.extend(foreign_in_log(disk, path, manifest.log)?);
    Ok(found)
}

/// The files of layers and of the map of ids that a manifest names, and their bytes.
///
/// # Errors
/// [`esker_format::Error::Io`].
pub(crate) fn named_files(disk: &dyn Disk, path: &Path, manifest: &Manifest) -> Result<Vec<(PathBuf, u64)>> {
    let mut files = Vec::new();
    for layer in &manifest.layers {
        let directory = layer_directory(path, layer.number);
        let mut left = Vec::new();
        if disk.look(&directory)?.is_some() {
            let forms = disk.list(&directory)?.into_iter();
            let forms = forms.filter(|form| is_left_form(form, manifest, layer.number));
            left.extend(forms.map(|form| directory.join(form.name)));
        }
        let own = DirectoryKind::Layer.files(disk, &directory)?.into_iter();
        files.extend(own.filter(|(file, _)| !left.iter().any(|left| file.starts_with(left))));
    }
    if !manifest.ids.kind.is_in_layers() {
        files.extend(DirectoryKind::Ids.files(disk, &ids_directory(path))?);
    }
    Ok(files)
}

/// The files of the map of the ids that were imported, and their bytes. The manifest does not need them.
fn left_ids(disk: &dyn Disk, path: &Path) -> Result<Vec<(PathBuf, u64)>> {
    let directory = ids_directory(path);
    let archive = archive_path(&directory);
    let file = disk.look(&archive)?.filter(|entry| !entry.is_directory && !entry.is_link);
    let mut left: Vec<_> = file.map(|entry| (archive, entry.bytes)).into_iter().collect();
    let is_there = disk.look(&directory)?.is_some_and(|entry| entry.is_directory && !entry.is_link);
    if is_there && let Some((_, Some(bytes))) = if_there(DirectoryKind::Ids.inspect(disk, &directory))? {
        left.push((directory, bytes));
    }
    Ok(left)
}

/// What was found; `None` if it is not there any longer.
fn if_there<T>(found: Result<T>) -> Result<Option<T>> {
    match found {
        Err(error) if error.is_not_found() => Ok(None),
        found => found.map(Some),
    }
}

/// The bytes of a file of a form, or of all its files in a directory. `None` if a writer removed it
/// meanwhile, or what is there is not Esker's.
fn bytes_of(disk: &dyn Disk, directory: &Path, entry: &DirectoryEntry) -> Result<Option<u64>> {
    if !entry.is_directory {
        return Ok(Some(entry.bytes));
    }
    let inner = if_there(form_of(entry).inspect(disk, &directory.join(&entry.name)))?;
    Ok(inner.and_then(|(foreign, bytes)| bytes.or(foreign.is_empty().then_some(0))))
}

/// Which form an entry of the directory of a layer belongs to.
fn form_of(entry: &DirectoryEntry) -> DirectoryKind {
    match heads_directory(Path::new("")) == Path::new(archived_name(&entry.name)) {
        true => DirectoryKind::Heads,
        false => DirectoryKind::Tiles,
    }
}

/// Removes a file, or what is Esker's in a directory.
fn remove(disk: &dyn Disk, kind: DirectoryKind, directory: &Path, entry: &DirectoryEntry) -> Result<()> {
    let path = directory.join(&entry.name);
    if entry.is_directory { kind.remove_directory(disk, &path) } else { disk.remove_file(&path) }
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
    let tiles = TileFiles::in_layer(layer);
    let name = Path::new(archived_name(&entry.name));
    let is_data = TileFiles::is_data(&entry.name);
    let is_named = if is_data || name == tiles.directory {
        manifest.tiles.iter().any(|record| record.layer == number)
    } else if name == heads_directory(layer) {
        manifest.heads.iter().any(|record| record.layer == number)
    } else {
        return false;
    };
    let is_directory = name == Path::new(&entry.name) && !is_data;
    !is_named && !entry.is_link && entry.is_directory == is_directory
}

/// The number of the layer that an entry of the directory `layers` belongs to; `None` if no layer has such an
/// entry.
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
            let name = name.to_owned();
            layer_of(&DirectoryEntry { name, is_directory, is_link, bytes: 0, stored_bytes: 0 })
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

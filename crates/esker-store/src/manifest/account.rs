//! What each layer says of itself, in a file among its columns: what MANIFEST says of it, of its versions and
//! of the database as a whole.
//!
//! It has the form of MANIFEST. Nothing reads it as long as MANIFEST is whole; a recovery makes a lost
//! MANIFEST of the accounts of all layers.

use std::path::{Path, PathBuf};

use esker_format::io::Files;
use esker_format::{DatabaseId, FORMAT_VERSION, ManifestHeader};
use esker_format::{
    Edit, Error, IdMapRecord, LayerRecord, MANIFEST_MAGIC, ManifestHead, PropertyRecord, Result, TilesRecord,
    VersionRecord,
};

use super::content::Manifest;
use super::records::{header_bytes, parse_whole, put_record};

/// The name of the file.
const ACCOUNT_NAME: &str = "record";

/// The path of the account of a layer.
pub(crate) fn account_path(layer: &Path) -> PathBuf {
    layer.join(ACCOUNT_NAME)
}

/// What a layer says of itself.
#[derive(Debug, Clone)]
pub(crate) struct Account {
    /// The start of MANIFEST when the layer was written.
    pub(crate) header: ManifestHeader,
    /// The record of the layer.
    pub(crate) layer: LayerRecord,
    /// The map of ids, the properties and the settings of the database; then the versions in the layer, and
    /// all tags.
    pub(crate) edits: Vec<Edit>,
}

/// The part of the state of a database that the account of a new layer repeats.
pub(crate) struct AccountOf<'a> {
    /// The state before the layer.
    pub(crate) manifest: &'a Manifest,
    pub(crate) layer: &'a LayerRecord,
    pub(crate) ids: &'a IdMapRecord,
    pub(crate) properties: &'a [PropertyRecord],
    /// Those in the layer.
    pub(crate) versions: &'a [VersionRecord],
}

impl AccountOf<'_> {
    fn edits(&self) -> Vec<Edit> {
        let Self { manifest, layer, ids, properties, versions } = *self;
        let mut edits = manifest.settings(ids, properties);
        edits.push(Edit::AddLayer(layer.clone()));
        edits.extend(versions.iter().cloned().map(Edit::AddVersion));
        edits
    }

    /// Writes the file of the layer in a directory.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Invalid`] if it exceeds 4 GiB.
    pub(crate) fn write(&self, files: &dyn Files, directory: &Path) -> Result<()> {
        let Manifest { database, created_ms, .. } = *self.manifest;
        write_account(
            files,
            directory,
            &Header { database, created_ms, records: self.manifest.records },
            &self.edits(),
        )
    }
}

/// What the header of an account says.
pub(super) struct Header {
    pub(super) database: DatabaseId,
    pub(super) created_ms: u64,
    /// The number of records of MANIFEST before the layer.
    pub(super) records: u64,
}

/// Writes the account of a layer that `edits` describe.
pub(super) fn write_account(
    files: &dyn Files,
    directory: &Path,
    header: &Header,
    edits: &[Edit],
) -> Result<()> {
    let Header { database, created_ms, records } = *header;
    let number = records.max(1);
    let mut content = header_bytes(&ManifestHeader {
        magic: MANIFEST_MAGIC,
        format_version: FORMAT_VERSION,
        database,
        vertex_bytes: 0,
        created_ms,
        first_record: number,
        first_chain: 0,
    });
    put_record(&mut content, number, edits)?;
    let file = files.create(&account_path(directory))?;
    file.write_at(&content, 0)?;
    file.sync()
}

/// Reads the account of the layer in a directory.
///
/// # Errors
/// [`Error::Io`]; [`Error::Corrupt`] if it is damaged; [`Error::Invalid`] for another format version, or
/// vertex ids of another width.
pub(crate) fn read_account(files: &dyn Files, directory: &Path) -> Result<Account> {
    let file = files.open(&account_path(directory))?;
    // The archive of the layer, if the account lies in one.
    let path = file.path();
    let start = || file.map().map_or(0, |map| map.start() as u64);
    let contents = parse_whole(path, file.as_ref()).map_err(|error| match error {
        Error::Corrupt { path, offset, reason } => Error::Corrupt { path, offset: start() + offset, reason },
        other => other,
    })?;
    let layer = contents.edits.iter().find_map(|edit| match edit {
        Edit::AddLayer(layer) => Some(layer.clone()),
        _ => None,
    });
    let layer = layer.ok_or_else(|| Error::corrupt(path, start(), "it describes no layer"))?;
    let edits = contents.edits.into_iter().filter(|edit| !matches!(edit, Edit::AddLayer(_))).collect();
    Ok(Account { header: contents.header, layer, edits })
}

impl Account {
    /// The state of the database with this layer alone, and with its tiles if nothing else holds its lists;
    /// `None` if it contradicts itself.
    pub(crate) fn manifest(&self, tiles: Option<&TilesRecord>) -> Option<Manifest> {
        let head = ManifestHead { records: self.header.first_record, chain: 0 };
        let mut edits = vec![Edit::AddLayer(self.layer.clone())];
        edits.extend(self.edits.iter().cloned());
        edits.extend(tiles.cloned().map(Edit::SetTiles));
        Manifest::of_edits(&self.header, head, edits)
    }

    /// The versions in the layer.
    pub(crate) fn versions(&self) -> impl Iterator<Item = &VersionRecord> {
        self.edits.iter().filter_map(|edit| match edit {
            Edit::AddVersion(version) => Some(version),
            _ => None,
        })
    }
}

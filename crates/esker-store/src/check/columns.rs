//! Verifies the checksums of the files of a state.

use std::path::Path;

use esker_format::{Archive, Column, Origin, Result, Values};
use esker_graph::Run;

use crate::manifest::{account_path, read_account};
use crate::version::State;

/// Opens what an archive holds, one after the other: columns, and as `None` what a layer says of itself.
/// Nothing but a recovery reads the latter, and all of it is verified when it is opened.
pub(super) fn contents(archive: &Archive, origin: Origin) -> impl Iterator<Item = Result<Option<Values>>> {
    let account = account_path(archive.directory());
    archive.paths().map(move |path| match path == account {
        true => read_account(archive, archive.directory()).map(|_| None),
        false => Values::open_any(archive, &path, origin).map(Some),
    })
}

/// Verifies the checksums of all columns of a state in the files that `is_new` chooses. Returns their bytes.
///
/// # Errors
/// [`esker_format::Error::Corrupt`] for the first damaged column; [`esker_format::Error::Io`]; cancellation.
pub(crate) fn verify_columns(state: &State, is_new: &dyn Fn(&Path) -> bool, run: &Run) -> Result<u64> {
    let manifest = state.manifest();
    let mut bytes = 0;
    let ids = state.ids_archive().into_iter().map(|archive| (archive, manifest.ids_origin()));
    let mut archives: Vec<(&Archive, Origin)> = ids.collect();
    let mut tiles: Vec<&Column<u8>> = Vec::new();
    for layer in state.layers() {
        let number = layer.record().number;
        archives.push((layer.archive(), layer.origin(manifest.database)));
        if let Some(found) = state.tiles_of(number)? {
            archives.push((found.archive(), found.origin()));
            tiles.extend(found.data().columns());
        }
        archives.extend(state.heads_of(number)?.map(|heads| (heads.archive(), heads.origin())));
    }
    for (archive, origin) in archives {
        for values in contents(archive, origin) {
            let Some(values) = values? else { continue };
            if is_new(values.path()) {
                values.verify(run)?;
                bytes += values.file_bytes();
            }
        }
    }
    for data in tiles.into_iter().filter(|data| is_new(data.path())) {
        data.all(run)?;
        bytes += data.file_bytes();
    }
    Ok(bytes)
}

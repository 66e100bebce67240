//! The properties of vertices as a CSV that [`crate::change`] reads as a table.

use std::io::Write;
use std::path::{Path, PathBuf};

use esker_graph::{Run, VertexId, vertex};
use esker_import::export::{ExportOptions, OutputFile};
use esker_store::Snapshot;
use esker_store::ids::ExternalId;
use esker_store::property::PropertyValue;

use super::csv::quote;
use crate::error::{Error, Result};

/// Bytes gathered before they are written.
const CHUNK_BYTES: usize = 1 << 16;

/// Writes a row for each vertex that has a value of some property: its id, then its values; a missing one is an empty field. The file
/// appears under its name only when it is complete.
///
/// # Errors
/// [`Error::Usage`] if there are no properties, or a text is empty and would read as missing; if the file exists (unless
/// `options.overwrite`) or writing fails; cancellation.
pub fn vertex_properties(
    snapshot: &Snapshot,
    path: &Path,
    options: &ExportOptions,
    run: &Run,
) -> Result<PathBuf> {
    let names: Vec<String> = snapshot.vertex_properties().map(|property| property.name.clone()).collect();
    if names.is_empty() {
        return Err(Error::Usage("the vertices have no properties to write".to_owned()));
    }
    let properties =
        names.iter().map(|name| Ok(snapshot.vertex_property(name)?)).collect::<Result<Vec<_>>>()?;
    let removed = snapshot.removed(run)?;
    let mut file = OutputFile::open(path, options)?;
    let mut out = b"vertex".to_vec();
    for name in &names {
        out.push(b',');
        quote(name.as_bytes(), &mut out);
    }
    out.push(b'\n');
    for v in (0..snapshot.num_vertices()).map(vertex).filter(|&v| !removed.is_removed(v)) {
        let mut values = Vec::with_capacity(properties.len());
        for property in &properties {
            values.push(property.get(v)?);
        }
        if values.iter().any(Option::is_some) {
            write_row(snapshot, v, &values, &mut out)?;
        }
        if out.len() >= CHUNK_BYTES {
            options.cancel.check()?;
            file.write_all(&out).map_err(file.error())?;
            out.clear();
        }
    }
    file.write_all(&out).map_err(file.error())?;
    Ok(file.finish()?)
}

fn write_row(
    snapshot: &Snapshot,
    v: VertexId,
    values: &[Option<PropertyValue<'_>>],
    out: &mut Vec<u8>,
) -> Result<()> {
    let id = snapshot.ids().external_of(v)?;
    match id {
        ExternalId::Int(id) => out.extend_from_slice(id.to_string().as_bytes()),
        ExternalId::Text(text) => quote(text, out),
    }
    for value in values {
        out.push(b',');
        match value {
            None => {}
            Some(PropertyValue::Text([])) => {
                return Err(Error::Usage(format!(
                    "vertex {:?} has an empty text, which a table cannot tell from a missing value",
                    id.to_string()
                )));
            }
            Some(PropertyValue::Text(text)) => quote(text, out),
            Some(number) => out.extend_from_slice(number.to_string().as_bytes()),
        }
    }
    out.push(b'\n');
    Ok(())
}

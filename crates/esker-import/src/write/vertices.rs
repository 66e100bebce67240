//! Writes the ids of all vertices, one per line and in quotes where needed, in the order of the numbers that
//! formats without ids give them: a file that `esker import --vertices` reads.

use std::io::Write;

use esker_format::Result;
use esker_format::value::digits::push_u64;

use super::options::ExportOptions;
use super::sink::OutputFile;
use super::writer::{VertexNames, push_quoted};
use crate::columns::names::names_ids;

/// Vertices gathered before they are written.
const CHUNK_VERTICES: u64 = 1 << 14;

/// Writes the ids of the vertices `0..num_vertices`.
///
/// # Errors
/// If an id cannot be read; if writing fails; cancellation.
pub(crate) fn write(
    names: VertexNames<'_>,
    num_vertices: u64,
    options: &ExportOptions,
    output: &mut OutputFile,
) -> Result<()> {
    let (mut buffer, mut text) = (Vec::new(), Vec::new());
    for v in 0..num_vertices {
        if names.are_texts() {
            text.clear();
            names.write(v, &mut text)?;
            if v == 0 && names_ids(&text) {
                // Else the id would be taken for a header.
                buffer.extend_from_slice(b"id\n");
            }
            // A line is one field.
            push_quoted(&mut buffer, &text, b'\n');
        } else {
            push_u64(&mut buffer, names.id_of_number(v)?);
        }
        buffer.push(b'\n');
        if v % CHUNK_VERTICES == CHUNK_VERTICES - 1 || v + 1 == num_vertices {
            options.cancel.check()?;
            output.write_all(&buffer).map_err(output.error())?;
            buffer.clear();
        }
    }
    Ok(())
}

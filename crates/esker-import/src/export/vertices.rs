//! Writes the ids of all vertices, one per line: a file that `esker import --vertices` reads.

use std::io::Write;

use esker_format::{Error, Result};

use super::options::ExportOptions;
use super::sink::OutputFile;
use super::writer::VertexNames;

/// Vertices gathered before they are written.
const CHUNK_VERTICES: u64 = 1 << 14;

/// Writes the ids of the vertices `0..num_vertices`.
///
/// # Errors
/// If an id cannot be read or cannot stand on a line of its own; if writing fails; cancellation.
pub(super) fn write(
    names: VertexNames<'_>,
    num_vertices: u64,
    options: &ExportOptions,
    output: &mut OutputFile,
) -> Result<()> {
    let mut buffer = Vec::new();
    for v in 0..num_vertices {
        let start = buffer.len();
        names.write(v, &mut buffer)?;
        if names.are_texts() {
            check_line(&buffer[start..])?;
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

/// Refuses an id that a reader of lines would take for another, or for a comment.
fn check_line(id: &[u8]) -> Result<()> {
    let is_plain = id == id.trim_ascii() && !id.iter().any(|byte| matches!(byte, b'\n' | b'\r'));
    if is_plain && !id.is_empty() && id[0] != b'#' {
        return Ok(());
    }
    Err(Error::Invalid(format!(
        "the id {:?} cannot stand on a line of a vertex file: leave the file out, or write numbers with --ids numbers",
        String::from_utf8_lossy(id)
    )))
}

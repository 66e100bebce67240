//! How far the header of an input is believed.

use esker_store::{Error, Result};

/// Memory of a commit for each vertex that it adds, about.
const VERTEX_BYTES: u64 = 64;
/// The memory of a commit that a stated number of vertices may take if the database has no limit.
const UNLIMITED_BYTES: u64 = 4 << 30;

/// A header of a few bytes may state billions of vertices. It is believed as far as the bytes of the input,
/// or the memory for a commit, bear it out.
pub(super) fn expect_borne_out(count: u64, input_bytes: u64, limit_bytes: u64) -> Result<()> {
    if count <= input_bytes.max(limit_bytes.min(UNLIMITED_BYTES) / VERTEX_BYTES) {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "the input has only {}, but {count} vertices are stated for it: correct that number, or import the input to a \
         database of its own",
        esker_graph::counted(input_bytes, "byte", "bytes")
    )))
}

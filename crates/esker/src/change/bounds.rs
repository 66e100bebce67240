//! What an input may take of the memory of a database, and how far its header is believed.

use esker_graph::Stop;
use esker_import::source::Reader;
use esker_store::{Error, Result};

/// The share of the database's memory that decoding an input may take.
const DECODING_SHARE: u64 = 4;
/// Memory of a commit for each vertex that it adds, about.
const VERTEX_BYTES: u64 = 64;
/// The memory of a commit that a stated number of vertices may take if the database has no limit.
const UNLIMITED_BYTES: u64 = 4 << 30;

/// Gives the decoding of an input its share of the memory limit.
///
/// # Errors
/// [`Stop::OverBudget`] if that is too little.
pub(super) fn limit_decoding(reader: &mut dyn Reader, limit_bytes: u64) -> Result<()> {
    reader.limit_memory(limit_bytes / DECODING_SHARE, 1).map(drop).map_err(of_whole)
}

/// The error of decoding, which has only its share of the memory limit, in terms of the limit.
fn of_whole(error: Error) -> Error {
    match error {
        Error::Stop(Stop::OverBudget { what, needed_bytes, budget_bytes }) => {
            let [needed_bytes, budget_bytes] =
                [needed_bytes, budget_bytes].map(|bytes| bytes.saturating_mul(DECODING_SHARE));
            Error::Stop(Stop::OverBudget { what, needed_bytes, budget_bytes })
        }
        other => other,
    }
}

/// A header of a few bytes may state billions of vertices. It is believed as far as the bytes of the input, or the memory for a commit, bear
/// it out.
pub(super) fn expect_borne_out(count: u64, input_bytes: u64, limit_bytes: u64) -> Result<()> {
    if count <= input_bytes.max(limit_bytes.min(UNLIMITED_BYTES) / VERTEX_BYTES) {
        return Ok(());
    }
    Err(Error::Invalid(format!(
        "the input has only {}, but {count} vertices are stated for it: correct that number, or import the input to a \
         database of its own",
        esker_graph::counted(input_bytes, "byte", "bytes")
    )))
}

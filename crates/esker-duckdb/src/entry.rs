//! What DuckDB calls when it loads the extension.

#![allow(unsafe_code)] // A symbol without mangling, with pointers that DuckDB vouches for.

use libduckdb_sys as ffi;

use crate::answers::AnswerTable;
use crate::capi::{Registry, load};
use crate::edges::EdgesTable;
use crate::versions::VersionsTable;
use crate::vertices::VerticesTable;

/// DuckDB takes the name of this function from that of the file, `esker.duckdb_extension`.
///
/// # Safety
/// DuckDB passes an `info` and an `access` that are valid during the call.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn esker_init_c_api(
    info: ffi::duckdb_extension_info,
    access: *const ffi::duckdb_extension_access,
) -> bool {
    // SAFETY: as the caller promises.
    unsafe { load(info, access, register) }
}

/// Registers all functions.
fn register(registry: &Registry) -> Result<(), String> {
    registry.add::<EdgesTable>()?;
    registry.add::<VerticesTable>()?;
    registry.add::<VersionsTable>()?;
    registry.add::<AnswerTable>()
}

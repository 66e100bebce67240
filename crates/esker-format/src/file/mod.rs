//! The parts of files: fields, headers, columns with checksums, archives.

pub(crate) mod size;
pub(crate) mod field;
pub(crate) mod header;
pub(crate) mod writer;
pub(crate) mod column;
pub(crate) mod archive;
pub(crate) mod archive_writer;
pub(crate) mod search;
pub(crate) mod values;
pub(crate) mod values_writer;
pub(crate) mod missing;
pub(crate) mod widen;

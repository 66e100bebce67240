//! The tables of the layouts of all files.

pub(crate) mod logical;
pub(crate) mod tile;
pub(crate) mod heads;
pub(crate) mod version;
pub(crate) mod options;
pub(crate) mod reading;
pub(crate) mod manifest;
pub(crate) mod missing;
pub(crate) mod edit;
pub(crate) mod commit;
pub(crate) mod log;
pub(crate) mod live;

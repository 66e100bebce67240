//! Databases that verbs open, read, and change.

pub(crate) mod committing;
pub(crate) mod opening;
pub(crate) mod asking;
pub(crate) mod writing;
pub(crate) mod storing;
pub(crate) mod ran;
pub(crate) mod comparing;
pub(crate) mod feeding;
pub(crate) mod telling;

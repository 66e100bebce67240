//! Options that several verbs have, and what they stand for.

pub(crate) mod mistake;
pub(crate) mod size;
pub(crate) mod resources;
pub(crate) mod notation_args;
pub(crate) mod reading;
pub(crate) mod at;
pub(crate) mod window_args;
pub(crate) mod selecting;
pub(crate) mod choice;
pub(crate) mod encoding;
pub(crate) mod commit_every;
pub(crate) mod heads;
pub(crate) mod tiling;
pub(crate) mod write_options;
pub(crate) mod remembered;
pub(crate) mod importing;
pub(crate) mod followed_rows;
pub(crate) mod alerting;
pub(crate) mod grouping;
pub(crate) mod short_help;
pub(crate) mod algorithm;
pub(crate) mod actual;
pub(crate) mod residency;
pub(crate) mod algorithm_args;

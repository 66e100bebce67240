//! Work on layers that changes no answer: freezing, merging, compacting, renumbering; and undoing versions.

pub(crate) mod forms;
pub(crate) mod maintain;
pub(crate) mod tiling;
pub(crate) mod heads;
pub(crate) mod numbering;
pub(crate) mod written;
pub(crate) mod compacting;
pub(crate) mod merging;
pub(crate) mod at_once;
pub(crate) mod undo;
pub(crate) mod define;
pub(crate) mod optional;
pub(crate) mod renumber;

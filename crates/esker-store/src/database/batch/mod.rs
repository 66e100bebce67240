//! From a batch to the changes of a commit.

pub(crate) mod standing;
pub(crate) mod known_texts;
pub(crate) mod resolve;
pub(crate) mod begun;
pub(crate) mod known;
pub(crate) mod removing;
pub(crate) mod vertices;

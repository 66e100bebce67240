//! The trait of the answers that are kept up to date.

use std::collections::BTreeSet;

use esker_format::Result;
use esker_graph::VertexId;
use esker_store::Version;

use super::shared::Shared;
use crate::model::answer::{Cell, ColumnKind};
use crate::net::engine::Engine;

/// The delegates of a version.
pub(super) struct Delegated {
    /// Whether there are any; all processes say the same.
    pub(super) any: bool,
    /// Those of other shards that this one has parts of the lists of.
    pub(super) ghosts: BTreeSet<VertexId>,
}

/// What a version changed in a shard.
pub(super) struct ShardStep<'a> {
    pub(super) version: &'a Version,
    pub(super) delegates: Delegated,
    pub(super) shared: &'a Shared,
    /// Vertices from this number on are new.
    pub(super) first_new: usize,
    /// Own vertices that have become ghosts of other shards.
    pub(super) newly_shared: Vec<VertexId>,
    pub(super) added: Vec<(VertexId, VertexId)>,
    pub(super) removed: Vec<(VertexId, VertexId)>,
}

/// Takes a vertex whose value changed, with the old value, if it is not new, and the new one.
pub(super) type TakeChange<'a> = dyn FnMut(VertexId, Option<Cell>, Cell) -> Result<()> + 'a;

/// An answer that is kept.
pub(super) trait Live {
    /// The name of the values, and their kind.
    fn column(&self) -> (&'static str, ColumnKind);

    /// Brings the answer to the next version, and calls `take` with each own vertex whose value changed.
    /// Returns the number of rounds.
    fn advance(
        &mut self,
        step: &ShardStep<'_>,
        engine: &mut Engine<'_>,
        take: &mut TakeChange<'_>,
    ) -> Result<u64>;

    /// A fact about the answer, the same in all processes.
    fn fact(&mut self, engine: &mut Engine<'_>) -> Result<(&'static str, u64)>;
}

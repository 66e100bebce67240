//! What live answers have in common.

use esker_algo::live::{BoundedReader, ChangedEdges, Halt};
use esker_graph::{Run, VertexId};
use esker_store::Snapshot;

use super::change::VersionChange;
use super::points::{LiveWeight, Points};
use crate::answer::{Fact, Ranking, Value, Values};
use crate::error::Result;

/// A version, and the means to compute on it.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) run: &'a Run,
}

/// What an update came to.
pub(super) enum Updated {
    /// The vertices whose values may have changed.
    Done(Vec<VertexId>),
    /// It stopped: the state is of no version.
    Stopped,
}

/// A live answer.
pub(super) trait Live: Send {
    /// How rows are ranked.
    fn ranking(&self) -> Ranking {
        Ranking::Largest
    }
    /// Whether weights are read.
    fn is_weighted(&self) -> bool {
        false
    }
    /// The bytes of its state on a graph with `n` vertices.
    fn bytes(&self, n: usize) -> u64;
    /// Makes the state of a version.
    fn recompute(&mut self, at: At<'_>) -> Result<()>;
    /// Takes the state to the next version, within a number of reads. Returns how many there were.
    fn update(&mut self, at: At<'_>, change: &VersionChange, read_max: u64) -> Result<(Updated, u64)>;
    /// The values of all vertices, removed ones included; `None` if the answer has figures only.
    fn values(&self) -> Option<Values>;
    /// The value of a vertex.
    fn value(&self, v: VertexId) -> Value;
    /// The figures; `removed` vertices are not there.
    fn facts(&self, removed: usize) -> Vec<(&'static str, Fact)>;
}

/// Runs an update of a state.
pub(super) fn updated<W: LiveWeight>(
    at: At<'_>,
    change: &VersionChange,
    read_max: u64,
    update: impl FnOnce(
        &mut BoundedReader<'_, Points<'_, W>>,
        &ChangedEdges<W>,
    ) -> std::result::Result<Vec<VertexId>, Halt<esker_store::Error>>,
) -> Result<(Updated, u64)> {
    let points = Points::new(at.snapshot);
    let mut reader = BoundedReader::new(&points, read_max);
    let outcome = match update(&mut reader, &change.edges()) {
        Ok(changed) => Updated::Done(changed),
        Err(Halt::TooMuch | Halt::Unsuitable) => Updated::Stopped,
        Err(Halt::Failed(error)) => return Err(error.into()),
    };
    Ok((outcome, reader.read()))
}

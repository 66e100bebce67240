//! What live answers have in common.

use esker_algo::live::{BoundedReader, Halt};
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
    /// Whether there is an update; without one, every step is a recomputation.
    fn updates(&self) -> bool {
        true
    }
    /// Whether weights are read.
    fn is_weighted(&self) -> bool {
        false
    }
    /// Whether a recomputation reads lists.
    fn reads_lists(&self) -> bool {
        true
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

/// Runs an update of a state. Without a state there is nothing to update.
pub(super) fn updated<'a, S, W: LiveWeight>(
    state: &mut Option<S>,
    at: At<'a>,
    change: &VersionChange,
    read_max: u64,
    update: impl FnOnce(
        &mut S,
        &mut BoundedReader<'_, Points<'a, W>>,
    ) -> std::result::Result<Vec<VertexId>, Halt<esker_store::Error>>,
) -> Result<(Updated, u64)> {
    let Some(state) = state else { return Ok((Updated::Stopped, 0)) };
    let (points, changes) = (Points::new(at.snapshot), change.edges());
    let mut reader = BoundedReader::new(&points, &changes, read_max);
    let outcome = match update(state, &mut reader) {
        Ok(changed) => Updated::Done(changed),
        Err(Halt::TooMuch | Halt::Unsuitable) => Updated::Stopped,
        Err(Halt::Failed(error)) => return Err(error.into()),
    };
    Ok((outcome, reader.read()))
}

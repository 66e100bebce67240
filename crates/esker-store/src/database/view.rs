//! What readers see of the newest version.

use std::sync::Arc;

use esker_graph::{Direction, Run, VertexId};

use super::live::{Live, OpRef};
use crate::commit::Commit;
use crate::error::{Error, Result};
use crate::property::{PropertyLayer, PropertyValue, REMOVED_NUMBER, VertexProperty, removed_record};
use crate::snapshot::{Snapshot, State};
use crate::version::Twin;

/// What readers see: layers, and durable commits over them. Immutable; readers pin it.
#[derive(Debug)]
pub(super) struct View {
    pub(super) state: Arc<State>,
    /// The newest version in its layers.
    pub(super) below: Snapshot,
    pub(super) live: Twin<Live>,
    /// Which vertices of the layers are removed.
    removed: VertexProperty,
}

/// The twin of what readers see of the commits: the next commits go into it, and then it is shown.
#[derive(Debug, Default)]
pub(super) struct Hidden {
    /// None: to be made anew.
    twin: Option<Twin<Live>>,
    /// What it does not have, and the one that is shown has.
    behind: Vec<Arc<Commit>>,
}

impl Hidden {
    /// What is to be shown next: all that is shown, and more commits. If that fails, nothing has changed.
    pub(super) fn with(&mut self, shown: &View, commits: &[Arc<Commit>], run: &Run) -> Result<Twin<Live>> {
        let behind = std::mem::take(&mut self.behind);
        let (mut twin, behind) = match self.twin.take() {
            Some(twin) => (twin, behind),
            None => (Twin::new(Live::over(&shown.below)?), shown.live.commits.clone()),
        };
        // One that failed half-way is not kept.
        let live = twin.alone();
        behind.iter().chain(commits).try_for_each(|commit| live.apply(commit, run))?;
        Ok(twin)
    }

    /// Keeps what was shown, now that its twin is, which has some commits more.
    pub(super) fn keep(&mut self, replaced: Twin<Live>, commits: Vec<Arc<Commit>>) {
        *self = Self { twin: Some(replaced), behind: commits };
    }

    /// Bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        self.twin.as_ref().map_or(0, |twin| twin.index_bytes())
    }
}

impl View {
    /// Commits over the newest version in the layers of a state.
    pub(super) fn new(state: Arc<State>, below: Snapshot, live: Twin<Live>) -> Self {
        let columns = state.layers().iter().filter_map(|layer| layer.vertex_property(REMOVED_NUMBER));
        // All of it counts: the layers end with this version.
        let layers = columns.map(|column| PropertyLayer { column: Arc::clone(column), rank: u32::MAX });
        let removed = VertexProperty::new(removed_record(), below.num_vertices(), layers);
        Self { state, below, live, removed }
    }

    /// The same layers with other commits.
    pub(super) fn with(&self, live: Twin<Live>) -> Self {
        let (state, below, removed) = (Arc::clone(&self.state), self.below.clone(), self.removed.clone());
        Self { state, below, live, removed }
    }

    /// The list of a vertex, each neighbour with the change that set it.
    pub(super) fn list(&self, direction: Direction, v: VertexId) -> Result<Vec<(VertexId, Option<OpRef>)>> {
        let below = &self.below;
        if !below.has(direction) {
            return Err(Error::Invalid(format!(
                "{} is stored without its in-edges: import it again with them",
                below.path().display()
            )));
        }
        let targets = match (v as usize) < below.num_vertices() {
            true => below.neighbors(direction, v)?.into_owned(),
            false => Vec::new(),
        };
        Ok(self.live.list(direction, v, &targets))
    }

    /// Whether a vertex is removed.
    pub(super) fn is_removed(&self, v: VertexId) -> Result<bool> {
        if let Some((commit, at)) = self.live.vertex_change(REMOVED_NUMBER, v) {
            return Ok(commit.vertices[at].value.as_ref().is_some_and(|value| value.bits == 1));
        }
        let is_below = (v as usize) < self.below.num_vertices();
        Ok(is_below && self.removed.get(v)? == Some(PropertyValue::U8(1)))
    }
}

//! What readers see of the newest version.

use std::sync::Arc;

use esker_graph::{Direction, Flow, Run, VertexId};

use super::live::{Live, OpRef};
use crate::commit::Commit;
use crate::error::{Error, Result};
use crate::ids::ExternalId;
use crate::layer::ListColumns;
use crate::property::{PropertyLayer, PropertyValue, REMOVED_NUMBER, VertexProperty, removed_record};
use crate::snapshot::{Snapshot, State};
use crate::version::Twin;

/// The length of a list is found without reading it if it is so many times as long as what the commits change in it.
/// Tests have short lists only.
const LISTED_PER_CHANGE: usize = if cfg!(test) { 1 } else { 64 };

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

    /// The vertex of an external id, removed or not.
    pub(super) fn vertex_of(&self, id: ExternalId<'_>) -> Result<Option<VertexId>> {
        match self.below.ids().vertex_of(id)? {
            Some(v) => Ok(Some(v)),
            None => Ok(self.live.ids.vertex_of(id)),
        }
    }

    /// The list of a vertex, each neighbour with the change that set it.
    pub(super) fn list(&self, direction: Direction, v: VertexId) -> Result<Vec<(VertexId, Option<OpRef>)>> {
        self.expect(direction)?;
        let targets = match self.is_below(v) {
            true => self.below.neighbors(direction, v)?.into_owned(),
            false => Vec::new(),
        };
        Ok(self.live.list(direction, v, &targets))
    }

    /// Length of the list of a vertex.
    pub(super) fn degree(&self, direction: Direction, v: VertexId) -> Result<usize> {
        self.expect(direction)?;
        let below = if self.is_below(v) { self.below.degree(direction, v)? } else { 0 };
        let changes = self.live.num_changes(direction, v);
        if changes == 0 {
            return Ok(below);
        }
        // A search for each change takes longer than reading a short list.
        if below / LISTED_PER_CHANGE < changes {
            return Ok(self.list(direction, v)?.len());
        }
        self.live.degree(direction, v, below, |target| {
            let mut copies = 0;
            self.visit_below(direction, v, target, |_, _| {
                copies += 1;
                Ok(Flow::More)
            })?;
            Ok(copies)
        })
    }

    /// Whether there is an edge.
    pub(super) fn has_edge(&self, source: VertexId, target: VertexId) -> Result<bool> {
        let (is_replaced, alive) = self.live.copies(source, target);
        if is_replaced || !alive.is_empty() {
            return Ok(!alive.is_empty());
        }
        Ok(self.is_below(source) && self.below.has_edge(source, target)?)
    }

    /// Calls `take` with each copy of an edge that the layers have, until it has enough: its lists, and its place in them.
    pub(super) fn visit_below<'a>(
        &'a self,
        direction: Direction,
        v: VertexId,
        target: VertexId,
        take: impl FnMut(&'a ListColumns, usize) -> Result<Flow>,
    ) -> Result<()> {
        match self.is_below(v) {
            true => self.below.stack().visit_copies(direction, v, target, take),
            false => Ok(()),
        }
    }

    fn is_below(&self, v: VertexId) -> bool {
        (v as usize) < self.below.num_vertices()
    }

    fn expect(&self, direction: Direction) -> Result<()> {
        if self.below.has(direction) {
            return Ok(());
        }
        let name = self.below.path().display();
        Err(Error::Invalid(format!("{name} is stored without its in-edges: import it again with them")))
    }

    /// Whether a vertex is removed.
    pub(super) fn is_removed(&self, v: VertexId) -> Result<bool> {
        if let Some((commit, at)) = self.live.vertex_change(REMOVED_NUMBER, v) {
            return Ok(commit.vertices[at].value.as_ref().is_some_and(|value| value.bits == 1));
        }
        Ok(self.is_below(v) && self.removed.get(v)? == Some(PropertyValue::U8(1)))
    }
}

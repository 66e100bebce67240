//! The newest version, in layers and in the log, as readers pin it.

use std::sync::Arc;

use esker_format::{Error, Result, Retention, VersionRecord};
use esker_graph::{Direction, Flow, Run, VertexId};
use esker_layers::ids::ExternalId;
use esker_layers::layer::ListColumns;
use esker_layers::property::{PropertyLayer, PropertyValue, REMOVED_NUMBER, VertexProperty, removed_record};

use super::unfrozen::{OpRef, UnfrozenCommits};
use crate::commit::Commit;
use crate::manifest::{Manifest, Twin, not_retained};
use crate::version::{State, Version};

/// A degree is computed without reading the list if the list is at least this many times as long as its
/// changes. Tests have only short lists.
const LISTED_PER_CHANGE: usize = if cfg!(test) { 1 } else { 64 };

/// An immutable shown: layers, and durable commits above them.
#[derive(Debug)]
pub(super) struct ShownState {
    pub(super) state: Arc<State>,
    /// The newest version in the layers.
    pub(super) below: Version,
    pub(super) unfrozen: Twin<UnfrozenCommits>,
    /// The vertices that the layers mark as removed.
    removed: VertexProperty,
}

/// The standby copy of the visible commits: it takes the next commits, then replaces the visible copy.
#[derive(Debug, Default)]
pub(super) struct StandbyCommits {
    /// `None`: rebuild it.
    twin: Option<Twin<UnfrozenCommits>>,
    /// Commits that the visible copy has and this one lacks.
    behind: Vec<Arc<Commit>>,
}

impl StandbyCommits {
    /// The next copy to publish: the visible commits and `commits`. After an error nothing has changed.
    pub(super) fn with(
        &mut self,
        shown: &ShownState,
        commits: &[Arc<Commit>],
        run: &Run,
    ) -> Result<Twin<UnfrozenCommits>> {
        let behind = std::mem::take(&mut self.behind);
        let (mut twin, behind) = match self.twin.take() {
            Some(twin) => (twin, behind),
            None => (Twin::new(UnfrozenCommits::over(&shown.below)?), shown.unfrozen.commits.clone()),
        };
        // If this fails half-way, the copy is dropped and rebuilt later.
        let unfrozen = twin.exclusive();
        behind.iter().chain(commits).try_for_each(|commit| unfrozen.apply(commit, run))?;
        Ok(twin)
    }

    /// Keeps the copy that was visible until now as the standby; it lacks `commits`.
    pub(super) fn keep(&mut self, replaced: Twin<UnfrozenCommits>, commits: Vec<Arc<Commit>>) {
        *self = Self { twin: Some(replaced), behind: commits };
    }

    /// Bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        self.twin.as_ref().map_or(0, |twin| twin.index_bytes())
    }
}

impl ShownState {
    /// Commits above the newest version in the layers of a state.
    pub(super) fn new(state: Arc<State>, below: Version, unfrozen: Twin<UnfrozenCommits>) -> Self {
        let columns = state.layers().iter().filter_map(|layer| layer.vertex_property(REMOVED_NUMBER));
        // The layers end with this version, so all their changes count.
        let layers = columns.map(|column| PropertyLayer { column: Arc::clone(column), rank: u32::MAX });
        let removed = VertexProperty::new(removed_record(), below.num_vertices(), layers);
        Self { state, below, unfrozen, removed }
    }

    /// The same layers with other commits.
    pub(super) fn with(&self, unfrozen: Twin<UnfrozenCommits>) -> Self {
        let (state, below, removed) = (Arc::clone(&self.state), self.below.clone(), self.removed.clone());
        Self { state, below, unfrozen, removed }
    }

    /// The versions that the retention does not keep and that are still in the manifest or the log,
    /// ascending.
    pub(super) fn hidden(&self) -> Vec<u64> {
        not_retained(self.state.manifest(), self.in_log())
    }

    /// The versions that another retention would not keep.
    pub(super) fn not_kept_by(&self, retention: Retention) -> Vec<u64> {
        not_retained(&Manifest { retention, ..Manifest::clone(self.state.manifest()) }, self.in_log())
    }

    /// All versions in the manifest and the log, ascending, also those that the retention does not keep.
    pub(super) fn versions(&self) -> impl Iterator<Item = VersionRecord> {
        let in_log = self.unfrozen.commits.iter().map(|commit| commit.record());
        self.state.manifest().versions.iter().cloned().chain(in_log)
    }

    /// The numbers and times of the versions in the log.
    fn in_log(&self) -> impl Iterator<Item = (u64, u64)> {
        self.unfrozen.commits.iter().map(|commit| (commit.version, commit.time_ms))
    }

    /// The vertex of an external id, whether removed or not.
    pub(super) fn vertex_of(&self, id: ExternalId<'_>) -> Result<Option<VertexId>> {
        match self.below.ids().vertex_of(id)? {
            Some(v) => Ok(Some(v)),
            None => Ok(self.unfrozen.ids.vertex_of(id)),
        }
    }

    /// The list of a vertex: each neighbour with the change that set it.
    pub(super) fn list(&self, direction: Direction, v: VertexId) -> Result<Vec<(VertexId, Option<OpRef>)>> {
        self.expect(direction)?;
        let targets = match self.is_below(v) {
            true => self.below.neighbors(direction, v)?.into_owned(),
            false => Vec::new(),
        };
        Ok(self.unfrozen.list(direction, v, &targets))
    }

    /// The degree of a vertex.
    pub(super) fn degree(&self, direction: Direction, v: VertexId) -> Result<usize> {
        self.expect(direction)?;
        let below = if self.is_below(v) { self.below.degree(direction, v)? } else { 0 };
        let changes = self.unfrozen.num_changes(direction, v);
        if changes == 0 {
            return Ok(below);
        }
        // A search for each change takes longer than reading a short list.
        if below / LISTED_PER_CHANGE < changes {
            return Ok(self.list(direction, v)?.len());
        }
        self.unfrozen.degree(direction, v, below, |target| {
            let mut copies = 0;
            self.visit_below(direction, v, target, |_, _| {
                copies += 1;
                Ok(Flow::More)
            })?;
            Ok(copies)
        })
    }

    /// Whether an edge exists.
    pub(super) fn has_edge(&self, source: VertexId, target: VertexId) -> Result<bool> {
        let (is_replaced, alive) = self.unfrozen.copies(source, target);
        if is_replaced || !alive.is_empty() {
            return Ok(!alive.is_empty());
        }
        Ok(self.is_below(source) && self.below.has_edge(source, target)?)
    }

    /// The property bits of all edges between two vertices, in the order in which they were added.
    pub(super) fn edge_bits(&self, source: VertexId, target: VertexId) -> Result<Vec<Vec<u64>>> {
        let (is_replaced, alive) = self.unfrozen.copies(source, target);
        let mut places: Vec<(&ListColumns, usize)> = Vec::new();
        if !is_replaced {
            self.visit_below(Direction::Out, source, target, |lists, at| {
                places.push((lists, at));
                Ok(Flow::More)
            })?;
        }
        // The newest layer comes first, and in a layer what was added first.
        let stretches = places.chunk_by(|one, other| std::ptr::eq(one.0, other.0)).rev();
        let bits = |&(lists, at): &(&ListColumns, usize)| {
            lists.properties().iter().map(|values| values.bits_at(at)).collect::<Result<Vec<u64>>>()
        };
        let mut found = stretches.flatten().map(bits).collect::<Result<Vec<Vec<u64>>>>()?;
        found.extend(alive.into_iter().map(|op| self.unfrozen.bits(op)));
        Ok(found)
    }

    /// Calls `take` with each copy of an edge in the layers, until it returns [`Flow::Enough`]. The arguments
    /// are the lists that contain the copy and its position there.
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
        Err(Error::invalid(format!("{name} is stored without its in-edges: import it again with them")))
    }

    /// Whether a vertex is removed.
    pub(super) fn is_removed(&self, v: VertexId) -> Result<bool> {
        if let Some((commit, at)) = self.unfrozen.vertex_change(REMOVED_NUMBER, v) {
            return Ok(commit.vertices[at].value.as_ref().is_some_and(|value| value.bits == 1));
        }
        Ok(self.is_below(v) && self.removed.get(v)? == Some(PropertyValue::U8(1)))
    }
}

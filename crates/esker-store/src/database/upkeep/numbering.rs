//! New numbers for vertices: the others are those that every version has removed. Or the same numbers, where
//! integer ids become texts.

use std::sync::Arc;

use esker_format::{Edit, Error, IdMapKind, IdMapRecord, Result, VersionRecord};
use esker_graph::{Remaining, Reservation, Run, VertexId, vertex};
use esker_layers::ids::{IdFiles, IdMap, write_segment, write_segment_as_texts};
use esker_layers::property::{REMOVED_NUMBER, removed_throughout};

use crate::version::State;

/// With [`Renumber::Auto`], more than one vertex of this many must be removed. Analyses take fewer as
/// vertices without edges.
const VERTICES_PER_REMOVED: usize = 8;
/// Memory for finding the removed vertices, for each change of a vertex from there to removed or back.
const CHANGE_BYTES: u64 = 24 + size_of::<VertexId>() as u64;
/// Memory for the index of the ids, for each vertex.
const ID_BYTES: u64 = 18;

/// Whether a compaction gives the vertices new numbers, without gaps for those that are removed in every
/// version. Their ids and properties go with them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Renumber {
    /// If they are more than one vertex of eight, and the memory is enough.
    #[default]
    Auto,
    /// If there are any.
    Always,
    /// No.
    Never,
}

/// The vertices that get new numbers, and their ids.
pub(crate) struct Numbering {
    remaining: Remaining,
    ids: IdMap,
    /// Whether ids are texts from now on.
    as_texts: bool,
    _memory: Reservation,
}

impl Numbering {
    /// The numbering to give to the vertices of a state without commits above it; `None`: they keep their
    /// numbers.
    pub(crate) fn of(state: &Arc<State>, choice: Renumber, run: &Run) -> Result<Option<Self>> {
        if choice == Renumber::Never {
            return Ok(None);
        }
        let mut columns = Vec::new();
        for layer in state.layers() {
            if let Some(column) = layer.vertex_property(REMOVED_NUMBER) {
                columns.push((Arc::clone(column), layer.lists().versions()?));
            }
        }
        let num_changes: usize = columns.iter().map(|(column, _)| column.len()).sum();
        if num_changes == 0 {
            return Ok(None);
        }
        let reserve = |bytes: u64| match choice {
            Renumber::Always => Ok(Some(run.budget().reserve("renumbering the vertices", bytes)?)),
            _ => Ok::<_, Error>(run.budget().try_reserve(bytes)),
        };
        let Some(mut memory) = reserve(num_changes as u64 * CHANGE_BYTES)? else { return Ok(None) };
        let versions = state.manifest().versions.iter();
        let versions: Vec<(u64, u64)> =
            versions.map(|version| (version.number, version.num_vertices)).collect();
        let removed = removed_throughout(&columns, &versions, run)?;
        let newest = state.version(state.newest())?;
        let n = newest.num_vertices();
        if let Some(v) = removed.iter().find(|&&v| v as usize >= n) {
            let reason = format!("vertex {v} is marked as removed in a graph of {n}");
            return Err(Error::corrupt(state.layers()[0].lists().directory(), 0, reason));
        }
        let is_few = choice == Renumber::Auto && removed.len() <= n / VERTICES_PER_REMOVED;
        if removed.is_empty() || is_few {
            return Ok(None);
        }
        let bytes = Remaining::bytes(n as u64, removed.len() as u64) + (n - removed.len()) as u64 * ID_BYTES;
        let Some(more) = reserve(bytes)? else { return Ok(None) };
        memory.absorb(more);
        let remaining = Remaining::new(n, &removed)?;
        let ids = newest.ids().clone();
        Ok(Some(Self { remaining, as_texts: ids.is_text(), ids, _memory: memory }))
    }

    /// The same numbers, with texts for ids; `None`: they are texts already.
    pub(crate) fn with_texts(state: &Arc<State>, run: &Run) -> Result<Option<Self>> {
        let newest = state.version(state.newest())?;
        if newest.ids().is_text() {
            return Ok(None);
        }
        let n = newest.num_vertices();
        let bytes = Remaining::bytes(n as u64, 0) + n as u64 * ID_BYTES;
        let memory = run.budget().reserve("making ids texts", bytes)?;
        let remaining = Remaining::new(n, &[])?;
        Ok(Some(Self { remaining, ids: newest.ids().clone(), as_texts: true, _memory: memory }))
    }

    /// The vertices that get new numbers.
    pub(crate) fn remaining(&self) -> &Remaining {
        &self.remaining
    }

    /// Number of vertices that are left out.
    pub(crate) fn num_removed(&self) -> u64 {
        (self.remaining.num_before() - self.remaining.len()) as u64
    }

    /// The new number of a vertex; `None` if it is left out. What is no vertex, as in a damaged file, gets a
    /// number that is none either.
    pub(crate) fn place(&self, v: VertexId) -> Option<VertexId> {
        match (v as usize).checked_sub(self.remaining.num_before()) {
            None => self.remaining.place(v),
            Some(beyond) => Some(vertex(self.remaining.len() + beyond)),
        }
    }

    /// Writes the ids of the vertices as a segment of a layer.
    pub(crate) fn write_ids(&self, files: &IdFiles<'_>) -> Result<()> {
        let ids = self.remaining.origins().iter().map(|&v| self.ids.external_of(v));
        match self.as_texts {
            true => write_segment_as_texts(files, ids),
            false => write_segment(files, false, ids),
        }
    }

    /// What changes in the manifest of a state, apart from its layers; `layer` is the one that holds all
    /// vertices.
    pub(crate) fn edits(&self, state: &State, layer: u32) -> Vec<Edit> {
        let manifest = state.manifest();
        let kind = if self.as_texts { IdMapKind::LayerTexts } else { IdMapKind::LayerIntegers };
        let record = IdMapRecord {
            kind,
            base: u64::from(layer),
            order: manifest.ids.order,
            stamp: manifest.ids.stamp,
        };
        let mut edits = vec![Edit::SetIdMap(record)];
        for version in manifest.versions.iter() {
            let num_vertices = self.num_before(version.num_vertices);
            if num_vertices != version.num_vertices {
                edits.push(Edit::RemoveVersion { number: version.number });
                edits.push(Edit::AddVersion(VersionRecord { num_vertices, ..version.clone() }));
            }
        }
        edits
    }

    /// How many of the first `count` vertices remain.
    fn num_before(&self, count: u64) -> u64 {
        match usize::try_from(count) {
            Ok(count) if count < self.remaining.num_before() => self.remaining.rank(vertex(count)) as u64,
            _ => self.remaining.len() as u64,
        }
    }
}

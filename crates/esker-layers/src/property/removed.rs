//! The set of vertices that are removed.
//!
//! Removing a vertex deletes its edges and sets the hidden property `removed` to 1; adding its id again sets
//! it to 0 or takes it away. Its number stays its own until a compaction renumbers the vertices without those
//! that are removed in all versions.

use std::sync::Arc;

use esker_format::Result;
use esker_graph::{Run, VertexId};

use super::column::{PropertyColumn, PropertyLayer, UNSET};

/// The removed vertices of a version. Memory: 4 bytes each (8 with `id64`). Cheap to clone.
#[derive(Debug, Clone)]
pub struct RemovedVertices {
    /// Ascending.
    list: Arc<[VertexId]>,
}

impl Default for RemovedVertices {
    fn default() -> Self {
        Self { list: Arc::new([]) }
    }
}

impl RemovedVertices {
    /// These vertices, ascending and distinct.
    pub fn from_list(list: &[VertexId]) -> Self {
        Self { list: list.into() }
    }

    /// The vertices, ascending and distinct.
    pub fn list(&self) -> &[VertexId] {
        &self.list
    }

    /// Number of removed vertices.
    pub fn count(&self) -> usize {
        self.list.len()
    }

    /// Whether `v` is removed. O(log m) for m removed vertices.
    #[inline]
    pub fn is_removed(&self, v: VertexId) -> bool {
        !self.list.is_empty() && self.list.binary_search(&v).is_ok()
    }

    /// The removed vertices of a version that also sees these newer layers, oldest first. O(m log m) for m
    /// old vertices and changes.
    ///
    /// # Errors
    /// [`esker_format::Error::Corrupt`]; [`esker_format::Error::Invalid`] if the columns are not of u8;
    /// cancellation.
    pub fn with(&self, layers: &[PropertyLayer], run: &Run) -> Result<Self> {
        if layers.iter().all(|layer| layer.column.is_empty()) {
            return Ok(self.clone());
        }
        let mut states: Vec<(VertexId, bool)> = self.list.iter().map(|&v| (v, true)).collect();
        for layer in layers {
            let (vertices, codes) = layer.column.places(run)?;
            let values = layer.column.values::<u8>(run)?;
            let seen = (0..vertices.len()).filter(|&at| codes[at] & !UNSET <= layer.rank);
            states.extend(seen.map(|at| (vertices[at], codes[at] & UNSET == 0 && values[at] != 0)));
        }
        // Stable: the newest state of a vertex comes last.
        states.sort_by_key(|&(v, _)| v);
        let last = states.chunk_by(|a, b| a.0 == b.0).filter_map(<[_]>::last);
        Ok(Self { list: last.filter(|(_, removed)| *removed).map(|&(v, _)| v).collect() })
    }
}

/// The vertices that are removed in each version that numbers them, ascending. `layers` as in
/// [`removed_by_version`]; `versions`: number and number of vertices of each version, both ascending. Time:
/// O(m log(m versions)) for m changes; memory: 24 bytes each.
///
/// # Errors
/// As [`removed_by_version`].
pub fn removed_throughout(
    layers: &[(Arc<PropertyColumn>, &[u64])],
    versions: &[(u64, u64)],
    run: &Run,
) -> Result<Vec<VertexId>> {
    let changes = changes_of(layers, run)?;
    let is_removed = |of_one: &[VertexState]| {
        let v = u64::from(of_one[0].0);
        let first = versions.partition_point(|&(_, num_vertices)| num_vertices <= v);
        // The position of the first version that numbers the vertex and is not before another.
        let position = |version: u64| first.max(versions.partition_point(|&(number, _)| number < version));
        let mut is_present_from = Some(first);
        for &(_, version, removed) in of_one {
            let at = position(version);
            if is_present_from.is_some_and(|from| from < at) {
                return false;
            }
            is_present_from = (!removed).then_some(at);
        }
        is_present_from.is_none()
    };
    let found = changes.chunk_by(|a, b| a.0 == b.0).filter(|of_one| is_removed(of_one));
    Ok(found.map(|of_one| of_one[0].0).collect())
}

/// A vertex, a version, and whether the vertex is removed from it on.
type VertexState = (VertexId, u64, bool);

/// All changes, by vertex and version.
fn changes_of(layers: &[(Arc<PropertyColumn>, &[u64])], run: &Run) -> Result<Vec<VertexState>> {
    let mut changes: Vec<VertexState> = Vec::new();
    for (column, versions) in layers {
        let (vertices, codes) = column.places(run)?;
        let values = column.values::<u8>(run)?;
        changes.extend((0..vertices.len()).map(|at| {
            let code = (codes[at] & !UNSET) as usize;
            // What was so before the range of a layer, was so from the start.
            let version = code.checked_sub(1).and_then(|index| versions.get(index)).copied().unwrap_or(0);
            (vertices[at], version, codes[at] & UNSET == 0 && values[at] == 1)
        }));
    }
    run.check()?;
    changes.sort_by_key(|&(v, version, _)| (v, version));
    Ok(changes)
}

/// Number of removed vertices from each version on that changes it, ascending by version. `layers` are the
/// changes in each layer, oldest first, and the versions that the layer tells apart. Time: O(m log m) for m
/// changes; memory: 24 bytes each.
///
/// # Errors
/// [`esker_format::Error::Corrupt`]; [`esker_format::Error::Invalid`] if the columns are not of u8;
/// cancellation.
pub fn removed_by_version(layers: &[(Arc<PropertyColumn>, &[u64])], run: &Run) -> Result<Vec<(u64, u64)>> {
    let changes = changes_of(layers, run)?;
    let mut differences: Vec<(u64, i64)> = Vec::new();
    for of_vertex in changes.chunk_by(|a, b| a.0 == b.0) {
        let mut before = false;
        for &(_, version, removed) in of_vertex {
            if removed != before {
                differences.push((version, if removed { 1 } else { -1 }));
            }
            before = removed;
        }
    }
    differences.sort_unstable_by_key(|difference| difference.0);
    let mut count = 0_u64;
    let by_version = differences.chunk_by(|a, b| a.0 == b.0).map(|differences| {
        count = count.saturating_add_signed(differences.iter().map(|difference| difference.1).sum());
        (differences[0].0, count)
    });
    Ok(by_version.collect())
}

//! Which vertices are removed.
//!
//! Vertices are never renumbered. Removing one deletes its edges and sets the hidden property `removed` to 1; adding its id
//! again sets it to 0 or takes it away.

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
    pub fn of(list: &[VertexId]) -> Self {
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

    /// Whether `v` is removed. O(log of their number); at once if there are none.
    #[inline]
    pub fn is_removed(&self, v: VertexId) -> bool {
        !self.list.is_empty() && self.list.binary_search(&v).is_ok()
    }

    /// Those of a version that sees these newer layers too, oldest first. O(m log m) for m changes and old ones.
    ///
    /// # Errors
    /// [`esker_format::Error::Corrupt`]; [`esker_format::Error::Invalid`] if the columns are not of u8; cancellation.
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

/// How many vertices are removed, from each version on at which that changes, ascending. `layers` are the changes in each layer,
/// oldest first, and the versions that the layer tells apart. Time: O(m log m) for m changes; memory: 24 bytes each.
///
/// # Errors
/// [`esker_format::Error::Corrupt`]; [`esker_format::Error::Invalid`] if the columns are not of u8; cancellation.
pub fn removed_by_version(layers: &[(Arc<PropertyColumn>, &[u64])], run: &Run) -> Result<Vec<(u64, u64)>> {
    let mut changes: Vec<(VertexId, u64, bool)> = Vec::new();
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
    let mut turns: Vec<(u64, i64)> = Vec::new();
    for of_one in changes.chunk_by(|a, b| a.0 == b.0) {
        let mut before = false;
        for &(_, version, removed) in of_one {
            if removed != before {
                turns.push((version, if removed { 1 } else { -1 }));
            }
            before = removed;
        }
    }
    turns.sort_unstable_by_key(|turn| turn.0);
    let mut count = 0_u64;
    let by_version = turns.chunk_by(|a, b| a.0 == b.0).map(|turns| {
        count = count.saturating_add_signed(turns.iter().map(|turn| turn.1).sum());
        (turns[0].0, count)
    });
    Ok(by_version.collect())
}

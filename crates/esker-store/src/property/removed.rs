//! Which vertices are removed.
//!
//! Vertices are never renumbered. Removing one deletes its edges and sets the hidden property `removed` to 1; adding its id
//! again sets it to 0 or takes it away.

use std::sync::Arc;

use esker_graph::{Run, VertexId};

use super::column::{PropertyLayer, UNSET};
use crate::error::Result;

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
    /// [`crate::Error::Corrupt`]; [`crate::Error::Invalid`] if the columns are not of u8; cancellation.
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

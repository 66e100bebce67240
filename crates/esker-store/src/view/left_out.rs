//! Vertices that a view leaves out, with all of their edges.

use std::sync::Arc;

use esker_format::Result;
use esker_graph::VertexId;
use esker_layers::graph::views::window::{ArcFilter, ListedArc};

/// Keeps the arcs between other vertices, of those that another filter keeps.
#[derive(Debug)]
pub(super) struct LeftOut {
    /// Ascending.
    vertices: Arc<[VertexId]>,
    filter: Option<Arc<dyn ArcFilter>>,
}

impl LeftOut {
    /// Leaves out ascending vertices.
    pub(super) fn new(vertices: &Arc<[VertexId]>, filter: Option<Arc<dyn ArcFilter>>) -> Self {
        Self { vertices: Arc::clone(vertices), filter }
    }
}

impl ArcFilter for LeftOut {
    fn keeps(&self, arc: &ListedArc<'_>) -> Result<bool> {
        if [arc.source, arc.target].iter().any(|v| self.vertices.binary_search(v).is_ok()) {
            return Ok(false);
        }
        self.filter.as_ref().map_or(Ok(true), |filter| filter.keeps(arc))
    }

    fn keeps_one_a_pair(&self) -> bool {
        self.filter.as_ref().is_some_and(|filter| filter.keeps_one_a_pair())
    }
}

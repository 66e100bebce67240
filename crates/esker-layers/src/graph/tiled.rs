//! Graphs whose scans read tiles, and whose single lists are read from the lists.

use std::sync::Arc;

use esker_format::{Error, Result};
use esker_graph::{AnyVisitor, Direction, ListAccess, Run, Select, Source, VertexId};

use super::mapped::points::{PointReads, few};
use super::weight::ColumnWeight;
use crate::tiles::TileScan;

/// One direction.
#[derive(Debug)]
pub(super) struct TiledSide<'a, W> {
    pub(super) scan: Arc<TileScan<'a, W>>,
    /// The lists, if they are kept.
    pub(super) points: Option<PointReads<'a>>,
    pub(super) direction: Direction,
}

impl<W: ColumnWeight> Source<W, Error> for TiledSide<'_, W> {
    fn degree(&self, v: VertexId) -> usize {
        self.scan.degree(self.direction, v)
    }

    fn is_scattered(&self) -> bool {
        true
    }

    fn list_access(&self) -> ListAccess {
        let are_cheap = self.points.as_ref().is_some_and(PointReads::are_cheap);
        if are_cheap { ListAccess::Scans } else { ListAccess::OnlyScans }
    }

    fn has_lists(&self) -> bool {
        self.points.is_some()
    }

    /// The lists of a few vertices are read one by one, if they are stored, all others with their tiles.
    fn scan(&self, run: &Run, select: Select<'_>, visitor: &dyn AnyVisitor<W>) -> Result<()> {
        let num_edges = self.scan.tiles().shape().num_edges;
        let points = self.points.as_ref().filter(|points| points.are_cheap());
        match (points, few(select, num_edges, |v| self.degree(v))) {
            (Some(points), Some(list)) => points.scan(run, list, visitor),
            _ => self.scan.scan(run, self.direction, select, visitor),
        }
    }

    fn with_list(&self, v: VertexId, take: &mut dyn FnMut(&[VertexId], &[W])) -> Result<()> {
        let points = self.points.as_ref().ok_or_else(|| {
            let message = "single in-lists are read, which tiles do not hold, and the graph is stored without its in-edges: copy its \
                           lists to memory, or import it with in-edges";
            Error::invalid(message.to_owned())
        })?;
        points.with_list(v, take)
    }
}

//! What is different between two versions of a graph.
//!
//! Only vertices that a layer between the two versions touches are looked at, so that the difference of two near versions costs by
//! what changed, not by the size of the graph. A merged layer that covers both versions says by its codes which lists changed.
//!
//! Time: the lists, in both versions, of the vertices that changed in between. Memory: two lists, some words a layer; if more
//! than one vertex in 64 may have changed and there are many layers, the vertex tables of both versions.

mod kinds;
mod touched;
mod lists;
mod vertices;
#[cfg(test)]
mod tests;

use esker_graph::{Direction, Run};

use crate::error::{Error, Result};
use crate::snapshot::Snapshot;

pub use kinds::{Difference, EdgeOf};

use touched::Touched;
use vertices::Vertices;

/// With at least one touched vertex for so many, vertex tables are worth making.
const TABLE_VERTICES_PER_TOUCHED: usize = 64;
/// With fewer layers a list is soon found without a table.
const TABLE_LAYERS_MIN: usize = 8;
/// Vertices between two looks at the token that cancels.
const CHECK_VERTICES: usize = 64;

/// How many differences of each kind there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DiffSummary {
    /// Vertices that came.
    pub vertices_added: u64,
    /// Vertices that went.
    pub vertices_removed: u64,
    /// Values of vertices that are different.
    pub values_changed: u64,
    /// Edges that came.
    pub edges_added: u64,
    /// Edges that went.
    pub edges_removed: u64,
    /// Edges with other properties.
    pub edges_changed: u64,
}

impl DiffSummary {
    fn count(&mut self, difference: &Difference<'_>) {
        *match difference {
            Difference::VertexAdded(_) => &mut self.vertices_added,
            Difference::VertexRemoved(_) => &mut self.vertices_removed,
            Difference::ValueChanged(..) => &mut self.values_changed,
            Difference::EdgeAdded(_) => &mut self.edges_added,
            Difference::EdgeRemoved(_) => &mut self.edges_removed,
            Difference::EdgeChanged(..) => &mut self.edges_changed,
        } += 1;
    }
}

/// Hands every difference on the way from version `a` to version `b` to `visit`, in the order of vertices: first of the vertex
/// itself, then of its properties, then of the edges that leave it, ascending by target. Either version may be the newer one. A vertex
/// that came brings its properties as changes; one that goes takes them along silently.
///
/// # Errors
/// [`Error::Invalid`] if they are not versions of one database; [`Error::Corrupt`]; cancellation; what `visit` returns.
pub fn diff<F>(a: &Snapshot, b: &Snapshot, run: &Run, mut visit: F) -> Result<DiffSummary>
where
    F: FnMut(Difference<'_>) -> Result<()>,
{
    if a.manifest().database != b.manifest().database {
        let (a, b) = (a.path().display(), b.path().display());
        return Err(Error::Invalid(format!("{a} and {b} are two databases: name two versions of one")));
    }
    let mut summary = DiffSummary::default();
    let (older, newer) = if a.version().number <= b.version().number { (a, b) } else { (b, a) };
    let since = older.version().number;
    if since == newer.version().number {
        return Ok(summary);
    }
    let mut visit = |difference: Difference<'_>| {
        summary.count(&difference);
        visit(difference)
    };
    let mut touched = Touched::new(newer.stack(), since, run)?;
    for side in [a, b] {
        let many = touched.len_max() >= side.num_vertices() / TABLE_VERTICES_PER_TOUCHED;
        if many && side.stack().layers().len() >= TABLE_LAYERS_MIN {
            side.stack().table(Direction::Out, run)?;
        }
    }
    let mut vertices = Vertices::new(a, b, newer, since, run)?;
    let mut looked_at = 0;
    loop {
        if looked_at % CHECK_VERTICES == 0 {
            run.check()?;
        }
        looked_at += 1;
        let Some(v) = [vertices.peek(), touched.peek()].into_iter().flatten().min() else {
            return Ok(summary);
        };
        if vertices.peek() == Some(v) {
            vertices.next(v, &mut visit)?;
        }
        if touched.peek() == Some(v) {
            touched.next()?;
            lists::compare(a, b, v, &mut visit)?;
        }
    }
}

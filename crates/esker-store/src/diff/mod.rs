//! Finds the differences between two versions of a graph.
//!
//! The search visits only vertices that a layer between the two versions changed, so comparing near versions
//! takes time linear in the changes, not in the graph. If a merged layer covers both versions, its version
//! codes tell which lists changed.
//!
//! Time: linear in what the layers that only one of the versions reads have of the lists of these vertices,
//! with a search in the other layers for each target. Or linear in the lists, in both versions, where those
//! are short or the layers were merged. Memory: two lists and a few words a layer; also the vertex tables of
//! both versions, if more than one vertex in 64 may have changed and there are many layers.

mod kinds;
mod cache;
mod touched;
mod lists;
mod vertices;
#[cfg(test)]
mod tests;

use esker_format::{Error, Result};
use esker_graph::{Direction, Run};

use crate::version::Version;

pub use kinds::{DiffEdge, Difference};

pub use cache::DiffCache;
use lists::{CommonLayers, CommonTypes};
pub(crate) use touched::TouchedVertices;
use vertices::ChangedVertices;

/// With at least one touched vertex per this many, vertex tables are worth building.
const TABLE_VERTICES_PER_TOUCHED: usize = 64;
/// With fewer layers, finding a list without a table is fast enough.
const TABLE_LAYERS_MIN: usize = 8;
/// The number of vertices between two checks for cancellation.
const CHECK_VERTICES: usize = 64;

/// The number of differences of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DiffSummary {
    /// Vertices added.
    pub vertices_added: u64,
    /// Vertices removed.
    pub vertices_removed: u64,
    /// Vertex property values changed.
    pub values_changed: u64,
    /// Edges added.
    pub edges_added: u64,
    /// Edges removed.
    pub edges_removed: u64,
    /// Edges with changed properties.
    pub edges_changed: u64,
}

impl std::ops::AddAssign for DiffSummary {
    fn add_assign(&mut self, other: Self) {
        self.vertices_added += other.vertices_added;
        self.vertices_removed += other.vertices_removed;
        self.values_changed += other.values_changed;
        self.edges_added += other.edges_added;
        self.edges_removed += other.edges_removed;
        self.edges_changed += other.edges_changed;
    }
}

impl DiffSummary {
    /// Counts a difference.
    pub fn count(&mut self, difference: &Difference<'_>) {
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

/// Counts the differences of vertices and their properties from version `a` to version `b`; reads no lists.
///
/// # Errors
/// As [`diff`].
pub fn diff_vertices(a: &Version, b: &Version, run: &Run) -> Result<DiffSummary> {
    expect_one_database(a, b)?;
    let mut summary = DiffSummary::default();
    let (older, newer) = in_order(a, b);
    let mut vertices = ChangedVertices::new(a, b, newer, older.number(), run)?;
    let mut num_visited = 0;
    while let Some(v) = vertices.peek() {
        if num_visited % CHECK_VERTICES == 0 {
            run.check()?;
        }
        num_visited += 1;
        vertices.next(v, &mut |difference| {
            summary.count(&difference);
            Ok(())
        })?;
    }
    Ok(summary)
}

/// The older and the newer of two versions.
fn in_order<'a>(a: &'a Version, b: &'a Version) -> (&'a Version, &'a Version) {
    if a.number() <= b.number() { (a, b) } else { (b, a) }
}

fn expect_one_database(a: &Version, b: &Version) -> Result<()> {
    if a.manifest().database == b.manifest().database {
        return Ok(());
    }
    let (a, b) = (a.path().display(), b.path().display());
    Err(Error::invalid(format!("{a} and {b} are different databases: compare two versions of one database")))
}

/// Calls `visit` with each difference from version `a` to version `b`, in the order of vertices: first the
/// vertex itself, then its properties, then its out-edges in ascending order of targets. Either version may
/// be the newer one. The properties of an added vertex are reported as changes; those of a removed vertex are
/// not reported.
///
/// ```
/// # let (directory, csv) = (tempfile::tempdir()?, *b"source,target\nalice,bob\nbob,carol\n");
/// # let path = directory.path().join("web.esker");
/// # let edges = [esker_import::Input::memory("web.csv", csv)];
/// # esker_import::import_inputs(&edges, &path, &Default::default(), &Default::default())?;
/// # let db = esker_store::Database::open(&path, Default::default())?;
/// use esker_store::diff::{Difference, diff};
///
/// let mut batch = db.batch();
/// batch.add_edge("carol", "alice", &[])?;
/// let version = db.commit(batch, "a ring")?;
/// let (old, new) = (db.at(1)?, db.at(version)?);
/// let mut added = Vec::new();
/// let summary = diff(&old, &new, &esker_graph::Run::with_threads(1)?, |difference| {
///     if let Difference::EdgeAdded(edge) = difference {
///         added.push(new.ids().external_of(edge.source)?.to_string());
///     }
///     Ok(())
/// })?;
/// assert_eq!((summary.edges_added, added), (1, vec!["carol".to_owned()]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error::Invalid`] if the versions are of different databases; [`Error::Corrupt`]; cancellation; what
/// `visit` returns.
pub fn diff<F>(a: &Version, b: &Version, run: &Run, visit: F) -> Result<DiffSummary>
where
    F: FnMut(Difference<'_>) -> Result<()>,
{
    diff_with(None, a, b, run, visit)
}

impl DiffCache {
    /// As [`diff`].
    ///
    /// # Errors
    /// As [`diff`].
    pub fn diff<F>(&mut self, a: &Version, b: &Version, run: &Run, visit: F) -> Result<DiffSummary>
    where
        F: FnMut(Difference<'_>) -> Result<()>,
    {
        self.forget_gone();
        diff_with(Some(self), a, b, run, visit)
    }
}

/// As [`diff`], with what a cache knows.
fn diff_with<F>(
    cache: Option<&mut DiffCache>,
    a: &Version,
    b: &Version,
    run: &Run,
    mut visit: F,
) -> Result<DiffSummary>
where
    F: FnMut(Difference<'_>) -> Result<()>,
{
    expect_one_database(a, b)?;
    let mut summary = DiffSummary::default();
    let (older, newer) = in_order(a, b);
    let since = older.number();
    if since == newer.number() {
        return Ok(summary);
    }
    let mut visit = |difference: Difference<'_>| {
        summary.count(&difference);
        visit(difference)
    };
    let mut touched = TouchedVertices::new(newer.stack(), since, cache, run)?;
    for version in [a, b] {
        let many = touched.len_max() >= version.num_vertices() / TABLE_VERTICES_PER_TOUCHED;
        if many && version.stack().layers().len() >= TABLE_LAYERS_MIN {
            version.stack().table(Direction::Out, run)?;
        }
    }
    let mut vertices = ChangedVertices::new(a, b, newer, since, run)?;
    let (types, common) = (CommonTypes::of(a, b), CommonLayers::of(a, b));
    let mut num_visited = 0;
    loop {
        if num_visited % CHECK_VERTICES == 0 {
            run.check()?;
        }
        num_visited += 1;
        let Some(v) = [vertices.peek(), touched.peek()].into_iter().flatten().min() else {
            return Ok(summary);
        };
        if vertices.peek() == Some(v) {
            vertices.next(v, &mut visit)?;
        }
        if touched.peek() == Some(v) {
            touched.next()?;
            lists::compare(a, b, &types, &common, v, &mut visit)?;
        }
    }
}

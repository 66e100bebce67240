//! Histograms: for each remaining vertex, how many of its neighbours were just removed.
//!
//! Peeling removes vertices and lowers the degrees of the remaining ones by these counts. The *sparse* form
//! reads the lists of the removed vertices and lowers degrees by fetch-and-add. The *dense* form [1, 4.3.4]
//! reads the lists of the remaining vertices and ends each piece with one addition, which is cheaper per
//! entry and does not contend on hubs. Both take O(n) memory. The paper's sparse form, a hash table of
//! neighbours, takes more memory to reduce contention.
//!
//! [1] L. Dhulipala et al., "Sage: Parallel Semi-Asymmetric Graph Algorithms for NVRAMs", VLDB 2020.

use esker_graph::{Bitmap, Direction, Flow, Graph, Piece, Run, Select, VertexId, Visitor, Weight, vertex};

use super::array::VertexArray;
use super::neighbours::{num_entries, scan_neighbours};
use super::reduce::edge_sum;

/// Entries that the dense form reads in the time that the sparse form reads one.
const SPARSE_COST: u64 = 4;

/// The number of entries of each neighbourhood, self-loops excluded. Reads all lists once.
///
/// # Errors
/// As [`Graph::scan`].
pub(crate) fn degrees_without_loops<G: Graph>(
    graph: &G,
    run: &Run,
    directions: &[Direction],
) -> Result<VertexArray, G::Error> {
    let degrees = VertexArray::from_fn(run, graph.num_vertices(), |v| {
        num_entries(graph, directions, vertex(v)) as VertexId
    });
    edge_sum(graph, run, directions, Select::All, &degrees, |v, targets, _| {
        targets.iter().map(|&u| VertexId::from(u == v)).sum::<VertexId>().wrapping_neg()
    })?;
    Ok(degrees)
}

/// One step of peeling: the vertices removed and the vertices that remain.
pub(crate) struct PeelStep<'a> {
    /// The vertices removed in this step, each once.
    pub(crate) removed: &'a [VertexId],
    /// The same vertices as a set.
    pub(crate) removed_bits: &'a Bitmap,
    /// The vertices that remain, each once.
    pub(crate) remaining: &'a [VertexId],
    /// For each remaining vertex, its number of neighbours that remain or were just removed. Other values do
    /// not matter.
    pub(crate) degrees: &'a VertexArray,
}

impl PeelStep<'_> {
    /// Lowers the degrees of the remaining vertices to count only neighbours that remain, by the cheaper
    /// form.
    ///
    /// # Errors
    /// As [`Graph::scan`].
    pub(crate) fn lower<G: Graph>(
        &self,
        graph: &G,
        run: &Run,
        directions: &[Direction],
    ) -> Result<(), G::Error> {
        let entries =
            |list: &[VertexId]| list.iter().map(|&v| num_entries(graph, directions, v) as u64).sum::<u64>();
        if entries(self.remaining) < SPARSE_COST.saturating_mul(entries(self.removed)) {
            edge_sum(graph, run, directions, Select::List(self.remaining), self.degrees, |_, targets, _| {
                let removed = targets.iter().map(|&u| VertexId::from(self.removed_bits.get(u)));
                removed.sum::<VertexId>().wrapping_neg()
            })?;
        } else {
            scan_neighbours(graph, run, directions, Select::List(self.removed), &LowerSparsely(self))?;
        }
        Ok(())
    }
}

/// The sparse form: visits the lists of the removed vertices.
struct LowerSparsely<'a>(&'a PeelStep<'a>);

impl<W: Weight> Visitor<W> for LowerSparsely<'_> {
    type State = ();

    fn new_state(&self) {}

    #[inline(always)]
    fn visit(&self, (): &mut (), _: VertexId, piece: Piece<'_, W>) -> Flow {
        // Also lowers vertices removed now or before, whose degrees no longer matter.
        piece.targets.iter().for_each(|&u| {
            self.0.degrees.add(u, VertexId::MAX);
        });
        Flow::More
    }
}

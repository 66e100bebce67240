//! Histograms: how many entries of the lists of some vertices are each of the others.
//!
//! Peeling takes vertices away and lowers the degrees of those that remain by such counts. *Sparse*, the lists of those
//! taken are read and counts lowered by fetch-and-add; *dense* [1, 4.3.4], the lists of those that remain are read, and one
//! addition ends each piece of them: cheaper for each entry, and free of contention on hubs. Either takes O(n) memory and no more; the paper's
//! sparse form, a hash table of the neighbours, trades memory for contention.
//!
//! [1] L. Dhulipala et al., "Sage: Parallel Semi-Asymmetric Graph Algorithms for NVRAMs", VLDB 2020.

use esker_graph::{Bitmap, Direction, Flow, Graph, Piece, Run, Select, VertexId, Visitor, Weight, vertex};

use super::array::VertexArray;
use super::neighbours::{num_entries, scan_neighbours};
use super::reduce::edge_sum;

/// How many entries are read densely in the time of one that is read sparsely.
const SPARSE_COST: u64 = 4;

/// The degree of each vertex in its neighbourhood, without loops. Reads all lists once.
///
/// # Errors
/// As [`Graph::scan`].
pub(crate) fn degrees_without_loops<G: Graph>(
    graph: &G,
    run: &Run,
    ways: &[Direction],
) -> Result<VertexArray, G::Error> {
    let degrees =
        VertexArray::from_fn(run, graph.num_vertices(), |v| num_entries(graph, ways, vertex(v)) as VertexId);
    edge_sum(graph, run, ways, Select::All, &degrees, |v, targets, _| {
        targets.iter().map(|&u| VertexId::from(u == v)).sum::<VertexId>().wrapping_neg()
    })?;
    Ok(degrees)
}

/// Vertices that were taken away, and what remains.
pub(crate) struct Peeled<'a> {
    /// Those taken away now, each once.
    pub(crate) taken: &'a [VertexId],
    /// The same as a set.
    pub(crate) taken_bits: &'a Bitmap,
    /// Those that remain, each once.
    pub(crate) remaining: &'a [VertexId],
    /// The degrees of those that remain, among these and those taken; of others, anything.
    pub(crate) degrees: &'a VertexArray,
}

impl Peeled<'_> {
    /// Lowers the degrees of those that remain to that among themselves, in whichever way is cheaper.
    ///
    /// # Errors
    /// As [`Graph::scan`].
    pub(crate) fn lower<G: Graph>(&self, graph: &G, run: &Run, ways: &[Direction]) -> Result<(), G::Error> {
        let entries =
            |list: &[VertexId]| list.iter().map(|&v| num_entries(graph, ways, v) as u64).sum::<u64>();
        if entries(self.remaining) < SPARSE_COST.saturating_mul(entries(self.taken)) {
            edge_sum(graph, run, ways, Select::List(self.remaining), self.degrees, |_, targets, _| {
                let taken = targets.iter().map(|&u| VertexId::from(self.taken_bits.get(u)));
                taken.sum::<VertexId>().wrapping_neg()
            })?;
        } else {
            scan_neighbours(graph, run, ways, Select::List(self.taken), &Sparse(self))?;
        }
        Ok(())
    }
}

/// Goes over the lists of those taken away.
struct Sparse<'a>(&'a Peeled<'a>);

impl<W: Weight> Visitor<W> for Sparse<'_> {
    type State = ();

    fn new_state(&self) {}

    #[inline(always)]
    fn visit(&self, (): &mut (), _: VertexId, piece: Piece<'_, W>) -> Flow {
        // Degrees of those taken away now or before do not matter any more.
        piece.targets.iter().for_each(|&u| {
            self.0.degrees.add(u, VertexId::MAX);
        });
        Flow::More
    }
}

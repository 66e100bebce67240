//! Edge reductions: one value per vertex, computed from all entries of its list.
//!
//! The list of a hub may arrive in pieces, to several threads at once. Each piece is reduced by the thread
//! that holds it, and the partial results are added atomically, so long lists are reduced in parallel.

use esker_graph::{Direction, Flow, Graph, Piece, Run, Select, VertexId, Visitor, Weight};

use super::array::{ArrayValue, VertexValues};
use super::neighbours::scan_neighbours;

/// Adds `part(v, targets, weights)` of each piece to the value of each selected vertex `v`, for all lists in
/// `directions`. Integer sums do not depend on how lists are divided into pieces; floating-point sums do,
/// unless each list comes whole.
///
/// ```
/// use esker_algo::primitive::{VertexValues, edge_sum};
/// use esker_graph::{Csr, Direction, Run, Select};
///
/// let csr = Csr::directed(3, &[(0, 1, 2.0), (0, 2, 3.0), (1, 2, 4.0)])?;
/// let run = Run::with_threads(2)?;
/// let sums = VertexValues::<f64>::filled(&run, 3, 0.0);
/// let add = |_v, _targets: &[_], weights: &[f64]| weights.iter().sum();
/// edge_sum(&csr.graph(), &run, &[Direction::Out], Select::All, &sums, add)?;
/// assert_eq!(sums.into_vec(), [5.0, 4.0, 0.0]);
/// # Ok::<(), esker_graph::Stop>(())
/// ```
///
/// # Errors
/// As [`Graph::scan`].
pub fn edge_sum<G: Graph, T: ArrayValue>(
    graph: &G,
    run: &Run,
    directions: &[Direction],
    select: Select<'_>,
    sums: &VertexValues<T>,
    part: impl Fn(VertexId, &[VertexId], &[G::Weight]) -> T + Sync,
) -> Result<(), G::Error> {
    scan_neighbours(graph, run, directions, select, &EdgeSum { sums, part })?;
    Ok(())
}

/// Reduces each piece and adds the result to the vertex's sum.
struct EdgeSum<'a, T: ArrayValue, F> {
    sums: &'a VertexValues<T>,
    part: F,
}

impl<W: Weight, T: ArrayValue, F: Fn(VertexId, &[VertexId], &[W]) -> T + Sync> Visitor<W>
    for EdgeSum<'_, T, F>
{
    type State = ();

    fn new_state(&self) {}

    #[inline(always)]
    fn visit(&self, (): &mut (), v: VertexId, piece: Piece<'_, W>) -> Flow {
        let part = (self.part)(v, piece.targets, piece.weights);
        if piece.exclusive {
            self.sums.add_exclusive(v, part);
        } else {
            self.sums.add(v, part);
        }
        Flow::More
    }
}

#[cfg(test)]
mod tests {
    use esker_graph::{Csr, Fragmented, vertex};

    use super::*;

    #[test]
    fn a_huge_list_is_summed_by_many_threads() {
        let n = 50_000;
        let edges: Vec<_> = (1..n).map(|v| (0, vertex(v), v as i64)).collect();
        let csr = Csr::undirected(n, &edges).expect("the ends are below the number of vertices");
        let graph = csr.graph();
        for threads in [1, 2, 7] {
            let run = Run::with_threads(threads).expect("threads start");
            let sum = |graph: &Fragmented<'_, i64>| {
                let sums = VertexValues::filled(&run, n, 0i64);
                let part = |_, _: &[VertexId], weights: &[i64]| weights.iter().sum();
                edge_sum(graph, &run, &[Direction::Out], Select::All, &sums, part).expect("not cancelled");
                sums.into_vec()
            };
            let sums = sum(&Fragmented::new(graph, 9));
            assert_eq!(sums[0], (1..n as i64).sum());
            assert!((1..n).all(|v| sums[v] == v as i64));
        }
    }
}

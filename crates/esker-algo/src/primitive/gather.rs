//! Sums of the values of neighbours, for power iterations that run rarely: one visitor, in batches.
//!
//! PageRank has a faster primitive, [`super::NeighbourSum`], whose shares are less than 2. Here values and
//! weights are any numbers. A sum of a list that comes whole is made in the order of the list; of one in
//! pieces, in the order in which these come.

use esker_graph::{Direction, Flow, Graph, Piece, Run, Select, VertexId, Visitor};

use super::array::VertexValues;
use super::rank::Ranked;
use super::vertex_map::each_vertex;

/// Sets the value of each vertex in `sums` to the sum over its list of `direction` of the values of its
/// neighbours, each times the weight of the arc. Reads the lists of that direction where they are kept, else
/// those of the other.
pub(crate) fn gather<G: Graph<Weight: Ranked>>(
    graph: &G,
    run: &Run,
    direction: Direction,
    values: &[f64],
    sums: &VertexValues<f64>,
) -> Result<(), G::Error> {
    each_vertex(run, values.len(), |v| sums.set(v, 0.0))?;
    let pulls = graph.has(direction);
    let read = if pulls { direction } else { direction.reverse() };
    graph.scan(run, read, Select::All, &Gather { values, sums, pulls })?;
    Ok(())
}

struct Gather<'a> {
    values: &'a [f64],
    sums: &'a VertexValues<f64>,
    /// Whether the lists are those of the vertices that receive.
    pulls: bool,
}

impl<W: Ranked> Visitor<W> for Gather<'_> {
    type State = ();

    const BOXED: bool = true;
    const STOPS: bool = false;

    fn new_state(&self) {}

    fn visit(&self, (): &mut (), v: VertexId, piece: Piece<'_, W>) -> Flow {
        let arcs = piece.targets.iter().zip(piece.weights);
        if self.pulls {
            let sum: f64 = arcs.map(|(&u, weight)| self.values[u as usize] * weight.as_f64()).sum();
            if piece.exclusive {
                self.sums.add_exclusive(v, sum);
            } else {
                self.sums.add(v, sum);
            }
        } else {
            let value = self.values[v as usize];
            arcs.for_each(|(&u, weight)| _ = self.sums.add(u, value * weight.as_f64()));
        }
        Flow::More
    }
}

//! Degree assortativity: whether vertices of many edges are joined to vertices of many.
//!
//! The correlation, over all arcs, of a degree of the source with a degree of the target [1]: from -1 (hubs
//! are joined to leaves) to 1 (each vertex is joined to vertices of its own degree). Sums are integers, so it
//! never varies. Degrees are the lengths of lists; parallel edges count each.
//!
//! Work O(n + m). Memory: that of each worker's sums. Reads: the out-lists once.
//!
//! [1] M. Newman, "Mixing patterns in networks", Phys. Rev. E 67, 2003.

use esker_graph::{Direction, Flow, Graph, Piece, Run, Select, VertexId, Visitor, Weight};

use super::degrees::DegreeOf;
use crate::estimate::{Estimate, Shape};
use crate::primitive::{need_in_edges, num_entries};

/// Which degrees of a directed graph are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AssortativityOptions {
    /// That of the vertex which an arc leaves.
    pub source: DegreeOf,
    /// That of the vertex to which it leads.
    pub target: DegreeOf,
}

impl Default for AssortativityOptions {
    fn default() -> Self {
        Self { source: DegreeOf::Out, target: DegreeOf::In }
    }
}

/// Sums over arcs.
#[derive(Debug, Clone, Copy, Default)]
struct DegreeSums {
    arcs: u128,
    source: u128,
    target: u128,
    source_squares: u128,
    target_squares: u128,
    products: u128,
}

impl DegreeSums {
    fn plus(self, other: Self) -> Self {
        Self {
            arcs: self.arcs + other.arcs,
            source: self.source + other.source,
            target: self.target + other.target,
            source_squares: self.source_squares + other.source_squares,
            target_squares: self.target_squares + other.target_squares,
            products: self.products + other.products,
        }
    }

    /// The correlation; NaN if all degrees at one end are the same.
    fn correlation(self) -> f64 {
        let mean = |sum: u128| sum as f64 / self.arcs as f64;
        // The exact difference: its terms are far larger than it.
        let covariance = |sum: u128, a: u128, b: u128| match (sum.checked_mul(self.arcs), a.checked_mul(b)) {
            (Some(all), Some(chance)) if all >= chance => (all - chance) as f64,
            (Some(all), Some(chance)) => -((chance - all) as f64),
            _ => (mean(sum) - mean(a) * mean(b)) * self.arcs as f64 * self.arcs as f64,
        };
        let of_source = covariance(self.source_squares, self.source, self.source);
        let of_target = covariance(self.target_squares, self.target, self.target);
        let spread = of_source.sqrt() * of_target.sqrt();
        if spread > 0.0 { covariance(self.products, self.source, self.target) / spread } else { f64::NAN }
    }
}

struct CompareDegrees<'a, G> {
    graph: &'a G,
    source: &'static [Direction],
    target: &'static [Direction],
}

impl<G: Graph, W: Weight> Visitor<W> for CompareDegrees<'_, G> {
    type State = DegreeSums;

    const BOXED: bool = true;
    const STOPS: bool = false;

    fn new_state(&self) -> DegreeSums {
        DegreeSums::default()
    }

    fn visit(&self, sums: &mut DegreeSums, v: VertexId, piece: Piece<'_, W>) -> Flow {
        let own = num_entries(self.graph, self.source, v) as u128;
        let (mut others, mut squares) = (0, 0);
        for &u in piece.targets {
            let other = num_entries(self.graph, self.target, u) as u128;
            (others, squares) = (others + other, squares + other * other);
        }
        let len = piece.targets.len() as u128;
        *sums = sums.plus(DegreeSums {
            arcs: len,
            source: own * len,
            target: others,
            source_squares: own * own * len,
            target_squares: squares,
            products: own * others,
        });
        Flow::More
    }
}

/// Estimates memory and reads; both are exact.
pub fn estimate(shape: Shape) -> Estimate {
    Estimate { memory_bytes: size_of::<DegreeSums>() as u64, read_bytes: shape.list_bytes() }
}

/// Finds the assortativity; NaN if all degrees at one end of the arcs are the same, and without arcs.
///
/// ```
/// use esker_algo::algorithm::centrality::assortativity::{AssortativityOptions, assortativity};
/// use esker_graph::{Csr, Run};
///
/// let star = Csr::undirected(4, &[(0, 1, ()), (0, 2, ()), (0, 3, ())])?;
/// let found = assortativity(&star.graph(), &Run::with_threads(2)?, AssortativityOptions::default())?;
/// assert_eq!(found, -1.0);
/// # Ok::<(), esker_graph::Stop>(())
/// ```
///
/// # Errors
/// [`esker_graph::Stop::Unsuitable`] for degrees of in-edges of a directed graph stored without them; the
/// first list that cannot be read; cancellation.
pub fn assortativity<G: Graph>(graph: &G, run: &Run, options: AssortativityOptions) -> Result<f64, G::Error> {
    let run = &run.begin("assortativity", estimate(Shape::of(graph)).memory_bytes)?;
    let [source, target] = [options.source, options.target].map(|of| of.directions(graph.is_directed()));
    if [source, target].concat().contains(&Direction::In) {
        need_in_edges(graph, "assortativity by in-degrees")?;
    }
    run.round(graph.num_vertices())?;
    let compare = CompareDegrees { graph, source, target };
    let sums = graph.scan(run, Direction::Out, Select::All, &compare)?;
    Ok(sums.into_iter().fold(DegreeSums::default(), DegreeSums::plus).correlation())
}

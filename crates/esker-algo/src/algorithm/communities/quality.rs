//! The quality of given groups of vertices: modularity, coverage, conductance.
//!
//! The modularity of groups c is the sum over c of in(c) / W - r out(c) in'(c) / W^2 [1, 2]. in(c) is the
//! weight of the arcs inside c, out(c) and in'(c) that of the arcs that leave and that reach its vertices, W
//! that of all arcs, r the resolution. An undirected edge is two arcs, and so is an undirected self-loop;
//! then out(c) and in'(c) are the same. The coverage is the share of weight inside groups: the sum of in(c) /
//! W. The conductance of c is the weight of the arcs between c and the rest, in both directions, divided by
//! vol(c) or by vol(rest), whichever is less; vol(c) = out(c) + in'(c) [3]. A group with nothing on one of
//! these sides has none. Parallel edges add up.
//!
//! Weights are whole multiples of a power of two (`primitive/units.rs`), so that no figure depends on the
//! order of additions.
//!
//! Work O(n + m). Memory: 16 bytes a vertex, 24 for a directed graph, and three times 8 bytes a group. Reads:
//! the out-lists once, by weight twice.
//!
//! [1] M. Newman, M. Girvan, Phys. Rev. E 69, 2004; the resolution: J. Reichardt, S. Bornholdt, Phys. Rev. E
//!     74, 2006.
//! [2] E. Leicht, M. Newman, "Community structure in directed networks", Phys. Rev. Lett. 100, 2008.
//! [3] J. Leskovec et al., "Statistical properties of community structure in large social and information
//!     networks", WWW 2008.

use esker_graph::{Direction, Flow, Graph, Piece, Run, Select, VertexId, Visitor};

use crate::estimate::{Estimate, Shape};
use crate::primitive::{Ranked, VertexValues, need_positive};
use crate::primitive::{Unit, unit_of};

/// Groups of vertices.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GivenGroups<'a> {
    /// The group of each vertex.
    pub of: &'a [VertexId],
    /// The number of groups; each is less than this.
    pub count: usize,
}

/// The quality of groups. Without edges, all figures are 0.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Quality {
    /// The modularity.
    pub modularity: f64,
    /// The share of the weight that is inside groups.
    pub coverage: f64,
    /// The mean conductance of the groups that have one.
    pub conductance: f64,
    /// The largest conductance of a group.
    pub worst_conductance: f64,
    /// Number of passes over the lists.
    pub rounds: usize,
}

/// Estimates memory, an upper bound, and reads, which are exact.
pub fn estimate(shape: Shape) -> Estimate {
    let values = 2 + u64::from(shape.directed) + 3;
    Estimate {
        memory_bytes: shape.num_vertices * values * 8,
        read_bytes: shape.weighted_list_bytes() * (1 + u64::from(shape.weight_bytes > 0)),
    }
}

/// The weights at each vertex, in units.
struct Weighed<'a> {
    groups: GivenGroups<'a>,
    unit: Unit,
    directed: bool,
    /// Of the arcs that leave it; of an undirected graph, a self-loop twice.
    leaving: VertexValues<u64>,
    /// Of those of them that stay in its group.
    staying: VertexValues<u64>,
    /// Of the arcs that come to it, in a directed graph.
    arriving: VertexValues<u64>,
}

impl<W: Ranked> Visitor<W> for Weighed<'_> {
    type State = ();

    const BOXED: bool = true;
    const STOPS: bool = false;

    fn new_state(&self) {}

    fn visit(&self, (): &mut (), v: VertexId, piece: Piece<'_, W>) -> Flow {
        let (own, mut leaving, mut staying) = (self.groups.of[v as usize], 0, 0);
        for (&u, weight) in piece.targets.iter().zip(piece.weights) {
            let twice = u64::from(u == v && !self.directed);
            let units = self.unit.count(weight.as_f64()) << twice;
            leaving += units;
            if self.groups.of[u as usize] == own {
                staying += units;
            }
            if self.directed {
                self.arriving.add(u, units);
            }
        }
        for (sums, units) in [(&self.leaving, leaving), (&self.staying, staying)] {
            if piece.exclusive {
                sums.add_exclusive(v, units);
            } else {
                sums.add(v, units);
            }
        }
        Flow::More
    }
}

/// Finds the quality of groups.
///
/// ```
/// use esker_algo::algorithm::communities::quality::{GivenGroups, quality};
/// use esker_graph::{Csr, Run};
///
/// // Two triangles joined by an edge.
/// let edges = [(0, 1, ()), (1, 2, ()), (2, 0, ()), (2, 3, ()), (3, 4, ()), (4, 5, ()), (5, 3, ())];
/// let csr = Csr::undirected(6, &edges)?;
/// let groups = GivenGroups { of: &[0, 0, 0, 1, 1, 1], count: 2 };
/// let found = quality(&csr.graph(), &Run::with_threads(2)?, groups, 1.0)?;
/// assert!((found.modularity - 5.0 / 14.0).abs() < 1e-12);
/// assert_eq!((found.coverage, found.conductance), (6.0 / 7.0, 1.0 / 7.0));
/// # Ok::<(), esker_graph::Stop>(())
/// ```
///
/// # Errors
/// [`esker_graph::Stop::Unsuitable`] for a resolution that is not positive, and for a weight that is negative
/// or no finite number; [`esker_graph::Stop::OverBudget`]; the first list that cannot be read; cancellation.
pub fn quality<G: Graph<Weight: Ranked>>(
    graph: &G,
    run: &Run,
    groups: GivenGroups<'_>,
    resolution: f64,
) -> Result<Quality, G::Error> {
    let run = &run.begin("quality", estimate(Shape::of(graph)).memory_bytes)?;
    need_positive("the resolution", resolution)?;
    let (n, directed) = (graph.num_vertices(), graph.is_directed());
    run.install(|| {
        let unit = unit_of(graph, run, "tell the quality of groups")?;
        run.round(n)?;
        let zeros = |len| VertexValues::filled(run, len, 0);
        let weighed = Weighed {
            groups,
            unit,
            directed,
            leaving: zeros(n),
            staying: zeros(n),
            arriving: zeros(if directed { n } else { 0 }),
        };
        graph.scan(run, Direction::Out, Select::All, &weighed)?;
        Ok(Quality { rounds: run.rounds(), ..weighed.quality(resolution) })
    })
}

impl Weighed<'_> {
    fn quality(&self, resolution: f64) -> Quality {
        let sums = |of: &VertexValues<u64>| {
            let mut sums = vec![0; self.groups.count];
            self.groups.of.iter().zip(of.iter()).for_each(|(&group, units)| sums[group as usize] += units);
            sums
        };
        let (leaving, inside) = (sums(&self.leaving), sums(&self.staying));
        let arriving = if self.directed { sums(&self.arriving) } else { Vec::new() };
        let total: u64 = leaving.iter().sum();
        if total == 0 {
            return Quality::default();
        }
        let share = |units: u64| units as f64 / total as f64;
        let (mut found, mut conductances) = (Quality::default(), 0_u64);
        for group in 0..self.groups.count {
            let (out, inside) = (leaving[group], inside[group]);
            let incoming = arriving.get(group).copied().unwrap_or(out);
            found.modularity += share(inside) - resolution * share(out) * share(incoming);
            found.coverage += share(inside);
            let volume = u128::from(out) + u128::from(incoming);
            let side = volume.min(2 * u128::from(total) - volume);
            if side > 0 {
                let conductance = (volume - 2 * u128::from(inside)) as f64 / side as f64;
                found.conductance += conductance;
                found.worst_conductance = found.worst_conductance.max(conductance);
                conductances += 1;
            }
        }
        found.conductance /= conductances.max(1) as f64;
        found
    }
}

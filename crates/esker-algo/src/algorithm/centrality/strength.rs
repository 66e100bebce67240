//! Strengths: the sum, mean, least and greatest weight of the edges of each vertex.
//!
//! As degrees, but each edge counts its weight. Parallel edges count each. A self-loop of an undirected graph
//! counts once; of a directed one, once in each direction.
//!
//! Weights are counted in fractions of a power of two above the largest one of the vertex, as whole numbers.
//! So sums of integers below 2^53 are exact, all sums are rounded once, and no answer depends on the order
//! of additions; what is below 2^-61 of the largest is cut off.
//!
//! Work O(n + m). Memory: 48 bytes a vertex. Reads: the lists of the direction twice, with their weights.

use esker_graph::{Direction, Flow, Graph, Piece, Run, Select, Stop, VertexId, Visitor, vertex};

use super::degrees::DegreeOf;
use crate::estimate::{Estimate, Shape};
use crate::primitive::{Ranked, VertexValues, need_in_edges, scan_neighbours};

/// The strengths of all vertices. Without edges a vertex has a sum of 0, and NaN for the rest.
#[derive(Debug, Clone, PartialEq)]
pub struct VertexStrengths {
    /// The sum of the weights of each vertex.
    pub sums: Vec<f64>,
    /// Their mean.
    pub means: Vec<f64>,
    /// The least of them.
    pub least: Vec<f64>,
    /// The greatest of them.
    pub greatest: Vec<f64>,
    /// Number of passes over the lists.
    pub rounds: usize,
}

/// Estimates memory and reads; both are exact, but for one direction only where the graph is directed.
pub fn estimate(shape: Shape, of: DegreeOf) -> Estimate {
    let directions = of.directions(shape.directed).len() as u64;
    Estimate {
        memory_bytes: shape.num_vertices * 48,
        read_bytes: 2 * directions * shape.weighted_list_bytes(),
    }
}

/// The least and the greatest weight of each vertex, by their ranks.
struct Extremes {
    least: VertexValues<u64>,
    /// The complements, so that a greater weight has a lesser number.
    greatest: VertexValues<u64>,
}

impl<W: Ranked> Visitor<W> for Extremes {
    /// A weight that is no finite number.
    type State = Option<f64>;

    const BOXED: bool = true;
    const STOPS: bool = false;

    fn new_state(&self) -> Option<f64> {
        None
    }

    fn visit(&self, refused: &mut Option<f64>, v: VertexId, piece: Piece<'_, W>) -> Flow {
        let (mut least, mut greatest) = (u64::MAX, u64::MAX);
        for &weight in piece.weights {
            match weight.rank().filter(|_| weight.as_f64().is_finite()) {
                Some(rank) => (least, greatest) = (least.min(rank), greatest.min(!rank)),
                None => *refused = Some(weight.as_f64()),
            }
        }
        if piece.exclusive {
            self.least.lower_alone(v, least);
            self.greatest.lower_alone(v, greatest);
        } else {
            self.least.lower(v, least);
            self.greatest.lower(v, greatest);
        }
        Flow::More
    }
}

/// A sum keeps the lower bits of its parts apart from the others, so that 2^32 parts fit.
const LOW_BITS: u32 = 31;
/// A part has this number of bits, and a sign.
const PART_BITS: i32 = 61;

/// The sums of the weights of each vertex.
struct WeightSums {
    least: Vec<f64>,
    greatest: Vec<f64>,
    low: VertexValues<u64>,
    high: VertexValues<i64>,
}

impl WeightSums {
    /// The power of two by which the weights of a vertex are multiplied.
    fn shift(&self, v: VertexId) -> i32 {
        let largest = self.least[v as usize].abs().max(self.greatest[v as usize].abs());
        // The exponent of a subnormal number is that of the least normal one: some bits fewer are used.
        PART_BITS - ((largest.to_bits() >> 52) as i32 & 0x7ff) + 1022
    }

    /// The sum of the weights of a vertex, divided by a number: the sum itself may be too large for a double.
    fn sum_by(&self, v: VertexId, divisor: usize) -> f64 {
        let units = (i128::from(self.high.get(v)) << LOW_BITS) + i128::from(self.low.get(v));
        times_power(units as f64 / divisor as f64, -self.shift(v))
    }
}

/// `number` times 2 to a power between -2000 and 2000.
fn times_power(number: f64, exponent: i32) -> f64 {
    let power = |exponent: i32| f64::from_bits(((1023 + exponent) as u64) << 52);
    number * power(exponent / 2) * power(exponent - exponent / 2)
}

impl<W: Ranked> Visitor<W> for WeightSums {
    type State = ();

    const BOXED: bool = true;
    const STOPS: bool = false;

    fn new_state(&self) {}

    fn visit(&self, (): &mut (), v: VertexId, piece: Piece<'_, W>) -> Flow {
        let (shift, mut low, mut high) = (self.shift(v), 0, 0);
        for weight in piece.weights {
            let part = times_power(weight.as_f64(), shift) as i64;
            low += (part & ((1 << LOW_BITS) - 1)) as u64;
            high += part >> LOW_BITS;
        }
        if piece.exclusive {
            self.low.add_exclusive(v, low);
            self.high.add_exclusive(v, high);
        } else {
            self.low.add(v, low);
            self.high.add(v, high);
        }
        Flow::More
    }
}

/// Finds the strength of every vertex.
///
/// ```
/// use esker_algo::algorithm::centrality::{degrees::DegreeOf, strength::strength};
/// use esker_graph::{Csr, Run};
///
/// let csr = Csr::directed(3, &[(0, 1, 2.5), (0, 2, 1.5), (1, 2, 4.0)])?;
/// let found = strength(&csr.graph(), &Run::with_threads(2)?, DegreeOf::Out)?;
/// assert_eq!(found.sums, [4.0, 4.0, 0.0]);
/// assert_eq!((found.means[0], found.least[0], found.greatest[0]), (2.0, 1.5, 2.5));
/// # Ok::<(), esker_graph::Stop>(())
/// ```
///
/// # Errors
/// [`Stop::Unsuitable`] for a weight that is no finite number, and for edges that come to vertices of a
/// directed graph stored without in-edges; [`Stop::OverBudget`]; the first list that cannot be read;
/// cancellation.
pub fn strength<G: Graph<Weight: Ranked>>(
    graph: &G,
    run: &Run,
    of: DegreeOf,
) -> Result<VertexStrengths, G::Error> {
    let run = &run.begin("strength", estimate(Shape::of(graph), of).memory_bytes)?;
    let directions = of.directions(graph.is_directed());
    if directions.contains(&Direction::In) {
        need_in_edges(graph, "strength of direction in or both")?;
    }
    let n = graph.num_vertices();
    run.install(|| {
        run.round(n)?;
        let ranks = || VertexValues::filled(run, n, u64::MAX);
        let extremes = Extremes { least: ranks(), greatest: ranks() };
        let refused = scan_neighbours(graph, run, directions, Select::All, &extremes)?;
        if let Some(weight) = refused.into_iter().flatten().next() {
            let reason = format!("cannot add up the weight {weight}: weights are finite numbers");
            return Err(Stop::unsuitable(reason).into());
        }
        let degree = |v| directions.iter().map(|&one| graph.degree(one, v)).sum::<usize>();
        let numbers = |ranks: VertexValues<u64>, number: fn(u64) -> G::Weight| -> Vec<f64> {
            let ranks = (0..n).map(vertex).zip(ranks.into_vec());
            ranks.map(|(v, rank)| if degree(v) == 0 { f64::NAN } else { number(rank).as_f64() }).collect()
        };
        let sums = WeightSums {
            least: numbers(extremes.least, G::Weight::of_rank),
            greatest: numbers(extremes.greatest, |rank| G::Weight::of_rank(!rank)),
            low: VertexValues::filled(run, n, 0),
            high: VertexValues::filled(run, n, 0),
        };
        run.round(n)?;
        scan_neighbours(graph, run, directions, Select::All, &sums)?;
        let each = |of_none: f64, divisor: fn(usize) -> usize| {
            let number = |v| match degree(vertex(v)) {
                0 => of_none,
                degree => sums.sum_by(vertex(v), divisor(degree)),
            };
            VertexValues::from_fn(run, n, number).into_vec()
        };
        Ok(VertexStrengths {
            sums: each(0.0, |_| 1),
            means: each(f64::NAN, |degree| degree),
            least: sums.least,
            greatest: sums.greatest,
            rounds: run.rounds(),
        })
    })
}

//! PageRank by weights: the surfer follows each edge with a chance in proportion to its weight.
//!
//! As [`crate::algorithm::centrality::pagerank`], with `weight(u -> v) / strength(u)` in place of `1 /
//! outdegree(u)`; the strength of a vertex is the sum of the weights of its out-edges. A vertex of strength 0
//! gives its score to all vertices. NetworkX and igraph define it so.
//!
//! A strength is a fixed-point sum of fractions of the largest weight of the vertex, so that neither the
//! order of pieces nor the number of threads changes it. Sums over neighbours and their precision are those
//! of [`crate::algorithm::centrality::pagerank`], but shares stay in double precision where single precision
//! cannot express them.
//!
//! Work O(n + m) a round, and two scans of the out-lists before. Memory: 36 bytes a vertex (score, inverse of
//! the strength, share, sum twice), 40 for a tolerance that single precision does not allow. Reads: all
//! in-lists (else out-lists) with their weights once a round.
//!
//! W. Xing, A. Ghorbani, "Weighted PageRank Algorithm", CNSR 2004.

use esker_graph::{Direction, Flow, Graph, Piece, Run, Select, Stop, VertexId, Visitor, vertex};

use crate::algorithm::centrality::pagerank::{PageRank, PageRankOptions, Parting, Teleport, iterate};
use crate::estimate::{Estimate, Shape};
use crate::primitive::{NeighbourSum, Ranked, VertexValues, from_fixed, to_fixed};

/// The least strength whose inverse is a number.
const STRENGTH_MIN: f64 = 1e-307;
/// Fractions of a strength are multiples of 2^-62, kept as two sums, so that 2^33 of them fit.
const LOW_BITS: u32 = 31;

/// What it takes; the reading is exact for `rounds_max` rounds.
pub fn estimate(shape: Shape, options: &PageRankOptions) -> Estimate {
    // A score and an inverse.
    let sum_bytes = NeighbourSum::<()>::vertex_bytes(false, options.precision(0, 0.0));
    let vertex_bytes = 16 + sum_bytes + 8 * u64::from(options.teleport.is_some());
    Estimate {
        memory_bytes: shape.num_vertices * vertex_bytes,
        read_bytes: shape.weighted_list_bytes().saturating_mul((options.rounds_max as u64).saturating_add(2)),
    }
}

/// Computes the scores.
///
/// # Errors
/// [`Stop::Unsuitable`] for options out of range, and for weights that are negative or no numbers;
/// [`Stop::OverBudget`]; the first list that cannot be read; cancellation.
pub fn pagerank_weighted<G: Graph<Weight: Ranked>>(
    graph: &G,
    run: &Run,
    options: &PageRankOptions,
) -> Result<PageRank, G::Error> {
    let run = &run.begin("PageRank by weights", estimate(Shape::of(graph), options).memory_bytes)?;
    options.check()?;
    let teleport = Teleport::new(graph.num_vertices(), options.teleport.as_deref())?;
    run.install(|| {
        let inverses = Inverses::new(inverse_strengths(graph, run)?.into_vec());
        iterate(run, options, &teleport, NeighbourSum::by_weight(graph, run), &inverses)
    })
}

/// Shares in proportion to weights: one by the strength of each vertex; 0 if its strength is 0.
struct Inverses {
    of: Vec<f64>,
    fits_single: bool,
}

/// Inverses of strengths, and so shares, that single precision can express for scores of 10^-16 and more.
const SINGLE_INVERSES: std::ops::RangeInclusive<f64> = 1e-20..=1e37;

impl Inverses {
    fn new(of: Vec<f64>) -> Self {
        let fits_single = of.iter().all(|inverse| *inverse == 0.0 || SINGLE_INVERSES.contains(inverse));
        Self { of, fits_single }
    }
}

impl Parting for Inverses {
    type Out = f64;

    #[inline(always)]
    fn with<R>(&self, first: usize, len: usize, f: impl FnOnce(&[f64]) -> R) -> R {
        f(&self.of[first..first + len])
    }

    #[inline(always)]
    fn part(inverse: f64, score: f64) -> (f64, f64) {
        (score * inverse, if inverse == 0.0 { score } else { 0.0 })
    }

    #[inline(always)]
    fn whole(inverse: f64, share: f64) -> f64 {
        share / inverse
    }

    fn fits_single(&self) -> bool {
        self.fits_single
    }
}

/// One by the strength of each vertex; 0 if its strength is 0.
fn inverse_strengths<G: Graph<Weight: Ranked>>(graph: &G, run: &Run) -> Result<VertexValues<f64>, G::Error> {
    let n = graph.num_vertices();
    let largest = Largest(VertexValues::filled(run, n, u64::MAX));
    let refused = graph.scan(run, Direction::Out, Select::All, &largest)?.into_iter().flatten().next();
    if let Some(weight) = refused {
        return Err(unsuitable(format!("cannot rank by the weight {weight}: weights are not negative")));
    }
    let strengths =
        Strengths { largest, low: VertexValues::filled(run, n, 0), high: VertexValues::filled(run, n, 0) };
    graph.scan(run, Direction::Out, Select::All, &strengths)?;
    let inverses = VertexValues::from_fn(run, n, |v| {
        let strength = strengths.of(vertex(v));
        if strength == 0.0 { 0.0 } else { 1.0 / strength }
    });
    let is_odd = |&v: &usize| {
        let strength = strengths.of(vertex(v));
        strength != 0.0 && !(STRENGTH_MIN..=f64::MAX).contains(&strength)
    };
    match (0..n).find(is_odd) {
        None => Ok(inverses),
        Some(v) => Err(unsuitable(format!(
            "cannot rank by weights that add up to {} at a vertex: scale them",
            strengths.of(vertex(v))
        ))),
    }
}

fn unsuitable<E: From<Stop>>(message: String) -> E {
    Stop::unsuitable(message).into()
}

/// The largest weight of each vertex: the complement of its bits, which is less for a larger weight.
struct Largest(VertexValues<u64>);

impl<W: Ranked> Visitor<W> for Largest {
    /// A weight that is negative or no number.
    type State = Option<f64>;
    const BOXED: bool = true;

    const STOPS: bool = false;

    fn new_state(&self) -> Option<f64> {
        None
    }

    fn visit(&self, refused: &mut Option<f64>, v: VertexId, piece: Piece<'_, W>) -> Flow {
        let mut largest = 0.0_f64;
        for weight in piece.weights {
            let weight = weight.as_f64();
            if !(0.0..=f64::MAX).contains(&weight) {
                *refused = Some(weight);
            }
            largest = largest.max(weight);
        }
        // The sum is never the negative zero, whose bits are not in order.
        let bits = !(largest + 0.0).to_bits();
        if piece.exclusive {
            self.0.lower_alone(v, bits)
        } else {
            self.0.lower(v, bits)
        };
        Flow::More
    }
}

/// Sums of the fractions of the largest weight, in two parts.
struct Strengths {
    largest: Largest,
    low: VertexValues<u64>,
    high: VertexValues<u64>,
}

impl Strengths {
    fn largest(&self, v: VertexId) -> f64 {
        f64::from_bits(!self.largest.0.get(v))
    }

    fn of(&self, v: VertexId) -> f64 {
        let (low, high) = (from_fixed(self.low.get(v)), from_fixed(self.high.get(v)));
        self.largest(v) * (high * f64::from(1_u32 << LOW_BITS) + low)
    }
}

impl<W: Ranked> Visitor<W> for Strengths {
    type State = ();
    const BOXED: bool = true;

    const STOPS: bool = false;

    fn new_state(&self) {}

    fn visit(&self, (): &mut (), v: VertexId, piece: Piece<'_, W>) -> Flow {
        let largest = self.largest(v);
        if largest > 0.0 {
            let (mut low, mut high) = (0, 0);
            for weight in piece.weights {
                let fraction = to_fixed(weight.as_f64() / largest);
                low += fraction & ((1 << LOW_BITS) - 1);
                high += fraction >> LOW_BITS;
            }
            add(&self.low, v, low, piece.exclusive);
            add(&self.high, v, high, piece.exclusive);
        }
        Flow::More
    }
}

#[inline(always)]
fn add(sums: &VertexValues<u64>, v: VertexId, more: u64, alone: bool) {
    if alone {
        sums.add_exclusive(v, more);
    } else {
        sums.add(v, more);
    }
}

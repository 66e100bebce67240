//! PageRank by weights: the surfer follows each edge with a chance in proportion to its weight.
//!
//! As [`super::pagerank`], with `weight(u -> v) / strength(u)` in place of `1 / outdegree(u)`; the strength of a vertex is the sum of the
//! weights of its out-edges. A vertex of strength 0 gives its score to all vertices. NetworkX and igraph define it so.
//!
//! A strength is a sum of fractions of the largest weight of the vertex, and scores are sums in multiples of 2^-62: both fixed-point, so
//! that neither the order of pieces nor the number of threads changes them.
//!
//! Work O(n + m) a round, and two scans of the out-lists before. Memory: 32 bytes a vertex. Reads: all in-lists (else out-lists) with
//! their weights once a round.
//!
//! W. Xing, A. Ghorbani, "Weighted PageRank Algorithm", CNSR 2004.

use esker_graph::{Direction, Flow, Graph, Piece, Run, Select, Stop, VertexId, Visitor, vertex};

use super::pagerank::{PageRank, PageRankOptions, Teleport, Totals, until_converged};
use crate::estimate::{Estimate, Shape};
use crate::primitive::{Ranked, VertexValues, each, from_fixed, to_fixed};

/// The least strength whose inverse is a number.
const STRENGTH_MIN: f64 = 1e-307;
/// Fractions of a strength are multiples of 2^-62, kept as two sums, so that 2^33 of them fit.
const LOW_BITS: u32 = 31;

/// What it takes; the reading is exact for `rounds_max` rounds.
pub fn estimate(shape: Shape, options: &PageRankOptions) -> Estimate {
    let vertex_bytes = 32 + 8 * u64::from(options.teleport.is_some());
    Estimate {
        memory_bytes: shape.num_vertices * vertex_bytes,
        read_bytes: shape.weighted_list_bytes().saturating_mul((options.rounds_max as u64).saturating_add(2)),
    }
}

/// Computes the scores.
///
/// # Errors
/// [`Stop::Unsuitable`] for options out of range, and for weights that are negative or no numbers; [`Stop::OverBudget`]; the first list
/// that cannot be read; cancellation.
pub fn pagerank_weighted<G: Graph<Weight: Ranked>>(
    graph: &G,
    run: &Run,
    options: &PageRankOptions,
) -> Result<PageRank, G::Error> {
    let run = &run.begin("PageRank by weights", estimate(Shape::of(graph), options).memory_bytes)?;
    options.check()?;
    let teleport = Teleport::new(graph.num_vertices(), options.teleport.as_deref())?;
    run.install(|| iterate(graph, run, options, &teleport))
}

/// The power iteration.
fn iterate<G: Graph<Weight: Ranked>>(
    graph: &G,
    run: &Run,
    options: &PageRankOptions,
    teleport: &Teleport,
) -> Result<PageRank, G::Error> {
    let n = graph.num_vertices();
    let inverses = inverse_strengths(graph, run)?;
    let scores = VertexValues::from_fn(run, n, |v| teleport.at(v));
    let shares = VertexValues::from_fn(run, n, |v| teleport.at(v) * inverses.get(vertex(v)));
    let sums = VertexValues::filled(run, n, 0);
    let set = |totals: &mut Totals, v: VertexId, score: f64| {
        totals.change += to_fixed((score - scores.get(v)).abs());
        if inverses.get(v) == 0.0 {
            totals.dangling += to_fixed(score);
        }
        scores.set(v, score);
        shares.set(v, score * inverses.get(v));
    };
    let first = each(run, n, |totals, v| set(totals, v, scores.get(v)))?;
    let found = until_converged::<G::Error>(n, run, options, first, |dangling, _| {
        let damping = options.damping;
        if graph.has(Direction::In) {
            graph.scan(run, Direction::In, Select::All, &WeightedPull { shares: &shares, sums: &sums })?;
        } else {
            graph.scan(run, Direction::Out, Select::All, &WeightedPush { shares: &shares, sums: &sums })?;
        }
        let totals = each(run, n, |totals, v| {
            let (jump, sum) = (teleport.at(v as usize), from_fixed(sums.get(v)));
            sums.set(v, 0);
            set(totals, v, (1.0 - damping) * jump + damping * (sum + dangling * jump));
        })?;
        Ok(totals)
    })?;
    Ok(PageRank { scores: scores.into_vec(), ..found })
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
    Stop::Unsuitable(message).into()
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
        sums.add_alone(v, more);
    } else {
        sums.add(v, more);
    }
}

/// Pulls along in-edges.
struct WeightedPull<'a> {
    shares: &'a VertexValues<f64>,
    sums: &'a VertexValues<u64>,
}

impl<W: Ranked> Visitor<W> for WeightedPull<'_> {
    type State = ();

    const STOPS: bool = false;

    fn new_state(&self) {}

    #[inline(always)]
    fn visit(&self, (): &mut (), v: VertexId, piece: Piece<'_, W>) -> Flow {
        let arcs = piece.targets.iter().zip(piece.weights);
        let sum = arcs.map(|(&u, weight)| to_fixed(self.shares.get(u) * weight.as_f64())).sum();
        add(self.sums, v, sum, piece.exclusive);
        Flow::More
    }
}

/// Pushes along out-edges.
struct WeightedPush<'a> {
    shares: &'a VertexValues<f64>,
    sums: &'a VertexValues<u64>,
}

impl<W: Ranked> Visitor<W> for WeightedPush<'_> {
    type State = ();

    const STOPS: bool = false;

    fn new_state(&self) {}

    #[inline(always)]
    fn visit(&self, (): &mut (), u: VertexId, piece: Piece<'_, W>) -> Flow {
        let share = self.shares.get(u);
        for (&v, weight) in piece.targets.iter().zip(piece.weights) {
            self.sums.add(v, to_fixed(share * weight.as_f64()));
        }
        Flow::More
    }
}

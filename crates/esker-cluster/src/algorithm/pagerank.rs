//! PageRank: the stationary distribution of a random surfer, as
//! `esker-algo/src/algorithm/centrality/pagerank.rs` defines it.
//!
//! In an undirected graph owners tell ghosts their shares, and each process adds up shares over the lists of
//! its own vertices; over its parts of the lists of delegates too, and it tells their owners these sums. In a
//! directed graph each process adds up the shares of its own vertices, and those of delegates, which their
//! owners tell it; what comes to ghosts goes to their owners.
//!
//! Sums are fixed-point, in multiples of 2^-62. Shares are so too, or short: multiples of 2^-52 in single
//! precision. They are short in all rounds if their rounding takes at most a quarter of the tolerance, which
//! bounds the error as on one machine. With a smaller tolerance they are short until a round changes all
//! scores together by less than 10^-6. Sums of short shares are exact in double precision, whatever the
//! order. So scores are bit-equal for any number of processes and threads. Short shares change each score by
//! at most damping / (1 - damping) times 2^-24 of itself, 3.4 * 10^-7 at 0.85, and 2^-53 for each in-edge.
//!
//! Work O(n + m) a round. Messages: 4 bytes a ghost and round in an undirected graph, 8 where shares are not
//! rounded so; 8 in a directed one. Memory: 16 bytes a vertex, 16 for each own one, and a bit. An exchange a
//! round: what a round changed travels with the shares of the next one; in a directed graph two.

use esker_algo::algorithm::centrality::pagerank::{PageRankOptions, error_bound};
use esker_algo::primitive::{ArrayValue, VertexValues};
use esker_format::{Error, Result};
use esker_graph::{Bitmap, Direction, Flow, Graph, Piece, Run, Select, VertexId, Visitor, vertex};

use super::entry::{ClusterAlgorithm, RunOption};
use super::local::{FoundValues, Local, Options};
use crate::exchange::routes::Routes;
use crate::model::answer::{Cell, ColumnKind, Outline};
use crate::model::needs::{AlgorithmNeeds, Sends, ShardShape};
use crate::net::engine::Engine;
use crate::net::wire::Travels;

const FIXED_ONE: f64 = (1_u64 << 62) as f64;

/// A number in 0..4 as a multiple of 2^-62.
fn to_fixed(number: f64) -> u64 {
    (number * FIXED_ONE) as u64
}

fn from_fixed(fixed: u64) -> f64 {
    fixed as f64 / FIXED_ONE
}

/// Short shares are in multiples of 2^-52, so that sums of doubles less than 2 are exact.
const SHORT_SHIFT: u32 = 10;
/// Shares are short in every round if their rounding takes no more than this part of the tolerance.
const SHORT_SHARE_MAX: f64 = 0.25;
/// Else they are while the scores of all vertices change by this or more.
const SHORT_RESIDUAL_MIN: f64 = 1e-6;
/// The part of a whole share that doubles round, with room for the arithmetic with scores.
const WHOLE_ROUNDING: f64 = 1.0 / (1_u64 << 50) as f64;

/// A share as it is kept.
trait Share: Travels + ArrayValue {
    fn of(fixed: u64) -> Self;
    fn fixed(self) -> u64;

    /// The sum of the shares of some vertices, fixed-point. It does not depend on their order.
    fn sum(shares: &VertexValues<Self>, vertices: &[VertexId]) -> u64;
}

impl Share for u64 {
    fn of(fixed: u64) -> Self {
        fixed
    }

    fn fixed(self) -> u64 {
        self
    }

    #[inline(always)]
    fn sum(shares: &VertexValues<Self>, vertices: &[VertexId]) -> u64 {
        vertices.iter().map(|&v| shares.get(v)).sum()
    }
}

/// The part of a short share that rounding changes.
const SHORT_ROUNDING: f64 = 1.0 / (1 << 24) as f64;

/// Short: a relative error of 2^-24 at most, and 2^-53. Half the size misses the caches less, and travels
/// faster.
impl Share for f32 {
    fn of(fixed: u64) -> Self {
        ((fixed + (1 << SHORT_SHIFT >> 1)) >> SHORT_SHIFT) as Self
    }

    fn fixed(self) -> u64 {
        (self as u64) << SHORT_SHIFT
    }

    #[inline(always)]
    fn sum(shares: &VertexValues<Self>, vertices: &[VertexId]) -> u64 {
        let (fours, rest) = vertices.as_chunks::<4>();
        let mut sums = [0.0_f64; 4];
        for &four in fours {
            for (sum, v) in sums.iter_mut().zip(four) {
                *sum += f64::from(shares.get(v));
            }
        }
        for (sum, &v) in sums.iter_mut().zip(rest) {
            *sum += f64::from(shares.get(v));
        }
        (sums.iter().sum::<f64>() as u64) << SHORT_SHIFT
    }
}

/// Adds up the shares of the neighbours of each vertex.
struct Gather<'a, S: ArrayValue> {
    shares: &'a VertexValues<S>,
    sums: &'a VertexValues<u64>,
}

impl<S: Share> Visitor<()> for Gather<'_, S> {
    type State = ();
    const STOPS: bool = false;

    fn new_state(&self) {}

    fn visit(&self, (): &mut (), v: VertexId, piece: Piece<'_, ()>) -> Flow {
        let sum = S::sum(self.shares, piece.targets);
        if piece.exclusive {
            self.sums.add_exclusive(v, sum);
        } else {
            self.sums.add(v, sum);
        }
        Flow::More
    }
}

/// The shares that vertices give.
enum Shares {
    Short(VertexValues<f32>),
    Whole(VertexValues<u64>),
}

impl Shares {
    /// Makes all shares whole, and forgets them, if they are short. Whether they were.
    fn lengthen(&mut self, run: &Run) -> bool {
        let Self::Short(shares) = self else { return false };
        let len = shares.len();
        // The old ones go before the new ones come.
        *self = Self::Whole(VertexValues::filled(run, 0, 0));
        *self = Self::Whole(VertexValues::filled(run, len, 0));
        true
    }

    /// By how much rounding may change all sums over neighbours of a round together.
    fn rounding(&self, num_arcs: u64) -> f64 {
        let num_arcs = num_arcs as f64;
        match self {
            Self::Short(_) => SHORT_ROUNDING + num_arcs * (1_u64 << SHORT_SHIFT >> 1) as f64 / FIXED_ONE,
            Self::Whole(_) => WHOLE_ROUNDING + num_arcs / FIXED_ONE,
        }
    }

    fn set(&self, v: VertexId, share: u64) {
        match self {
            Self::Short(shares) => shares.set(v, f32::of(share)),
            Self::Whole(shares) => shares.set(v, share),
        }
    }
}

/// Tells ghosts their shares, as far as lists here need them. The heads go to every process; the sums of the
/// heads of all come back.
///
/// In an undirected graph the lists of own vertices have all their neighbours, so ghosts are told their
/// shares. In a directed graph the in-lists of ghosts have neighbours that the owner does not know, so owners
/// are told sums in the end; but delegates have parts of their lists here.
fn spread<S: Share>(
    local: &Local<'_, '_>,
    engine: &mut Engine<'_>,
    heads: [u64; 2],
    shares: &VertexValues<S>,
) -> Result<[u64; 2]> {
    if !local.graph.is_directed() {
        return local.routes.tell_all_ghosts(engine, heads, shares);
    }
    let share = |v| Some(shares.get(v).fixed());
    local.routes.to_delegates(engine, 0, share, |ghost, share| shares.set(ghost, S::of(share)))?;
    engine.sum(heads)
}

/// Adds up what all neighbours of each own vertex give; `counted` are the vertices whose lists count in an
/// undirected graph.
fn sum_up<S: Share>(
    local: &Local<'_, '_>,
    engine: &mut Engine<'_>,
    shares: &VertexValues<S>,
    sums: &VertexValues<u64>,
    counted: &Bitmap,
) -> Result<()> {
    let (graph, routes) = (local.graph, local.routes);
    (0..sums.len()).for_each(|v| sums.set(vertex(v), 0));
    if graph.is_directed() {
        graph.scan(local.run, Direction::In, Select::All, &Gather { shares, sums })?;
        return routes.add_to_owners(engine, [], sums).map(drop);
    }
    graph.scan(local.run, Direction::Out, Select::Bits(counted), &Gather { shares, sums })?;
    if routes.has_delegates() {
        let parts = routes.delegated_ghosts().iter().map(|&ghost| (ghost, sums.get(ghost)));
        routes.tell_owners(engine, 0, parts, |v, part| sums.add_exclusive(v, part))?;
    }
    Ok(())
}

/// The scores of own vertices, in order.
struct Scores {
    scores: Vec<f64>,
    degrees: Vec<u64>,
}

impl Scores {
    /// Leaves what each vertex gives along each edge. Returns the scores of vertices without edges together,
    /// fixed-point.
    fn give(&self, routes: &Routes, shares: &Shares) -> u64 {
        let mut dangling = 0;
        for ((v, &score), &degree) in routes.owned().zip(&self.scores).zip(&self.degrees) {
            if degree == 0 {
                dangling += to_fixed(score);
            }
            shares.set(v, to_fixed(score / degree.max(1) as f64));
        }
        dangling
    }

    /// Takes the scores that follow from sums. Returns by how much all change together, fixed-point.
    fn take(&mut self, routes: &Routes, sums: &VertexValues<u64>, score_of: impl Fn(f64) -> f64) -> u64 {
        let mut change = 0;
        for (v, known) in routes.owned().zip(&mut self.scores) {
            let score = score_of(from_fixed(sums.get(v)));
            change += to_fixed((score - *known).abs());
            *known = score;
        }
        change
    }
}

/// Its entry in the catalogue.
pub(crate) const ENTRY: ClusterAlgorithm = ClusterAlgorithm {
    name: "pagerank",
    about: "stationary distribution of a random surfer",
    options: &[
        RunOption {
            name: "damping",
            value_name: "D",
            about: "chance to follow an edge, from 0 to 1 [default: 0.85]",
            is_list: false,
        },
        RunOption {
            name: "tolerance",
            value_name: "T",
            about: "ends once all scores together differ from the exact ones by less [default: 5e-6]",
            is_list: false,
        },
        RunOption {
            name: "rounds",
            value_name: "N",
            about: "the greatest number of rounds [default: 100]",
            is_list: false,
        },
    ],
    reads_weights: false,
    needs,
    run: pagerank,
};

fn needs(shape: &ShardShape) -> AlgorithmNeeds {
    let told = if shape.directed { shape.ghosts } else { shape.mirrors };
    AlgorithmNeeds {
        array_bytes: 33 * shape.vertices() + 8 * shape.owned + shape.full_degrees_bytes(),
        sends: Sends::ARound((8 * told).max(shape.ghost_id_bytes) + shape.delegate_bytes()),
    }
}

fn pagerank(local: &Local<'_, '_>, engine: &mut Engine<'_>, options: &Options<'_>) -> Result<FoundValues> {
    let (graph, routes) = (local.graph, local.routes);
    let damping = options.number("damping", 0.85)?;
    let tolerance = options.number("tolerance", PageRankOptions::default().tolerance)?;
    let rounds_max = options.integer("rounds", 100)?;
    if !(0.0..=1.0).contains(&damping) {
        return Err(Error::usage(format!("damping must be from 0 to 1, not {damping}")));
    }
    let len = graph.num_vertices();
    let degrees = local.out_degrees(engine)?;
    let num_arcs = routes.owned().map(|v| degrees[v as usize]).sum();
    let [n, num_arcs] = engine.sum([routes.num_owned() as u64, num_arcs])?;
    let jump = 1.0 / n as f64;
    let mut shares = Shares::Short(VertexValues::filled(local.run, len, 0.0));
    let sums = VertexValues::filled(local.run, len, 0);
    let is_short = error_bound(damping, 0.0, shares.rounding(num_arcs)) <= tolerance * SHORT_SHARE_MAX;
    let mut own = Scores {
        scores: vec![jump; routes.num_owned()],
        degrees: routes.owned().map(|v| degrees[v as usize]).collect(),
    };
    drop(degrees);
    // Own vertices and ghosts alternate at random, which a processor cannot foresee.
    let counted = Bitmap::new(len);
    routes.owned().chain(routes.delegated_ghosts().iter().copied()).for_each(|v| counted.insert_alone(v));
    let (mut rounds, mut residual, mut change) = (0, f64::INFINITY, 0);
    let (mut rounding, mut error) = (0.0, f64::INFINITY);
    while n > 0 && rounds < rounds_max {
        local.run.check()?;
        let dangling = own.give(routes, &shares);
        // What the last round changed travels with the next one's shares, not needed if that was little.
        let [dangling, changed] = match &shares {
            Shares::Short(shares) => spread(local, engine, [dangling, change], shares)?,
            Shares::Whole(shares) => spread(local, engine, [dangling, change], shares)?,
        };
        if rounds > 0 {
            residual = from_fixed(changed);
            error = error_bound(damping, residual, rounding);
        }
        if error < tolerance {
            break;
        }
        if !is_short && residual < SHORT_RESIDUAL_MIN && shares.lengthen(local.run) {
            continue;
        }
        rounding = shares.rounding(num_arcs);
        match &shares {
            Shares::Short(shares) => sum_up(local, engine, shares, &sums, &counted)?,
            Shares::Whole(shares) => sum_up(local, engine, shares, &sums, &counted)?,
        }
        change = own.take(routes, &sums, |sum| {
            (1.0 - damping) * jump + damping * (sum + from_fixed(dangling) * jump)
        });
        rounds += 1;
        if rounds == rounds_max {
            residual = from_fixed(engine.sum([change])?[0]);
            error = error_bound(damping, residual, rounding);
        }
    }
    drop((shares, sums));
    let mut scores = vec![0.0; len];
    routes.owned().zip(own.scores).for_each(|(v, score)| scores[v as usize] = score);
    let outline = Outline::new(&[("rank", ColumnKind::Float)], rounds)
        .with_fact("error", error)
        .with_fact("converged", f64::from(u8::from(n == 0 || error < tolerance)));
    Ok((outline, Box::new(move |v, row| row.push(Cell::Float(scores[v as usize])))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_shares_are_as_near_as_said() {
        let powers = (0..=62).map(|power| 1_u64 << power);
        let near = powers.flat_map(|power| [power - 1, power, power + 1, power / 3 * 4, power / 5 * 7]);
        for share in near.filter(|&share| share <= 1 << 62) {
            let short = f32::of(share).fixed();
            let error_max = (share >> 24) + (1 << SHORT_SHIFT >> 1);
            assert!(short.abs_diff(share) <= error_max, "{share} became {short}");
        }
    }

    /// Shares of all magnitudes, which add up to 1 at most: sums in other orders are the same.
    #[test]
    fn the_order_of_short_shares_does_not_matter() {
        let shares: Vec<u64> =
            (0..1500_u64).map(|i| (i * 0x9e37_79b9 % 0xffff_fff1) << 18 >> (i % 40)).collect();
        assert!(shares.iter().sum::<u64>() <= 1 << 62, "together at most 1");
        let short = VertexValues::from(shares.iter().map(|&share| f32::of(share)).collect::<Vec<_>>());
        let mut vertices: Vec<VertexId> = (0..shares.len()).map(vertex).collect();
        let fixed = |shares: &VertexValues<f32>, vertices: &[VertexId]| {
            vertices.iter().map(|&v| shares.get(v).fixed()).sum::<u64>()
        };
        for stride in [1, 7, 641] {
            (0..vertices.len()).for_each(|i| vertices[i] = vertex(i * stride % shares.len()));
            assert_eq!(f32::sum(&short, &vertices), fixed(&short, &vertices), "stride {stride}");
        }
    }
}

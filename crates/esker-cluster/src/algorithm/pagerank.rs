//! PageRank: the stationary distribution of a random surfer, as `esker-algo/src/algorithm/pagerank.rs` defines it.
//!
//! Each process adds up the shares of its own vertices over its lists, and those of delegates, which their owners tell it. What comes to ghosts goes to
//! their owners. Shares and sums are
//! fixed-point, in multiples of 2^-62, so scores are bit-equal for any number of processes and threads. They differ from those of one
//! machine, whose shares are single or double precision, by less than the tolerance. Work O(n + m) a round. Messages: eight bytes a ghost and round.
//! Memory: 32 bytes a vertex.

use esker_algo::primitive::VertexValues;
use esker_format::{Error, Result};
use esker_graph::{Direction, Flow, Graph, Piece, Select, VertexId, Visitor};

use super::local::{Found, Local, Options};
use crate::answer::{Cell, ColumnKind, Outline};
use crate::engine::Engine;

const FIXED_ONE: f64 = (1_u64 << 62) as f64;

/// A number in 0..4 as a multiple of 2^-62.
fn to_fixed(number: f64) -> u64 {
    (number * FIXED_ONE) as u64
}

fn from_fixed(fixed: u64) -> f64 {
    fixed as f64 / FIXED_ONE
}

/// Adds up the shares of the neighbours of each vertex; those of ghosts are zero, except of delegates.
struct Gather<'a> {
    shares: &'a [u64],
    sums: &'a VertexValues<u64>,
}

impl Visitor<()> for Gather<'_> {
    type State = ();
    const STOPS: bool = false;
    const BOXED: bool = true;

    fn new_state(&self) {}

    fn visit(&self, (): &mut (), v: VertexId, piece: Piece<'_, ()>) -> Flow {
        let sum = piece.targets.iter().map(|&u| self.shares[u as usize]).sum();
        if sum > 0 {
            self.sums.add(v, sum);
        }
        Flow::More
    }
}

pub(crate) fn pagerank(
    local: &Local<'_, '_>,
    engine: &mut Engine<'_>,
    options: &Options<'_>,
) -> Result<Found> {
    let (graph, routes) = (local.graph, local.routes);
    let damping = options.number("damping", 0.85)?;
    let tolerance = options.number("tolerance", 1e-6)?;
    let rounds_max = options.integer("rounds", 100)?;
    if !(0.0..=1.0).contains(&damping) {
        return Err(Error::Usage(format!("damping {damping} is not in 0..=1")));
    }
    let direction = if graph.is_directed() { Direction::In } else { Direction::Out };
    let len = graph.num_vertices();
    let [n] = engine.sum([routes.num_owned() as u64])?;
    let jump = 1.0 / n as f64;
    let mut scores = vec![jump; len];
    let mut shares = vec![0; len];
    let degrees = local.out_degrees(engine)?;
    let (mut rounds, mut residual) = (0, f64::INFINITY);
    while rounds < rounds_max && n > 0 && residual >= tolerance {
        let mut dangling = 0;
        for v in routes.owned() {
            let (score, degree) = (scores[v as usize], degrees[v as usize]);
            if degree == 0 {
                dangling += to_fixed(score);
            }
            shares[v as usize] = to_fixed(score / degree.max(1) as f64);
        }
        let mut of_ghosts = Vec::new();
        routes.to_delegates(
            engine,
            0,
            |v| Some(shares[v as usize]),
            |ghost, share| of_ghosts.push((ghost, share)),
        )?;
        of_ghosts.into_iter().for_each(|(ghost, share)| shares[ghost as usize] = share);
        let sums = VertexValues::filled(local.run, len, 0_u64);
        graph.scan(local.run, direction, Select::All, &Gather { shares: &shares, sums: &sums })?;
        let mut parts = vec![0_u64; len];
        let part_of = |ghost| Some(sums.get(ghost)).filter(|&part| part > 0);
        let dangling = routes.to_owners(engine, dangling, part_of, |v, part| parts[v as usize] += part)?;
        let mut change = 0;
        for v in routes.owned() {
            let sum = from_fixed(sums.get(v) + parts[v as usize]);
            let score = (1.0 - damping) * jump + damping * (sum + from_fixed(dangling) * jump);
            change += to_fixed((score - scores[v as usize]).abs());
            scores[v as usize] = score;
        }
        residual = from_fixed(engine.sum([change])?[0]);
        rounds += 1;
    }
    let outline = Outline::new(&[("rank", ColumnKind::Float)], rounds)
        .with_fact("residual", residual)
        .with_fact("converged", f64::from(u8::from(n == 0 || residual < tolerance)));
    Ok((outline, Box::new(move |v| vec![Cell::Float(scores[v as usize])])))
}

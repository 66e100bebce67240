//! PageRank of several graphs over the same vertices.
//!
//! The power iteration of the catalogue (`algorithm/pagerank.rs`), for up to 16 graphs in one pass over their arcs: what a vertex gives along
//! each of its edges is a vector of 16 numbers in single precision, one a graph, which is a cache line. A vertex adds up the vectors of its
//! neighbours in double precision, without the graphs that do not have the arc. A graph whose scores have converged keeps them.
//!
//! Scores equal those of one graph alone but for rounding: 2^-24 of each at most in a round, as `algorithm/pagerank.rs` says of shares in
//! single precision. They do not depend on the number of threads.
//!
//! Work O(n + m) a round, for all graphs together; each arc costs as much as some arcs of one graph. Memory: 320 bytes a vertex.

use esker_graph::{Rows, Run, Stop, vertex};
use rayon::prelude::*;

use super::series::{GraphSeries, members_of};
use crate::algorithm::pagerank::{PageRank, PageRankOptions};
use crate::primitive::{VectorLoop, from_fixed, to_fixed, with_vectors};

/// The number of graphs in one pass.
pub const LANES: usize = 16;
/// Vertices in one unit of work.
const GRAIN: usize = 1 << 10;
/// Bytes a vertex: two shares, a score and a degree for each graph.
const VERTEX_BYTES: u64 = (LANES * (2 * size_of::<f32>() + size_of::<f64>() + size_of::<u32>())) as u64;

/// The answers of all graphs of a series. The scores of one graph at a time are taken out.
pub struct SeriesPageRank {
    scores: Vec<f64>,
    answers: Vec<PageRank>,
}

impl SeriesPageRank {
    /// The answer of a graph, with scores for the vertices that are in it, ascending.
    pub fn take(&mut self, graph: usize, present: &[u64]) -> PageRank {
        let score = |v| self.scores[v as usize * LANES + graph];
        let scores = members_of(present, graph).map(score).collect();
        PageRank { scores, ..std::mem::replace(&mut self.answers[graph], empty()) }
    }
}

fn empty() -> PageRank {
    PageRank { scores: Vec::new(), rounds: 0, residual: f64::INFINITY, converged: false }
}

/// Computes the scores of up to [`LANES`] graphs. `present` says for each vertex in which graphs it is.
///
/// # Errors
/// [`Stop::Unsuitable`] for more graphs, a teleport, a tolerance below 10^-6, or a directed series without in-lists; [`Stop::OverBudget`];
/// cancellation.
pub fn pagerank(
    series: &GraphSeries<'_>,
    present: &[u64],
    run: &Run,
    options: &PageRankOptions,
) -> Result<SeriesPageRank, Stop> {
    options.check()?;
    let n = series.num_vertices();
    let received = series.received().filter(|_| series.len() <= LANES && suits(options));
    let Some(received) = received else {
        return Err(Stop::Unsuitable("PageRank of several graphs does not suit these options".to_owned()));
    };
    let run = &run.begin("PageRank of several graphs", n as u64 * VERTEX_BYTES)?;
    let masks: Vec<[f32; LANES]> = series.slots().iter().map(|&graphs| lanes_of(graphs)).collect();
    let mut state = State::new(series, present, run);
    let mut answers: Vec<PageRank> = (0..series.len()).map(|_| empty()).collect();
    let mut rounds = 0;
    loop {
        let goes_on = |answer: &PageRank| rounds < options.rounds_max && answer.residual >= options.tolerance;
        let active = (0..series.len()).filter(|&i| state.sizes[i] > 0 && goes_on(&answers[i]));
        let active = active.fold(0_u64, |bits, i| bits | 1 << i);
        if active == 0 {
            break;
        }
        run.round(n)?;
        let totals = state.round(received, present, &masks, (active, options.damping), run)?;
        rounds += 1;
        for (i, answer) in answers.iter_mut().enumerate().filter(|one| active >> one.0 & 1 == 1) {
            answer.residual = from_fixed(totals.change[i]);
            answer.rounds = rounds;
            state.dangling[i] = from_fixed(totals.dangling[i]);
        }
    }
    for (answer, size) in answers.iter_mut().zip(state.sizes) {
        answer.converged = size == 0 || answer.residual < options.tolerance;
    }
    Ok(SeriesPageRank { scores: state.scores, answers })
}

/// Whether [`pagerank`] can follow these options: no teleport, and shares in single precision.
pub fn suits(options: &PageRankOptions) -> bool {
    options.teleport.is_none() && options.is_single()
}

fn lanes_of(graphs: u64) -> [f32; LANES] {
    std::array::from_fn(|i| if graphs >> i & 1 == 1 { 1.0 } else { 0.0 })
}

/// Sums over the vertices of a unit, fixed-point, one a graph.
#[derive(Clone, Copy, Default)]
struct LaneTotals {
    /// Scores of vertices without out-edges.
    dangling: [u64; LANES],
    /// Differences from the scores of the round before.
    change: [u64; LANES],
}

impl LaneTotals {
    fn plus(mut self, other: Self) -> Self {
        for i in 0..LANES {
            self.dangling[i] += other.dangling[i];
            self.change[i] += other.change[i];
        }
        self
    }
}

struct State {
    now: Vec<f32>,
    next: Vec<f32>,
    scores: Vec<f64>,
    /// Out-degrees.
    degrees: Vec<u32>,
    /// The number of vertices of each graph.
    sizes: [usize; LANES],
    dangling: [f64; LANES],
}

impl State {
    /// Equal scores.
    fn new(series: &GraphSeries<'_>, present: &[u64], run: &Run) -> Self {
        let n = series.num_vertices();
        let mut sizes = [0; LANES];
        for &graphs in present {
            (0..LANES).for_each(|i| sizes[i] += (graphs >> i & 1) as usize);
        }
        let mut degrees = vec![0_u32; n * LANES];
        run.install(|| {
            degrees.par_chunks_mut(LANES).enumerate().for_each(|(v, degrees)| {
                for &slot in series.out().list(vertex(v)).1 {
                    let graphs = series.members(slot);
                    degrees.iter_mut().enumerate().for_each(|(i, one)| *one += (graphs >> i & 1) as u32);
                }
            });
        });
        let (mut now, mut scores) = (vec![0.0; n * LANES], vec![0.0; n * LANES]);
        let mut dangling = [0; LANES];
        for (v, &graphs) in present.iter().enumerate() {
            for i in (0..LANES).filter(|i| graphs >> i & 1 == 1) {
                let (score, degree) = (1.0 / sizes[i] as f64, degrees[v * LANES + i]);
                scores[v * LANES + i] = score;
                now[v * LANES + i] = (score / f64::from(degree.max(1))) as f32;
                if degree == 0 {
                    dangling[i] += to_fixed(score);
                }
            }
        }
        let next = now.clone();
        Self { now, next, scores, degrees, sizes, dangling: dangling.map(from_fixed) }
    }

    fn round(
        &mut self,
        received: &Rows<'_, u16>,
        present: &[u64],
        masks: &[[f32; LANES]],
        (active, damping): (u64, f64),
        run: &Run,
    ) -> Result<LaneTotals, Stop> {
        let Self { now, next, scores, degrees, sizes, dangling } = self;
        // What each vertex gets besides the shares of its neighbours.
        let jump = std::array::from_fn(|i| {
            let share = if sizes[i] > 0 { 1.0 / sizes[i] as f64 } else { 0.0 };
            (1.0 - damping) * share + damping * dangling[i] * share
        });
        let units = next.par_chunks_mut(GRAIN * LANES).zip(scores.par_chunks_mut(GRAIN * LANES));
        let units = units.zip(degrees.par_chunks(GRAIN * LANES)).enumerate();
        let now = &now[..];
        let totals = run.install(|| {
            let totals = units.map(|(unit, ((next, scores), degrees))| {
                run.check()?;
                let first = unit * GRAIN;
                let vertices = first..first + scores.len() / LANES;
                let present = &present[vertices];
                let pull = LanePull {
                    received,
                    now,
                    masks,
                    first,
                    present,
                    next,
                    scores,
                    degrees,
                    active,
                    damping,
                    jump,
                };
                Ok::<_, Stop>(with_vectors(pull))
            });
            totals.try_reduce(LaneTotals::default, |a, b| Ok(a.plus(b)))
        })?;
        std::mem::swap(&mut self.now, &mut self.next);
        Ok(totals)
    }
}

/// One round of some successive vertices.
struct LanePull<'a> {
    received: &'a Rows<'a, u16>,
    now: &'a [f32],
    masks: &'a [[f32; LANES]],
    first: usize,
    present: &'a [u64],
    next: &'a mut [f32],
    scores: &'a mut [f64],
    degrees: &'a [u32],
    active: u64,
    damping: f64,
    jump: [f64; LANES],
}

impl VectorLoop for LanePull<'_> {
    type Output = LaneTotals;

    #[inline(always)]
    fn run(self) -> LaneTotals {
        let mut totals = LaneTotals::default();
        let (now, _) = self.now.as_chunks::<LANES>();
        let (next, _) = self.next.as_chunks_mut::<LANES>();
        let (scores, _) = self.scores.as_chunks_mut::<LANES>();
        let (degrees, _) = self.degrees.as_chunks::<LANES>();
        for (at, &graphs) in self.present.iter().enumerate() {
            let v = self.first + at;
            let (next, scores, degrees) = (&mut next[at], &mut scores[at], &degrees[at]);
            // Graphs that have converged keep their shares.
            *next = now[v];
            if graphs & self.active == 0 {
                continue;
            }
            let mut sums = [0.0_f64; LANES];
            let (targets, slots) = self.received.list(vertex(v));
            for (&target, &slot) in targets.iter().zip(slots) {
                let (shares, mask) = (&now[target as usize], &self.masks[usize::from(slot)]);
                for i in 0..LANES {
                    sums[i] += f64::from(shares[i] * mask[i]);
                }
            }
            // Without branches, so that it runs on vectors. A graph that is not live keeps its score, which changes nothing.
            let live = graphs & self.active;
            for i in 0..LANES {
                let (old, degree, is_live) = (scores[i], degrees[i], live >> i & 1 == 1);
                let score = if is_live { self.jump[i] + self.damping * sums[i] } else { old };
                totals.change[i] += to_fixed((score - old).abs());
                totals.dangling[i] += to_fixed(if degree == 0 { score } else { 0.0 });
                scores[i] = score;
                next[i] = (score / f64::from(degree.max(1))) as f32;
            }
        }
        totals
    }
}

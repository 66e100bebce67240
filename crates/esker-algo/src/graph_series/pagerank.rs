//! PageRank of several graphs over the same vertices.
//!
//! Up to 64 graphs in one pass over their arcs. What a vertex gives along each of its edges is one cache
//! line: a byte for each graph, and a factor beside it. Bytes suffice because only what is missing is handed
//! over: each graph has scores and *residuals*, the difference of one step of the power iteration from the
//! scores. In a round, a vertex rounds its residuals to multiples of the factor, moves that much to its
//! scores, and its neighbours add their part of it to their residuals. What rounding left stays a residual,
//! and is handed over later. So no precision is lost, and residuals shrink from round to round nearly as the
//! changes of the power iteration do.
//!
//! These shrink faster than by the damping because they add up to 0. Rounding disturbs that; so after each
//! round the scores of a graph are scaled until they add up to 1 again, which changes its residuals by a
//! known amount.
//!
//! The answer is the scores with their residuals: the next step of the power iteration. The sum of the
//! residuals is the change in that step, and bounds the error as that of one graph
//! (`algorithm/centrality/convergence.rs`). The error of rounding to single precision is counted as much as
//! it is there, and 2^-23 of each score more. So both are within the tolerance, but the scores are others.
//! They do not depend on the number of threads.
//!
//! Work O(n + m) a round, for all graphs together. Memory: 912 bytes a vertex.

use esker_graph::{Rows, Run, Stop, prefetch, vertex};
use rayon::prelude::*;

use super::lanes::{
    Bytes, LANES, LaneTotals, PartTotals, UnitTotals, add_sinks, from_signed, give, lanes_of, mask_of,
    masked, to_signed,
};
use super::series::{GraphSeries, members_of};
use crate::algorithm::centrality::convergence::SINGLE_ROUNDING;
use crate::algorithm::centrality::pagerank::{PageRank, PageRankOptions, error_bound};
use crate::primitive::{VectorLoop, from_fixed, with_vectors};

/// Vertices in one unit of work.
const GRAIN: usize = 1 << 9;
/// How many arcs ahead cache lines are asked for.
const AHEAD: usize = 16;
/// Arcs whose shares are added up in single precision.
const BLOCK: usize = 32;
/// Near 1, scores would be scaled by numbers that rounding decides.
const DAMPING_MAX: f64 = 0.99;
/// The part of a score that rounding to single precision, of the score and of its residual, changes.
const SCORE_ROUNDING: f64 = 1.0 / (1 << 23) as f64;
/// Bytes a vertex: a score, a residual, a degree and two bytes for each graph, two factors, and the graphs in
/// which it is a sink.
const VERTEX_BYTES: u64 =
    (LANES * (3 * size_of::<f32>() + 2) + 2 * size_of::<f32>() + size_of::<u64>()) as u64;

/// The answers of all graphs of a series. The scores of one graph at a time are taken out.
pub struct SeriesPageRank {
    scores: Vec<[f32; LANES]>,
    residuals: Vec<[f32; LANES]>,
    answers: Vec<PageRank>,
}

impl SeriesPageRank {
    /// The answer of a graph, with scores for the vertices that are in it, ascending.
    pub fn take(&mut self, graph: usize, present: &[u64]) -> PageRank {
        let answer = std::mem::replace(&mut self.answers[graph], empty());
        let score =
            |v| f64::from(self.scores[v as usize][graph]) + f64::from(self.residuals[v as usize][graph]);
        let mut scores: Vec<f64> = match answer.rounds {
            0 => members_of(present, graph).map(|_| 1.0).collect(),
            _ => members_of(present, graph).map(score).collect(),
        };
        let sum: f64 = scores.iter().sum();
        scores.iter_mut().for_each(|score| *score /= sum);
        PageRank { scores, ..answer }
    }
}

fn empty() -> PageRank {
    let unknown = f64::INFINITY;
    PageRank { scores: Vec::new(), rounds: 0, residual: unknown, error: unknown, converged: false }
}

/// Computes the scores of up to [`LANES`] graphs. `present` says for each vertex in which graphs it is.
///
/// # Errors
/// [`Stop::Unsuitable`] for more graphs, options that [`suits`] excludes, or a directed series without
/// in-lists; [`Stop::OverBudget`]; cancellation.
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
        return Err(Stop::unsuitable("PageRank of several graphs does not suit these options".to_owned()));
    };
    let run = &run.begin("PageRank of several graphs", n as u64 * VERTEX_BYTES)?;
    let masks: Vec<[i8; LANES]> = series.slots().iter().map(|&graphs| lanes_of(graphs)).collect();
    let input = RoundInput { received, masks: &masks, present, damping: options.damping };
    let (mut state, mut totals) = RankState::new(series, present, options.damping, run);
    let mut answers: Vec<PageRank> = (0..series.len()).map(|_| empty()).collect();
    let mut rounds = 0;
    let is_reached = |one: &PageRank| options.measured(one.residual, one.error) < options.tolerance;
    loop {
        let goes_on = |answer: &PageRank| rounds < options.rounds_max && !is_reached(answer);
        let active = (0..series.len()).filter(|&i| state.sizes[i] > 0 && goes_on(&answers[i]));
        let active = active.fold(0_u64, |bits, i| bits | 1 << i);
        if active == 0 {
            break;
        }
        run.round(n)?;
        totals = state.round(&input, active, &totals, run)?;
        rounds += 1;
        for (i, answer) in answers.iter_mut().enumerate().filter(|one| active >> one.0 & 1 == 1) {
            answer.residual = from_fixed(totals.residual[i]);
            answer.error = error_bound(options.damping, answer.residual, SINGLE_ROUNDING) + SCORE_ROUNDING;
            answer.rounds = rounds;
        }
    }
    for (answer, size) in answers.iter_mut().zip(state.sizes) {
        answer.converged = size == 0 || is_reached(answer);
    }
    let RankState { scores, residuals, .. } = state;
    Ok(SeriesPageRank { scores, residuals, answers })
}

/// Whether [`pagerank`] can follow these options: no teleport, shares in single precision, and a damping that
/// is not near 1.
pub fn suits(options: &PageRankOptions) -> bool {
    options.teleport.is_none() && options.is_single() && options.damping <= DAMPING_MAX
}

/// What all rounds read.
struct RoundInput<'a> {
    /// The lists along which vertices receive.
    received: &'a Rows<'a, u16>,
    /// For each slot the lanes of the graphs that have its arcs.
    masks: &'a [[i8; LANES]],
    /// For each vertex the graphs in which it is.
    present: &'a [u64],
    damping: f64,
}

/// What each vertex gives along each of its out-edges.
#[derive(Clone, Copy)]
struct SentShares<'a> {
    bytes: &'a [Bytes],
    /// What the bytes of each vertex are multiplied by.
    factors: &'a [f32],
}

/// What holds for all vertices in a round, one a graph.
struct Terms {
    /// What each vertex gets of what vertices without out-edges gave.
    jump: [f32; LANES],
    /// What each vertex has without edges.
    base: [f32; LANES],
    /// By which part scores grow so that they add up to 1.
    growth: [f32; LANES],
    damping: f32,
    /// What is lost of a residual that is given: 1 less the damping.
    loss: f32,
}

struct RankState {
    now: Vec<Bytes>,
    next: Vec<Bytes>,
    factors: Vec<f32>,
    next_factors: Vec<f32>,
    scores: Vec<[f32; LANES]>,
    residuals: Vec<[f32; LANES]>,
    /// Out-degrees; 1 for none.
    degrees: Vec<[f32; LANES]>,
    /// For each vertex the graphs in which it has no out-edge.
    sinks: Vec<u64>,
    /// The number of vertices of each graph.
    sizes: [usize; LANES],
}

impl RankState {
    /// Equal scores, up to the rounding of a vertex, given to the neighbours.
    fn new(series: &GraphSeries<'_>, present: &[u64], damping: f64, run: &Run) -> (Self, LaneTotals) {
        let n = series.num_vertices();
        let mut sizes = [0; LANES];
        for &graphs in present {
            (0..LANES).for_each(|i| sizes[i] += (graphs >> i & 1) as usize);
        }
        let mut state = Self {
            now: vec![Bytes([0; LANES]); n],
            next: vec![Bytes([0; LANES]); n],
            factors: vec![0.0; n],
            next_factors: vec![0.0; n],
            scores: vec![[0.0; LANES]; n],
            residuals: vec![[0.0; LANES]; n],
            degrees: vec![[0.0; LANES]; n],
            sinks: vec![0; n],
            sizes,
        };
        let of_size =
            |number: f64| sizes.map(|size| if size > 0 { (number / size as f64) as f32 } else { 0.0 });
        let (equal, base) = (&of_size(1.0), &of_size(1.0 - damping));
        let members: Vec<[u8; LANES]> =
            series.slots().iter().map(|&graphs| lanes_of(graphs).map(|lane| lane as u8 & 1)).collect();
        let members = &members[..];
        let vertices = state.now.par_chunks_mut(GRAIN).zip(state.factors.par_chunks_mut(GRAIN));
        let values = state.scores.par_chunks_mut(GRAIN).zip(state.residuals.par_chunks_mut(GRAIN));
        let fixed = state.degrees.par_chunks_mut(GRAIN).zip(state.sinks.par_chunks_mut(GRAIN));
        let units = vertices.zip(values).zip(fixed).zip(present.par_chunks(GRAIN)).enumerate();
        let totals = run.install(|| {
            let totals =
                units.map(|(unit, ((((now, factors), (scores, residuals)), (degrees, sinks)), present))| {
                    let (first, loss) = (unit * GRAIN, (1.0 - damping) as f32);
                    let out = series.out();
                    let start = Start {
                        out,
                        members,
                        first,
                        present,
                        base,
                        equal,
                        loss,
                        now,
                        factors,
                        scores,
                        residuals,
                        degrees,
                        sinks,
                    };
                    with_vectors(start)
                });
            totals.reduce(LaneTotals::default, |a, b| a.plus(&b))
        });
        let mass = sizes.map(|size| if size > 0 { to_signed(1.0 - damping) } else { 0 });
        (state, totals.plus(&LaneTotals { mass, ..LaneTotals::default() }))
    }

    /// One round of the `active` graphs. `before`: the sums of the one before.
    fn round(
        &mut self,
        input: &RoundInput<'_>,
        active: u64,
        before: &LaneTotals,
        run: &Run,
    ) -> Result<LaneTotals, Stop> {
        let &RoundInput { received, masks, present, damping } = input;
        let of_size = |i: usize, number: f64| match self.sizes[i] {
            0 => 0.0,
            size => (number / size as f64) as f32,
        };
        let growth = |i: usize| {
            // Residuals add up to 0 once the scores add up to 1.
            let mass = from_signed(before.mass[i]);
            (mass / (1.0 - damping - mass)) as f32
        };
        let terms = Terms {
            jump: std::array::from_fn(|i| of_size(i, damping * from_signed(before.dangling[i]))),
            base: std::array::from_fn(|i| of_size(i, 1.0 - damping)),
            growth: std::array::from_fn(growth),
            damping: damping as f32,
            loss: (1.0 - damping) as f32,
        };
        let Self { now, next, factors, next_factors, scores, residuals, degrees, sinks, .. } = self;
        let vertices = next.par_chunks_mut(GRAIN).zip(next_factors.par_chunks_mut(GRAIN));
        let values = scores.par_chunks_mut(GRAIN).zip(residuals.par_chunks_mut(GRAIN));
        let fixed = degrees.par_chunks(GRAIN).zip(present.par_chunks(GRAIN)).zip(sinks.par_chunks(GRAIN));
        let (now, factors, terms) = (&now[..], &factors[..], &terms);
        let units = vertices.zip(values).zip(fixed).enumerate();
        let totals = run.install(|| {
            let totals = units.map(
                |(unit, (((next, next_factors), (scores, residuals)), ((degrees, present), sinks)))| {
                    run.check()?;
                    let pull = LanePull {
                        received,
                        masks,
                        sent: SentShares { bytes: now, factors },
                        terms,
                        first: unit * GRAIN,
                        present,
                        active,
                        next,
                        next_factors,
                        scores,
                        residuals,
                        degrees,
                        sinks,
                    };
                    Ok::<_, Stop>(with_vectors(pull))
                },
            );
            totals.try_reduce(LaneTotals::default, |a, b| Ok(a.plus(&b)))
        })?;
        std::mem::swap(&mut self.now, &mut self.next);
        std::mem::swap(&mut self.factors, &mut self.next_factors);
        Ok(totals)
    }
}

/// The beginning at some successive vertices.
struct Start<'a> {
    out: &'a Rows<'a, u16>,
    /// For each slot a 1 for each graph that has its arcs.
    members: &'a [[u8; LANES]],
    first: usize,
    present: &'a [u64],
    base: &'a [f32; LANES],
    equal: &'a [f32; LANES],
    loss: f32,
    now: &'a mut [Bytes],
    factors: &'a mut [f32],
    scores: &'a mut [[f32; LANES]],
    residuals: &'a mut [[f32; LANES]],
    degrees: &'a mut [[f32; LANES]],
    sinks: &'a mut [u64],
}

impl VectorLoop for Start<'_> {
    type Output = LaneTotals;

    #[inline(always)]
    fn run(self) -> LaneTotals {
        let mut unit = UnitTotals::new();
        for (at, &graphs) in self.present.iter().enumerate() {
            let mut counts = [0_u32; LANES];
            for &slot in self.out.list(vertex(self.first + at)).1 {
                let graphs = &self.members[usize::from(slot)];
                for i in 0..LANES {
                    counts[i] += u32::from(graphs[i]);
                }
            }
            let sinks = (0..LANES).fold(0, |bits, i| bits | u64::from(counts[i] == 0) << i) & graphs;
            let (degrees, mask) = (counts.map(|count| count.max(1) as f32), mask_of(graphs));
            let given = give(&std::array::from_fn(|i| masked(self.equal[i], mask[i])), &degrees);
            (self.now[at], self.factors[at], self.scores[at]) = (given.bytes, given.factor, given.sums);
            self.residuals[at] = std::array::from_fn(|i| masked(self.base[i], mask[i]) - given.sums[i]);
            (self.degrees[at], self.sinks[at]) = (degrees, sinks);
            let mut part = PartTotals::new();
            part.mass = given.sums.map(|sum| -self.loss * sum);
            add_sinks(&mut part, sinks, &given.sums);
            unit.add(&part);
        }
        unit.fixed()
    }
}

/// One round of some successive vertices.
struct LanePull<'a> {
    received: &'a Rows<'a, u16>,
    masks: &'a [[i8; LANES]],
    sent: SentShares<'a>,
    terms: &'a Terms,
    first: usize,
    present: &'a [u64],
    active: u64,
    next: &'a mut [Bytes],
    next_factors: &'a mut [f32],
    scores: &'a mut [[f32; LANES]],
    residuals: &'a mut [[f32; LANES]],
    degrees: &'a [[f32; LANES]],
    sinks: &'a [u64],
}

impl VectorLoop for LanePull<'_> {
    type Output = LaneTotals;

    #[inline(always)]
    fn run(mut self) -> LaneTotals {
        let (mut unit, mut part) = (UnitTotals::new(), PartTotals::new());
        for at in 0..self.present.len() {
            self.of_vertex(at, &mut part);
            if at % BLOCK == BLOCK - 1 {
                unit.add(&part);
                part = PartTotals::new();
            }
        }
        unit.add(&part);
        unit.fixed()
    }
}

impl LanePull<'_> {
    #[inline(always)]
    fn of_vertex(&mut self, at: usize, part: &mut PartTotals) {
        let live = self.present[at] & self.active;
        if live == 0 {
            (self.next[at], self.next_factors[at]) = (Bytes([0; LANES]), 0.0);
            return;
        }
        let v = self.first + at;
        if v + 1 < self.received.num_vertices() {
            let (targets, _) = self.received.list(vertex(v + 1));
            targets.iter().take(AHEAD).for_each(|&target| prefetch(self.sent.bytes, target as usize));
        }
        let (targets, slots) = self.received.list(vertex(v));
        let sums = gathered(targets, slots, self.sent, self.masks);
        let (scores, residuals) = (&mut self.scores[at], &mut self.residuals[at]);
        let (terms, mask) = (self.terms, mask_of(live));
        let mut wanted = [0.0_f32; LANES];
        for i in 0..LANES {
            let found = residuals[i] + terms.damping * sums[i] + terms.jump[i];
            wanted[i] = masked(found + terms.growth[i] * (found - terms.base[i]), mask[i]);
        }
        let given = give(&wanted, &self.degrees[at]);
        for i in 0..LANES {
            scores[i] += masked(terms.growth[i], mask[i]) * scores[i] + given.sums[i];
            // Graphs that have converged keep their residuals.
            residuals[i] = masked(residuals[i], !mask[i]) + (wanted[i] - given.sums[i]);
            part.residual[i] += wanted[i].abs();
            part.mass[i] += wanted[i] - terms.loss * given.sums[i];
        }
        add_sinks(part, self.sinks[at], &given.sums);
        (self.next[at], self.next_factors[at]) = (given.bytes, given.factor);
    }
}

/// What the neighbours of a vertex gave it.
#[inline(always)]
fn gathered(
    targets: &[esker_graph::VertexId],
    slots: &[u16],
    sent: SentShares<'_>,
    masks: &[[i8; LANES]],
) -> [f32; LANES] {
    let mut sums = [0.0_f64; LANES];
    let mut ahead = targets.iter().skip(AHEAD);
    for (targets, slots) in targets.chunks(BLOCK).zip(slots.chunks(BLOCK)) {
        let mut part = [0.0_f32; LANES];
        for (&target, &slot) in targets.iter().zip(slots) {
            if let Some(&later) = ahead.next() {
                prefetch(sent.bytes, later as usize);
            }
            let (bytes, mask) = (&sent.bytes[target as usize].0, &masks[usize::from(slot)]);
            let factor = sent.factors[target as usize];
            for i in 0..LANES {
                part[i] += f32::from(bytes[i] & mask[i]) * factor;
            }
        }
        for i in 0..LANES {
            sums[i] += f64::from(part[i]);
        }
    }
    sums.map(|sum| sum as f32)
}

//! PageRank, kept up to date within a certificate.
//!
//! Ranks are proportional to the solution y of y = 1 + d P'y, where P sends the value of a vertex along its
//! out-edges and a vertex without any sends nothing [1]. So the number of vertices, and what vertices without
//! out-edges give to all others, change only the sum that the values are divided by. The state has z, the
//! value that each vertex sends along each of its out-edges, and the residual r = 1 + d P'y - y. An edge from
//! u changes y of u by z of u, and the residuals of its two ends: two additions, whatever the degrees. Once
//! the residuals exceed what the tolerance allows, the largest are pushed along out-edges [2] until they are
//! half of that. Where this would read more than a small part of the graph, [`LivePageRank::refine`] corrects
//! all values in scans instead, from the residuals that are known.
//!
//! A scan corrects y by p, which changes r by d P'p - p. Steps p = r would leave d of the residuals in each
//! round, and less where residuals of both signs meet. Two things make it faster. Multiplying y by 1 + e,
//! which changes no rank, takes e from all residuals: with their sum goes the part that meets nothing of the
//! other sign. And p is combined from r and the step before as Chebyshev's polynomials have it [3], for a
//! spectrum within `REACH` d: wider for undirected graphs, whose spectrum is real. If the residuals do not
//! fall as those of p = r would, that is taken instead.
//!
//! The sum of the differences of all ranks from the exact ones is at most [`LivePageRank::error`], at most
//! the tolerance: from |r| follows |y - y*| <= |r| / (1 - d), and twice that for the ranks, for their sum is
//! uncertain too. So a verifier that does one more round finds a change of at most 1 - d times the tolerance.
//! Scans carry p in single precision, which changes r by at most d 2^-23 |p|: that is added up, counted in
//! the error, and ended by computing r anew. Other rounding is not counted: it is below 1e-12.
//!
//! Work: pushes of all residuals together at most |r| / (1 - d) / (the least that is pushed). Reads: the
//! out-lists of pushed vertices; a round of `refine` all in-lists (else out-lists). Memory: 16 bytes and an
//! id a vertex; while it scans, 8 bytes more and what sums over neighbours take.
//!
//! [1] G. Del Corso, A. Gullì, F. Romani, "Fast PageRank Computation via a Sparse Linear System", Internet
//!     Mathematics 2, 2005.
//! [2] H. Zhang, P. Lofgren, A. Goel, "Approximate Personalized PageRank on Dynamic Graphs", KDD 2016.
//! [3] G. Golub, R. Varga, "Chebyshev Semi-Iterative Methods, Successive Overrelaxation Iterative Methods,
//!     and Second Order Richardson Iterative Methods", Numerische Mathematik 3, 1961.

use esker_graph::{Direction, Graph, Run, VertexId, vertex};

#[cfg(doc)]
use super::graph::Halt;
use super::graph::{BoundedReader, LiveGraph, UpdateResult};
#[cfg(doc)]
use crate::algorithm::centrality::pagerank::pagerank;
use crate::primitive::{
    ArrayValue, NeighbourSum, Precision, VertexChunk, VertexValues, from_fixed, to_fixed,
};

/// The part of the tolerance that residuals may take; the rest is for the sum that ranks are divided by.
const RESIDUAL_SHARE: f64 = 0.8;
/// The part of what residuals may take that remains after they were pushed, or scans corrected the values.
const LEFT_SHARE: f64 = 0.5;
/// The part of what residuals may take that may be uncertain by rounding.
const DRIFT_SHARE: f64 = 0.02;
/// The part of a share that rounding to single precision, sums of four in it, and sums in fixed-point change
/// at most.
const SINGLE_ROUNDING: f64 = 1.0 / (1 << 22) as f64;
/// Of undirected and of directed graphs: the part of the damping within which the spectrum of most of a graph
/// lies.
const REACH: [f64; 2] = [0.7, 0.4];
/// Residuals may be that many times what steps p = r would have left.
const PATIENCE: f64 = 8.0;
/// Residuals are scaled to that sum, so that sums in fixed-point have room.
const SCALED_SUM: f64 = 1.0 / 64.0;
/// Pushes begin with residuals of more than this part of the largest; each pass over the vertices takes a
/// smaller one.
const PUSH_SHARE: f64 = 0.25;

/// Which ranks are kept up to date, and how exactly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LivePageRankOptions {
    /// The damping, less than 1.
    pub damping: f64,
    /// The most that the ranks may differ from the exact ones in all, more than 0.
    pub tolerance: f64,
}

/// The ranks of a version.
#[derive(Debug, Clone)]
pub struct LivePageRank {
    damping: f64,
    tolerance: f64,
    /// What each vertex sends along each out-edge, before damping; its value if it has none.
    shares: Vec<f64>,
    residuals: Vec<f64>,
    degrees: Vec<VertexId>,
    /// The sum of all values.
    sum: f64,
    /// The sum of the magnitudes of the residuals.
    residual: f64,
    /// How much the residuals may differ from the true ones by rounding, in all.
    drift: f64,
    /// What values are divided by: the sum at some version since the last time that it moved by a part of the
    /// tolerance.
    scale: f64,
}

impl LivePageRank {
    /// The bytes of the state of a graph with `n` vertices.
    pub fn bytes(n: usize) -> u64 {
        (n * (2 * size_of::<f64>() + size_of::<VertexId>())) as u64
    }

    /// Computes the ranks of a version. `removed` vertices, which have no edges, have no rank. Ranks of
    /// another version, if there are any, shorten the way: `known` may be of no version after an update that
    /// stopped.
    ///
    /// # Errors
    /// As [`pagerank`].
    pub fn new<G: Graph>(
        graph: &G,
        run: &Run,
        options: LivePageRankOptions,
        removed: &[VertexId],
        known: Option<Self>,
    ) -> Result<Self, G::Error> {
        let LivePageRankOptions { damping, tolerance } = options;
        let n = graph.num_vertices();
        let degrees: Vec<VertexId> =
            (0..n).map(|v| graph.degree(Direction::Out, vertex(v)) as VertexId).collect();
        // Without vertices that have no out-edges, this is the mean of the values.
        let mean = |v: usize| if degrees[v] == 0 { 1.0 } else { 1.0 / (1.0 - damping) };
        let known_value = |v: usize| {
            let known = known.as_ref().filter(|known| v < known.shares.len())?;
            Some(known.value(vertex(v))).filter(|value| value.is_finite() && *value >= 1.0)
        };
        let shares = (0..n).map(|v| known_value(v).unwrap_or_else(|| mean(v)) / parts(degrees[v])).collect();
        drop(known);
        let (residuals, sum, residual, drift, scale) = (vec![0.0; n], 0.0, 0.0, 0.0, 1.0);
        let mut state = Self { damping, tolerance, shares, residuals, degrees, sum, residual, drift, scale };
        removed.iter().for_each(|&v| state.shares[v as usize] = 0.0);
        state.find_residuals(graph, run)?;
        state.refine(graph, run)?;
        state.scale = state.sum;
        Ok(state)
    }

    /// The state as arrays of words, for [`LivePageRank::of_words`].
    pub fn words(&self) -> Vec<Vec<u64>> {
        let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect();
        let degrees = self.degrees.iter().map(|&degree| degree as u64).collect();
        let sums = [self.sum, self.residual, self.scale, self.drift];
        vec![bits(&sums), bits(&self.shares), bits(&self.residuals), degrees]
    }

    /// The state of a version with `n` vertices, from what [`LivePageRank::words`] made; `None` if that does
    /// not fit.
    pub fn of_words(options: LivePageRankOptions, n: usize, words: &[Vec<u64>]) -> Option<Self> {
        let LivePageRankOptions { damping, tolerance } = options;
        let [sums, shares, residuals, degrees] = words else { return None };
        if sums.len() != 4 || [shares, residuals, degrees].iter().any(|array| array.len() != n) {
            return None;
        }
        let values = |bits: &[u64]| bits.iter().map(|&bits| f64::from_bits(bits)).collect::<Vec<f64>>();
        let degree = |&degree: &u64| (degree <= VertexId::MAX as u64).then_some(degree as VertexId);
        let degrees = degrees.iter().map(degree).collect::<Option<_>>()?;
        let (sums, shares, residuals) = (values(sums), values(shares), values(residuals));
        let (sum, residual, scale, drift) = (sums[0], sums[1], sums[2], sums[3]);
        Some(Self { damping, tolerance, shares, residuals, degrees, sum, residual, drift, scale })
    }

    /// The rank of a vertex.
    pub fn rank(&self, v: VertexId) -> f64 {
        self.value(v) / self.scale
    }

    /// The number of vertices.
    pub fn num_vertices(&self) -> usize {
        self.shares.len()
    }

    /// A bound for the sum of the differences of all ranks from the exact ones.
    pub fn error(&self) -> f64 {
        let residual = self.residual + self.drift;
        2.0 * residual / ((1.0 - self.damping) * self.sum) + (self.sum / self.scale - 1.0).abs()
    }

    /// Brings the state to the version that `reader` reads. Returns the vertices whose ranks may have
    /// changed, each at least once.
    ///
    /// # Errors
    /// [`Halt::TooMuch`]: the state is of the version, but not within the tolerance until
    /// [`LivePageRank::refine`] was called, and all ranks may have changed; [`Halt::Failed`].
    pub fn update<G: LiveGraph>(
        &mut self,
        reader: &mut BoundedReader<'_, G>,
    ) -> UpdateResult<Vec<VertexId>, G> {
        let (changes, n) = (reader.changes(), reader.graph().num_vertices());
        let is_directed = reader.graph().is_directed();
        self.shares.resize(n, 0.0);
        self.residuals.resize(n, 0.0);
        self.degrees.resize(n, 0);
        let mut changed = Vec::new();
        for (edges, by) in [(&changes.removed, -1.0), (&changes.added, 1.0)] {
            for &(u, v, _) in edges {
                self.change_arc(u, v, by, &mut changed);
                if !is_directed && u != v {
                    self.change_arc(v, u, by, &mut changed);
                }
            }
        }
        for &v in &changes.left {
            self.sum -= self.value(v);
            self.bump(v, -self.residuals[v as usize]);
            self.shares[v as usize] = 0.0;
            changed.push(v);
        }
        for &v in &changes.came {
            self.bump(v, 1.0);
            changed.push(v);
        }
        if self.residual + self.drift > self.allowed() * self.sum {
            self.recount();
            let part = self.allowed() * LEFT_SHARE - self.drift / self.sum;
            self.push_down_to(reader, part.max(self.allowed() * DRIFT_SHARE), &mut changed)?;
        }
        if (self.sum / self.scale - 1.0).abs() > self.tolerance * (1.0 - RESIDUAL_SHARE) {
            self.scale = self.sum;
            changed = (0..n).map(vertex).collect();
        }
        Ok(changed)
    }

    /// The part of the values that the residuals may take.
    fn allowed(&self) -> f64 {
        self.tolerance * (1.0 - self.damping) / 2.0 * RESIDUAL_SHARE
    }

    fn value(&self, v: VertexId) -> f64 {
        self.shares[v as usize] * parts(self.degrees[v as usize])
    }

    /// Adds or removes an arc: the share of its source stays, so its value changes.
    fn change_arc(&mut self, u: VertexId, v: VertexId, by: f64, changed: &mut Vec<VertexId>) {
        let degree = &mut self.degrees[u as usize];
        let before = parts(*degree);
        *degree = if by > 0.0 { *degree + 1 } else { degree.saturating_sub(1) };
        let more = parts(*degree) - before;
        let share = self.shares[u as usize];
        self.sum += more * share;
        self.bump(u, -more * share);
        self.bump(v, by * self.damping * share);
        changed.push(u);
    }

    fn bump(&mut self, v: VertexId, by: f64) {
        let residual = &mut self.residuals[v as usize];
        let before = residual.abs();
        *residual += by;
        self.residual += residual.abs() - before;
    }

    /// Adds up sums that were kept up to date so far.
    fn recount(&mut self) {
        self.sum = (0..self.shares.len()).map(|v| self.value(vertex(v))).sum();
        self.residual = self.residuals.iter().map(|residual| residual.abs()).sum();
    }

    /// Pushes the largest residuals until they add up to no more than a part of the values.
    fn push_down_to<G: LiveGraph>(
        &mut self,
        reader: &mut BoundedReader<'_, G>,
        part: f64,
        changed: &mut Vec<VertexId>,
    ) -> UpdateResult<(), G> {
        let mut least = self.residuals.iter().fold(0.0, |most: f64, residual| most.max(residual.abs()));
        let mut waiting = Vec::new();
        while self.residual > part * self.sum {
            least *= PUSH_SHARE;
            reader.count(self.residuals.len() / 64)?;
            let large = |v: &VertexId| self.residuals[*v as usize].abs() > least;
            waiting.extend((0..self.residuals.len()).map(vertex).filter(large));
            while let Some(u) = waiting.pop() {
                let residual = self.residuals[u as usize];
                if residual.abs() <= least {
                    continue;
                }
                if self.residual <= part * self.sum {
                    return Ok(());
                }
                let each = residual / parts(self.degrees[u as usize]);
                self.shares[u as usize] += each;
                self.sum += residual;
                self.bump(u, -residual);
                changed.push(u);
                if self.degrees[u as usize] > 0 {
                    // Also where this says that it read too much, it has handed over the whole list: the
                    // residuals stay true.
                    let by = each * self.damping;
                    reader.each(Direction::Out, u, |v, _| {
                        let was_small = self.residuals[v as usize].abs() <= least;
                        self.bump(v, by);
                        if was_small && self.residuals[v as usize].abs() > least {
                            waiting.push(v);
                        }
                    })?;
                }
            }
        }
        Ok(())
    }
}

/// Into how many shares a value is divided.
fn parts(degree: VertexId) -> f64 {
    degree.max(1) as f64
}

/// Corrections of all values in scans of the graph.
impl LivePageRank {
    /// Corrects the values of the version that the state is of, until its error is well within the tolerance.
    /// All ranks may change.
    ///
    /// # Errors
    /// As [`pagerank`]; the state is of no version then.
    pub fn refine<G: Graph>(&mut self, graph: &G, run: &Run) -> Result<(), G::Error> {
        let mut before = f64::INFINITY;
        loop {
            if self.drift > self.allowed() * DRIFT_SHARE * self.sum {
                self.find_residuals(graph, run)?;
            }
            let goal = self.allowed() * LEFT_SHARE * self.sum;
            // Rounding may leave more than a very small tolerance allows.
            if self.residual + self.drift <= goal || self.residual > before / 2.0 {
                break;
            }
            before = self.residual;
            self.take_out_net_sum();
            self.correct(graph, run, goal)?;
        }
        if (self.sum / self.scale - 1.0).abs() > self.tolerance * (1.0 - RESIDUAL_SHARE) {
            self.scale = self.sum;
        }
        Ok(())
    }

    /// Whether a vertex was not removed: a value of 0 without a residual solves nothing.
    fn is_there(&self, v: usize) -> bool {
        self.shares[v] != 0.0 || self.residuals[v] != 0.0
    }

    /// Multiplies the values, and what they are divided by, so that the residuals add up to 0.
    fn take_out_net_sum(&mut self) {
        let net: f64 = self.residuals.iter().sum();
        let count = (0..self.shares.len()).filter(|&v| self.is_there(v)).count() as f64;
        let by = net / (count - net);
        if !(by > -1.0 && by.is_finite()) {
            return;
        }
        for v in 0..self.shares.len() {
            if self.is_there(v) {
                self.shares[v] *= 1.0 + by;
                self.residuals[v] = self.residuals[v] * (1.0 + by) - by;
            }
        }
        self.drift *= 1.0 + by;
        self.scale *= 1.0 + by;
        self.recount();
    }

    /// Corrects the values until the residuals add up to `goal`, or to less than rounding makes uncertain.
    fn correct<G: Graph>(&mut self, graph: &G, run: &Run, goal: f64) -> Result<(), G::Error> {
        let n = self.shares.len();
        let bytes = NeighbourSum::vertex_bytes(graph.is_scattered(), Precision::Single);
        let run = &run.begin("ranks", (bytes + size_of::<f64>() as u64) * n as u64)?;
        let reach = self.damping * REACH[usize::from(graph.is_directed())];
        let mut rounds = CorrectionSteps::new(self.damping, reach, self.residual);
        let scale = (SCALED_SUM / self.residual).log2().floor().exp2();
        let (damping, degrees) = (self.damping, &self.degrees);
        let shares = VertexValues::from(std::mem::take(&mut self.shares));
        let (residuals, drift) = (&mut self.residuals, &mut self.drift);
        let corrected = run.install(|| {
            let steps = VertexValues::from_fn(run, n, |v| residuals[v]);
            let mut sums = NeighbourSum::new(graph, run);
            sums.finish(
                run,
                Precision::Single,
                residuals,
                |(): &mut (), VertexChunk { first, values, flows }| {
                    for ((flow, step), &degree) in flows.iter_mut().zip(values).zip(&degrees[first..]) {
                        *flow = *step * scale / parts(degree);
                    }
                },
            )?;
            let mut step_sum = rounds.residual;
            while rounds.residual + *drift > goal && rounds.residual > *drift {
                run.round(n)?;
                *drift += damping * SINGLE_ROUNDING * step_sum;
                let (of_step, of_residual) = rounds.next();
                let given = |(residual, next): &mut (u64, u64), chunk: VertexChunk<'_>| {
                    let VertexChunk { first, values, flows } = chunk;
                    let end = first + flows.len();
                    let cells = shares.cells()[first..end].iter().zip(&steps.cells()[first..end]);
                    for (((left, flow), &degree), (share, step)) in
                        values.iter_mut().zip(flows).zip(&degrees[first..]).zip(cells)
                    {
                        let taken = f64::load(step);
                        f64::store(share, f64::load(share) + taken / parts(degree));
                        *left += damping * *flow / scale - taken;
                        let new = of_step * taken + of_residual * *left;
                        f64::store(step, new);
                        *flow = new * scale / parts(degree);
                        *residual += to_fixed((*left * scale).abs());
                        *next += to_fixed((new * scale).abs());
                    }
                };
                let totals = sums.round(run, Precision::Single, residuals, given)?;
                rounds.residual = from_fixed(totals.iter().map(|total| total.0).sum()) / scale;
                step_sum = from_fixed(totals.iter().map(|total| total.1).sum()) / scale;
            }
            Ok(())
        });
        self.shares = shares.into_vec();
        self.recount();
        corrected
    }

    /// Computes the residuals anew, in double precision.
    fn find_residuals<G: Graph>(&mut self, graph: &G, run: &Run) -> Result<(), G::Error> {
        let n = self.shares.len();
        let bytes = NeighbourSum::vertex_bytes(graph.is_scattered(), Precision::Double);
        let run = &run.begin("residuals", bytes * n as u64)?;
        self.recount();
        let scale = (SCALED_SUM / self.sum.max(1.0)).log2().floor().exp2();
        let (damping, degrees, shares) = (self.damping, &self.degrees, &self.shares);
        let residuals = &mut self.residuals;
        run.install(|| {
            let mut sums = NeighbourSum::new(graph, run);
            sums.finish(
                run,
                Precision::Double,
                residuals,
                |(): &mut (), VertexChunk { first, flows, .. }| {
                    flows.iter_mut().zip(&shares[first..]).for_each(|(flow, share)| *flow = share * scale);
                },
            )?;
            sums.round(
                run,
                Precision::Double,
                residuals,
                |(): &mut (), VertexChunk { first, values, flows }| {
                    let of_shares = shares[first..].iter().zip(&degrees[first..]);
                    for ((residual, sum), (share, &degree)) in values.iter_mut().zip(flows).zip(of_shares) {
                        // Removed vertices have neither.
                        if *share != 0.0 || *residual != 0.0 {
                            *residual = 1.0 + damping * *sum / scale - share * parts(degree);
                        }
                    }
                },
            )
        })?;
        self.drift = 0.0;
        self.recount();
        Ok(())
    }
}

/// The steps of a correction: each is a combination of the one before and the residuals.
struct CorrectionSteps {
    damping: f64,
    reach: f64,
    /// The part of the step before in the next one, by the reach.
    weight: f64,
    /// The sum of the residuals now, and what steps p = r would have left at most.
    residual: f64,
    expected: f64,
}

impl CorrectionSteps {
    fn new(damping: f64, reach: f64, residual: f64) -> Self {
        Self { damping, reach, weight: reach, residual, expected: residual }
    }

    /// By how much the last step and the residuals after it count in the next step.
    fn next(&mut self) -> (f64, f64) {
        if self.residual > PATIENCE * self.expected || self.reach == 0.0 {
            (self.reach, self.expected) = (0.0, self.residual);
            return (0.0, 1.0);
        }
        self.expected *= self.damping;
        let before = self.weight;
        self.weight = 1.0 / (2.0 / self.reach - before);
        (self.weight * before, 2.0 * self.weight / self.reach)
    }
}

#[cfg(test)]
mod tests {
    use super::super::graph::ChangedEdges;
    use super::super::testing::EdgeChurn;
    use super::*;
    use crate::algorithm::centrality::pagerank::{PageRankOptions, pagerank};
    use crate::check;

    #[test]
    fn every_version_of_a_random_stream_is_within_its_certificate() {
        let run = Run::with_threads(1).unwrap();
        for (seed, tolerance) in (0..30).zip([1e-3, 1e-6, 1e-9].into_iter().cycle()) {
            let mut stream = EdgeChurn::new(seed, 40, seed % 2 == 0, |_| ());
            let csr = stream.graph();
            let mut live = LivePageRank::new(
                &csr.graph(),
                &run,
                LivePageRankOptions { damping: 0.85, tolerance },
                &[],
                None,
            )
            .unwrap();
            let mut given: Vec<f64> = (0..40).map(|v| live.rank(v)).collect();
            for step in 0..60 {
                let changes = stream.step(1 << (step % 5));
                let csr = stream.graph();
                let graph = csr.graph();
                let changed = live.update(&mut BoundedReader::new(&graph, &changes, u64::MAX)).unwrap();
                let n = stream.num_vertices;
                given.resize(n, 0.0);
                changed.iter().for_each(|&v| given[v as usize] = live.rank(v));
                let ranks: Vec<f64> = (0..n).map(|v| live.rank(vertex(v))).collect();
                assert_eq!(given, ranks, "seed {seed}, step {step}: what changed");
                assert!(live.error() <= tolerance, "{} of {tolerance}", live.error());
                let options =
                    PageRankOptions { tolerance: 1e-14, rounds_max: 1000, ..PageRankOptions::default() };
                let exact = pagerank(&graph, &run, &options).unwrap().scores;
                let error: f64 = ranks.iter().zip(&exact).map(|(a, b)| (a - b).abs()).sum();
                assert!(
                    error <= live.error() + 1e-11,
                    "{error}, not {}: seed {seed}, step {step}",
                    live.error()
                );
                let rows = graph.rows(Direction::Out).unwrap();
                let total: f64 = ranks.iter().sum();
                let scores: Vec<f64> = ranks.iter().map(|rank| rank / total).collect();
                check::pagerank(rows, 0.85, None, &scores, tolerance).unwrap();
            }
        }
    }

    #[test]
    fn ranks_that_scans_correct_are_within_their_certificate() {
        let run = Run::with_threads(1).unwrap();
        let mut refined = 0;
        for (seed, tolerance) in (0..24).zip([1e-3, 1e-6, 1e-10].into_iter().cycle()) {
            let mut stream = EdgeChurn::new(seed, 40, seed % 4 < 2, |_| ());
            let csr = stream.graph();
            let mut live = LivePageRank::new(
                &csr.graph(),
                &run,
                LivePageRankOptions { damping: 0.85, tolerance },
                &[],
                None,
            )
            .unwrap();
            for step in 0..10 {
                let changes = stream.step(1 << (step % 5));
                let csr = stream.graph();
                let graph = csr.graph();
                // Most updates stop, and leave residuals that are too large.
                let updated = live.update(&mut BoundedReader::new(&graph, &changes, 0));
                if seed % 2 == 0 {
                    live = LivePageRank::new(
                        &graph,
                        &run,
                        LivePageRankOptions { damping: 0.85, tolerance },
                        &[],
                        Some(live),
                    )
                    .unwrap();
                } else if updated.is_err() {
                    live.refine(&graph, &run).unwrap();
                    refined += 1;
                }
                let options =
                    PageRankOptions { tolerance: 1e-14, rounds_max: 1000, ..PageRankOptions::default() };
                let exact = pagerank(&graph, &run, &options).unwrap().scores;
                let error: f64 = (0..).zip(&exact).map(|(v, exact)| (live.rank(v) - exact).abs()).sum();
                assert!(error <= live.error() + 1e-11, "{error}, not {}, seed {seed}", live.error());
                assert!(live.error() <= tolerance, "{} of {tolerance}, seed {seed}", live.error());
            }
        }
        assert!(refined > 50, "{refined}");
    }

    #[test]
    fn a_vertex_that_left_has_no_rank_and_gives_none() {
        let run = Run::with_threads(1).unwrap();
        let csr = esker_graph::Csr::directed(3, &[(0, 1, ()), (1, 0, ()), (2, 0, ())]).unwrap();
        let mut live = LivePageRank::new(
            &csr.graph(),
            &run,
            LivePageRankOptions { damping: 0.85, tolerance: 1e-10 },
            &[],
            None,
        )
        .unwrap();
        let csr = esker_graph::Csr::directed(3, &[(0, 1, ()), (1, 0, ())]).unwrap();
        let left = ChangedEdges { removed: vec![(2, 0, ())], left: vec![2], ..ChangedEdges::default() };
        live.update(&mut BoundedReader::new(&csr.graph(), &left, u64::MAX)).unwrap();
        assert!(
            live.rank(2) == 0.0 && (live.rank(0) - 0.5).abs() < 1e-10 && (live.rank(1) - 0.5).abs() < 1e-10
        );
        let anew = LivePageRank::new(
            &csr.graph(),
            &run,
            LivePageRankOptions { damping: 0.85, tolerance: 1e-10 },
            &[2],
            None,
        )
        .unwrap();
        assert!(anew.rank(2) == 0.0 && (anew.rank(0) - 0.5).abs() < 1e-10);
    }

    #[test]
    fn an_edge_whose_change_is_within_the_tolerance_reads_no_list() {
        let run = Run::with_threads(1).unwrap();
        let mut edges: Vec<(VertexId, VertexId, ())> = (0..1000).map(|v| (v, (v + 1) % 1000, ())).collect();
        let before = esker_graph::Csr::directed(1000, &edges).unwrap();
        let mut live = LivePageRank::new(
            &before.graph(),
            &run,
            LivePageRankOptions { damping: 0.85, tolerance: 0.1 },
            &[],
            None,
        )
        .unwrap();
        edges.push((3, 500, ()));
        let after = esker_graph::Csr::directed(1000, &edges).unwrap();
        let changes = ChangedEdges { added: vec![(3, 500, ())], ..ChangedEdges::default() };
        let changed = live.update(&mut BoundedReader::new(&after.graph(), &changes, 0)).unwrap();
        assert_eq!(changed, [3]);
        assert!(live.error() <= 0.1);
    }
}

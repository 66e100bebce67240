//! PageRank, kept up to date within a certificate.
//!
//! Ranks are proportional to the solution y of y = 1 + d P'y, where P sends the value of a vertex along its out-edges and a vertex without
//! any sends nothing [1]: so the number of vertices, and what vertices without out-edges give to all others, change only the sum that the
//! values are divided by. The state has z, the value that each vertex sends along each of its out-edges, and the residual r = 1 + d P'y - y.
//! An edge from u changes y of u by z of u, and the residuals of its two ends: two additions, whatever the degrees. Once the residuals
//! exceed what the tolerance allows, the largest are pushed along out-edges [2] until they are half of that.
//!
//! The sum of the differences of all ranks from the exact ones is at most [`LivePageRank::error`], at most the tolerance: from |r| follows
//! |y - y*| <= |r| / (1 - d), and twice that for the ranks, for their sum is uncertain too. So a verifier that does one more round finds a
//! change of no more than the tolerance. Rounding is not counted: it is below 1e-12.
//!
//! Work: pushes of all residuals together at most |r| / (1 - d) / (the least that is pushed). Reads: the out-lists of pushed vertices.
//! Memory: 16 bytes and an id a vertex.
//!
//! [1] G. Del Corso, A. Gullì, F. Romani, "Fast PageRank Computation via a Sparse Linear System", Internet Mathematics 2, 2005.
//! [2] H. Zhang, P. Lofgren, A. Goel, "Approximate Personalized PageRank on Dynamic Graphs", KDD 2016.

use esker_graph::{Direction, Graph, Run, VertexId, vertex};

#[cfg(doc)]
use super::version::Halt;
use super::version::{BoundedReader, Step, Version};
#[cfg(doc)]
use crate::algorithm::pagerank::pagerank;
use crate::algorithm::pagerank::{PageRankOptions, pagerank_from};
use crate::primitive::{Chunk, NeighbourSum, Precision};

/// The part of the tolerance that residuals may take; the rest is for the sum that ranks are divided by.
const RESIDUAL_SHARE: f64 = 0.8;
/// The part of the tolerance that a computation anew leaves.
const START_SHARE: f64 = 0.125;
/// Pushes begin with residuals of more than this part of the largest; each pass over the vertices takes a smaller one.
const PUSH_SHARE: f64 = 0.25;

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
    /// What values are divided by: the sum at some version since the last time that it moved by a part of the tolerance.
    scale: f64,
}

impl LivePageRank {
    /// The bytes of the state of a graph with `n` vertices.
    pub fn bytes(n: usize) -> u64 {
        (n * (2 * size_of::<f64>() + size_of::<VertexId>())) as u64
    }

    /// Computes the ranks of a version. `damping` is less than 1, `tolerance` more than 0. `removed` vertices, which have no edges, have
    /// no rank. Ranks of another version, if there are any, shorten the way: `known` may be of no version after an update that stopped.
    ///
    /// # Errors
    /// As [`pagerank`].
    pub fn new<G: Graph>(
        graph: &G,
        run: &Run,
        (damping, tolerance): (f64, f64),
        removed: &[VertexId],
        known: Option<Self>,
    ) -> Result<Self, G::Error> {
        let n = graph.num_vertices();
        let start = known.map(|known| known.into_start(n));
        let options = PageRankOptions {
            damping,
            tolerance: tolerance * (1.0 - damping) * START_SHARE,
            rounds_max: usize::MAX,
            teleport: None,
        };
        let scores = pagerank_from(graph, run, &options, start.as_deref())?.scores;
        drop(start);
        let degrees: Vec<VertexId> =
            (0..n).map(|v| graph.degree(Direction::Out, vertex(v)) as VertexId).collect();
        let dangling: f64 = (0..n).filter(|&v| degrees[v] == 0).map(|v| scores[v]).sum();
        // The ranks are those of a surfer who jumps from vertices without out-edges; the values solve the system without that.
        let scale = n as f64 / (1.0 - damping + damping * dangling);
        let run = &run.begin(
            "residuals",
            NeighbourSum::vertex_bytes(graph.is_scattered(), Precision::Double) * n as u64,
        )?;
        let residuals = run.install(|| residuals(graph, run, damping, &scores, &degrees, scale))?;
        let shares = (0..n).map(|v| scores[v] * scale / parts(degrees[v])).collect();
        let (sum, residual) = (0.0, 0.0);
        let mut state = Self { damping, tolerance, shares, residuals, degrees, sum, residual, scale };
        for &v in removed {
            (state.shares[v as usize], state.residuals[v as usize]) = (0.0, 0.0);
        }
        state.recount();
        state.scale = state.sum;
        Ok(state)
    }

    /// The state as arrays of words, for [`LivePageRank::of_words`].
    pub fn words(&self) -> Vec<Vec<u64>> {
        let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect();
        let degrees = self.degrees.iter().map(|&degree| degree as u64).collect();
        let sums = [self.sum, self.residual, self.scale];
        vec![bits(&sums), bits(&self.shares), bits(&self.residuals), degrees]
    }

    /// The state of a version with `n` vertices, from what [`LivePageRank::words`] made; `None` if that does not fit.
    pub fn of_words((damping, tolerance): (f64, f64), n: usize, words: &[Vec<u64>]) -> Option<Self> {
        let [sums, shares, residuals, degrees] = words else { return None };
        if sums.len() != 3 || [shares, residuals, degrees].iter().any(|array| array.len() != n) {
            return None;
        }
        let values = |bits: &[u64]| bits.iter().map(|&bits| f64::from_bits(bits)).collect::<Vec<f64>>();
        let degree = |&degree: &u64| (degree <= VertexId::MAX as u64).then_some(degree as VertexId);
        let degrees = degrees.iter().map(degree).collect::<Option<_>>()?;
        let (sums, shares, residuals) = (values(sums), values(shares), values(residuals));
        let (sum, residual, scale) = (sums[0], sums[1], sums[2]);
        Some(Self { damping, tolerance, shares, residuals, degrees, sum, residual, scale })
    }

    /// The rank of a vertex.
    pub fn rank(&self, v: VertexId) -> f64 {
        self.value(v) / self.scale
    }

    /// Ranks of `n` vertices that add up to 1, for a computation to begin with. Vertices that are not known get the mean.
    fn into_start(self, n: usize) -> Vec<f64> {
        let mean = 1.0 / n.max(1) as f64;
        let rank = |v| if v < self.shares.len() { self.rank(vertex(v)).max(0.0) } else { mean };
        let mut ranks: Vec<f64> = (0..n).map(rank).collect();
        let sum: f64 = ranks.iter().sum();
        // Without a sum that is a number above 0, nothing is known.
        let (by, otherwise) = if sum.is_normal() { (1.0 / sum, 0.0) } else { (0.0, mean) };
        ranks.iter_mut().for_each(|rank| *rank = *rank * by + otherwise);
        ranks
    }

    /// The number of vertices.
    pub fn num_vertices(&self) -> usize {
        self.shares.len()
    }

    /// A bound for the sum of the differences of all ranks from the exact ones.
    pub fn error(&self) -> f64 {
        2.0 * self.residual / ((1.0 - self.damping) * self.sum) + (self.sum / self.scale - 1.0).abs()
    }

    /// Brings the state to the version that `reader` reads. Returns the vertices whose ranks may have changed, each at least once.
    ///
    /// # Errors
    /// [`Halt::TooMuch`]; [`Halt::Failed`].
    pub fn update<G: Version>(&mut self, reader: &mut BoundedReader<'_, G>) -> Step<Vec<VertexId>, G> {
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
        let allowed = self.tolerance * (1.0 - self.damping) / 2.0 * RESIDUAL_SHARE;
        if self.residual > allowed * self.sum {
            self.recount();
            self.push_down_to(reader, allowed / 2.0, &mut changed)?;
        }
        if (self.sum / self.scale - 1.0).abs() > self.tolerance * (1.0 - RESIDUAL_SHARE) {
            self.scale = self.sum;
            changed = (0..n).map(vertex).collect();
        }
        Ok(changed)
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
    fn push_down_to<G: Version>(
        &mut self,
        reader: &mut BoundedReader<'_, G>,
        part: f64,
        changed: &mut Vec<VertexId>,
    ) -> Step<(), G> {
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

/// The residuals of scores times `scale`.
fn residuals<G: Graph>(
    graph: &G,
    run: &Run,
    damping: f64,
    scores: &[f64],
    degrees: &[VertexId],
    scale: f64,
) -> Result<Vec<f64>, G::Error> {
    let n = graph.num_vertices();
    let mut sums = NeighbourSum::new(graph, run);
    let mut residuals = vec![0.0; n];
    sums.finish(run, Precision::Double, &mut residuals, |(): &mut (), Chunk { first, flows, .. }| {
        for ((flow, score), &degree) in flows.iter_mut().zip(&scores[first..]).zip(&degrees[first..]) {
            *flow = score / parts(degree);
        }
    })?;
    sums.round(run, Precision::Double, &mut residuals, |(): &mut (), Chunk { first, values, flows }| {
        for ((residual, sum), score) in values.iter_mut().zip(flows).zip(&scores[first..]) {
            *residual = 1.0 + scale * (damping * *sum - score);
        }
    })?;
    Ok(residuals)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Stream;
    use super::super::version::ChangedEdges;
    use super::*;
    use crate::algorithm::pagerank::pagerank;
    use crate::check;

    #[test]
    fn every_version_of_a_random_stream_is_within_its_certificate() {
        let run = Run::with_threads(1).unwrap();
        for (seed, tolerance) in (0..30).zip([1e-3, 1e-6, 1e-9].into_iter().cycle()) {
            let mut stream = Stream::new(seed, 40, seed % 2 == 0, |_| ());
            let csr = stream.graph();
            let mut live = LivePageRank::new(&csr.graph(), &run, (0.85, tolerance), &[], None).unwrap();
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
    fn a_computation_from_ranks_of_another_version_is_within_its_certificate() {
        let run = Run::with_threads(1).unwrap();
        for seed in 0..20 {
            let mut stream = Stream::new(seed, 40, seed % 2 == 0, |_| ());
            let csr = stream.graph();
            let mut live = LivePageRank::new(&csr.graph(), &run, (0.85, 1e-6), &[], None).unwrap();
            for step in 0..10 {
                let changes = stream.step(1 << (step % 5));
                let csr = stream.graph();
                let graph = csr.graph();
                // Most updates stop, and leave ranks of no version.
                let _ = live.update(&mut BoundedReader::new(&graph, &changes, 0));
                live = LivePageRank::new(&graph, &run, (0.85, 1e-6), &[], Some(live)).unwrap();
                let options =
                    PageRankOptions { tolerance: 1e-14, rounds_max: 1000, ..PageRankOptions::default() };
                let exact = pagerank(&graph, &run, &options).unwrap().scores;
                let error: f64 = (0..).zip(&exact).map(|(v, exact)| (live.rank(v) - exact).abs()).sum();
                assert!(error <= live.error() + 1e-11 && live.error() <= 1e-6, "seed {seed}, step {step}");
            }
        }
    }

    #[test]
    fn ranks_of_nearly_the_same_version_shorten_a_computation() {
        let run = Run::with_threads(1).unwrap();
        let mut edges: Vec<(VertexId, VertexId, ())> =
            (0..3000).map(|i| (i % 1000, i * 7 % 997, ())).collect();
        let before = esker_graph::Csr::undirected(1000, &edges).unwrap();
        let known = LivePageRank::new(&before.graph(), &run, (0.85, 1e-8), &[], None).unwrap();
        edges.push((3, 500, ()));
        let after = esker_graph::Csr::undirected(1000, &edges).unwrap();
        let options = PageRankOptions { tolerance: 1e-6, rounds_max: 1000, ..PageRankOptions::default() };
        let rounds = |start| pagerank_from(&after.graph(), &run, &options, start).unwrap().rounds;
        let (cold, warm) = (rounds(None), rounds(Some(&known.into_start(1000)[..])));
        assert!(4 * warm < 3 * cold, "{warm} rounds, not {cold}");
    }

    #[test]
    fn a_vertex_that_left_has_no_rank_and_gives_none() {
        let run = Run::with_threads(1).unwrap();
        let csr = esker_graph::Csr::directed(3, &[(0, 1, ()), (1, 0, ()), (2, 0, ())]).unwrap();
        let mut live = LivePageRank::new(&csr.graph(), &run, (0.85, 1e-10), &[], None).unwrap();
        let csr = esker_graph::Csr::directed(3, &[(0, 1, ()), (1, 0, ())]).unwrap();
        let left = ChangedEdges { removed: vec![(2, 0, ())], left: vec![2], ..ChangedEdges::default() };
        live.update(&mut BoundedReader::new(&csr.graph(), &left, u64::MAX)).unwrap();
        assert!(
            live.rank(2) == 0.0 && (live.rank(0) - 0.5).abs() < 1e-10 && (live.rank(1) - 0.5).abs() < 1e-10
        );
        let anew = LivePageRank::new(&csr.graph(), &run, (0.85, 1e-10), &[2], None).unwrap();
        assert!(anew.rank(2) == 0.0 && (anew.rank(0) - 0.5).abs() < 1e-10);
    }

    #[test]
    fn an_edge_whose_change_is_within_the_tolerance_reads_no_list() {
        let run = Run::with_threads(1).unwrap();
        let mut edges: Vec<(VertexId, VertexId, ())> = (0..1000).map(|v| (v, (v + 1) % 1000, ())).collect();
        let before = esker_graph::Csr::directed(1000, &edges).unwrap();
        let mut live = LivePageRank::new(&before.graph(), &run, (0.85, 0.1), &[], None).unwrap();
        edges.push((3, 500, ()));
        let after = esker_graph::Csr::directed(1000, &edges).unwrap();
        let changes = ChangedEdges { added: vec![(3, 500, ())], ..ChangedEdges::default() };
        let changed = live.update(&mut BoundedReader::new(&after.graph(), &changes, 0)).unwrap();
        assert_eq!(changed, [3]);
        assert!(live.error() <= 0.1);
    }
}

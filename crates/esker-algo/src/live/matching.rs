//! A maximal matching, kept up to date: priorities of edges that ripple downward.
//!
//! An edge is in the matching if no edge of higher priority at either of its ends is. The priorities are
//! those of [`matching`](fn@crate::algorithm::sets::matching::matching) by priorities, so the mates are those
//! of a recomputation. A change matters only to edges of lower priority: an edge that comes in puts out those
//! at its ends, and an end that becomes free may let in later edges. Edges are looked at again in the order
//! of priority, each once.
//!
//! Work: the lists of the vertices that become free, and of an end of each changed edge. Memory: an id a
//! vertex; during an update, the edges that are looked at.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use esker_graph::{Direction, NONE, VertexId};

use super::graph::{BoundedReader, Halt, LiveGraph, UpdateResult};
use crate::algorithm::sets::matching::{EdgePriority, edge_priority};

/// The matching of a version of an undirected graph.
#[derive(Debug, Clone)]
pub struct LiveMatching {
    seed: u64,
    mates: Vec<VertexId>,
    pairs: usize,
}

/// Edges to look at, the highest priority first.
type EdgeQueue = BinaryHeap<Reverse<EdgePriority>>;

impl LiveMatching {
    /// The bytes of the state of a graph with `n` vertices.
    pub fn bytes(n: usize) -> u64 {
        (n * size_of::<VertexId>()) as u64
    }

    /// The state of a version, from its mates by priorities, and the seed of the run that found them.
    pub fn new(seed: u64, mates: Vec<VertexId>) -> Self {
        let pairs = mates.iter().filter(|mate| **mate != NONE).count() / 2;
        Self { seed, mates, pairs }
    }

    /// The mate of each vertex, or [`NONE`].
    pub fn mates(&self) -> &[VertexId] {
        &self.mates
    }

    /// Number of edges of the matching.
    pub fn pairs(&self) -> usize {
        self.pairs
    }

    /// Brings the state to the version that `reader` reads. Returns the vertices whose mates changed, each at
    /// least once, and the new ones.
    ///
    /// # Errors
    /// As [`Halt`] says; [`Halt::Unsuitable`] for a directed graph.
    pub fn update<G: LiveGraph>(
        &mut self,
        reader: &mut BoundedReader<'_, G>,
    ) -> UpdateResult<Vec<VertexId>, G> {
        if reader.graph().is_directed() {
            return Err(Halt::Unsuitable);
        }
        let (n, mut changed) = reader.new_vertices(self.mates.len());
        self.mates.resize(n, NONE);
        let exists = changed_pairs(reader)?;
        let pairs = exists.keys();
        let mut queue: EdgeQueue = pairs.map(|&(u, v)| Reverse(edge_priority(self.seed, u, v))).collect();
        let mut last = None;
        while let Some(Reverse(edge)) = queue.pop() {
            if last.replace(edge) == Some(edge) {
                continue;
            }
            let (_, u, v) = edge;
            let is_there = exists.get(&(u, v)).copied().unwrap_or(true);
            let comes_in = is_there && !self.is_blocked(u, edge) && !self.is_blocked(v, edge);
            if comes_in == (self.mates[u as usize] == v) {
                continue;
            }
            for end in [u, v] {
                let other = std::mem::replace(&mut self.mates[end as usize], NONE);
                changed.push(end);
                if other == NONE || other == u || other == v {
                    continue;
                }
                // The edge comes in, and this later one goes out.
                let out = edge_priority(self.seed, end, other);
                self.mates[other as usize] = NONE;
                self.pairs -= 1;
                changed.push(other);
                self.let_in(reader, other, out, &mut queue)?;
            }
            if comes_in {
                (self.mates[u as usize], self.mates[v as usize]) = (v, u);
                self.pairs += 1;
            } else {
                self.pairs -= 1;
                self.let_in(reader, u, edge, &mut queue)?;
                self.let_in(reader, v, edge, &mut queue)?;
            }
        }
        Ok(changed)
    }

    /// Whether an earlier edge at `v` is in the matching.
    fn is_blocked(&self, v: VertexId, edge: EdgePriority) -> bool {
        let mate = self.mates[v as usize];
        mate != NONE && edge_priority(self.seed, v, mate) < edge
    }

    /// Has the edges of a vertex that lost its mate looked at, where they come after the edge to the mate and
    /// no earlier one is in the way.
    fn let_in<G: LiveGraph>(
        &self,
        reader: &mut BoundedReader<'_, G>,
        v: VertexId,
        after: EdgePriority,
        queue: &mut EdgeQueue,
    ) -> UpdateResult<(), G> {
        reader.each(Direction::Out, v, |w, _| {
            if w != v {
                let edge = edge_priority(self.seed, v, w);
                if edge > after && !self.is_blocked(w, edge) {
                    queue.push(Reverse(edge));
                }
            }
        })
    }
}

/// The pairs of vertices of changed edges, the lesser first, and whether they are joined.
fn changed_pairs<G: LiveGraph>(
    reader: &mut BoundedReader<'_, G>,
) -> UpdateResult<HashMap<(VertexId, VertexId), bool>, G> {
    let changes = reader.changes();
    let edges = changes.removed.iter().chain(&changes.added).filter(|(u, v, _)| u != v);
    let mut exists: HashMap<_, _> = edges.map(|&(u, v, _)| ((u.min(v), u.max(v)), false)).collect();
    // The list of an end is read once for all of its pairs.
    let mut firsts: HashMap<VertexId, Vec<VertexId>> = HashMap::new();
    for &(u, v) in exists.keys() {
        let is_first = reader.degree_around(u)? <= reader.degree_around(v)?;
        let (first, second) = if is_first { (u, v) } else { (v, u) };
        firsts.entry(first).or_default().push(second);
    }
    for (first, mut seconds) in firsts {
        seconds.sort_unstable();
        reader.each(Direction::Out, first, |w, _| {
            if seconds.binary_search(&w).is_ok() {
                exists.insert((first.min(w), first.max(w)), true);
            }
        })?;
    }
    Ok(exists)
}

#[cfg(test)]
mod tests {
    use esker_graph::{Run, RunOptions};

    use super::super::testing::EdgeChurn;
    use super::*;
    use crate::algorithm::sets::matching::{MatchingMethod, MatchingOptions, matching};

    #[test]
    fn every_version_of_a_random_stream_is_as_matched_anew() {
        let options = MatchingOptions { method: MatchingMethod::Priorities };
        for seed in 0..30 {
            let run = Run::new(RunOptions { threads: 1, seed, ..RunOptions::default() }).unwrap();
            let mut stream = EdgeChurn::new(seed, 40, false, |_| ());
            stream.grow(40);
            let mut given = matching(&stream.graph().graph(), &run, &options).unwrap().mates;
            let mut live = LiveMatching::new(seed, given.clone());
            for step in 0..60 {
                let changes = stream.step(1 << (step % 6));
                let csr = stream.graph();
                let graph = csr.graph();
                let changed = live.update(&mut BoundedReader::new(&graph, &changes, u64::MAX)).unwrap();
                let expected = matching(&graph, &run, &options).unwrap();
                assert_eq!(live.mates(), expected.mates, "seed {seed}, step {step}");
                assert_eq!(live.pairs(), expected.edges);
                given.resize(stream.num_vertices, NONE);
                changed.iter().for_each(|&v| given[v as usize] = live.mates()[v as usize]);
                assert_eq!(given, expected.mates, "seed {seed}, step {step}: what changed");
            }
        }
    }
}

//! Colouring, kept up to date: priorities that ripple downward.
//!
//! Each vertex has a priority, and the least colour that no neighbour of higher priority has [1, 2]. So a
//! change matters only to vertices of lower priority: an edge to its lower end, a new colour to the lower
//! neighbours that have this colour, or that could now have the old one. They are looked at again in the
//! order of priority, each once. Colours follow from the priorities alone, so they equal those of one pass of
//! [`colouring`](fn@crate::algorithm::sets::colouring::colouring) in its default order, by the logarithm of
//! the degree. A vertex whose degree passes a power of two gets another priority: that matters to the
//! neighbours that it overtakes if they have its colour, and to those that overtake it if its colour may now
//! be free for them.
//!
//! Work: the lists of the vertices that are looked at again. Memory: two words a vertex.
//!
//! [1] S. Sallinen et al., "Graph Colouring as a Challenge Problem for Dynamic Graph Processing on
//!     Distributed Systems", SC 2016.
//! [2] M. Jones, P. Plassmann, "A Parallel Graph Coloring Heuristic", SIAM Journal on Scientific Computing
//!     14(3), 1993.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use esker_graph::{Direction, Graph, VertexId, vertex};

#[cfg(doc)]
use super::graph::Halt;
use super::graph::{BoundedReader, LiveGraph, UpdateResult};
use super::priorities::{Priorities, affected_first};
use crate::algorithm::sets::colouring::default_key;

/// The colours of a version.
#[derive(Debug, Clone)]
pub struct LiveColouring {
    seed: u64,
    colours: Vec<VertexId>,
    keys: Vec<u32>,
    /// The number of vertices of each colour.
    sizes: Vec<usize>,
}

/// Vertices to look at, the highest priority first.
type ColouringQueue = BinaryHeap<(u32, Reverse<VertexId>)>;

impl Priorities for LiveColouring {
    type Key = u32;

    fn is_before(&self, u: VertexId, v: VertexId) -> bool {
        self.is_before_with(u, self.keys[u as usize], v)
    }

    fn give(&mut self, v: VertexId, degree: usize) -> Option<u32> {
        let key = default_key(self.seed, v, degree);
        Some(std::mem::replace(&mut self.keys[v as usize], key)).filter(|&former| former != key)
    }

    fn concerns(&self, v: VertexId, former: u32, u: VertexId) -> bool {
        let (colour, own) = (self.colours[v as usize], self.colours[u as usize]);
        match (self.is_before_with(v, former, u), self.is_before(v, u)) {
            (false, true) => own == colour,
            (true, false) => own > colour,
            _ => false,
        }
    }
}

impl LiveColouring {
    /// The bytes of the state of a graph with `n` vertices.
    pub fn bytes(n: usize) -> u64 {
        (n * (size_of::<VertexId>() + size_of::<u32>())) as u64
    }

    /// The state of a version, from its colours by the default order with one pass, and the seed of the run
    /// that made them.
    pub fn new<G: Graph>(graph: &G, seed: u64, colours: Vec<VertexId>) -> Self {
        let key = |v| {
            let mut degree = graph.degree(Direction::Out, v);
            if graph.is_directed() {
                degree += graph.degree(Direction::In, v);
            }
            default_key(seed, v, degree)
        };
        let keys = (0..colours.len()).map(|v| key(vertex(v))).collect();
        let mut state = Self { seed, colours, keys, sizes: Vec::new() };
        for v in 0..state.colours.len() {
            *state.size_of(state.colours[v]) += 1;
        }
        state
    }

    /// The colours.
    pub fn colours(&self) -> &[VertexId] {
        &self.colours
    }

    /// Number of colours.
    pub fn count(&self) -> usize {
        self.sizes.iter().rposition(|&size| size > 0).map_or(0, |last| last + 1)
    }

    /// Whether `u` would be before `v` if it had this key.
    fn is_before_with(&self, u: VertexId, key: u32, v: VertexId) -> bool {
        let other = self.keys[v as usize];
        key > other || (key == other && u < v)
    }

    fn size_of(&mut self, colour: VertexId) -> &mut usize {
        if self.sizes.len() <= colour as usize {
            self.sizes.resize(colour as usize + 1, 0);
        }
        &mut self.sizes[colour as usize]
    }

    /// Brings the state to the version that `reader` reads. Returns the vertices whose colours changed, each
    /// at least once.
    ///
    /// # Errors
    /// As [`Halt`] says; [`Halt::Unsuitable`] for a directed graph without in-lists.
    pub fn update<G: LiveGraph>(
        &mut self,
        reader: &mut BoundedReader<'_, G>,
    ) -> UpdateResult<Vec<VertexId>, G> {
        let (n, mut changed) = reader.new_vertices(self.colours.len());
        self.colours.resize(n, 0);
        self.keys.extend(changed.iter().map(|&v| default_key(self.seed, v, 0)));
        *self.size_of(0) += changed.len();
        let first = affected_first(self, reader)?;
        let mut queue: ColouringQueue =
            first.into_iter().map(|v| (self.keys[v as usize], Reverse(v))).collect();
        let (mut last, mut taken, mut later) = (None, Vec::new(), Vec::new());
        while let Some((_, Reverse(v))) = queue.pop() {
            if last.replace(v) == Some(v) {
                continue;
            }
            taken.clear();
            later.clear();
            reader.each_around(v, |u, _| {
                if self.is_before(u, v) {
                    taken.push(self.colours[u as usize]);
                } else if u != v {
                    later.push(u);
                }
            })?;
            taken.sort_unstable();
            taken.dedup();
            let free = (0..).zip(&taken).find(|&(colour, &other)| colour != other);
            let colour = free.map_or(vertex(taken.len()), |(colour, _)| colour);
            let before = std::mem::replace(&mut self.colours[v as usize], colour);
            if before == colour {
                continue;
            }
            *self.size_of(before) -= 1;
            *self.size_of(colour) += 1;
            changed.push(v);
            for &u in &later {
                let own = self.colours[u as usize];
                if own == colour || own > before {
                    queue.push((self.keys[u as usize], Reverse(u)));
                }
            }
        }
        Ok(changed)
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use esker_graph::{Run, RunOptions};

    use super::super::testing::EdgeChurn;
    use super::*;
    use crate::algorithm::sets::colouring::{ColouringOptions, colouring};

    #[test]
    fn every_version_of_a_random_stream_is_as_coloured_anew() {
        for seed in 0..30 {
            let run = Run::new(RunOptions { threads: 1, seed, ..RunOptions::default() }).unwrap();
            let options = ColouringOptions { passes: NonZeroU32::MIN, ..ColouringOptions::default() };
            let mut stream = EdgeChurn::new(seed, 40, seed % 2 == 0, |_| ());
            let csr = stream.graph();
            let mut given = colouring(&csr.graph(), &run, &options).unwrap().colours;
            let mut live = LiveColouring::new(&csr.graph(), seed, given.clone());
            for step in 0..60 {
                let changes = stream.step(1 << (step % 6));
                let csr = stream.graph();
                let graph = csr.graph();
                let changed = live.update(&mut BoundedReader::new(&graph, &changes, u64::MAX)).unwrap();
                let expected = colouring(&graph, &run, &options).unwrap();
                assert_eq!(live.colours(), expected.colours, "seed {seed}, step {step}");
                assert_eq!(live.count(), expected.count);
                given.resize(stream.num_vertices, 0);
                changed.iter().for_each(|&v| given[v as usize] = live.colours()[v as usize]);
                assert_eq!(given, expected.colours, "seed {seed}, step {step}: what changed");
            }
        }
    }
}

//! A maximal independent set, kept up to date: priorities that ripple downward, as in
//! [`super::LiveColouring`].
//!
//! A vertex is a member if no neighbour of higher priority is one. The priorities are those of
//! [`mis`](fn@crate::algorithm::sets::mis::mis) in its default order, so the set is that of a recomputation:
//! low degrees first, rounded to one part in eight, with random ties. So a change matters only to vertices of
//! lower priority. They are looked at again in the order of priority, each once. A vertex whose rounded
//! degree changes gets another priority, which matters to some neighbours only if it was a member: to members
//! that it overtakes, and to others that overtake it.
//!
//! Work: the lists of the vertices that are looked at again. Memory: two bytes a vertex.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use esker_graph::{Direction, Graph, VertexId, vertex};

#[cfg(doc)]
use super::graph::Halt;
use super::graph::{BoundedReader, LiveGraph, UpdateResult};
use super::priorities::{Priorities, affected_first};
use crate::algorithm::sets::mis::{class, tie};

/// The set of a version.
#[derive(Debug, Clone)]
pub struct LiveIndependentSet {
    seed: u64,
    members: Vec<bool>,
    /// The rounded degrees.
    classes: Vec<u8>,
    size: usize,
}

/// The rounded degree, the random tie and the vertex: the least has the highest priority.
type QueuedMember = Reverse<(u8, u64, VertexId)>;

impl Priorities for LiveIndependentSet {
    type Key = u8;

    fn is_before(&self, u: VertexId, v: VertexId) -> bool {
        self.is_before_with(u, self.classes[u as usize], v)
    }

    fn give(&mut self, v: VertexId, degree: usize) -> Option<u8> {
        let class = class(degree);
        Some(std::mem::replace(&mut self.classes[v as usize], class)).filter(|&former| former != class)
    }

    fn concerns(&self, v: VertexId, former: u8, u: VertexId) -> bool {
        // What is no member drives nothing out.
        self.members[v as usize]
            && match (self.is_before_with(v, former, u), self.is_before(v, u)) {
                (false, true) => self.members[u as usize],
                (true, false) => !self.members[u as usize],
                _ => false,
            }
    }
}

impl LiveIndependentSet {
    /// Whether `u` would be before `v` if it had this class.
    fn is_before_with(&self, u: VertexId, class: u8, v: VertexId) -> bool {
        match class.cmp(&self.classes[v as usize]) {
            // Ties are not kept: they are computed where they matter.
            Ordering::Equal => tie(self.seed, u) < tie(self.seed, v),
            order => order.is_lt(),
        }
    }

    /// The bytes of the state of a graph with `n` vertices.
    pub fn bytes(n: usize) -> u64 {
        2 * n as u64
    }

    /// The state of a version, from the members in the default order, and the seed of the run that chose
    /// them.
    pub fn new<G: Graph>(graph: &G, seed: u64, members: Vec<bool>) -> Self {
        let class_of = |v| {
            let mut degree = graph.degree(Direction::Out, v);
            if graph.is_directed() {
                degree += graph.degree(Direction::In, v);
            }
            class(degree)
        };
        let classes = (0..members.len()).map(|v| class_of(vertex(v))).collect();
        let size = members.iter().filter(|member| **member).count();
        Self { seed, members, classes, size }
    }

    /// Whether each vertex is a member.
    pub fn members(&self) -> &[bool] {
        &self.members
    }

    /// Number of members.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Brings the state to the version that `reader` reads. Returns the vertices that became members or are
    /// members no longer, each at least once, and the new ones.
    ///
    /// # Errors
    /// As [`Halt`] says; [`Halt::Unsuitable`] for a directed graph without in-lists.
    pub fn update<G: LiveGraph>(
        &mut self,
        reader: &mut BoundedReader<'_, G>,
    ) -> UpdateResult<Vec<VertexId>, G> {
        let (n, mut changed) = reader.new_vertices(self.members.len());
        self.members.resize(n, true);
        self.classes.resize(n, class(0));
        self.size += changed.len();
        let first = affected_first(self, reader)?;
        let mut queue: BinaryHeap<QueuedMember> = first.into_iter().map(|v| self.queued(v)).collect();
        let (mut last, mut later) = (None, Vec::new());
        while let Some(Reverse((.., v))) = queue.pop() {
            if last.replace(v) == Some(v) {
                continue;
            }
            let mut is_member = true;
            later.clear();
            reader.each_around(v, |u, _| {
                if self.is_before(u, v) {
                    is_member &= !self.members[u as usize];
                } else if u != v {
                    later.push(u);
                }
            })?;
            if std::mem::replace(&mut self.members[v as usize], is_member) == is_member {
                continue;
            }
            self.size = if is_member { self.size + 1 } else { self.size - 1 };
            changed.push(v);
            // A new member drives out members, and what is none any longer may let others in.
            let concerned = later.iter().filter(|&&u| self.members[u as usize] == is_member);
            queue.extend(concerned.map(|&u| self.queued(u)));
        }
        Ok(changed)
    }

    fn queued(&self, v: VertexId) -> QueuedMember {
        Reverse((self.classes[v as usize], tie(self.seed, v), v))
    }
}

#[cfg(test)]
mod tests {
    use esker_graph::{Run, RunOptions};

    use super::super::testing::EdgeChurn;
    use super::*;
    use crate::algorithm::sets::mis::{MisOptions, mis};

    #[test]
    fn every_version_of_a_random_stream_has_the_set_that_is_chosen_anew() {
        for seed in 0..30 {
            let run = Run::new(RunOptions { threads: 1, seed, ..RunOptions::default() }).unwrap();
            let mut stream = EdgeChurn::new(seed, 40, seed % 2 == 0, |_| ());
            let csr = stream.graph();
            let mut given = mis(&csr.graph(), &run, &MisOptions::default()).unwrap().members;
            let mut live = LiveIndependentSet::new(&csr.graph(), seed, given.clone());
            for step in 0..60 {
                let changes = stream.step(1 << (step % 6));
                let csr = stream.graph();
                let graph = csr.graph();
                let changed = live.update(&mut BoundedReader::new(&graph, &changes, u64::MAX)).unwrap();
                let expected = mis(&graph, &run, &MisOptions::default()).unwrap();
                assert_eq!(live.members(), expected.members, "seed {seed}, step {step}");
                assert_eq!(live.size(), expected.size);
                given.resize(stream.num_vertices, false);
                changed.iter().for_each(|&v| given[v as usize] = live.members()[v as usize]);
                assert_eq!(given, expected.members, "seed {seed}, step {step}: what changed");
            }
        }
    }
}

//! Degrees, kept up to date at the ends of changed edges.
//!
//! The degrees of these vertices are read anew; no list is. Beside the degrees, the number of vertices of
//! each degree is kept, so that the largest is known when its vertex loses an edge.
//!
//! Work: O(changes). Memory: 8 bytes a vertex, and 16 for each degree that some vertex has.

use std::collections::BTreeMap;

use esker_graph::{Direction, VertexId};

#[cfg(doc)]
use super::graph::Halt;
use super::graph::{BoundedReader, LiveGraph, UpdateResult};
use crate::algorithm::centrality::degrees::DegreeOf;

/// The degrees of the vertices of a version.
#[derive(Debug, Clone)]
pub struct LiveDegrees {
    of: DegreeOf,
    degrees: Vec<u64>,
    /// The number of vertices of each degree.
    sizes: BTreeMap<u64, usize>,
}

impl LiveDegrees {
    /// The bytes of the state of a graph with `n` vertices.
    pub fn bytes(n: usize) -> u64 {
        (n * size_of::<u64>()) as u64
    }

    /// The state of a version, from the degree of each vertex.
    pub fn new(of: DegreeOf, degrees: Vec<u64>) -> Self {
        let mut sizes = BTreeMap::new();
        degrees.iter().for_each(|&degree| *sizes.entry(degree).or_default() += 1);
        Self { of, degrees, sizes }
    }

    /// The degree of each vertex.
    pub fn degrees(&self) -> &[u64] {
        &self.degrees
    }

    /// The largest degree.
    pub fn largest(&self) -> u64 {
        self.sizes.last_key_value().map_or(0, |(&degree, _)| degree)
    }

    /// Brings the state to the version that `reader` reads. Returns the vertices whose degrees may have
    /// changed, each at least once.
    ///
    /// # Errors
    /// As [`Halt`] says; [`Halt::Unsuitable`] if in-lists are missing that count.
    pub fn update<G: LiveGraph>(
        &mut self,
        reader: &mut BoundedReader<'_, G>,
    ) -> UpdateResult<Vec<VertexId>, G> {
        let (graph, changes) = (reader.graph(), reader.changes());
        let (n, mut touched) = reader.new_vertices(self.degrees.len());
        self.degrees.resize(n, 0);
        *self.sizes.entry(0).or_default() += touched.len();
        let edges = changes.removed.iter().chain(&changes.added);
        touched.extend(edges.flat_map(|&(u, v, _)| [u, v]));
        touched.sort_unstable();
        touched.dedup();
        let directions = self.of.directions(graph.is_directed());
        if directions.contains(&Direction::In) && !graph.has(Direction::In) {
            return Err(super::graph::Halt::Unsuitable);
        }
        for &v in &touched {
            let mut degree = 0;
            for &direction in directions {
                degree += graph.degree(direction, v)? as u64;
            }
            self.set(v, degree);
            reader.count(1)?;
        }
        Ok(touched)
    }

    fn set(&mut self, v: VertexId, degree: u64) {
        let before = std::mem::replace(&mut self.degrees[v as usize], degree);
        if before == degree {
            return;
        }
        if let Some(size) = self.sizes.get_mut(&before) {
            *size -= 1;
            if *size == 0 {
                self.sizes.remove(&before);
            }
        }
        *self.sizes.entry(degree).or_default() += 1;
    }
}

#[cfg(test)]
mod tests {
    use esker_graph::Run;

    use super::super::testing::EdgeChurn;
    use super::*;
    use crate::algorithm::centrality::degrees::degrees;

    #[test]
    fn every_version_of_a_random_stream_is_as_counted_anew() {
        let run = Run::with_threads(1).unwrap();
        for seed in 0..20 {
            let of = [DegreeOf::Out, DegreeOf::In, DegreeOf::Both][seed as usize % 3];
            let mut stream = EdgeChurn::new(seed, 30, seed % 2 == 0, |_| ());
            let compute = |stream: &EdgeChurn<()>| degrees(&stream.graph().graph(), &run, of).unwrap();
            let mut given = compute(&stream).degrees;
            let mut live = LiveDegrees::new(of, given.clone());
            for step in 0..60 {
                let changes = stream.step(1 << (step % 6));
                let csr = stream.graph();
                let changed = live.update(&mut BoundedReader::new(&csr.graph(), &changes, u64::MAX)).unwrap();
                let expected = compute(&stream);
                assert_eq!(live.degrees(), expected.degrees, "seed {seed}, step {step}");
                assert_eq!(live.largest(), expected.largest, "seed {seed}, step {step}");
                given.resize(stream.num_vertices, 0);
                changed.iter().for_each(|&v| given[v as usize] = live.degrees()[v as usize]);
                assert_eq!(given, expected.degrees, "seed {seed}, step {step}: what changed");
            }
        }
    }
}

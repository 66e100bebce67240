//! Small-world graphs: a ring of near neighbours with some edges rewired.
//!
//! Each vertex is joined to the next `degree / 2` on the ring; then each edge gets, with the given
//! probability, a uniformly random new target [1]. A rewired edge may duplicate another (about one in `n /
//! degree`). Work: O(1) per edge.
//!
//! [1] D. Watts, S. Strogatz, "Collective Dynamics of 'Small-World' Networks", Nature 393, 1998.

use crate::counted::counted;
use crate::random::RandomKey;
use crate::stop::Stop;

use super::limits;
use super::stream::GeneratedEdges;

/// A Watts-Strogatz graph.
#[derive(Debug, Clone, PartialEq)]
pub struct WattsStrogatz {
    /// Number of vertices.
    pub num_vertices: u64,
    /// Neighbours of each vertex on the ring: an even number less than `num_vertices`.
    pub degree: u64,
    /// Probability that an edge is rewired.
    pub rewire: f64,
}

impl WattsStrogatz {
    pub(super) fn prepare(&self, seed: u64) -> Result<WattsStrogatzEdges, Stop> {
        if self.degree % 2 == 1 || self.degree >= self.num_vertices.max(1) {
            return Err(Stop::unsuitable(format!(
                "the degree is {} on a ring of {}, but must be even and less than the number of vertices",
                self.degree,
                counted(self.num_vertices, "vertex", "vertices")
            )));
        }
        let num_vertices = limits::vertices(self.num_vertices.into())?;
        let half = self.degree / 2;
        let num_edges = limits::edges(u128::from(num_vertices) * u128::from(half))?;
        let rewire = limits::probability("the probability of rewiring", self.rewire)?;
        Ok(WattsStrogatzEdges { num_vertices, num_edges, half, rewire, key: RandomKey::new(seed, 6) })
    }
}

/// The edges of a Watts-Strogatz graph, by source and distance on the ring.
#[derive(Debug)]
pub(super) struct WattsStrogatzEdges {
    num_vertices: u64,
    num_edges: u64,
    half: u64,
    rewire: f64,
    key: RandomKey,
}

impl GeneratedEdges for WattsStrogatzEdges {
    fn num_vertices(&self) -> u64 {
        self.num_vertices
    }

    fn num_edges(&self) -> u64 {
        self.num_edges
    }

    #[inline(always)]
    fn edge(&self, slot: u64) -> Option<(u64, u64)> {
        let (source, distance) = (slot / self.half, slot % self.half + 1);
        let mut draws = self.key.sequence(slot);
        let distance =
            if draws.unit() < self.rewire { draws.below(self.num_vertices - 1) + 1 } else { distance };
        let target = source + distance;
        Some((source, if target >= self.num_vertices { target - self.num_vertices } else { target }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_rewiring_it_is_the_ring() {
        let edges = WattsStrogatz { num_vertices: 5, degree: 4, rewire: 0.0 }.prepare(1).unwrap();
        let all: Vec<_> = (0..edges.num_edges()).filter_map(|i| edges.edge(i)).collect();
        let ring = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (2, 4), (3, 4), (3, 0), (4, 0), (4, 1)];
        assert_eq!(all, ring);
    }

    #[test]
    fn the_given_fraction_is_rewired_without_self_loops() {
        let edges = WattsStrogatz { num_vertices: 10_000, degree: 10, rewire: 0.3 }.prepare(1).unwrap();
        let mut far = 0;
        for (u, v) in (0..edges.num_edges()).filter_map(|i| edges.edge(i)) {
            assert_ne!(u, v);
            far += usize::from((v + 10_000 - u) % 10_000 > 5);
        }
        // 15 000, six standard deviations.
        assert!((14_400..15_600).contains(&far), "{far} of 50000 edges are long");
    }

    #[test]
    fn odd_or_excessive_degrees_are_refused() {
        for (num_vertices, degree) in [(10, 3), (10, 10), (0, 2)] {
            let error =
                WattsStrogatz { num_vertices, degree, rewire: 0.1 }.prepare(1).unwrap_err().to_string();
            assert!(error.contains("must be even and less than the number of vertices"), "{error}");
        }
        let error =
            WattsStrogatz { num_vertices: 9, degree: 2, rewire: 1.1 }.prepare(1).unwrap_err().to_string();
        assert_eq!(error, "the probability of rewiring is 1.1 but must be between 0 and 1");
    }
}

//! Scale-free graphs by preferential attachment, with every edge computed independently.
//!
//! Each new vertex brings `degree` edges whose targets are ends of earlier edges, so a vertex is chosen with
//! probability proportional to its degree [1]. Imagine all ends in one array, sources at even positions; an
//! odd position copies a random earlier one [2]. Hashing the position repeatedly until it is even finds the
//! copied end without the array, in a few steps on average, so any edge can be computed alone [3]. The first
//! vertex starts with self-loops; duplicates are possible. Work: O(1) per edge, expected.
//!
//! [1] A.-L. Barabási, R. Albert, "Emergence of Scaling in Random Networks", Science 286, 1999.
//! [2] V. Batagelj, U. Brandes, "Efficient Generation of Large Random Networks", Phys. Rev. E 71, 2005.
//! [3] P. Sanders, C. Schulz, "Scalable Generation of Scale-Free Graphs", Inf. Process. Lett. 116(7), 2016.

use crate::random::RandomKey;
use crate::stop::Stop;

use super::limits;
use super::stream::GeneratedEdges;

/// A Barabási-Albert graph.
#[derive(Debug, Clone, PartialEq)]
pub struct BarabasiAlbert {
    /// Number of vertices.
    pub num_vertices: u64,
    /// Edges that each vertex brings; the graph has exactly `num_vertices * degree` edges.
    pub degree: u64,
}

impl BarabasiAlbert {
    pub(super) fn prepare(&self, seed: u64) -> Result<BarabasiAlbertEdges, Stop> {
        if self.degree == 0 {
            return Err(Stop::unsuitable(
                "the degree is 0: each vertex must bring at least one edge".to_owned(),
            ));
        }
        let num_vertices = limits::vertices(self.num_vertices.into())?;
        let num_edges = limits::edges(u128::from(num_vertices) * u128::from(self.degree))?;
        Ok(BarabasiAlbertEdges {
            num_vertices,
            num_edges,
            degree: self.degree,
            copied: RandomKey::new(seed, 5),
        })
    }
}

/// The edges of a Barabási-Albert graph, by source.
#[derive(Debug)]
pub(super) struct BarabasiAlbertEdges {
    num_vertices: u64,
    num_edges: u64,
    degree: u64,
    copied: RandomKey,
}

impl GeneratedEdges for BarabasiAlbertEdges {
    fn num_vertices(&self) -> u64 {
        self.num_vertices
    }

    fn num_edges(&self) -> u64 {
        self.num_edges
    }

    #[inline(always)]
    fn edge(&self, slot: u64) -> Option<(u64, u64)> {
        let mut position = 2 * slot + 1;
        while position & 1 == 1 {
            position = self.copied.sequence(position).below(position);
        }
        Some((slot / self.degree, position / 2 / self.degree))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edge_computed_alone_equals_the_one_in_the_array_of_all_ends() {
        let edges = BarabasiAlbert { num_vertices: 500, degree: 3 }.prepare(2).unwrap();
        let mut ends: Vec<u64> = Vec::new();
        for slot in 0..edges.num_edges() {
            ends.push(slot / 3);
            let position = ends.len() as u64;
            ends.push(ends[edges.copied.sequence(position).below(position) as usize]);
            assert_eq!(edges.edge(slot), Some((ends[position as usize - 1], ends[position as usize])));
        }
    }

    #[test]
    fn the_degree_distribution_falls_with_the_cube() {
        let n = 100_000;
        let edges = BarabasiAlbert { num_vertices: n, degree: 4 }.prepare(2).unwrap();
        let mut degree = vec![0u32; n as usize];
        for (u, v) in (0..edges.num_edges()).filter_map(|i| edges.edge(i)) {
            degree[u as usize] += 1;
            degree[v as usize] += 1;
        }
        // The fraction of vertices of degree d or more falls as d^-2: doubling d quarters it.
        let at_least = |d| degree.iter().filter(|&&x| x >= d).count() as f64;
        for d in [10, 20] {
            let ratio = at_least(2 * d) / at_least(d);
            assert!((0.2..0.32).contains(&ratio), "from {d} to {}: {ratio}", 2 * d);
        }
        assert!(degree.iter().all(|&d| d >= 4));
    }

    #[test]
    fn no_edge_leads_to_a_later_vertex() {
        let edges = BarabasiAlbert { num_vertices: 1000, degree: 2 }.prepare(3).unwrap();
        assert!((0..edges.num_edges()).all(|i| edges.edge(i).is_some_and(|(u, v)| v <= u)));
    }
}

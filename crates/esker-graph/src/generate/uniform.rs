//! The uniform random graph G(n, m): every set of `m` distinct edges should be equally likely [1].
//!
//! All pairs of distinct vertices are numbered, and a pseudo-random permutation maps the first `m` indices to
//! pairs: distinct edges without self-loops, without a table of earlier edges. Work: O(1) per edge.
//!
//! [1] P. Erdős, A. Rényi, "On Random Graphs I", 1959.

use crate::counted::counted;
use crate::random::RandomKey;
use crate::stop::Stop;

use super::bijection::Bijection;
use super::limits;
use super::stream::GeneratedEdges;

/// Pairs are numbered in 64 bits, which limits the number of vertices.
const VERTICES_MAX: u64 = 1 << 32;

/// A uniform random graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Uniform {
    /// Number of vertices, at most 2^32.
    pub num_vertices: u64,
    /// Number of edges, at most the number of pairs.
    pub num_edges: u64,
    /// Whether the edges are directed, so that a pair can have two.
    pub directed: bool,
}

impl Uniform {
    pub(super) fn prepare(&self, seed: u64) -> Result<UniformEdges, Stop> {
        let num_vertices = checked_vertices(self.num_vertices)?;
        let num_edges = limits::edges(self.num_edges.into())?;
        let pairs = if self.directed { 2 } else { 1 } * num_pairs(num_vertices);
        if u128::from(num_edges) > pairs {
            return Err(Stop::unsuitable(format!(
                "{num_edges} edges are too many: between {} there are at most {pairs} different edges",
                counted(num_vertices, "vertex", "vertices")
            )));
        }
        let pick = Bijection::new(pairs as u64, RandomKey::new(seed, 4));
        Ok(UniformEdges { num_vertices, num_edges, directed: self.directed, pick })
    }
}

/// Checks that the pairs of this many vertices can be numbered.
pub(super) fn checked_vertices(num_vertices: u64) -> Result<u64, Stop> {
    if num_vertices > VERTICES_MAX {
        return Err(Stop::unsuitable(format!(
            "{num_vertices} vertices are too many for this family: the limit is {VERTICES_MAX}"
        )));
    }
    limits::vertices(num_vertices.into())
}

/// The number of unordered pairs of distinct vertices.
pub(super) fn num_pairs(num_vertices: u64) -> u128 {
    u128::from(num_vertices) * u128::from(num_vertices.saturating_sub(1)) / 2
}

/// The unordered pair with a number below [`num_pairs`], lesser vertex first.
///
/// The upper triangle is folded into a rectangle: a long row and a short row together fill one row of it.
#[inline(always)]
pub(super) fn pair(num_vertices: u64, number: u64) -> (u64, u64) {
    let odd = num_vertices & 1;
    let width = num_vertices - 1 + odd;
    let (row, column) = (number / width, number % width);
    let len = num_vertices - 1 - row;
    if column < len {
        (row, row + 1 + column)
    } else {
        let row = num_vertices - 1 - odd - row;
        (row, row + 1 + column - len)
    }
}

/// The edges of a uniform random graph, in pseudo-random order.
#[derive(Debug)]
pub(super) struct UniformEdges {
    num_vertices: u64,
    num_edges: u64,
    directed: bool,
    pick: Bijection,
}

impl GeneratedEdges for UniformEdges {
    fn num_vertices(&self) -> u64 {
        self.num_vertices
    }

    fn num_edges(&self) -> u64 {
        self.num_edges
    }

    fn is_directed(&self) -> bool {
        self.directed
    }

    #[inline(always)]
    fn edge(&self, slot: u64) -> Option<(u64, u64)> {
        let number = self.pick.apply(slot);
        if !self.directed {
            return Some(pair(self.num_vertices, number));
        }
        let (u, v) = pair(self.num_vertices, number / 2);
        Some(if number & 1 == 0 { (u, v) } else { (v, u) })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn pairs_are_numbered_without_gaps() {
        for n in 2..40 {
            let pairs: HashSet<_> = (0..num_pairs(n) as u64).map(|i| pair(n, i)).collect();
            assert_eq!(pairs.len() as u128, num_pairs(n));
            assert!(pairs.iter().all(|&(u, v)| u < v && v < n), "{n}: {pairs:?}");
        }
    }

    #[test]
    fn edges_are_distinct_and_the_last_one_fits() {
        for directed in [false, true] {
            let all = if directed { 20 * 19 } else { 10 * 19 };
            let edges = Uniform { num_vertices: 20, num_edges: all, directed }.prepare(1).unwrap();
            let set: HashSet<_> = (0..all).map(|i| edges.edge(i).unwrap()).collect();
            assert_eq!(set.len() as u64, all);
            let error = Uniform { num_vertices: 20, num_edges: all + 1, directed }.prepare(1).unwrap_err();
            assert!(error.to_string().contains(&format!("at most {all} different edges")), "{error}");
        }
    }

    #[test]
    fn degrees_have_the_variance_of_independent_draws() {
        let (n, m) = (10_000, 100_000);
        let edges = Uniform { num_vertices: n, num_edges: m, directed: false }.prepare(9).unwrap();
        let mut degree = vec![0u32; n as usize];
        for (u, v) in (0..m).filter_map(|i| edges.edge(i)) {
            degree[u as usize] += 1;
            degree[v as usize] += 1;
        }
        let mean = 2.0 * m as f64 / n as f64;
        let variance = degree.iter().map(|&d| (f64::from(d) - mean).powi(2)).sum::<f64>() / n as f64;
        // Poisson: equal.
        assert!((0.92 * mean..1.08 * mean).contains(&variance), "{variance} against {mean}");
    }
}

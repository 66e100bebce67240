//! Nodes in communities, and what a move between two of them gains.

use std::sync::Arc;

use esker_graph::{Run, Stop, VertexId, vertex};

use crate::primitive::{VertexArray, VertexValues, each_vertex};

/// A move must gain more than this share of what the node has in edges, so that rounding decides nothing.
pub(super) const GAIN_SHARE_MIN: f64 = 1e-10;

/// What communities cost: their quality is the weight inside them, less half of `factor` times the square of
/// the mass of each.
///
/// For modularity the mass of a vertex is its strength, for the constant Potts model it is 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cost {
    pub(super) factor: f64,
}

impl Cost {
    /// What a node of a mass gains in a community of another mass to which it has edges of weight `units`;
    /// in both, the node itself does not count.
    #[inline(always)]
    pub(super) fn gain(self, units: u64, mass: u64, others: u64) -> f64 {
        units as f64 - self.factor * (mass as f64 * others as f64)
    }
}

/// Nodes in communities. Memory: 16 bytes and two ids a node.
pub(super) struct Partition {
    /// The mass of each node.
    pub(super) mass: Arc<[u64]>,
    /// The community of each node, a number below that of nodes.
    pub(super) of: VertexArray,
    /// The mass of each community.
    pub(super) total: VertexValues<u64>,
    /// The number of nodes in each community.
    pub(super) len: VertexArray,
}

impl Partition {
    /// Each node by itself.
    pub(super) fn single(run: &Run, mass: Arc<[u64]>) -> Self {
        let n = mass.len();
        let total = VertexValues::from_fn(run, n, |v| mass[v]);
        Self { of: VertexArray::from_fn(run, n, vertex), total, len: VertexArray::filled(run, n, 1), mass }
    }

    /// Nodes in given communities.
    pub(super) fn new(run: &Run, mass: Arc<[u64]>, of: VertexArray) -> Result<Self, Stop> {
        let n = mass.len();
        let found =
            Self { of, total: VertexValues::filled(run, n, 0), len: VertexArray::filled(run, n, 0), mass };
        found.count(run)?;
        Ok(found)
    }

    /// Counts the masses and nodes of all communities anew.
    pub(super) fn count(&self, run: &Run) -> Result<(), Stop> {
        let n = self.mass.len();
        each_vertex(run, n, |c| {
            self.total.set(c, 0);
            self.len.set(c, 0);
        })?;
        each_vertex(run, n, |v| {
            self.total.add(self.of.get(v), self.mass[v as usize]);
            self.len.add(self.of.get(v), 1);
        })
    }

    /// Number of nodes.
    pub(super) fn num_nodes(&self) -> usize {
        self.mass.len()
    }

    /// Moves a node to another community. Only one thread may do so at a time.
    pub(super) fn shift(&self, v: VertexId, to: VertexId) {
        let (from, mass) = (self.of.get(v), self.mass[v as usize]);
        self.of.set(v, to);
        self.total.set(from, self.total.get(from) - mass);
        self.total.set(to, self.total.get(to) + mass);
        self.len.set(from, self.len.get(from) - 1);
        self.len.set(to, self.len.get(to) + 1);
    }
}

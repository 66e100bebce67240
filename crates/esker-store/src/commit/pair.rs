//! The edges between two vertices where several may stay beside each other, while a rule for duplicates is
//! applied.

use std::collections::HashMap;

use esker_format::memory::push;
use esker_format::{Error, Result};
use esker_graph::VertexId;

use super::content::{Commit, CommitEdge};
use super::scope::RuleScope;
use crate::freeze::REMOVAL;

/// So many edges are compared one by one.
const COMPARED_MAX: usize = 16;

/// One of them.
pub(super) struct PairEdge {
    /// The bits of its properties.
    pub(super) bits: Vec<u64>,
    /// The change of the commit that adds it; `None` if an earlier commit did.
    pub(super) change: Option<usize>,
}

/// The edges between two vertices, no two of which are duplicates.
pub(super) struct PairEdges {
    scope: RuleScope,
    edges: Vec<PairEdge>,
    /// Their places by what tells them apart, once they are many.
    places: HashMap<Vec<u64>, usize>,
}

impl PairEdges {
    /// Those that earlier commits left.
    pub(super) fn new(scope: RuleScope, earlier: Vec<Vec<u64>>) -> Self {
        let edges = earlier.into_iter().map(|bits| PairEdge { bits, change: None }).collect();
        Self { scope, edges, places: HashMap::new() }
    }

    pub(super) fn clear(&mut self) {
        self.edges.clear();
        self.places.clear();
    }

    /// The edge that one with these bits repeats.
    pub(super) fn find(&mut self, bits: &[u64]) -> Option<&mut PairEdge> {
        let scope = self.scope;
        if self.edges.len() <= COMPARED_MAX {
            return self.edges.iter_mut().find(|edge| scope.is_same(&edge.bits, bits));
        }
        for place in self.places.len()..self.edges.len() {
            self.places.insert(scope.key(&self.edges[place].bits), place);
        }
        let place = *self.places.get(&scope.key(bits))?;
        self.edges.get_mut(place)
    }

    /// Adds an edge by a change of the commit.
    pub(super) fn push(&mut self, bits: Vec<u64>, change: usize) {
        self.edges.push(PairEdge { bits, change: Some(change) });
    }

    /// The bits of each.
    pub(super) fn into_bits(self) -> Vec<Vec<u64>> {
        self.edges.into_iter().map(|edge| edge.bits).collect()
    }
}

/// The edges between two vertices that a commit leaves, where it changes one of an earlier commit.
pub(super) struct Rewritten {
    pub(super) source: VertexId,
    pub(super) target: VertexId,
    /// Their property bits.
    pub(super) edges: Vec<Vec<u64>>,
}

/// Adds changes that remove all edges between two vertices and add those that there are to be.
pub(super) fn rewrite(commit: &mut Commit, rewritten: &[Rewritten]) -> Result<()> {
    let mut rows = commit.num_rows() as u64..;
    for &Rewritten { source, target, ref edges } in rewritten {
        push(&mut commit.edges, CommitEdge { source, target, row: REMOVAL })?;
        for (bits, row) in edges.iter().zip(&mut rows) {
            let row = u32::try_from(row).ok().filter(|&row| row < REMOVAL);
            let row =
                row.ok_or_else(|| Error::invalid("a commit takes at most 2^32 - 2 edges".to_owned()))?;
            for (column, &bits) in commit.rows.iter_mut().zip(bits) {
                push(column, bits)?;
            }
            push(&mut commit.edges, CommitEdge { source, target, row })?;
        }
    }
    Ok(())
}

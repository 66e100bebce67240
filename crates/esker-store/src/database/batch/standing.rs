//! The edges between two vertices after the earlier changes of the same batch.

use std::collections::{BTreeMap, HashMap};

use esker_graph::VertexId;

use crate::commit::CommitEdge;
use crate::freeze::REMOVAL;

/// The two ends of an edge; of an undirected one the smaller is the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Ends {
    pub(crate) source: VertexId,
    pub(crate) target: VertexId,
}

/// The edges between two vertices while a batch is taken.
#[derive(Debug, Default)]
pub(crate) struct StandingEdges {
    directed: bool,
    /// For the ends of this commit's changes of edges, the rows that they add after the last removal, and
    /// whether there is one; known from the first removal of some edges on.
    changes: Option<HashMap<Ends, PairChanges>>,
    /// The edges that stay where some were removed: their property bits. The commit gets them when it is
    /// complete, or before the next change.
    pub(crate) kept: BTreeMap<Ends, Vec<Vec<u64>>>,
    /// Rows behind those of the batch.
    pub(crate) added_rows: u32,
    /// The number of edges that changes of edges have removed, as far as it was asked for.
    pub(crate) removed: u64,
    /// The number of removals that have found no edge, as far as it was asked for.
    pub(crate) not_found: u64,
}

/// The changes of the edges between two vertices.
#[derive(Debug, Clone, Default)]
pub(crate) struct PairChanges {
    /// Whether those of earlier commits were removed.
    pub(crate) is_removed: bool,
    /// The rows of those that the commit adds.
    pub(crate) rows: Vec<u32>,
}

impl StandingEdges {
    pub(crate) fn new(directed: bool) -> Self {
        Self { directed, ..Self::default() }
    }

    pub(crate) fn ends(&self, source: VertexId, target: VertexId) -> Ends {
        match self.directed {
            true => Ends { source, target },
            false => Ends { source: source.min(target), target: source.max(target) },
        }
    }

    /// Notes a change.
    pub(crate) fn note(&mut self, edge: &CommitEdge) {
        let ends = self.ends(edge.source, edge.target);
        let Some(changes) = &mut self.changes else { return };
        let own = changes.entry(ends).or_default();
        if edge.row == REMOVAL {
            *own = PairChanges { is_removed: true, rows: Vec::new() };
        } else {
            own.rows.push(edge.row);
        }
    }

    /// The changes of the edges between two vertices so far; `edges` are all changes of the commit.
    pub(crate) fn changes_of(&mut self, ends: Ends, edges: &[CommitEdge]) -> PairChanges {
        if self.changes.is_none() {
            self.changes = Some(HashMap::new());
            edges.iter().for_each(|edge| self.note(edge));
        }
        self.changes.as_ref().and_then(|changes| changes.get(&ends)).cloned().unwrap_or_default()
    }
}

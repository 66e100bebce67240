//! The changes that an update has not applied yet, where it applies them one after another.

use std::collections::{BTreeMap, HashMap};

use esker_graph::VertexId;

/// For each vertex, its partners in changes that are still to come, with something about each change.
pub(super) struct Ahead<T>(HashMap<VertexId, BTreeMap<VertexId, T>>);

impl<T: Copy> Ahead<T> {
    /// All changes, each between two vertices.
    pub(super) fn of(changes: impl Iterator<Item = ((VertexId, VertexId), T)>) -> Self {
        let mut ahead: HashMap<VertexId, BTreeMap<VertexId, T>> = HashMap::new();
        for ((u, v), change) in changes {
            ahead.entry(u).or_default().insert(v, change);
            ahead.entry(v).or_default().insert(u, change);
        }
        Self(ahead)
    }

    /// Takes in a change.
    pub(super) fn pass(&mut self, u: VertexId, v: VertexId) {
        for (u, v) in [(u, v), (v, u)] {
            if let Some(partners) = self.0.get_mut(&u) {
                partners.remove(&v);
            }
        }
    }

    /// The partners of a vertex, if it has any.
    pub(super) fn partners(&self, v: VertexId) -> Option<&BTreeMap<VertexId, T>> {
        self.0.get(&v).filter(|partners| !partners.is_empty())
    }
}

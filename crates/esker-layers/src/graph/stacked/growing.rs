//! Arcs that are gathered in parts into vectors with little room to spare.

use esker_graph::VertexId;

/// How much of its length a vector grows at a time.
pub(super) const GROWTH: usize = 8;

/// Some arcs. Memory: at most one part in [`GROWTH`] more than these take, and nothing more where all come at once.
#[derive(Debug, Default)]
pub(super) struct GrowingArcs<W> {
    targets: Vec<VertexId>,
    weights: Vec<W>,
}

impl<W: Copy> GrowingArcs<W> {
    /// Appends arcs.
    pub(super) fn append(&mut self, targets: &[VertexId], weights: &[W]) {
        append(&mut self.targets, targets);
        append(&mut self.weights, weights);
    }

    /// Takes the vectors of a list that is longer than all before it, with these in front: a hub is not in memory twice.
    pub(super) fn take(&mut self, targets: &mut Vec<VertexId>, weights: &mut Vec<W>) {
        take(&mut self.targets, targets);
        take(&mut self.weights, weights);
    }

    /// Number of arcs.
    pub(super) fn len(&self) -> usize {
        self.targets.len()
    }

    /// The targets and the weights.
    pub(super) fn into_boxes(self) -> (Box<[VertexId]>, Box<[W]>) {
        (self.targets.into(), self.weights.into())
    }
}

/// Puts `more` behind `all`, in its own memory.
fn take<T: Copy>(all: &mut Vec<T>, more: &mut Vec<T>) {
    let before = std::mem::replace(all, std::mem::take(more));
    all.reserve_exact(before.len());
    all.splice(0..0, before);
    all.shrink_to(all.len() + all.len() / GROWTH);
}

/// Appends to a vector that grows in small steps.
pub(super) fn append<T: Copy>(all: &mut Vec<T>, some: &[T]) {
    if all.capacity() - all.len() < some.len() {
        all.reserve_exact(some.len().max(all.len() / GROWTH));
    }
    all.extend_from_slice(some);
}

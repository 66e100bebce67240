//! Vectors of arcs that grow part by part and leave little room unused.

use esker_graph::VertexId;

/// The part of its length by which a vector grows.
pub(super) const GROWTH: usize = 8;

/// Some arcs. Memory: what the arcs take, and at most an eighth of that more; nothing more if all are
/// appended at once.
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

    /// Appends a list that is longer than all arcs before it by taking over its vectors and putting those
    /// arcs in front. So a hub is not in memory twice.
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

/// Puts what `all` holds before what `more` holds, in the memory of `more`, which becomes `all`.
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

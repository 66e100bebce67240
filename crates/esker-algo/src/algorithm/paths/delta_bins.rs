//! What the workers of delta-stepping find, and which of them settle a bucket.

use esker_graph::{Direction, Graph, Run, VertexId};

use crate::lengths::Length;

/// Buckets per window.
pub(crate) const BINS: usize = 16;

/// Why distances could not be computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum DistanceFault {
    #[default]
    None,
    Overflow,
    Negative,
}

/// The vertices that one worker found.
#[derive(Debug)]
pub(crate) struct Bins<D> {
    /// For each bucket of the window, vertices whose distance came to be in it, and that distance. An entry
    /// is stale once the vertex is nearer; a later entry of some worker holds the vertex.
    pub(crate) window: [Vec<(VertexId, D)>; BINS],
    /// Vertices whose first distance was beyond the window; all workers together list each vertex once.
    pub(crate) beyond: Vec<VertexId>,
    /// Vertices with heavy edges settled in this window, and the number of arcs that leave them.
    pub(crate) settled: Vec<VertexId>,
    pub(crate) settled_arcs: u64,
    pub(crate) fault: DistanceFault,
}

impl<D> Default for Bins<D> {
    fn default() -> Self {
        Self {
            window: Default::default(),
            beyond: Vec::new(),
            settled: Vec::new(),
            settled_arcs: 0,
            fault: DistanceFault::None,
        }
    }
}

/// Who settles a bucket.
pub(crate) enum BucketWorkers {
    /// The calling thread.
    One,
    /// Each thread a part of the bucket and what it finds again.
    Fused,
    /// All threads, who share uneven lists.
    All,
}

impl BucketWorkers {
    /// By the vertices of a bucket and their out-arcs. Other threads get fewer of them while they sleep.
    pub(crate) fn choose<G: Graph>(graph: &G, run: &Run, bucket: &[VertexId]) -> Self {
        const AWAKE_ENTRIES_MAX: usize = 1 << 8;
        const ASLEEP_ENTRIES_MAX: usize = 1 << 10;
        const FUSED_ENTRIES_MAX: usize = 1 << 15;
        if run.threads() == 1 {
            return Self::One;
        }
        let mut entries = bucket.len();
        let are_few = entries <= FUSED_ENTRIES_MAX
            && bucket.iter().all(|&v| {
                entries += graph.degree(Direction::Out, v);
                entries <= FUSED_ENTRIES_MAX
            });
        if entries <= AWAKE_ENTRIES_MAX || entries <= ASLEEP_ENTRIES_MAX && !run.short_step() {
            Self::One
        } else if are_few && graph.is_at_hand() {
            run.short_step();
            Self::Fused
        } else {
            Self::All
        }
    }
}

#[cold]
pub(crate) fn fault_of<W: Length>(edge: W) -> DistanceFault {
    if edge.to_f64() >= 0.0 { DistanceFault::Overflow } else { DistanceFault::Negative }
}

//! The choice between an update and a recomputation, from what earlier ones took.
//!
//! An update takes time in proportion to the edges that changed, though fewer seconds an edge in large batches, where changes share what
//! they read. So the model keeps the seconds an edge for each power of two of the size of the batch, and the seconds of a recomputation. An
//! update that reads more than a recomputation would take stops, and a recomputation follows: the most a wrong guess costs is twice the
//! better choice, once for each size; after that the model knows.

/// Seconds for an arc that an update reads, until one is measured: a random read of a mapped list.
const READ_SECONDS: f64 = 60e-9;
/// Reads an edge that changed, until an update is measured.
const READS_PER_EDGE: f64 = 200.0;
/// The weight of a new measurement against the older ones.
const NEW_SHARE: f64 = 0.3;
/// After that many recomputations in a row of batches of one size, an update is tried again.
const RETRY_AFTER: u32 = 64;
/// Arcs and lists that every update may read.
const READS_MIN: u64 = 10_000;

/// What is known of the costs.
#[derive(Debug, Clone)]
pub(super) struct CostModel {
    recompute_seconds: f64,
    /// Seconds for comparing all values after a recomputation.
    compare_seconds: f64,
    read_seconds: f64,
    /// Seconds for an edge that changed, by the logarithm of the size of the batch.
    edge_seconds: [Option<f64>; 64],
    /// Recomputations in a row, by the same.
    skipped: [u32; 64],
}

/// What to do with a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    /// Update, and read at most that many arcs and lists.
    Update { read_max: u64 },
    /// Compute anew.
    Recompute,
}

impl CostModel {
    /// With the seconds that the first computation took.
    pub(super) fn new(recompute_seconds: f64) -> Self {
        let read_seconds = READ_SECONDS;
        let compare_seconds = 0.0;
        Self { recompute_seconds, compare_seconds, read_seconds, edge_seconds: [None; 64], skipped: [0; 64] }
    }

    fn class(edges: usize) -> usize {
        edges.max(1).ilog2() as usize
    }

    /// The seconds that an update of so many edges should take: from the nearest size that was measured.
    fn update_seconds(&self, edges: usize) -> f64 {
        let class = Self::class(edges);
        let known = |class: usize| self.edge_seconds.get(class).copied().flatten();
        let nearest = (0..64).find_map(|far| known(class + far).or(class.checked_sub(far).and_then(known)));
        nearest.unwrap_or(READS_PER_EDGE * self.read_seconds) * edges as f64
    }

    /// The cheaper way.
    pub(super) fn choose(&self, edges: usize) -> Choice {
        let is_retried = self.skipped[Self::class(edges)] >= RETRY_AFTER;
        if !is_retried && self.update_seconds(edges) > self.recompute_seconds + self.compare_seconds {
            return Choice::Recompute;
        }
        let read_max = (self.recompute_seconds / self.read_seconds) as u64;
        Choice::Update { read_max: read_max.max(READS_MIN) }
    }

    /// Takes in how long an update took, and how many arcs and lists it read. An update that stopped is taken to be half done.
    pub(super) fn updated(&mut self, edges: usize, seconds: f64, reads: u64, is_done: bool) {
        let class = Self::class(edges);
        let whole = if is_done { seconds } else { 2.0 * seconds.max(self.recompute_seconds) };
        let measured = whole / edges.max(1) as f64;
        self.edge_seconds[class] =
            Some(self.edge_seconds[class].map_or(measured, |known| mixed(known, measured)));
        self.skipped[class] = 0;
        if reads > READS_MIN {
            self.read_seconds = mixed(self.read_seconds, seconds / reads as f64);
        }
    }

    /// Takes in how long it took to compare all values after a recomputation.
    pub(super) fn handed_on_all(&mut self, seconds: f64) {
        self.compare_seconds = mixed(self.compare_seconds, seconds);
    }

    /// Takes in how long a recomputation took.
    pub(super) fn recomputed(&mut self, edges: usize, seconds: f64) {
        self.recompute_seconds = mixed(self.recompute_seconds, seconds);
        self.skipped[Self::class(edges)] += 1;
    }
}

fn mixed(known: f64, measured: f64) -> f64 {
    known + NEW_SHARE * (measured - known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cheaper_way_is_taken_after_one_measurement_of_each() {
        let mut model = CostModel::new(0.01);
        assert!(matches!(model.choose(1), Choice::Update { .. }));
        for _ in 0..20 {
            model.updated(1, 1e-5, 100, true);
            model.updated(1000, 5e-3, 50_000, true);
        }
        assert!(matches!(model.choose(1000), Choice::Update { .. }));
        assert_eq!(model.choose(100_000), Choice::Recompute, "5 microseconds an edge are half a second");
        model.updated(1000, 0.01, 100_000, false);
        model.updated(1000, 0.01, 100_000, false);
        assert_eq!(model.choose(1000), Choice::Recompute, "updates that had to stop are not tried again");
        assert!(matches!(model.choose(1), Choice::Update { .. }));
        (0..RETRY_AFTER).for_each(|_| model.recomputed(1000, 0.01));
        assert!(matches!(model.choose(1000), Choice::Update { .. }), "until much may have changed");
    }
}

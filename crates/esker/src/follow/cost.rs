//! The choice between an update and a recomputation, from what earlier ones took.
//!
//! The work of an update varies: most changes stay local, and a few reach far. So an update gets a bound, and once it has read as much as
//! that, it stops and a recomputation follows. For each power of two of the number of edges that changed, the model keeps the last outcomes,
//! and takes the bound under which they would have cost least: nothing (compute anew at once), a fifth of a recomputation, or a whole one.
//! The first update of a size gets a whole one, and so do the next few unless one has to stop; and one now and then, since costs change.

use std::collections::VecDeque;

/// Seconds for an arc that an update reads, until it is measured: a random read of a mapped list.
const READ_SECONDS: f64 = 60e-9;
/// The weight of a new measurement against the older ones.
const NEW_SHARE: f64 = 0.3;
/// Outcomes that are kept for each size.
const OUTCOMES_MAX: usize = 16;
/// Outcomes before a size is judged: the first may be one of the few that reach far.
const OUTCOMES_MIN: usize = 4;
/// After that many recomputations in a row of changes of one size, an update is tried again.
const RETRY_AFTER: u32 = 32;
/// Arcs and lists that every update may read.
const READS_MIN: u64 = 10_000;
/// The bounds of an update, as parts of a recomputation.
const BOUNDS: [f64; 2] = [0.2, 1.0];
/// A size is not tried for the first time if the nearest size says that an update takes that many recomputations.
const HOPELESS: f64 = 8.0;

/// What is known of the costs.
#[derive(Debug, Clone)]
pub(super) struct CostModel {
    recompute_seconds: f64,
    /// Seconds for comparing all values after a recomputation.
    compare_seconds: f64,
    read_seconds: f64,
    /// By the logarithm of the number of edges that changed.
    sizes: Vec<Size>,
}

/// What is known of the updates of one size.
#[derive(Debug, Clone, Default)]
struct Size {
    outcomes: VecDeque<Outcome>,
    /// Recomputations since the last update.
    skipped: u32,
}

#[derive(Debug, Clone, Copy)]
struct Outcome {
    seconds: f64,
    /// Whether it came to its end within its bound.
    is_done: bool,
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
        let sizes = vec![Size::default(); usize::BITS as usize];
        Self { recompute_seconds, compare_seconds: 0.0, read_seconds: READ_SECONDS, sizes }
    }

    fn size(edges: usize) -> usize {
        edges.max(1).ilog2() as usize
    }

    /// The cheaper way.
    pub(super) fn choose(&self, edges: usize) -> Choice {
        let size = &self.sizes[Self::size(edges)];
        if size.skipped >= RETRY_AFTER {
            return self.within(1.0);
        }
        match size.outcomes.len() {
            0 if self.is_hopeless(edges) => return Choice::Recompute,
            0 => return self.within(1.0),
            1..OUTCOMES_MIN => return self.within(BOUNDS[usize::from(size.outcomes[0].is_done)]),
            _ => {}
        }
        let costs = BOUNDS.map(|bound| (bound, self.expected(size, bound)));
        let (bound, cost) = costs[usize::from(costs[1].1 < costs[0].1)];
        if cost < self.anew() { self.within(bound) } else { Choice::Recompute }
    }

    fn within(&self, bound: f64) -> Choice {
        let read_max = (bound * self.recompute_seconds / self.read_seconds) as u64;
        Choice::Update { read_max: read_max.max(READS_MIN) }
    }

    /// Seconds of a recomputation and what follows it.
    fn anew(&self) -> f64 {
        self.recompute_seconds + self.compare_seconds
    }

    /// The mean seconds that the known updates would have taken with this bound, with the recomputations after those that stop at it.
    fn expected(&self, size: &Size, bound: f64) -> f64 {
        let most = bound * self.recompute_seconds;
        let cost = |outcome: &Outcome| {
            if outcome.is_done && outcome.seconds <= most { outcome.seconds } else { most + self.anew() }
        };
        size.outcomes.iter().map(cost).sum::<f64>() / size.outcomes.len() as f64
    }

    /// Whether the nearest size that is known says that an update is of no use at all.
    fn is_hopeless(&self, edges: usize) -> bool {
        let size = Self::size(edges);
        let known = (0..self.sizes.len()).filter(|&other| !self.sizes[other].outcomes.is_empty());
        let Some(nearest) = known.min_by_key(|other| other.abs_diff(size)) else { return false };
        let outcomes = &self.sizes[nearest].outcomes;
        let mean = outcomes.iter().map(|outcome| outcome.seconds).sum::<f64>() / outcomes.len() as f64;
        mean * (size as f64 - nearest as f64).exp2() > HOPELESS * self.anew()
    }

    /// Takes in how long an update took, and how many arcs and lists it read.
    pub(super) fn updated(&mut self, edges: usize, seconds: f64, reads: u64, is_done: bool) {
        let size = &mut self.sizes[Self::size(edges)];
        size.skipped = 0;
        size.outcomes.truncate(OUTCOMES_MAX - 1);
        size.outcomes.push_front(Outcome { seconds, is_done });
        if reads > READS_MIN {
            self.read_seconds = mixed(self.read_seconds, seconds / reads as f64);
        }
    }

    /// Takes in how long it took to compare all values after a recomputation.
    pub(super) fn reported_all(&mut self, seconds: f64) {
        self.compare_seconds = mixed(self.compare_seconds, seconds);
    }

    /// Takes in how long a recomputation took.
    pub(super) fn recomputed(&mut self, edges: usize, seconds: f64) {
        self.recompute_seconds = mixed(self.recompute_seconds, seconds);
        self.sizes[Self::size(edges)].skipped += 1;
    }
}

/// Slides are tried again after so many that were computed anew, at first; after each try that was dearer, twice as many.
const TRY_AGAIN: [u32; 2] = [32, 512];
/// A window that moves by more than one part in two to this power of its length is computed anew at first: what aged and came is then so much
/// that finding it takes as long.
const FAR: usize = 6;

/// The choice at the slides of a window: look for what changed and update, or compute anew at once.
///
/// Sizes of slides are powers of two, by which the length of the window is longer than the slide.
#[derive(Debug, Clone)]
pub(super) struct SlideCosts {
    anew_seconds: f64,
    /// Seconds of what was tried, by size: of the differences and of what followed.
    tried_seconds: [Option<f64>; u64::BITS as usize],
    /// Slides computed anew since the last try.
    skipped: u32,
    /// Those before the next try.
    wait: u32,
}

impl SlideCosts {
    /// With the seconds that the first computation took.
    pub(super) fn new(anew_seconds: f64) -> Self {
        let tried_seconds = [None; u64::BITS as usize];
        Self { anew_seconds, tried_seconds, skipped: 0, wait: TRY_AGAIN[0] }
    }

    /// The size of a slide of a window.
    pub(super) fn size(length: u64, moved: u64) -> usize {
        length.checked_div(moved).map_or(u64::BITS as usize - 1, |parts| parts.max(1).ilog2() as usize)
    }

    /// Whether to look for what changed.
    pub(super) fn tries(&self, size: usize) -> bool {
        let cheaper = self.expected(size).map_or(size >= FAR, |seconds| seconds < self.anew_seconds);
        cheaper || self.skipped >= self.wait
    }

    /// The seconds of a try, by the nearest size that is known. Smaller slides may take as long.
    fn expected(&self, size: usize) -> Option<f64> {
        let known = self.tried_seconds.iter().enumerate();
        let known = known.filter_map(|(other, seconds)| seconds.map(|seconds| (other, seconds)));
        let (other, seconds) = known.min_by_key(|(other, _)| other.abs_diff(size))?;
        Some(seconds * (other.saturating_sub(size) as f64).exp2())
    }

    /// Takes in how long it took to look for what changed, and to update or to compute anew.
    pub(super) fn tried(&mut self, size: usize, seconds: f64) {
        let known = &mut self.tried_seconds[size];
        *known = Some(known.map_or(seconds, |known| mixed(known, seconds)));
        let is_dearer = seconds > self.anew_seconds;
        self.wait = if is_dearer { (2 * self.wait).min(TRY_AGAIN[1]) } else { TRY_AGAIN[0] };
        self.skipped = 0;
    }

    /// Takes in how long a slide took that was computed anew at once.
    pub(super) fn computed_anew(&mut self, seconds: f64) {
        self.anew_seconds = mixed(self.anew_seconds, seconds);
        self.skipped += 1;
    }
}

fn mixed(known: f64, measured: f64) -> f64 {
    known + NEW_SHARE * (measured - known)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cost of a stream of updates that would take `seconds` each, with the choices of a model of reads of a microsecond.
    fn cost(model: &mut CostModel, edges: usize, anew: f64, seconds: impl IntoIterator<Item = f64>) -> f64 {
        let mut total = 0.0;
        for needed in seconds {
            let mut is_done = false;
            if let Choice::Update { read_max } = model.choose(edges) {
                let reads = ((needed / 1e-6) as u64).min(read_max);
                is_done = reads as f64 * 1e-6 >= needed - 1e-6;
                let took = reads as f64 * 1e-6;
                model.updated(edges, took, reads, is_done);
                total += took;
            }
            if !is_done {
                model.recomputed(edges, anew);
                total += anew;
            }
        }
        total
    }

    #[test]
    fn a_stream_costs_at_most_a_fifth_more_than_the_better_way() {
        const STEPS: usize = 2000;
        let anew = 0.1;
        for needed in [1e-4, 0.01, 0.03, 0.06, 0.09, 0.2, 10.0] {
            let mut model = CostModel::new(anew);
            model.read_seconds = 1e-6;
            let total = cost(&mut model, 1000, anew, std::iter::repeat_n(needed, STEPS));
            let better = STEPS as f64 * f64::min(needed, anew);
            assert!(total <= 1.2 * better, "{needed}: {total}, not {better}");
        }
    }

    #[test]
    fn updates_that_seldom_reach_far_are_tried_within_a_bound() {
        let anew = 0.1;
        let mut model = CostModel::new(anew);
        model.read_seconds = 1e-6;
        // The first is one of the few: it must not speak against the others.
        let needed = (0..1000).map(|step| if step % 10 == 0 { 5.0 } else { 1e-4 });
        let total = cost(&mut model, 1, anew, needed);
        assert!(
            total < 100.0 * 1.25 * anew,
            "a hundred recomputations at most, each with an update that stopped: {total}"
        );
    }

    #[test]
    fn slides_cost_at_most_a_fifth_more_than_the_better_way() {
        const SLIDES: usize = 2000;
        let anew = 0.1;
        for (size, needed) in
            [0.001, 0.05, 0.09, 0.11, 0.2, 0.4].into_iter().flat_map(|n| [(2, n), (6, n), (12, n)])
        {
            let mut costs = SlideCosts::new(anew);
            let (mut total, mut has_state) = (0.0, true);
            for _ in 0..SLIDES {
                total += if !costs.tries(size) {
                    costs.computed_anew(anew);
                    has_state = false;
                    anew
                } else if !has_state {
                    // A try needs the state of the slide before, which a run on that window alone does not leave.
                    has_state = true;
                    1.5 * anew
                } else {
                    costs.tried(size, needed);
                    needed
                };
            }
            let better = SLIDES as f64 * f64::min(needed, anew);
            assert!(total <= 1.2 * better + 40.0 * anew, "{size}, {needed}: {total}, not {better}");
        }
    }

    #[test]
    fn small_slides_are_tried_at_first_and_large_ones_are_judged_by_them() {
        assert_eq!([(64, 1), (64, 2), (10, 20), (10, 0)].map(|(l, m)| SlideCosts::size(l, m)), [6, 5, 0, 63]);
        let mut costs = SlideCosts::new(0.1);
        assert!(costs.tries(6) && !costs.tries(5));
        costs.tried(10, 0.02);
        assert!(costs.tries(12) && costs.tries(9) && costs.tries(8), "four times as long are still less");
        assert!(!costs.tries(7));
        (0..TRY_AGAIN[0]).for_each(|_| costs.computed_anew(0.1));
        assert!(costs.tries(7), "until much may have changed");
    }

    #[test]
    fn sizes_are_judged_apart_unless_one_is_hopeless() {
        let mut model = CostModel::new(0.01);
        assert!(matches!(model.choose(1), Choice::Update { .. }), "nothing is known");
        model.updated(1000, 0.009, 90_000, true);
        assert!(matches!(model.choose(8000), Choice::Update { .. }), "large changes share what they read");
        assert_eq!(model.choose(1_000_000), Choice::Recompute, "a thousand times as long");
        (0..RETRY_AFTER).for_each(|_| model.recomputed(1_000_000, 0.01));
        assert!(matches!(model.choose(1_000_000), Choice::Update { .. }), "until much may have changed");
    }
}

//! The choice between an update and a recomputation, from what earlier ones took.
//!
//! There are two choices at each step. [`DifferenceCosts`] chooses whether to look for what changed, or to
//! compute anew at once, by how much of the graph or of the window lies between the two. Once the changed
//! edges are known, [`CostModel`] chooses whether to update, by their number. Both keep what the tries of
//! each size took, a size being a power of two, and take the way that was cheaper on average. The other way
//! is measured again now and then, since costs change.
//!
//! The work of an update varies: most changes stay local, and a few reach far. So a try may take as long as a
//! recomputation; then it is given up for one. What is not measured yet is guessed, and a guess is replaced
//! by the first measurement.

use std::collections::VecDeque;
use std::time::Duration;

use super::step::MethodChoice;

/// Seconds for a random read of an arc of a mapped list, until a recomputation was measured.
pub(super) const READ_SECONDS: f64 = 60e-9;
/// The weight of a new measurement against the older ones.
const NEW_SHARE: f64 = 0.3;
/// Outcomes that are kept for each size.
const OUTCOMES_MAX: usize = 16;
/// Outcomes before a size is judged: the first may be one of the few that reach far.
const OUTCOMES_MIN: usize = 3;
/// Outcomes before a size is judged if all were dearer than a recomputation.
const OUTCOMES_MIN_DEAR: usize = 2;
/// After that many recomputations in a row of changes of one size, an update is tried again, at first.
const TRY_AGAIN_MIN: u32 = 32;
/// After each try that was dearer, twice as many, up to this.
const TRY_AGAIN_MAX: u32 = 128;
/// How long updates go on if the recomputation was measured.
const IF_MEASURED: CostlyLimits = CostlyLimits { part: 0.25, sum: 8.0 };
/// How long they go on if it was guessed. The guess may be much too high.
const IF_GUESSED: CostlyLimits = CostlyLimits { part: 0.1, sum: 3.0 };
/// Seconds that every update may take, and the most that a bound can be.
const UPDATE_SECONDS_MIN: f64 = 1e-4;
const SECONDS_MAX: f64 = 1e6;
/// A size is not tried for the first time if the nearest size says that an update takes that many
/// recomputations.
const HOPELESS: f64 = 8.0;
/// After this number of recomputations an update is tried all the same: some updates take hardly longer for
/// many edges than for a few.
const FIRST_TRY: u32 = 3;

/// Seconds that something takes.
#[derive(Debug, Clone, Copy)]
struct Seconds {
    value: f64,
    is_guess: bool,
}

impl Seconds {
    fn guess(value: f64) -> Self {
        Self { value, is_guess: true }
    }

    fn measured(&mut self, seconds: f64) {
        self.value = if self.is_guess { seconds } else { self.value + NEW_SHARE * (seconds - self.value) };
        self.is_guess = false;
    }
}

/// How often the way that is not taken is tried.
#[derive(Debug, Clone)]
struct Tries {
    /// Recomputations since the last try.
    skipped: u32,
    /// Those before the next one.
    wait: u32,
}

impl Default for Tries {
    fn default() -> Self {
        Self { skipped: 0, wait: TRY_AGAIN_MIN }
    }
}

impl Tries {
    fn is_due(&self) -> bool {
        self.skipped >= self.wait
    }

    fn tried(&mut self, is_dearer: bool) {
        let was_due = self.is_due();
        self.skipped = 0;
        self.wait = match (is_dearer, was_due) {
            (true, true) => (2 * self.wait).min(TRY_AGAIN_MAX),
            (true, false) => self.wait,
            (false, _) => TRY_AGAIN_MIN,
        };
    }
}

/// When a recomputation is measured again. Both are in recomputations.
struct CostlyLimits {
    /// An update is costly if it takes more than this.
    part: f64,
    /// A recomputation is due once costly updates add up to this.
    sum: f64,
}

impl CostlyLimits {
    fn of(anew: Seconds) -> &'static Self {
        if anew.is_guess { &IF_GUESSED } else { &IF_MEASURED }
    }
}

/// The seconds of the costly updates since the last recomputation.
#[derive(Debug, Clone, Default)]
struct CostlyUpdates(f64);

impl CostlyUpdates {
    fn tried(&mut self, seconds: f64, anew: Seconds) {
        if seconds > CostlyLimits::of(anew).part * anew.value {
            self.0 += seconds;
        }
    }

    /// Whether a recomputation is to be measured again.
    fn exceed(&self, anew: Seconds) -> bool {
        self.0 > CostlyLimits::of(anew).sum * anew.value
    }
}

/// What is known of the costs of updates and recomputations.
#[derive(Debug, Clone)]
pub(super) struct CostModel {
    /// A recomputation, and the comparison of all values after it.
    anew: Seconds,
    /// By the logarithm of the number of edges that changed.
    sizes: Vec<Size>,
    costly: CostlyUpdates,
}

/// What is known of the updates of one size.
#[derive(Debug, Clone, Default)]
struct Size {
    outcomes: VecDeque<UpdateOutcome>,
    tries: Tries,
}

#[derive(Debug, Clone, Copy)]
struct UpdateOutcome {
    seconds: f64,
    /// Whether it came to its end within its bound.
    is_done: bool,
}

impl UpdateOutcome {
    /// Its seconds, with those of the recomputation that follows it if it stopped.
    fn cost(&self, anew: f64) -> f64 {
        if self.is_done { self.seconds } else { self.seconds + anew }
    }
}

/// What to do with a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    /// Update, for at most that time.
    Update { time_max: Duration },
    /// Compute anew.
    Recompute,
}

impl CostModel {
    /// With the seconds that the first computation took, which may have read more than later ones, or less.
    pub(super) fn new(first_seconds: f64) -> Self {
        let sizes = vec![Size::default(); usize::BITS as usize];
        Self { anew: Seconds::guess(first_seconds), sizes, costly: CostlyUpdates::default() }
    }

    fn size(edges: usize) -> usize {
        edges.max(1).ilog2() as usize
    }

    /// The way that is asked for, or the cheaper one.
    pub(super) fn choice(&self, choice: MethodChoice, edges: usize) -> Choice {
        match choice {
            MethodChoice::Cheaper => self.choose(edges),
            MethodChoice::Update => Choice::Update { time_max: Duration::MAX },
            MethodChoice::Recompute => Choice::Recompute,
        }
    }

    /// The cheaper way.
    fn choose(&self, edges: usize) -> Choice {
        let (size, anew) = (&self.sizes[Self::size(edges)], self.anew.value);
        let count = size.outcomes.len();
        let all_dear = size.outcomes.iter().all(|outcome| outcome.cost(anew) > anew);
        let updates = if count == 0 && size.tries.skipped < FIRST_TRY && self.is_hopeless(edges) {
            false
        } else if count < if all_dear && count > 0 { OUTCOMES_MIN_DEAR } else { OUTCOMES_MIN } {
            true
        } else {
            let cost: f64 = size.outcomes.iter().map(|outcome| outcome.cost(anew)).sum();
            cost < anew * count as f64
        };
        if size.tries.is_due() || updates && !self.costly.exceed(self.anew) {
            let time_max = Duration::from_secs_f64(anew.clamp(UPDATE_SECONDS_MIN, SECONDS_MAX));
            return Choice::Update { time_max };
        }
        Choice::Recompute
    }

    /// Whether the nearest size that is known says that an update is of no use at all.
    fn is_hopeless(&self, edges: usize) -> bool {
        let size = Self::size(edges);
        let known = (0..self.sizes.len()).filter(|&other| !self.sizes[other].outcomes.is_empty());
        let Some(nearest) = known.min_by_key(|other| other.abs_diff(size)) else { return false };
        let outcomes = &self.sizes[nearest].outcomes;
        let mean = outcomes.iter().map(|outcome| outcome.seconds).sum::<f64>() / outcomes.len() as f64;
        mean * (size as f64 - nearest as f64).exp2() > HOPELESS * self.anew.value
    }

    /// Takes in how long an update took.
    pub(super) fn updated(&mut self, edges: usize, seconds: f64, is_done: bool) {
        let anew = self.anew.value;
        let (size, is_dearer) = (&mut self.sizes[Self::size(edges)], !is_done || seconds > anew);
        // What a try finds that was due after many recomputations, those before it say no longer.
        if size.tries.is_due() && !is_dearer {
            size.outcomes.clear();
        }
        size.tries.tried(is_dearer);
        size.outcomes.truncate(OUTCOMES_MAX - 1);
        size.outcomes.push_front(UpdateOutcome { seconds, is_done });
        self.costly.tried(seconds, self.anew);
    }

    /// Takes in how long a recomputation took without a search for what changed.
    pub(super) fn computed_anew(&mut self, seconds: f64) {
        self.anew.measured(seconds);
        self.costly = CostlyUpdates::default();
    }

    /// Takes in how long a recomputation took, with the comparison of all values.
    pub(super) fn recomputed(&mut self, edges: usize, seconds: f64) {
        self.computed_anew(seconds);
        self.sizes[Self::size(edges)].tries.skipped += 1;
    }
}

/// A window that moves by more than one part in two to this power of its length is computed anew at first:
/// what aged and came is then so much that finding it takes as long.
const FAR: usize = 6;
/// Tries before a size is judged, for the first may be one of the few that reach far, or begin from guesses.
const TRIES_MIN: u32 = 3;
/// The tries whose mean is kept: a few that reach far must not outweigh the others.
const TRIES_MAX: u32 = 10;
/// A search for what changed may take that long, if a recomputation takes less.
const SEARCH_SECONDS_MIN: f64 = 1e-3;

/// The choice at each step: look for what changed, or compute anew at once.
///
/// Sizes are powers of two, by which the graph or the window is more than what may have changed of it.
#[derive(Debug, Clone)]
pub(super) struct DifferenceCosts {
    anew: Seconds,
    /// What was tried, by size: the mean of the seconds of the differences and of what followed, and how
    /// often up to [`TRIES_MAX`].
    tried: [Option<(f64, u32)>; u64::BITS as usize],
    tries: Tries,
    costly: CostlyUpdates,
}

impl DifferenceCosts {
    /// With the seconds that the first computation took.
    pub(super) fn new(first_seconds: f64) -> Self {
        let tried = [None; u64::BITS as usize];
        let (tries, costly) = (Tries::default(), CostlyUpdates::default());
        Self { anew: Seconds::guess(first_seconds), tried, tries, costly }
    }

    /// The size of a part of a whole.
    pub(super) fn size(whole: u64, part: u64) -> usize {
        whole.checked_div(part).map_or(u64::BITS as usize - 1, |parts| parts.max(1).ilog2() as usize)
    }

    /// Whether to look for what changed.
    pub(super) fn looks(&self, choice: MethodChoice, size: usize, is_window: bool) -> bool {
        match choice {
            MethodChoice::Cheaper => self.tries(size, is_window),
            MethodChoice::Update => true,
            MethodChoice::Recompute => false,
        }
    }

    /// Whether looking for what changed should be cheaper. Of a window, far ones are not tried at first.
    fn tries(&self, size: usize, is_window: bool) -> bool {
        let at_first = !is_window || size >= FAR;
        let is_cheaper = match self.tried[size] {
            Some((_, count)) if count < TRIES_MIN && at_first => true,
            _ => self.expected(size).map_or(at_first, |seconds| seconds < self.anew.value),
        };
        self.tries.is_due() || is_cheaper && !self.costly.exceed(self.anew)
    }

    /// Whether a recomputation is due that is measured again. It leaves a state, as the next step is to be
    /// tried.
    pub(super) fn measures_again(&self) -> bool {
        self.costly.exceed(self.anew)
    }

    /// The time after which a search for what changed is given up.
    pub(super) fn search_time_max(&self, choice: MethodChoice) -> Duration {
        let seconds = self.anew.value.clamp(SEARCH_SECONDS_MIN, SECONDS_MAX);
        if choice == MethodChoice::Cheaper { Duration::from_secs_f64(seconds) } else { Duration::MAX }
    }

    /// The seconds of a try, by the nearest size that is known. Smaller parts may take as long.
    fn expected(&self, size: usize) -> Option<f64> {
        let known = self.tried.iter().enumerate();
        let known = known.filter_map(|(other, tried)| tried.map(|(seconds, _)| (other, seconds)));
        let (other, seconds) = known.min_by_key(|(other, _)| other.abs_diff(size))?;
        Some(seconds * (other.saturating_sub(size) as f64).exp2())
    }

    /// Takes in how long it took to look for what changed, and to update or to compute anew.
    pub(super) fn tried(&mut self, size: usize, seconds: f64) {
        let is_dearer = seconds > self.anew.value;
        // What was measured before many recomputations tells nothing any longer.
        let is_new = self.tries.is_due() && !is_dearer;
        let known = self.tried[size].filter(|_| !is_new);
        self.tried[size] = Some(known.map_or((seconds, 1), |(known, count)| {
            let count = (count + 1).min(TRIES_MAX);
            (known + (seconds - known) / f64::from(count), count)
        }));
        self.tries.tried(is_dearer);
        self.costly.tried(seconds, self.anew);
    }

    /// Takes in how long a step took that was computed anew at once.
    pub(super) fn computed_anew(&mut self, seconds: f64) {
        self.anew.measured(seconds);
        self.tries.skipped += 1;
        self.costly = CostlyUpdates::default();
    }

    /// Takes in how long a recomputation took after a try.
    pub(super) fn recomputed(&mut self, seconds: f64) {
        self.anew.measured(seconds);
        self.costly = CostlyUpdates::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cost of a stream of updates that would take `seconds` each, with the choices of a model.
    fn cost(model: &mut CostModel, edges: usize, anew: f64, seconds: impl IntoIterator<Item = f64>) -> f64 {
        let mut total = 0.0;
        for needed in seconds {
            let mut is_done = false;
            if let Choice::Update { time_max } = model.choose(edges) {
                let took = needed.min(time_max.as_secs_f64());
                is_done = took >= needed;
                model.updated(edges, took, is_done);
                total += took;
            }
            if !is_done {
                model.recomputed(edges, anew);
                total += anew;
            }
        }
        total
    }

    /// Guesses of the cost of a recomputation that takes a second: right, too low, too high.
    const GUESSES: [f64; 3] = [1.0, 0.1, 10.0];

    #[test]
    fn a_stream_costs_at_most_a_fifth_more_than_the_better_way() {
        for (needed, guess) in
            [1e-4, 0.1, 0.3, 0.6, 0.9, 1.1, 2.0, 100.0].into_iter().flat_map(|n| GUESSES.map(|g| (n, g)))
        {
            // In a short stream, the first tries weigh more.
            for (steps, most) in [(2000, 1.1), (80, 1.2)] {
                let mut model = CostModel::new(guess);
                let total = cost(&mut model, 1000, 1.0, std::iter::repeat_n(needed, steps));
                let better = steps as f64 * f64::min(needed, 1.0);
                // The first two tries may take as long as a guess that is too high.
                assert!(total <= most * better + 2.0 * guess, "{needed}, {guess}: {total}, not {better}");
            }
        }
    }

    #[test]
    fn a_stream_whose_costs_change_is_followed() {
        for [before, after] in [[[0.1, 1.0], [2.0, 1.0]], [[2.0, 1.0], [0.1, 1.0]], [[0.6, 1.0], [0.6, 0.2]]]
        {
            let mut model = CostModel::new(before[1]);
            cost(&mut model, 1000, before[1], std::iter::repeat_n(before[0], 1000));
            let total = cost(&mut model, 1000, after[1], std::iter::repeat_n(after[0], 10_000));
            let better = 10_000.0 * f64::min(after[0], after[1]);
            assert!(total <= 1.2 * better, "{before:?}, then {after:?}: {total}, not {better}");
        }
    }

    #[test]
    fn updates_that_seldom_reach_far_are_tried_within_a_bound() {
        let mut model = CostModel::new(1.0);
        // The first is one of the few: it must not speak against the others.
        let needed = (0..1000).map(|step| if step % 10 == 0 { 50.0 } else { 1e-3 });
        let total = cost(&mut model, 1, 1.0, needed);
        assert!(total < 2.1 * 100.0, "a hundred recomputations, each with an update that stopped: {total}");
    }

    #[test]
    fn steps_cost_at_most_a_fifth_more_than_the_better_way() {
        const STEPS: usize = 2000;
        let anew = 0.1;
        let needed = [0.001, 0.05, 0.09, 0.11, 0.2, 0.4];
        for (size, needed, guess) in needed
            .into_iter()
            .flat_map(|n| [2, 6, 12].map(|size| (size, n)))
            .flat_map(|(size, n)| GUESSES.map(|guess| (size, n, anew * guess)))
        {
            let mut costs = DifferenceCosts::new(guess);
            let (mut total, mut has_state) = (0.0, true);
            for _ in 0..STEPS {
                total += if !costs.tries(size, true) {
                    costs.computed_anew(anew);
                    has_state = false;
                    anew
                } else if !has_state {
                    // A try needs the state of the step before, which a run on that window alone does not
                    // leave.
                    has_state = true;
                    1.5 * anew
                } else {
                    costs.tried(size, needed);
                    needed
                };
            }
            let better = STEPS as f64 * f64::min(needed, anew);
            assert!(total <= 1.2 * better + 40.0 * anew, "{size}, {needed}, {guess}: {total}, not {better}");
        }
    }

    #[test]
    fn small_slides_are_tried_at_first_and_large_ones_are_judged_by_them() {
        let sizes = [(64, 1), (64, 2), (10, 20), (10, 0)].map(|(l, m)| DifferenceCosts::size(l, m));
        assert_eq!(sizes, [6, 5, 0, 63]);
        let mut costs = DifferenceCosts::new(0.1);
        assert!(costs.tries(6, true) && !costs.tries(5, true) && costs.tries(5, false));
        costs.tried(10, 0.02);
        assert!(costs.tries(12, true) && costs.tries(9, true), "twice as long is still less");
        assert!(costs.tries(8, true) && !costs.tries(7, true), "four times as long is, eight times is not");
        (0..TRY_AGAIN_MIN).for_each(|_| costs.computed_anew(0.1));
        assert!(costs.tries(7, true), "until much may have changed");
    }

    #[test]
    fn sizes_are_judged_apart_unless_one_is_hopeless() {
        let mut model = CostModel::new(0.01);
        assert!(matches!(model.choose(1), Choice::Update { .. }), "nothing is known");
        model.updated(1000, 0.009, true);
        assert!(matches!(model.choose(8000), Choice::Update { .. }), "large changes share what they read");
        for _ in 0..FIRST_TRY {
            assert_eq!(model.choose(1_000_000), Choice::Recompute, "a thousand times as long");
            model.recomputed(1_000_000, 0.01);
        }
        assert!(matches!(model.choose(1_000_000), Choice::Update { .. }), "it is tried all the same");
        model.updated(1_000_000, 0.01, false);
        model.updated(1_000_000, 0.01, false);
        (0..TRY_AGAIN_MIN).for_each(|_| {
            assert_eq!(model.choose(1_000_000), Choice::Recompute, "it was of no use");
            model.recomputed(1_000_000, 0.01);
        });
        assert!(matches!(model.choose(1_000_000), Choice::Update { .. }), "until much may have changed");
    }
}

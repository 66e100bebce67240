//! Weights as whole numbers, so that sums do not depend on the order of additions.

use esker_graph::{Direction, Flow, Graph, Piece, Run, Select, Stop, VertexId, Visitor};

use super::rank::Ranked;

/// Sums of all weights stay below this power of two.
const SUM_BITS: i32 = 61;
/// The least positive double, 2^-1074, is at most 2^61 units.
const EXPONENT_MAX: i32 = SUM_BITS + 1074;
/// More than all weights are in units.
const BEYOND_ALL: f64 = power(100);

/// The unit of whole-numbered weights: a power of two of a weight. The sum of all weights takes at most 61
/// bits, so a weight below about 2^-60 of that sum counts as 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Unit {
    /// A weight in units is the weight times 2 to this power.
    exponent: i32,
}

impl Unit {
    /// The unit where every edge counts 1.
    pub(crate) const ONE: Self = Self { exponent: 0 };

    /// The unit for `num_arcs` weights up to `largest`.
    fn of(largest: f64, num_arcs: u64) -> Self {
        if largest == 0.0 {
            return Self::ONE;
        }
        // A self-loop counts twice.
        let sum_exponent = largest.log2().ceil() as i32 + (2 * num_arcs.max(1)).ilog2() as i32 + 1;
        Self { exponent: (SUM_BITS - sum_exponent).min(EXPONENT_MAX) }
    }

    /// A unit as fine as a sum of weights allows that was counted in this one.
    pub(crate) fn refined(self, sum: u64, num_arcs: u64) -> Self {
        if sum == 0 {
            return self;
        }
        // What rounding took away from each.
        let bits = (sum + 2 * num_arcs).ilog2() as i32 + 1;
        Self { exponent: (self.exponent + SUM_BITS - bits).min(EXPONENT_MAX) }
    }

    /// A weight in units, rounded down.
    #[inline(always)]
    pub(crate) fn count(self, weight: f64) -> u64 {
        // In two steps, since a power beyond the range of doubles may stand beside a small weight.
        (weight * power(self.exponent / 2) * power(self.exponent - self.exponent / 2)) as u64
    }

    /// A sum of units as a sum of weights.
    pub(crate) fn weight(self, units: f64) -> f64 {
        units * power(-(self.exponent / 2)) * power(-(self.exponent - self.exponent / 2))
    }

    /// A cost in units that is compared with weights. What exceeds all of them by far is as good as any that
    /// does.
    pub(crate) fn cost(self, weight: f64) -> f64 {
        self.scale(weight).min(BEYOND_ALL)
    }

    /// A number of weights, such as a resolution, in units.
    pub(crate) fn scale(self, weight: f64) -> f64 {
        weight * power(self.exponent / 2) * power(self.exponent - self.exponent / 2)
    }
}

/// 2 to a power between -1000 and 1000.
#[inline(always)]
const fn power(exponent: i32) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

/// The unit for the weights of a graph. Reads all lists once, unless edges have no weights. `what` is what
/// cannot be done by some weights.
///
/// # Errors
/// [`Stop::Unsuitable`] for a weight that is negative, infinite or no number; the first list that cannot be
/// read; cancellation.
pub(crate) fn unit_of<G: Graph<Weight: Ranked>>(graph: &G, run: &Run, what: &str) -> Result<Unit, G::Error> {
    if size_of::<G::Weight>() == 0 {
        return Ok(Unit::ONE);
    }
    Ok(Unit::of(largest_weight(graph, run, what)?, graph.num_arcs()))
}

/// The largest weight of a graph, 1 where edges have none and 0 without edges; otherwise as [`unit_of`].
pub(crate) fn largest_weight<G: Graph<Weight: Ranked>>(
    graph: &G,
    run: &Run,
    what: &str,
) -> Result<f64, G::Error> {
    if size_of::<G::Weight>() == 0 {
        return Ok(1.0);
    }
    let found = graph.scan(run, Direction::Out, Select::All, &FindLargest)?;
    if let Some(weight) = found.iter().filter_map(|state| state.refused).reduce(f64::min) {
        let reason = if weight < 0.0 { "weights must not be negative" } else { "it is no finite number" };
        return Err(Stop::unsuitable(format!("cannot {what} by the weight {weight}: {reason}")).into());
    }
    Ok(found.iter().map(|state| state.largest).fold(0.0, f64::max))
}

/// Finds the largest weight, and one that cannot be used.
struct FindLargest;

/// What a worker found.
#[derive(Default)]
struct FoundWeights {
    largest: f64,
    refused: Option<f64>,
}

impl<W: Ranked> Visitor<W> for FindLargest {
    type State = FoundWeights;

    const BOXED: bool = true;
    const STOPS: bool = false;

    fn new_state(&self) -> FoundWeights {
        FoundWeights::default()
    }

    fn visit(&self, state: &mut FoundWeights, _: VertexId, piece: Piece<'_, W>) -> Flow {
        for weight in piece.weights.iter().map(|weight| weight.as_f64()) {
            if !(0.0..=f64::MAX).contains(&weight) {
                // The least one, whatever the order; a number rather than none.
                let refused = state.refused.map_or(weight, |other| other.min(weight));
                state.refused = Some(refused);
            }
            state.largest = state.largest.max(weight);
        }
        Flow::More
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_units_fit_and_small_integers_are_exact() {
        for (largest, num_arcs) in [
            (1.0, 1),
            (7.0, 1 << 20),
            (1e-300, 10),
            (5e-324, 1),
            (5e-324, 1 << 30),
            (1e300, 1 << 40),
            (f64::MAX, 3),
        ] {
            let unit = Unit::of(largest, num_arcs);
            let sum = u128::from(unit.count(largest)) * 2 * u128::from(num_arcs);
            assert!(sum < 1 << 62, "{largest} {num_arcs}: {sum}");
            assert!(sum > 1 << 56, "{largest} {num_arcs}: {sum}");
        }
        let coarse = Unit::of(9.0, 1000);
        let unit = coarse.refined(coarse.count(9.0) + 999 * coarse.count(1e-3), 1000);
        let sum = unit.count(9.0) + 999 * unit.count(1e-3);
        assert!((1 << 59..1 << 61).contains(&sum), "{sum}");
        let unit = Unit::of(9.0, 1000);
        for weight in 0..10 {
            let units = unit.count(f64::from(weight));
            assert_eq!(unit.weight(units as f64), f64::from(weight));
        }
        assert_eq!((Unit::ONE.count(1.0), Unit::of(0.0, 5)), (1, Unit::ONE));
    }
}

//! How far the scores of PageRank are from the exact ones.
//!
//! A round T brings any two vectors of scores nearer to each other, at least by the factor `damping` d (L1
//! norm). For the jumps are the same, and what a vertex passes on, along its edges or to all vertices, adds
//! up to its score, whatever the weights. The exact scores x* are the ones that T leaves as they are. So
//! |T(x) - x*| <= d |x - x*| <= d (|x - T(x)| + |T(x) - x*|), and a round that changes the scores by c leaves
//! an error of at most d / (1 - d) c. Where rounding changes the sums that a round computes by e in all, c +
//! e takes the place of c.
//!
//! With a damping of 1 there is no bound, and may be several solutions.

use crate::primitive::Precision;

/// What the tolerance of PageRank bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Criterion {
    /// The error: the sum of the differences of all scores from the exact ones.
    #[default]
    Error,
    /// The change of a round: the sum of the differences of all scores from those of the round before, as
    /// NetworkX has it.
    Change,
}

/// A bound for the sum of the differences of all scores from the exact ones, after a round that changed the
/// scores by `change` in all and whose sums over neighbours rounding changed by at most `rounding`. Infinite
/// before the first round (an infinite change) and with a damping of 1.
pub fn error_bound(damping: f64, change: f64, rounding: f64) -> f64 {
    if change.is_infinite() || damping >= 1.0 {
        return f64::INFINITY;
    }
    damping / (1.0 - damping) * (change + rounding)
}

/// The part of a sum over neighbours that rounding changes if shares are kept in single precision: a share,
/// and two additions of a group of four.
pub(crate) const SINGLE_ROUNDING: f64 = 3.0 / (1 << 24) as f64;
/// The same in double precision, with room for longer sums.
const DOUBLE_ROUNDING: f64 = 1.0 / (1_u64 << 50) as f64;
/// What a share loses in a fixed-point sum.
const FIXED_ROUNDING: f64 = 1.0 / (1_u64 << 62) as f64;

/// By how much rounding may change all sums over neighbours of a round together. Shares add up to 1 at most.
/// Each arc may be rounded to a fixed-point number.
pub(crate) fn rounding(shares: Precision, num_arcs: u64) -> f64 {
    let of_shares = match shares {
        Precision::Single => SINGLE_ROUNDING,
        Precision::Double => DOUBLE_ROUNDING,
    };
    of_shares + num_arcs as f64 * FIXED_ROUNDING
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_is_that_of_a_contraction() {
        assert!((error_bound(0.85, 1e-6, 0.0) - 17.0 / 3.0 * 1e-6).abs() < 1e-18);
        assert_eq!(error_bound(0.0, 0.5, 1e-3), 0.0);
        for (damping, change) in [(0.5, f64::INFINITY), (0.0, f64::INFINITY), (1.0, 0.0), (1.0, 0.5)] {
            assert_eq!(error_bound(damping, change, 1e-9), f64::INFINITY, "{damping} {change}");
        }
    }
}

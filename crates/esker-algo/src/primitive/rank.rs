//! Order-preserving conversion of weights to integers.

use esker_graph::Weight;

/// A weight that can be compared with others of its type.
pub trait Ranked: Weight + PartialOrd {
    /// Maps a weight to an integer so that a smaller weight has a smaller integer; `None` for NaN.
    fn rank(self) -> Option<u64>;
    /// The inverse of [`Ranked::rank`].
    fn of_rank(rank: u64) -> Self;
    /// The weight as a double, rounded to nearest for large integers; 1 for `()`.
    fn as_f64(self) -> f64;
}

impl Ranked for () {
    #[inline(always)]
    fn rank(self) -> Option<u64> {
        Some(0)
    }
    fn of_rank(_: u64) {}
    fn as_f64(self) -> f64 {
        1.0
    }
}

macro_rules! ranked_integer {
    ($type:ty) => {
        #[allow(clippy::cast_lossless)] // Some of the types have lossless casts, others not.
        impl Ranked for $type {
            #[inline(always)]
            fn rank(self) -> Option<u64> {
                Some((self as i64 as u64) ^ (1 << 63))
            }
            fn of_rank(rank: u64) -> Self {
                (rank ^ (1 << 63)) as Self
            }
            fn as_f64(self) -> f64 {
                self as f64
            }
        }
    };
}

ranked_integer!(i32);
ranked_integer!(i64);

macro_rules! ranked_float {
    ($type:ty) => {
        impl Ranked for $type {
            #[inline(always)]
            fn rank(self) -> Option<u64> {
                // Adding zero turns -0 into 0. Negative numbers flip all bits, others only the sign bit.
                let bits = (f64::from(self) + 0.0).to_bits();
                let turned = bits ^ ((bits as i64 >> 63) as u64 | 1 << 63);
                (!self.is_nan()).then_some(turned)
            }
            fn of_rank(rank: u64) -> Self {
                f64::from_bits(rank ^ ((!rank as i64 >> 63) as u64 | 1 << 63)) as Self
            }
            fn as_f64(self) -> f64 {
                f64::from(self)
            }
        }
    };
}

ranked_float!(f32);
ranked_float!(f64);

#[cfg(test)]
mod tests {
    use super::*;

    fn in_order<W: Ranked>(weights: &[W]) {
        let ranks: Vec<u64> = weights.iter().map(|w| w.rank().expect("a number")).collect();
        assert!(ranks.is_sorted_by(|a, b| a < b), "{weights:?}: {ranks:?}");
        assert!(ranks.iter().zip(weights).all(|(&rank, &weight)| W::of_rank(rank) == weight));
    }

    #[test]
    fn ranks_keep_the_order() {
        in_order(&[i32::MIN, -7, -1, 0, 1, 9, i32::MAX]);
        in_order(&[i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX]);
        in_order(&[f64::NEG_INFINITY, f64::MIN, -1.5, -f64::MIN_POSITIVE, 0.0, 1e-300, 2.0, f64::INFINITY]);
        in_order(&[f32::NEG_INFINITY, -3.0, -f32::MIN_POSITIVE, 0.0, f32::MIN_POSITIVE, 3.0, f32::INFINITY]);
        assert_eq!((-0.0f64).rank(), 0.0f64.rank());
        assert_eq!((f32::NAN.rank(), f64::NAN.rank()), (None, None));
    }
}

//! Widths of edges and paths: how weights of each type compare as bottlenecks.

use esker_graph::Weight;

use crate::primitive::ArrayValue;

/// A weight that can be the width of an edge. A path is as wide as its narrowest edge.
pub trait Width: Weight {
    /// The type of the width of a path.
    type Width: ArrayValue + std::fmt::Debug;
    /// The width of the empty path; no edge is wider.
    const SOURCE: Self::Width;
    /// The width of an unreached vertex; every edge is wider.
    const UNREACHED: Self::Width;

    /// The width of an edge; `None` for NaN and for the value that stands for unreached.
    fn width(self) -> Option<Self::Width>;
    /// Reverses the order: a wider width becomes a lesser value. Its own inverse.
    fn reverse(width: Self::Width) -> Self::Width;
    /// The bucket of a width. A wider width never has a lesser bucket. The leading bit and the nine bits
    /// after it count.
    fn bucket(width: Self::Width) -> u64;
}

/// Bits after the leading one that determine the bucket.
const BITS: u32 = 9;

/// The index of an integer among all integers rounded down to their leading bits; exact below 2^10.
fn leading(number: u64) -> u64 {
    if number < 1 << BITS {
        return number;
    }
    let exponent = number.ilog2();
    let digits = number >> (exponent - BITS) & ((1 << BITS) - 1);
    u64::from(exponent - BITS + 1) << BITS | digits
}

macro_rules! integer_width {
    ($weight:ty) => {
        impl Width for $weight {
            type Width = $weight;
            const SOURCE: $weight = <$weight>::MAX;
            const UNREACHED: $weight = <$weight>::MIN;
            #[inline(always)]
            fn width(self) -> Option<$weight> {
                (self != Self::UNREACHED).then_some(self)
            }
            #[inline(always)]
            fn reverse(width: $weight) -> $weight {
                !width
            }
            #[inline(always)]
            fn bucket(width: $weight) -> u64 {
                const ZERO: u64 = 1 << 16;
                if width < 0 { ZERO - 1 - leading(!width as u64) } else { ZERO + leading(width as u64) }
            }
        }
    };
}

integer_width!(i32);
integer_width!(i64);

macro_rules! float_width {
    ($weight:ty) => {
        impl Width for $weight {
            type Width = $weight;
            const SOURCE: $weight = <$weight>::INFINITY;
            const UNREACHED: $weight = <$weight>::NEG_INFINITY;
            #[inline(always)]
            fn width(self) -> Option<$weight> {
                // Adding zero turns -0 into 0, which is as wide.
                (self > Self::UNREACHED).then_some(self + 0.0)
            }
            #[inline(always)]
            fn reverse(width: $weight) -> $weight {
                -width
            }
            #[inline(always)]
            fn bucket(width: $weight) -> u64 {
                // Adding zero turns -0 into 0.
                let bits = (width + 0.0).to_bits();
                let sign = bits.reverse_bits() & 1 != 0;
                let ascending = if sign { !bits } else { bits | 1 << (size_of::<$weight>() * 8 - 1) };
                u64::from(ascending >> (<$weight>::MANTISSA_DIGITS - 1 - BITS))
            }
        }
    };
}

float_width!(f32);
float_width!(f64);

impl Width for () {
    type Width = i32;
    const SOURCE: i32 = i32::MAX;
    const UNREACHED: i32 = i32::MIN;
    fn width(self) -> Option<i32> {
        Some(1)
    }
    fn reverse(width: i32) -> i32 {
        !width
    }
    fn bucket(width: i32) -> u64 {
        <i32 as Width>::bucket(width)
    }
}

#[cfg(test)]
mod tests {
    use super::Width;

    fn ascends<W: Width<Width = W> + PartialOrd>(widths: &[W]) {
        for pair in widths.windows(2) {
            assert!(pair[0] < pair[1] && W::reverse(pair[0]) > W::reverse(pair[1]));
            assert!(W::bucket(pair[0]) <= W::bucket(pair[1]), "{pair:?}");
            assert_eq!(W::reverse(W::reverse(pair[0])), pair[0]);
        }
        assert!(W::bucket(widths[0]) < W::bucket(widths[widths.len() - 1]));
    }

    #[test]
    fn buckets_ascend() {
        let integers =
            [i64::MIN, -1 << 40, -5000, -1024, -1023, -2, -1, 0, 1, 511, 512, 513, 1023, 70_000, i64::MAX];
        ascends(&integers);
        ascends(&[i32::MIN, -70_000, -1, 0, 1, 1023, 1024, i32::MAX]);
        ascends(&[f64::NEG_INFINITY, -1e300, -2.0, -1e-300, 0.0, 1e-300, 0.5, 0.75, 1.0, 1e9, f64::INFINITY]);
        ascends(&[f32::NEG_INFINITY, -2.0, 0.0, 0.5, 0.75, 1e9, f32::INFINITY]);
        assert_eq!(<f64 as Width>::bucket(-0.0), <f64 as Width>::bucket(0.0));
        (1..1023).for_each(|w: i32| assert!(<i32 as Width>::bucket(w) < <i32 as Width>::bucket(w + 1)));
    }
}

//! Lengths of edges and paths: how weights of each type add up to distances without loss.

use esker_graph::Weight;

use crate::primitive::ArrayValue;

/// A weight that can be the length of an edge.
pub trait Length: Weight {
    /// What distances are given in.
    type Distance: ArrayValue + std::fmt::Debug;
    /// What distances are computed in at first.
    type Narrow: Reach<Self>;
    /// What they are computed in if that overflows.
    type Wide: Reach<Self>;
    /// What distances that may be negative are computed in at first, and if that overflows.
    type Signed: Signed<Self>;
    /// See above.
    type WideSigned: Signed<Self>;
    /// The distance of a vertex that is not reached; larger than any other.
    const UNREACHED: Self::Distance;
    /// Whether all edges are of length 1.
    const UNIT: bool = false;

    /// A number of unit steps as a distance.
    fn of_steps(steps: u64) -> Self::Distance;
    /// The distance after one more edge; `None` if it is negative or not a number, or the sum is unreached or
    /// cannot be held.
    fn extend(distance: Self::Distance, edge: Self) -> Option<Self::Distance>;
    /// The weight as a number.
    fn to_f64(self) -> f64;

    /// Whether lengths are integers, or all 1.
    const INTEGRAL: bool;
    /// The distance of a source.
    const ORIGIN: Self::Distance;
    /// The distance after one more edge, which may be negative; `None` if it is not a number, or the sum
    /// cannot be held.
    fn extend_signed(distance: Self::Distance, edge: Self) -> Option<Self::Distance>;
    /// Whether a distance is less than nothing.
    fn is_negative(distance: Self::Distance) -> bool {
        distance < Self::ORIGIN
    }
}

/// A number in which distances are computed. [`Reach::FAR`] stands for unreached.
pub trait Reach<W: Length>: ArrayValue {
    /// Of the source.
    const ZERO: Self;
    /// Of a vertex not reached; larger than any other.
    const FAR: Self;

    /// The distance after an edge, and whether it is one: not so if the edge is not of a length that is zero
    /// or more, or on overflow. Without branches.
    fn sum(self, edge: W) -> (Self, bool);
    /// The distance after an edge, if it is one.
    #[inline(always)]
    fn after(self, edge: W) -> Option<Self> {
        let (sum, is_sound) = self.sum(edge);
        is_sound.then_some(sum)
    }
    /// Whether the edge is longer than a distance.
    fn is_shorter_than(self, edge: W) -> bool;
    /// The least distance that is more than `self` and at least `self + span`; [`Reach::FAR`] on overflow.
    fn beyond(self, span: Self) -> Self;
    /// A width so great that a longer edge leads from `self`, or from what is farther, to `end` at least,
    /// also where sums are rounded.
    fn width_to(self, end: Self) -> Self;
    /// Whole steps from `start`, which is no more than `self`.
    fn steps_from(self, start: Self, step: Self) -> usize;
    /// The nearest distance to `number`, at least 1 if these are integers, and finite.
    fn near(number: f64) -> Self;
    /// This distance as it is given.
    fn give(self) -> W::Distance;
}

/// A number in which distances are computed that may be negative. [`Signed::FAR`] stands for unreached.
pub trait Signed<W: Length>: ArrayValue {
    /// Of the source.
    const ZERO: Self;
    /// Of a vertex not reached; larger than any other.
    const FAR: Self;

    /// The distance after an edge, and whether it is one: not so if the edge is not a number, or on overflow.
    /// Without branches.
    fn sum(self, edge: W) -> (Self, bool);
    /// This distance as it is given.
    fn give(self) -> W::Distance;
}

macro_rules! integer_signed {
    ($signed:ty, $weight:ty) => {
        #[allow(clippy::cast_lossless)] // Some of the types have lossless casts, others not.
        impl Signed<$weight> for $signed {
            const ZERO: Self = 0;
            const FAR: Self = Self::MAX;
            #[inline(always)]
            fn sum(self, edge: $weight) -> (Self, bool) {
                let (sum, overflows) = self.overflowing_add(edge as Self);
                (sum, !overflows & (sum != Self::MAX) & (sum != Self::MIN))
            }
            #[inline(always)]
            fn give(self) -> i64 {
                if self == Self::MAX { i64::MAX } else { self as i64 }
            }
        }
    };
}

integer_signed!(i32, i32);
integer_signed!(i64, i32);
integer_signed!(i64, i64);

macro_rules! integer_reach {
    ($reach:ty, $weight:ty, $far:expr) => {
        #[allow(clippy::cast_lossless)] // Some of the types have lossless casts, others not.
        impl Reach<$weight> for $reach {
            const ZERO: Self = 0;
            const FAR: Self = $far;
            #[inline(always)]
            fn sum(self, edge: $weight) -> (Self, bool) {
                let (sum, overflows) = self.overflowing_add(edge as Self);
                (sum, (edge >= 0) & !overflows & (sum < $far))
            }
            #[inline(always)]
            fn is_shorter_than(self, edge: $weight) -> bool {
                edge as i64 > self as i64
            }
            #[inline(always)]
            fn beyond(self, span: Self) -> Self {
                self.saturating_add(span.max(1)).min($far)
            }
            #[inline(always)]
            fn width_to(self, end: Self) -> Self {
                end - self
            }
            #[inline(always)]
            fn steps_from(self, start: Self, step: Self) -> usize {
                ((self - start) / step) as usize
            }
            fn near(number: f64) -> Self {
                (number.round() as Self).clamp(1, $far - 1)
            }
            #[inline(always)]
            fn give(self) -> i64 {
                if self == $far { i64::MAX } else { self as i64 }
            }
        }
    };
}

integer_reach!(u32, i32, u32::MAX);
integer_reach!(u64, i32, i64::MAX as u64);
integer_reach!(u64, i64, i64::MAX as u64);

macro_rules! integer_length {
    ($weight:ty, $narrow:ty) => {
        #[allow(clippy::cast_lossless)]
        impl Length for $weight {
            type Distance = i64;
            type Narrow = $narrow;
            type Wide = u64;
            type Signed = $weight;
            type WideSigned = i64;
            const UNREACHED: i64 = i64::MAX;
            fn of_steps(steps: u64) -> i64 {
                steps as i64
            }
            fn extend(distance: i64, edge: Self) -> Option<i64> {
                distance.checked_add(i64::from(edge)).filter(|&sum| distance <= sum && sum != i64::MAX)
            }
            fn to_f64(self) -> f64 {
                self as f64
            }
            const INTEGRAL: bool = true;
            const ORIGIN: i64 = 0;
            #[inline(always)]
            fn extend_signed(distance: i64, edge: Self) -> Option<i64> {
                distance.checked_add(i64::from(edge)).filter(|&sum| sum != i64::MAX && sum != i64::MIN)
            }
        }
    };
}

integer_length!(i32, u32);
integer_length!(i64, u64);

macro_rules! float_length {
    ($weight:ty) => {
        impl Reach<$weight> for f64 {
            const ZERO: Self = 0.0;
            const FAR: Self = f64::INFINITY;
            #[inline(always)]
            fn sum(self, edge: $weight) -> (Self, bool) {
                let (edge, sum) = (f64::from(edge), self + f64::from(edge));
                // An infinite edge leads nowhere; an infinite sum of finite lengths is an overflow.
                (sum, (edge >= 0.0) & ((sum < f64::INFINITY) | (edge == f64::INFINITY)))
            }
            #[inline(always)]
            fn is_shorter_than(self, edge: $weight) -> bool {
                f64::from(edge) > self
            }
            #[inline(always)]
            fn beyond(self, span: Self) -> Self {
                (self + span).max(self.next_up())
            }
            #[inline(always)]
            fn width_to(self, end: Self) -> Self {
                (end - self).next_up()
            }
            #[inline(always)]
            fn steps_from(self, start: Self, step: Self) -> usize {
                ((self - start) / step) as usize
            }
            fn near(number: f64) -> Self {
                number.min(f64::MAX)
            }
            #[inline(always)]
            fn give(self) -> f64 {
                self
            }
        }
        impl Signed<$weight> for f64 {
            const ZERO: Self = 0.0;
            const FAR: Self = f64::INFINITY;
            #[inline(always)]
            fn sum(self, edge: $weight) -> (Self, bool) {
                let (edge, sum) = (f64::from(edge), self + f64::from(edge));
                (sum, (sum > f64::NEG_INFINITY) & ((sum < f64::INFINITY) | (edge == f64::INFINITY)))
            }
            #[inline(always)]
            fn give(self) -> f64 {
                self
            }
        }
        impl Length for $weight {
            type Distance = f64;
            type Narrow = f64;
            type Wide = f64;
            type Signed = f64;
            type WideSigned = f64;
            const UNREACHED: f64 = f64::INFINITY;
            fn of_steps(steps: u64) -> f64 {
                steps as f64
            }
            fn extend(distance: f64, edge: Self) -> Option<f64> {
                (edge >= 0.0).then(|| distance + f64::from(edge)).filter(|&sum| sum < f64::INFINITY)
            }
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            const INTEGRAL: bool = false;
            const ORIGIN: f64 = 0.0;
            #[inline(always)]
            fn extend_signed(distance: f64, edge: Self) -> Option<f64> {
                let sum = distance + f64::from(edge);
                (sum > f64::NEG_INFINITY).then_some(sum)
            }
        }
    };
}

float_length!(f32);
float_length!(f64);

impl Length for () {
    type Distance = i64;
    type Narrow = u32;
    type Wide = u32;
    type Signed = i64;
    type WideSigned = i64;
    const UNREACHED: i64 = i64::MAX;
    const UNIT: bool = true;
    fn of_steps(steps: u64) -> i64 {
        steps as i64
    }
    fn extend(distance: i64, (): ()) -> Option<i64> {
        distance.checked_add(1).filter(|&sum| sum != i64::MAX)
    }
    fn to_f64(self) -> f64 {
        1.0
    }
    const INTEGRAL: bool = true;
    const ORIGIN: i64 = 0;
    fn extend_signed(distance: i64, (): ()) -> Option<i64> {
        <Self as Length>::extend(distance, ())
    }
}

impl Signed<()> for i64 {
    const ZERO: Self = 0;
    const FAR: Self = Self::MAX;
    #[inline(always)]
    fn sum(self, (): ()) -> (Self, bool) {
        <Self as Signed<i64>>::sum(self, 1)
    }
    fn give(self) -> i64 {
        self
    }
}

impl Reach<()> for u32 {
    const ZERO: Self = 0;
    const FAR: Self = u32::MAX;
    #[inline(always)]
    fn sum(self, (): ()) -> (Self, bool) {
        <Self as Reach<i32>>::sum(self, 1)
    }
    fn is_shorter_than(self, (): ()) -> bool {
        self < 1
    }
    fn beyond(self, span: Self) -> Self {
        self.saturating_add(span.max(1))
    }
    fn width_to(self, end: Self) -> Self {
        end - self
    }
    fn steps_from(self, start: Self, step: Self) -> usize {
        ((self - start) / step) as usize
    }
    fn near(number: f64) -> Self {
        (number as Self).clamp(1, u32::MAX - 1)
    }
    fn give(self) -> i64 {
        if self == u32::MAX { i64::MAX } else { i64::from(self) }
    }
}

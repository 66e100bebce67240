//! Sums of floats that do not depend on the order of the values, and so not on the number of threads.

/// Bits between two windows. A window of 128 bits takes 2^42 values of up to 85 bits before it overflows.
const STEP_BITS: u32 = 32;
/// Windows that a sum keeps: that of the largest value, and at least 96 bits below it.
const WINDOWS: usize = 6;
/// The exponent of the lowest bit of a float.
const LEAST_EXPONENT: i32 = -1074;

/// A sum of floats in fixed point: exact but for values that lie more than 2^96 below the lowest bit of the
/// largest one. Each value is added as a whole to the window in which its lowest bit lies, on one grid for
/// all sums, so what is kept depends on the values alone (after the bins of J. Demmel, H. D. Nguyen,
/// "Parallel Reproducible Summation", IEEE Trans. Comput. 64(7), 2015).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ExactSum {
    windows: [i128; WINDOWS],
    /// The place of the lowest window in the grid; a place below 0 holds nothing.
    low: i16,
    is_begun: bool,
    /// The sum of infinite values.
    infinite: f64,
}

impl ExactSum {
    /// Adds a value that is a number.
    #[inline]
    pub(super) fn add(&mut self, value: f64) {
        let bits = value.to_bits();
        let exponent = (bits >> 52 & 0x7ff) as u32;
        if exponent == 0x7ff {
            self.infinite += value;
            return;
        }
        let fraction = bits & ((1 << 52) - 1);
        // The place of the lowest bit above that of the least float, and the bits from there on.
        let (place, mantissa) =
            if exponent == 0 { (0, fraction) } else { (exponent - 1, fraction | 1 << 52) };
        if mantissa == 0 {
            return;
        }
        let window = (place / STEP_BITS) as i16;
        self.reach(window + 1 - WINDOWS as i16);
        let index = usize::try_from(window - self.low).ok();
        if let Some(own) = index.and_then(|index| self.windows.get_mut(index)) {
            let signed = if value < 0.0 { -(mantissa as i64) } else { mantissa as i64 };
            *own += i128::from(signed) << (place % STEP_BITS);
        }
    }

    /// Moves up, so that the lowest window is at least `low`.
    #[inline]
    fn reach(&mut self, low: i16) {
        if !self.is_begun {
            (self.low, self.is_begun) = (low, true);
        } else if low > self.low {
            let by = usize::from((low - self.low).unsigned_abs()).min(WINDOWS);
            self.windows.copy_within(by.., 0);
            self.windows[WINDOWS - by..].fill(0);
            self.low = low;
        }
    }

    /// Adds another sum.
    pub(super) fn add_sum(&mut self, other: &Self) {
        self.infinite += other.infinite;
        if !other.is_begun {
            return;
        }
        self.reach(other.low);
        for (place, window) in other.windows.iter().enumerate() {
            let index = other.low - self.low + place as i16;
            if let Some(own) = usize::try_from(index).ok().and_then(|index| self.windows.get_mut(index)) {
                *own += window;
            }
        }
    }

    /// The sum, rounded once; infinite if it is beyond all floats.
    pub(super) fn value(&self) -> f64 {
        self.divided_by(1)
    }

    /// The sum divided by a number, which may be a float though the sum is beyond all.
    pub(super) fn divided_by(&self, count: u64) -> f64 {
        if self.infinite != 0.0 || self.infinite.is_nan() {
            return self.infinite;
        }
        // Below the highest window, only the bits until the next one stay.
        let mut windows = self.windows;
        let mut carry = 0;
        for window in &mut windows[..WINDOWS - 1] {
            let whole = *window + carry;
            carry = whole >> STEP_BITS;
            *window = whole & ((1 << STEP_BITS) - 1);
        }
        let mut sum = windows[WINDOWS - 1] + carry;
        let mut exponent = LEAST_EXPONENT + i32::from(self.low) * STEP_BITS as i32;
        exponent += STEP_BITS as i32 * (WINDOWS as i32 - 1);
        let mut is_more = false;
        for &window in windows[..WINDOWS - 1].iter().rev() {
            if sum.unsigned_abs() < 1 << 92 {
                sum = (sum << STEP_BITS) + window;
                exponent -= STEP_BITS as i32;
            } else {
                is_more |= window != 0;
            }
        }
        // What is not in a sum of that many bits decides only between two neighbours at equal distance.
        scaled((sum | i128::from(is_more)) as f64 / count as f64, exponent)
    }
}

/// A number times a power of two.
fn scaled(mut number: f64, mut exponent: i32) -> f64 {
    while exponent != 0 && number != 0.0 && number.is_finite() {
        let step = exponent.clamp(-1000, 1000);
        // Down in one last step, so that a small result is rounded once.
        number *= 2_f64.powi(step);
        exponent -= step;
    }
    number
}

#[cfg(test)]
mod tests {
    use esker_graph::random::Random;

    use super::*;

    fn sum(values: impl IntoIterator<Item = f64>) -> f64 {
        let mut sum = ExactSum::default();
        values.into_iter().for_each(|value| sum.add(value));
        sum.value()
    }

    #[test]
    fn sums_are_right_where_plain_addition_is_not() {
        assert_eq!(sum([1e100, 1.0, -1e100]), 0.0); // 1 lies beyond what is kept
        assert_eq!(sum([1e20, 1.0, -1e20]), 1.0);
        assert_eq!(sum([1e308, 1e308, -1e308, -1e308]), 0.0);
        assert_eq!(sum([1e308, 1e308]), f64::INFINITY);
        assert_eq!(sum([0.1; 10]), 1.0);
        assert_eq!(sum([5e-324, 5e-324]), 1e-323);
        assert_eq!(sum([f64::MAX, -f64::MAX, 2.5]), 0.0);
        assert_eq!(sum([-0.5, 0.25]), -0.25);
        assert_eq!(sum([]), 0.0);
        let mut large = ExactSum::default();
        (0..4).for_each(|_| large.add(1e308));
        assert_eq!((large.value(), large.divided_by(4)), (f64::INFINITY, 1e308));
        assert!(sum([f64::INFINITY, f64::NEG_INFINITY]).is_nan());
        assert_eq!(sum([f64::INFINITY, 1.0]), f64::INFINITY);
    }

    #[test]
    fn what_follows_the_last_bit_decides_between_neighbours_at_equal_distance() {
        // 2^112 in all, whose last bit as a float is 2^60.
        let large = || std::iter::repeat_n(2_f64.powi(100), 1 << 12);
        for (rest, more) in [(0.0, 0.0), (2_f64.powi(-4), 2_f64.powi(60)), (-(2_f64.powi(-4)), 0.0)] {
            for sign in [1.0, -1.0] {
                let all = large().map(|value| value * sign).chain([2_f64.powi(59) * sign, rest * sign]);
                assert_eq!(sum(all), (2_f64.powi(112) + more) * sign, "{rest}");
            }
        }
    }

    #[test]
    fn whole_numbers_are_added_up_exactly_in_every_order_and_division() {
        let mut random = Random::new(7);
        for _ in 0..200 {
            let count = 1 + random.below(60) as usize;
            let exponent = random.below(30);
            let values: Vec<f64> = (0..count)
                .map(|_| {
                    let whole = random.below(1 << 53) as f64 - (1_u64 << 52) as f64;
                    whole * 2_f64.powi(random.below(exponent + 1) as i32 - 900)
                })
                .collect();
            // In units of 2^-900 all are whole, and their sum fits in 128 bits.
            let exact: i128 = values.iter().map(|value| (value * 2_f64.powi(900)) as i128).sum();
            let exact = exact as f64 * 2_f64.powi(-900);
            assert_eq!(sum(values.iter().copied()), exact);
            let mut parts = vec![ExactSum::default(); 3];
            let mut shuffled = values.clone();
            for place in (1..shuffled.len()).rev() {
                shuffled.swap(place, random.below(place as u64 + 1) as usize);
            }
            for value in shuffled {
                parts[random.below(3) as usize].add(value);
            }
            let mut all = ExactSum::default();
            parts.iter().for_each(|part| all.add_sum(part));
            assert_eq!(all.value(), exact);
        }
    }

    #[test]
    fn values_of_all_sizes_give_one_sum_whatever_the_order() {
        let mut random = Random::new(8);
        for _ in 0..200 {
            let count = 2 + random.below(40) as usize;
            let mut values: Vec<f64> = (0..count)
                .map(|_| f64::from_bits(random.next_u64()))
                .map(|value| if value.is_finite() { value / 1024.0 } else { 1.0 })
                .collect();
            let first = sum(values.iter().copied());
            for _ in 0..5 {
                let by = random.below(count as u64) as usize;
                values.rotate_left(by);
                values.reverse();
                let (left, right) = values.split_at(by);
                let mut all = ExactSum::default();
                for part in [right, left] {
                    let mut own = ExactSum::default();
                    part.iter().for_each(|&value| own.add(value));
                    all.add_sum(&own);
                }
                assert_eq!(all.value().to_bits(), first.to_bits());
            }
        }
    }
}

//! The shares that vertices give to their neighbours, and sums of them, for [`super::neighbour_sum`].

use esker_graph::VertexId;

use super::array::ArrayValue;

/// How precisely shares are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Precision {
    /// 32 bits: a relative error of 2^-24 at most.
    Single,
    /// 64 bits.
    Double,
}

/// The shares of all vertices.
pub(super) enum Shares {
    Single(Vec<f32>),
    Double(Vec<f64>),
}

impl Shares {
    /// Zeros.
    pub(super) fn new(n: usize, precision: Precision) -> Self {
        match precision {
            Precision::Single => Self::Single(vec![0.0; n]),
            Precision::Double => Self::Double(vec![0.0; n]),
        }
    }

    /// Makes room for `n` shares of this precision; keeps none of those that it has if it had another.
    pub(super) fn keep_with(&mut self, precision: Precision, n: usize) {
        match (self, precision) {
            (Self::Single(shares), Precision::Single) if shares.len() == n => {}
            (Self::Double(shares), Precision::Double) if shares.len() == n => {}
            (shares, precision) => {
                // The old array goes before the new one comes.
                *shares = Self::new(0, precision);
                *shares = Self::new(n, precision);
            }
        }
    }

    /// The share of `v`.
    #[inline(always)]
    pub(super) fn get(&self, v: VertexId) -> f64 {
        match self {
            Self::Single(shares) => shares[v as usize].into(),
            Self::Double(shares) => shares[v as usize],
        }
    }

    /// The sum of the shares of `vertices`.
    #[inline(always)]
    pub(super) fn sum_over(&self, vertices: &[VertexId]) -> f64 {
        match self {
            Self::Single(shares) => sum_over(shares, vertices),
            Self::Double(shares) => sum_over(shares, vertices),
        }
    }
}

/// A share in some precision.
pub(super) trait Share: Copy + std::ops::Add<Output = Self> + Into<f64> {}

impl Share for f32 {}
impl Share for f64 {}

/// For each number of elements of a group that count, a mask of bits for each of its elements.
const COUNTED: [[u64; 4]; 5] = {
    let mut masks = [[0; 4]; 5];
    let mut i = 0;
    while i < 20 {
        masks[i / 4][i % 4] = if i % 4 < i / 4 { u64::MAX } else { 0 };
        i += 1;
    }
    masks
};

/// The sum of the shares of `vertices`, in an order that depends only on their number. Groups of four are added in the precision of the
/// shares, the groups and the last group in double precision. This shortens the chain of dependent additions, and few instructions an
/// element let the processor run ahead to shares outside its caches.
#[inline(always)]
fn sum_over<S: Share>(shares: &[S], vertices: &[VertexId]) -> f64 {
    let (fours, last) = vertices.split_at(vertices.len().saturating_sub(1) / 4 * 4);
    let mut sum = 0.0;
    for &four in fours.as_chunks::<4>().0 {
        sum += four_of(shares, four);
    }
    let mut of_last = [0.0; 4];
    for (share, &v) in of_last.iter_mut().zip(last) {
        *share = shares[v as usize].into();
    }
    sum + pairs(of_last)
}

#[inline(always)]
fn four_of<S: Share>(shares: &[S], [a, b, c, d]: [VertexId; 4]) -> f64 {
    let share = |v: VertexId| shares[v as usize];
    ((share(a) + share(b)) + (share(c) + share(d))).into()
}

#[inline(always)]
fn pairs([a, b, c, d]: [f64; 4]) -> f64 {
    (a + b) + (c + d)
}

/// Leaves the sum of each of some lists that lie one after another; equal to [`sum_over`], bit by bit.
///
/// The processor cannot foresee the length of a short list. So the last group of each list is read as four elements, where that many are
/// left in all lists together, and those beyond its end are masked: a list of up to four neighbours then takes no branch of its own.
#[inline(always)]
pub(super) fn sum_rows<S: Share>(
    shares: &[S],
    offsets: &[u64],
    targets: &[VertexId],
    sums: &[<f64 as ArrayValue>::Atomic],
) {
    let mut rest = targets;
    for (ends, sum) in offsets.windows(2).zip(sums) {
        let mut left = (ends[1] - ends[0]) as usize;
        let mut total = 0.0;
        while let (true, Some((&four, after))) = (left > 4, rest.split_first_chunk::<4>()) {
            total += four_of(shares, four);
            (left, rest) = (left - 4, after);
        }
        total += match (rest.first_chunk::<4>(), COUNTED.get(left)) {
            (Some(four), Some(masks)) => {
                let share = |i: usize| {
                    let share: f64 = shares[four[i] as usize].into();
                    f64::from_bits(share.to_bits() & masks[i])
                };
                pairs([share(0), share(1), share(2), share(3)])
            }
            _ => sum_over(shares, &rest[..left]),
        };
        f64::store(sum, total);
        rest = &rest[left..];
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    #[test]
    fn sums_of_rows_are_those_of_each_list() {
        let shares: Vec<f32> = (1..200).map(|i| 1.0 / (i as f32 + 0.3)).collect();
        let doubles: Vec<f64> = shares.iter().map(|&share| f64::from(share) / 3.0).collect();
        for longest in [1, 4, 5, 9, 40] {
            let lengths: Vec<usize> = (0..64).map(|i| (i * 7 + 3) % (longest + 1)).collect();
            let mut offsets = vec![1000_u64];
            lengths.iter().for_each(|len| offsets.push(offsets[offsets.len() - 1] + *len as u64));
            let num_arcs = lengths.iter().sum::<usize>();
            let targets: Vec<VertexId> = (0..num_arcs).map(|i| (i * 31 % 199) as VertexId).collect();
            let list = |v: usize| &targets[(offsets[v] - 1000) as usize..(offsets[v + 1] - 1000) as usize];
            let sums: Vec<AtomicU64> = (0..64).map(|_| AtomicU64::new(7)).collect();
            let found = |v: usize| f64::from_bits(sums[v].load(Ordering::Relaxed));
            sum_rows(&shares, &offsets, &targets, &sums);
            for v in 0..64 {
                assert_eq!(found(v).to_bits(), sum_over(&shares, list(v)).to_bits());
                let exact: f64 = list(v).iter().map(|&u| f64::from(shares[u as usize])).sum();
                assert!((found(v) - exact).abs() <= exact * 3e-7, "{} is not {exact}", found(v));
            }
            sum_rows(&doubles, &offsets, &targets, &sums);
            for v in 0..64 {
                assert_eq!(found(v).to_bits(), sum_over(&doubles, list(v)).to_bits());
                let exact: f64 = list(v).iter().map(|&u| doubles[u as usize]).sum();
                assert!((found(v) - exact).abs() <= exact * 1e-15, "{} is not {exact}", found(v));
            }
        }
    }
}

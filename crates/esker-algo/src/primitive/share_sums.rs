//! Sums of shares over lists of vertices, in one order that every way of computing them keeps.

use std::ops::Add;

use esker_graph::{VertexId, Weight};

use super::array::ArrayValue;
use super::rank::Ranked;

/// A share in some precision: `f32` or `f64`, and nothing else.
pub(super) trait Share: Copy + Add<Output = Self> + Into<f64> {}

impl Share for f32 {}
impl Share for f64 {}

/// What a share is multiplied by on its way along an arc.
pub(crate) trait Weighing<W: Weight>: Sync {
    /// `()` stands for 1.
    type Factor: Ranked;

    /// The factors of some arcs, whose number is `len`.
    fn factors(weights: &[W], len: usize) -> &[Self::Factor];
}

/// By 1, whatever the weights.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Alike;

impl<W: Weight> Weighing<W> for Alike {
    type Factor = ();

    #[inline(always)]
    fn factors(_: &[W], len: usize) -> &[()] {
        &[(); usize::MAX][..len]
    }
}

/// By the weight of the arc.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ByWeight;

impl<W: Ranked> Weighing<W> for ByWeight {
    type Factor = W;

    #[inline(always)]
    fn factors(weights: &[W], _: usize) -> &[W] {
        weights
    }
}

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

/// The neighbours of a short list, at most.
pub(super) const SHORT_MAX: usize = 32;

/// The sum of the shares of `vertices`, each times its factor, in an order that depends only on their number.
///
/// Of short lists, and by weight: in double precision, element i is added to part i mod 8, then parts 4 to 7 to parts 0 to 3, of those the
/// last two to the first two, and the second to the first. Sums in parts shorten the chain of dependent additions, and are what vector
/// instructions add up.
#[inline(always)]
pub(super) fn sum_over<S: Share, F: Ranked>(shares: &[S], vertices: &[VertexId], factors: &[F]) -> f64 {
    if is_long::<F>(vertices.len()) {
        return sum_of_long(shares, vertices);
    }
    let (mut these, mut others) = ([0.0; 4], [0.0; 4]);
    let (fours, last) = vertices.as_chunks::<4>();
    let (factors_of_fours, factors_of_last) = factors.as_chunks::<4>();
    for (four, factors) in fours.iter().zip(factors_of_fours) {
        add(&mut these, shares, four, factors);
        std::mem::swap(&mut these, &mut others);
    }
    add(&mut these, shares, last, factors_of_last);
    sum_of_parts(these, others)
}

#[inline(always)]
fn is_long<F>(len: usize) -> bool {
    size_of::<F>() == 0 && len > SHORT_MAX
}

/// The sum over a long list without weights: groups of four are added in the precision of the shares, the groups in double precision. Fewer
/// instructions an element let the processor run farther ahead to shares outside its caches.
#[inline(always)]
fn sum_of_long<S: Share>(shares: &[S], vertices: &[VertexId]) -> f64 {
    let share = |v: VertexId| shares[v as usize];
    let (fours, last) = vertices.as_chunks::<4>();
    let mut sum = 0.0;
    for &[a, b, c, d] in fours {
        sum += ((share(a) + share(b)) + (share(c) + share(d))).into();
    }
    last.iter().for_each(|&v| sum += share(v).into());
    sum
}

/// Adds the shares of up to four vertices, each times its factor, to a part each.
#[inline(always)]
fn add<S: Share, F: Ranked>(parts: &mut [f64; 4], shares: &[S], vertices: &[VertexId], factors: &[F]) {
    for ((part, &v), factor) in parts.iter_mut().zip(vertices).zip(factors) {
        *part += shares[v as usize].into() * factor.as_f64();
    }
}

/// It does not matter which of the two are the first four parts.
#[inline(always)]
fn sum_of_parts(these: [f64; 4], others: [f64; 4]) -> f64 {
    let [a, b, c, d]: [f64; 4] = std::array::from_fn(|i| these[i] + others[i]);
    (a + c) + (b + d)
}

/// Leaves the sum of each of some lists that lie one after another; equal to [`sum_over`], bit by bit.
///
/// The processor cannot foresee the length of a short list. So the last group of each list is read as four elements, where that many are
/// left in all lists together, and those beyond its end are masked: a list of up to four neighbours then takes no branch of its own.
#[inline(always)]
pub(super) fn sum_rows<S: Share, F: Ranked>(
    shares: &[S],
    offsets: &[u64],
    (mut targets, mut factors): (&[VertexId], &[F]),
    sums: &[<f64 as ArrayValue>::Atomic],
) {
    for (ends, sum) in offsets.windows(2).zip(sums) {
        let mut left = (ends[1] - ends[0]) as usize;
        if is_long::<F>(left) {
            f64::store(sum, sum_of_long(shares, &targets[..left]));
            (targets, factors) = (&targets[left..], &factors[left..]);
            continue;
        }
        let (mut these, mut others) = ([0.0; 4], [0.0; 4]);
        while let (true, Some((four, targets_after)), Some((of_four, factors_after))) =
            (left > 4, targets.split_first_chunk::<4>(), factors.split_first_chunk::<4>())
        {
            add(&mut these, shares, four, of_four);
            std::mem::swap(&mut these, &mut others);
            (left, targets, factors) = (left - 4, targets_after, factors_after);
        }
        match (targets.first_chunk::<4>(), factors.first_chunk::<4>(), COUNTED.get(left)) {
            (Some(four), Some(of_four), Some(masks)) => {
                for (i, part) in these.iter_mut().enumerate() {
                    let share: f64 = shares[four[i] as usize].into() * of_four[i].as_f64();
                    *part += f64::from_bits(share.to_bits() & masks[i]);
                }
            }
            _ => add(&mut these, shares, &targets[..left], &factors[..left]),
        }
        f64::store(sum, sum_of_parts(these, others));
        (targets, factors) = (&targets[left..], &factors[left..]);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::primitive::gathers::Gathers;

    /// Lists of up to `longest` neighbours, one after another: their bounds, which begin at 1000, and their elements, of `0..n`.
    fn lists(longest: usize, n: usize) -> (Vec<u64>, Vec<VertexId>) {
        let mut offsets = vec![1000_u64];
        for i in 0..67 {
            offsets.push(offsets[i] + ((i * 7 + 3) % (longest + 1)) as u64);
        }
        let num_arcs = (offsets[67] - 1000) as usize;
        (offsets, (0..num_arcs).map(|i| (i * 31 % n) as VertexId).collect())
    }

    /// Compares the sums of rows, of lists, and of both by gathers with each other bit by bit, and with a plain sum.
    fn agree<S: Share, F: Ranked>(shares: &[S], factor: impl Fn(usize) -> F, error: f64) {
        for longest in [1, 3, 4, 5, 9, 16, 17, 40, 200] {
            let (offsets, targets) = lists(longest, shares.len());
            let factors: Vec<F> = (0..targets.len()).map(&factor).collect();
            let sums: Vec<AtomicU64> = (0..80).map(|_| AtomicU64::new(7)).collect();
            let mut ways: Vec<(&str, Vec<f64>)> = Vec::new();
            let found = || sums.iter().map(|sum| f64::from_bits(sum.swap(7, Ordering::Relaxed))).collect();
            let range = |v: usize| (offsets[v] - 1000) as usize..(offsets[v + 1] - 1000) as usize;
            sum_rows(shares, &offsets, (&targets, &factors), &sums);
            ways.push(("rows", found()));
            if let Some(gathers) = Gathers::detect(shares.len()) {
                gathers.sum_rows(shares, &offsets, (&targets, &factors), &sums);
                ways.push(("gathered rows", found()));
                let list = |v| gathers.sum_over(shares, &targets[range(v)], &factors[range(v)]);
                ways.push(("gathered lists", (0..67).map(list).collect()));
            }
            for v in 0..67 {
                let (list, factors) = (&targets[range(v)], &factors[range(v)]);
                let sum = sum_over(shares, list, factors);
                let products = list.iter().zip(factors).map(|(&u, f)| shares[u as usize].into() * f.as_f64());
                let exact: f64 = products.sum();
                assert!((sum - exact).abs() <= exact * error, "{sum} is not {exact}");
                for (way, sums) in &ways {
                    assert_eq!(sums[v].to_bits(), sum.to_bits(), "{way}, list {v} of up to {longest}");
                }
            }
        }
    }

    #[test]
    fn all_ways_give_the_same_sums() {
        let shares: Vec<f32> = (1..200).map(|i| 1.0 / (i as f32 + 0.3)).collect();
        let doubles: Vec<f64> = shares.iter().map(|&share| f64::from(share) / 3.0).collect();
        agree(&shares, |_| (), 2e-7);
        agree(&doubles, |_| (), 1e-15);
        agree(&[-0.0_f32; 9], |_| (), 0.0);
        agree(&shares, |i| i as i64 * 3, 1e-15);
        agree(&doubles, |i| i as f32 / 7.0, 1e-15);
    }

    #[test]
    fn a_list_that_names_no_vertex_is_no_sum() {
        let Some(gathers) = Gathers::detect(10) else { return };
        for list in [vec![3, 10], vec![4; 40], vec![VertexId::MAX; 2]] {
            let is_good = list[0] == 4;
            let sum =
                std::panic::catch_unwind(|| gathers.sum_over(&[1.0_f32; 10], &list, &vec![(); list.len()]));
            assert_eq!(sum.ok(), is_good.then_some(40.0));
        }
    }
}

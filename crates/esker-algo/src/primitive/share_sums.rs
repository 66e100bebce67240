//! Sums of shares over lists of vertices, in one order, whether lists come one by one or many at once.

use std::ops::Add;

use esker_graph::{VertexId, Weight};

use super::array::ArrayValue;
use super::rank::Ranked;

/// A share in some precision: `f32` or `f64`, and nothing else.
pub(super) trait Share: Copy + Add<Output = Self> + Into<f64> {
    /// The bits of it that `mask` has.
    fn masked(self, mask: u64) -> Self;
}

impl Share for f32 {
    #[inline(always)]
    fn masked(self, mask: u64) -> Self {
        Self::from_bits(self.to_bits() & mask as u32)
    }
}

impl Share for f64 {
    #[inline(always)]
    fn masked(self, mask: u64) -> Self {
        Self::from_bits(self.to_bits() & mask)
    }
}

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

/// Lists of at least this many neighbours are summed by a loop of their own. The processor foresees which
/// loop comes next if most lists of a graph take the same one, so the bound is below the usual length of
/// lists of graphs with many edges.
const LONG_MIN: usize = 17;

/// The sum of the shares of `vertices`, each times its factor, in an order that depends only on their number.
///
/// Groups of four are added up, first with second and third with fourth element: in the precision of the
/// shares, or of products in double precision. The last group is filled up with zeros. The sums of the groups
/// are added one after another, in double precision. So additions that wait for each other are few, and there
/// are few instructions an element, which lets the processor run farther ahead to shares outside its caches.
#[inline(always)]
pub(super) fn sum_over<S: Share, F: Ranked>(shares: &[S], vertices: &[VertexId], factors: &[F]) -> f64 {
    let (fours, rest) = vertices.as_chunks::<4>();
    let (of_fours, of_rest) = factors.as_chunks::<4>();
    let mut sum = 0.0;
    for (four, factors) in fours.iter().zip(of_fours) {
        sum += sum_of_four(shares, four, factors, &COUNTED[4]);
    }
    if let (Some(&v), Some(&factor)) = (rest.first(), of_rest.first()) {
        let four = std::array::from_fn(|i| rest.get(i).copied().unwrap_or(v));
        let factors = std::array::from_fn(|i| of_rest.get(i).copied().unwrap_or(factor));
        sum += sum_of_four(shares, &four, &factors, &COUNTED[rest.len()]);
    }
    sum
}

/// The sum of a group of four, of which those count that `masks` says.
#[inline(always)]
fn sum_of_four<S: Share, F: Ranked>(
    shares: &[S],
    four: &[VertexId; 4],
    factors: &[F; 4],
    masks: &[u64; 4],
) -> f64 {
    let share = |i: usize| shares[four[i] as usize];
    if size_of::<F>() == 0 {
        let [a, b, c, d] = std::array::from_fn(|i| share(i).masked(masks[i]));
        return ((a + b) + (c + d)).into();
    }
    let product = |i: usize| share(i).into() * factors[i].as_f64();
    let [a, b, c, d] = std::array::from_fn(|i| product(i).masked(masks[i]));
    (a + b) + (c + d)
}

/// Leaves the sum of each of some lists that lie one after another; equal to [`sum_over`], bit by bit.
///
/// The processor cannot foresee the length of a short list. So the last group of each list is read as four
/// elements, where that many are left in all lists together, and those beyond its end are masked. A list of
/// up to four neighbours then takes no branch of its own.
#[inline(always)]
pub(super) fn sum_rows<S: Share, F: Ranked>(
    shares: &[S],
    offsets: &[u64],
    targets: &[VertexId],
    factors: &[F],
    sums: &[<f64 as ArrayValue>::Atomic],
) {
    let factors = &factors[..targets.len()];
    if offsets.windows(2).all(|bounds| bounds[1] - bounds[0] == 4) {
        // In a mesh most lists are one group: no mask, and no test of a length.
        let (fours, of_fours) = (targets.as_chunks::<4>().0, factors.as_chunks::<4>().0);
        for ((four, of_four), sum) in fours.iter().zip(of_fours).zip(sums) {
            f64::store(sum, 0.0 + sum_of_four(shares, four, of_four, &COUNTED[4]));
        }
        return;
    }
    let first = offsets.first().copied().unwrap_or(0);
    for (bounds, sum) in offsets.windows(2).zip(sums) {
        let (mut at, end) = ((bounds[0] - first) as usize, (bounds[1] - first) as usize);
        if end - at >= LONG_MIN {
            f64::store(sum, sum_over(shares, &targets[at..end], &factors[at..end]));
            continue;
        }
        let mut total = 0.0;
        while let (true, Some(four), Some(of_four)) =
            (end - at > 4, targets[at..].first_chunk(), factors[at..].first_chunk())
        {
            total += sum_of_four(shares, four, of_four, &COUNTED[4]);
            at += 4;
        }
        total += match (targets[at..].first_chunk(), factors[at..].first_chunk()) {
            (Some(four), Some(of_four)) => sum_of_four(shares, four, of_four, &COUNTED[end - at]),
            _ => sum_over(shares, &targets[at..end], &factors[at..end]),
        };
        f64::store(sum, total);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    /// Lists of `least` to `longest` neighbours, one after another: their bounds, which begin at 1000, and
    /// their elements, of `0..n`.
    fn lists(least: usize, longest: usize, n: usize) -> (Vec<u64>, Vec<VertexId>) {
        let mut offsets = vec![1000_u64];
        for i in 0..67 {
            offsets.push(offsets[i] + (least + (i * 7 + 3) % (longest - least + 1)) as u64);
        }
        let num_arcs = (offsets[67] - 1000) as usize;
        (offsets, (0..num_arcs).map(|i| (i * 31 % n) as VertexId).collect())
    }

    /// Compares the sums of rows and of lists with each other bit by bit, and with a plain sum.
    fn agree<S: Share, F: Ranked>(shares: &[S], factor: impl Fn(usize) -> F, error: f64) {
        let lengths = [
            (0, 1),
            (0, 3),
            (0, 4),
            (0, 5),
            (0, 9),
            (0, 16),
            (0, 17),
            (0, 40),
            (0, 200),
            (3, 3),
            (4, 4),
            (4, 5),
        ];
        for (least, longest) in lengths {
            let (offsets, targets) = lists(least, longest, shares.len());
            let factors: Vec<F> = (0..targets.len()).map(&factor).collect();
            let sums: Vec<AtomicU64> = (0..67).map(|_| AtomicU64::new(7)).collect();
            let range = |v: usize| (offsets[v] - 1000) as usize..(offsets[v + 1] - 1000) as usize;
            sum_rows(shares, &offsets, &targets, &factors, &sums);
            for v in 0..67 {
                let (list, factors) = (&targets[range(v)], &factors[range(v)]);
                let sum = sum_over(shares, list, factors);
                let products = list.iter().zip(factors).map(|(&u, f)| shares[u as usize].into() * f.as_f64());
                let exact: f64 = products.sum();
                assert!((sum - exact).abs() <= exact * error, "{sum} is not {exact}");
                let of_rows = sums[v].load(Ordering::Relaxed);
                assert_eq!(of_rows, sum.to_bits(), "list {v} of up to {longest}");
            }
        }
    }

    #[test]
    fn rows_and_lists_give_the_same_sums() {
        let shares: Vec<f32> = (1..200).map(|i| 1.0 / (i as f32 + 0.3)).collect();
        let doubles: Vec<f64> = shares.iter().map(|&share| f64::from(share) / 3.0).collect();
        agree(&shares, |_| (), 2e-7);
        agree(&doubles, |_| (), 1e-15);
        agree(&[-0.0_f32; 9], |_| (), 0.0);
        agree(&shares, |i| i as i64 * 3, 1e-15);
        agree(&doubles, |i| i as f32 / 7.0, 1e-15);
    }
}

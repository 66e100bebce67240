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

/// The sum of the shares of `vertices`. Groups of four are added in the precision of the shares, the groups in double precision. This
/// shortens the chain of dependent additions, and few instructions an element let the processor run ahead to shares outside its caches.
#[inline(always)]
fn sum_over<S: Copy + std::ops::Add<Output = S> + Into<f64>>(shares: &[S], vertices: &[VertexId]) -> f64 {
    let (fours, rest) = vertices.as_chunks::<4>();
    let share = |v: VertexId| shares[v as usize];
    let mut sum = 0.0;
    for &[a, b, c, d] in fours {
        sum += ((share(a) + share(b)) + (share(c) + share(d))).into();
    }
    for &v in rest {
        sum += share(v).into();
    }
    sum
}

/// Leaves the sum of each of some lists that lie one after another.
#[inline(always)]
pub(super) fn sum_rows<S: Copy + std::ops::Add<Output = S> + Into<f64>>(
    shares: &[S],
    offsets: &[u64],
    targets: &[VertexId],
    sums: &[<f64 as ArrayValue>::Atomic],
) {
    let mut rest = targets;
    for (ends, sum) in offsets.windows(2).zip(sums) {
        let (list, after) = rest.split_at((ends[1] - ends[0]) as usize);
        f64::store(sum, sum_over(shares, list));
        rest = after;
    }
}

//! The shares that vertices give to their neighbours, and sums of them, for [`super::neighbour_sum`].

use esker_graph::VertexId;

use super::array::ArrayValue;
use super::rank::Ranked;
use super::share_sums::{sum_over, sum_rows};

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
    /// Shares of 0 for `n` vertices.
    pub(super) fn new(n: usize, precision: Precision) -> Self {
        match precision {
            Precision::Single => Self::Single(vec![0.0; n]),
            Precision::Double => Self::Double(vec![0.0; n]),
        }
    }

    /// Makes these `n` shares of `precision`. They keep their values if they are so already; else all are 0.
    pub(super) fn keep_with(&mut self, precision: Precision, n: usize) {
        match (self, precision) {
            (Self::Single(shares), Precision::Single) if shares.len() == n => {}
            (Self::Double(shares), Precision::Double) if shares.len() == n => {}
            (shares, precision) => {
                // Free the old array first, so that memory never holds both.
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

    /// The sum of the shares of `vertices`, each times its factor.
    #[inline(always)]
    pub(super) fn sum_over<F: Ranked>(&self, vertices: &[VertexId], factors: &[F]) -> f64 {
        match self {
            Self::Single(shares) => sum_over(shares, vertices, factors),
            Self::Double(shares) => sum_over(shares, vertices, factors),
        }
    }

    /// Stores in `sums` the sum over each of several lists that lie one after another: list `i` is
    /// `offsets[i]..offsets[i + 1]` of `targets`.
    #[inline(always)]
    pub(super) fn sum_rows<F: Ranked>(
        &self,
        offsets: &[u64],
        targets: &[VertexId],
        factors: &[F],
        sums: &[<f64 as ArrayValue>::Atomic],
    ) {
        match self {
            Self::Single(shares) => sum_rows(shares, offsets, targets, factors, sums),
            Self::Double(shares) => sum_rows(shares, offsets, targets, factors, sums),
        }
    }
}

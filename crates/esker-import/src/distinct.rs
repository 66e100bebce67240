//! How many distinct integers there are, about, in a few kilobytes: HyperLogLog [1].
//!
//! [1] P. Flajolet, É. Fusy, O. Gandouet, F. Meunier, "HyperLogLog: the analysis of a near-optimal cardinality
//! estimation algorithm", AofA 2007.

const INDEX_BITS: u32 = 12;
const REGISTERS: usize = 1 << INDEX_BITS;

/// A sketch of a set of integers. Merging sketches gives that of the union, so the estimate does not depend on how a
/// set was divided between threads. Memory: 4 KiB. Standard error: 1.6%.
#[derive(Debug, Clone)]
pub(super) struct DistinctSketch(Box<[u8; REGISTERS]>);

impl Default for DistinctSketch {
    fn default() -> Self {
        Self(Box::new([0; REGISTERS]))
    }
}

/// A mixing of all 64 bits (the finaliser of SplitMix64).
#[inline(always)]
pub(super) fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

impl DistinctSketch {
    /// Adds `x`.
    #[inline(always)]
    pub(super) fn insert(&mut self, x: u64) {
        let hash = mix(x.wrapping_add(0x9E37_79B9_7F4A_7C15));
        let register = &mut self.0[(hash >> (64 - INDEX_BITS)) as usize];
        let rank = ((hash << INDEX_BITS) | 1 << (INDEX_BITS - 1)).leading_zeros() as u8 + 1;
        if rank > *register {
            *register = rank;
        }
    }

    /// Adds all that is in `other`.
    pub(super) fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0.iter()) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// The number of distinct integers that were added, about.
    pub(super) fn estimate(&self) -> f64 {
        let count = REGISTERS as f64;
        let bias = 0.7213 / (1.0 + 1.079 / count);
        let sum: f64 = self.0.iter().map(|&rank| 0.5f64.powi(i32::from(rank))).sum();
        let estimate = bias * count * count / sum;
        let zeros = self.0.iter().filter(|&&rank| rank == 0).count();
        if estimate <= 2.5 * count && zeros > 0 {
            return count * (count / zeros as f64).ln();
        }
        estimate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_at_every_size_and_mergeable() {
        for size in [0u64, 1, 10, 1000, 20_000, 1_000_000] {
            let (mut whole, mut odd, mut even) =
                <(DistinctSketch, DistinctSketch, DistinctSketch)>::default();
            for i in 0..size {
                whole.insert(i * 3);
                whole.insert(i * 3);
                if i % 2 == 0 { even.insert(i * 3) } else { odd.insert(i * 3) }
            }
            odd.merge(&even);
            assert_eq!(odd.0, whole.0);
            let error = (whole.estimate() - size as f64).abs();
            assert!(error <= 0.06 * size as f64, "{size}: {}", whole.estimate());
        }
    }
}

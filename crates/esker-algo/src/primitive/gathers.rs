//! Sums of shares by gathers (`x86_sums.rs`), where the processor has them and they are faster than single reads.
#![allow(unsafe_code)] // Calls functions compiled for an instruction set after checking that the processor has it.

use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use esker_graph::{VertexId, vertex};

use super::rank::Ranked;
#[cfg(not(all(target_arch = "x86_64", not(feature = "id64"))))]
use super::share_sums::sum_over;
use super::share_sums::{Share, sum_rows};
#[cfg(all(target_arch = "x86_64", not(feature = "id64")))]
use super::x86_sums::{sum_of_list, sums_of_rows};

/// The way by gathers. It exists only where the processor has the instructions, and for ids of 32 bits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gathers(());

impl Gathers {
    /// For `n` shares, if gathers are faster here than single reads.
    pub(super) fn new(n: usize) -> Option<Self> {
        static ARE_FASTER: OnceLock<bool> = OnceLock::new();
        let gathers = Self::detect(n)?;
        ARE_FASTER.get_or_init(|| gathers.are_faster()).then_some(gathers)
    }

    /// For `n` shares, if the processor has the instructions, fast or not.
    #[cfg(all(target_arch = "x86_64", not(feature = "id64")))]
    pub(super) fn detect(n: usize) -> Option<Self> {
        // Indices have a sign.
        let fits = i32::try_from(n).is_ok();
        let has_instructions = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("popcnt");
        (fits && has_instructions).then_some(Self(()))
    }

    /// `None`.
    #[cfg(not(all(target_arch = "x86_64", not(feature = "id64"))))]
    pub(super) fn detect(_n: usize) -> Option<Self> {
        None
    }

    /// The sum of the shares of `vertices`, each times its factor.
    #[inline]
    pub(super) fn sum_over<S: Share, F: Ranked>(
        self,
        shares: &[S],
        vertices: &[VertexId],
        factors: &[F],
    ) -> f64 {
        // SAFETY: `Self::detect` found every feature that the function is compiled for.
        #[cfg(all(target_arch = "x86_64", not(feature = "id64")))]
        return unsafe { sum_of_list(shares, vertices, factors) };
        #[cfg(not(all(target_arch = "x86_64", not(feature = "id64"))))]
        sum_over(shares, vertices, factors)
    }

    /// Leaves the sum of each of some lists that lie one after another.
    #[inline]
    pub(super) fn sum_rows<S: Share, F: Ranked>(
        self,
        shares: &[S],
        offsets: &[u64],
        lists: (&[VertexId], &[F]),
        sums: &[AtomicU64],
    ) {
        // SAFETY: as in `sum_over`.
        #[cfg(all(target_arch = "x86_64", not(feature = "id64")))]
        unsafe {
            sums_of_rows(shares, offsets, lists, sums);
        }
        #[cfg(not(all(target_arch = "x86_64", not(feature = "id64"))))]
        sum_rows(shares, offsets, lists, sums);
    }

    /// Times both ways over shares and lists that fit the first-level cache, in some tens of microseconds: some processors read the elements
    /// of a gather one by one in microcode.
    fn are_faster(self) -> bool {
        const LEN: usize = 1 << 11;
        let shares = vec![0.5_f32; LEN];
        let targets: Vec<VertexId> = (0..LEN).map(|i| vertex(i * 1_000_003 % LEN)).collect();
        let offsets: Vec<u64> = (0..=LEN as u64 / 16).map(|row| 16 * row).collect();
        let sums: Vec<AtomicU64> = (0..LEN / 16).map(|_| AtomicU64::new(0)).collect();
        let lists = (&targets[..], &vec![(); targets.len()][..]);
        let time = |way: &dyn Fn()| {
            let start = Instant::now();
            way();
            start.elapsed()
        };
        let (mut single, mut gathered) = (Duration::MAX, Duration::MAX);
        for _ in 0..4 {
            single = single.min(time(&|| sum_rows(&shares, &offsets, lists, &sums)));
            gathered = gathered.min(time(&|| self.sum_rows(&shares, &offsets, lists, &sums)));
        }
        gathered < single
    }
}

//! How to decode, by what the processor can.
#![allow(unsafe_code)] // Calls of what needs instructions that not every processor has.

use esker_graph::VertexId;

use super::block;
use super::index::{GROUP_LEN, Places, Sizes};
#[cfg(all(target_arch = "x86_64", not(feature = "id64")))]
use super::x86;

/// A way to decode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decoder {
    /// One difference after another.
    Portable,
    #[cfg(all(target_arch = "x86_64", not(feature = "id64")))]
    Avx2,
    #[cfg(all(target_arch = "x86_64", not(feature = "id64")))]
    Avx512,
}

impl Decoder {
    /// All that this processor can run, the fastest first.
    #[cfg(not(all(target_arch = "x86_64", not(feature = "id64"))))]
    pub(super) fn possible() -> Vec<Self> {
        vec![Self::Portable]
    }

    /// All that this processor can run, the fastest first.
    #[cfg(all(target_arch = "x86_64", not(feature = "id64")))]
    pub(super) fn possible() -> Vec<Self> {
        let mut possible = Vec::new();
        let features = [
            is_x86_feature_detected!("avx512f"),
            is_x86_feature_detected!("avx512bw"),
            is_x86_feature_detected!("avx512vbmi"),
        ];
        if features == [true; 3] {
            possible.push(Self::Avx512);
        }
        if is_x86_feature_detected!("avx2") {
            possible.push(Self::Avx2);
        }
        possible.push(Self::Portable);
        possible
    }

    /// The fastest.
    pub(super) fn best() -> Self {
        Self::possible()[0]
    }

    /// Where the lists of a group lie.
    #[inline]
    pub(super) fn places(self, sizes: Sizes<'_>, places: &mut Places) {
        #[cfg(all(target_arch = "x86_64", not(feature = "id64")))]
        if self == Self::Avx512 {
            // SAFETY: a value of this kind is made only where the processor has the instructions.
            let sums_up = |sizes: &[u8], width_log: u32, before: u64, sums: &mut [u64; GROUP_LEN + 1]| unsafe {
                x86::sums_of_sizes(sizes, width_log, before, sums);
            };
            return sizes.places(Some(&sums_up), places);
        }
        sizes.places(None::<&fn(&[u8], u32, u64, &mut [u64; GROUP_LEN + 1])>, places);
    }

    /// Decodes `len` arcs of the list of `source`, from the block on that begins at `at`, to the start of `out`, which has
    /// [`block::ROOM`] for more; where the last block ends. What is no block gives garbage, or a panic.
    #[inline]
    pub(super) fn decode(
        self,
        bytes: &[u8],
        at: usize,
        source: VertexId,
        len: usize,
        out: &mut [VertexId],
    ) -> usize {
        match self {
            Self::Portable => block::decode(bytes, at, source, len, out),
            // SAFETY: a value of this kind is made only where the processor has the instructions.
            #[cfg(all(target_arch = "x86_64", not(feature = "id64")))]
            Self::Avx2 => unsafe { x86::decode_eights(bytes, at, source, len, out) },
            // SAFETY: as above.
            #[cfg(all(target_arch = "x86_64", not(feature = "id64")))]
            Self::Avx512 => unsafe { x86::decode_sixteens(bytes, at, source, len, out) },
        }
    }
}

//! Chooses the fastest decoder that the processor supports.
#![allow(unsafe_code)] // Calls functions that need instructions not every processor has.

use esker_graph::VertexId;

use super::block;
use super::index::{GROUP_LEN, GroupSizes, ListPlaces};
#[cfg(all(target_arch = "x86_64", not(feature = "id64")))]
use super::x86;

/// A decoder, by its instruction set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decoder {
    /// One difference at a time.
    Portable,
    #[cfg(all(target_arch = "x86_64", not(feature = "id64")))]
    Avx2,
    #[cfg(all(target_arch = "x86_64", not(feature = "id64")))]
    Avx512,
}

impl Decoder {
    /// All decoders that this processor can run, fastest first.
    #[cfg(not(all(target_arch = "x86_64", not(feature = "id64"))))]
    pub(super) fn possible() -> Vec<Self> {
        vec![Self::Portable]
    }

    /// All decoders that this processor can run, fastest first.
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

    /// The fastest decoder.
    pub(super) fn best() -> Self {
        Self::possible()[0]
    }

    /// Fills `places` with the positions of the lists of a group.
    #[inline]
    pub(super) fn places(self, sizes: GroupSizes<'_>, places: &mut ListPlaces) {
        #[cfg(all(target_arch = "x86_64", not(feature = "id64")))]
        if self == Self::Avx512 {
            // SAFETY: `possible` makes this value only where the processor has the instructions.
            let sums_up = |sizes: &[u8], width_log: u32, before: u64, sums: &mut [u64; GROUP_LEN + 1]| unsafe {
                x86::sums_of_sizes(sizes, width_log, before, sums);
            };
            return sizes.places(Some(&sums_up), places);
        }
        sizes.places(None::<&fn(&[u8], u32, u64, &mut [u64; GROUP_LEN + 1])>, places);
    }

    /// Decodes `len` arcs of the list of `source` to the start of `out`, which has [`block::ROOM`] entries
    /// more, beginning with the block at `at`. Returns the end of the last block. Bytes that are not a block
    /// give garbage or a panic.
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
            // SAFETY: `possible` makes this value only where the processor has the instructions.
            #[cfg(all(target_arch = "x86_64", not(feature = "id64")))]
            Self::Avx2 => unsafe { x86::decode_eights(bytes, at, source, len, out) },
            // SAFETY: as above.
            #[cfg(all(target_arch = "x86_64", not(feature = "id64")))]
            Self::Avx512 => unsafe { x86::decode_sixteens(bytes, at, source, len, out) },
        }
    }
}

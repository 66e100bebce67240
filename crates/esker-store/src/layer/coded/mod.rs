//! The `compressed` encoding of the lists of a complete layer: differences in as few bits as the largest of them needs.
//!
//! A list is cut in blocks of 64 arcs that are decoded each by itself (Sage 4.2; Ligra+): the first neighbour as the difference to the
//! source, with its sign, then the differences between neighbours. Byte codes, which the papers use, were the baseline; packing all
//! differences of a block in the same number of bits came out smaller on Kronecker graphs (1.81 to 2.02 bytes an arc) and decodes six
//! times as fast, for sixteen differences are unpacked and summed at once: see `docs/performance.md`.
//!
//! * `lists` (bytes): the lists, one after another; 64 zeros at the end, so that decoders may read ahead. A list of more than 64 arcs
//!   begins with the place (u64) in `blocks` of what concerns it.
//! * `blocks` (u64): for each block of such a list but its first, where in `lists` it begins.
//! * `groups` (u64): for each 64 lists three numbers: the arcs and the bytes before them, and where in `sizes` their sizes stand, times
//!   256, plus the binary logarithms of the widths of degrees and (times 16) of lengths. Once more at the end.
//! * `sizes` (bytes): for each group 64 degrees, then 64 lengths in bytes; each as wide as the largest of them needs: 1, 2, 4 or 8 bytes.
//!
//! So a vertex takes 2.4 bytes of index where degrees are small, and its degree is found in two steps. What lies parallel to arcs
//! (properties, births) is as in the `plain` encoding.
//!
//! A block is a byte (the width of the differences, in bits, plus 64 times the code of the length of the first neighbour), the first
//! neighbour less the source, zigzag-coded in 1, 2, 3 or 4 bytes (64-bit ids: 1, 2, 4, 8), and the differences, least significant bits first.

mod block;
mod index;
#[cfg(all(target_arch = "x86_64", not(feature = "id64")))]
mod x86;
mod vector;
mod coder;
mod lists;
#[cfg(test)]
mod tests;

pub(crate) use block::AHEAD_BYTES;
pub use block::{BLOCK_LEN, ROOM};
pub use coder::{Coder, Parts};
pub use index::{GroupWalk, Index, Place, Places};
pub use lists::{Coded, CodedColumns, CodedLists};

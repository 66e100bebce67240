//! The `compressed` encoding of the lists of a complete layer: differences in as few bits as the largest of
//! them needs.
//!
//! A list is cut into blocks of 64 arcs that decode independently (Sage 4.2; Ligra+): first the difference of
//! the first neighbour to the source, with its sign, then the differences between neighbours. The papers use
//! byte codes, which were our baseline. Packing all differences of a block in the same number of bits is
//! smaller on Kronecker graphs (1.81 instead of 2.02 bytes an arc). It decodes six times as fast, because
//! sixteen differences are unpacked and summed at once: see `docs/decisions/codes-of-compressed-lists.md`.
//!
//! * `lists` (bytes): the lists, concatenated, then 64 zeros so that decoders may read ahead. A list of more
//!   than 64 arcs begins with the index (u64) of its first entry in `blocks`.
//! * `blocks` (u64): the start in `lists` of each block of such a list except its first.
//! * `groups` (u64): three numbers for each 64 lists, and once more at the end. These are the number of arcs
//!   before them, the number of bytes before them, and the start of their sizes in `sizes`, times 256, plus
//!   the binary logarithms of the widths of degrees and (times 16) of lengths.
//! * `sizes` (bytes): for each group 64 degrees, then 64 lengths in bytes. Degrees and lengths are each as
//!   wide as the largest of them needs: 1, 2, 4 or 8 bytes.
//!
//! So the index takes 2.4 bytes a vertex where degrees are small, and finding a degree takes two steps.
//! Columns parallel to the arcs (properties, version codes) are those of the `plain` encoding.
//!
//! A block is one byte (the width of the differences in bits, plus 64 times the code of the length of the
//! first neighbour). Then come the first neighbour minus the source, zigzag-coded in 1, 2, 3 or 4 bytes
//! (64-bit ids: 1, 2, 4, 8), and the differences, least significant bits first.

mod block;
mod index;
#[cfg(all(target_arch = "x86_64", not(feature = "id64")))]
mod x86;
mod vector;
mod coder;
mod lists;
#[cfg(test)]
mod tests;

pub(crate) use block::{AHEAD_BYTES, BLOCK_LEN};
pub use coder::Coder;
pub use coder::EncodedLists;
pub use index::{CodedList, ListPlace};
pub(crate) use index::{Index, ListPlaces};
pub(crate) use lists::Coded;
pub use lists::CodedColumns;
pub use lists::CodedLists;

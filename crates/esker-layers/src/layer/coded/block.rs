//! One block of a list: its first neighbour relative to the source, then differences of one width.

use esker_graph::VertexId;

/// Arcs of a block; the last block of a list may have fewer.
pub(crate) const BLOCK_LEN: usize = 64;

/// Decoders may write this many entries beyond those that they decode.
pub(crate) const ROOM: usize = 16;

/// Decoders may read this many bytes from the start of a block, or of sixteen differences.
pub(crate) const AHEAD_BYTES: usize = 64;

/// The widest differences, in bits. A graph with wider differences between 64-bit ids would not fit any
/// address space.
pub(super) const WIDTH_MAX: usize = if VertexId::BITS == 32 { 32 } else { 56 };

/// The number of bytes of the first neighbour, by its code.
const FIRST_BYTES: [usize; 4] = if VertexId::BITS == 32 { [1, 2, 3, 4] } else { [1, 2, 4, 8] };

/// The header of a block: everything before its differences.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockHeader {
    /// Bits of a difference.
    pub(super) width: usize,
    /// The first neighbour.
    pub(super) first: VertexId,
    /// Where the differences begin.
    pub(super) at: usize,
}

impl BlockHeader {
    /// Reads the header at `at` of a block of the list of `source`.
    #[inline(always)]
    pub(super) fn read(bytes: &[u8], at: usize, source: VertexId) -> Self {
        let code = bytes[at];
        let first_bytes = FIRST_BYTES[usize::from(code >> 6)];
        let word = VertexId::from_le_bytes(*bytes[at + 1..].first_chunk().expect("there is slack"));
        let zigzag = word & (VertexId::MAX >> (VertexId::BITS as usize - 8 * first_bytes));
        let first = source.wrapping_add((zigzag >> 1) ^ (zigzag & 1).wrapping_neg());
        Self { width: usize::from(code & 63), first, at: at + 1 + first_bytes }
    }
    /// The first difference; arbitrary if there is none.
    #[inline(always)]
    pub(super) fn difference(&self, bytes: &[u8]) -> VertexId {
        let word =
            u64::from_le_bytes(*bytes[self.at..].first_chunk().expect("there are bytes to read ahead"));
        word as VertexId & ((1_u64 << self.width) - 1) as VertexId
    }
}

/// The end of a block of `len` arcs that begins at `at`; `None` if the bytes are not such a block.
pub(super) fn end_of(bytes: &[u8], at: usize, len: usize) -> Option<usize> {
    let code = *bytes.get(at)?;
    let width = usize::from(code & 63);
    let end = at + 1 + FIRST_BYTES[usize::from(code >> 6)] + ((len - 1) * width).div_ceil(8);
    (width <= WIDTH_MAX && end <= bytes.len()).then_some(end)
}

/// Appends a block of 1 to [`BLOCK_LEN`] ascending targets of `source`.
pub(super) fn encode(source: VertexId, targets: &[VertexId], out: &mut Vec<u8>) {
    let difference = targets[0].wrapping_sub(source);
    let sign = (difference >> (VertexId::BITS - 1)).wrapping_neg();
    let zigzag = (difference << 1) ^ sign;
    let needed = (VertexId::BITS - zigzag.leading_zeros()).div_ceil(8) as usize;
    let code = FIRST_BYTES.iter().position(|&bytes| bytes >= needed).unwrap_or(3);
    let any = targets.windows(2).fold(0, |any, pair| any | (pair[1] - pair[0]));
    let width = VertexId::BITS - any.leading_zeros();
    debug_assert!(width as usize <= WIDTH_MAX, "ids are below the number of vertices");
    out.push((code as u32 * 64 + width) as u8);
    out.extend_from_slice(&zigzag.to_le_bytes()[..FIRST_BYTES[code]]);
    let (mut word, mut bits) = (0_u64, 0);
    for pair in targets.windows(2) {
        let difference = u64::from(pair[1] - pair[0]);
        word |= difference << bits;
        bits += width;
        if bits >= 64 {
            out.extend_from_slice(&word.to_le_bytes());
            bits -= 64;
            // The bits that did not fit into the last word. A shift by the whole width means that all
            // fitted.
            word = difference.checked_shr(width - bits).unwrap_or(0);
        }
    }
    out.extend_from_slice(&word.to_le_bytes()[..bits.div_ceil(8) as usize]);
}

/// Decodes `len` arcs of the list of `source` to the start of `out`, beginning with the block at `at`.
/// Returns the end of the last block. Bytes that are not a block give garbage or a panic.
pub(super) fn decode(
    bytes: &[u8],
    mut at: usize,
    source: VertexId,
    len: usize,
    out: &mut [VertexId],
) -> usize {
    for out in out[..len].chunks_mut(BLOCK_LEN) {
        let head = BlockHeader::read(bytes, at, source);
        let mask = ((1_u64 << head.width) - 1) as VertexId;
        let mut target = head.first;
        out[0] = target;
        let mut bit = 0;
        for out in &mut out[1..] {
            let word = u64::from_le_bytes(
                *bytes[head.at + bit / 8..].first_chunk().expect("there are bytes to read ahead"),
            );
            target = target.wrapping_add((word >> (bit % 8)) as VertexId & mask);
            *out = target;
            bit += head.width;
        }
        at = head.at + bit.div_ceil(8);
    }
    at
}

//! Codes chunks of tiles.
//!
//! A tile is a square of 2^16 by 2^16 cells of the adjacency matrix (G-Store [1], IV-B): within it, an edge
//! is a *position*, row times 2^16 plus column, of 32 bits. The edges of a tile, sorted by position, are cut
//! into *chunks* of at most [`CHUNK_LEN_MAX`] edges; each chunk is in the smallest of several codings, and is
//! decoded by itself. [1] keeps pairs throughout, four bytes an edge.
//!
//! [1] P. Kumar, H. Huang, "G-Store: High-Performance Graph Store for Trillion-Edge Processing", SC 2016.

use esker_format::TileCoding as Coding;

use crate::tiles::codings::packed::{pack, packed_bytes, unpack_sums};
use crate::tiles::codings::vector::BLOCK_LEN;

/// The most edges of a chunk.
pub(crate) const CHUNK_LEN_MAX: usize = 1 << 16;
/// The most edges decoded at a time; a multiple of the numbers in a packed block.
pub(crate) const BATCH_LEN: usize = 1 << 11;
/// Bitmaps are tried where at least one cell in this many has an edge.
const SPARSE_CELLS: u64 = 16;
const CODINGS: [Coding; 5] = [Coding::Pairs, Coding::Bytes, Coding::Packed, Coding::Runs, Coding::Bitmap];

fn varint_bytes(number: u32) -> usize {
    (38 - (number | 1).leading_zeros() as usize) / 7
}

fn put_varint(mut number: u32, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Reads a number; `None` if it is not whole, or exceeds 32 bits.
fn take_varint(bytes: &[u8], at: &mut usize) -> Option<u32> {
    let mut number = 0;
    for shift in (0..35).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        number |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return u32::try_from(number).ok();
        }
    }
    None
}

fn row_of(position: u32) -> u32 {
    position >> 16
}

fn column_of(position: u32) -> u32 {
    position & 0xFFFF
}

/// Differences of successive positions.
fn gaps(positions: &[u32]) -> impl Iterator<Item = u32> + '_ {
    positions.windows(2).map(|pair| pair[1] - pair[0])
}

/// Runs of positions in one row.
fn rows(positions: &[u32]) -> impl Iterator<Item = &[u32]> {
    positions.chunk_by(|a, b| row_of(*a) == row_of(*b))
}

/// The rectangle of a bitmap: rows, first column by words, words a row.
struct Rectangle {
    first_row: u32,
    num_rows: u32,
    first_word: u32,
    row_words: u32,
}

impl Rectangle {
    /// `None` if the positions are too sparse for a bitmap, or repeat.
    fn around(positions: &[u32]) -> Option<Self> {
        let (first, last) = (*positions.first()?, *positions.last()?);
        let num_rows = row_of(last) - row_of(first) + 1;
        if u64::from(num_rows) * 64 > positions.len() as u64 * SPARSE_CELLS {
            return None;
        }
        let columns = positions.iter().map(|&position| column_of(position));
        let (low, high) = columns.fold((u32::MAX, 0), |(low, high), c| (low.min(c), high.max(c)));
        let (first_word, row_words) = (low / 64, high / 64 - low / 64 + 1);
        let cells = u64::from(num_rows) * u64::from(row_words) * 64;
        let repeats = || positions.windows(2).any(|pair| pair[0] == pair[1]);
        let fits = cells <= positions.len() as u64 * SPARSE_CELLS && !repeats();
        fits.then_some(Self { first_row: row_of(first), num_rows, first_word, row_words })
    }

    fn num_words(&self) -> usize {
        self.num_rows as usize * self.row_words as usize
    }
}

/// The smallest coding of some positions, with its parameters.
struct Choice {
    coding: Coding,
    bytes: usize,
    gaps: Vec<u32>,
}

/// The smallest coding of sorted positions. There must be at least one.
fn choose(positions: &[u32]) -> Choice {
    let gaps: Vec<u32> = gaps(positions).collect();
    let first = positions[0];
    let varints = varint_bytes(first) + gaps.iter().map(|&gap| varint_bytes(gap)).sum::<usize>();
    let mut best = (Coding::Packed, 4 + packed_bytes(&gaps));
    let mut offer = |coding, bytes| {
        if bytes < best.1 {
            best = (coding, bytes);
        }
    };
    offer(Coding::Pairs, positions.len() * 4);
    offer(Coding::Bytes, varints);
    let mut row_before = 0;
    let runs = rows(positions).map(|run| {
        let row = row_of(run[0]);
        let head = varint_bytes(row - row_before) + varint_bytes(run.len() as u32);
        row_before = row;
        let columns = varint_bytes(column_of(run[0]));
        head + columns + run.windows(2).map(|pair| varint_bytes(pair[1] - pair[0])).sum::<usize>()
    });
    offer(Coding::Runs, runs.sum());
    if let Some(rectangle) = Rectangle::around(positions) {
        offer(Coding::Bitmap, 6 + rectangle.num_words() * 8);
    }
    Choice { coding: best.0, bytes: 1 + best.1, gaps }
}

/// Appends a chunk of as many of the first `positions` as fit `room` bytes, or of almost as many. Returns how
/// many; 0 if none fit. Positions ascend and may repeat.
pub(crate) fn encode(positions: &[u32], room: usize, out: &mut Vec<u8>) -> usize {
    if let Some((len, choice)) = fitting(&positions[..positions.len().min(CHUNK_LEN_MAX)], room) {
        put(&positions[..len], &choice, out);
        return len;
    }
    // No more than one block of numbers: a position takes at least a bit.
    let mut len = positions.len().min(BLOCK_LEN + 1).min(8 * room);
    while len > 0 {
        let choice = choose(&positions[..len]);
        if choice.bytes <= room {
            put(&positions[..len], &choice, out);
            return len;
        }
        // Somewhat fewer than would fit at this size per position.
        len = (len * room / choice.bytes * 63 / 64).min(len - 1);
    }
    0
}

/// The longest chunk of the first positions that fits, to a block of numbers, and its smallest coding; `None`
/// if not even a block fits. One pass, which ends where nothing fits any more.
fn fitting(positions: &[u32], room: usize) -> Option<(usize, Choice)> {
    let mut costs = Costs::new(*positions.first()?);
    let mut gaps = Vec::with_capacity(positions.len());
    let mut best = None;
    for block in positions.windows(BLOCK_LEN + 1).step_by(BLOCK_LEN) {
        costs.add(block, &mut gaps);
        let found = costs.smallest(gaps.len() + 1);
        if found.1 >= room {
            break;
        }
        best = Some((gaps.len() + 1, found));
    }
    let rest = &positions[gaps.len()..];
    if best.is_some_and(|(len, _)| len == gaps.len() + 1) || positions.len() <= BLOCK_LEN {
        if rest.len() > 1 {
            costs.add(rest, &mut gaps);
        }
        let found = costs.smallest(positions.len());
        if found.1 < room {
            best = Some((positions.len(), found));
        }
    }
    let (len, (mut coding, mut bytes)) = best?;
    gaps.truncate(len - 1);
    if let Some(rectangle) = Rectangle::around(&positions[..len]) {
        let of_bitmap = 6 + rectangle.num_words() * 8;
        if of_bitmap < bytes {
            (coding, bytes) = (Coding::Bitmap, of_bitmap);
        }
    }
    Some((len, Choice { coding, bytes: 1 + bytes, gaps }))
}

/// The bytes that some positions take in each coding but the bitmap, block by block.
struct Costs {
    varints: usize,
    packed: usize,
    /// Without the length of the last run.
    runs: usize,
    /// The positions of the last run.
    run_len: u32,
}

impl Costs {
    /// The costs of the first position.
    fn new(first: u32) -> Self {
        let runs = varint_bytes(row_of(first)) + varint_bytes(column_of(first));
        Self { varints: varint_bytes(first), packed: 4, runs, run_len: 1 }
    }

    /// Adds the positions after the first one of `block`, which was added before. Also appends their gaps.
    #[inline]
    fn add(&mut self, block: &[u32], gaps: &mut Vec<u32>) {
        let first = gaps.len();
        gaps.extend(block.windows(2).map(|pair| pair[1] - pair[0]));
        self.packed += packed_bytes(&gaps[first..]);
        let (mut varints, mut runs, mut num_changes) = (0, 0, 0);
        for pair in block.windows(2) {
            let (gap, rows) = (small_varint_bytes(pair[1] - pair[0]), row_of(pair[1]) - row_of(pair[0]));
            let head = small_varint_bytes(rows) + small_varint_bytes(column_of(pair[1]));
            varints += gap;
            runs += if rows == 0 { gap } else { head };
            num_changes += u32::from(rows != 0);
        }
        self.varints += varints as usize;
        self.runs += runs as usize;
        let changes = |pair: &[u32]| row_of(pair[0]) != row_of(pair[1]);
        let pairs = block.windows(2);
        let (Some(first), Some(last)) = (pairs.clone().position(changes), pairs.clone().rposition(changes))
        else {
            self.run_len += pairs.len() as u32;
            return;
        };
        // Runs that begin and end in a block are so short that a byte holds their length.
        self.runs += varint_bytes(self.run_len + first as u32) + num_changes as usize - 1;
        self.run_len = (pairs.len() - last) as u32;
    }

    /// The smallest coding of `len` positions, and its bytes.
    fn smallest(&self, len: usize) -> (Coding, usize) {
        let mut best = (Coding::Packed, self.packed);
        let others = [
            (Coding::Pairs, 4 * len),
            (Coding::Bytes, self.varints),
            (Coding::Runs, self.runs + varint_bytes(self.run_len)),
        ];
        for (coding, bytes) in others {
            if bytes < best.1 {
                best = (coding, bytes);
            }
        }
        best
    }
}

/// [`varint_bytes`] by comparisons, which several numbers at a time take in vectors.
#[inline(always)]
fn small_varint_bytes(number: u32) -> u32 {
    1 + u32::from(number >= 1 << 7)
        + u32::from(number >= 1 << 14)
        + u32::from(number >= 1 << 21)
        + u32::from(number >= 1 << 28)
}

fn put(positions: &[u32], choice: &Choice, out: &mut Vec<u8>) {
    out.push(choice.coding as u8);
    match choice.coding {
        Coding::Pairs => {
            for &position in positions {
                out.extend_from_slice(&(row_of(position) as u16).to_le_bytes());
                out.extend_from_slice(&(column_of(position) as u16).to_le_bytes());
            }
        }
        Coding::Bytes => {
            put_varint(positions[0], out);
            choice.gaps.iter().for_each(|&gap| put_varint(gap, out));
        }
        Coding::Packed => {
            out.extend_from_slice(&positions[0].to_le_bytes());
            pack(&choice.gaps, out);
        }
        Coding::Runs => {
            let mut row_before = 0;
            for run in rows(positions) {
                put_varint(row_of(run[0]) - row_before, out);
                put_varint(run.len() as u32, out);
                put_varint(column_of(run[0]), out);
                gaps(run).for_each(|gap| put_varint(gap, out));
                row_before = row_of(run[0]);
            }
        }
        Coding::Bitmap => {
            let Some(rectangle) = Rectangle::around(positions) else { return };
            for number in [rectangle.first_row, rectangle.first_word, rectangle.row_words] {
                out.extend_from_slice(&(number as u16).to_le_bytes());
            }
            let mut words = vec![0u64; rectangle.num_words()];
            for &position in positions {
                let row = (row_of(position) - rectangle.first_row) as usize;
                let word = column_of(position) / 64 - rectangle.first_word;
                words[row * rectangle.row_words as usize + word as usize] |= 1 << (position % 64);
            }
            words.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
        }
    }
}

/// Decodes a chunk in batches.
#[derive(Debug)]
pub(crate) struct ChunkDecoder<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Edges not decoded yet.
    remaining: usize,
    coding: Coding,
    /// The last position decoded.
    last: u32,
    /// Edges of the current run that are not decoded yet.
    run_remaining: u32,
    /// In a bitmap: the next word, the words per row, and the first column of each row.
    word: usize,
    row_words: usize,
    first_word: usize,
    /// Bits left of the last word of a bitmap.
    bits: u64,
}

impl<'a> ChunkDecoder<'a> {
    /// Begins the chunk of `len` edges at the start of `bytes`; `None` if the bytes are not a chunk.
    pub(crate) fn new(bytes: &'a [u8], len: usize) -> Option<Self> {
        let code = *bytes.first()?;
        let coding = *CODINGS.iter().find(|coding| **coding as u8 == code)?;
        if len > CHUNK_LEN_MAX {
            return None;
        }
        let mut decoder = Self {
            bytes,
            at: 1,
            remaining: len,
            coding,
            last: 0,
            run_remaining: 0,
            word: 0,
            row_words: 0,
            first_word: 0,
            bits: 0,
        };
        if coding == Coding::Bitmap {
            let number = |at: usize| Some(usize::from(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?)));
            (decoder.first_word, decoder.row_words, decoder.at) = (number(3)?, number(5)?, 7);
            if decoder.row_words == 0 || decoder.first_word + decoder.row_words > 1 << 10 {
                return None;
            }
        }
        Some(decoder)
    }

    /// Bytes of the edges decoded so far.
    pub(crate) fn num_bytes(&self) -> usize {
        self.at + self.word * 8
    }

    /// Edges that are not decoded yet.
    #[cfg(test)]
    pub(crate) fn remaining(&self) -> usize {
        self.remaining
    }

    /// Replaces the content of `positions` by the next at most [`BATCH_LEN`], ascending; by none at the end.
    /// `None` if the bytes are damaged; then the decoder must not be used again.
    pub(crate) fn next(&mut self, positions: &mut Vec<u32>) -> Option<()> {
        positions.clear();
        let len = self.remaining.min(BATCH_LEN);
        match self.coding {
            Coding::Pairs => self.next_pairs(len, positions)?,
            Coding::Bytes => self.next_bytes(len, positions)?,
            Coding::Packed => self.next_packed(positions)?,
            Coding::Runs => self.next_runs(len, positions)?,
            Coding::Bitmap => self.next_bits(len, positions)?,
        }
        self.remaining -= positions.len();
        self.last = positions.last().copied().unwrap_or(self.last);
        Some(())
    }

    fn next_pairs(&mut self, len: usize, positions: &mut Vec<u32>) -> Option<()> {
        let bytes = self.bytes.get(self.at..self.at + len * 4)?;
        self.at += len * 4;
        let pairs = bytes.as_chunks::<4>().0.iter();
        positions.extend(pairs.map(|&[row, row_high, column, column_high]| {
            u32::from(u16::from_le_bytes([row, row_high])) << 16
                | u32::from(u16::from_le_bytes([column, column_high]))
        }));
        let ascend = positions.first().is_none_or(|&first| first >= self.last) && positions.is_sorted();
        ascend.then_some(())
    }

    fn next_bytes(&mut self, len: usize, positions: &mut Vec<u32>) -> Option<()> {
        let mut last = self.last;
        for _ in 0..len {
            last = last.checked_add(take_varint(self.bytes, &mut self.at)?)?;
            positions.push(last);
        }
        Some(())
    }

    fn next_packed(&mut self, positions: &mut Vec<u32>) -> Option<()> {
        if self.at == 1 && self.remaining > 0 {
            self.last = u32::from_le_bytes(*self.bytes.get(1..)?.first_chunk()?);
            self.at = 5;
            positions.push(self.last);
        }
        let mut sums = [0; BLOCK_LEN];
        while positions.len() < self.remaining && positions.len() + BLOCK_LEN <= BATCH_LEN {
            let len = BLOCK_LEN.min(self.remaining - positions.len());
            let (last, read) = unpack_sums(self.bytes.get(self.at..)?, len, self.last, &mut sums)?;
            (self.last, self.at) = (last, self.at + read);
            if len == BLOCK_LEN {
                positions.extend_from_slice(&sums);
            } else {
                positions.extend_from_slice(&sums[..len]);
            }
        }
        Some(())
    }

    fn next_runs(&mut self, len: usize, positions: &mut Vec<u32>) -> Option<()> {
        let mut last = self.last;
        for _ in 0..len {
            if self.run_remaining == 0 {
                let row = row_of(last).checked_add(take_varint(self.bytes, &mut self.at)?)?;
                self.run_remaining = take_varint(self.bytes, &mut self.at)?.checked_sub(1)?;
                let column = take_varint(self.bytes, &mut self.at)?;
                if row > 0xFFFF || column > 0xFFFF || row << 16 | column < last {
                    return None;
                }
                last = row << 16 | column;
            } else {
                last = last.checked_add(take_varint(self.bytes, &mut self.at)?)?;
                self.run_remaining -= 1;
            }
            positions.push(last);
        }
        Some(())
    }

    fn next_bits(&mut self, len: usize, positions: &mut Vec<u32>) -> Option<()> {
        // The rows count from the start, not from the last position decoded.
        let first_row = u32::from(u16::from_le_bytes(*self.bytes.get(1..)?.first_chunk()?));
        while positions.len() < len {
            if self.bits == 0 {
                self.bits = u64::from_le_bytes(*self.bytes.get(self.at + self.word * 8..)?.first_chunk()?);
                self.word += 1;
                continue;
            }
            let word = self.word - 1;
            let row = first_row + (word / self.row_words) as u32;
            let column = (self.first_word + word % self.row_words) as u32 * 64 + self.bits.trailing_zeros();
            self.bits &= self.bits - 1;
            if row > 0xFFFF {
                return None;
            }
            positions.push(row << 16 | column);
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// All chunks of some positions, in rooms of so many bytes.
    fn chunks(positions: &[u32], room: usize) -> Vec<(usize, Vec<u8>)> {
        let (mut rest, mut all) = (positions, Vec::new());
        while !rest.is_empty() {
            let mut bytes = Vec::new();
            let len = encode(rest, room, &mut bytes);
            assert!(len > 0 && bytes.len() <= room, "{} bytes for {len} edges", bytes.len());
            all.push((len, bytes));
            rest = &rest[len..];
        }
        all
    }

    fn decoded(bytes: &[u8], len: usize) -> Option<Vec<u32>> {
        let mut decoder = ChunkDecoder::new(bytes, len)?;
        let (mut all, mut batch) = (Vec::new(), Vec::new());
        while decoder.remaining() > 0 {
            decoder.next(&mut batch)?;
            assert!(!batch.is_empty() && batch.len() <= BATCH_LEN);
            all.extend_from_slice(&batch);
        }
        Some(all)
    }

    fn num_bytes(bytes: &[u8], len: usize) -> usize {
        let (mut decoder, mut batch) = (ChunkDecoder::new(bytes, len).unwrap(), Vec::new());
        while decoder.remaining() > 0 {
            decoder.next(&mut batch).unwrap();
        }
        decoder.num_bytes()
    }

    fn round_trip(positions: &[u32], room: usize) {
        let mut all = Vec::new();
        for (len, mut bytes) in chunks(positions, room) {
            // Other chunks follow in a file.
            bytes.extend([0xA5; 40]);
            let own = num_bytes(&bytes, len);
            all.extend(decoded(&bytes, len).unwrap());
            assert_eq!(decoded(&bytes[..own], len).as_deref(), all.get(all.len() - len..), "{own} bytes");
        }
        assert!(all == positions);
    }

    /// Positions of a shape that one of the codings is made for.
    fn positions() -> impl Strategy<Value = Vec<u32>> {
        let of_range = |range: std::ops::Range<u64>, len: usize| {
            prop::collection::vec(range.prop_map(|position| position as u32), 1..len)
        };
        let rows = prop::collection::vec((any::<u16>(), 1..400u32, 1..300u32), 1..20).prop_map(|rows| {
            let of_row = |(row, count, step): (u16, u32, u32)| {
                (0..count).map(move |k| u32::from(row) << 16 | (k * step) & 0xFFFF)
            };
            rows.into_iter().flat_map(of_row).collect::<Vec<_>>()
        });
        let square = (0..65_000u32, 0..65_000u32, 1..200u32).prop_map(|(row, column, side)| {
            let cell = |cell: u32| (row + cell / side) << 16 | (column + cell % side);
            (0..side * side).filter(|cell| cell % 3 != 1).map(cell).collect()
        });
        let all = prop_oneof![
            of_range(0..1 << 32, 60),
            of_range(0..1 << 32, 9000),
            of_range(1 << 20..1 << 22, 9000),
            of_range(0..60, 300),
            of_range((1 << 32) - 70_000..1 << 32, 5000),
            rows,
            square
        ];
        all.prop_map(|mut positions: Vec<u32>| {
            positions.sort_unstable();
            positions
        })
    }

    proptest! {
        #![proptest_config(esker_format::testing::cases(200))]
        #[test]
        fn what_is_encoded_is_decoded(positions in positions(), room in 64..70_000usize) {
            round_trip(&positions, room);
        }

        #[test]
        fn damaged_chunks_give_ascending_positions_or_nothing(
            positions in positions(), at in any::<prop::sample::Index>(), byte: u8, cut in any::<prop::sample::Index>(), code in 0..8u8,
        ) {
            let (len, mut bytes) = chunks(&positions, 1 << 16).swap_remove(0);
            prop_assert_eq!(decoded(&bytes[..cut.index(bytes.len())], len).filter(|all| all.as_slice() != &positions[..len]), None);
            let at = at.index(bytes.len());
            bytes[at] = byte;
            let first = decoded(&bytes, len);
            bytes[0] = code;
            for all in [first, decoded(&bytes, len)].into_iter().flatten() {
                prop_assert!(all.len() == len && all.is_sorted());
            }
        }
    }

    #[test]
    fn each_coding_is_the_smallest_somewhere() {
        let sparse: Vec<u32> = (0..10_000).map(|k| k * 400_003).collect();
        let dense: Vec<u32> = (0..10_000).map(|k| k / 100 * 65_536 + k % 100).collect();
        let rows: Vec<u32> = (0..10_000).map(|k| k / 50 * 65_536 * 40 + k % 50 * 90).collect();
        let coding = |positions: &[u32]| choose(positions).coding;
        assert_eq!(coding(&sparse), Coding::Packed);
        assert_eq!(coding(&dense), Coding::Bitmap);
        assert_eq!(coding(&rows), Coding::Runs);
        assert_eq!(coding(&[3]), Coding::Bytes);
        assert_eq!(coding(&[0xF000_0000, 0xFFFF_FFFF]), Coding::Pairs);
        round_trip(&[0xFFFF_FFFF], 64);
        round_trip(&[7; 70_000], 64);
        // A whole tile of full rows, where a chunk is as long as it can be.
        round_trip(&(0..200_000).collect::<Vec<_>>(), 1 << 16);
    }

    proptest! {
        #![proptest_config(esker_format::testing::cases(200))]
        /// Sizes that are added up block by block are those of the codings, and no chunk could be a block
        /// longer.
        #[test]
        fn what_fits_is_found_in_one_pass(positions in positions(), room in 64..70_000usize) {
            let positions = &positions[..positions.len().min(CHUNK_LEN_MAX)];
            let Some((len, found)) = fitting(positions, room) else { return Ok(()) };
            let expected = choose(&positions[..len]);
            prop_assert_eq!((found.coding as u8, found.bytes, &found.gaps), (expected.coding as u8, expected.bytes, &expected.gaps));
            let mut bytes = Vec::new();
            put(&positions[..len], &found, &mut bytes);
            prop_assert_eq!(bytes.len(), found.bytes);
            prop_assert!(len == positions.len() || len % BLOCK_LEN == 1);
            if len < positions.len() {
                let more = (len + BLOCK_LEN).min(positions.len());
                let is_dense = Rectangle::around(&positions[..more]).is_some();
                prop_assert!(is_dense || choose(&positions[..more]).bytes > room);
            }
        }
    }
}

//! How much memory the pages of a column take once they are decoded, told by their headers before any is.
//!
//! The header of a page states its size before and after decompression; the `parquet` crate allocates what it
//! states.

use esker_format::Result;
use parquet::column::page::{Page, PageReader};
use parquet::file::reader::{FileReader, SerializedFileReader};

use super::super::contain::damaged;
use super::super::holds::Holds;
use super::super::region::Region;
use super::footer::{Walk, kind};
use super::rows::Leaf;

/// Bytes that are read to find the header of a page; more if that is not enough.
const HEADER_BYTES: u64 = 512;
/// A dictionary that is larger is not decompressed to find its longest text: it may be one text.
const DICTIONARY_BYTES_MAX: u64 = 1 << 24;
/// The longest text of a dictionary is taken to be the value of one row in this many.
const RARE: u64 = 256;
/// Bytes of a number in a list, with its levels and as text.
const LISTED_BYTES: u64 = 32;
/// The longest header: it may hold the least and the greatest value of its page.
const HEADER_BYTES_MAX: u64 = 1 << 24;

/// Sizes of the part of a column that lies in one row group.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ChunkSizes {
    /// The largest page, both as it is stored and decompressed.
    page_bytes: u64,
    /// The dictionary, decompressed.
    dictionary_bytes: u64,
    /// The longest text of the dictionary.
    longest_bytes: u64,
    /// A value, about: of numbers 8; of texts a multiple of the mean of the dictionary, or the mean of the
    /// page where it is largest.
    pub(super) value_bytes: u64,
}

impl ChunkSizes {
    /// Reads the headers of all pages.
    ///
    /// # Errors
    /// If the file cannot be read, or its dictionary is damaged.
    pub(super) fn of(
        region: &Region,
        file: &SerializedFileReader<Region>,
        group: usize,
        leaf: &Leaf,
    ) -> Result<Self> {
        let is_text = leaf.holds() == Holds::Texts;
        let mut sizes = Self { value_bytes: 8, ..Self::default() };
        let column = file.metadata().row_group(group).column(leaf.index());
        let (mut at, bytes) = column.byte_range();
        let end = at.saturating_add(bytes).min(region.bytes());
        while at < end {
            // The crate meets what is wrong with a header, and says so.
            let Some(head) = page_head_at(region, at, end)? else { break };
            if head.is_dictionary {
                sizes.dictionary_bytes = sizes.dictionary_bytes.max(head.decompressed_bytes);
            } else {
                sizes.page_bytes = sizes.page_bytes.max(head.stored_bytes + head.decompressed_bytes);
                if is_text && sizes.dictionary_bytes == 0 {
                    let mean = head.decompressed_bytes / head.num_values.max(1);
                    sizes.value_bytes = sizes.value_bytes.max(mean);
                }
            }
            at = at.saturating_add(head.header_bytes + head.stored_bytes);
        }
        if is_text && sizes.dictionary_bytes > DICTIONARY_BYTES_MAX {
            (sizes.value_bytes, sizes.longest_bytes) =
                (sizes.dictionary_bytes / RARE, sizes.dictionary_bytes);
        } else if is_text && sizes.dictionary_bytes > 0 {
            let lengths = file
                .get_row_group(group)
                .and_then(|group| dictionary_lengths(group.get_column_page_reader(leaf.index())?.as_mut()));
            let (mean, longest) = lengths.map_err(|e| damaged(region.path(), e))?;
            sizes.longest_bytes = longest;
            sizes.value_bytes = sizes.value_bytes.max(4 * mean).max(longest / RARE);
        }
        if leaf.has_lists() {
            let rows = file.metadata().row_group(group).num_rows();
            let numbers = column.num_values().max(0) / rows.max(1);
            sizes.value_bytes = numbers.unsigned_abs().saturating_add(1).saturating_mul(LISTED_BYTES);
        }
        if is_text && let Some(bytes) = column.unencoded_byte_array_data_bytes() {
            let mean =
                u64::try_from(bytes).unwrap_or(0) / u64::try_from(column.num_values()).unwrap_or(1).max(1);
            sizes.value_bytes = sizes.value_bytes.max(mean);
        }
        Ok(sizes)
    }

    /// The most that the texts of `rows` rows can take if they all are the longest text of the dictionary; 0
    /// without a dictionary.
    pub(super) fn shared_bytes(&self, rows: u64) -> u64 {
        self.longest_bytes.saturating_mul(rows)
    }

    /// Memory of a reader: a page, the dictionary as it is read and as it is kept, and some values that are
    /// long.
    pub(super) fn reader_bytes(&self) -> u64 {
        let dictionary_bytes = self.dictionary_bytes.saturating_mul(2);
        self.page_bytes.saturating_add(dictionary_bytes).saturating_add(self.longest_bytes.saturating_mul(4))
    }
}

/// The mean and the greatest length of the texts of the dictionary, which is the first page.
fn dictionary_lengths(pages: &mut dyn PageReader) -> parquet::errors::Result<(u64, u64)> {
    let Some(Page::DictionaryPage { buf, .. }) = pages.get_next_page()? else { return Ok((0, 0)) };
    let (mut rest, mut count, mut sum, mut longest) = (&buf[..], 0, 0, 0);
    while let Some((length, text)) = rest.split_first_chunk::<4>() {
        let length = u64::from(u32::from_le_bytes(*length));
        (count, sum, longest) = (count + 1, sum + length, longest.max(length));
        rest = text.get(length as usize..).unwrap_or_default();
    }
    Ok((sum / count.max(1), longest))
}

/// What the header of a page says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct PageHead {
    header_bytes: u64,
    stored_bytes: u64,
    decompressed_bytes: u64,
    num_values: u64,
    is_dictionary: bool,
}

/// The header at `at`; `None` if there is none before `end`.
fn page_head_at(region: &Region, at: u64, end: u64) -> Result<Option<PageHead>> {
    let mut bytes = HEADER_BYTES;
    loop {
        let read = region.read_vec(at, bytes.min(end - at) as usize)?;
        let head = page_head(&read);
        if head.is_some() || bytes >= HEADER_BYTES_MAX || bytes >= end - at {
            return Ok(head);
        }
        bytes *= 8;
    }
}

/// Apache Parquet, `parquet.thrift`, struct `PageHeader`.
fn page_head(bytes: &[u8]) -> Option<PageHead> {
    let mut walk = Walk { rest: bytes };
    let mut head = PageHead::default();
    let mut field = 0;
    loop {
        let byte = walk.byte()?;
        if byte == 0 {
            head.header_bytes = (bytes.len() - walk.rest.len()) as u64;
            return Some(head);
        }
        field = if byte >> 4 == 0 { integer(&mut walk)? } else { field + u64::from(byte >> 4) };
        match (field, byte & 15) {
            (2, kind::I32) => head.decompressed_bytes = integer(&mut walk)?,
            (3, kind::I32) => head.stored_bytes = integer(&mut walk)?,
            // The headers of data pages, of dictionaries and of data pages of version 2 begin with the number
            // of values.
            (5 | 7 | 8, kind::STRUCT) => {
                let mut inner = walk;
                if inner.byte()? == 0x10 | kind::I32 {
                    head.num_values = integer(&mut inner)?;
                }
                head.is_dictionary = field == 7;
                walk.structure(1)?;
            }
            (_, kind::TRUE | kind::FALSE) => {}
            (_, other) => walk.value(other, 0)?,
        }
    }
}

/// An integer that is not negative.
fn integer(walk: &mut Walk<'_>) -> Option<u64> {
    let zigzag = walk.varint()?;
    (zigzag % 2 == 0).then_some(zigzag / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_of_a_page_is_read_and_a_negative_size_refused() {
        // A dictionary page (2) of 100 bytes, stored in 50, with 10 values in the encoding 0.
        let bytes = [0x15, 4, 0x15, 200, 1, 0x15, 100, 0x4c, 0x15, 20, 0x15, 0, 0, 0, 77];
        let expected = PageHead {
            header_bytes: 14,
            stored_bytes: 50,
            decompressed_bytes: 100,
            num_values: 10,
            is_dictionary: true,
        };
        assert_eq!(page_head(&bytes), Some(expected));
        for cut in 0..14 {
            assert_eq!(page_head(&bytes[..cut]), None, "{cut}");
        }
        assert_eq!(page_head(&[0x15, 4, 0x15, 1, 0x15, 100, 0]), None);
    }
}

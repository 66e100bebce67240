//! Pages on their way to the `parquet` crate, checked for what it takes for granted.
//!
//! Its decoders of delta-coded texts make room for as many lengths as a page claims to have, before they look
//! at one: a damaged count took 100 GB. So the counts are compared with the number of values of the page.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use bytes::Bytes;
use parquet::basic::Encoding as PageEncoding;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result as Decoded};

/// A reader of the pages of a flat column.
pub(super) struct CheckedPages {
    pub(super) inner: Box<dyn PageReader>,
    /// Whether definition levels stand before the values.
    pub(super) optional: bool,
    /// The most values of a page so far.
    pub(super) page_values: Arc<AtomicU32>,
}

impl Iterator for CheckedPages {
    type Item = Decoded<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for CheckedPages {
    fn get_next_page(&mut self) -> Decoded<Option<Page>> {
        let page = self.inner.get_next_page()?;
        if let Some(page) = &page {
            self.page_values.fetch_max(page.num_values(), Ordering::Relaxed);
            check(page, self.optional).ok_or_else(|| {
                ParquetError::General("a page claims more texts than it can hold".to_owned())
            })?;
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Decoded<Option<PageMetadata>> {
        self.inner.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Decoded<()> {
        self.inner.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Decoded<bool> {
        self.inner.at_record_boundary()
    }
}

/// `None` if the page holds more delta-coded lengths than values.
fn check(page: &Page, optional: bool) -> Option<()> {
    let streams = match page.encoding() {
        PageEncoding::DELTA_LENGTH_BYTE_ARRAY => 1,
        PageEncoding::DELTA_BYTE_ARRAY => 2,
        _ => return Some(()),
    };
    let mut at = values_start(page, optional)?;
    for _ in 0..streams {
        at = delta_end(page.buffer(), at, page.num_values().into())?;
    }
    Some(())
}

/// Where the values of a page begin.
fn values_start(page: &Page, optional: bool) -> Option<usize> {
    match page {
        Page::DataPage { buf, def_level_encoding: PageEncoding::RLE, .. } if optional => {
            let length: [u8; 4] = buf.get(..4)?.try_into().ok()?;
            Some(4 + u32::from_le_bytes(length) as usize)
        }
        // Bit-packed levels: a bit each.
        Page::DataPage { num_values, .. } if optional => Some((*num_values as usize).div_ceil(8)),
        Page::DataPageV2 { def_levels_byte_len, rep_levels_byte_len, .. } => {
            Some(*def_levels_byte_len as usize + *rep_levels_byte_len as usize)
        }
        _ => Some(0),
    }
}

/// Where a delta-coded run of at most `count_max` integers ends that begins at `start`: Apache Parquet,
/// "Encodings", section "Delta Encoding".
fn delta_end(bytes: &Bytes, start: usize, count_max: u64) -> Option<usize> {
    let mut at = start;
    let block = varint(bytes, &mut at)?;
    let miniblocks = varint(bytes, &mut at)?;
    let count = varint(bytes, &mut at)?;
    varint(bytes, &mut at)?; // the first value
    if count > count_max || miniblocks == 0 || miniblocks > bytes.len() as u64 {
        return None;
    }
    let per_miniblock = block / miniblocks;
    let mut left = count.saturating_sub(1);
    if left > 0 && per_miniblock == 0 {
        return None;
    }
    while left > 0 {
        varint(bytes, &mut at)?; // the smallest difference
        let widths = bytes.get(at..at.checked_add(miniblocks as usize)?)?;
        at += widths.len();
        for &width in widths {
            if left > 0 {
                let bits = per_miniblock.checked_mul(width.into())?;
                at = at.checked_add(usize::try_from(bits / 8).ok()?)?;
                left = left.saturating_sub(per_miniblock);
            }
        }
    }
    // The padding of the last miniblock may be missing.
    Some(at.min(bytes.len()))
}

fn varint(bytes: &Bytes, at: &mut usize) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, RecordBatch, StringArray};
    use parquet::arrow::ArrowWriter;
    use parquet::file::properties::{WriterProperties, WriterVersion};
    use parquet::file::reader::{FileReader, SerializedFileReader};

    use super::*;

    /// The data pages of a column of texts, some of them null, in the given encoding.
    fn pages(count: usize, nulls: bool, encoding: PageEncoding, version: WriterVersion) -> Vec<Page> {
        let text = |i: usize| (!nulls || !i.is_multiple_of(3)).then(|| format!("text {}", i * i % 977));
        let texts: ArrayRef = Arc::new((0..count).map(text).collect::<StringArray>());
        let table = RecordBatch::try_from_iter_with_nullable([("text", texts, nulls)]).unwrap();
        let properties = WriterProperties::builder()
            .set_dictionary_enabled(false)
            .set_encoding(encoding)
            .set_writer_version(version)
            .set_data_page_row_count_limit(700)
            .set_write_batch_size(100);
        let mut writer = ArrowWriter::try_new(Vec::new(), table.schema(), Some(properties.build())).unwrap();
        writer.write(&table).unwrap();
        let reader = SerializedFileReader::new(Bytes::from(writer.into_inner().unwrap())).unwrap();
        let pages = reader.get_row_group(0).unwrap().get_column_page_reader(0).unwrap();
        pages.map(Result::unwrap).collect()
    }

    #[test]
    fn delta_coded_pages_pass_and_a_claim_of_billions_of_texts_is_noticed() {
        for encoding in [PageEncoding::DELTA_BYTE_ARRAY, PageEncoding::DELTA_LENGTH_BYTE_ARRAY] {
            for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
                for (count, nulls) in [(1, false), (2, false), (5000, false), (5000, true)] {
                    let pages = pages(count, nulls, encoding, version);
                    assert!(pages.iter().all(|page| page.encoding() == encoding));
                    for page in &pages {
                        assert_eq!(check(page, nulls), Some(()), "{encoding} {version:?} {count} {nulls}");
                    }
                    // A count of 2^34 in place of the true one: five bytes instead of one or two.
                    let Some(Page::DataPage { buf, num_values, .. }) = pages.into_iter().next() else {
                        continue;
                    };
                    let start =
                        if nulls { 4 + u32::from_le_bytes(buf[..4].try_into().unwrap()) as usize } else { 0 };
                    let mut forged = buf[..start].to_vec();
                    forged.extend([0x80, 1, 4, 0x80, 0x80, 0x80, 0x80, 0x40, 0, 0, 0, 0, 0, 0, 0]);
                    assert_eq!(delta_end(&forged.into(), start, num_values.into()), None);
                }
            }
        }
    }
}

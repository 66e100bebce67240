//! How much memory the batches of an Arrow file take once they are decoded, told before any is.
//!
//! A buffer that is not compressed stays in the mapped file. A compressed one states its length in its first
//! eight bytes; [`super::messages::buffer`] checks claims that are implausible, before memory is taken for
//! them.

use std::ops::Range;

use arrow_ipc::{Block as Position, root_as_message};
use arrow_schema::{DataType, Schema};
use esker_format::Result;

use super::super::contain::damaged;
use super::super::region::Region;
use super::super::runs::run_rows;
use super::messages::{BatchEntry, end_of};

/// Sizes of the chosen columns.
#[derive(Debug)]
pub(super) struct Sizes {
    /// Memory of the largest batch.
    pub(super) batch_bytes: u64,
    /// Memory of all dictionaries.
    pub(super) dictionary_bytes: u64,
    /// For each batch, the rows of its runs.
    pub(super) run_rows: Vec<u64>,
    /// For each batch, the part of the file from its first chosen buffer to its last.
    pub(super) places: Vec<Range<u64>>,
}

/// Bytes of some buffers.
#[derive(Debug, Clone, Default)]
struct BufferBytes {
    /// With compressed ones inflated.
    all: u64,
    /// Of those that are compressed.
    inflated: u64,
    rows: u64,
    /// Where they lie in the file.
    place: Option<Range<u64>>,
}

impl Sizes {
    /// Reads the lengths of the buffers of the columns `chosen`.
    ///
    /// # Errors
    /// If a message is damaged.
    pub(super) fn of(
        region: &Region,
        schema: &Schema,
        chosen: &[usize],
        batches: &[BatchEntry],
        dictionaries: &[Position],
    ) -> Result<Self> {
        let wanted = buffers_of(schema, chosen);
        let mut sizes =
            Self { batch_bytes: 0, dictionary_bytes: 0, run_rows: Vec::new(), places: Vec::new() };
        let mut text_bytes = 0;
        for position in dictionaries {
            let content = content(region, position, None)?;
            sizes.dictionary_bytes = sizes.dictionary_bytes.saturating_add(content.inflated);
            text_bytes = text_bytes.max(2 * content.all / content.rows.max(1));
        }
        let coded =
            chosen.iter().filter(|&&column| is_coded(schema.field(column).data_type())).count() as u64;
        for batch in batches {
            let content = content(region, &batch.position, wanted.as_deref())?;
            sizes.batch_bytes = sizes.batch_bytes.max(content.inflated);
            // Narrow numbers become wide ones, and codes texts, of twice the mean length perhaps.
            let least = 8 * chosen.len() as u64 + coded.saturating_mul(text_bytes);
            sizes.run_rows.push(run_rows(least.max(content.all / batch.rows.max(1))));
            sizes.places.push(content.place.unwrap_or(0..0));
        }
        Ok(sizes)
    }
}

/// The buffers of a message; `wanted` tells which of a record batch's count, all if `None`.
fn content(region: &Region, position: &Position, wanted: Option<&[Range<usize>]>) -> Result<BufferBytes> {
    let failed = || damaged(region.path(), "a message states an impossible length");
    let start = u64::try_from(position.offset()).map_err(|_| failed())?;
    let meta_bytes = usize::try_from(position.metaDataLength()).map_err(|_| failed())?;
    let body = start + meta_bytes as u64;
    let meta = region.read_vec(start, meta_bytes)?;
    let prefix = if meta.starts_with(&[0xff; 4]) { 8 } else { 4 };
    let header =
        root_as_message(meta.get(prefix..).ok_or_else(failed)?).map_err(|e| damaged(region.path(), e))?;
    let batch = match header.header_as_dictionary_batch() {
        Some(dictionary) => dictionary.data(),
        None => header.header_as_record_batch(),
    };
    let batch = batch.ok_or_else(failed)?;
    let is_compressed = batch.compression().is_some();
    let mut content =
        BufferBytes { rows: u64::try_from(batch.length()).map_err(|_| failed())?, ..BufferBytes::default() };
    for (index, buffer) in batch.buffers().into_iter().flatten().enumerate() {
        if wanted.is_some_and(|wanted| !wanted.iter().any(|range| range.contains(&index))) {
            continue;
        }
        let (offset, length) = (u64::try_from(buffer.offset()), u64::try_from(buffer.length()));
        let (Ok(offset), Ok(length)) = (offset, length) else { return Err(failed()) };
        let at = body.checked_add(offset).ok_or_else(failed)?;
        let end = at.checked_add(length).filter(|&end| end <= end_of(position)).ok_or_else(failed)?;
        let before = content.place.take().unwrap_or(at..end);
        content.place = Some(before.start.min(at)..before.end.max(end));
        let mut claim = [0xff; 8];
        if is_compressed && length >= 8 {
            region.read(&mut claim, at)?;
        }
        // -1: not compressed after all.
        match u64::try_from(i64::from_le_bytes(claim)) {
            Ok(claim) => {
                content.inflated = content.inflated.saturating_add(claim);
                content.all = content.all.saturating_add(claim);
            }
            Err(_) => content.all = content.all.saturating_add(length),
        }
    }
    Ok(content)
}

/// The buffers of the columns `chosen` in each record batch; `None` if their number depends on the batch.
fn buffers_of(schema: &Schema, chosen: &[usize]) -> Option<Vec<Range<usize>>> {
    let mut end = 0;
    let mut wanted = Vec::new();
    for (index, field) in schema.fields().iter().enumerate() {
        let start = end;
        end += num_buffers(field.data_type())?;
        if chosen.contains(&index) {
            wanted.push(start..end);
        }
    }
    Some(wanted)
}

/// Buffers of an array: Apache Arrow, "Columnar format", section "Buffer listing for each layout".
fn num_buffers(data_type: &DataType) -> Option<usize> {
    use DataType as T;
    Some(match data_type {
        T::Null => 0,
        T::Utf8 | T::LargeUtf8 | T::Binary | T::LargeBinary => 3,
        T::FixedSizeBinary(_) | T::Dictionary(..) | T::Boolean => 2,
        T::List(item) | T::LargeList(item) | T::Map(item, _) => 2 + num_buffers(item.data_type())?,
        T::FixedSizeList(item, _) => 1 + num_buffers(item.data_type())?,
        T::Struct(fields) => {
            let inner: Option<Vec<_>> = fields.iter().map(|field| num_buffers(field.data_type())).collect();
            1 + inner?.iter().sum::<usize>()
        }
        other if other.is_primitive() => 2,
        _ => return None,
    })
}

fn is_coded(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Dictionary(..) | DataType::RunEndEncoded(..))
}

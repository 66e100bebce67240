//! Values of a column from the buffers of a record batch.

use arrow_array::types::{ArrowPrimitiveType, Float16Type};
use esker_format::Result;

use super::super::table::{Data, Values};
use super::body::Body;
use super::layout::{Field, Kind};
use crate::source::TextColumn;

/// Bytes of a view, and of the texts that it holds itself.
const VIEW_BYTES: u64 = 16;
const INLINE_BYTES_MAX: u32 = 12;
/// How many times the texts' bytes may be read to have them in one piece, and how many bytes in any case.
const SPREAD_MAX: u64 = 4;
const SPREAD_BYTES: u64 = 1 << 20;

/// The values of rows `start..start + rows`; of indices, if the column has a dictionary.
///
/// # Errors
/// If buffers are shorter than they should be, or offsets point outside.
pub(super) fn read_column(body: &Body<'_>, field: &Field, start: u64, rows: u64) -> Result<Values> {
    if start.checked_add(rows).is_none_or(|end| end > body.rows()) {
        return Err(body.damaged("rows are wanted that a batch does not have"));
    }
    let nulls = body.null_count(field.place)?;
    let first = body.first_buffer(field.place)?;
    if rows == 0 {
        return Ok(Values { data: empty(field.kind), valid: None });
    }
    let valid = if nulls == 0 { None } else { Some(read_bits(body, first, start, rows)?) };
    let valid = valid.filter(|valid| valid.contains(&false));
    let data = match field.kind {
        Kind::Signed(width) => Data::Int(match width {
            1 => fixed(body, first + 1, start, rows, |b: [u8; 1]| i64::from(i8::from_le_bytes(b)))?,
            2 => fixed(body, first + 1, start, rows, |b| i64::from(i16::from_le_bytes(b)))?,
            4 => fixed(body, first + 1, start, rows, |b| i64::from(i32::from_le_bytes(b)))?,
            _ => fixed(body, first + 1, start, rows, i64::from_le_bytes)?,
        }),
        Kind::Unsigned(width) => Data::Unsigned(match width {
            1 => fixed(body, first + 1, start, rows, |b: [u8; 1]| u64::from(b[0]))?,
            2 => fixed(body, first + 1, start, rows, |b| u64::from(u16::from_le_bytes(b)))?,
            4 => fixed(body, first + 1, start, rows, |b| u64::from(u32::from_le_bytes(b)))?,
            _ => fixed(body, first + 1, start, rows, u64::from_le_bytes)?,
        }),
        Kind::Half => Data::Float(fixed(body, first + 1, start, rows, |b| {
            <Float16Type as ArrowPrimitiveType>::Native::from_le_bytes(b).to_f64()
        })?),
        Kind::Single => {
            Data::Float(fixed(body, first + 1, start, rows, |b| f64::from(f32::from_le_bytes(b)))?)
        }
        Kind::Double => Data::Float(fixed(body, first + 1, start, rows, f64::from_le_bytes)?),
        Kind::Decimal(width, scale) => {
            let divisor = 10_f64.powi(scale);
            Data::Float(match width {
                4 => fixed(body, first + 1, start, rows, |b| f64::from(i32::from_le_bytes(b)) / divisor)?,
                8 => fixed(body, first + 1, start, rows, |b| i64::from_le_bytes(b) as f64 / divisor)?,
                _ => fixed(body, first + 1, start, rows, |b| i128::from_le_bytes(b) as f64 / divisor)?,
            })
        }
        Kind::Boolean => {
            let bits = read_bits(body, first + 1, start, rows)?;
            Data::Int(bits.into_iter().map(i64::from).collect())
        }
        Kind::Text => {
            let offsets = fixed(body, first + 1, start, rows + 1, |b| i64::from(i32::from_le_bytes(b)))?;
            Data::Text(texts(body, first + 2, &offsets)?)
        }
        Kind::LargeText => {
            let offsets = fixed(body, first + 1, start, rows + 1, i64::from_le_bytes)?;
            Data::Text(texts(body, first + 2, &offsets)?)
        }
        Kind::TextView => {
            let views = body.read(first + 1, start * VIEW_BYTES, rows * VIEW_BYTES)?;
            let data_buffers = first + 2..first + 2 + body.view_buffers(field.place)?;
            Data::Text(viewed(body, data_buffers, &views, valid.as_deref())?)
        }
        Kind::Other => return Err(body.damaged("the type of the column is not known")),
    };
    Ok(Values { data, valid })
}

fn empty(kind: Kind) -> Data {
    match kind {
        Kind::Signed(_) | Kind::Boolean | Kind::Other => Data::Int(Vec::new()),
        Kind::Unsigned(_) => Data::Unsigned(Vec::new()),
        Kind::Half | Kind::Single | Kind::Double | Kind::Decimal(..) => Data::Float(Vec::new()),
        Kind::Text | Kind::LargeText | Kind::TextView => Data::Text(TextColumn::default()),
    }
}

/// Values of `N` bytes each.
fn fixed<T, const N: usize>(
    body: &Body<'_>,
    buffer: usize,
    start: u64,
    rows: u64,
    value: impl Fn([u8; N]) -> T,
) -> Result<Vec<T>> {
    let bytes = body.read(buffer, start * N as u64, rows * N as u64)?;
    Ok(bytes.as_chunks::<N>().0.iter().map(|bytes| value(*bytes)).collect())
}

fn read_bits(body: &Body<'_>, buffer: usize, start: u64, rows: u64) -> Result<Vec<bool>> {
    let (first, end) = (start / 8, (start + rows).div_ceil(8));
    let bytes = body.read(buffer, first, end - first)?;
    let shift = (start % 8) as usize;
    Ok((shift..shift + rows as usize).map(|bit| bytes[bit / 8] >> (bit % 8) & 1 != 0).collect())
}

/// Texts between consecutive offsets into a buffer.
fn texts(body: &Body<'_>, buffer: usize, offsets: &[i64]) -> Result<TextColumn> {
    let wrong = || body.damaged("the offsets of its texts do not ascend");
    let (Some(&first), Some(&last)) = (offsets.first(), offsets.last()) else {
        return Ok(TextColumn::default());
    };
    if first < 0 || !offsets.is_sorted() {
        return Err(wrong());
    }
    let bytes = body.read(buffer, first.cast_unsigned(), (last - first).cast_unsigned())?;
    let ends = offsets[1..].iter().map(|offset| (offset - first) as usize).collect();
    Ok(TextColumn { bytes, ends })
}

/// A view: the length of a text, and its first 12 bytes or where it lies.
struct View<'a> {
    bytes: &'a [u8; 16],
}

impl View<'_> {
    fn word(&self, at: usize) -> u32 {
        u32::from_le_bytes([self.bytes[at], self.bytes[at + 1], self.bytes[at + 2], self.bytes[at + 3]])
    }

    fn length(&self) -> u32 {
        self.word(0)
    }

    fn inline(&self) -> Option<&[u8]> {
        (self.length() <= INLINE_BYTES_MAX).then(|| &self.bytes[4..4 + self.length() as usize])
    }

    fn buffer(&self) -> usize {
        self.word(8) as usize
    }

    fn offset(&self) -> u64 {
        u64::from(self.word(12))
    }
}

/// The part of a data buffer that a run of views needs.
#[derive(Debug, Clone, Default)]
struct Extent {
    from: u64,
    end: u64,
    wanted: u64,
    /// Empty if the texts lie too far apart to be read together.
    bytes: Vec<u8>,
}

fn viewed(
    body: &Body<'_>,
    buffers: std::ops::Range<usize>,
    views: &[u8],
    valid: Option<&[bool]>,
) -> Result<TextColumn> {
    let outside = || body.damaged("a text lies outside of its buffers");
    let (views, _) = views.as_chunks::<16>();
    let is_valid = |row: usize| valid.is_none_or(|valid| valid[row]);
    let mut extents: Vec<Option<Extent>> = Vec::new();
    for (row, bytes) in views.iter().enumerate() {
        let view = View { bytes };
        if !is_valid(row) || view.inline().is_some() {
            continue;
        }
        if view.buffer() >= buffers.len() || view.length() > i32::MAX as u32 {
            return Err(outside());
        }
        if extents.len() <= view.buffer() {
            extents.resize(view.buffer() + 1, None);
        }
        let (from, length) = (view.offset(), u64::from(view.length()));
        let extent =
            extents[view.buffer()].get_or_insert_with(|| Extent { from, end: from, ..Extent::default() });
        extent.from = extent.from.min(from);
        extent.end = extent.end.max(from + length);
        extent.wanted += length;
    }
    for (index, extent) in extents.iter_mut().enumerate().filter_map(|(i, e)| Some((i, e.as_mut()?))) {
        let bytes = extent.end - extent.from;
        if bytes <= (extent.wanted * SPREAD_MAX).max(SPREAD_BYTES) {
            extent.bytes = body.read(buffers.start + index, extent.from, bytes)?;
        }
    }
    let mut texts = TextColumn::default();
    for (row, bytes) in views.iter().enumerate() {
        let view = View { bytes };
        if !is_valid(row) {
            texts.push(b"");
        } else if let Some(text) = view.inline() {
            texts.push(text);
        } else if let Some(Some(extent)) = extents.get(view.buffer()) {
            let (from, length) = (view.offset(), view.length() as usize);
            if extent.bytes.is_empty() {
                texts.push(&body.read(buffers.start + view.buffer(), from, length as u64)?);
            } else {
                let from = (from - extent.from) as usize;
                texts.push(extent.bytes.get(from..from + length).ok_or_else(outside)?);
            }
        }
    }
    Ok(texts)
}

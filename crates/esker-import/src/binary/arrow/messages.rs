//! The messages of an Arrow IPC file or stream: where they lie, and checks that the `arrow-ipc` crate leaves
//! out.

use std::io::{Read, sink};
use std::ops::Range;
use std::sync::Arc;

use arrow_buffer::Buffer;
use arrow_ipc::convert::fb_to_schema;
use arrow_ipc::{
    Block as Position, CompressionType, Endianness, MessageHeader, MetadataVersion, RecordBatch, Schema,
    root_as_footer, root_as_message,
};
use arrow_schema::{ArrowError, SchemaRef};
use bytes::Bytes;
use esker_format::Result;

use super::super::contain::damaged;
use super::super::region::Region;

/// The first and the last bytes of the file form.
const FILE_MAGIC: &[u8; 6] = b"ARROW1";
/// Precedes the length of a message, except in files older than 2019.
const CONTINUATION: [u8; 4] = [0xff; 4];
/// Bytes at the end of a file: the length of the footer, and the magic.
const TRAILER_BYTES: u64 = 10;
/// A compressed buffer that claims to hold more is decompressed once to find out, before memory is taken for
/// it.
const TRUSTED_BYTES: u64 = 1 << 26;
/// ... and so is one that claims to be compressed better than this.
const TRUSTED_RATIO: u64 = 8;

/// A record batch.
#[derive(Debug, Clone)]
pub(super) struct BatchEntry {
    /// The whole message. It was checked to lie within the file.
    pub(super) position: Position,
    pub(super) rows: u64,
    /// How many messages of dictionaries come before it.
    pub(super) dictionaries: usize,
}

/// What a file holds.
#[derive(Debug)]
pub(super) struct Contents {
    pub(super) schema: SchemaRef,
    pub(super) version: MetadataVersion,
    pub(super) batches: Vec<BatchEntry>,
    pub(super) dictionaries: Vec<Position>,
}

/// Finds all messages.
///
/// # Errors
/// If the file is no Arrow file, or is damaged or cut short.
pub(super) fn contents(region: &Region) -> Result<Contents> {
    let head = region.read_vec(0, region.bytes().min(6) as usize)?;
    if head.starts_with(b"FEA1") {
        return Err(
            region.unusable("it is a Feather file of version 1; write it again as version 2 (Arrow IPC)")
        );
    }
    if head == FILE_MAGIC { file_contents(region) } else { stream_contents(region) }
}

fn file_contents(region: &Region) -> Result<Contents> {
    let short =
        || damaged(region.path(), "the footer of the Arrow file is missing: it was not written to its end");
    let trailer_at = region.bytes().checked_sub(TRAILER_BYTES).ok_or_else(short)?;
    let trailer = region.read_vec(trailer_at, TRAILER_BYTES as usize)?;
    let footer_bytes = u32::from_le_bytes([trailer[0], trailer[1], trailer[2], trailer[3]]);
    let footer_at = trailer_at.checked_sub(u64::from(footer_bytes)).ok_or_else(short)?;
    if &trailer[4..] != FILE_MAGIC {
        return Err(short());
    }
    let bytes = region.read_vec(footer_at, footer_bytes as usize)?;
    let footer = root_as_footer(&bytes).map_err(|e| damaged(region.path(), e))?;
    let mut found = Contents::new(region, footer.schema(), footer.version())?;
    let positions = footer.dictionaries().into_iter().chain(footer.recordBatches()).flatten();
    for position in positions {
        let offset = u64::try_from(position.offset())
            .map_err(|_| damaged(region.path(), "a message has a negative offset"))?;
        let (message, meta) = read_message(region, offset)?
            .ok_or_else(|| damaged(region.path(), "the footer names a message that is not there"))?;
        found.take(region, message, &meta)?;
    }
    Ok(found)
}

fn stream_contents(region: &Region) -> Result<Contents> {
    let Some((first, meta)) = read_message(region, 0)? else {
        return Err(region.unusable("it is neither an Arrow file nor an Arrow stream"));
    };
    let header = root_as_message(&meta).map_err(|e| damaged(region.path(), e))?;
    if header.header_type() != MessageHeader::Schema {
        return Err(damaged(region.path(), "an Arrow stream begins with its schema, but this does not"));
    }
    let mut found = Contents::new(region, header.header_as_schema(), header.version())?;
    let mut offset = end_of(&first);
    while let Some((message, meta)) = read_message(region, offset)? {
        found.take(region, message, &meta)?;
        offset = end_of(&message);
    }
    Ok(found)
}

impl Contents {
    fn new(region: &Region, schema: Option<Schema<'_>>, version: MetadataVersion) -> Result<Self> {
        let schema = schema.ok_or_else(|| damaged(region.path(), "the schema is missing"))?;
        if schema.endianness() != Endianness::Little {
            return Err(damaged(region.path(), "its numbers are big-endian"));
        }
        let schema = Arc::new(fb_to_schema(schema));
        Ok(Self { schema, version, batches: Vec::new(), dictionaries: Vec::new() })
    }

    fn take(&mut self, region: &Region, position: Position, meta: &[u8]) -> Result<()> {
        let header = root_as_message(meta).map_err(|e| damaged(region.path(), e))?;
        if let Some(batch) = header.header_as_record_batch() {
            let rows = u64::try_from(batch.length()).ok().filter(|rows| *rows <= i64::MAX as u64 >> 8);
            let rows =
                rows.ok_or_else(|| damaged(region.path(), "a batch has an impossible number of rows"))?;
            self.batches.push(BatchEntry { position, rows, dictionaries: self.dictionaries.len() });
        } else if header.header_as_dictionary_batch().is_some() {
            self.dictionaries.push(position);
        } else {
            return Err(damaged(region.path(), "a message is neither a record batch nor a dictionary"));
        }
        Ok(())
    }
}

/// The message at `offset` and its metadata; `None` at the end of a stream.
fn read_message(region: &Region, offset: u64) -> Result<Option<(Position, Vec<u8>)>> {
    if offset == region.bytes() {
        return Ok(None);
    }
    let word = |at: u64| -> Result<[u8; 4]> {
        let mut bytes = [0; 4];
        region.read(&mut bytes, at)?;
        Ok(bytes)
    };
    let (mut length, mut at) = (word(offset)?, offset + 4);
    if length == CONTINUATION {
        (length, at) = (word(at)?, at + 4);
    }
    let bytes = u32::from_le_bytes(length);
    if bytes == 0 {
        return Ok(None);
    }
    let meta = region.read_vec(at, bytes as usize)?;
    let header = root_as_message(&meta).map_err(|e| damaged(region.path(), e))?;
    let body_bytes = u64::try_from(header.bodyLength()).unwrap_or(u64::MAX);
    let body_offset = at + u64::from(bytes);
    if body_bytes > region.bytes() - body_offset {
        return Err(damaged(region.path(), "a message is longer than the file: it is cut short"));
    }
    let meta_bytes = i32::try_from(body_offset - offset)
        .map_err(|_| damaged(region.path(), "a message has too much metadata"))?;
    Ok(Some((Position::new(offset.cast_signed(), meta_bytes, body_bytes.cast_signed()), meta)))
}

/// Where the metadata of the message lies, with the length before it.
pub(super) fn metadata(position: &Position) -> Range<u64> {
    let start = position.offset().cast_unsigned();
    start..start + u64::from(position.metaDataLength().cast_unsigned())
}

/// Where the message ends. It was checked to lie within the file.
pub(super) fn end_of(position: &Position) -> u64 {
    (position.offset() + i64::from(position.metaDataLength()) + position.bodyLength()).cast_unsigned()
}

/// The bytes of a message, without a copy.
///
/// # Errors
/// If a compressed buffer does not hold as much as it claims.
pub(super) fn buffer(file: &Bytes, position: &Position) -> std::result::Result<Buffer, ArrowError> {
    let message = file.slice(position.offset() as usize..end_of(position) as usize);
    let (meta, body) = message.split_at(position.metaDataLength() as usize);
    let prefix = if meta.starts_with(&CONTINUATION) { 8 } else { 4 };
    let header = root_as_message(&meta[prefix..]).map_err(|e| ArrowError::IpcError(e.to_string()))?;
    let batch = match header.header_as_dictionary_batch() {
        Some(dictionary) => dictionary.data(),
        None => header.header_as_record_batch(),
    };
    check_claims(batch, body).ok_or_else(|| {
        ArrowError::IpcError("a compressed buffer has another length than stated".to_owned())
    })?;
    Ok(Buffer::from(message))
}

/// `None` if a compressed buffer claims an implausible length that it does not have: the crate would take
/// that much memory before it looks.
fn check_claims(batch: Option<RecordBatch<'_>>, body: &[u8]) -> Option<()> {
    let Some(compression) = batch.and_then(|batch| batch.compression()) else { return Some(()) };
    for buffer in batch.and_then(|batch| batch.buffers()).into_iter().flatten() {
        let (offset, length) =
            (usize::try_from(buffer.offset()).ok()?, usize::try_from(buffer.length()).ok()?);
        let stored = body.get(offset..offset.checked_add(length)?)?;
        let Some((claim, data)) = stored.split_first_chunk::<8>() else { continue };
        // -1: the buffer is not compressed after all. The crate refuses other negative lengths.
        let Ok(claim) = u64::try_from(i64::from_le_bytes(*claim)) else { continue };
        if claim <= TRUSTED_BYTES || claim <= TRUSTED_RATIO * data.len() as u64 {
            continue;
        }
        let held = match compression.codec() {
            CompressionType::LZ4_FRAME => count(lz4_flex::frame::FrameDecoder::new(data), claim),
            CompressionType::ZSTD => count(zstd::Decoder::with_buffer(data).ok()?, claim),
            _ => return None,
        };
        if held != Some(claim) {
            return None;
        }
    }
    Some(())
}

/// The bytes that a decoder gives, counted up to one more than `limit`.
fn count(decoder: impl Read, limit: u64) -> Option<u64> {
    std::io::copy(&mut decoder.take(limit + 1), &mut sink()).ok()
}

#[cfg(test)]
mod tests {
    use arrow_array::{ArrayRef, Int64Array, RecordBatch};
    use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};

    use super::*;

    #[test]
    fn a_claim_of_gigabytes_is_checked_before_memory_is_taken() {
        for compression in [CompressionType::LZ4_FRAME, CompressionType::ZSTD] {
            let column: ArrayRef = Arc::new(Int64Array::from_iter_values((0..5000).map(|i| i / 8)));
            let table = RecordBatch::try_from_iter([("u", column)]).unwrap();
            let options = IpcWriteOptions::default().try_with_compression(Some(compression)).unwrap();
            let mut writer =
                StreamWriter::try_new_with_options(Vec::new(), &table.schema(), options).unwrap();
            writer.write(&table).unwrap();
            let good = writer.into_inner().unwrap();
            let region = |bytes: &[u8]| {
                let input = crate::read::input::Input::memory("edges", bytes);
                Region::open(&input, &super::super::ARROW).unwrap()
            };
            let found = contents(&region(&good)).unwrap();
            let position = found.batches[0].position;
            let read = |bytes: Vec<u8>| buffer(&Bytes::from(bytes), &position).is_ok();
            assert!(read(good.clone()));
            let claim = 40_000_u64.to_le_bytes();
            let at = good.windows(8).position(|bytes| bytes == claim).unwrap();
            let mut forged = good.clone();
            forged[at + 4] = 8; // 32 GiB more
            assert!(!read(forged));
        }
    }
}

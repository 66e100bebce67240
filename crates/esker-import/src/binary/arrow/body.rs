//! The buffers of a record batch, plain or compressed, read in parts.

use std::collections::HashMap;
use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_ipc::{BodyCompressionMethod, CompressionType, RecordBatch, root_as_message};
use esker_format::{Error, Result};

use super::super::region::Region;
use super::super::table::damaged;
use super::layout::Place;
use super::message::{Message, read_message};

/// Decompressed buffers, by their index.
#[derive(Debug, Default)]
pub(super) struct Inflated(Mutex<HashMap<usize, Arc<Vec<u8>>>>);

/// A record batch (or the one inside a dictionary) whose buffers can be read.
#[derive(Debug)]
pub(super) struct Body<'a> {
    region: &'a Region,
    message: Message,
    rows: u64,
    nodes: Vec<(i64, i64)>,
    buffers: Vec<(i64, i64)>,
    variadic: Vec<i64>,
    compression: Option<CompressionType>,
    inflated: Arc<Inflated>,
}

impl<'a> Body<'a> {
    /// Reads the metadata of a message. Decompressed buffers go to `inflated`, to be shared, or are this body's own.
    pub(super) fn open(
        region: &'a Region,
        message: Message,
        is_dictionary: bool,
        inflated: Option<Arc<Inflated>>,
    ) -> Result<Self> {
        let gone = || damaged(region.path(), "a message has changed while the file was read");
        let (again, meta) = read_message(region, message.offset)?.ok_or_else(gone)?;
        if again != message {
            return Err(gone());
        }
        let header = root_as_message(&meta).map_err(|e| damaged(region.path(), e))?;
        let batch = if is_dictionary {
            header.header_as_dictionary_batch().and_then(|dictionary| dictionary.data())
        } else {
            header.header_as_record_batch()
        };
        let batch: RecordBatch<'_> = batch.ok_or_else(gone)?;
        let compression = match batch.compression() {
            None => None,
            Some(how) if how.method() == BodyCompressionMethod::BUFFER => Some(how.codec()),
            Some(_) => return Err(damaged(region.path(), "it is compressed in a way that is not known")),
        };
        Ok(Self {
            region,
            message,
            rows: u64::try_from(batch.length()).map_err(|_| gone())?,
            nodes: batch.nodes().iter().flatten().map(|n| (n.length(), n.null_count())).collect(),
            buffers: batch.buffers().iter().flatten().map(|b| (b.offset(), b.length())).collect(),
            variadic: batch.variadicBufferCounts().iter().flatten().collect(),
            compression,
            inflated: inflated.unwrap_or_default(),
        })
    }

    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// Nulls of the column at `place`.
    pub(super) fn null_count(&self, place: Place) -> Result<u64> {
        let node = self.nodes.get(place.node).filter(|(length, _)| u64::try_from(*length) == Ok(self.rows));
        let count = node.and_then(|(_, nulls)| u64::try_from(*nulls).ok());
        count.ok_or_else(|| self.damaged("a column has another length than its batch"))
    }

    /// The index of the first buffer of the column at `place`.
    pub(super) fn first_buffer(&self, place: Place) -> Result<usize> {
        let before = self.variadic.get(..place.views);
        let sum = before.and_then(|counts| {
            counts.iter().try_fold(place.buffer, |sum, &count| sum.checked_add(usize::try_from(count).ok()?))
        });
        sum.ok_or_else(|| self.damaged("the counts of its view buffers are missing"))
    }

    /// How many data buffers the column of views at `place` has.
    pub(super) fn view_buffers(&self, place: Place) -> Result<usize> {
        let count = self.variadic.get(place.views).and_then(|&count| usize::try_from(count).ok());
        let count = count.filter(|count| *count <= self.buffers.len());
        count.ok_or_else(|| self.damaged("the counts of its view buffers are missing"))
    }

    /// `bytes` bytes of a buffer from `from` on.
    pub(super) fn read(&self, buffer: usize, from: u64, bytes: u64) -> Result<Vec<u8>> {
        let short = || self.damaged("a buffer is shorter than its column");
        let end = from.checked_add(bytes).ok_or_else(short)?;
        let (offset, length) = self.locate(buffer)?;
        if self.compression.is_some() {
            let whole = self.inflate(buffer, offset, length)?;
            let part = usize::try_from(from).ok().zip(usize::try_from(end).ok());
            return part.and_then(|(from, end)| whole.get(from..end)).map(<[u8]>::to_vec).ok_or_else(short);
        }
        if end > length {
            return Err(short());
        }
        self.region.read_vec(self.message.body_offset + offset + from, bytes as usize)
    }

    /// Offset in the body and length of a buffer, checked to lie within the body.
    fn locate(&self, buffer: usize) -> Result<(u64, u64)> {
        let found = self.buffers.get(buffer).and_then(|&(offset, length)| {
            let (offset, length) = (u64::try_from(offset).ok()?, u64::try_from(length).ok()?);
            (offset.checked_add(length)? <= self.message.body_bytes).then_some((offset, length))
        });
        found.ok_or_else(|| self.damaged("a buffer does not lie within its message"))
    }

    fn inflate(&self, buffer: usize, offset: u64, length: u64) -> Result<Arc<Vec<u8>>> {
        // Held while decompressing: workers that want the same buffer wait for it.
        let mut inflated = self.inflated.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bytes) = inflated.get(&buffer) {
            return Ok(Arc::clone(bytes));
        }
        let stored = self.region.read_vec(self.message.body_offset + offset, length as usize)?;
        let bytes = Arc::new(self.decompress(stored)?);
        inflated.insert(buffer, Arc::clone(&bytes));
        Ok(bytes)
    }

    /// A compressed buffer: its length when decompressed (-1: it is not compressed after all), then the data.
    fn decompress(&self, mut stored: Vec<u8>) -> Result<Vec<u8>> {
        if stored.is_empty() {
            return Ok(stored);
        }
        let Some((prefix, data)) = stored.split_first_chunk::<8>() else {
            return Err(self.damaged("a compressed buffer lacks its length"));
        };
        let length = i64::from_le_bytes(*prefix);
        if length == -1 {
            stored.drain(..8);
            return Ok(stored);
        }
        let length =
            u64::try_from(length).map_err(|_| self.damaged("a compressed buffer has a negative length"))?;
        // Grown as data comes, so a length from a damaged file allocates nothing by itself.
        let mut bytes = Vec::new();
        let read = match self.compression {
            Some(CompressionType::LZ4_FRAME) => {
                lz4_flex::frame::FrameDecoder::new(data).take(length + 1).read_to_end(&mut bytes)
            }
            Some(CompressionType::ZSTD) => zstd::Decoder::with_buffer(data)
                .and_then(|decoder| decoder.take(length + 1).read_to_end(&mut bytes)),
            _ => return Err(self.damaged("it is compressed in a way that is not known")),
        };
        read.map_err(|e| self.damaged(&format!("a compressed buffer is damaged ({e})")))?;
        if bytes.len() as u64 != length {
            return Err(self.damaged("a compressed buffer has another length than stated"));
        }
        Ok(bytes)
    }

    pub(super) fn damaged(&self, reason: &str) -> Error {
        damaged(self.region.path(), reason)
    }
}

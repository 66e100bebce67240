//! The messages of an Arrow IPC file or stream, and where they lie.

use arrow_ipc::{MessageHeader, root_as_footer, root_as_message};
use esker_format::Result;

use super::super::region::Region;
use super::super::table::damaged;

/// The first and the last bytes of the file form.
pub(super) const FILE_MAGIC: &[u8; 6] = b"ARROW1";
/// Precedes the length of a message, except in files older than 2019.
const CONTINUATION: [u8; 4] = [0xff; 4];
/// Bytes at the end of a file: the length of the footer, and the magic.
const TRAILER_BYTES: u64 = 10;

/// Where a message lies. Its body was checked to be within the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) offset: u64,
    pub(super) body_offset: u64,
    pub(super) body_bytes: u64,
}

/// A record batch.
#[derive(Debug, Clone)]
pub(super) struct BatchEntry {
    pub(super) message: Message,
    pub(super) rows: u64,
    /// The dictionaries in force, as indices into those of the file.
    pub(super) dictionaries: Vec<usize>,
}

/// A state of a dictionary: a message that begins it and deltas that extend it.
#[derive(Debug, Clone)]
pub(super) struct Dictionary {
    pub(super) id: i64,
    pub(super) parts: Vec<Message>,
}

/// What a file holds.
#[derive(Debug)]
pub(super) struct Contents {
    /// The bytes of the message (stream) that holds the schema, or of the footer (file).
    pub(super) schema: SchemaBytes,
    pub(super) batches: Vec<BatchEntry>,
    pub(super) dictionaries: Vec<Dictionary>,
}

/// Bytes that hold a schema.
#[derive(Debug)]
pub(super) enum SchemaBytes {
    Message(Vec<u8>),
    Footer(Vec<u8>),
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
    let mut finder = Finder::default();
    for block in footer.dictionaries().iter().flatten() {
        finder.take_block(region, block.offset())?;
    }
    for block in footer.recordBatches().iter().flatten() {
        finder.take_block(region, block.offset())?;
    }
    Ok(finder.finish(SchemaBytes::Footer(bytes)))
}

fn stream_contents(region: &Region) -> Result<Contents> {
    let Some((message, bytes)) = read_message(region, 0)? else {
        return Err(region.unusable("it is neither an Arrow file nor an Arrow stream"));
    };
    let is_schema = root_as_message(&bytes).is_ok_and(|m| m.header_type() == MessageHeader::Schema);
    if !is_schema {
        return Err(damaged(region.path(), "an Arrow stream begins with its schema, but this does not"));
    }
    let (mut finder, mut offset) = (Finder::default(), message.body_offset + message.body_bytes);
    while let Some((message, meta)) = read_message(region, offset)? {
        finder.take(region, message, &meta)?;
        offset = message.body_offset + message.body_bytes;
    }
    Ok(finder.finish(SchemaBytes::Message(bytes)))
}

#[derive(Default)]
struct Finder {
    batches: Vec<BatchEntry>,
    dictionaries: Vec<Dictionary>,
    in_force: Vec<usize>,
}

impl Finder {
    fn take_block(&mut self, region: &Region, offset: i64) -> Result<()> {
        let offset =
            u64::try_from(offset).map_err(|_| damaged(region.path(), "a message has a negative offset"))?;
        match read_message(region, offset)? {
            Some((message, meta)) => self.take(region, message, &meta),
            None => Err(damaged(region.path(), "the footer names a message that is not there")),
        }
    }

    fn take(&mut self, region: &Region, message: Message, meta: &[u8]) -> Result<()> {
        let header = root_as_message(meta).map_err(|e| damaged(region.path(), e))?;
        if let Some(batch) = header.header_as_record_batch() {
            let rows = u64::try_from(batch.length()).ok().filter(|rows| *rows <= i64::MAX as u64 >> 8);
            let rows =
                rows.ok_or_else(|| damaged(region.path(), "a batch has an impossible number of rows"))?;
            self.batches.push(BatchEntry { message, rows, dictionaries: self.in_force.clone() });
        } else if let Some(dictionary) = header.header_as_dictionary_batch() {
            let id = dictionary.id();
            let place = self.in_force.iter().position(|&index| self.dictionaries[index].id == id);
            let mut parts = Vec::new();
            if let Some(place) = place {
                let old = self.in_force.swap_remove(place);
                if dictionary.isDelta() {
                    parts.clone_from(&self.dictionaries[old].parts);
                }
            }
            parts.push(message);
            self.in_force.push(self.dictionaries.len());
            self.dictionaries.push(Dictionary { id, parts });
        } else {
            return Err(damaged(region.path(), "a message is neither a record batch nor a dictionary"));
        }
        Ok(())
    }

    fn finish(self, schema: SchemaBytes) -> Contents {
        Contents { schema, batches: self.batches, dictionaries: self.dictionaries }
    }
}

/// The message at `offset` and its metadata; `None` at the end of a stream.
pub(super) fn read_message(region: &Region, offset: u64) -> Result<Option<(Message, Vec<u8>)>> {
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
    Ok(Some((Message { offset, body_offset, body_bytes }, meta)))
}

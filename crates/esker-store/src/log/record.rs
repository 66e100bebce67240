//! One record of the log: encoding, decoding and verification.

use std::path::Path;

use esker_format::io::File;
use esker_format::{DatabaseId, Error, FieldInput, FieldValue, LogRecordHeader, LogRecordKind, Result};
use esker_graph::Cancel;

/// Size of a record's header.
pub(super) const RECORD_HEADER_BYTES: u64 = 56;
/// Bytes of a record about MANIFEST: header, number and chain value of its last record, padding.
pub(super) const MANIFEST_RECORD_BYTES: u64 = RECORD_HEADER_BYTES + 16;
/// Bytes to read between two checks for cancellation.
const CHUNK_BYTES: usize = 1 << 20;
/// Alignment of records.
pub(super) const ALIGNMENT: u64 = 8;
pub(super) const MARK: [u8; 4] = *b"ESKr";

/// A commit, as appended to the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LogRecord<'a> {
    /// Its version.
    pub(crate) version: u64,
    /// Its flags.
    pub(crate) flags: u16,
    /// The checksum in its header, which depends on all commits before it.
    pub(crate) checksum: u32,
    /// What [`super::LogReader::read_summary`] gives of it.
    pub(crate) summary: &'a [u8],
    /// Its content. Empty in a record from [`super::LogReader::read_summary`].
    pub(crate) payload: &'a [u8],
    /// The size of its content.
    pub(crate) payload_bytes: u64,
}

/// The parts of a record that a reader needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RecordPart {
    /// All of it.
    Whole,
    /// The header and the summary.
    Summary,
    /// The same, and whether the checksum of the payload is right.
    Verified,
}

/// What was read of a record.
#[derive(Debug, Default)]
pub(super) struct RecordBuffer {
    pub(super) summary: Vec<u8>,
    pub(super) payload: Vec<u8>,
}

/// The address of a record. Its checksum covers the address, so leftover bytes from elsewhere never pass as a
/// record.
#[derive(Debug, Clone, Copy)]
pub(super) struct RecordAddress {
    pub(super) database: DatabaseId,
    pub(super) segment: u64,
    pub(super) offset: u64,
}

impl RecordAddress {
    pub(super) fn at(self, offset: u64) -> Self {
        Self { offset, ..self }
    }

    fn header_checksum(&self, header: &LogRecordHeader) -> u32 {
        let mut covered = Vec::with_capacity(88);
        self.database.put(&mut covered);
        self.segment.put(&mut covered);
        self.offset.put(&mut covered);
        let start = covered.len();
        header.put(&mut covered);
        let (address, fields) = (&covered[..start], &covered[start + 8..]);
        crc32c::crc32c_append(crc32c::crc32c(address), fields)
    }

    /// The header with its checksum, for a record at this address.
    pub(super) fn sealed(&self, mut header: LogRecordHeader) -> LogRecordHeader {
        header.checksum = self.header_checksum(&header);
        header
    }

    /// Encodes the header of a record at this address.
    pub(super) fn encode(&self, header: LogRecordHeader) -> Vec<u8> {
        let header = self.sealed(header);
        let mut bytes = Vec::with_capacity(RECORD_HEADER_BYTES as usize);
        header.put(&mut bytes);
        bytes
    }

    /// Decodes a header; `None` if the bytes are not the header of a record at this address.
    pub(super) fn decode(&self, bytes: &[u8]) -> Option<LogRecordHeader> {
        if bytes[..MARK.len()] != MARK {
            return None;
        }
        let header = LogRecordHeader::take(&mut FieldInput::new(Path::new(""), bytes, self.offset)).ok()?;
        (self.header_checksum(&header) == header.checksum).then_some(header)
    }
}

/// The zeros that follow a summary and payload of the given size.
pub(super) fn padding(body_bytes: u64) -> &'static [u8] {
    const ZEROS: [u8; ALIGNMENT as usize] = [0; ALIGNMENT as usize];
    &ZEROS[..(body_bytes.wrapping_neg() % ALIGNMENT) as usize]
}

/// Bytes read at once from the start of a record: small commits take one read.
const WINDOW_BYTES: usize = 512;

/// The result of reading at an address.
#[derive(Debug)]
pub(super) enum ReadOutcome {
    /// A good record, and the offset of its end.
    Record(LogRecordHeader, u64),
    /// The end of the file.
    End,
    /// No good record, for the given reason.
    Bad(&'static str),
}

/// Reads the record at `address` of a file of `file_bytes`. Memory: the parts that are needed.
pub(super) fn read(
    file: &dyn File,
    file_bytes: u64,
    address: RecordAddress,
    part: RecordPart,
    buffer: &mut RecordBuffer,
    cancel: &Cancel,
) -> Result<ReadOutcome> {
    let mut window = [0; WINDOW_BYTES];
    let left = file_bytes.saturating_sub(address.offset);
    let window = &mut window[..left.min(WINDOW_BYTES as u64) as usize];
    if !fill(file, window, address.offset)? {
        return Ok(ReadOutcome::Bad(TOO_SHORT));
    }
    let (header, end) = match header_of(window, left, address) {
        ReadOutcome::Record(header, end) => (header, end),
        other => return Ok(other),
    };
    let summary_bytes = u64::from(header.summary_bytes);
    let take = |into: &mut Vec<u8>, start: u64, bytes: u64| {
        let offset = (start - address.offset) as usize;
        match window.get(offset..).and_then(|rest| rest.get(..bytes as usize)) {
            Some(found) => {
                into.clear();
                into.extend_from_slice(found);
                Ok(true)
            }
            None => read_all(file, into, start, bytes, cancel),
        }
    };
    let start = address.offset + RECORD_HEADER_BYTES;
    if !take(&mut buffer.summary, start, summary_bytes)? {
        return Ok(ReadOutcome::Bad(TOO_SHORT));
    }
    if crc32c::crc32c(&buffer.summary) != header.summary_checksum {
        return Ok(ReadOutcome::Bad(
            "the checksum of the summary of the record that begins here does not match",
        ));
    }
    buffer.payload.clear();
    if part != RecordPart::Whole {
        return Ok(ReadOutcome::Record(header, end));
    }
    let start = start + summary_bytes;
    if !take(&mut buffer.payload, start, end - start)? {
        return Ok(ReadOutcome::Bad(TOO_SHORT));
    }
    if crc32c::crc32c(&buffer.payload) != header.payload_checksum {
        return Ok(ReadOutcome::Bad(WRONG_PAYLOAD));
    }
    buffer.payload.truncate(header.payload_bytes as usize);
    Ok(ReadOutcome::Record(header, end))
}

const TOO_SHORT: &str = "the file ends within the record that begins here";
const WRONG_PAYLOAD: &str = "the checksum of the record that begins here does not match";

/// Reads the header of the record at `address` of a file of `file_bytes`, which must hold the whole record.
fn read_header(file: &dyn File, file_bytes: u64, address: RecordAddress) -> Result<ReadOutcome> {
    let left = file_bytes.saturating_sub(address.offset);
    let mut header = [0; RECORD_HEADER_BYTES as usize];
    let header = &mut header[..left.min(RECORD_HEADER_BYTES) as usize];
    if !fill(file, header, address.offset)? {
        return Ok(ReadOutcome::Bad(TOO_SHORT));
    }
    Ok(header_of(header, left, address))
}

/// Decodes the header at the start of `bytes`, with `left` bytes of the file from there on, which must hold
/// the whole record.
fn header_of(bytes: &[u8], left: u64, address: RecordAddress) -> ReadOutcome {
    if left == 0 {
        return ReadOutcome::End;
    }
    let Some(header) = bytes.get(..RECORD_HEADER_BYTES as usize) else {
        return ReadOutcome::Bad(TOO_SHORT);
    };
    let Some(header) = address.decode(header) else {
        return ReadOutcome::Bad("no record begins here");
    };
    let body = header.payload_bytes.checked_add(u64::from(header.summary_bytes));
    let body = body.and_then(|body| body.checked_add(padding(body).len() as u64));
    match body.filter(|&body| body <= left.saturating_sub(RECORD_HEADER_BYTES)) {
        Some(body) => ReadOutcome::Record(header, address.offset + RECORD_HEADER_BYTES + body),
        None => ReadOutcome::Bad(TOO_SHORT),
    }
}

/// Whether a record that ends at `end` was synced before a record there was written.
pub(super) fn is_proven(file: &dyn File, file_bytes: u64, address: RecordAddress, end: u64) -> Result<bool> {
    Ok(match read_header(file, file_bytes, address.at(end))? {
        ReadOutcome::Record(next, _) => next.durable_bytes >= end,
        _ => false,
    })
}

/// Compares the checksum of the payload of the record at `address` that ends at `end`. Returns what is wrong.
pub(super) fn verify_payload(
    file: &dyn File,
    address: RecordAddress,
    header: &LogRecordHeader,
    end: u64,
    cancel: &Cancel,
) -> Result<Option<&'static str>> {
    let mut position = address.offset + RECORD_HEADER_BYTES + u64::from(header.summary_bytes);
    let mut chunk = vec![0; CHUNK_BYTES.min((end - position) as usize)];
    let mut checksum = 0;
    while position < end {
        cancel.check()?;
        let bytes = (chunk.len() as u64).min(end - position) as usize;
        if !fill(file, &mut chunk[..bytes], position)? {
            return Ok(Some(TOO_SHORT));
        }
        checksum = crc32c::crc32c_append(checksum, &chunk[..bytes]);
        position += bytes as u64;
    }
    Ok((checksum != header.payload_checksum).then_some(WRONG_PAYLOAD))
}

/// Fills `buffer` with `bytes` of a file; false if the file ends too early.
fn read_all(file: &dyn File, buffer: &mut Vec<u8>, start: u64, bytes: u64, cancel: &Cancel) -> Result<bool> {
    let too_long = |_| {
        Error::invalid(format!(
            "{}: there is no memory for the {bytes} bytes from byte {start}: free some",
            file.path().display(),
        ))
    };
    buffer.clear();
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    buffer.try_reserve_exact(bytes).map_err(too_long)?;
    while buffer.len() < bytes {
        cancel.check()?;
        let done = buffer.len();
        buffer.resize(bytes.min(done + CHUNK_BYTES), 0);
        if !fill(file, &mut buffer[done..], start + done as u64)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Fills the buffer; false if the file ends too early, as it may while another process truncates it.
pub(super) fn fill(file: &dyn File, buffer: &mut [u8], offset: u64) -> Result<bool> {
    let mut done = 0;
    while done < buffer.len() {
        match file.read_at(&mut buffer[done..], offset + done as u64)? {
            0 => return Ok(false),
            bytes => done += bytes,
        }
    }
    Ok(true)
}

/// The offset of a record after `bad` that was written after the bytes at `bad` had been synced: it proves
/// that they were damaged later. Without such a record, they may be the torn write of a writer that died.
/// Memory: 64 KiB.
pub(super) fn find_proof(file: &dyn File, bad: RecordAddress) -> Result<Option<u64>> {
    let next = bad.at(bad.offset + ALIGNMENT);
    find_header(file, next, |_, header| header.durable_bytes > bad.offset)
}

/// The first place from `start` on with the header of a record that `accept` accepts. Memory: 64 KiB.
pub(super) fn find_header(
    file: &dyn File,
    start: RecordAddress,
    mut accept: impl FnMut(RecordAddress, &LogRecordHeader) -> bool,
) -> Result<Option<u64>> {
    const CHUNK_BYTES: u64 = 64 << 10;
    let (file_bytes, header_bytes) = (file.len()?, RECORD_HEADER_BYTES);
    let mut chunk = vec![0; (CHUNK_BYTES + header_bytes) as usize];
    let mut position = start.offset;
    while position + header_bytes <= file_bytes {
        let bytes = (chunk.len() as u64).min(file_bytes - position) as usize;
        if !fill(file, &mut chunk[..bytes], position)? {
            return Ok(None);
        }
        let last = bytes as u64 - header_bytes;
        for within in (0..=last.min(CHUNK_BYTES - ALIGNMENT)).step_by(ALIGNMENT as usize) {
            let address = start.at(position + within);
            let header = address.decode(&chunk[within as usize..][..header_bytes as usize]);
            if header.is_some_and(|header| accept(address, &header)) {
                return Ok(Some(position + within));
            }
        }
        position += CHUNK_BYTES;
    }
    Ok(None)
}

/// The fields of the header of a commit.
pub(super) fn commit_header(
    version: u64,
    flags: u16,
    durable_bytes: u64,
    summary: &[u8],
    payload: &[u8],
) -> LogRecordHeader {
    let zeros = padding((summary.len() + payload.len()) as u64);
    LogRecordHeader {
        mark: MARK,
        checksum: 0,
        payload_bytes: payload.len() as u64,
        version,
        durable_bytes,
        payload_checksum: crc32c::crc32c_append(crc32c::crc32c(payload), zeros),
        kind: LogRecordKind::Commit,
        flags,
        summary_bytes: summary.len() as u32,
        summary_checksum: crc32c::crc32c(summary),
        previous: 0,
        unused: 0,
    }
}

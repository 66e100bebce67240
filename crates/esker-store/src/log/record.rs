//! One record of the log: encoding, decoding and verification.

use std::path::Path;

use esker_format::io::File;
use esker_format::{DatabaseId, Error, FieldInput, FieldValue, LogRecordHeader, LogRecordKind, Result};

/// Size of a record's header.
pub(super) const RECORD_HEADER_BYTES: u64 = 40;
/// Alignment of records.
pub(super) const ALIGNMENT: u64 = 8;
pub(super) const MARK: [u8; 4] = *b"ESKr";

/// A commit, as appended to the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Record<'a> {
    /// Its version.
    pub(crate) version: u64,
    /// Its flags.
    pub(crate) flags: u16,
    /// Its content.
    pub(crate) payload: &'a [u8],
}

/// The address of a record. Its checksum covers the address, so leftover bytes from elsewhere never pass as a record.
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
        let mut covered = Vec::with_capacity(72);
        self.database.put(&mut covered);
        self.segment.put(&mut covered);
        self.offset.put(&mut covered);
        let start = covered.len() + 8;
        header.put(&mut covered);
        let (address, fields) = (crc32c::crc32c(&covered[..start - 8]), &covered[start..]);
        crc32c::crc32c_append(address, fields)
    }

    /// Encodes the header of a record at this address.
    pub(super) fn encode(&self, mut header: LogRecordHeader) -> Vec<u8> {
        header.checksum = self.header_checksum(&header);
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

/// The zeros that follow a payload of the given size.
pub(super) fn padding(payload_bytes: u64) -> &'static [u8] {
    const ZEROS: [u8; ALIGNMENT as usize] = [0; ALIGNMENT as usize];
    &ZEROS[..(payload_bytes.wrapping_neg() % ALIGNMENT) as usize]
}

/// The checksum of a payload and its padding.
pub(super) fn payload_checksum(payload: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(payload), padding(payload.len() as u64))
}

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

/// Reads the record at `address` of a file of `file_bytes`, and its payload into `payload`. Memory: the payload.
pub(super) fn read(
    file: &dyn File,
    file_bytes: u64,
    address: RecordAddress,
    payload: &mut Vec<u8>,
) -> Result<ReadOutcome> {
    payload.clear();
    let left = file_bytes.saturating_sub(address.offset);
    if left == 0 {
        return Ok(ReadOutcome::End);
    }
    let mut header = [0; RECORD_HEADER_BYTES as usize];
    if !fill(file, &mut header, address.offset)? {
        return Ok(ReadOutcome::Bad("the file ends within a record that begins here"));
    }
    let Some(header) = address.decode(&header) else {
        return Ok(ReadOutcome::Bad("no record begins here"));
    };
    let room = left.saturating_sub(RECORD_HEADER_BYTES);
    let padded = header.payload_bytes.checked_add(padding(header.payload_bytes).len() as u64);
    let Some(padded) = padded.filter(|&padded| padded <= room) else {
        return Ok(ReadOutcome::Bad("the file ends within the record that begins here"));
    };
    let too_long = |_| {
        Error::Invalid(format!(
            "{}: there is no memory for the record at byte {}, which has {padded} bytes: free some",
            file.path().display(),
            address.offset
        ))
    };
    let bytes = usize::try_from(padded).unwrap_or(usize::MAX);
    payload.try_reserve_exact(bytes).map_err(too_long)?;
    payload.resize(bytes, 0);
    if !fill(file, payload, address.offset + RECORD_HEADER_BYTES)? {
        return Ok(ReadOutcome::Bad("the file ends within the record that begins here"));
    }
    if crc32c::crc32c(payload) != header.payload_checksum {
        return Ok(ReadOutcome::Bad("the checksum of the record that begins here does not match"));
    }
    payload.truncate(header.payload_bytes as usize);
    let end = address.offset + RECORD_HEADER_BYTES + padded;
    Ok(ReadOutcome::Record(header, end))
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

/// The offset of a record after `bad` that was written after the bytes at `bad` had been synced: it proves that they were damaged
/// later. Without such a record, they may be the torn write of a writer that died. Memory: 64 KiB.
pub(super) fn find_proof(file: &dyn File, bad: RecordAddress) -> Result<Option<u64>> {
    const CHUNK_BYTES: u64 = 64 << 10;
    let file_bytes = file.len()?;
    let mut chunk = vec![0; (CHUNK_BYTES + RECORD_HEADER_BYTES) as usize];
    let mut start = bad.offset + ALIGNMENT;
    while start + RECORD_HEADER_BYTES <= file_bytes {
        let bytes = (chunk.len() as u64).min(file_bytes - start) as usize;
        if !fill(file, &mut chunk[..bytes], start)? {
            return Ok(None);
        }
        let last = bytes as u64 - RECORD_HEADER_BYTES;
        for within in (0..=last.min(CHUNK_BYTES - ALIGNMENT)).step_by(ALIGNMENT as usize) {
            let header =
                bad.at(start + within).decode(&chunk[within as usize..][..RECORD_HEADER_BYTES as usize]);
            if header.is_some_and(|header| header.durable_bytes > bad.offset) {
                return Ok(Some(start + within));
            }
        }
        start += CHUNK_BYTES;
    }
    Ok(None)
}

/// The fields of the header of a commit.
pub(super) fn commit_header(version: u64, flags: u16, durable_bytes: u64, payload: &[u8]) -> LogRecordHeader {
    LogRecordHeader {
        mark: MARK,
        checksum: 0,
        payload_bytes: payload.len() as u64,
        version,
        durable_bytes,
        payload_checksum: payload_checksum(payload),
        kind: LogRecordKind::Commit,
        flags,
    }
}

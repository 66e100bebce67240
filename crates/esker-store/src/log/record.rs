//! One record: its bytes, and what of it can be believed.

use std::path::Path;

use crate::error::{Error, Result};
use crate::format::{DatabaseId, Input, LogRecordHeader, LogRecordKind, Value};
use crate::io::File;

/// Bytes of a record before its payload.
pub(super) const RECORD_HEADER_BYTES: u64 = 40;
/// Records begin at multiples of it.
pub(super) const ALIGNMENT: u64 = 8;
pub(super) const MARK: [u8; 4] = *b"ESKr";

/// A commit, as it was handed to the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record<'a> {
    /// Its version.
    pub version: u64,
    /// Its flags.
    pub flags: u16,
    /// Its content.
    pub payload: &'a [u8],
}

/// Where a record lies; part of its checksum, so that bytes that were left over from elsewhere are never taken for one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) database: DatabaseId,
    pub(super) segment: u64,
    pub(super) offset: u64,
}

impl Place {
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
        let (place, fields) = (crc32c::crc32c(&covered[..start - 8]), &covered[start..]);
        crc32c::crc32c_append(place, fields)
    }

    /// The header of a record at this place, as bytes.
    pub(super) fn encode(&self, mut header: LogRecordHeader) -> Vec<u8> {
        header.checksum = self.header_checksum(&header);
        let mut bytes = Vec::with_capacity(RECORD_HEADER_BYTES as usize);
        header.put(&mut bytes);
        bytes
    }

    /// The header whose bytes these are; `None` if they are none of a record at this place.
    pub(super) fn decode(&self, bytes: &[u8]) -> Option<LogRecordHeader> {
        if bytes[..MARK.len()] != MARK {
            return None;
        }
        let header = LogRecordHeader::take(&mut Input::new(Path::new(""), bytes, self.offset)).ok()?;
        (self.header_checksum(&header) == header.checksum).then_some(header)
    }
}

/// Zeros after a payload of so many bytes.
pub(super) fn padding(payload_bytes: u64) -> &'static [u8] {
    const ZEROS: [u8; ALIGNMENT as usize] = [0; ALIGNMENT as usize];
    &ZEROS[..(payload_bytes.wrapping_neg() % ALIGNMENT) as usize]
}

/// The checksum of a payload and the zeros after it.
pub(super) fn payload_checksum(payload: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(payload), padding(payload.len() as u64))
}

/// What stands at a place.
#[derive(Debug)]
pub(super) enum Found {
    /// A whole record, which ends before the offset.
    Record(LogRecordHeader, u64),
    /// The end of the file.
    End,
    /// Something else, for the reason.
    Bad(&'static str),
}

/// Reads what stands at `place` of a file of `file_bytes`; the payload, into `payload`. Memory: the payload's.
pub(super) fn read(file: &dyn File, file_bytes: u64, place: Place, payload: &mut Vec<u8>) -> Result<Found> {
    payload.clear();
    let left = file_bytes.saturating_sub(place.offset);
    if left == 0 {
        return Ok(Found::End);
    }
    let mut header = [0; RECORD_HEADER_BYTES as usize];
    if !fill(file, &mut header, place.offset)? {
        return Ok(Found::Bad("the file ends within a record that begins here"));
    }
    let Some(header) = place.decode(&header) else {
        return Ok(Found::Bad("no record begins here"));
    };
    let room = left.saturating_sub(RECORD_HEADER_BYTES);
    let padded = header.payload_bytes.checked_add(padding(header.payload_bytes).len() as u64);
    let Some(padded) = padded.filter(|&padded| padded <= room) else {
        return Ok(Found::Bad("the file ends within the record that begins here"));
    };
    let too_long = |_| {
        Error::Invalid(format!(
            "{}: the record at byte {} has {padded} bytes, and so much memory is not to be had: free some",
            file.path().display(),
            place.offset
        ))
    };
    let bytes = usize::try_from(padded).unwrap_or(usize::MAX);
    payload.try_reserve_exact(bytes).map_err(too_long)?;
    payload.resize(bytes, 0);
    if !fill(file, payload, place.offset + RECORD_HEADER_BYTES)? {
        return Ok(Found::Bad("the file ends within the record that begins here"));
    }
    if crc32c::crc32c(payload) != header.payload_checksum {
        return Ok(Found::Bad("the checksum of the record that begins here does not match"));
    }
    payload.truncate(header.payload_bytes as usize);
    let end = place.offset + RECORD_HEADER_BYTES + padded;
    Ok(Found::Record(header, end))
}

/// Fills the buffer; false if the file ends before, as it may while another process cuts it.
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

/// Where behind `bad` a record begins that was written after the bytes at `bad` had been synced: then something damaged
/// them since. Without one, they may be what a writer that died left behind. Memory: 64 KiB.
pub(super) fn find_proof(file: &dyn File, bad: Place) -> Result<Option<u64>> {
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

//! A look at a Parquet footer before the `parquet` crate decodes it: that crate allocates whatever number of
//! elements a list claims to have, so one damaged byte could ask for hundreds of gigabytes.
//!
//! The footer is a struct in Thrift's compact protocol. The walk follows its structure without knowing its
//! fields.

use esker_format::Result;

use super::super::contain::damaged;
use super::super::region::Region;

/// Bytes after the footer: its length, and the magic.
const TRAILER_BYTES: u64 = 8;
/// Levels of nesting; footers have fewer than ten.
const DEPTH_MAX: usize = 32;

/// Checks that every list in the footer fits into the bytes that there are.
///
/// # Errors
/// If the file is no Parquet file, is cut short, or a list does not fit.
pub(super) fn check_footer(region: &Region) -> Result<()> {
    let no_footer = || damaged(region.path(), "it does not end as a Parquet file does");
    let trailer_at = region.bytes().checked_sub(TRAILER_BYTES).ok_or_else(no_footer)?;
    let trailer = region.read_vec(trailer_at, TRAILER_BYTES as usize)?;
    let bytes = u32::from_le_bytes([trailer[0], trailer[1], trailer[2], trailer[3]]);
    let start = trailer_at.checked_sub(u64::from(bytes)).filter(|_| &trailer[4..] == b"PAR1");
    let footer = region.read_vec(start.ok_or_else(no_footer)?, bytes as usize)?;
    let mut walk = Walk { rest: &footer };
    walk.structure(0).ok_or_else(|| damaged(region.path(), "its footer contradicts itself"))
}

/// Kinds of values in the compact protocol.
pub(super) mod kind {
    pub(crate) const TRUE: u8 = 1;
    pub(crate) const FALSE: u8 = 2;
    pub(crate) const BYTE: u8 = 3;
    pub(crate) const I16: u8 = 4;
    pub(crate) const I32: u8 = 5;
    pub(crate) const I64: u8 = 6;
    pub(crate) const DOUBLE: u8 = 7;
    pub(crate) const BINARY: u8 = 8;
    pub(crate) const LIST: u8 = 9;
    pub(crate) const SET: u8 = 10;
    pub(crate) const MAP: u8 = 11;
    pub(crate) const STRUCT: u8 = 12;
    pub(crate) const UUID: u8 = 13;
}

/// Bytes in Thrift's compact protocol, and how far they were read.
#[derive(Clone, Copy)]
pub(super) struct Walk<'a> {
    pub(super) rest: &'a [u8],
}

impl Walk<'_> {
    pub(super) fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    fn skip(&mut self, bytes: u64) -> Option<()> {
        self.rest = self.rest.get(usize::try_from(bytes).ok()?..)?;
        Some(())
    }

    pub(super) fn varint(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// Fields up to the end of a struct.
    pub(super) fn structure(&mut self, depth: usize) -> Option<()> {
        if depth > DEPTH_MAX {
            return None;
        }
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(());
            }
            // A field's number is the previous one's plus the upper four bits, or follows if they are zero.
            if head >> 4 == 0 {
                self.varint()?;
            }
            match head & 15 {
                // Their value is in their kind.
                kind::TRUE | kind::FALSE => {}
                other => self.value(other, depth)?,
            }
        }
    }

    pub(super) fn value(&mut self, of_kind: u8, depth: usize) -> Option<()> {
        match of_kind {
            kind::TRUE | kind::FALSE | kind::BYTE => self.skip(1),
            kind::I16..=kind::I64 => self.varint().map(|_| ()),
            kind::DOUBLE => self.skip(8),
            kind::UUID => self.skip(16),
            kind::BINARY => {
                let bytes = self.varint()?;
                self.skip(bytes)
            }
            kind::LIST | kind::SET => {
                let head = self.byte()?;
                let count = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
                self.elements(count, &[head & 15], depth)
            }
            kind::MAP => {
                let count = self.varint()?;
                let kinds = if count == 0 { 0 } else { self.byte()? };
                self.elements(count, &[kinds >> 4, kinds & 15], depth)
            }
            kind::STRUCT => self.structure(depth + 1),
            _ => None,
        }
    }

    /// `count` times values of the given kinds, each of which takes a byte at least.
    fn elements(&mut self, count: u64, kinds: &[u8], depth: usize) -> Option<()> {
        if count > self.rest.len() as u64 || depth > DEPTH_MAX {
            return None;
        }
        for _ in 0..count {
            for &kind in kinds {
                self.value(kind, depth + 1)?;
            }
        }
        Some(())
    }
}

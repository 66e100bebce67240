//! Arrays of NumPy: a header that is a dictionary of Python, then the values.
//!
//! NumPy, "NEP 1: A Simple File Format for NumPy Arrays", 2007.

use std::io::Read;

use esker_format::{Error, Result};

use crate::binary::region::Region;
use crate::read::source::Numbers;

/// The most bytes of a header.
const HEADER_BYTES_MAX: usize = 1 << 12;

/// What the values of an array are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NumberKind {
    Int,
    /// Of 64 bits.
    Unsigned,
    Float,
    Text,
}

/// An array that is read from its beginning to its end.
pub(super) struct ArrayReader {
    region: Region,
    name: String,
    stream: Box<dyn Read + Send>,
    /// A letter and the bytes of a value.
    letter: u8,
    width: usize,
    is_big_endian: bool,
    length: u64,
}

impl ArrayReader {
    pub(super) fn new(region: Region, name: &str, stream: Box<dyn Read + Send>) -> Result<Self> {
        let mut own = Self {
            region,
            name: name.to_owned(),
            stream,
            letter: b'i',
            width: 1,
            is_big_endian: false,
            length: 0,
        };
        let begin = own.bytes(10)?;
        let length = match begin.as_slice() {
            [0x93, b'N', b'U', b'M', b'P', b'Y', 1, _, low, high] => u32::from(*low) | u32::from(*high) << 8,
            [0x93, b'N', b'U', b'M', b'P', b'Y', 2 | 3, _, first, second] => {
                let rest = own.bytes(2)?;
                u32::from_le_bytes([*first, *second, rest[0], rest[1]])
            }
            _ => return Err(own.unusable("it is no array of NumPy")),
        };
        if length as usize > HEADER_BYTES_MAX {
            return Err(own.unusable("its header is too long"));
        }
        let header = String::from_utf8_lossy(&own.bytes(length as usize)?).into_owned();
        let between = |key: &str, open: char, close: char| {
            let rest = &header[header.find(key)? + key.len()..];
            let rest = &rest[rest.find(open)? + 1..];
            Some(rest[..rest.find(close)?].to_owned())
        };
        let described = between("'descr':", '\'', '\'').unwrap_or_default();
        let mut signs = described.bytes();
        own.is_big_endian = signs.next() == Some(b'>');
        own.letter = signs.next().unwrap_or_default();
        let digits = described.get(2..).and_then(|digits| digits.parse::<usize>().ok());
        let is_known = match (own.letter, digits) {
            (b'i' | b'u', Some(1 | 2 | 4 | 8)) | (b'f', Some(4 | 8)) | (b'b', Some(1)) => true,
            (b'S' | b'U', Some(length)) => length <= 16,
            _ => false,
        };
        let (Some(width), true) = (digits, is_known) else {
            return Err(own.unusable(&format!("its type {described:?} is not read; write real numbers")));
        };
        own.width = if own.letter == b'U' { 4 * width } else { width };
        let shape = between("'shape':", '(', ')').unwrap_or_default();
        let sizes = shape.split(',').map(str::trim).filter(|size| !size.is_empty());
        let sizes: Option<Vec<u64>> = sizes.map(|size| size.parse().ok()).collect();
        own.length = match sizes.as_deref() {
            Some([]) => 1,
            Some([length]) => *length,
            _ => return Err(own.unusable("it is not of one dimension")),
        };
        Ok(own)
    }

    /// How many values it has.
    pub(super) fn len(&self) -> u64 {
        self.length
    }

    pub(super) fn kind(&self) -> NumberKind {
        match (self.letter, self.width) {
            (b'f', _) => NumberKind::Float,
            (b'S' | b'U', _) => NumberKind::Text,
            (b'u', 8) => NumberKind::Unsigned,
            _ => NumberKind::Int,
        }
    }

    fn unusable(&self, why: &str) -> Error {
        self.region.unusable(format!("the array {:?}: {why}", self.name))
    }

    fn bytes(&mut self, count: usize) -> Result<Vec<u8>> {
        let mut bytes = vec![0; count];
        match self.stream.read_exact(&mut bytes) {
            Ok(()) => Ok(bytes),
            Err(error) => {
                Err(self.unusable(&format!("it is cut short or damaged ({error}); write it again")))
            }
        }
    }

    /// The next values, as 64 bits each: of integers with their sign, of floats as `f64`.
    fn bits(&mut self, count: usize) -> Result<impl Iterator<Item = u64>> {
        let (width, letter, is_big_endian) = (self.width, self.letter, self.is_big_endian);
        let bytes = self.bytes(count.saturating_mul(width))?;
        Ok((0..count).map(move |index| {
            let mut value = [0; 8];
            value[..width].copy_from_slice(&bytes[index * width..(index + 1) * width]);
            if is_big_endian {
                value[..width].reverse();
            }
            let bits = u64::from_le_bytes(value);
            match (letter, width) {
                (b'i', 1..8) => {
                    let unused = 64 - 8 * width as u32;
                    ((bits << unused).cast_signed() >> unused).cast_unsigned()
                }
                (b'f', 4) => f64::from(f32::from_bits(bits as u32)).to_bits(),
                _ => bits,
            }
        }))
    }

    /// The next values, which are indices.
    pub(super) fn integers(&mut self, count: usize) -> Result<Vec<u64>> {
        if !matches!(self.kind(), NumberKind::Int | NumberKind::Unsigned) {
            return Err(self.unusable("it should have integers"));
        }
        // Negative ones become large, which no index is.
        Ok(self.bits(count)?.collect())
    }

    /// The next values.
    pub(super) fn next(&mut self, count: usize) -> Result<Numbers> {
        Ok(match self.kind() {
            NumberKind::Int => Numbers::Int(self.bits(count)?.map(u64::cast_signed).collect()),
            NumberKind::Unsigned => Numbers::Unsigned(self.bits(count)?.collect()),
            NumberKind::Float => Numbers::Float(self.bits(count)?.map(f64::from_bits).collect()),
            NumberKind::Text => return Err(self.unusable("it should have numbers")),
        })
    }

    /// The only value, which is a text.
    pub(super) fn text(mut self) -> Result<String> {
        if self.kind() != NumberKind::Text {
            return Err(self.unusable("it should have a text"));
        }
        let bytes = self.bytes(self.width)?;
        let signs = bytes.into_iter().filter(|byte| *byte != 0);
        Ok(signs.map(char::from).collect())
    }
}

//! The members of a zip archive, stored or deflated.
//!
//! PKWARE, "APPNOTE.TXT: .ZIP File Format Specification", version 6.3.10.

use std::io::{self, BufReader, Read};

use esker_format::Result;
use flate2::read::DeflateDecoder;

use super::array::ArrayReader;
use crate::binary::region::Region;

/// Bytes of the end of an archive in which its directory is looked for.
const END_BYTES_MAX: u64 = (1 << 16) + 22 + 20;
/// The most bytes of a directory.
const DIRECTORY_BYTES_MAX: u64 = 1 << 20;

/// An archive and its directory.
pub(super) struct Archive {
    region: Region,
    members: Vec<Member>,
}

struct Member {
    name: String,
    is_deflated: bool,
    stored_bytes: u64,
    header_at: u64,
}

fn word(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 2).map_or(0, |word| u64::from(u16::from_le_bytes([word[0], word[1]])))
}

fn long(bytes: &[u8], at: usize) -> u64 {
    word(bytes, at) | word(bytes, at + 2) << 16
}

fn wide(bytes: &[u8], at: usize) -> u64 {
    long(bytes, at) | long(bytes, at + 4) << 32
}

impl Archive {
    /// Reads the directory, which stands at the end.
    pub(super) fn open(region: &Region) -> Result<Self> {
        let damaged = |what: &str| {
            region.unusable(format!("{what}: the archive is cut short or damaged; copy or write it again"))
        };
        let bytes = END_BYTES_MAX.min(region.bytes());
        let start = region.bytes() - bytes;
        let end = region.read_vec(start, bytes as usize)?;
        let at = memchr::memmem::rfind(&end, b"PK\x05\x06").ok_or_else(|| damaged("it has no directory"))?;
        let (mut size, mut offset) = (long(&end, at + 12), long(&end, at + 16));
        // An archive beyond 4 GiB has another end before this.
        if let Some(locator) = at.checked_sub(20)
            && end[locator..].starts_with(b"PK\x06\x07")
        {
            let large = region.read_vec(wide(&end, locator + 8), 56)?;
            if !large.starts_with(b"PK\x06\x06") {
                return Err(damaged("its directory is not where it should be"));
            }
            (size, offset) = (wide(&large, 40), wide(&large, 48));
        }
        if size > DIRECTORY_BYTES_MAX {
            return Err(region.unusable("the archive has too many members for a sparse matrix of SciPy"));
        }
        let directory = region.read_vec(offset, size as usize)?;
        let (mut members, mut rest) = (Vec::new(), directory.as_slice());
        while rest.starts_with(b"PK\x01\x02") && rest.len() >= 46 {
            let (name, extra, comment) = (word(rest, 28), word(rest, 30), word(rest, 32));
            let length = 46 + (name + extra + comment) as usize;
            if rest.len() < length {
                return Err(damaged("its directory ends too early"));
            }
            members.push(member(rest, name as usize, extra as usize));
            if word(rest, 8) & 1 == 1 || !matches!(word(rest, 10), 0 | 8) {
                return Err(
                    region.unusable("the archive is encrypted, or packed in a way that NumPy does not write")
                );
            }
            rest = &rest[length..];
        }
        Ok(Self { region: region.clone(), members })
    }

    /// The array of a name; `None` if there is none.
    pub(super) fn array(&self, name: &str) -> Result<Option<ArrayReader>> {
        let file = format!("{name}.npy");
        let Some(member) = self.members.iter().find(|member| member.name == file) else { return Ok(None) };
        let header = self.region.read_vec(member.header_at, 30)?;
        let at = member.header_at + 30 + word(&header, 26) + word(&header, 28);
        let slice = RegionSlice { region: self.region.clone(), at, left: member.stored_bytes };
        let stream: Box<dyn Read + Send> = match member.is_deflated {
            true => Box::new(BufReader::new(DeflateDecoder::new(BufReader::with_capacity(1 << 16, slice)))),
            false => Box::new(BufReader::with_capacity(1 << 16, slice)),
        };
        ArrayReader::new(self.region.clone(), name, stream).map(Some)
    }
}

/// A member of a directory.
fn member(entry: &[u8], name: usize, extra: usize) -> Member {
    let (mut stored_bytes, mut header_at) = (long(entry, 20), long(entry, 42));
    let mut fields = &entry[46 + name..46 + name + extra];
    while fields.len() >= 4 {
        let length = word(fields, 2) as usize;
        if word(fields, 0) == 1 {
            // Sizes that do not fit 32 bits, in this order, only those that are needed.
            let mut at = 4 + 8 * usize::from(long(entry, 24) == u64::from(u32::MAX));
            for value in [&mut stored_bytes, &mut header_at] {
                if *value == u64::from(u32::MAX) {
                    *value = wide(fields, at);
                    at += 8;
                }
            }
        }
        fields = fields.get(4 + length..).unwrap_or_default();
    }
    let name = String::from_utf8_lossy(&entry[46..46 + name]).into_owned();
    Member { name, is_deflated: word(entry, 10) == 8, stored_bytes, header_at }
}

/// A part of an input, read from its beginning to its end.
struct RegionSlice {
    region: Region,
    at: u64,
    left: u64,
}

impl Read for RegionSlice {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.left.min(buffer.len() as u64);
        self.region.read(&mut buffer[..length as usize], self.at).map_err(io::Error::other)?;
        (self.at, self.left) = (self.at + length, self.left - length);
        Ok(length as usize)
    }
}

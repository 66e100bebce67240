//! The beginning of an input, by which its format and its columns are told.

use esker_format::{Error, Result};
use memchr::memchr_iter;

use super::format::ReadOptions;
use super::input::{Compression, Input, InputStream};
use super::live::{GrowingInput, Growth};

/// Bytes that the sniffer looks at.
const HEAD_BYTES: usize = 1 << 16;

/// Bytes that it looks at if the first ones hold comments only.
pub(crate) const HEAD_BYTES_MAX: usize = 1 << 20;

/// Lines that the sniffer needs at least: a header, and a line below it.
const HEAD_LINES: usize = 2;

/// The beginning of an input, decompressed.
pub(crate) struct InputHead {
    /// The rest of it.
    pub(crate) stream: InputStream,
    /// The bytes.
    pub(crate) bytes: Vec<u8>,
    /// Whether they are all.
    pub(crate) whole: bool,
}

impl InputHead {
    /// Opens `input` and reads its beginning.
    pub(crate) fn of(input: &Input, options: &ReadOptions) -> Result<Self> {
        match &options.live {
            Some(live) => Self::read_live(input, live),
            None => Self::read(input),
        }
    }

    /// Opens `input` and reads its first bytes.
    pub(crate) fn read(input: &Input) -> Result<Self> {
        let mut head = Self { stream: input.open()?, bytes: Vec::new(), whole: false };
        head.extend(HEAD_BYTES)?;
        Ok(head)
    }

    /// Opens `input`, which is still being written, and reads its first lines.
    fn read_live(input: &Input, live: &GrowingInput) -> Result<Self> {
        let mut head = Self { stream: input.open()?, bytes: Vec::new(), whole: false };
        if live.follow && head.stream.compression() != Compression::None {
            return Err(Error::invalid(format!(
                "{} is compressed: only plain text can be followed while it grows",
                input.path().display()
            )));
        }
        while memchr_iter(b'\n', &head.bytes).count() < HEAD_LINES && head.bytes.len() < HEAD_BYTES_MAX {
            let filled = head.bytes.len();
            head.bytes.resize(filled + HEAD_BYTES, 0);
            let read = head.stream.read_some(&mut head.bytes[filled..])?;
            head.bytes.truncate(filled + read);
            if read == 0 && live.waits(input, &head.stream)? != Growth::Awaited {
                head.whole = true;
                break;
            }
        }
        Ok(head)
    }

    /// Reads on, up to `size` bytes in all.
    pub(crate) fn extend(&mut self, size: usize) -> Result<()> {
        let filled = self.bytes.len();
        self.bytes.resize(size.max(filled), 0);
        let filled = self.stream.fill(&mut self.bytes, filled)?;
        self.whole = filled < self.bytes.len();
        self.bytes.truncate(filled);
        Ok(())
    }
}

//! Stands in the place of the crate `brotli`, which `parquet` uses to read and write pages with that compression.
//!
//! Esker reads such pages and never writes them. The compressor of the original would be linked all the same, because one trait of
//! `parquet` has both directions: 0.8 MB of the program, half of that tables. So this crate takes the decoder from `brotli-decompressor`,
//! as the original does, and its writer stores the bytes as they are, which is valid Brotli (RFC 7932, section 9.2).
//!
//! The workspace puts it in place by `[patch.crates-io]`. Whoever uses the crates of Esker elsewhere gets the original.

pub use brotli_decompressor::Decompressor;

use std::io::{self, Write};

/// The most bytes of a block whose length has four digits of four bits.
const BLOCK_LEN_MAX: usize = 1 << 16;

/// Writes a Brotli stream of stored blocks, and its end when dropped.
#[derive(Debug)]
pub struct CompressorWriter<W: Write> {
    out: W,
    /// Whether the header of the stream is written.
    begun: bool,
}

impl<W: Write> CompressorWriter<W> {
    /// The arguments are those of the original: the size of a buffer, the level, and the logarithm of the window. None matters here.
    pub fn new(out: W, _buffer_len: usize, _level: u32, _window_bits: u32) -> Self {
        Self { out, begun: false }
    }

    /// Writes bits, the lowest first, filled up to a whole number of bytes. The first are preceded by the header: one 0, a window of 2^16.
    fn put(&mut self, bits: u32, count: usize) -> io::Result<()> {
        let header = usize::from(!std::mem::replace(&mut self.begun, true));
        self.out.write_all(&(bits << header).to_le_bytes()[..(count + header).div_ceil(8)])
    }
}

impl<W: Write> Write for CompressorWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let block = &bytes[..bytes.len().min(BLOCK_LEN_MAX)];
        if let Some(last) = block.len().checked_sub(1) {
            // Not the last block (0), four digits (00), the length less one, stored (1).
            self.put((last as u32) << 3 | 1 << 19, 20)?;
            self.out.write_all(block)?;
        }
        Ok(block.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<W: Write> Drop for CompressorWriter<W> {
    fn drop(&mut self) {
        // The last block (1), and empty (1). As in the original, an error here has nowhere to go.
        let _ = self.put(0b11, 2);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for len in [0, 1, 255, 65_535, 65_536, 65_537, 200_000] {
            let bytes: Vec<u8> = (0..len).map(|i: usize| (i * i / 7) as u8).collect();
            let mut stream = Vec::new();
            CompressorWriter::new(&mut stream, 4096, 1, 22).write_all(&bytes).unwrap();
            let mut read = Vec::new();
            Decompressor::new(&stream[..], 4096).read_to_end(&mut read).unwrap();
            assert!(read == bytes, "{len} bytes");
        }
    }

    #[test]
    fn what_another_compressor_wrote_is_read() {
        // By zlib.brotliCompressSync of Node.js.
        let stream = [27, 22, 0, 248, 141, 148, 174, 198, 82, 89, 6, 178, 86, 114, 115, 33, 79, 28, 96, 39];
        let mut read = String::new();
        Decompressor::new(&stream[..], 4096).read_to_string(&mut read).unwrap();
        assert_eq!(read, "esker esker esker esker");
    }
}

//! How the `parquet` crate reads a file: by position, checked against its length.

use std::io::Read;

use bytes::Bytes;
use parquet::errors::{ParquetError, Result as Decoded};
use parquet::file::reader::{ChunkReader, Length};

use super::super::region::Region;

/// Bytes read at once to find a page's header; the page itself is read in one piece.
const HEADER_BYTES: usize = 512;

impl Length for Region {
    fn len(&self) -> u64 {
        self.bytes()
    }
}

impl ChunkReader for Region {
    type T = std::io::BufReader<PositionedRegion>;

    fn get_read(&self, start: u64) -> Decoded<Self::T> {
        let at = PositionedRegion { region: self.clone(), position: start };
        Ok(std::io::BufReader::with_capacity(HEADER_BYTES, at))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Decoded<Bytes> {
        self.read_vec(start, length).map(Bytes::from).map_err(|e| ParquetError::External(Box::new(e)))
    }
}

/// A region with a position.
pub(crate) struct PositionedRegion {
    region: Region,
    position: u64,
}

impl Read for PositionedRegion {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let bytes = self.region.bytes().saturating_sub(self.position).min(buffer.len() as u64) as usize;
        self.region.read(&mut buffer[..bytes], self.position).map_err(std::io::Error::other)?;
        self.position += bytes as u64;
        Ok(bytes)
    }
}

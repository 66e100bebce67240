//! Writing tiles, in the order of the file.

use std::path::Path;
use std::sync::Arc;

use esker_format::io::Disk;
use esker_format::memory::push;
use esker_format::{
    ArchiveWriter, BLOCK_BYTES, ColumnKind, ColumnSpec, ColumnWriter, DatabaseId, Element, Error, Result,
};

use super::files::TileFiles;
use super::segment::Segment;

/// Writes the files of a layer's tiles. Memory: 24 bytes per chunk, plus some MiB. Each tile with edges has at least one chunk, and each
/// block of 64 KiB at least two.
#[derive(Debug)]
pub(super) struct TileWriter {
    archive: ArchiveWriter,
    files: TileFiles,
    database: DatabaseId,
    data: ColumnWriter<u8>,
    /// Bytes of the current block.
    block: Vec<u8>,
    blocks: u64,
    keys: Vec<u64>,
    starts: Vec<u64>,
    edges: Vec<u64>,
    num_edges: u64,
}

impl TileWriter {
    /// Creates the files in the directory `layer`. They must not exist.
    pub(super) fn create(disk: &Arc<dyn Disk>, layer: &Path, database: DatabaseId) -> Result<Self> {
        let files = TileFiles::of(layer);
        let spec = ColumnSpec { database, kind: ColumnKind::TileData };
        let data = ColumnWriter::create(disk.as_ref(), &files.data, spec)?;
        let archive = ArchiveWriter::new(disk, &files.directory);
        let (block, keys, starts, edges) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Ok(Self { archive, files, database, data, block, blocks: 0, keys, starts, edges, num_edges: 0 })
    }

    /// Appends a segment, whose edges are all coded.
    pub(super) fn append_segment(&mut self, segment: &Segment) -> Result<()> {
        let mut bytes = segment.bytes();
        self.make_room(bytes.len())?;
        let first = self.data_bytes();
        for chunk in segment.chunks() {
            self.note((chunk.row, chunk.column), first + chunk.start as u64, chunk.len as u64)?;
        }
        if self.block.is_empty() {
            let whole = bytes.len() / BLOCK_BYTES * BLOCK_BYTES;
            self.data.append(&bytes[..whole])?;
            self.blocks += (whole / BLOCK_BYTES) as u64;
            bytes = &bytes[whole..];
        }
        self.block.extend_from_slice(bytes);
        Ok(())
    }

    /// Appends a chunk that is already coded.
    pub(super) fn append_chunk(&mut self, tile: (u32, u32), bytes: &[u8], num_edges: u64) -> Result<()> {
        self.make_room(bytes.len())?;
        self.note(tile, self.data_bytes(), num_edges)?;
        self.block.extend_from_slice(bytes);
        Ok(())
    }

    fn note(&mut self, (row, column): (u32, u32), start: u64, num_edges: u64) -> Result<()> {
        push(&mut self.keys, u64::from(row) << 32 | u64::from(column))?;
        push(&mut self.starts, start)?;
        push(&mut self.edges, self.num_edges)?;
        self.num_edges += num_edges;
        Ok(())
    }

    /// Ends the current block if so many bytes do not fit it.
    fn make_room(&mut self, bytes: usize) -> Result<()> {
        if !self.block.is_empty() && self.block.len() + bytes > BLOCK_BYTES {
            self.block.resize(BLOCK_BYTES, 0);
            self.data.append(&self.block)?;
            self.block.clear();
            self.blocks += 1;
        }
        Ok(())
    }

    /// Bytes so far.
    pub(super) fn data_bytes(&self) -> u64 {
        self.blocks * BLOCK_BYTES as u64 + self.block.len() as u64
    }

    /// Edges so far.
    pub(super) fn num_edges(&self) -> u64 {
        self.num_edges
    }

    /// Chunks so far.
    pub(super) fn num_chunks(&self) -> u64 {
        self.keys.len() as u64
    }

    /// The archive of the small files.
    pub(super) fn archive(&self) -> &ArchiveWriter {
        &self.archive
    }

    /// A writer for the column of a property.
    pub(super) fn property<T: Element>(&self, number: u32) -> Result<ColumnWriter<T>> {
        let spec = ColumnSpec { database: self.database, kind: ColumnKind::TileProperty };
        ColumnWriter::create(&self.archive, &self.files.property(number), spec)
    }

    /// Writes the last block and the directory of the chunks. Returns the bytes of all chunks.
    pub(super) fn finish(mut self, group: u32) -> Result<u64> {
        let data_bytes = self.data_bytes();
        self.data.append(&self.block)?;
        self.data.finish()?;
        push(&mut self.edges, self.num_edges)?;
        let column = |name: &str, kind: ColumnKind, values: &[u64]| {
            let spec = ColumnSpec { database: self.database, kind };
            let path = self.files.directory.join(name);
            let mut column = ColumnWriter::<u64>::create(&self.archive, &path, spec)?;
            column.append(values)?;
            column.finish().map(drop)
        };
        column("keys", ColumnKind::TileKeys, &self.keys)?;
        column("starts", ColumnKind::TileStarts, &self.starts)?;
        column("edges", ColumnKind::TileEdges, &self.edges)?;
        let spec = ColumnSpec { database: self.database, kind: ColumnKind::TileGroups };
        let path = self.files.directory.join("groups");
        let mut groups = ColumnWriter::<u32>::create(&self.archive, &path, spec)?;
        groups.append(&[group])?;
        groups.finish()?;
        self.archive.finish()?;
        Ok::<u64, Error>(data_bytes)
    }
}

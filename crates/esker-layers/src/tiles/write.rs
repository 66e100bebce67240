//! Writes tiles, in the order of the file.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker_format::io::Disk;
use esker_format::memory::push;
use esker_format::{
    ArchiveWriter, BLOCK_BYTES, ColumnKind, ColumnSpec, ColumnWriter, Element, ElementType, Error, Origin,
    Result, SharedTiles, Stamp, ValuesWriter, WRITE_BYTES,
};
use esker_graph::Tile;

use super::codings::segment::TileSegment;
use super::data::OWN;
use super::paths::TileFiles;
use crate::form_files::FormFiles;

/// Writes the files of a layer's tiles. Memory: 24 bytes per chunk, plus some MiB. Each tile with edges has
/// at least one chunk, and each block of 64 KiB at least two.
#[derive(Debug)]
pub(super) struct TileWriter {
    archive: ArchiveWriter,
    files: TileFiles,
    origin: Origin,
    data: ColumnWriter<u8>,
    /// Bytes of the current block.
    block: Vec<u8>,
    /// Whole blocks so far, written or shared.
    blocks: u64,
    /// Those among them that were written.
    own_blocks: u64,
    /// Where the blocks lie, in their order.
    extents: Vec<WrittenExtent>,
    disk: Arc<dyn Disk>,
    layer: PathBuf,
    /// The layers whose files this one has links to, and the numbers of these files; `None`: they cannot be
    /// linked.
    linked: BTreeMap<u32, Option<Stamp>>,
    keys: Vec<u64>,
    starts: Vec<u64>,
    edges: Vec<u64>,
    num_edges: u64,
}

/// Successive blocks of a file.
#[derive(Debug, Clone, Copy)]
struct WrittenExtent {
    /// The layer that wrote the file; [`OWN`]: this one.
    number: u32,
    block: u64,
    len: u64,
}

impl WrittenExtent {
    fn end(&self) -> u64 {
        self.block + self.len
    }
}

impl TileWriter {
    /// Creates the files, which must not exist.
    pub(super) fn create(files: FormFiles<'_>) -> Result<Self> {
        let FormFiles { disk, directory: layer, origin } = files;
        let files = TileFiles::in_layer(layer);
        let spec = ColumnSpec { origin, kind: ColumnKind::TileData };
        let data = ColumnWriter::create(disk.as_ref(), &files.data, spec)?;
        let archive = ArchiveWriter::new(disk, &files.directory);
        Ok(Self {
            archive,
            files,
            origin,
            data,
            block: Vec::new(),
            blocks: 0,
            own_blocks: 0,
            extents: Vec::new(),
            disk: Arc::clone(disk),
            layer: layer.to_owned(),
            linked: BTreeMap::new(),
            keys: Vec::new(),
            starts: Vec::new(),
            edges: Vec::new(),
            num_edges: 0,
        })
    }

    /// Appends a segment, whose edges are all coded.
    pub(super) fn append_segment(&mut self, segment: &TileSegment) -> Result<()> {
        let mut bytes = segment.bytes();
        self.make_room(bytes.len())?;
        let first = self.data_bytes();
        for chunk in segment.chunks() {
            self.note(chunk.tile, first + chunk.start as u64, chunk.len as u64)?;
        }
        if self.block.is_empty() {
            let whole_len = bytes.len() / BLOCK_BYTES * BLOCK_BYTES;
            self.data.append(&bytes[..whole_len])?;
            self.add_own((whole_len / BLOCK_BYTES) as u64);
            bytes = &bytes[whole_len..];
        }
        self.block.extend_from_slice(bytes);
        Ok(())
    }

    /// Appends a chunk that is already coded.
    pub(super) fn append_chunk(&mut self, tile: Tile, bytes: &[u8], num_edges: u64) -> Result<()> {
        self.make_room(bytes.len())?;
        self.note(tile, self.data_bytes(), num_edges)?;
        self.block.extend_from_slice(bytes);
        Ok(())
    }

    fn note(&mut self, tile: Tile, start: u64, num_edges: u64) -> Result<()> {
        push(&mut self.keys, u64::from(tile.row) << 32 | u64::from(tile.column))?;
        push(&mut self.starts, start)?;
        push(&mut self.edges, self.num_edges)?;
        self.num_edges += num_edges;
        Ok(())
    }

    /// Ends the current block if it has no room for `bytes`.
    fn make_room(&mut self, bytes: usize) -> Result<()> {
        if !self.block.is_empty() && self.block.len() + bytes > BLOCK_BYTES {
            self.end_block()
        } else {
            Ok(())
        }
    }

    fn end_block(&mut self) -> Result<()> {
        self.block.resize(BLOCK_BYTES, 0);
        self.data.append(&self.block)?;
        self.block.clear();
        self.add_own(1);
        Ok(())
    }

    /// Counts whole blocks that were written.
    fn add_own(&mut self, len: u64) {
        match self.extents.last_mut() {
            Some(last) if last.number == OWN => last.len += len,
            _ if len > 0 => {
                self.extents.push(WrittenExtent { number: OWN, block: self.own_blocks, len });
            }
            _ => {}
        }
        self.own_blocks += len;
        self.blocks += len;
    }

    /// Makes a link to the file at `path`. `false` if that is not possible.
    pub(super) fn link(&mut self, shared: SharedTiles, path: &Path) -> Result<bool> {
        let SharedTiles { layer: number, stamp } = shared;
        if let Some(linked) = self.linked.get(&number) {
            return Ok(linked.is_some());
        }
        let is_linked = self.disk.link(path, &TileFiles::shared(&self.layer, number))?;
        self.linked.insert(number, is_linked.then_some(stamp));
        Ok(is_linked)
    }

    /// The files of earlier layers that have links.
    pub(super) fn shared(&self) -> Vec<SharedTiles> {
        let linked = self.linked.iter();
        linked.filter_map(|(&layer, stamp)| stamp.map(|stamp| SharedTiles { layer, stamp })).collect()
    }

    /// Goes on with blocks of a file that was linked. Returns the position at which they begin. Chunks come
    /// in the order of the file.
    pub(super) fn share(&mut self, number: u32, blocks: Range<u64>) -> Result<u64> {
        if !self.block.is_empty() {
            self.end_block()?;
        }
        if let Some(last) = self.extents.last_mut()
            && last.number == number
            && (last.block..=last.end()).contains(&blocks.start)
            && blocks.start + 1 >= last.end()
        {
            // The first block may hold the last chunks before, too.
            let first = self.blocks - last.len + (blocks.start - last.block);
            let more = blocks.end.saturating_sub(last.end());
            last.len += more;
            self.blocks += more;
            return Ok(first * BLOCK_BYTES as u64);
        }
        let first = self.blocks;
        self.extents.push(WrittenExtent { number, block: blocks.start, len: blocks.end - blocks.start });
        self.blocks += blocks.end - blocks.start;
        Ok(first * BLOCK_BYTES as u64)
    }

    /// Notes a chunk in shared blocks.
    pub(super) fn add_shared(&mut self, tile: Tile, start: u64, num_edges: u64) -> Result<()> {
        self.note(tile, start, num_edges)
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
        let spec = ColumnSpec { origin: self.origin, kind: ColumnKind::TileProperty };
        ColumnWriter::create(&self.archive, &self.files.property(number), spec)
    }

    /// Creates the column of a property whose type is known only at run time.
    pub(super) fn values(&self, number: u32, element: ElementType) -> Result<ValuesWriter> {
        let spec = ColumnSpec { origin: self.origin, kind: ColumnKind::TileProperty };
        ValuesWriter::create(&self.archive, &self.files.property(number), spec, element, WRITE_BYTES)
    }

    /// Writes the last block and the directory of the chunks. Returns the bytes of all chunks.
    pub(super) fn finish(mut self, group: u32) -> Result<u64> {
        let data_bytes = self.data_bytes();
        if !self.block.is_empty() {
            self.data.append(&self.block)?;
            self.add_own(1);
        }
        self.data.finish()?;
        push(&mut self.edges, self.num_edges)?;
        let column = |name: &str, kind: ColumnKind, values: &[u64]| {
            let spec = ColumnSpec { origin: self.origin, kind };
            let path = self.files.directory.join(name);
            let mut column = ColumnWriter::<u64>::create(&self.archive, &path, spec)?;
            column.append(values)?;
            column.finish().map(drop)
        };
        column("keys", ColumnKind::TileKeys, &self.keys)?;
        column("starts", ColumnKind::TileStarts, &self.starts)?;
        column("edges", ColumnKind::TileEdges, &self.edges)?;
        if self.extents.iter().any(|extent| extent.number != OWN) {
            let records =
                self.extents.iter().flat_map(|extent| [u64::from(extent.number), extent.block, extent.len]);
            column("extents", ColumnKind::TileExtents, &records.collect::<Vec<_>>())?;
        }
        let spec = ColumnSpec { origin: self.origin, kind: ColumnKind::TileGroups };
        let path = self.files.directory.join("groups");
        let mut groups = ColumnWriter::<u32>::create(&self.archive, &path, spec)?;
        groups.append(&[group])?;
        groups.finish()?;
        self.archive.finish()?;
        Ok::<u64, Error>(data_bytes)
    }
}

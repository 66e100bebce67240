//! The chunks of tiles: one file, or blocks of several.
//!
//! A merge does not write again the blocks of groups that did not change: the new layer has a hard link to
//! the file that holds them. So the chunks lie in *segments*: the file that the layer wrote itself, and files
//! that earlier layers wrote. Blocks are numbered through, in the order of the chunks; *extents* say where
//! ranges of them lie. All positions here are counted over these blocks.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker_format::io::{Disk, File, FileId, Map};
use esker_format::{BLOCK_BYTES, Column, ColumnKind, ColumnSpec, Error, Origin, Result, SharedTiles, Stamp};
use esker_graph::Run;

use super::paths::TileFiles;

/// Numbers of the record of an extent.
pub(super) const EXTENT_LEN: usize = 3;
/// Stands for the layer itself among the numbers of layers.
pub(super) const OWN: u32 = 0;
/// Files that a layer has links to, at most.
const SHARED_MAX: usize = 32;
/// Smaller segments are copied rather than shared, in blocks. Few in tests.
const SHARED_BLOCKS_MIN: usize = if cfg!(test) { 1 } else { 16 };

/// Successive blocks that lie one after another in a segment.
#[derive(Debug, Clone, Copy)]
struct TileExtent {
    first: usize,
    segment: usize,
    /// The block of the segment at which they begin.
    block: usize,
    len: usize,
}

/// A file of chunks.
#[derive(Debug)]
struct DataSegment {
    /// The layer that wrote it.
    number: u32,
    /// The number of the set with which it was written.
    stamp: Stamp,
    column: Column<u8>,
    /// Blocks in use.
    used: usize,
}

/// The chunks.
#[derive(Debug)]
pub struct TileData {
    /// The files, that of the layer itself first.
    segments: Vec<DataSegment>,
    extents: Vec<TileExtent>,
    bytes: usize,
}

/// Where blocks of a segment can be linked to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SharedBlocks {
    /// Number of the segment.
    pub(super) segment: usize,
    /// The layer that wrote it; [`OWN`]: the one that has it.
    pub(super) number: u32,
    /// The number of the set with which it was written.
    pub(super) stamp: Stamp,
    /// Blocks of the segment.
    pub(super) blocks: Range<usize>,
}

impl TileData {
    /// Opens the chunks in the directory of a layer. `extents` says where they lie; `None`: all in the
    /// layer's own file. `shared` lists the other files.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Corrupt`] if an extent is not in its segment.
    pub(super) fn open(
        disk: &dyn Disk,
        layer: &Path,
        origin: Origin,
        extents: Option<&Column<u64>>,
        shared: &[SharedTiles],
    ) -> Result<Self> {
        let spec = ColumnSpec { origin, kind: ColumnKind::TileData };
        let own = Column::open(disk, &TileFiles::in_layer(layer).data, spec)?;
        let bytes = own.len();
        let blocks = bytes.div_ceil(BLOCK_BYTES);
        let mut data = Self {
            segments: vec![DataSegment { number: OWN, stamp: origin.stamp, column: own, used: 0 }],
            extents: Vec::new(),
            bytes,
        };
        let Some(column) = extents else {
            data.add(0, 0, blocks);
            return Ok(data);
        };
        for record in column.get(0..column.len())?.chunks(EXTENT_LEN) {
            let &[number, block, len] = record else {
                return Err(column.corrupt(0, "the last extent is cut off"));
            };
            let wrong = |reason| column.corrupt(0, reason);
            let number = u32::try_from(number).map_err(|_| wrong("there is no layer of this number"))?;
            let known = data.segments.iter().position(|segment| segment.number == number);
            let segment = match known {
                Some(segment) => segment,
                None => {
                    let place = TileFiles::in_layer(Path::new(&number.to_string())).data;
                    let path = TileFiles::shared(layer, number);
                    let listed = shared.iter().find(|shared| shared.layer == number);
                    let SharedTiles { stamp, .. } =
                        *listed.ok_or_else(|| wrong("MANIFEST does not list a file that has chunks"))?;
                    let spec = ColumnSpec { origin: Origin { stamp, ..origin }, ..spec };
                    let column = Column::open_of_place(disk, &path, &place, spec)?;
                    data.segments.push(DataSegment { number, stamp, column, used: 0 });
                    data.segments.len() - 1
                }
            };
            let all = data.segments[segment].column.len().div_ceil(BLOCK_BYTES) as u64;
            if len == 0 || block.checked_add(len).is_none_or(|end| end > all) {
                return Err(wrong("an extent is not within its file"));
            }
            data.add(segment, block as usize, len as usize);
        }
        let last = data.extents.last().filter(|last| last.segment == 0);
        let all = data.extents.iter().map(|extent| extent.len).sum::<usize>() * BLOCK_BYTES;
        let is_cut = last.is_some_and(|last| last.block + last.len == blocks);
        data.bytes = if is_cut { all - blocks * BLOCK_BYTES + bytes } else { all };
        Ok(data)
    }

    fn add(&mut self, segment: usize, block: usize, len: usize) {
        let first = self.extents.last().map_or(0, |last| last.first + last.len);
        self.segments[segment].used += len;
        self.extents.push(TileExtent { first, segment, block, len });
    }

    /// Bytes of the blocks.
    #[allow(clippy::len_without_is_empty)] // A graph without edges is no special case.
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// The files.
    pub fn columns(&self) -> impl Iterator<Item = &Column<u8>> {
        self.segments.iter().map(|segment| &segment.column)
    }

    /// Bytes of the files.
    pub fn file_bytes(&self) -> u64 {
        self.columns().map(Column::file_bytes).sum()
    }

    /// The files that earlier layers wrote.
    pub(super) fn shared(&self) -> Vec<SharedTiles> {
        let others = self.segments.iter().skip(1);
        others.map(|&DataSegment { number: layer, stamp, .. }| SharedTiles { layer, stamp }).collect()
    }

    /// Bytes of the files that earlier layers wrote.
    pub fn shared_bytes(&self) -> u64 {
        self.columns().skip(1).map(Column::file_bytes).sum()
    }

    /// The file that the layer itself wrote.
    pub fn path(&self) -> &Path {
        self.segments[0].column.path()
    }

    /// Where the data begins in that file.
    pub fn first_byte(&self) -> u64 {
        self.segments[0].column.first_byte()
    }

    /// Whether all chunks lie in that file, in its order.
    pub(super) fn is_one(&self) -> bool {
        self.segments.len() == 1
    }

    /// The segment of a block, and the block in it.
    fn place(&self, block: usize) -> Option<(usize, usize)> {
        let after = self.extents.partition_point(|extent| extent.first <= block);
        let extent = self.extents[..after].last()?;
        (block < extent.first + extent.len).then(|| (extent.segment, extent.block + block - extent.first))
    }

    /// A range of one block, verified. It ends early where the segment does.
    ///
    /// # Errors
    /// [`Error::Corrupt`].
    pub(super) fn get(&self, range: Range<usize>) -> Result<&[u8]> {
        let Some((segment, block)) = self.place(range.start / BLOCK_BYTES) else {
            return Err(self.corrupt(range.start, "the chunk lies behind all data"));
        };
        let column = &self.segments[segment].column;
        let start = block * BLOCK_BYTES + range.start % BLOCK_BYTES;
        column.get(start.min(column.len())..(start + range.len()).min(column.len()))
    }

    /// All bytes of all files, verified.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; cancellation.
    pub fn all(&self, run: &Run) -> Result<Vec<&[u8]>> {
        self.columns().map(|column| column.all(run)).collect()
    }

    /// Compares a block, read elsewhere, with its checksum.
    pub(super) fn verify_copy(&self, block: usize, bytes: &[u8]) -> Result<()> {
        let Some((segment, at)) = self.place(block) else {
            return Err(self.corrupt(block * BLOCK_BYTES, "the block lies behind all data"));
        };
        let column = &self.segments[segment].column;
        let len = column.len().saturating_sub(at * BLOCK_BYTES).min(BLOCK_BYTES);
        column.verify_copy(at, &bytes[..len.min(bytes.len())])
    }

    /// A corruption error about a byte.
    pub fn corrupt(&self, at: usize, reason: impl Into<String>) -> Error {
        let (segment, block) = self.place(at / BLOCK_BYTES).unwrap_or((0, 0));
        let column = &self.segments[segment].column;
        column.corrupt(block * BLOCK_BYTES + at % BLOCK_BYTES, reason)
    }

    /// Hint: gives up the memory of all files.
    pub(crate) fn release(&self) {
        self.columns().for_each(Column::release);
    }

    /// Opens the data for direct reads: from [`TileData::first_byte`] on if there is one file, else from 0
    /// on.
    pub(super) fn open_direct(&self, disk: &dyn Disk) -> Result<Arc<dyn File>> {
        if self.is_one() {
            return self.segments[0].column.open_direct(disk);
        }
        let files = self.segments.iter().map(|segment| {
            Ok(SegmentFile {
                file: segment.column.open_direct(disk)?,
                first_byte: segment.column.first_byte(),
            })
        });
        let files = files.collect::<Result<_>>()?;
        Ok(Arc::new(JoinedSegments { path: self.path().to_owned(), files, extents: self.extents.clone() }))
    }

    /// The blocks that hold successive chunks, given the range of these chunks. `None` if they lie in several
    /// segments, or if less than half of their segment is in use: its chunks are copied then, which frees the
    /// file once no layer links to it.
    pub(super) fn shareable(&self, bytes: Range<u64>) -> Option<SharedBlocks> {
        let blocks = bytes.start as usize / BLOCK_BYTES..(bytes.end as usize).div_ceil(BLOCK_BYTES);
        let (segment, first) = self.place(blocks.start)?;
        let (last_segment, last) = self.place(blocks.end - 1)?;
        let is_whole = segment == last_segment && last + 1 - first == blocks.len();
        let DataSegment { number, stamp, column, used } = &self.segments[segment];
        let all = column.len().div_ceil(BLOCK_BYTES);
        let is_dense = 2 * used >= all && all >= SHARED_BLOCKS_MIN;
        let is_among = self.segments.len() <= SHARED_MAX || segment == 0 || self.is_large(segment);
        let blocks = first..last + 1;
        (is_whole && is_dense && is_among).then_some(SharedBlocks {
            segment,
            number: *number,
            stamp: *stamp,
            blocks,
        })
    }

    /// Whether a segment is among the larger half.
    fn is_large(&self, segment: usize) -> bool {
        let rank = |segment: usize| (self.segments[segment].used, std::cmp::Reverse(segment));
        2 * (0..self.segments.len()).filter(|&other| rank(other) > rank(segment)).count() < SHARED_MAX
    }

    /// The path of a segment.
    pub(super) fn path_of(&self, segment: usize) -> &Path {
        self.segments[segment].column.path()
    }
}

/// A segment, open for direct reads.
#[derive(Debug)]
struct SegmentFile {
    file: Arc<dyn File>,
    first_byte: u64,
}

/// The blocks of several segments as one file, which is only read.
#[derive(Debug)]
struct JoinedSegments {
    path: PathBuf,
    files: Vec<SegmentFile>,
    extents: Vec<TileExtent>,
}

impl JoinedSegments {
    fn refused<T>(&self) -> Result<T> {
        Err(Error::invalid(format!("{}: joined files are only read", self.path.display())))
    }
}

impl File for JoinedSegments {
    fn path(&self) -> &Path {
        &self.path
    }

    fn id(&self) -> Result<FileId> {
        self.files[0].file.id()
    }

    fn is_direct(&self) -> bool {
        self.files.iter().all(|segment| segment.file.is_direct())
    }

    fn len(&self) -> Result<u64> {
        Ok(self.extents.last().map_or(0, |last| (last.first + last.len) * BLOCK_BYTES) as u64)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize> {
        let (block, within) = (offset as usize / BLOCK_BYTES, offset as usize % BLOCK_BYTES);
        let after = self.extents.partition_point(|extent| extent.first <= block);
        let Some(extent) = self.extents[..after].last().filter(|extent| block < extent.first + extent.len)
        else {
            return Ok(0);
        };
        let SegmentFile { file, first_byte } = &self.files[extent.segment];
        let room = (extent.first + extent.len - block) * BLOCK_BYTES - within;
        let len = buffer.len().min(room);
        let buffer = &mut buffer[..len];
        let at = first_byte + ((extent.block + block - extent.first) * BLOCK_BYTES + within) as u64;
        let read = file.read_at(buffer, at)?;
        if read == 0 {
            // The last block of a segment may be shorter than others.
            buffer.fill(0);
            return Ok(len);
        }
        Ok(read)
    }

    fn write_at(&self, _bytes: &[u8], _offset: u64) -> Result<()> {
        self.refused()
    }

    fn set_length(&self, _bytes: u64) -> Result<()> {
        self.refused()
    }

    fn sync(&self) -> Result<()> {
        self.refused()
    }

    fn map(&self) -> Result<Map> {
        self.refused()
    }
}

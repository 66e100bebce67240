//! The files of a layer's tiles, and the directory of their chunks.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use esker_format::io::Disk;
use esker_format::{
    Archive, BLOCK_BYTES, Column, ColumnKind, ColumnSpec, Element, ElementType, Error, Origin, Result,
    SharedTiles, Values,
};
use esker_graph::{Direction, Run, Tile};

use super::codings::codec::CHUNK_LEN_MAX;
use super::data::TileData;
use super::degrees::{DegreeColumns, TileDegrees};
use super::paths::TileFiles;
use super::strip::STRIP_LEN;

/// The manifest's description of the graph in the tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TileShape {
    /// Number of vertices.
    pub num_vertices: u64,
    /// Number of edges; an undirected edge counts once.
    pub num_edges: u64,
    /// Whether out-lists and in-lists differ; if not, only the upper triangle is kept.
    pub directed: bool,
}

/// The location of a chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TileChunk {
    /// The tile whose edges it holds.
    pub tile: Tile,
    /// Its range of edges, in the order of the file.
    pub edges: Range<u64>,
    /// Its range of bytes in the data, all in one block. Unused bytes may follow the chunk in the range.
    pub bytes: Range<u64>,
}

/// The tiles of a layer, all files mapped. Opening reads only headers. Memory: [`Tiles::resident_bytes`],
/// mapped.
#[derive(Debug)]
pub struct Tiles {
    shape: TileShape,
    group: u32,
    keys: Column<u64>,
    starts: Column<u64>,
    edges: Column<u64>,
    data: TileData,
    out: DegreeColumns,
    incoming: Option<DegreeColumns>,
    disk: Arc<dyn Disk>,
    files: TileFiles,
    archive: Archive,
    origin: Origin,
    directory_sound: AtomicBool,
}

impl Tiles {
    /// Opens the tiles in the directory of a layer; `shared` lists the files of chunks that earlier layers
    /// wrote.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Corrupt`] if the header of a file is damaged.
    pub fn open(
        disk: &Arc<dyn Disk>,
        layer: &Path,
        origin: Origin,
        shape: TileShape,
        shared: &[SharedTiles],
    ) -> Result<Self> {
        let files = TileFiles::in_layer(layer);
        let archive = Archive::open(disk, &files.directory)?;
        let path = |name: &str| files.directory.join(name);
        let spec = |kind| ColumnSpec { origin, kind };
        let keys = Column::open(&archive, &path("keys"), spec(ColumnKind::TileKeys))?;
        let starts = Column::open(&archive, &path("starts"), spec(ColumnKind::TileStarts))?;
        starts.expect_len(keys.len() as u64)?;
        let edges = Column::open(&archive, &path("edges"), spec(ColumnKind::TileEdges))?;
        edges.expect_len(keys.len() as u64 + 1)?;
        let groups = Column::<u32>::open(&archive, &path("groups"), spec(ColumnKind::TileGroups))?;
        groups.expect_len(1)?;
        let extents = archive.paths().any(|file| file == path("extents"));
        let extents = extents
            .then(|| Column::open(&archive, &path("extents"), spec(ColumnKind::TileExtents)))
            .transpose()?;
        let data = TileData::open(disk.as_ref(), layer, origin, extents.as_ref(), shared)?;
        let degrees = |direction| {
            DegreeColumns::open(&archive, &files.directory, origin, direction, shape.num_vertices)
        };
        let out = degrees(Direction::Out)?;
        let incoming = shape.directed.then(|| degrees(Direction::In)).transpose()?;
        let (group, disk) = (groups.at(0)?, Arc::clone(disk));
        let directory_sound = AtomicBool::new(false);
        Ok(Self {
            shape,
            group,
            keys,
            starts,
            edges,
            data,
            out,
            incoming,
            disk,
            files,
            archive,
            origin,
            directory_sound,
        })
    }

    /// The manifest's description of the graph.
    pub fn shape(&self) -> TileShape {
        self.shape
    }

    /// Rows and columns of tiles in a group.
    pub fn group(&self) -> u32 {
        self.group
    }

    /// Number of strips.
    pub(crate) fn num_strips(&self) -> usize {
        (self.shape.num_vertices as usize).div_ceil(STRIP_LEN)
    }

    /// The chunks.
    pub fn data(&self) -> &TileData {
        &self.data
    }

    /// The disk that they were opened on.
    pub(super) fn disk(&self) -> &dyn Disk {
        self.disk.as_ref()
    }

    /// The number of the layer; `None` if its directory has no number.
    pub(super) fn layer_number(&self) -> Option<u32> {
        let name = self.files.data.parent()?.file_name()?.to_str()?;
        name.parse().ok().filter(|&number| number > 0)
    }

    /// The files of chunks that earlier layers wrote.
    pub fn shared(&self) -> Vec<SharedTiles> {
        self.data.shared()
    }

    /// Binds them to their record in the manifest.
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// All columns but the chunks.
    pub fn archive(&self) -> &Archive {
        &self.archive
    }

    /// Bytes of the chunks.
    pub(crate) fn data_bytes(&self) -> u64 {
        self.data.len() as u64
    }

    /// Bytes that are mapped, and in the end in memory, when chunks are not: keys and degrees.
    pub fn resident_bytes(&self) -> u64 {
        let index = self.keys.file_bytes() + self.starts.file_bytes() + self.edges.file_bytes();
        index + self.out.file_bytes() + self.incoming.as_ref().map_or(0, DegreeColumns::file_bytes)
    }

    /// Bytes of all files except those of properties.
    pub fn file_bytes(&self) -> u64 {
        self.resident_bytes() + self.data.file_bytes()
    }

    /// The degrees of a direction, verified.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; cancellation.
    pub(crate) fn degrees(&self, direction: Direction, run: &Run) -> Result<TileDegrees<'_>> {
        match (direction, &self.incoming) {
            (Direction::In, Some(incoming)) => incoming.all(run),
            _ => self.out.all(run),
        }
    }

    /// An edge property: one value per edge, in the order of the file.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Corrupt`] if it is missing or has the wrong length.
    pub(crate) fn property<T: Element>(&self, number: u32) -> Result<Column<T>> {
        let spec = ColumnSpec { origin: self.origin, kind: ColumnKind::TileProperty };
        let column = Column::open(&self.archive, &self.files.property(number), spec)?;
        column.expect_len(self.shape.num_edges)?;
        Ok(column)
    }

    /// The column of a property whose type is known only at run time.
    pub(super) fn values(&self, number: u32, element: ElementType) -> Result<Values> {
        let spec = ColumnSpec { origin: self.origin, kind: ColumnKind::TileProperty };
        let values = Values::open(&self.archive, &self.files.property(number), spec, element)?;
        values.expect_len(self.shape.num_edges)?;
        Ok(values)
    }

    /// Whether they have an edge property with values of a type that can be a weight.
    pub fn has_property(&self, number: u32, element: ElementType) -> bool {
        match element {
            ElementType::I32 => self.property::<i32>(number).is_ok(),
            ElementType::I64 => self.property::<i64>(number).is_ok(),
            ElementType::F32 => self.property::<f32>(number).is_ok(),
            ElementType::F64 => self.property::<f64>(number).is_ok(),
            ElementType::U8 | ElementType::U16 | ElementType::U32 | ElementType::U64 => false,
        }
    }

    /// The directory of the chunks, verified.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; cancellation.
    pub(crate) fn directory(&self, run: &Run) -> Result<Directory<'_>> {
        let (keys, starts, edges) = (self.keys.all(run)?, self.starts.all(run)?, self.edges.all(run)?);
        let directory = Directory { keys, starts, edges, data_bytes: self.data_bytes() };
        if self.directory_sound.load(Ordering::Acquire) {
            return Ok(directory);
        }
        let strips = self.num_strips() as u64;
        for k in 0..keys.len() {
            let TileChunk { tile: Tile { row, column }, edges, bytes } = directory.chunk(k);
            let wrong = |reason| Err(self.keys.corrupt(k, reason));
            let triangle = self.shape.directed || row <= column;
            if u64::from(row) >= strips || u64::from(column) >= strips || !triangle {
                return wrong("there is no such tile");
            }
            if edges.end.checked_sub(edges.start).is_none_or(|len| len == 0 || len > CHUNK_LEN_MAX as u64) {
                return wrong("the chunk has more edges than one can have, or none");
            }
            if bytes.is_empty() || (bytes.end - 1) / BLOCK_BYTES as u64 != bytes.start / BLOCK_BYTES as u64 {
                return wrong("the chunk lies in two blocks, or in none");
            }
        }
        let ends = [edges.first().copied(), edges.last().copied()];
        if ends != [Some(0), Some(self.shape.num_edges)] {
            return Err(self.edges.corrupt(0, "the edges of the chunks are not those of the graph"));
        }
        self.directory_sound.store(true, Ordering::Release);
        Ok(directory)
    }

    /// The directory, if it was verified before.
    pub(super) fn verified_directory(&self) -> Option<Directory<'_>> {
        let is_sound = self.directory_sound.load(Ordering::Acquire);
        let (keys, starts, edges) =
            (self.keys.if_complete()?, self.starts.if_complete()?, self.edges.if_complete()?);
        is_sound.then(|| Directory { keys, starts, edges, data_bytes: self.data_bytes() })
    }

    /// The error for a damaged chunk.
    pub(super) fn corrupt_chunk(&self, chunk: &TileChunk) -> Error {
        let reason =
            format!("the chunk of tile ({}, {}) cannot be decoded", chunk.tile.row, chunk.tile.column);
        self.data.corrupt(chunk.bytes.start as usize, reason)
    }
}

/// The directory of the chunks.
#[derive(Debug, Clone, Copy)]
pub struct Directory<'a> {
    keys: &'a [u64],
    starts: &'a [u64],
    edges: &'a [u64],
    data_bytes: u64,
}

impl Directory<'_> {
    /// Number of chunks.
    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// The tile of a chunk.
    #[inline]
    pub(super) fn tile(&self, chunk: usize) -> Tile {
        Tile { row: (self.keys[chunk] >> 32) as u32, column: self.keys[chunk] as u32 }
    }

    /// A chunk.
    pub(crate) fn chunk(&self, chunk: usize) -> TileChunk {
        let tile = self.tile(chunk);
        let start = self.starts[chunk];
        let end = self.starts.get(chunk + 1).copied().unwrap_or(self.data_bytes);
        // The next chunk may begin in a later block.
        let block_end = (start / BLOCK_BYTES as u64 + 1).saturating_mul(BLOCK_BYTES as u64);
        let bytes = start..end.min(block_end).min(self.data_bytes);
        TileChunk { tile, edges: self.edges[chunk]..self.edges[chunk + 1], bytes }
    }

    /// The chunks that lie in some blocks.
    pub(super) fn in_blocks(&self, blocks: Range<usize>) -> Range<usize> {
        let first = |block: usize| self.starts.partition_point(|&start| start < (block * BLOCK_BYTES) as u64);
        first(blocks.start)..first(blocks.end)
    }

    /// Number of edges of a chunk.
    pub(super) fn num_edges(&self, chunk: usize) -> u64 {
        self.edges[chunk + 1] - self.edges[chunk]
    }
}

//! The `plain` encoding: arrays of ids, the fastest to compute on.
//!
//! For each direction, a *complete* layer has `offsets` (u64, n + 1 entries), which say where the list of
//! each vertex begins in `targets` (vertex ids, each list ascending). One column per property lies parallel
//! to `targets`. So an arc takes 4 bytes (8 with 64-bit ids) plus its properties, and a vertex 8 bytes, in
//! each stored direction; checksums add 1/16384.
//!
//! Other layers hold fragments of the lists that changed in their range of versions (LLAMA, thesis, 4.4.2:
//! explicit linking). They have a directory of vertices, and for each its fragment, its degree, and a link to
//! the next older fragment; 24 bytes a fragment. Tombstones and past arcs have separate files, which readers
//! at the end of the range do not read in full.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use esker_format::io::Files;
use esker_format::{
    Column, ColumnKind, ColumnSpec, ColumnWriter, Element, ElementType, Error, LayerRecord, Origin,
    PropertyRecord, Result, SectionRecord, ValuesWriter, WRITE_BYTES, united,
};
use esker_graph::{Direction, VertexId};

use super::columns::SectionColumn;
use super::dictionary::{DictionaryFiles, DictionaryWriter, order_of};
use super::lists::ListColumns;
use super::section::Section;
use crate::tiles::Tiles;

fn versions_path(layer: &Path) -> PathBuf {
    layer.join("versions")
}

fn added_path(layer: &Path) -> PathBuf {
    layer.join("added")
}

/// Creates the files of a layer, one per method. Columns may be written in any order by any threads, and must
/// agree with the [`LayerRecord`] that the manifest gets.
#[derive(Debug, Clone)]
pub struct PlainWriter<'a> {
    files: &'a dyn Files,
    directory: PathBuf,
    origin: Origin,
    buffer_bytes: usize,
}

impl<'a> PlainWriter<'a> {
    /// Creates files in `directory`.
    pub fn new(files: &'a dyn Files, directory: &Path, origin: Origin) -> Self {
        Self { files, directory: directory.to_owned(), origin, buffer_bytes: WRITE_BYTES }
    }

    /// Binds the files to the record of the layer.
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// The writer with another size of the buffer of each column, for layers of many columns.
    #[must_use]
    pub fn with_buffers(&self, buffer_bytes: usize) -> Self {
        Self { buffer_bytes, ..self.clone() }
    }

    /// Creates a column of one direction.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn section<T: Element>(
        &self,
        direction: Direction,
        column: SectionColumn,
    ) -> Result<ColumnWriter<T>> {
        self.column(&column.path(&self.directory, direction), column.kind(direction))
    }

    /// Creates a column of one direction, of values of a type.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn values(
        &self,
        direction: Direction,
        column: SectionColumn,
        element: ElementType,
    ) -> Result<ValuesWriter> {
        let spec = ColumnSpec { origin: self.origin, kind: column.kind(direction) };
        let path = column.path(&self.directory, direction);
        ValuesWriter::create(self.files, &path, spec, element, self.buffer_bytes)
    }

    /// Creates the offsets of a direction: n + 1 numbers, ascending from 0 to the number of arcs.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn offsets(&self, direction: Direction) -> Result<ColumnWriter<u64>> {
        self.section(direction, SectionColumn::Offsets)
    }

    /// Creates the targets of a direction: all lists, each ascending.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn targets(&self, direction: Direction) -> Result<ColumnWriter<VertexId>> {
        self.section(direction, SectionColumn::Targets)
    }

    /// Writes the versions that the layer distinguishes, ascending; call it only if there are several.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn versions(&self, versions: &[u64]) -> Result<()> {
        let mut column = self.column::<u64>(&versions_path(&self.directory), ColumnKind::LayerVersions)?;
        column.append(versions)?;
        column.finish().map(|_| ())
    }

    /// Writes how many arcs the versions of an incomplete layer added to out-lists, at most, and to in-lists:
    /// see [`PlainLayer::added_arcs`].
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn added(&self, arcs: [u64; 2]) -> Result<()> {
        let mut column = self.column::<u64>(&added_path(&self.directory), ColumnKind::LayerAdded)?;
        column.append(&arcs)?;
        column.finish().map(|_| ())
    }

    /// Creates the dictionary of an edge property, or the layer's additions to it.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn dictionary(&self, number: u32) -> Result<DictionaryWriter> {
        let files = DictionaryFiles::in_layer(&self.directory, number);
        Ok(DictionaryWriter::new(
            self.column(&files.texts, ColumnKind::DictionaryTexts)?,
            self.column(&files.ends, ColumnKind::DictionaryEnds)?,
            self.column(&files.order, ColumnKind::DictionaryOrder)?,
        ))
    }

    /// Writes the dictionary of an edge property, or the layer's additions to it: distinct texts in the order
    /// of their codes. Memory: 4 bytes each, if they do not ascend.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Invalid`] beyond [`super::dictionary::TEXTS_MAX`] texts.
    pub fn dictionary_of(&self, number: u32, texts: &[&[u8]]) -> Result<u64> {
        let mut writer = self.dictionary(number)?;
        texts.iter().try_for_each(|text| writer.push(text))?;
        writer.finish(|| Ok(order_of(texts)))
    }

    fn column<T: Element>(&self, path: &Path, kind: ColumnKind) -> Result<ColumnWriter<T>> {
        let spec = ColumnSpec { origin: self.origin, kind };
        ColumnWriter::create_buffered(self.files, path, spec, self.buffer_bytes)
    }
}

/// The parts of a layer that belong to neither direction.
struct LayerExtras {
    versions: Option<Column<u64>>,
    added: Option<[u64; 2]>,
}

/// A layer whose files are mapped.
#[derive(Debug)]
pub struct PlainLayer {
    directory: PathBuf,
    record: LayerRecord,
    out: Section,
    /// `None` if not stored, or if the graph is undirected, where `out` serves both directions.
    incoming: Option<Section>,
    /// The versions that the layer distinguishes; `None`: only the last of its range.
    versions: Option<Column<u64>>,
    versions_sound: AtomicBool,
    /// See [`PlainLayer::added_arcs`]; `None`: the layer does not say.
    added: Option<[u64; 2]>,
}

impl PlainLayer {
    /// Maps the files of a layer and checks their headers and lengths. `properties` are those of edges and of
    /// vertices.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Corrupt`] if a file does not match the manifest.
    pub fn open(
        files: &dyn Files,
        directory: &Path,
        origin: Origin,
        record: &LayerRecord,
        properties: &[PropertyRecord],
    ) -> Result<Self> {
        Self::open_with(files, directory, origin, record, None, properties)
    }

    /// As [`PlainLayer::open`], with the tiles of the layer, which it needs if its lists are kept in nothing
    /// else.
    ///
    /// # Errors
    /// As [`PlainLayer::open`].
    pub fn open_with(
        files: &dyn Files,
        directory: &Path,
        origin: Origin,
        record: &LayerRecord,
        tiles: Option<&Arc<Tiles>>,
        properties: &[PropertyRecord],
    ) -> Result<Self> {
        let section =
            |direction| Section::open(files, directory, direction, origin, record, tiles, properties);
        let out = section(Direction::Out)?;
        let incoming = if record.in_edges { Some(section(Direction::In)?) } else { None };
        let rest = Self::open_rest(files, directory, origin, record)?;
        Ok(Self::from_parts(directory, record.clone(), out, incoming, rest))
    }

    fn from_parts(
        directory: &Path,
        record: LayerRecord,
        out: Section,
        incoming: Option<Section>,
        rest: LayerExtras,
    ) -> Self {
        let LayerExtras { versions, added } = rest;
        let (directory, versions_sound) = (directory.to_owned(), AtomicBool::new(false));
        Self { directory, record, out, incoming, versions, versions_sound, added }
    }

    /// Opens what belongs to no direction.
    fn open_rest(
        files: &dyn Files,
        directory: &Path,
        origin: Origin,
        record: &LayerRecord,
    ) -> Result<LayerExtras> {
        let mut versions = None;
        if record.num_versions > 1 {
            let spec = ColumnSpec { origin, kind: ColumnKind::LayerVersions };
            let column = Column::open(files, &versions_path(directory), spec)?;
            column.expect_len(u64::from(record.num_versions))?;
            versions = Some(column);
        }
        let spec = ColumnSpec { origin, kind: ColumnKind::LayerAdded };
        // A damaged one costs no more than a worse bound; a check reports it.
        let added =
            Column::<u64>::open(files, &added_path(directory), spec).ok().filter(|_| !record.complete);
        let added = added.and_then(|column| column.get(0..2).ok()?.first_chunk().copied());
        Ok(LayerExtras { versions, added })
    }

    /// Maps only the lists of one direction, as out-lists: those of in-edges are the out-lists of the
    /// reversed graph. For a recovery.
    ///
    /// # Errors
    /// As [`PlainLayer::open`].
    pub fn open_only(
        files: &dyn Files,
        directory: &Path,
        origin: Origin,
        record: &LayerRecord,
        direction: Direction,
        properties: &[PropertyRecord],
    ) -> Result<Self> {
        let incoming = SectionRecord::default();
        let one_sided =
            LayerRecord { out: *record.section(direction), incoming, in_edges: false, ..record.clone() };
        if direction == Direction::Out {
            return Self::open(files, directory, origin, &one_sided, properties);
        }
        let out = Section::open(files, directory, direction, origin, record, None, properties)?;
        // Without the other lists, the rest is the same.
        let rest = Self::open_rest(files, directory, origin, &one_sided)?;
        Ok(Self::from_parts(directory, one_sided, out, None, rest))
    }

    /// Number of arcs that the versions of an incomplete layer added to the lists of a direction, at most;
    /// the layer may lack those that were deleted since. All other arcs are older, in lists that were copied
    /// whole. If the layer does not say, the number of all its arcs.
    pub fn added_arcs(&self, direction: Direction) -> u64 {
        let record = self.record.section(if self.record.directed { direction } else { Direction::Out });
        let at = usize::from(self.record.directed && direction == Direction::In);
        self.added.map_or(record.arcs + record.past_arcs, |added| added[at])
    }

    /// The layer's record in the manifest.
    pub fn record(&self) -> &LayerRecord {
        &self.record
    }

    /// The lists of a direction, if stored. In an undirected graph both directions share one section.
    pub fn section(&self, direction: Direction) -> Option<&Section> {
        match (direction, self.record.directed) {
            (Direction::In, true) => self.incoming.as_ref(),
            _ => Some(&self.out),
        }
    }

    /// Bytes of the files of the lists in the directions that are read, without directory and properties.
    /// Tiles serve both directions.
    pub fn list_bytes(&self, reads: impl Fn(Direction) -> bool) -> u64 {
        let out = Some(&self.out).filter(|_| reads(Direction::Out));
        let incoming = self.incoming.as_ref().filter(|_| reads(Direction::In));
        let bytes =
            [out, incoming].into_iter().flatten().map(|section| section.main().list_bytes()).sum::<u64>();
        match out.and(incoming).and_then(|section| section.main().tiles()) {
            Some(tiles) => bytes - tiles.file_bytes(),
            None => bytes,
        }
    }

    /// The out-lists.
    pub fn out(&self) -> &Section {
        &self.out
    }

    /// The in-lists, if the layer is directed and stores them.
    pub fn incoming(&self) -> Option<&Section> {
        self.incoming.as_ref()
    }

    /// Whether out-lists and in-lists differ.
    pub fn is_directed(&self) -> bool {
        self.record.directed
    }

    /// The least and the greatest value of an edge property, of floats rounded down and up, without reading
    /// them; `None` if there are no arcs, or the files do not say: see [`Column::value_range`]. Counts the
    /// lists of both directions: a list that was copied has older arcs, which the other direction of the
    /// layer need not have.
    pub(crate) fn value_range(&self, property: u32) -> Option<(i64, i64)> {
        let range_of = |lists: &ListColumns| {
            if lists.num_arcs() == 0 {
                return Some(None);
            }
            lists.property(property as usize)?.value_range().map(Some)
        };
        let of_section = |section: &Section| {
            let past = section.past().map_or(Some(None), |past| range_of(&past.lists))?;
            Some(united(range_of(section.main())?, past))
        };
        let incoming = self.incoming.as_ref().map_or(Some(None), of_section)?;
        united(of_section(&self.out)?, incoming)
    }

    /// The directory of its files.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The versions that the layer distinguishes, ascending and verified by the first call; the last is the
    /// last of its range.
    ///
    /// # Errors
    /// [`Error::Corrupt`].
    pub fn versions(&self) -> Result<&[u64]> {
        let last = std::slice::from_ref(&self.record.last_version);
        let Some(column) = &self.versions else { return Ok(last) };
        let versions = column.get(0..column.len())?;
        if self.versions_sound.load(Ordering::Acquire) {
            return Ok(versions);
        }
        let in_range = versions.first().is_some_and(|&first| first >= self.record.first_version);
        if !in_range || versions.last() != last.first() || !versions.is_sorted_by(|a, b| a < b) {
            return Err(column.corrupt(0, "the versions do not ascend to the last version of the layer"));
        }
        self.versions_sound.store(true, Ordering::Release);
        Ok(versions)
    }

    /// The rank of a version in the layer, or `None` if the version is at or after the end of the layer's
    /// range.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; [`Error::Invalid`] if the layer no longer distinguishes the version.
    pub fn rank_of(&self, version: u64) -> Result<Option<u32>> {
        if version >= self.record.last_version {
            return Ok(None);
        }
        let position = self.versions()?.binary_search(&version);
        let rank = position.map_err(|_| Error::invalid(format!("version {version} was forgotten")))?;
        Ok(Some(rank as u32 + 1))
    }
}

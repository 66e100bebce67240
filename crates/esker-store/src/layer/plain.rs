//! The `plain` encoding: arrays of ids, fastest to compute on.
//!
//! A *complete* layer has, for each direction, `offsets` (u64, n + 1), which say where the list of each vertex begins in
//! `targets` (vertex ids, each list ascending); one column a property lies parallel to `targets`. So a stored arc takes 4 bytes
//! (8 with 64-bit ids) plus its properties, and a vertex 8 bytes, in each direction that is kept; checksums add 1/16384.
//!
//! Other layers hold fragments of those lists that changed in their range of versions (LLAMA, thesis, 4.4.2: explicit linking):
//! a directory of vertices, and for each its fragment, the degree, and a link to the next older fragment; 24 bytes a fragment.
//! Tombstones lie apart, and so do arcs that lived and died within the range: readers at its end touch neither more than they must.

use std::path::{Path, PathBuf};

use esker_graph::{Direction, VertexId};

use super::columns::SectionColumn;
use super::section::Section;
use crate::error::{Error, Result};
use crate::format::{
    Column, ColumnKind, ColumnSpec, ColumnWriter, DatabaseId, Element, LayerRecord, PropertyRecord,
};
use crate::io::Files;

/// Where the texts of the dictionary of a property lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DictionaryFiles {
    /// The texts, concatenated.
    pub texts: PathBuf,
    /// Where each ends.
    pub ends: PathBuf,
}

impl DictionaryFiles {
    /// Those of the edge property `number` in the layer whose directory is given.
    pub fn of(layer: &Path, number: u32) -> Self {
        Self {
            texts: layer.join(format!("dictionary.{number}.texts")),
            ends: layer.join(format!("dictionary.{number}.ends")),
        }
    }
}

fn versions_path(layer: &Path) -> PathBuf {
    layer.join("versions")
}

/// Makes the files of a plain layer. Each method makes one; its columns are written in any order, by any threads, and
/// must agree with the [`LayerRecord`] that the manifest gets.
#[derive(Debug, Clone)]
pub struct PlainWriter<'a> {
    files: &'a dyn Files,
    directory: PathBuf,
    database: DatabaseId,
}

impl<'a> PlainWriter<'a> {
    /// Writes files in `directory`.
    pub fn new(files: &'a dyn Files, directory: &Path, database: DatabaseId) -> Self {
        Self { files, directory: directory.to_owned(), database }
    }

    /// A column of a direction.
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

    /// The offsets of a direction: n + 1, ascending from 0 to the number of arcs.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn offsets(&self, direction: Direction) -> Result<ColumnWriter<u64>> {
        self.section(direction, SectionColumn::Offsets)
    }

    /// The targets of a direction: all lists, each ascending.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn targets(&self, direction: Direction) -> Result<ColumnWriter<VertexId>> {
        self.section(direction, SectionColumn::Targets)
    }

    /// The values of an edge property, parallel to the targets.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn property<T: Element>(&self, direction: Direction, number: u32) -> Result<ColumnWriter<T>> {
        self.section(direction, SectionColumn::Property(number))
    }

    /// The versions that the layer tells apart, ascending; only if there are several.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn versions(&self, versions: &[u64]) -> Result<()> {
        let mut column = self.column::<u64>(&versions_path(&self.directory), ColumnKind::LayerVersions)?;
        column.append(versions)?;
        column.finish().map(|_| ())
    }

    /// The dictionary of an edge property, or what the layer adds to it: distinct texts, in the order of their codes.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn dictionary<'t>(&self, number: u32, texts: impl IntoIterator<Item = &'t [u8]>) -> Result<()> {
        let files = DictionaryFiles::of(&self.directory, number);
        let mut bytes = self.column::<u8>(&files.texts, ColumnKind::DictionaryTexts)?;
        let mut ends = self.column::<u64>(&files.ends, ColumnKind::DictionaryEnds)?;
        let mut end = 0;
        for text in texts {
            end += text.len() as u64;
            bytes.append(text)?;
            ends.append(&[end])?;
        }
        bytes.finish()?;
        ends.finish()?;
        Ok(())
    }

    fn column<T: Element>(&self, path: &Path, kind: ColumnKind) -> Result<ColumnWriter<T>> {
        ColumnWriter::create(self.files, path, ColumnSpec { database: self.database, kind })
    }
}

/// A plain layer, mapped.
#[derive(Debug)]
pub struct PlainLayer {
    directory: PathBuf,
    record: LayerRecord,
    out: Section,
    /// `None`: not kept, or (undirected) the same as `out`.
    incoming: Option<Section>,
    /// The versions that it tells apart; `None`: only the last of its range.
    versions: Option<Column<u64>>,
}

impl PlainLayer {
    /// Maps the files of a layer and checks their headers and lengths. `properties` are those of edges and vertices.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Corrupt`] if a file is not what the manifest says.
    pub fn open(
        files: &dyn Files,
        directory: &Path,
        database: DatabaseId,
        record: &LayerRecord,
        properties: &[PropertyRecord],
    ) -> Result<Self> {
        let section = |direction| Section::open(files, directory, direction, database, record, properties);
        let out = section(Direction::Out)?;
        let incoming = if record.in_edges { Some(section(Direction::In)?) } else { None };
        let mut versions = None;
        if record.num_versions > 1 {
            let spec = ColumnSpec { database, kind: ColumnKind::LayerVersions };
            let column = Column::open(files, &versions_path(directory), spec)?;
            column.expect_len(u64::from(record.num_versions))?;
            versions = Some(column);
        }
        Ok(Self { directory: directory.to_owned(), record: record.clone(), out, incoming, versions })
    }

    /// What the manifest says of it.
    pub fn record(&self) -> &LayerRecord {
        &self.record
    }

    /// The lists of a direction, if kept. In an undirected graph both directions are the same section.
    pub fn section(&self, direction: Direction) -> Option<&Section> {
        match (direction, self.record.directed) {
            (Direction::In, true) => self.incoming.as_ref(),
            _ => Some(&self.out),
        }
    }

    /// The out-lists.
    pub fn out(&self) -> &Section {
        &self.out
    }

    /// The in-lists, if the layer is directed and they are kept.
    pub fn incoming(&self) -> Option<&Section> {
        self.incoming.as_ref()
    }

    /// Whether out-lists and in-lists differ.
    pub fn is_directed(&self) -> bool {
        self.record.directed
    }

    /// Where its files are.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The versions that it tells apart, ascending, verified; the last is the last of its range.
    ///
    /// # Errors
    /// [`Error::Corrupt`].
    pub fn versions(&self) -> Result<&[u64]> {
        let last = std::slice::from_ref(&self.record.last_version);
        let Some(column) = &self.versions else { return Ok(last) };
        let versions = column.get(0..column.len())?;
        let in_range = versions.first().is_some_and(|&first| first >= self.record.first_version);
        if !in_range || versions.last() != last.first() || !versions.is_sorted_by(|a, b| a < b) {
            return Err(column.corrupt(0, "versions do not ascend to the last of the layer"));
        }
        Ok(versions)
    }

    /// Size of the file of versions; 0 without one.
    pub fn versions_bytes(&self) -> u64 {
        self.versions.as_ref().map_or(0, Column::file_bytes)
    }

    /// The rank of a version in the range of the layer, or `None` if all that the layer holds counts at it.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; [`Error::Invalid`] if the version is not one that the layer tells apart.
    pub fn rank_of(&self, version: u64) -> Result<Option<u32>> {
        if version >= self.record.last_version {
            return Ok(None);
        }
        let place = self.versions()?.binary_search(&version);
        let rank = place.map_err(|_| Error::Invalid(format!("version {version} was forgotten")))?;
        Ok(Some(rank as u32 + 1))
    }
}

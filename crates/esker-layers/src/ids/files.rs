//! The files of an id map.

use std::path::{Path, PathBuf};

use esker_format::Result;
use esker_format::io::Files;
use esker_format::{Column, ColumnKind, ColumnSpec, ColumnWriter, Element, Origin};

use super::hash::IdHasher;

/// The location of the files of an id map.
#[derive(Debug, Clone, Copy)]
pub struct IdFiles<'a> {
    /// The disk or archive that holds the files.
    pub disk: &'a dyn Files,
    /// The directory `ids` of a database, or the layer's directory for a segment. It must exist before files
    /// are written.
    pub directory: &'a Path,
    /// Binds them to their record in the manifest.
    pub origin: Origin,
    /// The hash of its ids.
    pub hasher: IdHasher,
}

/// The columns of an id map; each kind of map has some of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IdColumnFile {
    /// The integer of each vertex.
    Integers,
    /// The texts of all vertices.
    Texts,
    /// Where the text of each vertex ends.
    TextEnds,
    /// Where each bucket of the index begins.
    Buckets,
    /// The tags of the index.
    Tags,
    /// The vertices of the index.
    Vertices,
    /// The integer of each vertex of a segment.
    SegmentIntegers,
    /// The texts of the vertices of a segment.
    SegmentTexts,
    /// Where the text of each vertex of a segment ends.
    SegmentTextEnds,
    /// The filter of a segment, and its vertices by hash.
    SegmentIndex,
}

impl IdFiles<'_> {
    pub(super) fn create<T: Element>(&self, file: IdColumnFile) -> Result<ColumnWriter<T>> {
        ColumnWriter::create(self.disk, &self.path(file), self.spec(file))
    }

    pub(super) fn open<T: Element>(&self, file: IdColumnFile) -> Result<Column<T>> {
        Column::open(self.disk, &self.path(file), self.spec(file))
    }

    fn path(&self, file: IdColumnFile) -> PathBuf {
        self.directory.join(match file {
            IdColumnFile::Integers => "integers",
            IdColumnFile::Texts => "texts",
            IdColumnFile::TextEnds => "texts.ends",
            IdColumnFile::Buckets => "index.buckets",
            IdColumnFile::Tags => "index.tags",
            IdColumnFile::Vertices => "index.vertices",
            IdColumnFile::SegmentIntegers => "ids.integers",
            IdColumnFile::SegmentTexts => "ids.texts",
            IdColumnFile::SegmentTextEnds => "ids.texts.ends",
            IdColumnFile::SegmentIndex => "ids.index",
        })
    }

    fn spec(&self, file: IdColumnFile) -> ColumnSpec {
        let kind = match file {
            IdColumnFile::Integers | IdColumnFile::SegmentIntegers => ColumnKind::IdIntegers,
            IdColumnFile::Texts | IdColumnFile::SegmentTexts => ColumnKind::IdTexts,
            IdColumnFile::TextEnds | IdColumnFile::SegmentTextEnds => ColumnKind::IdTextEnds,
            IdColumnFile::Buckets => ColumnKind::IdIndexBuckets,
            IdColumnFile::Tags => ColumnKind::IdIndexTags,
            IdColumnFile::Vertices => ColumnKind::IdIndexVertices,
            IdColumnFile::SegmentIndex => ColumnKind::IdSegmentIndex,
        };
        ColumnSpec { origin: self.origin, kind }
    }
}

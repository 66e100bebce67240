//! The files of a vertex property in a layer.

use std::path::{Path, PathBuf};

use esker_format::io::Files;
use esker_format::{
    Column, ColumnKind, ColumnSpec, ColumnWriter, Element, ElementType, LogicalType, Origin, Owner,
    PropertyRecord, Values, Widening,
};
use esker_format::{Error, Result};

/// Number of the hidden property that says which vertices are removed.
pub const REMOVED_NUMBER: u32 = u32::MAX;

/// The hidden property that says which vertices are removed (1) or came back (0). The manifest does not name
/// it.
pub fn removed_record() -> PropertyRecord {
    PropertyRecord {
        number: REMOVED_NUMBER,
        owner: Owner::Vertices,
        name: "removed".to_owned(),
        element: ElementType::U8,
        logical: LogicalType::Number,
        weight: false,
        kind: false,
        optional: false,
    }
}

/// Where the columns of a vertex property lie, or are to be written.
#[derive(Debug, Clone, Copy)]
pub struct PropertyFiles<'a> {
    /// Where they are kept: an archive, as a rule.
    pub disk: &'a dyn Files,
    /// The directory of a layer. It exists when files are written.
    pub directory: &'a Path,
    /// Binds them to their record in the manifest.
    pub origin: Origin,
    /// The property.
    pub record: &'a PropertyRecord,
}

/// The columns of a vertex property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PropertyFile {
    Vertices,
    Codes,
    Values,
    Texts,
    Ends,
}

impl PropertyFiles<'_> {
    pub(super) fn create<T: Element>(&self, part: PropertyFile) -> Result<ColumnWriter<T>> {
        ColumnWriter::create(self.disk, &self.path(part), self.spec(part))
    }

    pub(super) fn open<T: Element>(&self, part: PropertyFile) -> Result<Column<T>> {
        Column::open(self.disk, &self.path(part), self.spec(part))
    }

    /// The values, in the type of the property or in a narrower one that it had when they were written.
    pub(super) fn open_values(&self) -> Result<Values> {
        let path = self.path(PropertyFile::Values);
        let values = Values::open_of_kind(self.disk, &path, self.spec(PropertyFile::Values))?;
        let (found, wanted) = (values.element(), self.record.element);
        if found == wanted || Widening::is_possible(found, wanted) {
            return Ok(values);
        }
        let (found, wanted) = (found.name(), wanted.name());
        Err(Error::corrupt(&path, 0, format!("its elements are {found}, but those of the property {wanted}")))
    }

    fn path(&self, part: PropertyFile) -> PathBuf {
        let part = match part {
            PropertyFile::Vertices => "vertices",
            PropertyFile::Codes => "codes",
            PropertyFile::Values => "values",
            PropertyFile::Texts => "texts",
            PropertyFile::Ends => "ends",
        };
        self.directory.join(match self.record.number {
            REMOVED_NUMBER => format!("removed.{part}"),
            number => format!("property.{number}.{part}"),
        })
    }

    fn spec(&self, part: PropertyFile) -> ColumnSpec {
        let kind = match part {
            PropertyFile::Vertices => ColumnKind::VertexPropertyVertices,
            PropertyFile::Codes => ColumnKind::VertexPropertyCodes,
            PropertyFile::Values => ColumnKind::VertexProperty,
            PropertyFile::Texts => ColumnKind::VertexPropertyTexts,
            PropertyFile::Ends => ColumnKind::VertexPropertyEnds,
        };
        ColumnSpec { origin: self.origin, kind }
    }
}

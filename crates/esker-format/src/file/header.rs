//! Header pages, and the header of column files.

use std::ffi::OsStr;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::Path;

use crate::error::{Error, Result};
use crate::file::field::{FieldInput, FieldValue, codes, layout};
use crate::file::size::{FORMAT_VERSION, PAGE_BYTES};
use crate::io::Files;

pub(crate) const COLUMN_MAGIC: [u8; 8] = *b"Eskercol";
/// How files of the formats before the first release begin.
const BEFORE_RELEASE: [u8; 5] = *b"ESKER";
/// The last four bytes of a header page are its checksum, in every format version.
const CHECKSUM_OFFSET: usize = PAGE_BYTES - 4;

/// Identifies a database: a random number in the header of each of its files, which detects a stray file of
/// another database.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DatabaseId(pub [u8; 16]);

/// Unpredictable bytes, which no two calls share.
fn random_bytes() -> [u8; 16] {
    let mut bytes = [0; 16];
    for half in bytes.chunks_mut(8) {
        let mut hasher = RandomState::new().build_hasher();
        hasher.write_u32(std::process::id());
        if let Ok(age) = std::time::UNIX_EPOCH.elapsed() {
            hasher.write_u128(age.as_nanos());
        }
        half.copy_from_slice(&hasher.finish().to_le_bytes());
    }
    bytes
}

impl std::fmt::Display for DatabaseId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl std::fmt::Debug for DatabaseId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}

/// The secret of a database, drawn when it is created and stored in its manifest. It keys the hash of
/// external ids, so that an input cannot be made whose ids collide. No message shows it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct IdSecret(pub [u8; 16]);

impl std::fmt::Debug for IdSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("IdSecret(..)")
    }
}

/// Values of 16 random bytes.
macro_rules! random_values {
    ($($name:ident),*) => {$(
        impl $name {
            /// A new one, from the standard library's random seeds, the time and the process id.
            pub fn random() -> Self {
                Self(random_bytes())
            }
        }

        impl FieldValue for $name {
            #[cfg(test)]
            fn type_name() -> String {
                <[u8; 16]>::type_name()
            }

            fn put(&self, out: &mut Vec<u8>) {
                self.0.put(out);
            }

            fn take(input: &mut FieldInput<'_>) -> Result<Self> {
                FieldValue::take(input).map(Self)
            }
        }
    )*};
}

random_values!(DatabaseId, IdSecret, Stamp);

/// A random number of a set of files that were written together: a layer, its tiles, its heads, or the map of
/// ids. It stands in the header of each of these files and in the record of MANIFEST that lists them. So
/// files of two copies of a database that took different courses cannot pass for one another, although they
/// have the same names and the same [`DatabaseId`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Stamp(pub [u8; 16]);

impl std::fmt::Debug for Stamp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// What binds files to their record in MANIFEST.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// The database.
    pub database: DatabaseId,
    /// The set of files that were written together.
    pub stamp: Stamp,
}

impl Origin {
    /// That of the files of an import. They need no other number than that of the database, which is drawn
    /// anew for each import.
    pub const fn of_import(database: DatabaseId) -> Self {
        Self { database, stamp: Stamp(database.0) }
    }

    /// That of files which are added to a database.
    pub fn random(database: DatabaseId) -> Self {
        Self { database, stamp: Stamp::random() }
    }
}

codes! {
    /// The type of the elements of a column.
    pub enum ElementType: u8 {
        /// Unsigned, 8 bits.
        U8 = 1,
        /// Unsigned, 16 bits.
        U16 = 2,
        /// Unsigned, 32 bits.
        U32 = 3,
        /// Unsigned, 64 bits.
        U64 = 4,
        /// Signed, 32 bits.
        I32 = 5,
        /// Signed, 64 bits.
        I64 = 6,
        /// IEEE 754, 32 bits.
        F32 = 7,
        /// IEEE 754, 64 bits.
        F64 = 8,
    }
}

impl ElementType {
    /// Bytes of one element.
    pub const fn bytes(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::U16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
        }
    }

    /// Its name in Rust.
    pub const fn name(self) -> &'static str {
        match self {
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }
}

/// An element type of a column.
pub trait Element: bytemuck::Pod + Default + Send + Sync {
    /// Its code on disk.
    const TYPE: ElementType;
}

macro_rules! elements {
    ($($type:ty => $code:ident),*) => {$(
        impl Element for $type {
            const TYPE: ElementType = ElementType::$code;
        }
    )*};
}

elements!(u8 => U8, u16 => U16, u32 => U32, u64 => U64, i32 => I32, i64 => I64, f32 => F32, f64 => F64);

codes! {
    /// The content of a column. It detects swapped files.
    pub enum ColumnKind: u16 {
        /// For each vertex, where its out-list begins in 2; then the end of the last list (n + 1 elements).
        OutOffsets = 1,
        /// All out-lists, each ascending.
        OutTargets = 2,
        /// As 1, for in-lists.
        InOffsets = 3,
        /// All in-lists, each ascending.
        InTargets = 4,
        /// An edge property, parallel to 2.
        OutProperty = 5,
        /// The same edge property, parallel to 4.
        InProperty = 6,
        /// The texts that a layer adds to a dictionary, concatenated, in order of their codes.
        DictionaryTexts = 7,
        /// Where each text of a dictionary ends.
        DictionaryEnds = 8,
        /// The values of a vertex property, parallel to 10; 0 where a vertex lost its value.
        VertexProperty = 9,
        /// The vertices that gained or lost a value of a vertex property, ascending; entries of one vertex
        /// are in order of version.
        VertexPropertyVertices = 10,
        /// Parallel to 10, the code of the version; the highest bit is set where the vertex lost its value.
        VertexPropertyCodes = 11,
        /// The values of a vertex property of texts, concatenated, in the order of 10.
        VertexPropertyTexts = 12,
        /// Parallel to 10, where each text ends.
        VertexPropertyEnds = 13,
        /// For each vertex, its external integer. Dense integers: less their base, and as wide as a vertex
        /// id.
        IdIntegers = 16,
        /// The external texts of all vertices, concatenated, in order of vertex.
        IdTexts = 17,
        /// Where the text of each vertex ends.
        IdTextEnds = 18,
        /// Where each bucket of the index of external ids begins; then the end of the last bucket.
        IdIndexBuckets = 19,
        /// The tag of each vertex in the index.
        IdIndexTags = 20,
        /// The vertices of the index. Dense integers: for each integer its vertex.
        IdIndexVertices = 21,
        /// A filter and an index of the external ids that a layer adds.
        IdSegmentIndex = 22,
        /// The places in 8 of all texts, in ascending order of their bytes; empty if 7 has them so.
        DictionaryOrder = 23,
        /// How many arcs the versions of an incomplete layer added to out-lists, at most, and to in-lists.
        /// All its other arcs are older, in lists that it holds whole.
        LayerAdded = 30,
        /// The versions that a layer distinguishes, ascending; the code of a version is its position plus 1.
        LayerVersions = 31,
        /// The vertices with fragments of out-lists in an incomplete layer, ascending; the layer's offsets
        /// are parallel to it.
        OutVertices = 32,
        /// For each fragment, the length of the whole list at the end of the layer's range.
        OutDegrees = 33,
        /// For each fragment, the address of the next older one: 24 bits of layer number, 40 bits of position
        /// in that layer's column of vertices. 0: the fragment is the whole list.
        OutPrevious = 34,
        /// For each arc, the code of the version that added it, or 0 if it is older than the layer. In a
        /// whole list of a layer that is not complete, 0 may also be the first version of the layer.
        OutBorn = 35,
        /// The vertices with tombstones, ascending.
        OutDeadVertices = 36,
        /// For each of these vertices, where its tombstones begin; then the end of the last.
        OutDeadOffsets = 37,
        /// Tombstones, ascending for each vertex: each deletes the arcs to its target in older layers.
        OutDeadTargets = 38,
        /// For each tombstone, the code of the version that added it.
        OutDeadCodes = 39,
        /// The vertices with past arcs, ascending. A past arc lived and died within the layer's range.
        OutPastVertices = 40,
        /// For each of these vertices, where its past arcs begin; then the end of the last.
        OutPastOffsets = 41,
        /// The targets of past arcs, ascending for each vertex.
        OutPastTargets = 42,
        /// For each past arc, the code of the version that added it.
        OutPastBorn = 43,
        /// For each past arc, the code of the version that removed it.
        OutPastDied = 44,
        /// An edge property of past arcs.
        OutPastProperty = 45,
        /// As 32, for in-lists.
        InVertices = 48,
        /// As 33, for in-lists.
        InDegrees = 49,
        /// As 34, for in-lists.
        InPrevious = 50,
        /// As 35, for in-lists.
        InBorn = 51,
        /// As 36, for in-lists.
        InDeadVertices = 52,
        /// As 37, for in-lists.
        InDeadOffsets = 53,
        /// As 38, for in-lists.
        InDeadTargets = 54,
        /// As 39, for in-lists.
        InDeadCodes = 55,
        /// As 40, for in-lists.
        InPastVertices = 56,
        /// As 41, for in-lists.
        InPastOffsets = 57,
        /// As 42, for in-lists.
        InPastTargets = 58,
        /// As 43, for in-lists.
        InPastBorn = 59,
        /// As 44, for in-lists.
        InPastDied = 60,
        /// As 45, for in-lists.
        InPastProperty = 61,
        /// For each chunk, in file order: the row of its tile times 2^32, plus the tile's column.
        TileKeys = 64,
        /// Where each chunk begins in 68.
        TileStarts = 65,
        /// For each chunk, the number of edges before it; then the number of all edges.
        TileEdges = 66,
        /// The number of tile rows, and of tile columns, in a group.
        TileGroups = 67,
        /// The chunks. No chunk crosses a block boundary; the bytes after the last chunk of a block are zero.
        TileData = 68,
        /// An edge property, in order of chunk and, within a chunk, of position.
        TileProperty = 69,
        /// For each vertex, the length of its out-list; 65535 if 71 holds it.
        TileOutDegrees = 70,
        /// The vertices with longer out-lists, ascending, each followed by the length.
        TileOutHubs = 71,
        /// As 70, for in-lists of a directed graph.
        TileInDegrees = 72,
        /// As 71, for in-lists of a directed graph.
        TileInHubs = 73,
        /// Where the blocks with the chunks lie, if not all lie in the layer's own file, in its order: for
        /// each range of blocks that follow one another in a file, the number of the layer that wrote the
        /// file (0: this layer), the first block there, and the number of blocks. Positions in 65 count these
        /// blocks one after another, each with its full length. Chunks of groups that are not in use may lie
        /// among those that are.
        TileExtents = 74,
        /// Compressed lists: for each 64 out-lists, the arcs before them, the bytes before them, and the
        /// offset of their sizes in 81 times 256 plus widths; then the same for the end.
        OutGroups = 80,
        /// For each 64 out-lists, their degrees, then their lengths in bytes.
        OutSizes = 81,
        /// All out-lists, encoded, then 64 zeros.
        OutLists = 82,
        /// For each block of an out-list except the first, where it begins in 82.
        OutBlocks = 83,
        /// As 80, for in-lists.
        InGroups = 84,
        /// As 81, for in-lists.
        InSizes = 85,
        /// As 82, for in-lists.
        InLists = 86,
        /// As 83, for in-lists.
        InBlocks = 87,
        /// Heads: the first targets of each out-list, one head after another.
        OutHeads = 90,
        /// For each page of 4096 bytes of the file with 2, from the page with the first target on: its
        /// CRC-32C up to the last target.
        OutPageSums = 91,
        /// As 90, for in-lists.
        InHeads = 92,
        /// As 91, for 4.
        InPageSums = 93,
    }
}

/// Identifies a column: written to its header, and expected when it is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnSpec {
    /// What binds the column to its record in MANIFEST.
    pub origin: Origin,
    /// The content of the column.
    pub kind: ColumnKind,
}

layout! {
    /// The start of a column file. Zeros follow up to byte 4092, which begins the CRC-32C of all bytes before
    /// it.
    pub(crate) struct ColumnHeader {
        /// `Eskercol`.
        magic: [u8; 8],
        /// Version of the format.
        format_version: u32,
        /// The database.
        database: DatabaseId,
        /// The number of the set of files to which it belongs: that of its record in MANIFEST.
        stamp: Stamp,
        /// The content of the column.
        kind: ColumnKind,
        /// Type of the elements.
        element: ElementType,
        /// Number of elements.
        count: u64,
        /// Bytes of data under one checksum.
        block_bytes: u32,
        /// CRC-32C of the path of the file from the number of its layer on, as in `7/out.targets`, or of its
        /// name in other directories. It detects a column that was put in the place of another.
        place_checksum: u32,
        /// 1 if the least and the greatest value follow: in columns of signed integers and floats that have
        /// elements.
        has_range: u8,
        /// The least value, of floats rounded down to an i64.
        least: i64,
        /// The greatest value, of floats rounded up to an i64.
        greatest: i64,
    }
}

/// The checksum of the place of a column: of its path from the number of its layer on, or of its name in
/// other directories.
pub(crate) fn place_checksum(path: &Path) -> u32 {
    let parts: Vec<_> = path.iter().collect();
    // Tiles and heads lie one directory deeper than the other files of a layer.
    let is_number = |part: &OsStr| part.to_str().is_some_and(|part| part.parse::<u32>().is_ok());
    let is_form = |part: &OsStr| part == "tiles" || part == "heads";
    let first = match parts[..] {
        [.., layer, form, _] if is_form(form) && is_number(layer) => parts.len() - 3,
        [.., layer, _] if is_number(layer) => parts.len() - 2,
        _ => parts.len().saturating_sub(1),
    };
    let place: Vec<&[u8]> = parts[first..].iter().map(|part| part.as_encoded_bytes()).collect();
    crc32c::crc32c(&place.join(&b'/'))
}

/// Encodes a header page: the fields, zeros, and the checksum of both.
pub fn header_page(fields: &impl FieldValue) -> Vec<u8> {
    let mut start = Vec::new();
    fields.put(&mut start);
    let mut page = vec![0; PAGE_BYTES];
    page[..start.len()].copy_from_slice(&start);
    let checksum = crc32c::crc32c(&page[..CHECKSUM_OFFSET]);
    page[CHECKSUM_OFFSET..].copy_from_slice(&checksum.to_le_bytes());
    page
}

/// The number in the header of a column file: see [`Stamp`].
///
/// # Errors
/// [`Error::Io`]; [`Error::Corrupt`]; [`Error::Invalid`] for an unsupported format version.
pub fn stamp_of(files: &dyn Files, path: &Path) -> Result<Stamp> {
    let file = files.open(path)?;
    let mut page = vec![0; PAGE_BYTES];
    file.read_exact_at(&mut page, 0)?;
    let header: ColumnHeader = read_header_page(path, &page, COLUMN_MAGIC)?;
    Ok(header.stamp)
}

/// Checks magic, checksum and version of a header page, in this order, and decodes its fields.
pub fn read_header_page<T: FieldValue>(path: &Path, file: &[u8], magic: [u8; 8]) -> Result<T> {
    read_header_page_at(path, 0, file, magic)
}

/// As [`read_header_page`], for a part of a file that begins at `start`.
pub(crate) fn read_header_page_at<T: FieldValue>(
    path: &Path,
    start: u64,
    part: &[u8],
    magic: [u8; 8],
) -> Result<T> {
    let Some(page) = part.get(..PAGE_BYTES) else {
        return Err(Error::corrupt(path, start + part.len() as u64, "the file ends within its header"));
    };
    if page[..8] != magic {
        if page[..5] == BEFORE_RELEASE && page[5..8] == magic[5..] {
            return Err(Error::invalid(format!(
                "{} was written by an Esker before its first release, in a format that is no longer read: import the graph again",
                path.display()
            )));
        }
        return Err(Error::corrupt(path, start, "it is not a file of the expected kind"));
    }
    let found =
        u32::take(&mut FieldInput::new(path, &page[CHECKSUM_OFFSET..], start + CHECKSUM_OFFSET as u64))?;
    if found != crc32c::crc32c(&page[..CHECKSUM_OFFSET]) {
        return Err(Error::corrupt(path, start, "the checksum of its header does not match"));
    }
    let mut input = FieldInput::new(path, page, start);
    input.bytes(8)?;
    let version = u32::take(&mut input)?;
    if version != FORMAT_VERSION {
        return Err(Error::invalid(format!(
            "{} has format version {version}, but this Esker reads version {FORMAT_VERSION} only: use a newer Esker",
            path.display()
        )));
    }
    T::take(&mut FieldInput::new(path, page, start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn database_ids_differ() {
        let (a, b) = (DatabaseId::random(), DatabaseId::random());
        assert_ne!(a, b);
        assert_eq!(a.to_string().len(), 32);
    }

    #[test]
    fn the_place_of_a_column_is_its_layer_and_its_name() {
        let place = |path: &str| place_checksum(Path::new(path));
        assert_eq!(place("a.esker/layers/7/out.targets"), place("/tmp/b.staging/layers/7/out.targets"));
        assert_eq!(place("a.esker/ids/texts"), place("7/ids/texts"));
        let places = [
            "layers/7/out.targets",
            "layers/8/out.targets",
            "layers/7/in.targets",
            "layers/7/out.property.0",
            "layers/7/out.property.1",
            "layers/7/tiles/out.degrees",
            "layers/8/tiles/out.degrees",
            "layers/7/tiles.data",
            "layers/7/out.degrees",
        ];
        let distinct: std::collections::BTreeSet<u32> = places.map(place).into();
        assert_eq!(distinct.len(), places.len());
    }

    #[test]
    fn an_unsupported_format_version_is_an_error_with_a_remedy() {
        let header = |format_version| ColumnHeader {
            magic: COLUMN_MAGIC,
            format_version,
            database: DatabaseId([1; 16]),
            stamp: Stamp([2; 16]),
            kind: ColumnKind::OutTargets,
            element: ElementType::U32,
            count: 0,
            block_bytes: 0,
            place_checksum: 0,
            has_range: 0,
            least: 0,
            greatest: 0,
        };
        let read = |version| {
            read_header_page::<ColumnHeader>(Path::new("f"), &header_page(&header(version)), COLUMN_MAGIC)
        };
        let message = |version| read(version).unwrap_err().to_string();
        assert!(message(99).contains("format version 99") && message(99).contains("use a newer Esker"));
        assert_eq!(read(FORMAT_VERSION).unwrap(), header(FORMAT_VERSION));
        let mut page = header_page(&header(FORMAT_VERSION));
        page[..8].copy_from_slice(b"ESKERcol");
        let before = read_header_page::<ColumnHeader>(Path::new("f"), &page, COLUMN_MAGIC).unwrap_err();
        assert!(
            before.to_string().contains("before its first release")
                && before.to_string().contains("import the graph again")
        );
    }
}

//! Reading and writing MANIFEST.

use std::path::Path;

use esker_graph::{NONE, VertexId};

use crate::error::{Error, Result};
use crate::format::{
    DatabaseId, Edit, ElementType, FORMAT_VERSION, IdMapRecord, Input, LayerRecord, MANIFEST_MAGIC,
    ManifestHeader, PAGE_BYTES, PropertyRecord, RecordHeader, Value, VersionRecord, header_page,
    read_header_page,
};
use crate::io::Disk;

const RECORD_HEADER_BYTES: usize = 20;

/// The state of a database: what all edits of its manifest lead to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// The database.
    pub database: DatabaseId,
    /// When it was made: milliseconds since 1970, UTC.
    pub created_ms: u64,
    /// Its layers, oldest first; at least one.
    pub layers: Vec<LayerRecord>,
    /// How its external ids and vertices are related.
    pub ids: IdMapRecord,
    /// Properties of edges and of vertices, each by number.
    pub properties: Vec<PropertyRecord>,
    /// Its versions, oldest first; at least one.
    pub versions: Vec<VersionRecord>,
}

impl Manifest {
    /// Reads the manifest at `path`. Any damage is an error: no writer of this format version leaves a torn record.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Corrupt`]; [`Error::Invalid`] if the format is newer, or the vertex ids have another
    /// width than this build's.
    pub fn read(disk: &dyn Disk, path: &Path) -> Result<Self> {
        let file = disk.read(path)?;
        let header: ManifestHeader = read_header_page(path, &file, MANIFEST_MAGIC)?;
        if usize::from(header.vertex_bytes) != size_of::<VertexId>() {
            return Err(Error::Invalid(format!(
                "{} is of a database with vertex ids of {} bytes, and this build of Esker has {}: use a build {} the \
                 feature `id64`",
                path.display(),
                header.vertex_bytes,
                size_of::<VertexId>(),
                if header.vertex_bytes == 8 { "with" } else { "without" },
            )));
        }
        let mut edits = Vec::new();
        let mut start = PAGE_BYTES;
        while start < file.len() {
            let number = edits.len() as u64 + 1;
            let (record, end) = read_record(path, &file, start, number)?;
            edits.push(record);
            start = end;
        }
        let manifest = Self::assemble(&header, edits.into_iter().flatten()).ok_or_else(|| {
            Error::corrupt(path, file.len() as u64, "it ends without describing a whole database")
        })?;
        match manifest.contradiction() {
            Some(reason) => Err(Error::corrupt(path, PAGE_BYTES as u64, reason)),
            None => Ok(manifest),
        }
    }

    /// What cannot be, if anything.
    fn contradiction(&self) -> Option<&'static str> {
        use ElementType::{F32, F64, I32, I64, U8, U16, U32};
        let mut next_numbers = [0; 2];
        for property in &self.properties {
            let next = &mut next_numbers[property.owner as usize - 1];
            if property.number != *next {
                return Some("properties are not numbered from 0");
            }
            *next += 1;
            let fits = match (property.texts, property.weight) {
                (true, _) => matches!(property.element, U8 | U16 | U32),
                (false, true) => matches!(property.element, I32 | I64 | F32 | F64),
                (false, false) => true,
            };
            if !fits {
                return Some("the type of a property does not fit its use");
            }
        }
        let impossible = |layer: &LayerRecord| {
            layer.num_vertices > NONE as usize as u64
                || layer.first_version > layer.last_version
                || layer.number == 0
                || layer.number >= 1 << 24
                || layer.num_versions == 0
                || u64::from(layer.num_versions) > layer.last_version - layer.first_version + 1
                || (layer.in_edges && !layer.directed)
                || layer.num_edges > layer.num_arcs
                || layer.num_loops > layer.num_edges
        };
        self.layers.iter().any(impossible).then_some("the numbers of a layer contradict each other")
    }

    /// The bytes of a manifest with one record.
    pub fn encode(database: DatabaseId, created_ms: u64, edits: &[Edit]) -> Vec<u8> {
        let mut file = header_page(&ManifestHeader {
            magic: MANIFEST_MAGIC,
            format_version: FORMAT_VERSION,
            database,
            vertex_bytes: size_of::<VertexId>() as u8,
            created_ms,
        });
        put_record(&mut file, 1, edits);
        file
    }

    fn assemble(header: &ManifestHeader, edits: impl Iterator<Item = Edit>) -> Option<Self> {
        let (mut layers, mut ids, mut properties, mut versions) = (Vec::new(), None, Vec::new(), Vec::new());
        for edit in edits {
            match edit {
                Edit::AddLayer(layer) => layers.push(layer),
                Edit::SetIdMap(map) => ids = Some(map),
                Edit::AddProperty(property) => properties.push(property),
                Edit::AddVersion(version) => versions.push(version),
            }
        }
        properties.sort_by_key(|property: &PropertyRecord| (property.owner as u8, property.number));
        let whole = !layers.is_empty() && !versions.is_empty();
        let (database, created_ms) = (header.database, header.created_ms);
        ids.filter(|_| whole).map(|ids| Self { database, created_ms, layers, ids, properties, versions })
    }
}

fn put_record(file: &mut Vec<u8>, number: u64, edits: &[Edit]) {
    let mut body = Vec::new();
    for edit in edits {
        edit.put(&mut body);
    }
    let bytes = (RECORD_HEADER_BYTES + body.len()) as u32;
    let mut header = RecordHeader { bytes, checksum: 0, number, edits: edits.len() as u32 };
    header.checksum = checksum(&header, &body);
    header.put(file);
    file.extend_from_slice(&body);
}

/// The edits of the record at `start`, and where it ends.
fn read_record(path: &Path, file: &[u8], start: usize, number: u64) -> Result<(Vec<Edit>, usize)> {
    let header = RecordHeader::take(&mut Input::new(path, &file[start..], start as u64))?;
    let wrong = |reason: &str| Error::corrupt(path, start as u64, reason);
    let end = start.saturating_add(header.bytes as usize);
    let Some(body) = file.get(start + RECORD_HEADER_BYTES..end) else {
        return Err(wrong("the record that begins here does not end within the file"));
    };
    if checksum(&header, body) != header.checksum {
        return Err(wrong("the checksum of the record that begins here does not match"));
    }
    if header.number != number {
        return Err(wrong("the record that begins here is not the next"));
    }
    let mut input = Input::new(path, body, (start + RECORD_HEADER_BYTES) as u64);
    let edits = (0..header.edits).map(|_| Edit::take(&mut input)).collect::<Result<Vec<_>>>()?;
    input.finish()?;
    Ok((edits, end))
}

fn checksum(header: &RecordHeader, body: &[u8]) -> u32 {
    let mut covered = Vec::new();
    header.bytes.put(&mut covered);
    header.number.put(&mut covered);
    header.edits.put(&mut covered);
    crc32c::crc32c_append(crc32c::crc32c(&covered), body)
}

//! Merging: replaces several layers by one, and drops forgotten versions.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use esker_format::Result;
use esker_format::io::Disk;
use esker_format::{
    ArchiveWriter, DatabaseId, DictionaryRecord, Edit, ElementType, Encoding, LayerRecord, PropertyRecord,
    Widening, archived_name,
};
use esker_graph::Run;
use esker_layers::ids::{IdFiles, merge_segments};
use esker_layers::layer::{PlainLayer, PlainWriter};
use esker_layers::property::{PropertyFiles, merge_columns};

use super::handle::{Core, Database, locked};
use super::layers::Maintenance;
use super::maintain::WrittenLayer;
use crate::merge::{MergeEnd, MergeOptions, merge_layers, policy};
use crate::snapshot::{Layer, State, vertex_property};

/// The result of [`Database::compact`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompactReport {
    /// The number of layers before.
    pub layers_before: usize,
    /// The number of layers now.
    pub layers: usize,
    /// Bytes of the layers before.
    pub bytes_before: u64,
    /// Bytes of the layers now.
    pub bytes: u64,
}

impl Database {
    /// Merges the layers that the policy finds due (see `merge::policy`); returns the number of merges. Readers
    /// and commits continue meanwhile, and all retained versions stay readable.
    ///
    /// # Errors
    /// As [`Database::freeze`].
    pub fn merge(&self, run: &Run) -> Result<usize> {
        let mut maintenance = locked(&self.core.maintenance);
        self.core.merge(&mut maintenance, run)
    }

    /// Freezes, and merges all layers into one. The newest version is then as fast to read as a freshly
    /// imported graph, and data that only forgotten versions needed is gone.
    ///
    /// # Errors
    /// As [`Database::freeze`].
    pub fn compact(&self, run: &Run) -> Result<CompactReport> {
        self.compact_to(None, run)
    }

    /// As [`Database::compact`], with the new layer in `encoding`; `None` keeps the encoding.
    ///
    /// # Errors
    /// As [`Database::freeze`].
    pub fn compact_to(&self, encoding: Option<Encoding>, run: &Run) -> Result<CompactReport> {
        let mut maintenance = locked(&self.core.maintenance);
        let core = &self.core;
        core.freeze(&mut maintenance, run)?;
        core.forget_hidden(&mut maintenance)?;
        let before = core.state();
        let bytes_before = core.layer_bytes(&before)?;
        let layers_before = before.layers().len();
        let is_other = |layer: &Arc<Layer>| encoding.is_some_and(|wanted| layer.record().encoding != wanted);
        if layers_before > 1 || forgets(&before) || before.layers().iter().any(is_other) {
            core.merge_range(&mut maintenance, 0..layers_before, encoding, run)?;
        }
        let after = core.state();
        let bytes = core.layer_bytes(&after)?;
        Ok(CompactReport { layers_before, layers: after.layers().len(), bytes_before, bytes })
    }
}

/// Whether a layer distinguishes versions that are forgotten.
fn forgets(state: &State) -> bool {
    state.layers().iter().any(|layer| {
        let record = layer.record();
        let range = record.first_version..=record.last_version;
        let versions = &state.manifest().versions;
        let kept = versions.iter().filter(|version| range.contains(&version.number)).count();
        // A layer always distinguishes the last version of its range.
        let is_last_forgotten = state.manifest().version(record.last_version).is_none();
        (record.num_versions as usize) > kept + usize::from(is_last_forgotten)
    })
}

impl Core {
    pub(super) fn merge(&self, maintenance: &mut Maintenance, run: &Run) -> Result<usize> {
        let state = self.state();
        let sizes: Vec<u64> = state.layers().iter().map(|layer| policy::size_of(layer.record())).collect();
        let due = policy::due(&sizes);
        // Newest first, so that the positions of the others stay valid.
        for which in due.iter().rev() {
            self.merge_range(maintenance, which.clone(), None, run)?;
        }
        Ok(due.len())
    }

    /// Merges a run of layers of the current state into one. `encoding` applies if the first layer is
    /// complete.
    fn merge_range(
        &self,
        maintenance: &mut Maintenance,
        which: Range<usize>,
        encoding: Option<Encoding>,
        run: &Run,
    ) -> Result<()> {
        let state = self.state();
        let request = MergeRequest { encoding, ..MergeRequest::default() };
        let written = self.write_merged(maintenance, &state, which, request, run)?;
        let next = self.prepare(maintenance, &state, written)?;
        self.record(maintenance, &next)?;
        self.show(&next, &mut locked(&self.writer), None)?;
        self.keep_heads(maintenance, &state, run)
    }

    /// Writes the layer that replaces a run of layers of a state. An added edge property requires that all
    /// layers are merged.
    pub(super) fn write_merged(
        &self,
        maintenance: &Maintenance,
        state: &State,
        which: Range<usize>,
        request: MergeRequest<'_>,
        run: &Run,
    ) -> Result<WrittenLayer> {
        let (below, above) = (state.layers()[..which.start].to_vec(), state.layers()[which.end..].to_vec());
        let merged = state.layers()[which.clone()].iter();
        let mut edits: Vec<Edit> =
            merged.map(|layer| Edit::RemoveLayer { number: layer.record().number }).collect();
        let layer = self.write_layer(maintenance, |number, directory| {
            MergeJob { state, which, request, disk: &self.disk, directory }.write(number, run)
        })?;
        edits.push(Edit::AddLayer(layer.clone()));
        Ok(WrittenLayer { layer, below, above, edits })
    }

    /// Bytes of the files of all layers.
    fn layer_bytes(&self, state: &State) -> Result<u64> {
        let numbers: BTreeSet<String> =
            state.layers().iter().map(|layer| layer.record().number.to_string()).collect();
        let layers = self.path.join("layers");
        let mut bytes = 0;
        for entry in self.disk.list(&layers)? {
            if !numbers.contains(archived_name(&entry.name)) {
                continue;
            }
            bytes += entry.bytes;
            if entry.is_directory {
                let entries = self.disk.list(&layers.join(&entry.name))?;
                bytes += entries.iter().map(|entry| entry.bytes).sum::<u64>();
            }
        }
        Ok(bytes)
    }
}

/// The optional changes of a merge.
#[derive(Clone, Copy, Default)]
pub(super) struct MergeRequest<'a> {
    /// The encoding of a complete layer; `None`: unchanged.
    pub(super) encoding: Option<Encoding>,
    /// The version to end with, if the merge undoes later ones.
    pub(super) end: Option<MergeEnd<'a>>,
    /// An edge property to add, if all layers are merged.
    pub(super) added: Option<&'a PropertyRecord>,
    /// An edge property whose type becomes a wider one, if all layers are merged.
    pub(super) widened: Option<Widening>,
}

/// A merge in progress.
struct MergeJob<'a> {
    state: &'a State,
    which: Range<usize>,
    request: MergeRequest<'a>,
    disk: &'a Arc<dyn Disk>,
    directory: &'a Path,
}

impl MergeJob<'_> {
    fn inputs(&self) -> &[Arc<Layer>] {
        &self.state.layers()[self.which.clone()]
    }

    fn database(&self) -> DatabaseId {
        self.state.manifest().database
    }

    fn write(&self, number: u32, run: &Run) -> Result<LayerRecord> {
        let lists: Vec<Arc<PlainLayer>> =
            self.state.layers().iter().map(|layer| Arc::clone(layer.lists())).collect();
        let retained: Vec<u64> =
            self.state.manifest().versions.iter().map(|version| version.number).collect();
        let archive = ArchiveWriter::new(self.disk, self.directory);
        let writer = PlainWriter::new(&archive, self.directory, self.database());
        let MergeRequest { encoding, end, added, widened } = self.request;
        let added: Vec<ElementType> = added.iter().map(|property| property.element).collect();
        let options = MergeOptions { number, retained: &retained, encoding, added: &added, widened, end };
        let (mut record, versions) = merge_layers(&lists, self.which.clone(), &options, &writer, run)?;
        record.dictionaries = self.write_dictionaries(&writer)?;
        let segments: Vec<_> = self.inputs().iter().filter_map(|layer| layer.ids().cloned()).collect();
        let first = segments.first().map_or(record.num_vertices, |segment| segment.first() as u64);
        record.num_new_ids = record.num_vertices.saturating_sub(first);
        if record.num_new_ids > 0 {
            let (directory, hasher) = (self.directory, self.state.hasher());
            let files = IdFiles { disk: &archive, directory, database: self.database(), hasher };
            merge_segments(&files, &segments, record.num_new_ids as usize)?;
        }
        record.vertex_properties = self.write_vertices(&archive, &versions, run)?;
        archive.finish()?;
        Ok(record)
    }

    fn write_dictionaries(&self, writer: &PlainWriter<'_>) -> Result<Vec<DictionaryRecord>> {
        let numbers: BTreeSet<u32> = self
            .inputs()
            .iter()
            .flat_map(|layer| layer.record().dictionaries.iter().map(|added| added.property))
            .collect();
        let mut records = Vec::new();
        for property in numbers {
            let parts: Vec<_> = self.inputs().iter().filter_map(|layer| layer.dictionary(property)).collect();
            let texts = parts.iter().flat_map(|part| (0..part.len()).map(|index| part.text(index)));
            let texts = texts.collect::<Result<Vec<&[u8]>>>()?;
            writer.dictionary(property, texts.iter().copied())?;
            records.push(DictionaryRecord {
                property,
                first: parts.first().map_or(0, |part| part.first()),
                count: texts.len() as u64,
            });
        }
        if let Some(property) = self.request.added.filter(|property| property.is_text()) {
            // The empty text of all existing edges.
            writer.dictionary(property.number, [&[][..]])?;
            records.push(DictionaryRecord { property: property.number, first: 0, count: 1 });
        }
        Ok(records)
    }

    /// Writes the changes of vertex properties; `merged` are the versions that the new layer distinguishes.
    fn write_vertices(&self, archive: &ArchiveWriter, merged: &[u64], run: &Run) -> Result<Vec<u32>> {
        let numbers: BTreeSet<u32> =
            self.inputs().iter().flat_map(|layer| layer.record().vertex_properties.iter().copied()).collect();
        for &number in &numbers {
            let record = vertex_property(&self.state.manifest().properties, number, self.directory)?;
            let files = PropertyFiles {
                disk: archive,
                directory: self.directory,
                database: self.database(),
                record: &record,
            };
            let (mut columns, mut versions) = (Vec::new(), Vec::new());
            for layer in self.inputs() {
                if let Some(column) = layer.vertex_property(number) {
                    columns.push(Arc::clone(column));
                    versions.push(layer.lists().versions()?);
                }
            }
            // Codes start at 1. A change counts from the first merged version that is not before its
            // own.
            let recode = |layer: usize, code: u32| {
                let version = versions[layer].get((code as usize).wrapping_sub(1)).copied().unwrap_or(0);
                let is_undone = self.request.end.is_some_and(|end| version > end.until.number);
                (!is_undone).then(|| merged.partition_point(|&other| other < version) as u32 + 1)
            };
            merge_columns(&files, &columns, recode, self.which.start == 0, run)?;
        }
        Ok(numbers.into_iter().collect())
    }
}

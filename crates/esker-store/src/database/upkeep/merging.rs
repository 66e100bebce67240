//! Merging: replaces several layers by one, and drops forgotten versions.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use esker_format::Result;
use esker_format::io::{Disk, Files};
use esker_format::{
    ArchiveWriter, DictionaryRecord, Edit, ElementType, Encoding, KeptForms, LayerRecord, Origin, Owner,
    PropertyRecord, Widening,
};
use esker_graph::Run;
use esker_layers::FormFiles;
use esker_layers::graph::HeadedOptions;
use esker_layers::ids::{IdFiles, merge_segments};
use esker_layers::layer::{PlainLayer, PlainWriter};
use esker_layers::property::{PropertyFiles, merge_columns, merge_dictionaries};
use esker_layers::tiles::{ConvertOptions, MergedShape, TileMerge, TileReport, Tiles};

use crate::buffers::LayerBuffers;
use crate::conversion::{FormReport, HeadsLeftOut, WantedForms, weights_of};
use crate::database::handle::{Core, Database};
use crate::database::layers::Maintenance;
use crate::database::upkeep::compacting::{CompactOptions, CompactReport};
use crate::database::upkeep::forms::{Replaced, kept_forms};
use crate::database::upkeep::maintain::WrittenLayer;
use crate::database::upkeep::numbering::Numbering;
use crate::manifest::AccountOf;
use crate::merge::{
    GivenIds, MergeEnd, MergeOptions, Rebuild, TilesOfMerge, merge_layers, merge_with_tiles, policy,
};
use crate::temporary_targets::TemporaryTargets;
use crate::version::{Layer, State, vertex_property};

impl Database {
    /// Merges the layers that the policy finds due (see `merge::policy`); returns the number of merges.
    /// Readers and commits continue meanwhile, and all retained versions stay readable.
    ///
    /// # Errors
    /// As [`Database::freeze`].
    pub fn merge(&self, run: &Run) -> Result<usize> {
        let mut maintenance = self.core.maintenance.lock();
        self.core.merge(&mut maintenance, run)
    }

    /// Freezes, and merges all layers into one. The newest version is then as fast to read as a freshly
    /// imported graph, and data that only forgotten versions needed is gone.
    ///
    /// ```
    /// # let (directory, csv) = (tempfile::tempdir()?, *b"source,target\nalice,bob\nbob,carol\n");
    /// # let path = directory.path().join("web.esker");
    /// # let edges = [esker_import::Input::memory("web.csv", csv)];
    /// # esker_import::import_inputs(&edges, &path, &Default::default(), &Default::default())?;
    /// # let db = esker_store::Database::open(&path, Default::default())?;
    /// let mut batch = db.batch();
    /// batch.add_edge("carol", "alice", &[])?;
    /// db.commit(batch, "a ring")?;
    /// db.compact(&esker_graph::Run::with_threads(1)?)?;
    /// assert_eq!(db.manifest().layers.len(), 1);
    /// assert_eq!(db.at(1)?.num_edges(), 2); // no version is lost
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
    pub(crate) fn compact_to(&self, encoding: Option<Encoding>, run: &Run) -> Result<CompactReport> {
        self.compact_with(CompactOptions { lists: encoding, ..CompactOptions::default() }, run)
    }

    /// As [`Database::compact`], with other encodings. Tiles and heads that the database has are made for the
    /// new layer too, and installed with it; lists that are kept as tiles alone have no heads.
    ///
    /// Vertices keep their numbers, or get new ones (see [`crate::database::Renumber`]): versions
    /// opened before have the old numbers, those opened later the new. Commits wait meanwhile.
    ///
    /// # Errors
    /// As [`Database::freeze`].
    pub fn compact_with(&self, options: CompactOptions, run: &Run) -> Result<CompactReport> {
        let mut maintenance = self.core.maintenance.lock();
        let core = &self.core;
        core.freeze(&mut maintenance, run)?;
        core.forget_hidden(&mut maintenance)?;
        let before = core.state();
        let options = options.resolved(before.layers()[0].record().encoding)?;
        let bytes_before = core.layer_bytes(&before)?;
        let layers_before = before.layers().len();
        let kept_before = kept_forms(&before);
        let kept = options.forms(kept_before);
        let is_other =
            |layer: &Arc<Layer>| options.lists.is_some_and(|wanted| layer.record().encoding != wanted);
        let request = MergeRequest {
            encoding: options.lists,
            kept: Some(kept),
            heads: options.heads,
            ..MergeRequest::default()
        };
        let renumbered = self.renumber(&mut maintenance, options.renumber, request, run)?;
        let vertices_left_out = renumbered.as_ref().map_or(0, |(_, count)| *count);
        let mut forms = if let Some((forms, _)) = renumbered {
            forms
        } else if layers_before > 1 || forgets(&before) || before.layers().iter().any(is_other) {
            core.merge_range(&mut maintenance, 0..layers_before, request, run)?
        } else {
            let mut forms = core.change_tiles(&mut maintenance, options.tiles, kept, run)?;
            match options.heads {
                Some(heads) => {
                    forms.heads = Some(core.make_chosen_heads(&mut maintenance, heads, run)?);
                }
                None => core.make_missing_heads(&mut maintenance, &mut forms, run)?,
            }
            forms
        };
        if kept_before.head_len > 0 && kept.head_len == 0 && forms.heads.is_none() {
            forms.heads_left_out = Some(HeadsLeftOut::TilesOnly);
        }
        let after = core.state();
        let bytes = core.layer_bytes(&after)?;
        Ok(CompactReport {
            layers_before,
            layers: after.layers().len(),
            bytes_before,
            bytes,
            written: core.written_bytes(&before, &after, &forms)?,
            forms,
            vertices_left_out,
        })
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
    pub(crate) fn merge(&self, maintenance: &mut Maintenance, run: &Run) -> Result<usize> {
        let state = self.state();
        let sizes: Vec<u64> = state.layers().iter().map(|layer| policy::size_of(layer.record())).collect();
        let due = policy::due(&sizes);
        // Newest first, so that the positions of the others stay valid.
        for which in due.iter().rev() {
            self.merge_range(maintenance, which.clone(), MergeRequest::default(), run)?;
        }
        Ok(due.len())
    }

    /// Merges a run of layers of the current state into one.
    fn merge_range(
        &self,
        maintenance: &mut Maintenance,
        which: Range<usize>,
        request: MergeRequest<'_>,
        run: &Run,
    ) -> Result<FormReport> {
        let state = self.state();
        let written = self.write_merged(maintenance, &state, which, request, run)?;
        let forms = written.forms.clone();
        let next = self.prepare(maintenance, &state, written)?;
        self.record(maintenance, &next)?;
        self.show(&next, &mut self.writer.lock(), None)?;
        Ok(forms)
    }

    /// Writes the layer that replaces a run of layers of a state, with the second forms that a complete layer
    /// keeps. An added edge property requires that all layers are merged.
    pub(crate) fn write_merged(
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
        let mut kept = request.kept.unwrap_or_else(|| kept_forms(state));
        let num_layers = which.end;
        let origin = Origin::random(state.manifest().database);
        let (layer, forms) = self.write_layer(maintenance, |number, directory| {
            let job = MergeJob { state, which, request, kept, disk: &self.disk, directory, origin };
            let (layer, tiles) = job.write(number, run)?;
            if tiles.is_some() {
                return Ok((layer, FormReport { tiles, ..FormReport::default() }));
            }
            let is_recorded = request.changes_edges_only();
            let replaced = Replaced { state, num_layers, is_recorded };
            let properties = request.properties(&state.manifest().properties);
            let wanted = WantedForms { kept, heads: request.heads };
            let wanted = if layer.complete { wanted } else { WantedForms::default() };
            let forms = self.write_forms(&layer, &properties, directory, wanted, &replaced, run)?;
            Ok((layer, forms))
        })?;
        if let (Some(heads), Some(_)) = (forms.heads, request.heads) {
            kept.head_len = heads.length as u64;
        }
        edits.push(Edit::AddLayer(layer.clone()));
        edits.extend(forms.edits(&layer));
        if layer.complete && state.manifest().kept.unwrap_or_default() != kept {
            edits.push(Edit::KeepForms(kept));
        }
        Ok(WrittenLayer { layer, below, above, edits, forms })
    }
}

/// The optional changes of a merge.
#[derive(Clone, Copy, Default)]
pub(crate) struct MergeRequest<'a> {
    /// The encoding of a complete layer; `None`: unchanged.
    pub(crate) encoding: Option<Encoding>,
    /// The second forms of a complete layer from now on; `None`: unchanged.
    pub(crate) kept: Option<KeptForms>,
    /// Heads to store for a complete layer; `None`: heads of the length that the database keeps, if it keeps
    /// any.
    pub(crate) heads: Option<HeadedOptions>,
    /// The version to end with, if the merge undoes later ones.
    pub(crate) end: Option<MergeEnd<'a>>,
    /// An edge property to add, if all layers are merged.
    pub(crate) added: Option<&'a PropertyRecord>,
    /// The ids that edges get, if that property is theirs.
    pub(crate) given_ids: Option<GivenIds>,
    /// An edge property whose type becomes a wider one, if all layers are merged.
    pub(crate) widened: Option<Widening>,
    /// New numbers for the vertices, if all layers are merged.
    pub(crate) numbering: Option<&'a Numbering>,
    /// Lists that are made of those of the other direction.
    pub(crate) rebuild: Option<Rebuild>,
    /// Whether the layer is a step of a recovery, whose lists may be missing or of the other direction. It
    /// gets no account of itself: no other recovery takes it for a layer of the database.
    pub(crate) is_step: bool,
}

impl MergeRequest<'_> {
    /// Whether the new layer differs from the merged ones in nothing but edges and their properties that
    /// these changed.
    fn changes_edges_only(&self) -> bool {
        self.end.is_none() && self.added.is_none() && self.widened.is_none() && self.numbering.is_none()
    }

    /// The properties after the merge.
    fn properties(&self, known: &[PropertyRecord]) -> Vec<PropertyRecord> {
        let mut properties = known.to_vec();
        if let Some(Widening { property, to, .. }) = self.widened {
            let is_widened =
                |known: &&mut PropertyRecord| known.owner == Owner::Edges && known.number == property;
            properties.iter_mut().filter(is_widened).for_each(|widened| widened.element = to);
        }
        properties.extend(self.added.cloned());
        properties
    }
}

/// Merges all layers of a state into one in a directory, without second forms, for a recovery.
pub(crate) fn merge_all(
    state: &State,
    number: u32,
    directory: &Path,
    request: MergeRequest<'_>,
    run: &Run,
) -> Result<LayerRecord> {
    let origin = Origin::random(state.manifest().database);
    let (which, kept, disk) = (0..state.layers().len(), KeptForms::default(), state.disk());
    MergeJob { state, which, request, kept, disk, directory, origin }
        .write(number, run)
        .map(|(record, _)| record)
}

/// A merge in progress.
struct MergeJob<'a> {
    state: &'a State,
    which: Range<usize>,
    request: MergeRequest<'a>,
    /// The second forms of the new layer, if it is complete.
    kept: KeptForms,
    disk: &'a Arc<dyn Disk>,
    directory: &'a Path,
    /// What binds the files of the new layer to its record.
    origin: Origin,
}

impl MergeJob<'_> {
    fn inputs(&self) -> &[Arc<Layer>] {
        &self.state.layers()[self.which.clone()]
    }

    /// Whether the new layer keeps its lists in tiles alone.
    fn keeps_only_tiles(&self) -> bool {
        let before = self.inputs().first().map(|layer| layer.record());
        let encoding = self.request.encoding.or(before.map(|record| record.encoding));
        encoding == Some(Encoding::Tiles) && before.is_some_and(|record| record.complete)
    }

    /// The old tiles that the new ones can be made of: those of lists that are kept in nothing else, and that
    /// change in nothing but edges.
    fn merged_tiles(&self) -> Result<Option<&Tiles>> {
        let old = self.inputs().first().and_then(|layer| layer.lists().out().main().tiles());
        let Some(old) = old.filter(|_| self.keeps_only_tiles() && self.request.changes_edges_only()) else {
            return Ok(None);
        };
        let is_group = self.kept.tile_group == 0 || self.kept.tile_group == old.group();
        let has = |property: &PropertyRecord| old.has_property(property.number, property.element);
        Ok((is_group && weights_of(&self.state.manifest().properties).all(has)).then_some(old))
    }

    /// Merges tiles alone, group by group.
    fn write_with_tiles(
        &self,
        old: &Tiles,
        lists: &[Arc<PlainLayer>],
        options: &MergeOptions<'_>,
        writer: &PlainWriter<'_>,
        run: &Run,
    ) -> Result<(LayerRecord, Vec<u64>, TileReport)> {
        let memory_bytes = ConvertOptions::within(run.budget().free_bytes()).memory_bytes;
        let memory_bytes = memory_bytes.min(ConvertOptions::default().memory_bytes);
        let _memory = run.budget().reserve("merging tiles", memory_bytes)?;
        let newest = lists[self.which.end - 1].record();
        let weights = weights_of(&self.state.manifest().properties);
        let properties: Vec<_> = weights.map(|property| (property.number, property.element)).collect();
        let shape = MergedShape {
            num_vertices: newest.num_vertices as usize,
            in_lists: newest.in_edges,
            properties: &properties,
            memory_bytes,
        };
        let files = FormFiles { disk: self.disk, directory: self.directory, origin: self.origin };
        let mut tiles = TileMerge::new(old, shape, run, files)?;
        let numbers: Vec<u32> = properties.iter().map(|property| property.0).collect();
        let with = TilesOfMerge { tiles: &mut tiles, properties: &numbers };
        let (record, versions) =
            merge_with_tiles(lists, self.which.clone(), options, writer, Some(with), run)?;
        let report = tiles.finish(record.num_edges)?;
        Ok((record, versions, report))
    }

    /// Writes the layer, with its tiles if these are merged.
    fn write(&self, number: u32, run: &Run) -> Result<(LayerRecord, Option<TileReport>)> {
        let lists: Vec<Arc<PlainLayer>> =
            self.state.layers().iter().map(|layer| Arc::clone(layer.lists())).collect();
        let retained: Vec<u64> =
            self.state.manifest().versions.iter().map(|version| version.number).collect();
        let MergeRequest { encoding, end, added, given_ids, widened, numbering, rebuild, .. } = self.request;
        let remaining = numbering.map(Numbering::remaining);
        let owners = self.state.manifest().properties.iter();
        let num_properties =
            owners.filter(|property| property.owner == Owner::Edges).count() + added.iter().len();
        let buffers = LayerBuffers::new(num_properties, run.budget());
        let archive = buffers.archive(self.disk, self.directory);
        let apart = TemporaryTargets { files: &archive, disk: self.disk, directory: self.directory };
        let old_tiles = self.merged_tiles()?;
        let is_apart = self.keeps_only_tiles() && old_tiles.is_none();
        let files: &dyn Files = if is_apart { &apart } else { &archive };
        let writer = PlainWriter::new(files, self.directory, self.origin).with_buffers(buffers.each_bytes);
        let added: Vec<ElementType> = added.iter().map(|property| property.element).collect();
        let options = MergeOptions {
            number,
            retained: &retained,
            encoding,
            added: &added,
            given_ids,
            widened,
            remaining,
            end,
            rebuild,
        };
        let (mut record, versions, tiles) = match old_tiles {
            Some(old) => {
                if self.disk.look(self.directory)?.is_none() {
                    self.disk.create_directory(self.directory)?;
                }
                let (record, versions, report) =
                    self.write_with_tiles(old, &lists, &options, &writer, run)?;
                (record, versions, Some(report))
            }
            None => {
                let (record, versions) = merge_layers(&lists, self.which.clone(), &options, &writer, run)?;
                (record, versions, None)
            }
        };
        record.dictionaries = self.write_dictionaries(&writer, run)?;
        record.num_new_ids = self.write_ids(&archive, record.num_vertices)?;
        record.vertex_properties = self.write_vertices(&archive, &versions, run)?;
        if !self.request.is_step {
            self.write_account(&archive, &record)?;
        }
        archive.finish()?;
        if tiles.is_some() {
            self.disk.sync_directory(self.directory)?;
        }
        Ok((record, tiles))
    }

    /// Writes what the new layer says of itself.
    fn write_account(&self, archive: &ArchiveWriter, record: &LayerRecord) -> Result<()> {
        let manifest = self.state.manifest();
        let (mut ids, mut versions) = (manifest.ids.clone(), manifest.versions.clone());
        for edit in
            self.request.numbering.map_or(Vec::new(), |numbering| numbering.edits(self.state, record.number))
        {
            match edit {
                Edit::SetIdMap(map) => ids = map,
                Edit::RemoveVersion { number } => {
                    versions.remove(number);
                }
                Edit::AddVersion(version) => {
                    versions.insert(version);
                }
                _ => {}
            }
        }
        let last = self.request.end.map_or(record.last_version, |end| end.until.number);
        let range = record.first_version..=last;
        let versions: Vec<_> = versions.iter().filter(|one| range.contains(&one.number)).cloned().collect();
        let properties = self.request.properties(&manifest.properties);
        AccountOf { manifest, layer: record, ids: &ids, properties: &properties, versions: &versions }
            .write(archive, self.directory)
    }

    /// Writes the ids that the new layer adds, to one of `num_vertices`; returns their number.
    fn write_ids(&self, archive: &ArchiveWriter, num_vertices: u64) -> Result<u64> {
        let segments: Vec<_> = self.inputs().iter().filter_map(|layer| layer.ids().cloned()).collect();
        let first = match (self.request.numbering, segments.first()) {
            (Some(_), _) => 0,
            (None, segment) => segment.map_or(num_vertices, |segment| segment.first() as u64),
        };
        let count = num_vertices.saturating_sub(first);
        if count > 0 {
            let (directory, hasher) = (self.directory, self.state.hasher());
            let files = IdFiles { disk: archive, directory, origin: self.origin, hasher };
            match self.request.numbering {
                Some(numbering) => numbering.write_ids(&files)?,
                None => merge_segments(&files, &segments, count as usize)?,
            }
        }
        Ok(count)
    }

    fn write_dictionaries(&self, writer: &PlainWriter<'_>, run: &Run) -> Result<Vec<DictionaryRecord>> {
        let numbers: BTreeSet<u32> = self
            .inputs()
            .iter()
            .flat_map(|layer| layer.record().dictionaries.iter().map(|added| added.property))
            .collect();
        let mut records = Vec::new();
        for property in numbers {
            let parts: Vec<_> =
                self.inputs().iter().filter_map(|layer| layer.dictionary(property).cloned()).collect();
            let count = merge_dictionaries(writer.dictionary(property)?, &parts, run)?;
            let first = parts.first().map_or(0, |part| part.first());
            records.push(DictionaryRecord { property, first, count });
        }
        if let Some(property) = self.request.added.filter(|property| property.is_text()) {
            // The empty text of all existing edges.
            writer.dictionary_of(property.number, &[&[]])?;
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
                origin: self.origin,
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
            let place =
                |v| self.request.numbering.map_or(Some(v), |numbering: &Numbering| numbering.place(v));
            merge_columns(&files, &columns, recode, place, self.which.start == 0, run)?;
        }
        Ok(numbers.into_iter().collect())
    }
}

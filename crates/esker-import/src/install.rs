//! From a reader to a database in its place.

use std::path::Path;
use std::sync::Arc;
use std::time::{Instant, UNIX_EPOCH};

use esker_format::io::{Disk, RealDisk};
use esker_format::{
    DictionaryRecord, Edit, Encoding, Error, EventTimes, GraphShape, IdMapKind, IdMapRecord, KeptForms,
    LayerRecord, Owner, PropertyRecord, ReadingRecord, Result, SpanRecord, SpanUnit, StreamRecord,
    StreamUnit, VersionRecord, VertexOrder as StoredOrder, trimmed_budget,
};
use esker_graph::{Message, Run, RunOptions, Setting, Stop, VertexId, message};
use esker_layers::ids::{IdFiles, PermutationWriter};
use esker_layers::layer::PlainWriter;
use esker_layers::tiles::ConvertOptions;
use esker_store::conversion::WantedForms;
use esker_store::manifest::{Staging, StagingOptions, check_event_time};

use super::build::built::{Built, BuiltIds, BuiltProperty};
use super::build::pipeline::{Destination, build_layer};
use super::build::vertex_values;
use super::open::{Opened, open_inputs};
use super::options::{
    ImportOptions, ImportProgress, ImportReport, MEMORY_BYTES_MIN, NumberingOrder, SelfLoops,
};
use super::read::format::ReadOptions;
use super::read::input::{Input, expand};
use super::read::source::Reader;
use super::sort::external::Sorter;
use super::sort::scratch::Workspace;
use super::sort::spool::Spool;

/// Imports files into a new database at `target`. `inputs` are names of files, patterns, or `-` for standard
/// input; formats and compressions are recognised. Memory and failures: see [`import`].
///
/// ```
/// use esker_import::{ImportOptions, ReadOptions, import_files};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// # let (file, database) = (directory.path().join("follows.csv"), directory.path().join("people.esker"));
/// std::fs::write(&file, "source,target,since\nalice,bob,2019\nbob,carol,2021\n")?;
/// let read = ReadOptions { properties: esker_import::PickProperties::All, ..ReadOptions::default() };
/// let report = import_files(&[file.to_string_lossy()], &database, &read, &ImportOptions::default())?;
/// assert_eq!((report.vertices, report.edges, report.integer_ids), (3, 2, false));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// As [`open_reader`](crate::open::open_reader) and [`import`].
pub fn import_files<S: AsRef<str>>(
    inputs: &[S],
    target: impl AsRef<Path>,
    read: &ReadOptions,
    options: &ImportOptions,
) -> Result<ImportReport> {
    import_inputs(&expand(inputs, &read.cancel)?, target, read, options)
}

/// As [`import_files`], from inputs of any kind, such as bytes in memory.
///
/// ```
/// use esker_import::{ImportOptions, Input, ReadOptions, import_inputs};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// # let database = directory.path().join("ring.esker");
/// let edges = Input::memory("ring.el", *b"0 1\n1 2\n2 0\n"); // the ending tells the format
/// let report = import_inputs(&[edges], &database, &ReadOptions::default(), &ImportOptions::default())?;
/// assert_eq!((report.vertices, report.edges, report.directed), (3, 3, true));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// As [`import_files`].
pub fn import_inputs(
    inputs: &[Input],
    target: impl AsRef<Path>,
    read: &ReadOptions,
    options: &ImportOptions,
) -> Result<ImportReport> {
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let read = ReadOptions { directed: read.directed.or(options.directed), ..read.clone() };
    let read = read.with_kind(options.kind.as_deref());
    let Opened { reader, warnings, .. } = open_inputs(inputs, &read)?;
    let mut report = import(&disk, reader, target.as_ref(), options, StagingOptions::default())?;
    report.warnings.splice(0..0, warnings);
    Ok(report)
}

/// Imports everything that `reader` gives into a new database at `target`, on any disk.
///
/// The database is made beside `target` and renamed into place at the end: until then, and after any failure,
/// crash or cancellation, there is none. Memory: [`ImportOptions::memory_bytes`] and at most 64 MiB more.
/// Temporary files take up to 16 bytes (and the properties) for each arc; none are written if memory
/// suffices.
///
/// # Errors
/// [`Error::Input`] for bad lines, by policy; [`Error::Invalid`] if the options make no sense for the input,
/// or something stands at `target`; [`Error::Stop`] when cancelled or refused for want of memory;
/// [`Error::Io`].
pub fn import(
    disk: &Arc<dyn Disk>,
    reader: Box<dyn Reader>,
    target: &Path,
    options: &ImportOptions,
    staging: StagingOptions,
) -> Result<ImportReport> {
    if options.memory_bytes < MEMORY_BYTES_MIN {
        return Err(Error::Stop(Stop::OverBudget {
            what: "an import".to_owned(),
            needed_bytes: MEMORY_BYTES_MIN,
            budget_bytes: options.memory_bytes,
        }));
    }
    options.time_ms.map_or(Ok(()), check_event_time)?;
    let message = options.message.clone().unwrap_or(format!("import of {}", reader.schema().format));
    let reading = reading_of(reader.as_ref(), options);
    let mut staging = Staging::begin(Arc::clone(disk), target, staging)?;
    staging.expect_properties(reader.schema().properties.len());
    let scratch = staging.subdirectory("scratch")?;
    let apart = staging.targets_apart();
    let layer = staging.layer_for(options.encoding, &apart);
    let place = Destination { disk: Arc::clone(disk), directory: &scratch };
    let built = expect_rows(build_layer(reader, options, place, &layer, staging.hasher())?)?;

    let dictionaries = write_dictionaries(&layer, &built.properties)?;
    let Built { mut report, loops, in_edges, ids, properties, weight, kind, time, vertex_rows, work } = built;
    let run = Arc::clone(&work.run);
    let of_vertices = vertex_values::write(&vertex_rows, &work, &staging)?;
    report.warnings.extend(of_vertices.warnings.into_iter().map(Message::from));
    let id_map = write_ids(&work, &staging, ids, report.order.order)?;
    work.check()?;
    drop(work);
    disk.remove_directory(&scratch)?;
    let mut record = LayerRecord::first(
        &GraphShape {
            directed: report.directed,
            multigraph: options.duplicates.keeps_parallel() || kind.is_some(),
            in_edges,
            num_vertices: report.vertices,
            num_edges: report.edges,
            num_arcs: report.arcs,
            num_loops: loops,
        },
        staging.stamp(),
    );
    record.encoding = options.encoding;
    record.dictionaries = dictionaries;
    record.vertex_properties = of_vertices.records.iter().map(|property| property.number).collect();
    let mut edits = vec![Edit::AddLayer(record.clone()), Edit::SetIdMap(id_map)];
    edits.push(Edit::SetDuplicates(options.duplicates));
    edits.extend(options.writes.map(Edit::SetOptions));
    edits.push(Edit::SetReading(reading));
    edits.extend(options.time_ms.map(|_| Edit::SetEventTimes(EventTimes::Given)));
    let properties: Vec<PropertyRecord> = property_records(properties, weight, kind).collect();
    edits.extend(properties.iter().cloned().chain(of_vertices.records).map(Edit::AddProperty));
    if let Some(time) = time.map(|time| &properties[time]) {
        match time.can_be_time() {
            true => edits.push(Edit::SetStream(timed_by(time, options.time_unit)?)),
            false => report.no_time = Some((time.name.clone(), time.type_name())),
        }
    }
    let now_ms = UNIX_EPOCH.elapsed().map_or(0, |age| age.as_millis() as u64);
    let time_ms = options.time_ms.unwrap_or(now_ms);
    edits.push(Edit::AddVersion(VersionRecord::at_end_of(&record, time_ms, now_ms, message)));
    staging.describe(&edits)?;
    edits.extend(make_tiles(&staging, &record, &properties, options, &run, &mut report)?);
    staging.install(&edits)?;
    Ok(report)
}

/// What the database remembers of how its input is read.
fn reading_of(reader: &dyn Reader, options: &ImportOptions) -> ReadingRecord {
    let drops_self_loops = options.self_loops == SelfLoops::Drop;
    ReadingRecord { format: reader.schema().format.to_owned(), table: reader.table(), drops_self_loops }
}

/// Refuses an input of which no row could be taken: its database would be empty.
fn expect_rows(built: Built) -> Result<Built> {
    match built.report.rejected_sample.first() {
        Some(first) if built.report.rows == 0 => Err(first.of_all(built.report.rejected)),
        _ => Ok(built),
    }
}

/// Writes the texts of edge properties.
fn write_dictionaries(
    layer: &PlainWriter<'_>,
    properties: &[BuiltProperty],
) -> Result<Vec<DictionaryRecord>> {
    let mut dictionaries = Vec::new();
    for (property, number) in properties.iter().zip(0..) {
        if property.logical.is_text() {
            let mut writer = layer.dictionary(number)?;
            property.dictionary.for_each(|text| writer.push(text))?;
            let count = writer.finish(|| Ok([]))?;
            dictionaries.push(DictionaryRecord { property: number, first: 0, count });
        }
    }
    Ok(dictionaries)
}

/// Makes the tiles that are asked for.
fn make_tiles(
    staging: &Staging,
    record: &LayerRecord,
    properties: &[PropertyRecord],
    options: &ImportOptions,
    run: &Run,
    report: &mut ImportReport,
) -> Result<Vec<Edit>> {
    if !options.tiles && options.encoding != Encoding::Tiles {
        return Ok(Vec::new());
    }
    if let Some(tell) = &options.on_progress {
        tell(ImportProgress { stage: "tiles", fraction: None, edges: report.rows });
    }
    let begin = Instant::now();
    let run = Run::new(RunOptions {
        threads: run.threads(),
        cancel: options.cancel.clone(),
        budget: trimmed_budget(options.memory_bytes),
        ..RunOptions::default()
    })?;
    let kept = KeptForms { tile_group: ConvertOptions::default().group, head_len: 0 };
    let forms = staging.make_forms(record, properties, WantedForms { kept, heads: None }, &run)?;
    report.tiles.clone_from(&forms.tiles);
    report.stages.push(("tiles", begin.elapsed().as_secs_f64()));
    let mut edits = forms.edits(record);
    edits.push(Edit::KeepForms(kept));
    Ok(edits)
}

/// The declaration of a database whose edges have their times in a property.
fn timed_by(property: &PropertyRecord, unit: StreamUnit) -> Result<StreamRecord> {
    if unit != StreamUnit::Guessed && !property.is_number() {
        return Err(Error::usage(message![
            Setting::TimeUnit,
            format!(" has no effect: the times in {:?} are {}", property.name, property.type_name()),
        ]));
    }
    let nothing = SpanRecord { number: 0, unit: SpanUnit::OfTimes };
    Ok(StreamRecord { time: property.name.clone(), unit, delay: nothing, expire: nothing })
}

fn property_records(
    properties: Vec<BuiltProperty>,
    weight: Option<usize>,
    kind: Option<usize>,
) -> impl Iterator<Item = PropertyRecord> {
    properties.into_iter().enumerate().map(move |(index, property)| PropertyRecord {
        number: index as u32,
        owner: Owner::Edges,
        name: property.name,
        element: property.element,
        logical: property.logical,
        weight: weight == Some(index),
        kind: kind == Some(index),
        optional: property.optional,
    })
}

/// Writes the id map, if there is one to write.
fn write_ids(
    work: &Workspace,
    staging: &Staging,
    ids: BuiltIds,
    order: NumberingOrder,
) -> Result<IdMapRecord> {
    let files = &staging.id_files();
    let (kind, base) = match ids {
        BuiltIds::Identity { base } => (IdMapKind::Identity, base),
        BuiltIds::Permuted { base, renumbered } => {
            write_permutation(work, files, &renumbered)?;
            (IdMapKind::Permuted, base)
        }
        BuiltIds::Mapped { map, renumbered } => {
            let kind = map.kind();
            map.write(files, renumbered.as_ref())?;
            (kind, 0)
        }
    };
    let order = if order == NumberingOrder::Degree { StoredOrder::Degree } else { StoredOrder::Keep };
    Ok(IdMapRecord { kind, base, order, stamp: staging.stamp() })
}

/// Writes a permutation and its inverse.
fn write_permutation(work: &Workspace, files: &IdFiles<'_>, renumbered: &Spool<VertexId>) -> Result<()> {
    let mut writer = PermutationWriter::create(files)?;
    let mut buffer = Vec::new();
    let inverse_bytes = renumbered.len() * size_of::<VertexId>() as u64;
    if let Some(_room) = work.budget.try_reserve(inverse_bytes) {
        let mut inverse = vec![0; renumbered.len() as usize];
        let mut integer = 0;
        for block in 0..renumbered.num_blocks() {
            work.check()?;
            for vertices in renumbered.block(block, &mut buffer)?.chunks(1 << 20) {
                work.check()?;
                writer.vertices(vertices)?;
                for &vertex in vertices {
                    inverse[vertex as usize] = integer;
                    integer += 1;
                }
            }
        }
        for part in inverse.chunks(1 << 20) {
            work.check()?;
            writer.integers(part)?;
        }
        return writer.finish();
    }
    let memory_bytes = work.budget.free_bytes() / 2;
    let mut sorter = Sorter::new(work, "the id map", memory_bytes, |pair: &[VertexId; 2]| pair[0])?;
    let mut integer = 0;
    for block in 0..renumbered.num_blocks() {
        work.check()?;
        let vertices = renumbered.block(block, &mut buffer)?;
        writer.vertices(vertices)?;
        for &vertex in vertices {
            sorter.push([vertex, integer])?;
            integer += 1;
        }
    }
    sorter.finish()?.for_each(|[_, integer]| writer.integers(&[integer]))?;
    writer.finish()
}

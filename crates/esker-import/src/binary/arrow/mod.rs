//! Arrow IPC, file and stream: columns chosen by name, decoded by many threads in runs of rows.
//!
//! The messages are found when a file is opened. A parser decodes a whole record batch with the decoder of
//! the `arrow-ipc` crate, which points into the mapped file where the batch is not compressed; the runs of a
//! long batch share it. Memory beside the batch: the dictionaries; the decompressed columns of the record
//! batches in use.

mod memory;
mod messages;
mod sizes;

use parking_lot::Mutex;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_ipc::reader::FileDecoder;
use arrow_ipc::{Block as Position, MetadataVersion};
use arrow_schema::{ArrowError, SchemaRef};
use esker_format::{Error, Result};
pub use memory::table_in_memory;
use messages::{BatchEntry, Contents, contents};
use sizes::Sizes;

use super::batch::batch;
use super::contain::{contain, damaged};
use super::holds::Holds;
use super::region::{Region, WholeInput};
use super::runs::{BatchOrigin, RowRun, RowSection, SectionParser, SectionReader, check_fits};
use super::shared::SharedTexts;
use super::table::{self, Picked};
use super::vectors::first_vector;
use super::vertices::{OpenedVertices, RowsAre, WantedVertices, settle_vectors, vertex_batch};
use crate::read::format::ReadOptions;
use crate::read::head::InputHead;
use crate::read::input::Input;
use crate::read::input_format::{Choices, InputFormat, OpenedInput};
use crate::read::source::{BlockParser, EdgeBatch, IdKind, InputBlock, Reader, RejectedText};
use crate::read::typed::{said_weight, says_undirected};

/// Long record batches that are kept for the runs that follow, at most.
const KEPT_MAX: usize = 2;

/// Arrow IPC, file and stream.
pub(crate) static ARROW: InputFormat = InputFormat {
    aliases: &["feather", "ipc"],
    endings: &["arrow", "feather", "ipc", "arrows"],
    begins: |head| match head {
        // A stream: a continuation mark, then the length of a schema, a multiple of eight.
        [0xff, 0xff, 0xff, 0xff, low, _, _, 0, ..] => low % 8 == 0,
        _ => head.starts_with(b"ARROW1"),
    },
    ..InputFormat::new("arrow", "Arrow IPC", Choices::Columns, open)
};

fn open(inputs: &[Input], _head: InputHead, options: &ReadOptions) -> Result<OpenedInput> {
    let reader = open_arrow(inputs, options)?;
    Ok(OpenedInput { notes: reader.notes(), reader })
}

/// Opens Arrow IPC files (or files that hold a stream) with the same columns. See [`ReadOptions`] for which
/// columns are taken.
///
/// # Errors
/// If a file cannot be opened or is damaged, or the columns cannot be told or do not exist.
fn open_arrow(inputs: &[Input], options: &ReadOptions) -> Result<Box<dyn Reader>> {
    let mut files: Vec<ArrowFile> = Vec::new();
    let mut sections = Vec::new();
    let (mut ids, mut bytes_all) = (IdKind::Int, 0);
    for input in inputs {
        let region = Region::open(input, &ARROW)?;
        bytes_all += region.bytes();
        let path = Arc::clone(region.path());
        let first = files.first().map(|file| (&file.chosen, file.names.as_slice()));
        let file = contain(&path, || ArrowFile::open(&region, first, RowsAre::Edges(options)))?;
        let ends = [file.names[file.chosen.columns[0]].1, file.names[file.chosen.columns[1]].1];
        if table::id_kind(&path, ends, options)? == IdKind::Text {
            ids = IdKind::Text;
        }
        file.add_sections(files.len(), &mut sections)?;
        files.push(file);
    }
    let Some(first) = files.first() else {
        return Err(Error::invalid("no Arrow file is named".to_owned()));
    };
    let is_undirected = files.iter().all(|file| says_undirected(&file.schema));
    let schema = table::schema(ARROW.name, ids, &first.chosen, bytes_all, is_undirected);
    let notes = files.iter().flat_map(|file| file.chosen.notes(&file.path, &ARROW, ids)).collect();
    let warnings = first.chosen.warnings(&first.path, options);
    let table = table::record(&first.names, &first.chosen);
    let shared = SharedTexts::new(bytes_all);
    let (kept, rejected) = (Mutex::default(), options.rejected);
    let parser = ArrowParser { files, ids, kept, shared, rejected, of_vertices: None };
    Ok(Box::new(SectionReader::new(schema, parser, notes, sections).of_table(table).warning(warnings)))
}

/// Opens Arrow files of vertices.
///
/// # Errors
/// If a file cannot be opened or is damaged, or the columns cannot be told or do not exist.
pub(super) fn open_vertices(inputs: &[Input], wanted: &WantedVertices<'_>) -> Result<OpenedVertices> {
    let &WantedVertices { ids, num_edge_properties, rejected, .. } = wanted;
    let mut files: Vec<ArrowFile> = Vec::new();
    let (mut sections, mut bytes_all, mut holds) = (Vec::new(), 0, Holds::Numbers);
    for input in inputs {
        let region = Region::open(input, &ARROW)?;
        bytes_all += region.bytes();
        let path = Arc::clone(region.path());
        let first = files.first().map(|file| (&file.chosen, file.names.as_slice()));
        let mut file = contain(&path, || ArrowFile::open(&region, first, RowsAre::Vertices(wanted)))?;
        if first.is_none() {
            contain(&path, || file.settle_vectors())?;
        }
        if file.names[file.chosen.columns[0]].1 == Holds::Texts {
            holds = Holds::Texts;
        }
        file.add_sections(files.len(), &mut sections)?;
        files.push(file);
    }
    let Some(first) = files.first() else {
        return Err(Error::invalid("no Arrow file is named".to_owned()));
    };
    let (chosen, path) = (first.chosen.clone(), Arc::clone(&first.path));
    let schema = table::schema(ARROW.name, ids, &chosen, bytes_all, false);
    let (shared, kept, of_vertices) =
        (SharedTexts::new(bytes_all), Mutex::default(), Some(num_edge_properties));
    let parser = ArrowParser { files, ids, kept, shared, rejected, of_vertices };
    let reader = Box::new(SectionReader::new(schema, parser, Vec::new(), sections));
    Ok(OpenedVertices { reader, chosen, holds, path })
}

struct ArrowFile {
    path: Arc<PathBuf>,
    content: WholeInput,
    names: Vec<(String, Holds)>,
    chosen: Picked,
    /// The chosen columns, each once.
    projection: Vec<usize>,
    schema: SchemaRef,
    version: MetadataVersion,
    batches: Vec<BatchEntry>,
    /// Messages of dictionaries, in order.
    dictionaries: Vec<Position>,
    sizes: Sizes,
    /// Decoders that wait for the next batch, each with the number of dictionaries that it has taken in.
    decoders: Mutex<Vec<(usize, FileDecoder)>>,
}

impl ArrowFile {
    fn open(
        region: &Region,
        first: Option<(&Picked, &[(String, Holds)])>,
        rows: RowsAre<'_>,
    ) -> Result<Self> {
        let path = Arc::clone(region.path());
        let Contents { schema, version, batches, dictionaries } = contents(region)?;
        let fields = schema.fields().iter();
        let names: Vec<_> =
            fields.map(|field| (field.name().clone(), rows.holds(field.data_type()))).collect();
        let types: Vec<_> = schema.fields().iter().map(|field| rows.type_of(field.data_type())).collect();
        let chosen = match first {
            None => rows.choose(&path, &names, &types, said_weight(&schema))?,
            Some((chosen, own)) => chosen.in_file(&path, own, &names)?,
        };
        let mut projection = chosen.columns.clone();
        projection.sort_unstable();
        projection.dedup();
        let sizes = Sizes::of(region, &schema, &projection, &batches, &dictionaries)?;
        let content = region.whole()?;
        let decoders = Mutex::default();
        Ok(Self {
            path,
            content,
            names,
            chosen,
            projection,
            schema,
            version,
            batches,
            dictionaries,
            sizes,
            decoders,
        })
    }

    /// Finds the lengths of vectors where the schema does not say them.
    fn settle_vectors(&mut self) -> Result<()> {
        let mut chosen = self.chosen.clone();
        settle_vectors(&mut chosen, &self.names, |column| {
            let place = self.projection.iter().position(|&one| one == column);
            for index in 0..self.batches.len() {
                let batch = self.decode(index)?;
                let found = place.and_then(|place| first_vector(batch.columns().get(place)?));
                if found.is_some() {
                    return Ok(found);
                }
            }
            Ok(None)
        })?;
        self.chosen = chosen;
        Ok(())
    }

    fn add_sections(&self, file: usize, sections: &mut Vec<RowSection>) -> Result<()> {
        let (mut rows_before, mut end) = (0_u64, 0);
        for (index, batch) in self.batches.iter().enumerate() {
            let here = messages::end_of(&batch.position).max(end);
            let bytes = here - end;
            end = here;
            let run_rows = self.sizes.run_rows[index];
            sections.push(RowSection {
                file,
                section: index as u64,
                rows: batch.rows,
                run_rows,
                rows_before,
                bytes,
            });
            rows_before = rows_before
                .checked_add(batch.rows)
                .ok_or_else(|| damaged(&self.path, "its record batches have an impossible number of rows"))?;
        }
        Ok(())
    }

    /// The chosen columns of record batch `index`, whole.
    fn decode(&self, index: usize) -> Result<RecordBatch> {
        let batch = &self.batches[index];
        let (taken, decoder) = self.decoder(batch.dictionaries);
        for position in &self.dictionaries[taken..batch.dictionaries] {
            self.content.load(position.offset().cast_unsigned()..messages::end_of(position))?;
        }
        self.content.load(messages::metadata(&batch.position))?;
        self.content.load(self.sizes.places[index].clone())?;
        self.decode_loaded(batch, taken, decoder).map_err(|error| {
            damaged(
                &self.path,
                format!(
                    "record batch {index} of {}: {error}",
                    esker_graph::counted(batch.rows, "row", "rows")
                ),
            )
        })
    }

    /// The same, once the system has read its bytes, with a decoder that has taken in the first `taken`
    /// dictionaries.
    fn decode_loaded(
        &self,
        batch: &BatchEntry,
        mut taken: usize,
        mut decoder: FileDecoder,
    ) -> std::result::Result<RecordBatch, ArrowError> {
        for position in &self.dictionaries[taken..batch.dictionaries] {
            decoder.read_dictionary(position, &messages::buffer(&self.content.bytes, position)?)?;
            taken += 1;
        }
        let buffer = messages::buffer(&self.content.bytes, &batch.position)?;
        let decoded = decoder.read_record_batch(&batch.position, &buffer)?;
        self.decoders.lock().push((taken, decoder));
        decoded.ok_or_else(|| ArrowError::IpcError("a record batch is missing".to_owned()))
    }

    /// The decoder that has taken in the most of the first `dictionaries` dictionaries, but no others.
    fn decoder(&self, dictionaries: usize) -> (usize, FileDecoder) {
        let mut decoders = self.decoders.lock();
        let fits = (0..decoders.len()).filter(|&index| decoders[index].0 <= dictionaries);
        if let Some(index) = fits.max_by_key(|&index| decoders[index].0) {
            return decoders.swap_remove(index);
        }
        let new = FileDecoder::new(Arc::clone(&self.schema), self.version);
        (0, new.with_projection(self.projection.clone()))
    }

    /// The chosen columns of a run of rows of a decoded batch.
    fn part(&self, whole: &RecordBatch, run: RowRun) -> Option<Vec<ArrayRef>> {
        let part = |column: &usize| {
            let place = self.projection.iter().position(|other| other == column)?;
            Some(whole.columns().get(place)?.slice(run.start as usize, run.rows as usize))
        };
        self.chosen.columns.iter().map(part).collect()
    }
}

/// A record batch that several runs share: empty until the first of them has decoded it.
type SharedBatch = Arc<Mutex<Option<RecordBatch>>>;

struct ArrowParser {
    files: Vec<ArrowFile>,
    ids: IdKind,
    /// The long record batches in use: file, section, and the batch.
    kept: Mutex<Vec<(usize, u64, SharedBatch)>>,
    /// Bounds what texts take that many rows share.
    shared: SharedTexts,
    /// How much is kept of rows that are rejected.
    rejected: RejectedText,
    /// If the rows are vertices: how many properties the edges have that come behind them.
    of_vertices: Option<usize>,
}

impl ArrowParser {
    fn decode(&self, file: &ArrowFile, run: RowRun) -> Result<Vec<ArrayRef>> {
        let index = usize::try_from(run.section).ok().filter(|&index| index < file.batches.len());
        let index = index.ok_or_else(|| damaged(&file.path, "there is no such record batch"))?;
        let batch = &file.batches[index];
        let whole = if batch.rows <= run.rows {
            file.decode(index)?
        } else {
            let kept = self.kept(run);
            // Held while decoding: workers that want the same batch wait for it.
            let mut kept = kept.lock();
            match &*kept {
                Some(whole) => whole.clone(),
                None => kept.insert(file.decode(index)?).clone(),
            }
        };
        if whole.num_rows() as u64 != batch.rows {
            return Err(damaged(&file.path, "a record batch has another number of rows than stated"));
        }
        file.part(&whole, run).ok_or_else(|| damaged(&file.path, "a record batch lacks columns"))
    }

    /// The place of the batch of `run`, shared by all of its runs.
    fn kept(&self, run: RowRun) -> SharedBatch {
        let mut kept = self.kept.lock();
        if let Some((_, _, place)) = kept.iter().find(|(f, s, _)| (*f, *s) == (run.file, run.section)) {
            return Arc::clone(place);
        }
        if kept.len() >= KEPT_MAX {
            kept.remove(0);
        }
        let place = SharedBatch::default();
        kept.push((run.file, run.section, Arc::clone(&place)));
        place
    }
}

impl SectionParser for ArrowParser {
    /// Each thread decodes a batch, and long ones are kept; each thread has a decoder, with all dictionaries.
    fn limit_memory(&self, bytes: u64, threads: usize) -> Result<u64> {
        let threads = threads as u64;
        let batches = self.files.iter().map(|file| file.sizes.batch_bytes).max().unwrap_or(0);
        let dictionaries = self.files.iter().map(|file| file.sizes.dictionary_bytes).max().unwrap_or(0);
        let needed = batches
            .saturating_mul(threads + KEPT_MAX as u64)
            .saturating_add(dictionaries.saturating_mul(threads));
        check_fits("decoding the record batches of the Arrow file", needed, bytes)?;
        self.shared.limit((bytes - needed) / (2 * threads.max(1)));
        Ok(needed)
    }
}

impl BlockParser for ArrowParser {
    fn parse(&self, block: InputBlock) -> Result<EdgeBatch> {
        let run = RowRun::of_block(&block);
        let file = self.files.get(run.file).ok_or_else(|| Error::invalid("no such file".to_owned()))?;
        let columns = contain(&file.path, || self.decode(file, run))?;
        let (path, shared, rejected) = (&file.path, &self.shared, self.rejected);
        let origin = BatchOrigin {
            path,
            shared,
            first_row: block.first_line,
            input_bytes: block.input_bytes,
            rejected,
        };
        contain(&file.path, || match self.of_vertices {
            None => batch(&origin, self.ids, &file.chosen, columns),
            Some(count) => vertex_batch(&origin, self.ids, &file.chosen, columns, count),
        })
    }
}

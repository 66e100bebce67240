//! Parquet: flat columns chosen by name, decoded by many threads in runs of rows.
//!
//! A run is read with the record-batch reader of the `parquet` crate, which skips the pages before it by
//! their headers. Memory: a page and a dictionary of a column for each thread, beside the batch; and as much
//! of every column for each reader that waits where a run ended. How much that is the headers of the pages
//! tell, before any is decoded.

mod access;
mod footer;
mod pages;
mod rows;
mod sizes;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::ArrayRef;
use arrow_schema::{FieldRef, Schema as ArrowSchema};
use esker_format::{Error, LogicalType, PropertyType, Result, VECTOR_LEN_MAX};
use footer::check_footer;
use parquet::arrow::parquet_to_arrow_schema;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use rows::{Leaf, RunOfRows};
use sizes::ChunkSizes;

use super::batch::batch;
use super::contain::{contain, damaged};
use super::holds::Holds;
use super::reasons::nested_end;
use super::region::Region;
use super::runs::{BatchOrigin, RowRun, RowSection, SectionParser, SectionReader, check_fits, run_rows};
use super::shared::{FREE_BYTES, SharedTexts};
use super::table::{self, Picked};
use super::vectors::{first_vector, vector_type};
use super::vertices::{OpenedVertices, RowsAre, WantedVertices, settle_vectors, vertex_batch};
use crate::read::format::ReadOptions;
use crate::read::head::InputHead;
use crate::read::input::Input;
use crate::read::input_format::{Choices, InputFormat, OpenedInput};
use crate::read::source::{BlockParser, EdgeBatch, IdKind, InputBlock, Reader, RejectedText};
use crate::read::typed::{logical_of, said_weight, says_undirected, type_of};

/// Parquet.
pub(crate) static PARQUET: InputFormat = InputFormat {
    endings: &["parquet", "pq"],
    begins: |head| head.starts_with(b"PAR1"),
    ..InputFormat::new("parquet", "Parquet", Choices::Columns, open)
};

fn open(inputs: &[Input], _head: InputHead, options: &ReadOptions) -> Result<OpenedInput> {
    let reader = open_parquet(inputs, options)?;
    Ok(OpenedInput { notes: reader.notes(), reader })
}

/// Opens Parquet files with the same columns. See [`ReadOptions`] for which columns are taken.
///
/// # Errors
/// If a file cannot be opened or is damaged, or the columns cannot be told or do not exist.
fn open_parquet(inputs: &[Input], options: &ReadOptions) -> Result<Box<dyn Reader>> {
    let mut files: Vec<ParquetFile> = Vec::new();
    let waiting_max = Arc::new(AtomicUsize::new(WAITING_MAX));
    let mut sections = Vec::new();
    let (mut ids, mut bytes_all) = (IdKind::Int, 0);
    for input in inputs {
        let region = Region::open(input, &PARQUET)?;
        bytes_all += region.bytes();
        let path = Arc::clone(region.path());
        let first = files.first().map(|file| (&file.chosen, file.names.as_slice()));
        let rows = RowsAre::Edges(options);
        let mut file = contain(&path, || ParquetFile::open(region, first, &waiting_max, rows))?;
        if file.leaves.len() < 2 {
            return Err(damaged(&path, nested_end()));
        }
        let ends = [0, 1].map(|end| file.names[file.chosen.columns[end]].1);
        if table::id_kind(&path, ends, options)? == IdKind::Text {
            ids = IdKind::Text;
        }
        contain(&path, || file.add_sections(files.len(), &mut sections))?;
        files.push(file);
    }
    let Some(first) = files.first() else {
        return Err(Error::invalid("no Parquet file is named".to_owned()));
    };
    let is_undirected = files.iter().all(|file| is_undirected(&file.reader));
    let schema = table::schema(PARQUET.name, ids, &first.chosen, bytes_all, is_undirected);
    let notes = files.iter().flat_map(|file| file.chosen.notes(&file.path, &PARQUET, ids)).collect();
    let warnings = first.chosen.warnings(&first.path, options);
    let table = table::record(&first.names, &first.chosen);
    let shared = SharedTexts::new(bytes_all);
    let rejected = options.rejected;
    let parser = ParquetParser { files, ids, waiting_max, shared, rejected, of_vertices: None };
    Ok(Box::new(SectionReader::new(schema, parser, notes, sections).of_table(table).warning(warnings)))
}

/// Opens Parquet files of vertices.
///
/// # Errors
/// If a file cannot be opened or is damaged, or the columns cannot be told or do not exist.
pub(super) fn open_vertices(inputs: &[Input], wanted: &WantedVertices<'_>) -> Result<OpenedVertices> {
    let &WantedVertices { ids, num_edge_properties, rejected, .. } = wanted;
    let mut files: Vec<ParquetFile> = Vec::new();
    let waiting_max = Arc::new(AtomicUsize::new(WAITING_MAX));
    let (mut sections, mut bytes_all, mut holds) = (Vec::new(), 0, Holds::Numbers);
    for input in inputs {
        let region = Region::open(input, &PARQUET)?;
        bytes_all += region.bytes();
        let path = Arc::clone(region.path());
        let first = files.first().map(|file| (&file.chosen, file.names.as_slice()));
        let mut file =
            contain(&path, || ParquetFile::open(region, first, &waiting_max, RowsAre::Vertices(wanted)))?;
        if file.names[file.chosen.columns[0]].1 == Holds::Texts {
            holds = Holds::Texts;
        }
        let is_first = first.is_none();
        contain(&path, || file.add_sections(files.len(), &mut sections))?;
        if is_first {
            contain(&path, || file.settle_vectors())?;
        }
        files.push(file);
    }
    let Some(first) = files.first() else {
        return Err(Error::invalid("no Parquet file is named".to_owned()));
    };
    let (chosen, path) = (first.chosen.clone(), Arc::clone(&first.path));
    let schema = table::schema(PARQUET.name, ids, &chosen, bytes_all, false);
    let (shared, of_vertices) = (SharedTexts::new(bytes_all), Some(num_edge_properties));
    let parser = ParquetParser { files, ids, waiting_max, shared, rejected, of_vertices };
    let reader = Box::new(SectionReader::new(schema, parser, Vec::new(), sections));
    Ok(OpenedVertices { reader, chosen, holds, path })
}

/// Whether Arrow's schema in a file says that the edges are undirected, as an export writes it.
fn is_undirected(reader: &SerializedFileReader<Region>) -> bool {
    arrow_schema(reader).is_some_and(|arrow| says_undirected(&arrow))
}

/// Arrow's schema in a file, or that of its columns.
fn arrow_schema(reader: &SerializedFileReader<Region>) -> Option<ArrowSchema> {
    let metadata = reader.metadata().file_metadata();
    parquet_to_arrow_schema(metadata.schema_descr(), metadata.key_value_metadata()).ok()
}

/// The type of vectors of a column of lists. That they have one length stands only in what Arrow's writers
/// add to a file.
fn annotated_vectors(arrow: Option<&ArrowSchema>, index: usize, leaf: Option<&Leaf>) -> Option<PropertyType> {
    let field =
        arrow?.fields().get(index).filter(|field| leaf.is_some_and(|leaf| leaf.name() == field.name()))?;
    vector_type(field.data_type()).filter(|_| leaf.is_some_and(Leaf::has_lists))
}

/// What a column holds. That its numbers are lengths of time stands only in what Arrow's writers add to a
/// file.
fn holds(leaf: Option<&Leaf>, field: Option<&FieldRef>) -> Holds {
    let own = leaf.map_or(Holds::Other, Leaf::holds);
    let field = field.filter(|field| leaf.is_some_and(|leaf| leaf.name() == field.name()));
    match field.map(|field| Holds::of(field.data_type())) {
        _ if leaf.is_some_and(Leaf::has_lists) => Holds::Vectors,
        Some(spans) if own == Holds::Numbers && spans.are_spans() => spans,
        _ => own,
    }
}

/// What the values of columns are, if more than numbers or texts. The zones of times stand in what Arrow's
/// writers add to a file.
fn logical_types(arrow: Option<&ArrowSchema>, leaves: &[Option<Leaf>]) -> Vec<Option<PropertyType>> {
    let own = |(index, leaf): (usize, &Option<Leaf>)| {
        let data_type = leaf.as_ref()?.data_type();
        if let Some(vectors) = annotated_vectors(arrow, index, leaf.as_ref()) {
            return Some(vectors);
        }
        let Some(plain) = logical_of(data_type) else { return type_of(data_type) };
        let annotated = arrow.and_then(|arrow| logical_of(arrow.fields().get(index)?.data_type()));
        let is_zoned = |logical: &LogicalType| matches!(logical, LogicalType::Timestamp { zone, .. } if !zone.is_empty());
        match annotated {
            Some(annotated) if is_zoned(&plain) && is_zoned(&annotated) => Some(annotated.into()),
            _ => Some(plain.into()),
        }
    };
    leaves.iter().enumerate().map(own).collect()
}

struct ParquetFile {
    path: Arc<PathBuf>,
    bytes: u64,
    names: Vec<(String, Holds)>,
    chosen: Picked,
    leaves: Vec<Leaf>,
    num_leaves: usize,
    region: Region,
    reader: SerializedFileReader<Region>,
    groups: Vec<Group>,
}

/// What decoding a row group takes.
struct Group {
    /// Rows of a run.
    run_rows: u64,
    /// Memory of a reader of the largest column.
    column_bytes: u64,
    /// Memory of a reader of each column.
    all_bytes: u64,
    /// For each column, whether a run could hold so many copies of a long text that they are counted before
    /// they are made.
    are_coded: Vec<bool>,
}

impl ParquetFile {
    fn open(
        region: Region,
        first: Option<(&Picked, &[(String, Holds)])>,
        waiting_max: &Arc<AtomicUsize>,
        rows: RowsAre<'_>,
    ) -> Result<Self> {
        let (path, bytes) = (Arc::clone(region.path()), region.bytes());
        check_footer(&region)?;
        let reader = SerializedFileReader::new(region.clone()).map_err(|e| damaged(&path, e))?;
        let schema = reader.metadata().file_metadata().schema_descr_ptr();
        // A nested column is one column, whatever it holds.
        let mut leaves: Vec<Option<Leaf>> = vec![None; schema.root_schema().get_fields().len()];
        for (index, column) in schema.columns().iter().enumerate() {
            let place = schema.get_column_root_idx(index);
            let root = &schema.root_schema().get_fields()[place];
            leaves[place] = Leaf::new(index, column, waiting_max)
                .or_else(|| Leaf::of_lists(index, column, root, waiting_max).filter(|_| rows.are_vertices()));
        }
        let arrow = arrow_schema(&reader);
        let fields = schema.root_schema().get_fields().iter();
        let holds = |index: usize| {
            holds(leaves[index].as_ref(), arrow.as_ref().and_then(|arrow| arrow.fields().get(index)))
        };
        let names: Vec<_> =
            fields.enumerate().map(|(index, root)| (root.name().to_owned(), holds(index))).collect();
        let chosen = match first {
            None => {
                let types = logical_types(arrow.as_ref(), &leaves);
                rows.choose(&path, &names, &types, arrow.as_ref().and_then(said_weight))?
            }
            Some((chosen, own)) => chosen.in_file(&path, own, &names)?,
        };
        // Columns that hold something else are never chosen.
        let leaves = chosen.columns.iter().filter_map(|&index| leaves[index].clone()).collect();
        let num_leaves = schema.num_columns();
        Ok(Self { path, bytes, names, chosen, leaves, num_leaves, region, reader, groups: Vec::new() })
    }

    /// The row groups, after checking that the numbers in the footer are possible.
    fn add_sections(&mut self, file: usize, sections: &mut Vec<RowSection>) -> Result<()> {
        let groups = self.reader.metadata().row_groups();
        let mut rows = Vec::with_capacity(groups.len());
        for group in groups {
            let count = u64::try_from(group.num_rows()).ok().filter(|rows| *rows <= i64::MAX as u64 >> 8);
            rows.push(
                count.ok_or_else(|| damaged(&self.path, "a row group has an impossible number of rows"))?,
            );
            if group.num_columns() != self.num_leaves {
                return Err(damaged(&self.path, "a row group lacks columns"));
            }
            // A list takes a value of the column for each of its numbers, and one if it is empty or missing.
            let is_possible = |leaf: &Leaf| {
                let (values, rows) = (group.column(leaf.index()).num_values(), group.num_rows());
                let longest = if leaf.has_lists() { i64::from(VECTOR_LEN_MAX) } else { 1 };
                values >= rows && values <= rows.saturating_mul(longest)
            };
            if !self.leaves.iter().all(is_possible) {
                return Err(damaged(&self.path, "a column has another length than its row group"));
            }
            if self.leaves.iter().any(|leaf| !lies_within(group.column(leaf.index()), self.bytes)) {
                return Err(damaged(&self.path, "a column does not lie within the file"));
            }
        }
        let total = rows.iter().map(|&r| u128::from(r)).sum::<u128>();
        let mut rows_before = 0_u64;
        for (section, &rows) in rows.iter().enumerate() {
            let bytes_until = |row: u64| (u128::from(self.bytes) * u128::from(row) / total.max(1)) as u64;
            let bytes = bytes_until(rows_before + rows) - bytes_until(rows_before);
            let group = self.group(section)?;
            let run_rows = group.run_rows;
            self.groups.push(group);
            sections.push(RowSection { file, section: section as u64, rows, run_rows, rows_before, bytes });
            rows_before = rows_before
                .checked_add(rows)
                .ok_or_else(|| damaged(&self.path, "its row groups have an impossible number of rows"))?;
        }
        Ok(())
    }

    /// Finds the lengths of vectors where the schema does not say them.
    fn settle_vectors(&mut self) -> Result<()> {
        let mut chosen = self.chosen.clone();
        let leaf_of = |column: usize| {
            let place = self.chosen.columns.iter().position(|&one| one == column);
            place.and_then(|place| self.leaves.get(place))
        };
        settle_vectors(&mut chosen, &self.names, |column| {
            let Some(leaf) = leaf_of(column) else { return Ok(None) };
            for (group, Group { run_rows, .. }) in self.groups.iter().enumerate() {
                let run_rows = *run_rows as usize;
                let all = usize::try_from(self.reader.metadata().row_group(group).num_rows()).unwrap_or(0);
                for start in (0..all).step_by(run_rows) {
                    let rows = run_rows.min(all - start);
                    let run = RunOfRows { group, run_rows, start, rows, is_coded: false };
                    let found = leaf.read(&self.reader, &run).map_err(|error| damaged(&self.path, error))?;
                    if let Some(found) = first_vector(&found) {
                        return Ok(Some(found));
                    }
                }
            }
            Ok(None)
        })?;
        let leaves = chosen.columns.iter().filter_map(|&column| leaf_of(column).cloned()).collect();
        (self.leaves, self.chosen) = (leaves, chosen);
        // The columns that were left out take nothing.
        for group in 0..self.groups.len() {
            self.groups[group] = Group { run_rows: self.groups[group].run_rows, ..self.group(group)? };
        }
        Ok(())
    }

    /// What decoding row group `index` takes.
    fn group(&self, index: usize) -> Result<Group> {
        let mut group = Group { run_rows: 0, column_bytes: 0, all_bytes: 0, are_coded: Vec::new() };
        let (mut row_bytes, mut all) = (0_u64, Vec::with_capacity(self.leaves.len()));
        for leaf in &self.leaves {
            let sizes = ChunkSizes::of(&self.region, &self.reader, index, leaf)?;
            all.push(sizes);
            group.column_bytes = group.column_bytes.max(sizes.reader_bytes());
            group.all_bytes = group.all_bytes.saturating_add(sizes.reader_bytes());
            row_bytes = row_bytes.saturating_add(sizes.value_bytes);
        }
        group.run_rows = run_rows(row_bytes);
        let are_coded = all.iter().map(|sizes| sizes.shared_bytes(group.run_rows) > FREE_BYTES);
        group.are_coded = are_coded.collect();
        Ok(group)
    }

    /// The columns of a run of rows.
    fn read(&self, run: RowRun) -> Result<Vec<ArrayRef>> {
        let group = usize::try_from(run.section).ok().filter(|&group| group < self.groups.len());
        let group = group.ok_or_else(|| damaged(&self.path, "there is no such row group"))?;
        let Group { run_rows, are_coded, .. } = &self.groups[group];
        let read = |(leaf, &is_coded): (&Leaf, &bool)| {
            let (run_rows, start, rows) = (*run_rows as usize, run.start as usize, run.rows as usize);
            let part = RunOfRows { group, run_rows, start, rows, is_coded };
            leaf.read(&self.reader, &part).map_err(|error| {
                let (name, first, last) = (leaf.name(), run.start + 1, run.start + run.rows);
                damaged(
                    &self.path,
                    format!("column {name:?}, rows {first} to {last} of row group {group}: {error}"),
                )
            })
        };
        self.leaves.iter().zip(are_coded).map(read).collect()
    }
}

/// Whether a column's pages are where they can be. The crate takes that for granted.
fn lies_within(column: &ColumnChunkMetaData, file_bytes: u64) -> bool {
    let start = column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset());
    let within = |at: i64| u64::try_from(at).is_ok_and(|at| at <= file_bytes);
    let end = start.checked_add(column.compressed_size());
    within(start)
        && within(column.data_page_offset())
        && column.compressed_size() >= 0
        && end.is_some_and(within)
}

/// Readers that wait for the next run of a column, at most: one for each thread is of use.
const WAITING_MAX: usize = 8;

struct ParquetParser {
    files: Vec<ParquetFile>,
    ids: IdKind,
    /// Readers of a column that may wait.
    waiting_max: Arc<AtomicUsize>,
    /// Bounds what texts take that many rows share.
    shared: SharedTexts,
    /// How much is kept of rows that are rejected.
    rejected: RejectedText,
    /// If the rows are vertices: how many properties the edges have that come behind them.
    of_vertices: Option<usize>,
}

impl SectionParser for ParquetParser {
    /// Each thread has a reader of one column; as many readers of all columns wait as there is memory for.
    fn limit_memory(&self, bytes: u64, threads: usize) -> Result<u64> {
        let groups = || self.files.iter().flat_map(|file| &file.groups);
        let column_bytes = groups().map(|group| group.column_bytes).max().unwrap_or(0);
        let all_bytes = groups().map(|group| group.all_bytes).max().unwrap_or(0);
        let at_work_bytes = column_bytes.saturating_mul(threads as u64);
        check_fits("decoding the pages of the Parquet file", at_work_bytes, bytes)?;
        let mut left_bytes = bytes - at_work_bytes;
        if groups().any(|group| group.are_coded.contains(&true)) {
            left_bytes /= 2;
            self.shared.limit(left_bytes / (threads as u64).max(1));
        }
        let waiting_max = (left_bytes / all_bytes.max(1)).min(WAITING_MAX as u64);
        self.waiting_max.store(waiting_max as usize, Ordering::Relaxed);
        Ok(at_work_bytes + waiting_max * all_bytes)
    }
}

impl BlockParser for ParquetParser {
    fn parse(&self, block: InputBlock) -> Result<EdgeBatch> {
        let run = RowRun::of_block(&block);
        let file = self.files.get(run.file).ok_or_else(|| Error::invalid("no such file".to_owned()))?;
        let columns = contain(&file.path, || file.read(run))?;
        let (path, shared, rejected) = (&file.path, &self.shared, self.rejected);
        let origin = BatchOrigin {
            path,
            shared,
            first_row: block.first_line,
            input_bytes: block.input_bytes,
            rejected,
        };
        match self.of_vertices {
            None => batch(&origin, self.ids, &file.chosen, columns),
            Some(count) => vertex_batch(&origin, self.ids, &file.chosen, columns, count),
        }
    }
}

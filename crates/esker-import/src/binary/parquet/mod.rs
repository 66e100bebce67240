//! Parquet: flat columns chosen by name, decoded by many threads in runs of rows.
//!
//! A run is read with the column readers of the `parquet` crate, page by page, so memory does not grow with the row
//! group. A reader that has finished a run waits in a small pool where the next run may take it up: it then only
//! has to step over the pages of the runs that others took, reading their headers. Memory: a page and a dictionary of
//! each column, for each thread, beside the batch.

mod access;
mod footer;
mod leaf;
mod pages;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use esker_format::{Error, Result};
use footer::check_footer;
use leaf::{Kind, Leaf, skip};
use pages::CheckedPages;
use parquet::column::reader::{ColumnReader, get_column_reader};
use parquet::errors::{ParquetError, Result as Decoded};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;

use super::region::Region;
use super::runs::{RowRun, Section, SectionReader};
use super::table::{self, Chosen, Holds, Origin, Values, contain, damaged};
use crate::format::{Format, ReadOptions};
use crate::input::Input;
use crate::source::{Batch, Block, BlockParser, IdKind, Reader};

/// Readers that wait for the next run, at most: more than threads that parse at the same time.
const WAITING_MAX: usize = 64;

/// Opens Parquet files with the same columns. See [`ReadOptions`] for which columns are taken.
///
/// # Errors
/// If a file cannot be opened or is damaged, or the columns cannot be told or do not exist.
pub fn open_parquet(inputs: &[Input], options: &ReadOptions) -> Result<Box<dyn Reader>> {
    let mut files: Vec<ParquetFile> = Vec::new();
    let mut sections = Vec::new();
    let (mut ids, mut bytes_all) = (IdKind::Int, 0);
    for input in inputs {
        let region = Region::open(input, Format::Parquet)?;
        bytes_all += region.bytes();
        let path = Arc::clone(region.path());
        let first = files.first().map(|file| (&file.chosen, file.names.as_slice()));
        let file = contain(&path, || ParquetFile::open(region, first, options))?;
        let ends = [file.leaves[0].kind.holds(), file.leaves[1].kind.holds()];
        if table::id_kind(&path, ends, options)? == IdKind::Text {
            ids = IdKind::Text;
        }
        file.add_sections(files.len(), &mut sections)?;
        files.push(file);
    }
    let Some(first) = files.first() else {
        return Err(Error::Invalid("no Parquet file is named".to_owned()));
    };
    let schema = table::schema(Format::Parquet.name(), ids, &first.chosen, bytes_all);
    let parser = ParquetParser { files, ids, waiting: Mutex::new(Vec::new()) };
    Ok(Box::new(SectionReader::new(schema, Arc::new(parser), sections)))
}

struct ParquetFile {
    path: Arc<PathBuf>,
    bytes: u64,
    names: Vec<(String, Holds)>,
    chosen: Chosen,
    leaves: Vec<Leaf>,
    reader: SerializedFileReader<Region>,
}

impl ParquetFile {
    fn open(
        region: Region,
        first: Option<(&Chosen, &[(String, Holds)])>,
        options: &ReadOptions,
    ) -> Result<Self> {
        let (path, bytes) = (Arc::clone(region.path()), region.bytes());
        check_footer(&region)?;
        let reader = SerializedFileReader::new(region).map_err(|e| translate(&path, &e))?;
        let schema = reader.metadata().file_metadata().schema_descr_ptr();
        let kinds: Vec<Kind> = schema.columns().iter().map(|column| Kind::of(column)).collect();
        let name = |column: &ColumnDescriptor| column.path().parts().join(".");
        let names: Vec<_> =
            schema.columns().iter().zip(&kinds).map(|(c, kind)| (name(c), kind.holds())).collect();
        let chosen = match first {
            None => table::choose(&path, &names, options)?,
            Some((chosen, own)) => chosen.in_file(&path, own, &names)?,
        };
        let leaf = |&index: &usize| Leaf {
            index,
            kind: kinds[index],
            optional: schema.column(index).max_def_level() > 0,
        };
        let leaves = chosen.columns.iter().map(leaf).collect();
        Ok(Self { path, bytes, names, chosen, leaves, reader })
    }

    /// The row groups, after checking that the numbers in the footer are possible.
    fn add_sections(&self, file: usize, sections: &mut Vec<Section>) -> Result<()> {
        let groups = self.reader.metadata().row_groups();
        let mut rows = Vec::with_capacity(groups.len());
        for group in groups {
            let count = u64::try_from(group.num_rows()).ok().filter(|rows| *rows <= i64::MAX as u64 >> 8);
            rows.push(
                count.ok_or_else(|| damaged(&self.path, "a row group has an impossible number of rows"))?,
            );
            if group.num_columns() != self.names.len() {
                return Err(damaged(&self.path, "a row group lacks columns"));
            }
            if self.leaves.iter().any(|leaf| group.column(leaf.index).num_values() != group.num_rows()) {
                return Err(damaged(&self.path, "a column has another length than its row group"));
            }
            if self.leaves.iter().any(|leaf| !lies_within(group.column(leaf.index), self.bytes)) {
                return Err(damaged(&self.path, "a column does not lie within the file"));
            }
        }
        let total = rows.iter().map(|&r| u128::from(r)).sum::<u128>();
        let mut rows_before = 0_u64;
        for (section, &rows) in rows.iter().enumerate() {
            let bytes_until = |row: u64| (u128::from(self.bytes) * u128::from(row) / total.max(1)) as u64;
            let bytes = bytes_until(rows_before + rows) - bytes_until(rows_before);
            sections.push(Section { file, section: section as u64, rows, rows_before, bytes });
            rows_before = rows_before
                .checked_add(rows)
                .ok_or_else(|| damaged(&self.path, "its row groups have an impossible number of rows"))?;
        }
        Ok(())
    }

    fn columns(&self, group: u64) -> Result<Vec<ColumnReader>> {
        let group = usize::try_from(group)
            .ok()
            .filter(|group| *group < self.reader.num_row_groups())
            .ok_or_else(|| damaged(&self.path, "there is no such row group"))?;
        let group = self.reader.get_row_group(group).map_err(|e| translate(&self.path, &e))?;
        let column = |leaf: &Leaf| {
            let pages =
                CheckedPages { inner: group.get_column_page_reader(leaf.index)?, optional: leaf.optional };
            let descriptor = group.metadata().column(leaf.index).column_descr_ptr();
            Ok(get_column_reader(descriptor, Box::new(pages)))
        };
        self.leaves.iter().map(column).collect::<Decoded<_>>().map_err(|e| translate(&self.path, &e))
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

/// Column readers of one row group that stand at a row.
struct Waiting {
    file: usize,
    section: u64,
    row: u64,
    columns: Vec<ColumnReader>,
}

struct ParquetParser {
    files: Vec<ParquetFile>,
    ids: IdKind,
    waiting: Mutex<Vec<Waiting>>,
}

impl ParquetParser {
    /// Readers that stand at or before the run: the nearest that wait, or new ones at the start of the row group.
    fn take(&self, run: RowRun) -> Result<Waiting> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |w: &Waiting| w.file == run.file && w.section == run.section && w.row <= run.start;
        let nearest = (0..waiting.len()).filter(|&i| fits(&waiting[i])).max_by_key(|&i| waiting[i].row);
        if let Some(index) = nearest {
            return Ok(waiting.swap_remove(index));
        }
        drop(waiting);
        let columns = self.files[run.file].columns(run.section)?;
        Ok(Waiting { file: run.file, section: run.section, row: 0, columns })
    }

    /// Puts readers back unless their row group is at its end. Those of row groups long past are dropped.
    fn put_back(&self, readers: Waiting, rows: u64) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.retain(|w| (w.file, w.section + 1) >= (readers.file, readers.section));
        if readers.row < rows && waiting.len() < WAITING_MAX {
            waiting.push(readers);
        }
    }

    fn decode(&self, run: RowRun) -> Result<Vec<Values>> {
        let file = self.files.get(run.file).ok_or_else(|| Error::Invalid("no such file".to_owned()))?;
        let mut readers = self.take(run)?;
        let behind = (run.start - readers.row) as usize;
        let mut columns = Vec::with_capacity(file.leaves.len());
        for (reader, leaf) in readers.columns.iter_mut().zip(&file.leaves) {
            let values = skip(reader, behind).and_then(|()| leaf.read(reader, run.rows as usize));
            columns.push(values.map_err(|e| translate(&file.path, &e))?);
        }
        readers.row = run.start + run.rows;
        let rows = file.reader.metadata().row_group(run.section as usize).num_rows();
        self.put_back(readers, u64::try_from(rows).unwrap_or(0));
        Ok(columns)
    }
}

impl BlockParser for ParquetParser {
    fn parse(&self, block: Block) -> Result<Batch> {
        let run = RowRun::of_block(&block);
        let file = self.files.get(run.file).ok_or_else(|| Error::Invalid("no such file".to_owned()))?;
        let columns = contain(&file.path, || self.decode(run))?;
        let origin = Origin { path: &file.path, first_row: block.first_line, input_bytes: block.input_bytes };
        table::batch(&origin, self.ids, &file.chosen.properties, columns)
    }
}

fn translate(path: &Arc<PathBuf>, error: &ParquetError) -> Error {
    damaged(path, error)
}

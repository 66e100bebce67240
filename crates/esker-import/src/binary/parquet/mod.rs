//! Parquet: flat columns chosen by name, decoded by many threads in runs of rows.
//!
//! A run is read with the record-batch reader of the `parquet` crate, which skips the pages before it by their headers.
//! Memory: a page and a dictionary of a column, for each thread, beside the batch.

mod access;
mod footer;
mod pages;
mod rows;

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::ArrayRef;
use esker_format::{Error, Result};
use footer::check_footer;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescPtr;
use rows::Leaf;

use super::region::Region;
use super::runs::{RowRun, Section, SectionReader};
use super::table::{self, Chosen, Holds, Origin, contain, damaged};
use crate::format::{Format, ReadOptions};
use crate::input::Input;
use crate::source::{Batch, Block, BlockParser, IdKind, Reader};

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
        let [source, target, ..] = file.leaves.as_slice() else {
            return Err(damaged(&path, "the column of an end is nested; choose others with --src and --dst"));
        };
        let ends = [source.holds(), target.holds()];
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
    let parser = ParquetParser { files, ids };
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
        let reader = SerializedFileReader::new(region).map_err(|e| damaged(&path, e))?;
        let schema = reader.metadata().file_metadata().schema_descr_ptr();
        let leaves: Vec<Option<Leaf>> =
            schema.columns().iter().enumerate().map(|(index, column)| Leaf::new(index, column)).collect();
        let name_of = |(column, leaf): (&ColumnDescPtr, &Option<Leaf>)| {
            (column.path().parts().join("."), leaf.as_ref().map_or(Holds::Other, Leaf::holds))
        };
        let names: Vec<_> = schema.columns().iter().zip(&leaves).map(name_of).collect();
        let chosen = match first {
            None => table::choose(&path, &names, options)?,
            Some((chosen, own)) => chosen.in_file(&path, own, &names)?,
        };
        // Columns that hold something else are never chosen.
        let leaves = chosen.columns.iter().filter_map(|&index| leaves[index].clone()).collect();
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
            if self.leaves.iter().any(|leaf| group.column(leaf.index()).num_values() != group.num_rows()) {
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
            sections.push(Section { file, section: section as u64, rows, rows_before, bytes });
            rows_before = rows_before
                .checked_add(rows)
                .ok_or_else(|| damaged(&self.path, "its row groups have an impossible number of rows"))?;
        }
        Ok(())
    }

    /// The columns of a run of rows.
    fn read(&self, run: RowRun) -> Result<Vec<ArrayRef>> {
        let group = usize::try_from(run.section).ok().filter(|&group| group < self.reader.num_row_groups());
        let group = group.ok_or_else(|| damaged(&self.path, "there is no such row group"))?;
        let read = |leaf: &Leaf| {
            leaf.read(&self.reader, group, run.start as usize, run.rows as usize).map_err(|error| {
                let (name, first, last) = (&self.names[leaf.index()].0, run.start + 1, run.start + run.rows);
                damaged(
                    &self.path,
                    format!("column {name:?}, rows {first} to {last} of row group {group}: {error}"),
                )
            })
        };
        self.leaves.iter().map(read).collect()
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

struct ParquetParser {
    files: Vec<ParquetFile>,
    ids: IdKind,
}

impl BlockParser for ParquetParser {
    fn parse(&self, block: Block) -> Result<Batch> {
        let run = RowRun::of_block(&block);
        let file = self.files.get(run.file).ok_or_else(|| Error::Invalid("no such file".to_owned()))?;
        let columns = contain(&file.path, || file.read(run))?;
        let origin = Origin { path: &file.path, first_row: block.first_line, input_bytes: block.input_bytes };
        table::batch(&origin, self.ids, &file.chosen.properties, columns)
    }
}

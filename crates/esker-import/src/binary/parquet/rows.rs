//! Rows of one column of a row group, as an Arrow array.

use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray};
use arrow_schema::{DataType, Fields};
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, RowGroups, RowSelection, RowSelector};
use parquet::arrow::{FieldLevels, ProjectionMask, parquet_to_arrow_field_levels, parquet_to_arrow_schema};
use parquet::basic::{ConvertedType, LogicalType, Type as Physical};
use parquet::column::page::{PageIterator, PageReader};
use parquet::errors::{ParquetError, Result as Decoded};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::{ColumnDescriptor, SchemaDescriptor, Type, TypePtr};

use super::super::holds::Holds;
use super::super::region::Region;
use super::super::vectors::are_vectors;
use super::pages::CheckedPages;

/// A column of a file.
#[derive(Debug, Clone)]
pub(super) struct Leaf {
    index: usize,
    name: String,
    levels: FieldLevels,
    /// The same for texts as codes and a dictionary; `None` if the column holds no texts.
    coded_levels: Option<FieldLevels>,
    data_type: DataType,
    optional: bool,
    is_uuid: bool,
    /// Whether its rows are lists of floats.
    has_lists: bool,
    /// Whether the file says that its texts are UTF-8.
    is_utf8: bool,
    /// Readers that wait where a run ended.
    waiting: Arc<Mutex<Vec<Waiting>>>,
    /// The most values of a page read so far.
    page_values: Arc<AtomicU32>,
    /// Readers that may wait.
    waiting_max: Arc<AtomicUsize>,
}

/// A reader of one row group that has read all rows before `next`.
struct Waiting {
    group: usize,
    next: usize,
    batches: ParquetRecordBatchReader,
}

impl std::fmt::Debug for Waiting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Waiting")
            .field("group", &self.group)
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}

/// Rows of a row group.
#[derive(Debug, Clone, Copy)]
pub(super) struct RunOfRows {
    pub(super) group: usize,
    /// The rows of each run but the last.
    pub(super) run_rows: usize,
    /// The first row, a multiple of `run_rows`.
    pub(super) start: usize,
    /// How many rows.
    pub(super) rows: usize,
    /// Whether texts come as codes and a dictionary, so that a long text that many rows share takes its
    /// memory once.
    pub(super) is_coded: bool,
}

impl Leaf {
    /// `None` if the column is nested or repeated, or of a type that has no Arrow type.
    pub(super) fn new(
        index: usize,
        column: &ColumnDescriptor,
        waiting_max: &Arc<AtomicUsize>,
    ) -> Option<Self> {
        if column.max_rep_level() > 0 || column.max_def_level() > 1 || column.path().parts().len() != 1 {
            return None;
        }
        let own = column.self_type_ptr();
        let is_text = column.physical_type() == Physical::BYTE_ARRAY
            && column.converted_type() != ConvertedType::DECIMAL
            && !matches!(column.logical_type_ref(), Some(LogicalType::Unknown));
        let own = if is_text {
            // Without its annotation a text is read as bytes: UTF-8 is not required.
            let plain = Type::primitive_type_builder(column.name(), Physical::BYTE_ARRAY);
            Arc::new(plain.with_repetition(own.get_basic_info().repetition()).build().ok()?)
        } else {
            own
        };
        let root = Type::group_type_builder("column").with_fields(vec![own]).build().ok()?;
        let alone = SchemaDescriptor::new(Arc::new(root));
        let schema = parquet_to_arrow_schema(&alone, None).ok()?;
        let field = schema.field(0);
        let coded_levels = match is_text {
            true => {
                let coded =
                    DataType::Dictionary(Box::new(DataType::Int32), Box::new(field.data_type().clone()));
                let hint = Fields::from(vec![field.clone().with_data_type(coded)]);
                Some(parquet_to_arrow_field_levels(&alone, ProjectionMask::all(), Some(&hint)).ok()?)
            }
            false => None,
        };
        let is_utf8 = column.converted_type() == ConvertedType::UTF8
            || matches!(column.logical_type_ref(), Some(LogicalType::String));
        Some(Self {
            index,
            name: column.name().to_owned(),
            levels: parquet_to_arrow_field_levels(&alone, ProjectionMask::all(), None).ok()?,
            coded_levels,
            data_type: schema.field(0).data_type().clone(),
            optional: column.max_def_level() > 0,
            is_uuid: matches!(column.logical_type_ref(), Some(LogicalType::Uuid)),
            has_lists: false,
            is_utf8: is_text && is_utf8,
            waiting: Arc::default(),
            page_values: Arc::default(),
            waiting_max: Arc::clone(waiting_max),
        })
    }

    /// The column of lists of floats whose field in the file is `root`; `None` if it holds something else.
    pub(super) fn of_lists(
        index: usize,
        column: &ColumnDescriptor,
        root: &TypePtr,
        waiting_max: &Arc<AtomicUsize>,
    ) -> Option<Self> {
        if column.max_rep_level() != 1 {
            return None;
        }
        let group = Type::group_type_builder("column").with_fields(vec![Arc::clone(root)]).build().ok()?;
        let alone = SchemaDescriptor::new(Arc::new(group));
        let data_type = parquet_to_arrow_schema(&alone, None).ok()?.field(0).data_type().clone();
        are_vectors(&data_type).then_some(())?;
        Some(Self {
            index,
            name: root.name().to_owned(),
            levels: parquet_to_arrow_field_levels(&alone, ProjectionMask::all(), None).ok()?,
            coded_levels: None,
            data_type,
            optional: true,
            is_uuid: false,
            has_lists: true,
            is_utf8: false,
            waiting: Arc::default(),
            page_values: Arc::default(),
            waiting_max: Arc::clone(waiting_max),
        })
    }

    /// Whether its rows are lists.
    pub(super) fn has_lists(&self) -> bool {
        self.has_lists
    }

    /// Index in the file.
    pub(super) fn index(&self) -> usize {
        self.index
    }

    /// Its name in the file.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Its type in Arrow.
    pub(super) fn data_type(&self) -> &DataType {
        &self.data_type
    }

    pub(super) fn holds(&self) -> Holds {
        Holds::of(&self.data_type)
    }

    /// Rows of a row group. Texts may come as codes and a dictionary, which [`RunOfRows::is_coded`] says.
    ///
    /// A reader waits where the last run ended. If none waits at `start`, a new one skips the pages before it
    /// by their headers. Where a page is longer than runs, that would decode the page again for each run;
    /// there a reader that waits further back decodes the rows between, so each reader decodes each page
    /// once.
    pub(super) fn read(&self, file: &SerializedFileReader<Region>, run: &RunOfRows) -> Decoded<ArrayRef> {
        let &RunOfRows { group, run_rows, start, rows, .. } = run;
        let mut reader = match self.take_waiting(group, run_rows, start) {
            Some(reader) => reader,
            None => self.reader_at(file, run)?,
        };
        loop {
            let batch = reader.batches.next().transpose()?;
            let Some(batch) = batch.filter(|batch| batch.num_rows() > 0) else { return Err(too_short()) };
            let from = reader.next;
            reader.next += batch.num_rows();
            if reader.next <= start {
                continue;
            }
            if from != start || batch.num_rows() != rows {
                return Err(too_short());
            }
            self.wait(reader);
            let column = batch.column(0);
            if self.is_utf8 {
                check_utf8(column, start)?;
            }
            return Ok(if self.is_uuid { uuids(column) } else { Arc::clone(column) });
        }
    }

    fn reader_at(&self, file: &SerializedFileReader<Region>, run: &RunOfRows) -> Decoded<Waiting> {
        let &RunOfRows { group, run_rows, start, .. } = run;
        let chunk = RowGroupColumn { file, group, leaf: self };
        let rest = chunk.num_rows().saturating_sub(start);
        let selection = RowSelection::from(vec![RowSelector::skip(start), RowSelector::select(rest)]);
        let levels = self.coded_levels.as_ref().filter(|_| run.is_coded).unwrap_or(&self.levels);
        let batches =
            ParquetRecordBatchReader::try_new_with_row_groups(levels, &chunk, run_rows, Some(selection))?;
        Ok(Waiting { group, next: start, batches })
    }

    /// The reader that waits nearest before `start`: at `start`, or further back where pages are longer than
    /// runs.
    fn take_waiting(&self, group: usize, run_rows: usize, start: usize) -> Option<Waiting> {
        let has_long_pages = self.page_values.load(Ordering::Relaxed) as usize > run_rows;
        let mut waiting = self.waiting.lock();
        let serves = |reader: &Waiting| {
            reader.group == group && (reader.next == start || has_long_pages && reader.next < start)
        };
        let nearest = (0..waiting.len()).filter(|&i| serves(&waiting[i])).max_by_key(|&i| waiting[i].next)?;
        Some(waiting.swap_remove(nearest))
    }

    /// Keeps a reader for the next run; of too many, the one that is furthest back goes.
    fn wait(&self, reader: Waiting) {
        let mut waiting = self.waiting.lock();
        waiting.push(reader);
        if waiting.len() > self.waiting_max.load(Ordering::Relaxed)
            && let Some(last) = (0..waiting.len()).min_by_key(|&i| (waiting[i].group, waiting[i].next))
        {
            waiting.swap_remove(last);
        }
    }
}

/// An error at the first text that is not UTF-8, of rows from `start` on.
fn check_utf8(column: &ArrayRef, start: usize) -> Decoded<()> {
    if let Some(coded) = column.as_any_dictionary_opt() {
        return check_utf8(coded.values(), start);
    }
    let Some(texts) = column.as_binary_opt::<i32>() else { return Ok(()) };
    let is_wrong = |text: Option<&[u8]>| text.is_some_and(|text| std::str::from_utf8(text).is_err());
    match texts.iter().position(is_wrong) {
        Some(row) => Err(ParquetError::General(format!("the text in row {} is not UTF-8", start + row + 1))),
        None => Ok(()),
    }
}

fn too_short() -> ParquetError {
    ParquetError::EOF("it has fewer values than its row group has rows".to_owned())
}

/// A column of one row group, as the `parquet` crate asks for it.
struct RowGroupColumn<'a> {
    file: &'a SerializedFileReader<Region>,
    group: usize,
    leaf: &'a Leaf,
}

impl RowGroups for RowGroupColumn<'_> {
    fn num_rows(&self) -> usize {
        usize::try_from(self.file.metadata().row_group(self.group).num_rows()).unwrap_or(0)
    }

    /// The pages of the only column.
    fn column_chunks(&self, _: usize) -> Decoded<Box<dyn PageIterator>> {
        let inner = self.file.get_row_group(self.group)?.get_column_page_reader(self.leaf.index)?;
        let pages: Box<dyn PageReader> = Box::new(CheckedPages {
            inner,
            optional: self.leaf.optional,
            page_values: Arc::clone(&self.leaf.page_values),
        });
        Ok(Box::new(OneChunk(Some(pages))))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(std::iter::once(self.file.metadata().row_group(self.group)))
    }

    fn metadata(&self) -> &ParquetMetaData {
        self.file.metadata()
    }
}

struct OneChunk(Option<Box<dyn PageReader>>);

impl Iterator for OneChunk {
    type Item = Decoded<Box<dyn PageReader>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.take().map(Ok)
    }
}

impl PageIterator for OneChunk {}

/// UUIDs in their usual form: lower-case hexadecimal digits in groups of 8, 4, 4, 4 and 12.
fn uuids(values: &ArrayRef) -> ArrayRef {
    let text = |bytes: &[u8]| {
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
    };
    let values = values.as_fixed_size_binary();
    let texts = (0..values.len()).map(|row| values.is_valid(row).then(|| text(values.value(row))));
    Arc::new(texts.collect::<BinaryArray>())
}

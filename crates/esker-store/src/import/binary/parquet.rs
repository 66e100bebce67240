//! Parquet: flat columns chosen by name, decoded by many threads in runs of rows.
//!
//! A run is read with the column readers of the `parquet` crate, page by page, so memory does not grow with the row
//! group. A reader that has finished a run waits in a small pool where the next run may take it up: it then only
//! has to step over the pages of the runs that others took, reading their headers. Memory: a page and a dictionary of
//! each column, for each thread, beside the batch.

use std::io::Read;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::types::{ArrowPrimitiveType, Float16Type};
use bytes::Bytes;
use parquet::basic::{ConvertedType, LogicalType, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType, FixedLenByteArray, Int96};
use parquet::errors::{ParquetError, Result as Decoded};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{ChunkReader, FileReader, Length, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;

use super::region::Region;
use super::runs::{RowRun, Section, SectionReader};
use super::table::{self, Chosen, Data, Holds, Origin, Values, contain, damaged};
use crate::error::{Error, Result};
use crate::import::format::{Format, ReadOptions};
use crate::import::input::Input;
use crate::import::source::{Batch, Block, BlockParser, IdKind, Reader, TextColumn};

/// Readers that wait for the next run, at most: more than threads that parse at the same time.
const WAITING_MAX: usize = 64;
/// Bytes read at once to find a page's header; the page itself is read in one piece.
const HEADER_BYTES: usize = 512;
/// Texts decoded at a time, to bound the memory of the crate's reference-counted form of them.
const TEXTS_AT_ONCE: usize = 4096;

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

/// A column that is taken.
#[derive(Debug, Clone, Copy)]
struct Leaf {
    index: usize,
    kind: Kind,
    optional: bool,
}

/// How the values of a column are understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Boolean,
    Int32,
    Unsigned32,
    Int64,
    Unsigned64,
    /// Days and nanoseconds: as nanoseconds since 1970.
    Int96,
    Float,
    Double,
    Half,
    /// An integer to be divided by this power of ten.
    Decimal(u32),
    /// The same in big-endian bytes of two's complement.
    WideDecimal(u32),
    Text,
    /// A text from bytes of a fixed length.
    FixedText,
    Uuid,
    Other,
}

impl Kind {
    fn of(column: &ColumnDescriptor) -> Self {
        // Nested and repeated columns have no place in a table of edges.
        if column.max_rep_level() > 0 || column.max_def_level() > 1 || column.path().parts().len() != 1 {
            return Self::Other;
        }
        // A column of nothing but nulls has this type.
        if matches!(column.logical_type_ref(), Some(LogicalType::Unknown)) {
            return Self::Other;
        }
        let unsigned = matches!(
            column.converted_type(),
            ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64
        );
        let is_decimal = column.converted_type() == ConvertedType::DECIMAL;
        let scale = is_decimal.then(|| u32::try_from(column.type_scale()).ok().filter(|s| *s <= 38));
        let Some(scale) = scale.map_or(Some(None), |scale| scale.map(Some)) else { return Self::Other };
        match (column.physical_type(), scale) {
            (Physical::INT32 | Physical::INT64, Some(scale)) if scale != 0 => Self::Decimal(scale),
            (Physical::FIXED_LEN_BYTE_ARRAY, Some(scale)) if column.type_length() <= 16 => {
                Self::WideDecimal(scale)
            }
            (Physical::INT32, _) if unsigned => Self::Unsigned32,
            (Physical::INT32, _) => Self::Int32,
            (Physical::INT64, _) if unsigned => Self::Unsigned64,
            (Physical::INT64, _) => Self::Int64,
            (Physical::INT96, _) => Self::Int96,
            (Physical::FLOAT, _) => Self::Float,
            (Physical::DOUBLE, _) => Self::Double,
            (Physical::BOOLEAN, _) => Self::Boolean,
            (Physical::BYTE_ARRAY, None) => Self::Text,
            (Physical::FIXED_LEN_BYTE_ARRAY, None) => match (column.logical_type_ref(), column.type_length())
            {
                (Some(LogicalType::Float16), 2) => Self::Half,
                (Some(LogicalType::Uuid), 16) => Self::Uuid,
                _ => Self::FixedText,
            },
            (_, Some(_)) => Self::Other,
        }
    }

    fn holds(self) -> Holds {
        match self {
            Self::Text | Self::FixedText | Self::Uuid => Holds::Texts,
            Self::Other => Holds::Other,
            _ => Holds::Numbers,
        }
    }
}

impl ParquetFile {
    fn open(
        region: Region,
        first: Option<(&Chosen, &[(String, Holds)])>,
        options: &ReadOptions,
    ) -> Result<Self> {
        let (path, bytes) = (Arc::clone(region.path()), region.bytes());
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
        let column = |leaf: &Leaf| group.get_column_reader(leaf.index);
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

fn skip(reader: &mut ColumnReader, rows: usize) -> Decoded<()> {
    if rows == 0 {
        return Ok(());
    }
    let skipped = match reader {
        ColumnReader::BoolColumnReader(r) => r.skip_records(rows),
        ColumnReader::Int32ColumnReader(r) => r.skip_records(rows),
        ColumnReader::Int64ColumnReader(r) => r.skip_records(rows),
        ColumnReader::Int96ColumnReader(r) => r.skip_records(rows),
        ColumnReader::FloatColumnReader(r) => r.skip_records(rows),
        ColumnReader::DoubleColumnReader(r) => r.skip_records(rows),
        ColumnReader::ByteArrayColumnReader(r) => r.skip_records(rows),
        ColumnReader::FixedLenByteArrayColumnReader(r) => r.skip_records(rows),
    }?;
    if skipped == rows { Ok(()) } else { Err(too_short()) }
}

fn too_short() -> ParquetError {
    ParquetError::EOF("a column has fewer values than its row group has rows".to_owned())
}

impl Leaf {
    fn read(self, reader: &mut ColumnReader, rows: usize) -> Decoded<Values> {
        let optional = self.optional;
        let (data, valid) = match reader {
            ColumnReader::BoolColumnReader(r) => {
                let (values, valid) = read_all(r, rows, optional)?;
                (Data::Int(values.into_iter().map(i64::from).collect()), valid)
            }
            ColumnReader::Int32ColumnReader(r) => {
                let (values, valid) = read_all(r, rows, optional)?;
                let wide = values.into_iter().map(|v| match self.kind {
                    Kind::Unsigned32 => i64::from(v.cast_unsigned()),
                    _ => i64::from(v),
                });
                (self.scaled(wide.collect()), valid)
            }
            ColumnReader::Int64ColumnReader(r) => {
                let (values, valid) = read_all(r, rows, optional)?;
                match self.kind {
                    Kind::Unsigned64 => {
                        (Data::Unsigned(values.into_iter().map(i64::cast_unsigned).collect()), valid)
                    }
                    _ => (self.scaled(values), valid),
                }
            }
            ColumnReader::Int96ColumnReader(r) => {
                let (values, valid) = read_all(r, rows, optional)?;
                (Data::Int(values.iter().map(nanoseconds).collect()), valid)
            }
            ColumnReader::FloatColumnReader(r) => {
                let (values, valid) = read_all(r, rows, optional)?;
                (Data::Float(values.into_iter().map(f64::from).collect()), valid)
            }
            ColumnReader::DoubleColumnReader(r) => {
                let (values, valid) = read_all(r, rows, optional)?;
                (Data::Float(values), valid)
            }
            ColumnReader::ByteArrayColumnReader(r) => {
                read_texts(r, rows, optional, |text: &ByteArray, out| {
                    out.push(text.data());
                })?
            }
            ColumnReader::FixedLenByteArrayColumnReader(r) => match self.kind {
                Kind::Half => {
                    let (values, valid) = read_all(r, rows, optional)?;
                    (Data::Float(values.iter().map(half).collect()), valid)
                }
                Kind::WideDecimal(scale) => {
                    let (values, valid) = read_all(r, rows, optional)?;
                    (Data::Float(values.iter().map(|value| wide_decimal(value, scale)).collect()), valid)
                }
                Kind::Uuid => read_texts(r, rows, optional, |text: &FixedLenByteArray, out| {
                    out.push(uuid(text.data()).as_bytes());
                })?,
                _ => read_texts(r, rows, optional, |text: &FixedLenByteArray, out| {
                    out.push(text.data());
                })?,
            },
        };
        Ok(Values { data, valid })
    }

    fn scaled(self, values: Vec<i64>) -> Data {
        match self.kind {
            Kind::Decimal(scale) => {
                let divisor = 10_f64.powi(scale.cast_signed());
                Data::Float(values.into_iter().map(|v| v as f64 / divisor).collect())
            }
            _ => Data::Int(values),
        }
    }
}

/// Reads a value for each of the next rows; a null gets the default.
#[allow(clippy::type_complexity)] // A pair of columns that is taken apart at once.
fn read_all<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    rows: usize,
    optional: bool,
) -> Decoded<(Vec<T::T>, Option<Vec<bool>>)> {
    let (mut values, mut levels) = (Vec::with_capacity(rows), Vec::new());
    read_some(reader, rows, optional, &mut values, &mut levels)?;
    if values.len() == rows {
        return Ok((values, None));
    }
    let valid: Vec<bool> = levels.iter().map(|&level| level > 0).collect();
    let mut present = values.into_iter();
    let spread = valid.iter().map(|&valid| if valid { present.next() } else { None }.unwrap_or_default());
    Ok((spread.collect(), Some(valid)))
}

fn read_some<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    rows: usize,
    optional: bool,
    values: &mut Vec<T::T>,
    levels: &mut Vec<i16>,
) -> Decoded<()> {
    let mut done = 0;
    while done < rows {
        let (records, _, _) =
            reader.read_records(rows - done, optional.then_some(&mut *levels), None, values)?;
        if records == 0 {
            return Err(too_short());
        }
        done += records;
    }
    let present = if optional { levels.iter().filter(|&&level| level > 0).count() } else { rows };
    if present != values.len() || (optional && levels.len() != rows) {
        return Err(ParquetError::General("a column's values do not agree with its nulls".to_owned()));
    }
    Ok(())
}

#[allow(clippy::type_complexity)] // As `read_all`.
fn read_texts<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    rows: usize,
    optional: bool,
    push: impl Fn(&T::T, &mut TextColumn),
) -> Decoded<(Data, Option<Vec<bool>>)> {
    let mut texts = TextColumn::default();
    texts.ends.reserve(rows);
    let mut valid: Option<Vec<bool>> = None;
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    let mut done = 0;
    while done < rows {
        let count = TEXTS_AT_ONCE.min(rows - done);
        values.clear();
        levels.clear();
        read_some(reader, count, optional, &mut values, &mut levels)?;
        if values.len() == count {
            values.iter().for_each(|value| push(value, &mut texts));
            if let Some(valid) = &mut valid {
                valid.resize(done + count, true);
            }
        } else {
            let mut present = values.iter();
            let valid = valid.get_or_insert_with(|| vec![true; done]);
            for &level in &levels {
                match if level > 0 { present.next() } else { None } {
                    Some(value) => push(value, &mut texts),
                    None => texts.push(b""),
                }
                valid.push(level > 0);
            }
        }
        done += count;
    }
    Ok((Data::Text(texts), valid))
}

fn nanoseconds(value: &Int96) -> i64 {
    const JULIAN_DAY_OF_1970: i64 = 2_440_588;
    let words = value.data();
    let in_day = i64::from(words[1]) << 32 | i64::from(words[0]);
    (i64::from(words[2]) - JULIAN_DAY_OF_1970).wrapping_mul(86_400_000_000_000).wrapping_add(in_day)
}

fn half(value: &FixedLenByteArray) -> f64 {
    let bits = value.data().try_into().map(u16::from_le_bytes).unwrap_or_default();
    <Float16Type as ArrowPrimitiveType>::Native::from_bits(bits).to_f64()
}

fn wide_decimal(value: &FixedLenByteArray, scale: u32) -> f64 {
    let negative = value.data().first().is_some_and(|&byte| byte >= 0x80);
    let start = if negative { -1_i128 } else { 0 };
    let integer = value.data().iter().fold(start, |all, &byte| all << 8 | i128::from(byte));
    integer as f64 / 10_f64.powi(scale.cast_signed())
}

/// The usual form of a UUID: lower-case hexadecimal digits in groups of 8, 4, 4, 4 and 12.
fn uuid(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(36);
    for (index, byte) in bytes.iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.extend(
            [byte >> 4, byte & 15].map(|digit| char::from_digit(u32::from(digit), 16).unwrap_or('0')),
        );
    }
    text
}

fn translate(path: &Arc<PathBuf>, error: &ParquetError) -> Error {
    damaged(path, error)
}

impl Length for Region {
    fn len(&self) -> u64 {
        self.bytes()
    }
}

impl ChunkReader for Region {
    type T = std::io::BufReader<At>;

    fn get_read(&self, start: u64) -> Decoded<Self::T> {
        let at = At { region: self.clone(), position: start };
        Ok(std::io::BufReader::with_capacity(HEADER_BYTES, at))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Decoded<Bytes> {
        self.read_vec(start, length).map(Bytes::from).map_err(|e| ParquetError::External(Box::new(e)))
    }
}

/// A region with a position.
pub(super) struct At {
    region: Region,
    position: u64,
}

impl Read for At {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let bytes = self.region.bytes().saturating_sub(self.position).min(buffer.len() as u64) as usize;
        self.region.read(&mut buffer[..bytes], self.position).map_err(std::io::Error::other)?;
        self.position += bytes as u64;
        Ok(bytes)
    }
}

//! Values of a column of a row group.

use arrow_array::types::{ArrowPrimitiveType, Float16Type};
use parquet::basic::{ConvertedType, LogicalType, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType, FixedLenByteArray, Int96};
use parquet::errors::{ParquetError, Result as Decoded};
use parquet::schema::types::ColumnDescriptor;

use super::super::table::{Data, Holds, Values};
use crate::source::TextColumn;

/// Texts decoded at a time, to bound the memory of the crate's reference-counted form of them.
const TEXTS_AT_ONCE: usize = 4096;

/// A column that is taken.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leaf {
    pub(super) index: usize,
    pub(super) kind: Kind,
    pub(super) optional: bool,
}

/// How the values of a column are understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
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
    pub(super) fn of(column: &ColumnDescriptor) -> Self {
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

    pub(super) fn holds(self) -> Holds {
        match self {
            Self::Text | Self::FixedText | Self::Uuid => Holds::Texts,
            Self::Other => Holds::Other,
            _ => Holds::Numbers,
        }
    }
}

/// Steps over rows; whole pages only by their headers.
pub(super) fn skip(reader: &mut ColumnReader, rows: usize) -> Decoded<()> {
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
    pub(super) fn read(self, reader: &mut ColumnReader, rows: usize) -> Decoded<Values> {
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

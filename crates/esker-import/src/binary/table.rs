//! What tables of edges have in common: which columns are meant, and how columns of values become a batch.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::builder::BinaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal32Type, Decimal64Type, Decimal128Type, DecimalType, Float16Type, Float64Type,
    Int16Type, Int32Type, Int64Type, RunEndIndexType, UInt64Type,
};
use arrow_array::{Array, ArrayRef, BinaryArray, BooleanArray, PrimitiveArray};
use arrow_buffer::{ArrowNativeType, ScalarBuffer};
use arrow_schema::{ArrowError, DataType};
use arrow_select::filter::filter;
use arrow_select::take::take;
use esker_format::Result;

use super::contain::damaged;
use super::region::unusable;
use super::runs::Origin;
use crate::format::{Pick, PickIds, PickProperties, ReadOptions};
use crate::source::{EdgeBatch, IdKind, Rejected, Schema};

/// Pairs of names that say where edges leave and arrive, the likeliest first. Compared without regard to case.
const ENDS: [(&str, &str); 12] = [
    ("src", "dst"),
    ("source", "target"),
    ("from", "to"),
    ("u", "v"),
    ("source", "destination"),
    ("src", "dest"),
    ("src_id", "dst_id"),
    ("source_id", "target_id"),
    ("from_id", "to_id"),
    ("fromnode", "tonode"),
    ("fromnodeid", "tonodeid"),
    ("start", "end"),
];
const WEIGHTS: [&str; 2] = ["weight", "w"];
const TIMES: [&str; 4] = ["time", "timestamp", "ts", "datetime"];

/// What a column of a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    Numbers,
    Texts,
    /// Something that a graph has no place for, such as lists.
    Other,
}

impl Holds {
    pub(super) fn of(data_type: &DataType) -> Self {
        match data_type {
            DataType::Boolean | DataType::Float16 | DataType::Float32 | DataType::Float64 => Self::Numbers,
            DataType::Decimal32(..) | DataType::Decimal64(..) | DataType::Decimal128(..) => Self::Numbers,
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Self::Texts,
            DataType::Binary | DataType::LargeBinary | DataType::BinaryView => Self::Texts,
            DataType::FixedSizeBinary(_) => Self::Texts,
            DataType::Dictionary(_, values) => Self::of(values),
            DataType::RunEndEncoded(_, values) => Self::of(values.data_type()),
            DataType::Interval(_) => Self::Other,
            other if other.is_integer() || other.is_temporal() => Self::Numbers,
            _ => Self::Other,
        }
    }
}

/// The columns that an import takes, as names and as indices in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chosen {
    /// Source, target, then the properties.
    pub(super) columns: Vec<usize>,
    /// Names of the properties.
    pub(super) properties: Vec<String>,
    /// Which property is the weight.
    pub(super) weight: Option<usize>,
    /// Names of columns that hold nothing that a graph has a place for, although all were asked for.
    pub(super) left_out: Vec<String>,
}

/// Chooses columns by the user's options and by the usual names.
///
/// # Errors
/// If a column that was asked for is not there or cannot serve, or the ends cannot be told.
pub(super) fn choose(
    path: &Arc<PathBuf>,
    names: &[(String, Holds)],
    options: &ReadOptions,
) -> Result<Chosen> {
    let (source, target) = choose_ends(path, names, options)?;
    let mut chosen =
        Chosen { columns: vec![source, target], properties: Vec::new(), weight: None, left_out: Vec::new() };
    let usual = |&&usual: &&&str| names.iter().any(|(name, _)| name.eq_ignore_ascii_case(usual));
    let weight = match (&options.weight, WEIGHTS.iter().find(usual)) {
        // A column that is called so but holds no numbers is an error, as in text files.
        (Pick::Auto, Some(usual)) => Some(find(path, names, usual)?),
        (choice, _) => pick(path, names, choice, &WEIGHTS)?,
    };
    if let Some(weight) =
        weight.filter(|&weight| weight != source && weight != target || options.weight != Pick::Auto)
    {
        if names[weight].1 != Holds::Numbers {
            let reason = format!(
                "the weight column {:?} does not hold numbers: name another with --weight, or none with --no-weight",
                names[weight].0
            );
            return Err(unusable(path, reason));
        }
        chosen.weight = Some(0);
        chosen.add(names, weight);
    }
    if let Some(time) = pick(path, names, &options.time, &TIMES)? {
        chosen.add(names, time);
    }
    match &options.properties {
        PickProperties::None => {}
        PickProperties::All => {
            for index in (0..names.len()).filter(|index| ![source, target].contains(index)) {
                match names[index].1 {
                    Holds::Other => chosen.left_out.push(names[index].0.clone()),
                    _ => chosen.add(names, index),
                }
            }
        }
        PickProperties::Columns(wanted) => {
            for name in wanted {
                let name =
                    name.strip_suffix(":text").or_else(|| name.strip_suffix(":number")).unwrap_or(name);
                chosen.add(names, find(path, names, name)?);
            }
        }
    }
    Ok(chosen)
}

impl Chosen {
    /// Adds a property, once. It may be one of the ends too.
    fn add(&mut self, names: &[(String, Holds)], index: usize) {
        if !self.columns[2..].contains(&index) {
            self.columns.push(index);
            self.properties.push(names[index].0.clone());
        }
    }

    /// A note about the columns that are left out.
    pub(super) fn note(&self, path: &Arc<PathBuf>) -> Option<String> {
        (!self.left_out.is_empty()).then(|| {
            let (path, names) = (path.display(), self.left_out.join(", "));
            format!("Leaving out columns of {path} that hold neither numbers nor texts: {names}")
        })
    }

    /// The same columns, by name, in another file of the same import.
    pub(super) fn in_file(
        &self,
        path: &Arc<PathBuf>,
        own: &[(String, Holds)],
        other: &[(String, Holds)],
    ) -> Result<Self> {
        let columns = self.columns.iter().map(|&i| find(path, other, &own[i].0)).collect::<Result<_>>()?;
        Ok(Self { columns, ..self.clone() })
    }
}

fn choose_ends(
    path: &Arc<PathBuf>,
    names: &[(String, Holds)],
    options: &ReadOptions,
) -> Result<(usize, usize)> {
    let named = |name: &Option<String>| name.as_ref().map(|name| find(path, names, name)).transpose();
    let usual = |name: &str| names.iter().position(|(n, _)| n.eq_ignore_ascii_case(name));
    let ends = match (named(&options.source)?, named(&options.target)?) {
        (Some(source), Some(target)) => Some((source, target)),
        (Some(source), None) => {
            let partner = ENDS.iter().find(|(s, t)| usual(s) == Some(source) && usual(t).is_some());
            partner.and_then(|(_, t)| usual(t)).map(|target| (source, target))
        }
        (None, Some(target)) => {
            let partner = ENDS.iter().find(|(s, t)| usual(t) == Some(target) && usual(s).is_some());
            partner.and_then(|(s, _)| usual(s)).map(|source| (source, target))
        }
        // A table of two columns leaves no doubt.
        (None, None) => ENDS
            .iter()
            .find_map(|(s, t)| Some((usual(s)?, usual(t)?)))
            .or_else(|| (names.len() == 2).then_some((0, 1))),
    };
    ends.ok_or_else(|| {
        let reason = format!(
            "cannot tell which columns hold the ends of the edges; name them with --src and --dst (columns: {})",
            list(names)
        );
        unusable(path, reason)
    })
}

fn pick(
    path: &Arc<PathBuf>,
    names: &[(String, Holds)],
    pick: &Pick,
    usual: &[&str],
) -> Result<Option<usize>> {
    match pick {
        Pick::Skip => Ok(None),
        Pick::Column(name) => find(path, names, name).map(Some),
        Pick::Auto => Ok(usual.iter().find_map(|usual| {
            names.iter().position(|(n, holds)| n.eq_ignore_ascii_case(usual) && *holds == Holds::Numbers)
        })),
    }
}

/// A column by its exact name, its name in other letters, or its number from 1.
fn find(path: &Arc<PathBuf>, names: &[(String, Holds)], name: &str) -> Result<usize> {
    let exact = names.iter().position(|(n, _)| n == name);
    let alike = || names.iter().position(|(n, _)| n.eq_ignore_ascii_case(name));
    let numbered = || name.parse::<usize>().ok().filter(|i| (1..=names.len()).contains(i)).map(|i| i - 1);
    let index = exact
        .or_else(alike)
        .or_else(numbered)
        .ok_or_else(|| unusable(path, format!("there is no column {name:?} (columns: {})", list(names))))?;
    if names[index].1 == Holds::Other {
        return Err(unusable(
            path,
            format!("the column {:?} holds neither numbers nor texts and cannot be used", names[index].0),
        ));
    }
    Ok(index)
}

fn list(names: &[(String, Holds)]) -> String {
    names.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
}

/// The kind of the ids when the two ends hold these.
///
/// # Errors
/// If integers are demanded of texts.
pub(super) fn id_kind(path: &Arc<PathBuf>, ends: [Holds; 2], options: &ReadOptions) -> Result<IdKind> {
    match (options.ids, ends.contains(&Holds::Texts)) {
        (PickIds::Int, true) => {
            Err(unusable(path, "integer ids are demanded, but the column of ids holds texts".to_owned()))
        }
        (PickIds::Text, _) | (PickIds::Auto, true) => Ok(IdKind::Text),
        _ => Ok(IdKind::Int),
    }
}

/// The schema of a table.
pub(super) fn schema(format: &'static str, ids: IdKind, chosen: &Chosen, input_bytes: u64) -> Schema {
    Schema {
        format,
        ids,
        properties: chosen.properties.clone(),
        weight: chosen.weight,
        directed: None,
        both_ends: false,
        input_bytes: Some(input_bytes),
    }
}

/// The same values as one of the types that an import takes: `Int64`, `UInt64`, `Float64` or `Binary`. Times become the
/// integers that they are stored as.
///
/// # Errors
/// If the column holds neither numbers nor texts, or its texts exceed 2 GiB.
pub fn simplified(array: &ArrayRef) -> std::result::Result<ArrayRef, ArrowError> {
    use DataType as T;
    Ok(match array.data_type() {
        T::Int64 | T::UInt64 | T::Float64 | T::Binary => Arc::clone(array),
        T::Int8 => mapped::<i8, Int64Type>(array, i64::from),
        T::Int16 => mapped::<i16, Int64Type>(array, i64::from),
        T::Int32 | T::Date32 | T::Time32(_) => mapped::<i32, Int64Type>(array, i64::from),
        T::UInt8 => mapped::<u8, Int64Type>(array, i64::from),
        T::UInt16 => mapped::<u16, Int64Type>(array, i64::from),
        T::UInt32 => mapped::<u32, Int64Type>(array, i64::from),
        T::Date64 | T::Time64(_) | T::Timestamp(..) | T::Duration(_) => same_bits::<Int64Type>(array),
        T::Float16 => mapped::<Half, Float64Type>(array, Half::to_f64),
        T::Float32 => mapped::<f32, Float64Type>(array, f64::from),
        T::Decimal32(_, scale) => decimals::<Decimal32Type>(array, *scale, f64::from),
        T::Decimal64(_, scale) => decimals::<Decimal64Type>(array, *scale, |v| v as f64),
        T::Decimal128(_, scale) => decimals::<Decimal128Type>(array, *scale, |v| v as f64),
        T::Boolean => {
            let values = array.as_boolean().values().iter().map(i64::from).collect::<Vec<_>>();
            Arc::new(PrimitiveArray::<Int64Type>::new(values.into(), array.nulls().cloned()))
        }
        T::Utf8 => Arc::new(BinaryArray::from(array.as_string::<i32>().clone())),
        T::LargeUtf8 => texts(array, array.as_string::<i64>().iter().map(|text| text.map(str::as_bytes)))?,
        T::Utf8View => texts(array, array.as_string_view().iter().map(|text| text.map(str::as_bytes)))?,
        T::LargeBinary => texts(array, array.as_binary::<i64>().iter())?,
        T::BinaryView => texts(array, array.as_binary_view().iter())?,
        T::FixedSizeBinary(_) => texts(array, array.as_fixed_size_binary().iter())?,
        T::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            simplified(&take(&simplified(dictionary.values())?, dictionary.keys(), None)?)?
        }
        T::RunEndEncoded(ends, _) => match ends.data_type() {
            T::Int16 => run_values::<Int16Type>(array)?,
            T::Int32 => run_values::<Int32Type>(array)?,
            _ => run_values::<Int64Type>(array)?,
        },
        other => return Err(ArrowError::NotYetImplemented(format!("{other} is no type of a property"))),
    })
}

fn run_values<E: RunEndIndexType>(array: &ArrayRef) -> std::result::Result<ArrayRef, ArrowError> {
    let runs = array.as_run::<E>();
    let places = (0..runs.len()).map(|row| runs.get_physical_index(row) as u64);
    take(&simplified(runs.values())?, &PrimitiveArray::<UInt64Type>::from_iter_values(places), None)
}

/// The values of a primitive array as they lie in memory.
fn native<T: ArrowNativeType>(array: &ArrayRef) -> ScalarBuffer<T> {
    let data = array.to_data();
    ScalarBuffer::new(data.buffers()[0].clone(), data.offset(), data.len())
}

fn same_bits<To: ArrowPrimitiveType>(array: &ArrayRef) -> ArrayRef {
    Arc::new(PrimitiveArray::<To>::new(native(array), array.nulls().cloned()))
}

fn mapped<T: ArrowNativeType, To: ArrowPrimitiveType>(
    array: &ArrayRef,
    value: impl Fn(T) -> To::Native,
) -> ArrayRef {
    let values: Vec<To::Native> = native(array).iter().map(|&v| value(v)).collect();
    Arc::new(PrimitiveArray::<To>::new(values.into(), array.nulls().cloned()))
}

/// Decimals of scale 0 as integers if they fit, others as the nearest floats.
fn decimals<T: DecimalType>(array: &ArrayRef, scale: i8, float: impl Fn(T::Native) -> f64) -> ArrayRef {
    if scale == 0 {
        let integers = native::<T::Native>(array);
        let integers: Option<Vec<i64>> = integers.iter().map(|v| v.to_i64()).collect();
        if let Some(integers) = integers {
            return Arc::new(PrimitiveArray::<Int64Type>::new(integers.into(), array.nulls().cloned()));
        }
    }
    let divisor = 10_f64.powi(scale.into());
    mapped::<T::Native, Float64Type>(array, |v| float(v) / divisor)
}

fn texts<'a>(
    array: &ArrayRef,
    texts: impl Iterator<Item = Option<&'a [u8]>> + Clone,
) -> std::result::Result<ArrayRef, ArrowError> {
    let bytes: usize = texts.clone().map(|text| text.map_or(0, <[u8]>::len)).sum();
    if i32::try_from(bytes).is_err() {
        return Err(ArrowError::OffsetOverflowError(bytes));
    }
    let mut column = BinaryBuilder::with_capacity(array.len(), bytes);
    texts.for_each(|text| column.append_option(text));
    Ok(Arc::new(column.finish()))
}

type Half = <Float16Type as ArrowPrimitiveType>::Native;

/// Why rows cannot be taken: the reason and the text that offends, by row.
type Faults = BTreeMap<usize, (String, String)>;

/// Makes a batch of columns of equal length: source, target, then the properties named `properties`.
///
/// Rows without a value, with a negative or fractional id or with a NaN are rejected.
///
/// # Errors
/// If the columns are not of equal length, which only damage can cause.
pub(super) fn batch(
    origin: &Origin<'_>,
    ids: IdKind,
    properties: &[String],
    mut columns: Vec<ArrayRef>,
) -> Result<EdgeBatch> {
    let rows = columns.first().map_or(0, arrow_array::Array::len);
    if columns.len() != properties.len() + 2 || columns.iter().any(|column| column.len() != rows) {
        return Err(unusable(origin.path, "its columns differ in length: it is damaged"));
    }
    let mut faults = Faults::new();
    for (index, column) in columns.iter_mut().enumerate() {
        let name = match index {
            0 => "source",
            1 => "target",
            _ => &properties[index - 2],
        };
        check_shared(origin, column, name)?;
        *column = simplified(column).map_err(|e| damaged(origin.path, format!("column {name:?}: {e}")))?;
        find_faults(column, name, index < 2, ids, &mut faults);
    }
    if !faults.is_empty() {
        let keep: BooleanArray = (0..rows).map(|row| Some(!faults.contains_key(&row))).collect();
        for column in &mut columns {
            *column = filter(column, &keep).map_err(|e| damaged(origin.path, e))?;
        }
    }
    let (ends, values) = columns.split_at(2);
    let rejected = faults.into_iter().map(|(row, (reason, text))| Rejected {
        path: Arc::clone(origin.path),
        line: origin.first_row + row as u64,
        text,
        reason,
    });
    Ok(EdgeBatch {
        source: as_ids(&ends[0], ids),
        target: as_ids(&ends[1], ids),
        properties: values.iter().map(as_values).collect(),
        vertices: None,
        rejected: rejected.collect(),
        input_bytes: origin.input_bytes,
    })
}

/// An error if the texts of a column that comes as codes and a dictionary take too much once each row has its own.
fn check_shared(origin: &Origin<'_>, column: &ArrayRef, name: &str) -> Result<()> {
    let Some(coded) = column.as_any_dictionary_opt() else { return Ok(()) };
    let texts =
        simplified(coded.values()).map_err(|e| damaged(origin.path, format!("column {name:?}: {e}")))?;
    let Some(texts) = texts.as_binary_opt::<i32>().filter(|texts| !texts.is_empty()) else { return Ok(()) };
    origin.shared.check(texts, coded).map_err(|reason| {
        let last_row = origin.first_row + (column.len() as u64).saturating_sub(1);
        unusable(origin.path, format!("column {name:?}, rows {} to {last_row}: {reason}", origin.first_row))
    })
}

fn find_faults(column: &ArrayRef, name: &str, is_id: bool, ids: IdKind, faults: &mut Faults) {
    let mut fault = |row: usize, reason: String, text: String| {
        faults.entry(row).or_insert((reason, text));
    };
    if column.null_count() > 0 {
        for row in (0..column.len()).filter(|&row| column.is_null(row)) {
            fault(row, format!("the column {name:?} has no value here (null)"), String::new());
        }
    }
    if let Some(values) = column.as_primitive_opt::<Int64Type>() {
        // One pass without branches finds that nothing is wrong, as is usual.
        if is_id && ids != IdKind::Text && values.values().iter().fold(0, |all, v| all | v) < 0 {
            for (row, value) in bad(values, |value| value < 0) {
                let reason = "ids cannot be negative; take the ids as texts (--ids text)";
                fault(row, reason.to_owned(), value.to_string());
            }
        }
    } else if let Some(values) = column.as_primitive_opt::<UInt64Type>() {
        let above = |value: u64| value > i64::MAX as u64;
        if !is_id && above(values.values().iter().fold(0, |all, v| all | v)) {
            for (row, value) in bad(values, above) {
                fault(row, format!("the column {name:?} exceeds {}", i64::MAX), value.to_string());
            }
        }
    } else if let Some(values) = column.as_primitive_opt::<Float64Type>() {
        let is_bad = |v: f64| if is_id { !(0.0..9e15).contains(&v) || v.fract() != 0.0 } else { v.is_nan() };
        for (row, value) in bad(values, is_bad) {
            let reason = if is_id { "an id must be an integer or a text" } else { "not a number" };
            fault(row, reason.to_owned(), value.to_string());
        }
    }
}

/// The values that are not null and `is_bad`, with their rows.
fn bad<T: ArrowPrimitiveType>(
    values: &PrimitiveArray<T>,
    is_bad: impl Fn(T::Native) -> bool,
) -> impl Iterator<Item = (usize, T::Native)> {
    let all = values.values().iter().copied().enumerate();
    all.filter(move |&(row, value)| is_bad(value) && values.is_valid(row))
}

/// The values as ids, which they were found fit to be.
fn as_ids(column: &ArrayRef, ids: IdKind) -> ArrayRef {
    match column.data_type() {
        DataType::Binary => Arc::clone(column),
        _ if ids == IdKind::Text => Arc::new(written(column)),
        DataType::Float64 => mapped::<f64, UInt64Type>(column, |id| id as u64),
        _ => same_bits::<UInt64Type>(column),
    }
}

fn as_values(column: &ArrayRef) -> ArrayRef {
    match column.data_type() {
        DataType::UInt64 => same_bits::<Int64Type>(column),
        _ => Arc::clone(column),
    }
}

/// Numbers as decimal texts.
fn written(column: &ArrayRef) -> BinaryArray {
    fn all<T: ArrowPrimitiveType<Native: ToString>>(column: &ArrayRef) -> BinaryArray {
        let values = column.as_primitive::<T>().values().iter();
        BinaryArray::from_iter_values(values.map(|value| value.to_string().into_bytes()))
    }
    match column.data_type() {
        DataType::UInt64 => all::<UInt64Type>(column),
        DataType::Float64 => all::<Float64Type>(column),
        _ => all::<Int64Type>(column),
    }
}

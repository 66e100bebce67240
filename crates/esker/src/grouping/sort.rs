//! Sorting of rows by the values of their columns.

use std::cmp::Ordering;

use esker_graph::{Reservation, Run};
use esker_store::format::ElementType;
use esker_store::ids::ExternalId;
use esker_store::property::PropertyValue;

use crate::error::Result;

/// Rows that are sorted between two looks for a signal.
const SORTED_ROWS: usize = 1 << 14;

/// A number of a column.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Number {
    Whole(i128),
    Real(f64),
}

impl Number {
    pub(super) fn of(element: ElementType, bits: u64) -> Self {
        match element {
            ElementType::F32 => Self::Real(f64::from(f32::from_bits(bits as u32))),
            ElementType::F64 => Self::Real(f64::from_bits(bits)),
            ElementType::I32 => Self::Whole((bits as i32).into()),
            ElementType::I64 => Self::Whole(bits.cast_signed().into()),
            ElementType::U8 | ElementType::U16 | ElementType::U32 | ElementType::U64 => {
                Self::Whole(bits.into())
            }
        }
    }

    pub(super) fn as_real(self) -> f64 {
        match self {
            Self::Whole(value) => value as f64,
            Self::Real(value) => value,
        }
    }

    pub(super) fn order(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Whole(a), Self::Whole(b)) => a.cmp(&b),
            (a, b) => a.as_real().total_cmp(&b.as_real()),
        }
    }
}

/// A value by which rows are sorted: numbers, times and ids by size, texts by their bytes.
#[derive(Debug, Clone)]
pub(crate) enum SortKey {
    Missing,
    Number(Number),
    Text(Box<[u8]>),
}

impl SortKey {
    /// Bytes beside the key itself.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Self::Text(text) => text.len() as u64,
            Self::Missing | Self::Number(_) => 0,
        }
    }

    /// The order of two values; missing ones are last, whatever the order.
    pub(crate) fn compared(&self, other: &Self, ascending: bool) -> Ordering {
        let order = match (self, other) {
            (Self::Missing, Self::Missing) => return Ordering::Equal,
            (Self::Missing, _) => return Ordering::Greater,
            (_, Self::Missing) => return Ordering::Less,
            (Self::Number(a), Self::Number(b)) => a.order(*b),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            (Self::Number(_), Self::Text(_)) => Ordering::Less,
            (Self::Text(_), Self::Number(_)) => Ordering::Greater,
        };
        if ascending { order } else { order.reverse() }
    }
}

impl From<ExternalId<'_>> for SortKey {
    fn from(id: ExternalId<'_>) -> Self {
        match id {
            ExternalId::Int(id) => Self::Number(Number::Whole(id.into())),
            ExternalId::Text(text) => Self::Text(text.into()),
        }
    }
}

impl From<&PropertyValue<'_>> for SortKey {
    fn from(value: &PropertyValue<'_>) -> Self {
        match value {
            value if value.is_missing() => Self::Missing,
            PropertyValue::Text(text) => Self::Text((*text).into()),
            value => match value.bits().zip(value.element()) {
                Some((bits, element)) => Self::Number(Number::of(element, bits)),
                // Vectors, by what is shown of them.
                None => Self::Text(value.to_string().into_bytes().into()),
            },
        }
    }
}

/// Memory of rows that are being gathered.
#[derive(Default)]
pub(super) struct RowMemory {
    reserved: Vec<Reservation>,
    /// Bytes that are reserved and not in use yet.
    free: u64,
}

impl RowMemory {
    /// Bytes that are reserved at a time.
    const PART_BYTES: u64 = 1 << 20;

    /// Takes more bytes.
    ///
    /// # Errors
    /// The memory limit of `run`.
    pub(super) fn hold(&mut self, bytes: u64, run: &Run) -> Result<()> {
        if bytes > self.free {
            let part = bytes.max(Self::PART_BYTES);
            self.reserved.push(run.budget().reserve("the rows to sort", part)?);
            self.free += part;
        }
        self.free -= bytes;
        Ok(())
    }
}

/// The first `top` rows in an order. Rows of equal order stay as they came.
///
/// # Errors
/// Cancellation.
pub(crate) fn sorted<T>(
    rows: Vec<T>,
    order: impl Fn(&T, &T) -> Ordering,
    top: usize,
    run: &Run,
) -> Result<Vec<T>> {
    let mut runs: Vec<Vec<T>> = Vec::new();
    let mut rest = rows.into_iter();
    loop {
        let mut part: Vec<T> = rest.by_ref().take(SORTED_ROWS).collect();
        if part.is_empty() {
            break;
        }
        run.check()?;
        part.sort_by(&order);
        part.truncate(top);
        runs.push(part);
    }
    while runs.len() > 1 {
        let mut merged = Vec::with_capacity(runs.len().div_ceil(2));
        let mut pairs = runs.into_iter();
        while let Some(first) = pairs.next() {
            merged.push(match pairs.next() {
                Some(second) => merge(first, second, &order, top, run)?,
                None => first,
            });
        }
        runs = merged;
    }
    Ok(runs.pop().unwrap_or_default())
}

/// The first `top` rows of two sorted runs.
fn merge<T>(
    first: Vec<T>,
    second: Vec<T>,
    order: impl Fn(&T, &T) -> Ordering,
    top: usize,
    run: &Run,
) -> Result<Vec<T>> {
    let mut merged = Vec::with_capacity(top.min(first.len() + second.len()));
    let (mut first, mut second) = (first.into_iter().peekable(), second.into_iter().peekable());
    while merged.len() < top {
        if merged.len().is_multiple_of(SORTED_ROWS) {
            run.check()?;
        }
        let is_second = match (first.peek(), second.peek()) {
            (Some(a), Some(b)) => order(a, b).is_gt(),
            (None, Some(_)) => true,
            (Some(_), None) => false,
            (None, None) => break,
        };
        merged.extend(if is_second { second.next() } else { first.next() });
    }
    Ok(merged)
}

//! Counts, sums, means and extremes of a property, by group.

use std::cmp::Ordering;

use esker_store::format::{ElementType, LogicalType, PropertyRecord};
use esker_store::property::PropertyValue;
use serde_json::Value;

use crate::differences::value_json;
use crate::error::{Error, Result};

/// What is computed of the rows of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Measure {
    /// Their number.
    Count,
    /// The sum of a property, without missing values; none if all are missing.
    Sum(String),
    /// The mean of a property, without missing values.
    Mean(String),
    /// The least value of a property.
    Min(String),
    /// The greatest value of a property.
    Max(String),
}

impl Measure {
    /// The name of its column: `count`, `sum_amount` and so on.
    pub fn column(&self) -> String {
        match self {
            Self::Count => "count".to_owned(),
            Self::Sum(name) => format!("sum_{name}"),
            Self::Mean(name) => format!("mean_{name}"),
            Self::Min(name) => format!("min_{name}"),
            Self::Max(name) => format!("max_{name}"),
        }
    }

    /// The property that it reads.
    pub(super) fn property(&self) -> Option<&str> {
        match self {
            Self::Count => None,
            Self::Sum(name) | Self::Mean(name) | Self::Min(name) | Self::Max(name) => Some(name),
        }
    }
}

/// A measure of all groups. Sums of integers are exact; those of floats carry the rounding errors beside
/// them, so that the order of the rows does not show but in the rarest cases.
#[derive(Debug, Clone)]
pub(super) struct MeasureColumn {
    measure: Measure,
    property: Option<PropertyRecord>,
    cells: Vec<MeasureCell>,
}

#[derive(Debug, Clone, Copy, Default)]
struct MeasureCell {
    count: u64,
    whole: i128,
    real: f64,
    error: f64,
    /// The bits of the least or the greatest value.
    extreme: u64,
}

impl MeasureColumn {
    /// Refuses a property whose values have no such measure.
    pub(super) fn new(measure: Measure, property: Option<PropertyRecord>) -> Result<Self> {
        if let Some(property) = &property {
            let has_sum = property.is_number();
            let has_order =
                has_sum || matches!(property.logical, LogicalType::Date | LogicalType::Timestamp { .. });
            let is_of_sum = matches!(measure, Measure::Sum(_) | Measure::Mean(_));
            if !has_order || is_of_sum && !has_sum {
                let (name, kind) = (&property.name, property.type_name());
                return Err(Error::usage(format!(
                    "{} cannot be computed: {name:?} holds {kind}",
                    measure.column()
                )));
            }
        }
        Ok(Self { measure, property, cells: Vec::new() })
    }

    /// Bytes of a group.
    pub(super) const CELL_BYTES: u64 = size_of::<MeasureCell>() as u64;

    pub(super) fn grow(&mut self, groups: usize) {
        self.cells.resize(groups, MeasureCell::default());
    }

    /// Adds a row to a group; `None`: its value is missing.
    pub(super) fn add(&mut self, group: usize, bits: Option<u64>) {
        let cell = &mut self.cells[group];
        let Some(property) = &self.property else {
            cell.count += 1;
            return;
        };
        let Some(bits) = bits else { return };
        let value = Number::of(property.element, bits);
        if let Number::Real(value) = value
            && value.is_nan()
        {
            return;
        }
        match (&self.measure, value) {
            (Measure::Sum(_) | Measure::Mean(_), Number::Whole(value)) => cell.whole += value,
            (Measure::Sum(_) | Measure::Mean(_), Number::Real(value)) => cell.add(value),
            (Measure::Min(_), value)
                if cell.count == 0 || value.order(Number::of(property.element, cell.extreme)).is_lt() =>
            {
                cell.extreme = bits;
            }
            (Measure::Max(_), value)
                if cell.count == 0 || value.order(Number::of(property.element, cell.extreme)).is_gt() =>
            {
                cell.extreme = bits;
            }
            _ => {}
        }
        cell.count += 1;
    }

    /// Adds the rows of a group of another column to a group of this.
    pub(super) fn add_group(&mut self, group: usize, other: &Self, other_group: usize) {
        let theirs = other.cells[other_group];
        if matches!(self.measure, Measure::Min(_) | Measure::Max(_)) {
            let count = self.cells[group].count;
            if theirs.count > 0 {
                self.add(group, Some(theirs.extreme));
                self.cells[group].count = count + theirs.count;
            }
            return;
        }
        let cell = &mut self.cells[group];
        cell.count += theirs.count;
        cell.whole += theirs.whole;
        cell.add(theirs.real);
        cell.error += theirs.error;
    }

    /// The order of the values of two groups; missing ones are the least.
    pub(super) fn compare(&self, a: usize, b: usize) -> Ordering {
        let key = |group: usize| {
            let cell = &self.cells[group];
            match (&self.measure, &self.property) {
                (Measure::Count, _) => Some(Number::Whole(cell.count.into())),
                (_, Some(_)) if cell.count == 0 => None,
                (Measure::Mean(_), Some(property)) => {
                    Some(Number::Real(cell.sum(property).as_real() / cell.count as f64))
                }
                (Measure::Sum(_), Some(property)) => Some(cell.sum(property)),
                (_, Some(property)) => Some(Number::of(property.element, cell.extreme)),
                (_, None) => None,
            }
        };
        match (key(a), key(b)) {
            (Some(a), Some(b)) => a.order(b),
            (a, b) => a.is_some().cmp(&b.is_some()),
        }
    }

    /// The value of a group.
    ///
    /// # Errors
    /// [`Error::Usage`] if a sum does not fit in 64 bits, or in a float.
    pub(super) fn value(&self, group: usize) -> Result<Value> {
        let cell = &self.cells[group];
        let Some(property) = &self.property else { return Ok(cell.count.into()) };
        if cell.count == 0 {
            return Ok(Value::Null);
        }
        let sum = match self.measure {
            Measure::Sum(_) | Measure::Mean(_) => cell.sum(property),
            _ => return Ok(value_json(&PropertyValue::from_stored(property, cell.extreme))),
        };
        if matches!(self.measure, Measure::Mean(_)) {
            return finite(sum.as_real() / cell.count as f64, &property.name);
        }
        match sum {
            Number::Real(sum) => finite(sum, &property.name),
            Number::Whole(sum) => {
                let whole =
                    i64::try_from(sum).map(Value::from).or_else(|_| u64::try_from(sum).map(Value::from));
                whole.map_err(|_| beyond(&property.name, "64 bits"))
            }
        }
    }

    /// Whether a group has no value.
    pub(super) fn is_missing(&self, group: usize) -> bool {
        self.property.is_some() && self.cells[group].count == 0
    }

    pub(super) fn name(&self) -> String {
        self.measure.column()
    }

    /// Whether it reads this property.
    pub(super) fn reads(&self) -> Option<&PropertyRecord> {
        self.property.as_ref()
    }
}

impl MeasureCell {
    /// Adds a float, and what is lost by rounding to the error.
    fn add(&mut self, value: f64) {
        let sum = self.real + value;
        let lost = if self.real.abs() >= value.abs() {
            (self.real - sum) + value
        } else {
            (value - sum) + self.real
        };
        self.error += if lost.is_finite() { lost } else { 0.0 };
        self.real = sum;
    }

    fn sum(&self, property: &PropertyRecord) -> Number {
        match property.element {
            ElementType::F32 | ElementType::F64 => Number::Real(self.real + self.error),
            _ => Number::Whole(self.whole),
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Number {
    Whole(i128),
    Real(f64),
}

impl Number {
    fn of(element: ElementType, bits: u64) -> Self {
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

    fn as_real(self) -> f64 {
        match self {
            Self::Whole(value) => value as f64,
            Self::Real(value) => value,
        }
    }

    fn order(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Whole(a), Self::Whole(b)) => a.cmp(&b),
            (a, b) => a.as_real().total_cmp(&b.as_real()),
        }
    }
}

fn finite(value: f64, name: &str) -> Result<Value> {
    if value.is_finite() { Ok(value.into()) } else { Err(beyond(name, "a float")) }
}

fn beyond(name: &str, what: &str) -> Error {
    Error::usage(format!(
        "a sum of {name:?} does not fit in {what}: leave out the greatest values with a condition"
    ))
}

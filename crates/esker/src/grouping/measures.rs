//! Counts, sums, means and extremes of a property, by group.

use esker_store::ReservedBits;
use esker_store::format::{ElementType, LogicalType, PropertyRecord};
use esker_store::property::PropertyValue;
use serde_json::Value;

use super::exact_sum::ExactSum;
use super::sort::{Number, SortKey};
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
    pub(crate) fn property(&self) -> Option<&str> {
        match self {
            Self::Count => None,
            Self::Sum(name) | Self::Mean(name) | Self::Min(name) | Self::Max(name) => Some(name),
        }
    }
}

/// A measure of all groups. Sums do not depend on the order of the rows: those of integers are exact, those
/// of floats as [`ExactSum`] says.
#[derive(Debug, Clone)]
pub(crate) struct MeasureColumn {
    measure: Measure,
    property: Option<PropertyRecord>,
    cells: Vec<MeasureCell>,
    /// The sums of floats; empty for other measures.
    reals: Vec<ExactSum>,
}

#[derive(Debug, Clone, Copy, Default)]
struct MeasureCell {
    count: u64,
    /// The sum of integers.
    whole: i128,
    /// The bits of the least or the greatest value.
    extreme: u64,
}

impl MeasureColumn {
    /// Refuses a property whose values have no such measure.
    pub(crate) fn new(measure: Measure, property: Option<PropertyRecord>) -> Result<Self> {
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
        Ok(Self { measure, property, cells: Vec::new(), reals: Vec::new() })
    }

    /// Bytes of a group.
    pub(super) fn cell_bytes(&self) -> u64 {
        (size_of::<MeasureCell>() + if self.adds_reals() { size_of::<ExactSum>() } else { 0 }) as u64
    }

    fn is_sum(&self) -> bool {
        matches!(self.measure, Measure::Sum(_) | Measure::Mean(_))
    }

    fn adds_reals(&self) -> bool {
        let element = self.property.as_ref().map(|property| property.element);
        self.is_sum() && matches!(element, Some(ElementType::F32 | ElementType::F64))
    }

    pub(crate) fn grow(&mut self, groups: usize) {
        self.cells.resize(groups, MeasureCell::default());
        if self.adds_reals() {
            self.reals.resize(groups, ExactSum::default());
        }
    }

    /// Adds a row to a group; `None`: its value is missing.
    pub(crate) fn add(&mut self, group: usize, bits: Option<u64>) {
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
            (Measure::Sum(_) | Measure::Mean(_), Number::Real(value)) => self.reals[group].add(value),
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

    /// Adds rows to their groups: the bits of their values, and those that stand for a missing one; `None`
    /// for a count.
    pub(super) fn add_rows(&mut self, groups: &[u32], values: Option<(&[u64], ReservedBits)>) {
        let Some((bits, reserved)) = values else {
            groups.iter().for_each(|&group| self.cells[group as usize].count += 1);
            return;
        };
        let rows = groups.iter().zip(bits).filter(|&(_, &bits)| !reserved.has(bits));
        let Some(property) = &self.property else { return };
        if !self.is_sum() {
            rows.for_each(|(&group, &bits)| self.add(group as usize, Some(bits)));
            return;
        }
        // Without a branch on the type for each row.
        let (cells, reals) = (&mut self.cells, &mut self.reals);
        let mut add_real = |group: u32, value: f64| {
            if !value.is_nan() {
                reals[group as usize].add(value);
                cells[group as usize].count += 1;
            }
        };
        match property.element {
            ElementType::F32 => {
                rows.for_each(|(&group, &bits)| add_real(group, f32::from_bits(bits as u32).into()));
            }
            ElementType::F64 => rows.for_each(|(&group, &bits)| add_real(group, f64::from_bits(bits))),
            element => rows.for_each(|(&group, &bits)| {
                let cell = &mut cells[group as usize];
                cell.whole += match element {
                    ElementType::I32 => i128::from(bits as i32),
                    ElementType::I64 => i128::from(bits.cast_signed()),
                    _ => i128::from(bits),
                };
                cell.count += 1;
            }),
        }
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
        if let Some(sum) = other.reals.get(other_group) {
            self.reals[group].add_sum(sum);
        }
    }

    /// What the groups are sorted by.
    pub(super) fn sort_key(&self, group: usize) -> SortKey {
        let cell = &self.cells[group];
        let Some(property) = &self.property else { return SortKey::Number(Number::Whole(cell.count.into())) };
        if cell.count == 0 {
            return SortKey::Missing;
        }
        SortKey::Number(match self.measure {
            Measure::Mean(_) => Number::Real(self.mean(group)),
            Measure::Sum(_) => self.sum(group),
            _ => Number::of(property.element, cell.extreme),
        })
    }

    fn sum(&self, group: usize) -> Number {
        match self.reals.get(group) {
            Some(sum) => Number::Real(sum.value()),
            None => Number::Whole(self.cells[group].whole),
        }
    }

    fn mean(&self, group: usize) -> f64 {
        let cell = &self.cells[group];
        match self.reals.get(group) {
            Some(sum) => sum.divided_by(cell.count),
            None => cell.whole as f64 / cell.count as f64,
        }
    }

    /// The value of a group.
    ///
    /// # Errors
    /// [`Error::Usage`] if a sum does not fit in 64 bits, or in a float.
    pub(crate) fn value(&self, group: usize) -> Result<Value> {
        let cell = &self.cells[group];
        let Some(property) = &self.property else { return Ok(cell.count.into()) };
        if cell.count == 0 {
            return Ok(Value::Null);
        }
        let sum = match self.measure {
            Measure::Sum(_) => self.sum(group),
            Measure::Mean(_) => return finite(self.mean(group), &property.name),
            _ => return Ok(value_json(&PropertyValue::from_stored(property, cell.extreme))),
        };
        match sum {
            Number::Real(sum) => finite(sum, &property.name),
            Number::Whole(sum) => {
                let whole =
                    i64::try_from(sum).map(Value::from).or_else(|_| u64::try_from(sum).map(Value::from));
                whole.map_err(|_| beyond(&property.name, "64 bits"))
            }
        }
    }

    pub(crate) fn name(&self) -> String {
        self.measure.column()
    }

    /// Whether it reads this property.
    pub(crate) fn reads(&self) -> Option<&PropertyRecord> {
        self.property.as_ref()
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

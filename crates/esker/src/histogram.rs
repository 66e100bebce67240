//! How values are distributed: a number of values for each of a few ranges.

use std::collections::BTreeMap;

use esker_graph::{Cancel, Stop};

use crate::answer::{Answer, Value};
use crate::top::top;

/// With no more distinct integers than this, each has a bin of its own.
const BINS_MAX: usize = 20;

/// Bins of floats.
const FLOAT_BINS: usize = 12;

/// Values above the least by more than this factor are divided by order of magnitude.
const SKEW_MIN: f64 = 100.0;

/// The numbers of values in ranges, ascending.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Histogram {
    /// The ranges in words, such as `4 to 7`, and how many values are in each.
    pub bins: Vec<(String, u64)>,
    /// Rows without a value, such as unreached vertices.
    pub missing: u64,
}

impl Histogram {
    /// Of integers: one bin for each if few are distinct, else ranges that double.
    pub fn of_counts(values: impl Iterator<Item = u64>) -> Self {
        let mut exact: BTreeMap<u64, u64> = BTreeMap::new();
        let mut doubling: BTreeMap<u32, u64> = BTreeMap::new();
        for value in values {
            if exact.len() <= BINS_MAX {
                *exact.entry(value).or_insert(0) += 1;
            }
            *doubling.entry(u64::BITS - value.leading_zeros()).or_insert(0) += 1;
        }
        let bins = match exact.len() <= BINS_MAX {
            true => exact.into_iter().map(|(value, count)| (value.to_string(), count)).collect(),
            false => doubling.into_iter().map(|(bits, count)| (doubling_range(bits), count)).collect(),
        };
        Self { bins, missing: 0 }
    }

    /// Of numbers: equal ranges, or ranges of equal ratio if the values are positive and differ much.
    pub fn of_floats(values: impl Iterator<Item = f64> + Clone) -> Self {
        let least = values.clone().fold(f64::INFINITY, f64::min);
        let most = values.clone().fold(f64::NEG_INFINITY, f64::max);
        if least >= most || !least.is_finite() || !most.is_finite() {
            let count = values.count() as u64;
            let bins = if count == 0 { Vec::new() } else { vec![(format!("{least}"), count)] };
            return Self { bins, missing: 0 };
        }
        let by_ratio = least > 0.0 && most / least > SKEW_MIN;
        let scale = |value: f64| if by_ratio { value.ln() } else { value };
        let (low, width) =
            (scale(least), (scale(most) / FLOAT_BINS as f64 - scale(least) / FLOAT_BINS as f64));
        let edge = |bin: usize| {
            let edge = low + width * bin as f64;
            if by_ratio { edge.exp() } else { edge }
        };
        let mut counts = [0; FLOAT_BINS];
        for value in values {
            counts[(((scale(value) - low) / width) as usize).min(FLOAT_BINS - 1)] += 1;
        }
        let bin =
            |(bin, &count): (usize, &u64)| (format!("{:.3e} to {:.3e}", edge(bin), edge(bin + 1)), count);
        Self { bins: counts.iter().enumerate().map(bin).collect(), missing: 0 }
    }

    /// Of the principal column of an answer, or of the sizes of its groups; `None` if the answer has no
    /// column.
    ///
    /// # Errors
    /// [`Stop::Cancelled`].
    pub fn of_answer(answer: &Answer, cancel: &Cancel) -> Result<Option<Self>, Stop> {
        let Some(column) = answer.columns.first() else { return Ok(None) };
        if column.ranking.is_of_groups() {
            let sizes = top(answer, usize::MAX, cancel)?.into_iter();
            return Ok(Some(Self::of_counts(sizes.map(|group| match group.value {
                Value::Count(size) => size,
                _ => 0,
            }))));
        }
        // Once cancelled, the passes below end early, and what they found is dropped.
        let is_calm = |row: &usize| !row.is_multiple_of(1 << 16) || !cancel.is_cancelled();
        let values = (0..column.values.len()).take_while(is_calm).map(|row| column.values.get(row));
        let missing = values.clone().filter(|value| *value == Value::Missing).count() as u64;
        let count = |value| match value {
            Value::Count(count) => Some(count),
            Value::Integer(value) => u64::try_from(value).ok(),
            _ => None,
        };
        let number = |value| match value {
            Value::Float(value) => Some(value),
            Value::Count(count) => Some(count as f64),
            Value::Integer(value) => Some(value as f64),
            _ => None,
        };
        let is_whole = values.clone().all(|value| value == Value::Missing || count(value).is_some());
        let found = match is_whole {
            true => Self::of_counts(values.filter_map(count)),
            false => Self::of_floats(values.filter_map(number)),
        };
        cancel.check()?;
        Ok(Some(Self { missing, ..found }))
    }
}

/// The integers with this number of bits.
fn doubling_range(bits: u32) -> String {
    match bits {
        0 | 1 => bits.to_string(),
        _ => format!("{} to {}", 1u64 << (bits - 1), u64::MAX >> (u64::BITS - bits)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_in_one_bin() {
        let few = Histogram::of_counts([3, 0, 3, 7].into_iter());
        assert_eq!(few.bins, [("0".to_owned(), 1), ("3".to_owned(), 2), ("7".to_owned(), 1)]);
        let many = Histogram::of_counts((0..100).chain([u64::MAX]));
        assert_eq!(many.bins.iter().map(|bin| bin.1).sum::<u64>(), 101);
        assert_eq!(many.bins[2], ("2 to 3".to_owned(), 2));
        assert_eq!(many.bins.last().unwrap().0, format!("{} to {}", 1u64 << 63, u64::MAX));
        let cases: [Vec<f64>; 4] = [
            (0..50).map(f64::from).collect(),
            (0..50).map(|i| 1.5f64.powi(i)).collect(),
            vec![-1e308, 1e308, 0.0],
            vec![2.5; 7],
        ];
        for values in cases {
            let found = Histogram::of_floats(values.iter().copied());
            assert_eq!(found.bins.iter().map(|bin| bin.1).sum::<u64>(), values.len() as u64, "{found:?}");
        }
        assert_eq!(Histogram::of_floats([].into_iter()), Histogram::default());
    }
}

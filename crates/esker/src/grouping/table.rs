//! Groups as rows: sorted, cut, and with what keys and measures show.

use std::cmp::Ordering;

use esker_graph::Run;
use esker_store::Version;
use serde_json::Value;

use super::groups::Groups;
use super::keys::KeyColumn;
use super::measures::MeasureColumn;
use crate::error::{Error, Result};

/// Rows with a name for each column.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupTable {
    /// The names of the columns: keys, then measures.
    pub columns: Vec<String>,
    /// The rows, with a value for each column; `null` where there is none.
    pub rows: Vec<Vec<Value>>,
}

/// In which order rows come, and how many.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GroupOrder {
    /// The column by which they are sorted; `None`: steps of time, else the first measure, else the keys.
    pub column: Option<String>,
    /// Whether the least comes first; `None`: where keys or steps are sorted, not where measures and the
    /// values of lists are. Rows without a value are last.
    pub ascending: Option<bool>,
    /// How many rows at most.
    pub top: Option<usize>,
}

/// Two values in the order of numbers, or of texts by their bytes; missing ones are last.
pub(super) fn compared(a: &Value, b: &Value, ascending: bool) -> Ordering {
    let order = match (a, b) {
        (Value::Null, Value::Null) => return Ordering::Equal,
        (Value::Null, _) => return Ordering::Greater,
        (_, Value::Null) => return Ordering::Less,
        (Value::Number(a), Value::Number(b)) => match (a.as_i128(), b.as_i128()) {
            (Some(a), Some(b)) => a.cmp(&b),
            _ => a.as_f64().partial_cmp(&b.as_f64()).unwrap_or(Ordering::Equal),
        },
        (Value::String(a), Value::String(b)) => a.as_bytes().cmp(b.as_bytes()),
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (a, b) => a.to_string().cmp(&b.to_string()),
    };
    if ascending { order } else { order.reverse() }
}

/// Names, each once: one that was there before becomes `property.NAME`.
pub(super) fn told_apart(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut told: Vec<String> = Vec::new();
    for mut name in names {
        while told.contains(&name) {
            name.insert_str(0, "property.");
        }
        told.push(name);
    }
    told
}

/// The place of a column among names.
///
/// # Errors
/// [`Error::Usage`] that names those there are.
pub(super) fn place_of(column: &str, columns: &[String]) -> Result<usize> {
    columns.iter().position(|own| own == column).ok_or_else(|| {
        Error::usage(format!("there is no column {column:?} to sort by: there are {}", columns.join(", ")))
    })
}

impl Groups {
    /// The groups as rows.
    ///
    /// # Errors
    /// [`Error::Usage`] for a column that there is not, and a sum beyond 64 bits; cancellation.
    pub(super) fn table(
        &self,
        names: Vec<String>,
        keys: &[KeyColumn],
        order: &GroupOrder,
        version: &Version,
        run: &Run,
    ) -> Result<GroupTable> {
        if keys.is_empty() && self.measures().is_empty() {
            return Err(Error::usage("nothing is asked of all rows: ask for a measure, such as their count"));
        }
        let columns: Vec<String> =
            names.into_iter().chain(self.measures().iter().map(MeasureColumn::name)).collect();
        let place = match &order.column {
            Some(column) => place_of(column, &columns)?,
            None => match keys.iter().position(|key| matches!(key, KeyColumn::Step(_))) {
                Some(steps) => steps,
                None if self.measures().is_empty() => 0,
                None => keys.len(),
            },
        };
        let ascending = order.ascending.unwrap_or(place < keys.len());
        let mut groups: Vec<usize> = (0..self.keys().len()).collect();
        if let Some(measure) = place.checked_sub(keys.len()) {
            let measure = &self.measures()[measure];
            let in_order = |a: usize, b: usize| {
                let order = measure.compare(a, b);
                if ascending { order } else { order.reverse() }
            };
            groups.sort_by(|&a, &b| in_order(a, b).then(self.keys()[a].cmp(&self.keys()[b])));
            if ascending {
                // Those without a value came first.
                let missing = groups.iter().take_while(|&&group| measure.is_missing(group)).count();
                groups.rotate_left(missing);
            }
            // Rows of equal measures are sorted by what keys show, below.
            let top = order.top.unwrap_or(usize::MAX);
            if let Some(&last) = top.checked_sub(1).and_then(|last| groups.get(last)) {
                let is_equal = |&&group: &&usize| measure.compare(last, group).is_eq();
                let equal = groups[top..].iter().take_while(is_equal).count();
                groups.truncate(top + equal);
            }
        }
        let mut rows = Vec::with_capacity(groups.len());
        for (number, &group) in groups.iter().enumerate() {
            if number % (1 << 12) == 0 {
                run.check()?;
            }
            let shown = keys.iter().enumerate().map(|(place, key)| {
                self.keys()[group].get(place).map_or(Ok(Value::Null), |bits| key.shown(bits, version))
            });
            let measures = self.measures().iter().map(|measure| measure.value(group));
            rows.push(shown.chain(measures).collect::<Result<Vec<_>>>()?);
        }
        rows.sort_by(|a, b| {
            let by_keys = (0..keys.len()).map(|key| compared(&a[key], &b[key], true));
            let first = compared(&a[place], &b[place], ascending);
            first.then_with(|| by_keys.fold(Ordering::Equal, Ordering::then))
        });
        rows.truncate(order.top.unwrap_or(usize::MAX));
        Ok(GroupTable { columns, rows })
    }
}

//! Groups as rows: sorted, cut, and with what keys and measures show.

use std::cmp::Ordering;

use esker_graph::{Reservation, Run};
use esker_store::Version;
use esker_store::format::value::name::unquoted;
use serde_json::Value;

use super::groups::Groups;
use super::keys::{GroupKey, KeyColumn};
use super::measures::MeasureColumn;
use super::sort::{RowMemory, SortKey, sorted};
use crate::error::{Error, Result};

/// Groups between two looks for a signal.
const CHECK_GROUPS: usize = 1 << 12;

/// Groups as rows with a name for each column. A row is made when it is asked for.
pub struct GroupTable {
    /// The names of the columns: keys, then measures.
    pub columns: Vec<String>,
    groups: Groups,
    keys: Vec<KeyColumn>,
    version: Version,
    /// The group of each row.
    order: Vec<u32>,
    _memory: Reservation,
}

impl std::fmt::Debug for GroupTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GroupTable").field("columns", &self.columns).finish_non_exhaustive()
    }
}

impl GroupTable {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The values of a row, one for each column; `null` where there is none. Panics if there is no such row.
    ///
    /// # Errors
    /// [`Error::Usage`] for a sum beyond 64 bits or a float; [`esker_store::Error::Corrupt`].
    pub fn row(&self, row: usize) -> Result<Vec<Value>> {
        let group = self.order[row] as usize;
        let keys = self.keys.iter().enumerate().map(|(place, key)| {
            let bits = self.groups.keys()[group].get(place);
            bits.map_or(Ok(Value::Null), |bits| key.shown(bits, &self.version))
        });
        keys.chain(self.groups.measures().iter().map(|measure| measure.value(group))).collect()
    }

    /// All rows.
    ///
    /// # Errors
    /// As [`GroupTable::row`].
    pub fn rows(&self) -> Result<Vec<Vec<Value>>> {
        (0..self.len()).map(|row| self.row(row)).collect()
    }
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

/// Names, each once: one that was there before becomes `property.NAME`.
pub(super) fn told_apart(names: impl Iterator<Item = String>) -> Vec<String> {
    beside(&[], names)
}

/// The same beside names that are taken.
fn beside(taken: &[String], names: impl Iterator<Item = String>) -> Vec<String> {
    let mut told: Vec<String> = Vec::new();
    for mut name in names {
        while told.contains(&name) || taken.contains(&name) {
            name.insert_str(0, "property.");
        }
        told.push(name);
    }
    told
}

/// The place of a column among names. One in double quotes is a property, whose column is called
/// `property.NAME` beside another of its name.
///
/// # Errors
/// [`Error::Usage`] that names those there are.
pub(crate) fn place_of(column: &str, columns: &[String]) -> Result<usize> {
    let place = |name: &str| columns.iter().position(|own| own == name);
    let property = || {
        let name = unquoted(column)?;
        place(&format!("property.{name}")).or_else(|| place(&name))
    };
    place(column).or_else(property).ok_or_else(|| {
        Error::usage(format!("there is no column {column:?} to sort by: there are {}", columns.join(", ")))
    })
}

impl Groups {
    /// The groups as rows.
    ///
    /// # Errors
    /// [`Error::Usage`] for a column that there is not; the memory limit of `run`; cancellation.
    pub(super) fn table(
        self,
        keys: Vec<KeyColumn>,
        by: &[GroupKey],
        order: &GroupOrder,
        version: &Version,
        run: &Run,
    ) -> Result<GroupTable> {
        if keys.is_empty() && self.measures().is_empty() {
            return Err(Error::usage("nothing is asked of all rows: ask for a measure, such as their count"));
        }
        // Steps and measures keep their names, and a property that is called so has another.
        let measures: Vec<String> = self.measures().iter().map(MeasureColumn::name).collect();
        let steps = keys.iter().filter(|key| matches!(key, KeyColumn::Step(_))).map(|key| key.name(None));
        let taken: Vec<String> = measures.iter().cloned().chain(steps).collect();
        let named = by.iter().map(GroupKey::to_string);
        let mut columns = beside(&taken, named);
        columns.extend(keys.iter().skip(by.len()).map(|key| key.name(None)));
        columns.extend(measures);
        let place = match &order.column {
            Some(column) => place_of(column, &columns)?,
            None => match keys.iter().position(|key| matches!(key, KeyColumn::Step(_))) {
                Some(steps) => steps,
                None if self.measures().is_empty() => 0,
                None => keys.len(),
            },
        };
        let ascending = order.ascending.unwrap_or(place < keys.len());
        let (order, memory) = self.sorted(&keys, place, ascending, order.top, version, run)?;
        Ok(GroupTable { columns, groups: self, keys, version: version.clone(), order, _memory: memory })
    }

    /// The groups in the order of the column at a place; those of equal values in the order of the keys.
    fn sorted(
        &self,
        keys: &[KeyColumn],
        place: usize,
        ascending: bool,
        top: Option<usize>,
        version: &Version,
        run: &Run,
    ) -> Result<(Vec<u32>, Reservation)> {
        let mut memory = RowMemory::default();
        let mut rows: Vec<(SortKey, u32)> = Vec::new();
        for group in 0..self.keys().len() {
            let key = match place.checked_sub(keys.len()) {
                Some(measure) => self.measures()[measure].sort_key(group),
                None => keys[place].sort_key(self.keys()[group].get(place), version)?,
            };
            memory.hold(key.bytes() + size_of::<(SortKey, u32)>() as u64, run)?;
            rows.push((key, group as u32));
            if group.is_multiple_of(CHECK_GROUPS) {
                run.check()?;
            }
        }
        // A key of several, or a measure, leaves some equal: the other keys decide among these.
        let top = top.unwrap_or(usize::MAX);
        if top < rows.len() {
            keep_first(&mut rows, top, ascending);
        }
        let mut all = Vec::with_capacity(rows.len());
        for (number, (first, group)) in rows.into_iter().enumerate() {
            if number.is_multiple_of(CHECK_GROUPS) {
                run.check()?;
            }
            let bits = self.keys()[group as usize];
            let own = keys.iter().enumerate().filter(|&(key, _)| key != place);
            let own = own.map(|(place, key)| key.sort_key(bits.get(place), version));
            let own = own.collect::<Result<Vec<_>>>()?;
            let of_keys = own.iter().map(|key| key.bytes() + size_of::<SortKey>() as u64).sum::<u64>();
            memory.hold(of_keys + size_of::<SortedGroup>() as u64, run)?;
            all.push(SortedGroup { first, own, group });
        }
        let order = |a: &SortedGroup, b: &SortedGroup| {
            let by_keys = a.own.iter().zip(&b.own).map(|(a, b)| a.compared(b, true));
            a.first.compared(&b.first, ascending).then_with(|| by_keys.fold(Ordering::Equal, Ordering::then))
        };
        let order: Vec<u32> = sorted(all, order, top, run)?.into_iter().map(|row| row.group).collect();
        let reserved = run.budget().reserve("the order of groups", 4 * order.len() as u64)?;
        Ok((order, reserved))
    }
}

/// A group with what it is sorted by: the column, then the other keys.
struct SortedGroup {
    first: SortKey,
    own: Vec<SortKey>,
    group: u32,
}

/// Leaves the first `top` rows, and those that equal the last of them.
fn keep_first(rows: &mut Vec<(SortKey, u32)>, top: usize, ascending: bool) {
    let Some(last) = top.checked_sub(1) else { return rows.clear() };
    let mut places: Vec<u32> = (0..rows.len() as u32).collect();
    let key = |place: u32| &rows[place as usize].0;
    let (_, last, _) = places.select_nth_unstable_by(last, |&a, &b| key(a).compared(key(b), ascending));
    let last = key(*last).clone();
    rows.retain(|(row, _)| row.compared(&last, ascending).is_le());
}

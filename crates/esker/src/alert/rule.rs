//! What raises an alert.

use esker_store::ids::IdMap;
use serde_json::{Map, Value, json};

use super::columns::{Columns, RowsOf, SIZE, SIZE_ALIAS, id_cells, is_of_groups};
use crate::catalogue::Entry;
use crate::error::{Error, Result};
use crate::selection::{Condition, RowTest};

/// What raises an alert.
#[derive(Debug, Clone, Default)]
pub struct AlertRule {
    /// A row that begins to meet this condition on its columns.
    pub condition: Option<Condition>,
    /// A row that was not in the answer before.
    pub new_rows: bool,
    /// A value that moved by less than this has not changed.
    pub min_change: Option<f64>,
}

impl AlertRule {
    /// Who gets the alerts, for [`Follow::keep`](crate::follow::Follow::keep): another condition has other
    /// alerts to tell, and so has another taker of them, such as a command.
    pub fn reader(&self, taker: Option<&str>) -> String {
        let condition = self.condition.as_ref().map(Condition::text);
        format!("alert={condition:?} new={} exec={taker:?}", self.new_rows)
    }
}

/// Why an alert was raised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AlertReason {
    /// The row begins to meet the condition.
    Condition,
    /// The row was not in the answer before.
    New,
    /// Both: a row that was not there before meets the condition.
    Both,
}

/// A row that begins to meet the condition of a rule, or is new.
#[derive(Debug, Clone, PartialEq)]
pub struct Alert {
    /// Why it was raised.
    pub reason: AlertReason,
    /// The row: the names of its columns, and its cells, with external ids.
    pub row: Vec<(&'static str, Value)>,
    /// What the columns held before, without the vertex, edge or group; empty if the row is new.
    pub before: Vec<(&'static str, Value)>,
}

impl Alert {
    /// The alert as an object: `alert` is `condition`, `new` or `both`, then come the columns of the row, and
    /// `before`, an object of what they held or null.
    pub fn to_json(&self) -> Map<String, Value> {
        let named = |cells: &[(&'static str, Value)]| -> Map<String, Value> {
            cells.iter().map(|(name, cell)| ((*name).to_owned(), cell.clone())).collect()
        };
        let mut object = named(&self.row);
        let reason = match self.reason {
            AlertReason::Condition => "condition",
            AlertReason::New => "new",
            AlertReason::Both => "both",
        };
        object.insert("alert".to_owned(), json!(reason));
        let before = (!self.before.is_empty()).then(|| Value::Object(named(&self.before)));
        object.insert("before".to_owned(), before.unwrap_or(Value::Null));
        object
    }
}

/// A rule in the columns of the answers of an algorithm.
#[derive(Debug)]
pub(super) struct RowRule {
    pub(super) columns: Columns,
    test: Option<RowTest>,
    new_rows: bool,
    pub(super) min_change: Option<f64>,
}

impl RowRule {
    /// The rule for the first `count` columns of the answers.
    pub(super) fn new(rule: &AlertRule, entry: &Entry, count: usize, ids: &IdMap) -> Result<Self> {
        let cells = id_cells(ids);
        let plain = Columns::of(entry, count, cells, false);
        let names_size = rule
            .condition
            .as_ref()
            .is_some_and(|condition| [SIZE, SIZE_ALIAS].iter().any(|name| condition.names(name)));
        let columns = match plain.rows_of == RowsOf::Vertices && names_size && is_of_groups(entry) {
            true => Columns::of(entry, count, cells, true),
            false => plain,
        };
        check_min_change(rule.min_change, columns.rows_of == RowsOf::Figures || is_of_groups(entry))?;
        let of = |condition: &Condition| condition.of_rows(&columns.columns, &columns.aliases);
        let test = rule.condition.as_ref().map(of).transpose()?;
        Ok(Self { columns, test, new_rows: rule.new_rows, min_change: rule.min_change })
    }

    /// The alert of a row that has changed from some cells to others; `None` where it was not, or is no
    /// longer.
    pub(super) fn alert(
        &self,
        keys: &[Value],
        before: Option<&[Value]>,
        now: Option<&[Value]>,
        tells_new: bool,
    ) -> Option<Alert> {
        let with = |cells: &[Value]| keys.iter().chain(cells).cloned().collect::<Vec<_>>();
        let row = with(now?);
        let meets = |row: &[Value]| self.test.as_ref().is_some_and(|test| test.is_met(row));
        let is_new = before.is_none() && now.is_some_and(has_value);
        let begins = meets(&row) && !before.is_some_and(|before| meets(&with(before)));
        let reason = match (begins, is_new && self.new_rows && tells_new) {
            (true, true) => AlertReason::Both,
            (true, false) => AlertReason::Condition,
            (false, true) => AlertReason::New,
            (false, false) => return None,
        };
        let names = || self.columns.columns.iter().map(|column| column.name);
        let before = before.unwrap_or_default().iter().cloned();
        Some(Alert {
            reason,
            before: names().skip(self.columns.num_keys).zip(before).collect(),
            row: names().zip(row).collect(),
        })
    }
}

/// Whether a row has a value; edges of an answer without columns are there without one.
pub(super) fn has_value(cells: &[Value]) -> bool {
    cells.is_empty() || cells.iter().any(|cell| !cell.is_null())
}

/// Refuses a least change of what is not one number a row.
pub(super) fn check_min_change(min_change: Option<f64>, has_no_numbers: bool) -> Result<()> {
    match min_change {
        Some(least) if !(least.is_finite() && least >= 0.0) => {
            Err(Error::usage(format!("the least change is a number of at least 0, not {least}")))
        }
        Some(_) if has_no_numbers => Err(Error::usage(
            "a least change is one of the values of vertices or edges: labels of groups change or stay, and \
             figures are told whenever they change",
        )),
        _ => Ok(()),
    }
}

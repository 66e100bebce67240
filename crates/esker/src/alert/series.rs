//! Alerts of answers that follow each other, each computed on its own, such as those of windows.

use std::collections::{BTreeMap, HashSet};

use esker_graph::Cancel;
use esker_store::View;
use serde_json::Value as Cell;

use super::columns::{RowsOf, cell, fact_cell};
use super::rule::{Alert, AlertRule, RowRule, has_value};
use crate::answer::{Answer, Value};
use crate::catalogue::Entry;
use crate::error::Result;
use crate::top::top;

/// Raises alerts as one answer follows another.
#[derive(Debug)]
pub struct SeriesAlerts {
    rule: RowRule,
    /// The rows of the last answer, by their keys as text: the numbers of vertices may change.
    told: BTreeMap<String, Vec<Cell>>,
    is_first: bool,
}

/// A row of an answer: its keys and its values.
type KeyedRow = (Vec<Cell>, Vec<Cell>);

impl SeriesAlerts {
    /// Those of a rule.
    ///
    /// # Errors
    /// [`crate::Error::Usage`] for an unknown column, and for a value that a column cannot be compared with.
    pub fn new(rule: &AlertRule, entry: &'static Entry, view: &View) -> Result<Self> {
        let rule = RowRule::new(rule, entry, usize::MAX, view.version().ids())?;
        Ok(Self { rule, told: BTreeMap::new(), is_first: true })
    }

    /// The alerts of the next answer. Those of the first are of rows that meet the condition: none is new.
    ///
    /// # Errors
    /// [`esker_store::Error::Corrupt`]; cancellation.
    pub fn step(&mut self, view: &View, answer: &Answer, cancel: &Cancel) -> Result<Vec<Alert>> {
        let tells_new = !std::mem::replace(&mut self.is_first, false);
        let (mut alerts, mut there) = (Vec::new(), HashSet::new());
        for (keys, now) in self.rows(view, answer, cancel)? {
            let key = Cell::from(keys.clone()).to_string();
            let before = self.told.get(&key);
            if before.is_some_and(|before| is_small(before, &now, self.rule.min_change)) {
                there.insert(key);
                continue;
            }
            if before.is_none() && !has_value(&now) {
                continue;
            }
            let had = before.filter(|before| has_value(before)).map(Vec::as_slice);
            alerts.extend(self.rule.alert(&keys, had, Some(&now), tells_new));
            self.told.insert(key.clone(), now);
            there.insert(key);
        }
        self.told.retain(|key, _| there.contains(key));
        Ok(alerts)
    }

    fn rows(&self, view: &View, answer: &Answer, cancel: &Cancel) -> Result<Vec<KeyedRow>> {
        let ids = view.version().ids();
        let columns = &self.rule.columns;
        let mut rows = Vec::new();
        match columns.rows_of {
            RowsOf::Figures => {
                let fact = |name| answer.fact(name).map_or(Cell::Null, fact_cell);
                rows.push((Vec::new(), columns.columns.iter().map(|column| fact(column.name)).collect()));
            }
            RowsOf::Groups => {
                for group in top(answer, usize::MAX, cancel)? {
                    rows.push((vec![cell(group.key, ids)?], vec![cell(group.value, ids)?]));
                }
            }
            RowsOf::Vertices | RowsOf::Edges => {
                let first = answer.columns.first().map(|column| column.values.len());
                let named: Vec<_> = columns.columns[columns.num_keys..]
                    .iter()
                    .map(|named| answer.columns.iter().find(|column| column.name == named.name))
                    .collect();
                for row in 0..answer.edges.as_ref().map(Vec::len).or(first).unwrap_or(0) {
                    if row % (1 << 12) == 0 {
                        cancel.check()?;
                    }
                    let keys = match answer.key(row) {
                        Value::Edge(u, v) => vec![cell(Value::Vertex(u), ids)?, cell(Value::Vertex(v), ids)?],
                        key => vec![cell(key, ids)?],
                    };
                    let value = |at: usize| named[at].map_or(Value::Missing, |column| column.values.get(row));
                    let values = (0..named.len()).map(|at| cell(value(at), ids)).collect::<Result<_>>()?;
                    rows.push((keys, values));
                }
            }
        }
        Ok(rows)
    }
}

/// Whether a row has not changed but by less than the least change of its numbers.
fn is_small(before: &[Cell], now: &[Cell], least: Option<f64>) -> bool {
    before.iter().zip(now).all(|(before, now)| match (before.as_f64(), now.as_f64(), least) {
        _ if before == now => true,
        (Some(before), Some(now), Some(least)) => (now - before).abs() < least,
        _ => false,
    })
}

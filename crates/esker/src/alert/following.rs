//! Alerts of an answer that follows the versions of a database.

use std::collections::HashMap;

use esker_graph::{Run, vertex};
use esker_store::View;
use serde_json::Value as Cell;

use super::columns::{RowsOf, cell, fact_cell};
use super::rule::{Alert, AlertRule, RowRule};
use crate::answer::Value;
use crate::catalogue::Entry;
use crate::error::Result;
use crate::follow::{Changed, Follow, KeptValues};

/// With what a follower begins.
#[derive(Debug, Clone, Copy)]
pub enum FollowBegin<'k> {
    /// An answer of which nothing was told: rows that meet the condition raise alerts.
    First {
        /// Whether its rows are new.
        tells_new: bool,
    },
    /// The answer of a state whose alerts were raised.
    Told,
    /// An answer that differs from one whose alerts were raised.
    Since(&'k KeptValues),
}

/// Raises alerts as an answer follows the versions of a database.
#[derive(Debug)]
pub struct FollowAlerts {
    rule: RowRule,
    /// The sizes of groups, by their labels.
    sizes: HashMap<LabelKey, GroupSize>,
    /// The figures of the last version.
    figures: Option<Vec<Cell>>,
}

/// A label; labels are of one type.
type LabelKey = (u8, u64);

#[derive(Debug, Clone, Copy)]
struct GroupSize {
    label: Value,
    members: u64,
}

impl FollowAlerts {
    /// Those of a rule.
    ///
    /// # Errors
    /// [`crate::Error::Usage`] for an unknown column, and for a value that a column cannot be compared with.
    pub fn new(rule: &AlertRule, entry: &'static Entry, view: &View) -> Result<Self> {
        // The first column of an answer is the one that is followed.
        let rule = RowRule::new(rule, entry, 1, view.version().ids())?;
        Ok(Self { rule, sizes: HashMap::new(), figures: None })
    }

    /// The alerts of the first answer.
    ///
    /// # Errors
    /// [`esker_store::Error::Corrupt`].
    pub fn begin(&mut self, follow: &Follow, begin: FollowBegin<'_>, run: &Run) -> Result<Vec<Alert>> {
        let now = follow.answer().columns.first().map(|column| &column.values);
        match begin {
            FollowBegin::First { tells_new } => {
                let all = now.into_iter().flat_map(|values| (0..values.len()).map(|v| (v, values.get(v))));
                let present = all.filter(|(_, new)| !new.is_same(Value::Missing));
                let changed = present.map(|(v, new)| Changed { vertex: vertex(v), old: Value::Missing, new });
                self.alerts(follow, changed, tells_new, run)
            }
            FollowBegin::Told => {
                if self.rule.columns.rows_of == RowsOf::Groups
                    && let Some(values) = now
                {
                    (0..values.len()).for_each(|v| self.count(values.get(v), 1));
                }
                self.figures = Some(self.figure_cells(follow));
                Ok(Vec::new())
            }
            FollowBegin::Since(kept) => {
                if self.rule.columns.rows_of == RowsOf::Groups {
                    let values = kept.values();
                    (0..values.len()).for_each(|v| self.count(values.get(v), 1));
                }
                self.alerts(follow, follow.changed_since(kept).into_iter(), true, run)
            }
        }
    }

    /// The alerts of a step that changed the values of some vertices.
    ///
    /// # Errors
    /// As [`FollowAlerts::begin`].
    pub fn step(&mut self, follow: &Follow, changed: &[Changed], run: &Run) -> Result<Vec<Alert>> {
        self.alerts(follow, changed.iter().copied(), true, run)
    }

    fn alerts(
        &mut self,
        follow: &Follow,
        changed: impl Iterator<Item = Changed>,
        tells_new: bool,
        run: &Run,
    ) -> Result<Vec<Alert>> {
        match self.rule.columns.rows_of {
            RowsOf::Vertices | RowsOf::Edges => self.of_vertices(follow, changed, tells_new, run),
            RowsOf::Groups => self.of_groups(follow, changed, tells_new),
            RowsOf::Figures => {
                let now = self.figure_cells(follow);
                let alert = self.rule.alert(&[], self.figures.as_deref(), Some(&now), false);
                self.figures = Some(now);
                Ok(alert.into_iter().collect())
            }
        }
    }

    fn of_vertices(
        &self,
        follow: &Follow,
        changed: impl Iterator<Item = Changed>,
        tells_new: bool,
        run: &Run,
    ) -> Result<Vec<Alert>> {
        let (ids, removed) = (follow.view().version().ids(), follow.view().removed(run)?);
        let mut alerts = Vec::new();
        for Changed { vertex, old, new } in changed {
            // A vertex without a value may still be there.
            let is_there = !new.is_same(Value::Missing)
                || (follow.view().version().num_vertices() > vertex as usize && !removed.is_removed(vertex));
            let had_value = !old.is_same(Value::Missing);
            let [before, now] = [[cell(old, ids)?], [cell(new, ids)?]];
            let (before, now) = (had_value.then_some(&before[..]), is_there.then_some(&now[..]));
            alerts.extend(self.rule.alert(&[cell(Value::Vertex(vertex), ids)?], before, now, tells_new));
        }
        Ok(alerts)
    }

    fn of_groups(
        &mut self,
        follow: &Follow,
        changed: impl Iterator<Item = Changed>,
        tells_new: bool,
    ) -> Result<Vec<Alert>> {
        let mut before: HashMap<LabelKey, GroupSize> = HashMap::new();
        for Changed { old, new, .. } in changed {
            for (label, by) in [(old, -1), (new, 1)] {
                if let Some(key) = label_key(label) {
                    let had = self.sizes.get(&key).copied().unwrap_or(GroupSize { label, members: 0 });
                    before.entry(key).or_insert(had);
                    self.count(label, by);
                }
            }
        }
        let mut touched: Vec<_> = before.into_iter().collect();
        touched.sort_unstable_by_key(|(key, _)| *key);
        let ids = follow.view().version().ids();
        let unlisted = follow.answer().columns.first().and_then(|column| column.ranking.unlisted());
        let size = |members: u64| (members > 0).then(|| [Cell::from(members + unlisted.unwrap_or(0))]);
        let mut alerts = Vec::new();
        for (key, had) in touched {
            let has = self.sizes.get(&key).map_or(0, |group| group.members);
            let (before, now) = (size(had.members), size(has));
            let (before, now) =
                (before.as_ref().map(|cells| &cells[..]), now.as_ref().map(|cells| &cells[..]));
            alerts.extend(self.rule.alert(&[cell(had.label, ids)?], before, now, tells_new));
        }
        Ok(alerts)
    }

    /// Counts a vertex in its group, or no longer.
    fn count(&mut self, label: Value, by: i64) {
        let Some(key) = label_key(label) else { return };
        let group = self.sizes.entry(key).or_insert(GroupSize { label, members: 0 });
        group.members = group.members.saturating_add_signed(by);
        if group.members == 0 {
            self.sizes.remove(&key);
        }
    }

    fn figure_cells(&self, follow: &Follow) -> Vec<Cell> {
        let facts = follow.facts();
        let fact =
            |name: &str| facts.iter().find(|(known, _)| *known == name).map(|(_, fact)| fact_cell(fact));
        self.rule.columns.columns.iter().map(|column| fact(column.name).unwrap_or(Cell::Null)).collect()
    }
}

fn label_key(label: Value) -> Option<LabelKey> {
    match label {
        Value::Missing | Value::Edge(..) => None,
        #[allow(clippy::useless_conversion)] // vertex ids may be 64 bits wide
        Value::Vertex(v) => Some((0, u64::from(v))),
        Value::Count(count) => Some((1, count)),
        Value::Integer(integer) => Some((2, integer as u64)),
        Value::Float(number) => Some((3, number.to_bits())),
    }
}

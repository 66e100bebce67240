//! What becomes of groups from one graph to the next, as rows.

use esker::answer::{Answer, Value};
use esker::graph::Run;
use esker::groups::{GroupEvent, GroupNames};
use esker::store::Version;
use serde_json::json;

use crate::failure::Failure;
use crate::interrupt;
use crate::show::answer_rows::value_json;
use crate::show::rows::RowTable;

/// The names of groups on the newest graph of one or several series, such as windows of several lengths.
#[derive(Debug, Default)]
pub(crate) struct GroupHistory {
    /// One for each series; none if groups are named anew on each graph.
    names: Vec<GroupNames>,
}

impl GroupHistory {
    /// Of so many series, if groups keep their names.
    pub(crate) fn new(keeps_names: bool, series: usize) -> Self {
        let series = if keeps_names { series } else { 0 };
        Self { names: (0..series).map(|_| GroupNames::default()).collect() }
    }

    /// Names the groups of the next graph of a series, and returns what became of all.
    pub(crate) fn next(
        &mut self,
        series: usize,
        answer: &mut Answer,
        version: &Version,
        run: &Run,
    ) -> Result<Vec<GroupEvent>, Failure> {
        let Some(names) = self.names.get_mut(series) else { return Ok(Vec::new()) };
        Ok(names.pass_on(answer, version.ids(), run)?)
    }
}

/// The events in which something changed.
pub(crate) fn event_rows(version: &Version, events: &[GroupEvent]) -> Result<RowTable, Failure> {
    let mut rows = RowTable::of(["event", "group", "vertices", "before", "other", "shared"]);
    for event in events.iter().filter(|event| !event.is_unchanged()) {
        interrupt::check()?;
        let group = value_json(version, Value::Vertex(event.group))?;
        let other = event.other.map_or(Value::Missing, Value::Vertex);
        let other = value_json(version, other)?;
        let (after, before, shared) = (json!(event.after), json!(event.before), json!(event.shared));
        rows.push(vec![json!(event.fate.word()), group, after, before, other, shared]);
    }
    Ok(rows)
}

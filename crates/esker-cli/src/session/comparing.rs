//! Two answers side by side: what `esker run --compare` computes and prints.

use esker::answer::{Answer, Value};
use esker::compare::{ComparedAnswers, compare};
use esker::graph::Run;
use esker::selection::check_kinds;
use esker::session::{Selected, Selection, VersionSource};
use esker::store::{Store, View};
use serde_json::json;

use crate::args::choice::select;
use crate::args::size::seconds;
use crate::args::window_args::describe;
use crate::failure::{Failure, Outcome};
use crate::interrupt;
use crate::session::ran::fact_text;
use crate::show::answer_rows::value_json;
use crate::show::rows::{RowFormat, RowTable};

/// What a table shows in place of the value of a vertex that the graph lacks. Programs read columns instead.
const MISSING: &str = "missing";

/// The two graphs, and what differs between their answers.
pub(crate) struct ComparedGraphs {
    sides: Vec<Selected>,
    pub(crate) found: ComparedAnswers,
}

impl ComparedGraphs {
    /// Computes on what two selections give.
    pub(crate) fn of(
        store: &Store,
        selections: [Selection; 2],
        run: &Run,
        compute: impl Fn(&View) -> Result<Answer, Failure>,
    ) -> Result<Self, Failure> {
        let names = selections.each_ref().map(|selection| selection.version.clone());
        let versions = selections.iter().map(|selection| store.selected(selection.selector()));
        let versions = versions.collect::<Result<Vec<_>, _>>()?;
        // One of the versions may lack kinds that the other has.
        check_kinds(&selections[0].kinds, &versions.iter().collect::<Vec<_>>())?;
        let mut sides = Vec::new();
        for (selection, version) in selections.into_iter().zip(&versions) {
            sides.push(select(&Selection { kinds_are_checked: true, ..selection }, version, run)?);
        }
        let found = compare([&sides[0].view, &sides[1].view], run, |side| {
            let name = names[side].as_ref().map_or_else(String::new, |name| format!("version {name}: "));
            compute(&sides[side].view).map_err(|failure| failure.between(&name, ""))
        })?;
        Ok(Self { sides, found })
    }

    /// Prints the first rows, or all.
    pub(crate) fn print(&self, count: Option<usize>, format: RowFormat) -> Outcome {
        compared_rows(&self.found, count, format)?.print(format)
    }

    /// What was compared, and how many vertices changed or are missing.
    pub(crate) fn facts(&self, taken: f64) -> Vec<(String, String)> {
        let mut facts = Vec::new();
        for (name, Selected { view, times, .. }) in ["a", "b"].into_iter().zip(&self.sides) {
            let window = times.as_ref().and_then(|times| describe(view, times));
            let window = window.map_or_else(String::new, |window| format!(", {window}"));
            facts.push((name.to_owned(), format!("version {}{window}", view.version().number())));
        }
        let counts = self.found.answer.facts.iter();
        facts.extend(counts.map(|(name, fact)| (name.replace('_', " "), fact_text(fact))));
        facts.push(("time".to_owned(), seconds(taken)));
        facts
    }
}

/// The first rows of a comparison, or all.
fn compared_rows(
    found: &ComparedAnswers,
    count: Option<usize>,
    format: RowFormat,
) -> Result<RowTable, Failure> {
    let ComparedAnswers { answer, version } = found;
    let is_table = format == RowFormat::Table;
    let shown = if is_table { &answer.columns[..3] } else { &answer.columns[..] };
    let mut rows = RowTable::of(std::iter::once("vertex").chain(shown.iter().map(|column| column.name)));
    let length = answer.columns[0].values.len();
    for row in 0..count.unwrap_or(length).min(length) {
        interrupt::check()?;
        let mut cells = vec![value_json(version, answer.key(row))?];
        for (place, column) in shown.iter().enumerate() {
            let is_missing = || answer.columns[3 + place].values.get(row) == Value::Count(0);
            cells.push(match column.values.get(row) {
                Value::Missing if is_table && place < 2 && is_missing() => json!(MISSING),
                value => value_json(version, value)?,
            });
        }
        rows.push(cells);
    }
    Ok(rows)
}

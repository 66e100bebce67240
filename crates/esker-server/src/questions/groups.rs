//! What edges add up to, by what they have in common.

use esker::grouping::{GroupKey, GroupOrder, GroupQuery, Measure, group_edges, keys_of};
use esker::window::{Span, Times};
use serde_json::{Map, Value, json};

use super::moments::expect_times;
use crate::ask::Ask;
use crate::failure::{Failure, Outcome, check_text};
use crate::query::Parameter;
use crate::selecting::Selecting;
use crate::shape::Shape;

/// The parameters of [`groups`].
pub(crate) const OF_GROUPS: &[Parameter] = &[
    Parameter::text(
        "by",
        "What the edges of a group have in common: a property, source, target, vertex (both ends), source.NAME, \
         target.NAME or vertex.NAME; without it, all edges are one group",
    )
    .repeatable(),
    Parameter::text("every", "Group by steps of this length of time, such as 7d, too"),
    Parameter::text("sum", "Add up this property").repeatable(),
    Parameter::text("mean", "The mean of this property").repeatable(),
    Parameter::text("min", "The least value of this property").repeatable(),
    Parameter::text("max", "The greatest value of this property").repeatable(),
    Parameter::text("sort", "The column to sort by; the first measure without it, or steps of time"),
    Parameter::flag("ascending", "The least first"),
    Parameter::count("limit", 100, 10_000, "The greatest number of groups"),
];

/// The answer of [`groups`]: a row has the values of all columns.
pub(crate) const GROUPS: Shape = Shape::Object(&[
    ("columns", Shape::List(&Shape::Text)),
    ("rows", Shape::List(&Shape::Named(&Shape::Any))),
    ("shown", Shape::Count),
    ("found", Shape::Count),
]);

/// Groups edges, and counts and adds up what they have.
pub(crate) fn groups(ask: &Ask<'_>) -> Outcome {
    let selecting = Selecting::of_query(ask.query)?;
    selecting.expect_directions()?;
    let by = ask.query.all("by").map(|keys| {
        check_text("by", keys)?;
        Ok(keys_of(keys)?)
    });
    let by: Vec<GroupKey> = by.collect::<Outcome<Vec<_>>>()?.into_iter().flatten().collect();
    let every = ask.query.text("every").map(str::parse::<Span>).transpose().map_err(Failure::usage)?;
    if by.is_empty() && every.is_none() {
        ask.query.needs("sort", "by")?;
        ask.query.needs("ascending", "by")?;
    }
    let (version, selection) = selecting.resolve(ask.served, ask.run)?;
    let selected = selection.of(&version, ask.run)?;
    let times = match every {
        Some(_) => {
            let known = expect_times(ask, &version)?;
            Some(Times::of(&selected.view, Some(&known.property), None, ask.run)?)
        }
        None => None,
    };
    let order = GroupOrder {
        column: ask.query.text("sort").map(str::to_owned),
        ascending: ask.query.flag("ascending").then_some(true),
        top: None,
    };
    let query = GroupQuery { by, every, measures: measures(ask), order };
    let table = group_edges(&selected.view, times.as_ref(), &query, ask.run)?;
    let shown = table.len().min(ask.query.count("limit"));
    let row = |row: usize| -> Outcome {
        let named = table.columns.iter().cloned().zip(table.row(row)?);
        Ok(named.collect::<Map<String, Value>>().into())
    };
    let rows = (0..shown).map(row).collect::<Outcome<Vec<Value>>>()?;
    Ok(json!({ "columns": table.columns, "rows": rows, "shown": shown, "found": table.len() }))
}

/// Sums, means, extremes, then the number of edges: the first one sorts the groups.
fn measures(ask: &Ask<'_>) -> Vec<Measure> {
    let of = |name: &str, measure: fn(String) -> Measure| {
        ask.query.all(name).map(|property| measure(property.to_owned())).collect::<Vec<_>>()
    };
    let measures = [
        of("sum", Measure::Sum),
        of("mean", Measure::Mean),
        of("min", Measure::Min),
        of("max", Measure::Max),
        vec![Measure::Count],
    ];
    measures.concat()
}

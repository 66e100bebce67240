//! The rows of the answer of a run: sorted, counted in bins, and as a file.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap, HashSet};

use esker::answer::{Answer, AnswerColumn, Value as Cell, Values};
use esker::graph::{Cancel, Run};
use esker::store::Version;
use esker::top::top;
use serde_json::{Map, Value, json};

use super::runs::{Finished, rows_of};
use crate::failure::{Failure, Outcome};
use crate::query::{Parameter, Query};
use crate::questions::amounts::whole_json;
use crate::questions::vertices::{id_of, is_unknown};
use crate::shape::Shape;

/// Rows between two looks at the token.
const CHECK_ROWS: usize = 1 << 14;

/// The parameters of [`rows`].
pub(crate) const OF_ROWS: &[Parameter] = &[
    Parameter::text("sort", "The column to sort by; rows without a value are last"),
    Parameter::flag("descending", "The greatest first"),
    Parameter::count("offset", 0, 1 << 40, "Rows to pass over"),
    Parameter::count("limit", 100, 10_000, "The greatest number of rows"),
    Parameter::text("vertex", "Only the row of this vertex").repeatable(),
];

/// The answer of [`rows`]: each row has the id of its vertex, or `source` and `target` of its edge, and the
/// values of the columns. `unknown` are the ids that have no row.
pub(crate) const ROWS: Shape = Shape::Partial(
    &[("rows", Shape::List(&Shape::Named(&Shape::Any))), ("shown", Shape::Count), ("found", Shape::Count)],
    &[("unknown", Shape::List(&Shape::Text))],
);

/// Rows of an answer.
pub(crate) fn rows(finished: &Finished, query: &Query, run: &Run) -> Outcome {
    let Finished { answer, version, .. } = finished;
    if query.flag("descending") {
        query.needs("descending", "sort")?;
    }
    let wanted: Vec<&str> = query.all("vertex").collect();
    let (mut chosen, unknown) = match wanted.is_empty() {
        true => ((0..rows_of(answer)).collect(), Vec::new()),
        false => of_vertices(answer, version, &wanted, run)?,
    };
    let found = chosen.len();
    let (offset, limit) = (query.count("offset").min(found), query.count("limit"));
    let end = offset.saturating_add(limit).min(found);
    if let Some(name) = query.text("sort") {
        let descending = query.flag("descending");
        sort(&mut chosen, end, name, descending, finished, run)?;
    }
    let shown = chosen[offset..end].iter().map(|&row| row_json(answer, version, row));
    let shown = shown.collect::<Outcome<Vec<Value>>>()?;
    let mut told = json!({ "shown": shown.len(), "found": found, "rows": shown });
    if !unknown.is_empty() {
        told["unknown"] = unknown.into();
    }
    Ok(told)
}

/// The first rows of an answer by its principal column, or its largest groups.
#[cfg(feature = "mcp")]
pub(crate) fn ranking(finished: &Finished, most: usize, run: &Run) -> Outcome {
    let Finished { answer, version, .. } = finished;
    let principal = answer.columns.first();
    if let Some(column) = principal.filter(|column| column.ranking.is_of_groups()) {
        let mut ranked = groups(column, version, most, run)?;
        ranked["shown"] = ranked["groups"].as_array().map_or(0, Vec::len).into();
        return Ok(ranked);
    }
    let ranked = top(answer, most, run.cancel())?;
    let rows = match principal {
        Some(_) => ranked.iter().filter_map(|one| one.row).collect(),
        // Edges alone.
        None => (0..rows_of(answer).min(most)).collect::<Vec<_>>(),
    };
    let rows = rows.iter().map(|&row| row_json(answer, version, row)).collect::<Outcome<Vec<Value>>>()?;
    Ok(json!({ "shown": rows.len(), "found": rows_of(answer), "rows": rows }))
}

/// The rows of some vertices, each once, and the ids of no vertex, and of none of the answer.
fn of_vertices<'i>(
    answer: &Answer,
    version: &Version,
    ids: &[&'i str],
    run: &Run,
) -> Outcome<(Vec<usize>, Vec<&'i str>)> {
    if answer.edges.is_some() {
        return Err(Failure::usage("the rows of this answer are edges, and not of single vertices"));
    }
    let (mut rows, mut unknown, mut met) = (Vec::new(), Vec::new(), HashSet::new());
    for &id in ids {
        let v = match version.find_vertex(id, run) {
            Ok(v) => v,
            Err(error) if is_unknown(&error) => {
                unknown.push(id);
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        let row = match &answer.vertices {
            Some(vertices) => vertices.binary_search(&v).ok(),
            None => Some(v as usize).filter(|&row| row < rows_of(answer)),
        };
        match row {
            Some(row) => rows.extend(met.insert(row).then_some(row)),
            None => unknown.push(id),
        }
    }
    Ok((rows, unknown))
}

/// Brings the first `end` rows into the order of a column.
fn sort(
    rows: &mut [usize],
    end: usize,
    name: &str,
    descending: bool,
    finished: &Finished,
    run: &Run,
) -> Outcome<()> {
    let column = column_of(&finished.answer, name)?;
    run.check()?;
    let compare = |a: &usize, b: &usize| {
        let (x, y) = (column.values.get(*a), column.values.get(*b));
        let order = match (x, y) {
            (Cell::Missing, Cell::Missing) => Ordering::Equal,
            (Cell::Missing, _) => return Ordering::Greater,
            (_, Cell::Missing) => return Ordering::Less,
            (x, y) => compared(x, y),
        };
        (if descending { order.reverse() } else { order }).then(a.cmp(b))
    };
    if end < rows.len() && end > 0 {
        rows.select_nth_unstable_by(end - 1, compare);
    }
    rows[..end].sort_unstable_by(compare);
    Ok(run.check()?)
}

fn compared(a: Cell, b: Cell) -> Ordering {
    match (a, b) {
        (Cell::Vertex(a), Cell::Vertex(b)) => a.cmp(&b),
        (Cell::Integer(a), Cell::Integer(b)) => a.cmp(&b),
        (Cell::Count(a), Cell::Count(b)) => a.cmp(&b),
        (Cell::Float(a), Cell::Float(b)) => (a + 0.0).total_cmp(&(b + 0.0)),
        _ => Ordering::Equal,
    }
}

fn column_of<'a>(answer: &'a Answer, name: &str) -> Outcome<&'a AnswerColumn> {
    answer.columns.iter().find(|column| column.name == name).ok_or_else(|| {
        let names: Vec<&str> = answer.columns.iter().map(|column| column.name).collect();
        let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        Failure::usage(format!("the answer has no column {name:?}; it has {known}"))
    })
}

fn row_json(answer: &Answer, version: &Version, row: usize) -> Outcome {
    let mut members = Map::new();
    match answer.key(row) {
        Cell::Edge(source, target) => {
            members.insert("source".to_owned(), json!(id_of(version, source)?));
            members.insert("target".to_owned(), json!(id_of(version, target)?));
        }
        key => {
            members.insert("id".to_owned(), cell_json(key, version)?);
        }
    }
    for column in &answer.columns {
        members.insert(column.name.to_owned(), cell_json(column.values.get(row), version)?);
    }
    Ok(members.into())
}

fn cell_json(cell: Cell, version: &Version) -> Outcome {
    Ok(match cell {
        Cell::Missing => Value::Null,
        Cell::Vertex(v) => json!(id_of(version, v)?),
        Cell::Edge(source, target) => json!([id_of(version, source)?, id_of(version, target)?]),
        Cell::Integer(value) => json!(value),
        Cell::Count(value) => json!(value),
        Cell::Float(value) => json!(value),
    })
}

/// The parameters of [`histogram`].
pub(crate) const OF_HISTOGRAM: &[Parameter] = &[
    Parameter::text("column", "The column; the principal one without it"),
    Parameter::some("bins", 40, 1000, "Ranges of numbers, or the greatest number of groups"),
];

/// The answer of [`histogram`]: bins of numbers, or the largest groups.
pub(crate) const HISTOGRAM: Shape = Shape::Partial(
    &[("missing", Shape::Count)],
    &[
        (
            "bins",
            Shape::List(&Shape::Object(&[
                ("from", Shape::Number),
                ("to", Shape::Number),
                ("count", Shape::Count),
            ])),
        ),
        ("groups", Shape::List(&Shape::Object(&[("value", Shape::Any), ("count", Shape::Count)]))),
        ("found", Shape::Count),
    ],
);

/// How the values of a column are distributed.
pub(crate) fn histogram(finished: &Finished, query: &Query, run: &Run) -> Outcome {
    let Finished { answer, version, .. } = finished;
    let column = match query.text("column") {
        Some(name) => column_of(answer, name)?,
        None => answer.columns.first().ok_or_else(|| Failure::usage("the answer has no column"))?,
    };
    let bins = query.count("bins");
    if column.ranking.is_of_groups() {
        return groups(column, version, bins, run);
    }
    match column.values {
        Values::Vertex(_) => {
            Err(Failure::usage(format!("{:?} holds vertices, which have no ranges", column.name)))
        }
        Values::Index(_) | Values::Integer(_) | Values::Count(_) => wholes(column, bins, run),
        Values::Float(_) => numbers(column, bins, run),
    }
}

fn groups(column: &AnswerColumn, version: &Version, most: usize, run: &Run) -> Outcome {
    // A copy of one column: `top` ranks the first.
    let _memory = run.budget().reserve("the sizes of groups", 48 * column.values.len() as u64)?;
    let alone = Answer { columns: vec![column.clone()], ..Answer::default() };
    let ranked = top(&alone, usize::MAX, run.cancel())?;
    let shown = ranked.iter().take(most).map(|group| {
        Ok(json!({ "value": cell_json(group.key, version)?, "count": cell_json(group.value, version)? }))
    });
    let shown = shown.collect::<Outcome<Vec<Value>>>()?;
    let missing = missing(column, run)?;
    Ok(json!({ "groups": shown, "found": ranked.len(), "missing": missing }))
}

fn missing(column: &AnswerColumn, run: &Run) -> Outcome<usize> {
    let mut missing = 0;
    for row in 0..column.values.len() {
        check(row, run.cancel())?;
        missing += usize::from(column.values.get(row) == Cell::Missing);
    }
    Ok(missing)
}

fn check(row: usize, cancel: &Cancel) -> Outcome<()> {
    if row.is_multiple_of(CHECK_ROWS) {
        cancel.check()?;
    }
    Ok(())
}

/// A whole number of a column.
fn whole(cell: Cell) -> Option<i128> {
    match cell {
        Cell::Integer(value) => Some(value.into()),
        Cell::Count(value) => Some(value.into()),
        Cell::Missing | Cell::Vertex(_) | Cell::Edge(..) | Cell::Float(_) => None,
    }
}

/// Bins of whole numbers, of equal width but for one number; one bin for each value if few are distinct.
fn wholes(column: &AnswerColumn, bins: usize, run: &Run) -> Outcome {
    let (mut least, mut greatest, mut missing) = (i128::MAX, i128::MIN, 0);
    let mut distinct: BTreeMap<i128, u64> = BTreeMap::new();
    for row in 0..column.values.len() {
        check(row, run.cancel())?;
        let Some(number) = whole(column.values.get(row)) else {
            missing += 1;
            continue;
        };
        (least, greatest) = (least.min(number), greatest.max(number));
        if distinct.len() <= bins {
            *distinct.entry(number).or_default() += 1;
        }
    }
    if distinct.len() <= bins {
        let bin = |(&value, count): (&i128, &u64)| json!({ "from": whole_json(value), "to": whole_json(value), "count": count });
        return Ok(json!({ "bins": distinct.iter().map(bin).collect::<Vec<_>>(), "missing": missing }));
    }
    // There are more numbers than bins, so no bin is empty of numbers.
    let (span, most) = (greatest - least, bins as i128);
    let mut counts = vec![0_u64; bins];
    for row in 0..column.values.len() {
        check(row, run.cancel())?;
        if let Some(number) = whole(column.values.get(row)) {
            counts[((number - least) * most / span).min(most - 1) as usize] += 1;
        }
    }
    let edge = |bin: usize| whole_json(least + (span * bin as i128 + most - 1) / most);
    let bins = counts.iter().enumerate();
    let bins: Vec<Value> =
        bins.map(|(bin, count)| json!({ "from": edge(bin), "to": edge(bin + 1), "count": count })).collect();
    Ok(json!({ "bins": bins, "missing": missing }))
}

/// Bins of equal width; one for each value if few are distinct, and all of these are whole.
fn numbers(column: &AnswerColumn, bins: usize, run: &Run) -> Outcome {
    let (mut least, mut greatest, mut missing) = (f64::INFINITY, f64::NEG_INFINITY, 0);
    let mut distinct: HashMap<u64, u64> = HashMap::new();
    for row in 0..column.values.len() {
        check(row, run.cancel())?;
        let Some(number) = column.values.get(row).number() else {
            missing += 1;
            continue;
        };
        (least, greatest) = (least.min(number), greatest.max(number));
        if distinct.len() <= bins {
            *distinct.entry((number + 0.0).to_bits()).or_default() += 1;
        }
    }
    let is_whole = distinct.keys().all(|&bits| f64::from_bits(bits).fract() == 0.0);
    if distinct.len() <= bins && (is_whole || distinct.len() < 2) {
        let mut counts: Vec<(f64, u64)> =
            distinct.into_iter().map(|(bits, count)| (f64::from_bits(bits), count)).collect();
        counts.sort_by(|a, b| a.0.total_cmp(&b.0));
        let bin = |&(value, count): &(f64, u64)| json!({ "from": value, "to": value, "count": count });
        return Ok(json!({ "bins": counts.iter().map(bin).collect::<Vec<_>>(), "missing": missing }));
    }
    let width = greatest / bins as f64 - least / bins as f64;
    let mut counts = vec![0_u64; bins];
    for row in 0..column.values.len() {
        check(row, run.cancel())?;
        if let Some(number) = column.values.get(row).number() {
            counts[(((number - least) / width) as usize).min(bins - 1)] += 1;
        }
    }
    let edge = |bin: usize| if bin == bins { greatest } else { least + width * bin as f64 };
    let bins = counts.iter().enumerate();
    let bins: Vec<Value> =
        bins.map(|(bin, count)| json!({ "from": edge(bin), "to": edge(bin + 1), "count": count })).collect();
    Ok(json!({ "bins": bins, "missing": missing }))
}

//! Groups, sums and sorted lists of edges and vertices.

use std::collections::BTreeMap;

use esker::graph::Run;
use esker::graph::random::Random;
use esker::grouping::{
    GroupOrder, GroupQuery, Measure, VertexConditions, group_edges, group_vertices, list_edges, list_vertices,
};
use esker::import::{ImportOptions, Input, PickProperties, ReadOptions, import_inputs};
use esker::selection::{Condition, Conditions};
use esker::store::format::Encoding;
use esker::store::{Store, Version};
use esker::window::{EpochUnit, Times};
use serde_json::{Value, json};

use super::world::{Facts, Row, World};

/// The value of a key of a row, where an end stands for `vertex`.
fn key_of(key: &str, row: &Row, end: u64, facts: &[Facts]) -> Value {
    let (whose, fact) = key.split_once('.').unwrap_or((key, ""));
    let v = match whose {
        "source" => row.ends[0],
        "target" => row.ends[1],
        _ => end,
    };
    let (group, land) = facts[v as usize];
    match (whose, fact) {
        ("kind", _) => json!(row.kind),
        ("amount", _) => json!(row.amount),
        ("day", _) => json!(format!("1970-01-0{}", row.day + 1)),
        (_, "group") => json!(group),
        (_, "land") => json!(land),
        _ => json!(v),
    }
}

/// What SQL computes: counts, sums, means and extremes without missing values.
fn measured(measure: &Measure, rows: &[&Row]) -> Value {
    let of = |name: &str| -> Vec<f64> {
        let value =
            |row: &&Row| if name == "amount" { row.amount.map(|value| value as f64) } else { row.rate };
        rows.iter().filter_map(value).collect()
    };
    let shown = |name: &str, value: Option<f64>| match value {
        None => Value::Null,
        Some(value) if name == "amount" => json!(value as i64),
        Some(value) => json!(value),
    };
    let some = |values: &[f64]| (!values.is_empty()).then_some(());
    match measure {
        Measure::Count => json!(rows.len()),
        Measure::Sum(name) => shown(name, some(&of(name)).map(|()| of(name).iter().sum())),
        Measure::Mean(name) => {
            let values = of(name);
            some(&values).map_or(Value::Null, |()| json!(values.iter().sum::<f64>() / values.len() as f64))
        }
        Measure::Min(name) => shown(name, of(name).into_iter().reduce(f64::min)),
        Measure::Max(name) => shown(name, of(name).into_iter().reduce(f64::max)),
    }
}

fn expected(
    rows: &[Row],
    facts: &[Facts],
    by: &[&str],
    measures: &[Measure],
    of_both: bool,
) -> Vec<Vec<Value>> {
    let mut groups: BTreeMap<String, (Vec<Value>, Vec<&Row>)> = BTreeMap::new();
    for row in rows {
        let ends: &[u64] = match of_both && row.ends[0] != row.ends[1] {
            true => &row.ends,
            false => &row.ends[..1],
        };
        for &end in ends {
            let keys: Vec<Value> = by.iter().map(|key| key_of(key, row, end, facts)).collect();
            groups.entry(json!(keys).to_string()).or_insert((keys, Vec::new())).1.push(row);
        }
    }
    let row = |(keys, rows): (Vec<Value>, Vec<&Row>)| -> Vec<Value> {
        keys.into_iter().chain(measures.iter().map(|measure| measured(measure, &rows))).collect()
    };
    groups.into_values().map(row).collect()
}

fn sorted(mut rows: Vec<Vec<Value>>) -> Vec<String> {
    rows.sort_by_key(|row| json!(row).to_string());
    rows.into_iter().map(|row| json!(row).to_string()).collect()
}

#[test]
fn groups_are_what_sql_computes_in_every_version() {
    let mut random = Random::new(11);
    let keys = [
        "source",
        "target",
        "vertex",
        "kind",
        "amount",
        "day",
        "source.land",
        "vertex.group",
        "target.group",
    ];
    let measures = |random: &mut Random| -> Vec<Measure> {
        let name = || ["amount", "rate"].map(str::to_owned);
        let [a, b] = name();
        let all = [
            Measure::Count,
            Measure::Sum(a.clone()),
            Measure::Mean(a.clone()),
            Measure::Min(a),
            Measure::Max(b.clone()),
            Measure::Sum(b),
        ];
        all.into_iter().filter(|_| random.below(2) == 0).collect()
    };
    for (directed, encoding) in [(true, Encoding::Plain), (false, Encoding::Compressed)] {
        let place = tempfile::tempdir().unwrap();
        let world = World::new(place.path(), directed, encoding, &mut random);
        let store = Store::open(&world.path).unwrap();
        for (number, count) in [(2, 30), (3, 40)] {
            let (version, facts) = (store.at(number).unwrap(), &world.facts[number as usize - 2]);
            for threads in [1, 2] {
                let run = Run::with_threads(threads).unwrap();
                for _ in 0..24 {
                    let by: Vec<&str> = keys
                        .into_iter()
                        .filter(|key| directed || !key.starts_with("source") && !key.starts_with("target"))
                        .filter(|_| random.below(4) == 0)
                        .take(4)
                        .collect();
                    let (mut measures, is_kept) = (measures(&mut random), random.below(2) == 0);
                    if by.is_empty() && measures.is_empty() {
                        measures.push(Measure::Count);
                    }
                    let condition: Condition = "amount >= 0".parse().unwrap();
                    let view = match is_kept {
                        true => {
                            let conditions = Conditions::of(&[condition], &version, &run).unwrap().unwrap();
                            version.view().filtered(conditions, None, true, &run).unwrap()
                        }
                        false => version.view(),
                    };
                    let rows = world.rows[..count]
                        .iter()
                        .filter(|row| !is_kept || row.amount.is_some_and(|amount| amount >= 0));
                    let rows: Vec<Row> = rows.cloned().collect();
                    let of_both = by.iter().any(|key| key.starts_with("vertex"));
                    let query = GroupQuery {
                        by: by.iter().map(|&key| key.into()).collect(),
                        measures: measures.clone(),
                        ..GroupQuery::default()
                    };
                    let table = group_edges(&view, None, &query, &run).unwrap();
                    let wanted = expected(&rows, facts, &by, &measures, of_both);
                    assert_eq!(
                        sorted(table.rows().unwrap()),
                        sorted(wanted),
                        "{by:?} {measures:?} {directed} {number}"
                    );
                    let order = GroupOrder { top: Some(3), ..GroupOrder::default() };
                    let top = group_edges(&view, None, &GroupQuery { order, ..query }, &run).unwrap();
                    assert_eq!(
                        top.rows().unwrap(),
                        table.rows().unwrap()[..table.len().min(3)],
                        "{by:?} {measures:?}"
                    );
                }
            }
        }
    }
}

fn lists(version: &Version, world: &World, facts: &[Facts], count: usize, run: &Run) {
    let rows = |order: GroupOrder| {
        let mut rows = Vec::new();
        list_edges(&version.view(), &order, run, |row| {
            rows.push(row);
            Ok(())
        })
        .unwrap();
        rows
    };
    assert_eq!(rows(GroupOrder::default()).len(), count);
    let order =
        |column: &str, ascending| GroupOrder { column: Some(column.to_owned()), ascending, top: Some(7) };
    let mut amounts: Vec<_> = world.rows[..count].iter().filter_map(|row| row.amount).collect();
    amounts.sort_unstable();
    let place = 2 + version.edge_properties().position(|property| property.name == "amount").unwrap();
    let shown: Vec<_> = rows(order("amount", Some(true))).iter().map(|row| row[place].clone()).collect();
    assert_eq!(json!(shown), json!(amounts[..7]));
    amounts.reverse();
    let shown: Vec<_> = rows(order("amount", None)).iter().map(|row| row[place].clone()).collect();
    assert_eq!(json!(shown), json!(amounts[..7]));
    let condition: Condition = "group >= 1 and vertex != 3 or land is null".parse().unwrap();
    let conditions = VertexConditions::of(&[condition], version, run).unwrap();
    let mut found = Vec::new();
    list_vertices(version, &conditions, &GroupOrder::default(), run, |row| {
        found.push(row[0].as_u64().unwrap());
        Ok(())
    })
    .unwrap();
    found.sort_unstable();
    let is_kept = |(v, (group, land)): (u64, &Facts)| {
        (group.is_some_and(|group| group >= 1) && v != 3 || land.is_none()).then_some(v)
    };
    let wanted: Vec<u64> = (0..).zip(facts).filter_map(is_kept).collect();
    assert_eq!(found, wanted);
    let query = GroupQuery {
        by: vec!["land".into()],
        measures: vec![Measure::Count, Measure::Sum("group".to_owned())],
        ..GroupQuery::default()
    };
    let table = group_vertices(version, &conditions, &query, run).unwrap();
    let mut groups: BTreeMap<Option<&str>, (u64, Option<i64>)> = BTreeMap::new();
    for (v, (group, land)) in (0..).zip(facts).filter(|(v, _)| wanted.contains(v)) {
        let _: u64 = v;
        let (count, sum) = groups.entry(*land).or_default();
        *count += 1;
        *sum = group.map_or(*sum, |group| Some(sum.unwrap_or(0) + group));
    }
    let wanted =
        groups.into_iter().map(|(land, (count, sum))| vec![json!(land), json!(count), json!(sum)]).collect();
    assert_eq!(sorted(table.rows().unwrap()), sorted(wanted));
}

#[test]
fn no_rows_are_one_group_if_there_are_no_keys() {
    let (run, mut random) = (Run::with_threads(1).unwrap(), Random::new(7));
    let place = tempfile::tempdir().unwrap();
    let world = World::new(place.path(), true, Encoding::Plain, &mut random);
    let version = Store::open(&world.path).unwrap().at(2).unwrap();
    let condition: Condition = "amount > 1000".parse().unwrap();
    let conditions = Conditions::of(&[condition], &version, &run).unwrap().unwrap();
    let view = version.view().filtered(conditions, None, true, &run).unwrap();
    let query = GroupQuery {
        measures: vec![Measure::Count, Measure::Sum("amount".to_owned())],
        ..GroupQuery::default()
    };
    let table = group_edges(&view, None, &query, &run).unwrap();
    assert_eq!(table.rows().unwrap(), [[json!(0), Value::Null]]);
    let by_kind = GroupQuery { by: vec!["kind".into()], ..query };
    assert!(group_edges(&view, None, &by_kind, &run).unwrap().is_empty());
    let refused = |query: GroupQuery| group_edges(&view, None, &query, &run).unwrap_err().to_string();
    assert!(refused(GroupQuery::default()).contains("nothing is asked"));
    let of = |measure: Measure| GroupQuery { measures: vec![measure], ..GroupQuery::default() };
    assert!(refused(of(Measure::Sum("kind".to_owned()))).contains("holds text"));
    assert!(refused(of(Measure::Sum("no".to_owned()))).contains("no property"));
    let order = GroupOrder { column: Some("x".to_owned()), ..GroupOrder::default() };
    assert!(refused(GroupQuery { order, ..of(Measure::Count) }).contains("there are count"));
}

#[test]
fn lists_are_sorted_and_cut() {
    let (run, mut random) = (Run::with_threads(1).unwrap(), Random::new(5));
    let place = tempfile::tempdir().unwrap();
    let world = World::new(place.path(), true, Encoding::Plain, &mut random);
    let store = Store::open(&world.path).unwrap();
    for (number, count) in [(2, 30), (3, 40)] {
        lists(&store.at(number).unwrap(), &world, &world.facts[number as usize - 2], count, &run);
    }
}

/// A database of a CSV with all its properties.
fn imported(place: &std::path::Path, csv: &str, kinds: &[(&str, &str)]) -> Version {
    let path = place.join("rows.esker");
    let read = ReadOptions {
        properties: PickProperties::All,
        schema: kinds.iter().map(|(name, kind)| format!("{name}:{kind}").parse().unwrap()).collect(),
        ..ReadOptions::default()
    };
    let edges = [Input::memory("rows.csv", csv.as_bytes().to_vec())];
    import_inputs(&edges, &path, &read, &ImportOptions::default()).unwrap();
    Store::open(&path).unwrap().latest().unwrap()
}

/// The first of a list that is sorted by a column.
fn column(version: &Version, by: &str, place: usize, ascending: bool, top: Option<usize>) -> Vec<String> {
    let (mut found, run) = (Vec::new(), Run::with_threads(1).unwrap());
    let order = GroupOrder { column: Some(by.to_owned()), ascending: Some(ascending), top };
    list_edges(&version.view(), &order, &run, |row| {
        found.push(row[place].as_str().map_or_else(|| row[place].to_string(), str::to_owned));
        Ok(())
    })
    .unwrap();
    found
}

#[test]
fn times_sort_by_when_they_are_not_by_how_they_are_written() {
    let place = tempfile::tempdir().unwrap();
    // A fraction is left out where it is 0, and `.` is before `Z`; clocks are set back between the last two.
    let times = ["00:00:00Z", "00:00:00.500Z", "00:00:01Z", "00:00:01.25Z", "00:30:00Z", "01:30:00Z"];
    let rows = times.iter().enumerate();
    let rows: String = rows.map(|(edge, time)| format!("{edge},{},2026-10-25T{time}\n", edge + 1)).collect();
    let csv = format!("source,target,at\n{rows}");
    let version = imported(place.path(), &csv, &[("at", "timestamp[ms, Europe/Berlin]")]);
    let (run, ends) = (Run::with_threads(2).unwrap(), ["0", "1", "2", "3", "4", "5"]);
    assert_eq!(column(&version, "at", 0, true, None), ends);
    assert_eq!(column(&version, "at", 0, false, Some(2)), ["5", "4"]);
    let query = GroupQuery { by: vec!["at".into()], measures: vec![Measure::Count], ..GroupQuery::default() };
    let order = GroupOrder { column: Some("at".to_owned()), ..GroupOrder::default() };
    let sorted = GroupQuery { order, ..query.clone() };
    let whole = group_edges(&version.view(), None, &sorted, &run).unwrap().rows().unwrap();
    assert_eq!(whole[0][0], json!("2026-10-25T02:00:00+02:00"));
    for (by, ascending) in [("at", true), ("at", false), ("count", true)] {
        let order = GroupOrder { column: Some(by.to_owned()), ascending: Some(ascending), top: Some(4) };
        let table = group_edges(&version.view(), None, &GroupQuery { order, ..query.clone() }, &run).unwrap();
        let mut expected = whole.clone();
        if !ascending {
            expected.reverse();
        }
        assert_eq!(table.rows().unwrap(), expected[..4], "{by} {ascending}");
    }
}

#[test]
fn sums_of_floats_are_the_same_however_the_rows_are_shared() {
    let (place, mut random) = (tempfile::tempdir().unwrap(), Random::new(11));
    let mut csv = "source,target,x\n".to_owned();
    let mut exact = 0.0;
    for pair in 0..4000 {
        // Pairs that cancel each other, far above what is left.
        let large = (random.unit() + 0.5) * 10_f64.powi(random.below(28) as i32);
        let (a, b) = (random.below(3000), random.below(3000));
        csv += &format!("{a},{},{large:e}\n{},{b},{:e}\n", 5000 + 2 * pair, 5001 + 2 * pair, -large);
    }
    for small in 0..100 {
        csv += &format!("{small},{},0.125\n", 20_000 + small);
        exact += 0.125;
    }
    let version = imported(place.path(), &csv, &[("x", "f64")]);
    let query = GroupQuery { measures: vec![Measure::Sum("x".to_owned())], ..GroupQuery::default() };
    for threads in [1, 2, 2, 3] {
        let run = Run::with_threads(threads).unwrap();
        let table = group_edges(&version.view(), None, &query, &run).unwrap();
        assert_eq!(table.row(0).unwrap(), [json!(exact)], "{threads} threads");
    }
}

#[test]
fn steps_are_those_of_the_edges_of_the_view_up_to_the_last_time_of_all() {
    let place = tempfile::tempdir().unwrap();
    // So far apart that the steps between them would be millions; the last is the end of all times.
    let csv = format!("source,target,at\n1,2,0\n2,3,400000000\n3,4,400000001\n4,5,{}\n", i64::MAX);
    let version = imported(place.path(), &csv, &[("at", "i64")]);
    let run = Run::with_threads(1).unwrap();
    let unit = Some(EpochUnit::Seconds);
    let times = Times::of(&version.view(), Some("at"), unit, &run).unwrap();
    let query = GroupQuery {
        every: Some("1s".parse().unwrap()),
        measures: vec![Measure::Count],
        ..GroupQuery::default()
    };
    let table = group_edges(&version.view(), Some(&times), &query, &run).unwrap();
    let rows = table.rows().unwrap();
    assert_eq!(rows.len(), 4);
    assert!(rows.iter().all(|row| !row[0].is_null() && row[1] == 1), "{rows:?}");
    let refused = group_edges(&version.view(), None, &query, &run).unwrap_err().to_string();
    assert!(refused.contains("need the times"), "{refused}");
}

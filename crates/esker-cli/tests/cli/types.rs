//! Truth values, dates and times are types: detected or declared, kept by every format, compared and shown as
//! such.

use serde_json::{Value, json};

use crate::place::Place;

const TRIPS: &str = "source,target,paid,day,start,seen,note\n\
    1,2,true,2024-02-29,2024-02-29T10:00:00,2024-02-29T10:00:00.25Z,first\n\
    2,3,false,1969-12-31,1969-12-31T23:59:59,2024-03-01T00:00:00Z,second\n\
    3,1,true,2024-03-01,2024-03-01T00:00:00,2024-03-01T00:00:00.000001Z,first\n";

/// A database `trips.esker` of the trips.
fn trips() -> Place {
    let place = Place::new();
    place.file("trips.csv", TRIPS);
    place.ok("import trips.csv trips.esker --property all --order keep");
    place
}

/// The names and types of the edge properties.
fn types(place: &Place, database: &str) -> Value {
    let info = place.json(&format!("info {database} --json"));
    let properties = info["edge_properties"].as_array().unwrap().iter();
    properties
        .map(|property| (property["name"].as_str().unwrap().to_owned(), property["type"].clone()))
        .collect()
}

fn exported(place: &Place, database: &str) -> String {
    place.ok(&format!("export {database} out.csv --force"));
    std::fs::read_to_string(place.path().join("out.csv")).unwrap()
}

#[test]
fn types_are_detected_in_text_and_kept_by_every_format_with_columns() {
    let place = trips();
    let expected = json!({
        "paid": "bool", "day": "date", "start": "timestamp[us]", "seen": "timestamp[us, UTC]", "note": "text",
    });
    assert_eq!(types(&place, "trips.esker"), expected);
    assert_eq!(exported(&place, "trips.esker"), TRIPS);
    for format in ["parquet", "arrow", "csv", "tsv"] {
        place.ok(&format!("export trips.esker trips2.{format} --force"));
        place.ok(&format!("import trips2.{format} again.esker --property all --order keep --force"));
        assert_eq!(types(&place, "again.esker"), expected, "{format}");
        assert_eq!(exported(&place, "again.esker"), TRIPS, "{format}");
    }
    let info = place.ok("info trips.esker");
    assert!(info.contains("seen (timestamp[us, UTC])"), "{info}");
    let edges = place.json("neighbors trips.esker 1 --format json");
    assert_eq!(edges[0]["paid"], json!(true), "{edges}");
    assert_eq!(edges[0]["day"], json!("2024-02-29"));
}

#[test]
fn declared_types_are_held_and_a_value_of_another_is_an_error_with_its_line() {
    let place = Place::new();
    place.file("e.csv", "source,target,weight,since,kind\n1,2,3,2024-01-01,1\n2,3,4,2024-01-02,0\n");
    place.ok("import e.csv e.esker --schema weight:f64,since:timestamp[ms] --schema kind:bool");
    let expected = json!({ "weight": "f64", "since": "timestamp[ms]", "kind": "bool" });
    assert_eq!(types(&place, "e.esker"), expected);
    place.ok("import e.csv e.esker --force --schema since:text,kind:text");
    assert_eq!(types(&place, "e.esker"), json!({ "weight": "i32", "since": "text", "kind": "text" }));
    place.file("bad.csv", "source,target,since\n1,2,2024-01-01\n2,3,yesterday\n");
    place.fails(1, "import bad.csv b.esker --schema since:date", "bad.csv:3");
    place.fails(
        1,
        "import bad.csv b.esker --schema since:date",
        "since, of type date, is not a date such as 2026-11-21; correct it",
    );
    place.fails(1, "import e.csv b.esker --schema weight:date", "a weight has the type i32");
    place.fails(
        2,
        "import e.csv b.esker --schema since:day",
        "unknown type \"day\"; the types are text, bool, date",
    );
    place.fails(2, "import e.csv b.esker --schema since", "write NAME:TYPE");
    place.fails(2, "import e.csv b.esker --schema nope:date", "there is no column \"nope\"");
}

#[test]
fn parquet_columns_are_cast_to_declared_types_and_a_row_that_does_not_fit_is_named() {
    let place = trips();
    place.ok("export trips.esker t.parquet");
    place.ok("import t.parquet c.esker --schema start:timestamp[s],day:text,paid:i32");
    assert_eq!(types(&place, "c.esker"), json!({ "start": "timestamp[s]", "day": "text", "paid": "i32" }));
    place.fails(
        1,
        "import t.parquet d.esker --schema seen:timestamp[s,UTC]",
        "t.parquet:1: the column \"seen\" is a time that timestamp[s, UTC] does not hold exactly",
    );
    place.fails(1, "import t.parquet d.esker --schema note:bool", "\"note\" is neither true nor false");
}

#[test]
fn added_edges_have_values_of_the_types_of_the_database() {
    let place = trips();
    place.file("more.csv", &TRIPS.replace("1,2,true", "7,8,true"));
    place.ok("add trips.esker more.csv");
    assert!(
        exported(&place, "trips.esker")
            .contains("7,8,true,2024-02-29,2024-02-29T10:00:00,2024-02-29T10:00:00.25Z,first")
    );
    place.file("bad.csv", &TRIPS.replace("3,1,true,", "3,1,maybe,"));
    place.fails(1, "add trips.esker bad.csv", "bad.csv:4");
    place.fails(
        2,
        "add trips.esker more.csv --schema day:i64",
        "the edge property \"day\" has the type date",
    );
    place.fails(2, "add trips.esker more.csv --schema age:i64", "use `esker add --define age:i64` to add it");
    place.file("gone.csv", "source,target\n1,2\n");
    place.fails(2, "delete trips.esker gone.csv --schema day:date", "--schema day:date has no effect");
    place.file(
        "s.txt",
        "+ 1 3 paid=true day=2024-05-05 start=2024-05-05T00:00:00 seen=2024-05-05T02:00:00+02:00 note=x\n",
    );
    place.ok("commit trips.esker s.txt");
    assert!(
        exported(&place, "trips.esker")
            .contains("1,3,true,2024-05-05,2024-05-05T00:00:00,2024-05-05T00:00:00Z,x")
    );
}

#[test]
fn edges_are_selected_by_dates_times_and_truth_values() {
    let place = trips();
    for (condition, edges) in [
        ("day>=2024-03-01", 1),
        ("paid=true", 2),
        ("paid!=true", 1),
        ("seen<2024-03-01T00:00:00Z", 1),
        ("start!=2024-02-29T10:00:00", 2),
    ] {
        let found = place.json(&format!("run wcc trips.esker --where {condition} --json"));
        assert_eq!(found["edges"], json!(edges), "{condition}");
    }
    place.fails(2, "run wcc trips.esker --where day>3", "--where day: \"3\" is not a date");
    place.fails(2, "run wcc trips.esker --where seen>2024-03-01", "has no time zone");
}

#[test]
fn vertex_properties_have_types_too_and_widen_by_themselves() {
    let place = trips();
    place.file("people.csv", "id,born,active,age\n1,1990-05-01,true,3\n2,2001-12-31,false,4\n");
    place.ok("set trips.esker people.csv");
    let info = place.json("info trips.esker --json");
    let kinds = json!([
        { "name": "born", "type": "date" }, { "name": "active", "type": "bool" }, { "name": "age", "type": "i64" },
    ]);
    assert_eq!(info["vertex_properties"], kinds);
    place.ok("set trips.esker --vertex 3 age=4.5 born=1980-01-01");
    let found = place.json("get trips.esker 1 3 --format json");
    assert_eq!((&found[0]["age"], &found[1]["age"]), (&json!(3.0), &json!(4.5)));
    assert_eq!((&found[0]["born"], &found[0]["active"]), (&json!("1990-05-01"), &json!(true)));
    assert_eq!(found[1]["active"], Value::Null);
    place.fails(1, "set trips.esker --vertex 3 born=soon", "\"soon\" is not a date");
    let diff = place.ok("diff trips.esker 2 3");
    assert!(diff.contains("3 age=4.5") && diff.contains("born=1980-01-01"), "{diff}");
}

#[test]
fn types_of_numbers_come_back_from_text_or_their_loss_is_said() {
    let place = Place::new();
    place.file("a.csv", "source,target,weight,count\na,b,1.0,18446744073709551615\nb,c,-0.0,7\nc,a,3e15,0\n");
    place.ok("import a.csv g.esker --schema count:u64");
    let properties = |name: &str| place.json(&format!("info {name} --json"))["edge_properties"].clone();
    for (file, again) in
        [("x.csv", "--schema count:u64"), ("x.tsv", "--schema count:u64"), ("x.parquet", "--property count")]
    {
        let output = place.run(&format!("export g.esker {file}"));
        let said = String::from_utf8(output.stderr).unwrap();
        let told = "says that these edge properties are u64: count: import it with --schema NAME:u64";
        assert_eq!(said.contains(told), file != "x.parquet", "{file}: {said}");
        place.ok(&format!("import {file} again.esker --force {again}"));
        assert_eq!(properties("again.esker"), properties("g.esker"), "{file}");
        assert_eq!(place.ok("export again.esker - --format csv"), place.ok("export g.esker - --format csv"));
    }
    let text = std::fs::read_to_string(place.path().join("x.csv")).unwrap();
    assert!(text.contains("a,b,1.0,18446744073709551615\n") && text.contains(",-0e0,"), "{text}");
    place.file("b.csv", "source,target,weight\na,b,1.0\nb,c,2.0\n");
    place.ok("import b.csv b.esker");
    for file in ["b.wel", "b.mtx", "b2.csv"] {
        place.ok(&format!("export b.esker {file}"));
        place.ok(&format!("import {file} again.esker --force"));
        assert_eq!(properties("again.esker")[0]["type"], properties("b.esker")[0]["type"], "{file}");
    }
}

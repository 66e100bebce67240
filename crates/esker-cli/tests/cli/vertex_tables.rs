//! Tables of vertices in Parquet and Arrow: types, missing values, and what no property holds.

use std::sync::Arc;

use arrow_array::builder::{FixedSizeListBuilder, Float32Builder, Float64Builder, ListBuilder};
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, DictionaryArray, Float32Array, Int32Array, Int64Array, RecordBatch,
    StringArray, TimestampMillisecondArray, UInt64Array,
};
use arrow_ipc::writer::FileWriter;
use parquet::arrow::ArrowWriter;
use serde_json::{Value, json};

use crate::place::Place;

fn write(place: &Place, name: &str, columns: &[(&str, ArrayRef)]) {
    let table = RecordBatch::try_from_iter(columns.iter().cloned()).unwrap();
    let create = |end: &str| {
        let path = place.path().join(format!("{name}.{end}"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::File::create(path).unwrap()
    };
    let mut writer = FileWriter::try_new(create("arrow"), &table.schema()).unwrap();
    writer.write(&table).unwrap();
    writer.finish().unwrap();
    let mut writer = ArrowWriter::try_new(create("parquet"), table.schema(), None).unwrap();
    writer.write(&table).unwrap();
    writer.close().unwrap();
}

/// Vertices of all types, whose second row lacks all values.
fn columns() -> Vec<(&'static str, ArrayRef)> {
    let mut vectors = FixedSizeListBuilder::new(Float32Builder::new(), 2);
    for row in 0..4 {
        vectors.values().append_slice(&[row as f32, 0.5]);
        vectors.append(true);
    }
    let kinds: DictionaryArray<Int32Type> = vec![Some("x"), None, Some("y"), Some("x")].into_iter().collect();
    vec![
        ("name", Arc::new(StringArray::from(vec![Some("Ann"), None, Some(""), Some("NA")]))),
        ("id", Arc::new(Int64Array::from(vec![1, 2, 3, 9]))),
        ("age", Arc::new(Int32Array::from(vec![Some(40), None, Some(-1), Some(0)]))),
        ("big", Arc::new(UInt64Array::from(vec![Some(u64::MAX), None, Some(1), Some(2)]))),
        ("height", Arc::new(Float32Array::from(vec![Some(1.5), None, Some(f32::NAN), Some(0.25)]))),
        ("is_new", Arc::new(BooleanArray::from(vec![Some(true), None, Some(false), Some(true)]))),
        ("born", Arc::new(Date32Array::from(vec![Some(0), None, Some(-1), Some(20_000)]))),
        ("at", Arc::new(TimestampMillisecondArray::from(vec![Some(1500), None, Some(0), Some(-1)]))),
        ("kind", Arc::new(kinds)),
        ("vector", Arc::new(vectors.finish())),
    ]
}

fn get(place: &Place, database: &str, vertex: &str) -> Value {
    place.json(&format!("get {database} {vertex} --json"))[0].clone()
}

#[test]
fn vertices_of_parquet_and_arrow_have_their_types() {
    let place = Place::new();
    place.file("e.csv", "source,target\n1,2\n2,3\n");
    write(&place, "v", &columns());
    let mut all = Vec::new();
    for (end, more) in [("parquet", ""), ("arrow", ""), ("parquet", " --memory 16MiB --threads 1")] {
        let output = place.run(&format!("import e.csv g.esker --vertices v.{end} --force{more}"));
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{told}");
        assert!(
            told.contains("v.END as vertices: id id, properties name".replace("END", end).as_str()),
            "{told}"
        );
        assert!(told.contains("vector as vector[f32, 2]"), "{told}");
        let ann = get(&place, "g.esker", "1");
        for (name, value) in [
            ("name", json!("Ann")),
            ("age", json!(40)),
            ("big", json!(u64::MAX)),
            ("height", json!(1.5)),
            ("is_new", json!(true)),
            ("born", json!("1970-01-01")),
            ("at", json!("1970-01-01T00:00:01.5")),
            ("kind", json!("x")),
            ("vector", json!([0.0, 0.5])),
            ("out_degree", json!(1)),
        ] {
            assert_eq!(ann[name], value, "{name}: {ann}");
        }
        let none = get(&place, "g.esker", "2");
        for name in ["name", "age", "big", "height", "is_new", "born", "at", "kind"] {
            assert_eq!(none[name], json!(null), "{name}: {none}");
        }
        let three = get(&place, "g.esker", "3");
        assert_eq!((&three["name"], &three["height"]), (&json!(""), &json!(null)), "{three}");
        // A vertex without an edge is one too.
        assert_eq!(get(&place, "g.esker", "9")["name"], json!("NA"));
        place.ok("check g.esker");
        all.push(place.ok("get g.esker 1 2 3 9 --json"));
    }
    assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "{all:?}");
}

#[test]
fn vertices_are_added_with_texts_as_ids_and_bad_rows_apart() {
    let place = Place::new();
    place.file("e.csv", "source,target\na,b\n");
    place.ok("import e.csv g.esker");
    write(
        &place,
        "v",
        &[
            ("vertex", Arc::new(StringArray::from(vec![Some("b"), None, Some("c")])) as ArrayRef),
            ("score", Arc::new(Int64Array::from(vec![1, 2, 3])) as ArrayRef),
        ],
    );
    place.fails(1, "import e.csv h.esker --vertices v.parquet", "v.parquet:2: ");
    for (end, name) in [("parquet", "p"), ("arrow", "a")] {
        place.ok(&format!("import e.csv {name}.esker --vertices v.{end} --rejects {name}.csv"));
        let rows = std::fs::read_to_string(place.path().join(format!("{name}.csv"))).unwrap();
        assert!(rows.lines().count() == 2 && rows.trim_end().ends_with(",\",2\""), "{rows}");
        assert_eq!(get(&place, &format!("{name}.esker"), "c")["score"], json!(3));
    }
    place.ok("add g.esker --vertices v.parquet --bad-lines skip");
    assert_eq!(place.json("info g.esker --json")["vertices"], 3);
    // Ids that are texts do not fit edges of integers, but numbers are texts where the edges have these.
    place.file("i.csv", "source,target\n1,2\n");
    place.fails(1, "import i.csv x.esker --vertices v.parquet", "--ids text");
    write(&place, "n", &[("id", Arc::new(Int64Array::from(vec![7])) as ArrayRef)]);
    place.ok("import e.csv y.esker --vertices n.parquet");
    assert_eq!(get(&place, "y.esker", "7")["vertex"], json!("7"));
}

#[test]
fn folders_of_graph_frames_are_read() {
    let place = Place::new();
    for (part, ids) in [("0", ["a", "b"]), ("1", ["c", "d"])] {
        let ages: ArrayRef = Arc::new(Int64Array::from(vec![part.parse().unwrap(), 5]));
        write(
            &place,
            &format!("frame/vertices/part-{part}"),
            &[("id", Arc::new(StringArray::from(ids.to_vec())) as ArrayRef), ("age", ages)],
        );
        write(
            &place,
            &format!("frame/edges/part-{part}"),
            &[
                ("src", Arc::new(StringArray::from(vec![ids[0]])) as ArrayRef),
                ("dst", Arc::new(StringArray::from(vec![ids[1]])) as ArrayRef),
                ("weight", Arc::new(Int64Array::from(vec![3])) as ArrayRef),
            ],
        );
    }
    place.file("frame/edges/_SUCCESS", "");
    place.ok("import frame g.esker");
    let info = place.json("info g.esker --json");
    assert_eq!((&info["edges"], &info["vertices"]), (&json!(2), &json!(4)), "{info}");
    assert_eq!(get(&place, "g.esker", "c")["age"], json!(1));
    std::fs::create_dir(place.path().join("plain")).unwrap();
    place.file("plain/a.csv", "1,2\n");
    place.fails(1, "import plain x.esker", "is a directory; name its files");
}

#[test]
fn values_of_parquet_and_arrow_are_set() {
    let place = Place::new();
    place.file("e.csv", "source,target\n1,2\n2,3\n");
    write(&place, "v", &columns());
    let mut all = Vec::new();
    for end in ["parquet", "arrow"] {
        place.ok("import e.csv g.esker --force");
        // Vertex 9 does not exist: nothing is set, or it is added, or its row goes to a file.
        place.fails(1, &format!("set g.esker v.{end}"), &format!("v.{end}:4: "));
        assert_eq!(place.json("info g.esker --json")["version"], 1);
        place.ok(&format!("set g.esker v.{end} --rejects {end}.csv"));
        let rows = std::fs::read_to_string(place.path().join(format!("{end}.csv"))).unwrap();
        assert!(rows.contains("9,NA,0,2,0.25,true,2024-10-04,1969-12-31T23:59:59.999,x,"), "{rows}");
        place.ok(&format!("set g.esker v.{end} --new"));
        place.ok("check g.esker");
        let ann = get(&place, "g.esker", "1");
        for (name, value) in [
            ("name", json!("Ann")),
            ("age", json!(40)),
            ("big", json!(u64::MAX)),
            ("height", json!(1.5)),
            ("is_new", json!(true)),
            ("born", json!("1970-01-01")),
            ("at", json!("1970-01-01T00:00:01.5")),
            ("vector", json!([0.0, 0.5])),
        ] {
            assert_eq!(ann[name], value, "{name}: {ann}");
        }
        all.push(place.ok("get g.esker 1 2 3 9 --json"));
        // A null leaves a value, or removes it.
        let ages: ArrayRef = Arc::new(Int64Array::from(vec![None, Some(7)]));
        let ids: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
        write(&place, "n", &[("age", Arc::clone(&ages)), ("id", Arc::clone(&ids))]);
        place.ok(&format!("set g.esker n.{end}"));
        assert_eq!(get(&place, "g.esker", "1")["age"], json!(40));
        place.ok(&format!("set g.esker n.{end} --clear-empty"));
        assert_eq!(get(&place, "g.esker", "1")["age"], json!(null));
        assert_eq!(get(&place, "g.esker", "2")["age"], json!(7));
        // A new property has the declared type; one that exists keeps its own.
        write(&place, "d", &[("id", ids), ("zip", ages.clone()), ("name", ages)]);
        place.ok(&format!("set g.esker d.{end} --schema zip:text"));
        let two = get(&place, "g.esker", "2");
        assert_eq!((&two["zip"], &two["name"]), (&json!("7"), &json!("7")), "{two}");
        place.fails(2, &format!("set g.esker d.{end} --schema other:text"), "no column \"other\"");
        place.fails(2, &format!("set g.esker d.{end} --schema name:i64"), "has the type text");
        for option in
            ["--delimiter ;", "--header", "--null none", "--decimal-comma", "--date-format %d.%m.%Y"]
        {
            place.fails(2, &format!("set g.esker d.{end} {option}"), "no table of text");
        }
    }
    assert_eq!(all[0], all[1]);
    let born: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let id: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    write(&place, "b", &[("id", id), ("born", born)]);
    place.fails(1, "set g.esker b.parquet", "\"1\" is not of type date");
    place.fails(1, "set g.esker b.arrow", "b.arrow:1: ");
    // The same where an input of edges has the vertices.
    place.fails(1, "add g.esker --vertices b.parquet", "\"1\" is not of type date");
}

#[test]
fn ids_of_a_table_are_found_by_name_in_every_format() {
    let place = Place::new();
    place.file("e.csv", "source,target\n1,2\n");
    place.ok("import e.csv g.esker");
    place.file("v.csv", "age,id,\"full name\"\n40,1,\"Ann, A\"\n50,7,Bob\n");
    place.ok("set g.esker v.csv --rejects bad.csv");
    let ann = get(&place, "g.esker", "1");
    assert_eq!((&ann["age"], &ann["full name"]), (&json!(40), &json!("Ann, A")), "{ann}");
    let rows = std::fs::read_to_string(place.path().join("bad.csv")).unwrap();
    assert!(rows.contains("\"50,7,Bob\""), "{rows}");
    // The first column is that of the ids if it is called so, as in an export.
    place.file("w.csv", "vertex,id\n1,100\n");
    place.ok("set g.esker w.csv");
    assert_eq!(get(&place, "g.esker", "1")["id"], json!(100));
    place.file("empty.csv", "");
    place.fails(1, "set g.esker empty.csv", "the header must have at least two columns");
}

fn lists(rows: &[Option<&[f64]>]) -> ArrayRef {
    let mut lists = ListBuilder::new(Float64Builder::new());
    for row in rows {
        lists.values().append_slice(row.unwrap_or_default());
        lists.append(row.is_some());
    }
    Arc::new(lists.finish())
}

#[test]
fn lists_of_one_length_are_vectors_and_others_are_refused_by_row() {
    let place = Place::new();
    place.file("e.csv", "source,target\n1,2\n2,3\n");
    let ids = || Arc::new(Int64Array::from(vec![1, 2, 3])) as ArrayRef;
    let even: ArrayRef = lists(&[None, Some(&[0.1, -2.0]), Some(&[1e300, 3.0])]);
    write(&place, "v", &[("id", ids()), ("place", even)]);
    write(&place, "w", &[("id", ids()), ("place", lists(&[Some(&[1.0, 2.0]), Some(&[1.0]), None]))]);
    write(&place, "none", &[("id", ids()), ("place", lists(&[None, None, None]))]);
    write(&place, "nan", &[("id", ids()), ("place", lists(&[Some(&[1.0]), Some(&[f64::NAN]), None]))]);
    for end in ["parquet", "arrow"] {
        for verb in ["import e.csv g.esker --force --vertices", "set g.esker"] {
            place.ok("import e.csv g.esker --force");
            place.ok(&format!("{verb} v.{end}"));
            assert_eq!(get(&place, "g.esker", "1")["place"], json!(null));
            assert_eq!(get(&place, "g.esker", "2")["place"], json!([0.1, -2.0]));
            assert_eq!(get(&place, "g.esker", "3")["place"], json!([1e300, 3.0]));
            place.ok("check g.esker");
            let told = "the column \"place\" has a list of 1 here, but vectors of 2 elsewhere";
            place.ok("import e.csv g.esker --force");
            place.fails(1, &format!("{verb} w.{end}"), &format!("w.{end}:2: "));
            place.fails(1, &format!("{verb} w.{end}"), told);
            place.fails(1, &format!("{verb} nan.{end}"), "a number that is missing or not finite");
        }
        place.ok(&format!("import e.csv r.esker --force --vertices w.{end} --rejects {end}.csv"));
        let rows = std::fs::read_to_string(place.path().join(format!("{end}.csv"))).unwrap();
        assert!(rows.contains("[1.0]"), "{rows}");
        assert_eq!(get(&place, "r.esker", "1")["place"], json!([1.0, 2.0]));
        let output = place.run(&format!("import e.csv n.esker --force --vertices none.{end}"));
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(told.contains("\"place\" holds lists or records that are no vectors"), "{told}");
    }
}

#[test]
fn a_row_with_too_few_fields_leaves_a_table_of_vertices_a_table() {
    let place = Place::new();
    place.file("e.csv", "source,target\na,b\n");
    for (name, table) in [
        ("named.csv", "id,name,age\na,Ann,40\nb\nc,Cy,3\n"),
        ("first.csv", "id;name;age\nb\na;Ann;40\nc;Cy;3\n"),
        ("most.csv", "id\tname\tage\nb\na\tAnn\t40\n"),
        ("plain.tsv", "a\tAnn\t40\nb\nc\tCy\t3\nd\tDi\t4\ne\tEd\t5\n"),
    ] {
        place.file(name, table);
        place.fails(
            1,
            &format!("import e.csv x.esker --vertices {name}"),
            "the row has 1 columns, but the table of vertices has 3",
        );
        place.ok(&format!("import e.csv g.esker --force --vertices {name} --rejects bad.csv"));
        let a = get(&place, "g.esker", "a");
        let age = if name == "plain.tsv" { "column3" } else { "age" };
        assert_eq!(a[age], json!(40), "{name}: {a}");
        std::fs::remove_file(place.path().join("bad.csv")).unwrap();
    }
}

/// The rows of a command, as a set: the order of vertices and edges is not that of the first import.
fn rows(place: &Place, line: &str) -> Vec<String> {
    let mut rows: Vec<String> = place.ok(line).lines().map(str::to_owned).collect();
    rows.sort();
    rows
}

#[test]
fn graph_frames_come_back_as_they_were() {
    let place = Place::new();
    let table = "source,target,weight,kind,since,note\nA,B,1,mail,2026-01-01,x\nA,B,2,call,,\nB,C,,mail,2026-02-01,\"\"\nC,C,4,call,2026-03-01,NA\n";
    place.file("t.csv", table);
    place.file("i.csv", &table.replace('A', "1").replace('B', "20").replace('C', "300").replace("N1", "NA"));
    for (edges, ids, more) in [
        ("t.csv", ["A", "B", "D"], ""),
        ("i.csv", ["1", "20", "4000"], ""),
        ("t.csv", ["A", "B", "D"], " --undirected"),
        ("i.csv", ["1", "20", "4000"], " --undirected"),
    ] {
        // Vertex D has no edge; C has no value.
        let columns = columns().into_iter().filter(|(name, _)| *name != "id");
        let mut columns: Vec<(&str, ArrayRef)> =
            columns.map(|(name, values)| (name, values.slice(0, 3))).collect();
        let texts: ArrayRef = Arc::new(StringArray::from(ids.to_vec()));
        let numbers = || Arc::new(Int64Array::from_iter_values(ids.iter().map(|id| id.parse().unwrap())));
        columns.push(("id", if edges == "t.csv" { texts } else { numbers() }));
        write(&place, "v", &columns);
        place.ok(&format!(
            "import {edges} a.esker --force --kind kind --property all --vertices v.parquet{more}"
        ));
        place.ok("export a.esker frame --format graphframes --force");
        place.ok("import frame b.esker --force --kind kind --property all");
        place.ok("import frame c.esker --force --kind kind --property all --format graphframes");
        place.ok("check b.esker");
        for verb in ["edges", "vertices"] {
            let line = |name: &str| format!("{verb} {name}.esker --json");
            assert_eq!(rows(&place, &line("a")), rows(&place, &line("b")), "{edges}{more}");
            assert_eq!(rows(&place, &line("c")), rows(&place, &line("b")), "{edges}{more}");
        }
        let info = |name: &str| {
            let info = place.json(&format!("info {name}.esker --json"));
            [&info["vertices"], &info["edges"], &info["directed"]].map(ToString::to_string)
        };
        assert_eq!(info("a"), info("b"));
    }
    place.fails(1, "export a.esker frame --format graphframes", "exists already");
    place.fails(1, "export a.esker - --format graphframes", "cannot go to standard output");
    place.fails(
        1,
        "export a.esker t.csv --format graphframes",
        "t.csv is a file, but a GraphFrames folder is a folder",
    );
    place.fails(1, "import t.csv x.esker --format graphframes", "t.csv is no GraphFrames folder");
    place.file("frame/edges/part-00001.parquet", "");
    place.fails(
        1,
        "export a.esker frame --format graphframes --force",
        "has something else already, part-00001.parquet",
    );
    // What cannot be written leaves no folder.
    place.file("ends.csv", "source,target,src\n1,2,3\n");
    place.ok("import ends.csv ends.esker --property src");
    place.fails(1, "export ends.esker other --format graphframes", "a property called \"src\" has no place");
    place.ok("export ends.esker plain --format graphframes --no-properties");
    place.file("wide.csv", "source,target\n1,18446744073709551615\n");
    place.ok("import wide.csv wide.esker");
    place.fails(1, "export wide.esker other --format graphframes", "exceeds 9223372036854775807");
    assert!(!place.path().join("other").exists());
    place.ok("export wide.esker other --format graphframes --ids numbers");
}

#[test]
fn labels_of_gml_that_are_integers_are_integers() {
    let place = Place::new();
    for quote in ["", "\""] {
        let node = |id: usize, label: usize| format!("node [ id {id} label {quote}{label}{quote} ]\n");
        let nodes = node(0, 10) + &node(1, 20);
        place.file("g.gml", &format!("graph [ directed 1\n{nodes}edge [ source 0 target 1 ] ]\n"));
        place.ok("import g.gml g.esker --force --ids int");
        assert_eq!(get(&place, "g.esker", "20")["vertex"], json!(20));
        place.ok("import g.gml g.esker --force --ids text");
        assert_eq!(get(&place, "g.esker", "20")["vertex"], json!("20"));
    }
}

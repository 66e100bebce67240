//! What an export cannot keep is said, and what can be kept comes back.

use crate::place::Place;

/// An undirected weighted graph with properties of edges and vertices.
fn graph() -> Place {
    let place = Place::new();
    place.file("w.csv", "from,to,weight,kind\na,b,3,road\nb,c,4,rail\n");
    place.file("ages.csv", "id,age,name\na,7,\"Ann, the first\"\nb,,Bob\n");
    place.ok("import w.csv g.esker --property kind --undirected");
    place.ok("set g.esker ages.csv");
    place
}

#[test]
fn each_loss_is_said_once() {
    let place = graph();
    let cases = [
        ("x.csv", [false, true, true]),
        ("x.parquet", [false, true, false]),
        ("x.el", [true, true, true]),
        ("x.wel", [true, true, true]),
        ("x.mtx", [true, true, false]),
        ("x.graph", [true, true, false]),
        ("x.gr", [true, true, true]),
    ];
    for (file, expected) in cases {
        let output = place.run(&format!("export g.esker {file}"));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && output.stdout.is_empty(), "{file}: {said}");
        let words = [
            "Edge properties not written",
            "Vertex properties not written: age, name",
            "import it with --undirected",
        ];
        for (words, expected) in words.into_iter().zip(expected) {
            assert_eq!(said.matches(words).count(), usize::from(expected), "{file}, {words}: {said}");
        }
    }
    let report = place.json("export g.esker y.el --json");
    assert_eq!(report["losses"].as_array().unwrap().len(), 3, "{report}");
    let report = place.json("export g.esker z.mtx --no-properties --vertices z.ids --json");
    assert_eq!(report["losses"], serde_json::json!([]));
}

#[test]
fn what_a_reader_would_take_for_something_else_is_said() {
    let place = Place::new();
    place.file(
        "ids.csv",
        "source,target,kind,at\n01,2,7,2024-02-29T10:00:00+01:00\n2,03,8,2024-02-29T10:00:00Z\n",
    );
    place.ok("import ids.csv g.esker --ids text --schema kind:text,at:timestamp[us,Europe/Berlin]");
    let said = |line: &str| {
        let output = place.run(line);
        assert!(output.status.success(), "{output:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        said.lines().filter(|line| !line.starts_with("Wrote")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        said("export g.esker x.csv"),
        [
            "Nothing in CSV says that these edge properties are texts: kind: import it with --schema NAME:text",
            "CSV has no time zones, so times are in UTC: at; Parquet and Arrow have them",
            "Nothing in CSV says that the ids are texts: import it with --ids text",
        ]
    );
    assert_eq!(said("export g.esker x.parquet"), [""; 0]);
    place.ok("import x.csv again.esker --ids text --schema kind:text,at:timestamp[us,UTC]");
    assert_eq!(place.ok("export again.esker - --format csv"), place.ok("export g.esker - --format csv"));
    place.file("d.csv", "source,target\n5,6\n6,7\n");
    place.ok("import d.csv d.esker");
    assert_eq!(
        said("export d.esker d.gr"),
        [
            "DIMACS-9 graph has a weight for each edge: all are 1, as the graph has none",
            "DIMACS-9 graph has numbers instead of ids, from 1 on: --vertices FILE writes the id of each, in order",
        ]
    );
    assert_eq!(
        said("export d.esker d.gr --force --vertices d.ids"),
        ["DIMACS-9 graph has a weight for each edge: all are 1, as the graph has none"]
    );
    assert_eq!(
        said("export d.esker d.graph500"),
        ["Nothing in Graph500 edges of 12 bytes says that the graph is directed: import it with --directed"]
    );
}

#[test]
fn vertex_properties_come_back() {
    let place = graph();
    let output = place.run("export g.esker x.csv --vertex-properties values.csv");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("Vertex properties"), "{output:?}");
    let values = std::fs::read_to_string(place.path().join("values.csv")).unwrap();
    assert_eq!(values, "vertex,age,name\na,7,\"Ann, the first\"\nb,,Bob\n");
    place.ok("import x.csv again.esker --property kind --undirected");
    place.ok("set again.esker values.csv");
    for id in ["a", "b", "c"] {
        let get = |database: &str| place.ok(&format!("get {database} {id} --format csv"));
        assert_eq!(get("again.esker"), get("g.esker"));
    }
    assert_eq!(
        place.run("export g.esker z.csv --vertex-properties values.csv").status.code(),
        Some(1),
        "it exists"
    );
    place.file("e.el", "1 2\n");
    place.ok("import e.el none.esker");
    assert_eq!(place.run("export none.esker n.csv --vertex-properties v.csv").status.code(), Some(2));
    assert!(!place.path().join("v.csv").exists());
}

#[test]
fn a_generated_undirected_graph_has_both_arcs_where_a_format_has_arcs() {
    let place = Place::new();
    place.ok("generate road --rows 5 --columns 5 --seed 3 r.gr");
    place.ok("generate road --rows 5 --columns 5 --seed 3 r.esker");
    place.ok("export r.esker again.gr");
    let sorted = |name: &str| {
        let text = std::fs::read_to_string(place.path().join(name)).unwrap();
        let mut lines: Vec<String> =
            text.lines().filter(|line| !line.starts_with('c')).map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted("r.gr"), sorted("again.gr"));
}

#[test]
fn an_export_of_parallel_edges_says_how_to_get_them_back() {
    let place = Place::new();
    place.file("m.csv", "a,b,1\nb,a,2\na,a,3\na,a,4\n");
    place.ok("import m.csv m.esker --undirected --duplicates keep");
    for file in ["m.parquet", "m2.csv", "m.mtx"] {
        let output = place.run(&format!("export m.esker {file}"));
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(said.matches("parallel edges: import it with --duplicates keep").count(), 1, "{said}");
    }
    place.ok("import m.parquet again.esker --duplicates keep");
    assert_eq!(place.ok("export again.esker - --format csv"), place.ok("export m.esker - --format csv"));
    place.ok("import m.csv simple.esker");
    let output = place.run("export simple.esker s.parquet");
    assert!(!String::from_utf8(output.stderr).unwrap().contains("parallel"));
}

#[test]
fn an_export_that_nobody_can_read_or_an_option_without_effect_is_refused() {
    let place = Place::new();
    place.file("d.csv", "source,target\n5,6\n6,7\n");
    place.ok("import d.csv d.esker");
    for (line, words) in [
        ("export d.esker x.parquet.gz", "x.parquet.gz would be compressed as a whole"),
        ("export d.esker x.sg.zst", "leave out the ending .gz, .zst or .bz2"),
        ("export d.esker y.csv --both-ends", "--both-ends) has no effect on a directed graph"),
    ] {
        let output = place.run(line);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && said.contains(words), "{line}: {said}");
    }
    assert!(!place.path().join("x.parquet.gz").exists() && !place.path().join("y.csv").exists());
    place.ok("export d.esker x.csv.gz");
    place.ok("import x.csv.gz again.esker");
}
